use super::{Report, page};
use crate::RenderError;
use crate::escape::{address, html};
use std::collections::HashMap;
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
/// assert!(pages[0].contains("<a href=\"./more/b.html#b\">there</a>"));
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
        0 => "./".to_owned(),
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
        out.push_str(&search(reports));
    }
    out
}

/// A box that leads to every table, figure, finding and method; shown where scripts run.
fn search(reports: &[Report]) -> String {
    let mut out = "<label hidden>Search <input id=\"search\" type=\"search\" list=\"places\" \
         placeholder=\"table, finding, method\"></label>\n<datalist id=\"places\">\n"
        .to_owned();
    for Report { file, label, sections, .. } in reports {
        for (id, title) in sections.iter().flat_map(page::parts) {
            // Enough to choose by.
            let title: String = title.chars().take(56).collect();
            let (label, title, id) = (html(label), html(&title), address(id));
            let _ = writeln!(out, "<option value=\"{label}: {title}\" data-to=\"{file}#{id}\">");
        }
    }
    out.push_str("</datalist>\n");
    out
}
