//! Logical pixels in, SVG out.
//!
//! plotters' backend counts whole pixels. A drawing is therefore made on a grid [`SVG_UNIT`] times
//! finer than its size, through the view box.

use crate::RenderError;
use crate::condense::{FONT, condensed};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{Color as _, DrawingBackend, FontStyle, FontTransform, IntoFont, RGBColor};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{ShapeStyle, TextStyle, register_font};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Once;

const SVG_UNIT: f64 = 10.0;
pub(crate) type Point = (f64, f64);

/// Colours of everything that is no data. The page's style sheet recolours them in the dark by
/// their value, so nothing else may use these.
pub(crate) const CARD: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
pub(crate) const INK: RGBColor = RGBColor(0x1F, 0x23, 0x28);
pub(crate) const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6A);
pub(crate) const GRID: RGBColor = RGBColor(0xE6, 0xE9, 0xED);
pub(crate) const FRAME: RGBColor = RGBColor(0x8C, 0x95, 0x9F);
pub(crate) const PANE: RGBColor = RGBColor(0xF3, 0xF6, 0xFA);
pub(crate) const RESERVED: [RGBColor; 6] = [CARD, INK, MUTED, GRID, FRAME, PANE];

/// Seven colours that people with any colour vision can tell apart. Four are of Okabe and Ito (2008); their sky blue,
/// orange and yellow are faint on white, and two violets stand in their place.
pub(crate) const PALETTE: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x96, 0x78, 0xFF),
    RGBColor(0x96, 0x00, 0xFF),
    RGBColor(0x6B, 0x6B, 0x6B),
];

/// Lengths of strokes and gaps in turn, so that lines differ without colour too.
pub(crate) const DASHES: [&[f64]; 6] = [
    &[],
    &[7.0, 3.0],
    &[2.5, 2.5],
    &[9.0, 3.0, 2.5, 3.0],
    &[14.0, 4.0],
    &[6.0, 2.0, 2.0, 2.0, 2.0, 2.0],
];

/// How a line looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    pub color: RGBColor,
    pub width: f64,
    pub dash: &'static [f64],
}

impl Pen {
    pub const fn new(color: RGBColor, width: f64) -> Self {
        Self { color, width, dash: &[] }
    }
}

/// How a text looks and which of its points is placed.
#[derive(Clone, Copy)]
pub(crate) struct Font {
    pub size: f64,
    pub bold: bool,
    pub color: RGBColor,
    pub h: HPos,
    pub v: VPos,
    pub upward: bool,
}

impl Font {
    pub const fn new(size: f64) -> Self {
        Self { size, bold: false, color: INK, h: HPos::Left, v: VPos::Center, upward: false }
    }

    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub const fn color(self, color: RGBColor) -> Self {
        Self { color, ..self }
    }

    pub const fn anchor(self, h: HPos, v: VPos) -> Self {
        Self { h, v, ..self }
    }

    pub const fn upward(self) -> Self {
        Self { upward: true, ..self }
    }
}

/// Something that can be drawn.
pub(crate) trait Scene {
    /// Width and height in logical pixels.
    fn size<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<Point, RenderError>;
    /// What somebody who cannot see it is told.
    fn label(&self) -> Cow<'_, str>;
    /// Draws it on a white ground.
    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), RenderError>;
}

/// A backend with its grid.
pub(crate) struct Canvas<DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
    unit: f64,
}

/// The scene as SVG, with its text as text.
pub(crate) fn svg(scene: &impl Scene) -> Result<String, RenderError> {
    let (width, height) = measured(|canvas| scene.size(canvas))?;
    let (w, h) = pixels(width, height, SVG_UNIT, 20_000.0 * SVG_UNIT)?;
    let mut body = String::new();
    let canvas = Canvas::new(SVGBackend::with_string(&mut body, (w, h)), SVG_UNIT);
    scene.draw(&canvas)?;
    canvas.finish()?;
    drop(canvas);
    // The backend's root element knows the fine grid only.
    let start = body.find('>').map_or(0, |end| end + 1);
    let mut out = String::with_capacity(body.len() + 200);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\"{}\" stroke-linejoin=\"round\"{FONT}>",
        crate::escape::html(&scene.label())
    );
    out.push_str(&condensed(&body[start..]));
    Ok(out)
}

/// Lengths of a scene may depend on the width of its texts, which needs a backend to ask.
pub(crate) fn measured<T>(
    ask: impl FnOnce(&Canvas<SVGBackend>) -> Result<T, RenderError>,
) -> Result<T, RenderError> {
    let mut sink = String::new();
    ask(&Canvas::new(SVGBackend::with_string(&mut sink, (1, 1)), SVG_UNIT))
}

/// The view box that shows this rectangle of a drawing alone.
pub(crate) fn view_box((from, to): (Point, Point)) -> String {
    let [x, y, width, height] =
        [from.0, from.1, to.0 - from.0, to.1 - from.1].map(|length| SVG_UNIT * length);
    format!("{x:.0} {y:.0} {width:.0} {height:.0}")
}

fn pixels(width: f64, height: f64, scale: f64, most: f64) -> Result<(u32, u32), RenderError> {
    let (width, height) = ((width * scale).round(), (height * scale).round());
    let fits = |side: f64| (1.0..=most).contains(&side); // NaN does not
    if fits(width) && fits(height) {
        Ok((width as u32, height as u32))
    } else {
        Err(RenderError::Size { width, height })
    }
}

/// plotters measures text with fonts that the program brings along, for SVG too.
fn fonts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let normal = include_bytes!("../assets/DejaVuSans.ttf");
        let bold = include_bytes!("../assets/DejaVuSans-Bold.ttf");
        let sound = register_font("sans-serif", FontStyle::Normal, normal).is_ok()
            && register_font("sans-serif", FontStyle::Bold, bold).is_ok();
        assert!(sound, "the embedded fonts are sound");
    });
}

impl<DB: DrawingBackend> Canvas<DB> {
    fn new(backend: DB, unit: f64) -> Self
    where
        DB: IntoDrawingArea,
    {
        fonts();
        Self { area: backend.into_drawing_area(), unit }
    }

    fn finish(&self) -> Result<(), RenderError> {
        self.area.present().map_err(refused)
    }

    fn at(&self, (x, y): Point) -> (i32, i32) {
        // A cast of a float saturates, and callers clip before.
        ((x * self.unit).round() as i32, (y * self.unit).round() as i32)
    }

    fn stroke(&self, color: RGBColor, width: f64) -> ShapeStyle {
        let stroke_width = (width * self.unit).round().max(1.0) as u32;
        ShapeStyle { color: color.to_rgba(), filled: false, stroke_width }
    }

    /// The ground.
    pub fn ground(&self) -> Result<(), RenderError> {
        self.area.fill(&CARD).map_err(refused)
    }

    /// A line through points.
    pub fn line(&self, points: &[Point], pen: Pen) -> Result<(), RenderError> {
        let style = self.stroke(pen.color, pen.width);
        for stroke in dashes(points, pen.dash) {
            let mut stroke: Vec<_> = stroke.into_iter().map(|point| self.at(point)).collect();
            stroke.dedup();
            if stroke.len() > 1 {
                self.area.draw(&PathElement::new(stroke, style)).map_err(refused)?;
            }
        }
        Ok(())
    }

    /// A filled polygon.
    pub fn polygon(
        &self,
        points: &[Point],
        color: RGBColor,
        opacity: f64,
    ) -> Result<(), RenderError> {
        let points: Vec<_> = points.iter().map(|&point| self.at(point)).collect();
        self.area.draw(&Polygon::new(points, color.mix(opacity).filled())).map_err(refused)
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&self, from: Point, to: Point, color: RGBColor) -> Result<(), RenderError> {
        let corners = [self.at(from), self.at(to)];
        self.area.draw(&Rectangle::new(corners, color.filled())).map_err(refused)
    }

    /// A filled disc.
    pub fn disc(&self, center: Point, radius: f64, color: RGBColor) -> Result<(), RenderError> {
        let radius = (radius * self.unit).round() as i32;
        self.area.draw(&Circle::new(self.at(center), radius, color.filled())).map_err(refused)
    }

    /// One line of text.
    pub fn text(&self, text: &str, at: Point, font: Font) -> Result<(), RenderError> {
        let text = clean(text);
        if text.is_empty() {
            return Ok(());
        }
        self.area.draw_text(&text, &self.style(font), self.at(at)).map_err(refused)
    }

    /// Width of a text in logical pixels.
    pub fn width(&self, text: &str, font: Font) -> Result<f64, RenderError> {
        let (width, _) = self
            .area
            .estimate_text_size(&clean(text), &self.style(Font { upward: false, ..font }))
            .map_err(refused)?;
        Ok(f64::from(width) / self.unit)
    }

    fn style(&self, font: Font) -> TextStyle<'static> {
        let style = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        // plotters writes sizes divided by 1.24 into SVG.
        let size = font.size * self.unit * 1.24;
        let mut face = ("sans-serif", size, style).into_font();
        if font.upward {
            face = face.transform(FontTransform::Rotate270);
        }
        TextStyle { color: font.color.to_backend_color(), ..face.into() }
            .pos(Pos::new(font.h, font.v))
    }
}

fn refused(error: impl std::fmt::Display) -> RenderError {
    RenderError::Drawing(error.to_string())
}

/// XML knows no control characters, and the fonts know only one of the two double bars.
fn clean(text: &str) -> String {
    let known = |c: char| match c {
        '‖' => '∥',
        c if c.is_control() => ' ',
        c => c,
    };
    text.trim().chars().map(known).collect()
}

/// Cuts a line into strokes; the backends draw solid lines only.
fn dashes(points: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    if pattern.is_empty() || points.len() < 2 {
        return vec![points.to_vec()];
    }
    let (mut strokes, mut stroke) = (Vec::new(), vec![points[0]]);
    let (mut turn, mut left) = (0, pattern[0]);
    for pair in points.windows(2) {
        let ((mut x, mut y), (x1, y1)) = (pair[0], pair[1]);
        loop {
            let length = (x1 - x).hypot(y1 - y);
            if length <= left {
                left -= length;
                if turn % 2 == 0 {
                    stroke.push((x1, y1));
                }
                break;
            }
            x += (x1 - x) * left / length;
            y += (y1 - y) * left / length;
            if turn % 2 == 0 {
                stroke.push((x, y));
                strokes.push(std::mem::take(&mut stroke));
            } else {
                stroke.push((x, y));
            }
            turn += 1;
            left = pattern[turn % pattern.len()];
        }
    }
    if stroke.len() > 1 {
        strokes.push(stroke);
    }
    strokes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cut_a_line_into_strokes_and_gaps_across_its_corners() {
        let strokes = dashes(&[(0.0, 0.0), (4.0, 0.0), (4.0, 6.0)], &[3.0, 2.0]);
        let expected = vec![vec![(0.0, 0.0), (3.0, 0.0)], vec![(4.0, 1.0), (4.0, 4.0)]];
        assert_eq!(strokes, expected);
    }

    #[test]
    fn a_solid_line_is_one_stroke() {
        let line = [(0.0, 0.0), (1.0, 1.0)];
        assert_eq!(dashes(&line, &[]), vec![line.to_vec()]);
    }
}
