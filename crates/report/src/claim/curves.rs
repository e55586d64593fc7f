//! Claims about the shape of curves: intervals over repeats of what each repeat shows. One repeat
//! decides nothing.

use super::{Answer, Holds, Rule, joint_p};
use crate::ExperimentError;
use crate::cell::{LEVEL, StudyCell};
use crate::peak::Repeats;
use mercer_render::probability;
use mercer_statistics::{StatisticsError, holm, mcnemar, p_of_interval, page, summarise};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Step to value, of one repeat.
type Curve = BTreeMap<u64, f64>;

/// The values of a method on a dataset, repeat by repeat; repeats without any are not among them.
fn curves(cells: &[&StudyCell], dataset: &str, method: &str, value: &str) -> Vec<Curve> {
    by_repeat(cells, dataset, method, value).into_values().collect()
}

fn not_run() -> Answer {
    (Holds::NotRun, "no curves".to_owned()).into()
}

/// The mean of one number a repeat with its 95 % interval, and which side of 0 that lies on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shown {
    mean: f64,
    half: f64,
    repeats: usize,
    holds: Holds,
    /// Two-sided; 1 of one repeat.
    p: f64,
}

impl Shown {
    /// `tests` is how many such numbers one claim asks for together: all must hold for it to hold, but
    /// one below 0 speaks against it, for which the level is shared.
    fn of(numbers: &[f64], tests: usize) -> Option<Self> {
        let spread = summarise(numbers)?;
        let half = |level| spread.half_width(level).unwrap_or(f64::INFINITY);
        let (mean, own) = (spread.mean, half(0.95));
        let shared = half(1.0 - 0.05 / tests.max(1) as f64);
        // A tie decides nothing: on a grid it says that the grid is too coarse.
        let holds = if mean - own > 0.0 {
            Holds::Yes
        } else if mean + shared < 0.0 {
            Holds::No
        } else {
            Holds::Undecided
        };
        let p = if spread.count > 1 {
            p_of_interval(mean, own, spread.count as f64 - 1.0)
        } else {
            1.0
        };
        Some(Self { mean, half: own, repeats: spread.count, holds, p })
    }

    /// A mean that is nearer to 0 than `margin` is level, and decides nothing.
    fn level_within(self, margin: f64) -> Self {
        if self.mean.abs() < margin { Self { holds: Holds::Undecided, ..self } } else { self }
    }

    /// What several of them say together, in words.
    fn answer(parts: &[Self], numbers: String) -> Answer {
        let each: Vec<(Holds, f64)> = parts.iter().map(|part| (part.holds, part.p)).collect();
        (Self::all(parts), numbers, joint_p(&each)).into()
    }

    /// Over all: one against decides, else all must be for it.
    fn all(parts: &[Self]) -> Holds {
        Holds::all(&parts.iter().map(|part| part.holds).collect::<Vec<_>>())
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

impl Holds {
    /// Over all: one against decides, else all must be for it.
    pub(super) fn all(parts: &[Self]) -> Self {
        if parts.contains(&Self::No) {
            Self::No
        } else if parts.iter().all(|part| *part == Self::Yes) {
            Self::Yes
        } else {
            Self::Undecided
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
) -> Answer {
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
    let answer = ahead_at_all(&gains.values().cloned().collect::<Vec<_>>());
    let repeats = gains.values().map(Vec::len).min().unwrap_or(0);
    let over_looks =
        |repeat: usize| gains.values().map(|of| of[repeat]).sum::<f64>() / gains.len() as f64;
    behind_in_the_mean(answer, &(0..repeats).map(over_looks).collect::<Vec<_>>())
}

/// Who is ahead at all looks is ahead in their mean: a mean gain over the looks, a number a repeat, that is shown to be
/// below 0 refutes it.
fn behind_in_the_mean(answer: Answer, means: &[f64]) -> Answer {
    match Shown::of(means, 1) {
        Some(shown) if shown.holds == Holds::No => {
            let mean = shown.text(|x| x, 4);
            let numbers = format!("{}; mean over the looks {mean}", answer.numbers);
            (Holds::No, numbers, shown.p).into()
        }
        _ => answer,
    }
}

/// What the gains of each look, repeat by repeat, say together.
fn ahead_at_all(gains: &[Vec<f64>]) -> Answer {
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
    Shown::answer(&looks, numbers)
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

/// Two errors that differ by a smaller share than this are level.
const PRACTICE: f64 = 0.01;

/// Each value lies below the next one: in the mean over the looks after the start that both have, or
/// at one step, as logarithms, so that early looks do not outweigh late ones. It holds if each step is shown, or if
/// Page's test over the repeats shows the trend and no step is shown to go against it.
pub(super) fn ordered(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    values: &[String],
    at: Option<u64>,
) -> Result<Answer, ExperimentError> {
    let all: Vec<BTreeMap<u32, Curve>> =
        values.iter().map(|value| by_repeat(cells, dataset, method, value)).collect();
    let wanted = |step: u64| at.map_or(step > 0, |at| step == at);
    let gain = |low: &Curve, high: &Curve| {
        let common = low.iter().filter(|(step, a)| wanted(**step) && **a > 0.0);
        let ratios = common.filter_map(|(step, a)| Some((high.get(step)? / a).ln()));
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
        summarise(&ratios).map(|spread| spread.mean)
    };
    let (mut parts, mut said) = (Vec::new(), Vec::new());
    // By repeat, the logarithm of each value over the first.
    let mut rows: BTreeMap<u32, Vec<f64>> =
        all.first().into_iter().flatten().map(|(repeat, _)| (*repeat, vec![0.0])).collect();
    for (pair, names) in all.windows(2).zip(values.windows(2)) {
        let gains: BTreeMap<u32, f64> = pair[0]
            .iter()
            .filter_map(|(repeat, low)| Some((*repeat, gain(low, pair[1].get(repeat)?)?)))
            .collect();
        let numbers: Vec<f64> = gains.values().copied().collect();
        let Some(shown) = Shown::of(&numbers, values.len() - 1) else { return Ok(not_run()) };
        let shown = shown.level_within(PRACTICE);
        said.push(format!("{} {}", names[1], shown.text(f64::exp, 3)));
        parts.push(shown);
        rows.retain(|repeat, _| gains.contains_key(repeat));
        for (repeat, row) in &mut rows {
            let last = row.last().copied().unwrap_or(0.0);
            row.push(last + gains[repeat]);
        }
    }
    let Some(first) = parts.first() else { return Ok(not_run()) };
    let place = if at.is_some() { "" } else { ", geometric mean over the looks" };
    let numbers =
        format!("times the value before it{place}: {}; {}", said.join("; "), over(first.repeats));
    let rows: Vec<Vec<f64>> = rows.into_values().collect();
    trend(&parts, &rows, numbers)
}

/// What the steps of an order and its trend say together; rows of logarithms, one a repeat.
fn trend(parts: &[Shown], rows: &[Vec<f64>], numbers: String) -> Result<Answer, ExperimentError> {
    let steps = Shown::answer(parts, numbers);
    if rows.len() < 2 || parts.len() < 2 || steps.holds == Holds::No {
        return Ok(steps);
    }
    // A step of less than the margin is a tie, whatever its sign.
    let tied: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let mut level = row[0];
            let held = |value: &f64| {
                if (value - level).abs() >= PRACTICE {
                    level = *value;
                }
                level
            };
            row.iter().map(held).collect()
        })
        .collect();
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
    Ok(Answer { rule: Rule::Trend, ..Answer::from((holds, numbers, p)) })
}

/// The value falls, and more of its fall lies in the second half of the looks than in the first.
pub(super) fn falls_late(cells: &[&StudyCell], dataset: &str, method: &str, value: &str) -> Answer {
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
    Shown::answer(&[fall, later], numbers)
}

/// The value rises and then falls: the mean of its last tenth of looks lies below the best mean of
/// a tenth, which is where the mean over the repeats has it.
pub(super) fn rises_then_falls(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    value: &str,
) -> Answer {
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
    Shown::answer(&[shown], numbers)
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
        return (Holds::NotRun, "no curves".to_owned());
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
        "{found}; from {} to {}, {} {:.3} to {:.3}, {}",
        place.0,
        place.1,
        // Single heights may have no mean: over draws of the features at M = n their variance has none.
        if logarithms { "the heights' geometric mean" } else { "height" },
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
        return (Holds::NotRun, "no curves".to_owned());
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
) -> Answer {
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
    Shown::answer(&[nearer], said)
}

/// The median over the last third of the looks, which single noisy looks hardly move.
fn late(curve: &Curve) -> Option<f64> {
    let before = curve.len() - curve.len().div_ceil(3);
    let values: Vec<f64> = curve.values().skip(before).copied().collect();
    summarise(&values).map(|spread| spread.median)
}

/// Steps between which a curve first came to a level: after these at the look before, by those at the look that
/// saw it there. None where it starts there, or never comes there.
fn reached(curve: &Curve, level: f64, steps: f64) -> Option<(f64, f64)> {
    let first = curve.values().position(|value| *value <= level).filter(|first| *first > 0)?;
    let at = |place: usize| curve.keys().nth(place).map(|look| *look as f64 * steps);
    Some((at(first - 1)?, at(first)?))
}

/// The steps of two curves, repeat by repeat, to the level that both come to: the larger of their values late in
/// training.
#[derive(Debug, Clone, PartialEq)]
struct Paces {
    /// Median of the steps of each, over the repeats that tell.
    medians: [Option<f64>; 2],
    /// Repeats in which the second took fewer, wherever between two looks each came there.
    fewer: usize,
    /// And in which it took more.
    more: usize,
    /// All, those with them that say neither.
    repeats: usize,
}

impl Paces {
    /// `steps` are those between two looks of each.
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

/// Of two neighbours among `values` the second comes to the level that both come to after fewer steps than the
/// first. `steps` are those between two looks of each; between them nothing is known of a curve.
pub(super) fn reaches_sooner(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    values: &[String],
    steps: &[f64],
) -> Result<Answer, ExperimentError> {
    let of_all: Vec<BTreeMap<u32, Curve>> =
        values.iter().map(|value| by_repeat(cells, dataset, method, value)).collect();
    let (mut all, mut said) = (Vec::new(), Vec::new());
    for ((curves, names), steps) in of_all.windows(2).zip(values.windows(2)).zip(steps.windows(2)) {
        let beside = |(repeat, first)| Some([first, curves[1].get(repeat)?]);
        let pairs: Vec<[&Curve; 2]> = curves[0].iter().filter_map(beside).collect();
        if pairs.is_empty() {
            return Ok(not_run());
        }
        let paces = Paces::of(&pairs, [steps[0], steps[1]]);
        let [first, second] =
            paces.medians.map(|steps| steps.map_or_else(|| "-".to_owned(), |n| format!("{n:.0}")));
        said.push(format!(
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
    if all.is_empty() {
        return Ok(not_run());
    }
    let numbers = format!(
        "steps (medians) to the first look at the level that both come to, the larger of their medians over the last third of the looks; a repeat counts where it does so wherever between two looks each came there, by the sign test: {}",
        said.join("; ")
    );
    let part = |of: &Paces| {
        let (fewer, more) = (of.sign_test(of.fewer), of.sign_test(of.more));
        if more < fewer { (Holds::No, more) } else { (Holds::Yes, fewer) }
    };
    let parts: Vec<(Holds, f64)> = all.iter().map(part).collect();
    Ok((sooner(&all)?, numbers, joint_p(&parts)).into())
}

/// Share by which what has converged may still move from the second third of the looks to the last.
const SETTLED: f64 = 0.05;

/// Logarithm of how many times as large a curve is in the second third of its looks after the start as in the
/// last, in geometric means.
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
fn falls_beside(falling: &[f64], settling: &[f64], of_many: usize) -> Option<(Shown, Holds)> {
    // Neither further down nor further up than that, and down.
    let (tests, bound) = (3 * of_many, SETTLED.ln_1p());
    let room =
        |sign: f64| -> Vec<f64> { settling.iter().map(|fall| bound - sign * fall).collect() };
    let falls = Shown::of(falling, tests)?;
    let converged = Shown::all(&[Shown::of(&room(1.0), tests)?, Shown::of(&room(-1.0), tests)?]);
    Some((falls, if converged == Holds::Yes { falls.holds } else { Holds::Undecided }))
}

/// Late in training, where each of `settling` has converged, its partner in `falling` still falls. An error that has
/// not converged within the run leaves the claim undecided.
pub(super) fn still_falls(
    cells: &[&StudyCell],
    dataset: &str,
    method: &str,
    falling: &[String],
    settling: &[String],
) -> Answer {
    let (mut parts, mut said, mut repeats) = (Vec::new(), Vec::new(), usize::MAX);
    for (falls, settles) in falling.iter().zip(settling) {
        let of = |value: &str| -> Vec<f64> {
            curves(cells, dataset, method, value).iter().filter_map(late_fall).collect()
        };
        let (of_falls, of_settles) = (of(falls), of(settles));
        repeats = repeats.min(of_falls.len()).min(of_settles.len());
        let Some(moves) = Shown::of(&of_settles, 1) else { return not_run() };
        let Some((fall, holds)) = falls_beside(&of_falls, &of_settles, falling.len()) else {
            return not_run();
        };
        parts.push((holds, fall.p));
        let (moves, fall) = (moves.text(f64::exp, 3), fall.text(f64::exp, 3));
        said.push(format!("{settles} to 1/{moves}, {falls} to 1/{fall}"));
    }
    if parts.is_empty() {
        return not_run();
    }
    let numbers = format!(
        "from the second third of the looks to the last (an error has converged that moves by less than {:.0} %): {}; {}",
        100.0 * SETTLED,
        said.join("; "),
        over(repeats)
    );
    let each: Vec<Holds> = parts.iter().map(|(holds, _)| *holds).collect();
    (Holds::all(&each), numbers, joint_p(&parts)).into()
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
        // A tie says that the grid is too coarse, and decides nothing.
        assert_eq!(holds(&[0.0, 0.0], 1), Some(Holds::Undecided));
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
        let Answer { holds, numbers, .. } = ahead_at_all(&one);
        assert_eq!(holds, Holds::Undecided);
        assert!(numbers.contains("at 3 of 3 looks"), "{numbers}");
        assert!(numbers.ends_with("one repeat, which decides nothing"), "{numbers}");
        let three = [vec![0.4, 0.41, 0.42], vec![0.02, 0.021, 0.022]];
        assert_eq!(ahead_at_all(&three).holds, Holds::Yes);
        let once_behind = [three[0].clone(), vec![-0.2, -0.21, -0.2]];
        assert_eq!(ahead_at_all(&once_behind).holds, Holds::No);
        let once_level = [three[0].clone(), vec![-0.2, 0.21, 0.0]];
        assert_eq!(ahead_at_all(&once_level).holds, Holds::Undecided);
        assert_eq!(ahead_at_all(&[]).holds, Holds::NotRun);
    }

    fn curve(values: &[f64]) -> Curve {
        (0..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn a_level_is_reached_between_two_looks() {
        let noisy = curve(&[9.0, 4.0, 1.5, 3.0, 1.0, 2.0, 1.2]);
        // The median of 1, 2 and 1.2.
        assert_eq!(late(&noisy), Some(1.2));
        assert_eq!(reached(&noisy, 1.5, 10.0), Some((10.0, 20.0)));
        assert_eq!(reached(&noisy, 4.0, 10.0), Some((0.0, 10.0)));
        assert_eq!(reached(&noisy, 9.0, 10.0), None, "it starts there");
        assert_eq!(reached(&noisy, 0.5, 10.0), None);
        assert_eq!(late(&Curve::new()), None);
    }

    /// Read off where they come to rest, no noisy curve of Figure 1(c) decided anything, since none does.
    #[test]
    fn noisy_curves_that_never_rest_are_told_apart() {
        // Down by 1/t, with noise from repeat to repeat and look to look.
        let noise =
            |repeat: u64, look: u64| ((13 * repeat * repeat + 5 * look * (repeat + 1)) % 17) as f64;
        let of = |repeat: u64, pace: f64| -> Curve {
            let value = |look: u64| (1.0 + noise(repeat, look) / 40.0) / (1.0 + pace * look as f64);
            (0..=60).map(|look| (look, value(look))).collect()
        };
        let runs = |first: f64, second: f64| -> Vec<[Curve; 2]> {
            (0..10).map(|repeat| [of(repeat, first), of(repeat + 3, second)]).collect()
        };
        let holds = |runs: &[[Curve; 2]], steps| {
            let pairs: Vec<[&Curve; 2]> = runs.iter().map(|[a, b]| [a, b]).collect();
            sooner(&[Paces::of(&pairs, steps)]).unwrap()
        };
        // A tenth of the steps a look: at the same pace a tenth of the steps, at a tenth of it about as many.
        assert_eq!(holds(&runs(1.0, 1.0), [100.0, 10.0]), Holds::Yes);
        assert_eq!(holds(&runs(1.0, 1.0), [10.0, 100.0]), Holds::No);
        assert_eq!(holds(&runs(1.0, 0.09), [100.0, 10.0]), Holds::Undecided);
        assert_eq!(holds(&runs(1.0, 1.0)[..1], [100.0, 10.0]), Holds::Undecided);
        // A run that leaves where it started says nothing.
        let fled = [curve(&[1.0, 2.0, 3.0]), curve(&[1.0, 0.5, 0.2])];
        assert_eq!(holds(&[fled], [10.0, 10.0]), Holds::Undecided);
    }

    /// What two looks cannot tell apart is not told apart.
    #[test]
    fn a_difference_within_a_look_decides_nothing() {
        let fast = curve(&[9.0, 1.0, 1.0, 1.0]);
        let slow = curve(&[9.0, 2.0, 1.0, 1.0]);
        // After 10 to 20 steps, and after none to 10.
        let found = Paces::of(&[[&slow, &fast]; 8], [10.0, 10.0]);
        assert_eq!(
            found,
            Paces { medians: [Some(20.0), Some(10.0)], fewer: 0, more: 0, repeats: 8 },
            "both may have come there after 10"
        );
        let apart = Paces::of(&[[&slow, &fast]; 8], [10.0, 9.0]);
        assert_eq!((apart.fewer, apart.more), (8, 0));
    }

    #[test]
    fn the_sign_test_holds_for_all_neighbours_and_refutes_by_one() {
        let paces = |fewer, more| Paces { medians: [None; 2], fewer, more, repeats: 10 };
        let holds = |all: &[Paces]| sooner(all).unwrap();
        // 2 · 11/1024 for nine of ten, 2 · 56/1024 for eight.
        assert!((paces(9, 0).sign_test(9) - 22.0 / 1024.0).abs() < 1e-12);
        assert_eq!(holds(&[paces(9, 0), paces(10, 0)]), Holds::Yes);
        assert_eq!(holds(&[paces(9, 0), paces(8, 0)]), Holds::Undecided);
        // Repeats that do not tell count against it.
        assert_eq!(holds(&[paces(5, 0)]), Holds::Undecided);
        assert_eq!(holds(&[paces(9, 0), paces(10, 0), paces(0, 10)]), Holds::No);
        // 0.02 of one pair among three is no refutation.
        assert_eq!(holds(&[paces(9, 0), paces(10, 0), paces(0, 9)]), Holds::Undecided);
    }

    #[test]
    fn the_late_fall_leaves_out_the_start_and_the_first_third() {
        let e = std::f64::consts::E;
        let fall = late_fall(&curve(&[100.0, 50.0, 20.0, e, e, 1.0, 1.0])).unwrap();
        assert!((fall - 1.0).abs() < 1e-12);
        assert_eq!(late_fall(&curve(&[2.0, 1.0, 1.0])), None, "no thirds");
        assert_eq!(late_fall(&curve(&[2.0, 1.0, 1.0, 0.0])), None, "no logarithm");
    }

    #[test]
    fn what_falls_after_convergence_needs_convergence() {
        let holds = |falling: &[f64], settling: &[f64]| {
            falls_beside(falling, settling, 1).map(|(_, holds)| holds)
        };
        let (still, falls) = ([0.01, -0.01, 0.005, 0.0], [0.2, 0.22, 0.19, 0.21]);
        assert_eq!(holds(&falls, &still), Some(Holds::Yes));
        // The error falls on by a fifth: it has not converged.
        assert_eq!(holds(&falls, &falls), Some(Holds::Undecided));
        // Or rises.
        assert_eq!(holds(&falls, &falls.map(|fall| -fall)), Some(Holds::Undecided));
        assert_eq!(holds(&falls.map(|fall| -fall), &still), Some(Holds::No));
        assert_eq!(holds(&falls, &[0.2, -0.2, 0.1, 0.0]), Some(Holds::Undecided));
        assert_eq!(holds(&[0.2], &[0.0]), Some(Holds::Undecided));
        assert_eq!(holds(&[], &[]), None);
    }

    #[test]
    fn all_must_be_for_and_one_against_is_enough() {
        let part = |holds| Shown { mean: 0.0, half: 0.0, repeats: 2, holds, p: 0.5 };
        let all =
            |parts: &[Holds]| Shown::all(&parts.iter().copied().map(part).collect::<Vec<_>>());
        assert_eq!(all(&[Holds::Yes, Holds::Yes]), Holds::Yes);
        assert_eq!(all(&[Holds::Yes, Holds::Undecided]), Holds::Undecided);
        assert_eq!(all(&[Holds::Yes, Holds::Undecided, Holds::No]), Holds::No);
    }

    /// Behind at almost all of 84 looks, none of them by itself beyond doubt.
    #[test]
    fn who_is_behind_in_the_mean_is_not_ahead_at_all_looks() {
        let open = || Answer::from((Holds::Undecided, "n".to_owned(), 0.5));
        assert_eq!(behind_in_the_mean(open(), &[-0.5, -0.55, -0.45]).holds, Holds::No);
        assert_eq!(behind_in_the_mean(open(), &[-0.5, 0.55, -0.45]).holds, Holds::Undecided);
        assert_eq!(behind_in_the_mean(open(), &[-0.5]).holds, Holds::Undecided);
    }

    /// Three steps were shown and one was open, so that a trend in all repeats was none.
    #[test]
    fn a_trend_over_the_repeats_decides_what_single_steps_do_not() {
        let rows: Vec<Vec<f64>> =
            (0..10).map(|r| vec![0.0, 0.1 - 0.05 * f64::from(r % 4), 0.8, 1.1, 1.2]).collect();
        let step = |at: usize| {
            let gains: Vec<f64> = rows.iter().map(|row| row[at + 1] - row[at]).collect();
            Shown::of(&gains, 4).unwrap().level_within(PRACTICE)
        };
        let parts: Vec<Shown> = (0..4).map(step).collect();
        assert_eq!(Shown::all(&parts), Holds::Undecided);
        let found = trend(&parts, &rows, String::new()).unwrap();
        assert_eq!((found.holds, found.rule), (Holds::Yes, Rule::Trend));
        // Ten repeats on one point of the grid.
        let tied = vec![vec![0.0, 0.0, 0.0]; 10];
        let none = [Shown::of(&[0.0; 10], 2).unwrap(); 2];
        let found = trend(&none, &tied, String::new()).unwrap();
        assert_eq!(found.holds, Holds::Undecided);
        // A thousandth more in every repeat is level.
        let trifle = Shown::of(&[0.001, 0.0011, 0.0009], 1).unwrap();
        assert_eq!(trifle.holds, Holds::Yes);
        assert_eq!(trifle.level_within(PRACTICE).holds, Holds::Undecided);
    }
}
