//! `mercer report`: render from records, fit nothing.

use crate::Ended;
use crate::args::ReportArgs;
use mercer_experiments::{Desk, Shelf, registry, select, write};
use mercer_harness::Selection;
use mercer_records::Store;
use std::collections::BTreeMap;

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<Ended> {
    let methods = registry();
    let artefacts = select(&args.artefacts)?;
    let mut shelf = Shelf::new();
    if args.places.results.exists() {
        shelf.add_store(&Store::open(&args.places.results)?)?;
    }
    shelf.add_archive(&args.places.reports.join("records"))?;
    let (selection, missing) = (Selection::default(), BTreeMap::new());
    let desk = Desk::new(&shelf, &methods, &args.profile, &selection, &missing);
    let out = args.out.clone().unwrap_or_else(|| args.places.reports.clone());
    let written = write(&desk, &artefacts, &out)?;
    println!("{}", written.page.display());
    eprintln!("{} files in {}", written.files, out.display());
    if args.open {
        let opened = std::process::Command::new("xdg-open").arg(&written.page).status();
        if !opened.is_ok_and(|status| status.success()) {
            eprintln!("no browser could be opened; open {} yourself", written.page.display());
        }
    }
    Ok(Ended::Done)
}
