//! From a user's own table to a model that lasts.
//!
//! A [`Table`] is a file read into memory with the [`mercer_datasets::Schema`] of its columns. [`fit`] makes a
//! [`Model`] of it, which predicts rows of other files with the same columns. The model is saved to and loaded from one
//! file. [`evaluate`] and [`compare`] fit on parts of a table and score on the others; [`tune`] chooses settings on it.
//! [`rank`] ranks the methods of anybody's [`ScoreTable`].
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `X` | `raw` | numbers of a table, NaN where one is missing | `n × d` |
//! | `J` | `splits` | ways in which the rows are divided | |
//!
//! It is handed the methods and names none of them, nor any paper.

mod across;
mod adjustment;
mod compare;
mod conformal;
mod coverage;
mod curves;
mod curves_page;
mod division;
mod error;
mod evaluate;
mod file;
mod fit;
mod header;
mod importance;
mod intervals;
mod kernel_matrix;
mod model;
mod notes;
mod output;
mod page;
mod passes;
mod prerequisites;
mod provenance;
mod ranking;
mod rescaling;
mod said;
mod score;
mod splitting;
mod stream;
mod table;
mod tuning;
mod tuning_page;
mod unheld;
mod weights;
mod windows;

pub use across::{Across, MethodAcross, PairAcross, across};
pub use adjustment::{Adjustment, Threshold};
pub use compare::{Comparison, MethodScores, Pair, compare};
pub use conformal::{Conformal, Sets};
pub use coverage::{Coverage, Wanted, coverage};
pub use division::{DivideBy, Division};
pub use error::WorkbenchError;
pub use evaluate::{Estimate, Evaluation, HeldOut, evaluate, evaluate_model};
pub use fit::{Choices, fit, method_for};
pub use header::{Chosen, DataNote, Header, MAJOR, MINOR, Origin};
pub use importance::{CurvePoint, Dependence, Importance};
pub use kernel_matrix::scaling_of;
pub use model::{Model, Predicted};
pub use notes::{no_better, rows_left_out, solved_at};
pub use output::Output;
pub use page::{across_page, comparison_page, evaluation_page};
pub use passes::fit_in_passes;
pub use provenance::Provenance;
pub use ranking::{RankedMethod, Ranking, ScoreColumns, ScoreTable, rank};
pub use score::{Scores, primary};
pub use splitting::Splitting;
pub use stream::{ExtraColumns, PredictedRows};
pub use table::{RowWeights, Table, held, with_aside};
pub use tuning::{Budget, tune};
pub use tuning_page::tuning_page;
pub use unheld::Unheld;
pub use weights::{ClassWeight, require_weighing};

/// The snippets of the book, run like the examples of this page.
#[cfg(doctest)]
// A block of the book may name the file that it is.
#[allow(rustdoc::invalid_codeblock_attributes)]
mod book {
    #[doc = include_str!("../../../book/src/statistics.md")]
    struct Statistics;
    #[doc = include_str!("../../../book/src/extend.md")]
    struct Extend;
}
