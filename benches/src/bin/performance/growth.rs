//! How criterion's times grow with a size, beside the printed costs.

use crate::history::{Entry, put, root};
use mercer_benches::claim_group;
use mercer_experiments::{Scaling, claimed_costs};
use mercer_render::{Axis, Figure, Legend, Panel, Series, Style};
use mercer_statistics::{Line, line};
use std::fmt::Write;

/// A series of sizes that criterion timed, and the lines through the logarithms.
pub(crate) struct Growth {
    scaling: &'static Scaling,
    /// Size, milliseconds and their 95 % interval.
    times: Vec<(f64, [f64; 3])>,
    /// Through the times.
    pub(crate) measured: Line,
    /// Through the printed cost at the same sizes.
    pub(crate) printed: Line,
}

impl Growth {
    /// None if a size was not timed in this run.
    pub(crate) fn of(scaling: &'static Scaling, run: &Entry) -> Option<Self> {
        let group = claim_group(scaling);
        let at = |size: usize| -> Option<(f64, [f64; 3])> {
            let times = run.times.get(&format!("{group}/{size}"))?;
            Some((size as f64, times.map(|nanoseconds| nanoseconds / 1e6)))
        };
        let times: Vec<_> = scaling.values.into_iter().map(at).collect::<Option<_>>()?;
        let through = |y: &dyn Fn(f64, f64) -> f64| {
            let points =
                times.iter().map(|(size, [median, ..])| (size.ln(), y(*size, *median).ln()));
            line(&points.collect::<Vec<_>>()).ok()
        };
        let measured = through(&|_, median| median)?;
        let printed = through(&|size, _| (scaling.printed)(size))?;
        Some(Self { scaling, times, measured, printed })
    }

    fn interval(&self) -> String {
        let (low, high) = self.measured.interval(0.95).unwrap_or((f64::NAN, f64::NAN));
        format!("{low:.2} to {high:.2}")
    }

    /// The times, the line through them, and the printed cost through their middle.
    fn panel(&self) -> Panel {
        let Self { scaling, times, measured, printed } = self;
        let sizes = || times.iter().map(|(size, _)| *size);
        let middle = sizes().map(f64::ln).sum::<f64>() / times.len() as f64;
        let centre = measured.intercept + measured.slope * middle;
        let dashed = |size: f64| (centre + printed.slope * (size.ln() - middle)).exp();
        let fitted = |size: f64| (measured.intercept + measured.slope * size.ln()).exp();
        let below =
            format!("{:.2} ({}), printed {:.2}", measured.slope, self.interval(), printed.slope);
        let ends = [scaling.values[0], scaling.values[2], scaling.values[4]];
        let x = Axis::log2(below).ticks_at(ends.map(|size| size as f64));
        let points = times.iter().map(|(size, [median, ..])| (*size, *median));
        let bars = times.iter().map(|(_, [_, low, high])| (*low, *high));
        let lines = sizes().flat_map(|size| [fitted(size), dashed(size)]);
        let all: Vec<f64> = lines.chain(bars.clone().flat_map(|(low, high)| [low, high])).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(0.0, f64::max);
        Panel::new(x, Axis::log10("ms").range(low / 1.2, high * 1.2))
            .title(format!("{} in {}", scaling.title, scaling.variable))
            .series(Series::line("fitted", sizes().map(|size| (size, fitted(size)))))
            .series(
                Series::line("printed cost", sizes().map(|size| (size, dashed(size))))
                    .style(Style::Dashed),
            )
            .series(Series::points("criterion's median", points).band(bars))
    }
}

/// Draws the claimed costs of the last run that timed all their sizes, and tells their slopes.
pub(crate) fn draw(history: &[Entry], text: &mut String) -> Result<(), String> {
    let grown = |run: &Entry| -> Vec<Growth> {
        claimed_costs().filter_map(|scaling| Growth::of(scaling, run)).collect()
    };
    let last =
        history.iter().rev().map(|run| (run, grown(run))).find(|(_, found)| !found.is_empty());
    let Some((run, growths)) = last else {
        text.push_str(
            "No run has timed all sizes of a claimed cost: `just bench --bench claims`.\n",
        );
        return Ok(());
    };
    let figure = Figure::new("performance/growth", "Measured times and printed costs");
    let figure = growths.iter().map(Growth::panel).fold(figure.columns(3), Figure::panel);
    let figure = figure.legend(Legend::Below);
    put(
        &root().join("reports/performance/growth.svg"),
        &figure.svg().map_err(|error| error.to_string())?,
    )?;
    let above: Vec<String> = growths
        .iter()
        .filter(|own| own.measured.interval(0.95).is_ok_and(|(low, _)| low > own.printed.slope))
        .map(|own| format!("{} in {}", own.scaling.title, own.scaling.variable))
        .collect();
    let _ = write!(
        text,
        "Of {} measured slopes, {} lie above the printed one by their 95 % intervals ({}).\n\n\
         ![Measured times and printed costs](./growth.svg)\n\n\
         Criterion's times of {} ({}, revision {}) on logarithmic axes. Below each panel: the fitted slope, \
         its 95 % interval (t, 3 degrees of freedom), and the slope of the printed cost over the same sizes. \
         [complexity/exponents](../complexity/exponents.md) has the verdicts, from times of its own.\n\n\
         | method | source | printed cost | in | sizes | slope | 95 % | printed slope |\n\
         |:--|:--|:--|:--|--:|--:|--:|--:|\n",
        growths.len(),
        above.len(),
        above.join(", "),
        run.day,
        run.machine,
        run.code
    );
    for growth in &growths {
        let Growth { scaling, measured, printed, .. } = growth;
        let Scaling { title, source, claim, variable, values, .. } = scaling;
        let _ = writeln!(
            text,
            "| {title} | {source} | {claim} | {variable} | {} to {} | {:.2} | {} | {:.2} |",
            values[0],
            values[4],
            measured.slope,
            growth.interval(),
            printed.slope
        );
    }
    Ok(())
}
