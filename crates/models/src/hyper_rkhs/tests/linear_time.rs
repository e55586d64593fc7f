//! All pairs in linear time.

use super::*;

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

/// Up to 400 points the bound is one: it covers the distance to Nyström's own solution, found over all pairs one by
/// one. It is no more than a few times too large.
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

/// The learned kernel is as promised: with a small ridge it is farther from the exact one than the normal matrix is,
/// and the factors grow until it, too, is near.
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

/// The smaller the ridge, the more the last digits of the factors matter: met or not, their tolerance is not the
/// solution's tolerance.
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

/// Rows are far apart in clusters of 180, 18 and 2: three pivots are one of each. Of copies the rest is drawn.
#[test]
fn pivots_miss_no_cluster_and_copies_leave_the_rest_to_chance() {
    use super::super::landmark_choice::pivots;
    let noise = random(200, 2, 3) * 0.05;
    let cluster =
        |row: usize| if row < 180 { 0.0 } else { 4.0 + f64::from(u8::from(row > 197)) * 4.0 };
    let x = Array2::from_shape_fn((200, 2), |(row, column)| cluster(row) + noise[[row, column]]);
    let hyper = GaussianHyper::printed(0.5, 0.25).unwrap();
    let found = pivots(&hyper, x.view(), 3, &Fitting::seeded(1)).unwrap();
    assert!(found[0] < 180 && (180..198).contains(&found[1]) && found[2] > 197, "{found:?}");
    let copies = Array2::from_shape_fn((6, 2), |(row, _)| (row % 2) as f64);
    let mut found = pivots(&hyper, copies.view(), 4, &Fitting::seeded(1)).unwrap();
    found.dedup();
    assert_eq!(found.len(), 4);
    assert!(found.iter().any(|row| row % 2 == 0) && found.iter().any(|row| row % 2 == 1));
}

/// Rows in an order that has a period, as of a clock: features know all of its phases, not every 25th row's.
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
