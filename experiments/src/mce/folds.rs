//! Permuted folds against blocks of the file as it is: what the comparison columns rest on.

use super::{Cells, STUDIES, accuracy};
use crate::{Artefact, Desk, ExperimentError, Rendered, published};
use mercer_render::{Cell, Column, Row, Table};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "audit/mce-folds",
    title: "The same methods on permuted, unpermuted and stratified folds",
    studies: STUDIES,
    datasets: &[],
    computed: &[],
    render,
};

/// Methods here and in the printed table.
const METHODS: [(&str, &str); 5] = [
    ("gmce", "GMCE"),
    ("mce-erm", "ERM"),
    ("mce-cv", "CV"),
    ("mce-median", "MED"),
    ("majority", ""),
];

/// Variants, and the folds that they have.
const FOLDS: [(&str, &str); 3] = [
    ("released", "permuted (GMCE as run)"),
    ("file-order", "blocks of the file"),
    ("stratified", "stratified"),
];

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(desk)?;
    let (_, printed) = published("mce")?;
    let mut table = Table::new(ARTEFACT.id, ARTEFACT.title)
        .caption("Accuracy in percent over ten folds. Files are sorted by class (ecoli) or not; where they are, blocks of the file leave whole classes out of the training part. The printed deviations of ERM, CV and MED are those of such folds, the printed deviations of GMCE those of permuted ones.")
        .columns(["Dataset", "Method"].map(Column::left))
        .columns([Column::right("published")])
        .columns(FOLDS.map(|(_, head)| Column::right(head)));
    for dataset in &cells.table.0.datasets {
        for (method, name) in METHODS {
            let found: Vec<_> =
                FOLDS.iter().map(|(variant, _)| cells.find(variant, dataset, method)).collect();
            if found.iter().all(Option::is_none) {
                continue;
            }
            let theirs = printed.iter().find(|p| p.dataset == *dataset && p.method == name);
            let theirs =
                theirs.map_or_else(|| Cell::text(""), |p| Cell::mean_std(p.mean, p.std, 1));
            let head =
                [Cell::text(dataset), Cell::text(if name.is_empty() { method } else { name })];
            let row = head.into_iter().chain([theirs]).chain(found.into_iter().map(accuracy));
            table = table.row(Row::new(row).under(dataset));
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
