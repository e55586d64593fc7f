//! Any text, made harmless in each language that a table or a page is written in.

use std::fmt::Write;

/// Control characters have no place in any of the languages: they become spaces.
fn printable(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// Text for HTML, in content as in quoted attributes.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            c => out.push(printable(c)),
        }
    }
    out
}

/// The same, where what stands between backticks is code.
pub(crate) fn html_with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let empty = parts.iter().skip(1).step_by(2).any(|code| code.is_empty());
    if parts.len().is_multiple_of(2) || empty {
        return html(text);
    }
    let mark = |(at, part): (usize, &&str)| {
        if at % 2 == 1 { format!("<code>{}</code>", html(part)) } else { html(part) }
    };
    parts.iter().enumerate().map(mark).collect()
}

/// Text for a cell or a line of Markdown (GitHub's dialect): no markup survives but code between
/// backticks, line breaks become spaces.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let closed = text.matches('`').count().is_multiple_of(2) && !text.contains("``");
    let mut code = false;
    for c in text.chars() {
        let mark = closed && c == '`';
        code ^= mark;
        // A bar parts cells, even within code.
        if !mark && if code { c == '|' } else { "\\`*_{}[]<>#|~&!$".contains(c) } {
            out.push('\\');
        }
        out.push(printable(c));
    }
    out
}

/// One field of CSV (RFC 4180), quoted where it must be.
pub(crate) fn csv(text: &str) -> String {
    let bare = !text.contains(['"', ',', '\n', '\r'])
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with(char::is_whitespace);
    if bare { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// One line of CSV, with its line end.
pub(crate) fn csv_line<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = fields.into_iter().map(csv).collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    line
}

/// Text for LaTeX in text mode; Greek letters and common signs become mathematics.
pub(crate) fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text.chars().peekable();
    let mut start = true;
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => {
                out.push('\\');
                out.push(c);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            // Brackets after a line end of a table would be read as its optional argument.
            '[' => out.push_str("{[}"),
            ']' => out.push_str("{]}"),
            '–' => out.push_str("--"),
            '—' => out.push_str("---"),
            '…' => out.push_str("\\ldots{}"),
            '\u{a0}' => out.push('~'),
            '-' if start && rest.peek().is_some_and(char::is_ascii_digit) => out.push_str("$-$"),
            c => match mathematics(c) {
                Some(code) => {
                    let _ = write!(out, "${code}$");
                }
                None => out.push(printable(c)),
            },
        }
        start = false;
    }
    out
}

/// LaTeX's code of a character that is mathematics.
fn mathematics(c: char) -> Option<&'static str> {
    sign(c).or_else(|| raised_or_lowered(c)).or_else(|| greek(c))
}

/// LaTeX's name of a mathematical sign.
fn sign(c: char) -> Option<&'static str> {
    Some(match c {
        'ᵀ' => "^{\\top}",
        'ℓ' => "\\ell",
        '±' => "\\pm",
        '×' | '✗' => "\\times",
        '−' => "-",
        '·' | '⋅' => "\\cdot",
        '≤' => "\\le",
        '≥' => "\\ge",
        '≈' => "\\approx",
        '≠' => "\\ne",
        '≪' => "\\ll",
        '≫' => "\\gg",
        '∞' => "\\infty",
        '√' | '✓' => "\\surd",
        '∑' => "\\sum",
        '∏' => "\\prod",
        '∫' => "\\int",
        '∂' => "\\partial",
        '∇' => "\\nabla",
        '∈' => "\\in",
        '⊂' => "\\subset",
        '∪' => "\\cup",
        '∩' => "\\cap",
        '→' => "\\rightarrow",
        '←' => "\\leftarrow",
        '⇒' => "\\Rightarrow",
        '‖' => "\\|",
        '†' => "\\dagger",
        '‡' => "\\ddagger",
        '°' => "^{\\circ}",
        '′' => "'",
        _ => return None,
    })
}

/// A digit or sign above or below the line.
fn raised_or_lowered(c: char) -> Option<&'static str> {
    Some(match c {
        '⁰' => "^{0}",
        '¹' => "^{1}",
        '²' => "^{2}",
        '³' => "^{3}",
        '⁴' => "^{4}",
        '⁵' => "^{5}",
        '⁶' => "^{6}",
        '⁷' => "^{7}",
        '⁸' => "^{8}",
        '⁹' => "^{9}",
        '⁻' => "^{-}",
        '⁺' => "^{+}",
        'ⁿ' => "^{n}",
        '₀' => "_{0}",
        '₁' => "_{1}",
        '₂' => "_{2}",
        '₃' => "_{3}",
        '₄' => "_{4}",
        '₅' => "_{5}",
        '₆' => "_{6}",
        '₇' => "_{7}",
        '₈' => "_{8}",
        '₉' => "_{9}",
        _ => return None,
    })
}

/// LaTeX's name of a Greek letter.
fn greek(c: char) -> Option<&'static str> {
    Some(match c {
        'α' => "\\alpha",
        'β' => "\\beta",
        'γ' => "\\gamma",
        'δ' => "\\delta",
        'ε' => "\\varepsilon",
        'ζ' => "\\zeta",
        'η' => "\\eta",
        'θ' => "\\theta",
        'ι' => "\\iota",
        'κ' => "\\kappa",
        'λ' => "\\lambda",
        'μ' | 'µ' => "\\mu",
        'ν' => "\\nu",
        'ξ' => "\\xi",
        'π' => "\\pi",
        'ρ' => "\\rho",
        'σ' => "\\sigma",
        'τ' => "\\tau",
        'υ' => "\\upsilon",
        'φ' => "\\varphi",
        'χ' => "\\chi",
        'ψ' => "\\psi",
        'ω' => "\\omega",
        'Γ' => "\\Gamma",
        'Δ' => "\\Delta",
        'Θ' => "\\Theta",
        'Λ' => "\\Lambda",
        'Ξ' => "\\Xi",
        'Π' => "\\Pi",
        'Σ' => "\\Sigma",
        'Φ' => "\\Phi",
        'Ψ' => "\\Psi",
        'Ω' => "\\Omega",
        _ => return None,
    })
}

/// The address of a part of a page: the id with all but ASCII letters and digits made hyphens.
pub(crate) fn address(id: &str) -> String {
    id.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect()
}

/// What a link's `href` is: web and mail addresses and relative paths (`./`, `../`) as they are,
/// anything else is an id of the page; so no link runs a script.
pub(crate) fn link_target(link: &str) -> Option<String> {
    let link = link.trim();
    if link.is_empty() {
        return None;
    }
    let kept = ["https://", "http://", "mailto:", "./", "../"];
    if kept.iter().any(|start| link.starts_with(start)) {
        return Some(link.to_owned());
    }
    Some(format!("#{}", address(link.trim_start_matches('#'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_backticks_mark_code() {
        assert_eq!(html_with_code("a `b<c` d"), "a <code>b&lt;c</code> d");
        assert_eq!(html_with_code("a `b"), "a `b");
    }

    #[test]
    fn every_language_disarms_its_own_markup() {
        assert_eq!(html("<b a=\"1\">'&\u{7}"), "&lt;b a=&quot;1&quot;&gt;&#39;&amp; ");
        assert_eq!(markdown("a|b *c* <i>\nd"), "a\\|b \\*c\\* \\<i\\> d");
        assert_eq!(csv("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv(" a"), "\" a\"");
        assert_eq!(latex("5_% {λ} \\x"), "5\\_\\% \\{$\\lambda$\\} \\textbackslash{}x");
    }

    #[test]
    fn a_leading_minus_is_a_minus_and_a_hyphen_stays_one() {
        assert_eq!(latex("-0.5"), "$-$0.5");
        assert_eq!(latex("RF-SGD"), "RF-SGD");
        assert_eq!(latex("10⁻³"), "10$^{-}$$^{3}$");
    }

    #[test]
    fn addresses_hold_letters_digits_and_hyphens() {
        assert_eq!(address("askl/Table2 (λ)"), "askl-table2----");
    }
}
