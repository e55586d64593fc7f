//! `mercer reproduce`: plan, carry out, render.

use crate::Ended;
use crate::papers::WrongUsage;
use crate::papers::again;
use crate::papers::args::{Narrow, Places, ReproduceArgs, Search};
use crate::papers::forecast::{self, costs};
use crate::papers::progress::Bar;
use anyhow::Context;
use mercer_datasets::Library;
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{
    CostModel, Laboratory, Options, Selection, Stop, Summary, Trial, TuningSource, leave,
    run as carry_out,
};
use mercer_learning::{Method, counted};
use mercer_records::{Record, Store, shown_variant};
use mercer_report::{Artefact, ArtefactNumbers, Computed, Desk, Shelf, Work, Written, write};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) fn selection(narrow: &Narrow) -> Selection {
    Selection {
        variants: narrow.variants.iter().map(|name| shown_variant(name).to_owned()).collect(),
        datasets: narrow.datasets.clone(),
        methods: narrow.methods.clone(),
        repeats: narrow.repeats,
        grid: narrow.tuner == Search::Grid,
        ..Selection::default()
    }
}

/// Records of earlier runs: the committed ones, for their tunings.
pub(crate) fn archive(places: &Places) -> Shelf {
    let mut shelf = Shelf::new();
    shelf.add_archive(&places.reports.join("records"));
    shelf
}

/// Where data is found.
pub(crate) fn library(places: &Places) -> anyhow::Result<Library> {
    Ok(Library::discover(places.data.as_deref())?.accept_version(places.accept_version))
}

/// Fingerprints of the data found for some planned trials, where it may differ from what their
/// keys say: data of another version, and data of which the catalogue has no fingerprint. Data
/// that cannot be loaded is left to its trials.
pub(crate) fn versions(
    trials: &[Trial],
    places: &Places,
) -> anyhow::Result<BTreeMap<String, String>> {
    let library = library(places)?;
    let planned: BTreeMap<&str, &str> = trials
        .iter()
        .map(|trial| (trial.key.dataset.as_str(), trial.key.fingerprint.as_str()))
        .collect();
    Ok(planned
        .into_iter()
        .filter(|(_, fingerprint)| places.accept_version || fingerprint.is_empty())
        .filter_map(|(name, fingerprint)| {
            let found = library.load(name).ok()?;
            (found.fingerprint != fingerprint).then_some((found.name, found.fingerprint))
        })
        .collect())
}

/// Datasets of these trials that cannot be used, each with the reason: their cells say so, rather than that nobody
/// has run them.
pub(crate) fn missing(
    trials: &[Trial],
    places: &Places,
) -> anyhow::Result<BTreeMap<String, String>> {
    let library = library(places)?;
    let datasets: BTreeSet<&str> = trials.iter().map(|trial| trial.key.dataset.as_str()).collect();
    let reason = |name: &str| library.check(name).err().map(|error| error.to_string());
    Ok(datasets.into_iter().filter_map(|name| Some((name.to_owned(), reason(name)?))).collect())
}

/// What a command line asks for, planned.
pub(crate) struct Planned {
    pub methods: Vec<Method>,
    pub artefacts: Vec<&'static Artefact>,
    pub selection: Selection,
    pub archive: Shelf,
    pub work: Work,
    /// Trials that the archive has, left out of the work.
    pub committed: usize,
}

/// Plans; `known` are the data versions that an earlier plan found.
pub(crate) fn planned(
    args: &ReproduceArgs,
    known: Option<&BTreeMap<String, String>>,
) -> anyhow::Result<Planned> {
    planned_from(args, known, archive(&args.places))
}

/// The same trials and more, without what is committed of their fits: `--extend` leaves nothing out.
pub(crate) fn planned_from_tunings(
    args: &ReproduceArgs,
    known: &BTreeMap<String, String>,
) -> anyhow::Result<Planned> {
    let mut tunings = Shelf::new();
    tunings.add_archived_tunings(&args.places.reports.join("records"))?;
    planned_from(args, Some(known), tunings)
}

fn planned_from(
    args: &ReproduceArgs,
    known: Option<&BTreeMap<String, String>>,
    archive: Shelf,
) -> anyhow::Result<Planned> {
    let methods = plannable();
    let artefacts = catalogue().select(&args.narrow.artefacts)?;
    let mut selection = selection(&args.narrow);
    let plan = |selection: &Selection| {
        catalogue().work(&artefacts, &methods, &args.narrow.profile, selection, &archive)
    };
    let mut work = if let Some(known) = known {
        selection.versions.clone_from(known);
        plan(&selection)?
    } else {
        let work = plan(&selection)?;
        selection.versions = versions(&work.trials, &args.places)?;
        if selection.versions.is_empty() { work } else { plan(&selection)? }
    };
    let searched = |trial: &Trial| matches!(&trial.tuning, TuningSource::Tuner { tuner, .. } if tuner.grid.is_some());
    if selection.grid && !work.trials.iter().any(searched) {
        return Err(WrongUsage(
            "--tuner grid: no method of what was named is tuned over a grid in print; those of askl/table2 are, under --profile paper".to_owned(),
        )
        .into());
    }
    // Times, and simulations of minutes, prove no pipe.
    if args.narrow.profile == "smoke" {
        let took = |own: &Computed| {
            archive.get(&own.key()).and_then(|record| record.run.seconds.get("compute")).copied()
        };
        work.computed.retain(|own| !own.measures && took(own).is_none_or(|seconds| seconds < 10.0));
    }
    // Nor are measurements part of a paper's quick profile, which they would make ten times as long.
    if args.narrow.profile == "quick" && !args.narrow.artefacts.is_empty() {
        let named = |artefact: &&Artefact| {
            let folder = artefact.id.split('/').next();
            args.narrow.artefacts.iter().any(|name| *name == artefact.id || Some(&**name) == folder)
        };
        let asked: Vec<&str> = artefacts
            .iter()
            .copied()
            .filter(named)
            .flat_map(|a| &a.simulations)
            .map(String::as_str)
            .collect();
        work.computed.retain(|own| !own.measures || asked.contains(&own.name));
    }
    let committed = if args.extend { work.leave_out(&archive, args.retry_failed) } else { 0 };
    Ok(Planned { methods, artefacts, selection, archive, work, committed })
}

/// Whether a simulation runs: it looks at no clock and writes nothing before its end.
static SIMULATING: AtomicBool = AtomicBool::new(false);

/// Computes a simulation, unless it is there.
pub(crate) fn simulate(simulation: &Computed, store: &Store) -> anyhow::Result<Record> {
    SIMULATING.store(true, Ordering::Relaxed);
    let record = simulation.ensure(store, env!("MERCER_CODE"));
    SIMULATING.store(false, Ordering::Relaxed);
    Ok(record?)
}

/// A laboratory that Ctrl-C, or a signal to end, stops.
pub(crate) fn laboratory<'a>(
    args: &ReproduceArgs,
    methods: &'a [Method],
    store: &Store,
) -> anyhow::Result<Laboratory<'a>> {
    let stop = Stop::default();
    let asked = stop.clone();
    ctrlc::set_handler(move || {
        if SIMULATING.load(Ordering::Relaxed) {
            eprintln!(
                "interrupted; the simulation is dropped, what was run before is kept. To go on: {}",
                super::typed()
            );
            leave(130);
        }
        if asked.interrupted() {
            leave(130);
        }
        // On a terminal the bar stands in the line.
        let line = if std::io::IsTerminal::is_terminal(&std::io::stderr()) { "\n" } else { "" };
        eprintln!("{line}stopping: trials in flight are dropped, finished ones are written");
        asked.ask();
    })
    .context("cannot install the handler of Ctrl-C")?;
    let library = library(&args.places)?;
    Ok(Laboratory::new(methods, library, store.clone(), stop)
        .with_paths(catalogue().curves())
        .with_code(env!("MERCER_CODE"))
        .checkpoints_every(Duration::from_secs(args.checkpoint_every.into())))
}

/// Trials side by side.
pub(crate) fn jobs(args: &ReproduceArgs) -> usize {
    args.jobs
        .map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

/// Where tables and figures go: a part never takes the place of the whole.
pub(crate) fn out(args: &ReproduceArgs) -> PathBuf {
    let folder = if args.narrow.is_whole() { "report" } else { "part" };
    args.out.clone().unwrap_or_else(|| args.places.results.join(folder))
}

/// Minutes of a reproduction that names none.
const MINUTES: f64 = 15.0;

impl ReproduceArgs {
    /// The time that it may take, if that is limited: a profile that is cut anyway runs whole, and so does
    /// whatever extends the reference.
    fn budget(&self) -> Option<Duration> {
        let whole = self.all || self.extend || self.narrow.profile != PAPER;
        let minutes = self.minutes.or((!whole).then_some(MINUTES));
        minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes))
    }

    /// Whether the committed records are shown and run again: at least a tenth of the trials must be there.
    fn again(&self, planned: &Planned) -> bool {
        if self.fresh || self.extend || self.narrow.profile != PAPER {
            return false;
        }
        let Planned { work, archive, .. } = planned;
        let trials = work.trials.iter().filter(|trial| archive.of(trial).is_some()).count();
        let computed = work.computed.iter().filter(|own| archive.get(&own.key()).is_some()).count();
        let (recorded, all) = (trials + computed, work.trials.len() + work.computed.len());
        let enough = 10 * recorded >= all;
        if !enough {
            tracing::info!(
                "{recorded} of {all} trials are on record in {}: every table is built from what is run here, as by --fresh",
                self.places.reports.display()
            );
        }
        enough
    }
}

/// The profile that the committed records are of.
const PAPER: &str = "paper";

pub(crate) fn run(args: &ReproduceArgs, quiet: bool) -> anyhow::Result<Ended> {
    let mut planned = planned(args, None)?;
    let budget = args.budget();
    if !args.dry_run && args.again(&planned) {
        return again::run(args, planned, budget, quiet);
    }
    let costs = costs(&args.places, &planned.archive, &planned.methods)?;
    if args.dry_run {
        return forecast::run(args, &planned, &costs);
    }
    if planned.committed > 0 {
        let (committed, place) = (planned.committed, args.places.reports.display());
        tracing::info!("{committed} trials are recorded in {place}");
    }
    costs.model.predict_costs(&mut planned.work.trials);
    let store = args.places.store()?;
    let laboratory = laboratory(args, &planned.methods, &store)?;
    let until = budget.map(|time| Instant::now() + time);
    if let Some(until) = until {
        cheapest_first(&mut planned.work.trials, costs.model.records >= CostModel::FEWEST);
        laboratory.stop.at(until);
    }
    let options =
        Options { jobs: jobs(args), shard: args.shard, retry_failed: args.retry_failed, until };
    let bar = Bar::new(quiet, budget);
    let lacking = missing(&planned.work.trials, &args.places)?;
    let page = || render(args, &planned, &store, &lacking);
    tracing::info!("every table from what is run here: open {}", page()?.page.display());
    let work = || carry_out(&planned.work.trials, &laboratory, &options, &bar);
    let summary = bar.beside(work, page)?;
    if summary.interrupted {
        eprintln!(
            "interrupted; {} trials are recorded. To go on: {}",
            summary.recorded + summary.carried_out,
            super::typed()
        );
        return Ok(Ended::Interrupted);
    }
    let left = summary.trials - summary.recorded - summary.carried_out;
    if let Some(time) = budget
        && left > 0
        && summary.missing.is_empty()
    {
        tracing::info!(
            "{left} of {} trials did not fit into {}; the same command goes on, and --all runs all of them",
            summary.trials,
            again::minutes(time)
        );
    }
    drop(laboratory);
    show(args, &planned, &store, &summary.missing, until)?;
    Ok(ended(&summary))
}

/// The cheapest trial of each cell, then the second cheapest, and so on. Costs that no record tells are good for an
/// order, and for nothing else.
fn cheapest_first(trials: &mut Vec<Trial>, known: bool) {
    let mut cells: HashMap<[String; 4], usize> = HashMap::new();
    trials.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    let mut ranked: Vec<(usize, Trial)> = std::mem::take(trials)
        .into_iter()
        .map(|trial| {
            let rank = cells.entry(cell_of(&trial)).or_default();
            *rank += 1;
            (*rank, trial)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    trials.extend(
        ranked
            .into_iter()
            .map(|(_, trial)| Trial { weight: if known { trial.weight } else { 0.0 }, ..trial }),
    );
}

/// What names the cell of a trial.
pub(crate) fn cell_of(trial: &Trial) -> [String; 4] {
    let key = &trial.key;
    [&key.artefact, &key.variant, &key.dataset, &key.method].map(Clone::clone)
}

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
    for computed in &planned.work.computed {
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
fn render(
    args: &ReproduceArgs,
    planned: &Planned,
    store: &Store,
    missing: &BTreeMap<String, String>,
) -> anyhow::Result<Written> {
    let Planned { methods, artefacts, selection, archive, .. } = planned;
    let mut shelf = Shelf::new();
    shelf.add_store(store)?;
    shelf.add_shelf(archive, !args.extend);
    let desk = Desk::new(catalogue(), &shelf, methods, &args.narrow.profile, selection, missing);
    Ok(write(&desk, artefacts, &out(args))?)
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
    } else if !args.narrow.artefacts.is_empty() || args.narrow.profile != PAPER {
        // All of them are thousands of lines: the page has them.
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
