//! What Figures 1(b) and 1(c) share: the curves of the SGD study, as means over repeats.

use crate::rftk::sgd_factors::named;
use crate::{Desk, ExperimentError, StudyCell};
use mercer_render::{Axis, Panel, Series};
use mercer_statistics::summarise;

/// The study whose records both figures show.
pub(crate) const STUDY: &str = "rftk/figure1b";

/// The code's batch sizes, which are the study's.
pub(crate) const BATCHES: [usize; 5] = [1, 10, 100, 1000, 10_000];

/// A number of passes, the mean over repeats there, and the half-width of its 95 % interval.
pub(crate) type At = (f64, f64, f64);

/// The target of a dataset, in words.
pub(crate) fn target(dataset: &str) -> &str {
    match dataset {
        "rftk-kink" => "y = −|w·x| + ε (text)",
        "rftk-slope" => "y = −w·x + ε (code)",
        other => other,
    }
}

/// The curve of one value of one batch size; where a run has ended or diverged it has no points.
pub(crate) fn curve(cell: &StudyCell, value: &str, batch: usize) -> Vec<At> {
    let name = named(value, batch);
    let looks = cell.records().map(|record| record.result.curve.len()).max().unwrap_or(0);
    (0..looks)
        .filter_map(|look| {
            let points: Vec<_> =
                cell.records().filter_map(|record| record.result.curve.get(look)).collect();
            let epoch = points.first()?.epoch;
            let values: Vec<f64> =
                points.iter().filter_map(|point| point.values.get(&name).copied()).collect();
            let summary = summarise(&values)?;
            // A mean over some of the repeats would jump where one of them ends.
            let all = values.len() == points.len();
            all.then(|| (epoch, summary.mean, 1.96 * summary.standard_error()))
        })
        .collect()
}

/// One panel a target and variant: a line a batch size.
pub(crate) fn panels(
    desk: &Desk<'_>,
    value: &str,
    axis: &str,
) -> Result<Vec<Panel>, ExperimentError> {
    let study = desk.cells(STUDY)?;
    let mut panels = Vec::new();
    for cell in &study.1 {
        let key = cell.key();
        let title = format!("{}, {}", target(&key.dataset), key.variant);
        let mut panel =
            Panel::new(Axis::log10("passes over the rows"), Axis::log10(axis)).title(title);
        for batch in BATCHES {
            // A logarithmic axis has no place for the start.
            let points: Vec<At> =
                curve(cell, value, batch).into_iter().filter(|(epoch, ..)| *epoch > 0.0).collect();
            if points.is_empty() {
                continue;
            }
            let rate = curve(cell, "rate", batch).first().map_or(f64::NAN, |(_, rate, _)| *rate);
            let rates = format!("b = {batch}, γ = {}", mercer_render::number(rate, 4));
            let label = if key.variant == "released" { rates } else { format!("b = {batch}") };
            let line = points.iter().map(|(epoch, mean, _)| (*epoch, *mean));
            // Half-widths above the mean would reach below 0, which the axis does not have.
            let band =
                points.iter().map(|(_, mean, half)| ((mean - half).max(0.05 * mean), mean + half));
            panel = panel.series(Series::line(label, line).band(band));
        }
        if !panel.series.is_empty() {
            panels.push(panel);
        }
    }
    Ok(panels)
}
