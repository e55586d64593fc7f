/// Why a factorisation or a solve was refused or failed.
///
/// ```
/// use mercer_linalg::{Cholesky, symmetric_eigen};
/// use ndarray::array;
/// let refused = Cholesky::factor(array![[1.0, 2.0], [2.0, 1.0]]).unwrap_err(); // eigenvalues 3, -1
/// assert_eq!(
///     refused.to_string(),
///     "the matrix is not positive definite (pivot 1 of 2); add a larger ridge or jitter"
/// );
/// let refused = symmetric_eigen(array![[1.0], [2.0]].view()).unwrap_err();
/// assert_eq!(refused.to_string(), "the matrix must be square, got 2 x 1");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinalgError {
    /// A square matrix is needed.
    #[error("the matrix must be square, got {rows} x {columns}")]
    NotSquare {
        /// Rows found.
        rows: usize,
        /// Columns found.
        columns: usize,
    },
    /// A matrix without rows or without columns.
    #[error("the matrix is empty: {rows} x {columns}")]
    Empty {
        /// Rows found.
        rows: usize,
        /// Columns found.
        columns: usize,
    },
    /// Right-hand sides of another height than the matrix.
    #[error("the matrix has {expected} rows, but the right-hand sides have {found}")]
    Height {
        /// Rows of the matrix.
        expected: usize,
        /// Rows of the right-hand sides.
        found: usize,
    },
    /// NaN or infinity in the matrix, or numbers so large that the factorisation overflowed.
    #[error("{operation} met a NaN or an infinity; check the matrix for both")]
    NotFinite {
        /// What was computed.
        operation: &'static str,
    },
    /// A matrix of finite numbers that has no inverse in the precision of the computation.
    #[error(
        "{operation} met a matrix that is singular in that precision; take a larger ridge, or double precision"
    )]
    Singular {
        /// What was computed.
        operation: &'static str,
    },
    /// A pivot that is not positive.
    #[error(
        "the matrix is not positive definite (pivot {pivot} of {size}); add a larger ridge or jitter"
    )]
    NotPositiveDefinite {
        /// Index of the first bad pivot, from 0.
        pivot: usize,
        /// Rows of the matrix.
        size: usize,
    },
    /// A jitter or a cut-off outside its range.
    #[error("{name} is {value}; it must be {must}")]
    Argument {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values.
        must: &'static str,
    },
    /// An iterative solver came no nearer to a solution than zeros are.
    #[error(
        "no iterate has a residual below that of zeros: residual {residual:e} after {iterations} iterations; the system may have no solution (rows twice with different targets): add a ridge, or solve it directly"
    )]
    NoProgress {
        /// Largest relative residual.
        residual: f64,
        /// Iterations done.
        iterations: usize,
    },
    /// An iteration inside a decomposition did not converge.
    #[error("{operation} did not converge: {reason}")]
    NoConvergence {
        /// What was computed.
        operation: &'static str,
        /// What the engine said.
        reason: String,
    },
}
