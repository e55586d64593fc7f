//! Figure 3: test accuracy on MNIST against iterations, one point per 200 batches.

use super::METHODS;
use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered, StudyCell};
use mercer_records::CurvePoint;
use mercer_render::{Axis, Figure, Panel, Series};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "askl/figure3",
    title: "Test accuracy on MNIST along training",
    studies: &["askl/table2"],
    datasets: &["mnist"],
    computed: &[],
    render,
};

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let axis = Axis::linear("test accuracy (%)");
    let panels = panels(desk, &axis, &|_, point| Some(100.0 * point.values.get("accuracy")?))?;
    Ok(Rendered {
        drawings: drawing(
            ARTEFACT.id,
            ARTEFACT.title,
            "One point every 200 batches of 32, first repeat, one panel a variant. The paper's claim: ASKL lies above the others at all times.",
            panels,
        ),
        ..Rendered::default()
    })
}

/// The panels side by side; nothing if there are none.
pub(crate) fn drawing(id: &str, title: &str, caption: &str, panels: Vec<Panel>) -> Vec<Drawing> {
    if panels.is_empty() {
        return Vec::new();
    }
    let figure = Figure::new(id, title).caption(caption).columns(panels.len().min(3));
    vec![Drawing::Figure(panels.into_iter().fold(figure, Figure::panel))]
}

/// One panel a variant, one line a method, from the first repeat on MNIST that has a curve.
pub(crate) fn panels(
    desk: &Desk<'_>,
    y: &Axis,
    value: &dyn Fn(&StudyCell, &CurvePoint) -> Option<f64>,
) -> Result<Vec<Panel>, ExperimentError> {
    let study = desk.cells("askl/table2")?;
    let (spec, cells) = &*study;
    let mut panels = Vec::new();
    for variant in &spec.variants {
        let mut panel = Panel::new(Axis::linear("iterations"), y.clone()).title(&variant.name);
        for method in METHODS {
            let cell = cells.iter().find(|cell| {
                let key = cell.key();
                key.dataset == "mnist" && key.variant == variant.name && key.method == method
            });
            let Some(cell) = cell else { continue };
            let Some(record) = cell.records().find(|r| !r.result.curve.is_empty()) else {
                continue;
            };
            let points: Vec<(f64, f64)> = record
                .result
                .curve
                .iter()
                .filter_map(|point| Some((point.step as f64, value(cell, point)?)))
                .collect();
            if !points.is_empty() {
                panel = panel.series(Series::line(cell.label(), points));
            }
        }
        if !panel.series.is_empty() {
            panels.push(panel);
        }
    }
    Ok(panels)
}
