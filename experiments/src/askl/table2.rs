//! Table 2: accuracy or RMSE of the five methods on twelve datasets, variant by variant.

use crate::audit::askl_underlines::{judged, significant};
use mercer_report::{Artefact, Desk, ExperimentError, Rendered};

pub(crate) fn render(desk: &Desk<'_>, artefact: &Artefact) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(desk)?;
    let printed = significant(&judged()?);
    let verdicts = rendered.tables.pop().map(|verdicts| {
        verdicts.note(format!("{} Row by row: audit/askl-underlines.", printed.sentence()))
    });
    rendered.tables.extend(verdicts);
    Ok(rendered)
}
