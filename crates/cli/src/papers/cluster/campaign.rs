use crate::papers::args::{ClusterPlan, Directories, Filter, ReproduceArgs};
use anyhow::Context;
use mercer_harness::{Launch, Task, arrays, slurm};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Version of the form of `campaign.json`.
const SCHEMA: u32 = 4;
const FILE: &str = "campaign.json";

/// What was asked for, and how it was cut into tasks: one file in the directory of the campaign.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Campaign {
    schema: u32,
    pub request: Request,
    pub launch: Launch,
    pub tasks: Vec<Task>,
    /// The array jobs.
    pub jobs: Vec<Job>,
}

/// What is to be reproduced, with absolute places.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub narrow: Filter,
    pub places: Directories,
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
        let places = Directories {
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
    pub(crate) fn new(request: Request, launch: Launch, tasks: Vec<Task>) -> Self {
        Self { schema: SCHEMA, request, launch, tasks, jobs: Vec::new() }
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

    /// Written whole or not at all.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        put(&self.launch.campaign, FILE, &serde_json::to_string_pretty(self)?)?;
        Ok(())
    }

    /// Writes the batch scripts, and names the files.
    pub(crate) fn write_scripts(&self) -> anyhow::Result<Vec<PathBuf>> {
        let Launch { campaign, logs, max_parallel, .. } = &self.launch;
        fs::create_dir_all(logs).with_context(|| format!("cannot create {}", logs.display()))?;
        let write = |(array, number)| {
            put(campaign, &format!("array-{number}.sbatch"), &slurm(array, &self.launch))
        };
        arrays(&self.tasks, *max_parallel).iter().zip(1..).map(write).collect()
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
