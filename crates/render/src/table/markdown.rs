use super::html::first_part;
use super::{Align, Badge, Cell, Column, Kind, Table};
use crate::escape::markdown;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Longest text of a cell of a table; a table with a longer one is a list.
const LONGEST: usize = 160;

/// A table of one line a row: verdicts are marks, and second lines are left to the file of values beside it.
pub(super) fn table(table: &Table) -> String {
    let mut out = format!("**{}**\n\n", markdown(&table.title));
    let (caption, more) = two_sentences(&table.caption);
    if !caption.is_empty() {
        let _ = write!(out, "{}\n\n", markdown(caption));
    }
    let mut cells = table.rows.iter().flat_map(|row| &row.cells);
    if cells.any(|cell| cell.text.chars().count() > LONGEST) {
        items(table, &mut out);
    } else {
        grid(table, &mut out);
    }
    let marks = marks(table);
    if !marks.is_empty() {
        let _ = write!(out, "\n{marks}\n");
    }
    let more = (!more.is_empty()).then(|| markdown(more));
    let notes = more.into_iter().chain(table.notes.iter().map(|note| markdown(note)));
    for (i, note) in groups(table).into_iter().chain(notes).chain(beside(table)).enumerate() {
        let _ = writeln!(out, "{}- {note}", if i == 0 { "\n" } else { "" });
    }
    out
}

fn grid(table: &Table, out: &mut String) {
    line(out, table.columns.iter().map(|column| head(table, column)));
    line(out, table.columns.iter().map(|column| rule(column.align).to_owned()));
    for (group, rows) in table.sections() {
        if let Some(group) = group {
            let name = format!("*{}*", markdown(group));
            let blank = std::iter::repeat_n(String::new(), table.columns.len().saturating_sub(1));
            line(out, std::iter::once(name).chain(blank));
        }
        for row in rows {
            line(out, row.cells.iter().map(cell));
        }
    }
}

/// The rows of a table of long texts: an item a row, and below it one a cell.
fn items(table: &Table, out: &mut String) {
    for (group, rows) in table.sections() {
        if let Some(group) = group {
            let _ = write!(out, "*{}*\n\n", markdown(group));
        }
        for row in rows {
            for (place, (column, own)) in table.columns.iter().zip(&row.cells).enumerate() {
                let text = cell(own);
                let _ = match place {
                    0 => writeln!(out, "- **{text}**"),
                    _ if text.is_empty() => Ok(()),
                    _ => writeln!(out, "  - {}: {text}", head(table, column)),
                };
            }
        }
    }
}

/// The first two sentences, and the rest.
fn two_sentences(text: &str) -> (&str, &str) {
    let ends = text.match_indices(". ").map(|(at, _)| at + 1);
    let mut ends = ends.filter(|&end| text[end..].trim_start().starts_with(char::is_uppercase));
    match ends.nth(1) {
        Some(end) => (&text[..end], text[end..].trim_start()),
        None => (text, ""),
    }
}

/// A head a section, an item a row.
pub(super) fn list(table: &Table) -> String {
    let mut out = format!("## {}\n", markdown(&table.title));
    for (group, rows) in table.sections() {
        let _ = write!(out, "\n**{}**\n\n", markdown(group.unwrap_or_default()));
        for row in rows {
            let Some((name, others)) = row.cells.split_first() else { continue };
            let texts = others.iter().map(in_words);
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            let _ = writeln!(out, "- {}: {}", markdown(&name.text), texts.join(", "));
            for mut rest in others.iter().filter_map(|cell| cell.detail.as_deref()) {
                while let Some((part, more)) = first_part(rest) {
                    let _ = writeln!(out, "  - {}", markdown(part));
                    rest = more;
                }
                let _ = writeln!(out, "  - {}", markdown(rest));
            }
        }
    }
    out
}

fn in_words(cell: &Cell) -> String {
    let badge = cell.badge.as_ref().map(|badge| format!("*{}*", markdown(&badge.text)));
    let texts = [Some(markdown(&cell.text)).filter(|text| !text.is_empty()), badge];
    texts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A head; with its group, for Markdown has no spanning heads, where two columns have the same or it is a
/// number, or a place, that says nothing alone.
fn head(table: &Table, column: &Column) -> String {
    let same = table.columns.iter().filter(|other| other.head == column.head).count();
    let word = column.head.split(' ').next().unwrap_or_default();
    let part = word.starts_with(|c: char| c.is_ascii_digit()) || ["at", "of", "on"].contains(&word);
    match &column.group {
        Some(group) if same > 1 || part => {
            format!("{}: {}", markdown(group), markdown(&column.head))
        }
        _ => markdown(&column.head),
    }
}

/// Which columns belong together, where their heads do not say it.
fn groups(table: &Table) -> Option<String> {
    let mut first = 0;
    let mut texts = Vec::new();
    for (group, count) in table.spans() {
        let own = &table.columns[first..first + count];
        first += count;
        let heads: Vec<String> = own.iter().map(|column| head(table, column)).collect();
        if let Some(group) = group.map(markdown)
            && !heads.iter().any(|head| head.starts_with(&format!("{group}: ")))
        {
            texts.push(format!("*{group}*: {}", heads.join(" · ")));
        }
    }
    (!texts.is_empty()).then(|| format!("Columns under {}.", texts.join("; under ")))
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {cell} |");
    }
    out.push('\n');
}

fn rule(align: Align) -> &'static str {
    match align {
        Align::Left => ":--",
        Align::Center => ":-:",
        Align::Right => "--:",
    }
}

/// What stands for a verdict beside a number: its word where no mark is clearer.
fn mark(badge: &Badge) -> &str {
    match (verdict(badge), badge.kind) {
        ("significantly better", _) => "↑",
        ("significantly worse", _) => "↓",
        ("by choice", _) => "(✓)",
        ("exact", _) => "=",
        (_, Kind::Good) => "✓",
        (_, Kind::Bad | Kind::Explained | Kind::Shown) => "✗",
        (_, Kind::Neutral) => "?",
        (word, Kind::Muted) => word,
    }
}

/// A verdict without what it adds: `differs` of `differs +4.6, cause unknown`.
fn verdict(badge: &Badge) -> &str {
    let end = badge.text.find(|c: char| c == ',' || c == '+' || c.is_ascii_digit());
    badge.text[..end.unwrap_or(badge.text.len())].trim_end_matches(['-', '−', ' '])
}

/// Whether the mark takes the place of the verdict: a cell that has no number says it in words.
fn is_marked(cell: &Cell) -> bool {
    cell.badge.is_some() && !["", "-"].contains(&cell.text.trim())
}

/// What the marks of a table mean.
fn marks(table: &Table) -> String {
    let mut found: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for cell in table.rows.iter().flat_map(|row| &row.cells).filter(|cell| is_marked(cell)) {
        let Some(badge) = &cell.badge else { continue };
        let (mark, word) = (mark(badge), verdict(badge));
        match found.iter_mut().find(|own| own.0 == mark) {
            Some((_, words)) => {
                words.insert(word);
            }
            None if mark == word => {}
            None => found.push((mark, BTreeSet::from([word]))),
        }
    }
    let text = |(mark, words): (&str, BTreeSet<&str>)| {
        let words: Vec<String> = words.into_iter().map(markdown).collect();
        format!("{mark} {}", words.join(" or "))
    };
    found.into_iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Where that is which the cells do not hold: verdicts with their numbers, and second lines.
fn beside(table: &Table) -> Option<String> {
    let more = |cell: &Cell| {
        cell.detail.is_some()
            || cell.badge.as_ref().is_some_and(|badge| verdict(badge) != badge.text)
    };
    let name = table.id.rsplit('/').next()?;
    table.rows.iter().flat_map(|row| &row.cells).any(more).then(|| {
        format!(
            "The page shows more at a click on a cell; [{}.csv]({name}.csv) has it too.",
            markdown(name)
        )
    })
}

fn cell(cell: &Cell) -> String {
    let mut text = markdown(&cell.text);
    if cell.underline && !text.is_empty() {
        text = format!("<u>{text}</u>");
    }
    if cell.bold && !text.trim().is_empty() {
        text = format!("**{}**", text.trim());
    }
    if let Some(repeats) = &cell.repeats {
        let _ = write!(text, " ({})", markdown(repeats));
    }
    if let Some(badge) = &cell.badge {
        let word = markdown(if is_marked(cell) { mark(badge) } else { verdict(badge) });
        let _ = write!(text, "{}{word}", if text.is_empty() { "" } else { " " });
    }
    text
}
