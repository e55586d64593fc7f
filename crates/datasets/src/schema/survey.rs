mod column;
mod header;
mod target;

use super::reading::{NO_TARGET, input};
use super::{
    Categories, Holds, InputColumn, Numbering, Schema, TargetColumnKept, called, near_column,
    separator_hint, shown,
};
use crate::rows::{Field, Row, RowFile, RowFormat};
use crate::shell::shell_word;
use crate::table::label_name;
use crate::{DataError, Kind, Limits};
pub(super) use column::plainly;
use column::{Asked, Seen, Verdict};
use header::{Decided, Head, decide};
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
    /// Decides by the look of the first line. Signs of names are text above numbers, the target's name, numbers that
    /// rise or fall and are unlike those below them (years), or words that do not occur again below. A decision that is
    /// a guess is reported.
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
    /// Classes or numbers; `None` guesses. Text is classes. So are whole numbers with at most 50 different values, each
    /// twice on average.
    pub kind: Option<Kind>,
    /// The class of two that average precision, curves and thresholds are of; the last of the sorted ones without it.
    pub positive: Option<String>,
    /// Whether the first row is a header.
    pub header: Header,
    /// Columns to leave out, by name or number, one or several with commas between them.
    pub drop: Vec<String>,
    /// Columns that are no features, by name, each with the flag that says so.
    pub aside: Vec<(String, &'static str)>,
    /// Columns of numbers that are categories, in the same way.
    pub categorical: Vec<String>,
    /// How categories become numbers.
    pub categories: Categories,
    /// Columns of categories where `NA` and the like are a category. They are named in the same way. An empty field is
    /// one too.
    pub keep_na: Vec<String>,
    /// Texts of inputs that stand for a missing value, in place of the usual ones. An empty field always does.
    pub missing: Option<Vec<String>>,
    /// Whether a missing category is one of its own, in all columns of categories.
    pub missing_is_category: bool,
    /// How much the file may hold.
    pub limits: Limits,
}

/// The target with its positive class last.
fn with_positive(
    mut target: TargetColumnKept,
    positive: Option<&str>,
    file: &RowFile,
) -> Result<TargetColumnKept, DataError> {
    let Some(positive) = positive else { return Ok(target) };
    if target.labels.len() != 2 || !target.labels.iter().any(|label| label == positive) {
        let found = match target.labels.len() {
            0 => "numbers".to_owned(),
            2 => format!("`{}` and `{}`", shown(&target.labels[0]), shown(&target.labels[1])),
            more => format!("{more} classes"),
        };
        let problem = format!(
            "has no `{}` among two classes (--positive): its target has {found}",
            shown(positive)
        );
        return Err(DataError::flag(file.name(), problem));
    }
    if target.labels[0] == positive {
        target.labels.swap(0, 1);
    }
    Ok(target)
}

/// Levels of a column at most: more is no category but free text, or a number in disguise.
const LEVELS: usize = 1000;

/// Learns the schema of a file in one pass. It also returns the number of rows.
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
/// What breaks the format; [`DataError::Flag`] for a column that is named and not there;
/// [`DataError::Format`] for a file without rows or inputs, a constant target, or repeated column names; [`DataError::Line`] for a target that is
/// missing, text in a column that mostly holds numbers, or too many categories.
pub fn survey(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    if file.format() == RowFormat::Svmlight {
        survey_sparse(file, options)
    } else {
        survey_table(file, options)
    }
}

/// Refuses options that name columns where columns have no names.
fn check_nameless(file: &RowFile, options: &SchemaOptions) -> Result<(), DataError> {
    for (flag, given) in [
        ("--target", options.target.is_some()),
        ("--drop", !options.drop.is_empty()),
        ("--categorical", !options.categorical.is_empty()),
        ("--keep-na", !options.keep_na.is_empty()),
    ] {
        if given {
            let problem = format!(
                "is svmlight, whose columns have no names: {flag} means nothing; write the rows as CSV to name columns"
            );
            return Err(DataError::flag(file.name(), problem));
        }
    }
    if let Some((_, flag)) = options.aside.first() {
        let problem = format!(
            "is svmlight, whose columns have no names: {flag} means nothing; write the rows as CSV to name columns"
        );
        return Err(DataError::flag(file.name(), problem));
    }
    if options.missing.is_some() {
        let problem = "is svmlight, in which nan is missing: --missing means nothing".to_owned();
        return Err(DataError::flag(file.name(), problem));
    }
    Ok(())
}

fn survey_sparse(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    let wrong = |problem: String| DataError::format(file.name(), problem);
    check_nameless(file, options)?;
    let mut rows = file.rows()?;
    let mut count = 0;
    let mut known = BTreeSet::new();
    // Rows with a column 0, and with a column 1.
    let mut present = [0usize; 2];
    let mut targets = Targets::new();
    while let Some((line, row)) = rows.next()? {
        let Row::Sparse { target, entries } = row else { continue };
        if target.is_nan() {
            return Err(DataError::line(file.name(), line, NO_TARGET));
        }
        targets.see(&label_name(target), Some(target), 0);
        // They rise.
        for &(column, _) in entries.iter().take(2) {
            if let Some(rows) = present.get_mut(column as usize) {
                *rows += 1;
            }
        }
        known.extend(entries.iter().map(|&(column, _)| column));
        count += 1;
    }
    if count == 0 {
        return Err(wrong("holds no rows".to_owned()));
    }
    if known.is_empty() {
        return Err(wrong("holds targets but no input columns".to_owned()));
    }
    options.limits.check(file.name(), 1, known.len())?;
    let base = u32::from(present[0] == 0);
    let numbering = Numbering { first: base, present: present[base as usize], rows: count };
    let column = |number: u32| InputColumn {
        name: number.to_string(),
        position: number as usize,
        content: Holds::Numbers,
        literal: false,
        own_missing: false,
    };
    let columns = known.into_iter().map(column).collect();
    let target = targets.conclude(file, "target", 0, count, options.kind)?;
    let target = with_positive(target, options.positive.as_deref(), file)?;
    let schema = Schema {
        named: false,
        sparse: true,
        numbering: Some(numbering),
        missing: None,
        columns,
        dropped: Vec::new(),
        target,
    };
    Ok((schema, count))
}

fn survey_table(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    let wrong = |problem: String| DataError::format(file.name(), problem);
    let heads = heads(file, options)?;
    let Heads { names, named, .. } = &heads;
    if names.is_empty() {
        return Err(wrong("holds no columns".to_owned()));
    }
    let target = match &options.target {
        Some(name) => heads.find(file, name, "--target")?,
        // The comma at the end of every line is no column.
        None => heads.blank.iter().rposition(|&blank| !blank).unwrap_or(names.len() - 1),
    };
    let declared = file.declares_categories(target).then_some(Kind::Classification);
    let options = &SchemaOptions { kind: options.kind.or(declared), ..options.clone() };
    let mut dropped = left_out(file, &heads, options, target)?;
    let literal = heads.all_of(file, &options.keep_na, "--keep-na")?;
    let mut forced = heads.all_of(file, &options.categorical, "--categorical")?;
    forced.extend(&literal);
    let inputs: Vec<usize> = (0..names.len())
        .filter(|&at| at != target && dropped.iter().all(|&(dropped, _)| dropped != at))
        .collect();
    if inputs.is_empty() {
        let hint = if file.is_text() { separator_hint(&names[target]) } else { String::new() };
        return Err(wrong(format!("needs at least one input column beside the target{hint}")));
    }
    options.limits.check(file.name(), 1, inputs.len())?;
    let wanted = Wanted { target, inputs: &inputs, literal: &literal };
    let is_category = |at: &usize| forced.contains(at) || file.declares_categories(*at);
    let mut seen: Vec<Seen> =
        inputs.iter().map(|at| wanted.unseen(*at, options, is_category(at))).collect();
    let mut targets = Targets::new();
    let count = look(file, &heads, options, wanted, &mut seen, &mut targets)?;
    if count == 0 {
        let problem = if *named { "has column names but no rows" } else { "holds no rows" };
        return Err(wrong(problem.to_owned()));
    }
    let columns = columns_of(file, &heads, options, wanted, (seen, count), &mut dropped)?;
    if columns.is_empty() {
        return Err(wrong("has no input column that holds anything".to_owned()));
    }
    let target = targets.conclude(file, &names[target], target, count, options.kind)?;
    let target = with_positive(target, options.positive.as_deref(), file)?;
    let named = *named;
    let missing = options.missing.clone();
    Ok((Schema { named, sparse: false, numbering: None, missing, columns, dropped, target }, count))
}

/// The columns that are no inputs, by the user's word.
fn left_out(
    file: &RowFile,
    heads: &Heads,
    options: &SchemaOptions,
    target: usize,
) -> Result<Vec<(usize, String)>, DataError> {
    let mut dropped = Vec::new();
    let mut left_out: Vec<(usize, &str)> =
        heads.all_of(file, &options.drop, "--drop")?.into_iter().map(|at| (at, "--drop")).collect();
    for (name, flag) in &options.aside {
        left_out.push((heads.find(file, name, flag)?, *flag));
    }
    for (at, flag) in left_out {
        let name = &heads.names[at];
        if at == target {
            let problem = format!("cannot leave out `{name}` ({flag}): it is the target");
            return Err(DataError::flag(file.name(), problem));
        }
        if !dropped.contains(&(at, name.clone())) {
            dropped.push((at, name.clone()));
        }
    }
    Ok(dropped)
}

/// Where the columns stand that a pass looks at.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    target: usize,
    inputs: &'a [usize],
    /// Those in which `NA` and its like are categories.
    literal: &'a [usize],
}

impl Wanted<'_> {
    /// An input before any row.
    fn unseen(&self, at: usize, options: &SchemaOptions, forced: bool) -> Seen {
        let counts_missing = options.missing_is_category || self.literal.contains(&at);
        Seen::new(Asked { forced, counts_missing, dashes_are_missing: options.missing.is_none() })
    }

    /// An input after all rows.
    fn column(
        &self,
        at: usize,
        name: &str,
        options: &SchemaOptions,
        content: Holds,
    ) -> InputColumn {
        InputColumn {
            name: name.to_owned(),
            position: at,
            literal: self.literal.contains(&at),
            own_missing: options.missing_is_category && content != Holds::Numbers,
            content,
        }
    }
}

/// The inputs that hold anything, by what was seen of them in so many rows, and where they are mixed by a second look.
fn columns_of(
    file: &RowFile,
    heads: &Heads,
    options: &SchemaOptions,
    wanted: Wanted<'_>,
    (seen, count): (Vec<Seen>, usize),
    dropped: &mut Vec<(usize, String)>,
) -> Result<Vec<InputColumn>, DataError> {
    let (mut columns, mut mixed) = (Vec::new(), Vec::new());
    for (&at, seen) in wanted.inputs.iter().zip(seen) {
        let name = &heads.names[at];
        let verdict = seen.conclude(name, count, options.categories);
        match verdict.map_err(|(line, problem)| heads.fault(file, line, problem))? {
            Verdict::Holds(content) => columns.push(wanted.column(at, name, options, content)),
            Verdict::Mixed => mixed.push(at),
            // The comma at the end of every line, again.
            Verdict::Nothing if heads.blank[at] => dropped.push((at, name.clone())),
            Verdict::Nothing => {
                let problem = format!(
                    "column `{name}` is missing in every row; leave it out (--drop {})",
                    shell_word(name)
                );
                return Err(DataError::format(file.name(), problem));
            }
        }
    }
    if !mixed.is_empty() {
        let mut seen: Vec<Seen> =
            mixed.iter().map(|at| wanted.unseen(*at, options, true)).collect();
        let again = Wanted { inputs: &mixed, ..wanted };
        look(file, heads, options, again, &mut seen, &mut Targets::new())?;
        for (&at, seen) in mixed.iter().zip(seen) {
            let name = &heads.names[at];
            let verdict = seen.conclude(name, count, options.categories);
            let verdict = verdict.map_err(|(line, problem)| heads.fault(file, line, problem))?;
            if let Verdict::Holds(content) = verdict {
                columns.push(wanted.column(at, name, options, content));
            }
        }
        columns.sort_by_key(|column| column.position);
    }
    Ok(columns)
}

/// A pass over the rows: takes note of the target and of some columns, and counts the rows.
fn look(
    file: &RowFile,
    heads: &Heads,
    options: &SchemaOptions,
    Wanted { target, inputs, literal }: Wanted<'_>,
    seen: &mut [Seen],
    targets: &mut Targets,
) -> Result<usize, DataError> {
    let mut rows = file.rows()?;
    if heads.named && file.is_text() {
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
        let is_missing = |text: &String| options.missing.iter().flatten().any(|own| own == text);
        if field == Field::Missing || is_missing(&field.text()) {
            let problem = format!(
                "the target (column `{name}`) is missing; remove the row, or name another column \
                 (--target)"
            );
            return Err(heads.fault(file, line, problem));
        }
        let text = field.text();
        if options.kind != Some(Kind::Classification)
            && let Some(problem) = target::disguised(name, &text)
        {
            return Err(heads.fault(file, line, problem));
        }
        targets.see(&text, field.number(), line);
        for (seen, &at) in seen.iter_mut().zip(inputs) {
            let field = input(fields, at, literal.contains(&at), options.missing.as_deref());
            if field == Field::Missing
                && let Field::Text(text) = fields.raw(at)
            {
                seen.see_hole(text);
            }
            seen.see(field, line);
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
    /// The line of a first row that was taken for data.
    first: Option<usize>,
}

impl Heads {
    /// The error in a line; in the first row it may be what that row was taken for.
    fn fault(&self, file: &RowFile, line: usize, problem: String) -> DataError {
        let hint = if self.first == Some(line) {
            "; or, if the first row names the columns, use --header yes"
        } else {
            ""
        };
        DataError::line(file.name(), line, problem + hint)
    }

    /// Where a column stands that the user names.
    fn find(&self, file: &RowFile, wanted: &str, flag: &str) -> Result<usize, DataError> {
        let Self { names, named, .. } = self;
        let by_number = || wanted.parse().ok().filter(|at: &usize| (1..=names.len()).contains(at));
        let found = names.iter().position(|name| name == wanted);
        found.or_else(|| by_number().filter(|_| !named).map(|at| at - 1)).ok_or_else(|| {
            let what = if *named { "no column" } else { "no header, and no column" };
            let known = super::some_of(names);
            let near = if *named { near_column(wanted, names) } else { None };
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let hint = match by_number() {
                _ if !named => "; columns are numbered from 1".to_owned(),
                Some(at) if near.is_empty() => {
                    format!(
                        "; where they have names, they go by these: {wanted} is `{}`",
                        names[at - 1]
                    )
                }
                _ => String::new(),
            };
            let joint = if near.is_empty() { ";" } else { "" };
            let problem = format!(
                "has {what} `{wanted}` ({flag}){near}{joint} its columns are {known}{hint}"
            );
            DataError::flag(file.name(), problem)
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
    let mut first = None;
    let (words, named) = if let Some(names) = rows.names() {
        (names.to_vec(), true)
    } else {
        let heads: Vec<Head> = match rows.next()? {
            Some((line, Row::Fields(fields))) => {
                first = Some(line);
                (0..fields.len()).map(|at| Head::of(fields.field(at))).collect()
            }
            _ => return Err(wrong("holds no rows".to_owned())),
        };
        let named = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Detect => {
                let columns = options.drop.iter().chain(&options.categorical);
                let parts =
                    columns.flat_map(|name| name.split(',').map(str::trim).chain([name.as_str()]));
                let asked: Vec<&str> = options.target.as_deref().into_iter().chain(parts).collect();
                let Decided { named, told } = decide(&heads, &mut rows, &asked)?;
                if let Some(told) = told {
                    tracing::warn!("{}: {told}", file.name());
                }
                named
            }
        };
        (heads.into_iter().map(|head| head.text).collect(), named)
    };
    if !named {
        let names: Vec<String> = (1..=words.len()).map(|at| at.to_string()).collect();
        let blank = vec![false; names.len()];
        return Ok(Heads { names, named, blank, first });
    }
    let blank = words.iter().map(String::is_empty).collect();
    let names = called(&words);
    let mut known = HashSet::new();
    if let Some(name) = names.iter().find(|name| !known.insert(name.as_str())) {
        let data =
            if file.is_text() { ", or use --header no if its first row is data" } else { "" };
        return Err(wrong(format!("has two columns called `{name}`; rename one{data}")));
    }
    Ok(Heads { names, named, blank, first: None })
}
