use mercer_learning::{LearningError, one_line};
use std::path::{Path, PathBuf};

/// Why data could not be found, read, checked, fetched or split.
///
/// ```
/// use mercer_datasets::{Library, Limits, RowFormat, Table, TableOptions};
/// let missing = Library::of_folders([])?.load("mnist").unwrap_err();
/// assert!(missing.is_missing() && missing.to_string().starts_with("dataset `mnist` is not here; "));
/// let text = b"size,kind\n1.5,box\n2,ball,9\n";
/// let (format, options) = (RowFormat::Text(b','), TableOptions::default());
/// let wrong = Table::read(text, "toys.csv", format, &options, &Limits::default()).unwrap_err();
/// assert!(!wrong.is_missing() && wrong.to_string().starts_with("toys.csv:3: ")); // the line
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A dataset of the catalogue that stands in none of the places searched.
    #[error("dataset `{name}` is not here; {remedy}")]
    Missing {
        /// Its name.
        name: String,
        /// What to do about it.
        remedy: String,
    },
    /// No dataset of that name in the catalogue.
    #[error("unknown dataset `{name}`{hint}; `mercer data list` lists all")]
    Unknown {
        /// The name asked for.
        name: String,
        /// A suggestion that begins with a semicolon, or nothing.
        hint: String,
    },
    /// The operating system refused to read or write.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A text file that breaks its format in one line.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The fault there, and how to correct it.
        problem: String,
    },
    /// A file that breaks its format as a whole.
    #[error("{file}: {problem}")]
    Format {
        /// The file.
        file: String,
        /// The fault, and how to correct it.
        problem: String,
    },
    /// What a flag names is not in the file, or means nothing there.
    #[error("{file}: {problem}")]
    Flag {
        /// The file.
        file: String,
        /// The fault, with the flag, and how to correct it.
        problem: String,
    },
    /// A file larger than the limits allow.
    #[error(
        "{file}: {what} exceeds the limit of {limit}; take less of it, or raise `Limits::{field}` in a program of your own"
    )]
    TooLarge {
        /// The file.
        file: String,
        /// The quantity that is too large, with its size.
        what: String,
        /// The limit.
        limit: u64,
        /// The field of [`crate::Limits`] that says so.
        field: &'static str,
    },
    /// A file whose bytes are not those that its manifest or the catalogue names.
    #[error("{file} is damaged: its SHA-256 is {found}, but it should be {expected}; {remedy}")]
    Damaged {
        /// The file.
        file: String,
        /// The SHA-256 that it should have.
        expected: String,
        /// The SHA-256 that it has.
        found: String,
        /// What to do about it.
        remedy: String,
    },
    /// A dataset that parses, but is not the one of the catalogue.
    #[error(
        "dataset `{name}` is another version than the catalogue's: {what} is {found}, not \
         {expected}; use it with --accept-version, or get the catalogue's version"
    )]
    AnotherVersion {
        /// Name of the dataset.
        name: String,
        /// What was compared.
        what: &'static str,
        /// What the catalogue says.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A manifest or catalogue that cannot be used.
    #[error("{path}: {problem}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The fault in it.
        problem: String,
    },
    /// A target that is no number, or a label that is no class.
    #[error("{file}: row {row} has target `{label}`; {problem}")]
    Target {
        /// The file.
        file: String,
        /// The row, from 1.
        row: usize,
        /// What stands there.
        label: String,
        /// Why it cannot be used.
        problem: String,
    },
    /// An argument outside its range.
    #[error("`{name}` is {value}; it must be {must}")]
    Argument {
        /// Name of the argument.
        name: &'static str,
        /// Its value, printed.
        value: String,
        /// The allowed values.
        must: String,
    },
    /// A dataset whose official files this program cannot read by itself.
    #[error(
        "dataset `{name}` cannot be fetched: {reason}; get it by hand and import its folder with `mercer data import DIR`"
    )]
    ByHand {
        /// Name of the dataset.
        name: String,
        /// Why.
        reason: String,
    },
    /// A download that failed at every address.
    #[error("{file} could not be downloaded:{attempts}")]
    Download {
        /// The file wanted.
        file: String,
        /// One line per attempt: address and problem.
        attempts: String,
    },
    /// The rows do not make a sample.
    #[error(transparent)]
    Learning(#[from] LearningError),
}

impl DataError {
    /// Returns whether the data is simply not here, as opposed to being wrong.
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// Of what the system said; of what a decoder said that reads on the way, the file is damaged.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| {
            let packed = path
                .extension()
                .is_some_and(|end| ["gz", "xz", "bz2", "zst"].iter().any(|own| end == *own));
            if packed && source.raw_os_error().is_none() {
                let problem = format!(
                    "damaged or cut short inside its packing: {source}; fetch it, or pack it, again"
                );
                return Self::format(&path.display().to_string(), problem);
            }
            Self::Io { path: path.to_owned(), source }
        }
    }

    pub(crate) fn format(file: &str, problem: impl Into<String>) -> Self {
        Self::Format { file: one_line(file).into_owned(), problem: in_a_line(problem.into()) }
    }

    pub(crate) fn line(file: &str, line: usize, problem: impl Into<String>) -> Self {
        let problem = in_a_line(problem.into());
        Self::Line { file: one_line(file).into_owned(), line, problem }
    }

    pub(crate) fn flag(file: &str, problem: impl Into<String>) -> Self {
        Self::Flag { file: one_line(file).into_owned(), problem: in_a_line(problem.into()) }
    }
}

/// A message that cites names and fields of a file, which may hold ends of lines.
fn in_a_line(problem: String) -> String {
    match one_line(&problem) {
        std::borrow::Cow::Borrowed(_) => problem,
        std::borrow::Cow::Owned(told) => told,
    }
}
