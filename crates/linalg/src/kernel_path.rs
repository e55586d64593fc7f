use crate::filters::Filters;
use crate::{Eigen, LinalgError, multiplied, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, s};

/// Kernel ridge regressions at any number of ridges, from one eigendecomposition of the kernel matrix.
///
/// ```text
/// α(t) = (K + t I)⁻¹ B        K is n × n, symmetric and positive semidefinite, B is n × r, t > 0
/// ```
/// The residual of leave-one-out of row `i` is `α_i / ((K + t I)⁻¹)_ii`, without a refit. With
/// `K = U diag(l) Uᵀ` the decomposition takes some `9 n³` multiply-adds, and each ridge then `n² r`.
/// Of a matrix `A` with `K = A Aᵀ`, [`crate::RidgePath`] says the same, and no more digits are lost here:
/// eigenvalues that rounding left below 0 count as 0.
///
/// ```
/// use mercer_linalg::{KernelPath, RidgePath};
/// use ndarray::array;
/// let (a, b) = (array![[1.0], [1.0], [1.0]], array![[1.0], [2.0], [6.0]]);
/// let path = KernelPath::new(a.dot(&a.t()).view(), b.view())?;
/// let other = RidgePath::new(a.view(), b.view())?.leave_one_out_errors(&[0.5])?[0];
/// let residuals = path.leave_one_out_residuals(0.5)?;
/// assert!((residuals.mapv(|r| r * r).mean().unwrap() - other).abs() < 1e-13);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug)]
pub struct KernelPath {
    values: Array1<f64>,      // l, n
    vectors: Array2<f64>,     // U, n × n
    coordinates: Array2<f64>, // Uᵀ B, n × r
}

impl KernelPath {
    /// Decomposes `K` (`n × n`) for the right-hand sides in the columns of `B` (`n × r`).
    ///
    /// # Errors
    /// [`LinalgError::Height`], [`LinalgError::Empty`], [`LinalgError::NotSquare`],
    /// [`LinalgError::NotFinite`] or [`LinalgError::NoConvergence`].
    pub fn new(gram: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Result<Self, LinalgError> {
        let n = gram.nrows();
        if n != right.nrows() {
            return Err(LinalgError::Height { expected: n, found: right.nrows() });
        }
        if n == 0 {
            return Err(LinalgError::Empty { rows: n, columns: n });
        }
        let Eigen { values, vectors } = symmetric_eigen(gram)?;
        let coordinates = multiplied(vectors.t(), right);
        Ok(Self { values: values.mapv(|value| value.max(0.0)), vectors, coordinates })
    }

    /// Returns residuals of leave-one-out (`n × r`) at a ridge `t`. A residual is the row less its prediction by the
    /// regression on all other rows.
    ///
    /// ```
    /// use mercer_linalg::KernelPath;
    /// use ndarray::array;
    /// // Two rows that know nothing of each other are predicted as 0.
    /// let path = KernelPath::new(array![[1.0, 0.0], [0.0, 1.0]].view(), array![[3.0], [5.0]].view())?;
    /// let residuals = path.leave_one_out_residuals(0.5)?;
    /// assert!((&residuals - &array![[3.0], [5.0]]).iter().all(|apart| apart.abs() < 1e-12));
    /// # Ok::<(), mercer_linalg::LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// [`LinalgError::Argument`] for a ridge that is not positive and finite.
    pub fn leave_one_out_residuals(&self, ridge: f64) -> Result<Array2<f64>, LinalgError> {
        if !(ridge > 0.0 && ridge.is_finite()) {
            let must = "positive and finite";
            return Err(LinalgError::Argument { name: "ridge", value: ridge, must });
        }
        // `α` and the diagonal of `(K + t I)⁻¹`, a block of rows at a time.
        let scales = Array1::ones(self.values.len());
        let filters = Filters::new(&self.coordinates, &scales, &[ridge], |ridge| {
            self.values.mapv(|value| (value + ridge).recip())
        });
        let n = self.vectors.nrows();
        let mut residuals = Array2::zeros((n, self.coordinates.ncols()));
        let mut rows = residuals.rows_mut().into_iter();
        let left = |start, mut block: ArrayViewMut2<'_, f64>| {
            block.assign(&self.vectors.slice(s![start..start + block.nrows(), ..]));
        };
        filters.pass(n, left, |_, u, filtered| {
            for (row, mut to) in (0..u.nrows()).zip(&mut rows) {
                to.assign(&filtered.values(row, 0));
                to /= filtered.own(row, 0);
            }
        });
        Ok(residuals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cholesky;
    use ndarray::Axis;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
    }

    /// Of full rank, and of rank 4.
    #[test]
    fn leave_one_out_is_what_refitting_without_each_row_gives() {
        for d in [20, 4] {
            let (a, b) = (random(11, d, 1), random(11, 2, 2));
            let gram = a.dot(&a.t());
            let path = KernelPath::new(gram.view(), b.view()).unwrap();
            for t in [1e-6, 1e-2, 3.0] {
                let residuals = path.leave_one_out_residuals(t).unwrap();
                for i in 0..11 {
                    let others: Vec<usize> = (0..11).filter(|&other| other != i).collect();
                    let columns = gram.select(Axis(1), &others);
                    let rest = columns.select(Axis(0), &others) + t * Array2::<f64>::eye(10);
                    let right = b.select(Axis(0), &others);
                    let alpha = Cholesky::factor(rest).unwrap().solve(&right).unwrap();
                    let residual = &b.row(i) - &columns.row(i).dot(&alpha);
                    let apart = (&residual - &residuals.row(i)).mapv(f64::abs).sum();
                    assert!(
                        apart < 1e-6 * residual.mapv(f64::abs).sum(),
                        "{d}, {t:e}, {i}: {apart}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_solved_is_named() {
        let path = KernelPath::new(Array2::eye(3).view(), random(3, 1, 1).view()).unwrap();
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = path.leave_one_out_residuals(bad);
            assert!(matches!(error, Err(LinalgError::Argument { name: "ridge", .. })));
        }
        let height = KernelPath::new(Array2::eye(3).view(), random(2, 1, 1).view());
        assert!(matches!(height, Err(LinalgError::Height { expected: 3, found: 2 })));
        let empty = KernelPath::new(Array2::zeros((0, 0)).view(), random(0, 1, 1).view());
        assert!(matches!(empty, Err(LinalgError::Empty { .. })));
    }
}
