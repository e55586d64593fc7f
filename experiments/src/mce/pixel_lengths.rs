//! Learned length scales of pixels: an anisotropic Gaussian embedding, trained in batches on the
//! images of some digits.

use mercer_harness::{Parts, Path};
use mercer_kernels::Covariance;
use mercer_learning::{
    Cost, Fitting, LearningError, Method, Sample, Settings, Shape, Tasks, accuracy, argmax,
};
use mercer_models::mce::{Form, Implicit, Objective};
use mercer_records::CurvePoint;
use mercer_solvers::{Memory, Optimiser};
use ndarray::Axis;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "pixel-lengths",
        title: "ARD length scales",
        summary: "length scale of every pixel, learned in batches on the images of some digits",
        cites: "Hsu, Nock & Ramos (2018)",
        revision: 2,
        tasks: Tasks::Classification,
        cost: Cost { fit: "steps (b^3/3 + b^2 d)", predict: "-", memory: "4 b^2" },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// The digits told apart.
    digits: Vec<u32>,
    /// Rows of a batch at most.
    batch: usize,
    /// Gradient steps.
    steps: usize,
    /// Rate of Adam on the logarithms.
    rate: f64,
    /// Start of every length scale.
    length: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { digits: (0..10).collect(), batch: 1200, steps: 500, rate: 0.1, length: 1.0 }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// The rows of the wanted digits, numbered anew from 0.
fn of_digits(sample: &Sample, digits: &[u32]) -> Result<Sample, LearningError> {
    let labels = sample.labels().unwrap_or_default();
    let place = |label: &u32| digits.iter().position(|digit| digit == label);
    let rows: Vec<usize> = (0..labels.len()).filter(|&row| place(&labels[row]).is_some()).collect();
    let chosen = sample.select(&rows)?;
    let renumbered = rows.iter().filter_map(|&row| place(&labels[row])).map(|p| p as u32).collect();
    Sample::classification(chosen.inputs().to_owned(), renumbered, digits.len())
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let train = of_digits(&parts.train, &params.digits)?;
    let test = of_digits(&parts.test, &params.digits)?;
    train.require_two_classes()?;
    let Trained { rows, lambda, kernel, complexity, jittered } = learn(&train, &params, fitting)?;
    // The last batch stands for the training part: the figure shows lengths, not accuracies.
    let (labels, classes) = (rows.labels().unwrap_or_default(), params.digits.len());
    let embedding = Implicit::new(&kernel, rows.inputs(), labels, classes, lambda)?;
    let scores = embedding.probabilities_of(test.inputs());
    let predicted: Vec<u32> = scores.rows().into_iter().map(argmax).collect();
    let accuracy = accuracy(test.labels().unwrap_or_default(), &predicted);
    let numbers = [
        ("accuracy", accuracy),
        ("complexity", complexity),
        ("lambda", lambda),
        ("jitter", embedding.jitter()),
        ("jitter-steps", f64::from(jittered)),
    ];
    // What a length scale does to the distances depends on how much its pixel varies.
    let deviations = train.inputs().std_axis(Axis(0), 0.0);
    let values = kernel.parameters();
    Ok(values[1..]
        .iter()
        .enumerate()
        .map(|(pixel, &length)| {
            let mut values = BTreeMap::from([
                ("length".to_owned(), length),
                ("deviation".to_owned(), deviations[pixel]),
            ]);
            if pixel == 0 {
                values.extend(numbers.map(|(name, value)| (name.to_owned(), value)));
            }
            CurvePoint { step: pixel as u64, epoch: 0.0, values }
        })
        .collect())
}

/// Where the steps end.
struct Trained {
    /// The last batch.
    rows: Sample,
    lambda: f64,
    kernel: Covariance,
    complexity: f64,
    /// Steps whose factor needed a jitter.
    jittered: u32,
}

/// Goes all the steps, each on the next batch.
fn learn(train: &Sample, params: &Params, fitting: &Fitting<'_>) -> Result<Trained, LearningError> {
    let (n, d, classes) = (train.rows(), train.features(), params.digits.len());
    let batch = params.batch.min(n);
    let objective = Objective { form: Form::Sum, ..Objective::default() }.checked()?;
    // λ, then the kernel's parameters, as logarithms.
    let start = Covariance::Gaussian { scale: 1.0, lengths: vec![params.length; d] };
    let mut logs: Vec<f64> = std::iter::once(1.0).chain(start.parameters()).map(f64::ln).collect();
    let mut memory = Memory::new(Optimiser::Adam, logs.len());
    let mut order: Vec<usize> = (0..n).collect();
    let (mut rng, mut next) = (fitting.streams.rng("batches"), n);
    let point = |logs: &[f64]| {
        let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        (values[0], start.with_parameters(&values[1..]))
    };
    let (mut complexity, mut jittered) = (0.0, 0);
    let mut rows = train.select(&order[..batch])?;
    for step in 1..=params.steps {
        fitting.limits.check()?;
        if next + batch > n {
            order.shuffle(&mut rng);
            next = 0;
        }
        rows = train.select(&order[next..next + batch])?;
        next += batch;
        let (lambda, kernel) = point(&logs);
        let labels = rows.labels().unwrap_or_default();
        let embedding = Implicit::new(&kernel, rows.inputs(), labels, classes, lambda)?;
        let found = embedding.gradient(&objective, None)?;
        if !found.value.objective.is_finite() {
            let loss = found.value.objective;
            return Err(LearningError::diverged(step, loss, &[("rate", params.rate)]));
        }
        complexity = found.value.complexity;
        jittered += u32::from(found.value.jitter > 0.0);
        let gradient = [vec![found.log_lambda], found.log_parameters].concat();
        Optimiser::Adam.step(params.rate, step).update(&mut logs, &gradient, memory.all());
    }
    let (lambda, kernel) = point(&logs);
    Ok(Trained { rows, lambda, kernel, complexity, jittered })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Four classes; column 0 tells 1 from 3, column 1 tells 0 from 2, the others tell nothing.
    fn sample(rows: usize, seed: u64) -> Sample {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let labels: Vec<u32> = (0..rows as u32).map(|i| i % 4).collect();
        let inputs = Array2::from_shape_fn((rows, 4), |(i, j)| {
            let side =
                |a, b| f64::from(u8::from(labels[i] == a)) - f64::from(u8::from(labels[i] == b));
            let told = [side(1, 3), side(0, 2), 0.0, 0.0][j];
            told + rng.gen_range(-0.8..0.8)
        });
        Sample::classification(inputs, labels, 4).unwrap()
    }

    #[test]
    fn what_tells_the_digits_apart_gets_the_shortest_length() {
        let parts = Parts { train: sample(240, 1), test: sample(200, 2) };
        for (digits, column) in [([1, 3], 0), ([0, 2], 1)] {
            let settings = Settings::new().with("digits", digits.to_vec()).with("batch", 60);
            let settings = settings.with("steps", 150).with("rate", 0.05);
            let points = run(&parts, &settings, &mut Fitting::seeded(3)).unwrap();
            let lengths: Vec<f64> = points.iter().map(|point| point.values["length"]).collect();
            assert_eq!(lengths.len(), 4);
            // Over the training rows of these digits.
            let rows = parts.train.labels().unwrap().iter().enumerate();
            let rows: Vec<usize> =
                rows.filter(|(_, label)| digits.contains(label)).map(|(row, _)| row).collect();
            let own: Vec<f64> =
                rows.iter().map(|&row| parts.train.inputs()[[row, column]]).collect();
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            let variance = own.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / own.len() as f64;
            let found = points[column].values["deviation"];
            assert!((found - variance.sqrt()).abs() < 1e-12, "{found}");
            let shortest = (0..4).min_by(|&a, &b| lengths[a].total_cmp(&lengths[b])).unwrap();
            assert_eq!(shortest, column, "{lengths:?}");
            assert!(points[0].values["accuracy"] > 0.8, "{:?}", points[0]);
            assert!(points[0].values["jitter-steps"] == 0.0, "{:?}", points[0]);
        }
    }
}
