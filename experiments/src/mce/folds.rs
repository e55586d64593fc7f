//! Permuted folds against blocks of the file as it is: what the comparison columns rest on.

use super::{Cells, accuracy};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};

/// Methods here and in the printed table.
const METHODS: [(&str, &str); 6] = [
    ("gmce", "GMCE"),
    ("gmce-sgd", "GMCE-SGD"),
    ("mce-erm", "ERM"),
    ("mce-cv", "CV"),
    ("mce-median", "MED"),
    ("majority", ""),
];

/// Variants, and the folds that they have.
const FOLDS: [(&str, &str); 4] = [
    ("released", "permuted (GMCE as run)"),
    ("training-scale", "permuted, scaled on the training part"),
    ("file-order", "blocks of the file"),
    ("stratified", "stratified"),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(context)?;
    let (_, printed) = context.catalogue.published("mce")?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Accuracy in percent over ten folds. Published deviations are divided by the number of folds, ours by one less, which makes them 5 % larger. The files of wine, ecoli and banknote are sorted by class, so that a block of them takes all its rows from one class or a few, which the training part then lacks; of the smallest classes of ecoli it takes all. On ecoli the printed deviations of ERM and CV have the size of those on blocks of the file, that of GMCE the size of the one on permuted folds; on wine the printed CV is nearer to blocks, ERM to permuted folds in its deviation alone; on the others neither was run on blocks; MED has an account of its own (audit/mce-median-printed). Inputs are scaled to [0, 1] over the whole file, as in the authors' code, but for the stratified folds and the column that says otherwise.")
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
