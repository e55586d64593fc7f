//! Networks on [burn]'s tape behind the trait of [`mercer_networks`].
//!
//! The networks of the house write their gradients out by hand, which is what makes them fast. Here a
//! network says only how its features come about ([`Architecture`]); [`Taped`] has burn record that and
//! take the gradient. Two uses:
//!
//! - the oracle: [`Dense`] and [`Blocks`] are the architectures of the house on the tape, and the tests
//!   hold features and gradients of both to each other in double precision;
//! - the way out: any other architecture, on any device that burn has, under the same embeddings. Add the
//!   feature of a device to burn in the manifest and pass that device to [`Taped::new`].
//!
//! It stands outside the workspace: burn writes some seven hundred packages into a lock file. Run its
//! tests by `just test-burn`.
//!
//! [burn]: https://burn.dev

mod architecture;
mod taped;

pub use architecture::{Architecture, Blocks, Dense};
pub use burn;
pub use taped::{Number, Taped};
