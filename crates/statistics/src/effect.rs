use crate::StatisticsError;
use crate::error::check_values;
use crate::summary::checked;
use statrs::function::gamma::ln_gamma;

/// Returns Cohen's `d_z = x̄ / s` of paired differences, `s` divided by `J − 1`. It is the mean difference in units of
/// its own standard deviation. 0 where all differences are 0, infinite where they are all equal to another number.
///
/// ```
/// assert_eq!(mercer_statistics::cohen_d_z(&[1.0, 2.0, 3.0])?, 2.0);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two differences; NaN or infinity among them.
pub fn cohen_d_z(differences: &[f64]) -> Result<f64, StatisticsError> {
    let summary = checked("differences", differences, 2)?;
    Ok(if summary.mean == 0.0 { 0.0 } else { summary.mean / summary.sample_std })
}

/// Returns Hedges' unbiased form of `d_z`: `g = d_z · Γ(m/2) / (√(m/2) Γ((m−1)/2))` with `m = J − 1`.
///
/// Hedges (1981), Journal of Educational Statistics 6. The factor is about `1 − 3/(4m − 1)`.
///
/// ```
/// let (d, g) = (mercer_statistics::cohen_d_z, mercer_statistics::hedges_g_z);
/// let differences = [1.0, 2.0, 3.0, 4.0, 5.0];
/// assert!((g(&differences)? / d(&differences)? - 0.797_884_560_8).abs() < 1e-9);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than three differences (the factor is 0 for two); NaN or infinity among them.
pub fn hedges_g_z(differences: &[f64]) -> Result<f64, StatisticsError> {
    check_values("differences", differences, 3)?;
    let m = differences.len() as f64 - 1.0;
    let factor = (ln_gamma(0.5 * m) - ln_gamma(0.5 * (m - 1.0))).exp() / (0.5 * m).sqrt();
    Ok(factor * cohen_d_z(differences)?)
}

/// Returns Vargha and Delaney's `A₁₂ = P(X > Y) + ½ P(X = Y)`. It is over all pairs of a value of `first` and one of
/// `second`; ½ means no tendency (Vargha and Delaney 2000).
///
/// ```
/// assert_eq!(mercer_statistics::vargha_delaney_a12(&[1.0, 2.0], &[1.0, 0.0])?, 0.875);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// An empty side; NaN or infinity.
pub fn vargha_delaney_a12(first: &[f64], second: &[f64]) -> Result<f64, StatisticsError> {
    check_values("first", first, 1)?;
    check_values("second", second, 1)?;
    let mut sorted = second.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins: f64 = first
        .iter()
        .map(|&x| {
            let below = sorted.partition_point(|&y| y < x);
            let not_above = sorted.partition_point(|&y| y <= x);
            0.5 * (below + not_above) as f64
        })
        .sum();
    Ok(wins / (first.len() * second.len()) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn effects_without_variance_are_zero_or_infinite() {
        assert_eq!(cohen_d_z(&[0.0; 4]).unwrap(), 0.0);
        assert_eq!(cohen_d_z(&[-1.0; 4]).unwrap(), f64::NEG_INFINITY);
        assert!(hedges_g_z(&[1.0, 2.0]).is_err());
        assert!(vargha_delaney_a12(&[], &[1.0]).is_err());
    }

    proptest! {
        #[test]
        fn a12_is_the_share_of_pairs_won(
            first in proptest::collection::vec(0i32..5, 1..12),
            second in proptest::collection::vec(0i32..5, 1..12),
        ) {
            let as_floats = |v: &[i32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            let mut doubled = 0;
            for x in &first {
                for y in &second {
                    doubled += i32::from(x > y) * 2 + i32::from(x == y);
                }
            }
            let expected = f64::from(doubled) / (2 * first.len() * second.len()) as f64;
            let (first, second) = (as_floats(&first), as_floats(&second));
            prop_assert_eq!(vargha_delaney_a12(&first, &second).unwrap(), expected);
        }
    }
}
