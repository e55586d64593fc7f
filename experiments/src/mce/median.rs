//! The median heuristic with ridges that the paper does not state, on the folds of GMCE.

use super::{Cells, accuracy, mean_of, shown};
use mercer_render::{Axis, Cell, Column, Figure, Mark, Panel, Row, Series, Style, Table};
use mercer_report::PublishedCell;
use mercer_report::{
    Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell, compare,
};
use mercer_report::{PublishedComparison, badge};
use mercer_statistics::summarise;

/// The least ridge that the cross-validated embedding tries.
const LEAST_RIDGE: f64 = 1e-6;

/// Variants and their ridges.
const RIDGES: [(&str, f64); 9] = [
    ("median-1e-8", 1e-8),
    ("median-1e-7", 1e-7),
    ("median-1e-6", 1e-6),
    ("median-1e-5", 1e-5),
    ("median-1e-4", 1e-4),
    ("median-1e-3", 1e-3),
    ("median-1e-2", 1e-2),
    ("median-1e-1", 1e-1),
    ("median-1", 1.0),
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let cells = Cells::of(context)?;
    let (_, printed) = context.catalogue.published("mce")?;
    let mut table = Table::new(&artefact.id, &artefact.title)
        .caption("One length scale, the median distance of the training rows, and a fixed ridge: nothing is learned. Accuracy in percent on the released folds; the difference to GMCE on the same folds with its corrected 95 % interval.")
        .columns(["Dataset", "Method"].map(Column::left))
        .columns(["Ridge", "Accuracy", "minus GMCE", "95 % interval", "p corrected"].map(Column::right));
    let mut figure = Figure::new("audit/mce-median-ridges", &artefact.title)
        .caption("Accuracy of the median heuristic against its ridge, on the folds of GMCE. Horizontal: GMCE, and what the paper prints for the median heuristic.")
        .columns(2);
    for dataset in &cells.table.0.datasets {
        let gmce = cells.find("released", dataset, "gmce");
        if RIDGES.iter().all(|(variant, _)| cells.find(variant, dataset, "mce-median").is_none()) {
            continue;
        }
        let learned = [("gmce", "GMCE"), ("mce-erm", "ERM"), ("mce-cv", "CV")];
        let rows = learned
            .iter()
            .map(|(method, name)| {
                ((*name).to_owned(), None, cells.find("released", dataset, method))
            })
            .chain(RIDGES.iter().map(|(variant, ridge)| {
                ("MED".to_owned(), Some(*ridge), cells.find(variant, dataset, "mce-median"))
            }));
        let mut points = Vec::new();
        for (name, ridge, cell) in rows {
            let mut line = vec![
                Cell::text(dataset),
                Cell::text(&name),
                ridge.map_or_else(
                    || Cell::text("learned"),
                    |r| Cell::text(format!("{r:e}")).sort(r),
                ),
                accuracy(cell),
            ];
            line.extend(against(cell, gmce.filter(|_| name != "GMCE"))?);
            table = table.row(Row::new(line).under(dataset));
            if let (Some(ridge), Some(score)) = (ridge, cell.and_then(StudyCell::score)) {
                points.push((ridge, score.mean));
            }
        }
        let mut panel = Panel::new(Axis::log10("ridge λ"), Axis::linear("accuracy (%)"))
            .title(dataset)
            .series(Series::line("median heuristic", points).style(Style::LinePoints));
        if let Some(score) = gmce.and_then(StudyCell::score) {
            panel = panel.mark(Mark::Horizontal { y: score.mean, label: "GMCE".to_owned() });
        }
        if let Some(theirs) = printed.iter().find(|p| p.dataset == *dataset && p.method == "MED") {
            panel =
                panel.mark(Mark::Horizontal { y: theirs.mean, label: "MED as printed".to_owned() });
        }
        figure = figure.panel(panel);
    }
    if let Some(edges) = at_the_edge(&cells) {
        table = table.note(edges);
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    let tables = vec![table, as_printed(&cells, &printed, context)?];
    Ok(Rendered { tables, drawings, ..Rendered::default() })
}

/// How often the cross-validated embedding chose the least ridge of its grid, beyond which it might be better.
fn at_the_edge(cells: &Cells) -> Option<String> {
    let of = |dataset: &String| {
        let cell = cells.find("released", dataset, "mce-cv")?;
        let chosen: Vec<f64> = cell
            .records()
            .filter_map(|record| record.result.facts.get("lambda").copied())
            .collect();
        let least = chosen.iter().filter(|ridge| **ridge < 1.5 * LEAST_RIDGE).count();
        (least > 0).then(|| format!("{least} of {} folds of {dataset}", chosen.len()))
    };
    let said: Vec<String> = cells.table.0.datasets.iter().filter_map(of).collect();
    (!said.is_empty()).then(|| {
        format!(
            "CV chose the least ridge of its grid, {LEAST_RIDGE:e}, in {}: beyond it it might be better.",
            said.join(", ")
        )
    })
}

/// A median for each column and a ridge of 1, on blocks of the file: beside the printed column.
fn as_printed(
    cells: &Cells,
    printed: &[PublishedCell],
    context: &RenderContext<'_>,
) -> Result<Table, ExperimentError> {
    let mut table = Table::new("audit/mce-median-printed", "The printed column MED, made again")
        .caption("Nothing is learned. Unguarded: a length for each column, the median of its differences among the training rows, a ridge of 1 (where all learning of the paper starts), and folds that are consecutive blocks of the file. Every deviation here is divided by the number of folds, as the authors' are; other tables divide by one less. Where half of a column's differences are 0, the kernel is 0/0 and the largest of numbers that are none is the first: one class is predicted everywhere. Guarded: such a column has its smallest other difference. Accuracy in percent.")
        .columns(["Dataset"].map(Column::left))
        .columns(["MED as printed", "unguarded", "Verdict", "Columns of median 0"].map(Column::right))
        .columns(["guarded", "guarded, folds of GMCE", "one length, ridge 0.01, folds of GMCE", "GMCE"].map(Column::right));
    let mut datasets: Vec<&String> = cells.table.0.datasets.iter().collect();
    datasets.retain(|dataset| cells.find("median-printed", dataset, "mce-median").is_some());
    for dataset in datasets {
        let of = |variant, method| cells.find(variant, dataset, method);
        let theirs = printed.iter().find(|p| p.dataset == *dataset && p.method == "MED");
        let (Some(cell), Some(theirs)) = (of("median-printed", "mce-median"), theirs) else {
            continue;
        };
        let judged = PublishedComparison {
            artefact: "audit/mce-median",
            cell,
            label: "MED".to_owned(),
            metric: "accuracy",
            values: cell.values().into_iter().map(|(_, value)| value).collect(),
            theirs: Some(theirs),
            scale: 1.0,
            repeats: cell.repeats_of_paper() as usize,
        };
        let verdict = badge(&judged.report(context)?).map_or_else(String::new, |(text, _)| text);
        table = table.row(Row::new([
            Cell::text(dataset),
            Cell::mean_std(theirs.mean, theirs.std, 1),
            by_folds(Some(cell)),
            Cell::text(verdict),
            shown(mean_of(Some(cell), "columns-of-median-0"), 0),
            by_folds(of("median-guarded", "mce-median")),
            by_folds(of("median-equal-folds", "mce-median")),
            by_folds(of("released", "mce-median")),
            by_folds(of("released", "gmce")),
        ]));
    }
    Ok(table)
}

/// [`accuracy`], its deviation divided by the number of folds instead of one less.
fn by_folds(cell: Option<&StudyCell>) -> Cell {
    let values: Vec<f64> =
        cell.map(StudyCell::values).into_iter().flatten().map(|(_, value)| value).collect();
    cell.zip(summarise(&values)).map_or_else(
        || Cell::text("not run"),
        |(cell, summary)| {
            Cell::mean_std(summary.mean, summary.population_std, 1)
                .repeats(format!("{}/{}", summary.count, cell.repeats_of_paper()))
                .sort(summary.mean)
        },
    )
}

/// Difference, interval and p against another cell.
pub(super) fn against(
    cell: Option<&StudyCell>,
    other: Option<&StudyCell>,
) -> Result<[Cell; 3], ExperimentError> {
    let test = match (cell, other) {
        (Some(cell), Some(other)) => compare(cell, other)?,
        _ => None,
    };
    Ok(test.map_or_else(
        || [Cell::text("-"), Cell::text("-"), Cell::text("-")],
        |test| {
            let (low, high) = test.interval;
            [
                Cell::number(test.difference, 2),
                Cell::text(format!("[{low:.2}, {high:.2}]")),
                Cell::text(match test.untested() {
                    Some(why) => why.to_owned(),
                    None => format!("{:.2}", test.p_corrected),
                }),
            ]
        },
    ))
}
