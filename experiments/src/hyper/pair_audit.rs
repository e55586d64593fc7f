//! One trial of the audits of learning on pairs: what the normaliser, the meaning of "variance" and
//! the order within a pair do, on the training rows of one split.

use mercer_harness::{Parts, Path};
use mercer_kernels::{
    GaussianHyper, HyperKernel, Kernel, Pairs, entry_variance, std_of_bandwidth, total_variance,
};
use mercer_learning::{Cost, Fitting, LearningError, Method, Settings, Shape, Tasks};
use mercer_linalg::{Cholesky, LinalgError, symmetric_eigen};
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairTarget};
use mercer_records::{CurvePoint, OPEN};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "pair-audit",
        title: "audit of pairs",
        summary: "normaliser, variance and order of pairs on one split",
        cites: "Liu, Shi, Huang, Yang & Suykens (2021)",
        revision: 1,
        tasks: Tasks::Classification,
        cost: Cost {
            fit: "points^4 iterations, iterations = 50",
            predict: "-",
            memory: "points^4/4",
        },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Training rows at most.
    points: usize,
    /// Test rows at most.
    test_points: usize,
    /// Points whose ordered pairs are solved densely.
    ordered: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { points: 100, test_points: 100, ordered: 12 }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// The ridges of the paper's grid.
fn ridges() -> Vec<f64> {
    (-5..=5).map(|power| 10f64.powi(power)).collect()
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let some = |all: ArrayView2<'_, f64>, most: usize| {
        all.slice(s![..all.nrows().min(most), ..]).to_owned()
    };
    let train = some(parts.train.inputs(), params.points);
    let test = some(parts.test.inputs(), params.test_points);
    let mut values = BTreeMap::new();
    let mut put = |name: &str, value: f64| {
        values.insert(name.to_owned(), value);
    };
    put("inputs", train.ncols() as f64);
    put("points", train.nrows() as f64);
    let total = total_variance(train.view());
    let entry = entry_variance(train.view());
    let known = Kernel::Gaussian { std: std_of_bandwidth(total.sqrt()) };
    let truth = known.gram(test.view());
    put("rmse of zero", rms(&truth));
    for (name, variance) in [("total", total), ("entry", entry)] {
        put(&format!("{name} variance"), variance);
        let hyper = GaussianHyper::printed(variance, variance).map_err(|e| failed(&e))?;
        let log10 = hyper.log_normaliser(train.ncols()) / std::f64::consts::LN_10;
        put(&format!("{name} log10 c"), log10);
        put(&format!("{name} median"), median(&train, variance));
        fitting.limits.check()?;
        let hyper = GaussianHyper::constructed(variance, variance).map_err(|e| failed(&e))?;
        let (best, ridge, open) = best_error(&hyper, &train, &test, &known, &truth, fitting)?;
        put(&format!("{OPEN} {name}"), open as f64);
        put(&format!("{name} rmse"), best);
        put(&format!("{name} ridge"), ridge);
    }
    let few = some(train.view(), params.ordered);
    let hyper = GaussianHyper::constructed(total, total).map_err(|e| failed(&e))?;
    let order = ordered(&HyperKernel::Gaussian(hyper), &few, &test, &known, fitting)?;
    put("ordered pairs", order.pairs);
    put("ordered rank", order.rank);
    put("unordered pairs", Pairs::count(few.nrows()) as f64);
    put("ordered gap", order.gap);
    Ok(vec![CurvePoint { step: 0, epoch: 0.0, values }])
}

fn failed(error: &impl std::fmt::Display) -> LearningError {
    LearningError::Numerical { operation: "an audit of pairs", reason: error.to_string() }
}

fn rms(values: &Array2<f64>) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt()
}

/// The median over pairs of different points of `exp(−‖x − x'‖²/(2σ²))`.
fn median(points: &Array2<f64>, variance: f64) -> f64 {
    let gram = Kernel::Gaussian { std: std_of_bandwidth(variance.sqrt()) }.gram(points.view());
    let n = gram.nrows();
    let mut values: Vec<f64> =
        (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|pair| gram[pair]).collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The least error on test pairs over the grid of ridges, the ridge, and how many of the grid did not converge.
fn best_error(
    hyper: &GaussianHyper,
    train: &Array2<f64>,
    test: &Array2<f64>,
    known: &Kernel,
    truth: &Array2<f64>,
    fitting: &Fitting<'_>,
) -> Result<(f64, f64, usize), LearningError> {
    let values = known.gram(train.view());
    let target = PairTarget::matrix(values.view())?;
    let ridge = PairRidge { solver: PairSolver::ConjugateGradients, ..PairRidge::default() };
    let kernel = HyperKernel::Gaussian(*hyper);
    let ridges = ridges();
    let learned = ridge.learn_path(&kernel, train.view(), &target, &ridges, fitting)?;
    let errors = learned.iter().zip(&ridges).map(|(learned, &ridge)| {
        (rms(&(learned.kernel.gram(test.view(), fitting.threads) - truth)), ridge)
    });
    let (error, ridge) = errors.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, f64::NAN));
    let open = learned.iter().filter(|learned| learned.convergence.warning().is_some()).count();
    Ok((error, ridge, open))
}

struct Ordered {
    pairs: f64,
    rank: f64,
    gap: f64,
}

/// `(H + λ m² I)⁻¹ vec(Y)` over ordered pairs, as printed, beside the solution over unordered ones.
fn ordered(
    hyper: &HyperKernel,
    points: &Array2<f64>,
    test: &Array2<f64>,
    known: &Kernel,
    fitting: &Fitting<'_>,
) -> Result<Ordered, LearningError> {
    let m = points.nrows();
    let lambda = 1e-3;
    let of = |p: usize| (points.row(p / m), points.row(p % m));
    let mut gram = Array2::from_shape_fn((m * m, m * m), |(p, q)| hyper.of(of(p), of(q)));
    let spectrum = symmetric_eigen(gram.view()).map_err(|error| failed(&error))?.values;
    let floor = (m * m) as f64 * f64::EPSILON * spectrum[m * m - 1];
    let rank = spectrum.iter().filter(|value| **value > floor).count() as f64;
    gram.diag_mut().mapv_inplace(|entry| entry + lambda * (m * m) as f64);
    let values = known.gram(points.view());
    let right = Array2::from_shape_fn((m * m, 1), |(p, _)| values[[p / m, p % m]]);
    let solve = || -> Result<Array2<f64>, LinalgError> { Cholesky::factor(gram)?.solve(&right) };
    let beta = solve().map_err(|error| failed(&error))?;
    let rows = test.nrows().min(10);
    let mut by_order = Array1::<f64>::zeros(rows);
    for (row, value) in by_order.iter_mut().enumerate() {
        let pair = (test.row(row), points.row(0));
        *value = (0..m * m).map(|p| beta[[p, 0]] * hyper.of(of(p), pair)).sum();
    }
    let target = PairTarget::matrix(values.view())?;
    let ridge = PairRidge { lambda, solver: PairSolver::Cholesky, ..PairRidge::default() };
    let learned = ridge.learn(hyper, points.view(), &target, fitting)?;
    let few = test.select(Axis(0), &(0..rows).collect::<Vec<_>>());
    let first = points.slice(s![..1, ..]);
    let block = learned.kernel.block(few.view(), first, 1);
    let gap = (&block.column(0) - &by_order).mapv(f64::abs);
    let largest = gap.iter().fold(0.0f64, |a, &b| a.max(b));
    Ok(Ordered { pairs: (m * m) as f64, rank, gap: largest })
}
