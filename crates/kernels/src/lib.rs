//! Kernels, Gram matrices and random feature maps.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `k(x, z)` | [`Kernel`] | a kernel of two points | |
//! | `K` | `gram` | `K_ij = k(x_i, x_j)` | `n × n` |
//! | `O`, `O'` | `frequencies`, `frequencies_prime` | spectral frequencies, 1/input unit | `d × D` |
//! | `b`, `b'` | `phases`, `phases_prime` | radians | `D` |
//! | `φ(x)` | [`FeatureMap::features`] | features whose inner products approximate `k` | `n × D` |
//!
//! It does not know what the points are, nor what is learned from them.

mod error;
mod feature_map;
mod gram;

pub use error::KernelError;
pub use feature_map::{FeatureMap, FeatureMapParams, Map, std_of_bandwidth};
pub use gram::{Kernel, Sections};
