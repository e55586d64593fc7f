//! Several methods on several datasets: mean ranks and their certainty. It also finds the methods that cannot be
//! distinguished.

use crate::{
    Friedman, StatisticsError, average_ranks, friedman, indistinguishable_groups,
    nemenyi_critical_difference, paired_bootstrap,
};

/// Resamples of the datasets.
const RESAMPLES: usize = 10_000;

/// One method among others.
///
/// ```
/// let found = mercer_statistics::standings(&vec![vec![0.9, 0.8, 0.8]; 4], true)?;
/// let (first, last) = (&found.methods[0], &found.methods[2]);
/// assert_eq!((first.method, first.place.as_str(), first.best_on), (0, "1", 4));
/// assert_eq!((last.place.as_str(), last.mean_rank), ("2=", 2.5)); // tied with the other one
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Its column in the scores.
    pub method: usize,
    /// Its place by the mean rank, with `=` where another method has the same.
    pub place: String,
    /// Mean rank over the datasets, 1 the best. Equal scores share the mean of their places.
    pub mean_rank: f64,
    /// 95 % percentile interval of the mean rank, by 10,000 resamples of the datasets.
    pub interval: (f64, f64),
    /// Datasets on which no method is better.
    pub best_on: usize,
}

/// Methods ranked over datasets.
///
/// ```
/// let third = |set: i32| if set % 2 == 0 { 0.7 } else { 0.85 };
/// let scores: Vec<Vec<f64>> = (0..20).map(|set| vec![0.9, 0.8, third(set)]).collect();
/// let found = mercer_statistics::standings(&scores, true)?;
/// assert!(found.apart && found.friedman.p_iman_davenport < 1e-6);
/// assert_eq!(found.groups, [[1, 2]]); // the first is told apart from both
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// The methods, the best mean rank first.
    pub methods: Vec<Standing>,
    /// Friedman's test that all rank alike, with its ranks in the order of the scores.
    pub friedman: Friedman,
    /// Whether Friedman's test finds a difference at 5 %. If not, no two methods are distinguished.
    pub apart: bool,
    /// Nemenyi's critical difference at 5 %.
    pub critical_difference: f64,
    /// The largest groups of methods that the tests do not distinguish. Each has the best first.
    pub groups: Vec<Vec<usize>>,
}

/// Ranks methods over datasets and tests the differences (Demšar 2006). It returns mean ranks with bootstrap intervals,
/// Friedman's test in the form of Iman and Davenport, and if that finds a difference Nemenyi's critical difference.
///
/// `scores[dataset][method]`. Ranks have no unit, so that the scores may have another one on each dataset. The
/// datasets count as independent.
///
/// ```
/// let errors = [vec![0.1, 0.2], vec![3.0, 9.0]];
/// let found = mercer_statistics::standings(&errors, false)?; // smaller is better
/// assert_eq!(found.methods[0].method, 0);
/// assert_eq!(found.groups.len(), 1); // two datasets tell nothing apart
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two methods or datasets, or scores that are not finite.
pub fn standings(
    scores: &[Vec<f64>],
    larger_is_better: bool,
) -> Result<Standings, StatisticsError> {
    let test = friedman(scores, larger_is_better)?;
    let ranks = &test.average_ranks;
    let difference = nemenyi_critical_difference(ranks.len(), scores.len(), 0.05)?;
    // Ranks that are the same everywhere leave Iman and Davenport's form no spread.
    let p = if test.degenerate { test.p_chi_squared } else { test.p_iman_davenport };
    let apart = p < 0.05;
    let groups = indistinguishable_groups(ranks, if apart { difference } else { f64::INFINITY });
    let each = scores.iter().map(|row| average_ranks(std::slice::from_ref(row), larger_is_better));
    let each: Vec<Vec<f64>> = each.collect::<Result<_, _>>()?;
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
    let mut methods = Vec::new();
    for &at in &order {
        let own: Vec<f64> = each.iter().map(|ranks| ranks[at]).collect();
        let before = ranks.iter().filter(|rank| **rank < ranks[at]).count();
        let equal = ranks.iter().filter(|rank| **rank == ranks[at]).count();
        let least = |ranks: &[f64]| ranks.iter().copied().fold(f64::INFINITY, f64::min);
        methods.push(Standing {
            method: at,
            place: format!("{}{}", before + 1, if equal > 1 { "=" } else { "" }),
            mean_rank: ranks[at],
            best_on: each.iter().filter(|ranks| ranks[at] <= least(ranks)).count(),
            interval: paired_bootstrap(&[own], RESAMPLES, 1)?.interval(0.95),
        });
    }
    Ok(Standings { methods, apart, critical_difference: difference, groups, friedman: test })
}

/// Rounds a score to twelve digits. The order of a sum may make equal scores differ in the last.
///
/// ```
/// use mercer_statistics::without_rounding;
/// let mean = |scores: [f64; 3]| scores.iter().sum::<f64>() / 3.0;
/// let (one, other) = (mean([0.9, 0.8, 0.7]), mean([0.7, 0.9, 0.8]));
/// assert_eq!(without_rounding(one), without_rounding(other));
/// ```
pub fn without_rounding(score: f64) -> f64 {
    if score == 0.0 || !score.is_finite() {
        return score;
    }
    let scale = 10f64.powi(11 - score.abs().log10().floor() as i32);
    let whole = (score * scale).round() / scale;
    if whole.is_finite() { whole } else { score }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_by_rounding_is_a_tie() {
        let (one, other) = (3.564_507_123_456_781_f64, 3.564_507_123_456_785_f64);
        assert!(one < other);
        assert_eq!(without_rounding(one).to_bits(), without_rounding(other).to_bits());
        assert!(without_rounding(3.564_507_12) < without_rounding(3.564_507_13));
        for extreme in [0.0, f64::NEG_INFINITY, 1e-308, f64::MAX, -2.5e-7] {
            let kept = without_rounding(extreme);
            assert!(
                (kept - extreme).abs() <= 1e-11 * extreme.abs()
                    || kept.to_bits() == extreme.to_bits(),
                "{extreme}"
            );
        }
    }
}
