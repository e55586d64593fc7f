//! What became of the splits of Table 2 by the ridge that their search chose: a mean over a cell hides that it is of
//! two kinds of fits.

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::StudyCell;
use std::collections::BTreeMap;

const METHODS: [&str; 2] = ["hyper-krr", "hyper-krr-wishart"];

/// Accuracy and negative mass of one split, by the place of its ridge.
struct Split {
    accuracy: f64,
    negative: f64,
    /// Of the rows that the folds divided, in percent.
    right: f64,
}

/// What the columns mean.
const NOTES: [&str; 4] = [
    "Splits: how many chose this λ. Accuracy: on the test rows, in percent.",
    "Negative mass: mean share of negative eigenvalues of the learned kernel in the sum of absolute values. Right on the folds: rows that the folds had right, in percent.",
    "Cells whose searches all chose one λ are left out.",
    "audit/hyper-ridge changes λ alone, on other targets.",
];

/// A line a ridge that was chosen, for the cells whose searches chose several.
pub(crate) fn table(id: &str, cells: &[StudyCell]) -> Table {
    let mut table = Table::new(id, "Accuracy by the ridge that the search chose")
        .caption("Accuracy of hyper-KRR on the splits of Table 2, grouped by the ridge λ that the search by folds chose. The splits differ in more than λ, so a line does not measure its effect.")
        .columns(["Dataset", "Variant", "Method"].map(Column::left))
        .columns(["λ", "splits"].map(Column::right))
        .columns(["mean", "least", "largest"].map(|head| Column::right(head).under("accuracy")))
        .columns(["negative mass", "right on the folds"].map(Column::right));
    table = NOTES.into_iter().fold(table, Table::note);
    for cell in cells.iter().filter(|cell| METHODS.contains(&cell.key().method.as_str())) {
        let groups = by_ridge(cell);
        if groups.len() < 2 {
            continue;
        }
        for (exponent, splits) in groups {
            let mean = |of: &dyn Fn(&Split) -> f64| {
                splits.iter().map(of).sum::<f64>() / splits.len() as f64
            };
            let accuracies = || splits.iter().map(|split| split.accuracy);
            table = table.row(Row::new([
                Cell::text(&cell.key().dataset),
                Cell::text(&cell.key().variant),
                Cell::text(cell.label()),
                Cell::text(format!("1e{exponent}")).sort(10f64.powi(exponent)),
                Cell::count(splits.len()),
                Cell::number(mean(&|split| split.accuracy), 2),
                Cell::number(accuracies().fold(f64::INFINITY, f64::min), 2),
                Cell::number(accuracies().fold(0.0, f64::max), 2),
                Cell::number(mean(&|split| split.negative), 3),
                Cell::number(mean(&|split| split.right), 1),
            ]));
        }
    }
    table
}

/// The splits of a cell by the power of ten of the ridge that their search chose.
fn by_ridge(cell: &StudyCell) -> BTreeMap<i32, Vec<Split>> {
    let mut groups: BTreeMap<i32, Vec<Split>> = BTreeMap::new();
    for record in cell.records() {
        let fact = |name: &str| record.result.facts.get(name).copied();
        let found = (|| {
            let right = fact("search-right")? / fact("search-points")?;
            let split = Split {
                accuracy: 100.0 * record.result.metrics.get("accuracy")?,
                negative: fact("negative-mass")?,
                right: 100.0 * right,
            };
            Some((fact("chosen-lambda")?.log10().round() as i32, split))
        })();
        if let Some((exponent, split)) = found {
            groups.entry(exponent).or_default().push(split);
        }
    }
    groups
}
