//! ARFF, as Weka and `OpenML` write it. `@attribute` declares a column, `@data` begins the rows, `?` is missing.

use super::{Columns, write_row};
use crate::DataError;
use std::io::{BufRead, Write};
use std::path::Path;

/// What a column holds in a sparse row that leaves it out: `None` where the format does not say.
type Absent = Option<String>;

/// Whether a line is the first of an ARFF file.
pub(super) fn is_head(line: &[u8]) -> bool {
    line.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"@relation"))
}

pub(super) fn copy(
    name: &str,
    mut reader: impl BufRead,
    to: &mut dyn Write,
) -> Result<Columns, DataError> {
    let (mut columns, mut absent) = (Columns::default(), Vec::<Absent>::new());
    let mut listed = Vec::new();
    let (mut number, mut in_data, mut raw) = (0, false, Vec::new());
    loop {
        raw.clear();
        number += 1;
        if reader.read_until(b'\n', &mut raw).map_err(DataError::io(Path::new(name)))? == 0 {
            break;
        }
        let wrong = |problem: String| DataError::line(name, number, problem);
        let line = std::str::from_utf8(&raw);
        let line = line.map_err(|_| wrong("is not UTF-8 text; save it as UTF-8".to_owned()))?;
        let line = line.trim_start_matches('\u{feff}').trim();
        let mut row = Vec::new();
        if in_data && !line.is_empty() && !line.starts_with('%') {
            row = read_row(line, &absent).map_err(wrong)?;
            if let Some(problem) = undeclared(&row, &listed, &columns.names) {
                return Err(wrong(problem));
            }
        } else if let Some(declared) = line.strip_prefix('@') {
            let (word, rest) = declared.split_once(char::is_whitespace).unwrap_or((declared, ""));
            match word.to_ascii_lowercase().as_str() {
                "attribute" => {
                    let (name, kind) = attribute(rest.trim()).map_err(wrong)?;
                    if kind.nominal {
                        columns.nominal.insert(columns.names.len());
                    }
                    columns.names.push(name);
                    absent.push(kind.absent);
                    listed.push(kind.listed);
                }
                "data" if absent.is_empty() => {
                    return Err(wrong("begins the rows before any @attribute".to_owned()));
                }
                "data" => in_data = true,
                "relation" | "inputs" | "outputs" | "input" | "output" => {}
                _ => return Err(wrong(format!("has the unknown declaration `@{word}`"))),
            }
        } else if !line.is_empty() && !line.starts_with('%') {
            return Err(wrong("stands before @data, and declares nothing".to_owned()));
        }
        let written = if row.is_empty() { to.write_all(b"\n") } else { write_row(to, &row) };
        written.map_err(DataError::io(&std::env::temp_dir()))?;
    }
    if in_data {
        Ok(columns)
    } else {
        Err(DataError::format(name, "has no line @data: it is cut short"))
    }
}

/// What an attribute declares beside its name.
struct Kind {
    nominal: bool,
    absent: Absent,
    /// The values of a nominal one.
    listed: Vec<String>,
}

/// What is wrong with a row that has another value than an attribute lists.
fn undeclared(row: &[Option<String>], listed: &[Vec<String>], names: &[String]) -> Option<String> {
    let of_column = row.iter().zip(listed).zip(names);
    let (field, values, name) = of_column.into_iter().find_map(|((field, values), name)| {
        let strange = field.as_ref().filter(|own| !values.is_empty() && !values.contains(own))?;
        Some((strange, values, name))
    })?;
    let known: Vec<&str> = values.iter().take(6).map(String::as_str).collect();
    let more = if values.len() > known.len() { ", ..." } else { "" };
    Some(format!(
        "has `{field}` in `{name}`, which is declared as {{{}{more}}}; correct it, or declare it too",
        known.join(", ")
    ))
}

/// The name and the kind of an attribute.
fn attribute(rest: &str) -> Result<(String, Kind), String> {
    let end = match rest.chars().next() {
        Some(quote @ ('\'' | '"')) => closing(rest, quote).map(|end| end + 1),
        _ => rest.find([' ', '\t', '{']),
    };
    let Some((name, kind)) = end.map(|end| rest.split_at(end)) else {
        return Err("declares an attribute without a kind".to_owned());
    };
    let name = value(name)?.unwrap_or_else(|| "?".to_owned());
    let kind = kind.trim();
    if let Some(listed) = kind.strip_prefix('{') {
        let Some(listed) = listed.strip_suffix('}') else {
            return Err(format!("opens the values of `{name}` and does not close them"));
        };
        let pieces = split_at(listed, ',').into_iter().map(value);
        let listed: Vec<String> =
            pieces.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        return Ok((name, Kind { nominal: true, absent: listed.first().cloned(), listed }));
    }
    let word = kind.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let (nominal, absent) = match word.as_str() {
        "numeric" | "real" | "integer" => (false, Some("0".to_owned())),
        "string" | "date" => (false, None),
        _ => {
            return Err(format!(
                "declares `{name}` as `{word}`; numeric, real, integer, string, date and {{a,b}} are read"
            ));
        }
    };
    Ok((name, Kind { nominal, absent, listed: Vec::new() }))
}

/// The fields of a row, dense or sparse.
fn read_row(line: &str, absent: &[Absent]) -> Result<Vec<Option<String>>, String> {
    let weighted = || {
        "has a weight in braces, which is not read; write it as a column, and name that by --weights"
            .to_owned()
    };
    let Some(sparse) = line.strip_prefix('{') else {
        let pieces = split(line);
        if pieces.last().is_some_and(|last| last.trim().starts_with('{')) {
            return Err(weighted());
        }
        if pieces.len() != absent.len() {
            let (found, declared) = (pieces.len(), absent.len());
            return Err(format!("has {found} values, but {declared} attributes are declared"));
        }
        return pieces.into_iter().map(value).collect();
    };
    let Some(sparse) = sparse.strip_suffix('}') else {
        return Err("opens a sparse row and does not close it".to_owned());
    };
    if sparse.contains('}') && !sparse.contains(['\'', '"']) {
        return Err(weighted());
    }
    let mut row = absent.to_vec();
    for piece in split_at(sparse, ',').into_iter().map(str::trim).filter(|piece| !piece.is_empty())
    {
        let parts = piece.split_once(char::is_whitespace);
        let place = parts.and_then(|(place, text)| Some((place.parse::<usize>().ok()?, text)));
        let Some((at, text)) = place else {
            return Err(format!(
                "has `{piece}` in a sparse row, where a number and a value are due"
            ));
        };
        let attributes = row.len();
        let Some(field) = row.get_mut(at) else {
            return Err(format!(
                "names attribute {at}, but the last of {attributes} is {}",
                attributes - 1
            ));
        };
        *field = value(text)?;
    }
    Ok(row)
}

/// The place of the quote that closes what a text opens with its first letter.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices()
        .skip(1)
        .find(|&(_, letter)| {
            let closes = letter == quote && !escaped;
            escaped = letter == '\\' && !escaped;
            closes
        })
        .map(|(at, _)| at)
}

/// A line at its commas outside of quotes, or, where it has none, at its tabs.
fn split(line: &str) -> Vec<&str> {
    let pieces = split_at(line, ',');
    if pieces.len() > 1 { pieces } else { split_at(line, '\t') }
}

fn split_at(line: &str, separator: char) -> Vec<&str> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    let (mut quote, mut escaped, mut before) = (None, false, ',');
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (Some(open), _) => {
                if letter == open && !escaped {
                    quote = None;
                }
                escaped = letter == '\\' && !escaped;
            }
            (None, '\'' | '"') if matches!(before, ',' | '\t' | ' ') => quote = Some(letter),
            (None, letter) if letter == separator => {
                pieces.push(&line[start..at]);
                start = at + 1;
            }
            (None, _) => {}
        }
        before = letter;
    }
    pieces.push(&line[start..]);
    pieces
}

/// What a field says, without its quotes; `None` for nothing and for `?`.
fn value(field: &str) -> Result<Option<String>, String> {
    let field = field.trim();
    let Some(quote @ ('\'' | '"')) = field.chars().next() else {
        return Ok((!field.is_empty() && field != "?").then(|| field.to_owned()));
    };
    if closing(field, quote) != Some(field.len() - 1) {
        return Err(format!("has the value {field}, whose quotes do not enclose it"));
    }
    let (mut text, mut letters) = (String::new(), field[1..field.len() - 1].chars());
    while let Some(letter) = letters.next() {
        text.push(match (letter, letter == '\\') {
            (_, false) => letter,
            (_, true) => match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => '\\',
            },
        });
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &str) -> Result<(Columns, String), String> {
        let mut to = Vec::new();
        let columns =
            copy("f.arff", text.as_bytes(), &mut to).map_err(|error| error.to_string())?;
        Ok((columns, String::from_utf8(to).unwrap()))
    }

    #[test]
    fn copy_keeps_lines_quotes_and_missing_values() {
        let text = "% a remark\n@RELATION 'some thing'\n\n@attribute 'a b' numeric\n@attribute c { 'x, y', z }\n\
                    @attribute d\tSTRING\n@data\n1.5,'x, y','it\\'s'\n%\n ?, z , \"say \\\"hi\\\"\"\n";
        let (columns, rows) = copied(text).unwrap();
        assert_eq!(columns.names, ["a b", "c", "d"]);
        assert_eq!(columns.nominal.into_iter().collect::<Vec<_>>(), [1]);
        assert_eq!(rows, "\n\n\n\n\n\n\n1.5,\"x, y\",it's\n\n,z,\"say \"\"hi\"\"\"\n");
    }

    #[test]
    fn copy_fills_sparse_rows_with_zero_and_the_first_category() {
        let text = "@relation r\n@attribute a real\n@attribute b {no,yes}\n@attribute c integer\n@data\n\
                    {2 7}\n{ 0 1.5, 1 'yes' }\n{}\n{0 ?}\n";
        assert_eq!(copied(text).unwrap().1, "\n\n\n\n\n0,no,7\n1.5,yes,0\n0,no,0\n,no,0\n");
    }

    #[test]
    fn copy_names_the_line_of_what_it_does_not_read() {
        let head = "@relation r\n@attribute a real\n@attribute b {x,y}\n";
        for (rest, told) in [
            ("@data\n1,x,2\n", "f.arff:5: has 3 values, but 2 attributes are declared"),
            ("@data\n1,x,{5}\n", "f.arff:5: has a weight in braces"),
            ("@data\n{0 1, 1 x}, {5}\n", "f.arff:5: has a weight in braces"),
            ("@data\n{7 1}\n", "f.arff:5: names attribute 7, but the last of 2 is 1"),
            ("@data\n{0 1\n", "f.arff:5: opens a sparse row"),
            ("@data\n1,\tx,2\n", "f.arff:5: has 3 values"),
            ("@data\n1,'x\n", "f.arff:5: has the value 'x, whose quotes"),
            ("@data\n1,z\n", "f.arff:5: has `z` in `b`, which is declared as {x, y}"),
            ("@data\n{0 1, 1 z}\n", "f.arff:5: has `z` in `b`"),
            ("@attribute c relational\n", "f.arff:4: declares `c` as `relational`"),
            ("@attribute c\n", "f.arff:4: declares an attribute without a kind"),
            ("1,x\n", "f.arff:4: stands before @data"),
            ("", "has no line @data"),
        ] {
            let error = copied(&format!("{head}{rest}")).unwrap_err();
            assert!(error.contains(told), "{rest}: {error}");
        }
    }
}
