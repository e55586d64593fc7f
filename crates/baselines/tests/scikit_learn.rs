//! Against scikit-learn: `fixtures/make.py` names the program and its version and wrote the file.

#![expect(clippy::float_cmp, reason = "counts and shares that are exact in f64")]

use approx::assert_abs_diff_eq;
use mercer_baselines::BASELINES;
use mercer_kernels::Kernel;
use mercer_learning::{Convergence, Fitted, Fitting, Predictions, Sample, Settings, find};
use mercer_solvers::{Dual, OneVersusOne, Precomputed, Smo};
use ndarray::{Array1, Array2, ArrayView1, Axis};
use serde_json::Value;

fn fixture(section: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("fixtures/scikit_learn.json")).unwrap();
    assert_eq!(all["program"], "scikit-learn 1.9.1");
    all[section].clone()
}

fn vector(value: &Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(|entry| entry.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Array1<f64>> = value.as_array().unwrap().iter().map(vector).collect();
    let views: Vec<_> = rows.iter().map(Array1::view).collect();
    ndarray::stack(Axis(0), &views).unwrap()
}

fn labels(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|entry| entry.as_u64().unwrap() as u32).collect()
}

fn fit(method: &str, settings: &Settings, sample: &Sample) -> Fitted {
    let learner = find(BASELINES, method).unwrap().learner(settings, sample.task()).unwrap();
    learner.fit(sample, &mut Fitting::seeded(1)).unwrap()
}

fn svm_settings(given: &Value) -> Settings {
    let number = |name: &str| given[name].as_f64().unwrap();
    Settings::new().with("std", number("std")).with("cost", number("cost")).with("tolerance", 1e-10)
}

#[test]
fn binary_decision_values_are_those_of_svc() {
    let given = fixture("svc");
    let sample = Sample::classification(matrix(&given["x"]), labels(&given["y"]), 2).unwrap();
    let fitted = fit("gaussian-svm", &svm_settings(&given), &sample);
    assert!(matches!(fitted.convergence, Convergence::Converged { iterations: 1.. }));
    assert!(fitted.facts["kkt-violation"] < 1e-9, "{:?}", fitted.facts);
    assert_eq!(fitted.facts["support-vectors"], given["support"].as_f64().unwrap());
    let decision = fitted.predictor.decision(matrix(&given["z"]).view());
    // LIBSVM holds its kernel in single precision.
    assert_abs_diff_eq!(decision.column(1), vector(&given["decision"]).view(), epsilon = 1e-5);
    assert_abs_diff_eq!(decision.column(0).to_owned(), -&decision.column(1), epsilon = 0.0);
}

#[test]
fn fit_by_a_process_gives_numbers_and_their_deviations() {
    let given = fixture("gaussian-process-regression");
    let sample = Sample::regression(matrix(&given["x"]), vector(&given["t"])).unwrap();
    let z = matrix(&given["z"]);
    let free = Settings::new().with("length", 1.7);
    let fitted = fit("gaussian-process", &free, &sample);
    assert!(matches!(fitted.convergence, Convergence::Converged { iterations: 1.. }));
    let best = given["best_evidence"].as_f64().unwrap();
    assert!(fitted.facts["log-evidence"] > best - 1e-6, "{:?} {best}", fitted.facts);
    // Their search ends where the gradient is below 1e-5 or so.
    let values = fitted.predictor.decision(z.view());
    assert_abs_diff_eq!(values.column(0), vector(&given["best_values"]).view(), epsilon = 1e-3);
    let deviations = fitted.predictor.deviations(z.view()).unwrap();
    assert_abs_diff_eq!(deviations, vector(&given["best_deviations"]), epsilon = 1e-3);
}

#[test]
fn fit_by_dirichlet_observations_gives_their_evidence_and_probabilities() {
    let given = fixture("gaussian-process-dirichlet");
    let sample = Sample::classification(matrix(&given["x"]), labels(&given["y"]), 3).unwrap();
    let number = |name: &str| given[name].as_f64().unwrap();
    let settings = Settings::new()
        .with("likelihood", "dirichlet")
        .with("deviation", number("deviation"))
        .with("length", number("length"))
        .with("prior", number("prior"))
        .with("iterations", 0);
    for (inducing, off) in [(0, 1e-8), (45, 1e-3)] {
        let settings = settings.clone().with("inducing", inducing);
        let fitted = fit("gaussian-process", &settings, &sample);
        let evidence = fitted.facts["log-evidence"];
        assert_abs_diff_eq!(evidence, number("evidence"), epsilon = off);
        let found = fitted.predictor.probabilities(matrix(&given["z"]).view()).unwrap();
        // 512 draws: three standard errors of a share are below 0.03 where it is widest.
        assert_abs_diff_eq!(found, matrix(&given["probabilities"]), epsilon = 0.03);
        assert_abs_diff_eq!(found.sum_axis(Axis(1)), Array1::ones(12), epsilon = 1e-12);
    }
    // The evidence grows from there.
    let fitted = fit("gaussian-process", &settings.with("iterations", 50), &sample);
    assert!(fitted.facts["log-evidence"] > number("evidence") + 1.0);
}

#[test]
fn fit_takes_the_kernels_of_scikit_learn() {
    let given = fixture("kernels");
    let (x, z) = (matrix(&given["x"]), matrix(&given["z"]));
    let two = Sample::classification(x.clone(), labels(&given["y"]), 2).unwrap();
    let real = Sample::regression(x, vector(&given["t"])).unwrap();
    for (name, expected) in given["of"].as_object().unwrap() {
        let own = |settings: Settings| {
            settings.with("kernel", name.as_str()).with("std", given["std"].clone())
        };
        let svm = || own(Settings::new()).with("solver", "smo").with("tolerance", 1e-10);
        let svm = || svm().with("cost", given["cost"].clone());
        let decision = fit("gaussian-svm", &svm(), &two).predictor.decision(z.view());
        // LIBSVM holds its kernel in single precision.
        let near = |found: ArrayView1<'_, f64>, expected: &Value, epsilon: f64| {
            let expected = vector(expected);
            let size = expected.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
            assert_abs_diff_eq!(found, expected.view(), epsilon = epsilon * size);
        };
        near(decision.column(1), &expected["decision"], 1e-5);
        let values = fit("gaussian-svm", &svm().with("epsilon", 0.1), &real).predictor;
        near(values.decision(z.view()).column(0), &expected["values"], 1e-5);
        let with_ridge = || own(Settings::new()).with("lambda", given["lambda"].clone());
        let ridge = fit("kernel-ridge", &with_ridge(), &real);
        near(ridge.predictor.decision(z.view()).column(0), &expected["ridge"], 1e-9);
        // Of fewer rows than centres each row is one.
        let whole = fit("falkon", &with_ridge(), &real);
        near(whole.predictor.decision(z.view()).column(0), &expected["ridge"], 1e-7);
    }
}

/// In memory and row by row, alone and beside each other, the same machines.
#[test]
fn fit_by_our_solver_is_that_of_linfa() {
    let given = fixture("multiclass");
    let sample = Sample::classification(matrix(&given["x"]), labels(&given["y"]), 4).unwrap();
    let z = matrix(&given["z"]);
    let decided = |settings: Settings, threads: usize| {
        let learner =
            find(BASELINES, "gaussian-svm").unwrap().learner(&settings, sample.task()).unwrap();
        let fitted = learner.fit(&sample, &mut Fitting { threads, ..Fitting::seeded(1) }).unwrap();
        fitted.predictor.decision(z.view())
    };
    let rest = || svm_settings(&given).with("multiclass", "one-versus-rest");
    let linfa = decided(rest(), 1);
    assert_abs_diff_eq!(decided(rest().with("solver", "smo"), 1), linfa, epsilon = 1e-7);
    assert_eq!(decided(rest().with("solver", "smo"), 3), decided(rest().with("solver", "smo"), 1));
    assert_eq!(decided(svm_settings(&given), 2), decided(svm_settings(&given), 1));
}

#[test]
fn many_classes_are_told_apart_as_by_svc() {
    let given = fixture("multiclass");
    let sample = Sample::classification(matrix(&given["x"]), labels(&given["y"]), 4).unwrap();
    let z = matrix(&given["z"]);
    let one = fit("gaussian-svm", &svm_settings(&given), &sample);
    let Predictions::Classes(predicted) = one.predictor.predict(z.view()).unwrap() else {
        panic!("a classifier predicts classes");
    };
    // A decision value within 1e-5 of 0 could turn a vote either way; there is none.
    assert!(matrix(&given["pairs"]).iter().all(|value| value.abs() > 1e-5));
    assert_eq!(predicted, labels(&given["one_versus_one"]));
    assert_eq!(one.facts["machines"], 6.0);
    let (scores, theirs) = (one.predictor.decision(z.view()), matrix(&given["votes"]));
    for (own, theirs) in scores.rows().into_iter().zip(theirs.rows()) {
        assert_eq!(own.mapv(f64::round).sum(), 6.0); // votes
        // Of equally many votes the first wins here; theirs are ordered by the values.
        let tied = theirs
            .iter()
            .filter(|score| score.round() == own.fold(0.0, |a, &b| f64::max(a, b)).round());
        if tied.count() == 1 {
            assert_abs_diff_eq!(own, theirs, epsilon = 1e-5);
        }
    }

    let settings = svm_settings(&given).with("multiclass", "one-versus-rest");
    let rest = fit("gaussian-svm", &settings, &sample);
    let decision = rest.predictor.decision(z.view());
    assert_abs_diff_eq!(decision, matrix(&given["one_versus_rest"]), epsilon = 1e-5);
}

#[test]
fn classes_without_training_rows_are_never_predicted() {
    let given = fixture("multiclass");
    // The four classes of the fixture as 1, 2, 4, 5 of six.
    let spread = labels(&given["y"]).iter().map(|&label| [1, 2, 4, 5][label as usize]).collect();
    let sample = Sample::classification(matrix(&given["x"]), spread, 6).unwrap();
    let expected: Vec<u32> = labels(&given["one_versus_one"])
        .iter()
        .map(|&label| [1, 2, 4, 5][label as usize])
        .collect();
    let fitted = fit("gaussian-svm", &svm_settings(&given), &sample);
    let predicted = fitted.predictor.predict(matrix(&given["z"]).view()).unwrap();
    assert_eq!(predicted, Predictions::Classes(expected));
    let settings = svm_settings(&given).with("multiclass", "one-versus-rest");
    let rest = fit("gaussian-svm", &settings, &sample);
    let Predictions::Classes(predicted) =
        rest.predictor.predict(matrix(&given["z"]).view()).unwrap()
    else {
        panic!("a classifier predicts classes");
    };
    assert!(predicted.iter().all(|label| [1, 2, 4, 5].contains(label)));
}

#[test]
fn regression_values_are_those_of_svr() {
    let given = fixture("svr");
    let sample = Sample::regression(matrix(&given["x"]), vector(&given["t"])).unwrap();
    let settings = svm_settings(&given).with("epsilon", given["epsilon"].as_f64().unwrap());
    let fitted = fit("gaussian-svm", &settings, &sample);
    assert!(fitted.facts["kkt-violation"] < 1e-9, "{:?}", fitted.facts);
    let values = fitted.predictor.decision(matrix(&given["z"]).view());
    let scale = sample.values().unwrap().std(0.0);
    let expected = vector(&given["values"]);
    assert_abs_diff_eq!(values.column(0), expected.view(), epsilon = 1e-5 * scale);
}

#[test]
fn kernel_ridge_is_that_of_scikit_learn() {
    let given = fixture("kernel-ridge");
    let sample = Sample::regression(matrix(&given["x"]), vector(&given["t"])).unwrap();
    for (centre, expected) in [(false, "plain"), (true, "centred")] {
        let settings = Settings::new()
            .with("std", given["std"].clone())
            .with("lambda", given["lambda"].clone())
            .with("centre", centre);
        let fitted = fit("kernel-ridge", &settings, &sample);
        assert_eq!((fitted.facts["jitter"], fitted.facts["rows-used"]), (0.0, 60.0));
        let values = fitted.predictor.decision(matrix(&given["z"]).view());
        assert_abs_diff_eq!(values.column(0), vector(&given[expected]).view(), epsilon = 1e-8);
    }
}

#[test]
fn gaussian_processes_end_where_those_of_scikit_learn_do() {
    let given = fixture("gaussian-process");
    let sample = Sample::classification(matrix(&given["x"]), labels(&given["y"]), 2).unwrap();
    let settings = Settings::new().with("length", 1.7);
    let fitted = fit("gaussian-process", &settings, &sample);
    assert!(matches!(fitted.convergence, Convergence::Converged { iterations: 1.. }));
    let evidence = given["best_evidence"].as_f64().unwrap();
    // Both stop near the maximum, where the evidence is flat.
    assert!((fitted.facts["log-evidence"] - evidence).abs() < 1e-5, "{:?}", fitted.facts);
    let best = vector(&given["best"]);
    for (name, best) in [("mean-deviation", best[0]), ("mean-length", best[1])] {
        assert!((fitted.facts[name] / best - 1.0).abs() < 1e-2, "{:?}, {best}", fitted.facts);
    }
    let p = fitted.predictor.probabilities(matrix(&given["z"]).view()).unwrap();
    // Their integral is a five-term fit, right to 1e-4.
    assert_abs_diff_eq!(p.column(1), vector(&given["best_probabilities"]).view(), epsilon = 1e-3);
}

/// Our own solver on the kernel matrix, without linfa.
#[test]
fn machines_on_a_kernel_matrix_are_those_of_svc_and_svr() {
    let smo = Smo { tolerance: 1e-10, ..Smo::default() };
    let kernels = |given: &Value| {
        let kernel = Kernel::Gaussian { std: given["std"].as_f64().unwrap() };
        let (x, z) = (matrix(&given["x"]), matrix(&given["z"]));
        (kernel.gram(x.view()), kernel.cross_gram(z.view(), x.view()))
    };
    for (section, classes) in [("svc", 2), ("multiclass", 4)] {
        let given = fixture(section);
        let (gram, cross) = kernels(&given);
        let cost = given["cost"].as_f64().unwrap();
        let machine = OneVersusOne::fit(gram.view(), &labels(&given["y"]), cost, &smo).unwrap();
        assert!(machine.converged);
        if classes == 2 {
            let scores = machine.scores(cross.view(), 2);
            let expected = vector(&given["decision"]);
            assert_abs_diff_eq!(scores.column(1), expected.view(), epsilon = 1e-5);
            assert_eq!(machine.support().len() as f64, given["support"].as_f64().unwrap());
        } else {
            assert_eq!(machine.classes(cross.view()), labels(&given["one_versus_one"]));
            // Theirs is positive for the first class of a pair, as ours is.
            let pairs = matrix(&given["pairs"]);
            assert_abs_diff_eq!(machine.values(cross.view()), pairs, epsilon = 1e-5);
        }
    }
    let given = fixture("svr");
    let (gram, cross) = kernels(&given);
    let targets = vector(&given["t"]);
    let (mean, deviation) = (targets.mean().unwrap(), targets.std(0.0));
    let standard = targets.mapv(|t| (t - mean) / deviation);
    let (epsilon, cost) = (given["epsilon"].as_f64().unwrap(), given["cost"].as_f64().unwrap());
    let dual = Dual::regression(standard.view(), epsilon, cost).unwrap();
    let solution = smo.solve(&Precomputed::new(gram.view()).unwrap(), &dual).unwrap();
    let values = solution.decision(cross.view()).mapv(|f| mean + deviation * f);
    assert_abs_diff_eq!(values, vector(&given["values"]), epsilon = 1e-5 * deviation);
}
