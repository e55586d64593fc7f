//! Figure 3: test accuracy on MNIST against iterations, one point per 200 batches.

use super::METHODS;
use mercer_records::CurvePoint;
use mercer_render::{Axis, Figure, Panel, Series};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use std::collections::BTreeMap;

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let axis = Axis::linear("test accuracy (%)");
    let panels = panels(context, &axis, &|_, point| Some(100.0 * point.values.get("accuracy")?))?;
    Ok(Rendered {
        drawings: drawing(
            &artefact.id,
            &artefact.title,
            "One point every 200 batches of 32, one panel a variant: the mean over the repeats that have it, and from the least to the largest of them. The paper's claim: ASKL lies above the others at all times.",
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

/// One panel a variant, one line a method: the mean over the repeats on MNIST that have a curve, in a band from
/// the least to the largest of them.
pub(crate) fn panels(
    context: &RenderContext<'_>,
    y: &Axis,
    value: &dyn Fn(&StudyCell, &CurvePoint) -> Option<f64>,
) -> Result<Vec<Panel>, ExperimentError> {
    let study = context.cells("askl/table2")?;
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
            let mut looks: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
            for point in cell.records().flat_map(|record| &record.result.curve) {
                if let Some(value) = value(cell, point) {
                    looks.entry(point.step).or_default().push(value);
                }
            }
            // A repeat that ended early would bend the mean where it leaves it.
            let most = looks.values().map(Vec::len).max().unwrap_or(0);
            looks.retain(|_, values| values.len() == most);
            if looks.is_empty() {
                continue;
            }
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let points = looks.iter().map(|(&step, values)| (step as f64, mean(values)));
            let series = Series::line(cell.label(), points);
            let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
            let largest = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let band = looks.values().map(|values| (least(values), largest(values)));
            panel = panel.series(if most > 1 { series.band(band) } else { series });
        }
        if !panel.series.is_empty() {
            panels.push(panel);
        }
    }
    Ok(panels)
}
