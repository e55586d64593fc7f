//! Figure 1(c): test error of RF-SGD along training, by batch size.

use super::sgd_curves::{curve, panels};
use mercer_render::{Axis, Figure};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let mse = |cell: &StudyCell, batch| curve(cell, "mse", batch);
    let panels = panels(context, &Axis::log10("test MSE"), &mse)?;
    if panels.is_empty() {
        return Ok(Rendered::default());
    }
    let figure = Figure::new(&artefact.id, &artefact.title)
        .caption("Mean squared test error along training; runs, lines (geometric means) and bands as in Figure 1(b). The test rows of the text's target carry the same noise as its training rows, of variance 0.04; those of the code's target carry none.")
        .columns(2);
    let drawing = Drawing::Figure(panels.into_iter().fold(figure, Figure::panel));
    Ok(Rendered { drawings: vec![drawing], ..Rendered::default() })
}
