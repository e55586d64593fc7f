//! `mercer cluster`: a reproduction as array jobs of Slurm.

mod campaign;
mod queue;
mod work;

use crate::Ended;
use crate::papers::WrongUsage;
use crate::papers::args::{ClusterCommand, ClusterPlan};
use crate::papers::forecast::{Computing, costs, unseen};
use crate::papers::planned::planned;
use crate::papers::printed::show;
use anyhow::Context;
use campaign::{Campaign, Job, Request, new_logs};
use mercer_harness::{
    Array, CostModel, Grouping, Launch, Task, Trial, arrays, group, numbered, peak_memory,
};
use mercer_learning::counted;
use mercer_records::{Status, Store};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Slurm's default of `MaxArraySize` is 1001, and indices stay below it.
const MOST_TASKS: usize = 1000;
/// The program's own memory is rounded up to so many MiB, and one such step more is for what its allocator keeps
/// after hundreds of trials (a worker had 6 MiB above a request without it): a few pages more make no other plan.
const STEP_MIB: f64 = 64.0;

pub(crate) fn run(command: &ClusterCommand) -> anyhow::Result<Ended> {
    match command {
        ClusterCommand::Plan(args) => plan(args),
        ClusterCommand::Submit(args) => submit(args),
        ClusterCommand::Status { campaign, json } => status(campaign, *json),
        ClusterCommand::Collect { campaign, json, out } => collect(campaign, *json, out.clone()),
        ClusterCommand::Work { campaign, task } => work::run(campaign, *task),
    }
}

/// A campaign that has not begun.
struct Draft {
    campaign: Campaign,
    recorded: usize,
    /// Whether there are too few records to predict costs from.
    unseen: bool,
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

fn draft(args: &ClusterPlan) -> anyhow::Result<Draft> {
    let mut request = Request::of(args)?;
    let reproduce = request.arguments(false, None);
    let planned = planned(&reproduce, None)?;
    // A worker plans as this process did, from the same records.
    let program = peak_memory().map_or(256.0, |bytes| 1.1 * bytes as f64 / f64::from(1 << 20));
    let costs = costs(&request.places, &planned.archive, &planned.methods)?;
    let recorded = costs.recorded(args.retry_failed);
    let left: Vec<&Trial> =
        planned.work.trials.iter().filter(|trial| !recorded.contains(&trial.digest)).collect();
    let mut tasks = group(
        &left,
        &costs.model,
        &Grouping {
            seconds: 60.0 * f64::from(args.minutes),
            least: args.tasks.into(),
            most: MOST_TASKS,
            cores: args.cores.into(),
            program_mib: STEP_MIB * ((program / STEP_MIB).ceil() + 1.0),
        },
    );
    for task in &mut tasks {
        task.minutes = task.minutes.max(args.min_minutes);
        task.mib = task.mib.max(args.min_memory_mib);
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
    let campaign = folder(args)?;
    let launch = Launch {
        program: std::env::current_exe().context("cannot name this program")?,
        directory: std::env::current_dir().context("cannot name this directory")?,
        logs: new_logs(&campaign),
        campaign,
        max_parallel: args.max_parallel.map(usize::from),
        directives: args.directives.clone(),
    };
    let campaign = Campaign::new(request, launch, tasks);
    let unseen = costs.model.records < CostModel::FEWEST;
    let computing = costs.computing(&planned.work.simulations, &planned.archive);
    Ok(Draft { campaign, recorded, unseen, computing, factor: costs.model.machine_factor() })
}

fn plan(args: &ClusterPlan) -> anyhow::Result<Ended> {
    let draft = draft(args)?;
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
    for array in arrays(tasks, draft.campaign.launch.max_parallel) {
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
         task that meets its limit on a slower node is queued again once, with twice the time",
        draft.factor
    )?;
    if draft.unseen {
        writeln!(stdout, "{}", unseen(&draft.campaign.request.places.reports))?;
    }
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
    let draft = draft(args)?;
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
    }
    queue::there()?;
    // The workers find it here: no job before its campaign.
    campaign.write()?;
    let scripts = campaign.write_scripts()?;
    let arrays = arrays(&campaign.tasks, campaign.launch.max_parallel);
    let tasks: Vec<Vec<usize>> =
        arrays.iter().map(|array| array.tasks.iter().map(|task| task.index).collect()).collect();
    for (script, tasks) in scripts.iter().zip(tasks) {
        let id = queue::submit(script).with_context(|| {
            format!(
                "{} of {} array jobs were submitted, and the campaign in {} lacks the others: correct the error \
                 of sbatch, wait for the queued tasks or cancel them, and submit again",
                campaign.jobs.len(),
                scripts.len(),
                place.display()
            )
        })?;
        campaign.jobs.push(Job { id, tasks });
        // At once: should the next array be refused, this one is known.
        campaign.write()?;
    }
    submitted(args, &campaign, &scripts)
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
    writeln!(
        stdout,
        "  all {:>9} {:>7} {:>8}  {} queued or running",
        sum(|c| c.recorded),
        sum(|c| c.failed),
        sum(|c| c.missing),
        counted(queued.len(), "task", "tasks"),
    )?;
    let handed: usize = campaign.jobs.iter().map(|job| job.tasks.len()).sum();
    if handed < campaign.tasks.len() {
        writeln!(
            stdout,
            "{} never handed to Slurm, since sbatch refused or was stopped; `mercer cluster submit` hands out the \
             missing trials",
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
    let library = crate::papers::planned::library(&arguments.places)?;
    let recorded: BTreeMap<String, Status> = store
        .list()?
        .records
        .iter()
        .map(|record| (record.key.digest(), record.result.status))
        .collect();
    // Of everything asked for: an earlier campaign may have recorded a failure.
    let failed = planned.work.trials.iter().filter(|trial| {
        let status = recorded.get(&trial.digest);
        status.is_some_and(|status| !matches!(status, Status::Done | Status::Diverged))
    });
    let failed = failed.count();
    let mut missing = BTreeMap::new();
    let mut left = 0;
    for trial in &planned.work.trials {
        if recorded.contains_key(&trial.digest) || missing.contains_key(&trial.key.dataset) {
            continue;
        }
        match library.load(&trial.key.dataset) {
            Ok(_) => left += 1,
            Err(error) => {
                missing.insert(trial.key.dataset.clone(), error.to_string());
            }
        }
    }
    show(&arguments, &planned, &store, &missing, None)?;
    for (dataset, reason) in &missing {
        eprintln!("no data for {dataset}: {reason}");
    }
    if left > 0 {
        let left = counted(left, "trial is", "trials are");
        eprintln!("{left} not recorded; `mercer cluster submit` runs only those");
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
