//! Bound calculators: numbers in, numbers out.
//!
//! Each bound is a pure function whose body has one line per term, in the order of the formula,
//! and whose result says whether it is vacuous. [`CALCULATORS`] lists those of scalar inputs under
//! the names that `mercer bound` uses.
//!
//! | symbol | code | meaning | range |
//! |---|---|---|---|
//! | `B` | `trace_norm` | bound on the nuclear norm `‖W‖_*` | `≥ 0` |
//! | `K` | `outputs` | number of outputs | `≥ 1` |
//! | `n` | `rows` | size of the sample | `≥ 1` |
//! | `tr` | `trace` | `Σ_i k(x_i, x_i)` | `≥ 0` |
//! | `L` | `lipschitz` | Lipschitz constant of the loss in the 2-norm | `> 0` |
//! | `Ω`, `Ω'` | `frequencies`, `frequencies_prime` | spectral frequencies | `d × D` |
//!
//! It does not know data, randomness or files: a sample reaches it as a trace or as arrays.

mod askl;
mod bound;
mod calculators;
mod enumeration;
mod error;

pub use askl::{
    askl_rate, excess_risk_first_term, rademacher_from_features, rademacher_from_frequencies,
    rademacher_from_trace, spectral_diagonals,
};
pub use bound::Bound;
pub use calculators::{CALCULATORS, Calculator, Input, find_calculator};
pub use enumeration::{RademacherAverages, enumerate_rademacher};
pub use error::TheoryError;
