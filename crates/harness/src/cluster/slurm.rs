use super::{Array, Launch, Named, OF_SLURM, quoted};
use std::fmt::Write;

/// The batch script of an array job.
///
/// A task that is stopped before its end, by its time limit, by preemption, or by a signal from
/// anywhere, is queued again at most `restarts` times; it goes on from what it has recorded. Two
/// minutes before the limit the worker is asked to stop, so that no write is cut; the next time it is
/// granted twice as long, where Slurm lets its user say so (`allow_user_incr_time`, or an operator).
pub fn slurm(array: &Array<'_>, launch: &Launch) -> String {
    let (first, last) = match array.tasks {
        [] => (1, 1),
        [first, ..] => (first.index, first.index + array.tasks.len() - 1),
    };
    let at_once = launch.at_once.map_or(String::new(), |count| format!("%{count}"));
    let mut head = String::new();
    let logs = launch.campaign.join("logs").join("task-%a.log").display().to_string();
    for line in [
        "--job-name=mercer".to_owned(),
        format!("--array={first}-{last}{at_once}"),
        "--ntasks=1".to_owned(),
        format!("--cpus-per-task={}", launch.cores),
        format!("--mem={}M", array.mib),
        format!("--time={}", array.minutes),
        "--requeue".to_owned(),
        "--open-mode=append".to_owned(),
        "--signal=B:TERM@120".to_owned(),
        format!("--output={}", logs.replace(' ', "\\ ")),
    ]
    .iter()
    .chain(&launch.directives)
    {
        // Writing to a string cannot fail.
        let _ = writeln!(head, "#SBATCH {line}");
    }
    let directory = quoted(&launch.directory.display().to_string());
    let minutes = array.minutes;
    let (command, restarts) = (launch.command(&Named::By(OF_SLURM)), launch.restarts);
    format!(
        r#"#!/bin/bash
{head}
# Written by `mercer cluster submit`. A task that was stopped goes on from its records.
cd {directory} || exit 1
export OPENBLAS_NUM_THREADS=1
{command} &
worker=$!
trap 'asked=yes; kill -TERM "$worker" 2>/dev/null' TERM
wait "$worker"
ended=$?
# The trap ends the wait before the worker has ended.
while kill -0 "$worker" 2>/dev/null; do
  wait "$worker"
  ended=$?
done
if [ "$ended" -ge 128 ]; then
  task="${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}" count="${{SLURM_RESTART_COUNT:-0}}"
  echo "stopped with status $ended"
  if [ "$count" -lt {restarts} ]; then
    # Not every Slurm lets its users have more time.
    [ -z "${{asked:-}}" ] || scontrol update "JobId=$task" "TimeLimit=$(({minutes} << (count + 1)))" 2>/dev/null || true
    echo "queued again"
    scontrol requeue "$task" && exit 0
  fi
fi
exit "$ended"
"#
    )
}
