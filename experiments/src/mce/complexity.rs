//! Time of a learning step against what is factored: `n³`, and `n_b³` in batches.

use super::Cells;
use mercer_datasets::Catalogue;
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Style, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::line;

/// Share of the flops from which on a term's exponent is fitted.
const DOMINANT: f64 = 0.8;

/// What is factored in a step: the training rows, a batch of them, or features.
const METHODS: [(&str, &str, &str); 3] = [
    ("released", "gmce", "GMCE: n³/3"),
    ("released", "gmce-sgd", "GMCE-SGD: n_b³/3"),
    ("fourier", "gmce", "200 Fourier features: n p² + p³/3"),
];

/// One dataset of one method.
struct Point {
    dataset: String,
    size: f64,
    seconds: f64,
    flops: f64,
    share: f64,
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(context)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Measured seconds and counted operations of a learning step on the datasets of Table 1, on one core. A fit without seconds has no line.")
        .note("Seconds: median over folds of the time of a fit over its steps.")
        .note("GFLOP: floating-point operations of a step by count, in 10⁹; a multiply-add counts as two. Share of the term: the part of them in the term that stands beside the method.")
        .note(SECONDS)
        .columns(["Step", "Dataset"].map(Column::left))
        .columns(["Size", "Seconds", "GFLOP", "Share of the term", "GFLOP/s"].map(Column::right));
    let mut panel = Panel::new(Axis::log10("rows in a step"), Axis::log10("seconds a step"));
    for (variant, method, name) in METHODS {
        let mut points: Vec<Point> = cells
            .table
            .0
            .datasets
            .iter()
            .filter_map(|dataset| point(cells.find(variant, dataset, method)?, variant, method))
            .collect();
        points.sort_by(|a, b| a.size.total_cmp(&b.size));
        for point in &points {
            table = table.row(
                Row::new([
                    Cell::text(name),
                    Cell::text(&point.dataset),
                    Cell::number(point.size, 0),
                    Cell::text(format!("{:.2e}", point.seconds)).sort(point.seconds),
                    Cell::text(format!("{:.2e}", 1e-9 * point.flops)).sort(point.flops),
                    Cell::number(point.share, 2),
                    Cell::number(1e-9 * point.flops / point.seconds, 1),
                ])
                .under(name),
            );
        }
        table = table.note(exponent(name, &points));
        if !points.is_empty() {
            let drawn = points.iter().map(|point| (point.size, point.seconds));
            panel = panel.series(Series::line(name, drawn).style(Style::LinePoints));
        }
    }
    let figure = Figure::new("complexity/mce-steps", "Seconds of a learning step against rows")
        .caption("Seconds of a learning step against its rows, over the datasets of Table 1.")
        .panel(panel.clone());
    let drawings = if panel.series.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    let mut rendered = artefact.declared(context)?;
    rendered.tables.insert(0, table);
    rendered.drawings.extend(drawings);
    Ok(rendered)
}

/// What the tables that show [`step_seconds`] say of them.
pub(super) const SECONDS: &str = "Seconds are processor seconds. Older records have wall-clock seconds if nothing else ran (by the computer's yardstick), and otherwise a dash.";

/// Seconds of the yardstick (a fixed matrix product) on the reference machine by itself, times one and a half:
/// above it other work took its share, and seconds of the wall say little. Such records once made a step
/// on 160 rows as long as a sixth of one on 1234.
const QUIET: f64 = 0.0075;

/// Processor seconds of a step: median over the repeats; of the wall in older records that nothing disturbed.
pub(super) fn step_seconds(cell: &StudyCell) -> Option<f64> {
    let mut seconds: Vec<f64> = cell
        .records()
        .filter_map(|record| {
            let (run, steps) = (&record.run, record.result.convergence.get("steps")?.as_f64()?);
            let of_wall = || run.seconds.get("fit").filter(|_| run.yardstick_seconds <= QUIET);
            Some(run.processor_seconds.get("fit").or_else(of_wall)? / steps)
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied()
}

fn point(cell: &StudyCell, variant: &str, method: &str) -> Option<Point> {
    let entry = Catalogue::builtin().find(&cell.key().dataset).ok()?;
    let rows = cell.records().next()?.result.rows[0] as f64;
    let (d, k) = (entry.features as f64, entry.task.outputs() as f64);
    let seconds = step_seconds(cell)?;
    if variant == "fourier" {
        let p = 200.0;
        let named = 2.0 * (0.5 * rows * p * p + p.powi(3) / 6.0);
        let flops = named + 2.0 * rows * p * (d + 8.0 * k);
        let dataset = cell.key().dataset.clone();
        return Some(Point { dataset, size: rows, seconds, flops, share: named / flops });
    }
    let n = if method == "gmce-sgd" { (rows / 10.0).floor() } else { rows };
    let named = 2.0 * n.powi(3) / 6.0;
    // Gram matrix and length scales, solves with K and 2 K columns, the adjoint of rank 2 K.
    let flops = named + 2.0 * n * n * (1.5 * d + 4.0 * k);
    Some(Point {
        dataset: cell.key().dataset.clone(),
        size: n,
        seconds,
        flops,
        share: named / flops,
    })
}

/// The exponent of the seconds over the size, where the named term dominates.
fn exponent(name: &str, points: &[Point]) -> String {
    let chosen: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.share >= DOMINANT)
        .map(|point| (point.size.ln(), point.seconds.ln()))
        .collect();
    let range = match (chosen.first(), chosen.last()) {
        (Some(first), Some(last)) => (last.0 - first.0).exp(),
        _ => 1.0,
    };
    if chosen.len() < 4 || range < 3.9 {
        return format!(
            "{name}: no exponent, since its term has {:.0} % of the operations at {} sizes only, over a factor of {range:.1}.",
            100.0 * DOMINANT,
            chosen.len()
        );
    }
    let slope = line(&chosen).map_or(f64::NAN, |line| line.slope);
    format!(
        "{name}: seconds grow as the size to the power {slope:.2}, over {} sizes and a factor of {range:.1}.",
        chosen.len()
    )
}
