use super::products::triangle;
use super::{GaussianHyper, Pairs};
use mercer_linalg::SymmetricOperator;
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// The operator `W^½ H W^½` over **all** unordered pairs of `m` points. `H` is of a Gaussian hyper-kernel and `W` the
/// weights of the pairs. It is known by its products only: `O(m²)` memory for a matrix of `m⁴/4` entries.
///
/// By the product form of [`GaussianHyper`], with `w_q = u_i o u_j` and `c = γ o β`,
/// ```text
/// (H γ)_(k,l) = β_kl Σ_q c_q w_q(k) w_q(l),          so  H γ = β o (Wᵀ diag(c) W)   on and above the diagonal
/// ```
/// a symmetric matrix product of `m⁴/2` flops without an exponential; exact, but for rounding.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel, PairOperator, Pairs};
/// use mercer_linalg::SymmetricOperator;
/// use ndarray::{array, Axis};
/// let kernel = GaussianHyper::constructed(0.5, 0.25)?;
/// let points = array![[0.0], [0.4], [1.0]];
/// let operator = PairOperator::new(&kernel, points.view(), 1);
/// let dense = HyperKernel::Gaussian(kernel).gram(points.view(), &Pairs::all(3), 1);
/// let image = operator.apply(array![[1.0], [0.0], [0.0], [0.0], [0.0], [0.0]].view());
/// assert!((image[[1, 0]] - 2f64.sqrt() * dense[[1, 0]]).abs() < 1e-15);
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PairOperator {
    pairs: Pairs,
    /// `u`, `m × m`.
    factors: Array2<f64>,
    /// `√w_q β_q`.
    scales: Array1<f64>,
    threads: usize,
}

impl PairOperator {
    /// Over all pairs of the rows of `points` (`m × d`).
    pub fn new(kernel: &GaussianHyper, points: ArrayView2<'_, f64>, threads: usize) -> Self {
        let pairs = Pairs::all(points.nrows());
        let beta = kernel.pair_kernel().gram(points);
        let all = pairs.as_slice().iter().zip(pairs.weights());
        let scales = all.map(|(&(i, j), weight)| weight.sqrt() * beta[[i, j]]).collect();
        Self { factors: kernel.point_factors(points, points), scales, pairs, threads }
    }

    /// Returns the pairs, in the order of the operator's rows.
    pub const fn pairs(&self) -> &Pairs {
        &self.pairs
    }
}

impl SymmetricOperator for PairOperator {
    fn size(&self) -> usize {
        self.pairs.len()
    }

    fn apply(&self, x: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut image = Array2::zeros(x.dim());
        for (x, mut image) in x.axis_iter(Axis(1)).zip(image.axis_iter_mut(Axis(1))) {
            let c: Vec<f64> = x.iter().zip(&self.scales).map(|(x, scale)| x * scale).collect();
            let sums = triangle(self.factors.view(), self.pairs.as_slice(), &c, self.threads);
            let entries = self.pairs.as_slice().iter().zip(&self.scales);
            for (to, (&(k, l), scale)) in image.iter_mut().zip(entries) {
                *to = scale * sums[[k, l]];
            }
        }
        image
    }
}
