use super::*;
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_learning::{Limits, Targets};
use ndarray::{Ix2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde_json::Value;

fn normal(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.sample::<f64, _>(StandardNormal))
}

fn fitted(params: RfmParams, sample: &Sample) -> Fitted {
    RecursiveFeatureMachine::new(params).unwrap().fit(sample, &mut Fitting::seeded(1)).unwrap()
}

/// `M` of a fit, or its diagonal in a row.
fn metric(fitted: &Fitted) -> Array2<f64> {
    let state = fitted.predictor.state();
    if state.holds::<f64>("scales") {
        return InputMetric::Diagonal(state.array::<f64, Ix1>("scales").unwrap()).matrix();
    }
    InputMetric::Full(state.array::<f64, Ix2>("factor").unwrap()).matrix()
}

#[test]
fn gradients_are_those_of_central_differences() {
    let (x, alpha, at) = (normal(30, 4, 1), normal(30, 2, 2), normal(7, 4, 3));
    let full = InputMetric::Full(normal(4, 3, 4));
    let diagonal = InputMetric::Diagonal(array![0.2, 1.0, 0.0, 0.7]);
    for (bandwidth, exponent) in [(1.5, 0.7), (10.0, 1.0), (2.0, 1.3), (1.0, 2.0)] {
        for metric in [&full, &diagonal] {
            let kernel = Radial { bandwidth, exponent };
            let points = Points::new(metric.mapped(x.view()));
            let values =
                |at: &Array2<f64>| kernel.at(metric.mapped(at.view()).view(), &points).dot(&alpha);
            let gradients = kernel.gradients(metric.mapped(at.view()).view(), &points, &alpha);
            for (output, mapped) in gradients.iter().enumerate() {
                // Of what is mapped; the chain rule gives those of the inputs.
                let gradient = match metric {
                    InputMetric::Diagonal(scales) => mapped * scales,
                    InputMetric::Full(factor) => mapped.dot(&factor.t()),
                };
                for column in 0..4 {
                    let step = 3e-6;
                    let (mut above, mut below) = (at.clone(), at.clone());
                    above.column_mut(column).mapv_inplace(|x| x + step);
                    below.column_mut(column).mapv_inplace(|x| x - step);
                    let slope = (values(&above) - values(&below)) / (2.0 * step);
                    assert_abs_diff_eq!(
                        gradient.column(column),
                        slope.column(output),
                        epsilon = 1e-8
                    );
                }
            }
        }
    }
}

/// The target of both READMEs of the authors: of a hundred columns two matter.
#[test]
fn a_planted_pair_of_columns_carries_the_metric() {
    let x = normal(1000, 100, 1);
    let labels = x.rows().into_iter().map(|x| 2 * u32::from(x[0] > 0.0) + u32::from(x[1] < 0.5));
    let sample = Sample::classification(x.clone(), labels.collect(), 4).unwrap();
    let params = RfmParams { bandwidth: 1.0, ..RfmParams::default() };
    let fit = fitted(params.clone(), &sample);
    let learned = metric(&fit);
    let share = learned.slice(s![..2, ..2]).diag().sum() / learned.diag().sum();
    assert!(share > 0.9, "{share} {:?}", fit.facts);
    assert!(fit.facts["leave-one-out"] < 0.5 * fit.facts["leave-one-out-identity"]);
    let scales = metric(&fitted(RfmParams { diagonal: true, ..params }, &sample));
    assert!(scales.slice(s![0, ..2]).sum() / scales.sum() > 0.9, "{scales}");
}

/// A direction that is no column: only a full metric can have it.
#[test]
fn a_planted_direction_is_the_first_eigenvector_of_the_metric() {
    let x = normal(400, 8, 5);
    let direction = array![1.0f64, -1.0, 2.0, 0.0, 0.0, 0.5, 0.0, 1.0];
    let direction = &direction / direction.dot(&direction).sqrt();
    let y = x.dot(&direction).mapv(|projection| (2.0 * projection).sin());
    let fit = fitted(RfmParams::default(), &Sample::regression(x, y).unwrap());
    let learned = metric(&fit);
    let along = direction.dot(&learned.dot(&direction)) / learned.diag().sum();
    assert!(along > 0.99, "{along}");
    assert!(fit.facts["effective-rank"] < 1.05, "{:?}", fit.facts);
}

#[test]
fn leave_one_out_is_what_refitting_without_each_row_gives() {
    let (n, x) = (12, normal(12, 3, 1));
    let y = normal(12, 2, 2) + 3.0;
    let metric = InputMetric::Full(normal(3, 2, 3));
    for centre in [true, false] {
        let params = RfmParams {
            ridge: Some(0.05),
            bandwidth: 2.0,
            exponent: 1.2,
            centre,
            ..RfmParams::default()
        };
        let machine = RecursiveFeatureMachine::new(params).unwrap();
        let fit = |x: Array2<f64>, y: &Array2<f64>| {
            let mean = if centre { y.mean_axis(Axis(0)).unwrap() } else { Array1::zeros(2) };
            let points = Points::new(metric.mapped(x.view()));
            let round = machine.round(&points, &(y - &mean), &Fitting::seeded(1)).unwrap();
            let (kernel, metric) = (machine.kernel(), metric.clone());
            let (centre, alpha) = (Array1::zeros(3), round.alpha);
            (Expansion { kernel, metric, centre, points, alpha, mean }, round.error)
        };
        let (_, error) = fit(x.clone(), &y);
        let mut squares = 0.0;
        for i in 0..n {
            let others: Vec<usize> = (0..n).filter(|&other| other != i).collect();
            let (rest, _) = fit(x.select(Axis(0), &others), &y.select(Axis(0), &others));
            let residual = &y.row(i) - &rest.at(x.select(Axis(0), &[i]).view()).row(0);
            squares += residual.dot(&residual);
        }
        assert_relative_eq!(error, squares / (2 * n) as f64, max_relative = 1e-9);
    }
}

/// Equal rows have no direction between them; near ones have theirs, also far from the origin.
#[test]
fn the_kink_at_distance_zero_adds_nothing() {
    let kernel = Radial { bandwidth: 1.0, exponent: 1.0 };
    let alone = Points::new(array![[0.0, 0.0], [3.0, 4.0]]);
    let twice = Points::new(array![[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [3.0, 4.0]]);
    let at = array![[3.0, 4.0]];
    let once = kernel.gradients(at.view(), &alone, &array![[2.0], [7.0]]);
    // 2 e^(−5) towards the origin, and nothing of the point itself.
    let expected = array![[-0.6, -0.8]] * (2.0 * (-5.0f64).exp());
    assert_abs_diff_eq!(once[0], expected, epsilon = 1e-15);
    let merged = kernel.gradients(at.view(), &twice, &array![[0.5], [3.0], [1.5], [4.0]]);
    assert_abs_diff_eq!(merged[0], expected, epsilon = 1e-15);
    // A distance of 1e-7 beside norms of 1 has all its digits.
    let near = Points::new(array![[1.0, 1e-7]]);
    let slope = kernel.gradients(array![[1.0, 0.0]].view(), &near, &array![[1.0]]);
    assert_relative_eq!(slope[0][[0, 1]], (-1e-7f64).exp(), max_relative = 1e-9);
    // A whole fit of rows that occur twice with other targets.
    let x = normal(20, 2, 3);
    let x = ndarray::concatenate![Axis(0), x, x];
    let y = normal(40, 1, 4).remove_axis(Axis(1));
    let fit = fitted(RfmParams::default(), &Sample::regression(x, y).unwrap());
    assert!(metric(&fit).iter().all(|entry| entry.is_finite()), "{:?}", fit.facts);
}

fn fixture(name: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("../../tests/fixtures/rfm.json")).unwrap();
    assert_eq!(all["program"], "NumPy 2.4.6");
    all[name].clone()
}

fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = serde_json::from_value(value.clone()).unwrap();
    let width = rows[0].len();
    Array2::from_shape_vec((rows.len(), width), rows.concat()).unwrap()
}

/// Each round of `fixtures/rfm.py`: metric, leave-one-out by refits, and predictions.
#[test]
fn every_round_is_that_of_numpy() {
    for name in ["iris", "wine"] {
        let given = fixture(name);
        let number = |of: &str| given[of].as_f64().unwrap();
        let (x, z) = (matrix(&given["x"]), matrix(&given["z"]));
        let sample = if name == "wine" {
            Sample::classification(x, serde_json::from_value(given["y"].clone()).unwrap(), 3)
        } else {
            let y: Vec<f64> = serde_json::from_value(given["y"].clone()).unwrap();
            Sample::regression(x, Array1::from(y))
        };
        let sample = sample.unwrap();
        for (rounds, found) in given["found"].as_array().unwrap().iter().enumerate() {
            let params = RfmParams {
                ridge: Some(number("ridge")),
                bandwidth: number("bandwidth"),
                exponent: number("exponent"),
                centre: given["centre"].as_bool().unwrap(),
                diagonal: given["diagonal"].as_bool().unwrap(),
                rounds,
                ..RfmParams::default()
            };
            let fit = fitted(params, &sample);
            // Each round is better than the one before it, so that it is kept.
            assert_abs_diff_eq!(fit.facts["round"], rounds as f64);
            let error = found["error"].as_f64().unwrap();
            assert_relative_eq!(fit.facts["leave-one-out"], error, max_relative = 1e-8);
            let expected = matrix(&found["metric"]);
            let learned = metric(&fit);
            if learned.nrows() == 1 {
                assert_abs_diff_eq!(learned.row(0), expected.diag(), epsilon = 1e-8);
            } else {
                assert_abs_diff_eq!(learned, expected, epsilon = 1e-8);
            }
            let values = fit.predictor.decision(z.view());
            assert_abs_diff_eq!(values, matrix(&found["values"]), epsilon = 1e-8);
        }
    }
}

#[test]
fn the_round_with_the_least_error_is_kept() {
    // Noise has no metric: what is learned from it is worse than none.
    let y = normal(60, 1, 8).remove_axis(Axis(1));
    let sample = Sample::regression(normal(60, 10, 7), y).unwrap();
    let errors: Vec<f64> = (0..=4)
        .map(|rounds| fitted(RfmParams { rounds, ..RfmParams::default() }, &sample))
        .map(|fit| fit.facts["leave-one-out"])
        .collect();
    assert!(errors.windows(2).all(|pair| pair[1] <= pair[0]), "{errors:?}");
    let kept = fitted(RfmParams { rounds: 4, ..RfmParams::default() }, &sample);
    let round = kept.facts["round"] as usize;
    let again = fitted(RfmParams { rounds: round, ..RfmParams::default() }, &sample);
    assert_eq!(kept.predictor.state(), again.predictor.state());
}

/// Thirty columns that all matter, and noise: no metric helps. Leave-one-out in a metric that has seen the row
/// is fooled, folds are not.
#[test]
fn folds_see_that_a_metric_does_not_help() {
    let (x, fresh) = (normal(120, 30, 11), normal(500, 30, 12));
    let target = |x: &Array2<f64>, seed: u64| {
        x.sum_axis(Axis(1)) / 30f64.sqrt() + normal(x.nrows(), 1, seed).column(0)
    };
    let (y, truth) = (target(&x, 13), target(&fresh, 14));
    let sample = Sample::regression(x, y).unwrap();
    let error = |fit: &Fitted| {
        (fit.predictor.decision(fresh.view()).column(0).to_owned() - &truth)
            .mapv(|r| r * r)
            .mean()
            .unwrap()
    };
    let params = RfmParams { ridge: Some(0.1), ..RfmParams::default() };
    let fooled = fitted(params.clone(), &sample);
    assert!(fooled.facts["round"] >= 1.0, "{:?}", fooled.facts);
    assert!(fooled.facts["leave-one-out"] < 0.7 * error(&fooled), "{:?}", fooled.facts);
    let chosen = fitted(RfmParams { folds: Some(5), ..params.clone() }, &sample);
    assert!(chosen.facts["round"] < fooled.facts["round"], "{:?}", chosen.facts);
    assert!(error(&chosen) < error(&fooled), "{} {}", error(&chosen), error(&fooled));
    assert!((chosen.facts["validation"] / error(&chosen) - 1.0).abs() < 0.3, "{:?}", chosen.facts);
    // The round is then fitted to all rows.
    let rounds = chosen.facts["round"] as usize;
    assert!(chosen.facts["validation"] <= chosen.facts["validation-identity"]);
    let again = RecursiveFeatureMachine::new(RfmParams { rounds, folds: None, ..params }).unwrap();
    let rows = Centred::of(sample.inputs(), one_column_an_output(sample.targets(), 120, 1), true);
    let mut last = None;
    again.path(rounds, &rows, &Fitting::seeded(1), |step| last = Some(step)).unwrap();
    let expected = last.unwrap().expansion(again.kernel(), &rows).at(fresh.view());
    assert_eq!(chosen.predictor.decision(fresh.view()), expected);
}

/// Where a direction matters the folds find it, too; a handful of rows has a handful of folds.
#[test]
fn folds_keep_a_metric_that_helps() {
    let x = normal(200, 10, 5);
    let y = x.column(3).mapv(|x| (2.0 * x).sin());
    let params = RfmParams { folds: Some(5), ..RfmParams::default() };
    let fit = fitted(params.clone(), &Sample::regression(x.clone(), y.clone()).unwrap());
    assert!(fit.facts["validation"] < 0.2 * fit.facts["validation-identity"], "{:?}", fit.facts);
    for rows in [1, 2, 3] {
        let (x, y) = (x.slice(s![..rows, ..]).to_owned(), y.slice(s![..rows]).to_owned());
        let fit = fitted(params.clone(), &Sample::regression(x.clone(), y).unwrap());
        assert!(fit.predictor.decision(x.view()).iter().all(|value| value.is_finite()));
    }
}

#[test]
fn a_ridge_is_chosen_in_each_round_and_then_is_a_ridge_as_any() {
    let x = normal(80, 3, 1);
    let y = x.column(0).mapv(f64::sin) + normal(80, 1, 2).column(0).mapv(|noise| 0.1 * noise);
    let sample = Sample::regression(x, y).unwrap();
    let params = RfmParams { ridge: None, rounds: 0, ..RfmParams::default() };
    let chosen = fitted(params.clone(), &sample);
    assert_abs_diff_eq!(chosen.facts["grid-end"], 0.0);
    let given = RfmParams { ridge: Some(chosen.facts["ridge"]), ..params.clone() };
    let given = fitted(given, &sample);
    assert_eq!(chosen.predictor.state(), given.predictor.state());
    for factor in [0.3, 3.0] {
        let other = RfmParams { ridge: Some(factor * chosen.facts["ridge"]), ..params.clone() };
        let other = fitted(other, &sample).facts["leave-one-out"];
        assert!(other > chosen.facts["leave-one-out"], "{factor}");
    }
}

#[test]
fn degenerate_samples_are_fitted_or_named() {
    let x = normal(30, 3, 1);
    let y = x.column(0).mapv(f64::sin);
    // A constant target has no gradient, and its prediction is the constant.
    let constant = Sample::regression(x.clone(), Array1::from_elem(30, 4.5)).unwrap();
    let fit = fitted(RfmParams::default(), &constant);
    assert_abs_diff_eq!(fit.facts["round"], 0.0);
    assert!(fit.predictor.decision(x.view()).iter().all(|value| (value - 4.5).abs() < 1e-12));
    // Rows that are all equal are predicted as their mean.
    let equal = Sample::regression(Array2::ones((30, 3)), y.clone()).unwrap();
    let fit = fitted(RfmParams::default(), &equal);
    let said = fit.predictor.decision(Array2::ones((1, 3)).view())[[0, 0]];
    assert_abs_diff_eq!(said, y.mean().unwrap(), epsilon = 1e-9);
    // A constant column gets no weight once the metric is learned.
    let mut flat = x.clone();
    flat.column_mut(1).fill(2.0);
    let fit = fitted(RfmParams::default(), &Sample::regression(flat, y.clone()).unwrap());
    assert!(fit.facts["round"] > 0.0);
    assert!(metric(&fit).row(1).iter().all(|entry| entry.abs() < 1e-12), "{}", metric(&fit));
    // More columns than rows, with the metric that the defaults choose.
    for columns in [40, 2000] {
        let wide = normal(20, columns, 2);
        let target = wide.column(0).to_owned();
        let sample = Sample::regression(wide, target).unwrap();
        let settings = (METHOD.defaults)(&sample.shape());
        let fit = METHOD.learner(&settings, sample.task()).unwrap();
        let fit = fit.fit(&sample, &mut Fitting::seeded(1)).unwrap();
        assert_eq!(metric(&fit).nrows() == 1, columns > FULL);
        let Targets::Real(y) = sample.targets() else { panic!("numbers") };
        let error = fit.predictor.decision(sample.inputs()).column(0).to_owned() - y;
        assert!(error.dot(&error) < 0.1 * y.dot(y), "{columns}");
    }
    let far = Sample::regression(x * 1e200, y).unwrap();
    let machine = RecursiveFeatureMachine::new(RfmParams::default()).unwrap();
    let said = machine.fit(&far, &mut Fitting::seeded(1)).err().unwrap().to_string();
    assert!(said.contains("`bandwidth` is 10") && said.contains("scale the inputs"), "{said}");
}

/// Has no memory.
struct Narrow;

impl Limits for Narrow {
    fn check(&self) -> Result<(), LearningError> {
        Ok(())
    }
    fn reserve(&self, needed: u64) -> Result<(), LearningError> {
        Err(LearningError::OutOfMemory { needed, limit: 0 })
    }
}

#[test]
fn memory_is_asked_for_before_it_is_used_and_the_cap_bounds_it() {
    let x = normal(300, 2, 1);
    let sample = Sample::regression(x.clone(), x.column(0).to_owned()).unwrap();
    let machine = RecursiveFeatureMachine::new(RfmParams::default()).unwrap();
    let refused = machine.fit(&sample, &mut Fitting { limits: &Narrow, ..Fitting::seeded(1) });
    let Err(LearningError::OutOfMemory { needed, .. }) = refused else { panic!("refused") };
    assert!(needed >= 2 * 8 * 300 * 300);
    let capped = fitted(RfmParams { cap: 50, ..RfmParams::default() }, &sample);
    assert_abs_diff_eq!(capped.facts["rows-used"], 50.0);
}

#[test]
fn threads_change_no_bit() {
    let x = normal(1100, 3, 1);
    let y = x.column(0).mapv(f64::sin);
    let sample = Sample::regression(x, y).unwrap();
    let states = [1, 2].map(|threads| {
        let params = RfmParams { rounds: 1, ..RfmParams::default() };
        let machine = RecursiveFeatureMachine::new(params).unwrap();
        let mut fitting = Fitting { threads, ..Fitting::seeded(1) };
        machine.fit(&sample, &mut fitting).unwrap().predictor.state()
    });
    assert_eq!(states[0], states[1]);
}

/// Which column matters depends on the side: `sin 3x₁` where `x₀ < 0`, else `sin 3x₂`.
fn two_regimes(rows: usize, seed: u64) -> (Array2<f64>, Array1<f64>) {
    let x = normal(rows, 6, seed);
    let y = x.rows().into_iter().map(|x| (3.0 * x[if x[0] < 0.0 { 1 } else { 2 }]).sin());
    let y = y.zip(x.column(0)).map(|(y, side)| y + 4.0 * f64::from(u8::from(*side < 0.0)));
    (x.clone(), y.collect())
}

/// A row goes the same way alone and among others, and a restored tree is the same.
#[test]
fn a_tree_of_machines_has_a_metric_for_each_leaf() {
    let (x, y) = two_regimes(1200, 1);
    let (fresh, truth) = two_regimes(400, 2);
    let sample = Sample::regression(x, y).unwrap();
    let error = |params: RfmParams| {
        let fit = fitted(RfmParams { bandwidth: 3.0, ..params }, &sample);
        let gaps = fit.predictor.decision(fresh.view()).column(0).to_owned() - &truth;
        (fit, gaps.dot(&gaps) / gaps.len() as f64)
    };
    let (tree, of_tree) = error(RfmParams { leaf: 300, ..RfmParams::default() });
    let (_, of_some) = error(RfmParams { cap: 300, ..RfmParams::default() });
    assert!(of_tree < 0.6 * of_some, "{of_tree} {of_some}");
    assert_abs_diff_eq!(tree.facts["leaves"], 4.0);
    assert_abs_diff_eq!(tree.facts["rows-used"], 1200.0);
    // The root parts the regimes.
    let state = tree.predictor.state();
    let directions = state.array::<f64, Ix2>("directions").unwrap();
    assert!(directions[[0, 0]].abs() > 0.9, "{directions}");
    let again = (METHOD.restore)(&state).unwrap();
    let together = tree.predictor.decision(fresh.view());
    assert_eq!(again.decision(fresh.view()), together);
    for row in [0, 17, 399] {
        let alone = tree.predictor.decision(fresh.slice(s![row..=row, ..]));
        assert_abs_diff_eq!(alone[[0, 0]], together[[row, 0]], epsilon = 1e-12);
    }
}

#[test]
fn a_tree_of_one_leaf_is_a_machine_and_classes_may_be_missing_in_a_leaf() {
    let x = normal(300, 3, 3);
    let labels: Vec<u32> = x.column(0).iter().map(|x| u32::from(*x > 0.2) * 2).collect();
    let sample = Sample::classification(x.clone(), labels.clone(), 3).unwrap();
    let [whole, same] =
        [300, 5000].map(|leaf| fitted(RfmParams { leaf, ..RfmParams::default() }, &sample));
    assert_eq!(whole.predictor.state(), same.predictor.state());
    let tree = fitted(RfmParams { leaf: 60, ..RfmParams::default() }, &sample);
    let found = tree.predictor.predict(x.view()).unwrap();
    let mercer_learning::Predictions::Classes(found) = found else { panic!("classes") };
    let right = found.iter().zip(&labels).filter(|(found, label)| found == label).count();
    assert!(right > 285, "{right}");
}

/// Columns of two values, rows that are all equal, a constant target: a tree ends, and says what it can.
#[test]
fn a_tree_of_rows_that_nothing_divides_ends() {
    let draws = normal(200, 3, 4);
    let binary = draws.mapv(|x| f64::from(u8::from(x > 1.0)));
    let y = binary.column(0).to_owned() + binary.column(1);
    let params = RfmParams { leaf: 20, ..RfmParams::default() };
    let fit = fitted(params.clone(), &Sample::regression(binary.clone(), y.clone()).unwrap());
    let gaps = fit.predictor.decision(binary.view()).column(0).to_owned() - &y;
    assert!(gaps.iter().all(|gap| gap.abs() < 0.01), "{gaps}");
    let equal = Sample::regression(Array2::ones((200, 3)), y.clone()).unwrap();
    assert_abs_diff_eq!(fitted(params.clone(), &equal).facts["leaves"], 1.0);
    let constant = Sample::regression(draws.clone(), Array1::from_elem(200, 4.5)).unwrap();
    for diagonal in [true, false] {
        let fit = fitted(RfmParams { diagonal, ..params.clone() }, &constant);
        assert_abs_diff_eq!(fit.facts["leaves"], 1.0);
        let said = fit.predictor.decision(draws.view());
        assert!(said.iter().all(|value| (value - 4.5).abs() < 1e-12));
    }
}

#[test]
fn a_damaged_tree_is_refused() {
    let (x, y) = two_regimes(200, 1);
    let params = RfmParams { leaf: 60, rounds: 1, ..RfmParams::default() };
    let state = fitted(params, &Sample::regression(x, y).unwrap()).predictor.state();
    let sides: Vec<[i64; 2]> = state.value("sides").unwrap();
    assert_eq!(sides.len(), 3);
    for damaged in [[1, 1], [0, -1], [1, 9], [1, -9], [i64::MIN, 1]] {
        let mut wrong = sides.clone();
        wrong[0] = damaged;
        let refused = (METHOD.restore)(&state.clone().with("sides", wrong)).err();
        assert!(refused.is_some_and(|error| error.to_string().contains("sides")), "{damaged:?}");
    }
    for leaves in [0_usize, 3, 5, usize::MAX] {
        assert!((METHOD.restore)(&state.clone().with("leaves", leaves)).is_err(), "{leaves}");
    }
}

#[test]
fn a_large_table_of_ones_own_begins_with_a_tree_of_all_rows() {
    let begun = |rows| {
        let settings = METHOD.begun(&Shape { rows, features: 3, task: Task::Regression });
        let params: RfmParams = settings.read("rfm").unwrap();
        (params.cap, params.leaf, params.folds)
    };
    assert_eq!(begun(CAP), (CAP, CAP, Some(5)));
    assert_eq!(begun(CAP + 1), (MANY, CAP, None));
}

/// `M^½ M^½ = M`, each with the trace of the identity; and columns of a full metric are as those of a diagonal one.
#[test]
fn powers_of_a_metric_are_those_of_its_matrix() {
    let factor = symmetric_eigen(normal(4, 4, 1).dot(&normal(4, 4, 1).t()).view()).unwrap();
    let roots = factor.values.mapv(f64::sqrt);
    let full = InputMetric::Full(factor.vectors * &roots);
    let matrix = full.matrix();
    assert_abs_diff_eq!(
        full.powered(1.0).matrix(),
        &matrix * (4.0 / matrix.diag().sum()),
        epsilon = 1e-10
    );
    let root = full.powered(0.5).matrix();
    assert_abs_diff_eq!(root.diag().sum(), 4.0, epsilon = 1e-10);
    let square = root.dot(&root);
    assert_abs_diff_eq!(&square / square[[0, 0]], &matrix / matrix[[0, 0]], epsilon = 1e-9);
    assert_abs_diff_eq!(full.powered(0.0).matrix(), Array2::eye(4), epsilon = 1e-9);
    let scales = array![2.0, 0.5, 1.0];
    let full = InputMetric::Full(Array2::from_diag(&scales)).powered(0.3).matrix();
    let diagonal = InputMetric::Diagonal(scales).powered(0.3).matrix();
    assert_abs_diff_eq!(full.diag(), diagonal.row(0), epsilon = 1e-12);
}

/// The metric by itself is that of a machine that is held to its first round.
#[test]
fn the_gradient_metric_is_that_of_round_one() {
    let x = normal(200, 5, 2);
    let y = x.column(1).mapv(|x| (3.0 * x).sin());
    let sample = Sample::regression(x, y.clone()).unwrap();
    for diagonal in [true, false] {
        let params = RfmParams { rounds: 1, diagonal, ..RfmParams::default() };
        let fit = fitted(params.clone(), &sample);
        assert_abs_diff_eq!(fit.facts["round"], 1.0);
        let machine = RecursiveFeatureMachine::new(params).unwrap();
        let alone = machine.gradient_metric(&sample, &Fitting::seeded(1)).unwrap();
        assert_eq!(alone.matrix(), metric(&fit));
        let constant = sample.inputs().to_owned();
        let constant = Sample::regression(constant, Array1::ones(200)).unwrap();
        let none = machine.gradient_metric(&constant, &Fitting::seeded(1)).unwrap();
        assert_eq!(none, InputMetric::identity(5));
    }
}
