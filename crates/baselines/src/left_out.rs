//! What a ridge regression says without each of its training rows, in closed form.

use mercer_learning::LeftOut;
use mercer_linalg::MatrixView;
use ndarray::{Array1, Array2, Axis};

/// With `A = (K + t I)⁻¹` and `s(x) = A k(x)`, a regression on targets `z` is `s(x)ᵀ z`. Without row `i` it is that with
/// `z_i` replaced by what the others say of it, `z_i − e_i`, where `e_i = (A z)_i / A_ii`. Centred targets are
/// `z = y − ȳ_{−i}`.
pub(crate) struct RidgeLeftOut<F> {
    cross: F,                  // k(x) of each row, n columns
    inverse: Array2<f64>,      // A, n × n
    coefficients: Array1<f64>, // A (y − ȳ)
    of_ones: Array1<f64>,      // A 1
    mean: f64,
    lower: Array1<f64>,     // ȳ − ȳ_{−i}
    residuals: Array1<f64>, // e
}

impl<F: Fn(MatrixView<'_>) -> Array2<f64>> RidgeLeftOut<F> {
    /// Of the kernel with the training rows, `A`, the coefficients, the centred targets `y − ȳ` if they were centred, and
    /// what is added to each value.
    pub fn new(
        cross: F,
        inverse: Array2<f64>,
        coefficients: Array1<f64>,
        centred: Option<&Array1<f64>>,
        mean: f64,
    ) -> Self {
        let n = coefficients.len();
        // Without a row of target c from the mean, that of all others is c/(n − 1) lower.
        let lower = centred.map_or_else(|| Array1::zeros(n), |own| own / (n - 1).max(1) as f64);
        let of_ones = inverse.sum_axis(Axis(1));
        let residuals = (&coefficients + &lower * &of_ones) / inverse.diag();
        Self { cross, inverse, coefficients, of_ones, mean, lower, residuals }
    }
}

impl<F: Fn(MatrixView<'_>) -> Array2<f64> + Send + Sync> LeftOut for RidgeLeftOut<F> {
    fn residuals(&self) -> Array1<f64> {
        self.residuals.clone()
    }

    fn values(&self, inputs: MatrixView<'_>) -> Array2<f64> {
        let cross = (self.cross)(inputs);
        let (all, ones) = (cross.dot(&self.coefficients), cross.dot(&self.of_ones));
        let mut values = cross.dot(&self.inverse);
        for ((row, i), value) in values.indexed_iter_mut() {
            let without = self.mean - self.lower[i] + self.lower[i] * ones[row];
            *value = all[row] + without - self.residuals[i] * *value;
        }
        values
    }
}
