//! Preparation of a row's numbers before a learner sees them: filling and scaling. Missing numbers are filled, all are
//! scaled. The preparation is learned from the training rows, one at a time, and kept with a model.

use crate::schema::{Categories, Holds, Schema, Truth};
use crate::shell::shell_word;
use crate::{DataError, Scaler, Scaling};
use mercer_linalg::{Matrix, SparseRows, dense_rows, sparse_row};
use ndarray::{Array2, ArrayViewMut1};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// The error for numbers whose spread is no number.
const TOO_LARGE: &str = "has numbers so large that their spread overflows (above about 1e150); divide the column by a power of ten";

/// Learns a [`Preparation`] from training rows, one at a time.
///
/// Rows in the same order give the same preparation to the last bit, whether they come from memory
/// or from a file.
///
/// ```
/// use mercer_datasets::{Preparing, RowFile, Scaling, SchemaOptions, Truth, survey};
/// let file = RowFile::spooled(&b"x,y\n1,0.5\n3,2.5\n"[..], "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
/// for line in [2, 3] {
///     preparing.see(&[1.0], Some(Truth::Value(7.0)), "toys", line)?;
/// }
/// let standard = preparing.finish()?.target().unwrap(); // targets that do not vary stay as they are
/// assert_eq!((standard.mean, standard.deviation), (7.0, 1.0));
/// let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
/// let refused = preparing.see(&[f64::NAN], Some(Truth::Value(7.0)), "toys", 2).unwrap_err();
/// assert!(refused.to_string().contains("`x`"), "{refused}"); // a missing number names its column
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug)]
pub struct Preparing<'a> {
    schema: &'a Schema,
    scaling: Scaling,
    impute: Option<Impute>,
    moments: Vec<Moments>,
    /// How often each feature was missing, by the weights of the rows.
    missing: Vec<f64>,
    /// In how many rows it was.
    holes: Vec<usize>,
    /// All numbers of each feature, for medians, and their weights where rows have some.
    values: Vec<Vec<f64>>,
    weights: Vec<Vec<f64>>,
    /// How often each level of an ordinal column occurred, by feature.
    codes: BTreeMap<usize, BTreeMap<u32, f64>>,
    target: Moments,
    /// The rows are mostly 0, and shall stay so: nothing is subtracted from them; and how many were seen.
    sparse: bool,
    rows: usize,
}

impl<'a> Preparing<'a> {
    /// Starts with nothing seen yet.
    pub fn new(schema: &'a Schema, scaling: Scaling, impute: Option<Impute>) -> Self {
        let width = schema.width();
        let held = if impute == Some(Impute::Median) { width } else { 0 };
        let mut codes = BTreeMap::new();
        let mut feature = 0;
        for column in &schema.columns {
            if matches!(column.content, Holds::Categories { encoding: Categories::Ordinal, .. }) {
                codes.insert(feature, BTreeMap::new());
            }
            feature += column.width();
        }
        Self {
            schema,
            scaling,
            impute,
            moments: vec![Moments::default(); width],
            missing: vec![0.0; width],
            holes: vec![0; width],
            values: vec![Vec::new(); held],
            weights: vec![Vec::new(); held],
            codes,
            target: Moments::default(),
            sparse: false,
            rows: 0,
        }
    }

    /// Adds one more row, from this line of a file, with its target.
    ///
    /// # Errors
    /// [`DataError::Line`] for a missing number that is not to be filled.
    pub fn see(
        &mut self,
        row: &[f64],
        truth: Option<Truth>,
        file: &str,
        line: usize,
    ) -> Result<(), DataError> {
        for (at, &value) in row.iter().enumerate() {
            if value.is_nan() {
                if self.impute.is_none() {
                    let remedy = "fill it (--impute mean or median), or remove the row";
                    return Err(missing(self.schema, (at, value), file, line, remedy));
                }
                self.missing[at] += 1.0;
                self.holes[at] += 1;
                continue;
            }
            self.moments[at].see(value);
            if let Some(values) = self.values.get_mut(at) {
                values.push(value);
            }
        }
        for (&at, counts) in &mut self.codes {
            if !row[at].is_nan() {
                *counts.entry(row[at] as u32).or_default() += 1.0;
            }
        }
        if let Some(Truth::Value(value)) = truth {
            self.target.see(value);
        }
        Ok(())
    }

    /// Adds one more row that counts as `weight` equal rows. A row of weight 0 is not looked at. All rows are to be
    /// seen so, or none.
    ///
    /// ```
    /// # use mercer_datasets::{Preparing, RowFile, Scaling, SchemaOptions, Truth, survey};
    /// # let file = RowFile::spooled(&b"x,y\n1,0.5\n4,2.5\n"[..], "toys", None)?;
    /// # let (schema, _) = survey(&file, &SchemaOptions::default())?;
    /// let mut preparing = Preparing::new(&schema, Scaling::Standard, None);
    /// preparing.see_weighted(&[1.0], Some(Truth::Value(0.5)), "toys", 2, 2.0)?;
    /// preparing.see_weighted(&[4.0], Some(Truth::Value(2.5)), "toys", 3, 1.0)?;
    /// let mut inputs = ndarray::array![[2.0]];
    /// preparing.finish()?.apply(&mut inputs, &schema, "toys", &[4])?;
    /// assert_eq!(inputs, ndarray::array![[0.0]]); // the mean of 1, 1 and 4
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Preparing::see`].
    pub fn see_weighted(
        &mut self,
        row: &[f64],
        truth: Option<Truth>,
        file: &str,
        line: usize,
        weight: f64,
    ) -> Result<(), DataError> {
        if weight == 0.0 {
            return Ok(());
        }
        for (at, &value) in row.iter().enumerate() {
            if value.is_nan() {
                if self.impute.is_none() {
                    let remedy = "fill it (--impute mean or median), or remove the row";
                    return Err(missing(self.schema, (at, value), file, line, remedy));
                }
                self.missing[at] += weight;
                self.holes[at] += 1;
                continue;
            }
            self.moments[at].repeat(value, weight);
            if let Some((values, weights)) = self.values.get_mut(at).zip(self.weights.get_mut(at)) {
                values.push(value);
                weights.push(weight);
            }
        }
        for (&at, counts) in &mut self.codes {
            if !row[at].is_nan() {
                *counts.entry(row[at] as u32).or_default() += weight;
            }
        }
        if let Some(Truth::Value(value)) = truth {
            self.target.repeat(value, weight);
        }
        Ok(())
    }

    /// Returns this for rows that are mostly 0 and shall stay so: the standard scaling then divides by the deviation and
    /// subtracts no mean.
    #[must_use]
    pub const fn keeping_zeros(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// Adds some rows that are held by what is not 0 in them, and have no holes. `of` is a row's target, and how often
    /// it counts.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn see_sparse(
        &mut self,
        all: &SparseRows,
        rows: &[usize],
        of: impl Fn(usize) -> (Truth, f64),
    ) {
        let mut total = 0.0;
        for &row in rows {
            let (truth, weight) = of(row);
            let (columns, values) = sparse_row(all, row);
            for (&column, &value) in columns.iter().zip(values) {
                self.moments[column as usize].repeat(value, weight);
                if let Some(values) = self.values.get_mut(column as usize) {
                    values.push(value);
                }
            }
            if let Truth::Value(value) = truth {
                self.target.repeat(value, weight);
            }
            total += weight;
        }
        self.rows += rows.len();
        for moments in &mut self.moments {
            moments.repeat(0.0, total - moments.count);
        }
    }

    /// Returns the preparation.
    ///
    /// # Errors
    /// [`DataError::Format`] for a column that is missing in every training row, or numbers so large that their squares
    /// overflow.
    pub fn finish(mut self) -> Result<Preparation, DataError> {
        let fill = self.impute.map(|impute| self.fill(impute)).transpose()?;
        if let Some(fill) = &fill {
            for ((moments, &value), &missing) in
                self.moments.iter_mut().zip(fill).zip(&self.missing)
            {
                moments.repeat(value, missing);
            }
        }
        for (at, moments) in self.moments.iter().enumerate() {
            let spread = match self.scaling {
                Scaling::None | Scaling::Bytes => continue,
                Scaling::UnitInterval | Scaling::Symmetric => moments.high - moments.low,
                Scaling::Standard => moments.deviation(),
            };
            if !spread.is_finite() && moments.count > 0.0 {
                let name = column_of(self.schema, at);
                let other = moments.high - moments.low;
                let remedy = if self.scaling == Scaling::Standard && other.is_finite() {
                    ", or scale by its smallest and largest number (--scale unit-interval)"
                } else {
                    ""
                };
                let problem = format!("{TOO_LARGE}{remedy}");
                return Err(DataError::format(&format!("column `{name}`"), problem));
            }
        }
        let mut scaler = Scaler::of_moments(self.scaling, &self.moments);
        if self.sparse && self.scaling == Scaling::Standard {
            scaler.subtract_nothing();
        }
        let target = if self.schema.target.kind == crate::Kind::Regression {
            let deviation = self.target.deviation();
            if !deviation.is_finite() {
                let name = format!("the target `{}`", self.schema.target.name);
                return Err(DataError::format(&name, TOO_LARGE));
            }
            if deviation == 0.0 {
                tracing::warn!(
                    "target `{}` is {} in all rows of a training part: that is what is predicted there",
                    self.schema.target.name,
                    self.target.mean()
                );
            }
            let deviation = if deviation > 0.0 { deviation } else { 1.0 };
            Some(TargetStandard { mean: self.target.mean(), deviation })
        } else {
            None
        };
        let mut at = 0;
        let missing = self.schema.columns.iter().map(|column| {
            let rows = self.holes[at];
            at += column.width();
            rows
        });
        let missing = if fill.is_some() { missing.collect() } else { Vec::new() };
        Ok(Preparation { fill, missing, scaler, target })
    }

    fn fill(&mut self, impute: Impute) -> Result<Vec<f64>, DataError> {
        let mut fill = Vec::with_capacity(self.moments.len());
        for column in &self.schema.columns {
            let at = fill.len();
            if self.moments[at].count() == 0.0 {
                let remedy = if self.schema.sparse {
                    "remove it from the file".to_owned()
                } else {
                    format!("leave it out (--drop {})", shell_word(&column.name))
                };
                let problem = format!("is missing in every training row; {remedy}");
                return Err(DataError::format(&format!("column `{}`", column.name), problem));
            }
            match &column.content {
                Holds::Numbers => fill.push(match impute {
                    Impute::Mean => self.moments[at].mean(),
                    // Of weighted rows too each counts once.
                    Impute::Median if self.sparse => {
                        median_with_zeros(&mut self.values[at], self.rows)
                    }
                    Impute::Median if self.weights[at].is_empty() => median(&mut self.values[at]),
                    Impute::Median => weighted_median(&self.values[at], &self.weights[at]),
                }),
                Holds::Categories { encoding: Categories::Ordinal, .. } => {
                    // Of equally frequent levels the first.
                    let counts = self.codes[&at].iter();
                    let most = counts.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
                    fill.push(most.map_or(0.0, |(&code, _)| f64::from(code)));
                }
                Holds::Categories { encoding: Categories::OneHot, levels } => {
                    let shares = &self.moments[at..at + levels.len()];
                    let mut most = 0;
                    for (level, share) in shares.iter().enumerate() {
                        if share.mean() > shares[most].mean() {
                            most = level;
                        }
                    }
                    fill.extend((0..levels.len()).map(|level| f64::from(u8::from(level == most))));
                }
            }
        }
        Ok(fill)
    }
}

/// The middle number, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if below.len() < middle || values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(lower, upper)
}

/// The median of these numbers and as many zeros as make `rows` of them.
fn median_with_zeros(values: &mut [f64], rows: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let (below, zeros) = (values.partition_point(|value| *value < 0.0), rows - values.len());
    let at = |place: usize| match place {
        _ if place < below => values[place],
        _ if place < below + zeros => 0.0,
        _ => values[place - zeros],
    };
    f64::midpoint(at((rows - 1) / 2), at(rows / 2))
}

/// The median of numbers that each occur as often as a weight says: the number at half the weight, or where two meet
/// there, their mean.
fn weighted_median(values: &[f64], weights: &[f64]) -> f64 {
    let mut pairs: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = pairs.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    for (at, &(value, weight)) in pairs.iter().enumerate() {
        below += weight;
        let left = 2.0 * below - total;
        if left.abs() <= 1e-12 * total {
            return f64::midpoint(value, pairs.get(at + 1).map_or(value, |next| next.0));
        }
        if left > 0.0 {
            return value;
        }
    }
    pairs.last().map_or(f64::NAN, |last| last.0)
}

#[cfg(test)]
mod tests;
