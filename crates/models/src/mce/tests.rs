use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_kernels::{Covariance, Smoothness};
use mercer_learning::{Predictor, entropies};
use ndarray::{Array2, array};
use proptest::prelude::*;
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

/// The paper's loss is 0 above 1; that of its code for images goes on falling.
#[test]
fn a_probability_above_one_may_be_clipped_or_not() {
    let p = array![[1.25, 0.0], [0.5, 0.5]];
    let both = Objective { form: Form::Sum, ..Objective::default() };
    let below = Objective { clip: Clip::Below, ..both };
    let (loss, slope) = both.loss(p.view(), &[0, 1]);
    assert_abs_diff_eq!(loss, 2f64.ln(), epsilon = 1e-15);
    assert_eq!(slope.diag(), array![0.0, -2.0]);
    let (loss, slope) = below.loss(p.view(), &[0, 1]);
    assert_abs_diff_eq!(loss, 2f64.ln() - 1.25f64.ln(), epsilon = 1e-15);
    assert_eq!(slope.diag(), array![-0.8, -2.0]);
}

/// `r = α ‖W‖` of what a fit leaves, whatever kernel or map.
#[test]
fn sensitivity_and_norm_stand_among_the_facts() {
    let y = labels(30, 2, 5);
    let sample = mercer_learning::Sample::classification(apart(2, &y, 6), y.clone(), 2).unwrap();
    for (kernel, map) in [
        (KernelName::Gaussian, FeatureForm::Implicit),
        (KernelName::Gaussian, FeatureForm::Fourier),
        (KernelName::Polynomial, FeatureForm::Implicit),
        (KernelName::Polynomial, FeatureForm::Monomials),
    ] {
        let kernel = KernelChoice::Named(kernel);
        let params = EmbeddingParams { kernel, map, epochs: 20, ..EmbeddingParams::default() };
        let mut fitting = mercer_learning::Fitting::seeded(1);
        let facts = params.checked().unwrap().embed(&sample, &mut fitting).unwrap().facts;
        let r = facts["alpha"] * facts["norm"];
        assert_relative_eq!(facts["complexity"], r, max_relative = 1e-12);
        assert_relative_eq!(facts["mean-loss"], facts["loss"] / 30.0, max_relative = 1e-12);
        if map == FeatureForm::Fourier {
            assert_relative_eq!(facts["alpha"], facts["scale"], max_relative = 1e-12);
        }
    }
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

/// Eighteen rows of three kinds, each column in `[0, 1]`.
fn kinds() -> (Array2<f64>, Vec<u32>) {
    let hundredths = [
        [10, 21],
        [18, 12],
        [5, 30],
        [22, 25],
        [15, 5],
        [28, 18],
        [81, 20],
        [92, 11],
        [77, 31],
        [88, 26],
        [70, 15],
        [95, 5],
        [50, 90],
        [42, 81],
        [58, 77],
        [47, 95],
        [61, 88],
        [52, 70],
    ];
    let x = Array2::from_shape_fn((18, 2), |(i, j)| (f64::from(hundredths[i][j]) - 5.0) / 90.0);
    (x, (0..18).map(|i| i / 6).collect())
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

/// The slopes where a jitter was needed are those of the embedding that it leaves.
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

/// What a fit asks for: the Gram matrix is that of the rows, features take `n p + p²`.
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

/// The golden values of the paper.
fn golden() -> toml::Table {
    include_str!("../../../../experiments/golden/mce.toml").parse().unwrap()
}

fn numbers(block: &toml::Table, name: &str) -> Vec<f64> {
    block[name].as_array().unwrap().iter().map(|v| v.as_float().unwrap()).collect()
}

fn matrix(block: &toml::Table, name: &str) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = block[name]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(|v| v.as_float().unwrap()).collect())
        .collect();
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

fn classes_of(block: &toml::Table) -> Vec<u32> {
    block["labels"].as_array().unwrap().iter().map(|v| v.as_integer().unwrap() as u32).collect()
}

fn golden_close(found: f64, golden: f64) {
    assert_relative_eq!(found, golden, max_relative = 1e-8, epsilon = 1e-11);
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

proptest! {
    /// `f`, `r` and `q` depend on scale and `λ` through `λ/s²` alone.
    #[test]
    fn scale_and_lambda_are_one_parameter(
        seed in 0u64..500, scale in 0.2..5.0f64, lambda in 1e-3..2.0f64, n in 6usize..25,
    ) {
        let y = labels(n, 3, seed);
        let x = apart(3, &y, seed + 1);
        for objective in objectives() {
            if objective.sensitivity == Sensitivity::One {
                continue;
            }
            let kernel = Covariance::Gaussian { scale, lengths: vec![0.8, 1.1, 0.6] };
            let found = Implicit::new(&kernel, x.view(), &y, 3, lambda).unwrap();
            let found = found.gradient(&objective, None).unwrap();
            let size = found.log_lambda.abs().max(1.0);
            prop_assert!((found.log_parameters[0] + 2.0 * found.log_lambda).abs() < 1e-8 * size);
            let unit = Covariance::Gaussian { scale: 1.0, lengths: vec![0.8, 1.1, 0.6] };
            let other = Implicit::new(&unit, x.view(), &y, 3, lambda / (scale * scale)).unwrap();
            let other = other.value(&objective, None);
            prop_assert!((found.value.objective - other.objective).abs() < 1e-9 * other.objective.abs().max(1.0));
        }
    }
}

#[test]
fn maps_agree_with_their_kernels_and_their_gradients_with_differences() {
    let (y, truth) = (labels(15, 2, 2), labels(8, 2, 3));
    let (x, other) = (apart(2, &y, 1), apart(2, &truth, 5));
    let polynomial = Covariance::Polynomial { degree: 3, scale: 0.7, offset: 0.4 };
    let gaussian = Covariance::Gaussian { scale: 1.2, lengths: vec![0.8, 1.5] };
    let maps = [
        ExplicitMap::monomials(&polynomial, 2).unwrap(),
        ExplicitMap::fourier(&gaussian, 2, 6, &mut ChaCha8Rng::seed_from_u64(4)).unwrap(),
    ];
    assert_eq!(maps[0].width(), 10);
    let z = maps[0].features(x.view());
    assert_abs_diff_eq!(z.dot(&z.t()), polynomial.gram(x.view()), epsilon = 1e-12);
    for map in maps {
        for objective in objectives() {
            let value = |map: &ExplicitMap| {
                let (z, held) = (map.features(x.view()), map.features(other.view()));
                let held = Held { rows: held.view(), labels: &truth };
                Explicit::new(z.view(), &y, 2, 0.1).unwrap().value(&objective, Some(held)).objective
            };
            let (z, held) = (map.features(x.view()), map.features(other.view()));
            let rows = Held { rows: held.view(), labels: &truth };
            let embedding = Explicit::new(z.view(), &y, 2, 0.1).unwrap();
            let found = embedding.gradient(&objective, Some(rows)).unwrap();
            let own = map.pull_back(x.view(), z.view(), found.features.view());
            let theirs = map.pull_back(other.view(), held.view(), found.held.unwrap().view());
            let parameters = map.kernel().parameters();
            assert_eq!((own.len(), theirs.len()), (parameters.len(), parameters.len()));
            for index in 0..parameters.len() {
                let numeric = difference(|h| {
                    let mut moved = parameters.clone();
                    moved[index] *= h.exp();
                    value(&map.with_parameters(&moved, 2).unwrap())
                });
                let by = own[index] + theirs[index];
                assert_relative_eq!(by, numeric, max_relative = 1e-6, epsilon = 1e-7);
            }
        }
    }
}

/// `λ/s²` stands among the facts only where it says all: a polynomial's offset stands beside `s²`.
#[test]
fn lambda_over_scale_squared_is_a_fact_of_kernels_with_a_factor() {
    let sample = blobs(20, 2, 1);
    for (kernel, there) in [
        (KernelName::Gaussian, true),
        (KernelName::MaternHalf, true),
        (KernelName::RationalQuadratic, true),
        (KernelName::Linear, true),
        (KernelName::Polynomial, false),
    ] {
        let at = |scale: f64, lambda: f64| {
            let params = EmbeddingParams {
                kernel: KernelChoice::Named(kernel),
                scale,
                lambda,
                learning: Learning::Nothing,
                ..EmbeddingParams::default()
            };
            fitted(params, &sample).unwrap().facts
        };
        let (one, two) = (at(1.0, 0.1), at(2.0, 0.4));
        assert_eq!(one.contains_key("lambda-over-scale-squared"), there, "{kernel:?}");
        let alike = (one["complexity"] - two["complexity"]).abs() < 1e-9 * one["complexity"];
        assert_eq!(alike, there, "{kernel:?}");
    }
}

/// Random Fourier features come to their kernel as the root of their number.
#[test]
fn fourier_features_converge_to_the_gaussian() {
    let x = random(12, 3, 6);
    for length in [0.3, 1.0, 4.0] {
        let kernel = Covariance::Gaussian { scale: 1.1, lengths: vec![length] };
        let gram = kernel.gram(x.view());
        for pairs in [500, 8000] {
            let mut rng = ChaCha8Rng::seed_from_u64(9);
            let z = ExplicitMap::fourier(&kernel, 3, pairs, &mut rng).unwrap().features(x.view());
            // Each entry is a mean of `pairs` cosines times s²: 5 deviations.
            let tolerance = 1.21 * 5.0 / (pairs as f64).sqrt();
            assert_abs_diff_eq!(z.dot(&z.t()), gram, epsilon = tolerance);
        }
    }
}

fn blobs(rows: usize, classes: u32, seed: u64) -> mercer_learning::Sample {
    let y = labels(rows, classes, seed);
    mercer_learning::Sample::classification(apart(4, &y, seed), y, classes as usize).unwrap()
}

fn fitted(
    params: EmbeddingParams,
    sample: &mercer_learning::Sample,
) -> Result<mercer_learning::Outcome<Embedding>, LearningError> {
    params.checked()?.embed(sample, &mut mercer_learning::Fitting::seeded(1))
}

/// Every way to learn makes its own objective smaller, or leaves the parameters where they were.
#[test]
fn learning_lowers_the_objective() {
    let sample = blobs(60, 3, 1);
    let base = EmbeddingParams { epochs: 60, ..EmbeddingParams::default() };
    let polynomial = KernelChoice::Named(KernelName::Polynomial);
    let ways = [
        base.clone(),
        EmbeddingParams { form: Form::Mean, ..base.clone() },
        EmbeddingParams { weight: Some(0.0), ..base.clone() },
        EmbeddingParams {
            kernel: KernelChoice::Named(KernelName::MaternFiveHalves),
            ..base.clone()
        },
        EmbeddingParams {
            kernel: KernelChoice::Named(KernelName::RationalQuadratic),
            ..base.clone()
        },
        EmbeddingParams { kernel: polynomial.clone(), ..base.clone() },
        EmbeddingParams { kernel: polynomial, map: FeatureForm::Monomials, ..base.clone() },
        EmbeddingParams { map: FeatureForm::Fourier, features: 40, ..base.clone() },
    ];
    for way in ways {
        let start = fitted(EmbeddingParams { learning: Learning::Nothing, ..way.clone() }, &sample);
        let (start, end) = (start.unwrap(), fitted(way.clone(), &sample).unwrap());
        assert!(end.facts["objective"] < start.facts["objective"], "{way:?}");
        assert_eq!(end.convergence, mercer_learning::Convergence::FixedSteps { steps: 60 });
    }
}

#[test]
fn monomials_and_the_gram_matrix_learn_the_same() {
    let sample = blobs(30, 2, 4);
    let base = EmbeddingParams {
        kernel: KernelChoice::Named(KernelName::Polynomial),
        epochs: 20,
        ..EmbeddingParams::default()
    };
    let implicit = fitted(base.clone(), &sample).unwrap();
    let explicit =
        fitted(EmbeddingParams { map: FeatureForm::Monomials, ..base }, &sample).unwrap();
    for name in ["objective", "lambda", "scale", "offset"] {
        assert_relative_eq!(implicit.facts[name], explicit.facts[name], max_relative = 1e-6);
    }
}

#[test]
fn batches_and_validation_learn_and_are_reproducible() {
    let sample = blobs(80, 3, 2);
    for (batches, validation) in [(8, 0.0), (4, 0.3), (1, 0.5)] {
        // Few held rows: at the weight 4e their loss would not count, as the text below (13) says.
        let weight = (validation > 0.0).then_some(0.3);
        let params =
            EmbeddingParams { batches, validation, weight, epochs: 30, ..Default::default() };
        let (one, two) =
            (fitted(params.clone(), &sample).unwrap(), fitted(params.clone(), &sample).unwrap());
        assert_eq!(one.predictor, two.predictor);
        let said = mercer_learning::Predictor::predict(&one.predictor, sample.inputs()).unwrap();
        let mercer_learning::Predictions::Classes(said) = said else { panic!("no classes") };
        let right = mercer_learning::accuracy(&said, sample.labels().unwrap());
        assert!(right > 0.8, "{batches} {validation}: {right}");
        let by_size = EmbeddingParams { batch: Some(80 / batches), batches: 1, ..params };
        let used = fitted(by_size, &sample).unwrap().facts["batch-used"];
        assert_abs_diff_eq!(used, 80.0 / batches as f64, epsilon = 0.0);
    }
}

#[test]
fn cross_validation_and_the_median_say_what_they_chose() {
    let sample = blobs(50, 3, 3);
    let crossed = EmbeddingParams {
        learning: Learning::CrossValidation,
        anisotropic: false,
        ..Default::default()
    };
    let found = fitted(crossed.clone(), &sample).unwrap();
    assert!(found.facts["validated-accuracy"] > 0.8);
    assert_abs_diff_eq!(found.facts["jitter-steps"], 0.0, epsilon = 0.0);
    // Every row twice, beside entries of 1e12: the smaller ridges are below their rounding.
    let twice: Vec<usize> = (0..50).chain(0..50).collect();
    let large = EmbeddingParams { scale: 1e6, ..crossed };
    let singular = fitted(large, &sample.select(&twice).unwrap()).unwrap();
    assert!((1.0..=245.0).contains(&singular.facts["jitter-steps"]), "{:?}", singular.facts);
    let ladder: Vec<f64> = (-6..=0).map(|k| 10f64.powi(k)).collect();
    assert!(ladder.contains(&found.facts["lambda"]));
    let median = EmbeddingParams {
        learning: Learning::Nothing,
        length: None,
        anisotropic: false,
        ..Default::default()
    };
    let found = fitted(median, &sample).unwrap();
    assert_relative_eq!(found.facts["length"], found.facts["median-distance"]);
}

#[test]
fn a_column_of_median_0_without_a_guard_leaves_the_first_class() {
    // In the last column half of all differences are 0.
    let x = Array2::from_shape_fn((40, 2), |(i, j)| match j {
        0 => f64::from(u32::from(i % 2 == 1)) + 0.01 * (i / 2) as f64,
        _ => f64::from(u32::from(i == 0)),
    });
    let y: Vec<u32> = (0..40).map(|i| i % 2).collect();
    let sample = mercer_learning::Sample::classification(x, y.clone(), 2).unwrap();
    let said = |median, zero| {
        let params = EmbeddingParams {
            learning: Learning::Nothing,
            length: None,
            anisotropic: false,
            median,
            lambda: 1e-3,
            ..Default::default()
        };
        let found = fitted(params, &sample).unwrap();
        assert_abs_diff_eq!(found.facts["columns-of-median-0"], zero);
        // Of a kernel of 0/0 there is no norm, and no loss that a bound could take.
        for name in ["norm", "mean-loss", "complexity", "length-0"] {
            assert_eq!(found.facts.contains_key(name), zero == 0.0, "{name}");
        }
        mercer_learning::Predictor::predict(&found.predictor, sample.inputs()).unwrap()
    };
    let guarded = said(MedianOf::Columns, 0.0);
    assert_eq!(guarded, mercer_learning::Predictions::Classes(y));
    let unguarded = said(MedianOf::ColumnsUnguarded, 1.0);
    assert_eq!(unguarded, mercer_learning::Predictions::Classes(vec![0; 40]));
}

/// A class without rows, a constant column, rows twice: each ends in a fit.
#[test]
fn odd_samples_are_fitted() {
    let base = EmbeddingParams { epochs: 15, ..EmbeddingParams::default() };
    let x = Array2::from_shape_fn((24, 3), |(i, j)| match j {
        0 => f64::from(u32::from(i % 2 == 0)) + 0.01 * (i / 4) as f64,
        1 => 0.25,
        _ => ((i / 4) as f64).cos(),
    });
    let y: Vec<u32> = (0..24).map(|i| if i % 2 == 0 { 0 } else { 2 }).collect();
    let sample = mercer_learning::Sample::classification(x, y.clone(), 3).unwrap();
    for batches in [1, 6] {
        let found = fitted(EmbeddingParams { batches, ..base.clone() }, &sample).unwrap();
        let said = mercer_learning::Predictor::predict(&found.predictor, sample.inputs()).unwrap();
        assert_eq!(said, mercer_learning::Predictions::Classes(y.clone()));
        // A constant column has no distances: its length scale has no slope, and stays.
        assert_abs_diff_eq!(found.facts["length-1"], 1.0, epsilon = 0.0);
    }
}

#[test]
fn bad_settings_of_the_model_are_refused_by_name() {
    let base = EmbeddingParams::default();
    let bad = [
        ("length", EmbeddingParams { length: Some(-1.0), ..base.clone() }),
        ("length", EmbeddingParams { length: Some(f64::NAN), ..base.clone() }),
        ("scale", EmbeddingParams { scale: 0.0, ..base.clone() }),
        ("lambda", EmbeddingParams { lambda: 0.0, ..base.clone() }),
        ("median", EmbeddingParams { median: MedianOf::ColumnsUnguarded, ..base.clone() }),
        ("rate", EmbeddingParams { rate: -0.1, ..base.clone() }),
        ("epsilon", EmbeddingParams { epsilon: 1.0, ..base.clone() }),
        ("weight", EmbeddingParams { weight: Some(-1.0), ..base.clone() }),
        ("epochs", EmbeddingParams { epochs: 0, ..base.clone() }),
        ("batches", EmbeddingParams { batches: 0, ..base.clone() }),
        ("batch", EmbeddingParams { batch: Some(0), ..base.clone() }),
        // What another setting would make of no effect, without a word.
        ("batches", EmbeddingParams { batches: 2, batch: Some(5), ..base.clone() }),
        ("median", EmbeddingParams { median: MedianOf::Columns, ..base.clone() }),
        ("degree", EmbeddingParams { degree: 0, ..base.clone() }),
        ("features", EmbeddingParams { features: 1, ..base.clone() }),
        ("folds", EmbeddingParams { folds: 1, ..base.clone() }),
        ("validation", EmbeddingParams { validation: 1.0, ..base.clone() }),
        ("map", EmbeddingParams { map: FeatureForm::Monomials, ..base.clone() }),
        (
            "learning",
            EmbeddingParams {
                learning: Learning::CrossValidation,
                map: FeatureForm::Fourier,
                ..base.clone()
            },
        ),
    ];
    for (name, params) in bad {
        let said = params.checked().unwrap_err().to_string();
        assert!(said.starts_with(&format!("setting `{name}` is")), "{name}: {said}");
    }
    // What only the sample shows.
    let sample = blobs(20, 2, 1);
    let said = |params: EmbeddingParams| fitted(params, &sample).err().unwrap().to_string();
    let large = said(EmbeddingParams { batch: Some(21), ..base.clone() });
    assert!(large.starts_with("setting `batch` is 21 for 20 training rows; it must be"), "{large}");
    let thin = said(EmbeddingParams { batch: Some(2), validation: 0.1, ..base.clone() });
    assert!(thin.starts_with("setting `validation`"), "{thin}");
    let lengths = Covariance::Gaussian { scale: 1.0, lengths: vec![1.0, 1.0, 0.0, 1.0] };
    let zero = said(EmbeddingParams { kernel: KernelChoice::Given(lengths), ..base.clone() });
    assert!(zero.starts_with("setting `kernel` is one with length-2 = 0; it must be"), "{zero}");
    assert_eq!(zero.matches("must be").count(), 1, "{zero}");
    let wide = KernelChoice::Given(Covariance::Gaussian { scale: 1.0, lengths: vec![1.0; 3] });
    assert!(
        said(EmbeddingParams { kernel: wide, ..base.clone() }).contains("3 length scales for 4")
    );
    // In range by itself, but not its square.
    let small = said(EmbeddingParams { length: Some(1e-200), ..base.clone() });
    assert_eq!(
        small,
        "setting `length` is 1e-200; it must be positive and finite, as must be its square"
    );
    let small = Covariance::Gaussian { scale: 1e-200, lengths: vec![1.0] };
    let small = said(EmbeddingParams { kernel: KernelChoice::Given(small), ..base.clone() });
    assert!(small.starts_with("setting `kernel` is one with scale = 1e-200; it must"), "{small}");
    // Before the memory of so many monomials is asked for.
    let polynomial = KernelChoice::Named(KernelName::Polynomial);
    let monomials = EmbeddingParams {
        kernel: polynomial,
        map: FeatureForm::Monomials,
        degree: 100_000,
        ..base.clone()
    };
    let steep = monomials.clone().checked().unwrap_err().to_string();
    assert!(steep.starts_with("setting `degree` is 100000; it must be at most 170"), "{steep}");
    let wide = said(EmbeddingParams { degree: 160, ..monomials });
    assert!(wide.starts_with("setting `degree` is 160 for 4 columns; it must be small"), "{wide}");
    // 200! is beyond the largest number, however few monomials there are.
    let steep = Covariance::Polynomial { degree: 200, scale: 1.0, offset: 1.0 };
    let refused = ExplicitMap::monomials(&steep, 1).unwrap_err().to_string();
    assert!(refused.starts_with("setting `degree` is 200; it must be at most 170"), "{refused}");
    let top = Covariance::Polynomial { degree: 170, scale: 1.0, offset: 1.0 };
    let map = ExplicitMap::monomials(&top, 1).unwrap();
    let z = map.features(array![[0.9], [0.5]].view());
    assert_eq!(z.ncols(), 171);
    let product = z.row(0).dot(&z.row(1));
    assert_relative_eq!(product, 1.45f64.powi(170), max_relative = 1e-10);
    // The batches of a method's own defaults give way to `batch`; others do not.
    let sgd = METHODS.iter().find(|method| method.name == "gmce-sgd").unwrap();
    let settings = (sgd.defaults)(&sample.shape()).with("batch", 5);
    assert!(sgd.learner(&settings, sample.task()).is_ok());
    let both = sgd.learner(&settings.with("batches", 4), sample.task()).err().unwrap().to_string();
    assert!(both.starts_with("setting `batches` is 4; it must be 1 where `batch`"), "{both}");
    let odd = EmbeddingParams { map: FeatureForm::Fourier, features: 3, ..base.clone() };
    assert!(said(odd).starts_with("setting `features` is 3; it must be even"));
    // A rate so large that the parameters leave the numbers.
    let wild = fitted(EmbeddingParams { rate: 1e4, epochs: 5, ..base }, &sample);
    assert!(matches!(wild, Err(LearningError::Diverged { .. })), "{:?}", wild.map(|f| f.facts));
}

#[test]
fn explicit_features_keep_the_laws() {
    use mercer_learning::conformance::Conformance;
    for (kernel, map) in [("gaussian", "fourier"), ("polynomial", "monomials")] {
        let settings = mercer_learning::Settings::new()
            .with("epochs", 30)
            .with("kernel", kernel)
            .with("map", map);
        Conformance::of(&METHODS[0]).with(settings).check().unwrap();
    }
}

/// `4e` by its number was a candidate beside the default, which is `4e`: a search compared it with itself.
#[test]
fn the_weight_of_the_paper_is_the_default_and_no_candidate_beside_it() {
    let shape = mercer_learning::Sample::classification(random(9, 2, 1), labels(9, 2, 1), 2);
    let shape = shape.unwrap().shape();
    for method in METHODS.iter().chain(cen::METHODS) {
        let anchors = (method.space)(&shape).anchors;
        assert!(anchors.iter().all(|anchor| anchor.get("weight").is_none()), "{}", method.name);
    }
    let weight = EmbeddingParams::default().objective().weight;
    assert_relative_eq!(weight, 4.0 * std::f64::consts::E);
}
