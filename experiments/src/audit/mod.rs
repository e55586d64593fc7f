//! Audits: one question each about why numbers differ.

pub(crate) mod arithmetic;
pub(crate) mod askl_cost;
pub(crate) mod askl_deviations;
pub(crate) mod askl_epochs;
pub(crate) mod askl_frozen;
pub(crate) mod askl_looseness;
pub(crate) mod askl_loss;
pub(crate) mod askl_objective;
pub(crate) mod askl_penalties;
pub(crate) mod askl_phases;
pub(crate) mod askl_protocol;
pub(crate) mod askl_read_out;
pub(crate) mod askl_scaling;
pub(crate) mod askl_slips;
pub(crate) mod askl_underlines;
pub(crate) mod hyper;
pub(crate) mod hyper_sensitivity;
pub(crate) mod hyper_spectrum;
pub(crate) mod hyper_third_factor;
pub(crate) mod paired_t;
pub(crate) mod pairs;
pub(crate) mod rftk_bandwidth;
pub(crate) mod rftk_beta_zero;
pub(crate) mod rftk_precision;
pub(crate) mod rftk_trace_scale;
pub(crate) mod rows;
