//! Claims about the shape of curves: intervals over repeats of what each repeat shows. One repeat
//! decides nothing.

use super::Holds;
use crate::cell::StudyCell;
use crate::peak::Repeats;
use mercer_statistics::summarise;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Step to value, of one repeat.
type Curve = BTreeMap<u64, f64>;

/// The values of a method on a dataset, repeat by repeat; repeats without any are not among them.
fn curves(cells: &[&StudyCell], dataset: &str, method: &str, value: &str) -> Vec<Curve> {
    by_repeat(cells, dataset, method, value).into_values().collect()
}

fn not_run() -> (Holds, String) {
    (Holds::NotRun, "no curves".to_owned())
}

/// The mean of one number a repeat with its 95 % interval, and which side of 0 that lies on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shown {
    mean: f64,
    half: f64,
    repeats: usize,
    holds: Holds,
}

impl Shown {
    /// `tests` is how many such numbers one claim asks for together: all must hold for it to hold, but
    /// one below 0 speaks against it, for which the level is shared.
    fn of(numbers: &[f64], tests: usize) -> Option<Self> {
        let spread = summarise(numbers)?;
        let half = |level| spread.half_width(level).unwrap_or(f64::INFINITY);
        let (mean, own) = (spread.mean, half(0.95));
        let shared = half(1.0 - 0.05 / tests.max(1) as f64);
        // A difference that is 0 in every repeat is none.
        let none = spread.count > 1 && numbers.iter().all(|number| *number == 0.0);
        let holds = if mean - own > 0.0 {
            Holds::Yes
        } else if none || mean + shared < 0.0 {
            Holds::No
        } else {
            Holds::Undecided
        };
        Some(Self { mean, half: own, repeats: spread.count, holds })
    }

    /// Over all: one against decides, else all must be for it.
    fn all(parts: &[Self]) -> Holds {
        if parts.iter().any(|part| part.holds == Holds::No) {
            Holds::No
        } else if parts.iter().all(|part| part.holds == Holds::Yes) {
            Holds::Yes
        } else {
            Holds::Undecided
        }
    }

    /// `0.12 (0.10 to 0.14)`, of a number that is shown as `of` it.
    fn text(&self, of: impl Fn(f64) -> f64, digits: usize) -> String {
        let shown = |number: f64| mercer_render::number(of(number), digits);
        if self.half.is_finite() {
            let ends = (shown(self.mean - self.half), shown(self.mean + self.half));
            format!("{} ({} to {})", shown(self.mean), ends.0, ends.1)
        } else {
            shown(self.mean)
        }
    }
}

/// "95 % over 10 repeats", or that there is only one.
fn over(repeats: usize) -> String {
    if repeats == 1 {
        "one repeat, which decides nothing".to_owned()
    } else {
        format!("95 % over {repeats} repeats")
    }
}

/// Ahead of every rival at every look: all looks must be for it, and one that is behind speaks against
/// it, by intervals over the repeats that all have.
pub(super) fn always_ahead(
    cells: &[&StudyCell],
    dataset: &str,
    better: &str,
    rivals: &[String],
    value: &str,
    larger: bool,
) -> (Holds, String) {
    let of = |method: &str| by_repeat(cells, dataset, method, value);
    let (leader, others) = (of(better), rivals.iter().map(|rival| of(rival)).collect::<Vec<_>>());
    let sign = if larger { 1.0 } else { -1.0 };
    let mut gains: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (repeat, own) in leader {
        let beside: Vec<&Curve> = others.iter().filter_map(|other| other.get(&repeat)).collect();
        if beside.len() < others.len() {
            continue;
        }
        for (step, value) in own {
            let theirs = beside.iter().filter_map(|curve| curve.get(&step));
            // Over the best of them.
            let gain = theirs.map(|other| sign * (value - other)).reduce(f64::min);
            gains.entry(step).or_default().extend(gain);
        }
    }
    ahead_at_all(&gains.into_values().collect::<Vec<_>>())
}

/// What the gains of each look, repeat by repeat, say together.
fn ahead_at_all(gains: &[Vec<f64>]) -> (Holds, String) {
    let looks: Vec<Shown> = gains.iter().filter_map(|of| Shown::of(of, gains.len())).collect();
    let Some(repeats) = looks.iter().map(|look| look.repeats).max() else { return not_run() };
    let count = |test: &dyn Fn(&Shown) -> bool| looks.iter().filter(|look| test(look)).count();
    let numbers = format!(
        "ahead of all others at {} of {} looks in the mean, beyond doubt at {}, behind beyond doubt at {}; {}",
        count(&|look| look.mean > 0.0),
        looks.len(),
        count(&|look| look.holds == Holds::Yes),
        count(&|look| look.holds == Holds::No),
        over(repeats)
    );
    (Shown::all(&looks), numbers)
}

/// The values of a method on a dataset by repeat.
fn by_repeat(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
) -> BTreeMap<u32, Curve> {
    let of_cell = |cell: &&&StudyCell| cell.key().dataset == dataset && cell.key().method == method;
    let records = cells.iter().filter(of_cell).flat_map(|cell| cell.records());
    let curve = |record: &mercer_records::Record| -> Curve {
        let points = record.result.curve.iter();
        points.filter_map(|point| Some((point.step, *point.values.get(value)?))).collect()
    };
    let curves = records.map(|record| (record.key.repeat, curve(record)));
    curves.filter(|(_, curve)| !curve.is_empty()).collect()
}

/// Each value lies below the next one: in the mean over the looks after the start that both have, or
/// at one step, as logarithms, so that early looks do not outweigh late ones.
pub(super) fn ordered(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    values: &[String],
    at: Option<u64>,
) -> (Holds, String) {
    let all: Vec<Vec<Curve>> =
        values.iter().map(|value| curves(cells, dataset, method, value)).collect();
    let wanted = |step: u64| at.map_or(step > 0, |at| step == at);
    let gain = |low: &Curve, high: &Curve| {
        let common = low.iter().filter(|(step, a)| wanted(**step) && **a > 0.0);
        let ratios = common.filter_map(|(step, a)| Some((high.get(step)? / a).ln()));
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
        summarise(&ratios).map(|spread| spread.mean)
    };
    let (mut parts, mut said) = (Vec::new(), Vec::new());
    for (pair, names) in all.windows(2).zip(values.windows(2)) {
        let gains: Vec<f64> =
            pair[0].iter().zip(&pair[1]).filter_map(|(low, high)| gain(low, high)).collect();
        let Some(shown) = Shown::of(&gains, values.len() - 1) else { return not_run() };
        said.push(format!("{} {}", names[1], shown.text(f64::exp, 3)));
        parts.push(shown);
    }
    let Some(first) = parts.first() else { return not_run() };
    let place = if at.is_some() { "" } else { ", geometric mean over the looks" };
    let numbers =
        format!("times the value before it{place}: {}; {}", said.join("; "), over(first.repeats));
    (Shown::all(&parts), numbers)
}

/// The value falls, and more of its fall lies in the second half of the looks than in the first.
pub(super) fn falls_late(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
) -> (Holds, String) {
    // First, at half time, last.
    let ends: Vec<[f64; 3]> = curves(cells, dataset, method, value)
        .into_iter()
        .map(|curve| curve.into_values().collect::<Vec<f64>>())
        .filter(|curve| curve.len() > 1)
        .map(|curve| [curve[0], curve[(curve.len() - 1) / 2], curve[curve.len() - 1]])
        .collect();
    let falls: Vec<f64> = ends.iter().map(|[first, _, last]| first - last).collect();
    let late: Vec<f64> =
        ends.iter().map(|[first, middle, last]| 2.0 * middle - last - first).collect();
    let (Some(fall), Some(later)) = (Shown::of(&falls, 2), Shown::of(&late, 2)) else {
        return not_run();
    };
    let mean = |place: usize| ends.iter().map(|ends| ends[place]).sum::<f64>() / ends.len() as f64;
    let (first, middle, last) = (mean(0), mean(1), mean(2));
    let share = 100.0 * (middle - last) / (first - last);
    let numbers = format!(
        "from {first:.4} by way of {middle:.4} at half time to {last:.4}: {share:.0} % of the fall in the second half; fall {}, of which later minus earlier {}; {}",
        fall.text(|x| x, 4),
        later.text(|x| x, 4),
        over(fall.repeats)
    );
    (Shown::all(&[fall, later]), numbers)
}

/// The value rises and then falls: the mean of its last tenth of looks lies below the best mean of
/// a tenth, which is where the mean over the repeats has it.
pub(super) fn rises_then_falls(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
) -> (Holds, String) {
    let all: Vec<Vec<f64>> = curves(cells, dataset, method, value)
        .into_iter()
        .map(|curve| curve.into_values().collect())
        .collect();
    let looks = all.iter().map(Vec::len).min().unwrap_or(0);
    if looks < 2 {
        return not_run();
    }
    let width = looks.div_ceil(10);
    let mean_of =
        |curve: &[f64], from: usize| curve[from..from + width].iter().sum::<f64>() / width as f64;
    let over_repeats =
        |from: usize| all.iter().map(|curve| mean_of(curve, from)).sum::<f64>() / all.len() as f64;
    let starts = 0..=looks - width;
    let best = starts
        .map(|from| (from, over_repeats(from)))
        .fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best });
    let end = looks - width;
    let lost: Vec<f64> =
        all.iter().map(|curve| mean_of(curve, best.0) - mean_of(curve, end)).collect();
    let Some(shown) = Shown::of(&lost, 1) else { return not_run() };
    let single = all.iter().filter_map(|curve| summarise(&curve[best.0..best.0 + width]));
    let wobble = single.map(|spread| spread.sample_std).fold(0.0, f64::max);
    let numbers = format!(
        "best mean over a tenth of the looks {:.4} (from look {}), over the last tenth {:.4}: lost {}; deviation of single looks there {wobble:.4}; {}",
        best.1,
        best.0 + 1,
        over_repeats(end),
        shown.text(|x| x, 4),
        over(shown.repeats)
    );
    (shown.holds, numbers)
}

/// The value peaks next to a step: an interior maximum that it rises to from a dip, there in 95 % of
/// resampled repeats.
pub(super) fn peaks_at(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
    at: u64,
    logarithms: bool,
) -> (Holds, String) {
    let Some(curves) = repeats(cells, dataset, method, value, logarithms) else {
        return not_run();
    };
    let count = curves.count();
    let Some(peak) = curves.peak() else {
        let holds = if count > 1 { Holds::No } else { Holds::Undecided };
        return (holds, format!("no peak, where {at} is claimed; {}", over(count)));
    };
    let nearest = curves.sizes().iter().copied().min_by_key(|size| size.abs_diff(at));
    // The step itself need not be among those looked at: its neighbours on either side count.
    let below = curves.sizes().iter().copied().rfind(|&size| size <= at);
    let above = curves.sizes().iter().copied().find(|&size| size >= at);
    let near = |size: u64| [below, above, nearest].contains(&Some(size));
    let shown = |height: f64| if logarithms { height.exp() } else { height };
    let mut found = format!("peak {:.3} at {}, where {at} is claimed", shown(peak.height), peak.at);
    if let (Some(below), Some(above)) = (below, above)
        && below < above
    {
        let _ = write!(found, " (not looked at; {below} and {above} are)");
    }
    let (largest, where_) = curves.largest();
    if largest > peak.height {
        let _ = write!(found, "; more still at {where_}: {:.3}", shown(largest));
    }
    let Some(intervals) = curves.intervals() else {
        return (Holds::Undecided, format!("{found}; {}", over(count)));
    };
    let (place, height) = (intervals.at, intervals.height);
    let holds = if near(place.0) && near(place.1) {
        Holds::Yes
    } else if place.1 < below.unwrap_or(0) || place.0 > above.unwrap_or(u64::MAX) {
        Holds::No
    } else {
        Holds::Undecided
    };
    let numbers = format!(
        "{found}; from {} to {}, height {:.3} to {:.3}, {}",
        place.0,
        place.1,
        shown(height.0),
        shown(height.1),
        over(count)
    );
    (holds, numbers)
}

fn repeats(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
    logarithms: bool,
) -> Option<Repeats> {
    let own = |cell: &&StudyCell| cell.key().dataset == dataset && cell.key().method == method;
    Repeats::of(cells.iter().copied().filter(own), value, logarithms)
}

/// The peaks of the values stand out of their curves by less and less, until there is none: over
/// resampled repeats, the same for each value.
pub(super) fn sharper(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    values: &[String],
) -> (Holds, String) {
    let found: Vec<Repeats> =
        values.iter().filter_map(|value| repeats(cells, dataset, method, value, false)).collect();
    let Some(first) = found.first().filter(|_| found.len() == values.len()) else {
        return not_run();
    };
    let peaks: Vec<Option<f64>> =
        found.iter().map(|curves| curves.peak().map(|peak| peak.prominence)).collect();
    let mut verdicts = Vec::new();
    let mut said = Vec::new();
    for (i, (value, peak)) in values.iter().zip(&peaks).enumerate() {
        let Some(rise) = peak else {
            said.push(format!("{value}: no peak"));
            continue;
        };
        let mut text = format!("{value}: {rise:.3}");
        if let (Some(next), Some(other)) = (found.get(i + 1), peaks.get(i + 1)) {
            let interval = found[i].sharper_by(next);
            let (low, high) = interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            verdicts.push(if low > 0.0 {
                Holds::Yes
            } else if high < 0.0 {
                Holds::No
            } else {
                Holds::Undecided
            });
            if interval.is_some() && other.is_some() {
                let _ = write!(text, ", more than the next by {low:.4} to {high:.4}");
            }
        }
        said.push(text);
    }
    // A peak that comes back is no falling row.
    let returns = peaks.windows(2).any(|pair| pair[0].is_none() && pair[1].is_some());
    let holds = if first.count() < 2 {
        Holds::Undecided
    } else if peaks[0].is_none() || returns || verdicts.contains(&Holds::No) {
        Holds::No
    } else if verdicts.contains(&Holds::Undecided) {
        Holds::Undecided
    } else {
        Holds::Yes
    };
    let numbers = format!(
        "peak above the higher of the dips beside it, {}; {}",
        said.join(", "),
        over(first.count())
    );
    (holds, numbers)
}

/// Along growing steps the value comes nearer to what it is at step 0, its limit: from step `from` to
/// the last.
pub(super) fn tends_to(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
    from: u64,
) -> (Holds, String) {
    let gaps = |curve: &Curve| {
        let limit = curve.get(&0)?;
        let (_, start) = curve.range(from..).next()?;
        let (_, end) = curve.last_key_value()?;
        Some(((start - limit).abs(), (end - limit).abs(), end - limit))
    };
    let gaps: Vec<(f64, f64, f64)> =
        curves(cells, dataset, method, value).iter().filter_map(gaps).collect();
    let numbers =
        |pick: &dyn Fn(&(f64, f64, f64)) -> f64| -> Vec<f64> { gaps.iter().map(pick).collect() };
    let nearer = Shown::of(&numbers(&|gap| gap.0 - gap.1), 1);
    let (Some(nearer), Some(left)) = (nearer, Shown::of(&numbers(&|gap| gap.2), 1)) else {
        return not_run();
    };
    let said = format!(
        "nearer to the limit at the last step than at {from} by {}; what is left there {}; {}",
        nearer.text(|x| x, 4),
        left.text(|x| x, 4),
        over(nearer.repeats)
    );
    (nearer.holds, said)
}

/// Share of its last value within which a curve has settled.
const SETTLED: f64 = 0.05;

/// The step from which on the mean of some curves stays within [`SETTLED`] of its last value, and the last.
fn settled(curves: &[Curve]) -> Option<(u64, u64)> {
    let looks = curves.iter().map(BTreeMap::len).min()?;
    let mean: Vec<(u64, f64)> = (0..looks)
        .filter_map(|look| {
            let at = |curve: &Curve| curve.iter().nth(look).map(|(step, y)| (*step, *y));
            let here: Vec<(u64, f64)> = curves.iter().filter_map(at).collect();
            let (step, _) = *here.first()?;
            Some((step, here.iter().map(|(_, y)| y).sum::<f64>() / here.len() as f64))
        })
        .collect();
    let &(last, end) = mean.last()?;
    let off = mean.iter().rposition(|(_, y)| (y - end).abs() > SETTLED * end.abs());
    Some((mean[off.map_or(0, |off| off + 1)].0, last))
}

/// Each of `settling` has settled after fewer steps than the one before it, `steps` being those between two
/// points of its curve. A point counts as one at least: what settles before the first look took up to one.
pub(super) fn settles_sooner(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    settling: &[String],
    steps: &[f64],
) -> (Holds, String) {
    // Of each value the steps that each repeat took, none where it still moves in the last third.
    let (mut taken, mut said) = (Vec::new(), Vec::new());
    for (value, &steps) in settling.iter().zip(steps) {
        let of_one = |curve: Curve| {
            let (settled, last) = settled(&[curve])?;
            (3 * settled <= 2 * last).then(|| settled.max(1) as f64 * steps)
        };
        let curves = curves(cells, dataset, method, value);
        if curves.is_empty() {
            return not_run();
        }
        let of_all: Vec<Option<f64>> = curves.into_iter().map(of_one).collect();
        let known: Vec<f64> = of_all.iter().flatten().map(|steps| steps.ln()).collect();
        said.push(match Shown::of(&known, 1) {
            Some(shown) if known.len() == of_all.len() => {
                format!("{value} after {} steps", shown.text(f64::exp, 0))
            }
            _ => {
                let missing = of_all.len() - known.len();
                format!("{value} not before the last third in {missing} of {}", of_all.len())
            }
        });
        taken.push(of_all);
    }
    let repeats = taken.iter().map(Vec::len).min().unwrap_or(0);
    let (mut parts, mut unknown) = (Vec::new(), false);
    for pair in taken.windows(2) {
        let gains: Option<Vec<f64>> = pair[0]
            .iter()
            .zip(&pair[1])
            .map(|(more, less)| Some((more.as_ref()? / less.as_ref()?).ln()))
            .collect();
        match gains.and_then(|gains| Shown::of(&gains, taken.len() - 1)) {
            Some(shown) => parts.push(shown),
            None => unknown = true,
        }
    }
    let holds = match Shown::all(&parts) {
        Holds::Yes if unknown => Holds::Undecided,
        _ if parts.is_empty() => Holds::Undecided,
        holds => holds,
    };
    (holds, format!("{}; {}", said.join("; "), over(repeats)))
}

/// Each of `falling` is smaller at the end than where its partner in `settling` has settled, which is
/// read off the mean over the repeats.
pub(super) fn falls_after(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    falling: &[String],
    settling: &[String],
) -> (Holds, String) {
    let (mut parts, mut said, mut repeats) = (Vec::new(), Vec::new(), usize::MAX);
    for (falls, settles) in falling.iter().zip(settling) {
        let (falls_of, settles_of) =
            (curves(cells, dataset, method, falls), curves(cells, dataset, method, settles));
        repeats = repeats.min(settles_of.len()).min(falls_of.len());
        let Some((settled, last)) = settled(&settles_of) else { return not_run() };
        // A curve that still falls comes within a share of its last value, too, just before it is cut off: what
        // has settled says something only with a third of the run after it.
        let gains: Vec<f64> = falls_of
            .iter()
            .filter_map(|curve| Some((curve.get(&settled)? / curve.get(&last)?).ln()))
            .collect();
        let Some(shown) = Shown::of(&gains, falling.len()).filter(|_| 3 * settled <= 2 * last)
        else {
            said.push(format!("{settles} does not settle before the last third"));
            continue;
        };
        said.push(format!("{falls} from step {settled} on 1/{}", shown.text(f64::exp, 3)));
        parts.push(shown);
    }
    if said.is_empty() {
        return not_run();
    }
    let holds = if parts.len() < falling.len() && Shown::all(&parts) == Holds::Yes {
        Holds::Undecided
    } else {
        Shown::all(&parts)
    };
    (holds, format!("{}; {}", said.join("; "), over(repeats)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_over_repeats_decides_and_one_repeat_does_not() {
        let holds = |numbers: &[f64], tests| Shown::of(numbers, tests).map(|shown| shown.holds);
        assert_eq!(holds(&[1.0, 1.1, 0.9], 1), Some(Holds::Yes));
        assert_eq!(holds(&[-1.0, -1.1, -0.9], 1), Some(Holds::No));
        assert_eq!(holds(&[1.0, -1.0, 0.5], 1), Some(Holds::Undecided));
        assert_eq!(holds(&[5.0], 1), Some(Holds::Undecided));
        assert_eq!(holds(&[], 1), None);
        // Nowhere any difference: then it is not smaller.
        assert_eq!(holds(&[0.0, 0.0], 1), Some(Holds::No));
        // t = −4.1 and −9.8 with two degrees of freedom, where 4.3 is the limit of one test.
        assert_eq!(holds(&[-1.0, -0.4, -0.9], 1), Some(Holds::Undecided));
        let close = [-1.0, -0.7, -0.9];
        assert_eq!(holds(&close, 1), Some(Holds::No));
        assert_eq!(holds(&close, 40), Some(Holds::Undecided));
    }

    /// One run led at every look, and the claim held; the rule is that one run decides nothing.
    #[test]
    fn who_leads_at_all_looks_of_one_run_is_undecided() {
        let one = [vec![0.4], vec![0.02], vec![0.01]];
        let (holds, numbers) = ahead_at_all(&one);
        assert_eq!(holds, Holds::Undecided);
        assert!(numbers.contains("at 3 of 3 looks"), "{numbers}");
        assert!(numbers.ends_with("one repeat, which decides nothing"), "{numbers}");
        let three = [vec![0.4, 0.41, 0.42], vec![0.02, 0.021, 0.022]];
        assert_eq!(ahead_at_all(&three).0, Holds::Yes);
        let once_behind = [three[0].clone(), vec![-0.2, -0.21, -0.2]];
        assert_eq!(ahead_at_all(&once_behind).0, Holds::No);
        let once_level = [three[0].clone(), vec![-0.2, 0.21, 0.0]];
        assert_eq!(ahead_at_all(&once_level).0, Holds::Undecided);
        assert_eq!(ahead_at_all(&[]).0, Holds::NotRun);
    }

    #[test]
    fn a_curve_has_settled_where_it_stays_near_its_end() {
        let curve = |values: &[f64]| -> Curve { (0..).zip(values.iter().copied()).collect() };
        // Within a twentieth at step 1 already, but not at step 2.
        assert_eq!(settled(&[curve(&[2.0, 1.0, 1.2, 1.04, 1.0])]), Some((3, 4)));
        assert_eq!(settled(&[curve(&[1.0, 1.0])]), Some((0, 1)));
        // Of two curves it is the mean that counts, over the looks that both have.
        assert_eq!(settled(&[curve(&[2.0, 1.2, 1.0]), curve(&[2.0, 0.8, 1.0, 9.0])]), Some((1, 2)));
        assert_eq!(settled(&[]), None);
        assert_eq!(settled(&[Curve::new()]), None);
    }

    #[test]
    fn all_must_be_for_and_one_against_is_enough() {
        let part = |holds| Shown { mean: 0.0, half: 0.0, repeats: 2, holds };
        let all =
            |parts: &[Holds]| Shown::all(&parts.iter().copied().map(part).collect::<Vec<_>>());
        assert_eq!(all(&[Holds::Yes, Holds::Yes]), Holds::Yes);
        assert_eq!(all(&[Holds::Yes, Holds::Undecided]), Holds::Undecided);
        assert_eq!(all(&[Holds::Yes, Holds::Undecided, Holds::No]), Holds::No);
    }
}
