//! Sets and intervals around the predictions of a fitted model.

use crate::coverage::{margins, radius};
use crate::{Model, Table, WorkbenchError};
use mercer_datasets::Truths;
use ndarray::Array2;

/// How far from a prediction of a model the truth may be, learned from rows that its fit has not seen.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, ExtraColumns, Sets, Table, WorkbenchError, fit};
/// let read = |text: &str| RowFile::spooled(text.as_bytes(), "toys", None);
/// let table = Table::read(&read("x,y\n1,2.5\n2,3.5\n3,4.5\n")?, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "mean", &table, &Choices::plain())?; // says 3.5 of every row
/// let seen = Table::read(&read("x,y\n1,3.5\n2,4.5\n3,1.5\n4,6.5\n")?, &SchemaOptions::default())?;
/// let within = model.conformal(&seen, 0.8, 1)?; // the largest of four distances: 3
/// let (mut found, extra) = (Vec::new(), ExtraColumns { within: Some(within), ..ExtraColumns::default() });
/// model.predict_file(&read("x\n7\n")?, 1, &extra, |rows| rows.sets, |sets| {
///     found.extend(sets);
///     Ok::<(), WorkbenchError>(())
/// })?;
/// assert_eq!(found, [Sets::Intervals(vec![(0.5, 6.5)])]);
/// # Ok::<(), WorkbenchError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conformal {
    /// Of numbers in units of the target, of classes in those of the decision values.
    radius: f64,
}

/// What holds the truth of each row as often as was asked; see [`Model::conformal`].
///
/// ```
/// use mercer_workbench::Sets;
/// let unsure = Sets::Classes(vec![vec![0, 2], vec![]]); // a set may be empty: no class fits
/// assert_ne!(unsure, Sets::Intervals(Vec::new()));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Sets {
    /// Class indices, rising.
    Classes(Vec<Vec<u32>>),
    /// The lower and the upper end.
    Intervals(Vec<(f64, f64)>),
}

impl Model {
    /// Learns from labelled rows, which the model must not have been fitted to and which must be like those that
    /// come, how far from a prediction the truth may be. The sets that follow hold the truth of a new row with
    /// a probability of at least `wanted`, on average over such rows and calibrations: split conformal
    /// prediction, as in [`crate::coverage`].
    ///
    /// # Errors
    /// [`WorkbenchError::Argument`] if `wanted` is not in `(0, 1)` or wants more rows than there are; as
    /// [`Model::predict`].
    pub fn conformal(
        &self,
        calibration: &Table,
        wanted: f64,
        threads: usize,
    ) -> Result<Conformal, WorkbenchError> {
        let refused = |must: String| {
            let value = wanted.to_string();
            Err(WorkbenchError::Argument { name: "coverage", value, must })
        };
        if !(wanted > 0.0 && wanted < 1.0) {
            return refused("above 0 and below 1".to_owned());
        }
        let Table { raw, name, lines, truths, .. } = calibration;
        let decisions = self.decision(raw.clone(), name, lines, threads)?;
        let rows = decisions.rows().into_iter();
        let scores: Vec<f64> = match truths {
            Truths::Classes(labels) => {
                rows.zip(labels).map(|(row, &label)| margins(row)[label as usize]).collect()
            }
            Truths::Values(values) => {
                rows.zip(values).map(|(row, y)| (self.in_units(row[0]) - y).abs()).collect()
            }
        };
        let count = scores.len();
        radius(scores, wanted).map(|radius| Conformal { radius }).map_or_else(
            || {
                let most = count as f64 / (count + 1) as f64;
                refused(format!(
                    "at most {most:.3} with {count} calibration rows; ask for less, or add rows"
                ))
            },
            Ok,
        )
    }

    /// The sets of rows with these decision values.
    pub(crate) fn sets(&self, decisions: &Array2<f64>, within: Conformal) -> Sets {
        let Conformal { radius } = within;
        let rows = decisions.rows().into_iter();
        if self.header.schema.target.labels.is_empty() {
            let interval = |value: f64| (value - radius, value + radius);
            return Sets::Intervals(rows.map(|row| interval(self.in_units(row[0]))).collect());
        }
        let set = |margins: Vec<f64>| -> Vec<u32> {
            (0u32..).zip(margins).filter(|(_, score)| *score <= radius).map(|own| own.0).collect()
        };
        Sets::Classes(rows.map(|row| set(margins(row))).collect())
    }

    /// A value of regression in units of the target.
    fn in_units(&self, value: f64) -> f64 {
        self.header.preparation.target().map_or(value, |standard| standard.invert(value))
    }
}
