//! What a command line asks for: trials and simulations, the records there are, and what runs them.

use crate::papers::WrongUsage;
use crate::papers::args::{Directories, Filter, ReproduceArgs, Search};
use anyhow::Context;
use mercer_datasets::{Catalogue, Library};
use mercer_experiments::{catalogue, plannable};
use mercer_harness::{Runner, Selection, Stop, Trial, TuningSource, leave};
use mercer_learning::{Method, Tasks, find};
use mercer_records::{Record, Store, shown_variant};
use mercer_report::{Artefact, RecordSet, Simulation, Work};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) fn selection(narrow: &Filter) -> Selection {
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
pub(crate) fn archive(places: &Directories) -> RecordSet {
    let mut records = RecordSet::new();
    records.add_archive(&places.reports.join("records"));
    records
}

/// Where data is found.
pub(crate) fn library(places: &Directories) -> anyhow::Result<Library> {
    Ok(Library::discover(places.data.as_deref())?.accept_version(places.accept_version))
}

/// Fingerprints of the data found for some planned trials, where it may differ from what their
/// keys say: data of another version, and data of which the catalogue has no fingerprint. Data
/// that cannot be loaded is left to its trials.
pub(crate) fn versions(
    trials: &[Trial],
    places: &Directories,
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
    places: &Directories,
) -> anyhow::Result<BTreeMap<String, String>> {
    let library = library(places)?;
    let datasets: BTreeSet<&str> = trials.iter().map(|trial| trial.key.dataset.as_str()).collect();
    let reason = |name: &str| library.check(name).err().map(|error| error.to_string());
    Ok(datasets.into_iter().filter_map(|name| Some((name.to_owned(), reason(name)?))).collect())
}

/// Whether a dataset is not here, and a subset of it stands in its place.
pub(crate) fn stood_in_for(dataset: &str, lacking: &BTreeMap<String, String>) -> bool {
    let stands_in = |entry: &mercer_datasets::Entry| {
        entry.subset_of.as_deref() == Some(dataset) && !lacking.contains_key(&entry.name)
    };
    lacking.contains_key(dataset) && Catalogue::builtin().entries().iter().any(stands_in)
}

/// What a command line asks for, planned.
pub(crate) struct Planned {
    pub methods: Vec<Method>,
    pub artefacts: Vec<&'static Artefact>,
    pub selection: Selection,
    pub archive: RecordSet,
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
    let mut tunings = RecordSet::new();
    tunings.add_archived_tunings(&args.places.reports.join("records"))?;
    planned_from(args, Some(known), tunings)
}

fn planned_from(
    args: &ReproduceArgs,
    known: Option<&BTreeMap<String, String>>,
    archive: RecordSet,
) -> anyhow::Result<Planned> {
    let methods = plannable();
    let artefacts = catalogue().select(&args.narrow.artefacts)?;
    let mut selection = selection(&args.narrow);
    if !args.add.is_empty() {
        join(&mut selection, &args.add, &artefacts, &methods)?;
    }
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
    leave_simulations(&mut work.simulations, &args.narrow, &artefacts, &archive);
    let committed = if args.extends() { work.leave_out(&archive, args.retry_failed) } else { 0 };
    if !args.add.is_empty() {
        leave_to_join(&mut work.trials, &args.add);
    }
    Ok(Planned { methods, artefacts, selection, archive, work, committed })
}

/// Leaves out the simulations and measurements that a short profile has no time for.
fn leave_simulations(
    simulations: &mut Vec<&'static Simulation>,
    narrow: &Filter,
    artefacts: &[&Artefact],
    archive: &RecordSet,
) {
    // Times, and simulations of minutes, prove no pipe.
    if narrow.profile == "smoke" {
        let took = |own: &Simulation| {
            archive.get(&own.key()).and_then(|record| record.run.seconds.get("compute")).copied()
        };
        simulations.retain(|own| !own.measures && took(own).is_none_or(|seconds| seconds < 10.0));
    }
    // Nor are measurements part of a paper's quick profile, which they would make ten times as long.
    if narrow.profile == "quick" && !narrow.artefacts.is_empty() {
        let named = |artefact: &&Artefact| {
            let folder = artefact.id.split('/').next();
            narrow.artefacts.iter().any(|name| *name == artefact.id || Some(&**name) == folder)
        };
        let asked: Vec<&str> = artefacts
            .iter()
            .copied()
            .filter(named)
            .flat_map(|a| &a.simulations)
            .map(String::as_str)
            .collect();
        simulations.retain(|own| !own.measures || asked.contains(&own.name));
    }
}

/// Leaves the trials of the methods that join, on the datasets that are ranked.
fn leave_to_join(trials: &mut Vec<Trial>, methods: &[String]) {
    // A dataset on which other methods have no record is not ranked yet.
    let joins = |trial: &Trial| methods.contains(&trial.key.method);
    let lacking: BTreeSet<String> = trials
        .iter()
        .filter(|trial| !joins(trial))
        .map(|trial| trial.key.dataset.clone())
        .collect();
    trials.retain(joins);
    // Without any committed record all are run.
    if trials.iter().any(|trial| !lacking.contains(&trial.key.dataset)) {
        trials.retain(|trial| !lacking.contains(&trial.key.dataset));
    }
}

/// The study of the leaderboard.
const BOARD: &str = "leaderboard/board";

/// Lets methods join the leaderboard.
fn join(
    selection: &mut Selection,
    names: &[String],
    artefacts: &[&Artefact],
    methods: &[Method],
) -> anyhow::Result<()> {
    if artefacts.iter().any(|artefact| artefact.id != BOARD) {
        let problem = format!(
            "--add is for the leaderboard: {} reproduce leaderboard --add {}",
            crate::program(),
            names.join(" --add ")
        );
        return Err(WrongUsage(problem).into());
    }
    if !selection.variants.is_empty() {
        let problem = "--add has its trials in the first variant; leave --variant out".to_owned();
        return Err(WrongUsage(problem).into());
    }
    let spec = catalogue().study(BOARD)?;
    let there = |name: &String| {
        spec.variants.iter().flat_map(|own| &own.methods).any(|own| own.name == *name)
    };
    for name in names {
        if there(name) {
            return Err(WrongUsage(format!("`{name}` is on the leaderboard")).into());
        }
        let found = find(methods, name).map_err(|error| WrongUsage(error.to_string()))?;
        if found.tasks == Tasks::Regression {
            let problem =
                format!("`{name}` predicts numbers, and the leaderboard's datasets have classes");
            return Err(WrongUsage(problem).into());
        }
    }
    selection.guests.insert(BOARD.to_owned(), names.to_vec());
    Ok(())
}

/// Whether a simulation runs: it looks at no clock and writes nothing before its end.
static SIMULATING: AtomicBool = AtomicBool::new(false);

/// Computes a simulation, unless it is there.
pub(crate) fn simulate(simulation: &Simulation, store: &Store) -> anyhow::Result<Record> {
    SIMULATING.store(true, Ordering::Relaxed);
    let record = simulation.ensure(store, env!("MERCER_CODE"));
    SIMULATING.store(false, Ordering::Relaxed);
    Ok(record?)
}

/// A runner that Ctrl-C, or a signal to end, stops.
pub(crate) fn runner<'a>(
    args: &ReproduceArgs,
    methods: &'a [Method],
    store: &Store,
) -> anyhow::Result<Runner<'a>> {
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
    Ok(Runner::new(methods, library, store.clone(), stop)
        .with_curve_trials(catalogue().curves())
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
    let folder = match args.narrow.is_whole() {
        false => "part",
        true if args.fresh => "fresh",
        true => "report",
    };
    args.out.clone().unwrap_or_else(|| args.places.results.join(folder))
}

/// What names the cell of a trial.
pub(crate) fn cell_of(trial: &Trial) -> [String; 4] {
    let key = &trial.key;
    [&key.artefact, &key.variant, &key.dataset, &key.method].map(Clone::clone)
}

/// The profile that the committed records are of.
pub(crate) const PAPER: &str = "paper";
