use crate::{Kernel, Sections};
use mercer_linalg::{Iterated, LinalgError, Nystrom, SymmetricOperator, conjugate_gradients};
use ndarray::{Array2, ArrayView2, Axis, s};

/// Rows of a tile: 1024 × 1024 kernel values take 8 MiB a thread.
const TILE: usize = 1024;

/// `K + t I` of a Gaussian kernel that is never stored: its tiles are computed anew for each product.
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
    /// `exp(−s² ‖x − z‖²/2)` of the rows of `inputs` (`n × d`), plus `ridge` on the diagonal.
    pub fn new(inputs: ArrayView2<'a, f64>, std: f64, ridge: f64, threads: usize) -> Self {
        let kernel = Kernel::Gaussian { std };
        let tiles =
            inputs.axis_chunks_iter(Axis(0), TILE).map(|rows| kernel.sections(rows)).collect();
        Self { inputs, tiles, ridge, threads: threads.max(1) }
    }

    /// One thread's share of `K X`: every `threads`-th tile.
    fn share(&self, x: ArrayView2<'_, f64>, thread: usize) -> Array2<f64> {
        let (n, mut image) = (x.nrows(), Array2::zeros(x.dim()));
        let count = self.tiles.len();
        let pairs = (0..count).flat_map(|i| (i..count).map(move |j| (i, j)));
        for (i, j) in pairs.skip(thread).step_by(self.threads) {
            let rows = i * TILE..((i + 1) * TILE).min(n);
            let columns = j * TILE..((j + 1) * TILE).min(n);
            let tile = self.tiles[j].at(self.inputs.slice(s![rows.clone(), ..]));
            let mut add = |to: std::ops::Range<usize>, tile: ArrayView2<'_, f64>, from| {
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
        let mut image = if self.threads == 1 {
            self.share(x, 0)
        } else {
            std::thread::scope(|scope| {
                let others: Vec<_> = (1..self.threads)
                    .map(|thread| scope.spawn(move || self.share(x, thread)))
                    .collect();
                let mut image = self.share(x, 0);
                for other in others {
                    match other.join() {
                        Ok(share) => image += &share,
                        Err(panic) => std::panic::resume_unwind(panic),
                    }
                }
                image
            })
        };
        image.scaled_add(self.ridge, &x);
        image
    }
}

/// `(K + t I) α = B` with a Gaussian kernel matrix too large to store.
///
/// Conjugate gradients on a [`GaussianOperator`], preconditioned by Nyström's approximation of `K`
/// from some of its columns. Memory is some `3 n (d + l)` numbers for `l` columns.
///
/// ```
/// use mercer_kernels::GaussianSystem;
/// use ndarray::array;
/// let inputs = array![[0.0], [0.5], [2.0]];
/// let system = GaussianSystem { inputs: inputs.view(), std: 1.0, ridge: 0.1, threads: 1 };
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
    /// Threads of a product.
    pub threads: usize,
}

impl<'a> GaussianSystem<'a> {
    /// `K + t I`.
    pub fn operator(&self) -> GaussianOperator<'a> {
        GaussianOperator::new(self.inputs, self.std, self.ridge, self.threads)
    }

    /// Bytes that [`GaussianSystem::solve`] holds at once for `landmarks` columns and `outputs`
    /// right-hand sides.
    pub fn bytes(&self, landmarks: usize, outputs: usize) -> u64 {
        let (n, d) = self.inputs.dim();
        let threads = self.threads.max(1);
        let numbers = 3 * n * (d + landmarks) + (11 + threads) * n * outputs;
        8 * (numbers + threads * TILE * TILE) as u64
    }

    /// `α` for the right-hand sides in the columns of `right` (`n × r`); `core` are the rows whose
    /// columns of `K` make the preconditioner. See [`conjugate_gradients`] for `tolerance`, the
    /// most iterations and `watch`.
    ///
    /// # Errors
    /// As [`Nystrom::new`] and [`conjugate_gradients`], and what `watch` says.
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
        conjugate_gradients(
            &operator,
            right,
            |r| nystrom.apply(r),
            tolerance,
            most_iterations,
            watch,
        )
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
        let system = GaussianSystem { inputs: inputs.view(), std: 0.8, ridge: 0.05, threads: 2 };
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
