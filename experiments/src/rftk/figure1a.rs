//! Figure 1(a): the variance factor of ridgeless random features against M/n, from its formula.

use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered};
use mercer_render::{Axis, Figure, Mark, Panel, Series};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "rftk/figure1a",
    title: "Variance factor of ridgeless random features",
    studies: &[],
    datasets: &[],
    computed: &[],
    render,
};

/// Rows behind the ratios; the factor depends on M/n alone.
const ROWS: usize = 1000;

#[expect(clippy::unnecessary_wraps, reason = "every artefact renders by the same signature")]
fn render(_: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let factor = |features: usize| {
        let bound = mercer_theory::ridgeless_variance_factor(ROWS, features).ok()?;
        Some((features as f64 / ROWS as f64, bound.value))
    };
    let side = |range: std::ops::Range<usize>| range.step_by(10).filter_map(factor);
    let panel = Panel::new(Axis::log10("M / n"), Axis::log10("factor α"))
        .series(Series::line("M < n: n / (n − M)", side(10..ROWS)))
        .series(Series::line("M > n: M / (M − n)", side(ROWS + 10..100 * ROWS)))
        .mark(Mark::Vertical { x: 1.0, label: "M = n".to_owned() });
    let figure = Figure::new(ARTEFACT.id, ARTEFACT.title)
        .caption("The factor by which the variance of ridgeless random features exceeds its scale: it explodes as M approaches n from either side. From the formulas, nothing measured: Figure 2(a) has measured errors, which have a bias as well.")
        .panel(panel);
    Ok(Rendered { drawings: vec![Drawing::Figure(figure)], ..Rendered::default() })
}
