//! Audits: one question each about why numbers differ.

pub(crate) mod askl_cost;
pub(crate) mod askl_penalties;
pub(crate) mod askl_phases;
pub(crate) mod askl_read_out;
pub(crate) mod askl_scaling;
pub(crate) mod paired_t;
pub(crate) mod pairs;
