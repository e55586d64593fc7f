use super::{marks, unplaced};
use crate::canvas::{Canvas, DASHES, Font, INK, PALETTE, Pen, Point, Scene};
use crate::{Figure, Mark, RenderError, Series, Style};
use plotters::prelude::{DrawingBackend, RGBColor};
use std::borrow::Cow;

const TEXT: Font = Font::new(12.0);
const SWATCH: f64 = 30.0;
const LINE: f64 = 19.0;

/// One look with its name.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub label: String,
    pub text: String,
    pub style: Option<Style>, // a star without one
    pub color: RGBColor,
    pub dash: &'static [f64],
    pub marker: usize,
}

/// A look for each label, in order of appearance.
pub(super) fn entries(figure: &Figure) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut lost: Vec<usize> = Vec::new();
    let series = |entries: &[Entry], label: &str| {
        entries.iter().position(|entry| entry.style.is_some() && entry.label == label)
    };
    for panel in &figure.panels {
        for item in &panel.series {
            let at = series(&entries, &item.label).unwrap_or_else(|| {
                let slot = entries.len();
                entries.push(of_series(item, slot));
                lost.push(0);
                slot
            });
            lost[at] += unplaced(item, &panel.x, &panel.y);
        }
    }
    for mark in figure.panels.iter().flat_map(|panel| &panel.marks) {
        if let Mark::Point { label, color, .. } = mark {
            let color = color.map_or(INK, |color| PALETTE[color % PALETTE.len()]);
            let known =
                entries.iter_mut().find(|entry| entry.style.is_none() && entry.label == *label);
            if let Some(known) = known {
                // One name for points of several colours has none of them.
                if known.color != color {
                    known.color = INK;
                }
            } else if !label.is_empty() {
                let (text, label) = (String::new(), label.clone());
                entries.push(Entry { label, text, style: None, color, dash: &[], marker: 0 });
                lost.push(0);
            }
        }
    }
    for (label, [red, green, blue]) in &figure.keys {
        entries.push(Entry {
            label: label.clone(),
            text: String::new(),
            style: Some(Style::Bars),
            color: RGBColor(*red, *green, *blue),
            dash: &[],
            marker: 0,
        });
        lost.push(0);
    }
    for (entry, lost) in entries.iter_mut().zip(lost) {
        entry.text = match lost {
            0 => entry.label.clone(),
            1 => format!("{} (1 point ≤ 0 not shown)", entry.label),
            n => format!("{} ({n} points ≤ 0 not shown)", entry.label),
        };
    }
    entries
}

/// The look of a series, the first with its name, in a place of the legend.
fn of_series(series: &Series, slot: usize) -> Entry {
    let dash: &[f64] = match series.style {
        Style::Dashed => &[5.0, 3.0],
        Style::Line | Style::LinePoints | Style::Whiskers => DASHES[slot % DASHES.len()],
        Style::Points | Style::Bars => &[],
    };
    Entry {
        label: series.label.clone(),
        text: String::new(),
        style: Some(series.style),
        color: PALETTE[series.color.unwrap_or(slot) % PALETTE.len()],
        dash,
        marker: slot,
    }
}

fn wide<DB: DrawingBackend>(entry: &Entry, canvas: &Canvas<DB>) -> Result<f64, RenderError> {
    Ok(SWATCH + 6.0 + canvas.width(&entry.text, TEXT)?)
}

/// Width of a stacked legend.
pub(super) fn widest<DB: DrawingBackend>(
    entries: &[Entry],
    canvas: &Canvas<DB>,
) -> Result<f64, RenderError> {
    entries.iter().try_fold(0.0, |widest: f64, entry| Ok(widest.max(wide(entry, canvas)?)))
}

/// Places of the entries, filled like lines of text.
fn places<DB: DrawingBackend>(
    entries: &[Entry],
    width: f64,
    canvas: &Canvas<DB>,
) -> Result<Vec<Point>, RenderError> {
    let (mut x, mut y) = (0.0, 0.0);
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        let wide = wide(entry, canvas)?;
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + LINE);
        }
        places.push((x, y));
        x += wide + 20.0;
    }
    Ok(places)
}

/// Height of a legend of this width.
pub(super) fn height<DB: DrawingBackend>(
    entries: &[Entry],
    width: f64,
    canvas: &Canvas<DB>,
) -> Result<f64, RenderError> {
    Ok(places(entries, width, canvas)?.last().map_or(0.0, |(_, y)| y + LINE))
}

/// Draws the legend in lines.
pub(super) fn flow<DB: DrawingBackend>(
    entries: &[Entry],
    at: Point,
    width: f64,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    for (entry, (x, y)) in entries.iter().zip(places(entries, width, canvas)?) {
        draw(entry, (at.0 + x, at.1 + y + LINE / 2.0), canvas)?;
    }
    Ok(())
}

/// Draws the legend as a column.
pub(super) fn stack<DB: DrawingBackend>(
    entries: &[Entry],
    at: Point,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    for (i, entry) in entries.iter().enumerate() {
        draw(entry, (at.0, at.1 + LINE * (i as f64 + 0.5)), canvas)?;
    }
    Ok(())
}

fn draw<DB: DrawingBackend>(
    entry: &Entry,
    (x, y): Point,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    sample(entry, (x, y), canvas)?;
    canvas.text(&entry.text, (x + SWATCH + 6.0, y), TEXT)
}

/// An entry without its name.
impl Scene for Entry {
    fn size<DB: DrawingBackend>(&self, _: &Canvas<DB>) -> Result<Point, RenderError> {
        Ok((SWATCH, LINE))
    }

    fn label(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.label)
    }

    fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), RenderError> {
        sample(self, (0.0, LINE / 2.0), canvas)
    }
}

fn sample<DB: DrawingBackend>(
    entry: &Entry,
    (x, y): Point,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let middle = (x + SWATCH / 2.0, y);
    let line = Pen { color: entry.color, width: 2.0, dash: entry.dash };
    match entry.style {
        None => marks::star(middle, entry.color, canvas)?,
        Some(Style::Bars) => {
            canvas.rectangle((x + 8.0, y - 5.0), (x + SWATCH - 8.0, y + 5.0), entry.color)?;
        }
        Some(Style::Points) => marks::marker(middle, entry.marker, entry.color, canvas)?,
        Some(Style::Line | Style::Dashed) => {
            canvas.line(&[(x, y), (x + SWATCH, y)], line)?;
        }
        Some(Style::LinePoints | Style::Whiskers) => {
            canvas.line(&[(x, y), (x + SWATCH, y)], line)?;
            marks::marker(middle, entry.marker, entry.color, canvas)?;
        }
    }
    Ok(())
}
