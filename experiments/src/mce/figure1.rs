//! Figure 1: two starts on iris, curves and maps.

use super::curves::{MAP, REGION, STARTS};
use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered, StudyCell, quoted};
use mercer_records::CurvePoint;
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Style, Table, number};
use mercer_statistics::summarise;

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "mce/figure1",
    title: "Learning from an overfitted and an underfitted start (iris, two attributes)",
    studies: &["mce/figure1"],
    datasets: &[],
    computed: &[],
    render,
};

const STUDY: &str = "mce/figure1";

/// What is drawn against the iterations.
const CURVES: [(&str, &str); 4] = [
    ("accuracy", "test accuracy"),
    ("train-accuracy", "training accuracy"),
    ("loss", "loss"),
    ("complexity", "complexity r"),
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let study = desk.cells(STUDY)?;
    let (_, cells) = &*study;
    let mut table = Table::new("mce/figure1", ARTEFACT.title)
        .caption("At the start and after the last step, from either start: accuracy in percent (first fold, 30 test rows, as in the paper; then mean over the folds there are), and first-fold loss, complexity and λ/s².")
        .columns(["Variant", "Start", "At"].map(Column::left))
        .columns(["Accuracy", "Mean over folds", "Folds", "Loss", "r", "λ/s²"].map(Column::right));
    let mut figure = Figure::new("mce/figure1-curves", ARTEFACT.title)
        .caption("Algorithm 1 on all rows of the first two attributes of iris, isotropic Gaussian kernel, first fold. Rows of panels: summed losses, then mean losses. The maps of `mce/figure1-maps` are those of the summed losses.")
        .columns(2);
    let mut drawings = Vec::new();
    for cell in cells {
        let curves: Vec<&[CurvePoint]> =
            cell.records().map(|record| record.result.curve.as_slice()).collect();
        let Some(first) = curves.first() else { continue };
        for start in STARTS {
            for end in [0, usize::MAX] {
                if let Some(row) = ends(cell, &curves, start, end == 0) {
                    table = table.row(row);
                }
            }
        }
        for (name, label) in CURVES {
            let axis = if name == "loss" || name == "complexity" {
                Axis::log10(label)
            } else {
                Axis::linear(label)
            };
            let mut panel = Panel::new(Axis::linear("iteration"), axis)
                .title(format!("{}: {label}", cell.key().variant));
            for start in STARTS {
                let points: Vec<(f64, f64)> =
                    along(first, start, name).map(|(step, y)| (step as f64, y)).collect();
                if !points.is_empty() {
                    panel = panel.series(Series::line(format!("{start}fitted start"), points));
                }
            }
            if !panel.series.is_empty() {
                figure = figure.panel(panel);
            }
        }
        if cell.key().variant == "released"
            && let Some(maps) = maps(first)
        {
            drawings.push(Drawing::Figure(maps));
        }
    }
    if !figure.panels.is_empty() {
        drawings.insert(0, Drawing::Figure(figure));
    }
    for number in quoted("mce")?.iter().filter(|number| number.dataset == "iris2") {
        table = table
            .note(format!("The paper: {} %, {} ({}).", number.mean, number.method, number.setting));
    }
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// One number along the iterations.
fn along<'a>(
    curve: &'a [CurvePoint],
    start: &'a str,
    name: &'a str,
) -> impl Iterator<Item = (u64, f64)> + 'a {
    let key = format!("{start} {name}");
    curve
        .iter()
        .filter(|point| point.step < MAP)
        .filter_map(move |point| Some((point.step, *point.values.get(&key)?)))
}

/// A line of the table: the start or the end of one run.
fn ends(cell: &StudyCell, curves: &[&[CurvePoint]], start: &str, first: bool) -> Option<Row> {
    let at = |curve: &[CurvePoint], name: &str| {
        let mut points = along(curve, start, name);
        if first { points.next() } else { points.last() }
    };
    let accuracies: Vec<f64> =
        curves.iter().filter_map(|curve| Some(100.0 * at(curve, "accuracy")?.1)).collect();
    let summary = summarise(&accuracies)?;
    let own = |name: &str, digits| {
        at(curves[0], name).map_or_else(|| Cell::text("-"), |(_, y)| Cell::text(number(y, digits)))
    };
    let (step, _) = at(curves[0], "accuracy")?;
    Some(Row::new([
        Cell::text(&cell.key().variant),
        Cell::text(format!("{start}fitted")),
        Cell::text(format!("step {step}")),
        Cell::number(accuracies[0], 2),
        Cell::mean_std(summary.mean, summary.sample_std, 2),
        Cell::text(format!("{}/{}", summary.count, cell.repeats_of_paper())),
        own("loss", 3),
        own("complexity", 3),
        own("lambda-over-scale-squared", 5),
    ]))
}

/// The four maps: the class of the largest probability in each cell.
fn maps(curve: &[CurvePoint]) -> Option<Figure> {
    let cells: Vec<&CurvePoint> = curve.iter().filter(|point| point.step >= MAP).collect();
    let side = (cells.len() as f64).sqrt().round() as usize;
    if side == 0 {
        return None;
    }
    let width = (REGION.1 - REGION.0) / side as f64;
    let mut figure = Figure::new("mce/figure1-maps", "Decision probabilities before and after learning")
        .caption("The class of the largest decision probability over [-0.5, 1.05]², first fold, summed losses. Only cells where its clip-normalised probability exceeds 0.4 are marked: what is left blank is undecided. All three probabilities of each cell are in the records.")
        .columns(2);
    for start in STARTS {
        for end in ["start", "end"] {
            let mut classes: Vec<Vec<(f64, f64)>> = vec![Vec::new(); 3];
            for (index, cell) in cells.iter().enumerate() {
                let share = |class: usize| cell.values.get(&format!("{start} {end} {class}"));
                let best = (0..3).max_by(|&a, &b| {
                    let of = |class| share(class).copied().unwrap_or(0.0);
                    of(a).total_cmp(&of(b))
                })?;
                if share(best).is_some_and(|&share| share > 0.4) {
                    let centre = |i: usize| REGION.0 + width * (i as f64 + 0.5);
                    classes[best].push((centre(index % side), centre(index / side)));
                }
            }
            let mut panel = Panel::new(
                Axis::linear("sepal length").range(REGION.0, REGION.1),
                Axis::linear("sepal width").range(REGION.0, REGION.1),
            )
            .title(format!(
                "{start}fitted start, {}",
                if end == "start" { "before" } else { "after" }
            ));
            for (class, points) in classes.into_iter().enumerate() {
                let label = ["setosa", "versicolor", "virginica"][class];
                panel = panel.series(Series::points(label, points).style(Style::Points));
            }
            figure = figure.panel(panel);
        }
    }
    Some(figure)
}
