//! Figure 2(a): double descent. Test error against M/n for several ridges, with bands.

use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered, StudyCell};
use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Style, Table};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "rftk/figure2a",
    title: "Double descent of random-feature regression",
    studies: &["rftk/figure2a"],
    datasets: &[],
    computed: &[],
    render,
};

/// Peak and tail of the ridgeless curve on MNIST, read off the plot saved with the authors' code.
const READ_OFF: (f64, f64) = (0.80, 0.26);

/// Mean and half-width of the 95 % interval over repeats.
type Point = (f64, f64);

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let study = desk.cells("rftk/figure2a")?;
    let (_, cells) = &*study;
    let mut figure = Figure::new(ARTEFACT.id, ARTEFACT.title)
        .caption("Test error of one-hot least squares on n = 100 training rows against the number of random features M over n; fresh features at every point. Bands: 95 % intervals of the mean over repeats. Ridgeless: pseudo-inverse. Horizontal line: the kernel that the features approach, without a ridge. Below M = n, dashed: that kernel with the ridge to which so few features amount in the mean over draws, Tr[K(K + λnI)⁻¹] = M; what lies above it is the variance of the draw.")
        .columns(2);
    let mut table = Table::new("rftk/figure2a-peaks", "Where and how high the curves peak")
        .caption("For each ridge: the largest mean test error from M = n/2 up, and where; the error at the last M; the error of the kernel itself. Intervals of 95 % over repeats. The paper prints no numbers; read off the plot saved with its code, the ridgeless curve on MNIST peaks at about 0.80 where M = n and ends at about 0.26.")
        .columns([Column::left("Dataset"), Column::right("Ridge")])
        .columns(["Peak at M/n", "Peak error", "Error at the end", "Kernel", "Repeats"].map(Column::right));
    for cell in cells {
        let curves = curves(cell);
        if curves.is_empty() {
            continue;
        }
        let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
        let mut panel = Panel::new(Axis::log10("M / n"), Axis::linear("test error"))
            .title(format!("{} ({repeats}/{})", cell.key().dataset, cell.repeats_of_paper()));
        for (lambda, curve) in &curves {
            let points: Vec<(f64, f64)> = curve
                .iter()
                .filter(|(m, _)| **m > 0)
                .map(|(m, p)| (*m as f64 / 100.0, p.0))
                .collect();
            let band = curve.iter().filter(|(m, _)| **m > 0).map(|(_, p)| (p.0 - p.1, p.0 + p.1));
            let label =
                if *lambda == 0.0 { "ridgeless".to_owned() } else { format!("ridge {lambda:e}") };
            panel = panel.series(Series::line(label, points).band(band));
            if let Some(row) = peak(cell, *lambda, curve, repeats) {
                table = table.row(row);
            }
            if let (true, Some(kernel)) = (*lambda == 0.0, curve.get(&0)) {
                panel = panel
                    .mark(Mark::Horizontal { y: kernel.0, label: "kernel, ridgeless".to_owned() });
            }
        }
        let predicted: Vec<(f64, f64)> =
            means(cell, "predicted error").map(|(m, p)| (m as f64 / 100.0, p.0)).collect();
        if !predicted.is_empty() {
            let label = "kernel at the effective ridge (Theorem 3)";
            panel = panel.series(Series::line(label, predicted).style(Style::Dashed));
        }
        panel = panel.mark(Mark::Vertical { x: 1.0, label: "M = n".to_owned() });
        if cell.key().dataset == "mnist" {
            let label = "read off the authors' plot".to_owned();
            panel = panel.mark(Mark::Point {
                x: 1.0,
                y: READ_OFF.0,
                label: label.clone(),
                color: None,
            });
            panel = panel.mark(Mark::Point { x: 100.0, y: READ_OFF.1, label, color: None });
        }
        figure = figure.panel(panel);
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// Number of features to mean and half-width of one value of the curve.
fn means(cell: &StudyCell, name: &str) -> impl Iterator<Item = (u64, Point)> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        if let Some(value) = point.values.get(name) {
            values.entry(point.step).or_default().push(*value);
        }
    }
    values.into_iter().filter_map(|(size, values)| {
        let summary = summarise(&values)?;
        Some((size, (summary.mean, 1.96 * summary.standard_error())))
    })
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

fn peak(
    cell: &StudyCell,
    lambda: f64,
    curve: &BTreeMap<u64, Point>,
    repeats: usize,
) -> Option<Row> {
    let upper = curve.iter().filter(|(m, _)| **m >= 50);
    let (at, top) = upper.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    let (_, end) = curve.last_key_value()?;
    let kernel = curve.get(&0)?;
    let shown =
        |point: &Point| Cell::text(format!("{:.3} ± {:.3}", point.0, point.1)).sort(point.0);
    Some(Row::new([
        Cell::text(&cell.key().dataset),
        Cell::text(if lambda == 0.0 { "0".to_owned() } else { format!("{lambda:e}") }).sort(lambda),
        Cell::number(*at as f64 / 100.0, 2),
        shown(top),
        shown(end),
        shown(kernel),
        Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
    ]))
}
