//! Where a number of a finding or a table comes from.

mod answer;

use crate::{ExperimentError, RenderContext};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

pub(crate) use answer::{Answer, spelled};

/// What a number is asked of, which value, and how that is reduced to one number.
/// The first word of each says of what: a cell, the printed numbers, how often one side is ahead, a simulation, a
/// bound, or a formula.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "toml::Table")]
pub(crate) enum Query {
    Cell(Box<OfCell>),
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
            () if has("cell") => {
                read::<OfCell>(table)?.sound().map(|own| Self::Cell(Box::new(own)))
            }
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
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct OfCell {
    /// `askl/table2:released:sk:segment`; `*` for a variant, method or dataset means all of them together.
    cell: Place,
    /// Its mean paired difference from this cell.
    minus: Option<Place>,
    /// A metric, a fact, `setting:NAME`, `seconds:PHASE`, `processor-seconds:PHASE`, `rows:train`, `rows:test`, `fits:open`, `bytes:peak`,
    /// or,
    /// with `at`, a value of its curves; without it the score, in printed units.
    value: Option<String>,
    /// What to take of records that do not have the value.
    or: Option<String>,
    /// A value of the same curves that is taken off, repeat by repeat.
    minus_value: Option<String>,
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
    /// The largest value.
    Highest,
    /// The step that has it first.
    PlaceOfHighest,
    /// How many points there are.
    Points,
    /// The passes over the rows at the last one.
    Passes,
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

impl Among {
    fn holds(&self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
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
    Median,
    Least,
    Most,
    /// How many there are.
    Count,
    /// How many of them are above 0.
    Above,
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
    /// Whether there may be none.
    #[serde(default)]
    optional: bool,
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
    /// With a `*` at its end all numbers of names that begin so.
    value: String,
    #[serde(default)]
    reduce: Reduce,
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

/// A number, a name, or what another query answers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Given {
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

/// The file of a fault of a query that does not know who asks.
pub(crate) const ASKED_BY: &str = "findings";

/// A number that is asked for in a wrong form.
pub(crate) fn form(reason: &impl std::fmt::Display) -> ExperimentError {
    ExperimentError::Form { file: ASKED_BY.to_owned(), reason: reason.to_string() }
}

impl Query {
    /// Decimals with which the answer is shown.
    pub fn digits(&self) -> usize {
        let (given, counts) = match self {
            Self::Cell(own) => (own.digits, matches!(own.reduce, Reduce::Count | Reduce::Above)),
            Self::Printed(own) => (own.digits, false),
            Self::Simulation(own) => (own.digits, false),
            Self::Formula(own) => (own.digits, false),
            Self::Count(_) => (None, true),
            Self::Bound(_) => (None, false),
        };
        given.unwrap_or(if counts { 0 } else { 2 })
    }

    /// Whether records stand behind it.
    pub fn is_of_records(&self) -> bool {
        match self {
            Self::Cell(_) | Self::Count(Count { paper: None, .. }) | Self::Simulation(_) => true,
            Self::Printed(_) | Self::Count(_) => false,
            Self::Bound(own) | Self::Formula(own) => own.inputs.values().any(|given| match given {
                Given::Asked(query) => query.is_of_records(),
                Given::Number(_) | Given::Name(_) => false,
            }),
        }
    }
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
            _ if self.minus_value.is_some() && self.at.is_none() => {
                refused("`minus-value` is of curves: it needs `at`")
            }
            Reduce::Count if self.value.is_some() => {
                refused("`reduce = \"count\"` counts records: no `value`")
            }
            _ => Ok(self),
        }
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
}
