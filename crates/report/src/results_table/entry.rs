//! One cell of the table, as it is shown.

use super::{NOT_RUN, ResultsTable};
use crate::cell::LEVEL;
use crate::comparison::{badge, drawer};
use crate::rendered::Head;
use crate::{CellReport, RenderContext, StudyCell};
use mercer_render::{Cell, Kind, probability};
use std::fmt::Write as _;

impl ResultsTable {
    /// A cell with its marks, its verdict and what is to be said of it.
    pub(super) fn show(
        &self,
        context: &RenderContext<'_>,
        artefact: Head<'_>,
        cell: &StudyCell,
        report: &CellReport,
    ) -> Cell {
        let (Some(mean), Some(std)) = (report.mean, report.std) else {
            return without_number(artefact, cell, report);
        };
        // One repeat has no deviation.
        let value = if report.repeats > 1 {
            Cell::mean_std(mean, std, 2)
        } else {
            Cell::text(mercer_render::number(mean, 2))
        };
        let mut shown =
            value.repeats(format!("{}/{}", report.repeats, report.repeats_of_paper)).sort(mean);
        if report.best {
            shown = shown.bold();
        } else if self.of_paper(&report.method) && !cell.unsolved() && level_with_the_best(report) {
            shown = shown.underline();
        }
        let side = || self.side(cell, report).map(|text| (text, Kind::Muted));
        if let Some((text, kind)) = badge(report).or_else(side) {
            shown = shown.badge(text, kind);
        }
        let tests = tests_in_words(report);
        let tuning = if cell.tuning() == crate::cell::NOT_TUNED { "not tuned" } else { "" };
        let capped = cell.capped().map_or_else(String::new, |(used, offered)| {
            format!("on {used:.0} of {offered:.0} rows")
        });
        let because = match &report.finding {
            Some(finding) => {
                shown = shown.link(format!("finding-{finding}"));
                format!("see {finding}")
            }
            None => String::new(),
        };
        let ended = cell.open_in_words().unwrap_or_default();
        let again = context.again.map_or_else(String::new, |again| again.of_cell(cell));
        let detail: Vec<&str> = [tests.as_str(), tuning, &capped, &ended, &because, &again]
            .into_iter()
            .filter(|t| !t.is_empty())
            .collect();
        let shown = if detail.is_empty() { shown } else { shown.detail(detail.join("; ")) };
        // What did not come out again is for everybody.
        if context.again.is_some_and(|again| again.differs(cell)) {
            shown
        } else {
            shown.drawer(drawer(report))
        }
    }

    /// On which side of the paper's best method the corrected test finds a reference.
    fn side(&self, cell: &StudyCell, report: &CellReport) -> Option<String> {
        let difference = report.over_best?;
        let tested = report.pairs > 1 && !report.degenerate && !self.of_paper(&report.method);
        let found = tested && report.p_corrected.is_some_and(|p| p < LEVEL);
        let word = if cell.better(difference, 0.0) {
            "significantly better"
        } else {
            "significantly worse"
        };
        found.then(|| format!("{word} {difference:+.2}"))
    }
}

/// A cell that has no score: why, and what gives it one.
fn without_number(artefact: Head<'_>, cell: &StudyCell, report: &CellReport) -> Cell {
    let note = report.note.clone().unwrap_or_default();
    let again = format!("mercer reproduce {} --dataset {}", artefact.id, report.dataset);
    let remedy = match note.as_str() {
        // What runs it stands below the table.
        NOT_RUN => String::new(),
        "data missing" => format!("mercer data fetch {}", report.dataset),
        _ if cell.without_score().next().is_some() => format!("{again} --retry-failed"),
        _ => again,
    };
    Cell::missing(note, remedy)
}

/// What the tests against the best method say, or why there is none.
fn tests_in_words(report: &CellReport) -> String {
    match (report.p_naive, report.p_corrected) {
        _ if report.pairs > 1 && report.degenerate && report.p_corrected == Some(1.0) => {
            "equal on every pair".to_owned()
        }
        _ if report.pairs > 1 && report.degenerate => "no spread over the pairs".to_owned(),
        (None, Some(corrected)) if !report.p_mcnemar.is_empty() => {
            format!("one seed; p over test rows {}", probability(corrected))
        }
        _ if report.pairs == 1 => "one pair".to_owned(),
        (Some(naive), Some(corrected)) => {
            let mut said =
                format!("p to best {} (naive {})", probability(corrected), probability(naive));
            if !report.p_mcnemar.is_empty() {
                // Of a few thousand rows that disagree it may be less than the least number.
                let word = |&p: &f64| {
                    if p == 0.0 { "below 1e-300".to_owned() } else { probability(p) }
                };
                let each: Vec<String> = report.p_mcnemar.iter().map(word).collect();
                let _ = write!(said, "; McNemar {}", each.join(", "));
            }
            said
        }
        _ => String::new(),
    }
}

/// Whether the corrected test finds the cell no worse than the best. Of one pair it says nothing; pairs
/// without spread are level where they are all alike.
fn level_with_the_best(report: &CellReport) -> bool {
    let alike = !report.degenerate || report.p_corrected == Some(1.0);
    report.pairs > 1 && alike && report.p_corrected.is_some_and(|p| p >= LEVEL)
}
