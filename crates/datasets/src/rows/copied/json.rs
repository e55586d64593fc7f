//! JSON: an object a line, or an array of objects. A key is a column, in the order in which keys first occur.

use super::{Columns, write_row};
use crate::DataError;
use crate::shell::shell_word;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{BufRead, Write};
use std::path::Path;

/// Whether a text begins as an array of objects does.
pub(super) fn is_array(start: &[u8]) -> bool {
    let inner = start.trim_ascii_start().strip_prefix(b"[");
    inner.is_some_and(|inner| inner.trim_ascii_start().starts_with(b"{"))
}

pub(super) fn copy(
    name: &str,
    open: &dyn Fn() -> Result<Box<dyn BufRead + Send>, DataError>,
    to: &mut dyn Write,
) -> Result<Columns, DataError> {
    // The place of a key, and the last row that had it.
    let (mut places, mut names) = (HashMap::<String, (usize, usize)>::new(), Vec::new());
    let (mut number, mut nested) = (0, HashSet::new());
    each(name, open()?, &mut |row| {
        number += 1;
        let entries = row.unwrap_or_default();
        if !entries.is_empty() && entries.iter().all(|(_, value)| value.is_object()) {
            return Err("holds nothing but objects in its row; write a row as one object (pandas: to_json(..., \
                        orient='records', lines=True))"
                .to_owned());
        }
        for (key, value) in entries {
            if (value.is_array() || value.is_object()) && nested.insert(key.clone()) {
                tracing::warn!(
                    "{name}: `{key}` holds lists or objects, which are read as texts; write their parts as columns, \
                     or leave it out (--drop {})",
                    shell_word(&key)
                );
            }
            if let Some((_, last)) = places.get_mut(&key) {
                if std::mem::replace(last, number) == number {
                    return Err(format!("has the key `{key}` twice"));
                }
            } else {
                places.insert(key.clone(), (names.len(), number));
                names.push(key);
            }
        }
        Ok(())
    })?;
    each(name, open()?, &mut |row| {
        let Some(row) = row else { return to.write_all(b"\n").map_err(|error| error.to_string()) };
        let mut fields = vec![None; names.len()];
        for (key, value) in row {
            // A file that changes meanwhile may have another key.
            let (at, _) = places.get(&key).ok_or("has a key that was not there before")?;
            fields[*at] = text(value);
        }
        write_row(to, &fields).map_err(|error| error.to_string())
    })?;
    Ok(Columns { names, ..Columns::default() })
}

/// A value as a field; `None` for `null`.
fn text(value: Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text),
        // Free text, as a column that can be left out.
        nested => Some(nested.to_string()),
    }
}

/// The keys and values of a row.
type Entries = Vec<(String, Value)>;

/// The call for each row, and with `None` for a blank line.
type Each<'a> = dyn FnMut(Option<Entries>) -> Result<(), String> + 'a;

/// Goes through the rows, one after the other; an error has the line, or the number of the element.
fn each(name: &str, mut reader: impl BufRead, row: &mut Each<'_>) -> Result<(), DataError> {
    let failed = |error| DataError::io(Path::new(name))(error);
    if reader.fill_buf().map_err(failed)?.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    if reader.fill_buf().map_err(failed)?.trim_ascii_start().starts_with(b"[") {
        let mut number = 0;
        let mut counted = |entries| {
            number += 1;
            row(Some(entries))
        };
        let mut parser = serde_json::Deserializer::from_reader(reader);
        let read = parser.deserialize_seq(Elements(&mut counted)).and_then(|()| parser.end());
        return read.map_err(|error| match error.classify() {
            serde_json::error::Category::Data => {
                DataError::format(name, format!("row {} {}", number.max(1), plain(&error)))
            }
            _ => DataError::line(name, error.line(), plain(&error)),
        });
    }
    let (mut number, mut line) = (0, Vec::new());
    loop {
        line.clear();
        number += 1;
        if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(());
        }
        let wrong = |problem: String| DataError::line(name, number, problem);
        let text = line.trim_ascii();
        if text.is_empty() {
            row(None).map_err(wrong)?;
            continue;
        }
        let mut parser = serde_json::Deserializer::from_slice(text);
        let read = parser.deserialize_map(Object).and_then(|read| parser.end().map(|()| read));
        row(Some(read.map_err(|error| wrong(plain(&error)))?)).map_err(wrong)?;
    }
}

/// What a parser says, without its place, which is that in a line.
fn plain(error: &serde_json::Error) -> String {
    let told = error.to_string();
    let told = told.split(" at line ").next().unwrap_or_default();
    match error.classify() {
        // Of `text` and of `Object`.
        serde_json::error::Category::Data => told.to_owned(),
        _ => format!(
            "is no JSON: {told}; a line holds one object, or the file an array of them, and what is missing is null (no NaN)"
        ),
    }
}

/// One object.
struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Entries;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object, one a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
        let mut entries = Entries::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

impl<'de> serde::de::DeserializeSeed<'de> for Object {
    type Value = Entries;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Entries, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The elements of an array, one at a time.
struct Elements<'a>(&'a mut dyn FnMut(Entries) -> Result<(), String>);

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(entries) = elements.next_element_seed(Object)? {
            (self.0)(entries).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &'static str) -> Result<(Vec<String>, String), String> {
        let mut to = Vec::new();
        let open = || Ok(Box::new(text.as_bytes()) as Box<dyn BufRead + Send>);
        let columns = copy("f.json", &open, &mut to).map_err(|error| error.to_string())?;
        Ok((columns.names, String::from_utf8(to).unwrap()))
    }

    #[test]
    fn copy_takes_lines_and_arrays_alike() {
        let rows = "1.5,\"a, \"\"b\"\"\",\n,true,7\n";
        let names = ["x", "y", "z"].map(str::to_owned);
        let lines = copied("{\"x\":1.5,\"y\":\"a, \\\"b\\\"\"}\n{\"z\":7,\"y\":true,\"x\":null}\n")
            .unwrap();
        assert_eq!(lines, (names.to_vec(), rows.to_owned()));
        let array =
            copied("[ {\"x\":1.5,\"y\":\"a, \\\"b\\\"\"},\n{\"z\":7,\"y\":true,\"x\":null}\n]\n")
                .unwrap();
        assert_eq!(array, lines);
        assert_eq!(copied("\u{feff}[{\"x\":[1,2]}]").unwrap().1, "\"[1,2]\"\n");
        // A single column that is missing is a row all the same, and a blank line is none.
        assert_eq!(copied("{\"x\":null}\n\n{\"x\":1}").unwrap().1, "\"\"\n\n1\n");
    }

    #[test]
    fn copy_names_the_row_of_what_it_does_not_read() {
        for (text, told) in [
            ("{\"x\":{\"0\":1,\"1\":2}}", "f.json:1: holds nothing but objects in its row"),
            ("{\"x\":NaN}", "what is missing is null (no NaN)"),
            ("{\"x\":1,\"x\":2}", "f.json:1: has the key `x` twice"),
            ("{\"x\":1}\n{\"x\":", "f.json:2: is no JSON"),
            (
                "{\"x\":1}\n7\n",
                "f.json:2: invalid type: integer `7`, expected an object, one a row",
            ),
            ("[{\"x\":1},{\"x\":1,\"x\":2}]", "f.json: row 2 has the key `x` twice"),
            ("[\n{\"x\":1}\n", "f.json:3: is no JSON"),
            ("[1, 2]", "f.json: row 1 invalid type: integer `1`, expected an object, one a row"),
        ] {
            let error = copied(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
