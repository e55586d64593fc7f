//! `mercer cluster`: a reproduction as tasks of an engine that exists already.

mod campaign;
mod queue;
mod work;

use crate::Ended;
use crate::args::{ClusterCommand, ClusterPlan, Engine};
use crate::forecast::{CELLS, Computing, costs, off, unseen};
use crate::reproduce::{planned, show};
use anyhow::Context;
use campaign::{Campaign, Job, Request, new_logs};
use mercer_harness::{
    Array, Grouping, HeldOut, HoldOut, Launch, MOST_GROWTH, Margin, Task, Trial, array_jobs,
    arrays, group, numbered, peak_memory,
};
use mercer_learning::counted;
use mercer_records::{Status, Store};
use queue::Queued;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
pub(crate) use work::WrongUsage;

/// Slurm's default of `MaxArraySize` is 1001, and indices stay below it.
const MOST_TASKS: usize = 1000;
/// Where predictions were not tested.
const UNTESTED: Margin = Margin { bytes: 2.0, seconds: 2.0 };
/// The program's own memory is rounded up to so many MiB, and one such step more is for what its allocator keeps
/// after hundreds of trials (a worker had 6 MiB above a request without it): a few pages more make no other plan.
const STEP_MIB: f64 = 64.0;

pub(crate) fn run(command: &ClusterCommand) -> anyhow::Result<Ended> {
    match command {
        ClusterCommand::Plan(args) => plan(args),
        ClusterCommand::Submit(args) => submit(args),
        ClusterCommand::Status { campaign, json } => status(campaign, *json),
        ClusterCommand::Collect { campaign, json, out } => collect(campaign, *json, out.clone()),
        ClusterCommand::Work { campaign, task, task_from, after } => {
            work::run(campaign, *task, task_from.as_deref(), *after)
        }
    }
}

/// A campaign that has not begun, and the error of the predictions that it rests on.
struct Draft {
    campaign: Campaign,
    recorded: usize,
    error: Option<String>,
    /// In no task: `collect` computes it.
    computing: Computing,
    /// Seconds here for a second of the reference machine.
    factor: f64,
}

/// Where the campaign is.
fn folder(args: &ClusterPlan) -> anyhow::Result<PathBuf> {
    let into = args.into.clone().unwrap_or_else(|| args.places.results.join("cluster"));
    Ok(std::path::absolute(into)?)
}

fn draft(args: &ClusterPlan, earlier: Option<&Campaign>) -> anyhow::Result<Draft> {
    if let (Engine::Script, Some(directive)) = (args.engine, args.directives.first()) {
        return Err(WrongUsage(format!(
            "--sbatch={directive}: only --engine slurm writes batch scripts; leave it out, and give it to your launcher"
        ))
        .into());
    }
    let mut request = Request::of(args)?;
    let reproduce = request.arguments(false, None);
    let planned = planned(&reproduce, None)?;
    // A worker plans as this process did, from the same records.
    let program = peak_memory().map_or(256.0, |bytes| 1.1 * bytes as f64 / f64::from(1 << 20));
    let costs =
        costs(&request.places, &planned.archive, &planned.methods, &reproduce.narrow.profile)?;
    let recorded = costs.recorded(args.retry_failed);
    let left: Vec<&Trial> = planned
        .work
        .trials
        .iter()
        .filter(|trial| !recorded.contains(&trial.key.digest()))
        .collect();
    let held_out = |by| costs.held_out(&planned.archive, &planned.methods, by);
    let (error, of_largest) = (held_out(HoldOut::Cells), held_out(HoldOut::Largest));
    let margin = |error: Option<&HeldOut>| {
        error.map_or(UNTESTED, |error| Margin {
            bytes: error.bytes.max(1.2),
            seconds: error.nine_of_ten.max(UNTESTED.seconds),
        })
    };
    let mut tasks = group(
        &left,
        &costs.model,
        &Grouping {
            seconds: 60.0 * f64::from(args.minutes),
            least: args.tasks.into(),
            most: MOST_TASKS,
            cores: args.cores.into(),
            program_mib: STEP_MIB * ((program / STEP_MIB).ceil() + 1.0),
            margin: margin(error.as_ref()),
            larger: margin(of_largest.as_ref().or(error.as_ref())),
        },
    );
    for task in &mut tasks {
        // What did not end within its time, or its memory, would not do so again.
        let before = earlier.map(|earlier| earlier.exceeded(&task.trials)).unwrap_or_default();
        let grown =
            |first: u64, before: u64| first.max(before).max((2 * before).min(MOST_GROWTH * first));
        task.minutes = grown(task.minutes, before.minutes).max(args.least_limit);
        task.mib = grown(task.mib, before.mib).max(args.least_mib);
    }
    let tasks = numbered(tasks);
    let largest = tasks.iter().map(|task| task.cores).max().unwrap_or(usize::MAX);
    if usize::from(args.cores) > largest {
        return Err(WrongUsage(format!(
            "--cores {}: a core carries out one trial at a time, those of one tuning after each other, and no task has work for more than {largest}; give --cores {largest} at most, or longer tasks by --minutes",
            args.cores
        ))
        .into());
    }
    let recorded = planned.work.trials.len() - left.len() + planned.committed;
    request.versions.clone_from(&planned.selection.versions);
    let (places, campaign) = (&request.places, folder(args)?);
    let launch = Launch {
        program: std::env::current_exe().context("cannot name this program")?,
        directory: std::env::current_dir().context("cannot name this directory")?,
        logs: new_logs(&campaign),
        campaign,
        places: [Some(&places.results), places.data.as_ref(), Some(&places.reports)]
            .into_iter()
            .flatten()
            .cloned()
            .collect(),
        at_once: args.at_once.map(usize::from),
        restarts: args.restarts,
        directives: args.directives.clone(),
    };
    let campaign = Campaign::new(args.engine, request, launch, tasks);
    let error = error.map(|error| off(CELLS, &error));
    let computing = costs.computing(&planned.work.computed, &planned.archive);
    Ok(Draft { campaign, recorded, error, computing, factor: costs.model.machine_factor() })
}

fn plan(args: &ClusterPlan) -> anyhow::Result<Ended> {
    // One that cannot be read stops no plan, only a submission.
    let earlier = Campaign::find(&folder(args)?).ok().flatten();
    let draft = draft(args, earlier.as_ref())?;
    let tasks = &draft.campaign.tasks;
    let mut stdout = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut stdout, &tasks)?;
        writeln!(stdout)?;
        return Ok(Ended::Done);
    }
    writeln!(
        stdout,
        "{:>9} {:>7} {:>12} {:>12} {:>6} {:>8} {:>8}",
        "tasks", "trials", "hours (sum)", "longest h", "cores", "MiB each", "limit"
    )?;
    for array in arrays(tasks) {
        writeln!(stdout, "{}", line(&array))?;
    }
    let trials: usize = tasks.iter().map(|task| task.trials.len()).sum();
    let hours = tasks.iter().map(|task| task.seconds).sum::<f64>() / 3600.0;
    writeln!(
        stdout,
        "{}, {} to run, {} recorded, {hours:.2} hours of one core",
        counted(tasks.len(), "task", "tasks"),
        counted(trials, "trial", "trials"),
        draft.recorded
    )?;
    if draft.computing.count > 0 {
        writeln!(stdout, "in no task: {}, by `cluster collect`", draft.computing.line())?;
    }
    writeln!(
        stdout,
        "hours and limits are those of a machine like this one, which takes {:.2} times the seconds of the reference; a \
         task that meets its limit on a slower node goes on with twice the time",
        draft.factor
    )?;
    let places = &draft.campaign.request.places;
    writeln!(stdout, "{}", draft.error.unwrap_or_else(|| unseen(&places.reports)))?;
    Ok(Ended::Done)
}

fn line(array: &Array<'_>) -> String {
    let (first, last) = (array.first(), array.last());
    let trials: usize = array.tasks.iter().map(|task| task.trials.len()).sum();
    let seconds = |task: &Task| task.seconds / 3600.0;
    format!(
        "{:>9} {trials:>7} {:>12.2} {:>12.2} {:>6} {:>8} {:>4} min",
        format!("{first}-{last}"),
        array.tasks.iter().map(seconds).sum::<f64>(),
        array.tasks.iter().map(seconds).fold(0.0, f64::max),
        array.cores,
        array.mib,
        array.minutes
    )
}

fn submit(args: &ClusterPlan) -> anyhow::Result<Ended> {
    let place = folder(args)?;
    let earlier = match Campaign::find(&place) {
        Err(_) if args.replace => None,
        found => found?,
    };
    let draft = draft(args, earlier.as_ref())?;
    let mut campaign = draft.campaign;
    if campaign.tasks.is_empty() {
        // A campaign without a task would take the place of the one that did the work.
        eprintln!(
            "all {} trials are recorded; collect them. Nothing is to be done",
            draft.recorded
        );
        return submitted(args, &campaign, &[]);
    }
    if let Some(earlier) = &earlier {
        let queued = queue::of(&earlier.jobs)?;
        anyhow::ensure!(
            queued.is_empty(),
            "{} still queued or running of the campaign in {}; wait, or cancel with scancel",
            counted(queued.len(), "task is", "tasks are"),
            place.display()
        );
        let missing: usize = counts(earlier)?.values().map(|counts| counts.missing).sum();
        anyhow::ensure!(
            earlier.engine == Engine::Slurm || missing == 0 || args.replace,
            "{} not recorded of the campaign in {}, and its launcher may still run: go on with its files, or add --replace once none of its tasks runs, or --into another directory",
            counted(missing, "trial is", "trials are"),
            place.display()
        );
    }
    if args.engine == Engine::Slurm {
        queue::there()?;
    }
    // The workers find it here: no job before its campaign.
    campaign.write()?;
    let scripts = campaign.write_scripts()?;
    if args.engine == Engine::Slurm {
        let arrays = arrays(&campaign.tasks);
        for (script, job) in scripts.iter().zip(array_jobs(&arrays, &campaign.launch)) {
            let several = job.len() > 1;
            let id = queue::submit(script, several).with_context(|| {
                format!(
                    "{} of {} array jobs were submitted, and the campaign in {} lacks the others: mend what \
                     sbatch says, wait for what is queued or cancel it, and submit again",
                    campaign.jobs.len(),
                    scripts.len(),
                    place.display()
                )
            })?;
            let tasks = job.iter().flat_map(|array| array.tasks).map(|task| task.index).collect();
            campaign.jobs.push(Job { id: id.clone(), tasks });
            // At once: should the next array be refused, this one is known.
            campaign.write()?;
            if several {
                queue::grant(&id, job)?;
            }
        }
    }
    // The jobs are submitted: one that cannot be asked about is no reason to fail.
    match queue::of(&campaign.jobs) {
        Ok(queued) => {
            if let Some(remedy) = too_long(&campaign, &queued) {
                eprintln!("{remedy}");
            }
        }
        Err(error) => tracing::warn!("{error:#}"),
    }
    submitted(args, &campaign, &scripts)
}

/// What to do about tasks that want more time than their partition ever grants, if there are any.
fn too_long(campaign: &Campaign, queued: &BTreeMap<usize, Queued>) -> Option<String> {
    let refused = |task: &usize| {
        queued.get(task).is_some_and(|queued| queued.reason.as_deref() == Some(queue::TOO_LONG))
    };
    let jobs = campaign.jobs.iter().filter(|job| job.tasks.iter().any(refused));
    let jobs: Vec<&str> = jobs.map(|job| job.id.as_str()).collect();
    let tasks = campaign.tasks.iter().filter(|task| refused(&task.index));
    let most = tasks.clone().map(|task| task.minutes).max()?;
    Some(format!(
        "{} up to {most} minutes, more than the partition grants ({}): `scancel {}`, and submit with more --tasks, or \
         with --sbatch=--partition=NAME of one that grants it",
        counted(tasks.count(), "task waits for", "tasks wait for"),
        queue::TOO_LONG,
        jobs.join(" ")
    ))
}

/// Says what was handed out.
fn submitted(
    args: &ClusterPlan,
    campaign: &Campaign,
    scripts: &[PathBuf],
) -> anyhow::Result<Ended> {
    let mut stdout = std::io::stdout().lock();
    if args.json {
        let jobs: Vec<&String> = campaign.jobs.iter().map(|job| &job.id).collect();
        let summary = json!({ "tasks": campaign.tasks.len(), "jobs": jobs, "files": scripts });
        serde_json::to_writer_pretty(&mut stdout, &summary)?;
        writeln!(stdout)?;
    } else {
        for (at, script) in scripts.iter().enumerate() {
            match campaign.jobs.get(at) {
                Some(job) => writeln!(stdout, "job {}: {}", job.id, script.display())?,
                None => writeln!(stdout, "{}", script.display())?,
            }
        }
    }
    Ok(Ended::Done)
}

/// How far each task of a campaign is.
#[derive(Debug, Default)]
struct Counts {
    recorded: usize,
    failed: usize,
    missing: usize,
}

fn counts(campaign: &Campaign) -> anyhow::Result<BTreeMap<usize, Counts>> {
    let results = &campaign.request.places.results;
    let listing = if results.is_dir() { Store::open(results)?.list()?.records } else { Vec::new() };
    let statuses: BTreeMap<String, Status> =
        listing.iter().map(|record| (record.key.digest(), record.result.status)).collect();
    let mut counts: BTreeMap<usize, Counts> = BTreeMap::new();
    for task in &campaign.tasks {
        let of_task = counts.entry(task.index).or_default();
        for trial in &task.trials {
            match statuses.get(trial) {
                None => of_task.missing += 1,
                Some(Status::Done | Status::Diverged) => of_task.recorded += 1,
                Some(_) => of_task.failed += 1,
            }
        }
    }
    Ok(counts)
}

fn status(folder: &Path, as_json: bool) -> anyhow::Result<Ended> {
    let campaign = Campaign::read(folder)?;
    let counts = counts(&campaign)?;
    let queued = queue::of(&campaign.jobs)?;
    let mut stdout = std::io::stdout().lock();
    if as_json {
        let lines: Vec<_> = counts
            .iter()
            .map(|(task, counts)| {
                json!({
                    "task": task, "recorded": counts.recorded, "failed": counts.failed,
                    "missing": counts.missing, "queue": queued.get(task).map(|queued| &queued.state),
                    "reason": queued.get(task).and_then(|queued| queued.reason.as_ref()),
                })
            })
            .collect();
        serde_json::to_writer_pretty(&mut stdout, &lines)?;
        writeln!(stdout)?;
        return Ok(Ended::Done);
    }
    writeln!(stdout, "{:>5} {:>9} {:>7} {:>8}  queue", "task", "recorded", "failed", "missing")?;
    for (task, counts) in &counts {
        let state = queued.get(task).map(ToString::to_string).unwrap_or_default();
        let Counts { recorded, failed, missing } = counts;
        writeln!(stdout, "{task:>5} {recorded:>9} {failed:>7} {missing:>8}  {state}")?;
    }
    let sum = |of: fn(&Counts) -> usize| counts.values().map(of).sum::<usize>();
    let engine = match campaign.engine {
        Engine::Slurm => {
            format!("{} queued or running", counted(queued.len(), "task", "tasks"))
        }
        // Which of them run, only the launcher knows.
        Engine::Script => {
            let open = counts.values().filter(|counts| counts.missing > 0).count();
            format!("{open} of {} not carried out", counted(counts.len(), "task", "tasks"))
        }
    };
    writeln!(
        stdout,
        "  all {:>9} {:>7} {:>8}  {engine}",
        sum(|c| c.recorded),
        sum(|c| c.failed),
        sum(|c| c.missing),
    )?;
    if let Some(remedy) = too_long(&campaign, &queued) {
        writeln!(stdout, "{remedy}")?;
    }
    let handed: usize = campaign.jobs.iter().map(|job| job.tasks.len()).sum();
    if campaign.engine == Engine::Slurm && handed < campaign.tasks.len() {
        writeln!(
            stdout,
            "{} never handed to Slurm, since sbatch refused or was stopped; `mercer cluster submit` hands out what is \
             not recorded",
            counted(campaign.tasks.len() - handed, "task was", "tasks were")
        )?;
    }
    Ok(Ended::Done)
}

fn collect(folder: &Path, json: bool, out: Option<PathBuf>) -> anyhow::Result<Ended> {
    let campaign = Campaign::read(folder)?;
    let arguments = campaign.request.arguments(json, out);
    let planned = planned(&arguments, Some(&campaign.request.versions))?;
    let store = arguments.places.store()?;
    // Data that a worker could not find is missing here as it was there.
    let library = crate::reproduce::library(&arguments.places)?;
    let recorded: BTreeMap<String, Status> = store
        .list()?
        .records
        .iter()
        .map(|record| (record.key.digest(), record.result.status))
        .collect();
    // Of everything asked for: an earlier campaign may have recorded a failure.
    let failed = planned.work.trials.iter().filter(|trial| {
        let status = recorded.get(&trial.key.digest());
        status.is_some_and(|status| !matches!(status, Status::Done | Status::Diverged))
    });
    let failed = failed.count();
    let mut missing = BTreeMap::new();
    let mut left = 0;
    for trial in &planned.work.trials {
        if recorded.contains_key(&trial.key.digest()) || missing.contains_key(&trial.key.dataset) {
            continue;
        }
        match library.load(&trial.key.dataset) {
            Ok(_) => left += 1,
            Err(error) => {
                missing.insert(trial.key.dataset.clone(), error.to_string());
            }
        }
    }
    show(&arguments, planned, &store, &missing, None)?;
    for (dataset, reason) in &missing {
        eprintln!("no data for {dataset}: {reason}");
    }
    if left > 0 {
        let remedy = match campaign.engine {
            Engine::Slurm => "`mercer cluster submit` runs only those".to_owned(),
            Engine::Script => format!(
                "go on with the files in {}, or, once none of its tasks runs, `mercer cluster submit --replace` hands \
                 out only those",
                folder.display()
            ),
        };
        eprintln!("{} not recorded; {remedy}", counted(left, "trial is", "trials are"));
    }
    if failed > 0 {
        let failed = counted(failed, "trial", "trials");
        eprintln!("{failed} failed; submit with --retry-failed to run them again");
    }
    Ok(match (left + failed, missing.is_empty()) {
        (1.., _) => Ended::Failed,
        (0, false) => Ended::NoData,
        (0, true) => Ended::Done,
    })
}
