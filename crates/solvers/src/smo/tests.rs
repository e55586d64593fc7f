//! Golden optima of six points, optimality conditions on random problems, and scikit-learn.

use super::*;
use crate::golden::{number, numbers};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use ndarray::{Array1, Array2, ArrayView1, array};
use proptest::prelude::*;
use toml::{Table, Value};

fn golden() -> Value {
    let all: Table = include_str!("../../../../experiments/golden/base.toml").parse().unwrap();
    all["base-9"].clone()
}

/// The six points of the golden values, their labels, and the test point.
pub(super) fn toy() -> (Array2<f64>, [bool; 6], Array2<f64>) {
    let points = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [2.0, 2.0]];
    (points, [true, true, false, true, false, false], array![[1.5, 0.5]])
}

fn kernel(
    left: &Array2<f64>,
    right: &Array2<f64>,
    of: impl Fn(ArrayView1<'_, f64>, ArrayView1<'_, f64>) -> f64,
) -> Array2<f64> {
    Array2::from_shape_fn((left.nrows(), right.nrows()), |(i, j)| of(left.row(i), right.row(j)))
}

fn gaussian(x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
    (-0.5 * (&x - &z).mapv(|d| d * d).sum()).exp()
}

const EXACT: Smo =
    Smo { tolerance: 1e-13, cache_bytes: 1 << 20, max_steps: Some(100_000), shrinking: true };

fn solve(gram: &Array2<f64>, dual: &Dual, smo: Smo) -> Solution {
    smo.solve(&Precomputed::new(gram.view()).unwrap(), dual).unwrap()
}

#[test]
fn golden_classifications() {
    let golden = golden();
    let (x, signs, test) = toy();
    let (gram, cross) = (kernel(&x, &x, gaussian), kernel(&test, &x, gaussian));
    for (row, cost) in [1.0, 2.5].into_iter().enumerate() {
        let near = |found: f64, name: &str| {
            assert_relative_eq!(found, number(&golden[name][row]), max_relative = 1e-8);
        };
        let dual = Dual::classification(&signs, cost).unwrap();
        let solution = solve(&gram, &dual, EXACT);
        assert!(solution.violation <= 1e-12, "{solution:?}");
        let found: Array1<f64> = solution.weights.mapv(f64::abs);
        assert_abs_diff_eq!(found, numbers(&golden["weights"][row]), epsilon = 1e-8);
        near(solution.bias, "biases");
        near(solution.objective, "minima");
        near(solution.decision(cross.view())[0], "decisions");
    }
}

#[test]
fn golden_regressions() {
    let golden = golden();
    let x = array![[0.0], [0.5], [1.0], [1.7], [2.2], [3.0]];
    let z = array![0.0, 0.8, 0.9, 0.3, -0.4, -1.0];
    let (gram, cross) = (kernel(&x, &x, gaussian), kernel(&array![[1.3]], &x, gaussian));
    let one = Array1::<f64>::ones(6);
    let cases = [(1.0, one.clone()), (0.5, array![1.0, 2.0, 2.0, 1.0, 2.0, 1.0]), (10.0, one)];
    for (row, (cost, weights)) in cases.into_iter().enumerate() {
        let near = |found: f64, name: &str| {
            assert_relative_eq!(found, number(&golden[name][row]), max_relative = 1e-8);
        };
        let dual = Dual::regression(z.view(), 0.1, cost).unwrap().weighted(weights.view()).unwrap();
        let solution = solve(&gram, &dual, EXACT);
        let beta = numbers(&golden["regression-weights"][row]);
        assert_abs_diff_eq!(solution.weights, beta, epsilon = 1e-8);
        near(solution.bias, "regression-biases");
        near(solution.objective, "regression-minima");
        // No value at 1.3 was handed down for the last.
        if row < 2 {
            near(solution.decision(cross.view())[0], "regression-decisions");
        }
    }
}

/// Points on a noisy ring around others, from a generator of its own.
fn ring(n: usize, seed: u64) -> (Array2<f64>, Vec<bool>) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut points = Array2::zeros((n, 3));
    let signs = (0..n).map(|t| t % 2 == 0).collect();
    for t in 0..n {
        let radius = if t % 2 == 0 { 1.0 } else { 1.6 } + 0.9 * (uniform() - 0.5);
        let angle = std::f64::consts::TAU * uniform();
        points.row_mut(t).assign(&array![radius * angle.cos(), radius * angle.sin(), uniform()]);
    }
    (points, signs)
}

/// The violation of optimality, from the definition: every allowed direction, every gradient anew.
fn violation(gram: &Array2<f64>, dual: &Dual, weights: &Array1<f64>) -> f64 {
    let gradient = gram.dot(weights) - &dual.targets;
    let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
    for t in 0..weights.len() {
        let w = weights[t];
        if w < dual.upper[t] {
            least = least.min(gradient[t] + if w >= 0.0 { dual.epsilon } else { -dual.epsilon });
        }
        if w > dual.lower[t] {
            largest = largest.max(gradient[t] + if w > 0.0 { dual.epsilon } else { -dual.epsilon });
        }
    }
    (largest - least).max(0.0)
}

fn objective(gram: &Array2<f64>, dual: &Dual, weights: &Array1<f64>) -> f64 {
    let penalty: f64 = weights.iter().map(|w| w.abs()).sum();
    0.5 * weights.dot(&gram.dot(weights)) - dual.targets.dot(weights) + dual.epsilon * penalty
}

proptest! {
    #[test]
    fn the_optimality_conditions_hold(
        seed in 0u64..500, n in 2usize..150, log_cost in -3.0..3.0f64, epsilon in 0.0..0.4f64,
        classes: bool, shrinking: bool, indefinite: bool,
    ) {
        let (x, signs) = ring(n, seed);
        let gram = if indefinite {
            kernel(&x, &x, |x, z| (x.dot(&z) - 1.0).tanh())
        } else {
            kernel(&x, &x, gaussian)
        };
        let dual = if classes {
            Dual::classification(&signs, log_cost.exp2()).unwrap()
        } else {
            Dual::regression(x.column(2), epsilon, log_cost.exp2()).unwrap()
        };
        let weights: Array1<f64> = (0..n).map(|t| 0.5 + (t % 3) as f64).collect();
        let dual = dual.weighted(weights.view()).unwrap();
        let smo = Smo { tolerance: 1e-6, shrinking, ..Smo::default() };
        let solution = solve(&gram, &dual, smo);
        prop_assert!(solution.converged, "{} steps, {}", solution.steps, solution.violation);
        prop_assert!(violation(&gram, &dual, &solution.weights) <= 1e-6 + 1e-10);
        prop_assert!(solution.weights.sum().abs() <= 1e-10 * n as f64);
        for t in 0..n {
            prop_assert!((dual.lower[t]..=dual.upper[t]).contains(&solution.weights[t]));
        }
        let direct = objective(&gram, &dual, &solution.weights);
        prop_assert!((solution.objective - direct).abs() <= 1e-9 * (1.0 + direct.abs()));
        prop_assert!(solution.objective <= 1e-12);
    }
}

/// A kernel that computes its rows, and counts them.
struct Computed<'a> {
    points: &'a Array2<f64>,
    values: std::cell::Cell<usize>,
}

impl KernelRows for Computed<'_> {
    fn size(&self) -> usize {
        self.points.nrows()
    }
    fn diagonal(&self, _: usize) -> f64 {
        1.0
    }
    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
        self.values.set(self.values.get() + columns.len());
        for (value, &column) in values.iter_mut().zip(columns) {
            *value = gaussian(self.points.row(row), self.points.row(column));
        }
    }
}

/// A regression and a classification, converged and cut off, whole and with points set aside.
#[test]
fn a_run_that_met_no_bound_is_the_run_of_any_larger_cost() {
    let (x, signs) = ring(150, 5);
    let gram = kernel(&x, &x, gaussian);
    let targets: Array1<f64> = x.rows().into_iter().map(|row| row[0].sin() + row[1]).collect();
    for max_steps in [40, 100_000] {
        let smo = Smo { max_steps: Some(max_steps), ..Smo::default() };
        for tube in [true, false] {
            let dual = |cost| {
                if tube {
                    Dual::regression(targets.view(), 0.01, cost).unwrap()
                } else {
                    Dual::classification(&signs, cost).unwrap()
                }
            };
            let (mut met, mut unmet) = (0, 0);
            for power in -2..8 {
                let cost = 10f64.powi(power);
                let found = solve(&gram, &dual(cost), smo);
                let at_bound = found.weights.iter().any(|weight| weight.abs() >= cost);
                assert!(found.bounded || !at_bound);
                if found.bounded {
                    met += 1;
                    continue;
                }
                unmet += 1;
                assert_eq!(solve(&gram, &dual(17.0 * cost), smo), found, "{tube}, {cost:e}");
            }
            assert!(met > 0 && unmet > 1, "{tube}, {max_steps} steps: {met} and {unmet}");
        }
    }
}

#[test]
fn neither_shrinking_nor_the_cache_nor_the_oracle_changes_the_optimum() {
    let (x, signs) = ring(700, 3);
    let gram = kernel(&x, &x, gaussian);
    let dual = Dual::classification(&signs, 100.0).unwrap();
    let smo = Smo { tolerance: 1e-8, ..Smo::default() };
    let reference = solve(&gram, &dual, Smo { shrinking: false, ..smo });
    assert!(reference.converged && reference.set_aside == 0);
    let shrunk = solve(&gram, &dual, smo);
    assert!(shrunk.converged && shrunk.set_aside > 200, "{} set aside", shrunk.set_aside);
    assert_relative_eq!(shrunk.objective, reference.objective, max_relative = 1e-9);
    for (bytes, shrinking) in [(200 << 20, true), (200 << 20, false), (60_000, true), (0, true)] {
        let oracle = Computed { points: &x, values: 0.into() };
        let smo = Smo { cache_bytes: bytes, shrinking, ..smo };
        let found = smo.solve(&oracle, &dual).unwrap();
        assert!(found.converged, "{bytes} bytes: {}", found.violation);
        assert_relative_eq!(found.objective, reference.objective, max_relative = 1e-9);
        let gap = (found.decision(gram.view()) - reference.decision(gram.view()))
            .mapv(f64::abs)
            .fold(0.0, |a: f64, &b| a.max(b));
        assert!(gap < 1e-6, "{bytes} bytes, {shrinking}: {gap}");
        if bytes > 1 << 20 && !shrinking {
            assert!(oracle.values.get() <= 700 * 700, "no row is computed twice");
        }
    }
}

#[test]
fn a_transposed_matrix_is_read_right() {
    let (x, signs) = ring(40, 5);
    let gram = kernel(&x, &x, gaussian);
    let dual = Dual::classification(&signs, 2.0).unwrap();
    let rows = solve(&gram, &dual, EXACT);
    let smo = EXACT.solve(&Precomputed::new(gram.t()).unwrap(), &dual).unwrap();
    assert_abs_diff_eq!(smo.weights, rows.weights, epsilon = 1e-12);
}

#[test]
fn a_start_at_other_weights_ends_at_the_same_optimum() {
    let (x, signs) = ring(400, 7);
    let gram = kernel(&x, &x, gaussian);
    let rows = Precomputed::new(gram.view()).unwrap();
    let smo = Smo { tolerance: 1e-7, ..Smo::default() };
    let small = smo.solve(&rows, &Dual::classification(&signs, 4.0).unwrap()).unwrap();
    let dual = Dual::classification(&signs, 8.0).unwrap();
    let cold = smo.solve(&rows, &dual).unwrap();
    let warm = smo.solve_from(&rows, &dual, (2.0 * &small.weights).view()).unwrap();
    assert!(warm.converged && cold.converged);
    assert_relative_eq!(warm.objective, cold.objective, max_relative = 1e-9);
    let again = smo.solve_from(&rows, &dual, cold.weights.view()).unwrap();
    assert!(again.converged && again.steps < 3, "{} steps from the optimum", again.steps);
    assert_abs_diff_eq!(again.bias, cold.bias, epsilon = 1e-7);
    for (bad, says) in [
        (Array1::from_elem(400, 1.0), "outside"),
        (Array1::zeros(3), "starting weights"),
        (Array1::from_shape_fn(400, |t| if t == 0 { 1.0 } else { 0.0 }), "sum to"),
    ] {
        let refused = smo.solve_from(&rows, &dual, bad.view()).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn a_run_that_is_cut_short_says_so() {
    let (x, signs) = ring(300, 9);
    let gram = kernel(&x, &x, gaussian);
    let dual = Dual::classification(&signs, 10.0).unwrap();
    let short = solve(&gram, &dual, Smo { max_steps: Some(20), ..Smo::default() });
    assert!(!short.converged && short.steps == 20 && short.violation > 1e-3, "{short:?}");
    assert_relative_eq!(
        short.violation,
        violation(&gram, &dual, &short.weights),
        max_relative = 1e-9
    );
    let rows = Precomputed::new(gram.view()).unwrap();
    let stopped: Result<Solution, SolverError> =
        Smo::default()
            .solve_checked(&rows, &dual, None, || Err(SolverError::OneSign { points: 7 }));
    assert_eq!(stopped, Err(SolverError::OneSign { points: 7 }));
}

#[test]
fn duplicate_points_and_targets_inside_the_tube_are_no_trouble() {
    let x = array![[0.0], [0.0], [1.0], [1.0]];
    let gram = kernel(&x, &x, gaussian);
    let dual = Dual::classification(&[true, false, true, false], 3.0).unwrap();
    let solution = solve(&gram, &dual, EXACT);
    assert!(solution.converged);
    assert_abs_diff_eq!(solution.decision(gram.view()), Array1::zeros(4), epsilon = 1e-12);
    let dual = Dual::regression(array![7.0, 7.1, 7.0, 7.05].view(), 0.5, 3.0).unwrap();
    let solution = solve(&gram, &dual, EXACT);
    assert!(solution.converged && solution.support() == 0 && solution.steps == 0);
    assert_relative_eq!(solution.bias, 7.05, max_relative = 1e-12);
}

#[test]
fn what_cannot_be_solved_is_refused_by_name() {
    let gram = array![[1.0, f64::NAN], [f64::NAN, 1.0]];
    let dual = Dual::classification(&[true, false], 1.0).unwrap();
    let rows = Precomputed::new(gram.view()).unwrap();
    let smo = Smo::default();
    assert!(matches!(
        smo.solve(&rows, &dual),
        Err(SolverError::NotFinite { what: "the kernel", .. })
    ));
    let gram = array![[f64::INFINITY, 0.0], [0.0, 1.0]];
    let rows = Precomputed::new(gram.view()).unwrap();
    let refused = smo.solve(&rows, &dual).unwrap_err().to_string();
    assert!(refused.contains("diagonal contains inf"), "{refused}");
    assert!(matches!(
        Precomputed::new(Array2::zeros((2, 3)).view()),
        Err(SolverError::Lengths { expected: 2, found: 3, .. })
    ));
    let gram = Array2::eye(3);
    let rows = Precomputed::new(gram.view()).unwrap();
    assert!(matches!(
        smo.solve(&rows, &dual),
        Err(SolverError::Lengths { expected: 2, found: 3, .. })
    ));
    let loose = Smo { tolerance: 0.0, ..smo };
    assert!(matches!(
        loose.solve(&rows, &dual),
        Err(SolverError::Setting { name: "tolerance", .. })
    ));
    assert_eq!(Dual::classification(&[true, true], 1.0), Err(SolverError::OneSign { points: 2 }));
    let z = array![0.0, 1.0];
    for (cost, epsilon, name) in
        [(0.0, 0.1, "cost"), (f64::NAN, 0.1, "cost"), (1.0, -0.1, "epsilon")]
    {
        match Dual::regression(z.view(), epsilon, cost) {
            Err(SolverError::Setting { name: named, .. }) => assert_eq!(named, name),
            other => panic!("{other:?}"),
        }
    }
    assert!(Dual::regression(array![f64::NAN].view(), 0.1, 1.0).is_err());
    assert!(Dual::regression(Array1::zeros(0).view(), 0.1, 1.0).is_err());
    assert!(dual.clone().weighted(array![1.0].view()).is_err());
    assert!(dual.weighted(array![1.0, 0.0].view()).is_err());
}
