//! A positive number of one side over that of another, dataset by dataset: spread and bounds.

use super::interval::{SHARE, combined, counted, in_general};
use super::{Answer, Holds, Rule};
use crate::ExperimentError;
use crate::cell::{StudyCell, common_repeats};
use mercer_learning::fact;
use mercer_statistics::{corrected_t, less_spread, summarise};
use std::collections::BTreeSet;

/// Whether a bound, or else the standard deviation, is smaller for the first of each pair, one a dataset: of the repeats that both have, by
/// Stouffer's combination of the p of each.
pub(super) fn smaller<'a>(
    pairs: impl Iterator<Item = [&'a StudyCell; 2]>,
    bound: bool,
) -> Result<Answer, ExperimentError> {
    let (mut ratios, mut p_values) = (Vec::new(), Vec::new());
    for [a, b] in pairs {
        let common = common_repeats(&[a, b]);
        let [own, its] = [a, b].map(|cell| {
            if bound {
                return rademacher(cell, &common);
            }
            summarise(&values(cell, &common)).filter(|s| s.count > 1).map(|s| s.sample_std)
        });
        if let (Some(own), Some(its)) = (own, its)
            && own > 0.0
            && its > 0.0
        {
            ratios.push(own / its);
            let p = match bound {
                true => smaller_bound(a, b, &common),
                false if common.len() < 3 => None,
                false => less_spread(&values(a, &common), &values(b, &common)).ok(),
            };
            p_values.extend(p.map(|p| p.clamp(1e-15, 1.0 - 1e-15)));
        }
    }
    let Some(spread) = summarise(&ratios) else { return Ok(Answer::not_run("no records")) };
    let gains: Vec<f64> = ratios.iter().map(|ratio| -ratio.ln()).collect();
    let level = summarise(&gains).is_some_and(|gain| gain.mean.abs() < SHARE);
    let below = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let name = if bound { "bound" } else { "standard deviation" };
    let mut numbers = format!(
        "smaller {name} on {below} of {}; ratio {:.2} in the median, from {:.2} to {:.2}",
        counted(ratios.len(), "dataset"),
        spread.median,
        spread.min,
        spread.max
    );
    let (holds, p) = combined(&p_values, &mut numbers)?;
    in_general(&gains, &mut numbers)?;
    let (holds, rule) =
        if level { (Holds::Undecided, Rule::Level) } else { (holds, Rule::Combined) };
    Ok(Answer { p, rule, ..Answer::counted(holds, numbers) })
}

/// The scores of these repeats.
fn values(cell: &StudyCell, repeats: &BTreeSet<u32>) -> Vec<f64> {
    let own = cell.values().into_iter().filter(|(repeat, _)| repeats.contains(repeat));
    own.map(|(_, value)| value).collect()
}

/// One-sided p that the Rademacher bound is smaller for the first of two cells, repeat by repeat.
fn smaller_bound(first: &StudyCell, second: &StudyCell, repeats: &BTreeSet<u32>) -> Option<f64> {
    let of_repeat = |cell: &StudyCell, repeat: u32| rademacher(cell, &BTreeSet::from([repeat]));
    let gain = |repeat: &u32| Some((of_repeat(second, *repeat)? / of_repeat(first, *repeat)?).ln());
    let gains: Vec<f64> = repeats.iter().filter_map(gain).filter(|gain| gain.is_finite()).collect();
    let test = corrected_t(&gains, first.test_over_train()).ok()?;
    (!test.degenerate).then_some(test.p_greater)
}

/// The Rademacher bound (11) at the end of training but for `√(K/n)`, which all methods share.
fn rademacher(cell: &StudyCell, repeats: &BTreeSet<u32>) -> Option<f64> {
    let mean = |name: &str| {
        let of_repeats = cell.of(name).into_iter().filter(|(repeat, _)| repeats.contains(repeat));
        let values: Vec<f64> = of_repeats.map(|(_, value)| value).collect();
        summarise(&values).map(|summary| summary.mean)
    };
    Some(mean(fact::TRACE_NORM)? * mean(fact::FEATURE_NORM_SQUARED)?.sqrt())
}
