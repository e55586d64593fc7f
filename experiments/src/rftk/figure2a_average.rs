//! Beside Figure 2(a): random features averaged over their draws, and the kernel regression that
//! Theorems 2 and 3 say that is.

use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Style, Table};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use std::collections::{BTreeMap, BTreeSet};

/// Mean and half-width of the 95 % interval over repeats.
pub(super) type Point = (f64, f64);

/// The study whose records it shows.
pub(crate) const STUDY: &str = "rftk/figure2a-average";

/// What the bands are of.
pub(super) const INTERVAL: &str = "95 % interval over repeats";

/// Training rows `n`.
pub(super) const ROWS: f64 = 100.0;

/// Ridges as the curves name them, and as the panels do.
const RIDGES: [(&str, &str); 4] =
    [("0e0", "ridgeless"), ("1e-7", "ridge 1e-7"), ("1e-4", "ridge 1e-4"), ("1e-2", "ridge 1e-2")];

/// Those that are drawn: 1e-7 is nowhere to be told from none.
const DRAWN: [usize; 3] = [0, 2, 3];

/// What the columns of the distances mean.
const NOTES: [&str; 7] = [
    "Distance: root of the mean over test rows of the squared difference of scores, summed over classes. It is relative to the size of the kernel's scores, in the same sense.",
    "The distance of the mean is corrected for the part of the variance that is left after averaging. A dash: nothing is left then, or M = n without a ridge.",
    "At t/n: the kernel at the ridge that the features amount to, t = λn + (t/M) Tr[K(K + tI)⁻¹]. At λ: the kernel at the features' own ridge.",
    "Without a ridge, t/n is the ridge of Theorem 3, Tr[K(K + tI)⁻¹] = M. From M = n on it is 0.",
    "Deviation of a draw: its standard deviation about the mean predictor, in the unit of the distances. Gaussian features: the same by Theorem 2's identity (no ridge, M > n + 1).",
    "Near M = n without a ridge, the test error of the mean of draws still contains a part of the variance.",
    "Square error: mean over the test rows of the squared error of a draw, and of the mean predictor.",
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let draws = draws(&study.1).unwrap_or_else(|| "the draws".to_owned());
    let mut figure = Figure::new(&artefact.id, &artefact.title)
        .caption(format!("Test error on n = 100 training rows against M over n, with 95 % bands over repeats: one draw of the features, the mean of {draws}, and the kernel at the ridge t/n to which M features amount. Without a ridge the variance at M = n is infinite, so averaging does not help there."))
        .bands(INTERVAL)
        .columns(DRAWN.len());
    let mut table = Table::new("rftk/figure2a-average-distances", "Mean predictor and variance of a draw")
        .caption(format!("How far the mean predictor over {draws} of the features is from the kernel's predictor, and how much one draw varies about it. All numbers are means over repeats on n = 100 training rows."))
        .columns([Column::left("Dataset"), Column::right("Ridge λ")])
        .columns(["M/n", "Ridge t/n"].map(Column::right))
        .columns(["a draw", "mean of draws", "kernel at t/n"].map(|head| Column::right(head).under("test error")))
        .columns(["at t/n", "at λ"].map(|head| Column::right(head).under("distance of the mean to the kernel")))
        .columns(["measured", "Gaussian features"].map(|head| Column::right(head).under("deviation of a draw")))
        .columns(["a draw", "mean of draws"].map(|head| Column::right(head).under("square error")))
        .columns([Column::right("Repeats")]);
    table = NOTES.into_iter().fold(table, Table::note);
    for cell in &study.1 {
        let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
        if repeats == 0 {
            continue;
        }
        for drawn in DRAWN {
            figure = figure.panel(panel(cell, RIDGES[drawn], repeats));
        }
        for ridge in RIDGES {
            for row in rows(cell, ridge, repeats) {
                table = table.row(row);
            }
        }
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// The means of one value of a ridge; features 0 are the kernel, which is no point of a curve.
pub(super) fn curve(cell: &StudyCell, value: &str, ridge: &str) -> BTreeMap<u64, Point> {
    means(cell, &format!("{value} {ridge}")).filter(|(features, _)| *features > 0).collect()
}

/// Over how many draws the records of some cells average, in words: `100 draws`. A profile may cut them, and
/// the records of one run may be of another's number. None without records.
pub(super) fn draws<'a>(cells: impl IntoIterator<Item = &'a StudyCell>) -> Option<String> {
    let records = cells.into_iter().flat_map(StudyCell::records);
    in_words(records.filter_map(|record| record.result.settings.get("draws")?.as_u64()))
}

fn in_words(draws: impl Iterator<Item = u64>) -> Option<String> {
    let numbers: BTreeSet<u64> = draws.collect();
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    (!numbers.is_empty()).then(|| format!("{} draws", numbers.join(" or ")))
}

fn panel(cell: &StudyCell, (ridge, title): (&str, &str), repeats: usize) -> Panel {
    let of_paper = cell.repeats_of_paper();
    let title = format!("{}, {title} ({repeats}/{of_paper})", cell.key().dataset);
    let panel = Panel::new(Axis::log10("M / n"), Axis::linear("test error")).title(title);
    let lines = [
        ("error", "one draw", Style::Line),
        ("averaged error", "mean of the draws", Style::LinePoints),
        ("predicted error", "kernel at the ridge that the features amount to", Style::Dashed),
    ];
    let panel = lines.into_iter().fold(panel, |panel, (value, label, style)| {
        let points = curve(cell, value, ridge);
        let line = points.iter().map(|(features, p)| (*features as f64 / ROWS, p.0));
        let series = Series::line(label, line).style(style);
        let band = points.values().map(|p| (p.0 - p.1, p.0 + p.1));
        panel.series(if style == Style::Dashed { series } else { series.band(band) })
    });
    panel.mark(Mark::Vertical { x: 1.0, label: "M = n".to_owned() })
}

fn rows(cell: &StudyCell, (ridge, _): (&str, &str), repeats: usize) -> Vec<Row> {
    let of = |value: &str| curve(cell, value, ridge);
    let (error, averaged, predicted) = (of("error"), of("averaged error"), of("predicted error"));
    let (near, bare) = (of("squared distance"), of("bare squared distance"));
    let (size, variance) = (of("predicted size"), of("variance"));
    let (gaussian, effective) = (of("gaussian variance"), of("effective ridge"));
    let (mse, averaged_mse) = (of("mse"), of("averaged mse"));
    let row = |features: &u64| {
        // Without a ridge the variance is infinite there, and means over draws say nothing.
        let settled = ridge != "0e0" || features.abs_diff(ROWS as u64) > 1;
        let number = |curve: &BTreeMap<u64, Point>, digits| {
            curve.get(features).map_or_else(|| Cell::text("-"), |p| Cell::number(p.0, digits))
        };
        let squares =
            |curve: &BTreeMap<u64, Point>| if settled { number(curve, 3) } else { Cell::text("-") };
        let with_band = |curve: &BTreeMap<u64, Point>| match curve.get(features) {
            Some(p) if repeats > 1 => number(curve, 3).detail(format!("± {:.3}", p.1)),
            _ => number(curve, 3),
        };
        // What the draws leave of their variance is taken out, which may leave less than nothing.
        let relative = |curve: &BTreeMap<u64, Point>| {
            let found = curve.get(features).zip(size.get(features));
            let square =
                found.map(|(part, size)| part.0 / size.0).filter(|square| *square > 0.0 && settled);
            square.map_or_else(|| Cell::text("-"), |square| Cell::number(square.sqrt(), 3))
        };
        let shift = effective.get(features).map_or(f64::NAN, |p| p.0);
        Row::new([
            Cell::text(&cell.key().dataset),
            Cell::text(if ridge == "0e0" { "0" } else { ridge }).sort(ridge.parse().unwrap_or(0.0)),
            Cell::number(*features as f64 / ROWS, 2),
            Cell::text(if shift == 0.0 { "0".to_owned() } else { format!("{shift:.1e}") })
                .sort(shift),
            with_band(&error),
            with_band(&averaged),
            with_band(&predicted),
            relative(&near),
            relative(&bare),
            relative(&variance),
            relative(&gaussian),
            squares(&mse),
            squares(&averaged_mse),
            Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
        ])
    };
    error.keys().map(row).collect()
}

/// Number of features to mean and half-width of one value of the curve.
pub(super) fn means(cell: &StudyCell, name: &str) -> impl Iterator<Item = (u64, Point)> + use<> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        if let Some(value) = point.values.get(name) {
            values.entry(point.step).or_default().push(*value);
        }
    }
    values.into_iter().filter_map(|(size, values)| {
        let summary = summarise(&values)?;
        Some((size, (summary.mean, summary.half_width(0.95).unwrap_or(0.0))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draws_are_those_of_the_records() {
        let said = |draws: &[u64]| in_words(draws.iter().copied());
        assert_eq!(said(&[20, 20]).as_deref(), Some("20 draws"));
        assert_eq!(said(&[100, 4, 100]).as_deref(), Some("4 or 100 draws"));
        assert_eq!(said(&[]), None);
    }
}
