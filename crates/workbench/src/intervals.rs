//! Intervals of the scores of one model on one test part.

use crate::{WorkbenchError, score};
use mercer_datasets::Truths;
use mercer_learning::{Metric, Predictions, averaged_classes, ranked_score, rankings, row_losses};
use mercer_statistics::{row_bootstrap, wilson_interval};
use ndarray::Array2;
use std::collections::BTreeMap;

/// The ends of an interval, and which interval it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interval {
    pub ends: (f64, f64),
    pub by: String,
}

const LEVEL: f64 = 0.95;

/// Rows that are drawn at most, over all resamples.
const DRAWN: usize = 20_000_000;

/// Resamples of so many test rows: 2000 up to 10,000 rows, fewer beyond, where the distribution is
/// nearly normal and its ends are known the better.
const fn resamples(rows: usize) -> usize {
    let affordable = DRAWN / if rows == 0 { 1 } else { rows };
    if affordable > 2000 {
        2000
    } else if affordable < 200 {
        200
    } else {
        affordable
    }
}

/// Metrics of the order of the rows.
const RANKED: [Metric; 2] = [Metric::Auc, Metric::AveragePrecision];

/// What a model says of test rows, and the truth.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedInterval {
    pub predictions: Predictions,
    /// Class probabilities, `n × K`, where there are some.
    pub shares: Option<Array2<f64>>,
    /// Of classes without probabilities their scores, `n × K`.
    pub decisions: Option<Array2<f64>>,
    pub truths: Truths,
    pub classes: usize,
    /// Classes of one row, which train only: they have no part in the order of the rows.
    pub alone: Vec<usize>,
}

impl NamedInterval {
    /// Appends the same method's results on other rows.
    pub fn and(mut self, other: Self) -> Self {
        match (&mut self.predictions, other.predictions) {
            (Predictions::Classes(own), Predictions::Classes(others)) => own.extend(others),
            (Predictions::Real(own), Predictions::Real(others)) => own.extend(others),
            _ => {}
        }
        self.truths.append(other.truths);
        let below = |(own, others): (Array2<f64>, Array2<f64>)| {
            ndarray::concatenate(ndarray::Axis(0), &[own.view(), others.view()]).ok()
        };
        self.shares = self.shares.zip(other.shares).and_then(below);
        self.decisions = self.decisions.zip(other.decisions).and_then(below);
        self
    }

    /// Joins several lists of rows, one after the other; `None` for no list.
    pub fn joined(mut all: Vec<Self>) -> Option<Self> {
        // In pairs, so that no row is copied more often than there are halvings.
        while all.len() > 1 {
            let (mut rest, mut pairs) = (all.into_iter(), Vec::new());
            while let Some(first) = rest.next() {
                pairs.push(match rest.next() {
                    Some(second) => first.and(second),
                    None => first,
                });
            }
            all = pairs;
        }
        all.pop()
    }

    /// Selects these of its rows, in their order.
    pub fn select(&self, rows: &[usize]) -> Self {
        let both = |all: &Array2<f64>| all.select(ndarray::Axis(0), rows);
        Self {
            predictions: match &self.predictions {
                Predictions::Classes(labels) => {
                    Predictions::Classes(rows.iter().map(|&row| labels[row]).collect())
                }
                Predictions::Real(values) => {
                    Predictions::Real(rows.iter().map(|&row| values[row]).collect())
                }
            },
            shares: self.shares.as_ref().map(both),
            decisions: self.decisions.as_ref().map(both),
            truths: match &self.truths {
                Truths::Classes(labels) => {
                    Truths::Classes(rows.iter().map(|&row| labels[row]).collect())
                }
                Truths::Values(values) => {
                    Truths::Values(rows.iter().map(|&row| values[row]).collect())
                }
            },
            classes: self.classes,
            alone: self.alone.clone(),
        }
    }

    /// Returns all metrics.
    pub fn scores(&self) -> crate::Scores {
        let mut scores = score::scores(&self.predictions, &self.truths, self.classes);
        if let (Some(shares), Truths::Classes(labels)) = (&self.shares, &self.truths) {
            scores.extend(score::probability_scores(shares.view(), labels));
        }
        if let Truths::Classes(labels) = &self.truths {
            let rankings = self.rankings();
            for metric in RANKED {
                let found = ranked_score(metric, &rankings, labels);
                scores.extend(found.map(|score| (metric.name().to_owned(), score)));
            }
        }
        scores
    }

    /// What ranks the rows by each class, empty for classes that have no part in the scores.
    fn rankings(&self) -> Vec<Vec<f64>> {
        let mut all = self.all_rankings();
        for &class in self.alone.iter().filter(|_| self.classes > 2) {
            if let Some(own) = all.get_mut(class) {
                own.clear();
            }
        }
        all
    }

    /// What ranks the rows by each class, of two by the second; none of numbers.
    fn all_rankings(&self) -> Vec<Vec<f64>> {
        match (&self.shares, &self.decisions) {
            (Some(shares), _) => rankings(shares, true),
            (None, Some(decisions)) => rankings(decisions, false),
            (None, None) => Vec::new(),
        }
    }

    /// Returns what ranks the rows by a class: its probability, or its score; of two classes the difference of both.
    pub fn of_class(&self, class: usize) -> Option<Vec<f64>> {
        let mut all = self.all_rankings();
        if class == 0 && all.len() == 1 {
            // Of two classes the first ranks the other way round.
            return Some(match &self.shares {
                Some(shares) => shares.column(0).to_vec(),
                None => all[0].iter().map(|score| -score).collect(),
            });
        }
        let place = if all.len() == 1 { 0 } else { class };
        (place < all.len()).then(|| all.swap_remove(place))
    }

    /// Returns the mean of the values, or of the probability of a class. Without probabilities it is how often the
    /// class is predicted.
    pub fn mean(&self, class: usize) -> f64 {
        let rows = self.truths.len() as f64;
        match (&self.predictions, &self.shares) {
            (Predictions::Real(values), _) => values.iter().sum::<f64>() / rows,
            (_, Some(shares)) => shares.column(class).sum() / rows,
            (Predictions::Classes(labels), None) => {
                labels.iter().filter(|&&label| label as usize == class).count() as f64 / rows
            }
        }
    }

    /// Counts the rows of each class, and the right ones; empty for real targets.
    pub fn recalls(&self) -> Vec<(u64, u64)> {
        match (&self.predictions, &self.truths) {
            (Predictions::Classes(labels), Truths::Classes(truth)) => {
                recalls(labels, truth, self.classes)
            }
            _ => Vec::new(),
        }
    }

    /// Returns 95 % intervals of all metrics that have one, over the test rows.
    ///
    /// An accuracy has Wilson's interval. A balanced accuracy joins Wilson's intervals of the classes' recalls by their
    /// distances from the estimates (Zou and Donner 2008, *Statistics in Medicine* 27), since its parts are independent
    /// proportions. Both have a width where every row is right. All others are [`row_bootstrap`]'s.
    pub fn intervals(&self, seed: u64) -> Result<BTreeMap<String, Interval>, WorkbenchError> {
        let mut found = BTreeMap::new();
        let named = |metric: Metric, ends, by: &str| {
            (metric.name().to_owned(), Interval { ends, by: by.to_owned() })
        };
        if let (Predictions::Classes(labels), Truths::Classes(truth)) =
            (&self.predictions, &self.truths)
        {
            let right = labels.iter().zip(truth).filter(|(a, b)| a == b).count() as u64;
            let ends = wilson_interval(right, truth.len() as u64, LEVEL)?;
            let balanced = joined(labels, truth, self.classes)?;
            found.extend([
                named(Metric::Accuracy, ends, "Wilson"),
                named(Metric::BalancedAccuracy, balanced, "Wilson, joined over classes"),
            ]);
        }
        let weighted = Weighted::of(self);
        if weighted.names.is_empty() {
            return Ok(found);
        }
        let rows = self.truths.len();
        let draws = resamples(rows * weighted.ranked.len().max(1));
        let ends = row_bootstrap(rows, |drawn| weighted.scores(drawn), draws, LEVEL, seed)?;
        for (&name, ends) in weighted.names.iter().zip(ends) {
            if let Some(ends) = ends {
                let by = format!("BCa bootstrap of the test rows, {draws} resamples");
                found.insert(name.to_owned(), Interval { ends, by });
            }
        }
        Ok(found)
    }
}

fn recalls(labels: &[u32], truth: &[u32], classes: usize) -> Vec<(u64, u64)> {
    let mut counts = vec![(0u64, 0u64); classes];
    for (&label, &truth) in labels.iter().zip(truth) {
        let (rows, right) = &mut counts[truth as usize];
        *rows += 1;
        *right += u64::from(label == truth);
    }
    counts
}

/// Of the mean recall over the classes that occur.
fn joined(labels: &[u32], truth: &[u32], classes: usize) -> Result<(f64, f64), WorkbenchError> {
    let mut counts = recalls(labels, truth, classes);
    counts.retain(|&(rows, _)| rows > 0);
    let (mut mean, mut below, mut above) = (0.0, 0.0, 0.0);
    for &(rows, right) in &counts {
        let recall = right as f64 / rows as f64;
        let (low, high) = wilson_interval(right, rows, LEVEL)?;
        mean += recall;
        below += (recall - low).powi(2);
        above += (high - recall).powi(2);
    }
    let classes = counts.len() as f64;
    Ok(((mean - below.sqrt()) / classes, (mean + above.sqrt()) / classes))
}

/// A score, whose row it is, and whether that row is of the class.
type RankedRow = (f64, usize, bool);

/// The metrics whose intervals are resampled, as functions of how often each row counts.
struct Weighted {
    names: Vec<&'static str>,
    /// Quantities averaged over rows, one list each.
    columns: Vec<Vec<f64>>,
    /// Rows in the order of a class's probability, ties together, and whether they are of it; of two classes the second.
    ranked: Vec<Vec<RankedRow>>,
    /// True and predicted class of each row, as one number, and how many classes there are.
    classes: Option<(Vec<usize>, usize)>,
}

impl Weighted {
    fn of(said: &NamedInterval) -> Self {
        match (&said.predictions, &said.truths, &said.shares) {
            (Predictions::Real(values), Truths::Values(truth), _) => {
                let middle = truth.iter().sum::<f64>() / truth.len() as f64;
                let errors = || values.iter().zip(truth).map(|(f, y)| f - y);
                let centred = || truth.iter().map(|y| y - middle);
                let mut names = vec![Metric::Rmse.name(), Metric::Mae.name(), Metric::R2.name()];
                let mut columns: Vec<Vec<f64>> = vec![
                    errors().map(|e| e * e).collect(),
                    errors().map(f64::abs).collect(),
                    centred().collect(),
                    centred().map(|y| y * y).collect(),
                ];
                if truth.iter().all(|y| y.abs() > 0.0) {
                    names.push(Metric::Mape.name());
                    columns.push(errors().zip(truth).map(|(e, y)| (e / y).abs()).collect());
                }
                Self { names, columns, ranked: Vec::new(), classes: None }
            }
            (Predictions::Classes(predicted), Truths::Classes(labels), shares) => {
                let (mut names, mut columns) = (vec!["f1", "precision"], Vec::new());
                let pair = |(&p, &t): (&u32, &u32)| t as usize * said.classes + p as usize;
                let classes = (predicted.iter().zip(labels).map(pair).collect(), said.classes);
                if let Some(shares) = shares {
                    let (log_loss, brier) = row_losses(shares.view(), labels);
                    names.extend(["log-loss", "brier"]);
                    columns.extend([log_loss, brier]);
                }
                let rankings = said.rankings();
                let two = rankings.len() == 1;
                let ranked = rankings.iter().enumerate().map(|(index, scores)| {
                    let class = if two { 1 } else { index as u32 };
                    let row = |(row, &label): (usize, &u32)| (scores[row], row, label == class);
                    let mut ranked: Vec<_> = labels.iter().enumerate().map(row).collect();
                    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
                    ranked
                });
                let ranked: Vec<_> = ranked.collect();
                if !ranked.is_empty() {
                    names.extend(RANKED.map(Metric::name));
                }
                Self { names, columns, ranked, classes: Some(classes) }
            }
            _ => Self { names: Vec::new(), columns: Vec::new(), ranked: Vec::new(), classes: None },
        }
    }

    fn scores(&self, drawn: &[f64]) -> Vec<f64> {
        let total: f64 = drawn.iter().sum();
        let mean = |column: &Vec<f64>| {
            column.iter().zip(drawn).map(|(value, times)| value * times).sum::<f64>() / total
        };
        let means: Vec<f64> = self.columns.iter().map(mean).collect();
        let Some((pairs, classes)) = &self.classes else {
            let variance = means[3] - means[2] * means[2];
            let r2 = if variance > 0.0 { 1.0 - means[0] / variance } else { f64::NAN };
            let mape = means.get(4).copied();
            return [means[0].sqrt(), means[1], r2].into_iter().chain(mape).collect();
        };
        let mut counts = vec![vec![0; *classes]; *classes];
        for (&pair, &times) in pairs.iter().zip(drawn) {
            // Rows are drawn whole.
            counts[pair / classes][pair % classes] += times.round() as u64;
        }
        let found = averaged_classes(&counts);
        let mean = |at: usize| found.iter().map(|own| own[at]).sum::<f64>() / found.len() as f64;
        let over_classes = |of: fn(&[RankedRow], &[f64]) -> f64| {
            let sum: f64 = self.ranked.iter().map(|ranked| of(ranked, drawn)).sum();
            (!self.ranked.is_empty()).then(|| sum / self.ranked.len() as f64)
        };
        let ranked = [over_classes(area), over_classes(precision)].into_iter().flatten();
        [mean(2), mean(0)].into_iter().chain(means).chain(ranked).collect()
    }
}

/// The share of pairs of rows of either class in the right order, each row as often as it was drawn.
fn area(ranked: &[RankedRow], drawn: &[f64]) -> f64 {
    let (mut firsts, mut seconds, mut ordered) = (0.0, 0.0, 0.0);
    for tied in ranked.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let (mut first, mut second) = (0.0, 0.0);
        for &(_, row, is_second) in tied {
            *(if is_second { &mut second } else { &mut first }) += drawn[row];
        }
        ordered += second * (firsts + 0.5 * first);
        firsts += first;
        seconds += second;
    }
    // NaN where a class was not drawn.
    ordered / (firsts * seconds)
}

/// The average precision, each row as often as it was drawn.
fn precision(ranked: &[RankedRow], drawn: &[f64]) -> f64 {
    let (mut right, mut all, mut sum) = (0.0, 0.0, 0.0);
    for tied in ranked.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()).rev() {
        let mut here = 0.0;
        for &(_, row, is_of_it) in tied {
            all += drawn[row];
            here += if is_of_it { drawn[row] } else { 0.0 };
        }
        right += here;
        // Rows that were not drawn are no threshold.
        if here > 0.0 {
            sum += here * right / all;
        }
    }
    // NaN where a class was not drawn, or alone.
    if right < all { sum / right } else { f64::NAN }
}

/// Whether splits all say the same, up to rounding: that tells nothing of how far off they are.
pub(crate) fn alike(values: &[f64]) -> bool {
    let (least, most) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &value| (a.min(value), b.max(value)));
    most - least <= 1e-12 * least.abs().max(most.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Streams;
    use proptest::prelude::*;
    use rand::Rng;

    fn said(rows: &[(u32, f64)]) -> NamedInterval {
        let labels: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let shares = Array2::from_shape_fn((rows.len(), 2), |(i, class)| {
            if class == 1 { rows[i].1 } else { 1.0 - rows[i].1 }
        });
        let predictions = rows.iter().map(|row| u32::from(row.1 > 0.5)).collect();
        NamedInterval {
            predictions: Predictions::Classes(predictions),
            shares: Some(shares),
            decisions: None,
            truths: Truths::Classes(labels),
            classes: 2,
            alone: Vec::new(),
        }
    }

    proptest! {
        /// Rows that count once each give the scores themselves; twice drawn is twice there.
        #[test]
        fn weighted_scores_are_the_scores_of_the_drawn_rows(
            rows in proptest::collection::vec((0u32..2, 0u8..=8, 0u8..3, -3.0..3.0f64), 2..30),
        ) {
            let drawn: Vec<f64> = rows.iter().map(|row| f64::from(row.2)).collect();
            let repeated: Vec<_> = rows.iter().flat_map(|row| vec![*row; row.2 as usize]).collect();
            prop_assume!(!repeated.is_empty());
            let classes = |rows: &[(u32, u8, u8, f64)]| {
                said(&rows.iter().map(|row| (row.0, f64::from(row.1) / 8.0)).collect::<Vec<_>>())
            };
            let real = |rows: &[(u32, u8, u8, f64)]| NamedInterval {
                predictions: Predictions::Real(rows.iter().map(|row| f64::from(row.1)).collect()),
                shares: None,
                decisions: None,
                truths: Truths::Values(rows.iter().map(|row| row.3).collect()),
                classes: 1,
                alone: Vec::new(),
            };
            for (all, some) in
                [(classes(&rows), classes(&repeated)), (real(&rows), real(&repeated))]
            {
                let weighted = Weighted::of(&all);
                let expected = some.scores();
                for (&name, found) in weighted.names.iter().zip(weighted.scores(&drawn)) {
                    match expected.get(name) {
                        Some(&value) if name != "r2" => {
                            prop_assert!((found - value).abs() < 1e-9 * (1.0 + value.abs()), "{name}");
                        }
                        // Differences of squares: where hardly any variance is left, both are noise.
                        Some(&value) if value.abs() < 1e3 => {
                            prop_assert!((found - value).abs() < 1e-6 * (1.0 + value.abs()), "{name}");
                        }
                        Some(_) => {}
                        None => prop_assert!(!found.is_finite() || name == "r2", "{name}: {found}"),
                    }
                }
            }
        }
    }

    /// 300 test parts of 150 rows each: every metric's interval holds its value over 200,000 rows about
    /// 95 % of the time.
    #[test]
    fn every_interval_covers_the_value_over_all_rows() {
        let mut rng = Streams::root(5).rng("coverage");
        // Probabilities that are right on average, and a third of the rows of the second class.
        let mut row = || {
            let share: f64 = rng.gen_range(0.0..1.0f64).powi(2);
            (u32::from(rng.r#gen::<f64>() < share), 0.05 + 0.9 * share)
        };
        let all: Vec<(u32, f64)> = (0..200_000).map(|_| row()).collect();
        let truth = said(&all).scores();
        let (parts, size) = (300, 150);
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for part in 0..parts {
            let rows = &all[part * size..(part + 1) * size];
            for (name, interval) in said(rows).intervals(part as u64).unwrap() {
                let (low, high) = interval.ends;
                *held.entry(name.clone()).or_default() +=
                    usize::from(low <= truth[&name] && truth[&name] <= high);
            }
        }
        assert_eq!(held.len(), 8, "{held:?}");
        for (name, count) in held {
            let share = count as f64 / parts as f64;
            // Three deviations of 0.95 over 300 parts are 0.038.
            assert!((0.9..=0.99).contains(&share), "{name}: {share}");
        }
    }

    #[test]
    fn errors_of_numbers_are_covered_too() {
        let mut rng = Streams::root(6).rng("coverage");
        // y of deviation 1.5, an error of deviation 0.5.
        let mut normal = || (0..12).map(|_| rng.r#gen::<f64>()).sum::<f64>() - 6.0;
        let truth: BTreeMap<&str, f64> = BTreeMap::from([
            ("rmse", 0.5),
            ("mae", 0.5 * (2.0 / std::f64::consts::PI).sqrt()),
            ("r2", 1.0 - 0.25 / 2.25),
        ]);
        let parts = 300;
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        for part in 0..parts {
            let y: Vec<f64> = (0..120).map(|_| 1.5 * normal()).collect();
            let f = y.iter().map(|y| y + 0.5 * normal()).collect();
            let said = NamedInterval {
                predictions: Predictions::Real(f),
                shares: None,
                decisions: None,
                truths: Truths::Values(y),
                classes: 1,
                alone: Vec::new(),
            };
            for (name, interval) in said.intervals(part).unwrap() {
                let (low, high) = interval.ends;
                // A share of targets near 0 has no mean that an interval could hold.
                let Some(&value) = truth.get(name.as_str()) else { continue };
                *held.entry(name).or_default() += usize::from(low <= value && value <= high);
            }
        }
        assert_eq!(held.len(), 3, "{held:?}");
        for (name, count) in held {
            let share = count as f64 / parts as f64;
            assert!((0.9..=0.99).contains(&share), "{name}: {share}");
        }
    }

    #[test]
    fn where_every_row_is_right_the_accuracies_still_have_a_width() {
        let found = said(&[(0, 0.1), (1, 0.9), (0, 0.2), (1, 0.8), (0, 0.3)]).intervals(1).unwrap();
        for name in ["accuracy", "balanced-accuracy"] {
            let (low, high) = found[name].ends;
            assert!(low < 0.9 && (high - 1.0).abs() < 1e-12, "{name}: {low} {high}");
        }
        // In every draw of both classes the order is right: nothing to resample.
        assert!(!found.contains_key("auc"));
        assert!(found["brier"].by.contains("2000 resamples"));
    }
}
