//! Slurm, by its own programs.

use super::Job;
use anyhow::Context;
use mercer_harness::Array;
use mercer_learning::counted;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Whether Slurm is here: asked before anything is written.
pub(super) fn there() -> anyhow::Result<()> {
    Command::new("sbatch")
        .arg("--version")
        .output()
        .context("cannot run sbatch; is Slurm here? --engine script writes a list of commands")?;
    Ok(())
}

/// Hands a script to Slurm, which holds it back until it is released where `held`; returns the number of
/// the job.
pub(super) fn submit(script: &Path, held: bool) -> anyhow::Result<String> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").args(held.then_some("--hold")).arg(script);
    let output = command
        .output()
        .context("cannot run sbatch; is Slurm here? --engine script writes a list of commands")?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "sbatch {}: {}", script.display(), said.trim());
    // With several clusters it says `number;cluster`.
    let id = String::from_utf8_lossy(&output.stdout);
    Ok(id.trim().split(';').next().unwrap_or_default().to_owned())
}

/// Grants the tasks of a held job what each asks for, instead of the most that any does, and lets them go.
///
/// Where Slurm refuses a change, as a site may tell it to, the tasks keep the larger request, and it is
/// said.
pub(super) fn grant(id: &str, arrays: &[Array<'_>]) -> anyhow::Result<()> {
    let cores = |array: &Array<'_>| array.cores;
    let several = arrays.iter().map(cores).min() != arrays.iter().map(cores).max();
    for array in arrays {
        let tasks = format!("{id}_[{}-{}]", array.first(), array.last());
        let (mib, minutes) = (array.mib, array.minutes);
        let mut request = vec![
            "update".to_owned(),
            format!("JobId={tasks}"),
            format!("MinMemoryNode={mib}"),
            format!("TimeLimit={minutes}"),
        ];
        let mut wanted = format!("{mib} MiB and {minutes} minutes");
        if several {
            // Slurm keeps the three apart, and waits for the largest of them.
            let cores = array.cores;
            let each = ["CPUsPerTask", "MinCPUsNode"].map(|name| format!("{name}={cores}"));
            request.extend(each);
            request.push(format!("NumCPUs={cores}-{cores}"));
            wanted = format!("{}, {wanted}", counted(cores, "core", "cores"));
        }
        if let Some(said) = control(&request)? {
            eprintln!("{tasks} keep a larger request than {wanted}: {said}");
        }
    }
    match control(&["release".to_owned(), id.to_owned()])? {
        None => Ok(()),
        Some(said) => anyhow::bail!(
            "job {id} is held and could not be released: {said}; `scontrol release {id}` lets it go, `scancel {id}` \
             ends it"
        ),
    }
}

/// What Slurm says where it refuses.
fn control(arguments: &[String]) -> anyhow::Result<Option<String>> {
    let output =
        Command::new("scontrol").args(arguments).output().context("cannot run scontrol")?;
    let said = String::from_utf8_lossy(&output.stderr);
    Ok((!output.status.success()).then(|| said.trim().to_owned()))
}

/// What Slurm says of a task that waits or runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Queued {
    /// In small letters, such as `running`.
    pub(super) state: String,
    /// Why it does not run, in Slurm's word, such as `Resources`.
    pub(super) reason: Option<String>,
}

/// Slurm's word for a task that wants more time than its partition grants: it waits for ever.
pub(super) const TOO_LONG: &str = "PartitionTimeLimit";

impl std::fmt::Display for Queued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.reason {
            Some(reason) => write!(f, "{} ({reason})", self.state),
            None => f.write_str(&self.state),
        }
    }
}

/// Every task that Slurm still has, by number.
pub(super) fn of(jobs: &[Job]) -> anyhow::Result<BTreeMap<usize, Queued>> {
    let mut tasks = BTreeMap::new();
    for job in jobs {
        let output = Command::new("squeue")
            .args(["--noheader", "--array", "--jobs", &job.id, "--format", "%K %T %r"])
            .output()
            .context("cannot run squeue")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            // A job that ended some time ago is forgotten.
            if said.contains("Invalid job id") {
                continue;
            }
            anyhow::bail!("squeue: {}", said.trim());
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let mut words = line.trim().splitn(3, ' ');
            let index = words.next().and_then(|index| index.parse().ok());
            if let (Some(index), Some(state)) = (index, words.next()) {
                let reason = words.next().map(str::trim).filter(|reason| *reason != "None");
                let state = state.to_lowercase();
                tasks.insert(index, Queued { state, reason: reason.map(str::to_owned) });
            }
        }
    }
    Ok(tasks)
}
