//! How far one draw of training images lies from another.

use super::figure2_sizes::verdict_of;
use crate::cell::compare;
use crate::{Artefact, Desk, ExperimentError, Rendered};
use mercer_render::{Cell, Column, Row, Table, probability};
use mercer_statistics::summarise;

const STUDY: &str = "audit/mce-draws";

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/mce-draws",
    title: "Draws of 500 images",
    studies: &[STUDY],
    datasets: &[],
    computed: &[],
    render,
};

/// What the text prints for 500 images, of one draw as it seems.
const PRINTED: [(&str, f64); 2] = [("gmce", 86.69), ("mce-erm", 86.96)];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let study = desk.cells(STUDY)?;
    let (spec, cells) = &*study;
    let mut table = Table::new(ARTEFACT.id, ARTEFACT.title)
        .caption("Percent of the 10,000 test images of MNIST, each draw with its own 500 training images and both embeddings on the same: mean, deviation over draws, least and most. The paper's text prints one number each, and for MNIST no number of steps. A verdict judges it as one more draw. Gain: with the bound minus without it, in points, with its 95 % interval and two-sided p, the larger of a bootstrap's over test rows and seeds and of the paired t-test's over seeds.")
        .columns(["Variant", "Method"].map(Column::left))
        .columns(["Accuracy", "least", "most", "Paper", "Verdict", "Gain", "p", "Draws"].map(Column::right));
    for variant in &spec.variants {
        let of = |method: &str| {
            let mut own = cells.iter().filter(|cell| cell.key().variant == variant.name);
            own.find(|cell| cell.key().method == method)
        };
        for (method, printed) in PRINTED {
            let Some(cell) = of(method) else { continue };
            let values: Vec<f64> = cell.values().into_iter().map(|(_, value)| value).collect();
            let Some(summary) = summarise(&values) else { continue };
            let end = |beyond: fn(f64, f64) -> f64| {
                Cell::number(values.iter().copied().fold(f64::NAN, beyond), 2)
            };
            let mut row = vec![
                Cell::text(&variant.name),
                Cell::text(cell.label()),
                Cell::mean_std(summary.mean, summary.sample_std, 2),
                end(f64::min),
                end(f64::max),
                Cell::number(printed, 2),
                Cell::text(verdict_of(cell, &values, printed)?),
            ];
            // Of a pair, in the row of its first.
            let rival = of(PRINTED[1].0).filter(|_| method == PRINTED[0].0);
            let test = rival.map(|rival| compare(cell, rival)).transpose()?.flatten();
            row.extend(match test {
                Some(test) => {
                    let (low, high) = test.interval;
                    let gain = format!("{:.2} ({low:.2} to {high:.2})", test.difference);
                    let p = Cell::text(probability(test.p_corrected)).sort(test.p_corrected);
                    [Cell::text(gain).sort(test.difference), p]
                }
                None => [Cell::text(""), Cell::text("")],
            });
            row.push(Cell::text(format!("{}/{}", values.len(), cell.repeats_of_paper())));
            table = table.row(Row::new(row));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
