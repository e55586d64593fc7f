//! What came out of a claim in a variant, and the level that claims share.

use super::{Effect, Holds, Rule};
use crate::ExperimentError;
use crate::cell::LEVEL;
use mercer_render::Estimate;
use mercer_statistics::holm;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

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
    /// Our mean gain over the datasets in points, and its 95 % interval, where the claim is about accuracies.
    #[serde(skip)]
    pub gain: Option<Estimate>,
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
            let mut missed = None;
            let decided = matches!(result.holds, Holds::Yes | Holds::No);
            if !(decided && adjusted < LEVEL) {
                if decided {
                    (result.holds, result.rule) = (Holds::Undecided, Rule::Adjusted);
                }
                if let Some((rule, p)) = result.otherwise {
                    let p = adjusted_to(p)?;
                    if p < LEVEL {
                        (result.holds, result.rule, adjusted) = (Holds::No, rule, p);
                    } else {
                        missed = Some((rule, p));
                    }
                }
            }
            result.adjusted = Some(adjusted);
            if count > 1 {
                let p = mercer_render::probability(adjusted);
                let of = tested_against(result.rule);
                let _ = write!(result.numbers, "; {of}Holm's p over {count} claims = {p}");
                // What a reader of "reversed, inconclusive" looks for.
                if let Some((rule, p)) = missed {
                    let of = if rule == Rule::PrintedGain { "gap" } else { "within a point" };
                    let _ = write!(result.numbers, "; {of} p = {}", mercer_render::probability(p));
                }
            }
        }
    }
    Ok(())
}

/// What the p of a rule is about, where it is not the claim itself.
fn tested_against(rule: Rule) -> &'static str {
    match rule {
        Rule::PrintedGain => "gap to the printed gain, ",
        Rule::Equal => "within a point of 0, ",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            gain: None,
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
        assert_eq!(results[0].numbers, "n; Holm's p over 3 claims = 0.06");
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
        // The printed gain is not excluded either: its p is printed.
        let mut of_size = [
            ClaimResult {
                otherwise: Some((Rule::PrintedGain, 0.2)),
                ..result("d", Holds::Undecided, Some(0.7))
            },
            result("d", Holds::Undecided, Some(0.6)),
        ];
        adjust_family(&mut of_size).unwrap();
        let said = "n; Holm's p over 2 claims = 1.00; gap p = 0.40";
        assert_eq!((of_size[0].numbers.as_str(), of_size[0].holds), (said, undecided));
        // Alone in its family.
        assert_eq!((results[4].numbers.as_str(), results[4].adjusted), ("n", Some(0.03)));
    }
}
