//! Claims about the points of a path's curve, and about a method in two variants.

use super::{Answer, Holds, joint_p};
use crate::cell::StudyCell;
use crate::{ExperimentError, QuotedNumber};
use mercer_render::probability;
use mercer_statistics::{corrected_t, p_of_interval, summarise};
use std::collections::BTreeMap;

/// Repeat and value at a step of the curves of a cell.
fn at(cell: &StudyCell, step: u64, value: &str) -> BTreeMap<u32, f64> {
    let of = |record: &mercer_records::Record| {
        let point = record.result.curve.iter().find(|point| point.step == step)?;
        Some((record.key.repeat, *point.values.get(value)?))
    };
    cell.records().filter_map(of).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    summarise(&values.collect::<Vec<_>>()).map(|summary| summary.mean)
}

/// A verdict with its two-sided p.
type Part = (Holds, f64);

/// All for it, or one against it, decides.
fn all_or_one(each: &[Part]) -> Holds {
    let each: Vec<Holds> = each.iter().map(|(holds, _)| *holds).collect();
    if each.is_empty() {
        Holds::NotRun
    } else if each.contains(&Holds::No) {
        Holds::No
    } else if each.iter().all(|holds| *holds == Holds::Yes) {
        Holds::Yes
    } else {
        Holds::Undecided
    }
}

/// A value stays below a limit at every one of these steps, on every dataset: intervals over repeats, corrected
/// for the splits that overlap.
pub(super) fn below(
    cells: &[&StudyCell],
    method: &str,
    value: &str,
    steps: &[u64],
    limit: f64,
) -> Result<Answer, ExperimentError> {
    let (mut each, mut largest) = (Vec::new(), None::<(f64, String)>);
    for cell in cells.iter().filter(|cell| cell.key().method == method) {
        for &step in steps {
            let over: Vec<f64> =
                at(cell, step, value).into_values().map(|value| value - limit).collect();
            let Some(summary) = summarise(&over) else { continue };
            let mean = summary.mean + limit;
            if largest.as_ref().is_none_or(|(most, _)| mean > *most) {
                largest = Some((mean, cell.key().dataset.clone()));
            }
            each.push(if over.len() < 2 {
                (Holds::Undecided, 1.0)
            } else {
                let test = corrected_t(&over, cell.ratio_of(value))?;
                let interval = test.interval(0.95);
                (decided((-interval.1, -interval.0), 0.0), test.p_two_sided)
            });
        }
    }
    let Some((most, dataset)) = largest else {
        return Ok((Holds::NotRun, "no curves".to_owned()).into());
    };
    let shown = each.iter().filter(|part| part.0 == Holds::Yes).count();
    let numbers = format!(
        "{value} below {limit} in {shown} of {} (corrected 95 % intervals); the largest mean is {most:.3}, on {dataset}",
        each.len()
    );
    Ok((all_or_one(&each), numbers, joint_p(&each)).into())
}

/// Two-sided p that the mean of so many numbers with this 95 % interval is `from`.
fn p(count: usize, (low, high): (f64, f64), from: f64) -> f64 {
    if count < 2 || !low.is_finite() {
        return 1.0;
    }
    p_of_interval(0.5 * (low + high) - from, 0.5 * (high - low), count as f64 - 1.0)
}

/// Whether an interval lies above a limit, below it, or around it.
fn decided((low, high): (f64, f64), limit: f64) -> Holds {
    if low > limit {
        Holds::Yes
    } else if high < limit {
        Holds::No
    } else {
        Holds::Undecided
    }
}

/// Two errors that differ by a smaller share than this are level.
const PRACTICE: f64 = 0.01;

/// An error is smaller at one step than at each of the others: the corrected test on each dataset, or on one.
pub(super) fn smallest_at(
    cells: &[&StudyCell],
    (method, dataset): (&str, Option<&str>),
    value: &str,
    best: u64,
    others: &[u64],
) -> Result<Answer, ExperimentError> {
    let (mut each, mut ahead) = (Vec::new(), 0);
    let (mut against, mut levels) = (Vec::new(), 0);
    let asked = |cell: &&&StudyCell| {
        let key = cell.key();
        key.method == method && dataset.is_none_or(|dataset| key.dataset == dataset)
    };
    for cell in cells.iter().filter(asked) {
        let own = at(cell, best, value);
        for &other in others {
            let theirs = at(cell, other, value);
            let gains: Vec<f64> = own
                .iter()
                .filter_map(|(repeat, value)| Some(theirs.get(repeat)? - value))
                .collect();
            let Some(gain) = mean(gains.iter().copied()) else { continue };
            ahead += usize::from(gain > 0.0);
            if gains.len() < 2 {
                each.push((Holds::Undecided, 1.0));
                continue;
            }
            let test = corrected_t(&gains, cell.ratio_of(value))?;
            let size = mean(own.values().copied()).unwrap_or(0.0).abs();
            let level = gain.abs() < PRACTICE * size;
            levels += usize::from(level);
            let holds = match test.p_two_sided < 0.05 && !test.degenerate && !level {
                true if gain > 0.0 => Holds::Yes,
                true => Holds::No,
                false => Holds::Undecided,
            };
            if holds == Holds::No {
                let p = probability(test.p_two_sided);
                against.push(format!("{} ({gain:+.3}, p = {p})", cell.key().dataset));
            }
            each.push((holds, test.p_two_sided));
        }
    }
    if each.is_empty() {
        return Ok((Holds::NotRun, "no curves".to_owned()).into());
    }
    let shown = each.iter().filter(|part| part.0 == Holds::Yes).count();
    let against = if against.is_empty() {
        String::new()
    } else {
        format!("; behind on {}", against.join(", "))
    };
    let numbers = format!(
        "ahead in {ahead} of {} comparisons, {shown} of them by the corrected test, level (within 1 %) in {levels}{against}",
        each.len()
    );
    Ok((all_or_one(&each), numbers, joint_p(&each)).into())
}

/// Over the ways of each dataset and kind of target, does less error go with more accuracy? Kendall's τ of
/// the means, one a dataset, and its interval over datasets.
pub(super) fn weakly_related(
    cells: &[&StudyCell],
    method: &str,
    (error, score): (&str, &str),
    groups: &[Vec<u64>],
    limit: f64,
) -> (Holds, String) {
    let mut taus = Vec::new();
    for cell in cells.iter().filter(|cell| cell.key().method == method) {
        let (mut concordant, mut discordant) = (0usize, 0usize);
        for group in groups {
            let points: Vec<(f64, f64)> = group
                .iter()
                .filter_map(|&step| {
                    let of = |value| mean(at(cell, step, value).into_values());
                    Some((of(error)?, of(score)?))
                })
                .collect();
            for (i, a) in points.iter().enumerate() {
                for b in &points[i + 1..] {
                    let sign = (b.0 - a.0) * (a.1 - b.1);
                    concordant += usize::from(sign > 0.0);
                    discordant += usize::from(sign < 0.0);
                }
            }
        }
        if concordant + discordant > 0 {
            let of = |count: usize| count as f64;
            taus.push((of(concordant) - of(discordant)) / of(concordant + discordant));
        }
    }
    let Some(summary) = summarise(&taus) else {
        return (Holds::NotRun, "no curves".to_owned());
    };
    let Some(half) = summary.half_width(0.95) else {
        return (Holds::Undecided, format!("τ = {:.2} on one dataset", summary.mean));
    };
    let (low, high) = (summary.mean - half, summary.mean + half);
    let holds = if low > -limit && high < limit {
        Holds::Yes
    } else if low > limit || high < -limit {
        Holds::No
    } else {
        Holds::Undecided
    };
    let numbers = format!(
        "τ between smaller {error} and higher {score} {:.2}, from {low:.2} to {high:.2} (95 %, over {} datasets); weak: within {limit}",
        summary.mean,
        taus.len()
    );
    (holds, numbers)
}

/// The cells of a method in a variant and in its control, dataset by dataset.
pub(super) fn beside<'a>(
    cells: &[&'a StudyCell],
    control: &[&'a StudyCell],
    method: &str,
) -> Vec<(&'a StudyCell, &'a StudyCell)> {
    let of_method = |cell: &&&StudyCell| cell.key().method == method;
    let twin = |cell: &&'a StudyCell| {
        let same = |other: &&&StudyCell| other.key().dataset == cell.key().dataset;
        control.iter().filter(of_method).find(same).copied()
    };
    cells.iter().filter(of_method).filter_map(|cell| Some((*cell, twin(cell)?))).collect()
}

/// The score in a variant is at most `margin` away from that in its control: intervals over the repeats that
/// both have.
pub(super) fn stable(
    cells: &[&StudyCell],
    control: &[&StudyCell],
    method: &str,
    margin: f64,
) -> Result<Answer, ExperimentError> {
    let (mut each, mut said) = (Vec::new(), Vec::new());
    for (own, other) in beside(cells, control, method) {
        let theirs: BTreeMap<u32, f64> = other.values().into_iter().collect();
        let moved: Vec<f64> = own
            .values()
            .into_iter()
            .filter_map(|(repeat, value)| Some(value - theirs.get(&repeat)?))
            .collect();
        let Some(summary) = summarise(&moved) else { continue };
        let (low, high) = if moved.len() < 2 {
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            corrected_t(&moved, own.test_over_train())?.interval(0.95)
        };
        let holds = if low > -margin && high < margin {
            Holds::Yes
        } else if low > margin || high < -margin {
            Holds::No
        } else {
            Holds::Undecided
        };
        // To the nearer end of the margin.
        let end = if summary.mean < 0.0 { -margin } else { margin };
        each.push((holds, p(moved.len(), (low, high), end)));
        said.push(format!("{} {:+.2} ({low:.2} to {high:.2})", own.key().dataset, summary.mean));
    }
    let numbers = format!("change on {}; margin {margin}", said.join(", "));
    let holds = all_or_one(&each);
    let numbers = if holds == Holds::NotRun { "no records".to_owned() } else { numbers };
    Ok((holds, numbers, joint_p(&each)).into())
}

/// The cells of two methods, dataset by dataset.
pub(super) fn side_by_side<'a>(
    cells: &[&'a StudyCell],
    method: &str,
    other: &str,
) -> Vec<(&'a StudyCell, &'a StudyCell)> {
    let of = |name: &str, dataset: &str| {
        let found = |cell: &&&StudyCell| cell.key().method == name && cell.key().dataset == dataset;
        cells.iter().find(found).copied()
    };
    let own = cells.iter().copied().filter(|cell| cell.key().method == method);
    own.filter_map(|cell| Some((cell, of(other, &cell.key().dataset)?))).collect()
}

/// The scores of a method lie at most `margin` below what is quoted, on every dataset: intervals over
/// repeats, corrected for the splits that overlap. What is quoted is taken as exact.
pub(super) fn level_with(
    cells: &[&StudyCell],
    method: &str,
    quoted: &[QuotedNumber],
    margin: f64,
) -> Result<Answer, ExperimentError> {
    let (mut each, mut said) = (Vec::new(), Vec::new());
    for cell in cells.iter().filter(|cell| cell.key().method == method) {
        let dataset = &cell.key().dataset;
        let Some(number) = quoted.iter().find(|number| number.dataset == *dataset) else {
            continue;
        };
        let gains: Vec<f64> =
            cell.values().into_iter().map(|(_, value)| value - number.mean).collect();
        let Some(summary) = summarise(&gains) else { continue };
        let (low, high) = if gains.len() < 2 {
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            corrected_t(&gains, cell.test_over_train())?.interval(0.95)
        };
        each.push((decided((low, high), -margin), p(gains.len(), (low, high), -margin)));
        said.push(format!("{dataset} {:+.2} ({low:.2} to {high:.2})", summary.mean));
    }
    let numbers = format!("minus what is quoted, on {}; margin {margin}", said.join(", "));
    let holds = all_or_one(&each);
    let numbers = if holds == Holds::NotRun { "no records".to_owned() } else { numbers };
    Ok((holds, numbers, joint_p(&each)).into())
}

/// Fitting takes less processor time in the first cell of each pair than in the second: the ratio's
/// interval over repeats.
pub(super) fn faster(pairs: Vec<(&StudyCell, &StudyCell)>, slower: &str) -> Answer {
    let (mut each, mut said) = (Vec::new(), Vec::new());
    let seconds = |cell: &StudyCell| -> BTreeMap<u32, f64> {
        let of = |record: &mercer_records::Record| {
            let seconds = record.run.processor_seconds.get("fit").copied()?;
            (seconds > 0.0).then_some((record.key.repeat, seconds))
        };
        cell.records().filter_map(of).collect()
    };
    for (own, other) in pairs {
        let (own_seconds, theirs) = (seconds(own), seconds(other));
        let logs: Vec<f64> = own_seconds
            .iter()
            .filter_map(|(repeat, seconds)| Some((theirs.get(repeat)? / seconds).ln()))
            .collect();
        let Some(summary) = summarise(&logs) else { continue };
        let half = summary.half_width(0.95).unwrap_or(f64::INFINITY);
        let interval = (summary.mean - half, summary.mean + half);
        each.push((decided(interval, 0.0), p(logs.len(), interval, 0.0)));
        let ratio = |log: f64| (-log).exp();
        let (low, high) = (ratio(summary.mean + half), ratio(summary.mean - half));
        let dataset = &own.key().dataset;
        said.push(format!("{dataset} {:.2} ({low:.2} to {high:.2})", ratio(summary.mean)));
    }
    let numbers = format!("seconds of fitting over those of {slower} on {}", said.join(", "));
    let holds = all_or_one(&each);
    let numbers = if holds == Holds::NotRun { "no times".to_owned() } else { numbers };
    (holds, numbers, joint_p(&each)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_against_it_or_all_for_it_decides() {
        use Holds::{No, NotRun, Undecided, Yes};
        let of = |each: &[Holds]| all_or_one(&each.iter().map(|h| (*h, 0.5)).collect::<Vec<_>>());
        assert_eq!(of(&[]), NotRun);
        assert_eq!(of(&[Yes, Yes]), Yes);
        assert_eq!(of(&[Yes, Undecided]), Undecided);
        assert_eq!(of(&[Undecided, No, Yes]), No);
        assert!((p(8, (0.0, 2.0), 0.0) - 0.05).abs() < 1e-9);
        assert!(p(1, (0.0, 2.0), 0.0) >= 1.0);
        assert_eq!(decided((0.1, 0.3), 0.2), Undecided);
        assert_eq!(decided((0.1, 0.3), 0.05), Yes);
        assert_eq!(decided((0.1, 0.3), 0.4), No);
    }
}
