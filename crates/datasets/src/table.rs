use crate::DataError;
use ndarray::Array2;

/// Limits on the content of a file. They guard against wrong files, huge indices and decompression bombs.
///
/// ```
/// use mercer_datasets::{Base, Limits, svmlight};
/// // One short line can ask for a matrix of a million columns.
/// let parse = |limits| svmlight::parse(b"1 1000000:1\n", "f", Base::One, None, &limits);
/// assert_eq!(parse(Limits::default())?.inputs.ncols(), 1_000_000);
/// let refused = parse(Limits { features: 10, ..Limits::default() }).unwrap_err();
/// assert_eq!(refused.to_string(), "f:1: column 1000000 is outside the allowed range 1 to 10");
/// let refused = parse(Limits { cells: 1_000, ..Limits::default() }).unwrap_err();
/// assert!(refused.to_string().contains("raise `Limits::cells`"), "{refused}");
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file, before and after unpacking. Default 4 GiB.
    pub bytes: u64,
    /// Input columns. Default `2^20`.
    pub features: usize,
    /// Numbers in the dense `n × d` matrix. Default `2^29`, which takes 4 GiB.
    pub cells: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 4 << 30, features: 1 << 20, cells: 1 << 29 }
    }
}

impl Limits {
    /// Refuses a dense matrix of `rows × features` beyond the limits.
    pub(crate) fn check(&self, file: &str, rows: usize, features: usize) -> Result<(), DataError> {
        let too_large = |what: String, limit: usize, field| DataError::TooLarge {
            file: file.to_owned(),
            what,
            limit: limit as u64,
            field,
        };
        if features > self.features {
            let what = format!("its width of {features} columns");
            return Err(too_large(what, self.features, "features"));
        }
        if rows.saturating_mul(features) > self.cells {
            let what = format!("its size of {rows} x {features} numbers");
            return Err(too_large(what, self.cells, "cells"));
        }
        Ok(())
    }
}

/// Targets as a file has them: numbers, or names.
///
/// ```
/// use mercer_datasets::Column;
/// let numbers = Column::Numbers(vec![1.0, -0.5]);
/// assert_eq!(numbers.names().collect::<Vec<_>>(), ["1", "-0.5"]); // not `1.0`
/// let names = Column::Names(vec!["1.0".to_owned()]);
/// assert_eq!((names.len(), names.name(0).as_str()), (1, "1.0")); // text stays as it is
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Every target is a number.
    Numbers(Vec<f64>),
    /// At least one target is text.
    Names(Vec<String>),
}

impl Column {
    /// Returns how many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Names(names) => names.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the targets as text, in order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        (0..self.len()).map(|row| self.name(row))
    }

    /// Returns the target of one row as text; `1.0`, `+1` and `1` are all `1`.
    ///
    /// # Panics
    /// If `row` is out of range.
    pub fn name(&self, row: usize) -> String {
        match self {
            Self::Numbers(values) => label_name(values[row]),
            Self::Names(names) => names[row].clone(),
        }
    }
}

/// A number as the name of a class: shortest decimal, no sign on zero.
pub(crate) fn label_name(value: f64) -> String {
    // Adding zero turns -0 into 0 and changes nothing else.
    (value + 0.0).to_string()
}

/// Class names in order: by value if all are numbers, else as text.
pub(crate) fn sort_labels(labels: &mut Vec<String>) {
    let values: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    match values {
        Some(values) if values.iter().all(|value| value.is_finite()) => {
            let mut pairs: Vec<_> = values.into_iter().zip(std::mem::take(labels)).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
            labels.extend(pairs.into_iter().map(|(_, label)| label));
        }
        _ => labels.sort(),
    }
}

/// What one file holds: inputs and targets, not yet encoded.
///
/// ```
/// use mercer_datasets::{Column, Kind, Table};
/// let targets = Column::Names(["box", "ball", "box"].map(str::to_owned).to_vec());
/// let table = Table { inputs: ndarray::array![[1.0], [2.0], [3.0]], targets };
/// let (sample, labels) = table.clone().encode("toys", Kind::Classification, None)?;
/// assert_eq!((sample.labels(), labels), (Some([1, 0, 1].as_slice()), vec!["ball".into(), "box".into()]));
/// let refused = table.encode("toys", Kind::Regression, None).unwrap_err();
/// assert!(refused.to_string().starts_with("toys: row 1 has target `box`; "));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Inputs, `n × d`, all finite.
    pub inputs: Array2<f64>,
    /// Targets, `n`.
    pub targets: Column,
}

/// Rows that grow file by file in one allocation, so that a large set is never held twice.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Inputs row by row.
    pub(crate) values: Vec<f64>,
    /// Targets.
    pub(crate) targets: Vec<f64>,
}

impl Rows {
    /// Room for `rows × features`, checked against the limits first.
    pub(crate) fn with_room(
        file: &str,
        rows: usize,
        features: usize,
        limits: &Limits,
    ) -> Result<Self, DataError> {
        limits.check(file, rows, features)?;
        Ok(Self { values: Vec::with_capacity(rows * features), targets: Vec::with_capacity(rows) })
    }
}
