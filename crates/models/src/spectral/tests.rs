//! Gradients, golden values and the training loop, against slow and obvious versions.

use super::block::Block;
use super::model::Start;
use super::train::losses;
use super::{
    FeaturePenalty, FrequencySchedule, Model, Phases, Plan, ReadOutPenalty, Sampling, Schedule,
    TrainingRows, train,
};
use approx::assert_relative_eq;
use mercer_learning::{
    Fitting, LearningError, Limits, Loss, Moment, Predictor, Probe, Sample, Streams, Targets,
};
use mercer_solvers::{Optimiser, Threshold};
use ndarray::{Array1, Array2, Axis, array, concatenate};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

const GOLDEN: &str = include_str!("../../../../experiments/golden/askl.toml");

fn plan(loss: Loss) -> Plan {
    Plan {
        loss,
        read_out_penalty: ReadOutPenalty::Nothing,
        feature_penalty: FeaturePenalty::Nothing,
        learn_frequencies: true,
        train_read_out: true,
        bias: true,
        optimiser: Optimiser::Adam,
        rate: 1e-2,
        epochs: 2.0,
        batch: 32,
        sampling: Sampling::Shuffled,
        schedule: Schedule::Constant,
        pace: FrequencySchedule::TOGETHER,
        trace: None,
        ceiling: f64::INFINITY,
    }
}

fn start(features: usize, maps: usize, phases: Phases) -> Start {
    let deviations = [0.9, 0.6][..maps].to_vec();
    Start { features, deviations, phases, read_out_deviation: 1.0 }
}

/// Three classes on a ring: two of the `d` inputs matter.
fn ring(n: usize, d: usize) -> Sample {
    let mut inputs = Array2::zeros((n, d));
    let mut labels = Vec::new();
    for (i, mut row) in inputs.rows_mut().into_iter().enumerate() {
        let angle = i as f64 * 2.399963;
        row[0] = angle.cos();
        row[1] = angle.sin();
        for (j, value) in row.iter_mut().enumerate().skip(2) {
            *value = ((i * (j + 3)) as f64 * 0.71).sin() * 0.3;
        }
        labels.push((angle.rem_euclid(std::f64::consts::TAU) / 2.1) as u32);
    }
    Sample::classification(inputs, labels, 3).unwrap()
}

/// The value and gradients of `mean loss + penalties` over all rows, through the same block that
/// trains; the trace norm has no gradient here.
struct Gradients {
    loss: f64,
    feature_norm: f64,
    frequencies: Array2<f64>,
    read_out: Array2<f64>,
    offset: Array1<f64>,
}

fn gradients(model: &Model<f64>, sample: &Sample, plan: &Plan) -> Gradients {
    let n = sample.rows();
    let plan = Plan { batch: n, ..plan.clone() };
    let rows: Vec<usize> = (0..n).collect();
    let mut block = Block::cut(model, 0..model.features(), &plan);
    let mut scores = Array2::zeros((n, model.outputs()));
    block.forward(sample.inputs(), &rows, scores.view_mut());
    scores += &model.offset;
    let loss = losses(&plan, sample.targets(), &rows, &mut scores.view_mut());
    let feature_norm = block.feature_norm_squared(n);
    block.backward(scores.view(), plan.feature_penalty.factor(feature_norm, n), None);
    let penalty = plan.read_out_penalty.factor(block.read_out_norm_squared());
    let read_out = block.read_out_gradient(scores.view(), penalty).clone();
    let mut frequencies = Array2::zeros(model.frequencies.dim());
    let d = model.inputs();
    block.frequency_gradient(sample.inputs(), 0..d, frequencies.view_mut());
    Gradients { loss, feature_norm, frequencies, read_out, offset: scores.sum_axis(Axis(0)) }
}

/// The same objective from the definitions, one number at a time.
fn objective(model: &Model<f64>, sample: &Sample, plan: &Plan) -> f64 {
    let (n, big_d) = (sample.rows(), model.features());
    let (mut loss, mut feature_norm) = (0.0, 0.0);
    for i in 0..n {
        let mut f = model.offset.to_vec();
        for j in 0..big_d {
            let mut phi = 0.0;
            for map in 0..model.maps {
                let column = map * big_d + j;
                let angle: f64 = (0..model.inputs())
                    .map(|c| sample.inputs()[[i, c]] * model.frequencies[[c, column]])
                    .sum();
                phi += model.scale * (angle + model.phases[column]).cos();
            }
            feature_norm += phi * phi;
            for (f, w) in f.iter_mut().zip(model.read_out.row(j)) {
                *f += phi * w;
            }
        }
        loss += match sample.targets() {
            Targets::Classes { labels, .. } => plan.loss.of_class(&mut f, labels[i] as usize),
            Targets::Real(values) => (f[0] - values[i]).powi(2),
        } / n as f64;
    }
    let squared = model.read_out.iter().map(|w| w * w).sum();
    loss + plan.read_out_penalty.value(squared, 0.0)
        + plan.feature_penalty.value(feature_norm / n as f64, n)
}

/// One entry of a model.
type Entry<'a> = &'a dyn Fn(&mut Model<f64>) -> &mut f64;

#[test]
fn gradients_agree_with_central_differences_for_every_map_phase_loss_and_penalty() {
    let classes = ring(7, 3);
    let values = classes.inputs().sum_axis(Axis(1));
    let regression = Sample::regression(classes.inputs().to_owned(), values).unwrap();
    let penalties = [
        (ReadOutPenalty::Nothing, FeaturePenalty::Nothing),
        (ReadOutPenalty::Squared(0.3), FeaturePenalty::MeanSquared(0.7)),
        (ReadOutPenalty::Norm(0.3), FeaturePenalty::BatchNorm(0.7)),
        (ReadOutPenalty::Trace { lambda: 0.3, clip: true }, FeaturePenalty::BatchSquared(0.7)),
    ];
    let maps = [(1, Phases::Shared), (2, Phases::Shared), (2, Phases::Independent)];
    for (maps, phases) in maps {
        for (sample, k, losses) in [
            (&classes, 3, &[Loss::Hinge, Loss::CrossEntropy, Loss::Squared][..]),
            (&regression, 1, &[Loss::Squared][..]),
        ] {
            for &loss in losses {
                for (read_out_penalty, feature_penalty) in penalties {
                    let plan = Plan { read_out_penalty, feature_penalty, ..plan(loss) };
                    let streams = Streams::root(3);
                    let mut model = Model::draw(&start(4, maps, phases), 3, k, &streams);
                    model.offset.fill(0.2);
                    let found = gradients(&model, sample, &plan);
                    let h = f64::EPSILON.cbrt();
                    let numeric = |entry: Entry<'_>| {
                        let at = |step: f64| {
                            let mut moved = model.clone();
                            *entry(&mut moved) += step;
                            objective(&moved, sample, &plan)
                        };
                        (at(h) - at(-h)) / (2.0 * h)
                    };
                    for ((i, j), &g) in found.frequencies.indexed_iter() {
                        let slow = numeric(&|m| &mut m.frequencies[[i, j]]);
                        assert_relative_eq!(g, slow, epsilon = 1e-8, max_relative = 1e-7);
                    }
                    for ((i, j), &g) in found.read_out.indexed_iter() {
                        let slow = numeric(&|m| &mut m.read_out[[i, j]]);
                        assert_relative_eq!(g, slow, epsilon = 1e-8, max_relative = 1e-7);
                    }
                    for (i, &g) in found.offset.indexed_iter() {
                        let slow = numeric(&|m| &mut m.offset[i]);
                        assert_relative_eq!(g, slow, epsilon = 1e-8, max_relative = 1e-7);
                    }
                }
            }
        }
    }
}

fn matrix(value: &toml::Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> =
        value.as_array().unwrap().iter().map(|row| vector(row).to_vec()).collect();
    let columns = rows[0].len();
    Array2::from_shape_vec((rows.len(), columns), rows.concat()).unwrap()
}

fn vector(value: &toml::Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_float().unwrap()).collect()
}

#[test]
fn golden_loss_feature_norm_and_gradients() {
    let golden: toml::Table = GOLDEN.parse().unwrap();
    let golden = &golden["askl-2"];
    let labels: Vec<u32> = golden["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l.as_integer().unwrap() as u32)
        .collect();
    let sample = Sample::classification(matrix(&golden["x"]), labels, 2).unwrap();
    let (o, o_prime) = (matrix(&golden["frequencies"]), matrix(&golden["frequencies-prime"]));
    let (b, b_prime) = (vector(&golden["phases"]), vector(&golden["phases-prime"]));
    let frequencies = concatenate![Axis(1), o, o_prime];
    for (column, second) in [("shared", &b), ("independent", &b_prime)] {
        let model = Model {
            maps: 2,
            scale: 1.0 / 6f64.sqrt(),
            frequencies: frequencies.clone(),
            phases: concatenate![Axis(0), b, *second],
            read_out: matrix(&golden["read-out"]),
            offset: Array1::zeros(2),
        };
        let expected = &golden[column];
        let number = |name: &str| expected[name].as_float().unwrap();
        let found = gradients(&model, &sample, &plan(Loss::Squared));
        assert_relative_eq!(found.loss, number("mean-loss"), max_relative = 1e-12);
        let norm = number("feature-norm-squared");
        assert_relative_eq!(found.feature_norm, norm, max_relative = 1e-12);
        let slopes = matrix(&expected["loss-gradient"]);
        for ((i, j), &slope) in slopes.indexed_iter() {
            assert_relative_eq!(found.frequencies[[i, j]], slope, epsilon = 1e-12);
        }
        // The feature norm alone: a read-out of zeros, and its gradient apart from the loss.
        let blind = Model { read_out: Array2::zeros((3, 2)), ..model };
        let penalised =
            Plan { feature_penalty: FeaturePenalty::BatchSquared(1.0), ..plan(Loss::Squared) };
        let slopes = gradients(&blind, &sample, &penalised).frequencies;
        for (j, slope) in vector(&expected["feature-gradient-row-0"]).iter().enumerate() {
            assert_relative_eq!(slopes[[0, j]], *slope, epsilon = 1e-12);
        }
    }
}

/// Trains from seed 5 and returns the model and the numbers of the end.
fn trained<F: super::Scalar>(
    plan: &Plan,
    sample: &Sample,
    threads: usize,
) -> (Model<F>, BTreeMap<String, f64>) {
    let (model, numbers, _) = watched(&mercer_learning::Unlimited, plan, sample, threads);
    (model, numbers)
}

/// The scores of all rows at each look.
struct Looks<'a>(&'a Sample, Vec<Array2<f64>>);

impl Probe for Looks<'_> {
    fn interval(&self) -> usize {
        3
    }

    fn observe(
        &mut self,
        _: Moment,
        predictor: &dyn Predictor,
        _: &BTreeMap<String, f64>,
    ) -> Result<(), LearningError> {
        self.1.push(predictor.decision(self.0.inputs()));
        Ok(())
    }
}

fn watched<F: super::Scalar>(
    limits: &dyn Limits,
    plan: &Plan,
    sample: &Sample,
    threads: usize,
) -> (Model<F>, BTreeMap<String, f64>, Vec<Array2<f64>>) {
    let mut looks = Looks(sample, Vec::new());
    let mut fitting = Fitting { threads, limits, probe: Some(&mut looks), ..Fitting::seeded(5) };
    let k = sample.class_counts().len().max(1);
    let start = start(60, 2, Phases::Shared);
    let model = Model::draw(&start, sample.features(), k, &fitting.streams);
    let trained = train(plan, model, TrainingRows::whole(sample), &mut fitting).unwrap();
    (trained.predictor.model, trained.numbers, looks.1)
}

fn distance<F: super::Scalar, G: super::Scalar>(a: &Array2<F>, b: &Array2<G>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a.wide() - b.wide()).abs()).fold(0.0, f64::max)
}

fn askl_plan() -> Plan {
    Plan {
        read_out_penalty: ReadOutPenalty::Trace { lambda: 0.05, clip: true },
        feature_penalty: FeaturePenalty::MeanSquared(1e-3),
        ..plan(Loss::CrossEntropy)
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_threads_change_only_rounding() {
    let sample = ring(130, 5);
    for plan in [askl_plan(), plan(Loss::CrossEntropy)] {
        let (once, numbers) = trained::<f64>(&plan, &sample, 1);
        assert_eq!(trained::<f64>(&plan, &sample, 1), (once.clone(), numbers));
        for threads in [2, 3] {
            let (team, _) = trained::<f64>(&plan, &sample, threads);
            assert!(distance(&team.frequencies, &once.frequencies) < 1e-9);
            assert!(distance(&team.read_out, &once.read_out) < 1e-9);
            assert!(trained::<f64>(&plan, &sample, threads).0 == team);
        }
    }
}

/// Room for so many bytes; the most that was asked for stands in the second.
struct Room(u64, AtomicU64);

impl Limits for Room {
    fn check(&self) -> Result<(), LearningError> {
        Ok(())
    }

    fn reserve(&self, bytes: u64) -> Result<(), LearningError> {
        self.1.fetch_max(bytes, Ordering::Relaxed);
        if bytes <= self.0 { Ok(()) } else { Err(LearningError::Interrupted) }
    }
}

#[test]
fn kept_features_of_fixed_frequencies_change_no_bit() {
    // 131 rows end a pass in batches of 11 and of 1; 784 columns are summed in two parts.
    for (rows, columns, batch) in [(131, 5, 12), (131, 5, 13), (60, 784, 12)] {
        let sample = ring(rows, columns);
        for sampling in [Sampling::Shuffled, Sampling::Replacement] {
            let fixed = Plan {
                learn_frequencies: false,
                epochs: 4.0,
                batch,
                sampling,
                ..plan(Loss::CrossEntropy)
            };
            for threads in [1, 2] {
                let plenty = Room(u64::MAX, AtomicU64::new(0));
                let kept = watched::<f32>(&plenty, &fixed, &sample, threads);
                let most = plenty.1.into_inner();
                let tight = Room(most - 1, AtomicU64::new(0));
                let anew = watched::<f32>(&tight, &fixed, &sample, threads);
                assert!(kept == anew, "{rows} x {columns}, {sampling:?}, {threads} threads");
                let once = Plan { epochs: 1.0, ..fixed.clone() };
                let asked = Room(u64::MAX, AtomicU64::new(0));
                watched::<f32>(&asked, &once, &sample, threads);
                assert_eq!(most - asked.1.into_inner(), 4 * 60 * rows as u64);
            }
        }
    }
}

#[test]
fn single_precision_follows_double_precision() {
    let sample = ring(130, 5);
    let (wide, a) = trained::<f64>(&askl_plan(), &sample, 1);
    let (narrow, b) = trained::<f32>(&askl_plan(), &sample, 2);
    // Adam divides by the root of the mean square: a gradient that is rounding noise moves a
    // parameter by up to the rate, so entries agree to a fraction of the ten steps' way.
    assert!(distance(&narrow.frequencies, &wide.frequencies) < 1e-3);
    assert!(distance(&narrow.read_out, &wide.read_out) < 1e-3);
    for (name, value) in &a {
        assert_relative_eq!(b[name], *value, max_relative = 1e-4);
    }
}

#[test]
fn a_frozen_read_out_only_shrinks_along_its_singular_vectors() {
    let sample = ring(320, 4);
    let lambda = 0.02;
    let plan = Plan {
        read_out_penalty: ReadOutPenalty::Trace { lambda, clip: false },
        train_read_out: false,
        ..askl_plan()
    };
    let streams = Fitting::seeded(5).streams;
    let begun = Model::<f64>::draw(&start(60, 2, Phases::Shared), 4, 3, &streams);
    let tau = plan.steps(&TrainingRows::whole(&sample)) as f64 * plan.rate * lambda;
    let (expected, _) = Threshold { tau, clip: false }.apply(begun.read_out.view()).unwrap();
    let (wide, _) = trained::<f64>(&plan, &sample, 2);
    assert!(distance(&wide.read_out, &expected) < 1e-12);
    assert!(distance(&wide.frequencies, &begun.frequencies) > 0.01);
    // Twenty steps of 3e-5 each, every one a hundred units in the last place of W and below:
    // compensation keeps the sum right to the last place.
    let (narrow, _) = trained::<f32>(&plan, &sample, 1);
    assert!(distance(&narrow.read_out, &expected) < 4e-7);
}

#[test]
fn the_threshold_follows_the_rate_of_its_step() {
    let sample = ring(320, 4);
    let plan = Plan {
        read_out_penalty: ReadOutPenalty::Trace { lambda: 20.0, clip: true },
        train_read_out: false,
        schedule: Schedule::InverseRoot,
        ..askl_plan()
    };
    let streams = Fitting::seeded(5).streams;
    let begun = Model::<f64>::draw(&start(60, 2, Phases::Shared), 4, 3, &streams);
    let mut expected = begun.read_out;
    for step in 1..=plan.steps(&TrainingRows::whole(&sample)) {
        let tau = plan.rate / (step as f64).sqrt() * 20.0;
        expected = Threshold { tau, clip: true }.apply(expected.view()).unwrap().0;
    }
    assert!(expected.iter().any(|w| w.abs() > 0.1), "something is left to compare");
    let (found, _) = trained::<f64>(&plan, &sample, 2);
    assert!(distance(&found.read_out, &expected) < 1e-10);
}

#[test]
fn thresholding_inside_the_team_is_the_proximal_step_and_falls_back_where_it_must() {
    let sample = ring(96, 4);
    // One huge step of the threshold clips everything; the next Gram matrix is that of noise.
    let plan = Plan {
        read_out_penalty: ReadOutPenalty::Trace { lambda: 1e4, clip: true },
        train_read_out: false,
        ..askl_plan()
    };
    for threads in [1, 2] {
        let (model, numbers) = trained::<f32>(&plan, &sample, threads);
        assert!(model.read_out.iter().all(|w| w.abs() < 1e-5));
        assert!(numbers["trace-norm"] < 1e-4);
    }
    // Unclipped values of rounding size cannot be divided by: the full decomposition answers.
    let plan = Plan {
        read_out_penalty: ReadOutPenalty::Trace { lambda: 1e-3, clip: false },
        train_read_out: false,
        ..plan
    };
    let mut fitting = Fitting { threads: 2, ..Fitting::seeded(5) };
    let mut model = Model::<f32>::draw(&start(60, 2, Phases::Shared), 4, 3, &fitting.streams);
    let copy = model.read_out.column(0).to_owned();
    model.read_out.column_mut(1).assign(&copy);
    let run = train(&plan, model, TrainingRows::whole(&sample), &mut fitting).unwrap();
    assert!(run.numbers["full-decompositions"] >= 1.0);
    assert!(run.predictor.model.read_out.iter().all(|w| w.is_finite()));
}

#[test]
fn scores_of_a_row_do_not_depend_on_its_neighbours() {
    let sample = ring(75, 4);
    let model = Model::<f32>::draw(&start(50, 2, Phases::Shared), 4, 3, &Streams::root(9));
    let all = model.scores(sample.inputs());
    for i in [0, 31, 32, 74] {
        let alone = model.scores(sample.inputs().slice(ndarray::s![i..=i, ..]));
        assert_eq!(alone.row(0), all.row(i));
    }
    let wide = Model::<f64>::draw(&start(50, 2, Phases::Shared), 4, 3, &Streams::root(9));
    for (a, b) in wide.scores(sample.inputs()).iter().zip(&all) {
        assert_relative_eq!(a, b, epsilon = 1e-5);
    }
}

#[test]
fn methods_with_one_map_share_their_draws_with_those_with_two() {
    let streams = Streams::root(4);
    let one = Model::<f64>::draw(&start(10, 1, Phases::Shared), 3, 2, &streams);
    let shared = Model::<f64>::draw(&start(10, 2, Phases::Shared), 3, 2, &streams);
    let apart = Model::<f64>::draw(&start(10, 2, Phases::Independent), 3, 2, &streams);
    let first = ndarray::s![.., ..10];
    assert_eq!(one.frequencies, shared.frequencies.slice(first));
    assert_eq!(shared.frequencies, apart.frequencies);
    assert_eq!(one.read_out, apart.read_out);
    let halves =
        |m: &Model<f64>| m.phases.to_vec().chunks(10).map(<[f64]>::to_vec).collect::<Vec<_>>();
    assert_eq!(halves(&shared), [one.phases.to_vec(), one.phases.to_vec()]);
    assert_eq!(halves(&apart)[0], one.phases.to_vec());
    assert_ne!(halves(&apart)[1], one.phases.to_vec());
    assert_relative_eq!(one.scale, 0.2f64.sqrt());
    assert_relative_eq!(apart.scale, 0.05f64.sqrt());
    assert_eq!(array![one.maps, apart.maps], array![1, 2]);
}

#[test]
fn features_and_diagonals_are_those_of_the_maps_that_the_kernels_crate_defines() {
    use mercer_kernels::{FeatureMap, Map};
    let sample = ring(40, 3);
    let none = || Array1::zeros(0);
    for (maps, phases, map) in [
        (1, Phases::Shared, Map::Stationary),
        (2, Phases::Shared, Map::SharedPhase),
        (2, Phases::Independent, Map::IndependentPhases),
    ] {
        let model = Model::<f64>::draw(&start(11, maps, phases), 3, 2, &Streams::root(7));
        let half = |from: usize| model.frequencies.slice(ndarray::s![.., from..]).to_owned();
        let (o, o_prime) = match maps {
            1 => (half(0), Array2::zeros((3, 0))),
            _ => (model.frequencies.slice(ndarray::s![.., ..11]).to_owned(), half(11)),
        };
        let b = model.phases.slice(ndarray::s![..11]).to_owned();
        let b_prime = match map {
            Map::IndependentPhases => model.phases.slice(ndarray::s![11..]).to_owned(),
            _ => none(),
        };
        let map = FeatureMap::new(map, o, o_prime, b, b_prime).unwrap();
        let expected = map.features(sample.inputs()).dot(&model.read_out);
        for (found, expected) in model.scores(sample.inputs()).iter().zip(&expected) {
            assert_relative_eq!(found, expected, epsilon = 1e-12);
        }
        let norms = map.features(sample.inputs()).mapv(|phi| phi * phi).sum() / 40.0;
        assert_relative_eq!(model.mean_feature_norm(sample.inputs()), norms, epsilon = 1e-12);
        let kernel = map.expected_kernel(sample.inputs(), sample.inputs());
        let diagonal = kernel.diag().mean().unwrap();
        let found = model.mean_kernel_diagonal(sample.inputs());
        assert_relative_eq!(found, diagonal, epsilon = 1e-12);
    }
}

/// `rows × columns` sines of their indices, as the script of the fixture makes them.
fn wave(rows: usize, columns: usize, a: f64) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| (a * (i * columns + j) as f64 + 0.3).sin())
}

#[test]
fn six_steps_are_those_of_pytorch() {
    let fixture: toml::Table =
        include_str!("../../fixtures/torch_trajectories.toml").parse().unwrap();
    let labels = (0..12).map(|i| i % 3).collect();
    let sample = Sample::classification(wave(12, 3, 0.7), labels, 3).unwrap();
    for case in fixture["cases"].as_array().unwrap() {
        let flag = |name: &str| case[name].as_bool().unwrap();
        let choice = |name: &str| serde_json::Value::from(case[name].as_str().unwrap());
        let maps = case["maps"].as_integer().unwrap() as usize;
        let halves: Vec<_> = [0.9, 1.3][..maps].iter().map(|&a| wave(3, 5, a)).collect();
        let second = if flag("shared") { 1.1 } else { 1.7 };
        let phases: Vec<_> = [1.1, second][..maps].iter().map(|&a| wave(1, 5, a)).collect();
        let join = |parts: &[Array2<f64>]| {
            let views: Vec<_> = parts.iter().map(Array2::view).collect();
            ndarray::concatenate(Axis(1), &views).unwrap()
        };
        let model = Model {
            maps,
            scale: 0.4f64.sqrt() / maps as f64,
            frequencies: join(&halves),
            phases: join(&phases).row(0).to_owned(),
            read_out: wave(5, 3, 0.5) + wave(5, 3, 0.8).mapv(|w| w * w),
            offset: Array1::zeros(3),
        };
        let read_out_penalty = match (flag("trace"), flag("squared")) {
            (true, _) => ReadOutPenalty::Trace { lambda: 0.3, clip: flag("clip") },
            (false, true) => ReadOutPenalty::Squared(0.3),
            (false, false) => ReadOutPenalty::Norm(0.3),
        };
        let feature_penalty = match (flag("trace"), flag("squared")) {
            (false, _) => FeaturePenalty::Nothing,
            (true, true) => FeaturePenalty::MeanSquared(0.2),
            (true, false) => FeaturePenalty::BatchNorm(0.2),
        };
        let plan = Plan {
            loss: serde_json::from_value(choice("loss")).unwrap(),
            read_out_penalty,
            feature_penalty,
            learn_frequencies: true,
            train_read_out: !flag("frozen"),
            bias: false,
            optimiser: serde_json::from_value(choice("optimiser")).unwrap(),
            rate: 0.05,
            epochs: 6.0,
            batch: 12,
            ..plan(Loss::Squared)
        };
        let begun = model.frequencies.clone();
        let trained =
            train(&plan, model, TrainingRows::whole(&sample), &mut Fitting::seeded(1)).unwrap();
        let model = trained.predictor.model;
        let (o, w) = (matrix(&case["frequencies"]), matrix(&case["read-out"]));
        assert!(distance(&o, &begun) > 1e-3, "PyTorch moved the frequencies: {case}");
        // PyTorch adds 1e-8 to the root in another order and decomposes by another routine.
        assert!(distance(&model.frequencies, &o) < 1e-9, "{case}");
        assert!(distance(&model.read_out, &w) < 1e-9, "{case}");
        let loss = case["mean-loss"].as_float().unwrap();
        assert_relative_eq!(trained.numbers["loss"], loss, max_relative = 1e-9);
    }
}
