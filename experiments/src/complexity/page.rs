//! All measured exponents on one page.

use super::{Growth, growth_table, growths, hyper, mce, sgd, threshold};
use crate::rftk::table2;
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, Simulation};

/// Each measurement with its series, in the order of the page.
const MEASURED: &[(&Simulation, &[super::Scaling])] = &[
    (&table2::MEASUREMENT, table2::SERIES),
    (&sgd::MEASUREMENT, sgd::SERIES),
    (&hyper::MEASUREMENT, hyper::SERIES),
    (&mce::MEASUREMENT, mce::SERIES),
    (&mce::FEATURES_ALONE, mce::MORE_FEATURES),
    (&threshold::MEASUREMENT, threshold::SERIES),
];

/// All series, paper by paper, in the order of the page of exponents. `cargo bench --bench claims` has criterion
/// time them, too.
///
/// ```
/// use mercer_experiments::claimed_costs;
/// let claims: Vec<&str> = claimed_costs().map(|cost| cost.claim).collect();
/// assert!(["O(m⁶)", "O(m²M⁴/v)", "O(MbT)", "O(nM)"].iter().all(|claim| claims.contains(claim)));
/// ```
pub fn claimed_costs() -> impl Iterator<Item = &'static super::Scaling> {
    MEASURED.iter().flat_map(|(_, series)| series.iter())
}

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
