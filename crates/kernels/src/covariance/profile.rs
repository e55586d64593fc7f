use serde::{Deserialize, Serialize};

/// `ν` of a Matérn kernel.
///
/// ```
/// use mercer_kernels::{Covariance, Smoothness};
/// use ndarray::array;
/// let at = |smoothness, r: f64| {
///     let kernel = Covariance::Matern { smoothness, scale: 1.0, lengths: vec![1.0] };
///     kernel.of(array![0.0].view(), array![r].view())
/// };
/// assert!((at(Smoothness::Half, 2.0) - (-2.0f64).exp()).abs() < 1e-15);
/// let r = 3f64.sqrt(); // √3 r = 3
/// assert!((at(Smoothness::ThreeHalves, r) - 4.0 * (-3.0f64).exp()).abs() < 1e-15);
/// // The smoother, the flatter at 0.
/// assert!(at(Smoothness::Half, 0.1) < at(Smoothness::ThreeHalves, 0.1));
/// assert!(at(Smoothness::ThreeHalves, 0.1) < at(Smoothness::FiveHalves, 0.1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Smoothness {
    /// `ν = 1/2`: continuous paths.
    #[serde(rename = "1/2")]
    Half,
    /// `ν = 3/2`: once differentiable.
    #[serde(rename = "3/2")]
    ThreeHalves,
    /// `ν = 5/2`: twice differentiable.
    #[serde(rename = "5/2")]
    FiveHalves,
}

impl Smoothness {
    /// `√(2ν)`.
    pub(crate) fn stretch(self) -> f64 {
        match self {
            Self::Half => 1.0,
            Self::ThreeHalves => 3f64.sqrt(),
            Self::FiveHalves => 5f64.sqrt(),
        }
    }

    /// What stands before `e^{−u}`, `u = √(2ν) r ≥ 0`.
    pub(crate) fn factor(self, u: f64) -> f64 {
        // Beyond, the exponential is 0, and so is the product.
        let u = u.min(1e3);
        match self {
            Self::Half => 1.0,
            Self::ThreeHalves => 1.0 + u,
            Self::FiveHalves => 1.0 + u + u * u / 3.0,
        }
    }
}

/// `φ` of a stationary kernel `s² φ(r²)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Profile {
    Gaussian,
    Matern(Smoothness),
    RationalQuadratic(f64),
}

/// What a stationary kernel is at one distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct At {
    /// `s² φ(r²)`.
    pub(super) value: f64,
    /// `−2 s² φ'(r²)`: times `(x_j − z_j)²/ℓ_j²` it is the derivative by `ln ℓ_j`.
    pub(super) slope: f64,
    /// The derivative by `ln a`.
    pub(super) shape: f64,
}

impl Profile {
    /// `s² φ(r²)`.
    pub(super) fn value(self, variance: f64, squared: f64) -> f64 {
        self.at(variance, squared).value
    }

    /// Value and derivatives at `r² ≥ 0`.
    pub(super) fn at(self, variance: f64, squared: f64) -> At {
        match self {
            Self::Gaussian => {
                let value = variance * (-0.5 * squared).exp();
                At { value, slope: value, shape: 0.0 }
            }
            Self::Matern(Smoothness::Half) => {
                let r = squared.sqrt();
                let value = variance * (-r).exp();
                // At r = 0 every (x_j − z_j)² is 0 too: any finite slope will do.
                At { value, slope: if r > 0.0 { value / r } else { 0.0 }, shape: 0.0 }
            }
            Self::Matern(Smoothness::ThreeHalves) => {
                let u = (3.0 * squared).sqrt();
                let decay = variance * (-u).exp();
                At { value: (1.0 + u) * decay, slope: 3.0 * decay, shape: 0.0 }
            }
            Self::Matern(Smoothness::FiveHalves) => {
                let u = (5.0 * squared).sqrt();
                let decay = variance * (-u).exp();
                let value = (1.0 + u + u * u / 3.0) * decay;
                At { value, slope: 5.0 / 3.0 * (1.0 + u) * decay, shape: 0.0 }
            }
            Self::RationalQuadratic(a) => {
                // Large exponents and small r²: ln(1 + x), not ln of the sum.
                let x = squared / (2.0 * a);
                let log = x.ln_1p();
                let value = variance * (-a * log).exp();
                At {
                    value,
                    slope: value / (1.0 + x),
                    shape: value * (-a * log + a * x / (1.0 + x)),
                }
            }
        }
    }
}
