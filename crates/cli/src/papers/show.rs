//! `mercer show` and `mercer why`: one cell, its repeats, and what its records are of.

use crate::Ended;
use crate::papers::WrongUsage;
use crate::papers::args::{CellArgs, Directories, ShowArgs};
use crate::papers::planned::{archive, library, versions};
use anyhow::Context;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Selection, Trial, TuningSource, plan};
use mercer_records::{Key, Likeness, Record, Store, compare, shown_variant};
use mercer_report::{Artefact, CellReport, RecordSet, RenderContext, StudyCell};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;

/// A cell by its name, `askl/table2:tuned:askl:segment`.
struct Named {
    artefact: &'static Artefact,
    variant: String,
    /// Method and dataset, in either order.
    others: [String; 2],
}

impl Named {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let [artefact, variant, first, second] = parts[..] else {
            let problem = format!(
                "`{text}` names no cell; write ARTEFACT:VARIANT:METHOD:DATASET, such as askl/table2:tuned:askl:segment"
            );
            return Err(WrongUsage(problem).into());
        };
        let found = catalogue().select(&[artefact.to_owned()])?;
        let artefact = found.first().copied().context("an artefact")?;
        let others = [first, second].map(str::to_owned);
        Ok(Self { artefact, variant: shown_variant(variant).to_owned(), others })
    }

    fn is(&self, variant: &str, dataset: &str, method: &str) -> bool {
        let [a, b] = &self.others;
        self.variant == variant && ((a == method && b == dataset) || (a == dataset && b == method))
    }
}

/// The cell among those of the studies that its artefact shows.
fn find(context: &RenderContext<'_>, named: &Named) -> anyhow::Result<StudyCell> {
    let mut others: Vec<String> = Vec::new();
    for name in &named.artefact.studies {
        for cell in &context.cells(name)?.1 {
            let Key { variant, dataset, method, .. } = cell.key();
            if named.is(variant, dataset, method) {
                return Ok(cell.clone());
            }
            others.push(format!("{}:{variant}:{method}:{dataset}", named.artefact.id));
        }
    }
    let asked = format!("{}:{}:{}", named.artefact.id, named.variant, named.others.join(":"));
    let near = others.into_iter().min_by_key(|other| strsim::damerau_levenshtein(other, &asked));
    let near = near.map_or_else(
        || format!("{} is made of no trials", named.artefact.id),
        |near| format!("did you mean {near}?"),
    );
    Err(WrongUsage(format!("no cell {asked}; {near}")).into())
}

fn context<'a>(
    records: &'a RecordSet,
    methods: &'a [mercer_learning::Method],
    selection: &'a Selection,
    missing: &'a BTreeMap<String, String>,
) -> RenderContext<'a> {
    RenderContext::new(catalogue(), records, methods, "paper", selection, missing)
}

/// Everything, on the versions of the data that are to be accepted.
fn of_versions(
    named: &Named,
    methods: &[mercer_learning::Method],
    records: &RecordSet,
    places: &Directories,
) -> anyhow::Result<Selection> {
    let mut selection = Selection::default();
    if places.accept_version {
        let planned = catalogue().work(&[named.artefact], methods, "paper", &selection, records)?;
        selection.versions = versions(&planned.trials, places)?;
    }
    Ok(selection)
}

/// The records of the results folder, if there is one.
fn here(places: &Directories) -> anyhow::Result<Option<Store>> {
    Ok(places.results.is_dir().then(|| Store::open(&places.results)).transpose()?)
}

/// Fails where there are no records at all: a cell of none would look like one that was never run.
fn require_records(places: &Directories) -> anyhow::Result<()> {
    if places.results.is_dir() || places.reports.join("records").is_dir() {
        return Ok(());
    }
    let (reports, results) = (places.reports.display(), places.results.display());
    let problem = format!(
        "no records in {reports}/records or {results}: run this in the repository, or name its folder by --reports DIR"
    );
    Err(WrongUsage(problem).into())
}

pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<Ended> {
    if !args.name.contains(':') {
        return tables(args);
    }
    if args.latex {
        let name = args.name.split(':').next().unwrap_or_default();
        let problem =
            format!("--latex writes a table, and `{}` is a cell; write {name}", args.name);
        return Err(WrongUsage(problem).into());
    }
    let named = Named::parse(&args.name)?;
    require_records(&args.places)?;
    let (methods, missing) = (plannable(), BTreeMap::new());
    let committed = archive(&args.places);
    let selection = of_versions(&named, &methods, &committed, &args.places)?;
    let store = here(&args.places)?;
    let mut records = RecordSet::new();
    records.add_set(&committed, false);
    if let Some(store) = &store {
        records.add_store(store)?;
    }
    let context = context(&records, &methods, &selection, &missing);
    let cell = find(&context, &named)?;
    let rendered = named.artefact.render(&context)?;
    let report =
        rendered.cells.iter().find(|own| named.is(&own.variant, &own.dataset, &own.method));
    let mut out = std::io::stdout().lock();
    if args.json {
        let records: Vec<&Record> = cell.records().collect();
        serde_json::to_writer_pretty(
            &mut out,
            &serde_json::json!({ "cell": report, "records": records }),
        )?;
        writeln!(out)?;
        return Ok(Ended::Done);
    }
    let Key { artefact, variant, dataset, method, .. } = cell.key();
    writeln!(out, "{} of {method} on {dataset}, variant {variant}", named.artefact.id)?;
    if let Some(report) = report {
        summary(&mut out, report)?;
    }
    repeats(&mut out, &cell, &args.places, (&records, &committed), store.as_ref())?;
    writeln!(
        out,
        "\nrecords: {}",
        file(&args.places, artefact, committed.get(cell.key()).is_some())
    )?;
    writeln!(
        out,
        "run it again: {} reproduce {} --variant {variant} --method {method} --dataset {dataset} --all",
        crate::program(),
        named.artefact.id
    )?;
    Ok(Ended::Done)
}

/// The tables of an artefact, or of all of a paper, from the records.
fn tables(args: &ShowArgs) -> anyhow::Result<Ended> {
    let chosen = catalogue().select(std::slice::from_ref(&args.name)).map_err(|error| {
        let near = error
            .to_string()
            .split_once("did you mean")
            .map(|(_, rest)| format!("; did you mean{rest}"));
        let hint = near.unwrap_or_else(|| "; `mercer list artefacts` lists them".to_owned());
        WrongUsage(format!("no table or cell `{}`{hint}", args.name))
    })?;
    require_records(&args.places)?;
    let (methods, missing, selection) = (plannable(), BTreeMap::new(), Selection::default());
    let mut records = archive(&args.places);
    if let Some(store) = here(&args.places)? {
        records.add_store(&store)?;
    }
    let context = context(&records, &methods, &selection, &missing);
    let (mut shown, mut cells) = (Vec::new(), Vec::new());
    for artefact in chosen {
        let rendered = artefact.render(&context)?;
        shown.extend(rendered.tables);
        cells.extend(rendered.cells);
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &cells)?;
        writeln!(out)?;
        return Ok(Ended::Done);
    }
    if shown.is_empty() {
        let name = &args.name;
        let problem = format!(
            "{name} has no table; {} reproduce {name} --minutes 0 draws it",
            crate::program()
        );
        return Err(WrongUsage(problem).into());
    }
    for mut table in shown {
        // Second lines are for the page; in print a verdict is one, too.
        for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
            cell.detail = None;
            if args.latex {
                cell.badge = None;
            }
        }
        writeln!(out, "{}", if args.latex { table.to_latex() } else { table.to_markdown() })?;
    }
    Ok(Ended::Done)
}

fn file(places: &Directories, study: &str, committed: bool) -> String {
    if committed {
        let name = format!("{}.parquet", study.replace('/', "-"));
        places.reports.join("records").join(name).display().to_string()
    } else {
        places.results.join(study).display().to_string()
    }
}

fn summary(out: &mut impl Write, report: &CellReport) -> std::io::Result<()> {
    let number =
        |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |v| format!("{v:.2}"));
    writeln!(
        out,
        "{}: {} ± {} over {} repeats; {} {}",
        report.metric,
        number(report.mean),
        number(report.std),
        report.repeats,
        if report.published.is_some() { "the paper has" } else { "planned:" },
        report.repeats_of_paper
    )?;
    if let Some(theirs) = report.published {
        writeln!(out, "published: {:.2} ± {:.2}", theirs.mean, theirs.std)?;
    }
    if let Some(verdict) = &report.verdict {
        let interval = report.interval.map_or_else(String::new, |(low, high)| {
            format!(": ours minus theirs {} ({low:.2} to {high:.2})", number(report.difference))
        });
        writeln!(out, "verdict: {verdict}{interval}")?;
    }
    if let Some(finding) = &report.finding {
        writeln!(out, "why: experiments/findings/{finding}.md")?;
    }
    if let Some(note) = &report.note {
        writeln!(out, "note: {note}")?;
    }
    Ok(())
}

/// The repeats of a cell, with how those of the committed records that were run again came out.
fn repeats(
    out: &mut impl Write,
    cell: &StudyCell,
    places: &Directories,
    (records, committed): (&RecordSet, &RecordSet),
    store: Option<&Store>,
) -> anyhow::Result<()> {
    writeln!(out, "\nrepeat  {:<28}  seconds  chosen settings", "scores")?;
    let mut lacking = 0;
    for trial in cell.trials() {
        match records.of(trial) {
            Some(record) => line(out, record, committed.get(&trial.key), store)?,
            None => lacking += 1,
        }
    }
    if lacking > 0 {
        let (reports, results) = (places.reports.display(), places.results.display());
        writeln!(
            out,
            "{lacking} of {} repeats are not on record in {reports} (--reports) and {results} (--results)",
            cell.trials().count()
        )?;
    }
    Ok(())
}

/// One repeat.
fn line(
    out: &mut impl Write,
    record: &Record,
    committed: Option<&Record>,
    store: Option<&Store>,
) -> anyhow::Result<()> {
    let now = match (committed, store) {
        (Some(_), Some(store)) => store.get(&record.key)?,
        _ => None,
    };
    let again = committed.zip(now.as_ref()).map(|(then, now)| compare(then, now));
    let likeness = again.as_ref().map(|(likeness, detail)| {
        let detail = detail.as_ref().map_or_else(String::new, |detail| format!(" ({detail})"));
        format!("run again here: {likeness}{detail}")
    });
    let repeat = (record.key.repeat + 1).to_string();
    let different = again.is_some_and(|(likeness, _)| likeness == Likeness::Different);
    one(out, &repeat, record, likeness.as_deref())?;
    if let (true, Some(now)) = (different, &now) {
        one(out, "here", now, None)?;
    }
    Ok(())
}

/// Scores, seconds and chosen settings of a record.
fn one(
    out: &mut impl Write,
    name: &str,
    record: &Record,
    more: Option<&str>,
) -> std::io::Result<()> {
    let result = &record.result;
    let mut scores: Vec<String> =
        result.metrics.iter().map(|(name, value)| format!("{name} {value:.4}")).collect();
    if scores.is_empty() {
        scores.push(format!("{:?}, {} points", result.status, result.curve.len()));
    }
    let tuned = result.tuning.iter().flat_map(|tuning| &tuning.chosen);
    let tuned = tuned.map(|(name, value)| format!("{name}={value}"));
    // What a method chose by itself is among its facts.
    let own = result
        .facts
        .iter()
        .filter_map(|(name, value)| Some(format!("{}={value}", name.strip_prefix("chosen-")?)));
    let chosen = tuned.chain(own).collect::<Vec<_>>().join(" ");
    let seconds: f64 = record.run.seconds.values().sum();
    let said = [chosen.as_str(), more.unwrap_or_default()];
    let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
    writeln!(out, "{name:>6}  {:<28}  {seconds:>7.1}  {}", scores.join(", "), said.join("; "))
}

pub(crate) fn why(args: &CellArgs) -> anyhow::Result<Ended> {
    let named = Named::parse(&args.cell)?;
    require_records(&args.places)?;
    let methods = plannable();
    let mut records = archive(&args.places);
    if let Some(store) = here(&args.places)? {
        records.add_store(&store)?;
    }
    let missing = BTreeMap::new();
    let selection = of_versions(&named, &methods, &records, &args.places)?;
    let cell = find(&context(&records, &methods, &selection, &missing), &named)?;
    let Key { artefact, variant, dataset, method, .. } = cell.key();
    let spec = catalogue().study(artefact)?;
    let narrow = Selection {
        variants: vec![variant.clone()],
        datasets: vec![dataset.clone()],
        methods: vec![method.clone()],
        ..selection.clone()
    };
    let trials = plan(&spec, &methods, "paper", &narrow, &|key| records.tuning(key))?;
    let mut out = std::io::stdout().lock();
    let (mut there, mut told) = (0, 0);
    for trial in &trials {
        if records.of(trial).is_some() {
            there += 1;
            continue;
        }
        told += 1;
        if told > 3 {
            continue;
        }
        writeln!(out, "repeat {}: {}", trial.key.repeat + 1, reason(&records, trial))?;
    }
    if told > 3 {
        writeln!(out, "and {} more", told - 3)?;
    }
    writeln!(
        out,
        "{there} of {} trials are on record as planned; {told} are to be computed",
        trials.len()
    )?;
    if let Err(error) = library(&args.places)?.load(dataset) {
        writeln!(out, "nothing of it can be computed here: {error}")?;
        return Ok(Ended::NoData);
    }
    Ok(Ended::Done)
}

/// Why a trial that is planned is not on record.
fn reason(records: &RecordSet, trial: &Trial) -> String {
    let near = records
        .records()
        .filter(|record| of_cell(&record.key, &trial.key))
        .map(|record| differences(&record.key, &trial.key))
        .min_by_key(Vec::len);
    let reason = match near {
        None => "no trial of its cell is on record".to_owned(),
        Some(parts) if parts.is_empty() => "this repeat is not on record".to_owned(),
        Some(parts) => parts.join("; "),
    };
    match &trial.tuning {
        TuningSource::Tuner { archived: None, .. } => {
            format!("{reason}; its settings are to be tuned first")
        }
        _ => reason,
    }
}

fn of_cell(record: &Key, planned: &Key) -> bool {
    record.artefact == planned.artefact
        && record.variant == planned.variant
        && record.dataset == planned.dataset
        && record.method == planned.method
}

/// What of a recorded key is not what is planned.
fn differences(record: &Key, planned: &Key) -> Vec<String> {
    let (then, now) = (serde_json::json!(record), serde_json::json!(planned));
    let mut found = Vec::new();
    compare_values("", &then, &now, &mut found);
    found.retain(|part| !part.starts_with("repeat is "));
    found
}

fn compare_values(name: &str, then: &Value, now: &Value, found: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            let names: std::collections::BTreeSet<&String> =
                then.keys().chain(now.keys()).collect();
            for part in names {
                let of = |map: &serde_json::Map<String, Value>| {
                    map.get(part).cloned().unwrap_or_default()
                };
                let name = if name.is_empty() { part.clone() } else { format!("{name}.{part}") };
                compare_values(&name, &of(then), &of(now), found);
            }
        }
        _ if then != now => found.push(format!("{name} is {then} on record and {now} now")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_named_by_four_parts() {
        let named = Named::parse("askl/table2:tuned:askl:segment").unwrap();
        assert_eq!((named.artefact.id.as_str(), named.variant.as_str()), ("askl/table2", "tuned"));
        assert!(named.is("tuned", "segment", "askl"));
        let swapped = Named::parse("askl/table2:tuned:segment:askl").unwrap();
        assert!(swapped.is("tuned", "segment", "askl"));
        assert!(!named.is("printed", "segment", "askl"));
        for wrong in ["askl/table2", "askl/table2:tuned", "askl/tabel2:tuned:askl:segment"] {
            assert!(Named::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_differs_between_two_keys_is_said_by_its_place() {
        let then = serde_json::json!({ "revision": 1, "settings": { "rate": 0.1, "cap": 5 } });
        let now = serde_json::json!({ "revision": 2, "settings": { "rate": 0.1 } });
        let mut found = Vec::new();
        compare_values("", &then, &now, &mut found);
        assert_eq!(
            found,
            ["revision is 1 on record and 2 now", "settings.cap is 5 on record and null now"]
        );
    }
}
