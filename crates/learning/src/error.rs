use crate::{Sample, counted};

/// Why a sample, a setting or a fit was refused, or why a fit stopped.
///
/// ```
/// use mercer_learning::Sample;
/// use ndarray::array;
/// let said = |inputs, labels| Sample::classification(inputs, labels, 2).unwrap_err().to_string();
/// assert_eq!(
///     said(array![[0.0, 1.0], [2.0, f64::NAN]], vec![0, 1]),
///     "input in row 1, column 1 is NaN; remove or impute it"
/// );
/// assert_eq!(said(array![[0.0], [1.0]], vec![0, 2]), "row 1 has class 2, but there are only 2 classes");
/// assert_eq!(said(array![[0.0], [1.0]], vec![0]), "2 input rows but 1 target");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LearningError {
    /// A sample without rows.
    #[error("the sample has no rows")]
    NoRows,
    /// A sample without input columns.
    #[error("the sample has no input columns")]
    NoColumns,
    /// Inputs and targets of different length.
    #[error(
        "{} but {}",
        counted(*inputs, "input row", "input rows"),
        counted(*targets, "target", "targets")
    )]
    Length {
        /// Rows of the inputs.
        inputs: usize,
        /// Number of targets.
        targets: usize,
    },
    /// NaN or infinity among the inputs.
    #[error("input in row {row}, column {column} is {value}; remove or impute it")]
    InputNotFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// NaN or infinity among the targets.
    #[error("target in row {row} is {value}; remove the row")]
    TargetNotFinite {
        /// Row, from 0.
        row: usize,
        /// The offending value.
        value: f64,
    },
    /// A weight of a row that says not how often it counts.
    #[error("the weight of row {row} is {value}; it must be at least 0 and finite")]
    Weight {
        /// Row, from 0.
        row: usize,
        /// The offending value.
        value: f64,
    },
    /// Weights with no positive one among them.
    #[error("all weights are 0: no row counts; give some rows a weight above 0")]
    NoWeight,
    /// A setting that was given and would do nothing.
    #[error(
        "setting `{name}` would do nothing: it counts only where {only}, and here {here}; leave it out"
    )]
    Unheeded {
        /// The setting.
        name: &'static str,
        /// Where it counts.
        only: String,
        /// The actual state.
        here: String,
    },
    /// A class index outside the declared range.
    #[error(
        "row {row} has class {label}, but there {} only {}",
        if *classes == 1 { "is" } else { "are" },
        counted(*classes, "class", "classes")
    )]
    Label {
        /// Row, from 0.
        row: usize,
        /// The label found.
        label: u32,
        /// The number of classes declared.
        classes: usize,
    },
    /// Labels as linfa has them, most of them without a row.
    #[error(
        "label {label} among {}: labels count the classes from 0; number those that occur 0, 1, 2, ...",
        counted(*rows, "row", "rows")
    )]
    LabelBeyondRows {
        /// The largest label.
        label: usize,
        /// Number of rows.
        rows: usize,
    },
    /// Fewer than two classes in the training part: no class can be learned.
    #[error("{}; a classifier needs at least two", of_one_class(*rows))]
    OneClass {
        /// Rows of the training part.
        rows: usize,
    },
    /// A setting outside its range.
    #[error("setting `{name}` is {value}; it must be {must}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value, printed.
        value: String,
        /// The allowed values.
        must: &'static str,
    },
    /// Settings that do not have the declared form (unknown name, wrong type).
    #[error("settings of `{method}`: {message}")]
    Settings {
        /// The method whose settings were read.
        method: String,
        /// What the parser said.
        message: String,
    },
    /// A method asked to do a task that it cannot do.
    #[error("`{method}` cannot do {task}; see `mercer list methods` for those that can")]
    Task {
        /// Name of the method.
        method: String,
        /// The task asked for.
        task: &'static str,
    },
    /// Prediction inputs of another width than the training inputs.
    #[error(
        "the model was fitted on {}, but the inputs have {found}",
        counted(*expected, "column", "columns")
    )]
    Width {
        /// Columns at fit time.
        expected: usize,
        /// Columns now.
        found: usize,
    },
    /// A kernel's width and inputs whose product is beyond the numbers of the fit.
    #[error(
        "{what} overflow {format} precision: `{name}` is {}, and column {column} of the inputs reaches {}; \
         scale the inputs (--scale standard, or a power of ten off the column), or take a smaller `{name}`",
        short(*setting),
        short(*reach)
    )]
    Overflow {
        /// What could not be computed: `the features`.
        what: &'static str,
        /// `single` or `double`.
        format: &'static str,
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        setting: f64,
        /// The largest column: its number, from 0, or its name where a caller knows it.
        column: String,
        /// Its entry that is largest in size.
        reach: f64,
    },
    /// The loss became NaN or infinite.
    #[error(
        "training diverged at step {step}: the loss is {}; lower {rates}",
        short(*loss)
    )]
    Diverged {
        /// Step, from 1.
        step: usize,
        /// The loss there.
        loss: f64,
        /// The settings that may be too large, and their values: [`LearningError::diverged`] writes them.
        rates: String,
    },
    /// A factorisation failed.
    #[error("{operation} failed: {reason}")]
    Numerical {
        /// What was computed.
        operation: &'static str,
        /// What went wrong.
        reason: String,
    },
    /// The run's time limit was reached.
    #[error("stopped after {seconds:.1} s, its time limit")]
    OutOfTime {
        /// Seconds used.
        seconds: f64,
    },
    /// The run's memory limit was reached, or would be.
    #[error("needs {needed} bytes, more than the limit of {limit} bytes for a trial")]
    OutOfMemory {
        /// Bytes needed or used.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A learner that needs all rows at once, asked to read them in passes.
    #[error(
        "this method needs all {rows} rows at once, but only {held} may be held; raise --buffer, or \
         take a method that trains in passes"
    )]
    NotInPasses {
        /// All rows.
        rows: usize,
        /// Rows of a window.
        held: usize,
    },
    /// Training rows that could be read before, but not again.
    #[error("the training rows cannot be read again: {reason}")]
    Unreadable {
        /// What went wrong.
        reason: String,
    },
    /// What was kept of a fitted predictor does not make one.
    #[error("the kept model cannot be restored: `{name}` {problem}")]
    State {
        /// The value, array or part.
        name: String,
        /// The problem.
        problem: String,
    },
    /// No method of that name.
    #[error("unknown method `{name}`{hint}")]
    UnknownMethod {
        /// The name asked for.
        name: String,
        /// A suggestion, or nothing.
        hint: String,
    },
}
impl LearningError {
    /// Reports training that came to no number, or to a loss far above the first. It names the settings that may be too
    /// large for it.
    ///
    /// ```
    /// use mercer_learning::LearningError;
    /// let said = LearningError::diverged(3, 1.5e7, &[("rate", 50.0), ("frequency_rate", 0.1)]).to_string();
    /// assert!(said.starts_with("training diverged at step 3: the loss is 15000000; lower `rate`"), "{said}");
    /// assert!(said.ends_with("lower `rate`, which is 50, or `frequency_rate`, which is 0.1"), "{said}");
    /// ```
    pub fn diverged(step: usize, loss: f64, rates: &[(&'static str, f64)]) -> Self {
        let named: Vec<String> = rates
            .iter()
            .map(|(name, value)| format!("`{name}`, which is {}", written(value)))
            .collect();
        let rates =
            if named.is_empty() { "the learning rate".to_owned() } else { named.join(", or ") };
        Self::Diverged { step, loss, rates }
    }

    /// The same, where training knew the rates by other values than those that were set.
    ///
    /// ```
    /// use mercer_learning::LearningError;
    /// let error = LearningError::diverged(3, 9.0, &[]);
    /// assert!(error.to_string().ends_with("lower the learning rate"));
    /// let said = error.at_rates(&[("rate", 0.5)]).to_string();
    /// assert!(said.ends_with("lower `rate`, which is 0.5"), "{said}");
    /// ```
    #[must_use]
    pub fn at_rates(self, rates: &[(&'static str, f64)]) -> Self {
        match self {
            Self::Diverged { step, loss, .. } => Self::diverged(step, loss, rates),
            other => other,
        }
    }

    /// Returns a setting outside its range: a number of many zeros with an exponent.
    ///
    /// ```
    /// use mercer_learning::LearningError;
    /// let refused = |value: f64| LearningError::setting("std", value, "smaller").to_string();
    /// assert_eq!(refused(1e200), "setting `std` is 1e200; it must be smaller");
    /// assert_eq!(refused(-0.5), "setting `std` is -0.5; it must be smaller");
    /// ```
    pub fn setting(name: &'static str, value: impl std::fmt::Display, must: &'static str) -> Self {
        Self::Setting { name, value: written(value), must }
    }

    /// [`LearningError::Overflow`] of these inputs, whose largest column it names.
    ///
    /// ```
    /// use mercer_learning::{LearningError, Sample};
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[1.0, -3e200], [2.0, 4.0]], array![0.0, 1.0])?;
    /// let said = LearningError::overflow("the features", "double", "std", 1e150, &sample).to_string();
    /// assert!(said.starts_with("the features overflow double precision: `std` is 1e150, and column 1 of"));
    /// assert!(said.contains("reaches -3e200; scale the inputs"), "{said}");
    /// # Ok::<(), LearningError>(())
    /// ```
    pub fn overflow(
        what: &'static str,
        format: &'static str,
        name: &'static str,
        setting: f64,
        sample: &Sample,
    ) -> Self {
        let (mut column, mut reach) = (0, 0.0f64);
        for ((_, j), &value) in sample.inputs().indexed_iter() {
            if value.abs() > reach.abs() {
                (column, reach) = (j, value);
            }
        }
        Self::Overflow { what, format, name, setting, column: column.to_string(), reach }
    }
}

/// A number of many zeros with an exponent.
fn written(value: impl std::fmt::Display) -> String {
    let plain = value.to_string();
    let number = plain.parse().ok().filter(|_| plain.len() > LONG).map(|n: f64| format!("{n:e}"));
    number.filter(|n| n.len() < plain.len()).unwrap_or(plain)
}

/// Four digits tell a size.
fn short(value: f64) -> String {
    written(format!("{value:.3e}").parse().unwrap_or(value))
}

/// Letters of a number that would be mostly zeros.
const LONG: usize = 20;

/// That all rows that train belong to one class, whose number may be one.
fn of_one_class(rows: usize) -> String {
    match rows {
        1 => "there is one training row, of one class".to_owned(),
        rows => format!("all {rows} training rows belong to one class"),
    }
}
