//! Dense linear algebra and vectorised elementary functions.
//!
//! Cholesky, symmetric eigendecomposition, singular values and minimum-norm least squares over
//! `ndarray` types, in f64. faer does what a fit waits for; LAPACK does the singular value decomposition, and the
//! tests hold faer's eigenvalues to LAPACK's. Everything runs on the calling thread, since
//! trials run side by side, unless a number of threads is asked for.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `A = L Lᵀ` | [`Cholesky`] | factor of a positive definite matrix | `n × n` |
//! | `A = V Λ Vᵀ` | [`Eigen`] | `values` ascending, `vectors` in columns | `n`, `n × n` |
//! | `A = U S Vᵀ` | [`Svd`] | `singular` descending, thin `u`, `vt` | `k = min(m, n)` |
//! | `(K + t I) α = B` | [`KernelPath`] | residuals of leave-one-out at every `t` from one eigendecomposition | `α` is `n × r` |
//! | `min ‖A w − B‖² + t‖w‖²` | [`RidgePath`] | every `t` from one eigendecomposition | `w` is `D × r` |
//! | `A X = B`, `A` known by products | [`conjugate_gradients`] | with residual and iterations | `n × r` |
//! | the same, with a cheaper `A` in the iterations | [`refined_gradients`] | judged by `A` | `n × r` |
//! | `(A + t_k I) x_k = b` | [`shifted_conjugate_gradients`] | every shift for the products of one |
//! | `A ≈ C Cᵀ` | [`PartialCholesky`] | stops early, with a bound of the remainder | `n × L` |
//! | the same, grown | [`GrowingCholesky`] | goes on where it stopped | `n × L` |
//! | `X`, mostly 0 | [`SparseRows`], [`SparseProducts`] | what is not 0, row by row | `n × d` |
//!
//! It does not know what a model learns, nor from which data.

mod cholesky;
mod conjugate_gradients;
mod definite;
mod dispatch;
mod double;
mod eigen;
mod elementary;
mod error;
mod explicit_inverse;
mod filters;
mod kernel_path;
mod large_pages;
mod parallel;
mod partial_cholesky;
mod product;
mod real;
mod ridge_path;
mod semidefinite;
mod shifted;
mod small_eigen;
mod sparse;
mod svd;
mod symmetric;
mod team;
mod whitening;
mod worker_pool;

pub use cholesky::{Cholesky, JITTER_LADDER};
pub use conjugate_gradients::{
    Iterated, Nystrom, SymmetricOperator, conjugate_gradients, refined_gradients,
};
pub use definite::{DefiniteSolution, definite_solve};
pub use dispatch::{Dispatch, dispatch};
pub use eigen::{Eigen, symmetric_eigen};
pub use elementary::{cos, exp, sin_cos};
pub use error::LinalgError;
pub use explicit_inverse::explicit_inverse_f32;
pub use kernel_path::KernelPath;
pub use large_pages::LargePages;
pub use parallel::{for_each, in_order, pipeline};
pub use partial_cholesky::{GrowingCholesky, PartialCholesky};
pub use product::{multiplied, product};
pub use real::Real;
pub use ridge_path::RidgePath;
pub use semidefinite::semidefinite_solve;
pub use shifted::{Shifted, shifted_conjugate_gradients};
pub use small_eigen::SmallEigen;
pub use sparse::{
    Matrix, MatrixView, SparseProducts, SparseRows, dense_rows, scaled_columns, sparse_of,
    sparse_row, sparse_rows,
};
pub use svd::{LeastSquares, Svd, minimum_norm_solve, thin_svd};
pub use symmetric::{add_symmetric_product, mirror_upper, symmetric_product};
pub use team::{TeamMember, team};
pub use whitening::Whitening;
pub use worker_pool::WorkerPool;
