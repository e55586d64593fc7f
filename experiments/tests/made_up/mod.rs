//! Records in which every trial of every study has one: made up, for tests of what is shown.

use mercer_datasets::Catalogue;
use mercer_experiments::catalogue;
use mercer_harness::{Selection, SplitRule, Trial, plan};
use mercer_learning::{Method, Task};
use mercer_records::{CurvePoint, Record, Run, Status, TrialResult};
use mercer_report::{RecordSet, RenderContext};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// Repeats of every trial.
pub const REPEATS: u32 = 2;

/// The record of a trial with made-up numbers: no two trials have the same.
pub fn record(trial: &Trial) -> Record {
    let digest = trial.key.digest();
    let number = u64::from_str_radix(&digest[..8], 16).unwrap() as f64 / f64::from(u32::MAX);
    let task = Catalogue::builtin().find(&trial.key.dataset).unwrap().task;
    let metrics = match task {
        Task::Classification { .. } => vec![("accuracy", number), ("balanced-accuracy", number)],
        Task::Regression => vec![("rmse", 10.0 * number), ("mae", 7.0 * number)],
    };
    let mut metrics: BTreeMap<String, f64> =
        metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let rows: [u64; 2] = [80, 20];
    let official = matches!(trial.protocol.split, Some(SplitRule::Official { .. }));
    let wrong = ((1.0 - number) * 20.0) as u32;
    let curve = trial.look_every.map_or(Vec::new(), |every| {
        let point = |look: u64| {
            let mut values = metrics.clone();
            values.extend(NUMBERS.map(|name| (name.to_owned(), (1.0 + number) / look as f64)));
            values.insert("train-accuracy".to_owned(), 0.5 + 0.5 * number);
            if trial.look_at_losses {
                let losses = ["hinge", "train-hinge", "cross-entropy", "train-cross-entropy"];
                values.extend(losses.map(|name| (name.to_owned(), number * name.len() as f64)));
            }
            CurvePoint { step: look * every as u64, epoch: look as f64, values }
        };
        (1..=3).map(point).collect()
    });
    let is_path = catalogue().curves().iter().any(|path| path.method.name == trial.key.method);
    let curve = if is_path { path_curve(&trial.key.method, number) } else { curve };
    if is_path {
        // All that the harness keeps of a path is its curve.
        metrics.clear();
    }
    let mut facts: BTreeMap<String, f64> =
        NUMBERS.map(|name| (name.to_owned(), 1.0 + number)).into();
    // A finding looks at the repeats of large and of small ridges apart.
    let ridge = if trial.key.repeat.is_multiple_of(2) { 0.1 } else { 1e-5 };
    facts.extend(
        [("chosen-lambda", ridge), ("search-right", 90.0 + number)]
            .map(|(name, value)| (name.to_owned(), value)),
    );
    let result = TrialResult {
        status: Status::Done,
        error: None,
        metrics,
        facts,
        convergence: json!({ "status": "exact" }),
        settings: BTreeMap::new(),
        tuning: None,
        curve,
        predicted: None,
        wrong: official.then(|| (0..wrong).collect()),
        rows,
    };
    let processor_seconds = [("fit".to_owned(), 1.0 + number)].into();
    Record::new(trial.key.clone(), result, Run { processor_seconds, ..Run::default() })
}

/// A trial that is a whole curve over sizes, size 0 being the limit.
fn path_curve(method: &str, number: f64) -> Vec<CurvePoint> {
    if method == "sgd-factors" {
        return (0..=100).map(|passes| factors(passes, number)).collect();
    }
    if method == "known-kernel" {
        return (0..8).map(|step| known_kernel(step, number)).collect();
    }
    if method == "exact-or-nystrom" {
        return vec![exact_or_nystrom(number)];
    }
    if method == "spectrum-audit" {
        return vec![spectrum_audit(number)];
    }
    if method == "synthetic-width" {
        return (0..6).map(|step| synthetic_width(step, number)).collect();
    }
    if method == "third-factor" {
        return [28, 105].map(|size| third_factor(size, number)).into();
    }
    if method == "pixel-lengths" {
        return (0..784).map(|place| pixel(place, number)).collect();
    }
    let point = |step: u64| {
        let values = [
            "error 0",
            "error 1e-2",
            "predicted error",
            "over accuracy",
            "under accuracy",
            "over loss",
            "over complexity",
            "under complexity",
            "over train-accuracy",
            "under train-accuracy",
            "accuracy",
            "length",
            "pairs",
            "error v=1",
            "error v=8",
            "operations v=1",
            "hyper-krr 1/9",
            "reciprocal 1/9",
            "nearest 1/9",
            "without 1/9",
            "departure 1/9",
            "svm 1/9",
            "error 0e0",
            "error 1e-7",
            "error 1e-4",
            "full error 1e-2",
            "variance 0e0",
            "entry log10 c",
            "total log10 c",
            "total median",
            "entry rmse",
            "total rmse",
            "rmse of zero",
        ];
        let values = values.map(|name| (name.to_owned(), number / (1.0 + step as f64)));
        CurvePoint { step, epoch: 0.0, values: values.into() }
    };
    [0, 10, 100, 1000, 10_000].map(point).into()
}

/// A pixel of an image of 28 by 28; the outermost are blank.
fn pixel(place: u64, number: f64) -> CurvePoint {
    let inside = |at: u64| (1..27).contains(&at);
    let deviation = if inside(place % 28) && inside(place / 28) { number } else { 0.0 };
    let values = [("length", 1.0 + number + place as f64), ("deviation", deviation)];
    CurvePoint { step: place, epoch: 0.0, values: values.map(|(n, v)| (n.to_owned(), v)).into() }
}

/// Two targets in four ways.
fn known_kernel(step: u64, number: f64) -> CurvePoint {
    let names = ["rmse", "relative rmse", "unlabelled", "test", "negative mass"];
    let values = names.map(|name| (name.to_owned(), number / (1.0 + step as f64)));
    CurvePoint { step, epoch: 0.0, values: values.into() }
}

/// Two targets, each solved in seven ways.
fn exact_or_nystrom(number: f64) -> CurvePoint {
    let mut values =
        BTreeMap::from([("points".to_owned(), 552.0), ("test points".to_owned(), 138.0)]);
    let ways = ["exact", "exact-half", "exact-quarter"].map(str::to_owned).into_iter();
    let ways = ways.chain([5, 10, 20, 28].map(|landmarks| format!("nystrom-{landmarks}")));
    for (place, way) in ways.enumerate() {
        for target in ["ideal", "gaussian"] {
            for what in ["rmse", "relative rmse", "accuracy", "negative mass", "iterations"] {
                let value = number / (1.0 + place as f64);
                values.insert(format!("{what} {way} {target}"), value);
            }
        }
    }
    CurvePoint { step: 552, epoch: 0.0, values }
}

/// Three kernels, with their negative eigenvalues dealt with in four ways.
fn spectrum_audit(number: f64) -> CurvePoint {
    let mut values =
        BTreeMap::from([("points".to_owned(), 276.0), ("test points".to_owned(), 400.0)]);
    for (place, kernel) in ["ideal", "log", "log itself"].into_iter().enumerate() {
        let value = number / (1.0 + place as f64);
        values.insert(format!("smallest {kernel}"), -value);
        for what in ["negative mass", "centred negative mass", "constant", "target constant"] {
            values.insert(format!("{what} {kernel}"), value);
        }
        for option in ["as-is", "clip", "flip", "shift"] {
            values.insert(format!("accuracy {option} {kernel}"), 100.0 * value);
        }
    }
    CurvePoint { step: 276, epoch: 0.0, values }
}

/// A basis of so many functions.
fn synthetic_width(step: u64, number: f64) -> CurvePoint {
    let values = ["variance", "mse", "held-out", "rank"];
    let values = values.map(|name| (name.to_owned(), number * (1.0 + step as f64))).into();
    CurvePoint { step, epoch: step as f64, values }
}

fn third_factor(size: u64, number: f64) -> CurvePoint {
    let mut values = BTreeMap::new();
    for (place, name) in ["random features", "nystrom", "linear time"].into_iter().enumerate() {
        values.insert(format!("error {name}"), number / (size as f64 + place as f64));
        values.insert(format!("operations {name}"), size as f64);
    }
    CurvePoint { step: size, epoch: 0.0, values }
}

/// After so many passes over the rows, the values of each batch size.
fn factors(passes: u64, number: f64) -> CurvePoint {
    let values = [1, 10, 100, 1000, 10_000].into_iter().flat_map(|batch| {
        ["rate", "distance", "parameters", "mse"].map(|value| {
            (
                format!("{value} b={batch}"),
                (1.0 + number) * f64::from(batch) / (1.0 + passes as f64),
            )
        })
    });
    CurvePoint { step: passes, epoch: passes as f64, values: values.collect() }
}

/// Numbers that the papers' learners report, at a look and at the end.
const NUMBERS: [&str; 22] = [
    "alpha",
    "norm",
    "mean-loss",
    "frequency-steps",
    "penalised-steps",
    "objective",
    "loss",
    "trace-norm",
    "negative-mass",
    "largest-eigenvalue",
    "feature-norm-squared",
    "mean-kernel-diagonal",
    "effective-rank",
    "iterations",
    "residual",
    "complexity",
    "lambda-over-scale-squared",
    "scale",
    "search-right",
    "search-points",
    "chosen-lambda",
    "chosen-pair-cost",
];

/// Those repeats and no more.
pub fn selection() -> Selection {
    Selection { repeats: Some(REPEATS), ..Selection::default() }
}

/// Two repeats of every trial of every study under the profile `paper`.
pub fn full(methods: &[Method]) -> RecordSet {
    let mut records = RecordSet::new();
    let selection = selection();
    for name in catalogue().studies() {
        let trials =
            plan(&catalogue().study(&name).unwrap(), methods, "paper", &selection, &|_| None)
                .unwrap();
        records.add(trials.iter().map(record));
    }
    records
}

/// That, and the committed record of every simulation; measurements of time are no tests' business.
pub fn with_simulations(methods: &[Method]) -> RecordSet {
    let (mut records, mut committed) = (full(methods), RecordSet::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reports/records");
    committed.add_archive(&folder);
    for simulation in catalogue().simulations().iter().filter(|computed| !computed.measures) {
        let record = committed.get(&simulation.key());
        records.add([record
            .unwrap_or_else(|| panic!("{} is not on record", simulation.name))
            .clone()]);
    }
    records
}

/// A context with these records.
pub fn context<'a>(
    records: &'a RecordSet,
    methods: &'a [Method],
    selection: &'a Selection,
    missing: &'a BTreeMap<String, String>,
) -> RenderContext<'a> {
    RenderContext::new(catalogue(), records, methods, "paper", selection, missing)
}
