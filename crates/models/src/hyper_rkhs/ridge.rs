use super::{LandmarkChoice, PairTarget, positive, refused};
use mercer_kernels::{HyperKernel, LearnedKernel};
use mercer_learning::{Convergence, LearningError, fact};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How hyper-KRR is solved.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel, WishartHyper};
/// use mercer_models::hyper_rkhs::{PairRidge, PairSolver};
/// let ridge = PairRidge::default();
/// let gaussian = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let chosen = [100, 500, 1000].map(|points| ridge.chosen(&gaussian, points));
/// use PairSolver::{Cholesky, ConjugateGradients, LinearTime, Nystrom};
/// assert_eq!(chosen, [Cholesky, ConjugateGradients, LinearTime]);
/// let wishart = HyperKernel::Wishart(WishartHyper::isotropic(1.0, 2)?);
/// assert_eq!(ridge.chosen(&wishart, 500), Nystrom); // it has no product form
/// # Ok::<(), mercer_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairSolver {
    /// With `landmarks`, [`PairSolver::LinearTime`] where that can be, else [`PairSolver::Nystrom`]. Without, Cholesky
    /// up to 108 points, conjugate gradients up to 700 (Gaussian), and beyond as with 20 landmarks.
    Auto,
    /// The hyper-Gram matrix is stored and factored: `m⁴` numbers over 4, `m⁶` flops over 24.
    Cholesky,
    /// Conjugate gradients on a hyper-Gram matrix that is never stored. They take `m⁴/2` flops an iteration and `O(m²)`
    /// numbers. Gaussian hyper-kernels only.
    ConjugateGradients,
    /// Nyström's approximation in the pairs of `landmarks` points, `O(m² M⁴)`. It runs over `subsets` of the points,
    /// whose learned functions are averaged.
    Nystrom,
    /// The same approximation over all pairs, in `O(m)`: see [`LinearTime`](super::LinearTime). Gaussian only.
    LinearTime,
    /// With non-negative coefficients (Pan et al. 2017): the learned kernel is positive definite. In the
    /// pairs of `landmarks` points, or in all of them.
    NonNegative,
}

impl std::fmt::Display for PairSolver {
    /// As a setting has it: `linear-time`, in backquotes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "`auto`",
            Self::Cholesky => "`cholesky`",
            Self::ConjugateGradients => "`conjugate-gradients`",
            Self::Nystrom => "`nystrom`",
            Self::LinearTime => "`linear-time`",
            Self::NonNegative => "`non-negative`",
        })
    }
}

/// Hyper-KRR: `min_k (1/m²) Σ_ij (k(x_i, x_j) − Y_ij)² + λ ‖k‖²`.
///
/// Over unordered pairs with weights `w` the solution is `(H + λ m² diag(1/w)) γ = y`.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel};
/// use mercer_learning::Fitting;
/// use mercer_models::hyper_rkhs::{PairRidge, PairTarget};
/// use ndarray::array;
/// let points = array![[0.0], [0.4], [1.0]];
/// let labels = [0, 0, 1]; // Y = y yᵀ
/// let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let target = PairTarget::classes(&labels, 1.0, -1.0)?;
/// let ridge = PairRidge { lambda: 0.1, ..PairRidge::default() };
/// let learned = ridge.learn(&hyper, points.view(), &target, &Fitting::seeded(1))?;
/// let k = learned.kernel.block(array![[0.2]].view(), array![[0.7]].view(), 1);
/// assert!((k[[0, 0]] - 0.2727683838252548).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PairRidge {
    /// `λ > 0`.
    pub lambda: f64,
    /// How it is solved.
    pub solver: PairSolver,
    /// Nyström points `M`, drawn from the points (of each subset).
    pub landmarks: Option<usize>,
    /// Linear time: how they are chosen.
    pub landmark_choice: LandmarkChoice,
    /// Subsets `v` of divide and conquer.
    pub subsets: usize,
    /// Ordered pairs that Nyström's normal equations sum over, drawn at random; all, if not set.
    pub pairs: Option<usize>,
    /// Relative residual at which conjugate gradients stop.
    pub tolerance: f64,
    /// Most iterations of conjugate gradients.
    pub iterations: usize,
    /// Nyström: relative cut-off of the eigenvalues of the landmark pairs' Gram matrix. Eigenvalues at or below this
    /// times the largest count as 0.
    pub cutoff: f64,
    /// Linear time: goal for the relative trace of the pair kernel's residual. It acts where there is no
    /// `normal_tolerance` and no `solution_tolerance`.
    pub rank_tolerance: f64,
    /// Linear time: goal for the estimated relative error of the normal matrix. The factors grow until it is met. With
    /// a `solution_tolerance` it only says with how many columns they begin.
    pub normal_tolerance: Option<f64>,
    /// Linear time: goal for the estimated relative error of the solution. The norm is the regression's; the factors
    /// grow until the goal is met.
    pub solution_tolerance: Option<f64>,
    /// Linear time: most columns `L` of its partial Cholesky factors.
    pub rank: usize,
    /// Linear time: most bytes of its two factors together.
    pub factor_bytes: u64,
}

impl Default for PairRidge {
    fn default() -> Self {
        Self {
            lambda: 1e-3,
            solver: PairSolver::Auto,
            landmarks: None,
            landmark_choice: LandmarkChoice::Random,
            subsets: 1,
            pairs: None,
            tolerance: 1e-6,
            iterations: 1000,
            cutoff: 1e-10,
            rank_tolerance: 1e-3,
            normal_tolerance: None,
            solution_tolerance: None,
            rank: 300,
            factor_bytes: 1 << 30,
        }
    }
}

/// A learned kernel, and how it was learned.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel};
/// use mercer_learning::{Convergence, Fitting};
/// use mercer_models::hyper_rkhs::{PairRidge, PairTarget};
/// use ndarray::array;
/// let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let points = array![[0.0], [0.4], [1.0]];
/// let target = PairTarget::classes(&[0, 0, 1], 1.0, -1.0)?;
/// let learned = PairRidge::default().learn(&hyper, points.view(), &target, &Fitting::seeded(1))?;
/// assert_eq!(learned.convergence, Convergence::Exact); // few points: by Cholesky
/// assert_eq!(learned.kernel.len(), 6); // 3 · 4/2 unordered pairs
/// let gram = learned.kernel.gram(points.view(), 1);
/// assert!(gram[[0, 1]] > 0.0 && gram[[0, 2]] < 0.0); // near +1 and −1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Learned {
    /// The kernel.
    pub kernel: LearnedKernel,
    /// How the fit ended.
    pub convergence: Convergence,
    /// Named numbers: `pairs`, `landmark-pairs`, `iterations`, `residual`, `rank`, and so on.
    pub facts: BTreeMap<String, f64>,
}

/// Points up to which the hyper-Gram matrix (277 MB) is factored by default.
const CHOLESKY_POINTS: usize = 108;
/// Points up to which all pairs are solved exactly by default.
const EXACT_POINTS: usize = 700;
/// Landmarks where none are asked for.
const LANDMARKS: usize = 20;

impl PairRidge {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn check(&self) -> Result<(), LearningError> {
        positive("lambda", self.lambda)?;
        for (name, count) in [
            ("landmarks", self.landmarks.unwrap_or(1)),
            ("subsets", self.subsets),
            ("pairs", self.pairs.unwrap_or(1)),
            (fact::ITERATIONS, self.iterations),
            ("rank", self.rank),
        ] {
            if count == 0 {
                return Err(refused(name, count, "at least 1"));
            }
        }
        for (name, value) in [
            ("tolerance", self.tolerance),
            ("cutoff", self.cutoff),
            ("rank_tolerance", self.rank_tolerance),
            ("normal_tolerance", self.normal_tolerance.unwrap_or(0.5)),
            ("solution_tolerance", self.solution_tolerance.unwrap_or(0.5)),
        ] {
            if !(value > 0.0 && value < 1.0) {
                return Err(refused(name, value, "above 0 and below 1"));
            }
        }
        if self.subsets > 1 && !matches!(self.solver, PairSolver::Auto | PairSolver::Nystrom) {
            return Err(refused("subsets", self.subsets, "1, but with the solver `nystrom`"));
        }
        Ok(())
    }

    /// Returns the solver for so many points.
    pub fn chosen(&self, kernel: &HyperKernel, points: usize) -> PairSolver {
        self.solver_for(matches!(kernel, HyperKernel::Gaussian(_)), points)
    }

    /// The same by what the hyper-kernel is.
    pub(super) fn solver_for(&self, gaussian: bool, points: usize) -> PairSolver {
        let approximate = if gaussian && self.subsets == 1 && self.pairs.is_none() {
            PairSolver::LinearTime
        } else {
            PairSolver::Nystrom
        };
        match self.solver {
            PairSolver::Auto if self.landmarks.is_some() || self.subsets > 1 => approximate,
            PairSolver::Auto if points <= CHOLESKY_POINTS => PairSolver::Cholesky,
            PairSolver::Auto if points <= EXACT_POINTS && gaussian => {
                PairSolver::ConjugateGradients
            }
            PairSolver::Auto => approximate,
            chosen => chosen,
        }
    }

    /// Landmarks `M` for subsets of so many points.
    pub(super) fn landmarks_of(&self, points: usize) -> Result<usize, LearningError> {
        match self.landmarks {
            Some(landmarks) if landmarks > points => {
                let value = format!("{landmarks} where a subset has {points} points");
                Err(refused(
                    "landmarks",
                    value,
                    "at most the points of a subset, rows over `subsets`",
                ))
            }
            Some(landmarks) => Ok(landmarks),
            None => Ok(LANDMARKS.min(points)),
        }
    }
}

pub(super) fn check_points(
    inputs: ArrayView2<'_, f64>,
    target: &PairTarget<'_>,
) -> Result<(), LearningError> {
    let (points, targets) = (inputs.nrows(), target.points());
    if points != targets {
        return Err(LearningError::Length { inputs: points, targets });
    }
    if points < 2 {
        return Err(refused("points", points, "at least 2"));
    }
    match inputs.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => Err(LearningError::InputNotFinite { row, column, value }),
        None => Ok(()),
    }
}

pub(super) fn facts<const N: usize>(numbers: [(&str, f64); N]) -> BTreeMap<String, f64> {
    numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
