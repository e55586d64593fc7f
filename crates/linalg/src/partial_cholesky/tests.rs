use super::*;
use approx::assert_abs_diff_eq;
use proptest::prelude::*;

fn gaussian(n: usize, rate: f64) -> Array2<f64> {
    let x = |i: usize, c: usize| ((i * (7 * c + 3)) as f64 * 0.37).sin();
    Array2::from_shape_fn((n, n), |(i, j)| {
        let squared: f64 = (0..3).map(|c| (x(i, c) - x(j, c)).powi(2)).sum();
        (-rate * squared).exp()
    })
}

fn factored(a: &Array2<f64>, tolerance: f64, most: usize, threads: usize) -> PartialCholesky {
    PartialCholesky::new(
        &a.diag().to_owned(),
        |pivots, rows, mut to| {
            for (i, row) in rows.enumerate() {
                for (j, &pivot) in pivots.iter().enumerate() {
                    to[[i, j]] = a[[row, pivot]];
                }
            }
        },
        tolerance,
        most,
        threads,
    )
    .unwrap()
}

/// The largest, those that equal steps of the sum fall on, and nothing at or below the floor.
#[test]
fn nothing_is_chosen_at_the_floor() {
    assert!(spread(&Array1::zeros(3), 0.0).is_empty());
    assert!(spread(&Array1::from_elem(3, 0.5), 0.5).is_empty());
    assert_eq!(spread(&ndarray::array![0.5, 2.0, 0.5], 0.5), [1]);
    assert_eq!(spread(&ndarray::array![1.0, 0.0, 2.0], 0.0), [2, 0]);
}

#[test]
fn one_round_takes_all_pivots_that_know_nothing_of_each_other() {
    let unrelated =
        |pivots: &[usize], rows: std::ops::Range<usize>, mut to: ArrayViewMut2<'_, f64>| {
            for (i, row) in rows.enumerate() {
                for (j, &pivot) in pivots.iter().enumerate() {
                    to[[i, j]] = f64::from(u8::from(row == pivot));
                }
            }
        };
    let left = Array1::ones(20);
    let nothing = |rows: &[usize]| Array2::zeros((rows.len(), 0));
    let (taken, lower) = round(&left, nothing, &unrelated, 1e-12, 10, 0.0).unwrap();
    assert_eq!((taken.len(), lower), (10, Array2::eye(10)));
    // Each once, and no more than bring the trace of 20 down to the goal.
    let mut distinct = taken;
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 10);
    let (taken, _) = round(&left, nothing, &unrelated, 1e-12, 10, 14.5).unwrap();
    assert_eq!(taken.len(), 6);
}

#[test]
fn rows_are_spread_over_equal_shares_of_what_is_left() {
    let chosen = spread(&Array1::ones(8 * BLOCK), 0.0);
    // The last of the largest, then the middle of each of as many shares of eight rows.
    let shares = (0..BLOCK).map(|share| 8 * share + 4);
    let expected: Vec<usize> = std::iter::once(8 * BLOCK - 1).chain(shares).collect();
    assert_eq!(chosen, expected);
}

#[test]
fn at_full_rank_it_is_the_matrix() {
    for n in [1, 5, 60, 200] {
        let a = gaussian(n, 8.0);
        let found = factored(&a, 0.0, n, 1);
        assert_abs_diff_eq!(found.factor.dot(&found.factor.t()), a, epsilon = 1e-10);
        assert!(found.residual < 1e-10 * n as f64, "{}", found.residual);
    }
}

#[test]
fn it_stops_at_the_tolerance_and_is_nearly_as_short_as_can_be() {
    let a = gaussian(600, 0.5);
    let values = crate::symmetric_eigen(a.view()).unwrap().values;
    for tolerance in [1e-2, 1e-4, 1e-6] {
        let found = factored(&a, tolerance, 600, 1);
        assert!(found.residual <= tolerance * 600.0);
        let residual = &a - &found.factor.dot(&found.factor.t());
        assert_abs_diff_eq!(residual.diag().sum(), found.residual, epsilon = 1e-9);
        let largest = residual.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        assert!(largest <= found.largest + 1e-12);
        // The eigendecomposition needs so many; no factorisation needs fewer.
        let mut tail = 600.0;
        let best = values.iter().rev().take_while(|&&v| {
            let open = tail > tolerance * 600.0;
            tail -= v;
            open
        });
        let best = best.count();
        assert!(found.pivots.len() <= 2 * best + BLOCK, "{} {best}", found.pivots.len());
    }
}

#[test]
fn threads_do_not_change_it() {
    let n = 2 * ROWS + 100;
    let x: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618).fract()).collect();
    let run = |threads| {
        PartialCholesky::new(
            &Array1::ones(n),
            |pivots, rows, mut to| {
                for (i, row) in rows.enumerate() {
                    for (j, &pivot) in pivots.iter().enumerate() {
                        to[[i, j]] = (-20.0 * (x[row] - x[pivot]).powi(2)).exp();
                    }
                }
            },
            1e-8,
            100,
            threads,
        )
        .unwrap()
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one, three);
    assert!(one.residual <= 1e-8 * n as f64);
}

/// Grown by some and by some it has the pivots and the columns of one that was made at once, also where a step ends
/// within a round. Its residual is the residual of the columns in use.
#[test]
fn it_grows_to_what_it_would_have_been_at_once() {
    let n = ROWS + 50;
    let x = |i: usize| [(i as f64 * 0.618).fract(), (i as f64 * 0.414).fract()];
    let entry = |i: usize, j: usize| {
        let (a, b) = (x(i), x(j));
        (-30.0 * ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))).exp()
    };
    let entries = |pivots: &[usize], rows: Range<usize>, mut to: ArrayViewMut2<'_, f64>| {
        for (i, row) in rows.enumerate() {
            pivots.iter().enumerate().for_each(|(j, &pivot)| to[[i, j]] = entry(row, pivot));
        }
    };
    let ones = Array1::ones(n);
    let at_once = |most| PartialCholesky::new(&ones, entries, 0.0, most, 1).unwrap();
    for threads in [1, 2] {
        let mut growing = GrowingCholesky::new(&ones, entries, 0.0, 130, threads).unwrap();
        assert_eq!((growing.rank(), growing.panels(0).len()), (0, 0));
        let v = Array1::from_shape_fn(n, |i| ((i * 7) as f64).sin());
        let (mut form, mut seen) = (0.0, 0);
        for columns in [3, 7, 8, 40, 64, 96, 130, 500] {
            growing.grow(columns).unwrap();
            let whole = at_once(columns.min(130));
            assert_eq!(growing.pivots(), whole.pivots, "{columns}");
            let rows: Vec<usize> = (0..n).collect();
            assert_abs_diff_eq!(growing.rows(&rows), whole.factor, epsilon = 1e-10);
            assert_abs_diff_eq!(growing.residual(), whole.residual, epsilon = 1e-9 * n as f64);
            assert_abs_diff_eq!(growing.largest(), whole.largest, epsilon = 1e-10);
            // A sum over the columns is carried on.
            for panel in growing.panels(seen) {
                let image = panel.t().dot(&v);
                form += image.dot(&image);
            }
            seen = growing.rank();
            let image = whole.factor.t().dot(&v);
            assert_abs_diff_eq!(form, image.dot(&image), epsilon = 1e-8);
        }
        // Fewer than there are changes nothing.
        growing.grow(5).unwrap();
        assert_eq!(growing.rank(), 130);
    }
}

#[test]
fn a_tolerance_ends_the_growth() {
    let a = gaussian(300, 0.5);
    let entries = |pivots: &[usize], rows: Range<usize>, mut to: ArrayViewMut2<'_, f64>| {
        for (i, row) in rows.enumerate() {
            pivots.iter().enumerate().for_each(|(j, &pivot)| to[[i, j]] = a[[row, pivot]]);
        }
    };
    let ones = Array1::ones(300);
    let mut growing = GrowingCholesky::new(&ones, entries, 1e-3, 300, 1).unwrap();
    for columns in [10, 20, 300] {
        growing.grow(columns).unwrap();
    }
    assert_eq!(growing.pivots(), factored(&a, 1e-3, 300, 1).pivots);
    assert!(growing.rank() < 200 && growing.residual() <= 0.3);
}

#[test]
fn what_cannot_be_factored_is_named() {
    let nothing = |_: &[usize], _: std::ops::Range<usize>, _: ArrayViewMut2<'_, f64>| {};
    let run = |diagonal: Array1<f64>, tolerance| {
        PartialCholesky::new(&diagonal, nothing, tolerance, 5, 1)
    };
    assert!(matches!(run(Array1::zeros(0), 0.1), Err(LinalgError::Empty { .. })));
    assert!(matches!(run(Array1::ones(2), 1.0), Err(LinalgError::Argument { .. })));
    assert!(matches!(run(Array1::from_elem(2, f64::NAN), 0.1), Err(LinalgError::NotFinite { .. })));
    // The zero matrix is C Cᵀ with no columns.
    assert_eq!(run(Array1::zeros(3), 0.1).unwrap().pivots.len(), 0);
}

proptest! {
    #[test]
    fn the_error_of_a_quadratic_form_has_one_sign_and_the_bound_holds(
        n in 2usize..80, rate in 0.1..10.0f64, most in 1usize..40, seed in 0u64..100,
    ) {
        let a = gaussian(n, rate);
        let found = factored(&a, 0.0, most, 1);
        let v = Array1::from_shape_fn(n, |i| ((i as f64 + seed as f64) * 1.7).sin());
        let image = found.factor.t().dot(&v);
        let error = v.dot(&a.dot(&v)) - image.dot(&image);
        let one: f64 = v.iter().map(|v| v.abs()).sum();
        let bound = (found.residual * v.dot(&v)).min(found.largest * one * one);
        prop_assert!(error >= -1e-10 && error <= bound + 1e-10, "{error} {bound}");
    }
}
