use super::*;
use crate::{Precomputed, Smo};
use approx::assert_relative_eq;
use ndarray::array;
use proptest::prelude::*;

/// Numbers between −1 and 1 that look random.
fn numbers(count: usize, seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count).map(move |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        2.0 * (state >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    })
}

fn matrix(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    Array2::from_shape_vec((rows, columns), numbers(rows * columns, seed).collect()).unwrap()
}

const EXACT: InteriorPoint = InteriorPoint { tolerance: 1e-9, max_steps: 100 };

/// Both solvers on the same dual: the objective is the same, and so is the function.
fn agree(features: &Array2<f64>, dual: &Dual, what: &str) -> Solution {
    let found = EXACT.solve(features.view(), dual).unwrap();
    assert!(found.converged, "{what}: {} after {} steps", found.violation, found.steps);
    assert!(found.weights.sum().abs() <= 1e-9 * found.weights.mapv(f64::abs).sum(), "{what}");
    for (t, weight) in found.weights.iter().enumerate() {
        assert!((dual.lower[t]..=dual.upper[t]).contains(weight), "{what}: {t}, {weight}");
    }
    let gram = features.dot(&features.t());
    let smo = Smo { tolerance: 1e-9, ..Smo::default() };
    let other = smo.solve(&Precomputed::new(gram.view()).unwrap(), dual).unwrap();
    let apart = (found.objective - other.objective).abs();
    assert!(apart <= 1e-8 * other.objective.abs().max(1e-8), "{what}: {apart:e}");
    let (ours, theirs) = (gram.dot(&found.weights), gram.dot(&other.weights));
    let most = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(most < 1e-5, "{what}: {most:e}");
    found
}

#[test]
fn golden_regression() {
    let golden: toml::Table =
        include_str!("../../../../experiments/golden/base.toml").parse().unwrap();
    let golden = &golden["base-9"];
    let x: [f64; 6] = [0.0, 0.5, 1.0, 1.7, 2.2, 3.0];
    let gram = Array2::from_shape_fn((6, 6), |(i, j)| (-0.5 * (x[i] - x[j]).powi(2)).exp());
    // A factor of the Gaussian kernel.
    let eigen = mercer_linalg::symmetric_eigen(gram.view()).unwrap();
    let features = &eigen.vectors * &eigen.values.mapv(f64::sqrt);
    let z = array![0.0, 0.8, 0.9, 0.3, -0.4, -1.0];
    let dual = Dual::regression(z.view(), 0.1, 1.0).unwrap();
    let found =
        InteriorPoint { tolerance: 1e-12, max_steps: 100 }.solve(features.view(), &dual).unwrap();
    let expected = crate::golden::numbers(&golden["regression-weights"][0]);
    assert_eq!(found.weights.len(), expected.len());
    for (found, expected) in found.weights.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
    }
    let number = |name: &str| crate::golden::number(&golden[name][0]);
    assert_relative_eq!(found.bias, number("regression-biases"), max_relative = 1e-8);
    assert_relative_eq!(found.objective, number("regression-minima"), max_relative = 1e-8);
}

#[test]
fn regressions_and_classifications_are_those_of_smo_at_any_cost() {
    for cost in [1e-6, 1e-2, 1.0, 1e3] {
        let features = matrix(60, 5, 1);
        let z: Array1<f64> = numbers(60, 2).collect();
        for epsilon in [0.0, 0.1, 0.9] {
            let dual = Dual::regression(z.view(), epsilon, cost).unwrap();
            agree(&features, &dual, &format!("regression, C = {cost}, epsilon = {epsilon}"));
        }
        // No plane tells them apart.
        let signs: Vec<bool> = z.iter().map(|z| *z > 0.3).collect();
        let dual = Dual::classification(&signs, cost).unwrap();
        agree(&features, &dual, &format!("classification, C = {cost}"));
        let weights: Array1<f64> = numbers(60, 3).map(|w| 1.5 + w).collect();
        let weighted = dual.weighted(weights.view()).unwrap();
        agree(&features, &weighted, &format!("weighted classification, C = {cost}"));
    }
}

/// Ideal targets of pairs are ±1: many points with the same target, and all errors within the tube, or none.
#[test]
fn level_targets_and_equal_points_have_a_solution() {
    let mut features = matrix(40, 3, 4);
    for row in 0..20 {
        let first = features.row(row).to_owned();
        features.row_mut(row + 20).assign(&first);
    }
    let z: Array1<f64> = (0..40).map(|t| if t % 3 == 0 { 1.0 } else { -1.0 }).collect();
    for cost in [1e-3, 10.0] {
        agree(&features, &Dual::regression(z.view(), 0.1, cost).unwrap(), "equal points");
    }
    // A constant within the tube: nothing has a weight.
    let wide = Dual::regression(z.view(), 1.0, 1.0).unwrap();
    let found = agree(&features, &wide, "a wide tube");
    assert!(found.objective.abs() < 1e-12 && found.bias.abs() <= 1e-9, "{found:?}");
    // Nothing but the bias can be learned from nothing.
    let nothing = Array2::zeros((40, 2));
    let found = agree(&nothing, &Dual::regression(z.view(), 0.1, 1.0).unwrap(), "no features");
    assert!((found.bias + 0.9).abs() < 1e-9, "{}", found.bias); // the larger half, at the tube's edge
}

#[test]
fn what_cannot_be_solved_is_named_and_what_is_not_finished_says_so() {
    let features = matrix(6, 2, 5);
    let dual = Dual::regression(Array1::linspace(0.0, 1.0, 6).view(), 0.0, 1.0).unwrap();
    let few = InteriorPoint { tolerance: 1e-12, max_steps: 1 };
    let found = few.solve(features.view(), &dual).unwrap();
    assert!(!found.converged && found.violation > 1e-12);
    let wrong = InteriorPoint { tolerance: 0.0, max_steps: 9 };
    assert!(matches!(
        wrong.solve(features.view(), &dual),
        Err(SolverError::Setting { name: "tolerance", .. })
    ));
    assert!(matches!(
        EXACT.solve(matrix(5, 2, 5).view(), &dual),
        Err(SolverError::Lengths { expected: 6, found: 5, .. })
    ));
    let poisoned = Array2::from_elem((6, 2), f64::NAN);
    assert!(matches!(
        EXACT.solve(poisoned.view(), &dual),
        Err(SolverError::NotFinite { what: "the features", .. })
    ));
    let stopped: Result<Solution, SolverError> =
        EXACT.solve_checked(features.view(), &dual, || Err(SolverError::Threshold(1.0)));
    assert_eq!(stopped, Err(SolverError::Threshold(1.0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_regression_is_that_of_smo(
        n in 2usize..40, r in 1usize..6, seed in 0u64..1000, power in -4i32..3, tube in 0.0..0.5f64
    ) {
        let (features, z) = (matrix(n, r, seed), numbers(n, seed + 1).collect::<Array1<f64>>());
        let dual = Dual::regression(z.view(), tube, 10f64.powi(power)).unwrap();
        agree(&features, &dual, &format!("{n} x {r}, seed {seed}"));
    }
}
