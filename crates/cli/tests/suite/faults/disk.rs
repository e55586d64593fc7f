//! Faults of the record directory, made by a double of the disk and by hand on the files.

use super::{Line, Met};
use mercer_datasets::Library;
use mercer_experiments::plannable;
use mercer_harness::{
    HarnessError, Options, Progress, Runner, Selection, Silent, Spec, Stop, Summary, Trial, plan,
    run,
};
use mercer_learning::Method;
use mercer_records::{Disk, LocalDisk, Record, Store};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::io::{Error, Result as IoResult};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const STUDY: &str = r#"
artefact = "test/faults"
question = "Is anything lost?"
seed = 3
repeats = 2
datasets = ["iris"]

[protocol]
split = { kind = "random", train = 0.8 }
scale = { to = "standard", from = "training" }

[[variants]]
name = "given"
summary = "as given"
methods = [{ name = "majority" }, { name = "kernel-ridge", settings = { std = 1.0, lambda = 0.01 } }]

[[variants]]
name = "tuned"
summary = "tuned"
tuner = { candidates = 3, rungs = [1.0], train = 0.8 }
methods = [{ name = "kernel-ridge" }]
"#;

const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const EIO: i32 = 5;

static METHODS: LazyLock<Vec<Method>> = LazyLock::new(plannable);
static TRIALS: LazyLock<Vec<Trial>> = LazyLock::new(|| {
    let spec = Spec::parse(STUDY, Path::new("faults.toml")).unwrap();
    plan(&spec, &METHODS, "paper", &Selection::default(), &|_| None).unwrap()
});
/// What an undisturbed run leaves, and how many calls of the disk it makes.
static REFERENCE: LazyLock<(BTreeMap<String, String>, usize)> = LazyLock::new(|| {
    let folder = place();
    let disk = Arc::new(Failing { fault: Fault::Full, ..Failing::never() });
    carry_out(folder.path(), disk.clone(), 1, &Silent).unwrap();
    (results(folder.path()).unwrap(), disk.calls.load(Ordering::SeqCst))
});

/// In memory where there is such a place: a thousand runs wait for no platter.
fn place() -> TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// A file takes a part of what is written to it, and no more.
    Full,
    /// Nothing may be written.
    ReadOnly,
    /// Any call fails, before or after it did its work.
    InputOutput,
    /// From some moment on nothing happens any more, and the last file that was renamed is cut.
    PowerCut,
}

/// A disk that fails for a while.
#[derive(Debug)]
struct Failing {
    fault: Fault,
    calls: AtomicUsize,
    from: usize,
    until: usize,
    chance: Mutex<ChaCha8Rng>,
    injected: AtomicUsize,
    renamed: Mutex<Option<PathBuf>>,
}

impl Failing {
    fn never() -> Self {
        Self::new(Fault::Full, 0, usize::MAX, usize::MAX)
    }

    fn new(fault: Fault, seed: u64, from: usize, until: usize) -> Self {
        Self {
            fault,
            calls: AtomicUsize::new(0),
            from,
            until,
            chance: Mutex::new(ChaCha8Rng::seed_from_u64(seed)),
            injected: AtomicUsize::new(0),
            renamed: Mutex::new(None),
        }
    }

    fn draw<T>(&self, with: impl FnOnce(&mut ChaCha8Rng) -> T) -> T {
        with(&mut self.chance.lock().unwrap())
    }

    /// Carries out a call, or lets it fail.
    fn call<T>(&self, writes: bool, mut act: impl FnMut() -> IoResult<T>) -> IoResult<T> {
        let now = self.calls.fetch_add(1, Ordering::SeqCst);
        if !(self.from..self.until).contains(&now) {
            return act();
        }
        let code = match self.fault {
            Fault::Full | Fault::ReadOnly if !writes => return act(),
            Fault::Full => ENOSPC,
            Fault::ReadOnly => EROFS,
            Fault::InputOutput | Fault::PowerCut => EIO,
        };
        self.injected.fetch_add(1, Ordering::SeqCst);
        if self.fault == Fault::InputOutput && self.draw(|rng| rng.gen_bool(0.5)) {
            // It was done, and nobody knows.
            let _ = act();
        }
        if self.fault == Fault::PowerCut
            && let Some(path) = self.renamed.lock().unwrap().take()
            && let Ok(whole) = std::fs::read(&path)
        {
            let kept = self.draw(|rng| rng.gen_range(0..whole.len()));
            std::fs::write(&path, &whole[..kept])?;
        }
        Err(Error::from_raw_os_error(code))
    }
}

impl Disk for Failing {
    fn create_directory(&self, path: &Path) -> IoResult<()> {
        // A directory that is there asks nothing of the disk.
        self.call(!path.is_dir(), || LocalDisk.create_directory(path))
    }

    fn read(&self, path: &Path) -> IoResult<Vec<u8>> {
        self.call(false, || LocalDisk.read(path))
    }

    fn create(&self, path: &Path, content: &[u8]) -> IoResult<()> {
        let ended = self.call(true, || LocalDisk.create(path, content));
        if self.fault == Fault::Full && ended.is_err() {
            let kept = self.draw(|rng| rng.gen_range(0..content.len()));
            std::fs::write(path, &content[..kept])?;
        }
        ended
    }

    fn sync(&self, path: &Path) -> IoResult<()> {
        self.call(false, || LocalDisk.sync(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> IoResult<()> {
        let ended = self.call(true, || LocalDisk.rename(from, to));
        if ended.is_ok() {
            *self.renamed.lock().unwrap() = Some(to.to_owned());
        }
        ended
    }

    fn remove(&self, path: &Path) -> IoResult<()> {
        self.call(true, || LocalDisk.remove(path))
    }
}

fn carry_out(
    folder: &Path,
    disk: Arc<dyn Disk>,
    jobs: usize,
    progress: &dyn Progress,
) -> Result<Summary, HarnessError> {
    let library = Library::of_folders([]).unwrap();
    let store = Store::on(disk, folder)?;
    let runner = Runner::new(&METHODS, library, store, Stop::default());
    run(&TRIALS, &runner, &Options { jobs, ..Options::default() }, progress)
}

/// Digest and check sum of every record; an error if one of a trial is there twice or is damaged.
fn results(folder: &Path) -> Result<BTreeMap<String, String>, String> {
    let listing = Store::open(folder).and_then(|store| store.list()).map_err(|e| e.to_string())?;
    if let Some((path, reason)) = listing.set_aside.first() {
        return Err(format!("{} was left damaged: {reason}", path.display()));
    }
    let count = listing.records.len();
    let named: BTreeMap<String, String> = listing
        .records
        .into_iter()
        .map(|record: Record| (record.key.digest(), record.result_sha256))
        .collect();
    if named.len() == count {
        Ok(named)
    } else {
        Err(format!("{count} files, {} trials", named.len()))
    }
}

/// Lets a disturbed run finish on a sound disk, and compares what it leaves.
fn finish(folder: &Path, at_least: usize) -> Result<Summary, String> {
    let summary = carry_out(folder, Arc::new(LocalDisk), 1, &Silent).map_err(|e| e.to_string())?;
    if summary.recorded < at_least {
        return Err(format!(
            "{} of {at_least} reported records were lost",
            at_least - summary.recorded
        ));
    }
    if summary.recorded + summary.carried_out != TRIALS.len() || !summary.failed.is_empty() {
        return Err(format!("{summary:?}"));
    }
    let found = results(folder)?;
    if found != REFERENCE.0 {
        return Err(format!("{} records, or other results", found.len()));
    }
    Ok(summary)
}

/// Counts the trials that were reported as recorded.
#[derive(Default)]
struct Reported(AtomicUsize);

impl Progress for Reported {
    fn begin(&self, _: usize, _: usize, _: f64) {}
    fn trial(&self, _: &Trial, _: &Record) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn no_data(&self, _: &Trial, _: &HarnessError) {}
}

fn on_disk(fault: Fault, seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (folder, jobs) = (place(), rng.gen_range(1..=2));
    loop {
        let from = rng.gen_range(0..REFERENCE.1);
        let until = match fault {
            Fault::PowerCut => usize::MAX,
            _ if rng.gen_bool(0.5) => usize::MAX,
            _ => from + rng.gen_range(1..5),
        };
        let disk = Arc::new(Failing::new(fault, seed, from, until));
        let reported = Reported::default();
        let ended = carry_out(folder.path(), disk.clone(), jobs, &reported);
        if disk.injected.load(Ordering::SeqCst) == 0 {
            // The run made no call that could fail from there on: no fault, another moment.
            std::fs::remove_dir_all(folder.path()).map_err(|e| e.to_string())?;
            continue;
        }
        if let Err(error) = ended {
            let said = error.to_string();
            if !(said.contains(&folder.path().display().to_string()) && said.contains("os error")) {
                return Err(format!("the message names no file or no cause: {said}"));
            }
        } else if fault != Fault::InputOutput {
            return Err("the run did not notice".to_owned());
        }
        let reported = reported.0.load(Ordering::SeqCst);
        // The cut takes what the disk had not kept, and it was never told to the user as kept.
        let at_least = if fault == Fault::PowerCut { reported.saturating_sub(1) } else { reported };
        return finish(folder.path(), at_least).map(|_| ());
    }
}

/// What a sector, a copy, or an editor does to a file.
fn damage(path: &Path, others: &[PathBuf], rng: &mut ChaCha8Rng) -> IoResult<()> {
    let mut bytes = std::fs::read(path)?;
    match rng.gen_range(0..6) {
        0 => bytes.truncate(rng.gen_range(0..bytes.len() - 1)),
        1 => {
            // Any bit of key and result: the one is the name of the file, the other has a check sum. What the
            // machine took, `run`, has none: a changed digit there is another time.
            let end =
                bytes.windows(6).position(|word| word == b"\"run\":").unwrap_or(bytes.len() - 1);
            let at = rng.gen_range(0..end);
            bytes[at] ^= 1 << rng.gen_range(0..8);
        }
        2 => bytes.fill(0),
        3 => rng.fill(&mut bytes[..]),
        4 => bytes.clear(),
        _ => bytes = std::fs::read(others.iter().find(|other| *other != path).unwrap())?,
    }
    std::fs::write(path, bytes)
}

fn damaged(seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let folder = place();
    let fault = |error: std::io::Error| error.to_string();
    carry_out(folder.path(), Arc::new(LocalDisk), 1, &Silent).map_err(|e| e.to_string())?;
    let store = Store::open(folder.path()).map_err(|e| e.to_string())?;
    let paths: Vec<PathBuf> = TRIALS.iter().map(|trial| store.path(&trial.key)).collect();
    let count = rng.gen_range(1..=3);
    let copies = paths.clone();
    for path in paths.choose_multiple(&mut rng.clone(), count) {
        damage(path, &copies, &mut rng).map_err(fault)?;
    }
    let summary = finish(folder.path(), TRIALS.len() - count)?;
    let aside = paths.iter().filter(|path| path.with_extension("json.damaged").exists()).count();
    if (aside, summary.carried_out) != (count, count) {
        return Err(format!(
            "{count} damaged, {aside} set aside, {} run again",
            summary.carried_out
        ));
    }
    Ok(())
}

fn two_writers(seed: u64) -> Result<(), String> {
    // Where the two shared the trials out there was no trial of two writers: once more.
    for _ in 0..50 {
        if both_wrote(seed)? {
            return Ok(());
        }
    }
    Err("no trial was ever written by both".to_owned())
}

/// Whether some trial was carried out, and written, by both of two runs.
fn both_wrote(seed: u64) -> Result<bool, String> {
    let folder = place();
    let ended: Vec<_> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let folder = folder.path();
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_micros(writer * (seed % 7) * 300));
                    carry_out(folder, Arc::new(LocalDisk), 1, &Silent)
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let mut carried_out = 0;
    for writer in ended {
        carried_out += writer.map_err(|error| error.to_string())?.carried_out;
    }
    // More than there are: some twice.
    finish(folder.path(), TRIALS.len()).map(|_| carried_out > TRIALS.len())
}

/// The clock jumps between two runs: every file is from the past or from the future, a temporary
/// file among them.
fn clock(seed: u64) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let folder = place();
    let fault = |error: std::io::Error| error.to_string();
    carry_out(folder.path(), Arc::new(LocalDisk), 1, &Silent).map_err(|e| e.to_string())?;
    let store = Store::open(folder.path()).map_err(|e| e.to_string())?;
    let mut paths: Vec<PathBuf> = TRIALS.iter().map(|trial| store.path(&trial.key)).collect();
    std::fs::remove_file(&paths[0]).map_err(fault)?;
    paths[0] = paths[1].with_file_name(".writing-1-left");
    std::fs::write(&paths[0], "{").map_err(fault)?;
    for path in &paths {
        let years = Duration::from_secs(rng.gen_range(0..10 * 365 * 86_400));
        let now = SystemTime::now();
        let time = if rng.gen_bool(0.5) { now + years } else { now - years };
        let file = std::fs::File::options().write(true).open(path).map_err(fault)?;
        file.set_modified(time).map_err(fault)?;
    }
    finish(folder.path(), TRIALS.len() - 1).map(|_| ())
}

pub fn lines(seeds: u64) -> Vec<Line> {
    let on = |fault| move |seed| on_disk(fault, seed);
    vec![
        Line::of(
            Met::Harness,
            "full disk",
            "a double of the disk: a write takes a part of the record, for a while or for good | kept, told",
            0..seeds,
            on(Fault::Full),
        ),
        Line::of(
            Met::Harness,
            "read-only directory",
            "the double refuses every write, for a while or for good | kept, told",
            0..seeds,
            on(Fault::ReadOnly),
        ),
        Line::of(
            Met::Harness,
            "input/output error",
            "the double fails any call, before or after it did its work | kept, told",
            0..seeds,
            on(Fault::InputOutput),
        ),
        Line::of(
            Met::Harness,
            "power cut",
            "the double does nothing more, and cuts the record renamed last | kept but the one cut, told",
            0..seeds,
            on(Fault::PowerCut),
        ),
        Line::of(
            Met::Harness,
            "damaged records",
            "1 to 3 records cut, emptied, overwritten, flipped in a bit, or replaced by another's | kept but the damaged, which are set aside",
            0..2 * seeds,
            damaged,
        ),
        Line::of(
            Met::Harness,
            "two writers",
            "two runs of the same trials in one directory, both of which carry out some of them",
            0..seeds,
            two_writers,
        ),
        Line::of(
            Met::Harness,
            "clock jump between runs",
            "file times up to ten years in the past or the future, a temporary file among them | kept",
            0..seeds,
            clock,
        ),
    ]
}
