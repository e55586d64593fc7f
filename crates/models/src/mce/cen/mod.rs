//! Conditional embedding networks: an embedding whose kernel is computed from a network's features. Network and
//! regularisation are learned together.
//!
//! The features `Z` of a batch go into the explicit embedding (a linear kernel, `W = (Zᵀ Z + n λ I)⁻¹ Zᵀ Y`) or the
//! implicit one (a kernel of the features). The objective's `∂q/∂Z` comes back and goes through the layers. After the
//! last step the output weights are computed once more from all training rows.

mod learner;
mod methods;
mod params;
mod predictor;
#[cfg(test)]
mod tests;
mod training;
mod training_state;

pub use learner::Cen;
pub use methods::METHODS;
pub use params::{CenParams, Layers, Masks, Precision};
