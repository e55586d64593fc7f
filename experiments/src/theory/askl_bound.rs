//! The Rademacher bound along training, beside the gap that it bounds.

use crate::askl::METHODS;
use crate::askl::figure3::drawing;
use crate::{Artefact, Desk, ExperimentError, Rendered, StudyCell};
use mercer_records::CurvePoint;
use mercer_render::{Axis, Cell, Column, Panel, Row, Series, Table};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "theory/askl-bound",
    title: "The excess-risk bound of ASKL along training",
    studies: &["askl/table2"],
    datasets: &["mnist"],
    computed: &[],
    render,
};

/// Lipschitz constant of the hinge and of cross-entropy in the Euclidean norm of the scores.
const LIPSCHITZ: f64 = std::f64::consts::SQRT_2;

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let study = desk.cells("askl/table2")?;
    let (spec, cells) = &*study;
    let mut panels = Vec::new();
    let mut table = Table::new("theory/askl-bound-table", ARTEFACT.title)
        .caption("MNIST, end of training, first repeat. Bound: first term of (10), 4√2 L R with L = √2 and R the Rademacher bound (11) from the features; rate: the same with R = B √(K/n) of (12). B is the trace norm of the learned W. Gap: training minus test accuracy, as a fraction. The loss that the bound speaks of is of order 1, so a bound above 1 is vacuous.")
        .columns(["Variant", "Method"].map(Column::left))
        .columns(["Trace norm B", "Mean ‖φ‖²", "Bound (11)", "Rate (12)", "Bound (10), first term", "Measured gap"].map(Column::right));
    for variant in &spec.variants {
        let mut panel =
            Panel::new(Axis::linear("iterations"), Axis::log10("excess risk")).title(&variant.name);
        for method in METHODS {
            let cell = cells.iter().find(|cell| {
                let key = cell.key();
                key.dataset == "mnist" && key.variant == variant.name && key.method == method
            });
            let Some((cell, points)) = cell.and_then(|cell| Some((cell, looks(cell)?))) else {
                continue;
            };
            let line = points.iter().map(|look| (look.step, look.excess));
            panel = panel.series(Series::line(cell.label(), line));
            if method == "askl" {
                let gaps = points.iter().filter(|look| look.gap > 0.0);
                let line = gaps.map(|look| (look.step, look.gap));
                panel = panel.series(Series::line("measured gap, ASKL", line));
            }
            if let Some(last) = points.last() {
                table = table.row(Row::new([
                    Cell::text(&variant.name),
                    Cell::text(cell.label()),
                    Cell::number(last.trace_norm, 1),
                    Cell::number(last.feature_norm, 3),
                    Cell::number(last.features_bound, 3),
                    Cell::number(last.rate, 3),
                    Cell::number(last.excess, 2),
                    Cell::number(last.gap, 4),
                ]));
            }
        }
        if !panel.series.is_empty() {
            panels.push(panel);
        }
    }
    let drawings = drawing(
        ARTEFACT.id,
        ARTEFACT.title,
        "First term of (10) for each method, and the measured gap between training and test accuracy of ASKL where it is positive, on MNIST. The bound is vacuous above 1.",
        panels,
    );
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// One look: the bounds and the gap.
struct Look {
    step: f64,
    trace_norm: f64,
    feature_norm: f64,
    features_bound: f64,
    rate: f64,
    excess: f64,
    gap: f64,
}

fn looks(cell: &StudyCell) -> Option<Vec<Look>> {
    let record = cell.records().find(|record| !record.result.curve.is_empty())?;
    let rows = record.result.rows[0] as usize;
    let classes = match mercer_datasets::Catalogue::builtin().find(&record.key.dataset).ok()?.task {
        mercer_learning::Task::Classification { classes } => classes,
        mercer_learning::Task::Regression => return None,
    };
    record.result.curve.iter().map(|point| look(point, rows, classes)).collect()
}

fn look(point: &CurvePoint, rows: usize, classes: usize) -> Option<Look> {
    let number = |name: &str| point.values.get(name).copied();
    let trace_norm = number("trace-norm")?;
    let feature_norm = number("feature-norm-squared")?;
    let trace = feature_norm * rows as f64;
    let features_bound =
        mercer_theory::rademacher_from_trace(trace_norm, classes, rows, trace).ok()?.value;
    let rate = mercer_theory::askl_rate(trace_norm, classes, rows).ok()?.value;
    // Accuracy is a loss with values in [0, 1].
    let excess = mercer_theory::excess_risk_first_term(LIPSCHITZ, features_bound, 1.0).ok()?.value;
    Some(Look {
        step: point.step as f64,
        trace_norm,
        feature_norm,
        features_bound,
        rate,
        excess,
        gap: number("train-accuracy")? - number("accuracy")?,
    })
}
