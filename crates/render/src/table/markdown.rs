use super::html::first_part;
use super::{Align, Badge, Cell, Column, Kind, Table};
use crate::escape::markdown;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A table of one line a row: verdicts are marks, and second lines are left to the file of values beside it.
pub(super) fn table(table: &Table) -> String {
    let mut out = format!("**{}**\n\n", markdown(&table.title));
    line(&mut out, table.columns.iter().map(|column| head(table, column)));
    line(&mut out, table.columns.iter().map(|column| rule(column.align).to_owned()));
    for (group, rows) in table.sections() {
        if let Some(group) = group {
            let name = format!("*{}*", markdown(group));
            let blank = std::iter::repeat_n(String::new(), table.columns.len().saturating_sub(1));
            line(&mut out, std::iter::once(name).chain(blank));
        }
        for row in rows {
            line(&mut out, row.cells.iter().map(cell));
        }
    }
    let marks = marks(table);
    for text in [&marks, &markdown(&table.caption)] {
        if !text.is_empty() {
            let _ = write!(out, "\n{text}\n");
        }
    }
    let notes = table.notes.iter().map(|note| markdown(note));
    for (i, note) in groups(table).into_iter().chain(notes).chain(beside(table)).enumerate() {
        let _ = writeln!(out, "{}- {note}", if i == 0 { "\n" } else { "" });
    }
    out
}

/// A head a section, an item a row.
pub(super) fn list(table: &Table) -> String {
    let mut out = format!("## {}\n", markdown(&table.title));
    for (group, rows) in table.sections() {
        let _ = write!(out, "\n**{}**\n\n", markdown(group.unwrap_or_default()));
        for row in rows {
            let Some((name, others)) = row.cells.split_first() else { continue };
            let texts: Vec<String> = others.iter().map(in_words).collect();
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

/// A head; with its group, for Markdown has no spanning heads, where two columns have the same.
fn head(table: &Table, column: &Column) -> String {
    let same = table.columns.iter().filter(|other| other.head == column.head).count();
    match &column.group {
        Some(group) if same > 1 => format!("{}: {}", markdown(group), markdown(&column.head)),
        _ => markdown(&column.head),
    }
}

/// Which columns belong together.
fn groups(table: &Table) -> Option<String> {
    let named = table.spans().into_iter();
    let mut first = 0;
    let texts: Vec<String> = named
        .filter_map(|(group, count)| {
            let own = &table.columns[first..first + count];
            first += count;
            let heads: Vec<String> = own.iter().map(|column| head(table, column)).collect();
            Some(format!("*{}*: {}", markdown(group?), heads.join(", ")))
        })
        .collect();
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

/// What stands for a verdict beside a number.
const fn mark(kind: Kind) -> &'static str {
    match kind {
        Kind::Good => "✓",
        Kind::Bad => "✗",
        Kind::Neutral => "?",
        Kind::Muted => "–",
    }
}

/// A verdict without what it adds: `differs` of `differs +4.6, cause unknown`.
fn verdict(badge: &Badge) -> &str {
    let end = badge.text.find(|c: char| c == ',' || c == '+' || c.is_ascii_digit());
    badge.text[..end.unwrap_or(badge.text.len())].trim_end_matches(['-', '−', ' '])
}

/// Whether the mark takes the place of the verdict: a cell that says nothing else says it in words.
fn is_marked(cell: &Cell) -> bool {
    cell.badge.is_some() && !cell.text.trim().is_empty()
}

/// What the marks of a table mean.
fn marks(table: &Table) -> String {
    let marked = || table.rows.iter().flat_map(|row| &row.cells).filter(|cell| is_marked(cell));
    let of = |kind: Kind| {
        let badges = marked().filter_map(|cell| cell.badge.as_ref());
        let words: BTreeSet<&str> =
            badges.filter(|badge| badge.kind == kind).map(verdict).collect();
        let words: Vec<String> = words.into_iter().map(markdown).collect();
        (!words.is_empty()).then(|| format!("{} {}", mark(kind), words.join(" or ")))
    };
    let kinds = [Kind::Good, Kind::Bad, Kind::Neutral, Kind::Muted];
    kinds.into_iter().filter_map(of).collect::<Vec<_>>().join("; ")
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
            "[{}.csv]({name}.csv) has the differences, p-values and remarks of each cell.",
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
        let word =
            if is_marked(cell) { mark(badge.kind).to_owned() } else { markdown(verdict(badge)) };
        let _ = write!(text, "{}{word}", if text.is_empty() { "" } else { " " });
    }
    text
}
