//! Plans cut into tasks, and what engines are handed.

use crate::bench::{STUDY, all, one_method};
use crate::doubles::METHODS;
use mercer_harness::{
    CostModel, Grouping, Launch, Margin, Task, Trial, array_jobs, arrays, group, hyperqueue,
    kubernetes, slurm, task_list, task_of_variable, tasks_of_environment,
};
use std::collections::{BTreeMap, BTreeSet};

const MARGIN: Margin = Margin { bytes: 1.5, seconds: 2.0 };
const HOW: Grouping = Grouping {
    seconds: 3600.0,
    least: 1,
    most: 1000,
    cores: 1,
    program_mib: 256.0,
    margin: MARGIN,
    larger: MARGIN,
};

fn tasks(trials: &[Trial], how: &Grouping) -> Vec<Task> {
    let trials: Vec<&Trial> = trials.iter().collect();
    group(&trials, &CostModel::fit(&[], METHODS, 0.005), how)
}

fn launch() -> Launch {
    Launch {
        program: "/opt/mercer".into(),
        directory: "/shared/my study".into(),
        campaign: "/shared/my study/results/cluster".into(),
        logs: "/shared/my study/results/cluster/logs/1".into(),
        places: vec!["/shared/my study/results".into(), "/data".into()],
        at_once: Some(3),
        restarts: 5,
        directives: vec!["--partition=long".to_owned()],
    }
}

fn three() -> Vec<Task> {
    let task = |index, cores, mib, minutes| Task {
        index,
        trials: vec![format!("{index:064}")],
        seconds: 60.0 * index as f64,
        cores,
        mib,
        minutes,
    };
    vec![task(1, 2, 512, 18), task(2, 2, 512, 18), task(3, 1, 2048, 48)]
}

#[test]
fn every_trial_is_in_one_task_and_the_same_plan_gives_the_same_tasks() {
    let trials = all(STUDY);
    let four = tasks(&trials, &Grouping { least: 4, ..HOW });
    assert_eq!(four.len(), 4);
    let mut digests: Vec<&String> = four.iter().flat_map(|task| &task.trials).collect();
    let mut planned: Vec<String> = trials.iter().map(|trial| trial.key.digest()).collect();
    digests.sort();
    planned.sort();
    assert!(digests.into_iter().eq(&planned));
    let mut reversed = trials;
    reversed.reverse();
    let again = tasks(&reversed, &Grouping { least: 4, ..HOW });
    let sorted = |tasks: &[Task]| -> Vec<Vec<String>> {
        let trials = |task: &Task| {
            let mut trials = task.trials.clone();
            trials.sort();
            trials
        };
        tasks.iter().map(trials).collect()
    };
    assert_eq!(sorted(&again), sorted(&four));
    let indices: Vec<usize> = four.iter().map(|task| task.index).collect();
    assert_eq!(indices, [1, 2, 3, 4]);
}

#[test]
fn tasks_take_about_as_long_as_each_other() {
    let mut trials = all(STUDY);
    // Fits of one cost, and no tuning: the shares can be even.
    trials.retain(|trial| trial.key.variant == "given");
    for tasks in [2, 3, 5].map(|least| tasks(&trials, &Grouping { least, ..HOW })) {
        let seconds: Vec<f64> = tasks.iter().map(|task| task.seconds).collect();
        let total: f64 = seconds.iter().sum();
        let longest = seconds.iter().copied().fold(0.0, f64::max);
        // Graham's bound, and a unit of the twelve.
        assert!(longest <= total / tasks.len() as f64 + total / 12.0 + 1e-12, "{seconds:?}");
    }
    // An array holds no more than it may.
    let limited = tasks(&trials, &Grouping { least: 12, most: 3, ..HOW });
    assert_eq!(limited.len(), 3);
}

#[test]
fn trials_that_share_a_tuning_stay_together() {
    let official = STUDY
        .replace("split = { kind = \"random\", train = 0.8 }", "split = { kind = \"official\" }");
    let mut trials = all(&official);
    trials.retain(|trial| trial.key.variant == "tuned");
    let task_of: BTreeMap<String, usize> = tasks(&trials, &Grouping { least: 100, ..HOW })
        .into_iter()
        .flat_map(|task| task.trials.into_iter().map(move |trial| (trial, task.index)))
        .collect();
    for method in ["drifting-mean", "closed-mean"] {
        let mut indices: Vec<usize> = trials
            .iter()
            .filter(|trial| trial.key.method == method)
            .map(|trial| task_of[&trial.key.digest()])
            .collect();
        indices.dedup();
        assert_eq!(indices.len(), 1, "{method}");
    }
    assert!(task_of.values().max() > Some(&2), "what shares nothing is spread");
}

/// A unit runs on one core however many a task has: three trials of a minute each on two cores take
/// two minutes, and one of a minute takes a minute on eight.
#[test]
fn a_time_limit_on_several_cores_holds_the_longest_trial() {
    let mut trials = all(STUDY);
    trials.retain(|trial| trial.key.variant == "given");
    let given = &trials[..3];
    let minutes = |count: usize, cores: usize| {
        // Seconds of a core as the model says them, so that a trial takes not quite a hundred minutes.
        let one = tasks(&given[..1], &HOW)[0].seconds;
        let model = CostModel::fit(&[], METHODS, 0.005 * 5999.0 / one);
        let trials: Vec<&Trial> = given[..count].iter().collect();
        let how = Grouping { cores, seconds: 1e9, ..HOW };
        let tasks = group(&trials, &model, &how);
        assert_eq!(tasks.len(), 1);
        let wanted = 5999.0 * count as f64;
        assert!((tasks[0].seconds / wanted - 1.0).abs() < 1e-9, "{}", tasks[0].seconds);
        tasks[0].minutes
    };
    // Twice the hundred minutes of a trial, and ten: 210, and the next step is 288.
    assert_eq!(minutes(1, 1), 288);
    assert_eq!(minutes(1, 8), 288);
    // 610.
    assert_eq!(minutes(3, 1), 768);
    // At worst the third begins when both cores have done one: 410.
    assert_eq!(minutes(3, 2), 576);
    // Each has a core of its own: 210.
    assert_eq!(minutes(3, 8), 288);
}

/// What no record bounds from above is predicted worse, and its requests allow for that.
#[test]
fn trials_larger_than_any_recorded_have_a_margin_of_their_own() {
    let mut trials = all(STUDY);
    trials.retain(|trial| trial.key.variant == "given" && trial.key.method == "closed-mean");
    let folder = tempfile::tempdir().unwrap();
    let laboratory = crate::bench::laboratory(folder.path());
    let mut small = trials.clone();
    for trial in &mut small {
        trial.key.protocol.insert("rows".to_owned(), 20.into());
        trial.protocol.rows = Some(20);
    }
    let options = mercer_harness::Options { jobs: 1, ..Default::default() };
    mercer_harness::run(&small, &laboratory, &options, &mercer_harness::Silent).unwrap();
    let records = laboratory.store.list().unwrap().records;
    let model = CostModel::fit(&records, METHODS, 5.0);
    let [small, large] = [&small[0], &trials[0]];
    assert!(!model.fit_of(small).larger && model.fit_of(large).larger);
    let how = Grouping { larger: Margin { bytes: 1.5, seconds: 1e9 }, ..HOW };
    let minutes = |trial: &Trial, how: &Grouping| group(&[trial], &model, how)[0].minutes;
    assert_eq!(minutes(small, &how), minutes(small, &HOW));
    assert!(minutes(large, &how) > minutes(large, &HOW));
}

#[test]
fn nothing_to_run_is_no_task() {
    assert!(tasks(&[], &HOW).is_empty() && arrays(&[]).is_empty());
}

#[test]
fn a_task_asks_for_no_more_than_its_limits_hold() {
    // A factor that would ask for petabytes: what a trial may hold is the end of it. The program's
    // 256 MiB and the 6 KB of iris come on top; requests are powers of two and half-way between.
    let wild = Margin { bytes: 1e12, ..MARGIN };
    let wild = Grouping { margin: wild, larger: wild, ..HOW };
    let request = |limit: u64, cores| {
        let mut trials = all(&one_method("", &format!("bytes = {}", limit << 20)));
        trials.truncate(cores);
        tasks(&trials, &Grouping { cores, ..wild })[0].mib
    };
    let asked = [250, 260, 600, 1000, 2000, 2900, 8192].map(|limit| request(limit, 1));
    assert_eq!(asked, [512, 768, 1024, 1536, 3072, 4096, 12_288]);
    // Two trials side by side.
    assert_eq!(request(2000, 2), 6144);
}

/// Trials of an hour and a half and many of minutes: the long ones had been among the bins over which the short ones were
/// spread, and every task had the time of the longest.
#[test]
fn long_trials_are_tasks_by_themselves_and_short_ones_are_not_spread_beside_them() {
    let mut trials = all(&STUDY.replace("repeats = 4", "repeats = 40"));
    trials.retain(|trial| trial.key.variant == "given" && trial.key.method == "closed-mean");
    let one = tasks(&trials[..1], &HOW)[0].seconds;
    // Of all rows an hour and a half, of two a few minutes.
    let model = CostModel::fit(&[], METHODS, 0.005 * 5400.0 / one);
    for trial in &mut trials[3..] {
        trial.key.protocol.insert("rows".to_owned(), 2.into());
    }
    let all: Vec<&Trial> = trials.iter().collect();
    let short = model.fit_of(all[3]).seconds;
    assert!((10.0..300.0).contains(&short) && model.fit_of(all[0]).seconds > 5000.0, "{short}");
    let tasks = group(&all, &model, &HOW);
    let of = |task: &Task| (task.trials.len(), task.minutes);
    let rest = (all.len() - 3) as f64;
    let few = ((rest * short / HOW.seconds).round() as usize).max(1);
    assert_eq!(tasks.len(), 3 + few, "{tasks:?}");
    let alone: Vec<_> = tasks.iter().map(of).filter(|task| task.0 == 1).collect();
    // Twice an hour and a half, and ten minutes.
    assert_eq!(alone, [(1, 192); 3]);
    assert!(tasks.iter().all(|task| task.trials.len() == 1 || task.minutes < 192), "{tasks:?}");
    // Nodes without work are given some, beside the long ones.
    let many = group(&all, &model, &Grouping { least: 12, ..HOW });
    assert_eq!(many.len(), 12, "{many:?}");
}

/// A task asks for the memory of one dataset at a time: what none of its trials needs any more is let go.
#[test]
fn a_dataset_is_forgotten_after_its_last_trial() {
    let folder = tempfile::tempdir().unwrap();
    let laboratory = crate::bench::laboratory(folder.path());
    for jobs in [1, 3] {
        let trials = all(&STUDY.replace("seed = ", &format!("seed = {jobs}")));
        let before = laboratory.dataset("iris").unwrap();
        let options = mercer_harness::Options { jobs, ..Default::default() };
        let summary =
            mercer_harness::run(&trials, &laboratory, &options, &mercer_harness::Silent).unwrap();
        assert!(summary.carried_out > 1);
        let after = laboratory.dataset("iris").unwrap();
        assert!(!std::sync::Arc::ptr_eq(&before, &after), "{jobs} jobs");
    }
}

#[test]
fn tasks_with_one_request_make_one_array() {
    let tasks = three();
    let arrays = arrays(&tasks);
    let told: Vec<(usize, u64, u64)> =
        arrays.iter().map(|array| (array.tasks.len(), array.mib, array.minutes)).collect();
    assert_eq!(told, [(2, 512, 18), (1, 2048, 48)]);
    // Of the same memory and another time: an array of its own.
    let mut tasks = tasks;
    tasks[1].minutes = 24;
    let told: Vec<usize> = mercer_harness::arrays(&tasks).iter().map(|a| a.tasks.len()).collect();
    assert_eq!(told, [1, 1, 1]);
    // And of another number of cores.
    tasks[1].minutes = 18;
    tasks[1].cores = 1;
    let told: Vec<usize> = mercer_harness::arrays(&tasks).iter().map(|a| a.cores).collect();
    assert_eq!(told, [2, 1, 1]);
}

/// What shares a tuning runs on one core: a task of two such chains has no use for a third, and one of a
/// single chain for a second, however many were offered.
#[test]
fn a_task_asks_for_no_core_that_would_idle() {
    let given = all(STUDY).into_iter().filter(|trial| trial.key.variant == "given");
    let trials: Vec<Trial> = given.take(3).collect();
    let cores = |trials: &[Trial], least: usize| -> Vec<usize> {
        let how = Grouping { cores: 4, least, seconds: 1e9, ..HOW };
        tasks(trials, &how).iter().map(|task| task.cores).collect()
    };
    assert_eq!(cores(&trials, 1), [3]);
    // The least first: those of one request follow each other.
    assert_eq!(cores(&trials, 2), [1, 2]);
    assert_eq!(cores(&trials, 3), [1, 1, 1]);
    let official = STUDY
        .replace("split = { kind = \"random\", train = 0.8 }", "split = { kind = \"official\" }");
    let mut shared = all(&official);
    shared.retain(|trial| trial.key.variant == "tuned" && trial.key.method == "closed-mean");
    assert!(shared.len() > 1);
    assert_eq!(cores(&shared, 1), [1]);
}

#[test]
fn slurm_is_handed_an_array_that_asks_for_what_it_needs() {
    let tasks = three();
    let script = slurm(&arrays(&tasks)[..1], &launch());
    let golden = r#"#!/bin/bash
#SBATCH --job-name=mercer
#SBATCH --array=1-2%3
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=512M
#SBATCH --time=18
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@120
#SBATCH --output="/shared/my study/results/cluster/logs/1"/task-%a.log
#SBATCH --partition=long

# Written by `mercer cluster submit`. A task that was stopped goes on from its records.
cd '/shared/my study' || exit 1
export OPENBLAS_NUM_THREADS=1
# Not those of whoever submitted this.
limit='' told='' watch=''
/opt/mercer cluster work '/shared/my study/results/cluster' --task-from SLURM_ARRAY_TASK_ID &
worker=$!
"#;
    // What follows is run by the tests of `script`.
    assert!(script.starts_with(golden), "{script}");
    assert!(slurm(&arrays(&tasks)[1..], &launch()).contains("--array=3-3%3\n"));
}

#[test]
fn any_folder_may_hold_the_logs() {
    let launch = Launch { logs: r#"/a b/it's 50%a/"c"\d"#.into(), ..launch() };
    let script = slurm(&arrays(&three())[..1], &launch);
    let wanted = r#"#SBATCH --output="/a b/it\'s 50%%a/\"c\"\\d"/task-%a.log"#;
    assert!(script.lines().any(|line| line == wanted), "{script}");
}

/// Slurm keeps a limit of tasks at once within a job: with one, all tasks are one job, that asks for the
/// most of any until each is granted its own.
#[test]
fn a_limit_of_tasks_at_once_makes_one_array() {
    let tasks = three();
    let arrays = arrays(&tasks);
    let unlimited = Launch { at_once: None, ..launch() };
    assert_eq!(array_jobs(&arrays, &unlimited), [&arrays[..1], &arrays[1..]]);
    assert_eq!(array_jobs(&arrays, &launch()), [&arrays[..]]);
    assert!(array_jobs(&[], &launch()).is_empty() && array_jobs(&[], &unlimited).is_empty());
    let script = slurm(&arrays, &launch());
    for line in ["--array=1-3%3", "--cpus-per-task=2", "--mem=2048M", "--time=48"] {
        assert!(script.contains(&format!("#SBATCH {line}\n")), "{line}: {script}");
    }
}

#[test]
fn any_launcher_is_handed_a_list_of_commands() {
    let golden = "\
/opt/mercer cluster work '/shared/my study/results/cluster' --task 1
/opt/mercer cluster work '/shared/my study/results/cluster' --task 2
/opt/mercer cluster work '/shared/my study/results/cluster' --task 3
";
    assert_eq!(task_list(&three(), &launch()), golden);
    let quote = Launch { program: "/o'clock".into(), ..launch() };
    assert!(task_list(&three(), &quote).starts_with(r"'/o'\''clock' cluster work"));
}

#[test]
fn hyperqueue_and_kubernetes_are_handed_an_array() {
    let golden = "\
#!/bin/sh
# Written by `mercer cluster submit`; needs a running HyperQueue server.
# At most 3 tasks at once: the workers offer so many of a resource together, as one with
#   hq worker start --resource \"mercer=sum(3)\"
set -e
hq submit --name mercer --array 1-2 --cpus 2 --resource mem=537 --resource mercer=1 --time-limit 18min --crash-limit 5 -- /opt/mercer cluster work '/shared/my study/results/cluster' --task-from HQ_TASK_ID
hq submit --name mercer --array 3-3 --cpus 1 --resource mem=2148 --resource mercer=1 --time-limit 48min --crash-limit 5 -- /opt/mercer cluster work '/shared/my study/results/cluster' --task-from HQ_TASK_ID
";
    assert_eq!(hyperqueue(&three(), &launch()), golden);
    let unlimited = hyperqueue(&three(), &Launch { at_once: None, ..launch() });
    assert!(!unlimited.contains("mercer=") && unlimited.contains(" --resource mem=2148 --time"));
    let job = |name: &str,
               tasks: [usize; 2],
               (cores, mib, minutes): (u64, u64, u64),
               after: &str| {
        let resources = serde_json::json!({ "cpu": cores, "memory": format!("{mib}Mi") });
        serde_json::json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name },
            "spec": {
                "completionMode": "Indexed", "completions": tasks[0], "parallelism": tasks[1],
                "backoffLimitPerIndex": 5,
                "podFailurePolicy": { "rules": [
                    {
                        "action": "FailIndex",
                        "onExitCodes": {
                            "containerName": "mercer", "operator": "In", "values": [2, 3, 4, 101],
                        },
                    },
                    { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget" }] },
                ] },
                "template": { "spec": {
                    "restartPolicy": "Never",
                    "activeDeadlineSeconds": 60 * minutes,
                    "containers": [{
                        "name": "mercer", "image": "IMAGE",
                        "command": [
                            "/opt/mercer", "cluster", "work", "/shared/my study/results/cluster",
                            "--task-from", "JOB_COMPLETION_INDEX", "--after", after,
                        ],
                        "workingDir": "/shared/my study",
                        "env": [{ "name": "OPENBLAS_NUM_THREADS", "value": "1" }],
                        "resources": { "requests": resources, "limits": resources },
                        "volumeMounts": [
                            { "name": "shared", "mountPath": "/shared/my study" },
                            { "name": "shared-2", "mountPath": "/data" },
                        ],
                    }],
                    "volumes": [
                        { "name": "shared", "persistentVolumeClaim": { "claimName": "CLAIM" } },
                        { "name": "shared-2", "persistentVolumeClaim": { "claimName": "CLAIM-2" } },
                    ],
                } },
            },
        })
    };
    let written = |launch: &Launch| -> serde_json::Value {
        serde_json::from_str(&kubernetes(&three(), launch)).unwrap()
    };
    let list = |items: &[serde_json::Value]| serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": items });
    let named = |launch: &Launch| -> Vec<String> {
        let items = written(launch)["items"].as_array().unwrap().clone();
        items.iter().map(|job| job["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    };
    // No limit holds over several jobs.
    let one = named(&launch());
    assert_eq!(written(&launch()), list(&[job(&one[0], [3, 3], (2, 2048, 48), "0")]));
    let unlimited = Launch { at_once: None, ..launch() };
    let two = named(&unlimited);
    assert_eq!(
        written(&unlimited),
        list(&[job(&two[0], [2, 2], (2, 512, 18), "0"), job(&two[1], [1, 1], (1, 2048, 48), "2")])
    );
    // The names of a namespace: small letters, digits and dashes; no two campaigns have one.
    let elsewhere = named(&Launch { campaign: "/shared/other".into(), ..unlimited });
    let all: BTreeSet<&String> = one.iter().chain(&two).chain(&elsewhere).collect();
    assert_eq!(all.len(), 5);
    for name in all {
        let digits = name.strip_prefix("mercer-").unwrap();
        assert!(
            digits.len() == 12 && digits.bytes().all(|c| c == b'-' || c.is_ascii_hexdigit()),
            "{name}"
        );
    }
}

/// A pod sees what is mounted and nothing else.
#[test]
fn every_directory_of_a_worker_is_mounted_once() {
    let mounted = |campaign: &str, places: &[&str]| -> Vec<String> {
        let places = places.iter().map(Into::into).collect();
        let launch = Launch { campaign: campaign.into(), places, ..launch() };
        let job: serde_json::Value = serde_json::from_str(&kubernetes(&three(), &launch)).unwrap();
        let pod = &job["items"][0]["spec"]["template"]["spec"];
        let mounts = pod["containers"][0]["volumeMounts"].as_array().unwrap();
        assert_eq!(mounts.len(), pod["volumes"].as_array().unwrap().len());
        mounts.iter().map(|mount| mount["mountPath"].as_str().unwrap().to_owned()).collect()
    };
    let study = "/shared/my study";
    assert_eq!(mounted("/shared/my study/c", &["/shared/my study/results"]), [study]);
    assert_eq!(mounted("/else/c", &["/else", "/data", "/data/b"]), [study, "/else", "/data"]);
    assert_eq!(mounted("/shared/c", &["/shared"]), ["/shared"]);
    // Not by the letters of the name.
    assert_eq!(mounted("/shared/my study2", &[]), [study, "/shared/my study2"]);
}

#[test]
fn the_engines_environment_names_the_task() {
    let of = |name: &'static str| move |asked: &str| (asked == name).then(|| "4".to_owned());
    let found = |name: &'static str| tasks_of_environment(&of(name)).unwrap();
    for (name, task) in [
        ("SLURM_ARRAY_TASK_ID", 4),
        ("JOB_COMPLETION_INDEX", 5),
        ("HQ_TASK_ID", 4),
        ("PARALLEL_SEQ", 4),
    ] {
        assert_eq!(found(name), [(name, task)]);
        assert_eq!(task_of_variable(name, &of(name)), Ok(Some(task)));
    }
    assert!(found("HOME").is_empty());
    // A worker of HyperQueue that runs inside an array of Slurm.
    let both = |asked: &str| match asked {
        "SLURM_ARRAY_TASK_ID" => Some("1".to_owned()),
        "HQ_TASK_ID" => Some("7".to_owned()),
        _ => None,
    };
    let found = tasks_of_environment(&both).unwrap();
    assert_eq!(found, [("SLURM_ARRAY_TASK_ID", 1), ("HQ_TASK_ID", 7)]);
    assert_eq!(task_of_variable("HQ_TASK_ID", &both), Ok(Some(7)));
    // A value that is no number is named, not passed over.
    let slip = |asked: &str| (asked == "SLURM_ARRAY_TASK_ID").then(|| "abc".to_owned());
    let said = tasks_of_environment(&slip).unwrap_err();
    assert_eq!(said, "SLURM_ARRAY_TASK_ID is `abc`, which is no number of a task");
    assert_eq!(task_of_variable("HQ_TASK_ID", &slip), Ok(None));
}
