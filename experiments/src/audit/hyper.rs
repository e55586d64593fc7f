//! Audits of learning on pairs: the normaliser, the variance, the order of pairs.

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};
use mercer_statistics::summarise;

const STUDY: &str = "audit/hyper";

/// A row's cells, from the means over repeats of named values.
type Cells = fn(&dyn Fn(&str) -> f64) -> Vec<Cell>;

fn table(
    context: &RenderContext<'_>,
    artefact: &Artefact,
    caption: &str,
    heads: &[&str],
    cells: Cells,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption(format!("{caption} Means over repeats; rows of the training part, at most 100, inputs in [0, 1]."))
        .columns([Column::left("Dataset")])
        .columns(heads.iter().map(|head| Column::right(*head)))
        .columns([Column::right("Repeats")]);
    for cell in &study.1 {
        let records: Vec<_> =
            cell.records().filter_map(|record| record.result.curve.first()).collect();
        if records.is_empty() {
            continue;
        }
        let mean = |name: &str| {
            let values: Vec<f64> =
                records.iter().filter_map(|point| point.values.get(name).copied()).collect();
            summarise(&values).map_or(f64::NAN, |summary| summary.mean)
        };
        let first = Cell::text(&cell.key().dataset);
        let last = Cell::text(format!("{}/{}", records.len(), cell.repeats_of_paper()));
        table = table
            .row(Row::new(std::iter::once(first).chain(cells(&mean)).chain(std::iter::once(last))));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

/// `1.2e-3`.
fn scientific(value: f64) -> Cell {
    Cell::text(if value.is_finite() { format!("{value:.1e}") } else { "-".to_owned() }).sort(value)
}

pub(crate) fn normaliser(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    table(
        context,
        artefact,
        "Base-10 logarithm of the normaliser c of the printed hyper-kernel (a product of three Gaussian densities), with σ² the variance per entry or the total variance and σ_h² = σ². With c, a ridge λ is λ/c without it: the last two columns say which ridges the printed grid 1e-5 .. 1e5 then amounts to. Far below the rounding error (1e-16) they do nothing, far above 1 they leave nothing.",
        &[
            "Inputs",
            "log10 c, per entry",
            "log10 c, total",
            "log10 λ/c, per entry",
            "log10 λ/c, total",
        ],
        |mean| {
            let (entry, total) = (mean("entry log10 c"), mean("total log10 c"));
            let range = |log: f64| Cell::text(format!("{:.0} .. {:.0}", -5.0 - log, 5.0 - log));
            vec![
                Cell::number(mean("inputs"), 0),
                Cell::number(entry, 1),
                Cell::number(total, 1),
                range(entry),
                range(total),
            ]
        },
    )
}

pub(crate) fn variance(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    table(
        context,
        artefact,
        "The two readings of \"the variance of the data\" as the width σ² of the hyper-kernel: median of exp(−‖x − x'‖²/(2σ²)) over pairs of points, and test RMSE of a Gaussian kernel (of the total variance) learned from pairs with the ridge of the printed grid that is best on these test pairs, beside that of k = 0.",
        &[
            "per entry",
            "total",
            "median, per entry",
            "median, total",
            "RMSE, per entry",
            "RMSE, total",
            "RMSE of 0",
        ],
        |mean| {
            vec![
                Cell::number(mean("entry variance"), 3),
                Cell::number(mean("total variance"), 3),
                scientific(mean("entry median")),
                scientific(mean("total median")),
                Cell::number(mean("entry rmse"), 4),
                Cell::number(mean("total rmse"), 4),
                Cell::number(mean("rmse of zero"), 4),
            ]
        },
    )
}

pub(crate) fn pairs(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    table(
        context,
        artefact,
        "Hyper-KRR over all ordered pairs of a few points, as printed, and over unordered pairs with weights 1 and 2, as here: sizes of the two systems, numerical rank of the ordered one (it cannot exceed the number of unordered pairs), and the largest difference of the two learned kernels at ten test pairs (λ = 1e-3).",
        &["Ordered pairs", "Rank", "Unordered pairs", "Largest difference"],
        |mean| {
            vec![
                Cell::number(mean("ordered pairs"), 0),
                Cell::number(mean("ordered rank"), 1),
                Cell::number(mean("unordered pairs"), 0),
                scientific(mean("ordered gap")),
            ]
        },
    )
}
