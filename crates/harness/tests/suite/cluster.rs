//! Plans cut into tasks, and the batch script of Slurm.

use crate::bench::{STUDY, all, one_method};
use crate::doubles::METHODS;
use mercer_harness::{
    CostModel, Grouping, Launch, Task, Trial, arrays, group, slurm, task_of_environment,
};
use std::collections::BTreeMap;

const HOW: Grouping =
    Grouping { seconds: 3600.0, least: 1, most: 1000, cores: 1, program_mib: 256.0 };

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
        max_parallel: Some(3),
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

/// A unit runs on one core however many a task has. Three trials of a minute each on two cores take two minutes, and
/// one of a minute takes a minute on eight.
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
    // Four times the hundred minutes of a trial, and ten: 410, and the next step is 576.
    assert_eq!(minutes(1, 1), 576);
    assert_eq!(minutes(1, 8), 576);
    // 1210.
    assert_eq!(minutes(3, 1), 1536);
    // At worst the third begins when both cores have done one: 810.
    assert_eq!(minutes(3, 2), 1152);
    // Each has a core of its own: 410.
    assert_eq!(minutes(3, 8), 576);
}

/// A trial that its own records tell needs less room than one of the declared cost.
#[test]
fn requests_allow_for_more_where_the_cell_has_no_record() {
    let mut trials = all(STUDY);
    trials.retain(|trial| trial.key.variant == "given" && trial.key.method == "closed-mean");
    let folder = tempfile::tempdir().unwrap();
    let runner = crate::bench::runner(folder.path());
    let options = mercer_harness::Options { jobs: 1, ..Default::default() };
    mercer_harness::run(&trials[..1], &runner, &options, &mercer_harness::Silent).unwrap();
    let records = runner.store.list().unwrap().records;
    let mut unknown = trials[0].clone();
    unknown.key.variant = "other".to_owned();
    let seconds = |speed: f64, trial: &Trial| {
        CostModel::fit(&records, METHODS, speed).predict(&trial.key).seconds
    };
    // Both are predicted to take not quite a hundred minutes.
    let minutes = |trial: &Trial| {
        let model = CostModel::fit(&records, METHODS, 5999.0 / seconds(1.0, trial));
        group(&[trial], &model, &HOW)[0].minutes
    };
    assert_eq!((minutes(&trials[0]), minutes(&unknown)), (288, 576));
}

#[test]
fn nothing_to_run_is_no_task() {
    assert!(tasks(&[], &HOW).is_empty() && arrays(&[], None).is_empty());
}

#[test]
fn a_task_asks_for_no_more_than_its_limits_hold() {
    // A cost that would ask for petabytes: what a trial may hold is the end of it. The program's
    // 256 MiB and the 6 KB of iris come on top; requests are powers of two and half-way between.
    let wild = mercer_learning::Cost { fit: "n d", predict: "d", memory: "1e12 n d" };
    let wild = METHODS.iter().map(|method| mercer_learning::Method { cost: wild, ..*method });
    let wild = CostModel::fit(&[], &wild.collect::<Vec<_>>(), 0.005);
    let request = |limit: u64, cores| {
        let trials = all(&one_method("", &format!("bytes = {}", limit << 20)));
        let trials: Vec<&Trial> = trials.iter().take(cores).collect();
        group(&trials, &wild, &Grouping { cores, ..HOW })[0].mib
    };
    let asked = [250, 260, 600, 1000, 2000, 2900, 8192].map(|limit| request(limit, 1));
    assert_eq!(asked, [512, 768, 1024, 1536, 3072, 4096, 12_288]);
    // Two trials side by side.
    assert_eq!(request(2000, 2), 6144);
}

/// Trials of an hour and a half and many of minutes. The long ones had been among the bins over which the short ones
/// were spread, and every task had the time of the longest.
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
    let short = model.predict(&all[3].key).seconds;
    assert!(
        (10.0..300.0).contains(&short) && model.predict(&all[0].key).seconds > 5000.0,
        "{short}"
    );
    let tasks = group(&all, &model, &HOW);
    let of = |task: &Task| (task.trials.len(), task.minutes);
    let rest = (all.len() - 3) as f64;
    let few = ((rest * short / HOW.seconds).round() as usize).max(1);
    assert_eq!(tasks.len(), 3 + few, "{tasks:?}");
    let alone: Vec<_> = tasks.iter().map(of).filter(|task| task.0 == 1).collect();
    // Four times an hour and a half, and ten minutes.
    assert_eq!(alone, [(1, 384); 3]);
    assert!(tasks.iter().all(|task| task.trials.len() == 1 || task.minutes < 384), "{tasks:?}");
    // Nodes without work are given some, beside the long ones.
    let many = group(&all, &model, &Grouping { least: 12, ..HOW });
    assert_eq!(many.len(), 12, "{many:?}");
}

/// A task asks for the memory of one dataset at a time: what none of its trials needs any more is let go.
#[test]
fn a_dataset_is_forgotten_after_its_last_trial() {
    let folder = tempfile::tempdir().unwrap();
    let runner = crate::bench::runner(folder.path());
    for jobs in [1, 3] {
        let trials = all(&STUDY.replace("seed = ", &format!("seed = {jobs}")));
        let before = runner.dataset("iris").unwrap();
        let options = mercer_harness::Options { jobs, ..Default::default() };
        let summary =
            mercer_harness::run(&trials, &runner, &options, &mercer_harness::Silent).unwrap();
        assert!(summary.carried_out > 1);
        let after = runner.dataset("iris").unwrap();
        assert!(!std::sync::Arc::ptr_eq(&before, &after), "{jobs} jobs");
    }
}

#[test]
fn tasks_with_one_request_make_one_array() {
    let tasks = three();
    let arrays = arrays(&tasks, None);
    let told: Vec<(usize, u64, u64)> =
        arrays.iter().map(|array| (array.tasks.len(), array.mib, array.minutes)).collect();
    assert_eq!(told, [(2, 512, 18), (1, 2048, 48)]);
    // Of the same memory and another time: an array of its own.
    let mut tasks = tasks;
    tasks[1].minutes = 24;
    let told: Vec<usize> =
        mercer_harness::arrays(&tasks, None).iter().map(|a| a.tasks.len()).collect();
    assert_eq!(told, [1, 1, 1]);
    // And of another number of cores.
    tasks[1].minutes = 18;
    tasks[1].cores = 1;
    let told: Vec<usize> = mercer_harness::arrays(&tasks, None).iter().map(|a| a.cores).collect();
    assert_eq!(told, [2, 1, 1]);
}

/// Trials that share a tuning run on one core. A task of two such chains has no use for a third, and one of a single
/// chain for a second, however many were offered.
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
    let script = slurm(&arrays(&tasks, None)[0], &launch());
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

# Written by `mercer cluster submit`. A task that was stopped resumes from its records.
cd '/shared/my study' || exit 1
export OPENBLAS_NUM_THREADS=1
# sbatch passes on the environment of its caller.
limit='' cancelled='' watch='' running='' preempted='' more='' minutes=18
/opt/mercer cluster work '/shared/my study/results/cluster' &
worker=$!
"#;
    // What follows is run by the tests of `script`.
    assert!(script.starts_with(golden), "{script}");
    assert!(slurm(&arrays(&tasks, None)[1], &launch()).contains("--array=3-3%3\n"));
}

#[test]
fn any_folder_may_hold_the_logs() {
    let launch = Launch { logs: r#"/a b/it's 50%a/"c"\d"#.into(), ..launch() };
    let script = slurm(&arrays(&three(), None)[0], &launch);
    let wanted = r#"#SBATCH --output="/a b/it\'s 50%%a/\"c\"\\d"/task-%a.log"#;
    assert!(script.lines().any(|line| line == wanted), "{script}");
}

/// Slurm keeps a limit of tasks at once within a job: with a limit all tasks are one job, which asks for the most
/// of any.
#[test]
fn a_limit_of_tasks_at_once_makes_one_array() {
    let tasks = three();
    assert_eq!(arrays(&tasks, None).len(), 2);
    let limited = arrays(&tasks, Some(3));
    assert_eq!(limited.len(), 1);
    assert!(arrays(&[], Some(3)).is_empty());
    let script = slurm(&limited[0], &launch());
    for line in ["--array=1-3%3", "--cpus-per-task=2", "--mem=2048M", "--time=48"] {
        assert!(script.contains(&format!("#SBATCH {line}\n")), "{line}: {script}");
    }
}

#[test]
fn task_of_environment_is_that_of_slurm() {
    let four = |asked: &str| (asked == "SLURM_ARRAY_TASK_ID").then(|| "4".to_owned());
    assert_eq!(task_of_environment(&four), Ok(Some(4)));
    let slip = |_: &str| Some("abc".to_owned());
    let said = task_of_environment(&slip).unwrap_err();
    assert_eq!(said, "SLURM_ARRAY_TASK_ID is `abc`, not a task number");
}
