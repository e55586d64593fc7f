//! Lines before a table of delimited text: the spreadsheet's separator line, and remarks.

use super::BLANKS;
use super::text::{Part, Quoting};
use std::io::BufRead;

/// Lines that are looked at.
const LINES: usize = 1000;

/// What the beginning of a text says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Beginning {
    pub(super) separator: u8,
    /// Lines before the table.
    pub(super) skipped: usize,
    /// The note on them.
    pub(super) told: Option<String>,
}

/// Reads lines up to the first that could be one of the table.
pub(super) fn lines(mut reader: impl BufRead, to: &mut Vec<u8>) -> std::io::Result<()> {
    for _ in 0..LINES {
        let start = to.len();
        if reader.read_until(b'\n', to)? == 0 {
            break;
        }
        let line = plain(&to[start..]);
        if !(line.is_empty()
            || line.starts_with(b"#")
            || start == 0 && names_separator(line).is_some())
        {
            break;
        }
    }
    Ok(())
}

/// A line without its end and without a byte-order mark.
fn plain(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let end = line.iter().rposition(|byte| !byte.is_ascii_whitespace() || *byte == b'\t');
    &line[..end.map_or(0, |end| end + 1)]
}

/// The separator that `sep=;` names.
fn names_separator(line: &[u8]) -> Option<u8> {
    match line {
        [s, e, p, b'=', separator]
            if [s, e, p].map(u8::to_ascii_lowercase) == *b"sep"
                && !separator.is_ascii_alphanumeric()
                && *separator != b'"' =>
        {
            Some(*separator)
        }
        // Blanks at the end of a line are cut off.
        [s, e, p, b'='] if [s, e, p].map(u8::to_ascii_lowercase) == *b"sep" => Some(BLANKS),
        _ => None,
    }
}

/// Separators that are looked for, the first found of them in that order.
const KNOWN: [u8; 3] = [b';', b'\t', b','];

/// The separator of a line's fields: the expected one if it is there, outside of quotes.
fn separator_of(line: &[u8], expected: u8) -> u8 {
    let mut quoting = Quoting::default();
    let mut outside = line.to_vec();
    outside.retain(|&byte| {
        let separates = KNOWN.contains(&byte) || byte == expected;
        quoting.step(byte, separates) == Part::Separator
    });
    if outside.contains(&expected) {
        return expected;
    }
    KNOWN.into_iter().find(|other| outside.contains(other)).unwrap_or(expected)
}

fn fields(line: &[u8], separator: u8) -> usize {
    let mut quoting = Quoting::default();
    let separates = |&&byte: &&u8| quoting.step(byte, byte == separator) == Part::Separator;
    line.iter().filter(separates).count() + 1
}

/// What the first lines of a text say; the separator is `given`, or named there, or found in the first
/// line of the table.
///
/// A line that begins with `#` and a letter, and has as many fields as the table, is its first row
/// (`#chrom,start,end`, `#ff0000,1`); where all lines begin so, all are rows.
pub(super) fn of(start: &[u8], given: Option<u8>, expected: u8) -> Beginning {
    let lines: Vec<&[u8]> = start.split(|&byte| byte == b'\n').map(plain).collect();
    let named = lines.first().and_then(|line| names_separator(line));
    let first = usize::from(named.is_some());
    let separator = |line: &[u8]| given.or(named).unwrap_or_else(|| separator_of(line, expected));
    let is_remark = |at: usize| lines[at].starts_with(b"#");
    let table = (first..lines.len()).find(|&at| !lines[at].is_empty() && !is_remark(at));
    let Some(table) = table.filter(|&table| (first..table).any(is_remark)) else {
        let line = lines.get(table.unwrap_or(first)).copied().unwrap_or_default();
        return Beginning { separator: separator(line), skipped: first, told: None };
    };
    let separator = separator(lines[table]);
    let width = fields(lines[table], separator);
    let like_row = |line: &[u8]| {
        width > 1
            && fields(line, separator) == width
            && line.get(1).is_some_and(u8::is_ascii_alphanumeric)
    };
    let mut skipped = table;
    while skipped > first && like_row(lines[skipped - 1]) {
        skipped -= 1;
    }
    let told = (skipped > first).then(|| {
        let last = lines[skipped - 1];
        let names = width > 1 && last.starts_with(b"#") && fields(last, separator) == width;
        let hint =
            if names { "; if the last of them names the columns, take away its #" } else { "" };
        let lines = match skipped - first {
            1 => "a line that begins with # is skipped".to_owned(),
            many => format!("{many} lines before the table, blank or with a #, are skipped"),
        };
        format!("{lines}{hint}")
    });
    Beginning { separator, skipped, told }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RowFile, RowFormat, SchemaOptions, survey};

    #[test]
    fn what_stands_before_a_table_is_skipped_and_said() {
        for (text, separator, skipped, told) in [
            ("a,b\n1,2\n", b',', 0, ""),
            ("a;b\n1;2\n", b';', 0, ""),
            ("sep=;\na;b\n1,5;2\n", b';', 1, ""),
            ("\u{feff}SEP=;\r\na;b\r\n", b';', 1, ""),
            ("sep=\t\na\tb\n", b'\t', 1, ""),
            ("sep=|\na|b\n", b'|', 1, ""),
            ("# made by hand\na,b\n1,2\n", b',', 1, "a line that begins with # is skipped"),
            ("# one; two; three\n\n# four\na,b\n", b',', 3, "3 lines before the table"),
            ("sep=;\n# a remark\na;b\n", b';', 2, "a line that begins with #"),
            ("# a,b\n1,2\n", b',', 1, "take away its #"),
            // Rows.
            ("#a,b\n1,2\n", b',', 0, ""),
            ("##fileformat=4\n#a\tb\n1\t2\n", b'\t', 1, "a line"),
            ("#ff0000,1\n#00ff00,2\nred,3\n", b',', 0, ""),
            ("#ff0000,1\n#00ff00,2\n", b',', 0, ""),
            ("a,b\n# 1,2\n", b',', 0, ""),
            ("\"sep=;\"\n", b',', 0, ""),
            ("sep=;x\na,b\n", b';', 0, ""),
            ("", b',', 0, ""),
        ] {
            let found = of(text.as_bytes(), None, b',');
            assert_eq!((found.separator, found.skipped), (separator, skipped), "{text:?}");
            let said = found.told.unwrap_or_default();
            assert_eq!(said.is_empty(), told.is_empty(), "{text:?}: {said}");
            assert!(said.contains(told), "{text:?}: {said}");
        }
        // The user's word goes before the spreadsheet's.
        assert_eq!(of(b"sep=;\na,b\n", Some(b','), b',').separator, b',');
    }

    #[test]
    fn rows_keep_their_lines() {
        for text in ["sep=;\r\n# remark\r\na;b\r\n1,5;x\r\n", "\u{feff}sep=;\n\n#  \na;b\nu;x\n"] {
            let file = RowFile::spooled(text.as_bytes(), "f.csv", None).unwrap();
            assert_eq!(file.format(), RowFormat::Text(b';'));
            let mut rows = file.rows().unwrap();
            let (line, _) = rows.next().unwrap().unwrap();
            assert_eq!(line, text.lines().position(|line| line == "a;b").unwrap() + 1);
            assert!(rows.next().unwrap().is_some() && rows.next().unwrap().is_none());
        }
        let text = "# a remark, with a comma\nx,y\n1,0.5\n2,oops\n3,1.5\n";
        let file = RowFile::spooled(text.as_bytes(), "f.csv", None).unwrap();
        let error = survey(&file, &SchemaOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("f.csv:4: the target `oops`"), "{error}");
    }
}
