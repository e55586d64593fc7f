use super::{EmbeddingParams, Implicit};
use mercer_kernels::Covariance;
use mercer_learning::{Fitting, LearningError, Sample, folds};
use ndarray::{ArrayView2, Axis};
use rand::seq::index;

/// Rows among which the median distance is taken at most: 12.5 million pairs.
const MEDIAN_ROWS: usize = 5000;

/// The median distance of two rows, the usual first guess of a length scale.
///
/// Of more than 5000 rows a seeded choice is taken. Where half of all rows coincide the smallest
/// positive distance stands in, and 1 where all do.
pub(super) fn median_distance(inputs: ArrayView2<'_, f64>, fitting: &Fitting<'_>) -> f64 {
    let chosen = if inputs.nrows() > MEDIAN_ROWS {
        let mut rng = fitting.streams.rng("median");
        inputs.select(Axis(0), &index::sample(&mut rng, inputs.nrows(), MEDIAN_ROWS).into_vec())
    } else {
        inputs.to_owned()
    };
    let n = chosen.nrows();
    let mut squared = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    for (i, x) in chosen.rows().into_iter().enumerate() {
        for z in chosen.rows().into_iter().take(i) {
            squared.push(x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum::<f64>());
        }
    }
    if squared.is_empty() {
        return 1.0;
    }
    let middle = squared.len() / 2;
    let (below, &mut upper, _) = squared.select_nth_unstable_by(middle, f64::total_cmp);
    // NumPy's median: of an even number, the mean of the two in the middle.
    let lower = if n * (n - 1) / 2 % 2 == 0 {
        below.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    } else {
        upper
    };
    let median = 0.5 * (lower.sqrt() + upper.sqrt());
    if median > 0.0 {
        return median;
    }
    let smallest = squared.iter().copied().filter(|&s| s > 0.0).fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest.sqrt() } else { 1.0 }
}

/// What cross-validation chose.
pub(super) struct Chosen {
    pub(super) kernel: Covariance,
    pub(super) lambda: f64,
    /// Accuracy on the held-out rows.
    pub(super) accuracy: f64,
}

/// The best of seven length scales and seven `λ` by accuracy on stratified folds, ties by the loss.
pub(super) fn cross_validated(
    params: &EmbeddingParams,
    sample: &Sample,
    labels: &[u32],
    fitting: &Fitting<'_>,
) -> Result<Chosen, LearningError> {
    let (x, classes, objective) = (sample.inputs(), sample.task().outputs(), params.objective());
    let median = median_distance(x, fitting);
    let held = folds(labels, params.folds, &mut fitting.streams.rng("folds"));
    let mut best: Option<(f64, f64, Chosen)> = None;
    for octave in -3..=3 {
        let length = median * f64::from(octave).exp2();
        let kernel = EmbeddingParams { length: Some(length), ..params.clone() }
            .start(sample.features(), || median);
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
                best = Some((accuracy, loss, Chosen { kernel: kernel.clone(), lambda, accuracy }));
            }
        }
    }
    best.map(|(_, _, chosen)| chosen).ok_or(LearningError::NoRows)
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
}
