//! Values of the curves of one method in an order.

use super::interval::{Interval, Part, SHARE, joint, joint_p, over, side_of};
use super::scope::{Curve, Scope, Side, ratio};
use super::{Answer, Holds, Rule};
use crate::ExperimentError;
use crate::cell::LEVEL;
use crate::peak::Repeats;
use mercer_render::probability;
use mercer_statistics::{StatisticsError, holm, mcnemar, page, summarise};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Of these values of the curves of a method, each comes before the next.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ordered {
    /// The method whose curves they are.
    pub method: Side,
    /// The values.
    pub values: Vec<String>,
    /// By what they are in order.
    #[serde(default)]
    pub by: By,
}

/// By what values are in order.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The smallest first, in the geometric mean over the steps after the start.
    #[default]
    Size,
    /// The smallest first, at this step.
    SizeAt(u64),
    /// The slowest first, in steps to the level that both come to, the larger of their medians over the last third.
    /// The numbers are the steps between two points of each.
    Pace(Vec<f64>),
    /// The sharpest peak first, until there is none.
    Peak,
}

/// A dataset and a repeat.
type Id<'a> = (&'a str, u32);

impl Ordered {
    /// What of it contradicts itself.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self.values.len() < 2 {
            return Some("an order needs two `values`");
        }
        let complete = |steps: &Vec<f64>| steps.len() == self.values.len();
        let paced = matches!(&self.by, By::Pace(steps) if !complete(steps));
        paced.then_some("`pace` needs a number of steps for each of `values`")
    }

    /// What the cells say.
    pub(super) fn answer(&self, scope: Scope<'_>) -> Result<Answer, ExperimentError> {
        match &self.by {
            By::Size => self.by_size(scope, None),
            By::SizeAt(step) => self.by_size(scope, Some(*step)),
            By::Pace(steps) => self.by_pace(scope, steps),
            By::Peak => Ok(self.by_peak(scope)),
        }
    }

    /// The curves of each value, by dataset and repeat.
    fn curves<'a>(&self, scope: Scope<'a>) -> Vec<BTreeMap<Id<'a>, Curve>> {
        let of = |value: &String| {
            let mut all = BTreeMap::new();
            for (cell, curves) in scope.by_repeat(&self.method, value) {
                let dataset = cell.key().dataset.as_str();
                all.extend(curves.into_iter().map(|(repeat, curve)| ((dataset, repeat), curve)));
            }
            all
        };
        self.values.iter().map(of).collect()
    }

    /// As logarithms, so that early steps do not outweigh late ones. It holds if each pair is shown, or if Page's test
    /// over the repeats shows the trend and no pair is shown to go against it.
    fn by_size(&self, scope: Scope<'_>, at: Option<u64>) -> Result<Answer, ExperimentError> {
        let all = self.curves(scope);
        let ratio = ratio(scope.cells(&self.method).into_iter(), &self.values[0]);
        let (mut parts, mut told, mut count) = (Vec::new(), Vec::new(), 0);
        // By repeat, the logarithm of each value over the first.
        let mut rows: BTreeMap<Id<'_>, Vec<f64>> =
            all[0].keys().map(|id| (*id, vec![0.0])).collect();
        for (pair, names) in all.windows(2).zip(self.values.windows(2)) {
            let gains: BTreeMap<Id<'_>, f64> = pair[0]
                .iter()
                .filter_map(|(id, low)| Some((*id, times_of(low, pair[1].get(id)?, at)?)))
                .collect();
            let numbers: Vec<f64> = gains.values().copied().collect();
            let Some(times) = Interval::of(&numbers, ratio) else {
                return Ok(Answer::not_run("no curves"));
            };
            told.push(format!("{} {}", names[1], times.text_as(f64::exp, 3)));
            parts.push(as_step(times, self.values.len() - 1));
            count = count.max(numbers.len());
            rows.retain(|id, _| gains.contains_key(id));
            for (id, row) in &mut rows {
                row.push(row[row.len() - 1] + gains[id]);
            }
        }
        let place = if at.is_some() { "" } else { " (geometric mean over the steps)" };
        let over = over(count, "repeat", ratio);
        let numbers =
            format!("each as a multiple of the one before{place}: {}; {over}", told.join("; "));
        trend(&parts, &rows.into_values().collect::<Vec<_>>(), numbers)
    }

    /// By sign tests over repeats; between two points nothing is known of a curve.
    fn by_pace(&self, scope: Scope<'_>, steps: &[f64]) -> Result<Answer, ExperimentError> {
        let of_all = self.curves(scope);
        let (mut all, mut told) = (Vec::new(), Vec::new());
        let names = self.values.windows(2).zip(steps.windows(2));
        for (curves, (names, steps)) in of_all.windows(2).zip(names) {
            let beside = |(id, first)| Some([first, curves[1].get(id)?]);
            let pairs: Vec<[&Curve; 2]> = curves[0].iter().filter_map(beside).collect();
            if pairs.is_empty() {
                return Ok(Answer::not_run("no curves"));
            }
            let paces = Paces::of(&pairs, [steps[0], steps[1]]);
            let [first, second] = paces
                .medians
                .map(|steps| steps.map_or_else(|| "-".to_owned(), |n| format!("{n:.0}")));
            told.push(format!(
                "{} after {first}, {} after {second}: fewer in {} of {} repeats (p = {}), more in {}",
                names[0],
                names[1],
                paces.fewer,
                paces.repeats,
                probability(paces.sign_test(paces.fewer)),
                paces.more
            ));
            all.push(paces);
        }
        let numbers = format!(
            "median steps to the level that both reach: {}; that level is the larger of their medians over the last third, the test a sign test over repeats",
            told.join("; ")
        );
        let part = |of: &Paces| {
            let (fewer, more) = (of.sign_test(of.fewer), of.sign_test(of.more));
            if more < fewer { (Holds::No, more) } else { (Holds::Yes, fewer) }
        };
        let p = joint_p(&all.iter().map(part).collect::<Vec<_>>());
        Ok(Answer::of((sooner(&all)?, p), numbers))
    }

    /// Over resampled repeats, the same for each value.
    fn by_peak(&self, scope: Scope<'_>) -> Answer {
        let cells = scope.cells(&self.method);
        let of = |value: &String| Repeats::of(cells.iter().copied(), value, false);
        let found: Vec<Repeats> = self.values.iter().filter_map(of).collect();
        if found.len() < self.values.len() {
            return Answer::not_run("no curves");
        }
        let peaks: Vec<Option<f64>> =
            found.iter().map(|curves| curves.peak().map(|peak| peak.prominence)).collect();
        let (mut parts, mut told) = (Vec::new(), Vec::new());
        for (i, (value, peak)) in self.values.iter().zip(&peaks).enumerate() {
            let Some(rise) = peak else {
                told.push(format!("{value}: no peak"));
                continue;
            };
            let mut text = format!("{value}: {rise:.3}");
            if let (Some(next), Some(other)) = (found.get(i + 1), peaks.get(i + 1)) {
                let interval = found[i].sharper_by(next);
                parts.push(interval.map_or(Holds::Undecided, |ends| side_of(ends, 0.0)));
                if let (Some((low, high)), Some(_)) = (interval, other) {
                    let _ = write!(text, ", more than the next by {low:.4} to {high:.4}");
                }
            }
            told.push(text);
        }
        // A peak that comes back is no falling row.
        let returns = peaks.windows(2).any(|pair| pair[0].is_none() && pair[1].is_some());
        let count = found[0].count();
        let holds = if count < 2 {
            Holds::Undecided
        } else if peaks[0].is_none() || returns {
            Holds::No
        } else {
            joint(&parts.into_iter().map(|holds| (holds, 1.0)).collect::<Vec<_>>()).0
        };
        let numbers = format!(
            "peak above the higher of the dips beside it, {}; {}",
            told.join(", "),
            over(count, "repeat", 0.0)
        );
        Answer::counted(holds, numbers)
    }
}

/// Mean logarithm of one curve over another, after the start or at one step.
fn times_of(low: &Curve, high: &Curve, at: Option<u64>) -> Option<f64> {
    let wanted = |step: u64| at.map_or(step > 0, |at| step == at);
    let common = low.iter().filter(|(step, a)| wanted(**step) && **a > 0.0);
    let ratios = common.filter_map(|(step, a)| Some((high.get(step)? / a).ln()));
    let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
    summarise(&ratios).map(|spread| spread.mean)
}

/// One step of an order of logarithms, of so many; one below the margin of practice is level.
fn as_step(times: Interval, tests: usize) -> Part {
    let (holds, p) = times.above_0_of(tests);
    if times.mean.abs() < SHARE { (Holds::Undecided, p) } else { (holds, p) }
}

/// What the steps of an order and its trend say together; rows of logarithms, one a repeat.
fn trend(parts: &[Part], rows: &[Vec<f64>], numbers: String) -> Result<Answer, ExperimentError> {
    let steps = Answer::of(joint(parts), numbers);
    if rows.len() < 2 || parts.len() < 2 || steps.holds == Holds::No {
        return Ok(steps);
    }
    // A step of less than the margin is a tie, whatever its sign.
    let tied = |row: &Vec<f64>| {
        let mut level = row[0];
        let held = |value: &f64| {
            if (value - level).abs() >= SHARE {
                level = *value;
            }
            level
        };
        row.iter().map(held).collect()
    };
    let tied: Vec<Vec<f64>> = rows.iter().map(tied).collect();
    let (z, p) = page(&tied)?;
    if steps.holds == Holds::Yes {
        // Either would do.
        return Ok(Answer { p: steps.p.map(|own| own.min(p)), ..steps });
    }
    let numbers = format!("{}; Page's trend test p = {}", steps.numbers, probability(p));
    let holds = match p < LEVEL {
        true if z > 0.0 => Holds::Yes,
        true => Holds::No,
        false => Holds::Undecided,
    };
    Ok(Answer { rule: Rule::Trend, ..Answer::of((holds, p), numbers) })
}

/// The median over the last third of the points, which single noisy points hardly move.
fn late(curve: &Curve) -> Option<f64> {
    let before = curve.len() - curve.len().div_ceil(3);
    let values: Vec<f64> = curve.values().skip(before).copied().collect();
    summarise(&values).map(|spread| spread.median)
}

/// Steps between which a curve first came to a level: after these at the point before, by those at the point that
/// saw it there. None where it starts there, or never comes there.
fn reached(curve: &Curve, level: f64, steps: f64) -> Option<(f64, f64)> {
    let first = curve.values().position(|value| *value <= level).filter(|first| *first > 0)?;
    let at = |place: usize| curve.keys().nth(place).map(|point| *point as f64 * steps);
    Some((at(first - 1)?, at(first)?))
}

/// The steps of two curves, repeat by repeat, to the level that both come to: the larger of their values late in
/// training.
#[derive(Debug, Clone, PartialEq)]
struct Paces {
    /// Median of the steps of each, over the repeats that tell.
    medians: [Option<f64>; 2],
    /// Repeats in which the second took fewer, wherever between two points each came there.
    fewer: usize,
    /// And in which it took more.
    more: usize,
    /// All, those with them that say neither.
    repeats: usize,
}

impl Paces {
    /// `steps` are those between two points of each.
    fn of(pairs: &[[&Curve; 2]], steps: [f64; 2]) -> Self {
        let of_repeat = |[first, second]: &[&Curve; 2]| {
            let level = late(first)?.max(late(second)?);
            Some([reached(first, level, steps[0])?, reached(second, level, steps[1])?])
        };
        let known: Vec<[(f64, f64); 2]> = pairs.iter().filter_map(of_repeat).collect();
        let median = |which: usize| {
            let by: Vec<f64> = known.iter().map(|pair| pair[which].1).collect();
            summarise(&by).map(|spread| spread.median)
        };
        Self {
            medians: [median(0), median(1)],
            fewer: known.iter().filter(|[first, second]| second.1 < first.0).count(),
            more: known.iter().filter(|[first, second]| first.1 < second.0).count(),
            repeats: pairs.len(),
        }
    }

    /// Two-sided p of the sign test for so many of the repeats, those that do not tell counted against them.
    fn sign_test(&self, of: usize) -> f64 {
        if 2 * of <= self.repeats {
            return 1.0;
        }
        mcnemar(of as u64, (self.repeats - of) as u64).p_exact
    }
}

/// What the sign tests of each pair of neighbours say together: that the second takes fewer steps must be shown of
/// each, that it takes more of one, by Holm's adjustment over the pairs.
fn sooner(paces: &[Paces]) -> Result<Holds, StatisticsError> {
    let shown = |of: &Paces| of.sign_test(of.fewer) < LEVEL;
    let against: Vec<f64> = paces.iter().map(|of| of.sign_test(of.more)).collect();
    Ok(if holm(&against)?.iter().any(|p| *p < LEVEL) {
        Holds::No
    } else if paces.iter().all(shown) {
        Holds::Yes
    } else {
        Holds::Undecided
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Holds::{No, Undecided, Yes};

    fn curve(values: &[f64]) -> Curve {
        (0..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn a_level_is_reached_between_two_points() {
        let noisy = curve(&[9.0, 4.0, 1.5, 3.0, 1.0, 2.0, 1.2]);
        // The median of 1, 2 and 1.2.
        assert_eq!((late(&noisy), late(&Curve::new())), (Some(1.2), None));
        // At 9 it starts, and to 0.5 it never comes.
        let table = [(1.5, Some((10.0, 20.0))), (4.0, Some((0.0, 10.0))), (9.0, None), (0.5, None)];
        for (level, steps) in table {
            assert_eq!(reached(&noisy, level, 10.0), steps, "{level}");
        }
    }

    /// Read off where they come to rest, no noisy curve of Figure 1(c) decided anything, since none does.
    #[test]
    fn noisy_curves_that_never_rest_are_told_apart() {
        // Down by 1/t, with noise from repeat to repeat and point to point.
        let noise =
            |repeat: u64, at: u64| ((13 * repeat * repeat + 5 * at * (repeat + 1)) % 17) as f64;
        let of = |repeat: u64, pace: f64| -> Curve {
            let value = |at: u64| (1.0 + noise(repeat, at) / 40.0) / (1.0 + pace * at as f64);
            (0..=60).map(|at| (at, value(at))).collect()
        };
        let runs = |second: f64| -> Vec<[Curve; 2]> {
            (0..10).map(|repeat| [of(repeat, 1.0), of(repeat + 3, second)]).collect()
        };
        // A run that leaves where it started says nothing.
        let fled = vec![[curve(&[1.0, 2.0, 3.0]), curve(&[1.0, 0.5, 0.2])]];
        let table = [
            // A tenth of the steps a point: at the same pace a tenth of the steps, at a tenth of it about as many.
            (&runs(1.0)[..], [100.0, 10.0], Yes),
            (&runs(1.0), [10.0, 100.0], No),
            (&runs(0.09), [100.0, 10.0], Undecided),
            (&runs(1.0)[..1], [100.0, 10.0], Undecided),
            (&fled, [10.0, 10.0], Undecided),
        ];
        for (runs, steps, holds) in table {
            let pairs: Vec<[&Curve; 2]> = runs.iter().map(|[a, b]| [a, b]).collect();
            assert_eq!(sooner(&[Paces::of(&pairs, steps)]).unwrap(), holds, "{steps:?}");
        }
    }

    /// What two points cannot tell apart is not told apart.
    #[test]
    fn a_difference_within_a_point_decides_nothing() {
        let (fast, slow) = (curve(&[9.0, 1.0, 1.0, 1.0]), curve(&[9.0, 2.0, 1.0, 1.0]));
        // After 10 to 20 steps, and after none to 10: both may have come there after 10.
        let found = Paces::of(&[[&slow, &fast]; 8], [10.0, 10.0]);
        let medians = [Some(20.0), Some(10.0)];
        assert_eq!(found, Paces { medians, fewer: 0, more: 0, repeats: 8 });
        let apart = Paces::of(&[[&slow, &fast]; 8], [10.0, 9.0]);
        assert_eq!((apart.fewer, apart.more), (8, 0));
    }

    #[test]
    fn the_sign_test_holds_for_all_neighbours_and_refutes_by_one() {
        let paces = |(fewer, more)| Paces { medians: [None; 2], fewer, more, repeats: 10 };
        // 2 · 11/1024 for nine of ten, 2 · 56/1024 for eight.
        assert!((paces((9, 0)).sign_test(9) - 22.0 / 1024.0).abs() < 1e-12);
        let table: &[(&[(usize, usize)], Holds)] = &[
            (&[(9, 0), (10, 0)], Yes),
            (&[(9, 0), (8, 0)], Undecided),
            // Repeats that do not tell count against it.
            (&[(5, 0)], Undecided),
            (&[(9, 0), (10, 0), (0, 10)], No),
            // 0.02 of one pair among three is no refutation.
            (&[(9, 0), (10, 0), (0, 9)], Undecided),
        ];
        for (pairs, holds) in table {
            let all: Vec<Paces> = pairs.iter().copied().map(paces).collect();
            assert_eq!(sooner(&all).unwrap(), *holds, "{pairs:?}");
        }
    }

    /// Three steps were shown and one was open, so that a trend in all repeats was none.
    #[test]
    fn a_trend_over_the_repeats_decides_what_single_steps_do_not() {
        let rows: Vec<Vec<f64>> =
            (0..10).map(|r| vec![0.0, 0.1 - 0.05 * f64::from(r % 4), 0.8, 1.1, 1.2]).collect();
        let step = |at: usize| {
            let gains: Vec<f64> = rows.iter().map(|row| row[at + 1] - row[at]).collect();
            as_step(Interval::of(&gains, 0.0).unwrap(), 4)
        };
        let parts: Vec<Part> = (0..4).map(step).collect();
        assert_eq!(joint(&parts).0, Undecided);
        let found = trend(&parts, &rows, String::new()).unwrap();
        assert_eq!((found.holds, found.rule), (Yes, Rule::Trend));
        // Ten repeats on one point of the grid.
        let tied = vec![vec![0.0, 0.0, 0.0]; 10];
        let none = [as_step(Interval::of(&[0.0; 10], 0.0).unwrap(), 2); 2];
        assert_eq!(trend(&none, &tied, String::new()).unwrap().holds, Undecided);
        // A thousandth more in every repeat is level.
        let trifle = Interval::of(&[0.001, 0.0011, 0.0009], 0.0).unwrap();
        assert_eq!((trifle.above_0_of(1).0, as_step(trifle, 1).0), (Yes, Undecided));
    }
}
