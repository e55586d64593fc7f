//! Figure 2, top right: test accuracy on MNIST along the training of the same convolutional network
//! under an embedding and under a softmax layer.

use super::stated_of;
use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Table};
use mercer_report::stated;
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};

/// Methods of which the text states the accuracy after 800 epochs, by its names and those of the figure.
const PRINTED: [(&str, &str, &str); 2] =
    [("cen-cnn", "CEN convolutional", "embedding"), ("softmax-cnn", "CNN softmax", "softmax")];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("mce/figure2-cnn")?;
    let (spec, cells) = &*study;
    let mut marks = Vec::new();
    for (_, name, label) in PRINTED {
        let number = stated_of("", name)?;
        marks.extend(number.map(|number| (format!("{label}, printed"), 100.0 - number.mean)));
    }
    let mut figure = Figure::new(&artefact.id, &artefact.title)
        .caption("Both networks start from the same parameters and see the same batches under dropout of one half; the embedding's read-out is computed anew from all training images without dropout at every look. First repeat, one panel a variant, equal axes. Error: 100 minus the accuracy in percent. Lines: what the text prints after 800 epochs. The paper's claim: the embedding's accuracy is higher at all epochs.")
        .columns(spec.variants.len().min(2));
    let mut table = Table::new("mce/figure2-cnn-end", "Where the curves end")
        .caption("Accuracy on the 10,000 test images, percent, at the last epoch that was run. A verdict is `short` where fewer than the paper's 800 epochs of batches of 6000 were run, or fewer repeats.")
        .columns([Column::left("Variant"), Column::left("Method")])
        .columns(["Training images", "Epochs", "Best", "At the end", "Paper, 800 epochs", "Verdict"].map(Column::right));
    let drawn = || cells.iter().filter_map(curve).map(|(_, points)| points);
    let longest = drawn().flatten().map(|(epoch, _)| epoch).fold(0.0, f64::max);
    let printed = marks.iter().map(|(_, error)| *error);
    let errors = || drawn().flatten().map(|(_, y)| 100.0 - y).filter(|error| *error > 0.0);
    let least = errors().chain(printed).fold(100.0, f64::min);
    let most = errors().fold(1.0, f64::max);
    for variant in &spec.variants {
        let x = Axis::linear("epochs").range(0.0, longest.max(1.0));
        let y = Axis::log10("test error (%)").range(0.9 * least, 1.05 * most);
        let mut panel = Panel::new(x, y).title(&variant.name);
        for cell in cells.iter().filter(|cell| cell.key().variant == variant.name) {
            let Some((rows, points)) = curve(cell) else { continue };
            let Some(&(epochs, end)) = points.last() else { continue };
            let best = points.iter().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
            let number = match PRINTED.iter().find(|(method, ..)| cell.key().method == *method) {
                Some((_, name, _)) => stated_of("", name)?,
                None => None,
            };
            let values: Vec<f64> = cell.values().into_iter().map(|(_, value)| value).collect();
            let [printed, verdict] = stated(context, &artefact.id, cell, &values, number.as_ref())?;
            table = table.row(Row::new([
                Cell::text(&variant.name),
                Cell::text(cell.label()),
                Cell::count(rows),
                Cell::number(epochs, 0),
                Cell::number(best, 2),
                Cell::number(end, 2),
                printed,
                verdict,
            ]));
            let seen = points.into_iter().map(|(epoch, y)| (epoch, 100.0 - y));
            panel =
                panel.series(Series::line(cell.label(), seen.filter(|(_, error)| *error > 0.0)));
        }
        if !panel.series.is_empty() {
            for (label, y) in &marks {
                panel = panel.mark(Mark::Horizontal { y: *y, label: label.clone() });
            }
            figure = figure.panel(panel);
        }
    }
    if table.rows.is_empty() {
        table = table.note(format!(
            "Not run yet: mercer reproduce {} --profile {}",
            &artefact.id, context.profile
        ));
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// Training images, and epoch and percent at each look, of the first repeat with a curve.
fn curve(cell: &StudyCell) -> Option<(usize, Vec<(f64, f64)>)> {
    let record = cell.records().find(|record| !record.result.curve.is_empty())?;
    let looks = record.result.curve.iter();
    let points =
        looks.filter_map(|point| Some((point.epoch, 100.0 * point.values.get("accuracy")?)));
    Some((record.result.rows[0] as usize, points.collect()))
}
