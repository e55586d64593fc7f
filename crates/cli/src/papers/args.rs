//! Words in: what can be typed of the papers.

use crate::examples::examples;
use anyhow::Context;
use clap::{Args, Subcommand};
use mercer_harness::Shard;
use mercer_records::Store;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PapersCommand {
    /// Render tables and figures from the committed records, and re-run trials to check them.
    ///
    /// All tables and figures are rendered at once. Then the cheapest trial of each cell runs again, then the next, until
    /// the time is up. Exit status 3 if a result differs from its record, beyond rounding. Without committed records every
    /// table is built from new runs, as with --fresh.
    #[command(after_help = examples!(
        "reproduce",
        "reproduce askl/table2 --minutes 2",
    ))]
    Reproduce(ReproduceArgs),
    /// Show a table, or one cell with its repeats, chosen settings, verdict and records.
    #[command(after_help = examples!(
        "show askl/table2",
        "show askl/table2:tuned:askl:segment",
    ))]
    Show(ShowArgs),
    /// Show whether the inputs of a cell are still those of its records, and which part of a key differs.
    #[command(after_help = examples!(
        "why askl/table2:tuned:askl:segment",
        "why askl/table2:published:askl:segment",
    ))]
    Why(CellArgs),
    /// Show how much of each artefact is recorded.
    #[command(after_help = examples!(
        "status",
        "status askl --dataset segment",
    ))]
    Status(StatusArgs),
    /// Render tables, figures and the page from records; fits nothing.
    #[command(after_help = examples!(
        "report",
        "report askl --out site",
    ))]
    Report(ReportArgs),
    /// Compact, merge, export and compare records.
    #[command(after_help = examples!(
        "results diff results reports/records",
        "results export --current",
    ))]
    Results(ResultsArgs),
    /// Run a reproduction as array tasks of Slurm or of any launcher.
    #[command(after_help = examples!(
        "cluster plan askl/table2 --tasks 8",
        "cluster submit askl/table2 --tasks 8 --results shared",
    ))]
    Cluster(ClusterArgs),
}

/// Where data and records are.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Directories {
    /// Read datasets from DIR first, then from `MERCER_DATA`, the repository's data, the user's data directory, and
    /// the binary.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Use DIR as the record directory.
    #[arg(long, value_name = "DIR", env = "MERCER_RESULTS", default_value = "results")]
    pub results: PathBuf,
    /// Use DIR as the committed reports, whose records supply earlier tunings.
    #[arg(long, value_name = "DIR", default_value = "reports")]
    pub reports: PathBuf,
    /// Use data that parses but is not the catalogue's version.
    #[arg(long)]
    pub accept_version: bool,
}

impl Directories {
    /// The record directory, made if it is not there.
    pub(crate) fn store(&self) -> anyhow::Result<Store> {
        Store::open(&self.results).with_context(|| {
            format!(
                "--results {}: point it at a folder that can be written",
                self.results.display()
            )
        })
    }
}

/// What part of the studies is meant.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Filter {
    /// Take these papers (askl) or artefacts (askl/table2) [default: all].
    #[arg(value_name = "PAPER|ARTEFACT")]
    pub artefacts: Vec<String>,
    /// Choose the profile. paper: all repeats and epochs, as committed. quick: the first two repeats. smoke: a few rows
    /// and steps, to prove that everything runs.
    #[arg(long, default_value = "paper")]
    pub profile: String,
    /// Take only this variant (repeatable).
    #[arg(long = "variant", value_name = "V")]
    pub variants: Vec<String>,
    /// Take only this dataset (repeatable).
    #[arg(long = "dataset", value_name = "D")]
    pub datasets: Vec<String>,
    /// Take only this method (repeatable).
    #[arg(long = "method", value_name = "M")]
    pub methods: Vec<String>,
    /// Take at most N repeats of each cell.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: Option<u32>,
    /// Tune settings this way. halving: the study's own budget. grid: every point of the grid that the paper prints, by
    /// cross-validation (see its hours first, with --dry-run).
    #[arg(long, value_name = "HOW", default_value = "halving")]
    #[serde(default)]
    pub tuner: Search,
}

impl Filter {
    /// Whether nothing is left out, but by the profile.
    pub(crate) const fn is_whole(&self) -> bool {
        self.artefacts.is_empty()
            && self.variants.is_empty()
            && self.datasets.is_empty()
            && self.methods.is_empty()
            && self.repeats.is_none()
    }
}

/// A number of minutes.
fn minutes(text: &str) -> Result<f64, String> {
    let sound = |minutes: &f64| (0.0..=1e6).contains(minutes);
    text.parse()
        .ok()
        .filter(sound)
        .ok_or_else(|| "minutes are a number from 0, such as 15 or 0.5".to_owned())
}

/// How settings are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Search {
    #[default]
    Halving,
    Grid,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ReproduceArgs {
    #[command(flatten)]
    pub narrow: Filter,
    #[command(flatten)]
    pub places: Directories,
    /// Run N trials side by side [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Run only the I-th of N shares of the trials.
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    pub shard: Shard,
    /// Re-run committed trials for N minutes; 0 only renders [default: 15 for profile paper, else no limit].
    #[arg(long, value_name = "N", value_parser = minutes, conflicts_with = "all")]
    pub minutes: Option<f64>,
    /// Run without a time limit.
    #[arg(long)]
    pub all: bool,
    /// Ignore the committed records (but for their tunings), and build every table in results/fresh from new runs.
    #[arg(long, conflicts_with = "extend")]
    pub fresh: bool,
    /// Count the committed records as done, run only what they lack, and show both. A reference run grows this way.
    #[arg(long)]
    pub extend: bool,
    /// Let a method join the leaderboard (repeatable), with its default settings and nine candidates per tuned setting, at least 27.
    /// Only its trials run.
    #[arg(long, value_name = "METHOD", conflicts_with = "fresh")]
    pub add: Vec<String>,
    /// Re-run trials that are recorded as failed.
    #[arg(long)]
    pub retry_failed: bool,
    /// Save a long trial of a network every SECONDS, to continue after a kill or with more epochs. It changes no result.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub checkpoint_every: u32,
    /// Print what would run, for how long and in how much memory, and run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print every cell (or the forecast of --dry-run) as JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Write tables and figures to DIR [default: report in the --results directory; fresh with --fresh; part if anything
    /// is narrowed].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl ReproduceArgs {
    /// All of it, and nothing else asked for.
    pub(crate) const fn of(narrow: Filter, places: Directories) -> Self {
        Self {
            narrow,
            places,
            jobs: None,
            shard: Shard { index: 1, count: 1 },
            minutes: None,
            all: true,
            fresh: true,
            extend: false,
            add: Vec::new(),
            retry_failed: false,
            checkpoint_every: 300,
            dry_run: false,
            json: false,
            out: None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show this cell, such as askl/table2:tuned:askl:segment, or this table, such as askl/table2.
    #[arg(value_name = "CELL|TABLE")]
    pub name: String,
    #[command(flatten)]
    pub places: Directories,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Print a table for LaTeX, with the packages booktabs and adjustbox.
    #[arg(long, conflicts_with = "json")]
    pub latex: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CellArgs {
    /// Look at this cell, such as askl/table2:tuned:askl:segment.
    #[arg(value_name = "ARTEFACT:VARIANT:METHOD:DATASET")]
    pub cell: String,
    #[command(flatten)]
    pub places: Directories,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub narrow: Filter,
    #[command(flatten)]
    pub places: Directories,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Render these papers or artefacts [default: all].
    #[arg(value_name = "PAPER|ARTEFACT")]
    pub artefacts: Vec<String>,
    /// Show the trials of this profile.
    #[arg(long, default_value = "paper")]
    pub profile: String,
    #[command(flatten)]
    pub places: Directories,
    /// Write tables, figures and the page to DIR [default: the --reports directory].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Open the page in the desktop's browser.
    #[arg(long)]
    pub open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResultsArgs {
    #[command(subcommand)]
    pub command: ResultsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ResultsCommand {
    /// Fold the record directory into Parquet files, one for each study. What they have stays.
    Compact {
        /// Read records from DIR.
        #[arg(long, value_name = "DIR", env = "MERCER_RESULTS", default_value = "results")]
        results: PathBuf,
        /// Write the Parquet files to DIR.
        #[arg(long, value_name = "DIR", default_value = "reports/records")]
        into: PathBuf,
        /// Drop trials that no study asks for any more.
        #[arg(long)]
        current: bool,
    },
    /// Copy records of other directories (or of their Parquet files) into the record directory.
    Merge {
        /// Copy from these directories.
        #[arg(required = true)]
        from: Vec<PathBuf>,
        /// Copy into the record directory DIR.
        #[arg(long, value_name = "DIR", env = "MERCER_RESULTS", default_value = "results")]
        results: PathBuf,
    },
    /// Write every trial as a line of CSV or JSON.
    Export {
        /// Read records from DIR.
        #[arg(long, value_name = "DIR", env = "MERCER_RESULTS", default_value = "results")]
        results: PathBuf,
        /// Print JSON lines instead of CSV.
        #[arg(long)]
        json: bool,
        /// Leave out trials that no study asks for any more.
        #[arg(long)]
        current: bool,
    },
    /// Compare the results of two record directories; exit status 3 if they differ.
    Diff {
        /// Compare this directory.
        a: PathBuf,
        /// Compare it with this one.
        b: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    pub command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Print the tasks there would be, with hours and memory, and write nothing.
    ///
    /// Simulations and measurements need no data and are in no task: `collect` computes them.
    Plan(ClusterPlan),
    /// Write the tasks that are not recorded yet, and submit them to Slurm.
    Submit(ClusterPlan),
    /// Print recorded, failed and missing trials, and the tasks that Slurm still has.
    Status {
        /// Use the campaign in DIR.
        #[arg(value_name = "DIR", default_value = "results/cluster")]
        campaign: PathBuf,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Render what the tasks recorded, as `reproduce` does; exit status 3 if trials are missing.
    ///
    /// Simulations and measurements that are not recorded are computed first, on this computer, as `reproduce` does. This
    /// takes minutes to an hour; `plan` prints how many and how long. Measurements are times, so run it where nothing
    /// else runs.
    Collect {
        /// Use the campaign in DIR.
        #[arg(value_name = "DIR", default_value = "results/cluster")]
        campaign: PathBuf,
        /// Print every cell as JSON instead of tables.
        #[arg(long)]
        json: bool,
        /// Write tables and figures to DIR [default: fresh in the --results directory; report with --extend; part if
        /// anything is narrowed].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Run one task; Slurm calls this.
    Work {
        /// Use the campaign in DIR.
        #[arg(value_name = "DIR")]
        campaign: PathBuf,
        /// Run task N, from 1 [default: `SLURM_ARRAY_TASK_ID`].
        #[arg(long, value_name = "N")]
        task: Option<usize>,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct ClusterPlan {
    #[command(flatten)]
    pub narrow: Filter,
    #[command(flatten)]
    pub places: Directories,
    /// Make tasks of about N minutes.
    #[arg(long, value_name = "N", default_value = "60", value_parser = clap::value_parser!(u32).range(1..))]
    pub minutes: u32,
    /// Make at least N tasks; few trials make fewer.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    pub tasks: u16,
    /// Run at most N tasks at once; each then asks for the memory, time and cores of the largest.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub max_parallel: Option<u16>,
    /// Give a task at most N cores, one for each trial. A task asks for as many cores as it has trials that may run side by
    /// side.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    pub cores: u16,
    /// Ask for at least N MiB for every task.
    #[arg(long, value_name = "N", default_value = "0")]
    pub min_memory_mib: u64,
    /// Ask for a time limit of at least N minutes for every task.
    #[arg(long, value_name = "N", default_value = "0")]
    pub min_minutes: u64,
    /// Add a directive to the Slurm scripts, such as --partition=long (repeatable).
    #[arg(long = "sbatch", value_name = "DIRECTIVE", allow_hyphen_values = true, value_parser = directive)]
    pub directives: Vec<String>,
    /// Write the campaign to DIR [default: cluster in the --results directory].
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Replace a campaign whose file is damaged.
    #[arg(long)]
    pub replace: bool,
    /// Count the records of --reports as done.
    #[arg(long)]
    pub extend: bool,
    /// Re-run trials that are recorded as failed.
    #[arg(long)]
    pub retry_failed: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Options that are not for whoever submits: long, short, and what there is instead.
const WRITTEN: [(&str, &str, &str); 14] = [
    ("--mem", "", "--min-memory-mib N asks for at least so much"),
    ("--mem-per-cpu", "", "--min-memory-mib N asks for at least so much"),
    ("--mem-per-gpu", "", "--min-memory-mib N asks for at least so much"),
    ("--time", "-t", "--min-minutes N sets at least so many minutes"),
    ("--time-min", "", "--min-minutes N sets at least so many minutes"),
    ("--cpus-per-task", "-c", "--cores N is the most of a task"),
    ("--ntasks", "-n", "a task is one process, and --cores N is the most it has"),
    ("--array", "-a", "--max-parallel N limits how many tasks run at once"),
    ("--output", "-o", "logs lie in the directory of the campaign: --into DIR"),
    ("--error", "-e", "logs lie in the directory of the campaign: --into DIR"),
    ("--open-mode", "", "a task that is begun again goes on with its log"),
    ("--signal", "", "a worker is told two minutes before its limit"),
    ("--requeue", "", "a stopped task is queued again once"),
    ("--no-requeue", "", "a stopped task is queued again once"),
];

/// A line of a batch script, as Slurm reads it.
fn directive(text: &str) -> Result<String, String> {
    if !text.starts_with('-') {
        return Err(format!(
            "Slurm reads options alone here, such as --partition=long; is it --{text}?"
        ));
    }
    // Each task has its own, the worker finds its log there, and what was stopped is queued again by the script.
    for (long, short, remedy) in WRITTEN {
        let whole = text
            .strip_prefix(long)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', ' ']));
        if whole || (!short.is_empty() && text.starts_with(short)) {
            return Err(format!("the scripts say {long} themselves; {remedy}"));
        }
    }
    if text.chars().any(char::is_control) {
        return Err("it is one line of a script, without line breaks or other control characters"
            .to_owned());
    }
    Ok(text.to_owned())
}
