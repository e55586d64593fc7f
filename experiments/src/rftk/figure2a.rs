//! Figure 2(a): double descent. Test error against M/n for several ridges, with bands.

use super::figure2a_average::{INTERVAL, Point, STUDY as AVERAGED, means};
use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Style, Table};
use mercer_report::Repeats;
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use std::collections::BTreeMap;

/// The ridge of what the authors' code calls ridgeless, in single precision. Here it is solved in double.
const THEIR_RIDGELESS: f64 = 1e-7;

/// Training rows `n`.
const ROWS: u64 = 100;

/// Test errors that lie on one line of the plot.
const SAME: f64 = 0.005;

const CAPTION: &str = "Test error of one-hot least squares on n = 100 training rows against M over n, with 95 % bands over repeats. Dashed: half the Gaussian kernel, which the features approach, without a ridge (grey) and with the curve's ridge where it differs. The mean over draws, which Theorem 3 is about, is in rftk/figure2a-average.";

/// The palette's place of no colour: a level is no curve.
const GREY: usize = 6;

/// What is read off the plot saved with the authors' code, MNIST.
struct ReadOff {
    /// Place of the peak of the curve that is called ridgeless, `M/n`.
    at: f64,
    /// Its height.
    peak: f64,
    /// The same curve near `M/n = 1/2`.
    half: f64,
    /// The same at `M/n = 100`.
    end: f64,
    /// Lowest and highest of the kernel ridge curves.
    kernel: (f64, f64),
}

const READ_OFF: ReadOff =
    ReadOff { at: 1.0, peak: 0.80, half: 0.64, end: 0.26, kernel: (0.24, 0.27) };

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("rftk/figure2a")?;
    let (_, cells) = &*study;
    let averages = context.cells(AVERAGED)?;
    let mut figure = Figure::new(&artefact.id, &artefact.title).columns(2).bands(INTERVAL);
    let mut table = peaks();
    for cell in cells {
        let curves = curves(cell);
        if curves.is_empty() {
            continue;
        }
        let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
        let of_cell = |other: &&StudyCell| other.key().dataset == cell.key().dataset;
        let average = averages.1.iter().find(of_cell);
        for (lambda, curve) in &curves {
            let of_average = |value: &str, features: u64| {
                let mut points = means(average?, &format!("{value} {lambda:e}"));
                points.find(|(m, _)| *m == features).map(|(_, point)| point)
            };
            let beside = Beside {
                whole: of_average("full error", 0),
                at_n: of_average("error", ROWS),
                repeats: average.map_or(0, |cell| cell.records().count()),
            };
            if let Some(row) = line(cell, *lambda, curve, &beside, repeats) {
                table = table.row(row);
            }
        }
        figure = figure.panel(panel(cell, &curves, repeats));
    }
    let figure = figure.caption(CAPTION);
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// The curves of a dataset, with the levels of the kernels and what is read off.
fn panel(cell: &StudyCell, curves: &[(f64, BTreeMap<u64, Point>)], repeats: usize) -> Panel {
    let title = format!("{} ({repeats}/{})", cell.key().dataset, cell.repeats_of_paper());
    let mut panel = Panel::new(Axis::log10("M / n"), Axis::linear("test error")).title(title);
    let mut levels = Vec::new();
    let ridgeless =
        curves.first().filter(|(lambda, _)| *lambda == 0.0).and_then(|(_, of)| of.get(&0));
    for (place, (lambda, curve)) in curves.iter().enumerate() {
        let points: Vec<(f64, f64)> =
            curve.iter().filter(|(m, _)| **m > 0).map(|(m, p)| (*m as f64 / 100.0, p.0)).collect();
        let band = curve.iter().filter(|(m, _)| **m > 0).map(|(_, p)| (p.0 - p.1, p.0 + p.1));
        let label = of_ridge(*lambda);
        let apart = |kernel: &&Point| {
            *lambda == 0.0 || ridgeless.is_none_or(|r| (kernel.0 - r.0).abs() > SAME)
        };
        if let Some(kernel) = curve.get(&0).filter(apart) {
            let level = points.iter().map(|(ratio, _)| (*ratio, kernel.0));
            // A level has the colour of its ridge, and is dashed.
            let color = if *lambda == 0.0 { GREY } else { place };
            let level = Series::line(format!("kernel, {label}"), level).color(color);
            levels.push(level.style(Style::Dashed));
        }
        panel = panel.series(Series::line(label, points).band(band));
    }
    // In the legend, since a name on the line would cover curves: on some datasets they lie close to it
    // all along, and the axis ends below it. Last, for the others to keep their looks without it.
    panel = levels.into_iter().fold(panel, Panel::series);
    panel = panel.mark(Mark::Vertical { x: 1.0, label: "M = n".to_owned() });
    if cell.key().dataset == "mnist" {
        let label = "read off the authors' plot (ridge 1e-7)";
        for (x, y) in [(1.0, READ_OFF.peak), (0.5, READ_OFF.half), (100.0, READ_OFF.end)] {
            panel = panel.mark(Mark::Point { x, y, label: label.to_owned(), color: None });
        }
    }
    panel
}

/// The table of the peaks, without its rows.
fn peaks() -> Table {
    Table::new("rftk/figure2a-peaks", "Where and how high the curves peak")
        .caption("Where the mean test error peaks over the number of features M, and how high, for each ridge. Beside it stand kernel regression and values read off the authors' plot.")
        .columns([Column::left("Dataset"), Column::right("Ridge")])
        .columns(["Highest of the grid at M/n", "its error", "Error at M = n", "Error at M = n/2", "Error at the end", "Kernel", "Whole kernel"].map(Column::right))
        .columns(["Peak at", "Peak error", "at n/2", "at the end", "Kernel ridge"].map(|head| Column::right(head).under("read off the authors' plot")))
        .columns(["Repeats", "of them averaged"].map(Column::right))
        .note("Peak: the most prominent maximum, where the curve rises before it and falls after it by more than a point and three standard errors. A curve that only falls has none.")
        .note("Below the place of a peak: the grid sizes just outside the range in which 95 % of resampled repeats peak. The peak lies anywhere between them.")
        .note("Below an error: its 95 % interval, for the peak over resampled repeats, for other means by t.")
        .note("M = n = 100 is not on the grid, which passes from 87 to 104, so that the error there can exceed the highest of the grid. It comes from rftk/figure2a-average, on the repeats of the last column.")
        .note("Every size of the grid has fresh features.")
        .note("Ridgeless: the pseudo-inverse. Features and test scores are in single precision, the solution in double.")
        .note("Kernel: regression with half the Gaussian kernel, which the features approach, and the same ridge.")
        .note("Whole kernel: regression with the Gaussian kernel itself and the same ridge, as in the authors' kernel curve. It is on the repeats of the last column.")
        .note("The paper prints no numbers: the group on the right is read off the plot saved with its code.")
        .note("In that plot `ridgeless` has a ridge of 1e-7 in single precision, which is solved here in double precision. Its third ridge is labelled 1 and is 1e-2.")
}

/// A curve's name.
fn of_ridge(lambda: f64) -> String {
    if lambda == 0.0 { "ridgeless".to_owned() } else { format!("ridge {lambda:e}") }
}

/// For each ridge, number of features to mean and half-width; features 0 are the kernel itself.
fn curves(cell: &StudyCell) -> Vec<(f64, BTreeMap<u64, Point>)> {
    let mut names: Vec<&str> = cell
        .records()
        .filter_map(|record| record.result.curve.first())
        .flat_map(|point| point.values.keys())
        .filter_map(|name| name.strip_prefix("error "))
        .collect();
    names.sort_unstable();
    names.dedup();
    let mut curves: Vec<(f64, BTreeMap<u64, Point>)> = names
        .into_iter()
        .filter_map(|lambda| {
            Some((lambda.parse().ok()?, means(cell, &format!("error {lambda}")).collect()))
        })
        .collect();
    curves.sort_by(|a, b| a.0.total_cmp(&b.0));
    curves
}

/// What the study of averages has of a ridge.
struct Beside {
    /// The whole Gaussian kernel.
    whole: Option<Point>,
    /// One draw of as many features as rows.
    at_n: Option<Point>,
    /// The repeats of both.
    repeats: usize,
}

/// A line of the table: ours, and what the saved plot shows.
fn line(
    cell: &StudyCell,
    lambda: f64,
    curve: &BTreeMap<u64, Point>,
    beside: &Beside,
    repeats: usize,
) -> Option<Row> {
    let Beside { whole, at_n, repeats: averaged } = *beside;
    let (_, end) = curve.last_key_value()?;
    let kernel = curve.get(&0)?;
    let half = curve.range(1..).min_by_key(|(size, _)| size.abs_diff(ROWS / 2))?.1;
    let shown = |point: &Point| {
        let number = Cell::text(format!("{:.3}", point.0)).sort(point.0);
        if repeats > 1 { number.detail(format!("± {:.3}", point.1)) } else { number }
    };
    let over_n = |size: u64| size as f64 / ROWS as f64;
    let curves = Repeats::of([cell], &format!("error {lambda:e}"), false)?;
    let (place, height) = match (curves.peak(), curves.intervals()) {
        (None, _) => (Cell::text("no peak"), Cell::text("-")),
        (Some(peak), None) => (Cell::number(over_n(peak.at), 2), Cell::number(peak.height, 3)),
        (Some(peak), Some(found)) => (
            Cell::number(over_n(peak.at), 2).detail(between(&curves, found.at, over_n)),
            Cell::number(peak.height, 3)
                .detail(format!("{:.3} to {:.3}", found.height.0, found.height.1)),
        ),
    };
    let theirs = cell.key().dataset == "mnist";
    let read = |value: f64| {
        let shown = theirs && lambda == THEIR_RIDGELESS;
        if shown { Cell::number(value, 2) } else { Cell::text("-") }
    };
    Some(Row::new([
        Cell::text(&cell.key().dataset),
        Cell::text(if lambda == 0.0 { "0".to_owned() } else { format!("{lambda:e}") }).sort(lambda),
        place,
        height,
        at_n.map_or_else(|| Cell::text("-"), |point| shown(&point)),
        shown(half),
        shown(end),
        shown(kernel),
        whole.map_or_else(|| Cell::text("-"), |whole| shown(&whole)),
        read(READ_OFF.at),
        read(READ_OFF.peak),
        read(READ_OFF.half),
        read(READ_OFF.end),
        match (theirs, whole) {
            (true, Some(whole)) => beside_the_kernel(whole.0),
            // Without a ridge half the kernel predicts what the whole does.
            (true, None) if lambda == 0.0 => beside_the_kernel(kernel.0),
            (true, None) => {
                let (low, high) = READ_OFF.kernel;
                Cell::text(format!("{low:.2} to {high:.2}")).sort(low)
            }
            (false, _) => Cell::text("-"),
        },
        Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
        Cell::count(averaged),
    ]))
}

/// The sizes of the grid on either side of those at which resampled repeats peak, over `n`.
fn between(curves: &Repeats, at: (u64, u64), over_n: impl Fn(u64) -> f64) -> String {
    let sizes = curves.sizes();
    let below = sizes.iter().copied().rfind(|&size| size < at.0).unwrap_or(at.0);
    let above = sizes.iter().copied().find(|&size| size > at.1).unwrap_or(at.1);
    format!("{:.2} to {:.2}", over_n(below), over_n(above))
}

/// The range of the kernel ridge curves in the saved plot, which are of the whole kernel, and where
/// ours lies.
fn beside_the_kernel(ours: f64) -> Cell {
    let (low, high) = READ_OFF.kernel;
    let place = if ours < low {
        format!("ours {:.3} below", low - ours)
    } else if ours > high {
        format!("ours {:.3} above", ours - high)
    } else {
        "ours inside".to_owned()
    };
    Cell::text(format!("{low:.2} to {high:.2}")).sort(low).detail(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_limit_is_held_against_the_plots() {
        let said = |ours| beside_the_kernel(ours).detail.unwrap_or_default();
        assert_eq!(said(0.247), "ours inside");
        assert_eq!(said(0.309), "ours 0.039 above");
        assert_eq!(said(0.2), "ours 0.040 below");
    }
}
