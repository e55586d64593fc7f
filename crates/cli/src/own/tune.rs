use super::args::TuneArgs;
use super::{choices, claim, full_name, limits, open, print_json, schema_options};
use crate::Ended;
use crate::list::Listing;
use mercer_experiments::registry;
use mercer_workbench::{Budget, Table, method_for, tune, tuning_page};
use serde_json::{Value, json};
use std::io::Write;

pub(crate) fn run(args: &TuneArgs) -> anyhow::Result<Ended> {
    let methods = registry();
    let limits = limits()?;
    let choices = choices(&args.choices, &limits)?;
    let report = args.report.as_ref().map(|report| claim(report, args.force, &[&args.table.data]));
    let report = report.transpose()?;
    let file = open(&args.table.data, args.table.columns.format)?;
    let table = Table::read(&file, &schema_options(&args.table.columns))?;
    let method = method_for(&methods, &full_name(&args.method), table.task())?;
    let budget = choices.tune.unwrap_or(Budget::default());
    let tuning = tune(method, &table, budget, &choices)?;
    if tuning.history.iter().all(|step| step.score.is_none()) {
        tracing::warn!("no candidate ended within the budget: the defaults are taken, untried");
    }
    if args.json {
        print_json(&tuning)?;
    } else {
        let rows = tuning.history.iter().enumerate().map(|(at, step)| {
            let score = step.score.map_or(json!("none"), |score| json!(format!("{score:.4}")));
            vec![
                json!(at + 1),
                json!(format!("{:.2}", step.effort)),
                score,
                json!(serde_json::to_string(&step.settings).unwrap_or_default()),
            ]
        });
        let heads = &["tried", "effort", "score", "settings"];
        Listing { heads, rows: rows.collect::<Vec<Vec<Value>>>() }.print(false)?;
        let chosen: Vec<String> =
            tuning.chosen.iter().map(|(name, value)| format!("--set {name}={value}")).collect();
        writeln!(std::io::stdout(), "chosen: {}", chosen.join(" "))?;
    }
    if let Some(report) = &report {
        let page = tuning_page(&table.name, method, table.task(), &tuning)?;
        report.write_bytes(page.as_bytes())?;
        tracing::info!("{}", report.path().display());
    }
    Ok(Ended::Done)
}
