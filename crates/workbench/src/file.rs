//! The model file in safetensors format. Its arrays are the predictor's, and its metadata hold the header as JSON.
//! Loading runs nothing that the file says; all it can choose is which registered method restores the arrays.

use crate::adjustment::Adjusted;
use crate::{Header, MAJOR, Model, Output, WorkbenchError};
use mercer_learning::{Method, Numbers, State, Tensor, find};
use safetensors::tensor::{Metadata, TensorView};
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The one name among the metadata: the header as a line of JSON, then the check sum of header and
/// arrays. One name, because several would be written in any order.
const HEADER: &str = "mercer";

/// Bytes of a model file at most.
const LARGEST: u64 = 64 << 30;

/// Bytes of a header at most, which is the library's limit.
const LARGEST_HEADER: u64 = 100_000_000;

/// What can be done about a model that was whole once.
const AGAIN: &str = "copy it again from where it was whole, or fit the model again";

/// What a file is that no array can be read from, and what can be done.
fn kind_of(bytes: &[u8], reason: &str) -> String {
    let start = &bytes[..bytes.len().min(1024)];
    // A letter may be cut in two at the end.
    let is_text = match std::str::from_utf8(start) {
        Ok(text) => !text.contains('\0'),
        Err(error) => error.valid_up_to() + 4 > start.len() && !start.contains(&0),
    };
    let kind = if bytes.is_empty() {
        return format!("is empty; {AGAIN}");
    } else if start.starts_with(b"PAR1") {
        "is Parquet, not a model"
    } else if is_text {
        "is text, not a model"
    } else if [&[0x1f, 0x8b][..], b"\xfd7zXZ\0", b"BZh"]
        .iter()
        .any(|shell| start.starts_with(shell))
    {
        return "is compressed; decompress it first".to_owned();
    } else if start.starts_with(b"PK\x03\x04") || matches!(start, [0x80, 2..=5, ..]) {
        return "is the file of another program, which may run code when it is loaded; only what `mercer fit` \
                wrote can be used"
            .to_owned();
    } else {
        return format!("was cut short or damaged ({reason}); {AGAIN}");
    };
    format!("{kind}; `mercer fit --out MODEL` writes one, and rows are given by --data")
}

/// Bytes of an array, little end first.
struct Raw<'a> {
    dtype: Dtype,
    shape: &'a [usize],
    bytes: Vec<u8>,
}

impl safetensors::View for &Raw<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

fn bytes_of(tensor: &Tensor) -> Raw<'_> {
    fn bytes<const N: usize, T: Copy>(numbers: &[T], write: fn(T) -> [u8; N]) -> Vec<u8> {
        let mut bytes = vec![0; N * numbers.len()];
        let (words, _) = bytes.as_chunks_mut::<N>();
        for (word, &number) in words.iter_mut().zip(numbers) {
            *word = write(number);
        }
        bytes
    }
    let (dtype, bytes) = match &tensor.numbers {
        Numbers::F64(values) => (Dtype::F64, bytes(values, f64::to_le_bytes)),
        Numbers::F32(values) => (Dtype::F32, bytes(values, f32::to_le_bytes)),
        Numbers::U32(values) => (Dtype::U32, bytes(values, u32::to_le_bytes)),
    };
    Raw { dtype, shape: &tensor.shape, bytes }
}

fn tensor_of(name: &str, view: &TensorView<'_>) -> Result<Tensor, String> {
    fn numbers<const N: usize, T>(data: &[u8], read: fn([u8; N]) -> T) -> Vec<T> {
        let (words, _) = data.as_chunks::<N>();
        words.iter().map(|&word| read(word)).collect()
    }
    // The library has checked that the bytes are as many as the shape and the type say.
    let numbers = match view.dtype() {
        Dtype::F64 => Numbers::F64(numbers(view.data(), f64::from_le_bytes)),
        Dtype::F32 => Numbers::F32(numbers(view.data(), f32::from_le_bytes)),
        Dtype::U32 => Numbers::U32(numbers(view.data(), u32::from_le_bytes)),
        other => return Err(format!("array `{name}` is of type {other:?}")),
    };
    Ok(Tensor { shape: view.shape().to_vec(), column_major: false, numbers })
}

/// SHA-256 over the header and every array with its name and shape, in order of name.
fn check_sum<'a>(
    header: &str,
    arrays: impl Iterator<Item = (&'a str, &'a [usize], &'a [u8])>,
) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(header.as_bytes());
    for (name, shape, bytes) in arrays {
        part(name.as_bytes());
        part(format!("{shape:?}").as_bytes());
        part(bytes);
    }
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a string cannot fail
        text
    })
}

impl Model {
    /// Returns the bytes of its file.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Model, Table, fit};
    /// use std::path::Path;
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let bytes = model.to_bytes()?;
    /// let again = Model::from_bytes(&bytes, Path::new("from a cache"), BASELINES)?;
    /// assert_eq!(again.to_bytes()?, bytes);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorkbenchError::Output`] if it cannot be written as such a file: its header has a limit of 100 MB.
    pub fn to_bytes(&self) -> Result<Vec<u8>, WorkbenchError> {
        let wrong = |reason: String| {
            let problem = format!(
                "cannot be written ({reason}); fewer or shorter names of columns and categories make it smaller"
            );
            WorkbenchError::Output { path: "the model".into(), problem }
        };
        let header =
            serde_json::to_string(&self.header).map_err(|error| wrong(error.to_string()))?;
        let state = self.predictor.state();
        let arrays: BTreeMap<String, Raw<'_>> =
            state.tensors().into_iter().map(|(name, tensor)| (name, bytes_of(tensor))).collect();
        let parts =
            arrays.iter().map(|(name, array)| (name.as_str(), array.shape, array.bytes.as_slice()));
        let sum = check_sum(&header, parts);
        let metadata = HashMap::from([(HEADER.to_owned(), format!("{header}\n{sum}"))]);
        let views = arrays.iter().map(|(name, array)| (name.as_str(), array));
        safetensors::serialize(views, Some(metadata)).map_err(|error| wrong(error.to_string()))
    }

    /// Writes it to a file, whole or not at all. An existing file is replaced only if `overwrite`.
    ///
    /// ```
    /// use mercer_baselines::BASELINES;
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::{Choices, Model, Table, fit};
    /// let text = "x,kind\n-1,a\n-2,a\n1,b\n2,b\n";
    /// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("toys.safetensors");
    /// model.save(&path, false)?;
    /// let again = Model::load(&path, BASELINES)?;
    /// assert_eq!(again.to_bytes()?, model.to_bytes()?);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Output::claim`] and [`Output::write`].
    pub fn save(&self, path: &Path, overwrite: bool) -> Result<(), WorkbenchError> {
        self.save_to(&Output::claim(path, overwrite, &[])?)
    }

    /// Writes it to a file that was claimed before.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Output, Table, fit};
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("toys.safetensors");
    /// let output = Output::claim(&path, false, &[])?; // before the fit, which may take long
    /// let model = fit(BASELINES, "majority", &table, &Choices::plain())?;
    /// model.save_to(&output)?;
    /// assert!(path.is_file());
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Output::write`].
    pub fn save_to(&self, output: &Output) -> Result<(), WorkbenchError> {
        output.write_bytes(&self.to_bytes()?)
    }

    /// Reads it from a file.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Model, Table, fit};
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("toys.safetensors");
    /// fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?.save(&path, false)?;
    /// assert_eq!(Model::load(&path, BASELINES)?.header.method, "kernel-ridge");
    /// std::fs::write(&path, "x,kind\n1,a\n").expect("it is ours");
    /// let refused = Model::load(&path, BASELINES).unwrap_err().to_string();
    /// assert!(refused.contains("is text, not a model"), "{refused}");
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorkbenchError::ModelFile`] names what is wrong: no such format, cut short, edited, a
    /// method that this program does not have; [`WorkbenchError::Version`]; [`WorkbenchError::Io`].
    pub fn load(path: &Path, methods: &[Method]) -> Result<Self, WorkbenchError> {
        let io = |source| WorkbenchError::Io { path: path.to_owned(), source };
        let (file, length) = opened(path)?;
        let mut bytes = Vec::with_capacity(length as usize);
        file.take(LARGEST).read_to_end(&mut bytes).map_err(io)?;
        Self::from_bytes(&bytes, path, methods)
    }

    /// Reads it from the bytes of a file; `path` is how errors call it.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Model, Table, fit};
    /// use std::path::Path;
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let mut bytes = model.to_bytes()?;
    /// *bytes.last_mut().expect("it has some") ^= 1; // one bit of an array
    /// let refused = Model::from_bytes(&bytes, Path::new("m"), BASELINES).unwrap_err().to_string();
    /// assert!(refused.contains("its check sum does not match"), "{refused}");
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(
        bytes: &[u8],
        path: &Path,
        methods: &[Method],
    ) -> Result<Self, WorkbenchError> {
        let wrong = |problem: String| unusable(path, &problem);
        let damaged = |error: safetensors::SafeTensorError| WorkbenchError::ModelFile {
            path: path.to_owned(),
            problem: kind_of(bytes, &error.to_string()),
        };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let (header, sum) = texts_of(&metadata, path)?;
        let views: BTreeMap<String, TensorView<'_>> = tensors.tensors().into_iter().collect();
        let parts = views.iter().map(|(name, view)| (name.as_str(), view.shape(), view.data()));
        if check_sum(header, parts) != sum {
            return Err(wrong(format!(
                "its check sum does not match: it was edited or damaged; {AGAIN}"
            )));
        }
        let header = parsed(header, path)?;
        let method = find(methods, &header.method).map_err(|error| wrong(error.to_string()))?;
        let arrays: BTreeMap<String, Tensor> = views
            .iter()
            .map(|(name, view)| Ok((name.clone(), tensor_of(name, view)?)))
            .collect::<Result<_, String>>()
            .map_err(wrong)?;
        let restored = State::assemble(header.state.clone(), arrays)
            .and_then(|state| (method.restore)(&state))
            .map_err(|error| wrong(error.to_string()))?;
        if restored.task() != header.task() || restored.features() != header.schema.width() {
            return Err(wrong("its arrays and its columns do not belong together".to_owned()));
        }
        let predictor = Adjusted::of(restored, header.adjustment);
        Ok(Self { header, predictor })
    }
}

impl Header {
    /// Reads the header of a model file and none of its arrays. This holds however large they are. All but the check
    /// sum is looked at, which covers the arrays too.
    ///
    /// ```
    /// # use mercer_baselines::BASELINES;
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_workbench::{Choices, Header, Table, fit};
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("toys.safetensors");
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// model.save(&path, false)?;
    /// assert_eq!(Header::read(&path)?, model.header);
    /// // Cut short by a byte, which a longer array would not be told from.
    /// let bytes = model.to_bytes()?;
    /// std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("it is ours");
    /// let refused = Header::read(&path).unwrap_err().to_string();
    /// assert!(refused.contains("was cut short or damaged"), "{refused}");
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::load`], but for what is wrong with arrays.
    pub fn read(path: &Path) -> Result<Self, WorkbenchError> {
        let io = |source| WorkbenchError::Io { path: path.to_owned(), source };
        let (mut file, length) = opened(path)?;
        let mut start = Vec::new();
        file.by_ref().take(1024).read_to_end(&mut start).map_err(io)?;
        let wrong = |reason: &str| {
            let problem = kind_of(&start, reason);
            WorkbenchError::ModelFile { path: path.to_owned(), problem }
        };
        let Some(size) = start.first_chunk::<8>().map(|&bytes| u64::from_le_bytes(bytes)) else {
            return Err(wrong("its header is cut short"));
        };
        if size > LARGEST_HEADER || size + 8 > length {
            return Err(wrong("its header would be longer than it is"));
        }
        let mut bytes = start.get(8..).unwrap_or_default().to_vec();
        let more = size.saturating_sub(bytes.len() as u64);
        file.take(more).read_to_end(&mut bytes).map_err(io)?;
        bytes.truncate(size as usize);
        let metadata: Metadata =
            serde_json::from_slice(&bytes).map_err(|error| wrong(&error.to_string()))?;
        if 8 + size + metadata.data_len() as u64 != length {
            return Err(wrong("its arrays are not of the length that its header says"));
        }
        let (header, _) = texts_of(&metadata, path)?;
        parsed(header, path)
    }
}

/// A model file and its length, if it can be one.
fn opened(path: &Path) -> Result<(File, u64), WorkbenchError> {
    let io = |source| WorkbenchError::Io { path: path.to_owned(), source };
    let absent = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => {
            let told = "No such file; `mercer fit --out MODEL` writes one, to model.safetensors if not told \
                        where";
            io::Error::new(ErrorKind::NotFound, told)
        }
        _ => error,
    };
    let file = File::open(path).map_err(absent).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    let wrong = |problem: String| WorkbenchError::ModelFile { path: path.to_owned(), problem };
    if metadata.is_dir() {
        return Err(wrong("is a folder; name the file in it".to_owned()));
    }
    if metadata.len() > LARGEST {
        return Err(wrong(format!("has {} bytes, more than {LARGEST}", metadata.len())));
    }
    Ok((file, metadata.len()))
}

/// The error of a model file with this fault.
fn unusable(path: &Path, problem: &str) -> WorkbenchError {
    let problem = format!("is not a usable model: {problem}");
    WorkbenchError::ModelFile { path: path.to_owned(), problem }
}

/// The header of a known format, and the check sum of header and arrays.
fn texts_of<'a>(metadata: &'a Metadata, path: &Path) -> Result<(&'a str, &'a str), WorkbenchError> {
    let wrong = |problem: String| unusable(path, &problem);
    let text = metadata.metadata().as_ref().and_then(|texts| texts.get(HEADER));
    let Some((header, sum)) = text.and_then(|text| text.split_once('\n')) else {
        return Err(wrong(format!(
            "its metadata lack `{HEADER}`: another program wrote it, and only what `mercer fit` wrote \
             can be used"
        )));
    };
    // The version first: a later format may have another header.
    let version: Version =
        serde_json::from_str(header).map_err(|error| wrong(format!("its header: {error}")))?;
    let major = version.format.split('.').next().and_then(|major| major.parse::<u32>().ok());
    match major {
        Some(MAJOR) => Ok((header, sum)),
        Some(0) | None => Err(wrong(format!("its format is `{}`", version.format))),
        Some(_) => {
            let (path, found) = (path.to_owned(), version.format);
            Err(WorkbenchError::Version { path, found, known: MAJOR })
        }
    }
}

fn parsed(header: &str, path: &Path) -> Result<Header, WorkbenchError> {
    let wrong = |problem: String| unusable(path, &problem);
    let header: Header =
        serde_json::from_str(header).map_err(|error| wrong(format!("its header: {error}")))?;
    header.check().map_err(|error| wrong(error.to_string()))?;
    Ok(header)
}

/// The part of a header that every format has.
#[derive(serde::Deserialize)]
struct Version {
    format: String,
}
