use crate::ExperimentError;
use mercer_records::{Key, Record, Store, Tuning};
use mercer_render::frame;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Records by the digest of their key: those of a directory, and those compacted into
/// `reports/records`.
#[derive(Debug, Default)]
pub struct Shelf {
    records: HashMap<String, Arc<Record>>,
}

impl Shelf {
    /// An empty shelf.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds records; one that is there already stays.
    pub fn add(&mut self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            self.records.entry(record.key.digest()).or_insert_with(|| Arc::new(record));
        }
    }

    /// Adds the records of a directory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add_store(&mut self, store: &Store) -> Result<(), ExperimentError> {
        let listing = store.list()?;
        self.add(listing.records);
        Ok(())
    }

    /// Adds the records of every `*.parquet` file of a folder; none if there is no folder.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn add_archive(&mut self, folder: &Path) -> Result<(), ExperimentError> {
        self.add_archived(folder, |_| true)
    }

    /// The tunings among them, all that a plan needs: the fits of a file are forgotten before the next is
    /// read.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn add_archived_tunings(&mut self, folder: &Path) -> Result<(), ExperimentError> {
        self.add_archived(folder, is_tuning)
    }

    fn add_archived(
        &mut self,
        folder: &Path,
        wanted: fn(&Record) -> bool,
    ) -> Result<(), ExperimentError> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.sort();
        let compacted = |path: &&std::path::PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.ends_with(".parquet") && !name.ends_with(".predictions.parquet")
        };
        files.retain(|path| compacted(&path));
        let read = |path: &std::path::PathBuf| -> Result<Vec<(String, Record)>, ExperimentError> {
            let records = frame::from_frame(&frame::read_parquet(path)?, None)?.into_iter();
            Ok(records.filter(wanted).map(|record| (record.key.digest(), record)).collect())
        };
        for (digest, record) in
            files.par_iter().map(read).collect::<Result<Vec<_>, _>>()?.into_iter().flatten()
        {
            self.records.entry(digest).or_insert_with(|| Arc::new(record));
        }
        Ok(())
    }

    /// The record of a key.
    pub fn get(&self, key: &Key) -> Option<&Record> {
        self.shared(key).map(|record| &**record)
    }

    /// The same, to be kept.
    pub(crate) fn shared(&self, key: &Key) -> Option<&Arc<Record>> {
        self.records.get(&key.digest())
    }

    /// The tuning that a key names.
    pub fn tuning(&self, key: &Key) -> Option<Tuning> {
        self.get(key)?.result.tuning.clone()
    }

    /// Adds what another shelf has, or its tunings alone; what is there already stays.
    pub fn add_shelf(&mut self, other: &Self, tunings_only: bool) {
        for (digest, record) in &other.records {
            if !tunings_only || is_tuning(record) {
                self.records.entry(digest.clone()).or_insert_with(|| Arc::clone(record));
            }
        }
    }

    /// All records, in no order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values().map(|record| &**record)
    }
}

fn is_tuning(record: &Record) -> bool {
    record.result.tuning.as_ref().is_some_and(|tuning| !tuning.history.is_empty())
}
