use crate::{Real, product};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

/// Columns that are multiplied whole: enough for a product to run at full speed. They are few enough that the blocks on
/// the diagonal, whose lower halves are computed for nothing, stay a small share.
const WHOLE: usize = 128;
/// Halves begin at a multiple of this, so that no register tile of a product straddles the border.
const REGISTERS: usize = 8;
/// Columns that are mirrored together.
const TILE: usize = 256;

/// Returns `AᵀA` (`D × D`) of a matrix `A` (`n × D`), exactly symmetric, on the calling thread.
///
/// Of the halves `A = [L R]` the product `LᵀR` is one, and `LᵀL` and `RᵀR` are taken likewise. It takes about `n D²`
/// flops, most of them in large products. That is half of what a product takes that does not know of the symmetry. For
/// `A Aᵀ` hand over the transpose.
///
/// ```
/// use ndarray::array;
/// let gram = mercer_linalg::symmetric_product(array![[1.0, 2.0], [3.0, 4.0]].view());
/// assert_eq!(gram, array![[10.0, 14.0], [14.0, 20.0]]);
/// ```
pub fn symmetric_product<F: Real>(matrix: ArrayView2<'_, F>) -> Array2<F> {
    let size = matrix.ncols();
    let mut gram = Array2::zeros((size, size));
    upper(matrix, F::zero(), gram.view_mut());
    mirror_upper(gram.view_mut());
    gram
}

/// Adds `AᵀA` to a matrix, on and above the diagonal; what it leaves below is not said. Many blocks of rows are summed so
/// without a matrix for each.
///
/// ```
/// use mercer_linalg::{add_symmetric_product, mirror_upper, symmetric_product};
/// use ndarray::{Array2, array};
/// let (one, two) = (array![[1.0, 2.0]], array![[3.0, 4.0]]);
/// let mut gram = Array2::zeros((2, 2));
/// add_symmetric_product(one.view(), gram.view_mut());
/// add_symmetric_product(two.view(), gram.view_mut());
/// mirror_upper(gram.view_mut());
/// assert_eq!(gram, symmetric_product(array![[1.0, 2.0], [3.0, 4.0]].view()));
/// ```
///
/// # Panics
/// If the matrix is not `D × D`.
pub fn add_symmetric_product<F: Real>(matrix: ArrayView2<'_, F>, gram: ArrayViewMut2<'_, F>) {
    assert_eq!(gram.dim(), (matrix.ncols(), matrix.ncols()), "shape of a symmetric product");
    upper(matrix, F::one(), gram);
}

/// Copies what is above the diagonal to below it.
///
/// ```
/// let mut matrix = ndarray::array![[1.0, 2.0], [0.0, 3.0]];
/// mercer_linalg::mirror_upper(matrix.view_mut());
/// assert_eq!(matrix, ndarray::array![[1.0, 2.0], [2.0, 3.0]]);
/// ```
///
/// # Panics
/// If the matrix is not square.
pub fn mirror_upper<F: Real>(mut matrix: ArrayViewMut2<'_, F>) {
    let size = matrix.ncols();
    assert_eq!(matrix.nrows(), size, "a square matrix");
    // In tiles: a plain transposition misses the cache on every write.
    for top in (0..size).step_by(TILE) {
        for left in (top..size).step_by(TILE) {
            for i in top..(top + TILE).min(size) {
                for j in left.max(i + 1)..(left + TILE).min(size) {
                    matrix[[j, i]] = matrix[[i, j]];
                }
            }
        }
    }
}

/// `β G + AᵀA` on and above the diagonal; the entries below are left, or overwritten with something.
fn upper<F: Real>(matrix: ArrayView2<'_, F>, keep: F, mut gram: ArrayViewMut2<'_, F>) {
    let size = matrix.ncols();
    if size <= WHOLE {
        return product(F::one(), matrix.t(), matrix, keep, gram);
    }
    let half = (size / 2).next_multiple_of(REGISTERS);
    let (left, right) = matrix.split_at(Axis(1), half);
    product(F::one(), left.t(), right, keep, gram.slice_mut(s![..half, half..]));
    upper(left, keep, gram.slice_mut(s![..half, ..half]));
    upper(right, keep, gram.slice_mut(s![half.., half..]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn it_is_the_product_with_the_transpose_and_exactly_symmetric() {
        for (n, d) in [(1, 1), (3, 5), (40, 256), (30, 129), (30, 600), (0, 4)] {
            let a = Array2::from_shape_fn((n, d), |(i, j)| ((i * 31 + j * 17) as f64 * 0.3).sin());
            let gram = symmetric_product(a.view());
            assert_abs_diff_eq!(gram, a.t().dot(&a), epsilon = 1e-12);
            assert_eq!(gram, gram.t());
            let other = symmetric_product(a.t());
            assert_abs_diff_eq!(other, a.dot(&a.t()), epsilon = 1e-12);
        }
    }
}
