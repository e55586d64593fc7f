use crate::LinalgError;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, inverse};
use faer::{MatMut, MatRef, Par, Spec};
use ndarray::{Array2, ArrayView2};

/// Returns `A⁻¹` (`n × n`) in single precision, from an LU factorisation with partial pivoting.
///
/// This is what some published code does in place of a solve. It loses about `log10 cond(A)` of the seven digits. It
/// loses as many again when the inverse multiplies a vector that a solve would have taken into account. Where `cond(A)`
/// reaches 1e7 the result is noise, and nothing says so. It exists to reproduce such numbers; [`crate::Cholesky`] and
/// [`crate::minimum_norm_solve`] are for all else.
///
/// # Errors
/// [`LinalgError::NotSquare`], [`LinalgError::Empty`], [`LinalgError::NotFinite`] where the matrix is
/// not finite, [`LinalgError::Singular`] where its inverse is not: a pivot is exactly 0.
///
/// ```
/// use ndarray::array;
/// let inverse = mercer_linalg::explicit_inverse_f32(array![[0.0f32, 2.0], [4.0, 0.0]].view())?;
/// assert_eq!(inverse, array![[0.0, 0.25], [0.5, 0.0]]);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
pub fn explicit_inverse_f32(matrix: ArrayView2<'_, f32>) -> Result<Array2<f32>, LinalgError> {
    let operation = "the explicit inverse in single precision";
    let (n, columns) = matrix.dim();
    if n != columns {
        return Err(LinalgError::NotSquare { rows: n, columns });
    }
    if n == 0 {
        return Err(LinalgError::Empty { rows: n, columns });
    }
    let mut lu: Vec<f32> = matrix.iter().copied().collect();
    let (mut forward, mut back) = (vec![0usize; n], vec![0usize; n]);
    let spec = Spec::default();
    let need = factor::lu_in_place_scratch::<usize, f32>(n, n, Par::Seq, spec);
    let (_, permutation) = factor::lu_in_place(
        MatMut::from_row_major_slice_mut(&mut lu, n, n),
        &mut forward,
        &mut back,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(need)),
        spec,
    );
    let mut storage = vec![0f32; n * n];
    let factors = MatRef::from_row_major_slice(&lu, n, n);
    inverse::inverse(
        MatMut::from_row_major_slice_mut(&mut storage, n, n),
        factors,
        factors,
        permutation,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(inverse::inverse_scratch::<usize, f32>(n, Par::Seq))),
    );
    if storage.iter().any(|entry| !entry.is_finite()) {
        let finite = matrix.iter().all(|entry| entry.is_finite());
        return Err(if finite {
            LinalgError::Singular { operation }
        } else {
            LinalgError::NotFinite { operation }
        });
    }
    let mut inverse = Array2::zeros((n, n));
    inverse.iter_mut().zip(storage).for_each(|(to, entry)| *to = entry);
    Ok(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    #[test]
    fn it_inverts_what_is_well_conditioned() {
        for n in [1, 2, 17, 120] {
            let a = Array2::from_shape_fn((n, n), |(i, j)| {
                ((i * 31 + j * 17) as f32 * 0.7).sin() + if i == j { 12.0 } else { 0.0 }
            });
            let inverse = explicit_inverse_f32(a.view()).unwrap();
            assert_abs_diff_eq!(a.dot(&inverse), Array2::eye(n), epsilon = 1e-4);
            let turned = explicit_inverse_f32(a.t()).unwrap();
            assert_abs_diff_eq!(turned, inverse.t(), epsilon = 1e-5);
        }
    }

    /// The point of keeping it: at condition 1e8 it still answers, and the answer is wrong.
    #[test]
    fn an_ill_conditioned_matrix_gets_a_wrong_answer_without_a_word() {
        let hilbert = Array2::from_shape_fn((6, 6), |(i, j)| 1.0 / (i + j + 1) as f32);
        let inverse = explicit_inverse_f32(hilbert.view()).unwrap();
        let off = (hilbert.dot(&inverse) - Array2::<f32>::eye(6)).mapv(f32::abs);
        assert!(off.iter().fold(0f32, |a, &b| a.max(b)) > 1e-3);
    }

    #[test]
    fn what_has_no_inverse_is_named() {
        let poisoned = explicit_inverse_f32(array![[f32::NAN, 0.0], [0.0, 1.0]].view());
        assert!(matches!(poisoned, Err(LinalgError::NotFinite { .. })));
        for singular in [array![[0f32, 0.0], [0.0, 0.0]], array![[1f32, 2.0], [2.0, 4.0]]] {
            let error = explicit_inverse_f32(singular.view()).unwrap_err();
            assert!(matches!(error, LinalgError::Singular { .. }), "{error}");
            assert!(error.to_string().contains("larger ridge"), "{error}");
        }
        assert!(matches!(
            explicit_inverse_f32(Array2::zeros((1, 2)).view()),
            Err(LinalgError::NotSquare { .. })
        ));
    }
}
