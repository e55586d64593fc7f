use plotters::style::RGBColor;

/// A map behind everything else of a panel: a rectangle cut into equal cells, each in one colour.
///
/// ```
/// use mercer_render::{Axis, Figure, Panel, Raster, shade};
/// let values = vec![0.0, 0.5, 1.0, 0.25];
/// let cells = values.iter().map(|&value| shade(value));
/// let map = Raster::new(2, (0.0, 0.0), (2.0, 2.0), cells).channel("value", values);
/// let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).raster(map);
/// let figure = Figure::new("demo/map", "A map").panel(panel);
/// assert!(figure.svg()?.contains("<rect"));
/// // The centre of the last cell, and its value in place of limits.
/// assert!(figure.csv().trim_end().ends_with("1,value,1.5,1.5,0.25,0.25"));
/// # Ok::<(), mercer_render::RenderError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Raster {
    /// Cells side by side.
    pub columns: usize,
    /// Its lower left corner.
    pub from: (f64, f64),
    /// Its upper right corner.
    pub to: (f64, f64),
    /// Red, green and blue of each cell, the lowest row first; white is left out.
    pub colors: Vec<[u8; 3]>,
    /// The numbers that the colours stand for, by name, one a cell.
    pub channels: Vec<(String, Vec<f64>)>,
    /// What the palest and the darkest shade stand for, on a bar beside the map; no bar without.
    pub scale: Option<(String, String)>,
}

impl Raster {
    /// A map of these cells, row by row from below.
    ///
    /// # Panics
    /// If the cells do not fill rows of `columns`.
    pub fn new(
        columns: usize,
        from: (f64, f64),
        to: (f64, f64),
        colors: impl IntoIterator<Item = [u8; 3]>,
    ) -> Self {
        let colors: Vec<[u8; 3]> = colors.into_iter().collect();
        assert!(columns > 0 && colors.len().is_multiple_of(columns), "rows of cells");
        Self { columns, from, to, colors, channels: Vec::new(), scale: None }
    }

    /// With a bar of shades beside it, from what the palest one stands for to the darkest.
    ///
    /// ```
    /// use mercer_render::{Axis, Figure, Panel, Raster, shade};
    /// let map = Raster::new(2, (0.0, 0.0), (2.0, 1.0), [shade(0.0), shade(1.0)]).scale("0", "12");
    /// let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).raster(map);
    /// assert!(Figure::new("demo/shades", "Shades").panel(panel).svg()?.contains("12"));
    /// # Ok::<(), mercer_render::RenderError>(())
    /// ```
    #[must_use]
    pub fn scale(mut self, palest: impl Into<String>, darkest: impl Into<String>) -> Self {
        self.scale = Some((palest.into(), darkest.into()));
        self
    }

    /// With the numbers behind the colours.
    ///
    /// # Panics
    /// If there is not one a cell.
    #[must_use]
    pub fn channel(mut self, name: impl Into<String>, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), self.colors.len(), "one number a cell");
        self.channels.push((name.into(), values));
        self
    }

    /// The corners of the cells `first..end` of a row, which is counted from below.
    pub(crate) fn corners(&self, row: usize, first: usize, end: usize) -> ((f64, f64), (f64, f64)) {
        let rows = self.colors.len() / self.columns;
        let x =
            |at: usize| self.from.0 + (self.to.0 - self.from.0) * at as f64 / self.columns as f64;
        let y = |at: usize| self.from.1 + (self.to.1 - self.from.1) * at as f64 / rows as f64;
        ((x(first), y(row)), (x(end), y(row + 1)))
    }

    /// Runs of cells of one colour in a row, white ones left out: row, first cell, end, colour.
    pub(crate) fn runs(&self) -> Vec<(usize, usize, usize, RGBColor)> {
        let mut runs = Vec::new();
        for (row, cells) in self.colors.chunks(self.columns).enumerate() {
            let mut first = 0;
            for run in cells.chunk_by(|a, b| a == b) {
                let [r, g, b] = run[0];
                if run[0] != [255; 3] {
                    runs.push((row, first, first + run.len(), RGBColor(r, g, b)));
                }
                first += run.len();
            }
        }
        runs
    }
}

/// A colour for a share in `[0, 1]`, from pale to dark, that reads in grey as well; what lies
/// outside takes the nearer end, and NaN is white.
///
/// ```
/// use mercer_render::shade;
/// let light = |share| shade(share).iter().map(|&part| u32::from(part)).sum::<u32>();
/// assert!((0..10).all(|i| light(f64::from(i) / 10.0) > light(f64::from(i + 1) / 10.0))); // ever darker
/// assert_eq!((shade(-3.0), shade(7.0)), (shade(0.0), shade(1.0)));
/// assert_eq!(shade(f64::NAN), [255; 3]); // white
/// ```
pub fn shade(share: f64) -> [u8; 3] {
    const PALE: [f64; 3] = [232.0, 240.0, 248.0];
    const DARK: [f64; 3] = [8.0, 48.0, 107.0];
    if share.is_nan() {
        return [255; 3];
    }
    // 48 steps: neighbours of almost one value become one rectangle.
    let share = (share.clamp(0.0, 1.0) * 48.0).round() / 48.0;
    [0, 1, 2].map(|i| (PALE[i] + share * (DARK[i] - PALE[i])).round() as u8)
}

/// The colour whose red, green and blue are these shares: a map of three classes.
///
/// ```
/// assert_eq!(mercer_render::blend([1.0, 0.0, 0.5]), [254, 0, 127]);
/// assert_eq!(mercer_render::blend([2.0, -1.0, 0.5]), [254, 0, 127]); // shares are in [0, 1]
/// ```
pub fn blend(shares: [f64; 3]) -> [u8; 3] {
    shares.map(|share| ((share.clamp(0.0, 1.0) * 40.0).round() / 40.0 * 254.0).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_every_cell_that_is_not_white_once() {
        let (a, b, w) = ([1, 2, 3], [9, 9, 9], [255, 255, 255]);
        let map = Raster::new(4, (0.0, 0.0), (8.0, 2.0), [a, a, w, b, b, b, b, b]);
        let runs: Vec<_> =
            map.runs().into_iter().map(|(row, first, end, _)| (row, first, end)).collect();
        assert_eq!(runs, [(0, 0, 2), (0, 3, 4), (1, 0, 4)]);
        assert_eq!(map.corners(1, 0, 4), ((0.0, 1.0), (8.0, 2.0)));
    }

    #[test]
    fn shades_darken_and_blends_are_never_white() {
        let sum = |color: [u8; 3]| color.iter().map(|&part| u32::from(part)).sum::<u32>();
        let sums: Vec<u32> = (0..=10).map(|i| sum(shade(f64::from(i) / 10.0))).collect();
        assert!(sums.windows(2).all(|pair| pair[0] > pair[1]), "{sums:?}");
        assert_eq!(shade(f64::NAN), [255; 3]);
        assert_eq!(shade(7.0), shade(1.0));
        assert_ne!(blend([1.0; 3]), [255; 3]);
        assert_eq!(blend([1.0, 0.0, 0.5]), [254, 0, 127]);
    }
}
