//! One repeat of the double-descent curve: test error of random-feature regression on a few
//! training rows, for many numbers of features and several ridges at once.
//!
//! For each `M` fresh features `Φ` are drawn. With `n` training rows and the eigenvalues of `ΦΦᵀ`
//! (`n × n`) all ridges cost one product each:
//! ```text
//! w_λ = Φᵀ (ΦΦᵀ + λ n I)⁻¹ Y,     λ = 0: the pseudo-inverse, Y one-hot
//! ```
//! The test features are computed once for each `M`, in blocks, and serve all ridges.

use mercer_harness::{Parts, Path};
use mercer_kernels::Kernel;
use mercer_learning::{Cost, Fitting, LearningError, Method, Sample, Settings, Shape, Tasks};
use mercer_linalg::{Eigen, cos, product, symmetric_eigen};
use mercer_records::CurvePoint;
use mercer_theory::{RidgeCondition, effective_ridge};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "double-descent",
        title: "RF ridge path",
        summary: "test error over numbers of features and ridges, one split",
        cites: "Li, Liu & Zhang (2022)",
        revision: 1,
        tasks: Tasks::Classification,
        cost: Cost { fit: "n_test d ΣM, ΣM = 4 largest", predict: "-", memory: "n_test d" },
        defaults,
        ..Path::METHOD
    },
    run,
};

/// Features of a block of the test product: `10000 × 512` single-precision numbers are 20 MB.
const BLOCK: usize = 512;

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
    let mut curve = vec![kernel.limit(parts, &params, &targets)];
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
        here.values.extend(kernel.at_effective_ridge(features, parts, &targets)?);
        curve.push(here);
    }
    Ok(curve)
}

/// The kernel that the features approach: `exp(−k² ‖x − x'‖² / 2) / 2`, since `φ = cos / √M`.
struct KernelSide {
    eigen: Eigen,
    cross: Array2<f64>,
}

impl KernelSide {
    fn new(parts: &Parts, std: f64) -> Result<Self, LearningError> {
        let kernel = Kernel::Gaussian { std };
        let gram = kernel.gram(parts.train.inputs()).mapv(|k| 0.5 * k);
        let cross = kernel.cross_gram(parts.test.inputs(), parts.train.inputs());
        Ok(Self { eigen: decompose(gram.view())?, cross: cross.mapv(|k| 0.5 * k) })
    }

    /// Kernel regression with the ridges of the path: what the features tend to.
    fn limit(&self, parts: &Parts, params: &Params, targets: &Array2<f64>) -> CurvePoint {
        let scores: Vec<Array2<f64>> = params
            .lambdas
            .iter()
            .map(|&lambda| self.cross.dot(&dual(&self.eigen, targets, lambda)))
            .collect();
        point(0, &parts.train, &params.lambdas, &scores, &parts.test)
    }

    /// Kernel ridge regression at the ridge that so few features amount to (Theorem 3).
    fn at_effective_ridge(
        &self,
        features: usize,
        parts: &Parts,
        targets: &Array2<f64>,
    ) -> Result<BTreeMap<String, f64>, LearningError> {
        if features >= targets.nrows() {
            return Ok(BTreeMap::new());
        }
        let eigenvalues = self.eigen.values.to_vec();
        let ridge =
            effective_ridge(&eigenvalues, features, RidgeCondition::Features).map_err(|error| {
                LearningError::Numerical { operation: "effective ridge", reason: error.to_string() }
            })?;
        let scores = [self.cross.dot(&dual(&self.eigen, targets, ridge.lambda))];
        let here = point(features, &parts.train, &[ridge.lambda], &scores, &parts.test);
        let renamed = here.values.into_iter().map(|(name, value)| {
            let metric = name.split(' ').next().unwrap_or_default().to_owned();
            (format!("predicted {metric}"), value)
        });
        Ok(renamed.chain([("effective ridge".to_owned(), ridge.lambda)]).collect())
    }
}

fn decompose(gram: ArrayView2<'_, f64>) -> Result<Eigen, LearningError> {
    symmetric_eigen(gram).map_err(|error| LearningError::Numerical {
        operation: "eigendecomposition",
        reason: error.to_string(),
    })
}

/// `(G + λ n I)⁺ Y`; eigenvalues at most `n ε` of the largest count as 0.
fn dual(eigen: &Eigen, targets: &Array2<f64>, lambda: f64) -> Array2<f64> {
    let n = targets.nrows() as f64;
    let largest = eigen.values.iter().fold(0.0f64, |a, &b| a.max(b));
    let cutoff = n * f64::EPSILON * largest;
    let inverse = eigen.values.mapv(|value| {
        let ridged = value.max(0.0) + lambda * n;
        if ridged > cutoff { 1.0 / ridged } else { 0.0 }
    });
    let rotated = eigen.vectors.t().dot(targets);
    eigen.vectors.dot(&(&rotated * &inverse.insert_axis(Axis(1))))
}

fn one_hot(sample: &Sample) -> Array2<f64> {
    let mut targets = Array2::zeros((sample.rows(), sample.task().outputs()));
    for (i, &label) in sample.labels().unwrap_or_default().iter().enumerate() {
        targets[[i, label as usize]] = 1.0;
    }
    targets
}

/// Test error and mean squared error for each ridge.
fn point(
    features: usize,
    train: &Sample,
    lambdas: &[f64],
    scores: &[Array2<f64>],
    test: &Sample,
) -> CurvePoint {
    let truth = test.labels().unwrap_or_default();
    let mut values = BTreeMap::new();
    for (lambda, scores) in lambdas.iter().zip(scores) {
        let (mut wrong, mut squares) = (0usize, 0.0);
        for (row, &label) in scores.rows().into_iter().zip(truth) {
            wrong += usize::from(mercer_learning::argmax(row) != label);
            let off = |(class, &score): (usize, &f64)| {
                (score - f64::from(u8::from(class == label as usize))).powi(2)
            };
            squares += row.iter().enumerate().map(off).sum::<f64>();
        }
        let rows = truth.len() as f64;
        values.insert(format!("error {lambda:e}"), wrong as f64 / rows);
        values.insert(format!("mse {lambda:e}"), squares / rows);
    }
    CurvePoint { step: features as u64, epoch: features as f64 / train.rows() as f64, values }
}

/// `φ(x) = cos(Oᵀx + b) / √M`, in single precision.
struct Features {
    frequencies: Array2<f32>,
    phases: Array1<f32>,
}

impl Features {
    fn draw(std: f64, d: usize, features: usize, rng: &mut impl Rng) -> Self {
        let normal = |rng: &mut _| -> f64 { StandardNormal.sample(rng) };
        let frequencies =
            Array2::from_shape_simple_fn((d, features), || (std * normal(rng)) as f32);
        let phases = Array1::from_shape_simple_fn(features, || rng.gen_range(0.0..TAU) as f32);
        Self { frequencies, phases }
    }

    fn of(&self, inputs: ArrayView2<'_, f32>) -> Array2<f32> {
        self.block(inputs, 0, self.phases.len())
    }

    /// The features from `start` to `end`.
    fn block(&self, inputs: ArrayView2<'_, f32>, start: usize, end: usize) -> Array2<f32> {
        let frequencies = self.frequencies.slice(s![.., start..end]);
        let phases = self.phases.slice(s![start..end]);
        let shape = (inputs.nrows(), end - start);
        let mut angles =
            phases.broadcast(shape).map_or_else(|| Array2::zeros(shape), |b| b.to_owned());
        product(1.0, inputs, frequencies, 1.0, angles.view_mut());
        let mut features = Array2::zeros(shape);
        if let (Some(from), Some(to)) = (angles.as_slice(), features.as_slice_mut()) {
            cos(from, to);
        }
        features / (self.phases.len() as f32).sqrt()
    }

    /// `Φ w` for each weight matrix, block by block of features.
    fn scores(&self, inputs: ArrayView2<'_, f32>, weights: &[Array2<f64>]) -> Vec<Array2<f64>> {
        let classes = weights.first().map_or(0, Array2::ncols);
        let views: Vec<_> = weights.iter().map(Array2::view).collect();
        // All ridges side by side: one product a block.
        let stacked = ndarray::concatenate(Axis(1), &views).unwrap_or_default().mapv(|w| w as f32);
        let mut total = Array2::<f32>::zeros((inputs.nrows(), stacked.ncols()));
        for start in (0..self.phases.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(self.phases.len());
            let phi = self.block(inputs, start, end);
            product(1.0, phi.view(), stacked.slice(s![start..end, ..]), 1.0, total.view_mut());
        }
        (0..weights.len())
            .map(|i| total.slice(s![.., i * classes..(i + 1) * classes]).mapv(f64::from))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

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

    #[test]
    fn without_a_ridge_and_with_enough_features_the_training_rows_are_interpolated() {
        let x = array![[0.0f32, 1.0], [1.0, 0.5], [-0.5, 0.2]];
        let mut rng = mercer_learning::Streams::root(1).rng("test");
        let draw = Features::draw(1.0, 2, 600, &mut rng);
        let targets = array![[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]];
        let phi = draw.of(x.view()).mapv(f64::from);
        let eigen = decompose(phi.dot(&phi.t()).view()).unwrap();
        let weights = phi.t().dot(&dual(&eigen, &targets, 0.0));
        let scores = &draw.scores(x.view(), &[weights])[0];
        for (a, b) in scores.iter().zip(&targets) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn the_dual_ridge_solution_is_the_primal_one() {
        let phi = array![[0.3, -0.2], [0.1, 0.9], [-0.4, 0.5]];
        let targets = array![[1.0], [0.0], [2.0]];
        let lambda = 0.05;
        let eigen = decompose(phi.dot(&phi.t()).view()).unwrap();
        let w = phi.t().dot(&dual(&eigen, &targets, lambda));
        // (ΦᵀΦ + λ n I) w = Φᵀ y
        let left = phi.t().dot(&phi).dot(&w) + &w * (3.0 * lambda);
        for (a, b) in left.iter().zip(&phi.t().dot(&targets)) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}
