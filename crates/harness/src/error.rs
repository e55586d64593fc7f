use mercer_datasets::DataError;
use mercer_learning::{LearningError, nearest};
use mercer_records::RecordError;
use std::path::PathBuf;
use std::sync::Arc;

/// Why a study could not be planned or run.
///
/// ```
/// # mod toys { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/toys.rs")); }
/// # use toys::{METHODS, STUDY};
/// # let spec = mercer_harness::Spec::parse(STUDY, std::path::Path::new("toy.toml"))?;
/// # let all = mercer_harness::Selection::default();
/// # let trials = mercer_harness::plan(&spec, METHODS, "paper", &all, &|_| None)?;
/// use mercer_harness::{HarnessError, Spec};
/// let refused = Spec::parse("artefact = 3", std::path::Path::new("toy.toml")).unwrap_err();
/// assert!(matches!(refused, HarnessError::Spec { .. }));
/// assert!(refused.to_string().starts_with("spec toy.toml: "));
/// let refused = spec.profile("quick").unwrap_err();
/// assert!(refused.to_string().starts_with("unknown profile `quick`"), "{refused}");
/// # Ok::<(), HarnessError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// A spec that cannot be read.
    #[error("spec {path}: {reason}")]
    Spec {
        /// Which.
        path: PathBuf,
        /// The fault in it.
        reason: String,
    },
    /// A name on the command line that the spec does not have.
    #[error("unknown {kind} `{name}`{hint}")]
    Unknown {
        /// `dataset`, `method`, `variant` or `profile`.
        kind: &'static str,
        /// The name given.
        name: String,
        /// What there is.
        hint: String,
    },
    /// A shard that does not exist.
    #[error("shard {index}/{count}: the index must be from 1 to the count")]
    Shard {
        /// Index given.
        index: usize,
        /// Count given.
        count: usize,
    },
    /// A split that leaves a part empty.
    #[error("splitting {rows} rows by {rule} leaves the {part} part empty")]
    EmptyPart {
        /// Rows to split.
        rows: usize,
        /// The rule, printed.
        rule: String,
        /// `training` or `test`.
        part: &'static str,
    },
    /// Data that does not match the plan's keys. Its record would have a false name.
    #[error(
        "`{dataset}` was planned with fingerprint {planned}, but the data found has {found}; plan it with that version"
    )]
    Version {
        /// Name of the dataset.
        dataset: String,
        /// Fingerprint in the key.
        planned: String,
        /// Fingerprint of the data.
        found: String,
    },
    /// Of the data; shared by all trials that wanted it.
    #[error("{0}")]
    Data(Arc<DataError>),
    /// Of a method or its settings.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// Of the record directory.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl From<DataError> for HarnessError {
    fn from(error: DataError) -> Self {
        Self::Data(Arc::new(error))
    }
}

impl HarnessError {
    /// A name of a study that does not exist, with the one that may have been meant.
    pub(crate) fn unknown(kind: &'static str, name: &str, known: &[&str], artefact: &str) -> Self {
        // A slip, or a word that goes on where a name ends.
        let begins = || known.iter().copied().find(|known| name.starts_with(*known));
        let near = nearest(name, known).or_else(begins);
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let hint = format!("{near}; {artefact} has {}", known.join(", "));
        Self::Unknown { kind, name: name.to_owned(), hint }
    }
}
