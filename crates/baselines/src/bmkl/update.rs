use mercer_learning::LearningError;
use mercer_linalg::{Cholesky, LinalgError};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use statrs::function::erf::erfc;
use std::f64::consts::{PI, SQRT_2};

/// What the model assumes before it sees labels.
///
/// ```
/// use mercer_baselines::{Prior, Variational};
/// use ndarray::array;
/// let gram = [array![[1.0, 0.0], [0.0, 1.0]]];
/// let labels = array![[-1.0], [1.0]];
/// let inferred = |noise| {
///     let prior = Prior { shape: 1.0, scale: 1.0, margin: 1.0, noise };
///     let mut factors = Variational::start(&gram, labels.view(), prior, &mut || None)?;
///     (0..10).try_for_each(|_| factors.iterate(&gram))?;
///     Ok::<_, mercer_learning::LearningError>(factors.sample_weights()[[1, 0]].abs())
/// };
/// // The noisier the outputs between, the less the weights explain.
/// assert!(inferred(0.1)? > inferred(10.0)?);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Shape of the Gamma priors of all precisions.
    pub shape: f64,
    /// Scale of the Gamma priors of all precisions.
    pub scale: f64,
    /// Half-width of the band without labels.
    pub margin: f64,
    /// Deviation `σ_g` of the intermediate outputs.
    pub noise: f64,
}

/// Mean-field factors of Bayesian multiple kernel learning. They are for `L` binary targets that share the kernel
/// weights.
///
/// ```
/// use mercer_baselines::{Prior, Variational};
/// use ndarray::array;
/// // The kernel of x = −1 and x = 1, which are of different classes.
/// let gram = [array![[1.0, -1.0], [-1.0, 1.0]]];
/// let labels = array![[-1.0], [1.0]];
/// let prior = Prior { shape: 1.0, scale: 1.0, margin: 1.0, noise: 0.1 };
/// let mut factors = Variational::start(&gram, labels.view(), prior, &mut || None)?;
/// assert_eq!(factors.sample_weights(), array![[0.0], [0.0]]); // the plain start
/// (0..20).try_for_each(|_| factors.iterate(&gram))?;
/// let weights = factors.sample_weights().to_owned();
/// assert!((weights[[0, 0]] + weights[[1, 0]]).abs() < 1e-9 && weights[[1, 0]] != 0.0); // by symmetry
/// assert_eq!((factors.targets(), factors.kernel_weights().len()), (1, 1));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Variational {
    pub(super) prior: Prior,
    /// `y`, `n × L`, entries ±1.
    pub(super) labels: Array2<f64>,
    /// `Σ_m K_m K_mᵀ`.
    squared: Array2<f64>,
    /// Means of the sample weights `a`, `n × L`, and the diagonals of their covariances.
    pub(super) a: Array2<f64>,
    pub(super) a_variance: Array2<f64>,
    pub(super) a_log_determinant: Array1<f64>,
    /// Scales of the Gamma factors of the precisions `λ`, `n × L`.
    pub(super) lambda: Array2<f64>,
    /// Means of the intermediate outputs, `P × n` a target, and their common covariance.
    pub(super) g: Vec<Array2<f64>>,
    pub(super) g_covariance: Array2<f64>,
    /// Scales of the Gamma factors of the precisions of biases and kernel weights.
    pub(super) gamma: Array1<f64>,
    pub(super) omega: Array1<f64>,
    /// Means of biases (`L`) and kernel weights (`P`), and their joint covariance.
    pub(super) be: Array1<f64>,
    pub(super) be_covariance: Array2<f64>,
    /// Means and variances of the outputs `f`, `n × L`, and the means before the labels.
    pub(super) f: Array2<f64>,
    pub(super) f_variance: Array2<f64>,
    pub(super) o: Array2<f64>,
    /// `aᵀ k_m,i`, `P × n` a target.
    pub(super) inner: Vec<Array2<f64>>,
    /// `tr(Σ_m K_m K_mᵀ Cov(a))` a target.
    pub(super) spread: Array1<f64>,
}

impl Variational {
    /// Returns the factors before the first iteration. `draw` gives normal numbers, or nothing for the plain start:
    /// `a = 0`, `f` and `G` at the margin.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] if a kernel is not finite.
    pub fn start(
        grams: &[Array2<f64>],
        labels: ArrayView2<'_, f64>,
        prior: Prior,
        draw: &mut dyn FnMut() -> Option<f64>,
    ) -> Result<Self, LearningError> {
        let (n, l, p) = (labels.nrows(), labels.ncols(), grams.len());
        if grams.iter().any(|gram| gram.iter().any(|value| !value.is_finite())) {
            let reason = "a kernel has NaN or infinite entries".to_owned();
            return Err(LearningError::Numerical { operation: "BMKL", reason });
        }
        let mut squared = Array2::zeros((n, n));
        for gram in grams {
            // K Kᵀ = K², K being symmetric.
            mercer_linalg::product(1.0, gram.view(), gram.t(), 1.0, squared.view_mut());
        }
        let a = Array2::from_shape_simple_fn((n, l), || draw().unwrap_or(0.0));
        let mut at_margin = |y: f64| (draw().unwrap_or(0.0).abs() + prior.margin) * y;
        let g = (0..l)
            .map(|o| Array2::from_shape_fn((p, n), |(_, i)| at_margin(labels[[i, o]])))
            .collect();
        let f = labels.mapv(&mut at_margin);
        let mut be = Array1::ones(l + p);
        be.slice_mut(s![..l]).fill(0.0);
        Ok(Self {
            prior,
            labels: labels.to_owned(),
            squared,
            a,
            a_variance: Array2::ones((n, l)),
            a_log_determinant: Array1::zeros(l),
            lambda: Array2::zeros((n, l)),
            g,
            g_covariance: Array2::eye(p),
            gamma: Array1::zeros(l),
            omega: Array1::zeros(p),
            be,
            be_covariance: Array2::eye(l + p),
            o: f.clone(),
            f,
            f_variance: Array2::zeros((n, l)),
            inner: vec![Array2::zeros((p, n)); l],
            spread: Array1::zeros(l),
        })
    }

    /// Returns the number of targets `L`.
    pub fn targets(&self) -> usize {
        self.labels.ncols()
    }

    /// Means of the kernel weights `e`.
    pub fn kernel_weights(&self) -> ArrayView1<'_, f64> {
        self.be.slice(s![self.targets()..])
    }

    /// Means of the biases `b`.
    pub fn biases(&self) -> ArrayView1<'_, f64> {
        self.be.slice(s![..self.targets()])
    }

    /// Means of the sample weights `a`, `n × L`.
    pub fn sample_weights(&self) -> ArrayView2<'_, f64> {
        self.a.view()
    }

    /// One round of updates of all factors.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] of a factorisation.
    pub fn iterate(&mut self, grams: &[Array2<f64>]) -> Result<(), LearningError> {
        self.update_samples(grams).map_err(|error| failed(&error))?;
        self.update_intermediate().map_err(|error| failed(&error))?;
        self.update_combination().map_err(|error| failed(&error))?;
        self.update_outputs();
        Ok(())
    }

    /// Steps 1 and 2: precisions, then weights of the samples.
    fn update_samples(&mut self, grams: &[Array2<f64>]) -> Result<(), LinalgError> {
        let Prior { shape, scale, noise, .. } = self.prior;
        let precision = 1.0 / (noise * noise);
        for o in 0..self.targets() {
            for i in 0..self.a.nrows() {
                let square = self.a[[i, o]].powi(2) + self.a_variance[[i, o]];
                self.lambda[[i, o]] = 1.0 / (1.0 / scale + 0.5 * square);
            }
            let expected = self.lambda.column(o).mapv(|scale| (shape + 0.5) * scale);
            let mut matrix = &self.squared * precision;
            matrix.diag_mut().scaled_add(1.0, &expected);
            let factor = Cholesky::factor(matrix)?;
            let mut right = Array1::zeros(self.a.nrows());
            for (gram, g) in grams.iter().zip(self.g[o].rows()) {
                right.scaled_add(precision, &gram.dot(&g));
            }
            let solved = factor.solve(&right.insert_axis(Axis(1)))?;
            self.a.column_mut(o).assign(&solved.column(0));
            self.a_variance.column_mut(o).assign(&factor.inverse_diagonal());
            self.a_log_determinant[o] = -factor.log_determinant();
            // (diag λ + KK/σ²) Cov(a) = I, so the trace needs no product.
            let used = expected.dot(&self.a_variance.column(o));
            self.spread[o] = (self.a.nrows() as f64 - used) / precision;
            for (gram, mut inner) in grams.iter().zip(self.inner[o].rows_mut()) {
                inner.assign(&gram.dot(&self.a.column(o)));
            }
        }
        Ok(())
    }

    /// Step 3: intermediate outputs, with the `f` of the previous round.
    fn update_intermediate(&mut self) -> Result<(), LinalgError> {
        let (l, precision) = (self.targets(), self.prior.noise.powi(-2));
        let e = self.kernel_weights().to_owned();
        let p = e.len();
        let mut matrix = self.be_covariance.slice(s![l.., l..]).to_owned();
        for m in 0..p {
            for q in 0..p {
                matrix[[m, q]] += e[m] * e[q];
            }
            matrix[[m, m]] += precision;
        }
        self.g_covariance = Cholesky::factor(matrix)?.solve(&Array2::eye(p))?;
        for o in 0..l {
            let shared = &e * self.be[o] + self.be_covariance.slice(s![l.., o]);
            let mut right = &self.inner[o] * precision;
            for (mut column, &f) in right.columns_mut().into_iter().zip(self.f.column(o)) {
                column.scaled_add(f, &e);
                column -= &shared;
            }
            self.g[o] = self.g_covariance.dot(&right);
        }
        Ok(())
    }

    /// Steps 4 and 5: precisions of biases and kernel weights, then these.
    fn update_combination(&mut self) -> Result<(), LinalgError> {
        let Prior { shape, scale, .. } = self.prior;
        let (l, n) = (self.targets(), self.a.nrows() as f64);
        let square = |k: usize| self.be[k].powi(2) + self.be_covariance[[k, k]];
        let gamma: Array1<f64> = (0..l).map(|o| 1.0 / (1.0 / scale + 0.5 * square(o))).collect();
        let omega: Array1<f64> =
            (l..self.be.len()).map(|k| 1.0 / (1.0 / scale + 0.5 * square(k))).collect();
        (self.gamma, self.omega) = (gamma, omega);
        let size = self.be.len();
        let (mut matrix, mut right) = (Array2::zeros((size, size)), Array2::zeros((size, 1)));
        for o in 0..l {
            matrix[[o, o]] = (shape + 0.5) * self.gamma[o] + n;
            let sums = self.g[o].sum_axis(Axis(1));
            matrix.slice_mut(s![l.., o]).assign(&sums);
            matrix.slice_mut(s![o, l..]).assign(&sums);
            let products = self.g[o].dot(&self.g[o].t()) + &self.g_covariance * n;
            let mut block = matrix.slice_mut(s![l.., l..]);
            block += &products;
            right[[o, 0]] = self.f.column(o).sum();
            let mut part = right.slice_mut(s![l.., 0]);
            part += &self.g[o].dot(&self.f.column(o));
        }
        for (m, &scale) in self.omega.iter().enumerate() {
            matrix[[l + m, l + m]] += (shape + 0.5) * scale;
        }
        let factor = Cholesky::factor(matrix)?;
        self.be_covariance = factor.solve(&Array2::eye(size))?;
        self.be = factor.solve(&right)?.column(0).to_owned();
        Ok(())
    }

    /// Step 6: the outputs, cut at the margin.
    fn update_outputs(&mut self) {
        let (l, margin) = (self.targets(), self.prior.margin);
        for o in 0..l {
            let before = self.g[o].t().dot(&self.kernel_weights()) + self.be[o];
            for (i, &mean) in before.iter().enumerate() {
                let y = self.labels[[i, o]];
                let u = y * mean - margin;
                let r = hazard(u);
                self.o[[i, o]] = mean;
                self.f[[i, o]] = mean + y * r;
                self.f_variance[[i, o]] = 1.0 - r * (u + r);
            }
        }
    }

    /// Returns all that predictions need.
    pub fn posterior(&self) -> Posterior {
        let (a, be, covariance) = (self.a.clone(), self.be.clone(), self.be_covariance.clone());
        Posterior { a, be, covariance }
    }
}

/// The posterior of sample weights, biases and kernel weights after the inference.
///
/// ```
/// use mercer_baselines::{Prior, Variational};
/// use ndarray::array;
/// let gram = [array![[1.0, -1.0], [-1.0, 1.0]]];
/// let labels = array![[-1.0], [1.0]];
/// let prior = Prior { shape: 1.0, scale: 1.0, margin: 1.0, noise: 0.1 };
/// let mut factors = Variational::start(&gram, labels.view(), prior, &mut || None)?;
/// (0..20).try_for_each(|_| factors.iterate(&gram))?;
/// let posterior = factors.posterior();
/// let (mean, variance) = posterior.predict(&[gram[0].dot(&posterior.sample_weights())]);
/// assert!(mean[[0, 0]] < 0.0 && mean[[1, 0]] > 0.0); // on the side of its label
/// assert!(variance.iter().all(|&variance| variance > 0.0));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// Means of the sample weights `a`, `n × L`.
    pub(super) a: Array2<f64>,
    /// Means of biases (`L`) and kernel weights (`P`), and their joint covariance.
    pub(super) be: Array1<f64>,
    pub(super) covariance: Array2<f64>,
}

impl Posterior {
    /// Returns the number of targets `L`.
    pub fn targets(&self) -> usize {
        self.a.ncols()
    }

    /// Means of the kernel weights `e`.
    pub fn kernel_weights(&self) -> ArrayView1<'_, f64> {
        self.be.slice(s![self.targets()..])
    }

    /// Means of the sample weights `a`, `n × L`.
    pub fn sample_weights(&self) -> ArrayView2<'_, f64> {
        self.a.view()
    }

    /// Returns means and variances of `f` for points with these `aᵀ k_m`. One `m × L` array a kernel goes in, `m × L`
    /// each comes out.
    pub fn predict(&self, inner: &[Array2<f64>]) -> (Array2<f64>, Array2<f64>) {
        let (l, m) = (self.targets(), inner.first().map_or(0, Array2::nrows));
        let (mut mean, mut variance) = (Array2::zeros((m, l)), Array2::zeros((m, l)));
        for o in 0..l {
            // Rows and columns of the covariance that belong to this bias and the kernel weights.
            let places: Vec<usize> = std::iter::once(o).chain(l..self.be.len()).collect();
            let covariance = self.covariance.select(Axis(0), &places).select(Axis(1), &places);
            let weights = self.be.select(Axis(0), &places);
            for i in 0..m {
                let point: Array1<f64> =
                    std::iter::once(1.0).chain(inner.iter().map(|k| k[[i, o]])).collect();
                mean[[i, o]] = point.dot(&weights);
                variance[[i, o]] = 1.0 + point.dot(&covariance.dot(&point));
            }
        }
        (mean, variance)
    }
}

fn failed(error: &LinalgError) -> LearningError {
    LearningError::Numerical { operation: "BMKL", reason: error.to_string() }
}

/// `φ(u)/Φ(u)`, also where both underflow.
pub(super) fn hazard(u: f64) -> f64 {
    if u > -25.0 {
        (-0.5 * u * u).exp() / (2.0 * PI).sqrt() / distribution(u)
    } else {
        // Mills' ratio as a continued fraction, from its tail: x + 1/(x + 2/(x + …)).
        let x = -u;
        (1..=20).rev().fold(x, |tail, k| x + f64::from(k) / tail)
    }
}

/// `Φ(u)`.
fn distribution(u: f64) -> f64 {
    0.5 * erfc(-u / SQRT_2)
}

/// `ln Φ(u)`, also where `Φ` underflows.
pub(super) fn log_distribution(u: f64) -> f64 {
    if u > -25.0 {
        distribution(u).ln()
    } else {
        -0.5 * u * u - 0.5 * (2.0 * PI).ln() - hazard(u).ln()
    }
}

/// Probability of the positive label when `f ~ N(mean, variance)` and the band within the margin
/// has no labels.
pub(super) fn probability(mean: f64, variance: f64, margin: f64) -> f64 {
    let deviation = variance.sqrt();
    let yes = log_distribution((mean - margin) / deviation);
    let no = log_distribution((-margin - mean) / deviation);
    1.0 / (1.0 + (no - yes).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn the_hazard_is_smooth_where_its_forms_meet() {
        assert_relative_eq!(hazard(-25.0 + 1e-9), hazard(-25.0 - 1e-9), max_relative = 1e-9);
        assert_relative_eq!(hazard(0.0), (2.0 / PI).sqrt(), max_relative = 1e-14);
        // φ(u)/Φ(u) → −u.
        assert_relative_eq!(hazard(-1e6), 1e6, max_relative = 1e-11);
        let below = log_distribution(-25.0 - 1e-9);
        assert_relative_eq!(log_distribution(-25.0 + 1e-9), below, max_relative = 1e-9);
        assert!(probability(-1e5, 1.0, 1.0) < 1e-300 && probability(1e5, 1.0, 1.0) > 0.999);
        assert_relative_eq!(probability(0.0, 3.0, 1.0), 0.5, max_relative = 1e-14);
    }
}
