//! Figure 2(c): training loss and the trace term on MNIST along training.

use mercer_learning::fact;
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};

/// The study whose records Figures 2(b) and 2(c) show.
const STUDY: &str = "rftk/figure2b";

/// Looks between two records of the figure: the paper's axis counts these, not passes.
const EVERY: f64 = 200.0;

/// Head of a line: the method, and that its penalty is off.
fn label(cell: &StudyCell) -> String {
    match cell.key().variant.as_str() {
        "no-trace" => format!("{}, beta = 0", cell.label()),
        _ => cell.label().to_owned(),
    }
}

/// Record and value along training of the first repeat that has a curve.
fn looks(cell: &StudyCell, value: &str) -> Vec<(f64, f64)> {
    let record = cell.records().find(|record| !record.result.curve.is_empty());
    let points = record.into_iter().flat_map(|record| &record.result.curve);
    points.filter_map(|p| Some((p.step as f64 / EVERY, *p.values.get(value)?))).collect()
}

/// Weight of the code's trace term, rows that it sums over, and the share of batches that it plots. Ours may
/// sum over fewer rows: [`trace_rows`].
const WEIGHT: f64 = 100.0;
const ROWS: f64 = 6000.0;
const SHARE: f64 = 0.1;

/// The plotted trace term: the mean over batches of `λ_B ‖φ(X)‖_F / m`, which every tenth batch adds,
/// from the mean `‖φ(x)‖²` and the rows `m`.
fn trace_term(mean_squared_norm: f64, rows: f64) -> f64 {
    WEIGHT * (mean_squared_norm * rows).sqrt() / rows * SHARE
}

/// The rows that the penalty of a cell sums over: a profile may cut them. None where its records do not say.
fn trace_rows(cell: &StudyCell) -> Option<f64> {
    cell.records().find_map(|record| {
        let given = record.result.settings.get("trace_rows")?.as_f64()?;
        Some(given.min(record.result.rows[0] as f64))
    })
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let axis = || Axis::linear("records, one per 200 batches");
    let mut losses = Panel::new(axis(), Axis::log10("training loss")).title("cross-entropy");
    let mut traces =
        Panel::new(axis(), Axis::linear("trace term")).title("trace term of the objective");
    // For methods without a penalty that of the others is drawn.
    let shared = study.1.iter().find_map(trace_rows).unwrap_or(ROWS);
    let mut table = falls(shared);
    for cell in &study.1 {
        let rows = trace_rows(cell).unwrap_or(shared);
        let before = trace_term(0.5, rows);
        let loss = looks(cell, "loss");
        let trace: Vec<(f64, f64)> = looks(cell, fact::FEATURE_NORM_SQUARED)
            .into_iter()
            .map(|(record, norm)| (record, trace_term(norm, rows)))
            .collect();
        let (Some(first), Some(last)) = (trace.first(), trace.last()) else { continue };
        let at = |third: usize| trace[(trace.len() - 1) * third / 3].1;
        let fall = first.1 - last.1;
        let share = |third: usize| {
            share_of_fall(fall, before, at(third) - at(third + 1))
                .map_or_else(|| Cell::text("-"), |share| Cell::number(share, 0))
        };
        let end = loss.last().map_or(f64::NAN, |(_, loss)| *loss);
        table = table.row(Row::new([
            Cell::text(&cell.key().variant),
            Cell::text(cell.label()),
            Cell::number(before, 4),
            Cell::number(first.1, 4),
            Cell::number(last.1, 4),
            Cell::number(100.0 * (before - last.1) / before, 2),
            share(0),
            share(1),
            share(2),
            Cell::number(end, 4),
        ]));
        losses = losses.series(Series::line(label(cell), loss));
        traces = traces.series(Series::line(label(cell), trace));
    }
    let drawings = if traces.series.is_empty() {
        Vec::new()
    } else {
        let figure = Figure::new(&artefact.id, &artefact.title)
            .caption("Training loss (mean over the batches between two records) and trace term along the runs of Figure 2(b). The trace term is computed from the mean ‖φ(x)‖² over the first 1000 training rows, also where it is not minimised; RF-SGD never moves its frequencies, so its trace is constant.")
            .panel(losses)
            .panel(traces)
            .columns(2);
        vec![Drawing::Figure(figure)]
    };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// The table of the falls, without its rows.
fn falls(shared: f64) -> Table {
    Table::new("rftk/figure2c-fall", "When the trace falls")
        .caption(format!("The trace term along training as the code plots it: 100 ‖φ(X)‖_F/m over ten, with m = {shared} rows (in the code {ROWS}). ‖φ(x)‖² is a mean over 1000 training rows. The paper says that it falls fast late in training."))
        .note("The term is shown for every run, also where it was not minimised.")
        .note("Fall (%): from before training to the last record.")
        .note("Share of the fall by third: how much of the fall from the first to the last record lies in each third of the records. A dash: it does not fall between them.")
        .note("Read off the plot saved with the authors' code: from 0.0913 to 0.0877, a fall of 4 %.")
        .columns(["Variant", "Method"].map(Column::left))
        .columns(["Before", "First record", "Last record", "Fall (%)"].map(Column::right))
        .columns(["first", "second", "last"].map(|third| Column::right(third).under("share of the fall by third (%)")))
        .columns([Column::right("Training loss, last record")])
}

/// Percent of a fall that lie in a part of it. A trace that stays where it is, or rises, has no parts of a fall.
fn share_of_fall(fall: f64, before: f64, part: f64) -> Option<f64> {
    (fall > 1e-3 * before).then(|| 100.0 * part / fall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rises_has_no_shares_of_a_fall() {
        let share = share_of_fall(0.0025, 0.0913, 0.0005).unwrap();
        assert!((share - 20.0).abs() < 1e-9);
        // A part of a fall may rise.
        assert!(share_of_fall(0.0025, 0.0913, -0.0001).unwrap() < 0.0);
        assert_eq!(share_of_fall(-0.0006, 0.0913, -0.0007), None);
        assert_eq!(share_of_fall(1e-5, 0.0913, 1e-5), None);
    }

    #[test]
    fn the_trace_starts_where_the_golden_value_says() {
        let golden: toml::Table = include_str!("../../golden/rftk.toml").parse().unwrap();
        let start = golden["rftk-3"]["trace-start"].as_float().unwrap();
        assert!((trace_term(0.5, ROWS) - start).abs() < 1e-8 * start);
        // Of a tenth of the rows the norm over their number is larger by √10.
        let few = trace_term(0.5, ROWS / 10.0);
        assert!((few - 10f64.sqrt() * start).abs() < 1e-8 * few);
    }
}
