//! Figure 3: a data-adaptive kernel continued to new images, by neighbours and by hyper-KRR.

use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

/// What is compared, by its name in the records and in the figure.
const RULES: [(&str, &str); 5] = [
    ("hyper-krr", "DANK, hyper-KRR"),
    ("reciprocal", "DANK, reciprocal neighbours"),
    ("nearest", "DANK, nearest neighbour"),
    ("without", "DANK, plain kernel"),
    ("svm", "SVM-CV"),
];

/// The variants with panels; the table has all.
const DRAWN: [&str; 3] = ["printed", "pull-0.5", "pull-2"];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("hyper/figure3")?;
    let (_, cells) = &*study;
    let mut figure = Figure::new(&artefact.id, &artefact.title)
        .caption("Accuracy in percent on all test images of two digits against the number of training images, half of each. The kernel matrix F ∘ K that DANK learns on the training images is continued to the test images by the row of the reciprocal nearest neighbour (the paper's rival), by that of the nearest neighbour, not at all, or by hyper-kernel ridge regression of F ∘ K over all pairs (the paper's method). Bands, of hyper-KRR and of reciprocal neighbours: 95 % intervals of the mean over repeats. The accuracies of the panels begin at different values. The rival is a reconstruction: DANK's article could not be read, and its formulation and settings are recalled. With those of `printed` its matrix is all ones to a few hundredths, so that neighbours continue the plain kernel; the other panels pull it further.")
        .columns(3);
    let mut table = Table::new("hyper/figure3-gains", "What hyper-KRR gains over neighbours")
        .caption("Mean paired difference in points ± half-width of its 95 % interval over repeats (test images are the same in all); the paper reports about 2 points over reciprocal neighbours. Departure: root mean square of the entries of DANK's matrix minus 1, 0 for the plain kernel; not recorded in `printed`. Last columns: root mean squared error of the learned kernel on the training pairs, and the share of its spectrum that is negative.")
        .columns(["Variant", "Digits"].map(Column::left))
        .columns(["n", "DANK, hyper-KRR"].map(Column::right))
        .columns(["over reciprocal", "over nearest", "over plain", "over SVM-CV"].map(Column::right))
        .columns(["departure", "training RMSE", "negative share", "Repeats"].map(Column::right));
    for cell in cells {
        for digits in problems(cell) {
            let variant = &cell.key().variant;
            let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
            let mut panel = Panel::new(
                Axis::linear("training images"),
                Axis::linear("accuracy, % (bands: 95 %)"),
            )
            .title(format!("{variant}: {digits} ({repeats}/{})", cell.repeats_of_paper()));
            for (index, (rule, label)) in RULES.iter().enumerate() {
                let points = means(cell, |values| values.get(&format!("{rule} {digits}")).copied());
                let line = points.iter().map(|(n, p)| (*n as f64, p.0));
                let series = Series::line(*label, line).color(index);
                // Each has dashes of its own: the plain kernel's line lies on that of its neighbours.
                // No accuracy lies beyond these ends, however wide t's interval of two repeats is.
                let band = points.values().map(|p| ((p.0 - p.1).max(0.0), (p.0 + p.1).min(100.0)));
                panel = panel.series(if index < 2 { series.band(band) } else { series });
            }
            if DRAWN.contains(&variant.as_str()) {
                figure = figure.panel(panel);
            }
            table = lines(table, cell, &digits, repeats);
        }
    }
    let printed: Vec<&StudyCell> =
        cells.iter().filter(|cell| cell.key().variant == "printed").collect();
    if let Some((mean, place)) = rival_over_plain(&printed) {
        table = table.note(format!("As printed reciprocal neighbours barely change a machine: their mean accuracy differs from that of the plain kernel, continued not at all, by {mean:.3} points at most ({place}). What is ahead of the one is ahead of the other."));
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// The largest mean difference of reciprocal neighbours to the plain kernel, in absolute value, and where.
fn rival_over_plain(cells: &[&StudyCell]) -> Option<(f64, String)> {
    let mut largest: Option<(f64, String)> = None;
    for cell in cells {
        for digits in problems(cell) {
            let rule = |values: &BTreeMap<String, f64>, rule: &str| {
                values.get(&format!("{rule} {digits}")).copied()
            };
            let gains = means(cell, |at| Some(rule(at, "reciprocal")? - rule(at, "without")?));
            for (n, (mean, _)) in gains {
                if largest.as_ref().is_none_or(|(most, _)| mean.abs() > *most) {
                    largest = Some((mean.abs(), format!("{digits}, {n} training images")));
                }
            }
        }
    }
    largest
}

/// Pairs of digits in the records, in their order.
fn problems(cell: &StudyCell) -> Vec<String> {
    let mut found: Vec<String> = cell
        .records()
        .flat_map(|record| &record.result.curve)
        .flat_map(|point| point.values.keys())
        .filter_map(|name| Some(name.strip_prefix("hyper-krr ")?.to_owned()))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Training images to mean and half-width of what is asked of each record.
fn means(
    cell: &StudyCell,
    value: impl Fn(&BTreeMap<String, f64>) -> Option<f64>,
) -> BTreeMap<u64, (f64, f64)> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        if let Some(value) = value(&point.values) {
            values.entry(point.step).or_default().push(value);
        }
    }
    let summarised = values.into_iter().filter_map(|(n, values)| {
        let summary = summarise(&values)?;
        Some((n, (summary.mean, summary.half_width(0.95).unwrap_or(0.0))))
    });
    summarised.collect()
}

fn lines(mut table: Table, cell: &StudyCell, digits: &str, repeats: usize) -> Table {
    let own = means(cell, |values| values.get(&format!("hyper-krr {digits}")).copied());
    let over = |rule: &str| {
        means(cell, |values| {
            Some(
                values.get(&format!("hyper-krr {digits}"))?
                    - values.get(&format!("{rule} {digits}"))?,
            )
        })
    };
    let (reciprocal, nearest, svm) = (over("reciprocal"), over("nearest"), over("svm"));
    let plain = over("without");
    let error = means(cell, |values| values.get(&format!("training error {digits}")).copied());
    let departure = means(cell, |values| values.get(&format!("departure {digits}")).copied());
    let negative = means(cell, |values| values.get(&format!("negative share {digits}")).copied());
    let shown = |points: &BTreeMap<u64, (f64, f64)>, n: &u64, digits: usize| match points.get(n) {
        Some(point) => {
            Cell::text(format!("{:.digits$} ± {:.digits$}", point.0, point.1)).sort(point.0)
        }
        None => Cell::text(""),
    };
    for n in own.keys() {
        table = table.row(Row::new([
            Cell::text(&cell.key().variant),
            Cell::text(digits),
            Cell::number(*n as f64, 0),
            shown(&own, n, 2),
            shown(&reciprocal, n, 2),
            shown(&nearest, n, 2),
            shown(&plain, n, 2),
            shown(&svm, n, 2),
            shown(&departure, n, 3),
            shown(&error, n, 3),
            shown(&negative, n, 3),
            Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
        ]));
    }
    table
}
