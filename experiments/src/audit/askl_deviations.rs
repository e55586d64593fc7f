//! Can the printed deviations come from random splits?

use super::rows::rows;
use crate::askl::METHODS;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::binomial_deviation;

/// Deviation in points that `rows` test rows alone give an accuracy in percent.
///
/// # Errors
/// If the accuracy is outside 0 to 100, or there are no rows.
pub(crate) fn binomial_points(accuracy: f64, rows: usize) -> Result<f64, ExperimentError> {
    Ok(100.0 * binomial_deviation(accuracy / 100.0, rows as u64)?)
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("askl/table2")?;
    let (_, printed) = context.catalogue.published("askl")?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("Printed deviation of the accuracy over 30 repeats, in points. Below it: the binomial deviation of the printed accuracy on that many test rows, and our deviation over repeats in the variant `released`, which has the variation of splits, starts and batches in it. Bold: printed mean plus printed deviation exceeds 100 %.")
        .columns([Column::left("Dataset"), Column::right("Test rows")])
        .columns(METHODS.map(|name| Column::right(name.to_uppercase())));
    let mut datasets: Vec<&str> = Vec::new();
    for cell in printed.iter().filter(|cell| cell.metric == "accuracy_percent") {
        if !datasets.contains(&cell.dataset.as_str()) {
            datasets.push(&cell.dataset);
        }
    }
    for dataset in datasets {
        let (_, test) = rows(dataset)?;
        let mut line = vec![Cell::text(dataset), Cell::count(test)];
        for method in METHODS {
            let theirs = printed
                .iter()
                .find(|cell| cell.dataset == dataset && cell.method.eq_ignore_ascii_case(method));
            let Some(theirs) = theirs else {
                line.push(Cell::text(""));
                continue;
            };
            let sampling = binomial_points(theirs.mean, test)?;
            let ours = study.1.iter().find(|cell| {
                let key = cell.key();
                (key.variant.as_str(), key.dataset.as_str(), key.method.as_str())
                    == ("released", dataset, method)
            });
            // One repeat has no deviation.
            let ours = ours.and_then(StudyCell::score).filter(|score| score.repeats > 1);
            let ours =
                ours.map_or_else(|| "not run".to_owned(), |score| format!("{:.2}", score.std));
            let shown =
                Cell::number(theirs.std, 2).detail(format!("binomial {sampling:.2}; ours {ours}"));
            line.push(if theirs.mean + theirs.std > 100.0 { shown.bold() } else { shown });
        }
        table = table.row(Row::new(line));
    }
    Ok(Rendered { tables: vec![table], ..Rendered::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn sampling_alone_gives_a_tenth_of_a_point_on_thousands_of_rows() {
        for (accuracy, dataset, points) in
            [(98.3, "mnist", 0.13), (98.98, "shuttle", 0.11), (95.7, "letter", 0.37)]
        {
            let found = binomial_points(accuracy, rows(dataset).unwrap().1).unwrap();
            assert_relative_eq!(found, points, epsilon = 5e-3);
        }
        assert!(binomial_points(101.0, 5).is_err());
    }
}
