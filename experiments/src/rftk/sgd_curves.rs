//! What Figures 1(b) and 1(c) share: the curves of the SGD study, as means over repeats.

use crate::rftk::sgd_factors::{DIVERGED, named};
use crate::{Desk, ExperimentError, StudyCell};
use mercer_records::CurvePoint;
use mercer_render::{Axis, Panel, Series};
use mercer_statistics::summarise;

/// The study whose records both figures show.
pub(crate) const STUDY: &str = "rftk/figure1b";

/// The code's batch sizes, which are the study's.
pub(crate) const BATCHES: [usize; 5] = [1, 10, 100, 1000, 10_000];

/// A number of passes, the mean over repeats there, and the half-width of its 95 % interval.
pub(crate) type At = (f64, f64, f64);

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
/// repeats, each with its own step), the squared distance in function space (the square of its mean), and the squares
/// of the interval's ends.
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
    let at = |(epoch, mean, half): At| {
        // Half-widths above the mean would reach below 0, which a logarithmic axis does not have.
        let low = (mean - half).max(0.5 * mean);
        Some((stated(epoch)?, mean * mean, (low * low, (mean + half).powi(2))))
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
            let summary = summarise(&values).filter(|_| values.len() == curves.len())?;
            let epoch = curves.first()?.get(look)?.epoch;
            Some((epoch, summary.mean, summary.half_width(0.95).unwrap_or(0.0)))
        })
        .collect()
}

/// One panel a target and variant: a line a batch size.
pub(crate) fn panels(
    desk: &Desk<'_>,
    axis: &Axis,
    points: &Points<'_>,
) -> Result<Vec<Panel>, ExperimentError> {
    let study = desk.cells(STUDY)?;
    let mut panels = Vec::new();
    for cell in &study.1 {
        let key = cell.key();
        let title = format!("{}, {}", target(&key.dataset), key.variant);
        let passes = Axis::log10("passes over the rows");
        let mut panel = Panel::new(passes, axis.clone()).title(title);
        for (color, batch) in BATCHES.into_iter().enumerate() {
            // A logarithmic axis has no place for the start.
            let points = points(cell, batch).into_iter().filter(|(epoch, ..)| *epoch > 0.0);
            let points: Vec<At> = points.collect();
            if points.is_empty() {
                continue;
            }
            let line = points.iter().map(|(epoch, mean, _)| (*epoch, *mean));
            // Half-widths above the mean would reach below 0, which such an axis does not have.
            let low = |mean: f64, half: f64| (mean - half).max(0.5 * mean);
            let band = points.iter().map(|(_, mean, half)| (low(*mean, *half), mean + half));
            let label = format!("b = {batch}");
            panel = panel.series(Series::line(label, line).band(band).color(color));
        }
        if !panel.series.is_empty() {
            panels.push(panel);
        }
    }
    Ok(panels)
}
