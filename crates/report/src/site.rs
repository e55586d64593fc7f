//! The pages of the report: what stands on which, and how they are called.

mod chapters;
mod methods;

pub(crate) use chapters::of_markdown;
use chapters::{guide, of_tour};
use methods::methods_page;

use crate::claim::{Claim, ClaimResult, Family};
use crate::claims_report::{answers, answers_id, rules};
use crate::coverage::RULES;
use crate::finding::Mistake;
use crate::overview::{best, decided};
use crate::shown::{METHOD, PIPE, Shown};
use crate::{Artefact, Drawing};
use crate::{ExperimentError, Paper, RenderContext, Rendered};
use mercer_render::{Badge, Bars, Block, Finding, Kind, Link, Report, Section, Table};
use rayon::prelude::*;
use std::collections::BTreeSet;

type Own<'a> = (&'a Artefact, Rendered);

/// Entries of the header that are no papers.
const START: &str = "Start";
pub(crate) const AUDITS: &str = "Audits";
const FINDINGS: &str = "Findings";
const METHODS: &str = "Methods";
const BOARD: &str = "Leaderboard";
const GUIDE: &str = "Guide";

/// All pages but those of other runs, in the order of the header.
pub(crate) fn pages(
    context: &RenderContext<'_>,
    rendered: &[Own<'_>],
    claims: &[ClaimResult],
    bars: Bars,
    run: Table,
    machine: Vec<Link>,
    again: Option<String>,
) -> Result<Vec<Report>, ExperimentError> {
    let mut pages = vec![start(context, bars, claims, again)];
    let papers = context.catalogue.papers();
    let answers = answers(context.catalogue, claims)?;
    for paper in papers {
        let mut paper = *paper;
        let mut tour = Vec::new();
        if decided(claims, paper.key) {
            tour = of_tour(context.catalogue.texts(), paper.key);
        } else {
            paper.results = ["", ""];
        }
        let claims = [(Family::Paper, "The paper's claims"), (Family::Ours, "Our questions")];
        let claims = claims.into_iter().filter_map(|(family, title)| {
            let id = answers_id(paper.key, family);
            let own = answers.iter().find(|table| table.id == id)?.clone();
            Some(Block::Table(Table { title: title.to_owned(), ..own }))
        });
        let said = context.catalogue.claims(paper.key)?;
        pages.extend(paper_page(papers, &paper, rendered, (tour, claims.collect(), said)));
    }
    pages.extend(board_page(rendered));
    pages.extend(audits(papers, rendered));
    pages.extend(finding_page(context, rendered)?);
    pages.push(methods_page(context.catalogue, context.methods, rendered));
    pages.extend(guide(context.catalogue.texts().chapters));
    pages.push(method(context, rendered, run, machine)?);
    if context.profile == PIPE {
        for page in &mut pages {
            let smoke = "Profile smoke: a few rows and steps, which prove that everything runs. No number here is a result.";
            page.subtitle = format!("{smoke} {}", page.subtitle);
        }
    }
    Ok(pages)
}

fn start(
    context: &RenderContext<'_>,
    bars: Bars,
    claims: &[ClaimResult],
    again: Option<String>,
) -> Report {
    let texts = context.catalogue.texts();
    let best = best(context.catalogue.papers(), &bars, claims);
    let mut came_out = Section::new("what-came-out", "What came out");
    if !bars.rows.is_empty() {
        came_out = came_out.block(Block::Bars(bars));
    }
    let rest = format!(
        "Bars: published numbers. [Colours](verdicts), [causes](findings)\n\n{}",
        again.unwrap_or_default()
    );
    Report::new(texts.title)
        .subtitle(best.unwrap_or_else(|| texts.subtitle.to_owned()))
        .section(came_out.block(Block::Text(rest)))
        .section(Section::new("run", "Run it").block(Block::Text(texts.commands.to_owned())))
        .page("index.html", START)
}

fn paper_page(
    papers: &[Paper],
    paper: &Paper,
    rendered: &[Own<'_>],
    (tour, claims, said): (Vec<Section>, Vec<Block>, Vec<Claim>),
) -> Option<Report> {
    let Paper { key, name, title, authors, venue, link, terms, results: [first, second], .. } =
        paper;
    let mut page = Report::new(format!("{name}: {title}"))
        .subtitle(format!("{authors}, [{venue}]({link}). {first} {second}"))
        .page(format!("{key}.html"), *name);
    page.sections.extend(tour);
    let answers = claims.clone();
    if !claims.is_empty() {
        let section = Section::new("claims", "Which claims hold")
            .intro(format!("{terms}\n\nVariants: {}. Holds, fails, inconclusive: [how a claim is decided](rules). Dot: our gain in points. Square: the paper's gain. Lines: their 95 % intervals. Thin line: no gain.", variants(&claims)));
        page = page.section(Section { blocks: claims, ..section });
    }
    let of_paper = rendered.iter().filter(|(artefact, _)| paper_of(artefact) == *key);
    let mut own: Vec<(String, &Own<'_>)> =
        of_paper.filter_map(|own| Some((label(papers, own.0)?, own))).collect();
    own.sort_by_key(|(_, (artefact, _))| &artefact.id);
    for (kind, head, intro) in [
        (
            "Table",
            "Tables",
            "Row `published`: the paper's numbers. Rows below it: ours, one per variant. [What variants and verdicts mean](verdicts). Blue: agrees. Yellow: differs, and a finding says why. Orange, `differs?`: cause unknown. Red, `differs!`: unexplained. Dotted underline: not significantly worse than the best. A click on a number shows its repeats, tests and commands.",
        ),
        (
            "Figure",
            "Figures",
            "Panels of one quantity share one scale. A panel marked `row's scale` shares it with its row only, one marked `own scale` with none. Beside a title: what came out of the claims about the figure.",
        ),
    ] {
        let own = own.iter().filter(|(label, _)| label.starts_with(kind));
        let judged = |(label, own): &(String, &Own<'_>)| {
            let rest = said.iter().filter(|claim| rests_on(claim, own.0, label));
            judged(blocks(own, label, false), rest, &answers)
        };
        let blocks: Vec<Block> = own.flat_map(judged).collect();
        if !blocks.is_empty() {
            let section = Section { blocks, ..Section::new(head.to_lowercase(), head) };
            page = page.section(section.intro(intro));
        }
    }
    (!page.sections.is_empty()).then_some(page)
}

/// Whether a claim is about a figure of the paper: it says so, and the records of the figure answer it.
fn rests_on(claim: &Claim, artefact: &Artefact, label: &str) -> bool {
    let (Some(number), Some((_, figures))) =
        (label.strip_prefix("Figure "), claim.source.split_once("Figure"))
    else {
        return false;
    };
    let of = |word: &str| {
        let word = word.trim_end_matches([',', ';', ':']);
        word == number || word.strip_prefix(number).is_some_and(|part| part.starts_with('('))
    };
    artefact.studies.contains(&claim.study) && figures.split_whitespace().any(of)
}

/// The blocks of a figure with what came out of claims about it: counts beside its title, and a link to the first
/// below. Links to all would take a page over its limit of bytes.
fn judged<'a>(
    mut blocks: Vec<Block>,
    claims: impl Iterator<Item = &'a Claim>,
    answers: &[Block],
) -> Vec<Block> {
    let rows = || {
        let tables = answers.iter().filter_map(|block| match block {
            Block::Table(table) => Some(&table.rows),
            _ => None,
        });
        tables.flatten()
    };
    let mut counts = OUTCOMES.map(|(word, kind)| (word, kind, 0));
    let mut first = None;
    for claim in claims {
        let id = format!("claim-{}", claim.id);
        let group =
            rows().find(|row| row.id.as_ref() == Some(&id)).and_then(|row| row.group.as_ref());
        let Some((outcome, _)) = group.and_then(|group| group.split_once(':')) else { continue };
        if let Some((.., count)) = counts.iter_mut().find(|(word, ..)| outcome.starts_with(word)) {
            *count += 1;
        }
        first = first.or(Some(id));
    }
    let figure = blocks.iter_mut().find_map(|block| match block {
        Block::Figure(figure) => Some(figure),
        _ => None,
    });
    if let Some(figure) = figure {
        for (word, kind, count) in counts.into_iter().filter(|(_, _, count)| *count > 0) {
            let claims = if count == 1 { "claim" } else { "claims" };
            let text = format!("{}: {count} {claims}", word.to_lowercase());
            figure.badges.push(Badge { text, kind });
        }
        let link = |id| Block::Text(format!("[Claims about it]({id})"));
        blocks.extend(first.map(link));
    }
    blocks
}

/// What comes out of claims, in the words of their table.
const OUTCOMES: [(&str, Kind); 5] = [
    ("Holds", Kind::Good),
    ("Fails", Kind::Bad),
    ("Mixed", Kind::Neutral),
    ("Inconclusive", Kind::Neutral),
    ("Not applicable", Kind::Muted),
];

/// The usual variants among these rows, in words.
fn variants(claims: &[Block]) -> String {
    let has = |name: &str| {
        let tables = claims.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
        let mut rows = tables.flat_map(|table| &table.rows);
        rows.any(|row| row.cells.first().is_some_and(|cell| cell.text == name))
    };
    let known = [
        ("printed", "`printed` follows the text"),
        ("released", "`released` the authors' code"),
        ("tuned", "`tuned` is searched inside the training rows"),
    ];
    let words: Vec<&str> =
        known.into_iter().filter(|(name, _)| has(name)).map(|(_, words)| words).collect();
    words.join(", ")
}

/// Whether methods are ranked there, of whatever paper.
fn is_board(artefact: &Artefact) -> bool {
    paper_of(artefact) == "leaderboard"
}

/// Methods of all papers beside other ones.
fn board_page(rendered: &[Own<'_>]) -> Option<Report> {
    let own = rendered.iter().filter(|(artefact, _)| is_board(artefact));
    let blocks: Vec<Block> = own.flat_map(|own| blocks(own, "", false)).collect();
    let page = Report::new("The kernel leaderboard")
        .subtitle("Methods that learn a kernel, methods with a fixed one, and what people use today: same splits, same scaling, searched inside the training part.")
        .page("leaderboard.html", BOARD);
    let section = Section { blocks, ..Section::new("leaderboard", "Which method ranks best?") };
    (!section.blocks.is_empty()).then(|| page.section(section))
}

/// What is ours: a page a paper, below one with all else and the list of them.
fn audits(papers: &[Paper], rendered: &[Own<'_>]) -> Vec<Report> {
    let of = |paper: &str| {
        let own = rendered.iter().filter(|(artefact, _)| {
            label(papers, artefact).is_none()
                && !is_board(artefact)
                && about(papers, &artefact.id) == paper
        });
        own.collect::<Vec<_>>()
    };
    let mut list = Vec::new();
    let mut pages = Vec::new();
    for Paper { key, name, .. } in papers {
        let mut page = Report::new(format!("{name}: audits"))
            .subtitle("Each one changes one thing, and measures what it does to the numbers.")
            .page(format!("audits-{key}.html"), AUDITS);
        for (folder, head) in [
            ("audit", "Why numbers differ"),
            (*key, "Beyond the paper's tables and figures"),
            ("theory", "Bounds beside what was measured"),
            ("complexity", "Time beside counted operations"),
        ] {
            let own = of(key).into_iter().filter(|(artefact, _)| paper_of(artefact) == folder);
            let blocks: Vec<Block> = own.flat_map(|own| blocks(own, "", false)).collect();
            if !blocks.is_empty() {
                let id = format!("{folder}-of-{key}");
                page = page.section(Section { blocks, ..Section::new(id, head) });
            }
        }
        if !page.sections.is_empty() {
            let links = of(key).into_iter().filter_map(|(artefact, own)| {
                let note = String::new();
                Some(Link { text: artefact.title.clone(), target: first_id(own)?, note })
            });
            let links = Block::List(links.collect());
            list.push(Section::new(format!("list-{key}"), *name).block(links));
            pages.push(page);
        }
    }
    let mut all = Report::new("Audits, theory and costs")
        .subtitle(
            "What the papers do not print: why numbers differ, what bounds say, what methods cost.",
        )
        .page("audits.html", AUDITS);
    all.sections = list;
    let own: Vec<Block> = of("").into_iter().flat_map(|own| blocks(own, "", false)).collect();
    if !own.is_empty() {
        all = all.section(Section { blocks: own, ..Section::new("of-all", "Of all papers") });
    }
    let aside = rendered.iter().filter_map(|own| Some((label(papers, own.0)?, own)));
    let aside: Vec<Block> = aside.flat_map(|(label, own)| blocks(own, &label, true)).collect();
    if !aside.is_empty() {
        let section = Section::new("aside", "More on the papers' tables");
        all = all.section(Section { blocks: aside, ..section });
    }
    if !all.sections.is_empty() {
        pages.insert(0, all);
    }
    pages
}

/// The findings on what is rendered; none where there are none.
fn finding_page(
    context: &RenderContext<'_>,
    rendered: &[Own<'_>],
) -> Result<Option<Report>, ExperimentError> {
    let cited: BTreeSet<&str> = rendered
        .iter()
        .flat_map(|(_, own)| &own.cells)
        .filter_map(|cell| cell.finding.as_deref())
        .collect();
    let papers = context.catalogue.papers();
    let mut all = context.catalogue.findings()?;
    all.retain(|finding| {
        let explains = |(artefact, _): &Own<'_>| finding.explains.contains(&artefact.id);
        cited.contains(finding.id) || rendered.iter().any(explains)
    });
    let show = |finding: &crate::Finding| -> Result<Finding, ExperimentError> {
        let missing = !finding.answered(context)?;
        let (text, by) = (finding.text(context)?, &finding.shown_by);
        let of = finding.id.split('-').next().unwrap_or_default();
        let paper =
            papers.iter().find(|paper| paper.key == of).map_or("All papers", |paper| paper.name);
        Ok(Finding {
            id: format!("finding-{}", finding.id),
            title: format!("{paper}: {}", finding.title),
            badge: missing.then(|| Badge::new("records missing", Kind::Muted)),
            affects: finding.explains.clone(),
            body: format!("{text}\n\nShown by [{by}](#{by})."),
        })
    };
    let shown = all.par_iter().map(show).collect::<Result<Vec<_>, _>>()?;
    let mut page = Report::new("Findings: why numbers differ")
        .subtitle("By what went wrong, a line each; a click opens the finding. Every number in them is computed from the records.")
        .page("findings.html", FINDINGS);
    for (place, (mistake, head)) in Mistake::ALL.into_iter().enumerate() {
        let own = shown.iter().zip(&all).filter(|(_, finding)| finding.mistake == mistake);
        let own: Vec<Finding> = own.map(|(shown, _)| shown.clone()).collect();
        if !own.is_empty() {
            // The first one has the address that other pages lead to.
            let id = if page.sections.is_empty() {
                "findings".to_owned()
            } else {
                format!("findings-{place}")
            };
            page = page.section(Section::new(id, head).block(Block::Findings(own)));
        }
    }
    Ok((!page.sections.is_empty()).then_some(page))
}

fn method(
    context: &RenderContext<'_>,
    rendered: &[Own<'_>],
    run: Table,
    machine: Vec<Link>,
) -> Result<Report, ExperimentError> {
    let chapters = context.catalogue.texts().chapters;
    let statistics = chapters.iter().find(|(name, _)| *name == "statistics");
    let verdicts = statistics
        .and_then(|(_, text)| text.split("\n## ").nth(1))
        .and_then(|part| part.split_once('\n'));
    let (head, verdicts) = verdicts.unwrap_or_default();
    let mut page = Report::new(METHOD)
        .subtitle("What verdicts mean, how claims are decided, how much is run, and where it stands in the code.")
        .page("method.html", METHOD)
        .section(Section::new("verdicts", head).intro(verdicts))
        .section(Section::new("rules", "How is a claim decided?").intro(format!(
            "{}\n\nThe rule was changed after the first runs: [every verdict by the earlier rule](./claims-by-rule.md).",
            rules()
        )));
    if !run.rows.is_empty() {
        let section = Section::new("run-so-far", "How much of it is run").intro(RULES);
        page = page.section(section.block(Block::Table(run)));
    }
    if !machine.is_empty() {
        let section = Section::new("machine", "How far the software can be trusted");
        page = page.section(section.block(Block::List(machine)));
    }
    page = Shown::of(context, rendered)?.provenance(page, context);
    Ok(page.section(source_section(rendered)))
}

/// Where in the code each artefact stands.
fn source_section(rendered: &[Own<'_>]) -> Section {
    let line = |(artefact, rendered): &Own<'_>| {
        let records: Vec<&str> =
            artefact.studies.iter().chain(&artefact.simulations).map(String::as_str).collect();
        let of = if records.is_empty() {
            "from the text and the code alone".to_owned()
        } else {
            format!("records of {}", records.join(", "))
        };
        let target = first_id(rendered)?;
        Some(format!("- [{}](#{target}): `{}`, {of}", artefact.id, artefact.source))
    };
    let lines: Vec<String> = rendered.iter().filter_map(line).collect();
    let files = Finding {
        id: "sources-list".to_owned(),
        title: "The file and the records behind each table and figure".to_owned(),
        body: lines.join("\n"),
        ..Finding::default()
    };
    Section::new("sources", "Where it stands in the code")
        .intro(
            "Specs are in `experiments/specs`, learners in `crates/models` and `crates/baselines`, records in `reports/records`. As files: [all claims](./answers.md), [all cells](./cells.json).",
        )
        .block(Block::Findings(vec![files]))
}

/// The first thing that an artefact shows; a figure with parts has ids of its own.
fn first_id(rendered: &Rendered) -> Option<String> {
    let drawing = || rendered.drawings.first().map(|drawing| drawing.id().to_owned());
    rendered.tables.first().map(|table| table.id.clone()).or_else(drawing)
}

/// Tables, then drawings, with the paper's label before each title and links to their files below; or only the
/// tables that stand aside.
fn blocks((artefact, rendered): &Own<'_>, label: &str, aside: bool) -> Vec<Block> {
    let files = |id: &str, ends: &[(&str, &str)]| {
        let links = ends.iter().map(|(name, end)| format!("[{name}](./{id}.{end})"));
        Block::Text(links.collect::<Vec<_>>().join(" · "))
    };
    let titled = |title: &mut String| {
        if !label.is_empty() {
            title.insert_str(0, &format!("{label} · "));
        }
    };
    let first = rendered.tables.first().map(|table| table.id.clone()).unwrap_or_default();
    let name = |id: &str| id.strip_prefix(&format!("{}-", artefact.id)).map(str::to_owned);
    let stands = |id: &str| name(id).is_some_and(|name| artefact.aside.contains(&name)) == aside;
    let tables = rendered.tables.iter().filter(|table| stands(&table.id)).cloned();
    let tables = tables.map(|mut table| {
        titled(&mut table.title);
        // What stands beside a paper's table is ours.
        if table.id.contains('-') && !label.is_empty() && table.id != first {
            table.title.insert_str(0, "To ");
        }
        let files = files(&table.id, &[("CSV", "csv"), ("Markdown", "md")]);
        [Block::Table(table), files]
    });
    let drawings =
        rendered.drawings.iter().filter(|_| !aside).cloned().map(|drawing| match drawing {
            Drawing::Figure(mut figure) => {
                titled(&mut figure.title);
                let files = files(&figure.id, &[("SVG", "svg"), ("CSV", "csv")]);
                [Block::Figure(figure), files]
            }
            Drawing::Diagram(mut diagram) => {
                titled(&mut diagram.title);
                let files = files(&diagram.id, &[("SVG", "svg")]);
                [Block::Diagram(diagram), files]
            }
        });
    // What stands on the page of the audits is found from here.
    let others = rendered.tables.iter().filter(|table| !aside && !stands(&table.id));
    let others: Vec<String> =
        others.map(|table| format!("[{}](#{})", table.title, table.id)).collect();
    let more = (!others.is_empty()).then(|| Block::Text(format!("More: {}.", others.join(", "))));
    tables.chain(drawings).flatten().chain(more).collect()
}

/// `Table 2` or `Figure 1(b)`, as the paper calls it; none for what no paper prints.
fn label(papers: &[Paper], artefact: &Artefact) -> Option<String> {
    let (paper, name) = artefact.id.split_once('/')?;
    let name = name.split('-').next().unwrap_or(name);
    if !papers.iter().any(|own| own.key == paper) || artefact.ours {
        return None;
    }
    let kinds = [("table", "Table"), ("figure", "Figure")];
    kinds.iter().find_map(|(word, kind)| {
        let number = name.strip_prefix(word)?;
        let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let part = &number[digits.len()..];
        let part = if part.is_empty() { String::new() } else { format!("({part})") };
        digits.parse::<u32>().is_ok().then(|| format!("{kind} {digits}{part}"))
    })
}

/// The folder of an artefact: a paper, or `audit`.
pub(crate) fn paper_of(artefact: &Artefact) -> &str {
    artefact.id.split('/').next().unwrap_or_default()
}

/// The paper that an artefact is about, by its folder or name; empty where it is of all.
fn about(papers: &[Paper], id: &str) -> &'static str {
    let (folder, name) = id.split_once('/').unwrap_or((id, ""));
    let first = name.split('-').next().unwrap_or(name);
    let of = |own: &&Paper| own.key == folder || own.key == first;
    papers.iter().find(of).map_or("", |paper| paper.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artefacts_have_the_labels_of_their_papers() {
        let paper = |key| Paper {
            key,
            name: "",
            title: "",
            authors: "",
            venue: "",
            link: "",
            table: "",
            terms: "",
            results: ["", ""],
            headline: crate::Headline { claim: "", words: "", variants: &[] },
        };
        let papers = ["askl", "rftk", "mce"].map(paper);
        let label = |id: &str, more: &str| {
            let text = format!("order = 1\ntitle = \"\"\n{more}");
            let artefact = Artefact { id: id.to_owned(), ..toml::from_str(&text).unwrap() };
            label(&papers, &artefact)
        };
        assert_eq!(label("rftk/figure1b", "").as_deref(), Some("Figure 1(b)"));
        assert_eq!(label("mce/figure2-sizes", "").as_deref(), Some("Figure 2"));
        assert_eq!(label("rftk/figure2a-average", "ours = true"), None);
        assert_eq!(label("askl/other", ""), None);
        assert_eq!(label("audit/askl-cost", ""), None);
        assert_eq!(about(&papers, "theory/mce-bound"), "mce");
        assert_eq!(about(&papers, "audit/paired-t"), "");
    }
}
