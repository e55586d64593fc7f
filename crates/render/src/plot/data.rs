use super::legend::Entry;
use super::marks::{marker, star};
use super::{Frame, NOTE, TICK, bars};
use crate::canvas::{self, Canvas, INK, MUTED, PALETTE, Pen, Point};
use crate::{Mark, Panel, Raster, RenderError, Series, Style, shade};
use plotters::prelude::{DrawingBackend, RGBColor};
use plotters::style::text_anchor::{HPos, VPos};

/// More markers than this along a line would hide it.
const MARKERS: usize = 24;

/// Draws bands, bars, lines, references, markers, in this order: what is smaller lies on top.
pub(super) fn draw<DB: DrawingBackend>(
    frame: &Frame,
    entries: &[Entry],
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let look = |series: &Series| {
        let entry = entries.iter().find(|e| e.style.is_some() && e.label == series.label);
        entry.expect("each label has an entry")
    };
    let panel = frame.panel;
    if let Some(raster) = &panel.raster {
        map(frame, raster, canvas)?;
    }
    for series in &panel.series {
        if matches!(series.style, Style::Line | Style::LinePoints | Style::Dashed) {
            band(frame, series, look(series).color, canvas)?;
        }
    }
    let bars = panel.series.iter().filter(|series| series.style == Style::Bars);
    for (place, series) in bars.enumerate() {
        bar(frame, series, place, look(series).color, canvas)?;
    }
    references(frame, canvas)?;
    for series in &panel.series {
        let entry = look(series);
        // The pattern goes by the style of this series, should two of one label differ.
        let dash = if series.style == Style::Dashed { &[5.0, 3.0] } else { entry.dash };
        let pen = Pen { color: entry.color, width: 2.0, dash };
        if !matches!(series.style, Style::Points | Style::Bars) {
            for run in runs(frame, places(frame, series)) {
                canvas.line(&run, pen)?;
            }
        }
    }
    for series in &panel.series {
        let entry = look(series);
        match series.style {
            Style::Points | Style::Whiskers => {
                errors(frame, series, aside(frame, series), entry.color, canvas)?;
                markers(frame, series, usize::MAX, entry, canvas)?;
            }
            Style::LinePoints => markers(frame, series, MARKERS, entry, canvas)?,
            Style::Line | Style::Dashed | Style::Bars => {}
        }
    }
    for mark in &panel.marks {
        if let Mark::Point { x, y, color, .. } = mark {
            let color = color.map_or(INK, |color| PALETTE[color % PALETTE.len()]);
            if let Some(at) = frame.at((*x, *y)).filter(|&at| inside(frame, at)) {
                star(at, color, canvas)?;
            }
        }
    }
    names(frame, canvas)
}

/// The cells of a map that lie inside the frame, in colours that the page does not change.
fn map<DB: DrawingBackend>(
    frame: &Frame,
    raster: &Raster,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    for (row, first, end, color) in raster.runs() {
        let (from, to) = raster.corners(row, first, end);
        let (Some(from), Some(to)) = (frame.at(from), frame.at(to)) else { continue };
        let x = |x: f64| x.clamp(frame.from.0, frame.to.0);
        let y = |y: f64| y.clamp(frame.from.1, frame.to.1);
        let RGBColor(red, green, blue) = color;
        let color = if canvas::RESERVED.contains(&color) {
            RGBColor(red, green, blue.wrapping_sub(1))
        } else {
            color
        };
        // A hair over what is drawn next: a screen would show the ground between the two.
        let (right, top) = (x(to.0 + HAIR), y(to.1 - HAIR));
        canvas.rectangle((x(from.0), top), (right, y(from.1)), color)?;
    }
    let Some((palest, darkest)) = &raster.scale else { return Ok(()) };
    let (left, (top, bottom)) = (frame.to.0 + 6.0, (frame.from.1, frame.to.1));
    for step in 0..SHADES {
        let at = |share: f64| bottom - share * (bottom - top);
        let share = f64::from(step) / f64::from(SHADES);
        let [red, green, blue] = shade(f64::from(step) / f64::from(SHADES - 1));
        let color = RGBColor(red, green, blue);
        canvas.rectangle((left, top), (left + SHADE_BAR, at(share)), color)?;
    }
    let at = left + SHADE_BAR + 4.0;
    canvas.text(palest, (at, bottom - 5.0), TICK.anchor(HPos::Left, VPos::Center))?;
    canvas.text(darkest, (at, top + 5.0), TICK.anchor(HPos::Left, VPos::Center))
}

const HAIR: f64 = 0.8;
const SHADES: u32 = 24;
/// Width of a bar of shades.
pub(super) const SHADE_BAR: f64 = 10.0;

/// How far a series with error bars stands beside its values, so that those of others stay in sight.
fn aside(frame: &Frame, series: &Series) -> f64 {
    let whiskers = || frame.panel.series.iter().filter(|own| own.style == Style::Whiskers);
    let place = whiskers().position(|own| std::ptr::eq(own, series));
    place.map_or(0.0, |place| 4.0 * (place as f64 - (whiskers().count() as f64 - 1.0) / 2.0))
}

/// Where the points of a series are drawn.
fn places<'a>(frame: &'a Frame, series: &'a Series) -> impl Iterator<Item = Option<Point>> + 'a {
    let aside = aside(frame, series);
    series.points.iter().map(move |&point| frame.at(point).map(|(x, y)| (x + aside, y)))
}

fn inside(frame: &Frame, (x, y): Point) -> bool {
    let hair = 0.01; // rounding in the layout
    (frame.from.0 - hair..=frame.to.0 + hair).contains(&x)
        && (frame.from.1 - hair..=frame.to.1 + hair).contains(&y)
}

/// Cuts a line at gaps and at the edges of the frame.
fn runs(frame: &Frame, points: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
    let mut runs: Vec<Vec<Point>> = Vec::new();
    let mut last: Option<Point> = None;
    let mut open = false; // whether the last run ends in `last`
    for point in points {
        if let (Some(a), Some(b)) = (last, point) {
            match clip(a, b, frame.from, frame.to) {
                Some((from, to)) => {
                    match runs.last_mut() {
                        Some(run) if open => run.push(to),
                        _ => runs.push(vec![from, to]),
                    }
                    open = to == b;
                }
                None => open = false,
            }
        } else {
            open = false;
        }
        last = point;
    }
    runs
}

/// The part of a segment inside a rectangle (Liang and Barsky 1984).
fn clip(a: Point, b: Point, from: Point, to: Point) -> Option<(Point, Point)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for (step, room) in
        [(-dx, a.0 - from.0), (dx, to.0 - a.0), (-dy, a.1 - from.1), (dy, to.1 - a.1)]
    {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
    let start = if enter > 0.0 { at(enter) } else { a };
    let end = if leave < 1.0 { at(leave) } else { b };
    Some((start, end))
}

/// The area between the limits, as one polygon for each run without a gap.
fn band<DB: DrawingBackend>(
    frame: &Frame,
    series: &Series,
    color: RGBColor,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let Some(band) = &series.band else { return Ok(()) };
    let limits: Vec<_> = series
        .points
        .iter()
        .zip(band)
        .map(|(&(x, _), &(low, high))| {
            let (x, _) = frame.at((x, high))?;
            let inside = (frame.from.0..=frame.to.0).contains(&x);
            // A limit that a logarithmic axis cannot show lies below it.
            let level = |y| frame.y.fraction(y).unwrap_or(0.0).clamp(0.0, 1.0);
            (inside && low <= high).then(|| (x, frame.up(level(low)), frame.up(level(high))))
        })
        .collect();
    for run in limits.split(Option::is_none).filter(|run| run.len() > 1) {
        let upper = run.iter().flatten().map(|&(x, _, high)| (x, high));
        let lower = run.iter().rev().flatten().map(|&(x, low, _)| (x, low));
        canvas.polygon(&upper.chain(lower).collect::<Vec<_>>(), color, 0.18)?;
    }
    Ok(())
}

/// The least distance of two places of bars; one if there is a single place.
pub(super) fn bar_step(panel: &Panel) -> f64 {
    let bars = panel.series.iter().filter(|series| series.style == Style::Bars);
    let mut places: Vec<f64> = bars
        .flat_map(|series| series.points.iter().map(|point| point.0))
        .filter(|x| x.is_finite())
        .collect();
    places.sort_by(f64::total_cmp);
    let steps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step > 0.0);
    let least = steps.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
}

/// Width of one bar and the offset of the middle of the `place`-th of them from its value.
fn slot(frame: &Frame, place: usize) -> (f64, f64) {
    let at = |x: f64| frame.x.fraction(x).map(|fraction| frame.across(fraction));
    let first = frame.panel.series.iter().find(|series| series.style == Style::Bars);
    let first = first.and_then(|series| series.points.first()).map_or(0.0, |point| point.0);
    let step = match (at(first), at(first + bar_step(frame.panel))) {
        (Some(a), Some(b)) => (b - a).abs(),
        _ => frame.to.0 - frame.from.0,
    };
    let count = bars(frame.panel) as f64;
    let width = 0.8 * step / count;
    (width, (place as f64 - (count - 1.0) / 2.0) * width)
}

fn bar<DB: DrawingBackend>(
    frame: &Frame,
    series: &Series,
    place: usize,
    color: RGBColor,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let (width, offset) = slot(frame, place);
    let level = |y: f64| frame.up(frame.y.fraction(y).unwrap_or(0.0).clamp(0.0, 1.0));
    for &(x, y) in &series.points {
        let Some((middle, _)) = frame.at((x, y)) else { continue };
        let half = 0.46 * width; // a hair between neighbours
        let clamp = |x: f64| x.clamp(frame.from.0, frame.to.0);
        let (left, right) = (clamp(middle + offset - half), clamp(middle + offset + half));
        let (a, b) = (level(0.0), level(y));
        if left < right {
            canvas.rectangle((left, a.min(b)), (right, a.max(b)), color)?;
        }
    }
    errors(frame, series, offset, INK, canvas)
}

/// The band of single points as error bars.
fn errors<DB: DrawingBackend>(
    frame: &Frame,
    series: &Series,
    offset: f64,
    color: RGBColor,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let pen = Pen::new(color, 1.3);
    let limits = series.points.iter().zip(series.band.iter().flatten());
    for (&(x, y), &(low, high)) in limits {
        let Some((x, _)) = frame.at((x, y)) else { continue };
        let x = x + offset;
        if !(frame.from.0..=frame.to.0).contains(&x) || low.is_nan() || high.is_nan() {
            continue;
        }
        let level = |y| frame.up(frame.y.fraction(y).unwrap_or(0.0).clamp(0.0, 1.0));
        let (low, high) = (level(low), level(high));
        canvas.line(&[(x, low), (x, high)], pen)?;
        for y in [low, high] {
            canvas.line(&[(x - 3.0, y), (x + 3.0, y)], pen)?;
        }
    }
    Ok(())
}

fn markers<DB: DrawingBackend>(
    frame: &Frame,
    series: &Series,
    most: usize,
    entry: &Entry,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let stride = series.points.len().div_ceil(most).max(1);
    let last = series.points.len().saturating_sub(1);
    let chosen = series.points.iter().enumerate().filter(|(i, _)| i % stride == 0 || *i == last);
    let aside = aside(frame, series);
    for (x, y) in chosen.filter_map(|(_, &point)| frame.at(point)) {
        let at = (x + aside, y);
        if inside(frame, at) {
            marker(at, entry.marker, entry.color, canvas)?;
        }
    }
    Ok(())
}

/// Points of all series inside a rectangle of the picture.
fn crowd(frame: &Frame, from: Point, to: Point) -> usize {
    let points = frame.panel.series.iter().flat_map(|series| &series.points);
    let inside = |(x, y): &Point| (from.0..=to.0).contains(x) && (from.1..=to.1).contains(y);
    points.filter_map(|&point| frame.at(point)).filter(inside).count()
}

/// Reference lines with their names; names of vertical ones step down so as not to collide.
fn references<DB: DrawingBackend>(frame: &Frame, canvas: &Canvas<DB>) -> Result<(), RenderError> {
    let pen = Pen { color: MUTED, width: 1.2, dash: &[4.0, 3.0] };
    let ((left, top), (right, bottom)) = (frame.from, frame.to);
    let mut step = 0.0;
    let mut named: Vec<f64> = Vec::new();
    for mark in &frame.panel.marks {
        match mark {
            Mark::Vertical { x, label } => {
                let Some(at) = frame.x.fraction(*x).filter(|at| (0.0..=1.0).contains(at)) else {
                    continue;
                };
                let x = frame.across(at);
                canvas.line(&[(x, top), (x, bottom)], pen)?;
                let fits = x + 5.0 + canvas.width(label, NOTE)? < right;
                let (x, h) = if fits { (x + 5.0, HPos::Left) } else { (x - 5.0, HPos::Right) };
                canvas.text(label, (x, top + 9.0 + step), NOTE.anchor(h, VPos::Center))?;
                step += 14.0;
            }
            Mark::Horizontal { y, label } => {
                let Some(at) = frame.y.fraction(*y).filter(|at| (0.0..=1.0).contains(at)) else {
                    continue;
                };
                let y = frame.up(at);
                canvas.line(&[(left, y), (right, y)], pen)?;
                let clear = |at: &f64| named.iter().all(|other| (other - at).abs() >= 13.0);
                let above = if y - top > 18.0 { y - 8.0 } else { y + 9.0 };
                let y = [above, y + 9.0, y - 21.0].into_iter().find(clear).unwrap_or(above);
                named.push(y);
                let wide = canvas.width(label, NOTE)?;
                // At the end where fewer data are in the way.
                let covers = |from: f64| crowd(frame, (from, y - 7.0), (from + wide, y + 7.0));
                let (x, h) = if covers(left + 4.0) < covers(right - 4.0 - wide) {
                    (left + 4.0, HPos::Left)
                } else {
                    (right - 4.0, HPos::Right)
                };
                canvas.text(label, (x, y), NOTE.anchor(h, VPos::Center))?;
            }
            Mark::Point { .. } | Mark::Name { .. } => {}
        }
    }
    Ok(())
}

/// Names beside their points: on the right or the left, above or below, where they cover no other name and the
/// fewest points.
fn names<DB: DrawingBackend>(frame: &Frame, canvas: &Canvas<DB>) -> Result<(), RenderError> {
    let mut placed: Vec<(Point, Point)> = Vec::new();
    for mark in &frame.panel.marks {
        let Mark::Name { x, y, label } = mark else { continue };
        let Some(at) = frame.at((*x, *y)).filter(|&at| inside(frame, at)) else { continue };
        let wide = canvas.width(label, NOTE)?;
        let places = [0.0, -8.0, 8.0, -15.0, 15.0, -22.0, 22.0].into_iter();
        let places =
            places.flat_map(|down| [at.0 + 8.0, at.0 - 8.0 - wide].map(|left| (left, at.1 + down)));
        let worth = |&(left, middle): &Point| {
            let (from, to) = ((left, middle - 6.0), (left + wide, middle + 6.0));
            let over = |(first, last): &&(Point, Point)| {
                from.0 < last.0 && first.0 < to.0 && from.1 < last.1 && first.1 < to.1
            };
            let names = placed.iter().filter(over).count();
            let out = !inside(frame, from) || !inside(frame, to);
            (usize::from(out), names, crowd(frame, from, to))
        };
        let Some((left, middle)) = places.min_by_key(worth) else { continue };
        canvas.text(label, (left, middle), NOTE.anchor(HPos::Left, VPos::Center))?;
        placed.push(((left, middle - 6.0), (left + wide, middle + 6.0)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::clip;

    #[test]
    fn a_segment_is_cut_at_the_edges_it_crosses() {
        let (from, to) = ((0.0, 0.0), (10.0, 10.0));
        assert_eq!(clip((-5.0, 5.0), (5.0, 5.0), from, to), Some(((0.0, 5.0), (5.0, 5.0))));
        assert_eq!(clip((5.0, -5.0), (5.0, 20.0), from, to), Some(((5.0, 0.0), (5.0, 10.0))));
        assert_eq!(clip((1.0, 1.0), (2.0, 2.0), from, to), Some(((1.0, 1.0), (2.0, 2.0))));
        assert_eq!(clip((-1.0, -1.0), (-2.0, 5.0), from, to), None);
        assert_eq!(clip((-4.0, 2.0), (2.0, -8.0), from, to), None);
    }
}
