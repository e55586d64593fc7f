//! What a trial will cost, learned from the records of others.

mod expression;
mod regression;
mod workload;

use crate::{Trial, Tuner, TuningSource, settled_yardstick};
use mercer_learning::{Method, Settings, Shape};
use mercer_records::{Key, Record, Status};
use regression::{Observation, Predicted, Quantity, Regression};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use workload::{Part, Workload};

pub use regression::Basis;

/// The yardstick of the machine whose seconds are counted; others are scaled by theirs.
const REFERENCE_YARDSTICK: f64 = 0.005;
/// A yardstick so many times the usual one of its type of machine was measured beside other work: older
/// ones are of the clock on the wall.
const TAINTED: f64 = 1.5;
/// Shorter trials are timed too coarsely to score a prediction by a factor.
const SHORT: f64 = 0.05;

/// Whether the model understands the costs that a method declares for data of this shape, of a fit and
/// of its memory: `Err` has the text that it does not, because it is no expression or has a name that
/// is neither a size nor a setting nor explained. Such a method is taken to cost `n d`.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::understood;
/// use mercer_learning::{Cost, Method, Shape, Task};
/// let shape = Shape { rows: 100, features: 4, task: Task::Classification { classes: 3 } };
/// assert_eq!(understood(&METHODS[0], &shape), Ok(()));
/// let cost = Cost { fit: "n q", predict: "1", memory: "n" }; // what is `q`?
/// assert_eq!(understood(&Method { cost, ..METHODS[0] }, &shape), Err("n q"));
/// ```
///
/// # Errors
/// The text.
pub fn understood(method: &Method, shape: &Shape) -> Result<(), &'static str> {
    workload::understood(method, shape)
}

/// The memory of a fit that the method declares, in bytes, for data of this shape and these settings;
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
    workload::declared_bytes(method, shape, settings)
}

/// Predicts seconds and bytes of trials: `ln y` is linear in the logarithms of the method's declared
/// cost, of n, d and the entries, with the deviations of (method, study, variant) and of the cell,
/// each shrunk towards 0.
///
/// Seconds are those of the processor where a record has them, else of the clock on the wall, and are
/// scaled by the yardsticks of the machines. A yardstick far above the usual one of its type of machine
/// (the lower quartile of its records) tells of other work beside it: the usual one stands in, and
/// seconds of the wall then weigh a tenth. Where other repeats of a cell have seconds of the processor,
/// those of the wall do not count.
///
/// Without any record it still answers, by the declared cost alone.
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
    seconds: Regression,
    bytes: Regression,
    /// Seconds here for a second of the reference.
    speed: f64,
    methods: Vec<Method>,
    /// Number of records learned from.
    pub records: usize,
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
/// let fit = model.fit_of(&trials[0]);
/// assert!(fit.seconds > 0.0 && fit.basis == Basis::Declared); // of no record
/// assert!(!fit.at_limit);
/// assert!(model.tuning_of(&trials[0]).is_none() && model.tuning_of(&trials[3]).is_some());
/// # Ok::<(), mercer_harness::HarnessError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a doubt of its own")]
pub struct Prediction {
    /// Seconds on one core of this machine.
    pub seconds: f64,
    /// Most bytes held at once by the trial; the program and the dataset come on top.
    pub bytes: f64,
    /// What it rests on.
    pub basis: Basis,
    /// Whether the declared cost is more than a thousand times beyond those seen; it then counts as a
    /// thousand times, and the truth may be far off.
    pub held_back: bool,
    /// Whether the declared cost is above all that were seen of the method by more than a quarter: what is
    /// held out as [`HoldOut::Largest`] tells how far such predictions are off.
    pub larger: bool,
    /// Whether the limit of time cuts it short.
    pub at_limit: bool,
    /// Whether it would take more bytes than its limit, which are all that is said.
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
/// assert_eq!((forecast.trials, forecast.held_back, forecast.at_limit), (6, 0, 0));
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
    /// Trials whose declared cost lies too far beyond those seen to be believed.
    pub held_back: usize,
    /// Seconds of these trials, part of the total.
    pub held_back_seconds: f64,
    /// Trials larger than all that were recorded of their method.
    pub larger: usize,
    /// Seconds of these trials, part of the total.
    pub larger_seconds: f64,
    /// Trials that their limit of time is predicted to stop.
    pub at_limit: usize,
    /// Trials that are predicted to take more memory than their limit.
    pub at_memory_limit: usize,
}

/// How far predictions were off on records that the model had not seen.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::{CostModel, HoldOut, Laboratory, Options, Selection, Silent, Spec, Stop, plan, run};
/// let spec = Spec::parse(&STUDY.replacen("repeats = 3", "repeats = 8", 1), std::path::Path::new("toy.toml"))?;
/// let trials = plan(&spec, METHODS, "paper", &Selection::default(), &|_| None)?;
/// let folder = tempfile::tempdir()?;
/// let store = mercer_records::Store::open(folder.path())?;
/// let library = mercer_datasets::Library::of_folders([])?;
/// let laboratory = Laboratory::new(METHODS, library, store, Stop::default());
/// run(&trials, &laboratory, &Options { jobs: 1, ..Options::default() }, &Silent)?;
/// let records = laboratory.store.list()?.records;
/// let found = CostModel::held_out(&records, METHODS, HoldOut::Fifths).expect("more than ten records");
/// assert_eq!(found.records + found.doubtful, records.len()); // each predicted once
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// Records predicted and scored.
    pub records: usize,
    /// Records whose seconds the load of their machine may have inflated: predicted, not scored.
    pub doubtful: usize,
    /// Measured seconds of the records that are scored, on the reference machine.
    pub seconds: f64,
    /// Those of the others.
    pub doubtful_seconds: f64,
    /// Predicted total seconds over measured ones.
    pub total: f64,
    /// Standard error of `total`, the methods taken for a draw of methods: their errors cancel in it.
    pub total_error: f64,
    /// Median factor between prediction and measurement, of trials of at least 0.05 s.
    pub median: f64,
    /// Factor that nine of ten of them keep.
    pub nine_of_ten: f64,
    /// Measured bytes over predicted ones that 19 of 20 records keep.
    pub bytes: f64,
    /// The same seconds by method: the methods whose sums are furthest off come first.
    pub methods: Vec<MethodError>,
}

/// How far the sum of a method's predictions was off.
///
/// ```
/// let error = mercer_harness::MethodError { method: "sk".to_owned(), measured: 10.0, predicted: 25.0 };
/// assert_eq!(error.off(), 15.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MethodError {
    /// Its name.
    pub method: String,
    /// Measured seconds, on the reference machine.
    pub measured: f64,
    /// Predicted ones.
    pub predicted: f64,
}

impl MethodError {
    /// Seconds between the two.
    pub const fn off(&self) -> f64 {
        (self.predicted - self.measured).abs()
    }
}

/// How records are held out.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::{CostModel, HoldOut};
/// use HoldOut::{Cells, Datasets, Fifths, Largest, Methods};
/// for by in [Fifths, Cells, Datasets, Methods, Largest] {
///     assert_eq!(CostModel::held_out([], METHODS, by), None); // of fewer than ten records
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldOut {
    /// A fifth at a time, by the digest of the key: other repeats of the same cell stay in.
    Fifths,
    /// A fifth of the cells (study, variant, dataset, method) at a time: no repeat of them stays in.
    Cells,
    /// A dataset at a time.
    Datasets,
    /// A method at a time: what is left to predict it from is its declared cost.
    Methods,
    /// Of each method the cells of the largest fifth of its declared costs, at once: smaller ones stay in, as
    /// where a run has its large cells still before it.
    Largest,
}

/// The key of the search by the tables' budget in place of that over a grid, and how many times its fits the grid
/// takes.
fn without_grid(key: &Key) -> Option<(Key, f64)> {
    let over: Tuner = serde_json::from_value(key.tuning.get("tuner")?.clone()).ok()?;
    over.grid.as_ref().filter(|_| key.tuning.get("part").is_some())?;
    let plain = Tuner { rows: None, grid: None, ..Tuner::default() };
    let times = (over.cost() - 1.0) / (plain.cost() - 1.0);
    let mut key = key.clone();
    key.tuning["tuner"] = serde_json::json!(plain);
    Some((key, times))
}

impl CostModel {
    /// Of fewer records none are held out: what is left says nothing.
    pub const FEWEST: usize = 10;

    /// Learns from records, for a machine whose [`yardstick`](crate::yardstick) is given.
    pub fn fit<'a>(
        records: impl IntoIterator<Item = &'a Record>,
        methods: &[Method],
        yardstick: f64,
    ) -> Self {
        let observed = Observed::of(records, methods);
        let all = |_: &Workload, _: usize| true;
        let records = observed.seconds.len();
        let speed = if yardstick > 0.0 { yardstick / REFERENCE_YARDSTICK } else { 1.0 };
        let (seconds, bytes) = observed.fit(&all);
        Self { seconds, bytes, speed, methods: methods.to_vec(), records }
    }

    /// Learns from records, for this machine.
    pub fn here<'a>(records: impl IntoIterator<Item = &'a Record>, methods: &[Method]) -> Self {
        Self::fit(records, methods, settled_yardstick())
    }

    /// Seconds here for a second of the reference machine.
    pub const fn machine_factor(&self) -> f64 {
        self.speed
    }

    /// The trial's fit, without its tuning.
    pub fn fit_of(&self, trial: &Trial) -> Prediction {
        self.of(&trial.key)
    }

    /// The trial's tuning, if it will tune.
    pub fn tuning_of(&self, trial: &Trial) -> Option<Prediction> {
        match &trial.tuning {
            TuningSource::Tuner { key, archived: None, .. } => Some(self.of(key)),
            _ => None,
        }
    }

    /// What some trials cost together.
    pub fn forecast<'t>(&self, trials: impl IntoIterator<Item = &'t Trial>) -> Forecast {
        let mut forecast = Forecast::default();
        let mut tuned = BTreeSet::new();
        for trial in trials {
            let mut parts = vec![self.fit_of(trial)];
            if let TuningSource::Tuner { key, archived: None, .. } = &trial.tuning
                && tuned.insert(key.digest())
            {
                parts.push(self.of(key));
            }
            forecast.trials += 1;
            let seconds = parts.iter().map(|part| part.seconds).sum::<f64>();
            forecast.seconds += seconds;
            forecast.bytes = parts.iter().fold(forecast.bytes, |most, part| most.max(part.bytes));
            // A trial is known no better than its least known part.
            let basis = parts.iter().map(|part| part.basis).max().unwrap_or(Basis::Declared);
            forecast.bases[basis as usize] += 1;
            forecast.seconds_by_basis[basis as usize] += seconds;
            if parts.iter().any(|part| part.held_back) {
                forecast.held_back += 1;
                forecast.held_back_seconds += seconds;
            }
            if parts.iter().any(|part| part.larger) {
                forecast.larger += 1;
                forecast.larger_seconds += seconds;
            }
            forecast.at_limit += usize::from(parts.iter().any(|part| part.at_limit));
            forecast.at_memory_limit += usize::from(parts.iter().any(|part| part.at_memory_limit));
        }
        forecast
    }

    /// Sets the weight of each trial to its seconds; a tuning that several share counts once.
    pub fn weigh(&self, trials: &mut [Trial]) {
        let mut tuned = BTreeSet::new();
        for trial in trials {
            trial.weight = self.fit_of(trial).seconds;
            if let TuningSource::Tuner { key, archived: None, .. } = &trial.tuning
                && tuned.insert(key.digest())
            {
                trial.weight += self.of(key).seconds;
            }
        }
    }

    fn of(&self, key: &Key) -> Prediction {
        // A grid is so many more fits of the same kind: nothing of their size is unknown.
        if let Some((plain, times)) = without_grid(key) {
            let one = self.of(&plain);
            return Prediction { seconds: times * one.seconds, ..one };
        }
        let Some(work) = Workload::of(key, &self.methods) else {
            return Prediction {
                seconds: 1.0,
                bytes: 1e6,
                basis: Basis::Declared,
                held_back: false,
                larger: false,
                at_limit: false,
                at_memory_limit: false,
            };
        };
        let Predicted { value: seconds, basis, held_back, larger } = self.seconds.predict(&work);
        let bytes = self.bytes.predict(&work).value;
        // What a limit stops costs no more than the limit.
        let limit = |name: &str| key.limits.get(name).and_then(Value::as_f64).unwrap_or(f64::MAX);
        let (free, most) = (seconds * self.speed, limit("seconds"));
        let (seconds, room) = (free.min(most), limit("bytes"));
        let (at_limit, at_memory_limit) = (free >= most, bytes >= room);
        let bytes = bytes.min(room);
        Prediction { seconds, bytes, basis, held_back, larger, at_limit, at_memory_limit }
    }

    /// Learns from a part of the records and predicts the rest, until each that is to be held out was
    /// predicted once.
    ///
    /// `None` with fewer than [`CostModel::FEWEST`] records.
    pub fn held_out<'a>(
        records: impl IntoIterator<Item = &'a Record>,
        methods: &[Method],
        by: HoldOut,
    ) -> Option<HeldOut> {
        let observed = Observed::of(records, methods);
        if observed.seconds.len() < Self::FEWEST {
            return None;
        }
        let name = |work: &'_ Workload| match by {
            HoldOut::Fifths | HoldOut::Largest => String::new(),
            HoldOut::Cells => work.place.clone(),
            HoldOut::Datasets => work.dataset.clone(),
            HoldOut::Methods => work.method.clone(),
        };
        let names: BTreeSet<String> =
            observed.seconds.iter().map(|(seen, _)| name(&seen.work)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let folds = match by {
            HoldOut::Fifths | HoldOut::Cells => 5,
            HoldOut::Datasets | HoldOut::Methods => names.len(),
            HoldOut::Largest => 1,
        };
        let large = observed.large();
        let fold = |work: &Workload, digest: usize| match by {
            HoldOut::Fifths => digest % 5,
            // Neighbours in the alphabet part: a study, a variant, a dataset is in every fold.
            HoldOut::Cells | HoldOut::Datasets | HoldOut::Methods => {
                names.binary_search(&name(work)).unwrap_or(0) % folds
            }
            HoldOut::Largest => {
                usize::from(work.operations < large[&(work.part, work.method.as_str())])
            }
        };
        let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        let (mut factors, mut bytes) = (Vec::new(), Vec::new());
        let (mut scored, mut doubtful, mut doubtful_seconds) = (0, 0, 0.0);
        for one in 0..folds {
            let (seconds, memory) = observed.fit(&|work, digest| fold(work, digest) != one);
            for (seen, digest) in &observed.seconds {
                if fold(&seen.work, *digest) == one {
                    if !seen.sound {
                        doubtful += 1;
                        doubtful_seconds += seen.value;
                        continue;
                    }
                    let guess = seconds.predict(&seen.work).value;
                    scored += 1;
                    let sum = sums.entry(&seen.work.method).or_default();
                    (sum.0, sum.1) = (sum.0 + seen.value, sum.1 + guess);
                    if seen.value > SHORT {
                        factors.push((guess / seen.value).max(seen.value / guess));
                    }
                }
            }
            for (seen, digest) in &observed.bytes {
                if fold(&seen.work, *digest) == one {
                    bytes.push(seen.value / memory.predict(&seen.work).value);
                }
            }
        }
        let of_method = |(&method, &(measured, predicted)): (&&str, &(f64, f64))| MethodError {
            method: method.to_owned(),
            measured,
            predicted,
        };
        let mut methods: Vec<MethodError> = sums.iter().map(of_method).collect();
        methods.sort_by(|one, other| other.off().total_cmp(&one.off()));
        let measured: f64 = methods.iter().map(|method| method.measured).sum();
        let predicted: f64 = methods.iter().map(|method| method.predicted).sum();
        Some(HeldOut {
            records: scored,
            doubtful,
            seconds: measured,
            doubtful_seconds,
            total: predicted / measured,
            total_error: error_of_total(&methods),
            median: quantile(&mut factors, 0.5),
            nine_of_ten: quantile(&mut factors, 0.9),
            bytes: quantile(&mut bytes, 0.95),
            methods,
        })
    }
}

/// Of the ratio of two sums over methods, linearised (Cochran 1977, section 6.4); 0 of a single one.
fn error_of_total(methods: &[MethodError]) -> f64 {
    let measured: f64 = methods.iter().map(|method| method.measured).sum();
    let total = methods.iter().map(|method| method.predicted).sum::<f64>() / measured;
    let squares = methods.iter().map(|method| (method.predicted - total * method.measured).powi(2));
    let count = methods.len() as f64;
    if methods.len() < 2 {
        0.0
    } else {
        (squares.sum::<f64>() * count / (count - 1.0)).sqrt() / measured
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

/// What a record says of the seconds of a part.
struct Timed {
    /// On the reference machine.
    seconds: f64,
    /// Whether they are the processor's.
    processor: bool,
    /// Whether they tell of the trial alone.
    sound: bool,
}

fn seconds_of(record: &Record, part: Part, usual: &BTreeMap<&str, f64>) -> Option<Timed> {
    let run = &record.run;
    let phases: &[&str] = match part {
        Part::Fit => &["prepare", "fit", "predict"],
        Part::Tuning => &["tune"],
    };
    let sum = |of: &BTreeMap<String, f64>| -> f64 {
        phases.iter().filter_map(|phase| of.get(*phase)).sum()
    };
    // Those of a trial's own thread are those of the trial where its fit has no others.
    let alone = record.key.limits.get("threads").and_then(Value::as_u64).unwrap_or(1) <= 1;
    let known = |phase: &&str| {
        !run.seconds.contains_key(*phase) || run.processor_seconds.contains_key(*phase)
    };
    let processor = alone && !run.processor_seconds.is_empty() && phases.iter().all(known);
    let seconds = sum(if processor { &run.processor_seconds } else { &run.seconds });
    let usual = usual.get(run.host.as_str()).copied()?;
    let tainted = run.yardstick_seconds > TAINTED * usual;
    let yardstick = if tainted { usual } else { run.yardstick_seconds };
    let slowness = yardstick / REFERENCE_YARDSTICK;
    (seconds > 0.0 && slowness > 0.0).then(|| Timed {
        seconds: (seconds / slowness).max(1e-4),
        processor,
        sound: processor || !tainted,
    })
}

/// Measurements with the first digits of their keys' digests.
struct Observed {
    seconds: Vec<(Observation, usize)>,
    bytes: Vec<(Observation, usize)>,
}

impl Observed {
    fn of<'a>(records: impl IntoIterator<Item = &'a Record>, methods: &[Method]) -> Self {
        // In the order of the keys: sums do not depend on that of the records.
        let by_digest: BTreeMap<String, &Record> =
            records.into_iter().map(|record| (record.key.digest(), record)).collect();
        let usual = usual(by_digest.values().copied());
        let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
        let mut by_processor = BTreeSet::new();
        for (digest, record) in by_digest {
            // What a limit stopped says what the limit was.
            if !matches!(record.result.status, Status::Done | Status::Diverged) {
                continue;
            }
            let Some(work) = Workload::of(&record.key, methods) else { continue };
            let digest = usize::from_str_radix(&digest[..8], 16).unwrap_or(0);
            if let Some(Timed { seconds: value, processor, sound }) =
                seconds_of(record, work.part, &usual)
            {
                if processor {
                    by_processor.insert(work.cell.clone());
                }
                let observation = Observation { work: work.clone(), value, sound };
                seconds.push((observation, digest, processor));
            }
            if record.run.peak_bytes > 0 {
                let value = record.run.peak_bytes as f64;
                bytes.push((Observation { work, value, sound: true }, digest));
            }
        }
        // The clock on the wall counts what ran beside a trial, idle as the machine was when its yardstick was
        // taken: where there are seconds of the processor it has nothing to say.
        seconds
            .retain(|(seen, _, processor)| *processor || !by_processor.contains(&seen.work.cell));
        let seconds = seconds.into_iter().map(|(seen, digest, _)| (seen, digest)).collect();
        Self { seconds, bytes }
    }

    /// The logarithm of the declared cost from which on a cell is among the largest fifth of the costs of its
    /// method, fits and searches apart; beyond all of them for a method with a single one.
    fn large(&self) -> BTreeMap<(Part, &str), f64> {
        let mut of_method: BTreeMap<(Part, &str), BTreeMap<&str, f64>> = BTreeMap::new();
        for (seen, _) in self.seconds.iter().chain(&self.bytes) {
            let work = &seen.work;
            let cells = of_method.entry((work.part, &work.method)).or_default();
            cells.insert(&work.cell, work.operations);
        }
        let threshold = |cells: BTreeMap<&str, f64>| {
            // Each size counts once: of many cells of one size a fifth would be all of them.
            let mut operations: Vec<f64> = cells.into_values().collect();
            operations.sort_by(f64::total_cmp);
            operations.dedup_by(|one, other| (*one - *other).abs() < 1e-9);
            let from = quantile(&mut operations, 0.8);
            if from > operations[0] { from } else { f64::INFINITY }
        };
        of_method.into_iter().map(|(method, cells)| (method, threshold(cells))).collect()
    }

    fn fit(&self, wanted: &dyn Fn(&Workload, usize) -> bool) -> (Regression, Regression) {
        let chosen = |all: &'_ [(Observation, usize)], quantity| {
            let some: Vec<&Observation> = all
                .iter()
                .filter(|(seen, digest)| wanted(&seen.work, *digest))
                .map(|(seen, _)| seen)
                .collect();
            Regression::fit(quantity, &some)
        };
        (chosen(&self.seconds, Quantity::Seconds), chosen(&self.bytes, Quantity::Bytes))
    }
}
