use super::args::CompareArgs;
use super::{bar, choices, claim, full_name, limits, open, print_json, schema_options, splitting};
use crate::Ended;
use crate::list::{Listing, print_aligned};
use mercer_experiments::registry;
use mercer_workbench::{
    Across, Comparison, MethodAcross, PairAcross, Table, across, across_page, compare,
    comparison_page,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &CompareArgs, quiet: bool) -> anyhow::Result<Ended> {
    let methods = registry();
    let limits = limits()?;
    let choices = choices(&args.choices, &limits)?;
    let inputs: Vec<&Path> = args.data.iter().map(PathBuf::as_path).collect();
    let report =
        args.report.as_ref().map(|report| claim(report, args.force, &inputs)).transpose()?;
    let names: Vec<String> = args.methods.iter().map(|name| full_name(name)).collect();
    // All files are read before any method is fitted: a fault in the last one shows at once.
    let options = schema_options(&args.columns);
    let table = |data: &PathBuf| -> anyhow::Result<Table> {
        Ok(Table::read(&open(data, args.columns.format)?, &options)?)
    };
    let tables = args.data.iter().map(table).collect::<anyhow::Result<Vec<_>>>()?;
    let bar = bar(quiet);
    let mut done = 0;
    let mut files = Vec::new();
    for table in &tables {
        let told = |name: &str, _: usize, of: usize| {
            done += 1;
            bar.set_length((of * names.len() * tables.len()) as u64);
            bar.set_position(done);
            bar.set_message(name.to_owned());
        };
        files.push(compare(&methods, &names, table, splitting(&args.split), &choices, told)?);
    }
    bar.finish_and_clear();
    for file in &files {
        for note in &file.notes {
            tracing::warn!("{}: {note}", file.data);
        }
        for method in &file.methods {
            if let Err(error) = &method.evaluation {
                eprintln!("{}: {} failed: {error}", file.data, method.method);
            }
        }
    }
    let (page, failed) = if files.len() > 1 {
        let across = across(files)?;
        if args.json {
            print_json(&across)?;
        } else {
            print_means(&across)?;
            writeln!(std::io::stdout())?;
            pairs_across(&across).print(false)?;
        }
        (report.as_ref().map(|_| across_page(&across, &command())), across.failed())
    } else {
        let comparison = &files[0];
        if args.json {
            print_json(comparison)?;
        } else {
            scores(comparison).print(false)?;
            writeln!(std::io::stdout())?;
            pairs(comparison).print(false)?;
            tracing::info!("{} rows, {}", tables[0].rows(), comparison.splitting);
        }
        (report.as_ref().map(|_| comparison_page(comparison, &command())), comparison.failed())
    };
    if let (Some(report), Some(page)) = (&report, page) {
        report.write_bytes(page?.as_bytes())?;
        tracing::info!("{}", report.path().display());
    }
    Ok(if failed > 0 { Ended::Failed } else { Ended::Done })
}

/// What was typed.
fn command() -> String {
    let words = std::env::args().skip(1).map(|word| {
        let plain = |c: char| c.is_alphanumeric() || "_-./:+@%=,".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    std::iter::once("mercer".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Prints one row a file, one column a method, and the mean ranks.
fn print_means(across: &Across) -> anyhow::Result<()> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (at, file) in across.files.iter().enumerate() {
        let score = |method: &MethodAcross| method.means[at].map_or(json!("failed"), number);
        let scores = across.methods.iter().map(score);
        rows.push([json!(file.data), json!(file.metric)].into_iter().chain(scores).collect());
    }
    let ranks = across.methods.iter().map(|method| rank(method.rank));
    rows.push([json!("mean rank"), Value::Null].into_iter().chain(ranks).collect());
    let names = across.methods.iter().map(|method| method.method.as_str());
    let heads: Vec<&str> = ["file", "metric"].into_iter().chain(names).collect();
    print_aligned(&heads, &rows)
}

fn pairs_across(across: &Across) -> Listing {
    let row = |pair: &PairAcross| {
        let [better, equal, worse] = pair.wins;
        vec![
            json!(pair.best),
            json!(pair.other),
            json!(format!("{better}/{equal}/{worse}")),
            p_value(pair.p),
            p_value(pair.p_holm),
        ]
    };
    let heads = &["best", "other", "better/equal/worse", "p Wilcoxon", "p Holm"];
    Listing { heads, rows: across.pairs.iter().map(row).collect() }
}

fn number(value: f64) -> Value {
    json!(format!("{:.4}", value + 0.0))
}

/// A p-value; a zero would claim too much.
fn p_value(p: f64) -> Value {
    if p < 1e-4 { json!("< 0.0001") } else { number(p) }
}

fn rank(rank: Option<f64>) -> Value {
    rank.map_or(Value::Null, |rank| json!(format!("{rank:.2}")))
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
        vec![json!(method.method), number(estimate.mean), std, low, high, rank(method.rank)]
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
            p_value(pair.p_naive),
            p_value(pair.p_corrected),
            p_value(pair.p_holm),
        ]
    };
    let heads = &["best", "other", "difference", "p naive", "p corrected", "p Holm"];
    Listing { heads, rows: comparison.pairs.iter().map(row).collect() }
}
