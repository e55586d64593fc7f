//! `mercer cluster work`: one task, as Slurm calls it.

use super::campaign::Campaign;
use crate::Ended;
use crate::papers::WrongUsage;
use crate::papers::planned::{planned_from_tunings, runner};
use crate::papers::printed::ended;
use mercer_harness::{
    HarnessError, Options, Progress, Task, Trial, peak_memory, run as carry_out,
    task_of_environment,
};
use mercer_learning::counted;
use mercer_records::Record;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

pub(super) fn run(folder: &Path, task: Option<usize>) -> anyhow::Result<Ended> {
    let campaign = Campaign::read(folder)?;
    let task = asked(&campaign.tasks, task)?;
    let arguments = campaign.request.arguments(false, None);
    let mut planned = planned_from_tunings(&arguments, &campaign.request.versions)?;
    let wanted: BTreeSet<&str> = task.trials.iter().map(String::as_str).collect();
    planned.work.trials.retain(|trial| wanted.contains(trial.digest.as_str()));
    let gone = wanted.len() - planned.work.trials.len();
    let changed = (gone > 0).then(|| {
        WrongUsage(format!(
            "{gone} of the {} trials of task {} are in no plan any more: the program, the specs, or the tunings among the records of {} changed; submit again",
            wanted.len(),
            task.index,
            arguments.places.reports.display()
        ))
    });
    // The others are what they were: they are carried out before the task fails.
    if let Some(changed) = &changed {
        if planned.work.trials.is_empty() {
            return Err(changed.clone().into());
        }
        tracing::warn!("{changed}; the others are carried out now");
    }
    // Whoever watches a log knows which process it is.
    writeln!(std::io::stdout(), "process {}", std::process::id())?;
    let store = arguments.places.store()?;
    let runner = runner(&arguments, &planned.methods, &store)?;
    let options = Options {
        jobs: task.cores,
        retry_failed: campaign.request.retry_failed,
        ..Options::default()
    };
    // Only to plan from.
    drop(std::mem::take(&mut planned.archive));
    let summary = carry_out(&planned.work.trials, &runner, &options, &Lines)?;
    if let Some(peak) = peak_memory() {
        writeln!(std::io::stdout(), "peak {} of {} MiB", peak.div_ceil(1 << 20), task.mib)?;
    }
    writeln!(
        std::io::stdout(),
        "task {}: {}, {} recorded before, {} carried out",
        task.index,
        counted(summary.trials, "trial", "trials"),
        summary.recorded,
        summary.carried_out
    )?;
    match changed {
        _ if summary.interrupted => Ok(Ended::Interrupted),
        Some(changed) => Err(changed.into()),
        None => Ok(ended(&summary)),
    }
}

/// The task that was asked for, or that Slurm names.
fn asked(tasks: &[Task], number: Option<usize>) -> anyhow::Result<&Task> {
    let count = tasks.len();
    let of_slurm = || task_of_environment(&|name| std::env::var(name).ok()).map_err(WrongUsage);
    let number = match number {
        Some(number) => Some(number),
        None => of_slurm()?,
    };
    let no_number = || WrongUsage(format!("no task: give --task N, from 1 to {count}"));
    let number = number.ok_or_else(no_number)?;
    let none = || WrongUsage(format!("no task {number}; the campaign has tasks 1 to {count}"));
    Ok(tasks.iter().find(|task| task.index == number).ok_or_else(none)?)
}

/// Two lines for each trial: a log tells what ran, whether it ran once, and what a task that was killed had begun.
struct Lines;

impl Progress for Lines {
    fn begin(&self, trials: usize, recorded: usize, _: f64) {
        // A log that cannot be written stops no trial.
        let trials = counted(trials, "trial", "trials");
        let _ = writeln!(std::io::stdout(), "begin: {trials}, {recorded} recorded");
    }

    fn start(&self, trial: &Trial) {
        let _ = writeln!(std::io::stdout(), "start {}", trial.key.digest());
    }

    fn trial(&self, trial: &Trial, record: &Record) {
        let (key, status) = (&trial.key, record.result.status);
        let _ = writeln!(
            std::io::stdout(),
            "trial {} {status:?} {} {} {} {} repeat {}",
            key.digest(),
            key.artefact,
            key.variant,
            key.dataset,
            key.method,
            key.repeat + 1
        );
    }

    fn no_data(&self, trial: &Trial, error: &HarnessError) {
        tracing::warn!("{}: {error}", trial.key.dataset);
    }
}
