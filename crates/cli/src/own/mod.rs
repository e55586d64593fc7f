//! `mercer fit`, `predict`, `evaluate`, `compare`, `tune` and `info`: the user's own file.

pub(crate) mod args;
mod compare;
mod coverage;
mod evaluate;
mod fit;
mod info;
mod predict;
mod progress;
mod remarks;
mod tune;

pub(crate) use compare::run as compare;
pub(crate) use evaluate::run as evaluate;
pub(crate) use fit::run as fit;
pub(crate) use info::run as info;
pub(crate) use predict::run as predict;
pub(crate) use tune::run as tune;

use anyhow::Context;
pub(crate) use args::FileArgs;
use args::{
    CategoriesName, ColumnArgs, FitChoices, FormatName, HeaderName, ImputeName, SplitArgs, TaskName,
};
use mercer_datasets::{
    Categories, Header, Impute, Kind, Row, RowFile, RowFormat, Schema, SchemaOptions, Widened,
    iso_day, shell_word,
};
use mercer_harness::{Stop, TrialLimits, free_memory, leave};
use mercer_learning::{Settings, Task, counted, find};
use mercer_methods::all;
use mercer_workbench::{
    Budget, Choices, DivideBy, Division, Header as ModelHeader, Output, RowWeights, Splitting,
    Table, WorkbenchError, scaling_of,
};
use progress::{bar, clock, watch};
use remarks::{
    LARGE, adjusted, filled, mebibytes, numbering, plain, quoted, say_if_no_better,
    say_if_untunable, say_of_parts, weighed,
};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Other names of methods: short ones, and those of other programs.
const SHORT: [(&str, &str); 15] = [
    ("rf", "rf-ridge"),
    ("svm", "gaussian-svm"),
    ("svc", "gaussian-svm"),
    ("svr", "gaussian-svm"),
    ("krr", "kernel-ridge"),
    ("gp", "gaussian-process"),
    ("gpr", "gaussian-process"),
    ("gpc", "gaussian-process"),
    ("mlp", "softmax-mlp"),
    ("ridge", "@sklearn-ridge"),
    ("knn", "@sklearn-neighbours"),
    ("random-forest", "@sklearn-forest"),
    ("gradient-boosting", "@sklearn-histgb"),
    ("logistic", "@sklearn-logistic"),
    ("logistic-regression", "@sklearn-logistic"),
];

/// The registered name behind a short one, in any capitals.
pub(crate) fn full_name(name: &str) -> String {
    SHORT
        .iter()
        .find(|(short, _)| short.eq_ignore_ascii_case(name))
        .map_or(name, |(_, full)| full)
        .to_owned()
}

/// The short names of a method.
pub(crate) fn aliases(name: &str) -> Vec<&'static str> {
    SHORT.iter().filter(|(_, full)| *full == name).map(|(short, _)| *short).collect()
}

/// What to do about a path that can name no file here.
fn say_of_elsewhere(data: &Path) {
    let text = data.display().to_string();
    if data.exists() {
        return;
    }
    if text.contains("://") {
        tracing::info!("{text} is an address: download it first, and name the file");
    } else if text.starts_with("~/") {
        tracing::info!(
            "the shell replaces ~ only where it begins an unquoted word: write the folder in full"
        );
    }
}

pub(crate) fn open(data: &Path, args: &FileArgs) -> anyhow::Result<RowFile> {
    say_of_elsewhere(data);
    let format = args.format.map(|format| match format {
        FormatName::Csv => RowFormat::Text(b','),
        FormatName::Semicolon => RowFormat::Text(b';'),
        FormatName::Tsv => RowFormat::Text(b'\t'),
        FormatName::Svmlight => RowFormat::Svmlight,
        FormatName::Parquet => RowFormat::Parquet,
    });
    if args.separator.is_some() && matches!(format, Some(RowFormat::Svmlight | RowFormat::Parquet))
    {
        anyhow::bail!(
            "--separator: fields are separated in a text alone; leave it or --format out"
        );
    }
    let format = args.separator.map(RowFormat::Text).or(format);
    let file = RowFile::open(data, format).map_err(WorkbenchError::from)?;
    let given = [
        ("--skip", args.skip > 0),
        ("--comment", args.comment.is_some()),
        ("--decimal", args.decimal.is_some()),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given && !file.is_text()) {
        anyhow::bail!(
            "{flag}: {} is no delimited text, and has no such lines or numbers",
            file.name()
        );
    }
    let file = file.skipping(args.skip, args.comment).map_err(WorkbenchError::from)?;
    if args.decimal.as_deref() == Some(",") {
        return Ok(file.with_decimal_comma().map_err(WorkbenchError::from)?);
    }
    Ok(file)
}

pub(super) fn schema_options(args: &ColumnArgs, choices: &FitChoices) -> SchemaOptions {
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
        positive: args.positive.clone(),
        drop: args.drop.clone(),
        categorical: args.categorical.clone(),
        categories: match args.categories {
            CategoriesName::OneHot => Categories::OneHot,
            CategoriesName::Ordinal => Categories::Ordinal,
        },
        keep_na: args.keep_na.clone(),
        // As typed: `--missing 'no, none'`.
        missing: args
            .missing
            .as_ref()
            .map(|texts| texts.iter().map(|text| text.trim().to_owned()).collect()),
        missing_is_category: choices.impute == Some(ImputeName::Category),
        ..SchemaOptions::default()
    }
}

/// What has not heeded Ctrl-C after this long ends.
const PATIENCE: Duration = Duration::from_secs(1);

/// What Ctrl-C asks to stop. What does not look at it in time (a file that is read, one long step of a
/// closed form) ends at once, and leaves no file half written.
pub(super) fn stop() -> anyhow::Result<Stop> {
    let stop = Stop::default();
    let asked = stop.clone();
    ctrlc::set_handler(move || {
        asked.ask();
        std::thread::sleep(PATIENCE);
        Output::abandon();
        eprintln!("error: interrupted");
        leave(130);
    })
    .context("cannot install the handler of Ctrl-C")?;
    Ok(stop)
}

/// Ctrl-C stops a fit at its next step; what the machine has no memory for is not begun.
pub(super) fn limits(seconds: Option<f64>) -> anyhow::Result<TrialLimits> {
    Ok(TrialLimits::start(seconds, free_memory(), stop()?))
}

/// What to say of a fit that ended above its tolerance, with what its method can be told about it; of a method
/// that this program does not know, without.
fn unconverged(header: &ModelHeader) -> Option<String> {
    let methods = all();
    match find(&methods, &header.method) {
        Ok(method) => method.unconverged(header.convergence, &header.settings, header.task()),
        Err(_) => header.convergence.warning(),
    }
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
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let word = || number(value).map_or_else(|| Value::from(value), Value::from);
        let value = serde_json::from_str(value).map_or_else(|_| word(), whole);
        // Of one of several methods that are compared.
        let owned =
            name.split_once('.').map(|(method, own)| format!("{}.{own}", full_name(method)));
        settings = settings.with(owned.as_deref().unwrap_or(name), value);
    }
    let budget = args.budget.as_deref().map(str::parse::<Budget>).transpose()?;
    let scaling = args.scale.parse().map_err(WorkbenchError::Data)?;
    Ok(Choices {
        scaling: scaling_of(&settings, scaling),
        settings,
        impute: args.impute.map(|impute| match impute {
            // Of categories the reader has seen to it.
            ImputeName::Mean | ImputeName::Category => Impute::Mean,
            ImputeName::Median => Impute::Median,
        }),
        tune: budget.or_else(|| args.tune.then(Budget::default)),
        metric: args.metric,
        class_weight: args.class_weight.as_deref().map(str::parse).transpose()?,
        calibrate: args.calibrate,
        threshold: args.threshold,
        importance: false,
        learning_curve: false,
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

/// Refuses weights of rows that are read in passes.
pub(super) fn refuse_weights_in_passes(args: &FitChoices) -> Result<(), WorkbenchError> {
    let (Some(_), Some(column)) = (args.buffer, &args.weights) else { return Ok(()) };
    let must = "left out where rows are read in passes (--buffer)".to_owned();
    Err(WorkbenchError::Argument { name: "weights", value: format!("`{column}`"), must })
}

/// Reads a table, with the weights of its rows; with a buffer what is not held of it stays in the file.
pub(super) fn read_table(
    file: RowFile,
    options: &SchemaOptions,
    by: Option<&DivideBy>,
    args: &FitChoices,
) -> anyhow::Result<Table> {
    refuse_weights_in_passes(args)?;
    let table = match args.buffer {
        Some(buffer) => Table::in_passes(file, options, by, buffer)?,
        None => Table::read_beside(&file, options, by, args.weights.as_deref())?,
    };
    say_of_weights(&table);
    Ok(table)
}

/// Which rows tune where the numbers stay in the file.
pub(super) fn say_of_first_rows(by: Option<&DivideBy>, buffer: Option<usize>, tunes: bool) {
    if let (Some(by), Some(_), true) = (by, buffer, tunes) {
        let column = by.column();
        tracing::warn!("with --buffer, tuning holds out rows at random, without `{column}`");
    }
}

/// Reads a table that is to be divided.
pub(super) fn read_divided(
    file: RowFile,
    lines: &FileArgs,
    options: &SchemaOptions,
    split: &SplitArgs,
    args: &FitChoices,
    choices: &Choices<'_>,
) -> anyhow::Result<Table> {
    let by = split.divided();
    say_of_first_rows(by.as_ref(), args.buffer, choices.tune.is_some());
    let table = read_table(file, options, by.as_ref(), args)?;
    let Some(test) = &split.test else { return Ok(table) };
    let file = open(test, lines)?;
    let unknown = split.unknown.into();
    let drop = strangers(&file, &table.schema)?;
    if !drop.is_empty() {
        tracing::warn!(
            "{}: {} is left out, which the training rows have not",
            file.name(),
            drop.join(", ")
        );
    }
    let widened = Widened { drop, unknown, ..Widened::default() };
    let test = Table::wider(&file, table.schema.clone(), &widened)?;
    Ok(table.tested_on(test, choices.impute)?)
}

/// The names of a file's columns.
pub(super) fn names_of(file: &RowFile) -> anyhow::Result<Vec<String>> {
    let mut rows = file.rows()?;
    if let Some(names) = rows.names() {
        return Ok(names.to_vec());
    }
    // Of text the first row has them.
    Ok(match rows.next()? {
        Some((_, Row::Fields(fields))) => {
            (0..fields.len()).map(|at| fields.raw(at).text().trim().to_owned()).collect()
        }
        _ => Vec::new(),
    })
}

/// Columns of a file that a schema with names does not know.
fn strangers(file: &RowFile, schema: &Schema) -> anyhow::Result<Vec<String>> {
    if !schema.named {
        return Ok(Vec::new());
    }
    let known = |name: &String| {
        schema.columns.iter().any(|column| column.name == *name)
            || schema.target.name == *name
            || schema.dropped.iter().any(|(_, own)| own == name)
    };
    let mut names = names_of(file)?;
    names.retain(|name| !name.is_empty() && !known(name));
    Ok(names)
}

/// Mean weights that are worth a word: few who count rows have these.
const USUAL: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// Says where weights are so large or small that they will hardly count rows.
pub(super) fn say_of_weights(table: &Table) {
    let Some(RowWeights { values: weights, .. }) = &table.weights else { return };
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    if !USUAL.contains(&mean) {
        tracing::warn!(
            "{}: the weights have mean {}, and a weight of 2 is two rows; divide them by their mean if they only \
             compare rows, since some methods sum over rows (gaussian-svm, gaussian-process, rftk)",
            table.name,
            plain(mean)
        );
    }
}

pub(super) fn splitting(args: &SplitArgs, table: &Table) -> Splitting {
    if let Some(test) = args.holdout {
        return Splitting::HoldOut { test, repeats: args.repeats.unwrap_or(1) };
    }
    let folds = args.folds.unwrap_or(5);
    let once = args.by.time.is_some() || args.split_column.is_some() || args.test.is_some();
    let once = once || table.one_way(folds);
    Splitting::Folds { folds, repeats: args.repeats.unwrap_or(if once { 1 } else { 2 }) }
}

/// The error with the number of folds called a default, where the user gave none.
pub(super) fn default_folds(error: WorkbenchError, args: &SplitArgs) -> WorkbenchError {
    match error {
        WorkbenchError::Argument { name: "folds", value, must } if args.folds.is_none() => {
            let value = format!("{value} by default");
            let must = format!("{must}; add --folds N");
            WorkbenchError::Argument { name: "folds", value, must }
        }
        other => other,
    }
}

/// What was typed.
pub(super) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy()));
    std::iter::once("mercer".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The day in UTC, as `2026-11-20`.
pub(super) fn today() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    iso_day(now.map_or(0, |now| (now.as_secs() / 86_400).cast_signed()))
}

/// A table in a line: file, rows, target, task.
pub(super) fn about(table: &Table) -> String {
    // Rows of a test file are not of this one.
    let rows = table.division.as_ref().and_then(Division::training_rows).unwrap_or(table.rows());
    let rows = counted(rows, "row", "rows");
    format!("{}: {rows}, target `{}`, {}", table.name, table.schema.target.name, task(table))
}

/// The task, with the number of classes.
pub(super) fn task(table: &Table) -> String {
    match table.task() {
        Task::Classification { classes } => format!("classification ({classes} classes)"),
        Task::Regression => "regression".to_owned(),
    }
}

/// A file that will be written, claimed before any work is done for it; standard input is no file.
pub(super) fn claim(path: &Path, force: bool, inputs: &[&Path]) -> anyhow::Result<Output> {
    if path.as_os_str() == "-" {
        anyhow::bail!("-: standard output does not take this; name a file");
    }
    Ok(Output::claim(path, force, inputs)?)
}

/// One JSON value on standard output.
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, value)?;
    writeln!(stdout)?;
    Ok(())
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
