//! Figure 2: the learning framework as a network with one hidden layer. Schematic.

use mercer_render::Diagram;
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered};

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
pub(crate) fn render(
    _: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let diagram = Diagram::new(&artefact.id, &artefact.title, (760.0, 330.0))
        .caption("One hidden layer of D cosines over two frequency matrices that share a phase, then a linear read-out: W by a proximal step (7)-(8), Ω and Ω' by the chain rule (9). It shows structure, no numbers.")
        .block((70.0, 150.0), (90.0, 60.0), "input\nx ∈ Rᵈ", None)
        .block((255.0, 80.0), (150.0, 60.0), "first map\ncos(Ωᵀx + b)", Some(0))
        .block((255.0, 220.0), (150.0, 60.0), "second map\ncos(Ω'ᵀx + b)", Some(0))
        .block((435.0, 150.0), (110.0, 60.0), "features\nφ(x) ∈ Rᴰ", Some(1))
        .block((585.0, 150.0), (110.0, 60.0), "scores\nf(x) ∈ Rᴷ", Some(2))
        .block((705.0, 150.0), (80.0, 60.0), "loss\nℓ(f, y)", None)
        .arrow([(115.0, 150.0), (180.0, 80.0)], "Ω", false)
        .arrow([(115.0, 150.0), (180.0, 220.0)], "Ω'", false)
        .arrow([(330.0, 80.0), (380.0, 150.0)], "", false)
        .arrow([(330.0, 220.0), (380.0, 150.0)], "", false)
        .arrow([(490.0, 150.0), (530.0, 150.0)], "W", false)
        .arrow([(640.0, 150.0), (665.0, 150.0)], "", false)
        .arrow([(705.0, 120.0), (705.0, 40.0), (585.0, 40.0), (585.0, 120.0)], "proximal step on W", true)
        .arrow([(705.0, 180.0), (705.0, 290.0), (255.0, 290.0), (255.0, 250.0)], "gradients of Ω and Ω'", true)
        .arrow([(255.0, 290.0), (10.0, 290.0), (10.0, 30.0), (255.0, 30.0), (255.0, 50.0)], "", true)
        .schematic();
    Ok(Rendered { drawings: vec![Drawing::Diagram(diagram)], ..Rendered::default() })
}
