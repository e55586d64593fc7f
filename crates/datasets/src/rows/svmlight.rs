use crate::DataError;
use crate::svmlight::{LAST, scan};
use std::io::BufRead;
use std::path::Path;

/// Rows of svmlight text, one at a time.
pub(super) struct SvmlightRows<'a> {
    reader: Box<dyn BufRead + Send>,
    name: &'a str,
    line: usize,
    text: Vec<u8>,
    target: f64,
    entries: Vec<(u32, f64)>,
}

impl std::fmt::Debug for SvmlightRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SvmlightRows").field("line", &self.line).finish_non_exhaustive()
    }
}

impl<'a> SvmlightRows<'a> {
    pub(super) fn new(reader: Box<dyn BufRead + Send>, name: &'a str) -> Self {
        Self { reader, name, line: 0, text: Vec::new(), target: 0.0, entries: Vec::new() }
    }

    /// Reads the next row and returns its line.
    pub(super) fn advance(&mut self) -> Result<Option<usize>, DataError> {
        loop {
            self.text.clear();
            let path = Path::new(self.name);
            let count =
                self.reader.read_until(b'\n', &mut self.text).map_err(DataError::io(path))?;
            if count == 0 {
                return Ok(None);
            }
            self.line += 1;
            let mut found = false;
            let bare = complete(&mut self.text);
            let Self { text, target, entries, .. } = self;
            scan(text, self.name, (0, LAST as usize), true, |value, row| {
                (*target, found) = (if bare { f64::NAN } else { value }, true);
                entries.clear();
                entries.extend_from_slice(row);
                Ok(())
            })
            .map_err(|error| match error {
                DataError::Line { file, problem, .. } => {
                    let hint = if problem.contains("is too large") { "" } else { hint(text) };
                    DataError::Line { file, line: self.line, problem: problem + hint }
                }
                other => other,
            })?;
            if found {
                return Ok(Some(self.line));
            }
        }
    }

    /// The row read last: its target, NaN if it has none, and its columns as numbered in the file.
    pub(super) fn row(&self) -> (f64, &[(u32, f64)]) {
        (self.target, &self.entries)
    }
}

/// Whether a text begins with a row of svmlight that has columns.
pub(super) fn is_like(start: &[u8]) -> bool {
    let Some(line) = start
        .split(|&byte| byte == b'\n')
        .rfind(|line| !line.iter().all(u8::is_ascii_whitespace) && !line.starts_with(b"#"))
    else {
        return false;
    };
    let mut line = line.to_vec();
    complete(&mut line);
    let mut columns = 0;
    let read = scan(&line, "", (0, LAST as usize), true, |_, row| {
        columns = row.len();
        Ok(())
    });
    read.is_ok() && columns > 0
}

/// Takes the number of a query (`qid:3`) out of a line, and puts the target 0 before one that has none, which it returns.
fn complete(line: &mut Vec<u8>) -> bool {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = line.iter().position(|byte| !blank(byte)).unwrap_or(line.len());
    let end = |line: &[u8], start: usize| {
        line[start..]
            .iter()
            .position(u8::is_ascii_whitespace)
            .map_or(line.len(), |length| start + length)
    };
    let first = end(line, start);
    let second =
        line[first..].iter().position(|byte| !blank(byte)).map_or(line.len(), |at| first + at);
    if line[second..].starts_with(b"qid:") {
        let last = end(line, second);
        line[second..last].fill(b' ');
    }
    let bare = line[start..first].contains(&b':');
    if bare {
        line.splice(..start, *b"0 ");
    }
    bare
}

/// What can be done about a line that is not read.
fn hint(text: &[u8]) -> &'static str {
    let plain = text.split(|&byte| byte == b'#').next().unwrap_or_default();
    let has = |sign: u8| plain.contains(&sign);
    if !has(b':') && (has(b',') || has(b';') || has(b'\t')) {
        "; a line of svmlight is `target column:value ...`: is this another format (--format csv, say)?"
    } else if !has(b':') {
        "; a line of svmlight is `target column:value ...`"
    } else {
        "; mend the line, or take it away"
    }
}
