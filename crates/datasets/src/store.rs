use crate::download::Downloader;
use crate::fingerprint::{hexadecimal, print_number, print_row};
use crate::{
    Catalogue, DataError, Dataset, Entry, Library, Limits, ListedFile, Listing, MANIFEST, Manifest,
    Role, library, official,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use mercer_learning::Targets;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A folder of datasets that this program writes. It has one svmlight file a part, and the manifest.
///
/// Every file is written beside its place and renamed when it is complete, and the manifest last,
/// so a run that is killed leaves the folder as it was.
///
/// ```
/// use mercer_datasets::{Library, Place, Store};
/// let folder = tempfile::tempdir()?;
/// let iris = Library::of_folders([])?.load("iris")?;
/// Store::new(folder.path()).put(&iris)?;
/// let library = Library::of_folders([folder.path().to_owned()])?;
/// assert_eq!(library.place("iris")?, Place::Folder(folder.path().to_owned()));
/// assert_eq!(library.load("iris")?.fingerprint, iris.fingerprint); // the same rows
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    limits: Limits,
    accept_version: bool,
}

impl Store {
    /// Returns a store in `folder`, which is made with its first dataset. The usual folder is [`crate::user_folder`].
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), limits: Limits::default(), accept_version: false }
    }

    /// Sets whether data that differs from the catalogue may be stored. Off by default.
    #[must_use]
    pub const fn accept_version(mut self, yes: bool) -> Self {
        self.accept_version = yes;
        self
    }

    /// Downloads the official files of a dataset, checks them and stores the rows.
    ///
    /// A download that was cut short goes on where it stopped, in this run or the next. The files
    /// are removed once their rows are stored.
    ///
    /// # Errors
    /// [`DataError::ByHand`] if a person must get the files; [`DataError::Download`] if no address
    /// gave a usable file; [`DataError::AnotherVersion`] unless accepted; [`DataError::Io`].
    pub fn fetch(&self, entry: &Entry, downloader: &Downloader) -> Result<Dataset, DataError> {
        if entry.source.files.is_empty() {
            // Computed, or inside the binary.
            return Library::of_folders([])?.load(&entry.name);
        }
        if let Some(reason) = &entry.source.by_hand {
            let (name, reason) = (entry.name.clone(), reason.clone());
            return Err(DataError::ByHand { name, reason });
        }
        let folder = self.folder.join("downloads").join(&entry.name);
        fs::create_dir_all(&folder).map_err(DataError::io(&folder))?;
        for file in &entry.source.files {
            let check =
                |path: &Path| official::read_file(path, file, entry, &self.limits).map(|_| ());
            let path = folder.join(&file.name);
            if path.is_file() && check(&path).is_ok() {
                continue;
            }
            downloader.get(&file.urls, &path, self.limits.bytes, &check)?;
        }
        let dataset = self.put_official(entry, &folder)?;
        fs::remove_dir_all(&folder).map_err(DataError::io(&folder))?;
        Ok(dataset)
    }

    /// Takes datasets from a folder. If the folder has a manifest, it takes the datasets listed there. Else it takes
    /// the datasets whose official files lie in it or in a folder of their name inside it.
    ///
    /// With `names` empty, all that are found; the names taken are returned.
    ///
    /// # Errors
    /// [`DataError::Missing`] if one of `names` is not in the folder, or nothing is; the errors of
    /// reading and checking; [`DataError::Io`].
    pub fn import(&self, from: &Path, names: &[String]) -> Result<Vec<String>, DataError> {
        let catalogue = Catalogue::builtin();
        let wanted: Vec<&Entry> = if names.is_empty() {
            catalogue.entries().iter().collect()
        } else {
            names.iter().map(|name| catalogue.find(name)).collect::<Result<_, _>>()?
        };
        let library = from
            .join(MANIFEST)
            .is_file()
            .then(|| Library::of_folders([from.to_owned()]))
            .transpose()?
            .map(|library| library.accept_version(self.accept_version).limits(self.limits));
        let mut taken = Vec::new();
        for entry in wanted {
            let own = from.join(&entry.name);
            let complete = |folder: &&Path| {
                let files = &entry.source.files;
                !files.is_empty() && files.iter().all(|f| official::locate(folder, f).is_some())
            };
            if let Some(library) = library.as_ref().filter(|l| l.lists(&entry.name)) {
                self.put(&library.load(&entry.name)?)?;
            } else if let Some(folder) = [own.as_path(), from].iter().copied().find(complete) {
                self.put_official(entry, folder)?;
            } else if names.is_empty() {
                continue;
            } else {
                return Err(not_in(from, entry));
            }
            taken.push(entry.name.clone());
        }
        if taken.is_empty() {
            return Err(DataError::format(
                &from.display().to_string(),
                format!("holds neither {MANIFEST} nor the official files of any dataset"),
            ));
        }
        Ok(taken)
    }

    /// Checks official files and stores their rows.
    fn put_official(&self, entry: &Entry, folder: &Path) -> Result<Dataset, DataError> {
        let (inputs, targets, parts) = official::read(entry, folder, &self.limits)?;
        let place = folder.display().to_string();
        let dataset =
            library::checked(inputs, &targets, parts, entry, &place, self.accept_version)?;
        self.put(&dataset)?;
        Ok(dataset)
    }

    /// Stores a dataset, in place of one of the same name.
    ///
    /// # Errors
    /// [`DataError::Io`] if the folder cannot be written; [`DataError::Manifest`] if it has an
    /// unusable manifest; [`DataError::Target`] if a class name is no number, which svmlight cannot
    /// hold.
    pub fn put(&self, dataset: &Dataset) -> Result<(), DataError> {
        if let Some(label) = dataset.labels.iter().find(|label| label.parse::<f64>().is_err()) {
            return Err(DataError::Target {
                file: dataset.name.clone(),
                row: 1,
                label: label.clone(),
                problem: "a stored class name must be a number".to_owned(),
            });
        }
        let folder = self.folder.join(&dataset.name);
        fs::create_dir_all(&folder).map_err(DataError::io(&folder))?;
        let (train, test) = (&dataset.parts.train, &dataset.parts.test);
        let first = if test.is_empty() { Role::All } else { Role::Train };
        let mut files = vec![self.write_part(dataset, first, train.clone())?];
        if !test.is_empty() {
            files.push(self.write_part(dataset, Role::Test, test.clone())?);
        }
        let counts = dataset.labels.iter().cloned().zip(dataset.sample.class_counts()).collect();
        let listing = Listing {
            name: dataset.name.clone(),
            task: dataset.sample.task().name().to_owned(),
            files,
            features: dataset.sample.features(),
            classes: dataset.sample.labels().map(|_| dataset.labels.len()),
            class_counts: counts,
        };
        self.list(listing)
    }

    fn write_part(
        &self,
        dataset: &Dataset,
        role: Role,
        rows: Range<usize>,
    ) -> Result<ListedFile, DataError> {
        let suffix = match role {
            Role::All => "",
            Role::Train => ".train",
            Role::Test => ".test",
        };
        let name = &dataset.name;
        let relative = PathBuf::from(name).join(format!("{name}{suffix}.svm.gz"));
        let path = self.folder.join(&relative);
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        let (mut line, count) = (String::new(), rows.len());
        for row in rows {
            line.clear();
            match dataset.sample.targets() {
                Targets::Classes { labels, .. } => {
                    line.push_str(&dataset.labels[labels[row] as usize]);
                }
                Targets::Real(values) => print_number(values[row], &mut line),
            }
            print_row(dataset.sample.inputs().row(row), &mut line);
            line.push('\n');
            packed.write_all(line.as_bytes()).map_err(DataError::io(&path))?;
        }
        let bytes = packed.finish().map_err(DataError::io(&path))?;
        write_whole(&path, &bytes)?;
        Ok(ListedFile {
            path: relative,
            sha256: hexadecimal(&Sha256::digest(&bytes)),
            rows: count,
            role,
            bytes: bytes.len() as u64,
            content: None,
        })
    }

    /// Puts a listing into the manifest; a lock keeps two processes from losing one of theirs.
    fn list(&self, listing: Listing) -> Result<(), DataError> {
        let lock_path = self.folder.join(".lock");
        let lock = File::create(&lock_path).map_err(DataError::io(&lock_path))?;
        lock.lock().map_err(DataError::io(&lock_path))?;
        let path = self.folder.join(MANIFEST);
        let mut manifest =
            if path.is_file() { Manifest::read(&self.folder)? } else { Manifest::new() };
        manifest.datasets.retain(|other| other.name != listing.name);
        manifest.datasets.push(listing);
        manifest.datasets.sort_by(|a, b| a.name.cmp(&b.name));
        let text = toml::to_string(&manifest).map_err(|error| DataError::Manifest {
            path: path.clone(),
            problem: error.to_string(),
        })?;
        write_whole(&path, text.as_bytes())
    }
}

fn not_in(from: &Path, entry: &Entry) -> DataError {
    let files: Vec<&str> = entry.source.files.iter().map(|file| file.name.as_str()).collect();
    DataError::Missing {
        name: entry.name.clone(),
        remedy: format!(
            "{} neither lists it in a {MANIFEST} nor holds {}",
            from.display(),
            files.join(", ")
        ),
    }
}

/// Writes a file so that it is there whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(DataError::io(folder))?;
    file.write_all(bytes).map_err(DataError::io(path))?;
    file.as_file().sync_all().map_err(DataError::io(path))?;
    file.persist(path).map_err(|error| DataError::io(path)(error.error))?;
    Ok(())
}
