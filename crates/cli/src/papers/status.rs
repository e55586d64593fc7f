//! `mercer status`: how much of each artefact is recorded.

use crate::Ended;
use crate::papers::args::StatusArgs;
use crate::papers::planned::{archive, selection, versions};
use mercer_experiments::{catalogue, plannable};
use mercer_records::{Status, Store};
use serde_json::json;
use std::io::Write;

pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<Ended> {
    let methods = plannable();
    let artefacts = catalogue().select(&args.narrow.artefacts)?;
    let mut selection = selection(&args.narrow);
    let archive = archive(&args.places);
    let all = catalogue().work(&artefacts, &methods, &args.narrow.profile, &selection, &archive)?;
    selection.versions = versions(&all.trials, &args.places)?;
    // A look creates nothing.
    let results = &args.places.results;
    anyhow::ensure!(
        results.is_dir() || !results.exists(),
        "--results {} is a file; name the folder of the records",
        results.display()
    );
    let store = results.is_dir().then(|| Store::open(results)).transpose()?;
    let mut stdout = std::io::stdout().lock();
    let mut lines = Vec::new();
    for artefact in artefacts {
        let work =
            catalogue().work(&[artefact], &methods, &args.narrow.profile, &selection, &archive)?;
        let mut done = 0;
        let mut committed = 0;
        let mut others = 0;
        let mut missing = 0;
        for trial in &work.trials {
            let record = store.as_ref().map(|store| store.get(&trial.key)).transpose()?.flatten();
            let kept = archive.of(trial).is_some();
            committed += usize::from(kept);
            missing += usize::from(record.is_none() && !kept);
            let status = record.map(|record| record.result.status);
            done += usize::from(status == Some(Status::Done));
            others += usize::from(status.is_some_and(|status| status != Status::Done));
        }
        let trials = work.trials.len();
        lines.push(json!({
            "artefact": artefact.id, "profile": args.narrow.profile,
            "trials": trials, "done": done, "without_score": others,
            "to_run": trials - done - others, "committed": committed, "to_extend": missing,
        }));
    }
    if args.json {
        serde_json::to_writer_pretty(&mut stdout, &lines)?;
        writeln!(stdout)?;
    } else {
        writeln!(
            stdout,
            "{:<24} {:>7} {:>7} {:>13} {:>7} {:>10} {:>13}",
            "artefact", "trials", "done", "without score", "to run", "committed", "to --extend"
        )?;
        for line in &lines {
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
    }
    Ok(Ended::Done)
}
