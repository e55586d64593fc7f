//! One repeat of Figure 3: what is said of new images by a data-adaptive kernel that knows its
//! values on few training images only, continued by neighbours or by hyper-kernel ridge regression.

use mercer_baselines::{DankMachine, DankParams, Extension, SvmCv, SvmCvParams};
use mercer_harness::{Parts, Path};
use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel, Pairs, total_variance};
use mercer_learning::{
    Cost, Fitting, Learner, LearningError, Method, Predictions, Sample, Settings, Shape, Tasks,
    folds,
};
use mercer_linalg::{Cholesky, JITTER_LADDER};
use mercer_records::{CurvePoint, OPEN};
use mercer_solvers::{Dual, Precomputed, Smo, SolverError, Spectrum};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "dank-extensions",
        title: "DANK extensions",
        summary: "accuracy of a data-adaptive kernel continued by neighbours and by hyper-KRR",
        cites: "Liu, Huang, Gong, Yang & Li (2020); Liu, Shi, Huang, Yang & Suykens (2021)",
        revision: 1,
        tasks: Tasks::Classification,
        // Of the few images of each curve point, not of the rows: 50 at most.
        cost: Cost {
            fit: "n_test images^2 + images^6/24, images = 50",
            predict: "-",
            memory: "images^4/4, images = 50",
        },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Pairs of classes, each a problem of its own.
    pairs: Vec<(u32, u32)>,
    /// Numbers of training images, half of each class.
    sizes: Vec<usize>,
    /// `σ_h²` over `σ²`, the total variance of the training images.
    spread: f64,
    /// How far the labels pull DANK's matrix from all ones; at its default no `departure` is kept.
    pull: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            pairs: vec![(1, 9), (2, 7), (4, 6)],
            sizes: vec![10, 20, 30, 40, 50],
            spread: 1.0,
            pull: DankParams::default().pull,
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// Penalties of the regression over pairs that cross-validation over points chooses from.
const LAMBDAS: [f64; 7] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let mut curve: Vec<CurvePoint> = params
        .sizes
        .iter()
        .map(|&n| CurvePoint { step: n as u64, epoch: 0.0, values: BTreeMap::new() })
        .collect();
    for &pair in &params.pairs {
        let name = format!("{}/{}", pair.0, pair.1);
        let test = of_pair(&parts.test, pair, usize::MAX, fitting)?;
        for (point, &n) in curve.iter_mut().zip(&params.sizes) {
            fitting.limits.check()?;
            let train = of_pair(&parts.train, pair, n / 2, fitting)?;
            for (what, value) in problem(&train, &test, &params, fitting)? {
                point.values.insert(format!("{what} {name}"), value);
            }
        }
    }
    Ok(curve)
}

/// Rows of two classes as classes 0 and 1, at most so many of each, the first of a seeded order:
/// smaller parts are contained in larger ones.
fn of_pair(
    sample: &Sample,
    pair: (u32, u32),
    each: usize,
    fitting: &Fitting<'_>,
) -> Result<Sample, LearningError> {
    let labels = sample.labels().unwrap_or_default();
    let mut rows = Vec::new();
    for class in [pair.0, pair.1] {
        let mut own: Vec<usize> = (0..labels.len()).filter(|&t| labels[t] == class).collect();
        own.shuffle(&mut fitting.streams.rng(&format!("rows of class {class}")));
        own.truncate(each);
        rows.extend(own);
    }
    let inputs = sample.inputs().select(Axis(0), &rows);
    let labels = rows.iter().map(|&t| u32::from(labels[t] == pair.1)).collect();
    Sample::classification(inputs, labels, 2)
}

/// Accuracies in percent, and what was chosen, on one problem.
fn problem(
    train: &Sample,
    test: &Sample,
    &Params { spread, pull, .. }: &Params,
    fitting: &mut Fitting<'_>,
) -> Result<BTreeMap<&'static str, f64>, LearningError> {
    let plain = SvmCv::new(SvmCvParams::default())?.fit(train, fitting)?;
    let width_and_cost = (plain.facts["width"], plain.facts["cost"]);
    let truth = test.labels().unwrap_or_default();
    let percent = |right: usize| 100.0 * right as f64 / truth.len() as f64;
    let of_values = |values: &Array1<f64>| {
        let right = values.iter().zip(truth).filter(|(f, label)| (**f > 0.0) == (**label == 1));
        percent(right.count())
    };
    let mut found = BTreeMap::new();
    if let Predictions::Classes(said) = plain.predictor.predict(test.inputs())? {
        let right = said.iter().zip(truth).filter(|(a, b)| a == b).count();
        found.insert("svm", percent(right));
    }
    let signs: Vec<bool> =
        train.labels().unwrap_or_default().iter().map(|&label| label == 1).collect();
    let recalled = DankParams::default();
    let pulled = (pull - recalled.pull).abs() > 0.0;
    let params = DankParams { pull, ..recalled };
    let machine = DankMachine::fit(train.inputs(), &signs, width_and_cost, &params, fitting)?;
    if pulled {
        let squares = machine.matrix.mapv(|entry| (entry - 1.0).powi(2));
        found.insert("departure", squares.mean().unwrap_or(0.0).sqrt());
    }
    for (name, extension) in [
        ("reciprocal", Extension::Reciprocal),
        ("nearest", Extension::Nearest),
        ("without", Extension::Plain),
    ] {
        found.insert(name, of_values(&machine.decision(test.inputs(), extension)));
    }
    let target = machine.kernel();
    let (learned, lambda) = regress_over_pairs(train, &target, spread, fitting)?;
    let gram = learned.gram(train.inputs(), 1);
    let error = (&gram - &target).mapv(|d| d * d).mean().unwrap_or(0.0).sqrt();
    let solved = (|| -> Result<_, SolverError> {
        let dual = Dual::classification(&signs, width_and_cost.1)?;
        let smo = Smo { tolerance: 1e-6, ..Smo::default() };
        let solution = smo.solve(&Precomputed::new(gram.view())?, &dual)?;
        Ok((solution, Spectrum::of(gram.view())?.negative_share()))
    })();
    let (solution, negative) = solved.map_err(|error| LearningError::Numerical {
        operation: "the machine on the learned kernel",
        reason: error.to_string(),
    })?;
    let open = [machine.converged, solution.converged, plain.convergence.warning().is_none()];
    found.insert(OPEN, open.iter().filter(|closed| !**closed).count() as f64);
    let cross = learned.block(test.inputs(), train.inputs(), 1);
    found.insert("hyper-krr", of_values(&solution.decision(cross.view())));
    found.insert("lambda", lambda);
    found.insert("training error", error);
    found.insert("negative share", negative);
    Ok(found)
}

/// Hyper-kernel ridge regression of a kernel matrix over the pairs of the training points, `λ` by
/// 5-fold cross-validation over points: the error over pairs with a point that was held out.
fn regress_over_pairs(
    train: &Sample,
    target: &Array2<f64>,
    spread: f64,
    fitting: &Fitting<'_>,
) -> Result<(LearnedKernel, f64), LearningError> {
    let inputs = train.inputs();
    let variance = total_variance(inputs);
    let kernel = GaussianHyper::constructed(variance, spread * variance)
        .map(HyperKernel::Gaussian)
        .map_err(|error| failed(&error.to_string()))?;
    let held = folds(train.labels().unwrap_or_default(), 5, &mut fitting.streams.rng("folds"));
    let mut errors = [0.0f64; LAMBDAS.len()];
    for fold in 0..5 {
        let part = |is: bool| -> Vec<usize> {
            (0..held.len()).filter(|&t| (held[t] == fold) == is).collect()
        };
        let (out, kept) = (part(true), part(false));
        if out.is_empty() || kept.is_empty() {
            continue;
        }
        let points = inputs.select(Axis(0), &kept);
        let known = target.select(Axis(0), &kept).select(Axis(1), &kept);
        let wanted = target.select(Axis(0), &out);
        let asked = inputs.select(Axis(0), &out);
        for (error, &lambda) in errors.iter_mut().zip(&LAMBDAS) {
            let learned = solve(&kernel, points.view(), &known, lambda)?;
            let said = learned.block(asked.view(), inputs, 1);
            *error += (&said - &wanted).mapv(|d| d * d).sum();
        }
    }
    let best = (0..LAMBDAS.len())
        .min_by(|&i, &j| errors[i].total_cmp(&errors[j]))
        .expect("there are penalties to choose from");
    Ok((solve(&kernel, inputs, target, LAMBDAS[best])?, LAMBDAS[best]))
}

/// `(H + λ m² diag(1/w)) γ = y` over unordered pairs.
fn solve(
    kernel: &HyperKernel,
    points: ArrayView2<'_, f64>,
    target: &Array2<f64>,
    lambda: f64,
) -> Result<LearnedKernel, LearningError> {
    let m = points.nrows();
    let pairs = Pairs::all(m);
    let mut matrix = kernel.gram(points, &pairs, 1);
    for (entry, weight) in matrix.diag_mut().iter_mut().zip(pairs.weights()) {
        *entry += lambda * (m * m) as f64 / weight;
    }
    let right: Array1<f64> = pairs.as_slice().iter().map(|&(i, j)| target[[i, j]]).collect();
    let coefficients = Cholesky::with_jitter(matrix, &JITTER_LADDER)
        .and_then(|(factor, _)| factor.solve(&right.insert_axis(Axis(1))))
        .map_err(|error| failed(&error.to_string()))?;
    LearnedKernel::new(kernel.clone(), points, &pairs, &coefficients.column(0).to_owned())
        .map_err(|error| failed(&error.to_string()))
}

fn failed(reason: &str) -> LearningError {
    LearningError::Numerical { operation: "regression over pairs", reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    fn clouds(rows: usize) -> Sample {
        let noise = |t: usize| ((t * 7919 + 13) % 997) as f64 / 997.0 - 0.5;
        let inputs = Array2::from_shape_fn((rows, 4), |(t, j)| {
            (t % 3) as f64 * 0.5 + 0.9 * noise(4 * t + j)
        });
        let labels = (0..rows).map(|t| (t % 3) as u32).collect();
        Sample::classification(inputs, labels, 3).unwrap()
    }

    #[test]
    fn every_extension_beats_chance_and_parts_are_nested() {
        let parts = Parts { train: clouds(90), test: clouds(150) };
        let settings =
            Settings::new().with("pairs", serde_json::json!([[0, 2]])).with("sizes", vec![10, 20]);
        let curve = run(&parts, &settings, &mut Fitting::seeded(3)).unwrap();
        assert_eq!(curve.iter().map(|point| point.step).collect::<Vec<_>>(), [10, 20]);
        for point in &curve {
            for what in ["svm", "reciprocal", "nearest", "without", "hyper-krr"] {
                let accuracy = point.values[&format!("{what} 0/2")];
                assert!((60.0..=100.0).contains(&accuracy), "{what}: {accuracy}");
            }
            assert!(LAMBDAS.contains(&point.values["lambda 0/2"]), "{:?}", point.values);
        }
        let fitting = Fitting::seeded(3);
        let few = of_pair(&parts.train, (0, 2), 5, &fitting).unwrap();
        let more = of_pair(&parts.train, (0, 2), 8, &fitting).unwrap();
        assert_eq!(few.rows(), 10);
        assert!(
            few.inputs().rows().into_iter().all(|x| more
                .inputs()
                .rows()
                .into_iter()
                .any(|z| x == z))
        );
    }

    #[test]
    fn the_regression_has_the_golden_values_of_three_points() {
        let kernel = GaussianHyper::printed(0.5, 0.25).map(HyperKernel::Gaussian).unwrap();
        let points = array![[0.0], [0.4], [1.0]];
        let labels = array![[1.0], [1.0], [-1.0]];
        let learned = solve(&kernel, points.view(), &labels.dot(&labels.t()), 0.1).unwrap();
        let at = |x: f64, z: f64| learned.block(array![[x]].view(), array![[z]].view(), 1)[[0, 0]];
        assert_abs_diff_eq!(at(0.4, 1.0), 0.1397858128398204, epsilon = 1e-8);
        assert_abs_diff_eq!(at(0.2, 0.7), 0.2727683838252548, epsilon = 1e-8);
    }
}
