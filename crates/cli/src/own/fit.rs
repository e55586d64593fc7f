use super::args::FitArgs;
use super::{choices, claim, full_name, limits, open, plain, print_json, schema_options};
use crate::Ended;
use mercer_experiments::registry;
use mercer_workbench::{Model, Table, fit, fit_in_passes, jittered, rows_left_out};
use std::io::Write;
use std::time::Instant;

pub(crate) fn run(args: &FitArgs) -> anyhow::Result<Ended> {
    let methods = registry();
    let limits = limits()?;
    let choices = choices(&args.choices, &limits)?;
    let out = claim(&args.out, args.force, &[&args.table.data])?;
    let started = Instant::now();
    let file = open(&args.table.data, args.table.columns.format)?;
    let (name, options) = (full_name(&args.method), schema_options(&args.table.columns));
    let model = match args.buffer {
        Some(buffer) => fit_in_passes(&methods, &name, &file, &options, buffer, &choices)?,
        None => fit(&methods, &name, &Table::read(&file, &options)?, &file, &choices)?,
    };
    let seconds = started.elapsed().as_secs_f64();
    if let Some(warning) = model.header.convergence.warning() {
        tracing::warn!("{}: {warning}", model.header.method);
    }
    if let Some(warning) = jittered(&model.header.method, &model.header.facts) {
        tracing::warn!("{warning}");
    }
    model.save_to(&out)?;
    if args.json {
        print_json(&model.header)?;
    } else {
        say(&model, &args.out, seconds)?;
    }
    Ok(Ended::Done)
}

fn say(model: &Model, out: &std::path::Path, seconds: f64) -> anyhow::Result<()> {
    let header = &model.header;
    let left_out = rows_left_out(&header.method, &header.facts, header.data.rows);
    if let Some(note) = &left_out {
        tracing::warn!("{note}");
    }
    let rows = match header.facts.get("rows-used").filter(|_| left_out.is_some()) {
        Some(used) => format!("{used} of {}", header.data.rows),
        None => header.data.rows.to_string(),
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(
        stdout,
        "{} fitted to {} rows of {} in {seconds:.1} s: {}, target `{}`, {} inputs",
        header.method,
        rows,
        header.data.file,
        header.task().name(),
        header.schema.target.name,
        header.schema.width(),
    )?;
    let scores: Vec<String> =
        header.training.iter().map(|(name, value)| format!("{name} {}", plain(*value))).collect();
    writeln!(
        stdout,
        "on {} of its own training rows: {}",
        header.training_rows,
        scores.join(", ")
    )?;
    writeln!(stdout, "(for rows it has not seen: mercer evaluate)")?;
    writeln!(stdout, "{}", out.display())?;
    Ok(())
}
