//! Claims about what was looked at along training, repeat by repeat.

use super::{Answer, Holds, Rule, joint_p, of};
use crate::ExperimentError;
use crate::cell::StudyCell;
use mercer_records::CurvePoint;
use mercer_render::probability;
use mercer_statistics::{Summary, p_of_interval, summarise};
use std::collections::BTreeMap;

/// The curves of a method, one a repeat and cell.
fn curves_of<'a>(cells: &[&'a StudyCell], method: &str) -> Vec<&'a [CurvePoint]> {
    let own = cells.iter().copied().filter(|cell| cell.key().method == method);
    let curves = own.flat_map(StudyCell::records).map(|record| record.result.curve.as_slice());
    curves.filter(|curve| !curve.is_empty()).collect()
}

/// `n_test / n_train` of the splits behind the curves, the largest of them: repeats whose training rows overlap are
/// not independent. 0 where the test part is fixed; of k datasets, whose splits have nothing in common, a kth.
fn ratio_of(cells: &[&StudyCell], dataset: Option<&str>, method: &str) -> f64 {
    let own = cells.iter().filter(|cell| {
        let key = cell.key();
        key.method == method && dataset.is_none_or(|dataset| key.dataset == dataset)
    });
    let ratios: Vec<f64> = own.map(|cell| cell.test_over_train()).collect();
    ratios.iter().copied().fold(0.0, f64::max) / ratios.len().max(1) as f64
}

/// Half of the 95 % interval of a mean, by the corrected t where splits overlap; none for one number.
fn half_width(spread: &Summary, ratio: f64) -> Option<f64> {
    let plain = spread.half_width(0.95).filter(|_| spread.count > 1)?;
    Some(plain * (1.0 + spread.count as f64 * ratio).sqrt())
}

/// Two-sided p that the mean of some numbers is `from`; 1 of one number.
fn p_from(spread: &Summary, ratio: f64, from: f64) -> f64 {
    half_width(spread, ratio)
        .map_or(1.0, |half| p_of_interval(spread.mean - from, half, spread.count as f64 - 1.0))
}

/// What an interval of [`half_width`] is.
const fn interval(ratio: f64) -> &'static str {
    if ratio > 0.0 { "corrected 95 % interval" } else { "95 % interval" }
}

/// Mean of `better` minus `worse` over the points of a curve and over what both stand for.
fn mean_gain(curve: &[CurvePoint], better: &str, worse: &str) -> Option<f64> {
    let mut gains = Vec::new();
    for values in curve.iter().map(|point| &point.values) {
        for (name, value) in values {
            let Some(rest) = name.strip_prefix(better) else { continue };
            if !rest.is_empty() && !rest.starts_with(' ') {
                continue;
            }
            if let Some(other) = values.get(&format!("{worse}{rest}")) {
                gains.push(value - other);
            }
        }
    }
    summarise(&gains).map(|spread| spread.mean)
}

/// How far ahead a value is claimed to be.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Goal {
    /// By about so much.
    pub by: Option<f64>,
    /// Behind by no more than this.
    pub within: Option<f64>,
}

impl Goal {
    /// What the 95 % interval `mean ± half` of the gain says.
    fn met(self, mean: f64, half: f64) -> Holds {
        let (low, high) = (mean - half, mean + half);
        let least = -self.within.unwrap_or(0.0);
        if high < least || self.by.is_some_and(|by| high < by || by < low) {
            Holds::No
        } else if low > least {
            Holds::Yes
        } else {
            Holds::Undecided
        }
    }

    fn in_words(self) -> String {
        let by = self.by.map_or_else(String::new, |by| format!(", claimed {by}"));
        let within = self.within.map_or_else(String::new, |within| format!(", margin {within}"));
        by + &within
    }
}

pub(super) fn curve_ahead(
    cells: &[&StudyCell],
    method: &str,
    better: &str,
    worse: &str,
    larger: bool,
    goal: Goal,
) -> Answer {
    let sign = if larger { 1.0 } else { -1.0 };
    let gains: Vec<f64> = curves_of(cells, method)
        .into_iter()
        .filter_map(|curve| Some(sign * mean_gain(curve, better, worse)?))
        .collect();
    let Some(spread) = summarise(&gains) else {
        return (Holds::NotRun, "no curves".to_owned()).into();
    };
    if spread.count < 2 {
        return (Holds::Undecided, format!("mean gain {:.4} in one repeat", spread.mean)).into();
    }
    let ratio = ratio_of(cells, None, method);
    let half = half_width(&spread, ratio).unwrap_or(f64::INFINITY);
    let holds = goal.met(spread.mean, half);
    let numbers = format!(
        "mean gain {:.4} ± {half:.4} ({}) over {} curves{}",
        spread.mean,
        interval(ratio),
        spread.count,
        goal.in_words()
    );
    let least = -goal.within.unwrap_or(0.0);
    let from = match goal.by {
        Some(by) if holds == Holds::No && spread.mean + half >= least => by,
        _ => least,
    };
    (holds, numbers, p_from(&spread, ratio, from)).into()
}

/// The corrected test on each dataset: all for it, or one against it, decides.
pub(super) fn end_beats(
    cells: &[&StudyCell],
    method: &str,
    better: &str,
    worse: &str,
    larger: bool,
) -> Result<Answer, ExperimentError> {
    let (mut said, mut each) = (Vec::new(), Vec::new());
    let errors = !better.starts_with("accuracy");
    for cell in cells.iter().filter(|cell| cell.key().method == method) {
        let Some(test) = cell.compare_at_end(better, worse)? else { continue };
        let gain = if larger { test.mean_difference } else { -test.mean_difference };
        let size = summarise(&cell.at_end(worse).into_iter().map(|(_, v)| v).collect::<Vec<_>>());
        // A tenth of a point of accuracy in percent, a hundredth of an error.
        let margin = if errors { 0.01 * size.map_or(0.0, |size| size.mean.abs()) } else { 0.1 };
        let shown = test.p_two_sided < 0.05 && !test.degenerate && gain.abs() >= margin;
        each.push((
            match (shown, gain > 0.0) {
                (true, true) => Holds::Yes,
                (true, false) => Holds::No,
                _ => Holds::Undecided,
            },
            test.p_two_sided,
        ));
        let p = probability(test.p_two_sided);
        said.push(format!("{} {gain:+.4} (corrected p = {p})", cell.key().dataset));
    }
    if each.is_empty() {
        return Ok((Holds::NotRun, "no curves of two repeats".to_owned()).into());
    }
    let holds = Holds::all(&each.iter().map(|(holds, _)| *holds).collect::<Vec<_>>());
    let numbers = format!("mean gain on {}", said.join(", "));
    let answer = Answer::from((holds, numbers, joint_p(&each)));
    Ok(Answer { rule: Rule::EachDataset, ..answer })
}

pub(super) fn curve_falls(
    cells: &[&StudyCell],
    method: &str,
    value: &str,
    rises: bool,
    late: bool,
) -> Answer {
    let ends: Vec<(f64, f64)> = curves_of(cells, method)
        .into_iter()
        .filter_map(|curve| {
            let along: Vec<f64> =
                curve.iter().filter_map(|point| point.values.get(value).copied()).collect();
            let last = *along.last()?;
            Some((along[if late { (along.len() - 1) / 2 } else { 0 }], last))
        })
        .collect();
    if ends.is_empty() {
        return (Holds::NotRun, "no curves".to_owned()).into();
    }
    let sign = if rises { 1.0 } else { -1.0 };
    let changes: Vec<f64> = ends.iter().map(|(first, last)| sign * (last - first)).collect();
    let ratio = ratio_of(cells, None, method);
    let (Some((holds, said)), Some(spread)) = (moved(&changes, ratio), summarise(&changes)) else {
        return (Holds::NotRun, "no curves".to_owned()).into();
    };
    let count = changes.iter().filter(|change| **change > 0.0).count();
    let mean = |of: fn(&(f64, f64)) -> f64| ends.iter().map(of).sum::<f64>() / ends.len() as f64;
    let (does, names) = if rises { ("rises", "rise") } else { ("falls", "fall") };
    let numbers = format!(
        "{does} along {count} of {} curves, from {}{} to {} in the mean; {names} {said}",
        ends.len(),
        mercer_render::number(mean(|ends| ends.0), 4),
        if late { " at half time" } else { "" },
        mercer_render::number(mean(|ends| ends.1), 4),
    );
    // What no curve moves does not move as claimed: that needs no test.
    let still = holds == Holds::No && spread.min == 0.0 && spread.max == 0.0;
    let p = if still { None } else { Some(p_from(&spread, ratio, 0.0)) };
    Answer { p, ..(holds, numbers).into() }
}

/// What the changes along some curves say, positive as claimed: the interval of their mean, since one row of
/// one curve that goes against the others refutes nothing. What no curve moves does not move as claimed.
fn moved(changes: &[f64], ratio: f64) -> Option<(Holds, String)> {
    let (holds, said) = sign_of(changes, ratio)?;
    let still = changes.len() > 1 && changes.iter().all(|change| *change == 0.0);
    let over = if changes.len() > 1 {
        format!("{} over curves", interval(ratio))
    } else {
        "one curve".to_owned()
    };
    Some((if still { Holds::No } else { holds }, format!("{said} ({over})")))
}

/// The cell of a method with curves: one that is a whole curve has no score beside it.
fn with_curves<'a>(cells: &[&'a StudyCell], dataset: &str, method: &str) -> Option<&'a StudyCell> {
    let own = |cell: &&StudyCell| cell.key().dataset == dataset && cell.key().method == method;
    let curved = |cell: &&StudyCell| cell.records().any(|record| !record.result.curve.is_empty());
    cells.iter().copied().find(own).filter(|cell| curved(cell))
}

/// Pairs of fits below which any order is chance: one pair is in order every other time.
const FEWEST_PAIRS: usize = 5;

/// A value and an accuracy at the end of training, by repeat.
type Ends = BTreeMap<u32, (f64, f64)>;

/// Whether a smaller value goes with a higher accuracy, over the fits of all these variants; the first has all
/// the methods.
pub(super) fn goes_with(
    variants: &[&[&StudyCell]],
    dataset: &str,
    methods: &[String],
    value: &str,
) -> Answer {
    let ends_of = |cells: &[&StudyCell], method: &String| -> Option<Ends> {
        let cell = of(cells, dataset, method)?;
        let (values, scores) = (by_repeat(cell, value), by_repeat(cell, "accuracy"));
        let last = |curve: &BTreeMap<u64, f64>| curve.last_key_value().map(|(_, value)| *value);
        let of_repeat = |(repeat, curve): (&u32, &BTreeMap<u64, f64>)| {
            Some((*repeat, (last(curve)?, last(scores.get(repeat)?)?)))
        };
        Some(values.iter().filter_map(of_repeat).collect())
    };
    let mut fits = Vec::new();
    for cells in variants {
        fits.extend(methods.iter().filter_map(|method| ends_of(cells, method)));
    }
    let ratio = variants
        .iter()
        .flat_map(|cells| methods.iter().map(|method| ratio_of(cells, Some(dataset), method)))
        .fold(0.0, f64::max);
    let ordered = if fits.len() < methods.len() { None } else { in_order(&fits, ratio) };
    ordered.map_or_else(
        || (Holds::NotRun, "no curves".to_owned()).into(),
        |(holds, said, p)| {
            (holds, format!("Kendall's tau of smaller {value} with higher accuracy at the end of training, {said}"), p).into()
        },
    )
}

/// Kendall's tau of a smaller value with a higher accuracy, in each repeat that all fits have: what is equal is
/// neither in order nor against it.
fn in_order(fits: &[Ends], ratio: f64) -> Option<(Holds, String, f64)> {
    let tau = |repeat: &u32| {
        let row: Option<Vec<(f64, f64)>> = fits.iter().map(|of| of.get(repeat).copied()).collect();
        let row = row?;
        let pairs =
            row.iter().enumerate().flat_map(|(i, a)| row[i + 1..].iter().map(move |b| (a, b)));
        let order = |(a, b): (&(f64, f64), &(f64, f64))| match (b.0 - a.0) * (a.1 - b.1) {
            product if product > 0.0 => 1.0,
            product if product < 0.0 => -1.0,
            _ => 0.0,
        };
        let orders: Vec<f64> = pairs.map(order).collect();
        Some((orders.len(), summarise(&orders)?.mean))
    };
    let taus: Vec<(usize, f64)> = fits.first()?.keys().filter_map(tau).collect();
    let &(pairs, _) = taus.first()?;
    let values: Vec<f64> = taus.iter().map(|(_, tau)| *tau).collect();
    let (holds, said) = sign_of(&values, ratio)?;
    let holds = if pairs < FEWEST_PAIRS { Holds::Undecided } else { holds };
    let said =
        format!("over {pairs} pairs of {} fits and {} repeats: {said}", fits.len(), values.len());
    let p = summarise(&values).map_or(1.0, |spread| p_from(&spread, ratio, 0.0));
    Some((holds, said, p))
}

/// Step to value, of each repeat of a cell.
fn by_repeat(cell: &StudyCell, value: &str) -> BTreeMap<u32, BTreeMap<u64, f64>> {
    let along = |points: &[CurvePoint]| -> BTreeMap<u64, f64> {
        points.iter().filter_map(|point| Some((point.step, *point.values.get(value)?))).collect()
    };
    cell.records().map(|record| (record.key.repeat, along(&record.result.curve))).collect()
}

/// What an interval over repeats says of the sign of their mean; one repeat decides nothing.
fn sign_of(gains: &[f64], ratio: f64) -> Option<(Holds, String)> {
    let spread = summarise(gains)?;
    let half = half_width(&spread, ratio);
    let holds = match half {
        Some(half) if spread.mean - half > 0.0 => Holds::Yes,
        Some(half) if spread.mean + half < 0.0 => Holds::No,
        _ => Holds::Undecided,
    };
    let half = half.map_or_else(String::new, |half| format!(" ± {half:.4}"));
    Some((holds, format!("{:+.4}{half}", spread.mean)))
}

/// Whether a method comes from behind: before `at` and from there on, or at the first step and the last.
pub(super) fn overtakes(
    cells: &[&StudyCell],
    dataset: &str,
    [method, rival]: [&str; 2],
    value: &str,
    larger: bool,
    at: Option<u64>,
) -> Answer {
    let not_run = |what: &str| Answer::from((Holds::NotRun, what.to_owned()));
    let (Some(own), Some(theirs)) =
        (with_curves(cells, dataset, method), with_curves(cells, dataset, rival))
    else {
        return not_run("no curves");
    };
    let sign = if larger { 1.0 } else { -1.0 };
    let rivals = by_repeat(theirs, value);
    let gains: Vec<BTreeMap<u64, f64>> = by_repeat(own, value)
        .into_iter()
        .filter_map(|(repeat, own)| {
            let rival = rivals.get(&repeat)?;
            let gain = |(step, value): (u64, f64)| Some((step, sign * (value - rival.get(&step)?)));
            Some(own.into_iter().filter_map(gain).collect())
        })
        .filter(|gains: &BTreeMap<u64, f64>| gains.len() > 1)
        .collect();
    crossing(&gains, at, ratio_of(cells, Some(dataset), method))
        .map_or_else(|| not_run("no curves with two common points"), Answer::from)
}

/// Whether gains by step, a map a repeat, are below 0 before `at` and above from there on, or at the first step
/// and the last: in the mean over the steps of each side by its interval, and nowhere against it in the mean
/// over repeats, which a mean over steps would hide.
fn crossing(
    gains: &[BTreeMap<u64, f64>],
    at: Option<u64>,
    ratio: f64,
) -> Option<(Holds, String, f64)> {
    let steps: Vec<u64> = gains.first()?.keys().copied().collect();
    let (first, last) = (*steps.first()?, *steps.last()?);
    let early = |step: u64| at.map_or(step == first, |at| step < at);
    let late = |step: u64| at.map_or(step == last, |at| step >= at);
    let mean = |part: &dyn Fn(u64) -> bool| -> Vec<f64> {
        let of = |gains: &BTreeMap<u64, f64>| {
            let there: Vec<f64> =
                gains.iter().filter(|(step, _)| part(**step)).map(|(_, gain)| *gain).collect();
            summarise(&there).map(|summary| summary.mean)
        };
        gains.iter().filter_map(of).collect()
    };
    let (sooner, later) = (mean(&early), mean(&late));
    let (before, after) = (sign_of(&sooner, ratio)?, sign_of(&later, ratio)?);
    let p_of = |gains: &[f64]| summarise(gains).map_or(1.0, |spread| p_from(&spread, ratio, 0.0));
    // The claim wants the first below 0.
    let turned = match before.0 {
        Holds::Yes => Holds::No,
        Holds::No => Holds::Yes,
        other => other,
    };
    let p = joint_p(&[(turned, p_of(&sooner)), (after.0, p_of(&later))]);
    let against = |step: &u64| {
        let wanted = match (early(*step), late(*step)) {
            (true, _) => -1.0,
            (_, true) => 1.0,
            _ => return None,
        };
        let there: Vec<f64> = gains.iter().filter_map(|gains| gains.get(step).copied()).collect();
        let (mean, (_, said)) = (summarise(&there)?.mean, sign_of(&there, ratio)?);
        (mean * wanted < 0.0).then(|| format!("{said} at {step}"))
    };
    let against: Vec<String> = steps.iter().filter_map(against).collect();
    let holds = match (before.0, after.0) {
        (Holds::No, Holds::Yes) if against.is_empty() => Holds::Yes,
        (Holds::Yes, _) | (_, Holds::No) => Holds::No,
        _ => Holds::Undecided,
    };
    let against =
        if against.is_empty() { String::new() } else { format!(", but {}", against.join(", ")) };
    let (here, there) = at.map_or_else(
        || (format!("at {first}"), format!("at {last}")),
        |at| (format!("below {at}"), format!("from {at} to {last}")),
    );
    let numbers = format!(
        "mean gain {} {here}, {} {there}{against} ({}s over {} repeats)",
        before.1,
        after.1,
        interval(ratio),
        gains.len()
    );
    Some((holds, numbers, p))
}

/// Whether the values of each curve end alike, and above where they began.
pub(super) fn ends_alike(
    cells: &[&StudyCell],
    method: &str,
    values: &[String],
    margin: f64,
) -> (Holds, String) {
    let (mut alike, mut curves, mut first) = (0, 0, None);
    let mut rises = vec![Vec::new(); values.len()];
    for curve in curves_of(cells, method) {
        let ends: Vec<(f64, f64)> = values
            .iter()
            .filter_map(|value| {
                let mut along = curve.iter().filter_map(|point| point.values.get(value).copied());
                let start = along.next()?;
                Some((start, along.next_back().unwrap_or(start)))
            })
            .collect();
        if ends.len() < values.len() {
            continue;
        }
        curves += 1;
        let last = || ends.iter().map(|(_, end)| *end);
        let spread =
            last().fold(f64::NEG_INFINITY, f64::max) - last().fold(f64::INFINITY, f64::min);
        alike += usize::from(spread <= margin + 1e-12);
        rises.iter_mut().zip(&ends).for_each(|(rises, (start, end))| rises.push(end - start));
        first.get_or_insert(ends);
    }
    let Some(first) = first else { return (Holds::NotRun, "no curves".to_owned()) };
    let risen = rises.iter().all(|rises| summarise(rises).is_some_and(|rise| rise.mean > 0.0));
    let holds = if alike == curves && risen { Holds::Yes } else { Holds::No };
    let named: Vec<String> = values
        .iter()
        .zip(&first)
        .map(|(value, (start, end))| format!("{value} {start:.4} to {end:.4}"))
        .collect();
    let risen = if risen { "" } else { "; not all rise in the mean over curves" };
    let numbers = format!(
        "ends within {margin} of each other in {alike} of {curves} curves; in the first {}{risen}",
        named.join(", ")
    );
    (holds, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One training row in one of five curves had refuted a claim.
    #[test]
    fn one_curve_against_the_others_refutes_nothing() {
        let of = |changes: &[f64]| moved(changes, 0.0).unwrap().0;
        assert_eq!(of(&[0.2, 0.3, 0.25, 0.22, -0.01]), Holds::Yes);
        assert_eq!(of(&[0.2, 0.3, 0.25, -0.3, -0.01]), Holds::Undecided);
        assert_eq!(of(&[-0.2, -0.3, -0.25, -0.22, 0.01]), Holds::No);
        assert_eq!(of(&[0.0, 0.0, 0.0]), Holds::No);
        assert_eq!(of(&[0.2]), Holds::Undecided);
        assert_eq!(of(&[0.0]), Holds::Undecided);
        assert_eq!(moved(&[], 0.0), None);
        assert_eq!(moved(&[0.2], 0.0).unwrap().1, "+0.2000 (one curve)");
        // By 12.706 times the standard error of two.
        let two = |ratio| moved(&[1.0, 3.0], ratio).unwrap().1;
        assert_eq!(two(0.0), "+2.0000 ± 12.7062 (95 % interval over curves)");
        // And by that times √(1 + 2 · 1.5) where the test rows are one and a half times the training rows.
        assert_eq!(two(1.5), "+2.0000 ± 25.4124 (corrected 95 % interval over curves)");
    }

    /// Three fits are three pairs, which chance puts in order every sixth time.
    #[test]
    fn an_order_of_fits_needs_pairs_and_repeats() {
        let fits = |ends: &[(f64, f64)]| -> Vec<Ends> {
            let repeats = |end: (f64, f64)| (0..3).map(move |r| (r, (end.0 + f64::from(r), end.1)));
            ends.iter().map(|end| repeats(*end).collect()).collect()
        };
        let falling = [(4.0, 0.1), (3.0, 0.2), (2.0, 0.3), (1.0, 0.4)];
        let rising = falling.map(|(value, accuracy)| (-value, accuracy));
        let holds = |ends: &[(f64, f64)]| in_order(&fits(ends), 0.0).map(|(holds, ..)| holds);
        assert_eq!(holds(&falling), Some(Holds::Yes));
        assert_eq!(holds(&rising), Some(Holds::No));
        assert_eq!(holds(&falling[..3]), Some(Holds::Undecided));
        let (_, said, _) = in_order(&fits(&[falling[0], falling[1], (2.0, 0.15)]), 0.0).unwrap();
        // Two pairs in order, one against.
        assert_eq!(said, "over 3 pairs of 3 fits and 3 repeats: +0.3333 ± 0.0000");
        assert_eq!(in_order(&[], 0.0), None);
        assert_eq!(in_order(&[Ends::new(), Ends::new()], 0.0), None);
    }

    /// A mean over 50 to 500 images hid that the rival was behind at 500 already.
    #[test]
    fn who_overtakes_was_behind_at_every_look_before() {
        let of = |rows: [[f64; 4]; 3]| -> (Holds, String, f64) {
            let along = |row: [f64; 4]| [50, 500, 1000, 5000].into_iter().zip(row).collect();
            crossing(&rows.map(along), Some(750), 0.0).unwrap()
        };
        let plain =
            [[-0.30, -0.02, 0.01, 0.02], [-0.31, -0.01, 0.02, 0.02], [-0.32, -0.02, 0.01, 0.03]];
        assert_eq!(of(plain).0, Holds::Yes);
        let early = plain.map(|[a, b, c, d]| [a, -b, c, d]);
        let (holds, said, p) = of(early);
        assert!(p < 0.05, "{p}");
        assert_eq!(holds, Holds::Undecided);
        assert!(said.contains(", but +0.0167 ± 0.0143 at 500 ("), "{said}");
        assert_eq!(of(plain.map(|row| row.map(|gain| -gain))).0, Holds::No);
        // First and last alone, where no step is claimed.
        let ends: Vec<BTreeMap<u64, f64>> =
            early.iter().map(|row| [50, 500, 1000, 5000].into_iter().zip(*row).collect()).collect();
        assert_eq!(crossing(&ends, None, 0.0).unwrap().0, Holds::Yes);
        assert_eq!(crossing(&[], None, 0.0), None);
    }

    #[test]
    fn an_interval_that_excludes_what_is_claimed_contradicts_it() {
        // About 2 points, where 0.0011 ± 0.4445 were found.
        let by = Goal { by: Some(2.0), within: None };
        assert_eq!(by.met(0.0011, 0.4445), Holds::No);
        assert_eq!(by.met(2.1, 0.5), Holds::Yes);
        assert_eq!(by.met(1.0, 1.5), Holds::Undecided);
        // Ahead, and by more than is claimed.
        assert_eq!(by.met(5.0, 0.5), Holds::No);
        assert_eq!(Goal::default().met(0.0011, 0.4445), Holds::Undecided);
        // No cost: behind by less than the margin, ahead or not.
        let free = Goal { by: None, within: Some(0.01) };
        assert_eq!(free.met(-0.002, 0.004), Holds::Yes);
        assert_eq!(free.met(0.0, 0.02), Holds::Undecided);
        assert_eq!(free.met(-0.02, 0.005), Holds::No);
    }
}
