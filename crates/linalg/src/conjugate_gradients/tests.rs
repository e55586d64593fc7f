use super::*;
use crate::{Cholesky, minimum_norm_solve};
use approx::assert_abs_diff_eq;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

/// A Gaussian kernel matrix of points in the plane: eigenvalues over many orders.
fn kernel(n: usize) -> Array2<f64> {
    let x = random(n, 2, 1);
    Array2::from_shape_fn((n, n), |(i, j)| {
        let apart = &x.row(i) - &x.row(j);
        (-0.5 * apart.dot(&apart)).exp()
    })
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a watch")]
fn quiet(_: usize, _: f64) -> Result<(), LinalgError> {
    Ok(())
}

#[test]
fn several_right_hand_sides_agree_with_a_direct_solve() {
    let a = kernel(60) + 0.1 * Array2::<f64>::eye(60);
    let mut b = random(60, 4, 2);
    b.column_mut(2).fill(0.0);
    let expected = Cholesky::factor(a.clone()).unwrap().solve(&b).unwrap();
    let plain = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-11, 500, quiet).unwrap();
    assert!(plain.converged && plain.residual <= 1e-11, "{plain:?}");
    assert_abs_diff_eq!(plain.x, expected, epsilon = 1e-9);
    assert_eq!(plain.x.column(2).sum().to_bits(), 0f64.to_bits());
}

/// A matrix that counts what it is asked for.
struct Counting(Array2<f64>, std::cell::Cell<usize>);

impl SymmetricOperator for Counting {
    fn size(&self) -> usize {
        self.0.nrows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        self.1.set(self.1.get() + 1);
        self.0.dot(&x)
    }
}

#[test]
fn a_right_hand_side_of_zeros_asks_for_no_product() {
    let a = Counting(kernel(5), std::cell::Cell::new(0));
    let zeros = Array2::zeros((5, 2));
    let solved = conjugate_gradients(&a, zeros.view(), |r| r.to_owned(), 1e-9, 20, quiet).unwrap();
    assert!(solved.converged && solved.x == zeros);
    assert_eq!((solved.iterations, a.1.get()), (0, 0));
}

/// Along a negative eigenvalue a step would solve the equation and be no minimum: an operator is
/// semidefinite, and what says otherwise is rounding.
#[test]
fn a_direction_of_negative_curvature_is_left_alone() {
    let a = Array2::from_diag(&ndarray::array![1.0, -1.0]);
    let b = ndarray::array![[0.0], [1.0]];
    let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-9, 20, quiet).unwrap();
    assert_eq!((solved.x, solved.converged), (Array2::zeros((2, 1)), false));
    assert!((solved.residual - 1.0).abs() < f64::EPSILON, "{}", solved.residual);
}

/// Conjugate residuals alone, from zeros.
fn by_residuals(system: &System<'_>) -> Reached {
    let (mut at, steps) = (system.start(), Steps { operator: system.operator, trusted: 0.0 });
    residuals(system, &steps, &mut at, &mut |_, _| true).unwrap();
    at
}

/// The tolerance is relative: a right-hand side a thousand times as large takes as many steps.
#[test]
fn conjugate_residuals_take_as_many_steps_at_any_scale() {
    let a = kernel(60) + 0.1 * Array2::<f64>::eye(60);
    let b = random(60, 1, 2);
    let products = |b: Array2<f64>| {
        let found = by_residuals(&System::new(&a, b.view(), 1e-4, 500).unwrap());
        assert!(norms(&found.r)[0] <= 1.01e-4 * norms(&b)[0]);
        found.iterations
    };
    let steps = products(b.clone());
    assert!((5..60).contains(&steps), "{steps}");
    assert_eq!([1e3, 1e-3].map(|scale| products(&b * scale)), [steps; 2]);
}

/// What the residual can still lose is far below a hundredth of it: the rounds end after
/// [`STALLED`] of them, though there are steps left that would gain something.
#[test]
fn conjugate_residuals_end_where_they_gain_nothing_to_speak_of() {
    let n = 400;
    let mut diagonal = Array1::from_shape_fn(n, |i| (1 + i) as f64);
    diagonal[0] = 0.0;
    let a = Array2::from_diag(&diagonal);
    let mut b = Array2::from_elem((n, 1), 1e-3);
    b[[0, 0]] = 1.0;
    let found = by_residuals(&System::new(&a, b.view(), 1e-9, 10 * n).unwrap());
    assert_eq!(found.iterations, STALLED + 1);
    assert!(norms(&found.r)[0] < norms(&b)[0]);
}

#[test]
fn the_preconditioner_saves_iterations_and_changes_no_solution() {
    let (n, ridge) = (300, 1e-4);
    let k = kernel(n);
    let a = &k + ridge * Array2::<f64>::eye(n);
    let b = random(n, 2, 3);
    let core: Vec<usize> = (0..40).map(|i| i * 7).collect();
    let nystrom = Nystrom::new(k.select(Axis(1), &core).view(), &core, ridge).unwrap();
    let solve = |x: ArrayView2<'_, f64>| nystrom.apply(x);
    let with = conjugate_gradients(&a, b.view(), solve, 1e-8, 500, quiet).unwrap();
    let without = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-8, 500, quiet).unwrap();
    assert!(with.converged && with.iterations < 15, "{}", with.iterations);
    assert!(without.iterations > 3 * with.iterations, "{}", without.iterations);
    let expected = Cholesky::factor(a.clone()).unwrap().solve(&b).unwrap();
    // Residual 1e-8 times the condition number, at worst.
    let scale = expected.iter().fold(0f64, |most, x| most.max(x.abs()));
    assert!((&with.x - &expected).iter().all(|x| x.abs() < 1e-4 * scale));
    // With all columns it is the inverse up to a factor.
    let all: Vec<usize> = (0..30).collect();
    let small = k.slice(s![..30, ..30]).to_owned();
    let exact = Nystrom::new(small.view(), &all, 0.1).unwrap();
    let shifted = &small + 0.1 * Array2::<f64>::eye(30);
    let once =
        conjugate_gradients(&shifted, b.slice(s![..30, ..]), |x| exact.apply(x), 1e-6, 9, quiet);
    assert!(once.unwrap().iterations <= 3);
}

#[test]
fn a_singular_system_tends_to_the_shortest_solution() {
    let half = random(20, 5, 4);
    let a = half.dot(&half.t());
    let b = a.dot(&random(20, 2, 5));
    let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-12, 50, quiet).unwrap();
    let expected = minimum_norm_solve(a.view(), b.view(), Some(1e-10)).unwrap().x;
    assert!(solved.converged);
    assert_abs_diff_eq!(solved.x, expected, epsilon = 1e-10);
}

#[test]
fn what_is_not_reached_is_said() {
    let a = kernel(50);
    // Not in the numerical range of A: the residual cannot vanish.
    let b = random(50, 1, 6);
    let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, 40, quiet).unwrap();
    assert!(!solved.converged && solved.iterations <= 40 && solved.residual > 1e-10);
    let residual = &b - &a.dot(&solved.x);
    let norm = |x: &Array2<f64>| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert_abs_diff_eq!(solved.residual, norm(&residual) / norm(&b), epsilon = 1e-9);
}

/// Rounded to single precision, and what comes of it is the solution of the matrix itself.
#[test]
fn a_rough_operator_gives_the_exact_solution_for_few_exact_products() {
    let a = kernel(120) + 0.05 * Array2::<f64>::eye(120);
    let b = random(120, 3, 8);
    let expected = Cholesky::factor(a.clone()).unwrap().solve(&b).unwrap();
    let exact = Counting(a.clone(), std::cell::Cell::new(0));
    let rough = Counting(a.mapv(|entry| f64::from(entry as f32)), std::cell::Cell::new(0));
    let solved =
        refined_gradients(&exact, &rough, b.view(), |r| r.to_owned(), 1e-12, 500, quiet).unwrap();
    assert!(solved.converged && solved.residual <= 1e-12, "{solved:?}");
    assert_abs_diff_eq!(solved.x, expected, epsilon = 1e-9);
    assert_eq!(rough.1.get(), solved.iterations);
    // Twelve digits at four a round.
    assert!((3..=4).contains(&exact.1.get()), "{}", exact.1.get());
    let other = Array2::<f64>::eye(119);
    let refused = refined_gradients(&a, &other, b.view(), |r| r.to_owned(), 1e-12, 500, quiet);
    assert_eq!(refused, Err(LinalgError::Height { expected: 120, found: 119 }));
}

/// Where the matrix is singular to single precision, the reported residual is the matrix's own, and no worse than the
/// residual of zeros.
#[test]
fn a_rough_operator_that_is_too_rough_is_found_out() {
    let a = kernel(100);
    let b = random(100, 2, 9);
    let rough = a.mapv(|entry| f64::from(entry as f32));
    for iterations in [20, 300] {
        let solved =
            refined_gradients(&a, &rough, b.view(), |r| r.to_owned(), 1e-10, iterations, quiet)
                .unwrap();
        assert!(!solved.converged && solved.residual < 1.0, "{solved:?}");
        assert!(solved.iterations <= iterations);
        let left = norms(&(&b - &a.dot(&solved.x))) / norms(&b);
        let most = left.iter().fold(0f64, |most, &value| most.max(value));
        assert_abs_diff_eq!(solved.residual, most, epsilon = 1e-9);
    }
}

#[test]
fn a_right_hand_side_out_of_range_keeps_the_nearest_iterate() {
    // No solution, and no curvature along the misfit.
    let (a, b) = doubled(3);
    let mut before = 1.0;
    for iterations in [60, 120, 400] {
        let solved =
            conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, iterations, quiet).unwrap();
        assert!(!solved.converged && solved.residual < 1.0, "{iterations}: {solved:?}");
        let left = norms(&(&b - &a.dot(&solved.x))) / norms(&b);
        let most = left.iter().fold(0f64, |most, &value| most.max(value));
        assert_abs_diff_eq!(solved.residual, most, epsilon = 1e-9);
        assert!(solved.clone().useful().is_ok() && solved.residual <= before + 1e-9);
        before = solved.residual;
        if iterations == 400 {
            // What no solution can reach: half the difference of the two targets of a row.
            let misfit =
                Array2::from_shape_fn((80, 3), |(i, j)| 0.5 * (b[[i, j]] - b[[(i + 40) % 80, j]]));
            let least = norms(&misfit) / norms(&b);
            assert!(least.iter().all(|least| solved.residual > *least - 1e-9), "{least}");
        }
    }
    // No iterate is better than zeros: said, not returned as a solution.
    let twice = ndarray::array![[1.0, 1.0], [1.0, 1.0]];
    let opposite = ndarray::array![[1.0], [-1.0]];
    let stuck =
        conjugate_gradients(&twice, opposite.view(), |r| r.to_owned(), 1e-10, 50, quiet).unwrap();
    assert_eq!(stuck.residual.to_bits(), 1f64.to_bits());
    let error = stuck.useful().unwrap_err().to_string();
    assert!(error.contains("residual 1e0") && error.contains("ridge"), "{error}");
}

/// Every row twice with different targets: the recurrence of a column runs away.
fn doubled(columns: usize) -> (Array2<f64>, Array2<f64>) {
    let half = kernel(40);
    let a = Array2::from_shape_fn((80, 80), |(i, j)| half[[i % 40, j % 40]]);
    (a, random(80, columns, 8))
}

#[test]
fn a_recurrence_that_runs_away_is_not_followed() {
    // Solved on the range but for rounding, what is left has next to no curvature: a step without end.
    let a = Array2::from_diag(&ndarray::array![1.0, 0.3, 0.7, 0.0]);
    let b = ndarray::array![[0.1], [0.7], [1.1], [1.3]];
    let mut least = f64::INFINITY;
    let watch = |_: usize, residual: f64| {
        least = least.min(residual);
        assert!(residual <= RUNAWAY * least, "{residual} after {least}");
        Ok::<(), LinalgError>(())
    };
    conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, 400, watch).unwrap();
}

#[test]
fn there_are_never_more_products_than_allowed() {
    let (a, b) = doubled(1);
    for most in 1..8 {
        let plain = |r: ArrayView2<'_, f64>| r.to_owned();
        let solved = conjugate_gradients(&a, b.view(), plain, 1e-10, most, quiet).unwrap();
        assert!(solved.iterations <= most, "{} of {most}", solved.iterations);
    }
}

#[test]
fn conjugate_residuals_solve_in_as_many_steps_as_there_are_unknowns() {
    let a = kernel(6) + 0.1 * Array2::<f64>::eye(6);
    let b = random(6, 2, 11);
    let Reached { x, r, iterations } = by_residuals(&System::new(&a, b.view(), 1e-10, 8).unwrap());
    assert!(iterations <= 7 && largest(&r, &norms(&b)) < 1e-9, "{iterations}: {r}");
    assert_abs_diff_eq!(a.dot(&x), b, epsilon = 1e-8);
}

#[test]
fn what_is_solved_already_costs_one_product() {
    // Residual and bound are both 0: a column that is exact is not open.
    let a = kernel(4);
    let right = Array2::zeros((4, 2));
    let system = System::new(&a, right.view(), 1e-10, 8).unwrap();
    let found = by_residuals(&System { scales: Array1::zeros(2), ..system });
    assert_eq!((found.iterations, found.x), (1, Array2::zeros((4, 2))));
}

#[test]
fn rounds_that_gain_little_end_in_least_squares() {
    // Every row twice: the targets of a row are alike but for a twentieth, which no solution can reach.
    let half = kernel(40) + Array2::<f64>::eye(40);
    let a = Array2::from_shape_fn((80, 80), |(i, j)| half[[i % 40, j % 40]]);
    let (told, misfit) = (random(40, 2, 9), random(40, 2, 10));
    let sign = |i: usize| if i < 40 { 0.05 } else { -0.05 };
    let b =
        Array2::from_shape_fn((80, 2), |(i, j)| told[[i % 40, j]] + sign(i) * misfit[[i % 40, j]]);
    let out = Array2::from_shape_fn((80, 2), |(i, j)| sign(i) * misfit[[i % 40, j]]);
    let least = largest(&out, &norms(&b));
    assert!(least < 0.25, "{least}"); // below a half: the first round gains enough for a second
    let solved = conjugate_gradients(&a, b.view(), |r| r.to_owned(), 1e-10, 3000, quiet).unwrap();
    assert!(!solved.converged && solved.iterations < 600, "{}", solved.iterations);
    assert!(solved.residual < 1.0001 * least, "{} beside {least}", solved.residual);
}

#[test]
fn bad_arguments_and_products_are_named() {
    let (a, b) = (Array2::eye(3), Array2::ones((3, 1)));
    let plain = |r: ArrayView2<'_, f64>| r.to_owned();
    for bad in [0.0, 1.0, f64::NAN] {
        let error = conjugate_gradients(&a, b.view(), plain, bad, 5, quiet);
        assert!(matches!(error, Err(LinalgError::Argument { name: "tolerance", .. })));
    }
    let error = conjugate_gradients(&a, Array2::ones((2, 1)).view(), plain, 0.1, 5, quiet);
    assert!(matches!(error, Err(LinalgError::Height { .. })));
    let poisoned = Array2::from_elem((3, 3), f64::NAN);
    let error = conjugate_gradients(&poisoned, b.view(), plain, 0.1, 5, quiet);
    assert!(matches!(error, Err(LinalgError::NotFinite { .. })));
    let stop = |_: usize, _: f64| Err(LinalgError::NotFinite { operation: "a test" });
    assert!(conjugate_gradients(&a, b.view(), plain, 0.1, 5, stop).is_err());
    assert!(matches!(
        Nystrom::new(a.view(), &[0, 1], 0.1),
        Err(LinalgError::Height { expected: 3, found: 2 })
    ));
    assert!(matches!(
        Nystrom::new(a.view(), &[0, 1, 2], -0.1),
        Err(LinalgError::Argument { name: "ridge", .. })
    ));
}
