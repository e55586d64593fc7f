//! The page around the parts.

use super::{Block, Finding, Link, Report, Section, markdown, theme};
use crate::bars::Segment;
use crate::escape::{address, html, link_target};
use crate::figure::Narrow;
use crate::table::{html_badge, html_caption, html_notes};
use crate::{Badge, Bars, Diagram, Figure, RenderError};
use std::collections::HashSet;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
/// For pages with tables.
const TABLES: &str = include_str!("tables.css");
const SCRIPT: &str = include_str!("script.js");
/// For pages with a number that opens a drawer.
const DRAWER: &str = include_str!("drawer.js");

/// Nothing may be loaded but images and scripts that lie beside the page, whatever stands in it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'self'; img-src data: 'self'";

const FILTER: &str = "<label>Filter <input id=\"filter\" type=\"search\" placeholder=\"a word\"></label>\n\
    <output id=\"count\" for=\"filter\"></output>\n";

/// Longer contents are folded.
const OPEN: usize = 40;

/// Longer lists of numbers stay out of the page.
const MOST_LINES: usize = 400;

/// The page below the links to its neighbours, and the addresses in it.
pub(super) fn page(report: &Report, pages: &str) -> Result<(String, HashSet<String>), RenderError> {
    let addresses = distinct(report)?;
    let mut blocks = report.sections.iter().flat_map(|section| &section.blocks);
    let tables = if blocks.any(|block| matches!(block, Block::Table(_))) { TABLES } else { "" };
    let mut out = String::from("<!doctype html>\n<html lang=\"en\" data-theme=\"auto\">\n<head>\n");
    let _ = write!(
        out,
        "<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n{}{STYLE}{tables}</style>\n</head>\n<body>\n",
        html(&report.title),
        theme::css()
    );
    let filter = report.sections.iter().flat_map(|section| &section.blocks).any(Block::has_rows);
    let filter = if filter { FILTER } else { "" };
    let many = report.sections.iter().any(|section| !parts(section).is_empty());
    let layout = if many { "layout" } else { "layout plain" };
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n{pages}<div><h1>{}</h1>\n<p>{}</p></div>\n\
         <div class=\"tools\">{filter}<button id=\"theme\" type=\"button\">Theme: auto</button></div>\n</header>\n<div class=\"{layout}\">\n",
        html(&report.title),
        markdown::inline(&report.subtitle)
    );
    if many {
        contents(report, &mut out);
    }
    out.push_str("<main id=\"main\">\n");
    for section in &report.sections {
        self::section(section, report.file.is_empty(), &mut out)?;
    }
    if !report.provenance.is_empty() {
        out.push_str("<section id=\"provenance\">\n<h2>Provenance</h2>\n<dl>\n");
        for (name, value) in &report.provenance {
            let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", html(name), html(value));
        }
        out.push_str("</dl>\n</section>\n");
    }
    let drawer = if out.contains(" data-cell=\"") { DRAWER } else { "" };
    out.push_str("</main>\n</div>\n<script>\n");
    // A third of the scripts is indentation and comments.
    let lines = SCRIPT.lines().chain(drawer.lines()).map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("</script>\n</body>\n</html>\n");
    Ok((out, addresses))
}

impl Block {
    /// Whether the box can filter anything in it.
    fn has_rows(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Findings(_))
    }
}

/// Ids and titles of what a section shows, for the contents.
pub(super) fn parts(section: &Section) -> Vec<(&str, &str)> {
    section
        .blocks
        .iter()
        .flat_map(|block| match block {
            Block::Table(table) => vec![(table.id.as_str(), table.title.as_str())],
            Block::Figure(figure) => vec![(figure.id.as_str(), figure.title.as_str())],
            Block::Diagram(diagram) => vec![(diagram.id.as_str(), diagram.title.as_str())],
            Block::Findings(findings) => findings
                .iter()
                .map(|finding| (finding.id.as_str(), finding.title.as_str()))
                .collect(),
            Block::Bars(_) | Block::Text(_) | Block::List(_) => vec![],
        })
        .collect()
}

fn distinct(report: &Report) -> Result<HashSet<String>, RenderError> {
    let own = ["main", "filter", "count", "theme", "provenance", "search", "found", "variant"]
        .map(str::to_owned);
    let mut seen = HashSet::from(own);
    for section in &report.sections {
        let mut ids = vec![section.id.as_str()];
        ids.extend(parts(section).into_iter().map(|(id, _)| id));
        for block in &section.blocks {
            match block {
                Block::Table(table) => {
                    ids.extend(table.rows.iter().filter_map(|row| row.id.as_deref()));
                }
                Block::Bars(bars) => ids.push(&bars.id),
                // The drawing that its panels are cut from, and its words.
                Block::Figure(figure) => {
                    let id = address(&figure.id);
                    seen.extend([format!("{id}-drawn"), format!("{id}-all")]);
                }
                _ => {}
            }
        }
        for id in ids {
            if !seen.insert(address(id)) {
                return Err(RenderError::DuplicateId(id.to_owned()));
            }
        }
    }
    Ok(seen)
}

/// Two clicks to anything: open a section here, then choose a part of it.
fn contents(report: &Report, out: &mut String) {
    let few = report.sections.iter().map(|section| parts(section).len()).sum::<usize>() <= OPEN;
    let open = if few { " open" } else { "" };
    out.push_str("<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n");
    for section in report.sections.iter().filter(|section| !section.title.is_empty()) {
        let (id, title, parts) = (address(&section.id), html(&section.title), parts(section));
        if parts.is_empty() {
            let _ = writeln!(out, "<li><a href=\"#{id}\">{title}</a></li>");
            continue;
        }
        let _ = write!(
            out,
            "<li><details{open}><summary>{title}</summary>\n<ul>\n<li><a href=\"#{id}\">Overview</a></li>\n"
        );
        for (id, title) in parts {
            let _ = writeln!(out, "<li><a href=\"#{}\">{}</a></li>", address(id), html(title));
        }
        out.push_str("</ul></details></li>\n");
    }
    if !report.provenance.is_empty() {
        out.push_str("<li><a href=\"#provenance\">Provenance</a></li>\n");
    }
    out.push_str("</ul>\n</nav>\n");
}

/// The numbers behind a figure are shown where the page is alone: beside a page of a site lie its files.
fn section(section: &Section, alone: bool, out: &mut String) -> Result<(), RenderError> {
    let (id, title) = (address(&section.id), html(&section.title));
    let head = if title.is_empty() { title } else { format!("<h2>{title}</h2>\n") };
    let _ = write!(out, "<section id=\"{id}\">\n{head}{}", markdown::blocks(&section.intro));
    for block in &section.blocks {
        match block {
            Block::Table(table) => out.push_str(&table.to_html()),
            Block::Figure(figure) => self::figure(figure, alone, out)?,
            Block::Diagram(diagram) => self::diagram(diagram, out)?,
            Block::Bars(bars) => self::bars(bars, out),
            Block::Text(text) => out.push_str(&markdown::blocks(text)),
            Block::Findings(findings) => findings.iter().for_each(|it| finding(it, out)),
            Block::List(links) => list(links, out),
        }
    }
    out.push_str("</section>\n");
    Ok(())
}

fn picture(
    (id, title, caption): (&str, &str, &str),
    badges: &[Badge],
    card: &str,
    svg: &str,
    narrow: &Narrow,
    out: &mut String,
) {
    let (id, title) = (address(id), html(title));
    let _ = write!(out, "<figure class=\"plot\" id=\"{id}\">\n<figcaption><h3>{title}");
    for badge in badges {
        let _ = write!(out, " {}", html_badge(badge));
    }
    out.push_str("</h3>");
    out.push_str(&html_caption(caption));
    let _ = write!(
        out,
        "</figcaption>\n<div class=\"scroll {card}\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\">"
    );
    let parted = svg.split_once('>').zip(svg.rsplit_once("</svg>"));
    match (narrow, parted) {
        (Narrow::Windows(windows, key), Some(((root, _), (body, _)))) => {
            let body = &body[root.len() + 1..];
            let _ = write!(
                out,
                "{root} id=\"{id}-all\"><g id=\"{id}-drawn\">{body}</g></svg></div>\n\
                 <div class=\"panels\" role=\"img\" aria-labelledby=\"{id}-all\">"
            );
            for (view, name) in windows {
                let _ = write!(
                    out,
                    "<svg viewBox=\"{view}\" role=\"img\" aria-label=\"{}\" stroke-linejoin=\"round\"><use href=\"#{id}-drawn\"/></svg>",
                    html(name)
                );
            }
            if !key.is_empty() {
                let item =
                    |(sample, name): &(String, String)| format!("<li>{sample}{}</li>", html(name));
                let items = key.iter().map(item).collect::<String>();
                let _ = write!(out, "<ul class=\"legend\">{items}</ul>");
            }
            out.push_str("</div>\n");
        }
        (Narrow::Other(other), _) => {
            let _ = writeln!(out, "{svg}</div>\n<div class=\"panels\">{other}</div>");
        }
        _ => {
            let _ = writeln!(out, "{svg}</div>");
        }
    }
}

fn figure(figure: &Figure, alone: bool, out: &mut String) -> Result<(), RenderError> {
    let card = match figure.columns.min(figure.panels.len()) {
        _ if figure.compact => "card compact",
        3.. => "card wide",
        _ => "card",
    };
    let head = (figure.id.as_str(), figure.title.as_str(), figure.caption.as_str());
    picture(head, &figure.badges, card, &figure.svg()?, &figure.narrow()?, out);
    out.push_str(&html_notes(&figure.notes));
    let csv = figure.csv();
    let lines = csv.lines().count() - 1;
    if alone && (1..=MOST_LINES).contains(&lines) {
        let _ = writeln!(
            out,
            "<details class=\"numbers\"><summary>The {lines} numbers behind it (CSV)</summary><pre>{}</pre></details>",
            html(&csv.replace('\r', ""))
        );
    }
    out.push_str("</figure>\n");
    Ok(())
}

fn diagram(diagram: &Diagram, out: &mut String) -> Result<(), RenderError> {
    let Diagram { id, title, caption, narrow, .. } = diagram;
    let narrow = match narrow {
        Some(narrow) => Narrow::Other(narrow.svg()?),
        None => Narrow::Same,
    };
    picture((id, title, caption), &[], "card", &diagram.svg()?, &narrow, out);
    out.push_str("</figure>\n");
    Ok(())
}

fn bars(bars: &Bars, out: &mut String) {
    let _ = writeln!(out, "<div class=\"bars\" id=\"{}\">", address(&bars.id));
    for row in &bars.rows {
        let name = html(&row.name);
        let name = match row.link.as_deref().and_then(link_target) {
            Some(target) => format!("<a href=\"{}\">{name}</a>", html(&target)),
            None => name,
        };
        let _ = write!(
            out,
            "<div class=\"row\">\n<div><h3>{name}</h3>\n{}</div>\n<div><div class=\"bar\" role=\"img\" aria-label=\"{}\">",
            markdown::blocks(&row.about),
            html(&bars.label(row))
        );
        for Segment { share, text, ground, ink, .. } in bars.segments(row) {
            let share = 100.0 * share;
            let _ = write!(
                out,
                "<span style=\"width:{share:.3}%;background:{ground};color:{ink}\">{text}</span>"
            );
        }
        let _ = writeln!(out, "</div>\n{}</div>\n</div>", markdown::blocks(&row.below));
    }
    out.push_str("<ul class=\"legend\">\n");
    for (_, name, color) in bars.shown() {
        let name = html(name);
        let _ = writeln!(out, "<li><span style=\"background:{color}\"></span>{name}</li>");
    }
    out.push_str("</ul>\n</div>\n");
}

fn finding(finding: &Finding, out: &mut String) {
    let _ = write!(
        out,
        "<details class=\"finding\" id=\"{}\">\n<summary>{}",
        address(&finding.id),
        html(&finding.title)
    );
    if let Some(badge) = &finding.badge {
        let _ = write!(out, " {}", html_badge(badge));
    }
    let _ = write!(out, "</summary>\n{}", markdown::blocks(&finding.body));
    let affects = finding.affects.iter().filter_map(|id| {
        let target = link_target(id)?;
        Some(format!("<a href=\"{}\">{}</a>", html(&target), html(id)))
    });
    let affects = affects.collect::<Vec<_>>().join(", ");
    if !affects.is_empty() {
        let _ = writeln!(out, "<p class=\"affects\">Explains {affects}.</p>");
    }
    out.push_str("</details>\n");
}

fn list(links: &[Link], out: &mut String) {
    out.push_str("<ul class=\"links\">\n");
    for link in links {
        let text = html(&link.text);
        let _ = match link_target(&link.target) {
            Some(target) => write!(out, "<li><a href=\"{}\">{text}</a>", html(&target)),
            None => write!(out, "<li>{text}"),
        };
        if !link.note.is_empty() {
            let _ = write!(out, " <span class=\"note\">{}</span>", html(&link.note));
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}
