//! The methods as a user meets them, golden values, and closed forms against obvious versions.

mod gradients;
mod solutions;

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

const GOLDEN: &str = include_str!("../../../../../experiments/golden/rftk.toml");

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
