//! Bounds beside what was measured.

pub(crate) mod askl_bound;
pub(crate) mod hyper_decomposition;
mod hyper_simulation;
pub(crate) mod mce_bound;
