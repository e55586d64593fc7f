//! Figure 1: the overview, drawn from the structure of the method. Schematic.

use mercer_render::Diagram;
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered};

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
pub(crate) fn render(
    _: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let diagram = Diagram::new(&artefact.id, &artefact.title, (930.0, 330.0))
        .caption("Frequencies and read-out are learned together from the objective: the loss of the estimator, a penalty on the read-out, one on the features. It shows structure, no numbers.")
        .block((95.0, 70.0), (150.0, 60.0), "density\ns(ω, ω')", None)
        .block((280.0, 70.0), (150.0, 60.0), "frequencies\nΩ, Ω'", Some(0))
        .block((475.0, 70.0), (150.0, 60.0), "features\nφ(x)", Some(1))
        .block((725.0, 70.0), (150.0, 60.0), "estimator\nf(x) = Wᵀφ(x)", Some(2))
        .block((475.0, 180.0), (150.0, 50.0), "λ₂ ‖φ(X)‖²", Some(1))
        .block((640.0, 180.0), (130.0, 50.0), "loss ℓ(f(x), y)", None)
        .block((805.0, 180.0), (150.0, 50.0), "λ₁ ‖W‖∗", Some(2))
        .block((640.0, 280.0), (440.0, 50.0), "objective (4): loss + penalties", None)
        .arrow([(170.0, 70.0), (205.0, 70.0)], "", false)
        .arrow([(355.0, 70.0), (400.0, 70.0)], "", false)
        .arrow([(550.0, 70.0), (650.0, 70.0)], "", false)
        .arrow([(475.0, 100.0), (475.0, 155.0)], "", false)
        .arrow([(680.0, 100.0), (680.0, 155.0)], "", false)
        .arrow([(770.0, 100.0), (770.0, 155.0)], "", false)
        .arrow([(475.0, 205.0), (475.0, 255.0)], "", false)
        .arrow([(640.0, 205.0), (640.0, 255.0)], "", false)
        .arrow([(805.0, 205.0), (805.0, 255.0)], "", false)
        .arrow([(420.0, 280.0), (280.0, 280.0), (280.0, 100.0)], "back-propagation", true)
        .arrow([(860.0, 280.0), (910.0, 280.0), (910.0, 70.0), (800.0, 70.0)], "", true)
        .schematic();
    Ok(Rendered { drawings: vec![Drawing::Diagram(diagram)], ..Rendered::default() })
}
