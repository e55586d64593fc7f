use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_kernels::{GaussianHyper, HyperKernel, Kernel, Pairs, WishartHyper, total_variance};
use mercer_learning::conformance::Conformance;
use mercer_learning::{
    Convergence, Fitting, Learner, LearningError, Predictions, Sample, Settings, Shape, Targets,
    Task, fact, find,
};
use mercer_linalg::symmetric_eigen;
use ndarray::{Array1, Array2, ArrayView2, Axis, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use toml::{Table, Value};

fn golden() -> Table {
    let text = include_str!("../../../../experiments/golden/hyper.toml");
    let golden: Table = text.parse().unwrap();
    golden["hyper-2"].as_table().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_float().unwrap()
}

fn numbers(value: &Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Points in a square, the right half of another class than the left.
fn square(rows: usize) -> Sample {
    let x = random(rows, 2, 43);
    let labels = x.rows().into_iter().map(|x| u32::from(x[0] > 0.5)).collect();
    Sample::classification(x, labels, 2).unwrap()
}

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(0.0..1.0))
}

fn gaussian(inputs: ArrayView2<'_, f64>) -> HyperKernel {
    let variance = total_variance(inputs);
    HyperKernel::Gaussian(GaussianHyper::constructed(variance, variance).unwrap())
}

fn halves(points: usize) -> Vec<u32> {
    (0..points).map(|i| u32::from(i * 7 % 11 > 4)).collect()
}

fn with(solver: PairSolver, lambda: f64) -> PairRidge {
    PairRidge { lambda, solver, ..PairRidge::default() }
}

fn close(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let norm = |m: &Array2<f64>| m.iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(&(a - b)) / norm(b)
}

/// The points, the labels as ±1, `s`, `sh` and `λ` of the golden example.
fn three() -> (Table, Array2<f64>, Array2<f64>, f64, f64, f64) {
    let golden = golden();
    let points = numbers(&golden["points"]).insert_axis(Axis(1));
    let labels = numbers(&golden["labels"]);
    let outer = |a: &Array1<f64>| a.view().insert_axis(Axis(1)).dot(&a.view().insert_axis(Axis(0)));
    let (s, sh) = (number(&golden["variance"]), number(&golden["spread"]));
    let lambda = number(&golden["lambda"]);
    let target = outer(&labels);
    (golden, points, target, s, sh, lambda)
}

#[test]
fn golden_hyper_ridge_by_cholesky_and_by_conjugate_gradients() {
    let (golden, points, target, s, sh, lambda) = three();
    let target = PairTarget::matrix(target.view()).unwrap();
    let printed = HyperKernel::Gaussian(GaussianHyper::printed(s, sh).unwrap());
    for solver in [PairSolver::Cholesky, PairSolver::ConjugateGradients] {
        let ridge = PairRidge { tolerance: 1e-13, ..with(solver, lambda) };
        let learned = ridge.learn(&printed, points.view(), &target, &Fitting::seeded(1)).unwrap();
        // Coefficients of unordered pairs are sums of those of the ordered ones.
        let ordered = numbers(&golden["ordered-coefficients"]);
        let named: Vec<Vec<i64>> = golden["pairs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| pair.as_array().unwrap().iter().map(|i| i.as_integer().unwrap()).collect())
            .collect();
        let gram = printed.gram(points.view(), &Pairs::all(3), 1);
        for ((q, pair), beta) in named.iter().enumerate().zip(&ordered) {
            assert_eq!(Pairs::all(3).as_slice()[q], (pair[0] as usize, pair[1] as usize));
            let gamma = if pair[0] == pair[1] { *beta } else { 2.0 * beta };
            let found = learned.kernel.coefficients()[q];
            assert_relative_eq!(found, gamma, max_relative = 1e-8);
        }
        let norm = learned.kernel.coefficients().dot(&gram.dot(&learned.kernel.coefficients()));
        assert_relative_eq!(learned.kernel.norm_squared(1), norm, max_relative = 1e-9);
        let (left, right) = (numbers(&golden["left"]), numbers(&golden["right"]));
        let values = numbers(&golden["values"]);
        for ((x, z), value) in left.iter().zip(&right).zip(&values) {
            let found = learned.kernel.block(array![[*x]].view(), array![[*z]].view(), 1)[[0, 0]];
            assert_relative_eq!(found, *value, max_relative = 1e-8);
        }
    }
    let constructed = HyperKernel::Gaussian(GaussianHyper::constructed(s, sh).unwrap());
    let ridge = with(PairSolver::Cholesky, lambda);
    let learned = ridge.learn(&constructed, points.view(), &target, &Fitting::seeded(1)).unwrap();
    let found = learned.kernel.block(array![[0.2]].view(), array![[0.7]].view(), 1)[[0, 0]];
    assert_relative_eq!(found, number(&golden["constructed-value"]), max_relative = 1e-8);
}

#[test]
fn golden_nystrom() {
    let (golden, points, target, s, sh, lambda) = three();
    let printed = HyperKernel::Gaussian(GaussianHyper::printed(s, sh).unwrap());
    let tolerance = number(&golden["nystrom-tolerance"]);
    let wanted: Vec<usize> = golden["landmarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_integer().unwrap() as usize)
        .collect();
    // The seed whose landmarks are those of the example.
    let seed = (0..100)
        .find(|&seed| {
            let streams = Fitting::seeded(seed).streams.child("subset 0");
            nystrom::draw_landmarks(&streams, 3, 2) == wanted
        })
        .unwrap();
    for (solver, dense) in [
        (PairSolver::Nystrom, true),
        (PairSolver::LinearTime, true),
        (PairSolver::LinearTime, false),
    ] {
        let ridge = PairRidge { landmarks: Some(2), rank_tolerance: 1e-15, ..with(solver, lambda) };
        let labels = [0, 0, 1];
        let target = if dense {
            PairTarget::matrix(target.view()).unwrap()
        } else {
            PairTarget::classes(&labels, 1.0, -1.0).unwrap()
        };
        let learned =
            ridge.learn(&printed, points.view(), &target, &Fitting::seeded(seed)).unwrap();
        let coefficients = numbers(&golden["nystrom-coefficients"]);
        for (found, wanted) in learned.kernel.coefficients().iter().zip(&coefficients) {
            assert_relative_eq!(*found, *wanted, max_relative = tolerance);
        }
        let value = learned.kernel.block(array![[0.2]].view(), array![[0.7]].view(), 1)[[0, 0]];
        assert_relative_eq!(value, number(&golden["nystrom-value"]), max_relative = tolerance);
    }
}

/// `(H + λ m² I)⁻¹ vec(Y)` over ordered pairs, as the paper prints it.
fn over_ordered_pairs(
    hyper: &HyperKernel,
    inputs: ArrayView2<'_, f64>,
    target: &Array2<f64>,
    lambda: f64,
    test: ArrayView2<'_, f64>,
) -> Array2<f64> {
    let m = inputs.nrows();
    let of = |p: usize| (inputs.row(p / m), inputs.row(p % m));
    let mut gram = Array2::from_shape_fn((m * m, m * m), |(p, q)| hyper.of(of(p), of(q)));
    gram.diag_mut().mapv_inplace(|entry| entry + lambda * (m * m) as f64);
    let right = Array2::from_shape_fn((m * m, 1), |(p, _)| target[[p / m, p % m]]);
    let factor = mercer_linalg::Cholesky::factor(gram).unwrap();
    let beta = factor.solve(&right).unwrap();
    Array2::from_shape_fn((test.nrows(), m), |(i, j)| {
        (0..m * m).map(|p| beta[[p, 0]] * hyper.of(of(p), (test.row(i), inputs.row(j)))).sum()
    })
}

#[test]
fn unordered_pairs_give_what_ordered_pairs_give() {
    let (x, test) = (random(9, 3, 1), random(4, 3, 2));
    let known = Kernel::Gaussian { std: 1.3 }.gram(x.view());
    let variance = total_variance(x.view());
    let kernels = [
        gaussian(x.view()),
        HyperKernel::Gaussian(GaussianHyper::printed(variance, 0.25 * variance).unwrap()),
        HyperKernel::Wishart(WishartHyper::isotropic(variance, 3).unwrap()),
    ];
    for hyper in kernels {
        for lambda in [1e-5, 1e-2] {
            let ordered = over_ordered_pairs(&hyper, x.view(), &known, lambda, test.view());
            let target = PairTarget::matrix(known.view()).unwrap();
            let learned = with(PairSolver::Cholesky, lambda)
                .learn(&hyper, x.view(), &target, &Fitting::seeded(1))
                .unwrap();
            let block = learned.kernel.block(test.view(), x.view(), 1);
            assert!(close(&block, &ordered) < 1e-9, "{}", close(&block, &ordered));
        }
    }
}

#[test]
fn conjugate_gradients_give_what_cholesky_gives_for_a_whole_path() {
    let (x, test) = (random(40, 4, 3), random(10, 4, 4));
    let labels = halves(40);
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let hyper = gaussian(x.view());
    let lambdas = [1e-5, 1e-3, 1e-1];
    let fitting = Fitting::seeded(1);
    let exact = with(PairSolver::Cholesky, 1.0)
        .learn_path(&hyper, x.view(), &target, &lambdas, &fitting)
        .unwrap();
    let ridge = PairRidge { tolerance: 1e-10, ..with(PairSolver::ConjugateGradients, 1.0) };
    let iterated = ridge.learn_path(&hyper, x.view(), &target, &lambdas, &fitting).unwrap();
    for (exact, iterated) in exact.iter().zip(&iterated) {
        assert!(matches!(iterated.convergence, Convergence::Converged { .. }));
        let block = |learned: &Learned| learned.kernel.block(test.view(), x.view(), 1);
        let gap = close(&block(iterated), &block(exact));
        assert!(gap < 1e-6, "{gap}");
    }
    // Threads change no bit; a limit of iterations is in the result.
    let two = Fitting { threads: 2, ..Fitting::seeded(1) };
    let again = ridge.learn_path(&hyper, x.view(), &target, &lambdas, &two).unwrap();
    assert_eq!(again, iterated);
    let short = PairRidge { iterations: 2, ..ridge };
    let stopped = short.learn(&hyper, x.view(), &target, &fitting).unwrap();
    assert!(matches!(stopped.convergence, Convergence::NotConverged { iterations: 2, .. }));
}

#[test]
fn with_all_points_as_landmarks_nystrom_is_exact() {
    let (x, test) = (random(14, 3, 5), random(6, 3, 6));
    let labels = halves(14);
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let variance = total_variance(x.view());
    let fitting = Fitting::seeded(3);
    for hyper in
        [gaussian(x.view()), HyperKernel::Wishart(WishartHyper::isotropic(variance, 3).unwrap())]
    {
        for lambda in [1e-4, 1e-2] {
            let exact = with(PairSolver::Cholesky, lambda);
            let exact = exact.learn(&hyper, x.view(), &target, &fitting).unwrap();
            let whole = PairRidge {
                landmarks: Some(14),
                cutoff: 1e-14,
                ..with(PairSolver::Nystrom, lambda)
            };
            let whole = whole.learn(&hyper, x.view(), &target, &fitting).unwrap();
            let block = |learned: &Learned| learned.kernel.block(test.view(), x.view(), 1);
            let gap = close(&block(&whole), &block(&exact));
            assert!(gap < 1e-6, "{gap}");
        }
    }
}

#[test]
fn at_full_rank_linear_time_is_nystrom_and_its_bound_holds() {
    let (x, test) = (random(150, 4, 7), random(20, 4, 8));
    let labels: Vec<u32> = (0..150).map(|i| i % 3).collect();
    let classes = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let known = Kernel::Gaussian { std: 1.0 }.gram(x.view());
    let matrix = PairTarget::matrix(known.view()).unwrap();
    let hyper = gaussian(x.view());
    let fitting = Fitting { threads: 2, ..Fitting::seeded(5) };
    for (target, lambda) in [(&classes, 1e-6), (&classes, 1e-2), (&matrix, 1e-6), (&matrix, 1e-2)] {
        let run = |solver, rank_tolerance: f64| {
            let ridge =
                PairRidge { landmarks: Some(6), rank: 150, rank_tolerance, ..with(solver, lambda) };
            ridge.learn(&hyper, x.view(), target, &fitting).unwrap()
        };
        let block = |learned: &Learned| learned.kernel.block(test.view(), x.view(), 1);
        let plain = block(&run(PairSolver::Nystrom, 0.5));
        let mut last = f64::INFINITY;
        for (rank_tolerance, allowed) in [(1e-2, 0.1), (1e-4, 1e-2), (1e-14, 1e-6)] {
            let linear = run(PairSolver::LinearTime, rank_tolerance);
            let gap = close(&block(&linear), &plain);
            assert!(gap < allowed, "rank tolerance {rank_tolerance}, lambda {lambda}: {gap}");
            assert!(linear.facts["normal-error-bound"] < last);
            last = linear.facts["normal-error-bound"];
        }
    }
}

/// The columns grow until the normal matrix is near enough, and the estimate of how near it is comes
/// near the truth.
#[test]
fn the_rank_grows_to_the_tolerance_and_says_where_it_ends() {
    let x = random(1500, 5, 21);
    let labels: Vec<u32> = (0..1500).map(|i| u32::from(x[[i, 0]] * x[[i, 1]] > 0.2)).collect();
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    // Points that are far apart for their kernel: many columns.
    let hyper = gaussian(x.view());
    let fitting = Fitting { threads: 2, ..Fitting::seeded(8) };
    let inputs = &x * 1.5;
    let run = |normal_tolerance, rank, factor_bytes| {
        let ridge = PairRidge {
            landmarks: Some(4),
            normal_tolerance,
            rank,
            factor_bytes,
            rank_tolerance: 1e-12,
            ..with(PairSolver::LinearTime, 1e-3)
        };
        ridge.learn(&hyper, inputs.view(), &target, &fitting).unwrap()
    };
    let whole = run(None, 1500, 1 << 30);
    let mut last = 0.0;
    for tolerance in [0.1, 0.01, 1e-4] {
        let found = run(Some(tolerance), 1500, 1 << 30);
        assert!(found.facts["normal-error"] <= tolerance, "{:?}", found.facts);
        // Loose, and above the estimate.
        assert!(
            found.facts["normal-error-bound"] > found.facts["normal-error"],
            "{:?}",
            found.facts
        );
        // By rounding, the columns may end where the solution is further off than the matrix.
        let far = found.facts["solution-error"] > f64::max(tolerance, 0.01);
        assert_eq!(
            matches!(found.convergence, Convergence::FarSolution { .. }),
            far,
            "{:?}",
            found.facts
        );
        assert!(far || found.convergence == Convergence::Exact, "{:?}", found.convergence);
        assert!(found.facts["pair-kernel-rank"] >= last);
        last = found.facts["pair-kernel-rank"];
        let block = |learned: &Learned| learned.kernel.gram(inputs.slice(ndarray::s![..50, ..]), 1);
        let gap = close(&block(&found), &block(&whole));
        assert!(gap < 10.0 * tolerance, "{gap} at {tolerance}");
    }
    // A cap of columns, or of bytes: 16 a row and column.
    for (rank, bytes) in [(20, 1 << 30), (1500, 16 * 1500 * 20)] {
        let short = run(Some(1e-4), rank, bytes);
        assert_abs_diff_eq!(short.facts["pair-kernel-rank"], 20.0);
        let Convergence::FewColumns { columns: 20, residual, .. } = short.convergence else {
            panic!("{:?}", short.convergence);
        };
        assert!(residual > 1e-4);
        assert_abs_diff_eq!(residual, short.facts["normal-error"]);
    }
}

/// With all rows in the sample the estimate is the error itself.
#[test]
fn the_estimated_error_of_the_normal_matrix_is_its_error() {
    let x = random(300, 4, 22);
    let target = halves(300);
    let target = PairTarget::classes(&target, 1.0, -1.0).unwrap();
    let hyper = gaussian(x.view());
    let HyperKernel::Gaussian(gaussian) = &hyper else { unreachable!() };
    let fitting = Fitting::seeded(4);
    let ridge = PairRidge {
        landmarks: Some(1),
        rank: 10,
        normal_tolerance: Some(1e-12),
        ..with(PairSolver::LinearTime, 1e-2)
    };
    let learned = ridge.learn(&hyper, x.view(), &target, &fitting).unwrap();
    // One landmark: the normal matrix is the number Σ_ij h((i, j), (z, z))².
    let z = learned.kernel.points();
    let u = gaussian.point_factors(z, x.view());
    let t = u.row(0).mapv(|u| u.powi(4));
    let b = Kernel::Gaussian { std: (4.0 * gaussian.pair_rate()).sqrt() }.gram(x.view());
    let found = mercer_linalg::PartialCholesky::new(
        &Array1::ones(300),
        |pivots, rows, mut to| {
            for (i, row) in rows.enumerate() {
                for (j, &pivot) in pivots.iter().enumerate() {
                    to[[i, j]] = b[[row, pivot]];
                }
            }
        },
        0.0,
        10,
        1,
    )
    .unwrap();
    let image = found.factor.t().dot(&t);
    let truth = 1.0 - image.dot(&image) / t.dot(&b.dot(&t));
    assert_relative_eq!(learned.facts["normal-error"], truth, max_relative = 1e-6);
}

/// `‖k − k̂‖_A` by its definition over all pairs, and the norm of `k̂`.
fn in_the_norm_of_the_regression(
    learned: &Learned,
    exact: &Learned,
    inputs: ArrayView2<'_, f64>,
    lambda: f64,
) -> (f64, f64) {
    let kernel = &learned.kernel;
    assert_eq!((kernel.pairs(), kernel.points()), (exact.kernel.pairs(), exact.kernel.points()));
    let apart = &exact.kernel.coefficients() - &kernel.coefficients();
    let (hyper, points) = (kernel.hyper().clone(), kernel.points());
    let apart = mercer_kernels::LearnedKernel::new(hyper, points, kernel.pairs(), &apart).unwrap();
    let ridge = lambda * (inputs.nrows() * inputs.nrows()) as f64;
    let norm = |kernel: &mercer_kernels::LearnedKernel| {
        let values = kernel.gram(inputs, 2).mapv(|value| value * value).sum();
        (values + ridge * kernel.norm_squared(2)).sqrt()
    };
    (norm(&apart), norm(kernel))
}

/// Up to 400 points the bound is one: it covers the distance to Nyström's own solution, found over all
/// pairs one by one, and it is no more than a few times too large.
#[test]
fn the_error_of_the_solution_in_linear_time_is_bounded() {
    let x = random(200, 4, 31) * 1.5;
    let labels: Vec<u32> = (0..200).map(|i| u32::from(x[[i, 0]] * x[[i, 1]] > 0.5)).collect();
    let classes = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let known = Kernel::Gaussian { std: 1.0 }.gram(x.view());
    let matrix = PairTarget::matrix(known.view()).unwrap();
    let hyper = gaussian((&x * 0.4).view());
    let (m, mut loosest) = (200.0, 1.0f64);
    for seed in 0..3 {
        for (target, lambda) in [(&classes, 1e-4), (&classes, 1e-2), (&matrix, 1e-4)] {
            let run = |solver, rank| {
                let ridge = PairRidge {
                    landmarks: Some(5),
                    rank,
                    rank_tolerance: 1e-15,
                    ..with(solver, lambda)
                };
                ridge.learn(&hyper, x.view(), target, &Fitting::seeded(seed)).unwrap()
            };
            let exact = run(PairSolver::Nystrom, 1);
            for rank in [4, 10, 25, 60, 120] {
                let learned = run(PairSolver::LinearTime, rank);
                let (distance, size) =
                    in_the_norm_of_the_regression(&learned, &exact, x.view(), lambda);
                let bound = learned.facts["solution-rms-error"] * m;
                let what = format!("seed {seed}, lambda {lambda}, rank {rank}: {distance} {bound}");
                // The two are solved in different ways, to some digits.
                assert!(distance <= bound * (1.0 + 1e-6) + 1e-7 * size, "{what}");
                if learned.facts["solution-error"] > 1e-6 {
                    loosest = loosest.max(bound / distance);
                }
                // On any pair of points whatever.
                let block = |learned: &Learned| learned.kernel.gram((&x * 1.1).view(), 1);
                let gap = (&block(&learned) - &block(&exact)).mapv(f64::abs);
                let most = bound / (lambda.sqrt() * m);
                assert!(gap.iter().all(|gap| *gap <= most + 1e-7 * size), "{what}");
            }
        }
    }
    assert!(loosest < 5.0, "{loosest}");
}

/// With 20 landmarks too, where the rank is above what the sums of many points can afford.
#[test]
fn the_error_of_the_solution_is_bounded_with_twenty_landmarks() {
    let x = random(390, 4, 44) * 1.5;
    let labels: Vec<u32> = (0..390).map(|i| u32::from(x[[i, 0]] * x[[i, 1]] > 0.5)).collect();
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let hyper = gaussian((&x * 0.3).view());
    let lambda = 1e-4;
    for seed in 0..2 {
        let run = |solver, rank| {
            let ridge = PairRidge {
                landmarks: Some(20),
                rank,
                rank_tolerance: 1e-15,
                ..with(solver, lambda)
            };
            let fitting = Fitting { threads: 2, ..Fitting::seeded(seed) };
            ridge.learn(&hyper, x.view(), &target, &fitting).unwrap()
        };
        let exact = run(PairSolver::Nystrom, 1);
        assert!(exact.facts["rank"] > 155.0, "{:?}", exact.facts);
        for rank in [20, 60] {
            let learned = run(PairSolver::LinearTime, rank);
            let (distance, size) =
                in_the_norm_of_the_regression(&learned, &exact, x.view(), lambda);
            let bound = learned.facts["solution-rms-error"] * 390.0;
            let what = format!("seed {seed}, rank {rank}: {distance} {bound} {size}");
            assert!(distance <= bound * (1.0 + 1e-6) + 1e-7 * size, "{what}");
        }
    }
}

/// From some of the rows it is an estimate, with a deviation on top.
#[test]
fn the_estimated_error_of_the_solution_covers_the_error() {
    let x = random(1600, 3, 32) * 1.5;
    let labels: Vec<u32> = (0..1600).map(|i| u32::from(x[[i, 0]] * x[[i, 1]] > 0.5)).collect();
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let hyper = gaussian((&x * 0.4).view());
    let lambda = 1e-3;
    let (mut covered, mut all) = (0, 0);
    for seed in 0..5 {
        let run = |solver, rank| {
            let ridge = PairRidge {
                landmarks: Some(4),
                rank,
                rank_tolerance: 1e-15,
                ..with(solver, lambda)
            };
            let fitting = Fitting { threads: 2, ..Fitting::seeded(seed) };
            ridge.learn(&hyper, x.view(), &target, &fitting).unwrap()
        };
        let exact = run(PairSolver::Nystrom, 1);
        for rank in [10, 30, 90] {
            let learned = run(PairSolver::LinearTime, rank);
            let (distance, _) = in_the_norm_of_the_regression(&learned, &exact, x.view(), lambda);
            let estimate = learned.facts["solution-rms-error"] * 1600.0;
            covered += usize::from(distance <= estimate);
            all += 1;
            assert!(distance <= 1.5 * estimate, "seed {seed}, rank {rank}: {distance} {estimate}");
        }
    }
    assert!(covered >= all - 1, "{covered} of {all}");
}

#[test]
fn the_rank_grows_until_the_solution_is_near() {
    let x = random(300, 4, 33) * 1.5;
    let labels = halves(300);
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let hyper = gaussian((&x * 0.4).view());
    let fitting = Fitting::seeded(6);
    let run = |solver, solution_tolerance, rank| {
        let ridge =
            PairRidge { landmarks: Some(4), solution_tolerance, rank, ..with(solver, 1e-3) };
        ridge.learn_path(&hyper, x.view(), &target, &[1e-3, 1e-1], &fitting).unwrap()
    };
    let exact = run(PairSolver::Nystrom, None, 1);
    let mut last = 0.0;
    for tolerance in [0.3, 0.03, 1e-3] {
        let found = run(PairSolver::LinearTime, Some(tolerance), 300);
        for ((found, exact), lambda) in found.iter().zip(&exact).zip([1e-3, 1e-1]) {
            assert_eq!(found.convergence, Convergence::Exact);
            assert!(found.facts["solution-error"] <= tolerance);
            let (distance, size) = in_the_norm_of_the_regression(found, exact, x.view(), lambda);
            assert!(distance <= 1.1 * tolerance * size, "{tolerance}: {distance} of {size}");
        }
        assert!(found[0].facts["pair-kernel-rank"] >= last);
        last = found[0].facts["pair-kernel-rank"];
    }
    assert!(last > 64.0, "{last}");
    // With too few columns the fit says how far it is.
    let short = run(PairSolver::LinearTime, Some(1e-6), 20).remove(0);
    let Convergence::FewColumns { columns: 20, residual, .. } = short.convergence else {
        panic!("{:?}", short.convergence);
    };
    assert_abs_diff_eq!(residual, short.facts["solution-error"]);
    assert!(residual > 1e-6);
}

/// The learned kernel is what is promised: with a small ridge it is farther from the exact one than the
/// normal matrix is, and the factors grow until it, too, is near.
#[test]
fn the_tolerance_of_the_solution_decides_beside_that_of_the_normal_matrix() {
    let x = random(500, 4, 34) * 1.5;
    let labels: Vec<u32> = (0..500).map(|i| u32::from(x[[i, 0]] * x[[i, 1]] > 0.5)).collect();
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let hyper = gaussian((&x * 0.4).view());
    let (lambda, goal, fitting) = (1e-6, 1e-3, Fitting::seeded(6));
    let run = |solver, solution_tolerance, normal_tolerance, rank| {
        let ridge = PairRidge {
            landmarks: Some(4),
            solution_tolerance,
            normal_tolerance,
            rank,
            ..with(solver, lambda)
        };
        ridge.learn(&hyper, x.view(), &target, &fitting).unwrap()
    };
    let exact = run(PairSolver::Nystrom, None, None, 1);
    let apart = |learned: &Learned| {
        let (distance, size) = in_the_norm_of_the_regression(learned, &exact, x.view(), lambda);
        distance / size
    };
    let loose = run(PairSolver::LinearTime, None, Some(0.01), 500);
    assert!(loose.facts["normal-error"] <= 0.01);
    assert!(apart(&loose) > goal, "{}", apart(&loose));
    // The matrix alone was asked for, so nothing is amiss; the fact says how far the kernel is.
    assert_eq!(loose.convergence, Convergence::Exact);
    assert!(loose.facts["solution-error"] > goal);
    let near = run(PairSolver::LinearTime, Some(goal), Some(0.01), 500);
    assert_eq!(near.convergence, Convergence::Exact);
    assert!(near.facts["solution-error"] <= goal && apart(&near) <= goal, "{}", apart(&near));
    assert!(near.facts["pair-kernel-rank"] > loose.facts["pair-kernel-rank"]);
    // A matrix that is not as near as asked is no fault of a kernel that is.
    let kernel_only = run(PairSolver::LinearTime, Some(0.3), Some(1e-12), 100);
    assert!(kernel_only.facts["normal-error"] > 1e-12);
    assert_eq!(kernel_only.convergence, Convergence::Exact);
    // With no more columns the fit says that the kernel is not near, and how far.
    let short = run(PairSolver::LinearTime, Some(goal), Some(0.01), 64);
    let Convergence::FewColumns { columns: 64, residual, .. } = short.convergence else {
        panic!("{:?}", short.convergence);
    };
    assert_abs_diff_eq!(residual, short.facts["solution-error"]);
    assert!(residual > goal);
}

/// What the registered method does by default is what its name is known for.
#[test]
fn the_method_for_all_pairs_asks_for_a_learned_kernel_within_a_percent() {
    let x = random(700, 3, 35) * 2.0;
    let labels: Vec<u32> = (0..700).map(|i| u32::from(x[[i, 0]] * x[[i, 1]] > 1.0)).collect();
    let sample = Sample::classification(x, labels, 2).unwrap();
    let method = find(METHODS, "hyper-krr-linear").unwrap();
    let fit = |settings: &Settings| {
        let learner = method.learner(settings, sample.task()).unwrap();
        learner.fit(&sample, &mut Fitting::seeded(2)).unwrap()
    };
    let found = fit(&(method.defaults)(&sample.shape()));
    assert!(found.facts["solution-error"] <= 0.01, "{:?}", found.facts);
    assert_eq!(found.convergence.warning(), None);
    let short = fit(&(method.defaults)(&sample.shape()).with("rank", 12).with("width", 0.05));
    assert!(short.facts["solution-error"] > 0.01, "{:?}", short.facts);
    assert!(short.convergence.warning().is_some());
}

/// From 701 rows on this is plain hyper-KRR: narrow kernels need more columns than it has, and it says so.
#[test]
fn columns_that_miss_the_rank_tolerance_are_no_convergence() {
    let x = random(800, 10, 41);
    let labels: Vec<u32> = (0..800).map(|i| u32::from(x[[i, 0]] + x[[i, 1]] > 1.0)).collect();
    let sample = Sample::classification(x, labels, 2).unwrap();
    let method = find(METHODS, "hyper-krr").unwrap();
    let fit = |width: f64| {
        let settings = (method.defaults)(&sample.shape())
            .with("width", width)
            .with("lambda", 1e-5)
            .with("machine_rows", 200)
            .with("rank", 100);
        method.learner(&settings, sample.task()).unwrap().fit(&sample, &mut Fitting::seeded(2))
    };
    let narrow = fit(0.1).unwrap();
    let Convergence::FewColumns { columns: 100, residual, goal } = narrow.convergence else {
        panic!("{:?}", narrow.convergence);
    };
    assert_abs_diff_eq!(goal, 1e-3);
    assert_abs_diff_eq!(residual, narrow.facts["pair-kernel-residual"]);
    assert!(residual > 0.3 && narrow.facts["solution-error"] > 0.1, "{:?}", narrow.facts);
    let said = narrow.convergence.warning().unwrap();
    assert!(said.contains("`rank`") && !said.contains("iterations"), "{said}");
    let wide = fit(4.0).unwrap();
    // A trace that is a little too large does not make a kernel that is near a far one.
    assert!(wide.facts["pair-kernel-residual"] > 1e-3, "{:?}", wide.facts);
    assert!(wide.facts["solution-error"] < 1e-3, "{:?}", wide.facts);
    assert!(!wide.convergence.is_open(), "{:?}", wide.convergence);
}

/// The smaller the ridge, the more the last digits of the factors matter: met or not, their tolerance is not that of the
/// solution.
#[test]
fn a_solution_that_is_far_from_the_exact_one_is_no_convergence() {
    let x = random(800, 3, 44);
    let labels: Vec<u32> = (0..800).map(|i| u32::from(x[[i, 0]] + x[[i, 1]] > 1.0)).collect();
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let hyper = gaussian(x.view());
    let run = |lambda: f64, solution_tolerance| {
        let ridge = PairRidge {
            landmarks: Some(14),
            solution_tolerance,
            ..with(PairSolver::LinearTime, lambda)
        };
        ridge.learn(&hyper, x.view(), &target, &Fitting::seeded(3)).unwrap()
    };
    let near = run(1e-4, None);
    assert!(near.facts["solution-error"] < 0.01 && !near.convergence.is_open());
    let far = run(1e-10, None);
    assert!(far.facts["pair-kernel-residual"] <= 1e-3, "{:?}", far.facts);
    let Convergence::FarSolution { residual, goal } = far.convergence else {
        panic!("{:?} with {:?}", far.convergence, far.facts);
    };
    assert_abs_diff_eq!(goal, 0.01);
    assert_abs_diff_eq!(residual, far.facts["solution-error"]);
    assert!(residual > 0.01);
    // Whoever asks for the solution gets it, or hears of it: here all the columns there are leave it to rounding.
    let asked = run(1e-8, Some(0.01));
    assert!(asked.facts["pair-kernel-rank"] > far.facts["pair-kernel-rank"], "{:?}", asked.facts);
    assert!(asked.facts["solution-error"] > 0.01, "{:?}", asked.facts);
    assert!(matches!(asked.convergence, Convergence::FewColumns { .. }), "{:?}", asked.convergence);
}

/// Rows in an order that has a period, as those of a clock: features know all of its phases, not every 25th row's.
#[test]
fn features_do_not_depend_on_a_period_of_the_file() {
    let noise = random(4200, 2, 46);
    let x = Array2::from_shape_fn((4200, 6), |(i, j)| match j {
        0 | 1 => noise[[i, j]],
        _ => f64::from(u8::from(i % 3 + 2 == j)) + 0.01 * noise[[i, j % 2]],
    });
    let labels: Vec<u32> =
        (0..4200).map(|i| u32::from((noise[[i, 0]] > 0.5) == (i % 3 == 1))).collect();
    let sample = Sample::classification(x, labels, 2).unwrap();
    let method = find(METHODS, "hyper-krr-linear").unwrap();
    let settings = (method.defaults)(&sample.shape())
        .with("stage2", "features")
        .with("machine_rows", 4200)
        .with("lambda", 1e-4);
    let learner = method.learner(&settings, sample.task()).unwrap();
    let fitted = learner.fit(&sample, &mut Fitting::seeded(1)).unwrap();
    let error = fitted.facts[fact::FEATURES_ERROR];
    assert!(error < 0.05, "{error}");
}

/// Landmarks that no other row is near leave nothing to approximate, and every fact is a number.
#[test]
fn a_width_that_keeps_every_row_to_itself_leaves_numbers() {
    let x = random(1500, 3, 45);
    let labels: Vec<u32> = (0..1500).map(|i| u32::from(x[[i, 0]] > 0.5)).collect();
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let narrow = HyperKernel::Gaussian(GaussianHyper::constructed(1e-8, 1e-8).unwrap());
    let ridge = PairRidge {
        landmarks: Some(3),
        normal_tolerance: Some(0.01),
        solution_tolerance: Some(0.01),
        rank: 64,
        ..with(PairSolver::LinearTime, 1e-3)
    };
    // Among 1500 rows the probe sees 1000: of some seeds it sees no landmark.
    for seed in 0..40 {
        let learned = ridge.learn(&narrow, x.view(), &target, &Fitting::seeded(seed)).unwrap();
        assert!(learned.facts.values().all(|fact| fact.is_finite()), "{:?}", learned.facts);
    }
}

#[test]
fn subsets_without_a_class_are_counted_and_numbers_stand_in_messages() {
    let x = random(40, 2, 43);
    let labels: Vec<u32> = (0..40).map(|i| u32::from(i % 20 == 0)).collect(); // 38 and 2
    let sample = Sample::classification(x, labels, 2).unwrap();
    for method in ["hyper-krr", "hyper-svr"] {
        let method = find(METHODS, method).unwrap();
        let fit = |subsets: usize| {
            let settings = (method.defaults)(&sample.shape()).with("subsets", subsets);
            method.learner(&settings, sample.task()).unwrap().fit(&sample, &mut Fitting::seeded(2))
        };
        // Two rows of a class are in two of five subsets at most.
        assert!(fit(5).unwrap().facts["subsets-without-a-class"] >= 3.0);
        assert!(!fit(1).unwrap().facts.contains_key("subsets-without-a-class"));
        let said = fit(21).err().unwrap().to_string();
        assert!(said.contains("21 for 40 points"), "{said}");
    }
    let settings = Settings::new().with("landmarks", 12).with("subsets", 4);
    let learner = find(METHODS, "hyper-krr").unwrap().learner(&settings, sample.task()).unwrap();
    let said = learner.fit(&sample, &mut Fitting::seeded(2)).err().unwrap().to_string();
    assert!(said.contains("12 where a subset has 10 points"), "{said}");
    let params = HyperClassifierParams {
        stage2: Stage2::Features,
        spectrum: mercer_solvers::PsdCorrection::Clip,
        ..HyperClassifierParams::default()
    };
    let said = params.checked().unwrap_err().to_string();
    assert_eq!(
        said,
        "setting `spectrum` is `clip`; it must be `as-is` or `flip` with signed features, which flip what is negative"
    );
}

/// Also where all pairs have a coefficient (`exact_points`, `cholesky`), and landmarks would not be looked at.
#[test]
fn more_landmarks_than_a_subset_has_points_are_refused_by_every_route() {
    let sample = square(20);
    for (method, more) in [
        ("hyper-svr", Settings::new()),
        ("hyper-krr", Settings::new().with("solver", "cholesky").with("subsets", 1)),
        ("hyper-krr", Settings::new().with("solver", "conjugate-gradients").with("subsets", 1)),
        ("hyper-krr", Settings::new().with("solver", "nystrom")),
        ("hyper-non-negative", Settings::new()),
    ] {
        let method = find(METHODS, method).unwrap();
        for (landmarks, subsets, held) in [(50, 1, 20), (8, 4, 5)] {
            if more.get("subsets").is_some() && subsets > 1 {
                continue;
            }
            let settings = (method.defaults)(&sample.shape())
                .with("landmarks", landmarks)
                .with("subsets", subsets)
                .overridden_by(&more);
            let learner = method.learner(&settings, sample.task()).unwrap();
            let said = learner.fit(&sample, &mut Fitting::seeded(2)).err().unwrap().to_string();
            let wanted = format!("`landmarks` is {landmarks} where a subset has {held} points");
            assert!(said.contains(&wanted), "{}: {said}", method.name);
        }
    }
}

/// The bias of the regression makes `k` less by a constant: all of what is negative may be that.
#[test]
fn negative_mass_is_said_without_the_bias_too() {
    let sample = square(40);
    let method = find(METHODS, "hyper-svr").unwrap();
    let fit = |settings: Settings| {
        let learner = method.learner(&settings, sample.task()).unwrap();
        learner.fit(&sample, &mut Fitting::seeded(2)).unwrap()
    };
    let facts = fit((method.defaults)(&sample.shape())).facts;
    let (with, without) = (facts["negative-mass"], facts["negative-mass-without-bias"]);
    assert!((0.0..1.0).contains(&without) && (with - without).abs() > 1e-6, "{with} {without}");
    // Least squares have no bias, so that there is one number.
    let ridge = find(METHODS, "hyper-krr").unwrap();
    let learner = ridge.learner(&Settings::new(), sample.task()).unwrap();
    let facts = learner.fit(&sample, &mut Fitting::seeded(2)).unwrap().facts;
    assert!(!facts.contains_key("negative-mass-without-bias"), "{facts:?}");
}

/// One iteration of conjugate gradients solves nothing, and a search by such kernels says so.
#[test]
fn a_search_says_how_many_of_its_fits_stopped_short() {
    let sample = square(30);
    let method = find(METHODS, "hyper-krr").unwrap();
    let fact = |settings: Settings| {
        let learner = method.learner(&settings, sample.task()).unwrap();
        let facts = learner.fit(&sample, &mut Fitting::seeded(2)).unwrap().facts;
        facts.get(fact::SEARCH_NOT_CONVERGED).copied()
    };
    let searched = Settings::new().with("search", "folds");
    assert_eq!(fact(searched.clone()), Some(0.0));
    // Some of the eleven ridges in each of five folds and five spreads.
    let cut = fact(searched.with("iterations", 1)).unwrap();
    assert!((50.0..=275.0).contains(&cut), "{cut}");
    assert_eq!(fact(Settings::new()), None);
}

#[test]
fn regressions_other_than_least_squares_are_averaged_over_subsets_too() {
    let x = random(90, 2, 23);
    let labels: Vec<u32> = x.rows().into_iter().map(|x| u32::from(x[0] > 0.5)).collect();
    let sample = Sample::classification(x.clone(), labels.clone(), 2).unwrap();
    for method in ["hyper-svr", "hyper-non-negative"] {
        let settings = Settings::new()
            .with("subsets", 3)
            .with("landmarks", 5)
            .with("pairs", 300)
            .with("exact_points", 10)
            .with("cost", 10.0);
        let learner = find(METHODS, method).unwrap().learner(&settings, sample.task()).unwrap();
        let fit = |threads| {
            let mut fitting = Fitting { threads, ..Fitting::seeded(3) };
            learner.fit(&sample, &mut fitting).unwrap()
        };
        let (one, two) = (fit(1), fit(2));
        assert_eq!(one.facts, two.facts);
        assert_abs_diff_eq!(one.facts["pairs"], 900.0);
        // The worst of the parts, which are all below 0: a dual is minimised.
        assert!(one.facts.get("objective").is_none_or(|&least| least < 0.0), "{:?}", one.facts);
        let said = one.predictor.predict(x.view()).unwrap();
        let Predictions::Classes(said) = said else { unreachable!() };
        let right = said.iter().zip(&labels).filter(|(a, b)| a == b).count();
        assert!(right >= 80, "{method}: {right} of 90");
        let many = Settings::new().with("subsets", 46);
        let learner = find(METHODS, method).unwrap().learner(&many, sample.task()).unwrap();
        let error = learner.fit(&sample, &mut Fitting::seeded(1)).err().unwrap().to_string();
        assert!(error.contains("subsets") && error.contains("46"), "{error}");
    }
}

#[test]
fn the_normal_matrix_is_never_overestimated() {
    // One landmark: G is a number, and so is its error.
    let x = random(200, 3, 9);
    let hyper = gaussian(x.view());
    let gaussian = match &hyper {
        HyperKernel::Gaussian(gaussian) => *gaussian,
        HyperKernel::Wishart(_) => unreachable!(),
    };
    for landmark in 0..5 {
        let z = x.row(landmark);
        let mut sum = 0.0;
        for i in x.rows() {
            for j in x.rows() {
                sum += gaussian.of((i, j), (z, z)).powi(2);
            }
        }
        let u = gaussian.point_factors(x.slice(ndarray::s![landmark..=landmark, ..]), x.view());
        let t = u.row(0).mapv(|u| u.powi(4));
        let squared = Kernel::Gaussian { std: (4.0 * gaussian.pair_rate()).sqrt() };
        let b = squared.gram(x.view());
        assert_relative_eq!(t.dot(&b.dot(&t)), sum, max_relative = 1e-12);
        for rank in [1, 5, 20] {
            let found = mercer_linalg::PartialCholesky::new(
                &Array1::ones(200),
                |pivots, rows, mut to| {
                    for (i, row) in rows.enumerate() {
                        for (j, &pivot) in pivots.iter().enumerate() {
                            to[[i, j]] = b[[row, pivot]];
                        }
                    }
                },
                0.0,
                rank,
                1,
            )
            .unwrap();
            let image = found.factor.t().dot(&t);
            let error = sum - image.dot(&image);
            let bound = (found.residual * t.dot(&t)).min(found.largest * t.sum().powi(2));
            assert!(error > -1e-9 * sum && error <= bound, "{error} {bound}");
        }
    }
}

#[test]
fn subsets_are_averaged() {
    let x = random(60, 3, 10);
    let labels = halves(60);
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let hyper = gaussian(x.view());
    let run = |subsets, threads| {
        let ridge = PairRidge { landmarks: Some(5), subsets, ..with(PairSolver::Nystrom, 1e-4) };
        ridge.learn(&hyper, x.view(), &target, &Fitting { threads, ..Fitting::seeded(2) }).unwrap()
    };
    let four = run(4, 1);
    assert_eq!(four, run(4, 3));
    assert_abs_diff_eq!(four.facts["landmark-pairs"], 60.0);
    assert_abs_diff_eq!(four.facts["pairs"], 4.0 * 225.0);
    // What it learns is of use: the ideal kernel's sign on most pairs of the points.
    let gram = four.kernel.gram(x.view(), 1);
    assert!(gram.iter().all(|value| value.is_finite()));
    // A sample of pairs stands for all of them.
    let budget =
        PairRidge { landmarks: Some(5), pairs: Some(200_000), ..with(PairSolver::Nystrom, 1e-2) };
    let whole = PairRidge { pairs: None, ..budget.clone() };
    let gram = |ridge: &PairRidge| {
        let learned = ridge.learn(&hyper, x.view(), &target, &Fitting::seeded(2)).unwrap();
        learned.kernel.gram(x.view(), 1)
    };
    // 1/sqrt(200,000) of noise, times the condition of the equations.
    assert!(close(&gram(&budget), &gram(&whole)) < 0.1);
}

#[test]
fn non_negative_coefficients_keep_the_kernel_positive_definite() {
    let x = random(25, 3, 11);
    let labels = halves(25);
    let hyper = gaussian(x.view());
    let target = PairTarget::classes(&labels, 1.0, 0.0).unwrap();
    for landmarks in [None, Some(8)] {
        let ridge = PairRidge { landmarks, ..with(PairSolver::NonNegative, 1e-3) };
        let learned = ridge.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
        assert!(matches!(learned.convergence, Convergence::Converged { .. }));
        assert!(learned.kernel.coefficients().iter().all(|&value| value > 0.0));
        let gram = learned.kernel.gram(random(30, 3, 12).view(), 1);
        assert!(symmetric_eigen(gram.view()).unwrap().values[0] > -1e-12);
    }
}

/// The non-negative variant on four targets; with the ideal ones coefficients are few, and known.
#[test]
fn golden_non_negative_ridge() {
    let text = include_str!("../../../../experiments/golden/base.toml");
    let golden: Table = text.parse().unwrap();
    let golden = golden["base-1"].as_table().unwrap();
    let (_, points, signs, s, sh, lambda) = three();
    let hyper = HyperKernel::Gaussian(GaussianHyper::printed(s, sh).unwrap());
    let ones = signs.mapv(|y| f64::midpoint(y, 1.0));
    let squared = |i: usize, j: usize| (points[[i, 0]] - points[[j, 0]]).powi(2);
    let known = Array2::from_shape_fn((3, 3), |(i, j)| (-squared(i, j) / 1.2).exp());
    let log = Array2::from_shape_fn((3, 3), |(i, j)| -(1.0 + squared(i, j).sqrt()).ln());
    let found = |target: &Array2<f64>| {
        let y = PairTarget::matrix(target.view()).unwrap();
        let ridge = with(PairSolver::NonNegative, lambda);
        let learned = ridge.learn(&hyper, points.view(), &y, &Fitting::seeded(1)).unwrap();
        let fitted = learned.kernel.gram(points.view(), 1);
        let error = (&fitted - target).mapv(|e| e * e).sum() / 9.0;
        let objective = error + lambda * learned.kernel.norm_squared(1);
        let value = learned.kernel.block(array![[0.2]].view(), array![[0.7]].view(), 1)[[0, 0]];
        (learned, objective, value)
    };
    let tolerance = 1e-8;
    let near = |found: f64, name: &str| {
        assert_relative_eq!(found, number(&golden[name]), max_relative = tolerance);
    };
    let coefficients = |learned: &Learned, name: &str| {
        let wanted = numbers(&golden[name]);
        assert_abs_diff_eq!(learned.facts["support-pairs"], wanted.len() as f64);
        let found = learned.kernel.coefficients().to_owned();
        assert_relative_eq!(found, wanted, max_relative = tolerance);
    };
    let (learned, objective, value) = found(&signs);
    coefficients(&learned, "signs-coefficients");
    near(objective, "signs-objective");
    near(value, "signs-value");
    let (learned, objective, value) = found(&ones);
    coefficients(&learned, "ones-coefficients");
    near(objective, "ones-objective");
    near(value, "ones-value");
    // All are positive there, one of them by less than the tolerance tells.
    let (_, objective, value) = found(&known);
    near(objective, "gaussian-objective");
    near(value, "gaussian-value");
    // Nothing that is not positive is reached.
    let (learned, objective, value) = found(&log);
    assert_abs_diff_eq!(learned.facts["support-pairs"], 0.0);
    near(objective, "log-objective");
    assert_abs_diff_eq!(value, 0.0);
}

#[test]
fn optimality_of_the_regression_with_a_tube_holds_over_ordered_pairs() {
    let x = random(16, 3, 13);
    let labels = halves(16);
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let variance = total_variance(x.view());
    for hyper in
        [gaussian(x.view()), HyperKernel::Wishart(WishartHyper::isotropic(variance, 3).unwrap())]
    {
        for (cost, epsilon) in [(0.3, 0.1), (10.0, 0.01)] {
            let svr = PairSvr { cost, epsilon, tolerance: 1e-8, ..PairSvr::default() };
            let learned = svr.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
            assert!(matches!(learned.convergence, Convergence::Converged { .. }));
            let fitted = learned.kernel.gram(x.view(), 1);
            let mut sum = 0.0;
            for (&(i, j), &gamma) in
                learned.kernel.pairs().as_slice().iter().zip(&learned.kernel.coefficients())
            {
                sum += gamma;
                let points = learned.kernel.points();
                let row =
                    |p: usize| x.rows().into_iter().position(|own| own == points.row(p)).unwrap();
                let (i, j) = (row(i), row(j));
                let weight = if i == j { 1.0 } else { 2.0 };
                let error = target.of(i, j) - fitted[[i, j]];
                assert!(gamma.abs() <= weight * cost + 1e-12);
                // On the tube's edge inside the box, beyond it at the bound, on gamma's side.
                assert!(error * gamma.signum() >= epsilon - 1e-6);
                if gamma.abs() < weight * cost - 1e-9 {
                    assert_abs_diff_eq!(error.abs(), epsilon, epsilon = 1e-6);
                }
            }
            assert_abs_diff_eq!(sum, 0.0, epsilon = 1e-9);
            let support = learned.facts["support-pairs"];
            let outside = (0..16)
                .flat_map(|i| (i..16).map(move |j| (i, j)))
                .filter(|&(i, j)| (target.of(i, j) - fitted[[i, j]]).abs() > epsilon + 1e-6)
                .count();
            assert!(outside as f64 <= support);
        }
    }
}

#[test]
fn a_path_of_tubes_is_a_fit_a_cost_and_ends_where_the_cost_decides_nothing_more() {
    let x = random(16, 3, 13);
    let labels = halves(16);
    let variance = total_variance(x.view());
    let fitting = Fitting::seeded(1);
    let costs: Vec<f64> = (-4..9).map(|power| 10f64.powi(power)).collect();
    let known = Array2::from_shape_fn((16, 16), |(i, j)| {
        (-(&x.row(i) - &x.row(j)).mapv(|d| d * d).sum() / (2.0 * variance)).exp()
    });
    let targets = [
        // Errors of labels are bounded by the cost, however large, for longer than those of a kernel.
        (PairTarget::classes(&labels, 1.0, -1.0).unwrap(), 0.1),
        (PairTarget::matrix(known.view()).unwrap(), 0.02),
    ];
    let hypers =
        [gaussian(x.view()), HyperKernel::Wishart(WishartHyper::isotropic(variance, 3).unwrap())];
    let mut lengths = Vec::new();
    for (target, epsilon) in &targets {
        for hyper in &hypers {
            // Cut off, the run of the largest cost is that of a smaller one all the same.
            for steps in [200, 20_000] {
                let svr = PairSvr { steps, epsilon: *epsilon, ..PairSvr::default() };
                let path = svr.learn_path(hyper, x.view(), target, &costs, &fitting).unwrap();
                for (index, &cost) in costs.iter().enumerate() {
                    let own = PairSvr { cost, ..svr.clone() };
                    let own = own.learn(hyper, x.view(), target, &fitting).unwrap();
                    assert_eq!(path[index.min(path.len() - 1)], own, "C = {cost:e}");
                }
                lengths.push(path.len());
            }
        }
    }
    assert!(lengths.iter().all(|&length| length > 3), "{lengths:?}");
    assert!(lengths.iter().filter(|&&length| length < costs.len()).count() >= 4, "{lengths:?}");
    let svr = PairSvr::default();
    for costs in [&[][..], &[1.0, 0.1], &[1.0, 1.0]] {
        let refused = svr.learn_path(&hypers[0], x.view(), &targets[0].0, costs, &fitting);
        assert!(refused.unwrap_err().to_string().contains("ascending, and at least one"));
    }
}

#[test]
fn a_width_that_leaves_double_precision_is_named_with_what_it_makes() {
    let x = random(9, 3, 13);
    for (name, params) in [
        ("width", HyperClassifierParams { width: 1e305, ..Default::default() }),
        ("spread", HyperClassifierParams { spread: 1e305, ..Default::default() }),
        ("width", HyperClassifierParams { width: 1e-305, ..Default::default() }),
    ] {
        let said = params.kernel(x.view()).unwrap_err().to_string();
        assert!(said.contains(&format!("`{name}` = 1e")) && said.contains("--scale"), "{said}");
    }
    let huge = &x * 1e200;
    let said = HyperClassifierParams::default().kernel(huge.view()).unwrap_err().to_string();
    assert!(said.contains("`width` = 1e0 makes a variance of inf"), "{said}");
}

/// `C` went unscaled from 48 points to 1600, where the same number is a thousandth of the ridge.
#[test]
fn a_cost_is_carried_over_as_the_ridge_that_it_stands_for() {
    let ridge = |cost: f64, m: f64| 1.0 / (2.0 * cost * m * m);
    for own in [40.0, 80.0, 276.0, 1600.0] {
        let cost = PairSvr::carried_over(0.1, 80.0, own);
        assert!((ridge(cost, own) / ridge(0.1, 80.0) - 1.0).abs() < 1e-12, "{own}");
    }
}

/// On all pairs and on a sample, a ridge is the cost of its number of points.
#[test]
fn a_ridge_of_the_regression_is_the_cost_of_its_points() {
    let x = random(24, 2, 14);
    let labels = halves(24);
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let lambda = 1e-3;
    for exact_points in [24, 10] {
        let usual = PairSvr { exact_points, landmarks: 8, pairs: 500, ..PairSvr::default() };
        let learn = |svr: PairSvr| {
            svr.learn(&gaussian(x.view()), x.view(), &target, &Fitting::seeded(1)).unwrap()
        };
        let by_ridge = learn(PairSvr { ridge: Some(lambda), ..usual.clone() });
        let cost = 1.0 / (2.0 * lambda * 24.0 * 24.0);
        let by_cost = learn(PairSvr { cost, ..usual.clone() });
        assert_eq!(by_ridge.kernel.coefficients(), by_cost.kernel.coefficients());
        let other = learn(usual);
        assert_ne!(by_ridge.kernel.coefficients(), other.kernel.coefficients());
    }
}

/// The same folds, and as many points right; of the settings that get so many right the one that regularises the
/// most, of least squares and of the regression with a tube alike.
#[test]
fn ties_go_to_more_regularisation() {
    let mut differed = 0;
    for (stage1, name) in [(Stage1::Ridge, "chosen-lambda"), (Stage1::Svr, "chosen-pair-cost")] {
        for rows in [24, 40, 60] {
            let sample = square(rows);
            let fit = |search| {
                let params = HyperClassifierParams { stage1, search, ..Default::default() };
                let learner = params.checked().unwrap();
                learner.fit(&sample, &mut Fitting::seeded(1)).unwrap().facts
            };
            let (plain, tied) = (fit(Search::Folds), fit(Search::RegularisedFolds));
            assert_abs_diff_eq!(plain["search-right"], tied["search-right"]);
            let ratio = tied[name] / plain[name];
            let more = if stage1 == Stage1::Svr { 1.0 / ratio } else { ratio };
            assert!(
                more > 1.0 - 1e-9,
                "{stage1:?} of {rows} rows: {} for {}",
                tied[name],
                plain[name]
            );
            differed += usize::from(more > 2.0);
            // Where the regression is as strong, the machine is the more regularised one.
            if (more - 1.0).abs() < 1e-9 {
                assert!(tied["chosen-cost"] <= plain["chosen-cost"] * (1.0 + 1e-9), "{tied:?}");
            }
        }
    }
    assert!(differed >= 2, "{differed}");
}

/// What `auto` does not read is named; what it reads, or what is as it would be, is not.
#[test]
fn settings_that_the_chosen_solver_does_not_read_are_facts() {
    let sample = square(40);
    let unread = |params: HyperClassifierParams| -> Vec<String> {
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        let names = fitted.facts.keys();
        names.filter_map(|name| name.strip_prefix("unread-")).map(ToOwned::to_owned).collect()
    };
    let base = HyperClassifierParams::default();
    // 40 points: by Cholesky.
    let few = HyperClassifierParams { pairs: Some(9), rank: 7, tolerance: 0.5, ..base.clone() };
    assert_eq!(unread(few.clone()), ["pairs", "rank", "tolerance"]);
    let named = HyperClassifierParams { solver: PairSolver::Nystrom, ..few.clone() };
    assert!(unread(HyperClassifierParams { landmarks: Some(5), ..named }).is_empty());
    // Landmarks: in linear time, or with drawn pairs by Nyström.
    let linear = HyperClassifierParams { landmarks: Some(5), rank: 7, ..base.clone() };
    assert!(unread(linear).is_empty());
    let drawn = HyperClassifierParams { landmarks: Some(5), ..few.clone() };
    assert_eq!(unread(drawn), ["rank", "tolerance"]);
    // The folds are solved by conjugate gradients, whatever the fit.
    assert_eq!(unread(HyperClassifierParams { search: Search::Folds, ..few }), ["pairs", "rank"]);
    assert!(unread(base).is_empty());
}

/// Widths far from what the inputs are apart leave a kernel that is the same for any two rows; the fit says so.
#[test]
fn a_flat_kernel_is_a_fact() {
    let sample = square(40);
    let variation = |stage1, width| {
        let params = HyperClassifierParams { stage1, width, ..Default::default() };
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        fitted.facts[mercer_learning::fact::KERNEL_VARIATION]
    };
    for stage1 in [Stage1::Ridge, Stage1::Svr, Stage1::NonNegative] {
        for width in [1e-20, 1e20] {
            assert!(variation(stage1, width) < 1e-9, "{stage1:?} {width:e}");
        }
        let usual = variation(stage1, 1.0);
        assert!(usual > 0.1, "{stage1:?} {usual}");
    }
    // Also where a row is there twice, and where features take the place of the machine.
    let twice = Array2::from_shape_fn((41, 2), |(i, c)| sample.inputs()[[i % 40, c]]);
    let Targets::Classes { labels, .. } = sample.targets() else { panic!("classes") };
    let labels = (0..41).map(|i| labels[i % 40]).collect();
    let sample = Sample::classification(twice, labels, 2).unwrap();
    for stage2 in [Stage2::Machine, Stage2::Features] {
        let params = HyperClassifierParams { stage2, width: 1e-20, ..Default::default() };
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        assert!(fitted.facts[mercer_learning::fact::KERNEL_VARIATION] < 1e-9, "{stage2:?}");
    }
}

/// What is found on few rows is fitted to many: no search ends with a `C`, which fits one number of them.
#[test]
fn a_tuned_regression_with_a_tube_has_a_ridge() {
    let task = Task::Classification { classes: 2 };
    let shape = Shape { rows: 300, features: 4, task };
    for name in ["hyper-svr", "hyper-svr-wishart"] {
        let method = find(METHODS, name).unwrap();
        let space = (method.space)(&shape);
        assert!(space.axes.iter().any(|axis| axis.name == "pair_ridge"), "{name}");
        assert!(space.axes.iter().all(|axis| axis.name != "pair_cost"), "{name}");
        assert!(space.anchors.iter().all(|anchor| anchor.get("pair_ridge").is_some()), "{name}");
        assert!((method.user_defaults)(&shape).get("pair_ridge").is_some(), "{name}");
    }
}

#[test]
fn the_regression_by_a_sample_comes_near_that_of_all_pairs() {
    let x = random(40, 2, 14);
    let known = Kernel::Gaussian { std: 1.5 }.gram(x.view());
    let target = PairTarget::matrix(known.view()).unwrap();
    let hyper = gaussian(x.view());
    let svr = PairSvr { epsilon: 0.02, cost: 10.0, ..PairSvr::default() };
    let all = svr.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
    let some = PairSvr { exact_points: 10, landmarks: 8, pairs: 4000, ..svr };
    let some = some.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
    for learned in [&all, &some] {
        let gap = (&learned.kernel.gram(x.view(), 1) - &known).mapv(f64::abs);
        let largest = gap.iter().fold(0.0f64, |a, &b| a.max(b));
        assert!(largest < 0.08, "{largest}");
    }
}

#[test]
fn duplicate_points_and_equal_labels_are_no_obstacle() {
    let mut x = random(12, 2, 15);
    let first = x.row(0).to_owned();
    x.row_mut(5).assign(&first);
    x.row_mut(7).assign(&first);
    let hyper = gaussian(x.view());
    let labels = [1u32; 12];
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    for solver in [
        PairSolver::Cholesky,
        PairSolver::ConjugateGradients,
        PairSolver::Nystrom,
        PairSolver::LinearTime,
        PairSolver::NonNegative,
    ] {
        let ridge = with(solver, 1e-6);
        let learned = ridge.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
        // All labels equal: the target is 1 everywhere, and pairs of far points are hard to reach.
        let gram = learned.kernel.gram(x.view(), 1);
        let error = gram.mapv(|value| (value - 1.0).abs());
        assert!(error.iter().all(|e| e.is_finite()));
        assert!(error.mean().unwrap() < 0.3, "{solver:?}: {:?}", error.mean());
        // What is learned of equal points is equal.
        for row in [5, 7] {
            for other in 0..12 {
                assert_abs_diff_eq!(gram[[0, other]], gram[[row, other]], epsilon = 1e-9);
            }
        }
    }
}

#[test]
fn the_search_finds_what_tells_the_classes_apart() {
    // A ring around a disc, in the plane.
    let angle = |i: usize| i as f64 * 2.4;
    let radius = |i: usize| if i.is_multiple_of(2) { 0.3 } else { 1.0 };
    let wobble = |i: usize| 1.0 + 0.2 * (i as f64 * 7.7).sin();
    let inputs = Array2::from_shape_fn((60, 2), |(i, c)| {
        let turned = if c == 0 { angle(i).cos() } else { angle(i).sin() };
        radius(i) * wobble(i) * turned
    });
    let labels: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let sample = Sample::classification(inputs, labels, 2).unwrap();
    for stage1 in [Stage1::Ridge, Stage1::Svr] {
        let params = HyperClassifierParams { stage1, search: Search::Folds, ..Default::default() };
        let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
        assert!(fitted.facts["search-right"] >= 57.0, "{stage1:?} {:?}", fitted.facts);
        assert_abs_diff_eq!(fitted.facts["search-points"], 60.0);
        assert!(fitted.facts["chosen-cost"] >= 2f64.powi(-5));
        // What was not searched has no choice.
        let ridge = stage1 == Stage1::Ridge;
        assert_eq!(fitted.facts.contains_key("chosen-lambda"), ridge);
        assert_eq!(fitted.facts.contains_key("chosen-pair-cost"), !ridge);
        assert_eq!(fitted.facts.contains_key("pair-cost"), !ridge);
    }
}

/// What the folds count is what regressions in the span of so few landmarks, over so few pairs, and their
/// machines get right; without landmarks nothing is different from the folds of exact regressions.
#[test]
fn fitted_folds_count_what_the_fit_solves() {
    let sample = square(40);
    let Targets::Classes { labels, .. } = sample.targets() else { panic!("classes") };
    let fit = |params: &HyperClassifierParams| {
        let learner = params.clone().checked().unwrap();
        learner.fit(&sample, &mut Fitting::seeded(1)).unwrap().facts
    };
    let base = HyperClassifierParams { search: Search::FittedFolds, ..Default::default() };
    let folds = HyperClassifierParams { search: Search::Folds, ..base.clone() };
    let few = |stage1| {
        let usual = HyperClassifierParams { stage1, exact_points: 10, ..base.clone() };
        HyperClassifierParams { landmarks: Some(4), pairs: Some(300), subsets: 2, ..usual }
    };
    for (params, solver) in [
        (base.clone(), PairSolver::ConjugateGradients),
        (few(Stage1::Ridge), PairSolver::Nystrom),
        (few(Stage1::NonNegative), PairSolver::NonNegative),
        (few(Stage1::Svr), PairSolver::Auto),
    ] {
        let facts = fit(&params);
        let lambda = facts.get("chosen-lambda").copied().unwrap_or_default();
        let pair_cost = facts.get("chosen-pair-cost").copied().unwrap_or(1.0);
        let (spread, cost) = (facts["chosen-spread"], facts["chosen-cost"]);
        let fitting = Fitting::seeded(1);
        let held = mercer_learning::folds(labels, 5, &mut fitting.streams.rng("folds"));
        let mut right = 0;
        for fold in 0..5 {
            let (out, kept): (Vec<usize>, Vec<usize>) = (0..40).partition(|&row| held[row] == fold);
            let part = |rows: &[usize]| -> (Array2<f64>, Vec<u32>) {
                let labels = rows.iter().map(|&row| labels[row]).collect();
                (sample.inputs().select(Axis(0), rows), labels)
            };
            let ((train, own), (test, wanted)) = (part(&kept), part(&out));
            let variance = total_variance(train.view());
            let hyper = GaussianHyper::constructed(variance, spread * variance).unwrap();
            let hyper = HyperKernel::Gaussian(hyper);
            let other = params.other;
            let target = PairTarget::classes(&own, 1.0, other).unwrap();
            let (landmarks, pairs) = (params.landmarks, params.pairs);
            let learned = if params.stage1 == Stage1::Svr {
                let svr =
                    PairSvr { exact_points: 10, landmarks: 4, pairs: 300, ..Default::default() };
                let svr = PairSvr { cost: pair_cost, steps: 100_000, ..svr };
                svr.learn(&hyper, train.view(), &target, &fitting)
            } else {
                let ridge = PairRidge { landmarks, pairs, ..with(solver, lambda) };
                ridge.learn(&hyper, train.view(), &target, &fitting)
            };
            let kernel = learned.unwrap().kernel;
            let smo = mercer_solvers::Smo { max_steps: Some(100_000), ..Default::default() };
            let gram = kernel.gram(train.view(), 1);
            let check = || Ok::<(), mercer_solvers::SolverError>(());
            // From cost to cost, as the search goes: with an indefinite kernel another start may end elsewhere.
            let costs: Vec<f64> = (-5..=5).map(|power| 2f64.powi(power)).collect();
            let at = costs.iter().position(|other| (other / cost - 1.0).abs() < 1e-9).unwrap();
            let machines =
                mercer_solvers::OneVersusOne::path(gram.view(), &own, &costs, &smo, check);
            let machines = machines.unwrap();
            let said = machines[at].classes(kernel.block(test.view(), train.view(), 1).view());
            right += said.iter().zip(&wanted).filter(|(said, wanted)| said == wanted).count();
        }
        assert_eq!(facts["search-right"] as usize, right, "{solver:?} {facts:?}");
    }
    assert_eq!(fit(&base), fit(&folds));
    let exact = HyperClassifierParams { search: Search::Folds, ..few(Stage1::Ridge) };
    assert_ne!(fit(&few(Stage1::Ridge)), fit(&exact));
}

/// What nobody set is not blamed: few rows have few landmarks.
#[test]
fn the_default_landmarks_fit_few_rows() {
    let x = random(12, 2, 24);
    let labels: Vec<u32> = (0..12).map(|i| i % 2).collect();
    let sample = Sample::classification(x, labels, 2).unwrap();
    let fit = |settings: Settings| {
        let learner = find(METHODS, "hyper-svr").unwrap().learner(&settings, sample.task());
        learner.unwrap().fit(&sample, &mut Fitting::seeded(1))
    };
    assert!(fit(Settings::new().with("exact_points", 5)).is_ok());
    let error = fit(Settings::new().with("exact_points", 5).with("landmarks", 13)).err().unwrap();
    assert!(matches!(error, LearningError::Setting { name: "landmarks", .. }), "{error}");
}

/// `D` of columns that vary alike is the same either way; a column that varies ten times as much counts a
/// hundredth of what it did beside the others.
#[test]
fn the_scatter_by_feature_looks_at_each_column_by_its_variance() {
    let x = random(30, 3, 44);
    let scaled = &x * &array![1.0, 1.0, 10.0];
    let kernel = |inputs: &Array2<f64>, scatter| {
        let hyper = HyperForm::Wishart;
        HyperClassifierParams { hyper, scatter, ..Default::default() }
            .kernel(inputs.view())
            .unwrap()
    };
    let of = |kernel: &HyperKernel, x: &Array2<f64>| {
        kernel.of((x.row(0), x.row(1)), (x.row(2), x.row(3)))
    };
    // Up to the scale σ² of all, which is a multiple of the total variance, units of columns do not matter.
    let ratio = total_variance(scaled.view()) / total_variance(x.view());
    let by_feature = HyperClassifierParams {
        hyper: HyperForm::Wishart,
        scatter: Scatter::PerFeature,
        ..Default::default()
    };
    let wide = HyperClassifierParams { width: 1.0 / ratio, ..by_feature.clone() };
    let isotropic = kernel(&x, Scatter::Isotropic);
    let (plain, own) = (kernel(&x, Scatter::PerFeature), wide.kernel(scaled.view()).unwrap());
    assert!((of(&plain, &x) - of(&isotropic, &x)).abs() > 1e-6);
    let means = [x.var_axis(Axis(0), 0.0).mean(), scaled.var_axis(Axis(0), 0.0).mean()];
    let factor = means[1].unwrap() / means[0].unwrap();
    let again = HyperClassifierParams { width: factor / ratio, ..by_feature };
    assert_relative_eq!(
        of(&again.kernel(scaled.view()).unwrap(), &scaled),
        of(&plain, &x),
        max_relative = 1e-9
    );
    assert!(of(&own, &scaled) > 0.0);
}

/// In many columns the isotropic scatter leaves a pair no similarity to itself; by default it is not taken
/// there, but where folds search what the paper searches.
#[test]
fn the_wishart_kernel_does_not_vanish_in_many_columns() {
    let typical = |d: usize, scatter: Scatter, search: Search| {
        let x = random(60, d, 45);
        let params = HyperClassifierParams {
            hyper: HyperForm::Wishart,
            scatter,
            search,
            ..HyperClassifierParams::default()
        };
        let kernel = params.kernel(x.view()).unwrap();
        let HyperKernel::Wishart(wishart) = kernel else { panic!("no Wishart") };
        let all: Vec<f64> =
            (1..60).map(|i| wishart.of((x.row(0), x.row(i)), (x.row(0), x.row(i)))).collect();
        all.iter().sum::<f64>() / 59.0
    };
    let of = |d, scatter| typical(d, scatter, Search::None);
    assert!(of(60, Scatter::Isotropic) < 1e-6);
    for d in [8, 60] {
        assert!((0.25..0.5).contains(&of(d, Scatter::Matched)), "{}", of(d, Scatter::Matched));
        assert_abs_diff_eq!(of(d, Scatter::Auto), of(d, Scatter::Matched));
    }
    assert_abs_diff_eq!(of(3, Scatter::Auto), of(3, Scatter::Isotropic));
    let folds = typical(60, Scatter::Auto, Search::Folds);
    assert_abs_diff_eq!(folds, of(60, Scatter::Isotropic));
}

/// The second stage on signed features keeps the laws of every method, and is ridge classification with the
/// flipped kernel of these features, solved over the rows.
#[test]
fn the_linear_second_stage_conforms_and_is_kernel_ridge_with_the_flipped_kernel() {
    let settings = Settings::new().with("stage2", "features").with("cost", 10.0);
    let method = find(METHODS, "hyper-krr-linear").unwrap();
    Conformance::of(method).with(settings.clone()).check().unwrap();
    let x = random(90, 3, 45);
    let labels: Vec<u32> =
        x.rows().into_iter().map(|x| u32::from(x[0] > x[1] * x[2] + 0.2)).collect();
    let sample = Sample::classification(x.clone(), labels.clone(), 2).unwrap();
    let settings = (method.defaults)(&sample.shape()).overridden_by(&settings);
    let learner = method.learner(&settings, sample.task()).unwrap();
    let fitted = learner.fit(&sample, &mut Fitting::seeded(3)).unwrap();
    let found = fitted.predictor.decision(x.view());
    let right = labels.iter().zip(found.column(1)).filter(|(l, f)| (**f > 0.0) == (**l == 1));
    assert!(right.count() > 75);
    // By hand: (K_c + I/C) α = y_c with the centred kernel of the features without their signs.
    let kernel = {
        let params: HyperClassifierParams = settings.read("hyper-krr-linear").unwrap();
        let learner = params.checked().unwrap();
        learner.learn_kernel(x.view(), &labels, &Fitting::seeded(3)).unwrap().kernel
    };
    let features = KreinFeatures::of(&kernel, x.view(), 100, 1e-3).unwrap();
    assert_abs_diff_eq!(fitted.facts["features"], features.len() as f64);
    let phi = features.at(x.view());
    let centred = &phi - &phi.mean_axis(Axis(0)).unwrap();
    let y = Array1::from_iter(labels.iter().map(|&label| if label == 1 { 1.0 } else { -1.0 }));
    let level = y.mean().unwrap();
    let mut gram = centred.dot(&centred.t());
    gram.diag_mut().mapv_inplace(|entry| entry + 0.1);
    let factor = mercer_linalg::Cholesky::factor(gram).unwrap();
    let alpha = factor.solve(&(&y - level).insert_axis(Axis(1))).unwrap().remove_axis(Axis(1));
    let wanted = centred.dot(&centred.t().dot(&alpha)) + level;
    assert_abs_diff_eq!(found.column(1).to_owned(), wanted, epsilon = 1e-6);
    assert_abs_diff_eq!(found.column(0).to_owned(), -&wanted, epsilon = 1e-6);
    let refused = |params: HyperClassifierParams| params.checked().unwrap_err().to_string();
    let features = HyperClassifierParams { stage2: Stage2::Features, ..Default::default() };
    let said = refused(HyperClassifierParams { hyper: HyperForm::Wishart, ..features.clone() });
    assert!(said.contains("`stage2`"), "{said}");
    for (search, word) in [
        (Search::Folds, "`folds`"),
        (Search::PrintedFolds, "`printed-folds`"),
        (Search::FittedFolds, "`fitted-folds`"),
        (Search::RegularisedFolds, "`regularised-folds`"),
    ] {
        let said = refused(HyperClassifierParams { search, ..features.clone() });
        assert!(said.contains("`search`") && said.contains(word), "{said}");
    }
    let spectrum = mercer_solvers::PsdCorrection::Clip;
    assert!(refused(HyperClassifierParams { spectrum, ..features }).contains("`spectrum`"));
}

#[test]
fn bad_settings_of_the_classifier_are_named() {
    let named = |params: HyperClassifierParams| match params.checked() {
        Err(LearningError::Setting { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let base = HyperClassifierParams::default();
    assert_eq!(named(HyperClassifierParams { width: 0.0, ..base.clone() }), "width");
    assert_eq!(named(HyperClassifierParams { spread: 0.0, ..base.clone() }), "spread");
    let narrow = HyperClassifierParams { width: 1e-200, hyper: HyperForm::Wishart, ..base.clone() };
    let sample = square(12);
    let error = narrow.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).err().unwrap();
    assert!(matches!(error, LearningError::Setting { name: "width", .. }), "{error}");
    // Squared distances over so little of a variance are no numbers.
    for (width, spread, name) in [(1e-250, 1.0, "width"), (1e-150, 1e-100, "spread")] {
        let narrow = HyperClassifierParams { width, spread, ..base.clone() };
        let error = narrow.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).err().unwrap();
        let named = matches!(error, LearningError::Setting { name: of, .. } if of == name);
        assert!(named, "{error}");
    }
    assert_eq!(named(HyperClassifierParams { freedom: 1.0, ..base.clone() }), "freedom");
    assert_eq!(named(HyperClassifierParams { cost: f64::NAN, ..base.clone() }), "cost");
    assert_eq!(named(HyperClassifierParams { points: 1, ..base.clone() }), "points");
    assert_eq!(named(HyperClassifierParams { other: 1.0, ..base.clone() }), "other");
    let wishart = HyperClassifierParams {
        hyper: HyperForm::Wishart,
        solver: PairSolver::LinearTime,
        ..base.clone()
    };
    let said = wishart.clone().checked().unwrap_err().to_string();
    assert!(said.contains("`solver` is `linear-time`") && said.contains("Wishart"), "{said}");
    assert_eq!(named(wishart), "solver");
    let svr =
        HyperClassifierParams { stage1: Stage1::Svr, solver: PairSolver::Cholesky, ..base.clone() };
    assert_eq!(named(svr), "solver");
    // All rows the same: no variance to measure widths by.
    let sample = Sample::classification(Array2::ones((6, 2)), vec![0, 1, 0, 1, 0, 1], 2).unwrap();
    let refused = base.checked().unwrap().fit(&sample, &mut Fitting::seeded(1));
    let message = refused.err().unwrap().to_string();
    assert!(message.contains("all rows have the same inputs"), "{message}");
    assert!(!message.contains("--scale"), "{message}");
    // Scaling brings out what is too small to be seen.
    let small = Array2::from_shape_fn((6, 2), |(row, _)| if row < 3 { 0.0 } else { 1e-170 });
    let sample = Sample::classification(small, vec![0, 1, 0, 1, 0, 1], 2).unwrap();
    let learner = HyperClassifierParams::default().checked().unwrap();
    let message = learner.fit(&sample, &mut Fitting::seeded(1)).err().unwrap().to_string();
    assert!(message.contains("--scale"), "{message}");
    // A method that is a solver has no other.
    let method = find(METHODS, "hyper-krr-linear").unwrap();
    let other = Settings::new().with("solver", "cholesky");
    let message = method.learner(&other, sample.task()).err().unwrap().to_string();
    assert!(
        message.contains("`solver` is `cholesky`") && message.contains("`hyper-krr`"),
        "{message}"
    );
}

#[test]
fn bad_input_is_named() {
    let x = random(6, 2, 16);
    let hyper = gaussian(x.view());
    let labels = [0, 1, 0, 1, 0, 1];
    let target = PairTarget::classes(&labels, 1.0, -1.0).unwrap();
    let fitting = Fitting::seeded(1);
    let named = |result: Result<Learned, LearningError>| match result {
        Err(LearningError::Setting { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let run = |ridge: PairRidge| named(ridge.learn(&hyper, x.view(), &target, &fitting));
    let base = PairRidge::default();
    assert_eq!(run(PairRidge { lambda: 0.0, ..base.clone() }), "lambda");
    assert_eq!(run(PairRidge { lambda: f64::NAN, ..base.clone() }), "lambda");
    assert_eq!(run(PairRidge { lambda: 1e300, ..base.clone() }), "lambda");
    assert_eq!(run(PairRidge { landmarks: Some(7), ..base.clone() }), "landmarks");
    assert_eq!(run(PairRidge { landmarks: Some(0), ..base.clone() }), "landmarks");
    assert_eq!(run(PairRidge { subsets: 7, ..base.clone() }), "subsets");
    assert_eq!(run(PairRidge { subsets: 0, ..base.clone() }), "subsets");
    // M > m / v
    assert_eq!(run(PairRidge { landmarks: Some(4), subsets: 2, ..base.clone() }), "landmarks");
    assert_eq!(run(PairRidge { tolerance: 1.0, ..base.clone() }), "tolerance");
    let exact = PairRidge { solver: PairSolver::Cholesky, subsets: 2, ..base.clone() };
    assert_eq!(run(exact), "subsets");
    // Fewer than two points; another number of targets.
    let one = PairTarget::classes(&labels[..1], 1.0, -1.0).unwrap();
    let single = base.learn(&hyper, x.slice(ndarray::s![..1, ..]), &one, &fitting);
    assert_eq!(named(single), "points");
    let short = base.learn(&hyper, x.view(), &one, &fitting);
    assert!(matches!(short, Err(LearningError::Length { inputs: 6, targets: 1 })));
    // A target that is not symmetric, or not a number.
    let mut values = Array2::<f64>::eye(6);
    values[[1, 2]] = 0.5;
    let uneven = PairTarget::matrix(values.view());
    assert!(matches!(uneven, Err(LearningError::Setting { name: "target", .. })));
    values[[2, 1]] = 0.5;
    assert!(PairTarget::matrix(values.view()).is_ok());
    values[[3, 3]] = f64::NAN;
    let missing = PairTarget::matrix(values.view());
    assert!(matches!(missing, Err(LearningError::TargetNotFinite { row: 3, .. })));
    assert!(PairTarget::classes(&labels, 1.0, 1.0).is_err());
    let mut poisoned = x.clone();
    poisoned[[2, 1]] = f64::INFINITY;
    let refused = base.learn(&hyper, poisoned.view(), &target, &fitting);
    assert!(matches!(refused, Err(LearningError::InputNotFinite { row: 2, column: 1, .. })));
    // What has no fast product says so.
    let wishart = HyperKernel::Wishart(WishartHyper::isotropic(1.0, 2).unwrap());
    for solver in [PairSolver::ConjugateGradients, PairSolver::LinearTime] {
        let result = with(solver, 0.1).learn(&wishart, x.view(), &target, &fitting);
        assert_eq!(named(result), "solver");
    }
    let svr = |svr: PairSvr| named(svr.learn(&hyper, x.view(), &target, &fitting));
    assert_eq!(svr(PairSvr { cost: 0.0, ..PairSvr::default() }), "cost");
    assert_eq!(svr(PairSvr { epsilon: -0.1, ..PairSvr::default() }), "epsilon");
    assert_eq!(svr(PairSvr { ridge: Some(0.0), ..PairSvr::default() }), "ridge");
    // Stopped by the limit of steps: in the result.
    let short = PairSvr { steps: 1, ..PairSvr::default() };
    let stopped = short.learn(&hyper, x.view(), &target, &fitting).unwrap();
    assert!(matches!(stopped.convergence, Convergence::NotConverged { .. }));
}

/// What is left of the pair kernel bounds the error at every two points, and with enough pivots nothing is
/// left: the features have the spectrum of the kernel, negative part and all.
#[test]
fn features_with_signs_are_the_indefinite_kernel() {
    let (x, fresh) = (random(120, 3, 41), random(30, 3, 42));
    let distance = |a: ArrayView2<'_, f64>, i: usize, j: usize| {
        (&a.row(i) - &a.row(j)).mapv(|d| d * d).sum().sqrt()
    };
    let log = Array2::from_shape_fn((120, 120), |(i, j)| -distance(x.view(), i, j).ln_1p());
    let target = PairTarget::matrix(log.view()).unwrap();
    let hyper = gaussian(x.view());
    let HyperKernel::Gaussian(gaussian) = &hyper else { unreachable!() };
    let ridge = PairRidge { landmarks: Some(6), ..with(PairSolver::LinearTime, 1e-5) };
    let learned = ridge.learn(&hyper, x.view(), &target, &Fitting::seeded(1)).unwrap();
    for kernel in [learned.kernel.clone(), learned.kernel.with_bias(-0.7)] {
        let gram = kernel.gram(x.view(), 1);
        let exact = mercer_solvers::Spectrum::of(gram.view()).unwrap();
        assert!(exact.negative_share() > 0.2, "{}", exact.negative_share());
        let mut last = f64::INFINITY;
        for rank in [5, 20, 80, 120] {
            let features = KreinFeatures::of(&kernel, x.view(), rank, 0.0).unwrap();
            assert_eq!(features.at(fresh.view()).dim(), (30, features.len()));
            assert!(features.signs().iter().all(|sign| [-1.0, 1.0].contains(sign)));
            for (left, right) in [(x.view(), x.view()), (fresh.view(), x.view())] {
                let gap = features.block(left, right) - kernel.block(left, right, 1);
                let (e, f) = (features.residual(left), features.residual(right));
                let beta = gaussian.pair_kernel().cross_gram(left, right);
                let plain = kernel.block(left, right, 1) - kernel.bias();
                for ((i, j), gap) in gap.indexed_iter() {
                    let bound =
                        (e[i] * f[j]).max(0.0).sqrt() * (plain[[i, j]] / beta[[i, j]]).abs();
                    assert!(gap.abs() <= bound + 1e-6, "rank {rank}: {gap} {bound}");
                }
            }
            let gap = close(&features.block(x.view(), x.view()), &gram);
            assert!(gap <= last + 1e-9, "{gap} after {last}");
            last = gap;
        }
        assert!(last < 1e-6, "{last}");
        let features = KreinFeatures::of(&kernel, x.view(), 120, 0.0).unwrap();
        let found = features.block(x.view(), x.view());
        let found = mercer_solvers::Spectrum::of(((&found + &found.t()) * 0.5).view()).unwrap();
        assert_abs_diff_eq!(found.smallest(), exact.smallest(), epsilon = 1e-5);
        assert_abs_diff_eq!(found.negative_share(), exact.negative_share(), epsilon = 1e-4);
        // Few functions do where the kernel has few.
        let fewer = KreinFeatures::of(&kernel, x.view(), 120, 1e-3).unwrap();
        assert!(fewer.len() < features.len());
        assert!(close(&fewer.block(x.view(), x.view()), &gram) < 0.05);
    }
    let named = |result: Result<KreinFeatures, LearningError>| match result {
        Err(LearningError::Setting { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let kernel = with(PairSolver::Cholesky, 0.1);
    let few = x.slice(ndarray::s![..9, ..]);
    let known = log.slice(ndarray::s![..9, ..9]);
    let target = PairTarget::matrix(known).unwrap();
    let learned = |hyper: &HyperKernel| {
        kernel.learn(hyper, few, &target, &Fitting::seeded(1)).unwrap().kernel
    };
    let wishart = HyperKernel::Wishart(WishartHyper::isotropic(1.0, 3).unwrap());
    assert_eq!(named(KreinFeatures::of(&learned(&wishart), few, 3, 0.0)), "kernel");
    let kernel = learned(&hyper);
    assert_eq!(named(KreinFeatures::of(&kernel, few, 0, 0.0)), "rank");
    assert_eq!(named(KreinFeatures::of(&kernel, few, 3, 1.0)), "tolerance");
    let none = few.slice(ndarray::s![..0, ..]);
    assert_eq!(named(KreinFeatures::of(&kernel, none, 3, 0.0)), "reference points");
    let flat = few.slice(ndarray::s![.., ..2]);
    assert!(KreinFeatures::of(&kernel, flat, 3, 0.0).is_err());
}

/// What is said of a fit that did not converge names settings that its method has, and that are heeded.
#[test]
fn an_end_above_the_tolerance_names_what_the_method_can_be_told() {
    let ended = mercer_learning::Convergence::NotConverged { iterations: 100, residual: 0.5 };
    let shape = Shape { rows: 100, features: 4, task: Task::Classification { classes: 2 } };
    let said = |name: &str, given: Settings| {
        let method = find(super::METHODS, name).unwrap();
        let defaults = (method.settings)()
            .into_iter()
            .fold(Settings::new(), |all, setting| all.with(setting.name, setting.default));
        let settings =
            defaults.overridden_by(&method.begun(&shape)).overridden_by(&method.as_meant(&given));
        let told = method.unconverged(ended, &settings, shape.task).unwrap();
        told.split_once("; take ").map(|(_, remedy)| remedy.to_owned()).unwrap()
    };
    let none = Settings::new;
    let plain = said("hyper-svr", none());
    assert_eq!(plain, "a larger `pair_ridge` or `pair_tolerance`, or a smaller `cost`");
    let by_cost = said("hyper-svr", none().with("pair_cost", 1e5));
    assert_eq!(by_cost, "a larger `pair_tolerance`, or a smaller `pair_cost` or `cost`");
    let ridge = said("hyper-krr", none());
    assert_eq!(
        ridge,
        "more `iterations`, or a larger `lambda` or `tolerance`, or a smaller `cost`"
    );
    let direct = said("hyper-krr", none().with("solver", "cholesky"));
    assert_eq!(direct, "a larger `lambda`, or a smaller `cost`");
}

/// Of a first run alone: studies take a learned kernel as it is. Signed features flip by themselves.
#[test]
fn a_first_run_flips_the_negative_eigenvalues() {
    let sample = Sample::classification(random(40, 2, 9), (0..40).map(|i| i % 2).collect(), 2);
    let sample = sample.unwrap();
    for method in METHODS {
        let first = method.begun(&sample.shape());
        let spectrum = first.get("spectrum").and_then(|value| value.as_str());
        let positive = method.name == "hyper-non-negative";
        assert_eq!(spectrum == Some("flip"), !positive, "{}", method.name);
        let studied = (method.defaults)(&sample.shape());
        assert_eq!(studied.get("spectrum").unwrap(), "as-is", "{}", method.name);
    }
    let method = find(METHODS, "hyper-krr").unwrap();
    let features = method.begun(&sample.shape()).with("stage2", "features");
    assert!(method.learner(&features, sample.task()).is_ok());
}
