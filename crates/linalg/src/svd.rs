use crate::LinalgError;
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use ndarray_linalg::{JobSvd, SVDDC};
use openblas_src as _;
use std::ffi::c_int;
use std::sync::Once;

/// A thin singular value decomposition, `A = U diag(singular) Vᵀ`, with `k = min(m, n)`.
///
/// ```
/// use mercer_linalg::thin_svd;
/// use ndarray::{Array2, array};
/// let a = array![[3.0, 0.0], [4.0, 0.0], [0.0, 1.0]];
/// let svd = thin_svd(a.view())?;
/// assert_eq!((svd.u.dim(), svd.vt.dim()), ((3, 2), (2, 2)));
/// let product = svd.u.dot(&Array2::from_diag(&svd.singular)).dot(&svd.vt);
/// assert!((product - a).iter().all(|gap| gap.abs() < 1e-14));
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Svd {
    /// Left singular vectors, one a column (`m × k`).
    pub u: Array2<f64>,
    /// Singular values, descending, none negative (`k`).
    pub singular: Array1<f64>,
    /// Right singular vectors, one a row (`k × n`).
    pub vt: Array2<f64>,
}

/// The minimum-norm least-squares solution, and what was decided about the rank.
///
/// ```
/// use mercer_linalg::minimum_norm_solve;
/// use ndarray::array;
/// let (a, b) = (array![[1.0, 0.0], [0.0, 1e-20]], array![[1.0], [1.0]]);
/// let cut = minimum_norm_solve(a.view(), b.view(), None)?;
/// assert_eq!((cut.rank, cut.cutoff), (1, 2.0 * f64::EPSILON)); // 1e-20 counts as 0
/// assert!(cut.x[[1, 0]].abs() < 1e-15);
/// let kept = minimum_norm_solve(a.view(), b.view(), Some(0.0))?;
/// assert!(kept.rank == 2 && (kept.x[[1, 0]] / 1e20 - 1.0).abs() < 1e-12);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LeastSquares {
    /// `A⁺ B` (`n × r`).
    pub x: Array2<f64>,
    /// Number of singular values above the cut-off.
    pub rank: usize,
    /// The cut-off used, absolute: `relative cut-off · largest singular value`.
    pub cutoff: f64,
}

/// Returns the thin singular value decomposition of a matrix (`m × n`), on the calling thread.
///
/// By LAPACK's `gesdd`.
///
/// # Errors
/// [`LinalgError::Empty`], [`LinalgError::NotFinite`] or [`LinalgError::NoConvergence`].
///
/// ```
/// use ndarray::array;
/// let svd = mercer_linalg::thin_svd(array![[3.0, 0.0], [4.0, 0.0], [0.0, 1.0]].view())?;
/// assert!((svd.singular[0] - 5.0).abs() < 1e-14 && (svd.singular[1] - 1.0).abs() < 1e-14);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
pub fn thin_svd(matrix: ArrayView2<'_, f64>) -> Result<Svd, LinalgError> {
    let (rows, columns) = matrix.dim();
    if rows == 0 || columns == 0 {
        return Err(LinalgError::Empty { rows, columns });
    }
    if matrix.iter().any(|entry| !entry.is_finite()) {
        return Err(LinalgError::NotFinite { operation: OPERATION });
    }
    one_thread();
    let compact = matrix.as_standard_layout();
    let failed = |reason| LinalgError::NoConvergence { operation: OPERATION, reason };
    match compact.svddc(JobSvd::Some).map_err(|error| failed(error.to_string()))? {
        (Some(u), singular, Some(vt)) => Ok(Svd { u, singular, vt }),
        _ => Err(failed("LAPACK gave no vectors".to_owned())),
    }
}

/// Returns the `x` of least norm among the minimisers of `‖A x − b‖`. It works column by column of `right`.
///
/// Singular values at or below `cutoff · s_1` count as 0. `None` stands for `max(m, n) · ε`, about the rounding error
/// of the singular values themselves. (LAPACK's driver `gelsd` is called through an interface that fixes its cut-off at
/// `ε / 2`, where a singular matrix can pass as regular. So the decomposition is cut here, by a number that the caller
/// states. The tests compare the two where the rank is full.)
///
/// # Errors
/// As [`thin_svd`]; [`LinalgError::Height`]; [`LinalgError::Argument`] for a cut-off outside
/// `[0, 1)`.
///
/// ```
/// use ndarray::array;
/// let (a, b) = (array![[1.0, 1.0], [1.0, 1.0]], array![[2.0], [2.0]]);
/// let solved = mercer_linalg::minimum_norm_solve(a.view(), b.view(), None)?;
/// assert_eq!(solved.rank, 1);
/// assert!((solved.x[[0, 0]] - 1.0).abs() < 1e-14 && (solved.x[[1, 0]] - 1.0).abs() < 1e-14);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
pub fn minimum_norm_solve(
    matrix: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    cutoff: Option<f64>,
) -> Result<LeastSquares, LinalgError> {
    let (expected, found) = (matrix.nrows(), right.nrows());
    if expected != found {
        return Err(LinalgError::Height { expected, found });
    }
    let relative = cutoff.unwrap_or(expected.max(matrix.ncols()) as f64 * f64::EPSILON);
    if !(0.0..1.0).contains(&relative) {
        let (name, must) = ("cut-off", "at least 0 and below 1");
        return Err(LinalgError::Argument { name, value: relative, must });
    }
    let Svd { u, singular, vt } = thin_svd(matrix)?;
    let cutoff = relative * singular[0];
    let rank = singular.iter().take_while(|&&value| value > cutoff).count();
    let mut coordinates = u.slice(s![.., ..rank]).t().dot(&right);
    for (mut row, value) in coordinates.axis_iter_mut(Axis(0)).zip(&singular) {
        row /= *value;
    }
    Ok(LeastSquares { x: vt.slice(s![..rank, ..]).t().dot(&coordinates), rank, cutoff })
}

const OPERATION: &str = "the singular value decomposition";

unsafe extern "C" {
    /// OpenBLAS's own switch; it takes any count and returns nothing.
    safe fn openblas_set_num_threads(count: c_int);
}

/// One BLAS thread: trials run side by side, and two pools would fight for the cores.
fn one_thread() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| openblas_set_num_threads(1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
    }

    #[test]
    fn the_parts_are_orthonormal_and_rebuild_the_matrix() {
        for (m, n) in [(1, 1), (1, 5), (6, 1), (40, 9), (9, 40), (70, 70)] {
            let a = random(m, n, (m * 100 + n) as u64);
            let Svd { u, singular, vt } = thin_svd(a.view()).unwrap();
            assert_abs_diff_eq!((&u * &singular).dot(&vt), a, epsilon = 1e-12);
            let k = m.min(n);
            assert_abs_diff_eq!(u.t().dot(&u), Array2::eye(k), epsilon = 1e-12);
            assert_abs_diff_eq!(vt.dot(&vt.t()), Array2::eye(k), epsilon = 1e-12);
            assert!(singular.windows(2).into_iter().all(|w| w[0] >= w[1] && w[1] >= 0.0));
        }
    }

    #[test]
    fn transposed_views_are_read_right() {
        let a = random(7, 3, 2);
        let svd = thin_svd(a.t()).unwrap();
        assert_abs_diff_eq!((&svd.u * &svd.singular).dot(&svd.vt), a.t(), epsilon = 1e-13);
    }

    #[test]
    fn a_singular_system_gets_the_shortest_solution() {
        // Rank 3 of 8 x 6. Penrose's conditions characterise A⁺ b: the residual is orthogonal to
        // the range of A, and x lies in the row space of A.
        let (left, right) = (random(8, 3, 7), random(3, 6, 8));
        let a = left.dot(&right);
        let b = random(8, 2, 9);
        let solved = minimum_norm_solve(a.view(), b.view(), None).unwrap();
        assert_eq!(solved.rank, 3);
        let residual = a.dot(&solved.x) - &b;
        assert_abs_diff_eq!(a.t().dot(&residual), Array2::zeros((6, 2)), epsilon = 1e-12);
        let gram = right.dot(&right.t());
        let inside = crate::Cholesky::factor(gram).unwrap().solve(&right.dot(&solved.x)).unwrap();
        assert_abs_diff_eq!(right.t().dot(&inside), solved.x, epsilon = 1e-12);
    }

    #[test]
    fn the_cutoff_decides_the_rank() {
        let a = array![[1.0, 0.0], [0.0, 1e-3]];
        let b = array![[1.0], [1.0]];
        let full = minimum_norm_solve(a.view(), b.view(), Some(1e-4)).unwrap();
        assert_eq!(full.rank, 2);
        assert_abs_diff_eq!(full.x, array![[1.0], [1000.0]], epsilon = 1e-10);
        let cut = minimum_norm_solve(a.view(), b.view(), Some(1e-2)).unwrap();
        assert_eq!((cut.rank, cut.cutoff), (1, 1e-2));
        assert_abs_diff_eq!(cut.x, array![[1.0], [0.0]], epsilon = 1e-15);
        let zero = minimum_norm_solve(Array2::zeros((2, 3)).view(), b.view(), None).unwrap();
        assert_eq!((zero.rank, zero.x), (0, Array2::zeros((3, 1))));
    }

    #[test]
    fn full_rank_systems_agree_with_gelsd() {
        use ndarray_linalg::LeastSquaresSvd;
        one_thread();
        for (m, n) in [(30, 8), (8, 30), (12, 11)] {
            let (a, b) = (random(m, n, 4), random(m, 3, 5));
            let ours = minimum_norm_solve(a.view(), b.view(), None).unwrap();
            let theirs = a.least_squares(&b).unwrap();
            assert_eq!(ours.rank, theirs.rank as usize);
            assert_abs_diff_eq!(ours.x, theirs.solution, epsilon = 1e-11);
        }
    }

    #[test]
    fn what_cannot_be_decomposed_is_named() {
        assert!(matches!(
            thin_svd(Array2::zeros((0, 3)).view()),
            Err(LinalgError::Empty { rows: 0, columns: 3 })
        ));
        assert!(matches!(
            thin_svd(array![[f64::INFINITY]].view()),
            Err(LinalgError::NotFinite { .. })
        ));
        let (a, b) = (Array2::eye(2), Array2::zeros((2, 1)));
        for bad in [-1e-9, 1.0, f64::NAN] {
            assert!(matches!(
                minimum_norm_solve(a.view(), b.view(), Some(bad)),
                Err(LinalgError::Argument { name: "cut-off", .. })
            ));
        }
        assert!(matches!(
            minimum_norm_solve(a.view(), Array2::zeros((3, 1)).view(), None),
            Err(LinalgError::Height { expected: 2, found: 3 })
        ));
    }
}
