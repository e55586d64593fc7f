//! The SVM on a learned kernel: search, flat and indefinite kernels, second stage.

use super::*;
use mercer_solvers::{OneVersusOne, Smo};
use ndarray::ArrayView1;

#[test]
fn duplicate_points_and_equal_labels_are_no_obstacle() {
    let mut x = random(12, 2, 15);
    let first = x.row(0).to_owned();
    x.row_mut(5).assign(&first);
    x.row_mut(7).assign(&first);
    let hyper = gaussian(x.view());
    let labels = [1u32; 12];
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    for solver in [
        PairSolver::Cholesky,
        PairSolver::ConjugateGradients,
        PairSolver::Nystrom,
        PairSolver::LinearTime,
        PairSolver::NonNegative,
    ] {
        let ridge = with(solver, 1e-6);
        let learned = ridge.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
        // All labels equal: the target is 1 everywhere, and pairs of far points are hard to reach.
        let gram = learned.kernel.gram(x.view(), 1);
        let error = gram.mapv(|value| (value - 1.0).abs());
        assert!(error.iter().all(|e| e.is_finite()));
        assert!(error.mean().unwrap() < 0.3, "{solver:?}: {:?}", error.mean());
        // What is learned of equal points is equal.
        for row in [5, 7] {
            for other in 0..12 {
                assert_abs_diff_eq!(gram[[0, other]], gram[[row, other]], epsilon = 1e-9);
            }
        }
    }
}

#[test]
fn the_search_finds_what_tells_the_classes_apart() {
    // A ring around a disc, in the plane.
    let angle = |i: usize| i as f64 * 2.4;
    let radius = |i: usize| if i.is_multiple_of(2) { 0.3 } else { 1.0 };
    let wobble = |i: usize| 1.0 + 0.2 * (i as f64 * 7.7).sin();
    let inputs = Array2::from_shape_fn((60, 2), |(i, c)| {
        let turned = if c == 0 { angle(i).cos() } else { angle(i).sin() };
        radius(i) * wobble(i) * turned
    });
    let labels: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let sample = Sample::classification(inputs, labels, 2).unwrap();
    for stage1 in [Stage1::Ridge, Stage1::Svr] {
        let params = HyperClassifierParams { stage1, search: Search::Folds, ..Default::default() };
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        assert!(fitted.facts["search-right"] >= 57.0, "{stage1:?} {:?}", fitted.facts);
        assert_abs_diff_eq!(fitted.facts["search-points"], 60.0);
        assert!(fitted.facts["chosen-cost"] >= 2f64.powi(-5));
        // What was not searched has no choice.
        let ridge = stage1 == Stage1::Ridge;
        assert_eq!(fitted.facts.contains_key("chosen-lambda"), ridge);
        assert_eq!(fitted.facts.contains_key("chosen-pair-cost"), !ridge);
        assert_eq!(fitted.facts.contains_key("pair-cost"), !ridge);
    }
}

/// The folds count what regressions in the span of so few landmarks, over so few pairs, and their SVMs get right.
/// Without landmarks nothing is different from the folds of exact regressions.
#[test]
fn fitted_folds_count_what_the_fit_solves() {
    let sample = square(40);
    let Targets::Classes { labels, .. } = sample.targets() else { panic!("classes") };
    let fit = |params: &HyperClassifierParams| {
        let learner = params.clone().checked().unwrap();
        learner.fit(&sample, &mut Fitting::seeded(1)).unwrap().facts
    };
    let base = HyperClassifierParams { search: Search::FittedFolds, ..Default::default() };
    let folds = HyperClassifierParams { search: Search::Folds, ..base.clone() };
    let few = |stage1| {
        let usual = HyperClassifierParams { stage1, exact_points: 10, ..base.clone() };
        HyperClassifierParams { landmarks: Some(4), pairs: Some(300), subsets: 2, ..usual }
    };
    for (params, solver) in [
        (base.clone(), PairSolver::ConjugateGradients),
        (few(Stage1::Ridge), PairSolver::Nystrom),
        (few(Stage1::NonNegative), PairSolver::NonNegative),
        (few(Stage1::Svr), PairSolver::Auto),
    ] {
        let facts = fit(&params);
        let lambda = facts.get("chosen-lambda").copied().unwrap_or_default();
        let pair_cost = facts.get("chosen-pair-cost").copied().unwrap_or(1.0);
        let (spread, cost) = (facts["chosen-spread"], facts["chosen-cost"]);
        let fitting = Fitting::seeded(1);
        let held = mercer_learning::folds(labels, 5, &mut fitting.streams.rng("folds"));
        let mut right = 0;
        for fold in 0..5 {
            let (out, kept): (Vec<usize>, Vec<usize>) = (0..40).partition(|&row| held[row] == fold);
            let part = |rows: &[usize]| -> (Array2<f64>, Vec<u32>) {
                let labels = rows.iter().map(|&row| labels[row]).collect();
                (sample.inputs().select(Axis(0), rows), labels)
            };
            let ((train, own), (test, wanted)) = (part(&kept), part(&out));
            let variance = total_variance(train.view());
            let hyper = GaussianHyper::constructed(variance, spread * variance).unwrap();
            let hyper = HyperKernel::Gaussian(hyper);
            let other = params.other;
            let target = PairTarget::classes(&own, 1.0, other).unwrap();
            let (landmarks, pairs) = (params.landmarks, params.pairs);
            let learned = if params.stage1 == Stage1::Svr {
                let svr =
                    PairSvr { exact_points: 10, landmarks: 4, pairs: 300, ..Default::default() };
                let svr = PairSvr { cost: pair_cost, steps: 100_000, ..svr };
                svr.learn(&hyper, train.view(), &target, &fitting)
            } else {
                let ridge = PairRidge { landmarks, pairs, ..with(solver, lambda) };
                ridge.learn(&hyper, train.view(), &target, &fitting)
            };
            let kernel = learned.unwrap().kernel;
            let smo = mercer_solvers::Smo { max_steps: Some(100_000), ..Default::default() };
            let gram = kernel.gram(train.view(), 1);
            let check = || Ok::<(), mercer_solvers::SolverError>(());
            // From cost to cost, as the search goes: with an indefinite kernel another start may end elsewhere.
            let costs: Vec<f64> = (-5..=5).map(|power| 2f64.powi(power)).collect();
            let at = costs.iter().position(|other| (other / cost - 1.0).abs() < 1e-9).unwrap();
            let machines =
                mercer_solvers::OneVersusOne::path(gram.view(), &own, &costs, &smo, check);
            let machines = machines.unwrap();
            let said = machines[at].classes(kernel.block(test.view(), train.view(), 1).view());
            right += said.iter().zip(&wanted).filter(|(said, wanted)| said == wanted).count();
        }
        assert_eq!(facts["search-right"] as usize, right, "{solver:?} {facts:?}");
    }
    assert_eq!(fit(&base), fit(&folds));
    let exact = HyperClassifierParams { search: Search::Folds, ..few(Stage1::Ridge) };
    assert_ne!(fit(&few(Stage1::Ridge)), fit(&exact));
}

/// What nobody set is not blamed: few rows have few landmarks.
#[test]
fn the_default_landmarks_fit_few_rows() {
    let x = random(12, 2, 24);
    let labels: Vec<u32> = (0..12).map(|i| i % 2).collect();
    let sample = Sample::classification(x, labels, 2).unwrap();
    let fit = |settings: Settings| {
        let learner = find(METHODS, "hyper-svr").unwrap().learner(&settings, sample.task());
        learner.unwrap().fit(&sample, &mut Fitting::seeded(1))
    };
    assert!(fit(Settings::new().with("exact_points", 5)).is_ok());
    let error = fit(Settings::new().with("exact_points", 5).with("landmarks", 13)).err().unwrap();
    assert!(matches!(error, LearningError::Setting { name: "landmarks", .. }), "{error}");
}

/// `D` of columns that vary alike is the same either way; a column that varies ten times as much counts a
/// hundredth of what it did beside the others.
#[test]
fn the_scatter_by_feature_looks_at_each_column_by_its_variance() {
    let x = random(30, 3, 44);
    let scaled = &x * &array![1.0, 1.0, 10.0];
    let kernel = |inputs: &Array2<f64>, scatter| {
        let hyper = HyperForm::Wishart;
        HyperClassifierParams { hyper, scatter, ..Default::default() }
            .kernel(inputs.view())
            .unwrap()
    };
    let of = |kernel: &HyperKernel, x: &Array2<f64>| {
        kernel.of((x.row(0), x.row(1)), (x.row(2), x.row(3)))
    };
    // Up to the scale σ² of all, which is a multiple of the total variance, units of columns do not matter.
    let ratio = total_variance(scaled.view()) / total_variance(x.view());
    let by_feature = HyperClassifierParams {
        hyper: HyperForm::Wishart,
        scatter: Scatter::PerFeature,
        ..Default::default()
    };
    let wide = HyperClassifierParams { width: 1.0 / ratio, ..by_feature.clone() };
    let isotropic = kernel(&x, Scatter::Isotropic);
    let (plain, own) = (kernel(&x, Scatter::PerFeature), wide.kernel(scaled.view()).unwrap());
    assert!((of(&plain, &x) - of(&isotropic, &x)).abs() > 1e-6);
    let means = [x.var_axis(Axis(0), 0.0).mean(), scaled.var_axis(Axis(0), 0.0).mean()];
    let factor = means[1].unwrap() / means[0].unwrap();
    let again = HyperClassifierParams { width: factor / ratio, ..by_feature };
    assert_relative_eq!(
        of(&again.kernel(scaled.view()).unwrap(), &scaled),
        of(&plain, &x),
        max_relative = 1e-9
    );
    assert!(of(&own, &scaled) > 0.0);
}

/// In many columns the isotropic scatter leaves a pair no similarity to itself; by default it is not taken
/// there, but where folds search what the paper searches.
#[test]
fn the_wishart_kernel_does_not_vanish_in_many_columns() {
    let typical = |d: usize, scatter: Scatter, search: Search| {
        let x = random(60, d, 45);
        let params = HyperClassifierParams {
            hyper: HyperForm::Wishart,
            scatter,
            search,
            ..HyperClassifierParams::default()
        };
        let kernel = params.kernel(x.view()).unwrap();
        let HyperKernel::Wishart(wishart) = kernel else { panic!("no Wishart") };
        let all: Vec<f64> =
            (1..60).map(|i| wishart.of((x.row(0), x.row(i)), (x.row(0), x.row(i)))).collect();
        all.iter().sum::<f64>() / 59.0
    };
    let of = |d, scatter| typical(d, scatter, Search::None);
    assert!(of(60, Scatter::Isotropic) < 1e-6);
    for d in [8, 60] {
        assert!((0.25..0.5).contains(&of(d, Scatter::Matched)), "{}", of(d, Scatter::Matched));
        assert_abs_diff_eq!(of(d, Scatter::Auto), of(d, Scatter::Matched));
    }
    assert_abs_diff_eq!(of(3, Scatter::Auto), of(3, Scatter::Isotropic));
    let folds = typical(60, Scatter::Auto, Search::Folds);
    assert_abs_diff_eq!(folds, of(60, Scatter::Isotropic));
}

/// The second stage on signed features keeps the laws of every method, and is ridge classification with the
/// flipped kernel of these features, solved over the rows.
#[test]
fn the_linear_second_stage_conforms_and_is_kernel_ridge_with_the_flipped_kernel() {
    let settings = Settings::new().with("stage2", "features").with("cost", 10.0);
    let method = find(METHODS, "hyper-krr-linear").unwrap();
    Conformance::of(method).with(settings.clone()).check().unwrap();
    let x = random(90, 3, 45);
    let labels: Vec<u32> =
        x.rows().into_iter().map(|x| u32::from(x[0] > x[1] * x[2] + 0.2)).collect();
    let sample = Sample::classification(x.clone(), labels.clone(), 2).unwrap();
    let settings = (method.defaults)(&sample.shape()).overridden_by(&settings);
    let learner = method.learner(&settings, sample.task()).unwrap();
    let fitted = learner.fit(&sample, &mut Fitting::seeded(3)).unwrap();
    let found = fitted.predictor.decision(x.view());
    let right = labels.iter().zip(found.column(1)).filter(|(l, f)| (**f > 0.0) == (**l == 1));
    assert!(right.count() > 75);
    // By hand: (K_c + I/C) α = y_c with the centred kernel of the features without their signs.
    let kernel = {
        let params: HyperClassifierParams = settings.read("hyper-krr-linear").unwrap();
        let learner = params.checked().unwrap();
        learner.learn_kernel(x.view(), &labels, &Fitting::seeded(3)).unwrap().kernel
    };
    let features = KreinFeatures::of(&kernel, x.view(), 100, 1e-3).unwrap();
    assert_abs_diff_eq!(fitted.facts["features"], features.len() as f64);
    let phi = features.at(x.view());
    let centred = &phi - &phi.mean_axis(Axis(0)).unwrap();
    let y = Array1::from_iter(labels.iter().map(|&label| if label == 1 { 1.0 } else { -1.0 }));
    let level = y.mean().unwrap();
    let mut gram = centred.dot(&centred.t());
    gram.diag_mut().mapv_inplace(|entry| entry + 0.1);
    let factor = mercer_linalg::Cholesky::factor(gram).unwrap();
    let alpha = factor.solve(&(&y - level).insert_axis(Axis(1))).unwrap().remove_axis(Axis(1));
    let wanted = centred.dot(&centred.t().dot(&alpha)) + level;
    assert_abs_diff_eq!(found.column(1).to_owned(), wanted, epsilon = 1e-6);
    assert_abs_diff_eq!(found.column(0).to_owned(), -&wanted, epsilon = 1e-6);
    let refused = |params: HyperClassifierParams| params.checked().unwrap_err().to_string();
    for stage2 in [Stage2::Features, Stage2::Rows] {
        let stage = HyperClassifierParams { stage2, ..Default::default() };
        let said = refused(HyperClassifierParams { hyper: HyperForm::Wishart, ..stage.clone() });
        assert!(said.contains("`stage2`"), "{said}");
        for (search, word) in [
            (Search::Folds, "`folds`"),
            (Search::PrintedFolds, "`printed-folds`"),
            (Search::FittedFolds, "`fitted-folds`"),
            (Search::RegularisedFolds, "`regularised-folds`"),
        ] {
            let said = refused(HyperClassifierParams { search, ..stage.clone() });
            assert!(said.contains("`search`") && said.contains(word), "{said}");
        }
        let spectrum = mercer_solvers::PsdCorrection::Clip;
        assert!(refused(HyperClassifierParams { spectrum, ..stage }).contains("`spectrum`"));
    }
}

/// The second stage on all rows keeps the laws of every method. Its machines are those of the whole matrix of `β o |f|`,
/// also where most rows are set aside on the way.
#[test]
fn machines_on_all_rows_have_the_kernel_with_the_flipped_factor() {
    let settings = Settings::new().with("stage2", "rows").with("cost", 10.0);
    let method = find(METHODS, "hyper-krr-linear").unwrap();
    if let Err(violation) = Conformance::of(method).with(settings.clone()).check() {
        panic!("{violation}");
    }
    for classes in [2, 3] {
        let x = random(300, 2, 8);
        let side = |x: ArrayView1<'_, f64>| u32::from(x[0] > x[1]) + u32::from(x[0] + x[1] > 1.2);
        let labels: Vec<u32> = x.rows().into_iter().map(|x| side(x) % classes).collect();
        let sample = Sample::classification(x.clone(), labels.clone(), classes as usize).unwrap();
        let settings = (method.defaults)(&sample.shape()).overridden_by(&settings);
        let learner = method.learner(&settings, sample.task()).unwrap();
        let fitted = learner.fit(&sample, &mut Fitting::seeded(3)).unwrap();
        assert!(fitted.facts["support-vectors"] < 250.0, "{:?}", fitted.facts);
        let kernel = {
            let params: HyperClassifierParams = settings.read("hyper-krr-linear").unwrap();
            let learner = params.checked().unwrap();
            learner.learn_kernel(x.view(), &labels, &Fitting::seeded(3)).unwrap().kernel
        };
        // By features, without their signs: all pivots make up the whole of `β`.
        let features = KreinFeatures::of(&kernel, x.view(), 300, 1e-3).unwrap();
        assert!(features.signs().iter().any(|sign| *sign < 0.0));
        let phi = features.at(x.view());
        let machines =
            OneVersusOne::fit(phi.dot(&phi.t()).view(), &labels, 10.0, &Smo::default()).unwrap();
        let found = fitted.predictor.predict(x.view()).unwrap();
        let wanted = machines.classes(phi.dot(&phi.t()).view());
        let Predictions::Classes(found) = found else { panic!("classes") };
        let apart = found.iter().zip(&wanted).filter(|(a, b)| a != b).count();
        assert!(apart <= 2, "{apart} of 300 differ, with {classes} classes");
        if classes == 2 {
            let values = fitted.predictor.decision(x.view()).column(1).to_owned();
            let wanted = machines.values(phi.dot(&phi.t()).view()).column(0).to_owned();
            // Both within the solver's tolerance of the same optimum.
            assert_abs_diff_eq!(values, wanted, epsilon = 2e-2);
        }
        let state = fitted.predictor.state();
        let wrong = state.clone().with_array("support", &random(3, 5, 1));
        assert!((method.restore)(&wrong).is_err());
        let again = (method.restore)(&state).unwrap();
        assert_eq!(again.decision(x.view()), fitted.predictor.decision(x.view()));
    }
}
