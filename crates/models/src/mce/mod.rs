//! Conditional mean embeddings as classifiers, tuned by their Rademacher complexity. Source: Hsu, Nock and Ramos,
//! ECML-PKDD 2018.
//!
//! With one-hot classes `Y` and a kernel `k_θ`,
//! ```text
//! f(x) = Yᵀ (K + n λ I)⁻¹ k(x)          decision probabilities, equation (5)
//! r    = α √tr(Vᵀ K V),  V = A⁻¹ Y      the complexity, Theorem 4
//! q    = Σ loss_ε(y_i, f(x_i)) + τ r    the objective, equation (12)
//! ```
//! and `θ` and `λ`, as logarithms, move against the gradient of `q`.
//!
//! | paper | code | meaning | shape |
//! |---|---|---|---|
//! | `θ` | [`mercer_kernels::Covariance`] | a kernel with its parameters | |
//! | `λ` | `lambda` | `A = K + n λ I`; in a batch `n_b λ` | |
//! | `4e` or `τ` | [`Objective::weight`] | weight of the complexity; 0 is the empirical risk | |
//! | `ε` | [`Objective::epsilon`] | probabilities below it are clipped | |
//! | `V` | [`Implicit::weights`] | `A⁻¹ Y` | `n × K` |
//! | `W` | [`Explicit::weights`] | `(Zᵀ Z + n λ I)⁻¹ Zᵀ Y` | `p × K` |
//!
//! `‖W‖_tr` in the paper is the Hilbert-Schmidt norm, `tr(Vᵀ K V) = ‖W‖²`. With a kernel `s² κ` (all
//! but the polynomial, whose offset stands beside `s²`), `f`, `r` and `q` depend on `(s, λ)` through
//! `λ/s²` only: a learned scale means nothing by itself.
//!
//! As `λ` goes to 0 the weights grow until the rounding of `K` is all that is left of `tr(Vᵀ K V)`. There the ridge is
//! raised by a jitter, which every value reports, until a digit is left. Then `r` belongs to the embedding that is
//! fitted, and is never 0 for want of digits.

mod batches;
mod cen;
mod embedding;
mod explicit;
mod implicit;
mod learner;
mod map;
mod methods;
mod objective;
mod params;
mod selection;
#[cfg(test)]
mod tests;
mod warnings;

pub use batches::BatchOrder;
pub use cen::{Cen, CenParams, Layers, METHODS as CEN_METHODS, Masks, Precision};
pub use embedding::{Embedding, clip_normalised};
pub use explicit::{Explicit, ExplicitGradient};
pub use implicit::{Implicit, ImplicitGradient};
pub use learner::EmbeddingLearner;
pub use map::ExplicitMap;
pub use methods::METHODS;
pub use objective::{Clip, Form, Held, Objective, Sensitivity, Value};
pub use params::{EmbeddingParams, FeatureForm, KernelChoice, KernelName, Learning, MedianOf};

use mercer_learning::LearningError;

fn refused(name: &'static str, value: impl std::fmt::Display, must: &'static str) -> LearningError {
    LearningError::Setting { name, value: value.to_string(), must }
}

/// A batch of more rows than there are.
fn too_large(batch: usize, rows: usize) -> LearningError {
    let value = format!("{batch} for {rows} training rows");
    refused("batch", value, "at most the number of training rows")
}

fn positive(name: &'static str, value: f64) -> Result<(), LearningError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(refused(name, value, "positive and finite"))
    }
}

fn not_negative(name: &'static str, value: f64) -> Result<(), LearningError> {
    if value >= 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(refused(name, value, "finite and at least 0"))
    }
}
