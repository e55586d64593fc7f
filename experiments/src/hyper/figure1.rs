//! Figure 1: the two stages, drawn from the structure of the method. Schematic.

use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered};
use mercer_render::Diagram;

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "hyper/figure1",
    title: "Learning a kernel, and learning with it",
    studies: &[],
    datasets: &[],
    computed: &[],
    render,
};

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
fn render(_: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let diagram = Diagram::new(ARTEFACT.id, ARTEFACT.title, (760.0, 300.0))
        .caption("Stage 1 regresses a target on pairs of labelled points in a hyper-kernel's space; stage 2 is a support vector machine with the learned kernel, which need not be positive definite. It shows structure, no numbers.")
        .block((100.0, 70.0), (150.0, 60.0), "labelled points\nx_i, y_i", None)
        .block((290.0, 70.0), (150.0, 60.0), "unordered pairs\n(x_i, x_j), Y_ij", Some(0))
        .block((480.0, 70.0), (150.0, 60.0), "hyper-kernel\nh(p, q)", Some(1))
        .block((665.0, 70.0), (150.0, 60.0), "learned kernel\nk(x, x')", Some(2))
        .block((480.0, 180.0), (150.0, 50.0), "hyper-KRR, hyper-SVR", Some(1))
        .block((665.0, 180.0), (150.0, 50.0), "clip, flip, shift", Some(2))
        .block((665.0, 260.0), (150.0, 50.0), "machine f(x)", None)
        .arrow([(175.0, 70.0), (215.0, 70.0)], "", false)
        .arrow([(365.0, 70.0), (405.0, 70.0)], "", false)
        .arrow([(555.0, 70.0), (590.0, 70.0)], "", false)
        .arrow([(480.0, 155.0), (480.0, 100.0)], "", false)
        .arrow([(665.0, 100.0), (665.0, 155.0)], "", false)
        .arrow([(665.0, 205.0), (665.0, 235.0)], "", false)
        .arrow([(100.0, 100.0), (100.0, 260.0), (590.0, 260.0)], "labels", true)
        .schematic();
    Ok(Rendered { drawings: vec![Drawing::Diagram(diagram)], ..Rendered::default() })
}
