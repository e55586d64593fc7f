use crate::DataError;
use mercer_learning::nearest;
use std::io::{Error, ErrorKind};
use std::path::Path;

/// The error for a path that cannot be opened: of one that does not exist the nearest name beside it.
pub(super) fn fault(path: &Path, error: Error) -> DataError {
    if error.kind() != ErrorKind::NotFound {
        return DataError::io(path)(error);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let listed = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names: Vec<String> =
        listed.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let asked = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let hint = match (nearest(asked, &names), std::env::current_dir()) {
        (Some(near), _) => format!("; did you mean `{}`?", path.with_file_name(near).display()),
        (None, Ok(here)) if path.is_relative() => {
            format!("; it was looked for from {}", here.display())
        }
        _ => String::new(),
    };
    let source = Error::new(ErrorKind::NotFound, format!("no such file{hint}"));
    DataError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_does_not_exist_names_the_nearest_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("flowers.csv"), "a").unwrap();
        let asked = folder.path().join("flower.csv");
        let told = fault(&asked, std::fs::metadata(&asked).unwrap_err()).to_string();
        assert!(told.contains("flower.csv: no such file; did you mean `"), "{told}");
        assert!(told.contains("flowers.csv`?"), "{told}");
        let far = fault(Path::new("no/such.gz"), Error::from(ErrorKind::NotFound)).to_string();
        assert!(far.contains("no/such.gz: no such file; it was looked for from /"), "{far}");
    }
}
