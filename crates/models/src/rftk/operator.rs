use mercer_kernels::{Kernel, Sections};
use mercer_linalg::SymmetricOperator;
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
/// use mercer_linalg::{SymmetricOperator, conjugate_gradients};
/// use mercer_models::rftk::GaussianOperator;
/// use ndarray::array;
/// let inputs = array![[0.0], [0.5], [2.0]];
/// let operator = GaussianOperator::new(inputs.view(), 1.0, 0.1, 2);
/// let image = operator.apply(array![[1.0], [0.0], [0.0]].view());
/// assert!((image[[0, 0]] - 1.1).abs() < 1e-12 && (image[[1, 0]] - (-0.125f64).exp()).abs() < 1e-12);
/// # Ok::<(), mercer_linalg::LinalgError>(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

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
