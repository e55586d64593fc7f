//! Hyper-kernels: kernels of pairs of points, `h((x, x'), (z, z'))`.
//!
//! They span the spaces in which kernels are learned (Ong, Smola and Williamson 2005; Liu, Shi,
//! Huang, Yang and Suykens 2021): a learned kernel is `k(x, x') = Σ_q γ_q h(q, (x, x'))`.
//!
//! | symbol | code | meaning | unit |
//! |---|---|---|---|
//! | `s` | `σ²` | variance of the data, [`total_variance`] | input² |
//! | `sh` | `σ_h²` | width of the blur of a pair's two bumps | input² |
//! | `sp` | [`GaussianHyper::pair_variance`] | of `exp(−‖x − x'‖²/(2 sp))` within a pair | input² |
//! | `τ` | [`GaussianHyper::mean_variance`] | `s + sh`, of the difference of two pairs' means | input² |
//! | `D`, `b` | [`WishartHyper`] | scale matrix and degrees of freedom | input², 1 |
//! | `q` | [`Pairs`] | unordered pairs of points, with weights 1 and 2 | |
//!
//! Everything is **unnormalised**, `h ≤ 1`: the normaliser is one constant over all pairs, which a
//! ridge absorbs, and it is 10²⁴ or 10⁻¹¹⁸ for sixty inputs ([`HyperKernel::log_normaliser`]).

mod gaussian;
mod learned;
mod operator;
mod pairs;
mod products;
mod sections;
#[cfg(test)]
mod tests;
mod variance;
mod wishart;

pub use gaussian::GaussianHyper;
pub use learned::LearnedKernel;
pub use operator::PairOperator;
pub use pairs::Pairs;
pub use sections::PairSections;
pub use variance::{entry_variance, total_variance};
pub use wishart::WishartHyper;

use ndarray::{Array2, ArrayView1, ArrayView2};

/// A kernel of two pairs of points. The order within a pair does not matter.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel, Pairs, WishartHyper};
/// use ndarray::array;
/// let points = array![[0.0, 0.5], [1.0, -0.2]];
/// let gaussian = HyperKernel::Gaussian(GaussianHyper::constructed(1.0, 0.5)?);
/// let wishart = HyperKernel::Wishart(WishartHyper::isotropic(1.0, 2)?);
/// let pairs = Pairs::new([(0, 1), (1, 0)]);
/// for hyper in [gaussian, wishart] {
///     let gram = hyper.gram(points.view(), &pairs, 1);
///     // The order within a pair does not matter: both rows are the same.
///     assert!((gram[[0, 1]] - gram[[0, 0]]).abs() < 1e-14 && gram[[0, 0]] < 1.0);
///     let (x, z) = (points.row(0), points.row(1));
///     assert!((hyper.of((x, z), (x, z)) - gram[[0, 0]]).abs() < 1e-14);
/// }
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum HyperKernel {
    /// Gaussian within the pairs and between their means.
    Gaussian(GaussianHyper),
    /// Gaussian with its covariance integrated out against an inverse Wishart prior.
    Wishart(WishartHyper),
}

impl HyperKernel {
    /// Returns `h((x, x'), (z, z'))`, unnormalised: in `(0, 1]`.
    ///
    /// # Panics
    /// If the points differ in dimension, or have another than a Wishart kernel's `D`.
    pub fn of(
        &self,
        (x, x_prime): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
        (z, z_prime): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
    ) -> f64 {
        match self {
            Self::Gaussian(kernel) => kernel.of((x, x_prime), (z, z_prime)),
            Self::Wishart(kernel) => kernel.of((x, x_prime), (z, z_prime)),
        }
    }

    /// Returns `ln c` of the normaliser: with it, `c h` integrates as the paper prints it. `features` is `d`.
    ///
    /// With `c`, the coefficients of a ridge `λ` equal the coefficients of `λ/c` without it: nothing else changes.
    pub fn log_normaliser(&self, features: usize) -> f64 {
        match self {
            Self::Gaussian(kernel) => kernel.log_normaliser(features),
            Self::Wishart(kernel) => kernel.log_normaliser(),
        }
    }

    /// Computes the hyper-Gram matrix of `pairs` of the rows of `points` (`m × d`). It is `P × P`, exactly symmetric,
    /// by `threads` threads.
    ///
    /// ```
    /// use mercer_kernels::{GaussianHyper, HyperKernel, Pairs};
    /// use ndarray::array;
    /// let kernel = HyperKernel::Gaussian(GaussianHyper::constructed(0.5, 0.5)?);
    /// let gram = kernel.gram(array![[0.0], [1.0]].view(), &Pairs::all(2), 1);
    /// assert_eq!(gram.dim(), (3, 3)); // (0,0), (0,1), (1,1)
    /// assert_eq!(gram[[0, 0]], 1.0);
    /// assert!((gram[[0, 2]] - (-0.5f64).exp()).abs() < 1e-15); // means 1 apart, tau = 1
    /// # Ok::<(), mercer_kernels::KernelError>(())
    /// ```
    ///
    /// # Panics
    /// If a pair names a row that is not there.
    pub fn gram(&self, points: ArrayView2<'_, f64>, pairs: &Pairs, threads: usize) -> Array2<f64> {
        self.sections(points, pairs).gram(threads)
    }

    /// Returns the functions `h(q, ·)` of `pairs` of the rows of `points`. They can be evaluated at many pairs.
    ///
    /// # Panics
    /// If a pair names a row that is not there.
    pub fn sections(&self, points: ArrayView2<'_, f64>, pairs: &Pairs) -> PairSections {
        PairSections::new(self.clone(), points, pairs)
    }
}
