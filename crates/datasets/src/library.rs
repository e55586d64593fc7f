use crate::fingerprint::hexadecimal;
use crate::manifest::{Content, ListedFile, Listing, MANIFEST, Manifest};
use crate::table::Rows;
use crate::{
    Base, Catalogue, Column, DataError, Dataset, Entry, Generator, Kind, Limits, Parts, Role,
    RowFormat, Table, TableOptions, compression, dataset, embedded, fingerprint, idx, svmlight,
};
use mercer_learning::{Sample, Task};
use ndarray::Array2;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Names the folder of datasets to use when none is given.
pub const DATA_VARIABLE: &str = "MERCER_DATA";

/// Returns the folder where `mercer data fetch` and `import` put datasets. It is `$XDG_DATA_HOME/mercer`, or
/// `~/.local/share/mercer`; nothing where neither variable names a folder.
///
/// ```
/// let folder = mercer_datasets::user_folder();
/// assert!(folder.is_none_or(|path| path.is_absolute() && path.ends_with("mercer")));
/// ```
pub fn user_folder() -> Option<PathBuf> {
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from);
    let chosen = folder("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let usual = || Some(folder("HOME").filter(|path| path.is_absolute())?.join(".local/share"));
    Some(chosen.or_else(usual)?.join("mercer"))
}

/// Returns the folder `data` of a repository of Mercer at or above the working directory, or the
/// executable.
fn repository() -> Option<PathBuf> {
    let starts = [std::env::current_dir(), std::env::current_exe()];
    let above = |start: PathBuf| start.ancestors().map(|at| at.join("data")).collect::<Vec<_>>();
    starts.into_iter().flatten().flat_map(above).find(|data| is_repository(data))
}

/// Whether a folder is `data` of a repository.
fn is_repository(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file() && folder.join("catalogue.toml").is_file()
}

/// Where data is found; for each dataset the first place that has it wins.
///
/// The places, in this order:
/// 1. the folder given;
/// 2. the folder that `$MERCER_DATA` names;
/// 3. `data` of the repository at or above the working directory, or the executable;
/// 4. the user's folder, see [`user_folder`];
/// 5. the binary, which holds the small datasets.
///
/// ```
/// use mercer_datasets::Library;
/// let iris = Library::discover(None)?.load("iris")?;
/// assert_eq!((iris.sample.rows(), iris.sample.features()), (150, 4));
/// assert_eq!(iris.labels, ["1", "2", "3"]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Library {
    folders: Vec<(PathBuf, Manifest)>,
    accept_version: bool,
    limits: Limits,
}

/// Where a dataset is.
///
/// ```
/// use mercer_datasets::{Library, Place};
/// let library = Library::of_folders([])?;
/// assert_eq!(library.place("iris")?, Place::BuiltIn);
/// let Place::Missing(remedy) = library.place("mnist")? else { panic!("no folder has it") };
/// assert!(remedy.contains("mercer data")); // what to type
/// assert!(library.place("lettre").is_err()); // in no catalogue
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In this folder, listed in its manifest.
    Folder(PathBuf),
    /// Inside the binary, or computed.
    BuiltIn,
    /// Nowhere; what to do about it.
    Missing(String),
}

impl Library {
    /// Looks for the folders and reads their manifests.
    ///
    /// # Errors
    /// [`DataError::Argument`] if a folder that was named, by `explicit` or by `$MERCER_DATA`, has
    /// no `MANIFEST.toml`; [`DataError::Manifest`] if one is unusable.
    pub fn discover(explicit: Option<&Path>) -> Result<Self, DataError> {
        let variable = std::env::var_os(DATA_VARIABLE).filter(|value| !value.is_empty());
        let mut folders = Vec::new();
        for (name, folder) in [
            ("--data", explicit.map(Path::to_owned)),
            ("$MERCER_DATA", variable.map(PathBuf::from)),
        ] {
            let Some(folder) = folder else { continue };
            if !folder.join(MANIFEST).is_file() {
                let must = format!("a folder with a {MANIFEST}; `mercer data import` makes one");
                return Err(DataError::Argument {
                    name,
                    value: folder.display().to_string(),
                    must,
                });
            }
            folders.push(folder);
        }
        folders.extend(repository());
        folders.extend(user_folder().filter(|folder| folder.join(MANIFEST).is_file()));
        Self::of_folders(folders)
    }

    /// Builds a library of these folders, in order, and the built-in datasets.
    ///
    /// # Errors
    /// [`DataError::Io`] or [`DataError::Manifest`] if one has no usable `MANIFEST.toml`.
    pub fn of_folders(folders: impl IntoIterator<Item = PathBuf>) -> Result<Self, DataError> {
        let folders = folders
            .into_iter()
            .map(|folder| Manifest::read(&folder).map(|manifest| (folder, manifest)))
            .collect::<Result<_, _>>()?;
        Ok(Self { folders, accept_version: false, limits: Limits::default() })
    }

    /// Sets whether a file may be used that parses but differs from the catalogue. The dataset's note then says so. Off
    /// by default.
    #[must_use]
    pub const fn accept_version(mut self, yes: bool) -> Self {
        self.accept_version = yes;
        self
    }

    /// Sets other limits than the default ones.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns whether [`Library::load`] would find the dataset; its content is not looked at.
    pub fn available(&self, name: &str) -> bool {
        self.place(name).is_ok_and(|place| !matches!(place, Place::Missing(_)))
    }

    /// Returns where [`Library::load`] would read the dataset; its content is not looked at.
    ///
    /// # Errors
    /// [`DataError::Unknown`] if the catalogue has none of that name.
    pub fn place(&self, name: &str) -> Result<Place, DataError> {
        let entry = Catalogue::builtin().find(name)?;
        Ok(match self.listed(&entry.name) {
            Some((folder, _)) => Place::Folder(folder.to_owned()),
            None if embedded::listed(&entry.name).is_some() => Place::BuiltIn,
            None if entry.source.generated.is_some() => Place::BuiltIn,
            None => Place::Missing(remedy(entry)),
        })
    }

    /// Reads a dataset and holds it against the catalogue.
    ///
    /// # Errors
    /// [`DataError::Unknown`] and [`DataError::Missing`] if there is none; [`DataError::Damaged`]
    /// if a file is not the one of its manifest; the parsers' errors; and
    /// [`DataError::AnotherVersion`] if rows, features, class counts or fingerprint differ from the
    /// catalogue's, unless that was accepted.
    pub fn load(&self, name: &str) -> Result<Dataset, DataError> {
        let entry = Catalogue::builtin().find(name)?;
        if let Some((folder, listing)) = self.listed(&entry.name) {
            return self.read(Origin::Folder(folder), listing, entry);
        }
        if let Some(listing) = embedded::listed(&entry.name) {
            return self.read(Origin::Binary, listing, entry);
        }
        if let Some(generator) = entry.source.generated {
            return made(entry, generator);
        }
        Err(DataError::Missing { name: entry.name.clone(), remedy: remedy(entry) })
    }

    /// Checks that a dataset's files match their manifest; they are not parsed.
    ///
    /// # Errors
    /// [`DataError::Unknown`] and [`DataError::Missing`] if there is none, [`DataError::Damaged`] if a
    /// file is not the one of its manifest, [`DataError::Io`] if one cannot be read.
    pub fn check(&self, name: &str) -> Result<(), DataError> {
        let entry = Catalogue::builtin().find(name)?;
        match self.listed(&entry.name) {
            Some((folder, listing)) => listing.files.iter().try_for_each(|file| {
                sound(Origin::Folder(folder), listing, file, &self.limits).map(drop)
            }),
            None if matches!(self.place(name)?, Place::Missing(_)) => {
                Err(DataError::Missing { name: entry.name.clone(), remedy: remedy(entry) })
            }
            None => Ok(()),
        }
    }

    /// Whether one of the folders has the dataset.
    pub(crate) fn lists(&self, name: &str) -> bool {
        self.listed(name).is_some()
    }

    /// The first folder that lists the dataset and has all its files.
    fn listed(&self, name: &str) -> Option<(&Path, &Listing)> {
        self.folders.iter().find_map(|(folder, manifest)| {
            let listing = manifest.find(name)?;
            let complete = listing.files.iter().all(|file| folder.join(&file.path).is_file());
            complete.then_some((folder.as_path(), listing))
        })
    }

    fn read(
        &self,
        origin: Origin<'_>,
        listing: &Listing,
        entry: &Entry,
    ) -> Result<Dataset, DataError> {
        let (inputs, targets, parts) = read_listed(origin, listing, &self.limits)?;
        let place = origin.path(Path::new(&listing.name)).display().to_string();
        checked(inputs, &targets, parts, entry, &place, self.accept_version)
    }
}

/// What to do about a missing dataset.
fn remedy(entry: &Entry) -> String {
    let name = &entry.name;
    let elsewhere = "or point --data or $MERCER_DATA at a folder that has it";
    match &entry.source.by_hand {
        None => format!("run `mercer data fetch {name}`, {elsewhere}"),
        Some(reason) => format!(
            "{reason}: get it from {} and run `mercer data import DIR`, {elsewhere}",
            entry.urls.join(" or ")
        ),
    }
}

/// Where the files of a listing lie.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Folder(&'a Path),
    Binary,
}

impl Origin<'_> {
    /// How messages call a file.
    fn path(self, file: &Path) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.join(file),
            Self::Binary => Path::new("built-in").join(file),
        }
    }

    fn bytes(self, file: &Path, limits: &Limits) -> Result<Vec<u8>, DataError> {
        match self {
            Self::Folder(folder) => compression::read(&folder.join(file), limits),
            Self::Binary => Ok(embedded::bytes(file).unwrap_or_default().to_vec()),
        }
    }

    /// What to type to have a damaged file again.
    fn restore(self, name: &str, file: &Path) -> String {
        let Self::Folder(folder) = self else { return "build the program again".to_owned() };
        let checked_out = |folder: PathBuf| folder.ancestors().any(|own| own.join(".git").exists());
        if is_repository(folder) && folder.canonicalize().is_ok_and(checked_out) {
            let (folder, file) = (folder.display(), file.display());
            return format!("restore it: git -C {folder} checkout -- {file}");
        }
        let inside = user_folder().is_some_and(|own| own == folder);
        // Another folder is looked at first, and would have it still.
        let first = if inside { "get it again" } else { "remove it, and get it again" };
        format!("{first}: mercer data fetch {name}")
    }
}

/// Reads the files of a listing into one matrix, training rows first.
fn read_listed(
    origin: Origin<'_>,
    listing: &Listing,
    limits: &Limits,
) -> Result<(Array2<f64>, Column, Parts), DataError> {
    let features = listing.features;
    let mut files: Vec<&ListedFile> = listing.files.iter().collect();
    files.sort_by_key(|file| file.role);
    let holds_rows = |file: &&&ListedFile| file.content != Some(Content::Labels);
    let rows_of = |test: bool| -> usize {
        let part = files.iter().filter(holds_rows).filter(|file| (file.role == Role::Test) == test);
        part.fold(0, |sum, file| sum.saturating_add(file.rows))
    };
    let (train, test) = (rows_of(false), rows_of(true));
    let manifest = origin.path(Path::new(MANIFEST)).display().to_string();
    let mut rows = Rows::with_room(&manifest, train.saturating_add(test), features, limits)?;
    let mut names: Option<Vec<String>> = None;
    for file in files {
        let shown = origin.path(&file.path).display().to_string();
        let bytes = sound(origin, listing, file, limits)?;
        let bytes = compression::decompress(bytes, &shown, limits)?;
        let before = (rows.values.len(), rows.targets.len());
        append(&bytes, file, &shown, features, limits, &mut rows, &mut names)?;
        let grown = match file.content {
            Some(Content::Images) => (rows.values.len() - before.0) / features.max(1),
            _ => rows.targets.len() - before.1,
        };
        if grown != file.rows {
            let problem = format!("holds {grown} rows, but its manifest says {}", file.rows);
            return Err(DataError::format(&shown, problem));
        }
    }
    let (n, place) = (rows.targets.len(), origin.path(Path::new(&listing.name)));
    let inputs = Array2::from_shape_vec((n, features), rows.values).map_err(|error| {
        DataError::format(&place.display().to_string(), format!("inputs and targets: {error}"))
    })?;
    let targets = names.map_or(Column::Numbers(rows.targets), Column::Names);
    Ok((inputs, targets, Parts::divided(train, test)))
}

/// The bytes of a file, if they match its manifest.
fn sound(
    origin: Origin<'_>,
    listing: &Listing,
    file: &ListedFile,
    limits: &Limits,
) -> Result<Vec<u8>, DataError> {
    let bytes = origin.bytes(&file.path, limits)?;
    let found = hexadecimal(&Sha256::digest(&bytes));
    if found.eq_ignore_ascii_case(&file.sha256) {
        return Ok(bytes);
    }
    Err(DataError::Damaged {
        file: origin.path(&file.path).display().to_string(),
        expected: file.sha256.clone(),
        found,
        remedy: origin.restore(&listing.name, &file.path),
    })
}

/// Appends one file, whose format its name tells.
fn append(
    bytes: &[u8],
    file: &ListedFile,
    shown: &str,
    features: usize,
    limits: &Limits,
    rows: &mut Rows,
    names: &mut Option<Vec<String>>,
) -> Result<(), DataError> {
    let table = match Format::of(&file.path) {
        Some(Format::Svmlight) => {
            return svmlight::append(bytes, shown, Base::One, features, limits, rows);
        }
        Some(Format::Idx) => {
            let idx = idx::Idx::parse(bytes, shown, limits)?;
            let (width, into) = match file.content {
                Some(Content::Labels) => (1, &mut rows.targets),
                _ => (features, &mut rows.values),
            };
            if idx.features() != width {
                let problem = format!("has {} columns, but {width} are listed", idx.features());
                return Err(DataError::format(shown, problem));
            }
            return idx.append(shown, into);
        }
        Some(Format::Csv) => {
            Table::read(bytes, shown, RowFormat::Text(b','), &TableOptions::default(), limits)?
        }
        Some(Format::Parquet) => {
            Table::read(bytes, shown, RowFormat::Parquet, &TableOptions::default(), limits)?
        }
        None => {
            let problem = "has an unknown format; known are .svm, .csv, .parquet and idx-ubyte";
            return Err(DataError::format(shown, problem));
        }
    };
    if table.inputs.ncols() != features {
        let problem = format!("has {} columns, but {features} are listed", table.inputs.ncols());
        return Err(DataError::format(shown, problem));
    }
    rows.values.extend(table.inputs.iter());
    match table.targets {
        Column::Numbers(values) if names.is_none() => rows.targets.extend(values),
        targets => {
            // One file with text makes all targets text.
            let earlier = &rows.targets;
            let all =
                names.get_or_insert_with(|| Column::Numbers(earlier.clone()).names().collect());
            all.extend(targets.names());
            rows.targets.resize(all.len(), 0.0);
        }
    }
    Ok(())
}

/// The format of a file, from its name without a compression suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Svmlight,
    Csv,
    Parquet,
    Idx,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        let bare = [".gz", ".xz", ".bz2"].iter().find_map(|shell| name.strip_suffix(shell));
        let bare = bare.unwrap_or(&name);
        let (_, suffix) = bare.rsplit_once('.').unwrap_or((bare, ""));
        match suffix {
            "svm" | "svmlight" | "libsvm" => Some(Self::Svmlight),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            _ if bare.contains("idx") && bare.ends_with("ubyte") => Some(Self::Idx),
            _ => None,
        }
    }
}

/// Encodes rows as the catalogue does and compares them with it.
pub(crate) fn checked(
    inputs: Array2<f64>,
    targets: &Column,
    parts: Parts,
    entry: &Entry,
    place: &str,
    accept_version: bool,
) -> Result<Dataset, DataError> {
    let kind = match entry.task {
        Task::Classification { .. } => Kind::Classification,
        Task::Regression => Kind::Regression,
    };
    // Class names are those that occur: where they are not the catalogue's, the class counts
    // differ too, and the comparison below says so.
    let (sample, labels) = dataset::encode(inputs, targets, place, kind, None)?;
    let fingerprint = fingerprint(&sample, &parts, &labels);
    let difference = difference(&sample, &parts, &labels, &fingerprint, entry);
    let note = match difference {
        Some((what, expected, found)) if !accept_version => {
            let name = entry.name.clone();
            return Err(DataError::AnotherVersion { name, what, expected, found });
        }
        Some((what, expected, found)) => {
            Some(format!("another version than the catalogue's: {what} is {found}, not {expected}"))
        }
        None if entry.fingerprint.is_none() => Some(
            "rows, features and class counts are the catalogue's, which has no fingerprint of it"
                .to_owned(),
        ),
        None => None,
    };
    Ok(Dataset { name: entry.name.clone(), fingerprint, sample, parts, labels, note })
}

/// The first thing in which a dataset differs from its entry: what, expected, found.
fn difference(
    sample: &Sample,
    parts: &Parts,
    labels: &[String],
    fingerprint: &str,
    entry: &Entry,
) -> Option<(&'static str, String, String)> {
    let differ = |what, expected: String, found: String| {
        (expected != found).then_some((what, expected, found))
    };
    let rows = |train: usize, test: usize| format!("{train} + {test}");
    let expected_rows = rows(entry.parts.train, entry.parts.test);
    let counts: Vec<String> = labels
        .iter()
        .zip(sample.class_counts())
        .map(|(label, count)| format!("{label}: {count}"))
        .collect();
    let expected_counts: Vec<String> = entry
        .labels()
        .into_iter()
        .map(|label| format!("{label}: {}", entry.class_counts[&label]))
        .collect();
    differ("its number of rows", expected_rows, rows(parts.train.len(), parts.test.len()))
        .or_else(|| {
            let (expected, found) = (entry.features, sample.features());
            differ("its number of columns", expected.to_string(), found.to_string())
        })
        .or_else(|| differ("its class counts", expected_counts.join(", "), counts.join(", ")))
        .or_else(|| {
            let expected = entry.fingerprint.clone()?;
            differ("its fingerprint", expected, fingerprint.to_owned())
        })
}

/// A dataset that is computed, not read.
fn made(entry: &Entry, generator: Generator) -> Result<Dataset, DataError> {
    let parts = Parts::divided(entry.parts.train, entry.parts.test);
    let sample = generator.sample(entry.parts.train, entry.parts.test, entry.features);
    let targets = sample.values().map(|values| values.to_vec()).unwrap_or_default();
    let inputs = sample.inputs().to_owned();
    checked(inputs, &Column::Numbers(targets), parts, entry, "a generated dataset", false)
}
