//! Predictions of a file that is read while it is predicted.

use crate::{Conformal, Model, Predicted, Sets, WorkbenchError};
use mercer_datasets::{DataError, RowFile, Widened};
use mercer_learning::entropies;
use mercer_linalg::{Matrix, pipeline};
use ndarray::{Array1, Array2};

/// Rows that a thread reads and predicts at a time, and numbers in them, at most.
const ROWS: usize = 1024;
const NUMBERS: usize = 1 << 20;

/// Columns wanted of each row beside its prediction.
///
/// ```
/// use mercer_workbench::ExtraColumns;
/// let beside = ExtraColumns { entropy: true, ..ExtraColumns::default() };
/// assert!(!beside.probabilities);
/// ```
#[expect(clippy::struct_excessive_bools, reason = "columns, each asked for by itself")]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraColumns {
    /// Class probabilities.
    pub probabilities: bool,
    /// Decision values.
    pub scores: bool,
    /// How unsure the class is.
    pub entropy: bool,
    /// The standard deviation of a number.
    pub deviation: bool,
    /// Sets or intervals that hold the truth as often as was asked.
    pub within: Option<Conformal>,
    /// What the file may have beside the columns of the fit.
    pub widened: Widened,
}

/// What a model says of some consecutive rows of a file.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{ExtraColumns, Choices, PredictedRows, Table, WorkbenchError, fit};
/// let file = RowFile::spooled(&b"x,kind\n-1,a\n-2,a\n\n1,b\n2,b\n"[..], "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
/// let mut places = Vec::new();
/// let place = |rows: PredictedRows| (rows.first, rows.lines, rows.probabilities.is_some());
/// model.predict_file(&file, 1, &ExtraColumns::default(), place, |place| {
///     places.push(place);
///     Ok::<(), WorkbenchError>(())
/// })?;
/// assert_eq!(places, [(0, vec![2, 3, 5, 6], false)]); // line 4 is blank
/// # Ok::<(), WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedRows {
    /// How many rows of the file came before.
    pub first: usize,
    /// The line in which each row begins.
    pub lines: Vec<usize>,
    /// The predictions.
    pub predicted: Predicted,
    /// Class probabilities (rows by classes), where they were asked for.
    pub probabilities: Option<Array2<f64>>,
    /// Decision values (rows by classes), where they were asked for.
    pub scores: Option<Array2<f64>>,
    /// Entropy of the class probabilities of each row, in nats: from 0, sure, to `log K`.
    pub entropy: Option<Array1<f64>>,
    /// The same of the scores, where they are estimates of probabilities themselves
    /// ([`mercer_learning::Predictor::embedded_entropy`]).
    pub embedded_entropy: Option<Array1<f64>>,
    /// Standard deviations of numbers, where they were asked for.
    pub deviation: Option<Array1<f64>>,
    /// What holds the truth as often as was asked, where it was.
    pub sets: Option<Sets>,
    /// Rows in which something was missing, and was filled.
    pub filled: usize,
    /// The carried columns, a list of texts a row; empty where none is.
    pub kept: Vec<Vec<String>>,
}

/// How many rows came before, numbers, lines, and the carried columns.
type ReadPart = (usize, Matrix, Vec<usize>, Vec<Vec<String>>);

impl Model {
    /// Predicts a file from its first row to its last without loading it. Rows are read, predicted and put into another
    /// `form` (text, say) on `threads` threads. They are handed to `told` in the order of the file. Returns the number
    /// of rows. Nothing depends on the number of threads.
    ///
    /// ```
    /// use mercer_baselines::BASELINES;
    /// use mercer_datasets::{RowFile, SchemaOptions};
    /// use mercer_workbench::{ExtraColumns, Choices, Predicted, Table, WorkbenchError, fit};
    /// let text = "x,kind\n-1,a\n-2,a\n1,b\n2,b\n";
    /// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
    /// let table = Table::read(&file, &SchemaOptions::default())?;
    /// let model = fit(BASELINES, "kernel-ridge", &table, &Choices::plain())?;
    /// let (mut all, beside) = (Vec::new(), ExtraColumns::default());
    /// let rows = model.predict_file(&file, 2, &beside, |rows| rows.predicted, |predicted| {
    ///     if let Predicted::Classes(classes) = predicted {
    ///         all.extend(classes);
    ///     }
    ///     Ok::<(), WorkbenchError>(())
    /// })?;
    /// assert_eq!((rows, all), (4, vec![0, 0, 1, 1]));
    /// # Ok::<(), WorkbenchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Model::predict`] and [`Model::probabilities`], after the rows before have been told; what
    /// `told` returns.
    pub fn predict_file<R: Send, E: From<WorkbenchError>>(
        &self,
        file: &RowFile,
        threads: usize,
        beside: &ExtraColumns,
        form: impl Fn(PredictedRows) -> R + Sync,
        mut told: impl FnMut(R) -> Result<(), E>,
    ) -> Result<usize, E> {
        let schema = &self.header.schema;
        let most = (NUMBERS / schema.width().max(1)).clamp(1, ROWS);
        let sparse = schema.sparse && most < ROWS && self.header.preparation.keeps_zeros();
        let most = if sparse { ROWS } else { most };
        let mut reading = schema.read_wider(file, &beside.widened).map_err(WorkbenchError::from)?;
        let (mut first, mut ended) = (0, false);
        let next = || {
            if ended {
                return None;
            }
            let found = if sparse {
                reading.sparse(most, false).map(|(rows, _, lines)| (Matrix::Sparse(rows), lines))
            } else {
                reading.chunk(most, false).map(|(rows, _, lines)| (Matrix::Dense(rows), lines))
            };
            let kept = reading.take_kept();
            let found = found.map(|(raw, lines)| (first, raw, lines, kept));
            let rows = found.as_ref().map_or(0, |(_, _, lines, _)| lines.len());
            first += rows;
            // An error ends the reading, and is told when its turn comes.
            ended = rows < most;
            (rows > 0 || found.is_err()).then_some(found)
        };
        let work = |found: Result<ReadPart, DataError>| {
            let said = self.predict_part(found?, file.name(), beside)?;
            Ok((said.lines.len(), form(said)))
        };
        let mut count = 0;
        pipeline(threads, next, work, |result: Result<(usize, R), WorkbenchError>| {
            let (rows, formed) = result?;
            count += rows;
            told(formed)
        })?;
        Ok(count)
    }

    /// What it says of some rows of a file.
    fn predict_part(
        &self,
        (first, raw, lines, kept): ReadPart,
        file: &str,
        beside: &ExtraColumns,
    ) -> Result<PredictedRows, WorkbenchError> {
        let filled = raw.holed_rows();
        let all = || raw.dense(0..lines.len());
        let mut shares = if beside.probabilities || beside.entropy {
            Some(self.probabilities(raw.clone(), file, &lines, 1)?)
        } else {
            None
        };
        let entropy = shares.as_ref().filter(|_| beside.entropy);
        let entropy = entropy.map(|shares| entropies(shares.view()));
        let embedded_entropy =
            if beside.entropy { self.embedded_entropy(all(), file, &lines)? } else { None };
        let scores = beside.scores.then(|| self.decision(raw.clone(), file, &lines, 1));
        let scores = scores.transpose()?;
        let deviation = if beside.deviation { self.deviations(all(), file, &lines)? } else { None };
        let sets =
            beside.within.as_ref().map(|within| self.sets(raw.clone(), file, &lines, within));
        let sets = sets.transpose()?;
        let probabilities = shares.take_if(|_| beside.probabilities);
        let predicted = self.predict(raw, file, &lines, 1)?;
        Ok(PredictedRows {
            first,
            lines,
            predicted,
            probabilities,
            scores,
            entropy,
            embedded_entropy,
            deviation,
            sets,
            filled,
            kept,
        })
    }
}
