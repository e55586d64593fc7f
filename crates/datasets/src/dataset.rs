use crate::table::{label_name, sort_labels};
use crate::{Column, DataError, Table};
use mercer_learning::{LearningError, Sample};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// A sample with its name, its official parts, and what its classes are called.
///
/// ```
/// use mercer_datasets::{Library, fingerprint};
/// let iris = Library::of_folders([])?.load("iris")?; // compiled in
/// assert_eq!((iris.name.as_str(), iris.sample.rows(), iris.labels.len()), ("iris", 150, 3));
/// assert_eq!(iris.fingerprint, fingerprint(&iris.sample, &iris.parts, &iris.labels));
/// assert_eq!(iris.note, None); // it is the catalogue's version
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Its name.
    pub name: String,
    /// [`crate::fingerprint`] of its rows.
    pub fingerprint: String,
    /// All rows: the official training rows first, then the official test rows.
    pub sample: Sample,
    /// Which rows are which part.
    pub parts: Parts,
    /// Class names as in the file, in the order of the class indices. Empty for regression.
    pub labels: Vec<String>,
    /// What a reader must know: that it is another version, say.
    pub note: Option<String>,
}

/// The official parts, as rows of the sample.
///
/// ```
/// use mercer_datasets::Parts;
/// assert_eq!(Parts::divided(3, 2), Parts { train: 0..3, test: 3..5 });
/// assert!(Parts::undivided(5).test.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Training rows, or all rows if there is no official split.
    pub train: Range<usize>,
    /// Test rows; empty if there is no official split.
    pub test: Range<usize>,
}

impl Parts {
    /// Returns parts without an official split: `rows` rows to train and to test on.
    pub const fn undivided(rows: usize) -> Self {
        Self { train: 0..rows, test: rows..rows }
    }

    /// Returns an official split: the first `train` rows train, the next `test` rows test.
    pub const fn divided(train: usize, test: usize) -> Self {
        Self { train: 0..train, test: train..train + test }
    }
}

/// Whether targets are classes or numbers.
///
/// ```
/// use mercer_datasets::{Column, Kind, Table};
/// let table = Table { inputs: ndarray::array![[1.0], [2.0]], targets: Column::Numbers(vec![1.0, 3.0]) };
/// let classes = table.clone().encode("toys", Kind::Classification, None)?.1;
/// assert_eq!(classes, ["1", "3"]);
/// assert!(table.encode("toys", Kind::Regression, None)?.1.is_empty());
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Classes.
    Classification,
    /// Real numbers.
    Regression,
}

impl Table {
    /// Encodes these rows as a sample, with its class names.
    ///
    /// `labels` are the class names if they are known (from a model, say); otherwise the names that occur, in order of
    /// value if all are numbers and as text if not.
    ///
    /// # Errors
    /// [`DataError::Target`] for a label that is none of `labels`, or a regression target that is
    /// no number; [`DataError::Learning`] if the rows make no sample.
    pub fn encode(
        self,
        file: &str,
        kind: Kind,
        labels: Option<&[String]>,
    ) -> Result<(Sample, Vec<String>), DataError> {
        encode(self.inputs, &self.targets, file, kind, labels)
    }
}

/// Makes the sample; see [`Table::encode`].
pub(crate) fn encode(
    inputs: Array2<f64>,
    targets: &Column,
    file: &str,
    kind: Kind,
    labels: Option<&[String]>,
) -> Result<(Sample, Vec<String>), DataError> {
    match (kind, targets) {
        (Kind::Regression, Column::Numbers(values)) => {
            Ok((Sample::regression(inputs, Array1::from(values.clone()))?, Vec::new()))
        }
        (Kind::Regression, Column::Names(names)) => {
            let wrong = names.iter().position(|name| name.parse::<f64>().is_err());
            let row = wrong.unwrap_or_default();
            Err(DataError::Target {
                file: file.to_owned(),
                row: row + 1,
                label: names.get(row).cloned().unwrap_or_default(),
                problem: "a regression target must be a number".to_owned(),
            })
        }
        (Kind::Classification, targets) => {
            let (classes, labels) = classes(targets, file, labels)?;
            let count = labels.len();
            Ok((Sample::classification(inputs, classes, count)?, labels))
        }
    }
}

/// The class index of each row, and the class names.
fn classes(
    targets: &Column,
    file: &str,
    known: Option<&[String]>,
) -> Result<(Vec<u32>, Vec<String>), DataError> {
    if targets.is_empty() {
        return Err(LearningError::NoRows.into());
    }
    // First the different targets, in order of appearance; naming each row would be slow.
    let (kinds, names) = match targets {
        Column::Numbers(values) => {
            let (kinds, first) = distinct(values.iter().map(|value| (value + 0.0).to_bits()));
            (kinds, first.into_iter().map(|row| label_name(values[row])).collect::<Vec<_>>())
        }
        Column::Names(texts) => {
            let (kinds, first) = distinct(texts.iter().map(String::as_str));
            (kinds, first.into_iter().map(|row| texts[row].clone()).collect())
        }
    };
    let labels = known.map_or_else(
        || {
            let mut labels = names.clone();
            sort_labels(&mut labels);
            labels
        },
        <[String]>::to_vec,
    );
    let places: HashMap<&str, u32> =
        labels.iter().enumerate().map(|(at, label)| (label.as_str(), at as u32)).collect();
    let mut codes = Vec::with_capacity(names.len());
    for (kind, name) in names.iter().enumerate() {
        let Some(&code) = places.get(name.as_str()) else {
            let row = kinds.iter().position(|&k| k as usize == kind).unwrap_or_default() + 1;
            let shown = if labels.len() > 12 { &labels[..12] } else { &labels[..] };
            return Err(DataError::Target {
                file: file.to_owned(),
                row,
                label: name.clone(),
                problem: format!("the classes are {}", shown.join(", ")),
            });
        };
        codes.push(code);
    }
    Ok((kinds.into_iter().map(|kind| codes[kind as usize]).collect(), labels))
}

/// For each item the number of its kind, and for each kind the first item.
fn distinct<K: std::hash::Hash + Eq>(items: impl Iterator<Item = K>) -> (Vec<u32>, Vec<usize>) {
    let (mut seen, mut first) = (HashMap::new(), Vec::new());
    let kinds = items
        .enumerate()
        .map(|(row, key)| {
            *seen.entry(key).or_insert_with(|| {
                first.push(row);
                first.len() as u32 - 1
            })
        })
        .collect();
    (kinds, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn table(targets: Column) -> Table {
        Table { inputs: Array2::from_elem((targets.len(), 1), 0.5), targets }
    }

    #[test]
    fn labels_are_ordered_by_value_or_as_text() {
        let numbers = Column::Numbers(vec![10.0, -1.0, 2.0, -0.0, 0.0]);
        let (sample, labels) = table(numbers).encode("f", Kind::Classification, None).unwrap();
        assert_eq!(labels, ["-1", "0", "2", "10"]);
        assert_eq!(sample.labels().unwrap(), [3, 0, 2, 1, 1]);
        let names = Column::Names(["b", "a", "10"].map(str::to_owned).to_vec());
        let (sample, labels) = table(names).encode("f", Kind::Classification, None).unwrap();
        assert_eq!(labels, ["10", "a", "b"]);
        assert_eq!(sample.labels().unwrap(), [2, 1, 0]);
    }

    #[test]
    fn known_labels_fix_the_classes_and_unknown_ones_are_refused() {
        let known = ["1", "2", "3"].map(str::to_owned);
        let good = table(Column::Numbers(vec![3.0, 1.0]));
        let (sample, _) = good.clone().encode("f", Kind::Classification, Some(&known)).unwrap();
        assert_eq!(sample.labels().unwrap(), [2, 0]);
        assert_eq!(sample.task().outputs(), 3);
        let error = good.encode("f", Kind::Classification, Some(&known[..2])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "f; row 1 has target `3`; the classes are 1, 2".replace("f;", "f:")
        );
    }

    #[test]
    fn text_is_no_regression_target() {
        let names = Column::Names(["1.5", "high"].map(str::to_owned).to_vec());
        let error = table(names).encode("f", Kind::Regression, None).unwrap_err().to_string();
        assert!(error.starts_with("f: row 2 has target `high`"), "{error}");
    }

    #[test]
    fn numbers_stay_numbers() {
        let (sample, labels) =
            table(Column::Numbers(vec![2.5, 1.0])).encode("f", Kind::Regression, None).unwrap();
        assert_eq!(sample.values().unwrap(), array![2.5, 1.0]);
        assert!(labels.is_empty());
    }
}
