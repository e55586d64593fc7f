//! Every table and figure of the papers, and of the audits: the specs say what is run, one small
//! module each says what is shown.
//!
//! An [`Artefact`] names the studies whose records it needs and renders them; [`ARTEFACTS`] lists
//! them all. A [`Desk`] is what a rendering sees: records and specs, no data and no learner.
//! Claims and findings are checked against the same records.
//!
//! It knows no learner by its code, only by its name in a spec.

mod accuracies;
mod again;
mod answers;
mod artefact;
mod asked;
mod askl;
mod audit;
mod cell;
mod claim;
mod complexity;
mod computed;
mod coverage;
mod desk;
mod error;
mod finding;
mod hyper;
mod judged;
mod mce;
mod numbers;
mod overview;
mod papers;
mod peak;
mod published;
mod query;
mod report;
mod rftk;
mod shelf;
mod site;
mod study;
mod theory;
mod work;

pub use again::Again;
pub use artefact::{ARTEFACTS, Artefact, CellReport, Drawing, PAPERS, Rendered, select};
pub use asked::Asked;
pub use cell::{Comparison, Score, StudyCell, compare};
pub use claim::{Check, Claim, ClaimResult, Effect, Family, Holds, Outcome, Rule, claims};
pub use complexity::{Scaling, claimed_costs};
pub use computed::{COMPUTED, Computed};
pub use coverage::coverage;
pub use desk::Desk;
pub use error::ExperimentError;
pub use finding::{Cause, Cells, Finding, Side, findings};
pub use numbers::ArtefactNumbers;
pub use papers::{FOUR, Paper};
pub use published::{PublishedCell, QuotedNumber, published, quoted};
pub use report::{Summary, Written, write};
pub use shelf::Shelf;
pub use study::{STUDIES, study};
pub use work::{Work, work};

use mercer_harness::Path;
use mercer_learning::Method;
use mercer_methods::all;

/// Trials that are whole curves.
pub const PATHS: &[Path] = &[
    rftk::double_descent::PATH,
    rftk::averaged::PATH,
    rftk::sgd_factors::PATH,
    rftk::width::PATH,
    hyper::approximation::PATH,
    hyper::transfer::PATH,
    mce::curves::PATH,
    mce::sizes::WITH_BOUND,
    mce::sizes::WITHOUT_BOUND,
    mce::sizes::SVC,
    mce::sizes::SVC_CV,
    mce::sizes::GPC,
    mce::pixel_lengths::PATH,
    hyper::known_kernel::PATH,
    hyper::pair_audit::PATH,
    hyper::exact_path::PATH,
    hyper::spectrum_audit::PATH,
    hyper::third_factor::PATH,
];

/// What a plan may name: every registered method, and the curves.
pub fn plannable() -> Vec<Method> {
    all().into_iter().chain(PATHS.iter().map(|path| path.method)).collect()
}
