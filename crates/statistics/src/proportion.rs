use crate::StatisticsError;
use crate::distributions::normal_quantile;
use crate::error::check_range;

/// Returns Wilson's score interval of a proportion, at confidence `level`:
/// ```text
/// ( p̂ + z²/2n ∓ z √( p̂(1−p̂)/n + z²/4n² ) ) / (1 + z²/n)
/// ```
/// Wilson (1927), JASA 22. It never leaves `[0, 1]` and has positive width at 0 and `n`.
///
/// ```
/// let (low, high) = mercer_statistics::wilson_interval(10, 10, 0.95)?;
/// assert!((low - 0.722_467).abs() < 1e-6 && high == 1.0);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No trials, more successes than trials, or `level` outside `(0, 1)`.
pub fn wilson_interval(
    successes: u64,
    trials: u64,
    level: f64,
) -> Result<(f64, f64), StatisticsError> {
    check_range("trials", trials as f64, |n| n >= 1.0, "at least 1")?;
    let within = |s: f64| s <= trials as f64;
    check_range("successes", successes as f64, within, "at most the number of trials")?;
    check_range("level", level, |l| l > 0.0 && l < 1.0, "in (0, 1)")?;
    let n = trials as f64;
    let (p, z) = (successes as f64 / n, normal_quantile(0.5 * (1.0 - level)));
    let center = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // At the ends the formula gives 0 and 1 up to rounding.
    let low = if successes == 0 { 0.0 } else { (center - half) / scale };
    let high = if successes == trials { 1.0 } else { (center + half) / scale };
    Ok((low, high))
}

/// Returns `√( p(1−p)/n )`, the standard deviation of an accuracy by sampling alone. The accuracy is `p`, on `n` test
/// rows, as a fraction. A much larger deviation over repeats needs another cause.
///
/// ```
/// let points = 100.0 * mercer_statistics::binomial_deviation(0.983, 10_000)?;
/// assert!((points - 0.13).abs() < 0.001);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// `p` outside `[0, 1]`, or no rows.
pub fn binomial_deviation(p: f64, n: u64) -> Result<f64, StatisticsError> {
    check_range("p", p, |p| (0.0..=1.0).contains(&p), "in [0, 1]; divide percent by 100")?;
    check_range("n", n as f64, |n| n >= 1.0, "at least 1")?;
    Ok((p * (1.0 - p) / n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proportions_out_of_range_are_refused() {
        assert!(wilson_interval(3, 2, 0.95).is_err());
        assert!(wilson_interval(0, 0, 0.95).is_err());
        assert!(wilson_interval(1, 2, 1.0).is_err());
        assert!(binomial_deviation(98.3, 10).unwrap_err().to_string().contains("percent"));
        assert!(binomial_deviation(0.5, 0).is_err());
    }

    #[test]
    fn the_interval_is_symmetric_under_exchange_of_success_and_failure() {
        for successes in 0..=9 {
            let (low, high) = wilson_interval(successes, 9, 0.9).unwrap();
            let (other_low, other_high) = wilson_interval(9 - successes, 9, 0.9).unwrap();
            assert!(
                (low + other_high - 1.0).abs() < 1e-14 && (high + other_low - 1.0).abs() < 1e-14
            );
            assert!(low < successes as f64 / 9.0 + 1e-15 && successes as f64 / 9.0 < high + 1e-15);
        }
    }
}
