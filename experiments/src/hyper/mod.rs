//! Generalization Properties of hyper-RKHS and its Applications: its tables and figures.

pub(crate) mod approximation;
pub(crate) mod edges;
pub(crate) mod exact_cost;
pub(crate) mod exact_path;
pub(crate) mod figure2;
pub(crate) mod known_kernel;
pub(crate) mod pair_audit;
mod ridges;
pub(crate) mod spectrum_audit;
pub(crate) mod table1;
pub(crate) mod table2;
pub(crate) mod table3;
pub(crate) mod third_factor;
pub(crate) mod transfer;
