//! Methods that read their training rows in passes: one window gives what memory gives, several
//! windows learn as well, and a ridge of sums is the ridge of the rows.

use mercer_learning::{
    Fitting, LearningError, Predictions, RowChunks, Sample, Settings, Shape, accuracy, find,
};
use mercer_models::{askl, rftk};
use ndarray::Array2;

/// Consecutive parts of a sample, again and again.
struct Parts<'a> {
    sample: &'a Sample,
    size: usize,
    next: usize,
    /// Chunks handed out.
    given: usize,
}

impl<'a> Parts<'a> {
    fn of(sample: &'a Sample, size: usize) -> Self {
        Self { sample, size, next: 0, given: 0 }
    }
}

impl RowChunks for Parts<'_> {
    fn shape(&self) -> Shape {
        self.sample.shape()
    }
    fn size(&self) -> usize {
        self.size
    }
    fn next(&mut self) -> Result<Sample, LearningError> {
        let end = (self.next + self.size).min(self.sample.rows());
        let rows: Vec<usize> = (self.next..end).collect();
        self.next = if end == self.sample.rows() { 0 } else { end };
        self.given += 1;
        self.sample.select(&rows)
    }
}

/// Inside or outside a circle, in an order without classes.
fn circle(rows: usize) -> Sample {
    let x =
        Array2::from_shape_fn((rows, 2), |(i, j)| 1.4 * ((i * (7 + 4 * j)) as f64 * 0.37).sin());
    let labels = x.rows().into_iter().map(|row| u32::from(row.dot(&row) > 1.0)).collect();
    Sample::classification(x, labels, 2).unwrap()
}

fn line(rows: usize) -> Sample {
    let x = circle(rows).inputs().to_owned();
    let y = x.rows().into_iter().map(|row| (2.0 * row[0]).sin() + row[1]).collect();
    Sample::regression(x, y).unwrap()
}

const TRAINED: [&str; 7] = ["sk", "nsk", "skl", "nskl", "askl", "rf-sgd", "rftk"];

fn settings(name: &str, sample: &Sample) -> Settings {
    let methods = [askl::METHODS, rftk::METHODS].concat();
    let method = find(&methods, name).unwrap();
    let defaults = (method.defaults)(&sample.shape());
    let small = [("features", 60.0), ("std", 1.0), ("epochs", 12.0)];
    let known = small.into_iter().filter(|(name, _)| defaults.get(name).is_some());
    known.fold(defaults.clone(), |all, (name, value)| match name {
        "features" => all.with(name, value as usize),
        _ => all.with(name, value),
    })
}

fn scores(
    name: &str,
    sample: &Sample,
    windows: Option<usize>,
    threads: usize,
) -> Result<Array2<f64>, LearningError> {
    let methods = [askl::METHODS, rftk::METHODS].concat();
    let learner = find(&methods, name)?.learner(&settings(name, sample), sample.task())?;
    let mut fitting = Fitting { threads, ..Fitting::seeded(3) };
    let fitted = match windows {
        None => learner.fit(sample, &mut fitting)?,
        Some(size) => learner.fit_chunks(&mut Parts::of(sample, size), &mut fitting)?,
    };
    Ok(fitted.predictor.decision(sample.inputs()))
}

#[test]
fn one_window_gives_what_memory_gives() {
    for name in TRAINED.into_iter().chain(["rf-ridge", "rf-ridgeless", "kernel-ridgeless"]) {
        for threads in [1, 2] {
            let sample = circle(130);
            let whole = scores(name, &sample, None, threads).unwrap();
            for size in [130, 1000] {
                let parts = scores(name, &sample, Some(size), threads).unwrap();
                assert!(
                    whole.iter().zip(&parts).all(|(a, b)| a.to_bits() == b.to_bits()),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn several_windows_are_learned_from_alike() {
    let sample = circle(1000);
    let truth = sample.labels().unwrap();
    for name in TRAINED {
        let right = |windows| {
            let scores = scores(name, &sample, windows, 2).unwrap();
            let labels: Vec<u32> = scores.rows().into_iter().map(mercer_learning::argmax).collect();
            accuracy(&labels, truth)
        };
        let (whole, parts) = (right(None), right(Some(96)));
        assert!(whole > 0.9 && parts > whole - 0.03, "{name}: {whole} whole, {parts} in parts");
        // The same windows and seed give the same model.
        let again = scores(name, &sample, Some(96), 2).unwrap();
        assert_eq!(again, scores(name, &sample, Some(96), 2).unwrap(), "{name}");
    }
}

/// A first run's ridge, which is chosen by the rows.
fn chosen(sample: &Sample, windows: Option<usize>) -> Array2<f64> {
    let method = find(rftk::METHODS, "rf-ridge").unwrap();
    let settings =
        settings("rf-ridge", sample).overridden_by(&(method.user_defaults)(&sample.shape()));
    let learner = method.learner(&settings, sample.task()).unwrap();
    let mut fitting = Fitting::seeded(3);
    let fitted = match windows {
        None => learner.fit(sample, &mut fitting).unwrap(),
        Some(size) => learner.fit_chunks(&mut Parts::of(sample, size), &mut fitting).unwrap(),
    };
    assert!(fitted.facts.contains_key("leave-one-out"));
    fitted.predictor.decision(sample.inputs())
}

/// The rows that choose are the same, wherever the windows end: of no more than a thousand all, else some.
#[test]
fn a_ridge_that_is_not_given_is_that_of_memory() {
    for sample in [circle(500), line(2600), circle(40)] {
        let whole = chosen(&sample, None);
        for size in [sample.rows() / 2, sample.rows() / 7] {
            let parts = chosen(&sample, Some(size));
            let gap =
                whole.iter().zip(&parts).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
            assert!(gap < 1e-6, "{} rows in windows of {size}: {gap}", sample.rows());
        }
    }
}

/// Sums over windows are the sums over all rows but for rounding, of fewer rows than features too.
#[test]
fn a_ridge_of_sums_is_the_ridge_of_the_rows() {
    for sample in [circle(500), line(500), circle(60), line(40)] {
        let whole = scores("rf-ridge", &sample, None, 1).unwrap();
        for size in [sample.rows() - 1, sample.rows() / 4, sample.rows() / 8] {
            let parts = scores("rf-ridge", &sample, Some(size), 1).unwrap();
            let gap =
                whole.iter().zip(&parts).fold(0.0, |worst: f64, (a, b)| worst.max((a - b).abs()));
            assert!(gap < 1e-7, "{size}: {gap}");
            // Of no more rows than features they are held.
            assert!(sample.rows() > 60 || parts == whole, "{size}");
        }
    }
}

#[test]
fn what_needs_all_rows_at_once_says_so() {
    let sample = circle(200);
    for name in ["kernel-ridgeless", "rf-ridgeless"] {
        let error = scores(name, &sample, Some(50), 1).unwrap_err();
        assert_eq!(error, LearningError::NotInPasses { rows: 200, held: 50 }, "{name}");
    }
}

/// Every pass takes every window once, and the last batch of a window may be short.
#[test]
fn a_pass_is_every_window_once() {
    let sample = circle(100);
    let methods = [askl::METHODS, rftk::METHODS].concat();
    let learner = find(&methods, "rf-sgd")
        .unwrap()
        .learner(&settings("rf-sgd", &sample), sample.task())
        .unwrap();
    let mut parts = Parts::of(&sample, 40);
    let fitted = learner.fit_chunks(&mut parts, &mut Fitting::seeded(1)).unwrap();
    assert_eq!(parts.given, 12 * 3);
    assert_eq!(
        fitted.convergence,
        mercer_learning::Convergence::FixedSteps { steps: 12 * (2 + 2 + 1) }
    );
    assert!(matches!(fitted.predictor.predict(sample.inputs()), Ok(Predictions::Classes(_))));
}
