//! Figure 2: Nyström hyper-Gram matrices of few landmark points: pairs, error and cost.

use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered, StudyCell};
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Table};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "hyper/figure2",
    title: "Nyström approximation of the hyper-Gram matrix",
    studies: &["hyper/figure2"],
    datasets: &[],
    computed: &[],
    render,
};

/// Mean and half-width of the 95 % interval of the mean.
type Point = (f64, f64);

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let study = desk.cells("hyper/figure2")?;
    let (_, cells) = &*study;
    let mut figure = Figure::new(ARTEFACT.id, ARTEFACT.title)
        .caption("108 training rows of heart. (a) Unordered pairs of M landmark points, M(M + 1)/2, the diagonal included. (b) Relative error of the Nyström matrix in the Frobenius norm over ordered pairs; v subsets: each draws its M landmark points, and the v matrices, all of the whole training part, are averaged (as printed they would live on different pairs). Bands: 95 % intervals of the mean over repeats. (c) Multiply-adds of divide and conquer, v n_s P² + v P³/3 for n_s pairs of m/v points and P landmark pairs: the figure of the paper shows seconds of another machine. Seconds of ours over M and over v stand in complexity/hyper-krr.")
        .columns(2);
    let mut table = Table::new("hyper/figure2-errors", "Relative errors behind the figure")
        .caption("Mean ± half-width of the 95 % interval over repeats, and whether more subsets cost accuracy: the paired difference to v = 1 at the largest M.")
        .columns([Column::left("Hyper-kernel"), Column::right("v")])
        .columns(["M = 2", "largest M", "difference to v = 1", "Repeats"].map(Column::right));
    let mut first = true;
    for cell in cells {
        let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
        if repeats == 0 {
            continue;
        }
        let kernel = &cell.key().variant;
        let of = |points: &BTreeMap<u64, Point>| -> Vec<(f64, f64)> {
            points.iter().map(|(m, point)| (*m as f64, point.0)).collect()
        };
        let mut error = Panel::new(Axis::linear("M"), Axis::linear("relative error"))
            .title(format!("(b) {kernel} ({repeats}/{})", cell.repeats_of_paper()));
        let mut cost = Panel::new(Axis::linear("M"), Axis::log10("multiply-adds"))
            .title("(c) operations by formula, no time");
        for v in subsets(cell) {
            let errors = means(cell, &format!("error v={v}"));
            let band: Vec<_> = errors.values().map(|p| (p.0 - p.1, p.0 + p.1)).collect();
            error = error.series(Series::line(format!("v = {v}"), of(&errors)).band(band));
            let operations = means(cell, &format!("operations v={v}"));
            cost = cost.series(Series::line(format!("v = {v}"), of(&operations)));
            table = table.row(line(cell, kernel, v, &errors, repeats));
        }
        // Pairs and operations are the same for every hyper-kernel.
        if std::mem::take(&mut first) {
            let pairs = of(&means(cell, "pairs"));
            let panel = Panel::new(Axis::linear("M"), Axis::linear("pairs")).title("(a)");
            figure = figure.panel(panel.series(Series::line("M(M + 1)/2", pairs))).panel(cost);
        }
        figure = figure.panel(error);
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// Numbers of subsets in the records.
fn subsets(cell: &StudyCell) -> Vec<u32> {
    let mut found: Vec<u32> = cell
        .records()
        .flat_map(|record| &record.result.curve)
        .flat_map(|point| point.values.keys())
        .filter_map(|name| name.strip_prefix("error v=")?.parse().ok())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Landmarks to mean and half-width of one value.
fn means(cell: &StudyCell, name: &str) -> BTreeMap<u64, Point> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        if let Some(value) = point.values.get(name) {
            values.entry(point.step).or_default().push(*value);
        }
    }
    let summarised = values.into_iter().filter_map(|(m, values)| {
        let summary = summarise(&values)?;
        Some((m, (summary.mean, summary.half_width(0.95).unwrap_or(0.0))))
    });
    summarised.collect()
}

fn line(
    cell: &StudyCell,
    kernel: &str,
    v: u32,
    errors: &BTreeMap<u64, Point>,
    repeats: usize,
) -> Row {
    let shown = |point: Option<&Point>| match point {
        Some(point) => Cell::text(format!("{:.4} ± {:.4}", point.0, point.1)).sort(point.0),
        None => Cell::text(""),
    };
    let largest = errors.keys().last().copied().unwrap_or_default();
    let differences: Vec<f64> = cell
        .records()
        .filter_map(|record| record.result.curve.iter().find(|point| point.step == largest))
        .filter_map(|point| {
            Some(point.values.get(&format!("error v={v}"))? - point.values.get("error v=1")?)
        })
        .collect();
    let difference = summarise(&differences).map(|s| (s.mean, s.half_width(0.95).unwrap_or(0.0)));
    let last = if v == 1 { Cell::text("") } else { shown(difference.as_ref()) };
    Row::new([
        Cell::text(kernel),
        Cell::number(f64::from(v), 0),
        shown(errors.get(&2)),
        shown(errors.get(&largest)),
        last,
        Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
    ])
}
