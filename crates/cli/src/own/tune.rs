use super::args::TuneArgs;
use super::{
    about, choices, claim, clock, command, full_name, limits, open, print_json, read_table,
    say_of_first_rows, say_of_parts, schema_options, today, watch,
};
use crate::Ended;
use crate::columns::{print_aligned, print_words};
use mercer_learning::Metric;
use mercer_methods::all;
use mercer_records::Tuning;
use mercer_workbench::{
    Budget, Provenance, Table, WorkbenchError, method_for, primary, require_weighing, tune,
    tuning_page,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

pub(crate) fn run(args: &TuneArgs, quiet: bool) -> anyhow::Result<Ended> {
    let methods = all();
    let limits = limits(args.choices.max_seconds)?;
    let choices = choices(&args.choices, &limits)?;
    if choices.calibrate || choices.threshold.is_some() {
        let name = if choices.calibrate { "calibrate" } else { "threshold" };
        let value = "given, and does nothing in tune".to_owned();
        let must = "left out here, and given to fit, evaluate or compare".to_owned();
        return Err(WorkbenchError::Argument { name, value, must }.into());
    }
    let report = args.report.as_ref().map(|report| claim(report, args.force, &[&args.table.data]));
    let report = report.transpose()?;
    let file = open(&args.table.data, &args.table.columns.file)?;
    let options = schema_options(&args.table.columns, &args.choices);
    let by = args.by.divided();
    say_of_first_rows(by.as_ref(), args.choices.buffer, true);
    let table = read_table(file, &options, by.as_ref(), &args.choices)?;
    say_of_parts(&table, choices.impute);
    let method = method_for(&methods, &full_name(&args.method), table.task())?;
    require_weighing(&methods, method.name, &table, &choices)?;
    let budget = choices.tune.unwrap_or(Budget::default());
    let clock = clock(quiet, format!("tuning {} on {}", method.name, table.name));
    let watch = watch(args.choices.max_seconds, quiet);
    let tuning = tune(method, &table, budget, &choices)?;
    watch.finish();
    clock.finish_and_clear();
    if tuning.history.iter().all(|step| step.score.is_none()) {
        tracing::warn!("no candidate ended within the budget: the defaults are taken, untried");
    }
    if let Some(report) = &report {
        let (command, date) = (command(), today());
        let asked = Provenance { command: &command, date: &date };
        let page = tuning_page(&table, method, &tuning, &choices, asked)?;
        report.write_bytes(page.as_bytes())?;
        tracing::info!("{}", report.path().display());
    }
    if args.json {
        print_json(&tuning)?;
    } else {
        let metric = args.choices.metric.unwrap_or(primary(table.task()));
        print(method.name, &table, &tuning, metric)?;
    }
    Ok(Ended::Done)
}

/// Prints what was tried, and what was chosen.
fn print(method: &str, table: &Table, tuning: &Tuning, metric: Metric) -> anyhow::Result<()> {
    // An error is the better the smaller; the score is minus it.
    let sign = if metric.larger_is_better() { 1.0 } else { -1.0 };
    let rows = tuning.history.iter().enumerate().map(|(at, step)| {
        let score = step.score.map_or(json!("none"), |score| json!(format!("{:.4}", sign * score)));
        vec![
            json!(at + 1),
            json!(format!("{:.2}", step.effort)),
            score,
            json!(listed(&step.settings, "")),
        ]
    });
    let held = table.buffer().filter(|&held| held < table.rows());
    let held = held.map_or_else(String::new, |held| {
        format!("; tuned on the first of them, {held} at most (--buffer)")
    });
    print_words(&format!("{method} on {}{held}", about(table)))?;
    writeln!(std::io::stdout())?;
    // Targets are in standard units: the error of their mean is about 1.
    let scaled = [Metric::Rmse, Metric::Mae].contains(&metric);
    let name =
        if scaled { format!("{} / deviation", metric.name()) } else { metric.name().to_owned() };
    let heads = ["tried", "effort", &name, "settings"];
    print_aligned(&heads, &rows.collect::<Vec<Vec<Value>>>())?;
    let chosen = listed(&tuning.chosen, "--set ");
    let none = "the defaults: this method has nothing to tune";
    let chosen = if chosen.is_empty() { none } else { &chosen };
    writeln!(std::io::stdout(), "chosen: {chosen}")?;
    Ok(())
}

/// Settings as they are typed.
fn listed(settings: &BTreeMap<String, Value>, before: &str) -> String {
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(word) => format!("{before}{name}={word}"),
        value => format!("{before}{name}={value}"),
    };
    settings.iter().map(one).collect::<Vec<_>>().join(" ")
}
