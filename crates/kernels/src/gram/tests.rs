use super::*;
use approx::assert_abs_diff_eq;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const KERNELS: [Kernel; 8] = [
    Kernel::Gaussian { std: 0.7 },
    Kernel::Gaussian { std: 0.0 },
    Kernel::Matern { std: 0.7, smoothness: Smoothness::Half },
    Kernel::Matern { std: 0.7, smoothness: Smoothness::ThreeHalves },
    Kernel::Matern { std: 0.7, smoothness: Smoothness::FiveHalves },
    Kernel::Linear,
    Kernel::Polynomial { degree: 3, offset: 0.5, std: 1.0 },
    Kernel::Polynomial { degree: 2, offset: 0.5, std: 0.7 },
];

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

fn slow(kernel: Kernel, left: &Array2<f64>, right: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((left.nrows(), right.nrows()), |(i, j)| {
        kernel.of(left.row(i), right.row(j))
    })
}

#[test]
fn entries_agree_with_the_definition_across_tiles() {
    // One row, less than a tile, a tile and a bit, two tiles and a bit.
    for (m, n, d) in [(1, 1, 1), (3, 40, 7), (257, 30, 2), (530, 300, 5)] {
        let (x, z) = (random(m, d, 1), random(n, d, 2));
        for kernel in KERNELS {
            let cross = kernel.cross_gram(x.view(), z.view());
            assert_abs_diff_eq!(cross, slow(kernel, &x, &z), epsilon = 1e-13);
            let gram = kernel.gram(x.view());
            assert_abs_diff_eq!(gram, slow(kernel, &x, &x), epsilon = 1e-13);
            assert_eq!(gram, gram.t(), "exact symmetry");
            for threads in [1, 2, 5] {
                let upper = kernel.upper_gram(x.view(), threads);
                let mut whole = upper;
                whole
                    .indexed_iter_mut()
                    .filter(|((i, j), _)| i > j)
                    .for_each(|((i, j), entry)| *entry = gram[[i, j]]);
                assert_eq!(whole, gram, "{threads} threads");
            }
        }
    }
}

#[test]
fn the_gaussian_diagonal_is_one_and_no_entry_exceeds_it() {
    // Near-equal points far from the origin: distances that rounding makes negative.
    let x = random(300, 3, 3) * 1e-9 + 1e6;
    let gram = Kernel::Gaussian { std: 5.0 }.gram(x.view());
    assert!(gram.diag().iter().all(|&entry| entry.to_bits() == 1f64.to_bits()));
    assert!(gram.iter().all(|&entry| (0.0..=1.0).contains(&entry)));
}

#[test]
fn squares_that_overflow_make_no_neighbours() {
    let x = random(300, 3, 6);
    for size in [1e155, 1e200, 1e300] {
        let far = &x * size;
        for std in [1e-3, 1.0] {
            let kernel = Kernel::Gaussian { std };
            assert_eq!(kernel.gram(far.view()), Array2::<f64>::eye(300), "{size}");
            // Equal points stay equal.
            let again = kernel.cross_gram(far.slice(s![..7, ..]), far.view());
            assert_eq!(again, Array2::<f64>::eye(300).slice(s![..7, ..]), "{size}");
        }
    }
}

/// Of rounding, the square of a large norm is more than the distance to a neighbour.
#[test]
fn a_point_knows_itself_and_its_neighbours_at_any_width() {
    let x = random(300, 3, 7);
    for (size, std) in [(1.0, 1e7), (1.0, 1e8), (1e8, 1.0), (1e6, 1e3)] {
        let x = &x * size;
        let kernel = Kernel::Gaussian { std };
        // Half a width away from the first.
        let mut near = x.clone();
        near.column_mut(0)[0] += 0.5 / std;
        let cross = kernel.cross_gram(near.view(), x.view());
        let apart = std * (near[[0, 0]] - x[[0, 0]]);
        assert_abs_diff_eq!(cross[[0, 0]], (-0.5 * apart * apart).exp(), epsilon = 1e-6);
        for i in 1..300 {
            assert_abs_diff_eq!(cross[[i, i]], 1.0, epsilon = 1e-12);
        }
        assert_abs_diff_eq!(kernel.gram(near.view()), slow(kernel, &near, &near), epsilon = 1e-6);
    }
}

#[test]
fn a_shift_of_all_points_costs_no_accuracy() {
    let x = random(50, 4, 4);
    let far = x.mapv(|entry| entry + 4096.0);
    let kernel = Kernel::Gaussian { std: 1.5 };
    // What is left is the rounding of the shifted inputs: 4096 ε, times the slope of k.
    let tolerance = 1e-11;
    assert_abs_diff_eq!(kernel.gram(far.view()), kernel.gram(x.view()), epsilon = tolerance);
    assert_abs_diff_eq!(
        kernel.cross_gram(far.view(), far.view()),
        kernel.gram(x.view()),
        epsilon = tolerance
    );
}

#[test]
fn column_major_views_are_read_right() {
    let x = random(4, 9, 5);
    let kernel = Kernel::Gaussian { std: 1.0 };
    let turned = x.t().to_owned();
    assert_abs_diff_eq!(kernel.gram(x.t()), slow(kernel, &turned, &turned), epsilon = 1e-14);
}

proptest! {
    #[test]
    fn gaussian_gram_matrices_have_no_negative_eigenvalue(
        seed in 0u64..1000, n in 2usize..30, log_std in -4.0..4.0f64,
    ) {
        let gram = Kernel::Gaussian { std: log_std.exp2() }.gram(random(n, 3, seed).view());
        let values = mercer_linalg::symmetric_eigen(gram.view()).unwrap().values;
        prop_assert!(values[0] > -1e-13 * n as f64, "{}", values[0]);
    }
}
