//! Table 2: accuracy or RMSE of the five methods on twelve datasets, variant by variant.

use crate::audit::askl_underlines::{judged, significant};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    let printed = significant(&judged()?);
    let verdicts = rendered.tables.pop().map(|verdicts| {
        verdicts.note(format!("{} Row by row: audit/askl-underlines.", printed.sentence()))
    });
    rendered.tables.extend(verdicts);
    Ok(rendered)
}
