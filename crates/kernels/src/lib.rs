//! Kernels, Gram matrices and random feature maps.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `k(x, z)` | [`Kernel`] | a kernel of two points | |
//! | `K` | `gram` | `K_ij = k(x_i, x_j)` | `n × n` |
//!
//! It does not know what the points are, nor what is learned from them.

mod gram;

pub use gram::{Kernel, Sections};
