use crate::{Kernel, KernelError};
use ndarray::{Array2, ArrayView1, ArrayView2};
use std::f64::consts::PI;

/// The Gaussian hyper-kernel, unnormalised:
/// ```text
/// h((x, x'), (z, z')) = exp(−‖x − x'‖²/(2 sp) − ‖z − z'‖²/(2 sp) − ‖(x + x')/2 − (z + z')/2‖²/(2 τ))
/// ```
/// with `τ = s + sh`. The paper prints `sp = s` ([`GaussianHyper::printed`]); the construction that it
/// cites, two Gaussian bumps a pair, blurred and multiplied, gives `sp = 2s`
/// ([`GaussianHyper::constructed`]).
///
/// Euclid's identity for four points, `‖x + x' − z − z'‖² = Σ‖x^{(')} − z^{(')}‖² − ‖x − x'‖² − ‖z − z'‖²`
/// (the sum over the four distances between the pairs), turns it into a product of Gaussians of
/// **points**,
/// ```text
/// h = β(x, x') β(z, z') u(x, z) u(x, z') u(x', z) u(x', z'),
/// u(x, z) = exp(−‖x − z‖²/(8τ)),       β(x, x') = exp(−ρ ‖x − x'‖²),   ρ = 1/(2 sp) − 1/(8τ) ≥ 0
/// ```
/// in which every factor lies in `(0, 1]`. Sums over pairs become matrix products of point Grams, no exponential is
/// taken in a loop over pairs, and nothing can overflow. A partial product that underflows belongs to an `h` that does.
/// `ρ ≥ 0` is `sp ≤ 4τ`, which both forms meet, and is what makes `β` a positive definite kernel, and with it every
/// `h(q, ·)`.
///
/// ```
/// use mercer_kernels::GaussianHyper;
/// use ndarray::array;
/// let hyper = GaussianHyper::printed(0.5, 0.25)?; // sp = 1/2, τ = 3/4
/// let h = |(a, b), (c, d)| {
///     let (a, b, c, d) = (array![a], array![b], array![c], array![d]);
///     hyper.of((a.view(), b.view()), (c.view(), d.view()))
/// };
/// assert_eq!(h((0.3, 0.3), (0.3, 0.3)), 1.0);
/// assert!((h((0.0, 1.0), (0.0, 1.0)) - (-2.0f64).exp()).abs() < 1e-15); // −1/(2 sp), twice
/// assert!((h((0.0, 0.0), (1.0, 1.0)) - (-2.0f64 / 3.0).exp()).abs() < 1e-15); // −1/(2 τ)
/// assert_eq!(h((0.0, 1.0), (0.2, 0.7)), h((1.0, 0.0), (0.2, 0.7))); // the order in a pair is nothing
/// assert!(GaussianHyper::of_variances(4.0, 0.5).is_err()); // sp ≤ 4τ
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianHyper {
    pair_variance: f64,
    mean_variance: f64,
}

impl GaussianHyper {
    /// As the paper prints it: `sp = s`, `τ = s + sh`, of `variance` `s` and `spread` `sh`.
    ///
    /// # Errors
    /// [`KernelError::Deviation`] unless both are positive and finite.
    pub fn printed(variance: f64, spread: f64) -> Result<Self, KernelError> {
        Self::new(variance, variance, spread)
    }

    /// As its construction gives it: `sp = 2s`, `τ = s + sh`.
    ///
    /// # Errors
    /// [`KernelError::Deviation`] unless both are positive and finite.
    pub fn constructed(variance: f64, spread: f64) -> Result<Self, KernelError> {
        Self::new(2.0 * variance, variance, spread)
    }

    fn new(pair_variance: f64, variance: f64, spread: f64) -> Result<Self, KernelError> {
        for (name, value) in [("variance", variance), ("spread", spread)] {
            // The largest sum and eight times it stay finite, and so do their inverses.
            if !(value > 1e-300 && value < 1e300) {
                return Err(KernelError::Deviation { name, value });
            }
        }
        Ok(Self { pair_variance, mean_variance: variance + spread })
    }

    /// Of `sp` and `τ` themselves.
    ///
    /// # Errors
    /// [`KernelError::Deviation`] unless both are positive and finite, and `sp ≤ 4τ`.
    pub fn of_variances(pair_variance: f64, mean_variance: f64) -> Result<Self, KernelError> {
        let named = [("pair variance", pair_variance), ("mean variance", mean_variance)];
        for (name, value) in named {
            if !(value > 1e-300 && value < 1e301) {
                return Err(KernelError::Deviation { name, value });
            }
        }
        if pair_variance > 4.0 * mean_variance {
            let name = "pair variance (at most four times the mean variance)";
            return Err(KernelError::Deviation { name, value: pair_variance });
        }
        Ok(Self { pair_variance, mean_variance })
    }

    /// Returns `sp`, in input units squared.
    pub const fn pair_variance(&self) -> f64 {
        self.pair_variance
    }

    /// Returns `τ`, in input units squared.
    pub const fn mean_variance(&self) -> f64 {
        self.mean_variance
    }

    /// Returns `ρ` of the pair factor `β(x, x') = exp(−ρ ‖x − x'‖²)`, in 1 over input units squared.
    pub fn pair_rate(&self) -> f64 {
        // Both constructors have sp ≤ 2s < 4τ.
        0.5 / self.pair_variance - 0.125 / self.mean_variance
    }

    /// Returns `1/(8τ)` of the point factor `u(x, z) = exp(−‖x − z‖²/(8τ))`.
    pub fn point_rate(&self) -> f64 {
        0.125 / self.mean_variance
    }

    /// Returns `β(x, x')` as a kernel of points.
    pub fn pair_kernel(&self) -> Kernel {
        Kernel::Gaussian { std: (2.0 * self.pair_rate()).sqrt() }
    }

    /// Computes `u(z_i, x_k)` of the rows of `landmarks` (`M × d`) and `points` (`n × d`). The result is `M × n`, so
    /// that the values of one landmark lie side by side. A point's values do not depend on its company.
    ///
    /// # Panics
    /// If the two differ in the number of columns.
    pub fn point_factors(
        &self,
        landmarks: ArrayView2<'_, f64>,
        points: ArrayView2<'_, f64>,
    ) -> Array2<f64> {
        let kernel = Kernel::Gaussian { std: (2.0 * self.point_rate()).sqrt() };
        kernel.sections(landmarks).at(points).t().as_standard_layout().into_owned()
    }

    /// Returns `h((x, x'), (z, z'))` by the definition.
    ///
    /// # Panics
    /// If the points differ in dimension.
    pub fn of(
        &self,
        (x, x_prime): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
        (z, z_prime): (ArrayView1<'_, f64>, ArrayView1<'_, f64>),
    ) -> f64 {
        let d = x.len();
        assert!([x_prime.len(), z.len(), z_prime.len()] == [d; 3], "dimensions");
        let within = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| -> f64 {
            (0..d).map(|c| (a[c] - b[c]).powi(2)).sum()
        };
        let means: f64 =
            (0..d).map(|c| 0.25 * (x[c] + x_prime[c] - z[c] - z_prime[c]).powi(2)).sum();
        let pairs = within(x, x_prime) + within(z, z_prime);
        (-pairs / (2.0 * self.pair_variance) - means / (2.0 * self.mean_variance)).exp()
    }

    /// Returns `ln` of `g_sp(0)² g_τ(0)`, `g_v(0) = (2πv)^(−d/2)`.
    pub fn log_normaliser(&self, features: usize) -> f64 {
        let log = |variance: f64| (2.0 * PI * variance).ln();
        -0.5 * features as f64 * (2.0 * log(self.pair_variance) + log(self.mean_variance))
    }
}
