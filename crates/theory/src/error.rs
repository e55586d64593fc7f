use mercer_linalg::LinalgError;

/// Why a bound could not be evaluated.
///
/// ```
/// use mercer_theory::{enumerate_rademacher, sgd_error_rate};
/// use ndarray::Array2;
/// let refused = sgd_error_rate(0, 0.25, 400).unwrap_err();
/// assert_eq!(refused.to_string(), "`batch` is 0; it must be at least 1");
/// let refused = enumerate_rademacher(1.0, 3, Array2::eye(8).view()).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "8 points with 3 outputs have 2^24 sign patterns; enumerate at most 2^20"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TheoryError {
    /// A number outside its range.
    #[error("`{argument}` is {value}; it must be {must}")]
    Range {
        /// Name of the argument.
        argument: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values.
        must: &'static str,
    },
    /// An array without entries.
    #[error("`{argument}` is empty; a bound is about at least one point and one feature")]
    Empty {
        /// Name of the argument.
        argument: &'static str,
    },
    /// Arrays whose shapes do not fit.
    #[error("`{argument}` is {found_rows} x {found_columns}; it must be {rows} x {columns}")]
    Shape {
        /// Name of the argument.
        argument: &'static str,
        /// Its rows.
        found_rows: usize,
        /// Its columns.
        found_columns: usize,
        /// Rows that it must have.
        rows: usize,
        /// Columns that it must have.
        columns: usize,
    },
    /// More sign patterns than can be enumerated.
    #[error(
        "{points} points with {outputs} outputs have 2^{} sign patterns; enumerate at most 2^{limit}",
        points * outputs
    )]
    TooManyPatterns {
        /// `n`.
        points: usize,
        /// `K`.
        outputs: usize,
        /// Largest allowed `n K`.
        limit: usize,
    },
    /// An input that a calculator needs and did not get.
    #[error("`{calculator}` needs `{input}` ({meaning})")]
    Missing {
        /// Name of the calculator.
        calculator: &'static str,
        /// Name of the input.
        input: &'static str,
        /// What it is.
        meaning: &'static str,
    },
    /// An input that a calculator does not have.
    #[error("`{calculator}` has no input `{input}`{hint}{} {known}", takes(hint))]
    UnknownInput {
        /// Name of the calculator.
        calculator: &'static str,
        /// The name given.
        input: String,
        /// A suggestion, or nothing.
        hint: String,
        /// The names that exist.
        known: String,
    },
    /// No calculator of that name.
    #[error("unknown bound `{name}`{hint}; `mercer bound` lists them")]
    UnknownCalculator {
        /// The name asked for.
        name: String,
        /// A suggestion, or nothing.
        hint: String,
    },
    /// Inputs in range, whose bound is beyond the largest number.
    #[error(
        "`{calculator}` overflows for these inputs: {quantity} is not finite; bring them nearer to 1"
    )]
    Overflow {
        /// Name of the calculator.
        calculator: &'static str,
        /// The value or the term that is not finite.
        quantity: &'static str,
    },
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

/// The text between a suggestion, which ends in a question mark, or nothing, and the accepted values.
const fn takes(hint: &str) -> &'static str {
    if hint.is_empty() { "; it takes" } else { " It takes" }
}

impl TheoryError {
    /// The error with its argument called as the inputs of a calculator are: `trace-norm`, not
    /// `trace_norm`.
    pub(crate) fn called(mut self, inputs: impl IntoIterator<Item = &'static str>) -> Self {
        if let Self::Range { argument, .. }
        | Self::Empty { argument }
        | Self::Shape { argument, .. } = &mut self
            && let Some(name) = inputs.into_iter().find(|name| name.replace('-', "_") == *argument)
        {
            *argument = name;
        }
        self
    }
}

/// Refuses a number for which `allowed` is false; NaN and infinities never are.
pub(crate) fn check(
    argument: &'static str,
    value: f64,
    allowed: impl Fn(f64) -> bool,
    must: &'static str,
) -> Result<(), TheoryError> {
    if value.is_finite() && allowed(value) {
        return Ok(());
    }
    Err(TheoryError::Range { argument, value, must })
}

/// Refuses a number that is not a count from 1.
pub(crate) fn check_count(argument: &'static str, value: usize) -> Result<(), TheoryError> {
    check(argument, value as f64, |count| count >= 1.0, "at least 1")
}

/// Refuses an array without entries.
pub(crate) fn check_filled(argument: &'static str, length: usize) -> Result<(), TheoryError> {
    if length == 0 {
        return Err(TheoryError::Empty { argument });
    }
    Ok(())
}

/// Refuses an array of another shape than (`rows`, `columns`).
pub(crate) fn check_shape(
    argument: &'static str,
    (found_rows, found_columns): (usize, usize),
    (rows, columns): (usize, usize),
) -> Result<(), TheoryError> {
    if (found_rows, found_columns) == (rows, columns) {
        return Ok(());
    }
    Err(TheoryError::Shape { argument, found_rows, found_columns, rows, columns })
}

/// Refuses NaN and infinities.
pub(crate) fn check_finite<'a>(
    argument: &'static str,
    values: impl IntoIterator<Item = &'a f64>,
) -> Result<(), TheoryError> {
    values.into_iter().try_for_each(|&value| check(argument, value, |_| true, "finite"))
}
