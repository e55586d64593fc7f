mod curves;

use crate::cell::StudyCell;
use crate::{Desk, ExperimentError, compare};
use mercer_harness::Variant;
use mercer_records::CurvePoint;
use mercer_render::probability;
use mercer_statistics::{summarise, wilcoxon_signed_rank};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A sentence of a paper, turned into a check.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `askl-beats-nskl`.
    pub id: String,
    /// Where the paper says it.
    pub source: String,
    /// What it says, in our words.
    pub text: String,
    /// How it is checked.
    pub check: Check,
}

/// How a claim is checked, variant by variant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Check {
    /// `better` beats `worse` over the datasets: Wilcoxon signed rank over the mean gains.
    Beats {
        /// The study.
        study: String,
        /// The method that should win.
        better: String,
        /// The method that should lose.
        worse: String,
        /// Only these datasets, if given.
        #[serde(default)]
        datasets: Vec<String>,
    },
    /// `better` beats `worse` on one dataset: the corrected test at 5 %.
    BeatsThere {
        /// The study.
        study: String,
        /// The dataset.
        dataset: String,
        /// The method that should win.
        better: String,
        /// The method that should lose.
        worse: String,
    },
    /// `better` has the best value at all looks along training.
    AlwaysAhead {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method that should lead.
        better: String,
        /// Its rivals.
        rivals: Vec<String>,
        /// The number looked at.
        value: String,
        /// Whether a larger one leads.
        larger: bool,
    },
    /// At the end of training, a smaller `value` goes with a higher accuracy over the methods.
    GoesWith {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// Methods compared.
        methods: Vec<String>,
        /// The number that should fall as accuracy rises.
        value: String,
    },
    /// `method` is best or not significantly worse than the best on every dataset.
    NeverWorse {
        /// The study.
        study: String,
        /// The method.
        method: String,
        /// The methods of the row.
        methods: Vec<String>,
    },
    /// `steadier` has the smaller deviation over repeats: Wilcoxon signed rank over the logarithms
    /// of the ratios.
    Steadier {
        /// The study.
        study: String,
        /// The method that should vary less.
        steadier: String,
        /// The method that should vary more.
        shakier: String,
    },
    /// `tighter` has the smaller Rademacher bound (11) at the end of training: Wilcoxon signed rank
    /// over the logarithms of the ratios.
    Tighter {
        /// The study.
        study: String,
        /// The method that should have the smaller bound.
        tighter: String,
        /// The method that should have the larger bound.
        looser: String,
    },
    /// Along the curves of one method the value `better` is ahead of `worse` in the mean over
    /// sizes: an interval over repeats. Both names may stand for several, `better 1/9`, `better 2/7`.
    CurveAhead {
        /// The study.
        study: String,
        /// The method that is a whole curve.
        method: String,
        /// The value that should lead.
        better: String,
        /// The value that should follow.
        worse: String,
        /// Whether a larger one leads.
        larger: bool,
    },
    /// A value is smaller at the end of each curve than at its beginning.
    CurveFalls {
        /// The study.
        study: String,
        /// The method that is a whole curve.
        method: String,
        /// The value.
        value: String,
    },
    /// The mean gain of `better` over `worse` is larger on some datasets than on the others with
    /// the same metric.
    LargerThere {
        /// The study.
        study: String,
        /// The method that should win.
        better: String,
        /// The method that should lose.
        worse: String,
        /// Where it should win by more.
        datasets: Vec<String>,
    },
    /// Each of these values of a curve lies below the next, at every look after the start.
    Ordered {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curves they are.
        method: String,
        /// The values, from the one that should be lowest.
        values: Vec<String>,
    },
    /// A value of a curve falls, more in the second half of the looks than in the first.
    FallsLate {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curve it is.
        method: String,
        /// The value.
        value: String,
    },
    /// A value of a curve rises and then falls.
    RisesThenFalls {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curve it is.
        method: String,
        /// The value.
        value: String,
    },
    /// A value of a curve peaks at a step.
    PeaksAt {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curve it is.
        method: String,
        /// The value.
        value: String,
        /// The step.
        at: u64,
    },
    /// The peaks of these values near a step stand less and less above the end of their curves.
    Sharper {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curves they are.
        method: String,
        /// The values, from the one with the sharpest peak.
        values: Vec<String>,
        /// The step.
        at: u64,
    },
}

/// What a check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// Shown.
    Yes,
    /// The opposite, or its absence, is shown.
    No,
    /// The records do not decide.
    Undecided,
    /// There are no records yet.
    NotRun,
}

/// A claim checked in one variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimResult {
    /// Id of the claim.
    pub claim: String,
    /// The variant.
    pub variant: String,
    /// Whether it holds.
    pub holds: Holds,
    /// The numbers.
    pub numbers: String,
}

/// The claims of a paper.
///
/// # Errors
/// If its file does not have its form.
pub fn claims(paper: &str) -> Result<Vec<Claim>, ExperimentError> {
    #[derive(Deserialize)]
    struct File {
        claim: Vec<Claim>,
    }
    let text = match paper {
        "askl" => include_str!("../claims/askl.toml"),
        "rftk" => include_str!("../claims/rftk.toml"),
        "hyper" => include_str!("../claims/hyper.toml"),
        "mce" => include_str!("../claims/mce.toml"),
        _ => return Ok(Vec::new()),
    };
    let file: File = toml::from_str(text).map_err(|error| ExperimentError::Form {
        file: format!("claims/{paper}.toml"),
        reason: error.to_string(),
    })?;
    Ok(file.claim)
}

impl Claim {
    /// Checks it in every variant of its study.
    ///
    /// # Errors
    /// Of the study or the tests.
    pub fn check(&self, desk: &Desk<'_>) -> Result<Vec<ClaimResult>, ExperimentError> {
        let (Check::Beats { study, .. }
        | Check::BeatsThere { study, .. }
        | Check::AlwaysAhead { study, .. }
        | Check::GoesWith { study, .. }
        | Check::NeverWorse { study, .. }
        | Check::Steadier { study, .. }
        | Check::Tighter { study, .. }
        | Check::CurveAhead { study, .. }
        | Check::CurveFalls { study, .. }
        | Check::LargerThere { study, .. }
        | Check::Ordered { study, .. }
        | Check::FallsLate { study, .. }
        | Check::RisesThenFalls { study, .. }
        | Check::PeaksAt { study, .. }
        | Check::Sharper { study, .. }) = &self.check;
        let study = desk.cells(study)?;
        let (spec, cells) = &*study;
        let mut results = Vec::new();
        // A claim about methods that a variant does not run says nothing of that variant.
        let speaks_of = |variant: &&Variant| {
            let known = |name: &&str| variant.methods.iter().any(|method| method.name == **name);
            self.check.methods().iter().all(|name| known(&name.as_str()))
        };
        for variant in spec.variants.iter().filter(speaks_of) {
            let of_variant: Vec<&StudyCell> =
                cells.iter().filter(|cell| cell.key().variant == variant.name).collect();
            let (holds, numbers) = self.check.on(&of_variant)?;
            results.push(ClaimResult {
                claim: self.id.clone(),
                variant: variant.name.clone(),
                holds,
                numbers,
            });
        }
        Ok(results)
    }
}

impl Check {
    /// The methods that it compares.
    fn methods(&self) -> Vec<&String> {
        match self {
            Self::Beats { better, worse, .. }
            | Self::BeatsThere { better, worse, .. }
            | Self::LargerThere { better, worse, .. } => vec![better, worse],
            Self::AlwaysAhead { better, rivals, .. } => {
                std::iter::once(better).chain(rivals).collect()
            }
            Self::GoesWith { methods, .. } => methods.iter().collect(),
            Self::NeverWorse { method, methods, .. } => {
                std::iter::once(method).chain(methods).collect()
            }
            Self::Steadier { steadier, shakier, .. } => vec![steadier, shakier],
            Self::Tighter { tighter, looser, .. } => vec![tighter, looser],
            Self::CurveAhead { method, .. }
            | Self::CurveFalls { method, .. }
            | Self::Ordered { method, .. }
            | Self::FallsLate { method, .. }
            | Self::RisesThenFalls { method, .. }
            | Self::PeaksAt { method, .. }
            | Self::Sharper { method, .. } => vec![method],
        }
    }

    fn on(&self, cells: &[&StudyCell]) -> Result<(Holds, String), ExperimentError> {
        match self {
            Self::Beats { better, worse, datasets, .. } => beats(cells, better, worse, datasets),
            Self::BeatsThere { dataset, better, worse, .. } => {
                beats_there(cells, dataset, better, worse)
            }
            Self::AlwaysAhead { dataset, better, rivals, value, larger, .. } => {
                Ok(always_ahead(cells, dataset, better, rivals, value, *larger))
            }
            Self::GoesWith { dataset, methods, value, .. } => {
                Ok(goes_with(cells, dataset, methods, value))
            }
            Self::NeverWorse { method, methods, .. } => never_worse(cells, method, methods),
            Self::Steadier { steadier, shakier, .. } => {
                let deviation = |cell: &StudyCell| {
                    cell.score().filter(|score| score.repeats > 1).map(|score| score.std)
                };
                smaller(cells, steadier, shakier, "deviation", &deviation)
            }
            Self::Tighter { tighter, looser, .. } => {
                smaller(cells, tighter, looser, "bound", &rademacher)
            }
            Self::LargerThere { better, worse, datasets, .. } => {
                larger_there(cells, better, worse, datasets)
            }
            Self::CurveAhead { method, better, worse, larger, .. } => {
                Ok(curve_ahead(cells, method, better, worse, *larger))
            }
            Self::CurveFalls { method, value, .. } => Ok(curve_falls(cells, method, value)),
            Self::Ordered { dataset, method, values, .. } => {
                Ok(curves::ordered(cells, dataset, method, values))
            }
            Self::FallsLate { dataset, method, value, .. } => {
                Ok(curves::falls_late(cells, dataset, method, value))
            }
            Self::RisesThenFalls { dataset, method, value, .. } => {
                Ok(curves::rises_then_falls(cells, dataset, method, value))
            }
            Self::PeaksAt { dataset, method, value, at, .. } => {
                Ok(curves::peaks_at(cells, dataset, method, value, *at))
            }
            Self::Sharper { dataset, method, values, at, .. } => {
                Ok(curves::sharper(cells, dataset, method, values, *at))
            }
        }
    }
}

/// The curves of a method, one a repeat and cell.
fn curves_of<'a>(cells: &[&'a StudyCell], method: &str) -> Vec<&'a [CurvePoint]> {
    let own = cells.iter().copied().filter(|cell| cell.key().method == method);
    let curves = own.flat_map(StudyCell::records).map(|record| record.result.curve.as_slice());
    curves.filter(|curve| !curve.is_empty()).collect()
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

fn curve_ahead(
    cells: &[&StudyCell],
    method: &str,
    better: &str,
    worse: &str,
    larger: bool,
) -> (Holds, String) {
    let sign = if larger { 1.0 } else { -1.0 };
    let gains: Vec<f64> = curves_of(cells, method)
        .into_iter()
        .filter_map(|curve| Some(sign * mean_gain(curve, better, worse)?))
        .collect();
    let Some(spread) = summarise(&gains) else {
        return (Holds::NotRun, "no curves".to_owned());
    };
    if spread.count < 2 {
        return (Holds::Undecided, format!("mean gain {:.4} in one repeat", spread.mean));
    }
    let half = 1.96 * spread.standard_error();
    let holds = if spread.mean - half > 0.0 {
        Holds::Yes
    } else if spread.mean + half < 0.0 {
        Holds::No
    } else {
        Holds::Undecided
    };
    let numbers = format!(
        "mean gain {:.4} ± {half:.4} (95 % interval) over {} curves",
        spread.mean, spread.count
    );
    (holds, numbers)
}

fn curve_falls(cells: &[&StudyCell], method: &str, value: &str) -> (Holds, String) {
    let ends: Vec<(f64, f64)> = curves_of(cells, method)
        .into_iter()
        .filter_map(|curve| {
            let mut along = curve.iter().filter_map(|point| point.values.get(value).copied());
            let first = along.next()?;
            Some((first, along.next_back().unwrap_or(first)))
        })
        .collect();
    if ends.is_empty() {
        return (Holds::NotRun, "no curves".to_owned());
    }
    let falling = ends.iter().filter(|(first, last)| last < first).count();
    let holds = if falling == ends.len() { Holds::Yes } else { Holds::No };
    (holds, format!("falls along {falling} of {} curves", ends.len()))
}

fn of<'a>(cells: &[&'a StudyCell], dataset: &str, method: &str) -> Option<&'a StudyCell> {
    let found = cells
        .iter()
        .copied()
        .find(|cell| cell.key().dataset == dataset && cell.key().method == method);
    found.filter(|cell| cell.score().is_some())
}

fn datasets_of(cells: &[&StudyCell]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in cells {
        if !names.contains(&cell.key().dataset) {
            names.push(cell.key().dataset.clone());
        }
    }
    names
}

fn beats(
    cells: &[&StudyCell],
    better: &str,
    worse: &str,
    only: &[String],
) -> Result<(Holds, String), ExperimentError> {
    let mut gains = Vec::new();
    let (mut wins, mut losses) = (0, 0);
    for dataset in datasets_of(cells) {
        if !only.is_empty() && !only.contains(&dataset) {
            continue;
        }
        let (Some(a), Some(b)) = (of(cells, &dataset, better), of(cells, &dataset, worse)) else {
            continue;
        };
        let Some(test) = compare(a, b)? else { continue };
        let gain = if a.metric().larger_is_better() { test.difference } else { -test.difference };
        wins += usize::from(gain > 0.0 && !test.degenerate && test.p_corrected < 0.05);
        losses += usize::from(gain < 0.0 && !test.degenerate && test.p_corrected < 0.05);
        gains.push(gain);
    }
    if gains.is_empty() {
        return Ok((Holds::NotRun, "no records".to_owned()));
    }
    let ahead = gains.iter().filter(|gain| **gain > 0.0).count();
    let (holds, p) = over_datasets(&gains)?;
    let numbers = format!(
        "ahead on {ahead} of {} datasets (significantly better on {wins}, worse on {losses}, corrected test at 5 %); Wilcoxon over datasets p = {}",
        gains.len(),
        probability(p)
    );
    Ok((holds, numbers))
}

fn beats_there(
    cells: &[&StudyCell],
    dataset: &str,
    better: &str,
    worse: &str,
) -> Result<(Holds, String), ExperimentError> {
    let (Some(a), Some(b)) = (of(cells, dataset, better), of(cells, dataset, worse)) else {
        return Ok((Holds::NotRun, "no records".to_owned()));
    };
    let Some(test) = compare(a, b)? else {
        return Ok((Holds::Undecided, "no common repeats".to_owned()));
    };
    let gain = if a.metric().larger_is_better() { test.difference } else { -test.difference };
    let holds = match test.p_corrected < 0.05 {
        true if gain > 0.0 => Holds::Yes,
        true if gain < 0.0 => Holds::No,
        _ => Holds::Undecided,
    };
    Ok((holds, format!("mean gain {gain:.2}, corrected p = {}", probability(test.p_corrected))))
}

/// What the signed rank test says of gains, one a dataset, with its p.
fn over_datasets(gains: &[f64]) -> Result<(Holds, f64), ExperimentError> {
    let test = wilcoxon_signed_rank(gains)?;
    let p = test.p_two_sided;
    let holds = match test.positive_ranks.total_cmp(&test.negative_ranks) {
        std::cmp::Ordering::Greater if p < 0.05 => Holds::Yes,
        std::cmp::Ordering::Less if p < 0.05 => Holds::No,
        _ => Holds::Undecided,
    };
    Ok((holds, p))
}

/// Whether a positive number is smaller for `first` than for `second`, over the datasets.
fn smaller(
    cells: &[&StudyCell],
    first: &str,
    second: &str,
    name: &str,
    number: &dyn Fn(&StudyCell) -> Option<f64>,
) -> Result<(Holds, String), ExperimentError> {
    let mut ratios = Vec::new();
    for dataset in datasets_of(cells) {
        let side = |method: &str| of(cells, &dataset, method).and_then(number);
        if let (Some(a), Some(b)) = (side(first), side(second))
            && a > 0.0
            && b > 0.0
        {
            ratios.push(a / b);
        }
    }
    let Some(spread) = summarise(&ratios) else {
        return Ok((Holds::NotRun, "no records".to_owned()));
    };
    let gains: Vec<f64> = ratios.iter().map(|ratio| -ratio.ln()).collect();
    let (holds, p) = over_datasets(&gains)?;
    let below = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let numbers = format!(
        "smaller {name} on {below} of {} datasets; ratio {:.2} in the median, from {:.2} to {:.2}; Wilcoxon over datasets p = {}",
        ratios.len(),
        spread.median,
        spread.min,
        spread.max,
        probability(p)
    );
    Ok((holds, numbers))
}

/// The Rademacher bound (11) at the end of training but for `√(K/n)`, which all methods share.
fn rademacher(cell: &StudyCell) -> Option<f64> {
    let mean = |name: &str| {
        let values: Vec<f64> = cell.of(name).into_iter().map(|(_, value)| value).collect();
        summarise(&values).map(|summary| summary.mean)
    };
    Some(mean("trace-norm")? * mean("feature-norm-squared")?.sqrt())
}

fn larger_there(
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
    let (Some(named), Some(others)) = (summarise(&named), summarise(&others)) else {
        return Ok((Holds::NotRun, "no records to compare with".to_owned()));
    };
    // Two datasets against a few others: the means can be printed, but nothing tests them.
    let holds = Holds::Undecided;
    let numbers = format!(
        "mean gain {:.2} there ({:.2} to {:.2}), {:.2} on {} others ({:.2} to {:.2}); too few datasets for a test",
        named.mean, named.min, named.max, others.mean, others.count, others.min, others.max
    );
    Ok((holds, numbers))
}

/// Mean paired gain of `a` over `b`: positive if it is better.
fn gain(a: &StudyCell, b: &StudyCell) -> Result<Option<f64>, ExperimentError> {
    let sign = if a.metric().larger_is_better() { 1.0 } else { -1.0 };
    Ok(compare(a, b)?.map(|test| sign * test.difference))
}

/// Step and value along training, of the first repeat that has a curve.
fn curve(cell: &StudyCell, value: &str) -> BTreeMap<u64, f64> {
    let record = cell.records().find(|record| !record.result.curve.is_empty());
    record.map_or_else(BTreeMap::new, |record| {
        let points = record.result.curve.iter();
        points.filter_map(|point| Some((point.step, *point.values.get(value)?))).collect()
    })
}

fn always_ahead(
    cells: &[&StudyCell],
    dataset: &str,
    better: &str,
    rivals: &[String],
    value: &str,
    larger: bool,
) -> (Holds, String) {
    let leader = of(cells, dataset, better).map(|cell| curve(cell, value)).unwrap_or_default();
    let others: Vec<BTreeMap<u64, f64>> =
        rivals.iter().filter_map(|rival| Some(curve(of(cells, dataset, rival)?, value))).collect();
    if leader.is_empty() || others.len() < rivals.len() {
        return (Holds::NotRun, "no curves".to_owned());
    }
    let leads = |step: &u64, own: f64| {
        others
            .iter()
            .filter_map(|other| other.get(step))
            .all(|&theirs| if larger { own > theirs } else { own < theirs })
    };
    let ahead = leader.iter().filter(|(step, own)| leads(step, **own)).count();
    let holds = if ahead == leader.len() { Holds::Yes } else { Holds::No };
    (holds, format!("ahead of all others at {ahead} of {} looks", leader.len()))
}

fn goes_with(
    cells: &[&StudyCell],
    dataset: &str,
    methods: &[String],
    value: &str,
) -> (Holds, String) {
    let ends: Vec<(f64, f64)> = methods
        .iter()
        .filter_map(|method| {
            let cell = of(cells, dataset, method)?;
            let last = |name: &str| curve(cell, name).last_entry().map(|entry| *entry.get());
            Some((last(value)?, last("accuracy")?))
        })
        .collect();
    if ends.len() < methods.len() {
        return (Holds::NotRun, "no curves".to_owned());
    }
    let mut concordant = 0;
    let mut pairs = 0;
    for (i, a) in ends.iter().enumerate() {
        for b in &ends[i + 1..] {
            pairs += 1;
            concordant += usize::from((a.0 < b.0) == (a.1 > b.1));
        }
    }
    let holds = if concordant == pairs { Holds::Yes } else { Holds::No };
    let numbers = format!(
        "smaller {value} goes with higher accuracy in {concordant} of {pairs} pairs of methods at the end of training"
    );
    (holds, numbers)
}

/// Repeats from which "not significantly worse" says something.
pub(crate) const ENOUGH: usize = 10;

fn never_worse(
    cells: &[&StudyCell],
    method: &str,
    methods: &[String],
) -> Result<(Holds, String), ExperimentError> {
    let (mut rows, mut best, mut level, mut worse) = (0, 0, 0, Vec::new());
    let mut fewest = usize::MAX;
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
        let score = |cell: &StudyCell| cell.score().map_or(f64::NAN, |score| score.mean);
        let top = row
            .iter()
            .copied()
            .reduce(|top, cell| if cell.better(score(cell), score(top)) { cell } else { top });
        let Some(top) = top else { continue };
        if top.key().method == method {
            best += 1;
        } else if compare(own, top)?.is_some_and(|test| !test.degenerate && test.p_corrected < 0.05)
        {
            worse.push(dataset);
        } else {
            level += 1;
        }
    }
    if rows == 0 {
        return Ok((Holds::NotRun, "no records".to_owned()));
    }
    // "Not significantly worse" is cheap with few repeats: it then shows nothing.
    let holds = match (fewest < ENOUGH, worse.len() * 4 > rows, best * 2 > rows) {
        (_, true, _) => Holds::No,
        (false, false, true) if worse.is_empty() => Holds::Yes,
        _ => Holds::Undecided,
    };
    let named = if worse.is_empty() { String::new() } else { format!(" ({})", worse.join(", ")) };
    let numbers = format!(
        "best on {best}, not significantly worse on {level}, significantly worse on {}{named} of {rows} datasets, fewest repeats {fewest}",
        worse.len()
    );
    Ok((holds, numbers))
}
