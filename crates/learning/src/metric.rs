use crate::{LearningError, Predictions, Predictor, Sample, Task};
use ndarray::{Array2, ArrayView1, ArrayView2};
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
    /// Mean over the classes of the harmonic mean of precision and recall, in `[0, 1]`.
    F1,
    /// Mean precision over the classes, in `[0, 1]`. It is the share of the rows predicted as a class that belong to
    /// it.
    Precision,
    /// Mean of `−ln p_y`.
    LogLoss,
    /// Mean of `‖p − e_y‖²`.
    Brier,
    /// Share of pairs of rows of either class whose scores are ordered right. Ties count half. Of more than two classes
    /// the mean over each class against all others.
    Auc,
    /// Mean precision over the rows of the second class, each at its own threshold. Of more than two classes the mean
    /// over each class against all others.
    AveragePrecision,
    /// Share of the targets' variance that the predictions explain.
    R2,
    /// Mean of `|p − t| / |t|`.
    Mape,
}

impl Metric {
    /// Returns the name in a record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::BalancedAccuracy => "balanced-accuracy",
            Self::Rmse => "rmse",
            Self::Mae => "mae",
            Self::F1 => "f1",
            Self::Precision => "precision",
            Self::LogLoss => "log-loss",
            Self::Brier => "brier",
            Self::Auc => "auc",
            Self::AveragePrecision => "average-precision",
            Self::R2 => "r2",
            Self::Mape => "mape",
        }
    }

    /// Returns whether a larger value is a better one.
    ///
    /// ```
    /// use mercer_learning::Metric;
    /// assert!(Metric::Accuracy.larger_is_better() && !Metric::Rmse.larger_is_better());
    /// ```
    pub const fn larger_is_better(self) -> bool {
        match self {
            Self::Accuracy
            | Self::BalancedAccuracy
            | Self::F1
            | Self::Precision
            | Self::Auc
            | Self::AveragePrecision
            | Self::R2 => true,
            Self::Rmse | Self::Mae | Self::LogLoss | Self::Brier | Self::Mape => false,
        }
    }

    /// Returns metrics that your own table can be tuned and ranked by.
    ///
    /// ```
    /// use mercer_learning::{Metric, Task};
    /// assert!(Metric::of_task(Task::Regression).contains(&Metric::R2));
    /// assert!(Metric::of_task(Task::Classification { classes: 3 }).contains(&Metric::Auc));
    /// ```
    pub const fn of_task(task: Task) -> &'static [Self] {
        const CLASSES: &[Metric] = &[
            Metric::Accuracy,
            Metric::BalancedAccuracy,
            Metric::F1,
            Metric::Precision,
            Metric::LogLoss,
            Metric::Brier,
            Metric::Auc,
            Metric::AveragePrecision,
        ];
        match task {
            Task::Classification { .. } => CLASSES,
            Task::Regression => &[Self::Rmse, Self::Mae, Self::R2, Self::Mape],
        }
    }

    /// Computes the metric of a predictor on a sample. There is none where the predictor has no probabilities, or the
    /// rows do not define it.
    ///
    /// ```
    /// use mercer_learning::{Metric, Predictor, Sample, State, Task};
    /// use ndarray::{Array2, ArrayView2, array};
    /// /// Scores the second class by the input.
    /// struct Slope;
    /// impl Predictor for Slope {
    ///     fn task(&self) -> Task { Task::Classification { classes: 2 } }
    ///     fn features(&self) -> usize { 1 }
    ///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
    ///         ndarray::concatenate![ndarray::Axis(1), Array2::zeros(inputs.dim()), inputs]
    ///     }
    ///     fn state(&self) -> State { State::new() }
    /// }
    /// let sample = Sample::classification(array![[-1.0], [2.0], [1.0]], vec![0, 1, 0], 2)?;
    /// assert_eq!(Metric::Auc.of(&Slope, &sample)?, Some(1.0));
    /// assert_eq!(Metric::LogLoss.of(&Slope, &sample)?, None); // it has no probabilities
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Predictor::predict`].
    pub fn of(
        self,
        predictor: &dyn Predictor,
        sample: &Sample,
    ) -> Result<Option<f64>, LearningError> {
        let classes = sample.task().outputs();
        if let Some(truth) = sample.labels() {
            let mean = |losses: Vec<f64>| losses.iter().sum::<f64>() / truth.len() as f64;
            let shares = || predictor.probabilities_rows(sample.matrix());
            let losses = || shares().map(|own| row_losses(own.view(), truth));
            return Ok(match self {
                Self::Auc | Self::AveragePrecision => {
                    let rankings = match shares() {
                        Some(shares) => rankings(&shares, true),
                        None => rankings(&predictor.decision_rows(sample.matrix())?, false),
                    };
                    ranked_score(self, &rankings, truth)
                }
                Self::LogLoss => losses().map(|(own, _)| mean(own)),
                Self::Brier => losses().map(|(_, own)| mean(own)),
                _ => match predictor.predict_rows(sample.matrix())? {
                    Predictions::Classes(labels) => {
                        class_scores(&labels, truth, classes).remove(self.name())
                    }
                    Predictions::Real(_) => None,
                },
            });
        }
        let truth = sample.values().map(|own| own.to_vec()).unwrap_or_default();
        Ok(match predictor.predict_rows(sample.matrix())? {
            Predictions::Real(values) => value_scores(&values, &truth).remove(self.name()),
            Predictions::Classes(_) => None,
        })
    }
}

/// Returns the second class's score minus the first's, a row.
///
/// ```
/// assert_eq!(mercer_learning::margins(&ndarray::array![[0.25, 0.75], [1.0, 0.0]]), [0.5, -1.0]);
/// ```
pub fn margins(decision: &Array2<f64>) -> Vec<f64> {
    decision.rows().into_iter().map(|row| row[1] - row[0]).collect()
}

/// Returns rows of each true class (down) that were predicted as each class (across).
///
/// ```
/// assert_eq!(mercer_learning::confusion(&[0, 0, 1], &[0, 1, 1], 2), [[1, 0], [1, 1]]);
/// ```
///
/// # Panics
/// If the lengths differ or a label is not below `classes`.
pub fn confusion(predicted: &[u32], truth: &[u32], classes: usize) -> Vec<Vec<u64>> {
    assert_eq!(predicted.len(), truth.len(), "predictions and truth differ in length");
    let mut counts = vec![vec![0; classes]; classes];
    for (&p, &t) in predicted.iter().zip(truth) {
        counts[t as usize][p as usize] += 1;
    }
    counts
}

/// Computes precision, recall and F1 of each class, of the counts of [`confusion`]. A precision without a prediction,
/// and what rests on it, is 0, a class without rows is none.
///
/// ```
/// let found = mercer_learning::by_class(&[vec![8, 2], vec![1, 3]]);
/// let [precision, recall, f1] = found[1].expect("it has rows");
/// assert_eq!((precision, recall), (0.6, 0.75));
/// assert!((f1 - 2.0 / 3.0).abs() < 1e-15);
/// ```
pub fn by_class(confusion: &[Vec<u64>]) -> Vec<Option<[f64; 3]>> {
    let of_class = |class: usize| {
        let rows: u64 = confusion[class].iter().sum();
        let predicted: u64 = confusion.iter().map(|row| row[class]).sum();
        let right = confusion[class][class] as f64;
        let share = |of: u64| if of == 0 { 0.0 } else { right / of as f64 };
        let (precision, recall) = (share(predicted), share(rows));
        let sum = precision + recall;
        let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        (rows > 0).then_some([precision, recall, f1])
    };
    (0..confusion.len()).map(of_class).collect()
}

/// Returns [`by_class`] of the classes that means are over: those with rows, and those that are predicted without any,
/// which count with 0.
///
/// ```
/// let found = mercer_learning::averaged_classes(&[vec![1, 0, 1], vec![0, 0, 0], vec![0, 0, 0]]);
/// assert_eq!(found, [[1.0, 0.5, 2.0 / 3.0], [0.0; 3]]); // of classes 0 and 2
/// ```
pub fn averaged_classes(confusion: &[Vec<u64>]) -> Vec<[f64; 3]> {
    let predicted = |class: usize| confusion.iter().any(|row| row[class] > 0);
    let of = |(class, own): (usize, Option<[f64; 3]>)| {
        own.or_else(|| predicted(class).then_some([0.0; 3]))
    };
    by_class(confusion).into_iter().enumerate().filter_map(of).collect()
}

/// Returns metrics of predicted classes, by name.
///
/// ```
/// let found = mercer_learning::class_scores(&[0, 0, 1, 1], &[0, 0, 0, 1], 2);
/// assert_eq!((found["accuracy"], found["precision"]), (0.75, 0.75)); // precisions 1 and 1/2
/// let found = mercer_learning::class_scores(&[0, 2], &[0, 0], 3);
/// assert_eq!((found["precision"], found["balanced-accuracy"]), (0.5, 0.5)); // class 2 is predicted, and absent
/// ```
///
/// # Panics
/// As [`confusion`].
pub fn class_scores(labels: &[u32], truth: &[u32], classes: usize) -> BTreeMap<String, f64> {
    let found = averaged_classes(&confusion(labels, truth, classes));
    let mean = |at: usize| found.iter().map(|own| own[at]).sum::<f64>() / found.len() as f64;
    BTreeMap::from(
        [
            (Metric::Accuracy, accuracy(labels, truth)),
            (Metric::BalancedAccuracy, balanced_accuracy(labels, truth, classes)),
            (Metric::Precision, mean(0)),
            (Metric::F1, mean(2)),
        ]
        .map(|(metric, value)| (metric.name().to_owned(), value)),
    )
}

/// Computes metrics of predicted values, by name. It leaves out metrics that the targets do not define: `r2` where they
/// do not vary, `mape` where one is 0.
///
/// ```
/// let found = mercer_learning::value_scores(&[1.0, 3.0], &[2.0, 4.0]);
/// assert_eq!((found["mae"], found["r2"], found["mape"]), (1.0, 0.0, 0.375));
/// assert!(!mercer_learning::value_scores(&[1.0], &[2.0]).contains_key("r2"));
/// ```
///
/// # Panics
/// If the lengths differ.
pub fn value_scores(values: &[f64], truth: &[f64]) -> BTreeMap<String, f64> {
    let named = |metric: Metric, value: f64| (metric.name().to_owned(), value);
    let rmse = root_mean_squared_error(values, truth);
    let mut scores = BTreeMap::from([
        named(Metric::Rmse, rmse),
        named(Metric::Mae, mean_absolute_error(values, truth)),
    ]);
    let rows = truth.len() as f64;
    let mean = truth.iter().sum::<f64>() / rows;
    let variance = truth.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / rows;
    if variance > 0.0 {
        scores.extend([named(Metric::R2, 1.0 - rmse * rmse / variance)]);
    }
    if truth.iter().all(|&y| y.abs() > 0.0) {
        let shares = values.iter().zip(truth).map(|(f, y)| ((f - y) / y).abs());
        scores.extend([named(Metric::Mape, shares.sum::<f64>() / rows)]);
    }
    scores
}

/// Probabilities below this count as this in the logarithm: one certain error must not be infinite.
const LEAST: f64 = 1e-15;

/// What each row adds to `log-loss` and to `brier`.
///
/// ```
/// let (log_losses, briers) = mercer_learning::row_losses(ndarray::array![[0.5, 0.5]].view(), &[1]);
/// assert_eq!((log_losses[0], briers[0]), (2f64.ln(), 0.5));
/// ```
pub fn row_losses(shares: ArrayView2<'_, f64>, labels: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let rows = || shares.rows().into_iter().zip(labels.iter().map(|&label| label as usize));
    let brier = |row: ArrayView1<'_, f64>, y: usize| {
        row.iter().map(|p| p * p).sum::<f64>() - 2.0 * row[y] + 1.0
    };
    (
        rows().map(|(row, y)| -row[y].max(LEAST).ln()).collect(),
        rows().map(|(row, y)| brier(row, y)).collect(),
    )
}

/// Computes Mann and Whitney's statistic over the product of the counts. It is `None` where a class is absent.
///
/// ```
/// use mercer_learning::area_under_curve;
/// assert_eq!(area_under_curve(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1]), Some(0.75));
/// assert_eq!(area_under_curve(&[0.1, 0.4], &[0, 0]), None);
/// ```
pub fn area_under_curve(of_second: &[f64], labels: &[u32]) -> Option<f64> {
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

/// Computes the average precision: the sum over thresholds of the precision there, times the share of the second class's
/// rows that are new there. It is `None` where a class is absent.
///
/// ```
/// use mercer_learning::average_precision;
/// let found = average_precision(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1]).expect("both classes");
/// assert!((found - (0.5 * 1.0 + 0.5 * 2.0 / 3.0)).abs() < 1e-15);
/// ```
pub fn average_precision(of_second: &[f64], labels: &[u32]) -> Option<f64> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|&a, &b| of_second[b].total_cmp(&of_second[a]));
    let second = labels.iter().filter(|&&label| label == 1).count();
    if second == 0 || second == labels.len() {
        return None;
    }
    let (mut right, mut all, mut sum) = (0, 0, 0.0);
    for tied in order.chunk_by(|&a, &b| of_second[a].total_cmp(&of_second[b]).is_eq()) {
        let here = tied.iter().filter(|&&row| labels[row] == 1).count();
        right += here;
        all += tied.len();
        sum += here as f64 * right as f64 / all as f64;
    }
    Some(sum / second as f64)
}

/// Returns what ranks the rows by each class, of scores or probabilities (`n × K`). It is the probability or the score of
/// the class; of two classes the second has the only one, of scores less the score of the first.
///
/// ```
/// let scores = ndarray::array![[0.1, 0.6, 0.3], [0.5, 0.2, 0.3]];
/// assert_eq!(mercer_learning::rankings(&scores, true)[1], [0.6, 0.2]);
/// assert_eq!(mercer_learning::rankings(&scores, false)[0], [0.1, 0.5]);
/// let two = ndarray::array![[0.25, 0.75]];
/// assert_eq!(mercer_learning::rankings(&two, false), [[0.5]]);
/// ```
pub fn rankings(scores: &Array2<f64>, are_probabilities: bool) -> Vec<Vec<f64>> {
    let classes = scores.ncols();
    let of_class = |class: usize| {
        let of_row = |row: ArrayView1<'_, f64>| {
            if classes == 2 && !are_probabilities { row[1] - row[0] } else { row[class] }
        };
        scores.rows().into_iter().map(of_row).collect()
    };
    (usize::from(classes == 2)..classes).map(of_class).collect()
}

/// Computes [`Metric::Auc`] or [`Metric::AveragePrecision`] of [`rankings`]. It is `None` where a class is absent; a class
/// whose ranking is empty is left out.
///
/// ```
/// use mercer_learning::{Metric, ranked_score};
/// let rankings = [vec![0.9, 0.1, 0.2], vec![0.0, 0.8, 0.3], vec![0.1, 0.1, 0.5]];
/// assert_eq!(ranked_score(Metric::Auc, &rankings, &[0, 1, 2]), Some(1.0));
/// assert_eq!(ranked_score(Metric::Auc, &rankings, &[0, 1, 1]), None);
/// let without = [rankings[0].clone(), rankings[1].clone(), Vec::new()];
/// assert_eq!(ranked_score(Metric::Auc, &without, &[0, 1, 1]), Some(1.0));
/// ```
pub fn ranked_score(metric: Metric, rankings: &[Vec<f64>], labels: &[u32]) -> Option<f64> {
    let of = |(index, scores): (usize, &Vec<f64>)| {
        // The only ranking of two classes is of the second.
        let class = if rankings.len() == 1 { 1 } else { index as u32 };
        let own: Vec<u32> = labels.iter().map(|&label| u32::from(label == class)).collect();
        match metric {
            Metric::AveragePrecision => average_precision(scores, &own),
            _ => area_under_curve(scores, &own),
        }
    };
    let ranked = rankings.iter().enumerate().filter(|(_, scores)| !scores.is_empty());
    let each: Option<Vec<f64>> = ranked.map(of).collect();
    each.filter(|each| !each.is_empty()).map(|each| each.iter().sum::<f64>() / each.len() as f64)
}

/// Returns the share of equal entries.
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

/// Returns the mean recall over the classes that occur in `truth`.
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

/// Returns `√(mean (p − t)²)`.
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

/// Returns `mean |p − t|`.
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

/// Computes the metrics of a record, by name. They are accuracy and balanced accuracy, or RMSE and mean absolute error.
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
    use proptest::prelude::*;

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
                Some(area) => prop_assert!((area - right / pairs).abs() < 1e-12),
                None => prop_assert!(pairs == 0.0),
            }
        }
    }
}
