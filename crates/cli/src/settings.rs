//! `mercer list methods NAME`: all that is to be known of a method before it is used.

use crate::columns::{print_aligned, print_entries, print_words};
use crate::own::full_name;
use mercer_learning::{Fitting, Method, Sample, Setting, Settings, Shape, Task, Tasks, find};
use mercer_methods::all;
use ndarray::{Array1, Array2};
use serde_json::{Value, json};
use std::io::Write;

/// Data of this shape has the defaults that are shown.
const SHAPE: Shape = Shape { rows: 1000, features: 10, task: Task::Classification { classes: 2 } };

/// One setting of a method as it is printed.
pub(crate) struct Shown {
    pub name: &'static str,
    pub default: String,
    pub allowed: String,
    pub tuned: String,
    pub meaning: String,
}

/// The settings of a method: what its type declares, its own defaults on data of a shape, and what its
/// tuner tries.
pub(crate) fn settings(method: &Method) -> Vec<Shown> {
    let task = if method.tasks == Tasks::Regression { Task::Regression } else { SHAPE.task };
    let shape = Shape { task, ..SHAPE };
    let defaults = method.begun(&shape);
    let space = (method.space)(&shape).given(&defaults);
    let one = |setting: &Setting| {
        let axis = space.axes.iter().find(|axis| axis.name == setting.name);
        Shown {
            name: setting.name,
            default: match defaults.get(setting.name).unwrap_or(&setting.default) {
                // As it is written after `--set NAME=`.
                Value::Null => "null".to_owned(),
                Value::String(word) => word.clone(),
                Value::Number(number) if number.is_f64() => short(number.as_f64()),
                value => value.to_string(),
            },
            allowed: setting.allowed(),
            tuned: axis.map_or_else(|| "-".to_owned(), |axis| axis.range.to_string()),
            meaning: match method.only(setting) {
                Some(only) => format!("{} {only}", setting.meaning),
                None => setting.meaning.clone(),
            },
        }
    };
    (method.settings)().iter().filter(|setting| method.offers(setting)).map(one).collect()
}

fn short(value: Option<f64>) -> String {
    let value = value.unwrap_or_default();
    let text = value.to_string();
    match text.len() {
        0..=8 => text,
        _ if value.abs() < 1e-3 => format!("{value:e}"),
        _ => format!("{value:.3}"),
    }
}

/// Settings with those that make a fit long, of those that the method has, at their least.
pub(crate) fn small(defaults: &Settings, settings: Settings) -> Settings {
    [("features", 8), ("epochs", 1), ("iterations", 2)]
        .into_iter()
        .filter(|(name, _)| defaults.get(name).is_some())
        .fold(settings, |all, (name, value)| all.with(name, value))
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
    let entropy = (method.settings)().iter().any(|setting| setting.name == "loss");
    let entropy = entropy.then(|| Settings::new().with("loss", "cross-entropy"));
    [Some(Settings::new()), entropy].into_iter().flatten().find(|extra| {
        let settings = small(&defaults, defaults.clone()).overridden_by(extra);
        let learner = method.learner(&settings, sample.task());
        let fitted = learner.and_then(|learner| learner.fit(&sample, &mut Fitting::seeded(1)));
        fitted.is_ok_and(|fitted| fitted.predictor.probabilities(sample.inputs()).is_some())
    })
}

/// Prints one method.
pub(crate) fn print(name: &str, as_json: bool) -> anyhow::Result<()> {
    let methods = all();
    let method =
        find(&methods, &full_name(name)).map_err(mercer_workbench::WorkbenchError::from)?;
    let aliases = crate::own::aliases(method.name);
    let settings = settings(method);
    let shares = match probabilities(method) {
        Some(extra) if extra.is_empty() => "yes".to_owned(),
        Some(extra) => format!("with --set {}", assigned(&extra)),
        None => "no".to_owned(),
    };
    let weighs = if method.weighs_rows() { "yes" } else { "no" };
    let heads = &["setting", "default", "allowed", "tuned over", "meaning"];
    let rows: Vec<Vec<Value>> = settings
        .iter()
        .map(|s| {
            vec![
                json!(s.name),
                json!(s.default),
                json!(s.allowed),
                json!(s.tuned),
                json!(s.meaning),
            ]
        })
        .collect();
    if as_json {
        let listed: Vec<Value> = rows
            .iter()
            .map(|row| heads.iter().copied().zip(row.iter().cloned()).collect())
            .collect();
        let object = json!({
            "method": method.name, "aliases": aliases, "tasks": method.tasks.name(),
            "fit": method.cost.fit, "predict": method.cost.predict, "memory": method.cost.memory,
            "source": method.cites, "summary": method.summary, "formula": method.formula,
            "when": method.when, "proba": shares, "weights": weighs,
            "settings": listed,
        });
        writeln!(std::io::stdout(), "{object:#}")?;
        return Ok(());
    }
    print_about(method, &aliases.join(", "), &shares, weighs)?;
    writeln!(std::io::stdout())?;
    if rows.is_empty() {
        return print_words("no settings");
    }
    print_words(&format!(
        "Settings (--set NAME=VALUE), with their defaults on {} rows of {} columns in 2 classes:",
        SHAPE.rows, SHAPE.features
    ))?;
    writeln!(std::io::stdout())?;
    print_aligned(heads, &rows)
}

/// Prints what is to be known of a method besides its settings.
fn print_about(method: &Method, aliases: &str, shares: &str, weighs: &str) -> anyhow::Result<()> {
    let about = [
        ("method", method.name),
        ("alias", aliases),
        ("summary", method.summary),
        ("formula", method.formula),
        ("for", method.when),
        ("tasks", method.tasks.name()),
        ("--proba", shares),
        ("--weights", weighs),
        ("fit", method.cost.fit),
        ("predict a row", method.cost.predict),
        ("memory", method.cost.memory),
        ("source", method.cites),
    ];
    let about = about.into_iter().filter(|(_, text)| !text.is_empty());
    let about = about.map(|(head, text)| (head.to_owned(), vec![text.to_owned()]));
    print_entries(&about.collect::<Vec<_>>())
}

/// `loss=cross-entropy`, as `--set` takes it.
fn assigned(settings: &Settings) -> String {
    let words = settings.iter().map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name}={text}"),
        None => format!("{name}={value}"),
    });
    words.collect::<Vec<_>>().join(" --set ")
}

/// What gives class probabilities, for whoever asked a model that does not: its own method fitted in
/// another way, if there is one, and the methods that do.
pub(crate) fn with_probabilities(asked: &str) -> String {
    let methods = all();
    let asked = methods.iter().find(|method| method.name == asked);
    let after = asked.and_then(probabilities).filter(|extra| !extra.is_empty());
    if let Some(extra) = after {
        return format!("fit it again with --set {}, and it does", assigned(&extra));
    }
    let able = methods.iter().filter_map(|method| {
        let extra = probabilities(method)?;
        Some(if extra.is_empty() {
            method.name.to_owned()
        } else {
            format!("{} ({})", method.name, assigned(&extra))
        })
    });
    format!(
        "fit it again with --calibrate, and it has them; without that these do: {}",
        able.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// That what is declared is what a method reads and uses is for the conformance tests.
    #[test]
    fn every_setting_of_every_method_is_printed_with_all_that_is_declared() {
        let methods = all();
        let counts = methods.iter().map(|method| settings(method).len());
        assert!(counts.sum::<usize>() > 150);
        let of = |method: &str, name: &str| {
            let all = settings(find(&methods, method).unwrap());
            all.into_iter().find(|setting| setting.name == name).unwrap()
        };
        // A default of the type, of the method, and of the method for the shape.
        assert_eq!(of("gaussian-svm", "epsilon").default, "0.1");
        assert_eq!(of("gaussian-svm", "multiclass").default, "one-versus-one");
        assert_eq!(of("askl", "lambda1").default, "0.0001");
        assert_eq!(of("kernel-ridge", "std").default, "0.316");
        assert_eq!(of("rftk", "trace_share").default, "null");
        assert_eq!(of("gmce", "epsilon").default, "1e-15");
        let lambda = of("kernel-ridge", "lambda");
        // Chosen by the fit, in a first run on a table of one's own.
        assert_eq!(lambda.default, "null");
        assert_eq!(lambda.allowed, "a number, at least 0 and finite, or null");
        assert_eq!(lambda.tuned, "1e-10 to 0.1, logarithmic");
        assert!(lambda.meaning.starts_with("λ ≥ 0 in K + λ n I. If null, it is chosen"));
        // Where a rate depends on the optimiser, that of the one in use.
        assert_eq!(of("rf-sgd", "rate").tuned, "0.01 to 3.16, logarithmic");
        for method in &methods {
            for setting in settings(method) {
                let allowed = &setting.allowed;
                assert!(!allowed.starts_with("JSON,") && allowed != "JSON", "{}", setting.name);
            }
        }
    }

    #[test]
    fn what_is_said_of_probabilities_is_so() {
        let methods = all();
        let of = |name: &str| probabilities(find(&methods, name).unwrap());
        assert_eq!(of("majority"), Some(Settings::new()));
        assert_eq!(of("askl"), Some(Settings::new().with("loss", "cross-entropy")));
        assert_eq!(of("kernel-ridge"), None);
        assert!(with_probabilities("kernel-ridge").contains("gaussian-process"));
        assert!(with_probabilities("askl").contains("--set loss=cross-entropy"));
    }
}
