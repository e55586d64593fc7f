//! What a column is worth to a fitted method, and what more training rows are.

use crate::fit::{finite, fit_sample, said_of, said_of_inputs};
use crate::intervals::alike;
use crate::{Choices, Scores, Table, WorkbenchError, primary};
use mercer_datasets::{Preparation, Split, Truths, stratified_split};
use mercer_learning::{Method, Metric, Predictor, Streams};
use mercer_statistics::{corrected_t, summarise};
use ndarray::{Axis, s};
use rand::seq::SliceRandom;
use serde::Serialize;

/// How much worse the metric gets where the entries of a column change places among the test rows (Breiman 2001).
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, evaluate};
/// let text = "x,z,kind\n-1,7,a\n-2,7,a\n-3,7,a\n-4,7,a\n1,7,b\n2,7,b\n3,7,b\n4,7,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let splitting = Splitting::Folds { folds: 2, repeats: 5 };
/// let choices = Choices { importance: true, ..Choices::plain() };
/// let found = evaluate(BASELINES, "kernel-ridge", &table, splitting, &choices, |_, _| {})?;
/// let [x, z] = &found.importance.expect("it was asked for")[..] else { panic!("two columns") };
/// assert_eq!((x.column.as_str(), z.mean), ("x", 0.0)); // a constant is worth nothing
/// assert!(x.mean > 0.2);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// The column of the file.
    pub column: String,
    /// The mean over the splits, in units of the metric; above 0 where the column helps.
    pub mean: f64,
    /// 95 % interval of it by the corrected resampled t, of several splits that differ.
    pub interval: Option<(f64, f64)>,
}

/// The score of a method that was fitted to a part of the training rows.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, evaluate};
/// let text: String = (1..=80).map(|i| format!("{i},{}\n", i as f64 / 7.0)).collect();
/// let file = RowFile::spooled(format!("x,y\n{text}").as_bytes(), "line", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let splitting = Splitting::Folds { folds: 4, repeats: 1 };
/// let choices = Choices { learning_curve: true, ..Choices::plain() };
/// let found = evaluate(BASELINES, "kernel-ridge", &table, splitting, &choices, |_, _| {})?;
/// let curve = found.learning_curve.expect("it was asked for");
/// assert_eq!(curve.iter().map(|point| point.rows).collect::<Vec<_>>(), [7, 15, 30, 60]);
/// assert!(curve[3].mean < curve[0].mean); // the error falls
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Training rows.
    pub rows: usize,
    /// The mean metric over the splits of the first repeat.
    pub mean: f64,
    /// Its standard deviation over them; `None` of one.
    pub std: Option<f64>,
}

/// What the columns and rows of each split are worth, as the splits go by.
pub(crate) struct Worth {
    metric: Metric,
    /// By split, then by column.
    losses: Vec<Vec<f64>>,
    /// By share, then by split.
    scores: Vec<Vec<f64>>,
    rows: Vec<usize>,
}

/// Shares of the training rows on the way of a learning curve.
const SHARES: [f64; 3] = [0.125, 0.25, 0.5];

/// Scores on some rows of a fit to others.
fn score(
    method: &Method,
    table: &Table,
    (train, test): (&[usize], &[usize]),
    choices: &Choices<'_>,
    streams: &Streams,
) -> Result<Scores, WorkbenchError> {
    let preparation = table.prepare(train, choices.scaling, choices.impute)?;
    let sample = table.training(train, &preparation, choices)?;
    let fitted = fit_sample(method, &sample, choices, streams)?;
    finite(said_of(&*fitted.outcome.predictor, table, test, &preparation)?.scores())
}

impl Worth {
    pub fn new(table: &Table, choices: &Choices<'_>) -> Self {
        let metric = choices.metric.unwrap_or(primary(table.task()));
        Self {
            metric,
            losses: Vec::new(),
            scores: vec![Vec::new(); SHARES.len()],
            rows: vec![0; SHARES.len()],
        }
    }

    /// How much worse the score of a split gets without each column.
    pub fn columns(
        &mut self,
        predictor: &dyn Predictor,
        table: &Table,
        split: &Split,
        preparation: &Preparation,
        (score, streams): (Option<f64>, &Streams),
    ) -> Result<(), WorkbenchError> {
        let raw = table.raw.select(Axis(0), &split.test);
        let mut losses = Vec::new();
        let mut at = 0;
        for column in &table.schema.columns {
            let mut order: Vec<usize> = (0..raw.nrows()).collect();
            order.shuffle(&mut streams.child("importance").rng(&column.name));
            let mut inputs = raw.clone();
            let own = s![.., at..at + column.width()];
            inputs.slice_mut(own).assign(&raw.slice(own).select(Axis(0), &order));
            at += column.width();
            let said = said_of_inputs(predictor, table, (&split.test, inputs), preparation)?;
            let without = said.scores().get(self.metric.name()).copied();
            let sign = if self.metric.larger_is_better() { 1.0 } else { -1.0 };
            losses.push(
                score.zip(without).map_or(f64::NAN, |(with, without)| sign * (with - without)),
            );
        }
        self.losses.push(losses);
        Ok(())
    }

    /// The scores of fits to parts of the training rows, with each class in them.
    pub fn parts(
        &mut self,
        method: &Method,
        table: &Table,
        split: &Split,
        choices: &Choices<'_>,
        streams: &Streams,
    ) -> Result<(), WorkbenchError> {
        for (at, share) in SHARES.into_iter().enumerate() {
            let mut rng = streams.child("learning curve").rng(&format!("{share}"));
            let part = match table.chosen(&split.train) {
                Truths::Classes(labels) => stratified_split(&labels, share, &mut rng).train,
                Truths::Values(values) => {
                    let mut order: Vec<usize> = (0..values.len()).collect();
                    order.shuffle(&mut rng);
                    order.truncate((share * values.len() as f64) as usize);
                    order
                }
            };
            let mut rows: Vec<usize> = part.into_iter().map(|row| split.train[row]).collect();
            rows.sort_unstable();
            self.rows[at] = rows.len();
            choices.limits.check()?;
            let score = score(method, table, (&rows, &split.test), choices, streams);
            // So few rows may lack a class, or be less than a method needs: the curve begins later.
            self.scores[at].push(
                score.map_or(f64::NAN, |own| {
                    own.get(self.metric.name()).copied().unwrap_or(f64::NAN)
                }),
            );
        }
        choices.limits.check()?;
        Ok(())
    }

    /// The columns from the most important to the least.
    pub fn importance(
        &self,
        table: &Table,
        test_over_train: f64,
    ) -> Result<Vec<Importance>, WorkbenchError> {
        let mut found = Vec::new();
        for (at, column) in table.schema.columns.iter().enumerate() {
            let values: Vec<f64> = self.losses.iter().map(|split| split[at]).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let spread = values.len() > 1 && mean.is_finite() && !alike(&values);
            let test = spread.then(|| corrected_t(&values, test_over_train)).transpose()?;
            let interval = test.map(|test| test.interval(0.95));
            found.push(Importance { column: column.name.clone(), mean, interval });
        }
        found.retain(|own| own.mean.is_finite());
        found.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        Ok(found)
    }

    /// The curve, with the scores of the whole training parts at its end.
    pub fn curve(&self, whole: &[f64], rows: usize) -> Vec<CurvePoint> {
        let parts = self.scores.iter().map(Vec::as_slice).zip(self.rows.iter().copied());
        let point = |(values, rows): (&[f64], usize)| CurvePoint {
            rows,
            mean: values.iter().sum::<f64>() / values.len() as f64,
            std: summarise(values).filter(|_| values.len() > 1).map(|summary| summary.sample_std),
        };
        parts.chain([(whole, rows)]).map(point).filter(|point| point.mean.is_finite()).collect()
    }
}
