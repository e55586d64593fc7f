//! Prints name, fingerprint, seconds to load and notes of every dataset that is here.
//!
//! `cargo run --release -p mercer-datasets --example fingerprints [NAME ...]`, with `$MERCER_DATA`
//! naming the folder to read. Its output is what `data/catalogue.toml` calls fingerprints.

use mercer_datasets::{Catalogue, DataError, Library};
use std::time::Instant;

fn main() -> Result<(), DataError> {
    let library = Library::discover(None)?.accept_version(true);
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for entry in Catalogue::builtin().entries() {
        if !wanted.is_empty() && !wanted.contains(&entry.name) {
            continue;
        }
        let start = Instant::now();
        match library.load(&entry.name) {
            Ok(dataset) => {
                println!("{} {}", entry.name, dataset.fingerprint);
                let seconds = start.elapsed().as_secs_f64();
                eprintln!("# {}: {seconds:.2} s {}", entry.name, dataset.note.unwrap_or_default());
            }
            Err(error) if error.is_missing() => eprintln!("# {error}"),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
