//! How often rows count in a fit: weights of a column, and weights of classes.

use crate::{Choices, RowWeights, Table, WorkbenchError};
use mercer_datasets::DataError;
use mercer_learning::{LearningError, Method, Sample, Task, one_line};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Weights that can be multiplied and added.
const SIZES: RangeInclusive<f64> = 1e-100..=1e100;

/// Weights of classes, which multiply the weights of rows.
///
/// ```
/// use mercer_workbench::ClassWeight;
/// assert_eq!("balanced".parse::<ClassWeight>()?, ClassWeight::Balanced);
/// let given = "ill=2,well=0.5".parse::<ClassWeight>()?;
/// assert_eq!(given.to_string(), "ill=2,well=0.5");
/// let comma = ClassWeight::Given([("ill, old".to_owned(), 2.0), ("well".to_owned(), 1.0)].into());
/// assert_eq!("ill, old=2,well=1".parse::<ClassWeight>()?, comma);
/// let refused = "ill=-2".parse::<ClassWeight>().unwrap_err().to_string();
/// assert_eq!(refused, "`class-weight` is `ill=-2`; it must be balanced, or CLASS=NUMBER,CLASS=NUMBER with each class once and numbers from 1e-100 to 1e100");
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ClassWeight {
    /// `n/(k n_c)` of a class `c`, for `k` classes that occur. All classes then have one weight together. `n` and `n_c`
    /// count rows by their weights.
    Balanced,
    /// These; 1 of a class that is not named.
    Given(BTreeMap<String, f64>),
}

impl FromStr for ClassWeight {
    type Err = WorkbenchError;

    fn from_str(text: &str) -> Result<Self, WorkbenchError> {
        if text.eq_ignore_ascii_case("balanced") {
            return Ok(Self::Balanced);
        }
        let one = |part: &str| {
            // The name of a class may have the sign in it.
            let (class, weight) = part.rsplit_once('=')?;
            let weight: f64 = weight.trim().parse().ok()?;
            SIZES.contains(&weight).then(|| (class.trim().to_owned(), weight))
        };
        let parts = parts(text);
        let given: Option<BTreeMap<String, f64>> = parts.iter().map(|part| one(part)).collect();
        let whole = given.filter(|given| given.len() == parts.len());
        whole.map(Self::Given).ok_or_else(|| WorkbenchError::Argument {
            name: "class-weight",
            value: format!("`{}`", one_line(text)),
            must: "balanced, or CLASS=NUMBER,CLASS=NUMBER with each class once and numbers from 1e-100 to 1e100"
                .to_owned(),
        })
    }
}

/// `CLASS=NUMBER` one by one: a comma before the number is of the name of its class.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(',') {
        match parts.last_mut().filter(|last| !last.contains('=')) {
            Some(open) => *open = format!("{open},{part}"),
            None => parts.push(part.to_owned()),
        }
    }
    parts
}

/// As it is typed.
impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Balanced => f.write_str("balanced"),
            Self::Given(given) => {
                let one = |(class, weight): (&String, &f64)| format!("{class}={weight}");
                f.write_str(&given.iter().map(one).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl ClassWeight {
    /// Refuses targets that are numbers, and classes that are not there.
    fn check(&self, table: &Table) -> Result<(), WorkbenchError> {
        let refused = |must: String| WorkbenchError::Argument {
            name: "class-weight",
            value: format!("`{self}`"),
            must,
        };
        if table.task() == Task::Regression {
            let must = "left out where the target is numbers (--weights COL weighs their rows)";
            return Err(refused(must.to_owned()));
        }
        let labels = &table.schema.target.labels;
        match self {
            Self::Given(given) if given.keys().any(|class| !labels.contains(class)) => {
                let known: Vec<_> =
                    labels.iter().map(|label| format!("`{}`", one_line(label))).collect();
                Err(refused(format!(
                    "CLASS=NUMBER with a class of the target: {}",
                    known.join(", ")
                )))
            }
            _ => Ok(()),
        }
    }

    /// The factor of each class.
    fn factors(&self, sample: &Sample, labels: &[String]) -> Vec<f64> {
        match self {
            Self::Balanced => {
                let of_classes = sample.class_weights();
                let occurring = of_classes.iter().filter(|&&weight| weight > 0.0).count();
                let share = of_classes.iter().sum::<f64>() / occurring.max(1) as f64;
                let factor = |&weight: &f64| if weight > 0.0 { share / weight } else { 1.0 };
                of_classes.iter().map(factor).collect()
            }
            Self::Given(given) => {
                labels.iter().map(|label| given.get(label).copied().unwrap_or(1.0)).collect()
            }
        }
    }
}

/// The numbers of a column, in the lines of the file in which they stand.
pub(crate) fn row_weights(
    column: &str,
    texts: &[String],
    lines: &[usize],
    file: &str,
) -> Result<Vec<f64>, WorkbenchError> {
    let mut weights = Vec::with_capacity(texts.len());
    for (text, &line) in texts.iter().zip(lines) {
        let text = text.trim();
        let problem = match text.parse::<f64>() {
            Ok(weight) if weight == 0.0 || SIZES.contains(&weight) => {
                weights.push(weight);
                continue;
            }
            _ if text.is_empty() => "is empty".to_owned(),
            Ok(weight) if weight < 0.0 => format!("`{text}` is negative"),
            Ok(weight) if weight.is_finite() => {
                format!("`{text}` is too large or too small to add up")
            }
            _ => format!("`{}` is not a number", one_line(text)),
        };
        let problem = format!(
            "column `{column}` {problem}, but weighs the row (--weights); write a number from 0, where 0 leaves \
             the row out of the fit"
        );
        return Err(DataError::Line { file: file.to_owned(), line, problem }.into());
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        let problem = format!(
            "column `{column}` is 0 in every row, so that no row counts (--weights); give some rows a weight above 0"
        );
        return Err(DataError::Format { file: file.to_owned(), problem }.into());
    }
    Ok(weights)
}

/// Refuses a method that does not weigh rows where rows or classes have weights.
///
/// ```
/// use mercer_baselines::BASELINES;
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_workbench::{Choices, ClassWeight, Table, require_weighing};
/// let file = RowFile::spooled(&b"x,kind\n-1,a\n1,b\n2,b\n"[..], "toys", None)?;
/// let table = Table::read(&file, &SchemaOptions::default())?;
/// let choices = Choices { class_weight: Some(ClassWeight::Balanced), ..Choices::plain() };
/// require_weighing(BASELINES, "gaussian-svm", &table, &choices)?;
/// let refused = require_weighing(BASELINES, "kta", &table, &choices).unwrap_err().to_string();
/// assert!(refused.starts_with("`--class-weight`: kta does not weigh rows; these do: majority,"), "{refused}");
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// [`WorkbenchError::CannotWeigh`] names those that can; [`WorkbenchError::Argument`] for weights of classes that
/// the target does not have; [`LearningError::UnknownMethod`].
pub fn require_weighing(
    methods: &[Method],
    name: &str,
    table: &Table,
    choices: &Choices<'_>,
) -> Result<(), WorkbenchError> {
    if let Some(of_classes) = &choices.class_weight {
        of_classes.check(table)?;
    }
    let flag = match (&table.weights, &choices.class_weight) {
        (Some(_), _) => "--weights",
        (None, Some(_)) => "--class-weight",
        (None, None) => return Ok(()),
    };
    if mercer_learning::find(methods, name)?.weighs_rows() {
        return Ok(());
    }
    let task = table.task();
    let able = methods.iter().filter(|method| method.tasks.include(task) && method.weighs_rows());
    let able: Vec<&str> = able.map(|method| method.name).collect();
    let able =
        if able.is_empty() { "see `mercer list methods`".to_owned() } else { able.join(", ") };
    Err(WorkbenchError::CannotWeigh { flag, method: name.to_owned(), able })
}

/// A sample of these rows of the table with the weights of rows and classes.
pub(crate) fn weighted(
    sample: Sample,
    table: &Table,
    rows: &[usize],
    choices: &Choices<'_>,
) -> Result<Sample, LearningError> {
    let of_rows =
        |weights: &RowWeights| rows.iter().map(|&row| weights.values[row]).collect::<Vec<f64>>();
    let sample = match table.weights.as_ref().map(of_rows) {
        Some(weights) => sample.weighted(&weights)?,
        None => sample,
    };
    let (Some(of_classes), Some(labels)) = (&choices.class_weight, sample.labels()) else {
        return Ok(sample);
    };
    let factors = of_classes.factors(&sample, &table.schema.target.labels);
    let own = |row: usize| sample.weights().map_or(1.0, |weights| weights[row]);
    let weight = |(row, &label): (usize, &u32)| own(row) * factors[label as usize];
    let weights: Vec<f64> = labels.iter().enumerate().map(weight).collect();
    sample.weighted(&weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_datasets::{RowFile, SchemaOptions};

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn weights_that_are_none_are_named_by_line_value_and_remedy() {
        let read = |all: &[&str]| {
            let lines: Vec<usize> = (2..).take(all.len()).collect();
            row_weights("w", &texts(all), &lines, "f.csv").map_err(|error| error.to_string())
        };
        assert_eq!(read(&["0", " 2.5", "1e1"]), Ok(vec![0.0, 2.5, 10.0]));
        for (all, words) in [
            (
                ["1", "-2"],
                "f.csv:3: column `w` `-2` is negative, but weighs the row (--weights); write a number",
            ),
            (["", "1"], "f.csv:2: column `w` is empty"),
            (["1", "2 kg"], "f.csv:3: column `w` `2 kg` is not a number"),
            (["inf", "1"], "f.csv:2: column `w` `inf` is not a number"),
            (["1", "NaN"], "f.csv:3: column `w` `NaN` is not a number"),
            (["0", "0.0"], "f.csv: column `w` is 0 in every row"),
        ] {
            let refused = read(&all).unwrap_err();
            assert!(refused.starts_with(words), "{refused}");
        }
    }

    /// Numbers of scikit-learn 1.8: `compute_class_weight("balanced", classes=[0, 1, 2], y=[0, 0, 0, 1, 2, 2])`.
    #[test]
    fn balanced_classes_have_one_weight_together() {
        let text = "x,kind\n1,a\n2,a\n3,a\n4,b\n5,c\n6,c\n";
        let file = RowFile::spooled(text.as_bytes(), "toys", None).unwrap();
        let mut table = Table::read(&file, &SchemaOptions::default()).unwrap();
        let rows: Vec<usize> = (0..6).collect();
        let bare = || {
            let prepared = table.prepare(&rows, mercer_datasets::Scaling::None, None).unwrap();
            table.sample(&rows, &prepared).unwrap()
        };
        let sample = bare();
        let factors = ClassWeight::Balanced.factors(&sample, &table.schema.target.labels);
        assert_eq!(factors, [6.0 / 9.0, 2.0, 1.0]);
        // A row of weight 2 is two rows, one of weight 0 none.
        let values = vec![2.0, 1.0, 0.0, 1.0, 1.0, 1.0];
        table.weights = Some(RowWeights { column: "w".to_owned(), values });
        let choices = Choices { class_weight: Some(ClassWeight::Balanced), ..Choices::plain() };
        let weighted = weighted(sample, &table, &rows, &choices).unwrap();
        let sums = weighted.class_weights();
        assert!(
            weighted.rows() == 5 && sums.iter().all(|sum| (sum - 2.0).abs() < 1e-15),
            "{sums:?}"
        );
        let given = ClassWeight::Given([("b".to_owned(), 3.0)].into());
        assert_eq!(given.factors(&weighted, &table.schema.target.labels), [1.0, 3.0, 1.0]);
        assert!("a=1,a=2".parse::<ClassWeight>().is_err() && "a".parse::<ClassWeight>().is_err());
    }
}
