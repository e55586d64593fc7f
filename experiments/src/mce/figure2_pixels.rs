//! Figure 2, bottom: the pixels that the learned length scales call relevant.

use mercer_records::CurvePoint;
use mercer_render::{Axis, Cell, Column, Figure, Panel, Raster, Row, Table, shade};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered};

/// Columns of an image.
const SIDE: usize = 28;

/// A pixel of one fit.
#[derive(Clone, Copy)]
struct Pixel {
    length: f64,
    /// Deviation of its intensity over the training images.
    deviation: f64,
}

impl Pixel {
    /// `σ_j/ℓ_j`: the typical distance of two images along this pixel, in length scales. A pixel that
    /// is always blank has none, whatever its length scale.
    fn relevance(self) -> f64 {
        self.deviation / self.length
    }

    fn varies(self) -> bool {
        self.deviation > 0.0
    }
}

fn pixels(curve: &[CurvePoint]) -> Vec<Pixel> {
    let mut found: Vec<(u64, Pixel)> = curve
        .iter()
        .filter_map(|point| {
            let number = |name: &str| point.values.get(name).copied();
            let (length, deviation) = (number("length")?, number("deviation")?);
            Some((point.step, Pixel { length, deviation }))
        })
        .collect();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, pixel)| pixel).collect()
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("mce/figure2-pixels")?;
    let (_, cells) = &*study;
    let mut lengths = Vec::new();
    let mut relevances = Vec::new();
    let mut table = lengths_table();
    for cell in cells {
        let mut drawn: Vec<_> =
            cell.records().filter(|record| !record.result.curve.is_empty()).collect();
        drawn.sort_by_key(|record| record.key.repeat);
        for (place, record) in drawn.iter().enumerate() {
            let curve = &record.result.curve;
            let pixels = pixels(curve);
            let mut varying: Vec<Pixel> = pixels.iter().copied().filter(|p| p.varies()).collect();
            if varying.is_empty() || pixels.len() != SIDE * SIDE {
                continue;
            }
            if place == 0 {
                let [length, relevance] = maps(cell.label(), &pixels);
                lengths.push(length);
                relevances.push(relevance);
            }
            varying.sort_by(|a, b| a.length.total_cmp(&b.length));
            let first = |name: &str| curve.iter().find_map(|point| point.values.get(name).copied());
            let number = |value: Option<f64>, digits| {
                value.map_or_else(|| Cell::text(""), |value| Cell::number(value, digits))
            };
            table = table.row(Row::new([
                Cell::text(cell.label()),
                Cell::count(place + 1),
                Cell::count(varying.len()),
                Cell::number(varying[0].length, 3),
                Cell::number(varying[varying.len() / 2].length, 3),
                Cell::number(varying[varying.len() - 1].length, 3),
                Cell::count(half_in(&varying)),
                number(first("lambda"), 5),
                number(first("complexity"), 3),
                number(first("accuracy").map(|share| 100.0 * share), 2),
            ]));
        }
    }
    let columns = lengths.len();
    let mut drawings = Vec::new();
    if columns > 0 {
        let mut figure = Figure::new(&artefact.id, &artefact.title)
            .caption("Learned length scales (above, logarithmic, dark is short) and standard deviation of a pixel over its length scale (below, dark is large), first draw of images. Each panel has shades of its own: the bar beside it says what the palest and the darkest stand for. Pixels that are blank in every training image are white; the paper calls dark regions the most discriminative.")
            .columns(columns);
        for panel in lengths.into_iter().chain(relevances) {
            figure = figure.panel(panel);
        }
        drawings.push(Drawing::Figure(figure));
    }
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// The table without its rows.
fn lengths_table() -> Table {
    Table::new("mce/figure2-pixels-lengths", "Learned length scales")
        .caption("Learned length scales of the pixels that are not blank in every training image of these digits, and accuracy on their test images. Each draw of images has a line; the paper has no numbers here.")
        .note("Shortest, median, longest: length scales of these pixels. Half of it in: how many pixels carry half of the summed squared relevance (σ/ℓ)².")
        .note("λ and the complexity r are at the end of learning. Accuracy is with the embedding of the last batch.")
        .columns([Column::left("Digits"), Column::right("Draw")])
        .columns(
            ["Pixels that vary", "Shortest", "Median", "Longest", "Half of it in", "λ", "r", "Accuracy (%)"]
                .map(Column::right),
        )
}

/// The maps of the length scales and of the relevances.
fn maps(digits: &str, pixels: &[Pixel]) -> [Panel; 2] {
    // Short is dark, on a scale of factors.
    let length = |pixel: Pixel| pixel.varies().then(|| -pixel.length.ln());
    let ends =
        |low: f64, high: f64| (format!("≥ {:.1}", (-low).exp()), format!("≤ {:.1}", (-high).exp()));
    let lengths = panel(digits, "length scale", pixels, length, ends);
    let relevance = |pixel: Pixel| pixel.varies().then(|| pixel.relevance());
    let ends = |low: f64, high: f64| (format!("≤ {low:.4}"), format!("≥ {high:.2}"));
    [lengths, panel(digits, "relevance", pixels, relevance, ends)]
}

/// How few pixels carry half of the sum of squared relevances.
fn half_in(pixels: &[Pixel]) -> usize {
    let mut squares: Vec<f64> = pixels.iter().map(|pixel| pixel.relevance().powi(2)).collect();
    squares.sort_by(|a, b| b.total_cmp(a));
    let half = squares.iter().sum::<f64>() / 2.0;
    let mut sum = 0.0;
    squares
        .iter()
        .take_while(|square| {
            let more = sum < half;
            sum += **square;
            more
        })
        .count()
}

/// The image of one number a pixel; the middle 96 % of the values span the shades.
fn panel(
    digits: &str,
    what: &str,
    pixels: &[Pixel],
    value: impl Fn(Pixel) -> Option<f64>,
    ends: impl Fn(f64, f64) -> (String, String),
) -> Panel {
    let mut known: Vec<f64> = pixels.iter().filter_map(|&pixel| value(pixel)).collect();
    known.sort_by(f64::total_cmp);
    let at = |share: f64| known[(share * (known.len() - 1) as f64).round() as usize];
    let (low, high) = (at(0.02), at(0.98));
    // Images are stored from the top, maps from below.
    let from_below: Vec<Pixel> =
        pixels.chunks(SIDE).rev().flat_map(|row| row.iter().copied()).collect();
    let share = |pixel: Pixel| match value(pixel) {
        Some(value) if high > low => (value - low) / (high - low),
        Some(_) => 0.5,
        None => f64::NAN,
    };
    let corner = SIDE as f64;
    let (palest, darkest) = ends(low, high);
    let map = Raster::new(
        SIDE,
        (0.0, 0.0),
        (corner, corner),
        from_below.iter().map(|&pixel| shade(share(pixel))),
    )
    .channel("length", from_below.iter().map(|pixel| pixel.length).collect())
    .channel("deviation", from_below.iter().map(|pixel| pixel.deviation).collect())
    .scale(palest, darkest);
    // Rows of an image are counted from the top.
    let rows = [0, 10, 20].map(|row| (corner - f64::from(row), row.to_string()));
    let rows = Axis { ticks: Some(rows.to_vec()), ..Axis::linear("row") };
    Panel::new(Axis::linear("column"), rows).title(format!("{digits}: {what}")).raster(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_relevance_is_counted_from_the_largest() {
        let pixel = |relevance: f64| Pixel { length: 1.0, deviation: relevance };
        assert_eq!(half_in(&[1.0, 3.0, 1.0].map(pixel)), 1);
        assert_eq!(half_in(&[1.0; 4].map(pixel)), 2);
        assert_eq!(half_in(&[0.0, 2.0].map(pixel)), 1);
    }
}
