//! Table 2: what the methods cost, measured, beside what the paper says.

use crate::complexity::{
    ELEMENTARY, Operations, measure, processor_seconds, settings, step_seconds,
};
use mercer_kernels::{FeatureMapParams, Kernel, Map};
use mercer_learning::{LearningError, Settings, Streams};
use mercer_linalg::{Cholesky, semidefinite_solve, symmetric_product};
use mercer_report::{Scaling, Simulation};
use ndarray::{Array2, Axis};

pub(crate) const MEASUREMENT: Simulation = Simulation {
    name: "rftk/table2",
    measures: true,
    revision: 2,
    settings: || settings(SERIES),
    compute: || measure(SERIES),
};

/// Operations of a symmetric eigendecomposition with vectors, in n³ (Golub and Van Loan, Section 8.3).
const EIGEN: f64 = 9.0;

/// The numbers that a cost depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) n: usize,
    /// Features.
    pub(crate) m: usize,
    /// Rows of a batch.
    pub(crate) b: usize,
    /// Steps.
    pub(crate) t: usize,
    /// Steps from one of the trace to the next.
    pub(crate) s: usize,
    /// Input columns.
    pub(crate) d: usize,
}

pub(crate) const START: Sizes = Sizes { n: 8000, m: 500, b: 32, t: 200, s: 10, d: 10 };
/// Where steps alone are timed: few rows, since none of the cost is theirs, and wide features.
const STEPS: Sizes = Sizes { n: 256, m: 2000, ..START };

const SOURCE: &str = "RFTK, Table 2";

/// A series: the sizes at each value of its variable make its operations and its seconds.
macro_rules! series {
    ($($method:literal, $title:literal, $claim:literal, $variable:literal, $values:expr,
       $printed:expr, |$value:ident| $sizes:expr;)*) => {
        pub(crate) const SERIES: &[Scaling] = &[$(Scaling {
            method: $method,
            title: $title,
            claim: $claim,
            source: SOURCE,
            variable: $variable,
            values: $values,
            printed: $printed,
            work: |$value| work($method, $variable, $sizes),
            seconds: |$value| seconds($method, $sizes),
        }),*];
    };
}

series! {
    "kernel-ridge", "Kernel Ridge", "O(n³)", "n", [1500, 2121, 3000, 4243, 6000], |n| n.powi(3), |n| Sizes { n, ..START };
    "kernel-ridgeless", "Kernel Ridgeless", "O(n³)", "n", [600, 849, 1200, 1697, 2400], |n| n.powi(3), |n| Sizes { n, ..START };
    "rf-ridge", "RF", "O(nM² + M³)", "n", [4000, 5657, 8000, 11_314, 16_000], |n| normal(n, 500.0), |n| Sizes { n, ..START };
    "rf-ridge", "RF", "O(nM² + M³)", "M", [1500, 2121, 3000, 4243, 6000], |m| normal(4000.0, m), |m| Sizes { n: 4000, m, ..START };
    "rf-sgd", "RF-SGD", "O(MbT)", "M", [1000, 1414, 2000, 2828, 4000], |m| m, |m| Sizes { m, ..STEPS };
    "rf-sgd", "RF-SGD", "O(MbT)", "b", [32, 45, 64, 91, 128], |b| b, |b| Sizes { b, ..STEPS };
    "rf-sgd", "RF-SGD", "O(MbT)", "T", [200, 283, 400, 566, 800], |t| t, |t| Sizes { t, ..STEPS };
    "rftk", "RFTK", "O(nMbT/s)", "n", [2000, 2828, 4000, 5657, 8000], |n| n, |n| Sizes { n, ..START };
    "rftk", "RFTK", "O(nMbT/s)", "M", [1000, 1414, 2000, 2828, 4000], |m| m, |m| Sizes { m, ..START };
    "rftk", "RFTK", "O(nMbT/s)", "b", [32, 45, 64, 91, 128], |b| b, |b| Sizes { b, ..START };
    "rftk", "RFTK", "O(nMbT/s)", "T", [100, 140, 200, 280, 400], |t| t, |t| Sizes { t, ..START };
    "rftk", "RFTK", "O(nMbT/s)", "s", [5, 7, 10, 14, 20], f64::recip, |s| Sizes { s, ..START };
}

/// `nM² + M³`, with the constants of a product that is symmetric and of a Cholesky factor.
fn normal(n: f64, m: f64) -> f64 {
    n * m * m + m * m * m / 3.0
}

/// Operations of the term that the claim names, and of all; in b those that grow with it, since the
/// printed product is of sizes of which no term of the algorithm has all; in d the products with the inputs.
pub(crate) fn work(method: &str, variable: &str, Sizes { n, m, b, t, s, d }: Sizes) -> Operations {
    let [n, m, b, t, s, d] = [n, m, b, t, s, d].map(|size| size as f64);
    // A feature: its product with the inputs, the cosine, and as much again for its gradient.
    let feature = 2.0 * d + ELEMENTARY;
    match method {
        "kernel-ridge" => {
            let named = n * n * n / 3.0;
            Operations { named, all: named + n * n * (d + ELEMENTARY / 2.0) }
        }
        // A factor is tried, and the singular matrix is decomposed, with its vectors.
        "kernel-ridgeless" => {
            let named = n * n * n / 3.0 + EIGEN * n * n * n;
            Operations { named, all: named + n * n * (2.0 * d + ELEMENTARY) }
        }
        "rf-ridge" => {
            let named = normal(n, m);
            Operations { named, all: named + n * m * feature }
        }
        "rf-sgd" => {
            let named = t * b * m * (feature + 4.0);
            Operations { named, all: named }
        }
        // Every s-th step the features of all rows and their gradient.
        _ => {
            let trace = t / s * n * m * (feature + 2.0 * d);
            let batches = t * b * m * (feature + 4.0) + t / s * b * m * 4.0 * d;
            let named = match variable {
                "b" => batches,
                "d" => t / s * n * m * 4.0 * d,
                _ => trace,
            };
            Operations { named, all: trace + batches }
        }
    }
}

/// What the rows of this measurement need said, on whatever page they stand.
pub(crate) const NOTES: [&str; 6] = [
    "Kernel ridge, RF, RF-SGD, RFTK: one target and 10 inputs. RF-SGD and RFTK are in single precision and timed from their first step to their last; the others are in double precision.",
    "Kernel ridgeless: the kernel is so smooth that its matrix is singular. Its eigendecomposition, 9 n³ operations, is counted and timed.",
    "RF: the paper's is ridgeless. Timed is Cholesky of the normal matrix with a ridge, which has the printed cost.",
    "RF without a ridge: `rf-ridgeless` takes a singular value decomposition of the features, O(nM min(n, M)) operations. It is not timed here.",
    "RFTK: the b in the printed cost is an error in the paper. Its Section 5 derives O(nMdT/s), because the trace is over all n rows whatever the batch.",
    "RFTK in b: the share counts the operations that grow with b, which are never most of the work here. That the time grows less agrees with Section 5, and does not support the printed product.",
];

/// Processor seconds of one fit, on one thread.
pub(crate) fn seconds(method: &str, sizes: Sizes) -> Result<f64, LearningError> {
    let Sizes { n, m, b, t, s, d } = sizes;
    let streams = Streams::root(2).child(method);
    let sample = mercer_datasets::stand_in(n, d, 0, &mut streams.rng("data"));
    // Without a ridge so smooth that the matrix is singular at every size: eigenvalues are needed.
    let std = if method == "kernel-ridgeless" { 0.05 } else { 0.3 };
    let numerical = |error: &dyn std::fmt::Display| LearningError::Numerical {
        operation: "a timed fit",
        reason: error.to_string(),
    };
    let y: Array2<f64> =
        sample.values().map(|y| y.to_owned().insert_axis(Axis(1))).unwrap_or_default();
    let ridge = 1e-3 * n as f64;
    match method {
        "kernel-ridge" => timed(|| {
            let mut gram = Kernel::Gaussian { std }.upper_gram(sample.inputs(), 1);
            gram.diag_mut().mapv_inplace(|entry| entry + ridge);
            let factor = Cholesky::factor(gram).map_err(|error| numerical(&error))?;
            factor.solve(&y).map_err(|error| numerical(&error))
        }),
        "kernel-ridgeless" => timed(|| {
            let gram = Kernel::Gaussian { std }.gram(sample.inputs());
            let solved = semidefinite_solve(&gram, y.view(), Some(1e-8));
            solved.map(|solved| solved.x).map_err(|error| numerical(&error))
        }),
        "rf-ridge" => timed(|| {
            let map = FeatureMapParams { map: Map::Stationary, features: m, std, std_prime: None };
            let map = map.draw(d, &mut streams.rng("map")).map_err(|e| numerical(&e))?;
            let phi = map.features(sample.inputs());
            let mut gram: Array2<f64> = symmetric_product(phi.view());
            gram.diag_mut().mapv_inplace(|entry| entry + ridge);
            let factor = Cholesky::factor(gram).map_err(|error| numerical(&error))?;
            let right = phi.t().dot(&y);
            factor.solve(&right).map_err(|error| numerical(&error))
        }),
        _ => {
            let epochs = (t + 1) as f64 / n.div_ceil(b) as f64;
            let settings = Settings::new().with("features", m).with("std", std).with("rate", 1e-3);
            let settings = settings.with("batch", b).with("epochs", epochs);
            let settings = match method {
                "rftk" => settings.with("every", s).with("beta", 1e-6).with("frequency_rate", 1e-3),
                _ => settings,
            };
            step_seconds(method, &settings, &sample, &streams)
        }
    }
}

/// Processor seconds of what can fail.
fn timed(work: impl FnOnce() -> Result<Array2<f64>, LearningError>) -> Result<f64, LearningError> {
    let (seconds, done) = processor_seconds(work);
    done.map(|_| seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exponent is fitted only where the claimed term is most of the work, over a factor of 4.
    #[test]
    fn every_series_is_ruled_by_its_term_over_a_factor_of_four() {
        let ruled: Vec<&Scaling> = SERIES.iter().filter(|s| !in_batch(s)).collect();
        assert_eq!(ruled.len(), SERIES.len() - 1);
        crate::complexity::check(ruled);
    }

    fn in_batch(scaling: &Scaling) -> bool {
        (scaling.method, scaling.variable) == ("rftk", "b")
    }

    /// The printed term has b in it; of the work next to nothing has.
    #[test]
    fn in_the_batch_size_the_share_is_that_of_what_grows_with_it() {
        let scaling = SERIES.iter().find(|s| in_batch(s)).unwrap();
        let [first, .., last] = scaling.values.map(|b| (scaling.work)(b));
        let share = last.named / last.all;
        assert!(share < 0.15, "{share}");
        // Shares and exponents agree: the slope between the ends is a mean of the shares.
        let slope = (last.all / first.all).ln() / 4f64.ln();
        assert!((first.named / first.all..share).contains(&slope), "{slope}, {share}");
        assert!((last.named / first.named - 4.0).abs() < 1e-12);
    }

    /// At the sizes of the page the matrix is decomposed: nine tenths of what is counted.
    #[test]
    fn the_ridgeless_matrix_is_singular() {
        let mut streams = Streams::root(2).child("kernel-ridgeless").rng("data");
        let sample = mercer_datasets::stand_in(600, START.d, 0, &mut streams);
        let gram = Kernel::Gaussian { std: 0.05 }.gram(sample.inputs());
        let right = Array2::ones((600, 1));
        let solved = semidefinite_solve(&gram, right.view(), Some(1e-8)).unwrap();
        assert!(solved.rank < 600, "rank {}", solved.rank);
        let counted = work("kernel-ridgeless", "n", Sizes { n: 600, ..START });
        assert!(counted.named > 27.0 * 600f64.powi(3) / 3.0);
    }

    #[test]
    fn every_fit_can_be_timed() {
        let small = Sizes { n: 64, m: 16, b: 8, t: 5, s: 2, d: 10 };
        for method in ["kernel-ridge", "kernel-ridgeless", "rf-ridge", "rf-sgd", "rftk"] {
            let seconds = seconds(method, small).unwrap();
            assert!((0.0..10.0).contains(&seconds), "{method}: {seconds}");
        }
    }
}
