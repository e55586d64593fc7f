use crate::StatisticsError;
use crate::distributions::{student_quantile, student_tail};
use crate::error::check_range;
use crate::summary::checked;
use serde::{Deserialize, Serialize};

/// A t statistic with its tails, for the hypothesis that a mean (difference) is 0.
///
/// Where nothing varies there is no t distribution: the test is `degenerate`, `p = 1` if the mean
/// is 0 and `p = 0` otherwise, and the interval is a point. No field is ever NaN.
///
/// ```
/// use mercer_statistics::paired_t;
/// let test = paired_t(&[1.0, 2.0, 3.0])?;
/// assert_eq!((test.mean_difference, test.degrees_of_freedom), (2.0, 2.0));
/// assert!((test.statistic - 12f64.sqrt()).abs() < 1e-14); // 2 / (1/√3)
/// // With two degrees of freedom P(|T| ≥ t) = 1 − t/√(2 + t²).
/// assert!((test.p_two_sided - (1.0 - (12.0f64 / 14.0).sqrt())).abs() < 1e-12);
/// assert!((test.p_greater - 0.5 * test.p_two_sided).abs() < 1e-12);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TTest {
    /// The mean difference, in the unit of the values.
    pub mean_difference: f64,
    /// Its standard error under the test's assumptions.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub degrees_of_freedom: f64,
    /// `t = mean / standard error`; 0 or infinite if degenerate. JSON has no infinity: it is written as null there.
    pub statistic: f64,
    /// `P(|T| ≥ |t|)`.
    pub p_two_sided: f64,
    /// `P(T ≥ t)`: small if the mean is greater than 0.
    pub p_greater: f64,
    /// Whether the values do not vary.
    pub degenerate: bool,
}

impl TTest {
    pub(crate) fn new(mean_difference: f64, standard_error: f64, degrees_of_freedom: f64) -> Self {
        let degenerate = standard_error <= 0.0 || degrees_of_freedom <= 0.0;
        let (statistic, p_two_sided, p_greater) = if !degenerate {
            let t = mean_difference / standard_error;
            let p_greater = student_tail(t, degrees_of_freedom);
            (t, (2.0 * student_tail(t.abs(), degrees_of_freedom)).min(1.0), p_greater)
        } else if mean_difference == 0.0 {
            (0.0, 1.0, 1.0)
        } else {
            let above = mean_difference > 0.0;
            let t = if above { f64::INFINITY } else { f64::NEG_INFINITY };
            (t, 0.0, if above { 0.0 } else { 1.0 })
        };
        Self {
            mean_difference,
            standard_error,
            degrees_of_freedom,
            statistic,
            p_two_sided,
            p_greater,
            degenerate,
        }
    }

    /// Returns the two-sided interval of the mean at confidence `level`: `mean ∓ t_{(1+level)/2} · error`.
    ///
    /// ```
    /// use mercer_statistics::paired_t;
    /// let test = paired_t(&[1.0, 2.0, 3.0])?;
    /// let (low, high) = test.interval(0.95);
    /// assert!((high - 2.0 - 4.302_652_729_749 / 3f64.sqrt()).abs() < 1e-12); // t, 2 df
    /// assert!((low + high - 4.0).abs() < 1e-12);
    /// # Ok::<(), mercer_statistics::StatisticsError>(())
    /// ```
    ///
    /// # Panics
    /// Unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        assert!(level > 0.0 && level < 1.0, "`level` is {level}; it must lie in (0, 1)");
        if self.degenerate {
            return (self.mean_difference, self.mean_difference);
        }
        let half =
            student_quantile(0.5 * (1.0 - level), self.degrees_of_freedom) * self.standard_error;
        (self.mean_difference - half, self.mean_difference + half)
    }
}

/// Runs a paired t test that takes the `J` differences for independent. It has error `s / √J` and `J − 1` degrees of
/// freedom.
///
/// It is what papers use over repeated splits, and there it is wrong: the splits share rows, so
/// it rejects a true null far too often. It is printed only beside [`corrected_t`].
///
/// ```
/// let test = mercer_statistics::paired_t(&[0.3, 0.1, 0.4, 0.1, 0.5])?;
/// assert!((test.p_two_sided - 0.0248962).abs() < 1e-6);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two differences; NaN or infinity among them.
pub fn paired_t(differences: &[f64]) -> Result<TTest, StatisticsError> {
    corrected_t(differences, 0.0)
}

/// Runs the corrected resampled t test over `J` random splits:
/// ```text
/// t = x̄ / √( (1/J + n_test/n_train) · s² ),   J − 1 degrees of freedom,   s² divided by J − 1
/// ```
/// Nadeau and Bengio (2003), *Inference for the generalization error*, Machine Learning 52,
/// section 3: the splits overlap as if the differences had correlation `n_test / (n_test + n_train)`.
///
/// - `differences`: one paired difference a split, both methods on the same split
/// - `test_over_train`: `n_test / n_train`, 0.25 for 80/20 splits; 0 gives [`paired_t`]
///
/// ```
/// use mercer_statistics::{corrected_t, paired_t};
/// let differences = [0.3, 0.1, 0.4, 0.1, 0.5];
/// let (naive, corrected) = (paired_t(&differences)?, corrected_t(&differences, 0.25)?);
/// assert!(naive.p_two_sided < 0.05 && corrected.p_two_sided > 0.05);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two differences; NaN or infinity among them; `test_over_train` negative or not
/// finite.
pub fn corrected_t(differences: &[f64], test_over_train: f64) -> Result<TTest, StatisticsError> {
    let summary = checked("differences", differences, 2)?;
    check_ratio(test_over_train)?;
    let j = summary.count as f64;
    let standard_error = (1.0 / j + test_over_train).sqrt() * summary.sample_std;
    Ok(TTest::new(summary.mean, standard_error, j - 1.0))
}

/// Mean and deviation as a paper prints them.
///
/// ```
/// use mercer_statistics::{MeanStd, welch_summaries};
/// let ours = MeanStd { mean: 95.0, std: 1.0, count: 25 };
/// let quoted = MeanStd { mean: 94.0, std: 0.0, count: 1 }; // a single value adds no variance
/// let test = welch_summaries(ours, quoted);
/// assert!((test.standard_error - 0.2).abs() < 1e-15 && (test.statistic - 5.0).abs() < 1e-12);
/// assert_eq!(test.degrees_of_freedom, 24.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeanStd {
    /// Mean.
    pub mean: f64,
    /// Deviation, divided by `count − 1`.
    pub std: f64,
    /// Number of values behind them.
    pub count: usize,
}

/// Runs Welch's t test of `a − b` from printed summaries:
/// ```text
/// error² = s_a²/n_a + s_b²/n_b,   df = error⁴ / ( (s_a²/n_a)²/(n_a−1) + (s_b²/n_b)²/(n_b−1) )
/// ```
/// A side with a single value adds no variance.
///
/// ```
/// use mercer_statistics::{MeanStd, welch_summaries};
/// let nskl = MeanStd { mean: 94.4, std: 1.1, count: 30 };
/// let askl = MeanStd { mean: 95.0, std: 1.0, count: 30 };
/// assert!(welch_summaries(askl, nskl).p_two_sided < 0.05);
/// ```
///
/// # Panics
/// If a count is 0, a deviation is negative, or a number is not finite.
pub fn welch_summaries(a: MeanStd, b: MeanStd) -> TTest {
    for side in [a, b] {
        assert!(side.count > 0, "`count` is 0; a mean needs a value");
        assert!(
            side.std >= 0.0 && side.std.is_finite() && side.mean.is_finite(),
            "mean {} and deviation {} must be finite, the latter not negative",
            side.mean,
            side.std
        );
    }
    let (mut variance, mut weighted) = (0.0, 0.0);
    for side in [a, b] {
        if side.count > 1 {
            let part = side.std * side.std / side.count as f64;
            variance += part;
            weighted += part * part / (side.count as f64 - 1.0);
        }
    }
    // Never more than n_a + n_b − 2; where nothing varies that is also what the formula tends to.
    let freedom = if weighted > 0.0 {
        variance * variance / weighted
    } else {
        (a.count + b.count).saturating_sub(2) as f64
    };
    TTest::new(a.mean - b.mean, variance.sqrt(), freedom)
}

/// Runs the corrected resampled t test from two methods' printed summaries. They are over `J` random splits, and the
/// errors correlate over the splits by `correlation`:
/// ```text
/// error² = (1/J + n_test/n_train) (s_a² + s_b² − 2 r s_a s_b),   J − 1 degrees of freedom
/// ```
/// A table does not print `r`. With `r = 0` the variance is the largest possible for methods that do not move against
/// each other, with `r = 1` the smallest. The two ends bound the result of [`corrected_t`] on the pairs.
///
/// - `a`, `b`: with the same `count`
/// - `test_over_train`: `n_test / n_train`, 0.25 for 80/20 splits; 0 for a fixed test part
///
/// ```
/// use mercer_statistics::{MeanStd, paired_summaries};
/// let nskl = MeanStd { mean: 94.4, std: 1.1, count: 30 };
/// let askl = MeanStd { mean: 95.0, std: 1.0, count: 30 };
/// assert!(paired_summaries(askl, nskl, 0.25, 0.0)?.p_two_sided > 0.4);
/// assert!(paired_summaries(askl, nskl, 0.25, 1.0)?.p_two_sided < 1e-6);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// `test_over_train` negative or not finite; `correlation` outside `[0, 1]`; different or too small counts.
pub fn paired_summaries(
    a: MeanStd,
    b: MeanStd,
    test_over_train: f64,
    correlation: f64,
) -> Result<TTest, StatisticsError> {
    check_ratio(test_over_train)?;
    check_range("correlation", correlation, |r| (0.0..=1.0).contains(&r), "in [0, 1]")?;
    let pairs = a.count as f64;
    check_range("count", pairs, |n| n >= 2.0 && a.count == b.count, "at least 2, and the same")?;
    let variance = a.std * a.std + b.std * b.std - 2.0 * correlation * a.std * b.std;
    let error = ((1.0 / pairs + test_over_train) * variance.max(0.0)).sqrt();
    Ok(TTest::new(a.mean - b.mean, error, pairs - 1.0))
}

fn check_ratio(test_over_train: f64) -> Result<(), StatisticsError> {
    check_range(
        "test_over_train",
        test_over_train,
        |r| (0.0..f64::INFINITY).contains(&r),
        "n_test / n_train, not negative and finite",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    #[test]
    fn without_variance_the_mean_decides() {
        let none = paired_t(&[0.0; 5]).unwrap();
        assert_eq!((none.p_two_sided, none.statistic, none.degenerate), (1.0, 0.0, true));
        let some = corrected_t(&[0.1; 5], 0.25).unwrap();
        assert_eq!((some.p_two_sided, some.p_greater, some.degenerate), (0.0, 0.0, true));
        assert_eq!(some.interval(0.95), (0.1, 0.1));
        let less = paired_t(&[-0.1; 5]).unwrap();
        assert_eq!((less.p_two_sided, less.p_greater), (0.0, 1.0));
        let same = MeanStd { mean: 1.0, std: 0.0, count: 3 };
        assert_eq!(welch_summaries(same, same).p_two_sided, 1.0);
    }

    #[test]
    fn printed_summaries_bound_what_the_pairs_would_say() {
        let askl = MeanStd { mean: 95.02, std: 1.54, count: 30 };
        let other = MeanStd { mean: 94.37, std: 0.81, count: 30 };
        let of = |correlation| paired_summaries(askl, other, 0.25, correlation).unwrap();
        let error = |spread: f64| ((1.0 / 30.0 + 0.25) * spread).sqrt();
        let apart = 1.54f64.powi(2) + 0.81f64.powi(2);
        assert_relative_eq!(of(0.0).standard_error, error(apart), max_relative = 1e-12);
        let together = (1.54f64 - 0.81).powi(2);
        assert_relative_eq!(of(1.0).standard_error, error(together), max_relative = 1e-12);
        assert!(
            of(1.0).p_two_sided < of(0.5).p_two_sided && of(0.5).p_two_sided < of(0.0).p_two_sided
        );
        assert!(paired_summaries(askl, other, -0.1, 0.0).is_err());
        assert!(paired_summaries(askl, other, 0.25, 1.1).is_err());
        assert!(paired_summaries(askl, MeanStd { count: 10, ..other }, 0.25, 0.0).is_err());
        // Alike in every split but for the mean.
        assert_eq!(
            paired_summaries(askl, MeanStd { mean: 90.0, ..askl }, 0.25, 1.0).unwrap().p_two_sided,
            0.0
        );
    }

    #[test]
    fn too_little_or_broken_data_is_an_error_that_names_it() {
        let few = paired_t(&[1.0]).unwrap_err();
        assert_eq!(few, StatisticsError::TooFew { argument: "differences", found: 1, needed: 2 });
        let nan = paired_t(&[1.0, f64::NAN]).unwrap_err();
        assert!(nan.to_string().starts_with("`differences`[1] is NaN"), "{nan}");
        assert!(corrected_t(&[1.0, 2.0], -0.1).is_err());
        assert!(corrected_t(&[1.0, 2.0], f64::NAN).is_err());
    }

    #[test]
    fn a_cauchy_tail_is_right_beyond_the_square_root_of_overflow() {
        // One degree of freedom: P(T > t) = arctan(1/t) / π.
        for t in [1e-3, 1.0, 1e5, 1e9, 1e200, 1e300] {
            let exact = f64::atan(1.0 / t) / std::f64::consts::PI;
            assert_relative_eq!(student_tail(t, 1.0), exact, max_relative = 1e-12);
        }
    }

    proptest! {
        #[test]
        fn tails_and_interval_fit_together(
            differences in proptest::collection::vec(-5.0..5.0f64, 2..40),
            ratio in 0.0..2.0f64,
            level in 0.01..0.999f64,
        ) {
            let test = corrected_t(&differences, ratio).unwrap();
            prop_assume!(!test.degenerate);
            let mirrored = differences.iter().map(|d| -d).collect::<Vec<_>>();
            let other = corrected_t(&mirrored, ratio).unwrap();
            assert_relative_eq!(test.p_greater + other.p_greater, 1.0, max_relative = 1e-12);
            assert_relative_eq!(
                test.p_two_sided,
                2.0 * test.p_greater.min(other.p_greater),
                max_relative = 1e-9
            );
            // The interval misses 0 exactly when the test rejects at the complementary level.
            let (low, high) = test.interval(level);
            prop_assert_eq!(low > 0.0 || high < 0.0, test.p_two_sided < 1.0 - level);
            // More overlap between splits, less certainty.
            prop_assert!(test.p_two_sided >= paired_t(&differences).unwrap().p_two_sided);
        }
    }
}
