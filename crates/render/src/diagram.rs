//! Diagrams: boxes, arrows, lines and words at given places, for what is no plot.

use crate::canvas::{self, Canvas, FRAME, Font, INK, MUTED, PALETTE, PANE, Pen, Point, Scene};
use crate::{Align, RenderError};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};
use std::borrow::Cow;

/// A drawing of shapes in logical pixels, the origin at the upper left.
///
/// ```
/// use mercer_render::Diagram;
/// let diagram = Diagram::new("demo/net", "A network", (400.0, 120.0))
///     .block((80.0, 60.0), (100.0, 50.0), "x\ninput", None)
///     .block((300.0, 60.0), (100.0, 50.0), "cos(Ωᵀx + b)", Some(0))
///     .arrow([(130.0, 60.0), (250.0, 60.0)], "Ω", false)
///     .schematic();
/// assert!(diagram.svg()?.contains("schematic"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Diagram {
    /// Name, unique in a report: `askl/figure1`.
    pub id: String,
    /// One line.
    pub title: String,
    /// What is shown and how to read it.
    pub caption: String,
    /// Width and height.
    pub size: (f64, f64),
    /// Whether it says in its corner that it shows a structure and no measurement.
    pub schematic: bool,
    /// What is drawn, in this order.
    pub shapes: Vec<Shape>,
    /// What a page shows in its place where there is little room.
    pub narrow: Option<Box<Self>>,
}

/// A part of a diagram.
///
/// ```
/// use mercer_render::{Diagram, Shape};
/// let diagram = Diagram::new("demo/flow", "A flow", (200.0, 100.0))
///     .arrow([(10.0, 50.0), (190.0, 50.0)], "x < y", true)
///     .line([(0.0, 90.0), (200.0, 90.0)], 2.0);
/// assert!(matches!(&diagram.shapes[0], Shape::Arrow { dashed: true, .. }));
/// assert!(matches!(&diagram.shapes[1], Shape::Line { width: 2.0, .. }));
/// assert!(diagram.svg()?.contains("x &lt; y")); // words are escaped
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A box with lines of text in its middle, the first one in bold if there are more.
    Block {
        /// Its middle.
        at: (f64, f64),
        /// Width and height.
        size: (f64, f64),
        /// Its text, lines parted by `\n`; what stands in `^{}` is raised, in `_{}` lowered.
        text: String,
        /// A place in the palette for its rim; grey without one.
        color: Option<usize>,
    },
    /// A line through points with a head at the last one.
    Arrow {
        /// Its points.
        path: Vec<(f64, f64)>,
        /// Written above its longest part.
        label: String,
        /// For what flows back: gradients.
        dashed: bool,
    },
    /// A line.
    Line {
        /// Its points.
        path: Vec<(f64, f64)>,
        /// Its width.
        width: f64,
    },
    /// Words.
    Text {
        /// Where.
        at: (f64, f64),
        /// What.
        text: String,
        /// Which end stands there.
        align: Align,
        /// In bold.
        bold: bool,
    },
}

impl Diagram {
    /// An empty diagram of this width and height.
    pub fn new(id: impl Into<String>, title: impl Into<String>, size: (f64, f64)) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            caption: String::new(),
            size,
            schematic: false,
            shapes: Vec::new(),
            narrow: None,
        }
    }

    /// With this caption.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// With this in its place on a phone.
    ///
    /// ```
    /// use mercer_render::{Align, Diagram};
    /// let words = |width| Diagram::new("demo/words", "Words", (width, 40.0)).text((8.0, 20.0), "x", Align::Left);
    /// let diagram = words(700.0).narrow(words(340.0));
    /// assert_eq!(diagram.narrow.map(|narrow| narrow.size), Some((340.0, 40.0)));
    /// ```
    #[must_use]
    pub fn narrow(mut self, narrow: Self) -> Self {
        self.narrow = Some(Box::new(narrow));
        self
    }

    /// Marked as a structure without measurements.
    #[must_use]
    pub fn schematic(mut self) -> Self {
        self.schematic = true;
        self
    }

    /// With one more box around `at`.
    #[must_use]
    pub fn block(
        mut self,
        at: (f64, f64),
        size: (f64, f64),
        text: impl Into<String>,
        color: Option<usize>,
    ) -> Self {
        self.shapes.push(Shape::Block { at, size, text: text.into(), color });
        self
    }

    /// With one more arrow.
    #[must_use]
    pub fn arrow(
        mut self,
        path: impl IntoIterator<Item = (f64, f64)>,
        label: impl Into<String>,
        dashed: bool,
    ) -> Self {
        let path = path.into_iter().collect();
        self.shapes.push(Shape::Arrow { path, label: label.into(), dashed });
        self
    }

    /// With one more line.
    #[must_use]
    pub fn line(mut self, path: impl IntoIterator<Item = (f64, f64)>, width: f64) -> Self {
        self.shapes.push(Shape::Line { path: path.into_iter().collect(), width });
        self
    }

    /// With more words.
    #[must_use]
    pub fn text(mut self, at: (f64, f64), text: impl Into<String>, align: Align) -> Self {
        self.shapes.push(Shape::Text { at, text: text.into(), align, bold: false });
        self
    }

    /// With more words in bold, from the left.
    #[must_use]
    pub fn bold(mut self, at: (f64, f64), text: impl Into<String>) -> Self {
        self.shapes.push(Shape::Text { at, text: text.into(), align: Align::Left, bold: true });
        self
    }

    /// The diagram as SVG on a white card.
    ///
    /// # Errors
    /// [`RenderError::Size`] if its sides are not positive.
    pub fn svg(&self) -> Result<String, RenderError> {
        canvas::svg(self)
    }
}

impl Scene for Diagram {
    fn size<DB: DrawingBackend>(&self, _: &Canvas<DB>) -> Result<Point, RenderError> {
        Ok(self.size)
    }

    fn label(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.title)
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), RenderError> {
        canvas.ground()?;
        for shape in &self.shapes {
            match shape {
                Shape::Block { at, size, text, color } => block(*at, *size, text, *color, canvas)?,
                Shape::Arrow { path, label, dashed } => arrow(path, label, *dashed, canvas)?,
                Shape::Line { path, width } => canvas.line(path, Pen::new(INK, *width))?,
                Shape::Text { at, text, align, bold } => {
                    let h = match align {
                        Align::Left => HPos::Left,
                        Align::Center => HPos::Center,
                        Align::Right => HPos::Right,
                    };
                    let font = Font { bold: *bold, ..Font::new(12.0) };
                    canvas.text(text, *at, font.anchor(h, VPos::Center))?;
                }
            }
        }
        if self.schematic {
            let font = Font::new(11.0).color(MUTED).anchor(HPos::Right, VPos::Center);
            let at = (self.size.0 - 10.0, self.size.1 - 12.0);
            canvas.text("schematic: structure only, nothing measured", at, font)?;
        }
        Ok(())
    }
}

fn block<DB: DrawingBackend>(
    (x, y): Point,
    (width, height): Point,
    text: &str,
    color: Option<usize>,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let (from, to) = ((x - width / 2.0, y - height / 2.0), (x + width / 2.0, y + height / 2.0));
    canvas.rectangle(from, to, PANE)?;
    let rim = color.map_or(FRAME, |color| PALETTE[color % PALETTE.len()]);
    // From the middle of a side, where the two ends meet without a notch.
    let corners = [(x, from.1), (to.0, from.1), to, (from.0, to.1), from, (x, from.1)];
    canvas.line(&corners, Pen::new(rim, 2.0))?;
    let lines: Vec<_> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        let bold = i == 0 && lines.len() > 1;
        let font = if bold { Font::new(13.0).bold() } else { Font::new(12.0) };
        let y = y + 17.0 * (i as f64 - (lines.len() as f64 - 1.0) / 2.0);
        formula(line, (x, y), font, canvas)?;
    }
    Ok(())
}

/// Words around their middle, with what stands in `^{}` raised and in `_{}` lowered, one above the other.
fn formula<DB: DrawingBackend>(
    text: &str,
    (x, y): Point,
    font: Font,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let small = Font { size: 0.8 * font.size, ..font };
    let mut placed = Vec::new();
    let (mut end, mut script) = (0.0, None);
    for (part, level) in parts(text) {
        let font = if level == 0.0 { font } else { small };
        let wide = canvas.width(part, font)?;
        let start = match script {
            Some((before, start)) if level * before < 0.0 => start,
            _ => end,
        };
        script = (level != 0.0).then_some((level, start));
        placed.push((part, start, level, font));
        end = f64::max(end, start + wide);
    }
    for (part, start, level, font) in placed {
        canvas.text(part, (x - end / 2.0 + start, y - 0.5 * font.size * level), font)?;
    }
    Ok(())
}

/// The parts of a formula: raised by 1, lowered by -1, or on the line.
fn parts(text: &str) -> Vec<(&str, f64)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("^{").into_iter().chain(rest.find("_{")).min() {
        let level = if rest[at..].starts_with('^') { 1.0 } else { -1.0 };
        let Some(end) = rest[at..].find('}') else { break };
        parts.extend([(&rest[..at], 0.0), (&rest[at + 2..at + end], level)]);
        rest = &rest[at + end + 1..];
    }
    parts.push((rest, 0.0));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

fn arrow<DB: DrawingBackend>(
    path: &[Point],
    label: &str,
    dashed: bool,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let [.., before, tip] = *path else { return Ok(()) };
    let length = |a: Point, b: Point| (b.0 - a.0).hypot(b.1 - a.1);
    let last = length(before, tip);
    if last == 0.0 {
        return Ok(());
    }
    let color = if dashed { PALETTE[1] } else { INK };
    let dash: &[f64] = if dashed { &[6.0, 4.0] } else { &[] };
    // The shaft ends inside the head, whose tip would otherwise be as blunt as the shaft is wide.
    let (ux, uy) = ((tip.0 - before.0) / last, (tip.1 - before.1) / last);
    let mut shaft = path.to_vec();
    shaft[path.len() - 1] = (tip.0 - 6.0 * ux, tip.1 - 6.0 * uy);
    canvas.line(&shaft, Pen { color, width: 1.6, dash })?;
    let side = |s: f64| (tip.0 - 9.0 * ux - s * 4.0 * uy, tip.1 - 9.0 * uy + s * 4.0 * ux);
    canvas.polygon(&[tip, side(1.0), side(-1.0)], color, 1.0)?;
    let longest = path.windows(2).max_by(|a, b| length(a[0], a[1]).total_cmp(&length(b[0], b[1])));
    if let Some(&[a, b]) = longest {
        let middle = (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1));
        let steep = (b.1 - a.1).abs() > (b.0 - a.0).abs();
        let font = Font::new(11.5).color(color);
        if steep {
            canvas.text(label, (middle.0 + 7.0, middle.1), font)?;
        } else {
            let font = font.anchor(HPos::Center, VPos::Center);
            canvas.text(label, (middle.0, middle.1 - 10.0), font)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_formula_has_raised_and_lowered_parts() {
        let parts_of = |text| parts(text).into_iter().map(|(part, level)| format!("{part}{level}"));
        let found: Vec<String> = parts_of("λ ∥W∥^{2}_{F} + b_i").collect();
        assert_eq!(found, ["λ ∥W∥0", "21", "F-1", " + b_i0"]);
        assert_eq!(parts("x_{"), [("x_{", 0.0)]);
    }
}
