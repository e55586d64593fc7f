use crate::calibrate::calibrated;
use crate::checkpoint::TrialCheckpoints;
use crate::clock::Clock;
use crate::curve::Curve;
use crate::{
    HarnessError, Parts, Path, SplitRule, Stop, Trial, TrialLimits, TuningSource, host, prepare,
    reference_seconds, tune,
};
use mercer_datasets::{DataError, Dataset, Library};
use mercer_learning::{
    Fitted, Fitting, Fold, LearningError, Method, Predictions, Probe, Sample, Settings, find, score,
};
use mercer_records::{CurvePoint, Key, Predicted, Record, Run, Status, Store, TrialResult, Tuning};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a trial is kept without [`Runner::checkpoints_every`].
const CHECKPOINT_EVERY: Duration = Duration::from_mins(5);

/// What trials need: methods, data, the record directory, and the flag that stops them.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// use mercer_harness::{Runner, Stop};
/// use mercer_datasets::Library;
/// use mercer_records::Store;
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path())?;
/// let runner = Runner::new(METHODS, Library::of_folders([])?, store, Stop::default());
/// let (first, second) = (runner.dataset("iris").unwrap(), runner.dataset("iris").unwrap());
/// assert!(std::sync::Arc::ptr_eq(&first, &second)); // loaded once, shared by all trials
/// assert!(runner.dataset("mnist").unwrap_err().is_missing());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Runner<'a> {
    /// The registered methods.
    pub methods: &'a [Method],
    /// Where data is found.
    pub library: Library,
    /// Where records go.
    pub store: Store,
    /// Asks every trial to stop.
    pub stop: Stop,
    /// Trials that are whole curves.
    pub paths: &'a [Path],
    /// Revision of the source, for the records.
    pub code: String,
    checkpoint_every: Duration,
    loaded: Mutex<HashMap<String, Arc<OnceLock<Loaded>>>>,
}

type Loaded = Result<Arc<Dataset>, Arc<DataError>>;

impl<'a> Runner<'a> {
    /// Creates a runner with no data loaded yet.
    pub fn new(methods: &'a [Method], library: Library, store: Store, stop: Stop) -> Self {
        Self {
            methods,
            library,
            store,
            stop,
            paths: &[],
            code: String::new(),
            checkpoint_every: CHECKPOINT_EVERY,
            loaded: Mutex::default(),
        }
    }

    /// Adds these paths; their methods are among the planner's.
    #[must_use]
    pub fn with_curve_trials(mut self, paths: &'a [Path]) -> Self {
        self.paths = paths;
        self
    }

    /// Sets the revision of the source that the program was built from.
    #[must_use]
    pub fn with_code(mut self, code: &str) -> Self {
        code.clone_into(&mut self.code);
        self
    }

    /// Sets how often a trial keeps a checkpoint, where its method can continue. A trial that ends sooner leaves
    /// nothing but its record. It changes no result.
    #[must_use]
    pub const fn checkpoints_every(mut self, time: Duration) -> Self {
        self.checkpoint_every = time;
        self
    }

    /// Returns a dataset, loaded once and shared by all trials. Others may load at the same time.
    ///
    /// # Errors
    /// As loading it the first time.
    pub fn dataset(&self, name: &str) -> Result<Arc<Dataset>, Arc<DataError>> {
        let slot = {
            let mut loaded = self.loaded.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            Arc::clone(loaded.entry(name.to_owned()).or_default())
        };
        slot.get_or_init(|| self.library.load(name).map(Arc::new).map_err(Arc::new)).clone()
    }

    /// Forgets a dataset; trials that hold it keep it.
    pub fn forget(&self, name: &str) {
        self.loaded.lock().unwrap_or_else(std::sync::PoisonError::into_inner).remove(name);
    }
}

/// Runs a trial and writes its record. An error of the fit is a record too; only errors of the data, of the record
/// directory, and an interruption come back as errors.
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
/// use mercer_harness::execute;
/// let record = execute(&trials[0], &runner)?;
/// assert_eq!(record.key, trials[0].key);
/// assert!(record.result.metrics["accuracy"] <= 0.5); // three classes of 50 rows
/// assert_eq!(execute(&trials[0], &runner)?.result_sha256, record.result_sha256);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`HarnessError::Data`], [`HarnessError::Version`], [`HarnessError::Record`], or
/// [`LearningError::Interrupted`].
pub fn execute(trial: &Trial, runner: &Runner<'_>) -> Result<Record, HarnessError> {
    let mut run = Run {
        host: host().to_owned(),
        version: version(),
        code: runner.code.clone(),
        yardstick_seconds: reference_seconds(),
        ..Run::default()
    };
    let mut clock = Clock::start();
    let dataset = runner.dataset(&trial.key.dataset).map_err(HarnessError::Data)?;
    clock.lap("load");
    if dataset.fingerprint != trial.key.fingerprint {
        let (planned, found) = (trial.key.fingerprint.clone(), dataset.fingerprint.clone());
        return Err(HarnessError::Version { dataset: dataset.name.clone(), planned, found });
    }
    let limit = |name: &str| trial.key.limits.get(name).and_then(Value::as_f64);
    let (seconds, bytes) = (limit("seconds"), limit("bytes").map(|bytes| bytes as u64));
    let limits = TrialLimits::start(seconds, bytes, runner.stop.clone());
    let parts = prepare(&dataset, &trial.protocol, &trial.streams)?;
    clock.lap("prepare");
    // A panic is a fault of one learner: it costs its trial, not the run.
    let attempted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let fold = trial.protocol.split.and_then(|rule| rule.fold(dataset.parts.train.len()));
        attempt(trial, runner, &parts, fold, &limits, &mut clock)
    }));
    let attempted = attempted.unwrap_or_else(|panic| Err(panicked(panic.as_ref()).into()));
    let result = match attempted {
        Ok(result) => result,
        Err(HarnessError::Learning(error)) if error != LearningError::Interrupted => {
            failed(&error, &parts)
        }
        Err(other) => return Err(other),
    };
    (run.seconds, run.processor_seconds) = (clock.wall, clock.processor);
    run.peak_bytes = limits.peak_bytes();
    run.finished = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let record = Record::new(trial.key.clone(), result, run);
    runner.store.put(&record)?;
    Ok(record)
}

/// What a learner said when it panicked.
fn panicked(panic: &(dyn std::any::Any + Send)) -> LearningError {
    let said = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    LearningError::Numerical {
        operation: "the fit",
        reason: format!("it panicked: {}", said.unwrap_or_else(|| "no message".to_owned())),
    }
}

/// The record of a trial's tuning: from the archive, from the directory, or made now.
fn tuned(
    trial: &Trial,
    runner: &Runner<'_>,
    parts: &Parts,
    limits: &TrialLimits,
) -> Result<Option<Arc<Tuning>>, HarnessError> {
    let TuningSource::Tuner { tuner, key, archived } = &trial.tuning else { return Ok(None) };
    if let Some(tuning) = archived {
        return Ok(Some(Arc::clone(tuning)));
    }
    if let Some(found) = runner.store.get(key)?.and_then(|record| record.result.tuning) {
        return Ok(Some(found));
    }
    let mut clock = Clock::start();
    let method = find(runner.methods, &trial.key.method)?;
    let streams = trial.streams.child("tuning");
    let tuning =
        tune(method, &parts.train, &trial.settings, &trial.anchor, tuner, &streams, limits)?;
    let tuning = Arc::new(tuning);
    clock.lap("tune");
    let result = TrialResult {
        tuning: Some(Arc::clone(&tuning)),
        settings: tuning.chosen.clone(),
        ..empty(Status::Done, parts)
    };
    let run = Run {
        host: host().to_owned(),
        version: version(),
        code: runner.code.clone(),
        yardstick_seconds: reference_seconds(),
        peak_bytes: limits.peak_bytes(),
        seconds: clock.wall,
        processor_seconds: clock.processor,
        finished: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
    };
    runner.store.put(&Record::new(Key::clone(key), result, run))?;
    Ok(Some(tuning))
}

/// The settings of the fit: the defaults, over them the trial's, and what was tuned.
fn settled(method: &Method, trial: &Trial, parts: &Parts, tuning: Option<&Tuning>) -> Settings {
    let mut settings = (method.defaults)(&parts.train.shape()).overridden_by(&trial.settings);
    if let Some(tuning) = tuning {
        // What the key fixes stays: a profile may have cut it below what was tuned with.
        let free = |name: &&String| !trial.key.settings.contains_key(*name);
        for name in tuning.chosen.keys().filter(free) {
            settings = settings.with(name, tuning.chosen[name].clone());
        }
    }
    settings
}

fn attempt(
    trial: &Trial,
    runner: &Runner<'_>,
    parts: &Parts,
    fold: Option<Fold>,
    limits: &TrialLimits,
    clock: &mut Clock,
) -> Result<TrialResult, HarnessError> {
    if let Some(path) = runner.paths.iter().find(|path| path.method.name == trial.key.method) {
        return follow(path, trial, parts, limits, clock);
    }
    let method = find(runner.methods, &trial.key.method)?;
    let tuning = tuned(trial, runner, parts, limits)?;
    clock.lap("tune");
    let settings = settled(method, trial, parts, tuning.as_deref());
    let learner = method.learner(&settings, parts.train.task())?;
    let looks = RefCell::new(Vec::new());
    let curve = |every| Curve::new(every, trial.look_at_losses, parts, &looks);
    let mut curve = trial.look_every.map(curve).transpose()?;
    let mut checkpoints = TrialCheckpoints::new(
        &runner.store,
        without_effort(&trial.key, &settings, method),
        runner.checkpoint_every,
        trial.look_every.map(|every| (every, &looks)),
    );
    let mut fitting = Fitting {
        streams: trial.streams.child("fit"),
        limits,
        probe: curve.as_mut().map(|curve| curve as &mut dyn Probe),
        fold,
        checkpoints: Some(&mut checkpoints),
        ..Fitting::seeded(0)
    };
    let Fitted { predictor, convergence, facts } = learner.fit(&parts.train, &mut fitting)?;
    clock.lap("fit");
    clock.add("fit", checkpoints.seconds_before());
    let predictions = predictor.predict_rows(parts.test.matrix())?;
    let mut metrics = score(&predictions, &parts.test);
    clock.lap("predict");
    if trial.protocol.calibrate == Some(true) {
        let streams = trial.streams.child("calibration");
        metrics.extend(calibrated(&*learner, &*predictor, parts, &streams, limits)?);
        clock.lap("calibrate");
    }
    check_finite(&metrics)?;
    let wrong = matches!(trial.protocol.split, Some(SplitRule::Official { .. }))
        .then(|| misclassified(&predictions, &parts.test))
        .flatten();
    let predicted = trial.keep_predictions.then_some(match predictions {
        Predictions::Classes(labels) => Predicted::Classes(labels),
        Predictions::Real(values) => Predicted::Real(values),
    });
    Ok(TrialResult {
        metrics,
        facts,
        convergence: json!(convergence),
        settings: named(&settings),
        tuning: tuning
            .map(|tuning| Arc::new(Tuning { chosen: tuning.chosen.clone(), history: Vec::new() })),
        curve: looks.into_inner(),
        predicted,
        wrong,
        ..empty(Status::Done, parts)
    })
}

/// The error where a metric is no finite number.
fn check_finite(metrics: &BTreeMap<String, f64>) -> Result<(), LearningError> {
    match metrics.iter().find(|(_, value)| !value.is_finite()) {
        Some((name, value)) => {
            let reason = format!("{name} on the test rows is {value}");
            Err(LearningError::Numerical { operation: "scoring", reason })
        }
        None => Ok(()),
    }
}

/// Runs a path: its points are the curve of the record.
fn follow(
    path: &Path,
    trial: &Trial,
    parts: &Parts,
    limits: &TrialLimits,
    clock: &mut Clock,
) -> Result<TrialResult, HarnessError> {
    let settings = (path.method.defaults)(&parts.train.shape()).overridden_by(&trial.settings);
    let mut fitting = Fitting { streams: trial.streams.child("fit"), limits, ..Fitting::seeded(0) };
    let curve = (path.run)(parts, &settings, &mut fitting)?;
    clock.lap("fit");
    let convergence = told(&curve);
    Ok(TrialResult { curve, convergence, settings: named(&settings), ..empty(Status::Done, parts) })
}

/// How the fits of a curve ended, where its points say it.
fn told(curve: &[CurvePoint]) -> Value {
    match curve.iter().filter_map(CurvePoint::open_fits).reduce(|a, b| a + b) {
        None => Value::Null,
        Some(0) => json!({ "status": "converged" }),
        Some(fits) => json!({ "status": "not-converged", "fits": fits }),
    }
}

/// Indices of the rows whose predicted class is wrong.
fn misclassified(predictions: &Predictions, test: &Sample) -> Option<Vec<u32>> {
    match (predictions, test.labels()) {
        (Predictions::Classes(labels), Some(truth)) => {
            let rows = labels.iter().zip(truth).enumerate();
            Some(rows.filter(|(_, (p, t))| p != t).map(|(row, _)| row as u32).collect())
        }
        _ => None,
    }
}

/// The key of a trial with all its settings, but without the one that only says how long it is.
fn without_effort(key: &Key, settings: &Settings, method: &Method) -> Key {
    let mut settings = named(settings);
    if let Some(effort) = method.resource {
        settings.remove(effort);
    }
    Key { settings, ..key.clone() }
}

fn named(settings: &Settings) -> BTreeMap<String, Value> {
    settings.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

fn failed(error: &LearningError, parts: &Parts) -> TrialResult {
    let status = match error {
        LearningError::Diverged { .. } => Status::Diverged,
        LearningError::OutOfTime { .. } => Status::OutOfTime,
        LearningError::OutOfMemory { .. } => Status::OutOfMemory,
        _ => Status::Failed,
    };
    TrialResult { error: Some(error.to_string()), ..empty(status, parts) }
}

fn empty(status: Status, parts: &Parts) -> TrialResult {
    TrialResult {
        status,
        error: None,
        metrics: BTreeMap::new(),
        facts: BTreeMap::new(),
        convergence: Value::Null,
        settings: BTreeMap::new(),
        tuning: None,
        curve: Vec::new(),
        predicted: None,
        wrong: None,
        rows: [parts.train.rows() as u64, parts.test.rows() as u64],
    }
}

fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
