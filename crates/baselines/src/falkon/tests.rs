use crate::BASELINES;
use approx::assert_abs_diff_eq;
use mercer_kernels::Kernel;
use mercer_learning::{Convergence, Fitted, Fitting, Sample, Settings, find};
use mercer_linalg::Cholesky;
use ndarray::{Array1, Array2, Axis};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn points(rows: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, 3), || rng.gen_range(-2.0..2.0))
}

fn sample(rows: usize) -> Sample {
    let x = points(rows, 1);
    let y: Array1<f64> = x.rows().into_iter().map(|x| x[0].sin() + x[1] * x[2]).collect();
    Sample::regression(x, y).unwrap()
}

/// The same under noise.
fn noisy(rows: usize) -> Sample {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let clean = sample(rows);
    let values = clean.values().unwrap().mapv(|y| y + rng.gen_range(-1.0..1.0));
    Sample::regression(clean.inputs().to_owned(), values).unwrap()
}

fn settings() -> Settings {
    Settings::new().with("std", 0.7).with("lambda", 1e-4)
}

fn fit(method: &str, settings: &Settings, sample: &Sample, threads: usize) -> Fitted {
    let learner = find(BASELINES, method).unwrap().learner(settings, sample.task()).unwrap();
    learner.fit(sample, &mut Fitting { threads, ..Fitting::seeded(1) }).unwrap()
}

fn falkon(sample: &Sample, centres: usize) -> Fitted {
    fit("falkon", &settings().with("centres", centres), sample, 1)
}

/// The same by conjugate gradients.
fn iterated(sample: &Sample, centres: usize) -> Fitted {
    let settings = settings().with("centres", centres).with("direct_centres", 0);
    fit("falkon", &settings.with("tolerance", 1e-10), sample, 1)
}

#[test]
fn fit_with_all_rows_as_centres_is_kernel_ridge() {
    let (sample, test) = (sample(90), points(20, 2));
    let (direct, iterated) = (falkon(&sample, 500), iterated(&sample, 500));
    assert_eq!(direct.convergence, Convergence::Exact);
    assert!(matches!(iterated.convergence, Convergence::Converged { .. }));
    let theirs = fit("kernel-ridge", &settings(), &sample, 1);
    let [direct, iterated, theirs] =
        [direct, iterated, theirs].map(|fitted| fitted.predictor.decision(test.view()));
    assert_abs_diff_eq!(direct, theirs, epsilon = 1e-9);
    assert_abs_diff_eq!(iterated, theirs, epsilon = 1e-7);
}

#[test]
fn fit_with_rows_twice_among_its_centres_is_kernel_ridge() {
    // More than a tile of the kernel matrix, whose lower half is left out between tiles.
    let twice: Vec<usize> = (0..300).chain(0..100).collect();
    let (sample, test) = (sample(300).select(&twice).unwrap(), points(20, 2));
    let direct = falkon(&sample, 500);
    assert!(direct.facts["centre-jitter"] > 0.0);
    let theirs = fit("kernel-ridge", &settings(), &sample, 1).predictor.decision(test.view());
    assert_abs_diff_eq!(direct.predictor.decision(test.view()), theirs, epsilon = 1e-6);
}

/// The system solved as it stands.
#[test]
fn fit_solves_the_normal_equations_of_its_centres() {
    let (n, m) = (400, 25);
    let sample = sample(n);
    let fitted = falkon(&sample, m);
    assert_eq!(fitted.facts["centres-used"] as usize, m);
    let centres = fitted.predictor.state().part("sections").unwrap().clone();
    let points = centres.array::<f64, ndarray::Ix2>("points").unwrap();
    let centre = centres.array::<f64, ndarray::Ix1>("centre").unwrap();
    let (x, kernel) = (&sample.inputs() - &centre, Kernel::Gaussian { std: 0.7 });
    let cross = kernel.cross_gram(x.view(), points.view());
    let y = match sample.targets() {
        mercer_learning::Targets::Real(values) => values - values.mean().unwrap(),
        mercer_learning::Targets::Classes { .. } => unreachable!(),
    };
    let matrix = cross.t().dot(&cross) + 1e-4 * n as f64 * kernel.gram(points.view());
    let right = cross.t().dot(&y).insert_axis(Axis(1));
    let expected = Cholesky::factor(matrix).unwrap().solve(&right).unwrap();
    let scale = expected.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
    let found = fitted.predictor.state().array::<f64, ndarray::Ix2>("coefficients").unwrap();
    assert_abs_diff_eq!(found, expected, epsilon = 1e-7 * scale);
    // By conjugate gradients the centres come in another order.
    let [direct, iterated] =
        [fitted, iterated(&sample, m)].map(|own| own.predictor.decision(sample.inputs()));
    assert_abs_diff_eq!(direct, iterated, epsilon = 1e-7);
}

#[test]
fn a_row_of_weight_two_is_two_rows() {
    let (sample, test) = (sample(60), points(20, 2));
    let rows: Vec<usize> = (0..60).chain(0..30).collect();
    let twice = falkon(&sample.select(&rows).unwrap(), 90);
    let weights: Vec<f64> = (0..60).map(|row| if row < 30 { 2.0 } else { 1.0 }).collect();
    let weighed = falkon(&sample.clone().weighted(&weights).unwrap(), 60);
    let [twice, weighed] = [twice, weighed].map(|fitted| fitted.predictor.decision(test.view()));
    assert_abs_diff_eq!(twice, weighed, epsilon = 1e-5);
}

/// Copies would foretell each other: the ridge is chosen as of rows that are there once.
#[test]
fn copies_of_rows_do_not_choose_no_ridge() {
    let once = noisy(60);
    let rows: Vec<usize> = (0..60).chain(0..60).collect();
    let twice = once.select(&rows).unwrap();
    let [one, two] = [once, twice].map(|sample| {
        let chosen = Settings::new().with("std", 0.7).with("lambda", None::<f64>);
        let centres = sample.rows();
        fit("falkon", &chosen.with("centres", centres), &sample, 1).facts["lambda"]
    });
    assert!((0.1..=10.0).contains(&(one / two)) && one > 1e-8, "{one} {two}");
}

#[test]
fn fit_is_the_same_on_any_number_of_threads() {
    let sample = sample(3000);
    for direct in [0, 100] {
        let settings = settings().with("centres", 40).with("direct_centres", direct);
        let [one, three] = [1, 3].map(|threads| {
            let fitted = fit("falkon", &settings, &sample, threads);
            (fitted.facts, fitted.predictor.decision(points(9, 2).view()))
        });
        assert_eq!(one, three);
    }
}

/// Of many rows some stand for all: as many iterations as digits, whatever the ridge.
#[test]
fn fit_needs_few_iterations_and_few_centres() {
    let sample = sample(30_000);
    for lambda in [1e-3, 1e-6, 1e-10] {
        let settings = settings().with("lambda", lambda).with("centres", 100);
        let direct = fit("falkon", &settings, &sample, 1);
        let iterated = settings.with("direct_centres", 0).with("tolerance", 1e-8);
        let iterated = fit("falkon", &iterated, &sample, 1);
        let Convergence::Converged { iterations } = iterated.convergence else {
            panic!("{lambda}")
        };
        assert!(iterations <= 8, "{lambda}: {iterations}");
        let test = points(300, 5);
        let truth: Array1<f64> =
            test.rows().into_iter().map(|x| x[0].sin() + x[1] * x[2]).collect();
        let [direct, iterated] = [direct, iterated].map(|own| own.predictor.decision(test.view()));
        assert_abs_diff_eq!(direct, iterated, epsilon = 1e-5);
        let error = (&direct.column(0) - &truth).mapv(|e| e * e).mean().unwrap().sqrt();
        assert!(error < 0.3, "{lambda}: {error}");
    }
}

#[test]
fn a_kernel_matrix_is_refused_by_name() {
    let settings = Settings::new().with("kernel", "precomputed");
    let task = mercer_learning::Task::Regression;
    let refused = find(BASELINES, "falkon").unwrap().learner(&settings, task).err().unwrap();
    assert!(refused.to_string().contains("`kernel-ridge` takes a kernel matrix"), "{refused}");
}

/// `mean (y − f)²/(1 − tr H/n)²` of `f = H y`, with `H` formed as it stands.
#[test]
fn the_ridge_has_the_least_error_of_generalised_cross_validation() {
    let sample = noisy(300);
    let chosen = Settings::new().with("std", 0.7).with("lambda", None::<f64>).with("centres", 40);
    let fitted = fit("falkon", &chosen, &sample, 1);
    let state = fitted.predictor.state().part("sections").unwrap().clone();
    let points = state.array::<f64, ndarray::Ix2>("points").unwrap();
    let centre = state.array::<f64, ndarray::Ix1>("centre").unwrap();
    let (x, kernel) = (&sample.inputs() - &centre, Kernel::Gaussian { std: 0.7 });
    let (cross, gram) = (kernel.cross_gram(x.view(), points.view()), kernel.gram(points.view()));
    let values = sample.values().unwrap();
    let y = (&values - values.mean().unwrap()).insert_axis(Axis(1));
    let error = |lambda: f64| {
        let matrix = cross.t().dot(&cross) + lambda * 300.0 * &gram;
        let hat =
            cross.dot(&Cholesky::factor(matrix).unwrap().solve(&cross.t().to_owned()).unwrap());
        let residual = (&y - &hat.dot(&y)).mapv(|e| e * e).mean().unwrap();
        residual / (1.0 - hat.diag().sum() / 300.0).powi(2)
    };
    let lambda = fitted.facts["lambda"];
    let found = fitted.facts["generalised-cross-validation"];
    assert!((found / error(lambda) - 1.0).abs() < 1e-6, "{found} {}", error(lambda));
    for factor in [0.1, 10f64.sqrt().recip(), 10f64.sqrt(), 10.0] {
        assert!(error(lambda * factor) > found, "{lambda} {factor}");
    }
    assert_eq!(fitted.facts["grid-end"].to_bits(), 0);
    // The same ridge, given, is the same fit.
    let given = fit("falkon", &chosen.with("lambda", lambda), &sample, 1);
    let [own, other] = [fitted, given].map(|fitted| fitted.predictor.decision(x.view()));
    assert_abs_diff_eq!(own, other, epsilon = 1e-9);
}

/// Where the system is not formed for the fit, one of some rows tells the ridge.
#[test]
fn a_ridge_is_chosen_for_conjugate_gradients_too() {
    let sample = noisy(1500);
    let settings = Settings::new().with("std", 0.7).with("lambda", None::<f64>).with("centres", 60);
    let direct = fit("falkon", &settings, &sample, 1).facts["lambda"];
    let iterated = fit("falkon", &settings.with("direct_centres", 0), &sample, 1).facts["lambda"];
    assert!((0.03..30.0).contains(&(iterated / direct)), "{direct} {iterated}");
}
