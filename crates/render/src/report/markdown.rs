//! The part of Markdown that findings, introductions and pages of other runs use, to HTML; all else is text.

use crate::escape::{html, link_target};
use std::fmt::Write;

/// Blocks of Markdown as HTML; heads start at `<h4>` since they stand below a part of the page.
pub(super) fn blocks(text: &str) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = text.lines().collect();
    let mut i = 0;
    while i < lines.len() {
        let line = lines[i].trim();
        if line.is_empty() {
            i += 1;
        } else if let Some(fence) = line.strip_prefix("```") {
            // The language makes no difference; a name of a file stands above.
            if let Some((_, file)) = fence.split_once(" file=") {
                let _ = writeln!(out, "<p><code>{}</code>:</p>", html(file));
            }
            let end = (i + 1..lines.len()).find(|&k| lines[k].trim().starts_with("```"));
            let end = end.unwrap_or(lines.len());
            let _ =
                writeln!(out, "<pre><code>{}</code></pre>", html(&lines[i + 1..end].join("\n")));
            i = end + 1;
        } else if let Some(head) = head(line) {
            let _ = writeln!(out, "<h4>{}</h4>", inline(head));
            i += 1;
        } else if item(line).is_some() {
            i = list(&lines, i, &mut out);
        } else if line.starts_with('|') && lines.get(i + 1).is_some_and(|next| is_rule(next)) {
            i = table(&lines, i, &mut out);
        } else {
            let end = (i + 1..lines.len()).find(|&k| starts_block(lines[k])).unwrap_or(lines.len());
            let text: Vec<_> = lines[i..end].iter().map(|line| line.trim()).collect();
            let _ = writeln!(out, "<p>{}</p>", inline(&text.join("\n")));
            i = end;
        }
    }
    out
}

fn head(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with(' ')).then(|| rest.trim())
}

/// The text of a list item and whether the list is ordered.
fn item(line: &str) -> Option<(&str, bool)> {
    let line = line.trim();
    if let Some(text) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return Some((text, false));
    }
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let text = line[digits..].strip_prefix(". ")?;
    (digits > 0).then_some((text, true))
}

fn starts_block(line: &str) -> bool {
    let line = line.trim();
    line.is_empty()
        || line.starts_with("```")
        || line.starts_with('|')
        || head(line).is_some()
        || item(line).is_some()
}

/// Items of one kind; a line that starts no block goes on with the item before it.
fn list(lines: &[&str], mut i: usize, out: &mut String) -> usize {
    let ordered = item(lines[i]).is_some_and(|(_, ordered)| ordered);
    let tag = if ordered { "ol" } else { "ul" };
    let _ = writeln!(out, "<{tag}>");
    while let Some((text, _)) =
        lines.get(i).and_then(|line| item(line)).filter(|it| it.1 == ordered)
    {
        let mut text = text.to_owned();
        i += 1;
        while let Some(more) = lines.get(i).filter(|line| !starts_block(line)) {
            text.push('\n');
            text.push_str(more.trim());
            i += 1;
        }
        let _ = writeln!(out, "<li>{}</li>", inline(&text));
    }
    let _ = writeln!(out, "</{tag}>");
    i
}

fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| "|:- ".contains(c))
}

fn table(lines: &[&str], i: usize, out: &mut String) -> usize {
    let row = |line: &str, tag: &str, out: &mut String| {
        out.push_str("<tr>");
        for cell in cells(line) {
            let _ = write!(out, "<{tag}>{}</{tag}>", inline(cell.trim()));
        }
        out.push_str("</tr>\n");
    };
    out.push_str("<div class=\"scroll\" tabindex=\"0\"><table class=\"plain\">\n<thead>");
    row(lines[i], "th", out);
    out.push_str("</thead>\n<tbody>");
    let mut k = i + 2;
    while let Some(line) = lines.get(k).filter(|line| line.trim().starts_with('|')) {
        row(line, "td", out);
        k += 1;
    }
    out.push_str("</tbody>\n</table></div>\n");
    k
}

/// Cells of a pipe table's row; `\|` is a bar.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let last = cells.last_mut().expect("there is a first cell");
        match c {
            '\\' if chars.peek() == Some(&'|') => {
                chars.next();
                last.push('|');
            }
            '|' => cells.push(String::new()),
            c => last.push(c),
        }
    }
    cells
}

/// Marks within a line.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '`', '*', '[', '!']) {
        out.push_str(&html(&rest[..at]));
        rest = &rest[at..];
        let (done, marked) = mark(rest);
        out.push_str(&marked);
        rest = &rest[done..];
    }
    out.push_str(&html(rest));
    out
}

/// The mark at the start of `text`: how many bytes it takes and what it becomes.
fn mark(text: &str) -> (usize, String) {
    if let Some(next) = text.strip_prefix('\\').and_then(|rest| rest.chars().next()) {
        if next.is_ascii_punctuation() {
            return (2, html(&text[1..2]));
        }
    } else if let Some(rest) = text.strip_prefix('`') {
        if let Some(end) = rest.find('`') {
            return (end + 2, format!("<code>{}</code>", html(&rest[..end])));
        }
    } else if let Some(rest) = text.strip_prefix("**") {
        if let Some(end) = rest.find("**").filter(|&end| solid(&rest[..end])) {
            return (end + 4, format!("<strong>{}</strong>", inline(&rest[..end])));
        }
    } else if let Some(rest) = text.strip_prefix('*') {
        if let Some(end) = rest.find('*').filter(|&end| solid(&rest[..end])) {
            return (end + 2, format!("<em>{}</em>", inline(&rest[..end])));
        }
    } else if let Some(rest) = text.strip_prefix("![")
        && let Some((label, tail)) = rest.split_once("](")
        && let Some(end) = tail.find(')')
        && let Some(target) = link_target(&tail[..end]).filter(|target| target.starts_with('.'))
    {
        let length = 2 + label.len() + 2 + end + 1;
        return (length, format!("<img src=\"{}\" alt=\"{}\">", html(&target), html(label)));
    } else if let Some(rest) = text.strip_prefix('[')
        && let Some((label, tail)) = rest.split_once("](")
        && !label.contains(['[', ']'])
        && let Some(end) = tail.find(')')
        && let Some(target) = link_target(&tail[..end])
    {
        let length = 1 + label.len() + 2 + end + 1;
        return (length, format!("<a href=\"{}\">{}</a>", html(&target), inline(label)));
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    (first, html(&text[..first]))
}

/// Emphasis has no blank at its inner ends, so `2 * 3 * 4` is text.
fn solid(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_elements_and_everything_else_is_text() {
        assert_eq!(inline("**a** *b* `c<d`"), "<strong>a</strong> <em>b</em> <code>c&lt;d</code>");
        assert_eq!(inline("2 * 3 * 4 <b>"), "2 * 3 * 4 &lt;b&gt;");
        assert_eq!(inline("\\*a\\* [x"), "*a* [x");
        assert_eq!(inline("[t](askl/table2)"), "<a href=\"#askl-table2\">t</a>");
        assert_eq!(inline("[t](javascript:alert(1))"), "<a href=\"#javascript-alert-1\">t</a>)");
        assert_eq!(
            inline("so! ![a <b>](./b.svg)"),
            "so! <img src=\"./b.svg\" alt=\"a &lt;b&gt;\">"
        );
        // Only what lies beside the page: nothing is asked of another machine.
        assert!(!inline("![a](https://a.b/c.png)").contains("<img"));
        assert_eq!(
            inline("[t](https://a.b/c?d=\"e\")"),
            "<a href=\"https://a.b/c?d=&quot;e&quot;\">t</a>"
        );
    }

    #[test]
    fn blocks_are_told_apart() {
        let text = "# Head\nA line\nand more.\n\n- one\n  goes on\n- two\n\n1. first\n\n```rust file=a.rs\na < b\n```\n| a | b |\n|---|--:|\n| 1 | x\\|y |\n";
        let expected = "<h4>Head</h4>\n<p>A line\nand more.</p>\n<ul>\n<li>one\ngoes on</li>\n<li>two</li>\n</ul>\n\
            <ol>\n<li>first</li>\n</ol>\n<p><code>a.rs</code>:</p>\n<pre><code>a &lt; b</code></pre>\n\
            <div class=\"scroll\" tabindex=\"0\"><table class=\"plain\">\n<thead><tr><th>a</th><th>b</th></tr>\n</thead>\n\
            <tbody><tr><td>1</td><td>x|y</td></tr>\n</tbody>\n</table></div>\n";
        assert_eq!(blocks(text), expected);
    }
}
