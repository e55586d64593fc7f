//! Figure 1(b): distance of RF-SGD to ridgeless random features along training, by batch size, in
//! function space and in parameter space, and beside the bound of Theorem 1.

use super::figure2a_average::INTERVAL;
use super::sgd_curves::{
    At, BATCHES, Points, STUDY, beside_theorem, curve, diverged, panels, relative, target,
};
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut drawings = Vec::new();
    let apart = |cell: &StudyCell, batch| curve(cell, "distance", batch);
    let weights = |cell: &StudyCell, batch| relative(cell, "parameters", batch);
    let points: [&Points<'_>; 2] = [&apart, &weights];
    for (points, id, title, axis, space) in [
        (
            points[0],
            artefact.id.as_str(),
            artefact.title.as_str(),
            Axis::log10("distance of the functions"),
            "in function space (root mean square of f_t − f_M over the test rows)",
        ),
        (
            points[1],
            "rftk/figure1b-parameters",
            "Distance of RF-SGD in parameter space, by batch size",
            Axis::linear("‖w_t − w*‖ over its start"),
            "in parameter space (‖w_t − w*‖ over its value at the start, on axes that do not begin at 0)",
        ),
    ] {
        let panels = panels(context, &axis, points)?;
        if panels.is_empty() {
            continue;
        }
        let figure = Figure::new(id, title).bands(INTERVAL)
            .caption(format!(
                "Distance of mini-batch gradient descent to the least-squares solution on the same 200 features, {space}. Geometric mean over repeats with its 95 % interval, 10000 training rows of the synthetic problem (k = 0.1); a line ends where a run was good enough or diverged."
            ))
            .columns(2);
        drawings.push(Drawing::Figure(panels.into_iter().fold(figure, Figure::panel)));
    }
    drawings.extend(theorem(context)?);
    Ok(Rendered { tables: vec![table(context)?], drawings, ..Rendered::default() })
}

/// The measured distances against what Theorem 1 says of them.
fn theorem(context: &RenderContext<'_>) -> Result<Option<Drawing>, ExperimentError> {
    let mut panels = Vec::new();
    for cell in &context.cells(STUDY)?.1 {
        let key = cell.key();
        let title = format!("{}, {}", target(&key.dataset), key.variant);
        let (shape, square) = (Axis::log10("γ/b + 1/(γt)"), Axis::log10("squared distance"));
        let mut panel = Panel::new(shape, square).title(title);
        let (mut low, mut high, mut constant) = (f64::INFINITY, 0.0_f64, 0.0_f64);
        for (color, batch) in BATCHES.into_iter().enumerate() {
            let points: Vec<_> = beside_theorem(cell, batch);
            if points.is_empty() {
                continue;
            }
            for (stated, square, _) in &points {
                (low, high) = (low.min(*stated), high.max(*stated));
                constant = constant.max(square / stated);
            }
            let line = points.iter().map(|(stated, square, _)| (*stated, *square));
            let band = points.iter().map(|(.., interval)| *interval);
            let series = Series::line(format!("b = {batch}"), line).band(band).color(color);
            panel = panel.series(series);
        }
        if panel.series.is_empty() {
            continue;
        }
        let bound = [(low, constant * low), (high, constant * high)];
        let label = "the bound with the smallest constant that holds in the panel";
        panels.push(panel.series(Series::line(label, bound).color(BATCHES.len())));
    }
    if panels.is_empty() {
        return Ok(None);
    }
    let figure = Figure::new("rftk/figure1b-theorem", "Theorem 1 beside the measured distances")
        .bands(INTERVAL)
        .caption("Squared distance in function space against γ/b + 1/(γt) of Theorem 1 (its constant is unknown), geometric means over repeats with 95 % intervals; passes run from right to left. A bound that is tight for every batch size puts all lines on one line of slope 1; the theorem covers the variant `theorem` alone.")
        .columns(2);
    Ok(Some(Drawing::Figure(panels.into_iter().fold(figure, Figure::panel))))
}

/// What the columns of the table mean.
const NOTES: [&str; 10] = [
    "Step γ: chosen by each repeat on held-out rows in `printed`, the code's in `released`, the largest that Theorem 1 allows in `theorem`.",
    "One pass is the same work for every batch size.",
    "Over the limit: the step over the largest that Theorem 1 allows for the same steps and rows (δ = 0.05). Above 1 the theorem does not cover the run; it never covers Adam (`released`).",
    "Largest, at the end: the largest distance of all repeats. A step with the least error on held-out rows sometimes fails later in training.",
    "MSE settles at pass: the first pass after which the test error stays within 5 % of its last value.",
    "Distance, end over there: the distance at the end over the distance at that pass. Below 1 it still falls after the test error has settled.",
    "Slope: of the squared distance against the passes, both logarithmic. Theorem 1 has −1 while 1/(γt) dominates, and 0 where γ/b does.",
    "Constant of Theorem 1: the squared distance at the end over γ/b + 1/(γt). The theorem bounds it with high probability by one constant for all batch sizes.",
    "Parameters, end over start: the distance ‖w_t − w*‖/M, which the authors' code records.",
    "Diverged: how many repeats did, and the first pass at which one did. Means are over the passes that all repeats have.",
];

/// The steps that were chosen, and how far each batch size comes.
fn table(context: &RenderContext<'_>) -> Result<Table, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new("rftk/figure1b-factors", "Batch size, step, and how near SGD comes")
        .caption("How near mini-batch gradient descent comes to the least-squares solution on the same features, for each batch size. Numbers are geometric means over repeats, in brackets with their 95 % intervals by t on the logarithms.")
        .columns(["Target", "Variant"].map(Column::left))
        .columns(["Batch b", "Step γ", "over the limit"].map(Column::right))
        .columns(["1", "10", "100"].map(|passes| Column::right(passes).under("distance after passes")))
        .columns([Column::right("largest, at the end").under("distance after passes"), Column::right("Test MSE at the end"), Column::right("MSE settles at pass"), Column::right("Distance, end over there"), Column::right("Slope"), Column::right("Constant of Theorem 1"), Column::right("Parameters, end over start"), Column::right("Diverged"), Column::right("Repeats")]);
    table = NOTES.into_iter().fold(table, Table::note);
    for cell in &study.1 {
        table = BATCHES.into_iter().filter_map(|batch| line(cell, batch)).fold(table, Table::row);
    }
    Ok(table)
}

/// A batch size of a cell; none where it was not run.
fn line(cell: &StudyCell, batch: usize) -> Option<Row> {
    let of = |value: &str| curve(cell, value, batch);
    let (distance, errors) = (of("distance"), of("mse"));
    let parameters = relative(cell, "parameters", batch);
    let fled = diverged(cell, batch);
    if distance.is_empty() && fled.is_empty() {
        return None;
    }
    let at = |passes: f64| distance.iter().find(|at| (at.epoch - passes).abs() < 0.5);
    let shown = |at: Option<&At>| {
        at.map_or_else(
            || Cell::text("-"),
            |At { mean, interval: (low, high), .. }| {
                Cell::text(if cell.records().count() > 1 {
                    format!("{mean:.4} ({low:.4} to {high:.4})")
                } else {
                    format!("{mean:.4}")
                })
                .sort(*mean)
            },
        )
    };
    let settled = settles(&errors);
    let ratio = |a: f64, b: f64| Cell::number(a / b, 3);
    let last = |curve: &[At]| curve.last().map_or(f64::NAN, |at| at.mean);
    let there = settled.and_then(&at).map_or(f64::NAN, |at| at.mean);
    Some(Row::new([
        Cell::text(target(&cell.key().dataset)),
        Cell::text(&cell.key().variant),
        Cell::count(batch),
        steps(cell, batch),
        over_the_limit(cell, batch, &distance),
        shown(at(1.0)),
        shown(at(10.0)),
        shown(at(100.0)),
        Cell::number(distance.last().map_or(f64::NAN, |at| at.largest), 4),
        Cell::number(last(&errors), 4),
        settled.map_or_else(|| Cell::text("-"), |pass| Cell::number(pass, 0)),
        ratio(last(&distance), there),
        Cell::number(slope(&distance), 2),
        beside_theorem(cell, batch).last().map_or_else(
            || Cell::text("-"),
            |(stated, square, _)| {
                Cell::text(format!("{:.1e}", square / stated)).sort(square / stated)
            },
        ),
        Cell::number(last(&parameters), 3),
        fate(&fled),
        Cell::text(format!("{}/{}", cell.records().count(), cell.repeats_of_paper())),
    ]))
}

/// How many repeats diverged, and from which pass on.
fn fate(fled: &[f64]) -> Cell {
    let first = fled.iter().copied().fold(f64::INFINITY, f64::min);
    let count = Cell::count(fled.len());
    if fled.is_empty() { count } else { count.detail(format!("from pass {first}")) }
}

/// The steps of all repeats over the largest that Theorem 1 allows for as many as the curve has passes.
fn over_the_limit(cell: &StudyCell, batch: usize, distance: &[At]) -> Cell {
    let rows = cell.records().map(|record| record.result.rows[0] as usize).next();
    let limit = distance.last().zip(rows).and_then(|(&At { epoch: passes, .. }, rows)| {
        let iterations = (passes * rows as f64 / batch.min(rows) as f64).round().max(1.0);
        Some(mercer_theory::sgd_step_limit(rows, iterations as usize, 0.05).ok()?.value)
    });
    let Some(limit) = limit else { return Cell::text("-") };
    let (low, high) = ends(cell, batch);
    let shown = |step: f64| match step / limit {
        ratio if ratio < 10.0 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.0}"),
    };
    let text = if low < high { format!("{} to {}", shown(low), shown(high)) } else { shown(low) };
    Cell::text(text).sort(low / limit)
}

/// The steps of all repeats: one, or the smallest and the largest.
fn steps(cell: &StudyCell, batch: usize) -> Cell {
    let (low, high) = ends(cell, batch);
    let text = if low < high { format!("{low:e} to {high:e}") } else { format!("{low:e}") };
    Cell::text(text).sort(low)
}

/// The smallest and the largest step of all repeats.
fn ends(cell: &StudyCell, batch: usize) -> (f64, f64) {
    let name = super::sgd_factors::named("rate", batch);
    let rates: Vec<f64> = cell
        .records()
        .filter_map(|record| record.result.curve.first()?.values.get(&name).copied())
        .collect();
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    (low, high)
}

/// [`slope`] of the mean distance of a batch size; NaN where there are no two points.
pub(crate) fn distance_slope(cell: &StudyCell, batch: usize) -> f64 {
    slope(&curve(cell, "distance", batch))
}

/// Least-squares slope of `log d²` against `log t` from the first pass on.
fn slope(distance: &[At]) -> f64 {
    let points: Vec<(f64, f64)> = distance
        .iter()
        .filter(|at| at.epoch > 0.0)
        .map(|at| (at.epoch.ln(), 2.0 * at.mean.ln()))
        .collect();
    mercer_statistics::line(&points).map_or(f64::NAN, |line| line.slope)
}

/// The first pass after which the error stays within 5 % of its last value.
fn settles(errors: &[At]) -> Option<f64> {
    let last = errors.last()?.mean;
    let near = |error: f64| (error - last).abs() <= 0.05 * last.abs();
    let off = errors.iter().rposition(|at| !near(at.mean));
    errors.get(off.map_or(0, |index| index + 1)).map(|at| at.epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(epoch: f64, mean: f64) -> At {
        At { epoch, mean, interval: (mean, mean), largest: mean }
    }

    #[test]
    fn a_distance_that_falls_like_one_over_the_root_has_slope_minus_one() {
        let curve: Vec<At> =
            (0..50).map(|t| at(f64::from(t), 3.0 / f64::from(t).max(0.5).sqrt())).collect();
        assert!((slope(&curve) + 1.0).abs() < 1e-12);
    }

    #[test]
    fn divergence_is_counted_and_not_hidden() {
        assert_eq!((fate(&[]).text.as_str(), fate(&[]).detail), ("0", None));
        let two = fate(&[12.0, 3.0]);
        assert_eq!((two.text.as_str(), two.detail.as_deref()), ("2", Some("from pass 3")));
    }

    #[test]
    fn an_error_settles_where_it_stays_near_its_end() {
        let curve = |errors: &[f64]| -> Vec<At> {
            errors.iter().enumerate().map(|(i, &error)| at(i as f64, error)).collect()
        };
        // It passes by the last value at 1, and stays only from 3 on.
        assert_eq!(settles(&curve(&[9.0, 1.0, 2.0, 1.04, 1.0])), Some(3.0));
        assert_eq!(settles(&curve(&[1.0, 1.0])), Some(0.0));
        assert_eq!(settles(&[]), None);
    }
}
