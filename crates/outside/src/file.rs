//! A file of declared programs as methods.

use crate::OutsideError;
use crate::declaration::{Data, Declared, File};
use crate::outside::Outside;
use mercer_learning::Method;
use std::path::Path;

/// Returns the methods that a file describes, in the order of their names.
///
/// ```
/// use mercer_outside::methods_of;
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("baselines.toml");
/// std::fs::write(&file, r#"
/// [method.my-forest]
/// command = ["python3", "my_forest.py"]
/// tasks = ["classification"]
/// settings.max_depth = { default = 10, tune = { from = 2, to = 32, scale = "log", whole = true } }
/// "#)?;
/// let methods = methods_of(&file)?;
/// assert_eq!(methods[0].name, "my-forest");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`OutsideError`] if the file cannot be read or does not have its form.
pub fn methods_of(file: &Path) -> Result<Vec<Method>, OutsideError> {
    let text = std::fs::read_to_string(file)
        .map_err(|source| OutsideError::Io { path: file.to_owned(), source })?;
    parse(&text, file)
}

pub(crate) fn parse(text: &str, file: &Path) -> Result<Vec<Method>, OutsideError> {
    let form = |reason: String| OutsideError::Form { path: file.to_owned(), reason };
    let read: File = toml::from_str(text).map_err(|error| form(error.to_string()))?;
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let method = |(name, mut declared): (String, Declared)| {
        if declared.command.is_empty() {
            declared.data = Data::Csv; // which the adapter reads without a package more
        }
        if let Some(fault) = declared.fault() {
            return Err(form(format!("method `{name}`: {fault}")));
        }
        let named = name.strip_prefix('@').unwrap_or(&name);
        let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if named.is_empty() || !named.chars().all(fit) {
            return Err(form(format!(
                "method `{name}`: a name has small letters, digits and hyphens"
            )));
        }
        Ok(Outside::new(name, declared, folder).method())
    };
    read.method.into_iter().map(method).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text, Path::new("b.toml")).unwrap_err().to_string()
    }

    #[test]
    fn a_file_that_makes_no_method_is_refused_with_what_is_wrong() {
        for (text, says) in [
            ("[method.a]\ntasks = [\"regression\"]", "method `a`: give `command`"),
            ("[method.a]\ncommand = [\"x\"]", "`tasks` is missing"),
            ("[method.a]\nclassifier = \"sklearn\"", "`sklearn` is no `module:Class`"),
            ("[method.A]\nclassifier = \"a:B\"", "a name has small letters"),
            ("[method.a]\nclassifier = \"a:B\"\nsetings = {}", "unknown field `setings`"),
            (
                "[method.a]\nclassifier = \"a:B\"\nsettings.c = { tune = { from = 0, to = 2, scale = \"log\" } }",
                "from 0 to 2 is no range",
            ),
        ] {
            let said = refused(text);
            assert!(said.starts_with("b.toml: ") && said.contains(says), "{text}: {said}");
        }
    }
}
