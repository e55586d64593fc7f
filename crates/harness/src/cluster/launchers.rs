use super::{Launch, Task};
use serde_json::json;
use std::fmt::Write;

/// One command a line, for GNU parallel, xargs, or any launcher of one's own.
pub fn task_list(tasks: &[Task], launch: &Launch) -> String {
    let mut text = String::new();
    for task in tasks {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", launch.command(Some(task.index)));
    }
    text
}

/// A call of one's own `hq`: an array with the largest request of all tasks.
pub fn hyperqueue(tasks: &[Task], launch: &Launch) -> String {
    let minutes = tasks.iter().map(|task| task.minutes).max().unwrap_or(0);
    format!(
        "#!/bin/sh\n# Written by `mercer cluster submit`; needs a running HyperQueue server.\n\
         exec hq submit --name mercer --array 1-{} --cpus {} --time-limit {minutes}min \
         --crash-limit {} -- {}\n",
        tasks.len(),
        launch.cores,
        launch.restarts,
        launch.command(None)
    )
}

/// An indexed job of Kubernetes, with the largest request of all tasks.
///
/// The image and the volume of the shared directory are the user's: the manifest names them
/// `IMAGE` and `CLAIM`, and the directory is mounted where it is here.
pub fn kubernetes(tasks: &[Task], launch: &Launch) -> String {
    let largest = |of: fn(&Task) -> u64| tasks.iter().map(of).max().unwrap_or(0);
    let parallelism = launch.at_once.unwrap_or(tasks.len()).min(tasks.len());
    let command: Vec<String> = vec![
        launch.program.display().to_string(),
        "cluster".to_owned(),
        "work".to_owned(),
        launch.campaign.display().to_string(),
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
            "backoffLimit": launch.restarts as usize * tasks.len(),
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
