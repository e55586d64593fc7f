//! One trial of what the exact solution is worth: hyper-KRR over all pairs of the labelled points, beside
//! Nyström's with few landmarks and beside the exact solution over fewer points.

use super::known_kernel::{known, of_solver};
use mercer_harness::{Parts, Path};
use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel, total_variance};
use mercer_learning::{
    Cost, Fitting, LearningError, Method, Sample, Settings, Shape, Tasks, accuracy, folds,
};
use mercer_models::hyper_rkhs::{Learned, PairRidge, PairSolver, PairTarget};
use mercer_records::CurvePoint;
use mercer_solvers::{OneVersusOne, Smo, SolverError, Spectrum};
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "exact-or-nystrom",
        title: "hyper-KRR, exactly and by Nyström",
        summary: "what the exact solution over all pairs is worth over few landmarks, one split",
        cites: "this project, after Liu, Shi, Huang, Yang & Suykens (2021)",
        revision: 1,
        tasks: Tasks::Classification,
        cost: Cost {
            fit: "min(n, points)^4 iterations, iterations = 50",
            predict: "-",
            memory: "min(n, points)^2",
        },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// What is learned: the ideal kernel of the labels, and a Gaussian kernel.
pub(crate) const TARGETS: [&str; 2] = ["ideal", "gaussian"];

const FOLDS: usize = 5;

/// How the kernel is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Over all pairs of this many parts of the labelled points, one of them kept.
    Exact {
        /// Share of the points: one in so many.
        one_in: usize,
    },
    /// In the span of the pairs of so many of them, over all pairs.
    Nystrom {
        /// `M`.
        landmarks: usize,
    },
}

/// In the order of the table; `exact` is what the others are held against.
pub(crate) const WAYS: [(&str, Way); 7] = [
    ("exact", Way::Exact { one_in: 1 }),
    ("exact-half", Way::Exact { one_in: 2 }),
    ("exact-quarter", Way::Exact { one_in: 4 }),
    ("nystrom-5", Way::Nystrom { landmarks: 5 }),
    ("nystrom-10", Way::Nystrom { landmarks: 10 }),
    ("nystrom-20", Way::Nystrom { landmarks: 20 }),
    ("nystrom-28", Way::Nystrom { landmarks: 28 }),
];

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Labelled points at most, the first of a seeded order of the training rows.
    points: usize,
    /// Test rows at most.
    test_points: usize,
    /// Labelled points that the folds divide, at most.
    tuned_on: usize,
    /// `σ²` in multiples of the total variance.
    widths: Vec<f64>,
    /// `σ_h²` in multiples of `σ²`.
    spreads: Vec<f64>,
    /// Exponents of ten of `λ`.
    lambdas: Vec<i32>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            points: 552,
            test_points: 500,
            tuned_on: 80,
            widths: vec![0.25, 0.5, 1.0],
            spreads: vec![0.25, 1.0, 4.0],
            lambdas: (-5..=-1).collect(),
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// What is tried, and on how many points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    /// Labelled points that the folds divide, at most.
    pub tuned_on: usize,
    /// `σ²` in multiples of the total variance.
    pub widths: Vec<f64>,
    /// `σ_h²` in multiples of `σ²`.
    pub spreads: Vec<f64>,
    /// Exponents of ten of `λ`.
    pub lambdas: Vec<i32>,
}

/// What is tuned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    pub width: f64,
    pub spread: f64,
    pub lambda: f64,
}

/// Points with their classes.
pub(super) struct Labelled {
    pub points: Array2<f64>,
    pub labels: Vec<u32>,
}

impl Labelled {
    /// At most so many rows, the first of a seeded order.
    pub(super) fn of(sample: &Sample, most: usize, stream: &str, fitting: &Fitting<'_>) -> Self {
        let mut rows: Vec<usize> = (0..sample.rows()).collect();
        rows.shuffle(&mut fitting.streams.rng(stream));
        rows.truncate(most);
        let labels = sample.labels().unwrap_or_default().to_vec();
        Self { points: sample.inputs().to_owned(), labels }.rows(&rows)
    }

    fn rows(&self, rows: &[usize]) -> Self {
        Self {
            points: self.points.select(Axis(0), rows),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
        }
    }

    fn first(&self, most: usize) -> Self {
        self.rows(&(0..self.labels.len().min(most)).collect::<Vec<_>>())
    }

    /// The target on the pairs of these points: the ideal kernel of the labels, or a known one, of the given
    /// variance if it has one.
    pub(super) fn target(&self, name: &str, variance: f64) -> Array2<f64> {
        if name != TARGETS[0] {
            let values = known(name, variance, self.points.view(), self.points.view());
            return (&values + &values.t()) * 0.5;
        }
        let n = self.labels.len();
        let sign = |same: bool| if same { 1.0 } else { -1.0 };
        Array2::from_shape_fn((n, n), |(i, j)| sign(self.labels[i] == self.labels[j]))
    }
}

fn run(
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse(PATH.method.name)?;
    let labelled = Labelled::of(&parts.train, params.points, "labelled", fitting);
    let test = Labelled::of(&parts.test, params.test_points, "test", fitting);
    let grid = Grid {
        tuned_on: params.tuned_on,
        widths: params.widths,
        spreads: params.spreads,
        lambdas: params.lambdas,
    };
    let m = labelled.labels.len();
    let mut values = BTreeMap::from([
        ("points".to_owned(), m as f64),
        ("test points".to_owned(), test.labels.len() as f64),
    ]);
    for target in TARGETS {
        let mut exact = None;
        for (name, way) in WAYS {
            fitting.limits.check()?;
            // Fewer points are learned from with what is chosen for all of them.
            let choice = match (way, exact) {
                (Way::Exact { .. }, Some(choice)) => choice,
                _ => tuned(&labelled, target, way, &grid, fitting)?,
            };
            if way == WAYS[0].1 {
                exact = Some(choice);
            }
            for (what, value) in measure(&labelled, &test, target, way, choice, &grid, fitting)? {
                values.insert(format!("{what} {name} {target}"), value);
            }
        }
    }
    Ok(vec![CurvePoint { step: m as u64, epoch: 0.0, values }])
}

/// The kernels learned from these points, one a ridge.
pub(super) fn learn(
    own: &Labelled,
    target: &str,
    way: Way,
    (width, spread): (f64, f64),
    lambdas: &[f64],
    fitting: &Fitting<'_>,
) -> Result<Vec<Learned>, LearningError> {
    let total = total_variance(own.points.view());
    let hyper = GaussianHyper::constructed(width * total, spread * width * total)
        .map(HyperKernel::Gaussian)
        .map_err(|error| LearningError::Numerical {
            operation: "building a hyper-kernel",
            reason: error.to_string(),
        })?;
    let values = own.target(target, total);
    let y = PairTarget::matrix(values.view())?;
    let ridge = match way {
        Way::Exact { .. } => PairRidge {
            solver: PairSolver::ConjugateGradients,
            tolerance: 1e-6,
            ..PairRidge::default()
        },
        Way::Nystrom { landmarks } => PairRidge {
            solver: PairSolver::Nystrom,
            landmarks: Some(landmarks.min(own.labels.len())),
            ..PairRidge::default()
        },
    };
    ridge.learn_path(&hyper, own.points.view(), &y, lambdas, fitting)
}

/// Of few of the points, those out of each fold and the others.
pub(super) fn divided(
    labelled: &Labelled,
    tuned_on: usize,
    fitting: &Fitting<'_>,
) -> Vec<[Labelled; 2]> {
    let few = labelled.first(tuned_on);
    let held = folds(&few.labels, FOLDS, &mut fitting.streams.rng("folds"));
    let part = |fold: usize| {
        let (out, kept): (Vec<usize>, Vec<usize>) =
            (0..few.labels.len()).partition(|&row| held[row] == fold);
        [few.rows(&out), few.rows(&kept)]
    };
    (0..FOLDS).map(part).collect()
}

/// Width, spread and ridge with the least squared error on the pairs of held-out points.
pub(super) fn tuned(
    labelled: &Labelled,
    target: &str,
    way: Way,
    grid: &Grid,
    fitting: &Fitting<'_>,
) -> Result<Choice, LearningError> {
    let lambdas: Vec<f64> = grid.lambdas.iter().map(|&power| 10f64.powi(power)).collect();
    let parts = divided(labelled, grid.tuned_on, fitting);
    let mut best: Option<(f64, Choice)> = None;
    for &width in &grid.widths {
        for &spread in &grid.spreads {
            let mut errors = vec![0.0; lambdas.len()];
            for [out, kept] in &parts {
                let truth = out.target(target, total_variance(kept.points.view()));
                let learned = learn(kept, target, way, (width, spread), &lambdas, fitting)?;
                for (learned, error) in learned.iter().zip(&mut errors) {
                    let gap = learned.kernel.gram(out.points.view(), fitting.threads) - &truth;
                    *error += gap.iter().map(|v| v * v).sum::<f64>();
                }
            }
            for (&lambda, &error) in lambdas.iter().zip(&errors) {
                if best.is_none_or(|(least, _)| error < least) {
                    best = Some((error, Choice { width, spread, lambda }));
                }
            }
        }
    }
    let nothing = || LearningError::Setting {
        name: "lambdas",
        value: "none, or no widths or spreads".to_owned(),
        must: "at least one of each",
    };
    best.map(|(_, choice)| choice).ok_or_else(nothing)
}

/// Error on the pairs of the test points, and a machine with the kernel.
fn measure(
    labelled: &Labelled,
    test: &Labelled,
    target: &str,
    way: Way,
    choice: Choice,
    grid: &Grid,
    fitting: &Fitting<'_>,
) -> Result<BTreeMap<&'static str, f64>, LearningError> {
    let own = match way {
        Way::Exact { one_in } => labelled.first(labelled.labels.len() / one_in),
        Way::Nystrom { .. } => labelled.first(usize::MAX),
    };
    let at = (choice.width, choice.spread);
    let learned = learn(&own, target, way, at, &[choice.lambda], fitting)?.remove(0);
    let kernel = &learned.kernel;
    let truth = test.target(target, total_variance(own.points.view()));
    let gap = kernel.gram(test.points.view(), fitting.threads) - &truth;
    let rms = |m: &Array2<f64>| (m.iter().map(|v| v * v).sum::<f64>() / m.len() as f64).sqrt();
    let cost = tuned_cost(labelled, target, way, choice, grid, fitting)?;
    let (right, spectrum) = classified(kernel, labelled, test, cost, fitting)?;
    let open = learned.convergence.is_open();
    Ok(BTreeMap::from([
        ("rmse", rms(&gap)),
        ("relative rmse", rms(&gap) / rms(&truth)),
        ("accuracy", 100.0 * right),
        ("negative mass", spectrum.negative_share()),
        ("width", choice.width),
        ("spread", choice.spread),
        ("lambda", choice.lambda),
        ("cost", cost),
        ("iterations", learned.facts.get("iterations").copied().unwrap_or(0.0)),
        ("open", f64::from(u8::from(open))),
    ]))
}

/// Share of the test points that a machine with the kernel on the labelled points gets right, and the
/// spectrum of the kernel on these.
fn classified(
    kernel: &LearnedKernel,
    labelled: &Labelled,
    test: &Labelled,
    cost: f64,
    fitting: &Fitting<'_>,
) -> Result<(f64, Spectrum), LearningError> {
    let gram = kernel.gram(labelled.points.view(), fitting.threads);
    let machine = OneVersusOne::fit(gram.view(), &labelled.labels, cost, &smo())
        .map_err(|error| of_solver(&error))?;
    let cross = kernel.block(test.points.view(), labelled.points.view(), fitting.threads);
    let spectrum = Spectrum::of(gram.view()).map_err(|error| of_solver(&error))?;
    Ok((accuracy(&machine.classes(cross.view()), &test.labels), spectrum))
}

fn smo() -> Smo {
    Smo { max_steps: Some(200_000), ..Smo::default() }
}

/// The cost of the machine, by the same folds; the kernel is learned anew without each.
fn tuned_cost(
    labelled: &Labelled,
    target: &str,
    way: Way,
    choice: Choice,
    grid: &Grid,
    fitting: &Fitting<'_>,
) -> Result<f64, LearningError> {
    let costs: Vec<f64> = (-5..=5).map(|power| 2f64.powi(power)).collect();
    let mut right = vec![0.0; costs.len()];
    for [out, kept] in &divided(labelled, grid.tuned_on, fitting) {
        if out.labels.is_empty() || kept.labels.iter().all(|label| *label == kept.labels[0]) {
            continue;
        }
        let at = (choice.width, choice.spread);
        let kernel = learn(kept, target, way, at, &[choice.lambda], fitting)?.remove(0).kernel;
        let gram = kernel.gram(kept.points.view(), fitting.threads);
        let cross = kernel.block(out.points.view(), kept.points.view(), fitting.threads);
        let check = || Ok::<(), SolverError>(());
        let path = OneVersusOne::path(gram.view(), &kept.labels, &costs, &smo(), check)
            .map_err(|error| of_solver(&error))?;
        for (machine, right) in path.iter().zip(&mut right) {
            *right +=
                accuracy(&machine.classes(cross.view()), &out.labels) * out.labels.len() as f64;
        }
    }
    // The smallest of the best.
    let best = (0..costs.len()).rev().max_by(|&a, &b| right[a].total_cmp(&right[b]));
    Ok(best.map_or(1.0, |best| costs[best]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Streams;
    use ndarray::ArrayView2;

    fn parts() -> Parts {
        let of = |rows, stream: &str| {
            mercer_datasets::stand_in(rows, 3, 2, &mut Streams::root(4).rng(stream))
        };
        Parts { train: of(60, "train"), test: of(30, "test") }
    }

    fn few() -> Settings {
        Settings::new()
            .with("tuned_on", 30)
            .with("widths", vec![0.5])
            .with("spreads", vec![1.0])
            .with("lambdas", vec![-2])
    }

    #[test]
    fn every_way_is_measured_on_both_targets() {
        let curve = run(&parts(), &few(), &mut Fitting::seeded(1)).unwrap();
        let [point] = &curve[..] else { panic!("{curve:?}") };
        assert_eq!(point.step, 60);
        for target in TARGETS {
            for (name, _) in WAYS {
                let of = |what: &str| point.values[&format!("{what} {name} {target}")];
                assert!(of("rmse") > 0.0 && of("rmse").is_finite());
                assert!((0.0..=100.0).contains(&of("accuracy")));
                assert!((0.0..=1.0).contains(&of("negative mass")));
                assert!(of("open") == 0.0, "{name} {target}");
            }
        }
        // A Gaussian target is smooth: more landmarks come nearer to what all pairs learn.
        let of = |name: &str| point.values[&format!("rmse {name} gaussian")];
        assert!(of("nystrom-28") < of("nystrom-5"));
        assert!((of("nystrom-28") - of("exact")).abs() < 0.1 * of("nystrom-5"));
    }

    /// With every labelled point a landmark, Nyström's span is that of all pairs.
    #[test]
    fn with_all_points_as_landmarks_the_two_are_one() {
        let all = parts();
        let labelled = Labelled {
            points: all.train.inputs().slice(ndarray::s![..40, ..]).to_owned(),
            labels: all.train.labels().unwrap()[..40].to_vec(),
        };
        let test: ArrayView2<'_, f64> = all.test.inputs();
        for target in TARGETS {
            let of = |way| {
                let learned =
                    learn(&labelled, target, way, (0.5, 1.0), &[1e-2], &Fitting::seeded(1));
                learned.unwrap().remove(0).kernel.gram(test, 1)
            };
            let (exact, nystrom) =
                (of(Way::Exact { one_in: 1 }), of(Way::Nystrom { landmarks: 40 }));
            let gap = (&exact - &nystrom).mapv(f64::abs).fold(0.0f64, |a, &b| a.max(b));
            assert!(gap < 1e-3, "{target}: {gap}");
        }
    }

    #[test]
    fn the_choice_is_that_of_the_least_error_on_pairs_of_held_out_points() {
        let all = parts();
        let labelled = Labelled {
            points: all.train.inputs().to_owned(),
            labels: all.train.labels().unwrap().to_vec(),
        };
        // A ridge that leaves nothing of the kernel loses against one that fits.
        let grid =
            Grid { tuned_on: 40, widths: vec![1.0], spreads: vec![1.0], lambdas: vec![-3, 6] };
        for (_, way) in [WAYS[0], WAYS[4]] {
            let choice = tuned(&labelled, TARGETS[1], way, &grid, &Fitting::seeded(2)).unwrap();
            assert_eq!(choice, Choice { width: 1.0, spread: 1.0, lambda: 1e-3 });
        }
        let none = Grid { lambdas: Vec::new(), ..grid };
        assert!(tuned(&labelled, TARGETS[1], WAYS[0].1, &none, &Fitting::seeded(2)).is_err());
    }
}
