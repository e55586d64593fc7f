//! Files that are there whole or not at all.

use crate::RenderError;
use std::io::Write;
use std::path::Path;

/// Writes a file under another name in its folder, which is made if need be, and then gives it its own.
/// Programs that write one file at the same time do not meet: the last one's stays.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("tables/scores.csv");
/// mercer_render::replace(&path, b"method,score\n")?;
/// assert_eq!(std::fs::read(&path)?, b"method,score\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RenderError::Io`] if the disk refuses; an older file stays as it was.
pub fn replace(path: &Path, content: &[u8]) -> Result<(), RenderError> {
    written(path, content, false)
}

/// [`replace`], which waits until the content would survive a power cut if it is `kept`.
pub(crate) fn written(path: &Path, content: &[u8], kept: bool) -> Result<(), RenderError> {
    let io = |source| RenderError::Io { action: "write", path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(io)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".writing-");
    #[cfg(unix)]
    {
        // Temporary files are private by default; a report is not.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o644));
    }
    let mut file = builder.tempfile_in(folder).map_err(io)?;
    file.write_all(content).map_err(io)?;
    if kept {
        file.as_file().sync_all().map_err(io)?;
    }
    file.persist(path).map_err(|error| io(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_write_one_file_at_once_do_not_meet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::thread::scope(|scope| {
            for content in [b"a,b\n".repeat(1000), b"c,d\n".repeat(1000)] {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..300 {
                        replace(path, &content).unwrap();
                        let there = std::fs::read(path).unwrap();
                        assert!(there == b"a,b\n".repeat(1000) || there == b"c,d\n".repeat(1000));
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
