//! Every table and figure of the papers, and of the audits: the specs say what is run, one small
//! module each says what is shown.
//!
//! An [`Artefact`] names the studies whose records it needs and renders them; [`catalogue`] has them
//! all. A [`Desk`] is what a rendering sees: records and specs, no data and no learner.
//! Claims and findings are checked against the same records.
//!
//! It knows no learner by its code, only by its name in a spec.

mod again;
mod answers;
mod artefact;
mod asked;
mod askl;
mod audit;
mod catalogue;
mod cell;
mod claim;
mod complexity;
mod computed;
mod coverage;
mod declared;
mod desk;
mod errata;
mod error;
mod finding;
mod hyper;
mod judged;
mod mce;
mod numbers;
mod overview;
mod pairs;
mod paper;
mod peak;
mod published;
mod query;
mod report;
mod results_table;
mod rftk;
mod scalars;
mod shelf;
mod site;
mod theory;
mod work;

pub use again::Again;
pub use artefact::{Artefact, CellReport, Drawing, Rendered, Renderer};
pub use asked::Asked;
pub use catalogue::{Catalogue, Declared, Files, Ratio, Texts};
pub use cell::{Comparison, Score, StudyCell, compare};
pub use claim::{Check, Claim, ClaimResult, Effect, Family, Holds, Outcome, Rule};
pub use complexity::{Scaling, claimed_costs};
pub use computed::Computed;
pub use coverage::coverage;
pub use declared::catalogue;
pub use desk::Desk;
pub use error::ExperimentError;
pub use finding::{Cause, Cells, Finding, Side};
pub use numbers::ArtefactNumbers;
pub use paper::Paper;
pub use published::{PublishedCell, QuotedNumber};
pub use query::{Inputs, Scalar};
pub use report::{Summary, Written, write};
pub use shelf::Shelf;
pub use work::Work;

use mercer_learning::Method;
use mercer_methods::all;

/// What a plan may name: every registered method, and the curves.
pub fn plannable() -> Vec<Method> {
    all().into_iter().chain(catalogue().curves().iter().map(|curve| curve.method)).collect()
}
