//! One repeat of the double-descent curve: test error of random-feature regression on a few
//! training rows, for many numbers of features and several ridges at once.
//!
//! For each `M` fresh features `Φ` are drawn. With `n` training rows and the eigenvalues of `ΦΦᵀ`
//! (`n × n`) all ridges cost one product each:
//! ```text
//! w_λ = Φᵀ (ΦΦᵀ + λ n I)⁻¹ Y,     λ = 0: the pseudo-inverse, Y one-hot
//! ```
//! The test features are computed once for each `M`, in blocks, and serve all ridges. Features and test
//! scores are in single precision, the solution in double.

use super::few_rows::{Features, KernelSide, decompose, dual, judge, one_hot};
use mercer_harness::{Parts, Path};
use mercer_learning::{Cost, Fitting, LearningError, Method, Sample, Settings, Shape, Tasks};
use mercer_records::CurvePoint;
use mercer_theory::{RidgeCondition, effective_ridge};
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "double-descent",
        title: "RF ridge path",
        summary: "test error over numbers of features and ridges, one split",
        cites: "Li, Liu & Zhang (2022)",
        revision: 2,
        tasks: Tasks::Classification,
        cost: Cost { fit: "n_test d ΣM, ΣM = 4 largest", predict: "-", memory: "n_test d" },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Deviation `k` of the frequencies: kernel `exp(−k² ‖x − x'‖² / 2)`.
    std: f64,
    /// Ridges `λ` of `ΦΦᵀ + λ n I`; 0 is the pseudo-inverse.
    lambdas: Vec<f64>,
    /// Numbers of features: `⌊largest · 4^e⌋`, `e` equally spaced from `exponent` to 0.
    largest: usize,
    /// The smallest exponent.
    exponent: f64,
    /// How many numbers of features.
    sizes: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            std: 0.1,
            lambdas: vec![0.0, 1e-7, 1e-4, 1e-2],
            largest: 10_000,
            exponent: -6.2,
            sizes: 50,
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

impl Params {
    /// The numbers of features, from small to large.
    fn feature_counts(&self) -> Vec<usize> {
        let last = (self.sizes - 1).max(1) as f64;
        let exponent = |i: usize| self.exponent * (1.0 - i as f64 / last);
        (0..self.sizes)
            .map(|i| ((self.largest as f64 * 4f64.powf(exponent(i))).floor() as usize).max(1))
            .collect()
    }
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let targets = one_hot(&parts.train);
    let train = parts.train.inputs().mapv(|x| x as f32);
    let test = parts.test.inputs().mapv(|x| x as f32);
    let kernel = KernelSide::new(parts, params.std)?;
    let mut curve = vec![limit(&kernel, parts, &params, &targets)];
    for (i, features) in params.feature_counts().into_iter().enumerate() {
        fitting.limits.check()?;
        let mut rng = fitting.streams.rng(&format!("features {i}"));
        let draw = Features::draw(params.std, train.ncols(), features, &mut rng);
        let phi = draw.of(train.view()).mapv(f64::from);
        let gram = phi.dot(&phi.t());
        let eigen = decompose(gram.view())?;
        let weights: Vec<Array2<f64>> = params
            .lambdas
            .iter()
            .map(|&lambda| phi.t().dot(&dual(&eigen, &targets, lambda)))
            .collect();
        let scores = draw.scores(test.view(), &weights);
        let mut here = point(features, &parts.train, &params.lambdas, &scores, &parts.test);
        here.values.extend(at_effective_ridge(&kernel, features, parts, &targets)?);
        curve.push(here);
    }
    Ok(curve)
}

/// Kernel regression with the ridges of the path: what the features tend to.
fn limit(kernel: &KernelSide, parts: &Parts, params: &Params, targets: &Array2<f64>) -> CurvePoint {
    let scores: Vec<Array2<f64>> =
        params.lambdas.iter().map(|&lambda| kernel.scores(targets, lambda)).collect();
    point(0, &parts.train, &params.lambdas, &scores, &parts.test)
}

/// Kernel ridge regression at the ridge that so few features amount to (Theorem 3).
fn at_effective_ridge(
    kernel: &KernelSide,
    features: usize,
    parts: &Parts,
    targets: &Array2<f64>,
) -> Result<BTreeMap<String, f64>, LearningError> {
    if features >= targets.nrows() {
        return Ok(BTreeMap::new());
    }
    let eigenvalues = kernel.eigen.values.to_vec();
    let ridge =
        effective_ridge(&eigenvalues, features, RidgeCondition::Features).map_err(|error| {
            LearningError::Numerical { operation: "effective ridge", reason: error.to_string() }
        })?;
    let (error, mse) = judge(kernel.scores(targets, ridge.lambda).view(), &parts.test);
    let values =
        [("predicted error", error), ("predicted mse", mse), ("effective ridge", ridge.lambda)];
    Ok(values.map(|(name, value)| (name.to_owned(), value)).into())
}

/// Test error and mean squared error for each ridge.
fn point(
    features: usize,
    train: &Sample,
    lambdas: &[f64],
    scores: &[Array2<f64>],
    test: &Sample,
) -> CurvePoint {
    let mut values = BTreeMap::new();
    for (lambda, scores) in lambdas.iter().zip(scores) {
        let (error, mse) = judge(scores.view(), test);
        values.insert(format!("error {lambda:e}"), error);
        values.insert(format!("mse {lambda:e}"), mse);
    }
    CurvePoint { step: features as u64, epoch: features as f64 / train.rows() as f64, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_features_are_those_of_the_code() {
        let counts = Params::default().feature_counts();
        let start = [1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 21, 25, 30, 36, 43, 51];
        let end = [61, 73, 87, 104, 124, 148, 176, 210, 251, 299, 356, 425, 506, 604, 719];
        let last = [858, 1022, 1218, 1452, 1730, 2062, 2457, 2929, 3490, 4160, 4957, 5908, 7041];
        let all: Vec<usize> =
            start.iter().chain(&end).chain(&last).copied().chain([8391, 10_000]).collect();
        assert_eq!(counts, all);
    }
}
