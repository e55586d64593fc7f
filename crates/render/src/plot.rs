//! From a figure to a picture: the layout of panels and legend, then the data.

mod data;
mod legend;
mod marks;

use crate::axis::Ruler;
use crate::canvas::{self, Canvas, FRAME, Font, GRID, INK, MUTED, Pen, Point};
use crate::{Axis, Figure, Legend, Mark, Panel, RenderError, Scale, Series, Style};
use legend::{Entry, entries};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};

const GAP: f64 = 18.0;
const EDGE: f64 = 8.0;
const TITLE: Font = Font::new(13.0).bold();
const LABEL: Font = Font::new(12.0);
const TICK: Font = Font::new(11.0).color(MUTED);

/// A figure with every length settled.
pub(crate) struct Layout<'a> {
    /// Width and height in logical pixels.
    pub size: Point,
    frames: Vec<Frame<'a>>,
    entries: Vec<Entry>,
    /// Whether lines are named at their ends instead of in the legend.
    direct: bool,
    in_legend: Vec<Entry>,
    legend: Legend,
    legend_at: Point,
    legend_width: f64,
}

/// A panel with its rulers and the rectangle that its data fill.
struct Frame<'a> {
    panel: &'a Panel,
    x: Ruler,
    y: Ruler,
    from: Point, // upper left
    to: Point,   // lower right
    /// Its cell, with title, labels and ticks: upper left and lower right.
    cell: (Point, Point),
    upright: bool,
    /// Where other panels show the same quantity on another scale: whose this one is.
    scale: &'static str,
}

impl<'a> Layout<'a> {
    pub fn new<DB: DrawingBackend>(
        figure: &'a Figure,
        canvas: &Canvas<DB>,
    ) -> Result<Self, RenderError> {
        let panels = figure.panels.len();
        if panels == 0 || figure.columns == 0 {
            let id = figure.id.clone();
            return Err(RenderError::Empty { id, panels, columns: figure.columns });
        }
        check_bands(figure)?;
        let columns = figure.columns.min(panels);
        let entries = entries(figure);
        let shown = figure.legend != Legend::Hidden && !entries.is_empty();
        let legend = if shown { figure.legend } else { Legend::Hidden };
        let beside = match legend {
            Legend::Right => legend::widest(&entries, canvas)? + GAP,
            _ => 0.0,
        };
        let width = match columns {
            1 if figure.compact => 340.0,
            1 | 2 => 700.0,
            many => 320.0 * many as f64,
        };
        let inner = width - 2.0 * EDGE - beside;
        let grid = Grid {
            columns,
            cell: (inner - GAP * (columns - 1) as f64) / columns as f64,
            plot_height: match columns {
                1 if !figure.compact => 320.0,
                // Names of points and of rows need room.
                1 => figure.panels.iter().map(named).fold(220.0, f64::max).min(500.0),
                _ => 220.0,
            },
        };
        let scales = scales(figure, columns);
        let (rulers, ticks) = rulers(figure, &scales, &grid, canvas)?;
        let labelled = figure.panels.iter().any(|panel| !panel.y.label.is_empty());
        let left = ticks + (9.0 + if labelled { 20.0 } else { 0.0 });
        let alone = (columns == 1 && panels == 1 && !figure.compact && legend == Legend::Below)
            .then(|| (&figure.panels[0], &rulers[0]));
        let direct = alone.is_some_and(|(panel, (x, y))| ends_apart(panel, x, y, grid.plot_height));
        let at_ends = entries.iter().filter(|entry| direct && entry.style.is_some());
        let right = beside_frame(figure, at_ends, canvas)?;
        let in_legend: Vec<Entry> =
            entries.iter().filter(|entry| !direct || entry.style.is_none()).cloned().collect();

        let titled = figure.panels.iter().any(|panel| !panel.title.is_empty());
        let top = if titled { 24.0 } else { 8.0 };
        let margins = Margins { left, right, top };
        let (frames, mut y0) = grid.frames(figure, &rulers, &scales, &margins, canvas)?;
        let (legend_at, legend_width) = match legend {
            Legend::Right => ((width - EDGE - beside + GAP, EDGE + top), beside - GAP),
            _ => ((EDGE + left, y0), width - 2.0 * EDGE - left),
        };
        if legend == Legend::Below {
            y0 += legend::height(&in_legend, legend_width, canvas)?;
        }
        let size = (width, y0 + EDGE);
        Ok(Self { size, frames, entries, direct, in_legend, legend, legend_at, legend_width })
    }

    /// The view box of each panel with all that belongs to it, and its name.
    pub fn windows(&self) -> Vec<(String, String)> {
        let window = |Frame { panel, cell, .. }: &Frame<'_>| {
            let name = if panel.title.is_empty() { &panel.y.label } else { &panel.title };
            (canvas::view_box(*cell), name.clone())
        };
        self.frames.iter().map(window).collect()
    }

    /// The legend as samples with their names.
    pub fn key(&self) -> Result<Vec<(String, String)>, RenderError> {
        let shown = self.in_legend.iter().filter(|_| self.legend != Legend::Hidden);
        shown.map(|entry| Ok((canvas::svg(entry)?, entry.text.clone()))).collect()
    }

    pub fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), RenderError> {
        for frame in &self.frames {
            frame.axes(canvas)?;
            data::draw(frame, &self.entries, canvas)?;
            if self.direct {
                frame.names(&self.entries, canvas)?;
            }
        }
        match self.legend {
            Legend::Hidden => Ok(()),
            Legend::Below => {
                legend::flow(&self.in_legend, self.legend_at, self.legend_width, canvas)
            }
            Legend::Right => legend::stack(&self.entries, self.legend_at, canvas),
        }
    }
}

/// How the panels stand: in how many columns, and the width of each and the height of its data.
struct Grid {
    columns: usize,
    cell: f64,
    plot_height: f64,
}

/// What a panel has around its data, but for what stands below.
struct Margins {
    left: f64,
    right: f64,
    top: f64,
}

impl Grid {
    /// The panels row by row, and where the last row ends.
    fn frames<'a, DB: DrawingBackend>(
        &self,
        figure: &'a Figure,
        rulers: &[(Ruler, Ruler)],
        scales: &[(Vec<f64>, &'static str)],
        &Margins { left, right, top }: &Margins,
        canvas: &Canvas<DB>,
    ) -> Result<(Vec<Frame<'a>>, f64), RenderError> {
        let mut frames = Vec::with_capacity(rulers.len());
        let mut y0 = EDGE;
        for panels in figure.panels.chunks(self.columns) {
            let first = frames.len();
            let mut bottom: f64 = 0.0;
            for panel in panels {
                let at = frames.len();
                let ((x, y), scale) = (rulers[at].clone(), scales[at].1);
                let x0 = EDGE + (at - first) as f64 * (self.cell + GAP);
                let from = (x0 + left, y0 + top);
                let to = (x0 + self.cell - right, y0 + top + self.plot_height);
                let (upright, depth) = below(&x, to.0 - from.0, canvas)?;
                bottom = bottom.max(depth);
                let cell = ((x0, y0), (x0 + self.cell, to.1));
                frames.push(Frame { panel, x, y, from, to, cell, upright, scale });
            }
            frames[first..].iter_mut().for_each(|frame| frame.cell.1.1 += bottom);
            y0 += top + self.plot_height + bottom + GAP / 2.0;
        }
        Ok((frames, y0))
    }
}

/// The rulers of each panel, and the widest of all tick labels: it decides the left margin, so that panels line up.
fn rulers<DB: DrawingBackend>(
    figure: &Figure,
    scales: &[(Vec<f64>, &str)],
    grid: &Grid,
    canvas: &Canvas<DB>,
) -> Result<(Vec<(Ruler, Ruler)>, f64), RenderError> {
    let mut rulers = Vec::with_capacity(figure.panels.len());
    let mut widest: f64 = 0.0;
    for (panel, (heights, _)) in figure.panels.iter().zip(scales) {
        let margin = if panel.raster.is_some() { 0.0 } else { 0.05 };
        let y = Ruler::new(&panel.y, heights.iter().copied(), margin, grid.plot_height, 42.0)?;
        for (_, name) in &y.ticks {
            widest = widest.max(canvas.width(name, TICK)?);
        }
        let filled = bars(panel) > 0 || panel.raster.is_some();
        // Error bars stand beside their values.
        let aside = panel.series.iter().any(|series| series.style == Style::Whiskers);
        let margin = match (filled, aside) {
            (true, _) => 0.0,
            (_, true) => 0.06,
            _ => 0.03,
        };
        let x = Ruler::new(&panel.x, widths(panel), margin, grid.cell - 60.0, 62.0)?;
        rulers.push((x, y));
    }
    Ok((rulers, widest))
}

/// The right margin: room for the scales of shades, and for names at the ends of lines.
fn beside_frame<'a, DB: DrawingBackend>(
    figure: &Figure,
    at_ends: impl Iterator<Item = &'a Entry>,
    canvas: &Canvas<DB>,
) -> Result<f64, RenderError> {
    let mut right: f64 = 10.0;
    for (palest, darkest) in
        figure.panels.iter().filter_map(|own| own.raster.as_ref()?.scale.as_ref())
    {
        let wide = canvas.width(palest, TICK)?.max(canvas.width(darkest, TICK)?);
        right = right.max(wide + data::SHADE_BAR + 12.0);
    }
    for entry in at_ends {
        right = f64::max(right, canvas.width(&entry.text, LABEL)? + 10.0);
    }
    Ok(right)
}

impl Frame<'_> {
    /// The picture's point of a value; fractions outside `[0, 1]` are outside the frame.
    fn at(&self, (x, y): Point) -> Option<Point> {
        let (x, y) = (self.x.fraction(x)?, self.y.fraction(y)?);
        Some((self.across(x), self.up(y)))
    }

    fn across(&self, fraction: f64) -> f64 {
        self.from.0 + fraction * (self.to.0 - self.from.0)
    }

    fn up(&self, fraction: f64) -> f64 {
        self.to.1 - fraction * (self.to.1 - self.from.1)
    }

    /// The names of the lines at their ends.
    fn names<DB: DrawingBackend>(
        &self,
        entries: &[Entry],
        canvas: &Canvas<DB>,
    ) -> Result<(), RenderError> {
        for series in &self.panel.series {
            let entry = entries.iter().find(|own| own.style.is_some() && own.label == series.label);
            if let (Some(entry), Some((x, y))) = (entry, end(series, &self.x, &self.y)) {
                let at = (self.across(x).max(self.to.0) + 6.0, self.up(y));
                canvas.text(&entry.text, at, LABEL.anchor(HPos::Left, VPos::Center))?;
            }
        }
        Ok(())
    }

    fn axes<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), RenderError> {
        let ((left, top), (right, bottom)) = (self.from, self.to);
        let (grid, frame) = (Pen::new(GRID, 1.0), Pen::new(FRAME, 1.0));
        for (at, name) in &self.y.ticks {
            let y = self.up(*at);
            canvas.line(&[(left, y), (right, y)], grid)?;
            canvas.text(name, (left - 7.0, y), TICK.anchor(HPos::Right, VPos::Center))?;
        }
        // Categories need no grid across.
        let named = self.panel.x.ticks.is_some();
        for (at, name) in &self.x.ticks {
            let x = self.across(*at);
            if !named {
                canvas.line(&[(x, top), (x, bottom)], grid)?;
            }
            canvas.line(&[(x, bottom), (x, bottom + 4.0)], frame)?;
            if self.upright {
                let font = TICK.anchor(HPos::Right, VPos::Center).upward();
                canvas.text(name, (x, bottom + 7.0), font)?;
            } else {
                canvas.text(name, (x, bottom + 6.0), TICK.anchor(HPos::Center, VPos::Top))?;
            }
        }
        for &at in &self.x.minor {
            let x = self.across(at);
            canvas.line(&[(x, bottom), (x, bottom + 2.5)], frame)?;
        }
        for &at in &self.y.minor {
            let y = self.up(at);
            canvas.line(&[(left - 2.5, y), (left, y)], frame)?;
        }
        canvas.line(&[(left, top), (left, bottom), (right, bottom)], frame)?;
        let middle = f64::midpoint(left, right);
        // Above and below the middle of the frame, but within the cell.
        let center = |text: &str, font: Font| {
            let half = canvas.width(text, font)? / 2.0;
            let (least, most) = (self.cell.0.0 + half, self.cell.1.0 - half);
            Ok::<f64, RenderError>(middle.min(most).max(least))
        };
        let title = TITLE.anchor(HPos::Center, VPos::Center);
        let at = center(&self.panel.title, TITLE)?;
        canvas.text(&self.panel.title, (at, top - 14.0), title)?;
        let (_, depth) = below(&self.x, right - left, canvas)?;
        let label = LABEL.anchor(HPos::Center, VPos::Top);
        let at = center(&self.x.label, LABEL)?;
        canvas.text(&self.x.label, (at, bottom + depth - 18.0), label)?;
        let note = TICK.anchor(HPos::Right, VPos::Top);
        canvas.text(self.scale, (right, bottom + depth - 17.0), note)?;
        let mut wide: f64 = 0.0;
        for (_, name) in &self.y.ticks {
            wide = wide.max(canvas.width(name, TICK)?);
        }
        let label = LABEL.anchor(HPos::Center, VPos::Center).upward();
        canvas.text(&self.y.label, (left - wide - 19.0, f64::midpoint(top, bottom)), label)
    }
}

/// Panels share a scale where the data of each fill at least this part of it.
const FILLED: f64 = 0.25;

/// What the vertical axis of each panel must hold, and whose scale it is where others show the same quantity on another
/// one. Panels of one quantity share a scale, all of them or those of a row, unless that would press one flat.
fn scales(figure: &Figure, columns: usize) -> Vec<(Vec<f64>, &'static str)> {
    let own: Vec<Vec<f64>> = figure.panels.iter().map(|panel| heights(panel).collect()).collect();
    let mut found: Vec<(Vec<f64>, &str)> = own.iter().map(|own| (own.clone(), "")).collect();
    let panels = &figure.panels;
    let free = |panel: &Panel| {
        panel.y.range.is_none() && panel.y.ticks.is_none() && panel.raster.is_none()
    };
    let alike = |a: &Panel, b: &Panel| {
        a.y.label == b.y.label && a.y.scale == b.y.scale && free(a) && free(b)
    };
    for at in 0..panels.len() {
        if panels[..at].iter().any(|earlier| alike(earlier, &panels[at])) {
            continue;
        }
        let group: Vec<usize> =
            (at..panels.len()).filter(|&other| alike(&panels[at], &panels[other])).collect();
        let scale = panels[at].y.scale;
        if fill(&own, &group, scale) {
            share(&own, &group, &mut found);
            continue;
        }
        for row in group.chunk_by(|a, b| a / columns == b / columns) {
            let shared = row.len() > 1 && fill(&own, row, scale);
            if shared {
                share(&own, row, &mut found);
            }
            for &panel in row {
                found[panel].1 = if shared { "row's scale" } else { "own scale" };
            }
        }
    }
    found
}

/// Whether each of these panels fills enough of what all of them need.
fn fill(own: &[Vec<f64>], group: &[usize], scale: Scale) -> bool {
    let length = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values
            .filter_map(|value| scale.straight(value))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        high - low
    };
    let all = length(&mut group.iter().flat_map(|&at| own[at].iter().copied()));
    // What is flat already, or empty, cannot be pressed.
    let mut lengths = group.iter().map(|&at| length(&mut own[at].iter().copied()));
    lengths.all(|own| own <= 0.0 || own >= FILLED * all)
}

fn share<T>(own: &[Vec<f64>], group: &[usize], found: &mut [(Vec<f64>, T)]) {
    let all: Vec<f64> = group.iter().flat_map(|&at| own[at].iter().copied()).collect();
    for &at in group {
        found[at].0.clone_from(&all);
    }
}

/// The last point of a line that has a place, as fractions of the frame.
fn end(series: &Series, x: &Ruler, y: &Ruler) -> Option<Point> {
    let place = |&(a, b): &Point| Some((x.fraction(a)?, y.fraction(b)?));
    series.points.iter().filter_map(place).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// Whether the lines of a panel end at its right side, so far apart that their names fit there.
fn ends_apart(panel: &Panel, x: &Ruler, y: &Ruler, height: f64) -> bool {
    let line = |series: &Series| !matches!(series.style, Style::Points | Style::Bars);
    if panel.series.len() < 2 || !panel.series.iter().all(line) {
        return false;
    }
    let ends: Option<Vec<Point>> = panel.series.iter().map(|series| end(series, x, y)).collect();
    let Some(mut ends) = ends else { return false };
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    ends.iter().all(|end| end.0 > 0.95)
        && ends.windows(2).all(|pair| (pair[1].1 - pair[0].1) * height >= 24.0)
}

/// Whether the tick labels of the horizontal axis must stand upright to fit, and the room that
/// labels and axis title take below the frame.
fn below<DB: DrawingBackend>(
    x: &Ruler,
    width: f64,
    canvas: &Canvas<DB>,
) -> Result<(bool, f64), RenderError> {
    let mut widest: f64 = 0.0;
    for (_, name) in &x.ticks {
        widest = widest.max(canvas.width(name, TICK)?);
    }
    let room = x.ticks.windows(2).map(|pair| (pair[1].0 - pair[0].0).abs() * width);
    let upright = room.fold(f64::INFINITY, f64::min) < widest + 4.0;
    let labels = if upright { widest + 10.0 } else { 20.0 };
    Ok((upright, labels + if x.label.is_empty() { 2.0 } else { 20.0 }))
}

fn check_bands(figure: &Figure) -> Result<(), RenderError> {
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        if let Some(band) = series.band.as_ref().filter(|band| band.len() != series.points.len()) {
            return Err(RenderError::Band {
                series: series.label.clone(),
                points: series.points.len(),
                band: band.len(),
            });
        }
    }
    Ok(())
}

/// The height that names in a panel need.
fn named(panel: &Panel) -> f64 {
    let points = panel.marks.iter().filter(|mark| matches!(mark, Mark::Name { .. })).count();
    let rows = panel.y.ticks.as_ref().map_or(0, Vec::len);
    f64::max(22.0 * points as f64, 18.0 * rows as f64)
}

/// Series of bars in a panel.
fn bars(panel: &Panel) -> usize {
    panel.series.iter().filter(|series| series.style == Style::Bars).count()
}

/// What the horizontal axis must hold; bars need half a step on both sides.
fn widths(panel: &Panel) -> impl Iterator<Item = f64> {
    let data = panel.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
    let marks = panel.marks.iter().filter_map(|mark| match mark {
        Mark::Vertical { x, .. } | Mark::Point { x, .. } | Mark::Name { x, .. } => Some(*x),
        Mark::Horizontal { .. } => None,
    });
    let map = panel.raster.iter().flat_map(|raster| [raster.from.0, raster.to.0]);
    // Names need room on both sides, as bars do.
    let named = if panel.x.ticks.is_some() { 0.4 } else { 0.0 };
    let half = if bars(panel) > 0 { data::bar_step(panel) / 2.0 } else { named };
    let linear = panel.x.scale == Scale::Linear;
    let names = panel.x.ticks.iter().flatten().map(|(x, _)| *x);
    data.chain(marks)
        .chain(names)
        .chain(map)
        .filter(|x| x.is_finite())
        .flat_map(move |x| if linear { [x - half, x + half] } else { [x, x] })
}

/// What the vertical axis must hold; bars start at zero.
fn heights(panel: &Panel) -> impl Iterator<Item = f64> {
    let data = panel.series.iter().flat_map(|series| {
        let band = series.band.iter().flatten().flat_map(|&(low, high)| [low, high]);
        series.points.iter().map(|point| point.1).chain(band)
    });
    let marks = panel.marks.iter().filter_map(|mark| match mark {
        Mark::Horizontal { y, .. } | Mark::Point { y, .. } | Mark::Name { y, .. } => Some(*y),
        Mark::Vertical { .. } => None,
    });
    let zero = (bars(panel) > 0).then_some(0.0);
    let map = panel.raster.iter().flat_map(|raster| [raster.from.1, raster.to.1]);
    data.chain(marks).chain(zero).chain(map).filter(|y| y.is_finite())
}

/// Points of a series that the axes cannot show although they are numbers.
fn unplaced(series: &Series, x: &Axis, y: &Axis) -> usize {
    let lost = |value: f64, axis: &Axis| value.is_finite() && axis.scale.straight(value).is_none();
    series.points.iter().filter(|point| lost(point.0, x) || lost(point.1, y)).count()
}

/// Text of references inside the frame.
const NOTE: Font = Font::new(11.0).color(INK);

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(values: &[f64]) -> Panel {
        let points = values.iter().enumerate().map(|(at, &y)| (at as f64, y));
        Panel::new(Axis::linear("x"), Axis::linear("error")).series(Series::line("a", points))
    }

    /// Lowest and highest value that each panel must hold, and whether its scale is its own.
    fn scales_of(panels: &[&[f64]]) -> Vec<(f64, f64, &'static str)> {
        let figure = panels.iter().fold(Figure::new("f", "F"), |f, own| f.panel(panel(own)));
        let ends = |(values, own): (Vec<f64>, &'static str)| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max), own)
        };
        scales(&figure.columns(2), 2).into_iter().map(ends).collect()
    }

    #[test]
    fn panels_of_one_quantity_share_a_scale_unless_one_is_pressed_flat() {
        assert_eq!(scales_of(&[&[0.0, 1.0], &[0.2, 0.9]]), [(0.0, 1.0, ""); 2]);
        let rows: [&[f64]; 4] = [&[0.0, 1.0], &[0.0, 1.1], &[0.0, 100.0], &[0.0, 90.0]];
        let row = |high| (0.0, high, "row's scale");
        let of_rows = [row(1.1), row(1.1), row(100.0), row(100.0)];
        assert_eq!(scales_of(&rows), of_rows);
        assert_eq!(
            scales_of(&[&[0.0, 1.0], &[0.0, 100.0]]),
            [(0.0, 1.0, "own scale"), (0.0, 100.0, "own scale")]
        );
        // What is flat or empty anyway decides nothing.
        assert_eq!(scales_of(&[&[0.0, 1.0], &[0.5, 0.5]]), [(0.0, 1.0, ""); 2]);
        assert_eq!(scales_of(&[&[0.0, 1.0], &[f64::NAN]]), [(0.0, 1.0, ""); 2]);
        assert!(scales_of(&[&[], &[]]).iter().all(|(_, _, own)| own.is_empty()));
    }

    #[test]
    fn lines_that_end_apart_are_named_there_and_need_no_legend() {
        let figure = |end: f64| {
            let second = Series::line("b", [(0.0, 0.0), (1.0, end)]);
            Figure::new("f", "F").panel(panel(&[0.0, 1.0]).series(second)).svg().unwrap()
        };
        let height = |svg: &str| -> f64 {
            let (_, rest) = svg.split_once(" height=\"").unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let (apart, together) = (figure(0.2), figure(0.99));
        assert!(height(&apart) < height(&together));
        assert!(apart.contains(">b</text>") || apart.contains("b\n</text>"), "{apart}");
    }
}
