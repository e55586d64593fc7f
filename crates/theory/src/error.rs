use mercer_linalg::LinalgError;

/// Why a bound could not be evaluated.
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
        /// What is allowed.
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
    #[error("`{calculator}` has no input `{input}`; it takes {known}")]
    UnknownInput {
        /// Name of the calculator.
        calculator: &'static str,
        /// The name given.
        input: String,
        /// The names that exist.
        known: String,
    },
    /// No calculator of that name.
    #[error("unknown bound `{name}`; there are {known}")]
    UnknownCalculator {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
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

/// Refuses what is not a count from 1.
pub(crate) fn check_count(argument: &'static str, value: usize) -> Result<(), TheoryError> {
    check(argument, value as f64, |count| count >= 1.0, "at least 1")
}
