//! The Rademacher bound along training, beside the gap of the loss that it bounds, where the losses of
//! unseen rows were recorded (this artefact's own study), and beside one of accuracy where they were not.

use crate::askl::METHODS;
use crate::askl::figure3::drawing;
use crate::{Artefact, Desk, ExperimentError, Rendered, StudyCell};
use mercer_learning::fact;
use mercer_records::CurvePoint;
use mercer_render::{Axis, Cell, Column, Panel, Row, Series, Table};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "theory/askl-bound",
    title: "The excess-risk bound of ASKL along training",
    studies: &["askl/table2", "theory/askl-bound"],
    datasets: &["mnist"],
    computed: &[],
    render,
};

/// Lipschitz constant of the hinge and of cross-entropy in the Euclidean norm of the scores.
const LIPSCHITZ: f64 = std::f64::consts::SQRT_2;

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let mut panels = Vec::new();
    let mut table = Table::new("theory/askl-bound-table", ARTEFACT.title)
        .caption("MNIST, end of training, first repeat. Bound: first term of (10), 4√2 L R with L = √2 and R the Rademacher bound (11) from the features; rate: the same with R = B √(K/n) of (12). B is the trace norm of the learned W. Gap of the loss: the hinge or cross-entropy that was minimised, on the test rows minus on 2000 training rows, by the weights of one moment: what (10) speaks of. The trials of Table 2 did not record it; `text` and `code` run at the code's values to have it. Accuracy gap: training minus test accuracy, as a fraction, which the bound does not bound. A bound above 1, the size of that loss at chance, says nothing.")
        .columns(["Variant", "Method"].map(Column::left))
        .columns(["Trace norm B", "Mean ‖φ‖²", "Bound (11)", "Rate (12)", "Bound (10), first term", "Gap of the loss", "Accuracy gap"].map(Column::right));
    for name in ARTEFACT.studies {
        let study = desk.cells(name)?;
        let (spec, cells) = &*study;
        for variant in &spec.variants {
            let mut panel = Panel::new(Axis::linear("iterations"), Axis::log10("excess risk"))
                .title(&variant.name);
            for method in METHODS {
                let cell = cells.iter().find(|cell| {
                    let key = cell.key();
                    key.dataset == "mnist" && key.variant == variant.name && key.method == method
                });
                let Some((cell, looks)) = cell.and_then(|cell| Some((cell, looks(cell)?))) else {
                    continue;
                };
                let line = looks.iter().map(|look| (look.step, look.excess));
                panel = panel.series(Series::line(cell.label(), line));
                if method == "askl" {
                    panel = panel.series(measured(&looks));
                }
                if let Some(last) = looks.last() {
                    table = table.row(row(&variant.name, cell.label(), last));
                }
            }
            if !panel.series.is_empty() {
                panels.push(panel);
            }
        }
    }
    let drawings = drawing(
        ARTEFACT.id,
        ARTEFACT.title,
        "First term of (10) for each method on MNIST: a bound on the gap of the surrogate loss between test and training rows, vacuous above 1. Below it, where it is positive, ASKL's gap: in `text` and `code` that of the loss, which the bound bounds; in the variants of Table 2, whose trials recorded no loss of test rows, that of accuracy, for its size only.",
        panels,
    );
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// What was measured of a gap along training, where it is positive: of the loss, or else of accuracy.
fn measured(looks: &[Look]) -> Series {
    let losses = looks.iter().any(|look| look.loss_gap.is_some());
    let label = if losses { "gap of the loss, ASKL" } else { "accuracy gap, ASKL (not the loss)" };
    let gap = |look: &Look| if losses { look.loss_gap } else { Some(look.accuracy_gap) };
    let points = looks.iter().filter_map(|look| Some((look.step, gap(look)?)));
    Series::line(label, points.filter(|(_, gap)| *gap > 0.0))
}

fn row(variant: &str, method: &str, end: &Look) -> Row {
    Row::new([
        Cell::text(variant),
        Cell::text(method),
        Cell::number(end.trace_norm, 1),
        Cell::number(end.feature_norm, 3),
        Cell::number(end.features_bound, 3),
        Cell::number(end.rate, 3),
        Cell::number(end.excess, 2),
        end.loss_gap.map_or_else(|| Cell::text("not recorded"), |gap| Cell::number(gap, 4)),
        Cell::number(end.accuracy_gap, 4),
    ])
}

/// One look: the bounds, and what was measured.
struct Look {
    step: f64,
    trace_norm: f64,
    feature_norm: f64,
    features_bound: f64,
    rate: f64,
    excess: f64,
    /// Of the loss that was minimised, test rows minus training rows, where it was recorded.
    loss_gap: Option<f64>,
    /// Of accuracy, training rows minus test rows.
    accuracy_gap: f64,
}

fn looks(cell: &StudyCell) -> Option<Vec<Look>> {
    let record = cell.records().find(|record| !record.result.curve.is_empty())?;
    let rows = record.result.rows[0] as usize;
    let classes = match mercer_datasets::Catalogue::builtin().find(&record.key.dataset).ok()?.task {
        mercer_learning::Task::Classification { classes } => classes,
        mercer_learning::Task::Regression => return None,
    };
    // Of classes, the spec's `auto` is the hinge and its `auto-cross-entropy` the other.
    let loss = match record.key.settings.get("loss").and_then(serde_json::Value::as_str) {
        Some("auto-cross-entropy" | "cross-entropy") => "cross-entropy",
        _ => "hinge",
    };
    record.result.curve.iter().map(|point| look(point, rows, classes, loss)).collect()
}

fn look(point: &CurvePoint, rows: usize, classes: usize, loss: &str) -> Option<Look> {
    let number = |name: &str| point.values.get(name).copied();
    let trace_norm = number(fact::TRACE_NORM)?;
    let feature_norm = number(fact::FEATURE_NORM_SQUARED)?;
    let trace = feature_norm * rows as f64;
    let features_bound =
        mercer_theory::rademacher_from_trace(trace_norm, classes, rows, trace).ok()?.value;
    let rate = mercer_theory::askl_rate(trace_norm, classes, rows).ok()?.value;
    // The range of the loss, here 1, only says where the bound is vacuous.
    let excess = mercer_theory::excess_risk_first_term(LIPSCHITZ, features_bound, 1.0).ok()?.value;
    let unseen = number(loss).zip(number(&format!("train-{loss}")));
    Some(Look {
        step: point.step as f64,
        trace_norm,
        feature_norm,
        features_bound,
        rate,
        excess,
        loss_gap: unseen.map(|(test, train)| test - train),
        accuracy_gap: number("train-accuracy")? - number("accuracy")?,
    })
}
