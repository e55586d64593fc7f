//! A table of numbers that queries answer: rows over what varies, a query a column.

use crate::comparison::{PublishedComparison, shown};
use crate::pairs::{Side, not_run_yet};
use crate::query::{Answer, Given, Query, form, spelled};
use crate::rendered::Head;
use crate::template::{Axis, Names, filled, filled_in, product, query};
use crate::{ExperimentError, RenderContext};
use mercer_render::{Cell, Column, Kind, Row, Table, number};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Value;

/// One table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Facts {
    /// The end of its id, where the artefact shows more than this.
    pub name: Option<String>,
    /// In place of the artefact's.
    title: Option<String>,
    /// In place of the artefact's.
    caption: Option<String>,
    /// What the rows are of.
    rows: Vec<Axis>,
    /// The section of a row.
    section: Option<String>,
    /// The cell that is asked where a column names none; its title is `{label}`.
    cell: Option<String>,
    /// A cell without whose records there is no row.
    needs: Option<String>,
    /// What stands for a number that is not there.
    #[serde(default = "dash")]
    missing: String,
    columns: Columns,
    /// Studies whose variants are explained below the table.
    #[serde(default)]
    explains: Vec<String>,
    /// Lines below the table, with these numbers in braces.
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    numbers: BTreeMap<String, Query>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Vec<toml::Table>")]
struct Columns(Vec<FactColumn>);

/// A column: a text, or a number and how it is shown.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct FactColumn {
    head: String,
    under: Option<String>,
    /// No number.
    text: Option<String>,
    /// The verdict on a printed number, `PAPER:METHOD:DATASET`, in place of a number.
    judged_by: Option<String>,
    /// A number, a text or a query, in place of the fields of a query here.
    number: Option<Value>,
    /// The text of a cell: `{value}`, `{mean}±{deviation}`, or what else an [`Answer`] has; `{value:e}` is a power of
    /// ten, `{value:+}` has its sign, `{value:g}` all digits.
    #[serde(default = "value")]
    show: String,
    digits: Option<usize>,
    /// In small below it.
    detail: Option<String>,
    /// A word beside it, where all further numbers are above 0.
    badge: Option<String>,
    /// Further numbers for these texts, by their names.
    #[serde(default)]
    with: BTreeMap<String, toml::Table>,
    /// Whether it says how many repeats there are, of those planned.
    #[serde(default)]
    repeats: bool,
    /// Bold where the number, or this further one, is above so much.
    bold_above: Option<f64>,
    bold_of: Option<String>,
    /// In place of that of the table.
    missing: Option<String>,
    /// The fields of its query.
    #[serde(flatten)]
    query: toml::Table,
}

fn dash() -> String {
    "-".to_owned()
}

fn value() -> String {
    "{value}".to_owned()
}

impl TryFrom<Vec<toml::Table>> for Columns {
    type Error = String;

    /// One with `each` is a column for each of these names.
    fn try_from(tables: Vec<toml::Table>) -> Result<Self, String> {
        let mut all = Vec::new();
        for mut table in tables {
            let each = match table.remove("each") {
                Some(each) => each.try_into::<Vec<Names>>().map_err(|error| error.to_string())?,
                None => vec![Names::new()],
            };
            for names in each {
                let own = filled_in(&Value::Table(table.clone()), &names);
                all.push(own.try_into().map_err(|error| error.to_string())?);
            }
        }
        Ok(Self(all))
    }
}

/// What is known of a row.
struct Known<'a> {
    names: Names,
    cell: Option<String>,
    missing: &'a str,
}

impl Facts {
    /// The table.
    ///
    /// # Errors
    /// If a column asks for what is not there.
    pub(crate) fn render(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
    ) -> Result<Table, ExperimentError> {
        self.table(context, artefact).map_err(|error| artefact.in_file(error))
    }

    fn table(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
    ) -> Result<Table, ExperimentError> {
        let columns = &self.columns.0;
        let own =
            artefact.with(self.name.as_deref(), self.title.as_deref(), self.caption.as_deref());
        let mut table = Table::new(own.id, own.title)
            .caption(own.caption)
            .columns(columns.iter().map(FactColumn::head));
        let mut sides = Vec::new();
        for names in product(context, &self.rows, &Names::new())? {
            let Some(known) = self.known(context, names)? else { continue };
            let cells: Vec<Shown> = columns
                .iter()
                .map(|column| column.shown(context, artefact, &known, &mut sides))
                .collect::<Result<_, _>>()?;
            // A row without a number says nothing that the note below does not.
            let of_records = || cells.iter().filter_map(|shown| shown.of_records);
            if of_records().count() > 0 && !of_records().any(|there| there) {
                continue;
            }
            let section = self.section.as_ref().map(|section| filled(section, &known.names));
            let row = Row::new(cells.into_iter().map(|shown| shown.cell));
            table = table.row(section.into_iter().fold(row, Row::under));
        }
        if let Some(note) = not_run_yet(context, sides.iter())? {
            table = table.note(note);
        } else if table.rows.is_empty() {
            table = table.note(format!("Not run yet: mercer reproduce {}", artefact.id));
        }
        for study in &self.explains {
            for variant in &context.cells(study)?.0.variants {
                let study =
                    if self.explains.len() > 1 { format!("{study}, ") } else { String::new() };
                table = table.note(format!("{study}{}: {}.", variant.name, variant.summary));
            }
        }
        for note in &self.notes {
            table = table.note(spelled(note, &self.numbers, context)?);
        }
        Ok(table)
    }

    /// None where what the row needs has no record.
    fn known(
        &self,
        context: &RenderContext<'_>,
        mut names: Names,
    ) -> Result<Option<Known<'_>>, ExperimentError> {
        if let Some(needs) = &self.needs {
            let cell = Query::cell(context, &filled(needs, &names))?;
            if cell.is_none_or(|cell| cell.records().next().is_none()) {
                return Ok(None);
            }
        }
        let method = names.get("method").and_then(Value::as_str);
        let method = method.and_then(|name| mercer_learning::find(context.methods, name).ok());
        if let Some(method) = method {
            let (fit, predict) = (method.cost.fit, method.cost.predict);
            let said = [
                ("title", method.title),
                ("fit", fit),
                ("predict", predict),
                ("cites", method.cites),
            ];
            let said = said.map(|(name, text)| (name.to_owned(), Value::from(text)));
            names = said.into_iter().chain(names).collect();
        }
        let cell = self.cell.as_ref().map(|cell| filled(cell, &names));
        if let Some(found) =
            cell.as_ref().map(|cell| Query::cell(context, cell)).transpose()?.flatten()
        {
            names.insert("label".to_owned(), found.label().into());
        }
        Ok(Some(Known { names, cell, missing: &self.missing }))
    }
}

/// A cell, and whether it has records, where it is of some.
struct Shown {
    cell: Cell,
    of_records: Option<bool>,
}

impl FactColumn {
    fn head(&self) -> Column {
        let left = self.text.is_some();
        let column = if left { Column::left(&self.head) } else { Column::right(&self.head) };
        self.under.iter().fold(column, Column::under)
    }

    fn shown(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
        known: &Known<'_>,
        sides: &mut Vec<Side>,
    ) -> Result<Shown, ExperimentError> {
        let plain = |text: String| Shown { cell: Cell::text(text), of_records: None };
        if let Some(text) = &self.text {
            return Ok(plain(filled(text, &known.names)));
        }
        if let Some(printed) = &self.judged_by {
            let cell = self.judged(context, artefact, known, printed)?;
            return Ok(Shown { cell, of_records: None });
        }
        let asked = match self.given(known)? {
            Given::Number(value) => {
                return Ok(Shown {
                    cell: self.say(known, &Answer::from(value), &BTreeMap::new()),
                    of_records: None,
                });
            }
            Given::Name(text) => return Ok(plain(text)),
            Given::Asked(query) => query,
        };
        asked.sides(sides);
        let found = asked.found(context)?;
        let of_records = asked.is_of_records().then_some(found.is_some());
        let Some(answer) = found else {
            let missing = self.missing.as_deref().unwrap_or(known.missing);
            return Ok(Shown { cell: Cell::text(missing), of_records });
        };
        let mut with = BTreeMap::new();
        for (name, template) in &self.with {
            let asked = ask(template, known)?;
            if let Some(value) = asked.answer(context)? {
                with.insert(name.as_str(), (value, asked.digits()));
            }
        }
        Ok(Shown { cell: self.say(known, &answer, &with), of_records })
    }

    /// The verdict on a printed number, and the finding that explains it; empty where none is printed.
    fn judged(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
        known: &Known<'_>,
        printed: &str,
    ) -> Result<Cell, ExperimentError> {
        let printed = filled(printed, &known.names);
        let [paper, method, dataset] = printed.split(':').collect::<Vec<_>>()[..] else {
            return Err(form(&format!("`{printed}` is no PAPER:METHOD:DATASET")));
        };
        let all = context.catalogue.all_printed(paper)?;
        let theirs = all.iter().find(|cell| cell.method == method && cell.dataset == dataset);
        let Given::Asked(asked) = self.given(known)? else { return Ok(Cell::text("")) };
        let (Some(theirs), Some(cell), Some(answer)) =
            (theirs, asked.first_cell(context)?, asked.found(context)?)
        else {
            return Ok(Cell::text(""));
        };
        let judged = PublishedComparison {
            artefact: artefact.id,
            cell: &cell,
            label: format!("{method}, {dataset}"),
            metric: cell.metric().name(),
            values: answer.values,
            theirs: Some(theirs),
            scale: 1.0,
            repeats: context.catalogue.published(paper)?.0,
        };
        Ok(shown(Cell::text(""), &judged.report(context)?))
    }

    fn given(&self, known: &Known<'_>) -> Result<Given, ExperimentError> {
        match self.number.as_ref().map(|number| filled_in(number, &known.names)) {
            Some(Value::Table(table)) => Ok(Given::Asked(Box::new(ask(&table, known)?))),
            Some(number) => number.try_into().map_err(|error| form(&error)),
            None => Ok(Given::Asked(Box::new(ask(&self.query, known)?))),
        }
    }

    fn say(&self, known: &Known<'_>, answer: &Answer, with: &With<'_>) -> Cell {
        let digits = self.digits;
        let missing = self.missing.as_deref().unwrap_or(known.missing);
        let say = |text: &String| said(&filled(text, &known.names), answer, with, digits, missing);
        let mut cell = Cell::text(say(&self.show));
        cell.sort = sorted_by(&self.show, answer).filter(|value| value.is_finite());
        cell.detail = self.detail.as_ref().map(say);
        if self.repeats {
            cell = cell.repeats(said(REPEATS, answer, with, digits, missing));
        }
        let decides = self
            .bold_of
            .as_ref()
            .map_or(Some(answer.value), |name| with.get(name.as_str()).map(|(value, _)| *value));
        let above = |limit| decides.is_some_and(|value| value > limit);
        cell.bold = self.bold_above.is_some_and(above);
        let positive = with.values().all(|(value, _)| *value > 0.0);
        match self.badge.as_ref().filter(|_| positive) {
            Some(badge) => cell.badge(say(badge), Kind::Muted),
            None => cell,
        }
    }
}

/// Further numbers, each with its digits.
type With<'a> = BTreeMap<&'a str, (f64, usize)>;

const REPEATS: &str = "{count}/{planned}";

fn ask(template: &toml::Table, known: &Known<'_>) -> Result<Query, ExperimentError> {
    let read = query(template, &known.names, known.cell.as_deref());
    read.map_err(|reason| form(&reason))
}

/// The number behind the first name of a text, where there is one; counts and intervals have no order of their own.
fn sorted_by(text: &str, answer: &Answer) -> Option<f64> {
    let name = text.split_once('{')?.1.split(['}', ':']).next()?;
    match name {
        "value" => Some(answer.value),
        "count" | "low" => None,
        other => answer.numbers.get(other).copied(),
    }
}

/// A text with its numbers. What is not finite goes with the sign before it: one repeat has no deviation.
fn said(
    text: &str,
    answer: &Answer,
    with: &With<'_>,
    digits: Option<usize>,
    missing: &str,
) -> String {
    let mut parts = text.split('{');
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (hole, rest) = part.split_once('}').unwrap_or((part, ""));
        let (name, style) = hole.split_once(':').unwrap_or((hole, ""));
        let value = match name {
            "value" => Some((answer.value, digits)),
            "count" | "planned" => answer.numbers.get(name).map(|value| (*value, Some(0))),
            other => answer.numbers.get(other).map(|value| (*value, digits)),
        };
        let value = value.or_else(|| with.get(name).map(|(value, digits)| (*value, Some(*digits))));
        match (answer.words.get(name), value) {
            (Some(word), _) => said.push_str(word),
            (None, Some((value, digits))) if value.is_finite() => {
                said.push_str(&styled(value, style, digits));
            }
            (None, Some(_)) if said.trim_end().ends_with('±') => {
                said = said.trim_end().trim_end_matches('±').trim_end().to_owned();
            }
            _ => said.push_str(missing),
        }
        said.push_str(rest);
    }
    said
}

fn styled(value: f64, style: &str, digits: Option<usize>) -> String {
    match (style, digits) {
        ("e", _) if value == 0.0 => "0".to_owned(),
        ("e", Some(digits)) => format!("{value:.digits$e}"),
        ("e", None) => format!("{value:e}"),
        ("+", digits) => format!("{value:+.0$}", digits.unwrap_or(2)),
        ("g", _) => short(value),
        (_, digits) => number(value, digits.unwrap_or(2)),
    }
}

/// `2000`, `0.05`, `1e-3`: small numbers are shorter with an exponent.
fn short(value: f64) -> String {
    let (plain, scientific) = (format!("{value}"), format!("{value:e}"));
    if value < 1.0 && scientific.len() < plain.len() { scientific } else { plain }
}
