//! What scores and probabilities of test rows look like over all thresholds.

use mercer_learning::Streams;
use mercer_statistics::wilson_interval;
use rand::Rng;
use std::cmp::Ordering;

/// Points of the receiver operating characteristic of scores `s` and of whether each row is of the class. They are
/// `(false positives / negatives, true positives / positives)` of the rule `s ≥ t`, as `t` falls over the distinct
/// scores; from `(0, 0)` to `(1, 1)`. Empty where there is no positive or no negative row.
pub(crate) fn roc(scores: &[f64], positive: &[bool]) -> Vec<(f64, f64)> {
    let counts = cumulated(scores, positive);
    let Some(&(found, wrong)) = counts.last().filter(|(found, wrong)| *found > 0.0 && *wrong > 0.0)
    else {
        return Vec::new();
    };
    let points = counts.iter().map(|(right, false_alarms)| (false_alarms / wrong, right / found));
    std::iter::once((0.0, 0.0)).chain(points).collect()
}

/// Points `(recall, precision)` of the rule `s ≥ t`, as `t` falls over the distinct scores. Empty where there is no
/// positive row.
pub(crate) fn precision_recall(scores: &[f64], positive: &[bool]) -> Vec<(f64, f64)> {
    let counts = cumulated(scores, positive);
    let Some(&(found, _)) = counts.last().filter(|(found, _)| *found > 0.0) else {
        return Vec::new();
    };
    counts.iter().map(|(right, wrong)| (right / found, right / (right + wrong))).collect()
}

/// Average precision `Σ (R_i − R_{i−1}) P_i` of the points of [`precision_recall`].
pub(crate) fn average_precision(points: &[(f64, f64)]) -> f64 {
    let before = std::iter::once(0.0).chain(points.iter().map(|point| point.0));
    points
        .iter()
        .zip(before)
        .map(|((recall, precision), before)| (recall - before) * precision)
        .sum()
}

/// True and false positives at each distinct score, the largest first.
fn cumulated(scores: &[f64], positive: &[bool]) -> Vec<(f64, f64)> {
    let mut rows: Vec<(f64, bool)> = scores.iter().copied().zip(positive.iter().copied()).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut right, mut wrong) = (0.0, 0.0);
    let tied = rows.chunk_by(|a, b| a.0.partial_cmp(&b.0) == Some(Ordering::Equal));
    tied.map(|tied| {
        for &(_, positive) in tied {
            *(if positive { &mut right } else { &mut wrong }) += 1.0;
        }
        (right, wrong)
    })
    .collect()
}

/// Rows whose probabilities are near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bin {
    /// Mean probability.
    pub mean: f64,
    /// Share of the rows in which it happened.
    pub share: f64,
    /// Wilson's 95 % interval of that share.
    pub interval: (f64, f64),
    /// Number of rows.
    pub rows: usize,
    /// The middle of the probabilities that fall into it.
    pub middle: f64,
}

/// Probabilities beside how often what they are of happened, in `bins` equal parts `(a, b]` of `[0, 1]`; parts
/// without rows are left out.
pub(crate) fn reliability(shares: &[f64], happened: &[bool], bins: usize) -> Vec<Bin> {
    let edge = |at: usize| at as f64 / bins as f64;
    let mut sums = vec![(0.0, 0usize, 0usize); bins];
    for (&share, &happened) in shares.iter().zip(happened) {
        let at = (1..bins).filter(|&at| edge(at) < share).count();
        let (sum, rows, count) = &mut sums[at];
        *sum += share;
        *rows += 1;
        *count += usize::from(happened);
    }
    let bin = |(at, &(sum, rows, count)): (usize, &(f64, usize, usize))| {
        let interval = wilson_interval(count as u64, rows as u64, 0.95).ok()?;
        let (rows_f, middle) = (rows as f64, f64::midpoint(edge(at), edge(at + 1)));
        Some(Bin { mean: sum / rows_f, share: count as f64 / rows_f, interval, rows, middle })
    };
    sums.iter().enumerate().filter(|(_, sum)| sum.1 > 0).filter_map(bin).collect()
}

/// Mean distance between what the probabilities of a group say and how often it happened, over all rows.
pub(crate) fn calibration_error(bins: &[Bin]) -> f64 {
    let (mut sum, mut rows) = (0.0, 0.0);
    for bin in bins {
        sum += bin.rows as f64 * (bin.mean - bin.share).abs();
        rows += bin.rows as f64;
    }
    sum / rows
}

/// Within which that error lies for 95 % of all outcomes, if each happens with its probability.
pub(crate) fn error_by_chance(shares: &[f64], bins: usize) -> (f64, f64) {
    let draws = (5_000_000 / shares.len().max(1)).clamp(100, 1000);
    let mut rng = Streams::root(1).rng("outcomes");
    let mut drawn = || {
        let happened: Vec<bool> = shares.iter().map(|&p| rng.gen_bool(p.clamp(0.0, 1.0))).collect();
        calibration_error(&reliability(shares, &happened, bins))
    };
    let mut errors: Vec<f64> = (0..draws).map(|_| drawn()).collect();
    errors.sort_by(f64::total_cmp);
    (errors[draws / 40], errors[draws - 1 - draws / 40])
}

/// The line through points without those that move it by less than a hundredth; the ends stay.
pub(crate) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (at, &point) in points.iter().enumerate() {
        let near =
            |last: &(f64, f64)| (last.0 - point.0).abs().max((last.1 - point.1).abs()) < 0.01;
        if at + 1 == points.len() || !kept.last().is_some_and(near) {
            kept.push(point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().unwrap().iter().map(|own| own.as_f64().unwrap()).collect()
    }

    fn near(found: impl Iterator<Item = f64>, expected: &Value) {
        let (found, expected): (Vec<f64>, Vec<f64>) = (found.collect(), numbers(expected));
        assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    /// `curves.json` was made by scikit-learn; the version stands in it.
    #[test]
    fn curves_are_those_of_scikit_learn() {
        let text = include_str!("../tests/fixtures/curves.json");
        let made: Value = serde_json::from_str(text).unwrap();
        let shares = numbers(&made["shares"]);
        let truth: Vec<bool> = numbers(&made["truth"]).iter().map(|&own| own > 0.5).collect();
        let found = roc(&shares, &truth);
        near(found.iter().map(|point| point.0), &made["fpr"]);
        near(found.iter().map(|point| point.1), &made["tpr"]);
        let found = precision_recall(&shares, &truth);
        near(found.iter().map(|point| point.0), &made["recall"]);
        near(found.iter().map(|point| point.1), &made["precision"]);
        near(std::iter::once(average_precision(&found)), &made["average_precision"]);
        let bins = reliability(&shares, &truth, 10);
        near(bins.iter().map(|bin| bin.mean), &made["mean_predicted"]);
        near(bins.iter().map(|bin| bin.share), &made["fraction_positive"]);
        assert_eq!(bins.iter().map(|bin| bin.rows).sum::<usize>(), shares.len());
    }

    /// 200 parts of 150 rows: the error of true probabilities lies between the ends 95 % of the time, the
    /// error of probabilities that are too sure does not.
    #[test]
    fn true_probabilities_have_an_error_that_chance_explains() {
        let mut rng = Streams::root(4).rng("rows");
        let (mut held, mut of_sure) = (0, 0);
        for _ in 0..200 {
            let shares: Vec<f64> = (0..150).map(|_| rng.gen_range(0.0..1.0)).collect();
            let happened: Vec<bool> = shares.iter().map(|&p| rng.gen_bool(p)).collect();
            let sure: Vec<f64> = shares.iter().map(|p| (4.0 * p - 1.5).clamp(0.02, 0.98)).collect();
            let inside = |shares: &[f64]| {
                let (low, high) = error_by_chance(shares, 10);
                (low..=high).contains(&calibration_error(&reliability(shares, &happened, 10)))
            };
            held += usize::from(inside(&shares));
            of_sure += usize::from(inside(&sure));
        }
        assert!((182..=198).contains(&held), "{held}");
        assert!(of_sure < 10, "{of_sure}");
    }

    #[test]
    fn rows_of_one_class_have_no_curve() {
        assert!(roc(&[0.1, 0.2], &[true, true]).is_empty());
        assert!(precision_recall(&[0.1, 0.2], &[false, false]).is_empty());
    }

    #[test]
    fn a_thinned_line_keeps_its_ends_and_moves_by_less_than_a_hundredth() {
        let all: Vec<(f64, f64)> =
            (0..=5000).map(|i| (f64::from(i) / 5e3, f64::from(i) / 5e3)).collect();
        let kept = thinned(&all);
        assert!(
            kept.len() <= 102 && kept[0] == all[0] && kept.last() == all.last(),
            "{}",
            kept.len()
        );
        assert_eq!(thinned(&[(0.0, 0.0), (0.001, 1.0)]).len(), 2);
    }
}
