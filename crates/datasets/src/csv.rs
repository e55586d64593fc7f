//! Text tables: comma, semicolon, tab or blanks between columns.

use crate::number::number;
use crate::rows::{Part, Quoting};
use crate::{Column, DataError, Limits, Table};
use ndarray::Array2;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How a text table is to be read.
///
/// ```
/// use mercer_datasets::{CsvOptions, Limits, Separator, Target, csv};
/// let text = b"id;kind;sex;size\n7;box;f;1.5\n8;ball;m;3\n";
/// let options = CsvOptions {
///     separator: Separator::Semicolon,
///     target: Target::Named("kind".to_owned()),
///     drop: vec![0],
///     codes: [(0, [("f".to_owned(), 0.0), ("m".to_owned(), 1.0)].into())].into(),
///     ..CsvOptions::default()
/// };
/// let table = csv::parse(text, "example", &options, &Limits::default())?;
/// assert_eq!(table.inputs, ndarray::array![[0.0, 1.5], [1.0, 3.0]]);
/// assert_eq!(table.targets.name(0), "box");
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CsvOptions {
    /// What stands between columns.
    pub separator: Separator,
    /// Whether the first line names the columns. `None` decides by whether that line holds text where the second holds
    /// a number.
    pub header: Option<bool>,
    /// Which column is the target, after those dropped.
    pub target: Target,
    /// Columns to leave out, from 0, as the file has them.
    pub drop: Vec<usize>,
    /// The number that stands for each text of an input column. Columns are numbered among the inputs from 0.
    pub codes: BTreeMap<usize, BTreeMap<String, f64>>,
}

/// What stands between the columns of a text table.
///
/// ```
/// use mercer_datasets::{CsvOptions, Limits, Separator, csv};
/// let parse = |text: &[u8], separator| {
///     csv::parse(text, "f", &CsvOptions { separator, ..CsvOptions::default() }, &Limits::default())
/// };
/// let blanks = parse(b"  1.5\t 2  1\n 3 4   0\n", Separator::Blanks)?;
/// assert_eq!(blanks, parse(b"1.5;2;1\n3;4;0\n", Separator::Semicolon)?);
/// assert!(parse(b"1.5;2;1\n3;4;0\n", Separator::Comma).is_err()); // one column is no table
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Separator {
    /// One comma; a field in double quotes may hold commas and line ends.
    #[default]
    Comma,
    /// One semicolon; quotes as for commas.
    Semicolon,
    /// One tab; quotes as for commas.
    Tab,
    /// Any number of blanks and tabs, also before the first column; no quotes.
    Blanks,
}

/// Which column of a table is the target.
///
/// ```
/// use mercer_datasets::{CsvOptions, Limits, Target, csv};
/// let inputs = |target| {
///     let options = CsvOptions { target, ..CsvOptions::default() };
///     csv::parse(b"a,b,c\n1,2,3\n4,5,6\n", "f", &options, &Limits::default()).map(|table| table.inputs)
/// };
/// assert_eq!(inputs(Target::First)?, ndarray::array![[2.0, 3.0], [5.0, 6.0]]);
/// assert_eq!(inputs(Target::Named("b".to_owned()))?, ndarray::array![[1.0, 3.0], [4.0, 6.0]]);
/// assert_eq!(inputs(Target::default())?, ndarray::array![[1.0, 2.0], [4.0, 5.0]]); // the last
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Target {
    /// The first.
    First,
    /// The last.
    #[default]
    Last,
    /// The one of that name, which needs a header.
    Named(String),
}

/// Reads a text table: numbers in every column but the target, which may be text.
///
/// ```
/// use mercer_datasets::{CsvOptions, Limits, csv};
/// let text = b"width,height,kind\n1.5,2,box\n3,-4e-1,ball\n";
/// let table = csv::parse(text, "example", &CsvOptions::default(), &Limits::default())?;
/// assert_eq!(table.inputs, ndarray::array![[1.5, 2.0], [3.0, -0.4]]);
/// assert_eq!(table.targets.name(1), "ball");
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
///
/// # Errors
/// [`DataError::Line`] with the line for a wrong number of columns, an empty field, or an input
/// that is no finite number; [`DataError::Format`] for a file that is no such table;
/// [`DataError::TooLarge`] beyond the limits.
pub fn parse(
    bytes: &[u8],
    file: &str,
    options: &CsvOptions,
    limits: &Limits,
) -> Result<Table, DataError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
        DataError::line(file, line, "is not UTF-8 text")
    })?;
    let (text, separator) = match options.separator {
        Separator::Comma => (Cow::Borrowed(text), b','),
        Separator::Semicolon => (Cow::Borrowed(text), b';'),
        Separator::Tab => (Cow::Borrowed(text), b'\t'),
        Separator::Blanks => (Cow::Owned(single_blanks(text)), b' '),
    };
    let quotes = options.separator != Separator::Blanks;
    let records = records(&text, separator, quotes, file)?;
    limits.check(file, records.lines.len(), records.width)?;
    assemble(&records, file, options)
}

/// Input columns and target column as numbers and labels.
fn assemble(records: &Records, file: &str, options: &CsvOptions) -> Result<Table, DataError> {
    let lines = &records.lines;
    let columns: Vec<usize> =
        (0..records.width).filter(|column| !options.drop.contains(column)).collect();
    if columns.len() < 2 {
        let problem = "needs at least one input column and a target; is the separator right?";
        return Err(DataError::format(file, problem));
    }
    let field = |column: usize, row| records.field(row, columns[column]);
    let numeric = |text: &str| number(text.as_bytes()).is_some_and(|(_, end)| end == text.len());
    let header = options.header.unwrap_or_else(|| {
        let words = |row| (0..columns.len()).map(move |column| !numeric(field(column, row)));
        lines.len() > 1 && words(0).zip(words(1)).any(|(first, second)| first && !second)
    });
    let skip = usize::from(header);
    let target = match &options.target {
        Target::First => 0,
        Target::Last => columns.len() - 1,
        Target::Named(name) => {
            let names: Vec<&str> = (0..columns.len()).map(|column| field(column, 0)).collect();
            names.iter().position(|n| header && n == name).ok_or_else(|| {
                let problem = format!("has no column `{name}`; its first line is {names:?}");
                DataError::format(file, problem)
            })?
        }
    };
    let n = lines.len() - skip;
    if n == 0 {
        return Err(DataError::format(file, "holds no rows"));
    }
    let inputs: Vec<usize> = (0..columns.len()).filter(|&at| at != target).collect();
    let mut matrix = Array2::zeros((n, inputs.len()));
    for (j, &at) in inputs.iter().enumerate() {
        let codes = options.codes.get(&j);
        let name = if header { field(at, 0).to_owned() } else { (at + 1).to_string() };
        for row in 0..n {
            let text = field(at, row + skip);
            let value = match codes {
                Some(codes) => codes.get(text).copied(),
                None => number(text.as_bytes())
                    .filter(|&(value, end)| end == text.len() && value.is_finite())
                    .map(|(value, _)| value),
            };
            matrix[[row, j]] = value.ok_or_else(|| {
                let shown: String = text.chars().take(32).collect();
                let problem = match codes {
                    Some(_) => format!("`{shown}` in column {name} has no code"),
                    None if text.is_empty() => format!("column {name} is empty"),
                    None => format!("`{shown}` in column {name} is not a finite number"),
                };
                DataError::line(file, lines[row + skip], problem)
            })?;
        }
    }
    let labels: Vec<String> =
        (skip..lines.len()).map(|row| field(target, row).to_owned()).collect();
    if let Some(row) = labels.iter().position(String::is_empty) {
        return Err(DataError::line(file, lines[row + skip], "the target is empty"));
    }
    let values: Option<Vec<f64>> = labels
        .iter()
        .map(|label| number(label.as_bytes()).filter(|&(_, end)| end == label.len()))
        .map(|parsed| parsed.map(|(value, _)| value))
        .collect();
    let targets = match values {
        Some(values) if values.iter().all(|value| value.is_finite()) => Column::Numbers(values),
        _ => Column::Names(labels),
    };
    Ok(Table { inputs: matrix, targets })
}

/// The records of a text table.
#[derive(Default)]
struct Records {
    /// The line in which each begins, from 1.
    lines: Vec<usize>,
    /// Fields in every one.
    width: usize,
    /// Their fields one after another, quotes taken apart.
    text: String,
    /// Where each field ends.
    ends: Vec<usize>,
}

impl Records {
    fn field(&self, row: usize, column: usize) -> &str {
        let at = row * self.width + column;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        self.text[start..self.ends[at]].trim()
    }
}

/// Takes the text apart at line ends and separators outside of quotes.
fn records(text: &str, separator: u8, quotes: bool, file: &str) -> Result<Records, DataError> {
    let mut found = Records { text: String::with_capacity(text.len()), ..Records::default() };
    let (mut line, mut letters) = (1, text.chars());
    while !letters.as_str().is_empty() {
        let (first, start, before) = (line, found.text.len(), found.ends.len());
        let mut quoting = Quoting::default();
        for letter in letters.by_ref() {
            line += usize::from(letter == '\n');
            if letter == '\n' && !quoting.is_open() {
                break;
            }
            let separates = letter == char::from(separator);
            // What is no ASCII is content wherever it stands.
            let byte = u8::try_from(letter).unwrap_or(u8::MAX);
            match if quotes { quoting.step(byte, separates) } else { Part::plain(separates) } {
                Part::Quote => {}
                Part::Content => found.text.push(letter),
                Part::Separator => found.ends.push(found.text.len()),
            }
        }
        found.ends.push(found.text.len());
        let wrong = |problem: String| Err(DataError::line(file, first, problem));
        if quoting.is_open() {
            return wrong("opens a quote that never closes".to_owned());
        }
        let fields = found.ends.len() - before;
        if found.text[start..].trim().is_empty() {
            if fields > 1 {
                return wrong("every column is empty".to_owned());
            }
            found.text.truncate(start);
            found.ends.truncate(before);
            continue;
        }
        if found.lines.is_empty() {
            found.width = fields;
        } else if fields != found.width {
            let width = found.width;
            return wrong(format!("has {fields} columns, but the first line has {width}"));
        }
        found.lines.push(first);
    }
    if found.lines.is_empty() {
        return Err(DataError::format(file, "holds no rows"));
    }
    Ok(found)
}

/// Every run of blanks as one, none at the ends of lines.
fn single_blanks(text: &str) -> String {
    let mut single = String::with_capacity(text.len());
    for line in text.lines() {
        for (at, word) in line.split_ascii_whitespace().enumerate() {
            if at > 0 {
                single.push(' ');
            }
            single.push_str(word);
        }
        single.push('\n');
    }
    single
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;

    fn read_with(text: &[u8], options: &CsvOptions) -> Result<Table, DataError> {
        parse(text, "f.csv", options, &Limits::default())
    }

    fn read_plain(text: &[u8]) -> Result<Table, DataError> {
        read_with(text, &CsvOptions::default())
    }

    #[test]
    fn headers_are_found_and_quotes_taken_apart() {
        let table = read_plain(b"a,\"b, or c\",y\r\n1,\"2\",x\r\n\r\n3,4,\"z, w\"\r\n").unwrap();
        assert_eq!(table.inputs, array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(table.targets, Column::Names(vec!["x".to_owned(), "z, w".to_owned()]));
        let bare = read_plain(b"1,2,0\n3,4,1").unwrap();
        assert_eq!(bare.inputs, array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(bare.targets, Column::Numbers(vec![0.0, 1.0]));
        let text = read_plain(b"1,2,no\n3,4,yes\n").unwrap();
        assert_eq!(text.inputs.nrows(), 2);
        let inches = read_plain(b"1,7\" pipe\n2,\"7\"\" pipe, \xc3\xa9\"\n").unwrap();
        let names = ["7\" pipe", "7\" pipe, \u{e9}"].map(str::to_owned).to_vec();
        assert_eq!(inches.targets, Column::Names(names));
    }

    #[test]
    fn any_column_can_be_the_target_and_others_left_out() {
        let text = b"id,y,a\nr1,0.5,7\nr2,1.5,8\n";
        for target in [Target::First, Target::Named("y".to_owned())] {
            let options = CsvOptions { target, drop: vec![0], ..CsvOptions::default() };
            let table = read_with(text, &options).unwrap();
            assert_eq!(table.inputs, array![[7.0], [8.0]]);
            assert_eq!(table.targets, Column::Numbers(vec![0.5, 1.5]));
        }
        let options = CsvOptions { target: Target::Named("z".to_owned()), ..CsvOptions::default() };
        let error = read_with(text, &options).unwrap_err().to_string();
        assert!(error.starts_with("f.csv: has no column `z`; its first line is"), "{error}");
    }

    #[test]
    fn blanks_separate_and_text_is_coded() {
        let codes = BTreeMap::from([("M".to_owned(), 1.0), ("F".to_owned(), 2.0)]);
        let options = CsvOptions {
            separator: Separator::Blanks,
            codes: BTreeMap::from([(0, codes)]),
            ..CsvOptions::default()
        };
        let table = read_with(b"  M 0.5\t 10\n\n F   -1 20 \n", &options).unwrap();
        assert_eq!(table.inputs, array![[1.0, 0.5], [2.0, -1.0]]);
        let error = read_with(b"M 1 2\nI 1 2\n", &options).unwrap_err().to_string();
        assert_eq!(error, "f.csv:2: `I` in column 1 has no code");
    }

    #[test]
    fn every_fault_is_named_with_file_and_line() {
        for (text, message) in [
            (&b"1,2,0\n1,2\n"[..], "f.csv:2: has 2 columns, but the first line has 3"),
            (b"1,2,0\n\n1,2,3,4\n", "f.csv:3: has 4 columns, but the first line has 3"),
            (b"1,2,0\n1,,1\n", "f.csv:2: column 2 is empty"),
            (b"1,2,0\n1,nan,1\n", "f.csv:2: `nan` in column 2 is not a finite number"),
            (b"1,2,0\n1,1e999,1\n", "f.csv:2: `1e999` in column 2 is not a finite number"),
            (b"1,2,0\n1,x y,1\n", "f.csv:2: `x y` in column 2 is not a finite number"),
            (b"1,2,0\n1,2,\n", "f.csv:2: the target is empty"),
            (b"1,\"2,0\n1,2,\n", "f.csv:1: opens a quote that never closes"),
            (b"1,2\n\xff\xfe,2\n", "f.csv:2: is not UTF-8 text"),
            (b"1\n2\n", "f.csv: needs at least one input column and a target"),
            (b"", "f.csv: holds no rows"),
            (b"\n \n", "f.csv: holds no rows"),
            (b"1,2\n,\n", "f.csv:2: every column is empty"),
        ] {
            let error = read_plain(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}\nexpected {message}");
        }
        let header = CsvOptions { header: Some(true), ..CsvOptions::default() };
        let error = read_with(b"a,b\n", &header).unwrap_err().to_string();
        assert_eq!(error, "f.csv: holds no rows");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn random_and_mutated_bytes_never_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..120),
            edits in proptest::collection::vec((0usize..40, any::<u8>()), 0..5),
        ) {
            let _ = read_plain(&bytes);
            let mut mutated = b"a,b,\"c\"\n1,2,x\n3,-4e1,\"y\"\"z\"\n5,6,x\n".to_vec();
            for (at, byte) in edits {
                let length = mutated.len();
                mutated[at % length] = byte;
            }
            if let Ok(table) = read_plain(&mutated) {
                prop_assert!(table.inputs.iter().all(|value| value.is_finite()));
                prop_assert_eq!(table.inputs.nrows(), table.targets.len());
            }
        }
    }
}
