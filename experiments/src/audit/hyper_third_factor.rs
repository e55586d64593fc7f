//! Random Fourier features for the third factor of the hyper-kernel, beside landmark pairs.

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

const STUDY: &str = "audit/hyper-third-factor";

/// Mean and deviation over repeats of a value, by the size of the basis.
fn means(cell: &StudyCell, name: &str) -> BTreeMap<u64, (f64, f64)> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        if let Some(value) = point.values.get(name) {
            values.entry(point.step).or_default().push(*value);
        }
    }
    let summarised = values.into_iter().filter_map(|(size, values)| {
        let summary = summarise(&values)?;
        Some((size, (summary.mean, summary.sample_std)))
    });
    summarised.collect()
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Relative distance of a learned kernel from the exact solution of hyper-KRR over all pairs, on pairs of a test and a training point (Frobenius norm, ideal target, λ = 1e-3, total variance), mean ± deviation over repeats: in the span of as many random Fourier features of the means of pairs, of the pairs of M landmarks, and of these with factors of 25 columns (linear time). Multiply-adds of the normal matrix over all pairs with 25 columns: D²/2 products of two features, or a multiset of four landmarks each.")
        .columns([Column::left("Dataset")])
        .columns(["Functions", "random features", "landmark pairs", "linear time", "multiply-adds, random", "multiply-adds, landmarks", "Repeats"].map(Column::right));
    for cell in &study.1 {
        let of = |name: &str| means(cell, &format!("error {name}"));
        let (random, nystrom, linear) = (of("random features"), of("nystrom"), of("linear time"));
        let work = |name: &str| means(cell, &format!("operations {name}"));
        let (random_work, linear_work) = (work("random features"), work("linear time"));
        for size in random.keys() {
            let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
            let shown = |values: &BTreeMap<u64, (f64, f64)>| match values.get(size) {
                Some((mean, std)) => Cell::text(format!("{mean:.4} ± {std:.4}")).sort(*mean),
                None => Cell::text("-"),
            };
            let count = |values: &BTreeMap<u64, (f64, f64)>| match values.get(size) {
                Some((mean, _)) => Cell::text(format!("{mean:.1e}")).sort(*mean),
                None => Cell::text("-"),
            };
            table = table.row(Row::new([
                Cell::text(&cell.key().dataset),
                Cell::count(*size as usize),
                shown(&random),
                shown(&nystrom),
                shown(&linear),
                count(&random_work),
                count(&linear_work),
                Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
            ]));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
