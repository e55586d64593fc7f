//! What settings mean, and which are refused.

use super::*;

#[test]
fn subsets_without_a_class_are_counted_and_numbers_stand_in_messages() {
    let x = random(40, 2, 43);
    let labels: Vec<u32> = (0..40).map(|i| u32::from(i % 20 == 0)).collect(); // 38 and 2
    let sample = Sample::classification(x, labels, 2).unwrap();
    for method in ["hyper-krr", "hyper-svr"] {
        let method = find(METHODS, method).unwrap();
        let fit = |subsets: usize| {
            let settings = (method.defaults)(&sample.shape()).with("subsets", subsets);
            method.learner(&settings, sample.task()).unwrap().fit(&sample, &mut Fitting::seeded(2))
        };
        // Two rows of a class are in two of five subsets at most.
        assert!(fit(5).unwrap().facts["subsets-without-a-class"] >= 3.0);
        assert!(!fit(1).unwrap().facts.contains_key("subsets-without-a-class"));
        let said = fit(21).err().unwrap().to_string();
        assert!(said.contains("21 for 40 points"), "{said}");
    }
    let settings = Settings::new().with("landmarks", 12).with("subsets", 4);
    let learner = find(METHODS, "hyper-krr").unwrap().learner(&settings, sample.task()).unwrap();
    let said = learner.fit(&sample, &mut Fitting::seeded(2)).err().unwrap().to_string();
    assert!(said.contains("12 where a subset has 10 points"), "{said}");
    let params = HyperClassifierParams {
        stage2: Stage2::Features,
        spectrum: mercer_solvers::PsdCorrection::Clip,
        ..HyperClassifierParams::default()
    };
    let said = params.checked().unwrap_err().to_string();
    assert_eq!(
        said,
        "setting `spectrum` is `clip`; it must be `as-is` or `flip` unless `stage2` is `machine`: the other stages flip what is negative"
    );
}

/// Also where all pairs have a coefficient (`exact_points`, `cholesky`), and landmarks would not be looked at.
#[test]
fn more_landmarks_than_a_subset_has_points_are_refused_by_every_route() {
    let sample = square(20);
    for (method, more) in [
        ("hyper-svr", Settings::new()),
        ("hyper-krr", Settings::new().with("solver", "cholesky").with("subsets", 1)),
        ("hyper-krr", Settings::new().with("solver", "conjugate-gradients").with("subsets", 1)),
        ("hyper-krr", Settings::new().with("solver", "nystrom")),
        ("hyper-non-negative", Settings::new()),
    ] {
        let method = find(METHODS, method).unwrap();
        for (landmarks, subsets, held) in [(50, 1, 20), (8, 4, 5)] {
            if more.get("subsets").is_some() && subsets > 1 {
                continue;
            }
            let settings = (method.defaults)(&sample.shape())
                .with("landmarks", landmarks)
                .with("subsets", subsets)
                .overridden_by(&more);
            let learner = method.learner(&settings, sample.task()).unwrap();
            let said = learner.fit(&sample, &mut Fitting::seeded(2)).err().unwrap().to_string();
            let wanted = format!("`landmarks` is {landmarks} where a subset has {held} points");
            assert!(said.contains(&wanted), "{}: {said}", method.name);
        }
    }
}

/// The bias of the regression makes `k` less by a constant: the whole negative part may come from it.
#[test]
fn negative_mass_is_said_without_the_bias_too() {
    let sample = square(40);
    let method = find(METHODS, "hyper-svr").unwrap();
    let fit = |settings: Settings| {
        let learner = method.learner(&settings, sample.task()).unwrap();
        learner.fit(&sample, &mut Fitting::seeded(2)).unwrap()
    };
    let facts = fit((method.defaults)(&sample.shape())).facts;
    let (with, without) = (facts["negative-mass"], facts["negative-mass-without-bias"]);
    assert!((0.0..1.0).contains(&without) && (with - without).abs() > 1e-6, "{with} {without}");
    // Least squares have no bias, so that there is one number.
    let ridge = find(METHODS, "hyper-krr").unwrap();
    let learner = ridge.learner(&Settings::new(), sample.task()).unwrap();
    let facts = learner.fit(&sample, &mut Fitting::seeded(2)).unwrap().facts;
    assert!(!facts.contains_key("negative-mass-without-bias"), "{facts:?}");
}

/// One iteration of conjugate gradients solves nothing, and a search by such kernels says so.
#[test]
fn a_search_says_how_many_of_its_fits_stopped_short() {
    let sample = square(30);
    let method = find(METHODS, "hyper-krr").unwrap();
    let fact = |settings: Settings| {
        let learner = method.learner(&settings, sample.task()).unwrap();
        let facts = learner.fit(&sample, &mut Fitting::seeded(2)).unwrap().facts;
        facts.get(fact::SEARCH_NOT_CONVERGED).copied()
    };
    let searched = Settings::new().with("search", "folds");
    assert_eq!(fact(searched.clone()), Some(0.0));
    // Some of the eleven ridges in each of five folds and five spreads.
    let cut = fact(searched.with("iterations", 1)).unwrap();
    assert!((50.0..=275.0).contains(&cut), "{cut}");
    assert_eq!(fact(Settings::new()), None);
}

#[test]
fn regressions_other_than_least_squares_are_averaged_over_subsets_too() {
    let x = random(90, 2, 23);
    let labels: Vec<u32> = x.rows().into_iter().map(|x| u32::from(x[0] > 0.5)).collect();
    let sample = Sample::classification(x.clone(), labels.clone(), 2).unwrap();
    for method in ["hyper-svr", "hyper-non-negative"] {
        let settings = Settings::new()
            .with("subsets", 3)
            .with("landmarks", 5)
            .with("pairs", 300)
            .with("exact_points", 10)
            .with("cost", 10.0);
        let learner = find(METHODS, method).unwrap().learner(&settings, sample.task()).unwrap();
        let fit = |threads| {
            let mut fitting = Fitting { threads, ..Fitting::seeded(3) };
            learner.fit(&sample, &mut fitting).unwrap()
        };
        let (one, two) = (fit(1), fit(2));
        assert_eq!(one.facts, two.facts);
        assert_abs_diff_eq!(one.facts["pairs"], 900.0);
        // The worst of the parts, which are all below 0: a dual is minimised.
        assert!(one.facts.get("objective").is_none_or(|&least| least < 0.0), "{:?}", one.facts);
        let said = one.predictor.predict(x.view()).unwrap();
        let Predictions::Classes(said) = said else { unreachable!() };
        let right = said.iter().zip(&labels).filter(|(a, b)| a == b).count();
        assert!(right >= 80, "{method}: {right} of 90");
        let many = Settings::new().with("subsets", 46);
        let learner = find(METHODS, method).unwrap().learner(&many, sample.task()).unwrap();
        let error = learner.fit(&sample, &mut Fitting::seeded(1)).err().unwrap().to_string();
        assert!(error.contains("subsets") && error.contains("46"), "{error}");
    }
}

#[test]
fn a_width_that_leaves_double_precision_is_named_with_what_it_makes() {
    let x = random(9, 3, 13);
    for (name, params) in [
        ("width", HyperClassifierParams { width: 1e305, ..Default::default() }),
        ("spread", HyperClassifierParams { spread: 1e305, ..Default::default() }),
        ("width", HyperClassifierParams { width: 1e-305, ..Default::default() }),
    ] {
        let said = params.kernel(x.view()).unwrap_err().to_string();
        assert!(said.contains(&format!("`{name}` = 1e")) && said.contains("--scale"), "{said}");
    }
    let huge = &x * 1e200;
    let said = HyperClassifierParams::default().kernel(huge.view()).unwrap_err().to_string();
    assert!(said.contains("`width` = 1e0 makes a variance of inf"), "{said}");
}

/// `C` went unscaled from 48 points to 1600, where the same number is a thousandth of the ridge.
#[test]
fn a_cost_is_carried_over_as_the_ridge_that_it_stands_for() {
    let ridge = |cost: f64, m: f64| 1.0 / (2.0 * cost * m * m);
    for own in [40.0, 80.0, 276.0, 1600.0] {
        let cost = PairSvr::carried_over(0.1, 80.0, own);
        assert!((ridge(cost, own) / ridge(0.1, 80.0) - 1.0).abs() < 1e-12, "{own}");
    }
}

/// On all pairs and on a sample, a ridge is the cost of its number of points.
#[test]
fn a_ridge_of_the_regression_is_the_cost_of_its_points() {
    let x = random(24, 2, 14);
    let labels = halves(24);
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let lambda = 1e-3;
    for exact_points in [24, 10] {
        let usual = PairSvr { exact_points, landmarks: 8, pairs: 500, ..PairSvr::default() };
        let learn = |svr: PairSvr| {
            svr.learn(&gaussian(x.view()), x.view(), &target, &Fitting::seeded(1)).unwrap()
        };
        let by_ridge = learn(PairSvr { ridge: Some(lambda), ..usual.clone() });
        let cost = 1.0 / (2.0 * lambda * 24.0 * 24.0);
        let by_cost = learn(PairSvr { cost, ..usual.clone() });
        assert_eq!(by_ridge.kernel.coefficients(), by_cost.kernel.coefficients());
        let other = learn(usual);
        assert_ne!(by_ridge.kernel.coefficients(), other.kernel.coefficients());
    }
}

/// The same folds, and as many points right. Of the settings that get so many right, the one that regularises the most
/// is taken, of least squares and of the regression with a tube alike.
#[test]
fn ties_go_to_more_regularisation() {
    let mut differed = 0;
    for (stage1, name) in [(Stage1::Ridge, "chosen-lambda"), (Stage1::Svr, "chosen-pair-cost")] {
        for rows in [24, 40, 60] {
            let sample = square(rows);
            let fit = |search| {
                let params = HyperClassifierParams { stage1, search, ..Default::default() };
                let learner = params.checked().unwrap();
                learner.fit(&sample, &mut Fitting::seeded(1)).unwrap().facts
            };
            let (plain, tied) = (fit(Search::Folds), fit(Search::RegularisedFolds));
            assert_abs_diff_eq!(plain["search-right"], tied["search-right"]);
            let ratio = tied[name] / plain[name];
            let more = if stage1 == Stage1::Svr { 1.0 / ratio } else { ratio };
            assert!(
                more > 1.0 - 1e-9,
                "{stage1:?} of {rows} rows: {} for {}",
                tied[name],
                plain[name]
            );
            differed += usize::from(more > 2.0);
            // Where the regression is as strong, the machine is the more regularised one.
            if (more - 1.0).abs() < 1e-9 {
                assert!(tied["chosen-cost"] <= plain["chosen-cost"] * (1.0 + 1e-9), "{tied:?}");
            }
        }
    }
    assert!(differed >= 2, "{differed}");
}

/// Settings that `auto` does not read are named. Settings that it reads, or whose values change nothing, are not.
#[test]
fn settings_that_the_chosen_solver_does_not_read_are_facts() {
    let sample = square(40);
    let unread = |params: HyperClassifierParams| -> Vec<String> {
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        let names = fitted.facts.keys();
        names.filter_map(|name| name.strip_prefix("unread-")).map(ToOwned::to_owned).collect()
    };
    let base = HyperClassifierParams::default();
    // 40 points: by Cholesky.
    let few = HyperClassifierParams { pairs: Some(9), rank: 7, tolerance: 0.5, ..base.clone() };
    assert_eq!(unread(few.clone()), ["pairs", "rank", "tolerance"]);
    let named = HyperClassifierParams { solver: PairSolver::Nystrom, ..few.clone() };
    assert!(unread(HyperClassifierParams { landmarks: Some(5), ..named }).is_empty());
    // Landmarks: in linear time, or with drawn pairs by Nyström.
    let linear = HyperClassifierParams { landmarks: Some(5), rank: 7, ..base.clone() };
    assert!(unread(linear).is_empty());
    let drawn = HyperClassifierParams { landmarks: Some(5), ..few.clone() };
    assert_eq!(unread(drawn), ["rank", "tolerance"]);
    // The folds are solved by conjugate gradients, whatever the fit.
    assert_eq!(unread(HyperClassifierParams { search: Search::Folds, ..few }), ["pairs", "rank"]);
    assert!(unread(base).is_empty());
}

/// Widths far from what the inputs are apart leave a kernel that is the same for any two rows; the fit says so.
#[test]
fn a_flat_kernel_is_a_fact() {
    let sample = square(40);
    let variation = |stage1, width| {
        let params = HyperClassifierParams { stage1, width, ..Default::default() };
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        fitted.facts[mercer_learning::fact::KERNEL_VARIATION]
    };
    for stage1 in [Stage1::Ridge, Stage1::Svr, Stage1::NonNegative] {
        for width in [1e-20, 1e20] {
            assert!(variation(stage1, width) < 1e-9, "{stage1:?} {width:e}");
        }
        let usual = variation(stage1, 1.0);
        assert!(usual > 0.1, "{stage1:?} {usual}");
    }
    // Also where a row is there twice, and where another second stage takes the place of the machine.
    let twice = Array2::from_shape_fn((41, 2), |(i, c)| sample.inputs()[[i % 40, c]]);
    let Targets::Classes { labels, .. } = sample.targets() else { panic!("classes") };
    let labels = (0..41).map(|i| labels[i % 40]).collect();
    let sample = Sample::classification(twice, labels, 2).unwrap();
    for stage2 in [Stage2::Machine, Stage2::Features, Stage2::Rows] {
        let params = HyperClassifierParams { stage2, width: 1e-20, ..Default::default() };
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        assert!(fitted.facts[mercer_learning::fact::KERNEL_VARIATION] < 1e-9, "{stage2:?}");
    }
}

/// Settings found on few rows are fitted to many: no search ends with a `C`, which fits one number of them.
#[test]
fn a_tuned_regression_with_a_tube_has_a_ridge() {
    let task = Task::Classification { classes: 2 };
    let shape = Shape { rows: 300, features: 4, task };
    for name in ["hyper-svr", "hyper-svr-wishart"] {
        let method = find(METHODS, name).unwrap();
        let space = (method.space)(&shape);
        assert!(space.axes.iter().any(|axis| axis.name == "pair_ridge"), "{name}");
        assert!(space.axes.iter().all(|axis| axis.name != "pair_cost"), "{name}");
        assert!(space.anchors.iter().all(|anchor| anchor.get("pair_ridge").is_some()), "{name}");
        assert!((method.user_defaults)(&shape).get("pair_ridge").is_some(), "{name}");
    }
}

#[test]
fn the_regression_by_a_sample_comes_near_that_of_all_pairs() {
    let x = random(40, 2, 14);
    let known = Kernel::Gaussian { std: 1.5 }.gram(x.view());
    let target = PairTarget::matrix(known.view()).unwrap();
    let hyper = gaussian(x.view());
    let svr = PairSvr { epsilon: 0.02, cost: 10.0, ..PairSvr::default() };
    let all = svr.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
    let some = PairSvr { exact_points: 10, landmarks: 8, pairs: 4000, ..svr };
    let some = some.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
    for learned in [&all, &some] {
        let gap = (&learned.kernel.gram(x.view(), 1) - &known).mapv(f64::abs);
        let largest = gap.iter().fold(0.0f64, |a, &b| a.max(b));
        assert!(largest < 0.08, "{largest}");
    }
}

#[test]
fn bad_settings_of_the_classifier_are_named() {
    let named = |params: HyperClassifierParams| match params.checked() {
        Err(LearningError::Setting { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let base = HyperClassifierParams::default();
    assert_eq!(named(HyperClassifierParams { width: 0.0, ..base.clone() }), "width");
    assert_eq!(named(HyperClassifierParams { spread: 0.0, ..base.clone() }), "spread");
    let narrow = HyperClassifierParams { width: 1e-200, hyper: HyperForm::Wishart, ..base.clone() };
    let sample = square(12);
    let error = narrow.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).err().unwrap();
    assert!(matches!(error, LearningError::Setting { name: "width", .. }), "{error}");
    // Squared distances over so little of a variance are no numbers.
    for (width, spread, name) in [(1e-250, 1.0, "width"), (1e-150, 1e-100, "spread")] {
        let narrow = HyperClassifierParams { width, spread, ..base.clone() };
        let error = narrow.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).err().unwrap();
        let named = matches!(error, LearningError::Setting { name: of, .. } if of == name);
        assert!(named, "{error}");
    }
    assert_eq!(named(HyperClassifierParams { freedom: 1.0, ..base.clone() }), "freedom");
    assert_eq!(named(HyperClassifierParams { cost: f64::NAN, ..base.clone() }), "cost");
    assert_eq!(named(HyperClassifierParams { points: 1, ..base.clone() }), "points");
    assert_eq!(named(HyperClassifierParams { other: 1.0, ..base.clone() }), "other");
    let wishart = HyperClassifierParams {
        hyper: HyperForm::Wishart,
        solver: PairSolver::LinearTime,
        ..base.clone()
    };
    let said = wishart.clone().checked().unwrap_err().to_string();
    assert!(said.contains("`solver` is `linear-time`") && said.contains("Wishart"), "{said}");
    assert_eq!(named(wishart), "solver");
    let svr =
        HyperClassifierParams { stage1: Stage1::Svr, solver: PairSolver::Cholesky, ..base.clone() };
    assert_eq!(named(svr), "solver");
    // All rows the same: no variance to measure widths by.
    let sample = Sample::classification(Array2::ones((6, 2)), vec![0, 1, 0, 1, 0, 1], 2).unwrap();
    let refused = base.checked().unwrap().fit(&sample, &mut Fitting::seeded(1));
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("all rows have the same inputs"), "{message}");
    assert!(!message.contains("--scale"), "{message}");
    // Scaling brings out what is too small to be seen.
    let small = Array2::from_shape_fn((6, 2), |(row, _)| if row < 3 { 0.0 } else { 1e-170 });
    let sample = Sample::classification(small, vec![0, 1, 0, 1, 0, 1], 2).unwrap();
    let learner = HyperClassifierParams::default().checked().unwrap();
    let message = learner.fit(&sample, &mut Fitting::seeded(1)).err().unwrap().to_string();
    assert!(message.contains("--scale"), "{message}");
    // A method that is a solver has no other.
    let method = find(METHODS, "hyper-krr-linear").unwrap();
    let other = Settings::new().with("solver", "cholesky");
    let message = method.learner(&other, sample.task()).err().unwrap().to_string();
    assert!(
        message.contains("`solver` is `cholesky`") && message.contains("`hyper-krr`"),
        "{message}"
    );
}

#[test]
fn bad_input_is_named() {
    let x = random(6, 2, 16);
    let hyper = gaussian(x.view());
    let labels = [0, 1, 0, 1, 0, 1];
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let fitting = Fitting::seeded(1);
    let named = |result: Result<Learned, LearningError>| match result {
        Err(LearningError::Setting { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let run = |ridge: PairRidge| named(ridge.learn(&hyper, x.view(), &target, &fitting));
    let base = PairRidge::default();
    assert_eq!(run(PairRidge { lambda: 0.0, ..base.clone() }), "lambda");
    assert_eq!(run(PairRidge { lambda: f64::NAN, ..base.clone() }), "lambda");
    assert_eq!(run(PairRidge { lambda: 1e300, ..base.clone() }), "lambda");
    assert_eq!(run(PairRidge { landmarks: Some(7), ..base.clone() }), "landmarks");
    assert_eq!(run(PairRidge { landmarks: Some(0), ..base.clone() }), "landmarks");
    assert_eq!(run(PairRidge { subsets: 7, ..base.clone() }), "subsets");
    assert_eq!(run(PairRidge { subsets: 0, ..base.clone() }), "subsets");
    // M > m / v
    assert_eq!(run(PairRidge { landmarks: Some(4), subsets: 2, ..base.clone() }), "landmarks");
    assert_eq!(run(PairRidge { tolerance: 1.0, ..base.clone() }), "tolerance");
    let exact = PairRidge { solver: PairSolver::Cholesky, subsets: 2, ..base.clone() };
    assert_eq!(run(exact), "subsets");
    // Fewer than two points; another number of targets.
    let one = PairTarget::classes(&labels[..1], 1.0, -1.0).unwrap();
    let single = base.learn(&hyper, x.slice(ndarray::s![..1, ..]), &one, &fitting);
    assert_eq!(named(single), "points");
    let short = base.learn(&hyper, x.view(), &one, &fitting);
    assert!(matches!(short, Err(LearningError::Length { inputs: 6, targets: 1 })));
    // A target that is not symmetric, or not a number.
    let mut values = Array2::<f64>::eye(6);
    values[[1, 2]] = 0.5;
    let uneven = PairTarget::matrix(values.view());
    assert!(matches!(uneven, Err(LearningError::Setting { name: "target", .. })));
    values[[2, 1]] = 0.5;
    assert!(PairTarget::matrix(values.view()).is_ok());
    values[[3, 3]] = f64::NAN;
    let missing = PairTarget::matrix(values.view());
    assert!(matches!(missing, Err(LearningError::TargetNotFinite { row: 3, .. })));
    assert!(PairTarget::classes(&labels, 1.0, 1.0).is_err());
    let mut poisoned = x.clone();
    poisoned[[2, 1]] = f64::INFINITY;
    let refused = base.learn(&hyper, poisoned.view(), &target, &fitting);
    assert!(matches!(refused, Err(LearningError::InputNotFinite { row: 2, column: 1, .. })));
    // What has no fast product says so.
    let wishart = HyperKernel::Wishart(WishartHyper::isotropic(1.0, 2).unwrap());
    for solver in [PairSolver::ConjugateGradients, PairSolver::LinearTime] {
        let result = with(solver, 0.1).learn(&wishart, x.view(), &target, &fitting);
        assert_eq!(named(result), "solver");
    }
    let svr = |svr: PairSvr| named(svr.learn(&hyper, x.view(), &target, &fitting));
    assert_eq!(svr(PairSvr { cost: 0.0, ..PairSvr::default() }), "cost");
    assert_eq!(svr(PairSvr { epsilon: -0.1, ..PairSvr::default() }), "epsilon");
    assert_eq!(svr(PairSvr { ridge: Some(0.0), ..PairSvr::default() }), "ridge");
    // Stopped by the limit of steps: in the result.
    let short = PairSvr { steps: 1, ..PairSvr::default() };
    let stopped = short.learn(&hyper, x.view(), &target, &fitting).unwrap();
    assert!(matches!(stopped.convergence, Convergence::NotConverged { .. }));
}

/// The residual of the pair kernel bounds the error at every two points, and with enough pivots nothing is left. Then
/// the features have the spectrum of the kernel, negative part and all.
#[test]
fn features_with_signs_are_the_indefinite_kernel() {
    let (x, fresh) = (random(120, 3, 41), random(30, 3, 42));
    let distance = |a: ArrayView2<'_, f64>, i: usize, j: usize| {
        (&a.row(i) - &a.row(j)).mapv(|d| d * d).sum().sqrt()
    };
    let log = Array2::from_shape_fn((120, 120), |(i, j)| -distance(x.view(), i, j).ln_1p());
    let target = PairTarget::matrix(log.view()).unwrap();
    let hyper = gaussian(x.view());
    let HyperKernel::Gaussian(gaussian) = &hyper else { unreachable!() };
    let ridge = PairRidge { landmarks: Some(6), ..with(PairSolver::LinearTime, 1e-5) };
    let learned = ridge.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
    for kernel in [learned.kernel.clone(), learned.kernel.with_bias(-0.7)] {
        let gram = kernel.gram(x.view(), 1);
        let exact = mercer_solvers::Spectrum::of(gram.view()).unwrap();
        assert!(exact.negative_share() > 0.2, "{}", exact.negative_share());
        let mut last = f64::INFINITY;
        for rank in [5, 20, 80, 120] {
            let features = KreinFeatures::of(&kernel, x.view(), rank, 0.0).unwrap();
            assert_eq!(features.at(fresh.view()).dim(), (30, features.len()));
            assert!(features.signs().iter().all(|sign| [-1.0, 1.0].contains(sign)));
            for (left, right) in [(x.view(), x.view()), (fresh.view(), x.view())] {
                let gap = features.block(left, right) - kernel.block(left, right, 1);
                let (e, f) = (features.residual(left), features.residual(right));
                let beta = gaussian.pair_kernel().cross_gram(left, right);
                let plain = kernel.block(left, right, 1) - kernel.bias();
                for ((i, j), gap) in gap.indexed_iter() {
                    let bound =
                        (e[i] * f[j]).max(0.0).sqrt() * (plain[[i, j]] / beta[[i, j]]).abs();
                    assert!(gap.abs() <= bound + 1e-6, "rank {rank}: {gap} {bound}");
                }
            }
            let gap = close(&features.block(x.view(), x.view()), &gram);
            assert!(gap <= last + 1e-9, "{gap} after {last}");
            last = gap;
        }
        assert!(last < 1e-6, "{last}");
        let features = KreinFeatures::of(&kernel, x.view(), 120, 0.0).unwrap();
        let found = features.block(x.view(), x.view());
        let found = mercer_solvers::Spectrum::of(((&found + &found.t()) * 0.5).view()).unwrap();
        assert_abs_diff_eq!(found.smallest(), exact.smallest(), epsilon = 1e-5);
        assert_abs_diff_eq!(found.negative_share(), exact.negative_share(), epsilon = 1e-4);
        // Few functions do where the kernel has few.
        let fewer = KreinFeatures::of(&kernel, x.view(), 120, 1e-3).unwrap();
        assert!(fewer.len() < features.len());
        assert!(close(&fewer.block(x.view(), x.view()), &gram) < 0.05);
    }
    let named = |result: Result<KreinFeatures, LearningError>| match result {
        Err(LearningError::Setting { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let kernel = with(PairSolver::Cholesky, 0.1);
    let few = x.slice(ndarray::s![..9, ..]);
    let known = log.slice(ndarray::s![..9, ..9]);
    let target = PairTarget::matrix(known).unwrap();
    let learned = |hyper: &HyperKernel| {
        kernel.learn(hyper, few, &target, &Fitting::seeded(1)).unwrap().kernel
    };
    let wishart = HyperKernel::Wishart(WishartHyper::isotropic(1.0, 3).unwrap());
    assert_eq!(named(KreinFeatures::of(&learned(&wishart), few, 3, 0.0)), "kernel");
    let kernel = learned(&hyper);
    assert_eq!(named(KreinFeatures::of(&kernel, few, 0, 0.0)), "rank");
    assert_eq!(named(KreinFeatures::of(&kernel, few, 3, 1.0)), "tolerance");
    let none = few.slice(ndarray::s![..0, ..]);
    assert_eq!(named(KreinFeatures::of(&kernel, none, 3, 0.0)), "reference points");
    let flat = few.slice(ndarray::s![.., ..2]);
    assert!(KreinFeatures::of(&kernel, flat, 3, 0.0).is_err());
}

/// The message of a fit that did not converge names settings that its method has, and that are in use.
#[test]
fn an_end_above_the_tolerance_names_what_the_method_can_be_told() {
    let ended = mercer_learning::Convergence::NotConverged { iterations: 100, residual: 0.5 };
    let shape = Shape { rows: 100, features: 4, task: Task::Classification { classes: 2 } };
    let said = |name: &str, given: Settings| {
        let method = find(super::METHODS, name).unwrap();
        let defaults = (method.settings)()
            .into_iter()
            .fold(Settings::new(), |all, setting| all.with(setting.name, setting.default));
        let settings =
            defaults.overridden_by(&method.begun(&shape)).overridden_by(&method.as_meant(&given));
        let told = method.unconverged(ended, &settings, shape.task).unwrap();
        told.split_once("; take ").map(|(_, remedy)| remedy.to_owned()).unwrap()
    };
    let none = Settings::new;
    let plain = said("hyper-svr", none());
    assert_eq!(plain, "a larger `pair_ridge` or `pair_tolerance`, or a smaller `cost`");
    let by_cost = said("hyper-svr", none().with("pair_cost", 1e5));
    assert_eq!(by_cost, "a larger `pair_tolerance`, or a smaller `pair_cost` or `cost`");
    let ridge = said("hyper-krr", none());
    assert_eq!(
        ridge,
        "more `iterations`, or a larger `lambda` or `tolerance`, or a smaller `cost`"
    );
    let direct = said("hyper-krr", none().with("solver", "cholesky"));
    assert_eq!(direct, "a larger `lambda`, or a smaller `cost`");
}

/// Of a first run alone: studies take a learned kernel as it is. Signed features flip by themselves.
#[test]
fn a_first_run_flips_the_negative_eigenvalues() {
    let sample = Sample::classification(random(40, 2, 9), (0..40).map(|i| i % 2).collect(), 2);
    let sample = sample.unwrap();
    for method in METHODS {
        let first = method.begun(&sample.shape());
        let spectrum = first.get("spectrum").and_then(|value| value.as_str());
        let positive = method.name == "hyper-non-negative";
        assert_eq!(spectrum == Some("flip"), !positive, "{}", method.name);
        let studied = (method.defaults)(&sample.shape());
        assert_eq!(studied.get("spectrum").unwrap(), "as-is", "{}", method.name);
    }
    let method = find(METHODS, "hyper-krr").unwrap();
    let features = method.begun(&sample.shape()).with("stage2", "features");
    assert!(method.learner(&features, sample.task()).is_ok());
}
