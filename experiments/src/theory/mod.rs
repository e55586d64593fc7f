//! Bounds beside what was measured.

pub(crate) mod askl_bound;
