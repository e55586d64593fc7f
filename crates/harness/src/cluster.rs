//! Shares of a plan for the array tasks of Slurm.
//!
//! Tasks only say which trials they run; records land in the shared directory as ever. So a task may be killed, queued
//! again, or run twice, and nothing is lost or doubled.

mod slurm;

use crate::pool::chain;
use crate::{CostModel, Trial};
use mercer_datasets::Catalogue;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use slurm::slurm;

const MIB: f64 = 1024.0 * 1024.0;
/// The smallest requests; others are their doubles and half-way between them, so that few arrays hold all tasks.
const LEAST_MIB: u64 = 512;
const LEAST_MINUTES: u64 = 12;
/// Minutes for starting, loading data, and waiting for a slow disk.
const ALLOWANCE_MINUTES: f64 = 10.0;
/// Requests allow for so many times the predicted seconds and bytes: of cells with records, and of others.
const MARGIN: Margin = Margin { seconds: 2.0, bytes: 1.5 };
const MARGIN_DECLARED: Margin = Margin { seconds: 4.0, bytes: 4.0 };

struct Margin {
    seconds: f64,
    bytes: f64,
}

/// The trials of one array task, and the resources it is granted.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::three;
/// use mercer_harness::Task;
/// let text = serde_json::to_string(&three()[0])?; // in a campaign's folder
/// assert_eq!(serde_json::from_str::<Task>(&text)?, three()[0]);
/// assert!(serde_json::from_str::<Task>(&text.replace("mib", "gib")).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Number of the task, from 1.
    pub index: usize,
    /// Digests of its trials' keys.
    pub trials: Vec<String>,
    /// Predicted seconds of one core.
    pub seconds: f64,
    /// Cores to ask for, each with a trial of its own.
    pub cores: usize,
    /// Memory to ask for, in MiB.
    pub mib: u64,
    /// Minutes to ask for.
    pub minutes: u64,
}

/// How a plan is cut into tasks.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::{CostModel, Grouping, group};
/// let model = CostModel::fit([], METHODS, 0.005);
/// let trials: Vec<&mercer_harness::Trial> = trials.iter().collect();
/// # let how = toys::grouping();
/// let how = Grouping { seconds: 1e9, least: 1, most: 100, ..how };
/// assert_eq!(group(&trials, &model, &how).len(), 1); // all of them take less than that
/// let nodes = Grouping { least: 3, ..how };
/// assert_eq!(group(&trials, &model, &nodes).len(), 3); // but three nodes want work
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grouping {
    /// Seconds of wall-clock time that a task should take.
    pub seconds: f64,
    /// Tasks at least, so that all nodes have work.
    pub least: usize,
    /// Tasks at most: what an array may hold.
    pub most: usize,
    /// Trials side by side in a task at most, one core each.
    pub cores: usize,
    /// MiB of the program before it holds a row. It then holds its plan, and the inputs of the plan.
    pub program_mib: f64,
}

/// Consecutive tasks with the same request: an array job.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::three;
/// let tasks = three();
/// let arrays = mercer_harness::arrays(&tasks, None);
/// let large = &arrays[1]; // a request of its own
/// assert_eq!((large.tasks[0].index, large.mib, large.minutes), (3, 2048, 48));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Array<'a> {
    /// The tasks, in order of index.
    pub tasks: &'a [Task],
    /// Cores of each.
    pub cores: usize,
    /// MiB of each.
    pub mib: u64,
    /// Minutes of each.
    pub minutes: u64,
}

/// How Slurm is to call us.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::{launch, three};
/// use mercer_harness::{Launch, arrays, slurm};
/// let spaced = Launch { program: "/my tools/mercer".into(), ..launch() };
/// let script = slurm(&arrays(&three(), None)[0], &spaced);
/// assert!(script.contains("'/my tools/mercer' cluster work")); // quoted
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// The directory from which its relative paths count.
    pub directory: PathBuf,
    /// The directory of the campaign, for `cluster work`.
    pub campaign: PathBuf,
    /// Folder for the log of each task. Every campaign has its own.
    pub logs: PathBuf,
    /// Tasks at once, if limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<usize>,
    /// Further directives for the head of the script, such as `--partition=long`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directives: Vec<String>,
}

impl Task {
    /// What it asks for: memory, minutes, cores.
    fn request(&self) -> (u64, u64, usize) {
        (self.mib, self.minutes, self.cores)
    }
}

impl Array<'_> {
    /// Returns the number of its first task; 1 where it has none.
    ///
    /// ```
    /// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
    /// # use toys::{METHODS, STUDY};
    /// # use toys::three;
    /// let tasks = three();
    /// assert_eq!(mercer_harness::arrays(&tasks, None)[1].first(), 3);
    /// ```
    pub fn first(&self) -> usize {
        self.tasks.first().map_or(1, |task| task.index)
    }

    /// Returns the number of its last task; 1 where it has none.
    ///
    /// ```
    /// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
    /// # use toys::{METHODS, STUDY};
    /// # use toys::three;
    /// let tasks = three();
    /// assert_eq!(mercer_harness::arrays(&tasks, None)[0].last(), 2);
    /// ```
    pub fn last(&self) -> usize {
        self.tasks.last().map_or(1, |task| task.index)
    }
}

/// Trials that must run in one process, one after the other: they share a tuning.
struct Unit<'a> {
    trials: Vec<&'a Trial>,
    seconds: f64,
    /// Seconds that its task's time limit allows it.
    allowed: f64,
    /// Bytes of its dataset, and those that it works with besides.
    held: f64,
    working: f64,
}

/// The units of a task in the making.
#[derive(Default)]
struct Bin<'a> {
    sum: f64,
    units: Vec<Unit<'a>>,
}

impl Bin<'_> {
    /// Wall-clock seconds that its time limit allows for, at most, in whatever order `cores` cores take the units
    /// (Graham 1966). When the last unit begins no core is idle. A unit runs on one core, and where each has its own
    /// all begin at once.
    fn wall(&self, cores: usize) -> f64 {
        let longest = self.units.iter().map(|unit| unit.allowed).fold(0.0, f64::max);
        if cores >= self.units.len() {
            return longest;
        }
        let sum: f64 = self.units.iter().map(|unit| unit.allowed).sum();
        sum / cores as f64 + (1.0 - 1.0 / cores as f64) * longest
    }

    /// Bytes of `cores` units side by side, whichever they are: a dataset is held once, however many share it,
    /// and forgotten after the last.
    fn bytes(&self, cores: usize) -> f64 {
        let largest = |mut all: Vec<f64>| -> f64 {
            all.sort_by(|a, b| b.total_cmp(a));
            all.iter().take(cores).sum()
        };
        if cores == 1 {
            return self.units.iter().map(|unit| unit.held + unit.working).fold(0.0, f64::max);
        }
        let datasets: BTreeMap<&str, f64> =
            self.units.iter().map(|unit| (dataset(unit), unit.held)).collect();
        largest(datasets.into_values().collect())
            + largest(self.units.iter().map(|unit| unit.working).collect())
    }

    fn task(self, how: &Grouping) -> Task {
        // What shares a tuning is a unit, and runs on one core: another core would idle.
        let cores = how.cores.min(self.units.len()).max(1);
        let mib = how.program_mib + self.bytes(cores) / MIB;
        let minutes = self.wall(cores) / 60.0 + ALLOWANCE_MINUTES;
        let trials = self.units.iter().flat_map(|unit| &unit.trials);
        Task {
            index: 0,
            trials: trials.map(|trial| trial.key.digest()).collect(),
            seconds: self.sum,
            cores,
            mib: rounded(mib, LEAST_MIB),
            minutes: rounded(minutes, LEAST_MINUTES),
        }
    }
}

/// Cuts trials into tasks of similar predicted time, by the memory that they need.
///
/// Trials that share a tuning stay together: a unit. One that takes as long as a task should is a task by itself. Each
/// of the others goes to the least busy task of its class of memory, longest first. So the longest task is at most 4/3
/// of the best possible one (Graham 1969), or one unit. Each task asks for its own memory and time, in few steps, and
/// for as many cores as its units can use. The same plan and the same model give the same tasks.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::{CostModel, Grouping, group};
/// let model = CostModel::fit([], METHODS, 0.005);
/// let all: Vec<&mercer_harness::Trial> = trials.iter().collect();
/// # let how = toys::grouping();
/// let how = Grouping { seconds: 1.0, least: 2, most: 3, ..how };
/// let tasks = group(&all, &model, &how);
/// let mut digests: Vec<String> = tasks.iter().flat_map(|task| task.trials.clone()).collect();
/// digests.sort();
/// let mut wanted: Vec<String> = trials.iter().map(|trial| trial.key.digest()).collect();
/// wanted.sort();
/// assert_eq!(digests, wanted); // every trial in one task
/// assert_eq!(tasks, group(&all, &model, &how));
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
pub fn group(trials: &[&Trial], model: &CostModel, how: &Grouping) -> Vec<Task> {
    let mut chains: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
    for trial in trials {
        chains.entry(chain(trial)).or_default().push(trial);
    }
    let mut classes: BTreeMap<u64, Vec<Unit<'_>>> = BTreeMap::new();
    for trials in chains.into_values() {
        let unit = unit(trials, model);
        let bytes = unit.held + how.cores.max(1) as f64 * unit.working;
        let class = rounded(how.program_mib + bytes / MIB, LEAST_MIB);
        classes.entry(class).or_default().push(unit);
    }
    let seconds = share(classes.values().flatten().map(|unit| unit.seconds), classes.len(), how);
    let mut tasks = Vec::new();
    for mut units in classes.into_values() {
        units.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let (long, short): (Vec<_>, Vec<_>) =
            units.into_iter().partition(|unit| unit.seconds >= seconds);
        let sum: f64 = short.iter().map(|unit| unit.seconds).sum();
        let count = ((sum / seconds).round() as usize).max(1).min(short.len());
        let mut bins: Vec<Bin<'_>> = (0..count).map(|_| Bin::default()).collect();
        for unit in short {
            // There is one: `count` is at least 1 where there is a unit.
            let Some(least) = bins.iter_mut().min_by(|a, b| a.sum.total_cmp(&b.sum)) else { break };
            least.sum += unit.seconds;
            least.units.push(unit);
        }
        let alone = |unit: Unit<'_>| Bin { sum: unit.seconds, units: vec![unit] }.task(how);
        tasks.extend(long.into_iter().map(alone));
        tasks.extend(bins.into_iter().map(|bin| bin.task(how)));
    }
    numbered(tasks)
}

/// Seconds of a core that make a task: a unit of so many is one by itself.
fn share(units: impl Iterator<Item = f64>, classes: usize, how: &Grouping) -> f64 {
    let units: Vec<f64> = units.collect();
    let total: f64 = units.iter().sum();
    // A task of several cores takes its seconds side by side.
    let longest = how.seconds * how.cores.max(1) as f64;
    // An array holds no more tasks than it may, with one of each class that is not full.
    let most = how.most.max(classes) - classes + 1;
    let mut seconds = longest;
    loop {
        let long = units.iter().filter(|unit| **unit >= seconds).count();
        let rest: f64 = units.iter().filter(|unit| **unit < seconds).sum();
        let wanted = longest.min(rest / how.least.saturating_sub(long).max(1) as f64);
        if wanted >= seconds {
            return seconds.max(total / most as f64).max(1e-9);
        }
        seconds = wanted;
    }
}

/// Numbers tasks from 1 so that tasks with one request follow each other.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::three;
/// let mut tasks = three();
/// tasks[0].mib = 4096; // it was killed, and is granted more
/// let tasks = mercer_harness::numbered(tasks);
/// assert_eq!(tasks.iter().map(|task| task.mib).collect::<Vec<_>>(), [512, 2048, 4096]);
/// assert_eq!(tasks.iter().map(|task| task.index).collect::<Vec<_>>(), [1, 2, 3]);
/// ```
pub fn numbered(mut tasks: Vec<Task>) -> Vec<Task> {
    tasks.sort_by_key(Task::request);
    for (at, task) in tasks.iter_mut().enumerate() {
        task.index = at + 1;
    }
    tasks
}

fn unit<'a>(trials: Vec<&'a Trial>, model: &CostModel) -> Unit<'a> {
    let forecast = model.forecast(trials.iter().copied());
    let entry = trials.first().and_then(|trial| Catalogue::builtin().find(&trial.key.dataset).ok());
    let held = entry.map_or(0.0, |entry| 8.0 * (entry.rows * (entry.features + 1)) as f64);
    // The margins allow for a wrong prediction; the limit of a trial holds whatever was predicted.
    let own = forecast.bases[0] == forecast.trials;
    let margin = if own { MARGIN } else { MARGIN_DECLARED };
    let limit = |trial: &&Trial| trial.key.limits.get("bytes").and_then(serde_json::Value::as_f64);
    let most = trials.iter().map(|trial| limit(trial).unwrap_or(f64::MAX)).fold(0.0, f64::max);
    let working = (forecast.bytes * margin.bytes).min(most);
    let seconds = forecast.seconds;
    Unit { trials, seconds, allowed: seconds * margin.seconds, held, working }
}

/// Of a unit, all of whose trials share a tuning.
fn dataset<'a>(unit: &Unit<'a>) -> &'a str {
    unit.trials.first().map_or("", |trial| &trial.key.dataset)
}

/// The next request of few: doubles of the least one, and half-way between them.
fn rounded(wanted: f64, least: u64) -> u64 {
    let wanted = (wanted.ceil() as u64).max(least);
    let power = least * wanted.div_ceil(least).next_power_of_two();
    let between = power / 4 * 3;
    if between >= wanted { between } else { power }
}

/// Groups tasks into array jobs, one for each request.
///
/// With a limit of tasks at once they are a single job, whose tasks all ask for the largest request of any of them.
/// Slurm keeps such a limit only within a job.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::three;
/// use mercer_harness::arrays;
/// let tasks = three(); // of 512, 512 and 2048 MiB
/// let each: Vec<(usize, u64)> =
///     arrays(&tasks, None).iter().map(|array| (array.tasks.len(), array.mib)).collect();
/// assert_eq!(each, [(2, 512), (1, 2048)]);
/// let limited = arrays(&tasks, Some(2));
/// assert_eq!((limited.len(), limited[0].tasks.len(), limited[0].mib), (1, 3, 2048));
/// ```
pub fn arrays(tasks: &[Task], max_parallel: Option<usize>) -> Vec<Array<'_>> {
    tasks
        .chunk_by(|a, b| max_parallel.is_some() || a.request() == b.request())
        .map(|tasks| {
            let most = |of: fn(&Task) -> u64| tasks.iter().map(of).max().unwrap_or(0);
            let cores = tasks.iter().map(|task| task.cores).max().unwrap_or(1);
            Array { tasks, cores, mib: most(|task| task.mib), minutes: most(|task| task.minutes) }
        })
        .collect()
}

/// A word for a POSIX shell, whatever it holds.
fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-=:,+@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Returns the number of this environment's task; `None` outside an array job of Slurm.
///
/// ```
/// use mercer_harness::task_of_environment;
/// assert_eq!(task_of_environment(&|_| Some("4".to_owned())), Ok(Some(4)));
/// assert_eq!(task_of_environment(&|_| None), Ok(None));
/// assert!(task_of_environment(&|_| Some("four".to_owned())).is_err());
/// ```
///
/// # Errors
/// The content of the variable, if it is no number.
pub fn task_of_environment(
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<usize>, String> {
    let Some(value) = variable(OF_SLURM) else { return Ok(None) };
    let number = value.parse().map_err(|_| format!("{OF_SLURM} is `{value}`, not a task number"));
    number.map(Some)
}

/// The variable with the number of a task.
const OF_SLURM: &str = "SLURM_ARRAY_TASK_ID";
