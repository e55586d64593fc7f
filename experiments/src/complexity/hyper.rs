//! Learning a kernel from pairs.

use super::{ELEMENTARY, Operations, measure, processor_seconds, settings};
use mercer_kernels::{GaussianHyper, HyperKernel, Pairs};
use mercer_learning::{Fitting, LearningError};
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairTarget};
use mercer_report::{Scaling, Simulation};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) const MEASUREMENT: Simulation = Simulation {
    name: "complexity/hyper-krr",
    measures: true,
    revision: 1,
    settings: || settings(SERIES),
    compute: || measure(SERIES),
};

/// Input columns.
const INPUTS: usize = 10;
/// Iterations of conjugate gradients that are timed.
const ITERATIONS: usize = 20;
/// Points and landmarks where the other varies, and points where subsets do.
const POINTS: usize = 400;
const LANDMARKS: usize = 24;
const DIVIDED: usize = 1200;

const PRINTED: &str = "hyper-RKHS, Section 2.3";
const OURS: &str = "ours";

pub(crate) const SERIES: &[Scaling] = &[
    Scaling {
        method: "hyper-krr",
        title: "Exact, Cholesky",
        claim: "O(m⁶)",
        source: PRINTED,
        variable: "m",
        values: [40, 56, 80, 113, 160],
        printed: |m| m.powi(6),
        work: |m| {
            let pairs = Pairs::count(m) as f64;
            let named = pairs.powi(3) / 3.0;
            Operations { named, all: named + 0.5 * pairs * pairs * 8.0 }
        },
        seconds: |m| seconds(m, PairSolver::Cholesky, None, 1),
    },
    Scaling {
        method: "hyper-krr nystrom",
        title: "Nyström",
        claim: "O(m²M⁴)",
        source: PRINTED,
        variable: "m",
        values: [200, 283, 400, 566, 800],
        printed: |m| m * m,
        work: |m| nystrom(m, LANDMARKS, 1),
        seconds: |m| seconds(m, PairSolver::Nystrom, Some(LANDMARKS), 1),
    },
    Scaling {
        method: "hyper-krr nystrom",
        title: "Nyström",
        claim: "O(m²M⁴)",
        source: PRINTED,
        variable: "M",
        values: [14, 20, 28, 40, 56],
        printed: |landmarks| landmarks.powi(4),
        work: |landmarks| nystrom(POINTS, landmarks, 1),
        seconds: |landmarks| seconds(POINTS, PairSolver::Nystrom, Some(landmarks), 1),
    },
    Scaling {
        method: "hyper-krr nystrom",
        title: "Nyström on v subsets",
        claim: "O(m²M⁴/v)",
        source: PRINTED,
        variable: "v",
        values: [2, 3, 4, 6, 8],
        printed: f64::recip,
        work: |subsets| nystrom(DIVIDED, LANDMARKS, subsets),
        seconds: |subsets| seconds(DIVIDED, PairSolver::Nystrom, Some(LANDMARKS), subsets),
    },
    Scaling {
        method: "hyper-krr conjugate-gradients",
        title: "Exact, 20 conjugate gradients",
        claim: "O(m⁴)",
        source: OURS,
        variable: "m",
        values: [120, 170, 240, 339, 480],
        printed: |m| m.powi(4),
        work: |m| {
            let m = m as f64;
            let named = ITERATIONS as f64 * 0.5 * m.powi(4);
            // A dozen passes an iteration over vectors of pairs; the exponentials once.
            let vectors = 0.5 * m * m * 24.0 * ITERATIONS as f64;
            Operations { named, all: named + vectors + m * m * ELEMENTARY }
        },
        seconds: |m| seconds(m, PairSolver::ConjugateGradients, None, 1),
    },
    Scaling {
        method: "hyper-krr linear-time",
        title: "Nyström, all pairs in linear time",
        claim: "O(m L M⁴)",
        source: OURS,
        variable: "m",
        values: [8000, 11_314, 16_000, 22_627, 32_000],
        printed: |m| m,
        work: |m| {
            let (m, rank, landmarks) = (m as f64, RANK as f64, LINEAR_LANDMARKS as f64);
            let named = m * rank * landmarks.powi(4) / 12.0;
            // Two partial factors of L columns, and the point factors.
            Operations { named, all: named + 2.0 * m * rank * (rank + ELEMENTARY) }
        },
        seconds: |m| seconds(m, PairSolver::LinearTime, Some(LINEAR_LANDMARKS), 1),
    },
];

/// Columns of the partial factors, and landmarks, of the solver in linear time.
const RANK: usize = 100;
const LINEAR_LANDMARKS: usize = 14;

/// Over `P` pairs in each of `v` subsets and `R` pairs of landmarks: values, two products, and two
/// eigendecompositions.
fn nystrom(points: usize, landmarks: usize, subsets: usize) -> Operations {
    let v = subsets as f64;
    let (pairs, own) = (Pairs::count(points / subsets) as f64, Pairs::count(landmarks) as f64);
    let named = v * 3.0 * pairs * own * own;
    Operations { named, all: named + v * (8.0 * pairs * own + 18.0 * own.powi(3)) }
}

/// Processor seconds of learning one kernel.
fn seconds(
    points: usize,
    solver: PairSolver,
    landmarks: Option<usize>,
    subsets: usize,
) -> Result<f64, LearningError> {
    learning_seconds([points, INPUTS], solver, landmarks, subsets)
}

/// The same over so many points and inputs.
pub(crate) fn learning_seconds(
    [points, inputs]: [usize; 2],
    solver: PairSolver,
    landmarks: Option<usize>,
    subsets: usize,
) -> Result<f64, LearningError> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let inputs = Array2::from_shape_simple_fn((points, inputs), || rng.gen_range(0.0..1.0));
    let labels: Vec<u32> = inputs.rows().into_iter().map(|x| u32::from(x[0] > 0.5)).collect();
    let target = PairTarget::classes(&labels, 1.0, -1.0)?;
    // So narrow that hardly a pair is a combination of others: the ranks are nearly full.
    let variance = 0.05;
    let numerical = |error: mercer_kernels::KernelError| LearningError::Numerical {
        operation: "a timed fit",
        reason: error.to_string(),
    };
    let kernel =
        HyperKernel::Gaussian(GaussianHyper::constructed(variance, variance).map_err(numerical)?);
    let ridge = PairRidge {
        solver,
        landmarks,
        subsets,
        // Never met: all iterations and all columns are used.
        tolerance: f64::MIN_POSITIVE,
        rank_tolerance: f64::MIN_POSITIVE,
        iterations: ITERATIONS,
        rank: RANK,
        cutoff: f64::EPSILON,
        ..PairRidge::default()
    };
    let (seconds, learned) =
        processor_seconds(|| ridge.learn(&kernel, inputs.view(), &target, &Fitting::seeded(1)));
    learned.map(|_| seconds)
}

/// What the rows of this measurement need said.
pub(crate) const NOTES: [&str; 1] = [
    "Learning a kernel from pairs: 10 inputs, m (m + 1)/2 unordered pairs. This divides the three printed costs by 8 and leaves their exponents.",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_ruled_by_its_term_over_a_factor_of_four() {
        super::super::check(SERIES);
    }

    #[test]
    fn every_solver_can_be_timed() {
        for (solver, landmarks, subsets) in [
            (PairSolver::Cholesky, None, 1),
            (PairSolver::ConjugateGradients, None, 1),
            (PairSolver::Nystrom, Some(4), 1),
            (PairSolver::Nystrom, Some(4), 2),
            (PairSolver::LinearTime, Some(4), 1),
        ] {
            let seconds = seconds(24, solver, landmarks, subsets).unwrap();
            assert!((0.0..10.0).contains(&seconds), "{solver:?}: {seconds}");
        }
    }

    #[test]
    fn narrow_pairs_have_nearly_full_rank() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let inputs = Array2::from_shape_simple_fn((60, INPUTS), || rng.gen_range(0.0..1.0));
        let labels: Vec<u32> = (0..60).map(|i| i % 2).collect();
        let kernel = HyperKernel::Gaussian(GaussianHyper::constructed(0.05, 0.05).unwrap());
        let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
        let ridge = PairRidge {
            solver: PairSolver::Nystrom,
            landmarks: Some(48),
            cutoff: f64::EPSILON,
            ..PairRidge::default()
        };
        let learned = ridge.learn(&kernel, inputs.view(), &target, &Fitting::seeded(1)).unwrap();
        assert!(learned.facts["rank"] > 0.98 * Pairs::count(48) as f64, "{:?}", learned.facts);
    }
}
