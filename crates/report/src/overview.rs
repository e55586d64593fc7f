//! Published numbers by verdict, once per variant: a bar a paper, for the first page and the README.

use crate::claim::{ClaimResult, Family, Holds};
use crate::comparison::{CLASSES, class};
use crate::paper::Headline;
use crate::{Artefact, Paper, Rendered};
use mercer_render::{Bar, Bars, number};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Red, green and blue of each class: blues come out, orange and brown differ, greys cannot say. Told apart by any
/// colour vision, and in grey by their order.
const COLORS: [[u8; 3]; CLASSES.len()] = [
    [0x00, 0x3F, 0x6B],
    [0x00, 0x72, 0xB2],
    [0x8F, 0xC4, 0xE8],
    [0xD8, 0xDC, 0xE0],
    [0xF0, 0xC0, 0x6A],
    [0xE0, 0x95, 0x1F],
    [0xB8, 0x4A, 0x00],
    [0x9A, 0xA1, 0xA8],
    [0x5B, 0x62, 0x69],
];

/// One bar a paper, over all variants; none for a paper without a printed number here.
pub(crate) fn overview(
    papers: &[Paper],
    rendered: &[(&Artefact, Rendered)],
    claims: &[ClaimResult],
) -> Bars {
    let row = |paper: &Paper| {
        let mut counts = vec![0; CLASSES.len()];
        let own = rendered
            .iter()
            .flat_map(|(_, own)| &own.cells)
            .filter(|report| report.artefact.split('/').next() == Some(paper.key));
        own.filter_map(class).for_each(|class| counts[class] += 1);
        (counts.iter().sum::<usize>() > 0).then(|| {
            let line = headline(claims, &paper.headline).unwrap_or_default();
            Bar {
                name: paper.name.to_owned(),
                link: Some(format!("./{}.html", paper.key)),
                counts,
                about: about(paper, decided(claims, paper.key)),
                below: format!("{}\n\n{line}", claims_in_words(claims, paper.key)),
                line,
            }
        })
    };
    Bars {
        id: "overview".to_owned(),
        title: "Published numbers by verdict, once per variant".to_owned(),
        classes: CLASSES.iter().map(|name| (*name).to_owned()).zip(COLORS).collect(),
        rows: papers.iter().filter_map(row).collect(),
    }
}

/// Which paper holds up best, by its numbers that agree among those that agree or differ, and by its claims that hold;
/// none unless each paper has some of both.
pub(crate) fn best(papers: &[Paper], bars: &Bars, claims: &[ClaimResult]) -> Option<String> {
    let of = |paper: &Paper| {
        let counts = &bars.rows.iter().find(|bar| bar.name == paper.name)?.counts;
        let sum = |names: &[&str]| -> usize {
            let own = CLASSES.iter().zip(counts).filter(|(class, _)| names.contains(class));
            own.map(|(_, count)| count).sum()
        };
        let agree = sum(&["exact", "agrees"]);
        let all = agree + sum(&["explained", "cause unknown", "unexplained"]);
        (all > 0).then_some((agree, all, paper.name))
    };
    let claimed = |paper: &Paper| {
        let counts = claims_of(claims, paper.key);
        let all = counts.iter().sum();
        (all > 0).then_some((counts[0], all, paper.name))
    };
    let (by_numbers, by_claims) =
        (largest_share(papers.iter().map(of))?, largest_share(papers.iter().map(claimed))?);
    Some(format!(
        "Not as a whole. {by_numbers}'s numbers agree most often, {by_claims} has most claims that hold."
    ))
}

/// Part, whole and name; none unless each paper has them.
type Share<'a> = (usize, usize, &'a str);

/// Its name.
fn largest_share<'a>(shares: impl Iterator<Item = Option<Share<'a>>>) -> Option<&'a str> {
    let shares: Vec<Share<'a>> = shares.collect::<Option<_>>()?;
    let share = |own: &Share<'_>| own.0 as f64 / own.1 as f64;
    shares.into_iter().max_by(|a, b| share(a).total_cmp(&share(b))).map(|own| own.2)
}

/// Our gains beside the printed one; nothing where none is run.
fn headline(claims: &[ClaimResult], headline: &Headline) -> Option<String> {
    let of = |variant: &str| {
        let own = |own: &&ClaimResult| own.claim == headline.claim && own.variant == variant;
        claims.iter().find(own)?.effect
    };
    let found = headline.variants.iter().filter_map(|(variant, word)| Some((of(variant)?, word)));
    let ours: Vec<_> = found.collect();
    let (first, _) = ours.first()?;
    let Headline { words, .. } = headline;
    let (count, printed) = (first.datasets, number(first.printed, 1));
    let mut said = format!("{words}, points: paper {printed}");
    for (effect, word) in &ours {
        let _ = write!(said, ", {word} {}", number(effect.ours, 1));
        if effect.datasets != count {
            let (count, printed) = (effect.datasets, number(effect.printed, 1));
            let _ = write!(said, " (paper on these {count} datasets: {printed})");
        }
    }
    Some(said)
}

/// Where it appeared and, where claims are decided, results, as Markdown.
fn about(paper: &Paper, decided: bool) -> String {
    let Paper { venue, link, results: [first, second], .. } = paper;
    let venue = format!("[{venue}]({link})");
    if decided { format!("{venue}\n\n**{first} {second}**") } else { venue }
}

/// Whether the records shown decide a claim of the paper: what came out of it is not said of a part of them.
pub(crate) fn decided(claims: &[ClaimResult], paper: &str) -> bool {
    let decides = |own: &ClaimResult| matches!(own.holds, Holds::Yes | Holds::No);
    claims.iter().any(|own| own.paper == paper && own.family == Family::Paper && decides(own))
}

/// How many of the paper's own claims hold, fail, do both depending on the variant, and neither; no zeros, and no claim
/// that applies to no variant.
fn claims_in_words(results: &[ClaimResult], paper: &str) -> String {
    let counts = claims_of(results, paper);
    let all: usize = counts.iter().sum();
    let words = ["hold", "fail", "mixed", "inconclusive"];
    let some = counts.iter().zip(words).filter(|(count, _)| **count > 0);
    let some: Vec<String> = some.map(|(count, word)| format!("{count} {word}")).collect();
    format!("{all} claims: {}.", some.join(", "))
}

/// The same as numbers.
fn claims_of(results: &[ClaimResult], paper: &str) -> [usize; 4] {
    let mut found: BTreeMap<&str, [bool; 2]> = BTreeMap::new();
    let of_paper = results.iter().filter(|own| own.paper == paper && own.family == Family::Paper);
    for result in of_paper.filter(|own| own.holds != Holds::NotApplicable) {
        let [yes, no] = found.entry(&result.claim).or_default();
        *yes |= result.holds == Holds::Yes;
        *no |= result.holds == Holds::No;
    }
    [[true, false], [false, true], [true, true], [false, false]]
        .map(|wanted| found.values().filter(|found| **found == wanted).count())
}
