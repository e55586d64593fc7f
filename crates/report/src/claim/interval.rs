//! What one test says of a claim, what several say together, and the interval behind most of them.

use super::Holds;
use crate::ExperimentError;
use crate::cell::LEVEL;
use mercer_render::probability;
use mercer_statistics::{p_of_interval, stouffer, summarise, wilcoxon_signed_rank};
use std::fmt::Write as _;

/// What one test says, with its two-sided p; 1 where there is nothing to test.
pub(super) type Part = (Holds, f64);

/// A part that decides nothing.
pub(super) const OPEN: Part = (Holds::Undecided, 1.0);

/// What the tests of one claim say together: one against it refutes it, else all must be for it.
pub(super) fn joint(parts: &[Part]) -> Part {
    let any = |wanted| parts.iter().any(|(holds, _)| *holds == wanted);
    let all = |wanted| parts.iter().all(|(holds, _)| *holds == wanted);
    let holds = if any(Holds::No) {
        Holds::No
    } else if all(Holds::NotRun) {
        Holds::NotRun
    } else if all(Holds::Yes) {
        Holds::Yes
    } else {
        Holds::Undecided
    };
    (holds, joint_p(parts))
}

/// The largest p where all tests must be for the claim, and the smallest times their number where one is against it.
pub(super) fn joint_p(parts: &[Part]) -> f64 {
    let against = parts.iter().filter(|(holds, _)| *holds == Holds::No);
    let least = against.map(|(_, p)| *p).reduce(f64::min);
    least.map_or_else(
        || parts.iter().map(|(_, p)| *p).fold(0.0, f64::max),
        |p| (p * parts.len() as f64).min(1.0),
    )
}

/// Below it a difference is level: points of accuracy ...
const POINTS: f64 = 0.1;

/// ... and the share of an error.
pub(super) const SHARE: f64 = 0.01;

/// Whether a difference is below the margin of practice, of an accuracy in percent or of an error of some size.
pub(super) fn is_level(difference: f64, accuracy: bool, size: f64) -> bool {
    in_margins(difference, accuracy, size).abs() < 1.0
}

/// A difference in units of the margin of practice.
pub(super) fn in_margins(difference: f64, accuracy: bool, size: f64) -> f64 {
    difference / if accuracy { POINTS } else { SHARE * size.abs() }
}

/// The mean of some numbers with half of its 95 % interval, which is infinite where nothing is known of the spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub mean: f64,
    pub half: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

impl Interval {
    /// Of numbers, one a repeat. `ratio` is `n_test / n_train` of random splits, whose training rows overlap, for the
    /// corrected resampled t; 0 where repeats are independent. None without numbers.
    pub fn of(numbers: &[f64], ratio: f64) -> Option<Self> {
        let spread = summarise(numbers)?;
        let widened = (1.0 + spread.count as f64 * ratio).sqrt();
        let half = spread.half_width(0.95).map_or(f64::INFINITY, |half| widened * half);
        let freedom = spread.count.saturating_sub(1).max(1) as f64;
        Some(Self { mean: spread.mean, half, freedom })
    }

    /// Of the mean of independent ones: the interval of a sum, with Welch's degrees of freedom.
    pub fn mean_of(parts: &[Self]) -> Self {
        let count = parts.len() as f64;
        let mean = parts.iter().map(|part| part.mean).sum::<f64>() / count;
        let squares = || parts.iter().map(|part| part.half.powi(2));
        let weighed: f64 = parts.iter().map(|part| part.half.powi(4) / part.freedom).sum();
        let freedom = if weighed > 0.0 {
            squares().sum::<f64>().powi(2) / weighed
        } else {
            parts.iter().map(|part| part.freedom).sum()
        };
        Self { mean, half: squares().sum::<f64>().sqrt() / count, freedom }
    }

    pub fn low(self) -> f64 {
        self.mean - self.half
    }

    pub fn high(self) -> f64 {
        self.mean + self.half
    }

    /// Two-sided p that the mean is `from`.
    pub fn p(self, from: f64) -> f64 {
        p_of_interval(self.mean - from, self.half, self.freedom)
    }

    /// Whether the interval lies above a limit, below it, or around it. A tie decides nothing: on a grid it says that
    /// the grid is too coarse.
    pub fn above(self, limit: f64) -> Part {
        (side_of((self.low(), self.high()), limit), self.p(limit))
    }

    /// Above 0 as one of so many tests of a claim: all must hold, but one below 0 refutes it, for which the level is
    /// shared.
    pub fn above_0_of(self, tests: usize) -> Part {
        match self.above(0.0) {
            (Holds::No, p) if p * tests as f64 >= LEVEL => (Holds::Undecided, p),
            part => part,
        }
    }

    /// Above 0 if it is more than the margin of practice; numbers that are all the same have no test.
    pub fn above_margin(self, level: bool) -> Part {
        let part = self.above(0.0);
        if level || self.half <= 0.0 { (Holds::Undecided, part.1) } else { part }
    }

    /// Whether the interval lies within a margin of 0, beyond it, or around an end; p is that of the nearer end.
    pub fn within(self, margin: f64) -> Part {
        let holds = if self.low() > -margin && self.high() < margin {
            Holds::Yes
        } else if self.low() > margin || self.high() < -margin {
            Holds::No
        } else {
            Holds::Undecided
        };
        (holds, self.p(if self.mean < 0.0 { -margin } else { margin }))
    }

    /// `0.12 (0.10 to 0.14)`.
    pub fn text(self, digits: usize) -> String {
        self.text_as(|number| number, digits)
    }

    /// The same of what the numbers stand for: `f64::exp` of logarithms, say.
    pub fn text_as(self, of: impl Fn(f64) -> f64, digits: usize) -> String {
        let shown = |number: f64| mercer_render::number(of(number), digits);
        let mean = shown(self.mean);
        if !self.half.is_finite() {
            return mean;
        }
        let (low, high) = (of(self.low()), of(self.high()));
        let [low, high] =
            [low.min(high), low.max(high)].map(|end| mercer_render::number(end, digits));
        format!("{mean} ({low} to {high})")
    }
}

/// Whether an interval lies above a limit, below it, or around it.
pub(super) fn side_of((low, high): (f64, f64), limit: f64) -> Holds {
    if low > limit {
        Holds::Yes
    } else if high < limit {
        Holds::No
    } else {
        Holds::Undecided
    }
}

/// `1 dataset`, `2 datasets`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What the intervals of a claim are of: `95 % over 10 repeats`.
pub(super) fn over(count: usize, what: &str, ratio: f64) -> String {
    match count {
        1 => format!("one {what}, too few to decide"),
        _ if ratio > 0.0 => format!("95 % over {count} {what}s, corrected for overlapping splits"),
        _ => format!("95 % over {count} {what}s"),
    }
}

/// What Stouffer's combination of one-sided p says.
pub(super) fn combined(
    p_greater: &[f64],
    numbers: &mut String,
) -> Result<(Holds, Option<f64>), ExperimentError> {
    if p_greater.is_empty() {
        numbers.push_str("; no dataset with repeats to test");
        return Ok((Holds::Undecided, None));
    }
    let test = stouffer(p_greater)?;
    let p = test.p_two_sided;
    let holds = match test.z > 0.0 {
        true if p < LEVEL => Holds::Yes,
        false if p < LEVEL => Holds::No,
        _ => Holds::Undecided,
    };
    let shown = probability(p);
    let against = if test.z < 0.0 { " against it" } else { "" };
    let count = p_greater.len();
    let _ = write!(numbers, "; Stouffer over the repeats of {count}: p = {shown}{against}");
    Ok((holds, Some(p)))
}

/// What the signed rank test says of datasets in general.
pub(super) fn in_general(gains: &[f64], numbers: &mut String) -> Result<(), ExperimentError> {
    let p = probability(wilcoxon_signed_rank(gains)?.p_two_sided);
    let _ = write!(numbers, "; Wilcoxon over datasets p = {p}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Holds::{No, NotRun, Undecided, Yes};

    #[test]
    fn one_against_a_claim_or_all_for_it_decides() {
        let table: &[(&[Part], Part)] = &[
            (&[], (NotRun, 0.0)),
            (&[(Yes, 0.01), (Yes, 0.04)], (Yes, 0.04)),
            (&[(Yes, 0.01), (No, 0.004), (Undecided, 0.5)], (No, 0.012)),
            (&[(Yes, 0.01), (Undecided, 0.5)], (Undecided, 0.5)),
            (&[(Yes, 0.01), (NotRun, 1.0)], (Undecided, 1.0)),
            (&[(NotRun, 1.0), (NotRun, 1.0)], (NotRun, 1.0)),
            (&[(Undecided, 1.0), (NotRun, 1.0)], (Undecided, 1.0)),
        ];
        for (parts, (holds, p)) in table {
            let found = joint(parts);
            assert_eq!(found.0, *holds, "{parts:?}");
            assert!((found.1 - p).abs() < 1e-12, "{parts:?}: {found:?}");
        }
    }

    #[test]
    fn an_interval_over_repeats_decides_and_one_repeat_does_not() {
        let table: &[(&[f64], usize, Option<Holds>)] = &[
            (&[1.0, 1.1, 0.9], 1, Some(Yes)),
            (&[-1.0, -1.1, -0.9], 1, Some(No)),
            (&[1.0, -1.0, 0.5], 1, Some(Undecided)),
            (&[5.0], 1, Some(Undecided)),
            (&[], 1, None),
            // A tie says that the grid is too coarse, and decides nothing.
            (&[0.0, 0.0], 1, Some(Undecided)),
            // t = −4.1 and −9.8 with two degrees of freedom, where 4.3 is the limit of one test.
            (&[-1.0, -0.4, -0.9], 1, Some(Undecided)),
            (&[-1.0, -0.7, -0.9], 1, Some(No)),
            (&[-1.0, -0.7, -0.9], 40, Some(Undecided)),
        ];
        for (numbers, tests, holds) in table {
            let found = Interval::of(numbers, 0.0).map(|interval| interval.above_0_of(*tests).0);
            assert_eq!(found, *holds, "{numbers:?} of {tests}");
        }
    }

    #[test]
    fn an_interval_lies_on_a_side_of_a_limit_or_around_it() {
        let interval = |mean, half| Interval { mean, half, freedom: 7.0 };
        let above = [
            (1.0, 0.9, 0.0, Yes),
            (-1.0, 0.9, 0.0, No),
            (1.0, 1.1, 0.0, Undecided),
            (0.2, 0.1, 0.2, Undecided),
            (0.2, 0.1, 0.05, Yes),
            (0.2, 0.1, 0.4, No),
            (1.0, f64::INFINITY, 0.0, Undecided),
        ];
        for (mean, half, limit, holds) in above {
            assert_eq!(interval(mean, half).above(limit).0, holds, "{mean} ± {half} from {limit}");
        }
        for (mean, half, holds) in [(0.2, 0.5, Yes), (-0.2, 0.9, Undecided), (-2.0, 0.5, No)] {
            assert_eq!(interval(mean, half).within(1.0).0, holds, "{mean} ± {half}");
        }
        // An end of a 95 % interval has p = 0.05, and nothing is known of one number.
        assert!((interval(1.0, 0.5).p(0.5) - 0.05).abs() < 1e-9);
        assert!(Interval::of(&[1.0], 0.0).unwrap().p(0.0) >= 1.0);
        // A thousandth more in every repeat is level, and what is the same in all has no test.
        let trifle = Interval::of(&[0.001, 0.0011, 0.0009], 0.0).unwrap();
        assert_eq!((trifle.above(0.0).0, trifle.above_margin(true).0), (Yes, Undecided));
        assert_eq!(Interval::of(&[0.5, 0.5], 0.0).unwrap().above_margin(false).0, Undecided);
    }

    #[test]
    fn overlapping_splits_widen_an_interval() {
        // By 12.706 times the standard error of two, and by that times √(1 + 2 · 1.5).
        let text = |ratio| Interval::of(&[1.0, 3.0], ratio).unwrap().text(3);
        assert_eq!(text(0.0), "2.000 (-10.706 to 14.706)");
        assert_eq!(text(1.5), "2.000 (-23.412 to 27.412)");
        assert_eq!(Interval::of(&[0.2], 0.0).unwrap().text(4), "0.2000");
        assert_eq!(
            Interval { mean: 1.0, half: 1.0, freedom: 1.0 }.text_as(|x| -x, 1),
            "-1.0 (-2.0 to 0.0)"
        );
    }

    /// Three and four over two: 7/2, and half the root of 3² + 4².
    #[test]
    fn a_mean_has_the_interval_of_a_sum() {
        let part = |mean, half| Interval { mean, half, freedom: 9.0 };
        let mean = Interval::mean_of(&[part(3.0, 3.0), part(4.0, 4.0)]);
        assert_eq!((mean.mean, mean.half), (3.5, 2.5));
        // (9 + 16)² / ((81 + 256)/9).
        assert!((mean.freedom - 625.0 * 9.0 / 337.0).abs() < 1e-12);
    }

    #[test]
    fn a_trifle_is_counted_in_margins() {
        assert!((in_margins(0.05, true, 5.05) - 0.5).abs() < 1e-12);
        // 0.05 of an error of 5 is 1 %.
        assert!((in_margins(0.05, false, 5.0) - 1.0).abs() < 1e-12);
        assert!(is_level(0.04, false, 5.0) && !is_level(0.06, false, -5.0));
    }
}
