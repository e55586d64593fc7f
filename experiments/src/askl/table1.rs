//! Table 1: the compared methods, from the registry.

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};

/// What the paper's table says of each method: kernel, density, regularizer.
const PRINTED: [(&str, &str, &str, &str); 5] = [
    ("sk", "stationary", "assigned", "‖W‖²_F"),
    ("nsk", "non-stationary", "assigned", "‖W‖²_F"),
    ("skl", "stationary", "learned", "‖W‖²_F"),
    ("nskl", "non-stationary", "learned", "‖W‖²_F"),
    ("askl", "non-stationary", "learned", "‖W‖_*, ‖φ(X)‖²_F"),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("The paper's Table 1, with what each method costs here: n rows, d columns, D features, K outputs, batch size and epochs as set.")
        .columns(
            ["Method", "Kernel", "Density", "Regularizer", "Fit", "Predict a row", "Source"]
                .map(Column::left),
        );
    for (name, kernel, density, regularizer) in PRINTED {
        let method = mercer_learning::find(context.methods, name)
            .map_err(mercer_harness::HarnessError::from)?;
        table = table.row(Row::new(
            [
                method.title,
                kernel,
                density,
                regularizer,
                method.cost.fit,
                method.cost.predict,
                method.cites,
            ]
            .map(Cell::text),
        ));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
