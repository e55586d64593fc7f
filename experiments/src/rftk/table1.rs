//! Table 1: accuracy of kernel and random-feature methods on the paper's datasets, and on vowel.

use mercer_records::Record;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

const STUDY: &str = "rftk/table1";

/// The paper's methods.
const METHODS: [&str; 5] = ["kernel-ridge", "kernel-ridgeless", "rf-ridgeless", "rf-sgd", "rftk"];

/// Those of them that take steps.
const TRAINED: [&str; 2] = ["rf-sgd", "rftk"];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    let table = collapsed(context)?;
    if !table.rows.is_empty() {
        rendered.tables.push(table);
    }
    Ok(rendered)
}

/// Accuracies of the methods of a line, by name and repeat, in percent.
type Scores<'a> = BTreeMap<&'a str, BTreeMap<u32, f64>>;

/// A fit has collapsed that is so many points, and so many standard errors of two accuracies on that many test
/// rows, further behind the others on its split than its method is on the other splits.
const COLLAPSED: (f64, f64) = (3.0, 4.0);

/// How many points further behind the other methods a method is in one repeat than in its other repeats: behind
/// each of them by how much more than in the median of the repeats that both have, in the median over them. A
/// single repeat is expected level with them. None beside no other, or ahead of them all.
fn shortfall(scores: &Scores<'_>, method: &str, repeat: u32) -> Option<f64> {
    let own = scores.get(method)?;
    let here = *own.get(&repeat)?;
    let median = |values: &[f64]| summarise(values).map(|spread| spread.median);
    let (mut more, mut best) = (Vec::new(), f64::NEG_INFINITY);
    for other in scores.iter().filter(|(name, _)| **name != method).map(|(_, other)| other) {
        let Some(theirs) = other.get(&repeat) else { continue };
        best = best.max(*theirs);
        let elsewhere = own.iter().filter(|(at, _)| **at != repeat);
        let gaps: Vec<f64> =
            elsewhere.filter_map(|(at, value)| Some(other.get(at)? - value)).collect();
        more.push(theirs - here - median(&gaps).unwrap_or(0.0));
    }
    median(&more).filter(|_| best > here)
}

/// Whether a fit of so many percent on so many test rows, short of what the others let expect by so many points,
/// has [`COLLAPSED`].
fn has_collapsed(accuracy: f64, short: f64, rows: u64) -> bool {
    let variance = |percent: f64| percent * (100.0 - percent).max(0.0);
    let error = ((variance(accuracy) + variance(accuracy + short)) / rows.max(1) as f64).sqrt();
    short > COLLAPSED.0 && short > COLLAPSED.1 * error
}

/// Trained fits that end far below what the other methods on the same split let expect: a cell that stands
/// beside better ones without a word reads as a finding.
fn collapsed(context: &RenderContext<'_>) -> Result<Table, ExperimentError> {
    let study = context.cells(STUDY)?;
    let of_paper = |cell: &&StudyCell| METHODS.contains(&cell.key().method.as_str());
    let mut lines: BTreeMap<(&str, &str), Vec<&StudyCell>> = BTreeMap::new();
    for cell in study.1.iter().filter(of_paper) {
        let key = cell.key();
        lines.entry((&key.variant, &key.dataset)).or_default().push(cell);
    }
    let mut table = Table::new("rftk/table1-collapsed", "Collapsed fits")
        .caption("Fits that end far behind the other methods on their split. A constant learning rate this large can leave a solution at any step.")
        .columns(["Variant", "Dataset", "Method"].map(Column::left))
        .columns(["Repeat", "Accuracy (%)", "Points short", "Loss", "Learning rate"].map(Column::right))
        .note(format!(
            "Points short: further behind the other methods than in the other repeats. Listed above {} points and {} standard errors.",
            COLLAPSED.0, COLLAPSED.1
        ))
        .note("Loss: mean over the steps of the last pass.");
    for variant in &study.0.variants {
        for (_, line) in lines.iter().filter(|((name, _), _)| *name == variant.name) {
            let scores: Scores<'_> = line
                .iter()
                .map(|cell| (cell.key().method.as_str(), cell.values().into_iter().collect()))
                .collect();
            for cell in line.iter().filter(|cell| TRAINED.contains(&cell.key().method.as_str())) {
                let rows = cell.records().filter_map(|record| listed(cell, record, &scores));
                table = rows.fold(table, Table::row);
            }
        }
    }
    Ok(table)
}

/// The row of a fit that has collapsed.
fn listed(cell: &StudyCell, record: &Record, scores: &Scores<'_>) -> Option<Row> {
    let (key, result) = (&record.key, &record.result);
    let accuracy = *scores.get(key.method.as_str())?.get(&key.repeat)?;
    let short = shortfall(scores, &key.method, key.repeat)?;
    if !has_collapsed(accuracy, short, result.rows[1]) {
        return None;
    }
    let rate = result.settings.get("rate").map_or_else(|| "-".to_owned(), ToString::to_string);
    Some(Row::new([
        Cell::text(&key.variant),
        Cell::text(&key.dataset),
        Cell::text(cell.label()),
        Cell::text(key.repeat.to_string()),
        Cell::number(accuracy, 2),
        Cell::number(short, 1),
        result.facts.get("loss").map_or_else(|| Cell::text("-"), |loss| Cell::number(*loss, 3)),
        Cell::text(rate),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores<'a>(of: &[(&'a str, &[f64])]) -> Scores<'a> {
        let repeats = |values: &[f64]| (0..).zip(values.iter().copied()).collect();
        of.iter().map(|(name, values)| (*name, repeats(values))).collect()
    }

    /// A limit of 90 % at a loss of 0.02 called an ordinary satimage collapsed, and letter none.
    #[test]
    fn a_fit_has_collapsed_beside_the_others_on_its_split() {
        let fell = |line: &Scores<'_>, rows| {
            let short = shortfall(line, "rftk", 0)?;
            Some(has_collapsed(line["rftk"][&0], short, rows))
        };
        // Near 90 %, as all are there.
        let satimage = scores(&[
            ("kernel-ridge", &[90.9, 91.8, 92.6]),
            ("rf-sgd", &[90.2, 90.0, 88.8]),
            ("rftk", &[88.95, 91.1, 91.0]),
        ]);
        assert_eq!(fell(&satimage, 887), Some(false));
        let letter = scores(&[
            ("kernel-ridge", &[95.67, 96.9, 96.9]),
            ("rf-sgd", &[94.7, 95.2, 95.4]),
            ("rftk", &[91.97, 96.8, 96.5]),
        ]);
        assert_eq!(fell(&letter, 3000), Some(true));
        // On few rows as much is chance.
        assert_eq!(fell(&letter, 100), Some(false));
        // A single repeat, beside one other.
        let mnist = scores(&[("rf-sgd", &[96.87]), ("rftk", &[89.48])]);
        assert!((shortfall(&mnist, "rftk", 0).unwrap() - 7.39).abs() < 1e-9);
        assert_eq!(fell(&mnist, 10_000), Some(true));
        assert_eq!(shortfall(&mnist, "rf-sgd", 0), None, "it is ahead");
        assert_eq!(shortfall(&scores(&[("rftk", &[10.0])]), "rftk", 0), None, "beside nothing");
    }

    /// What a method is always behind by is how the methods compare, and no collapse.
    #[test]
    fn a_method_that_is_always_behind_has_not_collapsed() {
        let line = scores(&[("rf-sgd", &[52.0, 51.0, 53.0]), ("rftk", &[92.0, 93.0, 92.5])]);
        let short = shortfall(&line, "rf-sgd", 0).unwrap();
        assert!(!has_collapsed(52.0, short, 400), "{short}");
    }
}
