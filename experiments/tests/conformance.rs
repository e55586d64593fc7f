//! Every registered method keeps the laws of `mercer_learning::conformance`, spends the tuner's
//! budget, and gives the numbers that stand in `golden/methods.toml`.
//!
//! When a method's numbers change on purpose, raise its `revision` (records of the old numbers
//! then no longer count) and run `MERCER_BLESS=1 cargo nextest run --release -p mercer-experiments
//! golden_numbers`, which rewrites the file; it refuses while the revision is the old one.

use mercer_datasets::{Dataset, Library, Parts as Ranges};
use mercer_harness::{Parts, Protocol, Tuner, prepare, tune};
use mercer_learning::conformance::{Conformance, distinct_names};
use mercer_learning::{Fitting, Method, Predictions, Sample, Settings, Streams, Task, Unlimited};
use mercer_methods::registry;
use ndarray::s;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn every_method_conforms() {
    let methods = registry();
    distinct_names(&methods).unwrap();
    for method in &methods {
        let laws = Conformance::of(method);
        // Convolutions on two pixels take a smaller network; ascents take fewer steps.
        let small = Settings::new().with("features", 16).with("epochs", 30).with("rate", 0.005);
        let laws = match method.name {
            "cen-cnn" => laws.with(small.with("lambda", 0.1).with("weight", 0.1)),
            "softmax-cnn" => laws.with(small),
            "dank" => laws.with(Settings::new().with("steps", 20)),
            "mikl" => laws.with(Settings::new().with("steps", 3)),
            "mce-erm" | "gmce" => laws.with(Settings::new().with("epochs", 100)),
            _ => laws,
        };
        if let Err(violation) = laws.check() {
            panic!("{violation}");
        }
    }
}

/// Iris in three classes, or the width of its petals from the other three columns; standardised
/// and split as a study would.
fn iris(task: Task) -> Parts {
    let iris = Library::of_folders([]).unwrap().load("iris").unwrap();
    let sample = match task {
        Task::Classification { .. } => iris.sample,
        Task::Regression => {
            let inputs = iris.sample.inputs();
            let values = inputs.column(3).to_owned();
            Sample::regression(inputs.slice(s![.., ..3]).to_owned(), values).unwrap()
        }
    };
    let parts = Ranges::undivided(sample.rows());
    let dataset = Dataset { sample, parts, ..iris };
    let text = "scale = { to = \"standard\", from = \"training\" }";
    let protocol: Protocol = toml::from_str(text).unwrap();
    prepare(&dataset, &protocol, &Streams::root(20_200_207)).unwrap()
}

const TASKS: [Task; 2] = [Task::Classification { classes: 3 }, Task::Regression];

/// Small enough to be quick, large enough to learn.
fn small(method: &Method, parts: &Parts) -> Settings {
    let settings = (method.defaults)(&parts.train.shape());
    let small = Settings::new().with("features", 64);
    if settings.get("features").is_some() { settings.overridden_by(&small) } else { settings }
}

/// First rung: as many candidates for every method that has anything to tune.
#[test]
fn every_method_has_the_same_budget() {
    let tuner = Tuner { candidates: 9, ..Tuner::default() };
    for method in registry() {
        for task in TASKS.into_iter().filter(|&task| method.tasks.include(task)) {
            let parts = iris(task);
            let defaults = small(&method, &parts);
            let cheap =
                ["features"].into_iter().filter_map(|name| Some((name, defaults.get(name)?)));
            let mut fixed = cheap.fold(Settings::new(), |all, (name, v)| all.with(name, v.clone()));
            if method.resource == Some("epochs") {
                fixed = fixed.with("epochs", 3);
            }
            let (anchor, streams) = (Settings::new(), Streams::root(1));
            let tuning =
                tune(&method, &parts.train, &fixed, &anchor, &tuner, &streams, &Unlimited).unwrap();
            let efforts: Vec<f64> = tuning.history.iter().map(|step| step.effort).collect();
            let rung = |effort: f64| {
                efforts.iter().filter(|found| (**found - effort).abs() < 1e-12).count()
            };
            let name = method.name;
            let tunable = !(method.space)(&parts.train.shape()).axes.is_empty();
            match (tunable, method.resource) {
                (false, _) => assert_eq!(efforts.len(), 1, "{name} has nothing to tune"),
                (true, None) => assert_eq!(efforts, [1.0; 9], "{name} has one rung"),
                (true, Some(_)) => {
                    assert_eq!((rung(1.0 / 9.0), efforts.len()), (9, 13), "{name}: {efforts:?}");
                    assert_eq!((rung(1.0 / 3.0), rung(1.0)), (3, 1), "{name}");
                }
            }
        }
    }
}

/// What a method says of the test rows of iris.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Golden {
    /// The method's revision when these numbers were taken.
    revision: u32,
    /// Classes of the 30 test rows, a digit each; empty if it does no classification.
    #[serde(default)]
    classes: String,
    /// Scores of the first two test rows.
    #[serde(default)]
    scores: Vec<f64>,
    /// Predicted petal widths of the first six test rows, in cm; empty if it does no regression.
    #[serde(default)]
    values: Vec<f64>,
}

/// The numbers that a method gives now.
fn taken(method: &Method) -> Golden {
    let mut golden = Golden {
        revision: method.revision,
        classes: String::new(),
        scores: Vec::new(),
        values: Vec::new(),
    };
    for task in TASKS.into_iter().filter(|&task| method.tasks.include(task)) {
        let parts = iris(task);
        let learner = method.learner(&small(method, &parts), task).unwrap();
        let mut fitting = Fitting::seeded(11);
        let predictor = learner.fit(&parts.train, &mut fitting).unwrap().predictor;
        match predictor.predict(parts.test.inputs()).unwrap() {
            Predictions::Classes(labels) => {
                golden.classes = labels.iter().map(u32::to_string).collect();
                let scores = predictor.decision(parts.test.inputs().slice(s![..2, ..]));
                golden.scores = scores.iter().map(|&score| rounded(score)).collect();
            }
            Predictions::Real(values) => {
                golden.values = values[..6].iter().map(|&value| rounded(value)).collect();
            }
        }
    }
    golden
}

impl Golden {
    /// Equal to what another processor may change: vector units sum in another order, in single
    /// precision, and training carries that on.
    fn agrees(&self, other: &Self) -> bool {
        let near = |ours: &[f64], theirs: &[f64]| {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|(a, b)| (a - b).abs() <= TOLERANCE * (1.0 + b.abs()))
        };
        self.classes == other.classes
            && near(&self.scores, &other.scores)
            && near(&self.values, &other.values)
    }
}

/// Of scores and values of order 1. Between the scalar and the widest vector loops of one machine
/// they differ by less than a tenth of it.
const TOLERANCE: f64 = 1e-3;

/// Six significant digits: what is written is what can be expected.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap()
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/methods.toml")
}

const HEAD: &str = "\
# What each method says of the test rows of iris (tests/conformance.rs): it changes only together
# with the method's revision. After raising that, MERCER_BLESS=1 rewrites this file. Records hold
# predictions: where these stay and scores alone change, remove the entry in place of raising it.

";

#[test]
fn golden_numbers_change_only_with_the_revision() {
    let text = std::fs::read_to_string(path()).unwrap_or_default();
    let golden: BTreeMap<String, Golden> = toml::from_str(&text).unwrap();
    let found: BTreeMap<String, Golden> =
        registry().iter().map(|method| (method.name.to_owned(), taken(method))).collect();
    let mut faults = Vec::new();
    let mut stale = Vec::new();
    for (name, ours) in &found {
        match golden.get(name) {
            None => stale.push(format!("`{name}` is new")),
            Some(known) if known.revision != ours.revision => {
                stale.push(format!("`{name}` is at revision {}", ours.revision));
            }
            Some(known) if !ours.agrees(known) => faults.push(format!(
                "`{name}` gives other numbers at the same revision {}: raise it, then set \
                 MERCER_BLESS=1\n  now {ours:?}\n  was {known:?}",
                ours.revision
            )),
            Some(_) => {}
        }
    }
    let gone = golden.keys().filter(|name| !found.contains_key(*name));
    stale.extend(gone.map(|name| format!("`{name}` is gone")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    if stale.is_empty() {
        return;
    }
    assert!(
        std::env::var_os("MERCER_BLESS").is_some_and(|value| value == "1"),
        "{}: set MERCER_BLESS=1 to rewrite golden/methods.toml, and commit it",
        stale.join(", ")
    );
    // Entries that agree stay as they are, to the last digit.
    let kept = |(name, ours): (&String, &Golden)| {
        let known = golden.get(name).filter(|known| known.revision == ours.revision);
        (name.clone(), known.unwrap_or(ours).clone())
    };
    let blessed: BTreeMap<String, Golden> = found.iter().map(kept).collect();
    let text = toml::to_string(&blessed).unwrap();
    std::fs::write(path(), format!("{HEAD}{text}")).unwrap();
}
