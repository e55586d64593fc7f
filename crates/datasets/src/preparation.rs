//! Preparation of a row's numbers before a learner sees them: filling and scaling. Missing numbers are filled, all are
//! scaled. The preparation is learned from the training rows, one at a time, and kept with a model.

mod fitting;

pub use fitting::Preparing;

use crate::schema::{Categories, Holds, Schema};
use crate::shell::shell_word;
use crate::{DataError, Scaler};
use mercer_linalg::{Matrix, SparseRows, dense_rows};
use ndarray::{Array2, ArrayViewMut1};
use serde::{Deserialize, Serialize};

/// The number that fills a missing one. A missing category is always the most frequent one.
///
/// ```
/// use mercer_datasets::{Impute, Preparing, RowFile, Scaling, SchemaOptions, survey};
/// let text = "x,y\n1,0.5\n2,1.5\n9,2.5\n,3.5\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let filled = |impute| {
///     let mut preparing = Preparing::new(&schema, Scaling::None, impute);
///     let mut rows = schema.read(&file)?;
///     while let Some(row) = rows.next(true)? {
///         preparing.see(row.numbers, row.truth, "toys", row.line)?;
///     }
///     let mut inputs = ndarray::array![[f64::NAN]];
///     preparing.finish()?.apply(&mut inputs, &schema, "toys", &[5])?;
///     Ok::<_, mercer_datasets::DataError>(inputs[[0, 0]])
/// };
/// assert_eq!(filled(Some(Impute::Mean))?, 4.0); // of 1, 2 and 9
/// assert_eq!(filled(Some(Impute::Median))?, 2.0);
/// assert!(filled(None).unwrap_err().to_string().starts_with("toys:5: ")); // where it is missing
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impute {
    /// The mean of the training rows.
    Mean,
    /// Their median; all numbers are held to find it.
    Median,
}

/// Count, mean, squared deviations and extremes of numbers seen one at a time (Welford 1962).
///
/// ```
/// use mercer_datasets::Moments;
/// let of = |values: &[f64]| {
///     let mut moments = Moments::default();
///     values.iter().for_each(|&value| moments.see(value));
///     moments
/// };
/// let moments = of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
/// assert!((moments.mean() - 5.0).abs() < 1e-14 && (moments.deviation() - 2.0).abs() < 1e-14);
/// assert_eq!((moments.count(), moments.extremes()), (8.0, (2.0, 9.0)));
/// assert_eq!(of(&[0.1; 1000]).deviation(), 0.0); // exactly: no rounding makes it vary
/// // A large offset leaves the deviation of ±1 as it is, where E x² − (E x)² has no digit left.
/// assert!((of(&[1e9 - 1.0, 1e9 + 1.0]).deviation() - 1.0).abs() < 1e-7);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
    low: f64,
    high: f64,
}

impl Default for Moments {
    fn default() -> Self {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { count: 0.0, mean: 0.0, squares: 0.0, low, high }
    }
}

impl Moments {
    /// Adds one more number.
    pub fn see(&mut self, value: f64) {
        self.count += 1.0;
        let gap = value - self.mean;
        self.mean += gap / self.count;
        self.squares += gap * (value - self.mean);
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// The same number `count` more times, which need not be whole.
    fn repeat(&mut self, value: f64, count: f64) {
        if count == 0.0 {
            return;
        }
        let (total, gap) = (self.count + count, value - self.mean);
        self.mean += gap * count / total;
        self.squares += gap * gap * self.count * count / total;
        self.count = total;
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// Returns how many there are.
    pub const fn count(&self) -> f64 {
        self.count
    }

    /// Returns their mean; 0 of none.
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// Returns their deviation, divided by `n`; exactly 0 where all are equal.
    pub fn deviation(&self) -> f64 {
        if self.high > self.low { (self.squares / self.count).max(0.0).sqrt() } else { 0.0 }
    }

    /// Returns the smallest and the largest.
    pub const fn extremes(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}

/// Regression targets in units of their deviation around their mean.
///
/// ```
/// use mercer_datasets::TargetStandard;
/// let standard = TargetStandard { mean: 10.0, deviation: 2.0 };
/// assert_eq!((standard.apply(14.0), standard.invert(2.0)), (2.0, 14.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetStandard {
    /// Mean of the training targets.
    pub mean: f64,
    /// Their deviation, positive.
    pub deviation: f64,
}

impl TargetStandard {
    /// Converts a value to standard units.
    pub fn apply(self, value: f64) -> f64 {
        (value - self.mean) / self.deviation
    }

    /// Converts a value back to the units of the target.
    pub fn invert(self, value: f64) -> f64 {
        value * self.deviation + self.mean
    }
}

/// The value that fills the missing ones of a column.
///
/// ```
/// use mercer_datasets::Imputer;
/// assert_ne!(Imputer::Number(1.0), Imputer::Category("1".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Imputer {
    /// The mean or median of the training rows.
    Number(f64),
    /// Their most frequent category.
    Category(String),
}

/// A column with missing values in the training rows.
///
/// ```
/// use mercer_datasets::{Imputed, Imputer, Impute, Preparing, RowFile, Scaling, SchemaOptions, survey};
/// let text = "x,colour,y\n1,red,0.5\n,red,1.5\n3,,2.5\n,blue,3.5\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let mut preparing = Preparing::new(&schema, Scaling::Standard, Some(Impute::Mean));
/// let mut rows = schema.read(&file)?;
/// while let Some(row) = rows.next(true)? {
///     preparing.see(row.numbers, row.truth, "toys", row.line)?;
/// }
/// let filled = preparing.finish()?.filled(&schema);
/// let x = Imputed { column: "x".to_owned(), rows: 2, with: Imputer::Number(2.0) };
/// let colour = Imputed { column: "colour".to_owned(), rows: 1, with: Imputer::Category("red".to_owned()) };
/// assert_eq!(filled, [x, colour]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Imputed {
    /// Its name.
    pub column: String,
    /// Training rows in which it was missing.
    pub rows: usize,
    /// What stands there instead.
    pub with: Imputer,
}

/// Fills and scales rows that a [`Schema`] has read.
///
/// ```
/// use mercer_datasets::{Preparing, RowFile, Scaling, SchemaOptions, TargetStandard, Truth, survey};
/// use ndarray::array;
/// let file = RowFile::spooled(&b"x,y\n1,0.5\n3,2.5\n"[..], "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
/// preparing.see(&[1.0], Some(Truth::Value(0.5)), "toys", 2)?;
/// preparing.see(&[3.0], Some(Truth::Value(2.5)), "toys", 3)?;
/// let preparation = preparing.finish()?;
/// let mut inputs = array![[5.0]];
/// preparation.apply(&mut inputs, &schema, "toys", &[2])?;
/// assert_eq!(inputs, array![[3.0]]); // (5 − 2)/1
/// assert_eq!(preparation.target(), Some(TargetStandard { mean: 1.5, deviation: 1.0 }));
/// assert!(!preparation.fills());
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// What stands in for a missing number, one a feature; `None` refuses missing numbers.
    fill: Option<Vec<f64>>,
    /// Training rows in which each column was missing; empty in models of format 1.0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<usize>,
    scaler: Scaler,
    target: Option<TargetStandard>,
}

impl Preparation {
    /// Returns the columns with missing values in the training rows, and the values filled in.
    pub fn filled(&self, schema: &Schema) -> Vec<Imputed> {
        let Some(fill) = &self.fill else { return Vec::new() };
        let mut at = 0;
        let mut found = Vec::new();
        for (column, &rows) in schema.columns.iter().zip(&self.missing) {
            let cells = &fill[at..at + column.width()];
            at += column.width();
            let with = match &column.content {
                Holds::Numbers => Imputer::Number(cells[0]),
                Holds::Categories { encoding, levels } => {
                    let level = match encoding {
                        Categories::Ordinal => cells[0] as usize,
                        Categories::OneHot => {
                            cells.iter().position(|&cell| cell > 0.5).unwrap_or_default()
                        }
                    };
                    Imputer::Category(levels.get(level).cloned().unwrap_or_default())
                }
            };
            if rows > 0 {
                found.push(Imputed { column: column.name.clone(), rows, with });
            }
        }
        found
    }

    /// Returns how regression targets are standardised; `None` for classes.
    pub const fn target(&self) -> Option<TargetStandard> {
        self.target
    }

    /// Returns whether missing numbers are filled.
    pub const fn fills(&self) -> bool {
        self.fill.is_some()
    }

    /// Fills and scales the rows where they are; `lines` says where each stands in `file`.
    ///
    /// # Errors
    /// [`DataError::Line`] for a missing number that is not to be filled, and for one that is none any more when it is
    /// scaled.
    pub fn apply(
        &self,
        inputs: &mut Array2<f64>,
        schema: &Schema,
        file: &str,
        lines: &[usize],
    ) -> Result<(), DataError> {
        for (mut row, &line) in inputs.rows_mut().into_iter().zip(lines) {
            self.fill_row(&mut row, schema, file, line)?;
        }
        self.scaler.apply_inplace(inputs);
        let lost = inputs.indexed_iter().find(|(_, value)| !value.is_finite());
        if let Some(((row, at), _)) = lost {
            let line = lines.get(row).copied().unwrap_or(row + 1);
            return Err(too_large(schema, at, file, line));
        }
        Ok(())
    }

    /// Returns whether a row stays mostly 0: no 0 becomes another number.
    pub fn keeps_zeros(&self) -> bool {
        self.scaler.keeps_zeros()
    }

    /// Fills and scales rows `n × d`: those that are mostly 0 stay so where they can.
    ///
    /// ```
    /// use mercer_datasets::{Preparing, RowFile, RowFormat, Scaling, SchemaOptions, survey};
    /// use mercer_linalg::Matrix;
    /// let file = RowFile::spooled(&b"-1 2:0.5\n+1 1:3\n"[..], "toys", Some(RowFormat::Svmlight))?;
    /// let (schema, _) = survey(&file, &SchemaOptions::default())?;
    /// let (rows, truths, lines) = schema.read(&file)?.sparse(9, true)?;
    /// let mut preparing = Preparing::new(&schema, Scaling::Standard, None).keeping_zeros();
    /// preparing.see_sparse(&rows, &[0, 1], |row| (truths.of(row), 1.0));
    /// let scaled = preparing.finish()?.applied(Matrix::Sparse(rows), &schema, "toys", &lines)?;
    /// // Divided by their deviations, 0.25 and 1.5.
    /// assert_eq!(scaled.dense(0..2), ndarray::array![[0.0, 2.0], [2.0, 0.0]]);
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Preparation::apply`].
    pub fn applied(
        &self,
        inputs: Matrix,
        schema: &Schema,
        file: &str,
        lines: &[usize],
    ) -> Result<Matrix, DataError> {
        let mut inputs = match inputs {
            Matrix::Sparse(rows) if self.keeps_zeros() => {
                return self.sparse(rows, schema, file, lines).map(Matrix::Sparse);
            }
            Matrix::Sparse(rows) => dense_rows(&rows, 0..rows.rows()),
            Matrix::Dense(rows) => rows,
        };
        self.apply(&mut inputs, schema, file, lines)?;
        Ok(Matrix::Dense(inputs))
    }

    fn sparse(
        &self,
        mut rows: SparseRows,
        schema: &Schema,
        file: &str,
        lines: &[usize],
    ) -> Result<SparseRows, DataError> {
        let scaled = |(&value, (row, column)): (&f64, (u32, u32))| {
            let (column, line) = (column as usize, lines[row as usize]);
            let value = if value.is_nan() {
                self.filling(column, value, schema, file, line)?
            } else {
                value
            };
            Ok(self.scaler.of(column, value))
        };
        let values = rows.iter().map(scaled).collect::<Result<Vec<f64>, DataError>>()?;
        rows.data_mut().copy_from_slice(&values);
        let lost = rows.iter().find(|(value, _)| !value.is_finite());
        match lost {
            Some((_, (row, column))) => {
                Err(too_large(schema, column as usize, file, lines[row as usize]))
            }
            None => Ok(rows),
        }
    }

    fn fill_row(
        &self,
        row: &mut ArrayViewMut1<'_, f64>,
        schema: &Schema,
        file: &str,
        line: usize,
    ) -> Result<(), DataError> {
        for (at, cell) in row.iter_mut().enumerate().filter(|(_, cell)| cell.is_nan()) {
            *cell = self.filling(at, *cell, schema, file, line)?;
        }
        Ok(())
    }

    /// What stands in for a hole.
    fn filling(
        &self,
        at: usize,
        hole: f64,
        schema: &Schema,
        file: &str,
        line: usize,
    ) -> Result<f64, DataError> {
        let fill = self.fill.as_ref().map(|fill| fill[at]);
        fill.ok_or_else(|| {
            let name = column_of(schema, at);
            let how = if is_category(schema, at) { "category" } else { "mean" };
            let problem = format!(
                "column `{name}` has no value{}, and the model fills none; write one, remove the row, or fit again \
                 with --impute {how}",
                stood_there(schema, hole)
            );
            DataError::line(file, line, problem)
        })
    }

    /// Checks that what was read from a model file belongs to the schema.
    ///
    /// # Errors
    /// [`DataError::Format`].
    pub fn check(&self, schema: &Schema) -> Result<(), DataError> {
        let wrong = |problem: &str| Err(DataError::format("the preparation", problem));
        let width = schema.width();
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if self.fill.as_ref().is_some_and(|fill| fill.len() != width || !finite(fill)) {
            return wrong("does not fill the columns of the schema");
        }
        if !self.missing.is_empty() && self.missing.len() != schema.columns.len() {
            return wrong("counts what is missing in other columns than the schema's");
        }
        if !self.scaler.fits(width) {
            return wrong("does not scale the columns of the schema");
        }
        let real = schema.target.kind == crate::Kind::Regression;
        let sound =
            |t: &TargetStandard| t.mean.is_finite() && t.deviation > 0.0 && t.deviation.is_finite();
        if self.target.is_some() != real || !self.target.iter().all(sound) {
            return wrong("does not scale the target of the schema");
        }
        Ok(())
    }
}

fn too_large(schema: &Schema, feature: usize, file: &str, line: usize) -> DataError {
    let name = column_of(schema, feature);
    let problem = format!(
        "column `{name}` holds a number too large for the scale of the training rows; correct it, or remove the row"
    );
    DataError::line(file, line, problem)
}

/// The column that a feature comes from.
fn column_of(schema: &Schema, feature: usize) -> &str {
    let mut left = feature;
    let name = schema.columns.iter().find_map(|column| match left.checked_sub(column.width()) {
        Some(rest) => {
            left = rest;
            None
        }
        None => Some(column.name.as_str()),
    });
    name.unwrap_or_default()
}

/// Whether a feature is one of a column of categories.
fn is_category(schema: &Schema, feature: usize) -> bool {
    let mut at = 0;
    schema.columns.iter().any(|column| {
        at += column.width();
        feature < at && feature + column.width() >= at && column.content != Holds::Numbers
    })
}

/// The text that was read as missing, if one was.
fn stood_there(schema: &Schema, hole: f64) -> String {
    let stood = schema.stood(hole);
    stood.map_or_else(String::new, |text| format!(": `{text}` is read as missing"))
}

fn missing(
    schema: &Schema,
    (feature, value): (usize, f64),
    file: &str,
    line: usize,
    remedy: &str,
) -> DataError {
    let name = column_of(schema, feature);
    let texts = if schema.stood(value).is_some() {
        "name the texts that are missing (--missing LIST), or "
    } else {
        "or "
    };
    let stood = stood_there(schema, value);
    let own = if is_category(schema, feature) {
        let flag = format!("--keep-na {}", shell_word(name));
        format!("make that a category (fit with --impute category, or {flag}), {texts}")
    } else {
        String::new()
    };
    DataError::line(file, line, format!("column `{name}` has no value{stood}; {own}{remedy}"))
}

#[cfg(test)]
mod tests;
