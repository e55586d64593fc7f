use crate::LinalgError;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, MatRef, Par, Spec};
use ndarray::{Array1, Array2, ArrayView2};

/// The eigenvalues and eigenvectors of a symmetric matrix, `A = V diag(values) Vᵀ`.
///
/// ```
/// use mercer_linalg::symmetric_eigen;
/// use ndarray::{Array2, array};
/// let a = array![[2.0, 1.0], [1.0, 2.0]];
/// let eigen = symmetric_eigen(a.view())?;
/// let (v, d) = (&eigen.vectors, Array2::from_diag(&eigen.values));
/// let gap = |left: Array2<f64>, right: &Array2<f64>| (left - right).mapv(f64::abs).sum();
/// assert!(gap(v.dot(&d).dot(&v.t()), &a) < 1e-14);
/// assert!(gap(v.t().dot(v), &Array2::eye(2)) < 1e-14);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// Eigenvalues, ascending (`n`).
    pub values: Array1<f64>,
    /// Orthonormal eigenvectors, one a column, in the order of the values (`n × n`).
    pub vectors: Array2<f64>,
}

/// Returns all eigenvalues and eigenvectors of a symmetric matrix (`n × n`), on the calling thread.
///
/// The triangle on and above the diagonal is read; that the other agrees is the caller's word.
///
/// # Errors
/// [`LinalgError::NotSquare`], [`LinalgError::Empty`], [`LinalgError::NotFinite`] or
/// [`LinalgError::NoConvergence`].
///
/// ```
/// use ndarray::array;
/// let eigen = mercer_linalg::symmetric_eigen(array![[2.0, 1.0], [1.0, 2.0]].view())?;
/// assert!((eigen.values[0] - 1.0).abs() < 1e-15 && (eigen.values[1] - 3.0).abs() < 1e-15);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
pub fn symmetric_eigen(matrix: ArrayView2<'_, f64>) -> Result<Eigen, LinalgError> {
    let operation = "the symmetric eigendecomposition";
    let (n, columns) = matrix.dim();
    if n != columns {
        return Err(LinalgError::NotSquare { rows: n, columns });
    }
    if n == 0 {
        return Err(LinalgError::Empty { rows: n, columns });
    }
    if matrix.iter().any(|entry| !entry.is_finite()) {
        return Err(LinalgError::NotFinite { operation });
    }
    let compact: Vec<f64> = matrix.iter().copied().collect();
    // Row-major read as column-major: the engine's lower triangle is our upper one.
    let a = MatRef::from_column_major_slice(&compact, n, n);
    let mut values = Diag::<f64>::zeros(n);
    let mut vectors = Mat::<f64>::zeros(n, n);
    let need =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
    self_adjoint_evd(
        a,
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        Spec::default(),
    )
    .map_err(|error| LinalgError::NoConvergence { operation, reason: format!("{error:?}") })?;
    Ok(Eigen {
        values: Array1::from_shape_fn(n, |i| values.column_vector()[i]),
        vectors: Array2::from_shape_fn((n, n), |(i, j)| vectors[(i, j)]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn symmetric(n: usize, seed: u64) -> Array2<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let b = Array2::from_shape_simple_fn((n, n), || rng.gen_range(-1.0..1.0));
        &b + &b.t()
    }

    #[test]
    fn vectors_are_orthonormal_and_rebuild_the_matrix() {
        for n in [1, 2, 3, 26, 90] {
            let a = symmetric(n, n as u64);
            let Eigen { values, vectors } = symmetric_eigen(a.view()).unwrap();
            assert!(values.windows(2).into_iter().all(|pair| pair[0] <= pair[1]));
            assert_abs_diff_eq!(vectors.t().dot(&vectors), Array2::eye(n), epsilon = 1e-12);
            let rebuilt = (&vectors * &values).dot(&vectors.t());
            assert_abs_diff_eq!(rebuilt, a, epsilon = 1e-12);
        }
    }

    #[test]
    fn a_rank_one_matrix_has_one_eigenvalue() {
        let eigen = symmetric_eigen(Array2::ones((4, 4)).view()).unwrap();
        assert_abs_diff_eq!(eigen.values, array![0.0, 0.0, 0.0, 4.0], epsilon = 1e-14);
    }

    #[test]
    fn what_has_no_eigenvalues_is_named() {
        assert!(matches!(
            symmetric_eigen(Array2::zeros((2, 3)).view()),
            Err(LinalgError::NotSquare { rows: 2, columns: 3 })
        ));
        assert!(matches!(
            symmetric_eigen(array![[f64::NAN]].view()),
            Err(LinalgError::NotFinite { .. })
        ));
    }

    #[test]
    fn both_engines_agree() {
        use ndarray_linalg::{Eigh, UPLO};
        let a = symmetric(60, 3);
        let ours = symmetric_eigen(a.view()).unwrap();
        let (values, vectors) = a.eigh(UPLO::Upper).unwrap();
        assert_abs_diff_eq!(ours.values, values, epsilon = 1e-12);
        // Eigenvectors are determined up to sign.
        let overlaps = (&ours.vectors * &vectors).sum_axis(ndarray::Axis(0));
        assert_abs_diff_eq!(overlaps.mapv(f64::abs), Array1::ones(60), epsilon = 1e-9);
    }
}
