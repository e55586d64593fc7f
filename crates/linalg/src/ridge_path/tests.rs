use super::*;
use crate::{Cholesky, minimum_norm_solve, thin_svd};
use approx::assert_abs_diff_eq;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

/// `(AᵀA + t I)⁻¹ Aᵀ B`, the long way.
fn direct(a: &Array2<f64>, b: &Array2<f64>, t: f64) -> Array2<f64> {
    let gram = a.t().dot(a) + t * Array2::<f64>::eye(a.ncols());
    Cholesky::factor(gram).unwrap().solve(&a.t().dot(b)).unwrap()
}

#[test]
fn each_ridge_agrees_with_a_direct_solve_on_either_side() {
    for (n, d) in [(40, 7), (7, 40), (12, 12), (1, 3), (3, 1)] {
        let (a, b) = (random(n, d, 1), random(n, 3, 2));
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        for t in [1e-3, 0.1, 10.0] {
            let expected = direct(&a, &b, t);
            assert_abs_diff_eq!(path.solve(t).unwrap(), expected, epsilon = 1e-10);
            let hat = a.dot(&direct(&a, &Array2::eye(n), t));
            assert_abs_diff_eq!(
                path.degrees_of_freedom(t).unwrap(),
                hat.diag().sum(),
                epsilon = 1e-9
            );
        }
    }
}

#[test]
fn without_a_ridge_it_is_the_solution_of_least_norm() {
    // Full rank on either side, and rank 4 of 9 x 11.
    let low = random(9, 4, 5).dot(&random(4, 11, 6));
    for a in [random(30, 8, 3), random(8, 30, 4), low] {
        let b = random(a.nrows(), 2, 7);
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        let expected = minimum_norm_solve(a.view(), b.view(), None).unwrap();
        assert_eq!(path.rank(), expected.rank);
        assert_abs_diff_eq!(path.solve(0.0).unwrap(), expected.x, epsilon = 1e-9);
        // And the ridge's limit is the ridgeless fit.
        assert_abs_diff_eq!(path.solve(1e-11).unwrap(), expected.x, epsilon = 1e-7);
    }
}

#[test]
fn leave_one_out_is_what_refitting_without_each_row_gives() {
    for (n, d) in [(15, 4), (9, 25)] {
        let (a, b) = (random(n, d, 8), random(n, 2, 9));
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        for t in [1e-2, 1.0] {
            let found = path.leave_one_out(t).unwrap();
            let mut total = 0.0;
            for i in 0..n {
                let others: Vec<usize> = (0..n).filter(|&other| other != i).collect();
                let (ai, bi) = (a.select(Axis(0), &others), b.select(Axis(0), &others));
                let expected = &b.row(i) - &a.row(i).dot(&direct(&ai, &bi, t));
                assert_abs_diff_eq!(found.row(i), expected, epsilon = 1e-9);
                total += expected.dot(&expected);
            }
            let errors = path.leave_one_out_errors(&[0.5, t]).unwrap();
            assert_abs_diff_eq!(errors[1], total / (2 * n) as f64, epsilon = 1e-9);
        }
    }
}

/// `argmin ‖A w − B‖² + t ‖w‖²` by singular values, of least norm at `t = 0`.
fn refit(a: &Array2<f64>, b: &Array2<f64>, t: f64) -> Array2<f64> {
    let svd = thin_svd(a.view()).unwrap();
    let least = 1e-12 * svd.singular[0];
    let filter = svd.singular.mapv(|s| if s > least { s / (s * s + t) } else { 0.0 });
    svd.vt.t().dot(&(svd.u.t().dot(b) * filter.insert_axis(Axis(1))))
}

#[test]
fn leave_one_out_is_that_of_refits_however_small_the_ridge() {
    let low = random(9, 4, 5).dot(&random(4, 11, 6));
    let mut twice = random(8, 20, 7);
    let first = twice.row(0).to_owned();
    twice.row_mut(5).assign(&first);
    // Only row 3 speaks of the last column.
    let mut alone = random(14, 4, 8);
    alone.column_mut(3).fill(0.0);
    alone[[3, 3]] = 1.0;
    let cases = [
        ("n < D", random(9, 25, 9)),
        ("n = D", random(12, 12, 10)),
        ("n > D", random(15, 4, 11)),
        ("rank 4 of 9 x 11", low),
        ("a row twice", twice),
        ("a row alone in its direction", alone),
    ];
    for (name, a) in cases {
        let n = a.nrows();
        let b = random(n, 2, 12);
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        let ridges = [0.0, 1e-300, 1e-16, 1e-13, 1e-10, 1e-7, 1e-6, 1e-5, 1e-3, 1.0];
        let errors = path.leave_one_out_errors(&ridges).unwrap();
        for (t, error) in ridges.into_iter().zip(errors) {
            let found = path.leave_one_out(t).unwrap();
            let mean = found.iter().map(|r| r * r).sum::<f64>() / found.len() as f64;
            assert!((error / mean - 1.0).abs() < 1e-9, "{name}, t = {t:e}: {error}, {mean}");
            for i in 0..n {
                let others: Vec<usize> = (0..n).filter(|&other| other != i).collect();
                let (ai, bi) = (a.select(Axis(0), &others), b.select(Axis(0), &others));
                let expected = &b.row(i) - &a.row(i).dot(&refit(&ai, &bi, t));
                for (found, expected) in found.row(i).iter().zip(&expected) {
                    let apart = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(apart < 1e-7, "{name}, t = {t:e}, row {i}: {found}, {expected}");
                }
            }
        }
    }
}

/// A row that decides its own prediction but for two parts in 10^10, under a ridge that is as much.
#[test]
fn leave_one_out_of_a_row_that_decides_alone_has_the_ridge_of_the_rest() {
    let (a, b) = (ndarray::array![[1e5], [1.0], [1.0]], ndarray::array![[2e5], [1.0], [3.0]]);
    let path = RidgePath::new(a.view(), b.view()).unwrap();
    for ridge in [0.5, 1.0, 7.0] {
        let found = path.leave_one_out(ridge).unwrap()[[0, 0]];
        let expected = 2e5 - 1e5 * 4.0 / (2.0 + ridge);
        assert!((found / expected - 1.0).abs() < 1e-4, "{ridge}: {found} {expected}");
    }
}

/// The part of a row outside the others is known to a few digits of its own directions, however weak another direction
/// is that it has no part in.
#[test]
fn a_weak_direction_of_other_rows_hides_nothing_of_a_row() {
    let a = ndarray::array![[1.0, 0.0], [5e-4, 0.0], [0.0, 1e-6], [0.0, 1e-6]];
    let b = ndarray::array![[1.0], [2.0], [0.0], [0.0]];
    let path = RidgePath::new(a.view(), b.view()).unwrap();
    assert_eq!(path.rank(), 2);
    let found = path.leave_one_out(0.0).unwrap()[[0, 0]];
    assert!((found / (1.0 - 2.0 / 5e-4) - 1.0).abs() < 1e-6, "{found}");
}

#[test]
fn the_cutoff_is_rounding_in_as_many_directions_as_there_may_be() {
    let b = Array2::ones((3, 1));
    for columns in [2, 3, 5] {
        let mut a = Array2::zeros((3, columns));
        (a[[0, 0]], a[[1, 1]]) = (3.0, 1.0);
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        let expected = columns.min(3) as f64 * f64::EPSILON * 9.0;
        assert!((path.cutoff() / expected - 1.0).abs() < 1e-12, "{columns}");
        assert_eq!(path.rank(), 2);
    }
}

/// More rows than pass by together, and not a multiple of them.
#[test]
fn errors_of_many_ridges_are_those_of_each_ones_residuals() {
    for (n, d) in [(1100, 5), (700, 720)] {
        let (a, b) = (random(n, d, 13), random(n, 3, 14));
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        let ridges = [0.0, 1e-3, 10.0];
        let errors = path.leave_one_out_errors(&ridges).unwrap();
        for (ridge, error) in ridges.into_iter().zip(errors) {
            let residuals = path.leave_one_out(ridge).unwrap();
            let mean = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
            assert!((error / mean - 1.0).abs() < 1e-10, "{n}, {ridge:e}: {error}, {mean}");
        }
        assert_eq!(path.leave_one_out_errors(&[]).unwrap(), [0.0; 0]);
        assert!(path.leave_one_out_errors(&[1.0, -1.0]).is_err());
    }
}

/// Well conditioned, with rows that have little left among them; of a scale that is far from 1; and with a direction so
/// weak that single precision would not do.
#[test]
fn errors_in_single_precision_are_those_in_double() {
    let (n, d) = (1500, 600);
    let b = random(n, 3, 16);
    let plain = random(n, d, 15);
    let mut alone = plain.clone();
    alone.slice_mut(s![..9, ..]).mapv_inplace(|entry| 4.0 * entry);
    let mut weak = plain.clone();
    weak.column_mut(7).mapv_inplace(|entry| 1e-4 * entry);
    let cases = [
        ("plain", plain.clone(), true),
        ("rows that decide alone", alone, true),
        ("large", &plain * 1e6, true),
        ("small", &plain * 1e-6, true),
        ("too large", &plain * 1e30, false),
        ("a weak direction", weak, false),
    ];
    for (name, a, single) in cases {
        let path = RidgePath::new(a.view(), b.view()).unwrap();
        let scale = path.eigenvalues().mean().unwrap();
        let ridges = [0.0, 1e-4 * scale, scale];
        assert_eq!(path.single_precision_will_do(&ridges), single, "{name}");
        let errors = path.leave_one_out_errors(&ridges).unwrap();
        let (mut most, tolerance) = (0.0f64, if single { 1e-6 } else { 1e-10 });
        for (ridge, error) in ridges.into_iter().zip(errors) {
            let residuals = path.leave_one_out(ridge).unwrap();
            let mean = residuals.iter().map(|r| r * r).sum::<f64>() / residuals.len() as f64;
            let apart = (error / mean - 1.0).abs();
            assert!(apart < tolerance, "{name}, {ridge:e}: {error}, {mean}");
            most = most.max(apart);
        }
        assert!(!single || most > 1e-12, "{name}: in double precision, it seems; {most:e}");
    }
}

#[test]
fn generalised_cross_validation_follows_its_formula() {
    let (a, b) = (random(20, 6, 10), random(20, 1, 11));
    let path = RidgePath::new(a.view(), b.view()).unwrap();
    let hat = a.dot(&direct(&a, &Array2::eye(20), 0.3));
    let residual = &b - &hat.dot(&b);
    let mean = residual.iter().map(|r| r * r).sum::<f64>() / 20.0;
    let expected = mean / (1.0 - hat.diag().sum() / 20.0).powi(2);
    let found = path.generalised_cross_validation(0.3).unwrap();
    assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
    // Of more columns than rows the formula holds down to where it is 0 over 0, and its limit there.
    let (a, b) = (random(5, 9, 1), random(5, 1, 2));
    let wide = RidgePath::new(a.view(), b.view()).unwrap();
    let hat = a.dot(&direct(&a, &Array2::eye(5), 1e-4));
    let mean = (&b - &hat.dot(&b)).iter().map(|r| r * r).sum::<f64>() / 5.0;
    let expected = mean / (1.0 - hat.diag().sum() / 5.0).powi(2);
    let found = wide.generalised_cross_validation(1e-4).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-8, "{found}, {expected}");
    let limit = wide.generalised_cross_validation(0.0).unwrap();
    let near = wide.generalised_cross_validation(1e-9).unwrap();
    assert!((limit / near - 1.0).abs() < 1e-6, "{limit}, {near}");
}

#[test]
fn nothing_can_be_learned_from_a_matrix_of_zeros() {
    let (a, b) = (Array2::zeros((4, 3)), random(4, 1, 1));
    let path = RidgePath::new(a.view(), b.view()).unwrap();
    assert_eq!((path.rank(), path.solve(0.0).unwrap()), (0, Array2::zeros((3, 1))));
    assert_eq!(path.leave_one_out(0.5).unwrap(), b);
    let mean = b.iter().map(|b| b * b).sum::<f64>() / 4.0;
    assert_eq!(path.leave_one_out_errors(&[0.5, 0.0]).unwrap(), [mean, mean]);
}

#[test]
fn what_cannot_be_solved_is_named() {
    let (a, b) = (random(4, 2, 1), random(4, 1, 2));
    let path = RidgePath::new(a.view(), b.view()).unwrap();
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(path.solve(bad), Err(LinalgError::Argument { name: "ridge", .. })));
    }
    assert!(matches!(
        RidgePath::new(a.view(), random(3, 1, 1).view()),
        Err(LinalgError::Height { expected: 4, found: 3 })
    ));
    assert!(matches!(
        RidgePath::new(Array2::zeros((4, 0)).view(), b.view()),
        Err(LinalgError::Empty { .. })
    ));
    let poisoned = Array2::from_elem((4, 2), f64::NAN);
    assert!(matches!(
        RidgePath::new(poisoned.view(), b.view()),
        Err(LinalgError::NotFinite { .. })
    ));
}
