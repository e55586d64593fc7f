use mercer_datasets::Truths;
use mercer_learning::{Metric, Predictions, Task, class_scores, row_losses, value_scores};
use ndarray::ArrayView2;
use std::collections::BTreeMap;

/// Metrics by name:
/// - accuracies as fractions;
/// - where the method has probabilities `log-loss`, `brier` and, of two classes, `auc`;
/// - errors in the units of the target;
/// - `r2`, the share of the targets' variance that the predictions explain.
///
/// ```
/// use mercer_workbench::Scores;
/// let folds: [Scores; 2] = [0.75, 1.0].map(|share| [("accuracy".to_owned(), share)].into());
/// let mean = folds.iter().map(|scores| scores["accuracy"]).sum::<f64>() / 2.0;
/// assert_eq!(mean, 0.875); // a fraction, not percent
/// ```
pub type Scores = BTreeMap<String, f64>;

/// Returns the metric that methods are chosen by.
///
/// ```
/// use mercer_learning::{Metric, Task};
/// assert_eq!(mercer_workbench::primary(Task::Regression), Metric::Rmse);
/// ```
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
    match (predictions, truths) {
        (Predictions::Classes(labels), Truths::Classes(truth)) => {
            class_scores(labels, truth, classes)
        }
        (Predictions::Real(values), Truths::Values(truth)) => value_scores(values, truth),
        _ => panic!("predictions are for another task than the table"),
    }
}

/// Scores of class probabilities (`n × K`): `log-loss`, the mean of `−ln p_y`; `brier`, the mean of
/// `‖p − e_y‖²`.
pub(crate) fn probability_scores(shares: ArrayView2<'_, f64>, labels: &[u32]) -> Scores {
    let (log_losses, briers) = row_losses(shares, labels);
    let mean = |losses: Vec<f64>| losses.iter().sum::<f64>() / labels.len() as f64;
    Scores::from([("log-loss".to_owned(), mean(log_losses)), ("brier".to_owned(), mean(briers))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    #[test]
    fn scores_of_probabilities_are_those_of_the_definition() {
        let shares = array![[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]];
        let found = probability_scores(shares.view(), &[0, 1, 0]);
        let log_loss = -(0.8f64.ln() + 0.6f64.ln() + 0.5f64.ln()) / 3.0;
        assert_abs_diff_eq!(found["log-loss"], log_loss, epsilon = 1e-15);
        assert_abs_diff_eq!(found["brier"], (0.08 + 0.32 + 0.5) / 3.0, epsilon = 1e-15);
        let certain = probability_scores(array![[1.0, 0.0]].view(), &[1]);
        assert!(certain["log-loss"].is_finite());
        let three = probability_scores(array![[0.2, 0.3, 0.5]].view(), &[2]);
        assert_abs_diff_eq!(three["brier"], 0.04 + 0.09 + 0.25, epsilon = 1e-15);
    }
}
