//! Fits: learned parameters, choices and refusals.

use super::*;

/// The paper's loss is 0 above 1; the loss of its code for images goes on falling.
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
