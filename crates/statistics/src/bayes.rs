use crate::StatisticsError;
use crate::distributions::student_tail;
use crate::error::check_range;
use crate::summary::checked;
use serde::{Deserialize, Serialize};

/// Posterior probabilities that the mean difference is below, in and above an interval. The interval is a region of
/// practical equivalence; the probabilities sum to 1.
///
/// ```
/// use mercer_statistics::bayesian_correlated_t;
/// let test = bayesian_correlated_t(&[-2.0, 1.0, 2.0, -1.0], 0.2, 0.5)?;
/// assert!((test.left - test.right).abs() < 1e-12); // the differences are symmetric
/// assert!((test.left + test.rope + test.right - 1.0).abs() < 1e-12);
/// let certain = bayesian_correlated_t(&[2.0, 2.0, 2.0], 0.2, 0.5)?;
/// assert!(certain.degenerate && certain.right == 1.0);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BayesianT {
    /// `P(μ < −r)`.
    pub left: f64,
    /// `P(|μ| ≤ r)`.
    pub rope: f64,
    /// `P(μ > r)`.
    pub right: f64,
    /// Whether the differences do not vary; then the posterior is a point.
    pub degenerate: bool,
}

/// Runs the Bayesian correlated t test over `J` overlapping splits.
///
/// Under the matching prior the posterior of the mean difference is Student's t with `J − 1`
/// degrees of freedom, location `x̄` and scale²
/// ```text
/// (1/J + ρ/(1 − ρ)) s²
/// ```
/// Corani and Benavoli (2015), Machine Learning 100. With `ρ = n_test / (n_train + n_test)` the scale is the same as in
/// [`crate::corrected_t`].
///
/// - `correlation`: `ρ` in `[0, 1)`, 0.2 for 80/20 splits
/// - `rope`: `r ≥ 0`, the half-width of the region, in the unit of the differences
///
/// ```
/// let test = mercer_statistics::bayesian_correlated_t(&[0.4, -0.3, 0.2, 0.1, -0.1], 0.2, 1.0)?;
/// assert!(test.rope > 0.99); // practically equivalent
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two differences; NaN or infinity; `correlation` or `rope` out of range.
pub fn bayesian_correlated_t(
    differences: &[f64],
    correlation: f64,
    rope: f64,
) -> Result<BayesianT, StatisticsError> {
    let summary = checked("differences", differences, 2)?;
    check_range("correlation", correlation, |rho| (0.0..1.0).contains(&rho), "in [0, 1)")?;
    check_range("rope", rope, |r| (0.0..f64::INFINITY).contains(&r), "not negative and finite")?;
    let (j, mean) = (summary.count as f64, summary.mean);
    if summary.sample_std == 0.0 {
        let at = |inside: bool| if inside { 1.0 } else { 0.0 };
        let (left, right) = (at(mean < -rope), at(mean > rope));
        return Ok(BayesianT { left, rope: 1.0 - left - right, right, degenerate: true });
    }
    let scale = (1.0 / j + correlation / (1.0 - correlation)).sqrt() * summary.sample_std;
    let beyond = |t: f64| student_tail(t, j - 1.0);
    // With the location made positive, both ends of the region lie below it or on either side;
    // differences of upper tails then lose no digits.
    let (near, far) = ((mean.abs() - rope) / scale, (mean.abs() + rope) / scale);
    let (same_side, other_side) = (beyond(-near), beyond(far));
    let within = if near > 0.0 { beyond(near) - other_side } else { 1.0 - same_side - other_side };
    let (left, right) = if mean < 0.0 { (same_side, other_side) } else { (other_side, same_side) };
    Ok(BayesianT { left, rope: within.max(0.0), right, degenerate: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    #[test]
    fn without_variance_the_posterior_is_a_point() {
        let inside = bayesian_correlated_t(&[0.5; 4], 0.2, 1.0).unwrap();
        assert_eq!((inside.left, inside.rope, inside.right), (0.0, 1.0, 0.0));
        let below = bayesian_correlated_t(&[-5.0; 4], 0.2, 1.0).unwrap();
        assert!(below.degenerate);
        assert_eq!((below.left, below.rope, below.right), (1.0, 0.0, 0.0));
        let above = bayesian_correlated_t(&[5.0; 4], 0.2, 1.0).unwrap();
        assert_eq!((above.left, above.rope, above.right), (0.0, 0.0, 1.0));
        // The ends belong to the region.
        for end in [-1.0, 1.0] {
            let on_end = bayesian_correlated_t(&[end; 4], 0.2, 1.0).unwrap();
            assert_eq!((on_end.left, on_end.rope, on_end.right), (0.0, 1.0, 0.0));
        }
        assert!(bayesian_correlated_t(&[1.0, 2.0], 1.0, 1.0).is_err());
        assert!(bayesian_correlated_t(&[1.0, 2.0], 0.2, -1.0).is_err());
    }

    proptest! {
        #[test]
        fn probabilities_sum_to_one_and_without_region_are_the_corrected_test(
            differences in proptest::collection::vec(-3.0..3.0f64, 2..30),
            rope in 0.0..2.0f64,
        ) {
            let test = bayesian_correlated_t(&differences, 0.2, rope).unwrap();
            assert_relative_eq!(test.left + test.rope + test.right, 1.0, max_relative = 1e-12);
            let point = bayesian_correlated_t(&differences, 0.2, 0.0).unwrap();
            let frequentist = crate::corrected_t(&differences, 0.25).unwrap();
            prop_assume!(!point.degenerate);
            assert_relative_eq!(point.left, frequentist.p_greater, max_relative = 1e-9);
        }
    }
}
