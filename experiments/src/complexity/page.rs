//! All measured exponents on one page.

use super::{Growth, growth_table, growths, hyper, mce, sgd, threshold};
use crate::rftk::table2;
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, Simulation};

/// Each measurement with its series, in the order of the page.
pub(super) const MEASURED: &[(&Simulation, &[super::Scaling])] = &[
    (&table2::MEASUREMENT, table2::SERIES),
    (&sgd::MEASUREMENT, sgd::SERIES),
    (&hyper::MEASUREMENT, hyper::SERIES),
    (&mce::MEASUREMENT, mce::SERIES),
    (&mce::FEATURES_ALONE, mce::MORE_FEATURES),
    (&threshold::MEASUREMENT, threshold::SERIES),
];

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut missing = Vec::new();
    let mut all: Vec<Growth> = Vec::new();
    for &(measurement, series) in MEASURED {
        match growths(context, measurement, series) {
            Some(measured) => all.extend(measured),
            None => missing.push(measurement.name),
        }
    }
    let mut table = growth_table(&artefact.id, &artefact.title, &all);
    for note in table2::NOTES {
        table = table.note(note);
    }
    table = table.note(sgd::NOTE);
    if !missing.is_empty() {
        let missing = missing.join(", ");
        table = table.note(format!("Not run yet ({missing}): mercer reproduce {}", &artefact.id));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
