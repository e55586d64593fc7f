use super::{BLANKS, Field, Fields};
use crate::DataError;
use mercer_learning::counted;
use std::io::BufRead;
use std::path::Path;

/// Bytes of one record at most: a quote that never closes must not swallow a large file.
const RECORD: usize = 1 << 28;

/// Records of delimited text, one at a time.
pub(super) struct TextRows<'a> {
    reader: Box<dyn BufRead + Send>,
    name: &'a str,
    separator: u8,
    /// Lines before the table that are still to be skipped.
    prelude: usize,
    /// Lines that begin so are read over.
    comment: Option<u8>,
    /// A comma begins the decimals.
    decimal_comma: bool,
    line: usize,
    /// Fields of the first record, which all others have.
    width: Option<usize>,
    /// Records read before.
    records: usize,
    record: Record,
}

/// A record: its text with quotes taken apart, and where its fields end, each a separator before
/// the next one's start.
#[derive(Debug, Default)]
pub(super) struct Record {
    raw: Vec<u8>,
    text: String,
    ends: Vec<usize>,
    /// Which fields stand in quotes: their blanks are theirs. Empty for none.
    quoted: Vec<bool>,
}

/// Where in a record a byte stands, as RFC 4180 has it. A quote opens only at the start of a field (blanks before it
/// are cut off anyhow). Elsewhere, as in `7" pipe`, it is a letter like any other. Whoever looks for the ends of lines,
/// and whoever takes fields apart, steps through this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Quoting {
    /// Before anything of a field but blanks.
    #[default]
    Start,
    /// In a field, outside of quotes.
    Plain,
    /// In quotes.
    Quoted,
    /// After a quote inside of quotes: it closes them, unless another follows.
    Closing,
}

/// What a byte of a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A part of its field.
    Content,
    /// A quote that opens or closes.
    Quote,
    /// A separator outside of quotes.
    Separator,
}

impl Quoting {
    /// Takes the next byte; `separates` says whether it does so outside of quotes.
    pub(super) const fn step(&mut self, byte: u8, separates: bool) -> Part {
        let (next, part) = match (*self, byte) {
            (Self::Start, b'"') => (Self::Quoted, Part::Quote),
            (Self::Quoted, b'"') => (Self::Closing, Part::Quote),
            (Self::Closing, b'"') | (Self::Quoted, _) => (Self::Quoted, Part::Content),
            _ if separates => (Self::Start, Part::Separator),
            (Self::Start, b' ') => (Self::Start, Part::Content),
            _ => (Self::Plain, Part::Content),
        };
        *self = next;
        part
    }

    /// Whether the next byte stands in quotes.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::Quoted)
    }
}

impl std::fmt::Debug for TextRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextRows").field("line", &self.line).finish_non_exhaustive()
    }
}

impl<'a> TextRows<'a> {
    pub(super) fn new(
        reader: Box<dyn BufRead + Send>,
        name: &'a str,
        separator: u8,
        (prelude, comment): (usize, Option<u8>),
        decimal_comma: bool,
    ) -> Self {
        let record = Record::default();
        let (line, width, records) = (0, None, 0);
        Self {
            reader,
            name,
            separator,
            prelude,
            comment,
            decimal_comma,
            line,
            width,
            records,
            record,
        }
    }

    pub(super) const fn record(&self) -> &Record {
        &self.record
    }

    /// Reads the next record and returns its first line.
    pub(super) fn advance(&mut self) -> Result<Option<usize>, DataError> {
        while self.prelude > 0 {
            let path = Path::new(self.name);
            self.record.raw.clear();
            let raw = &mut self.record.raw;
            if self.reader.read_until(b'\n', raw).map_err(DataError::io(path))? == 0 {
                return Ok(None);
            }
            self.prelude -= 1;
            self.line += 1;
        }
        loop {
            let first = self.line + 1;
            if !self.read()? {
                return Ok(None);
            }
            let wrong = |problem: String| Err(DataError::line(self.name, first, problem));
            if self.record.raw.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            if self.comment.is_some_and(|begin| self.record.raw.first() == Some(&begin)) {
                continue;
            }
            if self.separator == BLANKS {
                self.record.join_blanks();
            }
            if self.record.raw.contains(&0) {
                let raw = &self.record.raw;
                let wide = raw.starts_with(b"\xff\xfe") || raw.starts_with(b"\xfe\xff");
                return wrong(if wide {
                    "holds a byte 0: this is UTF-16; save it as UTF-8, or convert it (iconv -f UTF-16 -t \
                     UTF-8)"
                        .to_owned()
                } else {
                    "holds a byte 0; is this a text file? UTF-16 must be converted to UTF-8 first"
                        .to_owned()
                });
            }
            if !self.record.split(self.separator) {
                let problem = "is not UTF-8 text; save it as UTF-8, or convert it from what it is (iconv -f \
                               LATIN1 -t UTF-8)";
                return wrong(problem.to_owned());
            }
            if self.decimal_comma
                && let Some(strange) = self.record.point_decimals()
            {
                return wrong(format!(
                    "has `{strange}`, whose point stands between no thousands: write it with a comma, or leave \
                     out --decimal"
                ));
            }
            let found = self.record.ends.len();
            let width = *self.width.get_or_insert(found);
            if found != width {
                return wrong(self.record.ragged(width, self.records == 1, self.separator, first));
            }
            self.records += 1;
            return Ok(Some(first));
        }
    }

    /// Lines up to one that ends outside of quotes.
    fn read(&mut self) -> Result<bool, DataError> {
        let (raw, first, separator) = (&mut self.record.raw, self.line + 1, self.separator);
        raw.clear();
        let mut quoting = Quoting::Start;
        loop {
            let start = raw.len();
            let path = Path::new(self.name);
            let count = self.reader.read_until(b'\n', raw).map_err(DataError::io(path))?;
            if count == 0 {
                if quoting.is_open() {
                    let problem = "opens a quote that never closes";
                    return Err(DataError::line(self.name, first, problem));
                }
                return Ok(start > 0);
            }
            if self.line == 0 && raw.starts_with(b"\xef\xbb\xbf") {
                raw.drain(..3);
            }
            self.line += 1;
            let from = start.min(raw.len());
            // Most lines hold no quote, which is found out at once.
            if raw[from..].contains(&b'"') {
                for &byte in &raw[from..] {
                    quoting.step(byte, byte == separator);
                }
            }
            if !quoting.is_open() {
                let old = |raw: &[u8]| {
                    let last = raw.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
                    raw.last() != Some(&b'\n')
                        && last.is_some_and(|last| raw[..last].contains(&b'\r'))
                };
                if self.line == 1 && old(raw) {
                    let problem =
                        "ends its lines in CR alone, as long ago; convert it (tr '\\r' '\\n')";
                    return Err(DataError::line(self.name, first, problem));
                }
                while raw.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                    raw.pop();
                }
                return Ok(true);
            }
            if raw.len() > RECORD {
                let problem = "opens a quote and does not close it within 256 MiB";
                return Err(DataError::line(self.name, first, problem));
            }
        }
    }
}

impl Record {
    /// Makes one of each run of blanks and tabs outside of quotes, and none of those at either end.
    fn join_blanks(&mut self) {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let mut quoting = Quoting::Start;
        let mut joined = Vec::with_capacity(self.raw.len());
        for byte in &self.raw {
            let separates = blank(byte) && !quoting.is_open();
            quoting.step(if separates { BLANKS } else { *byte }, separates);
            match (separates, joined.last()) {
                (false, _) => joined.push(*byte),
                (true, None | Some(&BLANKS)) => {}
                (true, _) => joined.push(BLANKS),
            }
        }
        if joined.last() == Some(&BLANKS) && !quoting.is_open() {
            joined.pop();
        }
        self.raw = joined;
    }

    /// Takes `raw` apart; whether it is UTF-8.
    fn split(&mut self, separator: u8) -> bool {
        let Self { raw, text, ends, quoted } = self;
        ends.clear();
        quoted.clear();
        // The buffers change places, so that neither is allocated anew.
        let mut bytes = std::mem::take(text).into_bytes();
        if raw.contains(&b'"') {
            if std::str::from_utf8(raw).is_err() {
                return false;
            }
            bytes.clear();
            let mut quoting = Quoting::Start;
            // Where the quotes of a field close, if it has some: blanks around them are not of the field.
            let (mut start, mut closed) = (0, None);
            let end = |bytes: &mut Vec<u8>, closed: Option<usize>| {
                if let Some(closed) = closed
                    && bytes[closed..].iter().all(u8::is_ascii_whitespace)
                {
                    bytes.truncate(closed);
                }
            };
            for &byte in raw.iter() {
                match quoting.step(byte, byte == separator) {
                    Part::Quote if quoting.is_open() => {
                        bytes.truncate(start);
                        closed = Some(start);
                    }
                    Part::Quote => closed = Some(bytes.len()),
                    Part::Content => bytes.push(byte),
                    Part::Separator => {
                        end(&mut bytes, closed);
                        quoted.push(closed.take().is_some());
                        ends.push(bytes.len());
                        bytes.push(byte);
                        start = bytes.len();
                    }
                }
            }
            end(&mut bytes, closed);
            quoted.push(closed.is_some());
        } else {
            std::mem::swap(raw, &mut bytes);
            let places = bytes.iter().enumerate().filter(|(_, byte)| **byte == separator);
            ends.extend(places.map(|(at, _)| at));
        }
        ends.push(bytes.len());
        // Quotes are ASCII, so what is left of UTF-8 text is UTF-8 text.
        match String::from_utf8(bytes) {
            Ok(whole) => *text = whole,
            Err(_) => return false,
        }
        true
    }
}

impl Record {
    /// The error for a record with more or fewer fields than the first one, and what can be done.
    fn ragged(&self, width: usize, second: bool, separator: u8, line: usize) -> String {
        let found = self.ends.len();
        let mark = match separator {
            b'\t' => "tab".to_owned(),
            byte => format!("`{}`", char::from(byte)),
        };
        let remedy = if found < width {
            "add empty fields, or remove the line".to_owned()
        } else if width == 1 {
            let (what, skipped) = match line - 1 {
                1 => ("first row is a title", "it"),
                _ => ("lines before are a title", "them"),
            };
            format!("if the {what}, skip {skipped} (--skip {}), or begin each with #", line - 1)
        } else if found == width + 1 && self.trimmed(found - 1).is_empty() {
            format!("remove the {mark} at its end, or end all lines with one")
        } else if found == width + 1 && second {
            format!(
                "if the first row is a title, skip it (--skip {}); if each row begins with a name, name that column too \
                 (R: col.names = NA); if a field holds a {mark}, put it in quotes",
                line - 1
            )
        } else {
            format!("put a field that holds a {mark} in quotes, or remove the extra fields")
        };
        let found = counted(found, "field", "fields");
        format!("has {found}, expected {width}; {remedy}")
    }

    fn trimmed(&self, column: usize) -> &str {
        let start = if column == 0 { 0 } else { self.ends[column - 1] + 1 };
        let text = &self.text[start..self.ends[column]];
        if self.quoted.get(column) == Some(&true) { super::meant(text) } else { text.trim() }
    }

    /// Writes numbers whose decimals begin with a comma as numbers are written here; returns one with a point that can
    /// stand between no thousands.
    fn point_decimals(&mut self) -> Option<String> {
        let plain = |letter: char| {
            letter != ',' && letter != '.' && !crate::number::MARKS.contains(&letter)
        };
        if self.text.chars().all(plain) {
            return None;
        }
        let (mut text, mut ends, mut start) = (String::new(), Vec::new(), 0);
        for &end in &self.ends {
            let field = &self.text[start..end];
            match with_point(field.trim()) {
                Some(number) => text += &number,
                None if field.contains('.') && Field::Text(field.trim()).number().is_some() => {
                    return Some(field.trim().to_owned());
                }
                None => text += field,
            }
            ends.push(text.len());
            // The separator.
            text += self.text.get(end..=end).unwrap_or_default();
            start = end + 1;
        }
        (self.text, self.ends) = (text, ends);
        None
    }
}

/// A number with a comma before its decimals, and perhaps points between its thousands, with a point there and none
/// between them.
fn with_point(text: &str) -> Option<String> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let sign = text.find(|first: char| first.is_ascii_digit() || first == ',')?;
    let (sign, number) = text.split_at(sign);
    if !["", "-", "+", "\u{2212}"].contains(&sign) {
        return None;
    }
    let (size, power) = match number.find(['e', 'E']) {
        Some(at) => number.split_at(at),
        None => (number, ""),
    };
    let (whole, decimals) = size.split_once(',').map_or((size, None), |(a, b)| (a, Some(b)));
    let apart = |letter: char| letter == '.' || crate::number::MARKS.contains(&letter);
    let mut groups = whole.split(apart);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    let thousands = rest.iter().all(|group| group.len() == 3 && digits(group))
        && (rest.is_empty() || matches!(first.len(), 1..=3) && !first.starts_with('0'));
    let sound = thousands
        && (digits(first) || first.is_empty() && decimals.is_some())
        && decimals.is_none_or(digits)
        && (decimals.is_some() || !rest.is_empty());
    let decimals = decimals.map_or_else(String::new, |decimals| format!(".{decimals}"));
    let first = if first.is_empty() { "0" } else { first };
    sound.then(|| format!("{sign}{first}{}{decimals}{power}", rest.concat()))
}

impl Fields for Record {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn field(&self, column: usize) -> Field<'_> {
        Field::of(self.trimmed(column))
    }

    fn raw(&self, column: usize) -> Field<'_> {
        let text = self.trimmed(column);
        if text.is_empty() { Field::Missing } else { Field::Text(text) }
    }

    // Most fields are plain numbers; a `Field` for each took three tenths of the time of reading.
    fn number(&self, column: usize) -> Option<f64> {
        let start = if column == 0 { 0 } else { self.ends[column - 1] + 1 };
        let bytes = &self.text.as_bytes()[start..self.ends[column]];
        match crate::number::number(bytes) {
            Some((value, end)) if end == bytes.len() && value.is_finite() => Some(value),
            _ => self.field(column).number(),
        }
    }
}
