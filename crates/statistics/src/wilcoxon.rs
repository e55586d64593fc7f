use crate::StatisticsError;
use crate::distributions::normal_tail;
use crate::error::check_values;
use crate::ranks::midranks;
use serde::{Deserialize, Serialize};

/// Up to this many non-zero differences the null distribution is counted out.
const COUNTED: usize = 50;

/// Wilcoxon's signed-rank test that differences are symmetric about 0.
///
/// ```
/// use mercer_statistics::wilcoxon_signed_rank;
/// let test = wilcoxon_signed_rank(&[1.0, 2.0, 3.0])?;
/// assert_eq!((test.positive_ranks, test.negative_ranks), (6.0, 0.0));
/// assert!(test.exact && (test.p_greater - 1.0 / 8.0).abs() < 1e-15); // one of 2³ patterns of signs
/// let with_zero = wilcoxon_signed_rank(&[0.0, 1.0, 2.0])?;
/// assert_eq!((with_zero.zeros, with_zero.positive_ranks), (1, 5.0)); // it took rank 1, and is dropped
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wilcoxon {
    /// Sum of the ranks of positive differences.
    pub positive_ranks: f64,
    /// Sum of the ranks of negative differences.
    pub negative_ranks: f64,
    /// Number of differences that are exactly 0.
    pub zeros: usize,
    /// `min(1, 2 · the smaller tail)`.
    pub p_two_sided: f64,
    /// `P(R⁺ ≥ r⁺)`: small if differences tend to be positive.
    pub p_greater: f64,
    /// Whether the p are exact. Otherwise they are normal, with the variance of tied ranks and no continuity
    /// correction.
    pub exact: bool,
    /// Whether all differences are 0.
    pub degenerate: bool,
}

/// Runs Wilcoxon's signed-rank test, one difference a dataset.
///
/// Zeros by Pratt (1959): they take part in the ranking and are then dropped, so that a zero makes
/// the rest count for less and is not thrown away. Ties share the mean of their places. Up to 50
/// non-zero differences the distribution of `R⁺` over all signs is counted exactly, ties and zeros
/// included; beyond that it is normal with mean `½ Σ R` and variance `¼ Σ R²`.
///
/// ```
/// use mercer_statistics::wilcoxon_signed_rank;
/// let test = wilcoxon_signed_rank(&[1.2, 0.4, -0.1, 2.0, 0.9, 1.1])?;
/// assert_eq!((test.positive_ranks, test.negative_ranks), (20.0, 1.0));
/// assert_eq!(test.p_two_sided, 2.0 * 2.0 / 64.0); // all positive, or only the smallest negative
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No differences; NaN or infinity among them.
pub fn wilcoxon_signed_rank(differences: &[f64]) -> Result<Wilcoxon, StatisticsError> {
    check_values("differences", differences, 1)?;
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let ranked: Vec<(f64, f64)> = midranks(&sizes)
        .into_iter()
        .zip(differences.iter().copied())
        .filter(|&(_, difference)| difference != 0.0)
        .collect();
    let sum_where = |positive: bool| -> f64 {
        let chosen = ranked.iter().filter(|&&(_, difference)| (difference > 0.0) == positive);
        chosen.map(|&(rank, _)| rank).sum::<f64>() + 0.0
    };
    let (positive_ranks, negative_ranks) = (sum_where(true), sum_where(false));
    let ranks: Vec<f64> = ranked.iter().map(|&(rank, _)| rank).collect();
    let exact = ranks.len() <= COUNTED;
    // The null distribution is symmetric: P(R⁺ ≤ r⁺) = P(R⁺ ≥ r⁻).
    let (p_greater, p_less) = if exact {
        let counts = counts_by_doubled_sum(&ranks);
        (share_from(&counts, positive_ranks), share_from(&counts, negative_ranks))
    } else {
        let deviation = 0.5 * ranks.iter().map(|rank| rank * rank).sum::<f64>().sqrt();
        let z = 0.5 * (positive_ranks - negative_ranks) / deviation;
        (normal_tail(z), normal_tail(-z))
    };
    Ok(Wilcoxon {
        positive_ranks,
        negative_ranks,
        zeros: differences.len() - ranks.len(),
        p_two_sided: (2.0 * p_greater.min(p_less)).min(1.0),
        p_greater,
        exact,
        degenerate: ranks.is_empty(),
    })
}

/// For each `s`, how many of the `2^m` sign patterns give `2 R⁺ = s`; midranks are multiples of ½.
fn counts_by_doubled_sum(ranks: &[f64]) -> Vec<f64> {
    let doubled: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank) as usize).collect();
    let mut counts = vec![0.0; doubled.iter().sum::<usize>() + 1];
    counts[0] = 1.0;
    let mut reach = 0;
    for rank in doubled {
        for sum in (0..=reach).rev() {
            counts[sum + rank] += counts[sum];
        }
        reach += rank;
    }
    counts
}

/// The share of sign patterns with `R⁺ ≥ sum`. Counts stay below 2⁵³: the division rounds once.
fn share_from(counts: &[f64], sum: f64) -> f64 {
    let patterns: f64 = counts.iter().sum();
    counts[(2.0 * sum) as usize..].iter().sum::<f64>() / patterns
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    /// Every sign pattern of the non-zero differences, one after the other.
    fn slow_p_greater(differences: &[f64]) -> f64 {
        let ranks = midranks(&differences.iter().map(|d| d.abs()).collect::<Vec<_>>());
        let kept: Vec<(f64, bool)> = (ranks.iter().zip(differences))
            .filter(|&(_, &d)| d != 0.0)
            .map(|(&rank, &d)| (rank, d > 0.0))
            .collect();
        let observed: f64 = kept.iter().filter(|k| k.1).map(|k| k.0).sum();
        let patterns = 1u32 << kept.len();
        let sum = |signs: u32| -> f64 {
            (0..kept.len()).filter(|i| signs >> i & 1 == 1).map(|i| kept[i].0).sum()
        };
        (0..patterns).filter(|&signs| sum(signs) >= observed).count() as f64 / f64::from(patterns)
    }

    proptest! {
        #[test]
        fn exact_p_counts_sign_patterns(values in proptest::collection::vec(-4i32..5, 1..11)) {
            let differences: Vec<f64> = values.into_iter().map(f64::from).collect();
            let test = wilcoxon_signed_rank(&differences).unwrap();
            assert_relative_eq!(test.p_greater, slow_p_greater(&differences), max_relative = 1e-14);
            let mirrored: Vec<f64> = differences.iter().map(|d| -d).collect();
            let other = wilcoxon_signed_rank(&mirrored).unwrap();
            assert_relative_eq!(test.p_two_sided, other.p_two_sided, max_relative = 1e-14);
            prop_assert_eq!(test.positive_ranks, other.negative_ranks);
        }
    }

    #[test]
    fn only_zeros_are_no_evidence() {
        let test = wilcoxon_signed_rank(&[0.0; 60]).unwrap();
        assert_eq!((test.p_two_sided, test.degenerate, test.zeros), (1.0, true, 60));
        assert!(wilcoxon_signed_rank(&[]).is_err());
    }

    #[test]
    fn the_exact_form_is_close_to_the_normal_one_where_it_hands_over() {
        let differences = |n: usize| -> Vec<f64> {
            (1..=n).map(|i| if i % 3 == 0 { -(i as f64) } else { i as f64 }).collect()
        };
        let test = wilcoxon_signed_rank(&differences(50)).unwrap();
        assert!(test.exact && !wilcoxon_signed_rank(&differences(51)).unwrap().exact);
        // Variance n(n+1)(2n+1)/24 of distinct ranks.
        let z = (test.positive_ranks - 0.25 * 50.0 * 51.0) / f64::sqrt(50.0 * 51.0 * 101.0 / 24.0);
        assert_relative_eq!(test.p_two_sided, 2.0 * normal_tail(z), max_relative = 0.03);
    }
}
