//! From rows of a table to a sample: holes, preparation, inputs and targets.

use super::{RowWeights, Table};
use crate::unheld::whole_only;
use crate::weights::weighted;
use crate::{Choices, WorkbenchError};
use mercer_datasets::{
    Categories, DataError, Holds, Impute, Preparation, Preparing, Scaling, Schema, SchemaOptions,
    Truth, Truths,
};
use mercer_learning::{Sample, one_line};
use mercer_linalg::{Matrix, sparse_row};
use ndarray::{Array1, Array2, s};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

impl Table {
    /// All numbers of some rows.
    pub(crate) fn dense(&self, rows: &[usize]) -> Array2<f64> {
        self.raw.select(rows).dense(0..rows.len())
    }

    /// Returns the columns with missing values, and in how many rows.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::Table;
    /// let file = RowFile::spooled(&b"width,kind\n1.5,box\n,ball\n,box\n"[..], "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// assert_eq!(table.holes(), [("width", 2)]);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn holes(&self) -> Vec<(&str, usize)> {
        let mut at = 0;
        let mut found = Vec::new();
        // Sparse rows have none.
        let Matrix::Dense(raw) = &self.raw else { return found };
        for column in &self.schema.columns {
            // Of a category all cells are missing, or none.
            let rows = raw.column(at).iter().filter(|cell| cell.is_nan()).count();
            at += column.width();
            if rows > 0 {
                found.push((column.name.as_str(), rows));
            }
        }
        found
    }

    /// Columns in which a missing category is one of its own, and in how many rows it is.
    pub(crate) fn missing_as_categories(&self) -> Vec<(&str, usize)> {
        let mut at = 0;
        let mut found = Vec::new();
        let Matrix::Dense(raw) = &self.raw else { return found };
        for column in &self.schema.columns {
            let from = at;
            at += column.width();
            let Some(level) = column.missing_level() else { continue };
            // Of one-hot categories the cell of the level is 1, of numbered ones the only cell is the level.
            let one_hot =
                matches!(column.content, Holds::Categories { encoding: Categories::OneHot, .. });
            let (cell, value) = if one_hot { (from + level, 1.0) } else { (from, level as f64) };
            let is = |own: &&f64| own.total_cmp(&value).is_eq();
            let rows = raw.column(cell).iter().filter(is).count();
            if rows > 0 {
                found.push((column.name.as_str(), rows));
            }
        }
        found
    }

    /// Counts the rows that repeat an earlier one, with its target, to the last bit.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::Table;
    /// let file = RowFile::spooled(&b"x,kind\n1,box\n2,ball\n1,box\n1,ball\n"[..], "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// assert_eq!(table.repeated(), 1);
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn repeated(&self) -> usize {
        let mut seen = HashSet::with_capacity(self.rows());
        let repeats = |row: &usize| {
            let truth = match self.truth(*row) {
                Truth::Class(class) => u64::from(class),
                Truth::Value(value) => value.to_bits(),
            };
            let mut hash = DefaultHasher::new();
            truth.hash(&mut hash);
            // Two missing numbers are alike, whatever stood there.
            let bits = |number: &f64| if number.is_nan() { f64::NAN } else { *number }.to_bits();
            match &self.raw {
                Matrix::Dense(raw) => raw.row(*row).iter().for_each(|x| bits(x).hash(&mut hash)),
                Matrix::Sparse(raw) => {
                    let (columns, values) = sparse_row(raw, *row);
                    columns.hash(&mut hash);
                    for x in values {
                        bits(x).hash(&mut hash);
                    }
                }
            }
            !seen.insert(hash.finish())
        };
        // Of rows that are not held nothing is known.
        (0..self.raw.nrows()).filter(repeats).count()
    }

    /// Returns the target of a row.
    ///
    /// ```
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_datasets::Truth;
    /// use mercer_workbench::Table;
    /// assert_eq!(table.truth(7), Truth::Class(1)); // `b`
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such row.
    pub fn truth(&self, row: usize) -> Truth {
        self.truths.of(row)
    }

    /// Learns how rows are filled and scaled from these rows and no others. Each counts as often as its weight says.
    ///
    /// ```
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_datasets::Scaling;
    /// use mercer_workbench::Table;
    /// let preparation = table.prepare(&[0, 1, 4, 5], Scaling::Standard, None)?; // -1, -2, 1 and 2
    /// let mut inputs = ndarray::array![[2.5f64.sqrt()]];
    /// preparation.apply(&mut inputs, &table.schema, "a row", &[1])?;
    /// assert!((inputs[[0, 0]] - 1.0).abs() < 1e-15); // one deviation of these four from their mean
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Preparing`].
    ///
    /// # Panics
    /// If there is no such row.
    pub fn prepare(
        &self,
        rows: &[usize],
        scaling: Scaling,
        impute: Option<Impute>,
    ) -> Result<Preparation, WorkbenchError> {
        let mut preparing = Preparing::new(&self.schema, scaling, impute);
        // Weights that are all 1 are none, to the last bit.
        let varied = |weights: &&RowWeights| {
            rows.iter().any(|&row| weights.values[row].to_bits() != 1f64.to_bits())
        };
        let weights = self.weights.as_ref().filter(varied);
        if let Some(RowWeights { column, values }) = weights
            && rows.iter().all(|&row| values[row] == 0.0)
        {
            let value = format!("`{}`", one_line(column));
            let must = format!(
                "above 0 in some row of every training part, and is 0 in all {} of one of them: larger parts \
                 (--folds), or other weights",
                rows.len()
            );
            return Err(WorkbenchError::Argument { name: "weights", value, must });
        }
        let own_weight = |row: usize| weights.map(|weights| weights.values[row]);
        let raw = match &self.raw {
            Matrix::Dense(raw) => raw,
            Matrix::Sparse(raw) => {
                let of = |row| (self.truth(row), own_weight(row).unwrap_or(1.0));
                let mut preparing = preparing.keeping_zeros();
                preparing.see_sparse(raw, rows, of);
                return Ok(preparing.finish()?);
            }
        };
        for &row in rows {
            let numbers = raw.row(row);
            let numbers = numbers.as_slice().expect("rows of the table are contiguous");
            let (truth, line) = (Some(self.truth(row)), self.lines[row]);
            let seen = match own_weight(row) {
                None => preparing.see(numbers, truth, &self.name, line),
                Some(weight) => preparing.see_weighted(numbers, truth, &self.name, line, weight),
            };
            seen.map_err(|error| self.with_holes(error, raw))?;
        }
        Ok(preparing.finish()?)
    }

    /// The error of a missing number, with all columns that have some.
    fn with_holes(&self, error: DataError, raw: &Array2<f64>) -> DataError {
        let DataError::Line { file, line, mut problem } = error else { return error };
        let mut from = 0;
        let mut names = Vec::new();
        for column in &self.schema.columns {
            let to = from + column.width();
            if raw.slice(s![.., from..to]).iter().any(|value| value.is_nan()) {
                names.push(format!("`{}`", one_line(&column.name)));
            }
            from = to;
        }
        if names.len() > 1 {
            let more = if names.len() > 8 { ", ..." } else { "" };
            let (count, named) = (names.len(), names[..names.len().min(8)].join(", "));
            problem = format!("{problem}; {count} columns have missing values: {named}{more}");
        }
        DataError::Line { file, line, problem }
    }

    /// Returns some rows, filled and scaled; regression targets in standard units.
    ///
    /// ```
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_datasets::Scaling;
    /// use mercer_workbench::Table;
    /// let preparation = table.prepare(&[0, 1, 4, 5], Scaling::None, None)?;
    /// let test = table.sample(&[2, 6], &preparation)?;
    /// assert_eq!(test.inputs(), ndarray::array![[-3.0], [3.0]]);
    /// assert_eq!(test.labels(), Some(&[0, 1][..]));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Preparation::apply`], and if the rows make no sample.
    pub fn sample(
        &self,
        rows: &[usize],
        preparation: &Preparation,
    ) -> Result<Sample, WorkbenchError> {
        self.sample_with(rows, self.raw.select(rows), preparation)
    }

    /// Refuses what needs all rows at once where they are not held.
    pub(crate) fn require_held(&self, name: &'static str) -> Result<(), WorkbenchError> {
        match self.unheld {
            Some(_) => Err(whole_only(name, "given".to_owned())),
            None => Ok(()),
        }
    }

    /// Rows to fit to, with the weights of rows and classes; without rows of weight 0.
    pub(crate) fn training(
        &self,
        rows: &[usize],
        preparation: &Preparation,
        choices: &Choices<'_>,
    ) -> Result<Sample, WorkbenchError> {
        Ok(weighted(self.sample(rows, preparation)?, self, rows, choices)?)
    }

    /// The same with these inputs in place of the rows' own.
    pub(crate) fn sample_with(
        &self,
        rows: &[usize],
        inputs: Matrix,
        preparation: &Preparation,
    ) -> Result<Sample, WorkbenchError> {
        let lines: Vec<usize> = rows.iter().map(|&row| self.lines[row]).collect();
        if matches!(inputs, Matrix::Sparse(_)) && !preparation.keeps_zeros() {
            require_cells(&self.name, inputs.dim(), SchemaOptions::default().limits.cells)?;
        }
        let inputs = preparation.applied(inputs, &self.schema, &self.name, &lines)?;
        let sample = sample_of(inputs, self.chosen(rows), &self.schema, preparation)?;
        // A column of a kernel matrix belongs to a row.
        Ok(sample.numbered(rows.to_vec(), self.rows()))
    }

    /// Returns the targets of some rows, in the units of the target.
    ///
    /// ```
    /// # use mercer_datasets::{RowFile, SchemaOptions};
    /// # let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
    /// # let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// # let table = Table::read(&file, &SchemaOptions::default())?;
    /// use mercer_datasets::Truths;
    /// use mercer_workbench::Table;
    /// assert_eq!(table.chosen(&[6, 0]), Truths::Classes(vec![1, 0]));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    pub fn chosen(&self, rows: &[usize]) -> Truths {
        match &self.truths {
            Truths::Classes(labels) => {
                Truths::Classes(rows.iter().map(|&row| labels[row]).collect())
            }
            Truths::Values(values) => Truths::Values(rows.iter().map(|&row| values[row]).collect()),
        }
    }
}

/// Refuses more numbers than are held at once.
pub(crate) fn require_cells(
    file: &str,
    (rows, width): (usize, usize),
    most: usize,
) -> Result<(), WorkbenchError> {
    if rows.saturating_mul(width) <= most {
        return Ok(());
    }
    let buffer = (most / width).clamp(2, 100_000);
    let problem = format!(
        "has {rows} rows of {width} numbers, more than the {most} that are held at once; read it in passes \
         (--method rf-sgd --buffer {buffer}), or take fewer rows or columns"
    );
    Err(DataError::Format { file: file.to_owned(), problem }.into())
}

/// A sample of prepared inputs.
pub(crate) fn sample_of(
    inputs: impl Into<Matrix>,
    truths: Truths,
    schema: &Schema,
    preparation: &Preparation,
) -> Result<Sample, mercer_learning::LearningError> {
    match truths {
        Truths::Classes(labels) => {
            Sample::classification(inputs, labels, schema.target.labels.len())
        }
        Truths::Values(values) => {
            let standard = preparation.target();
            let scale = |value: f64| standard.map_or(value, |standard| standard.apply(value));
            let values: Array1<f64> = values.into_iter().map(scale).collect();
            Sample::regression(inputs, values)
        }
    }
}
