//! How loose is the Rademacher bound, and how much tighter can a non-stationary kernel make it?

use mercer_learning::fact;
use mercer_render::{Cell, Column, Row, Table};
use mercer_report::{Artefact, ExperimentError, RenderContext, Rendered};
use mercer_theory::{
    RademacherAverages, TheoryError, askl_rate, enumerate_rademacher, rademacher_from_frequencies,
};
use ndarray::{Array2, array};

/// `B` and `K` of the example.
const TRACE_NORM: f64 = 2.5;
const OUTPUTS: usize = 2;

/// Everything that bounds the example's Rademacher complexity, from the inside out.
pub(crate) struct Slack {
    /// Its exact value, with the dual of the nuclear norm, and the value where the proof pairs
    /// with the Frobenius norm.
    pub exact: RademacherAverages,
    /// Equation (11).
    pub bound: f64,
    /// Equation (12).
    pub rate: f64,
}

/// The example of four points in the plane and three frequencies, small enough to go through all
/// 256 sign patterns.
///
/// # Errors
/// None that the example could meet.
pub(crate) fn slack() -> Result<Slack, ExperimentError> {
    let o = array![[0.5, -0.2, 1.0], [0.1, 0.4, -0.3]];
    let o_prime = array![[-0.1, 0.3, 0.2], [0.7, -0.5, 0.6]];
    let x = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, 2.0]];
    let (u, v): (Array2<f64>, Array2<f64>) = (x.dot(&o), x.dot(&o_prime));
    let features = o.ncols();
    // ψ(x) = 1/√(4D) [cos u + cos v ; sin u + sin v], whose kernel is (5) exactly.
    let psi = Array2::from_shape_fn((x.nrows(), 2 * features), |(i, j)| {
        let (u, v) = (u[[i, j % features]], v[[i, j % features]]);
        let sum = if j < features { u.cos() + v.cos() } else { u.sin() + v.sin() };
        sum / (4.0 * features as f64).sqrt()
    });
    let all = || {
        let exact = enumerate_rademacher(TRACE_NORM, OUTPUTS, psi.dot(&psi.t()).view())?;
        let bound =
            rademacher_from_frequencies(TRACE_NORM, OUTPUTS, o.view(), o_prime.view(), x.view())?;
        let rate = askl_rate(TRACE_NORM, OUTPUTS, x.nrows())?;
        Ok(Slack { exact, bound: bound.value, rate: rate.value })
    };
    all().map_err(|error: TheoryError| ExperimentError::Form {
        file: file!().to_owned(),
        reason: error.to_string(),
    })
}

pub(crate) fn render(
    context: &RenderContext<'_>,
    artefact: &Artefact,
) -> Result<Rendered, ExperimentError> {
    Ok(Rendered { tables: vec![example(artefact)?, diagonals(context)?], ..Rendered::default() })
}

fn example(artefact: &Artefact) -> Result<Table, ExperimentError> {
    let slack = slack()?;
    let mut table = Table::new(&artefact.id, "The slack of the bound on an example")
        .caption(format!("Four points, three pairs of frequencies, K = {OUTPUTS}, B = {TRACE_NORM}, features ψ; averages over all 256 sign patterns. The dual of the nuclear norm is the spectral norm, so the first line is the complexity itself; the proof pairs with the Frobenius norm, then takes the root out of the mean, then bounds every diagonal by 1."))
        .columns([Column::left("Quantity")])
        .columns(["Value", "Over the exact value"].map(Column::right));
    for (name, value) in [
        ("(B/n) E ‖Φ_ε‖_2, exact", slack.exact.spectral),
        ("(B/n) E ‖Φ_ε‖_F", slack.exact.frobenius),
        ("equation (11)", slack.bound),
        ("equation (12)", slack.rate),
    ] {
        table = table.row(Row::new([
            Cell::text(name),
            Cell::number(value, 4),
            Cell::number(value / slack.exact.spectral, 3),
        ]));
    }
    Ok(table)
}

/// The diagonals of the learned kernels: (11) over (12) is the root of their mean.
fn diagonals(context: &RenderContext<'_>) -> Result<Table, ExperimentError> {
    let mut table = Table::new("audit/askl-looseness-diagonals", "What the diagonals save")
        .caption("Mean kernel diagonal over training rows at the end of training, and below it (11) over (12), the root of that mean: 1 for a stationary kernel. The diagonal is (1 + cos)/2 for a shared phase, so at the random start its mean lies between about 0.5 and 1 and the root between about 0.71 and 1. Only with shared phases does the diagonal mean that; with independent ones it is 1/2 for every x.")
        .columns(["Dataset", "Variant"].map(Column::left))
        .columns(["NSK", "NSKL", "ASKL"].map(Column::right));
    let tables = [("askl/table2", "printed"), ("askl/table2", "tuned"), ("audit/askl", "shared")];
    for (name, variant) in tables {
        let study = context.cells(name)?;
        for dataset in &study.0.datasets {
            let mut line = vec![Cell::text(dataset), Cell::text(variant)];
            let mut found = false;
            for method in ["nsk", "nskl", "askl"] {
                let cell = study.1.iter().find(|cell| {
                    let key = cell.key();
                    (key.variant.as_str(), key.dataset.as_str(), key.method.as_str())
                        == (variant, dataset.as_str(), method)
                });
                let values =
                    cell.map(|cell| cell.of(fact::MEAN_KERNEL_DIAGONAL)).unwrap_or_default();
                if values.is_empty() {
                    line.push(Cell::text("not run"));
                    continue;
                }
                found = true;
                let sum: f64 = values.iter().map(|(_, value)| value).sum();
                let mean = sum / values.len() as f64;
                line.push(Cell::number(mean, 3).detail(format!("ratio {:.3}", mean.sqrt())));
            }
            if found {
                table = table.row(Row::new(line));
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// The example is the golden one.
    #[test]
    fn the_example_has_the_golden_values() {
        let golden: toml::Table = include_str!("../../golden/askl.toml").parse().unwrap();
        let number = |name: &str| golden["askl-4"][name].as_float().unwrap();
        let slack = slack().unwrap();
        for (value, name) in [
            (slack.exact.spectral, "average-spectral-norm"),
            (slack.exact.frobenius, "average-frobenius-norm"),
            (slack.bound, "rademacher-from-frequencies"),
            (slack.rate, "rate"),
        ] {
            assert_relative_eq!(value, number(name), max_relative = 1e-8);
        }
    }
}
