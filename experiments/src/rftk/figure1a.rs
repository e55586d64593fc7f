//! Figure 1(a): the variance factor of ridgeless random features against M/n, from its formula and as
//! measured.

use super::figure2a_average::{ROWS as MEASURED_ROWS, STUDY as AVERAGED, curve as averaged};
use crate::{Artefact, Desk, Drawing, ExperimentError, Rendered, StudyCell};
use mercer_render::{Axis, Figure, Mark, Panel, Series};

pub(crate) const ARTEFACT: Artefact = Artefact {
    source: file!(),
    id: "rftk/figure1a",
    title: "Variance factor of ridgeless random features",
    studies: &[AVERAGED],
    datasets: &[],
    computed: &[],
    render,
};

/// Rows behind the ratios of the lines; the factor depends on M/n alone.
const ROWS: usize = 1000;

fn render(desk: &Desk<'_>) -> Result<Rendered, ExperimentError> {
    let factor = |features: usize| {
        let bound = mercer_theory::ridgeless_variance_factor(ROWS, features).ok()?;
        Some((features as f64 / ROWS as f64, bound.value))
    };
    let side = |range: std::ops::Range<usize>| range.step_by(10).filter_map(factor);
    let mut panel = Panel::new(Axis::log10("M / n"), Axis::log10("factor α"))
        .series(Series::line("M < n: n / (n − M)", side(10..ROWS)))
        .series(Series::line("M > n: M / (M − n)", side(ROWS + 10..100 * ROWS)))
        .mark(Mark::Vertical { x: 1.0, label: "M = n".to_owned() });
    let mut any = false;
    for cell in &desk.cells(AVERAGED)?.1 {
        let points = measured(cell);
        if points.is_empty() {
            continue;
        }
        any = true;
        let line = points.iter().map(|(ratio, factor, _)| (*ratio, *factor));
        let band = points.iter().map(|(_, factor, half)| (factor - half, factor + half));
        let label = format!("measured, {}", cell.key().dataset);
        panel = panel.series(Series::points(label, line).band(band));
    }
    let figure = Figure::new(ARTEFACT.id, ARTEFACT.title).caption(caption(any)).panel(panel);
    Ok(Rendered { drawings: vec![Drawing::Figure(figure)], ..Rendered::default() })
}

fn caption(measured: bool) -> String {
    let mut caption = "The factor by which the variance of ridgeless random features exceeds its scale: it explodes as M approaches n from either side. Lines: the formulas.".to_owned();
    if measured {
        caption.push_str(" Points: the variance of the predictor over 100 draws of random Fourier features on n = 100 rows, over the scale E[σ_x²]‖f‖²/M that Theorem 2 gives it (exact with the factor M/(M − n − 1) for Gaussian features), mean over repeats with its 95 % interval; the identity has no scale for M < n. Figure 2(a) has the errors, which have a bias as well.");
    } else {
        caption.push_str(
            " Nothing measured: Figure 2(a) has measured errors, which have a bias as well.",
        );
    }
    caption
}

/// M/n, the measured factor there and the half-width of its interval, where Theorem 2 has a scale.
fn measured(cell: &StudyCell) -> Vec<(f64, f64, f64)> {
    let variance = averaged(cell, "variance", "0e0");
    let stated = averaged(cell, "gaussian variance", "0e0");
    let point = |(features, (stated, _)): (&u64, &(f64, f64))| {
        let m = *features as f64;
        let (mean, half) = variance.get(features)?;
        // What is stated has the factor M/(M − n − 1) in it.
        let scale = stated * (m - MEASURED_ROWS - 1.0) / m;
        Some((m / MEASURED_ROWS, mean / scale, half / scale))
    };
    stated.iter().filter_map(point).collect()
}
