mod curves;
mod effect;
mod learning_curves;
mod points;
mod scores;

pub use effect::{Effect, Outcome};
pub(crate) use scores::ENOUGH;
pub use scores::ahead_in_words;

use crate::cell::{LEVEL, NOT_TUNED, StudyCell};
use crate::{Catalogue, ExperimentError, RenderContext};
use mercer_harness::Variant;
use mercer_statistics::{holm, less_spread, summarise};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A sentence of a paper, turned into a check.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `askl-beats-nskl`.
    pub id: String,
    /// `askl`: the paper whose file it stands in.
    #[serde(skip)]
    pub paper: String,
    /// Where the paper says it.
    pub source: String,
    /// What it says, in our words.
    pub text: String,
    /// How it is checked.
    pub check: Check,
    /// Only in these variants, if given: where others would not answer what it says.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Datasets of the study that the sentence does not speak of, because the paper does not show them.
    #[serde(default)]
    pub without: Vec<String>,
    /// Variants whose code does not do what the claim speaks of, each with the finding that says so.
    #[serde(default)]
    pub not_applicable: BTreeMap<String, String>,
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
    /// A method beats its control, the same method in another variant, over the datasets: Wilcoxon
    /// signed rank over the mean gains.
    BeatsControl {
        /// The study.
        study: String,
        /// The method.
        method: String,
        /// Variant to the variant of its control.
        controls: BTreeMap<String, String>,
    },
    /// A method is better in a variant of another study, which changes one thing, than in one of this,
    /// on the same splits: Wilcoxon signed rank over the mean gains.
    ChangeHelps {
        /// The study.
        study: String,
        /// Its variant.
        variant: String,
        /// The method.
        method: String,
        /// The study that changes something.
        changed_study: String,
        /// Its variant.
        changed: String,
    },
    /// `better` beats `worse` on each of these datasets: the corrected test at 5 %, dataset by dataset; that
    /// it loses on one is shown at 5 % over all of them.
    BeatsThere {
        /// The study.
        study: String,
        /// The datasets.
        datasets: Vec<String>,
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
    /// At the end of training, a smaller `value` goes with a higher accuracy over the methods, and over those of
    /// them that the control of the variant runs.
    GoesWith {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// Methods compared.
        methods: Vec<String>,
        /// The number that should fall as accuracy rises.
        value: String,
        /// Variant to the variant of its control.
        #[serde(default)]
        controls: BTreeMap<String, String>,
    },
    /// `method` is best or not significantly worse than the best: best on more than half of the
    /// datasets, significantly worse on none; one loss that Holm's adjustment over the datasets leaves
    /// refutes it. With `almost_all`, best on four of five of them.
    NeverWorse {
        /// The study.
        study: String,
        /// The method.
        method: String,
        /// The methods of the row.
        methods: Vec<String>,
        /// Whether it must be ahead on almost all datasets, not merely level.
        #[serde(default)]
        almost_all: bool,
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
        /// By how much, where the claim says it: an interval that excludes it contradicts the claim.
        #[serde(default)]
        by: Option<f64>,
        /// How far behind still costs nothing, where that is the claim.
        #[serde(default)]
        within: Option<f64>,
    },
    /// A value stays below a limit at these points of the curves of one method, on every dataset:
    /// corrected intervals.
    PointsBelow {
        /// The study.
        study: String,
        /// The method that is a whole curve.
        method: String,
        /// The value.
        value: String,
        /// Steps of the points.
        steps: Vec<u64>,
        /// The limit.
        limit: f64,
    },
    /// A value is smallest at one point of the curves of one method: the corrected test against each of
    /// the others, on every dataset.
    SmallestAt {
        /// The study.
        study: String,
        /// The method that is a whole curve.
        method: String,
        /// The value.
        value: String,
        /// On this dataset; on every one without it.
        #[serde(default)]
        dataset: Option<String>,
        /// Step of the point that should have the smallest.
        best: u64,
        /// Steps of the others.
        others: Vec<u64>,
    },
    /// Among some points of the curves of one method a smaller error goes with a higher score hardly more
    /// often than not: the interval over datasets of Kendall's τ lies within `limit`.
    WeaklyRelated {
        /// The study.
        study: String,
        /// The method that is a whole curve.
        method: String,
        /// The error.
        error: String,
        /// The score.
        score: String,
        /// Steps of points that are compared with each other.
        groups: Vec<Vec<u64>>,
        /// What still counts as weak.
        limit: f64,
    },
    /// A method scores in a variant what it scores in its control, up to `margin`: corrected intervals.
    StableUnder {
        /// The study.
        study: String,
        /// The method.
        method: String,
        /// Variant to the variant of its control.
        controls: BTreeMap<String, String>,
        /// What still counts as the same, in points.
        margin: f64,
    },
    /// A method is fitted faster in a variant than in its control: the interval of the ratio of
    /// processor seconds over repeats.
    FasterThanControl {
        /// The study.
        study: String,
        /// The method.
        method: String,
        /// Variant to the variant of its control.
        controls: BTreeMap<String, String>,
    },
    /// The value `better` is ahead of `worse` at the last point of the curves of one method: the
    /// corrected test on each dataset.
    EndBeats {
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
    /// A value is smaller at the end of the curves than at their beginning: the interval of the mean change
    /// over them.
    CurveFalls {
        /// The study.
        study: String,
        /// The method that is a whole curve.
        method: String,
        /// The value.
        value: String,
        /// Whether it is larger instead.
        #[serde(default)]
        rises: bool,
        /// Whether since half time, instead of since the beginning.
        #[serde(default)]
        late: bool,
    },
    /// A method is fitted faster than another: the interval of the ratio of processor seconds over the
    /// repeats that both have, dataset by dataset.
    Faster {
        /// The study.
        study: String,
        /// The method that should take less.
        faster: String,
        /// The method that should take more.
        slower: String,
    },
    /// A method is at most `margin` points below a row that the paper quotes from others, dataset by
    /// dataset: corrected intervals about one number.
    LevelWithQuoted {
        /// The study.
        study: String,
        /// The method.
        method: String,
        /// The paper that quotes.
        paper: String,
        /// The name of the row.
        row: String,
        /// What still counts as level.
        margin: f64,
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
    /// `method` is at most `margin` (points of accuracy, or of RMSE) worse than `rival` on every one of
    /// these datasets: corrected intervals.
    Within {
        /// The study.
        study: String,
        /// The method that should keep up.
        method: String,
        /// The method that it is held against.
        rival: String,
        /// Where.
        datasets: Vec<String>,
        /// What still counts as keeping up.
        margin: f64,
    },
    /// Each of these values of a curve lies below the next: in the geometric mean over the looks after
    /// the start, or at one step, by intervals over repeats.
    Ordered {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curves they are.
        method: String,
        /// The values, from the one that should be lowest.
        values: Vec<String>,
        /// Only at this step.
        #[serde(default)]
        at: Option<u64>,
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
        /// Whether its logarithm is looked at: for what grows without bound.
        #[serde(default)]
        log: bool,
    },
    /// From a step to the last, a value of a curve comes nearer to what it is at step 0, its limit.
    TendsTo {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curve it is.
        method: String,
        /// The value.
        value: String,
        /// The step.
        from: u64,
    },
    /// Late in training, where each partner has converged, to 5 %, its value still falls: from the second third
    /// of the looks to the last, by intervals over repeats. Undecided where a partner goes on.
    StillFalls {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curves they are.
        method: String,
        /// The values that fall.
        falling: Vec<String>,
        /// Their partners.
        settling: Vec<String>,
    },
    /// Each of these values comes after fewer steps than the one before it to the level that both come to, the
    /// larger of their medians over the last third of the looks: sign tests over repeats.
    ReachesSooner {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curves they are.
        method: String,
        /// The values.
        values: Vec<String>,
        /// Steps between two points of the curve of each.
        steps: Vec<f64>,
    },
    /// Along the curves of two methods, `method` is behind `rival` at first and ahead of it in the end:
    /// before the step `at` and from it on, or, without one, at the first step that both have and at the
    /// last. Intervals over repeats.
    Overtakes {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method that should come from behind.
        method: String,
        /// The method that it should overtake.
        rival: String,
        /// The number looked at.
        value: String,
        /// Whether a larger one leads.
        larger: bool,
        /// Where it should overtake.
        #[serde(default)]
        at: Option<u64>,
    },
    /// The values of a curve end alike, within `margin` in every repeat, and higher than they begin in the
    /// mean over repeats.
    EndsAlike {
        /// The study.
        study: String,
        /// The method that is a whole curve.
        method: String,
        /// The values.
        values: Vec<String>,
        /// What still counts as alike.
        margin: f64,
    },
    /// The peaks of these values stand out of their curves by less and less, until there is none.
    Sharper {
        /// The study.
        study: String,
        /// Dataset with curves.
        dataset: String,
        /// The method whose curves they are.
        method: String,
        /// The values, from the one with the sharpest peak.
        values: Vec<String>,
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
    #[serde(rename = "inconclusive")]
    Undecided,
    /// The variant does not do what the claim speaks of: a finding says why.
    NotApplicable,
    /// There are no records yet.
    NotRun,
}

/// What a check says of a variant.
#[derive(Debug)]
pub(crate) struct Answer {
    pub holds: Holds,
    pub numbers: String,
    /// Two-sided, by itself; none where a count or a resampled curve decides.
    pub p: Option<f64>,
    /// What decided.
    pub rule: Rule,
    /// Gains in points of accuracy, data set by data set.
    pub gains: Vec<(String, Gain)>,
    /// What refutes it where its own test does not decide.
    pub otherwise: Option<(Rule, f64)>,
}

/// A mean paired gain, positive if the first is better, and half its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gain {
    pub mean: f64,
    pub half: f64,
    /// Degrees of freedom of the interval.
    pub freedom: f64,
}

/// What decides a claim, or keeps it from being decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The p of the data sets, from their repeats, combined by Stouffer's method.
    Combined,
    /// The test on each of the data sets that the claim names.
    EachDataset,
    /// Multiple comparisons with the best, data set by data set.
    WithTheBest,
    /// On how many data sets the method is best, which missing repeats cannot change.
    Count,
    /// Our interval is below the printed gain, and not above 0.
    PrintedGain,
    /// Our interval lies within a point of 0, where no gain is printed.
    Equal,
    /// Page's trend test.
    Trend,
    /// An interval over repeats, curves or data sets.
    Interval,
    /// The difference is below the margin of practice.
    Level,
    /// Holm's adjustment over the family of claims takes the verdict back.
    Adjusted,
    /// The variant does not do what the claim speaks of, or was not run.
    None,
}

impl Holds {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Yes => "holds",
            Self::No => "does not hold",
            Self::Undecided => "inconclusive",
            Self::NotApplicable => "not applicable",
            Self::NotRun => "not run",
        }
    }
}

impl Rule {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Combined => "Stouffer's test over the repeats of all data sets",
            Self::EachDataset => "the test on each data set",
            Self::WithTheBest => "Hsu's comparison with the best on each data set",
            Self::Count => "the number of data sets on which it is best",
            Self::PrintedGain => "our interval is below the printed gain and not above 0",
            Self::Equal => "our interval lies within a point of 0",
            Self::Trend => "Page's trend test over the repeats",
            Self::Interval => "the interval over repeats",
            Self::Level => "the difference is below the margin of practice",
            Self::Adjusted => "Holm's adjustment over the family takes it back",
            Self::None => "-",
        }
    }
}

impl From<(Holds, String)> for Answer {
    fn from((holds, numbers): (Holds, String)) -> Self {
        Self { holds, numbers, p: None, rule: Rule::Interval, gains: Vec::new(), otherwise: None }
    }
}

impl From<(Holds, String, f64)> for Answer {
    fn from((holds, numbers, p): (Holds, String, f64)) -> Self {
        Self { p: Some(p), ..Self::from((holds, numbers)) }
    }
}

/// The p of a claim that asks for several tests: the largest where all must be for it, and the smallest times
/// their number where one is against it.
fn joint_p(parts: &[(Holds, f64)]) -> f64 {
    let against = parts.iter().filter(|(holds, _)| *holds == Holds::No);
    let least = against.map(|(_, p)| *p).reduce(f64::min);
    least.map_or_else(
        || parts.iter().map(|(_, p)| *p).fold(0.0, f64::max),
        |p| (p * parts.len() as f64).min(1.0),
    )
}

/// A claim checked in one variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimResult {
    /// Id of the claim.
    pub claim: String,
    /// `askl`: whose claim it is.
    pub paper: String,
    /// The claims that it is held to 5 % with: those of the paper, or ours.
    pub family: Family,
    /// The variant.
    pub variant: String,
    /// Whether it is answered by times, which no two runs have alike.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
    /// Whether it holds.
    pub holds: Holds,
    /// The numbers.
    pub numbers: String,
    /// Cells behind it whose variant tunes its methods, and which ran with given settings instead.
    pub not_tuned: usize,
    /// Two-sided p by itself; none where a count or a resampled curve decides.
    pub p: Option<f64>,
    /// After Holm's adjustment over the family.
    pub adjusted: Option<f64>,
    /// What decides, or what keeps it from being decided.
    pub rule: Rule,
    /// Our gain beside the printed one, where the paper prints numbers.
    pub effect: Option<Effect>,
    /// What refutes it where its own test does not decide, with its p.
    #[serde(skip)]
    pub(crate) otherwise: Option<(Rule, f64)>,
}

/// Claims that are held to one level together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// What the paper says.
    Paper,
    /// What is asked beyond it.
    Ours,
}

impl ClaimResult {
    /// Of numbers that are no result: whatever came out decides nothing.
    pub(crate) fn unjudged(&mut self) {
        if matches!(self.holds, Holds::Yes | Holds::No) {
            self.holds = Holds::Undecided;
        }
        self.numbers = format!("not judged by the profile smoke ({})", self.numbers);
    }
}

/// Holds the claims of a paper to 5 % together, and ours, variant by variant (Holm): among twenty one would come out
/// by chance.
///
/// A claim that may also be refuted by its size enters with the smaller of its two p. No gain and the printed gain
/// cannot both be true, so that at most one of the two tests of a claim can err.
pub(crate) fn adjust_family(results: &mut [ClaimResult]) -> Result<(), ExperimentError> {
    let families: BTreeSet<(String, Family)> =
        results.iter().map(|result| (result.variant.clone(), result.family)).collect();
    for (variant, family) in families {
        let own = |result: &&mut ClaimResult| result.variant == variant && result.family == family;
        let mut tested: Vec<&mut ClaimResult> = results
            .iter_mut()
            .filter(own)
            .filter(|result| result.p.or(result.otherwise.map(|(_, p)| p)).is_some())
            .collect();
        let least = |result: &ClaimResult| {
            let sized = result.otherwise.map_or(1.0, |(_, p)| p);
            result.p.map_or(sized, |p| p.min(sized))
        };
        let family_p: Vec<f64> = tested.iter().map(|result| least(result)).collect();
        let count = tested.len();
        for (place, result) in tested.iter_mut().enumerate() {
            let adjusted_to = |p: f64| -> Result<f64, ExperimentError> {
                let mut with = family_p.clone();
                with[place] = p;
                Ok(holm(&with)?[place])
            };
            let mut adjusted = adjusted_to(result.p.unwrap_or(1.0))?;
            let decided = matches!(result.holds, Holds::Yes | Holds::No);
            if !(decided && adjusted < LEVEL) {
                if decided {
                    (result.holds, result.rule) = (Holds::Undecided, Rule::Adjusted);
                }
                if let Some((rule, p)) = result.otherwise
                    && adjusted_to(p)? < LEVEL
                {
                    (result.holds, result.rule, adjusted) = (Holds::No, rule, adjusted_to(p)?);
                }
            }
            result.adjusted = Some(adjusted);
            if count > 1 {
                let p = mercer_render::probability(adjusted);
                let whose = if family == Family::Paper { "the paper's" } else { "our" };
                let _ = write!(result.numbers, "; among {whose} {count} claims here p = {p}");
            }
        }
    }
    Ok(())
}

impl Claim {
    /// Checks it in every variant of its study.
    ///
    /// # Errors
    /// Of the study or the tests.
    pub fn check(&self, context: &RenderContext<'_>) -> Result<Vec<ClaimResult>, ExperimentError> {
        let (Check::Beats { study, .. }
        | Check::BeatsControl { study, .. }
        | Check::BeatsThere { study, .. }
        | Check::ChangeHelps { study, .. }
        | Check::AlwaysAhead { study, .. }
        | Check::GoesWith { study, .. }
        | Check::NeverWorse { study, .. }
        | Check::Steadier { study, .. }
        | Check::Tighter { study, .. }
        | Check::CurveAhead { study, .. }
        | Check::PointsBelow { study, .. }
        | Check::SmallestAt { study, .. }
        | Check::WeaklyRelated { study, .. }
        | Check::StableUnder { study, .. }
        | Check::FasterThanControl { study, .. }
        | Check::EndBeats { study, .. }
        | Check::CurveFalls { study, .. }
        | Check::Faster { study, .. }
        | Check::LevelWithQuoted { study, .. }
        | Check::LargerThere { study, .. }
        | Check::Within { study, .. }
        | Check::Ordered { study, .. }
        | Check::FallsLate { study, .. }
        | Check::RisesThenFalls { study, .. }
        | Check::PeaksAt { study, .. }
        | Check::Overtakes { study, .. }
        | Check::EndsAlike { study, .. }
        | Check::TendsTo { study, .. }
        | Check::StillFalls { study, .. }
        | Check::ReachesSooner { study, .. }
        | Check::Sharper { study, .. }) = &self.check;
        let study = context.cells(study)?;
        let (spec, cells) = &*study;
        let beside = match &self.check {
            Check::ChangeHelps { changed_study, .. } => Some(context.cells(changed_study)?),
            _ => None,
        };
        let mut results = Vec::new();
        // A claim about methods that a variant does not run says nothing of that variant.
        let speaks_of = |variant: &&Variant| {
            let known = |name: &&str| variant.methods.iter().any(|method| method.name == **name);
            self.check.methods().iter().all(|name| known(&name.as_str()))
        };
        let asked =
            |variant: &&Variant| self.variants.is_empty() || self.variants.contains(&variant.name);
        for variant in spec.variants.iter().filter(asked).filter(speaks_of) {
            let of = |name: &str| -> Vec<&StudyCell> {
                let spoken_of = |cell: &&StudyCell| {
                    cell.key().variant == name && !self.without.contains(&cell.key().dataset)
                };
                cells.iter().filter(spoken_of).collect()
            };
            let own = of(&variant.name);
            let control = match &self.check {
                Check::BeatsControl { controls, .. }
                | Check::StableUnder { controls, .. }
                | Check::FasterThanControl { controls, .. } => match controls.get(&variant.name) {
                    Some(control) => of(control),
                    None => continue,
                },
                Check::ChangeHelps { variant: own, .. } if *own != variant.name => continue,
                Check::ChangeHelps { changed, .. } => beside
                    .iter()
                    .flat_map(|study| &study.1)
                    .filter(|cell| cell.key().variant == *changed)
                    .collect(),
                Check::GoesWith { controls, .. } => {
                    controls.get(&variant.name).map(|control| of(control)).unwrap_or_default()
                }
                _ => Vec::new(),
            };
            let (mut answer, effect) = self.with_effect(
                context.catalogue,
                self.check.on(context.catalogue, &own, &control)?,
            )?;
            let methods = self.check.methods();
            let behind = own.iter().chain(&control).filter(|cell| cell.score().is_some());
            let behind = behind.filter(|cell| methods.contains(&&cell.key().method));
            let (mut not_tuned, mut all) = (0, 0);
            for cell in behind {
                all += 1;
                not_tuned += usize::from(cell.tuning() == NOT_TUNED);
            }
            if not_tuned > 0 {
                let _ = write!(
                    answer.numbers,
                    "; {not_tuned} of {all} cells with given settings, not tuned as the variant says"
                );
            }
            let mut effect = effect;
            if let Some(finding) = self.not_applicable.get(&variant.name)
                && answer.holds != Holds::NotRun
            {
                answer = (Holds::NotApplicable, format!("see {finding}")).into();
                (not_tuned, effect) = (0, None);
            }
            let result = self.result(&variant.name, answer, not_tuned);
            results.push(ClaimResult { effect, ..result });
        }
        Ok(results)
    }

    fn result(&self, variant: &str, answer: Answer, not_tuned: usize) -> ClaimResult {
        let Answer { holds, numbers, p, rule, gains: _, otherwise } = answer;
        let answered = !matches!(holds, Holds::NotRun | Holds::NotApplicable);
        ClaimResult {
            claim: self.id.clone(),
            paper: self.paper.clone(),
            family: self.family(),
            variant: variant.to_owned(),
            timed: self.check.is_timed(),
            holds,
            numbers,
            not_tuned,
            p: p.filter(|_| answered),
            adjusted: None,
            rule: if answered { rule } else { Rule::None },
            effect: None,
            otherwise: otherwise.filter(|_| answered),
        }
    }

    /// Whose claim it is: the sources of ours say so.
    pub(crate) fn family(&self) -> Family {
        if self.source.starts_with("ours") { Family::Ours } else { Family::Paper }
    }

    /// An answer that says first what became of the printed gain; where that is absent or reversed it refutes the claim.
    fn with_effect(
        &self,
        catalogue: &Catalogue,
        answer: Answer,
    ) -> Result<(Answer, Option<Effect>), ExperimentError> {
        let Some(effect) = self.effect(catalogue, &answer.gains)? else {
            return Ok((answer, None));
        };
        let numbers = format!("{}; {}", effect.words(), answer.numbers);
        let gone = matches!(effect.outcome, Outcome::Absent | Outcome::Reversed);
        let otherwise = gone.then_some((Rule::PrintedGain, effect.p_printed));
        let answer = Answer { numbers, otherwise, ..answer };
        Ok((answer, Some(effect)))
    }

    /// Our gains beside the printed ones, for a claim of the paper about two methods of a printed table.
    fn effect(
        &self,
        catalogue: &Catalogue,
        gains: &[(String, Gain)],
    ) -> Result<Option<Effect>, ExperimentError> {
        let (Check::Beats { study, better, worse, .. }
        | Check::BeatsThere { study, better, worse, .. }) = &self.check
        else {
            return Ok(None);
        };
        if self.family() == Family::Ours {
            return Ok(None);
        }
        Effect::of(catalogue, study, better, worse, gains)
    }
}

impl Check {
    /// Whether seconds decide it.
    fn is_timed(&self) -> bool {
        matches!(self, Self::Faster { .. } | Self::FasterThanControl { .. })
    }

    /// The methods that it compares.
    fn methods(&self) -> Vec<&String> {
        match self {
            Self::Beats { better, worse, .. }
            | Self::BeatsThere { better, worse, .. }
            | Self::LargerThere { better, worse, .. } => vec![better, worse],
            Self::AlwaysAhead { better, rivals, .. } => {
                std::iter::once(better).chain(rivals).collect()
            }
            Self::Within { method, rival, .. } | Self::Overtakes { method, rival, .. } => {
                vec![method, rival]
            }
            Self::GoesWith { methods, .. } => methods.iter().collect(),
            Self::NeverWorse { method, methods, .. } => {
                std::iter::once(method).chain(methods).collect()
            }
            Self::Steadier { steadier, shakier, .. } => vec![steadier, shakier],
            Self::Faster { faster, slower, .. } => vec![faster, slower],
            Self::Tighter { tighter, looser, .. } => vec![tighter, looser],
            Self::BeatsControl { method, .. }
            | Self::ChangeHelps { method, .. }
            | Self::StableUnder { method, .. }
            | Self::FasterThanControl { method, .. }
            | Self::PointsBelow { method, .. }
            | Self::SmallestAt { method, .. }
            | Self::WeaklyRelated { method, .. }
            | Self::CurveAhead { method, .. }
            | Self::EndBeats { method, .. }
            | Self::CurveFalls { method, .. }
            | Self::LevelWithQuoted { method, .. }
            | Self::Ordered { method, .. }
            | Self::FallsLate { method, .. }
            | Self::RisesThenFalls { method, .. }
            | Self::PeaksAt { method, .. }
            | Self::EndsAlike { method, .. }
            | Self::TendsTo { method, .. }
            | Self::StillFalls { method, .. }
            | Self::ReachesSooner { method, .. }
            | Self::Sharper { method, .. } => vec![method],
        }
    }

    /// What the cells of a variant say, beside those of its control if the check has one.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of check")]
    fn on(
        &self,
        catalogue: &Catalogue,
        cells: &[&StudyCell],
        control: &[&StudyCell],
    ) -> Result<Answer, ExperimentError> {
        Ok(match self {
            Self::BeatsControl { method, .. } => scores::beats_control(cells, control, method)?,
            Self::ChangeHelps { method, .. } => scores::beats_control(control, cells, method)?,
            Self::Beats { better, worse, datasets, .. } => {
                scores::beats(cells, better, worse, datasets)?
            }
            Self::BeatsThere { datasets, better, worse, .. } => {
                scores::beats_there(cells, datasets, better, worse)?
            }
            Self::AlwaysAhead { dataset, better, rivals, value, larger, .. } => {
                curves::always_ahead(cells, dataset, better, rivals, value, *larger)
            }
            Self::Overtakes { dataset, method, rival, value, larger, at, .. } => {
                learning_curves::overtakes(cells, dataset, [method, rival], value, *larger, *at)
            }
            Self::EndsAlike { method, values, margin, .. } => {
                learning_curves::ends_alike(cells, method, values, *margin).into()
            }
            Self::GoesWith { dataset, methods, value, .. } => {
                learning_curves::goes_with(&[cells, control], dataset, methods, value)
            }
            Self::NeverWorse { method, methods, almost_all, .. } => {
                scores::never_worse(cells, method, methods, *almost_all)?
            }
            Self::Steadier { steadier, shakier, .. } => {
                let values = |cell: &StudyCell, repeats: &BTreeSet<u32>| -> Vec<f64> {
                    let values = cell.values().into_iter();
                    values
                        .filter(|(repeat, _)| repeats.contains(repeat))
                        .map(|(_, value)| value)
                        .collect()
                };
                let deviation = |cell: &StudyCell, repeats: &BTreeSet<u32>| {
                    summarise(&values(cell, repeats)).filter(|s| s.count > 1).map(|s| s.sample_std)
                };
                let p = |a: &StudyCell, b: &StudyCell, repeats: &BTreeSet<u32>| {
                    let sides = (values(a, repeats), values(b, repeats));
                    if repeats.len() < 3 { None } else { less_spread(&sides.0, &sides.1).ok() }
                };
                scores::smaller(cells, [steadier, shakier], "deviation", &deviation, &p)?
            }
            Self::Tighter { tighter, looser, .. } => scores::smaller(
                cells,
                [tighter, looser],
                "bound",
                &scores::rademacher,
                &scores::smaller_bound,
            )?,
            Self::LargerThere { better, worse, datasets, .. } => {
                scores::larger_there(cells, better, worse, datasets)?
            }
            Self::Within { method, rival, datasets, margin, .. } => {
                scores::within(cells, method, rival, datasets, *margin)?
            }
            Self::CurveAhead { method, better, worse, larger, by, within, .. } => {
                let goal = learning_curves::Goal { by: *by, within: *within };
                learning_curves::curve_ahead(cells, method, better, worse, *larger, goal)
            }
            Self::PointsBelow { method, value, steps, limit, .. } => {
                points::below(cells, method, value, steps, *limit)?
            }
            Self::SmallestAt { method, value, dataset, best, others, .. } => {
                let curves = (method.as_str(), dataset.as_deref());
                points::smallest_at(cells, curves, value, *best, others)?
            }
            Self::WeaklyRelated { method, error, score, groups, limit, .. } => {
                points::weakly_related(cells, method, (error, score), groups, *limit).into()
            }
            Self::StableUnder { method, margin, .. } => {
                points::stable(cells, control, method, *margin)?
            }
            Self::FasterThanControl { method, .. } => {
                points::faster(points::beside(cells, control, method), "the control")
            }
            Self::EndBeats { method, better, worse, larger, .. } => {
                learning_curves::end_beats(cells, method, better, worse, *larger)?
            }
            Self::CurveFalls { method, value, rises, late, .. } => {
                learning_curves::curve_falls(cells, method, value, *rises, *late)
            }
            Self::Faster { faster, slower, .. } => {
                points::faster(points::side_by_side(cells, faster, slower), slower)
            }
            Self::LevelWithQuoted { method, paper, row, margin, .. } => {
                let mut quoted = catalogue.quoted(paper)?;
                quoted.retain(|number| number.method == *row);
                points::level_with(cells, method, &quoted, *margin)?
            }
            Self::Ordered { dataset, method, values, at, .. } => {
                curves::ordered(cells, dataset, method, values, *at)?
            }
            Self::FallsLate { dataset, method, value, .. } => {
                curves::falls_late(cells, dataset, method, value)
            }
            Self::RisesThenFalls { dataset, method, value, .. } => {
                curves::rises_then_falls(cells, dataset, method, value)
            }
            Self::PeaksAt { dataset, method, value, at, log, .. } => {
                curves::peaks_at(cells, dataset, method, value, *at, *log).into()
            }
            Self::TendsTo { dataset, method, value, from, .. } => {
                curves::tends_to(cells, dataset, method, value, *from)
            }
            Self::StillFalls { dataset, method, falling, settling, .. } => {
                curves::still_falls(cells, dataset, method, falling, settling)
            }
            Self::ReachesSooner { dataset, method, values, steps, .. } => {
                curves::reaches_sooner(cells, dataset, method, values, steps)?
            }
            Self::Sharper { dataset, method, values, .. } => {
                curves::sharper(cells, dataset, method, values).into()
            }
        })
    }
}

fn of<'a>(cells: &[&'a StudyCell], dataset: &str, method: &str) -> Option<&'a StudyCell> {
    let found = cells
        .iter()
        .copied()
        .find(|cell| cell.key().dataset == dataset && cell.key().method == method);
    found.filter(|cell| cell.score().is_some())
}

/// The datasets of a claim that names none: some rows of one are not one.
fn datasets_of(cells: &[&StudyCell]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.subset_of().is_none()) {
        if !names.contains(&cell.key().dataset) {
            names.push(cell.key().dataset.clone());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of `reproduce --json` did not name the paper.
    #[test]
    fn a_row_says_which_claim_of_which_paper_it_answers() {
        let text = r#"
            id = "askl-beats-nskl"
            source = "Table 2"
            text = "ASKL is better than NSKL."
            check = { kind = "beats", study = "askl/table2", better = "askl", worse = "nskl" }
        "#;
        let claim = Claim { paper: "rftk".to_owned(), ..toml::from_str(text).unwrap() };
        let row = claim.result("printed", (Holds::Yes, String::new()).into(), 0);
        let json = serde_json::to_value(&row).unwrap();
        assert_eq!([&json["claim"], &json["paper"]], [claim.id.as_str(), "rftk"]);
    }

    #[test]
    fn claims_over_datasets_are_held_to_their_level_together() {
        let of = |family, variant: &str, holds, p| ClaimResult {
            claim: "c".to_owned(),
            paper: "p".to_owned(),
            family,
            variant: variant.to_owned(),
            timed: false,
            holds,
            numbers: "n".to_owned(),
            not_tuned: 0,
            p,
            adjusted: None,
            rule: Rule::Combined,
            effect: None,
            otherwise: None,
        };
        let result = |variant, holds, p| of(Family::Paper, variant, holds, p);
        let mut results = [
            result("a", Holds::Yes, Some(0.03)),
            result("a", Holds::No, Some(0.04)),
            result("a", Holds::Yes, Some(1e-3)),
            result("a", Holds::Yes, None),
            result("b", Holds::Yes, Some(0.03)),
            of(Family::Ours, "a", Holds::Yes, Some(0.03)),
            result("b", Holds::NotRun, None),
        ];
        adjust_family(&mut results).unwrap();
        let found: Vec<Holds> = results.iter().map(|result| result.holds).collect();
        let (yes, undecided) = (Holds::Yes, Holds::Undecided);
        assert_eq!(found, [undecided, undecided, yes, yes, yes, yes, Holds::NotRun]);
        assert_eq!(results[0].numbers, "n; among the paper's 3 claims here p = 0.06");
        assert_eq!((results[0].rule, results[2].rule), (Rule::Adjusted, Rule::Combined));
        // Its own test says nothing, or is taken back, and the printed gain is excluded.
        let sized = |holds, p| ClaimResult {
            otherwise: Some((Rule::PrintedGain, 1e-4)),
            ..result("d", holds, Some(p))
        };
        let mut of_size = [
            sized(Holds::Undecided, 0.7),
            sized(Holds::Yes, 0.03),
            sized(Holds::Yes, 1e-3),
            result("d", Holds::Undecided, Some(0.6)),
        ];
        adjust_family(&mut of_size).unwrap();
        let found: Vec<(Holds, Rule)> =
            of_size.iter().map(|result| (result.holds, result.rule)).collect();
        let refuted = (Holds::No, Rule::PrintedGain);
        let expected = [refuted, refuted, (yes, Rule::Combined), (undecided, Rule::Combined)];
        assert_eq!(found, expected);
        // Alone in its family.
        assert_eq!((results[4].numbers.as_str(), results[4].adjusted), ("n", Some(0.03)));
    }

    #[test]
    fn all_must_be_for_a_claim_and_one_may_be_against_it() {
        use Holds::{No, Undecided, Yes};
        let close = |parts: &[(Holds, f64)], p: f64| (joint_p(parts) - p).abs() < 1e-12;
        assert!(close(&[(Yes, 0.01), (Yes, 0.04)], 0.04));
        assert!(close(&[(Yes, 0.01), (No, 0.004), (Undecided, 0.5)], 0.012));
        assert!(close(&[(Yes, 0.01), (Undecided, 0.5)], 0.5));
    }
}
