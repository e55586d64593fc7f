use super::products::{block, triangle};
use super::{GaussianHyper, HyperKernel, Pairs};
use crate::KernelError;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

/// A kernel of two points that was learned: `k(x, x') = Σ_q γ_q h(q, (x, x')) + bias`.
///
/// Symmetric, and not positive definite in general. It is evaluated on blocks of points. For a Gaussian hyper-kernel
/// `k(x, x') = β(x, x') Σ_q γ_q β_q w_q(x) w_q(x')` with `w_q(x) = u(x, z) u(x, z')` (see [`GaussianHyper`]), a matrix
/// product of `2P` flops a value. For a Wishart hyper-kernel it is evaluated tile by tile of hyper-kernel values.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel, Pairs};
/// use ndarray::array;
/// let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let points = array![[0.0], [1.0]];
/// let k = LearnedKernel::new(hyper.clone(), points.view(), &Pairs::all(2), &array![1.0, 0.0, 0.0])?;
/// let value = k.block(array![[0.2]].view(), array![[0.7]].view(), 1)[[0, 0]];
/// let pair = |a: f64, b: f64| (array![a], array![b]);
/// let ((x, z), (p, q)) = (pair(0.0, 0.0), pair(0.2, 0.7));
/// assert!((value - hyper.of((x.view(), z.view()), (p.view(), q.view()))).abs() < 1e-15);
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedKernel {
    kernel: HyperKernel,
    points: Array2<f64>,
    pairs: Pairs,
    coefficients: Array1<f64>,
    bias: f64,
}

impl LearnedKernel {
    /// Builds the expansion in `pairs` of the rows of `points` (`M × d`). It has one coefficient a pair. Pairs with
    /// coefficient 0 are dropped, and so are points without pairs.
    ///
    /// # Errors
    /// [`KernelError::Shape`] if the numbers of pairs and coefficients differ;
    /// [`KernelError::NotFinite`] if a coefficient is not finite.
    ///
    /// # Panics
    /// If a pair names a row that is not there.
    pub fn new(
        kernel: HyperKernel,
        points: ArrayView2<'_, f64>,
        pairs: &Pairs,
        coefficients: &Array1<f64>,
    ) -> Result<Self, KernelError> {
        let (expected, found) = (pairs.len(), coefficients.len());
        if expected != found {
            return Err(KernelError::Shape { what: "the coefficients", expected, found });
        }
        if let Some((pair, &value)) = coefficients.iter().enumerate().find(|(_, c)| !c.is_finite())
        {
            return Err(KernelError::NotFinite {
                what: "the coefficient of a pair",
                at: pair,
                value,
            });
        }
        let kept = || pairs.as_slice().iter().zip(coefficients).filter(|(_, c)| **c != 0.0);
        let mut place = vec![usize::MAX; points.nrows()];
        let mut rows = Vec::new();
        for (&(i, j), _) in kept() {
            for row in [i, j] {
                if place[row] == usize::MAX {
                    place[row] = rows.len();
                    rows.push(row);
                }
            }
        }
        Ok(Self {
            kernel,
            points: points.select(ndarray::Axis(0), &rows),
            pairs: Pairs::new(kept().map(|(&(i, j), _)| (place[i], place[j]))),
            coefficients: kept().map(|(_, &coefficient)| coefficient).collect(),
            bias: 0.0,
        })
    }

    /// Adds a constant to this kernel. (It changes no SVM that has a bias of its own.)
    #[must_use]
    pub const fn with_bias(mut self, bias: f64) -> Self {
        self.bias = bias;
        self
    }

    /// Returns the mean of learned kernels as functions: what divide and conquer returns.
    ///
    /// # Errors
    /// [`KernelError::Shape`] without a kernel, or where the points are of different dimensions.
    ///
    /// # Panics
    /// If the hyper-kernels differ.
    pub fn mean(parts: &[Self]) -> Result<Self, KernelError> {
        let Some(first) = parts.first() else {
            return Err(KernelError::Shape { what: "the kernels", expected: 1, found: 0 });
        };
        let share = 1.0 / parts.len() as f64;
        let mut all =
            Self { bias: parts.iter().map(|part| share * part.bias).sum(), ..first.clone() };
        let views: Vec<_> = parts.iter().map(|part| part.points.view()).collect();
        all.points = ndarray::concatenate(ndarray::Axis(0), &views).map_err(|_| {
            let other = parts.iter().find(|part| part.features() != first.features());
            let found = other.map_or(0, Self::features);
            KernelError::Shape { what: "the points", expected: first.features(), found }
        })?;
        let mut before = 0;
        let mut pairs = Vec::new();
        for part in parts {
            assert!(part.kernel == first.kernel, "a mean of kernels from one hyper-kernel");
            pairs.extend(part.pairs.as_slice().iter().map(|&(i, j)| (i + before, j + before)));
            before += part.points.nrows();
        }
        all.pairs = Pairs::new(pairs);
        all.coefficients =
            parts.iter().flat_map(|part| part.coefficients.iter().map(|c| share * c)).collect();
        Ok(all)
    }

    /// Returns the constant.
    pub const fn bias(&self) -> f64 {
        self.bias
    }

    /// Returns the hyper-kernel.
    pub const fn hyper(&self) -> &HyperKernel {
        &self.kernel
    }

    /// Returns the points that the pairs are of (`M × d`).
    pub fn points(&self) -> ArrayView2<'_, f64> {
        self.points.view()
    }

    /// Returns the pairs with a coefficient.
    pub const fn pairs(&self) -> &Pairs {
        &self.pairs
    }

    /// Returns `γ`, one a pair.
    pub fn coefficients(&self) -> ArrayView1<'_, f64> {
        self.coefficients.view()
    }

    /// Returns the number of pairs with a coefficient.
    pub const fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns whether it is the constant alone.
    pub const fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns the dimension `d` of the points.
    pub fn features(&self) -> usize {
        self.points.ncols()
    }

    /// Returns `‖k‖²` in the hyper-kernel's space, the bias apart: `γᵀ H γ`.
    pub fn norm_squared(&self, threads: usize) -> f64 {
        let gram = self.kernel.gram(self.points.view(), &self.pairs, threads);
        self.coefficients.dot(&gram.dot(&self.coefficients))
    }

    /// Returns `k(x_i, z_j)` for the rows of `left` (`m × d`) and `right` (`n × d`): `m × n`, by `threads` threads. The
    /// result does not depend on their number.
    ///
    /// # Panics
    /// If the points have another dimension.
    pub fn block(
        &self,
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
        threads: usize,
    ) -> Array2<f64> {
        let mut values = match &self.kernel {
            _ if self.is_empty() => Array2::zeros((left.nrows(), right.nrows())),
            HyperKernel::Gaussian(kernel) => {
                let a = kernel.point_factors(self.points.view(), left);
                let b = kernel.point_factors(self.points.view(), right);
                let c = self.weights(kernel);
                block(a.view(), b.view(), self.pairs.as_slice(), &c, threads)
                    * &kernel.pair_kernel().cross_gram(left, right)
            }
            HyperKernel::Wishart(_) => {
                let sections = self.kernel.sections(self.points.view(), &self.pairs);
                let column = self.coefficients.view().insert_axis(ndarray::Axis(1));
                let sums = sections.expand_block(left, right, column, threads);
                Array2::from_shape_fn((left.nrows(), right.nrows()), |(i, j)| {
                    sums[[i * right.nrows() + j, 0]]
                })
            }
        };
        values += self.bias;
        values
    }

    /// Returns `k(x_i, x_j)` for the rows of `points` (`m × d`), exactly symmetric.
    ///
    /// # Panics
    /// If the points have another dimension.
    pub fn gram(&self, points: ArrayView2<'_, f64>, threads: usize) -> Array2<f64> {
        match &self.kernel {
            HyperKernel::Gaussian(kernel) if !self.is_empty() => {
                let factors = kernel.point_factors(self.points.view(), points);
                let c = self.weights(kernel);
                let mut values = if self.len() > 4 * points.nrows() {
                    triangle(factors.view(), self.pairs.as_slice(), &c, threads)
                } else {
                    block(factors.view(), factors.view(), self.pairs.as_slice(), &c, threads)
                };
                values *= &kernel.pair_kernel().gram(points);
                mirror(&mut values);
                values += self.bias;
                values
            }
            _ => {
                let mut values = self.block(points, points, threads);
                mirror(&mut values);
                values
            }
        }
    }

    /// Returns `k(x_i, z_j)` of several kernels, `m × n` each. The kernels of a path of ridges differ in their
    /// coefficients and biases alone. Then the values of a Wishart hyper-kernel, which dominate the cost, are computed
    /// once for all; otherwise this is [`LearnedKernel::block`] of each.
    ///
    /// # Panics
    /// If the points have another dimension.
    pub fn blocks(
        kernels: &[Self],
        left: ArrayView2<'_, f64>,
        right: ArrayView2<'_, f64>,
        threads: usize,
    ) -> Vec<Array2<f64>> {
        let Some(first) = kernels.first().filter(|first| first.shares_values(kernels)) else {
            return kernels.iter().map(|kernel| kernel.block(left, right, threads)).collect();
        };
        let sections = first.kernel.sections(first.points.view(), &first.pairs);
        let mut coefficients = Array2::zeros((first.len(), kernels.len()));
        for (kernel, mut column) in kernels.iter().zip(coefficients.columns_mut()) {
            column.assign(&kernel.coefficients);
        }
        let sums = sections.expand_block(left, right, coefficients.view(), threads);
        let (m, n) = (left.nrows(), right.nrows());
        let values = kernels.iter().zip(sums.columns());
        values
            .map(|(kernel, sums)| {
                Array2::from_shape_fn((m, n), |(i, j)| sums[i * n + j] + kernel.bias)
            })
            .collect()
    }

    /// Returns `k(x_i, x_j)` of several kernels, exactly symmetric, computed as [`LearnedKernel::blocks`] are.
    ///
    /// # Panics
    /// If the points have another dimension.
    pub fn grams(
        kernels: &[Self],
        points: ArrayView2<'_, f64>,
        threads: usize,
    ) -> Vec<Array2<f64>> {
        if !kernels.first().is_some_and(|first| first.shares_values(kernels)) {
            return kernels.iter().map(|kernel| kernel.gram(points, threads)).collect();
        }
        let mut values = Self::blocks(kernels, points, points, threads);
        values.iter_mut().for_each(mirror);
        values
    }

    /// Whether these are Wishart kernels of the same pairs as this one.
    fn shares_values(&self, kernels: &[Self]) -> bool {
        let same = |other: &Self| {
            other.kernel == self.kernel && other.pairs == self.pairs && other.points == self.points
        };
        matches!(self.kernel, HyperKernel::Wishart(_)) && kernels.iter().all(same)
    }

    /// `γ_q β_q`.
    fn weights(&self, kernel: &GaussianHyper) -> Vec<f64> {
        let factor = kernel.pair_kernel();
        let pairs = self.pairs.as_slice().iter().zip(&self.coefficients);
        pairs.map(|(&(i, j), c)| c * factor.of(self.points.row(i), self.points.row(j))).collect()
    }
}

/// Copies what stands above the diagonal to below it.
fn mirror(values: &mut Array2<f64>) {
    let n = values.nrows();
    for i in 0..n {
        for j in i + 1..n {
            values[[j, i]] = values[[i, j]];
        }
    }
}
