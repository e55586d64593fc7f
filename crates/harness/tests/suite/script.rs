//! The batch script for Slurm, run by bash. The worker and `scontrol` have stand-ins.

use mercer_harness::{Launch, Task, arrays, slurm};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// What the script is met with.
struct Case {
    /// Shell of the worker; `$PPID` is the script.
    worker: &'static str,
    /// What `scontrol show job` says.
    job: &'static str,
    restarts: u32,
    /// What `scontrol update` comes to.
    update: &'static str,
    /// What `scontrol show` comes to.
    show: &'static str,
}

const RUNNING: &str = "JobId=8 ArrayJobId=7 ArrayTaskId=3 JobState=RUNNING Reason=None TimeLimit=00:15:00 PreemptTime=None X=1";
const CANCELLED: &str = "JobId=8 ArrayJobId=7 ArrayTaskId=3 JobState=COMPLETING Reason=None TimeLimit=00:15:00 PreemptTime=None X=1";

impl Default for Case {
    fn default() -> Self {
        Self { worker: "exit 0", job: RUNNING, restarts: 0, update: "true", show: "true" }
    }
}

/// Exit status, what the log says, and the calls of `scontrol` but `show`.
type Ended = (Option<i32>, String, Vec<String>);

fn ended(case: &Case) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/bash\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let worker = program("worker", case.worker);
    let calls = folder.path().join("calls");
    program(
        "scontrol",
        &format!(
            "case $* in *\"show job 7_3\") echo '{1}'; {3}; exit ;; esac; echo \"$*\" >>{0}; case $1 in update) {2} ;; esac",
            calls.display(),
            case.job,
            case.update,
            case.show
        ),
    );
    let launch = Launch {
        program: worker,
        directory: folder.path().into(),
        campaign: "campaign".into(),
        logs: "logs".into(),
        max_parallel: None,
        directives: Vec::new(),
    };
    let task = Task { index: 3, trials: Vec::new(), seconds: 1.0, cores: 1, mib: 512, minutes: 15 };
    // The time that a worker has to stop: a second instead of a minute and a half.
    let text = slurm(&arrays(&[task], None)[0], &launch);
    assert_eq!(text.matches("sleep 90").count(), 1);
    let text = text.replace("sleep 90", "sleep 1");
    let script = program("script", &text);
    let output = run(&script, folder.path(), case);
    let log = String::from_utf8(output.stdout).unwrap();
    let calls = fs::read_to_string(calls).unwrap_or_default();
    (output.status.code(), log, calls.lines().map(str::to_owned).collect())
}

fn run(script: &Path, folder: &Path, case: &Case) -> std::process::Output {
    Command::new("bash")
        .arg(script)
        .env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()))
        .env("SLURM_ARRAY_JOB_ID", "7")
        .env("SLURM_ARRAY_TASK_ID", "3")
        .env("SLURM_RESTART_COUNT", case.restarts.to_string())
        .env("SLURM_MEM_PER_NODE", "768")
        // sbatch hands the script the environment of whoever submits it.
        .env("limit", "5")
        .env("cancelled", "yes")
        .env("watch", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Until it is asked to stop: as the program ends then.
const ASKED: &str = "trap 'kill $nap; exit 130' TERM; sleep 20 & nap=$!; wait";

fn asked_by(signal: &str) -> String {
    // Not before the script has its traps.
    format!("(sleep 0.3; kill -{signal} $PPID) & {ASKED}")
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[test]
fn what_ended_by_itself_is_passed_on() {
    for (worker, status) in [("exit 0", 0), ("exit 3", 3), ("exit 101", 101)] {
        let (code, log, calls) = ended(&Case { worker, ..Case::default() });
        assert_eq!((code, log.as_str(), calls.len()), (Some(status), "", 0));
    }
}

#[test]
fn the_time_limit_gives_twice_the_time() {
    let usr1 = leak(asked_by("USR1"));
    let (code, log, calls) = ended(&Case { worker: usr1, ..Case::default() });
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(log, "stopped at its time limit of 15 minutes\nqueued again with TimeLimit=30\n");
    assert_eq!(calls, ["requeue 7_3", "update JobId=7_3 TimeLimit=30"]);
    // What Slurm says is what counts, days included.
    for (said, minutes) in [("01:00:00", 60), ("1-00:20:00", 1460), ("UNLIMITED", 15)] {
        let job = leak(RUNNING.replace("00:15:00", said));
        let (_, log, calls) = ended(&Case { worker: usr1, job, ..Case::default() });
        assert!(
            log.starts_with(&format!("stopped at its time limit of {minutes} minutes")),
            "{log}"
        );
        assert_eq!(calls[1], format!("update JobId=7_3 TimeLimit={}", 2 * minutes));
    }
    // A worker that did not stop in two minutes: the limit itself has struck.
    let job = leak(CANCELLED.replace("Reason=None", "Reason=TimeLimit"));
    assert_eq!(ended(&Case { worker: usr1, job, ..Case::default() }).2.len(), 2);
    let (code, log, calls) = ended(&Case { worker: usr1, restarts: 1, ..Case::default() });
    assert_eq!((code, calls.len()), (Some(130), 0), "{log}");
    assert!(log.ends_with("not queued again: it was once\n"), "{log}");
}

/// A fit that nothing interrupts: Slurm would kill worker and script together, and nobody queued it again.
#[test]
fn a_worker_that_does_not_stop_is_killed_in_time() {
    // It goes on whatever it is asked; not before the script has its traps.
    let deaf =
        "trap '' TERM; (sleep 0.3; kill -USR1 $PPID) & sleep 20 >/dev/null 2>&1 & wait $!; wait $!";
    let began = std::time::Instant::now();
    let (code, log, calls) = ended(&Case { worker: deaf, ..Case::default() });
    assert!(began.elapsed().as_secs() < 10, "{log}");
    assert_eq!(code, Some(0), "{log}");
    // By its time, not for lack of memory.
    assert!(log.contains("stopped at its time limit of 15 minutes\n"), "{log}");
    assert!(log.ends_with("queued again with TimeLimit=30\n"), "{log}");
    assert_eq!(calls, ["requeue 7_3", "update JobId=7_3 TimeLimit=30"]);
}

#[test]
fn what_slurm_refuses_is_not_promised() {
    let case = Case { worker: "kill -KILL $$", update: "exit 1", ..Case::default() };
    let (code, log, calls) = ended(&case);
    assert_eq!((code, calls.len()), (Some(0), 2), "{log}");
    assert!(log.ends_with("queued again as it was: Slurm refuses MinMemoryNode=1536\n"), "{log}");
}

#[test]
fn what_was_cancelled_stays_so() {
    let term = leak(asked_by("TERM"));
    let usr1 = leak(asked_by("USR1"));
    // By scancel, which tells script and worker; by a signal to either; shortly before the limit.
    for (worker, job) in [
        (term, CANCELLED),
        (term, RUNNING),
        ("sleep 0.3; exit 130", CANCELLED),
        ("sleep 0.3; kill -KILL $$", CANCELLED),
        (usr1, CANCELLED),
    ] {
        let (code, log, calls) = ended(&Case { worker, job, ..Case::default() });
        assert!(code >= Some(128), "{worker}: {code:?}");
        assert_eq!((log.as_str(), calls.len()), ("cancelled; not queued again\n", 0), "{worker}");
    }
}

#[test]
fn what_was_preempted_goes_on_as_it_was() {
    let job = leak(RUNNING.replace("PreemptTime=None", "PreemptTime=2026-11-20T01:02:03"));
    let (code, log, calls) =
        ended(&Case { worker: leak(asked_by("TERM")), job, ..Case::default() });
    assert_eq!((code, log.as_str()), (Some(0), "stopped by preemption\nqueued again\n"));
    assert_eq!(calls, ["requeue 7_3"]);
    // A partition may announce it by the signal of the time limit.
    let (_, log, calls) = ended(&Case { worker: leak(asked_by("USR1")), job, ..Case::default() });
    assert_eq!((log.as_str(), calls.len()), ("stopped by preemption\nqueued again\n", 1));
    // On nodes that others may claim, as often as they do.
    let often = Case { worker: leak(asked_by("TERM")), job, restarts: 9, ..Case::default() };
    assert_eq!(ended(&often).2, ["requeue 7_3"]);
}

#[test]
fn what_was_killed_gets_more_memory_and_no_more_time() {
    let (code, log, calls) = ended(&Case { worker: "kill -KILL $$", ..Case::default() });
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("killed at 768 MiB\nqueued again with MinMemoryNode=1536\n"), "{log}");
    assert_eq!(calls, ["requeue 7_3", "update JobId=7_3 MinMemoryNode=1536"]);
}

/// A worker that is killed while the controller is restarted is not taken for a cancelled one.
#[test]
fn a_controller_that_does_not_answer_is_named() {
    let case = Case { worker: "kill -KILL $$", show: "exit 1", ..Case::default() };
    let (code, log, calls) = ended(&case);
    assert_eq!((code, calls.len()), (Some(137), 0), "{log}");
    assert_eq!(log, "no answer from Slurm after status 137; not queued again\n");
}

/// As by a shared disk that failed for a moment.
#[test]
fn a_failure_that_may_pass_is_tried_again() {
    let (code, log, calls) = ended(&Case { worker: "exit 1", ..Case::default() });
    assert_eq!((code, calls.as_slice()), (Some(0), &["requeue 7_3".to_owned()][..]), "{log}");
    assert!(log.ends_with("queued again\n"), "{log}");
    let (code, log, calls) = ended(&Case { worker: "exit 1", restarts: 1, ..Case::default() });
    assert_eq!((code, calls.len()), (Some(1), 0), "{log}");
    let cancelled = Case { worker: "sleep 0.3; exit 1", job: CANCELLED, ..Case::default() };
    assert_eq!(ended(&cancelled).1, "cancelled; not queued again\n");
}

#[test]
fn a_crash_is_not_tried_again() {
    for (worker, status) in [("kill -SEGV $$", 139), ("kill -ABRT $$", 134), ("exit 130", 130)] {
        let (code, log, calls) = ended(&Case { worker, ..Case::default() });
        assert_eq!((code, calls.len()), (Some(status), 0), "{log}");
        assert!(log.contains(&format!("ended with status {status}")), "{log}");
    }
}
