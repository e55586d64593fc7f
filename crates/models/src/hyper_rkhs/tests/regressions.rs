//! The regressions on pairs.

use super::*;

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
    let text = include_str!("../../../../../experiments/golden/base.toml");
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
