//! One trial of random Fourier features for the third factor of the Gaussian hyper-kernel, beside
//! landmark pairs.
//!
//! The factor of the means is a Gaussian kernel of them,
//! `exp(−‖c − c'‖²/(2τ)) = E cos(ω·(c − c'))` with `ω ~ N(0, I/τ)`, so
//! ```text
//! h(p, q) ≈ ψ(p)·ψ(q),      ψ(p) = a_p (2/D)^½ (cos ω_k·c_p, sin ω_k·c_p)_k,      a_p = exp(−‖x − x'‖²/(2 sp))
//! ```
//! with `c_p` the mean of a pair and `D/2` frequencies: a ridge regression of `D` columns over all pairs.

use super::exact_path::{Labelled, TARGETS};
use mercer_harness::{Parts, Path};
use mercer_kernels::{
    GaussianHyper, HyperKernel, LearnedKernel, Pairs, std_of_bandwidth, total_variance,
};
use mercer_learning::{Cost, Fitting, LearningError, Method, Settings, Shape, Tasks};
use mercer_linalg::{Cholesky, JITTER_LADDER, product, symmetric_product};
use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairTarget};
use mercer_records::{CurvePoint, OPEN};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "third-factor",
        title: "random features of the third factor",
        summary: "error of a learned kernel from random features of means, and from landmark pairs",
        cites: "this project, after Liu, Shi, Huang, Yang & Suykens (2021)",
        revision: 2,
        tasks: Tasks::Classification,
        cost: Cost { fit: "n^2 D^2, D = 820", predict: "-", memory: "n^4/8 + n^2 D/2, D = 820" },
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
    /// Landmarks `M`; the random features are as many as the pairs of each, `M (M + 1)/2`.
    landmarks: Vec<usize>,
    /// `λ`.
    lambda: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { points: 108, test_points: 200, landmarks: vec![7, 14, 28, 40], lambda: 1e-3 }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// Columns of the factor of the solver in linear time that is counted.
const RANK: f64 = 25.0;

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let labelled = Labelled::of(&parts.train, params.points, "labelled", fitting);
    let test = Labelled::of(&parts.test, params.test_points, "test", fitting);
    let (points, m) = (labelled.points.view(), labelled.labels.len());
    let variance = total_variance(points);
    let gaussian = GaussianHyper::constructed(variance, variance).map_err(|e| failed(&e))?;
    let hyper = HyperKernel::Gaussian(gaussian);
    let known = labelled.target(TARGETS[0], variance);
    let target = PairTarget::matrix(known.view())?;
    let learn = |solver, landmarks| -> Result<(LearnedKernel, bool), LearningError> {
        let ridge = PairRidge {
            lambda: params.lambda,
            solver,
            landmarks,
            tolerance: 1e-10,
            rank: RANK as usize,
            rank_tolerance: 1e-15,
            ..PairRidge::default()
        };
        let learned = ridge.learn(&hyper, points, &target, fitting)?;
        let open = learned.convergence.warning().is_some();
        Ok((learned.kernel, open))
    };
    let block = |kernel: &LearnedKernel| kernel.block(test.points.view(), points, fitting.threads);
    let (exact, open) = learn(PairSolver::ConjugateGradients, None)?;
    let exact = block(&exact);
    let apart = |values: &Array2<f64>| {
        let norm = |a: &Array2<f64>| a.iter().map(|v| v * v).sum::<f64>().sqrt();
        norm(&(values - &exact)) / norm(&exact)
    };
    let mut curve = Vec::new();
    for &landmarks in params.landmarks.iter().filter(|&&landmarks| landmarks <= m) {
        fitting.limits.check()?;
        let size = Pairs::count(landmarks);
        let mut values = BTreeMap::from([
            ("points".to_owned(), m as f64),
            ("test points".to_owned(), test.labels.len() as f64),
        ]);
        let nystrom = block(&learn(PairSolver::Nystrom, Some(landmarks))?.0);
        let linear = block(&learn(PairSolver::LinearTime, Some(landmarks))?.0);
        values.insert(OPEN.to_owned(), f64::from(u8::from(open)));
        let random = Random::learn(&gaussian, points, &known, size, params.lambda, fitting)?;
        let random = random.block(test.points.view(), points);
        let found = [("nystrom", nystrom), ("linear time", linear), ("random features", random)];
        values.extend(found.map(|(name, found)| (format!("error {name}"), apart(&found))));
        values
            .extend(operations(m as f64, landmarks).map(|(name, count)| (name.to_owned(), count)));
        curve.push(CurvePoint { step: size as u64, epoch: 0.0, values });
    }
    Ok(curve)
}

/// Multiply-adds of the normal matrix over all pairs with a factor of 25 columns: products of two columns are exponentials
/// of sums and differences of two frequencies, none of them alike but for their order; products of two landmark pairs are
/// multisets of four landmarks.
fn operations(m: f64, landmarks: usize) -> [(&'static str, f64); 2] {
    let d = Pairs::count(landmarks) as f64;
    let four = (0..4).map(|i| landmarks as f64 + f64::from(i));
    let multisets = four.product::<f64>() / 24.0;
    [
        ("operations random features", m * RANK * d * d / 2.0),
        ("operations linear time", m * RANK * multisets),
    ]
}

/// A kernel learned in the span of random features of means.
struct Random {
    gaussian: GaussianHyper,
    /// `D/2 × d`, of standard deviation `τ^(−½)`.
    frequencies: Array2<f64>,
    weights: Array1<f64>,
}

impl Random {
    /// Without a kernel yet; an odd `D` is one more.
    fn drawn(
        gaussian: &GaussianHyper,
        inputs: usize,
        columns: usize,
        fitting: &Fitting<'_>,
    ) -> Self {
        let mut rng = fitting.streams.rng("frequencies");
        let std = std_of_bandwidth(gaussian.mean_variance().sqrt());
        let normal = || {
            let (u, v): (f64, f64) = (rng.gen_range(f64::MIN_POSITIVE..1.0), rng.r#gen());
            std * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        let frequencies = Array2::from_shape_simple_fn((columns.div_ceil(2), inputs), normal);
        Self { gaussian: *gaussian, frequencies, weights: Array1::zeros(0) }
    }

    /// `(Ψᵀ W Ψ + λ m² I) w = Ψᵀ W y` over unordered pairs with their weights.
    fn learn(
        gaussian: &GaussianHyper,
        points: ArrayView2<'_, f64>,
        target: &Array2<f64>,
        columns: usize,
        lambda: f64,
        fitting: &Fitting<'_>,
    ) -> Result<Self, LearningError> {
        let mut learned = Self::drawn(gaussian, points.ncols(), columns, fitting);
        let m = points.nrows();
        let pairs = Pairs::all(m);
        let mut features = learned.features(points, points, pairs.as_slice());
        let roots: Array1<f64> = pairs.weights().map(f64::sqrt).collect();
        features *= &roots.view().insert_axis(Axis(1));
        let y: Array1<f64> = pairs.as_slice().iter().map(|&(i, j)| target[[i, j]]).collect();
        let right = features.t().dot(&(y * roots)).insert_axis(Axis(1));
        let mut normal = symmetric_product(features.view());
        normal.diag_mut().mapv_inplace(|entry| entry + lambda * (m * m) as f64);
        let solved = Cholesky::with_jitter(normal, &JITTER_LADDER)
            .and_then(|(factor, _)| factor.solve(&right));
        learned.weights = solved.map_err(|error| failed(&error))?.remove_axis(Axis(1));
        Ok(learned)
    }

    /// `ψ` of pairs of the rows of `left` and `right`, one a row.
    fn features(
        &self,
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
        pairs: &[(usize, usize)],
    ) -> Array2<f64> {
        let half = self.frequencies.nrows();
        let phases = |points: ArrayView2<'_, f64>| {
            let mut phases = Array2::zeros((points.nrows(), half));
            product(0.5, points, self.frequencies.t(), 0.0, phases.view_mut());
            phases
        };
        let (own, other) = (phases(left), phases(right));
        let mut features = Array2::zeros((pairs.len(), 2 * half));
        for (&(i, j), mut row) in pairs.iter().zip(features.rows_mut()) {
            let squared: f64 =
                left.row(i).iter().zip(right.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
            let scale = (-squared / (2.0 * self.gaussian.pair_variance())).exp()
                * (1.0 / half as f64).sqrt();
            for k in 0..half {
                let (sin, cos) = (own[[i, k]] + other[[j, k]]).sin_cos();
                row[k] = scale * cos;
                row[half + k] = scale * sin;
            }
        }
        features
    }

    /// `k(x_i, z_j)`.
    fn block(&self, left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut values = Array2::zeros((left.nrows(), right.nrows()));
        for (i, mut row) in values.rows_mut().into_iter().enumerate() {
            let pairs: Vec<(usize, usize)> = (0..right.nrows()).map(|j| (i, j)).collect();
            row.assign(&self.features(left, right, &pairs).dot(&self.weights));
        }
        values
    }
}

fn failed(error: &dyn std::fmt::Display) -> LearningError {
    LearningError::Numerical {
        operation: "regression with random features of pairs",
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Streams;

    #[test]
    fn products_of_features_are_the_hyper_kernel_in_the_mean() {
        let x = mercer_datasets::stand_in(6, 3, 2, &mut Streams::root(2).rng("data"));
        let variance = total_variance(x.inputs());
        let gaussian = GaussianHyper::constructed(variance, variance).unwrap();
        let random = Random::drawn(&gaussian, 3, 20_000, &Fitting::seeded(1));
        let pairs = Pairs::all(6);
        let features = random.features(x.inputs(), x.inputs(), pairs.as_slice());
        let row = |i: usize| x.inputs().row(i).to_owned();
        let mut worst = 0.0f64;
        for (p, &(i, j)) in pairs.as_slice().iter().enumerate() {
            for (q, &(k, l)) in pairs.as_slice().iter().enumerate() {
                let (a, b, c, d) = (row(i), row(j), row(k), row(l));
                let truth = gaussian.of((a.view(), b.view()), (c.view(), d.view()));
                worst = worst.max((features.row(p).dot(&features.row(q)) - truth).abs());
            }
        }
        // One over the root of 10,000 frequencies, and 21 · 22/2 of them.
        assert!(worst < 0.04, "{worst}");
    }

    #[test]
    fn landmark_pairs_come_nearer_than_as_many_random_features() {
        let of = |rows, stream: &str| {
            mercer_datasets::stand_in(rows, 3, 2, &mut Streams::root(4).rng(stream))
        };
        let parts = Parts { train: of(40, "train"), test: of(20, "test") };
        let settings = Settings::new().with("landmarks", vec![5, 10, 20]);
        let curve = run(&parts, &settings, &mut Fitting::seeded(1)).unwrap();
        assert_eq!(curve.iter().map(|point| point.step).collect::<Vec<_>>(), [15, 55, 210]);
        let of = |name: &str| -> Vec<f64> {
            curve.iter().map(|point| point.values[&format!("error {name}")]).collect()
        };
        let (nystrom, linear, random) = (of("nystrom"), of("linear time"), of("random features"));
        assert!(nystrom[2] < nystrom[0] && random[2] < random[0]);
        assert!(nystrom[2] < random[2], "{nystrom:?} {random:?}");
        // Few columns leave a little of the kernel.
        for (a, b) in nystrom.iter().zip(&linear) {
            assert!((a - b).abs() < 0.02 && (a - b).abs() > 1e-9, "{nystrom:?} {linear:?}");
        }
    }
}
