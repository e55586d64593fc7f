//! The ridge that leave-one-out chooses.

use super::CHOOSING;
use mercer_learning::Streams;
use mercer_linalg::{LinalgError, RidgePath};
use rand::seq::index;

/// A ridge that was chosen by leave-one-out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) lambda: f64,
    /// Mean squared error of the rows left out.
    pub(super) error: f64,
    /// Whether it is the first or the last of those that were compared.
    pub(super) at_the_end: bool,
}

impl Choice {
    /// What a fit says of it. Where the ridges were not given, nobody else knows where they end.
    pub(super) fn facts(&self, free: bool) -> Vec<(&'static str, f64)> {
        let mut facts = vec![("lambda", self.lambda), ("leave-one-out", self.error)];
        if free {
            facts.push(("grid-end", f64::from(u8::from(self.at_the_end))));
        }
        facts
    }
}

/// Ridges `λ` that are compared where none is given: from rows without noise to rows without a signal.
pub(super) fn half_decades() -> Vec<f64> {
    (0..=16).map(|half| 10f64.powf(0.5 * f64::from(half) - 8.0)).collect()
}

/// The best of some ridges `λ`, in `λ n`, and the mean squared error over rows that count as `n`.
pub(super) fn smallest_error(
    path: &RidgePath<'_>,
    ridges: &[f64],
    n: f64,
) -> Result<Choice, LinalgError> {
    let scaled: Vec<f64> = ridges.iter().map(|ridge| ridge * n).collect();
    let mut best = Choice { lambda: ridges[0], error: f64::INFINITY, at_the_end: true };
    let errors = path.leave_one_out_errors(&scaled)?;
    // Of rows with weights the path's mean is over their number, not over what they count.
    let rows_over_n = path.rows() as f64 / n;
    for (index, (&lambda, error)) in ridges.iter().zip(errors).enumerate() {
        if error < best.error {
            let at_the_end = index == 0 || index + 1 == ridges.len();
            best = Choice { lambda, error, at_the_end };
        }
    }
    best.error *= rows_over_n;
    Ok(best)
}

/// The rows over which a ridge is chosen that was not given: all, or some by seed, in their order.
pub(super) fn choosing(n: usize, streams: &Streams) -> Vec<usize> {
    if n <= CHOOSING {
        return (0..n).collect();
    }
    let mut rng = streams.child("ridge").rng("rows");
    let mut rows = index::sample(&mut rng, n, CHOOSING).into_vec();
    rows.sort_unstable();
    rows
}
