//! The excess-risk bound along training, beside the gap of the loss, which half of it bounds, where the losses
//! of unseen rows were recorded (this artefact's own study), and beside one of accuracy where they were not.

use crate::askl::METHODS;
use mercer_learning::fact;
use mercer_records::CurvePoint;
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};

/// Lipschitz constant of the hinge and of cross-entropy in the Euclidean norm of the scores.
const LIPSCHITZ: f64 = std::f64::consts::SQRT_2;

/// What the columns mean.
const NOTES: [&str; 9] = [
    "B is the trace norm of the learned W. All means are over 1000 training rows.",
    "(11) from features: B/n √(K Σ ‖φ(x)‖²), the Rademacher bound R. (11) from frequencies: B/n √(K Σ k(x, x)).",
    "The two forms of (11) differ where phases are independent. The features then have half the trace of a stationary kernel, whatever the frequencies.",
    "Rate (12): B √(K/n).",
    "(10), first term: 4√2 L R with L = √2 and R from the features. It bounds the excess risk: the loss of the minimiser on unseen rows, minus the least loss of the class.",
    "Gap of the loss: the minimised loss (hinge or cross-entropy) on the test rows minus on 2000 training rows. By (14), half of the first term bounds it; it is not the excess risk.",
    "Only `text` and `code`, which run the code's values, recorded the gap of the loss. Accuracy gap: training minus test accuracy, as a fraction; no bound here covers it.",
    "Says nothing of the excess risk: the first term is at or above the loss at chance (1 for the hinge, ln K for cross-entropy). Says nothing of the gap: half of the term is.",
    "(10) is for linear output layers. No norm here contains the bias of `tuned`.",
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut panels = Vec::new();
    let mut table = Table::new("theory/askl-bound-table", "The excess-risk bound at the ends of training")
        .caption("Bounds of the paper beside measured gaps on MNIST, at the end of training of the first repeat. The last two columns say which bounds are vacuous.")
        .columns(["Variant", "Method"].map(Column::left))
        .columns(["Trace norm B", "Mean ‖φ‖²", "Mean k(x, x)", "(11) from features", "(11) from frequencies", "Rate (12)", "(10), first term", "Gap of the loss", "Accuracy gap"].map(Column::right))
        .columns(["Says nothing of the excess risk", "Says nothing of the gap"].map(Column::left));
    table = NOTES.into_iter().fold(table, Table::note);
    for name in &artefact.studies {
        let study = context.cells(name)?;
        let (spec, cells) = &*study;
        for variant in &spec.variants {
            let mut panel =
                Panel::new(Axis::linear("iterations"), Axis::log10("first term of (10); gaps"))
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
    if panels.is_empty() {
        return Ok(Rendered { tables: vec![table], ..Rendered::default() });
    }
    let figure = Figure::new(&artefact.id, &artefact.title)
        .caption("First term of bound (10) along training on MNIST, and ASKL's measured gap between training and test rows where it is positive. Half of the term bounds the gap of the loss; a bound above the loss at chance (1 for the hinge, 2.3 for cross-entropy) is vacuous.")
        .columns(panels.len().min(3));
    let drawings = vec![Drawing::Figure(panels.into_iter().fold(figure, Figure::panel))];
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
        Cell::number(end.diagonal, 3),
        Cell::number(end.features_bound, 3),
        Cell::number(end.frequencies_bound, 3),
        Cell::number(end.rate, 3),
        Cell::number(end.excess, 2),
        end.loss_gap.map_or_else(|| Cell::text("not recorded"), |gap| Cell::number(gap, 4)),
        Cell::number(end.accuracy_gap, 4),
        Cell::text(if end.vacuous { "yes" } else { "no" }),
        Cell::text(if end.gap_vacuous { "yes" } else { "no" }),
    ])
}

/// One look: the bounds, and what was measured.
struct Look {
    step: f64,
    trace_norm: f64,
    feature_norm: f64,
    /// Mean diagonal of the kernel that the features stand for.
    diagonal: f64,
    features_bound: f64,
    frequencies_bound: f64,
    rate: f64,
    excess: f64,
    /// Whether what bounds the excess risk is not below the loss at chance.
    vacuous: bool,
    /// Whether what bounds the gap of the loss, half of it, is not.
    gap_vacuous: bool,
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
    let diagonal = number(fact::MEAN_KERNEL_DIAGONAL)?;
    let bound = |mean: f64| {
        let trace = mean * rows as f64;
        Some(mercer_theory::rademacher_from_trace(trace_norm, classes, rows, trace).ok()?.value)
    };
    let (features_bound, frequencies_bound) = (bound(feature_norm)?, bound(diagonal)?);
    let rate = mercer_theory::askl_rate(trace_norm, classes, rows).ok()?.value;
    let chance = if loss == "hinge" { 1.0 } else { (classes as f64).ln() };
    let first = mercer_theory::excess_risk_first_term(LIPSCHITZ, features_bound, chance);
    let (excess, vacuous) = first.ok().map(|bound| (bound.value, bound.vacuous))?;
    let unseen = number(loss).zip(number(&format!("train-{loss}")));
    Some(Look {
        step: point.step as f64,
        trace_norm,
        feature_norm,
        diagonal,
        features_bound,
        frequencies_bound,
        rate,
        excess,
        vacuous: vacuous?,
        gap_vacuous: excess / 2.0 >= chance,
        loss_gap: unseen.map(|(test, train)| test - train),
        accuracy_gap: number("train-accuracy")? - number("accuracy")?,
    })
}
