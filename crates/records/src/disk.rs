use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{Result, Write};
use std::path::Path;

/// The few calls that a [`crate::Store`] makes of a file system. A test can let any of them fail.
///
/// Errors come from the operating system.
///
/// ```
/// use mercer_records::{Disk, LocalDisk, RecordError, Store};
/// use std::io::Result;
/// use std::path::Path;
/// /// Full from the first byte on.
/// #[derive(Debug)]
/// struct Full;
/// impl Disk for Full {
///     fn create_directory(&self, path: &Path) -> Result<()> { LocalDisk.create_directory(path) }
///     fn read(&self, path: &Path) -> Result<Vec<u8>> { LocalDisk.read(path) }
///     fn create(&self, _: &Path, _: &[u8]) -> Result<()> {
///         Err(std::io::ErrorKind::StorageFull.into())
///     }
///     fn sync(&self, path: &Path) -> Result<()> { LocalDisk.sync(path) }
///     fn rename(&self, from: &Path, to: &Path) -> Result<()> { LocalDisk.rename(from, to) }
///     fn remove(&self, path: &Path) -> Result<()> { LocalDisk.remove(path) }
/// }
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let record = mercer_records::Record::new(key, result, Default::default());
/// let folder = tempfile::tempdir()?;
/// let store = Store::on(std::sync::Arc::new(Full), folder.path())?;
/// assert!(matches!(store.put(&record), Err(RecordError::Io { .. })));
/// assert!(store.list()?.records.is_empty()); // no half of a record is left
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(clippy::missing_errors_doc, reason = "every call fails as the operating system does")]
pub trait Disk: Debug + Send + Sync {
    /// Creates a directory and those above it; one that is there is fine.
    fn create_directory(&self, path: &Path) -> Result<()>;
    /// Reads the content of a file.
    fn read(&self, path: &Path) -> Result<Vec<u8>>;
    /// Creates a file that is not there yet, with this content.
    fn create(&self, path: &Path, content: &[u8]) -> Result<()>;
    /// Waits until a file, or the names in a directory, would survive a power cut.
    fn sync(&self, path: &Path) -> Result<()>;
    /// Gives a file another name, in place of what has that name.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> Result<()>;
}

/// The file system.
///
/// ```
/// use mercer_records::{Disk, LocalDisk};
/// let folder = tempfile::tempdir()?;
/// let (draft, kept) = (folder.path().join("draft"), folder.path().join("kept"));
/// LocalDisk.create(&draft, b"done")?;
/// assert!(LocalDisk.create(&draft, b"again").is_err()); // what is there is not written over
/// LocalDisk.rename(&draft, &kept)?;
/// assert_eq!(LocalDisk.read(&kept)?, b"done");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalDisk;

impl Disk for LocalDisk {
    fn create_directory(&self, path: &Path) -> Result<()> {
        fs::create_dir_all(path)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        fs::read(path)
    }

    fn create(&self, path: &Path, content: &[u8]) -> Result<()> {
        File::create_new(path)?.write_all(content)
    }

    fn sync(&self, path: &Path) -> Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<()> {
        fs::remove_file(path)
    }
}
