use crate::KernelError;
use mercer_linalg::Cholesky;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use statrs::function::gamma::ln_gamma;
use std::f64::consts::{LN_2, PI};

/// The Wishart hyper-kernel, unnormalised. It is the inverse Wishart mixture, over covariances `Σ`, of four Gaussian
/// bumps multiplied,
/// ```text
/// h ∝ ∫∫ N(p; x, Σ) N(p; x', Σ) N(p; z, Σ) N(p; z', Σ) IW(Σ; D, b) dp dΣ
/// h = det(I_3 + Bᵀ D⁻¹ B)^(−(b+3)/2),      B = [(x − x')/√2, (z − z')/√2, (x + x')/2 − (z + z')/2]
/// ```
/// since the scatter of the four points is `B Bᵀ`. One 3 × 3 determinant, no overflow in any dimension.
/// (The paper prints the sample size `m` where the dimension `d` belongs.) One bump point `p` is
/// shared by both pairs: it is a mixture of Gaussian hyper-kernels with `σ_h → 0`.
///
/// ```
/// use mercer_kernels::WishartHyper;
/// use ndarray::array;
/// let hyper = WishartHyper::isotropic(1.0, 1)?; // b = 4, D = 2
/// assert_eq!((hyper.freedom(), hyper.features()), (4.0, 1));
/// assert!((hyper.log_determinant() - 2f64.ln()).abs() < 1e-15);
/// let (x, z) = (array![0.0], array![1.0]);
/// // B = [0, 0, 1]: det = 1 + 1/2, to the power −(b + 3)/2.
/// let h = hyper.of((x.view(), x.view()), (z.view(), z.view()));
/// assert!((h - 1.5f64.powf(-3.5)).abs() < 1e-15);
/// let refused = WishartHyper::new(array![[1.0, 0.0], [0.0, 1.0]].view(), 0.5).unwrap_err();
/// assert!(refused.to_string().contains("needs more than 1 degrees of freedom, got 0.5"));
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct WishartHyper {
    /// `L⁻¹` of `D = L Lᵀ`, row by row: `‖L⁻¹ a‖² = aᵀ D⁻¹ a`.
    whitening: Array2<f64>,
    log_determinant: f64,
    freedom: f64,
}

impl WishartHyper {
    /// Builds the hyper-kernel of the scale matrix `D` and the degrees of freedom `b`. `D` is `d × d`, symmetric
    /// positive definite, in input units squared; `b > d − 1`.
    ///
    /// # Errors
    /// [`KernelError::Freedom`]; [`KernelError::NotPositiveDefinite`] for `D`, also if it is not square
    /// or not symmetric; [`KernelError::NoInputs`].
    pub fn new(scale: ArrayView2<'_, f64>, freedom: f64) -> Result<Self, KernelError> {
        let (d, columns) = scale.dim();
        if d == 0 {
            return Err(KernelError::NoInputs);
        }
        if !(freedom > d as f64 - 1.0 && freedom.is_finite()) {
            return Err(KernelError::Freedom { freedom, features: d });
        }
        let refused = |reason: String| KernelError::NotPositiveDefinite { reason };
        if d != columns {
            return Err(refused(format!("it has {d} rows and {columns} columns")));
        }
        let largest = scale.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for ((i, j), &value) in scale.indexed_iter() {
            let gap = (value - scale[[j, i]]).abs();
            // NaN lands here too.
            if gap.is_nan() || gap > 1e-10 * largest {
                return Err(refused(format!("entries ({i}, {j}) and ({j}, {i}) differ")));
            }
        }
        let factor =
            Cholesky::factor(scale.to_owned()).map_err(|error| refused(error.to_string()))?;
        let lower = factor.lower();
        let mut whitening = Array2::zeros((d, d));
        for column in 0..d {
            for row in column..d {
                let unit = if row == column { 1.0 } else { 0.0 };
                let known: f64 =
                    (column..row).map(|k| lower[[row, k]] * whitening[[k, column]]).sum();
                whitening[[row, column]] = (unit - known) / lower[[row, row]];
            }
        }
        Ok(Self { whitening, log_determinant: factor.log_determinant(), freedom })
    }

    /// Builds the default for data of total variance `s` in `d` dimensions. The paper states nothing: `b = d + 3` and
    /// `D = (b − d − 1) s I`, so that the mean covariance is `s I`.
    ///
    /// # Errors
    /// [`KernelError::Deviation`] unless the variance is positive and finite; [`KernelError::NoInputs`].
    pub fn isotropic(variance: f64, features: usize) -> Result<Self, KernelError> {
        Self::diagonal(&Array1::from_elem(features, variance), 3.0)
    }

    /// With one variance an input: `b = d + excess` and `D = (excess − 1) diag(variances)`.
    ///
    /// # Errors
    /// [`KernelError::Deviation`] unless the variances are positive and finite; [`KernelError::Excess`] unless
    /// `excess > 1`; [`KernelError::NoInputs`].
    pub fn diagonal(variances: &Array1<f64>, excess: f64) -> Result<Self, KernelError> {
        if let Some(&value) = variances.iter().find(|v| !(**v > 1e-300 && **v < 1e300)) {
            return Err(KernelError::Deviation { name: "variance", value });
        }
        if !(excess > 1.0 && excess.is_finite()) {
            return Err(KernelError::Excess { excess });
        }
        let scale = Array2::from_diag(&(variances * (excess - 1.0)));
        Self::new(scale.view(), variances.len() as f64 + excess)
    }

    /// From what [`WishartHyper::whitening`], [`WishartHyper::log_determinant`] and
    /// [`WishartHyper::freedom`] say of one.
    ///
    /// # Errors
    /// [`KernelError::Freedom`]; [`KernelError::NotPositiveDefinite`] if the whitening is not square and
    /// lower triangular with a positive diagonal.
    pub fn from_parts(
        whitening: Array2<f64>,
        log_determinant: f64,
        freedom: f64,
    ) -> Result<Self, KernelError> {
        let (d, columns) = whitening.dim();
        let refused = |reason: &str| KernelError::NotPositiveDefinite { reason: reason.to_owned() };
        if !(freedom > d as f64 - 1.0 && freedom.is_finite()) {
            return Err(KernelError::Freedom { freedom, features: d });
        }
        let lower = |((i, j), &value): ((usize, usize), &f64)| {
            if i == j { value > 0.0 } else { i > j || value == 0.0 }
        };
        if d == 0 || d != columns || !log_determinant.is_finite() {
            return Err(refused("its whitening is not square"));
        }
        if !whitening.indexed_iter().all(lower) {
            return Err(refused("its whitening is not lower triangular and positive"));
        }
        Ok(Self { whitening, log_determinant, freedom })
    }

    /// Returns `L⁻¹` of `D = L Lᵀ` (`d × d`).
    pub fn whitening(&self) -> ArrayView2<'_, f64> {
        self.whitening.view()
    }

    /// Returns `ln det D`.
    pub const fn log_determinant(&self) -> f64 {
        self.log_determinant
    }

    /// Returns the dimension `d` of the points.
    pub fn features(&self) -> usize {
        self.whitening.nrows()
    }

    /// Returns the degrees of freedom `b`.
    pub const fn freedom(&self) -> f64 {
        self.freedom
    }

    /// Returns `h((x, x'), (z, z'))`.
    ///
    /// # Panics
    /// If the points do not have `d` entries.
    pub fn of(
        &self,
        (x, x_prime): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
        (z, z_prime): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
    ) -> f64 {
        let root = 0.5f64.sqrt();
        let a = self.whitening.dot(&((&x - &x_prime) * root));
        let c = self.whitening.dot(&((&z - &z_prime) * root));
        let e = self.whitening.dot(&((&x + &x_prime - z - z_prime) * 0.5));
        let diagonal = [1.0 + a.dot(&a), 1.0 + c.dot(&c), 1.0 + e.dot(&e)];
        determinant(diagonal, a.dot(&c), a.dot(&e), c.dot(&e)).powf(-self.power())
    }

    /// `(b + 3)/2`.
    pub(super) fn power(&self) -> f64 {
        0.5 * (self.freedom + 3.0)
    }

    /// `L⁻¹ x` of every row.
    pub(super) fn whiten(&self, points: ArrayView2<'_, f64>) -> Array2<f64> {
        assert_eq!(points.ncols(), self.features(), "points of another dimension than D");
        points.dot(&self.whitening.t())
    }

    /// Returns `ln[2^−d π^(−3d/2) Γ_d((b+3)/2)/Γ_d(b/2) |D|^(−3/2)]`.
    pub fn log_normaliser(&self) -> f64 {
        let d = self.features() as f64;
        // Γ_d(a) = π^(d(d−1)/4) Π_i Γ(a − i/2): the powers of π cancel in the ratio.
        let gammas = (0..self.features()).map(|i| {
            let at = |degrees: f64| ln_gamma(0.5 * (degrees - i as f64));
            at(self.freedom + 3.0) - at(self.freedom)
        });
        -d * LN_2 - 1.5 * d * PI.ln() + gammas.sum::<f64>() - 1.5 * self.log_determinant
    }
}

/// The determinant of a symmetric 3 × 3 matrix.
#[inline]
pub(super) fn determinant(diagonal: [f64; 3], ac: f64, ae: f64, ce: f64) -> f64 {
    let [aa, cc, ee] = diagonal;
    aa * (cc * ee - ce * ce) - ac * (ac * ee - ae * ce) + ae * (ac * ce - ae * cc)
}
