//! Squared distances where `‖x‖² + ‖z‖² − 2 x·z` leaves the numbers and `‖x − z‖²` does not. Of far points it is
//! infinite, of equal ones 0, and the sum of the three is neither.

use ndarray::ArrayView1;

/// Squared norms below this leave every part of the sum finite.
const NEAR: f64 = f64::MAX / 8.0;

/// Whether the sum may be taken for all these squared norms.
pub(crate) fn near<'a>(squares: impl IntoIterator<Item = &'a f64>) -> bool {
    // Also false where one is not a number.
    squares.into_iter().all(|square| *square < NEAR)
}

/// `‖x − z‖²`, by differences.
pub(crate) fn squared(x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
    x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Share of `‖x‖² + ‖z‖²` below which a squared distance is computed from differences where its root is taken.
pub(crate) const CANCELLED: f64 = 1e-3;
