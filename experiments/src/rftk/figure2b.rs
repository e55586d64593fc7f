//! Figure 2(b): test accuracy on MNIST along training: RF, RF-SGD, RFTK, and RFTK without its trace
//! penalty.

use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};

/// The study whose records Figures 2(b) and 2(c) show.
pub(crate) const STUDY: &str = "rftk/figure2b";

/// Looks between two records of the figure: the paper's axis counts these, not passes.
pub(crate) const EVERY: f64 = 200.0;

/// Read off the plot saved with the authors' code: RF, where RF-SGD ends, where RFTK ends.
const READ_OFF: [(&str, f64); 3] = [("RF", 95.52), ("RF-SGD", 96.5), ("RFTK", 98.6)];

/// Head of a line: the method, and that its penalty is off.
pub(crate) fn label(cell: &StudyCell) -> String {
    match cell.key().variant.as_str() {
        "no-trace" => format!("{}, beta = 0", cell.label()),
        _ => cell.label().to_owned(),
    }
}

/// Record and value along training of the first repeat that has a curve.
pub(crate) fn looks(cell: &StudyCell, value: &str) -> Vec<(f64, f64)> {
    let record = cell.records().find(|record| !record.result.curve.is_empty());
    let points = record.into_iter().flat_map(|record| &record.result.curve);
    points.filter_map(|p| Some((p.step as f64 / EVERY, *p.values.get(value)?))).collect()
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut panel = Panel::new(
        Axis::linear("records, one per 200 batches"),
        Axis::linear("test accuracy (%)").range(94.0, 99.0),
    );
    let mut table = Table::new("rftk/figure2b-ends", "Accuracy along training, in numbers")
        .caption("Test accuracy in percent on MNIST: best over the records, at the end, and the mean of the last tenth of the records. The paper prints no numbers; read off the plot saved with its code, RF is constant at 95.52, RF-SGD stays between 96.3 and 96.7, RFTK rises to 98.6.")
        .columns(["Variant", "Method"].map(Column::left))
        .columns(["Best", "at record", "At the end", "Mean of the last tenth", "Records", "Read off the plot"].map(Column::right));
    for cell in &study.1 {
        let points: Vec<(f64, f64)> =
            looks(cell, "accuracy").into_iter().map(|(x, y)| (x, 100.0 * y)).collect();
        let printed = READ_OFF
            .iter()
            .find(|(name, _)| *name == cell.label() && cell.key().variant == "released")
            .map_or_else(|| Cell::text("-"), |(_, value)| Cell::number(*value, 2));
        if points.is_empty() {
            // A closed form has no curve: it is a level.
            if let Some(score) = cell.score() {
                let level = Mark::Horizontal { y: score.mean, label: label(cell) };
                panel = panel.mark(level);
                table = table.row(Row::new([
                    Cell::text(&cell.key().variant),
                    Cell::text(cell.label()),
                    Cell::text("-"),
                    Cell::text("-"),
                    Cell::number(score.mean, 2),
                    Cell::text("-"),
                    Cell::text("-"),
                    printed,
                ]));
            }
            continue;
        }
        let best = points.iter().copied().fold((0.0, f64::NEG_INFINITY), |best, point| {
            if point.1 > best.1 { point } else { best }
        });
        let tail = &points[points.len() - points.len().div_ceil(10)..];
        let mean = tail.iter().map(|(_, value)| value).sum::<f64>() / tail.len() as f64;
        table = table.row(Row::new([
            Cell::text(&cell.key().variant),
            Cell::text(cell.label()),
            Cell::number(best.1, 2),
            Cell::number(best.0, 0),
            Cell::number(points[points.len() - 1].1, 2),
            Cell::number(mean, 2),
            Cell::count(points.len()),
            printed,
        ]));
        panel = panel.series(Series::line(label(cell), points));
    }
    let drawings = if panel.series.is_empty() {
        Vec::new()
    } else {
        let figure = Figure::new(&artefact.id, &artefact.title)
            .caption("Test accuracy on MNIST along training, first repeat; the axis counts records, one per 200 batches of 32, as the paper's does (it calls them epochs). Horizontal line: ridgeless random features in closed form. With beta = 0 nothing but the trace penalty is taken away.")
            .panel(panel);
        vec![Drawing::Figure(figure)]
    };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}
