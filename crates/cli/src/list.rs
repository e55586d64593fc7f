//! `mercer list`: what there is.

use crate::Ended;
use crate::args::{ListArgs, Listed};
use mercer_datasets::{Catalogue, Library, Place};
use mercer_experiments::{ARTEFACTS, registry};
use serde_json::{Value, json};
use std::io::Write;

/// Rows under heads, printed as aligned text or as JSON objects.
pub(crate) struct Listing {
    pub heads: &'static [&'static str],
    pub rows: Vec<Vec<Value>>,
}

pub(crate) fn run(args: &ListArgs) -> anyhow::Result<Ended> {
    if let Some(name) = &args.name {
        if args.what != Listed::Methods {
            let (name, value) = ("METHOD", format!("`{name}`"));
            let must = "given after `methods` only".to_owned();
            return Err(mercer_workbench::WorkbenchError::Argument { name, value, must }.into());
        }
        crate::settings::print(name, args.json)?;
        return Ok(Ended::Done);
    }
    let listing = match args.what {
        Listed::Artefacts => artefacts(),
        Listed::Methods => methods(),
        Listed::Datasets => datasets(&Library::discover(None)?),
    };
    listing.print(args.json)?;
    Ok(Ended::Done)
}

impl Listing {
    /// Writes it to standard output.
    pub(crate) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            let mut stdout = std::io::stdout().lock();
            let objects: Vec<Value> = self
                .rows
                .iter()
                .map(|row| self.heads.iter().copied().zip(row.iter().cloned()).collect())
                .collect();
            serde_json::to_writer_pretty(&mut stdout, &objects)?;
            writeln!(stdout)?;
            return Ok(());
        }
        print_aligned(self.heads, &self.rows)
    }
}

/// Writes rows under their heads to standard output, in columns.
pub(crate) fn print_aligned(heads: &[&str], rows: &[Vec<Value>]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    let first = heads.iter().map(|head| (*head).to_owned()).collect();
    let rest = rows.iter().map(|row| row.iter().map(text).collect());
    let lines: Vec<Vec<String>> = std::iter::once(first).chain(rest).collect();
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    for line in &lines {
        let cells = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        writeln!(stdout, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn artefacts() -> Listing {
    let row = |artefact: &mercer_experiments::Artefact| {
        let studies = artefact.studies.iter().chain(artefact.computed).copied();
        vec![
            json!(artefact.id),
            json!(artefact.title),
            json!(studies.collect::<Vec<_>>().join(", ")),
        ]
    };
    Listing { heads: &["artefact", "title", "records"], rows: ARTEFACTS.iter().map(row).collect() }
}

fn methods() -> Listing {
    let rows = registry()
        .iter()
        .map(|method| {
            vec![
                json!(method.name),
                json!(method.tasks.name()),
                json!(method.cost.fit),
                json!(method.cost.predict),
                json!(method.cost.memory),
                json!(method.cites),
                json!(method.summary),
            ]
        })
        .collect();
    let heads = &["method", "tasks", "fit", "predict a row", "memory", "source", "summary"];
    Listing { heads, rows }
}

/// The catalogue, and where each dataset is found.
pub(crate) fn datasets(library: &Library) -> Listing {
    let rows = Catalogue::builtin()
        .entries()
        .iter()
        .map(|entry| {
            let place = match library.place(&entry.name) {
                Ok(Place::Folder(folder)) => folder.display().to_string(),
                Ok(Place::BuiltIn) => "built in".to_owned(),
                _ => "missing".to_owned(),
            };
            vec![
                json!(entry.name),
                json!(entry.task.name()),
                json!(entry.rows),
                json!(entry.features),
                json!(entry.class_counts.len()),
                json!(entry.papers.join(" ")),
                json!(place),
                json!(entry.licence),
            ]
        })
        .collect();
    let heads = &["dataset", "task", "rows", "features", "classes", "papers", "found", "licence"];
    Listing { heads, rows }
}
