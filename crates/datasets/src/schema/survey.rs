mod column;
mod target;

use super::{Categories, Holds, InputColumn, Schema, called, typed};
use crate::rows::{Field, Row, RowFile, RowFormat};
use crate::table::label_name;
use crate::{DataError, Kind, Limits};
pub(super) use column::DASHES;
use column::{Seen, Verdict, almost_number};
use std::collections::{BTreeSet, HashSet};
use target::Targets;

/// Whether the first row of a text table names its columns.
///
/// ```
/// use mercer_datasets::{Header, RowFile, SchemaOptions, survey};
/// let rows = |text: &'static str, header| {
///     let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
///     survey(&file, &SchemaOptions { header, ..SchemaOptions::default() }).map(|(_, rows)| rows)
/// };
/// assert_eq!(rows("size,kind\n1,a\n2,b\n", Header::Detect)?, 2); // text above a number
/// assert_eq!(rows("1,a\n2,b\n3,a\n", Header::Detect)?, 3);
/// assert_eq!(rows("1,a\n2,b\n3,a\n", Header::Yes)?, 2); // columns called `1` and `a`
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// If it looks like it: text above a number, the target's name, or words that differ. Where some
    /// of it are numbers, that is said.
    #[default]
    Detect,
    /// Yes.
    Yes,
    /// No.
    No,
}

/// How a file's columns are to be understood.
///
/// ```
/// use mercer_datasets::{Categories, RowFile, SchemaOptions, survey};
/// let text = "id,grade,colour,kind\na,1,red,box\nb,2,blue,ball\nc,1,red,box\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let options = SchemaOptions {
///     drop: vec!["id".to_owned()],
///     categorical: vec!["grade".to_owned()],
///     categories: Categories::Ordinal,
///     ..SchemaOptions::default()
/// };
/// let (schema, _) = survey(&file, &options)?;
/// assert_eq!((schema.columns.len(), schema.width()), (2, 2));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SchemaOptions {
    /// Name of the target column, or its number from 1; the last column without it.
    pub target: Option<String>,
    /// Classes or numbers; `None` guesses: text is classes; so are whole numbers of which at most 50
    /// different ones occur, each twice on average.
    pub kind: Option<Kind>,
    /// Whether the first row is a header.
    pub header: Header,
    /// Columns to leave out, by name or number, each by itself or several with commas between them.
    pub drop: Vec<String>,
    /// Columns of numbers that are categories, in the same way.
    pub categorical: Vec<String>,
    /// How categories become numbers.
    pub categories: Categories,
    /// How much the file may hold.
    pub limits: Limits,
}

/// Levels of a column at most: more is no category but free text, or a number in disguise.
const LEVELS: usize = 1000;

/// Learns the schema of a file in one pass; also says how many rows there are.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, survey};
/// let text = "size,colour,kind\n1.5,red,box\n3,blue,ball\n2,red,box\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let (schema, rows) = survey(&file, &SchemaOptions::default())?;
/// assert_eq!(rows, 3);
/// assert_eq!(schema.feature_names(), ["size", "colour=blue", "colour=red"]);
/// assert_eq!(schema.target.labels, ["ball", "box"]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
///
/// # Errors
/// What breaks the format; [`DataError::Format`] for a file without rows or inputs, a target that
/// is not there or constant, or repeated column names; [`DataError::Line`] for a target that is
/// missing, text in a column that mostly holds numbers, or too many categories.
pub fn survey(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    if file.format() == RowFormat::Svmlight {
        survey_sparse(file, options)
    } else {
        survey_table(file, options)
    }
}

fn survey_sparse(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    let wrong = |problem: String| DataError::format(file.name(), problem);
    for (flag, given) in [
        ("--target", options.target.is_some()),
        ("--drop", !options.drop.is_empty()),
        ("--categorical", !options.categorical.is_empty()),
    ] {
        if given {
            return Err(wrong(format!(
                "is svmlight, whose columns have no names: {flag} means nothing"
            )));
        }
    }
    let mut rows = file.rows()?;
    let (mut count, mut highest, mut lowest) = (0, None, u32::MAX);
    let mut targets = Targets::new();
    while let Some((_, row)) = rows.next()? {
        let Row::Sparse { target, entries } = row else { continue };
        targets.see(&label_name(target), Some(target), 0);
        if let (Some(&(low, _)), Some(&(high, _))) = (entries.first(), entries.last()) {
            lowest = lowest.min(low);
            highest = highest.max(Some(high));
        }
        count += 1;
    }
    if count == 0 {
        return Err(wrong("holds no rows".to_owned()));
    }
    let Some(highest) = highest else {
        return Err(wrong("holds targets but no input columns".to_owned()));
    };
    let base = u32::from(lowest > 0);
    let column = |number: u32| InputColumn {
        name: number.to_string(),
        position: number as usize,
        content: Holds::Numbers,
    };
    let columns = (base..=highest).map(column).collect();
    let target = targets.conclude(file, "target", 0, count, options.kind)?;
    Ok((Schema { named: false, sparse: true, columns, dropped: Vec::new(), target }, count))
}

fn survey_table(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    let wrong = |problem: String| DataError::format(file.name(), problem);
    let heads = heads(file, options)?;
    let Heads { names, named, .. } = &heads;
    let target = match &options.target {
        Some(name) => heads.find(file, name, "--target")?,
        // The comma at the end of every line is no column.
        None => heads.blank.iter().rposition(|&blank| !blank).unwrap_or(names.len() - 1),
    };
    let mut dropped = Vec::new();
    for at in heads.all_of(file, &options.drop, "--drop")? {
        let name = &names[at];
        if at == target {
            return Err(wrong(format!("cannot leave out `{name}` (--drop): it is the target")));
        }
        if !dropped.contains(&(at, name.clone())) {
            dropped.push((at, name.clone()));
        }
    }
    let forced = heads.all_of(file, &options.categorical, "--categorical")?;
    let inputs: Vec<usize> = (0..names.len())
        .filter(|&at| at != target && dropped.iter().all(|&(dropped, _)| dropped != at))
        .collect();
    if inputs.is_empty() {
        let problem = "needs at least one input column beside the target; is the separator right?";
        return Err(wrong(problem.to_owned()));
    }
    options.limits.check(file.name(), 1, inputs.len())?;
    let mut seen: Vec<Seen> = inputs.iter().map(|at| Seen::new(forced.contains(at))).collect();
    let mut targets = Targets::new();
    let count = look(file, &heads, options, target, &inputs, &mut seen, &mut targets)?;
    if count == 0 {
        return Err(wrong("holds no rows".to_owned()));
    }
    let (mut columns, mut mixed) = (Vec::new(), Vec::new());
    for (&at, seen) in inputs.iter().zip(seen) {
        let name = &names[at];
        let verdict = seen.conclude(name, count, options.categories);
        match verdict.map_err(|(line, problem)| DataError::line(file.name(), line, problem))? {
            Verdict::Holds(content) => {
                columns.push(InputColumn { name: name.clone(), position: at, content });
            }
            Verdict::Mixed => mixed.push(at),
            // The comma at the end of every line, again.
            Verdict::Nothing if heads.blank[at] => dropped.push((at, name.clone())),
            Verdict::Nothing => {
                return Err(wrong(format!(
                    "column `{name}` is missing in every row; leave it out (--drop {})",
                    typed(name)
                )));
            }
        }
    }
    if !mixed.is_empty() {
        let mut seen: Vec<Seen> = mixed.iter().map(|_| Seen::new(true)).collect();
        look(file, &heads, options, target, &mixed, &mut seen, &mut Targets::new())?;
        for (at, seen) in mixed.into_iter().zip(seen) {
            let name = &names[at];
            let verdict = seen.conclude(name, count, options.categories);
            let verdict =
                verdict.map_err(|(line, problem)| DataError::line(file.name(), line, problem))?;
            if let Verdict::Holds(content) = verdict {
                columns.push(InputColumn { name: name.clone(), position: at, content });
            }
        }
        columns.sort_by_key(|column| column.position);
    }
    if columns.is_empty() {
        return Err(wrong("has no input column that holds anything".to_owned()));
    }
    let target = targets.conclude(file, &names[target], target, count, options.kind)?;
    Ok((Schema { named: *named, sparse: false, columns, dropped, target }, count))
}

/// A pass over the rows: takes note of the target and of some columns, and counts the rows.
fn look(
    file: &RowFile,
    heads: &Heads,
    options: &SchemaOptions,
    target: usize,
    inputs: &[usize],
    seen: &mut [Seen],
    targets: &mut Targets,
) -> Result<usize, DataError> {
    let mut rows = file.rows()?;
    if heads.named && matches!(file.format(), RowFormat::Text(_)) {
        rows.next()?;
    }
    rows.only(&[inputs, &[target]].concat())?;
    let name = &heads.names[target];
    let mut count = 0;
    while let Some((line, row)) = rows.next()? {
        let Row::Fields(fields) = row else { continue };
        count += 1;
        // By itself an empty field is missing; a class may be called `None`.
        let field = fields.raw(target);
        if field == Field::Missing {
            let problem = format!(
                "the target (column `{name}`) is missing; remove the row, or name another column \
                 (--target)"
            );
            return Err(DataError::line(file.name(), line, problem));
        }
        let text = field.text();
        let comma = column::with_comma(&text);
        if let (true, Some(plain)) = (options.kind != Some(Kind::Classification), comma) {
            let problem = format!(
                "the target `{text}` (column `{name}`) is a number with a comma; write {plain}, or ask for \
                 classes (--task classification)"
            );
            return Err(DataError::line(file.name(), line, problem));
        }
        if options.kind != Some(Kind::Classification) && column::with_sign(&text) {
            let problem = format!(
                "the target `{text}` (column `{name}`) is a number with a sign; write the number alone, \
                 or ask for classes (--task classification)"
            );
            return Err(DataError::line(file.name(), line, problem));
        }
        targets.see(&text, field.number(), line);
        for (seen, &at) in seen.iter_mut().zip(inputs) {
            seen.see(fields.field(at), line);
        }
    }
    Ok(count)
}

/// The names of a table's columns.
struct Heads {
    names: Vec<String>,
    /// Whether the file gives them.
    named: bool,
    /// Columns that a file with names gives none.
    blank: Vec<bool>,
}

impl Heads {
    /// Where a column stands that the user names.
    fn find(&self, file: &RowFile, wanted: &str, flag: &str) -> Result<usize, DataError> {
        let Self { names, named, .. } = self;
        let by_number = || wanted.parse().ok().filter(|at| (1..=names.len()).contains(at));
        let found = names.iter().position(|name| name == wanted);
        found.or_else(|| by_number().filter(|_| !named).map(|at: usize| at - 1)).ok_or_else(|| {
            let what = if *named { "no column" } else { "no header, and no column" };
            let known = super::some_of(names);
            let hint = if *named { "" } else { "; columns are numbered from 1" };
            let problem = format!("has {what} `{wanted}` ({flag}); its columns are {known}{hint}");
            DataError::format(file.name(), problem)
        })
    }

    /// Where the columns stand that the user names, one by one or with commas between them.
    fn all_of(
        &self,
        file: &RowFile,
        wanted: &[String],
        flag: &str,
    ) -> Result<Vec<usize>, DataError> {
        let mut found = Vec::new();
        for name in wanted {
            // A name may hold commas itself.
            if self.names.contains(name) || !name.contains(',') {
                found.push(self.find(file, name, flag)?);
            } else {
                for part in name.split(',') {
                    found.push(self.find(file, part.trim(), flag)?);
                }
            }
        }
        Ok(found)
    }
}

/// The names of a table's columns: of its schema, of its first row, or their numbers.
fn heads(file: &RowFile, options: &SchemaOptions) -> Result<Heads, DataError> {
    let wrong = |problem: String| DataError::format(file.name(), problem);
    let mut rows = file.rows()?;
    for index in rows.index() {
        tracing::warn!(
            "{}: column `{index}` is the index of a pandas table and left out; reset_index() makes it \
             a column like any other",
            file.name()
        );
    }
    let (words, named) = if let Some(names) = rows.names() {
        (names.to_vec(), true)
    } else {
        let mut fields = || -> Result<Option<Vec<Head>>, DataError> {
            Ok(match rows.next()? {
                Some((_, Row::Fields(fields))) => {
                    Some((0..fields.len()).map(|at| Head::of(fields.field(at))).collect())
                }
                _ => None,
            })
        };
        let Some(first) = fields()? else { return Err(wrong("holds no rows".to_owned())) };
        let named = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Detect => {
                named_by(file, &first, &fields()?.unwrap_or_default(), options.target.as_deref())
            }
        };
        (first.into_iter().map(|head| head.text).collect(), named)
    };
    if !named {
        let names: Vec<String> = (1..=words.len()).map(|at| at.to_string()).collect();
        let blank = vec![false; names.len()];
        return Ok(Heads { names, named, blank });
    }
    let blank = words.iter().map(String::is_empty).collect();
    let names = called(&words);
    let mut known = HashSet::new();
    if let Some(name) = names.iter().find(|name| !known.insert(name.as_str())) {
        return Err(wrong(format!(
            "has two columns called `{name}`; rename one, or say --header no if its first row is data"
        )));
    }
    Ok(Heads { names, named, blank })
}

/// A field of the first rows.
struct Head {
    text: String,
    number: Option<f64>,
    /// A word: neither missing nor a number, nor meant as one.
    word: bool,
}

impl Head {
    fn of(field: Field<'_>) -> Self {
        let (text, number) = (field.text(), field.number());
        let word = field != Field::Missing && number.is_none() && !almost_number(&text);
        Self { text, number, word }
    }
}

/// Whether the first row names the columns, by the look of it.
fn named_by(file: &RowFile, first: &[Head], second: &[Head], target: Option<&str>) -> bool {
    let different =
        first.iter().map(|head| &head.text).collect::<BTreeSet<_>>().len() == first.len();
    let over = |is: fn(&Head) -> bool| {
        second.iter().zip(first).any(|(below, head)| below.number.is_some() && is(head))
    };
    let meant =
        target.is_some_and(|target| first.iter().any(|head| head.word && head.text == target));
    if first.iter().all(|head| head.number.is_none()) {
        return over(|head| head.number.is_none()) || meant || different;
    }
    // Years among the names, say, or the numbers that a program gave to columns without any.
    let counted = |value: f64| value >= 0.0 && value.fract() == 0.0;
    let whole = first.iter().all(|head| head.number.is_none_or(counted));
    let numbered = first.len() > 1
        && first[0].text.is_empty()
        && first[1..].iter().zip(0u32..).all(|(head, at)| head.text == at.to_string());
    let named = meant || numbered || different && whole && over(|head| head.word);
    if named {
        tracing::warn!(
            "{}: the first row is taken for names, though some of it are numbers; say --header no if it \
             is data",
            file.name()
        );
    }
    named
}
