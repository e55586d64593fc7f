//! The kernel that `hyper-krr-linear` learns from rows of ijcnn1, against brute force over all their pairs.

use mercer_datasets::{Library, Scaler, Scaling};
use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel, total_variance};
use mercer_learning::{Convergence, Fitting, Settings, find};
use mercer_models::hyper_rkhs::{METHODS, PairRidge, PairSolver, PairTarget};
use ndarray::{ArrayView2, Axis, s};

/// Rows that learn, every one of so many: 6.25 million pairs.
const ROWS: usize = 2500;
/// `σ²` over the total variance, and `λ`: what the records chose, and the smallest ridge of the tuner's space.
const SETTINGS: [(f64, f64); 3] = [(0.25, 1e-3), (0.25, 1e-5), (0.0625, 1e-4)];

/// A setting of the registered method.
fn default(settings: &Settings, name: &str) -> f64 {
    settings.get(name).and_then(serde_json::Value::as_f64).expect(name)
}

/// Within the tolerance of the method's defaults in the norm of the regression, and about so near on the
/// pairs that were learned from and on pairs that were not.
#[test]
fn slow_the_kernel_learned_from_pairs_of_ijcnn1_is_within_a_percent_of_brute_force() {
    let dataset = Library::discover(None).unwrap().load("ijcnn1").unwrap();
    let labels = dataset.sample.labels().unwrap();
    let train = dataset.sample.inputs().slice_move(s![dataset.parts.train.clone(), ..]);
    let scaled = Scaler::fit(Scaling::UnitInterval, train).apply(train);
    let step = scaled.nrows() / ROWS;
    let rows: Vec<usize> = (0..ROWS).map(|row| row * step).collect();
    let fresh: Vec<usize> = (0..500).map(|row| row * step + step / 2).collect();
    let own: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
    let (x, fresh) = (scaled.select(Axis(0), &rows), scaled.select(Axis(0), &fresh));
    let target = PairTarget::classes(&own, 1.0, -1.0).unwrap();
    let defaults = (find(METHODS, "hyper-krr-linear").unwrap().defaults)(&dataset.sample.shape());
    let tolerance = default(&defaults, "solution_tolerance");
    assert!(tolerance <= 0.01);
    for (width, lambda) in SETTINGS {
        let variance = width * total_variance(x.view());
        let hyper = HyperKernel::Gaussian(GaussianHyper::constructed(variance, variance).unwrap());
        let run = |solver| {
            let ridge = PairRidge {
                solver,
                lambda,
                landmarks: Some(default(&defaults, "landmarks") as usize),
                normal_tolerance: Some(default(&defaults, "normal_tolerance")),
                solution_tolerance: Some(tolerance),
                rank: default(&defaults, "rank") as usize,
                ..PairRidge::default()
            };
            let fitting = Fitting { threads: 2, ..Fitting::seeded(1) };
            ridge.learn(&hyper, x.view(), &target, &fitting).unwrap()
        };
        let (exact, found) = (run(PairSolver::Nystrom), run(PairSolver::LinearTime));
        let said = found.facts["solution-error"];
        assert_eq!(found.convergence, Convergence::Exact, "{said}");
        assert_eq!(exact.kernel.points(), found.kernel.points());
        let apart = &exact.kernel.coefficients() - &found.kernel.coefficients();
        let pairs = found.kernel.pairs();
        let apart =
            LearnedKernel::new(hyper.clone(), found.kernel.points(), pairs, &apart).unwrap();
        let squares = |kernel: &LearnedKernel, x: ArrayView2<'_, f64>| {
            kernel.gram(x, 2).iter().map(|value| value * value).sum::<f64>()
        };
        let ridge = lambda * (ROWS * ROWS) as f64;
        let norm =
            |kernel: &LearnedKernel| squares(kernel, x.view()) + ridge * kernel.norm_squared(2);
        let share = |apart: f64, whole: f64| (apart / whole).sqrt();
        let regression = share(norm(&apart), norm(&exact.kernel));
        let seen = share(squares(&apart, x.view()), squares(&exact.kernel, x.view()));
        let unseen = share(squares(&apart, fresh.view()), squares(&exact.kernel, fresh.view()));
        // Seen with --no-capture.
        println!(
            "width {width}, lambda {lambda}: said {said:.2e}, rank {}, normal matrix {:.2e}; in the norm of the regression {regression:.2e}, on pairs that were learned from {seen:.2e}, on others {unseen:.2e}",
            found.facts["pair-kernel-rank"], found.facts["normal-error"]
        );
        assert!(said <= tolerance && regression <= tolerance, "{said} {regression}");
        assert!(seen <= tolerance && unseen <= 1.5 * tolerance, "{seen} {unseen}");
    }
}
