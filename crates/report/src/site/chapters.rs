//! The chapters of the book as pages.

use super::GUIDE;
use crate::{Files, Texts};
use mercer_render::{Block, Report, Section};
use std::fmt::Write as _;
use std::path::Path;

/// The sections of a paper's chapter that open its page.
pub(super) fn of_tour(texts: &Texts, paper: &str) -> Vec<Section> {
    let Some((_, chapter)) = texts.tours.iter().find(|(key, _)| *key == paper) else {
        return Vec::new();
    };
    let part = |(id, head): (&str, &str)| {
        let (_, rest) = chapter.split_once(&format!("\n## {head}\n"))?;
        let text = rest.split("\n## ").next().unwrap_or_default().trim();
        let text = Block::Text(relinked(text, texts.chapters));
        Some(Section::new(format!("{paper}-{id}"), head).block(text))
    };
    [("came-out", "What came out"), ("why", "Why numbers differ")]
        .into_iter()
        .filter_map(part)
        .collect()
}

/// The chapters of the book.
pub(super) fn guide(chapters: Files) -> Vec<Report> {
    let title =
        |text: &'static str| text.lines().next().unwrap_or_default().trim_start_matches("# ");
    let link = |(name, text): &(&str, &'static str)| format!("[{}](./{name}.html)", title(text));
    let all: Vec<String> = chapters.iter().map(link).collect();
    let page = |(name, text): &(&str, &'static str)| {
        let page = of_markdown(
            &relinked(&shown_lines(text), chapters),
            &format!("{name}.md"),
            name,
            GUIDE,
        );
        page.subtitle(all.join(" · "))
    };
    chapters.iter().map(page).collect()
}

/// A chapter without the lines of its Rust examples that only its tests need.
fn shown_lines(text: &str) -> String {
    let mut rust = false;
    let keep = |line: &&str| {
        if let Some(info) = line.strip_prefix("```") {
            rust = info.starts_with("rust");
        }
        !(rust && (line.trim() == "#" || line.starts_with("# ")))
    };
    text.split_inclusive('\n').filter(keep).collect()
}

/// Links of a chapter to others lead to their pages; what stands outside the site keeps its words alone.
fn relinked(text: &str, chapters: Files) -> String {
    let mut parts = text.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((target, rest)) = part.split_once(')') else {
            let _ = write!(out, "]({part}");
            continue;
        };
        let name = target.strip_suffix(".md");
        let page = target.strip_prefix("../../reports/").filter(|page| page.contains(".html"));
        let table = target.strip_prefix("../../reports/").and_then(|path| path.strip_suffix(".md"));
        if let Some(page) = page {
            let _ = write!(out, "](./{page}){rest}");
        } else if let Some(table) = table.filter(|table| table.contains('/')) {
            let _ = write!(out, "]({table}){rest}");
        } else if chapters.iter().any(|(own, _)| Some(*own) == name) {
            let _ = write!(out, "](./{}.html){rest}", name.unwrap_or_default());
        } else if name.is_some() || target.starts_with("../") {
            if let Some(start) = out.rfind('[') {
                out.remove(start);
            }
            out.push_str(rest);
        } else {
            let _ = write!(out, "]({part}");
        }
    }
    out
}

/// A page of Markdown below an entry of the header: its title, and a section for each head of the second level.
pub(crate) fn of_markdown(markdown: &str, file: &str, title: &str, label: &str) -> Report {
    let (first, rest) = markdown.split_once('\n').unwrap_or((markdown, ""));
    let (title, body) = match first.strip_prefix("# ") {
        Some(own) => (own.trim(), rest),
        None => (title, markdown),
    };
    let mut parts = body.split("\n## ");
    let about = parts.next().unwrap_or_default().trim();
    let page = Path::new(file).with_extension("html").display().to_string();
    let mut report = Report::new(title).page(page, label);
    if !about.is_empty() {
        let section = Section::new("about", "");
        report = report.section(section.block(Block::Text(about.to_owned())));
    }
    for (number, part) in parts.enumerate() {
        let (head, text) = part.split_once('\n').unwrap_or((part, ""));
        let section = Section::new(format!("part-{}", number + 1), head.trim());
        report = report.section(section.block(Block::Text(text.trim().to_owned())));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_links_to_chapters_alone() {
        let text = "[a](b.md), [c](../x.md#y) ([d](https://e.f)) `g[0](h)`";
        assert_eq!(shown_lines("# a\n```rust\n# x\ny\n```\n# b\n"), "# a\n```rust\ny\n```\n# b\n");
        let found = relinked(text, &[("b", "")]);
        let page = relinked("[a](../../reports/findings.html#x)", &[]);
        assert_eq!(page, "[a](./findings.html#x)");
        assert_eq!(found, "[a](./b.html), c ([d](https://e.f)) `g[0](h)`");
    }
}
