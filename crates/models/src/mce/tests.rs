use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_kernels::{Covariance, Smoothness};
use ndarray::{Array2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

fn labels(rows: usize, classes: u32, seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..rows).map(|_| rng.gen_range(0..classes)).collect()
}

fn objectives() -> Vec<Objective> {
    let mut all = Vec::new();
    for form in [Form::Sum, Form::Mean] {
        for sensitivity in [Sensitivity::Supremum, Sensitivity::One] {
            for weight in [0.0, 0.7, 4.0 * std::f64::consts::E] {
                all.push(Objective { form, weight, sensitivity, ..Objective::default() });
            }
        }
    }
    all
}

/// Central differences of two widths, combined so that their error is of fourth order: the
/// logarithm of a small probability bends too much for one.
fn difference(at: impl Fn(f64) -> f64) -> f64 {
    let central = |h: f64| (at(h) - at(-h)) / (2.0 * h);
    let h = 1e-4;
    (4.0 * central(h) - central(2.0 * h)) / 3.0
}

/// Random rows that lie apart by class, so that no probability is near 0.
fn apart(columns: usize, labels: &[u32], seed: u64) -> Array2<f64> {
    let mut rows = random(labels.len(), columns, seed) * 0.7;
    for (mut row, &label) in rows.rows_mut().into_iter().zip(labels) {
        row[label as usize] += 1.0;
    }
    rows
}

/// Every derivative of the implicit objective, loss on the training rows and on held ones.
#[test]
fn implicit_gradients_agree_with_central_differences() {
    let (y, truth) = (labels(23, 3, 2), labels(9, 3, 4));
    let (x, other) = (apart(3, &y, 1), apart(3, &truth, 3));
    let gaussian = Covariance::Gaussian { scale: 1.3, lengths: vec![0.7, 1.9, 0.4] };
    let kernels = [
        gaussian.clone(),
        Covariance::Matern { smoothness: Smoothness::FiveHalves, scale: 0.8, lengths: vec![0.9] },
        Covariance::Product { of: vec![gaussian.clone(), Covariance::Linear { scale: 1.1 }] },
        Covariance::Sum {
            of: vec![gaussian, Covariance::Polynomial { degree: 2, scale: 0.6, offset: 0.4 }],
        },
    ];
    for kernel in &kernels {
        for objective in objectives() {
            for held in [false, true] {
                let value = |kernel: &Covariance, x: &Array2<f64>, other: &Array2<f64>, lambda| {
                    let held = held.then_some(Held { rows: other.view(), labels: &truth });
                    let embedding = Implicit::new(kernel, x.view(), &y, 3, lambda).unwrap();
                    embedding.value(&objective, held).objective
                };
                let (lambda, parameters) = (0.05, kernel.parameters());
                let rows = held.then_some(Held { rows: other.view(), labels: &truth });
                let embedding = Implicit::new(kernel, x.view(), &y, 3, lambda).unwrap();
                let found = embedding.gradient(&objective, rows).unwrap();
                let close = |analytic: f64, numeric: f64| {
                    assert_relative_eq!(analytic, numeric, max_relative = 1e-6, epsilon = 1e-7);
                };
                close(
                    found.log_lambda,
                    difference(|h| value(kernel, &x, &other, lambda * h.exp())),
                );
                for (index, &by) in found.log_parameters.iter().enumerate() {
                    close(
                        by,
                        difference(|h| {
                            let mut moved = parameters.clone();
                            moved[index] *= h.exp();
                            value(&kernel.with_parameters(&moved), &x, &other, lambda)
                        }),
                    );
                }
                for (i, j) in [(0, 0), (11, 2), (22, 1)] {
                    let numeric = difference(|h| {
                        let mut moved = x.clone();
                        moved[[i, j]] += h;
                        value(kernel, &moved, &other, lambda)
                    });
                    close(found.inputs[[i, j]], numeric);
                }
                if let Some(gradient) = found.held {
                    let numeric = difference(|h| {
                        let mut moved = other.clone();
                        moved[[4, 1]] += h;
                        value(kernel, &x, &moved, lambda)
                    });
                    close(gradient[[4, 1]], numeric);
                }
            }
        }
    }
}

#[test]
fn explicit_gradients_agree_with_central_differences() {
    let (y, truth) = (labels(23, 3, 2), labels(9, 3, 4));
    let (z, other) = (apart(5, &y, 1), apart(5, &truth, 3));
    for objective in objectives() {
        for held in [false, true] {
            let value = |z: &Array2<f64>, other: &Array2<f64>, lambda| {
                let embedding = Explicit::new(z.view(), &y, 3, lambda).unwrap();
                let rows = held.then_some(Held { rows: other.view(), labels: &truth });
                embedding.value(&objective, rows).objective
            };
            let rows = held.then_some(Held { rows: other.view(), labels: &truth });
            let embedding = Explicit::new(z.view(), &y, 3, 0.05).unwrap();
            let found = embedding.gradient(&objective, rows).unwrap();
            let close = |analytic: f64, numeric: f64| {
                assert_relative_eq!(analytic, numeric, max_relative = 1e-6, epsilon = 1e-7);
            };
            close(found.log_lambda, difference(|h| value(&z, &other, 0.05 * h.exp())));
            for (i, j) in [(0, 0), (11, 2), (22, 4)] {
                let numeric = difference(|h| {
                    let mut moved = z.clone();
                    moved[[i, j]] += h;
                    value(&moved, &other, 0.05)
                });
                close(found.features[[i, j]], numeric);
            }
            if let Some(gradient) = found.held {
                let numeric = difference(|h| {
                    let mut moved = other.clone();
                    moved[[4, 1]] += h;
                    value(&z, &moved, 0.05)
                });
                close(gradient[[4, 1]], numeric);
            }
        }
    }
}

/// Woodbury's identity: both forms are the same function of the features.
#[test]
fn explicit_features_are_the_linear_kernel() {
    let (z, y) = (random(30, 6, 7), labels(30, 4, 8));
    let kernel = Covariance::Linear { scale: 1.0 };
    let (dual, primal) = (
        Implicit::new(&kernel, z.view(), &y, 4, 0.02).unwrap(),
        Explicit::new(z.view(), &y, 4, 0.02).unwrap(),
    );
    for objective in objectives() {
        let a = dual.gradient(&objective, None).unwrap();
        let b = primal.gradient(&objective, None).unwrap();
        assert_relative_eq!(a.value.objective, b.value.objective, max_relative = 1e-11);
        assert_relative_eq!(a.value.complexity, b.value.complexity, max_relative = 1e-11);
        assert_abs_diff_eq!(a.inputs, b.features, epsilon = 1e-9);
        assert_relative_eq!(a.log_lambda, b.log_lambda, max_relative = 1e-8, epsilon = 1e-9);
    }
    assert_abs_diff_eq!(dual.probabilities(), primal.probabilities_of(z.view()), epsilon = 1e-12);
    let new = random(5, 6, 9);
    assert_abs_diff_eq!(
        dual.probabilities_of(new.view()),
        primal.probabilities_of(new.view()),
        epsilon = 1e-11
    );
}

#[test]
fn bad_settings_of_the_objective_are_refused_by_name() {
    for epsilon in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
        let error = Objective { epsilon, ..Objective::default() }.checked().unwrap_err();
        assert!(error.to_string().starts_with("setting `epsilon`"), "{error}");
    }
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let error = Objective { weight, ..Objective::default() }.checked().unwrap_err();
        assert!(error.to_string().starts_with("setting `weight`"), "{error}");
    }
    let x = array![[0.0], [1.0]];
    let kernel = |length| Covariance::Gaussian { scale: 1.0, lengths: vec![length] };
    let error = |kernel: &Covariance, lambda| {
        Implicit::new(kernel, x.view(), &[0, 1], 2, lambda).err().unwrap().to_string()
    };
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(error(&kernel(1.0), lambda).starts_with("setting `lambda`"));
        let explicit = Explicit::new(x.view(), &[0, 1], 2, lambda).err().unwrap();
        assert!(explicit.to_string().starts_with("setting `lambda`"));
    }
    assert!(error(&kernel(-1.0), 0.1).contains("`length` must be positive"));
}

/// λ → 0 with duplicate rows: the matrix is singular, the ladder says how much it took.
#[test]
fn a_singular_matrix_takes_a_jitter_and_says_so() {
    let x = Array2::from_shape_fn((40, 2), |(i, j)| ((i / 2 + j) as f64).sin());
    let y: Vec<u32> = (0..40).map(|i| u32::from(i % 4 < 2)).collect();
    let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![1.0] };
    let embedding = Implicit::new(&kernel, x.view(), &y, 2, 1e-300).unwrap();
    let found = embedding.gradient(&Objective::default(), None).unwrap();
    assert!(found.value.jitter > 0.0 && found.value.objective.is_finite());
    assert!(found.log_parameters.iter().all(|by| by.is_finite()));
    let fine = Implicit::new(&kernel, x.view(), &y, 2, 0.1).unwrap();
    assert_abs_diff_eq!(fine.jitter(), 0.0, epsilon = 0.0);
}

#[test]
fn memory_is_reused_without_a_trace() {
    let (x, y) = (random(20, 2, 1), labels(20, 2, 2));
    let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![0.5] };
    let fresh = Implicit::new(&kernel, x.view(), &y, 2, 0.1).unwrap();
    for stale in [Array2::from_elem((20, 20), f64::NAN), Array2::zeros((3, 3))] {
        let again = Implicit::in_memory(&kernel, x.view(), &y, 2, 0.1, stale).unwrap();
        assert_eq!(fresh.weights(), again.weights());
    }
}
