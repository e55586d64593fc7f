use super::{EmbeddingParams, Implicit, MedianOf, refused};
use mercer_kernels::Covariance;
use mercer_learning::{Fitting, LearningError, Sample, folds};
use ndarray::{ArrayView2, Axis, s};
use rand::seq::index;

/// Rows among which the median distance is taken at most: 12.5 million pairs.
const MEDIAN_ROWS: usize = 5000;

/// The median distance of two rows, the usual first guess of a length scale.
///
/// Of more than 5000 rows a seeded choice is taken. Where half of all rows coincide the smallest
/// positive distance stands in, and 1 where all do.
pub(super) fn median_distance(inputs: ArrayView2<'_, f64>, fitting: &Fitting<'_>) -> f64 {
    guarded(inputs, &chosen(inputs, fitting))
}

/// The length scales that a median gives: one of all rows, or one for each column.
pub(super) fn median_lengths(
    of: MedianOf,
    inputs: ArrayView2<'_, f64>,
    fitting: &Fitting<'_>,
) -> Vec<f64> {
    let rows = chosen(inputs, fitting);
    let columns = || (0..inputs.ncols()).map(|j| inputs.slice(s![.., j..=j]));
    match of {
        MedianOf::Rows => vec![guarded(inputs, &rows)],
        MedianOf::Columns => columns().map(|column| guarded(column, &rows)).collect(),
        MedianOf::ColumnsUnguarded => columns()
            .map(|column| middle(&mut squared_distances(column, &rows)).unwrap_or(1.0))
            .collect(),
    }
}

/// Rows among which distances are taken.
fn chosen(inputs: ArrayView2<'_, f64>, fitting: &Fitting<'_>) -> Vec<usize> {
    let n = inputs.nrows();
    if n <= MEDIAN_ROWS {
        return (0..n).collect();
    }
    index::sample(&mut fitting.streams.rng("median"), n, MEDIAN_ROWS).into_vec()
}

fn squared_distances(inputs: ArrayView2<'_, f64>, rows: &[usize]) -> Vec<f64> {
    let n = rows.len();
    let mut squared = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    for (i, &row) in rows.iter().enumerate() {
        for &other in &rows[..i] {
            let pair = inputs.row(row).into_iter().zip(inputs.row(other));
            squared.push(pair.map(|(a, b)| (a - b) * (a - b)).sum::<f64>());
        }
    }
    squared
}

/// The median of the roots, `None` without any.
fn middle(squared: &mut [f64]) -> Option<f64> {
    if squared.is_empty() {
        return None;
    }
    let (half, even) = (squared.len() / 2, squared.len().is_multiple_of(2));
    let (below, &mut upper, _) = squared.select_nth_unstable_by(half, f64::total_cmp);
    // NumPy's median: of an even number, the mean of the two in the middle.
    let lower = if even { below.iter().copied().fold(f64::NEG_INFINITY, f64::max) } else { upper };
    Some(0.5 * (lower.sqrt() + upper.sqrt()))
}

/// The median, or else a value that is positive.
fn guarded(inputs: ArrayView2<'_, f64>, rows: &[usize]) -> f64 {
    let mut squared = squared_distances(inputs, rows);
    match middle(&mut squared) {
        Some(median) if median > 0.0 => median,
        _ => {
            let positive = squared.into_iter().filter(|&s| s > 0.0);
            let smallest = positive.fold(f64::INFINITY, f64::min);
            if smallest.is_finite() { smallest.sqrt() } else { 1.0 }
        }
    }
}

/// What cross-validation chose.
pub(super) struct Chosen {
    pub(super) kernel: Covariance,
    pub(super) lambda: f64,
    /// Accuracy on the held-out rows.
    pub(super) accuracy: f64,
    /// Fits, of all that were tried, whose factorisation needed a jitter.
    pub(super) jittered: usize,
}

/// The best of seven length scales and seven `λ` by accuracy on stratified folds, ties by the loss.
pub(super) fn cross_validated(
    params: &EmbeddingParams,
    sample: &Sample,
    labels: &[u32],
    fitting: &Fitting<'_>,
) -> Result<Chosen, LearningError> {
    let (x, classes, objective) = (sample.inputs(), sample.task().outputs(), params.objective());
    if params.folds > labels.len() {
        let value = format!("{} of {} rows", params.folds, labels.len());
        return Err(refused("folds", value, "at most the number of training rows"));
    }
    let median = median_distance(x, fitting);
    let held = folds(labels, params.folds, &mut fitting.streams.rng("folds"));
    let mut best: Option<(f64, f64, Chosen)> = None;
    let mut jittered = 0;
    for octave in -3..=3 {
        let length = median * f64::from(octave).exp2();
        let kernel = EmbeddingParams { length: Some(length), ..params.clone() }
            .start(sample.features(), || vec![median]);
        for decade in -6..=0 {
            let lambda = 10f64.powi(decade);
            let (mut right, mut loss) = (0.0, 0.0);
            for fold in 0..params.folds {
                fitting.limits.check()?;
                let rows = |out: bool| -> Vec<usize> {
                    (0..labels.len()).filter(|&row| (held[row] == fold) == out).collect()
                };
                let (seen, unseen) = (rows(false), rows(true));
                if seen.is_empty() || unseen.is_empty() {
                    continue;
                }
                let pick =
                    |rows: &[usize]| -> Vec<u32> { rows.iter().map(|&r| labels[r]).collect() };
                let (inputs, y) = (x.select(Axis(0), &seen), pick(&seen));
                let embedding = Implicit::new(&kernel, inputs.view(), &y, classes, lambda)?;
                jittered += usize::from(embedding.jitter() > 0.0);
                let p = embedding.probabilities_of(x.select(Axis(0), &unseen).view());
                let truth = pick(&unseen);
                loss += objective.loss(p.view(), &truth).0;
                right += unseen.len() as f64 * super::objective::share_right(p.view(), &truth);
            }
            let accuracy = right / labels.len() as f64;
            let better = best.as_ref().is_none_or(|(a, l, _)| {
                accuracy > *a || (accuracy.to_bits() == a.to_bits() && loss < *l)
            });
            if better {
                let chosen = Chosen { kernel: kernel.clone(), lambda, accuracy, jittered: 0 };
                best = Some((accuracy, loss, chosen));
            }
        }
    }
    best.map(|(_, _, chosen)| Chosen { jittered, ..chosen }).ok_or(LearningError::NoRows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::{Array2, array};

    #[test]
    fn the_median_is_that_of_all_pairs() {
        let fitting = Fitting::seeded(1);
        // Distances 1, 2, 3: the middle one. Then 1, 1, 2, 3, 4, 5 with a fourth point.
        assert_abs_diff_eq!(
            median_distance(array![[0.0], [1.0], [3.0]].view(), &fitting),
            2.0,
            epsilon = 1e-15
        );
        let four = array![[0.0], [1.0], [3.0], [4.0]]; // 1 3 4 2 3 1
        assert_abs_diff_eq!(median_distance(four.view(), &fitting), 2.5, epsilon = 1e-15);
        let alike = array![[0.0], [0.0], [0.0], [0.0], [7.0]];
        assert_abs_diff_eq!(median_distance(alike.view(), &fitting), 7.0, epsilon = 1e-15);
        let one = Array2::<f64>::zeros((9, 2));
        assert_abs_diff_eq!(median_distance(one.view(), &fitting), 1.0, epsilon = 1e-15);
    }

    #[test]
    fn each_column_has_a_median_of_its_own() {
        let fitting = Fitting::seeded(1);
        // Differences 1, 2, 3; none; 0, 6, 6. Distances 1, √40, √45.
        let x = array![[0.0, 5.0, 4.0], [1.0, 5.0, 4.0], [3.0, 5.0, 10.0]];
        let of = |what| median_lengths(what, x.view(), &fitting);
        assert_abs_diff_eq!(
            of(MedianOf::Columns).as_slice(),
            [2.0, 1.0, 6.0].as_slice(),
            epsilon = 1e-15
        );
        assert_abs_diff_eq!(
            of(MedianOf::ColumnsUnguarded).as_slice(),
            [2.0, 0.0, 6.0].as_slice(),
            epsilon = 1e-15
        );
        assert_abs_diff_eq!(
            of(MedianOf::Rows).as_slice(),
            [40f64.sqrt()].as_slice(),
            epsilon = 1e-15
        );
    }
}
