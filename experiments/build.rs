//! Lists the files of the folders that declare what is studied: the folder is the list.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut lists = String::new();
    for folder in ["artefacts", "claims", "findings", "notes", "published", "specs"] {
        println!("cargo::rerun-if-changed={folder}");
        let mut files: Vec<PathBuf> = std::fs::read_dir(root.join(folder))?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?;
        files.sort();
        let _ = writeln!(lists, "pub(super) const {}: &[(&str, &str)] = &[", folder.to_uppercase());
        for file in &files {
            let name = file.file_stem().unwrap_or_default().display();
            // Not where the folder is now: a checkout may be moved with what is built in it.
            let file = format!("/{folder}/{}", file.file_name().unwrap_or_default().display());
            let here = "env!(\"CARGO_MANIFEST_DIR\")";
            let name = name.to_string();
            let _ = writeln!(lists, "    ({name:?}, include_str!(concat!({here}, {file:?}))),");
        }
        lists.push_str("];\n");
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join(Path::new("files.rs")), lists)
}
