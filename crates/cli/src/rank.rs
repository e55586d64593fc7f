use crate::Ended;
use crate::columns::{print_aligned, print_words};
use crate::own::{FileArgs, open, print_json};
use clap::Args;
use mercer_learning::{counted, one_line};
use mercer_workbench::{Output, RankedMethod, Ranking, ScoreColumns, ScoreTable, rank};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct RankArgs {
    /// Read scores from this CSV, TSV or Parquet file, plain or compressed; - is standard input.
    pub file: PathBuf,
    /// Rank smaller scores as better: errors, losses or times.
    #[arg(long)]
    pub smaller: bool,
    /// Read the datasets from this column.
    #[arg(long, value_name = "COL", default_value = "dataset")]
    pub dataset: String,
    /// Read the methods from this column.
    #[arg(long, value_name = "COL", default_value = "method")]
    pub method: String,
    /// Read the scores from this column.
    #[arg(long, value_name = "COL", default_value = "score")]
    pub score: String,
    /// Average the scores over this column of repeats [default: `repeat`, if there is one].
    #[arg(long, value_name = "COL")]
    pub repeat: Option<String>,
    /// Draw the critical-difference diagram into this file.
    #[arg(long, value_name = "FILE.svg")]
    pub diagram: Option<PathBuf>,
    /// Overwrite the diagram.
    #[arg(long, requires = "diagram")]
    pub force: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub reading: FileArgs,
}

pub(crate) fn run(args: &RankArgs) -> anyhow::Result<Ended> {
    let output = args.diagram.as_ref().map(|path| Output::claim(path, args.force, &[&args.file]));
    let output = output.transpose()?;
    let columns = ScoreColumns {
        dataset: args.dataset.clone(),
        method: args.method.clone(),
        score: args.score.clone(),
        repeat: args.repeat.clone(),
    };
    let table = ScoreTable::read(&open(&args.file, &args.reading)?, &columns)?;
    let found = rank(&table, args.smaller)?;
    if let Some(output) = output {
        output.write_bytes(found.diagram()?.svg()?.as_bytes())?;
    }
    if args.json {
        print_json(&found)?;
    } else {
        print(&found)?;
    }
    Ok(Ended::Done)
}

fn print(found: &Ranking) -> anyhow::Result<()> {
    let repeats = if found.repeats > 1 {
        format!(", up to {} repeats averaged", found.repeats)
    } else {
        String::new()
    };
    let better = if found.smaller { "smaller" } else { "larger" };
    print_words(&format!(
        "{} on {} datasets{repeats}; {better} scores are better",
        counted(found.methods.len(), "method", "methods"),
        found.datasets
    ))?;
    writeln!(std::io::stdout())?;
    let number = |value: f64| json!(format!("{value:.2}"));
    let row = |one: &RankedMethod| -> Vec<Value> {
        let (low, high) = one.interval;
        let (place, method) = (json!(one.place), json!(one.method));
        vec![place, method, number(one.mean_rank), number(low), number(high), json!(one.best_on)]
    };
    let rows: Vec<Vec<Value>> = found.methods.iter().map(row).collect();
    print_aligned(&["place", "method", "mean rank", "95 % from", "to", "best on"], &rows)?;
    writeln!(std::io::stdout())?;
    let test = &found.friedman;
    // Ranks that are the same on every dataset leave the corrected form no spread.
    let (name, p) = if test.degenerate {
        ("Friedman", test.p_chi_squared)
    } else {
        ("Friedman, Iman and Davenport", test.p_iman_davenport)
    };
    let p = if p < 1e-4 { "p < 0.0001".to_owned() } else { format!("p = {p:.4}") };
    if found.apart {
        print_words(&format!(
            "{name}: {p}, some methods differ. Nemenyi at 5 %: two methods differ if their mean ranks are \
             at least {:.2} apart",
            found.critical_difference
        ))?;
    } else {
        print_words(&format!("{name}: {p}, no difference at 5 %"))?;
    }
    for group in &found.groups {
        let names: Vec<_> = group.iter().map(|name| one_line(name)).collect();
        print_words(&format!("not told apart: {}", names.join(", ")))?;
    }
    if found.groups.is_empty() {
        print_words("all differ")?;
    }
    Ok(())
}
