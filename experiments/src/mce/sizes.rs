//! One method's learning curve on one draw of training images: test accuracy at growing numbers of
//! rows, each the first so many of the same order, so that curves of different methods are paired.

use mercer_harness::{Parts, Path};
use mercer_learning::{
    Cost, Fitting, LearningError, Method, Predictions, Settings, Shape, Tasks, accuracy, find,
};
use mercer_methods::registry;
use mercer_records::CurvePoint;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The embedding tuned by its bound.
pub(crate) const WITH_BOUND: Path = path(
    "sizes-with-bound",
    "MCE with the bound",
    "learning curve of `gmce`",
    "1.1 epochs (largest^3/3 + largest^2 d)",
    |parts, settings, fitting| curve("gmce", parts, settings, fitting),
);

/// The embedding tuned by its empirical risk.
pub(crate) const WITHOUT_BOUND: Path = path(
    "sizes-without-bound",
    "MCE without it",
    "learning curve of `mce-erm`",
    "1.1 epochs (largest^3/3 + largest^2 d)",
    |parts, settings, fitting| curve("mce-erm", parts, settings, fitting),
);

/// Support vector machines. Revision 1 had the cost of the method's defaults, 10.
pub(crate) const SVC: Path = revised(
    2,
    path(
        "sizes-svc",
        "SVC",
        "learning curve of `gaussian-svm`, one class against the others, C = 1",
        "1.2 K largest^2 d",
        |parts, settings, fitting| curve("gaussian-svm", parts, settings, fitting),
    ),
);

/// Support vector machines whose width and cost are searched on the images of each size.
pub(crate) const SVC_CV: Path = path(
    "sizes-svc-cv",
    "SVC, tuned",
    "learning curve of `svm-cv`, width and cost by 5-fold cross-validation at each size",
    "1.2 (11 largest^2 d + 605 K largest^2)",
    |parts, settings, fitting| curve("svm-cv", parts, settings, fitting),
);

/// Gaussian processes.
pub(crate) const GPC: Path = path(
    "sizes-gpc",
    "GPC",
    "learning curve of `gaussian-process`, isotropic",
    "1.1 K 30 (7 largest^3)",
    |parts, settings, fitting| curve("gaussian-process", parts, settings, fitting),
);

/// What a point has beside its accuracy, of a learner that knows it.
const FACTS: [&str; 10] = [
    "complexity",
    "loss",
    "lambda",
    "log-evidence",
    "rows-used",
    "jitter",
    "jitter-steps",
    "width",
    "cost",
    "validation-accuracy",
];

type Run = fn(&Parts, &Settings, &mut Fitting<'_>) -> Result<Vec<CurvePoint>, LearningError>;

const fn path(
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    cost: &'static str,
    run: Run,
) -> Path {
    Path {
        method: Method {
            name,
            title,
            summary,
            cites: "Hsu, Nock & Ramos (2018)",
            revision: 1,
            tasks: Tasks::Classification,
            cost: Cost { fit: cost, predict: "-", memory: "4 largest^2" },
            defaults: &defaults,
            ..Path::METHOD
        },
        run,
    }
}

/// The same path at a higher revision of its numbers.
const fn revised(revision: u32, mut path: Path) -> Path {
    path.method.revision = revision;
    path
}

/// Settings of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Params {
    /// Numbers of training rows.
    sizes: Vec<usize>,
    /// Sizes beyond this are left out.
    largest: usize,
    /// Gradient steps of the embeddings.
    epochs: usize,
    /// Start of every length scale of the embeddings.
    length: f64,
    /// Whether they start at `√d` instead, where those of the others do.
    wide: bool,
}

impl Default for Params {
    fn default() -> Self {
        let sizes = vec![50, 100, 200, 500, 1000, 2000, 5000];
        Self { sizes, largest: 5000, epochs: 500, length: 1.0, wide: false }
    }
}

fn defaults(_: &Shape) -> Settings {
    Settings::of(&Params::default())
}

/// Fits the registered method at each size.
fn curve(
    name: &'static str,
    parts: &Parts,
    settings: &Settings,
    fitting: &mut Fitting<'_>,
) -> Result<Vec<CurvePoint>, LearningError> {
    let params: Params = settings.parse("a learning curve")?;
    let methods = registry();
    let method = find(&methods, name)?;
    let mut order: Vec<usize> = (0..parts.train.rows()).collect();
    order.shuffle(&mut fitting.streams.rng("sizes"));
    let truth = parts.test.labels().unwrap_or_default();
    let mut points = Vec::new();
    let affordable = |size: &&usize| **size <= params.largest && **size <= order.len();
    for &size in params.sizes.iter().filter(affordable) {
        let train = parts.train.select(&order[..size])?;
        // The method's defaults make the difference between two that share a type of settings.
        let settings = (method.defaults)(&train.shape());
        let settings = settings.overridden_by(&of_method(name, &params, &train.shape()));
        let learner = method.learner(&settings, train.task())?;
        let mut own = Fitting {
            streams: fitting.streams.child(&format!("size {size}")),
            threads: fitting.threads,
            limits: fitting.limits,
            ..Fitting::seeded(0)
        };
        let fitted = learner.fit(&train, &mut own)?;
        let Predictions::Classes(classes) = fitted.predictor.predict(parts.test.inputs())? else {
            continue;
        };
        let mut values = BTreeMap::from([("accuracy".to_owned(), accuracy(truth, &classes))]);
        for fact in FACTS {
            if let Some(value) = fitted.facts.get(fact) {
                values.insert(fact.to_owned(), *value);
            }
        }
        let epoch = size as f64 / parts.train.rows() as f64;
        points.push(CurvePoint { step: size as u64, epoch, values });
    }
    Ok(points)
}

/// Every hyperparameter of the embeddings starts at 1, as in the paper, or their lengths at `√d`; the
/// others' at the widths of their defaults, since from 1 the evidence has no slope between images.
fn of_method(name: &str, params: &Params, shape: &Shape) -> Settings {
    let width = (shape.features as f64).sqrt();
    match name {
        "gaussian-svm" => Settings::new()
            .with("std", 1.0 / width)
            .with("cost", 1.0)
            .with("multiclass", "one-versus-rest")
            .with("cap", params.largest),
        "svm-cv" => Settings::new().with("cap", params.largest.max(2)),
        "gaussian-process" => {
            Settings::new().with("length", width).with("cap", params.largest.max(2))
        }
        _ => Settings::new()
            .with("epochs", params.epochs)
            .with("length", if params.wide { width } else { params.length })
            .with("form", "sum"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Sample;
    use ndarray::Array2;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn blobs(rows: usize, seed: u64) -> Sample {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let labels: Vec<u32> = (0..rows as u32).map(|i| i % 3).collect();
        let inputs = Array2::from_shape_fn((rows, 2), |(i, j)| {
            f64::from(u8::from(labels[i] as usize == j)) + rng.gen_range(-0.3..0.3)
        });
        Sample::classification(inputs, labels, 3).unwrap()
    }

    #[test]
    fn a_curve_has_the_sizes_that_fit_and_rises() {
        let parts = Parts { train: blobs(120, 1), test: blobs(300, 2) };
        let settings = Settings::new().with("sizes", vec![12, 40, 90, 150]).with("largest", 100);
        for path in [SVC, SVC_CV, GPC] {
            let run = || (path.run)(&parts, &settings, &mut Fitting::seeded(4)).unwrap();
            let points = run();
            let sizes: Vec<u64> = points.iter().map(|point| point.step).collect();
            assert_eq!(sizes, [12, 40, 90], "{}", path.method.name);
            assert!(points[2].values["accuracy"] > 0.95, "{points:?}");
            assert_eq!(points, run());
        }
    }

    /// What the caption of the figure says of each method is what its learner is set to.
    #[test]
    fn the_methods_are_set_as_the_figure_says() {
        let shape = blobs(20, 1).shape();
        let methods = registry();
        let set = |name: &str| {
            let settings = of_method(name, &Params::default(), &shape);
            (find(&methods, name).unwrap().defaults)(&shape).overridden_by(&settings)
        };
        let number = |settings: &Settings, name: &str| settings.get(name).unwrap().as_f64();
        let svc = set("gaussian-svm");
        assert_eq!(number(&svc, "cost"), Some(1.0));
        assert_eq!(number(&svc, "std"), Some(1.0 / 2f64.sqrt()));
        assert_eq!(svc.get("multiclass").unwrap(), "one-versus-rest");
        assert_eq!(number(&set("gaussian-process"), "length"), Some(2f64.sqrt()));
        for name in ["gmce", "mce-erm"] {
            let embedding = set(name);
            for start in ["length", "scale", "lambda"] {
                assert_eq!(number(&embedding, start), Some(1.0), "{name} {start}");
            }
            assert_eq!(embedding.get("form").unwrap(), "sum");
            let wide = Params { wide: true, ..Params::default() };
            assert_eq!(number(&of_method(name, &wide, &shape), "length"), Some(2f64.sqrt()));
        }
    }

    #[test]
    fn the_bound_makes_a_difference() {
        let parts = Parts { train: blobs(60, 1), test: blobs(90, 2) };
        let settings = Settings::new().with("sizes", vec![60]).with("epochs", 60);
        let complexity = |path: Path| {
            let points = (path.run)(&parts, &settings, &mut Fitting::seeded(4)).unwrap();
            assert!(points[0].values["jitter-steps"] == 0.0, "{points:?}");
            points[0].values["complexity"]
        };
        let (with, without) = (complexity(WITH_BOUND), complexity(WITHOUT_BOUND));
        assert!(with < 0.9 * without, "{with} and {without}");
    }
}
