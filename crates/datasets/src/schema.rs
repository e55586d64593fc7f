//! Meaning of the columns of a user's file: target, numbers, categories. It also says how categories become numbers.
//! Learned from one pass over the file, kept with a model.

mod reading;
mod survey;

use crate::hole::{hole, spelling};
use crate::rows::{self, RowFile};
use crate::shell::shell_word;
use crate::{DataError, Kind};
use serde::{Deserialize, Serialize};

pub use reading::{ReadRow, Reading, Unknown, Widened};
use survey::plainly;
pub use survey::{Header, SchemaOptions, survey};

/// How categories become numbers.
///
/// ```
/// use mercer_datasets::{Categories, RowFile, SchemaOptions, survey};
/// let text = "colour,kind\nred,a\nblue,b\ngreen,a\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let first = |categories| {
///     let (schema, _) = survey(&file, &SchemaOptions { categories, ..SchemaOptions::default() })?;
///     let (inputs, ..) = schema.read(&file)?.chunk(1, true)?;
///     Ok::<_, mercer_datasets::DataError>(inputs)
/// };
/// assert_eq!(first(Categories::OneHot)?, ndarray::array![[0.0, 0.0, 1.0]]); // blue, green, red
/// assert_eq!(first(Categories::Ordinal)?, ndarray::array![[2.0]]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Categories {
    /// One column a level, 1 where it is that level, else 0.
    #[default]
    OneHot,
    /// The level's number, from 0, in the order of the levels.
    Ordinal,
}

/// What a column holds.
///
/// ```
/// use mercer_datasets::{Categories, Holds, RowFile, SchemaOptions, survey};
/// let text = "size,grade,kind\n1.5,10,a\n2.5,9,b\n3.5,10,a\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let options = SchemaOptions { categorical: vec!["grade".to_owned()], ..SchemaOptions::default() };
/// let (schema, _) = survey(&file, &options)?;
/// assert_eq!(schema.columns[0].content, Holds::Numbers);
/// let levels = vec!["9".to_owned(), "10".to_owned()]; // all numbers: in order of value
/// assert_eq!(schema.columns[1].content, Holds::Categories { encoding: Categories::OneHot, levels });
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "holds", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Holds {
    /// Numbers.
    Numbers,
    /// Categories.
    Categories {
        /// How they become numbers.
        encoding: Categories,
        /// All that were seen, in order of value if all are numbers, else as text.
        levels: Vec<String>,
    },
}

/// An input column of a file.
///
/// ```
/// use mercer_datasets::{Categories, Holds, InputColumn};
/// let levels = ["blue", "green", "red"].map(str::to_owned).to_vec();
/// let column = |encoding| InputColumn {
///     name: "colour".to_owned(),
///     position: 0,
///     content: Holds::Categories { encoding, levels: levels.clone() },
///     literal: false,
///     own_missing: false,
/// };
/// assert_eq!(column(Categories::OneHot).width(), 3);
/// assert_eq!(column(Categories::Ordinal).width(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputColumn {
    /// Its name in the header; its number, from 1, where it has none.
    pub name: String,
    /// Its position in a file that has the target, from 0. In svmlight it is its number in the file.
    pub position: usize,
    /// What it holds.
    pub content: Holds,
    /// Whether `NA` and its like are categories.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub literal: bool,
    /// Whether what is missing is a category of its own, also where no row of the fit missed any.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_missing: bool,
}

/// The category that a missing one is, where it is one.
pub(crate) const MISSING: &str = "(missing)";

impl InputColumn {
    /// Returns whether what is missing is a category of its own.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions, survey};
    /// let file = RowFile::spooled(&b"colour,y\nred,1.5\n,2.5\nred,3.5\n"[..], "toys", None)?;
    /// let options = SchemaOptions { missing_is_category: true, ..SchemaOptions::default() };
    /// assert!(survey(&file, &options)?.0.columns[0].counts_missing());
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    pub fn counts_missing(&self) -> bool {
        self.missing_level().is_some()
    }

    /// Returns the place among its levels of what is missing, where that is a category of its own.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions, survey};
    /// let file = RowFile::spooled(&b"colour,y\nred,1.5\n,2.5\nred,3.5\n"[..], "toys", None)?;
    /// let options = SchemaOptions { missing_is_category: true, ..SchemaOptions::default() };
    /// assert_eq!(survey(&file, &options)?.0.columns[0].missing_level(), Some(0)); // before `red`
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    pub fn missing_level(&self) -> Option<usize> {
        let Holds::Categories { levels, .. } = &self.content else { return None };
        levels.iter().position(|level| level == MISSING)
    }

    /// Returns how many numbers it becomes.
    pub const fn width(&self) -> usize {
        match &self.content {
            Holds::Categories { encoding: Categories::OneHot, levels } => levels.len(),
            _ => 1,
        }
    }
}

/// The target column of a file.
///
/// ```
/// use mercer_datasets::{Kind, RowFile, SchemaOptions, survey};
/// let text = "code,size\n01,1.5\n1,2.5\n01,3.5\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let target = Some("code".to_owned());
/// let kind = Some(Kind::Classification);
/// let (schema, _) = survey(&file, &SchemaOptions { target, kind, ..SchemaOptions::default() })?;
/// assert_eq!((schema.target.position, schema.target.kind), (0, Kind::Classification));
/// assert_eq!(schema.target.labels.len(), 2); // `01` and `1` are two
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetColumnKept {
    /// Its name in the header, or its number, from 1.
    pub name: String,
    /// Where it stands, from 0.
    pub position: usize,
    /// Classes or numbers.
    pub kind: Kind,
    /// Class names as in the file, in the order of the class indices. `01` and `1` are two names; the list is empty for
    /// regression.
    pub labels: Vec<String>,
}

impl TargetColumnKept {
    /// Returns whether its two classes stand the other way round than they sort: the first is the one looked for.
    ///
    /// ```
    /// use mercer_datasets::{RowFile, SchemaOptions, survey};
    /// let file = RowFile::spooled(&b"x,kind\n1,a\n2,b\n3,a\n"[..], "toys", None)?;
    /// let turned = |positive: &str| {
    ///     let positive = Some(positive.to_owned());
    ///     survey(&file, &SchemaOptions { positive, ..SchemaOptions::default() }).map(|own| own.0.target.is_turned())
    /// };
    /// assert!(turned("a")? && !turned("b")?);
    /// # Ok::<(), mercer_datasets::DataError>(())
    /// ```
    pub fn is_turned(&self) -> bool {
        let mut sorted = self.labels.clone();
        crate::table::sort_labels(&mut sorted);
        self.labels.len() == 2 && sorted != self.labels
    }
}

/// How the columns of an svmlight file are numbered. Numbers are taken as they stand: a file that is
/// numbered in the other way would shift every column by one.
///
/// ```
/// use mercer_datasets::{RowFile, RowFormat, SchemaOptions, survey};
/// let read = |text: &'static str| RowFile::spooled(text.as_bytes(), "f.svm", Some(RowFormat::Svmlight));
/// let (schema, _) = survey(&read("1 0:5 1:7\n-1 0:1 1:2\n")?, &SchemaOptions::default())?;
/// let numbering = schema.numbering.unwrap();
/// assert_eq!((numbering.first, numbering.present), (0, 2));
/// // Five rows without a column 0, where all rows had it: they are numbered from 1.
/// let other = read("1 1:5\n1 1:6\n-1 1:5\n1 1:4\n-1 1:3\n")?;
/// assert!(schema.read(&other).unwrap_err().to_string().contains("numbered from 1"));
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbering {
    /// Number of the first column. It is 0 if a column 0 occurs in any row, else 1.
    pub first: u32,
    /// Rows that have this column.
    pub present: usize,
    /// All rows.
    pub rows: usize,
}

/// What the columns of a file mean.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, survey};
/// let read = |text: &'static str| RowFile::spooled(text.as_bytes(), "toys", None);
/// let file = read("size,colour,kind\n1.5,red,a\n3,blue,b\n2,red,a\n")?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// assert_eq!((schema.columns.len(), schema.width(), schema.has_categories()), (2, 3, true));
/// // Another file: columns are found by their names in any order; a level never seen is refused.
/// assert_eq!(schema.read(&read("colour,size\nred,1\n")?)?.chunk(1, false)?.0, ndarray::array![[1.0, 0.0, 1.0]]);
/// let other = read("size,colour\n1,green\n")?;
/// let refused = schema.read(&other)?.next(false).unwrap_err();
/// assert!(refused.to_string().contains("green"), "{refused}");
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Whether the columns have names.
    pub named: bool,
    /// Whether the file was svmlight, whose rows leave zeros out.
    pub sparse: bool,
    /// How the columns of an svmlight file are numbered; not in models of format 1.0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbering: Option<Numbering>,
    /// Texts that stand for a missing value, in place of the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The input columns, left to right.
    pub columns: Vec<InputColumn>,
    /// Columns left out, by their place in a file that has the target. A file to be predicted may lack them.
    pub dropped: Vec<(usize, String)>,
    /// The target.
    pub target: TargetColumnKept,
}

/// The target of one row.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions, Truth, survey};
/// let file = RowFile::spooled(&b"x,kind\n1,box\n2,ball\n"[..], "toys", None)?;
/// let (schema, _) = survey(&file, &SchemaOptions::default())?;
/// let mut rows = schema.read(&file)?;
/// let truth = rows.next(true)?.and_then(|row| row.truth);
/// assert_eq!(truth, Some(Truth::Class(1))); // after `ball`
/// assert_eq!(rows.next(false)?.and_then(|row| row.truth), None); // not looked at
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    /// A class index.
    Class(u32),
    /// A number.
    Value(f64),
}

/// Targets of several rows.
///
/// ```
/// use mercer_datasets::{Kind, Truth, Truths};
/// let mut truths = Truths::none(Kind::Classification);
/// truths.push(Truth::Class(2));
/// truths.append(Truths::Classes(vec![0, 1]));
/// assert_eq!((truths.len(), truths), (3, Truths::Classes(vec![2, 0, 1])));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Truths {
    /// Class indices.
    Classes(Vec<u32>),
    /// Numbers.
    Values(Vec<f64>),
}

impl Truths {
    /// Returns an empty list of this kind.
    pub const fn none(kind: Kind) -> Self {
        match kind {
            Kind::Classification => Self::Classes(Vec::new()),
            Kind::Regression => Self::Values(Vec::new()),
        }
    }

    /// Returns how many there are.
    pub const fn len(&self) -> usize {
        match self {
            Self::Classes(labels) => labels.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns one of them.
    ///
    /// # Panics
    /// If there is no such one.
    pub fn of(&self, row: usize) -> Truth {
        match self {
            Self::Classes(labels) => Truth::Class(labels[row]),
            Self::Values(values) => Truth::Value(values[row]),
        }
    }

    /// Appends all of `others` after these.
    ///
    /// # Panics
    /// If they are of the other kind: a schema gives one kind.
    pub fn append(&mut self, others: Self) {
        match (self, others) {
            (Self::Classes(labels), Self::Classes(others)) => labels.extend(others),
            (Self::Values(values), Self::Values(others)) => values.extend(others),
            _ => panic!("a schema has one kind of target"),
        }
    }

    /// Appends one more.
    ///
    /// # Panics
    /// If it is of the other kind: a schema gives one kind.
    pub fn push(&mut self, truth: Truth) {
        match (self, truth) {
            (Self::Classes(labels), Truth::Class(label)) => labels.push(label),
            (Self::Values(values), Truth::Value(value)) => values.push(value),
            _ => panic!("a schema has one kind of target"),
        }
    }
}

impl Schema {
    /// Returns how many numbers a row becomes, `d`.
    pub fn width(&self) -> usize {
        self.columns.iter().map(InputColumn::width).sum()
    }

    /// Returns whether any column holds categories.
    pub fn has_categories(&self) -> bool {
        self.columns.iter().any(|column| column.content != Holds::Numbers)
    }

    /// Returns a name for each of the `d` numbers.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.width());
        for column in &self.columns {
            match &column.content {
                Holds::Categories { encoding: Categories::OneHot, levels } => {
                    names.extend(levels.iter().map(|level| format!("{}={level}", column.name)));
                }
                _ => names.push(column.name.clone()),
            }
        }
        names
    }

    /// What a missing entry becomes by the text that stood there; nothing where the text is an entry of its own.
    pub(crate) fn hole_of(&self, text: &str) -> f64 {
        let spelled = match &self.missing {
            Some(own) => own.iter().position(|own| own == text),
            None => rows::MISSING.iter().chain(&reading::DASHES).position(|own| *own == text),
        };
        hole(spelled.filter(|_| !text.is_empty()))
    }

    /// The text that stood where a number is missing; none where nothing stood.
    pub(crate) fn stood(&self, missing: f64) -> Option<&str> {
        let at = spelling(missing)?;
        match &self.missing {
            Some(own) => own.get(at).map(String::as_str),
            None => rows::MISSING.iter().chain(&reading::DASHES).nth(at).copied(),
        }
    }

    /// Checks that what was read from a model file can be one.
    ///
    /// # Errors
    /// [`DataError::Format`] names what is wrong.
    pub fn check(&self) -> Result<(), DataError> {
        let wrong = |problem: String| Err(DataError::format("the schema", problem));
        if self.columns.is_empty() {
            return wrong("has no input column".to_owned());
        }
        let mut places: Vec<usize> = self.columns.iter().map(|column| column.position).collect();
        if !places.is_sorted() {
            return wrong("has columns out of order".to_owned());
        }
        let first = places[0];
        if self.numbering.is_some_and(|n| {
            !self.sparse || n.first as usize > first || n.first > 1 || n.present > n.rows
        }) {
            return wrong("numbers its columns in no way".to_owned());
        }
        places.dedup();
        if places.len() != self.columns.len() {
            return wrong("has two columns in one place".to_owned());
        }
        for column in &self.columns {
            if let Holds::Categories { levels, .. } = &column.content {
                let mut sorted: Vec<&String> = levels.iter().collect();
                sorted.sort();
                sorted.dedup();
                if levels.is_empty() || sorted.len() != levels.len() {
                    return wrong(format!("has no or repeated levels in column `{}`", column.name));
                }
            }
        }
        let classes = self.target.kind == Kind::Classification;
        if classes != (self.target.labels.len() >= 2) {
            return wrong(format!("has {} class names", self.target.labels.len()));
        }
        Ok(())
    }

    /// Returns a reader of files with these columns.
    ///
    /// # Errors
    /// See [`Reading::next`]; here [`DataError::Format`] if the header has other columns.
    pub fn read<'a>(&'a self, file: &'a RowFile) -> Result<Reading<'a>, DataError> {
        self.read_wider(file, &reading::AS_FITTED)
    }

    /// Returns a reader of files that may have more columns than these.
    ///
    /// # Errors
    /// As [`Schema::read`]; [`DataError::Flag`] for a column to keep or to leave out that is not there.
    pub fn read_wider<'a>(
        &'a self,
        file: &'a RowFile,
        widened: &'a Widened,
    ) -> Result<Reading<'a>, DataError> {
        Reading::new(self, file, widened)
    }
}

/// What columns are called whose heads are these: one without a name by its number, from 1, or as
/// `column 1` where another has that name.
fn called(heads: &[String]) -> Vec<String> {
    let name = |at: usize, head: &String| {
        if !head.is_empty() {
            return head.clone();
        }
        let number = (at + 1).to_string();
        if heads.contains(&number) { format!("column {number}") } else { number }
    };
    heads.iter().enumerate().map(|(at, head)| name(at, head)).collect()
}

/// Whether a column of that place and name has this head.
fn has_head(position: usize, name: &str, head: &str) -> bool {
    // Without a name it is called by its number.
    let number = name.strip_prefix("column ").unwrap_or(name);
    name == head || head.is_empty() && number.parse() == Ok(position + 1)
}

/// Two of the sorted labels that are the same number in different spellings.
fn spelled_twice(labels: &[String]) -> Option<(&str, &str)> {
    let value = |label: &str| label.parse::<f64>().ok().filter(|value| value.is_finite());
    labels.windows(2).find_map(|pair| {
        let (a, b) = (value(&pair[0])?, value(&pair[1])?);
        // Beyond, neighbouring whole numbers are one double.
        (a.total_cmp(&b).is_eq() && a.abs() < 2f64.powi(53))
            .then_some((pair[0].as_str(), pair[1].as_str()))
    })
}

/// A label without what is easily mistyped: capitals, blanks around and between, dots at the end.
fn alike_key(label: &str) -> String {
    let words: Vec<&str> = label.trim_end_matches('.').split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// Pairs of labels that differ in capitals only, or also in blanks and a dot at the end, and that they are two `things`.
fn alike(labels: &[String], things: &str) -> Option<String> {
    const SHOWN: usize = 3;
    let mut seen = std::collections::BTreeMap::new();
    let mut capitals_only = true;
    let mut pairs = Vec::new();
    for label in labels {
        let earlier = seen.insert(alike_key(label), label);
        if let Some(earlier) = earlier {
            capitals_only &= earlier.to_lowercase() == label.to_lowercase();
            pairs.push(format!("`{}` and `{}`", shown(earlier), shown(label)));
        }
    }
    let what = if capitals_only { "capitals" } else { "capitals, dots or blanks" };
    let each = if pairs.len() > 1 { " each" } else { "" };
    let more = pairs.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more pairs") } else { String::new() };
    pairs.truncate(SHOWN);
    let pairs = pairs.join(", ");
    (!pairs.is_empty())
        .then(|| format!("{pairs}{more} differ in {what} only and are two {things}{each}"))
}

/// What to do about a table that seems to have a single column, called so.
fn separator_hint(name: &str) -> String {
    let entry = |word: &str| {
        let (column, value) = word.split_once(':')?;
        column.parse::<u32>().ok().zip(value.parse::<f64>().ok())
    };
    if name.split_whitespace().skip(1).any(|word| entry(word).is_some()) {
        return "; are its rows svmlight? (--format svmlight)".to_owned();
    }
    let named = ['|', ';', '~', '^', ':'].into_iter().find(|&sign| name.contains(sign));
    let flag = match named {
        _ if name.contains('\t') => "--separator tab".to_owned(),
        Some(';') => "--separator semicolon".to_owned(),
        Some(sign) => format!("--separator {}", shell_word(&sign.to_string())),
        None if name.contains(' ') => "--separator blanks".to_owned(),
        None => "--separator CHAR".to_owned(),
    };
    format!("; is the separator right? ({flag})")
}

/// The column that may have been meant: by a slip of the fingers, or by the beginning of its name, if
/// that is of one column only.
fn near_column<'a>(wanted: &str, names: &'a [String]) -> Option<&'a str> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let wanted = wanted.trim();
    let begins = || {
        let small = wanted.to_lowercase();
        let mut those =
            names.iter().copied().filter(|name| name.to_lowercase().starts_with(&small));
        those.next().filter(|_| those.next().is_none() && !wanted.is_empty())
    };
    mercer_learning::nearest(wanted, &names).or_else(begins)
}

/// The first few of many.
fn some_of(names: &[String]) -> String {
    let shown: Vec<String> =
        names.iter().take(8).map(|name| format!("`{}`", shown(name))).collect();
    let more =
        if names.len() > 8 { format!(" and {} more", names.len() - 8) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// The beginning of a text that may be long.
fn shown(text: &str) -> String {
    const LETTERS: usize = 40;
    if text.chars().count() <= LETTERS {
        return text.to_owned();
    }
    text.chars().take(LETTERS - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests;
