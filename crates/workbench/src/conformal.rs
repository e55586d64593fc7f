//! Sets and intervals around the predictions of a fitted model.

use crate::coverage::{left_out, margins};
use crate::table::task_of;
use crate::{Model, Table, Wanted, WorkbenchError};
use mercer_datasets::Truths;
use mercer_learning::LeftOut;
use mercer_linalg::Matrix;
use std::sync::Arc;

/// Distances of predictions from the truth, learned from rows unseen in the fit. They bound how far the truth may be.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, ExtraColumns, Sets, Table, Wanted, WorkbenchError, fit};
/// let read = |text: &str| RowFile::spooled(text.as_bytes(), "toys", None);
/// let table = Table::read(&read("x,y\n1,2.5\n2,3.5\n3,4.5\n")?, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "mean", &table, &Choices::plain())?; // says 3.5 of every row
/// let seen = Table::read(&read("x,y\n1,3.5\n2,4.5\n3,1.5\n4,6.5\n")?, &SchemaOptions::default())?;
/// let wanted = Wanted::share(0.8);
/// let within = model.conformal(&seen, wanted, 1)?; // the largest of four distances: 3
/// let (mut found, extra) = (Vec::new(), ExtraColumns { within: Some(within), ..ExtraColumns::default() });
/// model.predict_file(&read("x\n7\n")?, 1, &extra, |rows| rows.sets, |sets| {
///     found.extend(sets);
///     Ok::<(), WorkbenchError>(())
/// })?;
/// assert_eq!(found, [Sets::Intervals(vec![(0.5, 6.5)])]);
/// # Ok::<(), WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Conformal(By);

/// What the sets are made by.
#[derive(Clone)]
enum By {
    /// One, of numbers in units of the target; or one a class, in units of the decision values.
    Radii(Vec<f64>),
    /// Each training row left out.
    LeftOut(Arc<dyn LeftOut>, Wanted),
}

impl std::fmt::Debug for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Radii(radii) => f.debug_tuple("Radii").field(radii).finish(),
            Self::LeftOut(_, wanted) => f.debug_tuple("LeftOut").field(wanted).finish(),
        }
    }
}

impl PartialEq for By {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Radii(own), Self::Radii(other)) => own == other,
            (Self::LeftOut(own, wanted), Self::LeftOut(other, asked)) => {
                Arc::ptr_eq(own, other) && wanted == asked
            }
            _ => false,
        }
    }
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
    /// Learns from labelled rows how far from a prediction the truth may be. The model must not have been fitted to
    /// these rows, and they must be like the rows that come. The sets that follow hold the truth of a new row with a
    /// probability of at least `wanted`. This is on average over such rows, or the rows of each class, and
    /// calibrations: split conformal prediction, as in [`crate::coverage()`].
    ///
    /// # Errors
    /// [`WorkbenchError::Argument`] if the share is not in `(0, 1)` or wants more rows than there are, or if classes
    /// are wanted of numbers; as [`Model::predict`].
    pub fn conformal(
        &self,
        calibration: &Table,
        wanted: Wanted,
        threads: usize,
    ) -> Result<Conformal, WorkbenchError> {
        wanted.check(calibration.task().outputs())?;
        let Table { name, raw, lines, truths, .. } = calibration;
        let decisions = self.decision(raw.clone(), name, lines, threads)?;
        let rows = decisions.rows().into_iter();
        let (scores, truths): (Vec<f64>, Vec<usize>) = match truths {
            Truths::Classes(labels) => rows
                .zip(labels)
                .map(|(row, &label)| (margins(row)[label as usize], label as usize))
                .unzip(),
            Truths::Values(values) => {
                rows.zip(values).map(|(row, y)| ((self.in_units(row[0]) - y).abs(), 0)).unzip()
            }
        };
        let radii = wanted.radii(scores, &truths, calibration.task().outputs())?;
        Ok(Conformal(By::Radii(radii)))
    }

    /// Learns the same from the rows of the fit, each left out by itself in closed form: jackknife+ (Barber, Candès,
    /// Ramdas and Tibshirani 2021). Of `f_{−i}(x) ± |e_i|` the interval of a row has the `⌈(n + 1) c⌉`-th smallest upper
    /// end, and as many-th largest lower one. It holds the truth of a new row with a probability of at least
    /// `1 − 2 (1 − c)`, and mostly of about `c`. The ridge is held as it was chosen.
    ///
    /// ```
    /// use mercer_baselines::BASELINES;
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::{Choices, Table, Wanted, fit};
    /// let text: String = (0..40).map(|i| format!("{i},{}\n", (i * 7) % 11)).collect();
    /// let file = RowFile::spooled(format!("x,y\n{text}").as_bytes(), "toys", None)?;
    /// let options = SchemaOptions { kind: Some(mercer_datasets::Kind::Regression), ..SchemaOptions::default() };
    /// let table = Table::read(&file, &options)?;
    /// let ridge = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// assert!(ridge.jackknife(Wanted::share(0.9), 1).is_ok());
    /// let mean = fit(BASELINES, "mean", &table, &Choices::plain())?;
    /// assert!(mean.jackknife(Wanted::share(0.9), 1).unwrap_err().to_string().contains("--calibration"));
    /// # Ok::<(), mercer_workbench::WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// [`WorkbenchError::Argument`] for a method that cannot leave rows out, and as [`Model::conformal`].
    pub fn jackknife(&self, wanted: Wanted, threads: usize) -> Result<Conformal, WorkbenchError> {
        wanted.check(task_of(&self.header.schema).outputs())?;
        let left = left_out(&*self.predictor, &self.header.method, threads)?;
        Ok(Conformal(By::LeftOut(left.into(), wanted)))
    }

    /// The sets of some rows.
    pub(crate) fn sets(
        &self,
        raw: Matrix,
        file: &str,
        lines: &[usize],
        within: &Conformal,
    ) -> Result<Sets, WorkbenchError> {
        let radii = match &within.0 {
            By::Radii(radii) => radii,
            By::LeftOut(left, wanted) => {
                let inputs = self.all_prepared(raw, file, lines)?;
                let ends = wanted.ends(&**left, inputs.view())?.into_iter();
                let ends = ends.map(|(low, high)| (self.in_units(low), self.in_units(high)));
                return Ok(Sets::Intervals(ends.collect()));
            }
        };
        let decisions = self.decision(raw, file, lines, 1)?;
        let rows = decisions.rows().into_iter();
        if self.header.schema.target.labels.is_empty() {
            let interval = |value: f64| (value - radii[0], value + radii[0]);
            let rows = rows.map(|row| interval(self.in_units(row[0])));
            return Ok(Sets::Intervals(rows.collect()));
        }
        let set = |margins: Vec<f64>| -> Vec<u32> {
            let scores = margins.into_iter().zip(radii);
            (0u32..)
                .zip(scores)
                .filter(|(_, (score, radius))| score <= radius)
                .map(|own| own.0)
                .collect()
        };
        Ok(Sets::Classes(rows.map(|row| set(margins(row))).collect()))
    }

    /// A value of regression in units of the target.
    fn in_units(&self, value: f64) -> f64 {
        self.header.preparation.target().map_or(value, |standard| standard.invert(value))
    }
}
