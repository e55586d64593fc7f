//! Does the trace penalty of RFTK do anything? The control that the code leaves in a comment.

use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_report::{PairSide as Side, not_run_yet};
use mercer_statistics::summarise;
use std::collections::BTreeMap;

const STUDY: &str = "rftk/table1";

/// With the penalty and without it: variants of RFTK.
const CONTROLS: [(&str, &str); 3] =
    [("released", "no-trace"), ("printed", "printed-no-trace"), ("tuned", "tuned-no-trace")];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mut rendered = artefact.declared(context)?;
    rendered.tables.push(steps(context)?);
    Ok(rendered)
}

/// In how many steps the penalty had a say, and what it did to what it penalises.
fn steps(context: &RenderContext<'_>) -> Result<Table, ExperimentError> {
    let study = context.cells(STUDY)?;
    let mut table = Table::new("audit/rftk-beta-zero-steps", "How often the penalty acted, and what it did to the trace")
        .caption("In how many steps the trace penalty of RFTK acted, and what it did to the trace that it should make small. Means over the repeats that both sides, with and without the penalty, have.")
        .note("Moves: steps in which the frequencies moved. Penalised: moves in which the penalty took part.")
        .note("Tr(K)/n: trace of the kernel matrix of the training rows over n, at the end. Gain: accuracy with minus without the penalty, in points.")
        .note("Level: repeats in which both sides have the same accuracy.")
        .note("Alike: repeats in which both sides have the same settings except beta. Where both are tuned, their searches draw the same candidates.")
        .columns(["Variant", "Dataset"].map(Column::left))
        .columns(["Moves", "Penalised"].map(Column::right))
        .columns(["with", "without"].map(|head| Column::right(head).under("Tr(K)/n")))
        .columns(["Gain", "Level", "Alike", "Repeats"].map(Column::right));
    let sides = CONTROLS.map(|(with, without)| [with, without]);
    let sides = sides.concat().into_iter().map(|variant| Side::new(STUDY, variant, "rftk"));
    if let Some(note) = not_run_yet(context, sides.collect::<Vec<_>>().iter())? {
        table = table.note(note);
    }
    for (with, without) in CONTROLS {
        for dataset in &study.0.datasets {
            let side = |variant: &str| {
                study.1.iter().find(|cell| {
                    let key = cell.key();
                    (key.variant.as_str(), &key.dataset, key.method.as_str())
                        == (variant, dataset, "rftk")
                })
            };
            let (Some(with), Some(without)) = (side(with), side(without)) else { continue };
            if let Some(row) = Steps::of(with, without) {
                table = table.row(row.shown(with));
            }
        }
    }
    Ok(table)
}

/// Both sides over their common repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Steps {
    moves: f64,
    penalised: f64,
    traces: [f64; 2],
    gain: f64,
    level: usize,
    alike: usize,
    repeats: usize,
}

impl Steps {
    fn of(with: &StudyCell, without: &StudyCell) -> Option<Self> {
        let scored =
            |cell: &StudyCell| -> BTreeMap<u32, f64> { cell.values().into_iter().collect() };
        let (ours, control) = (scored(with), scored(without));
        let common: Vec<u32> =
            ours.keys().copied().filter(|repeat| control.contains_key(repeat)).collect();
        let mean = |cell: &StudyCell, name: &str| {
            let of_common = cell.of(name).into_iter().filter(|(repeat, _)| common.contains(repeat));
            let values: Vec<f64> = of_common.map(|(_, value)| value).collect();
            summarise(&values).map(|spread| spread.mean)
        };
        // Both tuned or both not: what each side fitted with, its penalty apart.
        let fitted = |cell: &StudyCell, repeat: u32| {
            let record = cell.records().find(|record| record.key.repeat == repeat)?;
            let mut settings = record.result.settings.clone();
            settings.remove("beta");
            Some(settings)
        };
        let trace = "feature-norm-squared";
        let gains = common.iter().map(|repeat| ours[repeat] - control[repeat]);
        Some(Self {
            moves: mean(with, "frequency-steps")?,
            penalised: mean(with, "penalised-steps")?,
            traces: [mean(with, trace)?, mean(without, trace)?],
            gain: summarise(&gains.collect::<Vec<_>>())?.mean,
            // Shares of at most 60,000 rows, in percent.
            level: common
                .iter()
                .filter(|repeat| (ours[repeat] - control[repeat]).abs() < 1e-6)
                .count(),
            alike: common
                .iter()
                .filter(|&&repeat| fitted(with, repeat) == fitted(without, repeat))
                .count(),
            repeats: common.len(),
        })
    }

    fn shown(self, with: &StudyCell) -> Row {
        let share =
            |count: usize| Cell::text(format!("{count}/{}", self.repeats)).sort(count as f64);
        Row::new([
            Cell::text(&with.key().variant),
            Cell::text(&with.key().dataset),
            Cell::number(self.moves, 0),
            Cell::number(self.penalised, 0),
            Cell::number(self.traces[0], 3),
            Cell::number(self.traces[1], 3),
            Cell::number(self.gain, 2),
            share(self.level),
            share(self.alike),
            Cell::count(self.repeats),
        ])
    }
}
