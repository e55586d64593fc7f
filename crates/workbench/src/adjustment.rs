//! Adjustment of a method's scores: calibrated probabilities, and the threshold of two classes.

use crate::rescaling::rescaled;
use crate::{Division, WorkbenchError};
use mercer_datasets::Scaling;
use mercer_learning::{
    Calibration, FittedKernel, LearningError, Metric, Predictions, Predictor, Sample, State, Task,
    averaged_classes, folds, margins, scores_to_calibrate,
};
use mercer_linalg::{MatrixView, SparseRows};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The second class is predicted above this.
///
/// ```
/// use mercer_learning::Metric;
/// let chosen = mercer_workbench::Threshold { at: 0.2, metric: Metric::F1, score: 0.8 };
/// assert_eq!(serde_json::to_value(chosen)?["metric"], "f1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// Of its probability, or where there is none of its score minus the other's.
    pub at: f64,
    /// What it was chosen by.
    pub metric: Metric,
    /// What that was over the rows held out inside the training part.
    pub score: f64,
}

impl Threshold {
    /// The one between two values that is the best; of equal ones the nearest to `usual`.
    fn choose(values: &[f64], labels: &[u32], metric: Metric, usual: f64) -> Self {
        let mut rows: Vec<(f64, u32)> =
            values.iter().copied().zip(labels.iter().copied()).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        // All are taken for the second class; one after the other goes to the first.
        let mut counts = vec![vec![0u64; 2]; 2];
        for &(_, label) in &rows {
            counts[label as usize][1] += 1;
        }
        let mut best: Option<Self> = None;
        for (at, &(value, label)) in rows.iter().enumerate() {
            counts[label as usize][1] -= 1;
            counts[label as usize][0] += 1;
            let Some(&(next, _)) = rows.get(at + 1) else { break };
            if value.partial_cmp(&next) == Some(Ordering::Equal) {
                continue;
            }
            let found = Self { at: f64::midpoint(value, next), metric, score: of(&counts, metric) };
            let better = best.is_none_or(|best| {
                let nearer = (found.at - usual).abs() < (best.at - usual).abs();
                found.score > best.score || found.score >= best.score && nearer
            });
            if better {
                best = Some(found);
            }
        }
        best.unwrap_or_else(|| {
            // All values are the same one.
            let mut counts = vec![vec![0u64; 2]; 2];
            for (value, label) in rows {
                counts[label as usize][usize::from(value > usual)] += 1;
            }
            Self { at: usual, metric, score: of(&counts, metric) }
        })
    }
}

/// Metrics that a threshold moves, and that its rows count alone.
pub(crate) const CHOSEN_BY: [Metric; 4] =
    [Metric::Accuracy, Metric::BalancedAccuracy, Metric::F1, Metric::Precision];

/// A metric of a confusion matrix.
fn of(counts: &[Vec<u64>], metric: Metric) -> f64 {
    let found = averaged_classes(counts);
    let mean = |at: usize| found.iter().map(|own| own[at]).sum::<f64>() / found.len() as f64;
    match metric {
        Metric::Precision => mean(0),
        Metric::F1 => mean(2),
        Metric::BalancedAccuracy => {
            let recall = |class: usize| {
                let rows: u64 = counts[class].iter().sum();
                (rows > 0).then(|| counts[class][class] as f64 / rows as f64)
            };
            let recalls: Vec<f64> = (0..counts.len()).filter_map(recall).collect();
            recalls.iter().sum::<f64>() / recalls.len() as f64
        }
        _ => {
            let right: u64 = (0..counts.len()).map(|class| counts[class][class]).sum();
            right as f64 / counts.iter().flatten().sum::<u64>() as f64
        }
    }
}

/// What was learned from rows held out inside the training part.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_learning::Metric;
/// use mercer_workbench::{Choices, Table, fit};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n-5,a\n1,b\n2,b\n3,b\n4,b\n5,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let choices = Choices { calibrate: true, threshold: Some(Metric::F1), ..Choices::plain() };
/// let model = fit(BASELINES, "gaussian-svm", &table, &choices)?;
/// let adjustment = model.header.adjustment.expect("it was asked for");
/// assert_eq!(adjustment.threshold.expect("and this").score, 1.0);
/// let shares = model.probabilities(ndarray::array![[-3.0], [3.0]], "two rows", &[1, 2], 1)?;
/// assert!(shares[[0, 0]] > 0.5 && shares[[1, 1]] > 0.5);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Adjustment {
    /// How scores become probabilities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// What is added to probabilities before they are calibrated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub smoothing: f64,
    /// Where the second class begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Threshold>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &f64) -> bool {
    value.abs() <= 0.0
}

/// Parts of the training rows; each is held out once.
const FOLDS: usize = 5;

/// The fold in which each row is held out, and whether that is at random though a column divides the rows: groups stay
/// whole, in time only the last fifth is held out, other rows go by class.
pub(crate) fn deal(
    labels: &[u32],
    division: Option<&Division>,
    rng: &mut impl rand::Rng,
) -> (Vec<usize>, bool) {
    let by_column = division.map(|division| division.dealt(FOLDS, labels, rng));
    let both = |rows: &mut dyn Iterator<Item = u32>| rows.collect::<BTreeSet<_>>().len() > 1;
    let sound = by_column.as_ref().is_some_and(|held| {
        let of = |wanted: &dyn Fn(usize) -> bool| {
            both(&mut held.iter().zip(labels).filter(|(fold, _)| wanted(**fold)).map(|(_, l)| *l))
        };
        of(&|fold| fold < FOLDS) && (0..FOLDS).all(|out| of(&|fold| fold != out))
    });
    match by_column {
        Some(held) if sound => (held, false),
        _ => (folds(labels, FOLDS.min(labels.len()), rng), division.is_some()),
    }
}

/// Learns it from the scores of training rows that `fit` did not see: of each of five folds by a fit to the others.
///
/// # Errors
/// [`WorkbenchError::Argument`] where the task has no such thing or a class has fewer than two rows; what `fit` returns.
pub(crate) fn learn(
    sample: &Sample,
    (calibrate, threshold): (bool, Option<Metric>),
    scaling: Scaling,
    deal: impl FnOnce(&[u32]) -> Vec<usize>,
    fit: impl FnMut(&Sample, usize) -> Result<Box<dyn Predictor>, WorkbenchError>,
) -> Result<Option<Adjustment>, WorkbenchError> {
    let refused = |name, value: &str, must: &str| {
        Err(WorkbenchError::Argument { name, value: value.to_owned(), must: must.to_owned() })
    };
    if !calibrate && threshold.is_none() {
        return Ok(None);
    }
    let asked = if calibrate { "calibrate" } else { "threshold" };
    let Some(labels) = sample.labels() else {
        return refused(asked, "given for a target of numbers", "left out: it is for classes");
    };
    let classes = sample.task().outputs();
    if threshold.is_some() && classes != 2 {
        let given = format!("given for a target of {classes} classes");
        return refused("threshold", &given, "left out: it is for two");
    }
    if let Some(metric) = threshold.filter(|metric| !CHOSEN_BY.contains(metric)) {
        let names = CHOSEN_BY.map(Metric::name).join(", ");
        return refused("threshold", &format!("`{}`", metric.name()), &format!("one of {names}"));
    }
    let rows_of = |class: u32| labels.iter().filter(|&&label| label == class).count();
    let alone: Vec<u32> = (0..classes as u32).filter(|&class| rows_of(class) == 1).collect();
    if classes == 2 && !alone.is_empty() {
        let rows = labels.len();
        let given = format!("asked for, and a class has one of {rows} training rows");
        return refused(
            asked,
            &given,
            "left out, or each class must have two rows that train (fewer folds)",
        );
    }
    let mut held = deal(labels);
    // The only row of a class trains each time.
    for (held, label) in held.iter_mut().zip(labels) {
        if alone.contains(label) {
            *held = FOLDS;
        }
    }
    let smoothing = if calibrate { 1.0 / labels.len() as f64 } else { 0.0 };
    let (scores, shares, varies) = held_out(sample, scaling, (&held, smoothing), fit)?;
    let tested: Vec<usize> = (0..labels.len()).filter(|&row| held[row] < FOLDS).collect();
    let scores = scores.select(Axis(0), &tested);
    let labels: Vec<u32> = tested.iter().map(|&row| labels[row]).collect();
    // Of a method that gives all rows of a fold one score, the folds differ by what was held out of them.
    let levelled = if varies { scores.clone() } else { Array2::zeros(scores.dim()) };
    let calibration = calibrate.then(|| Calibration::fit(levelled.view(), &labels));
    let threshold = threshold.map(|metric| {
        let (values, usual) = ranked(calibration, shares, &scores);
        Threshold::choose(&values, &labels, metric, usual)
    });
    Ok(Some(Adjustment { calibration, smoothing, threshold }))
}

/// The scores of each row by a fit without its fold, whether they are of probabilities, and whether they vary in a fold.
fn held_out(
    sample: &Sample,
    scaling: Scaling,
    (held, smoothing): (&[usize], f64),
    mut fit: impl FnMut(&Sample, usize) -> Result<Box<dyn Predictor>, WorkbenchError>,
) -> Result<(Array2<f64>, bool, bool), WorkbenchError> {
    let mut scores = Array2::zeros((held.len(), sample.task().outputs()));
    let (mut shares, mut varies) = (false, false);
    for fold in 0..FOLDS {
        let (test, train): (Vec<usize>, Vec<usize>) =
            (0..held.len()).partition(|&row| held[row] == fold);
        if test.is_empty() {
            continue;
        }
        // They are scaled by the rows that train, as new rows will be.
        let (train, test_rows) = rescaled(scaling, sample.select(&train)?, sample.select(&test)?)?;
        let predictor = fit(&train, fold)?;
        let own = scores_to_calibrate(&*predictor, test_rows.matrix(), smoothing)?;
        shares = own.1;
        varies |= own.0.rows().into_iter().any(|row| row != own.0.row(0));
        for (at, &row) in test.iter().enumerate() {
            scores.row_mut(row).assign(&own.0.row(at));
        }
    }
    Ok((scores, shares, varies))
}

/// What a threshold is set on: the second class's probability, usually cut at a half, or its score minus the other's, cut
/// at 0.
fn ranked(
    calibration: Option<Calibration>,
    are_shares: bool,
    scores: &Array2<f64>,
) -> (Vec<f64>, f64) {
    let second = |shares: Array2<f64>| shares.column(1).to_vec();
    match calibration {
        Some(calibration) => (second(calibration.probabilities(scores.view())), 0.5),
        None if are_shares => (second(scores.mapv(f64::exp)), 0.5),
        None => (margins(scores), 0.0),
    }
}

/// A predictor with its adjustment.
pub(crate) struct Adjusted {
    pub inner: Box<dyn Predictor>,
    pub by: Adjustment,
}

impl Adjusted {
    /// Returns the predictor, adjusted if there is something to adjust.
    pub fn of(inner: Box<dyn Predictor>, by: Option<Adjustment>) -> Box<dyn Predictor> {
        match by {
            Some(by) => Box::new(Self { inner, by }),
            None => inner,
        }
    }
}

impl Predictor for Adjusted {
    fn task(&self) -> Task {
        self.inner.task()
    }

    fn features(&self) -> usize {
        self.inner.features()
    }

    /// The method's own: what bounds are about.
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.inner.decision(inputs)
    }

    fn try_decision(&self, inputs: ArrayView2<'_, f64>) -> Result<Array2<f64>, LearningError> {
        self.inner.try_decision(inputs)
    }

    fn predict(&self, inputs: ArrayView2<'_, f64>) -> Result<Predictions, LearningError> {
        if inputs.ncols() != self.features() || inputs.iter().any(|value| !value.is_finite()) {
            // It says what is wrong.
            return self.inner.predict(inputs);
        }
        self.predict_rows(inputs.into())
    }

    fn sparse_decision(&self, inputs: &SparseRows) -> Option<Array2<f64>> {
        self.inner.sparse_decision(inputs)
    }

    fn predict_rows(&self, inputs: MatrixView<'_>) -> Result<Predictions, LearningError> {
        let Adjustment { calibration, smoothing, threshold } = self.by;
        let (scores, are_shares) = scores_to_calibrate(&*self.inner, inputs, smoothing)?;
        if let Some(Threshold { at, .. }) = threshold {
            let (values, _) = ranked(calibration, are_shares, &scores);
            return Ok(Predictions::Classes(
                values.iter().map(|value| u32::from(*value > at)).collect(),
            ));
        }
        let shares = calibration.map(|calibration| calibration.probabilities(scores.view()));
        Ok(Predictions::of_scores(self.task(), shares.unwrap_or(scores).view()))
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        self.probabilities_rows(inputs.into())
    }

    fn probabilities_rows(&self, inputs: MatrixView<'_>) -> Option<Array2<f64>> {
        let Some(calibration) = self.by.calibration else {
            return self.inner.probabilities_rows(inputs);
        };
        let (scores, _) = scores_to_calibrate(&*self.inner, inputs, self.by.smoothing).ok()?;
        Some(calibration.probabilities(scores.view()))
    }

    fn deviations(&self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        self.inner.deviations(inputs)
    }

    fn embedded_entropy(&self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        self.inner.embedded_entropy(inputs)
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        self.inner.fitted_kernel()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::{ranked_score, rankings};
    use ndarray::Array2;
    use serde_json::Value;

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|own| own.as_f64().unwrap()).collect()
    }

    /// `adjustment.json` was made by scikit-learn; the version stands in it. Its minimiser ends at 1e-6 or so.
    #[test]
    fn calibrations_and_thresholds_are_those_of_scikit_learn() {
        let text = include_str!("../tests/fixtures/adjustment.json");
        let made: Value = serde_json::from_str(text).unwrap();
        let scores = numbers(&made["margins"]);
        let labels: Vec<u32> = numbers(&made["truth"]).iter().map(|&own| own as u32).collect();
        let pairs =
            Array2::from_shape_fn(
                (scores.len(), 2),
                |(row, class)| {
                    if class == 1 { scores[row] } else { 0.0 }
                },
            );
        let Calibration::Sigmoid { slope, shift } = Calibration::fit(pairs.view(), &labels) else {
            panic!("two classes")
        };
        for (found, name) in [(slope, "slope"), (shift, "shift")] {
            let expected = made[name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-4, "{name}: {found} {expected}");
        }
        let classes = numbers(&made["classes"]);
        let labels_of_three: Vec<u32> = classes.iter().map(|&own| own as u32).collect();
        let three: Vec<f64> = made["scores"].as_array().unwrap().iter().flat_map(numbers).collect();
        let three = Array2::from_shape_vec((classes.len(), 3), three).unwrap();
        let Calibration::Softmax { factor } = Calibration::fit(three.view(), &labels_of_three)
        else {
            panic!("three classes")
        };
        let expected = made["factor"].as_f64().unwrap();
        assert!((factor - expected).abs() < 1e-4 * expected, "{factor} {expected}");
        let shares = Calibration::Softmax { factor: 1.0 }.probabilities(three.view());
        let ranked = rankings(&shares, true);
        for (metric, name) in
            [(Metric::Auc, "auc_ovr"), (Metric::AveragePrecision, "average_precision_macro")]
        {
            let found = ranked_score(metric, &ranked, &labels_of_three).unwrap();
            let expected = made[name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-12, "{name}: {found} {expected}");
        }
        for (metric, name) in [
            (Metric::BalancedAccuracy, "balanced_accuracy"),
            (Metric::F1, "f1_macro"),
            (Metric::Accuracy, "accuracy"),
        ] {
            let found = Threshold::choose(&scores, &labels, metric, 0.0);
            let expected = made[name].as_f64().unwrap();
            assert!((found.score - expected).abs() < 1e-12, "{name}: {found:?} {expected}");
            // The rule gives that score.
            let mut counts = vec![vec![0; 2]; 2];
            for (&score, &label) in scores.iter().zip(&labels) {
                counts[label as usize][usize::from(score > found.at)] += 1;
            }
            assert!((of(&counts, metric) - expected).abs() < 1e-12, "{name}");
        }
    }

    #[test]
    fn equal_thresholds_end_at_the_nearest_to_the_usual_one() {
        let found = Threshold::choose(&[-3.0, -1.0, 3.0, 5.0], &[0, 0, 1, 1], Metric::F1, 0.0);
        assert_eq!((found.at, found.score), (1.0, 1.0));
        // Nothing lies between equal values.
        let alike = Threshold::choose(&[2.0, 2.0], &[0, 1], Metric::Accuracy, 0.0);
        assert_eq!(alike.at.to_bits(), 0);
        // Above the usual one all are of the second class, below it none.
        let score =
            |value: f64| Threshold::choose(&[value; 4], &[0, 1, 1, 1], Metric::Accuracy, 0.5).score;
        assert_eq!((score(0.7), score(0.2)), (0.75, 0.25));
    }
}
