//! The risk bound of embeddings at what was learned, term by term; and its multiplier.

use crate::mce::table2::Sizes;
use mercer_learning::fact;
use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use mercer_theory::{Bound, VACUOUS_COMPLEXITY, embedding_risk, loss_multiplier};

/// Probability that the bound fails.
const BETA: f64 = 0.05;

/// What the columns mean.
const NOTES: [&str; 6] = [
    "The expected loss is clipped at probability 1/e, so it is at most 1.",
    "r = α‖W‖, where α is the largest √k(x, x) of the training rows, the least value that the theorem allows.",
    "r with α = 1: the value that networks learn with, whatever the lengths of their features. Theorem 4 does not allow it.",
    "For networks, mean loss and r are taken at the output layer.",
    "Deviation: the last term, √(8 log(2/β)/n).",
    "The theorem is for parameters fixed in advance. At learned parameters it proves nothing, and the bound is shown for its size.",
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("mce/table1")?;
    let (_, cells) = &*study;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption(format!("Theorem 4 with β = {BETA} at the learned parameters, means over folds: expected loss ≤ mean loss + 4e r + √(8 log(2/β)/n). From r = {VACUOUS_COMPLEXITY:.3} on the bound is vacuous."))
        .columns(["Dataset", "Variant", "Method"].map(Column::left))
        .columns(["Mean loss", "r", "r with α = 1", "4e r", "Deviation", "Bound", "Error (%)"].map(Column::right))
        .columns([Column::left("Vacuous")]);
    table = NOTES.into_iter().fold(table, Table::note);
    for cell in cells {
        let Some((bound, r, one)) = of(cell) else { continue };
        let term = |name: &str| Cell::number(bound.term(name).unwrap_or(0.0), 3);
        let error = cell
            .score()
            .map_or_else(|| Cell::text("-"), |score| Cell::number(100.0 - score.mean, 1));
        table = table.row(Row::new([
            Cell::text(&cell.key().dataset),
            Cell::text(&cell.key().variant),
            Cell::text(cell.label()),
            term("mean loss"),
            Cell::number(r, 3),
            one.map_or_else(|| Cell::text(""), |r| Cell::number(r, 3)),
            term("4e r"),
            term("deviation"),
            Cell::number(bound.value, 2),
            error,
            Cell::text(if bound.vacuous == Some(true) { "yes" } else { "no" }),
        ]));
    }
    let multiplier = (1..200).filter_map(|i| {
        let epsilon = f64::from(i) / 200.0;
        Some((epsilon, loss_multiplier(epsilon).ok()?.value))
    });
    let panel = Panel::new(Axis::linear("ε"), Axis::log10("multiplier of αρ"))
        .series(Series::line("4/(ε log 1/ε)", multiplier))
        .mark(Mark::Vertical { x: (-1f64).exp(), label: "1/e".to_owned() });
    let figure = Figure::new("theory/mce-bound-multiplier", "What multiplies the complexity")
        .caption("Lemma 15: the factor of the complexity against the probability at which the loss is clipped. It is least at 1/e, where it is 4e.")
        .panel(panel);
    let drawings = vec![Drawing::Figure(figure)];
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// The bound at the means over the folds of a learned embedding, its complexity, and that of a network with
/// 1 for `α`.
fn of(cell: &StudyCell) -> Option<(Bound, f64, Option<f64>)> {
    let method = cell.key().method.as_str();
    if !METHODS.contains(&method) {
        return None;
    }
    let record = cell.records().next()?;
    let mean = |name: &str| {
        let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| value).collect();
        summarise(&values).map(|summary| summary.mean)
    };
    let rows = record.result.rows[0] as usize;
    let sizes = Sizes::of(cell);
    // Records of networks from before they told it have nothing that the theorem speaks of.
    let r = sizes.complexity?;
    let loss = match (mean(fact::MEAN_LOSS), sizes.one) {
        (Some(loss), _) => loss,
        (None, true) => return None,
        (None, false) => {
            let form = record.result.settings.get("form").and_then(|form| form.as_str());
            mean("loss")? / if form == Some("mean") { 1.0 } else { rows as f64 }
        }
    };
    let one = if sizes.one { mean(fact::NORM) } else { None };
    Some((embedding_risk(loss.max(0.0), r, rows, BETA).ok()?, r, one))
}

/// The embeddings of Table 1.
const METHODS: [&str; 8] =
    ["gmce", "gmce-sgd", "mce-erm", "mce-cv", "mce-median", "cen-1", "cen-2", "cen-implicit"];
