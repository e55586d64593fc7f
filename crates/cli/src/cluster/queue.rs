//! Slurm, by its own programs.

use super::Job;
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Hands a script to Slurm; returns the number of the job.
pub(super) fn submit(script: &Path) -> anyhow::Result<String> {
    let output =
        Command::new("sbatch").arg("--parsable").arg(script).output().context(
            "cannot run sbatch; is Slurm here? --engine script writes a list of commands",
        )?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "sbatch {}: {}", script.display(), said.trim());
    // With several clusters it says `number;cluster`.
    let id = String::from_utf8_lossy(&output.stdout);
    Ok(id.trim().split(';').next().unwrap_or_default().to_owned())
}

/// The state of every task that Slurm still has, by number.
pub(super) fn of(jobs: &[Job]) -> anyhow::Result<BTreeMap<usize, String>> {
    let mut states = BTreeMap::new();
    for job in jobs {
        let output = Command::new("squeue")
            .args(["--noheader", "--array", "--jobs", &job.id, "--format", "%K %T"])
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
            if let Some((index, state)) = line.trim().split_once(' ')
                && let Ok(index) = index.parse()
            {
                states.insert(index, state.trim().to_lowercase());
            }
        }
    }
    Ok(states)
}
