use crate::StatisticsError;
use crate::distributions::{chi_squared_tail, fisher_tail, normal_range_quantile};
use crate::error::{check_range, check_table};
use serde::{Deserialize, Serialize};

/// Ranks from 1 for the smallest; equal values share the mean of their places.
pub(crate) fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for tied in order.chunk_by(|&i, &j| values[i] == values[j]) {
        // Places start+1 ..= start+len.
        let shared = start as f64 + 0.5 * (tied.len() as f64 + 1.0);
        for &i in tied {
            ranks[i] = shared;
        }
        start += tied.len();
    }
    ranks
}

/// Ranks of each row with 1 for the best.
fn ranked_rows(scores: &[Vec<f64>], larger_is_better: bool) -> Vec<Vec<f64>> {
    // `0.0 - x` has no negative zero, which would sort apart from zero.
    let sign = if larger_is_better { -1.0 } else { 1.0 };
    let rank = |row: &Vec<f64>| midranks(&row.iter().map(|x| sign * x + 0.0).collect::<Vec<_>>());
    scores.iter().map(rank).collect()
}

/// Returns the mean rank of each method over datasets. 1 is best, ties share the mean of their places.
///
/// `scores[dataset][method]`, one number a dataset.
///
/// ```
/// let accuracy = vec![vec![90.0, 95.0, 95.0], vec![70.0, 60.0, 80.0]];
/// assert_eq!(mercer_statistics::average_ranks(&accuracy, true)?, [2.5, 2.25, 1.25]);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No datasets or fewer than two methods; a method missing on a dataset; NaN or infinity.
pub fn average_ranks(
    scores: &[Vec<f64>],
    larger_is_better: bool,
) -> Result<Vec<f64>, StatisticsError> {
    check_table("scores", scores, 2)?;
    let ranks = ranked_rows(scores, larger_is_better);
    let mean = |j: usize| ranks.iter().map(|row| row[j]).sum::<f64>() / ranks.len() as f64;
    Ok((0..scores[0].len()).map(mean).collect())
}

/// Friedman's test and Iman and Davenport's less conservative form of it.
///
/// ```
/// use mercer_statistics::friedman;
/// // The first of two methods wins on all three datasets.
/// let test = friedman(&[vec![0.1, 0.2], vec![0.3, 0.4], vec![0.0, 0.9]], false)?;
/// assert_eq!((test.average_ranks.as_slice(), test.datasets), ([1.0, 2.0].as_slice(), 3));
/// assert!((test.chi_squared - 3.0).abs() < 1e-12); // N (k − 1), the largest there is
/// assert!((test.p_chi_squared - 0.083_264_516_663_55).abs() < 1e-12);
/// assert!(test.degenerate && test.p_iman_davenport == 0.0);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Friedman {
    /// Mean rank of each method, 1 is best.
    pub average_ranks: Vec<f64>,
    /// Number of datasets.
    pub datasets: usize,
    /// `χ²_F`, corrected for ties.
    pub chi_squared: f64,
    /// `P(χ²_{k−1} ≥ χ²_F)`.
    pub p_chi_squared: f64,
    /// `F_F = (N − 1) χ²_F / (N (k − 1) − χ²_F)`; infinite if all datasets rank alike.
    pub iman_davenport: f64,
    /// `P(F_{k−1, (k−1)(N−1)} ≥ F_F)`.
    pub p_iman_davenport: f64,
    /// Whether ranks do not vary. They are all tied (`p = 1`), or the same on every dataset (`p = 0` by Iman and
    /// Davenport).
    pub degenerate: bool,
}

/// Runs Friedman's test that `k` methods rank alike over `N` datasets.
///
/// ```text
/// χ²_F = (k − 1) Σ_j (R_j − N (k+1)/2)² / Σ_ij (r_ij − (k+1)/2)²
/// ```
/// with ranks `r_ij` and their sums `R_j`; without ties this is the textbook's
/// `12 / (N k (k+1)) Σ R_j² − 3 N (k+1)`. Friedman (1937); Iman and Davenport (1980); Demšar (2006),
/// JMLR 7, section 3.2.2.
///
/// `scores[dataset][method]`, one number a dataset.
///
/// ```
/// let scores = vec![vec![1.0, 2.0, 3.0], vec![1.0, 3.0, 2.0], vec![1.0, 2.0, 3.0]];
/// let test = mercer_statistics::friedman(&scores, false)?;
/// assert!((test.chi_squared - 14.0 / 3.0).abs() < 1e-12);
/// assert!((test.iman_davenport - 7.0).abs() < 1e-12);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two datasets or methods; a method missing on a dataset; NaN or infinity.
pub fn friedman(scores: &[Vec<f64>], larger_is_better: bool) -> Result<Friedman, StatisticsError> {
    let average_ranks = average_ranks(scores, larger_is_better)?;
    let (datasets, methods) = (scores.len(), scores[0].len());
    if datasets < 2 {
        return Err(StatisticsError::TooFew { argument: "scores", found: 1, needed: 2 });
    }
    let (n, k) = (datasets as f64, methods as f64);
    let ranks = ranked_rows(scores, larger_is_better);
    let center = 0.5 * (k + 1.0);
    let between: f64 =
        (0..methods).map(|j| ranks.iter().map(|row| row[j] - center).sum::<f64>().powi(2)).sum();
    let total: f64 = ranks.iter().flatten().map(|rank| (rank - center).powi(2)).sum();
    let all_tied = total == 0.0;
    // Ranks are multiples of 1/2, so these sums are exact and equality means what it says.
    let chi_squared = if all_tied { 0.0 } else { (k - 1.0) * (between / total) };
    let left = n * (k - 1.0) - chi_squared;
    let same_everywhere = between == n * total && !all_tied;
    let iman_davenport =
        if same_everywhere { f64::INFINITY } else { (n - 1.0) * chi_squared / left };
    let p_iman_davenport = if same_everywhere {
        0.0
    } else {
        fisher_tail(iman_davenport, k - 1.0, (k - 1.0) * (n - 1.0))
    };
    Ok(Friedman {
        average_ranks,
        datasets,
        chi_squared,
        p_chi_squared: chi_squared_tail(chi_squared, k - 1.0),
        iman_davenport,
        p_iman_davenport,
        degenerate: all_tied || same_everywhere,
    })
}

/// Returns Nemenyi's critical difference of mean ranks. Two of `k` methods differ at level `alpha` if their mean ranks
/// over `N` datasets differ by at least
/// ```text
/// CD = q_α √( k (k+1) / (6 N) )
/// ```
/// where `q_α` is the studentised range of `k` groups with infinite degrees of freedom over `√2`
/// (Demšar 2006, JMLR 7, equation 7).
///
/// ```
/// let cd = mercer_statistics::nemenyi_critical_difference(5, 30, 0.05)?;
/// assert!((cd - 1.113_7).abs() < 1e-4); // q = 2.728
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two methods, no datasets, or `alpha` outside `(0, 1)`.
pub fn nemenyi_critical_difference(
    methods: usize,
    datasets: usize,
    alpha: f64,
) -> Result<f64, StatisticsError> {
    check_range("methods", methods as f64, |k| k >= 2.0, "at least 2")?;
    check_range("datasets", datasets as f64, |n| n >= 1.0, "at least 1")?;
    check_range("alpha", alpha, |a| a > 0.0 && a < 1.0, "in (0, 1)")?;
    let (k, n) = (methods as f64, datasets as f64);
    let q = normal_range_quantile(alpha, methods) / std::f64::consts::SQRT_2;
    Ok(q * (k * (k + 1.0) / (6.0 * n)).sqrt())
}

/// Returns the bars of a critical-difference diagram. They are the largest groups of methods, neighbours by mean rank,
/// whose ranks lie less than `critical_difference` apart. Each group lists indices into `average_ranks`, best first;
/// groups of one and groups inside another are left out.
///
/// ```
/// let groups = mercer_statistics::indistinguishable_groups(&[3.5, 1.0, 2.0, 2.5], 1.6);
/// assert_eq!(groups, [vec![1, 2, 3], vec![2, 3, 0]]); // only 1.0 and 3.5 are told apart
/// ```
pub fn indistinguishable_groups(
    average_ranks: &[f64],
    critical_difference: f64,
) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..average_ranks.len()).collect();
    order.sort_by(|&i, &j| average_ranks[i].total_cmp(&average_ranks[j]));
    let mut groups = Vec::new();
    let mut covered = 0;
    for (start, &best) in order.iter().enumerate() {
        let near = |&&j: &&usize| average_ranks[j] - average_ranks[best] < critical_difference;
        let end = start + order[start..].iter().take_while(near).count();
        // A group that ends where an earlier one did lies inside it.
        if end > covered && end - start > 1 {
            groups.push(order[start..end].to_vec());
            covered = end;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_share_their_places() {
        assert_eq!(midranks(&[3.0, 1.0, 3.0, 2.0, 3.0]), [4.0, 1.0, 4.0, 2.0, 4.0]);
        let zeros = ranked_rows(&[vec![0.0, -0.0, 1.0]], true);
        assert_eq!(zeros[0], [2.5, 2.5, 1.0]);
    }

    #[test]
    fn ranks_without_variation_are_flagged_and_never_nan() {
        let tied = friedman(&[vec![1.0; 4], vec![2.0; 4]], true).unwrap();
        assert!(tied.degenerate);
        assert_eq!((tied.p_chi_squared, tied.p_iman_davenport), (1.0, 1.0));
        let same = friedman(&vec![vec![1.0, 2.0, 5.0]; 7], true).unwrap();
        assert!(same.degenerate && same.iman_davenport == f64::INFINITY);
        assert_eq!((same.chi_squared, same.p_iman_davenport), (14.0, 0.0));
        assert_eq!(same.average_ranks, [3.0, 2.0, 1.0]);
    }

    #[test]
    fn bad_tables_are_refused() {
        assert!(friedman(&[vec![1.0, 2.0]], true).is_err());
        assert!(average_ranks(&[], true).is_err());
        assert!(average_ranks(&[vec![1.0, 2.0], vec![1.0]], true).is_err());
        assert!(average_ranks(&[vec![1.0, f64::NAN]], true).is_err());
        assert!(nemenyi_critical_difference(1, 5, 0.05).is_err());
        assert!(nemenyi_critical_difference(3, 5, 1.0).is_err());
    }

    proptest! {
        #[test]
        fn groups_are_the_maximal_runs_of_near_ranks(
            ranks in proptest::collection::vec(1.0..6.0f64, 1..8),
            critical in 0.1..3.0f64,
        ) {
            let groups = indistinguishable_groups(&ranks, critical);
            for i in 0..ranks.len() {
                for j in 0..i {
                    // Two methods share a bar exactly if they are not told apart.
                    let together = groups.iter().any(|g| g.contains(&i) && g.contains(&j));
                    prop_assert_eq!(together, (ranks[i] - ranks[j]).abs() < critical);
                }
            }
            for (a, first) in groups.iter().enumerate() {
                for second in &groups[a + 1..] {
                    prop_assert!(second.iter().any(|i| !first.contains(i)));
                    prop_assert!(first.iter().any(|i| !second.contains(i)));
                }
            }
        }

        #[test]
        fn ranks_sum_to_a_triangle_and_only_order_counts(
            scores in proptest::collection::vec(proptest::collection::vec(0i32..6, 4), 2..9),
        ) {
            let as_given: Vec<Vec<f64>> =
                scores.iter().map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect();
            let test = friedman(&as_given, true).unwrap();
            prop_assert!((test.average_ranks.iter().sum::<f64>() - 10.0).abs() < 1e-9);
            let stretched: Vec<Vec<f64>> =
                as_given.iter().map(|row| row.iter().map(|x| x.exp()).collect()).collect();
            prop_assert_eq!(&friedman(&stretched, true).unwrap(), &test);
            let reversed = friedman(&as_given, false).unwrap();
            prop_assert!((reversed.chi_squared - test.chi_squared).abs() < 1e-9);
            prop_assert!(!test.iman_davenport.is_nan() && !test.p_iman_davenport.is_nan());
        }
    }
}
