//! One side against another, dataset by dataset.

use super::interval::{
    Interval, OPEN, Part, combined, counted, in_general, in_margins, is_level, joint,
};
use super::scope::{Place, Scope, Side, scored};
use super::{Answer, Check, Holds, Rule};
use crate::cell::{StudyCell, common_errors, relative_gain};
use crate::{Comparison, ExperimentError, QuotedNumber, compare};
use mercer_records::Record;
use mercer_render::probability;
use mercer_statistics::{gain_over_data_sets, summarise};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `better` is better than `worse`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// The side that should be better.
    pub better: Side,
    /// The side that should be worse.
    pub worse: Rival,
    /// What of them.
    #[serde(default)]
    pub of: Of,
    /// On what.
    #[serde(default)]
    pub over: Over,
}

/// The other side, or the row of numbers that the paper quotes from others.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Rival {
    /// `{ quoted = "Others" }`.
    Quoted {
        /// Name of the row.
        quoted: String,
    },
    /// Ours.
    Side(Side),
}

/// Where a side is better, and by how much.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Over all datasets together.
    #[default]
    All,
    /// On each dataset.
    Each,
    /// On each dataset, or at most so much worse.
    LosesAtMost(f64),
    /// On each dataset at most so far away, on either side.
    DiffersAtMost(f64),
    /// By more on these datasets than on the others with the same metric.
    MoreOn(Vec<String>),
}

/// What is compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// Scores.
    #[default]
    Score,
    /// Standard deviations of the scores over repeats: the smaller is better.
    Deviation,
    /// Rademacher bounds (11) at the end of training: the smaller is better.
    Bound,
    /// Processor seconds of a fit: fewer are better.
    Seconds,
}

impl Compare {
    /// What of it contradicts itself.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let fits = matches!(
            (&self.worse, self.of, &self.over),
            (_, Of::Score, Over::Each | Over::LosesAtMost(_) | Over::DiffersAtMost(_))
                | (Rival::Side(_), Of::Score, _)
                | (Rival::Side(_), Of::Deviation | Of::Bound, Over::All)
                | (Rival::Side(_), Of::Seconds, Over::Each)
        );
        (!fits).then_some("`of` and `over` do not fit: deviations and bounds need `over = \"all\"`, seconds `\"each\"`, and scores beside a quoted row `\"each\"` or a margin")
    }

    /// What the cells say.
    pub(super) fn answer(&self, scope: Scope<'_>) -> Result<Answer, ExperimentError> {
        let worse = match &self.worse {
            Rival::Side(side) => side,
            Rival::Quoted { quoted } => return self.beside_quoted(scope, quoted),
        };
        let pairs = scope.pairs([&self.better, worse]);
        let both = || pairs.iter().filter_map(|(_, pair)| *pair);
        match (self.of, &self.over) {
            (Of::Deviation | Of::Bound, _) => super::ratios::smaller(both(), self.of == Of::Bound),
            (Of::Score, Over::All) => over_all(both()),
            (Of::Score, Over::MoreOn(there)) => more_there(&pairs, there),
            (Of::Score, Over::Each) => {
                let answer = on_each(scope, &pairs, "", &|a, b| beats_one(a, b).map(Some))?;
                let mut gains = Vec::new();
                for [a, b] in both().filter(|[a, _]| a.metric().larger_is_better()) {
                    gains.extend(gain(a, b)?.map(|gain| (a.key().dataset.clone(), gain)));
                }
                Ok(Answer { rule: Rule::EachDataset, gains, ..answer })
            }
            (Of::Seconds, _) => {
                let other = worse.place(scope.variant).map(Place::to_string).unwrap_or_default();
                let head = format!("seconds of fitting over those of {other}");
                on_each(scope, &pairs, &head, &|a, b| self.decided(a, b))
            }
            _ => on_each(scope, &pairs, "gain", &|a, b| self.decided(a, b)),
        }
    }
}

impl Rival {
    pub(super) fn side(&self) -> Option<&Side> {
        match self {
            Self::Side(side) => Some(side),
            Self::Quoted { .. } => None,
        }
    }
}

impl Over {
    /// Whether a gain is above 0, or within the margin that the claim leaves.
    fn decided(&self, gain: Interval) -> (Part, String) {
        let part = match self {
            Self::LosesAtMost(margin) => gain.above(-margin),
            Self::DiffersAtMost(margin) => gain.within(*margin),
            _ => gain.above(0.0),
        };
        (part, gain.text(2))
    }
}

impl Compare {
    /// Whether seconds decide it.
    pub(super) fn is_timed(&self) -> bool {
        self.of == Of::Seconds
    }

    /// The datasets on which a gain should be larger.
    pub(super) fn more_on(&self) -> &[String] {
        match &self.over {
            Over::MoreOn(datasets) => datasets,
            _ => &[],
        }
    }

    /// Both methods, if they are of the variant in which the claim is checked.
    pub(super) fn here(&self) -> Option<[&str; 2]> {
        Some([self.better.here()?, self.worse.side()?.here()?])
    }

    /// What the paired numbers of a dataset say, in words too.
    fn decided(&self, a: &StudyCell, b: &StudyCell) -> Told {
        if self.of == Of::Seconds {
            let logs = paired(seconds(a), seconds(b), |own, theirs| (theirs / own).ln());
            return Ok(Interval::of(&logs, 0.0)
                .map(|interval| (interval.above(0.0), interval.text_as(|log| (-log).exp(), 2))));
        }
        if let Over::LosesAtMost(_) = self.over {
            let one = || (OPEN, "one pair".to_owned());
            return Ok(Some(gain(a, b)?.map_or_else(one, |gain| self.over.decided(gain))));
        }
        let gains = paired(a.values(), b.values(), |own, theirs| own - theirs);
        let gains: Vec<f64> = gains.into_iter().map(|gain| sign(a) * gain).collect();
        Ok(Interval::of(&gains, a.test_over_train()).map(|gain| self.over.decided(gain)))
    }

    /// Beside one number a dataset, taken as exact.
    fn beside_quoted(&self, scope: Scope<'_>, row: &str) -> Result<Answer, ExperimentError> {
        let quoted = scope.catalogue.quoted(&scope.claim.paper)?;
        let own = scope.cells(&self.better);
        let mut parts = Vec::new();
        for dataset in scope.datasets() {
            let of_row = |number: &&QuotedNumber| number.dataset == dataset && number.method == row;
            let number = quoted.iter().find(of_row);
            let (Some(cell), Some(number)) = (scored(&own, dataset), number) else { continue };
            let values = cell.values().into_iter();
            let gains: Vec<f64> =
                values.map(|(_, value)| sign(cell) * (value - number.mean)).collect();
            let decided = Interval::of(&gains, cell.test_over_train());
            parts.extend(decided.map(|gain| (dataset, self.over.decided(gain))));
        }
        Ok(together(scope, &parts, &format!("gain over {row}")))
    }
}

/// What a dataset says, if anything, in words too.
type Told = Result<Option<(Part, String)>, ExperimentError>;

/// What the datasets of a claim say one by one. One without records counts if it is named.
fn on_each(
    scope: Scope<'_>,
    pairs: &[(&str, Option<[&StudyCell; 2]>)],
    what: &str,
    decided: &dyn Fn(&StudyCell, &StudyCell) -> Told,
) -> Result<Answer, ExperimentError> {
    let mut parts = Vec::new();
    for (dataset, pair) in pairs {
        match pair {
            Some([a, b]) => parts.extend(decided(a, b)?.map(|part| (*dataset, part))),
            None if scope.claim.datasets.is_empty() => {}
            None => parts.push((*dataset, ((Holds::NotRun, 1.0), "no records".to_owned()))),
        }
    }
    Ok(together(scope, &parts, what))
}

/// These together: `gain on wine 1.20, iris 0.80`, or `wine: ...; iris: ...` where each says what it is.
fn together(scope: Scope<'_>, parts: &[(&str, (Part, String))], what: &str) -> Answer {
    let each: Vec<Part> = parts.iter().map(|(_, (part, _))| *part).collect();
    let (on, is, and) = if what.is_empty() { ("", ":", "; ") } else { (" on ", "", ", ") };
    let told = |(dataset, (_, told)): &(&str, (Part, String))| format!("{dataset}{is} {told}");
    let told: Vec<String> = parts.iter().map(told).collect();
    let margin = match &scope.claim.check {
        Check::Compare(Compare { over: Over::LosesAtMost(x) | Over::DiffersAtMost(x), .. }) => {
            format!("; margin {x}")
        }
        _ => String::new(),
    };
    match joint(&each) {
        (Holds::NotRun, _) => Answer::not_run("no records"),
        part => Answer::of(part, format!("{what}{on}{}{margin}", told.join(and))),
    }
}

/// Processor seconds of fitting, by repeat.
fn seconds(cell: &StudyCell) -> Vec<(u32, f64)> {
    let of = |record: &Record| {
        let seconds = record.run.processor_seconds.get("fit").copied()?;
        (seconds > 0.0).then_some((record.key.repeat, seconds))
    };
    cell.records().filter_map(of).collect()
}

/// A number for each repeat that both have.
fn paired(own: Vec<(u32, f64)>, theirs: Vec<(u32, f64)>, of: fn(f64, f64) -> f64) -> Vec<f64> {
    let theirs: BTreeMap<u32, f64> = theirs.into_iter().collect();
    own.into_iter().filter_map(|(repeat, own)| Some(of(own, *theirs.get(&repeat)?))).collect()
}

/// Whether `a` beats `b` by the test of their dataset.
fn beats_one(a: &StudyCell, b: &StudyCell) -> Result<(Part, String), ExperimentError> {
    if let Some(cell) = [a, b].into_iter().find(|cell| cell.unsolved()) {
        let ended = cell.open_in_words().unwrap_or_default();
        return Ok((OPEN, format!("{}: {ended}", cell.label())));
    }
    let (Some(test), Some([ours, theirs])) = (compare(a, b)?, common_errors(a, b)) else {
        return Ok((OPEN, "no common repeats".to_owned()));
    };
    let accuracy = a.metric().larger_is_better();
    let gain = sign(a) * test.difference;
    let level = is_level(gain, accuracy, ours.max(theirs));
    let holds = match test.significant() && !level {
        true if gain > 0.0 => Holds::Yes,
        true => Holds::No,
        false => Holds::Undecided,
    };
    let p = match test.untested() {
        Some(why) => why.to_owned(),
        None if test.fixed_test => {
            let p = probability(test.p_corrected);
            format!("bootstrap over rows and {} seeds, and t over seeds: p = {p}", test.pairs)
        }
        None => format!("corrected p = {}", probability(test.p_corrected)),
    };
    let level = if level { ", no difference" } else { "" };
    let tested = if test.untested().is_none() { test.p_corrected } else { 1.0 };
    let told = format!("mean gain {gain:.2} over {}, {p}{level}", counted(test.pairs, "repeat"));
    Ok(((holds, tested), told))
}

/// What a difference of scores is multiplied by to be a gain.
fn sign(cell: &StudyCell) -> f64 {
    if cell.metric().larger_is_better() { 1.0 } else { -1.0 }
}

/// Mean paired gain of `a` over `b`; nothing where one pair says nothing of its spread.
fn gain(a: &StudyCell, b: &StudyCell) -> Result<Option<Interval>, ExperimentError> {
    Ok(compare(a, b)?.and_then(|test| gain_of(&test, a)))
}

/// That of a cell, by its comparison with another.
fn gain_of(test: &Comparison, cell: &StudyCell) -> Option<Interval> {
    // On a fixed test part one seed has an interval over its rows, which leaves the seeds out.
    (test.pairs > 1 && test.interval.0.is_finite()).then(|| Interval {
        mean: sign(cell) * test.difference,
        half: 0.5 * (test.interval.1 - test.interval.0),
        freedom: test.pairs as f64 - 1.0,
    })
}

/// Two mean errors that differ by a smaller share of the larger are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// What still counts as equal, in points, in the posterior over datasets.
const ROPE: f64 = 1.0;

/// One-sided p that the first is better, of a test with a sign; clear of 0 and 1, whose normal scores are infinite.
pub(super) fn p_greater(p_two_sided: f64, gain: f64) -> f64 {
    let half = (0.5 * p_two_sided).clamp(1e-15, 0.5);
    if gain > 0.0 { half } else { 1.0 - half }
}

/// Whether the first of each pair beats the second over all pairs, one a dataset, in words with its numbers.
///
/// # Errors
/// Of the tests.
pub fn ahead_in_words<'a>(
    pairs: impl Iterator<Item = (&'a StudyCell, &'a StudyCell)>,
) -> Result<String, ExperimentError> {
    over_all(pairs.map(|(a, b)| [a, b])).map(|answer| answer.numbers)
}

/// What the datasets of a claim about all of them say, one by one.
#[derive(Default)]
struct Gains {
    /// As shares of the sum of both errors.
    shares: Vec<f64>,
    /// In units of the margin of practice.
    margins: Vec<f64>,
    /// In points of accuracy, by dataset.
    points: Vec<(String, Interval)>,
    p_greater: Vec<f64>,
    wins: usize,
    losses: usize,
    /// With fewer than three repeats.
    few: usize,
    unsolved: usize,
}

impl Gains {
    fn add(&mut self, a: &StudyCell, b: &StudyCell) -> Result<(), ExperimentError> {
        // What was stopped before it was solved says nothing of the method.
        if a.unsolved() || b.unsolved() {
            self.unsolved += 1;
            return Ok(());
        }
        let (Some(test), Some([ours, theirs])) = (compare(a, b)?, common_errors(a, b)) else {
            return Ok(());
        };
        // Two sums of the same scores in another order are no difference.
        let difference =
            if (theirs - ours).abs() > ROUNDING * ours.max(theirs) { theirs - ours } else { 0.0 };
        let accuracy = a.metric().larger_is_better();
        self.few += usize::from(test.pairs < 3);
        self.wins += usize::from(difference > 0.0 && test.significant());
        self.losses += usize::from(difference < 0.0 && test.significant());
        self.shares.push(if difference == 0.0 { 0.0 } else { relative_gain([ours, theirs]) });
        self.margins.push(in_margins(difference, accuracy, ours.max(theirs)));
        if test.untested().is_none() {
            self.p_greater.push(p_greater(test.p_corrected, difference));
        } else if test.degenerate && difference == 0.0 {
            self.p_greater.push(0.5);
        }
        if accuracy {
            self.points.extend(gain_of(&test, a).map(|gain| (a.key().dataset.clone(), gain)));
        }
        Ok(())
    }

    /// Whether the mean gain is shown to be within a point of 0, over all of these datasets: two one-sided tests as
    /// one two-sided p, that of the nearer end.
    fn equal(&self) -> Option<(Rule, f64)> {
        if self.points.len() < self.shares.len() || self.points.len() < 2 {
            return None;
        }
        let (holds, p) = self.mean().within(ROPE);
        (holds == Holds::Yes).then_some((Rule::Equal, p))
    }

    fn mean(&self) -> Interval {
        Interval::mean_of(&self.points.iter().map(|(_, gain)| *gain).collect::<Vec<_>>())
    }

    /// The mean gain in points, and what the hierarchical model says of it, where there are several datasets.
    fn in_points(&self) -> Result<String, ExperimentError> {
        if self.points.len() < 2 {
            return Ok(String::new());
        }
        let mean = self.mean();
        // The standard error of a normal number with the same interval.
        let error = |gain: &Interval| (gain.mean, gain.half / super::effect::NORMAL);
        let errors: Vec<(f64, f64)> = self.points.iter().map(|(_, gain)| error(gain)).collect();
        let posterior = gain_over_data_sets(&errors, ROPE)?;
        Ok(format!(
            "; mean gain over {} of accuracy {:.2} points ({:.2} to {:.2}); P(worse, equal within a point, better) = {:.2}, {:.2}, {:.2}",
            counted(self.points.len(), "dataset"),
            mean.mean,
            mean.low(),
            mean.high(),
            posterior.worse,
            posterior.equal,
            posterior.better
        ))
    }
}

/// Whether the first of each pair beats the second over all pairs, one a dataset: by Stouffer's combination of the
/// one-sided p of each. It speaks of these datasets, with their repeats; the signed rank test beside it speaks of
/// datasets in general, by the gains as shares of the sum of both errors.
fn over_all<'a>(
    pairs: impl Iterator<Item = [&'a StudyCell; 2]>,
) -> Result<Answer, ExperimentError> {
    let (mut gains, mut test) = (Gains::default(), "corrected test");
    for [a, b] in pairs {
        gains.add(a, b)?;
        if a.is_of_folds() {
            test = "paired t-test";
        }
    }
    let Gains { shares, wins, losses, few, unsolved, .. } = &gains;
    if shares.is_empty() && *unsolved > 0 {
        let numbers = format!("not converged on any of {unsolved} datasets");
        return Ok(Answer::counted(Holds::Undecided, numbers));
    }
    if shares.is_empty() {
        return Ok(Answer::not_run("no records"));
    }
    let ahead = shares.iter().filter(|share| **share > 0.0).count();
    let few = match few {
        0 => String::new(),
        few => format!("; on {few} of these fewer than three repeats"),
    };
    let mut numbers = format!(
        "better on {ahead} of {} (significantly better on {wins}, significantly worse on {losses}, {test} at 5 %{few})",
        counted(shares.len(), "dataset")
    );
    numbers.push_str(&gains.in_points()?);
    let (holds, p) = combined(&gains.p_greater, &mut numbers)?;
    let level = summarise(&gains.margins).is_some_and(|margin| margin.mean.abs() < 1.0);
    let (holds, rule) = if level && matches!(holds, Holds::Yes | Holds::No) {
        numbers.push_str("; too small to matter: below 0.1 points, or 1 % of an error");
        (Holds::Undecided, Rule::Level)
    } else {
        (holds, Rule::Combined)
    };
    in_general(shares, &mut numbers)?;
    let otherwise = gains.equal();
    Ok(Answer { holds, numbers, p, rule, gains: gains.points, otherwise })
}

/// Whether the mean gain is larger over some datasets than over the others with the same metric: these datasets, of
/// which the intervals are known, not datasets in general.
fn more_there(
    pairs: &[(&str, Option<[&StudyCell; 2]>)],
    there: &[String],
) -> Result<Answer, ExperimentError> {
    let (mut named, mut others, mut metric) = (Vec::new(), Vec::new(), None);
    for name in there {
        let Some((_, Some([a, b]))) = pairs.iter().find(|(dataset, _)| dataset == name) else {
            return Ok(Answer::not_run(format!("no records of {name}")));
        };
        metric = Some(a.metric());
        named.extend(gain(a, b)?);
    }
    let elsewhere = pairs.iter().filter(|(dataset, _)| !there.iter().any(|name| name == dataset));
    for [a, b] in elsewhere.filter_map(|(_, pair)| *pair) {
        if metric == Some(a.metric()) {
            others.extend(gain(a, b)?);
        }
    }
    if named.len() < there.len() || others.is_empty() {
        return Ok(Answer::not_run("no records to compare with"));
    }
    let (here, elsewhere) = (Interval::mean_of(&named), Interval::mean_of(&others));
    let less = Interval { mean: -elsewhere.mean, ..elsewhere };
    let half = Interval::mean_of(&[here, less]);
    let between = Interval { mean: 2.0 * half.mean, half: 2.0 * half.half, ..half };
    let numbers = format!(
        "mean gain {:.2} there, {:.2} on {} others; difference {:.2}, from {:.2} to {:.2} (95 %, over repeats of these datasets)",
        here.mean,
        elsewhere.mean,
        others.len(),
        between.mean,
        between.low(),
        between.high()
    );
    Ok(Answer::of(between.above(0.0), numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six datasets of one sign have p = 0.03 by their signs, and more than one claim never decided.
    #[test]
    fn repeats_let_few_data_sets_decide() {
        let table: &[(&[f64], Holds)] = &[
            (&[0.01, 0.02, 0.3], Holds::Yes),
            (&[0.99, 0.98, 0.7], Holds::No),
            (&[0.4, 0.6, 0.3], Holds::Undecided),
            (&[], Holds::Undecided),
        ];
        for (p, holds) in table {
            assert_eq!(combined(p, &mut String::new()).unwrap().0, *holds, "{p:?}");
        }
        // Nothing is so sure that it outweighs what is as sure of the opposite.
        let sure = [p_greater(0.0, 1.0), p_greater(0.0, -1.0)];
        assert!(mercer_statistics::stouffer(&sure).unwrap().z.abs() < 0.2, "{sure:?}");
    }
}
