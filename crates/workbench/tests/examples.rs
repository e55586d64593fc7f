//! Every function and trait of the library that a user calls, and every type of the workbench, has a runnable
//! example.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The crates that are called as a library.
const CRATES: [&str; 7] =
    ["workbench", "learning", "baselines", "networks", "solvers", "kernels", "linalg"];

/// What has none, each with its reason.
const WITHOUT: [(&str, &str); 13] = [
    ("DataNote", "a part of `Header`, which has one"),
    ("Estimate", "a part of `Evaluation`, which has one"),
    ("MethodScores", "a part of `Comparison`, which has one"),
    ("Pair", "a part of `Comparison`, which has one"),
    ("Across", "made by `across`, which has one"),
    ("MethodAcross", "a part of `Across`"),
    ("PairAcross", "a part of `Across`"),
    ("PredictedRows", "handed to the function that is given to `Model::predict_file`"),
    ("undeclared", "named in a method's declaration, never called"),
    ("never_kept", "named in a method's declaration, never called"),
    ("Parameters", "implemented by the macro `parameters!`, which has examples"),
    ("InRange", "implemented for the types that settings have"),
    ("Element", "implemented for the types that arrays of a state have"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            found.push(path);
        }
    }
}

/// Names after `pub use` in the root of a crate.
fn exported(root: &str) -> BTreeSet<&str> {
    root.split("pub use ")
        .skip(1)
        .filter_map(|rest| rest.split(';').next())
        .flat_map(|list| list.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')))
        .collect()
}

#[test]
fn what_a_user_calls_has_an_example() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut looked_at, mut without) = (0, BTreeSet::new());
    for name in CRATES {
        let folder = crates.join(name).join("src");
        let root = std::fs::read_to_string(folder.join("lib.rs")).unwrap();
        let exported = exported(&root);
        let mut files = Vec::new();
        sources(&folder, &mut files);
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut example = false;
            for line in text.lines() {
                if line.starts_with("///") {
                    example |= line.contains("```");
                } else if !line.starts_with("#[") && !line.starts_with("    ") {
                    let head = line.strip_prefix("pub ").unwrap_or_default();
                    let head = head.strip_prefix("const ").unwrap_or(head);
                    let item = head.strip_prefix("fn ").or_else(|| head.strip_prefix("trait "));
                    // Of the crate that people begin with, the types too.
                    let item = item.or_else(|| {
                        let of_type = head.strip_prefix("struct ");
                        let of_type = of_type.or_else(|| head.strip_prefix("enum "));
                        of_type.filter(|_| name == "workbench")
                    });
                    let item = item.and_then(|rest| rest.split(['(', '<', ':', ' ']).next());
                    if let Some(item) = item.filter(|item| exported.contains(item)) {
                        looked_at += 1;
                        if !example {
                            without.insert(item.to_owned());
                        }
                    }
                    example = false;
                }
            }
        }
    }
    assert!(looked_at > 60, "{looked_at} functions and traits");
    let excused: BTreeSet<String> = WITHOUT.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(without, excused, "left: without an example; right: excused");
}
