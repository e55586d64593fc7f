//! svmlight (LIBSVM) text, by a hand-written parser.

use crate::number::number;
use crate::table::Rows;
use crate::{Column, DataError, Limits, Table};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// How the columns of an svmlight file are numbered.
///
/// ```
/// use mercer_datasets::{Base, Limits, svmlight};
/// let width = |text: &[u8], base| {
///     svmlight::parse(text, "f", base, None, &Limits::default()).map(|table| table.inputs.ncols())
/// };
/// assert_eq!(width(b"1 0:5 2:7\n", Base::Detect)?, 3); // a column 0 occurs
/// assert_eq!(width(b"1 1:5 2:7\n", Base::Detect)?, 2);
/// assert_eq!(width(b"1 1:5 2:7\n", Base::Zero)?, 3);
/// assert!(width(b"1 0:5 2:7\n", Base::One).is_err());
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// From 0.
    Zero,
    /// From 1, as the format is defined.
    One,
    /// From 0 if a column 0 occurs, else from 1.
    #[default]
    Detect,
}

/// Reads svmlight text: `target column:value column:value ... # comment`, one row a line.
///
/// Columns must rise within a line; those left out are 0. Blank lines and comments are skipped.
/// `features` is the number of columns `d` if it is known; otherwise it is the largest column that
/// occurs. `file` is how errors call the file.
///
/// ```
/// use mercer_datasets::{Base, Limits, svmlight};
/// let text = b"-1 1:0.5 3:2\n+1 2:1e-3 # the second row\n";
/// let table = svmlight::parse(text, "example", Base::Detect, None, &Limits::default())?;
/// assert_eq!(table.inputs, ndarray::array![[0.5, 0.0, 2.0], [0.0, 1e-3, 0.0]]);
/// # Ok::<(), mercer_datasets::DataError>(())
/// ```
///
/// # Errors
/// [`DataError::Line`] with the line for everything that is not such text: unsorted, repeated or
/// huge column numbers, NaN, infinities, text, a pair without value; [`DataError::Format`] for a
/// file without rows; [`DataError::TooLarge`] beyond the limits.
pub fn parse(
    bytes: &[u8],
    file: &str,
    base: Base,
    features: Option<usize>,
    limits: &Limits,
) -> Result<Table, DataError> {
    let last = features.map_or(limits.features, |d| d.min(limits.features));
    // Without `d` and the base the rows cannot be laid out yet: keep what is not zero.
    let (mut ends, mut entries) = (Vec::new(), Vec::new());
    let (mut targets, mut highest, mut lowest) = (Vec::new(), None::<u32>, u32::MAX);
    let first = u32::from(base == Base::One);
    // With the base unknown, a column equal to `last` is allowed for now.
    let bound = if base == Base::Zero { last.saturating_sub(1) } else { last };
    scan(bytes, file, (first, bound), false, |target, row| {
        targets.push(target);
        if let (Some(&(low, _)), Some(&(high, _))) = (row.first(), row.last()) {
            lowest = lowest.min(low);
            highest = highest.max(Some(high));
        }
        entries.extend_from_slice(row);
        ends.push(entries.len());
        Ok(())
    })?;
    let shift = match base {
        Base::Zero => 0,
        Base::One => 1,
        Base::Detect => u32::from(lowest > 0),
    };
    let width = highest.map_or(0, |high| (high + 1 - shift) as usize);
    let d = features.unwrap_or(width);
    if targets.is_empty() {
        return Err(DataError::format(file, "holds no rows"));
    }
    if width > d {
        let problem = format!("has {width} columns, numbered from {shift}, but {d} are declared");
        return Err(DataError::format(file, problem));
    }
    if d == 0 {
        return Err(DataError::format(file, "holds targets but no input columns"));
    }
    let n = targets.len();
    limits.check(file, n, d)?;
    let (mut values, mut start) = (vec![0.0; n * d], 0);
    for (cells, end) in values.chunks_exact_mut(d).zip(ends) {
        for &(column, value) in &entries[start..end] {
            cells[(column - shift) as usize] = value;
        }
        start = end;
    }
    let inputs = Array2::from_shape_vec((n, d), values)
        .map_err(|error| DataError::format(file, error.to_string()))?;
    Ok(Table { inputs, targets: Column::Numbers(targets) })
}

/// Appends the rows of a file with stated base and width, straight into their final place.
pub(crate) fn append(
    bytes: &[u8],
    file: &str,
    base: Base,
    features: usize,
    limits: &Limits,
    rows: &mut Rows,
) -> Result<(), DataError> {
    if base == Base::Detect {
        let table = parse(bytes, file, base, Some(features), limits)?;
        limits.check(file, rows.targets.len() + table.targets.len(), features)?;
        rows.values.extend(table.inputs.iter());
        if let Column::Numbers(targets) = table.targets {
            rows.targets.extend(targets);
        }
        return Ok(());
    }
    let first = u32::from(base == Base::One);
    let last = if base == Base::One { features } else { features.saturating_sub(1) };
    scan(bytes, file, (first, last), false, |target, row| {
        limits.check(file, rows.targets.len() + 1, features)?;
        rows.targets.push(target);
        let start = rows.values.len();
        rows.values.resize(start + features, 0.0);
        let cells = &mut rows.values[start..];
        for &(column, value) in row {
            cells[(column - first) as usize] = value;
        }
        Ok(())
    })
}

/// Walks over the lines and hands each row to `visit` as its target and its rising columns. Where values may be
/// `missing`, `nan` is one.
pub(crate) fn scan(
    bytes: &[u8],
    file: &str,
    (first, last): (u32, usize),
    missing: bool,
    mut visit: impl FnMut(f64, &[(u32, f64)]) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut row: Vec<(u32, f64)> = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < bytes.len() {
        let wrong = |problem: String| DataError::line(file, line, problem);
        at = skip_blanks(bytes, at);
        if !at_line_end(bytes, at) {
            row.clear();
            let target;
            (target, at) = value(bytes, at, "target").map_err(wrong)?;
            let mut previous = None::<u32>;
            loop {
                at = skip_blanks(bytes, at);
                if at_line_end(bytes, at) {
                    break;
                }
                let column;
                (column, at) = pair_column(bytes, at).map_err(wrong)?;
                if previous.is_some_and(|previous| column <= previous) {
                    let before = previous.unwrap_or_default();
                    let fault = if column == before { "repeats" } else { "stands after" };
                    return Err(wrong(format!(
                        "column {column} {fault} column {before}; columns must rise in a line"
                    )));
                }
                if column < first || column as usize > last {
                    return Err(wrong(format!(
                        "column {column} is outside the allowed range {first} to {last}"
                    )));
                }
                previous = Some(column);
                let number;
                (number, at) = match value(bytes, at, "value") {
                    Err(_) if missing && token(bytes, at).eq_ignore_ascii_case("nan") => {
                        (f64::NAN, at + "nan".len())
                    }
                    other => other.map_err(wrong)?,
                };
                row.push((column, number));
            }
            visit(target, &row)?;
        }
        // As a rule the line ends right here.
        while bytes.get(at).is_some_and(|&byte| byte != b'\n') {
            at += 1;
        }
        at += 1;
        line += 1;
    }
    Ok(())
}

#[inline]
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// Whether nothing but a comment is left of the line.
#[inline]
fn at_line_end(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        None | Some(b'\n' | b'#') => true,
        Some(b'\r') => matches!(bytes.get(at + 1), None | Some(b'\n')),
        Some(_) => false,
    }
}

/// A finite number that a blank or the end of the line follows.
#[inline]
fn value(bytes: &[u8], at: usize, what: &str) -> Result<(f64, usize), String> {
    let parsed =
        number(&bytes[at..]).map(|(value, length)| (value, at + length)).filter(|&(_, end)| {
            matches!(bytes.get(end), Some(b' ' | b'\t')) || at_line_end(bytes, end)
        });
    match parsed {
        Some((value, end)) if value.is_finite() => Ok((value, end)),
        Some(_) => {
            Err(format!("the {what} `{}` is infinite in double precision", token(bytes, at)))
        }
        None => Err(format!("the {what} `{}` is not a finite number", token(bytes, at))),
    }
}

/// The largest number of a column in your own file. How many occur is limited elsewhere.
pub(crate) const LAST: u32 = i32::MAX as u32;

/// Its digits.
const DIGITS: usize = 10;

/// The column number in front of a colon.
#[inline]
fn pair_column(bytes: &[u8], at: usize) -> Result<(u32, usize), String> {
    let (mut end, mut column) = (at, 0u64);
    while let Some(digit) = bytes.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|&d| d < 10) {
        column = column.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    if end == at || bytes.get(end) != Some(&b':') {
        return Err(format!("expected `column:value`, found `{}`", token(bytes, at)));
    }
    // Leading zeros are not worth more.
    if end - at > DIGITS || column > u64::from(LAST) {
        return Err(format!(
            "the column number in `{}` is too large; the largest is {LAST}, and how many columns occur is what counts: \
             number them anew",
            token(bytes, at)
        ));
    }
    Ok((column as u32, end + 1))
}

/// What stands at `at`, shortened and with unprintable bytes escaped, for a message.
#[cold]
fn token(bytes: &[u8], at: usize) -> String {
    let rest = &bytes[at.min(bytes.len())..];
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    let shown = rest[..end.min(32)].escape_ascii().to_string();
    if end > 32 { shown + "..." } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;
    use std::fmt::Write;

    fn read(text: &[u8]) -> Result<Table, DataError> {
        parse(text, "f.svm", Base::Detect, None, &Limits::default())
    }

    #[test]
    fn gaps_comments_blank_lines_and_both_line_ends_are_understood() {
        let table = read(b"# head\r\n1 2:0.5\t4:-1e2 \r\n\r\n-2.5 # no columns\n+3 1:7").unwrap();
        let expected = array![[0.0, 0.5, 0.0, -100.0], [0.0; 4], [7.0, 0.0, 0.0, 0.0]];
        assert_eq!(table.inputs, expected);
        assert_eq!(table.targets, Column::Numbers(vec![1.0, -2.5, 3.0]));
    }

    #[test]
    fn the_base_is_detected_or_stated() {
        let text = b"1 0:5 2:6\n";
        assert_eq!(read(text).unwrap().inputs, array![[5.0, 0.0, 6.0]]);
        let limits = Limits::default();
        let one = parse(text, "f.svm", Base::One, None, &limits).unwrap_err().to_string();
        assert!(one.starts_with("f.svm:1: column 0 is outside the allowed range 1"), "{one}");
        let zero = parse(b"1 1:5\n", "f.svm", Base::Zero, Some(3), &limits).unwrap();
        assert_eq!(zero.inputs, array![[0.0, 5.0, 0.0]]);
    }

    #[test]
    fn every_fault_is_named_with_file_and_line() {
        for (text, message) in [
            (&b"1 1:2\n1 3:1 2:1\n"[..], "f.svm:2: column 2 stands after column 3"),
            (b"1 3:1 3:1\n", "f.svm:1: column 3 repeats column 3"),
            (b"1 1:nan\n", "f.svm:1: the value `nan` is not a finite number"),
            (b"1 1:-inf\n", "f.svm:1: the value `-inf` is not a finite number"),
            (b"nan 1:1\n", "f.svm:1: the target `nan` is not a finite number"),
            (b"1 1:1e999\n", "f.svm:1: the value `1e999` is infinite in double precision"),
            (b"1 1:2 5", "f.svm:1: expected `column:value`, found `5`"),
            (b"1 1:2 5:", "f.svm:1: the value `` is not a finite number"),
            (b"1 qid:3 1:2\n", "f.svm:1: expected `column:value`, found `qid:3`"),
            (b"1 99999999999999999999:1\n", "f.svm:1: the column number in"),
            (b"1 400000000:1\n", "f.svm:1: column 400000000 is outside the allowed range"),
            (b"1 4000000000:1\n", "f.svm:1: the column number in `4000000000:1` is too large"),
            (b"\x7fELF\x02\x01\n", "f.svm:1: the target `\\x7fELF\\x02\\x01` is not"),
            (b"1,2 1:1\n", "f.svm:1: the target `1,2` is not a finite number"),
            (b"1 1:2\r3:4\n", "f.svm:1: the value `2` is not a finite number"),
            (b"", "f.svm: holds no rows"),
            (b"# nothing\n\n", "f.svm: holds no rows"),
            (b"1\n2\n", "f.svm: holds targets but no input columns"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}\nexpected {message}");
        }
    }

    #[test]
    fn a_width_below_the_columns_or_beyond_the_limit_is_refused() {
        let limits = Limits { cells: 10, ..Limits::default() };
        let wide = parse(b"1 6:1\n2 1:1\n", "f.svm", Base::One, None, &limits);
        assert!(matches!(wide, Err(DataError::TooLarge { field: "cells", .. })));
        let narrow = parse(b"1 6:1\n", "f.svm", Base::One, Some(5), &limits).unwrap_err();
        assert!(narrow.to_string().contains("column 6 is outside the allowed range 1 to 5"));
    }

    #[test]
    fn both_ways_of_laying_out_rows_agree() {
        let (text, limits) = (b"1 1:1 3:3\n0 2:2\n", Limits::default());
        let table = parse(text, "f.svm", Base::One, Some(4), &limits).unwrap();
        for base in [Base::One, Base::Detect] {
            let mut rows = Rows::default();
            append(text, "f.svm", base, 4, &limits, &mut rows).unwrap();
            assert_eq!(rows.values, table.inputs.as_slice().unwrap());
            assert_eq!(table.targets, Column::Numbers(rows.targets));
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
        }

        #[test]
        fn mutated_files_never_panic(
            edits in proptest::collection::vec((0usize..64, any::<u8>()), 0..6),
            cut in 0usize..64,
        ) {
            let mut bytes = b"1 1:0.5 2:-3e2 7:1\n-1 2:4 # x\r\n2.5 1:1 3:0.25 4:9 9:1\n".to_vec();
            for (at, byte) in edits {
                let length = bytes.len();
                bytes[at % length] = byte;
            }
            bytes.truncate(cut.max(1));
            if let Ok(table) = read(&bytes) {
                prop_assert!(table.inputs.iter().all(|value| value.is_finite()));
                prop_assert_eq!(table.inputs.nrows(), table.targets.len());
            }
        }

        #[test]
        fn what_is_written_is_read(
            rows in proptest::collection::vec(
                (-1e6..1e6f64, proptest::collection::vec(prop_oneof![Just(0.0), -1e9..1e9f64], 5)),
                1..8,
            ),
        ) {
            let mut text = String::new();
            for (target, row) in &rows {
                text += &target.to_string();
                for (column, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    write!(text, " {}:{value}", column + 1).unwrap();
                }
                text.push('\n');
            }
            let table =
                parse(text.as_bytes(), "f.svm", Base::One, Some(5), &Limits::default()).unwrap();
            for (at, (target, row)) in rows.iter().enumerate() {
                prop_assert_eq!(table.inputs.row(at).to_vec(), row.clone());
                prop_assert_eq!(table.targets.name(at), (*target + 0.0).to_string());
            }
        }
    }
}
