use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{Result, Write};
use std::path::Path;

/// The few calls that a [`crate::Store`] makes of a file system, so that a test can let any of them
/// fail.
///
/// Errors are those of the operating system.
#[expect(clippy::missing_errors_doc, reason = "every call fails as the operating system does")]
pub trait Disk: Debug + Send + Sync {
    /// Creates a directory and those above it; one that is there is fine.
    fn create_directory(&self, path: &Path) -> Result<()>;
    /// The content of a file.
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
