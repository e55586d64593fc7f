use crate::{Cholesky, product};
use ndarray::{Array2, ArrayViewMut2, s};

/// Columns of a panel: wide enough for a product to run at full speed, and few enough that the products with the
/// inverses on the diagonal stay a small share.
const PANEL: usize = 256;

/// `X ↦ X L⁻ᵀ` for many rows `X` and one factor, `A = L Lᵀ`: under it, rows with the covariance `A` get the covariance 1.
///
/// Forward substitution by panels of columns, with the inverse of each triangle on the diagonal computed once: all work
/// is in large products.
///
/// ```
/// use mercer_linalg::{Cholesky, Whitening};
/// use ndarray::array;
/// let factor = Cholesky::factor(array![[4.0, 2.0], [2.0, 10.0]])?; // L = (2 0; 1 3)
/// let mut rows = array![[2.0, 7.0]];
/// Whitening::of(&factor).apply(rows.view_mut());
/// assert!((rows - array![[1.0, 2.0]]).iter().all(|off| off.abs() < 1e-15));
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Whitening {
    lower: Array2<f64>,
    /// `L_pp⁻ᵀ` of each panel.
    inverses: Vec<Array2<f64>>,
}

impl Whitening {
    /// Returns that of a factor, with a copy of it.
    ///
    /// ```
    /// use mercer_linalg::{Cholesky, Whitening};
    /// use ndarray::array;
    /// let factor = Cholesky::factor(array![[4.0]])?;
    /// let mut rows = array![[2.0], [6.0]];
    /// Whitening::of(&factor).apply(rows.view_mut());
    /// assert_eq!(rows, array![[1.0], [3.0]]);
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    pub fn of(factor: &Cholesky) -> Self {
        let lower = factor.lower();
        let size = lower.nrows();
        let inverses = (0..size).step_by(PANEL).map(|first| {
            let last = (first + PANEL).min(size);
            inverse(&lower.slice(s![first..last, first..last]).to_owned())
        });
        let inverses = inverses.collect();
        Self { lower, inverses }
    }

    /// Replaces `X` (`b × n`) by `X L⁻ᵀ`, on the calling thread.
    ///
    /// # Panics
    /// If `X` has another number of columns than the factor.
    pub fn apply(&self, mut rows: ArrayViewMut2<'_, f64>) {
        assert_eq!(rows.ncols(), self.lower.nrows(), "columns of rows to whiten");
        let mut solved = Array2::zeros((rows.nrows(), PANEL));
        for (inverse, first) in self.inverses.iter().zip((0..).step_by(PANEL)) {
            let width = inverse.nrows();
            let (before, mut rest) = rows.view_mut().split_at(ndarray::Axis(1), first);
            let mut own = rest.slice_mut(s![.., ..width]);
            let beside = self.lower.slice(s![first..first + width, ..first]);
            product(-1.0, before.view(), beside.t(), 1.0, own.view_mut());
            let mut solved = solved.slice_mut(s![.., ..width]);
            product(1.0, own.view(), inverse.view(), 0.0, solved.view_mut());
            own.assign(&solved);
        }
    }
}

/// `T⁻ᵀ` of a lower triangle.
fn inverse(lower: &Array2<f64>) -> Array2<f64> {
    let size = lower.nrows();
    let mut upper = Array2::zeros((size, size));
    // Row j of it solves T x = e_j.
    for j in 0..size {
        for i in j..size {
            let sum: f64 = (j..i).map(|k| lower[[i, k]] * upper[[j, k]]).sum();
            let right = f64::from(u8::from(i == j));
            upper[[j, i]] = (right - sum) / lower[[i, i]];
        }
    }
    upper
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symmetric_product;

    #[test]
    fn it_is_the_solution_with_the_factor() {
        for (size, rows) in [(1, 1), (5, 3), (128, 7), (257, 1), (600, 40)] {
            let wave = |i: usize, j: usize| ((i * 31 + j * 17) as f64 * 0.37).sin();
            let a = Array2::from_shape_fn((size + 5, size), |(i, j)| wave(i, j));
            let mut matrix = symmetric_product(a.view());
            matrix.diag_mut().mapv_inplace(|entry| entry + 1e-3);
            let factor = Cholesky::factor(matrix).unwrap();
            let x = Array2::from_shape_fn((rows, size), |(i, j)| wave(j, i + 3));
            let expected = factor.solve_lower(&x.t().to_owned()).unwrap();
            let mut found = x;
            Whitening::of(&factor).apply(found.view_mut());
            let scale = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let off = (&found.t() - &expected).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            assert!(off <= 1e-10 * scale, "{size}: {off:e} of {scale:e}");
        }
    }
}
