//! `mercer reproduce` where records are committed: shows all of them, then runs them again within a
//! budget of time and says which come out the same.

use crate::papers::args::ReproduceArgs;
use crate::papers::planned::{Planned, cell_of, jobs, missing, out, runner, simulate};
use crate::papers::printed::print;
use crate::papers::progress::{Bar, minutes};
use crate::{Ended, program};
use mercer_experiments::catalogue;
use mercer_harness::{
    HarnessError, Options, Progress, Runner, Summary, Trial, reference_seconds, run as carry_out,
};
use mercer_learning::counted;
use mercer_records::{Key, Record, Status, Store};
use mercer_report::{
    Again, RecordSet, RenderContext, Simulation, Tally, Written, tally_in_words, write,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A trial in flight at the end of the budget may take so much longer.
const GRACE: Duration = Duration::from_secs(10);
/// The first trials of all studies come before those of all cells, as far as they fit into so much time.
const SOON: Duration = Duration::from_mins(2);
/// A year: without a budget.
const UNLIMITED: Duration = Duration::from_hours(24 * 365);

pub(crate) fn run(
    args: &ReproduceArgs,
    mut planned: Planned,
    budget: Option<Duration>,
    quiet: bool,
) -> anyhow::Result<Ended> {
    let began = Instant::now();
    let store = args.places.store()?;
    let trials = std::mem::take(&mut planned.work.trials);
    let missing = missing(&trials, &args.places)?;
    let (mut trials, not_on_record): (Vec<Trial>, Vec<Trial>) =
        trials.into_iter().partition(|trial| planned.archive.of(trial).is_some());
    // To free a trial at a time takes longer than all else that is done with them.
    std::mem::forget(not_on_record);
    leave_programs(&mut trials);
    let mut lacking = without_data(&trials, &missing);
    let mut computed = std::mem::take(&mut planned.work.simulations);
    computed.retain(|own| planned.archive.get(&own.key()).is_some());
    let keys = trials.iter().map(|trial| trial.key.clone());
    let keys: Vec<Key> = keys.chain(computed.iter().map(|own| own.key())).collect();
    let mut again = Again::without(lacking.clone());
    add_earlier(&mut again, &mut planned.archive, &store, &trials, &computed)?;
    let pages = Pages { args, planned: &planned, missing: &missing, again: Mutex::new(again) };
    let mut written = pages.write()?;
    tracing::info!(
        "all of {} on record, rendered in {:.0} s: open {}",
        counted(keys.iter().filter(|key| comparable(key)).count(), "trial", "trials"),
        began.elapsed().as_secs_f64(),
        written.page.display()
    );
    let earlier = earlier(&pages, &keys);
    let runs = budget.is_none_or(|time| !time.is_zero());
    let mut summary = Summary::default();
    if runs {
        (summary, written) = run_again(&pages, &trials, &computed, &store, budget, quiet)?;
        lacking.append(&mut summary.missing);
    }
    print(args, &written)?;
    let again = pages.again.into_inner().unwrap_or_else(PoisonError::into_inner);
    if runs || earlier > 0 {
        say(&again, &keys, &args.places.results, lacking.is_empty());
    }
    say_of_trouble(&lacking, &summary.failed);
    if summary.interrupted {
        eprintln!("interrupted; what was run is kept. To go on: {}", super::typed());
        return Ok(Ended::Interrupted);
    }
    let different = again.different().count();
    // The program ends: to free a record at a time what the system takes back at once costs a second.
    std::mem::forget((planned, trials, keys));
    Ok(match (different + summary.failed.len(), lacking.len()) {
        (0, 0) => Ended::Done,
        (0, _) => Ended::NoData,
        _ => Ended::Failed,
    })
}

/// Leaves the trials of programs from outside as they are: another version of a program gives other numbers, which
/// says nothing of these records.
fn leave_programs(trials: &mut Vec<Trial>) {
    let all = trials.len();
    let built_in = mercer_methods::registry();
    let mut programs = mercer_methods::all();
    programs.retain(|own| built_in.iter().all(|other| other.name != own.name));
    trials.retain(|trial| programs.iter().all(|own| own.name != trial.key.method));
    if trials.len() < all {
        tracing::info!(
            "{} of programs from outside are shown and not run again",
            counted(all - trials.len(), "trial", "trials")
        );
    }
}

/// The datasets of these trials that cannot be used here, each with the reason, which is said.
fn without_data(trials: &[Trial], missing: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut lacking = missing.clone();
    lacking.retain(|dataset, _| trials.iter().any(|trial| trial.key.dataset == *dataset));
    for (dataset, reason) in &lacking {
        tracing::warn!("not run again, no data for {dataset}: {reason}");
    }
    lacking
}

/// What this directory has of the committed records of these was run here; what it has beyond them is shown, too.
fn add_earlier(
    again: &mut Again,
    archive: &mut RecordSet,
    store: &Store,
    trials: &[Trial],
    computed: &[&Simulation],
) -> anyhow::Result<()> {
    let of_trials = trials.iter().map(|trial| trial.digest.clone());
    let asked: HashSet<String> =
        of_trials.chain(computed.iter().map(|own| own.key().digest())).collect();
    let mut beyond = Vec::new();
    for now in store.list()?.records {
        match archive.get(&now.key) {
            Some(then) if asked.contains(&then.key.digest()) && comparable(&now.key) => {
                again.add(then, &now);
            }
            Some(_) => {}
            None => beyond.push(now),
        }
    }
    archive.add(beyond);
    Ok(())
}

/// How many were run again here earlier, which is said.
fn earlier(pages: &Pages<'_>, keys: &[Key]) -> usize {
    let earlier = keys.iter().filter(|key| pages.has(key)).count();
    if earlier > 0 {
        tracing::info!(
            "{} run again here earlier, and not once more",
            counted(earlier, "trial was", "trials were")
        );
    }
    earlier
}

/// Whether two runs of it must come out the same: a measurement of times must not.
fn comparable(key: &Key) -> bool {
    let measured = catalogue().simulation(&key.artefact).filter(|own| own.measures);
    measured.is_none_or(|own| own.key() != *key)
}

/// The records, what of them was run again, and the pages that show both.
struct Pages<'a> {
    args: &'a ReproduceArgs,
    planned: &'a Planned,
    missing: &'a BTreeMap<String, String>,
    again: Mutex<Again>,
}

impl Pages<'_> {
    fn again(&self) -> std::sync::MutexGuard<'_, Again> {
        self.again.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has(&self, key: &Key) -> bool {
        self.again().of(key).is_some()
    }

    /// Holds what was run now against what is on record.
    fn add(&self, now: &Record) {
        if let Some(then) = self.planned.archive.get(&now.key).filter(|_| comparable(&now.key)) {
            self.again().add(then, now);
        }
    }

    fn write(&self) -> anyhow::Result<Written> {
        let Planned { methods, artefacts, selection, archive, .. } = self.planned;
        let again = self.again().clone();
        let profile = &self.args.narrow.profile;
        let context =
            RenderContext::new(catalogue(), archive, methods, profile, selection, self.missing)
                .with_again(&again);
        let written = write(&context, artefacts, &out(self.args))?;
        context.free_aside();
        Ok(written)
    }
}

/// Shows how far it is, and compares.
struct Told<'a> {
    bar: &'a Bar,
    pages: &'a Pages<'a>,
}

impl Progress for Told<'_> {
    fn begin(&self, trials: usize, recorded: usize, weight: f64) {
        self.bar.begin(trials, recorded, weight);
    }

    fn start(&self, trial: &Trial) {
        self.bar.start(trial);
    }

    fn trial(&self, trial: &Trial, record: &Record) {
        self.pages.add(record);
        self.bar.trial(trial, record);
    }

    fn no_data(&self, trial: &Trial, error: &HarnessError) {
        self.bar.no_data(trial, error);
    }
}

/// Runs within the budget what was not run here yet, the trials first, and writes the page anew.
fn run_again(
    pages: &Pages<'_>,
    trials: &[Trial],
    computed: &[&Simulation],
    store: &Store,
    budget: Option<Duration>,
    quiet: bool,
) -> anyhow::Result<(Summary, Written)> {
    let Pages { args, planned, .. } = *pages;
    let time = budget.unwrap_or(UNLIMITED);
    let began = Instant::now();
    let left: Vec<&Simulation> =
        computed.iter().copied().filter(|own| !pages.has(&own.key())).collect();
    let (own, reserved) = simulations(&left, &planned.archive, time);
    let soon = (time / 2).min(SOON) * jobs(args) as u32;
    let queue = queue(trials, pages, soon);
    let runner = runner(args, &planned.methods, store)?;
    runner.stop.at(began + time + GRACE);
    let options = Options {
        jobs: jobs(args),
        shard: args.shard,
        retry_failed: true,
        until: Some(began + time.saturating_sub(reserved)),
    };
    if !queue.is_empty() {
        tracing::info!(
            "running them again for {}, the cheapest trial of each cell first; the page is written anew after a minute, then ever less often; Ctrl-C stops it, and keeps what was run",
            budget.map_or_else(|| "as long as it takes".to_owned(), minutes)
        );
    }
    let bar = Bar::new(quiet, budget, jobs(args));
    let told = Told { bar: &bar, pages };
    let work = || carry_out(&queue, &runner, &options, &told);
    let mut summary = bar.beside(work, || pages.write())?;
    simulate_again(&own, &runner, store, pages)?;
    summary.interrupted = runner.stop.interrupted();
    Ok((summary, pages.write()?))
}

/// Seconds that a trial takes here, by what its record says: its fit and its predictions.
fn seconds(record: &Record) -> f64 {
    let parts = ["prepare", "fit", "predict", "compute"];
    let then: f64 = parts.iter().filter_map(|part| record.run.seconds.get(*part)).sum();
    let speed = if record.run.yardstick_seconds > 0.0 {
        (reference_seconds() / record.run.yardstick_seconds).clamp(0.25, 4.0)
    } else {
        1.0
    };
    then * speed
}

/// What was not run here yet, in the order of [`ordered`]. Weights become seconds.
fn queue(trials: &[Trial], pages: &Pages<'_>, soon: Duration) -> Vec<Trial> {
    let archive = &pages.planned.archive;
    let weighed = trials.iter().filter_map(|trial| {
        let record = archive.of(trial)?;
        let same = matches!(record.result.status, Status::Done | Status::Diverged)
            && !pages.missing.contains_key(&trial.key.dataset);
        same.then(|| Trial { weight: seconds(record), ..trial.clone() })
    });
    ordered(weighed.collect(), soon.as_secs_f64(), |trial| pages.has(&trial.key))
}

/// The cheapest trial of each study while they fit into `soon` seconds, then the cheapest of each cell, then the
/// second cheapest, and so on, without those that were run: each of these counts among those of its cell.
fn ordered(mut trials: Vec<Trial>, mut soon: f64, run: impl Fn(&Trial) -> bool) -> Vec<Trial> {
    trials.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    let mut studies = HashSet::new();
    let mut cells: HashMap<[String; 4], usize> = HashMap::new();
    let mut ranked: Vec<(usize, Trial)> = Vec::with_capacity(trials.len());
    for trial in trials {
        let first = trial.weight <= soon && studies.insert(trial.key.artefact.clone());
        soon -= if first { trial.weight } else { 0.0 };
        let rank = cells.entry(cell_of(&trial)).or_default();
        *rank += 1;
        ranked.push((if first { 0 } else { *rank }, trial));
    }
    ranked.retain(|(_, trial)| !run(trial));
    // Stable: within a rank the cheapest first.
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, trial)| trial).collect()
}

/// The simulations and measurements that a fifth of the time suffices for, the cheapest first, and what they take.
fn simulations<'a>(
    all: &[&'a Simulation],
    archive: &RecordSet,
    time: Duration,
) -> (Vec<&'a Simulation>, Duration) {
    let cost = |own: &Simulation| archive.get(&own.key()).map_or(f64::INFINITY, seconds);
    let mut left: Vec<(f64, &Simulation)> = all.iter().map(|&own| (cost(own), own)).collect();
    left.sort_by(|a, b| a.0.total_cmp(&b.0));
    let room = time.as_secs_f64() / 5.0;
    let mut sum = 0.0;
    left.retain(|(seconds, _)| {
        sum += seconds;
        sum <= room
    });
    let reserved = left.iter().map(|(seconds, _)| seconds).sum();
    let fits = |name: &str| left.iter().any(|(_, own)| own.name == name);
    let without: Vec<&str> = all.iter().map(|own| own.name).filter(|name| !fits(name)).collect();
    if !without.is_empty() {
        tracing::info!("simulations that do not fit into the time: {}", without.join(", "));
    }
    (left.into_iter().map(|(_, own)| own).collect(), Duration::from_secs_f64(reserved))
}

/// Runs simulations again, one after the other: times tell of this machine only while nothing else runs on it.
fn simulate_again(
    own: &[&Simulation],
    runner: &Runner<'_>,
    store: &Store,
    pages: &Pages<'_>,
) -> anyhow::Result<()> {
    for (done, simulation) in own.iter().enumerate() {
        if runner.stop.asked() {
            break;
        }
        let (name, all) = (simulation.name, own.len());
        tracing::info!("running {name} again, {} of {all} simulations", done + 1);
        pages.add(&simulate(simulation, store)?);
    }
    Ok(())
}

/// What could not be run again, and why.
fn say_of_trouble(lacking: &BTreeMap<String, String>, failed: &[(String, String)]) {
    for (dataset, reason) in lacking {
        eprintln!("not run again, no data for {dataset}: {reason}");
    }
    for (trial, error) in failed.iter().take(20) {
        eprintln!("failed here, not on record: {trial}: {error}");
    }
}

/// One line a paper, and each difference; `whole` if no data was lacking.
fn say(again: &Again, keys: &[Key], results: &std::path::Path, whole: bool) {
    let mut papers: BTreeMap<&str, (usize, Tally)> = BTreeMap::new();
    for key in keys.iter().filter(|key| comparable(key)) {
        let (recorded, counts) = papers.entry(catalogue().paper_of(&key.artefact)).or_default();
        *recorded += 1;
        if let Some(likeness) = again.of(key) {
            counts[likeness as usize] += 1;
        }
    }
    for (paper, (recorded, counts)) in papers {
        let (run, told) = (counts.iter().sum::<usize>(), tally_in_words(counts));
        eprintln!("{paper}: {run} of {recorded} recorded trials run again here: {told}");
    }
    let cell =
        |key: &Key| [&key.artefact, &key.variant, &key.dataset, &key.method].map(Clone::clone);
    let all: HashSet<[String; 4]> = keys.iter().filter(|key| comparable(key)).map(cell).collect();
    let seen: HashSet<[String; 4]> =
        keys.iter().filter(|key| again.of(key).is_some()).map(cell).collect();
    eprintln!(
        "cells: {} of {} have a trial run again here{}",
        seen.len(),
        all.len(),
        if whole && seen.len() < all.len() {
            "; a longer budget (--minutes N, --all) reaches more"
        } else {
            ""
        }
    );
    let place = if results == std::path::Path::new("results") {
        String::new()
    } else {
        format!(" --results {}", mercer_datasets::shell_word(&results.to_string_lossy()))
    };
    for (key, detail) in again.different().take(20) {
        let Key { artefact, variant, dataset, method, repeat, .. } = key;
        eprintln!(
            "different: {artefact} {variant} {dataset} {method} repeat {}: {detail}; `{} show {artefact}:{variant}:{method}:{dataset}{place}` has both",
            repeat + 1,
            program()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_experiments::plannable;
    use mercer_harness::{Selection, plan};

    #[test]
    fn ordered_goes_on_with_the_cells_that_have_no_trial_yet() {
        let selection = Selection {
            variants: vec!["printed".to_owned()],
            datasets: vec!["wine".to_owned(), "ecoli".to_owned()],
            methods: vec!["gmce".to_owned()],
            repeats: Some(2),
            ..Selection::default()
        };
        let spec = catalogue().study("mce/table1").unwrap();
        let mut trials = plan(&spec, &plannable(), "paper", &selection, &|_| None).unwrap();
        assert_eq!(trials.len(), 4);
        for trial in &mut trials {
            let first = if trial.key.dataset == "wine" { 1.0 } else { 10.0 };
            trial.weight = first + f64::from(trial.key.repeat);
        }
        let order = |run: &[f64], soon: f64| -> Vec<f64> {
            let left = ordered(trials.clone(), soon, |trial| run.contains(&trial.weight));
            left.iter().map(|trial| trial.weight).collect()
        };
        assert_eq!(order(&[], 0.0), [1.0, 10.0, 2.0, 11.0]);
        // A second run goes to the cell that has none, not to a cheaper second trial.
        assert_eq!(order(&[1.0], 0.0), [10.0, 2.0, 11.0]);
        assert_eq!(order(&[1.0], 60.0), [10.0, 2.0, 11.0]);
        assert_eq!(order(&[1.0, 10.0], 0.0), [2.0, 11.0]);
    }
}
