use super::args::InfoArgs;
use super::{
    LARGE, adjusted, filled, mebibytes, numbering, plain, print_json, quoted, unconverged, weighed,
};
use crate::Ended;
use mercer_datasets::{Holds, Scaling};
use mercer_learning::{counted, find, one_line};
use mercer_methods::all;
use mercer_workbench::{Header, Model, Origin, solved_at};
use std::collections::BTreeMap;
use std::io::Write;

/// Names shown of a long list.
const SHOWN: usize = 12;

pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<Ended> {
    // A file that is not there is told of by the one that reads it.
    let size = std::fs::metadata(&args.model).map_or(0, |metadata| metadata.len());
    let whole = args.check || size <= LARGE;
    let header =
        if whole { Model::load(&args.model, &all())?.header } else { Header::read(&args.model)? };
    if args.json {
        print_json(&header)?;
    } else {
        let mut stdout = std::io::stdout().lock();
        let checked = if whole {
            "header and arrays"
        } else {
            "header only; the arrays by `predict`, or here with --check"
        };
        let about = [("size", mebibytes(size)), ("checked", checked.to_owned())];
        for (name, value) in lines(&header).into_iter().chain(about) {
            writeln!(stdout, "{name:<14} {}", one_line(&value))?;
        }
    }
    Ok(Ended::Done)
}

fn lines(header: &Header) -> Vec<(&'static str, String)> {
    let numbers = |named: &mut dyn Iterator<Item = (&String, &f64)>| {
        named
            .map(|(name, value)| format!("{name} {}", plain(*value)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let idle = idle(header);
    let mut lines = vec![
        ("method", format!("{}, revision {}", header.method, header.revision)),
        ("task", header.task().name().to_owned()),
        ("target", header.schema.target.name.clone()),
    ];
    lines.extend(prepared(header));
    lines.extend([
        ("data", format!("{} ({})", header.data.file, counted(header.data.rows, "row", "rows"))),
        ("sha256", header.data.sha256.clone()),
        ("settings", settings(header, &idle)),
    ]);
    if !idle.is_empty() {
        lines.push(("unused", format!("{} (they do nothing beside these)", idle.join(", "))));
    }
    lines.extend([
        (
            "tuned",
            header.tuning.as_ref().map_or_else(
                || "no".to_owned(),
                |tuning| format!("yes, {}", counted(tuning.history.len(), "fit", "fits")),
            ),
        ),
        ("seed", format!("{}, {}", header.seed, counted(header.threads, "thread", "threads"))),
        ("convergence", unconverged(header).unwrap_or_else(|| header.convergence.to_string())),
    ]);
    let told = solved_at(&header.facts, header.data.rows);
    lines.extend(told.map(|told| ("solved", told)));
    lines.extend([
        (
            "training",
            format!(
                "{} (on {})",
                numbers(&mut header.training.iter()),
                counted(header.training_rows, "training row", "training rows")
            ),
        ),
        ("facts", numbers(&mut in_units(header).iter())),
        ("format", format!("{}, written by version {}", header.format, header.library)),
    ]);
    lines
}

/// The classes and columns, and what was done to them.
fn prepared(header: &Header) -> Vec<(&'static str, String)> {
    let schema = &header.schema;
    let columns = schema.columns.iter().map(|column| match &column.content {
        Holds::Numbers => quoted(&column.name),
        Holds::Categories { levels, .. } => {
            let count = counted(levels.len(), "category", "categories");
            format!("{} ({count})", quoted(&column.name))
        }
    });
    let mut lines = Vec::new();
    if !schema.target.labels.is_empty() {
        lines.push(("classes", some(schema.target.labels.iter().map(|label| quoted(label)))));
    }
    lines.push(("columns", some(columns)));
    lines.extend(numbering(schema).map(|told| ("numbered", told)));
    if let Some(chosen) = &header.chosen {
        let name = serde_json::to_value(chosen.scaling).unwrap_or_default();
        let zeros = schema.sparse
            && chosen.scaling == Scaling::Standard
            && header.preparation.keeps_zeros();
        let note = if zeros { " (divided by deviations; zeros stay 0)" } else { "" };
        lines.push(("scaled", format!("{}{note}", name.as_str().unwrap_or_default())));
    }
    lines.extend(filled(header).map(|told| ("filled", told)));
    lines.extend(weighed(header).map(|told| ("weights", told)));
    lines.extend(adjusted(header).map(|told| ("adjusted", told)));
    lines
}

/// The facts of a fit, errors in the unit of the target: the fit saw it at deviation 1.
fn in_units(header: &Header) -> BTreeMap<String, f64> {
    let unit = header.preparation.target().map_or(1.0, |standard| standard.deviation);
    let mut facts = header.facts.clone();
    for name in ["leave-one-out", "generalised-cross-validation"] {
        if let Some(error) = facts.get_mut(name) {
            *error *= unit * unit;
        }
    }
    facts
}

/// The settings that do nothing beside the others, where the method is known.
fn idle(header: &Header) -> Vec<&'static str> {
    let methods = all();
    let method = find(&methods, &header.method);
    method.map_or_else(|_| Vec::new(), |method| method.idle(&header.settings, header.task()))
}

/// Name and value of each setting that does anything and where it is from, those that were chosen before the
/// others.
fn settings(header: &Header, idle: &[&str]) -> String {
    let of = |(name, value): (&str, &serde_json::Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let origin = header.origin(name);
        let from = origin.map_or_else(String::new, |origin| format!(" ({})", origin.name()));
        (origin == Some(Origin::Default), format!("{name} {value}{from}"))
    };
    let used = header.settings.iter().filter(|(name, _)| !idle.contains(name));
    let mut all: Vec<(bool, String)> = used.map(of).collect();
    all.sort_by_key(|(default, _)| *default);
    all.into_iter().map(|(_, told)| told).collect::<Vec<_>>().join(", ")
}

fn some(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}
