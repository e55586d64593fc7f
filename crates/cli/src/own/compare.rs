use super::args::CompareArgs;
use super::{
    about, bar, choices, claim, command, default_folds, full_name, limits, open, print_json,
    read_divided, say_if_untunable, say_of_parts, schema_options, splitting, task, today, watch,
};
use crate::Ended;
use crate::columns::Listing;
use crate::columns::{print_aligned, print_words};
use mercer_learning::{Method, Streams};
use mercer_methods::all;
use mercer_workbench::{
    Across, Choices, Comparison, MethodAcross, Output, PairAcross, Provenance, Table,
    WorkbenchError, across, across_page, compare, comparison_page,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &CompareArgs, quiet: bool) -> anyhow::Result<Ended> {
    let methods = all();
    let limits = limits(args.choices.max_seconds)?;
    let choices = Choices {
        importance: args.split.importance,
        learning_curve: args.split.learning_curve,
        ..choices(&args.choices, &limits)?
    };
    let files = args.files();
    if args.split.test.is_some() && files.len() > 1 {
        let (value, must) = ("given".to_owned(), "given for one file only".to_owned());
        return Err(WorkbenchError::Argument { name: "test", value, must }.into());
    }
    let inputs: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let report =
        args.report.as_ref().map(|report| claim(report, args.force, &inputs)).transpose()?;
    let names: Vec<String> = args.methods.iter().map(|name| full_name(name)).collect();
    // All files are read before any method is fitted: a fault in the last one shows at once.
    let tables =
        files.iter().map(|data| read(data, args, &choices)).collect::<anyhow::Result<Vec<_>>>()?;
    for table in &tables {
        check_splits(table, args, choices.seed)?;
        say_of_parts(table, choices.impute);
    }
    if let Some(table) = tables.first() {
        for name in &names {
            say_if_untunable(name, &choices, table.task());
        }
    }
    let files = compare_each(&methods, &names, &tables, args, &choices, quiet)?;
    for file in &files {
        say_of(file);
    }
    let (command, date) = (command(), today());
    let asked = Provenance { command: &command, date: &date };
    let how = files.first().map(|file| file.splitting.clone()).unwrap_or_default();
    let failed = if files.len() > 1 {
        let across = across(files)?;
        written(report.as_ref().map(|report| (report, across_page(&across, asked))))?;
        if args.json {
            print_json(&across)?;
        } else {
            print_across(&across, &how, &tables)?;
        }
        across.failed()
    } else {
        let comparison = &files[0];
        written(report.as_ref().map(|report| (report, comparison_page(comparison, asked))))?;
        if args.json {
            print_json(comparison)?;
        } else {
            print_one(comparison, &about(&tables[0]), args)?;
        }
        comparison.failed()
    };
    Ok(if failed > 0 { Ended::Failed } else { Ended::Done })
}

/// Reads one of the files.
fn read(data: &Path, args: &CompareArgs, choices: &Choices<'_>) -> anyhow::Result<Table> {
    let lines = &args.columns.file;
    let options = schema_options(&args.columns, &args.choices);
    read_divided(open(data, lines)?, lines, &options, &args.split, &args.choices, choices)
}

/// Compares the methods on each table, beside a bar.
fn compare_each(
    methods: &[Method],
    names: &[String],
    tables: &[Table],
    args: &CompareArgs,
    choices: &Choices<'_>,
    quiet: bool,
) -> anyhow::Result<Vec<Comparison>> {
    let bar = bar(quiet);
    let watch = watch(args.choices.max_seconds, quiet);
    let (mut done, mut files) = (0, Vec::new());
    for table in tables {
        let told = |name: &str, _: usize, of: usize| {
            done += 1;
            bar.set_length((of * names.len() * tables.len()) as u64);
            bar.set_position(done);
            bar.set_message(name.to_owned());
        };
        let splitting = splitting(&args.split, table);
        files.push(compare(methods, names, table, splitting, choices, told)?);
    }
    watch.finish();
    bar.finish_and_clear();
    Ok(files)
}

/// Says the notes of a file, and which methods failed on it.
fn say_of(file: &Comparison) {
    for note in &file.notes {
        tracing::warn!("{}: {note}", file.data);
    }
    for method in &file.methods {
        if let Err(error) = &method.evaluation {
            eprintln!("{}: {} failed: {error}", file.data, method.method);
        }
    }
}

/// Prints mean scores and tests of several files.
fn print_across(across: &Across, how: &str, tables: &[Table]) -> anyhow::Result<()> {
    print_words(&format!("{} files, each with {how}, for every method", tables.len()))?;
    writeln!(std::io::stdout())?;
    print_means(across, tables)?;
    writeln!(std::io::stdout())?;
    match across.untested() {
        None => pairs_across(across).print(false),
        Some(why) => print_words(&format!("no test over the files: {why}")),
    }
}

/// Prints scores and tests of one file.
fn print_one(comparison: &Comparison, about: &str, args: &CompareArgs) -> anyhow::Result<()> {
    print_words(&format!("{about}; {}, for every method", comparison.splitting))?;
    writeln!(std::io::stdout())?;
    scores(comparison)?;
    writeln!(std::io::stdout())?;
    match comparison.untested() {
        None => {
            pairs(comparison).print(false)?;
            if comparison.pairs.iter().any(|pair| pair.degenerate) {
                print_words(
                    "(-: the difference is the same on every split, and there is no spread to test \
                     it by; more splits or rows can tell)",
                )?;
            }
        }
        Some(why) => {
            // A division that is given has one split, whatever is asked.
            let given = args.split.test.is_some() || args.split.split_column.is_some();
            let why = if given { why.split("; several").next().unwrap_or(why) } else { why };
            print_words(&format!("no test: {why}"))?;
        }
    }
    Ok(())
}

/// Writes a page, before anything is printed: a pipe that is closed does not take it along.
fn written(page: Option<(&Output, Result<String, WorkbenchError>)>) -> anyhow::Result<()> {
    if let Some((report, page)) = page {
        report.write_bytes(page?.as_bytes())?;
        tracing::info!("{}", report.path().display());
    }
    Ok(())
}

/// Refuses a table that cannot be divided as asked, before any fit.
fn check_splits(table: &Table, args: &CompareArgs, seed: u64) -> anyhow::Result<()> {
    let splits = table.splits(splitting(&args.split, table), &Streams::root(seed));
    splits.map_err(|error| default_folds(error, &args.split))?;
    Ok(())
}

/// Prints one row a file, one column a method, and the mean ranks.
fn print_means(across: &Across, tables: &[Table]) -> anyhow::Result<()> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (at, (file, table)) in across.files.iter().zip(tables).enumerate() {
        let score = |method: &MethodAcross| method.means[at].map_or(json!("failed"), number);
        let scores = across.methods.iter().map(score);
        let about =
            [json!(file.data), json!(file.target), json!(task(table)), json!(file.metric.name())];
        rows.push(about.into_iter().chain(scores).collect());
    }
    let ranks = across.methods.iter().map(|method| rank(method.rank));
    let blank = std::iter::repeat_n(Value::Null, 3);
    rows.push(std::iter::once(json!("mean rank")).chain(blank).chain(ranks).collect());
    let names = across.methods.iter().map(|method| method.method.as_str());
    let heads: Vec<&str> = ["file", "target", "task", "metric"].into_iter().chain(names).collect();
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

fn scores(comparison: &Comparison) -> anyhow::Result<()> {
    let row = |method: &mercer_workbench::MethodScores| {
        let Ok(evaluation) = &method.evaluation else {
            let mut cells = vec![json!(method.method), json!("failed")];
            cells.extend(std::iter::repeat_n(Value::Null, 4));
            return cells;
        };
        let Some(estimate) = evaluation.estimates.get(comparison.metric.name()) else {
            let mut cells = vec![json!(method.method), json!("not defined")];
            cells.extend(std::iter::repeat_n(Value::Null, 4));
            return cells;
        };
        let (low, high) = estimate
            .interval
            .map_or((Value::Null, Value::Null), |(low, high)| (number(low), number(high)));
        let std = estimate.std.map_or(Value::Null, number);
        vec![json!(method.method), number(estimate.mean), std, low, high, rank(method.rank)]
    };
    let rows: Vec<Vec<Value>> = comparison.methods.iter().map(row).collect();
    let metric = comparison.metric.name();
    print_aligned(&["method", metric, "deviation", "95 % from", "to", "mean rank"], &rows)
}

fn pairs(comparison: &Comparison) -> Listing {
    let row = |pair: &mercer_workbench::Pair| {
        let tested = |p: f64| if pair.degenerate { Value::Null } else { p_value(p) };
        vec![
            json!(pair.best),
            json!(pair.other),
            number(pair.difference),
            tested(pair.p_naive),
            tested(pair.p_corrected),
            tested(pair.p_holm),
        ]
    };
    let heads = &["best", "other", "difference", "p naive", "p corrected", "p Holm"];
    Listing { heads, rows: comparison.pairs.iter().map(row).collect() }
}
