//! Golden values of the toy sample, and gradients against central differences.

use super::*;
use crate::toy::{number, numbers};
use approx::{assert_abs_diff_eq, assert_relative_eq};
use mercer_learning::Shape;
use ndarray::array;
use toml::{Table, Value};

const YA: [f64; 6] = [1.0, 1.0, -1.0, 1.0, -1.0, -1.0];

fn toy() -> Array2<f64> {
    array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [2.0, 2.0]]
}

fn kernel(s: f64, l: [f64; 2]) -> ScaledGaussian {
    ScaledGaussian { deviation: s, lengths: Array1::from(l.to_vec()) }
}

/// Mode, and the gradient of the evidence in `log s, log l`.
fn at(kernel: &ScaledGaussian, y: &[f64]) -> (Mode, Vec<f64>) {
    let scaled = kernel.scaled(toy().view());
    let gram = kernel.gram(scaled.view());
    let mode = Mode::find(&gram, Labelled { y, weights: None }, None).unwrap();
    let gradient = kernel.gradient(&mode.sensitivity(&gram), &gram, &scaled);
    (mode, gradient)
}

fn machine(kernel: ScaledGaussian, y: &[f64]) -> Machine {
    let (mode, _) = at(&kernel, y);
    let scaled = kernel.scaled(toy().view());
    Machine { kernel, scaled, weights: mode.weights, reduction: mode.reduction }
}

fn close(found: &[f64], expected: &Value) {
    let expected = numbers(expected);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_relative_eq!(found, expected, max_relative = 1e-8);
    }
}

#[test]
fn golden_values_of_the_toy_sample() {
    let golden: Table = include_str!("../../../../experiments/golden/base.toml").parse().unwrap();
    let golden = &golden["base-8"];
    // s = 1, l = (1, 1).
    let unit = kernel(1.0, [1.0, 1.0]);
    let (mode, gradient) = at(&unit, &YA);
    let f = unit.gram(toy().view()).dot(&mode.weights);
    close(f.as_slice().unwrap(), &golden["mode"]);
    assert_relative_eq!(mode.evidence, number(&golden["evidence"]), max_relative = 1e-8);
    close(&gradient, &golden["gradient"]);
    let t = array![[1.5, 0.5]];
    let (m, v) = machine(unit.clone(), &YA).latent(t.view());
    close(&[m[0], v[0], expected_share(m[0], v[0])], &golden["prediction"]);
    // s = 2, l = (1, 0.7).
    let other = kernel(2.0, [1.0, 0.7]);
    let (mode, gradient) = at(&other, &YA);
    assert_relative_eq!(mode.evidence, number(&golden["second-evidence"]), max_relative = 1e-8);
    close(&gradient, &golden["second-gradient"]);
    let (m, v) = machine(other, &YA).latent(t.view());
    close(&[m[0], v[0], expected_share(m[0], v[0])], &golden["second-prediction"]);
    // One against the others.
    let classes = [0, 0, 1, 1, 2, 2];
    let (mut shares, mut evidences) = (Vec::new(), Vec::new());
    for class in 0..3 {
        let y: Vec<f64> = classes.iter().map(|&c| if c == class { 1.0 } else { -1.0 }).collect();
        evidences.push(at(&unit, &y).0.evidence);
        let (m, v) = machine(unit.clone(), &y).latent(array![[1.9, 1.6]].view());
        shares.push(expected_share(m[0], v[0]));
    }
    close(&shares, &golden["classes-probabilities"]);
    close(&evidences, &golden["classes-evidences"]);
}

/// Numbers of scikit-learn 1.9.1, by `tests/fixtures/make.py`.
#[test]
fn posterior_of_numbers_is_that_of_scikit_learn() {
    let all = include_str!("../../tests/fixtures/scikit_learn.json");
    let all: serde_json::Value = serde_json::from_str(all).unwrap();
    let given = &all["gaussian-process-regression"];
    let list = |value: &serde_json::Value| -> Array1<f64> {
        value.as_array().unwrap().iter().map(|own| own.as_f64().unwrap()).collect()
    };
    let table = |value: &serde_json::Value| -> Array2<f64> {
        let rows: Vec<Array1<f64>> = value.as_array().unwrap().iter().map(list).collect();
        ndarray::stack(Axis(0), &rows.iter().map(Array1::view).collect::<Vec<_>>()).unwrap()
    };
    let (x, t) = (table(&given["x"]), list(&given["t"]));
    let (mean, scale) = (t.mean().unwrap(), t.std(0.0));
    let y = (&t - mean) / scale;
    let number = |name: &str| given[name].as_f64().unwrap();
    let mut logs = vec![number("deviation").ln()];
    logs.extend(list(&given["lengths"]).iter().map(|length| length.ln()));
    logs.push(number("noise").ln());
    let rows = Noisy { y: &y, weights: None };
    let posterior = Posterior::of(&logs, x.view(), rows).unwrap();
    assert_relative_eq!(posterior.evidence, number("evidence"), max_relative = 1e-9);
    let gradient = Array1::from(posterior.gradient(rows));
    assert_abs_diff_eq!(gradient, list(&given["gradient"]), epsilon = 1e-7);
    let Posterior { kernel, noise, scaled, weights, inverse, .. } = posterior;
    let machine = Machine { kernel, scaled, weights, reduction: inverse };
    let process = Process { features: 2, machine, noise, mean, scale, exact: true };
    let z = table(&given["z"]);
    let values = process.decision(z.view());
    assert_abs_diff_eq!(values.column(0), list(&given["values"]).view(), epsilon = 1e-7);
    let deviations = process.deviations(z.view()).unwrap();
    assert_abs_diff_eq!(deviations, list(&given["deviations"]), epsilon = 1e-7);
    let again = Process::restore(&process.state()).unwrap();
    assert_eq!(again.deviations(z.view()), Some(deviations));
    let left = again.left_out(1).expect("a closed form").unwrap();
    let (residuals, said) = (left.residuals(), left.values(z.view().into()));
    for row in 0..t.len() {
        let others: Vec<usize> = (0..t.len()).filter(|&other| other != row).collect();
        let (near, own) = (x.select(Axis(0), &others), t.select(Axis(0), &others));
        let mean = own.mean().unwrap();
        let y = (own - mean) / scale;
        let rows = Noisy { y: &y, weights: None };
        let Posterior { kernel, noise, scaled, weights, inverse, .. } =
            Posterior::of(&logs, near.view(), rows).unwrap();
        let machine = Machine { kernel, scaled, weights, reduction: inverse };
        let one = Process { features: 2, machine, noise, mean, scale, exact: true };
        assert_abs_diff_eq!(said.column(row), one.decision(z.view()).column(0), epsilon = 1e-9);
        let at = one.decision(x.select(Axis(0), &[row]).view())[[0, 0]];
        assert_abs_diff_eq!(residuals[row], t[row] - at, epsilon = 1e-9);
    }
}

/// A row of weight 3 is three equal rows, in the evidence and in what follows.
#[test]
fn weights_of_numbers_are_rows_and_gradients_agree_with_differences() {
    let y = array![0.3, -1.0, 0.8, 1.4, -0.2, -1.3];
    let own = array![3.0, 1.0, 2.0, 1.0, 1.0, 0.5];
    let logs = [0.3, -0.2, 0.4, -0.9];
    let at = |logs: &[f64], weights: bool| {
        let rows = Noisy { y: &y, weights: weights.then(|| own.view()) };
        let posterior = Posterior::of(logs, toy().view(), rows).unwrap();
        (posterior.evidence, posterior.gradient(rows))
    };
    let h = 1e-5;
    for weights in [false, true] {
        let (_, gradient) = at(&logs, weights);
        for k in 0..4 {
            let value = |step: f64| {
                let mut moved = logs;
                moved[k] += step;
                at(&moved, weights).0
            };
            let numeric = (value(h) - value(-h)) / (2.0 * h);
            assert_abs_diff_eq!(gradient[k], numeric, epsilon = 1e-7);
        }
    }
    let copies = [0, 0, 0, 1, 2, 2, 3, 4];
    let (x, repeated) = (toy().select(Axis(0), &copies), y.select(Axis(0), &copies));
    let bare = Noisy { y: &repeated, weights: None };
    let all = Posterior::of(&logs, x.view(), bare).unwrap();
    let whole = array![3.0, 1.0, 2.0, 1.0, 1.0];
    let (few, some) = (y.slice(s![..5]).to_owned(), toy().slice(s![..5, ..]).to_owned());
    let weighed = Noisy { y: &few, weights: Some(whole.view()) };
    let weighed = Posterior::of(&logs, some.view(), weighed).unwrap();
    assert_abs_diff_eq!(all.evidence, weighed.evidence, epsilon = 1e-10);
}

#[test]
fn gradients_agree_with_central_differences() {
    let logs = [0.3, -0.2, 0.4];
    let (_, gradient) = at(&ScaledGaussian::from_logs(&logs), &YA);
    // Third derivatives are of order 1, the mode is right to 1e-12: an error of 1e-9 at this step.
    let h = 1e-4;
    for k in 0..3 {
        let value = |step: f64| {
            let mut moved = logs;
            moved[k] += step;
            at(&ScaledGaussian::from_logs(&moved), &YA).0.evidence
        };
        let numeric = (value(h) - value(-h)) / (2.0 * h);
        assert_abs_diff_eq!(gradient[k], numeric, epsilon = 1e-7);
    }
    // One length for all columns moves all of them.
    let logs = [0.3, -0.2];
    let (_, tied) = at(&ScaledGaussian::from_logs(&logs), &YA);
    let (_, apart) = at(&kernel(0.3f64.exp(), [(-0.2f64).exp(); 2]), &YA);
    assert_relative_eq!(tied[1], apart[1] + apart[2], max_relative = 1e-12);
}

#[test]
fn the_start_of_newton_does_not_matter() {
    let kernel = kernel(3.0, [0.8, 1.1]);
    let gram = kernel.gram(kernel.scaled(toy().view()).view());
    let cold = Mode::find(&gram, Labelled { y: &YA, weights: None }, None).unwrap();
    for start in [array![0.3, -0.1, 0.2, 0.5, -0.4, 0.0], Array1::from_elem(6, 50.0)] {
        let warm = Mode::find(&gram, Labelled { y: &YA, weights: None }, Some(&start)).unwrap();
        assert_relative_eq!(cold.evidence, warm.evidence, max_relative = 1e-12);
        assert_abs_diff_eq!(cold.weights, warm.weights, epsilon = 1e-9);
    }
}

#[test]
fn averaged_probabilities_agree_with_a_fine_sum() {
    // Both sides of the deviation at which the integral is taken by parts.
    for (mean, variance) in [
        (0.3, 1e-4),
        (0.5, 2.0),
        (-3.0, 50.0),
        (10.0, 400.0),
        (0.7, 0.0),
        (10.0, 401.0),
        (-60.0, 401.0),
        (-700.0, 1e4),
        (2e3, 1e6),
    ] {
        let found = expected_share(mean, variance);
        let (mut total, mut weight) = (0.0, 0.0);
        for i in -200_000..=200_000 {
            let u = f64::from(i) * 5e-5;
            let density = (-0.5 * u * u).exp();
            total += density / (1.0 + (-(mean + variance.sqrt() * u)).exp());
            weight += density;
        }
        // By parts, the error is that of statrs's complementary error function.
        let epsilon = if variance > 400.0 { 5e-12 } else { 1e-12 };
        assert_abs_diff_eq!(found, total / weight, epsilon = epsilon);
        assert_relative_eq!(found, total / weight, max_relative = 1e-9);
    }
}

/// Found by the fuzz driver: damaged arrays gave a latent variance of 1e300 and with it as many nodes as its
/// root.
#[test]
fn a_latent_value_of_any_width_has_a_share_at_once() {
    for (mean, variance, share) in
        [(0.0, 1e10, 0.5), (-1e5, 1e10, 0.158_655_253_931), (3.0, f64::INFINITY, 0.5)]
    {
        assert_abs_diff_eq!(expected_share(mean, variance), share, epsilon = 1e-9);
    }
}

#[test]
fn the_evidence_of_the_toy_sample_runs_to_white_noise() {
    // The supremum, -6 log 2, is reached at no kernel: the search must end, and say where.
    let labels = YA.iter().map(|&y| u32::from(y > 0.0)).collect();
    let sample = Sample::classification(toy(), labels, 2).unwrap();
    let process = GaussianProcess::new(GaussianProcessParams::default()).unwrap();
    let fitted = process.fit(&sample, &mut Fitting::seeded(1)).unwrap();
    let evidence = fitted.facts["log-evidence"];
    assert!(evidence > -4.3175 && evidence < -4.158_883_083 + 1e-6, "{evidence}");
}

#[test]
fn bad_settings_and_data_are_named() {
    let refused = |params| GaussianProcess::new(params).unwrap_err().to_string();
    let default = GaussianProcessParams::default;
    assert!(refused(GaussianProcessParams { deviation: 0.0, ..default() }).contains("deviation"));
    assert!(refused(GaussianProcessParams { length: Some(-1.0), ..default() }).contains("length"));
    let nan = GaussianProcessParams { length: Some(f64::NAN), ..default() };
    assert!(refused(nan).contains("length"));
    assert!(refused(GaussianProcessParams { cap: 1, ..default() }).contains("cap"));
    let process = GaussianProcess::new(default()).unwrap();
    let fit = |sample: &Sample| process.fit(sample, &mut Fitting::seeded(1));
    let one = Sample::classification(toy(), vec![1; 6], 3).unwrap();
    assert!(matches!(fit(&one), Err(LearningError::OneClass { rows: 6 })));
    // A class without rows, duplicate rows and a constant column.
    let mut x = toy();
    x.column_mut(1).fill(7.0);
    x.row_mut(1).fill(7.0);
    let sample = Sample::classification(x, vec![0, 0, 2, 2, 2, 0], 3).unwrap();
    let fitted = fit(&sample).unwrap();
    let p = fitted.predictor.probabilities(toy().view()).unwrap();
    assert!(p.column(1).iter().all(|&p| p.abs() < f64::MIN_POSITIVE));
    assert!(p.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
}

/// scikit-learn 1.9.1, as `tests/fixtures/make.py` asked it.
#[test]
fn evidence_gradient_and_latent_values_are_those_of_scikit_learn() {
    let text = include_str!("../../tests/fixtures/scikit_learn.json");
    let all: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(all["program"], "scikit-learn 1.9.1");
    let given = &all["gaussian-process"];
    let vector = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let matrix = |name: &str| {
        let rows: Vec<Vec<f64>> = given[name].as_array().unwrap().iter().map(vector).collect();
        Array2::from_shape_vec((rows.len(), 3), rows.concat()).unwrap()
    };
    let y: Vec<f64> = vector(&given["y"]).iter().map(|y| 2.0 * y - 1.0).collect();
    let kernel = ScaledGaussian {
        deviation: given["deviation"].as_f64().unwrap(),
        lengths: Array1::from(vector(&given["lengths"])),
    };
    let scaled = kernel.scaled(matrix("x").view());
    let gram = kernel.gram(scaled.view());
    let mode = Mode::find(&gram, Labelled { y: &y, weights: None }, None).unwrap();
    assert_relative_eq!(mode.evidence, given["evidence"].as_f64().unwrap(), max_relative = 1e-11);
    let gradient = kernel.gradient(&mode.sensitivity(&gram), &gram, &scaled);
    for (ours, theirs) in gradient.iter().zip(vector(&given["gradient"])) {
        assert_relative_eq!(*ours, theirs, epsilon = 1e-9, max_relative = 1e-9);
    }
    let Mode { weights, reduction, .. } = mode;
    let (mean, variance) =
        Machine { kernel, scaled, weights, reduction }.latent(matrix("z").view());
    for (found, expected) in [(mean, "mean"), (variance, "variance")] {
        let expected = Array1::from(vector(&given[expected]));
        assert_abs_diff_eq!(found, expected, epsilon = 1e-9);
    }
}

/// Found by the fuzz driver: an edited deviation of 1e150 took for ever to predict with.
#[test]
fn a_kept_kernel_that_no_fit_leaves_is_refused() {
    let kept = |deviation: f64, length: f64| {
        let mut machine = machine(kernel(1.0, [1.0, 2.0]), &YA);
        machine.kernel.deviation = deviation;
        machine.kernel.lengths[1] = length;
        let task = Task::Classification { classes: 2 };
        let processes = Processes { task, features: 2, machines: [(1, machine)].into() };
        restore(&processes.state()).map(|_| ()).map_err(|error| error.to_string())
    };
    for end in [RANGE.0, RANGE.1] {
        assert_eq!(kept(end, end), Ok(()));
    }
    for (deviation, length) in [(1e150, 1.0), (0.0, 1.0), (1.0, 1e-6), (1.0, -1.0)] {
        let error = kept(deviation, length).unwrap_err();
        assert!(error.contains("must lie between 1e-5 and 1e5"), "{error}");
    }
}

/// Rows, targets and weights without a pattern.
fn scattered(n: usize) -> (Array2<f64>, Array1<f64>, Array1<f64>) {
    let at = |k: usize| ((k * 7919 + 13) as f64 * 0.618_033_988_75).fract() * 4.0 - 2.0;
    let x = Array2::from_shape_fn((n, 2), |(i, j)| at(2 * i + j));
    let y: Array1<f64> =
        (0..n).map(|i| (x[[i, 0]] * 1.3).sin() + 0.4 * x[[i, 1]] + 0.1 * at(5 * i)).collect();
    (x, y, (0..n).map(|i| [1.0, 2.0, 0.5][i % 3]).collect())
}

/// The bound by its definition, with matrices of all rows: Titsias 2009, equation 9.
fn bound_by_definition(x: &Array2<f64>, y: &Array1<f64>, m: usize, logs: &[f64]) -> f64 {
    let kernel = ScaledGaussian::from_logs(&logs[..logs.len() - 1]);
    let noise = (2.0 * logs[logs.len() - 1]).exp();
    let (all, few) = (kernel.scaled(x.view()), kernel.scaled(x.slice(s![..m, ..])));
    let mut own = kernel.gram(few.view());
    own.diag_mut().mapv_inplace(|entry| entry * (1.0 + 1e-8));
    let cross = kernel.between(x.view(), few.view());
    let q = cross
        .dot(&mercer_linalg::Cholesky::factor(own).unwrap().solve(&cross.t().to_owned()).unwrap());
    let left = (kernel.gram(all.view()).diag().to_owned() - q.diag()).sum();
    let n = y.len();
    let mut covariance = q;
    covariance.diag_mut().mapv_inplace(|entry| entry + noise);
    let factor = mercer_linalg::Cholesky::factor(covariance).unwrap();
    let solved = factor.solve(&y.view().insert_axis(Axis(1)).to_owned()).unwrap();
    let normal = n as f64 * (2.0 * std::f64::consts::PI).ln();
    -0.5 * (y.dot(&solved.column(0)) + factor.log_determinant() + normal) - left / (2.0 * noise)
}

#[test]
fn the_bound_of_inducing_rows_is_that_of_its_definition_and_below_the_evidence() {
    let (x, y, _) = scattered(40);
    for logs in [[0.1, -0.2, 0.3, -1.0], [0.5, 0.4, 0.4, -2.0]] {
        let noisy = Noisy { y: &y, weights: None };
        let exact = Posterior::of(&logs, x.view(), noisy).unwrap();
        let mut last = f64::NEG_INFINITY;
        for m in [5, 15, 40] {
            for threads in [1, 3] {
                let rows =
                    Rows { inputs: x.view(), inducing: x.slice(s![..m, ..]), noisy, threads };
                let found = Bound::of(&logs, rows).unwrap().value;
                let defined = bound_by_definition(&x, &y, m, &logs);
                assert_relative_eq!(found, defined, max_relative = 1e-7);
                assert!(found >= last - 1e-4 && found <= exact.evidence + 1e-9, "{m}: {found}");
                last = found;
            }
        }
        // All rows are the exact process, up to what is added to the diagonal.
        assert_relative_eq!(last, exact.evidence, max_relative = 1e-4);
    }
}

#[test]
fn the_gradient_of_the_bound_is_that_of_differences_with_weights_too() {
    let (x, y, w) = scattered(700);
    let logs = [0.2, -0.3, 0.4, -1.2];
    for weights in [None, Some(w.view())] {
        let noisy = Noisy { y: &y, weights };
        let rows = Rows { inputs: x.view(), inducing: x.slice(s![..12, ..]), noisy, threads: 2 };
        let gradient = Bound::of(&logs, rows).unwrap().gradient(rows).unwrap();
        for (j, found) in gradient.iter().enumerate() {
            let at = |step: f64| {
                let mut moved = logs;
                moved[j] += step;
                Bound::of(&moved, rows).unwrap().value
            };
            let differences = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert_relative_eq!(*found, differences, max_relative = 1e-5, epsilon = 1e-4);
        }
    }
    // One length for all columns.
    let noisy = Noisy { y: &y, weights: None };
    let rows = Rows { inputs: x.view(), inducing: x.slice(s![..12, ..]), noisy, threads: 1 };
    let tied = Bound::of(&[0.2, 0.1, -1.2], rows).unwrap().gradient(rows).unwrap();
    let apart = Bound::of(&[0.2, 0.1, 0.1, -1.2], rows).unwrap().gradient(rows).unwrap();
    assert_relative_eq!(tied[1], apart[1] + apart[2], max_relative = 1e-9);
}

#[test]
fn inducing_rows_count_weights_as_copies_and_keep_what_they_learned() {
    let (x, y, _) = scattered(60);
    let params = GaussianProcessParams { inducing: 20, iterations: 0, ..Default::default() };
    let process = GaussianProcess::new(params).unwrap();
    let weights: Vec<f64> = (0..60).map(|row| if row < 20 { 1.0 } else { 2.0 }).collect();
    let twice: Vec<usize> = (0..60).chain(20..60).collect();
    let sample = Sample::regression(x.clone(), y.clone()).unwrap();
    let (weighted, copied) =
        (sample.clone().weighted(&weights).unwrap(), sample.select(&twice).unwrap());
    // The same inducing rows.
    let of = |sample: &Sample| {
        let Targets::Real(values) = sample.targets() else { unreachable!() };
        let noisy = Noisy { y: values, weights: sample.weights() };
        let rows =
            Rows { inputs: sample.inputs(), inducing: x.slice(s![..20, ..]), noisy, threads: 1 };
        let bound = Bound::of(&[0.1, 0.2, -1.0], rows).unwrap();
        (bound.value, bound.gradient(rows).unwrap(), bound.weights)
    };
    let (one, other) = (of(&weighted), of(&copied));
    assert_relative_eq!(one.0, other.0, max_relative = 1e-9);
    for (own, others) in one.1.iter().zip(&other.1) {
        assert_relative_eq!(*own, *others, max_relative = 1e-6, epsilon = 1e-6);
    }
    assert_abs_diff_eq!(one.2, other.2, epsilon = 1e-4);
    // A fit near the exact one; a restored one the same to the last bit.
    let fit = |inducing| {
        let params = GaussianProcessParams { inducing, ..Default::default() };
        GaussianProcess::new(params).unwrap().fit(&sample, &mut Fitting::seeded(1)).unwrap()
    };
    let (exact, sparse) = (fit(0), fit(30));
    let (own, others) = (sparse.predictor.decision(x.view()), exact.predictor.decision(x.view()));
    assert!((&own - &others).iter().all(|off| off.abs() < 0.1), "{own} {others}");
    assert!(sparse.facts["log-evidence"] <= exact.facts["log-evidence"] + 1e-6);
    let restored = restore(&sparse.predictor.state()).unwrap();
    assert_eq!(restored.decision(x.view()), own);
    assert_eq!(restored.deviations(x.view()), sparse.predictor.deviations(x.view()));
    // Fewer rows than inducing ones, and rows that repeat.
    let same = Array2::from_shape_fn((30, 2), |(i, _)| f64::from(u8::from(i % 2 == 0)));
    let repeated = Sample::regression(same, (0..30).map(|i| f64::from(i % 3)).collect()).unwrap();
    let fitted = process.fit(&repeated, &mut Fitting::seeded(1)).unwrap();
    assert!(fitted.predictor.decision(array![[0.5, 0.5]].view())[[0, 0]].is_finite());
}

#[test]
fn dirichlet_observations_match_the_mean_and_variance_of_their_gamma_variables() {
    let observed = Observed::of(&[0, 1, 0], 0, 0.5, 0.0, None);
    for (row, alpha) in [1.5, 0.5, 1.5].into_iter().enumerate() {
        let (m, v) = (observed.y[row], 1.0 / observed.weights[row]);
        assert_relative_eq!((m + v / 2.0).exp(), alpha, max_relative = 1e-12);
        assert_relative_eq!(v.exp_m1() * (2.0 * m + v).exp(), alpha, max_relative = 1e-12);
    }
}

#[test]
fn dirichlet_classes_count_weights_as_copies_and_keep_what_they_learned() {
    let (x, _, _) = scattered(60);
    let labels: Vec<u32> =
        (0..60).map(|row| u32::from(x[[row, 0]] > 0.3) + u32::from(x[[row, 1]] > 1.2)).collect();
    let at = array![[0.1, 0.2], [1.5, -1.0], [1.6, 1.7], [40.0, 40.0]];
    let twice: Vec<usize> = (0..60).chain(20..60).collect();
    for inducing in [0, 20] {
        let params = GaussianProcessParams {
            likelihood: Likelihood::Dirichlet,
            inducing,
            iterations: 0,
            ..Default::default()
        };
        let process = GaussianProcess::new(params).unwrap();
        let fit = |sample: &Sample| process.fit(sample, &mut Fitting::seeded(1)).unwrap().predictor;
        let sample = Sample::classification(x.clone(), labels.clone(), 3).unwrap();
        let weights: Vec<f64> = (0..60).map(|row| if row < 20 { 1.0 } else { 2.0 }).collect();
        let weighted = fit(&sample.clone().weighted(&weights).unwrap()).decision(at.view());
        if inducing == 0 {
            let copies = fit(&sample.select(&twice).unwrap()).decision(at.view());
            assert_abs_diff_eq!(weighted, copies, epsilon = 1e-9);
        }
        // Far from all rows the most frequent class is the likeliest.
        let fitted = fit(&sample);
        let found = fitted.decision(at.view());
        assert!(found[[3, 0]] > 0.4 && found[[3, 1]] < 0.4 && found[[3, 2]] < 0.4, "{found}");
        assert_eq!(restore(&fitted.state()).unwrap().decision(at.view()), found);
    }
}

/// On a table of one's own: the likelihood that had the better probabilities, and no row left out where it can be.
#[test]
fn three_classes_begin_as_dirichlet_observations_and_many_rows_by_inducing_ones() {
    let begun = |rows, task| {
        let settings = METHOD.begun(&Shape { rows, features: 3, task });
        let params: GaussianProcessParams = settings.read("gaussian-process").unwrap();
        (params.likelihood, params.inducing)
    };
    let classes = |classes| Task::Classification { classes };
    assert_eq!(begun(2000, classes(3)), (Likelihood::Dirichlet, 0));
    assert_eq!(begun(2001, classes(3)), (Likelihood::Dirichlet, INDUCING));
    assert_eq!(begun(2001, classes(2)), (Likelihood::Logistic, 0));
    assert_eq!(begun(2000, Task::Regression), (Likelihood::Logistic, 0));
    assert_eq!(begun(2001, Task::Regression), (Likelihood::Logistic, INDUCING));
}
