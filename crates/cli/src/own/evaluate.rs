use super::args::EvaluateArgs;
use super::{
    about, bar, choices, claim, command, default_folds, full_name, limits, open, print_json,
    quoted, read_divided, say_if_no_better, say_if_untunable, say_of_parts, schema_options,
    splitting, threads, today, watch,
};
use crate::Ended;
use crate::columns::Listing;
use crate::columns::{print_aligned, print_words};
use mercer_datasets::{Moments, Truth, Truths, Widened};
use mercer_learning::{by_class, counted, one_line};
use mercer_methods::all;
use mercer_workbench::{
    Choices, Evaluation, HeldOut, Model, Output, Predicted, Provenance, Table, Wanted,
    WorkbenchError, coverage, evaluate, evaluate_model, evaluation_page,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &EvaluateArgs, quiet: bool) -> anyhow::Result<Ended> {
    let methods = all();
    let limits = limits(args.choices.max_seconds)?;
    let choices = Choices {
        importance: args.split.importance,
        learning_curve: args.split.learning_curve,
        ..choices(&args.choices, &limits)?
    };
    let model = args.model.as_ref().or(args.model_flag.as_ref());
    let inputs: Vec<&Path> =
        std::iter::once(&args.table.data).chain(model).map(PathBuf::as_path).collect();
    let claimed = |at: Option<&PathBuf>| at.map(|at| claim(at, args.force, &inputs)).transpose();
    let report = claimed(args.report.as_ref())?;
    let predictions = claimed(args.predictions.as_ref())?;
    let (evaluation, how, table) = match (&args.method, model) {
        (None, Some(path)) => of_model(args, path)?,
        (None, None) => {
            let must = "given: a model file, or --method with a method to fit".to_owned();
            let value = "missing".to_owned();
            return Err(WorkbenchError::Argument { name: "MODEL", value, must }.into());
        }
        (Some(method), _) => {
            let name = full_name(method);
            let table = read(args, &name, &choices)?;
            let splitting = splitting(&args.split, &table);
            if let Some(share) = args.coverage {
                let wanted =
                    Wanted { share, each_class: args.each_class, jackknife: args.jackknife };
                let found = watched(args, quiet, |told| {
                    coverage(&methods, &name, &table, splitting, wanted, &choices, told)
                })?;
                let how = table.describe(splitting);
                return super::coverage::print(&found, &about(&table), &how, args.json);
            }
            let evaluation = watched(args, quiet, |told| {
                evaluate(&methods, &name, &table, splitting, &choices, told)
            })?;
            (evaluation, table.describe(splitting), table)
        }
    };
    say_of(&evaluation, &table, args.method.is_some() && choices.tune.is_none());
    // Files before words: a pipe that is closed takes none of them along.
    if let Some(report) = &report {
        let choices = args.method.as_ref().map(|_| &choices);
        write_page(report, &evaluation, &how, &table, choices)?;
    }
    if let Some(out) = &predictions {
        out.write_bytes(held_out(&evaluation, &table).as_bytes())?;
        tracing::info!("{}", out.path().display());
    }
    if args.split.importance && report.is_none() && !args.json {
        tracing::warn!("--importance shows in the page (--report FILE) and in --json, not here");
    }
    if args.json {
        print_json(&as_json(&evaluation, &how, &table))?;
    } else {
        print(&evaluation, &how, &table)?;
    }
    Ok(Ended::Done)
}

/// Reads the table for a method that is to be fitted.
fn read(args: &EvaluateArgs, method: &str, choices: &Choices<'_>) -> anyhow::Result<Table> {
    let lines = &args.table.columns.file;
    let file = open(&args.table.data, lines)?;
    let options = schema_options(&args.table.columns, &args.choices);
    let table = read_divided(file, lines, &options, &args.split, &args.choices, choices)?;
    say_of_parts(&table, choices.impute);
    say_if_untunable(method, choices, table.task());
    Ok(table)
}

/// Work beside a bar, which it tells how far it is, and within its time.
fn watched<T>(
    args: &EvaluateArgs,
    quiet: bool,
    work: impl FnOnce(&dyn Fn(usize, usize)) -> Result<T, WorkbenchError>,
) -> anyhow::Result<T> {
    let bar = bar(quiet);
    let watch = watch(args.choices.max_seconds, quiet);
    let told = |at: usize, of: usize| {
        bar.set_length(of as u64);
        bar.set_position(at as u64);
    };
    let found = work(&told).map_err(|error| default_folds(error, &args.split))?;
    watch.finish();
    bar.finish_and_clear();
    Ok(found)
}

/// Says the notes, and where nothing was learned that shows; with `may_tune` tuning is still to be tried.
fn say_of(evaluation: &Evaluation, table: &Table, may_tune: bool) {
    for note in &evaluation.notes {
        tracing::warn!("{note}");
    }
    let means = evaluation.estimates.iter().map(|(name, found)| (name.clone(), found.mean));
    let mut moments = Moments::default();
    if let Truths::Values(values) = &table.truths {
        for &value in values {
            moments.see(value);
        }
    }
    let deviation = Some(moments.deviation());
    say_if_no_better(&evaluation.method, may_tune, &means.collect(), table.task(), deviation);
}

/// Writes the page; to a model as it is no choices belong.
fn write_page(
    report: &Output,
    evaluation: &Evaluation,
    how: &str,
    table: &Table,
    choices: Option<&Choices<'_>>,
) -> anyhow::Result<()> {
    let (command, date) = (command(), today());
    let asked = Provenance { command: &command, date: &date };
    let page = evaluation_page(evaluation.clone(), table, how, choices, asked)?;
    report.write_bytes(page.as_bytes())?;
    tracing::info!("{}", report.path().display());
    Ok(())
}

/// Prints the scores, and how often each class was predicted as each.
fn print(evaluation: &Evaluation, how: &str, table: &Table) -> anyhow::Result<()> {
    let (splits, test) = (evaluation.splits.len(), evaluation.test_rows);
    let parts = if splits == 1 { "a test part" } else { "test parts" };
    let test = counted(test, "row", "rows");
    let (method, about) = (&evaluation.method, about(table));
    print_words(&format!("{method} on {about}; {how}; {parts} of {test}"))?;
    writeln!(std::io::stdout())?;
    listing(evaluation).print(false)?;
    if let Some(confusion) = &evaluation.confusion {
        writeln!(std::io::stdout())?;
        classes(confusion, &table.schema.target.labels)?;
    }
    Ok(())
}

/// A model as it is, scored on all rows: how, in words, and the rows.
fn of_model(args: &EvaluateArgs, path: &Path) -> anyhow::Result<(Evaluation, String, Table)> {
    let model = Model::load(path, &all())?;
    let file = open(&args.table.data, &args.table.columns.file)?;
    let dropped = args.table.columns.drop.iter().flat_map(|names| names.split(','));
    let drop = dropped.map(str::to_owned).collect();
    let unknown = args.split.unknown.into();
    let widened = Widened { drop, unknown, ..Widened::default() };
    let schema = model.header.schema.clone();
    let table = match args.choices.buffer {
        Some(buffer) => Table::wider_in_passes(file, schema, &widened, buffer)?,
        None => Table::wider(&file, schema, &widened)?,
    };
    let evaluation = evaluate_model(&model, &table, threads(args.choices.threads))?;
    let mut how = "all rows, by the model as it is".to_owned();
    if table.sha256 == model.header.data.sha256 {
        tracing::warn!(
            "{} is the file that the model was fitted to: these scores are no measure of what \
                 it does on rows that it has not seen",
            table.name
        );
        how += "; they are its training rows";
    }
    Ok((evaluation, how, table))
}

/// The test rows with their targets and what was predicted, as CSV.
fn held_out(evaluation: &Evaluation, table: &Table) -> String {
    let labels: Vec<String> =
        table.schema.target.labels.iter().map(|label| quoted(label)).collect();
    let HeldOut { lines, truths, predicted, probabilities, scores } = evaluation.held_out(table);
    let mut text = format!("line,{},prediction", quoted(&table.schema.target.name));
    let beside = probabilities.as_ref().map(|own| ("p", own));
    let beside = beside.or_else(|| scores.as_ref().map(|own| ("score", own)));
    if let Some((what, _)) = beside {
        let shares = table.schema.target.labels.iter().map(|label| format!("{what}({label})"));
        text.extend(shares.map(|head| format!(",{}", quoted(&head))));
    }
    text.push('\n');
    for (row, line) in lines.iter().enumerate() {
        let truth = match truths.of(row) {
            Truth::Class(class) => labels[class as usize].clone(),
            Truth::Value(value) => value.to_string(),
        };
        let said = match &predicted {
            Predicted::Classes(classes) => labels[classes[row] as usize].clone(),
            Predicted::Values(values) => values[row].to_string(),
        };
        text.push_str(&[line.to_string(), truth, said].join(","));
        let shares = beside.iter().flat_map(|(_, own)| own.row(row));
        text.extend(shares.map(|share| format!(",{share}")));
        text.push('\n');
    }
    text
}

/// `metrics` has the means; accuracies are fractions, errors in units of the target.
fn as_json(evaluation: &Evaluation, how: &str, table: &Table) -> Value {
    let metrics: BTreeMap<&String, f64> =
        evaluation.estimates.iter().map(|(name, estimate)| (name, estimate.mean)).collect();
    json!({
        "method": evaluation.method,
        "data": table.name,
        "sha256": table.sha256,
        "target": table.schema.target.name,
        "task": evaluation.task,
        "classes": table.schema.target.labels,
        "rows": table.rows(),
        "test_rows": evaluation.test_rows,
        "splitting": how,
        "metrics": metrics,
        "estimates": evaluation.estimates,
        "splits": evaluation.splits,
        "confusion": evaluation.confusion,
        "importance": evaluation.importance,
        "dependence": evaluation.dependence,
        "learning_curve": evaluation.learning_curve,
        "settings": evaluation.settings,
        "notes": evaluation.notes,
    })
}

/// Classes of a confusion matrix that stand beside each other.
const ACROSS: usize = 8;

/// Rows, precision, recall and F1 of each class, and how often it was predicted as each, over all splits.
fn classes(confusion: &[Vec<u64>], labels: &[String]) -> anyhow::Result<()> {
    let beside = confusion.len() <= ACROSS;
    let found = by_class(confusion);
    let row = |(class, counts): (usize, &Vec<u64>)| {
        let share =
            |at: usize| found[class].map_or(Value::Null, |own| json!(format!("{:.4}", own[at])));
        let rows: u64 = counts.iter().sum();
        let mut cells = vec![json!(labels[class]), json!(rows), share(0), share(1), share(2)];
        cells.extend(counts.iter().filter(|_| beside).map(|count| json!(count)));
        cells
    };
    let mut heads =
        ["class", "rows tested", "precision", "recall", "F1"].map(str::to_owned).to_vec();
    heads.extend(labels.iter().filter(|_| beside).map(|label| format!("as {}", one_line(label))));
    let rows: Vec<Vec<Value>> = confusion.iter().enumerate().map(row).collect();
    print_aligned(&heads.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
}

fn listing(evaluation: &Evaluation) -> Listing {
    let rows = evaluation.estimates.iter().map(|(name, estimate)| {
        // What rounds to 0 is 0, not -0.
        let number = |value: f64| match format!("{value:.4}") {
            zero if zero == "-0.0000" => "0.0000".to_owned(),
            text => text,
        };
        let (low, high) = estimate.interval.map_or((Value::Null, Value::Null), |(low, high)| {
            (json!(number(low)), json!(number(high)))
        });
        let std = estimate.std.map_or(Value::Null, |std| json!(number(std)));
        let by = match &estimate.interval_by {
            None if estimate.std == Some(0.0) => json!("none: the same on every split"),
            by => json!(by),
        };
        vec![json!(name), json!(number(estimate.mean)), std, low, high, by]
    });
    let heads = &["metric", "mean", "deviation", "95 % from", "to", "interval"];
    Listing { heads, rows: rows.collect() }
}
