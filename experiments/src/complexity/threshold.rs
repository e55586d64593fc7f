//! Singular value thresholding of a read-out through its small Gram matrix.

use super::{Operations, measure, processor_seconds, settings};
use mercer_learning::LearningError;
use mercer_report::{Scaling, Simulation};
use mercer_solvers::{Route, Threshold};
use ndarray::Array2;

pub(crate) const MEASUREMENT: Simulation = Simulation {
    name: "complexity/threshold",
    measures: true,
    revision: 1,
    settings: || settings(SERIES),
    compute: || measure(SERIES),
};

const ROWS: usize = 32_000;
const COLUMNS: usize = 32;
/// Thresholdings that are timed together.
const LOOPS: usize = 20;

const OURS: &str =
    "ours, for ASKL's proximal step: through the K x K Gram matrix, not the D x K matrix";

pub(crate) const SERIES: &[Scaling] = &[
    Scaling {
        method: "thresholding",
        title: "Singular value thresholding",
        claim: "O(D K²)",
        source: OURS,
        variable: "D",
        values: [8000, 11_314, 16_000, 22_627, 32_000],
        printed: |rows| rows,
        work: |rows| work(rows, COLUMNS),
        seconds: |rows| seconds(rows, COLUMNS),
    },
    Scaling {
        method: "thresholding",
        title: "Singular value thresholding",
        claim: "O(D K²)",
        source: OURS,
        variable: "K",
        values: [32, 45, 64, 91, 128],
        printed: |columns| columns * columns,
        work: |columns| work(ROWS, columns),
        seconds: |columns| seconds(ROWS, columns),
    },
];

/// The Gram matrix, what it removes, and an eigendecomposition or some ten small products.
fn work(rows: usize, columns: usize) -> Operations {
    let (rows, k) = (rows as f64, columns as f64);
    let named = 4.0 * rows * k * k;
    Operations { named, all: named + 24.0 * k.powi(3) }
}

/// Processor seconds of a few thresholdings.
fn seconds(rows: usize, columns: usize) -> Result<f64, LearningError> {
    let w =
        Array2::from_shape_fn((rows, columns), |(i, j)| ((i * columns + j) as f64 * 0.77).sin());
    let (seconds, routes) = processor_seconds(|| {
        (0..LOOPS)
            .map(|_| Threshold { tau: 1e-3, clip: true }.apply(std::hint::black_box(w.view())))
            .map(|shrunk| shrunk.map(|(_, route)| route))
            .collect::<Result<Vec<_>, _>>()
    });
    let wrong =
        |reason: String| LearningError::Numerical { operation: "a timed threshold", reason };
    let routes = routes.map_err(|error| wrong(error.to_string()))?;
    if routes.contains(&Route::Svd) {
        return Err(wrong("it went through the large matrix".to_owned()));
    }
    Ok(seconds / LOOPS as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_ruled_by_its_term_over_a_factor_of_four() {
        super::super::check(SERIES);
    }

    #[test]
    fn a_threshold_can_be_timed() {
        let seconds = seconds(200, 8).unwrap();
        assert!((0.0..10.0).contains(&seconds), "{seconds}");
    }
}
