use crate::cell::{StudyCell, common_repeats};
use crate::pairs::Side;
use crate::{ExperimentError, RenderContext, compare};
use mercer_harness::Spec;
use mercer_records::Record;
use mercer_statistics::summarise;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a number of a finding comes from: what it is asked of, which value, and how that is reduced to one number.
/// The first word of each says of what: a cell, the printed numbers, how often one side is ahead, a simulation, a
/// bound, or a formula.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "toml::Table")]
pub(crate) enum Query {
    Cell(OfCell),
    Printed(OfPrint),
    Count(Count),
    Simulation(OfSimulation),
    /// The value of a bound of `mercer bound`.
    Bound(Formula),
    /// A formula of this module, or a scalar of the catalogue.
    Formula(Formula),
}

impl TryFrom<toml::Table> for Query {
    type Error = String;

    fn try_from(table: toml::Table) -> Result<Self, String> {
        fn read<T: DeserializeOwned>(table: toml::Table) -> Result<T, String> {
            table.try_into().map_err(|error| error.to_string())
        }
        let has = |name| table.contains_key(name);
        match () {
            () if has("cell") => read::<OfCell>(table)?.sound().map(Self::Cell),
            () if has("printed") => read::<OfPrint>(table)?.sound().map(Self::Printed),
            () if has("count") => read(table).map(Self::Count),
            () if has("simulation") => read(table).map(Self::Simulation),
            () if has("bound") => read(table).map(Self::Bound),
            () if has("formula") => read(table).map(Self::Formula),
            () => Err("a number is asked of a cell, printed, count, simulation, bound or formula"
                .to_owned()),
        }
    }
}

/// Of the records of a cell.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfCell {
    /// `askl/table2:released:sk:segment`.
    cell: Place,
    /// Its mean paired difference from this cell.
    minus: Option<Place>,
    /// A metric, a fact, or, with `at`, a value of its curves; without it the score, in printed units.
    value: Option<String>,
    /// Where on the curves.
    at: Option<At>,
    /// Only of these repeats.
    among: Option<Among>,
    #[serde(default)]
    reduce: Reduce,
    #[serde(default = "one")]
    scale: f64,
    digits: Option<usize>,
}

/// A cell: study, variant, method, dataset.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct Place([String; 4]);

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts: Vec<String> = text.split(':').map(str::to_owned).collect();
        let wrong = |_| format!("`{text}` is no cell, STUDY:VARIANT:METHOD:DATASET");
        <[String; 4]>::try_from(parts).map(Self).map_err(wrong)
    }
}

/// Where on a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum At {
    Step(u64),
    Name(Part),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Part {
    /// The last point.
    End,
    /// The mean over the last tenth of the points.
    Tail,
}

/// The repeats whose fact lies between two values.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Among {
    fact: String,
    #[serde(default = "lowest")]
    least: f64,
    #[serde(default = "highest")]
    most: f64,
}

/// How the values of the repeats become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reduce {
    #[default]
    Mean,
    /// Of values that are positive and lie decades apart.
    GeometricMean,
    Deviation,
    Least,
    Most,
    /// How many there are.
    Count,
}

/// Of the printed numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfPrint {
    /// `askl:ASKL:mnist`: paper, method as it prints it, dataset.
    printed: String,
    /// The table, where the paper's file holds several.
    table: Option<String>,
    metric: Option<String>,
    /// Words of its setting.
    #[serde(default)]
    setting: Vec<String>,
    #[serde(default)]
    reduce: Reduce,
    digits: Option<usize>,
}

/// On how many datasets the mean of the first is better than that of the second, worse than it, or there at all beside
/// it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Count {
    #[serde(rename = "count")]
    outcome: Outcome,
    /// `askl/table2:released:askl`, or a method of this paper as it prints it.
    first: String,
    second: String,
    paper: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Ahead,
    Behind,
    Compared,
}

/// A number of a simulation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfSimulation {
    simulation: String,
    value: String,
    #[serde(default = "one")]
    scale: f64,
    digits: Option<usize>,
}

/// Something of named inputs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Formula {
    #[serde(alias = "bound", alias = "formula")]
    name: String,
    #[serde(default)]
    inputs: BTreeMap<String, Given>,
    digits: Option<usize>,
}

/// An input of a formula: a number, a name, or what another query answers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Given {
    Number(f64),
    Name(String),
    Asked(Box<Query>),
}

/// The inputs of a scalar, answered.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    numbers: BTreeMap<String, f64>,
    names: BTreeMap<String, String>,
}

impl Inputs {
    /// A number.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn number(&self, name: &str) -> Result<f64, ExperimentError> {
        self.numbers
            .get(name)
            .copied()
            .ok_or_else(|| form(&format!("the number `{name}` is missing")))
    }

    /// A name.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn name(&self, name: &str) -> Result<&str, ExperimentError> {
        let found = self.names.get(name).map(String::as_str);
        found.ok_or_else(|| form(&format!("the name `{name}` is missing")))
    }
}

/// A number that findings ask for by name; `None` where its records are not there.
pub type Scalar = fn(&RenderContext<'_>, &Inputs) -> Result<Option<f64>, ExperimentError>;

const fn one() -> f64 {
    1.0
}

const fn lowest() -> f64 {
    f64::NEG_INFINITY
}

const fn highest() -> f64 {
    f64::INFINITY
}

/// What findings ask for in a wrong form.
pub(crate) fn form(reason: &impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Form { file: "findings".to_owned(), reason: reason.to_string() }
}

impl Query {
    /// Decimals with which the answer is shown.
    pub fn digits(&self) -> usize {
        match self {
            Self::Cell(OfCell { digits: Some(digits), .. })
            | Self::Printed(OfPrint { digits: Some(digits), .. })
            | Self::Simulation(OfSimulation { digits: Some(digits), .. })
            | Self::Formula(Formula { digits: Some(digits), .. }) => *digits,
            Self::Count(_) | Self::Cell(OfCell { reduce: Reduce::Count, .. }) => 0,
            _ => 2,
        }
    }

    /// The number, or `None` where the records for it are not there.
    ///
    /// # Errors
    /// If it names a study, paper, dataset, bound or formula that does not exist.
    pub fn answer(&self, context: &RenderContext<'_>) -> Result<Option<f64>, ExperimentError> {
        match self {
            Self::Cell(own) => own.answer(context),
            Self::Printed(own) => own.answer(context).map(Some),
            Self::Count(own) => own.answer(context),
            Self::Simulation(own) => {
                let simulation = context.catalogue.simulation(&own.simulation);
                let simulation = simulation
                    .ok_or_else(|| form(&format!("no simulation `{}`", own.simulation)))?;
                let record = context.records.get(&simulation.key());
                let value = record.and_then(|record| record.result.facts.get(&own.value));
                Ok(value.map(|value| own.scale * value))
            }
            Self::Bound(own) => {
                let Some(inputs) = own.inputs(context)? else { return Ok(None) };
                let calculator = mercer_theory::find_calculator(&own.name);
                let inputs = inputs.numbers.iter().map(|(name, value)| (name.as_str(), *value));
                let bound = calculator.and_then(|calculator| calculator.bound(&inputs.collect()));
                Ok(Some(bound.map_err(|error| form(&error))?.value))
            }
            Self::Formula(own) => {
                let Some(inputs) = own.inputs(context)? else { return Ok(None) };
                own.value(context, &inputs)
            }
        }
    }
}

impl Formula {
    /// `None` where one is not answered.
    fn inputs(&self, context: &RenderContext<'_>) -> Result<Option<Inputs>, ExperimentError> {
        let mut inputs = Inputs::default();
        for (name, given) in &self.inputs {
            let value = match given {
                Given::Number(value) => Some(*value),
                Given::Asked(query) => query.answer(context)?,
                Given::Name(text) => {
                    inputs.names.insert(name.clone(), text.clone());
                    continue;
                }
            };
            let Some(value) = value else { return Ok(None) };
            inputs.numbers.insert(name.clone(), value);
        }
        Ok(Some(inputs))
    }

    /// `ratio`, `gap`, `sum` and `product` of the inputs `of` and `to`, the `root` of `of`, the share of the
    /// `largest-class` of a dataset in percent, or a scalar of the catalogue.
    fn value(
        &self,
        context: &RenderContext<'_>,
        inputs: &Inputs,
    ) -> Result<Option<f64>, ExperimentError> {
        let (of, to) = (|| inputs.number("of"), || inputs.number("to"));
        Ok(Some(match self.name.as_str() {
            "ratio" => of()? / to()?,
            "gap" => of()? - to()?,
            "sum" => of()? + to()?,
            "product" => of()? * to()?,
            "root" => of()?.sqrt(),
            "largest-class" => largest_class(inputs.name("dataset")?)?,
            other => {
                let unknown = || form(&format!("there is no formula `{other}`"));
                return context.catalogue.scalar(other).ok_or_else(unknown)?(context, inputs);
            }
        }))
    }
}

fn largest_class(dataset: &str) -> Result<f64, ExperimentError> {
    let entry = mercer_datasets::Catalogue::builtin().find(dataset).map_err(|e| form(&e))?;
    let largest = entry.class_counts.values().max().copied();
    let largest = largest.ok_or_else(|| form(&format!("{dataset} has no class counts")))?;
    let rows: usize = entry.class_counts.values().sum();
    Ok(100.0 * largest as f64 / rows as f64)
}

impl OfCell {
    /// Refuses what would be read over.
    fn sound(self) -> Result<Self, String> {
        let plain = self.value.is_none() && self.at.is_none() && self.among.is_none();
        let refused = |text: &str| Err(text.to_owned());
        match self.reduce {
            _ if self.minus.is_some() && !(plain && self.reduce == Reduce::Mean) => {
                refused("`minus` is a difference of scores: no `value`, `at`, `among` or `reduce`")
            }
            _ if self.at.is_some() && self.value.is_none() => refused("`at` needs a `value`"),
            Reduce::Count if self.value.is_some() => {
                refused("`reduce = \"count\"` counts records: no `value`")
            }
            _ => Ok(self),
        }
    }

    fn answer(&self, context: &RenderContext<'_>) -> Result<Option<f64>, ExperimentError> {
        let Some(cell) = self.cell.find(context)? else { return Ok(None) };
        if let Some(other) = &self.minus {
            let Some(other) = other.find(context)? else { return Ok(None) };
            return Ok(compare(&cell, &other)?.map(|test| test.difference));
        }
        if self.reduce == Reduce::Count && self.among.is_none() {
            return Ok(Some(cell.records().count() as f64).filter(|count| *count > 0.0));
        }
        let mut values = match (&self.value, self.at) {
            (None, _) => cell.values(),
            (Some(name), None) => cell.of(name),
            (Some(name), Some(at)) => on_curves(&cell, name, at),
        };
        if let Some(among) = &self.among {
            let facts = cell.of(&among.fact);
            let inside = |value: &f64| (among.least..=among.most).contains(value);
            let chosen: BTreeSet<u32> = facts
                .iter()
                .filter(|(_, value)| inside(value))
                .map(|(repeat, _)| *repeat)
                .collect();
            if self.reduce == Reduce::Count {
                return Ok((!facts.is_empty()).then_some(chosen.len() as f64));
            }
            values.retain(|(repeat, _)| chosen.contains(repeat));
        }
        let values: Vec<f64> = values.into_iter().map(|(_, value)| value).collect();
        Ok(self.reduce.of(&values).map(|value| self.scale * value))
    }
}

impl Reduce {
    /// Nothing of no values.
    fn of(self, values: &[f64]) -> Option<f64> {
        let summary = summarise(values)?;
        match self {
            Self::Mean => Some(summary.mean),
            Self::GeometricMean => {
                let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
                summarise(&logarithms).map(|summary| summary.mean.exp())
            }
            Self::Deviation => (summary.count > 1).then_some(summary.sample_std),
            Self::Least => values.iter().copied().reduce(f64::min),
            Self::Most => values.iter().copied().reduce(f64::max),
            Self::Count => Some(summary.count as f64),
        }
    }
}

/// Repeat and value of each curve that has it there.
fn on_curves(cell: &StudyCell, name: &str, at: At) -> Vec<(u32, f64)> {
    let value = |record: &Record| {
        let curve = &record.result.curve;
        match at {
            At::Name(Part::End) => curve.last()?.values.get(name).copied(),
            At::Step(step) => {
                curve.iter().find(|point| point.step == step)?.values.get(name).copied()
            }
            At::Name(Part::Tail) => {
                let values: Vec<f64> =
                    curve.iter().filter_map(|point| point.values.get(name).copied()).collect();
                let tail = &values[values.len() - values.len().div_ceil(10)..];
                summarise(tail).map(|summary| summary.mean)
            }
        }
    };
    cell.records().filter_map(|record| Some((record.key.repeat, value(record)?))).collect()
}

impl Place {
    fn find(&self, context: &RenderContext<'_>) -> Result<Option<Found>, ExperimentError> {
        let Self([study, variant, method, dataset]) = self;
        find(context, &Side::new(study, variant, method), dataset)
    }
}

fn find(
    context: &RenderContext<'_>,
    side: &Side,
    dataset: &str,
) -> Result<Option<Found>, ExperimentError> {
    let study = context.cells(&side.study)?;
    let place = study.1.iter().position(|cell| {
        let key = cell.key();
        key.variant == side.variant && key.dataset == dataset && key.method == side.method
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

impl OfPrint {
    /// Refuses what would be read over.
    fn sound(self) -> Result<Self, String> {
        match self.reduce {
            Reduce::Mean | Reduce::Deviation => Ok(self),
            _ => Err("of a printed number `reduce` is mean or deviation".to_owned()),
        }
    }

    fn answer(&self, context: &RenderContext<'_>) -> Result<f64, ExperimentError> {
        let [paper, method, dataset] = self.printed.split(':').collect::<Vec<_>>()[..] else {
            return Err(form(&format!("`{}` is no PAPER:METHOD:DATASET", self.printed)));
        };
        let found = context.catalogue.published(paper)?.1.into_iter().find(|cell| {
            (cell.dataset.as_str(), cell.method.as_str()) == (dataset, method)
                && self.table.as_ref().is_none_or(|table| *table == cell.table)
                && self.metric.as_ref().is_none_or(|metric| *metric == cell.metric)
                && self.setting.iter().all(|words| cell.setting.contains(words.as_str()))
        });
        let cell =
            found.ok_or_else(|| form(&format!("{paper} prints no {method} on {dataset}")))?;
        Ok(if self.reduce == Reduce::Deviation { cell.std } else { cell.mean })
    }
}

impl Count {
    fn answer(&self, context: &RenderContext<'_>) -> Result<Option<f64>, ExperimentError> {
        // Gains of the first over the second, dataset by dataset.
        let gains = match &self.paper {
            Some(paper) => self.printed(context, paper)?,
            None => self.ours(context)?,
        };
        let counted = gains.iter().filter(|gain| match self.outcome {
            Outcome::Ahead => **gain > 0.0,
            Outcome::Behind => **gain < 0.0,
            Outcome::Compared => true,
        });
        Ok((!gains.is_empty()).then_some(counted.count() as f64))
    }

    fn ours(&self, context: &RenderContext<'_>) -> Result<Vec<f64>, ExperimentError> {
        let side = |text: &String| Side::try_from(text.clone()).map_err(|error| form(&error));
        let (first, second) = (side(&self.first)?, side(&self.second)?);
        let study = context.cells(&first.study)?;
        let mut gains = Vec::new();
        for dataset in &study.0.datasets {
            let (Some(a), Some(b)) =
                (find(context, &first, dataset)?, find(context, &second, dataset)?)
            else {
                continue;
            };
            let common = common_repeats(&[&a, &b]);
            if let (Some(ours), Some(theirs)) = (a.mean_over(&common), b.mean_over(&common)) {
                gains.push(if a.better(1.0, 0.0) { ours - theirs } else { theirs - ours });
            }
        }
        Ok(gains)
    }

    fn printed(
        &self,
        context: &RenderContext<'_>,
        paper: &str,
    ) -> Result<Vec<f64>, ExperimentError> {
        let cells = context.catalogue.published(paper)?.1;
        let gain = |ours: &crate::PublishedCell| {
            let same = |cell: &&crate::PublishedCell| {
                cell.dataset == ours.dataset && cell.method == self.second
            };
            let missing =
                || form(&format!("{paper} prints no {} on {}", self.second, ours.dataset));
            let gain = ours.mean - cells.iter().find(same).ok_or_else(missing)?.mean;
            Ok(if ours.metric == "accuracy_percent" { gain } else { -gain })
        };
        cells.iter().filter(|cell| cell.method == self.first).map(gain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Query, String> {
        toml::from_str::<BTreeMap<String, Query>>(text)
            .map(|mut all| all.remove("n").unwrap())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_query_names_what_is_wrong_with_it() {
        assert!(
            read(r#"n = { cell = "askl/table2:released:sk:segment", at = 3, value = "x" }"#)
                .is_ok()
        );
        for (text, words) in [
            (r#"n = { cell = "askl/table2:sk:segment" }"#, "STUDY:VARIANT:METHOD:DATASET"),
            (r#"n = { cell = "a:b:c:d", reduced = "mean" }"#, "unknown field `reduced`"),
            (r#"n = { of = "mean" }"#, "a number is asked of"),
            (r#"n = { cell = "a:b:c:d", minus = "a:b:c:e", value = "x" }"#, "no `value`"),
            (r#"n = { cell = "a:b:c:d", at = "end" }"#, "`at` needs a `value`"),
            (r#"n = { cell = "a:b:c:d", value = "x", reduce = "count" }"#, "counts records"),
            (r#"n = { printed = "a:B:c", reduce = "most" }"#, "mean or deviation"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn values_are_reduced_to_one_number() {
        let of = |reduce: Reduce, values: &[f64]| reduce.of(values);
        assert_eq!(of(Reduce::Mean, &[1.0, 3.0]), Some(2.0));
        assert_eq!(of(Reduce::Deviation, &[1.0, 3.0]), Some(2f64.sqrt()));
        assert_eq!(of(Reduce::Deviation, &[1.0]), None);
        assert_eq!(of(Reduce::Least, &[2.0, -1.0]), Some(-1.0));
        assert_eq!(of(Reduce::Most, &[2.0, -1.0]), Some(2.0));
        assert!((of(Reduce::GeometricMean, &[1.0, 100.0]).unwrap() - 10.0).abs() < 1e-12);
        assert_eq!(of(Reduce::Mean, &[]), None);
    }
}
