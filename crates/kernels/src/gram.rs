mod mirror;
mod values;

use crate::sparse::{SparsePoints, SparseValues};
use crate::{KernelError, Smoothness, distance};
use mercer_linalg::{Matrix, MatrixView, SparseRows, exp, product};
use mirror::mirror;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, s};
use serde::{Deserialize, Serialize};

/// A kernel of two points, `k(x, z)`.
///
/// The Gaussian width is stated as in the spectral methods, whose frequencies have the deviation
/// `std`: larger is narrower. In terms of a bandwidth `σ`, `std = 1/σ`; of LIBSVM's `γ`,
/// `γ = std²/2`.
///
/// ```
/// use mercer_kernels::{Kernel, Smoothness};
/// use ndarray::array;
/// let (x, z) = (array![1.0, 2.0], array![3.0, -1.0]);
/// let of = |kernel: Kernel| kernel.of(x.view(), z.view());
/// assert_eq!(of(Kernel::Linear), 1.0);
/// assert_eq!(of(Kernel::Polynomial { degree: 3, offset: 1.0, std: 1.0 }), 8.0);
/// let std = 0.5; // σ = 2, and LIBSVM's γ = 1/8
/// assert!((of(Kernel::Gaussian { std }) - (-13.0f64 / 8.0).exp()).abs() < 1e-15);
/// let laplace = Kernel::Matern { std, smoothness: Smoothness::Half };
/// assert!((of(laplace) - (-0.5 * 13f64.sqrt()).exp()).abs() < 1e-15);
/// let matrix = Kernel::Precomputed { columns: 2 };
/// let (first, second) = (array![0.0, 5.0, 7.0], array![1.0, 7.0, 6.0]); // rows 0 and 1 of (5 7; 7 6)
/// assert_eq!(matrix.of(first.view(), second.view()), 7.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "the lint sees ndarray's `s!`; no parameter of a kernel is relied upon for safety"
)]
pub enum Kernel {
    /// `exp(−s² ‖x − z‖² / 2)`.
    Gaussian {
        /// `s`, in 1 over input units, at least 0.
        std: f64,
    },
    /// `e^{−r}`, `(1 + √3 r) e^{−√3 r}`, `(1 + √5 r + 5r²/3) e^{−√5 r}` for `ν = 1/2, 3/2, 5/2`, `r = s ‖x − z‖`.
    Matern {
        /// `s`, in 1 over input units, at least 0.
        std: f64,
        /// `ν`.
        smoothness: Smoothness,
    },
    /// `x · z`.
    Linear,
    /// `(s² x · z + offset)^degree`.
    Polynomial {
        /// Degree, at least 1.
        degree: u32,
        /// Offset, at least 0.
        offset: f64,
        /// `s`, in 1 over input units.
        #[serde(default = "unscaled")]
        std: f64,
    },
    /// The values stand in the points: `k(x, z)` is entry `z_0` of `x`. A point is the number of its row and then
    /// that row of the kernel matrix; one that is evaluated only may be without its number.
    Precomputed {
        /// Columns of the matrix.
        columns: usize,
    },
}

/// Of polynomials that were written without a scale.
const fn unscaled() -> f64 {
    1.0
}

/// Rows a tile of the Gram matrix covers: 256 x 256 in f64 is half of an L2 cache.
const TILE: usize = 256;

impl Kernel {
    /// Returns `k(x, z)` of two points.
    ///
    /// # Panics
    /// If the points differ in dimension.
    pub fn of(self, x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
        match self {
            Self::Gaussian { std } => {
                assert_eq!(x.len(), z.len(), "points of different dimension");
                (-0.5 * std * std * distance::squared(x, z)).exp()
            }
            Self::Matern { std, smoothness } => {
                assert_eq!(x.len(), z.len(), "points of different dimension");
                let u = smoothness.stretch() * std * distance::squared(x, z).sqrt();
                smoothness.factor(u) * (-u).exp()
            }
            Self::Linear => x.dot(&z),
            Self::Polynomial { degree, offset, std } => {
                (std * std * x.dot(&z) + offset).powi(degree as i32)
            }
            Self::Precomputed { columns } => x[x.len() - columns + z[0] as usize],
        }
    }

    /// Whether it depends on `x − z` only, and is 1 where that is 0.
    const fn is_stationary(self) -> bool {
        matches!(self, Self::Gaussian { .. } | Self::Matern { .. })
    }

    /// Returns the Gram matrix `K_ij = k(x_i, x_j)` of the rows of `inputs` (`n × d`): `n × n`.
    ///
    /// Exactly symmetric; of a Gaussian or a Matérn kernel the diagonal is exactly 1. Only tiles on and above the
    /// diagonal are multiplied: `n² d` flops.
    ///
    /// ```
    /// use mercer_kernels::Kernel;
    /// use ndarray::array;
    /// let gram = Kernel::Gaussian { std: 2.0 }.gram(array![[0.0], [0.5]].view());
    /// assert!((gram[[0, 1]] - (-0.5f64).exp()).abs() < 1e-15);
    /// assert_eq!(gram[[1, 1]], 1.0);
    /// ```
    pub fn gram<'a>(self, inputs: impl Into<MatrixView<'a>>) -> Array2<f64> {
        let inputs = match inputs.into() {
            MatrixView::Dense(inputs) => inputs,
            MatrixView::Sparse(inputs) => return self.sparse_gram(inputs, 1),
        };
        let prepared = Points::of(inputs, self.centre(inputs).as_ref());
        let n = inputs.nrows();
        let mut gram = Array2::zeros((n, n));
        for top in (0..n).step_by(TILE) {
            let bottom = (top + TILE).min(n);
            let rows = prepared.rows(top, bottom);
            self.fill_band(&rows, &prepared, top, gram.slice_mut(s![top..bottom, ..]));
            mirror(&mut gram, top, bottom);
        }
        if self.is_stationary() {
            gram.diag_mut().fill(1.0);
        }
        gram
    }

    /// Computes [`Kernel::gram`] on and above the diagonal, on so many threads. That is all that a Cholesky factor
    /// reads; below, entries are 0 or right.
    ///
    /// ```
    /// use mercer_kernels::Kernel;
    /// use ndarray::array;
    /// let upper = Kernel::Gaussian { std: 2.0 }.upper_gram(array![[0.0], [0.5]].view(), 2);
    /// assert!((upper[[0, 1]] - (-0.5f64).exp()).abs() < 1e-15);
    /// ```
    pub fn upper_gram<'a>(self, inputs: impl Into<MatrixView<'a>>, threads: usize) -> Array2<f64> {
        let inputs = match inputs.into() {
            MatrixView::Dense(inputs) => inputs,
            MatrixView::Sparse(inputs) => {
                return self.sparse_gram(inputs, threads);
            }
        };
        let prepared = Points::of(inputs, self.centre(inputs).as_ref());
        let n = inputs.nrows();
        let mut gram = Array2::zeros((n, n));
        let threads = threads.clamp(1, n.div_ceil(TILE).max(1));
        // Rows far down have fewer tiles: dealing them out in turn gives everybody as much.
        let mut shares: Vec<Vec<(usize, ArrayViewMut2<'_, f64>)>> =
            (0..threads).map(|_| Vec::new()).collect();
        for (index, rows) in gram.axis_chunks_iter_mut(Axis(0), TILE).enumerate() {
            shares[index % threads].push((index * TILE, rows));
        }
        let fill = |share: Vec<(usize, ArrayViewMut2<'_, f64>)>| {
            for (top, band) in share {
                let rows = prepared.rows(top, top + band.nrows());
                self.fill_band(&rows, &prepared, top, band);
            }
        };
        std::thread::scope(|scope| {
            let own = shares.pop();
            for share in shares {
                scope.spawn(|| fill(share));
            }
            own.into_iter().for_each(fill);
        });
        if self.is_stationary() {
            gram.diag_mut().fill(1.0);
        }
        gram
    }

    fn sparse_gram(self, inputs: &SparseRows, threads: usize) -> Array2<f64> {
        SparsePoints::of(inputs.clone()).gram(threads, &|row, room| self.finish(row, room))
    }

    /// The kernel's values in place of products, with as much room.
    fn finish(self, row: SparseValues<'_>, room: &mut [f64]) {
        match self {
            Self::Gaussian { std } => {
                let scale = -0.5 * std * std;
                for (other, to) in room.iter_mut().enumerate() {
                    *to = scale * row.squared(other);
                }
                exp(room, row.values);
            }
            Self::Matern { std, smoothness } => {
                let stretch = smoothness.stretch() * std;
                for (other, to) in room.iter_mut().enumerate() {
                    *to = -stretch * row.squared(other).sqrt();
                }
                exp(room, row.values);
                for (value, u) in row.values.iter_mut().zip(room) {
                    *value *= smoothness.factor(-*u);
                }
            }
            Self::Linear => {}
            Self::Polynomial { degree, offset, std } => {
                for value in row.values {
                    *value = (std * std * *value + offset).powi(degree as i32);
                }
            }
            Self::Precomputed { .. } => unreachable!("the rows of a matrix are dense"),
        }
    }

    /// Computes the cross-Gram matrix `K_ij = k(x_i, z_j)` of two sets of rows. They are the rows of `left` (`m × d`)
    /// and `right` (`n × d`): `m × n`, in `2 m n d` flops.
    ///
    /// # Panics
    /// If the two differ in the number of columns.
    pub fn cross_gram(self, left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
        self.sections(right).at(left)
    }

    /// Returns the functions `k(·, z_j)` of the rows `z_j` of `right` (`n × d`). They can be evaluated at many points:
    /// a kernel method keeps them of its training rows.
    ///
    /// Of points that are mostly 0, products take what is not 0; such points are not centred:
    /// ```
    /// use mercer_kernels::Kernel;
    /// use mercer_linalg::sparse_of;
    /// let (rows, kernel) = (ndarray::array![[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]], Kernel::Gaussian { std: 0.7 });
    /// let apart = kernel.gram(&sparse_of(rows.view())) - kernel.gram(rows.view());
    /// assert!(apart.iter().all(|apart| apart.abs() < 1e-15));
    /// ```
    pub fn sections<'a>(self, right: impl Into<MatrixView<'a>>) -> Sections {
        let right = match right.into() {
            MatrixView::Dense(right) => right,
            MatrixView::Sparse(right) => {
                let points = Stored::Sparse(SparsePoints::of(right.clone()));
                return Sections { kernel: self, centre: None, points };
            }
        };
        let centre = self.centre(right);
        // Of a point the number is all that is needed.
        let right = match self {
            Self::Precomputed { .. } => right.slice_move(s![.., ..1]),
            _ => right,
        };
        let points = Points::of(right, centre.as_ref());
        Sections { kernel: self, centre, points: Stored::Dense(points) }
    }

    /// The point subtracted from all points. It is their mean for a kernel that depends on differences only, so that
    /// `‖x‖² + ‖z‖² − 2 x·z` does not cancel for data far from the origin.
    fn centre(self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        if self.is_stationary() { inputs.mean_axis(Axis(0)) } else { None }
    }

    /// The columns of a band from `first` on, tile by tile: `k` between some rows and all points.
    fn fill_band(
        self,
        rows: &Rows<'_>,
        points: &Points,
        first: usize,
        mut band: ArrayViewMut2<'_, f64>,
    ) {
        let n = band.ncols();
        for left in (first..n).step_by(TILE) {
            let right = (left + TILE).min(n);
            self.fill(band.slice_mut(s![.., left..right]), rows, &points.rows(left, right));
        }
    }

    /// `k(a_i, b_j)` of the points of a tile.
    fn fill(self, mut tile: ArrayViewMut2<'_, f64>, a: &Rows<'_>, b: &Rows<'_>) {
        match self {
            _ if self.is_stationary() && !(a.norms.near && b.norms.near) => {
                for ((i, j), entry) in tile.indexed_iter_mut() {
                    *entry = self.of(a.points.row(i), b.points.row(j));
                }
            }
            Self::Gaussian { std } => fill_gaussian(tile, a, b, std),
            Self::Matern { std, smoothness } => fill_matern(tile, a, b, std, smoothness),
            Self::Linear => product(1.0, a.points, b.points.t(), 0.0, tile.view_mut()),
            Self::Polynomial { degree, offset, std } => {
                product(std * std, a.points, b.points.t(), 0.0, tile.view_mut());
                tile.mapv_inplace(|product| (product + offset).powi(degree as i32));
            }
            Self::Precomputed { columns } => {
                for (mut row, point) in tile.rows_mut().into_iter().zip(a.points.rows()) {
                    let values = point.slice(s![point.len() - columns..]);
                    for (value, number) in row.iter_mut().zip(b.points.column(0)) {
                        *value = values[*number as usize];
                    }
                }
            }
        }
    }
}

fn fill_gaussian(mut tile: ArrayViewMut2<'_, f64>, a: &Rows<'_>, b: &Rows<'_>, std: f64) {
    product(-2.0, a.points, b.points.t(), 0.0, tile.view_mut());
    let scale = -0.5 * std * std;
    let rounding = -scale * f64::EPSILON * (a.norms.largest + b.norms.largest);
    let mut exponents = [0.0; TILE];
    let exponents = &mut exponents[..tile.ncols()];
    for (i, (mut row, &x)) in tile.rows_mut().into_iter().zip(a.squares).enumerate() {
        let row = row.as_slice_mut().expect("a row of a tile is contiguous");
        for ((to, &entry), &z) in exponents.iter_mut().zip(&*row).zip(b.squares) {
            // Rounding can leave a distance between near-equal points below 0.
            *to = scale * (x + z + entry).max(0.0);
        }
        if rounding > ROUNDED {
            // Few are neighbours then, and theirs are differences of large numbers.
            for (to, z) in exponents.iter_mut().zip(b.points.rows()) {
                if *to > UNDERFLOW - 8.0 * rounding {
                    *to = scale * distance::squared(a.points.row(i), z);
                }
            }
        }
        exp(exponents, row);
    }
}

fn fill_matern(
    mut tile: ArrayViewMut2<'_, f64>,
    a: &Rows<'_>,
    b: &Rows<'_>,
    std: f64,
    smoothness: Smoothness,
) {
    product(-2.0, a.points, b.points.t(), 0.0, tile.view_mut());
    let stretch = smoothness.stretch() * std;
    let mut exponents = [0.0; TILE];
    let exponents = &mut exponents[..tile.ncols()];
    for (i, (mut row, &x)) in tile.rows_mut().into_iter().zip(a.squares).enumerate() {
        let others = b.squares.iter().zip(b.points.rows());
        for ((to, &entry), (&z, point)) in exponents.iter_mut().zip(&row).zip(others) {
            let mut squared = x + z + entry;
            if squared < distance::CANCELLED * (x + z) {
                // The root of what rounding leaves would be a distance.
                squared = distance::squared(a.points.row(i), point);
            }
            *to = -stretch * squared.sqrt();
        }
        let row = row.as_slice_mut().expect("a row of a tile is contiguous");
        exp(exponents, row);
        for (value, u) in row.iter_mut().zip(exponents.iter()) {
            *value *= smoothness.factor(-u);
        }
    }
}

/// The functions `k(·, z_j)` of fixed points `z_j`: see [`Kernel::sections`].
///
/// ```
/// use mercer_kernels::Kernel;
/// use ndarray::{array, s};
/// let (training, test) = (array![[0.0], [1.0], [3.0]], array![[0.5], [2.0]]);
/// let kernel = Kernel::Gaussian { std: 1.0 };
/// let sections = kernel.sections(training.view());
/// assert_eq!((sections.len(), sections.features()), (3, 1));
/// let values = sections.at(test.view());
/// assert_eq!(values, kernel.cross_gram(test.view(), training.view()));
/// // A point's values do not depend on its company.
/// assert_eq!(values.slice(s![1.., ..]), sections.at(test.slice(s![1.., ..])));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sections {
    kernel: Kernel,
    /// Taken from the `z_j` alone, so that an entry does not depend on the other points it is
    /// evaluated with.
    centre: Option<Array1<f64>>,
    points: Stored,
}

/// Points of which all numbers are held, or those that are not 0.
#[derive(Debug, Clone, PartialEq)]
enum Stored {
    Dense(Points),
    Sparse(SparsePoints),
}

impl Sections {
    /// Puts together what [`Sections::kernel`], [`Sections::centre`] and [`Sections::points`] give.
    ///
    /// ```
    /// use mercer_kernels::{Kernel, Sections};
    /// use ndarray::array;
    /// let sections = Kernel::Gaussian { std: 0.3 }.sections(array![[0.1, 2.0], [1.0, 7.0]].view());
    /// let centre = sections.centre().map(|centre| centre.to_owned());
    /// let points = sections.points().to_owned();
    /// assert_eq!(Sections::from_parts(sections.kernel(), centre, points)?, sections);
    /// # Ok::<(), mercer_kernels::KernelError>(())
    /// ```
    ///
    /// # Errors
    /// [`KernelError::Parts`] if the kernel's parameters are out of range, or a centre is there
    /// where the kernel has none, or not where it has one, or not of the points' dimension.
    pub fn from_parts(
        kernel: Kernel,
        centre: Option<Array1<f64>>,
        points: impl Into<Matrix>,
    ) -> Result<Self, KernelError> {
        let points = points.into();
        let (sound, centred) = match kernel {
            Kernel::Gaussian { std } | Kernel::Matern { std, .. } => {
                (std >= 0.0 && std.is_finite(), true)
            }
            Kernel::Linear => (true, false),
            Kernel::Polynomial { degree, offset, std } => {
                (degree >= 1 && offset >= 0.0 && offset.is_finite() && std.is_finite(), false)
            }
            Kernel::Precomputed { columns } => {
                let known =
                    |number: &f64| number.fract() == 0.0 && (0.0..columns as f64).contains(number);
                let Matrix::Dense(points) = &points else {
                    return Err(KernelError::Parts("the rows of a matrix are dense"));
                };
                (points.ncols() == 1 && points.iter().all(known), false)
            }
        };
        if !sound {
            return Err(KernelError::Parts("the kernel's parameters are out of range"));
        }
        // Points that are mostly 0 would not be that around another centre.
        let centred = centred && matches!(points, Matrix::Dense(_));
        if centre.as_ref().map(Array1::len) != centred.then_some(points.dim().1) {
            return Err(KernelError::Parts("the centre does not belong to the points"));
        }
        let points = match points {
            Matrix::Dense(points) => Stored::Dense(Points::centred(points)),
            Matrix::Sparse(points) => Stored::Sparse(SparsePoints::of(points)),
        };
        Ok(Self { kernel, centre, points })
    }

    /// Returns the kernel.
    pub const fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Returns the point (`d`), if any, subtracted from every point. The kernel is evaluated after that.
    pub fn centre(&self) -> Option<ArrayView1<'_, f64>> {
        self.centre.as_ref().map(Array1::view)
    }

    /// Returns the points `z_j` minus the centre, `n × d`.
    pub fn points(&self) -> MatrixView<'_> {
        match &self.points {
            Stored::Dense(points) => points.centred.view().into(),
            Stored::Sparse(points) => points.rows().into(),
        }
    }

    /// Computes `k(x, z)` between all rows of `inputs` (`m × d`): `m × m`. It is the same kernel around the same
    /// centre.
    ///
    /// ```
    /// use mercer_kernels::Kernel;
    /// use ndarray::array;
    /// let kernel = Kernel::Polynomial { degree: 2, offset: 1.0, std: 1.0 };
    /// let sections = kernel.sections(array![[1.0], [2.0]].view());
    /// assert_eq!(sections.gram(array![[1.0], [3.0]].view()), array![[4.0, 16.0], [16.0, 100.0]]);
    /// assert_eq!(sections.mean_diagonal(array![[1.0], [3.0]].view()), Some(52.0));
    /// ```
    pub fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        match &self.centre {
            Some(centre) => self.kernel.gram((&inputs - centre).view()),
            None => self.kernel.gram(inputs),
        }
    }

    /// Returns the mean `k(x, x)` over the rows of `inputs`; none of no rows.
    pub fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
        let kernel = self.kernel;
        let own = |x: ArrayView1<'_, f64>| kernel.of(x, x);
        let sum: f64 = match &self.centre {
            Some(centre) => inputs.rows().into_iter().map(|x| own((&x - centre).view())).sum(),
            None => inputs.rows().into_iter().map(own).sum(),
        };
        (inputs.nrows() > 0).then(|| sum / inputs.nrows() as f64)
    }

    /// Returns the number of functions `n`.
    pub fn len(&self) -> usize {
        self.points().dim().0
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dimension `d` of the points.
    pub fn features(&self) -> usize {
        match self.kernel {
            Kernel::Precomputed { columns } => columns,
            _ => self.points().dim().1,
        }
    }
}

/// Rounding of an exponent, `s² ε ‖x‖²`, above which the exponents of neighbours are computed from differences: a row
/// at distance 0 must have the value 1 for any `s`.
const ROUNDED: f64 = 1e-9;
/// The exponential of less is 0.
const UNDERFLOW: f64 = -746.0;

/// Points ready for tiles: centred, with their squared norms.
#[derive(Debug, Clone, PartialEq)]
struct Points {
    centred: Array2<f64>,
    squares: Vec<f64>,
    /// Of the points of each tile.
    norms: Vec<Norms>,
}

/// What a tile asks of all its squared norms.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Norms {
    largest: f64,
    near: bool,
}

impl Norms {
    fn of(squares: &[f64]) -> Self {
        let largest = squares.iter().fold(0.0, |a: f64, &b| a.max(b));
        Self { largest, near: distance::near(squares) }
    }
}

struct Rows<'a> {
    points: ArrayView2<'a, f64>,
    squares: &'a [f64],
    norms: Norms,
}

impl Points {
    fn of(inputs: ArrayView2<'_, f64>, centre: Option<&Array1<f64>>) -> Self {
        let mut points = inputs.as_standard_layout().into_owned();
        if let Some(centre) = centre {
            points -= centre;
        }
        Self::centred(points)
    }

    fn centred(points: Array2<f64>) -> Self {
        let points = if points.is_standard_layout() {
            points
        } else {
            points.as_standard_layout().into_owned()
        };
        let squares: Vec<f64> = points.rows().into_iter().map(|x| x.dot(&x)).collect();
        let norms = squares.chunks(TILE).map(Norms::of).collect();
        Self { centred: points, squares, norms }
    }

    /// The points of a tile.
    fn rows(&self, start: usize, end: usize) -> Rows<'_> {
        debug_assert!(start.is_multiple_of(TILE) && end <= start + TILE);
        Rows {
            points: self.centred.slice(s![start..end, ..]),
            squares: &self.squares[start..end],
            norms: self.norms[start / TILE],
        }
    }
}

#[cfg(test)]
mod tests;
