//! Spec → trials → fits → records.
//!
//! A [`Spec`] is a file that reads like the paragraph of a paper: datasets, split, variants, methods, repeats. [`plan`]
//! turns it into [`Trial`]s, each with the [`mercer_records::Key`] that names its record. [`run`] runs the trials that
//! have no record, side by side, within limits. It writes each as it ends, so that a run can be killed and continued.
//! Tuning sees the training part of its trial and nothing else.
//!
//! A [`CostModel`] predicts from records what trials cost, for the time left, for a dry run, and for
//! the tasks of a cluster.
//!
//! The harness is handed the methods and names none of them; it knows no table and no figure.

mod calibrate;
mod checkpoint;
mod clock;
mod cluster;
mod cost;
mod curve;
mod error;
mod execute;
mod host;
mod limits;
mod memory;
mod path;
mod plan;
mod pool;
mod prepare;
mod spec;
mod tune;

pub use clock::program_seconds;
pub use cluster::{
    Array, Grouping, Launch, Task, arrays, group, numbered, slurm, task_of_environment,
};
pub use cost::{
    Basis, CostModel, Forecast, Prediction, check_cost_expressions, declared_bytes,
    declared_operations,
};
pub use error::HarnessError;
pub use execute::{Runner, execute};
pub use host::{free_memory, host, leave, peak_memory, reference_seconds};
pub use limits::{Stop, TrialLimits};
pub use memory::{MeteredAllocator, metered};
pub use path::Path;
pub use plan::{Selection, Trial, TuningSource, plan};
pub use pool::{Options, Progress, Shard, Silent, Summary, run};
pub use prepare::{FittedOn, FoldOrder, Parts, Protocol, Scale, SplitRule, TargetRule, prepare};
pub use spec::{Cut, DatasetRule, Profile, Spec, SpecMethod, Variant, VariantRule};
pub use tune::{Grid, PrintedGrid, Tuner, tune, tune_on};
