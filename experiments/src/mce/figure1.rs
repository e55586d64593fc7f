//! Figure 1: two starts on iris, curves and maps.

use super::curves::{MAP, REGION, STARTS};
use mercer_records::CurvePoint;
use mercer_render::{
    Axis, Cell, Column, Figure, Mark, Panel, Raster, Row, Series, Table, blend, number,
};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;

const STUDY: &str = "mce/figure1";

/// What the text prints, in percent: from either start, before learning and after it.
const BEFORE: f64 = 56.67;
const AFTER: f64 = 73.33;

/// What is drawn against the iterations.
const CURVES: [(&str, &str); 4] = [
    ("accuracy", "test accuracy (%)"),
    ("train-accuracy", "training accuracy (%)"),
    ("loss", "loss"),
    ("complexity", "complexity r"),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let (_, cells) = &*study;
    // The paper's settings stand before its code's, as everywhere.
    let (printed, other): (Vec<_>, Vec<_>) =
        cells.iter().partition(|cell| cell.key().variant == "printed");
    let mut table = Table::new("mce/figure1", "Before and after learning, from both starts")
        .caption("Accuracy in percent, loss, complexity r and λ/s² before and after learning, from an overfitted and an underfitted start. Accuracy, loss, r and λ/s² are of the first fold (30 test rows, as in the paper).")
        .note("Verdict: accuracy of the first fold against the two decimals that the paper prints, for summed losses as in the authors' code.")
        .columns(["Variant", "Start", "At"].map(Column::left))
        .columns(["Accuracy", "Paper", "Verdict", "Mean over folds", "Folds", "Loss", "r", "λ/s²"].map(Column::right));
    let mut figure = Figure::new("mce/figure1-curves", &artefact.title)
        .caption("Algorithm 1 on the first two attributes of iris, all training rows of the first fold, isotropic Gaussian kernel. `printed`: mean losses; `released`: summed losses. Stars: the accuracies that the paper's text prints.")
        .columns(2);
    let mut drawings = Vec::new();
    for cell in printed.into_iter().chain(other) {
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
        for curve in CURVES {
            figure =
                panel(&cell.key().variant, first, curve).into_iter().fold(figure, Figure::panel);
        }
        if cell.key().variant == "released"
            && let Some(maps) = maps(&cell.key().variant, first)
        {
            drawings.push(Drawing::Figure(maps));
        }
    }
    if !figure.panels.is_empty() {
        drawings.insert(0, Drawing::Figure(figure));
    }
    table = table.note("The paper does not state its overfitted start; here ℓ = 0.01 and λ = 0.001. Before learning from it `differs` means another start, not another method: only the ends must agree.");
    for number in context.catalogue.quoted("mce")?.iter().filter(|number| number.dataset == "iris2")
    {
        table = table
            .note(format!("The paper: {} %, {} ({}).", number.mean, number.method, number.setting));
    }
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// One number along the iterations from both starts.
fn panel(variant: &str, curve: &[CurvePoint], (name, label): (&str, &str)) -> Option<Panel> {
    let accuracy = name.ends_with("accuracy");
    let (axis, times) =
        if accuracy { (Axis::linear(label), 100.0) } else { (Axis::log10(label), 1.0) };
    let title = format!("{variant}: {}", label.trim_end_matches(" (%)"));
    let mut panel = Panel::new(Axis::linear("iteration"), axis).title(title);
    let mut last: f64 = 0.0;
    for start in STARTS {
        let points: Vec<(f64, f64)> =
            along(curve, start, name).map(|(step, y)| (step as f64, times * y)).collect();
        if let Some((step, _)) = points.last() {
            last = last.max(*step);
            panel = panel.series(Series::line(format!("{start}fitted start"), points));
        }
    }
    if name == "accuracy" {
        for (x, y) in [(0.0, BEFORE), (last, AFTER)] {
            panel = panel.mark(Mark::Point { x, y, label: "paper".to_owned(), color: None });
        }
    }
    (!panel.series.is_empty()).then_some(panel)
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
    let printed = if first { BEFORE } else { AFTER };
    let verdict = match (cell.key().variant.as_str(), cell.complete()) {
        ("released", true) if (accuracies[0] - printed).abs() < 0.005 => "exact",
        ("released", true) => "differs",
        ("released", false) => "short",
        _ => "",
    };
    Some(Row::new([
        Cell::text(&cell.key().variant),
        Cell::text(format!("{start}fitted")),
        Cell::text(format!("step {step}")),
        Cell::number(accuracies[0], 2),
        Cell::number(printed, 2),
        Cell::text(verdict),
        Cell::mean_std(summary.mean, summary.sample_std, 2),
        Cell::text(format!("{}/{}", summary.count, cell.repeats_of_paper())),
        own("loss", 3),
        own("complexity", 3),
        own("lambda-over-scale-squared", 5),
    ]))
}

/// The four maps: decision probabilities as red, green and blue.
fn maps(variant: &str, curve: &[CurvePoint]) -> Option<Figure> {
    let cells: Vec<&CurvePoint> = curve.iter().filter(|point| point.step >= MAP).collect();
    let side = (cells.len() as f64).sqrt().round() as usize;
    if side == 0 {
        return None;
    }
    let mut figure = Figure::new("mce/figure1-maps", "Decision probabilities before and after learning")
        .caption("Clip-normalised decision probabilities over [-0.5, 1.05]² for summed losses, first fold; training rows lie in [0, 1]². Mixed colours are uncertain; in grey parts no f_c is above 0 and each class has a third.")
        .columns(2)
        .key("setosa", blend([1.0, 0.0, 0.0]))
        .key("versicolor", blend([0.0, 1.0, 0.0]))
        .key("virginica", blend([0.0, 0.0, 1.0]))
        .key("each a third, or no f_c above 0", blend([1.0 / 3.0; 3]));
    for start in STARTS {
        for end in ["start", "end"] {
            let shares: Vec<Vec<f64>> = (0..3)
                .map(|class| {
                    let name = format!("{start} {end} {class}");
                    cells
                        .iter()
                        .map(|cell| cell.values.get(&name).copied().unwrap_or(0.0))
                        .collect()
                })
                .collect();
            let colors = (0..cells.len()).map(|at| blend([0, 1, 2].map(|class| shares[class][at])));
            let corners = ((REGION.0, REGION.0), (REGION.1, REGION.1));
            let mut map = Raster::new(side, corners.0, corners.1, colors);
            for (class, shares) in CLASSES.into_iter().zip(shares) {
                map = map.channel(class, shares);
            }
            let axis = |label: &str| Axis::linear(label).range(REGION.0, REGION.1);
            let when = if end == "start" { "before" } else { "after" };
            let panel = Panel::new(axis("sepal length"), axis("sepal width"))
                .title(format!("{variant}: {start}fitted start, {when}"))
                .raster(map);
            figure = figure.panel(panel);
        }
    }
    Some(figure)
}

/// The classes of iris, in the order of red, green and blue.
const CLASSES: [&str; 3] = ["setosa", "versicolor", "virginica"];
