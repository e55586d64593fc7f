//! Time and memory of the exact solution and of Nyström's at the study's size.

use super::exact_path::{WAYS, Way};
use crate::complexity::processor_seconds;
use mercer_harness::metered;
use mercer_kernels::{GaussianHyper, HyperKernel, total_variance};
use mercer_learning::{Fitting, LearningError, Streams, fact};
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairTarget};
use mercer_report::{ExperimentError, Simulation};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const MEASUREMENT: Simulation =
    Simulation { name: "hyper/exact-or-nystrom", measures: true, revision: 1, settings, compute };

/// Labelled points and input columns, as of australian.
const POINTS: usize = 552;
const INPUTS: usize = 14;
const LAMBDA: f64 = 1e-3;
const REPEATS: usize = 3;
/// Landmarks of the solver in linear time.
const LINEAR: usize = 20;

/// The name in the record, and how it is solved.
fn solves() -> Vec<(String, usize, PairRidge)> {
    let with =
        |solver, landmarks| PairRidge { lambda: LAMBDA, solver, landmarks, ..PairRidge::default() };
    let mut all: Vec<(String, usize, PairRidge)> = WAYS
        .iter()
        .map(|&(name, way)| match way {
            Way::Exact { one_in } => {
                (name.to_owned(), POINTS / one_in, with(PairSolver::ConjugateGradients, None))
            }
            Way::Nystrom { landmarks } => {
                (name.to_owned(), POINTS, with(PairSolver::Nystrom, Some(landmarks)))
            }
        })
        .collect();
    let linear = with(PairSolver::LinearTime, Some(LINEAR));
    all.push((format!("linear-time-{LINEAR}"), POINTS, linear));
    all
}

fn settings() -> Value {
    let named: Vec<Value> =
        solves().into_iter().map(|(name, points, _)| json!([name, points])).collect();
    json!({ "solves": named, "inputs": INPUTS, "lambda": LAMBDA, "repeats": REPEATS })
}

fn compute() -> Result<BTreeMap<String, f64>, ExperimentError> {
    let fault = |error: LearningError| ExperimentError::Form {
        file: MEASUREMENT.name.to_owned(),
        reason: error.to_string(),
    };
    let mut numbers = BTreeMap::new();
    for (name, points, ridge) in solves() {
        for repeat in 1..=REPEATS {
            let (seconds, bytes, iterations) = cost(&ridge, points).map_err(fault)?;
            numbers.insert(format!("seconds {name} #{repeat}"), seconds);
            // Zero where the program does not count what it allocates.
            numbers.insert(format!("bytes {name}"), bytes as f64);
            numbers.insert(format!("iterations {name}"), iterations);
        }
    }
    Ok(numbers)
}

/// Processor seconds of one solve on one thread, the most bytes that it held, and its iterations.
fn cost(ridge: &PairRidge, points: usize) -> Result<(f64, u64, f64), LearningError> {
    let streams = Streams::root(5).child("exact or nystrom");
    let sample = mercer_datasets::stand_in(points, INPUTS, 2, &mut streams.rng("data"));
    let variance = total_variance(sample.inputs());
    let hyper = GaussianHyper::constructed(variance, variance).map(HyperKernel::Gaussian).map_err(
        |error| LearningError::Numerical { operation: "a solve", reason: error.to_string() },
    )?;
    let target = PairTarget::classes(sample.labels().unwrap_or_default(), 1.0, -1.0)?;
    let fitting = Fitting::seeded(0);
    let (seconds, (learned, bytes)) =
        processor_seconds(|| metered(|| ridge.learn(&hyper, sample.inputs(), &target, &fitting)));
    let iterations = learned?.facts.get(fact::ITERATIONS).copied().unwrap_or(0.0);
    Ok((seconds, bytes, iterations))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_solve_of_the_table_runs() {
        let names: std::collections::BTreeSet<String> =
            solves().into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names.len(), WAYS.len() + 1);
        for (name, _, ridge) in solves() {
            let (seconds, _, iterations) = cost(&ridge, 42).unwrap();
            assert!((0.0..10.0).contains(&seconds), "{name}: {seconds}");
            let iterated = ridge.solver == PairSolver::ConjugateGradients;
            assert_eq!(iterations > 0.0, iterated, "{name}");
        }
    }
}
