//! Figure 1(a): the variance factor of ridgeless random features against M/n, from its formula and as
//! measured.

use super::figure2a_average::{
    INTERVAL, ROWS as MEASURED_ROWS, STUDY as AVERAGED, curve as averaged, draws,
};
use mercer_render::{Axis, Figure, Mark, Panel, Series, Style};
use mercer_report::{Artefact, Drawing, ExperimentError, RenderContext, Rendered, StudyCell};
use std::fmt::Write as _;

/// Rows behind the ratios of the lines; the factor depends on M/n alone.
const ROWS: usize = 1000;

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    let study = context.cells(AVERAGED)?;
    let (mut cells, mut apart) = (Vec::new(), Vec::new());
    let mut panel = formulas();
    let mut ratios = Panel::new(Axis::log10("M / n"), Axis::linear("measured / (M / (M − n − 1))"))
        .title("measured over the formula for n = 100");
    for cell in &study.1 {
        let points = measured(cell);
        if points.is_empty() {
            continue;
        }
        if cells.is_empty() {
            panel = panel.series(gaussian());
        }
        cells.push(cell);
        apart.push(left_out(&cell.key().dataset, &points));
        let line = points.iter().map(|(ratio, factor, _)| (*ratio, *factor));
        let band = points.iter().map(|(_, factor, half)| (factor - half, factor + half));
        let repeats = cell.records().filter(|record| !record.result.curve.is_empty()).count();
        let label =
            format!("{}, n = 100 ({repeats}/{})", cell.key().dataset, cell.repeats_of_paper());
        panel = panel.series(Series::points(&label, line).band(band));
        let over = |(ratio, factor, half): &(f64, f64, f64)| {
            let stated = gaussian_factor(ratio * MEASURED_ROWS);
            (*ratio, factor / stated, half / stated)
        };
        let over: Vec<(f64, f64, f64)> = points.iter().map(over).collect();
        let line = over.iter().map(|(ratio, factor, _)| (*ratio, *factor));
        let band = over.iter().map(|(_, factor, half)| (factor - half, factor + half));
        ratios = ratios.series(Series::line(label, line).band(band));
    }
    let mut caption = caption(draws(cells).as_deref());
    if !apart.is_empty() {
        let _ = write!(
            caption,
            " Fourier features are not Gaussian: the intervals exclude the dashed factor at {}.",
            apart.join(", ")
        );
    }
    let mut figure = Figure::new(&artefact.id, &artefact.title).caption(caption).panel(panel);
    if !ratios.series.is_empty() {
        figure = figure.panel(ratios).columns(2).bands(INTERVAL);
    }
    Ok(Rendered { drawings: vec![Drawing::Figure(figure)], ..Rendered::default() })
}

/// `6 of 8 points of letter (1.15 times it in the geometric mean over all)`: where intervals leave out the factor of
/// Gaussian features on as many rows.
fn left_out(dataset: &str, points: &[(f64, f64, f64)]) -> String {
    let over = |ratio: f64, factor: f64| factor / gaussian_factor(ratio * MEASURED_ROWS);
    let outside = points.iter().filter(|(ratio, factor, half)| {
        (factor - gaussian_factor(ratio * MEASURED_ROWS)).abs() > *half
    });
    let logarithms: f64 = points.iter().map(|(ratio, factor, _)| over(*ratio, *factor).ln()).sum();
    format!(
        "{} of {} points of {dataset} ({:.2} times it in the geometric mean over all)",
        outside.count(),
        points.len(),
        (logarithms / points.len() as f64).exp()
    )
}

/// `M/(M − n − 1)` for as many rows as are measured.
fn gaussian_factor(m: f64) -> f64 {
    m / (m - MEASURED_ROWS - 1.0)
}

/// A panel with what the theory says.
fn formulas() -> Panel {
    let factor = |features: usize| {
        let bound = mercer_theory::ridgeless_variance_factor(ROWS, features).ok()?;
        Some((features as f64 / ROWS as f64, bound.value))
    };
    let below = (10..ROWS).step_by(10).filter_map(factor);
    // In steps that grow with the distance to n, as the bends of the curve on this axis do.
    let distances = (0..=200).map(|k| 10.0 * 9900f64.powf(f64::from(k) / 200.0));
    let above = distances.filter_map(|distance| factor(ROWS + distance.round() as usize));
    Panel::new(Axis::log10("M / n"), Axis::log10("factor α"))
        .series(Series::line("M < n: n / (n − M)", below))
        .series(Series::line("M > n: M / (M − n)", above))
        .mark(Mark::Vertical { x: 1.0, label: "M = n".to_owned() })
}

/// The factor of Gaussian features on as many rows as are measured: that of the line is its limit for many.
fn gaussian() -> Series {
    let distances = (0..=100).map(|k| 2.0 * 4950f64.powf(f64::from(k) / 100.0));
    let factor = |distance: f64| {
        let m = MEASURED_ROWS + distance.round();
        (m / MEASURED_ROWS, gaussian_factor(m))
    };
    Series::line("n = 100: M / (M − n − 1)", distances.map(factor)).style(Style::Dashed)
}

/// What is drawn; of what is measured, over these draws, only where it is.
fn caption(measured: Option<&str>) -> String {
    let mut caption = "Factor α by which the variance of ridgeless random features exceeds its scale: it explodes as M approaches n from either side (lines: formulas).".to_owned();
    if let Some(draws) = measured {
        let _ = write!(
            caption,
            " Points: variance over {draws} of random Fourier features on n = 100 rows, over Theorem 2's scale E[σ_x²]‖f‖²/M, with 95 % intervals over repeats; dashed: M/(M − n − 1), exact for Gaussian features."
        );
    } else {
        caption.push_str(
            " Nothing is measured yet; Figure 2(a) has measured errors, which include a bias.",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_reach_from_a_hundredth_to_a_hundred_and_as_near_to_one() {
        let panel = formulas();
        for (series, ends) in panel.series.iter().zip([[10, 990], [1010, 100_000]]) {
            let (first, last) = (series.points[0], series.points[series.points.len() - 1]);
            let features = [first.0, last.0].map(|ratio| (ratio * ROWS as f64).round() as usize);
            assert_eq!(features, ends, "{}", series.label);
        }
        for (ratio, factor) in panel.series.iter().flat_map(|series| &series.points) {
            let stated = 1.0f64.max(*ratio) / (ratio - 1.0).abs();
            assert!((factor / stated - 1.0).abs() < 1e-9, "{ratio}: {factor}, {stated}");
        }
    }

    #[test]
    fn points_beside_the_dashed_factor_are_counted() {
        let at = |m: f64, times: f64| (m / MEASURED_ROWS, times * gaussian_factor(m), 0.01);
        let told = left_out("letter", &[at(150.0, 1.0), at(300.0, 4.0)]);
        assert_eq!(told, "1 of 2 points of letter (2.00 times it in the geometric mean over all)");
    }

    #[test]
    fn the_caption_says_over_how_many_draws_and_only_where_there_are_some() {
        assert!(caption(Some("20 draws")).contains("over 20 draws of random Fourier features"));
        assert!(!caption(None).contains("draws"));
    }
}
