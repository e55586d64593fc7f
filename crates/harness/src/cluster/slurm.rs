use super::{Array, Launch, MOST_GROWTH, Named, OF_SLURM, quoted};
use std::fmt::Write;

/// The array jobs that Slurm is handed, each as the requests that its tasks have: one for every request,
/// or all of them in one where only so many tasks may run at once, since Slurm keeps that limit within a
/// job alone.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::{launch, three};
/// use mercer_harness::{Launch, array_jobs, arrays};
/// let tasks = three(); // two requests
/// let arrays = arrays(&tasks);
/// assert_eq!(array_jobs(&arrays, &Launch { at_once: None, ..launch() }).len(), 2);
/// assert_eq!(array_jobs(&arrays, &Launch { at_once: Some(3), ..launch() }), [&arrays[..]]);
/// ```
pub fn array_jobs<'a>(arrays: &'a [Array<'a>], launch: &Launch) -> Vec<&'a [Array<'a>]> {
    match launch.at_once {
        Some(_) if !arrays.is_empty() => vec![arrays],
        _ => arrays.chunks(1).collect(),
    }
}

/// The batch script of an array job, whose tasks have one request, or several: then the job asks for the
/// most that any of them does, and whoever submits it grants each what it needs before it starts.
///
/// Two minutes before the time limit Slurm sends `USR1` to the script alone, which asks the worker to
/// stop; a worker in the midst of what cannot be interrupted is killed after 90 seconds, while there is still
/// time to queue the task again (its records are whole or absent). What ends a worker early, and what follows:
///
/// - its time limit: it is queued again with twice the time;
/// - `SIGKILL` (status 137) while the job goes on, which is what a lack of memory looks like: queued
///   again with twice the memory;
/// - preemption: queued again as it was;
/// - status 1, as by a disk that fails: queued again as it was;
/// - `scancel`, or any other signal: it stays ended.
///
/// A controller that does not answer, as while it is restarted, is asked for five minutes; if it still does not,
/// the task stays ended and says so.
///
/// It is queued again at most `restarts` times, preemptions apart, and a request grows to [`MOST_GROWTH`] times the
/// first at most; one that was raised beyond that by hand stays as it is. Slurm lets its users change the requests
/// of tasks that wait; where it does not, the old ones stay.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::{launch, three};
/// let tasks = three();
/// let script = mercer_harness::slurm(&mercer_harness::arrays(&tasks)[..1], &launch());
/// assert!(script.starts_with("#!/bin/bash\n") && script.contains("#SBATCH --array=1-2%3\n"));
/// assert!(script.contains("#SBATCH --mem=512M\n") && script.contains("#SBATCH --requeue\n"));
/// ```
pub fn slurm(job: &[Array<'_>], launch: &Launch) -> String {
    let head = directives(job, launch);
    let directory = quoted(&launch.directory.display().to_string());
    let requests = requests(job);
    let (command, restarts) = (launch.command(&Named::By(OF_SLURM)), launch.restarts);
    format!(
        r#"#!/bin/bash
{head}
# Written by `mercer cluster submit`. A task that was stopped goes on from its records.
cd {directory} || exit 1
export OPENBLAS_NUM_THREADS=1
# Not those of whoever submitted this.
limit='' told='' watch=''
{command} &
worker=$!
# The time limit is near; and the end, by whoever wants it.
near() {{
  limit=yes trapped=yes
  kill -TERM "$worker" 2>/dev/null
  # What cannot be interrupted would last until Slurm kills this script, too.
  [ "$watch" ] || {{ (sleep {GRACE}; kill -KILL "$worker") >/dev/null 2>&1 & watch=$!; }}
}}
trap near USR1
trap 'told=yes trapped=yes; kill -TERM "$worker" 2>/dev/null' TERM
# A trap ends the wait with the number of its signal, before the worker has ended or after.
trapped=yes
while [ "$trapped" ]; do
  trapped=''
  wait "$worker"
  ended=$?
done
[ -z "$watch" ] || kill "$watch" 2>/dev/null
[ "$ended" -ge 128 ] || [ "$ended" -eq 1 ] || exit "$ended"
{WAIT}task="${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
# What was asked for at first.
{requests}
# Twice what it had, {MOST_GROWTH} times what it asked for at most, and never less than it had.
grown() {{
  local more=$((2 * $1 < {MOST_GROWTH} * $2 ? 2 * $1 : {MOST_GROWTH} * $2))
  echo $((more > $1 ? more : $1))
}}
said=" $(slurm --oneliner show job "$task" 2>/dev/null) " asked=$? running='' more='' preempted=''
if [ "$asked" -eq 99 ]; then
  echo "no answer from Slurm after status $ended; not queued again"
  exit "$ended"
fi
case $said in *" JobState=RUNNING "* | *" Reason=TimeLimit "*) running=yes ;; esac
if [[ $said =~ " PreemptTime="[0-9] ]]; then
  # No fault of the task's, however often.
  preempted=yes
  echo "stopped by preemption"
elif [ "$limit" ] && [ "$running" ]; then
  minutes=$first_minutes
  if [[ $said =~ " TimeLimit="(([0-9]+)-)?([0-9]+):([0-9]+): ]]; then
    minutes=$(((10#${{BASH_REMATCH[2]:-0}} * 24 + 10#${{BASH_REMATCH[3]}}) * 60 + 10#${{BASH_REMATCH[4]}}))
  fi
  echo "stopped at its time limit of $minutes minutes"
  more="TimeLimit=$(grown "$minutes" "$first_minutes")"
elif [ "$told" ] || [ ! "$running" ]; then
  echo "cancelled; not queued again"
  exit "$ended"
elif [ "$ended" -eq 137 ]; then
  mib=${{SLURM_MEM_PER_NODE:-$first_mib}}
  echo "killed at $mib MiB"
  more="MinMemoryNode=$(grown "$mib" "$first_mib")"
elif [ "$ended" -eq 1 ]; then
  echo "ended with status 1: a disk that failed, perhaps"
else
  echo "ended with status $ended, by no doing of Slurm; not queued again"
  exit "$ended"
fi
if [ -z "$preempted" ] && [ "${{SLURM_RESTART_COUNT:-0}}" -ge {restarts} ]; then
  echo "not queued again: it was {restarts} times"
  exit "$ended"
fi
# What queues it again ends this script; before, the waiting task is granted more.
trap '' TERM
slurm requeue "$task" || exit "$ended"
if [ -z "$more" ]; then
  echo "queued again"
elif slurm update "JobId=$task" "$more"; then
  echo "queued again with $more"
else
  echo "queued again as it was: Slurm refuses $more"
fi
exit 0
"#
    )
}

/// The head of the script: what the job asks for.
fn directives(job: &[Array<'_>], launch: &Launch) -> String {
    let first = job.first().map_or(1, Array::first);
    let last = job.last().map_or(1, Array::last);
    let largest = |of: fn(&Array<'_>) -> u64| job.iter().map(of).max().unwrap_or(0);
    let cores = job.iter().map(|array| array.cores).max().unwrap_or(1);
    let at_once = launch.at_once.map_or(String::new(), |count| format!("%{count}"));
    let mut head = String::new();
    let logs = format!("{}/task-%a.log", path(&launch.logs.display().to_string()));
    for line in [
        "--job-name=mercer".to_owned(),
        format!("--array={first}-{last}{at_once}"),
        "--ntasks=1".to_owned(),
        format!("--cpus-per-task={cores}"),
        format!("--mem={}M", largest(|array| array.mib)),
        format!("--time={}", largest(|array| array.minutes)),
        "--requeue".to_owned(),
        "--open-mode=append".to_owned(),
        "--signal=B:USR1@120".to_owned(),
        format!("--output={logs}"),
    ]
    .iter()
    .chain(&launch.directives)
    {
        // Writing to a string cannot fail.
        let _ = writeln!(head, "#SBATCH {line}");
    }
    head
}

/// Calls `scontrol` for five minutes, unless there is an answer.
const WAIT: &str = r#"# A controller that does not answer may be on its way back.
slurm() {
  local try status
  for try in {1..31}; do
    scontrol "$@" && return
    status=$?
    ! scontrol ping 2>/dev/null | grep -q ' is UP' || return "$status"
    [ "$try" -gt 30 ] || sleep 10
  done
  return 99
}
"#;

/// Seconds after which a worker is killed that does not stop two minutes before its time limit.
const GRACE: u64 = 90;

/// A path as the head of a batch script has it: Slurm reads quotes and backslashes there, ends it at a space
/// outside quotes, escaped or not, and replaces what follows a percent sign.
fn path(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '%' => "%%".to_owned(),
        '\'' | '"' | '\\' => format!("\\{letter}"),
        letter => letter.to_string(),
    };
    let whole: String = text.chars().map(escaped).collect();
    let plain = !text.contains([' ', '\t', '\'', '"', '\\', '#']);
    if plain { whole } else { format!("\"{whole}\"") }
}

/// Lines of a shell that know the first request of the task.
fn requests(job: &[Array<'_>]) -> String {
    let of = |array: &Array<'_>| format!("first_minutes={} first_mib={}", array.minutes, array.mib);
    let Some((rest, others)) = job.split_last() else {
        return "first_minutes=0 first_mib=0".to_owned();
    };
    let mut lines = of(rest);
    // Tasks of one request follow each other: the last that still has it decides.
    for array in others.iter().rev() {
        // Writing to a string cannot fail.
        let _ =
            write!(lines, "\n[ \"$SLURM_ARRAY_TASK_ID\" -gt {} ] || {}", array.last(), of(array));
    }
    lines
}
