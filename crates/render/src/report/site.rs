use super::{Block, Finding, Report, page};
use crate::RenderError;
use crate::escape::{address, html};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The pages of a site, in the order of the reports: each has links to all others in its header, and what links to
/// an address of another page leads there. A link to an address that no page has is text.
///
/// ```
/// use mercer_render::{Block, Report, Section, site};
/// let section = |id: &str, text: &str| Section::new(id, id).block(Block::Text(text.to_owned()));
/// let start = Report::new("Start").section(section("a", "See [there](b).")).page("index.html", "Start");
/// let other = Report::new("Other").section(section("b", "[Nowhere](c).")).page("more/b.html", "More");
/// let pages = site(&[start, other])?;
/// assert!(pages[0].contains("<a href=\"more/b.html#b\">there</a>"));
/// assert!(pages[1].contains("<a href=\"../index.html\">Start</a>"));
/// assert!(pages[1].contains("<a>Nowhere</a>"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
///
/// # Errors
/// As [`Report::to_html`].
pub fn site(reports: &[Report]) -> Result<Vec<String>, RenderError> {
    let mut pages = Vec::new();
    let mut places: HashMap<String, &str> = HashMap::new();
    for report in reports {
        let (page, own) = page::page(report, &header(reports, report))?;
        for address in &own {
            places.entry(address.clone()).or_insert(&report.file);
        }
        pages.push((page, own));
    }
    let relink = |(report, (page, own)): (&Report, (String, std::collections::HashSet<String>))| {
        // Text has no quotation marks, so these are links.
        let mut parts = page.split(" href=\"#");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (id, rest) = part.split_once('"').unwrap_or((part, ""));
            if own.contains(id) {
                let _ = write!(out, " href=\"#{id}\"");
            } else if let Some(file) = places.get(id) {
                let _ = write!(out, " href=\"{}{file}#{id}\"", up(report));
            }
            out.push_str(rest);
        }
        out
    };
    Ok(reports.iter().zip(pages).map(relink).collect())
}

/// From a page to the folder of the site.
fn up(report: &Report) -> String {
    match report.file.matches('/').count() {
        0 => String::new(),
        depth => "../".repeat(depth),
    }
}

/// A link for each label, to the first page of that label.
fn header(reports: &[Report], own: &Report) -> String {
    let mut out = "<nav class=\"pages\" aria-label=\"Pages\">\n".to_owned();
    let mut labels: Vec<&str> = Vec::new();
    for Report { file, label, .. } in reports {
        if labels.contains(&label.as_str()) {
            continue;
        }
        labels.push(label);
        let current = match (file == &own.file, label == &own.label) {
            (true, _) => " aria-current=\"page\"",
            (false, true) => " aria-current=\"true\"",
            _ => "",
        };
        let (up, file, label) = (up(own), html(file), html(label));
        let _ = writeln!(out, "<a href=\"{up}{file}\"{current}>{label}</a>");
    }
    out.push_str("</nav>\n");
    if reports.first().is_some_and(|first| first.file == own.file) {
        out.push_str(SEARCH);
    }
    out
}

/// A box that leads to every place with some words; shown where scripts run, which fetch [`search_index`] then.
const SEARCH: &str = "<label hidden>Search <input id=\"search\" type=\"search\" placeholder=\"any words\"></label>\n\
    <ul id=\"found\" aria-live=\"polite\" hidden></ul>\n";

/// What the box on the first page of a site looks into, to lie beside that page as `search.js`: of every table, figure,
/// finding and section its label and title, its address, and the words in it.
///
/// ```
/// use mercer_render::{Block, Report, Section, search_index};
/// let section = Section::new("a", "Ridge").block(Block::Text("A *ridge* is clipped.".to_owned()));
/// let start = Report::new("Start").section(section).page("index.html", "Start");
/// let found = search_index(&[start]);
/// assert_eq!(found, "var PLACES = [\n[\"Start: Ridge\",\"index.html#a\",\"clipped ridge\"]\n];\n");
/// ```
pub fn search_index(reports: &[Report]) -> String {
    let mut places = Vec::new();
    for Report { file, label, sections, .. } in reports {
        for section in sections {
            let texts = section.blocks.iter().filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            });
            let texts = std::iter::once(section.intro.as_str()).chain(texts).collect::<Vec<_>>();
            let of_section = (section.id.as_str(), section.title.as_str(), texts.join(" "));
            let parts = section.blocks.iter().flat_map(of_block).chain([of_section]);
            for (id, title, text) in parts.filter(|(_, title, _)| !title.is_empty()) {
                let place =
                    [format!("{label}: {title}"), format!("{file}#{}", address(id)), words(&text)];
                places.push(serde_json::json!(place).to_string());
            }
        }
    }
    format!("var PLACES = [\n{}\n];\n", places.join(",\n"))
}

/// The parts of a block that have an address: with title and text.
fn of_block(block: &Block) -> Vec<(&str, &str, String)> {
    match block {
        Block::Table(table) => {
            let heads = table.columns.iter().map(|column| column.head.as_str());
            let names = table
                .rows
                .iter()
                .flat_map(|row| row.cells.iter().take(2))
                .map(|cell| cell.text.as_str());
            let notes = table.notes.iter().map(String::as_str);
            let text: Vec<&str> =
                heads.chain(names).chain(notes).chain([table.caption.as_str()]).collect();
            vec![(&table.id, &table.title, text.join(" "))]
        }
        Block::Figure(figure) => {
            let notes = figure.notes.join(" ");
            let text = [figure.caption.as_str(), &figure.alternative, &notes];
            vec![(&figure.id, &figure.title, text.join(" "))]
        }
        Block::Diagram(diagram) => vec![(&diagram.id, &diagram.title, diagram.caption.clone())],
        Block::Findings(findings) => {
            let of = |own: &'_ Finding| own.body.clone();
            findings.iter().map(|own| (own.id.as_str(), own.title.as_str(), of(own))).collect()
        }
        Block::Bars(_) | Block::Text(_) | Block::List(_) => Vec::new(),
    }
}

/// The words of a text, each once, without the shortest.
fn words(text: &str) -> String {
    let apart = |letter: char| !letter.is_alphanumeric() && letter != '-';
    let words: BTreeSet<String> = text
        .split(apart)
        .map(|word| word.trim_matches('-').to_lowercase())
        .filter(|word| word.chars().count() > 2 && word.contains(char::is_alphabetic))
        .collect();
    words.into_iter().collect::<Vec<_>>().join(" ")
}
