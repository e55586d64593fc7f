mod scores;

use scores::{estimates, pooled};

use crate::fit::{FittedTo, finite};
use crate::importance::{CurvePoint, Dependence, Importance, Worth};
use crate::intervals::{Interval, NamedInterval};
use crate::kernel_matrix::{of_matrix, require_whole};
use crate::notes::{
    classes_missing, held_at_random, looks_grouped, rows_left_out, sorted_by_class, wrong_way,
};
use crate::passes::fit_part;
use crate::said::said_of;
use crate::splitting::singles;
use crate::tuning::offered;
use crate::{
    Choices, Division, Model, Predicted, Scores, Splitting, Table, WorkbenchError, method_for,
    primary, require_weighing,
};
use mercer_datasets::{Split, Truths};
use mercer_learning::{Method, Metric, Predictions, Settings, Streams, Task, by_class, confusion};
use ndarray::Array2;
use rand::Rng;
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// 95 % interval of the mean, if there is one:
    /// - Over splits it is the corrected resampled t (Nadeau and Bengio 2003), of folds drawn once the ordinary one, unless
    ///   all of them give the same.
    /// - On one test part it is Wilson's for accuracies, joined over classes for balanced ones.
    /// - For all other metrics on one test part it is a bootstrap of the test rows
    ///   ([`mercer_statistics::row_bootstrap`]), with the model held fixed.
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
    /// Counts of each class (down) predicted as each class (across), over all splits. Regression has none.
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
    /// Notes beside the scores: rows that a method left out, classes that no split tests.
    pub notes: Vec<String>,
    /// What it says of the test rows of the first repeat, and which rows these are.
    #[serde(skip)]
    pub(crate) said: NamedInterval,
    #[serde(skip)]
    pub(crate) tested: Vec<usize>,
}

/// What was said of rows by fits to others.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions, Truths};
/// use mercer_workbench::{Choices, Predicted, Splitting, Table, evaluate};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let splitting = Splitting::Folds { folds: 2, repeats: 1 };
/// let found = evaluate(BASELINES, "kernel-ridge", &table, splitting, &Choices::plain(), |_, _| {})?;
/// let held_out = found.held_out(&table);
/// assert_eq!(held_out.lines, [2, 3, 4, 5, 6, 7, 8, 9]);
/// assert_eq!((held_out.predicted, held_out.truths), (Predicted::Classes(vec![0, 0, 0, 0, 1, 1, 1, 1]), table.truths));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// The line of each row, rising.
    pub lines: Vec<usize>,
    /// Its target.
    pub truths: Truths,
    /// What was predicted.
    pub predicted: Predicted,
    /// Class probabilities (rows by classes), where the method has them.
    pub probabilities: Option<Array2<f64>>,
    /// Of classes without probabilities their decision values.
    pub scores: Option<Array2<f64>>,
}

impl Evaluation {
    /// Returns what was said of each test row of the first repeat, in the order of the file.
    pub fn held_out(&self, table: &Table) -> HeldOut {
        let mut order: Vec<usize> = (0..self.tested.len()).collect();
        order.sort_by_key(|&at| self.tested[at]);
        let said = self.said.select(&order);
        HeldOut {
            lines: order.iter().map(|&at| table.lines[self.tested[at]]).collect(),
            truths: said.truths,
            predicted: match said.predictions {
                Predictions::Classes(labels) => Predicted::Classes(labels),
                Predictions::Real(values) => Predicted::Values(values),
            },
            probabilities: said.shares,
            scores: said.decisions,
        }
    }
}

/// Fits a method on every split's training part and scores the test part. Filling, scaling and tuning see the training
/// part only.
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
    told: impl FnMut(usize, usize),
) -> Result<Evaluation, WorkbenchError> {
    let method = method_for(methods, name, table.task())?;
    require_weighing(methods, name, table, choices)?;
    require_whole(table, &choices.settings)?;
    offered(choices.metric, table.task())?;
    refuse_importance(table, choices)?;
    let streams = Streams::root(choices.seed);
    let splits = table.splits(splitting, &streams)?;
    let splitting = table.division.as_ref().map_or(splitting, |own| own.splitting(splitting));
    let metric = choices.metric.unwrap_or(primary(table.task())).name();
    // Splits of the first repeat.
    let first = splits.len() / splitting.repeats().max(1);
    let fits = fit_each(method, table, (&splits, first), choices, &streams, told)?;
    let Fits { mut scores, settings, said: all_said, intervals, worth, notes: of_fits } = fits;
    let mut notes = split_notes(table);
    notes.extend(table.division.as_ref().and_then(Division::note));
    notes.extend(looks_grouped(table));
    notes.extend(of_fits);
    let importance = choices
        .importance
        .then(|| worth.importance(table, splitting.test_over_train()))
        .transpose()?;
    let learning_curve =
        choices.learning_curve.then(|| curve(&worth, &splits[..first], &scores[..first], metric));
    let balanced = balance(table, splitting, &mut scores, &all_said);
    let confusion = confused(&all_said);
    let tested = splits.iter().take(first).flat_map(|split| split.test.clone()).collect();
    let (said, pooled) = pooled(splitting, &scores, all_said);
    let mut estimates = estimates(&scores, intervals, splitting.test_over_train())?;
    for (name, mean, note) in balanced.into_iter().chain(pooled) {
        let of_folds = |mean| Estimate { mean, std: None, interval: None, interval_by: None };
        estimates.extend(mean.map(|mean| (name, of_folds(mean))));
        if notes.last() != Some(&note) {
            notes.push(note);
        }
    }
    Ok(Evaluation {
        method: method.name.to_owned(),
        task: table.task().name(),
        splits: scores,
        estimates,
        settings,
        test_rows: splits[0].test.len(),
        confusion,
        importance,
        dependence: choices.importance.then_some(worth.dependence),
        learning_curve,
        notes,
        said,
        tested,
    })
}

/// What the fits to the training parts gave, a split after the other.
struct Fits {
    scores: Vec<Scores>,
    settings: Vec<Settings>,
    said: Vec<NamedInterval>,
    /// Of a single split.
    intervals: BTreeMap<String, Interval>,
    worth: Worth,
    notes: Vec<String>,
}

/// Fits a method to the training part of each split, and scores the test part; the `first` splits have learning curves.
fn fit_each(
    method: &Method,
    table: &Table,
    (splits, first): (&[Split], usize),
    choices: &Choices<'_>,
    streams: &Streams,
    mut told: impl FnMut(usize, usize),
) -> Result<Fits, WorkbenchError> {
    let metric = choices.metric.unwrap_or(primary(table.task())).name();
    let (mut scores, mut settings, mut all_said) = (Vec::new(), Vec::new(), Vec::new());
    let (mut intervals, mut notes) = (BTreeMap::new(), Vec::new());
    let mut worth = Worth::new(table, choices);
    let mut warned = Warned::default();
    for (index, split) in splits.iter().enumerate() {
        choices.limits.check()?;
        let own = streams.child(&format!("split {index}"));
        let (fitted, preparation, rows) = fit_part(method, table, &split.train, choices, &own)?;
        let said = said_of(&*fitted.outcome.predictor, table, &split.test, &preparation)?;
        scores.push(finite(said.scores())?);
        if choices.importance {
            let score = scores[index].get(metric).copied();
            let predictor = &*fitted.outcome.predictor;
            worth.columns(predictor, table, split, &preparation, (score, &own, choices.limits))?;
        }
        if choices.learning_curve && index < first {
            worth.parts(method, table, split, choices, &own)?;
        }
        if splits.len() == 1 {
            intervals = said.intervals(resampling_seed(streams))?;
        }
        all_said.push(said);
        if index == 0 {
            let buffer = table.buffer().filter(|&own| choices.tune.is_some() && own < rows);
            notes = fit_notes(method, &fitted, rows, buffer);
        }
        warnings(method, &fitted, table.task()).for_each(|warning| warned.add(warning, index + 1));
        settings.push(with_chosen(fitted.settings, &fitted.outcome.facts));
        told(index + 1, splits.len());
    }
    notes.extend(warned.notes(method.name, splits.len()));
    Ok(Fits { scores, settings, said: all_said, intervals, worth, notes })
}

/// What is to be known of the fit to some rows, of which only the first were tuned on where there is a buffer.
fn fit_notes(
    method: &Method,
    fitted: &FittedTo,
    rows: usize,
    buffer: Option<usize>,
) -> Vec<String> {
    let (name, facts) = (method.name, &fitted.outcome.facts);
    let tuned = buffer.map(|buffer| {
        format!(
            "{name} was tuned on the first of {rows} training rows, {buffer} at most (--buffer)"
        )
    });
    let mut notes: Vec<String> = tuned.into_iter().collect();
    notes.extend(rows_left_out(name, facts, rows));
    notes.extend(method.warnings_of(&fitted.settings, facts, rows));
    notes.extend(sorted_by_class(name, facts));
    notes
}

/// The learning curve, with the whole training parts of these splits at its end.
fn curve(worth: &Worth, splits: &[Split], scores: &[Scores], metric: &str) -> Vec<CurvePoint> {
    let whole: Vec<f64> = scores.iter().filter_map(|own| own.get(metric).copied()).collect();
    // Parts in the order of time have ever more rows.
    let rows = splits.iter().map(|split| split.train.len()).sum::<usize>() / splits.len().max(1);
    worth.curve(&whole, rows)
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

/// Takes the metrics that are means over the classes from the splits whose test part lacks a class that could be tested: a
/// mean over fewer classes is another quantity. What then stands for them over all splits, with a note; nothing
/// if no part lacks one.
///
/// They are of the rows of all folds of a repeat, as each row is in one test part of it: the mean over the classes, and
/// then over the repeats.
fn balance(
    table: &Table,
    splitting: Splitting,
    scores: &mut [Scores],
    said: &[NamedInterval],
) -> Vec<(String, Option<f64>, String)> {
    // A part held out has a row of each class (`stratified_split`), so this is of folds.
    let (Truths::Classes(labels), Splitting::Folds { folds, repeats }) = (&table.truths, splitting)
    else {
        return Vec::new();
    };
    let mut rows = vec![0usize; table.task().outputs()];
    for &label in labels {
        rows[label as usize] += 1;
    }
    // A class of one row is tested nowhere.
    let tested: Vec<usize> = (0..rows.len()).filter(|&class| rows[class] > 1).collect();
    let named = [(Metric::Precision, 0), (Metric::BalancedAccuracy, 1), (Metric::F1, 2)];
    let mut without = 0;
    for (scores, said) in scores.iter_mut().zip(said) {
        let recalls = said.recalls();
        if tested.iter().any(|&class| recalls[class].0 == 0) {
            for (metric, _) in named {
                scores.remove(metric.name());
            }
            without += 1;
        }
    }
    if without == 0 {
        return Vec::new();
    }
    let of_repeats: Vec<_> = said.chunks(folds).filter_map(confused).collect();
    let mean = |at: usize| {
        let of_repeat = |confusion: &Vec<Vec<u64>>| {
            let found = by_class(confusion);
            let of_class = |&class: &usize| found[class].map_or(0.0, |own| own[at]);
            tested.iter().map(of_class).sum::<f64>() / tested.len() as f64
        };
        of_repeats.iter().map(of_repeat).sum::<f64>() / repeats as f64
    };
    let note = format!(
        "{without} of {} test parts {} a class: balanced accuracy, precision and F1 count the rows of all folds of a \
         repeat, and have no interval",
        said.len(),
        if without == 1 { "lacks" } else { "lack" }
    );
    named.map(|(metric, at)| (metric.name().to_owned(), Some(mean(at)), note.clone())).to_vec()
}

/// Test rows that do not tell how much of their variance is explained.
const FEW: usize = 5;

/// Columns up to which the importance is measured.
const IMPORTANCES: usize = 2000;

/// Refuses the importance of columns that are none, or too many.
fn refuse_importance(table: &Table, choices: &Choices<'_>) -> Result<(), WorkbenchError> {
    let refused = |value: String, must: String| {
        Err(WorkbenchError::Argument { name: "importance", value, must })
    };
    let columns = table.schema.columns.len();
    if !choices.importance {
        return Ok(());
    }
    if of_matrix(&choices.settings) {
        let must = "left out where the inputs are a kernel matrix (kernel=precomputed): its columns are rows of the table";
        return refused("asked for".to_owned(), must.to_owned());
    }
    if columns > IMPORTANCES {
        let must = format!(
            "left out above {IMPORTANCES}: each column is one more prediction of all test rows"
        );
        return refused(format!("asked for {columns} columns"), must);
    }
    Ok(())
}

/// Settings with what the fit chose in place of those that left it the choice.
fn with_chosen(settings: Settings, facts: &BTreeMap<String, f64>) -> Settings {
    let chosen = |name: &str| facts.get(name).copied();
    let open = settings.iter().filter(|(_, value)| value.is_null());
    let found: Vec<(String, f64)> =
        open.filter_map(|(name, _)| Some((name.to_owned(), chosen(name)?))).collect();
    found.into_iter().fold(settings, |all, (name, value)| all.with(&name, value))
}

/// Each warning of the fits once, with the splits that it is of.
#[derive(Default)]
struct Warned(Vec<(String, Vec<usize>)>);

impl Warned {
    fn add(&mut self, warning: String, split: usize) {
        let words = |text: &str| text.replace(|c: char| c.is_ascii_digit() || ".-".contains(c), "");
        match self.0.iter_mut().find(|(known, _)| words(known) == words(&warning)) {
            Some((_, on)) => on.push(split),
            None => self.0.push((warning, vec![split])),
        }
    }

    fn notes(self, name: &str, all: usize) -> impl Iterator<Item = String> {
        self.0.into_iter().map(move |(warning, on)| match on.len() {
            1 => format!("{name}, split {} of {all}: {warning}", on[0]),
            some if some == all => format!("{name}, on all {all} splits: {warning}"),
            some => format!("{name}, on {some} of {all} splits: {warning}"),
        })
    }
}

/// What is said of the fit of a split.
fn warnings(method: &Method, fitted: &FittedTo, task: Task) -> impl Iterator<Item = String> {
    let facts = &fitted.outcome.facts;
    let all = [
        classes_missing(facts),
        held_at_random(facts),
        wrong_way(fitted.adjustment.as_ref()),
        method.unconverged(fitted.outcome.convergence, &fitted.settings, task),
    ];
    all.into_iter().flatten()
}

/// Classes that no split tests.
fn split_notes(table: &Table) -> Vec<String> {
    let Truths::Classes(labels) = &table.truths else { return Vec::new() };
    if table.division.is_some() {
        return Vec::new();
    }
    let name = |row: usize| table.schema.target.labels[labels[row] as usize].clone();
    let note = |row| format!("class `{}` has one row, which is in no test part", name(row));
    let alone = singles(labels);
    let mut notes: Vec<String> = alone.iter().take(5).map(|&row| note(row)).collect();
    if alone.len() > 5 {
        notes.push(match alone.len() - 5 {
            1 => "1 more class has one row".to_owned(),
            more => format!("{more} more classes have one row"),
        });
    }
    notes
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
    let once = Splitting::HoldOut { test: 1.0, repeats: 1 };
    let (said, undefined) = pooled(once, &splits, vec![said]);
    let notes = undefined.into_iter().map(|(_, _, note)| note);
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
        notes: model.header.convergence.warning().into_iter().chain(notes).collect(),
        said,
        tested: (0..test_rows).collect(),
    })
}

/// Where the resampling of test rows begins.
fn resampling_seed(streams: &Streams) -> u64 {
    streams.child("intervals").rng("test rows").r#gen()
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
mod tests;
