//! The objective as printed, with the mean of the losses, against the code's sum.

use super::median::against;
use super::{Cells, accuracy, mean_of, shown};
use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Style, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};

/// Variants with the mean of the losses, and the weight of the complexity in each; none is `4e`.
const WEIGHTS: [(&str, Option<f64>); 7] = [
    ("tau-0.003", Some(0.003)),
    ("tau-0.01", Some(0.01)),
    ("tau-0.036", Some(0.036)),
    ("tau-0.068", Some(0.068)),
    ("tau-0.3", Some(0.3)),
    ("tau-1", Some(1.0)),
    ("printed", None),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(context)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("GMCE on the released folds. With the mean of the losses, scaling f by t lowers the loss by log t and raises r by the factor t: the optimum has τ r = 1 whatever the data, unless f comes near 1; and with τ = 4e that is r = 0.092, a constant classifier. The sum of n losses with weight 4e is their mean with weight 4e/n. Inputs are scaled over the whole file, but for τ = 4e with the mean (variant printed): on the training part.")
        .columns(["Dataset", "Objective"].map(Column::left))
        .columns(["τ", "Accuracy", "r", "τ r", "Majority class"].map(Column::right));
    let mut figure = Figure::new("audit/mce-sum-or-mean-weights", "Accuracy against the weight of the complexity")
        .caption("Mean of the losses, the same folds. Vertical: 4e/n, which is what the code's sum amounts to, and the printed 4e. Bands: deviation over folds.")
        .columns(2);
    let printed_weight = 4.0 * std::f64::consts::E;
    for dataset in &cells.table.0.datasets {
        let released = cells.find("released", dataset, "gmce");
        let majority = cells.find("released", dataset, "majority");
        let n = released.and_then(rows);
        let mut row = |name: String, weight: f64, cell: Option<&StudyCell>| {
            if cell.is_some() {
                let r = mean_of(cell, "complexity");
                table.rows.push(
                    Row::new([
                        Cell::text(dataset),
                        Cell::text(name),
                        Cell::number(weight, 3),
                        accuracy(cell),
                        shown(r, 3),
                        shown(r.map(|r| weight * r), 3),
                        accuracy(majority),
                    ])
                    .under(dataset),
                );
            }
        };
        row("sum (code)".to_owned(), n.map_or(printed_weight, |n| printed_weight / n), released);
        let mut points = Vec::new();
        let mut band = Vec::new();
        for (variant, weight) in WEIGHTS {
            let cell = cells.find(variant, dataset, "gmce");
            let weight = weight.unwrap_or(printed_weight);
            row("mean".to_owned(), weight, cell);
            if let Some(score) = cell.and_then(StudyCell::score) {
                points.push((weight, score.mean));
                band.push((score.mean - score.std, score.mean + score.std));
            }
        }
        if points.len() > 2 {
            let mut panel = Panel::new(Axis::log10("weight τ"), Axis::linear("accuracy (%)"))
                .title(dataset)
                .series(
                    Series::line("GMCE, mean of the losses", points)
                        .style(Style::LinePoints)
                        .band(band),
                )
                .mark(Mark::Vertical { x: printed_weight, label: "4e".to_owned() });
            if let Some(n) = n {
                panel =
                    panel.mark(Mark::Vertical { x: printed_weight / n, label: "4e/n".to_owned() });
            }
            figure = figure.panel(panel);
        }
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table, validated(&cells)?], drawings, ..Rendered::default() })
}

/// Equation (13): summed losses on the rows of a batch, or on a third of them that its embedding does not
/// see, with the printed weight and with 1.
fn validated(cells: &Cells) -> Result<Table, ExperimentError> {
    let mut table = Table::new("audit/mce-sum-or-mean-validation", "The loss on rows that the embedding does not see")
        .caption("Equation (13) of the paper, which gives no number for it: the loss is measured on a part of each batch, here a third of all rows, that the embedding of the step is not made of. The paper says that a weight below 4e can generalise better, and works well together with it. GMCE with summed losses on the released folds; accuracy minus that of the first line with its corrected 95 % interval.")
        .columns(["Dataset", "Loss on", "Weight τ"].map(Column::left))
        .columns(["Accuracy", "Difference", "95 % interval", "p corrected", "r"].map(Column::right));
    for dataset in &cells.table.0.datasets {
        let released = cells.find("released", dataset, "gmce");
        let lines = [
            ("released", "all rows", "4e"),
            ("validated", "a third, held out", "4e"),
            ("validated-tau-1", "a third, held out", "1"),
        ];
        if cells.find("validated", dataset, "gmce").is_none() {
            continue;
        }
        for (variant, rows, weight) in lines {
            let cell = cells.find(variant, dataset, "gmce");
            let head = [Cell::text(dataset), Cell::text(rows), Cell::text(weight), accuracy(cell)];
            let other = released.filter(|_| variant != "released");
            let line = head.into_iter().chain(against(cell, other)?);
            let line = line.chain([shown(mean_of(cell, "complexity"), 3)]);
            table = table.row(Row::new(line).under(dataset));
        }
    }
    if table.rows.is_empty() {
        table = table.note("Not run yet: mercer reproduce audit/mce-sum-or-mean");
    }
    Ok(table)
}

/// Training rows of the first repeat.
fn rows(cell: &StudyCell) -> Option<f64> {
    cell.records().next().map(|record| record.result.rows[0] as f64)
}
