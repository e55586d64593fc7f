//! Errors in print: what stands there, what is right, which test shows it.

use crate::rendered::Head;
use mercer_render::{Cell, Column, Row, Table};
use serde::Deserialize;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Erratum {
    /// Where in the text or the code.
    place: String,
    /// What stands there.
    printed: String,
    /// What is right.
    correct: String,
    /// What is used here.
    here: String,
    /// Files and test functions, `crates/kernels/src/feature_map.rs golden_population_kernels`.
    shown_by: Vec<String>,
}

/// A line each.
pub(crate) fn table(artefact: Head<'_>, errata: &[Erratum]) -> Table {
    let table = Table::new(artefact.id, artefact.title)
        .caption("What is printed, what the derivation gives, what is used here, and the tests that show it.")
        .columns(["Where", "Printed", "Correct", "Here", "Shown by"].map(Column::left));
    errata.iter().fold(table, |table, own| {
        let tests: Vec<String> =
            own.shown_by.iter().map(|test| test.replacen(' ', ": ", 1)).collect();
        let texts = [&own.place, &own.printed, &own.correct, &own.here].map(Cell::text);
        table.row(Row::new(texts.into_iter().chain([Cell::text(tests.join("; "))])))
    })
}
