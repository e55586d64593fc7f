//! Values of the curves of a method that fall, or rise.

use super::interval::{Interval, Part, joint, over};
use super::scope::{Curve, Scope, Side, curve};
use super::{Answer, Holds};
use crate::cell::StudyCell;
use mercer_render::number;
use mercer_statistics::summarise;
use serde::Deserialize;

/// Values of the curves of a method are smaller at the end than at their beginning: the interval of the mean change,
/// since one curve that goes against the others refutes nothing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Falls {
    /// The method whose curves they are.
    pub method: Side,
    /// The values.
    pub values: Vec<String>,
    /// Whether they are larger instead.
    #[serde(default)]
    pub rises: bool,
    /// How.
    #[serde(default)]
    pub how: How,
}

/// How values fall, or rise.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum How {
    /// From the first point to the last.
    #[default]
    Throughout,
    /// From half time to the last point.
    SinceHalf,
    /// More in the second half than in the first.
    Late,
    /// From the tenth of the points with the best mean over the repeats to the last tenth.
    FromBestTenth,
    /// Not the value falls, but its distance from a limit.
    Toward {
        /// What it is at this step is the limit.
        limit: u64,
        /// The distance falls from the first point at or after this step.
        from: u64,
    },
    /// Late in training, from the second third of the points to the last, where each of these has converged: a
    /// partner for each value. Inconclusive where a partner goes on.
    BesideSettled(Vec<String>),
    /// Until they end so near to each other in every repeat.
    UntilWithin(f64),
}

/// Where a value begins and ends along a curve.
type Ends = (f64, f64);

impl Falls {
    /// What of it contradicts itself.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self.values.is_empty() {
            return Some("name the `values` that fall");
        }
        let settled = match &self.how {
            How::BesideSettled(partners) => !self.rises && partners.len() == self.values.len(),
            _ => true,
        };
        (!settled).then_some("`beside-settled` needs a partner for each of `values`, which fall")
    }

    /// What the cells say.
    pub(super) fn answer(&self, scope: Scope<'_>) -> Answer {
        let answer = match &self.how {
            How::UntilWithin(margin) => self.until_within(scope, *margin),
            How::BesideSettled(partners) => self.beside_settled(scope, partners),
            _ => self.change(scope),
        };
        answer.unwrap_or_else(|| Answer::not_run("no curves"))
    }

    fn sign(&self) -> f64 {
        if self.rises { -1.0 } else { 1.0 }
    }

    /// The mean change of each value.
    fn change(&self, scope: Scope<'_>) -> Option<Answer> {
        let (mut parts, mut told, mut still) = (Vec::new(), Vec::new(), false);
        let tests = self.values.len() * (1 + usize::from(self.how == How::Late));
        let (does, names) = if self.rises { ("rises", "rise") } else { ("falls", "fall") };
        for value in &self.values {
            let (raw, ratio) = scope.curves(&self.method, value);
            let curves: Vec<Curve> = raw.iter().filter_map(|own| self.seen(own)).collect();
            let (ends, [place, end]) = self.ends(&curves)?;
            let falls: Vec<f64> = ends.iter().map(|(from, to)| self.sign() * (from - to)).collect();
            let (fall, part, rests) = moved(&falls, ratio, tests)?;
            still |= rests;
            parts.push(part);
            let mean = |of: fn(&Ends) -> f64| ends.iter().map(of).sum::<f64>() / ends.len() as f64;
            let mut text = format!(
                "{does} along {} of {} curves, from {}{place} to {}{end} on average; {names} {}",
                falls.iter().filter(|fall| **fall > 0.0).count(),
                falls.len(),
                number(mean(|ends| ends.0), 4),
                number(mean(|ends| ends.1), 4),
                fall.text(4)
            );
            if let How::Toward { limit, .. } = self.how {
                let left = |own: &Curve| Some(own.last_key_value()?.1 - own.get(&limit)?);
                let left = Interval::of(&raw.iter().filter_map(left).collect::<Vec<_>>(), ratio)?;
                text =
                    format!("the distance to step {limit} {text}; what is left {}", left.text(4));
            }
            if self.how == How::Late {
                let (part, later) = self.later(&curves, ratio, tests)?;
                parts.push(part);
                text.push_str(&later);
            }
            told.push(format!("{text}; {}", over(falls.len(), "curve", ratio)));
        }
        let answer = Answer::of(joint(&parts), told.join("; "));
        Some(if still && answer.holds == Holds::No { Answer { p: None, ..answer } } else { answer })
    }

    /// What is looked at along a curve: its values, or their distance from a limit.
    fn seen(&self, curve: &Curve) -> Option<Curve> {
        let How::Toward { limit, .. } = self.how else { return Some(curve.clone()) };
        let limit = curve.get(&limit)?;
        Some(curve.iter().map(|(step, value)| (*step, (value - limit).abs())).collect())
    }

    /// Where each curve begins and ends, and where that is.
    fn ends(&self, curves: &[Curve]) -> Option<(Vec<Ends>, [String; 2])> {
        let last = |curve: &Curve| curve.last_key_value().map(|(_, value)| *value);
        let of = |first: &dyn Fn(&Curve) -> Option<f64>| -> Vec<Ends> {
            curves.iter().filter_map(|curve| Some((first(curve)?, last(curve)?))).collect()
        };
        let at = |curve: &Curve, place: usize| curve.values().nth(place).copied();
        let (ends, place) = match self.how {
            How::FromBestTenth => return self.best_to_last(curves),
            How::SinceHalf => {
                (of(&|curve| at(curve, (curve.len() - 1) / 2)), " at half time".into())
            }
            How::Toward { from, .. } => {
                let first = |curve: &Curve| curve.range(from..).next().map(|(_, value)| *value);
                (of(&first), format!(" at {from}"))
            }
            _ => (of(&|curve| at(curve, 0)), String::new()),
        };
        Some((ends, [place, String::new()]))
    }

    /// From the tenth of the points that is best in the mean over the curves to the last tenth.
    fn best_to_last(&self, curves: &[Curve]) -> Option<(Vec<Ends>, [String; 2])> {
        let all: Vec<Vec<f64>> = curves.iter().map(|own| own.values().copied().collect()).collect();
        let points = all.iter().map(Vec::len).min().filter(|points| *points > 1)?;
        let width = points.div_ceil(10);
        let end = points - width;
        let mean =
            |own: &[f64], from: usize| own[from..from + width].iter().sum::<f64>() / width as f64;
        let over_curves = |from: usize| all.iter().map(|own| mean(own, from)).sum::<f64>();
        let best = (0..=end)
            .map(|from| (from, self.sign() * over_curves(from)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })?
            .0;
        let single = all.iter().filter_map(|own| summarise(&own[best..best + width]));
        let wobble = single.map(|spread| spread.sample_std).fold(0.0, f64::max);
        let ends = all.iter().map(|own| (mean(own, best), mean(own, end))).collect();
        let place = format!(
            " in the best tenth of the points (from point {}; standard deviation of single points there {})",
            best + 1,
            number(wobble, 4)
        );
        Some((ends, [place, " in the last tenth,".to_owned()]))
    }

    /// Whether more of the fall lies in the second half of the points than in the first.
    fn later(&self, curves: &[Curve], ratio: f64, tests: usize) -> Option<(Part, String)> {
        // First, at half time, last.
        let ends: Vec<[f64; 3]> = curves
            .iter()
            .map(|curve| curve.values().copied().collect::<Vec<f64>>())
            .filter(|curve| curve.len() > 1)
            .map(|curve| [0, (curve.len() - 1) / 2, curve.len() - 1].map(|place| curve[place]))
            .collect();
        let late = |[first, middle, last]: &[f64; 3]| self.sign() * (2.0 * middle - last - first);
        let later = Interval::of(&ends.iter().map(late).collect::<Vec<_>>(), ratio)?;
        let mean =
            |place: usize| ends.iter().map(|own| own[place]).sum::<f64>() / ends.len() as f64;
        let (first, middle, last) = (mean(0), mean(1), mean(2));
        let text = format!(
            ", {:.0} % of it in the second half, from {} at half time; later minus earlier {}",
            100.0 * (middle - last) / (first - last),
            number(middle, 4),
            later.text(4)
        );
        Some((later.above_0_of(tests), text))
    }

    /// Whether the values end alike in every repeat, having changed in the mean.
    fn until_within(&self, scope: Scope<'_>, margin: f64) -> Option<Answer> {
        let records: Vec<_> =
            scope.cells(&self.method).into_iter().flat_map(StudyCell::records).collect();
        let ends = |record: &&mercer_records::Record| -> Option<Vec<Ends>> {
            let end = |value: &String| {
                let own = curve(record, value);
                Some((*own.first_key_value()?.1, *own.last_key_value()?.1))
            };
            self.values.iter().map(end).collect()
        };
        let all: Vec<Vec<Ends>> = records.iter().filter_map(ends).collect();
        let first = all.first()?;
        let spread = |ends: &&Vec<Ends>| {
            let last = || ends.iter().map(|(_, end)| *end);
            last().fold(f64::NEG_INFINITY, f64::max) - last().fold(f64::INFINITY, f64::min)
        };
        let alike = all.iter().filter(|ends| spread(ends) <= margin + 1e-12).count();
        let fall = |place: usize| -> f64 { all.iter().map(|e| e[place].0 - e[place].1).sum() };
        let moved = (0..self.values.len()).all(|place| self.sign() * fall(place) > 0.0);
        let holds = if alike == all.len() && moved { Holds::Yes } else { Holds::No };
        let named = self.values.iter().zip(first);
        let named: Vec<String> =
            named.map(|(value, (start, end))| format!("{value} {start:.4} to {end:.4}")).collect();
        let does = if self.rises { "rise" } else { "fall" };
        let moved =
            if moved { String::new() } else { format!("; not all {does} on average over curves") };
        let numbers = format!(
            "ends within {margin} of each other in {alike} of {} curves; in the first {}{moved}",
            all.len(),
            named.join(", ")
        );
        Some(Answer::counted(holds, numbers))
    }

    /// Late in training, where each partner has converged.
    fn beside_settled(&self, scope: Scope<'_>, partners: &[String]) -> Option<Answer> {
        let (mut parts, mut told, mut repeats) = (Vec::new(), Vec::new(), usize::MAX);
        for (falls, settles) in self.values.iter().zip(partners) {
            let of = |value: &str| -> Vec<f64> {
                scope.curves(&self.method, value).0.iter().filter_map(late_fall).collect()
            };
            let (of_falls, of_settles) = (of(falls), of(settles));
            repeats = repeats.min(of_falls.len()).min(of_settles.len());
            let moves = Interval::of(&of_settles, 0.0)?.text_as(f64::exp, 3);
            let (fall, part) = falls_beside(&of_falls, &of_settles, self.values.len())?;
            parts.push(part);
            told.push(format!(
                "{settles} to 1/{moves}, {falls} to 1/{}",
                fall.text_as(f64::exp, 3)
            ));
        }
        let numbers = format!(
            "from the second third of the points to the last (an error has converged that moves by less than {:.0} %): {}; {}",
            100.0 * SETTLED,
            told.join("; "),
            over(repeats, "repeat", 0.0)
        );
        Some(Answer::of(joint(&parts), numbers))
    }
}

/// The mean of some changes and what it says, as one of so many tests; and whether nothing moves, which needs no test
/// to say that it does not move as claimed.
fn moved(changes: &[f64], ratio: f64, tests: usize) -> Option<(Interval, Part, bool)> {
    let mean = Interval::of(changes, ratio)?;
    let rests = changes.len() > 1 && changes.iter().all(|change| *change == 0.0);
    Some((mean, if rests { (Holds::No, 1.0) } else { mean.above_0_of(tests) }, rests))
}

/// Share by which what has converged may still move from the second third of the points to the last.
const SETTLED: f64 = 0.05;

/// Logarithm of how many times as large a curve is in the second third of its points after the start as in the last,
/// in geometric means.
fn late_fall(curve: &Curve) -> Option<f64> {
    let logarithms: Vec<f64> = curve.range(1..).map(|(_, value)| value.ln()).collect();
    let third = logarithms.len() / 3;
    let mean = |part: &[f64]| summarise(part).map(|spread| spread.mean);
    let (before, last) = logarithms.split_at(logarithms.len() - third);
    let fall = mean(&before[before.len() - third..])? - mean(last)?;
    Some(fall).filter(|fall| fall.is_finite())
}

/// What falls as `falling` (one number a repeat, as [`late_fall`] has them), and whether it still falls beside what
/// falls as `settling`: of what has not converged nothing is said. `of_many` such pairs are one claim.
fn falls_beside(falling: &[f64], settling: &[f64], of_many: usize) -> Option<(Interval, Part)> {
    // Neither further down nor further up than that, and down.
    let (tests, bound) = (3 * of_many, SETTLED.ln_1p());
    let room = |sign: f64| -> Option<Part> {
        let room: Vec<f64> = settling.iter().map(|fall| bound - sign * fall).collect();
        Some(Interval::of(&room, 0.0)?.above_0_of(tests))
    };
    let fall = Interval::of(falling, 0.0)?;
    let (holds, p) = fall.above_0_of(tests);
    let converged = joint(&[room(1.0)?, room(-1.0)?]).0 == Holds::Yes;
    Some((fall, (if converged { holds } else { Holds::Undecided }, p)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Holds::{No, Undecided, Yes};

    /// One training row in one of five curves had refuted a claim.
    #[test]
    fn one_curve_against_the_others_refutes_nothing() {
        let table: &[(&[f64], Option<Holds>)] = &[
            (&[0.2, 0.3, 0.25, 0.22, -0.01], Some(Yes)),
            (&[0.2, 0.3, 0.25, -0.3, -0.01], Some(Undecided)),
            (&[-0.2, -0.3, -0.25, -0.22, 0.01], Some(No)),
            (&[0.0, 0.0, 0.0], Some(No)),
            (&[0.2], Some(Undecided)),
            (&[0.0], Some(Undecided)),
            (&[], None),
        ];
        for (changes, holds) in table {
            let found = moved(changes, 0.0, 1).map(|(_, part, _)| part.0);
            assert_eq!(found, *holds, "{changes:?}");
        }
    }

    #[test]
    fn the_late_fall_leaves_out_the_start_and_the_first_third() {
        let curve = |values: &[f64]| (0..).zip(values.iter().copied()).collect::<Curve>();
        let e = std::f64::consts::E;
        let fall = late_fall(&curve(&[100.0, 50.0, 20.0, e, e, 1.0, 1.0])).unwrap();
        assert!((fall - 1.0).abs() < 1e-12);
        assert_eq!(late_fall(&curve(&[2.0, 1.0, 1.0])), None, "no thirds");
        assert_eq!(late_fall(&curve(&[2.0, 1.0, 1.0, 0.0])), None, "no logarithm");
    }

    #[test]
    fn what_falls_after_convergence_needs_convergence() {
        let (still, falls) = ([0.01, -0.01, 0.005, 0.0], [0.2, 0.22, 0.19, 0.21]);
        let rises = falls.map(|fall| -fall);
        let table: &[(&[f64], &[f64], Option<Holds>)] = &[
            (&falls, &still, Some(Yes)),
            // The error falls on by a fifth: it has not converged. Or rises.
            (&falls, &falls, Some(Undecided)),
            (&falls, &rises, Some(Undecided)),
            (&rises, &still, Some(No)),
            (&falls, &[0.2, -0.2, 0.1, 0.0], Some(Undecided)),
            (&[0.2], &[0.0], Some(Undecided)),
            (&[], &[], None),
        ];
        for (falling, settling, holds) in table {
            let found = falls_beside(falling, settling, 1).map(|(_, part)| part.0);
            assert_eq!(found, *holds, "{falling:?} beside {settling:?}");
        }
    }
}
