//! Ours: what the exact solution over all pairs of 552 points is worth over Nyström's.

use super::exact_cost;
use super::exact_path::{PATH, TARGETS, WAYS, Way};
use mercer_records::OPEN;
use mercer_render::{Axis, Cell, Column, Figure, Kind, Panel, Row, Series, Table, probability};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use mercer_statistics::{TTest, summarise};

const ARTEFACT_STUDY: &str = "hyper/exact-or-nystrom";

/// One number of each repeat.
fn values(cell: &StudyCell, name: &str) -> Vec<f64> {
    cell.at_end(name).into_iter().map(|(_, value)| value).collect()
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(ARTEFACT_STUDY)?;
    let mut figure = Figure::new(format!("{}-landmarks", artefact.id), "Error over landmarks")
        .caption("Root mean squared error of the learned kernel on pairs of test points against Nyström's landmarks; level lines: the exact solution over all, half and a quarter of the labelled points. Band of Nyström: deviation over repeats.")
        .columns(2);
    let mut tables = Vec::new();
    for (place, variant) in study.0.variants.iter().enumerate() {
        // The first carries the artefact's own name.
        let id = match place {
            0 => artefact.id.clone(),
            _ => format!("{}-{}", artefact.id, variant.name),
        };
        let own = |cell: &&StudyCell| {
            (cell.key().method.as_str(), cell.key().variant.as_str())
                == (PATH.method.name, variant.name.as_str())
        };
        let cells: Vec<&StudyCell> = study.1.iter().filter(own).collect();
        let mut table = table(&id, &artefact.title, &cells)?;
        if place == 0 {
            for cell in &cells {
                for target in TARGETS {
                    if !values(cell, &format!("rmse {} {target}", WAYS[0].0)).is_empty() {
                        figure = figure.panel(panel(cell, target));
                    }
                }
            }
        }
        for note in TARGETS.iter().filter_map(|target| edges(&cells, target)) {
            table = table.note(note);
        }
        tables.push(table.note(format!("{}: {}.", variant.name, variant.summary)));
    }
    tables.push(exact_cost::table(context));
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables, drawings, ..Rendered::default() })
}

/// How often folds chose the least and the largest of what they could, for the exact solution.
fn edges(cells: &[&StudyCell], target: &str) -> Option<String> {
    let mut said = Vec::new();
    let mut fits = 0;
    for name in ["lambda", "width", "spread"] {
        let grid = |record: &mercer_records::Record| -> Option<(f64, f64, f64)> {
            let chosen = *record
                .result
                .curve
                .last()?
                .values
                .get(&format!("{name} {} {target}", WAYS[0].0))?;
            let offered = record.result.settings.get(&format!("{name}s"))?.as_array()?;
            let offered = offered.iter().filter_map(serde_json::Value::as_f64);
            let offered = offered.map(|v| if name == "lambda" { 10f64.powf(v) } else { v });
            let (least, most) =
                offered.fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
            Some((chosen, least, most))
        };
        let all: Vec<_> = cells.iter().flat_map(|cell| cell.records().filter_map(grid)).collect();
        fits = all.len();
        for (word, edge) in [("least", 0), ("largest", 1)] {
            let near = |&&(chosen, least, most): &&(f64, f64, f64)| {
                (chosen / if edge == 0 { least } else { most } - 1.0).abs() < 1e-9
            };
            let count = all.iter().filter(near).count();
            if 2 * count >= fits.max(1) {
                let (_, least, most) = all[0];
                let value = if edge == 0 { least } else { most };
                said.push(format!("the {word} {name}, {value}, in {count}"));
            }
        }
    }
    (!said.is_empty()).then(|| {
        format!(
            "At the edge of the grid, {target} target, of {fits} exact fits: {}. Beyond it the exact solution could be better or worse.",
            said.join("; ")
        )
    })
}

/// One variant's.
fn table(id: &str, head: &str, cells: &[&StudyCell]) -> Result<Table, ExperimentError> {
    let mut table = Table::new(id, head)
        .caption("Hyper-KRR over all pairs of the labelled points by conjugate gradients, over all pairs of a half and of a quarter of them, and in the span of the pairs of M landmarks over all pairs (Nyström); the same splits for all, width, spread and ridge of each tuned by folds over at most 80 labelled points (those of the half and the quarter are the whole's). RMSE over ordered pairs of test points, and relative to the target's root mean square; accuracy in percent of a machine with the kernel on all labelled points; differences to the exact solution over all points with the two-sided p of the corrected test, each by itself: one in twenty of so many is below 0.05 where nothing differs. Mean ± deviation over repeats.")
        .columns(["Dataset", "Target", "Solution"].map(Column::left))
        .columns(
            ["RMSE", "relative", "to exact", "p", "accuracy", "to exact ", "p ", "negative mass", "iterations", "Repeats"]
                .map(Column::right),
        );
    for cell in cells {
        for target in TARGETS {
            let name = |what: &str, way: &str| format!("{what} {way} {target}");
            let repeats = values(cell, &name("rmse", WAYS[0].0)).len();
            if repeats == 0 {
                continue;
            }
            for (way, kind) in WAYS {
                let shown =
                    |what: &str, digits: usize| spread(&values(cell, &name(what, way)), digits);
                let to_exact = |what: &str| match kind {
                    Way::Exact { one_in: 1 } => Ok(None),
                    _ => cell.compare_at_end(&name(what, way), &name(what, WAYS[0].0)),
                };
                let [rmse, rmse_p] = compared(to_exact("rmse")?, 4);
                let [accuracy, accuracy_p] = compared(to_exact("accuracy")?, 2);
                let open =
                    values(cell, &name(OPEN, way)).iter().filter(|open| **open > 0.0).count();
                table = table.row(Row::new([
                    Cell::text(&cell.key().dataset),
                    Cell::text(target),
                    Cell::text(title(kind)),
                    not_converged(shown("rmse", 4), open),
                    shown("relative rmse", 4),
                    rmse,
                    rmse_p,
                    shown("accuracy", 2),
                    accuracy,
                    accuracy_p,
                    shown("negative mass", 3),
                    match kind {
                        Way::Exact { .. } => shown("iterations", 0),
                        Way::Nystrom { .. } => Cell::text("-"),
                    },
                    Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
                ]));
            }
        }
    }
    Ok(table)
}

/// Marked where the fits of some repeats ended above their tolerance.
pub(crate) fn not_converged(cell: Cell, open: usize) -> Cell {
    if open > 0 { cell.badge(format!("{open} not converged"), Kind::Muted) } else { cell }
}

fn title(way: Way) -> String {
    match way {
        Way::Exact { one_in: 1 } => "exact, all points".to_owned(),
        Way::Exact { one_in } => format!("exact, 1 in {one_in}"),
        Way::Nystrom { landmarks } => format!("Nyström, M = {landmarks}"),
    }
}

fn spread(values: &[f64], digits: usize) -> Cell {
    match summarise(values) {
        None => Cell::text("-"),
        Some(s) if s.count > 1 => {
            Cell::text(format!("{:.digits$} ± {:.digits$}", s.mean, s.sample_std)).sort(s.mean)
        }
        Some(s) => Cell::number(s.mean, digits),
    }
}

/// A signed difference and its p.
fn compared(test: Option<TTest>, digits: usize) -> [Cell; 2] {
    test.map_or_else(
        || [Cell::text("-"), Cell::text("-")],
        |test| {
            let mean = test.mean_difference;
            [
                Cell::text(format!("{mean:+.digits$}")).sort(mean),
                Cell::text(probability(test.p_two_sided)).sort(test.p_two_sided),
            ]
        },
    )
}

fn panel(cell: &StudyCell, target: &str) -> Panel {
    let rmse = |way: &str| {
        summarise(&values(cell, &format!("rmse {way} {target}")))
            .map_or((f64::NAN, 0.0), |s| (s.mean, s.sample_std))
    };
    let landmarks: Vec<(f64, (f64, f64))> = WAYS
        .iter()
        .filter_map(|&(name, way)| match way {
            Way::Nystrom { landmarks } => Some((landmarks as f64, rmse(name))),
            Way::Exact { .. } => None,
        })
        .collect();
    let line = landmarks.iter().map(|&(m, (mean, _))| (m, mean));
    let band = landmarks.iter().map(|&(_, (mean, std))| (mean - std, mean + std));
    let mut panel =
        Panel::new(Axis::log10("landmarks M"), Axis::linear("RMSE, test pairs (band: deviation)"))
            .title(format!(
                "{}, {target} target ({}/{})",
                cell.key().dataset,
                values(cell, &format!("rmse {} {target}", WAYS[0].0)).len(),
                cell.repeats_of_paper()
            ))
            .series(Series::line("Nyström", line).band(band));
    let ends = [landmarks.first(), landmarks.last()].map(|end| end.map_or(1.0, |end| end.0));
    for (name, way) in WAYS {
        if matches!(way, Way::Exact { .. }) {
            let (mean, _) = rmse(name);
            panel = panel.series(Series::line(title(way), ends.map(|m| (m, mean))));
        }
    }
    panel
}
