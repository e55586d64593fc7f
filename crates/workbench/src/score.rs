use mercer_datasets::Truths;
use mercer_learning::{
    Metric, Predictions, Task, accuracy, balanced_accuracy, mean_absolute_error,
    root_mean_squared_error,
};
use std::collections::BTreeMap;

/// Metrics by name: accuracies as fractions, errors in the units of the target, and `r2`, the share
/// of the targets' variance that the predictions explain.
pub type Scores = BTreeMap<String, f64>;

/// The metric that methods are chosen by.
pub const fn primary(task: Task) -> Metric {
    match task {
        Task::Classification { .. } => Metric::Accuracy,
        Task::Regression => Metric::Rmse,
    }
}

/// Scores predictions in the units of the target.
///
/// # Panics
/// If the predictions are of another kind or number than the truths.
pub(crate) fn scores(predictions: &Predictions, truths: &Truths, classes: usize) -> Scores {
    let named = |metric: Metric, value: f64| (metric.name().to_owned(), value);
    match (predictions, truths) {
        (Predictions::Classes(labels), Truths::Classes(truth)) => BTreeMap::from([
            named(Metric::Accuracy, accuracy(labels, truth)),
            named(Metric::BalancedAccuracy, balanced_accuracy(labels, truth, classes)),
        ]),
        (Predictions::Real(values), Truths::Values(truth)) => {
            let rmse = root_mean_squared_error(values, truth);
            let mut scores = BTreeMap::from([
                named(Metric::Rmse, rmse),
                named(Metric::Mae, mean_absolute_error(values, truth)),
            ]);
            let mean = truth.iter().sum::<f64>() / truth.len() as f64;
            let variance =
                truth.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / truth.len() as f64;
            if variance > 0.0 {
                scores.insert("r2".to_owned(), 1.0 - rmse * rmse / variance);
            }
            scores
        }
        _ => panic!("predictions are for another task than the table"),
    }
}
