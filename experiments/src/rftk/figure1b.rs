//! Figure 1(b): distance of RF-SGD to ridgeless random features along training, by batch size, in
//! function space and in parameter space, and beside the bound of Theorem 1.

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
    for (points, id, axis, space) in [
        (
            points[0],
            artefact.id.as_str(),
            Axis::log10("distance of the functions"),
            "in function space, as the text defines it: root mean square over the test rows of f_t − f_M",
        ),
        (
            points[1],
            "rftk/figure1b-parameters",
            Axis::linear("‖w_t − w*‖ over its start"),
            "in parameter space, where the authors' code records ‖w_t − w*‖/M; here over its value at the start, on axes that begin near their lines and not at 0",
        ),
    ] {
        let panels = panels(context, &axis, points)?;
        if panels.is_empty() {
            continue;
        }
        let figure = Figure::new(id, &artefact.title)
            .caption(format!(
                "Distance of mini-batch gradient descent to the least-squares solution on the same 200 features, {space}. 10000 training rows of the synthetic problem, k = 0.1; geometric mean over repeats with its 95 % interval (by t on the logarithms). One pass is as much work for every batch size. In the variant printed each repeat chooses its own step, in the variant released they are the code's: the table has them. A line ends where a run was good enough or diverged."
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
        .caption("Squared distance in function space against the shape that Theorem 1 gives it, γ/b + 1/(γt), whose constant is unknown: lines of one batch size run from right to left with the passes. Geometric mean over repeats with its 95 % interval: the theorem holds with high probability and says nothing of the mean, which one repeat may decide. Were the bound tight for every batch size, the lines would lie on a line of slope 1, like the one drawn. A vertical line is a distance that falls while γ/b stays. The theorem speaks of the variant theorem alone, whose steps it allows: those of printed are longer than its limit (the table says how many times), and released runs Adam.")
        .columns(2);
    Ok(Some(Drawing::Figure(panels.into_iter().fold(figure, Figure::panel))))
}

/// The steps that were chosen, and how far each batch size comes.
fn table(context: &RenderContext<'_>) -> Result<Table, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new("rftk/figure1b-factors", "Batch size, step, and how near SGD comes")
        .caption("Distance to the least-squares solution after 1, 10 and 100 passes, geometric means over repeats with their 95 % intervals by t on the logarithms; and the largest of all repeats after the last: the step that has the least error on rows that were held out is now and then one that does not hold to the end. All other columns are of geometric means, too. MSE settles: the first pass after which the test error stays within 5 % of its last value; and the distance at the end over that at this pass, below 1 where the stochastic error still falls after the test error has settled. Slope: of the squared distance against the passes, both logarithmic, from the first pass on; Theorem 1 has −1 while 1/(γt) dominates and 0 where γ/b does. Parameters: the distance that the code records, at the end over at the start. Over the limit: the step over the largest that Theorem 1 allows for so many steps of so many rows (δ = 0.05); above 1 the theorem says nothing of the run, nor of Adam. Constant: the squared distance at the end over γ/b + 1/(γt) there, which the theorem, where it speaks, bounds by one constant for all batch sizes. Diverged: repeats whose weights left the numbers, and the first pass at which one did; a line ends there, and means are over what all repeats have.")
        .columns(["Target", "Variant"].map(Column::left))
        .columns(["Batch b", "Step γ", "over the limit"].map(Column::right))
        .columns(["1", "10", "100"].map(|passes| Column::right(passes).under("distance after passes")))
        .columns([Column::right("largest, at the end").under("distance after passes"), Column::right("Test MSE at the end"), Column::right("MSE settles at pass"), Column::right("Distance, end over there"), Column::right("Slope"), Column::right("Constant of Theorem 1"), Column::right("Parameters, end over start"), Column::right("Diverged"), Column::right("Repeats")]);
    for cell in &study.1 {
        let key = cell.key();
        for batch in BATCHES {
            let of = |value: &str| curve(cell, value, batch);
            let (distance, errors) = (of("distance"), of("mse"));
            let parameters = relative(cell, "parameters", batch);
            let fled = diverged(cell, batch);
            if distance.is_empty() && fled.is_empty() {
                continue;
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
            table = table.row(Row::new([
                Cell::text(target(&key.dataset)),
                Cell::text(&key.variant),
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
            ]));
        }
    }
    Ok(table)
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
