use std::path::PathBuf;

/// Why a file of methods was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutsideError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It does not have its form.
    #[error("{path}: {reason}")]
    Form {
        /// The file.
        path: PathBuf,
        /// The fault, and where it is.
        reason: String,
    },
}
