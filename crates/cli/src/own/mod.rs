//! `mercer fit`, `predict`, `evaluate`, `compare`, `tune` and `info`: the user's own file.

pub(crate) mod args;
mod compare;
mod evaluate;
mod fit;
mod info;
mod predict;
mod tune;

pub(crate) use compare::run as compare;
pub(crate) use evaluate::run as evaluate;
pub(crate) use fit::run as fit;
pub(crate) use info::run as info;
pub(crate) use predict::run as predict;
pub(crate) use tune::run as tune;

use anyhow::Context;
use args::{
    CategoriesName, ColumnArgs, FitChoices, FormatName, HeaderName, ImputeName, SplitArgs, TaskName,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mercer_datasets::{Categories, Header, Impute, Kind, RowFile, RowFormat, SchemaOptions};
use mercer_harness::{Stop, TrialLimits, free_memory};
use mercer_learning::Settings;
use mercer_workbench::{Budget, Choices, Output, Splitting, WorkbenchError};
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Short names of methods that have several forms.
const SHORT: [(&str, &str); 1] = [("rf", "rf-ridge")];

/// The registered name behind a short one.
pub(crate) fn full_name(name: &str) -> String {
    SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, full)| full).to_owned()
}

/// The short names of a method.
pub(crate) fn aliases(name: &str) -> Vec<&'static str> {
    SHORT.iter().filter(|(_, full)| *full == name).map(|(short, _)| *short).collect()
}

pub(crate) fn open(data: &Path, format: Option<FormatName>) -> anyhow::Result<RowFile> {
    let format = format.map(|format| match format {
        FormatName::Csv => RowFormat::Text(b','),
        FormatName::Semicolon => RowFormat::Text(b';'),
        FormatName::Tsv => RowFormat::Text(b'\t'),
        FormatName::Svmlight => RowFormat::Svmlight,
        FormatName::Parquet => RowFormat::Parquet,
    });
    Ok(RowFile::open(data, format).map_err(WorkbenchError::from)?)
}

pub(super) fn schema_options(args: &ColumnArgs) -> SchemaOptions {
    SchemaOptions {
        target: args.target.clone(),
        kind: match args.task {
            TaskName::Auto => None,
            TaskName::Classification => Some(Kind::Classification),
            TaskName::Regression => Some(Kind::Regression),
        },
        header: match args.header {
            HeaderName::Auto => Header::Detect,
            HeaderName::Yes => Header::Yes,
            HeaderName::No => Header::No,
        },
        drop: args.drop.clone(),
        categorical: args.categorical.clone(),
        categories: match args.categories {
            CategoriesName::OneHot => Categories::OneHot,
            CategoriesName::Ordinal => Categories::Ordinal,
        },
        ..SchemaOptions::default()
    }
}

/// Ctrl-C stops a fit at its next step; what the machine has no memory for is not begun.
pub(super) fn limits() -> anyhow::Result<TrialLimits> {
    let stop = Stop::default();
    let asked = stop.clone();
    ctrlc::set_handler(move || asked.ask()).context("cannot install the handler of Ctrl-C")?;
    Ok(TrialLimits::start(None, free_memory(), stop))
}

/// The value with `1e2` written as 100: where a whole number is due, no other form is read, and a real
/// number is the same.
fn whole(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(whole).collect(),
        Value::Number(number) if number.is_f64() => {
            let exact =
                number.as_f64().filter(|real| real.fract() == 0.0 && real.abs() < 2f64.powi(53));
            // Without -0, which is no whole number.
            exact
                .filter(|real| real.is_sign_positive() || *real < 0.0)
                .map_or(Value::Number(number), |real| Value::from(real as i64))
        }
        value => value,
    }
}

pub(super) fn choices<'a>(
    args: &FitChoices,
    limits: &'a TrialLimits,
) -> anyhow::Result<Choices<'a>> {
    let mut settings = Settings::new();
    for given in &args.settings {
        let (name, value) = given.split_once('=').ok_or_else(|| WorkbenchError::Argument {
            name: "set",
            value: format!("`{given}`"),
            must: "NAME=VALUE, such as features=500".to_owned(),
        })?;
        // What is no JSON is a word.
        let value = serde_json::from_str(value).map_or_else(|_| Value::from(value), whole);
        // Of one of several methods that are compared.
        let owned =
            name.split_once('.').map(|(method, own)| format!("{}.{own}", full_name(method)));
        settings = settings.with(owned.as_deref().unwrap_or(name), value);
    }
    let budget = args.budget.as_deref().map(str::parse::<Budget>).transpose()?;
    Ok(Choices {
        settings,
        scaling: args.scale.parse().map_err(WorkbenchError::Data)?,
        impute: args.impute.map(|impute| match impute {
            ImputeName::Mean => Impute::Mean,
            ImputeName::Median => Impute::Median,
        }),
        tune: budget.or_else(|| args.tune.then(Budget::default)),
        seed: args.seed,
        threads: threads(args.threads),
        limits,
    })
}

/// As many as were asked for, and as the machine has cores at most: more only cost time and memory.
pub(super) fn threads(asked: Option<u16>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (count, said) = capped(asked.map(usize::from), cores, "--threads");
    if let Some(said) = said {
        tracing::warn!("{said}");
    }
    count
}

/// A number of workers, and what is said where it was too large.
pub(crate) fn capped(asked: Option<usize>, cores: usize, flag: &str) -> (usize, Option<String>) {
    match asked {
        Some(asked) if asked > cores => {
            let machine = if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") };
            (
                cores,
                Some(format!("{flag} {asked}: this machine has {machine}, and so many are used")),
            )
        }
        asked => (asked.unwrap_or(cores), None),
    }
}

pub(super) fn splitting(args: &SplitArgs) -> Splitting {
    match args.holdout {
        Some(test) => Splitting::HoldOut { test, repeats: args.repeats.unwrap_or(1) },
        None => {
            Splitting::Folds { folds: args.folds.unwrap_or(5), repeats: args.repeats.unwrap_or(2) }
        }
    }
}

/// A file that will be written, claimed before any work is done for it; standard input is no file.
pub(super) fn claim(path: &Path, force: bool, inputs: &[&Path]) -> anyhow::Result<Output> {
    Ok(Output::claim(path, force, inputs)?)
}

/// A bar on standard error, where that is a terminal.
pub(super) fn bar(quiet: bool) -> ProgressBar {
    let shown = !quiet && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(None, target);
    // The template is constant; a fault in it would show in the first test.
    if let Ok(style) = ProgressStyle::with_template(
        "{bar:30} {pos}/{len}  {elapsed} gone, about {eta} left  {msg}",
    ) {
        bar.set_style(style);
    }
    bar
}

/// One JSON value on standard output.
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value)?;
    writeln!(stdout)?;
    Ok(())
}

/// A number as a person reads it.
pub(super) fn plain(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}

/// A text as a field of CSV: in quotes where it holds a comma, say.
pub(super) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::whole;
    use serde_json::{Value, json};

    /// A setting that is a whole number reads no `1e2`; one that is real reads 100 as well.
    #[test]
    fn whole_numbers_may_be_written_as_real_ones() {
        for (given, read) in [
            ("1e2", json!(100)),
            ("100.0", json!(100)),
            ("-3.0", json!(-3)),
            ("[1e2,0.5]", json!([100, 0.5])),
            ("0.5", json!(0.5)),
            ("1e300", json!(1e300)),
            ("7", json!(7)),
            ("true", json!(true)),
        ] {
            assert_eq!(whole(serde_json::from_str::<Value>(given).unwrap()), read, "{given}");
        }
        let zero = whole(json!(-0.0));
        assert!(zero.as_f64().unwrap().is_sign_negative());
    }
}
