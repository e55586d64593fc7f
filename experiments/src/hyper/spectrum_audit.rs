//! One trial of what is done about negative eigenvalues of a kernel that was learned from pairs.

use super::exact_path::{Grid, Labelled, Way, divided, learn, tuned};
use super::known_kernel::{known, of_solver};
use mercer_harness::{Parts, Path};
use mercer_kernels::{LearnedKernel, total_variance};
use mercer_learning::{Cost, Fitting, LearningError, Method, Settings, Shape, Tasks, accuracy};
use mercer_records::CurvePoint;
use mercer_solvers::{OneVersusOne, PsdCorrection, Smo, SolverError, Spectrum};
use ndarray::{Array2, ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The path as the harness runs it.
pub(crate) const PATH: Path = Path {
    method: Method {
        name: "spectrum-audit",
        title: "negative eigenvalues",
        summary: "a machine with an indefinite kernel as it is, clipped, flipped and shifted, one split",
        cites: "this project, after Liu, Shi, Huang, Yang & Suykens (2021)",
        revision: 2,
        tasks: Tasks::Classification,
        cost: Cost {
            fit: "points^4 iterations, iterations = 50",
            predict: "-",
            memory: "points^2",
        },
        defaults: &defaults,
        ..Path::METHOD
    },
    run,
};

/// The kernels: learned from the ideal kernel of the labels, learned from a logarithmic kernel, and the
/// logarithmic kernel itself.
pub(crate) const KERNELS: [&str; 3] = ["ideal", "log", "log itself"];
/// What is done, by its name in the records; the first is what the others are held against.
pub(crate) const OPTIONS: [(&str, PsdCorrection); 4] = [
    ("as-is", PsdCorrection::AsIs),
    ("clip", PsdCorrection::Clip),
    ("flip", PsdCorrection::Flip),
    ("shift", PsdCorrection::Shift),
];

/// Settings of the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Training rows at most.
    points: usize,
    /// Test rows at most.
    test_points: usize,
    /// Training rows that the folds divide, at most.
    tuned_on: usize,
    /// `σ_h²` in multiples of `σ²`, the total variance.
    spreads: Vec<f64>,
    /// Exponents of ten of `λ`.
    lambdas: Vec<i32>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            points: 276,
            test_points: 1000,
            tuned_on: 80,
            spreads: vec![0.25, 1.0, 4.0],
            lambdas: (-5..=1).collect(),
        }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// Values of a kernel between two sets of points.
type Values<'a> = Box<dyn Fn(ArrayView2<'_, f64>, ArrayView2<'_, f64>) -> Array2<f64> + 'a>;

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
        widths: vec![1.0],
        spreads: params.spreads,
        lambdas: params.lambdas,
    };
    let mut values = BTreeMap::from([
        ("points".to_owned(), labelled.labels.len() as f64),
        ("test points".to_owned(), test.labels.len() as f64),
    ]);
    for name in KERNELS {
        fitting.limits.check()?;
        let kernels = Kernels::of(name, &labelled, &grid, fitting)?;
        let gram = symmetric(&kernels.whole, labelled.points.view());
        let spectrum = Spectrum::of(gram.view()).map_err(|error| of_solver(&error))?;
        let largest = spectrum.values().iter().fold(0.0f64, |a, d| a.max(d.abs()));
        let share = if largest > 0.0 { spectrum.smallest() / largest } else { 0.0 };
        values.insert(format!("smallest {name}"), share);
        values.insert(format!("negative mass {name}"), spectrum.negative_share());
        let centred = centred(gram.view());
        let rest = Spectrum::of(centred.view()).map_err(|error| of_solver(&error))?;
        values.insert(format!("centred negative mass {name}"), rest.negative_share());
        values.insert(format!("constant {name}"), constant_share(gram.view()));
        // The logarithmic kernel itself is the target of the one that is learned from it.
        let variance = total_variance(labelled.points.view());
        let target = labelled.target(if name == KERNELS[0] { name } else { KERNELS[1] }, variance);
        values.insert(format!("target constant {name}"), constant_share(target.view()));
        let cross = (kernels.whole)(test.points.view(), labelled.points.view());
        for (option, how) in OPTIONS {
            let cost = kernels.cost(how, fitting)?;
            let mended = spectrum.mended(how);
            let machine = OneVersusOne::fit(mended.train.view(), &labelled.labels, cost, &smo())
                .map_err(|error| of_solver(&error))?;
            let said = machine.classes(mended.test(cross.view()).view());
            let right = 100.0 * accuracy(&said, &test.labels);
            values.insert(format!("accuracy {option} {name}"), right);
            values.insert(format!("cost {option} {name}"), cost);
            let open = f64::from(u8::from(!machine.converged));
            values.insert(format!("open {option} {name}"), open);
        }
    }
    Ok(vec![CurvePoint { step: labelled.labels.len() as u64, epoch: 0.0, values }])
}

fn smo() -> Smo {
    Smo { max_steps: Some(200_000), ..Smo::default() }
}

fn symmetric(kernel: &Values<'_>, points: ArrayView2<'_, f64>) -> Array2<f64> {
    let values = kernel(points, points);
    (&values + &values.t()) * 0.5
}

/// `HKH` with `H = I − 11ᵀ/n`: all that a machine with a bias sees of a kernel, since its weights
/// times its signs sum to 0.
fn centred(gram: ArrayView2<'_, f64>) -> Array2<f64> {
    let rows = gram.sum_axis(Axis(1)) / gram.nrows() as f64;
    let all = rows.sum() / gram.nrows() as f64;
    Array2::from_shape_fn(gram.dim(), |(i, j)| gram[[i, j]] - rows[i] - rows[j] + all)
}

/// `1 − ‖HKH‖²/‖K‖²`: how much of a symmetric kernel's squared norm centring takes away; 0 of a matrix
/// of zeros.
fn constant_share(gram: ArrayView2<'_, f64>) -> f64 {
    let squares = |values: ArrayView2<'_, f64>| values.iter().map(|k| k * k).sum::<f64>();
    let all = squares(gram);
    if all > 0.0 { 1.0 - squares(centred(gram).view()) / all } else { 0.0 }
}

/// A kernel of all labelled points, and of those kept in each fold with the points of that fold.
struct Kernels<'a> {
    whole: Values<'a>,
    folds: Vec<([Labelled; 2], Values<'a>)>,
}

impl<'a> Kernels<'a> {
    fn of(
        name: &str,
        labelled: &Labelled,
        grid: &Grid,
        fitting: &'a Fitting<'_>,
    ) -> Result<Self, LearningError> {
        let exact = Way::Exact { one_in: 1 };
        let parts = divided(labelled, grid.tuned_on, fitting);
        if name == KERNELS[2] {
            let itself = || -> Values<'a> { Box::new(|x, z| known(KERNELS[1], 1.0, x, z)) };
            let folds = parts.into_iter().map(|part| (part, itself())).collect();
            return Ok(Self { whole: itself(), folds });
        }
        let choice = tuned(labelled, name, exact, grid, fitting)?;
        let one = |own: &Labelled| -> Result<Values<'a>, LearningError> {
            let at = (choice.width, choice.spread);
            let learned = learn(own, name, exact, at, &[choice.lambda], fitting)?.remove(0);
            let kernel: LearnedKernel = learned.kernel;
            let threads = fitting.threads;
            Ok(Box::new(move |x, z| kernel.block(x, z, threads)))
        };
        let whole = one(labelled)?;
        let folds = parts
            .into_iter()
            .map(|part| {
                let kernel = one(&part[1])?;
                Ok((part, kernel))
            })
            .collect::<Result<_, LearningError>>()?;
        Ok(Self { whole, folds })
    }

    /// The cost of the machine with which most held-out points are right; the smallest of the best.
    fn cost(&self, how: PsdCorrection, fitting: &Fitting<'_>) -> Result<f64, LearningError> {
        let costs: Vec<f64> = (-5..=5).map(|power| 2f64.powi(power)).collect();
        let mut right = vec![0.0; costs.len()];
        for ([out, kept], kernel) in &self.folds {
            fitting.limits.check()?;
            if out.labels.is_empty() || kept.labels.iter().all(|label| *label == kept.labels[0]) {
                continue;
            }
            let gram = symmetric(kernel, kept.points.view());
            let spectrum = Spectrum::of(gram.view()).map_err(|error| of_solver(&error))?;
            let mended = spectrum.mended(how);
            let cross = mended.test(kernel(out.points.view(), kept.points.view()).view());
            let check = || Ok::<(), SolverError>(());
            let path = OneVersusOne::path(mended.train.view(), &kept.labels, &costs, &smo(), check)
                .map_err(|error| of_solver(&error))?;
            for (machine, right) in path.iter().zip(&mut right) {
                let said = machine.classes(cross.view());
                *right += accuracy(&said, &out.labels) * out.labels.len() as f64;
            }
        }
        let best = (0..costs.len()).rev().max_by(|&a, &b| right[a].total_cmp(&right[b]));
        Ok(best.map_or(1.0, |best| costs[best]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hyper::exact_path::TARGETS;
    use mercer_learning::{Sample, Streams};

    /// Of `±1` over `p n` and `(1 − p) n` rows, centring leaves `(4 p (1 − p))²` of the squared norm.
    #[test]
    fn the_constant_share_of_an_ideal_kernel_is_known() {
        for (first, n) in [(5, 10), (8, 10), (10, 10)] {
            let sign = |i: usize| if i < first { 1.0 } else { -1.0 };
            let ideal = Array2::from_shape_fn((n, n), |(i, j)| sign(i) * sign(j));
            let p = first as f64 / n as f64;
            let left = (4.0 * p * (1.0 - p)).powi(2);
            assert!((constant_share(ideal.view()) - (1.0 - left)).abs() < 1e-12);
            let rest = centred(ideal.view());
            assert!(rest.sum_axis(Axis(0)).iter().all(|sum| sum.abs() < 1e-12));
        }
        assert_eq!(constant_share(Array2::zeros((3, 3)).view()).to_bits(), 0);
    }

    #[test]
    fn a_logarithmic_kernel_is_indefinite_and_every_option_has_an_accuracy() {
        assert_eq!(TARGETS[0], KERNELS[0]);
        let of = |rows, stream: &str| -> Sample {
            mercer_datasets::stand_in(rows, 3, 2, &mut Streams::root(4).rng(stream))
        };
        let parts = Parts { train: of(50, "train"), test: of(30, "test") };
        let settings = Settings::new()
            .with("tuned_on", 30)
            .with("spreads", vec![1.0])
            .with("lambdas", vec![-4, 0]);
        let curve = run(&parts, &settings, &mut Fitting::seeded(1)).unwrap();
        let values = &curve[0].values;
        for kernel in KERNELS {
            for (option, _) in OPTIONS {
                let right = values[&format!("accuracy {option} {kernel}")];
                assert!((0.0..=100.0).contains(&right));
                assert!(values[&format!("cost {option} {kernel}")] > 0.0);
            }
        }
        // −log(1 + ‖x − x'‖) has no trace: half of the mass of its eigenvalues is negative.
        assert!((values["negative mass log itself"] - 0.5).abs() < 1e-9);
        assert!(values["smallest log itself"] < 0.0);
        // Centred, that kernel has no negative eigenvalue: it is conditionally positive definite.
        assert!(values["centred negative mass log itself"] < 1e-9);
        for (one, other) in [
            ("constant log itself", "target constant log itself"),
            ("target constant log", "target constant log itself"),
        ] {
            assert_eq!(values[one].to_bits(), values[other].to_bits(), "{one}");
        }
        assert!(values["negative mass log"] > 0.1);
    }
}
