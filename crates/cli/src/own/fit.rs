use super::args::FitArgs;
use super::{
    LARGE, adjusted, choices, claim, clock, filled, full_name, limits, mebibytes, numbering, open,
    plain, print_json, refuse_weights_in_passes, say_if_no_better, say_if_untunable,
    say_of_first_rows, say_of_weights, schema_options, unconverged, watch, weighed,
};
use crate::Ended;
use mercer_learning::{Method, Shape, counted, find, one_line};
use mercer_methods::all;
use mercer_workbench::{
    Header, Model, Table, WorkbenchError, fit, fit_in_passes, rows_left_out, solved_at, with_aside,
};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(args: &FitArgs, quiet: bool) -> anyhow::Result<Ended> {
    let methods = all();
    let limits = limits(args.choices.max_seconds)?;
    let choices = choices(&args.choices, &limits)?;
    let name = full_name(&args.method);
    // An output that exists is no news to who mistyped the method.
    find(&methods, &name).map_err(WorkbenchError::from)?;
    let (weights, by) = (args.choices.weights.as_deref(), args.by.divided());
    refuse_weights_in_passes(&args.choices)?;
    let out = claim(&args.out, args.force, &[&args.table.data])?;
    let started = Instant::now();
    let file = open(&args.table.data, &args.table.columns.file)?;
    let options = schema_options(&args.table.columns, &args.choices);
    let clock = clock(quiet, format!("{name} on {}", file.name()));
    let watch = watch(args.choices.max_seconds, quiet);
    let model = if let Some(buffer) = args.choices.buffer {
        say_of_first_rows(by.as_ref(), Some(buffer), choices.tune.is_some());
        fit_in_passes(
            &methods,
            &name,
            &file,
            &with_aside(&options, by.as_ref(), None),
            buffer,
            &choices,
        )?
    } else {
        let table = Table::read_beside(&file, &options, by.as_ref(), weights)?;
        say_of_weights(&table);
        fit(&methods, &name, &table, &choices)?
    };
    watch.finish();
    clock.finish_and_clear();
    let seconds = started.elapsed().as_secs_f64();
    say_if_untunable(&name, &choices, model.header.task());
    warn(&model.header, &methods, args.choices.buffer, choices.tune.is_none());
    let bytes = model.to_bytes()?;
    say_if_large(&model.header, bytes.len() as u64, &args.out);
    out.write_bytes(&bytes)?;
    drop(bytes);
    if args.json {
        print_json(&model.header)?;
    } else {
        let tuned = choices.tune.and_then(|_| tuned(&methods, &model.header));
        say(&model, &args.out, tuned, seconds)?;
    }
    Ok(Ended::Done)
}

/// Warns of a fit that did not end well, or not as was asked; with `may_tune` tuning is still to be tried.
fn warn(header: &Header, methods: &[Method], buffer: Option<usize>, may_tune: bool) {
    let name = &header.method;
    if let Some(warning) = unconverged(header) {
        tracing::warn!("{name}: {warning}");
    }
    for warning in header.warnings(methods) {
        tracing::warn!("{warning}");
    }
    if let (Some(asked), Some(held)) = (buffer, header.buffer)
        && held < asked
    {
        let inputs = counted(header.schema.width(), "input", "inputs");
        tracing::warn!(
            "a buffer holds {held} rows of {inputs}, not {asked}: there is memory for no more"
        );
    }
    let deviation = header.preparation.target().map(|standard| standard.deviation);
    // The rows of the first buffer may all be of one class.
    if header.buffer.is_none() {
        say_if_no_better(name, may_tune, &header.training, header.task(), deviation);
    }
}

/// Says where a model file will be large, and what makes it smaller.
fn say_if_large(header: &Header, size: u64, out: &Path) {
    if size > LARGE {
        let features = header.settings.get("features").and_then(Value::as_u64);
        let why = features.map_or_else(String::new, |features| {
            let inputs = counted(header.schema.width(), "input", "inputs");
            format!(" for {features} features of {inputs}; fewer (--set features=) make it smaller")
        });
        tracing::info!("{} will have {}{why}", out.display(), mebibytes(size));
    }
}

/// The settings that tuning chose, as they are typed.
fn tuned(methods: &[Method], header: &Header) -> Option<String> {
    let method = find(methods, &header.method).ok()?;
    let (rows, features) = (header.data.rows, header.schema.width());
    let space = (method.space)(&Shape { rows, features, task: header.task() });
    let one = |name: &str| match header.settings.get(name)? {
        Value::String(word) => Some(format!("--set {name}={word}")),
        value => Some(format!("--set {name}={value}")),
    };
    let all: Vec<String> = space.axes.iter().filter_map(|axis| one(axis.name)).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn say(model: &Model, out: &Path, tuned: Option<String>, seconds: f64) -> anyhow::Result<()> {
    let header = &model.header;
    let left_out = rows_left_out(&header.method, &header.facts, header.data.rows);
    if let Some(note) = &left_out {
        tracing::warn!("{note}");
    }
    let all = counted(header.data.rows, "row", "rows");
    let rows = match header.facts.get("rows-used").filter(|_| left_out.is_some()) {
        Some(used) => format!("{used} of {all}"),
        None => all,
    };
    let mut stdout = std::io::stdout().lock();
    let told = format!(
        "{} fitted to {} of {} in {seconds:.1} s: {}, target `{}`, {}",
        header.method,
        rows,
        header.data.file,
        header.task().name(),
        header.schema.target.name,
        counted(header.schema.width(), "input", "inputs"),
    );
    writeln!(stdout, "{}", one_line(&told))?;
    if let Some(told) = filled(header) {
        writeln!(stdout, "filled: {}", one_line(&told))?;
    }
    if let Some(told) = tuned {
        writeln!(stdout, "chosen by tuning: {told}")?;
    }
    if let Some(told) = weighed(header) {
        writeln!(stdout, "weights: {}", one_line(&told))?;
    }
    if let Some(told) = adjusted(header) {
        writeln!(stdout, "adjusted: {}", one_line(&told))?;
    }
    if let Some(told) = numbering(&header.schema) {
        writeln!(stdout, "columns are numbered {told}")?;
    }
    if let Some(told) = lambda(header) {
        writeln!(stdout, "chosen by {told}")?;
    }
    if let Some(told) = solved_at(&header.facts, header.data.rows) {
        writeln!(stdout, "solved: {told}")?;
    }
    let rows = match header.training_rows {
        1 => "its only training row".to_owned(),
        rows if header.buffer.is_some() => format!("the first {rows} of its own training rows"),
        rows => format!("{rows} of its own training rows"),
    };
    let scores: Vec<String> =
        header.training.iter().map(|(name, value)| format!("{name} {}", plain(*value))).collect();
    writeln!(stdout, "on {rows}: {}", scores.join(", "))?;
    writeln!(stdout, "(for rows it has not seen: mercer evaluate)")?;
    writeln!(stdout, "{}", out.display())?;
    Ok(())
}

/// The penalty that the fit chose by itself, by what, and the error there.
fn lambda(header: &Header) -> Option<String> {
    let by = ["leave-one-out", "generalised-cross-validation"];
    let (by, error) = by.into_iter().find_map(|by| Some((by, header.facts.get(by)?)))?;
    // The fit saw the target at deviation 1, if it is a number.
    let unit = header.preparation.target().map_or(1.0, |standard| standard.deviation);
    let (lambda, error) = (plain(*header.facts.get("lambda")?), plain(*error * unit * unit));
    let end = header.facts.get("grid-end").is_some_and(|end| *end > 0.0);
    let end = if end { "; the end of those tried: --set lambda=... goes beyond" } else { "" };
    let by = by.replace("generalised-", "generalised ");
    Some(format!("{by}: lambda {lambda} (mean squared error {error}{end})"))
}
