//! The answers: a table a paper, a line a claim, a column a variant.

use crate::ExperimentError;
use crate::artefact::PAPERS;
use crate::claim::{ClaimResult, ENOUGH, Holds, claims};
use mercer_render::{Cell, Column, Kind, Row, Table};

/// What a reader of the tables must know.
pub(crate) fn rules() -> String {
    format!(
        "Each claim of the papers, and ours, is checked in each variant. A claim over datasets holds if the Wilcoxon signed rank test over the mean gains, each as a share of the sum of both errors, says so at 5 % together with all such claims of the paper in the variant (Holm); where there are too few datasets for that test to decide, three at least, it holds, or does not, if the corrected test finds so on every one of them. Single rows follow the corrected test. Where the test part is fixed (MNIST, ijcnn1) a tuned method has one search for all seeds: a significant difference there is one of the settings that it found. That a method is best or not significantly worse than the best holds if it is best on more than half of the datasets and significantly worse on none; it does not hold if it is significantly worse on one by Holm's adjustment over the datasets. That it is ahead on almost all of them holds if it is best on four of five and never significantly worse than the best; it does not if it is best on no more than half, or significantly worse on more than a quarter. Both hold with at least {ENOUGH} repeats only. That one method overtakes another holds if the 95 % intervals of the mean gains before and after say so, and no look on either side goes against it in the mean. That a value falls or rises along training follows the 95 % interval of its mean change over the curves; that it still falls after another has converged is undecided where the other moves by 5 % or more late in training. That a curve comes sooner to a level than another holds if a sign test over the repeats says so of each two neighbours, and does not if the opposite is shown of one by Holm's adjustment over them. `Not tuned`: the variant tunes its methods, but some of the cells behind the answer ran with given settings (a profile that does not tune); it then says nothing about tuned methods. `Not applicable`: what the variant runs is not what the claim speaks of; the finding says why. Means are ranked over the repeats that both have."
    )
}

/// One table for each paper with a claim among these results.
///
/// # Errors
/// If the claims of a paper do not have their form.
pub(crate) fn answers(results: &[ClaimResult]) -> Result<Vec<Table>, ExperimentError> {
    let mut tables = Vec::new();
    for (paper, title) in PAPERS {
        let claims = claims(paper)?;
        let own: Vec<&ClaimResult> = results
            .iter()
            .filter(|result| claims.iter().any(|claim| claim.id == result.claim))
            .collect();
        let mut variants: Vec<&str> = Vec::new();
        for result in &own {
            if !variants.contains(&result.variant.as_str()) {
                variants.push(&result.variant);
            }
        }
        // One without a record has no column.
        let run =
            |result: &&&ClaimResult| !matches!(result.holds, Holds::NotRun | Holds::NotApplicable);
        variants.retain(|name| own.iter().filter(run).any(|result| result.variant == *name));
        if own.is_empty() {
            continue;
        }
        let mut table = Table::new(format!("answers/{paper}"), *title)
            .columns(["Claim", "Where"].map(Column::left))
            .columns(variants.iter().map(|variant| Column::left(*variant)));
        for claim in &claims {
            let of_claim: Vec<&&ClaimResult> =
                own.iter().filter(|result| result.claim == claim.id).collect();
            if of_claim.is_empty() {
                continue;
            }
            let mut row = vec![Cell::text(&claim.text), Cell::text(&claim.source)];
            for variant in &variants {
                let found = of_claim.iter().find(|result| result.variant == *variant);
                row.push(found.map_or_else(|| Cell::text(""), |result| outcome(result)));
            }
            table = table.row(Row::new(row).id(format!("claim-{}", claim.id)));
        }
        tables.push(table);
    }
    Ok(tables)
}

fn outcome(result: &ClaimResult) -> Cell {
    let (word, kind) = match result.holds {
        Holds::Yes if result.not_tuned > 0 => ("holds, not tuned", Kind::Neutral),
        Holds::No if result.not_tuned > 0 => ("does not hold, not tuned", Kind::Neutral),
        Holds::Undecided if result.not_tuned > 0 => ("undecided, not tuned", Kind::Neutral),
        Holds::Yes => ("holds", Kind::Good),
        Holds::No => ("does not hold", Kind::Bad),
        Holds::Undecided => ("undecided", Kind::Neutral),
        Holds::NotApplicable => {
            let cell = Cell::text("").badge("not applicable", Kind::Muted).detail(&result.numbers);
            return match result.numbers.strip_prefix("see ") {
                Some(finding) => cell.link(format!("finding-{finding}")),
                None => cell,
            };
        }
        Holds::NotRun => return Cell::text("").badge("not run", Kind::Muted),
    };
    Cell::text("").badge(word, kind).detail(&result.numbers)
}
