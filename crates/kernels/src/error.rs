/// Why a feature map could not be built.
///
/// ```
/// use mercer_kernels::{Covariance, FeatureMapParams, KernelError, Map};
/// use rand::SeedableRng;
/// let params = FeatureMapParams { map: Map::Psi, features: 0, std: 1.0, std_prime: None };
/// let refused = params.draw(2, &mut rand_chacha::ChaCha8Rng::seed_from_u64(1)).unwrap_err();
/// assert_eq!(refused, KernelError::NoFeatures);
/// let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![1.0, 2.0] };
/// assert_eq!(
///     kernel.check(3).unwrap_err().to_string(),
///     "2 length scales for 3 columns; give one a column, or one for all"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// `D = 0`: an empty map approximates nothing.
    #[error("a feature map needs at least one feature, got 0")]
    NoFeatures,
    /// `d = 0`.
    #[error("a feature map needs at least one input, got 0")]
    NoInputs,
    /// The deviation of the frequencies is zero, negative, infinite or NaN.
    #[error("{name} must be positive and finite, got {value}")]
    Deviation {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Parts of kept [`crate::Sections`] that do not belong together.
    #[error("the parts of a kernel expansion do not fit: {0}")]
    Parts(&'static str),
    /// Frequencies and phases of different numbers of features.
    #[error("{what} has {found} entries, but there are {expected} features")]
    Shape {
        /// Which part.
        what: &'static str,
        /// Features of the frequencies.
        expected: usize,
        /// Features of the part.
        found: usize,
    },
    /// Too few degrees of freedom of an inverse Wishart prior.
    #[error("an inverse Wishart prior in {features} dimensions needs more than {} degrees of freedom, got {freedom}", *features as f64 - 1.0)]
    Freedom {
        /// The degrees of freedom `b`.
        freedom: f64,
        /// The dimension `d`.
        features: usize,
    },
    /// Too few degrees of freedom beyond the dimension for the prior to have a mean.
    #[error("an inverse Wishart prior by its mean needs b − d above 1 and finite, got {excess}")]
    Excess {
        /// `b − d`.
        excess: f64,
    },
    /// The scale matrix of an inverse Wishart prior is no covariance.
    #[error("the scale matrix D must be symmetric positive definite: {reason}")]
    NotPositiveDefinite {
        /// The reason.
        reason: String,
    },
    /// A NaN or an infinity.
    #[error("{what} {at} is {value}; it must be finite")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Which one.
        at: usize,
        /// The offending value.
        value: f64,
    },
    /// A kernel's parameter is zero, negative, infinite or NaN, or its square is.
    #[error("`{name}` must be positive and finite, got {value}")]
    Parameter {
        /// Name of the parameter.
        name: String,
        /// Its value.
        value: f64,
    },
    /// Length scales for another number of columns.
    #[error("{found} length scales for {features} columns; give one a column, or one for all")]
    Lengths {
        /// Number of length scales.
        found: usize,
        /// Columns of the inputs.
        features: usize,
    },
    /// A sum or product of nothing.
    #[error("a sum or product needs at least one kernel, got none")]
    NoKernels,
}
