//! Scales, ranges and ticks.

use crate::RenderError;
use serde::Deserialize;

/// How values are laid out along an axis.
///
/// ```
/// use mercer_render::{Axis, Figure, Panel, RenderError, Series};
/// let figure = |axis: Axis| {
///     let series = Series::points("times", [(1.0, 0.5), (2.0, 0.0), (3.0, 2.0)]);
///     Figure::new("demo/scale", "Times").panel(Panel::new(Axis::linear("n"), axis).series(series))
/// };
/// // A logarithmic axis cannot show the 0, and says so; nor can it begin there.
/// assert_ne!(figure(Axis::linear("s")).svg()?, figure(Axis::log10("s")).svg()?);
/// let refused = figure(Axis::log10("s").range(0.0, 2.0)).svg().unwrap_err();
/// assert!(matches!(refused, RenderError::Range { low: 0.0, .. }));
/// # Ok::<(), RenderError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long, ticks at powers of ten.
    Log10,
    /// Equal ratios are equally long, ticks at powers of two.
    Log2,
}

/// One axis of a panel.
///
/// ```
/// use mercer_render::{Axis, Scale};
/// let axis = Axis::log2("rows").range(16.0, 4096.0);
/// assert_eq!((axis.scale, axis.range), (Scale::Log2, Some((16.0, 4096.0))));
/// let methods = Axis::names("method", ["SK", "ASKL"]);
/// assert_eq!(methods.ticks, Some(vec![(0.0, "SK".to_owned()), (1.0, "ASKL".to_owned())]));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// How values are laid out.
    pub scale: Scale,
    /// First and last value shown; by default what holds all data.
    pub range: Option<(f64, f64)>,
    /// Ticks with their names, instead of numbers: for categories.
    pub ticks: Option<Vec<(f64, String)>>,
    /// Numbers with a tick, instead of round ones; none where it is empty.
    pub at: Vec<f64>,
}

impl Axis {
    /// A linear axis that holds all data.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A logarithmic axis with ticks at powers of ten.
    pub fn log10(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log10, ..Self::default() }
    }

    /// A logarithmic axis with ticks at powers of two.
    pub fn log2(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Log2, ..Self::default() }
    }

    /// An axis of names at 0, 1, 2, ...
    pub fn names<S: Into<String>>(
        label: impl Into<String>,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        let ticks = names.into_iter().enumerate().map(|(i, name)| (i as f64, name.into()));
        Self { label: label.into(), ticks: Some(ticks.collect()), ..Self::default() }
    }

    /// With ticks at these numbers alone: the sizes that were run, say.
    ///
    /// ```
    /// use mercer_render::{Axis, Figure, Panel, Series};
    /// let panel = Panel::new(Axis::linear("M").ticks_at([2.0, 7.0]), Axis::linear("pairs"));
    /// let panel = panel.series(Series::line("", [(2.0, 3.0), (7.0, 28.0)]));
    /// assert!(Figure::new("demo/ticks", "Pairs").panel(panel).svg()?.contains(">\n7\n</text>"));
    /// # Ok::<(), mercer_render::RenderError>(())
    /// ```
    #[must_use]
    pub fn ticks_at(mut self, numbers: impl IntoIterator<Item = f64>) -> Self {
        self.at = numbers.into_iter().collect();
        self
    }

    /// From this value to that.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

/// An axis with its range settled: values to fractions of its length, and ticks.
#[derive(Debug, Clone)]
pub(crate) struct Ruler {
    scale: Scale,
    low: f64,  // after `Scale::straight`
    high: f64, // after `Scale::straight`
    /// Fraction and label.
    pub ticks: Vec<(f64, String)>,
    /// Fractions of unlabelled ticks.
    pub minor: Vec<f64>,
    /// The label, with the power of ten that the tick labels leave out.
    pub label: String,
}

impl Scale {
    /// The value on the straight line, if it has a place there.
    pub(crate) fn straight(self, value: f64) -> Option<f64> {
        let straight = match self {
            Self::Linear => value,
            Self::Log10 => value.log10(),
            Self::Log2 => value.log2(),
        };
        straight.is_finite().then_some(straight) // log 0 = -inf, log(-1) = NaN
    }
}

impl Ruler {
    /// `values` are all data along the axis, `length` is in logical pixels; about one tick every
    /// `spacing` pixels.
    pub fn new(
        axis: &Axis,
        values: impl Iterator<Item = f64>,
        padding: f64,
        length: f64,
        spacing: f64,
    ) -> Result<Self, RenderError> {
        let scale = axis.scale;
        let (low, high) = match axis.range {
            Some((low, high)) => {
                let error = || RenderError::Range { axis: axis.label.clone(), low, high };
                let ends = (scale.straight(low), scale.straight(high));
                let (Some(a), Some(b)) = ends else { return Err(error()) };
                if a >= b { Err(error()) } else { Ok((a, b)) }?
            }
            None => span(values.filter_map(|value| scale.straight(value)), padding),
        };
        if !(high - low).is_finite() {
            return Err(RenderError::Range { axis: axis.label.clone(), low, high });
        }
        let mut ruler =
            Self { scale, low, high, ticks: Vec::new(), minor: Vec::new(), label: String::new() };
        let most = (length / spacing).clamp(2.0, 12.0);
        let mut factor = String::new();
        match (&axis.ticks, scale) {
            (Some(ticks), _) => {
                for (value, name) in ticks {
                    ruler.tick(*value, name.clone());
                }
            }
            (None, _) if !axis.at.is_empty() => {
                axis.at.iter().for_each(|&at| ruler.tick(at, at.to_string().replace('-', "−")));
            }
            // Powers are short.
            (None, Scale::Log10) => factor = ruler.decades(1.5 * most),
            (None, Scale::Log2) => factor = ruler.doublings(1.5 * most),
            (None, Scale::Linear) => factor = ruler.linear_ticks(low, high, most),
        }
        ruler.label = match (axis.label.is_empty(), factor.is_empty()) {
            (_, true) => axis.label.clone(),
            (true, false) => factor,
            (false, false) => format!("{} ({factor})", axis.label),
        };
        Ok(ruler)
    }

    /// Where a value lies, 0 at the low end and 1 at the high end; `None` if it has no place.
    pub fn fraction(&self, value: f64) -> Option<f64> {
        let straight = self.scale.straight(value)?;
        Some((straight - self.low) / (self.high - self.low))
    }

    fn tick(&mut self, value: f64, name: String) {
        if let Some(at) = self.fraction(value).filter(|at| (-1e-9..=1.0 + 1e-9).contains(at)) {
            self.ticks.push((at, name));
        }
    }

    /// Round numbers; returns the power of ten that their labels leave out, if any.
    fn linear_ticks(&mut self, low: f64, high: f64, most: f64) -> String {
        let step = round_step((high - low) / most);
        let largest = low.abs().max(high.abs());
        let power = largest.log10().floor() as i32;
        let power = if (-3..5).contains(&power) { 0 } else { power };
        let unit = 10f64.powi(power);
        let digits = (power - step.log10().floor() as i32).max(0) as usize;
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        let mut k = first;
        while k <= last && k - first < 40.0 {
            let name = crate::table::number(k * step / unit, digits.min(15));
            self.tick(k * step, name.replace('-', "−"));
            k += 1.0;
        }
        if power == 0 { String::new() } else { format!("×10{}", superscript(power)) }
    }

    fn decades(&mut self, most: f64) -> String {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        let count = last - first + 1;
        if count >= 2 {
            let stride = (f64::from(count) / most).ceil().max(1.0) as i32;
            let plain = first >= -3 && last <= 4;
            for k in (first..=last).filter(|k| k.rem_euclid(stride) == 0) {
                let name = match k {
                    k if !plain => format!("10{}", superscript(k)),
                    k if k < 0 => format!("{:.*}", -k as usize, 10f64.powi(k)),
                    k => format!("{:.0}", 10f64.powi(k)),
                };
                self.tick(10f64.powi(k), name);
            }
            if stride == 1 && count <= 7 {
                for k in first - 1..=last {
                    let between = (2..10)
                        .filter_map(|m| self.fraction(f64::from(m) * 10f64.powi(k)))
                        .filter(|at| (0.0..=1.0).contains(at));
                    let between: Vec<_> = between.collect();
                    self.minor.extend(between);
                }
            }
            return String::new();
        }
        // Less than two decades: 1, 2, 5, or round numbers where even these are too few.
        let (low, high) = (10f64.powf(self.low), 10f64.powf(self.high));
        if high / low < 5.0 || first.abs().max(last.abs()) > 4 {
            return self.linear_ticks(low, high, most);
        }
        for k in first - 2..=last + 1 {
            for m in [1.0, 2.0, 5.0] {
                let digits = (-k).max(0) as usize;
                self.tick(m * 10f64.powi(k), format!("{:.digits$}", m * 10f64.powi(k)));
            }
        }
        String::new()
    }

    fn doublings(&mut self, most: f64) -> String {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        let count = last - first + 1;
        if count < 2 {
            return self.linear_ticks(self.low.exp2(), self.high.exp2(), most);
        }
        let stride = (f64::from(count) / most).ceil().max(1.0) as i32;
        let plain = first >= 0 && last <= 12;
        for k in (first..=last).filter(|k| k.rem_euclid(stride) == 0) {
            let value = f64::from(k).exp2();
            let name = if plain { format!("{value:.0}") } else { format!("2{}", superscript(k)) };
            self.tick(value, name);
        }
        String::new()
    }
}

/// The span of some values with a margin on both sides; a unit around a single value.
fn span(values: impl Iterator<Item = f64>, padding: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return (0.0, 1.0);
    }
    let margin = if high > low { padding * (high - low) } else { 0.1 * low.abs().max(1.0) };
    (low - margin, high + margin)
}

/// The least of 1, 2, 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let lead = step / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|&round| lead <= round * (1.0 + 1e-9));
    power * round.unwrap_or(10.0)
}

/// An exponent in raised digits.
pub(crate) fn superscript(power: i32) -> String {
    let digit = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    power.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis, values: &[f64]) -> Vec<String> {
        let ruler = Ruler::new(axis, values.iter().copied(), 0.0, 400.0, 60.0).unwrap();
        ruler.ticks.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn linear_ticks_are_round_numbers() {
        assert_eq!(
            names(&Axis::linear(""), &[0.0, 1.0]),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(names(&Axis::linear(""), &[-3.0, 9.0]), ["−2", "0", "2", "4", "6", "8"]);
    }

    #[test]
    fn large_numbers_move_their_power_of_ten_to_the_label() {
        let axis = Axis::linear("bytes");
        let ruler = Ruler::new(&axis, [0.0, 4e9].into_iter(), 0.0, 400.0, 60.0).unwrap();
        assert_eq!(ruler.label, "bytes (×10⁹)");
        assert_eq!(ruler.ticks.last().unwrap().1, "4");
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(names(&Axis::log10(""), &[1e-6, 1e-3]), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]);
        assert_eq!(names(&Axis::log10(""), &[0.01, 100.0]), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(names(&Axis::log2(""), &[16.0, 128.0]), ["16", "32", "64", "128"]);
        assert_eq!(names(&Axis::log10(""), &[0.6, 8.0]), ["1", "2", "5"]);
    }

    #[test]
    fn fractions_follow_the_scale() {
        let axis = Axis::log10("").range(1.0, 100.0);
        let ruler = Ruler::new(&axis, std::iter::empty(), 0.0, 100.0, 50.0).unwrap();
        assert!((ruler.fraction(10.0).unwrap() - 0.5).abs() < 1e-15);
        assert_eq!(ruler.fraction(0.0), None);
        assert_eq!(ruler.fraction(f64::NAN), None);
    }

    #[test]
    fn a_range_without_length_is_refused_with_its_ends() {
        for (axis, low, high) in [
            (Axis::linear("accuracy"), 1.0, 1.0),
            (Axis::linear("accuracy"), f64::NAN, 1.0),
            (Axis::log10("accuracy"), 0.0, 1.0),
            (Axis::linear("accuracy"), -f64::MAX, f64::MAX),
        ] {
            let axis = axis.range(low, high);
            let error = Ruler::new(&axis, std::iter::empty(), 0.0, 100.0, 50.0).unwrap_err();
            assert!(error.to_string().contains("accuracy"), "{error}");
        }
    }
}
