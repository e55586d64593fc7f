//! A user's own file, read row by row and as often as wanted. Only one row is held at a time.
//!
//! A [`RowFile`] knows the file and its [`Format`]; [`RowFile::rows`] begins a pass. Delimited text
//! follows RFC 4180 (quotes, line ends and separators inside of quotes) and may begin with a
//! byte-order mark, with the line `sep=;` of a spreadsheet, and with remarks (`# ...`). What a column
//! means is the business of [`crate::Schema`].

mod field;

pub use field::{Field, Fields, Row, RowFormat};
pub(crate) use field::{MISSING, meant};

mod absent;
mod columns;
mod copied;
mod parquet;
mod prelude;
mod svmlight;
mod text;

use crate::DataError;
use crate::compression::{Bzip2, Gzip, ZSTD};
use copied::{Copied, Original};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Bytes of a first line in which separators are looked for.
const LOOKED_AT: u64 = 1 << 20;

/// A file of rows.
///
/// ```
/// use mercer_datasets::{RowFile, RowFormat};
/// // From a pipe; `RowFile::open` takes a path, or `-` for standard input.
/// let file = RowFile::spooled(&b"a;b\n1;2\n"[..], "pipe", None)?;
/// assert_eq!((file.name(), file.format()), ("pipe", RowFormat::Text(b';')));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug)]
pub struct RowFile {
    path: PathBuf,
    name: String,
    format: RowFormat,
    /// Lines before the table, which are skipped, and how many of them the user named.
    prelude: usize,
    skipped: usize,
    /// Lines that begin so are read over.
    comment: Option<u8>,
    /// A comma begins the decimals of its numbers.
    decimal_comma: bool,
    /// Whether its format was given, not guessed.
    given: bool,
    /// Where standard input was written, gone with this.
    spool: Option<Spool>,
    /// The file read in its place.
    copied: Option<Copied>,
}

/// The separator of fields that any number of blanks and tabs stands between.
pub(crate) const BLANKS: u8 = b' ';

/// A temporary file with a copy of what can be read once.
#[derive(Debug)]
enum Spool {
    /// Without a name, so that the system removes it however the process ends.
    Unnamed(#[expect(dead_code, reason = "held open, and read by its number")] File),
    /// Where files cannot be opened by their numbers.
    Named(#[expect(dead_code, reason = "removed with this")] TempPath),
}

/// Why no temporary file could be made.
fn no_folder(error: &std::io::Error) -> std::io::Error {
    let folder = std::env::temp_dir();
    let told = format!(
        "cannot be copied to the temporary folder {} ({}); set TMPDIR to a folder that can be written",
        folder.display(),
        error.kind()
    );
    std::io::Error::other(told)
}

impl Spool {
    /// The spool of a file, and where it is opened again and again.
    fn of(reader: &mut impl Read) -> std::io::Result<(Self, PathBuf)> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            let mut file = tempfile::tempfile().map_err(|error| no_folder(&error))?;
            let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
            if File::open(&path).is_ok() {
                std::io::copy(reader, &mut file)?;
                file.flush()?;
                return Ok((Self::Unnamed(file), path));
            }
        }
        let mut file = tempfile::NamedTempFile::new().map_err(|error| no_folder(&error))?;
        std::io::copy(reader, &mut file)?;
        file.flush()?;
        let path = file.into_temp_path();
        let place = path.to_path_buf();
        Ok((Self::Named(path), place))
    }
}

impl RowFile {
    /// Opens a file, or standard input for `-`. The format is the given one, else it follows from the suffix, else from
    /// the beginning of the file.
    ///
    /// Standard input, and any other pipe, is copied to a temporary file, since rows are read more than once. Delimited
    /// text whose first line has no comma but semicolons, or tabs, is separated by those, or by the separator that a
    /// line `sep=;` before it names. Lines before the table that begin with `#` are skipped with a note.
    ///
    /// # Errors
    /// [`DataError::Io`]; [`DataError::Format`] for a folder, or a suffix of what is not read.
    pub fn open(path: &Path, given: Option<RowFormat>) -> Result<Self, DataError> {
        if path.as_os_str() == "-" {
            return Self::spooled(std::io::stdin().lock(), "standard input", given);
        }
        let name = path.display().to_string();
        let metadata = std::fs::metadata(path).map_err(|error| absent::fault(path, error))?;
        if metadata.is_dir() {
            return Err(DataError::format(&name, "is a folder, not a file; name a file in it"));
        }
        // A pipe can be read once; what stands in these folders may be one under another name.
        if !metadata.is_file() || path.starts_with("/dev") || path.starts_with("/proc") {
            let file = File::open(path).map_err(DataError::io(path))?;
            return Self::spooled(file, &name, given.or_else(|| by_suffix(path)));
        }
        let known = given.or_else(|| by_suffix(path));
        if let (None, Some(kind)) = (known, foreign(path)) {
            return Err(DataError::format(&name, format!("is {kind}")));
        }
        let (path, format) = (path.to_owned(), known.unwrap_or(RowFormat::Text(b',')));
        let mut file = Self {
            path,
            name,
            format,
            prelude: 0,
            skipped: 0,
            comment: None,
            decimal_comma: false,
            given: given.is_some(),
            spool: None,
            copied: None,
        };
        let original = Original::by_suffix(&file.path);
        // The suffix of a text is looked into, since other formats are saved under it.
        let certain =
            given.is_some() || matches!(known, Some(RowFormat::Svmlight | RowFormat::Parquet));
        file.look_at_format(certain, original)?;
        file.look_at_beginning(given.is_some())?;
        Ok(file)
    }

    /// Finds out the format where neither the user nor the suffix tells it: Parquet, ARFF, JSON, Arrow, svmlight, else
    /// a text. Formats that are read by way of a copy are copied.
    fn look_at_format(&mut self, known: bool, named: Option<Original>) -> Result<(), DataError> {
        if known {
            return Ok(());
        }
        let mut magic = [0; 4];
        let called = Path::new(&self.name);
        let mut file = File::open(&self.path).map_err(DataError::io(called))?;
        if file.read_exact(&mut magic).is_ok() && magic == *b"PAR1" {
            self.format = RowFormat::Parquet;
            tracing::info!("{}: it looks like Parquet, and is read as that", self.name);
            return Ok(());
        }
        let failed = |error| DataError::io(called)(error);
        let original = match named {
            None => Original::by_beginning(self.reader()?).map_err(failed)?,
            named => named,
        };
        let told = if let Some(original) = original {
            let copied = original.copy(&self.name, &|| self.reader())?;
            if copied.columns.is_none() {
                self.format = RowFormat::Parquet;
            }
            self.copied = Some(copied);
            if named.is_some() {
                return Ok(());
            }
            original.name()
        } else {
            let mut start = Vec::new();
            let reader = self.reader()?.take(LOOKED_AT);
            prelude::lines(reader, &mut start).map_err(DataError::io(Path::new(&self.name)))?;
            if by_suffix(&self.path).is_some() || !svmlight::is_like(&start) {
                return Ok(());
            }
            self.format = RowFormat::Svmlight;
            "svmlight"
        };
        tracing::info!("{}: it looks like {told}, and is read as that", self.name);
        Ok(())
    }

    /// Finds the first line of the table, and takes its separator if the format is not given and it is
    /// not the one expected.
    fn look_at_beginning(&mut self, given: bool) -> Result<(), DataError> {
        let RowFormat::Text(expected) = self.format else { return Ok(()) };
        if self.copied.is_some() {
            return Ok(());
        }
        let io = DataError::io(Path::new(&self.name));
        let (mut reader, mut start) = (self.reader()?.take(LOOKED_AT), Vec::new());
        // How many lines stand before each of those that are looked at, where some are not.
        let mut before = Vec::new();
        let read = if self.skipped > 0 || self.comment.is_some() {
            let mut all = Vec::new();
            let remark =
                |line: &&[u8]| self.comment.is_some_and(|begin| line.first() == Some(&begin));
            reader.read_to_end(&mut all).and_then(|_| {
                let lines = all.split_inclusive(|&byte| byte == b'\n').enumerate();
                let mut kept = Vec::new();
                for (at, line) in lines.skip(self.skipped).filter(|(_, line)| !remark(line)) {
                    before.push(at);
                    kept.extend_from_slice(line);
                }
                prelude::lines(kept.as_slice(), &mut start)
            })
        } else {
            prelude::lines(reader, &mut start)
        };
        read.map_err(io)?;
        let found = prelude::of(&start, given.then_some(expected), expected);
        let table = before.get(found.skipped).copied();
        self.format = RowFormat::Text(found.separator);
        self.prelude = table.unwrap_or(self.skipped + found.skipped);
        if let Some(told) = found.told {
            tracing::info!("{}: {told}", self.name);
        }
        Ok(())
    }

    /// Reads the rows that `reader` gives, by way of a temporary file.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn spooled(
        mut reader: impl Read,
        name: &str,
        format: Option<RowFormat>,
    ) -> Result<Self, DataError> {
        let (spool, path) = Spool::of(&mut reader).map_err(DataError::io(Path::new(name)))?;
        let name = name.to_owned();
        let mut file = Self {
            path,
            name,
            format: format.unwrap_or(RowFormat::Text(b',')),
            prelude: 0,
            skipped: 0,
            comment: None,
            decimal_comma: false,
            given: format.is_some(),
            spool: Some(spool),
            copied: None,
        };
        file.look_at_format(format.is_some(), None)?;
        file.look_at_beginning(format.is_some())?;
        Ok(file)
    }

    /// Skips its first `lines`, and the lines that begin with `comment`.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, RowFormat, SchemaOptions, survey};
    /// let text = "measured in May\n1.5  2.5\ta\n% a remark\n 2.5 0.5 b\n";
    /// let file = RowFile::spooled(text.as_bytes(), "toys", Some(RowFormat::Text(b' ')))?;
    /// let file = file.skipping(1, Some(b'%'))?;
    /// let (schema, rows) = survey(&file, &SchemaOptions::default())?;
    /// assert_eq!((rows, schema.width()), (2, 2));
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn skipping(mut self, lines: usize, comment: Option<u8>) -> Result<Self, DataError> {
        (self.skipped, self.comment) = (lines, comment);
        if (lines > 0 || comment.is_some()) && self.is_text() {
            if !self.given {
                self.format = by_suffix(&self.path)
                    .filter(|known| matches!(known, RowFormat::Text(_)))
                    .unwrap_or(RowFormat::Text(b','));
            }
            self.look_at_beginning(self.given)?;
        }
        Ok(self)
    }

    /// Reads numbers of a text as other countries write them: a comma begins their decimals, and points may stand between
    /// their thousands. A comma separates fields then only where nothing else does.
    ///
    /// ```
    /// use mercer_datasets::{Row, RowFile};
    /// let file = RowFile::spooled(&b"3,5;1.234,25;kg\n"[..], "toys", None)?.with_decimal_comma()?;
    /// let mut rows = file.rows()?;
    /// let Some((_, Row::Fields(fields))) = rows.next()? else { panic!("a row") };
    /// assert_eq!([0, 1, 2].map(|at| fields.field(at).number()), [Some(3.5), Some(1234.25), None]);
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn with_decimal_comma(mut self) -> Result<Self, DataError> {
        // Formats that are read by way of a copy have numbers of their own.
        if self.copied.is_some() {
            return Ok(self);
        }
        self.decimal_comma = true;
        if self.format == RowFormat::Text(b',') && !self.given {
            self.format = RowFormat::Text(b';');
            self.look_at_beginning(false)?;
        }
        Ok(self)
    }

    /// Returns the name that errors use.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its format.
    pub const fn format(&self) -> RowFormat {
        self.format
    }

    /// Returns whether it is delimited text. Of other formats the first row names no columns: names stand elsewhere.
    ///
    /// ```
    /// use mercer_datasets::RowFile;
    /// assert!(RowFile::spooled(&b"a,b\n1,2\n"[..], "pipe", None)?.is_text());
    /// assert!(!RowFile::spooled(&b"{\"a\":1}\n"[..], "pipe", None)?.is_text()); // JSON
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    pub const fn is_text(&self) -> bool {
        matches!(self.format, RowFormat::Text(_)) && self.copied.is_none()
    }

    /// Whether its format declares the values of a column, which are categories then, also where they are numbers.
    pub(crate) fn declares_categories(&self, column: usize) -> bool {
        let columns = self.copied.as_ref().and_then(|copied| copied.columns.as_ref());
        columns.is_some_and(|columns| columns.nominal.contains(&column))
    }

    /// Returns whether it came from standard input or another reader.
    pub const fn is_spooled(&self) -> bool {
        self.spool.is_some()
    }

    /// Returns the SHA-256 of its bytes as they lie on disk, in hexadecimal.
    ///
    /// # Errors
    /// [`DataError::Io`].
    pub fn sha256(&self) -> Result<String, DataError> {
        let called = Path::new(&self.name);
        let mut file = File::open(&self.path).map_err(DataError::io(called))?;
        let mut hash = Sha256::new();
        std::io::copy(&mut file, &mut hash).map_err(DataError::io(called))?;
        Ok(crate::fingerprint::hexadecimal(&hash.finalize()))
    }

    /// Begins a pass over the rows.
    ///
    /// # Errors
    /// [`DataError::Io`], or [`DataError::Format`] if it is no Parquet file.
    pub fn rows(&self) -> Result<Rows<'_>, DataError> {
        let path = self.copied.as_ref().map_or(&self.path, |copied| &copied.path);
        let source = match self.format {
            RowFormat::Text(separator) => {
                let reader: Box<dyn BufRead + Send> = match &self.copied {
                    Some(_) => {
                        Box::new(BufReader::new(File::open(path).map_err(DataError::io(path))?))
                    }
                    None => self.reader()?,
                };
                let before = (self.prelude, self.comment);
                let comma = self.decimal_comma;
                Source::Text(text::TextRows::new(reader, &self.name, separator, before, comma))
            }
            RowFormat::Svmlight => {
                Source::Svmlight(svmlight::SvmlightRows::new(self.reader()?, &self.name))
            }
            RowFormat::Parquet => {
                Source::Parquet(Box::new(parquet::ParquetRows::new(path, &self.name)?))
            }
        };
        let columns = self.copied.as_ref().and_then(|copied| copied.columns.as_ref());
        Ok(Rows { source, names: columns.map(|columns| columns.names.as_slice()) })
    }

    /// The unpacked bytes.
    fn reader(&self) -> Result<Box<dyn BufRead + Send>, DataError> {
        // A spool has a path that says nothing to its user.
        let called = Path::new(&self.name);
        let file = File::open(&self.path).map_err(DataError::io(called))?;
        let mut packed = BufReader::with_capacity(1 << 20, file);
        let start = packed.fill_buf().map_err(DataError::io(called))?;
        Ok(if start.starts_with(&[0x1f, 0x8b]) {
            Box::new(BufReader::with_capacity(1 << 20, Gzip::new(packed)))
        } else if start.starts_with(b"\xfd7zXZ\0") {
            Box::new(BufReader::with_capacity(
                1 << 20,
                liblzma::bufread::XzDecoder::new_multi_decoder(packed),
            ))
        } else if start.starts_with(b"BZh") {
            Box::new(BufReader::with_capacity(1 << 20, Bzip2::new(packed)))
        } else if start.starts_with(ZSTD) {
            let reader = zstd::Decoder::with_buffer(packed).map_err(DataError::io(called))?;
            Box::new(BufReader::with_capacity(1 << 20, reader))
        } else {
            crate::compression::unpacked(&self.name, start)?;
            if let Some(kind) = no_text(start) {
                return Err(DataError::format(&self.name, format!("is {kind}")));
            }
            Box::new(packed)
        })
    }
}

/// One pass over a file.
///
/// ```
/// use mercer_datasets::RowFile;
/// let file = RowFile::spooled(&b"1,2\n\n3,4\n"[..], "toys", None)?;
/// let mut rows = file.rows()?;
/// let mut lines = Vec::new();
/// while let Some((line, _)) = rows.next()? {
///     lines.push(line);
/// }
/// assert_eq!(lines, [1, 3]); // blank lines are skipped, and counted
/// assert!(rows.names().is_none() && file.rows()?.next()?.is_some()); // another pass begins anew
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug)]
pub struct Rows<'a> {
    source: Source<'a>,
    /// Names that stand outside of the rows of a text.
    names: Option<&'a [String]>,
}

#[derive(Debug)]
enum Source<'a> {
    Text(text::TextRows<'a>),
    Svmlight(svmlight::SvmlightRows<'a>),
    Parquet(Box<parquet::ParquetRows<'a>>),
}

impl Rows<'_> {
    /// Reads the next row, with its first line (or its number, from 1). Blank lines are skipped.
    ///
    /// # Errors
    /// [`DataError::Line`] for a row that breaks the format, [`DataError::Io`].
    #[expect(clippy::should_implement_trait, reason = "a row borrows from the pass")]
    pub fn next(&mut self) -> Result<Option<(usize, Row<'_>)>, DataError> {
        match &mut self.source {
            Source::Text(rows) => {
                Ok(rows.advance()?.map(|line| (line, Row::Fields(rows.record()))))
            }
            Source::Svmlight(rows) => Ok(rows.advance()?.map(|line| {
                let (target, entries) = rows.row();
                (line, Row::Sparse { target, entries })
            })),
            Source::Parquet(rows) => {
                Ok(rows.advance()?.map(|line| (line, Row::Fields(rows.record()))))
            }
        }
    }

    /// Decodes no other columns than these, where that spares work; the others are missing.
    ///
    /// # Errors
    /// [`DataError::Format`] names a column that holds neither numbers nor text.
    pub fn only(&mut self, columns: &[usize]) -> Result<(), DataError> {
        match &mut self.source {
            Source::Parquet(rows) => rows.only(columns),
            _ => Ok(()),
        }
    }

    /// Returns the columns left out because pandas calls them its index.
    pub fn index(&self) -> &[String] {
        match &self.source {
            Source::Parquet(rows) => rows.index(),
            _ => &[],
        }
    }

    /// Returns the names of the columns, where the format has them.
    pub fn names(&self) -> Option<&[String]> {
        match &self.source {
            Source::Parquet(rows) => Some(rows.names()),
            _ => self.names,
        }
    }
}

fn by_suffix(path: &Path) -> Option<RowFormat> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    name.split('.').skip(1).find_map(|part| match part {
        "csv" | "txt" => Some(RowFormat::Text(b',')),
        "tsv" | "tab" => Some(RowFormat::Text(b'\t')),
        "svm" | "svmlight" | "libsvm" => Some(RowFormat::Svmlight),
        "parquet" => Some(RowFormat::Parquet),
        _ => None,
    })
}

/// What a file is that begins so, where that is no delimited text, and what can be done.
fn no_text(start: &[u8]) -> Option<&'static str> {
    let page = |word: &str| {
        let first = start.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or_default();
        let found = start.get(first..first + word.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    };
    if start.starts_with(b"FEA1") || start.starts_with(&[0xff; 4]) {
        Some(copied::OLD_ARROW)
    } else if start.starts_with(b"PK\x03\x04") {
        Some("a zip archive, or a spreadsheet; unpack it, or save its sheet as CSV")
    } else if start.starts_with(b"PAR1") {
        Some("Parquet; say --format parquet")
    } else if start.get(4..10) == Some(b"\0\0\0\0{\"") {
        Some("a model, not a table of rows; `mercer info` says what is in it")
    } else if page("<!doctype html") || page("<html") {
        Some("a web page, not a table; fetch the file itself")
    } else {
        None
    }
}

/// What a file of another suffix is that people have their rows in, and how they become a table.
fn foreign(path: &Path) -> Option<&'static str> {
    let suffix = path.extension()?.to_string_lossy().to_lowercase();
    Some(match suffix.as_str() {
        "safetensors" => "a model, not a table of rows; `mercer info` says what is in it",
        "xls" | "xlsx" | "xlsm" | "ods" | "numbers" => "a spreadsheet; save its sheet as CSV",
        "pkl" | "pickle" | "npy" | "npz" | "rds" | "rdata" | "mat" | "h5" | "hdf5" | "sav"
        | "dta" => "a file of another program; write its rows as CSV or Parquet",
        "zip" | "7z" | "tar" | "rar" => {
            "packed in a way that is not read; unpack it, or pack it by gzip"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
