//! Kernels, Gram matrices and random feature maps.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `k(x, z)` | [`Kernel`] | a kernel of two points | |
//! | `k_θ(x, z)` | [`Covariance`] | a kernel with parameters to learn, and its derivatives | |
//! | `K` | `gram` | `K_ij = k(x_i, x_j)` | `n × n` |
//! | `O`, `O'` | `frequencies`, `frequencies_prime` | spectral frequencies, 1/input unit | `d × D` |
//! | `b`, `b'` | `phases`, `phases_prime` | radians | `D` |
//! | `(K + t I) α = B` | [`GaussianSystem`] | solved without storing `K` | `α` is `n × r` |
//! | `φ(x)` | [`FeatureMap::features`] | features whose inner products approximate `k` | `n × D` |
//! | `h((x, x'), (z, z'))` | [`HyperKernel`] | a kernel of two pairs of points | |
//! | `H` | [`PairSections`], [`PairOperator`] | hyper-Gram matrix over [`Pairs`] | `P × P` |
//! | `γ` | [`LearnedKernel`] | `k(x, x') = Σ_q γ_q h(q, (x, x'))` | `P` |
//!
//! It does not know what the points are, nor what models learn from them.

mod covariance;
mod distance;
mod error;
mod feature_map;
mod gram;
mod hyper;
mod operator;
mod sparse;

pub use covariance::{Adjoint, Covariance, CovarianceGradient, CrossGradient, Smoothness};
pub use error::KernelError;
pub use feature_map::{FeatureMap, FeatureMapParams, Map, std_of_bandwidth};
pub use gram::{Kernel, Sections};
pub use hyper::{
    GaussianHyper, HyperKernel, LearnedKernel, PairOperator, PairSections, Pairs, WishartHyper,
    entry_variance, total_variance,
};
pub use operator::{GaussianOperator, GaussianSystem, StoredGaussian};
