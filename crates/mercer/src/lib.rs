//! Mercer from Rust: fit kernel methods to a table, with every registered method at hand.
//!
//! ```
//! use mercer::{Splitting, evaluate, fit, table};
//! let table = table("x,kind\n-2,low\n-1,low\n-1.5,low\n1,high\n2,high\n1.5,high\n".as_bytes())?;
//! let model = fit("kernel-ridge", &table)?;
//! assert_eq!(model.header.training["accuracy"], 1.0);
//! let found = evaluate("kernel-ridge", &table, Splitting::Folds { folds: 3, repeats: 1 })?;
//! assert_eq!(found.splits.len(), 3);
//! # Ok::<(), mercer::WorkbenchError>(())
//! ```
//!
//! These functions take the defaults of the command line. The functions of [`workbench`] take [`Choices`] and any list
//! of methods. The other modules are the crates below: kernels, bounds, statistics, data, and studies that are
//! recorded. `crates/mercer/examples` has four programs to start from.
//!
//! It knows no more than the crates below: its functions hand them the list of methods and the defaults.

pub use mercer_datasets as datasets;
pub use mercer_harness as harness;
pub use mercer_kernels as kernels;
pub use mercer_learning as learning;
pub use mercer_linalg as linalg;
pub use mercer_methods::all as methods;
pub use mercer_records as records;
pub use mercer_statistics as statistics;
pub use mercer_theory as bounds;
pub use mercer_workbench as workbench;

pub use mercer_learning::Method;
pub use mercer_workbench::{
    Budget, Choices, Evaluation, Model, Predicted, Splitting, Table, WorkbenchError,
};

pub use mercer_workbench::{Comparison, DivideBy};

use mercer_datasets::{RowFile, SchemaOptions};
use std::io::Read;
use std::path::Path;

/// Reads a table from a file: CSV, Parquet or svmlight, packed or not. The last column is the target.
///
/// # Errors
/// If it cannot be read as a table; the message names file, line and column.
pub fn open(path: impl AsRef<Path>) -> Result<Table, WorkbenchError> {
    Table::read(&RowFile::open(path.as_ref(), None)?, &SchemaOptions::default())
}

/// Reads a table from anything that can be read.
///
/// # Errors
/// As [`open`].
pub fn table(reader: impl Read) -> Result<Table, WorkbenchError> {
    Table::read(&RowFile::spooled(reader, "a table", None)?, &SchemaOptions::default())
}

/// Fits a method, by its name, to all rows of a table.
///
/// # Errors
/// If there is no such method, or it cannot fit the table.
pub fn fit(method: &str, table: &Table) -> Result<Model, WorkbenchError> {
    mercer_workbench::fit(&methods(), method, table, &Choices::plain())
}

/// Fits a method on parts of a table and scores it on the others.
///
/// # Errors
/// As [`fit`], or if the rows cannot be divided so.
pub fn evaluate(
    method: &str,
    table: &Table,
    splitting: Splitting,
) -> Result<Evaluation, WorkbenchError> {
    mercer_workbench::evaluate(&methods(), method, table, splitting, &Choices::plain(), |_, _| {})
}

/// Fits several methods on the same splits of a table, and tests their differences.
///
/// ```
/// use mercer::{Splitting, compare, table};
/// let table = table("x,kind\n-2,low\n-1,low\n-1.5,low\n1,high\n2,high\n1.5,high\n".as_bytes())?;
/// let splitting = Splitting::Folds { folds: 3, repeats: 2 };
/// let found = compare(&["kernel-ridge", "majority"], &table, splitting)?;
/// assert_eq!(found.pairs[0].best, "kernel-ridge");
/// # Ok::<(), mercer::WorkbenchError>(())
/// ```
///
/// # Errors
/// As [`evaluate`], or if there are fewer than two methods.
pub fn compare(
    names: &[&str],
    table: &Table,
    splitting: Splitting,
) -> Result<Comparison, WorkbenchError> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let choices = Choices::plain();
    mercer_workbench::compare(&methods(), &names, table, splitting, &choices, |_, _, _| {})
}
