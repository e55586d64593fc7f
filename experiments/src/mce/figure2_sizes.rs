//! Figure 2, top left: test accuracy on MNIST against the number of training images.

use super::stated_of;
use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Table};
use mercer_report::stated;
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

/// Sizes of which the text states accuracies.
const SIZES: [u64; 2] = [500, 5000];

/// Of these methods, in the order of their colours, by the paper's names.
const METHODS: [(&str, &str, &str); 2] = [
    ("sizes-with-bound", "GMCE-ARD with RCB", "printed, with the bound"),
    ("sizes-without-bound", "GMCE-ARD without RCB", "printed, without it"),
];

/// Size to the accuracies of the repeats, in percent.
fn accuracies(cell: &StudyCell) -> BTreeMap<u64, Vec<f64>> {
    let mut all: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        if let Some(value) = point.values.get("accuracy") {
            all.entry(point.step).or_default().push(100.0 * value);
        }
    }
    all
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("mce/figure2-sizes")?;
    let (spec, cells) = &*study;
    let mut figure = Figure::new(&artefact.id, &artefact.title)
        .caption("Error on the 10,000 test images, 100 minus the accuracy in percent, after training on the first n of a random draw of training images, means over draws with their range as a band; all methods see the same images. Embeddings: anisotropic Gaussian, 500 steps, everything starts at 1 (`tuned`: lengths at √d), summed losses. SVC: one class against the others, C = 1, width √d (there: a pair of classes against each other, both by 5-fold cross-validation). GPC: isotropic, one class against the others, evidence maximised from l = √d. Stars: what the text prints, 13.31 with the bound and 13.04 without at n = 500, 3.95 and 4.70 at n = 5000.")
        .columns(spec.variants.len().min(2));
    let mut table = Table::new("mce/figure2-sizes-table", "Accuracies by number of training images")
        .caption("Percent on the test images, mean ± deviation over draws. The paper prints 86.69 with the bound and 86.96 without it at n = 500, 96.05 and 95.3 at n = 5000, from one draw as it seems. A verdict judges it as one more draw of ours, by the 95 % interval for a next one, which three draws make wide: `open` is what lies in one of more than two points to a side; `short` are fewer draws than three, or fewer steps. audit/mce-draws has twenty draws of 500 images.")
        .columns([Column::left("Variant"), Column::left("Method"), Column::right("n")])
        .columns(["Accuracy", "Paper", "Verdict", "Draws"].map(Column::right));
    for variant in &spec.variants {
        let mut panel = Panel::new(Axis::log10("training images n"), Axis::log10("test error (%)"))
            .title(&variant.name);
        for cell in cells.iter().filter(|cell| cell.key().variant == variant.name) {
            let all = accuracies(cell);
            let range = |values: &[f64]| {
                let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (100.0 - high, 100.0 - low)
            };
            let mut points = Vec::new();
            for (size, values) in &all {
                let Some(summary) = summarise(values) else { continue };
                points.push((*size as f64, 100.0 - summary.mean));
                let of = METHODS.iter().find(|(method, ..)| cell.key().method == *method);
                let number = match of {
                    Some((_, name, _)) => stated_of(&size.to_string(), name)?,
                    None => None,
                };
                let [printed, verdict] =
                    stated(context, &artefact.id, cell, values, number.as_ref())?;
                table = table.row(Row::new([
                    Cell::text(&variant.name),
                    Cell::text(cell.label()),
                    Cell::count(*size as usize),
                    // One draw has no deviation.
                    match values.len() {
                        1 => Cell::number(summary.mean, 2),
                        _ => Cell::mean_std(summary.mean, summary.sample_std, 2),
                    },
                    printed,
                    verdict,
                    Cell::text(format!("{}/{}", values.len(), cell.repeats_of_paper())),
                ]));
            }
            if !points.is_empty() {
                let band = all.values().map(|values| range(values));
                panel = panel.series(Series::line(cell.label(), points).band(band));
            }
        }
        if panel.series.is_empty() {
            continue;
        }
        for n in SIZES {
            // In the colours of the two curves, which are the first.
            for (color, (_, name, label)) in METHODS.iter().enumerate().rev() {
                let Some(number) = stated_of(&n.to_string(), name)? else { continue };
                let (x, y, label) = (n as f64, 100.0 - number.mean, (*label).to_owned());
                panel = panel.mark(Mark::Point { x, y, label, color: Some(color) });
            }
        }
        figure = figure.panel(panel);
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
