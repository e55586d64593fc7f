use super::args::CompareArgs;
use super::{
    bar, choices, full_name, limits, may_write, open, print_json, schema_options, splitting, write,
};
use crate::Ended;
use crate::list::Listing;
use mercer_experiments::registry;
use mercer_workbench::{Comparison, Table, compare, comparison_page};
use serde_json::{Value, json};
use std::io::Write;

pub(crate) fn run(args: &CompareArgs, quiet: bool) -> anyhow::Result<Ended> {
    let methods = registry();
    let limits = limits()?;
    let choices = choices(&args.choices, &limits)?;
    if let Some(report) = &args.report {
        may_write(report, args.force)?;
    }
    let file = open(&args.table.data, args.table.format)?;
    let table = Table::read(&file, &schema_options(&args.table))?;
    let names: Vec<String> = args.methods.iter().map(|name| full_name(name)).collect();
    let bar = bar(quiet);
    let mut done = 0;
    let told = |name: &str, _: usize, of: usize| {
        done += 1;
        bar.set_length((of * names.len()) as u64);
        bar.set_position(done);
        bar.set_message(name.to_owned());
    };
    let comparison = compare(&methods, &names, &table, splitting(&args.split), &choices, told)?;
    bar.finish_and_clear();
    if args.json {
        print_json(&comparison)?;
    } else {
        scores(&comparison).print(false)?;
        writeln!(std::io::stdout())?;
        pairs(&comparison).print(false)?;
        tracing::info!("{} rows, {}", table.rows(), comparison.splitting);
    }
    if let Some(report) = &args.report {
        write(report, &comparison_page(&comparison)?)?;
        tracing::info!("{}", report.display());
    }
    for method in &comparison.methods {
        if let Err(error) = &method.evaluation {
            eprintln!("{} failed: {error}", method.method);
        }
    }
    Ok(if comparison.failed() > 0 { Ended::Failed } else { Ended::Done })
}

fn number(value: f64) -> Value {
    json!(format!("{:.4}", value + 0.0))
}

fn scores(comparison: &Comparison) -> Listing {
    let row = |method: &mercer_workbench::MethodScores| {
        let Ok(evaluation) = &method.evaluation else {
            let mut cells = vec![json!(method.method), json!("failed")];
            cells.extend(std::iter::repeat_n(Value::Null, 4));
            return cells;
        };
        let estimate = &evaluation.estimates[comparison.metric];
        let (low, high) = estimate
            .interval
            .map_or((Value::Null, Value::Null), |(low, high)| (number(low), number(high)));
        let std = estimate.std.map_or(Value::Null, number);
        vec![json!(method.method), number(estimate.mean), std, low, high, json!(method.rank)]
    };
    let rows = comparison.methods.iter().map(row).collect();
    let heads: &[&str] = if comparison.metric == "accuracy" {
        &["method", "accuracy", "deviation", "95 % from", "to", "mean rank"]
    } else {
        &["method", "rmse", "deviation", "95 % from", "to", "mean rank"]
    };
    Listing { heads, rows }
}

fn pairs(comparison: &Comparison) -> Listing {
    let row = |pair: &mercer_workbench::Pair| {
        vec![
            json!(pair.best),
            json!(pair.other),
            number(pair.difference),
            number(pair.p_naive),
            number(pair.p_corrected),
            number(pair.p_holm),
        ]
    };
    let heads = &["best", "other", "difference", "p naive", "p corrected", "p Holm"];
    Listing { heads, rows: comparison.pairs.iter().map(row).collect() }
}
