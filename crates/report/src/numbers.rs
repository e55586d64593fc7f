//! The numbers of an artefact as `reproduce --json` prints them: its tables as rows, its figures as
//! points.

use crate::Drawing;
use crate::{Artefact, Rendered};
use mercer_render::{Cell, Column, Figure, Mark, Panel, Table};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// What an artefact shows, in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArtefactNumbers {
    /// `rftk/figure2a`.
    pub artefact: String,
    /// Its tables: `id`, `title`, `columns`, `rows` (one object a row, by the columns' heads) and
    /// `notes`.
    pub tables: Vec<Value>,
    /// Its figures: `id`, `title` and `panels` of `series` and `marks`. Diagrams have no numbers.
    pub figures: Vec<Value>,
}

impl ArtefactNumbers {
    pub(crate) fn of(artefact: &Artefact, rendered: &Rendered) -> Self {
        let figures = rendered.drawings.iter().filter_map(|drawing| match drawing {
            Drawing::Figure(figure) => Some(of_figure(figure)),
            Drawing::Diagram(_) => None,
        });
        Self {
            artefact: artefact.id.clone(),
            tables: rendered.tables.iter().map(of_table).collect(),
            figures: figures.collect(),
        }
    }
}

fn head(column: &Column) -> String {
    match &column.group {
        Some(group) => format!("{group}: {}", column.head),
        None => column.head.clone(),
    }
}

fn of_table(table: &Table) -> Value {
    let heads: Vec<String> = table.columns.iter().map(head).collect();
    let rows: Vec<Value> = table
        .rows
        .iter()
        .map(|row| {
            let cells = heads.iter().cloned().zip(row.cells.iter().map(of_cell));
            let section = row.group.iter().map(|group| ("section".to_owned(), json!(group)));
            Value::Object(section.chain(cells).collect())
        })
        .collect();
    json!({
        "id": table.id, "title": table.title, "columns": heads, "rows": rows, "notes": table.notes,
    })
}

/// The number behind a cell that has nothing else, or all that it says.
fn of_cell(cell: &Cell) -> Value {
    let beside = [
        ("repeats", cell.repeats.clone()),
        ("verdict", cell.badge.as_ref().map(|badge| badge.text.clone())),
        ("note", cell.detail.clone()),
    ];
    let beside: Map<String, Value> = beside
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), json!(text?))))
        .collect();
    if beside.is_empty() && cell.sort.is_none() {
        return json!(cell.text);
    }
    let said = [("text", json!(cell.text)), ("value", json!(cell.sort))];
    Value::Object(
        said.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(beside).collect(),
    )
}

fn of_figure(figure: &Figure) -> Value {
    let panels: Vec<Value> = figure.panels.iter().map(of_panel).collect();
    json!({ "id": figure.id, "title": figure.title, "panels": panels })
}

fn of_panel(panel: &Panel) -> Value {
    let series = panel.series.iter().map(
        |series| json!({ "label": series.label, "points": series.points, "band": series.band }),
    );
    let marks = panel.marks.iter().map(|mark| match mark {
        Mark::Vertical { x, label } => json!({ "label": label, "x": x }),
        Mark::Horizontal { y, label } => json!({ "label": label, "y": y }),
        Mark::Point { x, y, label, .. } | Mark::Name { x, y, label } => {
            json!({ "label": label, "x": x, "y": y })
        }
    });
    json!({
        "title": panel.title,
        "series": series.collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_render::Row;

    #[test]
    fn a_table_is_rows_by_the_heads_of_its_columns() {
        let table = Table::new("rftk/toy", "Toys")
            .columns([Column::left("Dataset"), Column::right("mean").under("ours")])
            .row(Row::new([Cell::text("wine"), Cell::number(0.5, 1).detail("± 0.1")]).under("a"));
        let shown = of_table(&table);
        assert_eq!(shown["rows"][0]["section"], "a");
        assert_eq!(shown["rows"][0]["Dataset"], "wine");
        assert_eq!(shown["rows"][0]["ours: mean"]["value"], 0.5);
        assert_eq!(shown["rows"][0]["ours: mean"]["note"], "± 0.1");
    }
}
