//! Text in columns, no wider than the terminal.

use mercer_learning::one_line;
use serde_json::Value;
use std::io::Write;

/// Columns where nobody says how many there are: into a file or a pipe.
const USUAL: usize = 100;
/// Between columns.
const GAP: usize = 2;
/// A column is not made narrower than this for the sake of the others.
const NARROW: usize = 12;

/// Rows under heads, printed as aligned text or as JSON objects.
pub(crate) struct Listing {
    pub heads: &'static [&'static str],
    pub rows: Vec<Vec<Value>>,
}

impl Listing {
    /// Writes it to standard output.
    pub(crate) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            let mut stdout = std::io::stdout().lock();
            let objects: Vec<Value> = self
                .rows
                .iter()
                .map(|row| self.heads.iter().copied().zip(row.iter().cloned()).collect())
                .collect();
            serde_json::to_writer_pretty(&mut stdout, &objects)?;
            writeln!(stdout)?;
            return Ok(());
        }
        print_aligned(self.heads, &self.rows)
    }
}

/// What `COLUMNS` says, else what the terminal has, else 100; at least 40.
pub(crate) fn width() -> usize {
    let asked = || std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|&count| count > 0);
    let terminal = || {
        let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
        Some(usize::from(width.0))
    };
    asked().or_else(terminal).unwrap_or(USUAL).max(40)
}

/// Writes rows under their heads to standard output, in columns; what is too wide for the terminal goes
/// on below, broken between words.
pub(crate) fn print_aligned(heads: &[&str], rows: &[Vec<Value>]) -> anyhow::Result<()> {
    let text = |value: &Value| match value {
        Value::String(text) => one_line(text).into_owned(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    let first = heads.iter().map(|head| (*head).to_owned()).collect();
    let rest = rows.iter().map(|row| row.iter().map(text).collect());
    let mut stdout = std::io::stdout().lock();
    for line in aligned(&std::iter::once(first).chain(rest).collect::<Vec<_>>(), width()) {
        writeln!(stdout, "{line}")?;
    }
    Ok(())
}

/// Writes entries to standard output: a name, and lines that stand indented beside and below it.
pub(crate) fn print_entries(entries: &[(String, Vec<String>)]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    for line in listed(entries, width()) {
        writeln!(stdout, "{line}")?;
    }
    Ok(())
}

/// Writes words to standard output, broken between them where the terminal ends.
pub(crate) fn print_words(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    for line in broken(&one_line(text), width()) {
        writeln!(stdout, "{line}")?;
    }
    Ok(())
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

/// Lines of at most so many letters; a longer word has a line of its own.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if letters(line) + 1 + letters(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Rows of equally many cells, as lines.
fn aligned(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let columns = rows.first().map_or(0, Vec::len);
    let widest = |of: &dyn Fn(&str) -> usize| -> Vec<usize> {
        (0..columns).map(|at| rows.iter().map(|row| of(&row[at])).max().unwrap_or(0)).collect()
    };
    let mut widths = widest(&letters);
    let word = |cell: &str| cell.split_whitespace().map(letters).max().unwrap_or(0);
    let least: Vec<usize> = widest(&word).into_iter().map(|word| word.max(NARROW)).collect();
    // The widest gives way first.
    while widths.iter().sum::<usize>() + GAP * columns.saturating_sub(1) > width {
        let Some(at) =
            (0..columns).filter(|&at| widths[at] > least[at]).max_by_key(|&at| widths[at])
        else {
            break;
        };
        widths[at] -= 1;
    }
    let mut lines = Vec::new();
    for row in rows {
        // What fits is left as it is, blanks and all.
        let fits = |cell: &str, width| letters(cell) <= width;
        let cells: Vec<Vec<String>> = row
            .iter()
            .zip(&widths)
            .map(
                |(cell, &width)| {
                    if fits(cell, width) { vec![cell.clone()] } else { broken(cell, width) }
                },
            )
            .collect();
        for part in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let line = cells.iter().zip(&widths).map(|(cell, &width)| {
                format!("{:<width$}", cell.get(part).map_or("", String::as_str))
            });
            let line = line.collect::<Vec<_>>().join(&" ".repeat(GAP));
            lines.push(line.trim_end().to_owned());
        }
    }
    lines
}

/// Names of up to a third of the width stand beside their text, longer ones above it.
fn listed(entries: &[(String, Vec<String>)], width: usize) -> Vec<String> {
    let names = entries.iter().map(|(name, _)| letters(name));
    let indent = names.filter(|&name| name + GAP <= width / 3).max().unwrap_or(0) + GAP;
    let mut lines = Vec::new();
    for (name, texts) in entries {
        let mut head = name.clone();
        if letters(name) + GAP > indent {
            lines.push(std::mem::take(&mut head));
        }
        for text in texts {
            // Blanks before a text are before all of its lines.
            let lead = text.len() - text.trim_start().len();
            for part in broken(text, width.saturating_sub(indent + lead)) {
                let line = format!("{head:<indent$}{}{part}", " ".repeat(lead));
                lines.push(line.trim_end().to_owned());
                head.clear();
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[&str]], width: usize) -> Vec<String> {
        let owned = |row: &&[&str]| row.iter().map(|&cell| cell.to_owned()).collect();
        aligned(&rows.iter().map(owned).collect::<Vec<_>>(), width)
    }

    #[test]
    fn the_widest_column_is_broken_between_words_until_the_table_fits() {
        let rows: &[&[&str]] = &[
            &["name", "meaning", "n"],
            &["one", "as many words as do not fit beside the others", "1"],
            &["another", "few", "22"],
        ];
        assert_eq!(
            table(rows, 40),
            [
                "name     meaning                      n",
                "one      as many words as do not fit  1",
                "         beside the others",
                "another  few                          22",
            ]
        );
        assert_eq!(table(rows, 80).len(), 3);
        for width in 30..80 {
            assert!(table(rows, width).iter().all(|line| letters(line) <= width), "{width}");
        }
    }

    #[test]
    fn a_word_that_cannot_be_broken_is_kept_whole() {
        let rows: &[&[&str]] =
            &[&["a", "b"], &["x", "{\"lambda\":0.001,\"std\":0.316,\"cap\":12000}"]];
        assert!(table(rows, 40)[1].ends_with("12000}"));
        // Blanks within a cell that fits are the cell's.
        assert_eq!(table(&[&["1  2", "b"]], 40), ["1  2  b"]);
    }

    #[test]
    fn entries_stand_beside_their_names_and_long_names_above() {
        let entries = [
            (
                "short".to_owned(),
                vec![
                    "a few words".to_owned(),
                    "  and a second line that is broken once".to_owned(),
                ],
            ),
            ("a-name-longer-than-a-third".to_owned(), vec!["text".to_owned()]),
        ];
        assert_eq!(
            listed(&entries, 40),
            [
                "short  a few words",
                "         and a second line that is",
                "         broken once",
                "a-name-longer-than-a-third",
                "       text",
            ]
        );
    }
}
