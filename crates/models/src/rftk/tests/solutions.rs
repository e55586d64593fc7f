//! Closed forms: ridges, least norms, and what a first run does.

use super::*;

#[test]
fn more_features_than_rows_interpolate_with_the_smallest_norm() {
    let sample = regression(20, 5);
    for features in [20, 21, 200] {
        let learner = closed(features, 0.0).checked().unwrap();
        let fitted = fit(&learner, &sample);
        assert_eq!(fitted.facts["rank"].to_bits(), 20f64.to_bits());
        assert!(fitted.facts["loss"] < 1e-12, "{features}: {}", fitted.facts["loss"]);
        // The smallest norm among all that interpolate: w = Φᵀ (ΦΦᵀ)⁻¹ y, ‖w‖² = yᵀ (ΦΦᵀ)⁻¹ y.
        let phi = model(features, &sample, 0.0).feature_matrix(sample.inputs());
        let y = columns_of(sample.targets());
        let alpha = Cholesky::factor(phi.dot(&phi.t())).unwrap().solve(&y).unwrap();
        let norm = (&y * &alpha).sum();
        assert_relative_eq!(fitted.facts["frobenius-squared"], norm, max_relative = 1e-5);
    }
    // Fewer rows than inputs.
    let wide = regression(6, 30);
    let fitted = fit(&closed(50, 0.0).checked().unwrap(), &wide);
    assert!(fitted.facts["loss"] < 1e-20);
}

#[test]
fn contradictory_duplicates_get_their_mean() {
    let inputs = concatenate![Axis(0), wave(6, 2), wave(6, 2)];
    let values = (0..12).map(|i| if i < 6 { f64::from(i) } else { f64::from(i) - 2.0 }).collect();
    let sample = Sample::regression(inputs, values).unwrap();
    let mean = Array2::from_shape_fn((12, 1), |(i, _)| (i % 6) as f64 + 2.0);
    let rf = closed(100, 0.0).checked().unwrap();
    let params = KernelRidgelessParams { std: 2.0, ..KernelRidgelessParams::default() };
    let kernel = params.checked().unwrap();
    for fitted in [fit(&rf, &sample), fit(&kernel, &sample)] {
        assert_eq!(fitted.facts["rank"].to_bits(), 6f64.to_bits());
        assert_abs_diff_eq!(fitted.predictor.decision(sample.inputs()), mean, epsilon = 1e-6);
        assert_relative_eq!(fitted.facts["loss"], 4.0, max_relative = 1e-8);
    }
}

#[test]
fn contradictory_duplicates_do_not_run_away_with_the_iterative_solver() {
    let inputs = concatenate![Axis(0), wave(60, 2), wave(60, 2)];
    let noise = |i: usize| (i as f64 * 2.399).sin();
    let values = inputs.rows().into_iter().enumerate().map(|(i, x)| x.sum() + noise(i)).collect();
    let sample = Sample::regression(inputs, values).unwrap();
    let params = KernelRidgelessParams {
        std: 2.0,
        solver: KernelSolver::Iterative,
        landmarks: 20,
        ..KernelRidgelessParams::default()
    };
    let fitted = fit(&params.checked().unwrap(), &sample);
    let Convergence::NotConverged { residual, .. } = fitted.convergence else {
        panic!("{:?}", fitted.convergence);
    };
    assert!(residual < 1.0, "{residual}");
    let largest = columns_of(sample.targets()).iter().fold(0f64, |most, y| most.max(y.abs()));
    let scores = fitted.predictor.decision(sample.inputs());
    assert!(scores.iter().all(|score| score.abs() < 10.0 * largest), "{scores}");
}

#[test]
fn the_normalisation_changes_the_ridge_and_the_rate_and_nothing_else() {
    let sample = regression(25, 2);
    let with = |normalisation, params: RandomFeaturesParams| {
        let learner = RandomFeaturesParams { normalisation, ..params }.checked().unwrap();
        scores(&learner, &sample)
    };
    for features in [10, 60] {
        let (printed, unit) = (
            with(Normalisation::Printed, closed(features, 0.0)),
            with(Normalisation::Unit, closed(features, 0.0)),
        );
        assert_abs_diff_eq!(printed, unit, epsilon = 1e-6);
        // Half the kernel: λ acts as 2λ.
        assert_abs_diff_eq!(
            with(Normalisation::Printed, closed(features, 0.01)),
            with(Normalisation::Unit, closed(features, 0.02)),
            epsilon = 1e-10
        );
    }
    let sgd = |normalisation, rate| {
        let params = FeatureSgdParams { normalisation, rate, ..trained(SgdKind::RfSgd) };
        scores(&params.checked().unwrap(), &sample)
    };
    let (printed, unit) = (sgd(Normalisation::Printed, 1.0), sgd(Normalisation::Unit, 0.5));
    assert_abs_diff_eq!(printed, unit, epsilon = 1e-12);
    for (normalisation, diagonal) in [(Normalisation::Printed, 0.5), (Normalisation::Unit, 1.0)] {
        let params = FeatureSgdParams { normalisation, ..trained(SgdKind::RfSgd) };
        let fitted = fit(&params.checked().unwrap(), &sample);
        assert_relative_eq!(fitted.facts["mean-kernel-diagonal"], diagonal, max_relative = 1e-12);
    }
    let facts = |normalisation| {
        let learner = RandomFeaturesParams { normalisation, ..closed(60, 0.0) };
        fit(&learner.checked().unwrap(), &sample).facts
    };
    let (printed, unit) = (facts(Normalisation::Printed), facts(Normalisation::Unit));
    let (trace, doubled) = (printed["feature-norm-squared"], unit["feature-norm-squared"]);
    assert_relative_eq!(2.0 * trace, doubled, max_relative = 1e-12);
    let rank = "effective-rank";
    assert_relative_eq!(printed[rank], unit[rank], max_relative = 1e-12);
}

#[test]
fn single_precision_with_an_inverse_agrees_only_where_the_matrix_is_good() {
    let sample = classes(80);
    let both = |lambda| {
        [ClosedPrecision::F64, ClosedPrecision::F32Inverse].map(|precision| {
            let learner = RandomFeaturesParams { precision, ..closed(50, lambda) };
            scores(&learner.checked().unwrap(), &sample)
        })
    };
    let largest = |[a, b]: [Array2<f64>; 2]| {
        (a - b).iter().fold(0f64, |most, difference| most.max(difference.abs()))
    };
    let (tame, wild) = (largest(both(1e-1)), largest(both(1e-9)));
    assert!(tame < 1e-4, "{tame}");
    assert!(wild > 1e-2, "{wild}");
    let kernel = |precision| {
        let params =
            KernelRidgelessParams { std: 1.0, lambda: 0.1, precision, ..Default::default() };
        scores(&params.checked().unwrap(), &sample)
    };
    let tame = largest([kernel(ClosedPrecision::F64), kernel(ClosedPrecision::F32Inverse)]);
    assert!(tame < 1e-4, "{tame}");
}

#[test]
fn kernel_ridgeless_is_the_limit_of_many_features_and_of_small_ridges() {
    let sample = regression(25, 3);
    let params = KernelRidgelessParams { std: 1.0, ..KernelRidgelessParams::default() };
    let test = wave(40, 3) * 0.9;
    let at_test = |learner: &dyn Learner| {
        let fitted = learner.fit(&sample, &mut Fitting::seeded(5)).unwrap();
        fitted.predictor.decision(test.view())
    };
    let kernel = at_test(&params.clone().checked().unwrap());
    let ridge = KernelRidgelessParams { lambda: 1e-11, ..params };
    assert_abs_diff_eq!(at_test(&ridge.checked().unwrap()), kernel, epsilon = 1e-3);
    let many = |features| {
        let difference = at_test(&closed(features, 0.0).checked().unwrap()) - &kernel;
        difference.iter().map(|d| d * d).sum::<f64>().sqrt()
    };
    assert!(many(20_000) < 0.4 * many(200), "{} {}", many(20_000), many(200));
}

#[test]
fn the_iterative_solver_meets_the_direct_one_or_says_that_it_does_not() {
    let sample = classes(300);
    let params = KernelRidgelessParams { std: 1.5, lambda: 1e-5, ..Default::default() };
    let direct = scores(&params.clone().checked().unwrap(), &sample);
    let iterative = KernelRidgelessParams {
        solver: KernelSolver::Iterative,
        tolerance: 1e-9,
        landmarks: 60,
        ..params
    };
    // Stored in single precision, or computed for each product.
    for (threads, stored_rows) in [(1, 300), (2, 300), (1, 299), (2, 299)] {
        let mut fitting = Fitting { threads, ..Fitting::seeded(5) };
        let learner = KernelRidgelessParams { stored_rows, ..iterative.clone() }.checked().unwrap();
        let fitted = learner.fit(&sample, &mut fitting).unwrap();
        let found = fitted.predictor.decision(sample.inputs());
        assert_abs_diff_eq!(found, direct, epsilon = 1e-6);
        assert_relative_eq!(fitted.facts["stored"], f64::from(stored_rows == 300));
        assert!(matches!(fitted.convergence, Convergence::Converged { iterations: 1..=60 }));
        let misses = (&found - &columns_of(sample.targets())).mapv(|e| e * e).sum() / 300.0;
        assert_relative_eq!(fitted.facts["loss"], misses, max_relative = 1e-6);
    }
    let short = KernelRidgelessParams { lambda: 0.0, iterations: 3, tolerance: 1e-12, ..iterative };
    let fitted = fit(&short.checked().unwrap(), &sample);
    let Convergence::NotConverged { iterations: 3, residual } = fitted.convergence else {
        panic!("{:?}", fitted.convergence);
    };
    assert!(residual > 1e-12 && residual.is_finite());
}

#[test]
fn what_overflows_or_diverges_is_an_error_and_never_a_score() {
    let sample = regression(40, 2);
    // Angles beyond the largest number: their cosines are NaN.
    let far = sample.values().unwrap().to_owned();
    let far = Sample::regression(1e200 * &sample.inputs(), far).unwrap();
    // The cause is the width or the inputs: both are named, and no rate, matrix or ridge.
    let refused = |method: &str, sample: &Sample, given: Settings| {
        let settings = match method {
            "kernel-ridgeless" => given,
            _ => given.with("features", 30),
        };
        let learner = find(METHODS, method).unwrap().learner(&settings, sample.task()).unwrap();
        learner.fit(sample, &mut Fitting::seeded(1)).err().expect(method).to_string()
    };
    let std = |value: f64| Settings::new().with("std", value);
    let singly = |given: Settings| given.with("precision", "f32-inverse");
    for (said, format, value) in [
        (refused("rf-ridge", &far, std(1e150)), "double", "1e150"),
        (refused("rf-ridge", &far, std(1e150).with("lambda", 0.1)), "double", "1e150"),
        (refused("rf-ridgeless", &far, std(1e150)), "double", "1e150"),
        (refused("rf-ridge", &far, singly(std(1.0).with("lambda", 0.1))), "single", "1"),
        (refused("rf-sgd", &sample, std(1e60)), "single", "1e60"),
        (refused("rftk", &sample, std(1e60)), "single", "1e60"),
        (refused("rf-sgd", &far, std(0.5)), "single", "0.5"),
        (refused("rftk", &far, std(0.5)), "single", "0.5"),
    ] {
        let begins =
            format!("the features overflow {format} precision: `std` is {value}, and column");
        assert!(said.starts_with(&begins), "{said}");
        assert!(said.contains("scale the inputs") && said.contains("a smaller `std`"), "{said}");
    }
    let skl = find(crate::askl::METHODS, "skl").unwrap();
    let learner = skl.learner(&Settings::new().with("features", 30), far.task()).unwrap();
    let said = learner.fit(&far, &mut Fitting::seeded(1)).err().unwrap().to_string();
    assert!(said.starts_with("the features overflow") && said.contains("`std` is"), "{said}");
    // No two rows of such a kernel know of each other: it would pass through all of them.
    let said = refused("kernel-ridgeless", &far, std(0.5));
    assert!(said.starts_with("distances between the rows overflow double"), "{said}");
    assert!(said.contains("`std` is 0.5") && said.contains("scale the inputs"), "{said}");
    // A rate far beyond 2/‖φ‖²: stopped long before the numbers overflow, in either precision.
    for precision in [Precision::F32, Precision::F64] {
        for kind in [SgdKind::RfSgd, SgdKind::Rftk] {
            for threads in [1, 2] {
                let params = FeatureSgdParams {
                    rate: 50.0,
                    frequency_rate: Some(1e-3),
                    precision,
                    epochs: 100.0,
                    ..trained(kind)
                };
                let mut fitting = Fitting { threads, ..Fitting::seeded(1) };
                let error = params.checked().unwrap().fit(&sample, &mut fitting).err();
                let Some(LearningError::Diverged { step, loss, rates }) = error else {
                    panic!("{kind:?} {precision:?}: {error:?}");
                };
                assert!(step < 60 && loss.is_finite() && loss > DIVERGED, "{step}: {loss}");
                assert_eq!(
                    rates.contains("`frequency_rate`, which is 0.001"),
                    kind == SgdKind::Rftk
                );
                assert!(rates.starts_with("`rate`, which is 50"), "{rates}");
            }
        }
    }
    // Of classes the loss grows no faster than the rate: it ends far above that of f = 0, and is no score.
    let labels = (0..40).map(|i| i * i * 7 % 11 % 3).collect();
    let noise = Sample::classification(wave(40, 3), labels, 3).unwrap();
    for rate in [1e3, 1e6] {
        let params =
            FeatureSgdParams { loss: SgdLoss::CrossEntropy, rate, ..trained(SgdKind::RfSgd) };
        let error = params.checked().unwrap().fit(&noise, &mut Fitting::seeded(1)).err();
        let Some(LearningError::Diverged { loss, rates, .. }) = error else { panic!("{error:?}") };
        assert!(loss > 10.0 * 3f64.ln() && loss.is_finite(), "{loss}");
        assert!(rates.starts_with("`rate`, which is"), "{rates}");
    }
    // Targets of any size, or all zero, do not count as divergence.
    for factor in [1e-9, 0.0, 1e9] {
        let values = sample.values().unwrap().to_owned() * factor;
        let scaled = Sample::regression(sample.inputs().to_owned(), values).unwrap();
        for read_out_std in [0.0, 1.0] {
            let params = FeatureSgdParams { read_out_std, ..trained(SgdKind::RfSgd) };
            assert!(params.checked().unwrap().fit(&scaled, &mut Fitting::seeded(1)).is_ok());
        }
    }
    // A singular matrix has no explicit inverse without a ridge; duplicates make one.
    let twice = sample.select(&[0, 1, 2, 0, 1, 2]).unwrap();
    let params = KernelRidgelessParams {
        std: 1.0,
        precision: ClosedPrecision::F32Inverse,
        ..KernelRidgelessParams::default()
    };
    let error = params.checked().unwrap().fit(&twice, &mut Fitting::seeded(1)).err();
    assert!(matches!(error, Some(LearningError::Numerical { .. })), "{error:?}");
}

/// Frequencies that ran away, or were drawn so, leave angles without a digit behind the point: their cosines
/// are numbers, so only a fact tells.
#[test]
fn features_that_are_noise_of_rounding_are_told() {
    let sample = regression(40, 2);
    let lost = |params: FeatureSgdParams| {
        let fitted = fit(&params.checked().unwrap(), &sample);
        fitted.facts.get(mercer_learning::fact::LOST_ANGLES).copied()
    };
    let single = |kind| FeatureSgdParams { precision: Precision::F32, ..trained(kind) };
    assert_eq!(lost(single(SgdKind::Rftk)), None);
    let rate = Some(1e30);
    let ran = FeatureSgdParams { frequency_rate: rate, every: 1, ..single(SgdKind::Rftk) };
    assert!(lost(ran).unwrap() > 0.9);
    assert!(lost(FeatureSgdParams { std: 1e20, ..single(SgdKind::RfSgd) }).unwrap() > 0.9);
    let wide = |std| {
        let params = RandomFeaturesParams { std, ..closed(30, 0.1) };
        let fitted = fit(&params.checked().unwrap(), &sample);
        fitted.facts.get(mercer_learning::fact::LOST_ANGLES).copied()
    };
    assert_eq!(wide(1e9), None); // angles of 1e9 have six digits left
    assert!(wide(1e30).unwrap() > 0.9);
}

/// At the pace of studies 120 rows would move them 4 times in 400 steps, which is RF-SGD.
#[test]
fn a_first_run_on_a_small_table_moves_the_frequencies_often() {
    let sample = regression(120, 4);
    let begun = |name: &str| {
        let method = find(METHODS, name).unwrap();
        let settings = method.begun(&sample.shape()).with("features", 100);
        let learner = method.learner(&settings, sample.task()).unwrap();
        learner.fit(&sample, &mut Fitting::seeded(5)).unwrap()
    };
    let (still, moved) = (begun("rf-sgd"), begun("rftk"));
    let (moves, penalised) = (moved.facts["frequency-steps"], moved.facts["penalised-steps"]);
    assert!(moves >= 200.0, "{moves}");
    // Those steps go over all rows: together no more than half of the hundred passes.
    assert!((10.0..=50.0).contains(&penalised), "{penalised}");
    let of = |fitted: &Fitted| fitted.predictor.decision(sample.inputs());
    let apart = (of(&still) - of(&moved)).mapv(f64::abs).mean().unwrap();
    assert!(apart > 0.01, "{apart}");
    assert!(moved.facts["loss"] < still.facts["loss"]);
    // Studies hold to the text, and so does a table that is large enough.
    let method = find(METHODS, "rftk").unwrap();
    assert!(
        (method.defaults)(&sample.shape())
            .get("trace_every")
            .is_none_or(serde_json::Value::is_null)
    );
    assert_eq!((method.defaults)(&sample.shape()).get("every"), Some(&100.into()));
    let large = mercer_learning::Shape { rows: 20_000, ..sample.shape() };
    assert!((method.user_defaults)(&large).is_empty());
    // Whoever gives `every` alone has the penalty in each of the moves.
    let given = method.as_meant(&Settings::new().with("every", 30));
    assert!(
        method.begun(&sample.shape()).overridden_by(&given).get("trace_every").unwrap().is_null()
    );
}

/// The ridge that leave-one-out chooses is the one that refits without each row choose.
#[test]
fn the_ridge_is_chosen_by_leaving_out_every_row_in_turn() {
    let sample = regression(25, 2);
    let ridges = vec![1e-6, 1e-4, 1e-2, 1.0];
    let params = RandomFeaturesParams { ridges: ridges.clone(), ..closed(12, 0.0) };
    let chosen = fit(&params.clone().checked().unwrap(), &sample);
    let model = model(12, &sample, 0.0);
    let phi = model.feature_matrix(sample.inputs());
    let y = columns_of(sample.targets());
    let error = |lambda: f64| {
        let mut total = 0.0;
        for out in 0..25 {
            let rest: Vec<usize> = (0..25).filter(|row| *row != out).collect();
            let (a, b) = (phi.select(Axis(0), &rest), y.select(Axis(0), &rest));
            // The ridge of all 25 rows, also without one.
            let gram = a.t().dot(&a) + lambda * 25.0 * Array2::<f64>::eye(12);
            let w = Cholesky::factor(gram).unwrap().solve(&a.t().dot(&b)).unwrap();
            total += (phi.row(out).dot(&w.column(0)) - y[[out, 0]]).powi(2) / 25.0;
        }
        total
    };
    let best = ridges.iter().copied().min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
    assert_relative_eq!(chosen.facts["lambda"], best);
    assert_relative_eq!(chosen.facts["leave-one-out"], error(best), max_relative = 1e-6);
    let alone = fit(
        &RandomFeaturesParams { lambda: Some(best), ..closed(12, 0.0) }.checked().unwrap(),
        &sample,
    );
    assert_abs_diff_eq!(
        chosen.predictor.decision(sample.inputs()),
        alone.predictor.decision(sample.inputs()),
        epsilon = 1e-8
    );
    let single = RandomFeaturesParams { precision: ClosedPrecision::F32Inverse, ..params };
    assert!(matches!(single.checked(), Err(LearningError::Setting { name: "precision", .. })));
}

/// A ridge that is not given is chosen: of few rows by all of them, of many by a thousand, whose ridge serves all. It
/// is never one that the sums of a pass cannot bear.
#[test]
fn a_ridge_that_is_not_given_is_chosen_by_a_thousand_rows() {
    let free = |features| RandomFeaturesParams { lambda: None, ..closed(features, 0.0) };
    let noisy = |n: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let x = Array2::from_shape_simple_fn((n, 2), || rng.gen_range(-1.0..1.0));
        let y: Array1<f64> =
            x.rows().into_iter().map(|x| f64::sin(x[0]) + rng.gen_range(-0.5..0.5)).collect();
        Sample::regression(x, y).unwrap()
    };
    let few = noisy(200);
    let chosen = fit(&free(40).checked().unwrap(), &few);
    let lambda = chosen.facts["lambda"];
    // More than the least, which is that of rows without noise.
    assert!(lambda > 1e-7, "{lambda}");
    let given = fit(&closed(40, lambda).checked().unwrap(), &few);
    assert_abs_diff_eq!(
        chosen.predictor.decision(few.inputs()),
        given.predictor.decision(few.inputs()),
        epsilon = 1e-8
    );
    let many = noisy(2500);
    let chosen = fit(&free(40).checked().unwrap(), &many);
    let ridge = chosen.facts["lambda"] * 2500.0;
    let on_the_grid = (0..=16).map(|half| 1000.0 * 10f64.powf(0.5 * f64::from(half) - 8.0));
    assert!(on_the_grid.into_iter().any(|t| (t / ridge - 1.0).abs() < 1e-12), "{ridge}");
    let given = fit(&closed(40, chosen.facts["lambda"]).checked().unwrap(), &many);
    assert_eq!(
        given.facts["frobenius-squared"].to_bits(),
        chosen.facts["frobenius-squared"].to_bits()
    );
    let single = RandomFeaturesParams { precision: ClosedPrecision::F32Inverse, ..free(40) };
    assert!(matches!(single.checked(), Err(LearningError::Setting { name: "precision", .. })));
    // Equal rows of opposite targets, each foretold wrongly by the other, ask for more than the largest ridge that
    // is compared, and the fit says that.
    let twice = concatenate(Axis(0), &[few.inputs(), few.inputs()]).unwrap();
    let y = (0..400).map(|row| if row < 200 { 1.0 } else { -1.0 }).collect();
    let noise = Sample::regression(twice, y).unwrap();
    let end = |sample: &Sample| fit(&free(40).checked().unwrap(), sample).facts["grid-end"] > 0.0;
    assert_eq!([end(&noise), end(&few), end(&many)], [true, false, false]);
    let of_two = RandomFeaturesParams { ridges: vec![1e-3, 1e-2], ..closed(40, 0.0) };
    assert!(!fit(&of_two.checked().unwrap(), &few).facts.contains_key("grid-end"));
}

/// As many features as rows: the worst conditioned of all numbers, and still a fit.
#[test]
fn as_many_features_as_rows_and_fewer_rows_than_columns_are_fitted() {
    for (n, d, features) in [(30, 2, 30), (5, 40, 5), (5, 40, 60), (1, 3, 4)] {
        let sample = regression(n, d);
        let ridgeless = closed(features, 0.0);
        let fitted = fit(&ridgeless.checked().unwrap(), &sample);
        let (rank, loss) = (fitted.facts["rank"], fitted.facts["loss"]);
        assert!(rank <= n as f64 && rank >= 1.0, "{n} {d} {features}: rank {rank}");
        // Full rank interpolates; where directions were cut off as noise, at least no harm is done.
        let variance = sample.values().unwrap().mapv(|y| y * y).mean().unwrap();
        let most = if rank as usize == n { 1e-12 } else { 1.0 };
        assert!(loss.is_finite() && loss <= most * variance.max(1e-12), "{n} {d}: {loss}");
        let predicted = fitted.predictor.decision(sample.inputs());
        assert!(predicted.iter().all(|f| f.is_finite()));
    }
}

#[test]
fn limits_end_every_fit() {
    for method in METHODS {
        let settings = (method.defaults)(&classes(2).shape());
        let learner = method.learner(&settings, classes(2).task()).unwrap();
        let fit = |sample: &Sample| {
            let mut fitting = Fitting { limits: &Tight, ..Fitting::seeded(1) };
            learner.fit(sample, &mut fitting).err()
        };
        let error = fit(&classes(100));
        assert_eq!(error, Some(LearningError::OutOfTime { seconds: 1.0 }), "{}", method.name);
        if method.resource.is_none() {
            let error = fit(&classes(3000));
            assert!(matches!(error, Some(LearningError::OutOfMemory { .. })), "{}", method.name);
        }
    }
}

#[test]
fn settings_survive_the_way_through_a_record() {
    let shape = classes(10).shape();
    for method in METHODS {
        let defaults = (method.defaults)(&shape);
        let text = serde_json::to_string(&defaults).unwrap();
        let back: Settings = serde_json::from_str(&text).unwrap();
        assert_eq!(back, defaults);
        let again = match method.name {
            "kernel-ridgeless" => {
                Settings::of(&defaults.parse::<KernelRidgelessParams>(method.name).unwrap())
            }
            "rf-sgd" | "rftk" => {
                Settings::of(&defaults.parse::<FeatureSgdParams>(method.name).unwrap())
            }
            _ => Settings::of(&defaults.parse::<RandomFeaturesParams>(method.name).unwrap()),
        };
        assert_eq!(again, defaults, "{}", method.name);
    }
}
