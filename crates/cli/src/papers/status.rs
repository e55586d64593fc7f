//! `mercer status`: how much of each artefact is recorded.

use crate::Ended;
use crate::papers::args::StatusArgs;
use crate::papers::planned::{archive, selection, versions};
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Selection, Trial};
use mercer_records::{Status, Store};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<Ended> {
    let methods = plannable();
    let artefacts = catalogue().select(&args.narrow.artefacts)?;
    let mut selection = selection(&args.narrow);
    let archive = archive(&args.places);
    let profile = &args.narrow.profile;
    let plan = |selection: &Selection| {
        catalogue().work(&artefacts, &methods, profile, selection, &archive)
    };
    let mut all = plan(&selection)?;
    selection.versions = versions(&all.trials, &args.places)?;
    if !selection.versions.is_empty() {
        all = plan(&selection)?;
    }
    let recorded = recorded(&args.places.results)?;
    let mut of_study: HashMap<&str, Vec<&Trial>> = HashMap::new();
    for trial in &all.trials {
        of_study.entry(&trial.key.artefact).or_default().push(trial);
    }
    let narrowed = selection != Selection::default();
    let mut lines = Vec::new();
    for artefact in artefacts {
        let wanted = |trial: &&&Trial| {
            artefact.datasets.is_empty() || artefact.datasets.contains(&trial.key.dataset)
        };
        let studies = artefact.studies.iter().filter_map(|name| of_study.get(name.as_str()));
        let (mut trials, mut done, mut committed, mut others, mut missing) = (0, 0, 0, 0, 0);
        for trial in studies.flatten().filter(wanted) {
            let status = recorded.get(&trial.digest).copied();
            let kept = archive.of(trial).is_some();
            trials += 1;
            committed += usize::from(kept);
            missing += usize::from(status.is_none() && !kept);
            done += usize::from(status == Some(Status::Done));
            others += usize::from(status.is_some_and(|status| status != Status::Done));
        }
        // Of an artefact that does not know what was named there is nothing to say.
        if narrowed && trials == 0 {
            continue;
        }
        lines.push(json!({
            "artefact": artefact.id, "profile": profile,
            "trials": trials, "done": done, "without_score": others,
            "to_run": trials - done - others, "committed": committed, "to_extend": missing,
        }));
    }
    if args.json {
        let mut stdout = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut stdout, &lines)?;
        writeln!(stdout)?;
    } else {
        print(&lines)?;
    }
    // The program ends: to free a trial at a time takes longer than all else.
    std::mem::forget(all);
    Ok(Ended::Done)
}

/// How the trials of the results folder ended, by the digests of their keys; a look creates nothing.
fn recorded(results: &Path) -> anyhow::Result<HashMap<String, Status>> {
    anyhow::ensure!(
        results.is_dir() || !results.exists(),
        "--results {} is a file; name the folder of the records",
        results.display()
    );
    let store = results.is_dir().then(|| Store::open(results)).transpose()?;
    Ok(match store {
        None => HashMap::new(),
        Some(store) => {
            let records = store.list()?.records;
            records.into_iter().map(|own| (own.key.digest(), own.result.status)).collect()
        }
    })
}

/// Prints a line an artefact.
fn print(lines: &[Value]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(
        stdout,
        "{:<24} {:>7} {:>7} {:>13} {:>7} {:>10} {:>13}",
        "artefact", "trials", "done", "without score", "to run", "committed", "to --extend"
    )?;
    for line in lines {
        let number = |name: &str| line[name].as_u64().unwrap_or(0);
        writeln!(
            stdout,
            "{:<24} {:>7} {:>7} {:>13} {:>7} {:>10} {:>13}",
            line["artefact"].as_str().unwrap_or_default(),
            number("trials"),
            number("done"),
            number("without_score"),
            number("to_run"),
            number("committed"),
            number("to_extend")
        )?;
    }
    Ok(())
}
