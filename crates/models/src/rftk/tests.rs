//! The methods as a user meets them, golden values, and closed forms against obvious versions.

use super::{
    ClosedPrecision, FeatureSgdParams, KernelRidgelessParams, KernelSolver, METHODS, Normalisation,
    RandomFeaturesParams, SgdKind, SgdLoss, TraceForm, columns_of,
};
use crate::askl::Precision;
use crate::spectral::{
    DIVERGED, FrequencySchedule, Model, Plan, Start, StepIndex, TracePenalty, TrainingRows, train,
};
use crate::{Phases, Sampling, Schedule, TraceClock};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Limits, Loss, Moment, Predictor, Probe,
    Sample, Settings, Streams, Targets, Task, find,
};
use mercer_linalg::Cholesky;
use mercer_solvers::Optimiser;
use ndarray::{Array1, Array2, Axis, array, concatenate};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

const GOLDEN: &str = include_str!("../../../../experiments/golden/rftk.toml");

fn wave(n: usize, d: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, d), |(i, j)| ((i * (2 * j + 3) + j) as f64 * 0.37).sin())
}

/// A smooth function of `d` inputs.
fn regression(n: usize, d: usize) -> Sample {
    let inputs = wave(n, d);
    let values = inputs.rows().into_iter().map(|x| (2.0 * x[0]).sin() + x.sum()).collect();
    Sample::regression(inputs, values).unwrap()
}

/// Three classes by thresholds on two inputs.
fn classes(n: usize) -> Sample {
    let inputs = wave(n, 3);
    let class = |x: ndarray::ArrayView1<'_, f64>| u32::from(x[0] > 0.0) + u32::from(x[1] > 0.3);
    let labels = inputs.rows().into_iter().map(class).collect();
    Sample::classification(inputs, labels, 3).unwrap()
}

fn fit(learner: &impl Learner, sample: &Sample) -> Fitted {
    learner.fit(sample, &mut Fitting::seeded(5)).unwrap()
}

fn scores(learner: &impl Learner, sample: &Sample) -> Array2<f64> {
    fit(learner, sample).predictor.decision(sample.inputs())
}

fn closed(features: usize, lambda: f64) -> RandomFeaturesParams {
    let lambda = Some(lambda);
    RandomFeaturesParams { features, std: 1.0, lambda, ..RandomFeaturesParams::default() }
}

fn trained(kind: SgdKind) -> FeatureSgdParams {
    FeatureSgdParams {
        kind,
        features: 40,
        std: 1.0,
        epochs: 5.0,
        batch: 8,
        precision: Precision::F64,
        ..FeatureSgdParams::default()
    }
}

/// The features that every method here draws from seed 5, and the same for rows of their own.
fn model(features: usize, sample: &Sample, read_out_deviation: f64) -> Model<f64> {
    let start =
        Start { features, deviations: vec![1.0], phases: Phases::Shared, read_out_deviation };
    let streams = Fitting::seeded(5).streams;
    let mut model = Model::draw(&start, sample.features(), sample.task().outputs(), &streams);
    model.scale = Normalisation::Printed.scale(features);
    model
}

/// One step of gradient descent at rate 1 over all rows: what it takes from `O` and from `w` are
/// the gradients.
fn gradients(
    plan: &Plan,
    model: &Model<f64>,
    sample: &Sample,
    threads: usize,
) -> (Array2<f64>, Array2<f64>, f64) {
    let plan = Plan {
        optimiser: Optimiser::Sgd,
        rate: 1.0,
        epochs: 1.0,
        batch: sample.rows(),
        sampling: Sampling::Shuffled,
        ..plan.clone()
    };
    let mut fitting = Fitting { threads, ..Fitting::seeded(5) };
    let moved = train(&plan, model.clone(), TrainingRows::whole(sample), &mut fitting).unwrap();
    let after = moved.predictor.model;
    let frequencies = &model.frequencies - &after.frequencies;
    (frequencies, &model.read_out - &after.read_out, moved.numbers["loss"])
}

fn plan(params: FeatureSgdParams, sample: &Sample) -> Plan {
    params.checked().unwrap().plan(&TrainingRows::whole(sample), &Streams::root(5)).unwrap()
}

fn vector(value: &toml::Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_float().unwrap()).collect()
}

fn matrix(value: &toml::Value) -> Array2<f64> {
    let rows: Vec<Array1<f64>> = value.as_array().unwrap().iter().map(vector).collect();
    let columns = rows[0].len();
    let entries = rows.iter().flatten().copied().collect();
    Array2::from_shape_vec((rows.len(), columns), entries).unwrap()
}

#[test]
fn golden_loss_norm_and_gradients() {
    let golden: toml::Table = GOLDEN.parse().unwrap();
    let golden = &golden["rftk-1"];
    let number = |name: &str| golden[name].as_float().unwrap();
    let sample = Sample::regression(matrix(&golden["x"]), vector(&golden["targets"])).unwrap();
    let model = Model {
        maps: 1,
        scale: Normalisation::Printed.scale(3),
        frequencies: matrix(&golden["frequencies"]),
        phases: vector(&golden["phases"]),
        read_out: vector(&golden["read-out"]).insert_axis(Axis(1)),
        offset: Array1::zeros(1),
    };
    let norm = 3.0 * model.mean_feature_norm(sample.inputs());
    assert_relative_eq!(norm, number("feature-norm-squared"), max_relative = 1e-12);
    let beta = number("beta");
    let params = FeatureSgdParams { beta, every: 1, ..trained(SgdKind::Rftk) };
    for threads in [1, 2] {
        let plan = plan(params.clone(), &sample);
        let (frequencies, read_out, loss) = gradients(&plan, &model, &sample, threads);
        assert_relative_eq!(loss + beta * norm, number("objective"), max_relative = 1e-12);
        let expected = vector(&golden["read-out-gradient"]).insert_axis(Axis(1));
        assert_abs_diff_eq!(read_out, expected, epsilon = 1e-12);
        let expected = matrix(&golden["frequency-gradient"]);
        assert_abs_diff_eq!(frequencies, expected, epsilon = 1e-12);
    }
}

#[test]
fn golden_start_of_the_trace_curve() {
    let golden: toml::Table = GOLDEN.parse().unwrap();
    let golden = &golden["rftk-3"];
    let number = |name: &str| golden[name].as_float().unwrap();
    let rows = golden["trace-rows"].as_integer().unwrap() as usize;
    // Half the Gaussian kernel: ‖φ(x)‖² is 1/2 in expectation.
    let start = TracePenalty::NormByRows(number("trace-weight")).value(0.5, rows as f64);
    let shown = start * number("recorded-share");
    assert_relative_eq!(shown, number("trace-start"), max_relative = 1e-12);
}

/// `loss + penalty` from the definitions, one number at a time.
fn objective(model: &Model<f64>, sample: &Sample, plan: &Plan) -> f64 {
    let feature = |x: ndarray::ArrayView1<'_, f64>, j: usize| {
        let angle: f64 = x.iter().zip(model.frequencies.column(j)).map(|(x, o)| x * o).sum();
        model.scale * (angle + model.phases[j]).cos()
    };
    let mut loss = 0.0;
    for (i, x) in sample.inputs().rows().into_iter().enumerate() {
        let mut f = vec![0.0; model.outputs()];
        for j in 0..model.features() {
            let phi = feature(x, j);
            f.iter_mut().zip(model.read_out.row(j)).for_each(|(f, w)| *f += phi * w);
        }
        loss += match sample.targets() {
            Targets::Classes { labels, .. } => plan.loss.of_class(&mut f, labels[i] as usize),
            Targets::Real(values) => (f[0] - values[i]).powi(2),
        } / sample.rows() as f64;
    }
    let penalty = plan.trace.as_ref().map_or(0.0, |trace| {
        let given = trace.inputs.as_ref().map_or(sample.inputs(), |inputs| inputs.view());
        let norm: f64 = given
            .rows()
            .into_iter()
            .map(|x| (0..model.features()).map(|j| feature(x, j).powi(2)).sum::<f64>())
            .sum();
        match trace.penalty {
            TracePenalty::Squared(beta) => beta * norm,
            TracePenalty::NormByRows(beta) => beta * norm.sqrt() / given.nrows() as f64,
        }
    });
    loss + penalty
}

#[test]
fn gradients_agree_with_central_differences_for_every_loss_and_trace() {
    let (real, named) = (regression(7, 3), classes(7));
    // More inputs than a block of the trace has rows.
    let given = wave(150, 3);
    for (sample, loss) in
        [(&real, SgdLoss::Squared), (&named, SgdLoss::Squared), (&named, SgdLoss::CrossEntropy)]
    {
        for (trace, inputs) in [
            (TraceForm::Squared, None),
            (TraceForm::Squared, Some(&given)),
            (TraceForm::NormByRows, None),
            (TraceForm::NormByRows, Some(&given)),
        ] {
            let params =
                FeatureSgdParams { beta: 0.3, trace, loss, every: 1, ..trained(SgdKind::Rftk) };
            let mut learner = params.checked().unwrap();
            if let Some(inputs) = inputs {
                learner = learner.with_trace_inputs(inputs.clone());
            }
            let plan = learner.plan(&TrainingRows::whole(sample), &Streams::root(5)).unwrap();
            let model = model(4, sample, 1.0);
            let h = f64::EPSILON.cbrt();
            for threads in [1, 3] {
                let (frequencies, read_out, _) = gradients(&plan, &model, sample, threads);
                let numeric = |entry: &dyn Fn(&mut Model<f64>) -> &mut f64| {
                    let at = |step: f64| {
                        let mut moved = model.clone();
                        *entry(&mut moved) += step;
                        objective(&moved, sample, &plan)
                    };
                    (at(h) - at(-h)) / (2.0 * h)
                };
                for ((i, j), &g) in frequencies.indexed_iter() {
                    let slow = numeric(&|m| &mut m.frequencies[[i, j]]);
                    assert_relative_eq!(g, slow, epsilon = 1e-8, max_relative = 1e-7);
                }
                for ((i, j), &g) in read_out.indexed_iter() {
                    let slow = numeric(&|m| &mut m.read_out[[i, j]]);
                    assert_relative_eq!(g, slow, epsilon = 1e-8, max_relative = 1e-7);
                }
            }
        }
    }
}

#[test]
fn sgd_of_one_full_batch_is_gradient_descent_and_tends_to_the_ridgeless_fit() {
    let sample = regression(30, 2);
    let params = FeatureSgdParams {
        features: 5,
        batch: 30,
        rate: 0.7,
        epochs: 40.0,
        sampling: Sampling::Shuffled,
        ..trained(SgdKind::RfSgd)
    };
    // The printed step, w ← w − (γ/n) Σ (w·φ − y) φ, without the gradient's 2.
    let phi = model(5, &sample, 0.0).feature_matrix(sample.inputs());
    let y = columns_of(sample.targets());
    for schedule in [Schedule::Constant, Schedule::InverseRoot] {
        let mut w = Array2::<f64>::zeros((5, 1));
        for step in 1..=40 {
            let rate = match schedule {
                Schedule::Constant => 0.7,
                Schedule::InverseRoot => 0.7 / f64::from(step).sqrt(),
            };
            w = &w - &(rate / 30.0 * phi.t().dot(&(phi.dot(&w) - &y)));
        }
        let learner = FeatureSgdParams { schedule, ..params.clone() }.checked().unwrap();
        assert_abs_diff_eq!(scores(&learner, &sample), phi.dot(&w), epsilon = 1e-12);
    }
    let long = FeatureSgdParams { epochs: 30_000.0, rate: 3.0, ..params }.checked().unwrap();
    let ridgeless = scores(&closed(5, 0.0).checked().unwrap(), &sample);
    assert_abs_diff_eq!(scores(&long, &sample), ridgeless, epsilon = 1e-6);
}

#[test]
fn rows_are_drawn_with_replacement_or_not_and_reproducibly() {
    let sample = classes(50);
    let params = FeatureSgdParams { loss: SgdLoss::CrossEntropy, ..trained(SgdKind::RfSgd) };
    let with = params.clone().checked().unwrap();
    let without =
        FeatureSgdParams { sampling: Sampling::Shuffled, ..params.clone() }.checked().unwrap();
    assert_eq!(scores(&with, &sample), scores(&with, &sample));
    assert_ne!(scores(&with, &sample), scores(&without, &sample));
    // A full batch with replacement is not all rows.
    let full = FeatureSgdParams { batch: 50, epochs: 1.0, ..params };
    let drawn = scores(&full.clone().checked().unwrap(), &sample);
    let all = FeatureSgdParams { sampling: Sampling::Shuffled, ..full };
    assert_ne!(drawn, scores(&all.checked().unwrap(), &sample));
    // ⌈50/8⌉ steps a pass in either case.
    for learner in [with, without] {
        let convergence = fit(&learner, &sample).convergence;
        assert_eq!(convergence, Convergence::FixedSteps { steps: 35 });
    }
}

#[test]
fn the_ridges_limit_is_the_ridgeless_fit() {
    for (sample, features) in [(regression(40, 2), 10), (regression(12, 2), 60), (classes(40), 8)] {
        let ridgeless = fit(&closed(features, 0.0).checked().unwrap(), &sample);
        let limit = scores(&closed(features, 1e-13).checked().unwrap(), &sample);
        let at_zero = ridgeless.predictor.decision(sample.inputs());
        assert_abs_diff_eq!(at_zero, limit, epsilon = 1e-5);
        // Cholesky and the decomposition meet where one takes over from the other.
        for lambda in [1e-9, 1e-6, 1e-2] {
            let found = scores(&closed(features, lambda).checked().unwrap(), &sample);
            let phi = model(features, &sample, 0.0).feature_matrix(sample.inputs());
            let mut gram = phi.dot(&phi.t());
            gram.diag_mut().mapv_inplace(|entry| entry + lambda * sample.rows() as f64);
            let y = columns_of(sample.targets());
            let alpha = Cholesky::factor(gram.clone()).unwrap().solve(&y).unwrap();
            assert_abs_diff_eq!(found, phi.dot(&phi.t()).dot(&alpha), epsilon = 1e-5);
        }
    }
}

#[test]
fn more_features_than_rows_interpolate_with_the_smallest_norm() {
    let sample = regression(20, 5);
    for features in [20, 21, 200] {
        let learner = closed(features, 0.0).checked().unwrap();
        let fitted = fit(&learner, &sample);
        assert_eq!(fitted.facts["rank"].to_bits(), 20f64.to_bits());
        assert!(fitted.facts["loss"] < 1e-12, "{features}: {}", fitted.facts["loss"]);
        // The smallest norm among all that interpolate: w = Φᵀ (ΦΦᵀ)⁻¹ y, ‖w‖² = yᵀ (ΦΦᵀ)⁻¹ y.
        let phi = model(features, &sample, 0.0).feature_matrix(sample.inputs());
        let y = columns_of(sample.targets());
        let alpha = Cholesky::factor(phi.dot(&phi.t())).unwrap().solve(&y).unwrap();
        let norm = (&y * &alpha).sum();
        assert_relative_eq!(fitted.facts["frobenius-squared"], norm, max_relative = 1e-5);
    }
    // Fewer rows than inputs.
    let wide = regression(6, 30);
    let fitted = fit(&closed(50, 0.0).checked().unwrap(), &wide);
    assert!(fitted.facts["loss"] < 1e-20);
}

#[test]
fn contradictory_duplicates_get_their_mean() {
    let inputs = concatenate![Axis(0), wave(6, 2), wave(6, 2)];
    let values = (0..12).map(|i| if i < 6 { f64::from(i) } else { f64::from(i) - 2.0 }).collect();
    let sample = Sample::regression(inputs, values).unwrap();
    let mean = Array2::from_shape_fn((12, 1), |(i, _)| (i % 6) as f64 + 2.0);
    let rf = closed(100, 0.0).checked().unwrap();
    let params = KernelRidgelessParams { std: 2.0, ..KernelRidgelessParams::default() };
    let kernel = params.checked().unwrap();
    for fitted in [fit(&rf, &sample), fit(&kernel, &sample)] {
        assert_eq!(fitted.facts["rank"].to_bits(), 6f64.to_bits());
        assert_abs_diff_eq!(fitted.predictor.decision(sample.inputs()), mean, epsilon = 1e-6);
        assert_relative_eq!(fitted.facts["loss"], 4.0, max_relative = 1e-8);
    }
}

#[test]
fn contradictory_duplicates_do_not_run_away_with_the_iterative_solver() {
    let inputs = concatenate![Axis(0), wave(60, 2), wave(60, 2)];
    let noise = |i: usize| (i as f64 * 2.399).sin();
    let values = inputs.rows().into_iter().enumerate().map(|(i, x)| x.sum() + noise(i)).collect();
    let sample = Sample::regression(inputs, values).unwrap();
    let params = KernelRidgelessParams {
        std: 2.0,
        solver: KernelSolver::Iterative,
        landmarks: 20,
        ..KernelRidgelessParams::default()
    };
    let fitted = fit(&params.checked().unwrap(), &sample);
    let Convergence::NotConverged { residual, .. } = fitted.convergence else {
        panic!("{:?}", fitted.convergence);
    };
    assert!(residual < 1.0, "{residual}");
    let largest = columns_of(sample.targets()).iter().fold(0f64, |most, y| most.max(y.abs()));
    let scores = fitted.predictor.decision(sample.inputs());
    assert!(scores.iter().all(|score| score.abs() < 10.0 * largest), "{scores}");
}

#[test]
fn the_normalisation_changes_the_ridge_and_the_rate_and_nothing_else() {
    let sample = regression(25, 2);
    let with = |normalisation, params: RandomFeaturesParams| {
        let learner = RandomFeaturesParams { normalisation, ..params }.checked().unwrap();
        scores(&learner, &sample)
    };
    for features in [10, 60] {
        let (printed, unit) = (
            with(Normalisation::Printed, closed(features, 0.0)),
            with(Normalisation::Unit, closed(features, 0.0)),
        );
        assert_abs_diff_eq!(printed, unit, epsilon = 1e-6);
        // Half the kernel: λ acts as 2λ.
        assert_abs_diff_eq!(
            with(Normalisation::Printed, closed(features, 0.01)),
            with(Normalisation::Unit, closed(features, 0.02)),
            epsilon = 1e-10
        );
    }
    let sgd = |normalisation, rate| {
        let params = FeatureSgdParams { normalisation, rate, ..trained(SgdKind::RfSgd) };
        scores(&params.checked().unwrap(), &sample)
    };
    let (printed, unit) = (sgd(Normalisation::Printed, 1.0), sgd(Normalisation::Unit, 0.5));
    assert_abs_diff_eq!(printed, unit, epsilon = 1e-12);
    for (normalisation, diagonal) in [(Normalisation::Printed, 0.5), (Normalisation::Unit, 1.0)] {
        let params = FeatureSgdParams { normalisation, ..trained(SgdKind::RfSgd) };
        let fitted = fit(&params.checked().unwrap(), &sample);
        assert_relative_eq!(fitted.facts["mean-kernel-diagonal"], diagonal, max_relative = 1e-12);
    }
    let facts = |normalisation| {
        let learner = RandomFeaturesParams { normalisation, ..closed(60, 0.0) };
        fit(&learner.checked().unwrap(), &sample).facts
    };
    let (printed, unit) = (facts(Normalisation::Printed), facts(Normalisation::Unit));
    let (trace, doubled) = (printed["feature-norm-squared"], unit["feature-norm-squared"]);
    assert_relative_eq!(2.0 * trace, doubled, max_relative = 1e-12);
    let rank = "effective-rank";
    assert_relative_eq!(printed[rank], unit[rank], max_relative = 1e-12);
}

#[test]
fn single_precision_with_an_inverse_agrees_only_where_the_matrix_is_good() {
    let sample = classes(80);
    let both = |lambda| {
        [ClosedPrecision::F64, ClosedPrecision::F32Inverse].map(|precision| {
            let learner = RandomFeaturesParams { precision, ..closed(50, lambda) };
            scores(&learner.checked().unwrap(), &sample)
        })
    };
    let largest = |[a, b]: [Array2<f64>; 2]| {
        (a - b).iter().fold(0f64, |most, difference| most.max(difference.abs()))
    };
    let (tame, wild) = (largest(both(1e-1)), largest(both(1e-9)));
    assert!(tame < 1e-4, "{tame}");
    assert!(wild > 1e-2, "{wild}");
    let kernel = |precision| {
        let params =
            KernelRidgelessParams { std: 1.0, lambda: 0.1, precision, ..Default::default() };
        scores(&params.checked().unwrap(), &sample)
    };
    let tame = largest([kernel(ClosedPrecision::F64), kernel(ClosedPrecision::F32Inverse)]);
    assert!(tame < 1e-4, "{tame}");
}

#[test]
fn kernel_ridgeless_is_the_limit_of_many_features_and_of_small_ridges() {
    let sample = regression(25, 3);
    let params = KernelRidgelessParams { std: 1.0, ..KernelRidgelessParams::default() };
    let test = wave(40, 3) * 0.9;
    let at_test = |learner: &dyn Learner| {
        let fitted = learner.fit(&sample, &mut Fitting::seeded(5)).unwrap();
        fitted.predictor.decision(test.view())
    };
    let kernel = at_test(&params.clone().checked().unwrap());
    let ridge = KernelRidgelessParams { lambda: 1e-11, ..params };
    assert_abs_diff_eq!(at_test(&ridge.checked().unwrap()), kernel, epsilon = 1e-3);
    let many = |features| {
        let difference = at_test(&closed(features, 0.0).checked().unwrap()) - &kernel;
        difference.iter().map(|d| d * d).sum::<f64>().sqrt()
    };
    assert!(many(20_000) < 0.4 * many(200), "{} {}", many(20_000), many(200));
}

#[test]
fn the_iterative_solver_meets_the_direct_one_or_says_that_it_does_not() {
    let sample = classes(300);
    let params = KernelRidgelessParams { std: 1.5, lambda: 1e-5, ..Default::default() };
    let direct = scores(&params.clone().checked().unwrap(), &sample);
    let iterative = KernelRidgelessParams {
        solver: KernelSolver::Iterative,
        tolerance: 1e-9,
        landmarks: 60,
        ..params
    };
    // Stored in single precision, or computed for each product.
    for (threads, stored_rows) in [(1, 300), (2, 300), (1, 299), (2, 299)] {
        let mut fitting = Fitting { threads, ..Fitting::seeded(5) };
        let learner = KernelRidgelessParams { stored_rows, ..iterative.clone() }.checked().unwrap();
        let fitted = learner.fit(&sample, &mut fitting).unwrap();
        let found = fitted.predictor.decision(sample.inputs());
        assert_abs_diff_eq!(found, direct, epsilon = 1e-6);
        assert_relative_eq!(fitted.facts["stored"], f64::from(stored_rows == 300));
        assert!(matches!(fitted.convergence, Convergence::Converged { iterations: 1..=60 }));
        let misses = (&found - &columns_of(sample.targets())).mapv(|e| e * e).sum() / 300.0;
        assert_relative_eq!(fitted.facts["loss"], misses, max_relative = 1e-6);
    }
    let short = KernelRidgelessParams { lambda: 0.0, iterations: 3, tolerance: 1e-12, ..iterative };
    let fitted = fit(&short.checked().unwrap(), &sample);
    let Convergence::NotConverged { iterations: 3, residual } = fitted.convergence else {
        panic!("{:?}", fitted.convergence);
    };
    assert!(residual > 1e-12 && residual.is_finite());
}

#[test]
fn the_frequencies_move_every_s_steps_at_their_own_rate() {
    let sample = regression(40, 2);
    let params = FeatureSgdParams { beta: 0.0, rate: 0.3, ..trained(SgdKind::Rftk) };
    // Five steps a pass, five passes.
    for (every, moves) in [(1, 25.0), (7, 3.0), (25, 1.0), (1000, 1.0)] {
        let learner = FeatureSgdParams { every, ..params.clone() }.checked().unwrap();
        let fitted = fit(&learner, &sample);
        assert_relative_eq!(fitted.facts["frequency-steps"], moves);
    }
    // Before the first move it is RF-SGD, whose printed rate is twice as large for the same step.
    let still = FeatureSgdParams { every: 25, frequency_rate: Some(1e-30), ..params.clone() };
    let sgd = FeatureSgdParams { kind: SgdKind::RfSgd, rate: 0.6, ..params.clone() };
    assert_eq!(
        scores(&still.checked().unwrap(), &sample),
        scores(&sgd.checked().unwrap(), &sample)
    );
    // A larger batch than there are rows is all of them.
    let large = FeatureSgdParams { batch: 64, ..params };
    let fitted = fit(&large.checked().unwrap(), &sample);
    assert_relative_eq!(fitted.facts["batch-used"], 40.0);
    assert_eq!(fitted.convergence, Convergence::FixedSteps { steps: 5 });
}

/// Keeps the numbers that it is shown.
struct Curve(Vec<(Moment, BTreeMap<String, f64>)>);

impl Probe for Curve {
    fn interval(&self) -> usize {
        10
    }
    fn observe(
        &mut self,
        at: Moment,
        _predictor: &dyn Predictor,
        numbers: &BTreeMap<String, f64>,
    ) -> Result<(), LearningError> {
        self.0.push((at, numbers.clone()));
        Ok(())
    }
}

#[test]
fn the_penalty_lowers_the_trace_and_a_probe_sees_it() {
    let sample = classes(120);
    let n = 120.0;
    for (trace, trace_rows) in [
        (TraceForm::Squared, None),
        (TraceForm::NormByRows, None),
        (TraceForm::NormByRows, Some(30)),
    ] {
        let end = |beta: f64| {
            let params = FeatureSgdParams {
                beta,
                trace,
                trace_rows,
                every: 1,
                optimiser: Optimiser::Adam,
                rate: 1e-2,
                epochs: 10.0,
                precision: Precision::F32,
                ..trained(SgdKind::Rftk)
            };
            let mut curve = Curve(Vec::new());
            let mut fitting = Fitting { probe: Some(&mut curve), ..Fitting::seeded(5) };
            params.checked().unwrap().fit(&sample, &mut fitting).unwrap();
            curve.0
        };
        let (without, with) =
            (end(0.0), end(if trace == TraceForm::Squared { 0.1 } else { 100.0 }));
        assert_eq!(with.len(), 15);
        let (first, last) = (&with[0].1, &with[14].1);
        assert!(last["feature-norm-squared"] < 0.8 * first["feature-norm-squared"]);
        assert!(last["feature-norm-squared"] < 0.8 * without[14].1["feature-norm-squared"]);
        assert!(!without[14].1.contains_key("trace-penalty"));
        assert!(without[14].1["loss"] < without[0].1["loss"]);
        let mean = last["feature-norm-squared"];
        if trace_rows.is_none() {
            let penalty = match trace {
                TraceForm::Squared => 0.1 * n * mean,
                TraceForm::NormByRows => 100.0 * (n * mean).sqrt() / n,
            };
            assert_relative_eq!(last["trace-penalty"], penalty, max_relative = 1e-6);
        }
        let total = last["loss"] + last["trace-penalty"];
        assert_relative_eq!(last["objective"], total, max_relative = 1e-12);
    }
}

#[test]
fn threads_change_only_rounding_also_with_a_trace() {
    let sample = classes(90);
    for trace in [TraceForm::Squared, TraceForm::NormByRows] {
        let params = FeatureSgdParams { trace, beta: 1e-2, every: 3, ..trained(SgdKind::Rftk) };
        let learner = params.checked().unwrap();
        let with = |threads| {
            let mut fitting = Fitting { threads, ..Fitting::seeded(5) };
            learner.fit(&sample, &mut fitting).unwrap().predictor.decision(sample.inputs())
        };
        assert_eq!(with(2), with(2));
        for threads in [2, 3] {
            assert_abs_diff_eq!(with(threads), with(1), epsilon = 1e-10);
        }
    }
}

#[test]
fn variants_mean_what_the_paper_and_the_code_say() {
    let sample = classes(64);
    let printed = plan(FeatureSgdParams { kind: SgdKind::Rftk, ..Default::default() }, &sample);
    assert_eq!((printed.loss, printed.optimiser), (Loss::Squared, Optimiser::Sgd));
    assert_eq!(printed.sampling, Sampling::Replacement);
    assert_eq!(printed.pace, FrequencySchedule { every: 100, rate: None });
    let trace = printed.trace.unwrap();
    assert_eq!((trace.penalty, trace.every), (TracePenalty::Squared(1e-3), 100));
    assert!(trace.inputs.is_none());

    let released = FeatureSgdParams {
        optimiser: Optimiser::Adam,
        sampling: Sampling::Shuffled,
        loss: SgdLoss::AutoCrossEntropy,
        read_out_std: 1.0,
        epochs: 10.0,
        rate: 1e-3,
        beta: 0.01,
        every: 1,
        trace: TraceForm::NormByRows,
        trace_every: Some(100),
        trace_rows: Some(16),
        ..FeatureSgdParams::default()
    };
    let rftk = plan(released.clone(), &sample);
    assert_eq!((rftk.loss, rftk.pace), (Loss::CrossEntropy, FrequencySchedule::TOGETHER));
    let trace = rftk.trace.clone().unwrap();
    assert_eq!((trace.penalty, trace.every), (TracePenalty::NormByRows(0.01), 100));
    assert_eq!(trace.inputs.unwrap().dim(), (16, 3));
    let at = |step, of_pass| StepIndex { step, of_pass };
    assert!(rftk.trace_in(at(100, 4)).is_some() && rftk.trace_in(at(99, 0)).is_none());
    assert!((0..100).all(|step| rftk.moves_frequencies(step)));
    let sgd = plan(FeatureSgdParams { kind: SgdKind::RfSgd, ..released }, &sample);
    assert!(!sgd.learn_frequencies && sgd.trace.is_none());
    // Adam does not know the factor that the printed step drops.
    assert_relative_eq!(sgd.rate, 1e-3);
}

#[test]
fn the_code_penalises_once_a_pass_where_a_pass_is_short() {
    // Batches a pass and passes as in Table 1: dna 50 and 10, wine 5 and 10; and a long pass.
    for (rows, batch, every, of_run, of_pass) in
        [(64, 32, 100, 0.0, 10.0), (200, 4, 100, 5.0, 10.0), (60, 2, 20, 15.0, 20.0)]
    {
        let sample = classes(rows);
        let facts = |clock, beta| {
            let params = FeatureSgdParams {
                batch,
                beta,
                epochs: 10.0,
                every: 1,
                sampling: Sampling::Shuffled,
                optimiser: Optimiser::Adam,
                rate: 1e-3,
                features: 10,
                trace: TraceForm::NormByRows,
                trace_every: Some(every),
                trace_clock: clock,
                trace_share: Some(0.25),
                ..trained(SgdKind::Rftk)
            };
            fit(&params.checked().unwrap(), &sample).facts
        };
        for (clock, steps) in [(TraceClock::Run, of_run), (TraceClock::Pass, of_pass)] {
            assert_relative_eq!(facts(clock, 1.0)["penalised-steps"], steps);
            assert_relative_eq!(facts(clock, 0.0)["penalised-steps"], 0.0);
        }
        // What takes part is felt.
        let (free, weak) = (facts(TraceClock::Pass, 0.0), facts(TraceClock::Pass, 1e3));
        assert!(weak["feature-norm-squared"] < free["feature-norm-squared"]);
    }
}

#[test]
fn a_share_of_the_training_rows_is_as_many_as_validate() {
    let sample = classes(64);
    let rows = |share: f64| {
        let params = FeatureSgdParams {
            kind: SgdKind::Rftk,
            trace_share: Some(share),
            ..FeatureSgdParams::default()
        };
        plan(params, &sample).trace.unwrap().inputs.map(|inputs| inputs.nrows())
    };
    // 64 of 80 rows train, 16 validate.
    assert_eq!((rows(0.25), rows(1e-9), rows(1.0)), (Some(16), Some(1), None));
    let both =
        FeatureSgdParams { trace_rows: Some(3), trace_share: Some(0.5), ..trained(SgdKind::Rftk) };
    let error = both.checked().err().unwrap();
    assert!(error.to_string().contains("trace_rows"), "{error}");
}

#[test]
fn bad_settings_are_refused_by_name() {
    let bad: [(&str, &str, serde_json::Value); 31] = [
        ("rf-ridge", "ridges", serde_json::json!([1e-3, 0.0])),
        ("kernel-ridgeless", "std", 0.0.into()),
        ("kernel-ridgeless", "std", 1e200.into()),
        ("kernel-ridgeless", "lambda", (-1.0).into()),
        ("kernel-ridgeless", "cutoff", 1.0.into()),
        ("kernel-ridgeless", "tolerance", 0.0.into()),
        ("kernel-ridgeless", "iterations", 0.into()),
        ("kernel-ridgeless", "landmarks", 0.into()),
        ("rf-ridge", "features", 0.into()),
        ("rf-ridge", "lambda", (-1e-9).into()),
        ("rf-ridge", "std", (-1.0).into()),
        ("rf-ridgeless", "cutoff", (-0.1).into()),
        ("rf-ridgeless", "std", 1e300.into()),
        ("rf-sgd", "std", 1e300.into()),
        ("rftk", "std", 1e200.into()),
        ("rf-sgd", "features", 0.into()),
        ("rf-sgd", "std", 0.0.into()),
        ("rf-sgd", "rate", 0.0.into()),
        ("rf-sgd", "rate", (-1.0).into()),
        ("rf-sgd", "epochs", 0.0.into()),
        ("rf-sgd", "batch", 0.into()),
        ("rf-sgd", "read_out_std", (-1.0).into()),
        ("rftk", "rate", 0.0.into()),
        ("rftk", "frequency_rate", 0.0.into()),
        ("rftk", "beta", (-1.0).into()),
        ("rftk", "every", 0.into()),
        ("rftk", "trace_every", 0.into()),
        ("rftk", "trace_rows", 0.into()),
        ("rftk", "trace_share", 0.0.into()),
        ("rftk", "trace_share", 1.5.into()),
        ("rftk", "epochs", (-1.0).into()),
    ];
    for (method, name, value) in bad {
        let settings = Settings::new().with(name, value.clone());
        let Err(error) = find(METHODS, method).unwrap().learner(&settings, Task::Regression) else {
            panic!("{method}: {name} = {value} was accepted");
        };
        assert!(
            matches!(error, LearningError::Setting { name: found, .. } if found == name),
            "{method}: {name} = {value}: {error}"
        );
    }
    // What cannot even be read is named as well.
    for (name, value) in [("features", serde_json::json!(-3)), ("lambda", "nan".into())] {
        let settings = Settings::new().with("std", 0.5).with(name, value);
        let learner = find(METHODS, "rf-ridge").unwrap().learner(&settings, Task::Regression);
        let error = learner.err().unwrap().to_string();
        assert!(error.contains(&format!("`{name}` is ")), "{error}");
    }
    let settings = Settings::new().with("loss", "cross-entropy");
    let learner = find(METHODS, "rf-sgd").unwrap().learner(&settings, Task::Regression).unwrap();
    let error = learner.fit(&regression(20, 2), &mut Fitting::seeded(1)).err().unwrap();
    assert!(error.to_string().contains("`loss` is cross-entropy"), "{error}");
}

/// With 1e30 a fit went on, its frequencies thrown about by the penalty alone.
#[test]
fn a_penalty_that_leaves_nothing_of_the_loss_is_refused() {
    let sample = regression(40, 2);
    let ends = |beta, trace, precision| {
        let params = FeatureSgdParams {
            beta,
            trace,
            precision,
            every: 1,
            epochs: 1.0,
            rate: 1e-3,
            frequency_rate: Some(1e-12),
            ..trained(SgdKind::Rftk)
        };
        params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).err()
    };
    for trace in [TraceForm::Squared, TraceForm::NormByRows] {
        for precision in [Precision::F32, Precision::F64] {
            let error = ends(1e30, trace, precision).unwrap();
            assert!(matches!(error, LearningError::Setting { name: "beta", .. }), "{error}");
            assert!(error.to_string().contains("lower it"), "{error}");
            assert_eq!(ends(10.0, trace, precision), None);
        }
        // What single precision cannot hold beside the loss, double can.
        assert!(ends(1e9, trace, Precision::F32).is_some());
        assert_eq!(ends(1e9, trace, Precision::F64), None);
    }
    // No penalty is none, of whatever size.
    let free = FeatureSgdParams { beta: 1e30, epochs: 1.0, ..trained(SgdKind::RfSgd) };
    assert!(free.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).is_ok());
}

#[test]
fn a_ridge_below_rounding_is_a_least_squares_solution_where_targets_contradict() {
    let x = Array2::from_shape_fn((20, 1), |(i, _)| (i % 10) as f64);
    let y = Array1::from_shape_fn(20, |i| (i % 10) as f64 + if i < 10 { 1.0 } else { -1.0 });
    let sample = Sample::regression(x, y).unwrap();
    let params = KernelRidgelessParams { std: 1.0, lambda: 1e-20, ..Default::default() };
    let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
    assert!((fitted.facts["loss"] - 1.0).abs() < 1e-6, "{:?}", fitted.facts);
    assert!(fitted.facts["rank"] < 20.0 && fitted.facts["cutoff"] > 0.0);
}

#[test]
fn what_overflows_or_diverges_is_an_error_and_never_a_score() {
    let sample = regression(40, 2);
    // Angles beyond the largest number: their cosines are NaN.
    let far = sample.values().unwrap().to_owned();
    let far = Sample::regression(1e200 * &sample.inputs(), far).unwrap();
    // The cause is the width or the inputs: both are named, and no rate, matrix or ridge.
    let refused = |method: &str, sample: &Sample, given: Settings| {
        let settings = match method {
            "kernel-ridgeless" => given,
            _ => given.with("features", 30),
        };
        let learner = find(METHODS, method).unwrap().learner(&settings, sample.task()).unwrap();
        learner.fit(sample, &mut Fitting::seeded(1)).err().expect(method).to_string()
    };
    let std = |value: f64| Settings::new().with("std", value);
    let singly = |given: Settings| given.with("precision", "f32-inverse");
    for (said, format, value) in [
        (refused("rf-ridge", &far, std(1e150)), "double", "1e150"),
        (refused("rf-ridge", &far, std(1e150).with("lambda", 0.1)), "double", "1e150"),
        (refused("rf-ridgeless", &far, std(1e150)), "double", "1e150"),
        (refused("rf-ridge", &far, singly(std(1.0).with("lambda", 0.1))), "single", "1"),
        (refused("rf-sgd", &sample, std(1e60)), "single", "1e60"),
        (refused("rftk", &sample, std(1e60)), "single", "1e60"),
        (refused("rf-sgd", &far, std(0.5)), "single", "0.5"),
        (refused("rftk", &far, std(0.5)), "single", "0.5"),
    ] {
        let begins =
            format!("the features overflow {format} precision: `std` is {value}, and column");
        assert!(said.starts_with(&begins), "{said}");
        assert!(said.contains("scale the inputs") && said.contains("a smaller `std`"), "{said}");
    }
    let skl = find(crate::askl::METHODS, "skl").unwrap();
    let learner = skl.learner(&Settings::new().with("features", 30), far.task()).unwrap();
    let said = learner.fit(&far, &mut Fitting::seeded(1)).err().unwrap().to_string();
    assert!(said.starts_with("the features overflow") && said.contains("`std` is"), "{said}");
    // No two rows of such a kernel know of each other: it would pass through all of them.
    let said = refused("kernel-ridgeless", &far, std(0.5));
    assert!(said.starts_with("distances between the rows overflow double"), "{said}");
    assert!(said.contains("`std` is 0.5") && said.contains("scale the inputs"), "{said}");
    // A rate far beyond 2/‖φ‖²: stopped long before the numbers overflow, in either precision.
    for precision in [Precision::F32, Precision::F64] {
        for kind in [SgdKind::RfSgd, SgdKind::Rftk] {
            for threads in [1, 2] {
                let params = FeatureSgdParams {
                    rate: 50.0,
                    frequency_rate: Some(1e-3),
                    precision,
                    epochs: 100.0,
                    ..trained(kind)
                };
                let mut fitting = Fitting { threads, ..Fitting::seeded(1) };
                let error = params.checked().unwrap().fit(&sample, &mut fitting).err();
                let Some(LearningError::Diverged { step, loss, rates }) = error else {
                    panic!("{kind:?} {precision:?}: {error:?}");
                };
                assert!(step < 60 && loss.is_finite() && loss > DIVERGED, "{step}: {loss}");
                assert_eq!(
                    rates.contains("`frequency_rate`, which is 0.001"),
                    kind == SgdKind::Rftk
                );
                assert!(rates.starts_with("`rate`, which is 50"), "{rates}");
            }
        }
    }
    // Of classes the loss grows no faster than the rate: it ends far above that of f = 0, and is no score.
    let labels = (0..40).map(|i| i * i * 7 % 11 % 3).collect();
    let noise = Sample::classification(wave(40, 3), labels, 3).unwrap();
    for rate in [1e3, 1e6] {
        let params =
            FeatureSgdParams { loss: SgdLoss::CrossEntropy, rate, ..trained(SgdKind::RfSgd) };
        let error = params.checked().unwrap().fit(&noise, &mut Fitting::seeded(1)).err();
        let Some(LearningError::Diverged { loss, rates, .. }) = error else { panic!("{error:?}") };
        assert!(loss > 10.0 * 3f64.ln() && loss.is_finite(), "{loss}");
        assert!(rates.starts_with("`rate`, which is"), "{rates}");
    }
    // Targets of any size, or all zero, do not count as divergence.
    for factor in [1e-9, 0.0, 1e9] {
        let values = sample.values().unwrap().to_owned() * factor;
        let scaled = Sample::regression(sample.inputs().to_owned(), values).unwrap();
        for read_out_std in [0.0, 1.0] {
            let params = FeatureSgdParams { read_out_std, ..trained(SgdKind::RfSgd) };
            assert!(params.checked().unwrap().fit(&scaled, &mut Fitting::seeded(1)).is_ok());
        }
    }
    // A singular matrix has no explicit inverse without a ridge; duplicates make one.
    let twice = sample.select(&[0, 1, 2, 0, 1, 2]).unwrap();
    let params = KernelRidgelessParams {
        std: 1.0,
        precision: ClosedPrecision::F32Inverse,
        ..KernelRidgelessParams::default()
    };
    let error = params.checked().unwrap().fit(&twice, &mut Fitting::seeded(1)).err();
    assert!(matches!(error, Some(LearningError::Numerical { .. })), "{error:?}");
}

/// Frequencies that ran away, or were drawn so, leave angles without a digit behind the point: their cosines
/// are numbers, so only a fact tells.
#[test]
fn features_that_are_noise_of_rounding_are_told() {
    let sample = regression(40, 2);
    let lost = |params: FeatureSgdParams| {
        let fitted = fit(&params.checked().unwrap(), &sample);
        fitted.facts.get(mercer_learning::fact::LOST_ANGLES).copied()
    };
    let single = |kind| FeatureSgdParams { precision: Precision::F32, ..trained(kind) };
    assert_eq!(lost(single(SgdKind::Rftk)), None);
    let rate = Some(1e30);
    let ran = FeatureSgdParams { frequency_rate: rate, every: 1, ..single(SgdKind::Rftk) };
    assert!(lost(ran).unwrap() > 0.9);
    assert!(lost(FeatureSgdParams { std: 1e20, ..single(SgdKind::RfSgd) }).unwrap() > 0.9);
    let wide = |std| {
        let params = RandomFeaturesParams { std, ..closed(30, 0.1) };
        let fitted = fit(&params.checked().unwrap(), &sample);
        fitted.facts.get(mercer_learning::fact::LOST_ANGLES).copied()
    };
    assert_eq!(wide(1e9), None); // angles of 1e9 have six digits left
    assert!(wide(1e30).unwrap() > 0.9);
}

/// At the pace of studies 120 rows would move them 4 times in 400 steps, which is RF-SGD.
#[test]
fn a_first_run_on_a_small_table_moves_the_frequencies_often() {
    let sample = regression(120, 4);
    let begun = |name: &str| {
        let method = find(METHODS, name).unwrap();
        let settings = method.begun(&sample.shape()).with("features", 100);
        let learner = method.learner(&settings, sample.task()).unwrap();
        learner.fit(&sample, &mut Fitting::seeded(5)).unwrap()
    };
    let (still, moved) = (begun("rf-sgd"), begun("rftk"));
    let (moves, penalised) = (moved.facts["frequency-steps"], moved.facts["penalised-steps"]);
    assert!(moves >= 200.0, "{moves}");
    // Those steps go over all rows: together no more than half of the hundred passes.
    assert!((10.0..=50.0).contains(&penalised), "{penalised}");
    let of = |fitted: &Fitted| fitted.predictor.decision(sample.inputs());
    let apart = (of(&still) - of(&moved)).mapv(f64::abs).mean().unwrap();
    assert!(apart > 0.01, "{apart}");
    assert!(moved.facts["loss"] < still.facts["loss"]);
    // Studies hold to the text, and so does a table that is large enough.
    let method = find(METHODS, "rftk").unwrap();
    assert!(
        (method.defaults)(&sample.shape())
            .get("trace_every")
            .is_none_or(serde_json::Value::is_null)
    );
    assert_eq!((method.defaults)(&sample.shape()).get("every"), Some(&100.into()));
    let large = mercer_learning::Shape { rows: 20_000, ..sample.shape() };
    assert!((method.user_defaults)(&large).is_empty());
    // Whoever gives `every` alone has the penalty in each of the moves.
    let given = method.as_meant(&Settings::new().with("every", 30));
    assert!(
        method.begun(&sample.shape()).overridden_by(&given).get("trace_every").unwrap().is_null()
    );
}

/// The ridge that leave-one-out chooses is the one that refits without each row choose.
#[test]
fn the_ridge_is_chosen_by_leaving_out_every_row_in_turn() {
    let sample = regression(25, 2);
    let ridges = vec![1e-6, 1e-4, 1e-2, 1.0];
    let params = RandomFeaturesParams { ridges: ridges.clone(), ..closed(12, 0.0) };
    let chosen = fit(&params.clone().checked().unwrap(), &sample);
    let model = model(12, &sample, 0.0);
    let phi = model.feature_matrix(sample.inputs());
    let y = columns_of(sample.targets());
    let error = |lambda: f64| {
        let mut total = 0.0;
        for out in 0..25 {
            let rest: Vec<usize> = (0..25).filter(|row| *row != out).collect();
            let (a, b) = (phi.select(Axis(0), &rest), y.select(Axis(0), &rest));
            // The ridge of all 25 rows, also without one.
            let gram = a.t().dot(&a) + lambda * 25.0 * Array2::<f64>::eye(12);
            let w = Cholesky::factor(gram).unwrap().solve(&a.t().dot(&b)).unwrap();
            total += (phi.row(out).dot(&w.column(0)) - y[[out, 0]]).powi(2) / 25.0;
        }
        total
    };
    let best = ridges.iter().copied().min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
    assert_relative_eq!(chosen.facts["lambda"], best);
    assert_relative_eq!(chosen.facts["leave-one-out"], error(best), max_relative = 1e-6);
    let alone = fit(
        &RandomFeaturesParams { lambda: Some(best), ..closed(12, 0.0) }.checked().unwrap(),
        &sample,
    );
    assert_abs_diff_eq!(
        chosen.predictor.decision(sample.inputs()),
        alone.predictor.decision(sample.inputs()),
        epsilon = 1e-8
    );
    let single = RandomFeaturesParams { precision: ClosedPrecision::F32Inverse, ..params };
    assert!(matches!(single.checked(), Err(LearningError::Setting { name: "precision", .. })));
}

/// A ridge that is not given is chosen: of few rows by all of them, of many by a thousand, whose ridge is
/// that of all; and never one that the sums of a pass cannot bear.
#[test]
fn a_ridge_that_is_not_given_is_chosen_by_a_thousand_rows() {
    let free = |features| RandomFeaturesParams { lambda: None, ..closed(features, 0.0) };
    let noisy = |n: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let x = Array2::from_shape_simple_fn((n, 2), || rng.gen_range(-1.0..1.0));
        let y: Array1<f64> =
            x.rows().into_iter().map(|x| f64::sin(x[0]) + rng.gen_range(-0.5..0.5)).collect();
        Sample::regression(x, y).unwrap()
    };
    let few = noisy(200);
    let chosen = fit(&free(40).checked().unwrap(), &few);
    let lambda = chosen.facts["lambda"];
    // More than the least, which is that of rows without noise.
    assert!(lambda > 1e-7, "{lambda}");
    let given = fit(&closed(40, lambda).checked().unwrap(), &few);
    assert_abs_diff_eq!(
        chosen.predictor.decision(few.inputs()),
        given.predictor.decision(few.inputs()),
        epsilon = 1e-8
    );
    let many = noisy(2500);
    let chosen = fit(&free(40).checked().unwrap(), &many);
    let ridge = chosen.facts["lambda"] * 2500.0;
    let on_the_grid = (0..=16).map(|half| 1000.0 * 10f64.powf(0.5 * f64::from(half) - 8.0));
    assert!(on_the_grid.into_iter().any(|t| (t / ridge - 1.0).abs() < 1e-12), "{ridge}");
    let given = fit(&closed(40, chosen.facts["lambda"]).checked().unwrap(), &many);
    assert_eq!(
        given.facts["frobenius-squared"].to_bits(),
        chosen.facts["frobenius-squared"].to_bits()
    );
    let single = RandomFeaturesParams { precision: ClosedPrecision::F32Inverse, ..free(40) };
    assert!(matches!(single.checked(), Err(LearningError::Setting { name: "precision", .. })));
    // Equal rows of opposite targets, each foretold wrongly by the other, ask for more than the largest ridge that
    // is compared, and the fit says that.
    let twice = concatenate(Axis(0), &[few.inputs(), few.inputs()]).unwrap();
    let y = (0..400).map(|row| if row < 200 { 1.0 } else { -1.0 }).collect();
    let noise = Sample::regression(twice, y).unwrap();
    let end = |sample: &Sample| fit(&free(40).checked().unwrap(), sample).facts["grid-end"] > 0.0;
    assert_eq!([end(&noise), end(&few), end(&many)], [true, false, false]);
    let of_two = RandomFeaturesParams { ridges: vec![1e-3, 1e-2], ..closed(40, 0.0) };
    assert!(!fit(&of_two.checked().unwrap(), &few).facts.contains_key("grid-end"));
}

/// As many features as rows: the worst conditioned of all numbers, and still a fit.
#[test]
fn as_many_features_as_rows_and_fewer_rows_than_columns_are_fitted() {
    for (n, d, features) in [(30, 2, 30), (5, 40, 5), (5, 40, 60), (1, 3, 4)] {
        let sample = regression(n, d);
        let ridgeless = closed(features, 0.0);
        let fitted = fit(&ridgeless.checked().unwrap(), &sample);
        let (rank, loss) = (fitted.facts["rank"], fitted.facts["loss"]);
        assert!(rank <= n as f64 && rank >= 1.0, "{n} {d} {features}: rank {rank}");
        // Full rank interpolates; where directions were cut off as noise, at least no harm is done.
        let variance = sample.values().unwrap().mapv(|y| y * y).mean().unwrap();
        let most = if rank as usize == n { 1e-12 } else { 1.0 };
        assert!(loss.is_finite() && loss <= most * variance.max(1e-12), "{n} {d}: {loss}");
        let predicted = fitted.predictor.decision(sample.inputs());
        assert!(predicted.iter().all(|f| f.is_finite()));
    }
}

/// More steps between two moves than there are steps, and a batch of more rows than there are.
#[test]
fn too_few_steps_for_a_move_and_too_few_rows_for_a_batch() {
    let sample = regression(12, 2);
    let params =
        FeatureSgdParams { every: 1_000_000, batch: 500, epochs: 3.0, ..trained(SgdKind::Rftk) };
    let fitted = fit(&params.clone().checked().unwrap(), &sample);
    assert_eq!(fitted.facts["batch-used"] as usize, 12);
    // Three steps of all rows; the frequencies move in the last one.
    assert_eq!(fitted.convergence, Convergence::FixedSteps { steps: 3 });
    assert_eq!(fitted.facts["frequency-steps"] as usize, 1);
    let whole = FeatureSgdParams { batch: 12, every: 3, ..params };
    assert_eq!(
        scores(&whole.checked().unwrap(), &sample),
        fitted.predictor.decision(sample.inputs())
    );
}

/// Rows that occur twice make the kernel matrix singular: without a ridge, and with one that is lost
/// in rounding, there is an answer that passes through the rows.
#[test]
fn duplicate_rows_are_no_obstacle() {
    let once = regression(15, 2);
    let rows: Vec<usize> = (0..15).chain(0..15).collect();
    let twice = once.select(&rows).unwrap();
    for lambda in [0.0, 1e-18] {
        let params = KernelRidgelessParams { std: 1.0, lambda, ..KernelRidgelessParams::default() };
        let fitted = fit(&params.checked().unwrap(), &twice);
        assert!(fitted.facts["loss"] < 1e-8, "{lambda}: {}", fitted.facts["loss"]);
        assert!(lambda > 0.0 || fitted.facts["rank"] <= 15.0);
    }
}

#[test]
fn given_trace_inputs_are_checked() {
    let sample = regression(20, 2);
    let learner = trained(SgdKind::Rftk).checked().unwrap();
    let with = |inputs: Array2<f64>| {
        let learner = learner.clone().with_trace_inputs(inputs);
        learner.fit(&sample, &mut Fitting::seeded(1)).err()
    };
    assert_eq!(with(Array2::zeros((3, 5))), Some(LearningError::Width { expected: 2, found: 5 }));
    assert_eq!(with(Array2::zeros((0, 2))), Some(LearningError::NoRows));
    let error = with(array![[0.0, f64::NAN]]);
    assert!(matches!(error, Some(LearningError::Setting { name: "trace_inputs", .. })));
    assert_eq!(with(wave(5, 2)), None);
}

/// Allows no more than a kilobyte.
struct Tight;

impl Limits for Tight {
    fn check(&self) -> Result<(), LearningError> {
        Err(LearningError::OutOfTime { seconds: 1.0 })
    }
    fn reserve(&self, bytes: u64) -> Result<(), LearningError> {
        let limit = 30_000_000;
        if bytes > limit {
            Err(LearningError::OutOfMemory { needed: bytes, limit })
        } else {
            Ok(())
        }
    }
}

#[test]
fn limits_end_every_fit() {
    for method in METHODS {
        let settings = (method.defaults)(&classes(2).shape());
        let learner = method.learner(&settings, classes(2).task()).unwrap();
        let fit = |sample: &Sample| {
            let mut fitting = Fitting { limits: &Tight, ..Fitting::seeded(1) };
            learner.fit(sample, &mut fitting).err()
        };
        let error = fit(&classes(100));
        assert_eq!(error, Some(LearningError::OutOfTime { seconds: 1.0 }), "{}", method.name);
        if method.resource.is_none() {
            let error = fit(&classes(3000));
            assert!(matches!(error, Some(LearningError::OutOfMemory { .. })), "{}", method.name);
        }
    }
}

#[test]
fn settings_survive_the_way_through_a_record() {
    let shape = classes(10).shape();
    for method in METHODS {
        let defaults = (method.defaults)(&shape);
        let text = serde_json::to_string(&defaults).unwrap();
        let back: Settings = serde_json::from_str(&text).unwrap();
        assert_eq!(back, defaults);
        let again = match method.name {
            "kernel-ridgeless" => {
                Settings::of(&defaults.parse::<KernelRidgelessParams>(method.name).unwrap())
            }
            "rf-sgd" | "rftk" => {
                Settings::of(&defaults.parse::<FeatureSgdParams>(method.name).unwrap())
            }
            _ => Settings::of(&defaults.parse::<RandomFeaturesParams>(method.name).unwrap()),
        };
        assert_eq!(again, defaults, "{}", method.name);
    }
}
