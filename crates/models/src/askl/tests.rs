//! The five methods as a user meets them: settings, limits, probes, predictions.

use super::{AsklParams, Kind, METHODS, Norms, Precision, ReadOut, Thresholding};
use crate::Phases;
use approx::assert_relative_eq;
use linfa::prelude::*;
use mercer_learning::{
    Convergence, Fitting, LearningError, Limits, Loss, Moment, Predictions, Predictor, Probe,
    Sample, Settings, Task, accuracy, find,
};
use ndarray::{Array1, Array2};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two interleaved spirals: no linear classifier tells them apart.
fn spirals(n: usize) -> Sample {
    let inputs = Array2::from_shape_fn((n, 2), |(i, j)| {
        let t = 0.5 + (i / 2) as f64 / (n / 2) as f64 * 5.0;
        let angle = t + if i % 2 == 0 { 0.0 } else { std::f64::consts::PI };
        t / 5.0 * if j == 0 { angle.cos() } else { angle.sin() }
    });
    Sample::classification(inputs, (0..n).map(|i| (i % 2) as u32).collect(), 2).unwrap()
}

fn quick() -> Settings {
    Settings::new().with("features", 200).with("epochs", 30).with("std", 3.0)
}

fn labels(predictor: &dyn Predictor, sample: &Sample) -> Vec<u32> {
    match predictor.predict(sample.inputs()).unwrap() {
        Predictions::Classes(labels) => labels,
        Predictions::Real(_) => unreachable!("a classifier predicts classes"),
    }
}

#[test]
fn every_method_learns_the_spirals_in_both_precisions_and_losses() {
    let sample = spirals(400);
    for method in METHODS {
        for precision in ["f32", "f64"] {
            for loss in ["auto", "cross-entropy", "squared"] {
                let settings = quick().with("precision", precision).with("loss", loss);
                let learner = method.learner(&settings, sample.task()).unwrap();
                let fitted = learner.fit(&sample, &mut Fitting::seeded(2)).unwrap();
                let truth = sample.labels().unwrap();
                let right = accuracy(&labels(&*fitted.predictor, &sample), truth);
                assert!(right > 0.95, "{} {precision} {loss}: {right}", method.name);
                assert_eq!(fitted.convergence, Convergence::FixedSteps { steps: 30 * 13 });
                for fact in ["loss", "objective", "trace-norm", "frobenius-squared"] {
                    assert!(fitted.facts[fact].is_finite(), "{fact}");
                }
            }
        }
    }
}

#[test]
fn regression_fits_a_wave_and_takes_no_other_loss() {
    let inputs = Array2::from_shape_fn((300, 1), |(i, _)| i as f64 / 150.0 - 1.0);
    let values: Array1<f64> = inputs.column(0).mapv(|x| 5.0 + 3.0 * (4.0 * x).sin());
    let sample = Sample::regression(inputs, values.clone()).unwrap();
    for method in METHODS {
        let settings = quick().with("epochs", 100).with("std", 2.0).with("bias", true);
        let learner = method.learner(&settings, sample.task()).unwrap();
        let fitted = learner.fit(&sample, &mut Fitting::seeded(2)).unwrap();
        let scores = fitted.predictor.decision(sample.inputs());
        let error = (&scores.column(0) - &values).mapv(|e| e * e).mean().unwrap().sqrt();
        assert!(error < 0.5, "{}: {error}", method.name);
    }
    for loss in ["hinge", "cross-entropy"] {
        let learner = METHODS[0].learner(&quick().with("loss", loss), Task::Regression).unwrap();
        let Err(error) = learner.fit(&sample, &mut Fitting::seeded(1)) else {
            panic!("{loss} was accepted for real targets");
        };
        assert!(error.to_string().contains(&format!("`loss` is {loss}")), "{error}");
    }
}

#[test]
fn bad_settings_are_refused_by_name() {
    for (name, value) in [
        ("features", 0.into()),
        ("batch", 0.into()),
        ("std", (-1.0).into()),
        ("std", 0.0.into()),
        ("std_prime", (-0.5).into()),
        ("lambda1", (-1e-3).into()),
        ("lambda2", (-1e-3).into()),
        ("rate", 0.0.into()),
        ("rate", (-0.1).into()),
        ("epochs", 0.into()),
        ("read_out_std", (-1.0).into()),
    ] {
        let value: serde_json::Value = value;
        let settings = Settings::new().with(name, value.clone());
        let Err(error) = find(METHODS, "askl").unwrap().learner(&settings, Task::Regression) else {
            panic!("{name} = {value} was accepted");
        };
        assert!(matches!(error, LearningError::Setting { name: found, .. } if found == name));
    }
    let unknown = Settings::new().with("lamda1", 1.0);
    assert!(matches!(
        (METHODS[0].build)(&unknown).err(),
        Some(LearningError::Settings { method, .. }) if method == "sk"
    ));
    let one = Sample::classification(Array2::ones((3, 1)), vec![1, 1, 1], 2).unwrap();
    let learner = METHODS[4].learner(&quick(), one.task()).unwrap();
    assert_eq!(
        learner.fit(&one, &mut Fitting::seeded(1)).err(),
        Some(LearningError::OneClass { rows: 3 })
    );
}

#[test]
fn settings_survive_the_way_through_a_record() {
    for method in METHODS {
        let shape = spirals(10).shape();
        let defaults = (method.defaults)(&shape);
        let params: AsklParams = defaults.parse(method.name).unwrap();
        assert_eq!(Settings::of(&params), defaults);
        let mut rng = mercer_learning::Streams::root(1).rng("tune");
        for candidate in (method.space)(&shape).candidates(27, &mut rng) {
            assert!((method.build)(&defaults.clone().overridden_by(&candidate)).is_ok());
        }
    }
}

#[test]
fn variants_mean_what_the_paper_and_the_code_say() {
    use crate::spectral::{FeaturePenalty, ReadOutPenalty};
    let task = Task::Classification { classes: 3 };
    let plan = |params: AsklParams| params.checked().unwrap().plan(task).unwrap();
    let printed = AsklParams { lambda1: 0.1, lambda2: 0.2, ..AsklParams::default() };
    let askl = plan(printed.clone());
    assert_eq!(askl.loss, Loss::Hinge);
    assert_eq!(askl.read_out_penalty, ReadOutPenalty::Trace { lambda: 0.1, clip: true });
    assert_eq!(askl.feature_penalty, FeaturePenalty::MeanSquared(0.2));
    assert!(askl.train_read_out && askl.learn_frequencies && !askl.bias);
    assert_eq!(printed.phases, Phases::Shared);

    let released = AsklParams {
        norms: Norms::Unsquared,
        read_out: ReadOut::Frozen,
        thresholding: Thresholding::Unclipped,
        phases: Phases::Independent,
        ..printed.clone()
    };
    let askl = plan(released.clone());
    assert_eq!(askl.read_out_penalty, ReadOutPenalty::Trace { lambda: 0.1, clip: false });
    assert_eq!(askl.feature_penalty, FeaturePenalty::BatchNorm(0.2));
    assert!(!askl.train_read_out);
    let nskl = plan(AsklParams { kind: Kind::Nskl, ..released.clone() });
    assert_eq!(nskl.read_out_penalty, ReadOutPenalty::Norm(0.1));
    assert_eq!(nskl.feature_penalty, FeaturePenalty::Nothing);
    assert!(nskl.train_read_out && nskl.learn_frequencies);
    let sk = plan(AsklParams { kind: Kind::Sk, ..printed });
    assert_eq!(sk.read_out_penalty, ReadOutPenalty::Squared(0.1));
    assert!(!sk.learn_frequencies);
}

/// Notes what it is shown, and may refuse to go on.
#[derive(Default)]
struct Notes {
    every: usize,
    end_at: Option<usize>,
    seen: Vec<(Moment, f64, BTreeMap<String, f64>)>,
}

impl Probe for Notes {
    fn interval(&self) -> usize {
        self.every
    }
    fn observe(
        &mut self,
        at: Moment,
        predictor: &dyn Predictor,
        numbers: &BTreeMap<String, f64>,
    ) -> Result<(), LearningError> {
        let sample = spirals(400);
        let right = accuracy(&labels(predictor, &sample), sample.labels().unwrap());
        self.seen.push((at, right, numbers.clone()));
        if self.end_at == Some(at.step) { Err(LearningError::Interrupted) } else { Ok(()) }
    }
}

#[test]
fn a_probe_sees_the_current_predictor_and_does_not_change_the_fit() {
    let sample = spirals(400);
    let learner = find(METHODS, "askl").unwrap().learner(&quick(), sample.task()).unwrap();
    for threads in [1, 2] {
        let alone = learner.fit(&sample, &mut Fitting { threads, ..Fitting::seeded(3) }).unwrap();
        let mut notes = Notes { every: 100, ..Notes::default() };
        let mut fitting = Fitting { threads, probe: Some(&mut notes), ..Fitting::seeded(3) };
        let watched = learner.fit(&sample, &mut fitting).unwrap();
        let decision = |p: &dyn Predictor| p.decision(sample.inputs());
        assert_eq!(decision(&*alone.predictor), decision(&*watched.predictor));
        assert_eq!(alone.facts, watched.facts);
        let steps: Vec<usize> = notes.seen.iter().map(|(at, ..)| at.step).collect();
        assert_eq!(steps, [100, 200, 300]);
        assert!((notes.seen[0].0.epoch - (7.0 + 9.0 * 32.0 / 400.0)).abs() < 1e-12);
        assert!(notes.seen[2].1 > 0.9 && notes.seen[2].1 >= notes.seen[0].1 - 0.02);
        let (first, last) = (&notes.seen[0].2, &notes.seen[2].2);
        assert!(last["loss"] < first["loss"]);
        let penalties = 1e-3 * last["trace-norm"] + 1e-3 * last["feature-norm-squared"];
        assert_relative_eq!(last["objective"], last["loss"] + penalties, max_relative = 1e-12);

        let mut notes = Notes { every: 50, end_at: Some(150), ..Notes::default() };
        let mut fitting = Fitting { threads, probe: Some(&mut notes), ..Fitting::seeded(3) };
        assert_eq!(learner.fit(&sample, &mut fitting).err(), Some(LearningError::Interrupted));
        assert_eq!(notes.seen.len(), 3);
    }
}

/// Allows so many checks, and so many bytes.
struct Allowance(AtomicUsize, u64);

impl Limits for Allowance {
    fn check(&self) -> Result<(), LearningError> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        left.map(drop).map_err(|_| LearningError::OutOfTime { seconds: 1.0 })
    }
    fn reserve(&self, bytes: u64) -> Result<(), LearningError> {
        let limit = self.1;
        if bytes > limit {
            Err(LearningError::OutOfMemory { needed: bytes, limit })
        } else {
            Ok(())
        }
    }
}

#[test]
fn limits_end_a_fit_for_any_number_of_threads() {
    let sample = spirals(400);
    let learner = find(METHODS, "nskl").unwrap().learner(&quick(), sample.task()).unwrap();
    for threads in [1, 2, 4] {
        let limits = Allowance(AtomicUsize::new(17), u64::MAX);
        let mut fitting = Fitting { threads, limits: &limits, ..Fitting::seeded(1) };
        let error = learner.fit(&sample, &mut fitting).err();
        assert_eq!(error, Some(LearningError::OutOfTime { seconds: 1.0 }));
    }
    let limits = Allowance(AtomicUsize::new(17), 1000);
    let mut fitting = Fitting { limits: &limits, ..Fitting::seeded(1) };
    assert!(matches!(
        learner.fit(&sample, &mut fitting).err(),
        Some(LearningError::OutOfMemory { limit: 1000, .. })
    ));
}

#[test]
fn divergence_is_reported_with_its_step() {
    let sample = spirals(400);
    let settings = quick().with("optimiser", "sgd").with("rate", 1e30).with("loss", "squared");
    for threads in [1, 2] {
        let learner = METHODS[3].learner(&settings, sample.task()).unwrap();
        let error = learner.fit(&sample, &mut Fitting { threads, ..Fitting::seeded(1) }).err();
        assert!(matches!(error, Some(LearningError::Diverged { step: 2..=9, .. })), "{error:?}");
        // A read-out that is infinite has no singular values; what is to be done is the same.
        let learner = find(METHODS, "askl").unwrap();
        let infinite = quick().with("rate", 1e300);
        let learner = learner.learner(&infinite, sample.task()).unwrap();
        let error = learner.fit(&sample, &mut Fitting { threads, ..Fitting::seeded(1) }).err();
        assert!(matches!(error, Some(LearningError::Diverged { step: 1, .. })), "{error:?}");
        assert!(error.unwrap().to_string().contains("lower `rate`, which is "));
    }
}

#[test]
fn linfa_gets_an_error_for_bad_settings_and_a_model_for_good_ones() {
    let sample = spirals(300);
    let targets: Array1<usize> = sample.labels().unwrap().iter().map(|&l| l as usize).collect();
    let dataset = Dataset::new(sample.inputs().to_owned(), targets.clone());
    let params = AsklParams {
        features: 200,
        std: 3.0,
        epochs: 30.0,
        precision: Precision::F64,
        ..AsklParams::default()
    };
    let model = params.clone().seeded(4).fit(&dataset).unwrap();
    let predicted: Array1<usize> = model.predict(&dataset);
    let right = predicted.iter().zip(&targets).filter(|(a, b)| a == b).count();
    assert!(right > 280);
    let bad = AsklParams { rate: -1.0, ..params }.seeded(4).fit(&dataset);
    assert!(matches!(bad.err(), Some(LearningError::Setting { name: "rate", .. })));
}
