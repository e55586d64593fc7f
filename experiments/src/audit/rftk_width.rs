//! The width that the text found best on its synthetic problem, beside the rest of its grid.

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

const STUDY: &str = "audit/rftk-width";

/// Of each width: its variance, and the named values over repeats.
fn by_width(cell: &StudyCell) -> BTreeMap<u64, BTreeMap<&str, Vec<f64>>> {
    let mut widths: BTreeMap<u64, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        let values = widths.entry(point.step).or_default();
        for (name, value) in &point.values {
            values.entry(name).or_default().push(*value);
        }
    }
    widths
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Mean squared error of ridgeless random features (M = 200), mean ± deviation over draws of the features: on the test rows, whose targets have no noise, and on a fifth of the training rows that the others predict (noise of variance 0.04 included). The text's grid of σ² with exp(-‖x - x'‖²/(2σ²)); its choice is 100. rftk-kink is the text's target, rftk-slope the code's.")
        .columns([Column::left("Dataset")])
        .columns(["σ²", "test rows", "held-out rows", "rank", "Repeats"].map(Column::right));
    for cell in &study.1 {
        for values in by_width(cell).values() {
            let shown = |name: &str, digits: usize| {
                values.get(name).and_then(|values| summarise(values)).map_or_else(
                    || Cell::text("-"),
                    |s| {
                        Cell::text(format!("{:.digits$} ± {:.digits$}", s.mean, s.sample_std))
                            .sort(s.mean)
                    },
                )
            };
            let variance = values.get("variance").and_then(|values| values.first());
            let repeats = values.get("mse").map_or(0, Vec::len);
            table = table.row(Row::new([
                Cell::text(&cell.key().dataset),
                variance.map_or_else(|| Cell::text("-"), |v| Cell::text(format!("{v}")).sort(*v)),
                shown("mse", 4),
                shown("held-out", 4),
                shown("rank", 1),
                Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
            ]));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
