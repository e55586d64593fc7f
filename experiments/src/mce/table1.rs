//! Table 1: accuracy on six datasets, ten folds.

use mercer_harness::{Trial, TuningSource};
use mercer_records::Tuning;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    rendered.tables.push(others()?);
    rendered.tables.extend(ties(context)?);
    Ok(rendered)
}

/// How a tuning ended.
#[derive(Debug, PartialEq)]
struct Finish {
    /// Candidates with a score at full effort.
    compared: usize,
    /// Whether two or more share the best score.
    shared: bool,
    /// Whether all have the same.
    equal: bool,
    /// Whether the first of all candidates was chosen.
    first: bool,
}

impl Finish {
    fn of(tuning: &Tuning) -> Option<Self> {
        let full = tuning.history.iter().filter(|step| step.effort >= 1.0);
        let scores: Vec<f64> = full.filter_map(|step| step.score).collect();
        let best = scores.iter().copied().max_by(f64::total_cmp)?;
        let on_top = scores.iter().filter(|score| score.to_bits() == best.to_bits()).count();
        Some(Self {
            compared: scores.len(),
            shared: on_top > 1,
            equal: on_top > 1 && on_top == scores.len(),
            first: tuning.history.first().is_some_and(|step| step.settings == tuning.chosen),
        })
    }
}

/// How often the last candidates were equal on held-out rows; nothing where nothing was tuned.
fn ties(context: &RenderContext<'_>) -> Result<Option<Table>, ExperimentError> {
    let study = context.cells("mce/table1")?;
    let of_trial = |trial: &Trial| {
        let TuningSource::Tuner { archived: Some(tuning), .. } = &trial.tuning else { return None };
        Finish::of(tuning)
    };
    let mut table = Table::new("mce/table1-ties", "How often candidates tie on held-out rows")
        .caption("`tuned` chooses settings by accuracy on a fifth of the training rows (32 on wine). Where all candidates at full effort are equal, their order chose.")
        .note("Compared: the most candidates with a score at full effort. The other columns count tunings: the best score is shared, all scores are equal, the first candidate is chosen.")
        .note("Equal candidates keep the order of the rung before. At first that is the order of drawing, with the defaults before all others.")
        .columns(["Dataset", "Method"].map(Column::left))
        .columns(
            ["Tunings", "Compared", "The best is shared", "All are equal", "The first is chosen"]
                .map(Column::right),
        );
    for cell in &study.1 {
        let found: Vec<Finish> = cell.trials().filter_map(of_trial).collect();
        let Some(compared) = found.iter().map(|finish| finish.compared).max() else { continue };
        let count =
            |test: fn(&Finish) -> bool| Cell::count(found.iter().filter(|f| test(f)).count());
        let row = Row::new([
            Cell::text(&cell.key().dataset),
            Cell::text(cell.label()),
            Cell::count(found.len()),
            Cell::count(compared),
            count(|finish| finish.shared),
            count(|finish| finish.equal),
            count(|finish| finish.first),
        ]);
        table = table.row(row.under(&cell.key().dataset));
    }
    Ok((!table.rows.is_empty()).then_some(table))
}

/// The row "Others" of the printed table: what the paper quotes from the literature.
fn others() -> Result<Table, ExperimentError> {
    let mut table = Table::new("mce/table1-others", "Results that the paper quotes from others")
        .caption("The row `Others` of the printed Table 1. These numbers come without a protocol, so they cannot be compared with our numbers.")
        .columns([Column::left("Dataset"), Column::right("Accuracy (%)"), Column::left("Source")]);
    for number in
        crate::catalogue().quoted("mce")?.into_iter().filter(|number| number.method == "Others")
    {
        table = table.row(Row::new([
            Cell::text(number.dataset),
            Cell::number(number.mean, 2),
            Cell::text(number.setting),
        ]));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_records::TuningStep;
    use std::collections::BTreeMap;

    #[test]
    fn a_tie_is_one_of_the_best_at_full_effort() {
        let settings = |length: f64| BTreeMap::from([("length".to_owned(), length.into())]);
        let step = |length, effort, score| TuningStep { settings: settings(length), effort, score };
        let tuned = |chosen, scores: [Option<f64>; 3]| {
            let mut history = vec![step(1.0, 0.3, Some(0.5)), step(2.0, 0.3, Some(0.5))];
            let full = scores.into_iter().zip([1.0, 2.0, 3.0]);
            history.extend(full.map(|(score, length)| step(length, 1.0, score)));
            Finish::of(&Tuning { chosen: settings(chosen), history })
        };
        let finish =
            |compared, shared, equal, first| Some(Finish { compared, shared, equal, first });
        assert_eq!(tuned(1.0, [Some(0.9); 3]), finish(3, true, true, true));
        assert_eq!(tuned(2.0, [Some(0.8), Some(0.9), Some(0.9)]), finish(3, true, false, false));
        assert_eq!(tuned(3.0, [Some(0.8), Some(0.7), Some(0.9)]), finish(3, false, false, false));
        // Nothing was equal where nothing else had a score.
        assert_eq!(tuned(1.0, [Some(0.9), None, None]), finish(1, false, false, true));
        assert_eq!(tuned(1.0, [None; 3]), None);
    }
}
