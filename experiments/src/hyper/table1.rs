//! Table 1: known kernels learned from pairs, and machines with them.

use super::known_kernel::{CUT_SHORT, TARGETS, WAYS};
use mercer_harness::Variant;
use mercer_records::{OPEN, Record};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::PublishedCell;
use mercer_report::{Artefact, CellReport, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_report::{PublishedComparison, shown as judged, summary};
use mercer_statistics::summarise;
use serde_json::Value;

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("hyper/table1")?;
    let (spec, cells) = &*study;
    let published = context.catalogue.published("hyper")?;
    let (mut tables, mut reports) = (Vec::new(), Vec::new());
    for (place, variant) in spec.variants.iter().enumerate() {
        let mut table = empty_table(artefact, place, variant);
        let own: Vec<&StudyCell> =
            cells.iter().filter(|cell| cell.key().variant == variant.name).collect();
        for cell in &own {
            for place in places() {
                if let Some(row) = line(cell, place, &published, context, &mut reports)? {
                    table = table.row(row);
                }
            }
        }
        for note in routes(&own).into_iter().chain(searches(&own)) {
            table = table.note(note);
        }
        tables.push(table);
    }
    tables.push(summary(
        &artefact.id,
        &artefact.title,
        "Verdicts over the printed numbers that were run, as in Table 2: accuracies in points, errors in the unit of the kernel. Printed accuracies count as means over 10 trials; printed errors have no standard deviation.",
        &reports,
    ));
    Ok(Rendered { tables, cells: reports, ..Rendered::default() })
}

/// The table of a variant without its rows.
fn empty_table(artefact: &Artefact, place: usize, variant: &Variant) -> Table {
    // The first carries the artefact's own name.
    let id = match place {
        0 => artefact.id.clone(),
        _ => format!("{}-{}", &artefact.id, variant.name),
    };
    let table = Table::new(id, format!("{}: {}", artefact.title, variant.name))
        .caption(format!("How well a known kernel is learned from pairs of labelled points, variant {}. Mean ± standard deviation (divided by J − 1) over repeats; the printed number is in brackets.", variant.name))
        .note(format!("{}: {}.", variant.name, variant.summary))
        .columns(["Dataset", "Target", "Method"].map(Column::left))
        .columns(["RMSE", "relative", "unlabelled", "test", "negative mass", "Repeats"].map(Column::right));
    NOTES.into_iter().fold(table, Table::note)
}

/// A target and way in a cell, with the judged numbers; none without a repeat.
fn line(
    cell: &StudyCell,
    (index, (target, way)): (usize, (&str, &str)),
    (repeats_of_table2, printed): &(usize, Vec<PublishedCell>),
    context: &RenderContext<'_>,
    reports: &mut Vec<CellReport>,
) -> Result<Option<Row>, ExperimentError> {
    let of = |name: &str| point_values(cell, index, name);
    let repeats = of("test").len();
    if repeats == 0 {
        return Ok(None);
    }
    let mut printed_too = |what: &str, part: &str, digits: usize| {
        let accuracy = digits == 1;
        let metric = if accuracy { "accuracy_percent" } else { "rmse_test_pairs" };
        let scale = if accuracy { 100.0 } else { 1.0 };
        let theirs = look_up(printed, &cell.key().dataset, way, metric, target, part);
        let Some(theirs) = theirs else {
            return Ok(shown(&of(what), scale, digits, None));
        };
        let number = Number { target, way, what, theirs, accuracy };
        let report = number.judged(cell, of(what), *repeats_of_table2, context)?;
        let shown = judged(shown(&of(what), scale, digits, Some(theirs)), &report);
        reports.push(report);
        Ok::<_, ExperimentError>(shown)
    };
    let open: f64 = of(OPEN).iter().sum();
    let test = printed_too("test", "test part", 1)?;
    let test = if open > 0.0 { test.detail(format!("{open:.0} fits not converged")) } else { test };
    Ok(Some(Row::new([
        Cell::text(&cell.key().dataset),
        Cell::text(target),
        Cell::text(way),
        printed_too("rmse", "", 3)?,
        shown(&of("relative rmse"), 1.0, 3, None),
        printed_too("unlabelled", "unlabelled", 1)?,
        test,
        shown(&of("negative mass"), 1.0, 3, None),
        Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
    ])))
}

/// What the columns mean, and how a printed number is judged.
const NOTES: [&str; 7] = [
    "RMSE: of the learned kernel over ordered pairs of test points. Relative: RMSE over the kernel's root mean square.",
    "Unlabelled and test: accuracy in percent of an SVM with the learned kernel on unlabelled and on test points.",
    "Negative mass: share of negative eigenvalues in the sum of absolute values. For hyper-SVR it includes the regression's bias, a constant that an SVM with its own bias ignores.",
    "Every search has the printed grids. The regression's C has eleven values, 10^-5 to 10^5; the final fit has the C of the same ridge as on the folds, 1/(2 λ m²).",
    "A search that ends at an edge of its grid could be better beyond it. The last notes count these.",
    "A printed error has no standard deviation, so it is judged as one more repeat of ours; a hundredth counts as a point.",
    "A printed accuracy is judged by its printed standard deviation over 10 trials, as in Table 2. The paper gives no number of trials for Table 1.",
];

/// A printed number of one target and way.
struct Number<'a> {
    target: &'a str,
    way: &'a str,
    what: &'a str,
    theirs: &'a PublishedCell,
    accuracy: bool,
}

impl Number<'_> {
    /// In percent, and in hundredths of the kernels' unit.
    fn judged(
        &self,
        cell: &StudyCell,
        values: Vec<f64>,
        repeats: usize,
        context: &RenderContext<'_>,
    ) -> Result<CellReport, ExperimentError> {
        PublishedComparison {
            artefact: "hyper/table1",
            cell,
            label: format!("{}, {} kernel, {}", self.way, self.target, self.what),
            metric: if self.accuracy { "accuracy" } else { "rmse" },
            values: values.into_iter().map(|value| 100.0 * value).collect(),
            theirs: Some(self.theirs),
            scale: if self.accuracy { 1.0 } else { 100.0 },
            repeats,
        }
        .report(context)
    }
}

/// Targets and ways with their places on a curve.
pub(crate) fn places() -> impl Iterator<Item = (usize, (&'static str, &'static str))> {
    let all = TARGETS.into_iter().flat_map(|target| WAYS.into_iter().map(move |way| (target, way)));
    all.enumerate()
}

/// The printed error of a learned kernel.
pub(crate) fn error_printed(
    printed: &[PublishedCell],
    dataset: &str,
    way: &str,
    target: &str,
) -> Option<f64> {
    look_up(printed, dataset, way, "rmse_test_pairs", target, "").map(|cell| cell.mean)
}

/// One number of each repeat.
pub(crate) fn point_values(cell: &StudyCell, index: usize, name: &str) -> Vec<f64> {
    let of = |record: &Record| record.result.curve.get(index)?.values.get(name).copied();
    cell.records().filter_map(of).collect()
}

/// Over which pairs the regressions are solved: not the same ones.
fn routes(cells: &[&StudyCell]) -> Option<String> {
    let record = cells.iter().find_map(|cell| cell.records().next())?;
    let setting = |name: &str| record.result.settings.get(name)?.as_u64();
    let (landmarks, exact) = (setting("landmarks")?, setting("exact_points")?);
    Some(format!(
        "{} always has the pairs of {landmarks} landmarks; {} and {} have all pairs up to {exact} labelled points, and as many landmarks beyond. Where they are exact, part of their advantage may come from the larger space.",
        WAYS[1], WAYS[2], WAYS[3]
    ))
}

/// Where a search ended, the penalty before the spread: at the least value of a grid (0), at the largest (1),
/// or between; and these values.
type End = ([Option<usize>; 2], [[f64; 2]; 2]);

fn end(record: &Record, index: usize) -> Option<End> {
    let values = &record.result.curve.get(index)?.values;
    let offered = |name: &str| record.result.settings.get(name)?.as_array();
    let tube = index % WAYS.len() == 3;
    let powers = offered(if tube { "pair_costs" } else { "lambdas" })?.iter();
    let strengths = powers.filter_map(Value::as_i64).map(|power| 10f64.powi(power as i32));
    let spreads = offered("spreads")?.iter().filter_map(Value::as_f64);
    let grids = [ends(strengths), ends(spreads)];
    let chosen = [*values.get("strength")?, *values.get("spread")?];
    let at =
        |grid: usize| grids[grid].iter().position(|edge| (chosen[grid] / edge - 1.0).abs() < 1e-9);
    Some(([at(0), at(1)], grids))
}

fn ends(grid: impl Iterator<Item = f64>) -> [f64; 2] {
    grid.fold([f64::INFINITY, 0.0], |[least, most], value| [least.min(value), most.max(value)])
}

/// How often the folds chose the least and the largest of what they could, a line a regression and target.
fn searches(cells: &[&StudyCell]) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, (target, way)) in places() {
        let of_cell = |cell: &&StudyCell| -> Vec<End> {
            cell.records().filter_map(|record| end(record, index)).collect()
        };
        let mut fits: Vec<Vec<End>> = cells.iter().map(of_cell).collect();
        fits.retain(|fits| !fits.is_empty());
        let all: Vec<End> = fits.iter().flatten().copied().collect();
        let Some((_, grids)) = all.first() else { continue };
        let names = [if way == WAYS[3] { "the regression's C" } else { "λ" }, "σ_h²/σ²"];
        let counts = names.iter().enumerate().map(|(grid, name)| {
            let at = |edge| all.iter().filter(|(ends, _)| ends[grid] == Some(edge)).count();
            let [least, most] = grids[grid];
            format!("{name} {} in {} and {} in {}", say(least), at(0), say(most), at(1))
        });
        let counts = counts.collect::<Vec<_>>().join("; ");
        let cornered = fits.iter().filter(|fits| in_one_corner(fits)).count();
        notes.push(format!(
            "{target} kernel, {way}: at an edge of the grids, of {} searches: {counts}. In the same corner of both grids in every repeat: {cornered} of {} datasets.{}",
            all.len(),
            fits.len(),
            cut_short(cells, index)
        ));
    }
    notes
}

/// How much of the searches stopped before its tolerance.
fn cut_short(cells: &[&StudyCell], index: usize) -> String {
    let of = |cell: &&StudyCell| point_values(cell, index, CUT_SHORT);
    let all: Vec<f64> = cells.iter().flat_map(of).collect();
    let (searches, short) =
        (all.iter().filter(|short| **short > 0.0).count(), all.iter().sum::<f64>());
    if searches == 0 {
        return String::new();
    }
    format!(
        " Regressions and choices of a cost that stopped at their limit of steps: {short:.0}, in {searches} searches."
    )
}

/// Whether all of these searches ended at the same edges of both grids.
fn in_one_corner(fits: &[End]) -> bool {
    fits.iter().all(|(ends, _)| *ends == fits[0].0 && ends.iter().all(Option::is_some))
}

/// A value of a grid: as a power of ten where it would be long.
fn say(value: f64) -> String {
    if (0.01..=100.0).contains(&value) { format!("{value}") } else { format!("{value:.0e}") }
}

fn look_up<'a>(
    printed: &'a [PublishedCell],
    dataset: &str,
    way: &str,
    metric: &str,
    target: &str,
    part: &str,
) -> Option<&'a PublishedCell> {
    printed.iter().find(|cell| {
        cell.table == "1"
            && (cell.dataset.as_str(), cell.method.as_str(), cell.metric.as_str())
                == (dataset, way, metric)
            && cell.setting.contains(&format!("kernel {target}"))
            && cell.setting.contains(part)
    })
}

fn shown(values: &[f64], scale: f64, digits: usize, printed: Option<&PublishedCell>) -> Cell {
    let Some(summary) = summarise(values) else { return Cell::text("") };
    let (mean, std) = (scale * summary.mean, scale * summary.sample_std);
    let ours = if values.len() > 1 {
        format!("{mean:.digits$} ± {std:.digits$}")
    } else {
        format!("{mean:.digits$}")
    };
    let text = match printed {
        Some(cell) => format!("{ours} ({})", cell.mean),
        None => ours,
    };
    Cell::text(text).sort(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_is_the_same_edge_of_both_grids_in_every_search() {
        let grids = [[1e-5, 1e5], [0.25, 4.0]];
        let search = |strength, spread| ([strength, spread], grids);
        assert!(in_one_corner(&[search(Some(0), Some(1)); 3]));
        assert!(!in_one_corner(&[search(Some(0), Some(1)), search(Some(0), Some(0))]));
        assert!(!in_one_corner(&[search(Some(0), None); 2]));
        let powers = [-5, 0, 5].into_iter().map(|power| 10f64.powi(power));
        assert_eq!(ends(powers).map(say), ["1e-5", "1e5"]);
        assert_eq!([0.1, 0.25, 4.0].map(say), ["0.1", "0.25", "4"]);
    }
}
