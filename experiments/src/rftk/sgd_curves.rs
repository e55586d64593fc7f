//! What Figures 1(b) and 1(c) share: the curves of the SGD study, as geometric means over repeats. Distances and errors of
//! repeats lie decades apart where a step is long: an arithmetic mean would be that of the largest.

use crate::rftk::sgd_factors::{DIVERGED, named};
use mercer_records::CurvePoint;
use mercer_render::{Axis, Panel, Series};
use mercer_report::{ExperimentError, RenderContext, StudyCell};
use mercer_statistics::summarise;

/// The study whose records both figures show.
pub(crate) const STUDY: &str = "rftk/figure1b";

/// The code's batch sizes, which are the study's.
pub(crate) const BATCHES: [usize; 5] = [1, 10, 100, 1000, 10_000];

/// A look at the curves of all repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct At {
    /// Passes over the rows.
    pub epoch: f64,
    /// The geometric mean over repeats.
    pub mean: f64,
    /// Its 95 % interval, by t on the logarithms.
    pub interval: (f64, f64),
    /// The largest of all repeats.
    pub largest: f64,
}

impl At {
    /// None without values, or with one that is not positive.
    fn of(epoch: f64, values: &[f64]) -> Option<Self> {
        let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let summary = summarise(&logarithms).filter(|summary| summary.mean.is_finite())?;
        let half = summary.half_width(0.95).unwrap_or(0.0);
        let ends = [summary.mean, summary.mean - half, summary.mean + half].map(f64::exp);
        let largest = values.iter().copied().fold(0.0, f64::max);
        Some(Self { epoch, mean: ends[0], interval: (ends[1], ends[2]), largest })
    }
}

/// The curve of a batch size in a cell.
pub(crate) type Points<'a> = dyn Fn(&StudyCell, usize) -> Vec<At> + 'a;

/// The target of a dataset, in words.
pub(crate) fn target(dataset: &str) -> &str {
    match dataset {
        "rftk-kink" => "y = −|w·x| + ε (text)",
        "rftk-slope" => "y = −w·x + ε (code)",
        other => other,
    }
}

/// Repeats in which a batch size diverged, with the pass at which they did.
pub(crate) fn diverged(cell: &StudyCell, batch: usize) -> Vec<f64> {
    let name = named(DIVERGED, batch);
    let starts = cell.records().filter_map(|record| record.result.curve.first());
    starts.filter_map(|start| start.values.get(&name).copied()).collect()
}

/// The curve of one value of one batch size; where a run has ended or diverged it has no points.
pub(crate) fn curve(cell: &StudyCell, value: &str, batch: usize) -> Vec<At> {
    means(cell, value, batch, false)
}

/// The same over its value at the start of each repeat.
pub(crate) fn relative(cell: &StudyCell, value: &str, batch: usize) -> Vec<At> {
    means(cell, value, batch, true)
}

/// Where each point of the curve of a batch size lies beside Theorem 1: its shape `γ/b + 1/(γt)` (the mean over
/// repeats, each with its own step), the geometric mean of the squared distance in function space, and its interval.
/// (The theorem holds with high probability, not in the mean, which one repeat may decide.)
pub(crate) fn beside_theorem(cell: &StudyCell, batch: usize) -> Vec<(f64, f64, (f64, f64))> {
    let name = named("rate", batch);
    let steps: Vec<(f64, f64)> = cell
        .records()
        .filter_map(|record| {
            let rate = *record.result.curve.first()?.values.get(&name)?;
            Some((rate, record.result.rows[0] as f64 / batch as f64))
        })
        .collect();
    let stated = |epoch: f64| {
        let shapes: Option<Vec<f64>> = steps
            .iter()
            .map(|&(rate, a_pass)| {
                let iterations = (epoch * a_pass).round() as usize;
                Some(mercer_theory::sgd_error_rate(batch, rate, iterations).ok()?.value)
            })
            .collect();
        summarise(&shapes?).map(|summary| summary.mean)
    };
    let at = |At { epoch, mean, interval: (low, high), .. }| {
        Some((stated(epoch)?, mean * mean, (low * low, high * high)))
    };
    curve(cell, "distance", batch).into_iter().filter_map(at).collect()
}

fn means(cell: &StudyCell, value: &str, batch: usize, relative: bool) -> Vec<At> {
    let name = named(value, batch);
    let looks = cell.records().map(|record| record.result.curve.len()).max().unwrap_or(0);
    (0..looks)
        .filter_map(|look| {
            let here = |curve: &[CurvePoint]| {
                let number = *curve.get(look)?.values.get(&name)?;
                let start = curve.first()?.values.get(&name)?;
                Some(if relative { number / start } else { number })
            };
            let curves: Vec<&[CurvePoint]> =
                cell.records().map(|record| &record.result.curve[..]).collect();
            let values: Vec<f64> = curves.iter().filter_map(|curve| here(curve)).collect();
            // A mean over some of the repeats would jump where one of them ends.
            let whole = values.len() == curves.len();
            let epoch = curves.first()?.get(look)?.epoch;
            At::of(epoch, &values).filter(|_| whole)
        })
        .collect()
}

/// One panel a target and variant: a line a batch size.
pub(crate) fn panels(
    context: &RenderContext<'_>,
    axis: &Axis,
    points: &Points<'_>,
) -> Result<Vec<Panel>, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut panels = Vec::new();
    for cell in &study.1 {
        let key = cell.key();
        let title = format!("{}, {}", target(&key.dataset), key.variant);
        let passes = Axis::log10("passes over the rows");
        let mut panel = Panel::new(passes, axis.clone()).title(title);
        for (color, batch) in BATCHES.into_iter().enumerate() {
            // A logarithmic axis has no place for the start.
            let points = points(cell, batch).into_iter().filter(|at| at.epoch > 0.0);
            let points: Vec<At> = points.collect();
            if points.is_empty() {
                continue;
            }
            let line = points.iter().map(|at| (at.epoch, at.mean));
            let band = points.iter().map(|at| at.interval);
            let label = format!("b = {batch}");
            panel = panel.series(Series::line(label, line).band(band).color(color));
        }
        if !panel.series.is_empty() {
            panels.push(panel);
        }
    }
    Ok(panels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One repeat that blows up is the arithmetic mean; the geometric one stays with the others.
    #[test]
    fn a_look_is_the_geometric_mean_with_an_interval_that_is_positive() {
        let at = At::of(3.0, &[1.0, 4.0]).unwrap();
        // By t with one degree of freedom, 12.7062, on logarithms whose standard error is ln 2.
        let half = 12.706_204_736_432_1 * 2f64.ln();
        assert!((at.mean - 2.0).abs() < 1e-12);
        assert!((at.interval.0 / (2.0 * (-half).exp()) - 1.0).abs() < 1e-9);
        assert!((at.interval.1 / (2.0 * half.exp()) - 1.0).abs() < 1e-9);
        assert!(at.interval.0 > 0.0);
        assert_eq!((at.epoch, at.largest), (3.0, 4.0));
        let one_blows_up = At::of(0.0, &[0.25, 0.25, 0.25, 16.0]).unwrap();
        assert!((one_blows_up.mean - 0.25 * 64f64.powf(0.25)).abs() < 1e-12);
        assert_eq!(At::of(0.0, &[]), None);
        assert_eq!(At::of(0.0, &[1.0, 0.0]), None);
    }
}
