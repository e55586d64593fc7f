/// Why a test or an interval could not be computed.
///
/// ```
/// use mercer_statistics::{average_ranks, paired_t};
/// let said = |differences: &[f64]| paired_t(differences).unwrap_err().to_string();
/// assert_eq!(said(&[0.5]), "`differences` has 1 values, at least 2 are needed; run more repeats");
/// assert_eq!(
///     said(&[0.5, f64::NAN]),
///     "`differences`[1] is NaN; leave failed trials out of the comparison"
/// );
/// let ragged = average_ranks(&[vec![1.0, 2.0], vec![1.0]], true).unwrap_err();
/// assert_eq!(
///     ragged.to_string(),
///     "`scores`[1] has 1 values, but the first row has 2; keep only what all have"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatisticsError {
    /// Fewer values than the statistic needs.
    #[error("`{argument}` has {found} values, at least {needed} are needed; run more repeats")]
    TooFew {
        /// Name of the argument.
        argument: &'static str,
        /// How many values there are.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// NaN or infinity among the values.
    #[error("`{argument}`[{index}] is {value}; leave failed trials out of the comparison")]
    NotFinite {
        /// Name of the argument.
        argument: &'static str,
        /// Position, from 0.
        index: usize,
        /// The offending value.
        value: f64,
    },
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
    /// Rows of unequal length where a full table is needed.
    #[error(
        "`{argument}`[{row}] has {found} values, but the first row has {expected}; \
             keep only what all have"
    )]
    Ragged {
        /// Name of the argument.
        argument: &'static str,
        /// Row, from 0.
        row: usize,
        /// Length of that row.
        found: usize,
        /// Length of the first row.
        expected: usize,
    },
}

/// Refuses fewer than `needed` values, NaN and infinities.
pub(crate) fn check_values(
    argument: &'static str,
    values: &[f64],
    needed: usize,
) -> Result<(), StatisticsError> {
    if values.len() < needed {
        return Err(StatisticsError::TooFew { argument, found: values.len(), needed });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(StatisticsError::NotFinite { argument, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Refuses tables without rows, rows of unequal or too small length, NaN and infinities.
pub(crate) fn check_table(
    argument: &'static str,
    rows: &[Vec<f64>],
    needed: usize,
) -> Result<(), StatisticsError> {
    let Some(first) = rows.first() else {
        return Err(StatisticsError::TooFew { argument, found: 0, needed: 1 });
    };
    for (row, values) in rows.iter().enumerate() {
        if values.len() != first.len() {
            let (found, expected) = (values.len(), first.len());
            return Err(StatisticsError::Ragged { argument, row, found, expected });
        }
        check_values(argument, values, needed)?;
    }
    Ok(())
}

/// Refuses a number for which `allowed` is false; NaN never is.
pub(crate) fn check_range(
    argument: &'static str,
    value: f64,
    allowed: impl Fn(f64) -> bool,
    must: &'static str,
) -> Result<(), StatisticsError> {
    if !value.is_nan() && allowed(value) {
        return Ok(());
    }
    Err(StatisticsError::Range { argument, value, must })
}
