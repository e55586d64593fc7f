use mercer_harness::HarnessError;
use mercer_records::RecordError;
use mercer_render::RenderError;
use mercer_statistics::StatisticsError;
use std::path::PathBuf;

/// Why an artefact could not be run or shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// No artefact or paper of that name.
    #[error("unknown artefact `{name}`{hint}; `mercer list` prints them all")]
    UnknownArtefact {
        /// The name given.
        name: String,
        /// The nearest name, if one is near.
        hint: String,
    },
    /// A selection that no trial of the profile meets.
    #[error(
        "profile `{profile}` has no trial of what was named; `mercer list` says what there is, and profile `paper` has it all"
    )]
    NothingSelected {
        /// The profile.
        profile: String,
    },
    /// A file of the project that does not have its form.
    #[error("{file}: {reason}")]
    Form {
        /// Which.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Of the harness.
    #[error(transparent)]
    Harness(#[from] HarnessError),
    /// Of the record directory.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Of a table or figure.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// Of a test.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}
