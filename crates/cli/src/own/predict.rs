use super::args::PredictArgs;
use super::{claim, names_of, open, quoted, stop, threads};
use crate::Ended;
use anyhow::Context;
use mercer_datasets::{Numbering, RowFile, Unknown, Widened};
use mercer_harness::Stop;
use mercer_learning::{LearningError, counted, one_line};
use mercer_methods::all;
use mercer_workbench::{
    Conformal, ExtraColumns, Model, Predicted, PredictedRows, Sets, Table, Wanted, WorkbenchError,
};
use ndarray::Array2;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Columns of CSV and names in JSON.
const ENTROPY: &str = "entropy";
const EMBEDDED_ENTROPY: &str = "embedded-entropy";
const DEVIATION: &str = "deviation";
const LINE: &str = "line";
const LOW: &str = "low";
const HIGH: &str = "high";
const SET: &str = "set";
/// Between the classes of a set in CSV.
const PARTS: &str = "|";

pub(crate) fn run(mut args: PredictArgs) -> anyhow::Result<Ended> {
    let methods = all();
    let stop = stop()?;
    let path = args.model.take().or(args.model_flag.take()).context("MODEL is missing")?;
    let path = &path;
    let out = args.out.as_ref().filter(|out| out.as_os_str() != "-");
    let out = out.map(|out| claim(out, args.force, &[&args.data, path]));
    let out = out.transpose()?;
    let model = Model::load(path, &methods)?;
    let file = open(&args.data, &args.file)?;
    let mut names = names_of(&file)?;
    if let Some(rows) = &args.beside.within.calibration {
        names.extend(names_of(&open(rows, &args.file)?)?);
    }
    args.keep = one_by_one(&args.keep, &names);
    args.drop = one_by_one(&args.drop, &names);
    let args = &args;
    if let Some(Numbering { first, .. }) = model.header.schema.numbering {
        tracing::info!(
            "{}: its columns are read as numbered from {first}, as those of the fit were",
            file.name()
        );
    }
    let Some(out) = &out else {
        let stdout = BufWriter::new(std::io::stdout().lock());
        write_all(&model, &file, args, &stop, "standard output", stdout)?;
        return Ok(Ended::Done);
    };
    let name = out.path().display().to_string();
    let rows = out.write(|to| write_all(&model, &file, args, &stop, &name, BufWriter::new(to)))?;
    tracing::info!("{} in {name}", counted(rows, "prediction", "predictions"));
    Ok(Ended::Done)
}

/// Names one by one: a comma parts two, unless a column has it in its name.
fn one_by_one(wanted: &[String], names: &[String]) -> Vec<String> {
    let parts = |name: &String| -> Vec<String> {
        if names.contains(name) {
            vec![name.clone()]
        } else {
            name.split(',').map(|part| part.trim().to_owned()).collect()
        }
    };
    wanted.iter().flat_map(parts).collect()
}

/// Refuses to carry a column that is called `prediction`.
fn refuse_second_prediction(keep: &[String]) -> Result<(), WorkbenchError> {
    if keep.iter().all(|name| name != "prediction") {
        return Ok(());
    }
    let must =
        "of other columns: this one has the predictions; rename yours in the file".to_owned();
    Err(WorkbenchError::Argument { name: "keep", value: "`prediction`".to_owned(), must })
}

fn write_all(
    model: &Model,
    file: &RowFile,
    args: &PredictArgs,
    stop: &Stop,
    name: &str,
    mut to: impl Write,
) -> anyhow::Result<usize> {
    let named = || name.to_owned();
    let labels = &model.header.schema.target.labels;
    let beside = beside(model, file, args)?;
    // Where rows may be left out, something must say which are there.
    let numbered = beside.widened.unknown == Unknown::Skip && beside.widened.keep.is_empty();
    let embeds_entropy = embeds_entropy(model, file, &beside)?;
    refuse_second_prediction(&args.keep)?;
    let kinds = (beside.within.is_some(), embeds_entropy);
    let mut heads = Some(head(args, labels, numbered, kinds));
    let fields: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
    let filled = AtomicUsize::new(0);
    let form = |rows: PredictedRows| {
        filled.fetch_add(rows.filled, Ordering::Relaxed);
        if args.json {
            objects(&rows, labels, &args.keep, numbered)
        } else {
            lines(&rows, labels, &fields, numbered)
        }
    };
    let count = model.predict_file(file, threads(args.threads), &beside, form, |text| {
        if stop.asked() {
            return Err(WorkbenchError::from(LearningError::Interrupted).into());
        }
        if let Some(heads) = heads.take() {
            to.write_all(heads.as_bytes()).with_context(named)?;
        }
        to.write_all(text.as_bytes()).with_context(named)?;
        anyhow::Ok(())
    })?;
    if count == 0 {
        anyhow::bail!("{}: holds no rows", file.name());
    }
    if args.json {
        writeln!(to, "]").with_context(named)?;
    }
    to.flush().with_context(named)?;
    let filled = filled.into_inner();
    if filled > 0 {
        tracing::info!(
            "{}: something was missing in {filled} of {} and was filled as in training (mercer info)",
            file.name(),
            counted(count, "row", "rows")
        );
    }
    Ok(count)
}

/// What is wanted beside each prediction; refuses scores and deviations that a model does not have.
fn beside(model: &Model, file: &RowFile, args: &PredictArgs) -> anyhow::Result<ExtraColumns> {
    let schema = &model.header.schema;
    let unknown = args.unknown.into();
    // A column may stand in the rows of --calibration alone.
    let left_out = match &args.beside.within.calibration {
        Some(_) => there(&args.drop, file)?,
        None => args.drop.clone(),
    };
    let widened = Widened { drop: left_out, keep: args.keep.clone(), unknown };
    let (probabilities, entropy) = (args.beside.proba, args.beside.entropy);
    let within = within(model, args, unknown, &widened.drop)?;
    let deviation = args.beside.deviation;
    let scores = args.beside.scores;
    if scores && schema.target.labels.is_empty() {
        anyhow::bail!(
            "--scores: the model was fitted to numbers, and what it predicts is its decision value"
        );
    }
    if deviation {
        let none = Array2::zeros((0, schema.width()));
        if model.deviations(none, file.name(), &[])?.is_none() {
            anyhow::bail!(
                "--deviation: this model of {} has no standard deviations; gaussian-process has them for numbers, and \
                 --coverage makes intervals for every method",
                model.header.method
            );
        }
    }
    Ok(ExtraColumns { probabilities, scores, entropy, deviation, within, widened })
}

/// Whether a second entropy stands beside that of the probabilities; refuses both of a model without probabilities, before
/// anything is written.
fn embeds_entropy(model: &Model, file: &RowFile, beside: &ExtraColumns) -> anyhow::Result<bool> {
    if !beside.probabilities && !beside.entropy {
        return Ok(false);
    }
    let schema = &model.header.schema;
    let none = || Array2::zeros((0, schema.width()));
    if schema.target.labels.is_empty() {
        let (method, why) = (model.header.method.clone(), " of numbers");
        return Err(WorkbenchError::NoProbabilities { method, why }.into());
    }
    let embeds = beside.entropy && model.embedded_entropy(none(), file.name(), &[])?.is_some();
    match model.probabilities(none(), file.name(), &[], 1) {
        Err(error @ WorkbenchError::NoProbabilities { .. }) => {
            tracing::info!("{}", crate::settings::with_probabilities(&model.header.method));
            return Err(error.into());
        }
        other => drop(other?),
    }
    Ok(embeds)
}

/// The line above the predictions; `kinds` says whether sets and a second entropy stand beside them.
fn head(
    args: &PredictArgs,
    labels: &[String],
    numbered: bool,
    (sets, embedded): (bool, bool),
) -> String {
    if args.json {
        return "[\n".to_owned();
    }
    let of_classes = |what: &str| -> Vec<String> {
        labels.iter().map(|label| quoted(&format!("{what}({label})"))).collect()
    };
    let mut heads: Vec<String> = args.keep.iter().map(|name| quoted(name)).collect();
    heads.extend(numbered.then(|| LINE.to_owned()));
    heads.push("prediction".to_owned());
    if args.beside.proba {
        heads.extend(of_classes("p"));
    }
    if args.beside.scores {
        heads.extend(of_classes("score"));
    }
    heads.extend(args.beside.deviation.then(|| DEVIATION.to_owned()));
    if sets {
        let ends: &[&str] = if labels.is_empty() { &[LOW, HIGH] } else { &[SET] };
        heads.extend(ends.iter().map(|&head| head.to_owned()));
    }
    heads.extend(args.beside.entropy.then(|| ENTROPY.to_owned()));
    heads.extend(embedded.then(|| EMBEDDED_ENTROPY.to_owned()));
    format!("{}\n", heads.join(","))
}

/// What --coverage asks for, learned from the rows of --calibration.
fn within(
    model: &Model,
    args: &PredictArgs,
    unknown: Unknown,
    left_out: &[String],
) -> anyhow::Result<Option<Conformal>> {
    let Some(share) = args.beside.within.coverage else { return Ok(None) };
    let wanted = Wanted { each_class: args.beside.within.each_class, ..Wanted::share(share) };
    let Some(path) = &args.beside.within.calibration else {
        return Ok(Some(model.jackknife(wanted, threads(args.threads))?));
    };
    let parted = model.header.schema.target.labels.iter().find(|label| label.contains(PARTS));
    if let Some(label) = parted.filter(|_| !args.json) {
        anyhow::bail!(
            "--coverage: class `{label}` has the sign {PARTS} that parts the classes of a set; take --json"
        );
    }
    let file = open(path, &args.file)?;
    if file.sha256()? == model.header.data.sha256 {
        tracing::warn!(
            "{} is the file that the model was fitted to: the model fits these rows better than new ones, so that the sets are too small",
            file.name()
        );
    }
    let drop = there(&args.drop, &file)?;
    let nowhere = args.drop.iter().find(|name| !drop.contains(name) && !left_out.contains(name));
    if let Some(name) = nowhere {
        anyhow::bail!("--drop: neither file has a column `{}`", one_line(name));
    }
    let widened = Widened { drop, unknown, ..Widened::default() };
    let table = Table::wider(&file, model.header.schema.clone(), &widened)?;
    Ok(Some(model.conformal(&table, wanted, threads(args.threads))?))
}

/// Those of the columns to leave out that a file has.
fn there(drop: &[String], file: &RowFile) -> anyhow::Result<Vec<String>> {
    let names = names_of(file)?;
    Ok(drop.iter().filter(|name| names.contains(name)).cloned().collect())
}

/// Rows of CSV; `fields` are the labels as they stand in it.
fn lines(rows: &PredictedRows, labels: &[String], fields: &[String], numbered: bool) -> String {
    let mut text = String::new();
    for row in 0..rows.lines.len() {
        for kept in rows.kept.get(row).into_iter().flatten() {
            text.push_str(&quoted(kept));
            text.push(',');
        }
        if numbered {
            write!(text, "{},", rows.lines[row]).expect("a string takes all that is written to it");
        }
        let written = match &rows.predicted {
            Predicted::Classes(classes) => {
                text.push_str(&fields[classes[row] as usize]);
                Ok(())
            }
            Predicted::Values(values) => write!(text, "{}", values[row]),
        };
        written.expect("a string takes all that is written to it");
        let shares = rows.probabilities.iter().chain(&rows.scores).flat_map(|own| own.row(row));
        for number in shares {
            write!(text, ",{number}").expect("a string takes all that is written to it");
        }
        if let Some(each) = &rows.deviation {
            write!(text, ",{}", each[row]).expect("a string takes all that is written to it");
        }
        let written = match &rows.sets {
            Some(Sets::Classes(sets)) => {
                let names: Vec<&str> =
                    sets[row].iter().map(|&at| labels[at as usize].as_str()).collect();
                write!(text, ",{}", quoted(&names.join(PARTS)))
            }
            Some(Sets::Intervals(ends)) => write!(text, ",{},{}", ends[row].0, ends[row].1),
            None => Ok(()),
        };
        written.expect("a string takes all that is written to it");
        let entropies = rows.entropy.iter().chain(&rows.embedded_entropy).map(|each| &each[row]);
        for number in entropies {
            write!(text, ",{number}").expect("a string takes all that is written to it");
        }
        text.push('\n');
    }
    text
}

/// Elements of a JSON array, one a line.
fn objects(rows: &PredictedRows, labels: &[String], keep: &[String], numbered: bool) -> String {
    let mut text = String::new();
    for row in 0..rows.lines.len() {
        let prediction = match &rows.predicted {
            Predicted::Classes(classes) => json!(labels[classes[row] as usize]),
            Predicted::Values(values) => json!(values[row]),
        };
        let mut object = serde_json::Map::from_iter([("prediction".to_owned(), prediction)]);
        for (name, kept) in keep.iter().zip(rows.kept.get(row).into_iter().flatten()) {
            object.insert(name.clone(), json!(kept));
        }
        if numbered {
            object.insert(LINE.to_owned(), json!(rows.lines[row]));
        }
        for (name, own) in [("probabilities", &rows.probabilities), ("scores", &rows.scores)] {
            let Some(own) = own else { continue };
            let named = labels.iter().zip(own.row(row)).map(|(l, &p)| (l.clone(), json!(p)));
            let named = json!(named.collect::<serde_json::Map<_, _>>());
            object.insert(name.to_owned(), named);
        }
        object.extend(rows.deviation.iter().map(|each| (DEVIATION.to_owned(), json!(each[row]))));
        match &rows.sets {
            Some(Sets::Classes(sets)) => {
                let names = sets[row].iter().map(|&at| &labels[at as usize]);
                object.insert(SET.to_owned(), json!(names.collect::<Vec<_>>()));
            }
            Some(Sets::Intervals(ends)) => {
                object.insert(LOW.to_owned(), json!(ends[row].0));
                object.insert(HIGH.to_owned(), json!(ends[row].1));
            }
            None => {}
        }
        let entropies = [(ENTROPY, &rows.entropy), (EMBEDDED_ENTROPY, &rows.embedded_entropy)];
        for (name, each) in entropies {
            object.extend(each.iter().map(|each| (name.to_owned(), json!(each[row]))));
        }
        text.push(if rows.first + row > 0 { ',' } else { ' ' });
        text.push_str(&serde_json::Value::Object(object).to_string());
        text.push('\n');
    }
    text
}
