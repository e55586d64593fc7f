use crate::audit::rows::rows;
use crate::audit::{arithmetic, askl_deviations, askl_objective, askl_underlines};
use crate::cell::{StudyCell, common_repeats};
use crate::rftk::figure1b::distance_slope;
use crate::{Computed, Desk, ExperimentError, compare, published};
use mercer_harness::Spec;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How repeats are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Average {
    #[default]
    Arithmetic,
    /// Of values that are positive and lie decades apart.
    Geometric,
}

/// Where a number of a finding comes from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Query {
    /// Mean of a cell, in printed units.
    Mean { study: String, variant: String, dataset: String, method: String },
    /// Deviation of a cell over its repeats, in printed units.
    Deviation { study: String, variant: String, dataset: String, method: String },
    /// Mean of a fact or metric of a cell.
    Fact { study: String, variant: String, dataset: String, method: String, name: String },
    /// The least or the most that a fact or metric of a cell has among its repeats, times `scale`.
    Extreme {
        study: String,
        variant: String,
        dataset: String,
        method: String,
        name: String,
        what: End,
        #[serde(default = "one")]
        scale: f64,
    },
    /// Of the repeats of a cell whose fact lies between two values: how many there are, or the mean of a metric or fact
    /// of theirs (of the table's metric in printed units).
    Among {
        study: String,
        variant: String,
        dataset: String,
        method: String,
        fact: String,
        #[serde(default)]
        least: Option<f64>,
        #[serde(default)]
        most: Option<f64>,
        what: String,
    },
    /// Mean over repeats of the value at the last look of their curves, of one kind or the other.
    CurveEnd {
        study: String,
        variant: String,
        dataset: String,
        method: String,
        name: String,
        #[serde(default)]
        average: Average,
    },
    /// Mean over repeats of the mean of a value over the last tenth of the looks of their curves, times
    /// `scale`.
    CurveTail {
        study: String,
        variant: String,
        dataset: String,
        method: String,
        name: String,
        #[serde(default = "one")]
        scale: f64,
        #[serde(default)]
        digits: Option<usize>,
    },
    /// Slope of the squared distance of Figure 1(b) against the passes, both logarithmic.
    DistanceSlope { variant: String, dataset: String, batch: usize },
    /// Records of a cell.
    Repeats { study: String, variant: String, dataset: String, method: String },
    /// Mean over repeats of a value at a step of the curves of a cell, times `scale`.
    Point {
        study: String,
        variant: String,
        dataset: String,
        method: String,
        step: u64,
        name: String,
        #[serde(default = "one")]
        scale: f64,
        #[serde(default)]
        digits: Option<usize>,
    },
    /// Mean paired difference of two cells on one dataset: first minus second.
    Difference { dataset: String, first: [String; 3], second: [String; 3] },
    /// On how many datasets the mean of the first (study, variant, method) is better than that of
    /// the second, worse than it, or there at all beside it.
    Count { first: [String; 3], second: [String; 3], what: Outcome },
    /// A printed mean.
    Published { paper: String, dataset: String, method: String },
    /// A printed mean of a table, by metric and by words of its setting.
    PublishedAt {
        paper: String,
        table: String,
        dataset: String,
        method: String,
        metric: String,
        setting: Vec<String>,
    },
    /// A printed deviation.
    PublishedDeviation { paper: String, dataset: String, method: String },
    /// On how many datasets the printed mean of the first method is better than that of the
    /// second, worse than it, or there at all beside it.
    PublishedCount { paper: String, first: String, second: String, what: Outcome },
    /// Binomial deviation of a printed accuracy on the test rows of a repeat, in points.
    Binomial { paper: String, dataset: String, method: String },
    /// Share of the largest class in the rows of the catalogue, in percent.
    LargestClass { dataset: String },
    /// Printed cells whose marks, or whose mean plus deviation, do not hold up.
    Printed { what: Oddity },
    /// Pairs of methods over all datasets of a variant of Table 2 of ASKL.
    Pairs { variant: String, what: Agreement },
    /// A number of a simulation, in percent.
    Percent { computed: String, name: String },
    /// A number of a simulation, times `scale`.
    Simulated {
        computed: String,
        name: String,
        #[serde(default = "one")]
        scale: f64,
    },
    /// The value of a bound of `mercer bound`.
    Calculator { name: String, inputs: BTreeMap<String, Given> },
    /// A formula of [`arithmetic`].
    Arithmetic { name: String, inputs: BTreeMap<String, Given> },
}

const fn one() -> f64 {
    1.0
}

/// Which datasets a [`Query::Count`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// The first has the better mean.
    Ahead,
    /// The first has the worse mean.
    Behind,
    /// Both have a score.
    Compared,
}

/// Which of the repeats a [`Query::Extreme`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
    /// The one with the smallest value.
    Least,
    /// The one with the largest.
    Most,
}

/// What a [`Query::Printed`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Oddity {
    /// Cells of methods that are not significantly worse than the best of the row.
    Level,
    /// Underlined cells.
    Underlined,
    /// Cells that are both.
    Both,
    /// Accuracies whose mean plus deviation is above 100 %.
    AboveHundred,
}

/// What a [`Query::Pairs`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Agreement {
    /// All pairs.
    All,
    /// Those in which the smaller objective scores better.
    Objective,
    /// Those in which the smaller loss scores better.
    Loss,
}

/// An input of a formula: a number, or what another query answers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Given {
    /// Written in the page.
    Number(f64),
    /// Asked for.
    Asked(Box<Query>),
}

impl Query {
    /// Decimals with which the answer is shown.
    pub fn digits(&self) -> usize {
        match self {
            Self::Count { .. }
            | Self::PublishedCount { .. }
            | Self::Printed { .. }
            | Self::Repeats { .. }
            | Self::Pairs { .. } => 0,
            Self::Fact { name, .. } | Self::Extreme { name, .. }
                if name == "iterations"
                    || name.ends_with("-steps")
                    || name.starts_with("search-") =>
            {
                0
            }
            Self::Point { digits: Some(digits), .. }
            | Self::CurveTail { digits: Some(digits), .. } => *digits,
            _ => 2,
        }
    }

    /// The number, or `None` where the records for it are not there.
    ///
    /// # Errors
    /// If it names a study, paper, dataset, bound or formula that does not exist.
    pub fn answer(&self, desk: &Desk<'_>) -> Result<Option<f64>, ExperimentError> {
        let score = |study: &str, variant: &str, dataset: &str, method: &str| {
            Ok::<_, ExperimentError>(
                cell(desk, study, variant, dataset, method)?.and_then(|cell| cell.score()),
            )
        };
        Ok(match self {
            Self::Mean { study, variant, dataset, method } => {
                score(study, variant, dataset, method)?.map(|score| score.mean)
            }
            Self::Deviation { study, variant, dataset, method } => {
                score(study, variant, dataset, method)?
                    .filter(|score| score.repeats > 1)
                    .map(|score| score.std)
            }
            Self::Fact { study, variant, dataset, method, name } => {
                cell(desk, study, variant, dataset, method)?.and_then(|cell| {
                    let values = cell.of(name);
                    let sum: f64 = values.iter().map(|(_, value)| value).sum();
                    (!values.is_empty()).then(|| sum / values.len() as f64)
                })
            }
            Self::Extreme { study, variant, dataset, method, name, what, scale } => {
                cell(desk, study, variant, dataset, method)?.and_then(|cell| {
                    let values = cell.of(name).into_iter().map(|(_, value)| value);
                    let end = match what {
                        End::Least => values.reduce(f64::min),
                        End::Most => values.reduce(f64::max),
                    };
                    end.map(|value| value * scale)
                })
            }
            Self::Among { .. }
            | Self::CurveEnd { .. }
            | Self::CurveTail { .. }
            | Self::DistanceSlope { .. }
            | Self::Repeats { .. }
            | Self::Point { .. } => self.of_records(desk)?,
            Self::Difference { dataset, first, second } => {
                let side = |[study, variant, method]: &[String; 3]| {
                    cell(desk, study, variant, dataset, method)
                };
                match (side(first)?, side(second)?) {
                    (Some(a), Some(b)) => compare(&a, &b)?.map(|test| test.difference),
                    _ => None,
                }
            }
            Self::Count { first, second, what } => count(desk, first, second, *what)?,
            Self::Published { paper, dataset, method } => {
                Some(printed(paper, dataset, method)?.mean)
            }
            Self::PublishedAt { paper, table, dataset, method, metric, setting } => {
                let found = published(paper)?.1.into_iter().find(|cell| {
                    (&cell.table, &cell.dataset, &cell.method) == (table, dataset, method)
                        && cell.metric == *metric
                        && setting.iter().all(|words| cell.setting.contains(words.as_str()))
                });
                let missing = || form(&format!("{paper} prints no such cell of {method}"));
                Some(found.ok_or_else(missing)?.mean)
            }
            Self::PublishedDeviation { paper, dataset, method } => {
                Some(printed(paper, dataset, method)?.std)
            }
            Self::PublishedCount { paper, first, second, what } => {
                Some(published_count(paper, first, second, *what)?)
            }
            Self::Binomial { paper, dataset, method } => {
                let (_, rows) = rows(dataset)?;
                let accuracy = printed(paper, dataset, method)?.mean;
                Some(askl_deviations::binomial_points(accuracy, rows)?)
            }
            Self::LargestClass { dataset } => Some(largest_class(dataset)?),
            Self::Printed { what } => Some(what.count()? as f64),
            Self::Pairs { variant, what } => {
                askl_objective::concordance(desk, variant)?.map(|found| match what {
                    Agreement::All => found.pairs as f64,
                    Agreement::Objective => found.by_objective as f64,
                    Agreement::Loss => found.by_loss as f64,
                })
            }
            Self::Percent { computed, name } => {
                simulated(desk, computed, name).map(|share| 100.0 * share)
            }
            Self::Simulated { computed, name, scale } => {
                simulated(desk, computed, name).map(|value| scale * value)
            }
            Self::Calculator { name, inputs } => match answers(inputs, desk)? {
                None => None,
                Some(inputs) => {
                    let calculator = mercer_theory::find_calculator(name);
                    let bound = calculator.and_then(|calculator| calculator.bound(&inputs));
                    Some(bound.map_err(|error| form(&error))?.value)
                }
            },
            Self::Arithmetic { name, inputs } => match answers(inputs, desk)? {
                None => None,
                Some(inputs) => {
                    Some(arithmetic::evaluate(name, &inputs).map_err(|error| form(&error))?)
                }
            },
        })
    }

    /// What asks for the records of one cell and their curves.
    fn of_records(&self, desk: &Desk<'_>) -> Result<Option<f64>, ExperimentError> {
        Ok(match self {
            Self::Among { study, variant, dataset, method, fact, least, most, what } => {
                let between = (least.unwrap_or(f64::NEG_INFINITY), most.unwrap_or(f64::INFINITY));
                cell(desk, study, variant, dataset, method)?
                    .and_then(|cell| among(&cell, fact, between, what))
            }
            Self::CurveEnd { study, variant, dataset, method, name, average } => {
                let cell = cell(desk, study, variant, dataset, method)?;
                cell.and_then(|cell| at_end(&cell, name, *average))
            }
            Self::CurveTail { study, variant, dataset, method, name, scale, .. } => {
                cell(desk, study, variant, dataset, method)?
                    .and_then(|cell| of_tail(&cell, name))
                    .map(|value| scale * value)
            }
            Self::DistanceSlope { variant, dataset, batch } => {
                let found = cell(desk, "rftk/figure1b", variant, dataset, "sgd-factors")?;
                found.map(|cell| distance_slope(&cell, *batch)).filter(|slope| slope.is_finite())
            }
            Self::Repeats { study, variant, dataset, method } => {
                cell(desk, study, variant, dataset, method)?
                    .map(|cell| cell.records().count() as f64)
                    .filter(|count| *count > 0.0)
            }
            Self::Point { study, variant, dataset, method, step, name, scale, .. } => {
                cell(desk, study, variant, dataset, method)?
                    .and_then(|cell| at_step(&cell, *step, name))
                    .map(|value| scale * value)
            }
            _ => None,
        })
    }
}

fn form(reason: &impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Form { file: "findings".to_owned(), reason: reason.to_string() }
}

/// The inputs of a formula by name; `None` where one is not answered.
fn answers<'a>(
    inputs: &'a BTreeMap<String, Given>,
    desk: &Desk<'_>,
) -> Result<Option<BTreeMap<&'a str, f64>>, ExperimentError> {
    let mut answers = BTreeMap::new();
    for (name, given) in inputs {
        let value = match given {
            Given::Number(value) => Some(*value),
            Given::Asked(query) => query.answer(desk)?,
        };
        let Some(value) = value else { return Ok(None) };
        answers.insert(name.as_str(), value);
    }
    Ok(Some(answers))
}

fn cell(
    desk: &Desk<'_>,
    study: &str,
    variant: &str,
    dataset: &str,
    method: &str,
) -> Result<Option<Found>, ExperimentError> {
    let study = desk.cells(study)?;
    let place = study.1.iter().position(|cell| {
        let key = cell.key();
        key.variant == variant && key.dataset == dataset && key.method == method
    });
    Ok(place.map(|place| Found { study, place }))
}

/// A cell of a study that others hold, too.
struct Found {
    study: Arc<(Spec, Vec<StudyCell>)>,
    place: usize,
}

impl std::ops::Deref for Found {
    type Target = StudyCell;

    fn deref(&self) -> &StudyCell {
        &self.study.1[self.place]
    }
}

fn printed(
    paper: &str,
    dataset: &str,
    method: &str,
) -> Result<crate::PublishedCell, ExperimentError> {
    let found = published(paper)?
        .1
        .into_iter()
        .find(|cell| cell.dataset == dataset && cell.method == method);
    found.ok_or_else(|| form(&format!("{paper} prints no {method} on {dataset}")))
}

/// A number of a simulation.
fn simulated(desk: &Desk<'_>, computed: &str, name: &str) -> Option<f64> {
    let computed = Computed::find(computed)?;
    desk.shelf.get(&computed.key())?.result.facts.get(name).copied()
}

/// The mean over repeats of a value at a step of their curves.
fn at_step(cell: &StudyCell, step: u64, name: &str) -> Option<f64> {
    let at = |record: &mercer_records::Record| {
        let point = record.result.curve.iter().find(|point| point.step == step)?;
        point.values.get(name).copied()
    };
    let values: Vec<f64> = cell.records().filter_map(at).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean over repeats of the mean of a value over the last tenth of the looks.
fn of_tail(cell: &StudyCell, name: &str) -> Option<f64> {
    let tail = |record: &mercer_records::Record| {
        let points = record.result.curve.iter();
        let values: Vec<f64> = points.filter_map(|point| point.values.get(name).copied()).collect();
        let tail = &values[values.len() - values.len().div_ceil(10)..];
        (!tail.is_empty()).then(|| tail.iter().sum::<f64>() / tail.len() as f64)
    };
    let values: Vec<f64> = cell.records().filter_map(tail).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// How many repeats have a fact between two values (`count`), or the mean of `what` over these; `None` of a cell that
/// is not run.
fn among(cell: &StudyCell, fact: &str, (least, most): (f64, f64), what: &str) -> Option<f64> {
    let of_fact = cell.of(fact);
    let inside = of_fact.iter().filter(|(_, value)| (least..=most).contains(value));
    let chosen: Vec<u32> = inside.map(|(repeat, _)| *repeat).collect();
    if what == "count" {
        return (!of_fact.is_empty()).then_some(chosen.len() as f64);
    }
    let values = if what == cell.metric().name() { cell.values() } else { cell.of(what) };
    let values: Vec<f64> = values
        .into_iter()
        .filter(|(repeat, _)| chosen.contains(repeat))
        .map(|(_, value)| value)
        .collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean over repeats of a value at the end of their curves.
fn at_end(cell: &StudyCell, name: &str, average: Average) -> Option<f64> {
    let at = |record: &mercer_records::Record| {
        record.result.curve.last().and_then(|point| point.values.get(name)).copied()
    };
    let values: Vec<f64> = cell.records().filter_map(at).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    (!values.is_empty()).then(|| match average {
        Average::Arithmetic => mean(&values),
        Average::Geometric => {
            mean(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).exp()
        }
    })
}

/// How often `first` has a better, a worse, or any score beside `second`.
fn count(
    desk: &Desk<'_>,
    first: &[String; 3],
    second: &[String; 3],
    what: Outcome,
) -> Result<Option<f64>, ExperimentError> {
    let study = desk.cells(&first[0])?;
    let mut compared = 0;
    let mut counted = 0;
    for dataset in &study.0.datasets {
        let side =
            |[study, variant, method]: &[String; 3]| cell(desk, study, variant, dataset, method);
        let (Some(a), Some(b)) = (side(first)?, side(second)?) else { continue };
        let common = common_repeats(&[&a, &b]);
        let (Some(ours), Some(theirs)) = (a.mean_over(&common), b.mean_over(&common)) else {
            continue;
        };
        compared += 1;
        counted += usize::from(match what {
            Outcome::Ahead => a.better(ours, theirs),
            Outcome::Behind => a.better(theirs, ours),
            Outcome::Compared => true,
        });
    }
    Ok((compared > 0).then_some(counted as f64))
}

fn published_count(
    paper: &str,
    first: &str,
    second: &str,
    what: Outcome,
) -> Result<f64, ExperimentError> {
    let cells = published(paper)?.1;
    let mut counted = 0;
    for ours in cells.iter().filter(|cell| cell.method == first) {
        let theirs = printed(paper, &ours.dataset, second)?;
        let larger_is_better = ours.metric == "accuracy_percent";
        let gain = if larger_is_better { ours.mean - theirs.mean } else { theirs.mean - ours.mean };
        counted += usize::from(match what {
            Outcome::Ahead => gain > 0.0,
            Outcome::Behind => gain < 0.0,
            Outcome::Compared => true,
        });
    }
    Ok(counted as f64)
}

fn largest_class(dataset: &str) -> Result<f64, ExperimentError> {
    let entry = mercer_datasets::Catalogue::builtin().find(dataset).map_err(|e| form(&e))?;
    let largest = entry.class_counts.values().max().copied();
    let largest = largest.ok_or_else(|| form(&format!("{dataset} has no class counts")))?;
    let rows: usize = entry.class_counts.values().sum();
    Ok(100.0 * largest as f64 / rows as f64)
}

impl Oddity {
    fn count(self) -> Result<usize, ExperimentError> {
        if self == Self::AboveHundred {
            let cells = published("askl")?.1;
            let accuracies = cells.iter().filter(|cell| cell.metric == "accuracy_percent");
            return Ok(accuracies.filter(|cell| cell.mean + cell.std > 100.0).count());
        }
        let mut count = 0;
        for row in askl_underlines::judged()? {
            let (level, underlined) = (row.level(), row.underlined());
            count += match self {
                Self::Level => level.len(),
                Self::Underlined => underlined.len(),
                _ => level.iter().filter(|method| underlined.contains(method)).count(),
            };
        }
        Ok(count)
    }
}
