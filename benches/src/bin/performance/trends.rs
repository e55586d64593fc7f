//! How each hot path's time moved over the recorded runs.

use crate::history::{Entry, group, is_hot_path, put, root, yardstick_of};
use mercer_render::{Axis, Figure, Mark, Panel, Series, Style};
use std::collections::BTreeMap;

/// `(run, ratio)` by machine.
type Lines = BTreeMap<String, Vec<(f64, f64)>>;

/// What has a panel: a hot path of its own, any other benchmark with its group.
fn panel_of(name: &str) -> &str {
    if is_hot_path(name) { name } else { group(name) }
}

/// Median of a run over the median of the first run on the same machine, both in products of the library in their run.
/// It is averaged (geometrically) over the benchmarks of a panel, such as `askl-step`. Runs that did not time the
/// product are left out, and so are the panels that no machine ran twice: there is nothing to compare.
pub(crate) fn trends(history: &[Entry]) -> BTreeMap<String, Lines> {
    let mut first: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut panels: BTreeMap<String, Lines> = BTreeMap::new();
    for (run, entry) in history.iter().enumerate() {
        let mut logs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (name, [median, ..]) in &entry.times {
            if name == yardstick_of(name) {
                continue;
            }
            let Some(yardstick) = entry.yardstick(name) else { continue };
            let products = median / yardstick;
            let start = *first.entry((name, &entry.machine)).or_insert(products);
            logs.entry(panel_of(name)).or_default().push((products / start).ln());
        }
        for (panel, logs) in logs {
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let lines = panels.entry(panel.to_owned()).or_default();
            lines.entry(entry.machine.clone()).or_default().push(((run + 1) as f64, mean.exp()));
        }
    }
    panels.retain(|_, lines| lines.values().any(|line| line.len() > 1));
    panels
}

/// Draws the trends, where there are two runs to compare; else no picture is left.
pub(crate) fn draw(history: &[Entry], text: &mut String) -> Result<(), String> {
    let path = root().join("reports/performance/history.svg");
    let trends = trends(history);
    if trends.is_empty() {
        text.push_str("A first run has nothing to be compared with: the history is drawn from the second on.\n\n");
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(format!("{}: {error}", path.display()));
            }
            _ => {}
        }
        return Ok(());
    }
    // A run has a whole number; of many, half a dozen are named.
    let every = history.len().div_ceil(6);
    let runs = (1..=history.len()).step_by(every).map(|run| (run as f64, run.to_string()));
    let run = Axis { ticks: Some(runs.collect()), ..Axis::linear("run") };
    let mut figure = Figure::new("performance/history", "Times over the runs").columns(3);
    for (name, lines) in trends {
        let mut panel = Panel::new(run.clone(), Axis::log2("over the first"))
            .title(name)
            .mark(Mark::Horizontal { y: 1.0, label: String::new() });
        for (machine, points) in lines {
            panel = panel.series(Series::line(machine, points).style(Style::LinePoints));
        }
        figure = figure.panel(panel);
    }
    put(&path, &figure.svg().map_err(|error| error.to_string())?)?;
    text.push_str(
        "![Times over the runs](./history.svg)\n\nA panel is a hot path or a group of other benchmarks that one machine has timed twice at least. It shows the time \
         (the geometric mean of a group's) over that of the first run on the same machine. Each time is divided by that of one matrix product in the same run. \
         This takes out most of a machine's speed; what waits for memory still varies more than the product.\n\n",
    );
    Ok(())
}
