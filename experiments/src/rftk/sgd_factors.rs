//! One repeat of the SGD curves on the synthetic problem: how fast mini-batch gradient descent
//! comes near the least-squares solution on the same random features, batch size by batch size.
//!
//! With `φ(x) = cos(Oᵀx + b)/√M` and `w* = Φ⁺ y`, each batch size `b` runs
//! ```text
//! w ← w − (γ/b) Σ (w·φ(x_i) − y_i) φ(x_i)          w = 0, rows drawn with replacement
//! ```
//! and after each pass over the rows there are, on the test rows, the distance in function space
//! `√(mean (f_t − f_M)²)`, the test error, and the distance in parameter space `‖w_t − w*‖/M` that
//! the authors' code records. The step, if it is not given, is chosen for each `b` by the error on a
//! fifth of the training rows that the others predict. A run that diverges ends there: the start of the
//! curve has the pass as `diverged`, and what it had become is no score.

use mercer_harness::{Parts, Path};
use mercer_learning::{
    Cost, Fitting, LearningError, Method, Sample, Settings, Shape, Streams, Tasks,
};
use mercer_linalg::{cos, minimum_norm_solve, product};
use mercer_records::CurvePoint;
use mercer_solvers::{Memory, Optimiser};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "sgd-factors",
        title: "RF-SGD by batch size",
        summary: "distance of RF-SGD to ridgeless random features along training, for several batch sizes",
        cites: "Li, Liu & Zhang (2022)",
        revision: 1,
        tasks: Tasks::Regression,
        cost: Cost { fit: "tried epochs n M, tried = 40", predict: "-", memory: "n M" },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// How `w` moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Algorithm {
    /// The printed step, from zero, rows drawn with replacement.
    Sgd,
    /// The authors' code: Adam on the mean squared error, from standard normal weights, rows in a
    /// fresh order for each pass.
    Adam,
}

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Features `M`.
    features: usize,
    /// Deviation `k` of the frequencies.
    std: f64,
    /// Batch sizes; one above the number of rows counts as that number.
    batches: Vec<usize>,
    /// The step of each batch size; chosen from `grid` if there are none.
    rates: Vec<f64>,
    /// Steps to choose from.
    grid: Vec<f64>,
    /// Passes over the rows.
    epochs: usize,
    /// How `w` moves.
    algorithm: Algorithm,
    /// A run ends when its test error is below this.
    stop: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            features: 200,
            std: 0.1,
            batches: vec![1, 10, 100, 1000, 10_000],
            rates: Vec::new(),
            grid: (-4..=3).map(|exponent| 10f64.powi(exponent)).collect(),
            epochs: 100,
            algorithm: Algorithm::Sgd,
            stop: 0.0,
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// Name of the value, at the start of a curve, that has the pass at which a run diverged.
pub(crate) const DIVERGED: &str = "diverged";

/// A run whose test error is so many times the smallest that it had has diverged.
const FLED: f64 = 1e6;

/// The value of one batch size, as the curve names it.
pub(crate) fn named(value: &str, batch: usize) -> String {
    format!("{value} b={batch}")
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let problem = Problem::new(parts, params.features, params.std, &fitting.streams)?;
    let mut looks = vec![BTreeMap::new(); params.epochs + 1];
    looks[0].insert("mse ridgeless".to_owned(), mean_square(&problem.test_errors(&problem.best)));
    looks[0].insert("rank".to_owned(), problem.rank as f64);
    for (index, &batch) in params.batches.iter().enumerate() {
        let rate = match params.rates.get(index) {
            Some(rate) => *rate,
            None => problem.tuned(&params, batch, fitting)?,
        };
        let streams = fitting.streams.child(&format!("batch {batch}"));
        let mut walk = problem.walk(&params, batch, rate, problem.train.rows(), &streams);
        looks[0].insert(named("rate", batch), rate);
        let (mut began, mut ended) = (f64::INFINITY, None);
        for (epoch, look) in looks.iter_mut().enumerate() {
            let numbers = problem.look(walk.weights.view());
            let error = numbers.iter().find(|(name, _)| *name == "mse").map_or(0.0, |(_, e)| *e);
            began = began.min(error);
            // A run that left the numbers behind has no values there, and says so.
            if !numbers.iter().all(|(_, value)| value.is_finite()) || error > FLED * began {
                ended = Some((DIVERGED, epoch));
                break;
            }
            look.extend(numbers.map(|(name, value)| (named(name, batch), value)));
            if error < params.stop {
                ended = Some(("stopped", epoch));
                break;
            }
            fitting.limits.check()?;
            walk.pass();
        }
        if let Some((how, epoch)) = ended {
            looks[0].insert(named(how, batch), epoch as f64);
        }
    }
    let point = |(epoch, values)| CurvePoint { step: epoch as u64, epoch: epoch as f64, values };
    Ok(looks.into_iter().enumerate().map(point).collect())
}

/// Features of both parts, and the solution that is approached.
pub(super) struct Problem<'a> {
    train: &'a Sample,
    y: Array1<f64>,
    truth: Array1<f64>,
    phi: Array2<f64>,
    test_phi: Array2<f64>,
    /// `w* = Φ⁺ y`.
    pub(super) best: Array1<f64>,
    pub(super) rank: usize,
}

impl<'a> Problem<'a> {
    /// With so many features, whose frequencies have the deviation `std`.
    pub(super) fn new(
        parts: &'a Parts,
        features: usize,
        std: f64,
        streams: &Streams,
    ) -> Result<Self, LearningError> {
        let (Some(y), Some(truth)) = (parts.train.values(), parts.test.values()) else {
            let (method, task) = (PATH.method.name.to_owned(), parts.train.task().name());
            return Err(LearningError::Task { method, task });
        };
        let (y, truth) = (y.to_owned(), truth.to_owned());
        let draw = Draw::new(features, std, parts.train.features(), streams);
        let phi = draw.features(parts.train.inputs());
        let test_phi = draw.features(parts.test.inputs());
        let right = y.view().insert_axis(Axis(1));
        let solved = minimum_norm_solve(phi.view(), right, None).map_err(|error| {
            let operation = "least squares on random features";
            LearningError::Numerical { operation, reason: error.to_string() }
        })?;
        let best = solved.x.column(0).to_owned();
        Ok(Self { train: &parts.train, y, truth, phi, test_phi, best, rank: solved.rank })
    }

    pub(super) fn test_errors(&self, weights: &Array1<f64>) -> Array1<f64> {
        self.test_phi.dot(weights) - &self.truth
    }

    fn look(&self, weights: ArrayView1<'_, f64>) -> [(&'static str, f64); 3] {
        let off = &weights - &self.best;
        let apart = self.test_phi.dot(&off);
        [
            ("distance", mean_square(&apart).sqrt()),
            ("parameters", off.dot(&off).sqrt() / off.len() as f64),
            ("mse", mean_square(&self.test_errors(&weights.to_owned()))),
        ]
    }

    /// Runs over the first `rows` rows only.
    fn walk(
        &self,
        params: &Params,
        batch: usize,
        rate: f64,
        rows: usize,
        streams: &Streams,
    ) -> Walk<'_> {
        let big_m = self.best.len();
        let (optimiser, weights) = match params.algorithm {
            Algorithm::Sgd => (Optimiser::Sgd, Array1::zeros(big_m)),
            Algorithm::Adam => {
                let mut rng = streams.rng("start");
                let start = (0..big_m).map(|_| rng.sample::<f64, _>(StandardNormal)).collect();
                (Optimiser::Adam, start)
            }
        };
        Walk {
            phi: self.phi.slice(s![..rows, ..]),
            y: self.y.slice(s![..rows]),
            weights,
            batch: batch.min(rows),
            // The printed step drops the gradient's factor 2.
            scale: if params.algorithm == Algorithm::Sgd { 1.0 } else { 2.0 },
            rate,
            optimiser,
            memory: Memory::new(optimiser, big_m),
            gradient: vec![0.0; big_m],
            with_replacement: params.algorithm == Algorithm::Sgd,
            order: (0..rows).collect(),
            rng: streams.rng("rows"),
            step: 0,
        }
    }

    /// The step of the grid with the smallest error on the last fifth of the training rows after
    /// training on the others.
    fn tuned(
        &self,
        params: &Params,
        batch: usize,
        fitting: &Fitting<'_>,
    ) -> Result<f64, LearningError> {
        let rows = self.train.rows();
        let kept = rows - rows / 5;
        let (held_phi, held_y) = (self.phi.slice(s![kept.., ..]), self.y.slice(s![kept..]));
        let streams = fitting.streams.child("tuning").child(&format!("batch {batch}"));
        let mut best = (f64::INFINITY, None);
        for &rate in &params.grid {
            let mut walk = self.walk(params, batch, rate, kept, &streams);
            for _ in 0..params.epochs {
                fitting.limits.check()?;
                walk.pass();
                if !walk.weights.iter().all(|w| w.is_finite()) {
                    break;
                }
            }
            let error = mean_square(&(held_phi.dot(&walk.weights) - held_y));
            if error < best.0 {
                best = (error, Some(rate));
            }
        }
        let smallest = params.grid.iter().copied().fold(f64::INFINITY, f64::min);
        best.1.ok_or_else(|| LearningError::diverged(1, f64::INFINITY, &[("grid", smallest)]))
    }
}

/// One run of one batch size.
struct Walk<'a> {
    phi: ArrayView2<'a, f64>,
    y: ArrayView1<'a, f64>,
    weights: Array1<f64>,
    batch: usize,
    scale: f64,
    rate: f64,
    optimiser: Optimiser,
    memory: Memory<f64>,
    gradient: Vec<f64>,
    with_replacement: bool,
    order: Vec<usize>,
    rng: rand_chacha::ChaCha8Rng,
    step: usize,
}

impl Walk<'_> {
    /// One pass over as many rows as there are.
    fn pass(&mut self) {
        let rows = self.order.len();
        if self.with_replacement {
            let rng = &mut self.rng;
            self.order.fill_with(|| rng.gen_range(0..rows));
        } else {
            self.order.shuffle(&mut self.rng);
        }
        for batch in self.order.chunks(self.batch) {
            self.step += 1;
            self.gradient.fill(0.0);
            let mut gradient = ndarray::ArrayViewMut1::from(&mut self.gradient[..]);
            for &row in batch {
                let phi = self.phi.row(row);
                let residual = phi.dot(&self.weights) - self.y[row];
                gradient.scaled_add(self.scale * residual / batch.len() as f64, &phi);
            }
            let weights = self.weights.as_slice_mut().expect("a vector of its own is contiguous");
            let step = self.optimiser.step(self.rate, self.step);
            step.update(weights, &self.gradient, self.memory.all());
        }
    }
}

/// `φ(x) = cos(Oᵀx + b)/√M` with its frequencies and phases.
struct Draw {
    frequencies: Array2<f64>,
    phases: Array1<f64>,
}

impl Draw {
    fn new(features: usize, std: f64, d: usize, streams: &Streams) -> Self {
        let mut rng = streams.rng("frequencies");
        let normal = || std * rng.sample::<f64, _>(StandardNormal);
        let frequencies = Array2::from_shape_simple_fn((d, features), normal);
        let mut rng = streams.rng("phases");
        let phases = Array1::from_shape_simple_fn(features, || rng.gen_range(0.0..TAU));
        Self { frequencies, phases }
    }

    fn features(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let shape = (inputs.nrows(), self.phases.len());
        let mut angles = Array2::zeros(shape);
        angles += &self.phases;
        product(1.0, inputs, self.frequencies.view(), 1.0, angles.view_mut());
        let mut features = Array2::zeros(shape);
        let (from, to) = (angles.as_slice(), features.as_slice_mut());
        cos(from.expect("contiguous"), to.expect("contiguous"));
        features / (self.phases.len() as f64).sqrt()
    }
}

pub(super) fn mean_square(values: &Array1<f64>) -> f64 {
    values.dot(values) / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_datasets::{Dataset, Library};
    use mercer_harness::{Protocol, SplitRule, prepare};

    fn dataset(name: &str) -> Dataset {
        Library::of_folders([]).unwrap().load(name).unwrap()
    }

    fn few_rows(rows: usize) -> Parts {
        let split = Some(SplitRule::Official { train: Some(rows) });
        let protocol = Protocol { split, ..Protocol::default() };
        prepare(&dataset("rftk-slope"), &protocol, &Streams::root(1)).unwrap()
    }

    fn curve(params: &Params) -> Vec<CurvePoint> {
        run(&few_rows(400), &Settings::of(params), &mut Fitting::seeded(3)).unwrap()
    }

    /// Steps as they are printed, written with matrices.
    #[test]
    fn passes_are_the_printed_steps_on_the_drawn_rows() {
        let (parts, streams) = (few_rows(400), Streams::root(3));
        let params = Params { features: 6, std: 0.5, ..Params::default() };
        let problem = Problem::new(&parts, params.features, params.std, &streams).unwrap();
        let (batch, rate) = (50, 0.7);
        let mut walk = problem.walk(&params, batch, rate, 400, &streams);
        let (mut w, mut rng) = (Array1::<f64>::zeros(6), streams.rng("rows"));
        for _ in 0..3 {
            walk.pass();
            let order: Vec<usize> = (0..400).map(|_| rng.gen_range(0..400)).collect();
            for rows in order.chunks(batch) {
                let (phi, y) = (problem.phi.select(Axis(0), rows), problem.y.select(Axis(0), rows));
                let residual = phi.dot(&w) - y;
                w = w - phi.t().dot(&residual) * (rate / batch as f64);
            }
        }
        assert!((&walk.weights - &w).iter().all(|off| off.abs() < 1e-12), "{} {w}", walk.weights);
        assert!(w.iter().any(|w| w.abs() > 0.1), "the steps move the weights: {w}");
    }

    /// The authors' script subtracts targets (`b`) from predictions (`b × 1`): every prediction from every
    /// target. But for a constant that is the squared distance to the mean target of the batch, and its
    /// gradient vanishes where all predictions are that mean.
    #[test]
    fn a_loss_over_all_pairs_of_a_batch_fits_the_mean_target() {
        let targets = ndarray::array![0.5, -1.0, 2.0, 4.5];
        let mean = targets.mean().unwrap();
        let spread = targets.mapv(|y: f64| (y - mean).powi(2)).mean().unwrap();
        let loss = |predictions: &Array1<f64>| {
            let column = predictions.view().insert_axis(Axis(1));
            (&column - &targets).mapv(|r| r * r).mean().unwrap()
        };
        let predictions = ndarray::array![1.0, 0.0, -2.0, 0.25];
        let to_mean = predictions.mapv(|p: f64| (p - mean).powi(2)).mean().unwrap();
        assert!((loss(&predictions) - to_mean - spread).abs() < 1e-12);
        // The targets themselves, which the squared loss would give 0, are no better than any order of them.
        let mut turned = targets.clone();
        turned.invert_axis(Axis(0));
        assert!((loss(&targets) - loss(&turned)).abs() < 1e-12);
        assert!((loss(&targets) - 2.0 * spread).abs() < 1e-12);
        assert!((loss(&Array1::from_elem(4, mean)) - spread).abs() < 1e-12);
    }

    #[test]
    fn many_passes_come_nearer_to_the_solution() {
        let params = Params {
            features: 6,
            std: 0.5,
            batches: vec![400],
            rates: vec![1.0],
            epochs: 4000,
            ..Params::default()
        };
        let curve = curve(&params);
        let at = |epoch: usize, name: &str| curve[epoch].values[&named(name, 400)];
        assert!(at(4000, "distance") < 0.5 * at(0, "distance"), "{}", at(0, "distance"));
        assert!(at(4000, "parameters") < at(0, "parameters"));
    }

    #[test]
    fn a_step_that_diverges_is_not_chosen_and_leaves_no_value() {
        let params = Params {
            features: 20,
            batches: vec![1, 50],
            grid: vec![1e-2, 1.0, 1e3],
            epochs: 5,
            ..Params::default()
        };
        let first = curve(&params);
        for batch in [1, 50] {
            assert!(first[0].values[&named("rate", batch)] < 1e3);
            assert!(first[5].values.contains_key(&named("mse", batch)));
        }
        assert_eq!(first, curve(&params), "the same seed gives the same curve");
        let diverging = Params { rates: vec![1e3, 1e3], epochs: 300, ..params };
        let curve = curve(&diverging);
        for batch in [1, 50] {
            let at = curve[0].values[&named(DIVERGED, batch)] as usize;
            assert!((1..=300).contains(&at), "{batch}: {at}");
            for (epoch, look) in curve.iter().enumerate() {
                assert_eq!(look.values.contains_key(&named("mse", batch)), epoch < at, "{epoch}");
            }
        }
        assert!(curve.iter().flat_map(|look| look.values.values()).all(|value| value.is_finite()));
        assert!(!first[0].values.contains_key(&named(DIVERGED, 1)));
    }

    #[test]
    fn a_run_ends_where_it_is_good_enough() {
        let params = Params {
            batches: vec![10],
            rates: vec![1e-2],
            algorithm: Algorithm::Adam,
            epochs: 60,
            stop: 5.0,
            ..Params::default()
        };
        let curve = curve(&params);
        let errors: Vec<f64> =
            curve.iter().filter_map(|point| point.values.get(&named("mse", 10)).copied()).collect();
        let (last, before) = errors.split_last().unwrap();
        assert_eq!(curve[0].values[&named("stopped", 10)] as usize, errors.len() - 1);
        assert!(*last < 5.0 && before.iter().all(|error| *error >= 5.0), "{errors:?}");
        assert!(errors.len() < 60);
    }
}
