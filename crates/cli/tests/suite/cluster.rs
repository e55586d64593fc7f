//! A campaign by a list of commands, and by a Slurm that three small scripts stand in for.

use crate::place::{Ended, Place, files};
use mercer_records::{Record, Status};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const WHAT: &str =
    "askl/table2 --profile smoke --data data --accept-version --method sk --method majority";

fn single_process(place: &Place) -> Value {
    place.run(&format!("reproduce {WHAT} --results single --json")).with_code(0).json()
}

#[test]
fn a_plan_writes_nothing_and_tells_hours_and_memory() {
    let place = Place::new();
    let before = files(&place.path("."));
    let plan = place.run(&format!("cluster plan {WHAT} --tasks 3")).with_code(0).stdout;
    assert!(plan.contains("3 tasks") && plan.contains("hours of one core"), "{plan}");
    assert_eq!(files(&place.path(".")), before);
    let tasks = place.run(&format!("cluster plan {WHAT} --tasks 3 --json")).with_code(0).json();
    let task = &tasks.as_array().unwrap()[0];
    assert!(task["seconds"].as_f64().unwrap() > 0.0 && task["mib"].as_u64().unwrap() >= 512);
}

#[test]
fn a_plan_has_cores_that_it_can_use_and_directives_that_slurm_can_read() {
    let place = Place::new();
    let plan = |more: &[&str]| {
        let mut command = place.command(&format!("cluster plan {WHAT} --tasks 3"));
        Ended::of(&command.args(more).output().unwrap())
    };
    let two = plan(&["--cores", "2", "--sbatch", "--partition=long"]).with_code(0).stdout;
    let row: Vec<&str> = two.lines().nth(1).unwrap().split_whitespace().collect();
    assert!(two.contains("cores") && row[4] == "2", "{two}");
    // No record is here to learn from.
    assert!(two.contains("too few records") && two.contains("--reports"), "{two}");
    let idle = plan(&["--cores", "1000"]).with_code(2).stderr;
    assert!(
        idle.contains("--cores 1000") && idle.contains("no task has work for more than"),
        "{idle}"
    );
    let bare = plan(&["--sbatch", "partition=long"]).with_code(2).stderr;
    assert!(bare.contains("is it --partition=long?"), "{bare}");
    // The scripts' own, each with what there is instead.
    for (option, instead) in [
        ("--time=2-00:00:00", "--least-limit"),
        ("-t60", "--least-limit"),
        ("--mem=32G", "--least-mib"),
        ("--mem-per-cpu 4G", "--least-mib"),
        ("--array=1-2", "--at-once"),
        ("--output=here.log", "--into"),
        ("--no-requeue", "--restarts 0"),
        ("--signal=TERM@60", "two minutes"),
    ] {
        let refused = plan(&["--sbatch", option]).with_code(2).stderr;
        assert!(refused.contains(option) && refused.contains(instead), "{refused}");
    }
    plan(&["--sbatch", "--mail-type=FAIL", "--sbatch", "--account=a"]).with_code(0);
    let least =
        plan(&["--least-mib", "9000", "--least-limit", "600", "--json"]).with_code(0).json();
    for task in least.as_array().unwrap() {
        assert_eq!((task["mib"].as_u64(), task["minutes"].as_u64()), (Some(9000), Some(600)));
    }
    let broken = plan(&["--sbatch", "--x\nrm file"]).with_code(2).stderr;
    assert!(broken.contains("one line of a script"), "{broken}");
}

/// What no task does is said where the tasks are: whoever collects does it.
#[test]
fn a_plan_tells_what_collect_computes() {
    let place = Place::new();
    let what = "audit/paired-t rftk/table2 --profile quick";
    let plan = place.run(&format!("cluster plan {what}")).with_code(0).stdout;
    assert!(plan.contains("in no task: 3 simulations and measurements to compute"), "{plan}");
    assert!(plan.contains("3 of them never timed"), "{plan}");
    let dry = place.run(&format!("reproduce {what} --dry-run")).with_code(0).stdout;
    assert!(dry.contains("3 simulations and measurements to compute besides, 0.00 hours"), "{dry}");
    // Committed records tell how long.
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports");
    let what = format!("{what} --reports {}", reports.display());
    let dry = place.run(&format!("reproduce {what} --dry-run --json")).with_code(0).json();
    let all = &dry["all"];
    assert_eq!(
        (all["simulations"].as_u64(), all["simulations_never_timed"].as_u64()),
        (Some(3), Some(0))
    );
    assert!(all["simulation_hours"].as_f64().unwrap() > 0.0, "{all}");
    // The profile that proves the pipe measures no times.
    let smoke = "reproduce audit/paired-t rftk/table2 --profile smoke";
    let dry = place.run(&format!("{smoke} --dry-run --json")).with_code(0).json();
    assert_eq!(dry["all"]["simulations"], 2);
}

/// Sixty rows tell of starts: extrapolated to the whole they would make a forecast several times too small.
#[test]
fn what_smoke_took_is_told_of_smoke_alone() {
    let place = Place::new();
    let what = "reproduce askl/table2 --data data --accept-version --dataset segment --method askl --variant released";
    let forecast = |profile: &str| {
        let dry = format!("{what} --profile {profile} --dry-run --retry-failed --json");
        let told = place.run(&dry).with_code(0).json();
        let hours = told["all"]["hours"].as_f64().unwrap();
        (hours / told["machine_factor"].as_f64().unwrap(), told["all"].clone())
    };
    let (before, _) = forecast("paper");
    place.run(&format!("{what} --profile smoke")).with_code(0);
    let (after, all) = forecast("paper");
    assert!(before > 0.0 && (after / before - 1.0).abs() < 1e-9, "{before} {after}");
    assert_eq!(all["from_cell"], 0, "{all}");
    let (_, all) = forecast("smoke");
    assert_eq!(all["to_run"], 0, "{all}");
    // Trials of a profile that measures do count.
    place.run(&format!("{what} --profile quick")).with_code(0);
    let (known, all) = forecast("paper");
    assert!(all["from_cell"].as_u64() > Some(0) && known < 2.0 * before, "{all}");
}

#[test]
fn a_list_of_commands_reproduces_what_one_process_does() {
    let place = Place::new();
    let alone = single_process(&place);
    let submit = format!("cluster submit {WHAT} --engine script --tasks 3 --results shared");
    place.run(&submit).with_code(0);
    let list = fs::read_to_string(place.path("shared/cluster/tasks.txt")).unwrap();
    assert_eq!(list.lines().count(), 3, "{list}");
    // A task by its line, two by the environment of an engine; all from another directory.
    let line = list.lines().next().unwrap();
    // (A relative path in the variable would name nothing there.)
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir("/").env_remove("MERCER_DATA");
    let first = shell.output().unwrap();
    assert!(Ended::of(&first).with_code(0).stdout.contains("carried out"));
    let early = place.run("cluster collect shared/cluster --json").with_code(3);
    assert!(early.stderr.contains("trials are not recorded; go on with the files in"), "{early:?}");
    assert!(early.stderr.contains("cluster submit --replace"), "{early:?}");
    let status = place.run("cluster status shared/cluster").with_code(0).stdout;
    assert!(status.contains("2 of 3 tasks not carried out"), "{status}");
    for task in ["2", "3"] {
        let mut command = place.command("cluster work shared/cluster");
        let output = command.env("SLURM_ARRAY_TASK_ID", task).output().unwrap();
        Ended::of(&output).with_code(0);
    }
    let collected = place.run("cluster collect shared/cluster --json").with_code(0).json();
    assert_eq!(collected, alone);
    assert_eq!(place.records("shared"), place.records("single"));
    let status = place.run("cluster status shared/cluster --json").with_code(0).json();
    assert!(status.as_array().unwrap().iter().all(|task| task["missing"] == 0), "{status}");
    let status = place.run("cluster status shared/cluster").with_code(0).stdout;
    assert!(status.contains("0 of 3 tasks not carried out"), "{status}");
    // Options of sbatch would be lost without a word.
    let refused = place.run(&format!("{submit} --sbatch=--partition=long")).with_code(2).stderr;
    assert!(refused.contains("--sbatch=--partition=long: only --engine slurm"), "{refused}");
    // Once more runs nothing, and leaves the campaign that did the work.
    let before = campaign_files(&place);
    let again = place.run(&format!("{submit} --at-once 2")).with_code(0);
    assert!(
        again.stderr.contains("are recorded; collect them. Nothing is to be done"),
        "{again:?}"
    );
    assert_eq!(again.stdout, "");
    assert_eq!(campaign_files(&place), before);
    let json = place.run(&format!("{submit} --json")).with_code(0).json();
    assert_eq!(json, serde_json::json!({ "tasks": 0, "jobs": [], "files": [] }));
    place.run("cluster collect shared/cluster --json").with_code(0);
    // Nor does it begin one where there was none.
    place.run(&format!("{submit} --into elsewhere")).with_code(0);
    assert!(!place.path("elsewhere").exists());
}

/// Everything in the directory of the campaign.
fn campaign_files(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = files(&place.path("shared/cluster"));
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// What another launcher runs cannot be asked: a campaign of it stays until it is done, or is told to go.
#[test]
fn a_campaign_that_a_launcher_may_still_run_is_not_replaced() {
    let place = Place::new();
    let submit = format!("cluster submit {WHAT} --engine script --tasks 3 --results shared");
    place.run(&submit).with_code(0);
    place.run("cluster work shared/cluster --task 1").with_code(0);
    let before = campaign_files(&place);
    for engine in ["script", "slurm"] {
        let line = submit.replace("--engine script", &format!("--engine {engine}"));
        let refused = place.run(&line).with_code(1);
        assert!(refused.stderr.contains("may still run"), "{refused:?}");
        assert!(refused.stderr.contains("--replace"), "{refused:?}");
        assert_eq!(campaign_files(&place), before);
    }
    place.run(&format!("{submit} --replace")).with_code(0);
    assert_ne!(campaign_files(&place), before);
    // One that cannot be read is not overwritten in silence either.
    fs::write(place.path("shared/cluster/campaign.json"), "{").unwrap();
    let refused = place.run(&submit).with_code(1);
    assert!(refused.stderr.contains("is no campaign; no record is lost"), "{refused:?}");
    assert!(refused.stderr.contains("submit --replace"), "{refused:?}");
    place.run(&format!("{submit} --replace")).with_code(0);
    place.run("cluster status shared/cluster").with_code(0);
}

/// A failure that an earlier campaign, or a run without one, has recorded.
#[test]
fn collect_counts_the_failures_of_all_trials() {
    let place = Place::new();
    single_process(&place);
    let paths = files(&place.path("single"));
    // A trial, not the tuning of some.
    let named = |path: &&PathBuf| {
        path.file_name().unwrap().len() == 69
            && !fs::read_to_string(path).unwrap().contains("\"part\"")
    };
    let (one, other) = {
        let mut records = paths.iter().filter(named);
        (records.next().unwrap(), records.next().unwrap())
    };
    let Record { key, mut result, run, .. } =
        Record::parse(&fs::read_to_string(one).unwrap(), one).unwrap();
    (result.status, result.error) = (Status::Failed, Some("made up".to_owned()));
    fs::write(one, serde_json::to_string(&Record::new(key, result, run)).unwrap()).unwrap();
    fs::remove_file(other).unwrap();
    place.run(&format!("cluster submit {WHAT} --engine script --results single")).with_code(0);
    place.run("cluster work single/cluster --task 1").with_code(0);
    let collected = place.run("cluster collect single/cluster").with_code(3);
    assert!(collected.stderr.contains("1 trial failed"), "{collected:?}");
}

/// `HyperQueue` inside an array of Slurm: the outer variable is there as well.
#[test]
fn the_variable_that_names_the_task_is_said() {
    let place = Place::new();
    place
        .run(&format!("cluster submit {WHAT} --engine script --tasks 3 --results shared"))
        .with_code(0);
    let work = |rest: &str| {
        let mut command = place.command(&format!("cluster work shared/cluster{rest}"));
        let command = command.env("SLURM_ARRAY_TASK_ID", "1").env("HQ_TASK_ID", "2");
        Ended::of(&command.output().unwrap())
    };
    let unsaid = work("").with_code(2).stderr;
    assert!(
        unsaid.contains("SLURM_ARRAY_TASK_ID names task 1, HQ_TASK_ID names task 2"),
        "{unsaid}"
    );
    assert!(unsaid.contains("--task-from"), "{unsaid}");
    assert!(work(" --task-from HQ_TASK_ID").with_code(0).stdout.contains("task 2:"));
    let unset = work(" --task-from JOB_COMPLETION_INDEX").with_code(2).stderr;
    assert!(unset.contains("JOB_COMPLETION_INDEX is not set"), "{unset}");
    let script = fs::read_to_string(place.path("shared/cluster/hyperqueue.sh")).unwrap();
    assert!(script.contains("--task-from HQ_TASK_ID"), "{script}");
}

/// A task that was stopped at its limit would be stopped again; one that ran out of memory needs no time.
#[test]
fn what_was_stopped_is_granted_more_of_what_it_lacked() {
    let place = Place::new();
    let what = format!("{WHAT} --engine script --tasks 2 --results shared");
    place.run(&format!("cluster submit {what}")).with_code(0);
    let plan = || {
        let tasks = place.run(&format!("cluster plan {what} --json")).with_code(0).json();
        let tasks = tasks.as_array().unwrap().clone();
        let number = |task: &Value, name: &str| task[name].as_u64().unwrap();
        tasks.iter().map(|t| [number(t, "minutes"), number(t, "mib")]).collect::<Vec<_>>()
    };
    let [first, [minutes, mib]] = plan()[..] else { panic!("two tasks") };
    let say = |log: &str| {
        fs::write(place.path("shared/cluster/logs/1/task-2.log"), format!("process 1\n{log}\n"))
            .unwrap();
        let plan = plan();
        assert_eq!(plan[0], first);
        plan[1]
    };
    let stopped =
        |minutes: u64| format!("stopped at its time limit of {minutes} minutes\nqueued again");
    assert_eq!(say(&stopped(minutes)), [2 * minutes, mib]);
    assert_eq!(say(&stopped(3 * minutes)), [6 * minutes, mib]);
    // There is an end of it, and what was granted by hand beyond that is not taken back.
    assert_eq!(say(&stopped(5 * minutes)), [8 * minutes, mib]);
    assert_eq!(say(&stopped(1000 * minutes)), [1000 * minutes, mib]);
    assert_eq!(say(&format!("killed at {mib} MiB")), [minutes, 2 * mib]);
    for other in ["cancelled; not queued again", "stopped by preemption", "ended with status 139"] {
        assert_eq!(say(other), [minutes, mib]);
    }
    // The logs of a campaign say nothing of the next one's tasks.
    say(&stopped(minutes));
    place.run(&format!("cluster submit {what} --replace")).with_code(0);
    assert!(place.path("shared/cluster/logs/2").is_dir());
    assert_eq!(plan(), [first, [minutes, mib]]);
}

/// `sbatch` runs the tasks of the array one after the other, and again where `scontrol` was called.
fn stand_in_for_slurm(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let sbatch = r#"#!/bin/bash
script="${@: -1}"
range=$(sed -n 's/^#SBATCH --array=\([0-9-]*\).*/\1/p' "$script")
export SLURM_ARRAY_JOB_ID=7 FAKE="$(dirname "$0")"
for task in $(seq "${range%-*}" "${range#*-}"); do
  export SLURM_ARRAY_TASK_ID=$task SLURM_RESTART_COUNT=0
  while true; do
    rm -f "$FAKE/again"
    bash "$script" >>"$FAKE/log" 2>&1
    echo "task $task ended $?" >>"$FAKE/log"
    [ -e "$FAKE/again" ] || break
    SLURM_RESTART_COUNT=$((SLURM_RESTART_COUNT + 1))
  done
done
echo "7;local"
"#;
    let scontrol = "#!/bin/bash\ntouch \"$FAKE/again\"\n";
    let squeue =
        "#!/bin/bash\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n";
    for (name, text) in [("sbatch", sbatch), ("scontrol", scontrol), ("squeue", squeue)] {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn slurm_reproduces_what_one_process_does() {
    let place = Place::new();
    let alone = single_process(&place);
    stand_in_for_slurm(&place.path("slurm"));
    let path = format!("{}:{}", place.path("slurm").display(), std::env::var("PATH").unwrap());
    let run = |line: &str| {
        let mut command = place.command(line);
        Ended::of(&command.env("PATH", &path).output().unwrap())
    };
    let submitted = run(&format!("cluster submit {WHAT} --tasks 3 --results shared --json"));
    assert_eq!(submitted.with_code(0).json()["jobs"], serde_json::json!(["7"]));
    let status = run("cluster status shared/cluster").with_code(0).stdout;
    assert!(status.contains("0 tasks queued or running"), "{status}");
    assert_eq!(run("cluster collect shared/cluster --json").with_code(0).json(), alone);
    assert_eq!(place.records("shared"), place.records("single"));
    let log = fs::read_to_string(place.path("slurm/log")).unwrap();
    assert_eq!(log.matches("ended 0").count(), 3, "{log}");
}

/// Slurm keeps a limit of tasks at once within a job, so there is one job; no task starts before it was
/// granted its own request instead of the largest.
#[test]
fn a_limit_of_tasks_at_once_holds_over_all_requests() {
    let place = Place::new();
    let what = format!("{WHAT} --tasks 3 --results shared");
    place.run(&format!("cluster submit {what} --engine script")).with_code(0);
    let plan = place.run(&format!("cluster plan {what} --json")).with_code(0).json();
    let [mib, minutes] = ["mib", "minutes"].map(|name| plan[0][name].as_u64().unwrap());
    stand_in_for_slurm(&place.path("slurm"));
    let told = place.path("slurm/told");
    let tell = |name: &str, rest: &str| {
        let text = format!("#!/bin/bash\necho \"{name} $*\" >>{}\n{rest}\n", told.display());
        fs::write(place.path("slurm").join(name), text).unwrap();
    };
    let path = format!("{}:{}", place.path("slurm").display(), std::env::var("PATH").unwrap());
    let submit = |earlier: &str| {
        // The second wants more memory than the others.
        let log = place.path(&format!("shared/cluster/logs/{earlier}/task-2.log"));
        fs::write(log, format!("process 1\nkilled at {mib} MiB\n")).unwrap();
        let line = format!("cluster submit {what} --at-once 2 --replace --json");
        let _ = fs::remove_file(&told);
        let ended = Ended::of(&place.command(&line).env("PATH", &path).output().unwrap());
        (ended, fs::read_to_string(&told).unwrap())
    };
    let script = place.path("shared/cluster/array-1.sbatch");
    tell("sbatch", "echo 7");
    tell("scontrol", "");
    let (submitted, calls) = submit("1");
    let summary = submitted.with_code(0).json();
    assert_eq!((&summary["jobs"], &summary["tasks"]), (&serde_json::json!(["7"]), &Value::from(3)));
    // Whatever asks for the same follows each other.
    let [small, large] = [("1-2", mib), ("3-3", 2 * mib)].map(|(tasks, mib)| {
        format!("scontrol update JobId=7_[{tasks}] MinMemoryNode={mib} TimeLimit={minutes}\n")
    });
    let wanted = format!(
        // Whether there is a Slurm is asked before anything is written.
        "sbatch --version\nsbatch --parsable --hold {}\n{small}{large}scontrol release 7\n",
        script.display()
    );
    assert_eq!(calls, wanted);
    let head = fs::read_to_string(&script).unwrap();
    let largest = format!(
        "#SBATCH --array=1-3%2\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n#SBATCH --mem={}M\n",
        2 * mib
    );
    assert!(head.contains(&largest), "{head}");
    // A site that lets nobody change a request: the larger one stays, and is said.
    tell("scontrol", "[ \"$1\" = release ] || { echo 'Access denied' >&2; exit 1; }");
    let (submitted, calls) = submit("2");
    let submitted = submitted.with_code(0);
    assert!(submitted.stderr.contains("keep a larger request than"), "{submitted:?}");
    assert!(calls.ends_with("scontrol release 7\n"), "{calls}");
    // And where it cannot be released the message says how.
    tell("scontrol", "echo 'Access denied' >&2; exit 1");
    let (held, _) = submit("3");
    let held = held.with_code(1);
    assert!(held.stderr.contains("`scontrol release 7` lets it go"), "{held:?}");
    // What waits for ever is said at once, and again by whoever asks.
    tell("scontrol", "");
    let queued = [
        "1 PENDING PartitionTimeLimit",
        "2 RUNNING None",
        "3 PENDING Nodes required for job are DOWN",
    ];
    // Nothing is queued before the job is released.
    let queued = queued.map(|line| format!("echo '{line}'")).join("; ");
    tell("squeue", &format!("! grep -q release {} || {{ {queued}; }}", told.display()));
    let (submitted, _) = submit("4");
    let remedy = format!(
        "1 task waits for up to {minutes} minutes, more than the partition grants (PartitionTimeLimit): `scancel 7`, \
         and submit with more --tasks, or with --sbatch=--partition=NAME of one that grants it"
    );
    assert!(submitted.with_code(0).stderr.contains(&remedy));
    let status = |line: &str| {
        let command = &mut place.command(&format!("cluster status shared {line}"));
        Ended::of(&command.env("PATH", &path).output().unwrap()).with_code(0)
    };
    let said = status("").stdout;
    for part in [
        "  pending (PartitionTimeLimit)\n",
        "  running\n",
        "(Nodes required for job are DOWN)",
        &remedy,
    ] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let json = status("--json").json();
    assert_eq!((&json[1]["queue"], &json[1]["reason"]), (&"running".into(), &Value::Null));
    assert_eq!(json[0]["reason"], "PartitionTimeLimit");
    stand_in_for_slurm(&place.path("slurm"));
    tell("sbatch", "echo 7");
    // One request needs no grant.
    let line = format!("cluster submit {WHAT} --tasks 3 --results other --at-once 2");
    let _ = fs::remove_file(&told);
    Ended::of(&place.command(&line).env("PATH", &path).output().unwrap()).with_code(0);
    let calls = fs::read_to_string(&told).unwrap();
    assert!(calls.starts_with("sbatch --version\nsbatch --parsable /"), "{calls}");
    assert_eq!(calls.lines().count(), 2, "{calls}");
}

/// A task of one trial has no use for a second core, and the others in its job do not lose theirs for it.
#[test]
fn each_task_is_granted_the_cores_that_it_can_use() {
    let place = Place::new();
    let what = format!("{WHAT} --tasks 13 --cores 2 --results shared");
    let plan = place.run(&format!("cluster plan {what} --json")).with_code(0).json();
    let (mut cores, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    for task in plan.as_array().unwrap() {
        let of_task = task["cores"].as_u64().unwrap();
        assert_eq!(of_task, (task["trials"].as_array().unwrap().len() as u64).min(2));
        wanted.insert(format!(
            "MinMemoryNode={} TimeLimit={} CPUsPerTask={of_task} MinCPUsNode={of_task} NumCPUs={of_task}-{of_task}",
            task["mib"], task["minutes"]
        ));
        cores.insert(of_task);
    }
    assert_eq!(cores, [1, 2].into());
    stand_in_for_slurm(&place.path("slurm"));
    let told = place.path("slurm/told");
    for (name, rest) in [("sbatch", "echo 7"), ("scontrol", "")] {
        let text = format!("#!/bin/bash\necho \"{name} $*\" >>{}\n{rest}\n", told.display());
        fs::write(place.path("slurm").join(name), text).unwrap();
    }
    let path = format!("{}:{}", place.path("slurm").display(), std::env::var("PATH").unwrap());
    let line = format!("cluster submit {what} --at-once 2");
    Ended::of(&place.command(&line).env("PATH", &path).output().unwrap()).with_code(0);
    let calls = fs::read_to_string(&told).unwrap();
    let granted: BTreeSet<String> = calls
        .lines()
        .filter_map(|line| line.strip_prefix("scontrol update JobId=7_["))
        .map(|line| line.split_once("] ").unwrap().1.to_owned())
        .collect();
    assert_eq!(granted, wanted, "{calls}");
    let head = fs::read_to_string(place.path("shared/cluster/array-1.sbatch")).unwrap();
    assert!(head.contains("#SBATCH --cpus-per-task=2\n"), "{head}");
}

/// Some jobs of a campaign, and then none: what is left is said, by the error and by the status.
#[test]
fn a_job_that_slurm_refuses_leaves_a_hint() {
    let place = Place::new();
    stand_in_for_slurm(&place.path("slurm"));
    let sbatch = "#!/bin/bash\necho 'Batch job submission failed: Invalid partition' >&2\nexit 1\n";
    fs::write(place.path("slurm/sbatch"), sbatch).unwrap();
    let path = format!("{}:{}", place.path("slurm").display(), std::env::var("PATH").unwrap());
    let run = |line: &str| {
        let mut command = place.command(line);
        Ended::of(&command.env("PATH", &path).output().unwrap())
    };
    let refused = run(&format!("cluster submit {WHAT} --tasks 3 --results shared")).with_code(1);
    assert!(refused.stderr.contains("Invalid partition"), "{refused:?}");
    assert!(refused.stderr.contains("0 of 1 array jobs were submitted"), "{refused:?}");
    let status = run("cluster status shared/cluster").with_code(0).stdout;
    assert!(status.contains("3 tasks were never handed to Slurm"), "{status}");
    // It stands in no way: once sbatch is mended the same command goes on.
    stand_in_for_slurm(&place.path("slurm"));
    run(&format!("cluster submit {WHAT} --tasks 3 --results shared")).with_code(0);
    let status = run("cluster status shared/cluster").with_code(0).stdout;
    assert!(!status.contains("never handed"), "{status}");
}

#[test]
fn without_slurm_the_message_names_the_other_engine() {
    let place = Place::new();
    let mut command = place.command(&format!("cluster submit {WHAT} --results shared"));
    let ended = Ended::of(&command.env("PATH", "/nowhere").output().unwrap()).with_code(1);
    assert!(ended.stderr.contains("--engine script"), "{ended:?}");
}

#[test]
fn a_campaign_that_is_none_and_a_task_that_is_none_are_named() {
    let place = Place::new();
    let none = place.run("cluster status nowhere").with_code(1);
    assert!(none.stderr.contains("no campaign at nowhere"), "{none:?}");
    place.run(&format!("cluster submit {WHAT} --engine script --results shared")).with_code(0);
    // Wrong usage: a launcher that tries again what may succeed does not try this.
    let beyond = place.run("cluster work shared/cluster --task 99").with_code(2);
    assert!(beyond.stderr.contains("no task 99"), "{beyond:?}");
    let mut command = place.command("cluster work shared/cluster");
    let slip = Ended::of(&command.env("SLURM_ARRAY_TASK_ID", "abc").output().unwrap()).with_code(2);
    assert!(slip.stderr.contains("SLURM_ARRAY_TASK_ID is `abc`"), "{slip:?}");
    // One that counts from 0 in each of several jobs.
    let mut command = place.command("cluster work shared/cluster --after 98");
    let after = Ended::of(&command.env("JOB_COMPLETION_INDEX", "0").output().unwrap()).with_code(2);
    assert!(after.stderr.contains("no task 99"), "{after:?}");
    let mut command = place.command("cluster work shared/cluster");
    command.env_remove("SLURM_ARRAY_TASK_ID").env_remove("JOB_COMPLETION_INDEX");
    let unsaid = Ended::of(&command.output().unwrap()).with_code(2);
    assert!(unsaid.stderr.contains("give --task N"), "{unsaid:?}");
    // A campaign of another program, or of other specs.
    let path = place.path("shared/cluster/campaign.json");
    let campaign = fs::read_to_string(&path).unwrap();
    let mut other: Value = serde_json::from_str(&campaign).unwrap();
    other["tasks"][0]["trials"][0] = Value::from("0".repeat(64));
    fs::write(&path, other.to_string()).unwrap();
    let changed = place.run("cluster work shared/cluster --task 1").with_code(2);
    assert!(changed.stderr.contains("1 of the"), "{changed:?}");
    assert!(changed.stderr.contains("the program, the specs, or the tunings"), "{changed:?}");
    // The others of the task were carried out nevertheless.
    let others = other["tasks"][0]["trials"].as_array().unwrap().len() - 1;
    assert!(others > 0 && changed.stdout.contains(&format!("{others} carried out")), "{changed:?}");
    assert_eq!(place.records("shared").len(), others);
    fs::write(place.path("shared/cluster/campaign.json"), "{}").unwrap();
    let broken = place.run("cluster status shared/cluster").with_code(1);
    assert!(broken.stderr.contains("is no campaign; no record is lost"), "{broken:?}");
}
