//! Minimisers that know no dataset and no paper.
//!
//! [`Optimiser`] moves parameters against their gradient, tile by tile, so that a training step
//! can update a tile while it is still in cache; [`Threshold`] is the proximal step of the trace
//! norm.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | `η` | `rate` | learning rate |
//! | `τ` | `tau` | what each singular value loses |
//! | `W = U diag(s) Vᵀ` | `w` | matrix to shrink, `D × K` |
//!
//! It does not know what is being learned.

mod error;
mod inverse_root;
mod optimiser;
mod threshold;

pub use error::SolverError;
pub use optimiser::{Memory, MemoryTile, Optimiser, Step};
pub use threshold::{Route, Shrinkage, Threshold};
