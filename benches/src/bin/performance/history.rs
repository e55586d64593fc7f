//! The history of criterion's times, and the files beside it.

use mercer_benches::HOT_PATHS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One run of the benches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Day, `2026-01-31`.
    pub(crate) day: String,
    /// Revision of the source.
    pub(crate) code: String,
    /// Processor and vector instructions.
    pub(crate) machine: String,
    /// What the numbers suffer from, such as other work on the machine.
    pub(crate) remark: String,
    /// Median nanoseconds and their 95 % interval, by benchmark.
    pub(crate) times: BTreeMap<String, [f64; 3]>,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

pub(crate) fn put(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn history() -> Result<Vec<Entry>, String> {
    let text = read(&root().join("benches/history.jsonl"))?;
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("history.jsonl: {error}")))
        .collect()
}

/// The group of a benchmark, such as `askl-step`.
pub(crate) fn group(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

/// The benchmark that has none of our code: a product of the library, and so what the machine did in a run.
pub(crate) const YARDSTICK: &str = "ridge-8192x2000/product";
/// The same for what is timed in processor seconds: the claimed costs and the hot paths.
pub(crate) const YARDSTICK_OF_CLAIMS: &str = "claim-product/512";

/// Whether a benchmark is a hot path.
pub(crate) fn is_hot_path(name: &str) -> bool {
    HOT_PATHS.iter().any(|path| path.id() == name)
}

/// The product that a benchmark is divided by.
pub(crate) fn yardstick_of(name: &str) -> &'static str {
    if name.starts_with("claim-") || is_hot_path(name) { YARDSTICK_OF_CLAIMS } else { YARDSTICK }
}

impl Entry {
    /// Nanoseconds of the library's product by the clock of a benchmark, in this run; none if it was not timed.
    pub(crate) fn yardstick(&self, name: &str) -> Option<f64> {
        self.times.get(yardstick_of(name)).map(|[median, ..]| *median)
    }
}
