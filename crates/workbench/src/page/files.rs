//! Words and tables over several files.

use super::{p_value, scale_of};
use crate::Across;
use mercer_render::{Cell, Column, Row, Table};
use std::fmt::Write as _;

/// How the files are compared, and the test of all methods at once.
pub(super) fn intro(across: &Across) -> String {
    let mut text =
        "One number a file and method: the mean over its splits. Ranks count from 1, the \
                    best, and ties share the mean of their places."
            .to_owned();
    if let Some(test) = &across.friedman {
        let files = test.datasets;
        // Ranks that are the same on every file leave that correction no spread: its p is 0 by convention.
        let (form, p) = if test.degenerate {
            ("Friedman's test, uncorrected since all files rank them alike", test.p_chi_squared)
        } else {
            ("Friedman's test with Iman and Davenport's correction", test.p_iman_davenport)
        };
        let _ = write!(
            text, // writing to a string cannot fail
            " That all methods rank alike: {form}, p {} over {files} files.",
            if p < 1e-4 { "< 0.0001".to_owned() } else { format!("= {p:.4}") }
        );
    }
    if across.methods.iter().any(|method| method.rank.is_none()) {
        text += " A method that failed on a file has no rank.";
    }
    text
}

/// The mean scores, a row a file, and the mean ranks.
pub(super) fn means(across: &Across) -> Table {
    let heads = std::iter::once(Column::left("File"))
        .chain(["target", "metric"].map(Column::left))
        .chain(across.methods.iter().map(|method| Column::right(method.method.clone())));
    let mut table = Table::new("across-means", "Mean scores")
        .caption("Bold is the best of a file; the last row has the mean ranks.")
        .columns(heads);
    for (at, file) in across.files.iter().enumerate() {
        let (factor, digits) = scale_of(file.metric);
        let means = || across.methods.iter().map(|method| method.means[at]);
        let larger = file.metric.larger_is_better();
        let best = means().flatten().reduce(|a, b| if larger { a.max(b) } else { a.min(b) });
        let metric = if factor > 1.0 {
            format!("{}, %", file.metric.name())
        } else {
            file.metric.name().to_owned()
        };
        let mut cells =
            [&file.data, &file.target, &metric].map(|text| Cell::text(text.clone())).to_vec();
        cells.extend(means().map(|mean| match mean {
            Some(mean) => {
                let cell = Cell::number(factor * mean, digits);
                if best.is_some_and(|best| best.to_bits() == mean.to_bits()) {
                    cell.bold()
                } else {
                    cell
                }
            }
            None => Cell::missing("failed", "see the file below"),
        }));
        table = table.row(Row::new(cells));
    }
    let mut ranks = ["mean rank", "", ""].map(Cell::text).to_vec();
    let of = |rank: Option<f64>| rank.map_or_else(|| Cell::text("-"), |r| Cell::number(r, 2));
    ranks.extend(across.methods.iter().map(|method| of(method.rank)));
    table.row(Row::new(ranks))
}

/// The tests of the best method against the others.
pub(super) fn pairs(across: &Across) -> Table {
    let mut table = Table::new("across-pairs", "The best mean rank against the others")
        .caption(
            "Wilcoxon's signed-rank test over the files, of differences of accuracies or of the \
             logarithms of errors; Holm adjusts for the number of pairs. That the best was chosen \
             by looking is in neither.",
        )
        .columns([Column::left("Best"), Column::left("Other")])
        .columns(["better", "equal", "worse", "p", "p Holm"].map(Column::right));
    for pair in &across.pairs {
        let [better, equal, worse] = pair.wins.map(Cell::count);
        table = table.row(Row::new([
            Cell::text(pair.best.clone()),
            Cell::text(pair.other.clone()),
            better,
            equal,
            worse,
            p_value(pair.p),
            p_value(pair.p_holm),
        ]));
    }
    table
}
