//! `mercer report`: render from records, fit nothing.

use crate::Ended;
use crate::papers::args::ReportArgs;
use crate::papers::planned::{missing, versions};
use mercer_experiments::{catalogue, plannable};
use mercer_harness::Selection;
use mercer_report::{RecordSet, RenderContext, write};
use std::io::Write;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Ended> {
    let methods = plannable();
    let artefacts = catalogue().select(&args.artefacts)?;
    let mut records = RecordSet::new();
    if args.places.results.exists() {
        records.add_store(&args.places.store()?)?;
    }
    let archive = args.places.reports.join("records");
    if !archive.is_dir() {
        let what =
            format!("--reports {}: no folder `records` in it", args.places.reports.display());
        let results = args.places.results.display();
        anyhow::ensure!(
            args.places.results.exists(),
            "{what}, and --results {results} is not there either; run `mercer reproduce` first, or point one of them at a folder with records"
        );
        tracing::warn!("{what}: only those of {results} are shown");
    }
    records.add_archive(&archive);
    let mut selection = Selection::default();
    let planned = catalogue().work(&artefacts, &methods, &args.profile, &selection, &records)?;
    selection.versions = versions(&planned.trials, &args.places)?;
    let missing = missing(&planned.trials, &args.places)?;
    let context =
        RenderContext::new(catalogue(), &records, &methods, &args.profile, &selection, &missing);
    let out = args.out.clone().unwrap_or_else(|| args.places.reports.clone());
    let written = write(&context, &artefacts, &out)?;
    writeln!(std::io::stdout(), "{}", written.page.display())?;
    tracing::info!("{} files in {}", written.files, out.display());
    if args.open {
        let opened = std::process::Command::new("xdg-open").arg(&written.page).status();
        if !opened.is_ok_and(|status| status.success()) {
            eprintln!("no browser could be opened; open {} yourself", written.page.display());
        }
    }
    Ok(Ended::Done)
}
