use crate::ExperimentError;
use mercer_harness::Trial;
use mercer_records::{Key, Record, Store, Tuning};
use mercer_render::frame;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Records by the digest of their key: those of a directory, and those compacted into
/// `reports/records`, a file a study, each read when its study is first asked for.
#[derive(Debug, Default)]
pub struct RecordSet {
    records: Digests,
    files: Vec<Compacted>,
    fault: Mutex<Option<ExperimentError>>,
}

type Digests = HashMap<String, Arc<Record>>;

/// A file of records.
#[derive(Debug, Clone)]
struct Compacted {
    path: PathBuf,
    tunings_only: bool,
    read: Arc<OnceLock<Digests>>,
}

impl Compacted {
    /// Whether it has the records of a study: `askl-table2.parquet` has those of `askl/table2`.
    fn is_of(&self, study: &str) -> bool {
        let name = self.path.file_name().and_then(|name| name.to_str());
        let own = name.and_then(|name| name.strip_suffix(".parquet")).unwrap_or_default();
        own.len() == study.len()
            && own.bytes().zip(study.bytes()).all(|(a, b)| a == b || (a, b) == (b'-', b'/'))
    }

    fn wants(&self, record: &Record) -> bool {
        !self.tunings_only || is_tuning(record)
    }
}

impl RecordSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds records; one that is there already stays.
    pub fn add(&mut self, records: impl IntoIterator<Item = Record>) {
        for record in records {
            if self.get(&record.key).is_none() {
                self.records.insert(record.key.digest(), Arc::new(record));
            }
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

    /// Adds the records of every `*.parquet` file of a folder, none if there is no folder; a record that is there
    /// already stays. A file that cannot be read shows when it is asked for: [`RecordSet::sound`].
    pub fn add_archive(&mut self, folder: &Path) {
        self.files.extend(compacted(folder));
    }

    /// The tunings among them, all that a plan needs: the fits of a file are forgotten before the next is
    /// read.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn add_archived_tunings(&mut self, folder: &Path) -> Result<(), ExperimentError> {
        for file in compacted(folder) {
            let tunings = digests(&file.path)?.into_iter().filter(|(_, record)| is_tuning(record));
            self.records.extend(tunings);
        }
        Ok(())
    }

    /// Adds what another set has, or its tunings alone; what is there already stays.
    pub fn add_set(&mut self, other: &Self, tunings_only: bool) {
        for (digest, record) in &other.records {
            if !tunings_only || is_tuning(record) {
                self.records.entry(digest.clone()).or_insert_with(|| Arc::clone(record));
            }
        }
        self.files.extend(other.files.iter().map(|file| Compacted {
            tunings_only: file.tunings_only || tunings_only,
            ..file.clone()
        }));
    }

    /// The record of a key.
    pub fn get(&self, key: &Key) -> Option<&Record> {
        self.find(&key.digest(), &key.artefact).map(|record| &**record)
    }

    /// The record of a trial, whose digest is known.
    pub fn of(&self, trial: &Trial) -> Option<&Arc<Record>> {
        self.find(&trial.digest, &trial.key.artefact)
    }

    fn find(&self, digest: &str, study: &str) -> Option<&Arc<Record>> {
        self.records.get(digest).or_else(|| {
            let mut of_study = self.files.iter().filter(|file| file.is_of(study));
            of_study.find_map(|file| self.read(file).get(digest).filter(|own| file.wants(own)))
        })
    }

    /// The tuning that a key names.
    pub fn tuning(&self, key: &Key) -> Option<Arc<Tuning>> {
        self.get(key)?.result.tuning.clone()
    }

    /// All records, in no order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.files.par_iter().for_each(|file| {
            self.read(file);
        });
        let read = self.files.iter().flat_map(|file| {
            let own = self.read(file).iter().filter(|(_, record)| file.wants(record));
            own.filter(|(digest, _)| !self.records.contains_key(*digest))
        });
        self.records.iter().chain(read).map(|(_, record)| &**record)
    }

    /// Says of a file that was asked for and could not be read: its records seemed not to be there.
    ///
    /// # Errors
    /// That of the file.
    pub fn sound(&self) -> Result<(), ExperimentError> {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        fault.map_or(Ok(()), Err)
    }

    /// A file's records. Reading is work for all threads, which may ask for the file, too: none waits for another.
    fn read<'a>(&self, file: &'a Compacted) -> &'a Digests {
        if let Some(records) = file.read.get() {
            return records;
        }
        let records = digests(&file.path).unwrap_or_else(|error| {
            self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            Digests::new()
        });
        file.read.get_or_init(|| records)
    }
}

/// The files of records in a folder; none if there is no folder.
fn compacted(folder: &Path) -> Vec<Compacted> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".parquet") && !name.ends_with(".predictions.parquet")
    });
    let unread = |path| Compacted { path, tunings_only: false, read: Arc::default() };
    files.into_iter().map(unread).collect()
}

fn digests(path: &Path) -> Result<Digests, ExperimentError> {
    let records = frame::named_from_frame(&frame::read_parquet(path)?, None)?.into_iter();
    Ok(records.map(|(digest, record)| (digest, Arc::new(record))).collect())
}

fn is_tuning(record: &Record) -> bool {
    record.result.tuning.as_ref().is_some_and(|tuning| !tuning.history.is_empty())
}
