//! One trial of Table 1: a known kernel is learned from labelled points, then compared with itself
//! on pairs of test points, and used by a machine on unlabelled and on test points.
//!
//! Of the rows of the training part half are labelled and half unlabelled, so that a share of 0.8
//! gives the paper's 40/40/20.

use mercer_harness::{Parts, Path};
use mercer_kernels::{GaussianHyper, HyperKernel, Kernel, std_of_bandwidth, total_variance};
use mercer_learning::{
    Cost, Fitting, LearningError, Method, Settings, Shape, Tasks, accuracy, folds,
};
use mercer_models::hyper_rkhs::{Learned, PairRidge, PairSolver, PairSvr, PairTarget};
use mercer_records::{CurvePoint, OPEN};
use mercer_solvers::{OneVersusOne, Smo, SolverError, Spectrum, choose_cost};
use ndarray::{Array2, ArrayView2, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "known-kernel",
        title: "regression of a known kernel",
        summary: "how well a known kernel is learned from pairs of labelled points, one split",
        cites: "Liu, Shi, Huang, Yang & Suykens (2021)",
        revision: 3,
        tasks: Tasks::Classification,
        cost: Cost {
            // Half of the rows are labelled; two kernels, each by three regressions.
            fit: "1500 s^4 + 2 (min(25 m^4, m 300 20^4/12) + min(m^4, 5 pairs^2)), s = 0.8 min(m, tuned_on), m = n/2",
            predict: "-",
            memory: "n^2",
        },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// `n_test / n_train` behind a value of the curves, of a split's: half of the training rows are labelled and fitted,
/// and the other half is what `unlabelled` is tested on.
pub(crate) fn test_over_train(of_split: f64, value: &str) -> f64 {
    if value == "unlabelled" { 1.0 } else { 2.0 * of_split }
}

/// The kernels that are learned.
pub(crate) const TARGETS: [&str; 2] = ["gaussian", "log"];
/// How, and the kernel itself; in the order of the points of a curve, target by target.
pub(crate) const WAYS: [&str; 4] = ["known kernel", "Pan2017", "hyper-KRR", "hyper-SVR"];

const FOLDS: usize = 5;
/// Name of the number of regressions of the search, and of searches of the machine's cost, that stopped short.
pub(crate) const CUT_SHORT: &str = "cut short";

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Whether the hyper-kernel is the printed or the constructed one.
    printed: bool,
    /// `σ_h²` in multiples of `σ²`.
    spreads: Vec<f64>,
    /// Exponents of ten of `λ`.
    lambdas: Vec<i32>,
    /// Exponents of ten of the regression's `C`.
    pair_costs: Vec<i32>,
    /// Half-width of its tube.
    epsilon: f64,
    /// Labelled points that the folds divide, at most.
    tuned_on: usize,
    /// Labelled points up to which all pairs are used.
    exact_points: usize,
    /// Nyström points beyond, and of the non-negative variant.
    landmarks: usize,
    /// Pairs of the regression with a tube beyond.
    pairs: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            printed: false,
            spreads: vec![0.25, 0.5, 1.0, 2.0, 4.0],
            lambdas: (-5..=5).collect(),
            pair_costs: (-5..=5).collect(),
            epsilon: 0.1,
            tuned_on: 100,
            exact_points: 276,
            landmarks: 20,
            pairs: 20_000,
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// `K` of the target's name; `variance` is the total variance of the labelled points.
pub(super) fn known(
    name: &str,
    variance: f64,
    x: ArrayView2<'_, f64>,
    z: ArrayView2<'_, f64>,
) -> Array2<f64> {
    if name == "gaussian" {
        return Kernel::Gaussian { std: std_of_bandwidth(variance.sqrt()) }.cross_gram(x, z);
    }
    Array2::from_shape_fn((x.nrows(), z.nrows()), |(i, j)| {
        let squared: f64 = x.row(i).iter().zip(z.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
        -squared.sqrt().ln_1p()
    })
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let labels = parts.train.labels().unwrap_or_default();
    let mut rows: Vec<usize> = (0..parts.train.rows()).collect();
    rows.shuffle(&mut fitting.streams.rng("labelled"));
    let (labelled, unlabelled) = rows.split_at(rows.len() / 2);
    let of = |rows: &[usize]| {
        let own: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
        (parts.train.inputs().select(Axis(0), rows), own)
    };
    let sets = Sets {
        labelled: of(labelled),
        unlabelled: of(unlabelled),
        test: (parts.test.inputs().to_owned(), parts.test.labels().unwrap_or_default().to_vec()),
    };
    let mut curve = Vec::new();
    for target in TARGETS {
        for way in WAYS {
            fitting.limits.check()?;
            let step = curve.len() as u64;
            let values = sets.measure(target, way, &params, fitting)?;
            curve.push(CurvePoint { step, epoch: 0.0, values });
        }
    }
    Ok(curve)
}

type Labelled = (Array2<f64>, Vec<u32>);

struct Sets {
    labelled: Labelled,
    unlabelled: Labelled,
    test: Labelled,
}

/// Symmetric values on a set, or between two.
type Values<'a> = Box<dyn Fn(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Array2<f64> + 'a>;

impl Sets {
    fn measure(
        &self,
        target: &str,
        way: &str,
        params: &Params,
        fitting: &Fitting<'_>,
    ) -> Result<BTreeMap<String, f64>, LearningError> {
        let (points, labels) = &self.labelled;
        let variance = total_variance(points.view());
        let mut values = BTreeMap::new();
        let (mut open, mut cut_short) = (0, 0);
        let truth = known(target, variance, self.test.0.view(), self.test.0.view());
        let kernel: Values<'_> = if way == WAYS[0] {
            Box::new(move |x, z| known(target, variance, x, z))
        } else {
            let found = self.tuned(target, way, params, fitting)?;
            let Tuned { spread, strength: chosen, on, .. } = found;
            cut_short += found.cut_short;
            let strength = if way == WAYS[3] {
                PairSvr::carried_over(chosen, on as f64, points.nrows() as f64)
            } else {
                chosen
            };
            let Learned { kernel: learned, convergence, .. } =
                learn(points.view(), target, variance, way, spread, &[strength], params, fitting)?
                    .remove(0);
            open += usize::from(convergence.warning().is_some());
            let gap = learned.gram(self.test.0.view(), fitting.threads) - &truth;
            let rms = |m: &Array2<f64>| m.iter().map(|v| v * v).sum::<f64>() / m.len() as f64;
            values.insert("rmse".to_owned(), rms(&gap).sqrt());
            values.insert("relative rmse".to_owned(), (rms(&gap) / rms(&truth)).sqrt());
            values.insert("spread".to_owned(), spread);
            values.insert("strength".to_owned(), chosen);
            let threads = fitting.threads;
            Box::new(move |x, z| learned.block(x, z, threads))
        };
        let gram = kernel(points.view(), points.view());
        let gram = (&gram + &gram.t()) * 0.5;
        let (machine, chosen) =
            fitted(gram.view(), labels, &mut values, fitting).map_err(|error| of_solver(&error))?;
        cut_short += usize::from(!chosen);
        for (name, (points, truth)) in [("unlabelled", &self.unlabelled), ("test", &self.test)] {
            let said = machine.classes(kernel(points.view(), self.labelled.0.view()).view());
            values.insert(name.to_owned(), accuracy(&said, truth));
        }
        open += usize::from(!machine.converged);
        values.insert(OPEN.to_owned(), open as f64);
        values.insert(CUT_SHORT.to_owned(), cut_short as f64);
        Ok(values)
    }

    /// What has the least error on pairs of held-out points.
    fn tuned(
        &self,
        target: &str,
        way: &str,
        params: &Params,
        fitting: &Fitting<'_>,
    ) -> Result<Tuned, LearningError> {
        let few: Vec<usize> = (0..self.labelled.1.len().min(params.tuned_on)).collect();
        let points = self.labelled.0.select(Axis(0), &few);
        let labels = &self.labelled.1[..few.len()];
        let held = folds(labels, FOLDS, &mut fitting.streams.rng("folds"));
        let exponents = if way == WAYS[3] { &params.pair_costs } else { &params.lambdas };
        let strengths: Vec<f64> = exponents.iter().map(|&power| 10f64.powi(power)).collect();
        let on = few.len() * (FOLDS - 1) / FOLDS;
        let (mut least, mut cut_short) = (f64::INFINITY, 0);
        let mut best = (1.0, strengths[0]);
        for &spread in &params.spreads {
            let mut errors = vec![0.0; strengths.len()];
            for fold in 0..FOLDS {
                let (out, kept): (Vec<usize>, Vec<usize>) =
                    (0..few.len()).partition(|&row| held[row] == fold);
                let (train, test) = (points.select(Axis(0), &kept), points.select(Axis(0), &out));
                let variance = total_variance(train.view());
                let truth = known(target, variance, test.view(), test.view());
                let learned = learn(
                    train.view(),
                    target,
                    variance,
                    way,
                    spread,
                    &strengths,
                    params,
                    fitting,
                )?;
                let own = learned.iter().map(|learned| {
                    cut_short += usize::from(learned.convergence.is_open());
                    let gap = learned.kernel.gram(test.view(), fitting.threads) - &truth;
                    gap.iter().map(|v| v * v).sum::<f64>()
                });
                let own: Vec<f64> = own.collect();
                // The last kernel is that of all strengths from there on.
                for (place, error) in errors.iter_mut().enumerate() {
                    *error += own[place.min(own.len() - 1)];
                }
            }
            for (&strength, &error) in strengths.iter().zip(&errors) {
                if error < least {
                    (least, best) = (error, (spread, strength));
                }
            }
        }
        let (spread, strength) = best;
        Ok(Tuned { spread, strength, on, cut_short })
    }
}

/// What a search chose.
struct Tuned {
    /// `σ_h²/σ²`.
    spread: f64,
    /// `λ`, or the `C` of the regression with a tube on so many points.
    strength: f64,
    /// Points that a fold learns from.
    on: usize,
    /// Regressions that stopped before their tolerance.
    cut_short: usize,
}

/// The kernels learned from these points, one a strength but that the last may be that of all from there on.
#[expect(clippy::too_many_arguments, reason = "one regression is all of these")]
fn learn(
    points: ArrayView2<'_, f64>,
    target: &str,
    variance: f64,
    way: &str,
    spread: f64,
    strengths: &[f64],
    params: &Params,
    fitting: &Fitting<'_>,
) -> Result<Vec<Learned>, LearningError> {
    let build = if params.printed { GaussianHyper::printed } else { GaussianHyper::constructed };
    let hyper = build(variance, spread * variance).map_err(|error| LearningError::Numerical {
        operation: "building a hyper-kernel",
        reason: error.to_string(),
    })?;
    let hyper = HyperKernel::Gaussian(hyper);
    let values = known(target, variance, points, points);
    let values = (&values + &values.t()) * 0.5;
    let y = PairTarget::matrix(values.view())?;
    if way == WAYS[3] {
        let svr = PairSvr {
            cost: strengths[0],
            ridge: None,
            epsilon: params.epsilon,
            exact_points: params.exact_points,
            landmarks: params.landmarks.min(points.nrows()),
            pairs: params.pairs,
            tolerance: 1e-2,
            steps: 300_000,
        };
        if points.nrows() > params.exact_points {
            let learn = |&cost: &f64| PairSvr { cost, ..svr }.learn(&hyper, points, &y, fitting);
            return strengths.iter().map(learn).collect();
        }
        return svr.learn_path(&hyper, points, &y, strengths, fitting);
    }
    let large = points.nrows() > params.exact_points;
    let few = Some(params.landmarks.min(points.nrows()));
    let (solver, landmarks) = match (way == WAYS[1], large) {
        (true, _) => (PairSolver::NonNegative, few),
        (false, true) => (PairSolver::LinearTime, few),
        (false, false) => (PairSolver::ConjugateGradients, None),
    };
    let ridge = PairRidge { solver, landmarks, tolerance: 1e-5, ..PairRidge::default() };
    ridge.learn_path(&hyper, points, &y, strengths, fitting)
}

/// The machine, its cost by cross-validation over at most 300 of the labelled points, and whether the choice converged.
/// The spectrum of these points is noted.
fn fitted(
    gram: ArrayView2<'_, f64>,
    labels: &[u32],
    values: &mut BTreeMap<String, f64>,
    fitting: &Fitting<'_>,
) -> Result<(OneVersusOne, bool), SolverError> {
    let few: Vec<usize> = (0..labels.len().min(300)).collect();
    let own = gram.select(Axis(0), &few).select(Axis(1), &few);
    let spectrum = Spectrum::of(own.view())?;
    values.insert("smallest eigenvalue".to_owned(), spectrum.smallest());
    values.insert("negative mass".to_owned(), spectrum.negative_share());
    let few_labels = &labels[..few.len()];
    let held = folds(few_labels, FOLDS, &mut fitting.streams.rng("folds"));
    let costs: Vec<f64> = (-5..=5).map(|power| 2f64.powi(power)).collect();
    let smo = Smo { max_steps: Some(200_000), ..Smo::default() };
    let check = || Ok::<(), SolverError>(());
    let choice = choose_cost(own.view(), few_labels, &held, &costs, &smo, check)?;
    Ok((OneVersusOne::fit(gram, labels, choice.cost, &smo)?, choice.converged))
}

pub(super) fn of_solver(error: &SolverError) -> LearningError {
    LearningError::Numerical { operation: "a support vector machine", reason: error.to_string() }
}
