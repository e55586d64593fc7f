use super::{Align, Cell, Table};
use crate::escape::markdown;
use std::fmt::Write;

pub(super) fn table(table: &Table) -> String {
    let mut out = String::new();
    let _ = write!(out, "**{}**", markdown(&table.title));
    if !table.caption.is_empty() {
        let _ = write!(out, " {}", markdown(&table.caption));
    }
    out.push_str("\n\n");
    line(
        &mut out,
        table.columns.iter().map(|column| match &column.group {
            // Markdown has no spanning heads.
            Some(group) => format!("{}: {}", markdown(group), markdown(&column.head)),
            None => markdown(&column.head),
        }),
    );
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
    if !table.notes.is_empty() {
        out.push('\n');
    }
    for note in &table.notes {
        let _ = writeln!(out, "- {}", markdown(note));
    }
    out
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
        let _ = write!(text, " *{}*", markdown(&badge.text));
    }
    if let Some(detail) = &cell.detail {
        let _ = write!(text, "<br>{}", markdown(detail));
    }
    text
}
