use mercer_datasets::{DataError, Schema};
use mercer_harness::HarnessError;
use mercer_learning::{LearningError, Method, Settings, Task, one_line};
use mercer_render::RenderError;
use mercer_statistics::StatisticsError;
use std::path::PathBuf;

/// Errors of fitting a table, keeping a model, or evaluating.
///
/// ```
/// use mercer_workbench::{Budget, WorkbenchError};
/// let error = "soon".parse::<Budget>().unwrap_err();
/// assert!(matches!(error, WorkbenchError::Argument { name: "budget", .. }));
/// assert!(error.to_string().contains("60s")); // what would do
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkbenchError {
    /// A method asked for a task that it cannot do.
    #[error("`{method}` cannot do {task}; these can: {able}")]
    CannotDo {
        /// The method.
        method: String,
        /// The task.
        task: &'static str,
        /// The methods that can.
        able: String,
    },
    /// A method that does not weigh rows, where rows or classes have weights.
    #[error("`{flag}`: {method} does not weigh rows; these do: {able}")]
    CannotWeigh {
        /// What gave the weights.
        flag: &'static str,
        /// The method.
        method: String,
        /// The methods that can, of those that do the task.
        able: String,
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
    /// A file that would be overwritten.
    #[error("{path} exists; choose another name, or overwrite it with --force")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file that is not written.
    #[error("{path}: {problem}")]
    Output {
        /// The file.
        path: PathBuf,
        /// The obstacle.
        problem: String,
    },
    /// The operating system refused to read or write.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that is no model, or a damaged one.
    #[error("{path} {problem}")]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// The fault in it, such as `is text, not a model`.
        problem: String,
    },
    /// A model file of a later format.
    #[error(
        "{path} has model format {found}; this program reads {known}.x: use a newer program, or fit the model again"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The major format known here.
        known: u32,
    },
    /// A method that cannot train on a part of the rows at a time.
    #[error(
        "`{method}` needs all {rows} rows at once, but only {held} may be held; leave --buffer out, \
         or take a method that trains in passes (--method rf-ridge, rf-sgd or askl, say)"
    )]
    NotInPasses {
        /// The method.
        method: String,
        /// Rows of the file.
        rows: usize,
        /// Rows of a buffer.
        held: usize,
    },
    /// A method without class probabilities.
    #[error(
        "`{method}` gives no probabilities{why}; leave --proba and --entropy out, or take --scores"
    )]
    NoProbabilities {
        /// The method.
        method: String,
        /// Why not, or nothing.
        why: &'static str,
    },
    /// A file without the target column where it is needed.
    #[error(
        "{file} has no column `{}`, the target; it is needed to score predictions",
        one_line(target)
    )]
    NoTarget {
        /// The file.
        file: String,
        /// The target's name.
        target: String,
    },
    /// Reading the table.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A fit that the machine has no memory for.
    #[error(
        "needs {} of memory, where {} are free; take {remedies}",
        bytes(*needed),
        bytes(*free)
    )]
    Memory {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that it may have.
        free: u64,
        /// What makes it smaller.
        remedies: String,
    },
    /// Training rows of one class.
    #[error(
        "{}: add rows of another class, take fewer folds, or shuffle a file that is read in passes",
        LearningError::OneClass { rows: *rows }
    )]
    OneClass {
        /// The rows.
        rows: usize,
    },
    /// Fitting or predicting.
    #[error(transparent)]
    Learning(LearningError),
    /// Tuning.
    #[error(transparent)]
    Harness(HarnessError),
    /// Drawing.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A test.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

impl WorkbenchError {
    /// Returns whether the user's words are at fault, not the data.
    ///
    /// ```
    /// use mercer_workbench::Budget;
    /// assert!("soon".parse::<Budget>().unwrap_err().is_usage()); // exit status 2, not 1
    /// ```
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::CannotDo { .. }
                | Self::CannotWeigh { .. }
                | Self::Argument { .. }
                | Self::Exists { .. }
                | Self::Output { .. }
                | Self::NoProbabilities { .. }
                | Self::Memory { .. }
                | Self::Data(DataError::Argument { .. } | DataError::Flag { .. })
                | Self::Learning(
                    LearningError::UnknownMethod { .. }
                        | LearningError::Setting { .. }
                        | LearningError::Settings { .. }
                        | LearningError::Unheeded { .. }
                        | LearningError::Task { .. }
                )
        )
    }
}

impl WorkbenchError {
    /// With the name of the column that a learner knows by its number.
    pub(crate) fn by_name(self, schema: &Schema) -> Self {
        match self {
            Self::Learning(LearningError::Overflow {
                what,
                format,
                name,
                setting,
                column,
                reach,
            }) => {
                let of_column = column.parse().ok();
                let known = of_column.and_then(|j: usize| schema.feature_names().get(j).cloned());
                let column = known.map_or(column, |known| format!("`{}`", one_line(&known)));
                LearningError::Overflow { what, format, name, setting, column, reach }.into()
            }
            other => other,
        }
    }
}

/// Settings that a fit's memory grows with.
const SIZES: [&str; 9] = [
    "features",
    "degree",
    "cap",
    "batch",
    "points",
    "machine_rows",
    "landmarks",
    "stored_rows",
    "factor_bytes",
];

impl WorkbenchError {
    /// With the settings of the method that its memory grows with, where that was too much.
    /// With a `buffer` the file is read in passes already.
    pub(crate) fn by_settings(
        self,
        method: &Method,
        settings: &Settings,
        task: Task,
        buffer: bool,
    ) -> Self {
        let Self::Memory { needed, free, .. } = self else { return self };
        let idle = method.idle(settings, task);
        let heeded = |name: &str| {
            let own = (method.settings)();
            let own = own.iter().find(|setting| setting.name == name);
            own.is_some_and(|own| method.offers(own)) && !idle.contains(&name)
        };
        let sizes: Vec<String> =
            SIZES.iter().filter(|name| heeded(name)).map(|name| format!("--set {name}=")).collect();
        let mut remedies = Vec::new();
        if !sizes.is_empty() {
            remedies.push(format!("smaller settings ({})", sizes.join(", ")));
        }
        if heeded("solver") {
            remedies.push("another solver (--set solver=)".to_owned());
        }
        if buffer {
            remedies.push("a smaller --buffer".to_owned());
        } else {
            remedies.push("fewer rows".to_owned());
            let passes =
                "a method that reads the file in passes (fit --method rf-sgd --buffer 10000)";
            remedies.push(passes.to_owned());
        }
        let last = remedies.pop().unwrap_or_default();
        let remedies =
            if remedies.is_empty() { last } else { format!("{}, or {last}", remedies.join(", ")) };
        Self::Memory { needed, free, remedies }
    }
}

impl From<LearningError> for WorkbenchError {
    fn from(error: LearningError) -> Self {
        match error {
            LearningError::OutOfMemory { needed, limit } => {
                let remedies = "smaller settings, or fewer rows".to_owned();
                Self::Memory { needed, free: limit, remedies }
            }
            LearningError::OneClass { rows } => Self::OneClass { rows },
            other => Self::Learning(other),
        }
    }
}

impl From<HarnessError> for WorkbenchError {
    fn from(error: HarnessError) -> Self {
        match error {
            HarnessError::Learning(error) => error.into(),
            other => Self::Harness(other),
        }
    }
}

/// A number of bytes as a person reads it.
fn bytes(count: u64) -> String {
    let (mut value, mut unit) = (count as f64, "bytes");
    for larger in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if unit == "bytes" { format!("{count} bytes") } else { format!("{value:.1} {unit}") }
}
