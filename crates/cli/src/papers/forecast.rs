//! `mercer reproduce --dry-run`: hours, memory and trials, before anything runs.

use crate::Ended;
use crate::papers::args::{Directories, ReproduceArgs};
use crate::papers::planned::Planned;
use mercer_experiments::catalogue;
use mercer_harness::{CostModel, Forecast, reference_seconds};
use mercer_learning::Method;
use mercer_records::{Record, Status, Store};
use mercer_report::{Artefact, RecordSet, Simulation};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// A cost model, and what has run besides the committed records.
pub(crate) struct Costs {
    pub model: CostModel,
    /// The records of the record directory.
    pub recorded: Vec<Record>,
}

/// Learns from the committed records and from those of the record directory, for a machine of these
/// [`mercer_harness::reference_seconds`]; creates nothing.
pub(crate) fn costs(
    places: &Directories,
    archive: &RecordSet,
    methods: &[Method],
) -> anyhow::Result<Costs> {
    let recorded = if places.results.is_dir() {
        Store::open(&places.results)?.list()?.records
    } else {
        Vec::new()
    };
    let model = CostModel::fit(archive.records().chain(&recorded), methods, reference_seconds());
    Ok(Costs { model, recorded })
}

/// What simulations and measurements take, that are no trials: whoever renders computes them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Computing {
    /// Those that are not recorded.
    pub count: usize,
    /// What they took when they were committed, on this machine.
    pub seconds: f64,
    /// Those that were never recorded, and count for nothing.
    pub unknown: usize,
}

impl Computing {
    /// One line, for a reader.
    pub(crate) fn line(&self) -> String {
        let unknown = match self.unknown {
            0 => String::new(),
            count => format!(", {count} of them never timed"),
        };
        format!(
            "{} simulations and measurements to compute besides, {:.2} hours as last recorded{unknown}: computed on \
             one core before the tables are rendered",
            self.count,
            self.seconds / 3600.0
        )
    }
}

impl Costs {
    /// What of these is to be computed, and for how long.
    pub(crate) fn computing(&self, computed: &[&Simulation], archive: &RecordSet) -> Computing {
        let mut found = Computing::default();
        for computed in computed {
            let key = computed.key();
            if self.recorded.iter().any(|record| record.key == key) {
                continue;
            }
            found.count += 1;
            // An older revision is better than nothing.
            let like = |record: &&Record| {
                record.key.artefact == key.artefact && record.key.method == key.method
            };
            let known = archive.get(&key).or_else(|| archive.records().find(like));
            match known.and_then(|record| record.run.seconds.get("compute")) {
                Some(seconds) => found.seconds += seconds * self.model.machine_factor(),
                None => found.unknown += 1,
            }
        }
        found
    }

    /// Digests of the keys that need no further work.
    pub(crate) fn recorded(&self, retry_failed: bool) -> BTreeSet<String> {
        let settled = |record: &&Record| {
            !retry_failed || matches!(record.result.status, Status::Done | Status::Diverged)
        };
        self.recorded.iter().filter(settled).map(|record| record.key.digest()).collect()
    }
}

/// Prints what is to run, artefact by artefact.
pub(crate) fn run(args: &ReproduceArgs, planned: &Planned, costs: &Costs) -> anyhow::Result<Ended> {
    let Planned { methods, artefacts, selection, archive, .. } = planned;
    let profile = &args.narrow.profile;
    let recorded = costs.recorded(args.retry_failed);
    let run: BTreeSet<&str> = planned.work.trials.iter().map(|t| t.digest.as_str()).collect();
    let of = |artefacts: &[&Artefact]| {
        // A selection made for one study may name what another does not have.
        let mut work =
            catalogue().work(artefacts, methods, profile, selection, archive).unwrap_or_default();
        // What the whole leaves to those who name it, a part of it does not have either.
        let asked = |one: &&Simulation| planned.work.simulations.iter().any(|c| c.name == one.name);
        work.simulations.retain(asked);
        let all = work.trials.len();
        work.trials.retain(|trial| run.contains(trial.digest.as_str()));
        let left = work.trials.iter().filter(|trial| !recorded.contains(&trial.digest));
        (all, costs.model.forecast(left), costs.computing(&work.simulations, archive))
    };
    let mut lines = Vec::new();
    // Many artefacts show the same trials: planned once.
    let mut known = BTreeMap::new();
    for &artefact in artefacts {
        let shown = (&artefact.studies, &artefact.datasets, &artefact.simulations);
        let (all, forecast, simulations) = *known.entry(shown).or_insert_with(|| of(&[artefact]));
        lines.push((artefact.id.as_str(), all, forecast, simulations));
    }
    // An artefact may show trials of another: together they count once.
    let (all, forecast, simulations) = of(artefacts);
    let mut stdout = std::io::stdout().lock();
    if args.json {
        let each = lines.iter().map(|(id, all, cost, more)| line(id, profile, *all, cost, *more));
        let summary = json!({
            "all": line("all", profile, all, &forecast, simulations),
            "artefacts": each.collect::<Vec<_>>(),
            "machine_factor": costs.model.machine_factor(),
        });
        serde_json::to_writer_pretty(&mut stdout, &summary)?;
        writeln!(stdout)?;
        return Ok(Ended::Done);
    }
    lines.push(("all, each trial once", all, forecast, simulations));
    print(&mut stdout, profile, &lines)?;
    writeln!(
        stdout,
        "{all} trials, {} recorded, {} to run",
        all - forecast.trials,
        forecast.trials
    )?;
    if simulations.count > 0 {
        writeln!(stdout, "{}", simulations.line())?;
    }
    closing(&mut stdout, &forecast, costs)?;
    if costs.model.records < CostModel::FEWEST {
        writeln!(stdout, "{}", unseen(&args.places.reports))?;
    }
    Ok(Ended::Done)
}

/// The forecast of one artefact, or of all.
fn line(id: &str, profile: &str, all: usize, forecast: &Forecast, simulations: Computing) -> Value {
    let hours = |seconds: f64| seconds / 3600.0;
    let [from_cell, from_method, from_declared] = forecast.seconds_by_basis.map(hours);
    json!({
        "artefact": id, "profile": profile, "trials": all, "to_run": forecast.trials,
        "hours": hours(forecast.seconds), "bytes": forecast.bytes,
        "from_cell": forecast.bases[0], "from_method": forecast.bases[1],
        "from_declared_cost": forecast.bases[2],
        "hours_from_cell": from_cell, "hours_from_method": from_method,
        "hours_from_declared_cost": from_declared, "at_limit": forecast.at_limit, "at_memory_limit": forecast.at_memory_limit,
        "simulations": simulations.count, "simulation_hours": hours(simulations.seconds),
        "simulations_never_timed": simulations.unknown,
    })
}

/// Name, trials, and what those that are to run will take.
type Line<'a> = (&'a str, usize, Forecast, Computing);

/// Prints a line an artefact.
fn print(stdout: &mut impl Write, profile: &str, lines: &[Line<'_>]) -> std::io::Result<()> {
    writeln!(
        stdout,
        "profile {profile}; hours of one core, MB of one trial beside program and data"
    )?;
    writeln!(
        stdout,
        "{:<24} {:>7} {:>7} {:>8} {:>8} {:>11}  known from",
        "artefact", "trials", "to run", "hours", "MB", "simulations"
    )?;
    for (id, all, forecast, simulations) in lines {
        let [cell, method, declared] = forecast.bases;
        writeln!(
            stdout,
            "{id:<24} {all:>7} {:>7} {:>8.2} {:>8.0} {:>11}  cell {cell}, method {method}, declared cost {declared}{}",
            forecast.trials,
            forecast.seconds / 3600.0,
            forecast.bytes / 1e6,
            simulations.count,
            doubts(forecast),
        )?;
    }
    Ok(())
}

/// What the hours rest on, and the machine that they are of.
fn closing(stdout: &mut impl Write, forecast: &Forecast, costs: &Costs) -> std::io::Result<()> {
    let [cell, method, declared] = forecast.seconds_by_basis.map(|seconds| seconds / 3600.0);
    writeln!(
        stdout,
        "{:.2} hours of them: {cell:.2} known from their own cell, {method:.2} from their method, {declared:.2} from its declared cost alone",
        forecast.seconds / 3600.0
    )?;
    writeln!(
        stdout,
        "this machine takes {:.2} times the seconds of the reference (processor time of a fixed product, just now: \
         other work moves it by a third or more); at 1.00 it would be {:.2} hours",
        costs.model.machine_factor(),
        forecast.seconds / 3600.0 / costs.model.machine_factor()
    )
}

/// What makes a forecast doubtful.
fn doubts(forecast: &Forecast) -> String {
    let said = |count: usize, what: &str| {
        if count > 0 { format!(", {what} {count}") } else { String::new() }
    };
    said(forecast.at_limit, "stopped by their limit")
        + &said(forecast.at_memory_limit, "beyond their memory")
}

/// Where no record is there to learn from.
pub(crate) fn unseen(reports: &std::path::Path) -> String {
    format!(
        "too few records in {} and in the results: the hours are of declared costs alone, and may be off by a factor of ten; --reports names the folder of a reference run",
        reports.join("records").display()
    )
}
