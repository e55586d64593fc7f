//! The four papers: what is declared about them, and the tables, figures, trials and simulations that need Rust.
//!
//! The folders beside `src` declare: `specs` what is run, `artefacts` what is shown, `published` what is printed,
//! `claims` what is said, `findings` why numbers differ. [`catalogue`] has it all; `mercer-report` makes a report of it.
//!
//! It knows no learner by its code but in simulations and in trials that are whole curves.

mod askl;
mod audit;
mod complexity;
mod declared;
mod hyper;
mod mce;
mod rftk;
mod scalars;
mod theory;

pub use complexity::page::claimed_costs;
pub use declared::catalogue;
pub use mercer_report::Scaling;

use mercer_learning::Method;
use mercer_methods::all;

/// What a plan may name: every registered method, and the curves.
pub fn plannable() -> Vec<Method> {
    all().into_iter().chain(catalogue().curves().iter().map(|curve| curve.method)).collect()
}
