//! Bounds beside what was measured.

pub(crate) mod askl_bound;
pub(crate) mod mce_bound;
