use super::distance::{self, LandmarkPairs, SolutionError};
use super::growing::{Asked, Equations, Problem, Report, Solved};
use super::landmark_choice::{LandmarkChoice, pivots};
use super::nystrom::draw_landmarks;
use super::ridge::facts;
use super::system::Span;
use super::{Learned, PairRidge, PairTarget, of_kernel, refused};
use mercer_kernels::{HyperKernel, LearnedKernel, Pairs};
use mercer_learning::{Convergence, Fitting, LearningError};
use ndarray::{Array1, ArrayView2, Axis};

/// Columns that a factor of growing rank begins with.
const FIRST_COLUMNS: usize = 64;

/// A solution farther than this from the exact one, relatively, is not taken for it, though a smaller goal be met for
/// the factors.
const FAR: f64 = 0.01;

/// Nyström's hyper-KRR over **all** pairs of `m` points, in time linear in `m`. The hyper-kernel is Gaussian.
///
/// In the product form of [`GaussianHyper`](mercer_kernels::GaussianHyper), `h((i, j), q) = β_ij β_q w_q(i) w_q(j)` with
/// `w_q = u(·, z) u(·, z')` of the landmark pair `q = (z, z')`. Hence the normal matrix over all ordered
/// pairs is
/// ```text
/// G_qr = Σ_ij h((i, j), q) h((i, j), r) = β_q β_r S(q ∪ r),
/// S(z1, z2, z3, z4) = tᵀ B t,      t = u(·, z1) u(·, z2) u(·, z3) u(·, z4),      B_ij = β_ij²
/// ```
/// `B` is a Gaussian kernel of points, the same for all `q` and `r`, and `t` depends only on the
/// **multiset** of the four landmarks: of `P² / 2 ≈ M⁴/8` entries only `C(M + 3, 4) ≈ M⁴/24` are distinct.
/// With a partial Cholesky factor `B ≈ C Cᵀ` (`m × L`), `S ≈ |Cᵀ t|²`: `O(m L M⁴/24)` multiply-adds of
/// matrix products, `O(m L)` numbers, never `m²`; the paper's way is `O(m² M⁴)`.
///
/// **Error.** The residual `E = B − C Cᵀ` is positive semidefinite with known diagonal, and
/// `0 < t ≤ 1`. So `S` is never overestimated, and
/// ```text
/// 0 ≤ S − |Cᵀ t|² = tᵀ E t ≤ min( tr(E) Σ t_i²,  max_i E_ii (Σ t_i)² )
/// ```
/// The first is `tᵀ E t ≤ λ_max(E) |t|² ≤ tr(E) |t|²`; the second is `|E_ij| ≤ √(E_ii E_jj)`. For a coefficient vector
/// `b` the error of the form is `bᵀ (G − Ĝ) b = Σ_ij E_ij f_ij²` with
/// `f_ij = Σ_q b_q β_q w_q(i) w_q(j) = k_b(i, j)/β_ij`. A function that is small on all pairs tends to have a small
/// error too. That is no bound, for `β_ij` may be tiny where pairs are far apart. In one check (200 uniform points with
/// 5 inputs, width 0.3, 8 landmarks, 60 columns) the normal matrix was 2 % off by Frobenius. Along its worst function
/// it was off by 8 % of itself. What counts is the error of the solution, below. The bound on `‖G − Ĝ‖_F / ‖Ĝ‖_F` that
/// follows entry by entry is among the facts (`normal-error-bound`); the true error is far smaller, since `E` is
/// largest along vectors that alternate and `t` is smooth. It is estimated from `E` among some rows (`normal-error`).
/// With a `normal_tolerance` the columns grow by half until the estimate is below it, or there are `rank` of them, or
/// the factor fills `factor_bytes`. With neither tolerance they grow until `tr(E)/m` is at most `rank_tolerance`, or as
/// far. If the goal was not met, whichever it was, the fit counts as not converged ([`Convergence::FewColumns`]), and
/// its residual is the remaining error. But a trace above `rank_tolerance` is forgiven where the error of the solution,
/// below, is not above it. Nor is it enough that a goal for the factors is met: with a small ridge a factor that is
/// near may leave a solution that is not. Where its error is above 0.01, and above the goal, the fit does not count as
/// converged.
///
/// **Right-hand side.** For `Y = Σ_t c_t z_t z_tᵀ` (the ideal kernel is such a sum),
/// `Σ_ij Y_ij h((i, j), q) = β_q Σ_t c_t (z_t o w_q)ᵀ β (z_t o w_q)`, with a partial Cholesky factor of `β`;
/// any other `Y` costs `2 m² P` flops.
///
/// **Error of the solution.** What both approximations together do to the learned kernel `k̂` is among the
/// facts of every fit. With `A = T + t I`, `t = λ m²`, the exact normal equations in coordinates of unit
/// functions, `Â` the approximated ones, and `ρ` the residual that the solution leaves in the exact ones,
/// ```text
/// ‖k − k̂‖²_A = Σ_ij (k − k̂)(x_i, x_j)² + λ m² ‖k − k̂‖² = ρᵀ A⁻¹ ρ ≤ min( ρᵀ Â⁻¹ ρ/(1 − η), ‖ρ‖²/t ),
/// η = λ_max(Â^(−½) (T̂ − T) Â^(−½))
/// ```
/// for `A (z − ẑ) = ρ` and `A ⪰ (1 − η) Â`, and `A ⪰ t I` as `T` is a Gram matrix. `solution-error` is `‖k − k̂‖_A`
/// over the norm of `k̂` in `Â`. `solution-rms-error` is `‖k − k̂‖_A/m`, a bound on the root mean square over all
/// training pairs of how much the two kernels differ. Divided by `√λ` it bounds the difference at any pair of points.
/// `ρ` and `T̂ − T` are sums over pairs of the residuals of the two factors. Up to 400 points both are summed in full,
/// and the numbers are bounds, up to rounding. Beyond, `T̂ − T` is the sum over the pairs of some 400 rows (fewer where
/// the rank is above 150). Beyond 600 points `ρ` is the sum over 600 rows. Both sums are unbiased, and the two numbers
/// are estimated from them. Twice the standard deviation of `‖k − k̂‖_A` over draws of the rows of `ρ` is added on top.
/// No bound then, and nothing is proved of the side on which they err: the lesser of two, over `1 − η`, is not convex.
/// With a `solution_tolerance` the columns grow by half until `solution-error` is below it for every ridge. A
/// `normal_tolerance` beside it only says from which columns on, since its estimate is cheaper and the solution is the
/// goal. With a small ridge the solution is several times as far from the exact one as the normal matrix is. Columns
/// are added to those that are there, and `|Cᵀ t|²` to what was summed ([`mercer_linalg::GrowingCholesky`]): all steps
/// together cost what the last one would. A solution that does not come near enough counts as not converged, and its
/// `solution-error` is the residual.
///
/// The learned kernel is a [`LearnedKernel`] of `P` pairs of landmarks.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel};
/// use mercer_learning::Fitting;
/// use mercer_models::hyper_rkhs::{PairRidge, PairSolver, PairTarget};
/// use ndarray::Array2;
/// let points = Array2::from_shape_fn((12, 1), |(i, _)| 0.2 * i as f64);
/// let labels: Vec<u32> = (0..12).map(|i| i / 6).collect();
/// let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let target = PairTarget::classes(&labels, 1.0, -1.0)?;
/// let learn = |solver| {
///     let ridge = PairRidge { solver, landmarks: Some(3), lambda: 0.1, ..PairRidge::default() };
///     ridge.learn(&hyper, points.view(), &target, &Fitting::seeded(1))
/// };
/// let (linear, all) = (learn(PairSolver::LinearTime)?, learn(PairSolver::Nystrom)?);
/// let gap = linear.kernel.gram(points.view(), 1) - all.kernel.gram(points.view(), 1);
/// assert!(gap.iter().all(|gap| gap.abs() < 1e-3)); // the same landmarks, the same kernel
/// assert!(linear.facts["solution-error"] < 1e-3); // and it says so itself
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearTime {
    /// Landmarks `M`.
    pub landmarks: Option<usize>,
    /// How they are chosen.
    pub landmark_choice: LandmarkChoice,
    /// Relative cut-off of the eigenvalues of the landmark pairs' Gram matrix. Eigenvalues at or below this times the
    /// largest count as 0.
    pub cutoff: f64,
    /// Goal for `tr(E)/m`, without a `normal_tolerance`.
    pub rank_tolerance: f64,
    /// Goal for the estimated relative error of the normal matrix. With a `solution_tolerance` it says where the
    /// columns begin.
    pub normal_tolerance: Option<f64>,
    /// Goal for the estimated relative error of the solution.
    pub solution_tolerance: Option<f64>,
    /// Most columns `L`.
    pub rank: usize,
    /// Most bytes of the factors of `B` and of `β` together, `16 m L`.
    pub factor_bytes: u64,
}

impl LinearTime {
    pub(super) const fn of(ridge: &PairRidge) -> Self {
        Self {
            landmarks: ridge.landmarks,
            landmark_choice: ridge.landmark_choice,
            cutoff: ridge.cutoff,
            rank_tolerance: ridge.rank_tolerance,
            normal_tolerance: ridge.normal_tolerance,
            solution_tolerance: ridge.solution_tolerance,
            rank: ridge.rank,
            factor_bytes: ridge.factor_bytes,
        }
    }

    /// Columns that a factor of `m` rows may have.
    fn most_columns(&self, m: usize) -> usize {
        let fitting = self.factor_bytes / (16 * m.max(1) as u64);
        self.rank.min(m).min(usize::try_from(fitting).unwrap_or(usize::MAX)).max(1)
    }

    /// Numbers that are held at once for `m` points and so many landmarks.
    fn held(&self, m: usize, landmarks: usize, threads: usize) -> u64 {
        let (rows, pairs) = (m as u64, Pairs::count(landmarks));
        let (width, looked) = (pairs as u64, distance::held(m, pairs, threads) as u64);
        rows * (2 * self.most_columns(m) as u64 + landmarks as u64 + 8) + 4 * width * width + looked
    }

    /// What `m` points are factored to.
    fn asked(&self, m: usize) -> Asked {
        Asked {
            rank_tolerance: self.rank_tolerance,
            normal_tolerance: self.normal_tolerance,
            solution: self.solution_tolerance.is_some(),
            most: self.most_columns(m),
        }
    }

    /// The equations with as many columns as their solutions take to be near enough.
    fn solved(
        &self,
        problem: Problem<'_, '_, '_>,
        lambdas: &[f64],
    ) -> Result<Solved, LearningError> {
        let most = problem.asked.most;
        let mut equations = Equations::new(problem)?;
        let mut columns = FIRST_COLUMNS.min(most);
        loop {
            equations.grow(columns)?;
            let found = equations.solved(lambdas)?;
            let worst = found.errors.iter().map(|error| error.relative).fold(0.0, f64::max);
            let enough = self.solution_tolerance.is_none_or(|tolerance| worst <= tolerance);
            let rank = found.report.rank;
            // Fewer columns than were asked for: nothing is left but rounding.
            if enough || rank == most || rank < columns {
                return Ok(found);
            }
            columns = rank + rank / 2;
        }
    }

    /// Whether the goal that was asked for is met, by a solution that is not far either.
    fn convergence(&self, report: &Report, error: &SolutionError) -> Convergence {
        let asked_of_errors = self.solution_tolerance.is_some() || self.normal_tolerance.is_some();
        // The goal that was asked for, and what is left of it.
        let (goal, residual) = match (self.solution_tolerance, self.normal_tolerance) {
            (Some(goal), _) => (goal, error.relative),
            (None, Some(goal)) => (goal, report.error.unwrap_or(f64::NAN)),
            (None, None) => (self.rank_tolerance, report.residual.max(report.target_residual)),
        };
        // A trace that is not small is no fault of a kernel that is near.
        let met = residual <= goal || (!asked_of_errors && error.relative <= goal);
        if !met {
            Convergence::FewColumns { columns: report.rank, residual, goal }
        } else if self.solution_tolerance.is_none() && error.relative > goal.max(FAR) {
            Convergence::FarSolution { residual: error.relative, goal: goal.max(FAR) }
        } else {
            Convergence::Exact
        }
    }

    pub(super) fn learn_path(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        lambdas: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<Learned>, LearningError> {
        let HyperKernel::Gaussian(gaussian) = kernel else {
            let must = "another one with a Wishart hyper-kernel, which is no product over points";
            return Err(refused("solver", "linear-time", must));
        };
        let m = inputs.nrows();
        let ridge = PairRidge { landmarks: self.landmarks, ..PairRidge::default() };
        let count = ridge.landmarks_of(m)?;
        let asked = self.asked(m);
        fitting.limits.reserve(8 * self.held(m, count, fitting.threads))?;
        let chosen = match self.landmark_choice {
            // Those that plain Nyström draws.
            LandmarkChoice::Random => draw_landmarks(&fitting.streams.child("subset 0"), m, count),
            LandmarkChoice::Pivots => pivots(gaussian, inputs, count, fitting)?,
        };
        let landmarks = inputs.select(Axis(0), &chosen);
        let all = Pairs::all(count);
        let factors = gaussian.point_factors(landmarks.view(), inputs);
        let beta: Array1<f64> = {
            let kernel = gaussian.pair_kernel().gram(landmarks.view());
            all.as_slice().iter().map(|&(i, j)| kernel[[i, j]]).collect()
        };
        let span = Span::new(kernel.gram(landmarks.view(), &all, 1).view(), self.cutoff)?;
        let pairs = LandmarkPairs { factors: &factors, all: &all, beta: &beta };
        let (inputs, span) = (inputs.view(), &span);
        let problem = Problem { gaussian, inputs, target, pairs, span, asked, fitting };
        let Solved { system, report, errors } = self.solved(problem, lambdas)?;
        lambdas
            .iter()
            .zip(&errors)
            .map(|(lambda, error)| {
                let coefficients = system.solve(lambda * (m * m) as f64);
                let convergence = self.convergence(&report, error);
                let mut facts = facts([
                    ("pairs", (m * m) as f64),
                    ("landmark-pairs", all.len() as f64),
                    ("rank", span.rank() as f64),
                    ("pair-kernel-rank", report.rank as f64),
                    ("pair-kernel-residual", report.residual),
                    ("target-rank", report.target_rank as f64),
                    ("target-residual", report.target_residual),
                    ("normal-error-bound", report.error_bound),
                    ("solution-error", error.relative),
                    ("solution-rms-error", error.rms),
                ]);
                facts.extend(report.error.map(|error| ("normal-error".to_owned(), error)));
                let learned =
                    LearnedKernel::new(kernel.clone(), landmarks.view(), &all, &coefficients);
                Ok(Learned { kernel: learned.map_err(of_kernel)?, convergence, facts })
            })
            .collect()
    }
}
