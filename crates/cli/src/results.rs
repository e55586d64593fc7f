//! `mercer results`: compact, merge, export, diff.

use crate::Ended;
use crate::args::ResultsCommand;
use anyhow::Context;
use mercer_records::{Record, Store};
use mercer_render::frame;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

pub(crate) fn run(command: &ResultsCommand) -> anyhow::Result<Ended> {
    match command {
        ResultsCommand::Compact { results, into } => compact(results, into),
        ResultsCommand::Merge { from, results } => merge(from, results),
        ResultsCommand::Export { results, json } => export(results, *json),
        ResultsCommand::Diff { a, b } => diff(a, b),
    }
}

fn records(folder: &Path) -> anyhow::Result<Vec<Record>> {
    anyhow::ensure!(folder.is_dir(), "no record directory at {}", folder.display());
    let listing = Store::open(folder)?.list()?;
    Ok(listing.records)
}

/// One Parquet file a study; what a file has already and the directory has not, stays.
fn compact(results: &Path, into: &Path) -> anyhow::Result<Ended> {
    let mut studies: BTreeMap<String, BTreeMap<String, Record>> = BTreeMap::new();
    for record in records(results)? {
        let study = studies.entry(record.key.artefact.clone()).or_default();
        study.insert(record.key.digest(), record);
    }
    std::fs::create_dir_all(into).with_context(|| format!("cannot create {}", into.display()))?;
    for (study, mut records) in studies {
        let path = into.join(format!("{}.parquet", study.replace('/', "-")));
        if path.exists() {
            for record in frame::from_frame(&frame::read_parquet(&path)?, None)? {
                records.entry(record.key.digest()).or_insert(record);
            }
        }
        let records: Vec<Record> = records.into_values().collect();
        frame::write_parquet(&frame::to_frame(&records)?, &path)?;
        let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
        writeln!(
            std::io::stdout(),
            "{}: {} records, {} kB",
            path.display(),
            records.len(),
            bytes.div_ceil(1000)
        )?;
    }
    Ok(Ended::Done)
}

fn merge(from: &[std::path::PathBuf], results: &Path) -> anyhow::Result<Ended> {
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

fn export(results: &Path, as_json: bool) -> anyhow::Result<Ended> {
    let mut stdout = std::io::stdout().lock();
    let records = records(results)?;
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

/// Compares results, not timings: trials in one directory only, and trials with other results.
fn diff(a: &Path, b: &Path) -> anyhow::Result<Ended> {
    let named = |folder: &Path| -> anyhow::Result<BTreeMap<String, Record>> {
        Ok(records(folder)?.into_iter().map(|record| (record.key.digest(), record)).collect())
    };
    let (ours, theirs) = (named(a)?, named(b)?);
    let mut differences = 0;
    for (digest, record) in &ours {
        match theirs.get(digest) {
            None => writeln!(std::io::stdout(), "only in {}: {}", a.display(), name(record))?,
            Some(other) if other.result_sha256 != record.result_sha256 => {
                writeln!(std::io::stdout(), "differs: {}", name(record))?;
            }
            Some(_) => continue,
        }
        differences += 1;
    }
    for record in theirs.iter().filter(|(digest, _)| !ours.contains_key(*digest)) {
        writeln!(std::io::stdout(), "only in {}: {}", b.display(), name(record.1))?;
        differences += 1;
    }
    tracing::info!("{} and {} records, {differences} differences", ours.len(), theirs.len());
    Ok(if differences == 0 { Ended::Done } else { Ended::Failed })
}
