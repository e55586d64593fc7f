use super::wishart::determinant;
use super::{HyperKernel, Pairs, WishartHyper};
use crate::std_of_bandwidth;
use mercer_linalg::{exp, for_each, product};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, s};

/// Rows and columns of a tile: 256 × 256 in f64 is half of an L2 cache.
const TILE: usize = 256;
/// Rows and columns of a block that is transposed at once: two of them fit an L1 cache.
const BLOCK: usize = 32;

/// The functions `h(q, ·)` of fixed pairs `q`: see [`HyperKernel::sections`].
///
/// A tile of hyper-kernel values costs one product of the pairs' means (four products for a Wishart
/// kernel, of whitened differences and means) and one exponential an entry.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel, Pairs};
/// use ndarray::array;
/// let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let points = array![[0.0], [0.4], [1.0]];
/// let pairs = Pairs::all(3);
/// let sections = hyper.sections(points.view(), &pairs);
/// let gram = sections.gram(1);
/// assert_eq!((sections.len(), gram.dim()), (6, (6, 6)));
/// assert_eq!(gram, gram.t()); // exactly
/// assert!((sections.at(points.view(), &pairs, 1) - &gram).iter().all(|gap| gap.abs() < 1e-14));
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PairSections {
    kernel: HyperKernel,
    /// Subtracted from all points: the mean of these, so that squared distances of means do not
    /// cancel. Taken from the fixed pairs alone, so that a value does not depend on its company.
    centre: Array1<f64>,
    pairs: Prepared,
}

/// What a tile needs of pairs.
#[derive(Debug, Clone, PartialEq)]
struct Prepared {
    /// `(x + x')/2`, scaled by `τ^(−1/2)` or whitened (`P × d`).
    means: Array2<f64>,
    /// `‖mean‖²`.
    squares: Array1<f64>,
    /// `(x − x')/√2`, whitened; without columns for a Gaussian.
    differences: Array2<f64>,
    /// Gaussian: `−‖x − x'‖²/(2 sp) − ‖mean‖²/2`; Wishart: `‖difference‖²`.
    within: Array1<f64>,
    /// Wishart: `difference · mean`.
    mixed: Array1<f64>,
}

impl PairSections {
    pub(super) fn new(kernel: HyperKernel, points: ArrayView2<'_, f64>, pairs: &Pairs) -> Self {
        let centre = points.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(points.ncols()));
        let pairs = pairs.as_slice().iter().copied();
        let pairs = prepare(&kernel, &centre, points, points, pairs);
        Self { kernel, centre, pairs }
    }

    /// Returns the number of functions `P`.
    pub fn len(&self) -> usize {
        self.pairs.within.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the hyper-Gram matrix of the fixed pairs with themselves (`P × P`), exactly symmetric.
    pub fn gram(&self, threads: usize) -> Array2<f64> {
        let n = self.len();
        let mut gram = Array2::zeros((n, n));
        for_each(threads, gram.axis_chunks_iter_mut(Axis(0), TILE).enumerate(), |(band, to)| {
            let top = band * TILE;
            self.fill_band(&self.pairs.rows(top, top + to.nrows()), top, to);
        });
        for i in 0..n {
            gram[[i, i]] = self.kernel.on_diagonal(&self.pairs, i);
        }
        mirror(gram.view_mut(), threads);
        gram
    }

    /// Computes one row of [`Self::gram`], but for rounding. It is of one fixed pair with all (`P`), for matrices too
    /// large to be stored.
    ///
    /// ```
    /// use mercer_kernels::{HyperKernel, Pairs, WishartHyper};
    /// use ndarray::array;
    /// let hyper = HyperKernel::Wishart(WishartHyper::isotropic(0.5, 1)?);
    /// let points = array![[0.0], [0.4], [1.0]];
    /// let sections = hyper.sections(points.view(), &Pairs::all(3));
    /// let gap = sections.row(4) - sections.gram(1).row(4);
    /// assert!(gap.iter().all(|gap| gap.abs() < 1e-14));
    /// # Ok::<(), mercer_kernels::KernelError>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such pair.
    pub fn row(&self, pair: usize) -> Array1<f64> {
        let mut row = Array2::zeros((1, self.len()));
        self.fill_band(&self.pairs.rows(pair, pair + 1), 0, row.view_mut());
        let mut row = row.remove_axis(Axis(0));
        row[pair] = self.kernel.on_diagonal(&self.pairs, pair);
        row
    }

    /// Returns the diagonal of [`Self::gram`] (`P`).
    pub fn diagonal(&self) -> Array1<f64> {
        (0..self.len()).map(|pair| self.kernel.on_diagonal(&self.pairs, pair)).collect()
    }

    /// Returns `h(p, q)` for pairs `p` of the rows of `points`: `|p| × P`, by `threads` threads.
    ///
    /// # Panics
    /// If a pair names a row that is not there.
    pub fn at(&self, points: ArrayView2<'_, f64>, pairs: &Pairs, threads: usize) -> Array2<f64> {
        let pairs = pairs.as_slice().iter().copied();
        self.tiles(&prepare(&self.kernel, &self.centre, points, points, pairs), threads)
    }

    /// Computes `h((x_i, z_j), q)` for every row `x_i` of `left` and `z_j` of `right`. Shapes are `m × d` and `n × d`;
    /// the result is row by row, `m n × P`, by `threads` threads.
    ///
    /// # Panics
    /// If the points differ in dimension.
    pub fn at_block(
        &self,
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
        threads: usize,
    ) -> Array2<f64> {
        let n = right.nrows();
        let all = (0..left.nrows()).flat_map(|i| (0..n).map(move |j| (i, j)));
        self.tiles(&prepare(&self.kernel, &self.centre, left, right, all), threads)
    }

    /// `Σ_q c_q h(q, (x_i, z_j))` for each column of `coefficients` (`P × r`) is not formed with the
    /// matrix of all values: a tile at a time. Returns `m n × r`.
    pub(super) fn expand_block(
        &self,
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
        coefficients: ArrayView2<'_, f64>,
        threads: usize,
    ) -> Array2<f64> {
        let n = right.nrows();
        let mut sums = Array2::zeros((left.nrows() * n, coefficients.ncols()));
        for_each(
            threads,
            sums.axis_chunks_iter_mut(Axis(0), TILE).enumerate(),
            |(band, mut to)| {
                let range = band * TILE..band * TILE + to.nrows();
                let pairs = range.map(|p| (p / n, p % n));
                let rows = prepare(&self.kernel, &self.centre, left, right, pairs);
                let mut tile = Array2::zeros((to.nrows(), TILE.min(self.len().max(1))));
                for start in (0..self.len()).step_by(TILE) {
                    let end = (start + TILE).min(self.len());
                    let mut part = tile.slice_mut(s![.., ..end - start]);
                    let columns = self.pairs.rows(start, end);
                    self.kernel.fill(part.view_mut(), &rows.rows(0, rows.within.len()), &columns);
                    let coefficients = coefficients.slice(s![start..end, ..]);
                    product(1.0, part.view(), coefficients, 1.0, to.view_mut());
                }
            },
        );
        sums
    }

    fn tiles(&self, rows: &Prepared, threads: usize) -> Array2<f64> {
        let (m, n) = (rows.within.len(), self.len());
        let mut values = Array2::zeros((m, n));
        for_each(threads, values.axis_chunks_iter_mut(Axis(0), TILE).enumerate(), |(band, to)| {
            let top = band * TILE;
            self.fill_band(&rows.rows(top, top + to.nrows()), 0, to);
        });
        values
    }

    /// The columns of a band from `first` on: `h` between some pairs and the pairs of the sections.
    fn fill_band(&self, rows: &Selected<'_>, first: usize, mut band: ArrayViewMut2<'_, f64>) {
        for start in (first..self.len()).step_by(TILE) {
            let end = (start + TILE).min(self.len());
            let tile = band.slice_mut(s![.., start..end]);
            self.kernel.fill(tile, rows, &self.pairs.rows(start, end));
        }
    }
}

/// Copies the entries above the diagonal below it. Halves are disjoint, so that no thread waits.
fn mirror(mut square: ArrayViewMut2<'_, f64>, threads: usize) {
    let n = square.nrows();
    if n <= BLOCK {
        for i in 0..n {
            for j in 0..i {
                square[[i, j]] = square[[j, i]];
            }
        }
        return;
    }
    let half = (n / 2).next_multiple_of(BLOCK);
    let (upper, lower) = square.split_at(Axis(0), half);
    let (upper_left, upper_right) = upper.split_at(Axis(1), half);
    let (mut below, lower_right) = lower.split_at(Axis(1), half);
    let bands = below.axis_chunks_iter_mut(Axis(0), BLOCK).enumerate();
    for_each(threads, bands, |(band, mut to)| {
        let from = upper_right.slice(s![.., band * BLOCK..band * BLOCK + to.nrows()]);
        for start in (0..half).step_by(BLOCK) {
            let end = (start + BLOCK).min(half);
            to.slice_mut(s![.., start..end]).assign(&from.slice(s![start..end, ..]).t());
        }
    });
    for_each(threads, [upper_left, lower_right], |part| mirror(part, threads.div_ceil(2)));
}

fn prepare(
    kernel: &HyperKernel,
    centre: &Array1<f64>,
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> Prepared {
    let (left, right) = (&left - centre, &right - centre);
    let (left, right) = match kernel {
        HyperKernel::Gaussian(gaussian) => {
            let scale = std_of_bandwidth(gaussian.mean_variance().sqrt());
            (left * scale, right * scale)
        }
        HyperKernel::Wishart(wishart) => {
            (wishart.whiten(left.view()), wishart.whiten(right.view()))
        }
    };
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let (count, d) = (pairs.len(), left.ncols());
    let mut means = Array2::zeros((count, d));
    let mut differences = Array2::zeros((count, d));
    for (q, &(i, j)) in pairs.iter().enumerate() {
        let (x, z) = (left.row(i), right.row(j));
        for c in 0..d {
            means[[q, c]] = 0.5 * (x[c] + z[c]);
            differences[[q, c]] = (x[c] - z[c]) * std::f64::consts::FRAC_1_SQRT_2;
        }
    }
    let dots = |a: &Array2<f64>, b: &Array2<f64>| -> Array1<f64> {
        a.rows().into_iter().zip(b.rows()).map(|(a, b)| a.dot(&b)).collect()
    };
    let squares = dots(&means, &means);
    let within = dots(&differences, &differences);
    match kernel {
        HyperKernel::Gaussian(gaussian) => {
            // Differences are in units of √(2τ): ‖x − x'‖²/(2 sp) = τ/sp times their squares.
            let ratio = gaussian.mean_variance() / gaussian.pair_variance();
            let within = -(within * ratio) - 0.5 * &squares;
            let (differences, mixed) = (Array2::zeros((count, 0)), Array1::zeros(0));
            Prepared { means, squares, differences, within, mixed }
        }
        HyperKernel::Wishart(_) => {
            let mixed = dots(&differences, &means);
            Prepared { means, squares, differences, within, mixed }
        }
    }
}

/// Views of some of the pairs.
struct Selected<'a> {
    means: ArrayView2<'a, f64>,
    differences: ArrayView2<'a, f64>,
    squares: &'a [f64],
    within: &'a [f64],
    mixed: &'a [f64],
}

impl Prepared {
    fn rows(&self, start: usize, end: usize) -> Selected<'_> {
        // Empty where the kernel has no use for them.
        let of = |values: &Array1<f64>| if values.is_empty() { 0..0 } else { start..end };
        Selected {
            means: self.means.slice(s![start..end, ..]),
            differences: self.differences.slice(s![start..end, ..]),
            squares: &as_slice(&self.squares)[of(&self.squares)],
            within: &as_slice(&self.within)[of(&self.within)],
            mixed: &as_slice(&self.mixed)[of(&self.mixed)],
        }
    }
}

fn as_slice(values: &Array1<f64>) -> &[f64] {
    values.as_slice().expect("these arrays are made contiguous and never sliced")
}

impl HyperKernel {
    fn fill(&self, tile: ArrayViewMut2<'_, f64>, left: &Selected<'_>, right: &Selected<'_>) {
        match self {
            Self::Gaussian(_) => fill_gaussian(tile, left, right),
            Self::Wishart(wishart) => fill_wishart(wishart, tile, left, right),
        }
    }

    /// `h(q, q)` without cancellation.
    fn on_diagonal(&self, pairs: &Prepared, q: usize) -> f64 {
        match self {
            Self::Gaussian(_) => (2.0 * pairs.within[q] + pairs.squares[q]).exp(),
            // e = 0: det [[1 + a, a], [a, 1 + a]] = 1 + 2a.
            Self::Wishart(wishart) => (1.0 + 2.0 * pairs.within[q]).powf(-wishart.power()),
        }
    }
}

fn fill_gaussian(mut tile: ArrayViewMut2<'_, f64>, left: &Selected<'_>, right: &Selected<'_>) {
    product(1.0, left.means, right.means.t(), 0.0, tile.view_mut());
    let mut buffer = [0.0; TILE];
    for (mut row, &p) in tile.rows_mut().into_iter().zip(left.within) {
        let buffer = &mut buffer[..row.len()];
        let exponents = buffer.iter_mut().zip(row.iter().zip(right.within));
        // Rounding can leave the exponent of equal pairs above 0 by an ulp or two. Of points so far out that it is no
        // number the value is none either: `min` would take them for equal.
        exponents.for_each(|(to, (&dot, &q))| {
            let exponent = dot + p + q;
            *to = if exponent > 0.0 { 0.0 } else { exponent };
        });
        match row.as_slice_mut() {
            Some(row) => exp(buffer, row),
            None => row.iter_mut().zip(buffer).for_each(|(to, exponent)| *to = exponent.exp()),
        }
    }
}

fn fill_wishart(
    wishart: &WishartHyper,
    mut tile: ArrayViewMut2<'_, f64>,
    left: &Selected<'_>,
    right: &Selected<'_>,
) {
    let (m, n) = tile.dim();
    let dots = |a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>| {
        let mut dots = Array2::zeros((m, n));
        product(1.0, a, b.t(), 0.0, dots.view_mut());
        dots
    };
    let between = dots(left.means, right.means);
    let ac = dots(left.differences, right.differences);
    let left_mean = dots(left.differences, right.means);
    let right_mean = dots(left.means, right.differences);
    let power = wishart.power();
    for i in 0..m {
        for j in 0..n {
            let ee = left.squares[i] + right.squares[j] - 2.0 * between[[i, j]];
            let ee = if ee < 0.0 { 0.0 } else { ee };
            let ae = left.mixed[i] - left_mean[[i, j]];
            let ce = right_mean[[i, j]] - right.mixed[j];
            let diagonal = [1.0 + left.within[i], 1.0 + right.within[j], 1.0 + ee];
            let determinant = determinant(diagonal, ac[[i, j]], ae, ce);
            // At least 1 in exact arithmetic. Of points so far out that it is no number the value is none either:
            // `max` would take them for equal.
            let determinant = if determinant < 1.0 { 1.0 } else { determinant };
            tile[[i, j]] = (-power * determinant.ln()).exp();
        }
    }
}
