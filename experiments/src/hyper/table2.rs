//! Table 2: accuracy with learned kernels on six datasets, 40 % of the rows for training.

use super::{edges, ridges};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    let study = context.cells("hyper/table2")?;
    rendered.tables[0].notes.extend(edges::notes(&study.1));
    rendered.tables.push(edges::table("hyper/table2-edges", &study.1));
    rendered.tables.push(ridges::table("hyper/table2-ridges", &study.1));
    Ok(rendered)
}
