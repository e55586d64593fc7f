//! `mercer results`: compact, merge, export, diff.

use crate::Ended;
use crate::papers::args::ResultsCommand;
use anyhow::Context;
use mercer_experiments::plannable;
use mercer_records::{Record, Store};
use mercer_render::frame;
use mercer_report::{ReachableKeys, RecordSet};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(command: &ResultsCommand) -> anyhow::Result<Ended> {
    match command {
        ResultsCommand::Compact { results, into, current } => compact(results, into, *current),
        ResultsCommand::Merge { from, results } => merge(from, results),
        ResultsCommand::Export { results, json, current } => export(results, *json, *current),
        ResultsCommand::Diff { a, b } => diff(a, b),
    }
}

/// What a folder holds: single records, and those of the Parquet files that `compact` leaves.
fn records(folder: &Path) -> anyhow::Result<Vec<Record>> {
    anyhow::ensure!(
        folder.is_dir(),
        "no record directory at {}; name one that exists, or let `mercer reproduce` write one",
        folder.display()
    );
    let mut records = Store::open(folder)?.list()?.records;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    files.sort();
    for path in files {
        let read = || frame::from_frame(&frame::read_parquet(&path)?, None);
        let archived = read().with_context(|| format!("{} holds no records", path.display()))?;
        records.extend(archived);
    }
    Ok(records)
}

/// One Parquet file a study; what a file has already and the directory has not, stays. Only `current`
/// drops what nothing asks for.
fn compact(results: &Path, into: &Path, current: bool) -> anyhow::Result<Ended> {
    let mut studies: BTreeMap<String, BTreeMap<String, Record>> = BTreeMap::new();
    for record in records(results)? {
        let study = studies.entry(record.key.artefact.clone()).or_default();
        study.insert(record.key.digest(), record);
    }
    std::fs::create_dir_all(into).with_context(|| format!("cannot create {}", into.display()))?;
    let place = |study: &str| into.join(format!("{}.parquet", study.replace('/', "-")));
    for (study, records) in &mut studies {
        let path = place(study);
        if path.exists() {
            for record in frame::from_frame(&frame::read_parquet(&path)?, None)? {
                records.entry(record.key.digest()).or_insert(record);
            }
        }
    }
    let asked = asked_for(studies.values().flat_map(BTreeMap::values))?;
    for (study, records) in studies {
        let path = place(&study);
        let mut records: Vec<Record> = records.into_values().collect();
        let all = records.len();
        let left = records.iter().filter(|record| !asked.includes(&record.key)).count();
        if current {
            records.retain(|record| asked.includes(&record.key));
        }
        let note = match (left, current) {
            (0, _) => String::new(),
            (left, true) => format!(", {left} that nothing asks for dropped"),
            (left, false) => {
                format!(", {left} that nothing asks for among them (--current drops them)")
            }
        };
        if records.is_empty() && all > 0 {
            eprintln!("{study}: nothing asks for any of {all} records, {} stays", path.display());
            continue;
        }
        frame::write_parquet(&frame::to_frame(&records)?, &path)?;
        let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
        writeln!(
            std::io::stdout(),
            "{}: {} records, {} kB{note}",
            path.display(),
            records.len(),
            bytes.div_ceil(1000)
        )?;
    }
    Ok(Ended::Done)
}

/// What the studies ask for, given the tunings and the versions of the data that some records have.
fn asked_for<'a>(records: impl Iterator<Item = &'a Record>) -> anyhow::Result<ReachableKeys> {
    let mut set = RecordSet::new();
    set.add(records.cloned());
    Ok(ReachableKeys::of(mercer_experiments::catalogue(), &set, &plannable())?)
}

fn merge(from: &[PathBuf], results: &Path) -> anyhow::Result<Ended> {
    let store = Store::open(results)?;
    let (mut copied, mut same, mut differing) = (0, 0, Vec::new());
    for folder in from {
        for record in records(folder)? {
            match store.get(&record.key)? {
                Some(own) if own.result_sha256 == record.result_sha256 => same += 1,
                Some(_) => differing.push(store.path(&record.key)),
                None => {
                    store.put(&record)?;
                    copied += 1;
                }
            }
        }
    }
    writeln!(
        std::io::stdout(),
        "{copied} records copied, {same} were there, {} differ",
        differing.len()
    )?;
    for path in &differing {
        eprintln!("differs, kept as it was: {}", path.display());
    }
    Ok(if differing.is_empty() { Ended::Done } else { Ended::Failed })
}

fn export(results: &Path, as_json: bool, current: bool) -> anyhow::Result<Ended> {
    let mut stdout = std::io::stdout().lock();
    let mut records = records(results)?;
    if current {
        let asked = asked_for(records.iter())?;
        records.retain(|record| asked.includes(&record.key));
    }
    if as_json {
        for record in &records {
            serde_json::to_writer(&mut stdout, record)?;
            writeln!(stdout)?;
        }
    } else {
        stdout.write_all(frame::csv(&frame::to_frame(&records)?)?.as_bytes())?;
    }
    Ok(Ended::Done)
}

/// How a trial is called where records are compared.
pub(crate) fn name(record: &Record) -> String {
    let key = &record.key;
    format!(
        "{} {} {} {} repeat {}",
        key.artefact,
        key.variant,
        key.dataset,
        key.method,
        key.repeat + 1
    )
}

/// Compares results, not timings: trials in one directory only, and trials with other results. The exit
/// status is the answer, also to a reader who has closed the pipe.
fn diff(a: &Path, b: &Path) -> anyhow::Result<Ended> {
    let named = |folder: &Path| -> anyhow::Result<BTreeMap<String, Record>> {
        Ok(records(folder)?.into_iter().map(|record| (record.key.digest(), record)).collect())
    };
    let (ours, theirs) = (named(a)?, named(b)?);
    let only = |folder: &Path, record| format!("only in {}: {}", folder.display(), name(record));
    let mut differences = Vec::new();
    for (digest, record) in &ours {
        match theirs.get(digest) {
            None => differences.push(only(a, record)),
            Some(other) if other.result_sha256 != record.result_sha256 => {
                differences.push(format!("differs: {}", name(record)));
            }
            Some(_) => {}
        }
    }
    let theirs_only = theirs.iter().filter(|(digest, _)| !ours.contains_key(*digest));
    differences.extend(theirs_only.map(|(_, record)| only(b, record)));
    let mut stdout = std::io::stdout().lock();
    for line in &differences {
        match writeln!(stdout, "{line}") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
            written => written?,
        }
    }
    let (here, there) = (ours.len(), theirs.len());
    tracing::info!("{here} and {there} records, {} differences", differences.len());
    Ok(if differences.is_empty() { Ended::Done } else { Ended::Failed })
}
