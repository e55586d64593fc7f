//! How loose is the Rademacher bound, in an example?

use mercer_report::ExperimentError;
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
