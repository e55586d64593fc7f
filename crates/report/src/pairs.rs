//! One table for every ablation: dataset by dataset, the mean with and without, and the corrected
//! interval of the paired difference.

use crate::cell::{common_errors, relative_gain};
use crate::rendered::Head;
use crate::results_table::{missing_by_variant, not_run};
use crate::{CellReport, Comparison, ExperimentError, RenderContext, Rendered, StudyCell, compare};
use mercer_render::{Cell, Column, Row, Table, probability};
use mercer_statistics::{Summary, holm, summarise, wilcoxon_signed_rank};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// One side of a comparison: study, variant, method, in a file `askl/table2:released:sk`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Side {
    pub(crate) study: String,
    pub(crate) variant: String,
    pub(crate) method: String,
}

impl Side {
    /// Of these names.
    pub fn new(study: &str, variant: &str, method: &str) -> Self {
        let [study, variant, method] = [study, variant, method].map(str::to_owned);
        Self { study, variant, method }
    }
}

impl TryFrom<String> for Side {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split(':').collect::<Vec<_>>()[..] {
            [study, variant, method] => Ok(Self::new(study, variant, method)),
            _ => Err(format!("`{text}` is no STUDY:VARIANT:METHOD")),
        }
    }
}

/// What is compared: a name, the side that has the change, the side that has not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pair {
    /// What changes, for the section's head.
    name: String,
    /// With the change.
    with: Side,
    /// Without it: the first of these that has the dataset.
    without: Vec<Side>,
}

/// The table of all pairs; a positive gain means that the change helps.
pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: Head<'_>,
    pairs: &[Pair],
) -> Result<Rendered, ExperimentError> {
    let mut studies = BTreeMap::new();
    let sides = pairs.iter().flat_map(|pair| std::iter::once(&pair.with).chain(&pair.without));
    for Side { study, .. } in sides {
        studies.insert(study.as_str(), context.cells(study)?);
    }
    let errors = studies.values().flat_map(|study| &study.1);
    let errors = errors.into_iter().any(|cell| !cell.metric().larger_is_better());
    let mut table = headed(artefact, errors);
    let side = |side: &Side| {
        let Side { study, variant, method } = side.clone();
        let of_side =
            move |cell: &&StudyCell| cell.key().variant == variant && cell.key().method == method;
        studies[study.as_str()].1.iter().filter(of_side)
    };
    let mut cells = Vec::new();
    for pair in pairs {
        let mut found: Vec<(&StudyCell, &StudyCell, Comparison)> = Vec::new();
        for with in side(&pair.with) {
            let same_data = |cell: &&StudyCell| cell.key().dataset == with.key().dataset;
            let without = pair.without.iter().find_map(|other| side(other).find(same_data));
            let Some(without) = without else { continue };
            if let Some(comparison) = compare(with, without)? {
                found.push((with, without, comparison));
            }
        }
        // What is no test is no member of the family.
        let tested = found.iter().filter(|(.., test)| test.untested().is_none());
        let mut adjusted =
            holm(&tested.map(|(.., test)| test.p_corrected).collect::<Vec<_>>())?.into_iter();
        let mut gains = Vec::new();
        for (with, without, test) in &found {
            gains.extend(common_errors(with, without).map(relative_gain));
            cells.push(report(artefact.id, with, test));
            table = table.row(row(with, without, test, &mut adjusted).under(&pair.name));
        }
        if let Some(note) = over_datasets(&pair.name, &gains)? {
            table = table.note(note);
        }
    }
    let sides = pairs.iter().flat_map(|pair| std::iter::once(&pair.with).chain(&pair.without));
    if let Some(note) = not_run_yet(context, sides)? {
        table = table.note(note);
    }
    Ok(Rendered { tables: vec![table], drawings: Vec::new(), cells })
}

/// The table without a row; with `errors` it says how gains of errors are meant.
fn headed(artefact: Head<'_>, errors: bool) -> Table {
    let gain = if errors {
        "with minus without for accuracy (percentage points), without minus with for RMSE"
    } else {
        "with minus without, in percentage points of accuracy"
    };
    Table::new(artefact.id, artefact.title)
        .caption(format!(
            "{} A positive gain means that the change helps.",
            artefact.caption
        ))
        .note(format!("Gain: {gain}. Interval (95 %) and p corrected: corrected resampled t-test over paired splits."))
        .note("p naive: paired t-test. p Holm: adjusted over the datasets of a section.")
        .columns(["Dataset", "Metric"].map(Column::left))
        .columns(["With", "Without", "Gain", "Interval", "p naive", "p corrected", "p Holm", "Pairs"].map(Column::right))
}

/// The row of a dataset. A test takes the next of the adjusted p.
fn row(
    with: &StudyCell,
    without: &StudyCell,
    test: &Comparison,
    adjusted: &mut impl Iterator<Item = f64>,
) -> Row {
    let larger = with.metric().larger_is_better();
    let sign = if larger { 1.0 } else { -1.0 };
    let (low, high) = test.interval;
    let interval = if larger { (low, high) } else { (-high, -low) };
    let said = |p: f64| Cell::text(probability(p)).sort(p);
    let [naive, corrected, together] = match test.untested() {
        Some(why) => ["-", why, "-"].map(Cell::text),
        None => [
            test.p_naive.map_or_else(|| Cell::text("-"), said),
            said(test.p_corrected),
            adjusted.next().map_or_else(|| Cell::text("-"), said),
        ],
    };
    Row::new([
        Cell::text(&with.key().dataset),
        Cell::text(with.metric().name()),
        shown(with, without),
        shown(without, with),
        Cell::text(gained(sign * test.difference)).sort(sign * test.difference),
        bracketed(interval),
        naive,
        corrected,
        together,
        Cell::number(test.pairs as f64, 0),
    ])
}

/// Which of these sides have planned cells without a record, and which have datasets that are not there: a row
/// that is missing without a word reads as if it had not been asked for.
///
/// # Errors
/// If a study does not have the profile.
pub fn not_run_yet<'a>(
    context: &RenderContext<'_>,
    sides: impl Iterator<Item = &'a Side>,
) -> Result<Option<String>, ExperimentError> {
    let (mut lacking, mut without_data) = (BTreeMap::new(), BTreeSet::new());
    for Side { study, variant, method } in sides {
        let laid_out = context.cells(study)?;
        let of_side = |cell: &&StudyCell| {
            let key = cell.key();
            key.variant == *variant && key.method == *method && cell.records().next().is_none()
        };
        for cell in laid_out.1.iter().filter(of_side) {
            let dataset = &cell.key().dataset;
            if not_run(context, cell) {
                let datasets: &mut Vec<String> =
                    lacking.entry(format!("{study} {variant}, {method}")).or_default();
                if !datasets.contains(dataset) {
                    datasets.push(dataset.clone());
                }
            } else if context.missing.contains_key(dataset) {
                without_data.insert(dataset.clone());
            }
        }
    }
    let mut said = Vec::new();
    if !lacking.is_empty() {
        let lines = lacking
            .iter()
            .map(|(line, datasets)| (line.as_str(), datasets.iter().map(String::as_str).collect()));
        said.push(format!(
            "Not run yet: {}.",
            missing_by_variant(&lines.collect::<BTreeMap<_, _>>())
        ));
    }
    if !without_data.is_empty() {
        let datasets: Vec<String> = without_data.into_iter().collect();
        said.push(format!("Data missing: {}.", datasets.join(", ")));
    }
    Ok((!said.is_empty()).then(|| said.join(" ")))
}

/// An interval; one pair has none.
fn bracketed((low, high): (f64, f64)) -> Cell {
    let finite = low.is_finite() && high.is_finite();
    Cell::text(if finite { format!("[{}, {}]", gained(low), gained(high)) } else { "-".to_owned() })
}

/// A mean gain below this is the rounding of a sum of gains that cancel.
const ROUNDING: f64 = 1e-9;

/// Two digits after the point, but for what they would call nothing: a gain of 0.003 may be significant.
fn gained(value: f64) -> String {
    if value.abs() > ROUNDING && value.abs() < 0.005 {
        format!("{value:.0e}")
    } else {
        mercer_render::number(value, 2)
    }
}

/// One sentence over all datasets of a section, of gains that are shares of the sum of both errors, as those
/// of the claims are; none of a single one, whose row says it all.
fn over_datasets(name: &str, gains: &[f64]) -> Result<Option<String>, ExperimentError> {
    let count = gains.len();
    let better = gains.iter().filter(|gain| **gain > 0.0).count();
    let worse = gains.iter().filter(|gain| **gain < 0.0).count();
    let told = format!("{name}: better on {better}, worse on {worse} of {count} datasets;");
    Ok(match count {
        0 => Some(format!("{name}: not run yet.")),
        1 => None,
        2..=4 => Some(format!("{told} too few for a test over datasets.")),
        _ => Some(format!(
            "{told} Wilcoxon's signed rank test on the relative gains of this section alone: p = {}.",
            probability(wilcoxon_signed_rank(gains)?.p_two_sided)
        )),
    })
}

/// Mean and deviation over the repeats that both sides have, so that the gain is their difference.
fn shown(cell: &StudyCell, other: &StudyCell) -> Cell {
    let theirs: Vec<u32> = other.values().into_iter().map(|(repeat, _)| repeat).collect();
    let own = cell.values().into_iter().filter(|(repeat, _)| theirs.contains(repeat));
    let values: Vec<f64> = own.map(|(_, value)| value).collect();
    summarise(&values).map_or_else(
        || Cell::text("-"),
        |summary| {
            let shown = mean_of(&summary).sort(summary.mean);
            let untuned = cell.tuning() == crate::cell::NOT_TUNED;
            if untuned { shown.detail("not tuned") } else { shown }
        },
    )
}

/// One repeat has no deviation.
fn mean_of(summary: &Summary) -> Cell {
    if summary.count > 1 {
        Cell::mean_std(summary.mean, summary.sample_std, 2)
    } else {
        Cell::text(mercer_render::number(summary.mean, 2))
    }
}

fn report(id: &str, cell: &StudyCell, test: &Comparison) -> CellReport {
    CellReport {
        difference: Some(test.difference),
        interval: Some(test.interval),
        ..CellReport::of(id, cell, Some(test))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gains of ten repeats that cancel stood in tables as 1e-15.
    #[test]
    fn the_rounding_of_a_mean_is_no_gain() {
        assert_eq!([1e-15, -3e-15, 0.0].map(gained), ["0.00", "0.00", "0.00"]);
        assert_eq!([0.003, -0.0004, 1.5].map(gained), ["3e-3", "-4e-4", "1.50"]);
    }

    #[test]
    fn one_repeat_has_neither_deviation_nor_interval() {
        let one = mean_of(&summarise(&[81.62]).unwrap());
        assert_eq!(one.text, "81.62");
        assert_eq!([0.0, 0.003, -0.0049, 0.25].map(gained), ["0.00", "3e-3", "-5e-3", "0.25"]);
        assert_eq!(mean_of(&summarise(&[1.0, 3.0]).unwrap()).text, "2.00±1.41");
        assert_eq!(bracketed((f64::NEG_INFINITY, f64::INFINITY)).text, "-");
        assert_eq!(bracketed((-0.5, 1.25)).text, "[-0.50, 1.25]");
    }
}
