use super::{Array, Launch, quoted};
use std::fmt::Write;

/// Returns the batch script of an array job.
///
/// Two minutes before the time limit Slurm sends `USR1` to the script alone, which asks the worker to stop. A worker
/// that cannot be interrupted is killed after 90 seconds. Then there is still time to queue the task again (its records
/// are whole or absent). A task that ends early is queued again, once:
///
/// | end of the worker | the task |
/// |:--|:--|
/// | time limit | is queued again with twice the time |
/// | `SIGKILL` (status 137) while the job goes on, as for lack of memory | is queued again with twice the memory |
/// | status 1, as by a disk that fails | is queued again as it was |
/// | preemption | is queued again as it was, however often |
/// | `scancel`, or any other signal | stays ended |
///
/// Slurm lets its users change the requests of waiting tasks; where a site forbids it, the old ones stay.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::{launch, three};
/// let tasks = three();
/// let script = mercer_harness::slurm(&mercer_harness::arrays(&tasks, None)[0], &launch());
/// assert!(script.starts_with("#!/bin/bash\n") && script.contains("#SBATCH --array=1-2%3\n"));
/// assert!(script.contains("#SBATCH --mem=512M\n") && script.contains("#SBATCH --requeue\n"));
/// ```
pub fn slurm(array: &Array<'_>, launch: &Launch) -> String {
    let head = directives(array, launch);
    let [directory, program, campaign] = [&launch.directory, &launch.program, &launch.campaign]
        .map(|path| quoted(&path.display().to_string()));
    let (minutes, ending) = (array.minutes, ending(array.mib));
    format!(
        r#"#!/bin/bash
{head}
# Written by `mercer cluster submit`. A task that was stopped resumes from its records.
cd {directory} || exit 1
export OPENBLAS_NUM_THREADS=1
# sbatch passes on the environment of its caller.
limit='' cancelled='' watch='' running='' preempted='' more='' minutes={minutes}
{program} cluster work {campaign} &
worker=$!
near() {{
  limit=yes trapped=yes
  kill -TERM "$worker" 2>/dev/null
  # At the limit Slurm kills this script, too.
  [ "$watch" ] || {{ (sleep {GRACE}; kill -KILL "$worker") >/dev/null 2>&1 & watch=$!; }}
}}
trap near USR1
trap 'cancelled=yes trapped=yes; kill -TERM "$worker" 2>/dev/null' TERM
# A trap ends the wait before the worker has ended.
trapped=yes
while [ "$trapped" ]; do
  trapped=''
  wait "$worker"
  ended=$?
done
[ -z "$watch" ] || kill "$watch" 2>/dev/null
{ending}"#
    )
}

/// The rest of the script: what becomes of a task whose worker has ended.
fn ending(mib: u64) -> String {
    format!(
        r#"[ "$ended" -ge 128 ] || [ "$ended" -eq 1 ] || exit "$ended"
task="${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
if ! job=" $(scontrol --oneliner show job "$task") "; then
  echo "no answer from Slurm after status $ended; not queued again"
  exit "$ended"
fi
case $job in *" JobState=RUNNING "* | *" Reason=TimeLimit "*) running=yes ;; esac
if [[ $job =~ " PreemptTime="[0-9] ]]; then
  preempted=yes
  echo "stopped by preemption"
elif [ "$limit" ] && [ "$running" ]; then
  if [[ $job =~ " TimeLimit="(([0-9]+)-)?([0-9]+):([0-9]+): ]]; then
    minutes=$(((10#${{BASH_REMATCH[2]:-0}} * 24 + 10#${{BASH_REMATCH[3]}}) * 60 + 10#${{BASH_REMATCH[4]}}))
  fi
  echo "stopped at its time limit of $minutes minutes"
  more="TimeLimit=$((2 * minutes))"
elif [ "$cancelled" ] || [ ! "$running" ]; then
  echo "cancelled; not queued again"
  exit "$ended"
elif [ "$ended" -eq 137 ]; then
  mib=${{SLURM_MEM_PER_NODE:-{mib}}}
  echo "killed at $mib MiB"
  more="MinMemoryNode=$((2 * mib))"
else
  echo "ended with status $ended"
  [ "$ended" -eq 1 ] || exit "$ended"
fi
if [ -z "$preempted" ] && [ "${{SLURM_RESTART_COUNT:-0}}" -ge 1 ]; then
  echo "not queued again: it was once"
  exit "$ended"
fi
# The requeue ends this script; the waiting task is granted more first.
trap '' TERM
scontrol requeue "$task" || exit "$ended"
if [ -z "$more" ]; then
  echo "queued again"
elif scontrol update "JobId=$task" "$more"; then
  echo "queued again with $more"
else
  echo "queued again as it was: Slurm refuses $more"
fi
exit 0
"#
    )
}

/// The head of the script: its requests.
fn directives(array: &Array<'_>, launch: &Launch) -> String {
    let (first, last) = (array.first(), array.last());
    let limit = launch.max_parallel.map_or(String::new(), |count| format!("%{count}"));
    let mut head = String::new();
    let logs = format!("{}/task-%a.log", path(&launch.logs.display().to_string()));
    for line in [
        "--job-name=mercer".to_owned(),
        format!("--array={first}-{last}{limit}"),
        "--ntasks=1".to_owned(),
        format!("--cpus-per-task={}", array.cores),
        format!("--mem={}M", array.mib),
        format!("--time={}", array.minutes),
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

/// Seconds after which a worker is killed that does not stop two minutes before its time limit.
const GRACE: u64 = 90;

/// A path as the head of a batch script has it. Slurm reads quotes and backslashes there, ends the path at a space
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
