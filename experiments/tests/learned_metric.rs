//! Methods that are fitted in a learned metric.

use mercer_learning::{Fitting, Predictions, Sample, Settings, Task, find};
use mercer_methods::registry;
use ndarray::{Array2, ArrayView1};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Of eight columns the class hangs on how far a row is along one direction.
fn along_a_direction(rows: usize, seed: u64) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x = Array2::from_shape_simple_fn((rows, 8), || rng.sample::<f64, _>(StandardNormal));
    let side = |x: ArrayView1<'_, f64>| u32::from((x[0] - x[1] + x[2]).abs() > 1.2);
    let labels = x.rows().into_iter().map(side).collect();
    Sample::classification(x, labels, 2).unwrap()
}

/// Share of rows that a method, fitted to `train`, says right, its scores and its facts.
fn fitted(name: &str, settings: &Settings, train: &Sample, test: &Sample) -> (f64, Array2<f64>) {
    let methods = registry();
    let method = find(&methods, name).unwrap();
    let settings = (method.defaults)(&train.shape()).overridden_by(settings);
    let fitted = method.learner(&settings, train.task()).unwrap();
    let fitted = fitted.fit(train, &mut Fitting::seeded(5)).unwrap();
    let Predictions::Classes(said) = fitted.predictor.predict(test.inputs()).unwrap() else {
        panic!("classes")
    };
    let right = said.iter().zip(test.labels().unwrap()).filter(|(a, b)| a == b).count();
    (right as f64 / said.len() as f64, fitted.predictor.decision(test.inputs()))
}

#[test]
fn power_zero_is_the_method_without_a_metric() {
    let (train, test) = (along_a_direction(200, 1), along_a_direction(50, 2));
    let plain = Settings::new().with("power", 0.0);
    for (metric, inner, settings) in [
        ("metric-svm", "gaussian-svm", Settings::new().with("solver", "smo")),
        ("hyper-krr-metric", "hyper-krr-linear", Settings::new()),
    ] {
        let (_, with) = fitted(metric, &plain, &train, &test);
        let (_, without) = fitted(inner, &settings, &train, &test);
        assert_eq!(with, without, "{metric}");
    }
}

#[test]
fn a_learned_metric_finds_the_direction_that_counts() {
    let (train, test) = (along_a_direction(600, 1), along_a_direction(500, 2));
    for (method, settings) in [
        ("metric-svm", Settings::new().with("power", 1.0).with("std", 1.0)),
        ("hyper-krr-metric", Settings::new().with("power", 1.0)),
    ] {
        let (with, _) = fitted(method, &settings, &train, &test);
        let (without, _) = fitted(method, &settings.with("power", 0.0), &train, &test);
        assert!(with > without + 0.1, "{method}: {with} {without}");
    }
}

#[test]
fn settings_that_are_fixed_in_a_metric_are_refused_by_name() {
    let methods = registry();
    let said = |name: &str, settings: Settings| {
        let method = find(&methods, name).unwrap();
        let refused = method.learner(&settings, Task::Classification { classes: 2 });
        refused.err().unwrap().to_string()
    };
    let kernel = said("metric-svm", Settings::new().with("kernel", "linear"));
    assert!(kernel.contains("`kernel` is no setting"), "{kernel}");
    let power = said("metric-svm", Settings::new().with("power", 1.5));
    assert!(power.contains("`power` is 1.5; it must be between 0 and 1"), "{power}");
    let hyper = find(&methods, "hyper-krr-metric").unwrap();
    let offered: Vec<&str> =
        (hyper.settings)().iter().filter(|s| hyper.offers(s)).map(|s| s.name).collect();
    assert!(offered.contains(&"landmarks") && !offered.contains(&"subsets"), "{offered:?}");
}
