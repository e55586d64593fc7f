use crate::StatisticsError;
use crate::distributions::student_quantile;
use crate::error::{check_range, check_values};
use serde::{Deserialize, Serialize};

/// A least-squares line `y = a + b x` through points.
///
/// Through logarithms of sizes and times, `b` is the exponent of a power law.
///
/// ```
/// use mercer_statistics::line;
/// // Residuals −1/2, 1, −1/2: s² = 1.5/(3 − 2), over Σ (x − x̄)² = 2.
/// let found = line(&[(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)])?;
/// assert_eq!((found.slope, found.intercept, found.count), (0.5, 0.5, 3));
/// assert!((found.standard_error - 0.75f64.sqrt()).abs() < 1e-15);
/// let (low, high) = found.interval(0.95)?;
/// assert!((high - 0.5 - 12.706_204_736 * 0.75f64.sqrt()).abs() < 1e-8); // t of one degree of freedom
/// assert!(low < 0.0); // three points show no growth
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// `b = Σ (x − x̄)(y − ȳ) / Σ (x − x̄)²`, in units of `y` over `x`.
    pub slope: f64,
    /// `a = ȳ − b x̄`, in the unit of `y`.
    pub intercept: f64,
    /// `√( Σ (y − a − b x)² / (J − 2) / Σ (x − x̄)² )`; 0 for two points, where nothing is known of
    /// it (`count` tells).
    pub standard_error: f64,
    /// `J`.
    pub count: usize,
}

impl Line {
    /// Returns the interval that covers the slope with probability `level`, for independent normal errors. It is
    /// `b ± t · standard error`, `t` of `J − 2` degrees of freedom. The whole line for two points.
    ///
    /// # Errors
    /// [`StatisticsError::Range`] unless `0 < level < 1`.
    pub fn interval(&self, level: f64) -> Result<(f64, f64), StatisticsError> {
        check_range("level", level, |p| p > 0.0 && p < 1.0, "above 0 and below 1")?;
        if self.count < 3 {
            return Ok((f64::NEG_INFINITY, f64::INFINITY));
        }
        let half =
            student_quantile(0.5 * (1.0 - level), self.count as f64 - 2.0) * self.standard_error;
        Ok((self.slope - half, self.slope + half))
    }
}

/// Fits the least-squares line through the points `(x, y)`.
///
/// ```
/// use mercer_statistics::line;
/// let growth = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)])?;
/// assert_eq!((growth.slope, growth.intercept, growth.standard_error), (2.0, 1.0, 0.0));
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// [`StatisticsError::TooFew`] for fewer than two points, [`StatisticsError::NotFinite`] for NaN or
/// infinity, [`StatisticsError::Range`] if all `x` are equal.
pub fn line(points: &[(f64, f64)]) -> Result<Line, StatisticsError> {
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    check_values("x", &xs, 2)?;
    check_values("y", &ys, 2)?;
    let count = points.len();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count as f64;
    let (x, y) = (mean(&xs), mean(&ys));
    let spread: f64 = xs.iter().map(|a| (a - x).powi(2)).sum();
    check_range("spread of x", spread, |s| s > 0.0, "positive: give at least two values of x")?;
    let slope = points.iter().map(|(a, b)| (a - x) * (b - y)).sum::<f64>() / spread;
    let intercept = y - slope * x;
    let rest: f64 = points.iter().map(|(a, b)| (b - y - slope * (a - x)).powi(2)).sum();
    let standard_error =
        if count > 2 { (rest / (count as f64 - 2.0) / spread).sqrt() } else { 0.0 };
    Ok(Line { slope, intercept, standard_error, count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn slope_error_and_interval_are_those_of_the_textbook() {
        // Residuals 1/6, -1/3, 1/6: their squares sum to 1/6, over one degree of freedom and Σx² = 2.
        let bent = line(&[(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)]).unwrap();
        assert_relative_eq!(bent.slope, 0.5, max_relative = 1e-15);
        assert_relative_eq!(bent.intercept, -1.0 / 6.0, max_relative = 1e-14);
        assert_relative_eq!(bent.standard_error, (1.0f64 / 12.0).sqrt(), max_relative = 1e-14);
        // With one degree of freedom t is Cauchy: its quantile at 97.5 % is tan(0.475 π).
        let half = (0.475 * std::f64::consts::PI).tan() / 12f64.sqrt();
        let (low, high) = bent.interval(0.95).unwrap();
        assert_relative_eq!(low, 0.5 - half, max_relative = 1e-12);
        assert_relative_eq!(high, 0.5 + half, max_relative = 1e-12);
    }

    #[test]
    fn two_points_have_a_slope_and_no_interval() {
        let steep = line(&[(1.0, 2.0), (3.0, 8.0)]).unwrap();
        assert_eq!((steep.slope, steep.intercept, steep.standard_error), (3.0, -1.0, 0.0));
        assert_eq!(steep.interval(0.95).unwrap(), (f64::NEG_INFINITY, f64::INFINITY));
    }

    #[test]
    fn what_has_no_slope_is_refused_by_name() {
        let said = |points: &[(f64, f64)]| line(points).unwrap_err().to_string();
        assert!(said(&[(1.0, 1.0)]).contains("`x` has 1 values, at least 2"));
        assert!(said(&[(1.0, 1.0), (1.0, 2.0)]).contains("`spread of x` is 0"));
        assert!(said(&[(1.0, 1.0), (2.0, f64::NAN)]).contains("`y`[1] is NaN"));
        let flat = line(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]).unwrap();
        for level in [0.0, 1.0, f64::NAN] {
            assert!(flat.interval(level).unwrap_err().to_string().contains("`level`"));
        }
    }
}
