use std::path::PathBuf;

/// Why a record could not be written or read.
///
/// ```
/// use mercer_records::{Record, RecordError};
/// use std::path::Path;
/// let refused = Record::parse("{}", Path::new("r.json")).unwrap_err();
/// assert!(matches!(refused, RecordError::Corrupt { .. }));
/// assert!(refused.to_string().starts_with("r.json is not a record: "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that is not a record of this schema.
    #[error("{path} is not a record: {reason}")]
    Corrupt {
        /// Where.
        path: PathBuf,
        /// The fault in it.
        reason: String,
    },
}
