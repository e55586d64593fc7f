use crate::{Predictions, Sample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a table shows of a trial.
///
/// ```
/// use mercer_learning::Metric;
/// assert_eq!(Metric::BalancedAccuracy.name(), "balanced-accuracy");
/// assert!(Metric::Accuracy.larger_is_better() && !Metric::Rmse.larger_is_better());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Share of rows classified correctly, in `[0, 1]`.
    Accuracy,
    /// Mean over the classes that occur of the share classified correctly, in `[0, 1]`.
    BalancedAccuracy,
    /// Root mean squared error, in target units.
    Rmse,
    /// Mean absolute error, in target units.
    Mae,
}

impl Metric {
    /// Name in a record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
        }
    }

    /// Whether a larger value is a better one.
    ///
    /// ```
    /// use mercer_learning::Metric;
    /// assert!(Metric::Accuracy.larger_is_better() && !Metric::Rmse.larger_is_better());
    /// ```
    pub const fn larger_is_better(self) -> bool {
        matches!(self, Self::Accuracy | Self::BalancedAccuracy)
    }
}

/// Share of equal entries.
///
/// ```
/// assert_eq!(mercer_learning::accuracy(&[0, 1, 1, 1], &[0, 1, 1, 0]), 0.75);
/// ```
///
/// # Panics
/// If the lengths differ.
pub fn accuracy(predicted: &[u32], truth: &[u32]) -> f64 {
    assert_eq!(predicted.len(), truth.len(), "predictions and truth differ in length");
    let correct = predicted.iter().zip(truth).filter(|(p, t)| p == t).count();
    correct as f64 / truth.len() as f64
}

/// Mean recall over the classes that occur in `truth`.
///
/// ```
/// // Two of three rows of class 0 are right, and the one of class 1.
/// let balanced = mercer_learning::balanced_accuracy(&[0, 0, 1, 1], &[0, 0, 0, 1], 2);
/// assert!((balanced - (2.0 / 3.0 + 1.0) / 2.0).abs() < 1e-15);
/// ```
///
/// # Panics
/// If the lengths differ or a label is not below `classes`.
pub fn balanced_accuracy(predicted: &[u32], truth: &[u32], classes: usize) -> f64 {
    assert_eq!(predicted.len(), truth.len(), "predictions and truth differ in length");
    let mut rows = vec![0usize; classes];
    let mut correct = vec![0usize; classes];
    for (&p, &t) in predicted.iter().zip(truth) {
        rows[t as usize] += 1;
        correct[t as usize] += usize::from(p == t);
    }
    let recalls: Vec<f64> = rows
        .iter()
        .zip(&correct)
        .filter(|&(&n, _)| n > 0)
        .map(|(&n, &c)| c as f64 / n as f64)
        .collect();
    recalls.iter().sum::<f64>() / recalls.len() as f64
}

/// `√(mean (p − t)²)`.
///
/// ```
/// assert_eq!(mercer_learning::root_mean_squared_error(&[1.0, 2.0], &[4.0, 6.0]), 12.5f64.sqrt());
/// ```
///
/// # Panics
/// If the lengths differ.
pub fn root_mean_squared_error(predicted: &[f64], truth: &[f64]) -> f64 {
    assert_eq!(predicted.len(), truth.len(), "predictions and truth differ in length");
    let sum: f64 = predicted.iter().zip(truth).map(|(p, t)| (p - t).powi(2)).sum();
    (sum / truth.len() as f64).sqrt()
}

/// `mean |p − t|`.
///
/// ```
/// assert_eq!(mercer_learning::mean_absolute_error(&[1.0, 2.0], &[4.0, 6.0]), 3.5);
/// ```
///
/// # Panics
/// If the lengths differ.
pub fn mean_absolute_error(predicted: &[f64], truth: &[f64]) -> f64 {
    assert_eq!(predicted.len(), truth.len(), "predictions and truth differ in length");
    let sum: f64 = predicted.iter().zip(truth).map(|(p, t)| (p - t).abs()).sum();
    sum / truth.len() as f64
}

/// Every metric of the task, by name.
///
/// ```
/// use mercer_learning::{Predictions, Sample, score};
/// use ndarray::array;
/// let sample = Sample::classification(array![[0.0], [1.0]], vec![0, 1], 2)?;
/// let scores = score(&Predictions::Classes(vec![0, 0]), &sample);
/// assert_eq!((scores["accuracy"], scores["balanced-accuracy"]), (0.5, 0.5));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
///
/// # Panics
/// If the predictions are for another task or another number of rows than the sample.
pub fn score(predictions: &Predictions, sample: &Sample) -> BTreeMap<String, f64> {
    let named = |metric: Metric, value: f64| (metric.name().to_owned(), value);
    match (predictions, sample.labels(), sample.values()) {
        (Predictions::Classes(labels), Some(truth), _) => BTreeMap::from([
            named(Metric::Accuracy, accuracy(labels, truth)),
            named(
                Metric::BalancedAccuracy,
                balanced_accuracy(labels, truth, sample.task().outputs()),
            ),
        ]),
        (Predictions::Real(values), _, Some(truth)) => {
            let truth = truth.to_vec();
            BTreeMap::from([
                named(Metric::Rmse, root_mean_squared_error(values, &truth)),
                named(Metric::Mae, mean_absolute_error(values, &truth)),
            ])
        }
        _ => panic!("predictions are for another task than the sample"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_accuracy_weighs_classes_equally_and_skips_absent_ones() {
        // Class 0: 3 of 4 right, class 1: 0 of 1; class 2 does not occur.
        let (predicted, truth) = ([0, 0, 0, 1, 0], [0, 0, 0, 0, 1]);
        assert!((balanced_accuracy(&predicted, &truth, 3) - 0.375).abs() < 1e-15);
        assert!((accuracy(&predicted, &truth) - 0.6).abs() < 1e-15);
    }

    #[test]
    fn errors_are_in_target_units() {
        let (predicted, truth) = ([1.0, 2.0], [1.0, 5.0]);
        assert!((root_mean_squared_error(&predicted, &truth) - 4.5f64.sqrt()).abs() < 1e-15);
        assert!((mean_absolute_error(&predicted, &truth) - 1.5).abs() < 1e-15);
    }
}
