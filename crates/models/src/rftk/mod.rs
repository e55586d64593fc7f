//! Ridgeless regression with random features, and the tunable kernel (Li, Liu and Zhang, IJCAI 2022).
//!
//! All learn on `M` random Fourier features `φ(x) = c cos(Oᵀx + b)`, `O ~ N(0, k²)`,
//! `b ~ U[0, 2π)`, or on the Gaussian kernel that these stand for:
//!
//! | method | fit |
//! |---|---|
//! | `kernel-ridgeless` | `α = K⁺ y` |
//! | `rf-ridge` | `w = (ΦᵀΦ + λ n I)⁻¹ Φᵀ y` |
//! | `rf-ridgeless` | `w = Φ⁺ y`, of least norm |
//! | `rf-sgd` | mini-batch gradient descent from `w = 0`, `O` fixed |
//! | `rftk` | the same, and every `s` steps `O` moves against `L = loss + β ‖φ(X)‖_F²` (Algorithm 1) |
//!
//! Kernel ridge regression itself is among the baselines.
//!
//! | paper | code | meaning | shape, unit |
//! |---|---|---|---|
//! | `M` | `features` | number of features | |
//! | `Ω` | `frequencies` | columns drawn from `N(0, k² I)` | `d × M`, 1/input unit |
//! | `k` | `std` | deviation of the entries of `Ω`; see [`Width`] | 1/input unit |
//! | `γ`, `η` | `rate`, `frequency_rate` | rates of `w` and of `Ω` | |
//! | `s` | `every` | steps between two moves of `Ω` | |
//! | `β` | `beta` | weight of the trace | |
//!
//! Classes are fitted as one-hot columns. The normalisation `c` is a setting, [`Normalisation`].

mod features;
mod kernel;
mod methods;
mod sgd;
mod sgd_params;
#[cfg(test)]
mod tests;
mod warnings;
mod width;

pub use features::{ClosedPrecision, RandomFeatures, RandomFeaturesParams};
pub use kernel::{KernelRidgeless, KernelRidgelessParams, KernelSolver};
pub use methods::METHODS;
pub use sgd::FeatureSgd;
pub use sgd_params::{FeatureSgdParams, SgdKind, SgdLoss, TraceForm};
pub use width::{Normalisation, Width};

use mercer_learning::{LearningError, Targets};
use ndarray::{Array2, Axis};

fn refused(name: &'static str, value: impl std::fmt::Display, must: &'static str) -> LearningError {
    LearningError::setting(name, value, must)
}

/// One-hot classes (`n × K`), or the values in one column.
fn columns_of(targets: &Targets) -> Array2<f64> {
    match targets {
        Targets::Classes { labels, classes } => {
            let mut y = Array2::zeros((labels.len(), *classes));
            for (mut row, &label) in y.rows_mut().into_iter().zip(labels) {
                row[label as usize] = 1.0;
            }
            y
        }
        Targets::Real(values) => values.clone().insert_axis(Axis(1)),
    }
}
