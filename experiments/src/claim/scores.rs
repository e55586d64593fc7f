//! Claims about scores, one number a dataset and method.

use super::{Answer, Holds, OverMany, datasets_of, of};
use crate::cell::{LEVEL, StudyCell, best_of, common_errors, common_repeats, relative_gain};
use crate::{ExperimentError, compare};
use mercer_learning::fact;
use mercer_render::probability;
use mercer_statistics::{holm, summarise, wilcoxon_signed_rank};
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

/// Whether the first of each pair beats the second over all pairs, one a dataset: by the signed rank
/// test over the gains, each a share of the sum of both errors, so that points of accuracy and errors
/// of targets can be ranked together. That test speaks of datasets in general; the mean gain with its
/// interval, of these datasets.
pub(crate) fn ahead_over<'a>(
    pairs: impl Iterator<Item = (&'a StudyCell, &'a StudyCell)>,
) -> Result<Answer, ExperimentError> {
    let (mut gains, mut points) = (Vec::new(), Vec::new());
    let (mut wins, mut losses, mut few) = (0, 0, 0);
    let mut unsolved = 0;
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
        let gain =
            if (theirs - ours).abs() > ROUNDING * ours.max(theirs) { theirs - ours } else { 0.0 };
        few += usize::from(test.pairs < 3);
        wins += usize::from(gain > 0.0 && test.significant());
        losses += usize::from(gain < 0.0 && test.significant());
        gains.push(if gain == 0.0 { 0.0 } else { relative_gain([ours, theirs]) });
        if a.metric().larger_is_better() {
            points.extend(self::gain(a, b)?);
        }
    }
    if gains.is_empty() && unsolved > 0 {
        let numbers = format!("not converged on any of {unsolved} datasets");
        return Ok((Holds::Undecided, numbers).into());
    }
    if gains.is_empty() {
        return Ok((Holds::NotRun, "no records".to_owned()).into());
    }
    let ahead = gains.iter().filter(|gain| **gain > 0.0).count();
    let OverDatasets { holds, said, p } = over_datasets(&gains)?;
    let (holds, every) = if p.is_none() && few == 0 {
        on_every_one(gains.len(), wins, losses).map_or((holds, ""), |holds| (holds, EVERY))
    } else {
        (holds, "")
    };
    let few = if few > 0 {
        format!("; on {few} of these fewer than three repeats")
    } else {
        String::new()
    };
    let mut mean = String::new();
    if points.len() > 1 {
        let Gain { mean: gain, half } = mean_gain(&points);
        let (low, high) = (gain - half, gain + half);
        mean = format!(
            "; mean gain over {} of these with repeats {gain:.2} points ({low:.2} to {high:.2})",
            points.len()
        );
    }
    let numbers = format!(
        "ahead on {ahead} of {} datasets (significantly better on {wins}, worse on {losses}, corrected test at 5 %{few}){mean}; {said}{every}",
        gains.len()
    );
    Ok(Answer { holds, numbers, p })
}

const EVERY: &str = "; significant on every one of them, which decides";

/// Where datasets are too few for a test over them: what the tests on each say if all of them say it, at the
/// level of each. (That all of several hypotheses are wrong is shown by tests that each reject at that level.)
const fn on_every_one(datasets: usize, wins: usize, losses: usize) -> Option<Holds> {
    if datasets < 3 {
        None
    } else if wins == datasets {
        Some(Holds::Yes)
    } else if losses == datasets {
        Some(Holds::No)
    } else {
        None
    }
}

pub(super) fn beats_there(
    cells: &[&StudyCell],
    datasets: &[String],
    better: &str,
    worse: &str,
) -> Result<(Holds, String), ExperimentError> {
    let (mut all, mut said) = (Vec::new(), Vec::new());
    for dataset in datasets {
        let (holds, numbers) = beats_one(cells, (dataset, datasets.len()), better, worse)?;
        all.push(holds);
        said.push(if datasets.len() == 1 { numbers } else { format!("{dataset}: {numbers}") });
    }
    Ok((together(&all), said.join("; ")))
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

/// Whether `better` beats `worse` on a dataset, one of so many of which the claim speaks.
fn beats_one(
    cells: &[&StudyCell],
    (dataset, of_many): (&str, usize),
    better: &str,
    worse: &str,
) -> Result<(Holds, String), ExperimentError> {
    let (Some(a), Some(b)) = (of(cells, dataset, better), of(cells, dataset, worse)) else {
        return Ok((Holds::NotRun, "no records".to_owned()));
    };
    if let Some(cell) = [a, b].into_iter().find(|cell| cell.unsolved()) {
        let ended = cell.open_in_words().unwrap_or_default();
        return Ok((Holds::Undecided, format!("{}: {ended}", cell.label())));
    }
    let Some(test) = compare(a, b)? else {
        return Ok((Holds::Undecided, "no common repeats".to_owned()));
    };
    let gain = if a.metric().larger_is_better() { test.difference } else { -test.difference };
    let holds = match test.significant() {
        true if gain > 0.0 => Holds::Yes,
        true if gain < 0.0 && test.p_corrected * (of_many as f64) < LEVEL => Holds::No,
        _ => Holds::Undecided,
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
    Ok((holds, format!("mean gain {gain:.2} over {repeats} repeats, {p}")))
}

/// What the signed rank test says of gains, one a dataset.
struct OverDatasets {
    holds: Holds,
    /// In words.
    said: String,
    /// Where the test could have decided.
    p: Option<OverMany>,
}

/// The signed rank test over gains, one a dataset. Of fewer than six that are not 0 no outcome has a p below
/// 0.05: such a test decides nothing, and takes no place among those that are held to 5 % together (Tarone
/// 1990); which it is depends on how many differ, not on which way.
fn over_datasets(gains: &[f64]) -> Result<OverDatasets, ExperimentError> {
    let test = wilcoxon_signed_rank(gains)?;
    let p = test.p_two_sided;
    let holds = match test.positive_ranks.total_cmp(&test.negative_ranks) {
        std::cmp::Ordering::Greater if p < LEVEL => Holds::Yes,
        std::cmp::Ordering::Less if p < LEVEL => Holds::No,
        _ => Holds::Undecided,
    };
    let told_apart = gains.iter().filter(|gain| **gain != 0.0).count();
    let least = 0.5_f64.powf(told_apart as f64 - 1.0).min(1.0);
    let mut said = format!("Wilcoxon over datasets p = {}", probability(p));
    if least >= LEVEL {
        let _ = write!(said, ", which so few cannot bring below {}", probability(least));
    }
    let p = (least < LEVEL).then_some(OverMany { p, least });
    Ok(OverDatasets { holds, said, p })
}

/// Whether a positive number of some repeats is smaller for `first` than for `second`, over the datasets:
/// of the repeats that both have.
pub(super) fn smaller(
    cells: &[&StudyCell],
    first: &str,
    second: &str,
    name: &str,
    number: &dyn Fn(&StudyCell, &BTreeSet<u32>) -> Option<f64>,
) -> Result<Answer, ExperimentError> {
    let mut ratios = Vec::new();
    for dataset in datasets_of(cells) {
        let (Some(a), Some(b)) = (of(cells, &dataset, first), of(cells, &dataset, second)) else {
            continue;
        };
        let common = common_repeats(&[a, b]);
        if let (Some(a), Some(b)) = (number(a, &common), number(b, &common))
            && a > 0.0
            && b > 0.0
        {
            ratios.push(a / b);
        }
    }
    let Some(spread) = summarise(&ratios) else {
        return Ok((Holds::NotRun, "no records".to_owned()).into());
    };
    let gains: Vec<f64> = ratios.iter().map(|ratio| -ratio.ln()).collect();
    let OverDatasets { holds, said, p } = over_datasets(&gains)?;
    let below = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let numbers = format!(
        "smaller {name} on {below} of {} datasets; ratio {:.2} in the median, from {:.2} to {:.2}; {said}",
        ratios.len(),
        spread.median,
        spread.min,
        spread.max
    );
    Ok(Answer { holds, numbers, p })
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

/// A mean paired gain, positive if the first is better, and half its corrected 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gain {
    mean: f64,
    half: f64,
}

/// The mean of some gains; its interval is that of a sum of independent ones.
fn mean_gain(gains: &[Gain]) -> Gain {
    let count = gains.len() as f64;
    let mean = gains.iter().map(|gain| gain.mean).sum::<f64>() / count;
    let half = gains.iter().map(|gain| gain.half.powi(2)).sum::<f64>().sqrt() / count;
    Gain { mean, half }
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
) -> Result<(Holds, String), ExperimentError> {
    let (mut named, mut others) = (Vec::new(), Vec::new());
    let mut metric = None;
    for dataset in there {
        let (Some(a), Some(b)) = (of(cells, dataset, better), of(cells, dataset, worse)) else {
            return Ok((Holds::NotRun, format!("no records of {dataset}")));
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
        return Ok((Holds::NotRun, "no records to compare with".to_owned()));
    }
    let (here, elsewhere) = (mean_gain(&named), mean_gain(&others));
    let between = Gain { mean: here.mean - elsewhere.mean, half: here.half.hypot(elsewhere.half) };
    let numbers = format!(
        "mean gain {:.2} there, {:.2} on {} others; difference {:.2}, from {:.2} to {:.2} (95 %, over repeats of these datasets)",
        here.mean,
        elsewhere.mean,
        others.len(),
        between.mean,
        between.mean - between.half,
        between.mean + between.half
    );
    Ok((sign(between), numbers))
}

/// Mean paired gain of `a` over `b`; nothing where one pair says nothing of its spread.
fn gain(a: &StudyCell, b: &StudyCell) -> Result<Option<Gain>, ExperimentError> {
    let sign = if a.metric().larger_is_better() { 1.0 } else { -1.0 };
    // On a fixed test part one seed has an interval over its rows, which leaves the seeds out.
    let test = compare(a, b)?.filter(|test| test.pairs > 1 && test.interval.0.is_finite());
    Ok(test.map(|test| Gain {
        mean: sign * test.difference,
        half: 0.5 * (test.interval.1 - test.interval.0),
    }))
}

/// Whether `method` is at most `margin` worse than `rival` on every one of `there`.
pub(super) fn within(
    cells: &[&StudyCell],
    method: &str,
    rival: &str,
    there: &[String],
    margin: f64,
) -> Result<(Holds, String), ExperimentError> {
    let (mut all, mut parts) = (Vec::new(), Vec::new());
    for dataset in there {
        let (Some(a), Some(b)) = (of(cells, dataset, method), of(cells, dataset, rival)) else {
            return Ok((Holds::NotRun, format!("no records of {dataset}")));
        };
        let Some(Gain { mean, half }) = gain(a, b)? else {
            return Ok((Holds::Undecided, format!("one pair on {dataset}")));
        };
        all.push(sign(Gain { mean: mean + margin, half }));
        parts.push(format!("{dataset} {mean:.2} ({:.2} to {:.2})", mean - half, mean + half));
    }
    Ok((together(&all), format!("gain {}, margin {margin}", parts.join(", "))))
}

/// Repeats from which "not significantly worse" says something.
pub(crate) const ENOUGH: usize = 10;

pub(super) fn never_worse(
    cells: &[&StudyCell],
    method: &str,
    methods: &[String],
    almost_all: bool,
) -> Result<(Holds, String), ExperimentError> {
    let (mut rows, mut best, mut level, mut worse) = (0, 0, 0, Vec::new());
    // Of every row: 1 where no test says that the method loses.
    let (mut fewest, mut p_values) = (usize::MAX, Vec::new());
    for dataset in datasets_of(cells) {
        let row: Vec<&StudyCell> =
            methods.iter().filter_map(|name| of(cells, &dataset, name)).collect();
        let Some(own) = of(cells, &dataset, method) else { continue };
        if row.len() < methods.len() {
            continue;
        }
        rows += 1;
        let repeats = row.iter().filter_map(|cell| cell.score()).map(|score| score.repeats);
        fewest = repeats.fold(fewest, usize::min);
        let mut p = 1.0;
        let top = best_of(&row);
        if let Some(top) = top {
            if top.key().method == method {
                best += 1;
            } else if let Some(test) = compare(own, top)?.filter(|test| test.untested().is_none()) {
                p = test.p_corrected;
                if test.significant() {
                    worse.push((dataset, p_values.len()));
                } else {
                    level += 1;
                }
            } else {
                level += 1;
            }
        }
        p_values.push(p);
    }
    if rows == 0 {
        return Ok((Holds::NotRun, "no records".to_owned()));
    }
    let adjusted = holm(&p_values)?;
    let lost = adjusted.iter().filter(|p| **p < LEVEL).count();
    let holds = standing([rows, best, worse.len(), lost], fewest, almost_all);
    let worse: Vec<Loss<'_>> = worse
        .iter()
        .map(|(dataset, row)| Loss { dataset, p: p_values[*row], adjusted: adjusted[*row] })
        .collect();
    let numbers = format!(
        "best on {best} (on common repeats), not significantly worse on {level}, significantly worse on {} of {rows} datasets, fewest repeats {fewest}",
        counted(&worse, lost, almost_all)
    );
    Ok((holds, numbers))
}

/// A dataset on which the corrected test by itself says at 5 % that a method is worse than the best.
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

/// Whether a method that is best on `best` of `rows` datasets, and significantly worse than the best on
/// `worse`, on `lost` of these also by Holm's adjustment over the rows, is never worse: best on more
/// than half, and worse nowhere; or ahead on almost all: best on four of five. One loss that the
/// adjustment leaves contradicts the first; worse on more than a quarter, or best on no more than half,
/// the second.
fn standing([rows, best, worse, lost]: [usize; 4], fewest: usize, almost_all: bool) -> Holds {
    let refuted = if almost_all { worse * 4 > rows } else { lost > 0 };
    if refuted {
        return Holds::No;
    }
    if fewest < ENOUGH {
        // "Not significantly worse" is cheap with few repeats: it then shows nothing.
        return Holds::Undecided;
    }
    let enough = if almost_all { best * 5 >= rows * 4 } else { best * 2 > rows };
    if almost_all && best * 2 <= rows {
        Holds::No
    } else if enough && worse == 0 {
        Holds::Yes
    } else {
        Holds::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn almost_all_is_more_than_half() {
        let ahead = |best, worse, fewest| standing([11, best, worse, worse], fewest, true);
        assert_eq!(ahead(9, 0, 10), Holds::Yes);
        assert_eq!(ahead(8, 0, 10), Holds::Undecided);
        assert_eq!(ahead(9, 1, 10), Holds::Undecided);
        assert_eq!(ahead(6, 0, 10), Holds::Undecided);
        assert_eq!(ahead(5, 0, 10), Holds::No);
        assert_eq!(ahead(9, 0, 3), Holds::Undecided);
        assert_eq!(ahead(9, 3, 3), Holds::No);
    }

    /// Of "never worse" one loss is a counterexample, if it is one beside the number of rows.
    #[test]
    fn one_significant_loss_refutes_never() {
        let level = |best, worse, lost, fewest| standing([11, best, worse, lost], fewest, false);
        assert_eq!(level(6, 0, 0, 10), Holds::Yes);
        assert_eq!(level(5, 0, 0, 10), Holds::Undecided);
        assert_eq!(level(6, 1, 0, 10), Holds::Undecided);
        assert_eq!(level(6, 3, 0, 10), Holds::Undecided);
        assert_eq!(level(10, 1, 1, 10), Holds::No);
        // Few repeats make a loss hard to show: shown it counts, and nothing else does.
        assert_eq!(level(10, 1, 1, 3), Holds::No);
        assert_eq!(level(10, 0, 0, 3), Holds::Undecided);
        // On almost all datasets is not on all.
        assert_eq!(standing([11, 9, 1, 1], 10, true), Holds::Undecided);
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

    /// Two datasets took a place among the claims of a paper that are held to 5 % together, and cost another
    /// its verdict.
    #[test]
    fn too_few_datasets_are_no_test() {
        let five = over_datasets(&[0.1, 0.2, 0.3, 0.4, 0.5]).unwrap();
        assert_eq!((five.holds, five.p), (Holds::Undecided, None));
        assert!(
            five.said.ends_with("p = 0.06, which so few cannot bring below 0.06"),
            "{}",
            five.said
        );
        let six = over_datasets(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
        assert_eq!((six.holds, six.p), (Holds::Yes, Some(OverMany { p: 0.03125, least: 0.03125 })));
        assert_eq!(six.said, "Wilcoxon over datasets p = 0.03");
        // A dataset without any difference is none.
        assert_eq!(over_datasets(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.0]).unwrap().p, None);
        assert_eq!(over_datasets(&[0.0, 0.0]).unwrap().p, None);
        // Four datasets, and the method loses beyond doubt on each: it does not win in general.
        assert_eq!(on_every_one(4, 0, 4), Some(Holds::No));
        assert_eq!(on_every_one(3, 3, 0), Some(Holds::Yes));
        assert_eq!(
            [on_every_one(4, 3, 0), on_every_one(2, 2, 0), on_every_one(0, 0, 0)],
            [None; 3]
        );
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
        let gain = |mean, half| Gain { mean, half };
        assert_eq!(sign(gain(1.0, 0.9)), Holds::Yes);
        assert_eq!(sign(gain(-1.0, 0.9)), Holds::No);
        assert_eq!(sign(gain(1.0, 1.1)), Holds::Undecided);
        // Three and four over two: 7/2, and half the root of 3² + 4².
        assert_eq!(mean_gain(&[gain(3.0, 3.0), gain(4.0, 4.0)]), gain(3.5, 2.5));
    }
}
