use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

/// One of each kind, anisotropic and not, and two trees.
fn kernels() -> Vec<Covariance> {
    let gaussian = Covariance::Gaussian { scale: 1.3, lengths: vec![0.7, 1.9, 0.4] };
    let matern = |smoothness, lengths| Covariance::Matern { smoothness, scale: 0.8, lengths };
    let rational =
        Covariance::RationalQuadratic { scale: 0.9, lengths: vec![0.5, 0.8, 1.1], shape: 1.7 };
    let polynomial = Covariance::Polynomial { degree: 3, scale: 0.6, offset: 0.4 };
    vec![
        gaussian.clone(),
        Covariance::Gaussian { scale: 0.5, lengths: vec![1.2] },
        matern(Smoothness::Half, vec![0.9]),
        matern(Smoothness::ThreeHalves, vec![0.9, 1.5, 0.3]),
        matern(Smoothness::FiveHalves, vec![0.9, 1.5, 0.3]),
        rational.clone(),
        Covariance::Linear { scale: 1.4 },
        polynomial.clone(),
        Covariance::Sum { of: vec![gaussian.clone(), Covariance::Linear { scale: 0.3 }] },
        Covariance::Product { of: vec![rational, polynomial, gaussian] },
    ]
}

#[test]
fn entries_agree_with_the_definition_across_tiles() {
    for (m, n) in [(1, 1), (5, 40), (257, 30), (300, 530)] {
        let (x, z) = (random(m, 3, 1), random(n, 3, 2));
        for kernel in kernels() {
            let slow = |a: &Array2<f64>, b: &Array2<f64>| {
                Array2::from_shape_fn((a.nrows(), b.nrows()), |(i, j)| {
                    kernel.of(a.row(i), b.row(j))
                })
            };
            // Near-equal points: a distance of 1e-16 that should be 0 is 1e-8 under Matérn's root.
            let cross = kernel.cross_gram(x.view(), z.view());
            assert_abs_diff_eq!(cross, slow(&x, &z), epsilon = 1e-12);
            let gram = kernel.gram(x.view());
            assert_abs_diff_eq!(gram, slow(&x, &x), epsilon = 5e-8);
            assert_eq!(gram, gram.t(), "exact symmetry");
            assert_abs_diff_eq!(gram.diag().to_owned(), kernel.diagonal(x.view()), epsilon = 5e-8);
        }
    }
}

/// `Σ left_i right_j K_ij` and its derivatives, over several tiles.
#[test]
fn gradients_agree_with_central_differences() {
    let (x, q) = (random(270, 3, 3), random(270, 2, 4));
    // Symmetric of rank 4: C Vᵀ + V Cᵀ.
    let v = random(270, 2, 5);
    let left = ndarray::concatenate![Axis(1), q, v];
    let right = ndarray::concatenate![Axis(1), v, q];
    let adjoint = Adjoint::new(left.view(), right.view()).with_spike(261, 0.9);
    let dense = {
        let mut dense = left.dot(&right.t());
        dense[[261, 261]] += 0.9;
        dense
    };
    let h = f64::EPSILON.cbrt();
    for kernel in kernels() {
        let value = |kernel: &Covariance, x: &Array2<f64>| (&kernel.gram(x.view()) * &dense).sum();
        let gram = kernel.gram(x.view());
        for at_hand in [None, Some(gram.view())] {
            let gradient = kernel.gram_gradient(x.view(), at_hand, &adjoint);
            let parameters = kernel.parameters();
            assert_eq!(gradient.parameters.len(), parameters.len());
            for (index, &by) in gradient.parameters.iter().enumerate() {
                let at = |step: f64| {
                    let mut moved = parameters.clone();
                    moved[index] *= step.exp();
                    value(&kernel.with_parameters(&moved), &x)
                };
                let numeric = (at(h) - at(-h)) / (2.0 * h);
                assert_relative_eq!(by, numeric, max_relative = 2e-6, epsilon = 1e-5);
            }
            for (i, j) in [(0, 0), (100, 2), (261, 1)] {
                let at = |step: f64| {
                    let mut moved = x.clone();
                    moved[[i, j]] += step;
                    value(&kernel, &moved)
                };
                let numeric = (at(h) - at(-h)) / (2.0 * h);
                let by = gradient.inputs[[i, j]];
                assert_relative_eq!(by, numeric, max_relative = 2e-6, epsilon = 1e-5);
            }
        }
    }
}

#[test]
fn cross_gradients_agree_with_central_differences() {
    let (x, z) = (random(7, 3, 3), random(9, 3, 4));
    let (left, right) = (random(7, 2, 5), random(9, 2, 6));
    let (adjoint, dense) = (Adjoint::new(left.view(), right.view()), left.dot(&right.t()));
    let h = f64::EPSILON.cbrt();
    for kernel in kernels() {
        let value = |kernel: &Covariance, x: &Array2<f64>, z: &Array2<f64>| {
            (&kernel.cross_gram(x.view(), z.view()) * &dense).sum()
        };
        let gradient = kernel.cross_gradient(x.view(), z.view(), &adjoint);
        let parameters = kernel.parameters();
        for (index, &by) in gradient.parameters.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = parameters.clone();
                moved[index] *= step.exp();
                value(&kernel.with_parameters(&moved), &x, &z)
            };
            assert_relative_eq!(
                by,
                (at(h) - at(-h)) / (2.0 * h),
                max_relative = 1e-7,
                epsilon = 1e-8
            );
        }
        for (i, j) in [(0, 0), (3, 2), (6, 1)] {
            let at = |step: f64, side: usize| {
                let (mut x, mut z) = (x.clone(), z.clone());
                if side == 0 {
                    x[[i, j]] += step;
                } else {
                    z[[i, j]] += step;
                }
                value(&kernel, &x, &z)
            };
            for (side, by) in [(0, gradient.left[[i, j]]), (1, gradient.right[[i, j]])] {
                let numeric = (at(h, side) - at(-h, side)) / (2.0 * h);
                assert_relative_eq!(by, numeric, max_relative = 1e-7, epsilon = 1e-8);
            }
        }
    }
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let gaussian =
        |scale, lengths: &[f64]| Covariance::Gaussian { scale, lengths: lengths.to_vec() };
    let message = |kernel: &Covariance| kernel.check(3).unwrap_err().to_string();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
        let said = message(&gaussian(1.0, &[1.0, bad, 1.0]));
        assert!(said.starts_with("`length-1` must be positive and finite"), "{said}");
        assert!(message(&gaussian(bad, &[1.0])).starts_with("`scale`"));
    }
    assert!(message(&gaussian(1.0, &[1.0, 1.0])).contains("2 length scales for 3 columns"));
    assert!(message(&Covariance::Sum { of: vec![] }).contains("at least one kernel"));
    let nested = Covariance::Product { of: vec![gaussian(1.0, &[1.0]), gaussian(1.0, &[-2.0])] };
    assert!(message(&nested).starts_with("`length` must be positive"));
    assert!(
        message(&Covariance::Polynomial { degree: 0, scale: 1.0, offset: 1.0 }).contains("degree")
    );
    for kernel in kernels() {
        kernel.check(3).unwrap();
    }
}

#[test]
fn parameters_go_round() {
    for kernel in kernels() {
        let values: Vec<f64> = (1..=kernel.parameters().len()).map(|i| i as f64).collect();
        assert_eq!(kernel.with_parameters(&values).parameters(), values);
        let text = toml::to_string(&kernel).unwrap();
        assert_eq!(toml::from_str::<Covariance>(&text).unwrap(), kernel);
    }
}

/// Where squared norms overflow, different points are infinitely far apart, and not equal: 0, or no number
/// where a factor grows while the exponential falls.
#[test]
fn squares_that_overflow_make_no_neighbours() {
    let far = random(300, 3, 5) * 1e200;
    for kernel in kernels() {
        let stationary = matches!(
            kernel,
            Covariance::Gaussian { .. }
                | Covariance::Matern { .. }
                | Covariance::RationalQuadratic { .. }
        );
        if !stationary {
            continue;
        }
        let gram = kernel.gram(far.view());
        for ((i, j), &entry) in gram.indexed_iter() {
            let equal = kernel.of(far.row(i), far.row(i));
            if i == j {
                assert_abs_diff_eq!(entry, equal, epsilon = 1e-15);
            } else {
                assert!(entry.is_nan() || entry < 1e-9 * equal, "{kernel:?}: {entry}");
            }
        }
    }
}
