//! Learning steps of conditional mean embeddings.

use super::{ELEMENTARY, Operations, measure, settings, step_seconds};
use mercer_learning::{LearningError, Settings, Streams};
use mercer_report::{Scaling, Simulation};

pub(crate) const MEASUREMENT: Simulation = Simulation {
    name: "complexity/mce",
    measures: true,
    revision: 1,
    settings: || settings(SERIES),
    compute: || measure(SERIES),
};

/// Input columns and classes.
const SHAPE: (usize, usize) = (4, 2);
/// Rows where batches or features vary, and features or batch where rows vary.
const ROWS: usize = 4000;
/// Rows that are fewer than features, whose own matrix then rules a step.
const FEW: usize = 256;
const BATCH: usize = 1000;
const FEATURES: usize = 400;

const SOURCE: &str = "MCE, Sections 4.1 and C.1: a learning step";

pub(crate) const SERIES: &[Scaling] = &[
    Scaling {
        method: "gmce",
        title: "GMCE, a step",
        claim: "O(n³)",
        source: SOURCE,
        variable: "n",
        values: [1000, 1414, 2000, 2828, 4000],
        printed: |n| n.powi(3),
        work: factored,
        seconds: |n| step(n, &Settings::new(), 1, 2),
    },
    Scaling {
        method: "gmce-sgd",
        title: "GMCE-SGD, a step",
        claim: "O(n_b³)",
        source: SOURCE,
        variable: "n_b",
        values: [500, 707, 1000, 1414, 2000],
        printed: |b| b.powi(3),
        work: factored,
        seconds: |b| step(ROWS, &Settings::new().with("batch", b), ROWS.div_ceil(b), 2),
    },
    Scaling {
        method: "gmce-sgd",
        title: "GMCE-SGD, a step",
        claim: "O(n_b³)",
        source: SOURCE,
        variable: "n",
        values: [4000, 5657, 8000, 11_314, 16_000],
        printed: |_| 1.0,
        work: |_| factored(BATCH),
        seconds: |n| step(n, &Settings::new().with("batch", BATCH), n.div_ceil(BATCH), 1),
    },
    Scaling {
        method: "gmce-fourier",
        title: "Explicit features, a step",
        claim: "O(p³ + n p²)",
        source: SOURCE,
        variable: "p",
        values: [400, 566, 800, 1132, 1600],
        printed: |p| p.powi(3) / 3.0 + ROWS as f64 * p * p,
        work: |p| explicit(ROWS, p),
        seconds: |p| fourier(ROWS, p),
    },
    Scaling {
        method: "gmce-fourier",
        title: "Explicit features, a step",
        claim: "O(p³ + n p²)",
        source: SOURCE,
        variable: "n",
        values: [4000, 5657, 8000, 11_314, 16_000],
        printed: |n| (FEATURES as f64).powi(3) / 3.0 + n * (FEATURES * FEATURES) as f64,
        work: |n| explicit(n, FEATURES),
        seconds: |n| fourier(n, FEATURES),
    },
];

/// Apart, so that the others need not be measured again with it.
pub(crate) const FEATURES_ALONE: Simulation = Simulation {
    name: "complexity/mce-features",
    measures: true,
    revision: 1,
    settings: || settings(MORE_FEATURES),
    compute: || measure(MORE_FEATURES),
};

/// Where `p³` rules: in the other sweep over features `p³/3` is at most an eighth of `n p²`.
pub(crate) const MORE_FEATURES: &[Scaling] = &[Scaling {
    method: "gmce-fourier",
    title: "More explicit features than rows, a step",
    claim: "O(p³ + n p²)",
    source: SOURCE,
    variable: "p",
    values: [800, 1132, 1600, 2264, 3200],
    printed: |p| p.powi(3) / 3.0 + FEW as f64 * p * p,
    work: |p| explicit(FEW, p),
    seconds: |p| fourier(FEW, p),
}];

/// A step that factors the Gram matrix of `n` rows.
fn factored(n: usize) -> Operations {
    let (n, d, k) = (n as f64, SHAPE.0 as f64, SHAPE.1 as f64);
    let named = n.powi(3) / 3.0;
    // Gram matrix and length scales; solves with K and 2 K columns, the adjoint of rank 2 K.
    Operations { named, all: named + n * n * (3.0 * d + 8.0 * k + 0.5 * ELEMENTARY) }
}

/// A step with `p` explicit features: the normal matrix and its factor; features and their
/// gradient, solves and products with K columns.
fn explicit(n: usize, p: usize) -> Operations {
    let (n, p, d, k) = (n as f64, p as f64, SHAPE.0 as f64, SHAPE.1 as f64);
    let named = n * p * p + p.powi(3) / 3.0;
    Operations { named, all: named + n * p * (2.0 * d + ELEMENTARY + 12.0 * k) }
}

/// Processor seconds of a step, `passes` over the rows in batches that make so many `steps` each.
fn step(n: usize, given: &Settings, steps: usize, passes: usize) -> Result<f64, LearningError> {
    let streams = Streams::root(4).child("complexity");
    let (d, k) = SHAPE;
    let sample = mercer_datasets::stand_in(n, d, k, &mut streams.rng("data"));
    // One pass of one step has no second step to stop the clock at.
    let passes = if steps * passes == 2 { 3 } else { passes };
    let settings = given.clone().with("epochs", passes).with("rate", 1e-3);
    Ok(step_seconds("gmce", &settings, &sample, &streams)? / (steps * passes - 1) as f64)
}

fn fourier(n: usize, p: usize) -> Result<f64, LearningError> {
    step(n, &Settings::new().with("map", "fourier").with("features", p), 1, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_ruled_by_its_term_over_a_factor_of_four() {
        super::super::check(SERIES.iter().chain(MORE_FEATURES));
    }

    #[test]
    fn a_step_of_each_kind_can_be_timed() {
        for (given, steps) in [
            (Settings::new(), 1),
            (Settings::new().with("batch", 16), 4),
            (Settings::new().with("map", "fourier").with("features", 8), 1),
        ] {
            let seconds = step(64, &given, steps, 2).unwrap();
            assert!((0.0..10.0).contains(&seconds), "{seconds}");
        }
    }
}
