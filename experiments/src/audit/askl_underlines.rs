//! What the paper's own summaries say about its underlines.

use crate::askl::METHODS;
use mercer_render::{Cell, Column, Row, Table, probability};
use mercer_report::{Artefact, ExperimentError, PublishedCell, RenderContext, Rendered};
use mercer_statistics::{MeanStd, paired_summaries, welch_summaries};

/// Level of the test; the paper does not state its own.
const LEVEL: f64 = 0.05;

/// `n_test / n_train` of the paper's splits; on MNIST the test part is fixed, and its repeats are seeds.
fn test_over_train(dataset: &str) -> f64 {
    if dataset == "mnist" { 0.0 } else { 0.25 }
}

/// Two-sided p of a method against the best of its row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Against {
    /// By Welch's test, which takes the methods as independent.
    pub naive: f64,
    /// By the test that is corrected for splits that overlap, if the methods are independent over them.
    pub corrected: f64,
    /// By the same test, if they move together over the splits.
    pub together: f64,
}

/// One row of the printed table, judged by its own means and deviations.
pub(crate) struct UnderlineCheck {
    /// Dataset.
    pub dataset: String,
    /// The five cells in the order of the table, each with its p against the best; the best has
    /// none.
    pub cells: Vec<(PublishedCell, Option<Against>)>,
}

impl UnderlineCheck {
    /// Methods that are not significantly worse than the best.
    pub fn level(&self) -> Vec<&str> {
        let level = |p: Option<Against>| p.is_some_and(|p| p.naive >= LEVEL);
        self.cells.iter().filter(|(_, p)| level(*p)).map(|(cell, _)| cell.method.as_str()).collect()
    }

    /// Methods that the print underlines.
    pub fn underlined(&self) -> Vec<&str> {
        let cells = self.cells.iter().map(|(cell, _)| cell);
        cells.filter(|cell| cell.mark == "underlined").map(|cell| cell.method.as_str()).collect()
    }
}

/// All rows of the printed table.
///
/// # Errors
/// If the file of the published numbers does not have its form.
pub(crate) fn judged() -> Result<Vec<UnderlineCheck>, ExperimentError> {
    let (repeats, printed) = crate::catalogue().published("askl")?;
    let mut rows: Vec<UnderlineCheck> = Vec::new();
    for cell in &printed {
        if rows.iter().all(|row| row.dataset != cell.dataset) {
            rows.push(UnderlineCheck { dataset: cell.dataset.clone(), cells: Vec::new() });
        }
    }
    for row in &mut rows {
        let of_row: Vec<&PublishedCell> =
            printed.iter().filter(|cell| cell.dataset == row.dataset).collect();
        let better = |a: &PublishedCell, b: &PublishedCell| {
            if a.metric == "accuracy_percent" { a.mean > b.mean } else { a.mean < b.mean }
        };
        let best = of_row.iter().copied().reduce(
            |best, cell| {
                if better(cell, best) { cell } else { best }
            },
        );
        let side =
            |cell: &PublishedCell| MeanStd { mean: cell.mean, std: cell.std, count: repeats };
        for method in METHODS {
            let found = of_row.iter().find(|cell| cell.method.eq_ignore_ascii_case(method));
            let (Some(cell), Some(best)) = (found, best) else { continue };
            let ratio = test_over_train(&row.dataset);
            let against = if cell.method == best.method {
                None
            } else {
                let naive = welch_summaries(side(cell), side(best)).p_two_sided;
                let p = |correlation| {
                    paired_summaries(side(cell), side(best), ratio, correlation)
                        .map(|test| test.p_two_sided)
                };
                Some(Against { naive, corrected: p(0.0)?, together: p(1.0)? })
            };
            row.cells.push(((*cell).clone(), against));
        }
    }
    Ok(rows)
}

pub(crate) fn render(
    _: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("The printed means and standard deviations (30 repeats), tested from their own numbers. Bold: best mean of the row; underlined: not significantly worse than the best at 5 % by Welch's test on the printed summaries.")
        .note("Below a cell: two-sided p of Welch's test, then two p of the corrected test. The p of the paired differences, which the paper does not print, lies between these two.")
        .note("The first of the two takes the methods as independent over the splits, the second as moving together.")
        .note("The corrected variance is (1/30 + 0.25) s² and not s²/30, because 30 random splits overlap. MNIST's test part is fixed and needs no correction.")
        .note("In the paper's text an underline marks a significant difference, in the caption of its table the absence of one.")
        .columns([Column::left("Dataset")])
        .columns(METHODS.map(|name| Column::right(name.to_uppercase())))
        .columns(["Not significantly worse", "Underlined in print"].map(Column::left));
    for row in judged()? {
        let mut line = vec![Cell::text(&row.dataset)];
        for (cell, p) in &row.cells {
            let shown = Cell::mean_std(cell.mean, cell.std, 2).sort(cell.mean);
            line.push(match p {
                None => shown.bold(),
                Some(p) if p.naive >= LEVEL => shown.underline().detail(both(*p)),
                Some(p) => shown.detail(both(*p)),
            });
        }
        let named = |methods: Vec<&str>| {
            Cell::text(if methods.is_empty() { "none".to_owned() } else { methods.join(", ") })
        };
        line.push(named(row.level()));
        line.push(named(row.underlined()));
        table = table.row(Row::new(line));
    }
    table = table.note(significant(&judged()?).sentence());
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

fn both(Against { naive, corrected, together }: Against) -> String {
    let [naive, corrected, together] = [naive, corrected, together].map(probability);
    format!("p {naive} / {corrected} to {together}")
}

/// How many differences from the best of a row there are in print, and how many of them are significant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Significant {
    pub all: usize,
    pub naive: usize,
    /// By the corrected test, if the methods are independent over the splits: the least that it can be.
    pub corrected: usize,
    /// If they move together: the most.
    pub together: usize,
}

impl Significant {
    /// What survives of the printed differences.
    pub fn sentence(self) -> String {
        format!(
            "In print, {} cells differ from the best of their row, {} of them significantly at 5 % by Welch's test on the printed numbers. By the corrected test it is between {} and {}.",
            self.all, self.naive, self.corrected, self.together
        )
    }
}

pub(crate) fn significant(rows: &[UnderlineCheck]) -> Significant {
    let found: Vec<Against> =
        rows.iter().flat_map(|row| row.cells.iter().filter_map(|(_, against)| *against)).collect();
    let below = |p: fn(&Against) -> f64| found.iter().filter(|against| p(against) < LEVEL).count();
    Significant {
        all: found.len(),
        naive: below(|against| against.naive),
        corrected: below(|against| against.corrected),
        together: below(|against| against.together),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by hand with the same test.
    #[test]
    fn the_rows_have_the_methods_that_a_welch_test_leaves() {
        let expected: &[(&str, &[&str])] = &[
            ("segment", &["SKL"]),
            ("satimage", &[]),
            ("usps", &[]),
            ("pendigits", &["SKL"]),
            ("letter", &[]),
            ("poker", &["SKL", "NSKL"]),
            ("shuttle", &["SK", "SKL", "NSKL"]),
            ("mnist", &["NSKL"]),
            ("abalone", &["ASKL"]),
            ("space_ga", &["SKL", "NSKL"]),
            ("cpusmall", &["SKL", "NSKL"]),
            ("cadata", &[]),
        ];
        let rows = judged().unwrap();
        assert_eq!(rows.len(), expected.len());
        for (row, (dataset, methods)) in rows.iter().zip(expected) {
            assert_eq!((row.dataset.as_str(), row.level().as_slice()), (*dataset, *methods));
            assert_eq!(row.cells.len(), METHODS.len());
        }
        let printed: usize = rows.iter().map(|row| row.underlined().len()).sum();
        assert_eq!(printed, 4);
        // By SciPy 1.17.1, `t.sf` with 29 degrees of freedom.
        let expected = Significant { all: 48, naive: 35, corrected: 22, together: 36 };
        assert_eq!(significant(&rows), expected);
    }
}
