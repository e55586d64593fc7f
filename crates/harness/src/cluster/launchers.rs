use super::{Launch, Named, OF_HYPERQUEUE, OF_KUBERNETES, Task};
use serde_json::json;
use std::fmt::Write;

/// Exit statuses that another try would only repeat: wrong usage, failed trials, missing data, a panic.
const REPEATED: [u8; 4] = [2, 3, 4, 101];

/// One command a line, for GNU parallel, xargs, or any launcher of one's own.
pub fn task_list(tasks: &[Task], launch: &Launch) -> String {
    let mut text = String::new();
    for task in tasks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", launch.command(&Named::Number(task.index)));
    }
    text
}

/// A call of one's own `hq`: an array with the largest request of all tasks.
///
/// `HyperQueue` itself has no limit of tasks at once: it is a resource of the name `mercer`, which the
/// workers must offer, as the script says.
pub fn hyperqueue(tasks: &[Task], launch: &Launch) -> String {
    let largest = |of: fn(&Task) -> u64| tasks.iter().map(of).max().unwrap_or(0);
    // Its resource `mem` counts megabytes.
    let megabytes = (largest(|task| task.mib) * 1_048_576).div_ceil(1_000_000);
    let (limit, remark) = launch.at_once.map_or_else(Default::default, |count| {
        let remark = format!(
            "# At most {count} tasks at once: the workers offer so many of a resource together, as one with\n\
             #   hq worker start --resource \"mercer=sum({count})\"\n"
        );
        (" --resource mercer=1", remark)
    });
    format!(
        "#!/bin/sh\n# Written by `mercer cluster submit`; needs a running HyperQueue server.\n{remark}\
         exec hq submit --name mercer --array 1-{} --cpus {} --resource mem={megabytes}{limit} \
         --time-limit {}min --crash-limit {} -- {}\n",
        tasks.len(),
        launch.cores,
        largest(|task| task.minutes),
        launch.restarts,
        launch.command(&Named::By(OF_HYPERQUEUE))
    )
}

/// An indexed job of Kubernetes, with the largest request of all tasks.
///
/// The image and the volume of the shared directory are the user's: the manifest names them
/// `IMAGE` and `CLAIM`, and the directory is mounted where it is here. Each task has restarts of its own,
/// and none after an exit that would only be repeated; a task that its node evicts loses none. It needs
/// Kubernetes 1.29 or later.
pub fn kubernetes(tasks: &[Task], launch: &Launch) -> String {
    let largest = |of: fn(&Task) -> u64| tasks.iter().map(of).max().unwrap_or(0);
    let parallelism = launch.at_once.unwrap_or(tasks.len()).min(tasks.len());
    let command: Vec<String> = vec![
        launch.program.display().to_string(),
        "cluster".to_owned(),
        "work".to_owned(),
        launch.campaign.display().to_string(),
        "--task-from".to_owned(),
        OF_KUBERNETES.to_owned(),
    ];
    let directory = launch.directory.display().to_string();
    let resources = json!({ "cpu": launch.cores, "memory": format!("{}Mi", largest(|t| t.mib)) });
    // JSON is YAML, and needs no second library to be written rightly.
    let manifest = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": "mercer" },
        "spec": {
            "completionMode": "Indexed",
            "completions": tasks.len(),
            "parallelism": parallelism,
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
            "activeDeadlineSeconds": 60 * tasks.iter().map(|task| task.minutes).sum::<u64>(),
            "template": { "spec": {
                "restartPolicy": "Never",
                "containers": [{
                    "name": "mercer",
                    "image": "IMAGE",
                    "command": command,
                    "workingDir": directory,
                    "env": [{ "name": "OPENBLAS_NUM_THREADS", "value": "1" }],
                    "resources": { "requests": resources, "limits": resources },
                    "volumeMounts": [{ "name": "shared", "mountPath": directory }],
                }],
                "volumes": [{
                    "name": "shared", "persistentVolumeClaim": { "claimName": "CLAIM" },
                }],
            } },
        },
    });
    // A value made of maps, lists and words always prints.
    format!("{manifest:#}\n")
}
