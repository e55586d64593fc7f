//! Does a smaller objective go with a better score? Each method minimises its own.

use crate::askl::METHODS;
use mercer_learning::fact;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::common_repeats;
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::summarise;

/// Objective, loss and score of the five methods on one dataset in one variant, at the end of
/// training, means over the repeats that all five have.
struct Ends<'a> {
    cells: Vec<&'a StudyCell>,
    objectives: Vec<f64>,
    losses: Vec<f64>,
    scores: Vec<f64>,
}

impl<'a> Ends<'a> {
    /// If all five are there.
    fn of(cells: &'a [StudyCell], variant: &str, dataset: &str) -> Option<Self> {
        let mut ends = Ends {
            cells: Vec::new(),
            objectives: Vec::new(),
            losses: Vec::new(),
            scores: Vec::new(),
        };
        for method in METHODS {
            ends.cells.push(cells.iter().find(|cell| {
                let key = cell.key();
                (key.variant.as_str(), key.dataset.as_str(), key.method.as_str())
                    == (variant, dataset, method)
            })?);
        }
        let common = common_repeats(&ends.cells);
        for cell in &ends.cells {
            let mean = |name: &str| {
                let of_repeats = cell.of(name).into_iter();
                let values: Vec<f64> = of_repeats
                    .filter(|(repeat, _)| common.contains(repeat))
                    .map(|(_, value)| value)
                    .collect();
                summarise(&values).map(|summary| summary.mean)
            };
            ends.objectives.push(mean(fact::OBJECTIVE)?);
            ends.losses.push(mean(fact::LOSS)?);
            ends.scores.push(cell.mean_over(&common)?);
        }
        Some(ends)
    }

    /// In how many of the pairs of methods the one with the smaller value scores better.
    fn concordant(&self, values: &[f64]) -> usize {
        let larger_is_better = self.cells[0].metric().larger_is_better();
        pairs(values.len())
            .filter(|&(a, b)| {
                let better = (self.scores[a] > self.scores[b]) == larger_is_better;
                (values[a] < values[b]) == better
            })
            .count()
    }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}

/// Over the datasets of a variant: pairs of methods, and those in which the smaller objective
/// (or loss) scores better.
pub(crate) struct Concordance {
    /// Pairs of methods.
    pub pairs: usize,
    /// Agreeing by the objective.
    pub by_objective: usize,
    /// Agreeing by the loss alone.
    pub by_loss: usize,
}

/// Counts the pairs of a variant; `None` without a complete row.
///
/// # Errors
/// Of the context.
pub(crate) fn concordance(
    context: &RenderContext<'_>,
    variant: &str,
) -> Result<Option<Concordance>, ExperimentError> {
    let study = context.cells("askl/table2")?;
    let mut total = Concordance { pairs: 0, by_objective: 0, by_loss: 0 };
    for dataset in &study.0.datasets {
        if let Some(ends) = Ends::of(&study.1, variant, dataset) {
            total.pairs += pairs(ends.cells.len()).count();
            total.by_objective += ends.concordant(&ends.objectives);
            total.by_loss += ends.concordant(&ends.losses);
        }
    }
    Ok((total.pairs > 0).then_some(total))
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("askl/table2")?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Objective at the end of training and, below it, loss and score (accuracy in percent, or RMSE), means over repeats that all methods have. Objectives of different methods do not compare, since their penalties differ.")
        .note("Loss: mean over the batches of the last pass, each at the weights it met.")
        .note("Objective: that loss plus the penalties at the weights after the last step, so it is no value at a single point. The features' norm is over rows of the training part.")
        .note("SK to NSKL add λ1 ‖W‖. ASKL adds λ1 ‖W‖_* and λ2 ‖φ‖.")
        .note("Pairs that agree: in how many of the ten pairs of methods the smaller value goes with the better score.")
        .columns([Column::left("Dataset")])
        .columns(METHODS.map(|name| Column::right(name.to_uppercase())))
        .columns(["By objective", "By loss"].map(|head| Column::right(head).under("pairs that agree")));
    for variant in &study.0.variants {
        for dataset in &study.0.datasets {
            let Some(ends) = Ends::of(&study.1, &variant.name, dataset) else { continue };
            let mut line = vec![Cell::text(dataset)];
            for i in 0..ends.cells.len() {
                let (objective, loss) = (ends.objectives[i], ends.losses[i]);
                let detail = format!("loss {loss:.4}; score {:.2}", ends.scores[i]);
                line.push(Cell::number(objective, 4).detail(detail));
            }
            line.push(Cell::count(ends.concordant(&ends.objectives)));
            line.push(Cell::count(ends.concordant(&ends.losses)));
            table = table.row(Row::new(line).under(&variant.name));
        }
        table = table.note(match concordance(context, &variant.name)? {
            None => format!("{}: not run yet.", variant.name),
            Some(Concordance { pairs, by_objective, by_loss }) => format!(
                "{}: the smaller objective scores better in {by_objective} of {pairs} pairs, the smaller loss in {by_loss}.",
                variant.name
            ),
        });
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}
