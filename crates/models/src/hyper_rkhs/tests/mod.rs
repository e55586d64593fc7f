mod classifiers;
mod linear_time;
mod regressions;
mod settings;

use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_kernels::{GaussianHyper, HyperKernel, Kernel, Pairs, WishartHyper, total_variance};
use mercer_learning::conformance::Conformance;
use mercer_learning::{
    Convergence, Fitting, Learner, LearningError, Predictions, Sample, Settings, Shape, Targets,
    Task, fact, find,
};
use mercer_linalg::symmetric_eigen;
use ndarray::{Array1, Array2, ArrayView2, Axis, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use toml::{Table, Value};

fn golden() -> Table {
    let text = include_str!("../../../../../experiments/golden/hyper.toml");
    let golden: Table = text.parse().unwrap();
    golden["hyper-2"].as_table().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_float().unwrap()
}

fn numbers(value: &Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Points in a square, the right half of another class than the left.
fn square(rows: usize) -> Sample {
    let x = random(rows, 2, 43);
    let labels = x.rows().into_iter().map(|x| u32::from(x[0] > 0.5)).collect();
    Sample::classification(x, labels, 2).unwrap()
}

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(0.0..1.0))
}

fn gaussian(inputs: ArrayView2<'_, f64>) -> HyperKernel {
    let variance = total_variance(inputs);
    HyperKernel::Gaussian(GaussianHyper::constructed(variance, variance).unwrap())
}

fn halves(points: usize) -> Vec<u32> {
    (0..points).map(|i| u32::from(i * 7 % 11 > 4)).collect()
}

fn with(solver: PairSolver, lambda: f64) -> PairRidge {
    PairRidge { lambda, solver, ..PairRidge::default() }
}

fn close(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let norm = |m: &Array2<f64>| m.iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(&(a - b)) / norm(b)
}

/// The points, the labels as ±1, `s`, `sh` and `λ` of the golden example.
fn three() -> (Table, Array2<f64>, Array2<f64>, f64, f64, f64) {
    let golden = golden();
    let points = numbers(&golden["points"]).insert_axis(Axis(1));
    let labels = numbers(&golden["labels"]);
    let outer = |a: &Array1<f64>| a.view().insert_axis(Axis(1)).dot(&a.view().insert_axis(Axis(0)));
    let (s, sh) = (number(&golden["variance"]), number(&golden["spread"]));
    let lambda = number(&golden["lambda"]);
    let target = outer(&labels);
    (golden, points, target, s, sh, lambda)
}

/// `(H + λ m² I)⁻¹ vec(Y)` over ordered pairs, as the paper prints it.
fn over_ordered_pairs(
    hyper: &HyperKernel,
    inputs: ArrayView2<'_, f64>,
    target: &Array2<f64>,
    lambda: f64,
    test: ArrayView2<'_, f64>,
) -> Array2<f64> {
    let m = inputs.nrows();
    let of = |p: usize| (inputs.row(p / m), inputs.row(p % m));
    let mut gram = Array2::from_shape_fn((m * m, m * m), |(p, q)| hyper.of(of(p), of(q)));
    gram.diag_mut().mapv_inplace(|entry| entry + lambda * (m * m) as f64);
    let right = Array2::from_shape_fn((m * m, 1), |(p, _)| target[[p / m, p % m]]);
    let factor = mercer_linalg::Cholesky::factor(gram).unwrap();
    let beta = factor.solve(&right).unwrap();
    Array2::from_shape_fn((test.nrows(), m), |(i, j)| {
        (0..m * m).map(|p| beta[[p, 0]] * hyper.of(of(p), (test.row(i), inputs.row(j)))).sum()
    })
}

/// `‖k − k̂‖_A` by its definition over all pairs, and the norm of `k̂`.
fn in_the_norm_of_the_regression(
    learned: &Learned,
    exact: &Learned,
    inputs: ArrayView2<'_, f64>,
    lambda: f64,
) -> (f64, f64) {
    let kernel = &learned.kernel;
    assert_eq!((kernel.pairs(), kernel.points()), (exact.kernel.pairs(), exact.kernel.points()));
    let apart = &exact.kernel.coefficients() - &kernel.coefficients();
    let (hyper, points) = (kernel.hyper().clone(), kernel.points());
    let apart = mercer_kernels::LearnedKernel::new(hyper, points, kernel.pairs(), &apart).unwrap();
    let ridge = lambda * (inputs.nrows() * inputs.nrows()) as f64;
    let norm = |kernel: &mercer_kernels::LearnedKernel| {
        let values = kernel.gram(inputs, 2).mapv(|value| value * value).sum();
        (values + ridge * kernel.norm_squared(2)).sqrt()
    };
    (norm(&apart), norm(kernel))
}
