//! Figures: panels of series over two axes.

use crate::canvas::{self, Canvas, Point, Scene};
use crate::escape::csv_line;
use crate::{Axis, Badge, Raster, RenderError, plot};
use plotters::prelude::DrawingBackend;
use serde::Deserialize;
use std::borrow::Cow;

/// A figure of one or more panels with one legend.
///
/// A series keeps its colour and dashes in all panels: they go by its label. SVG text is text, in
/// the reader's sans-serif font; its width in the layout is that of `DejaVu Sans`.
///
/// ```
/// use mercer_render::{Axis, Figure, Panel, Series};
/// let curve = (1..=50).map(|t| (f64::from(t), 1.0 / f64::from(t)));
/// let panel = Panel::new(Axis::linear("epoch"), Axis::log10("loss")).series(Series::line("SGD", curve));
/// let figure = Figure::new("demo/figure", "Loss along training").panel(panel);
/// assert!(figure.svg()?.starts_with("<svg"));
/// assert!(figure.csv().contains("SGD,2,0.5"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name, unique in a report: `askl/figure3`.
    pub id: String,
    /// One line.
    pub title: String,
    /// What is shown and how to read it.
    pub caption: String,
    /// Lines below the figure.
    pub notes: Vec<String>,
    /// What it shows, for somebody who cannot see it; the title where it is empty.
    pub alternative: String,
    /// Whether its letters are read on a phone too: a column of 340 pixels, which a wide page enlarges.
    pub compact: bool,
    /// Panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels side by side.
    pub columns: usize,
    /// Where the legend stands.
    pub legend: Legend,
    /// What was decided about it, beside its title on a page.
    pub badges: Vec<Badge>,
    /// What colours of its maps mean, after the series in the legend: red, green and blue, from 0 to 255.
    pub keys: Vec<(String, [u8; 3])>,
}

/// Where a legend stands; it never covers data.
///
/// ```
/// use mercer_render::{Axis, Figure, Legend, Panel, Series};
/// let svg = |legend| {
///     let panel = Panel::new(Axis::linear("x"), Axis::linear("y"))
///         .series(Series::line("first curve", [(0.0, 0.0), (1.0, 1.0)]));
///     Figure::new("demo/legend", "A line").panel(panel).legend(legend).svg()
/// };
/// let named = |legend| Ok::<_, mercer_render::RenderError>(svg(legend)?.matches("first curve").count());
/// assert_eq!(named(Legend::Below)?, 2); // once for those who cannot see it
/// assert_eq!(named(Legend::Hidden)?, 1);
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    /// Below all panels.
    #[default]
    Below,
    /// To the right of all panels.
    Right,
    /// Nowhere.
    Hidden,
}

/// A pair of axes with what is drawn between them.
///
/// ```
/// use mercer_render::{Axis, Figure, Mark, Panel, Series};
/// let panel = Panel::new(Axis::linear("epoch"), Axis::linear("accuracy"))
///     .title("letter")
///     .series(Series::line("ASKL", [(1.0, 0.5), (2.0, 0.75)]))
///     .mark(Mark::Horizontal { y: 0.7, label: "published".to_owned() });
/// let figure = Figure::new("demo/panel", "Accuracy").panel(panel);
/// assert!(figure.csv().contains("letter,ASKL,2,0.75"));
/// assert!(figure.svg()?.contains("published"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// One line above it; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// A map behind all that.
    pub raster: Option<Raster>,
    /// What is drawn.
    pub series: Vec<Series>,
    /// References.
    pub marks: Vec<Mark>,
}

/// How the points of a series are shown.
///
/// ```
/// use mercer_render::{Series, Style};
/// let bars = Series::bars("errors", [(0.0, 3.0)]);
/// assert_eq!((bars.style, Style::default()), (Style::Bars, Style::Line));
/// assert_eq!(bars.style(Style::Dashed).points, [(0.0, 3.0)]); // another look, the same numbers
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// A line, its dashes by the place of its label in the legend.
    #[default]
    Line,
    /// Markers; a band becomes error bars.
    Points,
    /// A line with markers.
    LinePoints,
    /// A line with markers, a little beside those of other series; a band becomes error bars.
    Whiskers,
    /// A dashed line in any case: for what was published or predicted.
    Dashed,
    /// Bars from zero, side by side with those of other series; a band becomes error bars.
    Bars,
}

/// Points under one label.
///
/// ```
/// use mercer_render::{Axis, Figure, Panel, Series};
/// let series = Series::line("loss", [(1.0, 4.0), (2.0, f64::NAN), (3.0, 1.0)])
///     .band([(3.0, 5.0), (0.0, 0.0), (0.5, 1.5)]);
/// let panel = Panel::new(Axis::linear("epoch"), Axis::linear("loss")).series(series);
/// let figure = Figure::new("demo/series", "Loss").panel(panel);
/// assert!(figure.svg().is_ok()); // what is not finite is a gap
/// assert!(figure.csv().contains("loss,3,1,0.5,1.5"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend.
    pub label: String,
    /// Points `(x, y)`. One that is not finite, or not positive on a logarithmic axis, is a gap,
    /// and the legend counts those that a logarithmic axis cannot show.
    pub points: Vec<(f64, f64)>,
    /// Lower and upper limit at each point.
    pub band: Option<Vec<(f64, f64)>>,
    /// How it is shown.
    pub style: Style,
    /// A place in the palette, instead of the one that the legend gives: to show two series as
    /// belonging together.
    pub color: Option<usize>,
}

/// A reference.
///
/// ```
/// use mercer_render::{Axis, Figure, Mark, Panel, Series};
/// let mark = |x| Mark::Point { x, y: 1.0, label: "published".to_owned(), color: None };
/// let panel = Panel::new(Axis::linear("x"), Axis::linear("y"))
///     .series(Series::line("ours", [(0.0, 0.0), (3.0, 2.0)]))
///     .mark(mark(1.0))
///     .mark(mark(2.0));
/// let svg = Figure::new("demo/marks", "Points").panel(panel).svg()?;
/// assert_eq!(svg.matches("published").count(), 1); // points of one name share an entry
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A vertical line.
    Vertical {
        /// Where.
        x: f64,
        /// Written beside it.
        label: String,
    },
    /// A horizontal line.
    Horizontal {
        /// Where.
        y: f64,
        /// Written on it.
        label: String,
    },
    /// A single point, such as a published number: a star, named in the legend.
    Point {
        /// Where.
        x: f64,
        /// Where.
        y: f64,
        /// Its name; points of one name share an entry in the legend.
        label: String,
        /// A place in the palette; black without one.
        color: Option<usize>,
    },
    /// The name of a point of a series, written beside it.
    Name {
        /// Where the point is.
        x: f64,
        /// Where the point is.
        y: f64,
        /// Its name.
        label: String,
    },
}

impl Figure {
    /// A figure without panels, in one column.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            caption: String::new(),
            notes: Vec::new(),
            alternative: String::new(),
            compact: false,
            panels: Vec::new(),
            columns: 1,
            legend: Legend::Below,
            badges: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// With this caption.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// With a line below.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With these words for somebody who cannot see it.
    ///
    /// ```
    /// use mercer_render::{Axis, Figure, Panel, Series};
    /// let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).series(Series::line("a", [(0.0, 1.0), (1.0, 3.0)]));
    /// let figure = Figure::new("demo/words", "Growth").panel(panel).alternative("From 1 to 3.");
    /// assert!(figure.svg()?.contains("aria-label=\"Growth. From 1 to 3.\""));
    /// # Ok::<(), mercer_render::RenderError>(())
    /// ```
    #[must_use]
    pub fn alternative(mut self, words: impl AsRef<str>) -> Self {
        self.alternative = format!("{}. {}", self.title, words.as_ref());
        self
    }

    /// In one column of 340 pixels, to be read on a phone.
    ///
    /// ```
    /// use mercer_render::{Axis, Figure, Panel, Series};
    /// let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).series(Series::points("a", [(0.0, 1.0)]));
    /// let figure = Figure::new("demo/small", "Point").panel(panel).compact();
    /// assert!(figure.svg()?.contains("width=\"340\""));
    /// # Ok::<(), mercer_render::RenderError>(())
    /// ```
    #[must_use]
    pub fn compact(mut self) -> Self {
        (self.compact, self.columns) = (true, 1);
        self
    }

    /// With what its bands are of, in the legend.
    ///
    /// ```
    /// use mercer_render::{Axis, Figure, Panel, Series};
    /// let line = Series::line("SGD", [(0.0, 1.0), (1.0, 2.0)]).band([(0.5, 1.5), (1.0, 3.0)]);
    /// let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).series(line);
    /// let figure = Figure::new("demo/bands", "A band").panel(panel).bands("95 % interval");
    /// assert!(figure.svg()?.contains("band: 95 % interval"));
    /// # Ok::<(), mercer_render::RenderError>(())
    /// ```
    #[must_use]
    pub fn bands(self, of: &str) -> Self {
        self.key(format!("band: {of}"), [0x9A, 0xA1, 0xA8])
    }

    /// With one more panel.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// With so many panels side by side.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// With the legend there.
    #[must_use]
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legend = legend;
        self
    }

    /// With what its error bars are of, in the legend.
    ///
    /// ```
    /// use mercer_render::{Axis, Figure, Panel, Series, Style};
    /// let line = Series::line("SVM", [(0.0, 1.0), (1.0, 2.0)]).band([(0.5, 1.5), (1.0, 3.0)]);
    /// let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).series(line.style(Style::Whiskers));
    /// let figure = Figure::new("demo/bars", "Error bars").panel(panel).error_bars("95 % interval");
    /// assert!(figure.svg()?.contains("bar: 95 % interval"));
    /// # Ok::<(), mercer_render::RenderError>(())
    /// ```
    #[must_use]
    pub fn error_bars(self, of: &str) -> Self {
        self.key(format!("bar: {of}"), [0x9A, 0xA1, 0xA8])
    }

    /// With the meaning of a colour of its maps, a square in the legend.
    ///
    /// ```
    /// use mercer_render::{Axis, Figure, Panel, Raster};
    /// let map = Raster::new(2, (0.0, 0.0), (2.0, 1.0), [[254, 0, 0], [0, 0, 254]]);
    /// let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).raster(map);
    /// let figure = Figure::new("demo/map", "Two classes").panel(panel).key("setosa", [254, 0, 0]);
    /// assert!(figure.svg()?.contains("setosa"));
    /// # Ok::<(), mercer_render::RenderError>(())
    /// ```
    #[must_use]
    pub fn key(mut self, label: impl Into<String>, color: [u8; 3]) -> Self {
        self.keys.push((label.into(), color));
        self
    }

    /// The figure as SVG on a white card, 700 pixels wide (more with three columns or more).
    ///
    /// # Errors
    /// [`RenderError::Empty`] without panels or columns, [`RenderError::Band`] for a band of the
    /// wrong length, [`RenderError::Range`] for a range that cannot be shown.
    pub fn svg(&self) -> Result<String, RenderError> {
        canvas::svg(self)
    }

    /// What a page shows of it, panel by panel, where it is too narrow for the whole.
    pub(crate) fn narrow(&self) -> Result<Narrow, RenderError> {
        if self.compact {
            return Ok(Narrow::Same);
        }
        if self.columns.min(self.panels.len()) == 1 {
            let mut narrow = self.clone().compact();
            narrow.panels.iter_mut().for_each(Panel::turn);
            return Ok(Narrow::Other(narrow.svg()?));
        }
        canvas::measured(|canvas| {
            let layout = plot::Layout::new(self, canvas)?;
            Ok(Narrow::Windows(layout.windows(), layout.key()?))
        })
    }

    /// The title, and between which values the series of each panel run: for those who cannot see it.
    fn words(&self) -> String {
        let mut words = self.title.clone();
        for panel in &self.panels {
            let mut said = Vec::new();
            for series in &panel.series {
                let values: Vec<f64> =
                    series.points.iter().map(|point| point.1).filter(|y| y.is_finite()).collect();
                let (Some(first), Some(last)) = (values.first(), values.last()) else { continue };
                let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let words = if matches!(series.style, Style::Points | Style::Bars) {
                    format!("between {} and {}", short(low), short(high))
                } else {
                    let ends = if short(*first) == short(*last) {
                        format!("at {}", short(*first))
                    } else {
                        format!("from {} to {}", short(*first), short(*last))
                    };
                    let peaks = high > first.max(*last) + 0.2 * (high - low);
                    if peaks { format!("{ends}, at most {}", short(high)) } else { ends }
                };
                said.push(format!("{} {words}", series.label));
            }
            if said.is_empty() {
                continue;
            }
            let title = if panel.title.is_empty() { &panel.y.label } else { &panel.title };
            let more = format!(". {title}: {}", said.join("; "));
            if words.len() + more.len() > WORDS {
                words.push_str(". More panels follow");
                break;
            }
            words.push_str(&more);
        }
        words
    }

    /// The numbers behind the figure as CSV with the head `panel,series,x,y,low,high`; floats with
    /// the fewest digits that read back the same. A cell of a map is a line of its centre, its number
    /// in the place of both limits.
    pub fn csv(&self) -> String {
        let mut out = csv_line(["panel", "series", "x", "y", "low", "high"]);
        for (i, panel) in self.panels.iter().enumerate() {
            let name =
                if panel.title.is_empty() { (i + 1).to_string() } else { panel.title.clone() };
            let mut line = |label: &str, numbers: [Option<f64>; 4]| {
                let texts = numbers.map(|number| match number {
                    Some(number) if number.is_finite() => number.to_string(),
                    _ => String::new(),
                });
                let fields = [name.as_str(), label].into_iter();
                out.push_str(&csv_line(fields.chain(texts.iter().map(String::as_str))));
            };
            if let Some(raster) = &panel.raster {
                for (name, values) in &raster.channels {
                    for (at, &value) in values.iter().enumerate() {
                        let (row, column) = (at / raster.columns, at % raster.columns);
                        let (a, b) = raster.corners(row, column, column + 1);
                        let (x, y) = (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1));
                        line(name, [Some(x), Some(y), Some(value), Some(value)]);
                    }
                }
            }
            for series in &panel.series {
                for (k, &(x, y)) in series.points.iter().enumerate() {
                    let limits = series.band.as_ref().and_then(|band| band.get(k));
                    let (low, high) = limits.copied().unzip();
                    line(&series.label, [Some(x), Some(y), low, high]);
                }
            }
            for mark in &panel.marks {
                match mark {
                    Mark::Vertical { x, label } => line(label, [Some(*x), None, None, None]),
                    Mark::Horizontal { y, label } => line(label, [None, Some(*y), None, None]),
                    Mark::Point { x, y, label, .. } | Mark::Name { x, y, label } => {
                        line(label, [Some(*x), Some(*y), None, None]);
                    }
                }
            }
        }
        out
    }
}

/// What stands in the place of a figure where there is little room.
pub(crate) enum Narrow {
    /// Itself.
    Same,
    /// Another drawing.
    Other(String),
    /// Panels of the drawing, as view boxes with names, and the legend, as samples with names.
    Windows(Vec<(String, String)>, Vec<(String, String)>),
}

/// Bytes of the words for a figure.
const WORDS: usize = 700;

/// Three digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    if rounded != 0.0 && !(1e-3..1e5).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

impl Scene for Figure {
    fn size<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<Point, RenderError> {
        Ok(plot::Layout::new(self, canvas)?.size)
    }

    fn label(&self) -> Cow<'_, str> {
        if self.alternative.is_empty() {
            Cow::Owned(self.words())
        } else {
            Cow::Borrowed(&self.alternative)
        }
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), RenderError> {
        canvas.ground()?;
        plot::Layout::new(self, canvas)?.draw(canvas)
    }
}

impl Panel {
    /// An empty panel.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, ..Self::default() }
    }

    /// A map with more names below it than beside it, turned: what stood on the left stands on top, and the other way
    /// round.
    fn turn(&mut self) {
        let (Some(raster), Some(across), Some(up)) =
            (&mut self.raster, &mut self.x.ticks, &mut self.y.ticks)
        else {
            return;
        };
        if across.len() <= up.len() || !self.series.is_empty() || !self.marks.is_empty() {
            return;
        }
        let (columns, rows) = (raster.columns, raster.colors.len() / raster.columns);
        let column = |column: usize| {
            (0..rows).rev().map(move |row| row * columns + column).collect::<Vec<_>>()
        };
        raster.colors =
            (0..columns).rev().flat_map(column).map(|cell| raster.colors[cell]).collect();
        raster.columns = rows;
        (raster.from, raster.to) = ((-raster.to.1, -raster.to.0), (-raster.from.1, -raster.from.0));
        raster.channels.clear();
        across.iter_mut().chain(up).for_each(|(at, _)| *at = -*at);
        std::mem::swap(&mut self.x, &mut self.y);
    }

    /// With this title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// With this map behind all that.
    #[must_use]
    pub fn raster(mut self, raster: Raster) -> Self {
        self.raster = Some(raster);
        self
    }

    /// With one more series.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// With one more reference.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }
}

impl Series {
    fn new(
        label: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
        style: Style,
    ) -> Self {
        let points = points.into_iter().collect();
        Self { label: label.into(), points, style, ..Self::default() }
    }

    /// A line through points.
    pub fn line(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(label, points, Style::Line)
    }

    /// Markers.
    pub fn points(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(label, points, Style::Points)
    }

    /// Bars.
    pub fn bars(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::new(label, points, Style::Bars)
    }

    /// Shown in another way.
    #[must_use]
    pub fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// With a lower and an upper limit at each point.
    #[must_use]
    pub fn band(mut self, band: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.band = Some(band.into_iter().collect());
        self
    }

    /// In this colour of the palette.
    #[must_use]
    pub fn color(mut self, color: usize) -> Self {
        self.color = Some(color);
        self
    }
}

#[cfg(test)]
mod tests;
