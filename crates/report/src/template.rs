//! Names in braces, and what they stand for in one row of a table or one line of a figure.

use crate::query::Query;
use crate::{ExperimentError, RenderContext, StudyCell};
use mercer_records::CurvePoint;
use serde::Deserialize;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Names with what they stand for.
pub(crate) type Names = Table;

/// What a row, a panel or a line is there for, each: the first of these axes varies slowest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Table")]
pub(crate) enum Axis {
    /// These: a table of names each, or, of one name, its values.
    Each(Vec<Names>),
    /// Each `dataset` of a study.
    Datasets(String),
    /// Each `variant` of a study.
    Variants(String),
    /// Each cell of a study: its `variant`, `dataset` and `method`.
    Cells(String),
    /// Each `step` at which the curves of a cell have points.
    Steps(String),
}

impl TryFrom<Table> for Axis {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let mut entries = table.into_iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else {
            return Err("rows vary in one thing: `datasets`, `variants`, `cells`, `steps`, `each` or a name with its values".to_owned());
        };
        match (name.as_str(), value) {
            ("datasets", Value::String(study)) => Ok(Self::Datasets(study)),
            ("variants", Value::String(study)) => Ok(Self::Variants(study)),
            ("cells", Value::String(study)) => Ok(Self::Cells(study)),
            ("steps", Value::String(cell)) => Ok(Self::Steps(cell)),
            ("each", Value::Array(all)) => {
                let names = all.into_iter().map(|value| match value {
                    Value::Table(names) => Ok(names),
                    other => Err(format!("`each` has tables of names, and no {other}")),
                });
                Ok(Self::Each(names.collect::<Result<_, _>>()?))
            }
            (_, Value::Array(all)) => {
                let named = |value| Names::from_iter([(name.clone(), value)]);
                Ok(Self::Each(all.into_iter().map(named).collect()))
            }
            (_, other) => Err(format!("`{name}` is a list of values, and not {other}")),
        }
    }
}

impl Axis {
    /// What varies, with what is known so far.
    fn names(
        &self,
        context: &RenderContext<'_>,
        known: &Names,
    ) -> Result<Vec<Names>, ExperimentError> {
        let named = |name: &str, value: Value| Names::from_iter([(name.to_owned(), value)]);
        Ok(match self {
            Self::Each(all) => all.clone(),
            Self::Datasets(study) => {
                let study = context.cells(&filled(study, known))?;
                let datasets = study.0.datasets.clone().into_iter();
                datasets.map(|dataset| named("dataset", dataset.into())).collect()
            }
            Self::Variants(study) => {
                let study = context.cells(&filled(study, known))?;
                let variants = study.0.variants.iter();
                variants.map(|variant| named("variant", variant.name.clone().into())).collect()
            }
            Self::Cells(study) => {
                let study = context.cells(&filled(study, known))?;
                let of = |cell: &StudyCell| {
                    let key = cell.key();
                    let (variant, dataset) = (key.variant.clone(), key.dataset.clone());
                    let method = key.method.clone();
                    let all = [("variant", variant), ("dataset", dataset), ("method", method)];
                    all.map(|(name, value)| (name.to_owned(), value.into())).into_iter().collect()
                };
                study.1.iter().map(of).collect()
            }
            Self::Steps(cell) => {
                let points = curve_points(context, &filled(cell, known))?;
                let steps: BTreeSet<u64> = points.iter().map(|point| point.step).collect();
                steps.into_iter().map(|step| named("step", (step as i64).into())).collect()
            }
        })
    }
}

/// All points of the curves of a cell, STUDY:VARIANT:METHOD:DATASET.
pub(crate) fn curve_points(
    context: &RenderContext<'_>,
    place: &str,
) -> Result<Vec<CurvePoint>, ExperimentError> {
    let cell = Query::cell(context, place)?;
    let records = cell.iter().flat_map(|cell| cell.records());
    Ok(records.flat_map(|record| record.result.curve.iter().cloned()).collect())
}

/// All that some axes name together, the first varying slowest.
pub(crate) fn product(
    context: &RenderContext<'_>,
    axes: &[Axis],
    known: &Names,
) -> Result<Vec<Names>, ExperimentError> {
    let mut all = vec![known.clone()];
    for axis in axes {
        let mut longer = Vec::new();
        for names in all {
            for more in axis.names(context, &names)? {
                longer.push(names.clone().into_iter().chain(more).collect());
            }
        }
        all = longer;
    }
    Ok(all)
}

/// A text with each name in braces replaced by what it stands for, in which there may be names again.
pub(crate) fn filled(text: &str, names: &Names) -> String {
    names.iter().chain(names).fold(text.to_owned(), |text, (name, value)| {
        let said = match value {
            Value::String(said) => said.clone(),
            other => other.to_string(),
        };
        text.replace(&format!("{{{name}}}"), &said)
    })
}

/// The same in every text of a value; a text that is one name becomes what it stands for.
pub(crate) fn filled_in(value: &Value, names: &Names) -> Value {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            let found = name.and_then(|name| names.get(name));
            found.map_or_else(|| filled(text, names).into(), |found| filled_in(found, names))
        }
        Value::Array(all) => {
            Value::Array(all.iter().map(|value| filled_in(value, names)).collect())
        }
        Value::Table(table) => Value::Table(filled_table(table, names)),
        other => other.clone(),
    }
}

fn filled_table(table: &Table, names: &Names) -> Table {
    table.iter().map(|(key, value)| (key.clone(), filled_in(value, names))).collect()
}

/// What a number may be asked of.
const ASKED: [&str; 6] = ["cell", "printed", "count", "simulation", "bound", "formula"];

/// The query of a template: one that names nothing that it is asked of, and those in the inputs of a formula that
/// name nothing, are asked of `cell`.
pub(crate) fn query(template: &Table, names: &Names, cell: Option<&str>) -> Result<Query, String> {
    let table = of_cell(filled_table(template, names), cell);
    match table.values().find_map(unnamed) {
        Some(name) => Err(format!("`{name}` stands for nothing here: name it under `rows`")),
        None => Query::try_from(table),
    }
}

/// A name in braces that was not replaced.
fn unnamed(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => text.contains('{').then_some(text),
        Value::Array(all) => all.iter().find_map(unnamed),
        Value::Table(table) => table.values().find_map(unnamed),
        _ => None,
    }
}

fn of_cell(mut table: Table, cell: Option<&str>) -> Table {
    if let Some(Value::Table(inputs)) = table.get_mut("inputs") {
        for (_, input) in inputs.iter_mut() {
            if let Value::Table(own) = input {
                *own = of_cell(std::mem::take(own), cell);
            }
        }
    }
    let asked = ASKED.iter().any(|name| table.contains_key(*name));
    if let (false, Some(cell)) = (asked, cell) {
        table.insert("cell".to_owned(), cell.into());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Names {
        text.parse().unwrap()
    }

    #[test]
    fn a_text_that_is_one_name_becomes_what_it_stands_for() {
        let names = names("dataset = 'wine'\nstep = 28");
        assert_eq!(filled_in(&"{step}".into(), &names), Value::Integer(28));
        assert_eq!(filled("{dataset} at {step}, {other}", &names), "wine at 28, {other}");
    }

    #[test]
    fn a_query_is_asked_of_the_cell_of_its_row() {
        let names = names("method = 'a'");
        let read = |text: &str, cell| query(&text.parse().unwrap(), &names, cell);
        let of_cell = read("value = 'loss'", Some("s:v:a:d")).unwrap();
        assert_eq!(of_cell, read("value = 'loss'\ncell = 's:v:{method}:d'", None).unwrap());
        let root = "formula = 'root'\ninputs = { of = { value = 'loss' } }";
        assert!(read(root, Some("s:v:a:d")).is_ok());
        let error = read("cell = 's:{variant}:a:d'", None).unwrap_err();
        assert!(error.contains("{variant}") && error.contains("stands for nothing"), "{error}");
    }

    #[test]
    fn an_axis_has_one_name() {
        let read = |text: &str| Axis::try_from(text.parse::<Table>().unwrap());
        assert!(matches!(read("method = ['a', 'b']"), Ok(Axis::Each(all)) if all.len() == 2));
        assert!(matches!(read("datasets = 'toy/table1'"), Ok(Axis::Datasets(_))));
        for (text, words) in [
            ("method = ['a']\nvariant = ['b']", "one thing"),
            ("method = 'a'", "a list of values"),
            ("each = ['a']", "tables of names"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
