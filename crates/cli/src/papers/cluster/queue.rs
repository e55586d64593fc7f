//! Slurm, by its own programs.

use super::Job;
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Whether Slurm is here: asked before anything is written.
pub(super) fn there() -> anyhow::Result<()> {
    Command::new("sbatch")
        .arg("--version")
        .output()
        .context("cannot run sbatch; is Slurm here? Elsewhere `mercer reproduce --shard I/N` divides the trials")?;
    Ok(())
}

/// Hands a script to Slurm; returns the number of the job.
pub(super) fn submit(script: &Path) -> anyhow::Result<String> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").arg(script);
    let output = command
        .output()
        .context("cannot run sbatch; is Slurm here? Elsewhere `mercer reproduce --shard I/N` divides the trials")?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "sbatch {}: {}", script.display(), said.trim());
    // With several clusters it says `number;cluster`.
    let id = String::from_utf8_lossy(&output.stdout);
    Ok(id.trim().split(';').next().unwrap_or_default().to_owned())
}

/// What Slurm says of a task that waits or runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Queued {
    /// In small letters, such as `running`.
    pub(super) state: String,
    /// Why it does not run, in Slurm's word, such as `Resources`.
    pub(super) reason: Option<String>,
}

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
