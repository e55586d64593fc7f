//! Lists the small files of the folder `data`, which go into the binary.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Datasets of more than a megabyte, which are read from a folder alone.
const LARGE: [&str; 4] = ["covtype", "ijcnn1", "mnist", "usps"];

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths =
        std::fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=../../data");
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../data");
    let mut list = "const FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for folder in entries(&root)?.into_iter().filter(|path| path.is_dir()) {
        if LARGE.iter().any(|name| folder.ends_with(name)) {
            continue;
        }
        for file in entries(&folder)? {
            let name = file.strip_prefix(&root)?.display().to_string();
            // Not where the folder is now: a checkout may be moved with what is built in it.
            let path = format!("/../../data/{name}");
            let here = "env!(\"CARGO_MANIFEST_DIR\")";
            writeln!(list, "    ({name:?}, include_bytes!(concat!({here}, {path:?}))),")?;
        }
    }
    list.push_str("];\n");
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("embedded.rs"), list)?;
    Ok(())
}
