//! What a reproduction prints and writes.

use crate::Ended;
use crate::papers::args::ReproduceArgs;
use crate::papers::planned::{PAPER, Planned, out, simulate};
use mercer_experiments::catalogue;
use mercer_harness::Summary;
use mercer_learning::counted;
use mercer_records::Store;
use mercer_report::{ArtefactNumbers, RecordSet, RenderContext, Written, write};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

/// What `--json` prints: what `cells.json` has, and the numbers of every artefact.
#[derive(serde::Serialize)]
struct Printed<'a> {
    #[serde(flatten)]
    summary: &'a mercer_report::Summary,
    numbers: &'a [ArtefactNumbers],
}

/// Computes the simulations and measurements that are not recorded, and renders what is. Under a budget those
/// are left out that no record says to fit into what is left of it.
pub(crate) fn show(
    args: &ReproduceArgs,
    planned: &Planned,
    store: &Store,
    missing: &BTreeMap<String, String>,
    until: Option<Instant>,
) -> anyhow::Result<()> {
    for computed in &planned.work.simulations {
        if store.get(&computed.key())?.is_none() {
            let record = planned.archive.get(&computed.key());
            let seconds = record.and_then(|record| record.run.seconds.get("compute"));
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| seconds.is_none_or(|&took| took > left.as_secs_f64())) {
                tracing::info!("left out for want of time: {}; --all computes it", computed.name);
                continue;
            }
            tracing::info!("computing {}, on this machine", computed.name);
        }
        simulate(computed, store)?;
    }
    print(args, &render(args, planned, store, missing)?)
}

/// Renders what this directory has. The archive supplies nothing but the tunings that the keys of the trials rest
/// on, unless it is to be extended.
pub(crate) fn render(
    args: &ReproduceArgs,
    planned: &Planned,
    store: &Store,
    missing: &BTreeMap<String, String>,
) -> anyhow::Result<Written> {
    let Planned { methods, artefacts, selection, archive, .. } = planned;
    let mut records = RecordSet::new();
    records.add_store(store)?;
    records.add_set(archive, !args.extends());
    let context = RenderContext::new(
        catalogue(),
        &records,
        methods,
        &args.narrow.profile,
        selection,
        missing,
    );
    Ok(write(&context, artefacts, &out(args))?)
}

/// Prints the tables of what was named, or all as JSON, and says where the page is.
pub(crate) fn print(args: &ReproduceArgs, written: &Written) -> anyhow::Result<()> {
    for (method, (open, all)) in &written.open {
        tracing::warn!("{method}: not converged in {open} of {all} trials shown");
    }
    let mut stdout = std::io::stdout().lock();
    if args.json {
        let printed = Printed { summary: &written.summary, numbers: &written.numbers };
        serde_json::to_writer_pretty(&mut stdout, &printed)?;
        writeln!(stdout)?;
    } else if !std::io::IsTerminal::is_terminal(&stdout)
        && (!args.narrow.artefacts.is_empty() || args.narrow.profile != PAPER)
    {
        // All of them are thousands of lines, and wider than a terminal: the page has them.
        for table in &written.tables {
            writeln!(stdout, "{}", plain(&table.to_markdown()))?;
        }
    }
    tracing::info!(
        "{} files in {}; open {}",
        written.files,
        out(args).display(),
        written.page.display()
    );
    Ok(())
}

/// Markdown to be read as it stands: without the backslashes before its marks.
fn plain(markdown: &str) -> String {
    let mut plain = String::with_capacity(markdown.len());
    let mut rest = markdown.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' || !rest.peek().is_some_and(char::is_ascii_punctuation) {
            plain.push(c);
        }
    }
    plain
}

/// Exit status 3 outranks 4: a failure needs eyes, missing data needs a download.
pub(crate) fn ended(summary: &Summary) -> Ended {
    for (trial, error) in summary.failed.iter().take(20) {
        eprintln!("failed: {trial}: {error}");
    }
    if !summary.failed.is_empty() {
        let failed = counted(summary.failed.len(), "trial", "trials");
        eprintln!("{failed} failed; add --retry-failed to run them again");
        return Ended::Failed;
    }
    for (dataset, reason) in &summary.missing {
        eprintln!("no data for {dataset}: {reason}");
    }
    if summary.missing.is_empty() { Ended::Done } else { Ended::NoData }
}
