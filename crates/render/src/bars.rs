//! Bars of counts: how many of each class, a bar a row, one legend.

use crate::canvas::{CARD, INK, MUTED};
use crate::escape::html;
use std::fmt::Write;

/// Stacked bars of one width: each row by its shares.
///
/// ```
/// use mercer_render::{Bar, Bars};
/// let bars = Bars {
///     id: "overview".into(),
///     title: "Fruit by colour".into(),
///     classes: vec![("red".into(), [0xB8, 0x4A, 0]), ("green".into(), [0, 0x72, 0xB2])],
///     rows: vec![Bar { name: "apples".into(), counts: vec![3, 1], ..Bar::default() }],
/// };
/// assert!(bars.svg().contains("aria-label=\"apples: 3 red, 1 green\""));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bars {
    /// Name, unique in a report.
    pub id: String,
    /// One line.
    pub title: String,
    /// Name and colour of each class, red, green and blue.
    pub classes: Vec<(String, [u8; 3])>,
    /// From the top.
    pub rows: Vec<Bar>,
}

/// One bar.
///
/// ```
/// use mercer_render::{Bar, Bars, Block, Report, Section};
/// let row = Bar {
///     name: "apples".into(),
///     link: Some("./apples.html".into()),
///     counts: vec![3],
///     about: "They *keep*.".into(),
///     below: "Four trees.".into(),
///     line: "Three of four.".into(),
/// };
/// let classes = vec![("red".into(), [0; 3])];
/// let bars = Bars { id: "fruit".into(), title: "Fruit".into(), classes, rows: vec![row] };
/// let section = Section::new("s", "S").block(Block::Bars(bars));
/// let html = Report::new("Report").section(section).to_html()?;
/// assert!(html.contains("<a href=\"./apples.html\">apples</a>") && html.contains("<em>keep</em>"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bar {
    /// What is counted.
    pub name: String,
    /// Where a click on the name leads, in a report.
    pub link: Option<String>,
    /// One number a class.
    pub counts: Vec<usize>,
    /// Markdown beside the bar, in a report.
    pub about: String,
    /// Markdown below the bar, in a report.
    pub below: String,
    /// One line below the bar, in the drawing.
    pub line: String,
}

/// One class of one bar.
pub(crate) struct Segment {
    /// Part of the bar before it, and of it.
    pub start: f64,
    pub share: f64,
    /// Its number, where it fits.
    pub text: String,
    /// Grounds and letters, for CSS and SVG.
    pub ground: String,
    pub ink: &'static str,
}

/// Of the drawing, and of its letters.
const WIDTH: f64 = 520.0;
const LETTERS: f64 = 17.0;
const SMALL: f64 = 14.0;
const HEIGHT: f64 = 28.0;

impl Bars {
    /// Classes that any row has: place, name and colour.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, &str, String)> {
        self.classes.iter().enumerate().filter_map(|(at, (name, color))| {
            let any = self.rows.iter().any(|row| row.counts.get(at).is_some_and(|&n| n > 0));
            any.then(|| (at, name.as_str(), hex(*color)))
        })
    }

    /// `ASKL: 32 agrees, 2 open`.
    pub(crate) fn label(&self, row: &Bar) -> String {
        let counts = self.classes.iter().zip(&row.counts).filter(|(_, n)| **n > 0);
        let counts: Vec<String> = counts.map(|((name, _), n)| format!("{n} {name}")).collect();
        format!("{}: {}", row.name, counts.join(", "))
    }

    /// The classes of a bar from the left; those without a count have none.
    pub(crate) fn segments(&self, row: &Bar) -> Vec<Segment> {
        let all = row.counts.iter().sum::<usize>().max(1) as f64;
        let mut start = 0.0;
        let mut segments = Vec::new();
        for ((_, color), &n) in self.classes.iter().zip(&row.counts).filter(|(_, n)| **n > 0) {
            let share = n as f64 / all;
            let text = n.to_string();
            // A digit takes 0.64 of its height, and needs some air.
            let fits = share * WIDTH > LETTERS * 0.64 * text.len() as f64 + 4.0;
            let text = if fits { text } else { String::new() };
            // The brighter ground by luma has dark letters.
            let [r, g, b] = color.map(f64::from);
            let bright = 0.299 * r + 0.587 * g + 0.114 * b > 125.0;
            let ink = if bright { "#111" } else { "#fff" };
            segments.push(Segment { start, share, text, ground: hex(*color), ink });
            start += share;
        }
        segments
    }

    /// A row from `y` on: its name, its bar and its line. It returns where the next begins.
    fn add_row(&self, row: &Bar, mut y: f64, out: &mut String) -> f64 {
        let (ink, quiet) = (rgb(INK), rgb(MUTED));
        let all: usize = row.counts.iter().sum();
        let _ = write!(
            out,
            "<g role=\"img\" aria-label=\"{}\">\n<text x=\"12\" y=\"{}\" font-weight=\"700\" fill=\"{ink}\">{}</text>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{quiet}\">{all} cells</text>\n",
            html(&self.label(row)),
            y + LETTERS,
            html(&row.name),
            WIDTH + 12.0,
            y + LETTERS
        );
        y += LETTERS + 7.0;
        for Segment { start, share, text, ground, ink } in self.segments(row) {
            // Borders on whole pixels leave no seam.
            let (x, end) = ((WIDTH * start).round(), (WIDTH * (start + share)).round());
            let width = end - x;
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" fill=\"{ground}\"/>",
                x + 12.0
            );
            if !text.is_empty() {
                let (x, y) = (x + 12.0 + width / 2.0, y + HEIGHT / 2.0 + LETTERS * 0.36);
                let _ = writeln!(
                    out,
                    "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" fill=\"{ink}\">{text}</text>"
                );
            }
        }
        y += HEIGHT;
        for line in wrapped(&row.line) {
            let _ = writeln!(
                out,
                "<text x=\"12\" y=\"{}\" font-size=\"{SMALL}\" fill=\"{ink}\">{}</text>",
                y + SMALL + 5.0,
                html(line)
            );
            y += SMALL + 5.0;
        }
        y += if row.line.is_empty() { 0.0 } else { 4.0 };
        out.push_str("</g>\n");
        y + 14.0
    }

    /// All bars and the legend as one SVG, to be read on a phone too.
    pub fn svg(&self) -> String {
        let ink = rgb(INK);
        let mut out = String::new();
        let mut y = 12.0;
        for row in &self.rows {
            y = self.add_row(row, y, &mut out);
        }
        for (at, (_, name, color)) in self.shown().enumerate() {
            let x = 12.0 + WIDTH / 2.0 * (at % 2) as f64;
            let top = y + (LETTERS + 8.0) * (at / 2) as f64;
            let (side, at, line) = (LETTERS - 2.0, x + LETTERS + 6.0, top + LETTERS - 3.0);
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{top}\" width=\"{side}\" height=\"{side}\" fill=\"{color}\"/>\n\
                 <text x=\"{at}\" y=\"{line}\" fill=\"{ink}\">{}</text>",
                html(name)
            );
        }
        let height = y + (LETTERS + 8.0) * self.shown().count().div_ceil(2) as f64 + 8.0;
        let width = WIDTH + 24.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"group\" aria-label=\"{}\" font-size=\"{LETTERS}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n{out}</svg>\n",
            html(&self.title),
            rgb(CARD)
        )
    }
}

/// A colour of the drawing, for CSS and SVG.
fn rgb(color: plotters::style::RGBColor) -> String {
    hex([color.0, color.1, color.2])
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// A line of text, in two where it is wider than the bars.
fn wrapped(line: &str) -> impl Iterator<Item = &str> {
    // The mean width of a letter is some 0.58 of its size.
    let most = (WIDTH / (0.58 * SMALL)) as usize;
    let end = line.char_indices().nth(most).and_then(|(end, _)| line[..end].rfind(", "));
    let (first, second) = line.split_at(end.map_or(line.len(), |end| end + 2));
    [first.trim_end(), second].into_iter().filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_becomes_two() {
        assert_eq!(wrapped("").count(), 0);
        assert_eq!(wrapped("short, line").collect::<Vec<_>>(), ["short, line"]);
        let long = "four words of text, ".repeat(10);
        let parts: Vec<&str> = wrapped(&long).collect();
        assert_eq!(parts.len(), 2);
        assert!(parts[0].ends_with("text,") && parts[0].len() * 6 < 2 * WIDTH as usize);
        assert_eq!(format!("{} {}", parts[0], parts[1]), long);
    }

    #[test]
    fn bars_have_no_seams_and_numbers_only_where_they_fit() {
        let classes = ["a", "b", "c"].map(|name| (name.to_owned(), [0; 3])).to_vec();
        let row = Bar { name: "x".into(), counts: vec![1, 0, 299], ..Bar::default() };
        let bars = Bars { id: "i".into(), title: "T".into(), classes, rows: vec![row] };
        let segments = bars.segments(&bars.rows[0]);
        assert_eq!(segments.len(), 2);
        assert_eq!((segments[0].text.as_str(), segments[1].text.as_str()), ("", "299"));
        let svg = bars.svg();
        assert!(svg.contains("aria-label=\"x: 1 a, 299 c\""), "{svg}");
        assert!(svg.contains("x=\"12\" y=\"36\" width=\"2\"") && svg.contains("x=\"14\" y=\"36\""));
        assert!(!svg.contains(">b<"), "a class without a count is not in the legend");
    }
}
