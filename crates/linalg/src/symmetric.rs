use crate::{Real, product};
use ndarray::{Array2, ArrayView2, s};

/// Columns of a tile: wide enough for the products to run at full speed, narrow enough that the
/// tiles on the diagonal, whose lower halves are computed for nothing, stay a small share.
const TILE: usize = 256;

/// `AᵀA` (`D × D`) of a matrix `A` (`n × D`), exactly symmetric, on the calling thread.
///
/// Only tiles on and above the diagonal are multiplied: about `n D²` flops, half of what a product
/// takes that does not know of the symmetry. For `A Aᵀ` hand over the transpose.
///
/// ```
/// use ndarray::array;
/// let gram = mercer_linalg::symmetric_product(array![[1.0, 2.0], [3.0, 4.0]].view());
/// assert_eq!(gram, array![[10.0, 14.0], [14.0, 20.0]]);
/// ```
pub fn symmetric_product<F: Real>(matrix: ArrayView2<'_, F>) -> Array2<F> {
    let size = matrix.ncols();
    let mut gram = Array2::zeros((size, size));
    for top in (0..size).step_by(TILE) {
        let rows = top..(top + TILE).min(size);
        let (a, b) = (matrix.slice(s![.., rows.clone()]), matrix.slice(s![.., top..]));
        product(F::one(), a.t(), b, F::zero(), gram.slice_mut(s![rows, top..]));
    }
    // In tiles: a plain transposition misses the cache on every write.
    for top in (0..size).step_by(TILE) {
        for left in (top..size).step_by(TILE) {
            for i in top..(top + TILE).min(size) {
                for j in left.max(i + 1)..(left + TILE).min(size) {
                    gram[[j, i]] = gram[[i, j]];
                }
            }
        }
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn it_is_the_product_with_the_transpose_and_exactly_symmetric() {
        for (n, d) in [(1, 1), (3, 5), (40, 256), (30, 600), (0, 4)] {
            let a = Array2::from_shape_fn((n, d), |(i, j)| ((i * 31 + j * 17) as f64 * 0.3).sin());
            let gram = symmetric_product(a.view());
            assert_abs_diff_eq!(gram, a.t().dot(&a), epsilon = 1e-12);
            assert_eq!(gram, gram.t());
            let other = symmetric_product(a.t());
            assert_abs_diff_eq!(other, a.dot(&a.t()), epsilon = 1e-12);
        }
    }
}
