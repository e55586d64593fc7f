use crate::{HarnessError, Runner, Trial, TuningSource, execute};
use mercer_learning::LearningError;
use mercer_records::{Record, Status};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Instant;

/// One of several processes that share a study.
///
/// ```
/// use mercer_harness::Shard;
/// assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
/// assert_eq!(
///     "4/3".parse::<Shard>(),
///     Err("`4/3` is not a shard; write I/N with 1 <= I <= N, such as 2/3".to_owned())
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub index: usize,
    /// How many there are.
    pub count: usize,
}

impl Default for Shard {
    fn default() -> Self {
        Self { index: 1, count: 1 }
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Reads `I/N`, 1 ≤ I ≤ N.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, count)| {
            Some(Self { index: index.parse().ok()?, count: count.parse().ok()? })
        });
        match parts {
            Some(shard) if (1..=shard.count).contains(&shard.index) => Ok(shard),
            _ => Err(format!("`{text}` is not a shard; write I/N with 1 <= I <= N, such as 2/3")),
        }
    }
}

/// How a plan is run.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// # let folder = tempfile::tempdir()?;
/// # let store = mercer_records::Store::open(folder.path())?;
/// # let library = mercer_datasets::Library::of_folders([])?;
/// # let runner =
/// #     mercer_harness::Runner::new(METHODS, library, store, mercer_harness::Stop::default());
/// use mercer_harness::{Options, Silent, run};
/// let half = |shard: &str| Options { jobs: 1, shard: shard.parse().unwrap(), ..Options::default() };
/// let first = run(&trials, &runner, &half("1/2"), &Silent)?;
/// let second = run(&trials, &runner, &half("2/2"), &Silent)?;
/// assert_eq!(first.trials + second.trials, 6); // two processes share the study
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Trials side by side, at least 1.
    pub jobs: usize,
    /// Which share of the trials.
    pub shard: Shard,
    /// Whether trials recorded as failed run again.
    pub retry_failed: bool,
    /// No trial begins later, nor one whose predicted seconds would not fit. Trials then run in the order given.
    pub until: Option<Instant>,
}

/// Receives the progress of a run, from any thread.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// # let folder = tempfile::tempdir()?;
/// # let store = mercer_records::Store::open(folder.path())?;
/// # let library = mercer_datasets::Library::of_folders([])?;
/// # let runner =
/// #     mercer_harness::Runner::new(METHODS, library, store, mercer_harness::Stop::default());
/// use mercer_harness::{HarnessError, Options, Progress, Trial, run};
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// /// Counts the trials that have begun, and those that have ended.
/// #[derive(Default)]
/// struct Count(AtomicUsize, AtomicUsize);
/// impl Progress for Count {
///     fn begin(&self, trials: usize, recorded: usize, _: f64) {
///         assert_eq!((trials, recorded), (6, 0));
///     }
///     fn start(&self, _: &Trial) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
///     fn trial(&self, _: &Trial, _: &mercer_records::Record) {
///         self.1.fetch_add(1, Ordering::Relaxed);
///     }
///     fn no_data(&self, trial: &Trial, error: &HarnessError) {
///         panic!("{}: {error}", trial.key.dataset);
///     }
/// }
/// let count = Count::default();
/// run(&trials, &runner, &Options { jobs: 2, ..Options::default() }, &count)?;
/// assert_eq!((count.0.into_inner(), count.1.into_inner()), (6, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Progress: Sync {
    /// Receives the counts before the first trial: all trials, recorded ones, the rest's weight.
    fn begin(&self, trials: usize, recorded: usize, weight: f64);
    /// Receives each trial before it runs. It need not be implemented.
    fn start(&self, _: &Trial) {}
    /// Receives each trial and its record after it ran.
    fn trial(&self, trial: &Trial, record: &Record);
    /// Receives a trial whose data is missing or unsound.
    fn no_data(&self, trial: &Trial, error: &HarnessError);
}

/// Tells nobody.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// # let folder = tempfile::tempdir()?;
/// # let store = mercer_records::Store::open(folder.path())?;
/// # let library = mercer_datasets::Library::of_folders([])?;
/// # let runner =
/// #     mercer_harness::Runner::new(METHODS, library, store, mercer_harness::Stop::default());
/// use mercer_harness::{Options, Silent, run};
/// let summary = run(&trials[..1], &runner, &Options { jobs: 1, ..Options::default() }, &Silent)?;
/// assert_eq!(summary.done, 1); // what happened is told by the summary alone
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: usize, _: usize, _: f64) {}
    fn trial(&self, _: &Trial, _: &Record) {}
    fn no_data(&self, _: &Trial, _: &HarnessError) {}
}

/// What became of a plan.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// # let folder = tempfile::tempdir()?;
/// # let store = mercer_records::Store::open(folder.path())?;
/// # let library = mercer_datasets::Library::of_folders([])?;
/// # let runner =
/// #     mercer_harness::Runner::new(METHODS, library, store, mercer_harness::Stop::default());
/// use mercer_harness::{Options, Silent, run};
/// runner.stop.ask(); // before anything has begun
/// let summary = run(&trials, &runner, &Options { jobs: 1, ..Options::default() }, &Silent)?;
/// assert!(summary.interrupted && summary.done == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Summary {
    /// Trials of this shard.
    pub trials: usize,
    /// Found recorded.
    pub recorded: usize,
    /// Run now, however they ended.
    pub carried_out: usize,
    /// Run now with a score.
    pub done: usize,
    /// Recorded, now or earlier, as diverged: a result, but not a score.
    pub diverged: usize,
    /// Recorded, now or earlier, as failed or stopped by a limit. Each has the trial and the error.
    pub failed: Vec<(String, String)>,
    /// Datasets that could not be loaded, with the reason.
    pub missing: BTreeMap<String, String>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

impl Summary {
    fn count(&mut self, record: &Record) {
        match record.result.status {
            Status::Done => self.done += 1,
            Status::Diverged => self.diverged += 1,
            _ => self.failed.push(failure(record)),
        }
    }
}

/// Runs the trials that have no record.
///
/// Trials that share a tuning run in sequence; all else runs side by side, heavy trials first, or in the order
/// given under a budget of time. The results do not depend on `jobs` or `shard`.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// # let folder = tempfile::tempdir()?;
/// # let store = mercer_records::Store::open(folder.path())?;
/// # let library = mercer_datasets::Library::of_folders([])?;
/// # let runner =
/// #     mercer_harness::Runner::new(METHODS, library, store, mercer_harness::Stop::default());
/// use mercer_harness::{Options, Silent, run};
/// let options = Options { jobs: 2, ..Options::default() };
/// let first = run(&trials, &runner, &options, &Silent)?;
/// assert_eq!((first.recorded, first.carried_out, first.done), (0, 6, 6));
/// let second = run(&trials, &runner, &options, &Silent)?; // goes on where the first ended
/// assert_eq!((second.recorded, second.carried_out), (6, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first error of the record directory; trials in flight end first.
pub fn run(
    trials: &[Trial],
    runner: &Runner<'_>,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Summary, HarnessError> {
    let mut summary = Summary::default();
    let (mut chains, weight) = unrecorded(trials, runner, options, &mut summary)?;
    progress.begin(summary.trials, summary.recorded, weight);
    if options.until.is_none() {
        heaviest_first(&mut chains);
    }
    // A chain has one dataset: that of its tuning.
    let left = chains.iter().fold(BTreeMap::new(), |mut left, chain| {
        *left.entry(chain[0].key.dataset.clone()).or_default() += 1;
        left
    });
    // A worker without a chain only costs memory.
    let workers = options.jobs.clamp(1, chains.len().max(1));
    let queue = Mutex::new(VecDeque::from(chains));
    let shared = Mutex::new(Shared { summary, left, error: None });
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| work(&queue, runner, options.until, progress, &shared));
        }
    });
    let Shared { mut summary, error, .. } =
        shared.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    summary.interrupted = runner.stop.interrupted();
    match error {
        Some(error) => Err(error),
        None => Ok(summary),
    }
}

/// The chains of a shard's trials that are to run, and their weight. The others are counted.
fn unrecorded<'a>(
    trials: &'a [Trial],
    runner: &Runner<'_>,
    options: &Options,
    summary: &mut Summary,
) -> Result<(Vec<Vec<&'a Trial>>, f64), HarnessError> {
    let mut chains: Vec<Vec<&Trial>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut weight = 0.0;
    for trial in trials {
        let chain = chain(trial);
        if !mine(&chain, options.shard) {
            continue;
        }
        summary.trials += 1;
        match runner.store.get(&trial.key)? {
            Some(record) if record.result.status == Status::Done => summary.recorded += 1,
            Some(record) if record.result.status == Status::Diverged || !options.retry_failed => {
                summary.recorded += 1;
                summary.count(&record);
            }
            _ => {
                weight += trial.weight;
                let place = *places.entry(chain).or_insert(chains.len());
                if place == chains.len() {
                    chains.push(Vec::new());
                }
                chains[place].push(trial);
            }
        }
    }
    Ok((chains, weight))
}

/// Datasets together, the heaviest first: a dataset is loaded once and the last trials are short.
fn heaviest_first(chains: &mut [Vec<&Trial>]) {
    let heavy = |chain: &[&Trial]| chain.iter().map(|trial| trial.weight).sum::<f64>();
    let dataset_weight: BTreeMap<&str, f64> =
        chains.iter().flatten().fold(BTreeMap::new(), |mut totals, trial| {
            *totals.entry(trial.key.dataset.as_str()).or_default() += trial.weight;
            totals
        });
    chains.sort_by(|a, b| {
        let total = |chain: &[&Trial]| dataset_weight[chain[0].key.dataset.as_str()];
        total(b).total_cmp(&total(a)).then(heavy(b).total_cmp(&heavy(a)))
    });
}

/// What trials that share a tuning have in common, and others have for themselves.
pub(crate) fn chain(trial: &Trial) -> String {
    match &trial.tuning {
        TuningSource::Tuner { key, archived: None, .. } => key.digest(),
        _ => trial.key.digest(),
    }
}

/// What the workers of a run have in common.
struct Shared {
    summary: Summary,
    /// Chains not yet done, by dataset.
    left: BTreeMap<String, usize>,
    error: Option<HarnessError>,
}

fn work(
    queue: &Mutex<VecDeque<Vec<&Trial>>>,
    runner: &Runner<'_>,
    until: Option<Instant>,
    progress: &dyn Progress,
    shared: &Mutex<Shared>,
) {
    let lock = || shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    loop {
        let chain = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop_front();
        let Some(chain) = chain else { return };
        let dataset = chain[0].key.dataset.clone();
        for trial in chain {
            if runner.stop.asked() || lock().error.is_some() {
                return;
            }
            let seconds = until.map(|until| until.saturating_duration_since(Instant::now()));
            if seconds.is_some_and(|left| trial.weight > left.as_secs_f64()) {
                continue;
            }
            progress.start(trial);
            match execute(trial, runner) {
                Ok(record) => {
                    progress.trial(trial, &record);
                    let mut shared = lock();
                    shared.summary.carried_out += 1;
                    shared.summary.count(&record);
                }
                Err(HarnessError::Learning(LearningError::Interrupted)) => return,
                Err(error @ (HarnessError::Data(_) | HarnessError::EmptyPart { .. })) => {
                    progress.no_data(trial, &error);
                    lock().summary.missing.insert(trial.key.dataset.clone(), error.to_string());
                }
                Err(error) => {
                    lock().error.get_or_insert(error);
                    return;
                }
            }
        }
        // Nobody else here wants it: a task that works on one dataset after the other holds one at a time.
        let mut shared = lock();
        if let Some(left) = shared.left.get_mut(&dataset) {
            *left -= 1;
            if *left == 0 {
                runner.forget(&dataset);
            }
        }
    }
}

fn failure(record: &Record) -> (String, String) {
    let error = record.result.error.clone().unwrap_or_default();
    let key = &record.key;
    let name = format!(
        "{} {} {} {} repeat {}",
        key.artefact, key.variant, key.dataset, key.method, key.repeat
    );
    (name, error)
}

/// A shard is decided by the first digits of the digest, so it does not depend on the plan.
fn mine(digest: &str, shard: Shard) -> bool {
    let number = u64::from_str_radix(&digest[..15], 16).unwrap_or(0);
    number % shard.count as u64 == (shard.index - 1) as u64
}
