use super::{Array, Launch, Named, OF_HYPERQUEUE, OF_KUBERNETES, Task, arrays};
use mercer_records::sha256_hex;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Exit statuses that another try would only repeat: wrong usage, failed trials, missing data, a panic.
const REPEATED: [u8; 4] = [2, 3, 4, 101];

/// One command a line, for GNU parallel, xargs, or any launcher of one's own.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::{launch, three};
/// let list = mercer_harness::task_list(&three(), &launch());
/// assert_eq!(list.lines().count(), 3);
/// assert!(list.starts_with("/opt/mercer cluster work /shared/study/cluster --task 1\n"));
/// ```
pub fn task_list(tasks: &[Task], launch: &Launch) -> String {
    let mut text = String::new();
    for task in tasks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", launch.command(&Named::Number(task.index)));
    }
    text
}

/// Calls of one's own `hq`: an array for each request of memory.
///
/// `HyperQueue` itself has no limit of tasks at once: it is a resource of the name `mercer`, which the
/// workers must offer, as the script says.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::{launch, three};
/// let script = mercer_harness::hyperqueue(&three(), &launch());
/// assert!(script.contains("--array 1-2 --cpus 2 ") && script.contains("--crash-limit 5 "));
/// assert!(script.contains("--time-limit 48min")); // of the third task
/// ```
pub fn hyperqueue(tasks: &[Task], launch: &Launch) -> String {
    let (limit, remark) = launch.at_once.map_or_else(Default::default, |count| {
        let remark = format!(
            "# At most {count} tasks at once: the workers offer so many of a resource together, as one with\n\
             #   hq worker start --resource \"mercer=sum({count})\"\n"
        );
        (" --resource mercer=1", remark)
    });
    let mut text = format!(
        "#!/bin/sh\n# Written by `mercer cluster submit`; needs a running HyperQueue server.\n{remark}set -e\n"
    );
    for array in arrays(tasks) {
        let (first, last) = (array.first(), array.last());
        // Its resource `mem` counts megabytes.
        let megabytes = (array.mib * 1_048_576).div_ceil(1_000_000);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "hq submit --name mercer --array {first}-{last} --cpus {} --resource mem={megabytes}{limit} \
             --time-limit {}min --crash-limit {} -- {}",
            array.cores,
            array.minutes,
            launch.restarts,
            launch.command(&Named::By(OF_HYPERQUEUE))
        );
    }
    text
}

/// Indexed jobs of Kubernetes, one for each request of memory; a single one with the largest request
/// where only so many tasks may run at once, which no limit over several jobs could say.
///
/// The image and the volumes are the user's: the manifest names them `IMAGE` and `CLAIM`. Every
/// directory that a worker reads or writes is mounted where it is here: a directory that lies in no other
/// has a volume of its own (`CLAIM-2`, ...). Each task has a deadline and restarts of its own, and none after
/// an exit that would only be repeated; a task that its node evicts loses none, and one that was killed for its
/// memory is tried again with the same, since a job has one request. Jobs are named by their
/// campaign and trials, so that those of two campaigns share a namespace. It needs Kubernetes 1.29 or later.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # use toys::{launch, three};
/// use mercer_harness::{Launch, kubernetes};
/// let jobs = |launch: &Launch| {
///     let list: serde_json::Value = serde_json::from_str(&kubernetes(&three(), launch)).unwrap();
///     list["items"].as_array().unwrap().len()
/// };
/// // A limit of tasks at once holds within a job only: then all are one.
/// assert_eq!((jobs(&launch()), jobs(&Launch { at_once: None, ..launch() })), (1, 2));
/// ```
pub fn kubernetes(tasks: &[Task], launch: &Launch) -> String {
    let jobs: Vec<Value> = if launch.at_once.is_some() {
        let largest = |of: fn(&Task) -> u64| tasks.iter().map(of).max().unwrap_or(0);
        let all = Array {
            tasks,
            cores: tasks.iter().map(|task| task.cores).max().unwrap_or(1),
            mib: largest(|task| task.mib),
            minutes: largest(|task| task.minutes),
        };
        vec![job(&all, launch)]
    } else {
        arrays(tasks).iter().map(|array| job(array, launch)).collect()
    };
    let manifest = json!({ "apiVersion": "v1", "kind": "List", "items": jobs });
    // A value made of maps, lists and words always prints.
    format!("{manifest:#}\n")
}

/// JSON is YAML, and needs no second library to be written rightly.
fn job(array: &Array<'_>, launch: &Launch) -> Value {
    let (count, first) = (array.tasks.len(), array.first());
    let command: Vec<String> = vec![
        launch.program.display().to_string(),
        "cluster".to_owned(),
        "work".to_owned(),
        launch.campaign.display().to_string(),
        "--task-from".to_owned(),
        OF_KUBERNETES.to_owned(),
        "--after".to_owned(),
        (first - 1).to_string(),
    ];
    let resources = json!({ "cpu": array.cores, "memory": format!("{}Mi", array.mib) });
    let named = |at: usize, word: &str| {
        if at == 0 { word.to_owned() } else { format!("{word}-{}", at + 1) }
    };
    let (mut mounts, mut volumes) = (Vec::new(), Vec::new());
    for (at, place) in outermost(launch).into_iter().enumerate() {
        let volume = named(at, "shared");
        mounts.push(json!({ "name": volume, "mountPath": place.display().to_string() }));
        let claim = json!({ "claimName": named(at, "CLAIM") });
        volumes.push(json!({ "name": volume, "persistentVolumeClaim": claim }));
    }
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": format!("mercer-{}-{first}", campaign(array, launch)) },
        "spec": {
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": launch.at_once.unwrap_or(count).min(count),
            "backoffLimitPerIndex": launch.restarts,
            "podFailurePolicy": { "rules": [
                {
                    "action": "FailIndex",
                    "onExitCodes": {
                        "containerName": "mercer", "operator": "In", "values": REPEATED,
                    },
                },
                { "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget" }] },
            ] },
            "template": { "spec": {
                "restartPolicy": "Never",
                "activeDeadlineSeconds": 60 * array.minutes,
                "containers": [{
                    "name": "mercer",
                    "image": "IMAGE",
                    "command": command,
                    "workingDir": launch.directory.display().to_string(),
                    "env": [{ "name": "OPENBLAS_NUM_THREADS", "value": "1" }],
                    "resources": { "requests": resources, "limits": resources },
                    "volumeMounts": mounts,
                }],
                "volumes": volumes,
            } },
        },
    })
}

/// Ten digits for the campaign: those of its folder and of the trials of the job.
fn campaign(array: &Array<'_>, launch: &Launch) -> String {
    let trials = array.tasks.iter().flat_map(|task| &task.trials);
    let told = trials.fold(launch.campaign.display().to_string(), |told, trial| told + " " + trial);
    sha256_hex(told.as_bytes())[..10].to_owned()
}

/// The directories that a worker needs and that lie in no other of them, that of the call first.
fn outermost(launch: &Launch) -> Vec<&Path> {
    let mut found: Vec<&Path> = Vec::new();
    let others = launch.places.iter().map(AsRef::as_ref);
    for place in [launch.directory.as_path(), launch.campaign.as_path()].into_iter().chain(others) {
        if found.iter().any(|outer| place.starts_with(outer)) {
            continue;
        }
        found.retain(|inner| !inner.starts_with(place));
        found.push(place);
    }
    found
}
