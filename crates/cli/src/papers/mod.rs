//! The papers' commands: everything that needs their tables.

mod again;
pub(crate) mod args;
mod cluster;
mod forecast;
mod planned;
mod printed;
mod progress;
mod report;
mod reproduce;
mod results;
mod show;
mod status;
mod usage;

use crate::columns::Listing;
use crate::{Ended, program, unknown_name};
use args::PapersCommand;
use mercer_datasets::shell_word;
use mercer_experiments::catalogue;
use mercer_report::{Artefact, ExperimentError};
use serde_json::json;
use usage::WrongUsage;

/// The command as it was typed, to be typed once more.
pub(crate) fn typed() -> String {
    let words = std::env::args_os().skip(1).map(|word| shell_word(&word.to_string_lossy()));
    std::iter::once(program()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Carries out a command.
pub(crate) fn run(command: &PapersCommand, quiet: bool) -> anyhow::Result<Ended> {
    match command {
        PapersCommand::Reproduce(args) => reproduce::run(args, quiet),
        PapersCommand::Show(args) => show::show(args),
        PapersCommand::Why(args) => show::why(args),
        PapersCommand::Status(args) => status::run(args),
        PapersCommand::Report(args) => report::run(args),
        PapersCommand::Results(args) => results::run(&args.command),
        PapersCommand::Cluster(args) => cluster::run(&args.command),
    }
}

/// Whether an error is the user's slip.
pub(crate) fn wrong_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| match cause.downcast_ref() {
        Some(ExperimentError::Harness(error)) => unknown_name(error),
        Some(ExperimentError::UnknownArtefact { .. } | ExperimentError::NothingSelected { .. }) => {
            true
        }
        _ => cause.is::<WrongUsage>(),
    })
}

/// Every table and figure, with what it shows.
pub(crate) fn artefacts() -> Listing {
    let row = |artefact: &Artefact| {
        let mut studies: Vec<&str> = Vec::new();
        for name in artefact.studies.iter().chain(&artefact.simulations) {
            if !studies.contains(&name.as_str()) {
                studies.push(name);
            }
        }
        vec![json!(artefact.id), json!(artefact.title), json!(studies.join(", "))]
    };
    Listing {
        heads: &["artefact", "title", "records"],
        rows: catalogue().artefacts().iter().map(row).collect(),
    }
}
