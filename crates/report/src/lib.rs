//! From records to a report: what a paper prints beside what came out here.
//!
//! A [`Catalogue`] declares papers: [`Artefact`]s (tables and figures), studies, printed numbers, [`Claim`]s and
//! [`Finding`]s. A [`RenderContext`] is what a rendering sees of it: the catalogue and records, no data and no learner. The
//! cells of a study are [`StudyCell`]s, [`compare`] tests two of them, and [`write()`] renders everything into a folder.
//!
//! It names no paper.

mod again;
mod artefact;
mod board;
mod catalogue;
mod cell;
mod claim;
mod claims_report;
mod comparison;
mod context;
mod coverage;
mod curves;
mod errata;
mod error;
mod facts;
mod finding;
mod growth;
mod mean_ranks;
mod note;
mod numbers;
mod overview;
mod pairs;
mod paper;
mod peak;
mod published;
mod query;
mod reachable_keys;
mod record_set;
mod rendered;
mod report;
mod results_table;
mod shown;
mod simulation;
mod site;
mod structure;
mod template;
mod work;

pub use again::{Again, Tally, tally_in_words};
pub use artefact::{Artefact, Renderer};
pub use catalogue::{Catalogue, Declared, Files, Ratio, Texts};
pub use cell::{Comparison, Score, StudyCell, common_repeats, compare};
pub use claim::{
    Ahead, Below, Best, Check, Claim, ClaimResult, Compare, Effect, Extremum, Falls, Family, Holds,
    Ordered, Outcome, Related, Rule, ahead_in_words,
};
pub use comparison::{PublishedComparison, badge, shown, summary};
pub use context::RenderContext;
pub use coverage::coverage;
pub use error::ExperimentError;
pub use finding::{Cause, Cells, Finding, Side};
pub use growth::{DOMINANT, Operations, REPEATS, Scaling, Timing};
pub use numbers::ArtefactNumbers;
pub use pairs::{Side as PairSide, not_run_yet};
pub use paper::{Headline, Paper};
pub use peak::Repeats;
pub use published::{PublishedCell, QuotedNumber};
pub use query::{Inputs, Scalar};
pub use reachable_keys::ReachableKeys;
pub use record_set::RecordSet;
pub use rendered::{CellReport, Drawing, PublishedNumber, Rendered};
pub use report::{Summary, Written, write};
pub use simulation::Simulation;
pub use work::Work;
