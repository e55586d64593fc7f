//! `mercer list`: what there is.

use crate::Ended;
use crate::args::{ListArgs, Listed};
use crate::columns::{Listing, print_aligned, print_entries, print_words};
use mercer_datasets::{Catalogue, Library, Place};
use mercer_harness::declared_operations;
use mercer_learning::{Cost, Method, Shape, Task, Tasks};
use mercer_methods::all;
use serde_json::{Value, json};
use std::io::Write;

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
    if args.what == Listed::Methods && !args.json {
        print_methods(args.costs)?;
        return Ok(Ended::Done);
    }
    let listing = match args.what {
        #[cfg(feature = "papers")]
        Listed::Artefacts => crate::papers::artefacts(),
        Listed::Methods => methods(),
        Listed::Datasets => {
            print_datasets(&Library::discover(None)?, args.json)?;
            return Ok(Ended::Done);
        }
    };
    listing.print(args.json)?;
    Ok(Ended::Done)
}

fn methods() -> Listing {
    let rows = all()
        .iter()
        .map(|method| {
            vec![
                json!(method.name),
                json!(method.tasks.name()),
                json!(if method.weighs_rows() { "yes" } else { "no" }),
                json!(method.cost.fit),
                json!(method.cost.predict),
                json!(method.cost.memory),
                json!(method.cites),
                json!(method.summary),
            ]
        })
        .collect();
    let heads =
        &["method", "tasks", "weights", "fit", "predict a row", "memory", "source", "summary"];
    Listing { heads, rows }
}

/// Methods to begin with, from small tables to large ones.
const FIRST: [(&str, &str); 5] = [
    ("kernel-ridge", "classes and numbers; chooses its ridge itself; up to some 10,000 rows"),
    ("gaussian-svm", "classes and numbers; the support vector machine; up to 20,000 rows"),
    (
        "gaussian-process",
        "numbers with standard deviations, classes with probabilities; up to some 2000 rows",
    ),
    ("rf-ridge", "classes and numbers; kernel ridge by random features; a million rows"),
    ("askl", "classes and numbers; learns its kernel; a million rows"),
];

/// Rows and columns of the table whose fits order the methods.
const ROWS: usize = 1000;
const COLUMNS: usize = 10;

/// Both tasks, then classes, then numbers, then programs; in each from the fastest fit to the slowest, by the declared
/// costs.
fn by_task_and_speed() -> Vec<Method> {
    let mut methods = all();
    let place = |method: &Method| {
        let classes = Task::Classification { classes: 2 };
        let task = if method.tasks.include(classes) { classes } else { Task::Regression };
        let shape = Shape { rows: ROWS, features: COLUMNS, task };
        let group = match method.tasks {
            // What may not be installed.
            _ if method.name.starts_with('@') => 3,
            Tasks::Both => 0,
            Tasks::Classification => 1,
            Tasks::Regression => 2,
        };
        (group, declared_operations(method, &shape).unwrap_or(f64::INFINITY))
    };
    methods.sort_by(|a, b| {
        let ((a, fast), (b, slow)) = (place(a), place(b));
        a.cmp(&b).then(fast.total_cmp(&slow))
    });
    methods
}

/// The same for people: which to try first, and of all what each is and can do.
fn print_methods(costs: bool) -> anyhow::Result<()> {
    print_words("Five to try first:")?;
    print_entries(&FIRST.map(|(name, about)| (name.to_owned(), vec![about.to_owned()])))?;
    writeln!(std::io::stdout())?;
    print_words(&format!(
        "All methods, by task, and by the cost of a fit to {ROWS} rows of {COLUMNS} columns:"
    ))?;
    let entry = |method: &Method| {
        let weighs = if method.weighs_rows() { "; weighs rows" } else { "" };
        let about = format!("  {}{weighs}; {}", method.tasks.name(), method.cites);
        let mut told = vec![method.summary.to_owned(), about];
        if costs {
            let Cost { fit, predict, memory } = method.cost;
            told.push(format!("  fit {fit}; predict a row {predict}; memory {memory}"));
        }
        (method.name.to_owned(), told)
    };
    print_entries(&by_task_and_speed().iter().map(entry).collect::<Vec<_>>())?;
    writeln!(std::io::stdout())?;
    print_words(
        "`mercer list methods NAME` describes one: its settings with their defaults and meanings, what tuning \
         tries, its cost, and whether it has probabilities.",
    )
}

/// Prints the catalogue; for people each licence once, with the datasets that have it.
pub(crate) fn print_datasets(library: &Library, as_json: bool) -> anyhow::Result<()> {
    let listing = datasets(library);
    if as_json {
        return listing.print(true);
    }
    let last = listing.heads.len() - 1;
    let mut licences: Vec<(String, Vec<String>)> = Vec::new();
    for row in &listing.rows {
        let [name, licence] = [0, last].map(|at| row[at].as_str().unwrap_or_default().to_owned());
        match licences.iter_mut().find(|(known, _)| *known == licence) {
            Some((_, names)) => names.push(name),
            None => licences.push((licence, vec![name])),
        }
    }
    let rows: Vec<Vec<Value>> = listing.rows.iter().map(|row| row[..last].to_vec()).collect();
    print_aligned(&listing.heads[..last], &rows)?;
    writeln!(std::io::stdout(), "\nLicences:")?;
    for (licence, names) in licences {
        print_words(&format!("- {licence}: {}", names.join(", ")))?;
    }
    Ok(())
}

/// The catalogue, and where each dataset is found.
fn datasets(library: &Library) -> Listing {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_to_begin_with_are_there() {
        for (name, about) in FIRST {
            let methods = all();
            let method = mercer_learning::find(&methods, name).unwrap();
            assert_eq!(
                about.contains("numbers"),
                method.tasks.name().contains("regression"),
                "{name}"
            );
        }
    }
}
