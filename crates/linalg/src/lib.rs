//! Dense linear algebra and vectorised elementary functions.
//!
//! Cholesky, symmetric eigendecomposition, singular values and minimum-norm least squares over
//! `ndarray` types, in f64. The pure-Rust engine does what a fit waits for; LAPACK (feature
//! `lapack`, on by default) does the singular value decomposition and is the oracle that the other
//! engine is tested against. Everything runs on the calling thread: trials run side by side.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `A = L Lᵀ` | [`Cholesky`] | factor of a positive definite matrix | `n × n` |
//! | `A = V Λ Vᵀ` | [`Eigen`] | `values` ascending, `vectors` in columns | `n`, `n × n` |
//! | `A = U S Vᵀ` | [`Svd`] | `singular` descending, thin `u`, `vt` | `k = min(m, n)` |
//!
//! It does not know what is learned, nor from what.

mod cholesky;
mod dispatch;
mod double;
mod eigen;
mod elementary;
mod error;
mod product;
mod real;
mod small_eigen;
mod svd;
mod team;

pub use cholesky::{Cholesky, JITTER_LADDER};
pub use dispatch::{Dispatch, dispatch};
pub use eigen::{Eigen, symmetric_eigen};
pub use elementary::{cos, exp, sin_cos};
pub use error::LinalgError;
pub use product::product;
pub use real::Real;
pub use small_eigen::SmallEigen;
pub use svd::{LeastSquares, Svd, minimum_norm_solve, thin_svd};
pub use team::{Member, team};
