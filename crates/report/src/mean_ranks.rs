//! The methods of a printed table ranked over its datasets, and two of them held against each other dataset by
//! dataset.

use crate::cell::{common_repeats, paired};
use crate::published::PublishedCell;
use crate::rendered::Head;
use crate::results_table::ResultsTable;
use crate::{Catalogue, ExperimentError, StudyCell};
use mercer_harness::Spec;
use mercer_render::{
    Cell, Column, Diagram, MeanRanks, Row, Table, critical_differences, probability,
};
use mercer_statistics::{
    bayesian_correlated_t, friedman, nemenyi_critical_difference, without_rounding,
};

/// Half-width of the region of practical equivalence: one point of accuracy or of RMSE.
const ROPE: f64 = 1.0;
/// Level of the critical difference.
const LEVEL: f64 = 0.05;

impl ResultsTable {
    /// The ranks and the equivalence of all variants but our controls.
    pub(crate) fn ranked(
        &self,
        head: Head<'_>,
        catalogue: &Catalogue,
        (spec, cells): (&Spec, &[StudyCell]),
    ) -> Result<(Option<Diagram>, Table), ExperimentError> {
        let all = spec.variants.iter().map(|variant| variant.name.as_str());
        let variants: Vec<&str> =
            all.filter(|name| self.controls.iter().all(|control| control != name)).collect();
        let (_, printed) = catalogue.published(&self.paper)?;
        let ranks = self.mean_ranks(head, &variants, &spec.datasets, (cells, &printed))?;
        Ok((ranks, self.equivalence(head, &variants, &spec.datasets, cells)?))
    }

    /// A line of ranks for each variant in which two datasets or more have a score of every printed method.
    fn mean_ranks(
        &self,
        head: Head<'_>,
        variants: &[&str],
        datasets: &[String],
        (cells, printed): (&[StudyCell], &[PublishedCell]),
    ) -> Result<Option<Diagram>, ExperimentError> {
        let print = |dataset: &String| self.printed_scores(printed, dataset);
        let mut lines = Vec::new();
        lines.extend(
            self.line("published", &datasets.iter().filter_map(print).collect::<Vec<_>>())?,
        );
        for variant in variants {
            let own = |cell: &&StudyCell| cell.key().variant == *variant;
            let own: Vec<&StudyCell> = cells.iter().filter(own).collect();
            let scores: Vec<Vec<f64>> =
                datasets.iter().filter_map(|dataset| self.scores(&own, dataset)).collect();
            lines.extend(self.line(variant, &scores)?);
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let (id, title) = (format!("{}-mean-ranks", head.id), "Mean ranks over the datasets");
        let diagram = critical_differences(id, title, &lines)?;
        Ok(Some(diagram.caption(
            "1 is best. A bar joins methods that do not differ significantly by ranks alone (Nemenyi, 5 %). p: Friedman's test in the form of Iman and Davenport. Datasets on which all methods have a score; means over their common repeats. Claims are decided by a stronger test, which uses the repeats.",
        )))
    }

    /// A line of ranks; none of fewer than two datasets.
    fn line(&self, name: &str, scores: &[Vec<f64>]) -> Result<Option<MeanRanks>, ExperimentError> {
        if scores.len() < 2 {
            return Ok(None);
        }
        let (methods, datasets) = (self.columns.len(), scores.len());
        let test = friedman(scores, true)?;
        let p = if test.degenerate { test.p_chi_squared } else { test.p_iman_davenport };
        let names = self.columns.iter().map(|(_, printed)| printed.clone());
        Ok(Some(MeanRanks {
            name: format!("{name}, {datasets} datasets, p = {}", probability(p)),
            ranks: names.zip(test.average_ranks).collect(),
            critical_difference: nemenyi_critical_difference(methods, datasets, LEVEL)?,
        }))
    }

    /// The printed means of a dataset, larger is better; none where one is missing.
    fn printed_scores(&self, printed: &[PublishedCell], dataset: &str) -> Option<Vec<f64>> {
        let of = |method: &String| {
            let own = |cell: &&PublishedCell| {
                cell.published && cell.dataset == dataset && cell.method == *method
            };
            let cell = printed.iter().find(own)?;
            let sign = if cell.metric.starts_with("accuracy") { 1.0 } else { -1.0 };
            Some(sign * cell.mean)
        };
        self.columns.iter().map(|(_, method)| of(method)).collect()
    }

    /// The scores of the printed methods on a dataset, larger is better; none where one of them is missing.
    fn scores(&self, cells: &[&StudyCell], dataset: &str) -> Option<Vec<f64>> {
        let row: Option<Vec<&StudyCell>> =
            self.columns.iter().map(|(method, _)| find(cells, dataset, method)).collect();
        let row = row.filter(|row| row.iter().all(|cell| cell.subset_of().is_none()))?;
        let common = common_repeats(&row);
        let sign = |cell: &StudyCell| if cell.metric().larger_is_better() { 1.0 } else { -1.0 };
        row.iter()
            .map(|cell| Some(sign(cell) * without_rounding(cell.mean_over(&common)?)))
            .collect()
    }

    /// How probable it is on each dataset that the first of two methods is worse, practically equivalent, better.
    fn equivalence(
        &self,
        head: Head<'_>,
        variants: &[&str],
        datasets: &[String],
        cells: &[StudyCell],
    ) -> Result<Table, ExperimentError> {
        let [first, second] = &self.equivalent;
        let printed = |method: &String| {
            self.columns.iter().find(|(own, _)| own == method).map_or("", |(_, printed)| printed)
        };
        let (a, b) = (printed(first), printed(second));
        let title = format!("{a} against {b}: worse, equivalent, better");
        let mut table = Table::new(format!("{}-equivalence", head.id), title)
            .caption(format!("Posterior probability that {a} is worse than {b} by more than one point, within one point (equivalent) or better by more than one point. It is from the Bayesian correlated t-test."))
            .note("A point is a point of accuracy, or of the RMSE of targets in [0, 100]. Pairs: repeats that both methods have.")
            .columns(["Variant", "Dataset"].map(Column::left))
            .columns(["Worse", "Equivalent", "Better", "Pairs"].map(Column::right));
        for variant in variants {
            let own = |cell: &&StudyCell| cell.key().variant == *variant;
            let own: Vec<&StudyCell> = cells.iter().filter(own).collect();
            for dataset in datasets {
                let both = (find(&own, dataset, first), find(&own, dataset, second));
                let (Some(first), Some(second)) = both else { continue };
                if let Some(row) = posterior(first, second)? {
                    let line = [*variant, dataset].map(Cell::text);
                    table = table.row(Row::new(line.into_iter().chain(row)));
                }
            }
        }
        Ok(table)
    }
}

/// A cell that was solved: what stopped short has no rank.
fn find<'a>(cells: &[&'a StudyCell], dataset: &str, method: &str) -> Option<&'a StudyCell> {
    let own = |cell: &&StudyCell| cell.key().dataset == dataset && cell.key().method == method;
    cells.iter().copied().find(own).filter(|cell| cell.score().is_some() && !cell.unsolved())
}

/// Worse, equivalent, better, pairs; none where nothing is resampled or too little was run.
fn posterior(a: &StudyCell, b: &StudyCell) -> Result<Option<[Cell; 4]>, ExperimentError> {
    let ratio = a.test_over_train();
    let sign = if a.metric().larger_is_better() { 1.0 } else { -1.0 };
    let gains: Vec<f64> = paired(a, b).into_iter().map(|gain| sign * gain).collect();
    if gains.len() < 2 || ratio == 0.0 {
        return Ok(None);
    }
    let test = bayesian_correlated_t(&gains, ratio / (1.0 + ratio), ROPE)?;
    let parts = [test.left, test.rope, test.right].map(|part| Cell::number(part, 3));
    let [worse, equivalent, better] = parts;
    Ok(Some([worse, equivalent, better, Cell::count(gains.len())]))
}
