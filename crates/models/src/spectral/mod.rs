//! Learners on spectral features: cosines of learned or fixed frequencies under a linear output layer.
//!
//! A [`Model`] is the features and their output weights; a [`Plan`] states the objective and how it is minimised. A
//! [`Block`] is the part of a model that one thread owns; [`train`] runs a team of blocks.
//!
//! | paper | code | meaning | shape |
//! |---|---|---|---|
//! | `O`, `O'` | `frequencies` | side by side, one column a feature and map | `d × (maps · D)` |
//! | `b`, `b'` | `phases` | side by side, radians | `maps · D` |
//! | `W` | `read_out` | `f(x) = Wᵀ φ(x) + c` | `D × K` |
//! | `c` | `offset` | zero unless a bias is asked for | `K` |

mod block;
mod kept;
mod look;
mod loops;
mod model;
mod numbers;
mod order;
mod plan;
mod shared;
#[cfg(test)]
mod tests;
mod train;
mod training_rows;

pub use model::Phases;
pub(crate) use model::{Model, Spectral, Start, restore};
pub(crate) use plan::{
    DIVERGED, FeaturePenalty, FrequencySchedule, Plan, ReadOutPenalty, StepIndex, Trace,
    TracePenalty,
};
pub use plan::{Sampling, Schedule, TraceClock};
pub(crate) use train::train;
pub(crate) use training_rows::TrainingRows;

/// The numbers that a spectral model can be trained in.
pub(crate) trait Scalar:
    mercer_linalg::Real + linfa::Float + mercer_learning::Element
{
}
impl<F: mercer_linalg::Real + linfa::Float + mercer_learning::Element> Scalar for F {}
