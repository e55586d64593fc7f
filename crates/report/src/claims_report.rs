//! The answers: a table a paper, a section a claim, a line a variant.

use crate::claim::{Claim, ClaimResult, ENOUGH, Family, Holds};
use crate::{Catalogue, ExperimentError};
use mercer_render::{Cell, Column, Estimate, EstimatePair, Kind, Row, Table};
use std::collections::BTreeMap;

/// What a reader of the tables must know.
pub(crate) fn rules() -> String {
    format!(
        "Each claim, the paper's or ours, is checked in each variant. It holds, fails, or is inconclusive, at 5 %, adjusted by Holm within its family. Best on almost all is tested without the adjustment. The paper's claims in a variant are one family, ours another.\n\n\
         Our gain beside the printed one:\n\n\
         | our gain | our 95 % interval |\n\
         |:--|:--|\n\
         | as the paper's | above 0, and the two gains do not differ |\n\
         | smaller, larger | above 0, and below or above the printed gain |\n\
         | not told apart from 0, nor from the paper's | holds 0, and the two gains do not differ |\n\
         | not shown, and below the paper's | holds 0, and is below the printed gain |\n\
         | the reverse | below 0 |\n\n\
         The gain in the first line is over the datasets that have a printed gain. In the last two rows a claim fails if Holm's p of the gap to the printed gain is below 5 %, and the test below shows no gain. A gap that is not significant is printed as gap p. The replication Bayes factor is the odds of the printed gain against no gain.\n\n\
         The test of a claim:\n\n\
         - Over datasets: Stouffer's combination of the one-sided p of each dataset, from its repeats; the p printed is two-sided. Random splits have the corrected resampled t-test, folds the ordinary paired t-test. Wilcoxon's signed rank test, and the probabilities that the gain is worse, equal within a point, or better, are printed beside it.\n\
         - On named datasets: the test on each.\n\
         - Without a printed gain: a mean gain whose 95 % interval lies within a point of 0 makes the claim fail, once each dataset has three repeats.\n\
         - A difference below 0.1 points, or 1 % of an error, counts as none. So does a tie on a grid.\n\
         - Best, or not significantly worse than the best: best on more than half of the datasets and significantly worse on none, by Hsu's comparisons with the best. It fails by a loss that remains after Holm's adjustment over the datasets.\n\
         - Best on almost all: best on four of five and never significantly worse. Worse on more than a quarter, or unable to be best on more than half, fails. This and the one before need {ENOUGH} repeats to hold. Missing repeats leave a claim inconclusive only where they could change it.\n\
         - On curves: 95 % intervals over repeats, and Page's trend test for an order of several values. One method overtakes another if the intervals before and after show it, and no evaluation contradicts it. Peaks, and curves that end alike, rest on resampled curves or counts, without a p to adjust.\n\n\
         Not tuned: the variant tunes its methods, but some of them kept fixed settings. Not applicable: the variant does not run what the claim is about; the finding says why. Where the test part is fixed (MNIST, ijcnn1) a tuned method has one search for all seeds."
    )
}

/// Two tables for each paper with claims among these results: the paper's claims, and ours.
///
/// # Errors
/// If the claims of a paper do not have their form.
pub(crate) fn answers(
    catalogue: &Catalogue,
    results: &[ClaimResult],
) -> Result<Vec<Table>, ExperimentError> {
    let mut tables = Vec::new();
    let findings = catalogue.findings()?;
    let title_of = |id: &str| {
        let found = findings.iter().find(|finding| finding.id == id);
        found.map_or_else(|| id.to_owned(), |finding| finding.title.clone())
    };
    for (paper, title) in catalogue.sections() {
        let claims = catalogue.claims(paper)?;
        for (family, whose) in
            [(Family::Paper, "the paper's claims"), (Family::Ours, "our questions")]
        {
            let own = claims.iter().filter(|claim| claim.family() == family);
            let table = of_family(own, results, &title_of);
            if !table.rows.is_empty() {
                tables.push(Table {
                    id: answers_id(paper, family),
                    title: format!("{title}: {whose}"),
                    ..table
                });
            }
        }
    }
    Ok(tables)
}

/// Of the table of the answers to the claims of a paper, or to ours about it.
pub(crate) fn answers_id(paper: &str, family: Family) -> String {
    match family {
        Family::Paper => format!("answers/{paper}"),
        Family::Ours => format!("answers/{paper}-ours"),
    }
}

/// The finding behind a claim that fails is named below its variants.
fn of_family<'a>(
    claims: impl Iterator<Item = &'a Claim>,
    results: &[ClaimResult],
    title: &impl Fn(&str) -> String,
) -> Table {
    let columns = ["Variant", "Verdict", "What came out"].map(Column::left);
    let mut table = Table::new("", "").columns(columns);
    for claim in claims {
        let mut remark = claim.remark.as_deref();
        let of_claim = results.iter().filter(|result| result.claim == claim.id);
        let (run, not_run): (Vec<&ClaimResult>, Vec<_>) =
            of_claim.partition(|result| result.holds != Holds::NotRun);
        let shown = if run.is_empty() { not_run.into_iter().take(1).collect() } else { run };
        let drawn = shown.iter().filter_map(|result| estimates(result));
        let scale =
            EstimatePair::scale(drawn.flat_map(|(own, printed)| [Some(own), printed]).flatten());
        let confirmed = shown.iter().any(|result| result.holds == Holds::Yes);
        let refuted = shown.iter().any(|result| result.holds == Holds::No);
        let overall = match (confirmed, refuted) {
            (true, false) => verdict_in("Holds", Holds::Yes, &shown),
            (false, true) => verdict_in("Fails", Holds::No, &shown),
            (true, true) => "Mixed".to_owned(),
            (false, false) if shown.iter().all(|own| own.holds == Holds::NotApplicable) => {
                "Not applicable".to_owned()
            }
            (false, false) => "Inconclusive".to_owned(),
        };
        let quote = claim.quote.as_ref().map_or_else(String::new, |words| format!("“{words}”, "));
        let group = format!("{overall}: {} · {quote}{}", claim.text, claim.source);
        for (at, result) in shown.into_iter().enumerate() {
            let drawn =
                estimates(result).map(|(first, second)| EstimatePair { first, second, scale });
            let numbers = match remark.take_if(|_| result.holds != Holds::NotApplicable) {
                Some(remark) => format!("{}; {remark}", result.numbers),
                None => result.numbers.clone(),
            };
            let [verdict, came_out] = outcome(result, &numbers, title);
            let came_out = drawn.into_iter().fold(came_out, Cell::pair);
            let row = Row::new([Cell::text(&result.variant), verdict, came_out]).under(&group);
            table = table.row(if at == 0 { row.id(format!("claim-{}", claim.id)) } else { row });
        }
        if refuted {
            let why = match claim.because.as_deref() {
                Some(finding) => Cell::text(title(finding)).link(format!("finding-{finding}")),
                None => Cell::text("No finding gives a cause."),
            };
            table = table.row(Row::new([Cell::text("see"), Cell::text(""), why]).under(&group));
        }
    }
    table
}

/// `Holds`, or `Holds in released` where another variant decides nothing.
fn verdict_in(word: &str, verdict: Holds, shown: &[&ClaimResult]) -> String {
    let (own, rest): (Vec<&ClaimResult>, Vec<_>) = shown
        .iter()
        .filter(|result| result.holds != Holds::NotApplicable)
        .partition(|result| result.holds == verdict);
    let names: Vec<&str> = own.iter().map(|result| result.variant.as_str()).collect();
    if rest.is_empty() { word.to_owned() } else { format!("{word} in {}", names.join(", ")) }
}

/// Our gain in points, and the printed one where there is one.
fn estimates(result: &ClaimResult) -> Option<(Estimate, Option<Estimate>)> {
    let of_effect = result.effect.map(|effect| {
        let printed = Estimate { value: effect.printed, interval: effect.printed_interval };
        (Estimate { value: effect.ours, interval: effect.ours_interval }, Some(printed))
    });
    of_effect.or(result.gain.map(|gain| (gain, None)))
}

/// What a reader of the table of both rules must know.
pub(crate) const BY_RULE: &str = "The rule for claims was changed after the first runs. This page has every verdict by the rule before and by today's, with what decides today. Before: Wilcoxon's signed rank test over the datasets with Holm's adjustment over all claims of the paper and ours together, comparisons with the best by the test of one pair, no printed gains, and the correction for random splits on folds too. *Before* was computed once, from the records of that time, and *Now* also has newer records: a change can come from the rule, from new data, or from both. Each claim counts once per variant. Only the rows that changed are listed. The counts are of all; claims that came later have a verdict by today's rule alone.";

/// How many verdicts each rule gives, and a line for each that changed.
pub(crate) fn by_rule(catalogue: &Catalogue, results: &[ClaimResult]) -> [Table; 2] {
    let before = catalogue.before();
    let mut counts: BTreeMap<(Family, &str), [usize; 2]> = BTreeMap::new();
    let mut changed = Table::new("claims-by-rule", "Claims whose verdict changed")
        .columns(["Claim", "Variant", "Before", "Now", "Decided by"].map(Column::left));
    for result in results {
        let was = before.get(&result.claim).and_then(|of| of.get(&result.variant));
        let now = result.holds.words();
        counts.entry((result.family, now)).or_default()[1] += 1;
        let Some(was) = was else { continue };
        counts.entry((result.family, was)).or_default()[0] += 1;
        if was != now {
            let line = [&result.claim, &result.variant, was.as_str(), now, result.rule.words()];
            changed = changed.row(Row::new(line.map(Cell::text)).under(&result.paper));
        }
    }
    let mut all = Table::new("claims-by-rule-counts", "Verdicts by either rule")
        .columns(["Whose claims", "Verdict"].map(Column::left))
        .columns(["Before", "Now"].map(Column::right));
    for ((family, word), [was, now]) in counts {
        let whose = if family == Family::Paper { "the papers'" } else { "ours" };
        all = all.row(Row::new([
            Cell::text(whose),
            Cell::text(word),
            Cell::count(was),
            Cell::count(now),
        ]));
    }
    [all, changed]
}

/// Where nothing is decided, the p that leaves it open stands on the first line.
fn with_p_first(numbers: &str) -> String {
    let (p, mut others): (Vec<&str>, Vec<&str>) = numbers
        .split("; ")
        .partition(|part| part.contains("Holm's p over") || part.starts_with("gap p"));
    if p.is_empty() || others.is_empty() {
        return numbers.to_owned();
    }
    let first = [vec![others.remove(0)], p].concat().join(", ");
    [vec![first.as_str()], others].concat().join("; ")
}

/// Its verdict, and its numbers.
fn outcome(result: &ClaimResult, numbers: &str, title: &impl Fn(&str) -> String) -> [Cell; 2] {
    let (word, kind) = match result.holds {
        Holds::Yes if result.not_tuned > 0 => ("holds, not tuned", Kind::Neutral),
        Holds::No if result.not_tuned > 0 => ("fails, not tuned", Kind::Neutral),
        Holds::Undecided if result.not_tuned > 0 => ("inconclusive, not tuned", Kind::Neutral),
        Holds::Yes => ("holds", Kind::Good),
        Holds::No => ("fails", Kind::Bad),
        Holds::Undecided => ("inconclusive", Kind::Neutral),
        Holds::NotApplicable => {
            let cell = match result.numbers.strip_prefix("see ") {
                Some(finding) => Cell::text(title(finding)).link(format!("finding-{finding}")),
                None => Cell::text("").detail(numbers),
            };
            return [Cell::text("").badge("not applicable", Kind::Muted), cell];
        }
        Holds::NotRun => return [Cell::text("").badge("not run", Kind::Muted), Cell::text("")],
    };
    let open = result.holds == Holds::Undecided;
    let numbers = if open { with_p_first(numbers) } else { numbers.to_owned() };
    [Cell::text("").badge(word, kind), Cell::text("").detail(numbers)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_claim_says_its_p_on_the_first_line() {
        let found = with_p_first("gain 1; better on 2; Holm's p over 3 claims = 0.12");
        assert_eq!(found, "gain 1, Holm's p over 3 claims = 0.12; better on 2");
        let both = with_p_first("gain 1; Holm's p over 3 claims = 1.00; gap p = 0.06");
        assert_eq!(both, "gain 1, Holm's p over 3 claims = 1.00, gap p = 0.06");
        assert_eq!(with_p_first("best on 2"), "best on 2");
    }
}
