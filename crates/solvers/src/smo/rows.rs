use crate::SolverError;
use ndarray::ArrayView2;

/// A symmetric kernel of `n` points, read row by row. It is a matrix in memory, or a way to compute rows.
///
/// The kernel may be indefinite.
///
/// ```
/// use mercer_solvers::{KernelRows, Precomputed};
/// /// Linear kernel of points on a line, computed as it is asked for.
/// struct Line(Vec<f64>);
/// impl KernelRows for Line {
///     fn size(&self) -> usize { self.0.len() }
///     fn diagonal(&self, t: usize) -> f64 { self.0[t] * self.0[t] }
///     fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
///         values.iter_mut().zip(columns).for_each(|(to, &c)| *to = self.0[row] * self.0[c]);
///     }
/// }
/// let gram = ndarray::array![[1.0, 3.0], [3.0, 9.0]];
/// let (computed, stored) = (Line(vec![1.0, 3.0]), Precomputed::new(gram.view())?);
/// let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
/// computed.fill(1, &[0, 1], &mut a);
/// stored.fill(1, &[0, 1], &mut b);
/// assert_eq!((a, computed.diagonal(1)), (b, stored.diagonal(1)));
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
pub trait KernelRows {
    /// Returns the number of points `n`.
    fn size(&self) -> usize;

    /// Returns `k(x_t, x_t)`.
    fn diagonal(&self, t: usize) -> f64;

    /// Writes `k(x_row, x_c)` for each `c` of `columns`. They are distinct and, unless points have been set aside, all
    /// of `0..n` in order.
    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]);

    /// Returns the row in the order of the points, where it lies in memory. It is then not copied.
    fn whole(&self, _row: usize) -> Option<&[f64]> {
        None
    }
}

/// A kernel matrix in memory.
///
/// ```
/// use mercer_solvers::{KernelRows, Precomputed};
/// let gram = ndarray::array![[1.0, 3.0], [3.0, 9.0]];
/// let kernel = Precomputed::new(gram.view())?;
/// let mut values = [0.0];
/// kernel.fill(0, &[1], &mut values);
/// assert_eq!((kernel.size(), kernel.diagonal(1), values), (2, 9.0, [3.0]));
/// assert!(Precomputed::new(gram.slice(ndarray::s![..1, ..])).is_err()); // not square
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Precomputed<'a> {
    gram: ArrayView2<'a, f64>,
}

impl<'a> Precomputed<'a> {
    /// Returns a symmetric matrix `K`, `n × n`. Rows are read as they are used; that the matrix is symmetric is taken
    /// on trust.
    ///
    /// # Errors
    /// [`SolverError::Lengths`] if it is not square.
    pub fn new(gram: ArrayView2<'a, f64>) -> Result<Self, SolverError> {
        let (expected, found) = gram.dim();
        if expected != found {
            return Err(SolverError::Lengths {
                what: "the columns of the kernel",
                expected,
                found,
            });
        }
        Ok(Self { gram })
    }
}

impl KernelRows for Precomputed<'_> {
    fn size(&self) -> usize {
        self.gram.nrows()
    }

    fn diagonal(&self, t: usize) -> f64 {
        self.gram[[t, t]]
    }

    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
        let row = self.gram.row(row);
        for (value, &column) in values.iter_mut().zip(columns) {
            *value = row[column];
        }
    }

    fn whole(&self, row: usize) -> Option<&[f64]> {
        let (n, stride) = (self.gram.ncols(), self.gram.strides()[1]);
        if stride != 1 && n > 1 {
            return None;
        }
        self.gram.row(row).to_slice()
    }
}
