use crate::{Disk, Key, LocalDisk, Record, RecordError, Status, sha256_hex};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// How the names of temporary files begin.
const WRITING: &str = ".writing-";
/// How often a temporary file may vanish before its record is written.
const ATTEMPTS: usize = 5;
const DAY: Duration = Duration::from_hours(24);

/// A directory of records, one file a trial, named by the digest of its key.
///
/// Writes go to a temporary file in the same directory, are flushed to the disk and renamed. So a reader sees a whole
/// record or none, and two writers of one trial leave one of the two.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// let store = mercer_records::Store::open(folder.path())?;
/// assert!(store.list()?.records.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    disk: Arc<dyn Disk>,
}

/// What a directory holds.
///
/// ```
/// use mercer_records::{Record, Store};
/// # let key = mercer_records::Key {
/// #     schema: mercer_records::SCHEMA,
/// #     artefact: "toy/table".into(),
/// #     variant: "printed".into(),
/// #     dataset: "iris".into(),
/// #     fingerprint: "00".into(),
/// #     method: "majority".into(),
/// #     revision: 1,
/// #     settings: [].into(),
/// #     tuning: serde_json::Value::Null,
/// #     protocol: [].into(),
/// #     repeat: 0,
/// #     seed: 1,
/// #     limits: [].into(),
/// # };
/// # let result = mercer_records::TrialResult {
/// #     status: mercer_records::Status::Done,
/// #     error: None,
/// #     metrics: [("accuracy".to_owned(), 0.75)].into(),
/// #     facts: [].into(),
/// #     convergence: serde_json::Value::Null,
/// #     settings: [].into(),
/// #     tuning: None,
/// #     curve: vec![],
/// #     predicted: None,
/// #     wrong: None,
/// #     rows: [120, 30],
/// # };
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path())?;
/// let path = store.put(&Record::new(key.clone(), result, Default::default()))?;
/// assert_eq!(store.list()?.records.len(), 1);
/// // Damaged, it is set aside, and the trial counts as not run.
/// std::fs::write(&path, "{")?;
/// let listing = store.list()?;
/// assert!(listing.records.is_empty() && listing.set_aside.len() == 1);
/// assert!(!store.is_done(&key)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Listing {
    /// The records, in order of study and file name.
    pub records: Vec<Record>,
    /// Files that were no records and were set aside, with the reason.
    pub set_aside: Vec<(PathBuf, String)>,
}

impl Store {
    /// Opens the directory, creating it if need be.
    ///
    /// # Errors
    /// If it cannot be created or is no directory.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, RecordError> {
        Self::on(Arc::new(LocalDisk), root)
    }

    /// Opens the directory on your own file system.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn on(disk: Arc<dyn Disk>, root: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let root = root.into();
        disk.create_directory(&root).map_err(io("create", &root))?;
        Ok(Self { root, disk })
    }

    /// Returns the directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns where the record of `key` is, or would be.
    pub fn path(&self, key: &Key) -> PathBuf {
        self.root.join(&key.artefact).join(format!("{}.json", key.digest()))
    }

    /// Returns the record of `key`, if there is a sound one. A damaged file is set aside (renamed to `*.damaged`) with
    /// a warning, so that the trial runs again.
    ///
    /// # Errors
    /// If the file exists but cannot be read or set aside.
    pub fn get(&self, key: &Key) -> Result<Option<Record>, RecordError> {
        let path = self.path(key);
        let bytes = match self.disk.read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(io("read", &path)(source)),
        };
        match sound(&bytes, &path) {
            Ok(record) if record.key == *key => Ok(Some(record)),
            Ok(_) => self.set_aside(&path, "its name is not its key's").map(|()| None),
            Err(error) => self.set_aside(&path, &error.to_string()).map(|()| None),
        }
    }

    /// Returns whether `key` has a record with a status other than an error. It reads the file.
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn is_done(&self, key: &Key) -> Result<bool, RecordError> {
        Ok(self.get(key)?.is_some_and(|record| record.result.status == Status::Done))
    }

    /// Writes a record, whole or not at all.
    ///
    /// # Errors
    /// If the disk is full, the directory cannot be written, and the like; an older record of the
    /// same trial stays as it was.
    pub fn put(&self, record: &Record) -> Result<PathBuf, RecordError> {
        let path = self.path(&record.key);
        // A record is made of maps, lists, words and numbers: it always prints.
        let mut text = serde_json::to_vec(record).map_err(|e| io("write", &path)(e.into()))?;
        text.push(b'\n');
        self.write(&path, &text)?;
        Ok(path)
    }

    /// Where a fit that may be cut off is kept; no record.
    fn checkpoint_path(&self, key: &Key) -> PathBuf {
        self.path(key).with_extension("checkpoint")
    }

    /// Keeps the state of a long fit, under a key of its own. It is written whole or not at all.
    ///
    /// # Errors
    /// As [`Store::put`].
    pub fn put_checkpoint(&self, key: &Key, content: &[u8]) -> Result<(), RecordError> {
        self.write(&self.checkpoint_path(key), content)
    }

    /// Returns what was kept last under the key, if that can be read.
    pub fn checkpoint(&self, key: &Key) -> Option<Vec<u8>> {
        self.disk.read(&self.checkpoint_path(key)).ok()
    }

    /// Writes a file, whole or not at all.
    fn write(&self, path: &Path, content: &[u8]) -> Result<(), RecordError> {
        let folder = path.parent().unwrap_or(&self.root);
        self.disk.create_directory(folder).map_err(io("create", folder))?;
        for left in (0..ATTEMPTS).rev() {
            let temporary = folder.join(temporary_name());
            let write = || -> std::io::Result<()> {
                self.disk.create(&temporary, content)?;
                self.disk.sync(&temporary)?;
                self.disk.rename(&temporary, path)
            };
            match write() {
                Ok(()) => break,
                // Swept by a machine whose clock is days ahead of the file's.
                Err(error) if error.kind() == ErrorKind::NotFound && left > 0 => {}
                Err(source) => {
                    // On a disk that fails this may fail, too: then it is swept after a day.
                    let _ = self.disk.remove(&temporary);
                    return Err(io("write", path)(source));
                }
            }
        }
        // The rename itself must survive a power cut.
        self.disk.sync(folder).map_err(io("write", path))
    }

    fn set_aside(&self, path: &Path, reason: &str) -> Result<(), RecordError> {
        // What was set aside before stays.
        let names = (2..).map(|number| path.with_extension(format!("json.{number}.damaged")));
        let mut names = std::iter::once(path.with_extension("json.damaged")).chain(names);
        let Some(aside) = names.find(|name| !name.exists()) else { return Ok(()) };
        tracing::warn!(
            "damaged record set aside as {}: {reason}; its trial will run again",
            aside.display()
        );
        match self.disk.rename(path, &aside) {
            // Another process was quicker.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other.map_err(io("set aside", path)),
        }?;
        // Another process may have written the record between our reading and our renaming.
        let moved = self.disk.read(&aside).ok().and_then(|bytes| sound(&bytes, path).ok());
        if moved.is_some_and(|record| self.path(&record.key) == path) && !path.exists() {
            self.disk.rename(&aside, path).map_err(io("put back", path))?;
        }
        Ok(())
    }

    /// Lists all sound records below the directory. Damaged files are set aside with a warning and named. Temporary
    /// files that a killed process left more than a day ago are removed. Sound records in another folder than their
    /// study's, such as a copy of the directory within it, are left alone with one warning. Folders whose name begins
    /// with a dot are not looked into.
    ///
    /// # Errors
    /// If a directory or file cannot be read.
    pub fn list(&self) -> Result<Listing, RecordError> {
        let mut listing = Listing::default();
        let mut files = Vec::new();
        collect(&self.root, &mut files)?;
        files.sort();
        let mut elsewhere = Vec::new();
        for path in files {
            let bytes = match self.disk.read(&path) {
                Ok(bytes) => bytes,
                // Another process may have replaced or set it aside since the listing.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(io("read", &path)(source)),
            };
            match sound(&bytes, &path) {
                Ok(record) if self.path(&record.key) == path => listing.records.push(record),
                Ok(record) if path.file_name() == self.path(&record.key).file_name() => {
                    elsewhere.push(path);
                }
                Ok(_) => {
                    let reason = "its name is not its key's".to_owned();
                    self.set_aside(&path, &reason)?;
                    listing.set_aside.push((path, reason));
                }
                Err(error) => {
                    self.set_aside(&path, &error.to_string())?;
                    listing.set_aside.push((path, error.to_string()));
                }
            }
        }
        if let Some(first) = elsewhere.first() {
            tracing::warn!(
                "{} records in folders of other studies are left alone, such as {}: name their own directory to use them",
                elsewhere.len(),
                first.display()
            );
        }
        Ok(listing)
    }
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> RecordError {
    let path = path.to_owned();
    move |source| RecordError::Io { action, path, source }
}

fn sound(bytes: &[u8], path: &Path) -> Result<Record, RecordError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| RecordError::Corrupt { path: path.to_owned(), reason: e.to_string() })?;
    Record::parse(text, path)
}

/// A name that no other writer of the directory has, on whatever machine: the file is created, never
/// opened.
fn temporary_name() -> String {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |t| t.as_nanos());
    let (process, written) = (std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
    // Two machines may have a process of one number, but hardly at one nanosecond.
    let unique = sha256_hex(format!("{time} {process} {written}").as_bytes());
    format!("{WRITING}{process}-{}", &unique[..16])
}

/// Whether a file is named like a record: by a digest. Others may live in the directory.
fn named(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    stem.len() == 64 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a file is the temporary file of a writer that was killed: no write lasts a day, even on
/// a machine whose clock is hours off.
fn abandoned(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let age = || fs::metadata(path).ok()?.modified().ok()?.elapsed().ok();
    name.starts_with(WRITING) && age().is_some_and(|age| age > DAY)
}

/// Record files below `folder`, hidden folders left out; temporary and set-aside files have other endings.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), RecordError> {
    for entry in fs::read_dir(folder).map_err(io("list", folder))? {
        let path = entry.map_err(io("list", folder))?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if path.is_dir() {
            if !hidden {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "json") && named(&path) {
            files.push(path);
        } else if abandoned(&path) {
            // Whoever else sweeps at the same time may be quicker.
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Run, SCHEMA, TrialResult};
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn record(repeat: u32) -> Record {
        let key = Key {
            schema: SCHEMA,
            artefact: "askl/table2".to_owned(),
            variant: "released".to_owned(),
            dataset: "segment".to_owned(),
            fingerprint: "00".to_owned(),
            method: "askl".to_owned(),
            revision: 1,
            settings: BTreeMap::from([("rate".to_owned(), json!(0.01))]),
            tuning: Value::Null,
            protocol: BTreeMap::new(),
            repeat,
            seed: 1,
            limits: BTreeMap::new(),
        };
        let result = TrialResult {
            status: Status::Done,
            error: None,
            metrics: BTreeMap::from([("accuracy".to_owned(), 0.1 + 0.2)]),
            facts: BTreeMap::new(),
            convergence: Value::Null,
            settings: BTreeMap::new(),
            tuning: None,
            curve: Vec::new(),
            predicted: None,
            wrong: None,
            rows: [8, 2],
        };
        Record::new(key, result, Run::default())
    }

    #[test]
    fn what_is_put_is_got_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.put(&record(0)).unwrap();
        assert_eq!(store.get(&record(0).key).unwrap(), Some(record(0)));
        assert_eq!(store.get(&record(1).key).unwrap(), None);
        assert!(store.is_done(&record(0).key).unwrap());
    }

    #[test]
    fn a_truncated_record_is_set_aside_and_can_be_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let path = store.put(&record(0)).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in 0..whole.len() - 1 {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(store.get(&record(0).key).unwrap(), None, "cut at {cut}");
            assert!(!path.exists());
        }
        store.put(&record(0)).unwrap();
        assert_eq!(store.list().unwrap().records.len(), 1);
    }

    #[test]
    fn what_a_killed_writer_left_is_swept_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.put(&record(0)).unwrap();
        let [old, new] =
            [".writing-old", ".writing-new"].map(|name| folder.path().join("askl").join(name));
        for path in [&old, &new] {
            fs::write(path, "{").unwrap();
        }
        let two_days_ago = std::time::SystemTime::now() - 2 * DAY;
        fs::File::options().write(true).open(&old).unwrap().set_modified(two_days_ago).unwrap();
        assert_eq!(store.list().unwrap().records.len(), 1);
        assert!(!old.exists());
        assert!(new.exists(), "its writer may be at work");
    }

    /// A disk on which another machine, its clock days ahead, sweeps every temporary file so often.
    #[derive(Debug)]
    struct Swept(AtomicU64);

    impl Disk for Swept {
        fn create_directory(&self, path: &Path) -> std::io::Result<()> {
            LocalDisk.create_directory(path)
        }
        fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
            LocalDisk.read(path)
        }
        fn create(&self, path: &Path, content: &[u8]) -> std::io::Result<()> {
            LocalDisk.create(path, content)?;
            let sweeps =
                self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            if sweeps.is_ok() { LocalDisk.remove(path) } else { Ok(()) }
        }
        fn sync(&self, path: &Path) -> std::io::Result<()> {
            LocalDisk.sync(path)
        }
        fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
            LocalDisk.rename(from, to)
        }
        fn remove(&self, path: &Path) -> std::io::Result<()> {
            LocalDisk.remove(path)
        }
    }

    #[test]
    fn a_temporary_file_that_vanishes_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let swept =
            |times| Store::on(Arc::new(Swept(AtomicU64::new(times))), folder.path()).unwrap();
        swept(4).put(&record(0)).unwrap();
        assert_eq!(swept(0).get(&record(0).key).unwrap(), Some(record(0)));
        // For ever is too often, and the record is named.
        let error = swept(99).put(&record(1)).unwrap_err().to_string();
        assert!(error.contains(&record(1).key.digest()), "{error}");
    }

    #[test]
    fn an_edited_number_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let path = store.put(&record(0)).unwrap();
        let text = fs::read_to_string(&path).unwrap().replace("0.30000000000000004", "0.9");
        fs::write(&path, text).unwrap();
        let listing = store.list().unwrap();
        assert!(listing.records.is_empty());
        assert!(listing.set_aside[0].1.contains("check sum"), "{:?}", listing.set_aside);
    }

    #[test]
    fn a_checkpoint_is_no_record() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let key = record(0).key;
        assert_eq!(store.checkpoint(&key), None);
        for content in [&b"first"[..], b"second"] {
            store.put_checkpoint(&key, content).unwrap();
            assert_eq!(store.checkpoint(&key).unwrap(), content);
        }
        let listing = store.list().unwrap();
        assert!(listing.records.is_empty() && listing.set_aside.is_empty());
        assert_eq!(store.get(&key).unwrap(), None);
    }

    #[test]
    fn a_copy_of_the_directory_within_it_is_left_alone() {
        let (folder, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::open(folder.path()).unwrap();
        store.put(&record(1)).unwrap();
        for name in ["older", ".hidden"] {
            let copied = Store::open(folder.path().join(name)).unwrap();
            copied.put(&record(1)).unwrap();
            copied.put(&record(2)).unwrap();
        }
        let listing = store.list().unwrap();
        assert_eq!((listing.records.len(), listing.set_aside.len()), (1, 0));
        for name in ["older", ".hidden"] {
            let copied = Store::open(folder.path().join(name)).unwrap();
            assert_eq!(copied.list().unwrap().records.len(), 2, "{name}");
        }
        // Under another digest it is no copy.
        let other = Store::open(copy.path()).unwrap();
        std::fs::create_dir_all(other.path(&record(1).key).parent().unwrap()).unwrap();
        std::fs::copy(store.path(&record(1).key), other.path(&record(2).key)).unwrap();
        assert_eq!(other.list().unwrap().set_aside.len(), 1);
    }

    #[test]
    fn files_that_are_not_named_by_a_digest_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let cells = folder.path().join("report").join("cells.json");
        fs::create_dir(cells.parent().unwrap()).unwrap();
        fs::write(&cells, "{}").unwrap();
        assert!(store.list().unwrap().set_aside.is_empty());
        assert!(cells.exists());
    }

    #[test]
    fn every_field_of_the_key_changes_its_name() {
        let base = record(0).key;
        let Value::Object(fields) = serde_json::to_value(&base).unwrap() else { unreachable!() };
        for name in fields.keys() {
            let mut changed = fields.clone();
            let other = match &changed[name] {
                Value::String(text) => json!(format!("{text}x")),
                Value::Number(number) => json!(number.as_u64().unwrap() + 1),
                Value::Null => json!("tuned"),
                _ => json!({"other": 1}),
            };
            changed.insert(name.clone(), other);
            let key: Key = serde_json::from_value(Value::Object(changed)).unwrap();
            assert_ne!(key.digest(), base.digest(), "{name}");
        }
    }

    #[test]
    fn the_digest_of_a_key_is_that_of_its_canonical_text() {
        let mut key = record(3).key;
        key.settings = [("lambda".into(), json!(1e-7)), ("cap".into(), json!(null))].into();
        key.tuning = json!({ "tuner": { "space": [0.1, 1e300], "candidates": 9 }, "first": { "b": 1, "a": "é\n" } });
        key.limits = [("seconds".into(), json!(600.0)), ("bytes".into(), json!(1u64 << 40))].into();
        assert_eq!(key.digest(), crate::sha256_hex(crate::canonical(&key).as_bytes()));
    }

    #[test]
    fn the_digest_of_a_result_is_that_of_its_canonical_text() {
        let mut result = record(3).result;
        let numbers = || [("b".to_owned(), 1e-7), ("a".to_owned(), f64::NAN)].into();
        let settings =
            || [("z".into(), json!({"y": 0.1, "x": "é"})), ("a".into(), json!(null))].into();
        let step = crate::TuningStep { settings: settings(), effort: 0.5, score: Some(-0.0) };
        result.error = Some("none".into());
        (result.metrics, result.facts, result.settings) = (numbers(), numbers(), settings());
        result.tuning = Some(Arc::new(crate::Tuning { chosen: settings(), history: vec![step] }));
        result.curve = vec![crate::CurvePoint { step: 3, epoch: 1e300, values: numbers() }];
        result.predicted = Some(crate::Predicted::Real(vec![0.1, f64::INFINITY]));
        result.wrong = Some(vec![7, 1]);
        assert_eq!(result.digest(), crate::sha256_hex(crate::canonical(&result).as_bytes()));
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results");
        fs::write(&file, "not a directory").unwrap();
        let error = Store::open(&file).unwrap_err().to_string();
        assert!(error.contains("results"), "{error}");
    }
}
