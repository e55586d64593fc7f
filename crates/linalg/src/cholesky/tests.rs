use super::*;

/// 600 and 1030 rows are factored as they stand, a multiple of 512 and 2100 by copied panels.
#[test]
fn copied_panels_and_whole_matrices_are_factored_alike() {
    for n in [600, 512, 1024, 1030, 1536, 2100] {
        let a = random(n, 40, n as u64);
        let matrix = a.dot(&a.t()) + Array2::<f64>::eye(n) * n as f64;
        for threads in [1, 3] {
            let factor = Cholesky::factor_on(threads, matrix.clone()).unwrap();
            let lower = factor.lower();
            assert_abs_diff_eq!(lower.dot(&lower.t()), matrix, epsilon = 1e-10 * n as f64);
            let left = factor.remainder();
            for i in 0..n {
                assert_eq!(left.slice(s![i, ..i]), matrix.slice(s![i, ..i]));
            }
        }
    }
}

/// Threads share rows, whose sums do not depend on the others.
#[test]
fn threads_change_nothing_beyond_rounding() {
    // The pivot that fails is in the second of six panels of copies, where there are some.
    for (n, bad) in [(1100, 700), (2100, 700)] {
        let a = random(n, n, 8);
        let matrix = a.dot(&a.t()) + Array2::<f64>::eye(n) * n as f64;
        let one = Cholesky::factor(matrix.clone()).unwrap();
        for threads in [0, 2, 3, 64] {
            let many = Cholesky::factor_on(threads, matrix.clone()).unwrap();
            assert_abs_diff_eq!(many.lower(), one.lower(), epsilon = 1e-10);
        }
        let mut singular = matrix;
        singular.row_mut(bad).fill(0.0);
        singular.column_mut(bad).fill(0.0);
        let failed = Cholesky::factor_on(2, singular.clone()).unwrap_err();
        assert_eq!(failed, LinalgError::NotPositiveDefinite { pivot: bad, size: n });
        // The triangle above the diagonal brings it back.
        let (factor, jitter) = Cholesky::with_jitter_on(2, singular.clone(), &[1e-9]).unwrap();
        let (lower, raised) = (factor.lower(), singular + jitter * Array2::<f64>::eye(n));
        assert!(jitter > 0.0);
        assert_abs_diff_eq!(lower.dot(&lower.t()), raised, epsilon = 1e-10 * n as f64);
    }
}
use approx::assert_abs_diff_eq;
use ndarray::{array, s};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

#[test]
fn the_factor_squares_to_the_matrix_and_solves_it() {
    // 1, small, and several of the engine's blocks.
    for n in [1, 2, 7, 150, 301] {
        let b = random(n, n + 3, n as u64);
        let a = b.dot(&b.t());
        let factor = Cholesky::factor(a.clone()).unwrap();
        let lower = factor.lower();
        assert_abs_diff_eq!(lower.dot(&lower.t()), a, epsilon = 1e-11);
        let truth = random(n, 3, 1);
        let x = factor.solve(&a.dot(&truth)).unwrap();
        // cond(A) < 1e7 for these, so ε · cond bounds the error.
        assert_abs_diff_eq!(x, truth, epsilon = 1e-6);
        let pivots: Array1<f64> = lower.diag().mapv(|l| 2.0 * l.ln());
        assert_abs_diff_eq!(factor.log_determinant(), pivots.sum(), epsilon = 1e-10);
        let inverse = factor.solve(&Array2::eye(n)).unwrap();
        let scale = inverse.diag().iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let diagonal = factor.inverse_diagonal() / scale;
        assert_abs_diff_eq!(diagonal, &inverse.diag() / scale, epsilon = 1e-9);
    }
}

#[test]
fn a_failed_attempt_leaves_the_other_triangle_intact() {
    // Rank 100 of 300: fails late, after whole blocks were written. The ladder must then
    // factor exactly A + jI, which it can only if A was restored.
    let b = random(300, 100, 5);
    let a = b.dot(&b.t());
    let (factor, jitter) = Cholesky::with_jitter(a.clone(), &[1e-17, 1e-8]).unwrap();
    let mean = a.diag().mean().unwrap();
    assert_abs_diff_eq!(jitter, 1e-8 * mean, epsilon = 1e-20);
    let lower = factor.lower();
    assert_abs_diff_eq!(
        lower.dot(&lower.t()),
        a + jitter * Array2::<f64>::eye(300),
        epsilon = 1e-11
    );
}

#[test]
fn the_matrix_is_left_below_the_diagonal() {
    let b = random(301, 310, 8);
    let a = b.dot(&b.t());
    let factor = Cholesky::factor(a.clone()).unwrap();
    let left = factor.remainder();
    assert!((0..301).all(|i| (0..i).all(|j| left[[i, j]].to_bits() == a[[j, i]].to_bits())));
    let memory = factor.into_memory();
    assert_eq!(memory.dim(), (301, 301));
}

#[test]
fn no_jitter_is_added_where_none_is_needed() {
    let (_, jitter) = Cholesky::with_jitter(array![[2.0, 1.0], [1.0, 2.0]], &[1e-8]).unwrap();
    assert_abs_diff_eq!(jitter, 0.0, epsilon = 0.0);
}

#[test]
fn column_major_and_sliced_arrays_are_read_right() {
    let a = array![[4.0, 2.0, 9.0], [2.0, 3.0, 9.0], [9.0, 9.0, 9.0]];
    let expected = Cholesky::factor(array![[4.0, 2.0], [2.0, 3.0]]).unwrap();
    let sliced = a.clone().slice_move(ndarray::s![..2, ..2]);
    assert_eq!(Cholesky::factor(sliced).unwrap(), expected);
    let shifted = array![[9.0, 9.0], [4.0, 2.0], [2.0, 3.0]].slice_move(ndarray::s![1.., ..]);
    assert_eq!(Cholesky::factor(shifted).unwrap(), expected);
    assert_eq!(Cholesky::factor(array![[4.0, 2.0], [2.0, 3.0]].reversed_axes()).unwrap(), expected);
}

#[test]
fn what_cannot_be_factored_is_named() {
    assert_eq!(
        Cholesky::factor(Array2::zeros((2, 3))),
        Err(LinalgError::NotSquare { rows: 2, columns: 3 })
    );
    assert!(matches!(Cholesky::factor(Array2::zeros((0, 0))), Err(LinalgError::Empty { .. })));
    assert_eq!(
        Cholesky::factor(array![[1.0, 2.0], [2.0, 1.0]]),
        Err(LinalgError::NotPositiveDefinite { pivot: 1, size: 2 })
    );
    for bad in [f64::NAN, f64::INFINITY] {
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            let mut a = array![[2.0, 1.0], [1.0, 2.0]];
            (a[[i, j]], a[[j, i]]) = (bad, bad);
            assert!(Cholesky::factor(a).is_err(), "{bad} at {i}, {j}");
        }
    }
    assert!(matches!(
        Cholesky::with_jitter(Array2::eye(2), &[0.0]),
        Err(LinalgError::Argument { name: "jitter", .. })
    ));
    let factor = Cholesky::factor(Array2::eye(2)).unwrap();
    assert_eq!(
        factor.solve(&Array2::zeros((3, 1))),
        Err(LinalgError::Height { expected: 2, found: 3 })
    );
}
