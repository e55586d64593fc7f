//! The closed forms by explicit inverses in single precision against double precision: where do the
//! printed deviations of 5 to 27 points come from?

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_report::{PairSide as Side, not_run_yet};

/// Study and variant of each column, and its head.
const COLUMNS: [(&str, &str, &str); 3] = [
    ("rftk/table1", "released", "single precision, inverse"),
    ("audit/rftk", "double", "double precision"),
    ("audit/rftk", "pseudo-inverse", "pseudo-inverse"),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    rendered.tables.push(deviations(context)?);
    Ok(rendered)
}

fn deviations(context: &RenderContext<'_>) -> Result<Table, ExperimentError> {
    let mut table = Table::new("audit/rftk-precision-deviations", "Deviations of the closed forms over repeats")
        .caption("Deviation of the test accuracy over repeats (divided by J − 1; the printed one by J), in points. A bold one is above 10 points: no sampling of hundreds of test rows explains that.")
        .columns(["Dataset", "Method"].map(Column::left))
        .columns([Column::right("published")])
        .columns(COLUMNS.map(|(.., head)| Column::right(head)));
    let (_, printed) = context.catalogue.published("rftk")?;
    let sides = COLUMNS.iter().flat_map(|(study, variant, _)| {
        ["kernel-ridgeless", "rf-ridgeless"].map(|method| Side::new(study, variant, method))
    });
    if let Some(note) = not_run_yet(context, sides.collect::<Vec<_>>().iter())? {
        table = table.note(note);
    }
    let studies = [context.cells("rftk/table1")?, context.cells("audit/rftk")?];
    for (method, theirs, title) in
        [("kernel-ridgeless", "KernelRidgeless", "kernel ridgeless"), ("rf-ridgeless", "RF", "RF")]
    {
        for dataset in &studies[1].0.datasets {
            let shown = |value: Option<f64>| match value {
                None => Cell::text("-"),
                Some(value) if value > 10.0 => Cell::number(value, 2).bold(),
                Some(value) => Cell::number(value, 2),
            };
            let cell = |study: &str, variant: &str| {
                let index = usize::from(study == "audit/rftk");
                studies[index].1.iter().find(|cell| {
                    let key = cell.key();
                    (key.variant.as_str(), key.dataset.as_str(), key.method.as_str())
                        == (variant, dataset, method)
                })
            };
            let ours = |study, variant| {
                let score = cell(study, variant).and_then(StudyCell::score);
                score.filter(|score| score.repeats > 1).map(|score| score.std)
            };
            let theirs = printed.iter().find(|p| p.dataset == *dataset && p.method == theirs);
            let mut row = vec![
                Cell::text(dataset),
                Cell::text(title),
                shown(theirs.map(|published| published.std)),
            ];
            row.extend(COLUMNS.map(|(study, variant, _)| shown(ours(study, variant))));
            table = table.row(Row::new(row));
        }
    }
    Ok(table)
}
