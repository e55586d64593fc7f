//! Bound calculators: numbers in, numbers out.
//!
//! Each bound is a pure function whose body has one line per term, in the order of the formula, and whose result says
//! whether it is vacuous. [`CALCULATORS`] lists the calculators of scalar inputs under the names that `mercer bound`
//! uses.
//!
//! | symbol | code | meaning | range |
//! |---|---|---|---|
//! | `B` | `trace_norm` | bound on the nuclear norm `‖W‖_*` | `≥ 0` |
//! | `K` | `outputs` | number of outputs | `≥ 1` |
//! | `n` | `rows` | size of the sample | `≥ 1` |
//! | `tr` | `trace` | `Σ_i k(x_i, x_i)` | `≥ 0` |
//! | `L` | `lipschitz` | Lipschitz constant of the loss in the 2-norm | `> 0` |
//! | `Ω`, `Ω'` | `frequencies`, `frequencies_prime` | spectral frequencies | `d × D` |
//! | `K`, in `rftk` | `gram` | kernel matrix of the sample | `n × n` |
//! | `M` | `features` | number of random features | `≥ 1` |
//! | `b`, `γ`, `T` | `batch`, `step`, `iterations` | of stochastic gradients | `≥ 1`, `> 0`, `≥ 1` |
//! | `δ` | `delta` | probability that a theorem fails | `(0, 1)` |
//! | `α`, `ρ`, `r`, in `mce` | `sensitivity`, `norm`, `complexity` | `sup √k(x, x)`, `‖W‖_HS`, `αρ` | `≥ 0` |
//! | `λ` | `lambda` | ridge of `(K + λnI)⁻¹` | `≥ 0` |
//! | `α`, `r`, `s` | [`PairRegularity`] | ridge, source and capacity of learning on pairs | |
//! | `M`, `v`, in `hyper` | `landmarks`, `subsets` | of Nyström's approximation | `≥ 1` |
//!
//! It does not know data, randomness or files: a sample reaches it as a trace or as arrays.

mod array_list;
mod arrays;
mod askl;
mod bound;
mod calculators;
mod enumeration;
mod error;
mod hyper;
mod list;
mod mce;
mod rftk;

pub use array_list::ARRAY_CALCULATORS;
pub use arrays::{ArrayCalculator, ArrayInput, Arrays};
pub use askl::{
    askl_rate, excess_risk_first_term, rademacher_from_features, rademacher_from_frequencies,
    rademacher_from_trace, spectral_diagonals,
};
pub use bound::Bound;
pub use calculators::{Calculator, Input};
pub use enumeration::{RademacherAverages, enumerate_rademacher};
pub use error::TheoryError;
pub use hyper::{PairRegularity, pair_ridge_index, pair_ridge_operations, pair_svr_index};
pub use list::{CALCULATORS, find_calculator};
pub use mce::{
    VACUOUS_COMPLEXITY, ball_complexity, best_embedding_rate, clipped_risk, deviation_term,
    embedding_complexity, embedding_rate, embedding_risk, entropy_factor, log_distance_bound,
    loss_multiplier,
};
pub use rftk::{
    EffectiveRidge, RidgeCondition, RidgelessLimit, SgdRegime, SgdSetting, TraceScale, bias_rate,
    effective_rank, effective_ridge, effective_ridge_beside, effective_ridge_limit,
    penalty_at_start, ridgeless_excess_risk, ridgeless_limit, ridgeless_variance_factor,
    sgd_error_rate, sgd_regime, sgd_step_limit, split_excess_risk, trace_scale_from_features,
    trace_scale_from_gram,
};
