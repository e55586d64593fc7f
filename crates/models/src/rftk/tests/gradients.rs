//! Steps: gradients, draws, clocks of the penalty.

use super::*;

#[test]
fn golden_loss_norm_and_gradients() {
    let golden: toml::Table = GOLDEN.parse().unwrap();
    let golden = &golden["rftk-1"];
    let number = |name: &str| golden[name].as_float().unwrap();
    let sample = Sample::regression(matrix(&golden["x"]), vector(&golden["targets"])).unwrap();
    let model = Model {
        maps: 1,
        scale: Normalisation::Printed.scale(3),
        frequencies: matrix(&golden["frequencies"]),
        phases: vector(&golden["phases"]),
        read_out: vector(&golden["read-out"]).insert_axis(Axis(1)),
        offset: Array1::zeros(1),
    };
    let norm = 3.0 * model.mean_feature_norm(sample.inputs());
    assert_relative_eq!(norm, number("feature-norm-squared"), max_relative = 1e-12);
    let beta = number("beta");
    let params = FeatureSgdParams { beta, every: 1, ..trained(SgdKind::Rftk) };
    for threads in [1, 2] {
        let plan = plan(params.clone(), &sample);
        let (frequencies, read_out, loss) = gradients(&plan, &model, &sample, threads);
        assert_relative_eq!(loss + beta * norm, number("objective"), max_relative = 1e-12);
        let expected = vector(&golden["read-out-gradient"]).insert_axis(Axis(1));
        assert_abs_diff_eq!(read_out, expected, epsilon = 1e-12);
        let expected = matrix(&golden["frequency-gradient"]);
        assert_abs_diff_eq!(frequencies, expected, epsilon = 1e-12);
    }
}

#[test]
fn golden_start_of_the_trace_curve() {
    let golden: toml::Table = GOLDEN.parse().unwrap();
    let golden = &golden["rftk-3"];
    let number = |name: &str| golden[name].as_float().unwrap();
    let rows = golden["trace-rows"].as_integer().unwrap() as usize;
    // Half the Gaussian kernel: ‖φ(x)‖² is 1/2 in expectation.
    let start = TracePenalty::NormByRows(number("trace-weight")).value(0.5, rows as f64);
    let shown = start * number("recorded-share");
    assert_relative_eq!(shown, number("trace-start"), max_relative = 1e-12);
}

#[test]
fn gradients_agree_with_central_differences_for_every_loss_and_trace() {
    let (real, named) = (regression(7, 3), classes(7));
    // More inputs than a block of the trace has rows.
    let given = wave(150, 3);
    for (sample, loss) in
        [(&real, SgdLoss::Squared), (&named, SgdLoss::Squared), (&named, SgdLoss::CrossEntropy)]
    {
        for (trace, inputs) in [
            (TraceForm::Squared, None),
            (TraceForm::Squared, Some(&given)),
            (TraceForm::NormByRows, None),
            (TraceForm::NormByRows, Some(&given)),
        ] {
            let params =
                FeatureSgdParams { beta: 0.3, trace, loss, every: 1, ..trained(SgdKind::Rftk) };
            let mut learner = params.checked().unwrap();
            if let Some(inputs) = inputs {
                learner = learner.with_trace_inputs(inputs.clone());
            }
            let plan = learner.plan(&TrainingRows::whole(sample), &Streams::root(5)).unwrap();
            let model = model(4, sample, 1.0);
            let h = f64::EPSILON.cbrt();
            for threads in [1, 3] {
                let (frequencies, read_out, _) = gradients(&plan, &model, sample, threads);
                let numeric = |entry: &dyn Fn(&mut Model<f64>) -> &mut f64| {
                    let at = |step: f64| {
                        let mut moved = model.clone();
                        *entry(&mut moved) += step;
                        objective(&moved, sample, &plan)
                    };
                    (at(h) - at(-h)) / (2.0 * h)
                };
                for ((i, j), &g) in frequencies.indexed_iter() {
                    let slow = numeric(&|m| &mut m.frequencies[[i, j]]);
                    assert_relative_eq!(g, slow, epsilon = 1e-8, max_relative = 1e-7);
                }
                for ((i, j), &g) in read_out.indexed_iter() {
                    let slow = numeric(&|m| &mut m.read_out[[i, j]]);
                    assert_relative_eq!(g, slow, epsilon = 1e-8, max_relative = 1e-7);
                }
            }
        }
    }
}

#[test]
fn sgd_of_one_full_batch_is_gradient_descent_and_tends_to_the_ridgeless_fit() {
    let sample = regression(30, 2);
    let params = FeatureSgdParams {
        features: 5,
        batch: 30,
        rate: 0.7,
        epochs: 40.0,
        sampling: Sampling::Shuffled,
        ..trained(SgdKind::RfSgd)
    };
    // The printed step, w ← w − (γ/n) Σ (w·φ − y) φ, without the gradient's 2.
    let phi = model(5, &sample, 0.0).feature_matrix(sample.inputs());
    let y = columns_of(sample.targets());
    for schedule in [Schedule::Constant, Schedule::InverseRoot] {
        let mut w = Array2::<f64>::zeros((5, 1));
        for step in 1..=40 {
            let rate = match schedule {
                Schedule::Constant => 0.7,
                Schedule::InverseRoot => 0.7 / f64::from(step).sqrt(),
            };
            w = &w - &(rate / 30.0 * phi.t().dot(&(phi.dot(&w) - &y)));
        }
        let learner = FeatureSgdParams { schedule, ..params.clone() }.checked().unwrap();
        assert_abs_diff_eq!(scores(&learner, &sample), phi.dot(&w), epsilon = 1e-12);
    }
    let long = FeatureSgdParams { epochs: 30_000.0, rate: 3.0, ..params }.checked().unwrap();
    let ridgeless = scores(&closed(5, 0.0).checked().unwrap(), &sample);
    assert_abs_diff_eq!(scores(&long, &sample), ridgeless, epsilon = 1e-6);
}

#[test]
fn rows_are_drawn_with_replacement_or_not_and_reproducibly() {
    let sample = classes(50);
    let params = FeatureSgdParams { loss: SgdLoss::CrossEntropy, ..trained(SgdKind::RfSgd) };
    let with = params.clone().checked().unwrap();
    let without =
        FeatureSgdParams { sampling: Sampling::Shuffled, ..params.clone() }.checked().unwrap();
    assert_eq!(scores(&with, &sample), scores(&with, &sample));
    assert_ne!(scores(&with, &sample), scores(&without, &sample));
    // A full batch with replacement is not all rows.
    let full = FeatureSgdParams { batch: 50, epochs: 1.0, ..params };
    let drawn = scores(&full.clone().checked().unwrap(), &sample);
    let all = FeatureSgdParams { sampling: Sampling::Shuffled, ..full };
    assert_ne!(drawn, scores(&all.checked().unwrap(), &sample));
    // ⌈50/8⌉ steps a pass in either case.
    for learner in [with, without] {
        let convergence = fit(&learner, &sample).convergence;
        assert_eq!(convergence, Convergence::FixedSteps { steps: 35 });
    }
}

#[test]
fn the_ridges_limit_is_the_ridgeless_fit() {
    for (sample, features) in [(regression(40, 2), 10), (regression(12, 2), 60), (classes(40), 8)] {
        let ridgeless = fit(&closed(features, 0.0).checked().unwrap(), &sample);
        let limit = scores(&closed(features, 1e-13).checked().unwrap(), &sample);
        let at_zero = ridgeless.predictor.decision(sample.inputs());
        assert_abs_diff_eq!(at_zero, limit, epsilon = 1e-5);
        // Cholesky and the decomposition meet where one takes over from the other.
        for lambda in [1e-9, 1e-6, 1e-2] {
            let found = scores(&closed(features, lambda).checked().unwrap(), &sample);
            let phi = model(features, &sample, 0.0).feature_matrix(sample.inputs());
            let mut gram = phi.dot(&phi.t());
            gram.diag_mut().mapv_inplace(|entry| entry + lambda * sample.rows() as f64);
            let y = columns_of(sample.targets());
            let alpha = Cholesky::factor(gram.clone()).unwrap().solve(&y).unwrap();
            assert_abs_diff_eq!(found, phi.dot(&phi.t()).dot(&alpha), epsilon = 1e-5);
        }
    }
}

#[test]
fn the_frequencies_move_every_s_steps_at_their_own_rate() {
    let sample = regression(40, 2);
    let params = FeatureSgdParams { beta: 0.0, rate: 0.3, ..trained(SgdKind::Rftk) };
    // Five steps a pass, five passes.
    for (every, moves) in [(1, 25.0), (7, 3.0), (25, 1.0), (1000, 1.0)] {
        let learner = FeatureSgdParams { every, ..params.clone() }.checked().unwrap();
        let fitted = fit(&learner, &sample);
        assert_relative_eq!(fitted.facts["frequency-steps"], moves);
    }
    // Before the first move it is RF-SGD, whose printed rate is twice as large for the same step.
    let still = FeatureSgdParams { every: 25, frequency_rate: Some(1e-30), ..params.clone() };
    let sgd = FeatureSgdParams { kind: SgdKind::RfSgd, rate: 0.6, ..params.clone() };
    assert_eq!(
        scores(&still.checked().unwrap(), &sample),
        scores(&sgd.checked().unwrap(), &sample)
    );
    // A larger batch than there are rows is all of them.
    let large = FeatureSgdParams { batch: 64, ..params };
    let fitted = fit(&large.checked().unwrap(), &sample);
    assert_relative_eq!(fitted.facts["batch-used"], 40.0);
    assert_eq!(fitted.convergence, Convergence::FixedSteps { steps: 5 });
}

#[test]
fn the_penalty_lowers_the_trace_and_a_probe_sees_it() {
    let sample = classes(120);
    let n = 120.0;
    for (trace, trace_rows) in [
        (TraceForm::Squared, None),
        (TraceForm::NormByRows, None),
        (TraceForm::NormByRows, Some(30)),
    ] {
        let end = |beta: f64| {
            let params = FeatureSgdParams {
                beta,
                trace,
                trace_rows,
                every: 1,
                optimiser: Optimiser::Adam,
                rate: 1e-2,
                epochs: 10.0,
                precision: Precision::F32,
                ..trained(SgdKind::Rftk)
            };
            let mut curve = Curve(Vec::new());
            let mut fitting = Fitting { probe: Some(&mut curve), ..Fitting::seeded(5) };
            params.checked().unwrap().fit(&sample, &mut fitting).unwrap();
            curve.0
        };
        let (without, with) =
            (end(0.0), end(if trace == TraceForm::Squared { 0.1 } else { 100.0 }));
        assert_eq!(with.len(), 15);
        let (first, last) = (&with[0].1, &with[14].1);
        assert!(last["feature-norm-squared"] < 0.8 * first["feature-norm-squared"]);
        assert!(last["feature-norm-squared"] < 0.8 * without[14].1["feature-norm-squared"]);
        assert!(!without[14].1.contains_key("trace-penalty"));
        assert!(without[14].1["loss"] < without[0].1["loss"]);
        let mean = last["feature-norm-squared"];
        if trace_rows.is_none() {
            let penalty = match trace {
                TraceForm::Squared => 0.1 * n * mean,
                TraceForm::NormByRows => 100.0 * (n * mean).sqrt() / n,
            };
            assert_relative_eq!(last["trace-penalty"], penalty, max_relative = 1e-6);
        }
        let total = last["loss"] + last["trace-penalty"];
        assert_relative_eq!(last["objective"], total, max_relative = 1e-12);
    }
}

#[test]
fn threads_change_only_rounding_also_with_a_trace() {
    let sample = classes(90);
    for trace in [TraceForm::Squared, TraceForm::NormByRows] {
        let params = FeatureSgdParams { trace, beta: 1e-2, every: 3, ..trained(SgdKind::Rftk) };
        let learner = params.checked().unwrap();
        let with = |threads| {
            let mut fitting = Fitting { threads, ..Fitting::seeded(5) };
            learner.fit(&sample, &mut fitting).unwrap().predictor.decision(sample.inputs())
        };
        assert_eq!(with(2), with(2));
        for threads in [2, 3] {
            assert_abs_diff_eq!(with(threads), with(1), epsilon = 1e-10);
        }
    }
}

#[test]
fn variants_mean_what_the_paper_and_the_code_say() {
    let sample = classes(64);
    let printed = plan(FeatureSgdParams { kind: SgdKind::Rftk, ..Default::default() }, &sample);
    assert_eq!((printed.loss, printed.optimiser), (Loss::Squared, Optimiser::Sgd));
    assert_eq!(printed.sampling, Sampling::Replacement);
    assert_eq!(printed.pace, FrequencySchedule { every: 100, rate: None });
    let trace = printed.trace.unwrap();
    assert_eq!((trace.penalty, trace.every), (TracePenalty::Squared(1e-3), 100));
    assert!(trace.inputs.is_none());

    let released = FeatureSgdParams {
        optimiser: Optimiser::Adam,
        sampling: Sampling::Shuffled,
        loss: SgdLoss::AutoCrossEntropy,
        read_out_std: 1.0,
        epochs: 10.0,
        rate: 1e-3,
        beta: 0.01,
        every: 1,
        trace: TraceForm::NormByRows,
        trace_every: Some(100),
        trace_rows: Some(16),
        ..FeatureSgdParams::default()
    };
    let rftk = plan(released.clone(), &sample);
    assert_eq!((rftk.loss, rftk.pace), (Loss::CrossEntropy, FrequencySchedule::TOGETHER));
    let trace = rftk.trace.clone().unwrap();
    assert_eq!((trace.penalty, trace.every), (TracePenalty::NormByRows(0.01), 100));
    assert_eq!(trace.inputs.unwrap().dim(), (16, 3));
    let at = |step, of_pass| StepIndex { step, of_pass };
    assert!(rftk.trace_in(at(100, 4)).is_some() && rftk.trace_in(at(99, 0)).is_none());
    assert!((0..100).all(|step| rftk.moves_frequencies(step)));
    let sgd = plan(FeatureSgdParams { kind: SgdKind::RfSgd, ..released }, &sample);
    assert!(!sgd.learn_frequencies && sgd.trace.is_none());
    // Adam does not know the factor that the printed step drops.
    assert_relative_eq!(sgd.rate, 1e-3);
}

#[test]
fn the_code_penalises_once_a_pass_where_a_pass_is_short() {
    // Batches a pass and passes as in Table 1: dna 50 and 10, wine 5 and 10; and a long pass.
    for (rows, batch, every, of_run, of_pass) in
        [(64, 32, 100, 0.0, 10.0), (200, 4, 100, 5.0, 10.0), (60, 2, 20, 15.0, 20.0)]
    {
        let sample = classes(rows);
        let facts = |clock, beta| {
            let params = FeatureSgdParams {
                batch,
                beta,
                epochs: 10.0,
                every: 1,
                sampling: Sampling::Shuffled,
                optimiser: Optimiser::Adam,
                rate: 1e-3,
                features: 10,
                trace: TraceForm::NormByRows,
                trace_every: Some(every),
                trace_clock: clock,
                trace_share: Some(0.25),
                ..trained(SgdKind::Rftk)
            };
            fit(&params.checked().unwrap(), &sample).facts
        };
        for (clock, steps) in [(TraceClock::Run, of_run), (TraceClock::Pass, of_pass)] {
            assert_relative_eq!(facts(clock, 1.0)["penalised-steps"], steps);
            assert_relative_eq!(facts(clock, 0.0)["penalised-steps"], 0.0);
        }
        // What takes part is felt.
        let (free, weak) = (facts(TraceClock::Pass, 0.0), facts(TraceClock::Pass, 1e3));
        assert!(weak["feature-norm-squared"] < free["feature-norm-squared"]);
    }
}

#[test]
fn a_share_of_the_training_rows_is_as_many_as_validate() {
    let sample = classes(64);
    let rows = |share: f64| {
        let params = FeatureSgdParams {
            kind: SgdKind::Rftk,
            trace_share: Some(share),
            ..FeatureSgdParams::default()
        };
        plan(params, &sample).trace.unwrap().inputs.map(|inputs| inputs.nrows())
    };
    // 64 of 80 rows train, 16 validate.
    assert_eq!((rows(0.25), rows(1e-9), rows(1.0)), (Some(16), Some(1), None));
    let both =
        FeatureSgdParams { trace_rows: Some(3), trace_share: Some(0.5), ..trained(SgdKind::Rftk) };
    let error = both.checked().err().unwrap();
    assert!(error.to_string().contains("trace_rows"), "{error}");
}

#[test]
fn bad_settings_are_refused_by_name() {
    let bad: [(&str, &str, serde_json::Value); 31] = [
        ("rf-ridge", "ridges", serde_json::json!([1e-3, 0.0])),
        ("kernel-ridgeless", "std", 0.0.into()),
        ("kernel-ridgeless", "std", 1e200.into()),
        ("kernel-ridgeless", "lambda", (-1.0).into()),
        ("kernel-ridgeless", "cutoff", 1.0.into()),
        ("kernel-ridgeless", "tolerance", 0.0.into()),
        ("kernel-ridgeless", "iterations", 0.into()),
        ("kernel-ridgeless", "landmarks", 0.into()),
        ("rf-ridge", "features", 0.into()),
        ("rf-ridge", "lambda", (-1e-9).into()),
        ("rf-ridge", "std", (-1.0).into()),
        ("rf-ridgeless", "cutoff", (-0.1).into()),
        ("rf-ridgeless", "std", 1e300.into()),
        ("rf-sgd", "std", 1e300.into()),
        ("rftk", "std", 1e200.into()),
        ("rf-sgd", "features", 0.into()),
        ("rf-sgd", "std", 0.0.into()),
        ("rf-sgd", "rate", 0.0.into()),
        ("rf-sgd", "rate", (-1.0).into()),
        ("rf-sgd", "epochs", 0.0.into()),
        ("rf-sgd", "batch", 0.into()),
        ("rf-sgd", "read_out_std", (-1.0).into()),
        ("rftk", "rate", 0.0.into()),
        ("rftk", "frequency_rate", 0.0.into()),
        ("rftk", "beta", (-1.0).into()),
        ("rftk", "every", 0.into()),
        ("rftk", "trace_every", 0.into()),
        ("rftk", "trace_rows", 0.into()),
        ("rftk", "trace_share", 0.0.into()),
        ("rftk", "trace_share", 1.5.into()),
        ("rftk", "epochs", (-1.0).into()),
    ];
    for (method, name, value) in bad {
        let settings = Settings::new().with(name, value.clone());
        let Err(error) = find(METHODS, method).unwrap().learner(&settings, Task::Regression) else {
            panic!("{method}: {name} = {value} was accepted");
        };
        assert!(
            matches!(error, LearningError::Setting { name: found, .. } if found == name),
            "{method}: {name} = {value}: {error}"
        );
    }
    // What cannot even be read is named as well.
    for (name, value) in [("features", serde_json::json!(-3)), ("lambda", "nan".into())] {
        let settings = Settings::new().with("std", 0.5).with(name, value);
        let learner = find(METHODS, "rf-ridge").unwrap().learner(&settings, Task::Regression);
        let error = learner.err().unwrap().to_string();
        assert!(error.contains(&format!("`{name}` is ")), "{error}");
    }
    let settings = Settings::new().with("loss", "cross-entropy");
    let learner = find(METHODS, "rf-sgd").unwrap().learner(&settings, Task::Regression).unwrap();
    let error = learner.fit(&regression(20, 2), &mut Fitting::seeded(1)).err().unwrap();
    assert!(error.to_string().contains("`loss` is cross-entropy"), "{error}");
}

/// With 1e30 a fit went on, its frequencies thrown about by the penalty alone.
#[test]
fn a_penalty_that_leaves_nothing_of_the_loss_is_refused() {
    let sample = regression(40, 2);
    let ends = |beta, trace, precision| {
        let params = FeatureSgdParams {
            beta,
            trace,
            precision,
            every: 1,
            epochs: 1.0,
            rate: 1e-3,
            frequency_rate: Some(1e-12),
            ..trained(SgdKind::Rftk)
        };
        params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).err()
    };
    for trace in [TraceForm::Squared, TraceForm::NormByRows] {
        for precision in [Precision::F32, Precision::F64] {
            let error = ends(1e30, trace, precision).unwrap();
            assert!(matches!(error, LearningError::Setting { name: "beta", .. }), "{error}");
            assert!(error.to_string().contains("lower it"), "{error}");
            assert_eq!(ends(10.0, trace, precision), None);
        }
        // What single precision cannot hold beside the loss, double can.
        assert!(ends(1e9, trace, Precision::F32).is_some());
        assert_eq!(ends(1e9, trace, Precision::F64), None);
    }
    // No penalty is none, of whatever size.
    let free = FeatureSgdParams { beta: 1e30, epochs: 1.0, ..trained(SgdKind::RfSgd) };
    assert!(free.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).is_ok());
}

#[test]
fn a_ridge_below_rounding_is_a_least_squares_solution_where_targets_contradict() {
    let x = Array2::from_shape_fn((20, 1), |(i, _)| (i % 10) as f64);
    let y = Array1::from_shape_fn(20, |i| (i % 10) as f64 + if i < 10 { 1.0 } else { -1.0 });
    let sample = Sample::regression(x, y).unwrap();
    let params = KernelRidgelessParams { std: 1.0, lambda: 1e-20, ..Default::default() };
    let fitted = params.checked().unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap();
    assert!((fitted.facts["loss"] - 1.0).abs() < 1e-6, "{:?}", fitted.facts);
    assert!(fitted.facts["rank"] < 20.0 && fitted.facts["cutoff"] > 0.0);
}

/// More steps between two moves than there are steps, and a batch of more rows than there are.
#[test]
fn too_few_steps_for_a_move_and_too_few_rows_for_a_batch() {
    let sample = regression(12, 2);
    let params =
        FeatureSgdParams { every: 1_000_000, batch: 500, epochs: 3.0, ..trained(SgdKind::Rftk) };
    let fitted = fit(&params.clone().checked().unwrap(), &sample);
    assert_eq!(fitted.facts["batch-used"] as usize, 12);
    // Three steps of all rows; the frequencies move in the last one.
    assert_eq!(fitted.convergence, Convergence::FixedSteps { steps: 3 });
    assert_eq!(fitted.facts["frequency-steps"] as usize, 1);
    let whole = FeatureSgdParams { batch: 12, every: 3, ..params };
    assert_eq!(
        scores(&whole.checked().unwrap(), &sample),
        fitted.predictor.decision(sample.inputs())
    );
}

/// Rows that occur twice make the kernel matrix singular: without a ridge, and with one that is lost
/// in rounding, there is an answer that passes through the rows.
#[test]
fn duplicate_rows_are_no_obstacle() {
    let once = regression(15, 2);
    let rows: Vec<usize> = (0..15).chain(0..15).collect();
    let twice = once.select(&rows).unwrap();
    for lambda in [0.0, 1e-18] {
        let params = KernelRidgelessParams { std: 1.0, lambda, ..KernelRidgelessParams::default() };
        let fitted = fit(&params.checked().unwrap(), &twice);
        assert!(fitted.facts["loss"] < 1e-8, "{lambda}: {}", fitted.facts["loss"]);
        assert!(lambda > 0.0 || fitted.facts["rank"] <= 15.0);
    }
}

#[test]
fn given_trace_inputs_are_checked() {
    let sample = regression(20, 2);
    let learner = trained(SgdKind::Rftk).checked().unwrap();
    let with = |inputs: Array2<f64>| {
        let learner = learner.clone().with_trace_inputs(inputs);
        learner.fit(&sample, &mut Fitting::seeded(1)).err()
    };
    assert_eq!(with(Array2::zeros((3, 5))), Some(LearningError::Width { expected: 2, found: 5 }));
    assert_eq!(with(Array2::zeros((0, 2))), Some(LearningError::NoRows));
    let error = with(array![[0.0, f64::NAN]]);
    assert!(matches!(error, Some(LearningError::Setting { name: "trace_inputs", .. })));
    assert_eq!(with(wave(5, 2)), None);
}
