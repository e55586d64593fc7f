//! The objective and its gradients.

use super::*;

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
    assert_eq!(
        error(&kernel(-1.0), 0.1),
        "setting `kernel` is one with length = -1; it must be one whose parameters are positive and finite"
    );
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

/// Theorem 4 holds nothing anywhere: no decision probability exceeds `r`, so its right side is above 1 even
/// without the deviation, whatever rows, kernel and ridge. With 1 for `α` it may come out below.
///
/// Also where the ridge is far below the rounding of the Gram matrix, and nothing would be left of `r`.
#[test]
fn the_right_side_of_the_bound_is_never_below_one() {
    let printed = Objective { epsilon: (-1f64).exp(), ..Objective::default() };
    let (mut least, mut jittered) = (f64::INFINITY, 0);
    for seed in 0..80u64 {
        let y = labels(30, 2 + (seed % 3) as u32, seed);
        let classes = 2 + (seed % 3) as usize;
        let small = seed >= 40;
        let lambda = 10f64.powi((seed % 9) as i32 - if small { 17 } else { 5 });
        let long = apart(4, &y, seed) * 10f64.powi((seed % 4) as i32 - 1);
        let length = if small {
            10f64.powi((seed % 6) as i32 - 1)
        } else {
            0.1 * 3f64.powi((seed % 4) as i32)
        };
        let kernel = Covariance::Gaussian { scale: 1.0 + seed as f64, lengths: vec![length] };
        let implicit = Implicit::new(&kernel, long.view(), &y, classes, lambda).unwrap();
        let explicit = Explicit::new(long.view(), &y, classes, lambda).unwrap();
        for value in [implicit.value(&printed, None), explicit.value(&printed, None)] {
            assert!(value.objective >= 1.0 - 1e-12, "{seed}: {value:?}");
        }
        jittered += usize::from(implicit.jitter() > 0.0);
        let one = Objective { sensitivity: Sensitivity::One, ..printed };
        least = least.min(explicit.value(&one, None).objective);
    }
    assert!(least < 1.0, "{least}");
    assert!((1..40).contains(&jittered), "{jittered} of the 40 with a small ridge");
}

/// `‖W‖` of `K + (n λ + jitter) I`, by mpmath 1.3.0 with 60 digits. Without the jitter the four of
/// `λ ≤ 1e-15` came out as 0.
#[test]
fn the_norm_keeps_digits_as_lambda_and_the_slopes_vanish() {
    let (x, y) = kinds();
    for (lambda, length, jitter, norm) in [
        (1e-5, 1.0, 0.0, 18.272),
        (1e-11, 1e3, 0.0, 2381.6),
        (1e-12, 3e3, 0.0, 7068.7),
        (1e-12, 1e3, 1e-9, 2352.1),
        (1e-14, 30.0, 0.0, 5.4392e5),
        (1e-15, 3e3, 1e-9, 7025.4),
        (1e-16, 3e3, 1e-9, 7025.4),
        (1e-16, 10.0, 1e-13, 2.7180e5),
        (1e-17, 1e4, 1e-11, 23512.0),
    ] {
        let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![length] };
        let embedding = Implicit::new(&kernel, x.view(), &y, 3, lambda).unwrap();
        assert_relative_eq!(embedding.jitter(), jitter, max_relative = 1e-6);
        assert_relative_eq!(embedding.norm(), norm, max_relative = 0.01);
    }
}

/// The slopes where a jitter was needed belong to the embedding with that jitter.
#[test]
fn gradients_hold_where_the_ridge_is_nothing_beside_rounding() {
    let (x, y) = kinds();
    let objective = Objective { form: Form::Sum, ..Objective::default() };
    let at = |lambda: f64, length: f64| {
        let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![length] };
        Implicit::new(&kernel, x.view(), &y, 3, lambda).unwrap().gradient(&objective, None).unwrap()
    };
    for (lambda, length) in [(1e-16, 3e3), (1e-17, 1e3), (1e-11, 300.0), (1e-10, 1e3)] {
        let found = at(lambda, length);
        assert!(found.value.complexity > 100.0);
        let h: f64 = 0.02;
        let slope = |by: &dyn Fn(f64) -> f64| (by(h) - by(-h)) / (2.0 * h);
        let value = |step: f64| at(lambda, length * step.exp()).value.objective;
        assert_relative_eq!(found.log_parameters[1], slope(&value), max_relative = 0.02);
        let value = |step: f64| at(lambda * step.exp(), length).value.objective;
        let nothing = 1e-3 * found.value.objective;
        assert_relative_eq!(
            found.log_lambda,
            slope(&value),
            max_relative = 0.02,
            epsilon = nothing
        );
    }
}

/// A start without digits is left by learning, which pulled at nothing while the complexity was 0.
#[test]
fn learning_leaves_a_start_that_rounding_decides() {
    let sample = blobs(60, 3, 1);
    for (lambda, length) in [(1e-16, 1e4), (1e-17, 3e3)] {
        let params = EmbeddingParams {
            lambda,
            length: Some(length),
            epochs: 30,
            ..EmbeddingParams::default()
        };
        let start = EmbeddingParams { learning: Learning::Nothing, ..params.clone() };
        let (start, end) = (fitted(start, &sample).unwrap(), fitted(params, &sample).unwrap());
        assert!(
            start.facts["jitter"] > 0.0 && start.facts["complexity"] > 1.0,
            "{:?}",
            start.facts
        );
        assert!(end.facts["objective"] < start.facts["objective"], "{:?}", end.facts);
        assert!(end.facts["complexity"] > 1.0, "{:?}", end.facts);
    }
}

/// Memory of a fit: the Gram matrix is of the rows, features take `n p + p²`.
#[test]
fn memory_is_asked_for_by_the_form_of_the_features() {
    use std::sync::atomic::{AtomicU64, Ordering};
    #[derive(Default)]
    struct Asked(AtomicU64);
    impl mercer_learning::Limits for Asked {
        fn check(&self) -> Result<(), mercer_learning::LearningError> {
            Ok(())
        }
        fn reserve(&self, bytes: u64) -> Result<(), mercer_learning::LearningError> {
            self.0.fetch_max(bytes, Ordering::Relaxed);
            Ok(())
        }
    }
    let sample = blobs(200, 2, 1);
    let asked = |kernel, map, degree| {
        let params = EmbeddingParams {
            kernel: KernelChoice::Named(kernel),
            map,
            degree,
            features: 10,
            learning: Learning::Nothing,
            ..EmbeddingParams::default()
        };
        let asked = Asked::default();
        let mut fitting =
            mercer_learning::Fitting { limits: &asked, ..mercer_learning::Fitting::seeded(1) };
        params.checked().unwrap().embed(&sample, &mut fitting).unwrap();
        asked.0.load(Ordering::Relaxed) / 8
    };
    let (n, d) = (200, sample.features() as u64);
    let gram = asked(KernelName::Gaussian, FeatureForm::Implicit, 2);
    assert!((n * n..2 * n * n).contains(&gram), "{gram}");
    let fourier = asked(KernelName::Gaussian, FeatureForm::Fourier, 2);
    assert!((n * 10..n * n / 2).contains(&fourier), "{fourier}");
    // The width is that of the map, not of the setting `features`.
    let width = (d + 1) * (d + 2) / 2;
    let monomials = asked(KernelName::Polynomial, FeatureForm::Monomials, 2);
    assert!(monomials >= n * width + width * width, "{monomials} for {width} monomials");
}

#[test]
fn golden_objective_of_four_points() {
    let all = golden()["mce-1"].as_table().unwrap().clone();
    let number = |name: &str| all[name].as_float().unwrap();
    let (x, y) = (matrix(&all, "x"), classes_of(&all));
    let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![1.0, 1.0] };
    let embedding = Implicit::new(&kernel, x.view(), &y, 2, number("lambda")).unwrap();
    let p = embedding.probabilities();
    let expected = numbers(&all, "probabilities");
    for (i, row) in p.rows().into_iter().enumerate() {
        let (own, other) = (y[i] as usize, 1 - y[i] as usize);
        golden_close(row[own], expected[0]);
        golden_close(row[other], expected[1]);
    }
    let printed = Objective::default();
    let found = embedding.gradient(&printed, None).unwrap();
    golden_close(found.value.loss, number("mean-loss"));
    golden_close(found.value.complexity, number("complexity"));
    golden_close(embedding.complexity(Sensitivity::Supremum), number("complexity"));
    golden_close(found.value.objective, number("objective"));
    let summed = Objective { form: Form::Sum, ..printed };
    golden_close(embedding.value(&summed, None).objective, number("objective-of-sum"));
    // All parameters are 1, so derivatives by logarithms are those by the parameters.
    golden_close(found.log_parameters[0], number("by-scale"));
    for (by, golden) in found.log_parameters[1..].iter().zip(numbers(&all, "by-lengths")) {
        golden_close(*by, golden);
    }
    golden_close(found.log_lambda / number("lambda"), number("by-lambda"));
}

#[test]
fn golden_explicit_read_out() {
    let all = golden()["mce-2"].as_table().unwrap().clone();
    let (z, y) = (matrix(&all, "features"), classes_of(&all));
    let lambda = all["lambda"].as_float().unwrap();
    let embedding = Explicit::new(z.view(), &y, 2, lambda).unwrap();
    for (found, golden) in embedding.weights().iter().zip(&matrix(&all, "read-out")) {
        golden_close(*found, *golden);
    }
    golden_close(embedding.norm(), all["norm"].as_float().unwrap());
}

#[test]
fn golden_probabilities_and_entropies() {
    let all = golden()["mce-2"].as_table().unwrap().clone();
    let decision = numbers(&all, "decision");
    let row = Array2::from_shape_vec((1, 3), decision.clone()).unwrap();
    for (found, golden) in clip_normalised(row).iter().zip(numbers(&all, "clip-normalised")) {
        golden_close(*found, golden);
    }
    // An embedding that says just this of a point: one feature of value 1.
    let embedding = Embedding {
        task: mercer_learning::Task::Classification { classes: 3 },
        form: super::embedding::EmbeddingForm::Implicit {
            kernel: Covariance::Linear { scale: 1.0 },
            inputs: array![[1.0]],
        },
        weights: Array2::from_shape_vec((1, 3), decision).unwrap(),
    };
    let at = array![[1.0]];
    let shares = embedding.probabilities(at.view()).unwrap();
    golden_close(entropies(shares.view())[0], all["entropy"].as_float().unwrap());
    let embedded = embedding.embedded_entropy(at.view()).unwrap();
    golden_close(embedded[0], all["embedded-entropy"].as_float().unwrap());
    // Nothing positive: all classes alike, no information about any.
    let nothing = clip_normalised(array![[-1.0, 0.0]]);
    assert_eq!(nothing, array![[0.5, 0.5]]);
}
