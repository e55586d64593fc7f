//! Every public type and function of the crates that a user calls shows an example that runs.

use std::path::{Path, PathBuf};

/// The crates that a user, or the driver of a study, calls.
const CRATES: [&str; 14] = [
    "baselines",
    "datasets",
    "harness",
    "kernels",
    "learning",
    "linalg",
    "models",
    "networks",
    "records",
    "render",
    "solvers",
    "statistics",
    "theory",
    "workbench",
];

/// What a fence may say of an example that is compiled, and run if it compiles.
const RUN: [&str; 4] = ["", "should_panic", "compile_fail", "standalone_crate"];

/// Crate, item, and why it can do without.
const EXCEPTIONS: [(&str, &str, &str); 2] = [
    ("learning", "Cost", "three texts that another crate reads: `Method` shows them"),
    ("harness", "leave", "ends the process that would run the example"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The name that a line declares to everybody: of a type, a trait or a function at the level of its
/// module, or of settings within `parameters!`.
fn declared(line: &str, within_parameters: bool) -> Option<&str> {
    let line = if within_parameters { line.strip_prefix("    ")? } else { line };
    let mut rest = line.strip_prefix("pub ")?;
    if let Some(function) = ["const fn ", "unsafe fn "].iter().find_map(|p| rest.strip_prefix(p)) {
        return function.split(|c: char| !c.is_alphanumeric() && c != '_').next();
    }
    rest = ["struct ", "enum ", "union ", "trait ", "type ", "fn "]
        .iter()
        .find_map(|kind| rest.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

/// Each item that a file declares to everybody, and whether its documentation has an example that
/// the tests run: a fence without a language, or one that says only how it should end.
fn items(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let (mut example, mut fenced, mut attribute, mut parameters) = (false, false, false, false);
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        let tests = lines.get(at + 1).is_some_and(|next| next.starts_with("mod "));
        if *line == "#[cfg(test)]" && tests && lines[at + 1].ends_with('{') {
            break;
        }
        if attribute {
            attribute = !trimmed.ends_with(']');
        } else if let Some(doc) = trimmed.strip_prefix("///") {
            if let Some(kind) = doc.trim().strip_prefix("```") {
                example |= !fenced && RUN.contains(&kind);
                fenced = !fenced;
            }
        } else if trimmed.starts_with("#[") {
            attribute = !trimmed.ends_with(']');
        } else {
            if trimmed.ends_with("parameters! {") && !line.starts_with(' ') {
                parameters = true;
            } else if line.starts_with('}') {
                parameters = false;
            }
            if let Some(name) = declared(line, parameters) {
                found.push((name, example));
            }
            (example, fenced) = (false, false);
        }
    }
    found
}

#[test]
fn every_form_is_recognised() {
    let text = "\
/// A type.
///
/// ```
/// assert_eq!(1 + 1, 2);
/// ```
#[derive(Debug)]
#[expect(
    clippy::pedantic,
    reason = \"long\"
)]
pub struct Shown<T> {
    /// A field.
    pub field: T,
}
/// A formula is no example.
/// ```text
/// x = 1
/// ```
pub const fn formula() {}
pub(crate) fn own() {}
pub const NUMBER: u8 = 1;
parameters! {
    /// Settings.
    pub struct Params {
        pub d: usize = 1;
    }
}
impl Shown<u8> {
    pub fn method() {}
}
/// Panics.
/// ```should_panic
/// panic!();
/// ```
pub fn ended() {}
#[cfg(test)]
mod tests {
pub fn helper() {}
";
    assert_eq!(
        items(text),
        [("Shown", true), ("formula", false), ("Params", false), ("ended", true)]
    );
}

#[test]
fn every_type_and_function_that_a_user_calls_has_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut looked_at, mut without, mut excused) = (0, Vec::new(), 0);
    for name in CRATES {
        let mut files = Vec::new();
        sources(&root.join("crates").join(name).join("src"), &mut files);
        files.sort();
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let shown = path.strip_prefix(root).unwrap().display();
            for (item, example) in items(&text) {
                looked_at += 1;
                let exception =
                    EXCEPTIONS.iter().any(|&(of, called, _)| (of, called) == (name, item));
                excused += usize::from(exception && !example);
                if !example && !exception {
                    without.push(format!("{shown}: {item}"));
                }
            }
        }
    }
    assert!(without.is_empty(), "without an example:\n{}", without.join("\n"));
    assert_eq!(excused, EXCEPTIONS.len(), "an exception has an example, or is not there");
    assert!(looked_at > 400, "{looked_at} items");
}
