//! What a column is worth to a fitted method, and what more training rows are.

use crate::fit::finite;
use crate::intervals::alike;
use crate::passes::fit_part;
use crate::said::{said_of, said_of_inputs};
use crate::splitting::singles;
use crate::{Choices, Scores, Table, WorkbenchError, primary};
use mercer_datasets::{
    Categories, Holds, InputColumn, Preparation, Split, Truths, stratified_split,
};
use mercer_learning::{Limits, Method, Metric, Predictor, Streams};
use mercer_statistics::{corrected_t, summarise};
use ndarray::{Array1, ArrayView2, Axis, arr1, s};
use rand::seq::SliceRandom;
use serde::Serialize;
use std::cmp::Reverse;

/// Permutation importance of a column (Breiman 2001). It is how much worse the metric gets where the entries of the
/// column change places among the test rows.
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
    /// Mean over the splits, in metric units; above 0 where the column helps.
    pub mean: f64,
    /// 95 % interval of it by the corrected resampled t, of several splits that differ.
    pub interval: Option<(f64, f64)>,
}

/// Partial dependence of a fitted method on a column (Friedman 2001). It is the average prediction where the column has
/// a value and all others are as they are.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, Splitting, Table, evaluate};
/// let text: String = (1..=40).map(|i| format!("{i},{}\n", 2 * i)).collect();
/// let file = RowFile::spooled(format!("x,y\n{text}").as_bytes(), "line", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let splitting = Splitting::Folds { folds: 4, repeats: 1 };
/// let choices = Choices { importance: true, ..Choices::plain() };
/// let found = evaluate(BASELINES, "kernel-ridge", &table, splitting, &choices, |_, _| {})?;
/// let [dependence] = &found.dependence.expect("it goes with the importance")[..] else { panic!("a column") };
/// let (x, y) = dependence.points[dependence.points.len() / 2];
/// assert!((y - 2.0 * x).abs() < 1.0);
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// The column of the file.
    pub column: String,
    /// The class whose probability is meant. For a method without probabilities it is how often the class is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Values of the column, each with the mean prediction over test rows. The rows are from the first split.
    pub points: Vec<(f64, f64)>,
    /// Names of the categories, for a column of categories. The values are then 0, 1, 2 and so on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
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
    pub dependence: Vec<Dependence>,
}

/// Columns whose dependence is shown, the values or categories of each, and the rows that it is a mean over, at most.
const DEPENDENCES: usize = 8;
const VALUES: usize = 21;
const LEVELS: usize = 8;
const MEANS: usize = 500;

/// Shares of the training rows on the way of a learning curve.
const SHARES: [f64; 3] = [0.125, 0.25, 0.5];

/// The second of two classes, the most frequent of more, and its name.
fn watched(table: &Table) -> (usize, Option<String>) {
    let Truths::Classes(labels) = &table.truths else { return (0, None) };
    let names = &table.schema.target.labels;
    let count = |class: &usize| labels.iter().filter(|&&label| label as usize == *class).count();
    let class =
        if names.len() == 2 { 1 } else { (0..names.len()).rev().max_by_key(count).unwrap_or(0) };
    (class, names.get(class).cloned())
}

/// The values that a column is set to, as its numbers in the table, and the names of categories.
fn values(column: &InputColumn, own: ArrayView2<'_, f64>) -> (Vec<Array1<f64>>, Vec<String>) {
    let Holds::Categories { encoding, levels } = &column.content else {
        let mut values: Vec<f64> = own.iter().copied().filter(|x| x.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() > VALUES {
            let last = values.len() - 1;
            values = (0..VALUES).map(|step| values[last * step / (VALUES - 1)]).collect();
        }
        return (values.into_iter().map(|value| arr1(&[value])).collect(), Vec::new());
    };
    let coded = |level: usize| match encoding {
        Categories::OneHot => Array1::from_shape_fn(levels.len(), |at| f64::from(at == level)),
        Categories::Ordinal => arr1(&[level as f64]),
    };
    let rows_of = |level: usize| {
        let coded = coded(level);
        own.rows().into_iter().filter(|row| *row == coded).count()
    };
    let mut there: Vec<(usize, usize)> =
        (0..levels.len()).map(|level| (rows_of(level), level)).filter(|own| own.0 > 0).collect();
    there.sort_by_key(|&(rows, level)| (Reverse(rows), level));
    there.truncate(LEVELS);
    there.iter().map(|&(_, level)| (coded(level), levels[level].clone())).unzip()
}

/// How the prediction depends on the columns that matter most in a split.
fn dependences(
    predictor: &dyn Predictor,
    table: &Table,
    split: &Split,
    preparation: &Preparation,
    losses: &[f64],
) -> Result<Vec<Dependence>, WorkbenchError> {
    let starts = table.schema.columns.iter().scan(0, |at, column| {
        *at += column.width();
        Some(*at - column.width())
    });
    let mut columns: Vec<_> = table.schema.columns.iter().zip(starts).zip(losses).collect();
    columns.sort_by(|a, b| b.1.total_cmp(a.1));
    let stride = split.test.len().div_ceil(MEANS);
    let rows: Vec<usize> = split.test.iter().copied().step_by(stride).collect();
    let raw = table.dense(&rows);
    let (class, name) = watched(table);
    let mut found = Vec::new();
    for ((column, at), _) in columns.into_iter().take(DEPENDENCES) {
        let own = s![.., at..at + column.width()];
        let (values, levels) = values(column, raw.slice(own));
        if values.is_empty() {
            continue; // no value of it is in these rows
        }
        let mut points = Vec::new();
        for (place, value) in values.iter().enumerate() {
            let mut inputs = raw.clone();
            inputs.slice_mut(own).assign(value);
            let said = said_of_inputs(predictor, table, (&rows, inputs.into()), preparation)?;
            let across = if levels.is_empty() { value[0] } else { place as f64 };
            points.push((across, said.mean(class)));
        }
        found.push(Dependence { column: column.name.clone(), class: name.clone(), points, levels });
    }
    Ok(found)
}

/// Scores on some rows of a fit to others.
fn score(
    method: &Method,
    table: &Table,
    (train, test): (&[usize], &[usize]),
    choices: &Choices<'_>,
    streams: &Streams,
) -> Result<Scores, WorkbenchError> {
    let (fitted, preparation, _) = fit_part(method, table, train, choices, streams)?;
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
            dependence: Vec::new(),
        }
    }

    /// Measures how much worse the score of a split gets without each column.
    pub fn columns(
        &mut self,
        predictor: &dyn Predictor,
        table: &Table,
        split: &Split,
        preparation: &Preparation,
        (score, streams, limits): (Option<f64>, &Streams, &dyn Limits),
    ) -> Result<(), WorkbenchError> {
        let raw = table.dense(&split.test);
        let mut losses = Vec::new();
        let mut at = 0;
        for column in &table.schema.columns {
            limits.check()?;
            let mut order: Vec<usize> = (0..raw.nrows()).collect();
            order.shuffle(&mut streams.child("importance").rng(&column.name));
            let mut inputs = raw.clone();
            let own = s![.., at..at + column.width()];
            inputs.slice_mut(own).assign(&raw.slice(own).select(Axis(0), &order));
            at += column.width();
            let said = said_of_inputs(predictor, table, (&split.test, inputs.into()), preparation)?;
            let without = said.scores().get(self.metric.name()).copied();
            let sign = if self.metric.larger_is_better() { 1.0 } else { -1.0 };
            losses.push(
                score.zip(without).map_or(f64::NAN, |(with, without)| sign * (with - without)),
            );
        }
        if self.losses.is_empty() {
            self.dependence = dependences(predictor, table, split, preparation, &losses)?;
        }
        self.losses.push(losses);
        Ok(())
    }

    /// Scores fits to parts of the training rows. Each part has each class in it.
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
            let truths = table.chosen(&split.train);
            if let Truths::Classes(labels) = &truths
                && singles(labels).len() == labels.len()
            {
                // Nothing can be left out of classes of one row.
                self.scores[at].push(f64::NAN);
                continue;
            }
            let part = match truths {
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

    /// Returns the columns from the most important to the least.
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

    /// Returns the curve, with the scores of the whole training parts at its end.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Splitting, evaluate};
    use mercer_baselines::BASELINES;
    use mercer_datasets::{RowFile, SchemaOptions};

    /// `red` is worth 3 and `blue` 1, beside half of a number.
    #[test]
    fn the_dependence_on_categories_has_a_point_for_each_in_either_encoding() {
        let rows = (0..60).map(|i| {
            let red = i % 3 == 0;
            let (name, worth) = if red { ("red", 3.0) } else { ("blue", 1.0) };
            let size = f64::from(i % 7);
            format!("{name},{size},{}\n", worth + size / 2.0)
        });
        let text = format!("colour,size,y\n{}", rows.collect::<String>());
        for encoding in [Categories::OneHot, Categories::Ordinal] {
            let file = RowFile::spooled(text.as_bytes(), "toys", None).unwrap();
            let options = SchemaOptions { categories: encoding, ..SchemaOptions::default() };
            let table = Table::read(&file, &options).unwrap();
            let choices = Choices { importance: true, ..Choices::plain() };
            let splitting = Splitting::Folds { folds: 3, repeats: 1 };
            let found = evaluate(BASELINES, "kernel-ridge", &table, splitting, &choices, |_, _| {})
                .unwrap();
            let dependence = found.dependence.unwrap();
            let colour = dependence.iter().find(|own| own.column == "colour").unwrap();
            assert_eq!(colour.levels, ["blue", "red"], "the most frequent first");
            let [(0.0, blue), (1.0, red)] = colour.points[..] else { panic!("{colour:?}") };
            assert!((red - blue - 2.0).abs() < 0.1, "{colour:?}");
            let size = dependence.iter().find(|own| own.column == "size").unwrap();
            assert!(size.levels.is_empty() && size.points.len() == 7, "{size:?}");
        }
    }
}
