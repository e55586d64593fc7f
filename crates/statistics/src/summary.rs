use crate::StatisticsError;
use crate::distributions::student_quantile;
use crate::error::check_values;
use serde::{Deserialize, Serialize};

/// Mean, spread and order statistics of a list of numbers, in their own unit.
///
/// Papers divide the deviation by `J` or by `J − 1` and seldom say which; both are here under
/// names that do.
///
/// ```
/// use mercer_statistics::summarise;
/// let summary = summarise(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
/// assert_eq!((summary.min, summary.max, summary.count), (2.0, 9.0, 8));
/// assert_eq!(summary.population_std, 2.0);
/// assert!((summary.sample_std - (32.0f64 / 7.0).sqrt()).abs() < 1e-15); // the larger of the two
/// assert!((summary.standard_error() - (4.0f64 / 7.0).sqrt()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// `x̄ = (1/J) Σ x_j`.
    pub mean: f64,
    /// `J`.
    pub count: usize,
    /// `√( Σ (x_j − x̄)² / (J − 1) )`; 0 for one value, where nothing is known of the spread
    /// (`count` tells).
    pub sample_std: f64,
    /// `√( Σ (x_j − x̄)² / J )`.
    pub population_std: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Middle value, or the mean of the two middle ones.
    pub median: f64,
}

impl Summary {
    /// Returns `s / √J`, the standard error of the mean of *independent* values.
    pub fn standard_error(&self) -> f64 {
        self.sample_std / (self.count as f64).sqrt()
    }

    /// Returns the half-width of the two-sided interval of the mean. For *independent* values at confidence `level` it
    /// is `t_{(1+level)/2, J−1} · s / √J`. `None` of one value, which knows no spread.
    ///
    /// ```
    /// use mercer_statistics::summarise;
    /// let half = |values: &[f64]| summarise(values).and_then(|summary| summary.half_width(0.95));
    /// assert!((half(&[1.0, 3.0]).unwrap() - 12.706_204_736).abs() < 1e-8); // not 1.96
    /// assert_eq!(half(&[1.0]), None);
    /// ```
    ///
    /// # Panics
    /// Unless `0 < level < 1`.
    pub fn half_width(&self, level: f64) -> Option<f64> {
        assert!(level > 0.0 && level < 1.0, "`level` is {level}; it must lie in (0, 1)");
        let freedom = self.count.checked_sub(2)? as f64 + 1.0;
        Some(student_quantile(0.5 * (1.0 - level), freedom) * self.standard_error())
    }
}

/// Summarises the values; `None` if there are none or if one is NaN or infinite.
///
/// ```
/// use mercer_statistics::summarise;
/// let summary = summarise(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
/// assert_eq!((summary.mean, summary.population_std, summary.median), (5.0, 2.0, 4.5));
/// assert!((summary.sample_std - (32.0f64 / 7.0).sqrt()).abs() < 1e-15);
/// assert!(summarise(&[]).is_none());
/// ```
pub fn summarise(values: &[f64]) -> Option<Summary> {
    checked("values", values, 1).ok()
}

/// Summarises at least `needed >= 1` finite values, or returns the error in `argument`.
pub(crate) fn checked(
    argument: &'static str,
    values: &[f64],
    needed: usize,
) -> Result<Summary, StatisticsError> {
    check_values(argument, values, needed.max(1))?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let (min, max) = (sorted[0], sorted[count - 1]);
    let median = 0.5 * sorted[(count - 1) / 2] + 0.5 * sorted[count / 2];
    let (mean, squares) = mean_and_spread(values, min, max);
    let sample_std = if count > 1 { (squares / (count as f64 - 1.0)).sqrt() } else { 0.0 };
    let population_std = (squares / count as f64).sqrt();
    // Back to the caller's unit.
    let scale = power_of_two_near(min.abs().max(max.abs()));
    Ok(Summary {
        mean: mean * scale,
        count,
        sample_std: sample_std * scale,
        population_std: population_std * scale,
        min,
        max,
        median,
    })
}

/// Mean and `Σ (x − x̄)²` of the values divided by a power of two near the largest, so that no
/// square overflows or vanishes. Equal values have spread 0 exactly, whatever rounding says.
fn mean_and_spread(values: &[f64], min: f64, max: f64) -> (f64, f64) {
    let scale = power_of_two_near(min.abs().max(max.abs()));
    if min >= max {
        return (min / scale, 0.0);
    }
    let n = values.len() as f64;
    let first = values.iter().map(|x| x / scale).sum::<f64>() / n;
    // The second pass corrects the rounding of the first.
    let mean = first + values.iter().map(|x| x / scale - first).sum::<f64>() / n;
    (mean, values.iter().map(|x| (x / scale - mean).powi(2)).sum())
}

fn power_of_two_near(magnitude: f64) -> f64 {
    if magnitude == 0.0 {
        return 1.0;
    }
    // Clamped so that neither the scale nor its inverse leaves the normal range.
    2f64.powi(magnitude.log2().floor().clamp(-1000.0, 1000.0) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    #[test]
    fn equal_values_have_no_spread_even_where_their_mean_rounds() {
        let summary = summarise(&[0.1; 30]).unwrap();
        assert_eq!((summary.mean, summary.sample_std, summary.population_std), (0.1, 0.0, 0.0));
    }

    #[test]
    fn huge_and_tiny_values_neither_overflow_nor_vanish() {
        for scale in [1e300, 1e-300] {
            let summary = summarise(&[scale, 3.0 * scale]).unwrap();
            assert_relative_eq!(summary.mean, 2.0 * scale, max_relative = 1e-15);
            assert_relative_eq!(summary.population_std, scale, max_relative = 1e-15);
        }
    }

    #[test]
    fn one_value_is_a_mean_without_spread_and_a_nan_is_refused() {
        let summary = summarise(&[7.0]).unwrap();
        assert_eq!((summary.mean, summary.sample_std, summary.count), (7.0, 0.0, 1));
        assert!(summarise(&[1.0, f64::NAN]).is_none());
    }

    proptest! {
        #[test]
        fn shifting_moves_the_mean_and_not_the_spread(
            values in proptest::collection::vec(-10.0..10.0f64, 2..40),
            shift in -100.0..100.0f64,
        ) {
            let here = summarise(&values).unwrap();
            let there = summarise(&values.iter().map(|x| x + shift).collect::<Vec<_>>()).unwrap();
            assert_relative_eq!(there.mean, here.mean + shift, epsilon = 1e-12);
            assert_relative_eq!(there.sample_std, here.sample_std, epsilon = 1e-12);
            prop_assert!(here.min <= here.median && here.median <= here.max);
        }
    }
}
