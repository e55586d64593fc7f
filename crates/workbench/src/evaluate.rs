use crate::fit::{finite, of_matrix, said_of};
use crate::importance::{CurvePoint, Dependence, Importance, Worth};
use crate::intervals::{Interval, NamedInterval, alike};
use crate::passes::{ONE_CLASS, fit_part};
use crate::{
    Choices, Division, Model, Scores, Table, WorkbenchError, method_for, primary, require_weighing,
};
use mercer_datasets::{Split, Truths, k_folds, random_split, stratified_split};
use mercer_learning::{
    Method, Metric, Predictions, Settings, Streams, Task, confusion, counted, fact, folds,
};
use mercer_statistics::{corrected_t, summarise};
use rand::Rng;
use serde::Serialize;
use std::collections::BTreeMap;

/// How the rows are divided into training and test rows.
///
/// ```
/// use mercer_workbench::Splitting;
/// assert_eq!(Splitting::default().describe(), "5 folds, 2 times");
/// let splitting = Splitting::HoldOut { test: 0.2, repeats: 10 };
/// assert_eq!(splitting.test_over_train(), 0.25);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Splitting {
    /// `repeats` times into `folds` parts, each of which is the test part once.
    Folds {
        /// Number of parts, at least 2.
        folds: usize,
        /// How often the rows are shuffled anew.
        repeats: usize,
    },
    /// `repeats` random test parts of this share.
    HoldOut {
        /// Share of the rows that test, in `(0, 1)`.
        test: f64,
        /// How many.
        repeats: usize,
    },
}

impl Default for Splitting {
    /// Ten splits: five folds, twice.
    fn default() -> Self {
        Self::Folds { folds: 5, repeats: 2 }
    }
}

impl Splitting {
    /// The splits of the rows of these targets; they depend on the seed and not on any method.
    ///
    /// Classes are spread over the parts as evenly as it goes. The row of a class that has no other
    /// trains in every split, and is tested in none.
    ///
    /// ```
    /// use mercer_datasets::Truths;
    /// use mercer_learning::Streams;
    /// use mercer_workbench::Splitting;
    /// let truths = Truths::Classes(vec![0, 0, 0, 1, 1, 1, 2]);
    /// let splitting = Splitting::Folds { folds: 3, repeats: 1 };
    /// for split in splitting.splits(&truths, &Streams::root(1))? {
    ///     assert_eq!(split.test.len(), 2); // one row of either class
    ///     assert!(split.train.contains(&6));
    /// }
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorkbenchError::Argument`] if there are too few rows, or nothing to do.
    pub fn splits(self, truths: &Truths, streams: &Streams) -> Result<Vec<Split>, WorkbenchError> {
        let refused =
            |name, value: String, must: String| Err(WorkbenchError::Argument { name, value, must });
        let labels = match truths {
            Truths::Classes(labels) => Some(labels.as_slice()),
            Truths::Values(_) => None,
        };
        let alone = labels.map_or_else(Vec::new, singles);
        let rows = truths.len() - alone.len();
        let mut splits = Vec::new();
        let repeats = self.repeats();
        if repeats == 0 {
            return refused("repeats", "0".to_owned(), "at least 1".to_owned());
        }
        for repeat in 0..repeats {
            let mut rng = streams.child("splits").rng(&format!("repeat {repeat}"));
            match self {
                Self::Folds { folds, .. } => {
                    if folds < 2 || folds > rows {
                        if rows < 2 {
                            // No number of folds would do.
                            let must =
                                if alone.is_empty() { "at least 2 to divide" } else { ONE_EACH };
                            return refused("rows", truths.len().to_string(), must.to_owned());
                        }
                        let must = if alone.is_empty() {
                            format!("at least 2 and at most the {rows} rows")
                        } else {
                            format!("at least 2 and at most the {rows} rows whose class has others")
                        };
                        return refused("folds", folds.to_string(), must);
                    }
                    splits.extend(match labels {
                        Some(labels) => stratified_folds(labels, &alone, folds, &mut rng),
                        None => k_folds(rows, folds, &mut rng),
                    });
                }
                Self::HoldOut { test, .. } => {
                    if !(test > 0.0 && test < 1.0) {
                        let must = "above 0 and below 1".to_owned();
                        return refused("holdout", test.to_string(), must);
                    }
                    if rows < 2 {
                        let must = "at least 2 to hold some out".to_owned();
                        return refused("rows", rows.to_string(), must);
                    }
                    splits.push(match labels {
                        Some(labels) => stratified_split(labels, 1.0 - test, &mut rng),
                        None => random_split(rows, 1.0 - test, &mut rng),
                    });
                }
            }
        }
        Ok(splits)
    }

    /// How often the rows are divided anew.
    pub(crate) const fn repeats(self) -> usize {
        match self {
            Self::Folds { repeats, .. } | Self::HoldOut { repeats, .. } => repeats,
        }
    }

    /// `n_test / n_train`, which the corrected test needs.
    ///
    /// ```
    /// use mercer_workbench::Splitting;
    /// let splitting = Splitting::Folds { folds: 5, repeats: 2 };
    /// assert_eq!(splitting.test_over_train(), 0.25); // one part tests, four train
    /// ```
    pub const fn test_over_train(self) -> f64 {
        match self {
            Self::Folds { folds, .. } => 1.0 / (folds as f64 - 1.0),
            Self::HoldOut { test, .. } => test / (1.0 - test),
        }
    }

    /// In words.
    ///
    /// ```
    /// use mercer_workbench::Splitting;
    /// assert_eq!(Splitting::Folds { folds: 10, repeats: 1 }.describe(), "10 folds, once");
    /// let splitting = Splitting::HoldOut { test: 0.3, repeats: 4 };
    /// assert_eq!(splitting.describe(), "30 % of the rows held out, 4 times");
    /// ```
    pub fn describe(self) -> String {
        let times =
            |count: usize| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        match self {
            Self::Folds { folds, repeats } => format!("{folds} folds, {}", times(repeats)),
            Self::HoldOut { test, repeats } => {
                format!("{:.0} % of the rows held out, {}", 100.0 * test, times(repeats))
            }
        }
    }
}

/// What rows must be to be held out.
const ONE_EACH: &str = "more than one of some class: every class has a single row, which can only train; add rows, or give \
     numbers as targets with --task regression";

/// Rows whose class has no other row.
fn singles(labels: &[u32]) -> Vec<usize> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_insert(0usize) += 1;
    }
    (0..labels.len()).filter(|&row| counts[&labels[row]] == 1).collect()
}

/// Folds of all rows but those `alone`, with each class spread over them; the latter train.
fn stratified_folds(
    labels: &[u32],
    alone: &[usize],
    count: usize,
    rng: &mut impl rand::Rng,
) -> Vec<Split> {
    let rows: Vec<usize> = (0..labels.len()).filter(|row| !alone.contains(row)).collect();
    let of_rows: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
    let held = folds(&of_rows, count, rng);
    (0..count)
        .map(|fold| {
            let (test, train): (Vec<_>, Vec<_>) =
                rows.iter().zip(&held).partition(|&(_, &held)| held == fold);
            let row = |(row, _): (&usize, &usize)| *row;
            let mut train: Vec<usize> = train.into_iter().map(row).chain(alone.to_vec()).collect();
            train.sort_unstable();
            Split { train, test: test.into_iter().map(row).collect() }
        })
        .collect()
}

/// A metric over several splits.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// use mercer_workbench::{Choices, Splitting, Table, evaluate};
/// let splitting = Splitting::HoldOut { test: 0.5, repeats: 1 };
/// let found = evaluate(BASELINES, "majority", &table, splitting, &Choices::plain(), |_, _| {})?;
/// let accuracy = &found.estimates["accuracy"];
/// assert_eq!(accuracy.std, None); // of one split there is no spread
/// let (low, high) = accuracy.interval.expect("Wilson's, of the test rows");
/// assert!(low < accuracy.mean && accuracy.mean < high && high - low > 0.5); // four rows say little
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// Its mean.
    pub mean: f64,
    /// Its deviation over the splits, divided by `J − 1`; `None` of one split.
    pub std: Option<f64>,
    /// 95 % interval of the mean, if one can be had: over splits by the corrected resampled t
    /// (Nadeau and Bengio 2003), unless all of them give the same; on one test part by Wilson for accuracies, joined over classes for
    /// balanced ones, and for all other metrics by a bootstrap of the test rows
    /// ([`mercer_statistics::row_bootstrap`]), with the model held fixed.
    pub interval: Option<(f64, f64)>,
    /// Which of them it is.
    pub interval_by: Option<String>,
}

/// How well a method does on rows that it was not fitted to.
///
/// ```
/// # use mercer_baselines::BASELINES;
/// # use mercer_datasets::{RowFile, SchemaOptions};
/// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// # let table = Table::read(&file, &SchemaOptions::default())?;
/// use mercer_workbench::{Choices, Splitting, Table, evaluate};
/// let splitting = Splitting::Folds { folds: 4, repeats: 1 };
/// let found = evaluate(BASELINES, "majority", &table, splitting, &Choices::plain(), |_, _| {})?;
/// let accuracy = &found.estimates["accuracy"];
/// assert_eq!((accuracy.mean, accuracy.std), (0.5, Some(0.0)));
/// assert_eq!(accuracy.interval, None); // four folds that say the same are no certainty
/// assert_eq!(found.splits[3]["accuracy"], 0.5);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The method.
    pub method: String,
    /// The task.
    pub task: &'static str,
    /// Metrics of each split.
    pub splits: Vec<Scores>,
    /// The same over all splits, accuracies as fractions, errors in units of the target.
    pub estimates: BTreeMap<String, Estimate>,
    /// Settings of each split: they differ where they were tuned.
    pub settings: Vec<Settings>,
    /// Test rows of the first split.
    pub test_rows: usize,
    /// Of classes: how many rows of each (down) were predicted as each (across), over all splits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Vec<Vec<u64>>>,
    /// What each column of the file is worth, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Vec<Importance>>,
    /// How the prediction depends on the columns that matter most, with the importance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependence: Option<Vec<Dependence>>,
    /// Scores of fits to parts of the training rows, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_curve: Option<Vec<CurvePoint>>,
    /// What is to be known beside the scores: rows that a method left out, classes that no split tests.
    pub notes: Vec<String>,
    /// What it says of the test rows of the first repeat.
    #[serde(skip)]
    pub(crate) said: NamedInterval,
}

/// Fits a method on the training part of every split and scores it on the test part. Filling,
/// scaling and tuning see the training part only.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, evaluate};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let splitting = Splitting::Folds { folds: 2, repeats: 1 };
/// let found =
///     evaluate(BASELINES, "kernel-ridge", &table, splitting, &Choices::plain(), |_, _| {})?;
/// assert_eq!((found.splits.len(), found.test_rows), (2, 4));
/// assert!(found.estimates["accuracy"].mean > 0.9);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// If the method cannot do the task, or a fit fails.
pub fn evaluate(
    methods: &[Method],
    name: &str,
    table: &Table,
    splitting: Splitting,
    choices: &Choices<'_>,
    mut told: impl FnMut(usize, usize),
) -> Result<Evaluation, WorkbenchError> {
    let method = method_for(methods, name, table.task())?;
    require_weighing(methods, name, table, choices)?;
    if choices.importance && of_matrix(&choices.settings) {
        return Err(WorkbenchError::Argument {
            name: "importance",
            value: "asked for".to_owned(),
            must: "left out where the inputs are a kernel matrix (kernel=precomputed): its columns are rows of the table"
                .to_owned(),
        });
    }
    let streams = Streams::root(choices.seed);
    let splits = table.splits(splitting, &streams)?;
    let splitting = table.division.as_ref().map_or(splitting, |own| own.splitting(splitting));
    let (mut scores, mut settings, mut recalls) = (Vec::new(), Vec::new(), Vec::new());
    let mut all_said = Vec::new();
    let mut notes = split_notes(table);
    notes.extend(table.division.as_ref().and_then(Division::note));
    let mut intervals = BTreeMap::new();
    let mut worth = Worth::new(table, choices);
    let metric = choices.metric.unwrap_or(primary(table.task())).name();
    // Splits of the first repeat.
    let first = splits.len() / splitting.repeats().max(1);
    for (index, split) in splits.iter().enumerate() {
        choices.limits.check()?;
        let own = streams.child(&format!("split {index}"));
        let (fitted, preparation, rows) = fit_part(method, table, &split.train, choices, &own)?;
        let said = said_of(&*fitted.outcome.predictor, table, &split.test, &preparation)?;
        scores.push(finite(said.scores())?);
        recalls.push(said.recalls());
        if choices.importance {
            let score = scores[index].get(metric).copied();
            let predictor = &*fitted.outcome.predictor;
            worth.columns(predictor, table, split, &preparation, (score, &own))?;
        }
        if choices.learning_curve && index < first {
            worth.parts(method, table, split, choices, &own)?;
        }
        if splits.len() == 1 {
            intervals = said.intervals(resampling_seed(&streams))?;
        }
        all_said.push(said);
        if index == 0 {
            if let Some(buffer) =
                table.buffer().filter(|&buffer| choices.tune.is_some() && buffer < rows)
            {
                notes.push(format!(
                    "{name} was tuned on the first of {rows} training rows, {buffer} at most (--buffer)"
                ));
            }
            let facts = &fitted.outcome.facts;
            notes.extend(rows_left_out(name, facts, rows));
            notes.extend(warnings(name, &fitted.settings, facts, rows));
        }
        if let Some(warning) = classes_missing(name, &fitted.outcome.facts) {
            notes.push(format!("split {} of {}: {warning}", index + 1, splits.len()));
        }
        let (ended, task) = (fitted.outcome.convergence, table.task());
        if let Some(warning) = method.unconverged(ended, &fitted.settings, task) {
            notes.push(format!("{name}, split {} of {}: {warning}", index + 1, splits.len()));
        }
        settings.push(fitted.settings);
        told(index + 1, splits.len());
    }
    let test_rows = splits[0].test.len();
    let importance = choices
        .importance
        .then(|| worth.importance(table, splitting.test_over_train()))
        .transpose()?;
    let whole: Vec<f64> =
        scores.iter().take(first).filter_map(|own| own.get(metric).copied()).collect();
    let learning_curve = choices.learning_curve.then(|| worth.curve(&whole, splits[0].train.len()));
    let balanced = balance(table, splitting, &mut scores, &recalls);
    let confusion = confused(&all_said);
    let (said, pooled) = pooled(splitting, &scores, all_said);
    let mut estimates = estimates(&scores, intervals, splitting.test_over_train())?;
    let balanced =
        balanced.map(|(mean, note)| (Metric::BalancedAccuracy.name().to_owned(), Some(mean), note));
    for (name, mean, note) in balanced.into_iter().chain(pooled) {
        let of_folds = |mean| Estimate { mean, std: None, interval: None, interval_by: None };
        estimates.extend(mean.map(|mean| (name, of_folds(mean))));
        notes.push(note);
    }
    Ok(Evaluation {
        method: method.name.to_owned(),
        task: table.task().name(),
        splits: scores,
        estimates,
        settings,
        test_rows,
        confusion,
        importance,
        dependence: choices.importance.then_some(worth.dependence),
        learning_curve,
        notes,
        said,
    })
}

/// The sum of the confusion matrices of some test parts.
pub(crate) fn confused(said: &[NamedInterval]) -> Option<Vec<Vec<u64>>> {
    let of = |said: &NamedInterval| match (&said.predictions, &said.truths) {
        (Predictions::Classes(labels), Truths::Classes(truth)) => {
            Some(confusion(labels, truth, said.classes))
        }
        _ => None,
    };
    let added = |mut sum: Vec<Vec<u64>>, other: Vec<Vec<u64>>| {
        for (own, others) in sum.iter_mut().zip(other) {
            own.iter_mut().zip(others).for_each(|(own, other)| *own += other);
        }
        sum
    };
    said.iter().filter_map(of).reduce(added)
}

/// Takes the balanced accuracy from the splits whose test part lacks a class that could be tested: a
/// mean over fewer classes is another quantity. What then stands for it over all splits, and a note;
/// nothing if no part lacks one.
///
/// That is the mean over the repeats of the mean over the classes of the share of *all* rows of the
/// class that are right, as each row is in one test part of a repeat.
fn balance(
    table: &Table,
    splitting: Splitting,
    scores: &mut [Scores],
    recalls: &[Vec<(u64, u64)>],
) -> Option<(f64, String)> {
    let Truths::Classes(labels) = &table.truths else { return None };
    let mut rows = vec![0usize; table.task().outputs()];
    for &label in labels {
        rows[label as usize] += 1;
    }
    // A class of one row is tested nowhere.
    let tested: Vec<usize> = (0..rows.len()).filter(|&class| rows[class] > 1).collect();
    let mut without = 0;
    for (scores, recalls) in scores.iter_mut().zip(recalls) {
        if tested.iter().any(|&class| recalls[class].0 == 0) {
            scores.remove(Metric::BalancedAccuracy.name());
            without += 1;
        }
    }
    if without == 0 {
        return None;
    }
    // A part held out has a row of each of them (`stratified_split`), so this is of folds.
    let Splitting::Folds { folds, repeats } = splitting else { return None };
    let of_repeat = |parts: &[Vec<(u64, u64)>]| {
        let recall = |&class: &usize| {
            let count = |of: fn(&(u64, u64)) -> u64| {
                parts.iter().map(|part| of(&part[class])).sum::<u64>() as f64
            };
            count(|&(_, right)| right) / count(|&(rows, _)| rows)
        };
        tested.iter().map(recall).sum::<f64>() / tested.len() as f64
    };
    let mean = recalls.chunks(folds).map(of_repeat).sum::<f64>() / repeats as f64;
    let note = format!(
        "{without} of {} test parts {} a class: the balanced accuracy counts each class's rows over all folds of a repeat, and has no interval",
        recalls.len(),
        if without == 1 { "lacks" } else { "lack" }
    );
    Some((mean, note))
}

/// Metrics that some test part does not define (the R² of one row, the area under the curve without one of the
/// classes), and the root of the mean square where every part has one row: over all rows of a repeat, which its
/// folds test once each; the mean over the repeats. Each with a note; without a value where no rows define it.
/// Before them all rows of the first repeat.
fn pooled(
    splitting: Splitting,
    scores: &[Scores],
    said: Vec<NamedInterval>,
) -> (NamedInterval, Vec<(String, Option<f64>, String)>) {
    let per_repeat = match splitting {
        Splitting::Folds { folds, .. } => folds,
        Splitting::HoldOut { .. } => 1,
    };
    let of_one_row = said.iter().all(|said| said.truths.len() == 1);
    let regression = matches!(said[0].truths, Truths::Values(_));
    let two_classes = said[0].classes == 2 && !regression;
    let mut said = said.into_iter();
    let mut repeats = Vec::new();
    while let Some(first) = said.next() {
        repeats.push(said.by_ref().take(per_repeat - 1).fold(first, NamedInterval::and));
    }
    let of_repeats: Vec<Scores> = repeats.iter().map(NamedInterval::scores).collect();
    let mean = |name: &str| {
        let values: Option<Vec<f64>> =
            of_repeats.iter().map(|own| own.get(name).copied()).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let parts = counted(scores.len(), "test part", "test parts");
    let mut found = Vec::new();
    for name in [regression.then_some("r2"), two_classes.then_some("auc")].into_iter().flatten() {
        let without = scores.iter().filter(|own| !own.contains_key(name)).count();
        if without == 0 {
            continue;
        }
        let value = mean(name);
        let instead = match value {
            Some(_) => "it is taken over all rows of a repeat, and has no interval",
            None => "it is left out",
        };
        found.push((
            name.to_owned(),
            value,
            format!("`{name}` is not defined on {without} of {parts}: {instead}"),
        ));
    }
    if regression && of_one_row && per_repeat > 1 {
        let note =
            "test parts of one row: `rmse` is taken over all rows of a repeat, and has no interval";
        found.push((Metric::Rmse.name().to_owned(), mean(Metric::Rmse.name()), note.to_owned()));
    }
    (repeats.swap_remove(0), found)
}

/// Classes that no split tests.
fn split_notes(table: &Table) -> Vec<String> {
    let Truths::Classes(labels) = &table.truths else { return Vec::new() };
    let name = |row: usize| table.schema.target.labels[labels[row] as usize].clone();
    let note =
        |row| format!("class `{}` has a single row, which trains and tests nothing", name(row));
    let alone = singles(labels);
    let mut notes: Vec<String> = alone.iter().take(5).map(|&row| note(row)).collect();
    if alone.len() > 5 {
        notes.push(match alone.len() - 5 {
            1 => "1 more class has a single row".to_owned(),
            more => format!("{more} more classes have a single row"),
        });
    }
    notes
}

/// A word where a method says (`rows-used`; with a learned kernel `stage-1-rows` and `machine-rows`) that it was fitted
/// to fewer rows than it was given.
///
/// ```
/// use mercer_workbench::rows_left_out;
/// let facts = [("rows-used".to_owned(), 4000.0)].into();
/// let told = rows_left_out("gaussian-svm", &facts, 9000).expect("fewer were used");
/// assert!(told.contains("4000 of 9000") && told.contains("--set cap=9000"));
/// assert_eq!(rows_left_out("gaussian-svm", &facts, 4000), None);
/// let facts = [("stage-1-rows".to_owned(), 9000.0), ("machine-rows".to_owned(), 3000.0)].into();
/// let told = rows_left_out("hyper-krr-linear", &facts, 9000).expect("the machine has fewer");
/// assert!(told.contains("its machine to 3000 of 9000") && told.contains("--set machine_rows=9000"));
/// ```
pub fn rows_left_out(method: &str, facts: &BTreeMap<String, f64>, rows: usize) -> Option<String> {
    let fewer = |name: &str| {
        let used = facts.get(name).map(|&used| used as usize);
        used.filter(|&used| used < rows)
    };
    let stages =
        [("stage-1-rows", "points", "its kernel"), ("machine-rows", "machine_rows", "its machine")];
    let stages = stages.into_iter().filter_map(|(name, setting, what)| {
        fewer(name).map(|used| (setting, format!("{what} to {used} of {rows}")))
    });
    let (settings, told): (Vec<&str>, Vec<String>) = match fewer(fact::ROWS_USED) {
        Some(used) => (vec!["cap"], vec![format!("{used} of {rows}")]),
        None => stages.unzip(),
    };
    if told.is_empty() {
        return None;
    }
    let to = if settings == ["cap"] { "was fitted to" } else { "fitted" };
    let names = settings.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    let flags: Vec<String> = settings.iter().map(|name| format!("--set {name}={rows}")).collect();
    let (noun, takes) = if flags.len() == 1 { ("setting", "takes") } else { ("settings", "take") };
    Some(format!(
        "{method} {to} {} training rows, drawn at random: its {noun} {names}; {} {takes} all, and more time and memory",
        told.join(" and "),
        flags.join(" ")
    ))
}

/// A word where the regression of a learned kernel sums over some of the pairs that its rows have.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::pairs_left_out;
/// let settings = Settings::new().with("pairs", 4000).with("subsets", 2);
/// let of = |pairs: f64| [("pairs".to_owned(), pairs), ("stage-1-rows".to_owned(), 200.0)].into();
/// let told = pairs_left_out("hyper-svr", &settings, &of(8000.0)).expect("they are some");
/// assert!(told.contains("8000 of 20000 ordered pairs"), "{told}");
/// assert_eq!(pairs_left_out("hyper-svr", &settings, &of(20000.0)), None);
/// ```
pub fn pairs_left_out(
    method: &str,
    settings: &Settings,
    facts: &BTreeMap<String, f64>,
) -> Option<String> {
    settings.get("pairs")?.as_u64()?;
    let (summed, points) = (*facts.get("pairs")?, *facts.get("stage-1-rows")?);
    let subsets = settings.get("subsets").and_then(serde_json::Value::as_f64).unwrap_or(1.0);
    let all = points * points / subsets;
    (summed < all).then(|| {
        format!(
            "{method}: its regression sums over {summed} of {all:.0} ordered pairs, drawn at random: its setting `pairs`; \
             more are nearer to all of them, and take longer"
        )
    })
}

/// What to say of a fit whose matrix had to have something added to its diagonal, to be factored or for the
/// result to have digits, by
/// the facts `jitter` (of the last factorisation) and `jitter-steps` (of those on the way); nothing of one
/// that needed none.
///
/// ```
/// use std::collections::BTreeMap;
/// use mercer_workbench::jittered;
/// let facts = BTreeMap::from([("jitter".to_owned(), 1e-10)]);
/// assert!(jittered("gmce", &facts).expect("it needed some").contains("1e-10"));
/// assert_eq!(jittered("gmce", &BTreeMap::new()), None);
/// ```
pub fn jittered(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let fact = |name: &str| facts.get(name).copied().filter(|&value| value > 0.0);
    let (last, steps) = (fact("jitter"), fact("jitter-steps"));
    let steps = steps.map(|steps| counted(steps as usize, "factorisation", "factorisations"));
    let when = match (last, steps) {
        (Some(last), Some(steps)) => {
            format!("{last:e} added to its diagonal at the end, and something in {steps} before")
        }
        (Some(last), None) => format!("{last:e} added to its diagonal"),
        (None, Some(steps)) => format!("something added to its diagonal in {steps}"),
        (None, None) => return None,
    };
    let lengths = facts.keys().any(|name| name == "length" || name.starts_with("length-"));
    let remedy = if lengths { " or a shorter length scale" } else { "" };
    Some(format!(
        "{method}: a matrix kept digits only with {when}: rows that coincide or nearly do, or a \
         ridge near 0; a larger ridge (`--set lambda=...`){remedy} makes it regular"
    ))
}

/// All that is to be known of a fit by its settings and facts: what each of [`jittered`], [`hardly_moved`],
/// [`never_penalised`], [`indefinite`], [`batches_of_one`], [`search_cut_short`], [`zero_lengths`], [`angles_lost`],
/// [`at_the_peak`], [`inverted`], [`flat_kernel`], [`unread`], [`batch_beyond_the_rows`] and [`sorted_by_class`] has to say of a fit to that number of rows.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::warnings;
/// let settings = Settings::new().with("features", 60).with("lambda", 0.0).with("cutoff", serde_json::Value::Null);
/// let told = warnings("rf-ridgeless", &settings, &[("lost-angles".to_owned(), 0.5)].into(), 60);
/// assert_eq!(told.len(), 2);
/// assert!(told[0].contains("50.0 % of its features") && told[1].contains("60 features of 60 rows"));
/// assert!(warnings("rf-ridgeless", &settings, &[].into(), 600).is_empty());
/// ```
pub fn warnings(
    method: &str,
    settings: &Settings,
    facts: &BTreeMap<String, f64>,
    rows: usize,
) -> Vec<String> {
    let rows = facts.get(fact::ROWS_USED).map_or(rows, |&used| used as usize);
    [
        jittered(method, facts),
        hardly_moved(method, facts),
        never_penalised(method, settings, facts),
        indefinite(method, settings, facts),
        batches_of_one(method, facts),
        search_cut_short(method, facts),
        zero_lengths(method, facts),
        angles_lost(method, facts),
        at_the_peak(method, settings, rows),
        inverted(method, settings),
        flat_kernel(method, settings, facts),
        unread(method, facts),
        features_apart(method, settings, facts),
        pairs_left_out(method, settings, facts),
        batch_beyond_the_rows(method, settings, facts),
        sorted_by_class(method, facts),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A word where a method that trains in passes met buffers with rows of one class only, by the fact
/// `buffers-of-one-class`: it forgets a class while it sees another.
///
/// ```
/// use mercer_workbench::sorted_by_class;
/// let told = sorted_by_class("rf-sgd", &[("buffers-of-one-class".to_owned(), 7.0)].into());
/// assert!(told.expect("seven are some").contains("7 buffers have rows of one class only"));
/// assert_eq!(sorted_by_class("rf-sgd", &[].into()), None);
/// ```
pub fn sorted_by_class(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let count = *facts.get(ONE_CLASS)?;
    let (buffers, have) =
        (counted(count as usize, "buffer", "buffers"), if count > 1.0 { "have" } else { "has" });
    Some(format!(
        "{method}: {buffers} {have} rows of one class only, and it forgets a class while it sees another: shuffle the file \
         (shuf), or take a larger --buffer"
    ))
}

/// Moves of the frequencies below which they are hardly learned.
const FEW_MOVES: f64 = 10.0;

/// A word where a method that learns frequencies moved them a few times only, by the facts `frequency-steps` and,
/// of one that learns them, `penalised-steps`: they are about those that were drawn.
///
/// ```
/// use std::collections::BTreeMap;
/// use mercer_workbench::hardly_moved;
/// let facts = [("frequency-steps".to_owned(), 2.0), ("penalised-steps".to_owned(), 2.0)].into();
/// let told = hardly_moved("rftk", &facts).expect("two are few");
/// assert!(told.contains("2 times") && told.contains("--set every="));
/// assert_eq!(hardly_moved("rf-sgd", &[("frequency-steps".to_owned(), 0.0)].into()), None);
/// ```
pub fn hardly_moved(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let moves = *facts.get("frequency-steps").filter(|_| facts.contains_key("penalised-steps"))?;
    (moves < FEW_MOVES).then(|| {
        format!(
            "{method} moved its frequencies {} only, so that they are about those that were drawn (rf-sgd): \
             --set every=N moves them every N steps, --set epochs=N trains longer",
            counted(moves as usize, "time", "times")
        )
    })
}

/// A word where a penalty of the trace was asked for, by the setting `beta`, and took part in no step, by the fact
/// `penalised-steps`: the clocks of the penalty and of the moves never met.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::never_penalised;
/// let of = |steps: f64| [("penalised-steps".to_owned(), steps)].into();
/// let asked = Settings::new().with("beta", 1.0).with("every", 8).with("trace_every", 7);
/// let told = never_penalised("rftk", &asked, &of(0.0)).expect("they meet every 56 steps");
/// assert!(told.contains("beta=1") && told.contains("--set trace_every="), "{told}");
/// assert_eq!(never_penalised("rftk", &asked, &of(3.0)), None);
/// assert_eq!(never_penalised("rftk", &asked.with("beta", 0.0), &of(0.0)), None); // none was asked for
/// ```
pub fn never_penalised(
    method: &str,
    settings: &Settings,
    facts: &BTreeMap<String, f64>,
) -> Option<String> {
    let beta = settings.get("beta")?.as_f64().filter(|&beta| beta > 0.0)?;
    facts.get("penalised-steps").filter(|&&steps| steps == 0.0)?;
    Some(format!(
        "{method}: the penalty (beta={beta}) took part in no step, so that this is a fit without it: it is due every \
         `trace_every` steps, and only where the frequencies move, every `every` (--set trace_every=, --set every=); \
         --set epochs=N trains longer"
    ))
}

/// Share of the negative eigenvalues in the sum of absolute values from which on they are worth a word.
const NEGATIVE: f64 = 0.05;

/// A word where a machine took a learned kernel with negative eigenvalues as it is, by the setting `spectrum` and
/// the facts `negative-mass` and, of a regression with a bias, `negative-mass-without-bias`: its problem has no
/// single solution, and it ends in one that may be far from the best.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::indefinite;
/// let of = |mass: f64| [("negative-mass".to_owned(), mass)].into();
/// let settings = Settings::new().with("stage2", "machine").with("spectrum", "as-is");
/// let told = indefinite("hyper-krr", &settings, &of(0.168)).expect("a sixth is much");
/// assert!(told.contains("16.8 %") && told.contains("--set spectrum=flip"), "{told}");
/// assert_eq!(indefinite("hyper-krr", &settings, &of(0.001)), None);
/// assert_eq!(indefinite("hyper-krr", &settings.clone().with("spectrum", "flip"), &of(0.168)), None);
/// ```
pub fn indefinite(
    method: &str,
    settings: &Settings,
    facts: &BTreeMap<String, f64>,
) -> Option<String> {
    let is = |name: &str, value: &str| settings.get(name).and_then(|v| v.as_str()) == Some(value);
    let mass = facts.get("negative-mass-without-bias").or_else(|| facts.get("negative-mass"))?;
    (is("spectrum", "as-is") && is("stage2", "machine") && *mass > NEGATIVE).then(|| {
        format!(
            "{method}: negative eigenvalues are {:.1} % of those of the learned kernel, and the machine took it as it \
             is, in which it finds some stationary point: --set spectrum=flip or clip makes the kernel positive",
            100.0 * mass
        )
    })
}

/// A word where an embedding learned from batches of a single row, by the fact
/// `batch-used`: each batch's embedding then knows one class, so that its objective says nothing.
///
/// ```
/// use mercer_workbench::batches_of_one;
/// let of = |rows: f64| [("batch-used".to_owned(), rows), ("complexity".to_owned(), 1.0)].into();
/// assert!(batches_of_one("gmce-sgd", &of(1.0)).expect("one is too few").contains("--set batches="));
/// assert_eq!(batches_of_one("gmce-sgd", &of(8.0)), None);
/// assert_eq!(batches_of_one("rftk", &[("batch-used".to_owned(), 1.0)].into()), None); // no embedding
/// ```
pub fn batches_of_one(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let rows = *facts.get("batch-used").filter(|_| facts.contains_key("complexity"))?;
    (rows < 2.0).then(|| {
        format!(
            "{method} learned from batches of one row each, whose embedding knows one class and nothing of the \
             others: more rows of each (--set batch=), or fewer batches where there is a setting (--set batches=)"
        )
    })
}

/// A word where an embedding has a length scale of 0, by the fact `columns-of-median-0`: half of all
/// differences in those columns are 0, and with `median=columns-unguarded` the kernel is 0/0.
///
/// ```
/// use mercer_workbench::zero_lengths;
/// let of = |columns: f64| [("columns-of-median-0".to_owned(), columns)].into();
/// assert!(zero_lengths("mce-median", &of(2.0)).expect("two are").contains("2 columns"));
/// assert_eq!(zero_lengths("mce-median", &of(0.0)), None);
/// ```
pub fn zero_lengths(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let zero = *facts.get("columns-of-median-0").filter(|&&columns| columns > 0.0)?;
    Some(format!(
        "{method}: in {} half of all differences are 0, and so is the length scale: the kernel is 0/0, and the \
         first class is predicted everywhere (--set median=columns takes the smallest other difference)",
        counted(zero as usize, "column", "columns")
    ))
}

/// A word where the angles of random features have no digit behind the point, by the fact
/// [`fact::LOST_ANGLES`]: their cosines, and what is learned from them, are noise.
///
/// ```
/// use mercer_workbench::angles_lost;
/// let of = |learns: bool| {
///     let moves = learns.then(|| ("penalised-steps".to_owned(), 9.0));
///     [("lost-angles".to_owned(), 0.997)].into_iter().chain(moves).collect()
/// };
/// let told = angles_lost("rf-ridge", &of(false)).expect("nearly all are");
/// assert!(told.contains("99.7 %") && told.contains("--set std=") && !told.contains("frequency_rate"));
/// assert!(angles_lost("rftk", &of(true)).expect("as many").contains("--set frequency_rate="));
/// assert_eq!(angles_lost("rftk", &[].into()), None);
/// ```
pub fn angles_lost(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let share = *facts.get(fact::LOST_ANGLES).filter(|&&share| share > 0.0)?;
    let ran_away = if facts.contains_key("penalised-steps") {
        ", or lower the rate with which the frequencies ran away (--set frequency_rate=)"
    } else {
        ""
    };
    Some(format!(
        "{method}: {:.1} % of its features are cosines of angles so large that the number format has no digit \
         behind their point, and so are noise: scale the inputs (--scale standard), or take a smaller \
         --set std={ran_away}",
        100.0 * share
    ))
}

/// A word where random features without a ridge or a cut-off are about as many as the rows: the error of the
/// solution of least norm has its peak there.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::at_the_peak;
/// let bare = Settings::new().with("features", 60).with("lambda", 0.0).with("cutoff", serde_json::Value::Null);
/// let told = at_the_peak("rf-ridgeless", &bare, 60).expect("as many as rows");
/// assert!(told.contains("60 features of 60 rows") && told.contains("--set cutoff="), "{told}");
/// assert_eq!(at_the_peak("rf-ridgeless", &bare, 200), None);
/// let cut = bare.with("cutoff", 1e-4);
/// assert_eq!(at_the_peak("rf-ridgeless", &cut, 60), None);
/// // An explicit inverse knows no cut-off.
/// assert!(at_the_peak("rf-ridgeless", &cut.with("precision", "f32-inverse"), 60).is_some());
/// ```
pub fn at_the_peak(method: &str, settings: &Settings, rows: usize) -> Option<String> {
    let features = settings.get("features")?.as_u64()? as usize;
    let uncut = settings.get("cutoff")?.is_null() || inverts_in_single_precision(settings);
    let bare = settings.get("lambda")?.as_f64()? == 0.0 && uncut;
    // A tenth to either side: beyond, the variance is below ten times that of the noise.
    let near = features.abs_diff(rows) * 10 <= rows;
    (bare && near).then(|| {
        format!(
            "{method}: {features} features of {rows} rows, and neither a ridge nor a cut-off: where the two are about \
             equal the error on other rows has its peak. Take more features or fewer (--set features=), a \
             ridge (--set lambda=) or a cut-off (--set cutoff=)"
        )
    })
}

/// Whether a closed form is the released code's explicit inverse.
fn inverts_in_single_precision(settings: &Settings) -> bool {
    settings.get("precision").and_then(|value| value.as_str()) == Some("f32-inverse")
}

/// A word where a closed form is an explicit inverse in single precision: it has no cut-off and says nothing of a
/// matrix that is nearly singular.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::inverted;
/// let single = Settings::new().with("precision", "f32-inverse");
/// assert!(inverted("kernel-ridgeless", &single).expect("it is").contains("--set precision=f64"));
/// assert_eq!(inverted("kernel-ridgeless", &single.with("precision", "f64")), None);
/// ```
pub fn inverted(method: &str, settings: &Settings) -> Option<String> {
    inverts_in_single_precision(settings).then(|| {
        format!(
            "{method}: an explicit inverse in single precision (precision=f32-inverse), as a released code has it: of a \
             matrix that is nearly singular it is rounding, on the rows of the fit too, and nothing tells. Take \
             --set precision=f64, or a larger --set lambda="
        )
    })
}

/// A word where a learned kernel has one value for any two different rows, by the fact [`fact::KERNEL_VARIATION`]:
/// its widths lie far below or far above what the inputs are apart.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::flat_kernel;
/// let settings = Settings::new().with("width", 1e-20).with("spread", 1.0).with("hyper", "gaussian-constructed");
/// let of = |variation: f64| [("kernel-variation".to_owned(), variation)].into();
/// let told = flat_kernel("hyper-krr", &settings, &of(0.0)).expect("it is flat");
/// let widths = "`width` = 1e-20 of the inputs' variance or `spread` = 1 of that is far too";
/// assert!(told.contains(widths), "{told}");
/// assert_eq!(flat_kernel("hyper-krr", &settings, &of(0.4)), None);
/// ```
pub fn flat_kernel(
    method: &str,
    settings: &Settings,
    facts: &BTreeMap<String, f64>,
) -> Option<String> {
    facts.get(fact::KERNEL_VARIATION).filter(|&&variation| variation < FLAT)?;
    let word = |name: &str| settings.get(name).and_then(|value| value.as_str());
    let wishart = word("hyper") == Some("wishart");
    let searched = word("search").is_some_and(|search| search != "none");
    let names: &[&str] = if wishart || searched { &["width"] } else { &["width", "spread"] };
    let widths: Vec<String> = names
        .iter()
        .zip(["the inputs' variance", "that"])
        .filter_map(|(name, of)| Some((name, settings.get(name)?.as_f64()?, of)))
        .map(|(name, value, of)| {
            let plain = (1e-3..1e4).contains(&value);
            let value = if plain { value.to_string() } else { format!("{value:e}") };
            format!("`{name}` = {value} of {of}")
        })
        .collect();
    Some(format!(
        "{method}: the learned kernel has one value for any two different rows, and tells nothing of them: {} \
         is far too small or far too large (--set width=1, --tune), or one column dwarfs the others (--scale)",
        if widths.is_empty() { "its width".to_owned() } else { widths.join(" or ") }
    ))
}

/// A word where settings were changed that the solver which `solver=auto` chose for these rows does not read, by the
/// facts that begin with [`fact::UNREAD`].
///
/// ```
/// use mercer_workbench::unread;
/// let told = unread("hyper-krr", &[("unread-pairs".to_owned(), 1.0)].into()).expect("one is not read");
/// assert!(told.contains("`pairs`") && told.contains("--set solver="), "{told}");
/// assert_eq!(unread("hyper-krr", &[("pairs".to_owned(), 1.0)].into()), None);
/// ```
pub fn unread(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let names = facts.keys().filter_map(|name| name.strip_prefix(fact::UNREAD));
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{method}: the solver that solver=auto chose for these rows does not read {}: leave that out, or choose a \
             solver that does (--set solver=; see mercer list methods {method})",
            names.join(", ")
        )
    })
}

/// Relative error of features that stand in for a kernel, above which they are another one.
const APART: f64 = 0.1;

/// A word where the features of a second stage are far from the learned kernel that they stand in for, by the fact
/// [`fact::FEATURES_ERROR`].
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::features_apart;
/// let settings = Settings::new().with("feature_rank", 100);
/// let of = |error: f64| [("features-error".to_owned(), error)].into();
/// let told = features_apart("hyper-krr-linear", &settings, &of(0.3)).expect("they are");
/// assert!(told.contains("30 %") && told.contains("`feature_rank` = 100"), "{told}");
/// assert_eq!(features_apart("hyper-krr-linear", &settings, &of(0.01)), None);
/// ```
pub fn features_apart(
    method: &str,
    settings: &Settings,
    facts: &BTreeMap<String, f64>,
) -> Option<String> {
    let error = facts.get(fact::FEATURES_ERROR).filter(|&&error| error > APART)?;
    let rank = settings.get("feature_rank").map_or_else(String::new, |rank| format!(" = {rank}"));
    Some(format!(
        "{method}: the features of its second stage differ from the learned kernel by {:.0} % (of its norm over some \
         training rows): what is fitted is another kernel. Take more of them (`feature_rank`{rank}) or the whole kernel \
         on some rows (--set stage2=machine)",
        100.0 * error
    ))
}

/// Variation of a learned kernel's values, as a share of the largest, below which they are all the same.
const FLAT: f64 = 1e-9;

/// A word where a batch was asked for that is larger than the rows, by the fact `batch-used`.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_workbench::batch_beyond_the_rows;
/// let asked = Settings::new().with("batch", 500);
/// let of = |used: f64| [("batch-used".to_owned(), used)].into();
/// let told = batch_beyond_the_rows("rftk", &asked, &of(60.0)).expect("it is");
/// assert!(told.contains("batch of 500") && told.contains("60 rows"), "{told}");
/// assert_eq!(batch_beyond_the_rows("rftk", &asked, &of(500.0)), None);
/// ```
pub fn batch_beyond_the_rows(
    method: &str,
    settings: &Settings,
    facts: &BTreeMap<String, f64>,
) -> Option<String> {
    let asked = settings.get("batch")?.as_u64()?;
    let used = *facts.get("batch-used").filter(|&&used| used < asked as f64)?;
    Some(format!(
        "{method}: a batch of {asked} rows was asked for; each step took {used}, as many as the {used} rows there are"
    ))
}

/// What the facts `rank`, `cutoff` and `jitter` say of a solution of `rows` rows in a line: nothing of one that
/// used them all as they are.
///
/// ```
/// use mercer_workbench::solved_at;
/// let of = |rank: f64, cutoff: f64, jitter: f64| {
///     [("rank", rank), ("cutoff", cutoff), ("jitter", jitter)]
///         .map(|(name, value)| (name.to_owned(), value))
///         .into()
/// };
/// let told = solved_at(&of(2.0, 1e-12, 0.0), 90).expect("88 are missing");
/// assert_eq!(told, "rank 2 of 90: what is at or below 1.0e-12 counts as 0");
/// let told = solved_at(&of(90.0, 0.0, 1e-10), 90).expect("it needed some");
/// assert_eq!(told, "with 1e-10 added to the diagonal");
/// assert_eq!(solved_at(&of(90.0, 1e-12, 0.0), 90), None);
/// assert_eq!(solved_at(&of(50.0, 0.0, 0.0), 90), None); // of 50 features, all
/// ```
pub fn solved_at(facts: &BTreeMap<String, f64>, rows: usize) -> Option<String> {
    let fact = |name: &str| facts.get(name).copied().filter(|&value| value > 0.0);
    let rows = facts.get(fact::ROWS_USED).map_or(rows, |&used| used as usize);
    let cut = facts.get("rank").zip(fact("cutoff")).filter(|(rank, _)| **rank < rows as f64);
    let cut = cut.map(|(rank, cutoff)| {
        format!("rank {rank} of {rows}: what is at or below {cutoff:.1e} counts as 0")
    });
    let added = fact("jitter").map(|jitter| format!("with {jitter:e} added to the diagonal"));
    let told: Vec<String> = cut.into_iter().chain(added).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// A word on scores that are no better than those of saying the same of every row: `1/K` of balanced
/// accuracy, or the target's deviation as an error.
///
/// ```
/// use mercer_learning::Task;
/// use mercer_workbench::{Scores, no_better};
/// let two = Task::Classification { classes: 2 };
/// let of = |accuracy: f64| Scores::from([("balanced-accuracy".to_owned(), accuracy)]);
/// assert!(no_better("askl", true, &of(0.5), two, None).expect("it is not").contains("--tune"));
/// assert_eq!(no_better("askl", true, &of(0.6), two, None), None);
/// // Some methods choose all by themselves.
/// assert!(!no_better("kta", false, &of(0.5), two, None).expect("it is not").contains("--tune"));
/// let error = Scores::from([("rmse".to_owned(), 3.1)]);
/// assert!(no_better("askl", true, &error, Task::Regression, Some(3.0)).is_some());
/// ```
pub fn no_better(
    method: &str,
    tunable: bool,
    scores: &Scores,
    task: Task,
    deviation: Option<f64>,
) -> Option<String> {
    let metric = match task {
        Task::Classification { .. } => Metric::BalancedAccuracy,
        Task::Regression => Metric::Rmse,
    };
    let score = *scores.get(metric.name())?;
    let told = match task {
        Task::Classification { classes } if score * classes as f64 <= 1.0 + 1e-9 => {
            format!("a balanced accuracy of {score:.4}")
        }
        Task::Regression
            if deviation.is_some_and(|deviation| score >= deviation * (1.0 - 1e-9)) =>
        {
            "an error as large as the target's deviation".to_owned()
        }
        _ => return None,
    };
    Some(format!(
        "{method} is no better than the same answer for every row ({told}): {}see what settings it has (mercer list \
         methods {method})",
        if tunable {
            "choose settings by --tune, or "
        } else {
            "its columns may say nothing of the target; "
        }
    ))
}

/// What a user must know of a fit by subsets of the rows of which some lack a class.
///
/// ```
/// use mercer_workbench::classes_missing;
/// use std::collections::BTreeMap;
/// let facts = BTreeMap::from([(mercer_learning::fact::SUBSETS_WITHOUT_A_CLASS.to_owned(), 3.0)]);
/// assert!(classes_missing("hyper-krr", &facts).expect("some lack one").contains("3 subsets"));
/// assert_eq!(classes_missing("hyper-krr", &BTreeMap::new()), None);
/// ```
pub fn classes_missing(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let lacking = facts.get(fact::SUBSETS_WITHOUT_A_CLASS).filter(|&&value| value > 0.0)?;
    let setting = if facts.contains_key("parts") { "parts" } else { "subsets" };
    Some(format!(
        "{method}: {lacking} {setting} have no row of some class, and what they learn knows nothing of it; \
         take fewer (`--set {setting}=...`)"
    ))
}

/// What a user must know of a search within the fit some of whose fits stopped at their limit of steps.
///
/// ```
/// use mercer_workbench::search_cut_short;
/// let of = |fits: f64| [(mercer_learning::fact::SEARCH_NOT_CONVERGED.to_owned(), fits)].into();
/// assert!(search_cut_short("hyper-svr", &of(7.0)).expect("seven are").contains("7 of the fits"));
/// assert_eq!(search_cut_short("hyper-svr", &of(0.0)), None);
/// ```
pub fn search_cut_short(method: &str, facts: &BTreeMap<String, f64>) -> Option<String> {
    let open = facts.get(fact::SEARCH_NOT_CONVERGED).filter(|&&value| value > 0.0)?;
    Some(format!(
        "{method}: {open} of the fits that its search compares stopped at their limit of steps and were \
         judged by what they had reached; inputs of another scale (`--scale`) or a smaller grid by hand \
         (`--set search=none`, `--tune`) may do better"
    ))
}

/// Scores a kept model on a table that was read with its schema.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Table, evaluate_model, fit};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "majority", &table, &Choices::plain())?;
/// let others = RowFile::spooled(&b"x,kind\n5,a\n6,b\n7,b\n8,b\n"[..], "others", None)?;
/// let table = Table::with_schema(&others, model.header.schema.clone())?;
/// let found = evaluate_model(&model, &table, 1)?;
/// assert!((found.estimates["accuracy"].mean - 0.25).abs() < 1e-12); // of equal shares the first
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// As [`Model::score`].
pub fn evaluate_model(
    model: &Model,
    table: &Table,
    threads: usize,
) -> Result<Evaluation, WorkbenchError> {
    let said = model.said(table, threads)?;
    let (task, test_rows) = (table.task(), table.rows());
    let splits = vec![said.scores()];
    let intervals = said.intervals(resampling_seed(&Streams::root(1)))?;
    Ok(Evaluation {
        method: model.header.method.clone(),
        task: task.name(),
        estimates: estimates(&splits, intervals, 1.0)?,
        splits,
        settings: vec![model.header.settings.clone()],
        test_rows,
        confusion: confused(std::slice::from_ref(&said)),
        importance: None,
        dependence: None,
        learning_curve: None,
        notes: model.header.convergence.warning().into_iter().collect(),
        said,
    })
}

/// What a metric cannot leave.
fn range_of(name: &str) -> (f64, f64) {
    match name {
        "r2" => (f64::NEG_INFINITY, 1.0),
        "auc" | "f1" | "precision" => (0.0, 1.0),
        "brier" => (0.0, 2.0),
        accuracy if accuracy.ends_with("accuracy") => (0.0, 1.0),
        _ => (0.0, f64::INFINITY),
    }
}

/// Where the resampling of test rows begins.
fn resampling_seed(streams: &Streams) -> u64 {
    streams.child("intervals").rng("test rows").r#gen()
}

fn estimates(
    splits: &[Scores],
    mut of_one: BTreeMap<String, Interval>,
    test_over_train: f64,
) -> Result<BTreeMap<String, Estimate>, WorkbenchError> {
    let mut estimates = BTreeMap::new();
    // A metric that one split lacks (no variance there) has no mean over all.
    let names =
        splits[0].keys().filter(|name| splits.iter().all(|split| split.contains_key(*name)));
    for name in names {
        let values: Vec<f64> = splits.iter().map(|split| split[name]).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let std = summarise(&values).filter(|_| values.len() > 1).map(|summary| {
            // What rounding makes of none is none.
            if alike(&values) { 0.0 } else { summary.sample_std }
        });
        let interval = if values.len() > 1 {
            // The mean's distance from 0, with the variance of overlapping training parts.
            let test = corrected_t(&values, test_over_train)?;
            let (low, high) = test.interval(0.95);
            let (least, most) = range_of(name);
            let ends = (low.max(least), high.min(most));
            let by = "corrected resampled t over the splits".to_owned();
            (!alike(&values)).then_some(Interval { ends, by })
        } else {
            of_one.remove(name)
        };
        let (interval, interval_by) = interval.map(|found| (found.ends, found.by)).unzip();
        estimates.insert(name.clone(), Estimate { mean, std, interval, interval_by });
    }
    Ok(estimates)
}

/// What a method is worth that does not look at the inputs: the share of the most frequent class,
/// or the deviation of the target.
pub(crate) fn chance(table: &Table) -> (Metric, f64) {
    let value = match &table.truths {
        Truths::Classes(labels) => {
            let mut counts = vec![0usize; table.task().outputs()];
            for &label in labels {
                counts[label as usize] += 1;
            }
            *counts.iter().max().unwrap_or(&0) as f64 / labels.len() as f64
        }
        Truths::Values(values) => {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
        }
    };
    (primary(table.task()), value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choices;
    use mercer_baselines::BASELINES;
    use mercer_datasets::{RowFile, SchemaOptions};
    use std::fmt::Write as _;

    /// 60 rows of a common class, three of a rare one that lies apart, and one of a third.
    fn skewed() -> Table {
        let mut text = "x,kind\n".to_owned();
        for row in 0..60 {
            writeln!(text, "{}.5,common", row % 7).unwrap();
        }
        text += "101.5,rare\n102.5,rare\n103.5,rare\n50.5,single\n";
        let file = RowFile::spooled(text.as_bytes(), "skewed", None).unwrap();
        Table::read(&file, &SchemaOptions::default()).unwrap()
    }

    fn balanced(method: &str, splitting: Splitting) -> (Option<Estimate>, Evaluation) {
        let found = evaluate(BASELINES, method, &skewed(), splitting, &Choices::plain(), |_, _| {})
            .unwrap();
        (found.estimates.get("balanced-accuracy").cloned(), found)
    }

    #[test]
    fn folds_without_a_class_do_not_raise_the_balanced_accuracy() {
        for repeats in [1, 2] {
            // Three rare rows over five folds: two folds lack them in each repeat.
            let splitting = Splitting::Folds { folds: 5, repeats };
            let (of_majority, found) = balanced("majority", splitting);
            let of_majority = of_majority.unwrap();
            assert!((of_majority.mean - 0.5).abs() < 1e-15, "{}", of_majority.mean);
            assert_eq!((of_majority.std, of_majority.interval), (None, None));
            let lacking = found.splits.iter().filter(|s| !s.contains_key("balanced-accuracy"));
            assert_eq!(lacking.count(), 2 * repeats);
            let said = format!("{} of {} test parts lack a class", 2 * repeats, 5 * repeats);
            assert!(found.notes.iter().any(|note| note.contains(&said)), "{:?}", found.notes);
        }
        let splitting = Splitting::Folds { folds: 3, repeats: 1 };
        let (of_majority, found) = balanced("majority", splitting);
        let of_majority = of_majority.unwrap();
        assert!((of_majority.mean - 0.5).abs() < 1e-15 && of_majority.std == Some(0.0));
        // Every fold says the same, which is no certainty.
        assert_eq!((of_majority.interval, of_majority.interval_by), (None, None));
        assert!(found.notes.iter().all(|note| !note.contains("lack")));
    }

    #[test]
    fn a_part_held_out_has_every_class_and_so_a_balanced_accuracy() {
        let (of_majority, found) =
            balanced("majority", Splitting::HoldOut { test: 0.02, repeats: 3 });
        assert!((of_majority.unwrap().mean - 0.5).abs() < 1e-15);
        assert!(found.notes.iter().all(|note| !note.contains("lack")));
    }

    /// 40 rows in 500 batches are batches of one row, and ten steps over 40 rows of RFTK move its frequencies
    /// hardly ever: both are said of the fits themselves.
    #[test]
    fn settings_that_leave_nothing_to_learn_from_are_said() {
        let said = |method: &str, settings: Settings| {
            let mut text = "x,kind\n".to_owned();
            for row in 0..50 {
                writeln!(text, "{}.5,{}", row % 7, if row % 7 < 3 { "a" } else { "b" }).unwrap();
            }
            let file = RowFile::spooled(text.as_bytes(), "small", None).unwrap();
            let table = Table::read(&file, &SchemaOptions::default()).unwrap();
            let methods = [mercer_models::mce::METHODS, mercer_models::rftk::METHODS].concat();
            let choices = Choices { settings, ..Choices::plain() };
            let splitting = Splitting::Folds { folds: 5, repeats: 1 };
            evaluate(&methods, method, &table, splitting, &choices, |_, _| {}).unwrap().notes
        };
        let steps = |count: usize| Settings::new().with("epochs", count);
        let of_one = said("gmce-sgd", steps(1).with("batches", 500));
        assert!(of_one.iter().any(|note| note.contains("batches of one row each")), "{of_one:?}");
        let of_more = said("gmce-sgd", steps(1).with("batches", 4));
        assert!(of_more.iter().all(|note| !note.contains("batches of one")), "{of_more:?}");
        let still = said("rftk", steps(2).with("features", 16).with("every", 5));
        assert!(still.iter().any(|note| note.contains("moved its frequencies")), "{still:?}");
    }
}
