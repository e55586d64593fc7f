//! Kernels whose positive parameters are learned by gradients.

mod gradient;
mod profile;
mod ready;
#[cfg(test)]
mod tests;

pub use gradient::{Adjoint, CovarianceGradient, CrossGradient};
pub use profile::Smoothness;

use crate::KernelError;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis};
use profile::Profile;
use ready::Ready;
use serde::{Deserialize, Serialize};

/// A kernel with positive parameters and known derivatives.
///
/// `r² = Σ_j (x_j − z_j)²/ℓ_j²`; `lengths` has one entry a column (anisotropic), or one for all.
///
/// | kernel | `k(x, z)` |
/// |---|---|
/// | Gaussian | `s² exp(−r²/2)` |
/// | Matérn | `s² e^{−r}`, `s² (1 + √3 r) e^{−√3 r}`, `s² (1 + √5 r + 5r²/3) e^{−√5 r}` |
/// | rational quadratic | `s² (1 + r²/2a)^{−a}` |
/// | linear | `s² x·z` |
/// | polynomial | `(s² x·z + c)^degree` |
/// | sum, product | of other kernels |
///
/// Parameters are listed in the order of the fields, the children's in their order, and derivatives
/// are those by the *logarithm* of each.
///
/// ```
/// use mercer_kernels::{Adjoint, Covariance};
/// use ndarray::array;
/// let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![2.0, 0.5] };
/// let x = array![[0.0, 0.0], [1.0, 0.25]];
/// let gram = kernel.gram(x.view());
/// assert!((gram[[0, 1]] - (-0.25f64).exp()).abs() < 1e-15);
/// // L = K_01 + K_10: its adjoint is [[0, 1], [1, 0]] = left · rightᵀ.
/// let (left, right) = (array![[1.0, 0.0], [0.0, 1.0]], array![[0.0, 1.0], [1.0, 0.0]]);
/// let gradient = kernel.gram_gradient(x.view(), None, &Adjoint::new(left.view(), right.view()));
/// assert!((gradient.parameters[0] - 2.0 * 2.0 * gram[[0, 1]]).abs() < 1e-14); // d/d ln s
/// assert!((gradient.parameters[1] - 2.0 * 0.25 * gram[[0, 1]]).abs() < 1e-14); // d/d ln ℓ_0
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "the macro for slices holds the only unsafe block; it relies on no value of this type"
)]
pub enum Covariance {
    /// `s² exp(−r²/2)`.
    Gaussian {
        /// `s`.
        scale: f64,
        /// `ℓ`, in input units.
        lengths: Vec<f64>,
    },
    /// Half-integer Matérn kernels.
    Matern {
        /// `ν`.
        smoothness: Smoothness,
        /// `s`.
        scale: f64,
        /// `ℓ`, in input units.
        lengths: Vec<f64>,
    },
    /// `s² (1 + r²/2a)^{−a}`.
    RationalQuadratic {
        /// `s`.
        scale: f64,
        /// `ℓ`, in input units.
        lengths: Vec<f64>,
        /// `a`.
        shape: f64,
    },
    /// `s² x·z`.
    Linear {
        /// `s`, in 1 over input units.
        scale: f64,
    },
    /// `(s² x·z + c)^degree`.
    Polynomial {
        /// Degree, at least 1; not learned.
        degree: u32,
        /// `s`, in 1 over input units.
        scale: f64,
        /// `c > 0`.
        offset: f64,
    },
    /// The sum of some kernels.
    Sum {
        /// The kernels.
        of: Vec<Covariance>,
    },
    /// The product of some kernels.
    Product {
        /// The kernels.
        of: Vec<Covariance>,
    },
}

impl Covariance {
    /// Checks the parameters for inputs of `features` columns.
    ///
    /// # Errors
    /// [`KernelError::Parameter`] names the first that is not positive and finite (length scales
    /// among them); [`KernelError::Lengths`] for a number of length scales that is neither 1 nor
    /// `features`; [`KernelError::NoKernels`] for an empty sum or product.
    pub fn check(&self, features: usize) -> Result<(), KernelError> {
        if let Self::Gaussian { lengths, .. }
        | Self::Matern { lengths, .. }
        | Self::RationalQuadratic { lengths, .. } = self
            && lengths.len() != 1
            && lengths.len() != features
        {
            return Err(KernelError::Lengths { found: lengths.len(), features });
        }
        match self {
            Self::Sum { of } | Self::Product { of } => {
                if of.is_empty() {
                    return Err(KernelError::NoKernels);
                }
                of.iter().try_for_each(|kernel| kernel.check(features))
            }
            Self::Polynomial { degree: 0, .. } => {
                Err(KernelError::Parameter { name: "degree".to_owned(), value: 0.0 })
            }
            _ => match self.named_parameters().into_iter().find(|(_, v)| !good(*v)) {
                Some((name, value)) => Err(KernelError::Parameter { name, value }),
                None => Ok(()),
            },
        }
    }

    /// Names and values of the parameters that can be learned.
    pub fn named_parameters(&self) -> Vec<(String, f64)> {
        let lengths = |scale: &f64, lengths: &[f64]| {
            let named = lengths.iter().enumerate().map(|(j, &l)| (format!("length-{j}"), l));
            let lengths: Vec<(String, f64)> = match lengths {
                [length] => vec![("length".to_owned(), *length)],
                _ => named.collect(),
            };
            [vec![("scale".to_owned(), *scale)], lengths].concat()
        };
        match self {
            Self::Gaussian { scale, lengths: l } | Self::Matern { scale, lengths: l, .. } => {
                lengths(scale, l)
            }
            Self::RationalQuadratic { scale, lengths: l, shape } => {
                [lengths(scale, l), vec![("shape".to_owned(), *shape)]].concat()
            }
            Self::Linear { scale } => vec![("scale".to_owned(), *scale)],
            Self::Polynomial { scale, offset, .. } => {
                vec![("scale".to_owned(), *scale), ("offset".to_owned(), *offset)]
            }
            Self::Sum { of } | Self::Product { of } => of
                .iter()
                .enumerate()
                .flat_map(|(index, kernel)| {
                    kernel
                        .named_parameters()
                        .into_iter()
                        .map(move |(name, value)| (format!("{index}-{name}"), value))
                })
                .collect(),
        }
    }

    /// Returns values of the parameters that can be learned.
    pub fn parameters(&self) -> Vec<f64> {
        self.named_parameters().into_iter().map(|(_, value)| value).collect()
    }

    /// Returns the same kernel with other values of its parameters.
    ///
    /// # Panics
    /// If there are not as many values as parameters.
    #[must_use]
    pub fn with_parameters(&self, values: &[f64]) -> Self {
        let mut kernel = self.clone();
        let mut values = values.iter().copied();
        kernel.take(&mut values);
        assert!(values.next().is_none(), "more values than parameters");
        kernel
    }

    fn take(&mut self, values: &mut dyn Iterator<Item = f64>) {
        let mut next = |slot: &mut f64| *slot = values.next().expect("a value a parameter");
        match self {
            Self::Gaussian { scale, lengths } | Self::Matern { scale, lengths, .. } => {
                next(scale);
                lengths.iter_mut().for_each(next);
            }
            Self::RationalQuadratic { scale, lengths, shape } => {
                next(scale);
                lengths.iter_mut().for_each(&mut next);
                next(shape);
            }
            Self::Linear { scale } => next(scale),
            Self::Polynomial { scale, offset, .. } => {
                next(scale);
                next(offset);
            }
            Self::Sum { of } | Self::Product { of } => {
                for kernel in of {
                    kernel.take(values);
                }
            }
        }
    }

    /// Returns `k(x, z)` of two points, by the definition.
    ///
    /// # Panics
    /// If the points differ in dimension.
    pub fn of(&self, x: ArrayView1<'_, f64>, z: ArrayView1<'_, f64>) -> f64 {
        assert_eq!(x.len(), z.len(), "points of different dimension");
        let squared = |lengths: &[f64]| -> f64 {
            let terms = x.iter().zip(z).enumerate();
            terms.map(|(j, (a, b))| ((a - b) / lengths[j % lengths.len()]).powi(2)).sum()
        };
        match self {
            Self::Gaussian { scale, lengths } => {
                Profile::Gaussian.value(scale * scale, squared(lengths))
            }
            Self::Matern { smoothness, scale, lengths } => {
                Profile::Matern(*smoothness).value(scale * scale, squared(lengths))
            }
            Self::RationalQuadratic { scale, lengths, shape } => {
                Profile::RationalQuadratic(*shape).value(scale * scale, squared(lengths))
            }
            Self::Linear { scale } => scale * scale * x.dot(&z),
            Self::Polynomial { degree, scale, offset } => {
                (scale * scale * x.dot(&z) + offset).powi(*degree as i32)
            }
            Self::Sum { of } => of.iter().map(|kernel| kernel.of(x, z)).sum(),
            Self::Product { of } => of.iter().map(|kernel| kernel.of(x, z)).product(),
        }
    }

    /// Returns `k(x_i, x_i)` of the rows of `inputs`.
    pub fn diagonal(&self, inputs: ArrayView2<'_, f64>) -> Array1<f64> {
        match self.variance() {
            Some(variance) => Array1::from_elem(inputs.nrows(), variance),
            None => inputs.rows().into_iter().map(|x| self.of(x, x)).collect(),
        }
    }

    /// Returns `k(x, x)`, where it is the same for all `x`: of stationary kernels.
    pub fn variance(&self) -> Option<f64> {
        match self {
            Self::Gaussian { scale, .. }
            | Self::Matern { scale, .. }
            | Self::RationalQuadratic { scale, .. } => Some(scale * scale),
            Self::Linear { .. } | Self::Polynomial { .. } => None,
            Self::Sum { of } => of.iter().map(Self::variance).sum(),
            Self::Product { of } => of.iter().map(Self::variance).product(),
        }
    }

    /// Returns the Gram matrix of the rows of `inputs` (`n × d`), exactly symmetric.
    pub fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut gram = Array2::zeros((inputs.nrows(), inputs.nrows()));
        self.gram_into(inputs, gram.view_mut());
        gram
    }

    /// Computes [`Covariance::gram`] into memory that is there (`n × n`).
    ///
    /// # Panics
    /// If the memory has another shape.
    pub fn gram_into(&self, inputs: ArrayView2<'_, f64>, mut gram: ArrayViewMut2<'_, f64>) {
        let n = inputs.nrows();
        assert_eq!(gram.dim(), (n, n), "memory of a Gram matrix");
        let ready = Ready::of(self, inputs, centre(inputs).view());
        ready::symmetric(&ready, gram.view_mut());
        if let Some(variance) = self.variance() {
            gram.diag_mut().fill(variance);
        }
    }

    /// Returns `k(x_i, z_j)` of the rows of `left` (`m × d`) and `right` (`n × d`): `m × n`.
    ///
    /// # Panics
    /// If the two differ in the number of columns.
    pub fn cross_gram(&self, left: ArrayView2<'_, f64>, right: ArrayView2<'_, f64>) -> Array2<f64> {
        assert_eq!(left.ncols(), right.ncols(), "points of different dimension");
        // Centred by the right side alone: an entry does not depend on the other left points.
        let centre = centre(right);
        let mut gram = Array2::zeros((left.nrows(), right.nrows()));
        let (left, right) =
            (Ready::of(self, left, centre.view()), Ready::of(self, right, centre.view()));
        ready::rectangular(&left, &right, gram.view_mut());
        gram
    }
}

/// Positive and finite, and so is its square.
fn good(value: f64) -> bool {
    value > 0.0 && value.is_finite() && (value * value).is_finite() && value * value > 0.0
}

fn centre(inputs: ArrayView2<'_, f64>) -> Array1<f64> {
    inputs.mean_axis(Axis(0)).unwrap_or_else(|| Array1::zeros(inputs.ncols()))
}
