//! Audits: one question each about why numbers differ.

pub(crate) mod askl_first;
pub(crate) mod askl_frozen;
pub(crate) mod askl_looseness;
pub(crate) mod askl_objective;
pub(crate) mod askl_protocol;
pub(crate) mod askl_search;
pub(crate) mod askl_underlines;
pub(crate) mod hyper_errata;
pub(crate) mod hyper_ridge;
pub(crate) mod paired_t;
pub(crate) mod rftk_beta_zero;
pub(crate) mod rows;
pub(crate) mod sizes;
pub(crate) mod tuning;
