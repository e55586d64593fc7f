//! Small networks behind one trait: features forward, their gradient backward.
//!
//! A [`Network`] maps rows `X` to features `Z` and, given `G = ∂L/∂Z` of whatever objective stands
//! on top, gives `∂L/∂θ`. The objective is not its business, and neither is the optimiser: the
//! parameters and their gradient are flat slices. [`FullyConnected`] and [`Convolutional`] are
//! written out on matrix products; [`Dropout`] multiplies features by seeded masks.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `X` | `inputs` | one row a point; images as height, width, channel, the channel fastest | `n × d` |
//! | `Z` | `features` | last layer's outputs | `n × p` |
//! | `G` | `gradient` | `∂L/∂Z` | `n × p` |
//! | `θ` | `parameters` | layer by layer: weights (inputs slowest), then biases | flat |
//!
//! Rows are cut into chunks whose number depends on `n` alone, and sums over chunks are taken in
//! their order, so the bits do not depend on the number of threads. It does not know what the
//! features are for.

mod architecture;
mod convolution;
mod convolutional;
mod dropout;
mod error;
mod fully_connected;
mod initialisation;
mod layer;
mod network;
mod pool;

pub use architecture::Architecture;
pub use convolutional::{Convolutional, ConvolutionalParams};
pub use dropout::Dropout;
pub use error::NetworkError;
pub use fully_connected::{FullyConnected, FullyConnectedParams, Last};
pub use initialisation::Initialisation;
pub use network::{Network, ParametersAndGradient};
