use crate::WorkbenchError;
use std::fs::{File, Permissions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file that will be written whole or not at all. Nothing else than that file is written.
///
/// ```
/// use mercer_workbench::Output;
/// let folder = tempfile::tempdir().expect("a folder");
/// let path = folder.path().join("scores.csv");
/// Output::claim(&path, false, &[])?.write_bytes(b"0.5\n")?;
/// assert!(Output::claim(&path, false, &[]).is_err()); // it exists now
/// assert!(Output::claim(&path, true, &[path.as_path()]).is_err()); // what is read is not written
/// Output::claim(&path, true, &[])?.write_bytes(b"0.7\n")?;
/// assert_eq!(std::fs::read(&path).expect("it is there"), b"0.7\n");
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// As the user wrote it.
    path: PathBuf,
    /// Where it is, behind links.
    behind: PathBuf,
    overwrite: bool,
}

impl Output {
    /// Checks, before any work is done, that the file may be written:
    /// - it is a file or not there yet,
    /// - it is none of the `inputs`,
    /// - its folder exists,
    /// - it may be overwritten if it exists.
    ///
    /// A link is followed and stays.
    ///
    /// ```
    /// use mercer_workbench::{Output, WorkbenchError};
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("model");
    /// Output::claim(&path, false, &[])?;
    /// assert!(!path.exists()); // nothing is made yet
    /// std::fs::write(&path, "old").expect("it is ours");
    /// let refused = Output::claim(&path, false, &[]).unwrap_err();
    /// assert!(matches!(refused, WorkbenchError::Exists { .. }));
    /// assert!(Output::claim(&path.join("below"), true, &[]).is_err()); // no folder
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorkbenchError::Exists`]; [`WorkbenchError::Output`] says what else is in the way.
    pub fn claim(path: &Path, overwrite: bool, inputs: &[&Path]) -> Result<Self, WorkbenchError> {
        let refused = |problem: &str| {
            let problem = problem.to_owned();
            Err(WorkbenchError::Output { path: path.to_owned(), problem })
        };
        let shown = path.to_owned();
        let Ok(metadata) = std::fs::metadata(path) else {
            if std::fs::symlink_metadata(path).is_ok() {
                return refused("is a link to nothing; remove it, or name another file");
            }
            if path.file_name().is_none() || !folder(path).is_dir() {
                return refused("the folder does not exist; create it, or name another");
            }
            return Ok(Self { path: shown, behind: path.to_owned(), overwrite });
        };
        if metadata.is_dir() {
            return refused("is a folder; name a file");
        }
        if !metadata.is_file() {
            return refused("is a device, a pipe or a socket; name a file");
        }
        let io = |source| WorkbenchError::Io { path: path.to_owned(), source };
        let path = std::fs::canonicalize(path).map_err(io)?;
        let same = |input: &&Path| std::fs::canonicalize(input).is_ok_and(|input| input == path);
        if inputs.iter().any(same) {
            return refused("is what is read here; name another file");
        }
        if !overwrite {
            return Err(WorkbenchError::Exists { path: shown });
        }
        Ok(Self { path: shown, behind: path, overwrite })
    }

    /// Returns the path as the user wrote it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the output of `write` into a temporary file beside it. The temporary file takes its place at the end. A
    /// file that is overwritten keeps its permissions; a new one has the system's.
    ///
    /// ```
    /// use mercer_workbench::{Output, WorkbenchError};
    /// use std::io::Write;
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("scores.csv");
    /// let output = Output::claim(&path, false, &[])?;
    /// let stopped = output.write(|file| {
    ///     file.write_all(b"0.5\n").expect("there is room");
    ///     Err::<(), _>(WorkbenchError::OneClass { rows: 3 })
    /// });
    /// assert!(stopped.is_err() && !path.exists()); // whole, or not at all
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// What `write` returns; [`WorkbenchError::Io`] names the file.
    pub fn write<T, E: From<WorkbenchError>>(
        &self,
        write: impl FnOnce(&mut File) -> Result<T, E>,
    ) -> Result<T, E> {
        let io = |source| WorkbenchError::Io { path: self.path.clone(), source };
        let mut builder = tempfile::Builder::new();
        if let Some(permissions) = self.permissions() {
            builder.permissions(permissions);
        }
        let folder = folder(&self.behind);
        // Not the error of a file that is not there: this one was to be made.
        let made = builder.tempfile_in(folder).map_err(|error| {
            let why =
                error.get_ref().map_or_else(|| error.to_string(), |_| error.kind().to_string());
            let folder = folder.display();
            io(std::io::Error::other(format!(
                "no file can be made in {folder} ({why}); name a folder that can be written"
            )))
        });
        let mut file = made?;
        let unfinished = Unfinished::new(file.path());
        let written = write(file.as_file_mut())?;
        file.as_file().sync_all().map_err(io)?;
        unfinished
            .end(|| {
                if self.overwrite {
                    file.persist(&self.behind).map_err(|error| error.error)
                } else {
                    file.persist_noclobber(&self.behind).map_err(|error| error.error)
                }
            })
            .map_err(io)?;
        Ok(written)
    }

    /// Removes unfinished output, for a process that ends now. From here on, [`Output::write`] puts nothing in place.
    ///
    /// ```
    /// use mercer_workbench::{Output, WorkbenchError};
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let output = Output::claim(&folder.path().join("scores.csv"), false, &[])?;
    /// let count = || std::fs::read_dir(folder.path()).expect("it is there").count();
    /// let written = output.write(|_| {
    ///     assert_eq!(count(), 1); // a temporary file
    ///     Output::abandon();
    ///     assert_eq!(count(), 0);
    ///     Ok::<(), WorkbenchError>(())
    /// });
    /// assert!(written.is_err());
    /// # Ok::<(), WorkbenchError>(())
    /// ```
    pub fn abandon() {
        for path in std::mem::take(&mut *unfinished()) {
            // Whoever else removed it did what was to be done.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Writes these bytes.
    ///
    /// # Errors
    /// [`WorkbenchError::Io`].
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<(), WorkbenchError> {
        self.write(|file| {
            let io = |source| WorkbenchError::Io { path: self.path.clone(), source };
            file.write_all(bytes).map_err(io)
        })
    }

    /// Permissions of the existing file, else all that the process's mask leaves.
    fn permissions(&self) -> Option<Permissions> {
        let there = std::fs::metadata(&self.behind).ok().map(|metadata| metadata.permissions());
        #[cfg(unix)]
        let there = there.or_else(|| Some(std::os::unix::fs::PermissionsExt::from_mode(0o666)));
        there
    }
}

/// Temporary files that are written to.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file among those that are written to, as long as this lives.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Self {
        unfinished().push(path.to_owned());
        Self(path.to_owned())
    }

    /// Ends it by `put`, during which nobody abandons it.
    fn end<T>(self, put: impl FnOnce() -> T) -> T {
        let mut all = unfinished();
        all.retain(|path| *path != self.0);
        let done = put();
        drop(all);
        done
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
