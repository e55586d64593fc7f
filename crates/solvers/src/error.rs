use mercer_linalg::LinalgError;

/// Why a minimiser could not run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// `τ` is negative, infinite or NaN.
    #[error("threshold must be finite and at least 0, got {0}")]
    Threshold(f64),
    /// NaN or infinity where a number is needed.
    #[error("{what} contains {value}; only finite numbers can be used")]
    NotFinite {
        /// What was given.
        what: &'static str,
        /// The offending value.
        value: f64,
    },
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}
