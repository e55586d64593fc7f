//! Learning kernels by regression on pairs (Liu, Shi, Huang, Yang and Suykens, JMLR 22(140), 2021).
//!
//! Stage 1 fits a kernel to a target matrix `Y` by regression in a hyper-kernel's space,
//! `k(x, x') = Σ_q γ_q h(q, (x, x'))`. Stage 2 is a support vector machine (SVM) with that kernel, which need not be
//! positive definite.
//!
//! | stage 1 | objective | how |
//! |---|---|---|
//! | hyper-KRR | `(1/m²) Σ_ij (k(x_i, x_j) − Y_ij)² + λ ‖k‖²` | [`PairRidge`]: Cholesky, conjugate gradients, Nyström, divide and conquer, all pairs in linear time |
//! | hyper-SVR | `½ ‖k‖² + C Σ_ij max(0, \|k(x_i, x_j) + b − Y_ij\| − ε)` | [`PairSvr`]: SMO on unordered pairs, interior points in the span of landmark pairs |
//! | Pan et al. (2017) | hyper-KRR with `γ ≥ 0` | [`PairRidge`] with [`PairSolver::NonNegative`] |
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | `m` | rows | points of stage 1; it has `m(m + 1)/2` unordered pairs |
//! | `β` | | coefficients of ordered pairs; `γ_ij = β_ij + β_ji` of unordered ones |
//! | `λ` | `lambda` | ridge; relative to the unnormalised hyper-kernel, `h ≤ 1` |
//! | `M`, `v` | `landmarks`, `subsets` | Nyström points; subsets of divide and conquer |
//! | `C`, `ε` | `cost`, `epsilon` | of the regression; stage 2 has its own `cost` |
//!
//! Everything runs over unordered pairs with weights 1 and 2, which is exact for a symmetric target.

mod classifier;
mod distance;
mod exact;
mod growing;
mod krein;
mod landmark_choice;
mod landmark_quadruples;
mod linear;
mod linear_stage;
mod machine;
mod methods;
mod non_negative;
mod nystrom;
mod predictor;
mod ridge;
mod row_stage;
mod search;
mod settings;
mod solving;
mod svr;
mod system;
mod target;
#[cfg(test)]
mod tests;
mod warnings;

pub use classifier::HyperClassifier;
pub use krein::KreinFeatures;
pub use landmark_choice::LandmarkChoice;
pub use linear::LinearTime;
pub use methods::METHODS;
pub use ridge::{Learned, PairRidge, PairSolver};
pub use search::{SEARCH_GRIDS, SearchGrids};
pub use settings::{HyperClassifierParams, HyperForm, Scatter, Search, Stage1, Stage2, Variance};
pub use svr::PairSvr;
pub use target::PairTarget;

use mercer_kernels::KernelError;
use mercer_learning::LearningError;
use mercer_linalg::LinalgError;
use mercer_solvers::SolverError;

fn refused(name: &'static str, value: impl std::fmt::Display, must: &'static str) -> LearningError {
    LearningError::setting(name, value, must)
}

fn many_subsets(subsets: usize, points: usize) -> LearningError {
    let value = format!("{subsets} for {points} points");
    refused("subsets", value, "at most half as many as points, so that each has a pair")
}

fn positive(name: &'static str, value: f64) -> Result<(), LearningError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(refused(name, value, "positive and finite"))
    }
}

fn numerical(operation: &'static str) -> impl Fn(LinalgError) -> LearningError {
    move |error| LearningError::Numerical { operation, reason: error.to_string() }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn of_kernel(error: KernelError) -> LearningError {
    LearningError::Numerical { operation: "building a hyper-kernel", reason: error.to_string() }
}

/// What a minimiser says, or what stopped it from outside.
enum Stopped {
    Solver(SolverError),
    Outside(LearningError),
}

impl From<SolverError> for Stopped {
    fn from(error: SolverError) -> Self {
        Self::Solver(error)
    }
}

impl From<LinalgError> for Stopped {
    fn from(error: LinalgError) -> Self {
        Self::Solver(error.into())
    }
}

impl Stopped {
    fn in_words(self, operation: &'static str) -> LearningError {
        match self {
            Self::Solver(error) => {
                LearningError::Numerical { operation, reason: error.to_string() }
            }
            Self::Outside(error) => error,
        }
    }
}
