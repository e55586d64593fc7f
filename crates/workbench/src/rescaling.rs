//! Rows inside a training part that are held out, scaled by those that train.

use mercer_datasets::{Scaler, Scaling};
use mercer_learning::{LearningError, Sample};
use mercer_linalg::{Matrix, MatrixView, SparseRows, scaled_columns};
use ndarray::{Array1, ArrayView2};

/// Both parts as if only the first had been looked at: a scaling of scaled numbers is a scaling of the numbers.
pub(crate) fn rescaled(
    scaling: Scaling,
    train: Sample,
    held_out: Sample,
) -> Result<(Sample, Sample), LearningError> {
    let weights = train.weights().map(|own| own.to_owned());
    let weights = weights.unwrap_or_else(|| Array1::ones(train.rows()));
    match (scaling, train.matrix()) {
        (Scaling::Standard, MatrixView::Dense(inputs)) => {
            let (means, factors) = standard(inputs, &weights);
            let scaled = |sample: Sample| {
                sample.map_inputs(|inputs| {
                    *inputs -= &means;
                    *inputs *= &factors;
                })
            };
            Ok((scaled(train)?, scaled(held_out)?))
        }
        (Scaling::Standard, MatrixView::Sparse(inputs)) => {
            let factors = sparse_factors(inputs, &weights);
            Ok((times(train, &factors)?, times(held_out, &factors)?))
        }
        (Scaling::UnitInterval | Scaling::Symmetric, MatrixView::Dense(inputs)) => {
            let scaler = Scaler::fit(scaling, inputs);
            let scaled = |sample: Sample| sample.map_inputs(|inputs| scaler.apply_inplace(inputs));
            Ok((scaled(train)?, scaled(held_out)?))
        }
        _ => Ok((train, held_out)),
    }
}

/// Of numbers that vary by rounding alone.
fn factor(mean_square: f64, variance: f64) -> f64 {
    if variance > 1e-24 * mean_square { variance.sqrt().recip() } else { 0.0 }
}

/// Means, and one over the deviations, 0 where there is none.
fn standard(inputs: ArrayView2<'_, f64>, weights: &Array1<f64>) -> (Array1<f64>, Array1<f64>) {
    let total = weights.sum();
    let means = weights.dot(&inputs) / total;
    let mut variances = Array1::<f64>::zeros(inputs.ncols());
    for (row, weight) in inputs.rows().into_iter().zip(weights) {
        ndarray::Zip::from(&mut variances).and(row).and(&means).for_each(|variance, x, mean| {
            *variance += weight * (x - mean).powi(2) / total;
        });
    }
    let factors = ndarray::Zip::from(&variances)
        .and(&means)
        .map_collect(|variance, mean| factor(mean * mean + variance, *variance));
    (means, factors)
}

/// One over the deviations of rows that are mostly 0.
fn sparse_factors(inputs: &SparseRows, weights: &Array1<f64>) -> Vec<f64> {
    let total = weights.sum();
    let mut sums = vec![(0.0, 0.0); inputs.cols()];
    for (value, (row, column)) in inputs {
        let (sum, squares) = &mut sums[column as usize];
        *sum += weights[row as usize] * value;
        *squares += weights[row as usize] * value * value;
    }
    let of = |(sum, squares): (f64, f64)| {
        let (mean, square) = (sum / total, squares / total);
        factor(square, square - mean * mean)
    };
    sums.into_iter().map(of).collect()
}

fn times(sample: Sample, factors: &[f64]) -> Result<Sample, LearningError> {
    let Matrix::Sparse(rows) = sample.matrix().to_owned() else { return Ok(sample) };
    sample.with_inputs(Matrix::Sparse(scaled_columns(rows, factors)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_linalg::sparse_of;
    use ndarray::{Array2, Axis, array};

    /// Numbers scaled by all rows and then by some are numbers scaled by these.
    #[test]
    fn a_scaling_of_scaled_numbers_is_a_scaling_of_the_numbers() {
        let raw = Array2::from_shape_fn((9, 3), |(i, j)| {
            if (i + j) % 3 == 0 { ((i * 7 + j) as f64).sin() + 2.0 } else { 0.0 }
        });
        let labels: Vec<u32> = (0..9).map(|row| row % 2).collect();
        let (inner, outer): (Vec<usize>, Vec<usize>) = ((0..6).collect(), (6..9).collect());
        for scaling in [Scaling::Standard, Scaling::UnitInterval, Scaling::Symmetric] {
            let all = Scaler::fit(scaling, raw.view()).apply(raw.view());
            let sample = Sample::classification(all, labels.clone(), 2).unwrap();
            let (train, test) = (sample.select(&inner).unwrap(), sample.select(&outer).unwrap());
            let (train, test) = rescaled(scaling, train, test).unwrap();
            let own = Scaler::fit(scaling, raw.select(Axis(0), &inner).view()).apply(raw.view());
            for (row, found) in
                train.inputs().rows().into_iter().chain(test.inputs().rows()).enumerate()
            {
                assert!(
                    (&found - &own.row(row)).iter().all(|x| x.abs() < 1e-12),
                    "{scaling:?} {row}"
                );
            }
        }
        // Of sparse rows nothing is subtracted; weights count.
        let sparse = Matrix::Sparse(sparse_of(raw.view()));
        let sample = Sample::classification(sparse, labels, 2).unwrap();
        let weighted = sample.select(&inner).unwrap().weighted(&[2.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        let (train, _) =
            rescaled(Scaling::Standard, weighted.unwrap(), sample.select(&outer).unwrap()).unwrap();
        let twice = raw.select(Axis(0), &[0, 0, 1, 2, 3, 4, 5]);
        let deviations = twice.std_axis(Axis(0), 0.0);
        let expected = raw.select(Axis(0), &inner) / deviations;
        assert!(train.is_sparse());
        assert!((&train.inputs() - &expected).iter().all(|x| x.abs() < 1e-12));
        let equal = Sample::classification(array![[0.1], [0.1], [0.1]], vec![0, 1, 0], 2).unwrap();
        let (train, _) = rescaled(Scaling::Standard, equal.clone(), equal).unwrap();
        assert_eq!(train.inputs(), array![[0.0], [0.0], [0.0]]);
    }
}
