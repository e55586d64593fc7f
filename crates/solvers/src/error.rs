use mercer_linalg::LinalgError;

/// Why a minimiser could not run.
///
/// ```
/// use mercer_solvers::{Smo, Threshold, OneVersusOne};
/// use ndarray::array;
/// let refused = Threshold { tau: -1.0, clip: true }.apply(array![[1.0]].view()).unwrap_err();
/// assert_eq!(refused.to_string(), "threshold must be finite and at least 0, got -1");
/// let gram = array![[1.0, 0.0], [0.0, 1.0]];
/// let refused = OneVersusOne::fit(gram.view(), &[0, 1, 1], 1.0, &Smo::default()).unwrap_err();
/// assert!(refused.to_string().ends_with("are 3, but 2 are needed"), "{refused}");
/// ```
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
    /// A setting outside its range.
    #[error("`{name}` is {value}; it must be {must}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value, printed.
        value: String,
        /// The allowed values.
        must: &'static str,
    },
    /// Arrays that do not fit together.
    #[error("{what} are {found}, but {expected} are needed")]
    Lengths {
        /// What was given.
        what: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A classifier asked to tell apart points of one sign, or a regression without points.
    #[error("all {points} points have the same sign; two are needed to tell apart")]
    OneSign {
        /// Points given.
        points: usize,
    },
    /// Starting weights that break a constraint of the problem.
    #[error("the starting weights cannot be used: {reason}; start at 0 instead")]
    Start {
        /// Which constraint.
        reason: String,
    },
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}
