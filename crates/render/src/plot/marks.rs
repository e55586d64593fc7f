use crate::RenderError;
use crate::canvas::{CARD, Canvas, Point};
use plotters::prelude::{DrawingBackend, RGBColor};

/// One of six shapes on a white rim, so that it stands out from its line.
pub(super) fn marker<DB: DrawingBackend>(
    at: Point,
    shape: usize,
    color: RGBColor,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    let corners = |sides: usize, turn: f64, radius: f64| -> Vec<Point> {
        (0..sides)
            .map(|k| {
                let angle = std::f64::consts::TAU * (k as f64 / sides as f64 + turn);
                (at.0 + radius * angle.cos(), at.1 + radius * angle.sin())
            })
            .collect()
    };
    let (sides, turn, radius) = match shape % 6 {
        0 => {
            canvas.disc(at, 4.6, CARD)?;
            return canvas.disc(at, 3.6, color);
        }
        1 => (4, 0.125, 4.6),
        2 => (3, -0.25, 5.0),
        3 => (4, 0.0, 5.0),
        4 => (3, 0.25, 5.0),
        _ => (5, -0.25, 4.6),
    };
    canvas.polygon(&corners(sides, turn, radius + 1.4), CARD, 1.0)?;
    canvas.polygon(&corners(sides, turn, radius), color, 1.0)
}

/// A five-pointed star on a white rim.
pub(super) fn star<DB: DrawingBackend>(
    at: Point,
    color: RGBColor,
    canvas: &Canvas<DB>,
) -> Result<(), RenderError> {
    for (radius, color) in [(8.0, CARD), (6.5, color)] {
        let corner = |k: i32| {
            let radius = if k % 2 == 0 { radius } else { 0.42 * radius };
            let angle = std::f64::consts::TAU * (f64::from(k) / 10.0 - 0.25);
            (at.0 + radius * angle.cos(), at.1 + radius * angle.sin())
        };
        canvas.polygon(&(0..10).map(corner).collect::<Vec<_>>(), color, 1.0)?;
    }
    Ok(())
}
