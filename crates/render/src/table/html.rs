use super::{Align, Badge, Cell, Drawer, Kind, Row, Table};
use crate::escape::{address, html, html_with_code, link_target};
use std::fmt::Write;

pub(super) fn table(table: &Table) -> String {
    let id = address(&table.id);
    let mut out = String::new();
    let _ = write!(
        out,
        "<figure class=\"table\" id=\"{id}\">\n<figcaption><h3>{}</h3>",
        html(&table.title)
    );
    out.push_str(&caption(&table.caption));
    // A box that scrolls must be reachable by keyboard, so it takes the focus and has a name.
    let _ = write!(
        out,
        "</figcaption>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table>\n",
        html(&table.title)
    );
    heads(table, &mut out);
    for (group, rows) in table.sections() {
        section(table, group, rows, &mut out);
    }
    out.push_str("</table>\n</div>\n");
    out.push_str(&notes(&table.notes));
    out.push_str("</figure>\n");
    out
}

/// Notes that stand open; more are folded.
const OPEN: usize = 4;

/// The lines below a table or a figure.
pub(crate) fn notes(notes: &[String]) -> String {
    let (open, folded) = notes.split_at(if notes.len() > OPEN + 1 { OPEN } else { notes.len() });
    let mut out = list(open);
    if !folded.is_empty() {
        let (count, folded) = (folded.len(), list(folded));
        let _ = writeln!(
            out,
            "<details class=\"notes\"><summary>{count} more notes</summary>{folded}</details>"
        );
    }
    out
}

fn list(notes: &[String]) -> String {
    let mut out = String::new();
    if !notes.is_empty() {
        out.push_str("<ul class=\"notes\">\n");
        for note in notes {
            let _ = writeln!(out, "<li>{}</li>", html_with_code(note));
        }
        out.push_str("</ul>\n");
    }
    out
}

fn class(align: Align) -> &'static str {
    match align {
        Align::Left => "left",
        Align::Center => "center",
        Align::Right => "right",
    }
}

fn heads(table: &Table, out: &mut String) {
    out.push_str("<thead>\n");
    let spans = table.spans();
    if spans.iter().any(|(group, _)| group.is_some()) {
        out.push_str("<tr class=\"groups\">");
        for (group, count) in spans {
            let _ = match group {
                Some(group) => {
                    write!(out, "<th colspan=\"{count}\" scope=\"colgroup\">{}</th>", html(group))
                }
                None => write!(out, "<td colspan=\"{count}\"></td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("<tr class=\"heads\">");
    for column in &table.columns {
        let (align, head) = (class(column.align), html(&column.head).replace('(', "\u{200b}("));
        let _ = write!(out, "<th scope=\"col\" class=\"{align}\"><button>{head}</button></th>");
    }
    out.push_str("</tr>\n</thead>\n");
}

/// One body a section, so that sorting keeps rows in their section.
fn section(table: &Table, group: Option<&str>, rows: &[Row], out: &mut String) {
    out.push_str("<tbody>\n");
    if let Some(group) = group {
        let (width, group) = (table.columns.len(), html_with_code(group));
        let _ = writeln!(
            out,
            "<tr class=\"section\"><th colspan=\"{width}\" scope=\"rowgroup\">{group}</th></tr>"
        );
    }
    for row in rows {
        let _ = match &row.id {
            Some(id) => write!(out, "<tr id=\"{}\">", address(id)),
            None => write!(out, "<tr>"),
        };
        for (j, (entry, column)) in row.cells.iter().zip(&table.columns).enumerate() {
            let (tag, scope) = if j == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
            let sort = entry.sort.filter(|value| value.is_finite());
            // Six digits are enough for an order.
            let sort = sort
                .map(|value| format!(" data-sort=\"{}\"", six_digits(value)))
                .unwrap_or_default();
            // Numbers stand right and text left without a word: a class costs a tenth of a page.
            let class = match (column.align, sort.is_empty()) {
                (Align::Left, true) | (Align::Right, false) => String::new(),
                (align, _) => format!(" class=\"{}\"", class(align)),
            };
            let _ = write!(out, "<{tag}{scope}{class}{sort}>{}</{tag}>", cell(entry));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n");
}

/// A caption; of a long one all but the first sentence is folded.
pub(crate) fn caption(text: &str) -> String {
    match text.split_once(". ") {
        _ if text.is_empty() => String::new(),
        Some((first, rest)) if text.chars().count() > 300 => format!(
            "<p>{}.</p><details><summary>How to read it</summary><p>{}</p></details>",
            html_with_code(first),
            html_with_code(rest)
        ),
        _ => format!("<p>{}</p>", html_with_code(text)),
    }
}

/// What stands before the first semicolon outside brackets, and after it.
pub(super) fn first_part(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 && text[at..].starts_with("; ") {
            return Some((&text[..at], &text[at + 2..]));
        }
    }
    None
}

fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// A longer detail folds all but its first part.
const LONG: usize = 90;

fn cell(cell: &Cell) -> String {
    let mut text = html_with_code(&cell.text);
    if cell.underline {
        text = format!("<u>{text}</u>");
    }
    if cell.bold {
        text = format!("<strong>{text}</strong>");
    }
    let link = cell.link.as_deref().and_then(link_target);
    let click = |text: &str| match &link {
        Some(link) => format!("<a href=\"{}\">{text}</a>", html(link)),
        None => text.to_owned(),
    };
    let closed = cell.drawer.is_some();
    // The last part of the detail says where the link leads; the number is clicked where there is none.
    let detail = cell.detail.as_deref().map(|detail| {
        let (before, last) = detail.split_at(detail.rfind("; ").map_or(0, |at| at + 2));
        match first_part(detail) {
            Some((first, rest)) if !closed && link.is_none() && detail.chars().count() > LONG => {
                let (first, rest) = (html_with_code(first), html_with_code(rest));
                format!("{first}<details><summary>more</summary>{rest}</details>")
            }
            _ => html_with_code(before) + &click(&html_with_code(last)),
        }
    });
    if detail.is_none() {
        text = click(&text);
    }
    let fewer = cell.repeats.as_deref().filter(|repeats| {
        cell.drawer.is_none() || repeats.split_once('/').is_none_or(|(own, all)| own != all)
    });
    if let Some(repeats) = fewer {
        let _ = write!(text, " <small>{}</small>", html(repeats));
    }
    if let Some(pair) = &cell.pair {
        text.insert_str(0, &pair.svg());
    }
    if let Some(own) = &cell.drawer {
        return drawer(own, cell, &text, detail);
    }
    // Verdict and detail go below the value, so that values stand in line.
    let below: Vec<_> = cell.badge.iter().map(badge).chain(detail).collect();
    if !below.is_empty() {
        let _ = write!(text, "<small class=\"detail\">{}</small>", below.join(" "));
    }
    text
}

/// A text that opens: the badge keeps its verdict, what it adds is inside.
fn drawer(own: &Drawer, cell: &Cell, text: &str, detail: Option<String>) -> String {
    let (mut said, mut added) = (String::new(), None);
    if let Some(own) = &cell.badge {
        let (verdict, more) = own.text.split_once(", ").unwrap_or((&own.text, ""));
        said = format!("<small>{}</small>", badge(&Badge::new(verdict, own.kind)));
        added = Some(html(more));
    }
    let inside = added.into_iter().chain([html(&own.text)]).chain(detail);
    let inside: Vec<String> = inside.filter(|part| !part.is_empty()).collect();
    let mut facts = format!(" data-cell=\"{}\"", html(&own.cell));
    let mut fact = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = write!(facts, " data-{name}=\"{}\"", html(value));
        }
    };
    let digits = |value: &f64| ((value * 1000.0).round() / 1000.0).to_string();
    fact("repeats", &own.repeats.iter().map(digits).collect::<Vec<_>>().join(" "));
    let beside = own.beside.map(|(mean, std)| format!("{} {}", digits(&mean), digits(&std)));
    fact("beside", &beside.unwrap_or_default());
    format!(
        "<details{facts}><summary><span>{text}</span>{said}</summary><small>{}</small></details>",
        inside.join("; ")
    )
}

/// A badge as a `span`.
pub(crate) fn badge(badge: &Badge) -> String {
    let kind = match badge.kind {
        Kind::Good => "good",
        Kind::Bad => "bad",
        Kind::Explained => "explained",
        Kind::Shown => "shown",
        Kind::Neutral => "neutral",
        Kind::Muted => "muted",
    };
    format!("<span class=\"badge {kind}\">{}</span>", html(&badge.text))
}
