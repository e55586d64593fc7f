//! Gaussian process regression by inducing rows (Titsias 2009): what is known of the process at `m` rows decides all
//! others. The evidence has a lower bound, which is the evidence if all rows are inducing.
//!
//! `K = K_mm + τ s² I = L Lᵀ`, `A = L⁻¹ K_mn diag(√w)/σ`, `B = I + A Aᵀ`, `P = L B Lᵀ`, `b = P⁻¹ K_mn diag(w) y/σ²`.
//! `K_mm` is the kernel matrix of the inducing rows, `K_mn` theirs with all `n` rows, `w` the weights of the rows and `W`
//! their sum. Memory grows with `m² + m` rows of a block, time with `n m²`.

use super::BLOCK;
use super::kernel::ScaledGaussian;
use super::regression::Noisy;
use mercer_learning::LearningError;
use mercer_linalg::{Cholesky, LinalgError, in_order, multiplied};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use std::f64::consts::PI;
use std::ops::Range;

/// `τ`: rows that are nearly equal leave `K` invertible.
const JITTER: f64 = 1e-8;

/// All rows, and which are inducing.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub inputs: ArrayView2<'a, f64>,
    pub inducing: ArrayView2<'a, f64>,
    pub noisy: Noisy<'a>,
    pub threads: usize,
}

impl Rows<'_> {
    /// `W`.
    fn total(&self) -> f64 {
        self.noisy.weights.map_or(self.inputs.nrows() as f64, |weights| weights.sum())
    }

    /// What `work` makes of each thread's share of the rows, in their order.
    fn shares<R: Send>(&self, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
        let (n, parts) = (self.inputs.nrows(), self.threads.max(1));
        in_order(parts, parts, |part| work(n * part / parts..n * (part + 1) / parts))
    }

    fn root_weights(&self, block: &Range<usize>) -> Option<Array1<f64>> {
        self.noisy.weights.map(|weights| weights.slice(s![block.clone()]).mapv(f64::sqrt))
    }

    fn targets(&self, block: &Range<usize>) -> Array1<f64> {
        let y = self.noisy.y.slice(s![block.clone()]);
        self.root_weights(block).map_or_else(|| y.to_owned(), |root| &y * &root)
    }
}

/// Blocks of some rows.
fn blocks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(BLOCK).map(move |from| from..(from + BLOCK).min(end))
}

/// The bound of a kernel and a noise, and what follows from them.
pub(super) struct Bound {
    pub kernel: ScaledGaussian,
    /// `σ²`.
    pub noise: f64,
    /// The inducing rows over the lengths.
    pub scaled: Array2<f64>,
    /// `b`.
    pub weights: Array1<f64>,
    /// `K⁻¹ − P⁻¹`, by which the variance at a row is less than `s²`.
    pub reduction: Array2<f64>,
    /// `−W log(2πσ²)/2 − log|B|/2 − (Σ w y² − yᵀ diag(w) K_nm b)/(2σ²) − (W s² − σ² tr A Aᵀ)/(2σ²)`.
    pub value: f64,
    gram: Array2<f64>,
    lower: Cholesky,
    /// `B⁻¹`, and `A Aᵀ`.
    inverse: Array2<f64>,
    outer: Array2<f64>,
}

fn fault(error: &LinalgError) -> LearningError {
    let operation = "factoring the kernel matrix of the inducing rows";
    LearningError::Numerical { operation, reason: error.to_string() }
}

/// A column.
fn column(vector: &Array1<f64>) -> Array2<f64> {
    vector.view().insert_axis(Axis(1)).to_owned()
}

impl Bound {
    /// Of the logarithms `(log s, log l, …, log σ)`.
    pub fn of(logs: &[f64], rows: Rows<'_>) -> Result<Self, LearningError> {
        let (&log_noise, logs) = logs.split_last().unwrap_or((&0.0, &[]));
        let noise = (2.0 * log_noise).exp();
        let kernel = ScaledGaussian::from_logs(logs);
        let scaled = kernel.scaled(rows.inducing);
        let mut gram = kernel.gram(scaled.view());
        let jitter = JITTER * kernel.deviation.powi(2);
        gram.diag_mut().mapv_inplace(|entry| entry + jitter);
        let lower = Cholesky::factor(gram.clone()).map_err(|error| fault(&error))?;
        let m = gram.nrows();
        let cross = Cross { kernel: &kernel, scaled: scaled.view(), lower: &lower, noise };
        let sums = rows.shares(|share| {
            let (mut outer, mut pull) = (Array2::<f64>::zeros((m, m)), Array1::<f64>::zeros(m));
            for block in blocks(share) {
                let a = cross.whitened(&cross.at(&rows, &block))?;
                outer += &multiplied(a.view(), a.t());
                pull += &a.dot(&rows.targets(&block));
            }
            Ok((outer, pull))
        });
        let (mut outer, mut pull) = (Array2::<f64>::zeros((m, m)), Array1::<f64>::zeros(m));
        for sum in sums {
            let (more, pulled) = sum.map_err(|error| fault(&error))?;
            outer += &more;
            pull += &pulled;
        }
        pull /= noise.sqrt();
        let mut b = outer.clone();
        b.diag_mut().mapv_inplace(|entry| entry + 1.0);
        let inner = Cholesky::factor(b).map_err(|error| fault(&error))?;
        let inverse = inner.solve(&Array2::eye(m)).map_err(|error| fault(&error))?;
        let solved = inverse.dot(&pull);
        let weights = lower
            .solve_upper(&column(&solved))
            .map_err(|error| fault(&error))?
            .remove_axis(Axis(1));
        let (total, power) = (rows.total(), kernel.deviation.powi(2));
        let squares: f64 =
            blocks(0..rows.inputs.nrows()).map(|b| rows.targets(&b).mapv(|y| y * y).sum()).sum();
        let value = -0.5
            * (total * (2.0 * PI * noise).ln() + inner.log_determinant() + squares / noise
                - pull.dot(&solved)
                + total * power / noise
                - outer.diag().sum());
        let reduction =
            between(&lower, &(Array2::eye(m) - &inverse)).map_err(|error| fault(&error))?;
        Ok(Self { kernel, noise, scaled, weights, reduction, value, gram, lower, inverse, outer })
    }

    /// Returns the derivatives of the bound by the logarithms: `<D, ∂K_mn/∂θ> + <D', ∂K/∂θ> − W ∂s²/∂θ/(2σ²)` with
    /// `D = L⁻ᵀ (I − B⁻¹) A diag(√w)/σ + b αᵀ`, `D' = −(L⁻ᵀ (B − 2 I + B⁻¹) L⁻¹ + b bᵀ)/2`, `α = diag(w) (y − K_nm b)/σ²`.
    pub fn gradient(&self, rows: Rows<'_>) -> Result<Vec<f64>, LearningError> {
        let Self { kernel, noise, scaled, weights, lower, inverse, outer, .. } = self;
        let (m, d) = scaled.dim();
        let rest = Array2::eye(m) - inverse;
        let pulled = lower.solve_upper(&rest).map_err(|error| fault(&error))? / noise.sqrt();
        let cross = Cross { kernel, scaled: scaled.view(), lower, noise: *noise };
        // Differences do not change; sums of squares near 0 lose fewer digits.
        let middle = scaled.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(d));
        let parts = rows.shares(|share| {
            let mut part = Slope::zeros(m, d);
            for block in blocks(share) {
                let k = cross.at(&rows, &block);
                let alpha = (rows.targets(&block) - k.dot(weights)) / *noise;
                let mut h = multiplied(pulled.view(), cross.whitened(&k)?.view());
                for (mut row, weight) in h.rows_mut().into_iter().zip(weights) {
                    row.scaled_add(*weight, &alpha);
                }
                h *= &k.t();
                let x = kernel.scaled(rows.inputs.slice(s![block, ..])) - &middle;
                part.add(&h, &x, alpha.dot(&alpha));
            }
            Ok(part)
        });
        let mut slope = Slope::zeros(m, d);
        for part in parts {
            slope.join(&part.map_err(|error| fault(&error))?);
        }
        let mut own = between(lower, &(outer + inverse - Array2::<f64>::eye(m)))
            .map_err(|error| fault(&error))?;
        for (mut row, weight) in own.rows_mut().into_iter().zip(weights) {
            row.scaled_add(*weight, weights);
        }
        own *= -0.5;
        let mut gradient = kernel.gradient(&own, &self.gram, scaled);
        let (total, power) = (rows.total(), kernel.deviation.powi(2));
        gradient[0] += 2.0 * slope.by_row.sum() - total * power / noise;
        let by_column = slope.by_column(&(scaled - &middle));
        if kernel.lengths.len() == 1 {
            gradient[1] += by_column.iter().sum::<f64>();
        } else {
            gradient[1..].iter_mut().zip(by_column).for_each(|(own, more)| *own += more);
        }
        let known = m as f64 - inverse.diag().sum();
        gradient.push(
            known - total + noise * slope.alphas + total * power / noise - outer.diag().sum(),
        );
        Ok(gradient)
    }
}

/// `L⁻ᵀ M L⁻¹` of a symmetric `M`.
fn between(lower: &Cholesky, middle: &Array2<f64>) -> Result<Array2<f64>, LinalgError> {
    let half = lower.solve_upper(middle)?;
    lower.solve_upper(&half.t().to_owned())
}

/// The kernel between rows and the inducing ones.
struct Cross<'a> {
    kernel: &'a ScaledGaussian,
    scaled: ArrayView2<'a, f64>,
    lower: &'a Cholesky,
    noise: f64,
}

impl Cross<'_> {
    /// `diag(√w) K_bm` of a block.
    fn at(&self, rows: &Rows<'_>, block: &Range<usize>) -> Array2<f64> {
        let own = rows.inputs.slice(s![block.clone(), ..]);
        let mut k = self.kernel.between(own, self.scaled);
        if let Some(root) = rows.root_weights(block) {
            k *= &root.insert_axis(Axis(1));
        }
        k
    }

    /// `A` of a block.
    fn whitened(&self, k: &Array2<f64>) -> Result<Array2<f64>, LinalgError> {
        Ok(self.lower.solve_lower(&k.t().to_owned())? / self.noise.sqrt())
    }
}

/// Sums over the rows of `H = D ∘ K_mn`, whose derivatives by `log l_j` are `Σ_ab H_ab (z_aj − x_bj)²`.
struct Slope {
    /// `Σ_b H_ab`.
    by_row: Array1<f64>,
    /// `H X`, `m × d`.
    with_rows: Array2<f64>,
    /// `Σ_ab H_ab x_bj²`.
    squares: Array1<f64>,
    /// `Σ α²/w`.
    alphas: f64,
}

impl Slope {
    fn zeros(m: usize, d: usize) -> Self {
        let (by_row, squares) = (Array1::zeros(m), Array1::zeros(d));
        Self { by_row, with_rows: Array2::zeros((m, d)), squares, alphas: 0.0 }
    }

    fn add(&mut self, h: &Array2<f64>, x: &Array2<f64>, alphas: f64) {
        let by_column: Array1<f64> = h.sum_axis(Axis(0));
        self.by_row += &h.sum_axis(Axis(1));
        self.with_rows += &multiplied(h.view(), x.view());
        self.squares += &x.mapv(|x| x * x).t().dot(&by_column);
        self.alphas += alphas;
    }

    fn join(&mut self, other: &Self) {
        self.by_row += &other.by_row;
        self.with_rows += &other.with_rows;
        self.squares += &other.squares;
        self.alphas += other.alphas;
    }

    fn by_column(&self, z: &Array2<f64>) -> Vec<f64> {
        let of = |(j, z): (usize, ArrayView1<'_, f64>)| {
            let own: f64 = z.iter().zip(&self.by_row).map(|(z, sum)| z * z * sum).sum();
            own + self.squares[j] - 2.0 * z.dot(&self.with_rows.column(j))
        };
        z.columns().into_iter().enumerate().map(of).collect()
    }
}
