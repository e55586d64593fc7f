//! Figure 2, bottom: the pixels that the learned length scales call relevant.

use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered};
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Table};

pub(crate) const ARTEFACT: Artefact = Artefact {
    id: "mce/figure2-pixels",
    title: "Learned relevance of MNIST's pixels",
    studies: &["mce/figure2-pixels"],
    datasets: &[],
    computed: &[],
    render,
};

/// Columns of an image.
const SIDE: u64 = 28;
/// Shares of the pixels, from the shortest length scale on.
const GRADES: [(f64, &str); 3] =
    [(0.05, "shortest 5 % of the length scales"), (0.15, "next 10 %"), (0.30, "next 15 %")];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let study = desk.cells("mce/figure2-pixels")?;
    let (_, cells) = &*study;
    let mut figure = Figure::new(ARTEFACT.id, ARTEFACT.title)
        .caption("Pixels by their learned length scale, the shortest 30 % in three grades: distances along them count most. First draw of images, one panel a group of digits. The paper shows such images for groups of digits, without numbers.")
        .columns(3);
    let mut table = Table::new("mce/figure2-pixels-lengths", "Learned length scales")
        .caption("Over all pixels of one fit: the shortest length scale, the median, the longest; λ and the complexity r at the end; accuracy on the test images of these digits with the embedding of the last batch.")
        .columns([Column::left("Digits")])
        .columns(["Shortest", "Median", "Longest", "λ", "r", "Accuracy (%)"].map(Column::right));
    for cell in cells {
        let Some(record) = cell.records().find(|record| !record.result.curve.is_empty()) else {
            continue;
        };
        let curve = &record.result.curve;
        let mut pixels: Vec<(u64, f64)> = curve
            .iter()
            .filter_map(|point| Some((point.step, *point.values.get("length")?)))
            .collect();
        if pixels.is_empty() {
            continue;
        }
        pixels.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let share = |share: f64| (share * pixels.len() as f64).ceil() as usize;
        let mut panel =
            Panel::new(Axis::linear("column"), Axis::linear("row, from below")).title(cell.label());
        let mut start = 0;
        for (upto, label) in GRADES {
            let end = share(upto);
            let places = pixels[start..end]
                .iter()
                .map(|(pixel, _)| ((pixel % SIDE) as f64, SIDE as f64 - (pixel / SIDE) as f64));
            panel = panel.series(Series::points(label, places));
            start = end;
        }
        figure = figure.panel(panel);
        let first = |name: &str| curve.iter().find_map(|point| point.values.get(name).copied());
        let number = |value: Option<f64>, digits| {
            value.map_or_else(|| Cell::text(""), |value| Cell::number(value, digits))
        };
        table = table.row(Row::new([
            Cell::text(cell.label()),
            Cell::number(pixels[0].1, 3),
            Cell::number(pixels[pixels.len() / 2].1, 3),
            Cell::number(pixels[pixels.len() - 1].1, 3),
            number(first("lambda"), 5),
            number(first("complexity"), 3),
            number(first("accuracy").map(|share| 100.0 * share), 2),
        ]));
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}
