//! Where a curve over sizes peaks: an interior maximum between two lower points, or none.

use crate::cell::StudyCell;
use mercer_learning::Streams;
use mercer_statistics::summarise;
use rand::Rng;
use std::collections::BTreeMap;

/// A peak stands above the lowest points on either side by more than this …
const LEAST: f64 = 0.01;

/// … and by more than so many standard errors of the paired difference over repeats.
const ERRORS: f64 = 3.0;

/// Resamples of the repeats behind an interval.
const RESAMPLES: usize = 1000;

/// One value of the curves of a cell, repeat by repeat, at the sizes that all repeats have.
pub struct Repeats {
    sizes: Vec<u64>,
    /// A row a repeat.
    values: Vec<Vec<f64>>,
}

/// An interior maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// The size.
    pub at: u64,
    /// The mean there.
    pub height: f64,
    /// The smaller of its heights above the lowest mean before it and after it.
    pub prominence: f64,
}

/// Intervals of 95 % of a peak's size and height over resampled repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakIntervals {
    /// Of its size.
    pub at: (u64, u64),
    /// Of its height.
    pub height: (f64, f64),
}

impl Repeats {
    /// The curves of cells that are repeats of the same; sizes of 0 are limits, not sizes. Values
    /// of the same size in one repeat are averaged. With `logarithms`, of what is positive.
    pub fn of<'a>(
        cells: impl IntoIterator<Item = &'a StudyCell>,
        value: &str,
        logarithms: bool,
    ) -> Option<Self> {
        let mut curves: Vec<BTreeMap<u64, f64>> = Vec::new();
        for record in cells.into_iter().flat_map(StudyCell::records) {
            let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
            for point in record.result.curve.iter().filter(|point| point.step > 0) {
                let number = point.values.get(value).map(|y| if logarithms { y.ln() } else { *y });
                if let Some(number) = number.filter(|number| number.is_finite()) {
                    let sum = sums.entry(point.step).or_default();
                    *sum = (sum.0 + number, sum.1 + 1.0);
                }
            }
            if !sums.is_empty() {
                curves.push(sums.into_iter().map(|(size, (sum, n))| (size, sum / n)).collect());
            }
        }
        let first = curves.first()?;
        let common = |size: &&u64| curves.iter().all(|curve| curve.contains_key(size));
        let sizes: Vec<u64> = first.keys().filter(common).copied().collect();
        let values = curves.iter().map(|curve| sizes.iter().map(|size| curve[size]).collect());
        let values = values.collect();
        (!sizes.is_empty()).then_some(Self { sizes, values })
    }

    /// The sizes.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// How many repeats.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    fn mean_of(&self, repeats: impl ExactSizeIterator<Item = usize>) -> Vec<f64> {
        let count = repeats.len() as f64;
        let mut mean = vec![0.0; self.sizes.len()];
        for repeat in repeats {
            for (mean, value) in mean.iter_mut().zip(&self.values[repeat]) {
                *mean += value / count;
            }
        }
        mean
    }

    /// The largest mean and its size; an edge of the curve may be above any peak.
    pub fn largest(&self) -> (f64, u64) {
        let means = self.mean_of(0..self.values.len()).into_iter();
        let all = means.zip(self.sizes.iter().copied());
        all.fold((f64::NEG_INFINITY, 0), |best, next| if next.0 > best.0 { next } else { best })
    }

    /// The peak of the mean curve, if it rises to it from a dip and falls again.
    pub fn peak(&self) -> Option<Peak> {
        let mean = self.mean_of(0..self.values.len());
        let (before, top, after) = most_prominent(&mean)?;
        let stands_out = |low: usize| {
            let rises: Vec<f64> = self.values.iter().map(|row| row[top] - row[low]).collect();
            summarise(&rises)
                .is_some_and(|rise| rise.mean > LEAST.max(ERRORS * rise.standard_error()))
        };
        (stands_out(before) && stands_out(after)).then(|| Peak {
            at: self.sizes[top],
            height: mean[top],
            prominence: mean[top] - mean[before].max(mean[after]),
        })
    }

    /// By how much the peak stands out more than that of other values of the same repeats: 95 % over
    /// repeats drawn again, the same for both. Nothing of one repeat, or of other repeats.
    pub fn sharper_by(&self, other: &Self) -> Option<(f64, f64)> {
        let count = self.values.len();
        if count < 2 || other.values.len() != count {
            return None;
        }
        let rise = |curves: &Self, drawn: &[usize]| {
            let mean = curves.mean_of(drawn.iter().copied());
            let found = most_prominent(&mean);
            found.map_or(0.0, |(before, top, after)| mean[top] - mean[before].max(mean[after]))
        };
        let mut gains: Vec<f64> =
            resamples(count).map(|drawn| rise(self, &drawn) - rise(other, &drawn)).collect();
        gains.sort_by(f64::total_cmp);
        let last = gains.len() - 1;
        let below = (0.025 * last as f64).floor() as usize;
        Some((gains[below], gains[last - below]))
    }

    /// How far the peak moves when repeats are drawn again, with replacement; nothing of one repeat.
    pub fn intervals(&self) -> Option<PeakIntervals> {
        let count = self.values.len();
        if count < 2 {
            return None;
        }
        let (mut places, mut heights) = (Vec::new(), Vec::new());
        for drawn in resamples(count) {
            let mean = self.mean_of(drawn.into_iter());
            if let Some((_, top, _)) = most_prominent(&mean) {
                places.push(self.sizes[top]);
                heights.push(mean[top]);
            }
        }
        places.sort_unstable();
        heights.sort_by(f64::total_cmp);
        let last = places.len().checked_sub(1)?;
        let below = (0.025 * last as f64).floor() as usize;
        Some(PeakIntervals {
            at: (places[below], places[last - below]),
            height: (heights[below], heights[last - below]),
        })
    }
}

/// Repeats drawn again, with replacement: the same draws for the same number of them.
fn resamples(count: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut rng = Streams::root(1).rng("peak");
    (0..RESAMPLES).map(move |_| (0..count).map(|_| rng.gen_range(0..count)).collect())
}

/// Indices of the most prominent interior maximum, between the lowest points on either side of it;
/// none if the curve only rises or only falls.
fn most_prominent(curve: &[f64]) -> Option<(usize, usize, usize)> {
    let lowest = |range: std::ops::Range<usize>| {
        range.reduce(|low, other| if curve[other] < curve[low] { other } else { low })
    };
    let prominence = |&(before, top, after): &(usize, usize, usize)| {
        curve[top] - curve[before].max(curve[after])
    };
    (1..curve.len().saturating_sub(1))
        .filter_map(|top| Some((lowest(0..top)?, top, lowest(top + 1..curve.len())?)))
        .filter(|peak| prominence(peak) > 0.0)
        .reduce(|best, other| if prominence(&other) > prominence(&best) { other } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(curve: &[f64], noise: f64, count: usize) -> Repeats {
        let wobble = |repeat: usize, i: usize| noise * ((7 * repeat + 3 * i) as f64 * 1.7).sin();
        let row = |repeat| curve.iter().enumerate().map(|(i, y)| y + wobble(repeat, i)).collect();
        let sizes = (1..=curve.len() as u64).map(|i| 10 * i).collect();
        Repeats { sizes, values: (0..count).map(row).collect() }
    }

    #[test]
    fn a_falling_curve_has_no_peak_however_high_it_begins() {
        // The curve of a large ridge: the window's lower end is its highest point, and no peak.
        let falling = [0.9, 0.7, 0.6, 0.566, 0.55, 0.45, 0.33, 0.311];
        assert_eq!(repeats(&falling, 0.0, 3).peak(), None);
        let rising: Vec<f64> = falling.iter().rev().copied().collect();
        assert_eq!(repeats(&rising, 0.0, 3).peak(), None);
        assert_eq!(repeats(&falling, 0.002, 20).peak(), None);
        assert_eq!(repeats(&falling[..2], 0.0, 3).peak(), None);
    }

    #[test]
    fn a_peak_between_two_dips_is_found_with_its_intervals() {
        let curve = [0.9, 0.64, 0.62, 0.7, 0.8, 0.5, 0.3, 0.25];
        let found = repeats(&curve, 0.0, 4);
        let peak = found.peak().unwrap();
        assert_eq!((peak.at, peak.height), (50, 0.8));
        assert!((peak.prominence - 0.18).abs() < 1e-12);
        let exact = PeakIntervals { at: (50, 50), height: (0.8, 0.8) };
        let intervals = found.intervals().unwrap();
        assert_eq!(intervals.at, exact.at);
        assert!((intervals.height.0 - 0.8).abs() < 1e-12);
        let noisy = repeats(&curve, 0.05, 20);
        let (peak, intervals) = (noisy.peak().unwrap(), noisy.intervals().unwrap());
        assert!(intervals.at.0 <= peak.at && peak.at <= intervals.at.1);
        assert!(intervals.height.0 < peak.height && peak.height < intervals.height.1);
        assert_eq!(repeats(&curve, 0.0, 1).intervals(), None);
    }

    #[test]
    fn one_peak_is_sharper_than_another_of_the_same_repeats() {
        let curve = [0.9, 0.64, 0.62, 0.7, 0.8, 0.5, 0.3, 0.25];
        let mut lower = curve;
        lower[4] = 0.79;
        // The noise is the same in both, and ten times the difference.
        let (sharp, blunt) = (repeats(&curve, 0.1, 20), repeats(&lower, 0.1, 20));
        let (low, high) = sharp.sharper_by(&blunt).unwrap();
        assert!(low > 0.0 && high < 0.02, "{low} to {high}");
        let (low, high) = sharp.sharper_by(&sharp).unwrap();
        assert!(low.abs() < 1e-15 && high.abs() < 1e-15);
        assert_eq!(repeats(&curve, 0.0, 1).sharper_by(&repeats(&lower, 0.0, 1)), None);
    }

    #[test]
    fn a_bump_within_the_noise_is_no_peak() {
        let bump = [0.5, 0.4, 0.402, 0.3];
        assert_eq!(repeats(&bump, 0.0, 5).peak(), None);
        let bump = [0.5, 0.4, 0.415, 0.3];
        assert!(repeats(&bump, 0.0, 5).peak().is_some());
        assert_eq!(repeats(&bump, 0.1, 5).peak(), None);
    }
}
