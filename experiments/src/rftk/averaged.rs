//! One repeat of random-feature regression averaged over draws of its features, beside the kernel
//! regression that it amounts to.
//!
//! On the same training rows features are drawn again and again. Theorems 2 and 3 speak of the mean
//! predictor over such draws, `E f_M`, and of its variance, not of a single draw:
//! ```text
//! E f_M  ≈  k_x (K + tI)⁻¹ Y,      t = λn + (t/M) Tr[K(K + tI)⁻¹]      (λ = 0: the trace is M, or t = 0)
//! Var f_M(x)  =  (K(x,x) − k_x K⁻¹ k_xᵀ) · tr(Yᵀ K⁻¹ Y) / (M − n − 1)         λ = 0, Gaussian features
//! ```
//! The variance is summed over the classes. The distance between the mean predictor and the kernel's
//! is freed of what so few draws leave of the variance.

use super::few_rows::{Features, KernelSide, decompose, dual, judge, one_hot};
use mercer_harness::{Parts, Path};
use mercer_kernels::Kernel;
use mercer_learning::{Cost, Fitting, LearningError, Method, Settings, Shape, Tasks};
use mercer_records::CurvePoint;
use mercer_theory::{effective_ridge_beside, ridgeless_limit};
use ndarray::{Array1, Array2, Zip};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "averaged-features",
        title: "RF ridge averaged",
        summary: "random-feature ridge averaged over draws of its features, beside the kernel ridge that it amounts to, one split",
        cites: "Li, Liu & Zhang (2022)",
        revision: 2,
        tasks: Tasks::Classification,
        cost: Cost { fit: "n_test d draws ΣM, ΣM = 2105", predict: "-", memory: "n_test d" },
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
    /// Numbers of features.
    counts: Vec<usize>,
    /// Draws of each number of features.
    draws: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            std: 0.1,
            lambdas: vec![0.0, 1e-7, 1e-4, 1e-2],
            counts: vec![10, 25, 50, 70, 85, 95, 100, 105, 115, 150, 300, 1000],
            draws: 100,
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let targets = one_hot(&parts.train);
    let kernel = KernelSide::new(parts, params.std)?;
    let gaussian = GaussianVariance::new(parts, params.std, &kernel, &targets)?;
    let train = parts.train.inputs().mapv(|x| x as f32);
    let test = parts.test.inputs().mapv(|x| x as f32);
    let at = |features: usize, values| CurvePoint {
        step: features as u64,
        epoch: features as f64 / targets.nrows() as f64,
        values,
    };
    let mut curve = vec![at(0, kernels(&kernel, parts, &params, &targets))];
    for &features in &params.counts {
        let shape = (test.nrows(), targets.ncols());
        let mut sums: Vec<Draws> = params.lambdas.iter().map(|_| Draws::none(shape)).collect();
        for number in 0..params.draws {
            fitting.limits.check()?;
            let mut rng = fitting.streams.rng(&format!("features {features} draw {number}"));
            let draw = Features::draw(params.std, train.ncols(), features, &mut rng);
            let phi = draw.of(train.view()).mapv(f64::from);
            let eigen = decompose(phi.dot(&phi.t()).view())?;
            let weights: Vec<Array2<f64>> = params
                .lambdas
                .iter()
                .map(|&lambda| phi.t().dot(&dual(&eigen, &targets, lambda)))
                .collect();
            for (sum, scores) in sums.iter_mut().zip(draw.scores(test.view(), &weights)) {
                sum.add(&scores, judge(scores.view(), &parts.test));
            }
        }
        let mut values = BTreeMap::new();
        for (&lambda, sum) in params.lambdas.iter().zip(&sums) {
            let eigenvalues = kernel.eigen.values.to_vec();
            let ridge = effective_ridge_beside(&eigenvalues, features, lambda)
                .map_err(|error| fault(&error))?;
            let predicted = kernel.scores(&targets, ridge.lambda);
            let bare = kernel.scores(&targets, lambda);
            let mut put = |name: &str, value| values.insert(format!("{name} {lambda:e}"), value);
            put("effective ridge", ridge.lambda);
            let (error, mse) = judge(predicted.view(), &parts.test);
            put("predicted error", error);
            put("predicted mse", mse);
            put("predicted size", mean_square(&predicted));
            if let (true, Some(variance)) = (lambda == 0.0, gaussian.at(features)) {
                put("gaussian variance", variance);
            }
            for (name, value) in sum.numbers(&predicted, &bare, parts) {
                put(name, value);
            }
        }
        curve.push(at(features, values));
    }
    Ok(curve)
}

fn fault(error: &mercer_theory::TheoryError) -> LearningError {
    LearningError::Numerical { operation: "effective ridge", reason: error.to_string() }
}

/// Errors of the kernel that the features approach, which is half the Gaussian kernel, and of that
/// kernel itself, to which the same ridge is half as much.
fn kernels(
    kernel: &KernelSide,
    parts: &Parts,
    params: &Params,
    targets: &Array2<f64>,
) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    for &lambda in &params.lambdas {
        for (name, ridge) in [("", lambda), ("full ", 0.5 * lambda)] {
            let (error, mse) = judge(kernel.scores(targets, ridge).view(), &parts.test);
            values.insert(format!("{name}error {lambda:e}"), error);
            values.insert(format!("{name}mse {lambda:e}"), mse);
        }
    }
    values
}

/// What the variance of the ridgeless predictor would be with Gaussian features.
struct GaussianVariance {
    /// Mean over the test rows, summed over the classes, times `M − rank − 1`.
    scale: f64,
    rank: usize,
}

impl GaussianVariance {
    fn new(
        parts: &Parts,
        std: f64,
        kernel: &KernelSide,
        targets: &Array2<f64>,
    ) -> Result<Self, LearningError> {
        let gram = Kernel::Gaussian { std }.gram(parts.train.inputs()).mapv(|k| 0.5 * k);
        let own = Array1::from_elem(kernel.cross.nrows(), 0.5);
        let mut found = Self { scale: 0.0, rank: 0 };
        for class in targets.columns() {
            let limit = ridgeless_limit(gram.view(), kernel.cross.view(), own.view(), class)
                .map_err(|error| fault(&error))?;
            let features = limit.rank + 2;
            found.rank = limit.rank;
            found.scale += limit.excess_risk(features).map_err(|error| fault(&error))?.value;
        }
        Ok(found)
    }

    /// Nothing where it is infinite.
    fn at(&self, features: usize) -> Option<f64> {
        (features > self.rank + 1).then(|| self.scale / (features - self.rank - 1) as f64)
    }
}

/// Sums over the draws of the features.
struct Draws {
    count: f64,
    error: f64,
    mse: f64,
    scores: Array2<f64>,
    squares: Array2<f64>,
}

impl Draws {
    fn none(shape: (usize, usize)) -> Self {
        let zeros = Array2::zeros(shape);
        Self { count: 0.0, error: 0.0, mse: 0.0, scores: zeros.clone(), squares: zeros }
    }

    fn add(&mut self, scores: &Array2<f64>, (error, mse): (f64, f64)) {
        self.count += 1.0;
        self.error += error;
        self.mse += mse;
        self.scores += scores;
        Zip::from(&mut self.squares).and(scores).for_each(|sum, score| *sum += score * score);
    }

    /// Means over the draws of the errors of one, the errors of the mean predictor, the variance of a
    /// draw, and the squared distance of the mean predictor to two others.
    fn numbers(
        &self,
        predicted: &Array2<f64>,
        bare: &Array2<f64>,
        parts: &Parts,
    ) -> [(&'static str, f64); 7] {
        let (rows, count) = (self.scores.nrows() as f64, self.count);
        let mean = &self.scores / count;
        let (error, mse) = judge(mean.view(), &parts.test);
        let spread = self.squares.sum() - count * (&mean * &mean).sum();
        let variance = (spread / (count - 1.0).max(1.0) / rows).max(0.0);
        // The mean of so few draws is off by so much in itself.
        let apart = |other: &Array2<f64>| mean_square(&(&mean - other)) - variance / count;
        [
            ("error", self.error / count),
            ("mse", self.mse / count),
            ("averaged error", error),
            ("averaged mse", mse - variance / count),
            ("variance", variance),
            ("squared distance", apart(predicted)),
            ("bare squared distance", apart(bare)),
        ]
    }
}

/// Mean over the rows of the sum of squares.
fn mean_square(scores: &Array2<f64>) -> f64 {
    scores.iter().map(|score| score * score).sum::<f64>() / scores.nrows() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::{Sample, Streams};
    use rand::Rng;
    use rand_distr::StandardNormal;

    /// Three classes in eight dimensions: 30 rows to learn from, 200 to judge by.
    fn parts() -> Parts {
        let mut rng = Streams::root(1).rng("rows");
        let mut sample = |rows: usize| {
            let inputs: Array2<f64> =
                Array2::from_shape_simple_fn((rows, 8), || rng.sample(StandardNormal));
            let label = |x: ndarray::ArrayView1<'_, f64>| {
                u32::from(x[0] > 0.3) + u32::from(x[0] > 0.3 && x[1] > 0.0)
            };
            let labels = inputs.rows().into_iter().map(label).collect();
            Sample::classification(inputs, labels, 3).unwrap()
        };
        Parts { train: sample(30), test: sample(200) }
    }

    fn curve(params: &Params) -> Vec<CurvePoint> {
        run(&parts(), &Settings::of(params), &mut Fitting::seeded(3)).unwrap()
    }

    fn few(counts: &[usize], draws: usize) -> Params {
        Params { std: 0.4, counts: counts.to_vec(), draws, ..Params::default() }
    }

    #[test]
    fn the_mean_over_draws_is_nearer_to_the_kernel_at_the_effective_ridge() {
        let curve = curve(&few(&[10, 20], 200));
        for point in &curve[1..] {
            let at = |name: &str| point.values[name];
            for lambda in ["0e0", "1e-4", "1e-2"] {
                let near = at(&format!("squared distance {lambda}"));
                let bare = at(&format!("bare squared distance {lambda}"));
                assert!(near < 0.5 * bare, "M = {}, {lambda}: {near}, {bare}", point.step);
            }
            assert!(at("averaged mse 0e0") < at("mse 0e0"));
            // One draw errs as the mean does, and by its variance.
            let both = at("averaged mse 0e0") + at("variance 0e0");
            assert!((at("mse 0e0") - both).abs() < 1e-6 * both, "{} {both}", at("mse 0e0"));
        }
    }

    #[test]
    fn the_printed_features_miss_the_kernel_by_half_of_it() {
        let parts = parts();
        let (x, std) = (parts.train.inputs(), 0.3);
        let kernel = Kernel::Gaussian { std }.gram(x);
        let x = x.mapv(|value| value as f32);
        let mut rng = Streams::root(5).rng("features");
        let phi = Features::draw(std, 8, 100_000, &mut rng).of(x.view()).mapv(f64::from);
        let missed = &kernel - &phi.dot(&phi.t());
        let norm = |matrix: &Array2<f64>| matrix.iter().map(|v| v * v).sum::<f64>().sqrt();
        let share = norm(&missed) / norm(&kernel);
        assert!((share - 0.5).abs() < 0.02, "{share}");
    }

    #[test]
    fn beyond_the_rows_the_mean_is_the_ridgeless_kernel_and_the_variance_falls_as_stated() {
        let params = few(&[200, 400], 100);
        let curve = curve(&params);
        let at = |point: usize, name: &str| curve[point].values[name];
        let kernel = &curve[0].values;
        for point in [1, 2] {
            let values = &curve[point].values;
            assert_eq!(values.get("effective ridge 0e0"), Some(&0.0));
            assert_eq!(values.get("predicted error 0e0"), kernel.get("error 0e0"));
            assert!(at(point, "squared distance 0e0") < at(point, "variance 0e0"));
        }
        let fall = |name: &str| at(1, name) / at(2, name);
        let stated = fall("gaussian variance 0e0");
        assert!((fall("variance 0e0") / stated - 1.0).abs() < 0.5, "{stated}");
        // The ridge is half as much to the whole kernel as to half of it; none is none.
        assert_eq!(kernel.get("full mse 0e0"), kernel.get("mse 0e0"));
        assert_ne!(kernel.get("full mse 1e-2"), kernel.get("mse 1e-2"));
        let again = run(&parts(), &Settings::of(&params), &mut Fitting::seeded(3)).unwrap();
        assert_eq!(curve, again, "the same seed gives the same curve");
    }
}
