//! Laplace's approximation of a binary Gaussian process classifier with logistic likelihood.
//!
//! `K` is the kernel matrix (`n × n`), `y` labels in `{−1, 1}`, `t = (y + 1)/2`, `π = 1/(1 + e^−f)`,
//! `W = diag(π (1 − π))`, `B = I + W^½ K W^½`, `R = W^½ B⁻¹ W^½`. With a weight `w_i` a row counts as `w_i` equal
//! rows, whose likelihoods multiply: `W_ii`, `t_i − π_i` and the logarithm of its likelihood are `w_i` times as large.

use mercer_learning::LearningError;
use mercer_linalg::{Cholesky, LinalgError, product};
use ndarray::{Array1, Array2, ArrayView1, Axis, Zip};
use statrs::function::erf::erfc;
use std::f64::consts::SQRT_2;

/// Newton steps at most, and halvings of one.
const STEPS: usize = 100;
const HALVINGS: usize = 30;
/// Newton stops when the posterior grows by less; the last step squares the error once more.
const GROWTH: f64 = 1e-10;

/// The mode of the posterior, and what follows from it.
#[derive(Debug, Clone)]
pub(super) struct Mode {
    /// `a = K⁻¹ f = t − π` at the mode; `w (t − π)` with weights.
    pub weights: Array1<f64>,
    /// `R`, symmetric.
    pub reduction: Array2<f64>,
    /// `log q = ψ − Σ log L_ii`, the approximate log evidence.
    pub evidence: f64,
    /// `π` at the mode.
    shares: Array1<f64>,
    /// `w`, if the rows have weights.
    row_weights: Option<Array1<f64>>,
}

/// Labels `y` in `{−1, 1}`, and the weights of their rows, if they have some.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub y: &'a [f64],
    pub weights: Option<ArrayView1<'a, f64>>,
}

fn sigmoid(f: f64) -> f64 {
    if f >= 0.0 { 1.0 / (1.0 + (-f).exp()) } else { f.exp() / (1.0 + f.exp()) }
}

/// `log(1 + e^x)` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn fault(error: &LinalgError) -> LearningError {
    let operation = "factoring I + W^½ K W^½";
    LearningError::Numerical { operation, reason: error.to_string() }
}

/// `ψ = −aᵀf/2 − Σ log(1 + e^{−y f})`.
fn posterior(a: &Array1<f64>, f: &Array1<f64>, rows: Labelled<'_>) -> f64 {
    let losses = f.iter().zip(rows.y).map(|(f, y)| softplus(-y * f));
    let loss: f64 = match rows.weights {
        None => losses.sum(),
        Some(weights) => losses.zip(weights).map(|(loss, weight)| loss * weight).sum(),
    };
    -0.5 * a.dot(f) - loss
}

/// The factor of `B` at `f`, with `W^½` and `π`.
fn factor(
    gram: &Array2<f64>,
    f: &Array1<f64>,
    weights: Option<ArrayView1<'_, f64>>,
) -> Result<(Cholesky, Array1<f64>, Array1<f64>), LearningError> {
    let shares = f.mapv(sigmoid);
    let mut root = shares.mapv(|p| (p * (1.0 - p)).sqrt());
    if let Some(weights) = weights {
        root *= &weights.mapv(f64::sqrt);
    }
    let mut b = gram.clone();
    b *= &root;
    b *= &root.view().insert_axis(Axis(1));
    b.diag_mut().mapv_inplace(|entry| entry + 1.0);
    Ok((Cholesky::factor(b).map_err(|error| fault(&error))?, root, shares))
}

/// `W f + t − π`, what a step of Newton's method pulls towards; `W f + w (t − π)` with weights.
fn pull(
    f: &Array1<f64>,
    root: &Array1<f64>,
    shares: &Array1<f64>,
    targets: &Array1<f64>,
    weights: Option<ArrayView1<'_, f64>>,
) -> Array1<f64> {
    let mut c = Array1::zeros(f.len());
    let zipped = Zip::from(&mut c).and(f).and(root).and(shares).and(targets);
    let Some(weights) = weights else {
        zipped.for_each(|c, f, root, share, target| *c = root * root * f + target - share);
        return c;
    };
    zipped.for_each(|c, _, _, share, target| *c = target - share);
    c * weights + root * root * f
}

impl Mode {
    /// Runs Newton's method from the weights `start`, or from `f = 0`. Source: Rasmussen and Williams 2006, Alg. 3.1; a
    /// step that lowers the posterior is halved.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] if `B` cannot be factored.
    pub fn find(
        gram: &Array2<f64>,
        rows: Labelled<'_>,
        start: Option<&Array1<f64>>,
    ) -> Result<Self, LearningError> {
        let (n, weights) = (rows.y.len(), rows.weights);
        let targets: Array1<f64> = rows.y.iter().map(|y| f64::midpoint(*y, 1.0)).collect();
        let mut a = start.cloned().unwrap_or_else(|| Array1::zeros(n));
        let mut f = gram.dot(&a);
        let mut height = posterior(&a, &f, rows);
        let total = weights.map_or(n as f64, |weights| weights.sum());
        let flat = -total * std::f64::consts::LN_2;
        if height < flat {
            (a, f, height) = (Array1::zeros(n), Array1::zeros(n), flat);
        }
        for _ in 0..STEPS {
            let (b, root, shares) = factor(gram, &f, weights)?;
            let c = pull(&f, &root, &shares, &targets, weights);
            let right = (&root * &gram.dot(&c)).insert_axis(Axis(1));
            let solved = b.solve(&right).map_err(|error| fault(&error))?.remove_axis(Axis(1));
            let full = &c - &(&root * &solved);
            let step = &full - &a;
            let (mut size, mut moved) = (1.0, None);
            for _ in 0..HALVINGS {
                let next = &a + &(size * &step);
                let latent = gram.dot(&next);
                let value = posterior(&next, &latent, rows);
                if value >= height {
                    moved = Some((next, latent, value));
                    break;
                }
                size *= 0.5;
            }
            let Some((next, latent, value)) = moved else { break };
            let grown = value - height;
            (a, f, height) = (next, latent, value);
            if grown < GROWTH {
                break;
            }
        }
        let (b, root, shares) = factor(gram, &f, weights)?;
        let evidence = height - 0.5 * b.log_determinant();
        let mut reduction = b.solve(&Array2::from_diag(&root)).map_err(|error| fault(&error))?;
        reduction *= &root.view().insert_axis(Axis(1));
        let mut slopes = &targets - &shares;
        if let Some(weights) = weights {
            slopes *= &weights;
        }
        let row_weights = weights.map(|weights| weights.to_owned());
        Ok(Self { weights: slopes, reduction, evidence, shares, row_weights })
    }

    /// Computes `M` with `∂ log q/∂θ = <M, ∂K/∂θ>` for every kernel parameter `θ` (Alg. 5.1). Here
    /// `M = (a aᵀ − R + u aᵀ + a uᵀ)/2`, `u = (I − R K) s`, and
    /// `s_i = −(K_ii − (K R K)_ii) π_i (1 − π_i)(1 − 2 π_i)/2`, the effect of the mode's shift.
    pub fn sensitivity(&self, gram: &Array2<f64>) -> Array2<f64> {
        let (a, r) = (&self.weights, &self.reduction);
        let mut kr = Array2::zeros(gram.dim());
        product(1.0, gram.view(), r.view(), 0.0, kr.view_mut());
        let explained = (&kr * gram).sum_axis(Axis(1));
        let mut s = Array1::zeros(a.len());
        Zip::from(&mut s).and(&gram.diag()).and(&explained).and(&self.shares).for_each(
            |s, k, explained, p| *s = -0.5 * (k - explained) * p * (1.0 - p) * (1.0 - 2.0 * p),
        );
        if let Some(weights) = &self.row_weights {
            s *= weights;
        }
        let u = &s - &r.dot(&gram.dot(&s));
        let mut m = kr; // its memory
        Zip::indexed(&mut m).and(r).for_each(|(i, j), m, r| {
            *m = 0.5 * (a[i] * a[j] - r + u[i] * a[j] + a[i] * u[j]);
        });
        m
    }
}

/// Deviation from which [`expected_share`] follows the logistic density instead of the normal one.
const WIDE: f64 = 20.0;

/// `∫ σ(z) N(z; mean, variance) dz` by the trapezoid rule over nine deviations to either side. It has a relative error
/// of 1e-13 for variances from 1e-4 to 400, where the usual forty-node Gauss-Hermite rule is off by up to 0.04. Its
/// nodes are half as far apart as `σ` is wide, so that they grow in number with the deviation; beyond [`WIDE`] the same
/// integral by parts takes over.
pub(super) fn expected_share(mean: f64, variance: f64) -> f64 {
    const REACH: f64 = 9.0;
    let deviation = variance.max(0.0).sqrt();
    if deviation > WIDE {
        return wide_share(mean, deviation);
    }
    let width = 0.5f64.min(0.5 / deviation.max(f64::MIN_POSITIVE));
    let half = (REACH / width).ceil();
    let width = REACH / half;
    let half = half as i64;
    let (mut total, mut weight) = (0.0, 0.0);
    for i in -half..=half {
        let u = i as f64 * width;
        let density = (-0.5 * u * u).exp();
        total += density * sigmoid(mean + deviation * u);
        weight += density;
    }
    total / weight
}

/// `∫ σ'(t) Φ((mean - t) / deviation) dt` by the trapezoid rule with steps of a half: what [`expected_share`] is by
/// parts, with as many nodes for a deviation of 1e5 as for one of 20. `σ'` falls as `e^-|t|`, faster than `Φ` rises
/// within nine deviations of its middle, so that 80 to either side hold it. The error, some 1e-12, comes from `erfc`.
fn wide_share(mean: f64, deviation: f64) -> f64 {
    const STEP: f64 = 0.5;
    let at = |i: i32| {
        let t = f64::from(i) * STEP;
        sigmoid(t) * sigmoid(-t) * 0.5 * erfc((t - mean) / (deviation * SQRT_2))
    };
    STEP * (-160..=160).map(at).sum::<f64>()
}
