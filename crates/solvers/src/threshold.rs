use crate::SolverError;
use crate::inverse_root::InverseRoot;
use mercer_linalg::{SmallEigen, product, thin_svd};
use ndarray::{Array2, ArrayView2};

/// Singular value thresholding at `τ`: every singular value of `W` loses `τ`.
///
/// ```
/// use mercer_solvers::Threshold;
/// use ndarray::array;
/// let w = array![[3.0, 0.0], [0.0, 1.0]];
/// let of = |clip| Threshold { tau: 2.0, clip }.apply(w.view()).map(|(shrunk, _)| shrunk);
/// let near = |a: ndarray::Array2<f64>, b: ndarray::Array2<f64>| (a - b).iter().all(|gap| gap.abs() < 1e-12);
/// assert!(near(of(true)?, array![[1.0, 0.0], [0.0, 0.0]])); // of rank 1 now
/// assert!(near(of(false)?, array![[1.0, 0.0], [0.0, -1.0]])); // as the released code does
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// `τ ≥ 0`, in units of the singular values.
    pub tau: f64,
    /// Whether values stop at 0 (the proximal step of `τ ‖W‖_*`) or may turn negative.
    pub clip: bool,
}

/// Which decomposition a thresholding used.
///
/// ```
/// use mercer_solvers::{Route, Threshold};
/// use ndarray::array;
/// let route = |tau, small| {
///     let w = array![[1.0, 0.0], [0.0, small], [0.0, 0.0]];
///     Threshold { tau, clip: true }.apply(w.view()).map(|(_, route)| route)
/// };
/// assert_eq!(route(0.5, 0.75)?, Route::Gram);
/// // Of 1e-7 the Gram matrix knows 1e-14, next to 1: no digits for a threshold of that size.
/// assert_eq!(route(1e-8, 1e-7)?, Route::Svd);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Eigenvalues of the small Gram matrix `Wᵀ W`.
    Gram,
    /// A full singular value decomposition, because the Gram matrix was not accurate enough.
    Svd,
}

impl Threshold {
    /// Returns `W₊ = U diag(max(s − τ, 0)) Vᵀ` (or `s − τ` without the clip) of `W = U diag(s) Vᵀ`, `D × K`.
    ///
    /// With the clip it minimises `½ ‖W₊ − W‖_F² + τ ‖W₊‖_*`. It goes through the `K × K` Gram
    /// matrix where [`Shrinkage::plan`] finds that accurate to 1e-10, else through the SVD.
    ///
    /// ```
    /// use mercer_solvers::Threshold;
    /// use ndarray::array;
    /// let w = array![[3.0, 0.0], [4.0, 0.0], [0.0, 1.0]];
    /// let (shrunk, _) = Threshold { tau: 2.0, clip: true }.apply(w.view())?;
    /// assert!((shrunk - array![[1.8, 0.0], [2.4, 0.0], [0.0, 0.0]]).iter().all(|e| e.abs() < 1e-12));
    /// # Ok::<(), mercer_solvers::SolverError>(())
    /// ```
    ///
    /// # Errors
    /// [`SolverError::Threshold`] unless `0 ≤ τ < ∞`; [`SolverError::NotFinite`] for NaN or
    /// infinity in `W`; [`SolverError::Linalg`] if the SVD fails.
    pub fn apply(self, w: ArrayView2<'_, f64>) -> Result<(Array2<f64>, Route), SolverError> {
        let Self { tau, clip } = self;
        if !(tau >= 0.0 && tau.is_finite()) {
            return Err(SolverError::Threshold(tau));
        }
        if let Some(&value) = w.iter().find(|w| !w.is_finite()) {
            return Err(SolverError::NotFinite { what: "matrix to threshold", value });
        }
        let (rows, k) = w.dim();
        let mut shrinkage = Shrinkage::new(k);
        let mut gram = Array2::zeros((k, k));
        product(1.0, w.t(), w, 0.0, gram.view_mut());
        let (gram, _) = gram.into_raw_vec_and_offset();
        if let Some(removed) = shrinkage.plan(&gram, rows, f64::EPSILON, 1e-10, self) {
            let removed = Array2::from_shape_fn((k, k), |(i, j)| removed[i * k + j]);
            let mut shrunk = w.to_owned();
            product(-1.0, w, removed.view(), 1.0, shrunk.view_mut());
            return Ok((shrunk, Route::Gram));
        }
        let svd = thin_svd(w)?;
        let mut left = svd.u;
        for (mut column, &s) in left.columns_mut().into_iter().zip(&svd.singular) {
            let shrunk = if clip { (s - tau).max(0.0) } else { s - tau };
            column *= shrunk;
        }
        Ok((left.dot(&svd.vt), Route::Svd))
    }
}

/// Thresholding of many `D × K` matrices through their Gram matrices, without allocating.
///
/// From `G = Wᵀ W = V diag(s²) Vᵀ` follows `W₊ = W − W N` with `N = V diag(r) Vᵀ`,
/// `r = min(1, τ/s)` (or `τ/s` without the clip): no left singular vectors are needed.
///
/// Where no singular value can be below the threshold, `N = τ G^-½`, which takes a few products
/// of small matrices; eigenvalues are computed only where that does not hold.
///
/// ```
/// use mercer_solvers::{Shrinkage, Threshold};
/// // Wᵀ W of singular values 4 and 1; a threshold of 1 takes shares of 1/4 and all.
/// let (gram, threshold) = ([16.0, 0.0, 0.0, 1.0], Threshold { tau: 1.0, clip: true });
/// let mut shrinkage = Shrinkage::new(2);
/// let n = shrinkage.plan(&gram, 10, f64::EPSILON, 1e-10, threshold).expect("accurate enough");
/// assert!(n.iter().zip([0.25, 0.0, 0.0, 1.0]).all(|(n, share)| (n - share).abs() < 1e-12));
/// let broken = [f64::NAN, 0.0, 0.0, 1.0];
/// assert!(shrinkage.plan(&broken, 10, f64::EPSILON, 1e-10, threshold).is_none());
/// ```
pub struct Shrinkage {
    root: InverseRoot,
    eigen: SmallEigen,
    removed: Vec<f64>,
    shares: Vec<f64>,
}

impl Shrinkage {
    /// Makes room for matrices of `k` columns.
    pub fn new(k: usize) -> Self {
        Self {
            root: InverseRoot::new(k),
            eigen: SmallEigen::new(k),
            removed: vec![0.0; k * k],
            shares: vec![0.0; k],
        }
    }

    /// Computes the matrix `N` of `W₊ = W − W N`, row by row, from `gram = Wᵀ W`. It is `None` where that would be
    /// inaccurate or the Gram matrix is not finite.
    ///
    /// A Gram matrix of `rows` rows summed with unit round-off `unit` has eigenvalues `g` wrong
    /// by about `δ = 2 √rows · unit · g_max`. The share `r = τ/√g` then errs by up to
    /// `τ δ / (2 g^{3/2})` and the singular value that it is taken from by `√g` times that:
    /// `None` is returned when
    /// ```text
    /// max_j  τ δ √(g_j + δ) / (2 ĝ_j^{3/2})  >  tolerance · √g_max ,    ĝ_j = g_j − δ
    /// ```
    /// With the clip, `ĝ_j` is at least `τ²`, since `r = 1` below, and values with
    /// `g_j + δ ≤ τ²` cannot err at all. So small singular values call for the SVD only if they
    /// are of the size of the threshold or larger.
    ///
    /// # Panics
    /// If `gram` does not have `k²` entries.
    pub fn plan(
        &mut self,
        gram: &[f64],
        rows: usize,
        unit: f64,
        tolerance: f64,
        threshold: Threshold,
    ) -> Option<&[f64]> {
        let Threshold { tau, clip } = threshold;
        if tau == 0.0 {
            self.removed.fill(0.0);
            return Some(&self.removed);
        }
        // The error is largest for the smallest eigenvalue, and √g_max is at least the mean's.
        let wobble = 2.0 * (rows as f64).sqrt() * unit;
        let k = self.shares.len();
        let trace: f64 = gram.iter().step_by(k + 1).sum();
        if let Some((root, smallest)) = self.root.of(gram) {
            let delta = wobble * trace;
            let surely = smallest - delta;
            let error = tau * delta * (smallest + delta).sqrt() / (2.0 * surely.max(0.0).powf(1.5));
            let fine = error <= tolerance * (trace / k as f64).sqrt();
            if surely > tau * tau && fine {
                for (to, from) in self.removed.iter_mut().zip(root) {
                    *to = tau * from;
                }
                return Some(&self.removed);
            }
        }
        if !self.eigen.decompose(gram) {
            return None;
        }
        let values = self.eigen.values();
        let largest = values.last().map_or(0.0, |g| g.max(0.0));
        let delta = wobble * largest;
        for (share, &g) in self.shares.iter_mut().zip(values) {
            let g = g.max(0.0);
            if clip && g + delta <= tau * tau {
                *share = 1.0;
                continue;
            }
            let surely = if clip { (g - delta).max(tau * tau) } else { g - delta };
            let error = tau * delta * (g + delta).sqrt() / (2.0 * surely.max(0.0).powf(1.5));
            // An error of 0/0 (an all-zero matrix without the clip) is refused as well.
            if error.is_nan() || error > tolerance * largest.sqrt() {
                return None;
            }
            *share = if clip { (tau / g.sqrt()).min(1.0) } else { tau / g.sqrt() };
        }
        self.eigen.compose(&self.shares, &mut self.removed);
        Some(&self.removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array, s};
    use proptest::prelude::*;

    const GOLDEN: &str = include_str!("../../../experiments/golden/askl.toml");

    /// A `rows × k` matrix with the given singular values.
    fn with_singular_values(rows: usize, s: &[f64]) -> Array2<f64> {
        let k = s.len();
        let wave = |n: usize, m: usize, a: f64| {
            Array2::from_shape_fn((n, m), |(i, j)| ((i * m + j) as f64 * a + 0.3).sin())
        };
        let left = thin_svd(wave(rows, k, 0.77).view()).unwrap().u;
        let right = thin_svd(wave(k, k, 1.31).view()).unwrap().vt;
        left.dot(&Array2::from_diag(&Array1::from(s.to_vec()))).dot(&right)
    }

    fn largest_difference(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
        (a - b).iter().fold(0.0, |m, e| e.abs().max(m))
    }

    #[test]
    fn golden_thresholding_with_and_without_the_clip() {
        let golden: toml::Table = GOLDEN.parse().unwrap();
        let golden = &golden["askl-3"];
        let matrix = |name: &str| {
            let entries: Vec<f64> = golden[name]
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|row| row.as_array().unwrap())
                .map(|x| x.as_float().unwrap())
                .collect();
            Array2::from_shape_vec((3, 2), entries).unwrap()
        };
        let tau = golden["threshold"].as_float().unwrap();
        for (clip, expected) in [(true, "clipped"), (false, "unclipped")] {
            let (found, _) = Threshold { tau, clip }.apply(matrix("q").view()).unwrap();
            assert!(largest_difference(&found, &matrix(expected)) < 1e-12, "{expected}");
        }
    }

    #[test]
    fn the_fallback_triggers_exactly_where_the_gram_matrix_loses_accuracy() {
        let threshold = Threshold { tau: 1e-9, clip: true };
        let direct = |w: &Array2<f64>| {
            let mut shrinkage = Shrinkage::new(w.ncols());
            let gram: Vec<f64> = w.t().dot(w).iter().copied().collect();
            let removed = shrinkage.plan(&gram, w.nrows(), 0.0, 1e-10, threshold);
            let k = w.ncols();
            let removed = Array2::from_shape_vec((k, k), removed.unwrap().to_vec()).unwrap();
            w - &w.dot(&removed)
        };
        for (smallest, route) in [(1.0, Route::Gram), (1e-2, Route::Gram), (3e-9, Route::Svd)] {
            let s = [smallest, 0.7, 1.0];
            let w = with_singular_values(40, &s);
            let exact = with_singular_values(40, &s.map(|s| s - 1e-9));
            let (shrunk, taken) = threshold.apply(w.view()).unwrap();
            assert_eq!(taken, route, "smallest singular value {smallest}");
            assert!(largest_difference(&shrunk, &exact) < 1e-14, "{smallest}");
            // Trusting the Gram matrix blindly (unit round-off 0) is right in the first two
            // cases and wrong by a large share of the small singular value in the third.
            let lost = largest_difference(&direct(&w), &exact) > 1e-11;
            assert_eq!(lost, route == Route::Svd, "smallest singular value {smallest}");
        }
    }

    #[test]
    fn values_surely_below_the_threshold_need_no_svd() {
        let w = with_singular_values(40, &[1e-12, 1e-9, 1.0]);
        let (shrunk, route) = Threshold { tau: 1e-3, clip: true }.apply(w.view()).unwrap();
        assert_eq!(route, Route::Gram);
        let exact = with_singular_values(40, &[0.0, 0.0, 0.999]);
        assert!(largest_difference(&shrunk, &exact) < 1e-13);
    }

    #[test]
    fn a_zero_matrix_stays_zero_and_bad_input_is_refused() {
        let zero = Array2::zeros((4, 2));
        let (shrunk, _) = Threshold { tau: 0.5, clip: true }.apply(zero.view()).unwrap();
        assert_eq!(shrunk, zero);
        assert!(matches!(
            Threshold { tau: -1.0, clip: true }.apply(zero.view()),
            Err(SolverError::Threshold(_))
        ));
        assert!(matches!(
            Threshold { tau: 1.0, clip: true }.apply(array![[f64::NAN]].view()),
            Err(SolverError::NotFinite { .. })
        ));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_definition_and_is_a_proximal_step(
            s in proptest::collection::vec(0.0..3.0f64, 1..6), tau in 0.0..2.0f64,
        ) {
            let w = with_singular_values(20, &s);
            let (shrunk, _) = Threshold { tau, clip: true }.apply(w.view()).unwrap();
            let expected: Vec<f64> = s.iter().map(|s| (s - tau).max(0.0)).collect();
            let exact = with_singular_values(20, &expected);
            prop_assert!(largest_difference(&shrunk, &exact) < 1e-9);
            // No move of one entry lowers the proximal objective.
            let objective = |m: &Array2<f64>| {
                let nuclear: f64 = thin_svd(m.view()).unwrap().singular.sum();
                0.5 * (m - &w).mapv(|e| e * e).sum() + tau * nuclear
            };
            let least = objective(&shrunk);
            for step in [-1e-3, 1e-3] {
                let mut moved = shrunk.clone();
                moved.slice_mut(s![3..4, ..]).mapv_inplace(|e| e + step);
                prop_assert!(objective(&moved) >= least - 1e-9);
            }
        }
    }
}
