use crate::adjustment::{Adjusted, deal, learn};
use crate::division::AT_RANDOM;
use crate::header::{Chosen, DataNote};
use crate::kernel_matrix::require_whole;
use crate::prerequisites::{completed, require_room, room};
use crate::said::unscaled;
use crate::tuning::{Asked, has_space, tune_sample};
use crate::{
    Adjustment, Budget, ClassWeight, Division, Header, MAJOR, MINOR, Model, Table, WorkbenchError,
    require_weighing, score,
};
use mercer_datasets::{Impute, Preparation, Scaling, Schema, Truths};
use mercer_learning::{
    Fitting, LearningError, Limits, Method, Metric, Outcome, Predictor, Sample, Settings, Streams,
    Targets, Task, find,
};
use mercer_records::Tuning;
use std::fmt::Write as _;

/// What a user may choose about a fit.
///
/// ```
/// use mercer_datasets::Impute;
/// use mercer_learning::Settings;
/// use mercer_workbench::{Budget, Choices};
/// let choices = Choices {
///     settings: Settings::new().with("lambda", 1e-3),
///     impute: Some(Impute::Median),
///     tune: Some(Budget::default()),
///     ..Choices::plain()
/// };
/// assert_eq!(choices.seed, 1);
/// ```
#[derive(Clone)]
pub struct Choices<'a> {
    /// Settings in place of the method's defaults.
    pub settings: Settings,
    /// How inputs are scaled.
    pub scaling: Scaling,
    /// What stands in for missing numbers; `None` refuses them.
    pub impute: Option<Impute>,
    /// Whether settings are tuned first, and what that may cost.
    pub tune: Option<Budget>,
    /// Metric for tuning and ranking; the task's [`crate::primary`] metric by default.
    pub metric: Option<Metric>,
    /// Weights of classes in a fit, which multiply the weights of rows.
    pub class_weight: Option<ClassWeight>,
    /// Whether scores become probabilities by what rows held out inside the training part say.
    pub calibrate: bool,
    /// Metric that chooses the threshold of two classes, on such rows. Without it the usual threshold is used.
    pub threshold: Option<Metric>,
    /// Whether an evaluation says what each column is worth.
    pub importance: bool,
    /// Whether an evaluation also fits to parts of the training rows.
    pub learning_curve: bool,
    /// Root of the random streams.
    pub seed: u64,
    /// Threads of a fit.
    pub threads: usize,
    /// What may stop it.
    pub limits: &'a dyn Limits,
}

impl Choices<'_> {
    /// Defaults: standard scaling, nothing imputed or tuned, seed 1, one thread, no limits.
    pub fn plain() -> Self {
        Self {
            settings: Settings::new(),
            scaling: Scaling::Standard,
            impute: None,
            tune: None,
            metric: None,
            class_weight: None,
            calibrate: false,
            threshold: None,
            importance: false,
            learning_curve: false,
            seed: 1,
            threads: 1,
            limits: &mercer_learning::Unlimited,
        }
    }
}

/// Training rows on which a model is scored at most: enough for two digits, cheap for all methods.
const SCORED: usize = 10_000;

/// Methods that an error names at most.
const SHOWN: usize = 8;

/// Returns the method of that name, if it can do the task.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_learning::Task;
/// use mercer_workbench::method_for;
/// assert_eq!(method_for(BASELINES, "mean", Task::Regression)?.title, "mean");
/// let refused = method_for(BASELINES, "mean", Task::Classification { classes: 2 }).unwrap_err();
/// assert!(refused.to_string().contains("these can: majority, kernel-ridge"));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// [`LearningError::UnknownMethod`]; [`WorkbenchError::CannotDo`] names those that can.
pub fn method_for<'a>(
    methods: &'a [Method],
    name: &str,
    task: Task,
) -> Result<&'a Method, WorkbenchError> {
    let method = find(methods, name)?;
    if method.tasks.include(task) {
        return Ok(method);
    }
    let able = methods.iter().filter(|method| method.tasks.include(task)).map(|method| method.name);
    let mut able: Vec<&str> = able.collect();
    let more = able.split_off(able.len().min(SHOWN)).len();
    let mut able = able.join(", ");
    if more > 0 {
        let _ = write!(able, " and {more} more (mercer list methods)");
    }
    Err(WorkbenchError::CannotDo { method: name.to_owned(), task: task.name(), able })
}

/// A method fitted to a sample, after tuning if that was asked for.
pub(crate) struct FittedTo {
    pub outcome: Outcome<Box<dyn Predictor>>,
    pub settings: Settings,
    pub tuning: Option<Tuning>,
    pub adjustment: Option<Adjustment>,
}

/// Fits a method to a prepared sample; rows are held out as the division says, if there is one.
pub(crate) fn fit_sample(
    method: &Method,
    sample: &Sample,
    division: Option<&Division>,
    choices: &Choices<'_>,
    streams: &Streams,
) -> Result<FittedTo, WorkbenchError> {
    sample.require_two_classes()?;
    method.check_active(&choices.settings, &sample.shape())?;
    require_room(method, sample, choices)?;
    let mut at_random = false;
    let tuning = match choices.tune.filter(|_| has_space(method, &sample.shape())) {
        Some(budget) => {
            let fixed = &choices.settings;
            let asked = Asked::of(budget, choices, division);
            let (found, random) =
                tune_sample(method, sample, fixed, &asked, streams, choices.limits)?;
            at_random = random;
            Some(found)
        }
        None => None,
    };
    let settings = completed(method, &sample.shape(), choices, tuning.as_ref());
    let learner = method.learner(&settings, sample.task())?;
    let fit_to = |rows: &Sample, streams: &Streams| {
        // What a method declares is for rows with all their numbers; it reserves what it takes.
        if !(rows.is_sparse() && learner.keeps_sparse()) {
            room(method, &rows.shape(), &settings, choices.limits)?;
        }
        Ok::<_, WorkbenchError>(learner.fit(rows, &mut fitting(choices, streams))?)
    };
    let named = |e: WorkbenchError| e.by_settings(method, &settings, sample.task(), false);
    let asked = (choices.calibrate, choices.threshold);
    let held = streams.child("held out");
    let folds = &mut held.rng("folds");
    let numbers = sample.numbers().map(|(numbers, _)| numbers);
    let division = division.zip(numbers).and_then(|(division, rows)| division.within(rows));
    let deal = |labels: &[u32]| {
        let (held, random) = deal(labels, division.as_ref(), folds);
        at_random |= random;
        held
    };
    let adjustment = learn(sample, asked, choices.scaling, deal, |rows, fold| {
        let own = held.child(&format!("fold {fold}"));
        Ok(fit_to(rows, &own).map_err(named)?.predictor)
    })?;
    let mut outcome = fit_to(sample, streams).map_err(named)?;
    outcome.predictor = Adjusted::of(outcome.predictor, adjustment);
    if at_random {
        outcome.facts.insert(AT_RANDOM.to_owned(), 1.0);
    }
    Ok(FittedTo { outcome, settings, tuning, adjustment })
}

/// Settings beside the defaults of all that are not among them, which a learner reads as the same.
fn whole(method: &Method, settings: &Settings) -> Settings {
    let declared = (method.settings)().into_iter();
    let defaults =
        declared.fold(Settings::new(), |all, setting| all.with(setting.name, setting.default));
    defaults.overridden_by(settings)
}

pub(crate) fn fitting<'a>(choices: &Choices<'a>, streams: &Streams) -> Fitting<'a> {
    let (threads, limits) = (choices.threads.max(1), choices.limits);
    let streams = streams.child("fit");
    Fitting { streams, threads, limits, every_class: true, ..Fitting::seeded(choices.seed) }
}

/// Fits a method to all rows of a table.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Table, fit};
/// let text = "x,kind\n-1,a\n-2,a\n1,b\n2,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
/// assert_eq!(model.header.training["accuracy"], 1.0);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// If the method cannot do the task or refuses a setting, a number is missing, or the fit fails.
pub fn fit(
    methods: &[Method],
    name: &str,
    table: &Table,
    choices: &Choices<'_>,
) -> Result<Model, WorkbenchError> {
    let method = method_for(methods, name, table.task())?;
    require_weighing(methods, name, table, choices)?;
    require_whole(table, &choices.settings)?;
    let rows: Vec<usize> = (0..table.rows()).collect();
    let preparation = table.prepare(&rows, choices.scaling, choices.impute)?;
    let sample = table.training(&rows, &preparation, choices)?;
    let streams = Streams::root(choices.seed);
    let fitted = fit_sample(method, &sample, table.division.as_ref(), choices, &streams)
        .map_err(|error| error.by_name(&table.schema))?;
    let (training, scored) = scores_on(&*fitted.outcome.predictor, &sample, &preparation)?;
    let schema = table.schema.clone();
    let FittedTo { outcome, settings, tuning, adjustment } = fitted;
    let data =
        DataNote { file: table.name.clone(), rows: sample.rows(), sha256: table.sha256.clone() };
    let mut header = header_of(method, &settings, schema, preparation, data, choices, &outcome);
    if let Some(chosen) = &mut header.chosen {
        chosen.weights = table.weights.as_ref().map(|weights| weights.column.clone());
    }
    (header.training, header.training_rows, header.tuning) = (training, scored, tuning);
    header.adjustment = adjustment;
    Ok(Model { header, predictor: outcome.predictor })
}

/// The header of a model, but for its scores and its tuning.
pub(crate) fn header_of(
    method: &Method,
    settings: &Settings,
    schema: Schema,
    preparation: Preparation,
    data: DataNote,
    choices: &Choices<'_>,
    outcome: &Outcome<Box<dyn Predictor>>,
) -> Header {
    Header {
        format: format!("{MAJOR}.{MINOR}"),
        library: env!("CARGO_PKG_VERSION").to_owned(),
        method: method.name.to_owned(),
        revision: method.revision,
        settings: whole(method, settings),
        chosen: Some(Chosen {
            given: choices.settings.iter().map(|(name, _)| name.to_owned()).collect(),
            scaling: choices.scaling,
            impute: choices.impute,
            weights: None,
            class_weight: choices.class_weight.as_ref().map(ToString::to_string),
        }),
        seed: choices.seed,
        threads: choices.threads.max(1),
        buffer: None,
        schema,
        preparation,
        data,
        training: crate::Scores::new(),
        training_rows: 0,
        convergence: outcome.convergence,
        facts: outcome.facts.clone(),
        tuning: None,
        adjustment: None,
        state: outcome.predictor.state().outline(),
    }
}

/// Scores of a predictor on the first of its training rows, in the units of the target, and how
/// many these are.
pub(crate) fn scores_on(
    predictor: &dyn Predictor,
    sample: &Sample,
    preparation: &Preparation,
) -> Result<(crate::Scores, usize), WorkbenchError> {
    let rows: Vec<usize> = (0..sample.rows().min(SCORED)).collect();
    let first = sample.select(&rows)?;
    let predictions = unscaled(predictor.predict_rows(first.matrix())?, preparation);
    let truths = match first.targets() {
        Targets::Classes { labels, .. } => Truths::Classes(labels.clone()),
        Targets::Real(values) => {
            let standard = preparation.target();
            let back = |&value: &f64| standard.map_or(value, |standard| standard.invert(value));
            Truths::Values(values.iter().map(back).collect())
        }
    };
    let scores = score::scores(&predictions, &truths, sample.task().outputs());
    Ok((finite(scores)?, rows.len()))
}

pub(crate) fn finite(scores: crate::Scores) -> Result<crate::Scores, WorkbenchError> {
    match scores.iter().find(|(_, value)| !value.is_finite()) {
        Some((name, value)) => {
            let reason = format!("`{name}` of the fitted model is {value}");
            Err(LearningError::Numerical { operation: "scoring", reason }.into())
        }
        None => Ok(scores),
    }
}
