//! One curve is ahead of others.

use super::interval::{Interval, Part, is_level, joint, joint_p, over};
use super::scope::{Scope, Side, ratio};
use super::{Answer, Holds, Rule};
use crate::cell::{StudyCell, snapped};
use mercer_records::{CurvePoint, Record};
use mercer_render::probability;
use mercer_statistics::summarise;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The curve of a method is ahead of those of its rivals, or one value of its curve of another.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ahead {
    /// The method.
    pub method: Side,
    /// Its value. One that is not there by itself stands for several, `value 1/9`, `value 2/7`.
    pub value: String,
    /// The methods that it is ahead of; itself if there are none.
    #[serde(default)]
    pub rivals: Vec<Side>,
    /// Their value, if another.
    pub rival_value: Option<String>,
    /// Whether a smaller number is ahead.
    #[serde(default)]
    pub lower: bool,
    /// Where.
    #[serde(default)]
    pub at: At,
}

/// Where along the curves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum At {
    /// At every step.
    #[default]
    EveryStep,
    /// At the last step, on each dataset.
    End,
    /// In the mean over the steps.
    Mean {
        /// By about so much.
        by: Option<f64>,
        /// Or behind by no more than this.
        margin: Option<f64>,
    },
    /// Behind at first, ahead in the end.
    FromBehind {
        /// Behind before this step and ahead from it on; without it behind at the first step and ahead at the last.
        turn: Option<u64>,
    },
}

/// What a curve is ahead by, step by step; a step comes several times if the value stands for several.
type Gains = Vec<(u64, f64)>;

/// The gains of each repeat of a dataset.
type OfCell<'a> = (&'a StudyCell, Vec<Gains>);

impl Ahead {
    /// What of it contradicts itself.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let alone = self.rivals.is_empty() && self.rival_value.is_none();
        alone.then_some("a curve is ahead of `rivals`, of a `rival-value`, or of both")
    }

    /// What the cells say.
    pub(super) fn answer(&self, scope: Scope<'_>) -> Answer {
        let cells = self.gains(scope);
        let repeats: Vec<&Gains> = cells.iter().flat_map(|(_, repeats)| repeats).collect();
        let ratio = ratio(cells.iter().map(|(cell, _)| *cell), &self.value);
        match self.at {
            At::EveryStep => at_every_step(&repeats, ratio),
            At::FromBehind { turn } => from_behind(&repeats, turn, ratio),
            At::End => self.at_the_end(&cells),
            At::Mean { by, margin } => {
                let means: Vec<f64> =
                    repeats.iter().filter_map(|gains| mean(gains, |_| true)).collect();
                Interval::of(&means, ratio).map_or_else(no_curves, |gain| {
                    let (part, told) = in_the_mean(gain, by, margin);
                    Answer::of(part, format!("{told}; {}", over(means.len(), "curve", ratio)))
                })
            }
        }
    }
}

fn no_curves() -> Answer {
    Answer::not_run("no curves")
}

/// The mean gain over some of the steps.
fn mean(gains: &Gains, wanted: impl Fn(u64) -> bool) -> Option<f64> {
    let there = gains.iter().filter(|(step, _)| wanted(*step));
    summarise(&there.map(|(_, gain)| *gain).collect::<Vec<_>>()).map(|spread| spread.mean)
}

impl Ahead {
    /// Over the best of the rivals, of the repeats that all have.
    fn gains<'a>(&self, scope: Scope<'a>) -> Vec<OfCell<'a>> {
        let own = std::slice::from_ref(&self.method);
        let names = if self.rivals.is_empty() { own } else { &self.rivals };
        let rivals: Vec<Vec<&StudyCell>> = names.iter().map(|side| scope.cells(side)).collect();
        let of_cell = |cell: &'a StudyCell| {
            let dataset = &cell.key().dataset;
            let of_repeat = |record: &Record| {
                let beside = rivals.iter().map(|cells| {
                    let mut twins = cells.iter().filter(|twin| twin.key().dataset == *dataset);
                    let twin =
                        twins.next()?.records().find(|r| r.key.repeat == record.key.repeat)?;
                    Some(&twin.result.curve[..]).filter(|curve| !curve.is_empty())
                });
                let beside: Vec<&[CurvePoint]> = beside.collect::<Option<_>>()?;
                Some(self.over(&record.result.curve, &beside)).filter(|gains| !gains.is_empty())
            };
            (cell, cell.records().filter_map(of_repeat).collect::<Vec<Gains>>())
        };
        let all = scope.cells(&self.method).into_iter().map(of_cell);
        all.filter(|(_, repeats)| !repeats.is_empty()).collect()
    }

    /// The gains of one curve over the best of those beside it.
    fn over(&self, own: &[CurvePoint], beside: &[&[CurvePoint]]) -> Gains {
        let sign = if self.lower { -1.0 } else { 1.0 };
        let rival_value = self.rival_value.as_ref().unwrap_or(&self.value);
        let mut gains = Vec::new();
        for point in own {
            let there: Vec<&CurvePoint> = beside
                .iter()
                .filter_map(|curve| curve.iter().find(|other| other.step == point.step))
                .collect();
            for (name, value) in &point.values {
                let Some(rest) = name.strip_prefix(self.value.as_str()) else { continue };
                let stands_for_it =
                    rest.starts_with(' ') && !point.values.contains_key(&self.value);
                if !rest.is_empty() && !stands_for_it {
                    continue;
                }
                let rival = format!("{rival_value}{rest}");
                let theirs = there.iter().filter_map(|point| point.values.get(&rival));
                let gain = theirs.map(|other| sign * (value - other)).reduce(f64::min);
                gains.extend(gain.map(|gain| (point.step, gain)));
            }
        }
        gains
    }

    /// The corrected test on each dataset.
    fn at_the_end(&self, cells: &[OfCell<'_>]) -> Answer {
        let (mut told, mut parts): (Vec<String>, Vec<Part>) = (Vec::new(), Vec::new());
        let accuracy = self.value.starts_with("accuracy");
        let rival_value = self.rival_value.as_ref().unwrap_or(&self.value);
        for (cell, repeats) in cells {
            let gains: Vec<f64> =
                repeats.iter().filter_map(|gains| gains.last()).map(|(_, gain)| *gain).collect();
            let gain = Interval::of(&snapped(gains), cell.ratio_of(&self.value));
            let Some(gain) = gain.filter(|_| repeats.len() > 1) else { continue };
            let ends = cell.at_end(rival_value).into_iter().map(|(_, value)| value);
            let size = summarise(&ends.collect::<Vec<_>>()).map_or(0.0, |size| size.mean);
            let part = gain.above_margin(is_level(gain.mean, accuracy, size));
            parts.push(part);
            let p = probability(part.1);
            told.push(format!("{} {:+.4} (corrected p = {p})", cell.key().dataset, gain.mean));
        }
        if parts.is_empty() {
            return Answer::not_run("no curves of two repeats");
        }
        let answer = Answer::of(joint(&parts), format!("mean gain on {}", told.join(", ")));
        Answer { rule: Rule::EachDataset, ..answer }
    }
}

/// What a mean gain says: ahead, by as much as is claimed, or behind by no more than a margin.
fn in_the_mean(gain: Interval, by: Option<f64>, margin: Option<f64>) -> (Part, String) {
    let least = -margin.unwrap_or(0.0);
    let excluded = |by: &f64| !(gain.low()..=gain.high()).contains(by);
    // An interval that excludes what is claimed contradicts it.
    let part = match by.filter(excluded) {
        Some(by) if gain.high() >= least => (Holds::No, gain.p(by)),
        _ => gain.above(least),
    };
    let told = |name: &str, number: Option<f64>| {
        number.map_or_else(String::new, |number| format!(", {name} {number}"))
    };
    (part, format!("mean gain {}{}{}", gain.text(4), told("claimed", by), told("margin", margin)))
}

/// At every step: all must be for it, and one at which it is behind speaks against it. Who is ahead at every step is
/// ahead in their mean, too: a mean gain below 0 refutes it.
fn at_every_step(repeats: &[&Gains], ratio: f64) -> Answer {
    let mut by_step: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (step, gain) in repeats.iter().copied().flatten() {
        by_step.entry(*step).or_default().push(*gain);
    }
    let tests = by_step.len();
    let steps: Vec<Interval> =
        by_step.values().filter_map(|gains| Interval::of(gains, ratio)).collect();
    let most = by_step.values().map(Vec::len).max().unwrap_or(0);
    if steps.is_empty() {
        return no_curves();
    }
    let parts: Vec<Part> = steps.iter().map(|step| step.above_0_of(tests)).collect();
    let count = |holds| parts.iter().filter(|part| part.0 == holds).count();
    let numbers = format!(
        "better than all others at {} of {} steps, significantly at {} (Bonferroni over the steps), significantly worse at {}; {}",
        steps.iter().filter(|step| step.mean > 0.0).count(),
        steps.len(),
        count(Holds::Yes),
        count(Holds::No),
        over(most, "repeat", ratio)
    );
    let means: Vec<f64> = repeats.iter().filter_map(|gains| mean(gains, |_| true)).collect();
    match Interval::of(&means, ratio).map(|mean| (mean, mean.above(0.0))) {
        Some((mean, behind @ (Holds::No, _))) => {
            Answer::of(behind, format!("mean over the steps {}; {numbers}", mean.text(4)))
        }
        _ => Answer::of(joint(&parts), numbers),
    }
}

/// Behind before `turn` and ahead from there on, or at the first step and at the last: in the mean over the steps of
/// each side by its interval, and nowhere against it in the mean over repeats, which a mean over steps would hide.
fn from_behind(repeats: &[&Gains], turn: Option<u64>, ratio: f64) -> Answer {
    let repeats: Vec<&Gains> = repeats.iter().copied().filter(|gains| gains.len() > 1).collect();
    let steps: Vec<u64> = repeats
        .first()
        .map(|gains| gains.iter().map(|(step, _)| *step).collect())
        .unwrap_or_default();
    let (Some(&first), Some(&last)) = (steps.first(), steps.last()) else {
        return Answer::not_run("no curves with two common points");
    };
    let early = |step: u64| turn.map_or(step == first, |turn| step < turn);
    let late = |step: u64| turn.map_or(step == last, |turn| step >= turn);
    let over_steps = |wanted: &dyn Fn(u64) -> bool| -> Option<Interval> {
        let means: Vec<f64> = repeats.iter().filter_map(|gains| mean(gains, wanted)).collect();
        Interval::of(&means, ratio)
    };
    let (Some(before), Some(after)) = (over_steps(&early), over_steps(&late)) else {
        return Answer::not_run("no curves with two common points");
    };
    let turned = Interval { mean: -before.mean, ..before };
    let parts = [turned.above(0.0), after.above(0.0)];
    let against = |step: &u64| {
        let wanted = match (early(*step), late(*step)) {
            (true, _) => -1.0,
            (_, true) => 1.0,
            _ => return None,
        };
        let gain = over_steps(&|other| other == *step)?;
        (gain.mean * wanted < 0.0).then(|| format!("{} at {step}", gain.text(4)))
    };
    let against: Vec<String> = steps.iter().filter_map(against).collect();
    let holds = match joint(&parts).0 {
        Holds::Yes if !against.is_empty() => Holds::Undecided,
        holds => holds,
    };
    let against =
        if against.is_empty() { String::new() } else { format!(", but {}", against.join(", ")) };
    let (here, there) = turn.map_or_else(
        || (format!("at {first}"), format!("at {last}")),
        |turn| (format!("below {turn}"), format!("from {turn} to {last}")),
    );
    let numbers = format!(
        "mean gain {} {here}, {} {there}{against}; {}",
        before.text(4),
        after.text(4),
        over(repeats.len(), "repeat", ratio)
    );
    Answer::of((holds, joint_p(&parts)), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Holds::{No, NotRun, Undecided, Yes};

    /// Gains by step, a row a repeat.
    fn rows<const N: usize>(steps: [u64; N], rows: &[[f64; N]]) -> Vec<Gains> {
        rows.iter().map(|row| steps.into_iter().zip(*row).collect()).collect()
    }

    #[test]
    fn who_is_ahead_at_every_step_is_told_by_repeats() {
        let table: &[(&[[f64; 2]], Holds)] = &[
            // One run led at every step, and the claim held; one run decides nothing.
            (&[[0.4, 0.02]], Undecided),
            (&[[0.4, 0.02], [0.41, 0.021], [0.42, 0.022]], Yes),
            (&[[0.4, -0.2], [0.41, -0.21], [0.42, -0.2]], No),
            (&[[0.4, -0.2], [0.41, 0.21], [0.42, 0.0]], Undecided),
            (&[], NotRun),
            // Behind in the mean, at no step by itself beyond doubt.
            (&[[-1.5, 0.5], [0.4, -1.5], [-0.5, -0.4]], No),
            (&[[-1.5, 0.5], [0.4, 0.7], [-0.5, -0.4]], Undecided),
        ];
        for (gains, holds) in table {
            let gains = rows([1, 2], gains);
            let answer = at_every_step(&gains.iter().collect::<Vec<_>>(), 0.0);
            assert_eq!(answer.holds, *holds, "{gains:?}: {}", answer.numbers);
        }
        let answer = at_every_step(&[&vec![(1, 0.4), (2, 0.02)]], 0.0);
        assert!(answer.numbers.contains("at 2 of 2 steps"), "{}", answer.numbers);
        assert!(answer.numbers.ends_with("one repeat, too few to decide"));
    }

    /// A mean over 50 to 500 images hid that the rival was behind at 500 already.
    #[test]
    fn who_comes_from_behind_was_behind_at_every_step_before() {
        let plain =
            [[-0.30, -0.02, 0.01, 0.02], [-0.31, -0.01, 0.02, 0.02], [-0.32, -0.02, 0.01, 0.03]];
        let early = plain.map(|[a, b, c, d]| [a, -b, c, d]);
        let reversed = plain.map(|row| row.map(|gain| -gain));
        let of = |all: &[[f64; 4]], turn| {
            let gains = rows([50, 500, 1000, 5000], all);
            from_behind(&gains.iter().collect::<Vec<_>>(), turn, 0.0)
        };
        let table: [(&[_], _, _); 5] = [
            (&plain, Some(750), Yes),
            (&early, Some(750), Undecided),
            (&reversed, Some(750), No),
            // First and last alone, where no step is claimed.
            (&early, None, Yes),
            (&[], None, NotRun),
        ];
        for (gains, turn, holds) in table {
            assert_eq!(of(gains, turn).holds, holds, "{gains:?} {turn:?}");
        }
        let answer = of(&early, Some(750));
        assert!(answer.p.unwrap() < 0.05);
        let numbers = &answer.numbers;
        assert!(numbers.contains(", but 0.0167 (0.0023 to 0.0310) at 500;"), "{numbers}");
    }

    fn claim(text: &str) -> Ahead {
        toml::from_str(&format!("method = \"a\"\nvalue = \"v\"\n{text}")).unwrap()
    }

    #[test]
    fn an_interval_that_excludes_what_is_claimed_contradicts_it() {
        let table = [
            // About 2 points, where 0.0011 ± 0.4445 were found.
            (Some(2.0), None, 0.0011, 0.4445, No),
            (Some(2.0), None, 2.1, 0.5, Yes),
            (Some(2.0), None, 1.0, 1.5, Undecided),
            // Ahead, and by more than is claimed.
            (Some(2.0), None, 5.0, 0.5, No),
            (None, None, 0.0011, 0.4445, Undecided),
            // No cost: behind by less than the margin, ahead or not.
            (None, Some(0.01), -0.002, 0.004, Yes),
            (None, Some(0.01), 0.0, 0.02, Undecided),
            (None, Some(0.01), -0.02, 0.005, No),
        ];
        for (by, margin, mean, half, holds) in table {
            let gain = Interval { mean, half, freedom: 9.0 };
            let found = in_the_mean(gain, by, margin).0.0;
            assert_eq!(found, holds, "{by:?} {margin:?} {mean} ± {half}");
        }
    }

    #[test]
    fn a_curve_is_held_against_the_best_beside_it() {
        let points = |values: &[(u64, &[(&str, f64)])]| -> Vec<CurvePoint> {
            let point = |&(step, values): &(u64, &[(&str, f64)])| CurvePoint {
                step,
                epoch: 0.0,
                values: values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            };
            values.iter().map(point).collect()
        };
        let own = points(&[
            (1, &[("v", 3.0), ("v 1/9", 9.0), ("w", 1.0)]),
            (2, &[("v 1/9", 5.0), ("v 2/7", 1.0), ("vx", 9.0)]),
        ]);
        let first = points(&[(1, &[("v", 1.0), ("v 1/9", 1.0)]), (2, &[("v 1/9", 4.5)])]);
        let second = points(&[(1, &[("v", 2.0)]), (3, &[("v", 9.0)])]);
        assert_eq!(claim("").over(&own, &[&first, &second]), [(1, 1.0), (2, 0.5)]);
        let lower = claim("lower = true\nrival-value = \"w\"");
        assert_eq!(lower.over(&own, &[&own]), [(1, -2.0)]);
    }
}
