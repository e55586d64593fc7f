use crate::{Kernel, Sections};
use mercer_linalg::{
    Iterated, LinalgError, Nystrom, SymmetricOperator, conjugate_gradients, in_order,
    refined_gradients,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use std::ops::Range;

/// Rows of a tile: 1024 × 1024 kernel values take 8 MiB a thread.
const TILE: usize = 1024;

/// `K + t I` of a Gaussian kernel that is never stored. Its tiles are computed anew for each product.
///
/// Only tiles on and above the diagonal are computed, `n² d` flops a product, and dealt out to the
/// threads. Memory is `n d` numbers, `n r` a thread, and a tile a thread. The sums depend, in their
/// last digits, on the number of threads.
///
/// ```
/// use mercer_kernels::GaussianOperator;
/// use mercer_linalg::SymmetricOperator;
/// use ndarray::array;
/// let inputs = array![[0.0], [0.5], [2.0]];
/// let operator = GaussianOperator::new(inputs.view(), 1.0, 0.1, 2);
/// let image = operator.apply(array![[1.0], [0.0], [0.0]].view());
/// assert!((image[[0, 0]] - 1.1).abs() < 1e-12 && (image[[1, 0]] - (-0.125f64).exp()).abs() < 1e-12);
/// ```
#[derive(Debug, Clone)]
pub struct GaussianOperator<'a> {
    inputs: ArrayView2<'a, f64>,
    tiles: Vec<Sections>,
    ridge: f64,
    threads: usize,
}

impl<'a> GaussianOperator<'a> {
    /// Returns `exp(−s² ‖x − z‖²/2)` of the rows of `inputs` (`n × d`), plus `ridge` on the diagonal.
    pub fn new(inputs: ArrayView2<'a, f64>, std: f64, ridge: f64, threads: usize) -> Self {
        let kernel = Kernel::Gaussian { std };
        let tiles =
            inputs.axis_chunks_iter(Axis(0), TILE).map(|rows| kernel.sections(rows)).collect();
        Self { inputs, tiles, ridge, threads: threads.max(1) }
    }

    /// Stores the tiles of this matrix in single precision, in some `2 n²` bytes. It asks `check` after every row of
    /// tiles whether to go on.
    ///
    /// ```
    /// use mercer_kernels::GaussianOperator;
    /// use mercer_linalg::{LinalgError, SymmetricOperator};
    /// use ndarray::array;
    /// let inputs = array![[0.0], [0.5], [2.0]];
    /// let operator = GaussianOperator::new(inputs.view(), 1.0, 0.1, 2);
    /// let stored = operator.stored(|| Ok::<(), LinalgError>(()))?;
    /// let x = array![[1.0], [2.0], [3.0]];
    /// let gap = stored.apply(x.view()) - operator.apply(x.view());
    /// assert!(gap.iter().all(|gap| gap.abs() < 1e-6)); // the digits of single precision
    /// # Ok::<(), LinalgError>(())
    /// ```
    ///
    /// # Errors
    /// What `check` says.
    pub fn stored<E>(&self, mut check: impl FnMut() -> Result<(), E>) -> Result<StoredGaussian, E> {
        let (n, count) = (self.inputs.nrows(), self.tiles.len());
        let mut tiles = Vec::with_capacity(count * (count + 1) / 2);
        for i in 0..count {
            tiles.extend(in_order(self.threads, count - i, |j| {
                self.tile(i, i + j).mapv(|entry| entry as f32)
            }));
            check()?;
        }
        Ok(StoredGaussian { size: n, tiles, ridge: self.ridge, threads: self.threads })
    }

    /// The kernel values of tile `i` of rows and tile `j` of columns.
    fn tile(&self, i: usize, j: usize) -> Array2<f64> {
        self.tiles[j].at(self.inputs.slice(s![tile(i, self.inputs.nrows()), ..]))
    }

    /// One thread's share of `K X`: every `threads`-th tile.
    fn share(&self, x: ArrayView2<'_, f64>, thread: usize) -> Array2<f64> {
        let (n, mut image) = (x.nrows(), Array2::zeros(x.dim()));
        for (i, j) in upper(self.tiles.len()).skip(thread).step_by(self.threads) {
            let (rows, columns) = (tile(i, n), tile(j, n));
            let tile = self.tile(i, j);
            let mut add = |to: Range<usize>, tile: ArrayView2<'_, f64>, from: Range<usize>| {
                let target = image.slice_mut(s![to, ..]);
                mercer_linalg::product(1.0, tile, x.slice(s![from, ..]), 1.0, target);
            };
            add(rows.clone(), tile.view(), columns.clone());
            if i != j {
                add(columns, tile.t(), rows);
            }
        }
        image
    }
}

impl SymmetricOperator for GaussianOperator<'_> {
    fn size(&self) -> usize {
        self.inputs.nrows()
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut image = of_threads(self.threads, |thread| self.share(x, thread));
        image.scaled_add(self.ridge, &x);
        image
    }
}

/// Rows of tile `i` of a matrix of `n`.
fn tile(i: usize, n: usize) -> Range<usize> {
    i * TILE..((i + 1) * TILE).min(n)
}

/// The tiles on and above the diagonal, row by row.
fn upper(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i..count).map(move |j| (i, j)))
}

/// The sum of the shares of so many threads, in their order.
fn of_threads(threads: usize, share: impl Fn(usize) -> Array2<f64> + Sync) -> Array2<f64> {
    let mut shares = in_order(threads, threads, share).into_iter();
    let mut image = shares.next().expect("at least one thread");
    shares.for_each(|share| image += &share);
    image
}

/// `K + t I` of a Gaussian kernel, its upper half of `K` stored in single precision. A product reads some `2 n²` bytes,
/// where [`GaussianOperator`] computes `n² d/2` multiply-adds and as many exponentials.
///
/// An entry is off by 2⁻²⁵ of itself at most, and so is each product with an entry, so that it serves as the cheap
/// operator of [`refined_gradients`]. Sums within a tile are in single precision, sums of tiles in double.
///
/// ```
/// use mercer_kernels::GaussianOperator;
/// use mercer_linalg::SymmetricOperator;
/// use ndarray::Array2;
/// let inputs = Array2::from_shape_fn((1500, 2), |(i, j)| ((i * (j + 2)) as f64).sin());
/// let stored = GaussianOperator::new(inputs.view(), 1.0, 0.5, 1).stored(|| Ok::<(), ()>(())).unwrap();
/// assert_eq!((stored.size(), stored.bytes()), (1500, 4 * (1024 * 1024 + 1024 * 476 + 476 * 476)));
/// ```
#[derive(Debug, Clone)]
pub struct StoredGaussian {
    size: usize,
    /// Row by row, those on and above the diagonal.
    tiles: Vec<Array2<f32>>,
    ridge: f64,
    threads: usize,
}

impl StoredGaussian {
    /// Returns the number of bytes of the tiles.
    pub fn bytes(&self) -> u64 {
        self.tiles.iter().map(|tile| 4 * tile.len() as u64).sum()
    }

    fn share(&self, x: ArrayView2<'_, f32>, thread: usize) -> Array2<f64> {
        let (n, mut image) = (self.size, Array2::zeros(x.dim()));
        let places = upper(n.div_ceil(TILE)).zip(&self.tiles);
        for ((i, j), values) in places.skip(thread).step_by(self.threads) {
            let (rows, columns) = (tile(i, n), tile(j, n));
            let mut add = |to: Range<usize>, values: ArrayView2<'_, f32>, from: Range<usize>| {
                let mut part = Array2::zeros((to.len(), x.ncols()));
                let x = x.slice(s![from, ..]);
                mercer_linalg::product(1.0, values, x, 0.0, part.view_mut());
                image
                    .slice_mut(s![to, ..])
                    .zip_mut_with(&part, |sum, &part| *sum += f64::from(part));
            };
            add(rows.clone(), values.view(), columns.clone());
            if i != j {
                add(columns, values.t(), rows);
            }
        }
        image
    }
}

impl SymmetricOperator for StoredGaussian {
    fn size(&self) -> usize {
        self.size
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        // What is small in double precision need not be in single: each column by its largest entry.
        let scales: Array1<f64> = x
            .columns()
            .into_iter()
            .map(|column| column.fold(0.0, |most: f64, entry| most.max(entry.abs())))
            .map(|most| if most > 0.0 { most } else { 1.0 })
            .collect();
        let narrow = (&x / &scales).mapv(|entry| entry as f32);
        let mut image = of_threads(self.threads, |thread| self.share(narrow.view(), thread));
        image *= &scales;
        image.scaled_add(self.ridge, &x);
        image
    }
}

/// `(K + t I) α = B` with a Gaussian kernel matrix too large to store.
///
/// Conjugate gradients on a [`GaussianOperator`], preconditioned by Nyström's approximation of `K` from some of its
/// columns. Memory is some `3 n (d + l)` numbers for `l` columns. Where it may be `stored`, the products are with a
/// [`StoredGaussian`] of `2 n²` bytes beside. The computed matrix judges what they reach, once a round
/// ([`refined_gradients`]): it is assembled a few times and not once an iteration.
///
/// ```
/// use mercer_kernels::GaussianSystem;
/// use ndarray::array;
/// let inputs = array![[0.0], [0.5], [2.0]];
/// let system = GaussianSystem { inputs: inputs.view(), std: 1.0, ridge: 0.1, stored: true, threads: 1 };
/// let right = array![[1.0], [0.0], [-1.0]];
/// let solved = system.solve(right.view(), &[0, 2], 1e-10, 20, |_, _| {
///     Ok::<(), mercer_linalg::LinalgError>(())
/// })?;
/// assert!(solved.converged && solved.residual <= 1e-10);
/// # Ok::<(), mercer_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct GaussianSystem<'a> {
    /// The points, one a row (`n × d`).
    pub inputs: ArrayView2<'a, f64>,
    /// `s` of `exp(−s² ‖x − z‖²/2)`, in 1/input unit.
    pub std: f64,
    /// `t ≥ 0`.
    pub ridge: f64,
    /// Whether the matrix is stored in single precision for the iterations.
    pub stored: bool,
    /// Threads of a product.
    pub threads: usize,
}

impl<'a> GaussianSystem<'a> {
    /// Rows up to which methods store the matrix by default: 3.3 GB.
    pub const STORED_ROWS: usize = 40_000;

    /// Stores the matrix if it is small enough, else computes it for each product. To be stored it must have at most so
    /// many rows, and `reserve` must grant the bytes.
    ///
    /// ```
    /// use mercer_kernels::GaussianSystem;
    /// use ndarray::Array2;
    /// let inputs = Array2::zeros((5, 1));
    /// let system = GaussianSystem { inputs: inputs.view(), std: 1.0, ridge: 0.1, stored: false, threads: 1 };
    /// let room = |most: u64| move |bytes: u64| if bytes <= most { Ok(()) } else { Err("no room") };
    /// assert!(system.within(5, 2, 1, room(1 << 30))?.stored);
    /// assert!(!system.within(4, 2, 1, room(1 << 30))?.stored);
    /// assert!(!system.within(5, 2, 1, room(system.bytes(2, 1)))?.stored);
    /// assert_eq!(system.within(5, 2, 1, room(1000)).map(|_| ()), Err("no room"));
    /// # Ok::<(), &str>(())
    /// ```
    ///
    /// # Errors
    /// What `reserve` says of the bytes that a computed matrix takes.
    pub fn within<E>(
        self,
        rows: usize,
        landmarks: usize,
        outputs: usize,
        reserve: impl Fn(u64) -> Result<(), E>,
    ) -> Result<Self, E> {
        let stored = Self { stored: true, ..self };
        if self.inputs.nrows() <= rows && reserve(stored.bytes(landmarks, outputs)).is_ok() {
            return Ok(stored);
        }
        let computed = Self { stored: false, ..self };
        reserve(computed.bytes(landmarks, outputs))?;
        Ok(computed)
    }

    /// Returns `K + t I`.
    pub fn operator(&self) -> GaussianOperator<'a> {
        GaussianOperator::new(self.inputs, self.std, self.ridge, self.threads)
    }

    /// Bytes that [`GaussianSystem::solve`] holds at once for `landmarks` columns and `outputs`
    /// right-hand sides.
    pub fn bytes(&self, landmarks: usize, outputs: usize) -> u64 {
        let (n, d) = self.inputs.dim();
        let threads = self.threads.max(1);
        let numbers = 3 * n * (d + landmarks) + (11 + threads) * n * outputs;
        let tiles = n.div_ceil(TILE);
        let stored = if self.stored { TILE * TILE * tiles * (tiles + 1) / 2 } else { 0 };
        8 * (numbers + threads * TILE * TILE) as u64 + 4 * stored as u64
    }

    /// Solves for `α`, with the right-hand sides in the columns of `right` (`n × r`). `core` are the rows whose columns
    /// of `K` make the preconditioner. See [`conjugate_gradients`] for `tolerance`, the most iterations and `watch`.
    ///
    /// # Errors
    /// As [`Nystrom::new`], [`conjugate_gradients`] and [`refined_gradients`], and what `watch` says.
    pub fn solve<E: From<LinalgError>>(
        &self,
        right: ArrayView2<'_, f64>,
        core: &[usize],
        tolerance: f64,
        most_iterations: usize,
        mut watch: impl FnMut(usize, f64) -> Result<(), E>,
    ) -> Result<Iterated, E> {
        let chosen = self.inputs.select(Axis(0), core);
        let columns = Kernel::Gaussian { std: self.std }.cross_gram(self.inputs, chosen.view());
        // The columns may have taken minutes.
        watch(0, 1.0)?;
        let nystrom = Nystrom::new(columns.view(), core, self.ridge)?;
        drop(columns);
        let operator = self.operator();
        let precondition = |r: ArrayView2<'_, f64>| nystrom.apply(r);
        if !self.stored {
            let most = most_iterations;
            return conjugate_gradients(&operator, right, precondition, tolerance, most, watch);
        }
        let stored = operator.stored(|| watch(0, 1.0))?;
        let most = most_iterations;
        refined_gradients(&operator, &stored, right, precondition, tolerance, most, watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    #[test]
    fn a_system_is_solved_as_a_stored_matrix_is_and_stops_when_told() {
        let inputs = Array2::from_shape_fn((150, 3), |(i, j)| ((i * (2 * j + 3)) as f64).sin());
        let right = Array2::from_shape_fn((150, 2), |(i, j)| ((i + 5 * j) as f64 * 0.7).cos());
        let system = GaussianSystem {
            inputs: inputs.view(),
            std: 0.8,
            ridge: 0.05,
            stored: false,
            threads: 2,
        };
        let core: Vec<usize> = (0..30).map(|i| 5 * i).collect();
        let solved = system.solve(right.view(), &core, 1e-12, 200, |_, _| Ok::<_, LinalgError>(()));
        let solved = solved.unwrap();
        assert!(solved.converged && solved.residual <= 1e-12, "{}", solved.residual);
        let mut gram = Kernel::Gaussian { std: 0.8 }.gram(inputs.view());
        gram.diag_mut().mapv_inplace(|entry| entry + 0.05);
        let exact = mercer_linalg::Cholesky::factor(gram).unwrap().solve(&right).unwrap();
        // The residual times the condition number, some thousand.
        assert_abs_diff_eq!(solved.x, exact, epsilon = 1e-8);
        let stopped = system.solve(right.view(), &core, 1e-12, 200, |iterations, _| {
            let stop = LinalgError::NotFinite { operation: "a test" };
            if iterations < 2 { Ok(()) } else { Err(stop) }
        });
        assert!(matches!(stopped, Err(LinalgError::NotFinite { operation: "a test" })));
    }

    /// The stored matrix has half of the digits, and the solution all of them.
    #[test]
    fn a_stored_matrix_gives_the_solution_of_the_computed_one() {
        let wave = |i: usize, j: usize| ((i * (2 * j + 3)) as f64 * 0.37).sin();
        // Two tiles and a bit.
        let n = 2 * TILE + 40;
        let inputs = Array2::from_shape_fn((n, 3), |(i, j)| wave(i, j));
        // Columns of very different size, and one of zeros.
        let right = Array2::from_shape_fn((n, 3), |(i, j)| wave(i + 7, j) * [1.0, 1e-60, 0.0][j]);
        let core: Vec<usize> = (0..100).map(|i| 20 * i).collect();
        let solve = |stored, threads| {
            let system =
                GaussianSystem { inputs: inputs.view(), std: 0.8, ridge: 0.5, stored, threads };
            system.solve(right.view(), &core, 1e-11, 200, |_, _| Ok::<_, LinalgError>(())).unwrap()
        };
        let computed = solve(false, 1);
        for threads in [1, 2] {
            let stored = solve(true, threads);
            assert!(stored.converged && stored.residual <= 1e-11, "{}", stored.residual);
            let gap = &stored.x - &computed.x;
            for (gap, whole) in gap.columns().into_iter().zip(computed.x.columns()) {
                assert!(gap.dot(&gap) <= 1e-18 * whole.dot(&whole), "{threads} threads");
            }
            let operator = GaussianOperator::new(inputs.view(), 0.8, 0.5, threads);
            let kept = operator.stored(|| Ok::<_, LinalgError>(())).unwrap();
            let apart = kept.apply(right.view()) - operator.apply(right.view());
            let images = operator.apply(right.view());
            for (apart, image) in apart.columns().into_iter().zip(images.columns()) {
                // The digits of single precision of sums over a tile.
                assert!(apart.dot(&apart) <= 1e-12 * image.dot(&image), "{threads} threads");
            }
        }
        let operator = GaussianOperator::new(inputs.view(), 0.8, 0.5, 1);
        let stop = LinalgError::NotFinite { operation: "a test" };
        assert_eq!(operator.stored(|| Err(stop.clone())).map(|kept| kept.bytes()), Err(stop));
        let with = |stored| GaussianSystem {
            inputs: inputs.view(),
            std: 0.8,
            ridge: 0.5,
            stored,
            threads: 1,
        };
        let kept = operator.stored(|| Ok::<_, LinalgError>(())).unwrap();
        assert!(with(true).bytes(100, 3) - with(false).bytes(100, 3) >= kept.bytes());
    }

    #[test]
    fn it_is_the_gram_matrix_for_any_number_of_threads() {
        let wave = |i: usize, j: usize| ((i * (2 * j + 3)) as f64 * 0.37).sin();
        // One tile, and two tiles and a bit.
        for n in [5, 2 * TILE + 40] {
            let inputs = Array2::from_shape_fn((n, 3), |(i, j)| wave(i, j));
            let x = Array2::from_shape_fn((n, 2), |(i, j)| wave(i + 7, j));
            let gram = Kernel::Gaussian { std: 0.8 }.gram(inputs.view());
            let expected = gram.dot(&x) + 0.3 * &x;
            for threads in [1, 2, 3] {
                let operator = GaussianOperator::new(inputs.view(), 0.8, 0.3, threads);
                assert_eq!(operator.size(), n);
                assert_abs_diff_eq!(operator.apply(x.view()), expected, epsilon = 1e-9);
            }
        }
    }
}
