//! The trace that RFTK penalises has a scale: what moves it, and what a measure without a scale says.

use mercer_learning::fact;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_report::{PairSide as Side, not_run_yet};

/// Study, variant, method and head of a column.
const COLUMNS: [(&str, &str, &str, &str); 4] = [
    ("rftk/table1", "released", "rf-sgd", "RF-SGD: as drawn"),
    ("rftk/table1", "released", "rftk", "RFTK"),
    ("rftk/table1", "no-trace", "rftk", "RFTK, beta = 0"),
    ("audit/rftk", "unit", "rftk", "RFTK, larger features"),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    let mut table = Table::new("audit/rftk-trace-scale-norms", "Trace and effective rank at the end of training")
        .caption("Means over repeats: trace of the kernel matrix of the training rows over n, and in small its companion without a scale, the effective rank tr(K)²/‖K‖_F² of at most 1000 training rows.")
        .columns([Column::left("Dataset")])
        .columns(COLUMNS.map(|(.., head)| Column::right(head)));
    let studies = [context.cells("rftk/table1")?, context.cells("audit/rftk")?];
    for dataset in &studies[1].0.datasets {
        let mut row = vec![Cell::text(dataset)];
        for (study, variant, method, _) in COLUMNS {
            let found = studies[usize::from(study == "audit/rftk")].1.iter().find(|cell| {
                let key = cell.key();
                (key.variant.as_str(), key.dataset.as_str(), key.method.as_str())
                    == (variant, dataset, method)
            });
            let mean = |name| found.and_then(|cell| mean_of(cell, name));
            row.push(match (mean(fact::FEATURE_NORM_SQUARED), mean("effective-rank")) {
                (Some(trace), rank) => {
                    let rank = rank.map_or_else(|| "-".to_owned(), |rank| format!("{rank:.1}"));
                    Cell::number(trace, 4).detail(format!("rank {rank}"))
                }
                (None, _) => Cell::text("-"),
            });
        }
        table = table.row(Row::new(row));
    }
    let sides = COLUMNS.map(|(study, variant, method, _)| Side::new(study, variant, method));
    if let Some(note) = not_run_yet(context, sides.iter())? {
        table = table.note(note);
    }
    rendered.tables.push(table);
    Ok(rendered)
}

fn mean_of(cell: &StudyCell, name: &str) -> Option<f64> {
    let values = cell.of(name);
    let sum: f64 = values.iter().map(|(_, value)| value).sum();
    (!values.is_empty()).then(|| sum / values.len() as f64)
}
