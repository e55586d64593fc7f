//! Cost of a trial: its cell's mean record, else its declared cost times a factor.

mod expression;
mod workload;

use crate::{Trial, TuningSource};
use mercer_learning::{Method, Settings, Shape};
use mercer_records::{Key, Record, Status};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use workload::{Part, Workload};

/// The yardstick of the machine whose seconds are counted; other machines are scaled by their own.
const REFERENCE_YARDSTICK: f64 = 0.005;
/// Other work ran beside a yardstick that is more than this factor above the usual one of its type of machine.
const TAINTED: f64 = 1.5;
/// Smaller trials measure starts and clocks: they enter a factor only where a method has no larger ones.
const SHORT_SECONDS: f64 = 0.05;
const FEW_BYTES: f64 = 1e6;
/// Without any record: a billion operations per second, and the declared bytes.
const SECONDS_PER_OPERATION: f64 = 1e-9;

/// Checks that a method's declared costs can be evaluated. These are the costs of a fit and of its memory. `Err` has
/// the text of the first that cannot, because it is no expression or has a name that is neither a size nor a setting.
/// Such a method is taken to cost `n d`.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::check_cost_expressions;
/// use mercer_learning::{Cost, Method, Shape, Task};
/// let shape = Shape { rows: 100, features: 4, task: Task::Classification { classes: 3 } };
/// assert_eq!(check_cost_expressions(&METHODS[0], &shape), Ok(()));
/// let cost = Cost { fit: "n q", predict: "1", memory: "n" }; // what is `q`?
/// assert_eq!(check_cost_expressions(&Method { cost, ..METHODS[0] }, &shape), Err("n q"));
/// ```
///
/// # Errors
/// The text.
pub fn check_cost_expressions(method: &Method, shape: &Shape) -> Result<(), &'static str> {
    workload::check_cost_expressions(method, shape)
}

/// Returns the memory of a fit that the method declares, in bytes. It is for data of this shape and these settings;
/// `None` where a name is not known. Leading terms only: half or twice as much may be meant.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::declared_bytes;
/// use mercer_learning::{Settings, Shape, Task};
/// let of = |rows| {
///     let shape = Shape { rows, features: 4, task: Task::Classification { classes: 3 } };
///     declared_bytes(&METHODS[0], &shape, &Settings::new()).unwrap()
/// };
/// assert_eq!(of(2000) / of(1000), 2.0); // `n d`
/// ```
pub fn declared_bytes(method: &Method, shape: &Shape, settings: &Settings) -> Option<f64> {
    workload::declared(method.cost.memory, shape, settings).map(|numbers| 8.0 * numbers)
}

/// Returns the operations of a fit that the method declares, with its defaults on data of this shape; `None` where a name
/// is not known. Leading terms only.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::declared_operations;
/// use mercer_learning::{Shape, Task};
/// let of = |rows| {
///     let shape = Shape { rows, features: 4, task: Task::Classification { classes: 3 } };
///     declared_operations(&METHODS[0], &shape).unwrap()
/// };
/// assert_eq!(of(20) / of(10), 2.0); // `n`, up to its `cap`
/// ```
pub fn declared_operations(method: &Method, shape: &Shape) -> Option<f64> {
    workload::declared(method.cost.fit, shape, &method.begun(shape))
}

/// Predicts seconds and bytes of trials.
///
/// A trial takes the mean of what the records of its cell say (the same key but for repeat, seed, revision, data
/// version and limits). A cell without a record takes the declared cost of its method times a factor. The factor is the
/// median over recorded trials of their seconds over their declared cost. The trials are of the same method if it has
/// records, else of all methods.
///
/// Seconds are processor time where a record has it, else wall-clock time, scaled by the yardsticks of the
/// machines. A yardstick far above the usual one of its type of machine (the lower quartile of its records) was
/// taken beside other work; the usual one replaces it.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::CostModel;
/// let model = CostModel::fit([], METHODS, 0.005); // a machine as fast as the reference
/// assert_eq!((model.records, model.machine_factor()), (0, 1.0));
/// let (all, one) = (model.forecast(&trials), model.forecast(&trials[..1]));
/// assert!(all.seconds > one.seconds && one.seconds > 0.0); // without a record, by the declared cost
/// let slow = CostModel::fit([], METHODS, 0.01).forecast(&trials);
/// assert!((slow.seconds / all.seconds - 2.0).abs() < 1e-9); // on a machine half as fast
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CostModel {
    seconds: Estimates,
    bytes: Estimates,
    /// Seconds here for a second of the reference.
    speed: f64,
    methods: Vec<Method>,
    /// Number of records learned from.
    pub records: usize,
}

/// What a prediction rests on, best first.
///
/// ```
/// use mercer_harness::Basis;
/// assert!(Basis::Cell < Basis::Method && Basis::Method < Basis::Declared);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Records of the same cell.
    Cell,
    /// The declared cost, and the factor of the same method.
    Method,
    /// The declared cost, and the factor of all methods.
    Declared,
}

/// What a trial, or a part of one, will cost.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::{Basis, CostModel};
/// let model = CostModel::fit([], METHODS, 0.005);
/// let fit = model.predict(&trials[0].key);
/// assert!(fit.seconds > 0.0 && fit.basis == Basis::Declared); // of no record
/// assert!(!fit.at_limit);
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Seconds on one core of this machine.
    pub seconds: f64,
    /// Most bytes that the trial holds at once. The program and the dataset come on top.
    pub bytes: f64,
    /// What it rests on.
    pub basis: Basis,
    /// Whether the limit of time cuts it short.
    pub at_limit: bool,
    /// Whether it would take more bytes than its limit, which are then its `bytes`.
    pub at_memory_limit: bool,
}

/// What some trials will cost together.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::CostModel;
/// let forecast = CostModel::fit([], METHODS, 0.005).forecast(&trials);
/// assert_eq!((forecast.trials, forecast.at_limit), (6, 0));
/// assert!((forecast.seconds_by_basis.iter().sum::<f64>() / forecast.seconds - 1.0).abs() < 1e-9);
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Forecast {
    /// Number of trials.
    pub trials: usize,
    /// Seconds on one core, tunings included; a tuning that several share counts once.
    pub seconds: f64,
    /// Most bytes of any one trial.
    pub bytes: f64,
    /// Trials predicted from their own cell, from their method, and from its declared cost alone.
    pub bases: [usize; 3],
    /// Seconds of these trials.
    pub seconds_by_basis: [f64; 3],
    /// Trials that their limit of time is predicted to stop.
    pub at_limit: usize,
    /// Trials that are predicted to take more memory than their limit.
    pub at_memory_limit: usize,
}

impl CostModel {
    /// With fewer records a forecast says little.
    pub const FEWEST: usize = 10;

    /// Learns from records, for a machine whose [`reference_seconds`](crate::reference_seconds) is given.
    pub fn fit<'a>(
        records: impl IntoIterator<Item = &'a Record>,
        methods: &[Method],
        yardstick: f64,
    ) -> Self {
        // In the order of the keys: sums do not depend on the order of the records.
        let by_digest: BTreeMap<String, &Record> =
            records.into_iter().map(|record| (record.key.digest(), record)).collect();
        let usual = usual(by_digest.values().copied());
        let (mut timed, mut bytes) = (Vec::new(), Observed::default());
        for record in by_digest.into_values() {
            // What a limit stopped says what the limit was.
            if !matches!(record.result.status, Status::Done | Status::Diverged) {
                continue;
            }
            let Some(work) = Workload::of(&record.key, methods) else { continue };
            if record.run.peak_bytes > 0 {
                bytes.add(&work, record.run.peak_bytes as f64, work.bytes);
            }
            if let Some((value, processor)) = seconds_of(record, work.part, &usual) {
                timed.push((work, value, processor));
            }
        }
        // Wall-clock time counts other work, too: a cell with processor time does without it.
        let by_processor: BTreeSet<String> =
            timed.iter().filter(|timed| timed.2).map(|timed| timed.0.cell.clone()).collect();
        timed.retain(|(work, _, processor)| *processor || !by_processor.contains(&work.cell));
        let mut seconds = Observed::default();
        for (work, value, _) in &timed {
            seconds.add(work, *value, work.operations);
        }
        Self {
            seconds: seconds.estimates(SHORT_SECONDS, SECONDS_PER_OPERATION),
            bytes: bytes.estimates(FEW_BYTES, 1.0),
            speed: if yardstick > 0.0 { yardstick / REFERENCE_YARDSTICK } else { 1.0 },
            methods: methods.to_vec(),
            records: timed.len(),
        }
    }

    /// Returns the seconds here for a second of the reference machine.
    pub const fn machine_factor(&self) -> f64 {
        self.speed
    }

    /// Predicts the cost of a key's trial, or of a tuning by its key.
    pub fn predict(&self, key: &Key) -> Prediction {
        let Some(work) = Workload::of(key, &self.methods) else {
            return Prediction {
                seconds: 1.0,
                bytes: 1e6,
                basis: Basis::Declared,
                at_limit: false,
                at_memory_limit: false,
            };
        };
        let (seconds, basis) = self.seconds.predict(&work, work.operations);
        let (bytes, _) = self.bytes.predict(&work, work.bytes);
        // What a limit stops costs no more than the limit.
        let limit = |name: &str| key.limits.get(name).and_then(Value::as_f64).unwrap_or(f64::MAX);
        let (free, most, room) = (seconds * self.speed, limit("seconds"), limit("bytes"));
        Prediction {
            seconds: free.min(most),
            bytes: bytes.min(room),
            basis,
            at_limit: free >= most,
            at_memory_limit: bytes >= room,
        }
    }

    /// Predicts the cost of some trials together.
    pub fn forecast<'t>(&self, trials: impl IntoIterator<Item = &'t Trial>) -> Forecast {
        let mut forecast = Forecast::default();
        let mut tuned = BTreeSet::new();
        for trial in trials {
            let mut parts = vec![self.predict(&trial.key)];
            if let TuningSource::Tuner { key, archived: None, .. } = &trial.tuning
                && tuned.insert(key.digest())
            {
                parts.push(self.predict(key));
            }
            forecast.trials += 1;
            let seconds = parts.iter().map(|part| part.seconds).sum::<f64>();
            forecast.seconds += seconds;
            forecast.bytes = parts.iter().fold(forecast.bytes, |most, part| most.max(part.bytes));
            // A trial is known no better than its least known part.
            let basis = parts.iter().map(|part| part.basis).max().unwrap_or(Basis::Declared);
            forecast.bases[basis as usize] += 1;
            forecast.seconds_by_basis[basis as usize] += seconds;
            forecast.at_limit += usize::from(parts.iter().any(|part| part.at_limit));
            forecast.at_memory_limit += usize::from(parts.iter().any(|part| part.at_memory_limit));
        }
        forecast
    }

    /// Sets the weight of each trial to its seconds. A tuning that several share counts once.
    pub fn predict_costs(&self, trials: &mut [Trial]) {
        let mut tuned = BTreeSet::new();
        for trial in trials {
            trial.weight = self.predict(&trial.key).seconds;
            if let TuningSource::Tuner { key, archived: None, .. } = &trial.tuning
                && tuned.insert(key.digest())
            {
                trial.weight += self.predict(key).seconds;
            }
        }
    }
}

/// Measurements, by cell and as ratios to the declared cost.
#[derive(Default)]
struct Observed {
    cells: BTreeMap<String, Vec<f64>>,
    /// Value, and value over declared cost, by the names of [`Workload::names`].
    ratios: BTreeMap<String, Vec<(f64, f64)>>,
}

impl Observed {
    fn add(&mut self, work: &Workload, value: f64, declared: f64) {
        self.cells.entry(work.cell.clone()).or_default().push(value);
        for name in work.names() {
            self.ratios.entry(name).or_default().push((value, value / declared));
        }
    }

    fn estimates(self, short: f64, without: f64) -> Estimates {
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let factor = |ratios: Vec<(f64, f64)>| {
            let long = ratios.iter().any(|(value, _)| *value >= short);
            let counted = ratios.iter().filter(|(value, _)| !long || *value >= short);
            quantile(&mut counted.map(|(_, ratio)| *ratio).collect::<Vec<f64>>(), 0.5)
        };
        Estimates {
            cells: self.cells.into_iter().map(|(cell, values)| (cell, mean(values))).collect(),
            factors: self.ratios.into_iter().map(|(name, all)| (name, factor(all))).collect(),
            without,
        }
    }
}

/// What records say of one quantity: seconds or bytes.
#[derive(Debug, Clone)]
struct Estimates {
    /// The mean of each cell.
    cells: BTreeMap<String, f64>,
    /// The median over declared cost, by the names of [`Workload::names`].
    factors: BTreeMap<String, f64>,
    /// The factor without any record.
    without: f64,
}

impl Estimates {
    fn predict(&self, work: &Workload, declared: f64) -> (f64, Basis) {
        if let Some(mean) = self.cells.get(&work.cell) {
            return (*mean, Basis::Cell);
        }
        let [part, method, all] = work.names();
        let known = self.factors.get(&part).or_else(|| self.factors.get(&method));
        let any = self.factors.get(&all).copied().unwrap_or(self.without);
        match known {
            Some(factor) => (declared * factor, Basis::Method),
            None => (declared * any, Basis::Declared),
        }
    }
}

/// The least value that a share of the others do not exceed; 1 of none.
fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = ((values.len() as f64 * share).ceil() as usize).max(1) - 1;
    values.get(at).copied().unwrap_or(1.0)
}

/// The usual yardstick of each type of machine: the lower quartile of its records.
fn usual<'a>(records: impl Iterator<Item = &'a Record>) -> BTreeMap<&'a str, f64> {
    let mut hosts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for Record { run, .. } in records {
        if run.yardstick_seconds > 0.0 {
            hosts.entry(&run.host).or_default().push(run.yardstick_seconds);
        }
    }
    hosts.into_iter().map(|(host, mut seconds)| (host, quantile(&mut seconds, 0.25))).collect()
}

/// Seconds of a part of a record, on the reference machine, and whether they are processor time.
fn seconds_of(record: &Record, part: Part, usual: &BTreeMap<&str, f64>) -> Option<(f64, bool)> {
    let run = &record.run;
    let phases: &[&str] = match part {
        Part::Fit => &["prepare", "fit", "predict", "calibrate"],
        Part::Tuning => &["tune"],
    };
    let sum = |of: &BTreeMap<String, f64>| -> f64 {
        phases.iter().filter_map(|phase| of.get(*phase)).sum()
    };
    // The processor seconds are those of the trial's own thread: all of them where its fit has no other.
    let alone = record.key.limits.get("threads").and_then(Value::as_u64).unwrap_or(1) <= 1;
    let known = |phase: &&str| {
        !run.seconds.contains_key(*phase) || run.processor_seconds.contains_key(*phase)
    };
    let processor = alone && !run.processor_seconds.is_empty() && phases.iter().all(known);
    let seconds = sum(if processor { &run.processor_seconds } else { &run.seconds });
    let usual = usual.get(run.host.as_str()).copied()?;
    let tainted = run.yardstick_seconds > TAINTED * usual;
    let slowness = if tainted { usual } else { run.yardstick_seconds } / REFERENCE_YARDSTICK;
    (seconds > 0.0 && slowness > 0.0).then(|| ((seconds / slowness).max(1e-4), processor))
}
