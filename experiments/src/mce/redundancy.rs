//! Scale and ridge are one parameter.

use super::{Cells, accuracy, mean_of};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(context)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("f, r and q depend on the scale s and the ridge λ through λ/s² only, so s ∂q/∂s + 2 λ ∂q/∂λ = 0. Learning starts at (1, 1), as in the paper, and at (10, 100): the same ratio. Means over folds of what is learned.")
        .columns(["Dataset", "Start (s, λ)"].map(Column::left))
        .columns(["Accuracy", "s", "λ", "λ/s²", "r", "Objective"].map(Column::right));
    for dataset in &cells.table.0.datasets {
        for (variant, start) in [("released", "(1, 1)"), ("rescaled", "(10, 100)")] {
            let cell = cells.find(variant, dataset, "gmce");
            // Only where both were run.
            if cell.is_none() || cells.find("rescaled", dataset, "gmce").is_none() {
                continue;
            }
            let fact = |name: &str| {
                mean_of(cell, name)
                    .map_or_else(|| Cell::text("-"), |v| Cell::text(format!("{v:.5}")).sort(v))
            };
            let numbers =
                ["scale", "lambda", "lambda-over-scale-squared", "complexity", "objective"];
            let row = [Cell::text(dataset), Cell::text(start), accuracy(cell)];
            table = table
                .row(Row::new(row.into_iter().chain(numbers.into_iter().map(fact))).under(dataset));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
