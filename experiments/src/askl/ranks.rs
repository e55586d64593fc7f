//! Over all datasets: mean ranks with the critical difference, and practical equivalence of ASKL
//! and NSKL dataset by dataset. Ours; the paper stops at single rows.

use super::METHODS;
use mercer_render::{Cell, Column, Row, Table, critical_difference};
use mercer_report::common_repeats;
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::{bayesian_correlated_t, friedman, nemenyi_critical_difference};

/// Half-width of the region of practical equivalence: one point of accuracy or of RMSE.
const ROPE: f64 = 1.0;
/// Level of the critical difference.
const LEVEL: f64 = 0.05;

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("askl/table2")?;
    let (spec, cells) = &*study;
    let mut ranks = Table::new(&artefact.id, &artefact.title)
        .caption("Mean rank of each method over the datasets (1 is best). Two methods differ significantly where their mean ranks differ by more than the critical difference (Nemenyi, 5 %).")
        .note("Datasets: all on which every method of the row has a score. A method counts by its mean over the repeats that all of them have.")
        .note("F and p: Friedman's test with the F statistic of Iman and Davenport.")
        .columns([Column::left("Variant")])
        .columns(METHODS.map(|name| Column::right(name.to_uppercase())))
        .columns(["Datasets", "F", "p", "Critical difference"].map(Column::right));
    let mut equivalence = Table::new("askl/ranks-equivalence", "ASKL against NSKL: worse, equivalent, better")
        .caption("Posterior probability that ASKL is worse than NSKL by more than one point, equivalent (within one point) or better by more than one point. It is from the Bayesian correlated t-test.")
        .note("A point is a point of accuracy, or of the RMSE of targets in [0, 100].")
        .note("Pairs: repeats that both methods have.")
        .columns(["Variant", "Dataset"].map(Column::left))
        .columns(["Worse", "Equivalent", "Better", "Pairs"].map(Column::right));
    let mut drawings = Vec::new();
    for variant in &spec.variants {
        let of_variant: Vec<&StudyCell> =
            cells.iter().filter(|cell| cell.key().variant == variant.name).collect();
        let scores = scores(&of_variant, &spec.datasets);
        if scores.len() > 1 {
            let test = friedman(&scores, true)?;
            let cd = nemenyi_critical_difference(METHODS.len(), scores.len(), LEVEL)?;
            let mut row = vec![Cell::text(&variant.name)];
            row.extend(test.average_ranks.iter().map(|&rank| Cell::number(rank, 2)));
            row.push(Cell::count(scores.len()));
            row.push(Cell::number(test.iman_davenport, 2));
            row.push(Cell::text(format!("{:.1e}", test.p_iman_davenport)));
            row.push(Cell::number(cd, 2));
            ranks = ranks.row(Row::new(row));
            let named: Vec<(String, f64)> =
                METHODS.iter().map(|name| name.to_uppercase()).zip(test.average_ranks).collect();
            drawings.push(Drawing::Diagram(critical_difference(
                format!("askl/ranks-{}", variant.name),
                format!("Mean ranks, variant {}, {} datasets", variant.name, scores.len()),
                &named,
                cd,
            )?));
        }
        for dataset in &spec.datasets {
            if let Some(row) = posterior(&of_variant, dataset)? {
                let mut line = vec![Cell::text(&variant.name), Cell::text(dataset)];
                line.extend(row);
                equivalence = equivalence.row(Row::new(line));
            }
        }
    }
    Ok(Rendered { tables: vec![ranks, equivalence], drawings, ..Rendered::default() })
}

fn find<'a>(cells: &[&'a StudyCell], dataset: &str, method: &str) -> Option<&'a StudyCell> {
    cells.iter().copied().find(|cell| cell.key().dataset == dataset && cell.key().method == method)
}

/// One row a dataset, one column a method, over the repeats that all of them have; larger is better
/// throughout.
fn scores(cells: &[&StudyCell], datasets: &[String]) -> Vec<Vec<f64>> {
    let row = |dataset: &String| -> Option<Vec<f64>> {
        let row: Option<Vec<&StudyCell>> =
            METHODS.iter().map(|method| find(cells, dataset, method)).collect();
        let row = row?;
        let common = common_repeats(&row);
        let sign = |cell: &StudyCell| if cell.metric().larger_is_better() { 1.0 } else { -1.0 };
        row.iter().map(|cell| Some(sign(cell) * cell.mean_over(&common)?)).collect()
    };
    datasets.iter().filter_map(row).collect()
}

/// Worse, equivalent, better, pairs; `None` where nothing is resampled or too little was run.
fn posterior(cells: &[&StudyCell], dataset: &str) -> Result<Option<[Cell; 4]>, ExperimentError> {
    let (Some(askl), Some(nskl)) = (find(cells, dataset, "askl"), find(cells, dataset, "nskl"))
    else {
        return Ok(None);
    };
    let ratio = askl.test_over_train();
    let theirs: std::collections::BTreeMap<u32, f64> = nskl.values().into_iter().collect();
    let sign = if askl.metric().larger_is_better() { 1.0 } else { -1.0 };
    let gains: Vec<f64> = askl
        .values()
        .into_iter()
        .filter_map(|(repeat, value)| Some(sign * (value - theirs.get(&repeat)?)))
        .collect();
    if gains.len() < 2 || ratio == 0.0 {
        return Ok(None);
    }
    let test = bayesian_correlated_t(&gains, ratio / (1.0 + ratio), ROPE)?;
    Ok(Some([
        Cell::number(test.left, 3),
        Cell::number(test.rope, 3),
        Cell::number(test.right, 3),
        Cell::count(gains.len()),
    ]))
}
