use super::survey::DASHES;
use super::{
    Categories, Holds, InputColumn, Numbering, Schema, TargetColumnKept, Truth, Truths, has_head,
    near_column, shown, some_of, typed,
};
use crate::rows::{Field, Row, RowFile, RowFormat};
use crate::table::label_name;
use crate::{DataError, Kind};
use mercer_learning::counted;
use ndarray::Array2;
use std::collections::{BTreeMap, HashSet};

/// A row that a schema has read.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, survey};
/// let text = "size,colour,kind\n1.5,red,a\n,blue,b\n2,red,a\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let mut rows = schema.read(&file)?;
/// let row = rows.next(true)?.unwrap();
/// assert_eq!((row.line, row.numbers), (2, [1.5, 0.0, 1.0].as_slice())); // size, blue, red
/// let row = rows.next(true)?.unwrap();
/// assert!(row.numbers[0].is_nan() && row.numbers[1..] == [1.0, 0.0]); // a size is missing
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadRow<'a> {
    /// Where it begins in the file.
    pub line: usize,
    /// Its `d` numbers, NaN where one is missing.
    pub numbers: &'a [f64],
    /// Its target.
    pub truth: Option<Truth>,
}

/// Numbers for which room is made before any is read.
const ROOM: usize = 1 << 16;

/// One pass over a file whose columns a schema knows.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, Truths, survey};
/// let file = RowFile::spooled(&b"x,kind\n1,a\n2,b\n3,a\n"[..], "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let mut rows = schema.read(&file)?;
/// let (inputs, truths, lines) = rows.chunk(2, true)?;
/// assert_eq!((inputs.dim(), truths, lines), ((2, 1), Truths::Classes(vec![0, 1]), vec![2, 3]));
/// assert_eq!(rows.chunk(2, true)?.2, [4]); // what is left
/// let unlabelled = RowFile::spooled(&b"x\n7\n"[..], "new", None)?;
/// assert!(rows.has_target() && !schema.read(&unlabelled)?.has_target());
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug)]
pub struct Reading<'a> {
    schema: &'a Schema,
    file: &'a RowFile,
    rows: crate::rows::Rows<'a>,
    /// Where each input column stands in this file, and where the target does, if it is there.
    places: Vec<usize>,
    target: Option<usize>,
    /// Level to number, by column.
    levels: Vec<BTreeMap<&'a str, usize>>,
    labels: BTreeMap<&'a str, u32>,
    /// The names in the first row have still to be skipped.
    skip: bool,
    /// No row was read yet.
    fresh: bool,
    row: Vec<f64>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(schema: &'a Schema, file: &'a RowFile) -> Result<Self, DataError> {
        let wrong = |problem: String| DataError::format(file.name(), problem);
        let sparse = file.format() == RowFormat::Svmlight;
        if sparse != schema.sparse {
            let (is, was) = if sparse { ("svmlight", "a table") } else { ("a table", "svmlight") };
            return Err(wrong(format!(
                "is {is}, but the model was fitted on {was}; write the rows as those of the fit, or fit \
                 again"
            )));
        }
        let levels = schema.columns.iter().map(|column| match &column.content {
            Holds::Numbers => BTreeMap::new(),
            Holds::Categories { levels, .. } => {
                levels.iter().enumerate().map(|(at, level)| (level.as_str(), at)).collect()
            }
        });
        let labels = schema.target.labels.iter().enumerate();
        let mut reading = Self {
            schema,
            file,
            rows: file.rows()?,
            places: schema.columns.iter().map(|column| column.position).collect(),
            target: Some(schema.target.position),
            levels: levels.collect(),
            labels: labels.map(|(at, label)| (label.as_str(), at as u32)).collect(),
            skip: schema.named && matches!(file.format(), RowFormat::Text(_)),
            fresh: true,
            row: vec![0.0; schema.width()],
        };
        if sparse {
            hold_numbering(schema, file)?;
        } else {
            reading.find_columns()?;
            let wanted: Vec<usize> = reading.places.iter().copied().chain(reading.target).collect();
            reading.rows.only(&wanted)?;
        }
        Ok(reading)
    }

    /// Compares the header, or the number of fields, with the schema.
    fn find_columns(&mut self) -> Result<(), DataError> {
        let wrong = |problem: String| DataError::format(self.file.name(), problem);
        let mut first = self.file.rows()?;
        let names: Vec<String> = if let Some(names) = first.names() {
            names.to_vec()
        } else {
            let Some((_, Row::Fields(fields))) = first.next()? else {
                return Err(wrong("holds no rows".to_owned()));
            };
            (0..fields.len()).map(|at| fields.field(at).text()).collect()
        };
        let schema = self.schema;
        let expected = Expected::of(schema);
        let places =
            if schema.named { expected.by_name(&names) } else { expected.by_count(names.len()) };
        let Some(places) = places else {
            let text = matches!(self.file.format(), RowFormat::Text(_));
            return Err(wrong(expected.difference(&names, schema.named, text)));
        };
        self.target = places.get(&schema.target.position).copied();
        self.places = schema.columns.iter().map(|column| places[&column.position]).collect();
        Ok(())
    }

    /// Whether the file has the target.
    pub const fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// The next row; its target is `None` where the file has none, or where it is asked not to be
    /// looked at.
    ///
    /// # Errors
    /// What breaks the format; text where a number is due; a category or class that was not seen
    /// at fit time; a missing target.
    pub fn next(&mut self, with_target: bool) -> Result<Option<ReadRow<'_>>, DataError> {
        if std::mem::take(&mut self.skip) {
            self.rows.next()?;
        }
        let fresh = std::mem::take(&mut self.fresh);
        let Self { schema, file, rows, places, target, levels, labels, row, .. } = self;
        let Some((line, found)) = rows.next()? else { return Ok(None) };
        let name = file.name();
        let wrong = |problem: String| {
            let hint = if fresh && !schema.named && !schema.sparse {
                "; or, if the first row names the columns, take it away: the model knows none"
            } else {
                ""
            };
            DataError::line(name, line, problem + hint)
        };
        let told = match found {
            Row::Sparse { target, entries } => {
                sparse_row(schema, entries, row).map_err(wrong)?;
                with_target.then(|| (label_name(target), Some(target)))
            }
            Row::Fields(fields) => {
                let mut to = 0;
                for ((column, &at), levels) in schema.columns.iter().zip(&*places).zip(&*levels) {
                    let cells = &mut row[to..to + column.width()];
                    read_field(column, fields.field(at), levels, cells).map_err(wrong)?;
                    to += column.width();
                }
                target.filter(|_| with_target).map(|at| {
                    let field = fields.raw(at);
                    (field.text(), field.number())
                })
            }
        };
        let truth = told
            .map(|(text, number)| read_truth(&schema.target, labels, &text, number))
            .transpose()
            .map_err(wrong)?;
        Ok(Some(ReadRow { line, numbers: row, truth }))
    }

    /// Up to `most` further rows, `n × d`, with their targets if they are wanted.
    ///
    /// # Errors
    /// As [`Reading::next`].
    ///
    /// # Panics
    /// Never: every row has `d` numbers.
    pub fn chunk(
        &mut self,
        most: usize,
        with_target: bool,
    ) -> Result<(Array2<f64>, Truths, Vec<usize>), DataError> {
        let width = self.row.len();
        // A file may have fewer rows than are asked for.
        let rows = most.min(ROOM / width.max(1));
        let (mut numbers, mut lines) = (Vec::with_capacity(rows * width), Vec::with_capacity(rows));
        let mut truths = Truths::none(self.schema.target.kind);
        while lines.len() < most {
            let Some(row) = self.next(with_target)? else { break };
            numbers.extend_from_slice(row.numbers);
            lines.push(row.line);
            if let Some(truth) = row.truth {
                truths.push(truth);
            }
        }
        let inputs = Array2::from_shape_vec((lines.len(), width), numbers);
        Ok((inputs.expect("every row has d numbers"), truths, lines))
    }
}

/// How unlikely it must be that a file numbered from 0 has no column 0, to be refused.
const UNLIKELY: f64 = 1e-3;

/// Refuses a file without a column 0 for a model whose columns are numbered from 0, where the rows of the
/// fit had one so often that this is no accident, and says so elsewhere.
fn hold_numbering(schema: &Schema, file: &RowFile) -> Result<(), DataError> {
    if schema.columns[0].position > 0 {
        // A column 0 is refused in its row.
        return Ok(());
    }
    let (mut rows, mut count) = (file.rows()?, 0u32);
    while let Some((_, row)) = rows.next()? {
        let Row::Sparse { entries, .. } = row else { continue };
        if entries.first().is_some_and(|&(column, _)| column == 0) {
            return Ok(());
        }
        count = count.saturating_add(1);
    }
    if count == 0 {
        return Ok(());
    }
    // By Laplace's rule of succession.
    let absent = |n: &Numbering| (n.rows - n.present + 1) as f64 / (n.rows + 2) as f64;
    if let Some(Numbering { present, rows, .. }) =
        schema.numbering.filter(|n| absent(n).powf(f64::from(count)) < UNLIKELY)
    {
        let problem = format!(
            "has no column 0 in its {}, but {present} of the {rows} rows that the model was fitted to \
             have one: its columns seem to be numbered from 1, which would shift them all; \
             number them from 0, or write 0:0 in its first row if they are",
            counted(count as usize, "row", "rows")
        );
        return Err(DataError::format(file.name(), problem));
    }
    tracing::warn!(
        "{}: no row has column 0, from which the model's columns are numbered; if these are numbered \
         from 1, all are shifted by one",
        file.name()
    );
    Ok(())
}

/// Lays out the columns of an svmlight row that are not 0.
fn sparse_row(schema: &Schema, entries: &[(u32, f64)], row: &mut [f64]) -> Result<(), String> {
    row.fill(0.0);
    let base = schema.columns[0].position as u32;
    for &(column, value) in entries {
        let at = column.checked_sub(base).map(|at| at as usize).filter(|&at| at < row.len());
        let Some(at) = at else {
            let last = base + row.len() as u32 - 1;
            let hint = match (base, column) {
                (1, 0) => "; number the columns from 1, or fit to rows that are numbered from 0",
                (0, column) if column == last + 1 => "; number the columns from 0, as at fit time",
                _ => "",
            };
            return Err(format!("has column {column}, but the model knows {base} to {last}{hint}"));
        };
        row[at] = value;
    }
    Ok(())
}

/// Writes the numbers that a field becomes, NaN where it is missing.
fn read_field(
    column: &InputColumn,
    field: Field<'_>,
    known: &BTreeMap<&str, usize>,
    cells: &mut [f64],
) -> Result<(), String> {
    let name = &column.name;
    if field == Field::Missing {
        cells.fill(f64::NAN);
        return Ok(());
    }
    match &column.content {
        Holds::Numbers => {
            cells[0] = match field.number() {
                Some(value) => value,
                None if DASHES.contains(&field.text().as_str()) => f64::NAN,
                None => {
                    return Err(format!(
                        "`{}` in column `{name}` is not a finite number; mend it, or leave it empty if \
                         it is missing",
                        shown(&field.text())
                    ));
                }
            };
        }
        Holds::Categories { encoding, levels } => {
            let text = field.text();
            let level = *known.get(text.as_str()).ok_or_else(|| {
                format!(
                    "category `{}` in column `{name}` was not seen at fit time; seen were {}; fit with rows \
                     that have it, or without the column (--drop {})",
                    shown(&text),
                    some_of(levels),
                    typed(name)
                )
            })?;
            match encoding {
                Categories::Ordinal => cells[0] = level as f64,
                Categories::OneHot => {
                    cells.fill(0.0);
                    cells[level] = 1.0;
                }
            }
        }
    }
    Ok(())
}

fn read_truth(
    target: &TargetColumnKept,
    labels: &BTreeMap<&str, u32>,
    text: &str,
    number: Option<f64>,
) -> Result<Truth, String> {
    let name = &target.name;
    if text.is_empty() {
        return Err(format!("the target (column `{name}`) is missing; remove the row"));
    }
    if target.kind == Kind::Regression {
        let problem = || {
            let text = shown(text);
            format!(
                "the target `{text}` (column `{name}`) is not a finite number; mend it, or remove the row"
            )
        };
        return number.map(Truth::Value).ok_or_else(problem);
    }
    // By its spelling: `1` and `01` are two classes.
    labels.get(text).copied().map(Truth::Class).ok_or_else(|| {
        let seen = some_of(&target.labels);
        format!(
            "class `{}` was not seen at fit time; seen were {seen}; mend it, or fit with rows that have it",
            shown(text)
        )
    })
}

/// A column that a file may have.
#[derive(Clone, Copy)]
struct ExpectedColumn<'a> {
    position: usize,
    name: &'a str,
    /// Whether it is an input: the target, and what was left out, may be absent.
    needed: bool,
}

/// All columns of the file at fit time, left to right.
struct Expected<'a> {
    columns: Vec<ExpectedColumn<'a>>,
    target: usize,
}

impl<'a> Expected<'a> {
    fn of(schema: &'a Schema) -> Self {
        let target = (schema.target.position, schema.target.name.as_str());
        let dropped = schema.dropped.iter().map(|(position, name)| (*position, name.as_str()));
        let may = dropped.chain([target]);
        let may = may.map(|(position, name)| ExpectedColumn { position, name, needed: false });
        let must = schema.columns.iter();
        let must = must.map(|InputColumn { position, name, .. }| ExpectedColumn {
            position: *position,
            name,
            needed: true,
        });
        let mut columns: Vec<ExpectedColumn<'a>> = must.chain(may).collect();
        columns.sort_unstable_by_key(|column| column.position);
        Self { columns, target: schema.target.position }
    }

    /// Where each column stands among columns of these names, by its position at fit time; `None` if
    /// an input is absent, or a column is unknown or out of order.
    fn by_name(&self, names: &[String]) -> Option<BTreeMap<usize, usize>> {
        let mut left = self.columns.iter();
        let mut places = BTreeMap::new();
        for (at, head) in names.iter().enumerate() {
            let found = left.by_ref().find_map(|column| {
                let here = has_head(column.position, column.name, head);
                (here || column.needed).then_some((column, here))
            });
            let (column, true) = found? else { return None };
            places.insert(column.position, at);
        }
        left.all(|column| !column.needed).then_some(places)
    }

    /// The same where columns have no names, of a file with `count`: all that there were, all but the
    /// target, the inputs alone, or the inputs and the target if that can be told apart.
    fn by_count(&self, count: usize) -> Option<BTreeMap<usize, usize>> {
        let all = self.columns.len();
        let inputs = self.columns.iter().filter(|column| column.needed).count();
        let here = |column: &&ExpectedColumn<'_>| {
            let target = column.position == self.target;
            if count == all {
                true
            } else if count + 1 == all {
                !target
            } else {
                column.needed || target && count == inputs + 1
            }
        };
        let places: BTreeMap<usize, usize> =
            self.columns.iter().filter(here).map(|column| column.position).zip(0..).collect();
        (places.len() == count).then_some(places)
    }

    /// Why the columns of a file are not these, and what would make them so.
    fn difference(&self, found: &[String], named: bool, text: bool) -> String {
        let all = self.columns.len();
        let counts = || {
            let separator = if found.len() == 1 && text {
                "; is the separator right? (--format csv, semicolon or tsv)"
            } else {
                "; give it the columns of the fit, in their order"
            };
            format!(
                "has {}, but the model was fitted on {} ({all} with the target){separator}",
                counted(found.len(), "column", "columns"),
                all - 1,
            )
        };
        if !named {
            return counts();
        }
        // By sets: there may be as many as a file has columns.
        let heads: HashSet<&str> = found.iter().map(String::as_str).collect();
        if heads.len() < found.len() {
            let mut seen = HashSet::new();
            if let Some(twice) = found.iter().find(|head| !seen.insert(*head) && !head.is_empty()) {
                return format!("has two columns called `{twice}`; remove one, or rename it");
            }
        }
        let nameless = heads.contains("");
        let there = |column: &ExpectedColumn<'_>| {
            heads.contains(column.name) || nameless && has_head(column.position, column.name, "")
        };
        let names: HashSet<&str> = self.columns.iter().map(|column| column.name).collect();
        let called = |head: &str| {
            head.is_empty() && self.columns.iter().any(|c| has_head(c.position, c.name, ""))
        };
        let unknown = |head: &&String| !names.contains(head.as_str()) && !called(head);
        let order = self.columns.iter().filter(|column| column.needed);
        let order: Vec<String> = order.map(|column| column.name.to_owned()).collect();
        if let Some(column) = self.columns.iter().find(|column| column.needed && !there(column)) {
            let name = column.name;
            // One that the model does not know may be this one, misspelled.
            let others: Vec<String> = found.iter().filter(unknown).cloned().collect();
            let remedy = if text
                && others.len() == found.len()
                && self.by_count(found.len()).is_some()
            {
                format!(
                    "; its first row begins with {}: if that is data, write the names of the columns above \
                     it: {}",
                    some_of(&found[..found.len().min(3)]),
                    some_of(&order)
                )
            } else if found.len() == 1 && text && order.len() > 1 {
                "; is the separator right? (--format csv, semicolon or tsv)".to_owned()
            } else if let Some(near) = near_column(name, &others) {
                format!("; is it its column `{near}`? rename that")
            } else {
                "; add it, or fit again without it".to_owned()
            };
            return format!("has no column `{name}`, which the model was fitted on{remedy}");
        }
        if let Some((at, head)) = found.iter().enumerate().find(|(_, head)| unknown(head)) {
            let name = if head.is_empty() {
                format!("a column without a name, its column {},", at + 1)
            } else {
                format!("a column `{head}`")
            };
            return format!("has {name} that the model does not know; remove it");
        }
        let expected = self.columns.iter().filter(|column| there(column));
        let differs = |(column, head): (&ExpectedColumn<'_>, &String)| {
            !has_head(column.position, column.name, head)
        };
        match expected.zip(found).enumerate().find(|&(_, pair)| differs(pair)) {
            Some((at, (column, head))) => format!(
                "has its columns in another order: column {} is `{head}`, but was `{}` at fit time; put \
                 them in that of the fit: {}",
                at + 1,
                column.name,
                some_of(&order)
            ),
            None => counts(),
        }
    }
}
