use super::*;
use crate::mce::{Explicit, Form, Objective, Sensitivity};
use mercer_kernels::Covariance;
use mercer_learning::{
    Checkpoints, Fitting, Learner, LearningError, Method, Moment, Predictor, Probe, Sample, State,
};
use ndarray::{Array2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Two half-moons of noisy points: no straight line parts them.
fn moons(rows: usize, seed: u64) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let labels: Vec<u32> = (0..rows as u32).map(|i| i % 2).collect();
    let mut inputs = Array2::zeros((rows, 2));
    for (mut row, &label) in inputs.rows_mut().into_iter().zip(&labels) {
        let angle = rng.gen_range(0.0..std::f64::consts::PI);
        let (x, y) = (angle.cos(), angle.sin());
        let noise = |rng: &mut ChaCha8Rng| rng.gen_range(-0.15..0.15);
        row[0] = if label == 0 { x } else { 1.0 - x } + noise(&mut rng);
        row[1] = if label == 0 { y } else { 0.5 - y } + noise(&mut rng);
    }
    Sample::classification(inputs, labels, 2).unwrap()
}

fn accuracy(predictor: &dyn Predictor, sample: &Sample) -> f64 {
    let predicted = predictor.predict(sample.inputs()).unwrap();
    let mercer_learning::Predictions::Classes(classes) = predicted else {
        panic!("a classifier predicts classes");
    };
    mercer_learning::accuracy(sample.labels().unwrap(), &classes)
}

fn quick() -> CenParams {
    CenParams { rate: 0.01, epochs: 300.0, weight: 0.1, lambda: 0.01, ..CenParams::default() }
}

fn implicit() -> CenParams {
    let kernel = Some(Covariance::Gaussian { scale: 1.0, lengths: vec![1.0] });
    CenParams { kernel, ..quick() }
}

#[test]
fn moons_are_parted_with_either_kernel_batches_and_dropout() {
    let (train, test) = (moons(120, 1), moons(200, 2));
    let dropped = CenParams { batch: Some(40), dropout: 0.2, features: 32, ..quick() };
    for params in [
        quick(),
        implicit(),
        CenParams { masks: Masks::One, ..dropped.clone() },
        CenParams { precision: Precision::F32, ..dropped.clone() },
        CenParams { epochs: 150.0, ..CenParams { kernel: implicit().kernel, ..dropped } },
    ] {
        let fitted =
            params.clone().checked().unwrap().fit(&train, &mut Fitting::seeded(3)).unwrap();
        let found = accuracy(&*fitted.predictor, &test);
        assert!(found > 0.93, "{found} with {params:?}, {:?}", fitted.facts);
    }
}

/// `q` of a network, as the learner would compute it, against its derivative by the network's
/// parameters: the embedding's gradient goes through the layers rightly.
#[test]
fn the_objective_goes_through_the_layers() {
    let sample = moons(30, 4);
    let labels = sample.labels().unwrap();
    let architecture = quick().architecture(2);
    let start = mercer_networks::Initialisation::FanIn;
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut net = architecture.draw::<f64>(&start, 1, &mut rng).unwrap();
    for (form, sensitivity) in [(Form::Sum, Sensitivity::One), (Form::Mean, Sensitivity::Supremum)]
    {
        let objective = Objective { form, sensitivity, weight: 0.7, ..Objective::default() };
        let x = sample.inputs();
        let z = net.forward(x).to_owned();
        let embedding = Explicit::new(z.view(), labels, 2, 0.05).unwrap();
        let found = embedding.gradient(&objective, None).unwrap();
        net.backward(x, found.features.view());
        let gradient = net.update().1.to_vec();
        let h = 1e-6;
        for k in (0..gradient.len()).step_by(7) {
            let mut at = |step: f64| {
                let before = net.parameters()[k];
                net.update().0[k] = before + step;
                let z = net.apply(x, 1);
                net.update().0[k] = before;
                Explicit::new(z.view(), labels, 2, 0.05).unwrap().value(&objective, None).objective
            };
            let numeric = (at(h) - at(-h)) / (2.0 * h);
            let error = (gradient[k] - numeric).abs() / (1.0 + numeric.abs());
            assert!(error < 1e-6, "{k}: {} and {numeric}", gradient[k]);
        }
    }
}

/// `α` and `‖W‖` of the final output weights stand among the facts; with 1 for `α` the complexity that the objective
/// saw is not their product.
#[test]
fn sensitivity_and_norm_are_those_of_the_read_out() {
    let sample = moons(60, 4);
    let labels = sample.labels().unwrap();
    let still = CenParams { rate: 1e-12, epochs: 1.0, ..quick() };
    let fit = |params: CenParams| {
        params.checked().unwrap().fit(&sample, &mut Fitting::seeded(3)).unwrap().facts
    };
    let facts = fit(still.clone());
    let mut rng = Fitting::seeded(3).streams.rng("network");
    let net = still.architecture(2).draw::<f64>(&still.start, 1, &mut rng).unwrap();
    let z = net.apply(sample.inputs(), 1);
    let embedding = Explicit::new(z.view(), labels, 2, still.lambda).unwrap();
    let mean = Objective { epsilon: still.epsilon, ..Objective::default() };
    let longest = z.rows().into_iter().map(|z| z.dot(&z).sqrt()).fold(0.0, f64::max);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * b;
    assert!(near(facts["alpha"], longest) && near(embedding.alpha(), longest), "{facts:?}");
    assert!(near(facts["norm"], embedding.norm()), "{facts:?}");
    assert!(near(facts["mean-loss"], embedding.value(&mean, None).loss), "{facts:?}");
    assert!(near(facts["complexity"], facts["norm"]), "{facts:?}");
    let supremum = fit(CenParams { sensitivity: Sensitivity::Supremum, ..still });
    let r = supremum["alpha"] * supremum["norm"];
    assert!(near(supremum["complexity"], r), "{supremum:?}");
    // A kernel with a scale: of the method's defaults, r is the product.
    let method = METHODS.iter().find(|method| method.name == "cen-implicit").unwrap();
    let settings = (method.defaults)(&sample.shape());
    assert_eq!(settings.get("sensitivity").unwrap(), "supremum");
    let still = settings.with("rate", 1e-12).with("epochs", 1.0);
    let learner = method.learner(&still, sample.task()).unwrap();
    let facts = learner.fit(&sample, &mut Fitting::seeded(3)).unwrap().facts;
    assert!(near(facts["complexity"], facts["alpha"] * facts["norm"]), "{facts:?}");
    assert!(near(facts["alpha"], facts["scale"]), "{facts:?}");
}

/// Keeps where a fit ended.
#[derive(Default)]
struct Ended(Option<State>);

impl Checkpoints for Ended {
    fn last(&mut self) -> Option<State> {
        self.0.clone()
    }
    fn due(&self, ended: bool) -> bool {
        ended
    }
    fn keep(&mut self, state: State) {
        self.0 = Some(state);
    }
}

/// λ → 0 with more features than rows: the normal matrix is singular in every step, those before training
/// went on among them.
#[test]
fn steps_that_need_a_jitter_are_counted() {
    let sample = moons(20, 4);
    let params = CenParams { features: 64, rate: 1e-3, learn_lambda: false, ..quick() };
    let fit = |lambda: f64, epochs: f64, kept: &mut Ended| {
        let learner = CenParams { lambda, epochs, ..params.clone() }.checked().unwrap();
        let mut fitting = Fitting { checkpoints: Some(kept), ..Fitting::seeded(3) };
        learner.fit(&sample, &mut fitting).unwrap().facts
    };
    let counted = |facts: &BTreeMap<String, f64>| facts["jitter-steps"] as usize;
    let mut kept = Ended::default();
    let singular = fit(1e-300, 4.0, &mut kept);
    assert!(singular["jitter"] > 0.0 && singular["objective"].is_finite(), "{singular:?}");
    assert_eq!(counted(&singular), 4, "{singular:?}");
    let longer = fit(1e-300, 6.0, &mut kept);
    assert_eq!(counted(&longer), 6, "{longer:?}");
    let regular = fit(0.1, 4.0, &mut Ended::default());
    assert!(regular["jitter"] == 0.0 && counted(&regular) == 0, "{regular:?}");
}

#[test]
fn threads_do_not_change_a_bit() {
    let sample = moons(150, 6);
    let params = CenParams { epochs: 20.0, dropout: 0.5, batch: Some(70), ..quick() };
    let scores = |threads| {
        let mut fitting = Fitting { threads, ..Fitting::seeded(7) };
        let fitted = params.clone().checked().unwrap().fit(&sample, &mut fitting).unwrap();
        fitted.predictor.decision(sample.inputs()).mapv(f64::to_bits)
    };
    assert_eq!(scores(1), scores(2));
}

/// Keeps what it is shown.
struct Curve(Vec<(Moment, f64, BTreeMap<String, f64>)>);

impl Probe for Curve {
    fn interval(&self) -> usize {
        4
    }
    fn observe(
        &mut self,
        at: Moment,
        predictor: &dyn Predictor,
        numbers: &BTreeMap<String, f64>,
    ) -> Result<(), LearningError> {
        self.0.push((at, accuracy(predictor, &moons(50, 9)), numbers.clone()));
        Ok(())
    }
}

#[test]
fn a_curve_ends_where_the_fit_does() {
    let sample = moons(60, 8);
    let params = CenParams { epochs: 5.0, batch: Some(30), ..quick() };
    let mut curve = Curve(Vec::new());
    let mut fitting = Fitting { probe: Some(&mut curve), ..Fitting::seeded(1) };
    let fitted = params.checked().unwrap().fit(&sample, &mut fitting).unwrap();
    let steps: Vec<usize> = curve.0.iter().map(|(at, ..)| at.step).collect();
    assert_eq!(steps, [4, 8, 10]);
    let (at, last, numbers) = curve.0.last().unwrap();
    assert!((at.epoch - 5.0).abs() < 1e-12);
    assert!((last - accuracy(&*fitted.predictor, &moons(50, 9))).abs() < 1e-12);
    assert_eq!(numbers["loss"].to_bits(), fitted.facts["loss"].to_bits());
}

fn refusal(params: CenParams) -> String {
    params.checked().unwrap_err().to_string()
}

#[test]
fn bad_settings_and_data_are_named() {
    let default = CenParams::default;
    for (params, name) in [
        (CenParams { lambda: 0.0, ..default() }, "lambda"),
        (CenParams { rate: f64::NAN, ..default() }, "rate"),
        (CenParams { epochs: -1.0, ..default() }, "epochs"),
        (CenParams { epsilon: 1.0, ..default() }, "epsilon"),
        (CenParams { weight: -1.0, ..default() }, "weight"),
        (CenParams { batch: Some(0), ..default() }, "batch"),
        (CenParams { dropout: 1.0, ..default() }, "dropout"),
        (CenParams { features: 0, ..default() }, "features"),
        (CenParams { layers: Layers::Dense(vec![0]), ..default() }, "widths"),
        (
            CenParams {
                kernel: Some(Covariance::Gaussian { scale: 1.0, lengths: vec![-1.0] }),
                ..default()
            },
            "length",
        ),
        (
            CenParams {
                start: mercer_networks::Initialisation::Truncated { std: -0.1, bias: 0.0 },
                ..default()
            },
            "std",
        ),
    ] {
        let message = refusal(params);
        assert!(message.contains(name), "{name}: {message}");
    }
    // Each names the setting that it was given by, once.
    let start = mercer_networks::Initialisation::Truncated { std: -1.0, bias: 0.1 };
    assert_eq!(
        refusal(CenParams { start, ..default() }),
        "setting `start` is truncated with std = -1; it must be at least 0 and finite"
    );
    assert_eq!(
        refusal(CenParams { layers: Layers::Dense(vec![0]), ..default() }),
        "setting `layers` is a network with widths = 0; it must be at least 1"
    );
    let kernel = Some(Covariance::Gaussian { scale: 0.0, lengths: vec![1.0] });
    assert_eq!(
        refusal(CenParams { kernel, ..default() }),
        "setting `kernel` is one with scale = 0; it must be one whose parameters are positive and finite"
    );
    let sample = moons(20, 1);
    let fit = |params: CenParams, sample: &Sample| {
        params.checked().unwrap().fit(sample, &mut Fitting::seeded(1))
    };
    let large = fit(CenParams { batch: Some(21), ..quick() }, &sample).err().unwrap();
    assert!(large.to_string().contains("`batch` is 21"), "{large}");
    // Steps so large that ridge or weights leave the numbers.
    let wild = fit(CenParams { rate: 1000.0, epochs: 50.0, ..quick() }, &sample).err().unwrap();
    assert!(matches!(wild, LearningError::Diverged { .. }), "{wild}");
    // A class without rows, a constant column and duplicate rows are no obstacle.
    let x = array![[1.0, 5.0], [1.0, 5.0], [0.0, 5.0], [0.1, 5.0]];
    let odd = Sample::classification(x, vec![0, 0, 2, 2], 3).unwrap();
    let few = CenParams { epochs: 50.0, ..quick() };
    let fitted = fit(few.clone(), &odd).unwrap();
    let p = fitted.predictor.probabilities(odd.inputs()).unwrap();
    assert!(p.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
    let real = Sample::regression(array![[0.0], [1.0]], array![0.0, 1.0]).unwrap();
    assert!(matches!(fit(few, &real), Err(LearningError::Task { .. })));
}

#[test]
fn methods_are_told_apart() {
    let names: Vec<&str> = METHODS.iter().map(|method: &Method| method.name).collect();
    assert_eq!(names, ["cen-1", "cen-2", "cen-implicit", "cen-cnn"]);
}
