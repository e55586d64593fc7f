//! The papers' learners.
//!
//! | paper | methods |
//! |---|---|
//! | ASKL: Automated Spectral Kernel Learning | `sk`, `nsk`, `skl`, `nskl`, `askl` ([`askl::METHODS`]) |
//! | RFTK: Ridgeless Regression with Random Features | `kernel-ridgeless`, `rf-ridge`, `rf-ridgeless`, `rf-sgd`, `rftk` ([`rftk::METHODS`]) |
//! | MCE: Hyperparameter Learning for Conditional Kernel Mean Embeddings | `gmce`, `gmce-sgd`, `mce-erm`, `mce-cv`, `mce-median` ([`mce::METHODS`]) |
//! | hyper-RKHS | `hyper-krr`, `hyper-svr`, the same with a Wishart hyper-kernel, `hyper-krr-linear`, `hyper-non-negative` ([`hyper_rkhs::METHODS`]) |
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | `O`, `O'` | `frequencies` | spectral frequencies, in 1/input unit |
//! | `W` | `read_out` | output weights of the features |
//! | `λ1`, `λ2` | `lambda1`, `lambda2` | penalties of the output weights and of the features |
//! | `η` | `rate` | learning rate |
//!
//! A learner is handed a sample; it does not know where the rows come from, how they were split,
//! or what will be tested.

pub mod askl;
pub mod hyper_rkhs;
pub mod mce;
pub mod rftk;
mod sections;
mod spectral;

pub use spectral::{Phases, Sampling, Schedule, TraceClock};
