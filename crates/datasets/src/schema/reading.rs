mod columns;
mod fields;

use columns::Expected;
pub(super) use fields::{NO_TARGET, input};
use fields::{read_entries, read_fields, read_truth};

use super::{Holds, Numbering, Schema, Truth, Truths, near_column};
use crate::DataError;
use crate::rows::{Row, RowFile, RowFormat};
use crate::table::label_name;
use mercer_learning::counted;
use mercer_linalg::{SparseRows, sparse_rows};
use ndarray::Array2;
use std::collections::BTreeMap;

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
        let (sparse, unknown) = (self.sparse.as_mut(), self.widened.unknown);
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
                let unseen = read_entries(schema, entries, sparse, row).map_err(wrong)?;
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
                let columns = schema.columns.iter().zip(&*places).zip(&*levels);
                if !read_fields(schema, columns, fields, unknown, row).map_err(wrong)? {
                    return Ok(Some((line, None)));
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
