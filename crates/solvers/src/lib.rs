//! Minimisers that know no dataset and no paper.
//!
//! [`Optimiser`] moves parameters against their gradient, tile by tile, so that a training step can update a tile while
//! it is still in cache. [`Lbfgs`] minimises a smooth function of few variables; [`Threshold`] is the proximal step of
//! the trace norm. [`Smo`] solves the dual of support vector machines (SVMs), for classes and for real targets. Its
//! kernel is in memory or computes its rows, positive definite or not. [`InteriorPoint`] solves it where the kernel is
//! a product of few features. [`OneVersusOne`] combines SVMs for more classes, and [`Spectrum`] says how far a kernel
//! is from positive.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | `η` | `rate` | learning rate |
//! | `τ` | `tau` | what each singular value loses |
//! | `W = U diag(s) Vᵀ` | `w` | matrix to shrink, `D × K` |
//! | `K`, `k(x, z)` | [`KernelRows`], `gram`, `cross` | kernel of the training points, of others with them |
//! | `β`, `b` | `weights`, `bias` | `f(x) = Σ β_t k(x_t, x) + b` |
//! | `C`, `ε` | `cost`, `epsilon` | weight of the losses, half-width of the tube without loss |
//!
//! It does not know what a model learns.

mod active_set;
mod error;
#[cfg(test)]
mod golden;
mod interior_point;
mod inverse_root;
mod lbfgs;
mod nonnegative;
mod one_versus_one;
mod optimiser;
mod quadratic;
mod smo;
mod spectrum;
mod threshold;

pub use error::SolverError;
pub use interior_point::InteriorPoint;
pub use lbfgs::{Lbfgs, Minimum};
pub use nonnegative::nonnegative_least_squares;
pub use one_versus_one::{CostChoice, OneVersusOne, choose_cost, vote};
pub use optimiser::{Memory, MemoryTile, Optimiser, Step};
pub use quadratic::{NonNegative, non_negative_quadratic};
pub use smo::{Dual, KernelRows, Precomputed, Smo, Solution};
pub use spectrum::{CorrectedKernel, PsdCorrection, Spectrum};
pub use threshold::{Route, Shrinkage, Threshold};
