//! Figure 1: the overview, drawn from the structure of the method. Schematic.

use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered};
use mercer_render::Diagram;

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "askl/figure1",
    title: "Overview of ASKL",
    studies: &[],
    datasets: &[],
    computed: &[],
    render,
};

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
fn render(_: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let diagram = Diagram::new(ARTEFACT.id, ARTEFACT.title, (760.0, 330.0))
        .caption("Spectral density, features and read-out are learned together; one penalty acts on the read-out, one on the features. It shows structure, no numbers.")
        .block((100.0, 70.0), (150.0, 60.0), "density\ns(ω, ω')", None)
        .block((290.0, 70.0), (150.0, 60.0), "frequencies\nΩ, Ω'", Some(0))
        .block((480.0, 70.0), (150.0, 60.0), "features\nφ(x)", Some(1))
        .block((665.0, 70.0), (150.0, 60.0), "estimator\nf(x) = Wᵀφ(x)", Some(2))
        .block((480.0, 180.0), (150.0, 50.0), "λ₂ ‖φ(X)‖²", Some(1))
        .block((665.0, 180.0), (150.0, 50.0), "λ₁ ‖W‖∗", Some(2))
        .block((480.0, 280.0), (300.0, 50.0), "objective (4): loss + penalties", None)
        .arrow([(175.0, 70.0), (215.0, 70.0)], "", false)
        .arrow([(365.0, 70.0), (405.0, 70.0)], "", false)
        .arrow([(555.0, 70.0), (590.0, 70.0)], "", false)
        .arrow([(480.0, 100.0), (480.0, 155.0)], "", false)
        .arrow([(665.0, 100.0), (665.0, 155.0)], "", false)
        .arrow([(480.0, 205.0), (480.0, 255.0)], "", false)
        .arrow([(665.0, 205.0), (665.0, 280.0), (630.0, 280.0)], "", false)
        .arrow([(330.0, 280.0), (290.0, 280.0), (290.0, 100.0)], "back-propagation", true)
        .schematic();
    Ok(Rendered { drawings: vec![Drawing::Diagram(diagram)], ..Rendered::default() })
}
