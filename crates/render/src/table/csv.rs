use super::{Cell, Table};
use crate::escape::csv_line;

/// A part of a cell, if it has it.
type Get = fn(&Cell) -> Option<&str>;

/// Columns that stand beside the text of a cell where any row has them.
const BESIDE: [(&str, Get); 3] = [
    ("repeats", |cell| cell.repeats.as_deref()),
    ("verdict", |cell| cell.badge.as_ref().map(|badge| badge.text.as_str())),
    ("note", |cell| cell.detail.as_deref()),
];

pub(super) fn table(table: &Table) -> String {
    let grouped = table.rows.iter().any(|row| row.group.is_some());
    let shown: Vec<Vec<_>> = (0..table.columns.len())
        .map(|j| {
            let used = |get: &Get| table.rows.iter().any(|row| get(&row.cells[j]).is_some());
            BESIDE.iter().filter(|(_, get)| used(get)).collect()
        })
        .collect();

    let mut heads = Vec::new();
    if grouped {
        heads.push("section".to_owned());
    }
    for (column, beside) in table.columns.iter().zip(&shown) {
        let head = match &column.group {
            Some(group) => format!("{group}: {}", column.head),
            None => column.head.clone(),
        };
        heads.extend(beside.iter().map(|(name, _)| format!("{head} {name}")));
        heads.insert(heads.len() - beside.len(), head);
    }
    let mut out = csv_line(heads.iter().map(String::as_str));
    for row in &table.rows {
        let mut fields = Vec::new();
        if grouped {
            fields.push(row.group.as_deref().unwrap_or_default());
        }
        for (cell, beside) in row.cells.iter().zip(&shown) {
            fields.push(cell.text.as_str());
            fields.extend(beside.iter().map(|(_, get)| get(cell).unwrap_or_default()));
        }
        out.push_str(&csv_line(fields));
    }
    out
}
