//! The theory of "Ridgeless Regression with Random Features" (Li, Liu and Zhang, IJCAI 2022).
//!
//! Three distances make up the excess risk (6): stochastic gradients (Theorem 1, `sgd`), random features (Theorems 2
//! and 3, `variance` and `ridge`), and the kernel predictor itself (Remark 2, `risk`). The theorems leave their
//! constants open, and the right sides of Theorems 2 and 3 cannot be recovered from the available text. So this module
//! has the parts that can be checked. They are the conditions and the shape of Theorem 1, and the identity behind
//! Theorem 2, which is exact for Gaussian features. The ridge of Theorem 3 is also here: it is printed in two ways, one
//! of them right.

pub(crate) mod arrays;
pub(crate) mod calculators;
mod ridge;
mod risk;
mod scale;
mod sgd;
mod variance;

pub use ridge::{
    EffectiveRidge, RidgeCondition, effective_ridge, effective_ridge_beside, effective_ridge_limit,
};
pub use risk::{bias_rate, split_excess_risk};
pub use scale::{
    TraceScale, effective_rank, penalty_at_start, trace_scale_from_features, trace_scale_from_gram,
};
pub use sgd::{SgdRegime, SgdSetting, sgd_error_rate, sgd_regime, sgd_step_limit};
pub use variance::{
    RidgelessLimit, ridgeless_excess_risk, ridgeless_limit, ridgeless_variance_factor,
};

use crate::TheoryError;
use crate::error::check;

/// Eigenvalues of an `n × n` Gram matrix at or below this count as 0: about the rounding error of
/// the eigenvalues themselves.
fn rank_cutoff(rows: usize, largest: f64) -> f64 {
    rows as f64 * f64::EPSILON * largest
}

/// Refuses a spectrum that is all zero, or that no rounding could have made negative.
fn check_semi_definite(
    argument: &'static str,
    smallest: f64,
    largest: f64,
) -> Result<(), TheoryError> {
    check(argument, largest, |d| d > 0.0, "positive semi-definite and not zero")?;
    let must = "positive semi-definite: no eigenvalue below -1e-9 times the largest";
    check(argument, smallest, |d| d >= -1e-9 * largest, must)
}
