use serde::{Deserialize, Serialize};

/// The three ways in which the paper and its code state the Gaussian kernel's width. Every setting `std` here is the
/// `k` of the last.
///
/// | where | kernel | frequencies | number |
/// |---|---|---|---|
/// | sections 3 and 5 | `exp(−‖x − x'‖²/(2σ²))` | `N(0, σ⁻² I)` | [`Width::Bandwidth`] `σ` |
/// | section 6 | `exp(−σ² ‖x − x'‖²/2)` | `N(0, σ² I)` | [`Width::Deviation`] `σ` |
/// | the code | `exp(−k² ‖x − x'‖²/2)` | `k · N(0, I)` | [`Width::Deviation`] `k` |
///
/// The "optimal `σ² = 100`" of the synthetic problem is the first convention, although it stands in
/// section 6: the code uses `k = 0.1`.
///
/// ```
/// use mercer_models::rftk::Width;
/// assert_eq!(Width::Bandwidth(100f64.sqrt()).std(), 0.1);
/// assert_eq!(Width::Deviation(0.1).std(), 0.1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Width {
    /// `σ` of `exp(−‖x − x'‖²/(2σ²))`, in input units.
    Bandwidth(f64),
    /// `σ` of `exp(−σ² ‖x − x'‖²/2)`, the deviation of the frequencies, in 1/input units.
    Deviation(f64),
}

impl Width {
    /// Returns the deviation `k` of the frequencies' entries.
    pub fn std(self) -> f64 {
        match self {
            Self::Bandwidth(sigma) => mercer_kernels::std_of_bandwidth(sigma),
            Self::Deviation(std) => std,
        }
    }
}

/// The factor `c` of `φ(x) = c cos(Oᵀx + b)`.
///
/// Between the two, kernels differ by a factor 2 and the least-norm predictor not at all. A ridge `λ` with `printed`
/// acts as `2λ` with `unit`, and gradient descent needs twice the rate.
///
/// ```
/// use mercer_models::rftk::Normalisation;
/// assert_eq!(Normalisation::Unit.scale(2), 1.0); // √(2/M)
/// let (printed, unit) = (Normalisation::Printed.scale(8), Normalisation::Unit.scale(8));
/// assert!((unit * unit / (printed * printed) - 2.0).abs() < 1e-15); // twice the kernel
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalisation {
    /// `1/√M`, as printed and as in the code: in expectation **half** the Gaussian kernel,
    /// `Tr(K) ≈ n/2`.
    Printed,
    /// `√(2/M)`: in expectation the Gaussian kernel, `Tr(K) ≈ n`.
    Unit,
}

impl Normalisation {
    /// Returns `c` for `M` features.
    pub fn scale(self, features: usize) -> f64 {
        match self {
            Self::Printed => (1.0 / features as f64).sqrt(),
            Self::Unit => (2.0 / features as f64).sqrt(),
        }
    }
}
