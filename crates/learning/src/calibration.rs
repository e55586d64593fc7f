use crate::{LearningError, Predictor, margins};
use mercer_linalg::MatrixView;
use ndarray::{Array2, ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Probabilities from scores.
///
/// ```
/// use mercer_learning::Calibration;
/// let platt = Calibration::Sigmoid { slope: 2.0, shift: 0.0 };
/// let shares = platt.probabilities(ndarray::array![[0.0, 0.0], [0.0, 1.0]].view());
/// assert!((shares[[0, 1]] - 0.5).abs() < 1e-15);
/// assert!((shares[[1, 1]] - 1.0 / (1.0 + (-2.0f64).exp())).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// Platt scaling of two classes (Platt 1999). It is `1/(1 + exp(−(slope m + shift)))`, `m` the score of the second
    /// minus the score of the first.
    Sigmoid {
        /// Its slope.
        slope: f64,
        /// What it adds.
        shift: f64,
    },
    /// The softmax of scores times this number (Guo et al. 2017). The number is the inverse of a temperature.
    Softmax {
        /// The factor.
        factor: f64,
    },
}

impl Calibration {
    /// Fits it to scores (`n × K`) of rows that were not trained on, by maximum likelihood, with Platt's targets. These
    /// lie a little inside of 0 and 1: rows that are all right are no certainty.
    pub fn fit(scores: ArrayView2<'_, f64>, labels: &[u32]) -> Self {
        if scores.ncols() == 2 {
            let (slope, shift) = sigmoid(&margins(&scores.to_owned()), labels);
            Self::Sigmoid { slope, shift }
        } else {
            Self::Softmax { factor: softmax_factor(scores, labels) }
        }
    }

    /// Class probabilities (`n × K`) of scores (`n × K`).
    pub fn probabilities(self, scores: ArrayView2<'_, f64>) -> Array2<f64> {
        match self {
            Self::Sigmoid { slope, shift } => {
                let of =
                    |row: usize| logistic(slope * (scores[[row, 1]] - scores[[row, 0]]) + shift);
                Array2::from_shape_fn(scores.dim(), |(row, class)| {
                    let second = of(row);
                    if class == 1 { second } else { 1.0 - second }
                })
            }
            Self::Softmax { factor } => {
                let mut shares = scores.to_owned();
                for mut row in shares.rows_mut() {
                    let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    row.mapv_inplace(|score| (factor * (score - top)).exp());
                    let sum = row.sum();
                    row /= sum;
                }
                shares
            }
        }
    }
}

fn logistic(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// Slope and shift of Platt's sigmoid by Newton's method with halved steps, as Lin, Lin and Weng (2007).
fn sigmoid(margins: &[f64], labels: &[u32]) -> (f64, f64) {
    let second = labels.iter().filter(|&&label| label == 1).count() as f64;
    let first = labels.len() as f64 - second;
    let targets = [1.0 / (first + 2.0), (second + 1.0) / (second + 2.0)];
    // −(t z − ln(1 + e^z)), without overflow.
    let loss = |a: f64, b: f64| -> f64 {
        let one = |(&m, &label): (&f64, &u32)| {
            let z = a * m + b;
            z.max(0.0) + (-z.abs()).exp().ln_1p() - targets[label as usize] * z
        };
        margins.iter().zip(labels).map(one).sum()
    };
    let (mut a, mut b) = (0.0, ((second + 1.0) / (first + 1.0)).ln());
    let mut now = loss(a, b);
    for _ in 0..100 {
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (0.0, 0.0, 1e-12, 0.0, 1e-12);
        for (&m, &label) in margins.iter().zip(labels) {
            let p = logistic(a * m + b);
            let (d, w) = (p - targets[label as usize], p * (1.0 - p));
            ga += d * m;
            gb += d;
            haa += w * m * m;
            hab += w * m;
            hbb += w;
        }
        let determinant = haa * hbb - hab * hab;
        let (da, db) = ((hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant);
        let mut step = 1.0;
        // NaN is no better.
        let worse = |step: f64| {
            let there = loss(a - step * da, b - step * db);
            there.partial_cmp(&now).is_none_or(Ordering::is_gt)
        };
        while step > 1e-10 && worse(step) {
            step *= 0.5;
        }
        (a, b) = (a - step * da, b - step * db);
        let next = loss(a, b);
        if step <= 1e-10 || (now - next).abs() <= 1e-14 * now.abs() {
            break;
        }
        now = next;
    }
    (a, b)
}

/// The factor of the scores that makes their softmax the likeliest, between e^−10 and e^10: the loss is convex in it, so
/// that its slope is halved in.
fn softmax_factor(scores: ArrayView2<'_, f64>, labels: &[u32]) -> f64 {
    let classes = scores.ncols();
    let mut rows_of = vec![0.0; classes];
    for &label in labels {
        rows_of[label as usize] += 1.0;
    }
    // `(n_c + 1)/(n_c + K)` for the class of a row, `1/(n_c + K)` for every other: Platt's for two.
    let wanted = |scores: ArrayView1<'_, f64>, label: usize| {
        (scores.sum() + rows_of[label] * scores[label]) / (rows_of[label] + classes as f64)
    };
    let slope = |factor: f64| -> f64 {
        let shares = Calibration::Softmax { factor }.probabilities(scores);
        let rows = scores.rows().into_iter().zip(shares.rows()).zip(labels);
        let of = |((scores, shares), &label): ((ArrayView1<'_, f64>, _), &u32)| {
            scores.dot(&shares) - wanted(scores, label as usize)
        };
        rows.map(of).sum()
    };
    let (mut low, mut high) = (-10.0f64, 10.0f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if slope(middle.exp()) > 0.0 { &mut high } else { &mut low }) = middle;
    }
    f64::midpoint(low, high).exp()
}

/// What is calibrated: `ln(p + smoothing)` of the probabilities where a predictor has some, else its scores; and which
/// they are. Take one over the rows that a calibration is learned from: these cannot tell a smaller probability from 0,
/// and a 0 (no tree votes for the class) would outweigh all else.
///
/// ```
/// use mercer_learning::{Calibration, Predictor, State, Task, scores_to_calibrate};
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
/// let rows = array![[-2.0], [-1.0], [1.0], [2.0]];
/// let (scores, are_logarithms) = scores_to_calibrate(&Slope, rows.view().into(), 0.25)?;
/// assert!(!are_logarithms); // it has no probabilities
/// let shares = Calibration::fit(scores.view(), &[0, 0, 1, 1]).probabilities(scores.view());
/// assert!(shares[[0, 0]] > 0.6 && shares[[3, 1]] > 0.6);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
///
/// # Errors
/// Those of [`Predictor::decision_rows`].
pub fn scores_to_calibrate(
    predictor: &dyn Predictor,
    rows: MatrixView<'_>,
    smoothing: f64,
) -> Result<(Array2<f64>, bool), LearningError> {
    Ok(match predictor.probabilities_rows(rows) {
        Some(shares) => (shares.mapv(|share| (share.max(1e-300) + smoothing).ln()), true),
        None => (predictor.decision_rows(rows)?, false),
    })
}

/// Groups of rows by the probability of the class that is the most probable.
const BINS: usize = 10;

/// What each row adds to the calibration error: its group, and the probability of its most probable class less 1 where
/// that is right.
///
/// ```
/// let shares = ndarray::array![[0.25, 0.75], [0.5, 0.5]];
/// // The groups are (0, 0.1] to (0.9, 1]; of equal ones the first class counts.
/// assert_eq!(mercer_learning::calibration_gaps(shares.view(), &[1, 1]), [(7, -0.25), (4, 0.5)]);
/// ```
pub fn calibration_gaps(shares: ArrayView2<'_, f64>, labels: &[u32]) -> Vec<(usize, f64)> {
    let gap = |(row, &label): (ArrayView1<'_, f64>, &u32)| {
        let first = (0..row.len()).fold(0, |top, at| if row[at] > row[top] { at } else { top });
        let edges = (1..BINS).filter(|&at| at as f64 / (BINS as f64) < row[first]);
        (edges.count(), row[first] - if first == label as usize { 1.0 } else { 0.0 })
    };
    shares.rows().into_iter().zip(labels).map(gap).collect()
}

/// Expected calibration error (Naeini et al. 2015): `Σ_b |Σ_{i∈b} w_i g_i| / Σ_i w_i` of [`calibration_gaps`] `g_i` in ten
/// groups `b`, each row with a weight. It is 0 where probabilities come true as often as they say.
///
/// ```
/// // Half of the rows of probability 0.75 are right.
/// let gaps = [(7, -0.25), (7, 0.75)];
/// assert_eq!(mercer_learning::calibration_error(&gaps, &[1.0, 1.0]), 0.25);
/// ```
pub fn calibration_error(gaps: &[(usize, f64)], weights: &[f64]) -> f64 {
    let mut sums = [0.0; BINS];
    for (&(group, gap), weight) in gaps.iter().zip(weights) {
        sums[group] += weight * gap;
    }
    sums.iter().map(|sum: &f64| sum.abs()).sum::<f64>() / weights.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{State, Task};
    use ndarray::array;

    /// Four rows at 0.9, three of them right, and two at 0.6, one of them right.
    #[test]
    fn the_calibration_error_is_that_of_the_definition() {
        let shares = array![[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6]];
        let gaps = calibration_gaps(shares.view(), &[0, 0, 1, 1, 0, 0]);
        let expected = (4.0 * (0.9 - 0.75) + 2.0 * (0.6 - 0.5)) / 6.0;
        assert!((calibration_error(&gaps, &[1.0; 6]) - expected).abs() < 1e-15);
        // A row of weight 2 is the row twice.
        let twice = [gaps.as_slice(), &gaps[4..5]].concat();
        let weighted = calibration_error(&gaps, &[1.0, 1.0, 1.0, 1.0, 2.0, 1.0]);
        assert!((weighted - calibration_error(&twice, &[1.0; 7])).abs() < 1e-15);
    }

    #[test]
    fn scores_that_part_the_classes_have_finite_sigmoids() {
        let (slope, shift) = sigmoid(&[-2.0, -1.0, 1.0, 2.0], &[0, 0, 1, 1]);
        assert!(slope > 0.0 && slope.is_finite() && shift.abs() < 1e-6, "{slope} {shift}");
        // Nor has a temperature no end: rows that are all right tell by their number how sure they make.
        let factor = |rows: usize| {
            let labels: Vec<u32> = (0..rows).map(|row| (row % 3) as u32).collect();
            let scores = Array2::from_shape_fn((rows, 3), |(row, class)| {
                f64::from(u8::from(row % 3 == class))
            });
            softmax_factor(scores.view(), &labels)
        };
        let (few, many) = (factor(9), factor(900));
        // e^f / (e^f + 2) is (n + 1)/(n + 3) of a class with n rows.
        assert!(
            (few - 4f64.ln()).abs() < 1e-9 && (many - 301f64.ln()).abs() < 1e-9,
            "{few} {many}"
        );
        let shares =
            Calibration::Softmax { factor: 1e5 }.probabilities(array![[1e3, 0.0, -1e3]].view());
        assert_eq!(shares, array![[1.0, 0.0, 0.0]]);
    }

    /// Its inputs are the probabilities of three classes.
    struct Votes;

    impl Predictor for Votes {
        fn task(&self) -> Task {
            Task::Classification { classes: 3 }
        }
        fn features(&self) -> usize {
            3
        }
        fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
            inputs.to_owned()
        }
        fn state(&self) -> State {
            State::new()
        }
        fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
            Some(inputs.to_owned())
        }
    }

    /// Of 60 rows one is of a class that no tree votes for. Without smoothing it makes all others doubtful.
    #[test]
    fn a_probability_of_zero_does_not_outweigh_all_others() {
        let labels: Vec<u32> = (0..60).map(|row| (row % 3) as u32).collect();
        let mut votes = Array2::from_shape_fn(
            (60, 3),
            |(row, class)| {
                if row % 3 == class { 0.9 } else { 0.05 }
            },
        );
        votes.row_mut(7).assign(&array![0.8, 0.0, 0.2]);
        let loss = |smoothing: f64| {
            let scores = scores_to_calibrate(&Votes, votes.view().into(), smoothing).unwrap().0;
            let shares = Calibration::fit(scores.view(), &labels).probabilities(scores.view());
            crate::row_losses(shares.view(), &labels).0.iter().sum::<f64>() / 60.0
        };
        let (without, with) = (loss(0.0), loss(1.0 / 60.0));
        assert!(without > 0.9 && with < 0.25, "{without} {with}");
    }

    /// Outcomes that are drawn with the probabilities leave an error of their noise alone; certainty does not.
    #[test]
    fn true_probabilities_have_a_small_error_and_certain_ones_a_large_one() {
        use rand::Rng;
        let mut rng = crate::Streams::root(3).rng("outcomes");
        let rows = 20_000;
        let second: Vec<f64> = (0..rows).map(|_| rng.gen_range(0.0..1.0)).collect();
        let labels: Vec<u32> = second.iter().map(|&p| u32::from(rng.gen_bool(p))).collect();
        let error = |of: &dyn Fn(f64) -> f64| {
            let shares = Array2::from_shape_fn((rows, 2), |(row, class)| {
                let p = of(second[row]);
                if class == 1 { p } else { 1.0 - p }
            });
            calibration_error(&calibration_gaps(shares.view(), &labels), &vec![1.0; rows])
        };
        assert!(error(&|p| p) < 0.01);
        assert!((error(&|p| p.round()) - 0.25).abs() < 0.01);
    }
}
