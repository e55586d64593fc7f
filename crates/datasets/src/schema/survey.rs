use super::{Categories, Holds, InputColumn, Schema, TargetColumnKept};
use crate::rows::{Field, Fields, Row, RowFile, RowFormat};
use crate::table::{label_name, sort_labels};
use crate::{DataError, Kind, Limits};
use std::collections::{BTreeSet, HashSet};

/// Whether the first row of a text table names its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    /// If it looks like it: text above a number, the target's name, or words that differ.
    #[default]
    Detect,
    /// Yes.
    Yes,
    /// No.
    No,
}

/// How a file's columns are to be understood.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SchemaOptions {
    /// Name of the target column, or its number from 1; the last column without it.
    pub target: Option<String>,
    /// Classes or numbers; `None` guesses: text is classes; so are whole numbers of which at most 50
    /// different ones occur, each twice on average.
    pub kind: Option<Kind>,
    /// Whether the first row is a header.
    pub header: Header,
    /// Columns to leave out, by name or number.
    pub drop: Vec<String>,
    /// Columns of numbers that are categories, by name or number.
    pub categorical: Vec<String>,
    /// How categories become numbers.
    pub categories: Categories,
    /// How much the file may hold.
    pub limits: Limits,
}

/// Levels of a column at most: more is no category but free text, or a number in disguise.
const LEVELS: usize = 1000;

/// Rows from which on a column that counts them is no accident.
const COUNTED: usize = 20;

/// Different numbers that can still be classes, see [`SchemaOptions::kind`].
const CLASSES: usize = 50;

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
/// is not there or constant, repeated column names, or a column with too many categories;
/// [`DataError::Line`] for a target that is missing.
pub fn survey(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    if file.format() == RowFormat::Svmlight {
        survey_sparse(file, options)
    } else {
        survey_table(file, options)
    }
}

/// What was seen of the target.
struct Targets {
    labels: BTreeSet<String>,
    /// Different values, while they are whole and few.
    numbers: Option<BTreeSet<u64>>,
    all_numbers: bool,
    first: Option<f64>,
    varies: bool,
}

impl Targets {
    const fn new() -> Self {
        Self {
            labels: BTreeSet::new(),
            numbers: Some(BTreeSet::new()),
            all_numbers: true,
            first: None,
            varies: false,
        }
    }

    fn see(&mut self, text: &str, number: Option<f64>) {
        if let Some(value) = number {
            let first = *self.first.get_or_insert(value);
            self.varies |= value.to_bits() != first.to_bits();
        } else {
            self.all_numbers = false;
        }
        let seen = number.filter(|value| value.fract() == 0.0).map(|value| (value + 0.0).to_bits());
        if let Some(numbers) = &mut self.numbers {
            match seen {
                Some(bits) => drop(numbers.insert(bits)),
                None => self.numbers = None,
            }
        }
        if self.numbers.as_ref().is_some_and(|numbers| numbers.len() > CLASSES) {
            self.numbers = None;
        }
        // Real targets have as many labels as rows: kept only as long as they may be classes.
        if self.labels.len() <= 100_000 {
            self.labels.insert(number.map_or_else(|| text.to_owned(), label_name));
        }
    }

    fn conclude(
        self,
        file: &RowFile,
        name: &str,
        position: usize,
        rows: usize,
        kind: Option<Kind>,
    ) -> Result<TargetColumnKept, DataError> {
        let wrong = |problem: String| Err(DataError::format(file.name(), problem));
        let few = self.numbers.as_ref().is_some_and(|numbers| 2 * numbers.len() <= rows);
        let likely = if self.all_numbers && !few { Kind::Regression } else { Kind::Classification };
        let kind = kind.unwrap_or(likely);
        let mut labels = Vec::new();
        if kind == Kind::Classification {
            labels = self.labels.into_iter().collect();
            if let [only] = labels.as_slice() {
                return wrong(format!(
                    "target `{name}` is `{only}` in all {rows} rows; there is nothing to tell apart"
                ));
            }
            if 2 * labels.len() > rows.max(4) && self.all_numbers || labels.len() > LEVELS {
                return wrong(format!(
                    "target `{name}` has {} different values in {rows} rows; is it a number \
                     (--task regression) or another column (--target)?",
                    labels.len()
                ));
            }
            sort_labels(&mut labels);
        } else if !self.all_numbers {
            return wrong(format!("target `{name}` holds text; it cannot be regressed on"));
        } else if !self.varies {
            let value = self.first.unwrap_or_default();
            return wrong(format!(
                "target `{name}` is {value} in all {rows} rows; there is nothing to learn"
            ));
        }
        Ok(TargetColumnKept { name: name.to_owned(), position, kind, labels })
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
        targets.see(&label_name(target), Some(target));
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

/// What was seen of an input column.
enum Seen {
    /// Only missing values so far.
    Nothing,
    /// Whole numbers from 0 or 1 on, each the next of the one before, this the last.
    Counting(f64),
    Numbers,
    Levels(HashSet<String>),
}

fn survey_table(file: &RowFile, options: &SchemaOptions) -> Result<(Schema, usize), DataError> {
    let wrong = |problem: String| DataError::format(file.name(), problem);
    let mut rows = file.rows()?;
    let typed = rows.names().map(<[String]>::to_vec);
    let (names, named) = match typed {
        Some(names) => (names, true),
        None => first_names(file, options)?,
    };
    let find = |wanted: &str, flag: &str| {
        let by_number = || wanted.parse().ok().filter(|at| (1..=names.len()).contains(at));
        let found = names.iter().position(|name| name == wanted);
        found.or_else(|| by_number().filter(|_| !named).map(|at: usize| at - 1)).ok_or_else(|| {
            let what = if named { "no column" } else { "no header, and no column" };
            let known = super::some_of(&names);
            let hint =
                if named { String::new() } else { "; columns are numbered from 1".to_owned() };
            wrong(format!("has {what} `{wanted}` ({flag}); its columns are {known}{hint}"))
        })
    };
    let target = match &options.target {
        Some(name) => find(name, "--target")?,
        None => names.len() - 1,
    };
    let mut dropped = Vec::new();
    for name in &options.drop {
        let at = find(name, "--drop")?;
        if at == target {
            return Err(wrong(format!("cannot leave out `{name}` (--drop): it is the target")));
        }
        if !dropped.contains(&(at, names[at].clone())) {
            dropped.push((at, names[at].clone()));
        }
    }
    let mut forced = Vec::new();
    for name in &options.categorical {
        forced.push(find(name, "--categorical")?);
    }
    let inputs: Vec<usize> = (0..names.len())
        .filter(|&at| at != target && dropped.iter().all(|&(dropped, _)| dropped != at))
        .collect();
    if inputs.is_empty() {
        let problem = "needs at least one input column beside the target; is the separator right?";
        return Err(wrong(problem.to_owned()));
    }
    options.limits.check(file.name(), 1, inputs.len())?;
    let start =
        |at: &usize| if forced.contains(at) { Seen::Levels(HashSet::new()) } else { Seen::Nothing };
    let mut seen: Vec<Seen> = inputs.iter().map(start).collect();
    let mut targets = Targets::new();
    if named && matches!(file.format(), RowFormat::Text(_)) {
        rows.next()?;
    }
    let mut count = 0;
    while let Some((line, row)) = rows.next()? {
        let Row::Fields(fields) = row else { continue };
        count += 1;
        let field = fields.field(target);
        if field == Field::Missing {
            let name = &names[target];
            let problem = format!("the target (column `{name}`) is missing; remove the row");
            return Err(DataError::line(file.name(), line, problem));
        }
        let text = field.text();
        if options.kind != Some(Kind::Classification) && decimal_comma(&text) {
            let problem = format!(
                "the target `{text}` (column `{}`) is a number with a comma; write {}, or ask for \
                 classes (--task classification)",
                names[target],
                text.replace(',', ".")
            );
            return Err(DataError::line(file.name(), line, problem));
        }
        targets.see(&text, field.number());
        for (seen, &at) in seen.iter_mut().zip(&inputs) {
            look(seen, fields, at).map_err(|problem| {
                DataError::line(file.name(), line, format!("column `{}` {problem}", names[at]))
            })?;
        }
    }
    if count == 0 {
        return Err(wrong("holds no rows".to_owned()));
    }
    let column = |(&at, seen): (&usize, Seen)| {
        let content = conclude(seen, &names[at], count, options.categories).map_err(wrong)?;
        Ok(InputColumn { name: names[at].clone(), position: at, content })
    };
    let columns = inputs.iter().zip(seen).map(column).collect::<Result<Vec<_>, DataError>>()?;
    let target = targets.conclude(file, &names[target], target, count, options.kind)?;
    Ok((Schema { named, sparse: false, columns, dropped, target }, count))
}

/// What a column holds, after all rows.
fn conclude(seen: Seen, name: &str, count: usize, encoding: Categories) -> Result<Holds, String> {
    match seen {
        Seen::Counting(_) if count >= COUNTED => {
            tracing::warn!(
                "column `{name}` counts the rows; is it an input? leave it out with --drop {name}"
            );
            Ok(Holds::Numbers)
        }
        Seen::Counting(_) | Seen::Numbers => Ok(Holds::Numbers),
        Seen::Levels(levels) if !levels.is_empty() => {
            let mut levels: Vec<String> = levels.into_iter().collect();
            sort_labels(&mut levels);
            Ok(Holds::Categories { encoding, levels })
        }
        Seen::Nothing | Seen::Levels(_) => {
            Err(format!("column `{name}` is missing in every row; leave it out (--drop {name})"))
        }
    }
}

/// Takes note of a field; the first that is not missing decides what the column holds.
fn look(seen: &mut Seen, fields: &dyn Fields, at: usize) -> Result<(), String> {
    let field = fields.field(at);
    if field == Field::Missing {
        return Ok(());
    }
    match seen {
        // Text where a number is due is found, and named, when the numbers are read.
        Seen::Numbers => {}
        Seen::Counting(last) => {
            *seen = match field.number() {
                Some(value) if value.to_bits() == (*last + 1.0).to_bits() => Seen::Counting(value),
                _ => Seen::Numbers,
            };
        }
        Seen::Levels(levels) => {
            let text = field.text();
            if !levels.contains(&text) {
                if levels.len() == LEVELS {
                    return Err(format!(
                        "has more than {LEVELS} different texts; leave it out (--drop), or mend its numbers"
                    ));
                }
                levels.insert(text);
            }
        }
        Seen::Nothing if field.number().is_some() => {
            let first = field.number().filter(|value| [0.0, 1.0].contains(value));
            *seen = first.map_or(Seen::Numbers, Seen::Counting);
        }
        Seen::Nothing => {
            let text = field.text();
            if decimal_comma(&text) {
                return Err(format!(
                    "holds `{text}`, a number with a comma; write {}, or name the column a category \
                     (--categorical)",
                    text.replace(',', ".")
                ));
            }
            *seen = Seen::Levels(HashSet::from([text]));
        }
    }
    Ok(())
}

/// Whether a text is digits with one comma among them: a number in another country's way, or with its
/// thousands apart. As a category it would be a silent mistake.
fn decimal_comma(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    unsigned.split_once(',').is_some_and(|(whole, rest)| digits(whole) && digits(rest))
}

/// The names of a text table's columns, and whether the first row gives them.
fn first_names(file: &RowFile, options: &SchemaOptions) -> Result<(Vec<String>, bool), DataError> {
    let wrong = |problem: String| DataError::format(file.name(), problem);
    let mut rows = file.rows()?;
    let mut texts = || -> Result<Option<Vec<(String, bool)>>, DataError> {
        Ok(match rows.next()? {
            Some((_, Row::Fields(fields))) => {
                let fields = (0..fields.len()).map(|at| fields.field(at));
                Some(fields.map(|field| (field.text(), field.number().is_some())).collect())
            }
            _ => None,
        })
    };
    let Some(first) = texts()? else { return Err(wrong("holds no rows".to_owned())) };
    let second = texts()?;
    let words: Vec<String> = first.iter().map(|(text, _)| text.clone()).collect();
    let different = words.iter().collect::<BTreeSet<_>>().len() == words.len();
    let named = match options.header {
        Header::Yes => true,
        Header::No => false,
        Header::Detect => {
            let no_number = first.iter().all(|&(_, number)| !number);
            let above = second
                .iter()
                .flatten()
                .zip(&first)
                .any(|((_, below), (_, number))| *below && !number);
            let meant = options.target.as_ref().is_some_and(|target| words.contains(target));
            no_number && (above || meant || different)
        }
    };
    if !named {
        return Ok(((1..=words.len()).map(|at| at.to_string()).collect(), false));
    }
    // A column without a name is called by its number.
    let names: Vec<String> = words
        .into_iter()
        .enumerate()
        .map(|(at, word)| if word.is_empty() { (at + 1).to_string() } else { word })
        .collect();
    let mut known = HashSet::new();
    if let Some(name) = names.iter().find(|name| !known.insert(name.as_str())) {
        return Err(wrong(format!("has two columns called `{name}`; rename one")));
    }
    Ok((names, true))
}
