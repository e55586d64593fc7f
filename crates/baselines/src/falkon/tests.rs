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

fn settings() -> Settings {
    Settings::new().with("std", 0.7).with("lambda", 1e-4)
}

fn fit(method: &str, settings: &Settings, sample: &Sample, threads: usize) -> Fitted {
    let learner = find(BASELINES, method).unwrap().learner(settings, sample.task()).unwrap();
    learner.fit(sample, &mut Fitting { threads, ..Fitting::seeded(1) }).unwrap()
}

fn falkon(sample: &Sample, centres: usize) -> Fitted {
    fit("falkon", &settings().with("centres", centres).with("tolerance", 1e-10), sample, 1)
}

#[test]
fn fit_with_all_rows_as_centres_is_kernel_ridge() {
    let (sample, test) = (sample(90), points(20, 2));
    let ours = falkon(&sample, 500);
    assert!(matches!(ours.convergence, Convergence::Converged { .. }));
    let theirs = fit("kernel-ridge", &settings(), &sample, 1);
    let [ours, theirs] = [ours, theirs].map(|fitted| fitted.predictor.decision(test.view()));
    assert_abs_diff_eq!(ours, theirs, epsilon = 1e-7);
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
    let found = fitted.predictor.state().array::<f64, ndarray::Ix2>("coefficients").unwrap();
    let scale = expected.iter().fold(0.0, |most: f64, own| most.max(own.abs()));
    assert_abs_diff_eq!(found, expected, epsilon = 1e-7 * scale);
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

#[test]
fn fit_is_the_same_on_any_number_of_threads() {
    let sample = sample(3000);
    let settings = settings().with("centres", 40);
    let [one, three] = [1, 3].map(|threads| {
        let fitted = fit("falkon", &settings, &sample, threads);
        (fitted.facts["iterations"], fitted.predictor.decision(points(9, 2).view()))
    });
    assert_eq!(one, three);
}

/// Of 2000 rows 200 centres lose little, and the preconditioner keeps iterations few.
#[test]
fn fit_needs_few_iterations_and_few_centres() {
    let sample = sample(2000);
    for (lambda, most) in [(1e-3, 12), (1e-6, 50)] {
        let settings = settings().with("lambda", lambda).with("centres", 200);
        let fitted = fit("falkon", &settings, &sample, 1);
        let Convergence::Converged { iterations } = fitted.convergence else { panic!("{lambda}") };
        assert!(iterations <= most, "{lambda}: {iterations}");
        let test = points(300, 5);
        let truth: Array1<f64> =
            test.rows().into_iter().map(|x| x[0].sin() + x[1] * x[2]).collect();
        let said = fitted.predictor.decision(test.view());
        let error = (&said.column(0) - &truth).mapv(|e| e * e).mean().unwrap().sqrt();
        assert!(error < 0.2, "{lambda}: {error}");
    }
}

#[test]
fn a_kernel_matrix_is_refused_by_name() {
    let settings = Settings::new().with("kernel", "precomputed");
    let task = mercer_learning::Task::Regression;
    let refused = find(BASELINES, "falkon").unwrap().learner(&settings, task).err().unwrap();
    assert!(refused.to_string().contains("`kernel-ridge` takes a kernel matrix"), "{refused}");
}

#[test]
fn the_ridge_is_chosen_where_none_is_given() {
    let sample = sample(1500);
    let settings =
        Settings::new().with("std", 0.7).with("lambda", None::<f64>).with("centres", 100);
    let fitted = fit("falkon", &settings, &sample, 1);
    assert!(
        fitted.facts["lambda"] > 0.0 && fitted.facts["leave-one-out"] < 0.1,
        "{:?}",
        fitted.facts
    );
    let inputs = sample.inputs().select(Axis(0), &[0, 1]);
    assert_eq!(fitted.predictor.decision(inputs.view()).dim(), (2, 1));
}
