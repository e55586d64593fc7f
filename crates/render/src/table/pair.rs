use crate::number;
use std::fmt::Write;

/// An estimate with its interval, or two, one below the other on one scale.
///
/// ```
/// use mercer_render::{Cell, Column, Estimate, EstimatePair, Row, Table};
/// let printed = Estimate { value: 2.0, interval: (1.5, 2.5) };
/// let ours = Estimate { value: 0.5, interval: (-0.5, 1.5) };
/// let pair = EstimatePair { first: ours, second: Some(printed), scale: (-1.0, 3.0) };
/// let cell = Cell::text("smaller").pair(pair);
/// let table = Table::new("demo/gain", "Gain").columns([Column::left("Gain")]).row(Row::new([cell]));
/// assert!(table.to_html().contains("aria-label=\"0.50 (-0.50 to 1.50), beside 2.00 (1.50 to 2.50)\""));
/// assert!(table.to_csv().contains("smaller"));
/// let alone = Cell::text("").pair(EstimatePair { second: None, ..pair });
/// let table = Table::new("demo/one", "Gain").columns([Column::left("Gain")]).row(Row::new([alone]));
/// assert!(table.to_html().contains("aria-label=\"0.50 (-0.50 to 1.50)\""));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimatePair {
    /// Drawn above.
    pub first: Estimate,
    /// Drawn below, if there is one.
    pub second: Option<Estimate>,
    /// The numbers at the left and right end of the drawing.
    pub scale: (f64, f64),
}

/// A number and its interval.
///
/// ```
/// use mercer_render::Estimate;
/// let gain = Estimate { value: 0.5, interval: (-0.5, 1.5) };
/// assert_eq!(gain.to_string(), "0.50 (-0.50 to 1.50)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its ends.
    pub interval: (f64, f64),
}

impl std::fmt::Display for Estimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (low, high) = self.interval;
        write!(f, "{} ({} to {})", number(self.value, 2), number(low, 2), number(high, 2))
    }
}

const WIDTH: f64 = 150.0;
/// Right of the drawing, for the numbers.
const LABELS: f64 = 44.0;
const HEIGHT: f64 = 24.0;
const HEIGHT_OF_ONE: f64 = 14.0;
/// Between a mark at an end and the edge.
const AIR: f64 = 5.0;

impl EstimatePair {
    /// The scale from which to which all of these, and 0, can be seen.
    pub fn scale(estimates: impl IntoIterator<Item = Estimate>) -> (f64, f64) {
        estimates.into_iter().fold((0.0, 0.0), |(low, high), one| {
            (low.min(one.interval.0).min(one.value), high.max(one.interval.1).max(one.value))
        })
    }

    /// An element of HTML: zero as a line, the first with a dot, the second with a square.
    pub(super) fn svg(&self) -> String {
        let (low, high) = self.scale;
        let span = if high > low { high - low } else { 1.0 };
        let x = |value: f64| AIR + (WIDTH - 2.0 * AIR) * ((value - low) / span).clamp(0.0, 1.0);
        let height = if self.second.is_some() { HEIGHT } else { HEIGHT_OF_ONE };
        let beside = self.second.map_or_else(String::new, |second| format!(", beside {second}"));
        let line = |estimate: Estimate, y: f64| {
            let (from, to) = (x(estimate.interval.0), x(estimate.interval.1));
            format!("<path d=\"M{from:.1} {y}H{to:.1}\"/>")
        };
        let label = |estimate: Estimate, y: f64| {
            format!(
                "<text x=\"{all}\" y=\"{y}\">{}</text>",
                number(estimate.value, 2),
                all = WIDTH + LABELS
            )
        };
        let mut out = format!(
            "<svg class=\"pair\" width=\"{all}\" height=\"{height}\" viewBox=\"0 0 {all} {height}\" role=\"img\" aria-label=\"{}{beside}\">\
             <path class=\"zero\" d=\"M{zero:.1} 0V{height}\"/>\
             <g class=\"first\">{}<circle cx=\"{own:.1}\" cy=\"7\" r=\"3.5\"/>{}</g>",
            self.first,
            line(self.first, 7.0),
            label(self.first, 11.0),
            all = WIDTH + LABELS,
            zero = x(0.0),
            own = x(self.first.value)
        );
        if let Some(second) = self.second {
            let left = x(second.value) - 2.5;
            let _ = write!(
                out,
                "<g class=\"second\">{}<path d=\"M{left:.1} 14.5h5v5h-5z\"/>{}</g>",
                line(second, 17.0),
                label(second, 22.0)
            );
        }
        out.push_str("</svg>");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_holds_zero_and_all_ends() {
        let of = |value, low, high| Estimate { value, interval: (low, high) };
        assert_eq!(EstimatePair::scale([of(2.0, 1.0, 3.0), of(4.0, 3.5, 4.5)]), (0.0, 4.5));
        assert_eq!(EstimatePair::scale([of(-2.0, -3.0, -1.0)]), (-3.0, 0.0));
    }

    #[test]
    fn svg_has_its_marks_where_the_numbers_are() {
        let first = Estimate { value: 1.0, interval: (0.0, 2.0) };
        let second = Estimate { value: 2.0, interval: (2.0, 9.0) };
        let svg = EstimatePair { first, second: Some(second), scale: (0.0, 2.0) }.svg();
        assert!(svg.contains("M5.0 7H145.0") && svg.contains("cx=\"75.0\""), "{svg}");
        // What lies beyond the scale ends at its edge.
        assert!(svg.contains("M145.0 17H145.0"), "{svg}");
    }
}
