//! Where the candidates of the searches of Table 2 end: does any method's range waste its budget?

use crate::askl::METHODS;
use mercer_datasets::Catalogue;
use mercer_learning::{Range, Settings, Shape, find};
use mercer_records::{Tuning, TuningStep};
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;
use serde_json::Value;
use std::collections::BTreeMap;

/// The tuned settings of the five methods; `lambda2` is ASKL's alone.
const SETTINGS: [&str; 4] = ["std", "rate", "lambda1", "lambda2"];

/// What the shares are of.
const NOTES: [&str; 3] = [
    "In `printed` every method has 27 candidates. `tuned` has nine a setting, and 27 at least (MNIST: 27).",
    "Three candidates are on the lists of all methods: what the code has for the dataset, and two of ours. The others are drawn log-uniformly from one range a setting, the same for all methods and datasets.",
    "A value beyond the range counts with the third next to it.",
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("askl/table2")?;
    let (spec, cells) = &*study;
    let mut shares = shares_table(artefact);
    let (mut widths, mut halves) = (widths_table(), halves_table());
    for variant in spec.variants.iter().filter(|variant| variant.tuner.is_some()) {
        let of = |method: &str, dataset: Option<&str>| -> Vec<&StudyCell> {
            let mine = |cell: &&StudyCell| {
                let key = cell.key();
                key.variant == variant.name
                    && key.method == method
                    && dataset.is_none_or(|dataset| key.dataset == dataset)
            };
            cells.iter().filter(mine).collect()
        };
        for method in METHODS {
            let tunings: Vec<&Tuning> =
                of(method, None).into_iter().flat_map(StudyCell::tunings).collect();
            let ranges = ranges(context, method, &spec.datasets[0])?;
            for (name, range) in SETTINGS.iter().filter_map(|name| ranges.get_key_value(*name)) {
                if let Some(found) = Thirds::of(&tunings, name, range) {
                    shares = shares.row(found.row(method, name, range).under(&variant.name));
                }
            }
            if let Some(gains) = gains(method, &of(method, None)) {
                halves = halves.row(gains.under(&variant.name));
            }
        }
        for dataset in &spec.datasets {
            let searched = METHODS.map(|method| {
                Widths::of(
                    &of(method, Some(dataset))
                        .into_iter()
                        .flat_map(StudyCell::tunings)
                        .collect::<Vec<_>>(),
                )
            });
            if searched.iter().any(Option::is_some) {
                let cells = searched
                    .map(|found| found.map_or_else(|| Cell::text("-"), |found| found.cell()));
                let row = std::iter::once(Cell::text(dataset)).chain(cells);
                widths = widths.row(Row::new(row).under(&variant.name));
            }
        }
    }
    Ok(Rendered { tables: vec![shares, halves, widths], ..Rendered::default() })
}

/// The table of the thirds, without its rows.
fn shares_table(artefact: &Artefact) -> Table {
    let table = Table::new(&artefact.id, &artefact.title)
        .caption("Where the candidates of the searches of Table 2 lie in their ranges: shares in percent in the lower, middle and upper third. Shares are over all recorded searches: of all candidates tried, of the candidates on the last rung, and of the chosen one.")
        .columns(["Method", "Setting", "Range"].map(Column::left))
        .columns([Column::right("Searches")])
        .columns(GROUPS.iter().flat_map(|group| {
            ["lower", "middle", "upper"].map(|third| Column::right(third).under(*group))
        }));
    NOTES.into_iter().fold(table, Table::note)
}

/// The table of the chosen widths, without its rows.
fn widths_table() -> Table {
    Table::new("audit/askl-search-std", "The std that is chosen, and how many candidates are far from it")
        .caption("Median over the searches of the chosen std, by dataset. Rows of many columns want a small std, rows of few columns a large one, but the range is the same for all.")
        .note("In small: the mean number of a search's candidates with more than twice, and with less than half of the std that it chose.")
        .columns([Column::left("Dataset")])
        .columns(METHODS.map(|name| Column::right(name.to_uppercase())))
}

/// The table of the gains, without its rows.
fn halves_table() -> Table {
    Table::new("audit/askl-search-halves", "What the second half of the candidates gains")
        .caption("Gain of the best validated score at the first rung over the best of the first half of the candidates, over all recorded searches. A method with a large gain was not searched to the end, so the same number of candidates puts it at a disadvantage.")
        .note("Accuracy: in points. RMSE: its fall in percent of it.")
        .note("The first rung has a ninth of the effort in `printed`, and a third in `tuned`.")
        .columns([Column::left("Method")])
        .columns(["Mean", "Median", "Searches"].map(|head| Column::right(head).under("accuracy, points")))
        .columns(["Median ", "Searches "].map(|head| Column::right(head).under("RMSE, %")))
}

/// What the second half of a method's candidates gained; none without a search.
fn gains(method: &str, cells: &[&StudyCell]) -> Option<Row> {
    let (mut points, mut percents) = (Vec::new(), Vec::new());
    for cell in cells {
        let accuracy = cell.metric().larger_is_better();
        let gains = cell.tunings().into_iter().filter_map(|t| gain_of_second_half(t, accuracy));
        if accuracy { points.extend(gains) } else { percents.extend(gains) }
    }
    if points.is_empty() && percents.is_empty() {
        return None;
    }
    let shown = |value: Option<f64>| value.map_or_else(|| Cell::text("-"), |v| Cell::number(v, 2));
    let mean = summarise(&points).map(|summary| summary.mean);
    let [of_accuracy, of_error] = [points.len(), percents.len()].map(Cell::count);
    Some(Row::new([
        Cell::text(method.to_uppercase()),
        shown(mean),
        shown(middle(points)),
        of_accuracy,
        shown(middle(percents)),
        of_error,
    ]))
}

/// What shares are shown of.
const GROUPS: [&str; 3] = ["tried", "on the last rung", "chosen"];

/// The ranges from which a method's candidates are drawn, by setting.
fn ranges(
    context: &RenderContext<'_>,
    method: &str,
    dataset: &str,
) -> Result<BTreeMap<&'static str, Range>, ExperimentError> {
    let fault = |reason: String| ExperimentError::Form { file: file!().to_owned(), reason };
    let method = find(context.methods, method).map_err(|error| fault(error.to_string()))?;
    let entry = Catalogue::builtin().find(dataset).map_err(|error| fault(error.to_string()))?;
    let shape = Shape { rows: entry.rows, features: entry.features, task: entry.task };
    let space = (method.space)(&shape).given(&Settings::new());
    Ok(space.axes.into_iter().map(|axis| (axis.name, axis.range)).collect())
}

/// Candidates of some searches by the third of a range: tried, on the last rung, chosen.
struct Thirds {
    searches: usize,
    counts: [[usize; 3]; 3],
}

impl Thirds {
    /// None without a search of which the history is there.
    fn of(tunings: &[&Tuning], name: &str, range: &Range) -> Option<Self> {
        let mut found = Self { searches: 0, counts: [[0; 3]; 3] };
        let at = |settings: &BTreeMap<String, Value>| third(range, settings.get(name)?.as_f64()?);
        for tuning in tunings {
            let (Some(first), Some(last)) = (tuning.history.first(), tuning.history.last()) else {
                continue;
            };
            let of_rung = |effort: f64| {
                let rung = move |step: &&TuningStep| step.effort.total_cmp(&effort).is_eq();
                tuning.history.iter().filter(rung).filter_map(|step| at(&step.settings))
            };
            found.searches += 1;
            of_rung(first.effort).for_each(|third| found.counts[0][third] += 1);
            of_rung(last.effort).for_each(|third| found.counts[1][third] += 1);
            if let Some(third) = at(&tuning.chosen) {
                found.counts[2][third] += 1;
            }
        }
        (found.searches > 0).then_some(found)
    }

    fn row(&self, method: &str, name: &str, range: &Range) -> Row {
        let shares = self.counts.iter().flat_map(|counts| {
            let all = counts.iter().sum::<usize>().max(1) as f64;
            counts.map(|count| Cell::number(100.0 * count as f64 / all, 0))
        });
        let head =
            [Cell::text(method.to_uppercase()), Cell::text(name), Cell::text(range.to_string())];
        Row::new(head.into_iter().chain([Cell::count(self.searches)]).chain(shares))
    }
}

/// In which third of a range a value lies, in the logarithm.
fn third(range: &Range, value: f64) -> Option<usize> {
    let share = match range {
        Range::Log2(low, high) => (value.log2() - low) / (high - low),
        Range::Log10(low, high) => (value.log10() - low) / (high - low),
        Range::Choice(_) | Range::Given { .. } => return None,
    };
    // A penalty of 0 is below every range.
    Some((3.0 * share).clamp(0.0, 2.0) as usize)
}

/// What searches on one dataset chose, and how far their candidates were from it.
struct Widths {
    chosen: f64,
    /// Mean number of candidates with more than twice, and with less than half of it.
    above: f64,
    below: f64,
    candidates: f64,
}

impl Widths {
    /// None without a search of which the history is there.
    fn of(tunings: &[&Tuning]) -> Option<Self> {
        let std = |settings: &BTreeMap<String, Value>| settings.get("std")?.as_f64();
        let (mut chosen, mut above, mut below, mut candidates) = (Vec::new(), 0, 0, 0);
        for tuning in tunings {
            let (Some(own), Some(first)) = (std(&tuning.chosen), tuning.history.first()) else {
                continue;
            };
            let rung =
                tuning.history.iter().filter(|step| step.effort.total_cmp(&first.effort).is_eq());
            let tried: Vec<f64> = rung.filter_map(|step| std(&step.settings)).collect();
            chosen.push(own);
            candidates += tried.len();
            above += tried.iter().filter(|&&other| other > 2.0 * own).count();
            below += tried.iter().filter(|&&other| other < 0.5 * own).count();
        }
        let searches = chosen.len() as f64;
        let mean = |count: usize| count as f64 / searches;
        let [above, below, candidates] = [above, below, candidates].map(mean);
        Some(Self { chosen: middle(chosen)?, above, below, candidates })
    }

    fn cell(&self) -> Cell {
        let Self { chosen, above, below, candidates } = self;
        let far = format!("{above:.1} above, {below:.1} below of {candidates:.0}");
        Cell::text(format!("{chosen:.3}")).sort(*chosen).detail(far)
    }
}

/// What the second half of its candidates gained a search at the first rung: points of validated
/// accuracy, or the fall of the validated RMSE in percent. None without a score in the first half.
fn gain_of_second_half(tuning: &Tuning, accuracy: bool) -> Option<f64> {
    let effort = tuning.history.first()?.effort;
    let rung = tuning.history.iter().filter(|step| step.effort.total_cmp(&effort).is_eq());
    let scores: Vec<Option<f64>> = rung.map(|step| step.score).collect();
    // Of an RMSE, a score is the negative.
    let best = |scores: &[Option<f64>]| scores.iter().flatten().copied().reduce(f64::max);
    let (half, all) = (best(&scores[..scores.len().div_ceil(2)])?, best(&scores)?);
    Some(100.0 * if accuracy { all - half } else { 1.0 - all / half })
}

/// The middle one, or the mean of the two in the middle; none of none.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    Some(f64::midpoint(values[(values.len() - 1) / 2], upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(std: f64, effort: f64) -> TuningStep {
        let settings = [("std".to_owned(), std.into())].into();
        TuningStep { settings, effort, score: Some(0.5) }
    }

    #[test]
    fn candidates_are_counted_by_rung_and_third() {
        let range = Range::Log2(-9.0, 0.0);
        let history = vec![
            step(1.0 / 512.0, 0.1),
            step(0.1, 0.1),
            step(0.3, 0.1),
            step(4.0, 0.1),
            step(0.3, 1.0),
            step(4.0, 1.0),
        ];
        let tuning = Tuning { chosen: step(0.3, 1.0).settings, history };
        let found = Thirds::of(&[&tuning], "std", &range).unwrap();
        assert_eq!((found.searches, found.counts), (1, [[1, 1, 2], [0, 0, 2], [0, 0, 1]]));
        assert_eq!(third(&range, 0.0), Some(0));
        let widths = Widths::of(&[&tuning, &tuning]).unwrap();
        let found = [widths.chosen, widths.above, widths.below, widths.candidates];
        let right = found.iter().zip([0.3, 1.0, 2.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(right, "{found:?}");
        assert!(Thirds::of(&[], "std", &range).is_none() && Widths::of(&[]).is_none());
    }

    #[test]
    fn the_second_half_gains_what_it_has_over_the_first() {
        let search = |scores: &[f64]| Tuning {
            chosen: BTreeMap::new(),
            history: scores
                .iter()
                .map(|&score| TuningStep { score: Some(score), ..step(1.0, 0.1) })
                .collect(),
        };
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
        assert!(close(gain_of_second_half(&search(&[0.5, 0.75, 0.8]), true), 5.0));
        assert!(close(gain_of_second_half(&search(&[0.75, 0.5, 0.6]), true), 0.0));
        // Errors of 4, then 3: a quarter less.
        assert!(close(gain_of_second_half(&search(&[-4.0, -3.0]), false), 25.0));
        assert_eq!(gain_of_second_half(&search(&[]), true), None);
        assert_eq!(
            [middle(vec![]), middle(vec![3.0, 1.0]), middle(vec![5.0])],
            [None, Some(2.0), Some(5.0)]
        );
    }
}
