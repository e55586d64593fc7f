//! `mercer cluster work`: one task, as an engine calls it.

use super::campaign::Campaign;
use crate::Ended;
use crate::reproduce::{ended, laboratory, planned};
use mercer_harness::{
    HarnessError, Options, Progress, Trial, run as carry_out, task_of_environment,
};
use mercer_records::Record;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

pub(super) fn run(folder: &Path, task: Option<usize>) -> anyhow::Result<Ended> {
    let campaign = Campaign::read(folder)?;
    let number = task.or_else(|| task_of_environment(&|name| std::env::var(name).ok()));
    let task = number.and_then(|number| campaign.tasks.iter().find(|task| task.index == number));
    let Some(task) = task else {
        anyhow::bail!(
            "{}; the campaign has tasks 1 to {}",
            number.map_or_else(
                || "no task: give --task N, or set SLURM_ARRAY_TASK_ID".to_owned(),
                |number| format!("no task {number}")
            ),
            campaign.tasks.len()
        );
    };
    let arguments = campaign.request.arguments(false, None);
    let mut planned = planned(&arguments, Some(&campaign.request.versions))?;
    let wanted: BTreeSet<&str> = task.trials.iter().map(String::as_str).collect();
    planned.work.trials.retain(|trial| wanted.contains(trial.key.digest().as_str()));
    anyhow::ensure!(
        planned.work.trials.len() == wanted.len(),
        "{} of the {} trials of task {} are in no plan any more: the program or the specs changed; submit again",
        wanted.len() - planned.work.trials.len(),
        wanted.len(),
        task.index
    );
    // Whoever watches a log knows which process it is.
    writeln!(std::io::stdout(), "process {}", std::process::id())?;
    let store = arguments.places.store()?;
    let laboratory = laboratory(&arguments, &planned.methods, &store)?;
    let options = Options {
        jobs: campaign.launch.cores,
        retry_failed: campaign.request.retry_failed,
        ..Options::default()
    };
    let summary = carry_out(&planned.work.trials, &laboratory, &options, &Lines)?;
    writeln!(
        std::io::stdout(),
        "task {}: {} trials, {} recorded before, {} carried out",
        task.index,
        summary.trials,
        summary.recorded,
        summary.carried_out
    )?;
    Ok(if summary.interrupted { Ended::Interrupted } else { ended(&summary) })
}

/// A line for each trial: a log tells what ran, when, and whether it ran once.
struct Lines;

impl Progress for Lines {
    fn begin(&self, trials: usize, recorded: usize, _: f64) {
        // A log that cannot be written stops no trial.
        let _ = writeln!(std::io::stdout(), "begin: {trials} trials, {recorded} recorded");
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
