use super::args::FitArgs;
use super::{choices, full_name, limits, may_write, open, plain, print_json, schema_options};
use crate::Ended;
use mercer_experiments::registry;
use mercer_workbench::{Model, Table, fit, fit_in_passes};
use std::io::Write;
use std::time::Instant;

pub(crate) fn run(args: &FitArgs) -> anyhow::Result<Ended> {
    let methods = registry();
    let limits = limits()?;
    let choices = choices(&args.choices, &limits)?;
    may_write(&args.out, args.force)?;
    let started = Instant::now();
    let file = open(&args.table.data, args.table.columns.format)?;
    let (name, options) = (full_name(&args.method), schema_options(&args.table.columns));
    let model = match args.buffer {
        Some(buffer) => fit_in_passes(&methods, &name, &file, &options, buffer, &choices)?,
        None => fit(&methods, &name, &Table::read(&file, &options)?, &file, &choices)?,
    };
    let seconds = started.elapsed().as_secs_f64();
    model.save(&args.out, args.force)?;
    if args.json {
        print_json(&model.header)?;
    } else {
        say(&model, &args.out, seconds)?;
    }
    Ok(Ended::Done)
}

fn say(model: &Model, out: &std::path::Path, seconds: f64) -> anyhow::Result<()> {
    let header = &model.header;
    let mut stdout = std::io::stdout().lock();
    writeln!(
        stdout,
        "{} fitted to {} rows of {} in {seconds:.1} s: {}, target `{}`, {} inputs",
        header.method,
        header.data.rows,
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
