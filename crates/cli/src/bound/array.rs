//! Lists and tables that are typed, or read from a file.

use mercer_learning::{counted, one_line};
use mercer_workbench::WorkbenchError;
use ndarray::Array2;
use serde_json::Value;

/// Why a text is no array, in brackets after it, or nothing.
#[derive(Debug, Default)]
pub(super) struct Refused(String);

impl Refused {
    /// The error of this input.
    pub(super) fn of(self, name: &'static str, text: &str) -> WorkbenchError {
        let shown: String = text.chars().take(32).collect();
        let more = if text.chars().count() > 32 { "..." } else { "" };
        let value = format!("{}{more}{}", one_line(&shown), self.0);
        let must = "a number, a list [1,2] or a table [[1,2],[3,4]] as JSON, or @FILE, a CSV or JSON file of numbers"
            .to_owned();
        WorkbenchError::Argument { name, value, must }
    }

    fn told(why: &str) -> Self {
        Self(format!(" ({})", one_line(why)))
    }
}

/// An array in a file: JSON, or lines of numbers between commas, semicolons, tabs or blanks, the first
/// line being left out where it names columns.
pub(super) fn of_text(text: &str) -> Result<Array2<f64>, Refused> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('[') {
        let value = serde_json::from_str(text);
        return of_json(&value.map_err(|error| Refused::told(&error.to_string()))?);
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let numbers = |(at, line): (usize, &str)| -> Result<Vec<f64>, (usize, String)> {
        let between = |letter: char| matches!(letter, ',' | ';' | '\t' | ' ');
        let words = line.split(between).map(str::trim).filter(|word| !word.is_empty());
        let number = |word: &str| {
            word.parse().map_err(|_| (at + 1, word.chars().take(32).collect::<String>()))
        };
        words.map(number).collect()
    };
    let rows: Vec<_> = lines.map(numbers).collect();
    let named = rows.first().is_some_and(Result::is_err);
    let rows = rows.into_iter().skip(usize::from(named)).collect::<Result<Vec<_>, _>>();
    table(
        &rows.map_err(|(line, word)| {
            Refused::told(&format!("`{word}` in line {line} is no number"))
        })?,
    )
}

/// A number, a list (a column) or a table of rows of equal length.
pub(super) fn of_json(value: &Value) -> Result<Array2<f64>, Refused> {
    if let Some(number) = value.as_f64() {
        return Ok(Array2::from_elem((1, 1), number));
    }
    let entry = |value: &Value| {
        value.as_f64().ok_or_else(|| Refused::told(&format!("`{value}` is no number")))
    };
    let row = |row: &Value| match row.as_array() {
        Some(row) => row.iter().map(entry).collect(),
        None => entry(row).map(|number| vec![number]),
    };
    let rows = value.as_array().ok_or_else(Refused::default)?;
    table(&rows.iter().map(row).collect::<Result<Vec<Vec<f64>>, _>>()?)
}

fn table(rows: &[Vec<f64>]) -> Result<Array2<f64>, Refused> {
    let width = rows.first().ok_or_else(|| Refused::told("it holds no numbers"))?.len();
    if let Some(at) = rows.iter().position(|row| row.len() != width) {
        let entries = counted(rows[at].len(), "entry", "entries");
        return Err(Refused::told(&format!("row {} has {entries}, the first {width}", at + 1)));
    }
    Array2::from_shape_vec((rows.len(), width), rows.concat()).map_err(|_| Refused::default())
}
