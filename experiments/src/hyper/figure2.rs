//! Figure 2: Nyström hyper-Gram matrices of few landmark points: pairs, error and cost.

use crate::complexity::{hyper::learning_seconds, mean_seconds};
use mercer_models::hyper_rkhs::PairSolver;
use mercer_records::Record;
use mercer_render::{Axis, Cell, Column, Figure, Panel, Row, Series, Table};
use mercer_report::{
    Artefact, Drawing, ExperimentError, RenderContext, Rendered, Simulation, StudyCell,
};
use mercer_statistics::summarise;
use serde_json::json;
use std::collections::BTreeMap;

/// Seconds of learning a kernel from as many points and inputs as the training part of heart has.
pub(crate) const SECONDS: Simulation = Simulation {
    name: "hyper/figure2-seconds",
    measures: true,
    revision: 1,
    settings: || json!({ "points": POINTS, "inputs": INPUTS, "landmarks": TIMED, "subsets": DIVIDED, "rounds": ROUNDS }),
    compute: measure,
};

const POINTS: usize = 108;
const INPUTS: usize = 13;
/// Landmark points and subsets that are timed, those of the paper, each once a round.
const TIMED: [usize; 6] = [2, 4, 6, 8, 10, 12];
const DIVIDED: [usize; 4] = [1, 2, 4, 8];
const ROUNDS: usize = 10;

/// Mean and half-width of the 95 % interval of the mean.
type Point = (f64, f64);

/// What the table and the panels of the figure show.
const NOTES: [&str; 4] = [
    "Error: in the Frobenius norm over ordered pairs of the 108 training rows of heart.",
    "Each of v subsets has M landmarks of its own, and the v matrices, all of the whole training part, are averaged. As printed they would be of different pairs.",
    "Panel (c): divide and conquer on 108 made-up points of 13 inputs, ten rounds. The paper's seconds are of another computer, so only their claim that more subsets take less is checked.",
    "Operations: v n_s P² + v P³/3 for n_s pairs of m/v points and P landmark pairs. The eigendecompositions, about 9 P³ in each subset, are not counted.",
];

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells("hyper/figure2")?;
    let (_, cells) = &*study;
    let mut figure = Figure::new(&artefact.id, &artefact.title)
        .caption("(a) Pairs of M landmarks, M(M + 1)/2; (b) relative error of the Nyström matrix on heart, averaged over v subsets with M landmarks each (v M in all), with 95 % intervals over repeats; (c) processor seconds of learning a kernel. The lower row is ours: the same errors for the constructed hyper-kernel, the errors of `printed` against all v M landmarks, and multiply-adds by the paper's formula.")
        .bands("95 % interval of the mean")
        .columns(3);
    let mut table = errors_table();
    // The paper's panels, then ours.
    let (mut papers, mut ours) = (Vec::new(), Vec::new());
    for cell in cells {
        let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
        if repeats == 0 {
            continue;
        }
        let first = papers.is_empty();
        let part = if first { "(b)" } else { "ours:" };
        let title =
            format!("{part} error, {} ({repeats}/{})", cell.key().variant, cell.repeats_of_paper());
        let [error, cost, all] = panels(cell, title);
        for v in subsets(cell) {
            table = table.row(line(cell, v, repeats));
        }
        if let Some(note) = as_many(cell) {
            table = table.note(note);
        }
        // Pairs and operations are the same for every hyper-kernel.
        if first {
            let pairs = points(&means(cell, "pairs"));
            let panel = Panel::new(landmarks(), Axis::linear("pairs")).title("(a) pairs");
            papers.extend([panel.series(Series::line("M(M + 1)/2", pairs)), error]);
            papers.extend(seconds(context));
            ours.extend([all, cost]);
        } else {
            ours.insert(0, error);
        }
    }
    figure = papers.into_iter().chain(ours).fold(figure, Figure::panel);
    if let Some(note) = ratios(context) {
        table = table.note(note);
    }
    let drawings =
        if figure.panels.is_empty() { Vec::new() } else { vec![Drawing::Figure(figure)] };
    Ok(Rendered { tables: vec![table], drawings, ..Rendered::default() })
}

/// The table without its rows.
fn errors_table() -> Table {
    let table = Table::new("hyper/figure2-errors", "Relative errors behind the figure")
        .caption("Relative error of the Nyström matrix at the smallest and the largest M, mean ± half-width of the 95 % interval over repeats. Difference to v = 1: paired, at the largest M; it shows whether more subsets cost accuracy.")
        .columns([Column::left("Hyper-kernel"), Column::right("v")])
        .columns(["M = 2", "largest M", "difference to v = 1", "Repeats"].map(Column::right));
    NOTES.into_iter().fold(table, Table::note)
}

/// Errors, operations and errors by all landmarks of a hyper-kernel: a curve a number of subsets.
fn panels(cell: &StudyCell, title: String) -> [Panel; 3] {
    let mut error = Panel::new(landmarks(), Axis::linear("relative error")).title(title);
    let mut cost =
        Panel::new(landmarks(), Axis::log10("multiply-adds")).title("ours: operations by formula");
    let mut all = Panel::new(Axis::log2("v M"), Axis::linear("relative error"))
        .title("ours: error by all landmarks");
    for v in subsets(cell) {
        let errors = means(cell, &format!("error v={v}"));
        let band: Vec<_> = errors.values().map(|p| (p.0 - p.1, p.0 + p.1)).collect();
        let in_all = points(&errors).into_iter().map(|(m, y)| (f64::from(v) * m, y));
        let curve = |points| Series::line(format!("v = {v}"), points).band(band.clone());
        all = all.series(curve(in_all.collect::<Vec<_>>()));
        error = error.series(curve(points(&errors)));
        let operations = means(cell, &format!("operations v={v}"));
        cost = cost.series(Series::line(format!("v = {v}"), points(&operations)));
    }
    [error, cost, all]
}

/// The means of a curve.
fn points(curve: &BTreeMap<u64, Point>) -> Vec<(f64, f64)> {
    curve.iter().map(|(m, point)| (*m as f64, point.0)).collect()
}

/// The horizontal axis.
fn landmarks() -> Axis {
    Axis::linear("M").ticks_at(TIMED.map(|landmarks| landmarks as f64))
}

/// The errors of as many landmarks in all: those of one set at the largest `M`, divided among subsets as far as there
/// are two for each.
fn as_many(cell: &StudyCell) -> Option<String> {
    let errors = |v: u32| means(cell, &format!("error v={v}"));
    let all = *errors(1).keys().next_back()?;
    let told: Vec<String> = subsets(cell)
        .into_iter()
        .filter(|&v| all.is_multiple_of(u64::from(v)))
        .filter_map(|v| {
            let landmarks = all / u64::from(v);
            let (mean, half) = *errors(v).get(&landmarks)?;
            Some(format!("v = {v}, M = {landmarks}: {mean:.4} ± {half:.4}"))
        })
        .collect();
    (told.len() > 1).then(|| {
        format!(
            "{}, {all} landmarks in all: {}. The table itself has v times as many landmarks for v subsets.",
            cell.key().variant,
            told.join("; ")
        )
    })
}

fn named(subsets: usize, landmarks: usize) -> String {
    format!("seconds v={subsets} M={landmarks}")
}

fn measure() -> Result<BTreeMap<String, f64>, ExperimentError> {
    let mut numbers = BTreeMap::new();
    for round in 1..=ROUNDS {
        for (landmarks, subsets) in TIMED.iter().flat_map(|&m| DIVIDED.map(|v| (m, v))) {
            let name = format!("{} #{round}", named(subsets, landmarks));
            let solver = PairSolver::Nystrom;
            let once = || learning_seconds([POINTS, INPUTS], solver, Some(landmarks), subsets);
            let seconds = mean_seconds(&name, once)?;
            numbers.insert(name, seconds);
        }
    }
    Ok(numbers)
}

/// The measured seconds, once they are: mean and its interval over rounds.
fn seconds(context: &RenderContext<'_>) -> Option<Panel> {
    let record = context.records.get(&SECONDS.key())?;
    let mut panel = Panel::new(landmarks(), Axis::log10("processor seconds")).title("(c) time");
    for subsets in DIVIDED {
        let (mut line, mut band) = (Vec::new(), Vec::new());
        for landmarks in TIMED {
            let Some(summary) = summarise(&rounds(record, subsets, landmarks)) else { continue };
            let half = summary.half_width(0.95).unwrap_or(0.0);
            line.push((landmarks as f64, summary.mean));
            band.push((summary.mean - half, summary.mean + half));
        }
        panel = panel.series(Series::line(format!("v = {subsets}"), line).band(band));
    }
    Some(panel)
}

fn rounds(record: &Record, subsets: usize, landmarks: usize) -> Vec<f64> {
    let name = |round| format!("{} #{round}", named(subsets, landmarks));
    (1..=ROUNDS)
        .filter_map(|round| record.run.seconds.get(&name(round)).copied())
        .filter(|seconds| *seconds > 0.0)
        .collect()
}

/// How many times the seconds of one set of landmarks the most subsets take, at the fewest and the most
/// landmarks.
fn ratios(context: &RenderContext<'_>) -> Option<String> {
    let record = context.records.get(&SECONDS.key())?;
    let [one, .., most] = DIVIDED;
    let [fewest, .., largest] = TIMED;
    let ratio = |landmarks| {
        let (whole, divided) = (rounds(record, one, landmarks), rounds(record, most, landmarks));
        let logs: Vec<f64> = divided.iter().zip(&whole).map(|(d, w)| (d / w).ln()).collect();
        let summary = summarise(&logs)?;
        let half = summary.half_width(0.95)?;
        let [mean, low, high] = [0.0, -half, half].map(|off| (summary.mean + off).exp());
        Some(format!("{mean:.2} ({low:.2} to {high:.2}) at M = {landmarks}"))
    };
    Some(format!(
        "Time (panel c): {most} subsets take {} and {} times the processor seconds of v = 1 (95 % over {ROUNDS} rounds, each a ratio of its own). What a subset saves in pairs stands against the decompositions that each has of its own.",
        ratio(fewest)?,
        ratio(largest)?
    ))
}

/// Numbers of subsets in the records.
fn subsets(cell: &StudyCell) -> Vec<u32> {
    let mut found: Vec<u32> = cell
        .records()
        .flat_map(|record| &record.result.curve)
        .flat_map(|point| point.values.keys())
        .filter_map(|name| name.strip_prefix("error v=")?.parse().ok())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Landmarks to mean and half-width of one value.
fn means(cell: &StudyCell, name: &str) -> BTreeMap<u64, Point> {
    let mut values: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in cell.records().flat_map(|record| &record.result.curve) {
        if let Some(value) = point.values.get(name) {
            values.entry(point.step).or_default().push(*value);
        }
    }
    let summarised = values.into_iter().filter_map(|(m, values)| {
        let summary = summarise(&values)?;
        Some((m, (summary.mean, summary.half_width(0.95).unwrap_or(0.0))))
    });
    summarised.collect()
}

fn line(cell: &StudyCell, v: u32, repeats: usize) -> Row {
    let errors = means(cell, &format!("error v={v}"));
    let shown = |point: Option<&Point>| match point {
        Some(point) => Cell::text(format!("{:.4} ± {:.4}", point.0, point.1)).sort(point.0),
        None => Cell::text(""),
    };
    let largest = errors.keys().last().copied().unwrap_or_default();
    let differences: Vec<f64> = cell
        .records()
        .filter_map(|record| record.result.curve.iter().find(|point| point.step == largest))
        .filter_map(|point| {
            Some(point.values.get(&format!("error v={v}"))? - point.values.get("error v=1")?)
        })
        .collect();
    let difference = summarise(&differences).map(|s| (s.mean, s.half_width(0.95).unwrap_or(0.0)));
    let last = if v == 1 { Cell::text("") } else { shown(difference.as_ref()) };
    Row::new([
        Cell::text(&cell.key().variant),
        Cell::number(f64::from(v), 0),
        shown(errors.get(&2)),
        shown(errors.get(&largest)),
        last,
        Cell::text(format!("{repeats}/{}", cell.repeats_of_paper())),
    ])
}
