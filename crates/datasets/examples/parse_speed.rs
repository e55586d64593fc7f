//! Speed of the svmlight parser on one core, in megabytes of text per second. It prints the median and the best of 7
//! runs.
//!
//! `cargo run --release -p mercer-datasets --example parse_speed -- FILE.svm[.xz] ...`; without
//! files, on generated rows of 54 columns with long decimals.

use mercer_datasets::{Base, DataError, Limits, decompress, svmlight};
use mercer_learning::Streams;
use rand::Rng;
use std::fmt::Write;
use std::time::Instant;

fn main() -> Result<(), DataError> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        let path = std::path::PathBuf::from(file);
        let bytes = std::fs::read(&path).map_err(|source| DataError::Io { path, source })?;
        measure(file, &decompress(bytes, file, &Limits::default())?)?;
    }
    if files.is_empty() {
        let mut rng = Streams::root(1).rng("rows");
        let mut text = String::new();
        for row in 0..40_000 {
            let _ = write!(text, "{}", row % 7); // writing to a string cannot fail
            for column in 1..=54 {
                let _ = write!(text, " {column}:{:.6}", rng.gen_range(-10.0..10.0));
            }
            text.push('\n');
        }
        measure("generated", text.as_bytes())?;
    }
    Ok(())
}

fn measure(name: &str, bytes: &[u8]) -> Result<(), DataError> {
    let mut seconds = Vec::new();
    let mut rows = 0;
    for _ in 0..7 {
        let start = Instant::now();
        let table = svmlight::parse(bytes, name, Base::One, None, &Limits::default())?;
        seconds.push(start.elapsed().as_secs_f64());
        rows = table.inputs.nrows();
    }
    seconds.sort_by(f64::total_cmp);
    let megabytes = bytes.len() as f64 / 1e6;
    let (median, best) = (megabytes / seconds[3], megabytes / seconds[0]);
    println!("{name}: {rows} rows, {megabytes:.1} MB, {median:.0} MB/s, best {best:.0} MB/s");
    Ok(())
}
