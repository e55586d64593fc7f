//! Did the rows that chose the settings tell the truth about the rows that did not?

use mercer_harness::TuningSource;
use mercer_learning::Metric;
use mercer_records::Tuning;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::wilcoxon_signed_rank;
use std::collections::BTreeMap;

const STUDIES: [&str; 5] =
    ["askl/table2", "rftk/table1", "hyper/table2", "hyper/all-pairs", "mce/table1"];

/// One trial that was tuned: the logarithm of its test error over the error of what was chosen on the rows
/// that the tuner held out.
struct Tuned<'a> {
    cell: &'a StudyCell,
    repeat: u32,
    gap: f64,
}

/// The validation score of what was chosen: the best at full effort.
fn score_of_chosen(tuning: &Tuning) -> Option<f64> {
    let full = tuning.history.iter().filter(|step| step.effort >= 1.0);
    full.filter_map(|step| step.score).max_by(f64::total_cmp)
}

/// Error rate or root mean squared error of a score of which more is better.
fn error_of(metric: Metric, score: f64) -> f64 {
    if metric.larger_is_better() { 1.0 - score } else { -score }
}

/// The tuned trials of a cell that ended with a score. An error of 0 on either side has no ratio.
fn tuned(cell: &StudyCell) -> Vec<Tuned<'_>> {
    let metric = cell.metric();
    let tested: BTreeMap<u32, f64> = cell.of(metric.name()).into_iter().collect();
    let of_trial = |trial: &mercer_harness::Trial| {
        let TuningSource::Tuner { archived: Some(tuning), .. } = &trial.tuning else { return None };
        let seen = error_of(metric, score_of_chosen(tuning)?);
        let repeat = trial.key.repeat;
        let test = *tested.get(&repeat)?;
        let test = if metric.larger_is_better() { 1.0 - test } else { test };
        let gap = (test / seen).ln();
        gap.is_finite().then_some(Tuned { cell, repeat, gap })
    };
    cell.trials().filter_map(of_trial).collect()
}

/// The value below which a share of the sorted values lies, between two of them by interpolation.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

fn line(study: &str, label: &str, trials: &[Tuned<'_>]) -> Result<Row, ExperimentError> {
    let mut gaps: Vec<f64> = trials.iter().map(|trial| trial.gap).collect();
    gaps.sort_by(f64::total_cmp);
    let mut of_dataset: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for trial in trials {
        of_dataset.entry(&trial.cell.key().dataset).or_default().push(trial.gap);
    }
    let means: Vec<f64> =
        of_dataset.values().map(|gaps| gaps.iter().sum::<f64>() / gaps.len() as f64).collect();
    let p = wilcoxon_signed_rank(&means)?.p_two_sided;
    let ratio = |share: f64| quantile(&gaps, share).exp();
    let worst = trials.iter().max_by(|a, b| a.gap.total_cmp(&b.gap));
    let worst = worst.map_or_else(Cell::default, |worst| {
        let key = worst.cell.key();
        Cell::number(worst.gap.exp(), 2).detail(format!(
            "{}, {}, repeat {}",
            key.dataset,
            key.variant,
            worst.repeat + 1
        ))
    });
    Ok(Row::new([
        Cell::text(study),
        Cell::text(label),
        Cell::count(trials.len()),
        Cell::count(of_dataset.len()),
        Cell::number(ratio(0.5), 3),
        Cell::text(format!("{:.2} to {:.2}", ratio(0.25), ratio(0.75))),
        Cell::number(p, 2),
        worst,
    ]))
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Ratio of the error on the test rows to the error on the held-out rows that chose the settings, for every tuned trial. Errors are error rates, or RMSE for numeric targets.")
        .note("The held-out error is the least of three, which makes it too small. The test error is of a fit to all training rows, a quarter more, which makes it smaller.")
        .note("Median and quartiles: over the trials of all variants.")
        .note("p: Wilcoxon's signed rank test of the datasets' mean logarithms, not corrected for the number of rows here.")
        .note("Largest: the largest ratio, from a final fit that differs from the tuner's fits.")
        .columns([Column::left("Study"), Column::left("Method")])
        .columns(
            ["Trials", "Datasets", "Median", "Quartiles", "p", "Largest"].map(Column::right),
        );
    for study in STUDIES {
        let cells = context.cells(study)?;
        let mut methods: Vec<(&str, Vec<Tuned<'_>>)> = Vec::new();
        for cell in &cells.1 {
            let trials = tuned(cell);
            match methods.iter_mut().find(|(method, _)| *method == cell.key().method) {
                Some((_, all)) => all.extend(trials),
                None => methods.push((&cell.key().method, trials)),
            }
        }
        for (method, trials) in methods.iter().filter(|(_, trials)| !trials.is_empty()) {
            table = table.row(line(study, method, trials)?);
        }
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_records::TuningStep;

    #[test]
    fn the_best_at_full_effort_was_chosen_and_errors_are_positive() {
        let step = |effort, score| TuningStep { settings: BTreeMap::new(), effort, score };
        let history = vec![
            step(0.3, Some(0.99)),
            step(1.0, Some(0.9)),
            step(1.0, None),
            step(1.0, Some(0.95)),
        ];
        let tuning = Tuning { chosen: BTreeMap::new(), history };
        let score = score_of_chosen(&tuning).unwrap();
        assert!((error_of(Metric::Accuracy, score) - 0.05).abs() < 1e-12);
        assert!((error_of(Metric::Rmse, -12.5) - 12.5).abs() < 1e-12);
        let none = Tuning { chosen: BTreeMap::new(), history: vec![step(0.3, Some(0.99))] };
        assert_eq!(score_of_chosen(&none), None);
    }

    #[test]
    fn quantiles_lie_between_values() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (share, value) in [(0.0, 1.0), (0.25, 1.75), (0.5, 3.0), (1.0, 8.0)] {
            assert!((quantile(&sorted, share) - value).abs() < 1e-12, "{share}");
        }
        assert!((quantile(&[3.0], 0.25) - 3.0).abs() < 1e-12);
    }
}
