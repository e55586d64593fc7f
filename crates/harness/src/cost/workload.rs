//! What a key says of the size of its trial.

use super::expression::evaluate;
use crate::SplitRule;
use crate::prepare::CALIBRATE;
use mercer_datasets::Catalogue;
use mercer_learning::{Method, Settings, Shape, find};
use mercer_records::Key;
use serde_json::Value;

/// A fit, or the search for its settings: the two parts of a trial that are predicted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// Preparing, fitting, predicting, calibrating.
    Fit,
    /// Tuning.
    Tuning,
}

/// What a prediction may use of a trial: everything in its key, nothing of its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    pub part: Part,
    pub method: String,
    /// Everything in the key but the repeat.
    pub cell: String,
    /// Declared operations, of all fits of a tuning.
    pub operations: f64,
    /// Declared bytes.
    pub bytes: f64,
}

impl Workload {
    /// Names under which its ratios are kept: its part of its method, its method, all.
    pub(crate) fn names(&self) -> [String; 3] {
        [format!("{:?} {}", self.part, self.method), self.method.clone(), String::new()]
    }

    /// `None` where the dataset or the method is unknown: a simulation.
    pub(crate) fn of(key: &Key, methods: &[Method]) -> Option<Self> {
        let entry = Catalogue::builtin().find(&key.dataset).ok()?;
        let method = find(methods, &key.method).ok()?;
        let shape = Shape { rows: entry.rows, features: entry.features, task: entry.task };
        let part = match key.tuning.get("part").and_then(Value::as_str) {
            Some("tuning") => Part::Tuning,
            _ => Part::Fit,
        };
        let rule = key.protocol.get("split").cloned();
        let rule = rule.and_then(|rule| serde_json::from_value(rule).ok());
        let (mut train, test) = match rule {
            Some(SplitRule::Official { train }) => {
                (train.unwrap_or(entry.parts.train).min(entry.parts.train), entry.parts.test)
            }
            Some(SplitRule::Random { train }) => {
                let count = (entry.parts.train as f64 * train).round() as usize;
                (count, entry.parts.train - count.min(entry.parts.train))
            }
            _ => (entry.rows * 4 / 5, entry.rows / 5),
        };
        let whole = |value: Option<&Value>| value.and_then(Value::as_u64).map(|n| n as usize);
        if let Some(rows) = whole(key.protocol.get("rows")) {
            train = train.min(rows);
        }
        let tuner = key.tuning.get("tuner");
        if let (Part::Tuning, Some(rows)) = (part, whole(tuner.and_then(|t| t.get("rows")))) {
            train = train.min(rows);
        }
        let defaults = (method.defaults)(&shape);
        let known = |name: &str| key.settings.get(name).or_else(|| defaults.get(name));
        let setting = |name: &str| number(name, &known);
        let width = ["features", "landmarks", "centres"].into_iter().find_map(setting);
        let (n, d) = (train.max(1) as f64, entry.features.max(1) as f64);
        let size = |name: &str| match name {
            "n" => Some(n),
            "n_test" => Some(test.max(1) as f64),
            "d" => Some(d),
            "K" => Some(entry.classes.max(1) as f64),
            "D" | "M" | "m" => setting(name).or(width),
            "b" => Some(setting("batch").map_or(n, |batch| batch.min(n))),
            _ => setting(name),
        };
        let fits = match part {
            Part::Tuning => candidates(tuner),
            // Three more, each to two thirds of the rows.
            Part::Fit if key.protocol.contains_key(CALIBRATE) => 3.0,
            Part::Fit => 1.0,
        };
        let operations = evaluate(method.cost.fit, &size).unwrap_or(n * d) * fits;
        let bytes = evaluate(method.cost.memory, &size).unwrap_or(n * d) * 8.0;
        Some(Self {
            part,
            method: key.method.clone(),
            cell: cell(key),
            operations: operations.max(1.0),
            bytes: bytes.max(1.0),
        })
    }
}

/// Everything in a key but repeat, seed, revision, data version and limits. Written straight: a copy of the key and a tree
/// of values took a quarter of a plan's time.
fn cell(key: &Key) -> String {
    let Key { artefact, variant, dataset, method, settings, tuning, protocol, .. } = key;
    let kept = (artefact, variant, dataset, method, settings, tuning, protocol);
    serde_json::to_string(&kept).unwrap_or_default()
}

/// The value of a setting that is a number; of `map.fourier` 1 where the setting `map` is the word
/// `fourier`, else 0.
fn number<'a>(name: &str, setting: &dyn Fn(&str) -> Option<&'a Value>) -> Option<f64> {
    let Some((name, word)) = name.split_once('.') else {
        return setting(name).and_then(Value::as_f64);
    };
    setting(name).and_then(Value::as_str).map(|chosen| f64::from(u8::from(chosen == word)))
}

/// The declared memory of a fit, in bytes, for data of that shape.
pub(crate) fn declared(cost: &str, shape: &Shape, settings: &Settings) -> Option<f64> {
    let setting = |name: &str| number(name, &|name| settings.get(name));
    let width = ["features", "landmarks", "centres"].into_iter().find_map(setting);
    let n = shape.rows as f64;
    let size = |name: &str| match name {
        "n" | "n_test" => Some(setting("cap").map_or(n, |cap| cap.min(n))),
        "d" => Some(shape.features as f64),
        "K" => Some(shape.task.outputs() as f64),
        "D" | "M" | "m" => setting(name).or(width),
        "b" => Some(setting("batch").map_or(n, |batch| batch.min(n))),
        _ => setting(name),
    };
    evaluate(cost, &size)
}

/// Checks the declared costs, of a fit and of its memory, for data of that shape: `Err` has the first that cannot
/// be evaluated.
pub(crate) fn check_cost_expressions(method: &Method, shape: &Shape) -> Result<(), &'static str> {
    let defaults = (method.defaults)(shape);
    let width = ["features", "landmarks", "centres"];
    let setting = |name: &str| number(name, &|name| defaults.get(name));
    let size = |name: &str| match name {
        "n" | "n_test" | "d" | "K" | "b" => Some(2.0),
        "D" | "M" | "m" => setting(name).or_else(|| width.into_iter().find_map(setting)),
        _ => setting(name),
    };
    let unknown = |cost: &&str| evaluate(cost, &size).is_none();
    [method.cost.fit, method.cost.memory].into_iter().find(unknown).map_or(Ok(()), Err)
}

/// Full fits that a tuner's budget amounts to, without the final one.
fn candidates(tuner: Option<&Value>) -> f64 {
    let tuner: Option<crate::Tuner> =
        tuner.cloned().and_then(|tuner| serde_json::from_value(tuner).ok());
    tuner.map_or(1.0, |tuner| (tuner.cost() - 1.0).max(1.0))
}
