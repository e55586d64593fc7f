//! The figure above the README: every printed number, by what became of it.

use crate::CellReport;
use crate::artefact::PAPERS;
use crate::judged::{CLASSES, class};
use mercer_render::{Axis, Figure, Panel, Raster};

/// Red, green and blue of each class: blues come out, orange and brown differ, greys cannot say. Told apart by any
/// colour vision, and in grey by their order.
const COLORS: [[u8; 3]; CLASSES.len()] = [
    [0x00, 0x3F, 0x6B],
    [0x00, 0x72, 0xB2],
    [0x8F, 0xC4, 0xE8],
    [0xD8, 0xDC, 0xE0],
    [0xF0, 0xC0, 0x6A],
    [0xE0, 0x95, 0x1F],
    [0xB8, 0x4A, 0x00],
    [0x9A, 0xA1, 0xA8],
    [0x5B, 0x62, 0x69],
];

/// Columns of the map: a strip is cut into so many.
const PARTS: usize = 400;
/// Rows of the map a paper, of which the last is a gap.
const ROWS: usize = 5;

/// One strip a paper, over all variants.
pub(crate) fn overview(reports: &[&CellReport]) -> Figure {
    let mut names = Vec::new();
    let mut colors = Vec::new();
    let mut all = [0; CLASSES.len()];
    // The first paper stands on top.
    for (paper, _) in PAPERS.iter().rev() {
        let own = reports.iter().filter(|own| own.artefact.split('/').next() == Some(paper));
        let mut classes: Vec<usize> = own.filter_map(|report| class(report)).collect();
        if classes.is_empty() {
            continue;
        }
        classes.sort_unstable();
        for &class in &classes {
            all[class] += 1;
        }
        let count = classes.len();
        let strip: Vec<[u8; 3]> =
            (0..PARTS).map(|part| COLORS[classes[part * count / PARTS]]).collect();
        (1..ROWS).for_each(|_| colors.extend(&strip));
        colors.extend([[0xFF; 3]; PARTS]);
        names.push(format!("{paper} ({count})"));
    }
    let y = Axis::names("", names.iter().map(String::as_str)).range(-0.6, names.len() as f64 - 0.4);
    let x = Axis::linear("share of the printed numbers, over all variants, %").range(0.0, 100.0);
    // The middle of a strip, without its gap, stands at its tick.
    let (low, high) = (-0.4, names.len() as f64 - 0.4);
    let panel = Panel::new(x, y).raster(Raster::new(PARTS, (0.0, low), (100.0, high), colors));
    let counts: Vec<String> = CLASSES
        .iter()
        .zip(all)
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    let title = format!("Every printed number, by what became of it: {}", counts.join(", "));
    let figure = Figure::new("overview", title).panel(panel);
    let shown = CLASSES.iter().zip(COLORS).zip(all).filter(|(_, n)| *n > 0);
    shown.fold(figure, |figure, ((name, color), _)| figure.key(*name, color))
}
