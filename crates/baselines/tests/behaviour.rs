//! What the fixtures cannot show: caps, limits, degenerate samples, refused settings.

#![expect(clippy::float_cmp, reason = "counts and shares that are exact in f64")]

use approx::assert_abs_diff_eq;
use mercer_baselines::BASELINES;
use mercer_learning::{
    Convergence, Fitted, Fitting, LearningError, Limits, Predictions, Sample, Settings, Streams,
    accuracy, find,
};
use ndarray::{Array, Array1, Array2, Axis, array, s};

fn try_fit(
    method: &str,
    settings: &Settings,
    sample: &Sample,
    limits: &dyn Limits,
) -> Result<Fitted, LearningError> {
    let learner = find(BASELINES, method).unwrap().learner(settings, sample.task())?;
    let streams = Streams::root(3);
    learner.fit(sample, &mut Fitting { streams, limits, ..Fitting::seeded(0) })
}

fn fit(method: &str, settings: &Settings, sample: &Sample) -> Fitted {
    try_fit(method, settings, sample, &mercer_learning::Unlimited).unwrap()
}

/// Two interleaved half circles: no line separates them.
fn moons(rows: usize) -> Sample {
    let inputs = Array2::from_shape_fn((rows, 2), |(i, j)| {
        let angle = std::f64::consts::PI * (i / 2) as f64 / (rows / 2) as f64;
        match (i % 2, j) {
            (0, 0) => angle.cos(),
            (0, _) => angle.sin(),
            (_, 0) => 1.0 - angle.cos(),
            _ => 0.5 - angle.sin(),
        }
    });
    Sample::classification(inputs, (0..rows as u32).map(|i| i % 2).collect(), 2).unwrap()
}

fn training_accuracy(fitted: &Fitted, sample: &Sample) -> f64 {
    match fitted.predictor.predict(sample.inputs()).unwrap() {
        Predictions::Classes(labels) => accuracy(&labels, sample.labels().unwrap()),
        Predictions::Real(_) => panic!("a classifier predicts classes"),
    }
}

#[test]
fn curved_classes_are_learned() {
    let sample = moons(200);
    for method in ["kernel-ridge", "gaussian-svm"] {
        let fitted = fit(method, &Settings::new().with("std", 3.0), &sample);
        assert_eq!(training_accuracy(&fitted, &sample), 1.0, "{method}");
    }
}

/// More rows than are stored: a moon with 13,000 points is learned all the same, and says how far
/// the iteration came.
#[test]
fn more_rows_than_are_stored_are_solved_by_iteration() {
    let sample = moons(13_000);
    let settings = Settings::new().with("std", 1.0).with("lambda", 1e-3).with("cap", 20_000);
    let settings = settings.with("landmarks", 200).with("tolerance", 1e-6);
    let fitted = fit("kernel-ridge", &settings, &sample);
    assert!(matches!(fitted.convergence, Convergence::Converged { .. }));
    assert!(fitted.facts["residual"] <= 1e-6 && fitted.facts["iterations"] < 30.0);
    assert_eq!((fitted.facts["rows-used"], fitted.facts["stored"]), (13_000.0, 1.0));
    assert_eq!(training_accuracy(&fitted, &sample), 1.0);
    // Its half takes 338 MB: with less room it is computed for each product, and the function is the same.
    let narrow = Strict { bytes: 300 << 20, stopped: false };
    let computed = try_fit("kernel-ridge", &settings, &sample, &narrow).unwrap();
    assert_eq!(computed.facts["stored"], 0.0);
    let scores = |fitted: &Fitted| fitted.predictor.decision(sample.inputs().slice(s![..500, ..]));
    assert!((scores(&fitted) - scores(&computed)).iter().all(|gap| gap.abs() < 1e-4));
    // One product is too few: no error, but no success either.
    let hasty =
        fit("kernel-ridge", &settings.with("iterations", 1).with("tolerance", 1e-12), &sample);
    assert!(matches!(hasty.convergence, Convergence::NotConverged { iterations: 1, .. }));
    // The preconditioner's columns are allowed for before they are computed.
    let small = Strict { bytes: 1 << 20, stopped: false };
    let refused = try_fit("kernel-ridge", &Settings::new().with("cap", 20_000), &sample, &small);
    assert!(matches!(refused, Err(LearningError::OutOfMemory { .. })));
}

#[test]
fn rows_above_the_cap_are_left_out_and_counted() {
    let sample = moons(200);
    for method in ["kernel-ridge", "gaussian-svm"] {
        let settings = Settings::new().with("std", 3.0).with("cap", 60);
        let fitted = fit(method, &settings, &sample);
        assert_eq!(fitted.facts["rows-used"], 60.0, "{method}");
        assert!(training_accuracy(&fitted, &sample) > 0.95, "{method}");
        let all = fit(method, &settings.with("cap", 200), &sample);
        assert_eq!(all.facts["rows-used"], 200.0, "{method}");
    }
}

/// Three classes of 100, 40 and 2 rows in three places.
#[test]
fn a_cap_holds_for_each_machine_and_spares_rare_classes() {
    let labels: Vec<u32> = [(0, 100), (1, 40), (2, 2)]
        .into_iter()
        .flat_map(|(class, count)| std::iter::repeat_n(class, count))
        .collect();
    let inputs = Array2::from_shape_fn((142, 2), |(i, j)| {
        let centre = if j == 0 { f64::from(labels[i]) } else { f64::from(labels[i] == 1) };
        10.0 * centre + (i * 7 % 13) as f64 / 13.0
    });
    let sample = Sample::classification(inputs, labels, 3).unwrap();
    let with = |cap: usize| {
        let fitted =
            fit("gaussian-svm", &Settings::new().with("std", 0.5).with("cap", cap), &sample);
        assert_eq!(fitted.facts["machines"], 3.0);
        assert_eq!(training_accuracy(&fitted, &sample), 1.0, "{cap}");
        fitted.facts["rows-used"]
    };
    // 142 rows in all, but no machine has more than 140.
    assert_eq!(with(140), 142.0);
    // At ten rows a machine, 7 + 3, 9 + 1 and 9 + 1: between ten rows and thirty in all.
    assert!((11.0..=30.0).contains(&with(10)));
}

/// Refuses what needs more memory than this, or any fit at all.
struct Strict {
    bytes: u64,
    stopped: bool,
}

impl Limits for Strict {
    fn check(&self) -> Result<(), LearningError> {
        if self.stopped { Err(LearningError::Interrupted) } else { Ok(()) }
    }
    fn reserve(&self, needed: u64) -> Result<(), LearningError> {
        let limit = self.bytes;
        if needed > limit { Err(LearningError::OutOfMemory { needed, limit }) } else { Ok(()) }
    }
}

#[test]
fn matrices_that_do_not_fit_are_refused_before_they_are_made() {
    let (sample, defaults) = (moons(200), Settings::new());
    for method in ["kernel-ridge", "gaussian-svm"] {
        // The 200 x 200 matrix alone.
        let tight = Strict { bytes: 8 * 200 * 200, stopped: false };
        assert!(
            matches!(
                try_fit(method, &defaults, &sample, &tight).err(),
                Some(LearningError::OutOfMemory { .. })
            ),
            "{method}"
        );
        let roomy = Strict { bytes: 2 * 8 * 200 * 200, stopped: false };
        assert!(try_fit(method, &defaults, &sample, &roomy).is_ok(), "{method}");
        let stopped = Strict { bytes: u64::MAX, stopped: true };
        assert_eq!(
            try_fit(method, &defaults, &sample, &stopped).err(),
            Some(LearningError::Interrupted),
            "{method}"
        );
    }
}

/// Of more rows than a tile of the kernel's values, the jitter once went to a matrix of which half was missing.
#[test]
fn repeated_rows_without_a_ridge_take_a_jitter_that_is_reported() {
    for rows in [20, 400] {
        // Each row twice, with equal targets: K is singular, and the interpolant exists.
        let x = Array::range(0.0, f64::from(rows), 1.0).insert_axis(Axis(1));
        let inputs = ndarray::concatenate![Axis(0), x, x];
        let targets = inputs.column(0).mapv(f64::sin);
        let plain = Sample::regression(inputs, targets.clone()).unwrap();
        let weights = vec![2.0; targets.len()];
        let weighted = plain.clone().weighted(&weights).unwrap();
        for sample in [plain, weighted] {
            let settings = Settings::new().with("lambda", 0.0).with("std", 1.0);
            let fitted = fit("kernel-ridge", &settings, &sample);
            assert!(fitted.facts["jitter"] > 0.0 && fitted.facts["jitter"] <= 1e-7);
            let values = fitted.predictor.decision(sample.inputs());
            assert_abs_diff_eq!(values.column(0), targets.view(), epsilon = 1e-5);
            assert_eq!(fitted.convergence, Convergence::Exact);
        }
    }
}

/// The jitter that makes such a matrix definite leaves coefficients of 1e15 and a fit worse than the
/// mean; the least-squares solution meets each pair of equal rows in the middle.
#[test]
fn repeated_rows_that_contradict_each_other_are_met_in_their_mean() {
    let x = Array::range(0.0, 20.0, 1.0).insert_axis(Axis(1));
    let inputs = ndarray::concatenate![Axis(0), x, x];
    let wave = inputs.column(0).mapv(f64::sin);
    let targets: Array1<f64> =
        wave.iter().enumerate().map(|(i, y)| y + if i < 20 { 0.5 } else { -0.5 }).collect();
    let sample = Sample::regression(inputs, targets).unwrap();
    for lambda in [0.0, 1e-20, 1e-17] {
        let settings = Settings::new().with("lambda", lambda).with("std", 1.0);
        let fitted = fit("kernel-ridge", &settings, &sample);
        let values = fitted.predictor.decision(sample.inputs());
        assert_abs_diff_eq!(values.column(0), wave.view(), epsilon = 1e-5);
        assert_eq!((fitted.facts["jitter"], fitted.facts["rank"]), (0.0, 20.0), "{lambda}");
        assert!(fitted.facts["cutoff"] > 0.0);
    }
}

#[test]
fn far_from_the_rows_the_ridge_predicts_the_mean() {
    let sample = Sample::regression(array![[0.0], [1.0]], array![3.0, 5.0]).unwrap();
    let fitted = fit("kernel-ridge", &Settings::new(), &sample);
    let far = fitted.predictor.decision(array![[1e3]].view());
    assert_abs_diff_eq!(far, array![[4.0]], epsilon = 1e-12);
    let plain = fit("kernel-ridge", &Settings::new().with("centre", false), &sample);
    assert_abs_diff_eq!(plain.predictor.decision(array![[1e3]].view()), array![[0.0]]);
}

#[test]
fn a_constant_target_is_predicted_without_support_vectors() {
    let sample = Sample::regression(moons(20).inputs().to_owned(), Array1::from_elem(20, 7.5));
    let sample = sample.unwrap();
    let fitted = fit("gaussian-svm", &Settings::new(), &sample);
    assert_eq!(fitted.facts["support-vectors"], 0.0);
    let values = fitted.predictor.decision(sample.inputs());
    assert_abs_diff_eq!(values, Array2::from_elem((20, 1), 7.5), epsilon = 1e-12);
}

#[test]
fn targets_in_other_units_give_the_same_fit_in_those_units() {
    let inputs = moons(60).inputs().to_owned();
    let values: Array1<f64> =
        inputs.rows().into_iter().map(|x| (2.0 * x[0]).sin() + x[1]).collect();
    let predicted = |values: Array1<f64>| {
        let sample = Sample::regression(inputs.clone(), values).unwrap();
        fit("gaussian-svm", &Settings::new().with("tolerance", 1e-10), &sample)
            .predictor
            .decision(inputs.view())
    };
    let scaled = predicted(values.mapv(|value| 50.0 + 20.0 * value));
    let expected = predicted(values).mapv(|value| 50.0 + 20.0 * value);
    assert_abs_diff_eq!(scaled, expected, epsilon = 1e-6);
}

#[test]
fn a_cost_out_of_reach_still_ends_at_an_optimum() {
    // Separable at this width, so the hard margin exists and C = 1024 is beyond every weight.
    let settings = Settings::new().with("std", 4.0).with("cost", 1024.0);
    let fitted = fit("gaussian-svm", &settings, &moons(100));
    assert!(matches!(fitted.convergence, Convergence::Converged { .. }));
    assert!(fitted.facts["kkt-violation"] <= 1e-3 + 1e-9, "{:?}", fitted.facts);
}

/// Distances that leave the numbers make a kernel of zeros, which passes through all rows without a word.
#[test]
fn inputs_whose_distances_overflow_are_named_with_the_width() {
    let near = moons(40);
    let far = near.clone().map_inputs(|inputs| *inputs *= 1e200).unwrap();
    for method in ["kernel-ridge", "gaussian-svm"] {
        let settings = Settings::new().with("std", 0.5);
        let said = try_fit(method, &settings, &far, &mercer_learning::Unlimited)
            .err()
            .expect(method)
            .to_string();
        let begins =
            "distances between the rows overflow double precision: `std` is 0.5, and column";
        assert!(said.starts_with(begins) && said.contains("scale the inputs"), "{said}");
        fit(method, &settings, &near);
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let none = Settings::new;
    for (method, settings, name) in [
        ("kernel-ridge", none().with("lambda", -1e-9), "lambda"),
        ("kernel-ridge", none().with("std", 0.0), "std"),
        ("kernel-ridge", none().with("std", 1e200), "std"),
        ("kernel-ridge", none().with("cap", 1), "cap"),
        ("kernel-ridge", none().with("tolerance", 0.0), "tolerance"),
        ("kernel-ridge", none().with("iterations", 0), "iterations"),
        ("kernel-ridge", none().with("landmarks", 0), "landmarks"),
        ("gaussian-svm", none().with("cost", 0.0), "cost"),
        ("gaussian-svm", none().with("std", -1.0), "std"),
        ("gaussian-svm", none().with("std", 1e-200), "std"),
        ("gaussian-svm", none().with("epsilon", -0.1), "epsilon"),
        ("gaussian-svm", none().with("tolerance", 0.0), "tolerance"),
        ("gaussian-svm", none().with("cap", 0), "cap"),
    ] {
        match (find(BASELINES, method).unwrap().build)(&settings).err() {
            Some(LearningError::Setting { name: named, .. }) => assert_eq!(named, name),
            other => panic!("{method} {settings}: {other:?}"),
        }
    }
    for (method, settings) in [
        ("kernel-ridge", none().with("lambda", "small")),
        ("gaussian-svm", none().with("multiclass", "tournament")),
        ("mean", none().with("std", 1.0)),
    ] {
        let refused = (find(BASELINES, method).unwrap().build)(&settings).err();
        assert!(matches!(refused, Some(LearningError::Settings { .. })), "{method} {settings}");
    }
}
