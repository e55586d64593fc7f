//! Automated spectral kernel learning (Li, Liu and Wang, AAAI 2020) and its four relatives.
//!
//! All five learn `f(x) = Wᵀ φ(x)` on `D` random or learned spectral features:
//!
//! | method | features | frequencies | penalties |
//! |---|---|---|---|
//! | `sk` | stationary, `√(2/D) cos(Oᵀx + b)` | drawn | `λ1 ‖W‖_F²` |
//! | `nsk` | non-stationary, `(cos(Oᵀx + b) + cos(O'ᵀx + b'))/√(2D)` | drawn | `λ1 ‖W‖_F²` |
//! | `skl` | stationary | learned | `λ1 ‖W‖_F²` |
//! | `nskl` | non-stationary | learned | `λ1 ‖W‖_F²` |
//! | `askl` | non-stationary | learned | `λ1 ‖W‖_* + λ2 ‖φ(X)‖_F²` |

mod learner;
mod methods;
mod params;
#[cfg(test)]
mod tests;

pub use learner::Askl;
pub use methods::METHODS;
pub use params::{
    AsklParams, Kind, LossChoice, Norms, PenaltyScale, Precision, ReadOut, SeededAskl, Thresholding,
};
