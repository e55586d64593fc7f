//! Sentences of papers, turned into checks.
//!
//! Eight kinds of checks: [`Compare`] and [`Best`] of the scores of methods, [`Ahead`], [`Ordered`] and [`Falls`] of
//! whole curves, [`Extremum`] and [`Below`] of their points, [`Related`] of two values.

mod ahead;
mod best;
mod compare;
mod effect;
mod falls;
mod interval;
mod ordered;
mod points;
mod ratios;
mod related;
mod result;
mod scope;

pub use ahead::Ahead;
pub use best::Best;
pub(crate) use best::ENOUGH;
pub use compare::{Compare, ahead_in_words};
pub use effect::{Effect, Outcome};
pub use falls::Falls;
pub use ordered::Ordered;
pub use points::{Below, Extremum};
pub use related::Related;
pub(crate) use result::adjust_family;
pub use result::{ClaimResult, Family};

use crate::cell::{NOT_TUNED, StudyCell};
use crate::{Catalogue, ExperimentError, RenderContext};
use ahead::At;
use falls::How;
use interval::{Interval, Part};
use mercer_harness::Variant;
use mercer_render::Estimate;
use points::Is;
use scope::{Scope, Side};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
    /// The paper's own words, where it has a sentence for it.
    #[serde(default)]
    pub quote: Option<String>,
    /// What it says, in our words.
    pub text: String,
    /// What a reader must know beside its numbers.
    #[serde(default)]
    pub remark: Option<String>,
    /// The study whose records answer it.
    pub study: String,
    /// The datasets of the study that it speaks of, if not of all.
    #[serde(default)]
    pub datasets: Vec<String>,
    /// Datasets of the study that it does not speak of, because the paper does not show them.
    #[serde(default)]
    pub without: Vec<String>,
    /// How it is checked.
    pub check: Check,
    /// Only in these variants, if given: where others would not answer what it says.
    #[serde(default)]
    pub variants: Vec<String>,
    /// The finding that says why it fails, where it does.
    #[serde(default)]
    pub because: Option<String>,
    /// Variants whose code does not do what the claim speaks of, each with the finding that says so.
    #[serde(default)]
    pub not_applicable: BTreeMap<String, String>,
}

/// How a claim is checked, variant by variant.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Check {
    /// One side is better than another.
    Compare(Compare),
    /// A method is best, or not significantly worse than the best.
    Best(Best),
    /// A curve is ahead of others.
    Ahead(Ahead),
    /// Values of a curve are in an order.
    Ordered(Ordered),
    /// Values of a curve fall, or rise.
    Falls(Falls),
    /// A value peaks at a step, or is smallest there.
    Extremum(Extremum),
    /// A value stays below a limit.
    Below(Below),
    /// A smaller value goes with a larger one.
    Related(Related),
}

impl Check {
    /// All methods that it names.
    fn sides(&self) -> Vec<&Side> {
        match self {
            Self::Compare(Compare { better, worse, .. }) => {
                std::iter::once(better).chain(worse.side()).collect()
            }
            Self::Best(Best { method, among: others, .. })
            | Self::Ahead(Ahead { method, rivals: others, .. }) => {
                std::iter::once(method).chain(others).collect()
            }
            Self::Ordered(Ordered { method, .. })
            | Self::Falls(Falls { method, .. })
            | Self::Extremum(Extremum { method, .. })
            | Self::Below(Below { method, .. }) => vec![method],
            Self::Related(Related { methods, .. }) => methods.iter().collect(),
        }
    }

    /// Whether it says something of a variant for which a side names no place.
    fn may_lack(&self) -> bool {
        matches!(self, Self::Related(_))
    }

    /// Whether its numbers are those of the repeats of one dataset, which must be named.
    fn is_of_one_dataset(&self) -> bool {
        match self {
            Self::Ahead(Ahead { at, .. }) => matches!(at, At::EveryStep | At::FromBehind { .. }),
            Self::Falls(Falls { how, .. }) => {
                !matches!(how, How::Throughout | How::SinceHalf | How::UntilWithin(_))
            }
            Self::Extremum(Extremum { is, .. }) => !matches!(is, Is::SmallerThanAt(_)),
            Self::Related(Related { weakly, .. }) => weakly.is_none(),
            Self::Ordered(_) => true,
            Self::Compare(_) | Self::Best(_) | Self::Below(_) => false,
        }
    }

    /// What of it contradicts itself, and the remedy.
    fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Compare(check) => check.fault(),
            Self::Best(check) => check.fault(),
            Self::Ahead(check) => check.fault(),
            Self::Ordered(check) => check.fault(),
            Self::Falls(check) => check.fault(),
            Self::Extremum(_) => None,
            Self::Below(check) => check.fault(),
            Self::Related(check) => check.fault(),
        }
    }

    /// What the cells say.
    fn answer(&self, scope: Scope<'_>) -> Result<Answer, ExperimentError> {
        match self {
            Self::Compare(check) => check.answer(scope),
            Self::Best(check) => check.answer(scope),
            Self::Ahead(check) => Ok(check.answer(scope)),
            Self::Ordered(check) => check.answer(scope),
            Self::Falls(check) => Ok(check.answer(scope)),
            Self::Extremum(check) => Ok(check.answer(scope)),
            Self::Below(check) => Ok(check.answer(scope)),
            Self::Related(check) => Ok(check.answer(scope)),
        }
    }
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
    pub gains: Vec<(String, Interval)>,
    /// What refutes it where its own test does not decide.
    pub otherwise: Option<(Rule, f64)>,
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
            Self::No => "fails",
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
            Self::Combined => "Stouffer's test over the repeats of all datasets",
            Self::EachDataset => "the test on each dataset",
            Self::WithTheBest => "Hsu's comparison with the best on each dataset",
            Self::Count => "the number of datasets on which it is best",
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

impl Answer {
    /// That of a test or of several together.
    fn of((holds, p): Part, numbers: String) -> Self {
        let rule = Rule::Interval;
        Self { holds, numbers, p: Some(p), rule, gains: Vec::new(), otherwise: None }
    }

    /// What a count or a resampled curve decides, without a p.
    fn counted(holds: Holds, numbers: impl Into<String>) -> Self {
        Self { p: None, ..Self::of((holds, 1.0), numbers.into()) }
    }

    /// There is nothing to test.
    fn not_run(what: impl Into<String>) -> Self {
        Self::counted(Holds::NotRun, what)
    }
}

impl Claim {
    /// A claim of a paper, or what is wrong with it, by its id.
    pub(crate) fn from_table(paper: &str, table: toml::Table) -> Result<Self, String> {
        let id = table.get("id").and_then(toml::Value::as_str).unwrap_or("without id").to_owned();
        let read: Result<Self, toml::de::Error> = table.try_into();
        let claim = read.map_err(|error| format!("claim `{id}`: {}", error.message()))?;
        let unclear = claim.check.is_of_one_dataset() && claim.datasets.len() != 1;
        let unclear = unclear.then_some("the check needs one dataset: name it in `datasets`");
        match claim.check.fault().or(unclear) {
            Some(reason) => Err(format!("claim `{id}`: {reason}")),
            None => Ok(Self { paper: paper.to_owned(), ..claim }),
        }
    }

    /// Study, variant and method of all that it names; no variant is the one in which it is checked.
    pub fn places(&self) -> Vec<(&str, Option<&str>, &str)> {
        let places = self.check.sides().into_iter().flat_map(Side::places);
        places
            .map(|place| {
                let study = place.study.as_ref().unwrap_or(&self.study);
                (study.as_str(), place.variant.as_deref(), place.method.as_str())
            })
            .collect()
    }

    /// The datasets that it names.
    pub fn datasets(&self) -> impl Iterator<Item = &String> {
        let more_on = match &self.check {
            Check::Compare(check) => check.more_on(),
            _ => &[],
        };
        self.datasets.iter().chain(&self.without).chain(more_on)
    }

    /// Checks it in every variant of its study.
    ///
    /// # Errors
    /// Of the study or the tests.
    pub fn check(&self, context: &RenderContext<'_>) -> Result<Vec<ClaimResult>, ExperimentError> {
        let studies = Scope::studies(context, self)?;
        let variants = &studies[&self.study].0.variants;
        let sides = self.check.sides();
        let known = |name: &String| variants.iter().any(|own| own.name == *name);
        if let Some(name) = sides.iter().flat_map(|side| side.variants()).find(|name| !known(name))
        {
            return Err(ExperimentError::Form {
                file: format!("claims/{}.toml", self.paper),
                reason: format!("claim `{}`: {} has no variant `{name}`", self.id, self.study),
            });
        }
        // A claim about methods that a variant does not run says nothing of that variant.
        let speaks_of = |variant: &&Variant| {
            let runs = |name: &str| variant.methods.iter().any(|method| method.name == name);
            let here = |side: &&Side| match side {
                Side::Same(_) => side.here().is_none_or(runs),
                Side::By(places) => self.check.may_lack() || places.contains_key(&variant.name),
            };
            let asked = self.variants.is_empty() || self.variants.contains(&variant.name);
            asked && sides.iter().all(here)
        };
        let scope = |variant| Scope {
            catalogue: context.catalogue,
            claim: self,
            variant,
            studies: &studies,
        };
        let asked = variants.iter().filter(speaks_of);
        asked.map(|variant| self.in_variant(scope(&variant.name))).collect()
    }

    fn in_variant(&self, scope: Scope<'_>) -> Result<ClaimResult, ExperimentError> {
        let answer = self.check.answer(scope)?;
        if let Some(finding) = self.not_applicable.get(scope.variant)
            && answer.holds != Holds::NotRun
        {
            let told = Answer::counted(Holds::NotApplicable, format!("see {finding}"));
            return Ok(self.result(scope.variant, told, 0));
        }
        let gains: Vec<Interval> = answer.gains.iter().map(|(_, gain)| *gain).collect();
        let gain = (!gains.is_empty()).then(|| Interval::mean_of(&gains));
        let gain = gain.filter(|gain| gain.half.is_finite()).map(|gain| Estimate {
            value: gain.mean,
            interval: (gain.mean - gain.half, gain.mean + gain.half),
        });
        let (mut answer, effect) = self.with_effect(scope.catalogue, answer)?;
        let (not_tuned, all) = self.not_tuned(scope);
        if not_tuned > 0 {
            let _ = write!(
                answer.numbers,
                "; {not_tuned} of {all} cells with given settings, not tuned as the variant says"
            );
        }
        Ok(ClaimResult { effect, gain, ..self.result(scope.variant, answer, not_tuned) })
    }

    /// How many of the cells behind it should be tuned and are not, and how many there are.
    fn not_tuned(&self, scope: Scope<'_>) -> (usize, usize) {
        let mut behind: Vec<&StudyCell> = Vec::new();
        for cell in self.check.sides().into_iter().flat_map(|side| scope.cells(side)) {
            if cell.score().is_some() && !behind.iter().any(|own| std::ptr::eq(*own, cell)) {
                behind.push(cell);
            }
        }
        (behind.iter().filter(|cell| cell.tuning() == NOT_TUNED).count(), behind.len())
    }

    fn result(&self, variant: &str, answer: Answer, not_tuned: usize) -> ClaimResult {
        let Answer { holds, numbers, p, rule, gains: _, otherwise } = answer;
        let answered = !matches!(holds, Holds::NotRun | Holds::NotApplicable);
        ClaimResult {
            claim: self.id.clone(),
            paper: self.paper.clone(),
            family: self.family(),
            variant: variant.to_owned(),
            timed: matches!(&self.check, Check::Compare(check) if check.is_timed()),
            holds,
            numbers,
            not_tuned,
            p: p.filter(|_| answered),
            adjusted: None,
            rule: if answered { rule } else { Rule::None },
            effect: None,
            gain: None,
            otherwise: otherwise.filter(|_| answered),
        }
    }

    /// Whose claim it is: the sources of ours say so.
    pub(crate) fn family(&self) -> Family {
        if self.source.starts_with("ours") { Family::Ours } else { Family::Paper }
    }

    /// An answer that says first what became of the printed gain, for a claim of the paper about two methods of a
    /// printed table; where that gain is absent or reversed it refutes the claim.
    fn with_effect(
        &self,
        catalogue: &Catalogue,
        answer: Answer,
    ) -> Result<(Answer, Option<Effect>), ExperimentError> {
        let methods = match &self.check {
            Check::Compare(check) if self.family() == Family::Paper => check.here(),
            _ => None,
        };
        let effect = methods.map(|[better, worse]| {
            Effect::of(catalogue, &self.study, better, worse, &answer.gains)
        });
        let Some(effect) = effect.transpose()?.flatten() else { return Ok((answer, None)) };
        let numbers = format!("{}; {}", effect.words(), answer.numbers);
        let gone = matches!(effect.outcome, Outcome::Absent | Outcome::Reversed);
        let otherwise = gone.then_some((Rule::PrintedGain, effect.p_printed));
        Ok((Answer { numbers, otherwise, ..answer }, Some(effect)))
    }
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
            study = "askl/table2"
            check = { kind = "compare", better = "askl", worse = "nskl" }
        "#;
        let claim = Claim::from_table("rftk", toml::from_str(text).unwrap()).unwrap();
        let row = claim.result("printed", Answer::of((Holds::Yes, 0.01), String::new()), 0);
        let json = serde_json::to_value(&row).unwrap();
        assert_eq!([&json["claim"], &json["paper"]], [claim.id.as_str(), "rftk"]);
    }

    #[test]
    fn a_check_with_fields_that_do_not_fit_is_refused_by_the_id_of_its_claim() {
        let table = [
            ("kind = 'beats', better = 'a', worse = 'b'", "unknown variant `beats`"),
            ("kind = 'compare', better = 'a', worse = 'b', wurse = 'c'", "unknown field `wurse`"),
            ("kind = 'compare', better = 'a:b:c:d', worse = 'b'", "did not match any variant"),
            ("kind = 'compare', better = 'a'", "missing field `worse`"),
            (
                "kind = 'compare', better = 'a', worse = 'b', over = 'none'",
                "unknown variant `none`",
            ),
            ("kind = 'compare', better = 'a', worse = { quoted = 'Others' }", "a quoted row"),
            ("kind = 'compare', better = 'a', worse = 'b', of = 'seconds'", "seconds `\"each\"`"),
            ("kind = 'compare', better = 'a', worse = 'b', of = 'bound', over = 'each'", "bounds"),
            ("kind = 'best', method = 'a', among = ['a']", "no other method"),
            ("kind = 'ahead', method = 'a', value = 'v'", "`rivals`"),
            (
                "kind = 'ahead', method = 'a', value = 'v', rivals = ['b'], at = { mean = { b = 2 } }",
                "unknown field `b`",
            ),
            ("kind = 'ordered', method = 'a', values = ['v']", "two `values`"),
            (
                "kind = 'ordered', method = 'a', values = ['v', 'w'], by = { pace = [1.0] }",
                "`pace`",
            ),
            ("kind = 'falls', method = 'a', values = []", "name the `values`"),
            (
                "kind = 'falls', method = 'a', values = ['v', 'w'], how = { beside-settled = ['s'] }",
                "a partner",
            ),
            ("kind = 'falls', method = 'a', values = ['v'], how = 'late'", "one dataset"),
            ("kind = 'below', method = 'a', value = 'v', at = [], limit = 1.0", "no step"),
            ("kind = 'related', methods = ['a'], smaller = 'v', larger = 'w'", "two `methods`"),
        ];
        for (check, reason) in table {
            let text =
                format!("id = 'c'\nsource = 's'\ntext = 't'\nstudy = 'p/q'\ncheck = {{ {check} }}");
            let error = Claim::from_table("p", toml::from_str(&text).unwrap()).unwrap_err();
            assert!(error.starts_with("claim `c`: ") && error.contains(reason), "{check}: {error}");
        }
    }
}
