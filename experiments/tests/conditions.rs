//! A setting that is declared to do nothing somewhere does nothing there, and every setting does something
//! somewhere: by fitting every registered method to a handful of rows with each value of what others hang on.

use mercer_learning::{Fitting, Kind, Method, Sample, Setting, Settings, Task};
use mercer_methods::registry;
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What so few rows and steps do not show, by the beginning of the methods' names.
const UNSEEN: [(&str, &[&str], &str); 5] = [
    (
        "kernel-ridge",
        &["tolerance", "iterations", "landmarks", "stored_rows"],
        "they count beyond 12,000 rows",
    ),
    (
        "falkon",
        &["tolerance", "iterations", "direct_centres"],
        "for more centres than there are rows here, and another way to the same solution",
    ),
    ("svm-cv", &["engine"], "both engines count the same rows right"),
    ("gaussian-svm", &["draw"], "it counts beyond the cap, which no base lowers"),
    ("cen-", &["clip"], "no probability exceeds 1"),
];

/// Three noisy classes, or a noisy wave.
fn toy(task: Task) -> Sample {
    let (n, d) = (18, 3);
    let noise =
        |i: usize, j: usize| ((i * 7919 + j * 104_729) as f64 * 0.618_033_988_75).fract() - 0.5;
    match task {
        Task::Classification { classes } => {
            let inputs = Array2::from_shape_fn((n, d), |(i, j)| {
                3.0 * noise(i, j) + if i % classes == j { 1.0 } else { 0.0 }
            });
            let labels = (0..n).map(|i| (i % classes) as u32).collect();
            Sample::classification(inputs, labels, classes).unwrap()
        }
        Task::Regression => {
            let inputs = Array2::from_shape_fn((n, d), |(i, j)| 3.0 * noise(i, j));
            let value =
                |i: usize| (2.0 * inputs[[i, 0]]).sin() + inputs[[i, 1]] + 0.1 * noise(i, 9);
            let values = Array1::from_shape_fn(n, value);
            Sample::regression(inputs, values).unwrap()
        }
    }
}

/// What comes out of a fit.
#[derive(PartialEq)]
struct Found {
    scores: Vec<u64>,
    facts: String,
}

/// The fit, or whether the settings were refused, where it is not the fit that failed.
fn found(method: &Method, settings: &Settings, sample: &Sample) -> Result<Found, bool> {
    let learner = method.learner(settings, sample.task()).map_err(|_| true)?;
    let fitted = learner.fit(sample, &mut Fitting::seeded(7)).map_err(|_| false)?;
    let scores = fitted.predictor.decision(sample.inputs());
    let scores = scores.iter().map(|score| score.to_bits()).collect();
    Ok(Found { scores, facts: format!("{:?} {:?}", fitted.facts, fitted.convergence) })
}

/// Other values of a setting.
fn others(setting: &Setting, now: &Value) -> Vec<Value> {
    let values: Vec<Value> = match setting.kind.innermost() {
        Kind::Flag => vec![json!(true), json!(false)],
        Kind::Words(words) => words.iter().map(|word| json!(word)).collect(),
        Kind::Number => {
            let value = now.as_f64().unwrap_or(0.5);
            [0.5 * value, 2.0 * value, 0.3, 0.05, 1.5].iter().map(|value| json!(value)).collect()
        }
        Kind::Whole => {
            let value = now.as_u64().unwrap_or(5);
            [value + 1, value + 2, 2 * value, value / 2, 7, 4, 30]
                .iter()
                .map(|v| json!(v))
                .collect()
        }
        _ => Vec::new(),
    };
    let list = match &setting.kind {
        Kind::Optional(kind) => matches!(**kind, Kind::List(_)),
        kind => matches!(kind, Kind::List(_)),
    };
    let values = values.into_iter().map(|value| if list { json!([value]) } else { value });
    values.filter(|value| value != now).collect()
}

/// The defaults of quick fits, and around them each value of what a setting hangs on.
fn bases(method: &Method, declared: &[Setting], sample: &Sample) -> Vec<Settings> {
    let shape = sample.shape();
    let spelled = |all: Settings, s: &Setting| all.with(s.name, s.default.clone());
    let mut start =
        declared.iter().fold(Settings::new(), spelled).overridden_by(&(method.defaults)(&shape));
    for (name, value) in [("epochs", json!(4)), ("scale", json!(1.3))] {
        if start.get(name).is_some() {
            start = start.with(name, value);
        }
    }
    if start.get("batch").is_some_and(|batch| !batch.is_null()) {
        start = start.with("batch", 5);
    }
    if method.name.ends_with("cnn") {
        start = start.with("features", 8).with("epochs", 2);
    }
    let mut bases = vec![start.clone()];
    let conditions: BTreeSet<_> = declared
        .iter()
        .flat_map(|setting| setting.heeded.iter().copied().flatten())
        .map(|condition| (condition.by, condition.values))
        .collect();
    for (by, values) in conditions {
        let Some(setting) = declared.iter().find(|setting| setting.name == by) else { continue };
        let now = start.get(by).cloned().unwrap_or_default();
        let named = values.iter().map(|v| serde_json::from_str(v).unwrap_or_else(|_| json!(v)));
        let other = others(setting, &now).into_iter().take(2);
        bases.extend(named.chain(other).map(|value| start.clone().with(by, value)));
    }
    bases
}

/// The settings of a method that changed something, and what changed though it should not.
fn walked(method: &Method) -> (BTreeSet<&'static str>, Vec<String>) {
    let declared = (method.settings)();
    let (mut alive, mut wrong) = (BTreeSet::new(), Vec::new());
    for task in [Task::Classification { classes: 3 }, Task::Regression] {
        if !method.tasks.include(task) {
            continue;
        }
        let sample = toy(task);
        for base in bases(method, &declared, &sample) {
            let Ok(before) = found(method, &base, &sample) else { continue };
            for setting in &declared {
                let now = base.get(setting.name).cloned().unwrap_or_default();
                let given = |value: Value| base.clone().with(setting.name, value);
                let inactive = |settings: &Settings| {
                    let all = method.inactive(settings, &sample.shape());
                    all.iter().any(|(name, _)| *name == setting.name)
                };
                for (index, value) in others(setting, &now).into_iter().enumerate() {
                    let settings = given(value);
                    let idle = inactive(&settings);
                    if !idle && alive.contains(setting.name) || idle && index > 1 {
                        break;
                    }
                    match found(method, &settings, &sample) {
                        Ok(after) if idle && after.scores != before.scores => {
                            wrong
                                .push(format!("{} of {} in {settings}", setting.name, method.name));
                        }
                        Ok(after) if !idle && after != before => {
                            alive.insert(setting.name);
                        }
                        Err(false) if !idle => {
                            alive.insert(setting.name);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    (alive, wrong)
}

/// Minutes: each search of theirs is some hundred fits to pairs.
const SLOW: [&str; 2] = ["hyper-", "dank"];

fn of_slow(method: &Method) -> bool {
    SLOW.iter().any(|name| method.name.starts_with(name))
}

#[test]
fn every_setting_does_what_it_is_declared_to() {
    check(&registry().into_iter().filter(|method| !of_slow(method)).collect::<Vec<_>>());
}

#[test]
fn slow_every_setting_on_pairs_does_what_it_is_declared_to() {
    check(&registry().into_iter().filter(of_slow).collect::<Vec<_>>());
}

fn check(methods: &[Method]) {
    let walked: Vec<_> = methods.par_iter().map(walked).collect();
    let mut found: Vec<&str> = walked.iter().flat_map(|(_, w)| w).map(String::as_str).collect();
    let names = |method: &Method| (method.settings)().iter().map(|s| s.name).collect::<Vec<_>>();
    let mut never = BTreeSet::new();
    for method in methods {
        // Methods of one type of settings: it is enough that one of them shows it.
        let family = methods.iter().zip(&walked).filter(|(other, _)| names(other) == names(method));
        let alive: BTreeSet<&str> = family.flat_map(|(_, (alive, _))| alive).copied().collect();
        for setting in (method.settings)() {
            let tried = !others(&setting, &setting.default).is_empty();
            let unseen = UNSEEN.iter().any(|(methods, names, _)| {
                method.name.starts_with(methods) && names.contains(&setting.name)
            });
            if method.offers(&setting) && tried && !unseen && !alive.contains(setting.name) {
                never.insert(format!("{} of {} never does anything", setting.name, method.name));
            }
        }
    }
    found.extend(never.iter().map(String::as_str));
    assert!(found.is_empty(), "{}", found.join("\n"));
}
