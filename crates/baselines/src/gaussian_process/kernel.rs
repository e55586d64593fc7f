use mercer_kernels::Kernel;
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// `k(x, z) = s² exp(−Σ (x_j − z_j)²/(2 l_j²))`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScaledGaussian {
    /// `s`.
    pub deviation: f64,
    /// `l`, one for all columns or one a column.
    pub lengths: Array1<f64>,
}

impl ScaledGaussian {
    /// From the logarithms `(log s, log l, …)`.
    pub fn from_logs(logs: &[f64]) -> Self {
        Self { deviation: logs[0].exp(), lengths: logs[1..].iter().map(|log| log.exp()).collect() }
    }

    /// Returns the inputs in units of the lengths.
    pub fn scaled(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        &inputs / &self.lengths
    }

    /// Returns the kernel matrix of scaled inputs.
    pub fn gram(&self, scaled: ArrayView2<'_, f64>) -> Array2<f64> {
        Kernel::Gaussian { std: 1.0 }.gram(scaled) * self.deviation.powi(2)
    }

    /// Returns the kernel between inputs, as they are, and scaled ones.
    pub fn between(&self, inputs: ArrayView2<'_, f64>, scaled: ArrayView2<'_, f64>) -> Array2<f64> {
        let sections = Kernel::Gaussian { std: 1.0 }.sections(scaled);
        sections.at(self.scaled(inputs).view()) * self.deviation.powi(2)
    }

    /// Returns `<M, ∂K/∂θ>` for `θ = (log s, log l, …)`, with `K` the matrix of `scaled`.
    ///
    /// `∂K/∂log s = 2 K`; `∂K_ab/∂log l_j = K_ab (z_aj − z_bj)²`, `z` the scaled inputs. With
    /// `H = M ∘ K` symmetric, `Σ_ab H_ab (z_aj − z_bj)² = 2 (Σ_a z_aj² Σ_b H_ab − z_jᵀ H z_j)`: one
    /// product for all columns.
    pub fn gradient(&self, m: &Array2<f64>, gram: &Array2<f64>, scaled: &Array2<f64>) -> Vec<f64> {
        let h = m * gram;
        let sums = h.sum_axis(Axis(1));
        // Differences do not change; sums of squares near 0 lose fewer digits.
        let z = match scaled.mean_axis(Axis(0)) {
            Some(mean) => scaled - &mean,
            None => scaled.clone(),
        };
        let hz = h.dot(&z);
        let by_column: Vec<f64> = z
            .columns()
            .into_iter()
            .zip(hz.columns())
            .map(|(z, hz)| {
                let squares: f64 = z.iter().zip(&sums).map(|(z, sum)| z * z * sum).sum();
                2.0 * (squares - z.dot(&hz))
            })
            .collect();
        let mut gradient = vec![2.0 * h.sum()];
        if self.lengths.len() == 1 {
            gradient.push(by_column.iter().sum());
        } else {
            gradient.extend(by_column);
        }
        gradient
    }
}
