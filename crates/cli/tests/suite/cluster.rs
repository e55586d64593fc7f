//! A campaign by a Slurm that three small scripts stand in for.

use crate::place::{Ended, Place, files};
use mercer_records::{Record, Status};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
        ("--time=2-00:00:00", "--min-minutes"),
        ("-t60", "--min-minutes"),
        ("--mem=32G", "--min-memory-mib"),
        ("--mem-per-cpu 4G", "--min-memory-mib"),
        ("--array=1-2", "--max-parallel"),
        ("--output=here.log", "--into"),
        ("--no-requeue", "queued again once"),
        ("--signal=TERM@60", "two minutes"),
    ] {
        let refused = plan(&["--sbatch", option]).with_code(2).stderr;
        assert!(refused.contains(option) && refused.contains(instead), "{refused}");
    }
    plan(&["--sbatch", "--mail-type=FAIL", "--sbatch", "--account=a"]).with_code(0);
    let least =
        plan(&["--min-memory-mib", "9000", "--min-minutes", "600", "--json"]).with_code(0).json();
    for task in least.as_array().unwrap() {
        assert_eq!((task["mib"].as_u64(), task["minutes"].as_u64()), (Some(9000), Some(600)));
    }
    // Whatever a task needs not is not asked for: of thirteen tasks some have a trial, some two.
    let what = format!("cluster plan {WHAT} --tasks 13 --cores 2 --json");
    let mut each: Vec<u64> = Vec::new();
    for task in place.run(&what).with_code(0).json().as_array().unwrap() {
        let trials = task["trials"].as_array().unwrap().len() as u64;
        assert_eq!(task["cores"].as_u64().unwrap(), trials.min(2));
        each.push(trials.min(2));
    }
    assert!(each.contains(&1) && each.contains(&2), "{each:?}");
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

/// Records of a cell replace what its declared cost says.
#[test]
fn a_dry_run_tells_what_its_hours_are_known_from() {
    let place = Place::new();
    let what = "reproduce askl/table2 --data data --accept-version --dataset segment --method askl --variant released";
    let forecast = |profile: &str| {
        let dry = format!("{what} --profile {profile} --dry-run --retry-failed --json");
        place.run(&dry).with_code(0).json()["all"].clone()
    };
    let before = forecast("paper");
    assert!(before["hours"].as_f64() > Some(0.0), "{before}");
    assert_eq!(before["from_declared_cost"], before["to_run"]);
    place.run(&format!("{what} --profile smoke")).with_code(0);
    assert_eq!(forecast("smoke")["to_run"], 0);
    let after = forecast("paper");
    assert_eq!((&after["from_cell"], &after["from_method"]), (&0.into(), &after["to_run"]));
    // Of the quick profile's repeats the paper has more.
    place.run(&format!("{what} --profile quick")).with_code(0);
    assert!(forecast("paper")["from_cell"].as_u64() > Some(0));
}

/// `submit` by the stand-in, which leaves the tasks to the test.
fn submitted(place: &Place, line: &str) -> Ended {
    stand_in_for_slurm(&place.path("slurm"));
    let sbatch = place.path("slurm/sbatch");
    fs::write(&sbatch, "#!/bin/bash\necho 7\n").unwrap();
    with_slurm(place, line)
}

/// A command with the stand-ins first in its path.
fn with_slurm(place: &Place, line: &str) -> Ended {
    let path = format!("{}:{}", place.path("slurm").display(), std::env::var("PATH").unwrap());
    Ended::of(&place.command(line).env("PATH", path).output().unwrap())
}

#[test]
fn tasks_by_hand_reproduce_what_one_process_does() {
    let place = Place::new();
    let alone = single_process(&place);
    let submit = format!("cluster submit {WHAT} --tasks 3 --results shared");
    submitted(&place, &submit).with_code(0);
    place.run("cluster work shared/cluster --task 1").with_code(0);
    let early = place.run("cluster collect shared/cluster --json").with_code(3);
    assert!(early.stderr.contains("not recorded; `mercer cluster submit` runs only"), "{early:?}");
    // Two by the environment of Slurm, from another directory.
    for task in ["2", "3"] {
        let mut command = place.command("cluster work");
        let command = command.arg(place.path("shared/cluster")).env("SLURM_ARRAY_TASK_ID", task);
        let command = command.current_dir("/").env_remove("MERCER_DATA");
        Ended::of(&command.output().unwrap()).with_code(0);
    }
    let collected = place.run("cluster collect shared/cluster --json").with_code(0).json();
    assert_eq!(collected, alone);
    assert_eq!(place.records("shared"), place.records("single"));
    let status = with_slurm(&place, "cluster status shared/cluster --json").with_code(0).json();
    assert!(status.as_array().unwrap().iter().all(|task| task["missing"] == 0), "{status}");
    // Once more runs nothing, and leaves the campaign that did the work.
    let campaign = || fs::read(place.path("shared/cluster/campaign.json")).unwrap();
    let before = campaign();
    let again = with_slurm(&place, &format!("{submit} --max-parallel 2")).with_code(0);
    assert!(
        again.stderr.contains("are recorded; collect them. Nothing is to be done"),
        "{again:?}"
    );
    assert_eq!(again.stdout, "");
    assert_eq!(campaign(), before);
    let json = with_slurm(&place, &format!("{submit} --json")).with_code(0).json();
    assert_eq!(json, serde_json::json!({ "tasks": 0, "jobs": [], "files": [] }));
    // Nor does it begin one where there was none.
    with_slurm(&place, &format!("{submit} --into elsewhere")).with_code(0);
    assert!(!place.path("elsewhere").exists());
}

#[test]
fn a_damaged_campaign_is_replaced_on_request_alone() {
    let place = Place::new();
    let submit = format!("cluster submit {WHAT} --tasks 3 --results shared");
    submitted(&place, &submit).with_code(0);
    fs::write(place.path("shared/cluster/campaign.json"), "{").unwrap();
    let refused = with_slurm(&place, &submit).with_code(1);
    assert!(refused.stderr.contains("is no campaign; no record is lost"), "{refused:?}");
    assert!(refused.stderr.contains("submit --replace"), "{refused:?}");
    with_slurm(&place, &format!("{submit} --replace")).with_code(0);
    with_slurm(&place, "cluster status shared/cluster").with_code(0);
    // The logs of a campaign say nothing of the next one's tasks.
    assert!(place.path("shared/cluster/logs/2").is_dir());
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
    submitted(&place, &format!("cluster submit {WHAT} --results single")).with_code(0);
    place.run("cluster work single/cluster --task 1").with_code(0);
    let collected = place.run("cluster collect single/cluster").with_code(3);
    assert!(collected.stderr.contains("1 trial failed"), "{collected:?}");
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

/// Slurm keeps a limit of tasks at once within a job, so there is one job, whose tasks ask for the most of any.
#[test]
fn a_limit_of_tasks_at_once_is_one_job_and_its_state_is_told() {
    let place = Place::new();
    let line = format!("cluster submit {WHAT} --tasks 3 --results shared --max-parallel 2 --json");
    let summary = submitted(&place, &line).with_code(0).json();
    assert_eq!((&summary["jobs"], &summary["tasks"]), (&serde_json::json!(["7"]), &Value::from(3)));
    let head = fs::read_to_string(place.path("shared/cluster/array-1.sbatch")).unwrap();
    assert!(head.contains("#SBATCH --array=1-3%2\n"), "{head}");
    let queued = "#!/bin/bash\necho '1 PENDING PartitionTimeLimit'; echo '2 RUNNING None'\n\
        echo '3 PENDING Nodes required for job are DOWN'\n";
    fs::write(place.path("slurm/squeue"), queued).unwrap();
    let status = with_slurm(&place, "cluster status shared").with_code(0).stdout;
    for part in
        ["pending (PartitionTimeLimit)\n", "  running\n", "(Nodes required for job are DOWN)"]
    {
        assert!(status.contains(part), "{part} is not in {status}");
    }
    assert!(status.contains("3 tasks queued or running"), "{status}");
    let json = with_slurm(&place, "cluster status shared --json").with_code(0).json();
    assert_eq!((&json[1]["queue"], &json[1]["reason"]), (&"running".into(), &Value::Null));
    assert_eq!(json[0]["reason"], "PartitionTimeLimit");
    // What Slurm still has is not submitted twice.
    let twice = with_slurm(&place, &line).with_code(1);
    assert!(twice.stderr.contains("3 tasks are still queued or running"), "{twice:?}");
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
fn without_slurm_the_message_names_shards() {
    let place = Place::new();
    let mut command = place.command(&format!("cluster submit {WHAT} --results shared"));
    let ended = Ended::of(&command.env("PATH", "/nowhere").output().unwrap()).with_code(1);
    assert!(ended.stderr.contains("--shard I/N"), "{ended:?}");
    assert!(!place.path("shared").exists());
}

#[test]
fn a_campaign_that_is_none_and_a_task_that_is_none_are_named() {
    let place = Place::new();
    let none = place.run("cluster status nowhere").with_code(1);
    assert!(none.stderr.contains("no campaign at nowhere"), "{none:?}");
    submitted(&place, &format!("cluster submit {WHAT} --results shared")).with_code(0);
    // Wrong usage: another try would only repeat it.
    let beyond = place.run("cluster work shared/cluster --task 99").with_code(2);
    assert!(beyond.stderr.contains("no task 99"), "{beyond:?}");
    let mut command = place.command("cluster work shared/cluster");
    let slip = Ended::of(&command.env("SLURM_ARRAY_TASK_ID", "abc").output().unwrap()).with_code(2);
    assert!(slip.stderr.contains("SLURM_ARRAY_TASK_ID is `abc`"), "{slip:?}");
    let mut command = place.command("cluster work shared/cluster");
    command.env_remove("SLURM_ARRAY_TASK_ID");
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
