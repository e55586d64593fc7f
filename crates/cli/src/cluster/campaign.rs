use crate::args::{ClusterPlan, Engine, Narrow, Places, ReproduceArgs};
use anyhow::Context;
use mercer_harness::{Launch, Task, array_jobs, arrays, hyperqueue, kubernetes, slurm, task_list};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Version of the form of `campaign.json`.
const SCHEMA: u32 = 3;
const FILE: &str = "campaign.json";

/// What was asked for, and how it was cut into tasks: one file in the directory of the campaign.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Campaign {
    schema: u32,
    pub engine: Engine,
    pub request: Request,
    pub launch: Launch,
    pub tasks: Vec<Task>,
    /// The engine's array jobs.
    pub jobs: Vec<Job>,
}

/// What is to be reproduced, with absolute places.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub narrow: Narrow,
    pub places: Places,
    pub extend: bool,
    pub retry_failed: bool,
    /// Versions of the data that the plan found, so that every worker plans the same.
    pub versions: BTreeMap<String, String>,
}

/// An array job, and the tasks that are its indices.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    pub id: String,
    pub tasks: Vec<usize>,
}

/// The largest requests that were not enough; 0 where none was not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Exceeded {
    pub minutes: u64,
    pub mib: u64,
}

/// A folder for the logs of the next campaign in a directory: what an earlier one says of its tasks is
/// not said of those.
pub(crate) fn new_logs(campaign: &Path) -> PathBuf {
    let logs = campaign.join("logs");
    let number = (1..u32::MAX).find(|number| !logs.join(number.to_string()).exists()).unwrap_or(1);
    logs.join(number.to_string())
}

impl Request {
    pub(crate) fn of(args: &ClusterPlan) -> anyhow::Result<Self> {
        // Workers start elsewhere, and without this environment.
        let data = args.places.data.clone();
        let data = data.or_else(|| std::env::var_os("MERCER_DATA").map(PathBuf::from));
        let data = data.filter(|path| !path.as_os_str().is_empty());
        let places = Places {
            data: data.map(std::path::absolute).transpose()?,
            results: std::path::absolute(&args.places.results)?,
            reports: std::path::absolute(&args.places.reports)?,
            accept_version: args.places.accept_version,
        };
        let (extend, retry_failed) = (args.extend, args.retry_failed);
        let narrow = args.narrow.clone();
        Ok(Self { narrow, places, extend, retry_failed, versions: BTreeMap::new() })
    }

    /// The same, as `mercer reproduce` would be asked.
    pub(crate) fn arguments(&self, json: bool, out: Option<PathBuf>) -> ReproduceArgs {
        ReproduceArgs {
            fresh: !self.extend,
            extend: self.extend,
            retry_failed: self.retry_failed,
            json,
            out,
            ..ReproduceArgs::of(self.narrow.clone(), self.places.clone())
        }
    }
}

impl Campaign {
    pub(crate) fn new(engine: Engine, request: Request, launch: Launch, tasks: Vec<Task>) -> Self {
        Self { schema: SCHEMA, engine, request, launch, tasks, jobs: Vec::new() }
    }

    pub(crate) fn read(folder: &Path) -> anyhow::Result<Self> {
        // Or the directory of the records, where a campaign lies without --into.
        let within = || Self::find(&folder.join("cluster"));
        let found = Self::find(folder)?.map_or_else(within, |own| Ok(Some(own)))?;
        found.with_context(|| {
            format!("no campaign at {}; `mercer cluster submit` begins one", folder.display())
        })
    }

    /// The campaign of a directory, if it has one.
    pub(crate) fn find(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        // Records are elsewhere: what was carried out is not lost with the plan of it.
        let remedy = "no record is lost; wait for its tasks or cancel them, then `mercer cluster submit --replace` \
             hands out what is left";
        let campaign: Self = serde_json::from_str(&text)
            .with_context(|| format!("{} is no campaign; {remedy}", path.display()))?;
        anyhow::ensure!(
            campaign.schema == SCHEMA,
            "{} has schema {} instead of {SCHEMA}; {remedy}",
            path.display(),
            campaign.schema
        );
        Ok(Some(campaign))
    }

    /// What tasks with some of these trials were granted when a limit stopped them, as the logs tell.
    pub(crate) fn exceeded(&self, trials: &[String]) -> Exceeded {
        let wanted: BTreeSet<&String> = trials.iter().collect();
        let mut most = Exceeded::default();
        for task in &self.tasks {
            if !task.trials.iter().any(|trial| wanted.contains(trial)) {
                continue;
            }
            let log = self.launch.logs.join(format!("task-{}.log", task.index));
            for line in fs::read_to_string(log).unwrap_or_default().lines() {
                let of = |before: &str, after: &str| -> Option<u64> {
                    line.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
                };
                let minutes = of("stopped at its time limit of ", " minutes");
                most.minutes = most.minutes.max(minutes.unwrap_or(0));
                most.mib = most.mib.max(of("killed at ", " MiB").unwrap_or(0));
            }
        }
        most
    }

    /// Written whole or not at all.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        put(&self.launch.campaign, FILE, &serde_json::to_string_pretty(self)?)?;
        Ok(())
    }

    /// Writes what the engine is handed, and names the files.
    pub(crate) fn write_scripts(&self) -> anyhow::Result<Vec<PathBuf>> {
        let (folder, tasks, launch) = (&self.launch.campaign, &self.tasks, &self.launch);
        fs::create_dir_all(&launch.logs)
            .with_context(|| format!("cannot create {}", launch.logs.display()))?;
        let files: Vec<(String, String)> = match self.engine {
            Engine::Slurm => array_jobs(&arrays(tasks), launch)
                .into_iter()
                .enumerate()
                .map(|(at, job)| (format!("array-{}.sbatch", at + 1), slurm(job, launch)))
                .collect(),
            Engine::Script => vec![
                ("tasks.txt".to_owned(), task_list(tasks, launch)),
                ("hyperqueue.sh".to_owned(), hyperqueue(tasks, launch)),
                ("kubernetes.json".to_owned(), kubernetes(tasks, launch)),
            ],
        };
        files.iter().map(|(name, text)| put(folder, name, text)).collect()
    }
}

fn put(folder: &Path, name: &str, text: &str) -> anyhow::Result<PathBuf> {
    let path = folder.join(name);
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(folder)?;
        let partial = folder.join(format!("{name}.part"));
        let mut file = fs::File::create(&partial)?;
        file.write_all(text.as_bytes())?;
        // A power cut leaves the old file or the new one.
        file.sync_all()?;
        fs::rename(partial, &path)?;
        fs::File::open(folder)?.sync_all()
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
