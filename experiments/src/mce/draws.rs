//! How far one draw of training images lies from another.

use super::stated_of;
use mercer_render::{Cell, Column, Row, Table, probability};
use mercer_report::compare;
use mercer_report::stated;
use mercer_report::{Artefact, ExperimentError, QuotedNumber, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

const STUDY: &str = "audit/mce-draws";

/// Methods whose accuracy after 500 images the text states, by its names.
const PRINTED: [(&str, &str); 2] =
    [("gmce", "GMCE-ARD with RCB"), ("mce-erm", "GMCE-ARD without RCB")];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let (spec, cells) = &*study;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Percent of the 10,000 test images of MNIST, each draw with its own 500 training images and both embeddings on the same: mean, deviation over draws, least and most; the difference is with the bound minus without it, in points, draw by draw. The paper's text prints one number each, and for MNIST no number of steps. A verdict judges it as one more draw of ours, by the 95 % interval for a next one. Beside the mean difference: its 95 % interval and two-sided p, the larger of a bootstrap's over test rows and seeds and of the paired t-test's over seeds.")
        .columns(["Variant", "Method"].map(Column::left))
        .columns(["Accuracy", "least", "most", "Paper", "Verdict", "95 %", "p", "Draws"].map(Column::right));
    for variant in &spec.variants {
        let of = |method: &str| {
            let mut own = cells.iter().filter(|cell| cell.key().variant == variant.name);
            own.find(|cell| cell.key().method == method)
        };
        let blank = || [Cell::text(""), Cell::text("")];
        let mut printed = Vec::new();
        for (method, name) in PRINTED {
            let number = stated_of("500", name)?;
            printed.extend(number.clone());
            let Some(cell) = of(method) else { continue };
            let values: Vec<f64> = cell.values().into_iter().map(|(_, value)| value).collect();
            let label = [Cell::text(&variant.name), Cell::text(cell.label())];
            table =
                table.row(line(context, artefact, label, cell, &values, number.as_ref(), blank())?);
        }
        let [first, second] = PRINTED.map(|(method, _)| of(method));
        let (Some(first), Some(second)) = (first, second) else { continue };
        let theirs: BTreeMap<u32, f64> = second.values().into_iter().collect();
        let pairs = first.values().into_iter();
        let differences: Vec<f64> =
            pairs.filter_map(|(repeat, own)| Some(own - theirs.get(&repeat)?)).collect();
        let test = match compare(first, second)? {
            Some(test) => {
                let (low, high) = test.interval;
                let p = Cell::text(probability(test.p_corrected)).sort(test.p_corrected);
                [Cell::text(format!("{low:.2} to {high:.2}")), p]
            }
            None => blank(),
        };
        let label = [Cell::text(&variant.name), Cell::text("difference")];
        let difference = match &printed[..] {
            [with, without] => Some(QuotedNumber {
                method: "with RCB minus without".to_owned(),
                mean: with.mean - without.mean,
                ..with.clone()
            }),
            _ => None,
        };
        table = table.row(line(
            context,
            artefact,
            label,
            first,
            &differences,
            difference.as_ref(),
            test,
        )?);
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

/// A row of values, one a draw, beside what is printed of one draw.
fn line(
    context: &RenderContext<'_>,
    artefact: &Artefact,
    label: [Cell; 2],
    cell: &StudyCell,
    values: &[f64],
    printed: Option<&QuotedNumber>,
    test: [Cell; 2],
) -> Result<Row, ExperimentError> {
    let draws = Cell::text(format!("{}/{}", values.len(), cell.repeats_of_paper()));
    let Some(summary) = summarise(values) else {
        let nothing = ["", "", "", "", ""].map(Cell::text);
        return Ok(Row::new(label.into_iter().chain(nothing).chain(test).chain([draws])));
    };
    let end = |beyond: fn(f64, f64) -> f64| values.iter().copied().fold(f64::NAN, beyond);
    let [printed, verdict] = stated(context, &artefact.id, cell, values, printed)?;
    let numbers = [
        Cell::mean_std(summary.mean, summary.sample_std, 2),
        Cell::number(end(f64::min), 2),
        Cell::number(end(f64::max), 2),
        printed,
        verdict,
    ];
    Ok(Row::new(label.into_iter().chain(numbers).chain(test).chain([draws])))
}
