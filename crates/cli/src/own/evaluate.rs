use super::args::EvaluateArgs;
use super::{
    bar, choices, full_name, limits, open, print_json, schema_options, splitting, threads,
};
use crate::Ended;
use crate::list::Listing;
use mercer_experiments::registry;
use mercer_workbench::{Evaluation, Model, Table, WorkbenchError, evaluate, evaluate_model};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) fn run(args: &EvaluateArgs, quiet: bool) -> anyhow::Result<Ended> {
    let methods = registry();
    let limits = limits()?;
    let choices = choices(&args.choices, &limits)?;
    let (evaluation, how, rows) = match (
        &args.method,
        args.model.as_ref().or(args.model_flag.as_ref()),
    ) {
        (None, Some(path)) => {
            let model = Model::load(path, &methods)?;
            let file = open(&args.table.data, args.table.columns.format)?;
            let table = Table::with_schema(&file, model.header.schema.clone())?;
            let evaluation = evaluate_model(&model, &table, threads(args.choices.threads))?;
            let mut how = "all rows, by the model as it is".to_owned();
            if file.sha256()? == model.header.data.sha256 {
                tracing::warn!(
                    "{} is the file that the model was fitted to: these scores are no measure of what \
                         it does on rows that it has not seen",
                    file.name()
                );
                how += "; they are its training rows";
            }
            (evaluation, how, table.rows())
        }
        (None, None) => {
            let must = "given: a model file, or --method with a method to fit".to_owned();
            let value = "missing".to_owned();
            return Err(WorkbenchError::Argument { name: "MODEL", value, must }.into());
        }
        (Some(method), _) => {
            let name = full_name(method);
            let file = open(&args.table.data, args.table.columns.format)?;
            let table = Table::read(&file, &schema_options(&args.table.columns))?;
            let splitting = splitting(&args.split);
            let bar = bar(quiet);
            let told = |at: usize, of: usize| {
                bar.set_length(of as u64);
                bar.set_position(at as u64);
            };
            let evaluation = evaluate(&methods, &name, &table, splitting, &choices, told)?;
            bar.finish_and_clear();
            (evaluation, splitting.describe(), table.rows())
        }
    };
    for note in &evaluation.notes {
        tracing::warn!("{note}");
    }
    if args.json {
        print_json(&as_json(&evaluation, &how, rows))?;
    } else {
        listing(&evaluation).print(false)?;
        let (splits, test) = (evaluation.splits.len(), evaluation.test_rows);
        let parts = if splits == 1 { "a test part" } else { "test parts" };
        tracing::info!("{} on {rows} rows: {how}; {parts} of {test} rows", evaluation.method);
    }
    Ok(Ended::Done)
}

/// `metrics` has the means; accuracies are fractions, errors in units of the target.
fn as_json(evaluation: &Evaluation, how: &str, rows: usize) -> Value {
    let metrics: BTreeMap<&String, f64> =
        evaluation.estimates.iter().map(|(name, estimate)| (name, estimate.mean)).collect();
    json!({
        "method": evaluation.method,
        "task": evaluation.task,
        "rows": rows,
        "test_rows": evaluation.test_rows,
        "splitting": how,
        "metrics": metrics,
        "estimates": evaluation.estimates,
        "splits": evaluation.splits,
        "settings": evaluation.settings,
        "notes": evaluation.notes,
    })
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
        vec![json!(name), json!(number(estimate.mean)), std, low, high, json!(estimate.interval_by)]
    });
    let heads = &["metric", "mean", "deviation", "95 % from", "to", "interval"];
    Listing { heads, rows: rows.collect() }
}
