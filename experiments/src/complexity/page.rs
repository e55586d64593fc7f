//! All measured exponents.

use super::{hyper, mce, sgd, threshold};
use crate::rftk::table2;
use mercer_report::{Scaling, Timing};

/// Each measurement with its series, in the order of the page of exponents.
pub(crate) const MEASURED: &[Timing] = &[
    Timing { measurement: &table2::MEASUREMENT, series: table2::SERIES, notes: &table2::NOTES },
    Timing { measurement: &sgd::MEASUREMENT, series: sgd::SERIES, notes: &[sgd::NOTE] },
    Timing { measurement: &hyper::MEASUREMENT, series: hyper::SERIES, notes: &hyper::NOTES },
    Timing { measurement: &mce::MEASUREMENT, series: mce::SERIES, notes: &[] },
    Timing { measurement: &mce::FEATURES_ALONE, series: mce::MORE_FEATURES, notes: &[] },
    Timing { measurement: &threshold::MEASUREMENT, series: threshold::SERIES, notes: &[] },
];

/// All series, paper by paper, in the order of the page of exponents. `cargo bench --bench claims` has criterion
/// time them, too.
///
/// ```
/// use mercer_experiments::claimed_costs;
/// let claims: Vec<&str> = claimed_costs().map(|cost| cost.claim).collect();
/// assert!(["O(m⁶)", "O(m²M⁴/v)", "O(MbT)", "O(nM)"].iter().all(|claim| claims.contains(claim)));
/// ```
pub fn claimed_costs() -> impl Iterator<Item = &'static Scaling> {
    MEASURED.iter().flat_map(|timing| timing.series)
}
