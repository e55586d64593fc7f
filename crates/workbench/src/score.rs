use mercer_datasets::Truths;
use mercer_learning::{
    Metric, Predictions, Task, accuracy, balanced_accuracy, mean_absolute_error,
    root_mean_squared_error,
};
use ndarray::ArrayView2;
use std::collections::BTreeMap;

/// Metrics by name: accuracies as fractions; where the method has probabilities `log-loss`, `brier` and,
/// of two classes, `auc`; errors in the units of the target, and `r2`, the share of the targets'
/// variance that the predictions explain.
///
/// ```
/// use mercer_workbench::Scores;
/// let folds: [Scores; 2] = [0.75, 1.0].map(|share| [("accuracy".to_owned(), share)].into());
/// let mean = folds.iter().map(|scores| scores["accuracy"]).sum::<f64>() / 2.0;
/// assert_eq!(mean, 0.875); // a fraction, not percent
/// ```
pub type Scores = BTreeMap<String, f64>;

/// The metric that methods are chosen by.
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

/// Probabilities below this count as this in the logarithm: one certain error must not be infinite.
const LEAST: f64 = 1e-15;

/// Scores of class probabilities (`n × K`): `log-loss`, the mean of `−ln p_y`; `brier`, the mean of
/// `‖p − e_y‖²`; and of two classes that both occur `auc`, the share of pairs of rows of either class
/// whose probabilities are in the right order, ties counting half.
pub(crate) fn probability_scores(shares: ArrayView2<'_, f64>, labels: &[u32]) -> Scores {
    let (log_losses, briers) = row_losses(shares, labels);
    let mean = |losses: Vec<f64>| losses.iter().sum::<f64>() / labels.len() as f64;
    let mut scores = Scores::from([
        ("log-loss".to_owned(), mean(log_losses)),
        ("brier".to_owned(), mean(briers)),
    ]);
    if shares.ncols() == 2
        && let Some(area) = area_under_curve(&shares.column(1).to_vec(), labels)
    {
        scores.insert("auc".to_owned(), area);
    }
    scores
}

/// What each row adds to `log-loss` and to `brier`.
pub(crate) fn row_losses(shares: ArrayView2<'_, f64>, labels: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let rows = || shares.rows().into_iter().zip(labels.iter().map(|&label| label as usize));
    let brier = |row: ndarray::ArrayView1<'_, f64>, y: usize| {
        row.iter().map(|p| p * p).sum::<f64>() - 2.0 * row[y] + 1.0
    };
    (
        rows().map(|(row, y)| -row[y].max(LEAST).ln()).collect(),
        rows().map(|(row, y)| brier(row, y)).collect(),
    )
}

/// Mann and Whitney's statistic over the product of the counts; `None` where a class is absent.
fn area_under_curve(of_second: &[f64], labels: &[u32]) -> Option<f64> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| of_second[a].total_cmp(&of_second[b]));
    let second = labels.iter().filter(|&&label| label == 1).count() as f64;
    let first = labels.len() as f64 - second;
    let (mut ranks, mut at) = (0.0, 0);
    while at < order.len() {
        let tied = order[at..]
            .iter()
            .take_while(|&&row| of_second[row].total_cmp(&of_second[order[at]]).is_eq())
            .count();
        let rank = at as f64 + f64::midpoint(1.0, tied as f64);
        let here = order[at..at + tied].iter().filter(|&&row| labels[row] == 1).count();
        ranks += rank * here as f64;
        at += tied;
    }
    let pairs = first * second;
    (pairs > 0.0).then(|| (ranks - second * (second + 1.0) / 2.0) / pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;
    use proptest::prelude::*;

    #[test]
    fn scores_of_probabilities_are_those_of_the_definition() {
        let shares = array![[0.8, 0.2], [0.4, 0.6], [0.5, 0.5]];
        let found = probability_scores(shares.view(), &[0, 1, 0]);
        let log_loss = -(0.8f64.ln() + 0.6f64.ln() + 0.5f64.ln()) / 3.0;
        assert_abs_diff_eq!(found["log-loss"], log_loss, epsilon = 1e-15);
        assert_abs_diff_eq!(found["brier"], (0.08 + 0.32 + 0.5) / 3.0, epsilon = 1e-15);
        assert_abs_diff_eq!(found["auc"], 1.0, epsilon = 1e-15);
        let certain = probability_scores(array![[1.0, 0.0]].view(), &[1]);
        assert!(certain["log-loss"].is_finite() && !certain.contains_key("auc"));
        let three = probability_scores(array![[0.2, 0.3, 0.5]].view(), &[2]);
        assert_abs_diff_eq!(three["brier"], 0.04 + 0.09 + 0.25, epsilon = 1e-15);
    }

    proptest! {
        #[test]
        fn the_area_is_the_share_of_pairs_in_order(
            rows in proptest::collection::vec((0u32..2, 0u8..6), 2..40),
        ) {
            let labels: Vec<u32> = rows.iter().map(|&(label, _)| label).collect();
            let shares: Vec<f64> = rows.iter().map(|&(_, share)| f64::from(share) / 5.0).collect();
            let (mut right, mut pairs) = (0.0, 0.0);
            for a in 0..rows.len() {
                for b in 0..rows.len() {
                    if (labels[a], labels[b]) == (0, 1) {
                        pairs += 1.0;
                        right += match shares[a].total_cmp(&shares[b]) {
                            std::cmp::Ordering::Less => 1.0,
                            std::cmp::Ordering::Equal => 0.5,
                            std::cmp::Ordering::Greater => 0.0,
                        };
                    }
                }
            }
            match area_under_curve(&shares, &labels) {
                Some(area) => assert_abs_diff_eq!(area, right / pairs, epsilon = 1e-12),
                None => prop_assert!(pairs == 0.0),
            }
        }
    }
}
