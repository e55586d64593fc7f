//! Claims about scores, one number a dataset and method.

use super::effect::mean_gain;
use super::{Answer, Gain, Holds, Rule, datasets_of, joint_p, of};
use crate::cell::{LEVEL, StudyCell, best_of, common_errors, common_repeats, relative_gain};
use crate::{Comparison, ExperimentError, compare};
use mercer_learning::fact;
use mercer_render::probability;
use mercer_statistics::{
    below_the_best, corrected_t, gain_over_data_sets, holm, p_of_interval, stouffer, summarise,
    wilcoxon_signed_rank,
};
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub(super) fn beats(
    cells: &[&StudyCell],
    better: &str,
    worse: &str,
    only: &[String],
) -> Result<Answer, ExperimentError> {
    let datasets = datasets_of(cells).into_iter();
    let pairs = datasets
        .filter(|dataset| only.is_empty() || only.contains(dataset))
        .filter_map(|dataset| Some((of(cells, &dataset, better)?, of(cells, &dataset, worse)?)));
    ahead_over(pairs)
}

/// A method against itself in another variant.
pub(super) fn beats_control(
    cells: &[&StudyCell],
    control: &[&StudyCell],
    method: &str,
) -> Result<Answer, ExperimentError> {
    let pairs = datasets_of(cells)
        .into_iter()
        .filter_map(|dataset| Some((of(cells, &dataset, method)?, of(control, &dataset, method)?)));
    ahead_over(pairs)
}

/// Two mean errors that differ by a smaller share of the larger are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// Below it a difference is level: points of accuracy, and percent of an error.
const PRACTICE: (f64, f64) = (0.1, 1.0);

/// What still counts as equal, in points, in the posterior over data sets.
const ROPE: f64 = 1.0;

/// A difference in units of the margin of practice.
fn in_margins(difference: f64, [ours, theirs]: [f64; 2], accuracy: bool) -> f64 {
    if accuracy {
        difference / PRACTICE.0
    } else {
        100.0 * difference / (PRACTICE.1 * ours.max(theirs))
    }
}

/// One-sided p that the first is better, of a test with a sign; clear of 0 and 1, whose normal scores are infinite.
fn p_greater(p_two_sided: f64, gain: f64) -> f64 {
    let half = (0.5 * p_two_sided).clamp(1e-15, 0.5);
    if gain > 0.0 { half } else { 1.0 - half }
}

/// Whether the first of each pair beats the second over all pairs, one a data set, in words with its numbers.
///
/// # Errors
/// Of the tests.
pub fn ahead_in_words<'a>(
    pairs: impl Iterator<Item = (&'a StudyCell, &'a StudyCell)>,
) -> Result<String, ExperimentError> {
    ahead_over(pairs).map(|answer| answer.numbers)
}

/// Whether the first of each pair beats the second over all pairs, one a data set: by Stouffer's combination of the
/// one-sided p of each. It speaks of these data sets, with their repeats; the signed rank test beside it speaks of data
/// sets in general, by the gains as shares of the sum of both errors.
fn ahead_over<'a>(
    pairs: impl Iterator<Item = (&'a StudyCell, &'a StudyCell)>,
) -> Result<Answer, ExperimentError> {
    let (mut shares, mut gains, mut p_values) = (Vec::new(), Vec::new(), Vec::new());
    let (mut wins, mut losses, mut few, mut unsolved) = (0, 0, 0, 0);
    let mut margins = Vec::new();
    for (a, b) in pairs {
        // What was stopped before it was solved says nothing of the method.
        if a.unsolved() || b.unsolved() {
            unsolved += 1;
            continue;
        }
        let (Some(test), Some([ours, theirs])) = (compare(a, b)?, common_errors(a, b)) else {
            continue;
        };
        // Two sums of the same scores in another order are no difference.
        let difference =
            if (theirs - ours).abs() > ROUNDING * ours.max(theirs) { theirs - ours } else { 0.0 };
        few += usize::from(test.pairs < 3);
        wins += usize::from(difference > 0.0 && test.significant());
        losses += usize::from(difference < 0.0 && test.significant());
        shares.push(if difference == 0.0 { 0.0 } else { relative_gain([ours, theirs]) });
        margins.push(in_margins(difference, [ours, theirs], a.metric().larger_is_better()));
        if test.untested().is_none() {
            p_values.push(p_greater(test.p_corrected, difference));
        } else if test.degenerate && difference == 0.0 {
            p_values.push(0.5);
        }
        if a.metric().larger_is_better() {
            gains.extend(Gain::of(&test, a).map(|gain| (a.key().dataset.clone(), gain)));
        }
    }
    if shares.is_empty() && unsolved > 0 {
        let numbers = format!("not converged on any of {unsolved} datasets");
        return Ok((Holds::Undecided, numbers).into());
    }
    if shares.is_empty() {
        return Ok((Holds::NotRun, "no records".to_owned()).into());
    }
    let ahead = shares.iter().filter(|share| **share > 0.0).count();
    let few = if few > 0 {
        format!("; on {few} of these fewer than three repeats")
    } else {
        String::new()
    };
    let mut numbers = format!(
        "ahead on {ahead} of {} datasets (significantly better on {wins}, worse on {losses}, corrected test at 5 %{few})",
        shares.len()
    );
    numbers.push_str(&over_gains(&gains)?);
    let level = summarise(&margins).is_some_and(|margin| margin.mean.abs() < 1.0);
    let (holds, said, p) = combined(&p_values)?;
    numbers.push_str(&said);
    let (holds, rule) = if level && matches!(holds, Holds::Yes | Holds::No) {
        numbers.push_str("; level: below 0.1 points, or 1 % of an error");
        (Holds::Undecided, Rule::Level)
    } else {
        (holds, Rule::Combined)
    };
    let wilcoxon = wilcoxon_signed_rank(&shares)?.p_two_sided;
    let _ = write!(numbers, "; Wilcoxon over datasets p = {}", probability(wilcoxon));
    let otherwise = equal(&gains, shares.len());
    Ok(Answer { holds, numbers, p, rule, gains, otherwise })
}

/// Whether the mean gain is shown to be within a point of 0, over all of these data sets: two one-sided tests as one
/// two-sided p, that of the nearer end.
fn equal(gains: &[(String, Gain)], datasets: usize) -> Option<(Rule, f64)> {
    if gains.len() < datasets || gains.len() < 2 {
        return None;
    }
    let gain = mean_gain(&gains.iter().map(|(_, gain)| *gain).collect::<Vec<_>>());
    let within = gain.mean.abs() + gain.half < ROPE;
    within.then(|| (Rule::Equal, gain.p(ROPE.copysign(gain.mean))))
}

/// The mean gain in points, and what the hierarchical model says of it, where there are several data sets.
fn over_gains(gains: &[(String, Gain)]) -> Result<String, ExperimentError> {
    if gains.len() < 2 {
        return Ok(String::new());
    }
    let all: Vec<Gain> = gains.iter().map(|(_, gain)| *gain).collect();
    let Gain { mean, half, .. } = mean_gain(&all);
    let errors: Vec<(f64, f64)> = all.iter().map(|gain| (gain.mean, gain.error())).collect();
    let posterior = gain_over_data_sets(&errors, ROPE)?;
    Ok(format!(
        "; mean gain over {} of these with repeats {mean:.2} points ({:.2} to {:.2}); P(worse, equal within a point, better) = {:.2}, {:.2}, {:.2}",
        gains.len(),
        mean - half,
        mean + half,
        posterior.worse,
        posterior.equal,
        posterior.better
    ))
}

/// What Stouffer's combination of one-sided p says, in words too.
fn combined(p_greater: &[f64]) -> Result<(Holds, String, Option<f64>), ExperimentError> {
    if p_greater.is_empty() {
        return Ok((Holds::Undecided, "; no data set with repeats to test".to_owned(), None));
    }
    let test = stouffer(p_greater)?;
    let p = test.p_two_sided;
    let holds = match test.z > 0.0 {
        true if p < LEVEL => Holds::Yes,
        false if p < LEVEL => Holds::No,
        _ => Holds::Undecided,
    };
    Ok((
        holds,
        format!("; Stouffer over the repeats of {}: p = {}", p_greater.len(), probability(p)),
        Some(p),
    ))
}

pub(super) fn beats_there(
    cells: &[&StudyCell],
    datasets: &[String],
    better: &str,
    worse: &str,
) -> Result<Answer, ExperimentError> {
    let (mut all, mut said, mut gains) = (Vec::new(), Vec::new(), Vec::new());
    for dataset in datasets {
        let (part, numbers) = beats_one(cells, dataset, better, worse)?;
        all.push(part);
        said.push(if datasets.len() == 1 { numbers } else { format!("{dataset}: {numbers}") });
        if let (Some(a), Some(b)) = (of(cells, dataset, better), of(cells, dataset, worse))
            && a.metric().larger_is_better()
        {
            gains.extend(gain(a, b)?.map(|gain| (dataset.clone(), gain)));
        }
    }
    let parts: Vec<Holds> = all.iter().map(|(holds, _)| *holds).collect();
    let answer = Answer::from((together(&parts), said.join("; "), joint_p(&all)));
    Ok(Answer { rule: Rule::EachDataset, gains, ..answer })
}

/// Of a claim about each of several datasets: one against it decides, else all must be for it, also those
/// that nothing is known of.
fn together(all: &[Holds]) -> Holds {
    let every = |wanted| all.iter().all(|holds| *holds == wanted);
    if all.contains(&Holds::No) {
        Holds::No
    } else if every(Holds::NotRun) {
        Holds::NotRun
    } else if every(Holds::Yes) {
        Holds::Yes
    } else {
        Holds::Undecided
    }
}

/// Whether `better` beats `worse` on a data set, with the two-sided p of it.
fn beats_one(
    cells: &[&StudyCell],
    dataset: &str,
    better: &str,
    worse: &str,
) -> Result<((Holds, f64), String), ExperimentError> {
    let none = |holds, said: String| Ok(((holds, 1.0), said));
    let (Some(a), Some(b)) = (of(cells, dataset, better), of(cells, dataset, worse)) else {
        return none(Holds::NotRun, "no records".to_owned());
    };
    if let Some(cell) = [a, b].into_iter().find(|cell| cell.unsolved()) {
        let ended = cell.open_in_words().unwrap_or_default();
        return none(Holds::Undecided, format!("{}: {ended}", cell.label()));
    }
    let (Some(test), Some(errors)) = (compare(a, b)?, common_errors(a, b)) else {
        return none(Holds::Undecided, "no common repeats".to_owned());
    };
    let accuracy = a.metric().larger_is_better();
    let gain = if accuracy { test.difference } else { -test.difference };
    let level = in_margins(gain, errors, accuracy).abs() < 1.0;
    let holds = match test.significant() && !level {
        true if gain > 0.0 => Holds::Yes,
        true => Holds::No,
        false => Holds::Undecided,
    };
    let repeats = test.pairs;
    let p = match test.untested() {
        Some(why) => why.to_owned(),
        None if test.fixed_test => {
            let p = probability(test.p_corrected);
            format!("bootstrap over rows and {repeats} seeds, and t over seeds: p = {p}")
        }
        None => format!("corrected p = {}", probability(test.p_corrected)),
    };
    let level = if level { ", level" } else { "" };
    let tested = if test.untested().is_none() { test.p_corrected } else { 1.0 };
    Ok(((holds, tested), format!("mean gain {gain:.2} over {repeats} repeats, {p}{level}")))
}

/// A number of some repeats of a cell.
type Number<'a> = dyn Fn(&StudyCell, &BTreeSet<u32>) -> Option<f64> + 'a;

/// One-sided p that such a number is smaller for the first of two cells.
type Smaller<'a> = dyn Fn(&StudyCell, &StudyCell, &BTreeSet<u32>) -> Option<f64> + 'a;

/// Whether a positive number of some repeats is smaller for `first` than for `second`, over the data sets: of the
/// repeats that both have, by Stouffer's combination of the p of each.
pub(super) fn smaller(
    cells: &[&StudyCell],
    [first, second]: [&str; 2],
    name: &str,
    number: &Number<'_>,
    p: &Smaller<'_>,
) -> Result<Answer, ExperimentError> {
    let (mut ratios, mut p_values) = (Vec::new(), Vec::new());
    for dataset in datasets_of(cells) {
        let (Some(a), Some(b)) = (of(cells, &dataset, first), of(cells, &dataset, second)) else {
            continue;
        };
        let common = common_repeats(&[a, b]);
        if let (Some(own), Some(its)) = (number(a, &common), number(b, &common))
            && own > 0.0
            && its > 0.0
        {
            ratios.push(own / its);
            p_values.extend(p(a, b, &common).map(|p| p.clamp(1e-15, 1.0 - 1e-15)));
        }
    }
    let Some(spread) = summarise(&ratios) else {
        return Ok((Holds::NotRun, "no records".to_owned()).into());
    };
    let gains: Vec<f64> = ratios.iter().map(|ratio| -ratio.ln()).collect();
    let level = summarise(&gains).is_some_and(|gain| gain.mean.abs() < PRACTICE.1 / 100.0);
    let (holds, said, p) = combined(&p_values)?;
    let wilcoxon = wilcoxon_signed_rank(&gains)?.p_two_sided;
    let below = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let numbers = format!(
        "smaller {name} on {below} of {} datasets; ratio {:.2} in the median, from {:.2} to {:.2}{said}; Wilcoxon over datasets p = {}",
        ratios.len(),
        spread.median,
        spread.min,
        spread.max,
        probability(wilcoxon)
    );
    let (holds, rule) =
        if level { (Holds::Undecided, Rule::Level) } else { (holds, Rule::Combined) };
    Ok(Answer { p, rule, ..Answer::from((holds, numbers)) })
}

/// One-sided p that the Rademacher bound is smaller for the first of two cells, repeat by repeat.
pub(super) fn smaller_bound(
    first: &StudyCell,
    second: &StudyCell,
    repeats: &BTreeSet<u32>,
) -> Option<f64> {
    let of_repeat = |cell: &StudyCell, repeat: u32| rademacher(cell, &BTreeSet::from([repeat]));
    let gain = |repeat: &u32| Some((of_repeat(second, *repeat)? / of_repeat(first, *repeat)?).ln());
    let gains: Vec<f64> = repeats.iter().filter_map(gain).filter(|gain| gain.is_finite()).collect();
    let test = corrected_t(&gains, first.test_over_train()).ok()?;
    (!test.degenerate).then_some(test.p_greater)
}

/// The Rademacher bound (11) at the end of training but for `√(K/n)`, which all methods share.
pub(super) fn rademacher(cell: &StudyCell, repeats: &BTreeSet<u32>) -> Option<f64> {
    let mean = |name: &str| {
        let of_repeats = cell.of(name).into_iter().filter(|(repeat, _)| repeats.contains(repeat));
        let values: Vec<f64> = of_repeats.map(|(_, value)| value).collect();
        summarise(&values).map(|summary| summary.mean)
    };
    Some(mean(fact::TRACE_NORM)? * mean(fact::FEATURE_NORM_SQUARED)?.sqrt())
}

impl Gain {
    /// That of a cell, by its comparison with another.
    fn of(test: &Comparison, cell: &StudyCell) -> Option<Self> {
        let sign = if cell.metric().larger_is_better() { 1.0 } else { -1.0 };
        // On a fixed test part one seed has an interval over its rows, which leaves the seeds out.
        (test.pairs > 1 && test.interval.0.is_finite()).then(|| Self {
            mean: sign * test.difference,
            half: 0.5 * (test.interval.1 - test.interval.0),
            freedom: test.pairs as f64 - 1.0,
        })
    }

    /// Two-sided p that it is `from`.
    fn p(self, from: f64) -> f64 {
        p_of_interval(self.mean - from, self.half, self.freedom)
    }

    /// Its standard error, that of a normal number with the same interval.
    fn error(self) -> f64 {
        self.half / 1.959_963_984_540_054
    }
}

/// Whether an interval lies above 0, below it, or around it.
fn sign(gain: Gain) -> Holds {
    if gain.mean - gain.half > 0.0 {
        Holds::Yes
    } else if gain.mean + gain.half < 0.0 {
        Holds::No
    } else {
        Holds::Undecided
    }
}

/// Whether the mean gain over `there` is larger than over the other datasets with the same metric:
/// these datasets, of which the intervals are known, not datasets in general.
pub(super) fn larger_there(
    cells: &[&StudyCell],
    better: &str,
    worse: &str,
    there: &[String],
) -> Result<Answer, ExperimentError> {
    let (mut named, mut others) = (Vec::new(), Vec::new());
    let mut metric = None;
    for dataset in there {
        let (Some(a), Some(b)) = (of(cells, dataset, better), of(cells, dataset, worse)) else {
            return Ok((Holds::NotRun, format!("no records of {dataset}")).into());
        };
        metric = Some(a.metric());
        named.extend(gain(a, b)?);
    }
    for dataset in datasets_of(cells).into_iter().filter(|name| !there.contains(name)) {
        let (Some(a), Some(b)) = (of(cells, &dataset, better), of(cells, &dataset, worse)) else {
            continue;
        };
        if metric == Some(a.metric()) {
            others.extend(gain(a, b)?);
        }
    }
    if named.len() < there.len() || others.is_empty() {
        return Ok((Holds::NotRun, "no records to compare with".to_owned()).into());
    }
    let (here, elsewhere) = (mean_gain(&named), mean_gain(&others));
    let less = Gain { mean: -elsewhere.mean, ..elsewhere };
    let sum = mean_gain(&[here, less]);
    let between = Gain { mean: 2.0 * sum.mean, half: 2.0 * sum.half, freedom: sum.freedom };
    let numbers = format!(
        "mean gain {:.2} there, {:.2} on {} others; difference {:.2}, from {:.2} to {:.2} (95 %, over repeats of these datasets)",
        here.mean,
        elsewhere.mean,
        others.len(),
        between.mean,
        between.mean - between.half,
        between.mean + between.half
    );
    Ok((sign(between), numbers, between.p(0.0)).into())
}

/// Mean paired gain of `a` over `b`; nothing where one pair says nothing of its spread.
fn gain(a: &StudyCell, b: &StudyCell) -> Result<Option<Gain>, ExperimentError> {
    Ok(compare(a, b)?.and_then(|test| Gain::of(&test, a)))
}

/// Whether `method` is at most `margin` worse than `rival` on every one of `there`.
pub(super) fn within(
    cells: &[&StudyCell],
    method: &str,
    rival: &str,
    there: &[String],
    margin: f64,
) -> Result<Answer, ExperimentError> {
    let (mut all, mut parts) = (Vec::new(), Vec::new());
    for dataset in there {
        let (Some(a), Some(b)) = (of(cells, dataset, method), of(cells, dataset, rival)) else {
            return Ok((Holds::NotRun, format!("no records of {dataset}")).into());
        };
        let Some(gain) = gain(a, b)? else {
            return Ok((Holds::Undecided, format!("one pair on {dataset}")).into());
        };
        let Gain { mean, half, .. } = gain;
        all.push((sign(Gain { mean: mean + margin, ..gain }), gain.p(-margin)));
        parts.push(format!("{dataset} {mean:.2} ({:.2} to {:.2})", mean - half, mean + half));
    }
    let each: Vec<Holds> = all.iter().map(|(holds, _)| *holds).collect();
    let numbers = format!("gain {}, margin {margin}", parts.join(", "));
    Ok((together(&each), numbers, joint_p(&all)).into())
}

/// Repeats from which "not significantly worse" says something.
pub(crate) const ENOUGH: usize = 10;

pub(super) fn never_worse(
    cells: &[&StudyCell],
    method: &str,
    methods: &[String],
    almost_all: bool,
) -> Result<Answer, ExperimentError> {
    let (mut seen, mut level, mut worse) = (Rows::default(), 0, Vec::new());
    // Of every row: 1 where no test says that the method loses.
    let (mut fewest, mut p_values) = (usize::MAX, Vec::new());
    for dataset in datasets_of(cells) {
        let row: Vec<&StudyCell> =
            methods.iter().filter_map(|name| of(cells, &dataset, name)).collect();
        let Some(own) = of(cells, &dataset, method) else { continue };
        if row.len() < methods.len() {
            continue;
        }
        let repeats = row.iter().filter_map(|cell| cell.score()).map(|score| score.repeats);
        let repeats = repeats.fold(usize::MAX, usize::min);
        fewest = fewest.min(repeats);
        let best = best_of(&row).is_some_and(|top| top.key().method == method);
        seen.all += 1;
        seen.best += usize::from(best);
        seen.few += usize::from(repeats < ENOUGH);
        seen.best_of_few += usize::from(best && repeats < ENOUGH);
        let p = below_the_rest(own, &row)?;
        if p < LEVEL {
            worse.push((dataset, p_values.len()));
        } else {
            level += usize::from(!best);
        }
        p_values.push(p);
    }
    if seen.all == 0 {
        return Ok((Holds::NotRun, "no records".to_owned()).into());
    }
    let adjusted = holm(&p_values)?;
    seen.worse = worse.len();
    seen.lost = adjusted.iter().filter(|p| **p < LEVEL).count();
    let holds = standing(seen, almost_all);
    let worse: Vec<Loss<'_>> = worse
        .iter()
        .map(|(dataset, row)| Loss { dataset, p: p_values[*row], adjusted: adjusted[*row] })
        .collect();
    let numbers = format!(
        "best on {} (on common repeats), not significantly worse on {level}, significantly worse on {} of {} datasets, fewest repeats {fewest}",
        seen.best,
        counted(&worse, seen.lost, almost_all),
        seen.all
    );
    let (p, rule) = if seen.lost > 0 && !almost_all {
        (adjusted.iter().copied().reduce(f64::min), Rule::WithTheBest)
    } else {
        (None, Rule::Count)
    };
    Ok(Answer { p, rule, ..Answer::from((holds, numbers)) })
}

/// P that a cell is not below the best of the others in its row, by Hsu's comparison with the best.
fn below_the_rest(own: &StudyCell, row: &[&StudyCell]) -> Result<f64, ExperimentError> {
    let mut least: Option<(f64, f64)> = None;
    for other in row.iter().filter(|other| other.key().method != own.key().method) {
        let Some(test) = compare(own, other)?.filter(|test| test.untested().is_none()) else {
            continue;
        };
        let ahead = own.better(test.difference, 0.0);
        let found = (p_greater(test.p_corrected, if ahead { -1.0 } else { 1.0 }), freedom(&test));
        if least.is_none_or(|(p, _)| found.0 < p) {
            least = Some(found);
        }
    }
    let Some((p, freedom)) = least else { return Ok(1.0) };
    Ok(below_the_best(p, freedom, row.len() - 1)?)
}

/// Degrees of freedom behind the p of a comparison.
fn freedom(test: &Comparison) -> f64 {
    test.pairs.saturating_sub(1).max(1) as f64
}

/// A data set on which the comparison with the best says at 5 % that a method is worse.
struct Loss<'a> {
    dataset: &'a str,
    p: f64,
    /// By Holm's adjustment over all rows.
    adjusted: f64,
}

/// How many losses there are, and what each count does: a p of a row by itself is what `significantly worse`
/// says of that row, but among many rows such a one comes out by chance.
fn counted(worse: &[Loss<'_>], lost: usize, almost_all: bool) -> String {
    if worse.is_empty() {
        return "0".to_owned();
    }
    let each = |loss: &Loss<'_>| {
        let [p, adjusted] = [loss.p, loss.adjusted].map(probability);
        format!("{} p = {p}, adjusted {adjusted}", loss.dataset)
    };
    let named: Vec<String> = worse.iter().map(each).collect();
    let rule = if almost_all {
        "the first number counts".to_owned()
    } else {
        format!("on {lost} also by Holm over the datasets, which alone refutes")
    };
    format!("{} by the p of each dataset ({}; {rule})", worse.len(), named.join("; "))
}

/// How a method stands on the data sets of a claim.
#[derive(Debug, Clone, Copy, Default)]
struct Rows {
    all: usize,
    best: usize,
    /// Significantly worse than the best, each by itself.
    worse: usize,
    /// Of these by Holm's adjustment over the data sets.
    lost: usize,
    /// With too few repeats.
    few: usize,
    /// Of these it is best on so many.
    best_of_few: usize,
}

/// Whether a method is never worse: best on more than half of the data sets, and worse nowhere; or, with `almost_all`,
/// best on four of five. One loss that the adjustment leaves refutes the first. Worse on more than a quarter refutes
/// the second, and so does a number of bests that cannot come above half, whatever the missing repeats bring. Nothing
/// holds while repeats are missing that could show a loss.
fn standing(rows: Rows, almost_all: bool) -> Holds {
    let Rows { all, best, worse, lost, few, best_of_few } = rows;
    let within_reach = best - best_of_few + few;
    let refuted = if almost_all { worse * 4 > all || within_reach * 2 <= all } else { lost > 0 };
    let enough = if almost_all { best * 5 >= all * 4 } else { best * 2 > all };
    if refuted {
        Holds::No
    } else if enough && worse == 0 && few == 0 {
        Holds::Yes
    } else {
        Holds::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of eleven data sets, of which `few` have too few repeats.
    fn rows(best: usize, worse: usize, lost: usize, few: usize) -> Rows {
        Rows { all: 11, best, worse, lost, few, best_of_few: 0 }
    }

    #[test]
    fn almost_all_is_more_than_half() {
        let ahead = |best, worse, few| standing(rows(best, worse, worse, few), true);
        assert_eq!(ahead(9, 0, 0), Holds::Yes);
        assert_eq!(ahead(8, 0, 0), Holds::Undecided);
        assert_eq!(ahead(9, 1, 0), Holds::Undecided);
        assert_eq!(ahead(6, 0, 0), Holds::Undecided);
        assert_eq!(ahead(5, 0, 0), Holds::No);
        assert_eq!(ahead(9, 0, 1), Holds::Undecided);
        assert_eq!(ahead(9, 3, 1), Holds::No);
    }

    /// Three repeats of MNIST kept a claim from being refuted that they could not save.
    #[test]
    fn missing_repeats_protect_only_where_they_could_change_it() {
        let twelve = |best, best_of_few| {
            standing(Rows { all: 12, best, few: 1, best_of_few, ..Rows::default() }, true)
        };
        assert_eq!(twelve(5, 0), Holds::No); // six of twelve at most
        assert_eq!(twelve(6, 0), Holds::Undecided); // seven
        assert_eq!(twelve(6, 1), Holds::No); // six with the one that is short
    }

    /// Of "never worse" one loss is a counterexample, if it is one beside the number of rows.
    #[test]
    fn one_significant_loss_refutes_never() {
        let level = |best, worse, lost, few| standing(rows(best, worse, lost, few), false);
        assert_eq!(level(6, 0, 0, 0), Holds::Yes);
        assert_eq!(level(5, 0, 0, 0), Holds::Undecided);
        assert_eq!(level(6, 1, 0, 0), Holds::Undecided);
        assert_eq!(level(6, 3, 0, 0), Holds::Undecided);
        assert_eq!(level(10, 1, 1, 0), Holds::No);
        // Few repeats make a loss hard to show: shown it counts, and nothing else does.
        assert_eq!(level(10, 1, 1, 3), Holds::No);
        assert_eq!(level(10, 0, 0, 3), Holds::Undecided);
        // On almost all datasets is not on all.
        assert_eq!(standing(rows(9, 1, 1, 0), true), Holds::Undecided);
    }

    /// Seven losses by themselves were shown with adjusted p above 5 %, as if these were what had been counted.
    #[test]
    fn a_loss_says_by_which_p_it_counts() {
        let loss = |dataset, p, adjusted| Loss { dataset, p, adjusted };
        let worse = [loss("pendigits", 0.02, 0.16), loss("usps", 1e-3, 9e-3)];
        assert_eq!(
            counted(&worse, 1, false),
            "2 by the p of each dataset (pendigits p = 0.02, adjusted 0.16; usps p = 1e-3, adjusted 9e-3; on 1 also by Holm over the datasets, which alone refutes)"
        );
        assert!(counted(&worse, 1, true).ends_with("adjusted 9e-3; the first number counts)"));
        assert_eq!(counted(&[], 0, false), "0");
    }

    /// Six data sets of one sign have p = 0.03 by their signs, and more than one claim never decided.
    #[test]
    fn repeats_let_few_data_sets_decide() {
        let holds = |p: &[f64]| combined(p).unwrap().0;
        assert_eq!(holds(&[0.01, 0.02, 0.3]), Holds::Yes);
        assert_eq!(holds(&[0.99, 0.98, 0.7]), Holds::No);
        assert_eq!(holds(&[0.4, 0.6, 0.3]), Holds::Undecided);
        assert_eq!(holds(&[]), Holds::Undecided);
        // Nothing is so sure that it outweighs what is as sure of the opposite.
        let sure = [p_greater(0.0, 1.0), p_greater(0.0, -1.0)];
        assert!(stouffer(&sure).unwrap().z.abs() < 0.2, "{sure:?}");
    }

    #[test]
    fn a_trifle_is_counted_in_margins() {
        assert!((in_margins(0.05, [5.0, 5.05], true) - 0.5).abs() < 1e-12);
        // 0.05 of an error of 5 is 1 %.
        assert!((in_margins(0.05, [4.95, 5.0], false) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn of_several_datasets_each_must_be_shown() {
        use Holds::{No, NotRun, Undecided, Yes};
        assert_eq!(together(&[Yes, Yes]), Yes);
        assert_eq!(together(&[Yes, NotRun]), Undecided);
        assert_eq!(together(&[Yes, Undecided, No]), No);
        assert_eq!(together(&[NotRun, NotRun]), NotRun);
        assert_eq!(together(&[Undecided, NotRun]), Undecided);
    }

    #[test]
    fn intervals_decide_in_both_directions() {
        let gain = |mean, half| Gain { mean, half, freedom: 9.0 };
        assert_eq!(sign(gain(1.0, 0.9)), Holds::Yes);
        assert_eq!(sign(gain(-1.0, 0.9)), Holds::No);
        assert_eq!(sign(gain(1.0, 1.1)), Holds::Undecided);
        assert!((gain(1.0, 0.5).p(0.5) - 0.05).abs() < 1e-9);
    }
}
