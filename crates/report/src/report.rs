use crate::claim::{ClaimResult, adjust_family};
use crate::claims_report::{BY_RULE, answers, by_rule, rules};
use crate::coverage::{RULES, coverage};
use crate::numbers::ArtefactNumbers;
use crate::overview::overview;
use crate::shown::{METHOD, PIPE, Shown};
use crate::site::{AUDITS, of_markdown, pages, paper_of};
use crate::{Artefact, Drawing};
use crate::{CellReport, ExperimentError, RenderContext, Rendered};
use mercer_render::{Block, Link, Report, Section, Table, replace, search_index, site};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was written, and what of it goes to standard output.
pub struct Written {
    /// Number of files.
    pub files: usize,
    /// The first page.
    pub page: PathBuf,
    /// The tables, in order.
    pub tables: Vec<Table>,
    /// The cells, claims and profile, as `--json` prints them.
    pub summary: Summary,
    /// The numbers of every artefact, which `--json` prints beside them.
    pub numbers: Vec<ArtefactNumbers>,
    /// By method: trials shown behind which a fit ended above its tolerance, and all of them.
    pub open: BTreeMap<String, (usize, usize)>,
}

/// What `reproduce --json` prints.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// The profile shown.
    pub profile: String,
    /// The artefacts shown.
    pub artefacts: Vec<String>,
    /// Every cell of every table.
    pub cells: Vec<CellReport>,
    /// Every claim in every variant.
    pub claims: Vec<ClaimResult>,
}

/// Renders artefacts into a folder: `PAPER/NAME.{md,csv,svg}`, `cells.json`, and the pages of a
/// site that begins at `index.html`.
///
/// # Errors
/// If a rendering fails or a file cannot be written.
pub fn write(
    context: &RenderContext<'_>,
    artefacts: &[&'static Artefact],
    out: &Path,
) -> Result<Written, ExperimentError> {
    let mut folder = Folder { root: out.to_owned(), files: 0 };
    let rendered = rendered(context, artefacts)?;
    put_drawn(&rendered, &mut folder)?;
    let claim_results = checked(context, artefacts)?;
    let bars = overview(context.catalogue.papers(), &rendered, &claim_results);
    if !bars.rows.is_empty() {
        folder.put("overview.svg", bars.svg().as_bytes())?;
    }
    let run = coverage(context, artefacts)?;
    folder.put("coverage.md", format!("{}\n{RULES}\n", run.to_markdown()).as_bytes())?;
    let mut again = None;
    if let Some(own) = context.again {
        folder.put("verified.md", own.page(context, artefacts)?.as_bytes())?;
        again = own.note(context, artefacts)?;
    }
    let machine = machine_pages(&folder)?;
    let links = machine.iter().map(|(link, _)| link.clone()).collect();
    let mut reports = pages(context, &rendered, &claim_results, bars, run, links, again)?;
    reports.extend(machine.into_iter().map(|(_, report)| report));
    put_notes(context, artefacts, &mut folder, &mut reports)?;
    for (report, page) in reports.iter().zip(site(&reports)?) {
        folder.put(&report.file, page.as_bytes())?;
    }
    folder.put("search.js", search_index(&reports).as_bytes())?;
    put_answers(context, &claim_results, &mut folder)?;
    context.records.sound()?;
    let summary = Summary {
        profile: context.profile.to_owned(),
        artefacts: artefacts.iter().map(|artefact| artefact.id.clone()).collect(),
        cells: rendered.iter().flat_map(|(_, rendered)| rendered.cells.clone()).collect(),
        claims: claim_results,
    };
    let json = serde_json::to_vec_pretty(&summary).map_err(|error| ExperimentError::Form {
        file: "cells.json".to_owned(),
        reason: error.to_string(),
    })?;
    folder.put("cells.json", &json)?;
    let numbers =
        rendered.iter().map(|(artefact, rendered)| ArtefactNumbers::of(artefact, rendered));
    let numbers = numbers.collect();
    let open = Shown::of(context, &rendered)?.open;
    let tables = rendered.into_iter().flat_map(|(_, rendered)| rendered.tables).collect();
    Ok(Written {
        open,
        files: folder.files,
        page: out.join("index.html"),
        tables,
        summary,
        numbers,
    })
}

/// The artefacts with their tables and drawings, and what these need said of the profile and of a second run.
fn rendered<'a>(
    context: &RenderContext<'_>,
    artefacts: &[&'a Artefact],
) -> Result<Vec<(&'a Artefact, Rendered)>, ExperimentError> {
    let render = |artefact: &&'a Artefact| -> Result<(&'a Artefact, Rendered), ExperimentError> {
        let mut own = artefact.render(context)?;
        if context.profile == PIPE
            && !(artefact.studies.is_empty() && artefact.simulations.is_empty())
        {
            mark(&mut own);
        }
        if let Some(again) = context.again
            && let Some(note) = again.of_artefact(context, artefact)?.note()
        {
            add_note(&mut own, &note);
        }
        Ok((*artefact, own))
    };
    artefacts.par_iter().map(render).collect()
}

/// Writes each table and drawing by itself.
fn put_drawn(
    rendered: &[(&Artefact, Rendered)],
    folder: &mut Folder,
) -> Result<(), ExperimentError> {
    for table in rendered.iter().flat_map(|(_, rendered)| &rendered.tables) {
        folder.put(&format!("{}.md", table.id), table.to_markdown().as_bytes())?;
        folder.put(&format!("{}.csv", table.id), table.to_csv().as_bytes())?;
    }
    for drawing in rendered.iter().flat_map(|(_, rendered)| &rendered.drawings) {
        let (id, svg) = match drawing {
            Drawing::Figure(figure) => {
                folder.put(&format!("{}.csv", figure.id), figure.csv().as_bytes())?;
                (&figure.id, figure.svg()?)
            }
            Drawing::Diagram(diagram) => (&diagram.id, diagram.svg()?),
        };
        folder.put(&format!("{id}.svg"), svg.as_bytes())?;
    }
    Ok(())
}

/// The claims of the papers that these artefacts are of, a paper a family.
fn checked(
    context: &RenderContext<'_>,
    artefacts: &[&Artefact],
) -> Result<Vec<ClaimResult>, ExperimentError> {
    let mut results = Vec::new();
    for (paper, _) in context.catalogue.sections() {
        if artefacts.iter().any(|artefact| paper_of(artefact) == *paper) {
            let checked: Vec<Vec<ClaimResult>> = context
                .catalogue
                .claims(paper)?
                .par_iter()
                .map(|claim| claim.check(context))
                .collect::<Result<_, _>>()?;
            let mut own: Vec<ClaimResult> = checked.into_iter().flatten().collect();
            adjust_family(&mut own)?;
            if context.profile == PIPE {
                own.iter_mut().for_each(ClaimResult::unjudged);
            }
            results.extend(own);
        }
    }
    Ok(results)
}

/// Writes which claims hold, and what the rule that decides them changed.
fn put_answers(
    context: &RenderContext<'_>,
    claims: &[ClaimResult],
    folder: &mut Folder,
) -> Result<(), ExperimentError> {
    let answers = answers(context.catalogue, claims)?;
    folder.put("answers.md", in_words(&answers).as_bytes())?;
    let by_rule = by_rule(context.catalogue, claims).map(|table| table.to_markdown()).join("\n");
    folder.put("claims-by-rule.md", format!("{BY_RULE}\n\n{by_rule}").as_bytes())
}

/// Writes the notes that belong to these artefacts, with a link from the audits of their paper.
fn put_notes(
    context: &RenderContext<'_>,
    artefacts: &[&Artefact],
    folder: &mut Folder,
    reports: &mut Vec<Report>,
) -> Result<(), ExperimentError> {
    for note in context.catalogue.notes_beside(artefacts)? {
        let (text, file) = (note.text(context)?, format!("{}.md", note.id));
        folder.put(&file, text.as_bytes())?;
        let link = format!("Written out: [{}](./{}.html)", note.title(), note.id);
        let beside = format!("audits-{}.html", context.catalogue.paper_of(&note.id));
        if let Some(page) = reports.iter_mut().find(|page| page.file == beside) {
            page.sections.insert(0, Section::new("written-out", "").block(Block::Text(link)));
        }
        let text = text.replace("/index.md)", "/index.html)");
        reports.push(of_markdown(&text, &file, note.title(), AUDITS));
    }
    Ok(())
}

/// Says in every title that the numbers below it are none.
fn mark(rendered: &mut Rendered) {
    let titles = rendered.tables.iter_mut().map(|table| &mut table.title);
    let drawn = rendered.drawings.iter_mut().map(|drawing| match drawing {
        Drawing::Figure(figure) => &mut figure.title,
        Drawing::Diagram(diagram) => &mut diagram.title,
    });
    for title in titles.chain(drawn) {
        title.insert_str(0, "Smoke, no result: ");
    }
}

/// Below the first table, or below the first figure where there is none.
fn add_note(rendered: &mut Rendered, note: &str) {
    if let Some(table) = rendered.tables.first_mut() {
        table.notes.push(note.to_owned());
    } else if let Some(Drawing::Figure(figure)) = rendered.drawings.first_mut() {
        figure.notes.push(note.to_owned());
    }
}

/// The answers as a page of Markdown, and how they are found.
fn in_words(answers: &[Table]) -> String {
    let lists: Vec<String> = answers.iter().map(Table::to_markdown_list).collect();
    format!("{ANSWERS}\n\n{}\n{}\n", lists.join("\n"), rules())
}

const ANSWERS: &str = "# Which claims hold\n\nA section per paper, a head per claim, an item per variant; the rules stand below.";

/// Pages that other runs wrote into the same folder.
const MACHINE_PAGES: [(&str, &str, &str); 4] = [
    ("verified.md", "Records, run again", "which records of a sample come out the same"),
    ("reliability.md", "Reliability", "seeded faults, tried and survived"),
    (
        "determinism.md",
        "Determinism",
        "what the number of jobs and other vector instructions change",
    ),
    (
        "performance/index.md",
        "Performance",
        "instructions of the hot paths, and times with their history",
    ),
];

/// What is known of the software itself: each page that is there, beside its Markdown, with a link.
fn machine_pages(folder: &Folder) -> Result<Vec<(Link, Report)>, ExperimentError> {
    let mut pages = Vec::new();
    for (file, text, note) in MACHINE_PAGES {
        let path = folder.root.join(file);
        if !path.is_file() {
            continue;
        }
        let markdown = std::fs::read_to_string(&path).map_err(|source| {
            let path = path.clone();
            ExperimentError::Io { action: "read", path, source }
        })?;
        let mut subtitle = format!("{note}.");
        subtitle[..1].make_ascii_uppercase();
        let report = of_markdown(&markdown, file, text, METHOD).subtitle(subtitle);
        let (text, target, note) = (text.to_owned(), format!("./{}", report.file), note.to_owned());
        pages.push((Link { text, target, note }, report));
    }
    Ok(pages)
}

/// Files below one folder, each written whole or not at all.
struct Folder {
    root: PathBuf,
    files: usize,
}

impl Folder {
    fn put(&mut self, name: &str, content: &[u8]) -> Result<(), ExperimentError> {
        replace(&self.root.join(name), content)?;
        self.files += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_pages_of_other_runs_are_those_of_their_markdown() {
        let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports");
        // The header is that of the site.
        let main = |page: &str| page.split_once("<main").unwrap().1.to_owned();
        for (file, title, _) in MACHINE_PAGES {
            let markdown = std::fs::read_to_string(reports.join(file)).unwrap();
            let page = std::fs::read_to_string(reports.join(file).with_extension("html")).unwrap();
            let rendered = of_markdown(&markdown, file, title, METHOD).to_html().unwrap();
            assert!(main(&page) == main(&rendered), "{file} is newer than its page: just report");
        }
    }

    #[test]
    fn pages_of_other_runs_are_linked_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let out = Folder { root: folder.path().to_owned(), files: 0 };
        assert!(machine_pages(&out).unwrap().is_empty());
        let text =
            "# Faults\n\nAll of *them*.\n\n## Kinds\n\n| kind | tried |\n|:--|--:|\n| kill | 9 |\n";
        std::fs::write(folder.path().join("reliability.md"), text).unwrap();
        let pages = machine_pages(&out).unwrap();
        assert_eq!(pages.len(), 1);
        assert_eq!(pages[0].0.target, "./reliability.html");
        let page = pages[0].1.to_html().unwrap();
        for there in ["<title>Faults", "<em>them</em>", "Kinds", "<td", "9"] {
            assert!(page.contains(there), "{there}: {page}");
        }
    }
}
