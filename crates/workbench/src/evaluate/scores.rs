//! From the scores of the parts to estimates of a metric.

use super::{Estimate, FEW};
use crate::intervals::{Interval, NamedInterval, alike};
use crate::{Scores, Splitting, WorkbenchError};
use mercer_datasets::Truths;
use mercer_learning::{Metric, counted};
use mercer_statistics::{corrected_t, summarise};
use std::collections::BTreeMap;

/// Over the parts that have it.
pub(super) fn mean_over(scores: &[Scores], name: &str) -> Option<f64> {
    let values: Vec<f64> = scores.iter().filter_map(|own| own.get(name).copied()).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Metrics that some test part does not define: the R² of one row, the area under the curve without one of the classes.
/// Also the root of the mean square where every part has one row. They are over all rows of a repeat, which its folds
/// test once each; then the mean over the repeats. Each with a note; without a value where no rows define it. Before
/// them all rows of the first repeat.
pub(super) fn pooled(
    splitting: Splitting,
    scores: &[Scores],
    said: Vec<NamedInterval>,
) -> (NamedInterval, Vec<(String, Option<f64>, String)>) {
    let per_repeat = match splitting {
        Splitting::Folds { folds, .. } => folds,
        Splitting::HoldOut { .. } => 1,
    };
    let of_one_row = said.iter().all(|said| said.truths.len() == 1);
    let of_few = said.iter().filter(|said| said.truths.len() < FEW).count();
    let scores_known = said[0].shares.is_some() || said[0].decisions.is_some();
    let regression = matches!(said[0].truths, Truths::Values(_));
    let mut repeats = by_repeat(said, per_repeat);
    let of_repeats: Vec<Scores> = repeats.iter().map(NamedInterval::scores).collect();
    let mean = |name: &str| {
        let values: Option<Vec<f64>> =
            of_repeats.iter().map(|own| own.get(name).copied()).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    let parts = counted(scores.len(), "test part", "test parts");
    let mut found = Vec::new();
    let names: &[&str] = if regression { &["r2", "mape"] } else { &["auc", "average-precision"] };
    // Without scores no part defines them, and that is no news.
    for name in names.iter().copied().filter(|_| regression || scores_known) {
        let without = scores.iter().filter(|own| !own.contains_key(name)).count();
        if without == 0 && name == "r2" && of_few > 0 {
            let told = format!(
                "`r2` says little of test parts of fewer than {FEW} rows: it is taken over all rows of a repeat, and \
                 has no interval"
            );
            found.push((name.to_owned(), mean(name), told));
        }
        if without == 0 {
            continue;
        }
        // Scores of different fits are not on one scale: an order of all rows is the last resort.
        let some = name != "r2" && without < scores.len();
        let value = if some { mean_over(scores, name) } else { mean(name) };
        let instead = match value {
            Some(_) if some => "it is the mean over the others, and has no interval",
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

/// The test parts of each repeat as one.
fn by_repeat(said: Vec<NamedInterval>, parts: usize) -> Vec<NamedInterval> {
    let mut said = said.into_iter();
    let mut repeats = Vec::new();
    while let Some(first) = said.next() {
        repeats.push(said.by_ref().take(parts - 1).fold(first, NamedInterval::and));
    }
    repeats
}

/// What a metric cannot leave.
fn range_of(name: &str) -> (f64, f64) {
    match name {
        "r2" => (f64::NEG_INFINITY, 1.0),
        "auc" | "average-precision" | "f1" | "precision" => (0.0, 1.0),
        "brier" => (0.0, 2.0),
        accuracy if accuracy.ends_with("accuracy") => (0.0, 1.0),
        _ => (0.0, f64::INFINITY),
    }
}

pub(super) fn estimates(
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
            let by = if test_over_train > 0.0 {
                "corrected resampled t over the splits"
            } else {
                "t over the folds, drawn once"
            };
            let by = by.to_owned();
            (!alike(&values)).then_some(Interval { ends, by })
        } else {
            of_one.remove(name)
        };
        let (interval, interval_by) = interval.map(|found| (found.ends, found.by)).unzip();
        estimates.insert(name.clone(), Estimate { mean, std, interval, interval_by });
    }
    Ok(estimates)
}
