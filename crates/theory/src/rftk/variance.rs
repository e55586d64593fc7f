//! Figure 1(a) and Theorem 2: the variance of ridgeless random features.

use crate::error::{check, check_count, check_filled, check_finite, check_shape};
use crate::{Bound, TheoryError};
use mercer_linalg::symmetric_eigen;
use ndarray::{Array1, ArrayView1, ArrayView2};
use serde::Serialize;

pub(crate) const FACTOR: &str = "Li, Liu and Zhang (IJCAI 2022), Theorems 2 and 3, Figure 1(a)";
pub(crate) const EXCESS: &str =
    "Li, Liu and Zhang (IJCAI 2022), Theorem 2, in its exact form for Gaussian features";

/// Returns the factor that explodes at the interpolation threshold, Figure 1(a):
/// ```text
/// α  =  M/(M − n)   for M > n,        α  =  n/(n − M)   for M < n
/// ```
/// It tends to 1 far from the threshold on either side.
///
/// - `rows` is `n ≥ 1`, `features` is `M ≥ 1`, and `M ≠ n`
///
/// For `M > n + 1` the term `M/(M−n−1)` is the factor `α'` of the identity that is exact for
/// Gaussian features ([`ridgeless_excess_risk`]).
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range; `features` where `M = n`
/// and the factor is infinite.
///
/// # Examples
/// ```
/// assert_eq!(mercer_theory::ridgeless_variance_factor(100, 125)?.value, 5.0);
/// assert_eq!(mercer_theory::ridgeless_variance_factor(100, 80)?.value, 5.0);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn ridgeless_variance_factor(rows: usize, features: usize) -> Result<Bound, TheoryError> {
    check_count("rows", rows)?;
    check_count("features", features)?;
    let (n, m) = (rows as f64, features as f64);
    check(
        "features",
        m,
        |_| features != rows,
        "different from `rows`, where the factor is infinite",
    )?;
    let mut terms = vec![("M/n", m / n)];
    if m > n + 1.0 {
        terms.push(("M/(M−n−1)", m / (m - n - 1.0)));
    }
    let value = if m > n { m / (m - n) } else { n / (n - m) };
    Ok(Bound { value, terms, vacuous: None, source: FACTOR })
}

/// Returns the excess risk of ridgeless regression with `M` Gaussian features, exactly. The reference is the ridgeless
/// kernel predictor `f`:
/// ```text
/// E risk(f_M) − risk(f)  =  E_x[σ_x²] · ‖f‖_K² / (M − n − 1)
///                        =  E_x[σ_x²] · α' · ‖f‖_K² / M           α' = M/(M − n − 1)
/// ```
/// Theorem 2 is this with `κ² ≥ σ_x²` and a constant that the available text garbles.
///
/// - `posterior_variance` is `E_x[σ_x²] ≥ 0`, or `κ²` for a bound; see [`ridgeless_limit`]
/// - `norm_squared` is `‖f‖_K² = yᵀK⁻¹y ≥ 0`
/// - `rows` is `n ≥ 1` (the rank of `K` where `K` is singular)
/// - `features` is `M`, at least `n + 2`: at `n + 1` the variance is infinite
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let excess = mercer_theory::ridgeless_excess_risk(1.0, 3.0, 5, 12)?;
/// assert!((excess.value - 0.5).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn ridgeless_excess_risk(
    posterior_variance: f64,
    norm_squared: f64,
    rows: usize,
    features: usize,
) -> Result<Bound, TheoryError> {
    check("posterior_variance", posterior_variance, |v| v >= 0.0, "not negative and finite")?;
    check("norm_squared", norm_squared, |norm| norm >= 0.0, "not negative and finite")?;
    check_count("rows", rows)?;
    let freedom = degrees_of_freedom(rows, features)?;
    let m = features as f64;
    let factor = m / freedom;
    let energy = norm_squared / m;
    Ok(Bound {
        value: posterior_variance * factor * energy,
        terms: vec![("E[σ²]", posterior_variance), ("M/(M−n−1)", factor), ("‖f‖²/M", energy)],
        vacuous: None,
        source: EXCESS,
    })
}

/// `M − n − 1`, refused unless positive.
fn degrees_of_freedom(rows: usize, features: usize) -> Result<f64, TheoryError> {
    let (n, m) = (rows as f64, features as f64);
    check("features", m, |m| m > n + 1.0, "at least n + 2; with fewer the variance is infinite")?;
    Ok(m - n - 1.0)
}

/// The ridgeless kernel predictor, and what the variance of its random-feature version is made of.
///
/// ```
/// use mercer_theory::ridgeless_limit;
/// use ndarray::array;
/// let limit = ridgeless_limit(
///     array![[1.0, 0.0], [0.0, 1.0]].view(),
///     array![[0.6, 0.0]].view(),
///     array![1.0].view(),
///     array![2.0, 1.0].view(),
/// )?;
/// assert!((limit.norm_squared - 5.0).abs() < 1e-14 && limit.rank == 2);
/// assert!((limit.posterior_variances[0] - 0.64).abs() < 1e-14); // 1 − 0.6²
/// assert!((limit.excess_risk(10)?.value - 0.64 * 5.0 / 7.0).abs() < 1e-14);
/// assert!(limit.variances(3).is_err()); // infinite at n + 1 features
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RidgelessLimit {
    /// `f(x) = k_x K⁺ y`, one a test point (`m`): the mean of `f_M(x)` for Gaussian features.
    pub predictions: Array1<f64>,
    /// `σ_x² = K(x,x) − k_x K⁺ k_xᵀ`, one a test point (`m`). It is the variance at `x` of a Gaussian process with
    /// kernel `K` that was observed at the training points.
    pub posterior_variances: Array1<f64>,
    /// `‖f‖_K² = yᵀ K⁺ y`.
    pub norm_squared: f64,
    /// Rank of `K`: number of its eigenvalues above the cut-off.
    pub rank: usize,
    /// The cut-off, `n · ε` times the largest eigenvalue.
    pub cutoff: f64,
}

impl RidgelessLimit {
    /// Returns the variance of ridgeless regression with `M` Gaussian features, one a test point (`m`):
    /// ```text
    /// Var f_M(x)  =  σ_x² · ‖f‖_K² / (M − n − 1)
    /// ```
    /// with the rank of `K` in the place of `n` where `K` is singular.
    ///
    /// # Errors
    /// [`TheoryError::Range`] unless `M ≥ n + 2`.
    pub fn variances(&self, features: usize) -> Result<Array1<f64>, TheoryError> {
        let freedom = degrees_of_freedom(self.rank, features)?;
        Ok(self.posterior_variances.mapv(|variance| variance * self.norm_squared / freedom))
    }

    /// Returns the mean of [`RidgelessLimit::variances`] over the test points: [`ridgeless_excess_risk`].
    ///
    /// # Errors
    /// [`TheoryError::Range`] unless `M ≥ n + 2`.
    pub fn excess_risk(&self, features: usize) -> Result<Bound, TheoryError> {
        let mean = self.posterior_variances.sum() / self.posterior_variances.len() as f64;
        ridgeless_excess_risk(mean, self.norm_squared, self.rank, features)
    }
}

/// Returns the limit `M → ∞` of ridgeless regression with random features. The parts of its variance come with it.
///
/// For Gaussian features, whose `M` columns are independent `N(0, K)` over training and test points
/// together, `E f_M(x) = f(x)` and, for `M > n + 1`,
/// ```text
/// Var f_M(x)  =  (K(x,x) − k_x K⁻¹ k_xᵀ) · (yᵀ K⁻¹ y) / (M − n − 1)
/// ```
/// Given the training features, `φ(x)` is normal with mean in their span, which gives `f(x)`, and
/// covariance `σ_x²`; the rest is the mean of an inverse Wishart matrix. Noise in the labels is not
/// in it: the comparison is with `f` on the same labels, and nothing is said on the risk of `f`.
///
/// Random Fourier features are not Gaussian. For them the variance falls like `1/M` as well, but the constant differs.
/// For `M → ∞` the factor is `E[a²b²]/(E[a²]E[b²])` with `a = φ(x) − k_x K⁻¹ φ(X)` and `b = φ(X)ᵀ K⁻¹ y` of one
/// feature. Both are large for high frequencies, so that the factor can be far above 1. It is 11.8 for the five points
/// of the golden example.
///
/// - `gram` is `K` (`n × n`), symmetric and positive semi-definite; a singular one is inverted above
///   a cut-off of `n · ε` times its largest eigenvalue
/// - `cross` is `k_x`, one test point a row (`m × n`)
/// - `self_kernels` is `K(x, x)`, one a test point (`m`)
/// - `targets` is `y` (`n`)
///
/// # Errors
/// [`TheoryError::Empty`], [`TheoryError::Shape`] or [`TheoryError::Linalg`];
/// [`TheoryError::Range`] for NaN, for a `gram` without a positive eigenvalue or with a clearly
/// negative one, and where `self_kernels` is clearly below `k_x K⁺ k_xᵀ`, so that the four arrays
/// cannot come from one kernel.
///
/// # Examples
/// ```
/// use ndarray::array;
/// let limit = mercer_theory::ridgeless_limit(
///     array![[1.0, 0.0], [0.0, 1.0]].view(),
///     array![[0.6, 0.0]].view(),
///     array![1.0].view(),
///     array![2.0, 1.0].view(),
/// )?;
/// assert!((limit.predictions[0] - 1.2).abs() < 1e-14);
/// // (1 − 0.36) · (4 + 1) / (10 − 2 − 1)
/// assert!((limit.variances(10)?[0] - 0.64 * 5.0 / 7.0).abs() < 1e-14);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn ridgeless_limit(
    gram: ArrayView2<'_, f64>,
    cross: ArrayView2<'_, f64>,
    self_kernels: ArrayView1<'_, f64>,
    targets: ArrayView1<'_, f64>,
) -> Result<RidgelessLimit, TheoryError> {
    let (n, m) = (gram.nrows(), cross.nrows());
    check_filled("gram", gram.len())?;
    check_filled("cross", cross.len())?;
    check_shape("gram", gram.dim(), (n, n))?;
    check_shape("cross", cross.dim(), (m, n))?;
    check_shape("self_kernels", (self_kernels.len(), 1), (m, 1))?;
    check_shape("targets", (targets.len(), 1), (n, 1))?;
    check_finite("gram", gram)?;
    check_finite("cross", cross)?;
    check_finite("self_kernels", self_kernels)?;
    check_finite("targets", targets)?;

    let eigen = symmetric_eigen(gram)?;
    let (smallest, largest) = (eigen.values[0], eigen.values[n - 1]);
    let cutoff = super::rank_cutoff(n, largest);
    super::check_semi_definite("gram", smallest, largest)?;
    let kept = eigen.values.iter().take_while(|&&value| value <= cutoff).count();
    // Coordinates along the eigenvectors, divided by √d: then K⁺ is the identity.
    let scale = eigen.values.slice(ndarray::s![kept..]).mapv(f64::sqrt);
    let vectors = eigen.vectors.slice(ndarray::s![.., kept..]);
    let whitened_targets = vectors.t().dot(&targets) / &scale;
    let whitened_cross = cross.dot(&vectors) / &scale;

    let mut posterior_variances = Array1::zeros(m);
    for (i, row) in whitened_cross.rows().into_iter().enumerate() {
        let own = self_kernels[i];
        let variance = own - row.dot(&row);
        // Rounding, squared and divided by the smallest eigenvalue that is kept, is of order √ε.
        let consistent = |own: f64| own >= 0.0 && variance >= -1e-6 * own;
        check("self_kernels", own, consistent, "at least k_x K⁺ k_xᵀ, as for any kernel")?;
        posterior_variances[i] = variance.max(0.0);
    }
    Ok(RidgelessLimit {
        predictions: whitened_cross.dot(&whitened_targets),
        posterior_variances,
        norm_squared: whitened_targets.dot(&whitened_targets),
        rank: n - kept,
        cutoff,
    })
}
