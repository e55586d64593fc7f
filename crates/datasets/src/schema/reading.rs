use super::{
    Categories, Holds, InputColumn, MISSING, Numbering, Schema, TargetColumnKept, Truth, Truths,
    alike_key, has_head, near_column, plainly, separator_hint, shown, some_of,
};
use crate::rows::{Field, Row, RowFile, RowFormat};
use crate::shell::shell_word;
use crate::table::label_name;
use crate::{DataError, Kind};
use mercer_learning::counted;
use mercer_linalg::{SparseRows, sparse_rows};
use ndarray::Array2;
use std::collections::{BTreeMap, HashSet};

/// Texts that stand for a missing number in a column of numbers, and are categories elsewhere.
pub(super) const DASHES: [&str; 4] = ["-", "--", ".", "..."];

/// What becomes of a category that the fit did not see.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, Unknown, Widened, survey};
/// let read = |text: &'static str| RowFile::spooled(text.as_bytes(), "toys", None);
/// let file = read("size,colour,kind\n1,red,a\n2,blue,b\n3,red,a\n")?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let new = read("size,colour\n1,green\n2,red\n")?;
/// let inputs = |unknown| {
///     let widened = Widened { unknown, ..Widened::default() };
///     Ok::<_, mercer_datasets::DataError>(schema.read_wider(&new, &widened)?.chunk(9, false)?.0)
/// };
/// assert!(inputs(Unknown::Error).is_err());
/// assert_eq!(inputs(Unknown::Zeros)?, ndarray::array![[1.0, 0.0, 0.0], [2.0, 0.0, 1.0]]);
/// assert_eq!(inputs(Unknown::Skip)?, ndarray::array![[2.0, 0.0, 1.0]]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unknown {
    /// The row is refused.
    #[default]
    Error,
    /// None of the known categories; of numbered ones it is missing.
    Zeros,
    /// The row is left out.
    Skip,
}

/// What rows to predict may have beside the columns of the fit.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, Widened, survey};
/// let read = |text: &'static str| RowFile::spooled(text.as_bytes(), "toys", None);
/// let file = read("size,kind\n1,a\n2,b\n3,a\n")?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let new = read("id,size,note\nx7,1,\n")?;
/// let keep = vec!["id".to_owned()];
/// let widened = Widened { keep, drop: vec!["note".to_owned()], ..Widened::default() };
/// let mut rows = schema.read_wider(&new, &widened)?;
/// assert_eq!(rows.chunk(9, false)?.0, ndarray::array![[1.0]]);
/// assert_eq!(rows.take_kept(), [["x7"]]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Widened {
    /// Columns that are left out.
    pub drop: Vec<String>,
    /// Columns that are carried along as text, whether the model knows them or not.
    pub keep: Vec<String>,
    /// What becomes of a category that the fit did not see.
    pub unknown: Unknown,
}

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
    /// That columns are left out.
    told_unseen: bool,
    row: Vec<f64>,
    /// What is not 0 in the row, in place of it, where only that is wanted.
    sparse: Option<Vec<(u32, f64)>>,
    widened: &'a Widened,
    /// Where the columns stand that are carried along, and their texts since they were last taken.
    carried: Vec<usize>,
    kept: Vec<Vec<String>>,
    /// Which of its rows are wanted, where not all are, and how many were passed.
    wanted: Option<&'a [bool]>,
    passed: usize,
}

/// Nothing beside the columns of the fit.
pub(super) static AS_FITTED: Widened =
    Widened { drop: Vec::new(), keep: Vec::new(), unknown: Unknown::Error };

impl<'a> Reading<'a> {
    pub(super) fn new(
        schema: &'a Schema,
        file: &'a RowFile,
        widened: &'a Widened,
    ) -> Result<Self, DataError> {
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
            skip: schema.named && file.is_text(),
            fresh: true,
            told_unseen: false,
            row: vec![0.0; schema.width()],
            sparse: None,
            widened,
            carried: Vec::new(),
            kept: Vec::new(),
            wanted: None,
            passed: 0,
        };
        if sparse {
            if let Some(name) = widened.keep.first().or(widened.drop.first()) {
                let problem =
                    format!("is svmlight, whose columns have no names: there is no `{name}`");
                return Err(DataError::flag(file.name(), problem));
            }
            hold_numbering(schema, file)?;
        } else {
            reading.find_columns()?;
            let Self { places, target, carried, .. } = &reading;
            let wanted: Vec<usize> = places.iter().chain(target).chain(carried).copied().collect();
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
            (0..fields.len()).map(|at| fields.field(at).text().trim().to_owned()).collect()
        };
        let (schema, widened) = (self.schema, self.widened);
        for (flag, wanted) in [("keep", &widened.keep), ("drop", &widened.drop)] {
            if let Some(absent) = wanted.iter().find(|name| !schema.named || !names.contains(name))
            {
                let near = near_column(absent, &names);
                let near =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let problem = format!("has no column `{absent}` (--{flag}){near}");
                return Err(DataError::flag(self.file.name(), problem));
            }
        }
        let of_the_fit = |name: &&String| schema.columns.iter().any(|column| column.name == **name);
        if let Some(name) = widened.drop.iter().find(of_the_fit) {
            let problem =
                format!("cannot be read without `{name}` (--drop): the model was fitted to it");
            return Err(DataError::flag(self.file.name(), problem));
        }
        let place = |name: &String| names.iter().position(|own| own == name);
        self.carried = widened.keep.iter().filter_map(place).collect();
        let expected = Expected::of(schema);
        let beside = |head: &str| widened.drop.iter().chain(&widened.keep).any(|name| name == head);
        let places = if schema.named {
            expected.by_name(&names, beside)
        } else {
            expected.by_count(names.len())
        };
        let Some(places) = places else {
            let text = self.file.is_text();
            let others: Vec<String> = names.into_iter().filter(|head| !beside(head)).collect();
            return Err(wrong(expected.difference(&others, schema.named, text)));
        };
        if !places.values().is_sorted() {
            tracing::info!(
                "{}: its columns are in another order than those of the fit; they are found by their names",
                self.file.name()
            );
        }
        self.target = places.get(&schema.target.position).copied();
        self.places = schema.columns.iter().map(|column| places[&column.position]).collect();
        Ok(())
    }

    /// Returns whether the file has the target.
    pub const fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// Restricts the same pass to some of its rows: the rows that are `true` here.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions, survey};
    /// let file = RowFile::spooled(&b"x,kind\n1,a\n2,b\n3,a\n"[..], "toys", None)?;
    /// let (schema, _) = survey(&file, &SchemaOptions::default())?;
    /// let mut rows = schema.read(&file)?.of_rows(&[true, false, true]);
    /// assert_eq!(rows.chunk(9, true)?.2, [2, 4]); // the lines
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    #[must_use]
    pub const fn of_rows(mut self, wanted: &'a [bool]) -> Self {
        self.wanted = Some(wanted);
        self
    }

    /// Reads the next row. Its target is `None` where the file has none, or where it is asked not to be looked at.
    ///
    /// # Errors
    /// What breaks the format; text where a number is due; a category or class that was not seen
    /// at fit time; a missing target.
    pub fn next(&mut self, with_target: bool) -> Result<Option<ReadRow<'_>>, DataError> {
        while let Some((line, truth)) = self.advance(with_target)? {
            if let Some(truth) = truth {
                return Ok(Some(ReadRow { line, numbers: &self.row, truth }));
            }
        }
        Ok(None)
    }

    /// Returns the texts of the carried columns for the rows since the last call.
    pub fn take_kept(&mut self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.kept)
    }

    /// Reads a row: its line, and its target unless the row is left out.
    #[expect(clippy::type_complexity, reason = "no row, a row left out, a row without a target")]
    fn advance(
        &mut self,
        with_target: bool,
    ) -> Result<Option<(usize, Option<Option<Truth>>)>, DataError> {
        if std::mem::take(&mut self.skip) {
            self.rows.next()?;
        }
        let fresh = std::mem::take(&mut self.fresh);
        let Self { schema, file, rows, places, target, levels, labels, row, told_unseen, .. } =
            self;
        let sparse = &mut self.sparse;
        let unknown = self.widened.unknown;
        let Some((line, found)) = rows.next()? else { return Ok(None) };
        let at = self.passed;
        self.passed += 1;
        if self.wanted.is_some_and(|wanted| wanted.get(at) != Some(&true)) {
            return Ok(Some((line, None)));
        }
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
                let unseen = if let Some(kept) = sparse {
                    kept.clear();
                    let keep = |at, value| {
                        if value != 0.0 {
                            kept.push((at as u32, value));
                        }
                    };
                    sparse_row(schema, entries, keep)
                } else {
                    row.fill(0.0);
                    sparse_row(schema, entries, |at, value| row[at] = value)
                };
                let unseen = unseen.map_err(wrong)?;
                if let Some(column) = unseen.filter(|_| !std::mem::replace(told_unseen, true)) {
                    tracing::warn!(
                        "{name}: column {column} is left out, as is every column that no row of the fit has"
                    );
                }
                if with_target && target.is_nan() {
                    return Err(wrong(NO_TARGET.to_owned()));
                }
                with_target.then(|| (label_name(target), Some(target)))
            }
            Row::Fields(fields) => {
                let mut to = 0;
                for ((column, &at), levels) in schema.columns.iter().zip(&*places).zip(&*levels) {
                    let cells = &mut row[to..to + column.width()];
                    let field = input(fields, at, column.literal, schema.missing.as_deref());
                    let dash = column.content == Holds::Numbers
                        && schema.missing.is_none()
                        && matches!(field, Field::Text(text) if DASHES.contains(&text));
                    let hole = field == Field::Missing
                        && !column.literal
                        && !column.own_missing
                        && !levels.contains_key(MISSING);
                    if dash || hole {
                        cells.fill(schema.hole_of(&fields.raw(at).text()));
                        to += column.width();
                        continue;
                    }
                    let known = read_field(column, field, levels, unknown, cells);
                    if !known.map_err(wrong)? {
                        return Ok(Some((line, None)));
                    }
                    to += column.width();
                }
                if !self.carried.is_empty() {
                    let text = |&at: &usize| fields.raw(at).text();
                    self.kept.push(self.carried.iter().map(text).collect());
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
        Ok(Some((line, Some(truth))))
    }

    /// Reads up to `most` further rows, `n × d`, with their targets if they are wanted.
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

impl Reading<'_> {
    /// Reads up to `most` further rows of an svmlight file by what is not 0 in them (`n × d`), with their targets if they
    /// are wanted.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, RowFormat, SchemaOptions, Truths, survey};
    /// let text = "-1 2:0.5\n+1 1:3\n-1 1:1\n+1 2:2\n";
    /// let file = RowFile::spooled(text.as_bytes(), "toys", Some(RowFormat::Svmlight))?;
    /// let (schema, _) = survey(&file, &SchemaOptions::default())?;
    /// let (rows, truths, lines) = schema.read(&file)?.sparse(9, true)?;
    /// assert_eq!((rows.nnz(), rows.get(0, 1), lines), (4, Some(&0.5), vec![1, 2, 3, 4]));
    /// assert_eq!(truths, Truths::Classes(vec![0, 1, 0, 1]));
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Reading::next`].
    ///
    /// # Panics
    /// If the file is a table.
    pub fn sparse(
        &mut self,
        most: usize,
        with_target: bool,
    ) -> Result<(SparseRows, Truths, Vec<usize>), DataError> {
        assert!(self.schema.sparse, "a table has all its numbers");
        self.sparse = Some(Vec::new());
        let (mut rows, mut lines) = (Vec::new(), Vec::new());
        let mut truths = Truths::none(self.schema.target.kind);
        while lines.len() < most {
            let Some((line, truth)) = self.advance(with_target)? else { break };
            let Some(truth) = truth else { continue };
            rows.extend(self.sparse.clone());
            lines.push(line);
            if let Some(truth) = truth {
                truths.push(truth);
            }
        }
        self.sparse = None;
        Ok((sparse_rows(self.row.len(), rows), truths, lines))
    }
}

/// How unlikely it must be that a file numbered from 0 has no column 0, to be refused.
const UNLIKELY: f64 = 1e-3;

/// Refuses a file without a column 0 for a model whose columns are numbered from 0. It refuses where the rows of the
/// fit had a column 0 so often that this is no accident, and warns elsewhere.
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

/// Puts the numbers of an svmlight row in their places; also returns a column that no row of the fit has.
fn sparse_row(
    schema: &Schema,
    entries: &[(u32, f64)],
    mut put: impl FnMut(usize, f64),
) -> Result<Option<u32>, String> {
    let columns = schema.columns.as_slice();
    let [first, last] =
        [columns.first(), columns.last()].map(|end| end.map_or(0, |c| c.position as u32));
    let base = schema.numbering.map_or(first, |numbering| numbering.first);
    let (mut at, mut unseen) = (0, None);
    for &(column, value) in entries {
        if column < base {
            let hint = match (base, column) {
                (1, 0) => "; number the columns from 1, or fit to rows that are numbered from 0",
                _ => "; remove it, or fit to rows that have it",
            };
            return Err(format!("has column {column}, but the model knows {base} to {last}{hint}"));
        }
        at += columns[at..].partition_point(|known| known.position < column as usize);
        match columns.get(at) {
            Some(known) if known.position == column as usize => put(at, value),
            _ => unseen = Some(column),
        }
    }
    Ok(unseen)
}

/// The field of an input: missing where it is one of these texts, or of the usual ones; of a literal column only
/// nothing is missing.
pub(super) fn input<'a>(
    fields: &'a dyn crate::rows::Fields,
    at: usize,
    literal: bool,
    missing: Option<&[String]>,
) -> Field<'a> {
    match missing {
        _ if literal => fields.raw(at),
        None => fields.field(at),
        Some(texts) => match fields.raw(at) {
            Field::Text(text) if texts.iter().any(|own| own == text) => Field::Missing,
            Field::Text(text) => Field::Text(text),
            Field::Missing => Field::Missing,
            // A number of a file with types.
            other if texts.contains(&other.text()) => Field::Missing,
            other => other,
        },
    }
}

/// Writes the numbers that a field becomes, one that is missing as a category; whether the row is to stay.
fn read_field(
    column: &InputColumn,
    field: Field<'_>,
    known: &BTreeMap<&str, usize>,
    unknown: Unknown,
    cells: &mut [f64],
) -> Result<bool, String> {
    let name = &column.name;
    let field = if field == Field::Missing { Field::Text(MISSING) } else { field };
    match &column.content {
        Holds::Numbers => {
            let Some(value) = field.number() else {
                let text = field.text();
                let remedy = plainly(&text).unwrap_or_else(|| {
                    "correct it, or remove the row; leave it empty if it is missing and the model fills"
                        .to_owned()
                });
                return Err(format!(
                    "`{}` in column `{name}` is not a finite number; {remedy}",
                    shown(&text)
                ));
            };
            cells[0] = value;
        }
        Holds::Categories { encoding, levels } => {
            let text = field.text();
            let Some(&level) = known.get(text.as_str()) else {
                return match (unknown, encoding) {
                    (Unknown::Skip, _) => Ok(false),
                    (Unknown::Zeros, encoding) => {
                        let one_hot = *encoding == Categories::OneHot;
                        cells.fill(if one_hot { 0.0 } else { f64::NAN });
                        Ok(true)
                    }
                    (Unknown::Error, encoding) => Err(format!(
                        "category `{}` in column `{name}` was not seen at fit time{}; seen were {}; fit with rows \
                         that have it, {}or leave its rows out (--unknown skip)",
                        shown(&text),
                        meant(&text, levels),
                        some_of(levels),
                        // Of numbered ones there is no such number.
                        match encoding {
                            Categories::OneHot => "or take it as none of these (--unknown zeros) ",
                            Categories::Ordinal => "",
                        },
                    )),
                };
            };
            match encoding {
                Categories::Ordinal => cells[0] = level as f64,
                Categories::OneHot => {
                    cells.fill(0.0);
                    cells[level] = 1.0;
                }
            }
        }
    }
    Ok(true)
}

/// The known label that may have been meant: one that differs in capitals, blanks or dots, or by a slip of the fingers.
fn meant(text: &str, labels: &[String]) -> String {
    let known: Vec<&str> = labels.iter().map(String::as_str).collect();
    let value = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    let same = |label: &&String| {
        let number =
            value(label).zip(value(text)).is_some_and(|(own, other)| own.total_cmp(&other).is_eq());
        number || alike_key(label) == alike_key(text)
    };
    let near = labels.iter().find(same);
    let near = near.map(String::as_str).or_else(|| mercer_learning::nearest(text, &known));
    near.map_or_else(String::new, |near| format!("; did you mean `{}`?", shown(near)))
}

/// What a line of svmlight without a target is told, where one is needed.
pub(super) const NO_TARGET: &str =
    "has no target; begin each row with its target, or remove the row";

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
                "the target `{text}` (column `{name}`) is not a finite number; correct it, or remove the row"
            )
        };
        return number.map(Truth::Value).ok_or_else(problem);
    }
    // By its spelling: `1` and `01` are two classes.
    labels.get(text).copied().map(Truth::Class).ok_or_else(|| {
        let seen = some_of(&target.labels);
        format!(
            "class `{}` was not seen at fit time{}; seen were {seen}; correct it, or fit with rows that have it",
            shown(text),
            meant(text, &target.labels)
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

    /// Where each column stands among columns of these names, by its position at fit time, but for the columns `beside`
    /// it. `None` if an input is absent, or if a column is unknown or there twice.
    fn by_name(
        &self,
        names: &[String],
        beside: impl Fn(&str) -> bool,
    ) -> Option<BTreeMap<usize, usize>> {
        let known: BTreeMap<&str, usize> =
            self.columns.iter().map(|column| (column.name, column.position)).collect();
        let nameless = |column: &&ExpectedColumn<'_>| has_head(column.position, column.name, "");
        // Columns without names can be told by their order only.
        let mut nameless = self.columns.iter().filter(nameless).map(|column| column.position);
        let mut places = BTreeMap::new();
        for (at, head) in names.iter().enumerate() {
            let position =
                if head.is_empty() { nameless.next() } else { known.get(head.as_str()).copied() };
            match position {
                Some(position) if places.insert(position, at).is_some() => return None,
                None if !beside(head) => return None,
                _ => {}
            }
        }
        let there = |column: &ExpectedColumn<'_>| places.contains_key(&column.position);
        self.columns.iter().all(|column| !column.needed || there(column)).then_some(places)
    }

    /// The same where columns have no names, of a file with `count` columns. They may be:
    /// - all columns of the fit,
    /// - all but the target,
    /// - the inputs alone,
    /// - the inputs and the target, if these can be distinguished.
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
                separator_hint(&found[0])
            } else {
                "; give it the columns of the fit, in their order".to_owned()
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
            let same = |other: &&String| other.to_lowercase() == name.to_lowercase();
            let remedy = if let Some(near) = others.iter().find(same) {
                format!("; is it its column `{near}`? rename that")
            } else if text && others.len() == found.len() && self.by_count(found.len()).is_some() {
                format!(
                    "; its first row begins with {}: if that is data, write the names of the columns above \
                     it: {}",
                    some_of(&found[..found.len().min(3)]),
                    some_of(&order)
                )
            } else if found.len() == 1 && text && order.len() > 1 {
                separator_hint(&found[0])
            } else if let Some(near) = near_column(name, &others) {
                format!("; is it its column `{near}`? rename that")
            } else {
                "; add it, or fit again without it".to_owned()
            };
            return format!("has no column `{name}`, which the model was fitted on{remedy}");
        }
        let strangers: Vec<String> = found.iter().filter(unknown).cloned().collect();
        if let Some(at) =
            found.iter().position(String::is_empty).filter(|_| strangers.contains(&String::new()))
        {
            return format!(
                "has a column without a name, its column {}, that the model does not know; remove it",
                at + 1
            );
        }
        if !strangers.is_empty() {
            let (columns, them) =
                if strangers.len() == 1 { ("column", "it") } else { ("columns", "them") };
            let flags: Vec<String> = strangers.iter().map(|name| shell_word(name)).collect();
            // A comma in a name would part two.
            let apart = strangers.iter().any(|name| name.contains(','));
            return format!(
                "has {columns} {} that the model does not know; remove {them}, or leave {them} out (--drop {})",
                some_of(&strangers),
                flags.join(if apart { " --drop " } else { "," })
            );
        }
        counts()
    }
}
