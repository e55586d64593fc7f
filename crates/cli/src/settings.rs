//! `mercer list methods NAME`: all that is to be known of a method before it is used.

use crate::list::print_aligned;
use crate::own::full_name;
use mercer_experiments::registry;
use mercer_learning::{Fitting, Method, Sample, Settings, Shape, Task, Tasks, find};
use ndarray::{Array1, Array2};
use serde_json::{Value, json};
use std::io::Write;

/// A setting, or a word of an enumeration.
struct Entry {
    name: &'static str,
    kind: &'static str,
    meaning: &'static str,
    default: &'static str,
}

/// A type of parameters.
struct Params {
    #[expect(dead_code, reason = "says in the generated file which type it is")]
    name: &'static str,
    entries: &'static [Entry],
}

/// An enumeration.
struct Words {
    name: &'static str,
    entries: &'static [Entry],
}

include!(concat!(env!("OUT_DIR"), "/settings.rs"));

/// Data of this shape has the defaults that are shown.
const SHAPE: Shape = Shape { rows: 1000, features: 10, task: Task::Classification { classes: 2 } };

/// Where the sources do not say it in a word.
const UNKNOWN: &str = "see its documentation";

/// One setting of a method.
pub(crate) struct Setting {
    pub name: String,
    pub default: String,
    pub allowed: String,
    pub meaning: String,
}

/// The settings of a method: those that its parser knows, with what the sources say of them.
pub(crate) fn settings(method: &Method) -> Vec<Setting> {
    let names = names(method);
    let known = PARAMS.iter().find(|params| {
        params.entries.len() == names.len()
            && params.entries.iter().all(|entry| names.iter().any(|name| name == entry.name))
    });
    let task = if method.tasks == Tasks::Regression { Task::Regression } else { SHAPE.task };
    let defaults = (method.defaults)(&Shape { task, ..SHAPE });
    let one = |name: &String| {
        let entry = known.and_then(|params| params.entries.iter().find(|e| e.name == name));
        let own = defaults.get(name).filter(|value| !value.is_null());
        let default = match (own, entry) {
            (Some(Value::String(word)), _) => word.clone(),
            (Some(Value::Number(number)), _) if number.is_f64() => short(number.as_f64()),
            (Some(value), _) => value.to_string(),
            (None, Some(entry)) if !entry.default.is_empty() => entry.default.to_owned(),
            (None, _) => UNKNOWN.to_owned(),
        };
        let allowed = entry.map_or_else(String::new, |entry| allowed(entry.kind));
        let meaning = entry.map_or("", |entry| entry.meaning).replace('`', "");
        Setting { name: name.clone(), default, allowed, meaning }
    };
    names.iter().map(one).collect()
}

fn short(value: Option<f64>) -> String {
    let value = value.unwrap_or_default();
    let text = format!("{value}");
    if text.len() > 8 { format!("{value:.3}") } else { text }
}

/// The names that the method's parser accepts: it lists them when it meets another.
fn names(method: &Method) -> Vec<String> {
    let Err(error) = (method.build)(&Settings::new().with("no such setting", 0)) else {
        return Vec::new();
    };
    let text = error.to_string();
    let Some((_, expected)) = text.split_once("expected") else { return Vec::new() };
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// What a value of that type may be.
fn allowed(kind: &str) -> String {
    if let Some(inner) = kind.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        return format!("{}, or null", allowed(inner));
    }
    if let Some(inner) = kind.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>')) {
        return format!("[{}, ...]", allowed(inner));
    }
    match kind {
        "f64" => "a number".to_owned(),
        "usize" | "u32" | "u64" => "a whole number".to_owned(),
        "bool" => "true, false".to_owned(),
        name => {
            let name = name.rsplit("::").next().unwrap_or(name);
            let words = WORDS.iter().find(|words| words.name == name);
            let words = words.map_or(&[][..], |words| words.entries);
            if words.is_empty() {
                return format!("JSON of `{name}`, see its documentation");
            }
            words.iter().map(|word| word.name).collect::<Vec<_>>().join(", ")
        }
    }
}

/// With which settings the method gives class probabilities: its defaults, a cross-entropy, or none.
pub(crate) fn probabilities(method: &Method) -> Option<Settings> {
    if !method.tasks.include(SHAPE.task) {
        return None;
    }
    let inputs = Array2::from_shape_fn((16, 4), |(i, j)| ((i * 7 + j * 3) as f64 * 0.618).sin());
    let labels: Array1<u32> = inputs.column(0).mapv(|x| u32::from(x > 0.0));
    let sample = Sample::classification(inputs, labels.to_vec(), 2).ok()?;
    let defaults = (method.defaults)(&sample.shape());
    let small = |settings: Settings| {
        [("features", 8.0), ("epochs", 1.0), ("iterations", 2.0)]
            .into_iter()
            .filter(|(name, _)| defaults.get(name).is_some())
            .fold(settings, |all, (name, value)| all.with(name, value as u64))
    };
    let entropy = names(method).iter().any(|name| name == "loss");
    let entropy = entropy.then(|| Settings::new().with("loss", "cross-entropy"));
    [Some(Settings::new()), entropy].into_iter().flatten().find(|extra| {
        let settings = small(defaults.clone()).overridden_by(extra);
        let learner = method.learner(&settings, sample.task());
        let fitted = learner.and_then(|learner| learner.fit(&sample, &mut Fitting::seeded(1)));
        fitted.is_ok_and(|fitted| fitted.predictor.probabilities(sample.inputs()).is_some())
    })
}

/// Prints one method.
pub(crate) fn print(name: &str, as_json: bool) -> anyhow::Result<()> {
    let methods = registry();
    let method =
        find(&methods, &full_name(name)).map_err(mercer_workbench::WorkbenchError::from)?;
    let aliases = crate::own::aliases(method.name);
    let settings = settings(method);
    let shares = match probabilities(method) {
        Some(extra) if extra.is_empty() => "yes".to_owned(),
        Some(extra) => {
            let given = extra.iter().map(|(name, value)| {
                format!("--set {name}={}", value.as_str().unwrap_or_default())
            });
            format!("with {}", given.collect::<Vec<_>>().join(" "))
        }
        None => "no".to_owned(),
    };
    let heads = &["setting", "default", "allowed", "meaning"];
    let rows: Vec<Vec<Value>> = settings
        .iter()
        .map(|s| vec![json!(s.name), json!(s.default), json!(s.allowed), json!(s.meaning)])
        .collect();
    let mut stdout = std::io::stdout().lock();
    if as_json {
        let listed: Vec<Value> = rows
            .iter()
            .map(|row| heads.iter().copied().zip(row.iter().cloned()).collect())
            .collect();
        let object = json!({
            "method": method.name, "aliases": aliases, "tasks": method.tasks.name(),
            "fit": method.cost.fit, "predict": method.cost.predict, "memory": method.cost.memory,
            "source": method.cites, "summary": method.summary, "proba": shares, "settings": listed,
        });
        writeln!(stdout, "{object:#}")?;
        return Ok(());
    }
    for (head, text) in [
        ("method", method.name.to_owned()),
        ("alias", aliases.join(", ")),
        ("summary", method.summary.to_owned()),
        ("tasks", method.tasks.name().to_owned()),
        ("--proba", shares),
        ("fit", method.cost.fit.to_owned()),
        ("predict a row", method.cost.predict.to_owned()),
        ("memory", method.cost.memory.to_owned()),
        ("source", method.cites.to_owned()),
    ] {
        if !text.is_empty() {
            writeln!(stdout, "{head:<14} {text}")?;
        }
    }
    drop(stdout);
    if rows.is_empty() {
        return Ok(writeln!(std::io::stdout(), "\nno settings")?);
    }
    writeln!(
        std::io::stdout(),
        "\nSettings (--set NAME=VALUE), with their defaults on {} rows of {} columns in 2 classes:\n",
        SHAPE.rows,
        SHAPE.features
    )?;
    print_aligned(heads, &rows)
}

/// The methods that give class probabilities, for whoever asked one that does not.
pub(crate) fn with_probabilities() -> String {
    let methods = registry();
    let able = methods.iter().filter_map(|method| {
        let extra = probabilities(method)?;
        Some(if extra.is_empty() {
            method.name.to_owned()
        } else {
            format!("{} (loss=cross-entropy)", method.name)
        })
    });
    able.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a parser accepts, somebody has said what it means and what it is.
    #[test]
    fn every_setting_of_every_method_is_explained() {
        let mut count = 0;
        for method in registry() {
            for Setting { name, default, allowed, meaning } in settings(&method) {
                let place = format!("{}: {name}", method.name);
                assert!(meaning.len() > 8, "{place} has no meaning");
                assert!(!default.is_empty(), "{place} has no default");
                assert!(!allowed.is_empty() && !allowed.starts_with(','), "{place}: {allowed}");
                count += 1;
            }
        }
        assert!(count > 150, "{count} settings");
        // Those that a method does not list are in its type's: written, named, or computed before.
        let methods = registry();
        let machine = settings(find(&methods, "gaussian-svm").unwrap());
        let of = |name: &str| machine.iter().find(|s| s.name == name).unwrap().default.clone();
        assert_eq!(of("epsilon"), "0.1");
        assert_eq!(of("tolerance"), "1e-3");
        assert_eq!(of("multiclass"), "one-versus-one");
    }

    #[test]
    fn what_is_said_of_probabilities_is_so() {
        let methods = registry();
        let of = |name: &str| probabilities(find(&methods, name).unwrap());
        assert_eq!(of("majority"), Some(Settings::new()));
        assert_eq!(of("askl"), Some(Settings::new().with("loss", "cross-entropy")));
        assert_eq!(of("kernel-ridge"), None);
        assert!(with_probabilities().contains("gaussian-process"));
    }
}
