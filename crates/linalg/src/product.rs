use crate::Real;
use gemm::Parallelism;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

/// `C ← α A B + β C` on one thread, with any strides; `β = 0` overwrites `C`, NaN included.
///
/// `A` is `m × k`, `B` is `k × n`, `C` is `m × n`.
///
/// ```
/// use mercer_linalg::product;
/// use ndarray::array;
/// let (a, b) = (array![[1.0, 2.0]], array![[3.0], [4.0]]);
/// let mut c = array![[100.0]];
/// product(2.0, a.view(), b.view(), 1.0, c.view_mut());
/// assert_eq!(c[[0, 0]], 122.0);
/// ```
///
/// # Panics
/// If the shapes do not fit.
pub fn product<F: Real>(
    alpha: F,
    a: ArrayView2<'_, F>,
    b: ArrayView2<'_, F>,
    beta: F,
    mut c: ArrayViewMut2<'_, F>,
) {
    let ((m, k), n) = (a.dim(), b.ncols());
    assert_eq!(k, b.nrows(), "inner sizes of a product");
    assert_eq!((m, n), c.dim(), "shape of a product");
    let (ar, ac) = (a.strides()[0], a.strides()[1]);
    let (br, bc) = (b.strides()[0], b.strides()[1]);
    let (cr, cc) = (c.strides()[0], c.strides()[1]);
    let keep = beta != F::zero();
    // SAFETY: pointers and strides come from views of the asserted shapes, and `c` is borrowed
    // mutably, so it overlaps neither `a` nor `b`.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            cc,
            cr,
            keep,
            a.as_ptr(),
            ac,
            ar,
            b.as_ptr(),
            bc,
            br,
            beta,
            alpha,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// Returns `A B` in a new matrix, on one thread.
///
/// ```
/// let (a, b) = (ndarray::array![[1.0, 2.0]], ndarray::array![[3.0], [4.0]]);
/// assert_eq!(mercer_linalg::multiplied(a.view(), b.view()), ndarray::array![[11.0]]);
/// ```
///
/// # Panics
/// As [`product`].
pub fn multiplied<F: Real>(a: ArrayView2<'_, F>, b: ArrayView2<'_, F>) -> Array2<F> {
    let mut c = Array2::from_elem((a.nrows(), b.ncols()), F::zero());
    product(F::one(), a, b, F::zero(), c.view_mut());
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::{Array2, s};
    use proptest::prelude::*;

    fn filled(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            ((i * 31 + j * 17) as f64 + seed as f64 * 0.37).sin()
        })
    }

    proptest! {
        #[test]
        fn products_agree_with_the_definition_for_any_layout(
            m in 1usize..40, k in 1usize..50, n in 1usize..40, seed in 0u64..100, layout in 0u8..8,
        ) {
            let a = if layout & 1 == 0 { filled(m, k, seed) } else { filled(k, m, seed).reversed_axes() };
            let b = if layout & 2 == 0 { filled(k, n, seed + 1) } else { filled(n, k, seed).reversed_axes() };
            let start = filled(m, n, seed + 2);
            let mut wide = Array2::zeros((m, n + 3));
            let c = if layout & 4 == 0 { wide.slice_mut(s![.., 1..=n]) } else { wide.slice_mut(s![.., ..n]) };
            let mut c = c;
            c.assign(&start);
            product(0.7, a.view(), b.view(), -0.3, c.view_mut());
            let expected = a.dot(&b) * 0.7 - start * 0.3;
            for (x, y) in c.iter().zip(&expected) {
                assert_relative_eq!(x, y, epsilon = 1e-12);
            }
        }
    }

    #[test]
    fn beta_zero_overwrites_nan() {
        let (a, b) = (filled(3, 4, 1).mapv(|x| x as f32), filled(4, 2, 2).mapv(|x| x as f32));
        let mut c = Array2::from_elem((3, 2), f32::NAN);
        product(1.0, a.view(), b.view(), 0.0, c.view_mut());
        for (x, y) in c.iter().zip(&a.dot(&b)) {
            assert_relative_eq!(x, y, epsilon = 1e-6);
        }
    }
}
