//! Sequential minimal optimisation of support vector machines.

mod cache;
mod dual;
mod passes;
mod rows;
mod run;
#[cfg(test)]
mod tests;

use crate::SolverError;
use cache::RowCache;
use ndarray::{Array1, ArrayView1, ArrayView2};
use run::Run;

pub use dual::Dual;
pub use rows::{KernelRows, Precomputed};

/// Steps between two calls of the check that may end a run from outside.
const CHECK_EVERY: usize = 256;

/// Settings of sequential minimal optimisation.
///
/// Each step moves two weights of a [`Dual`]. One is the weight whose growth lowers the objective fastest. The other,
/// among those that may fall, has the largest second-order gain (Fan, Chen & Lin, *Working set selection using second
/// order information*, JMLR 6, 2005). Points that cannot move are set aside on the way and looked at again before the
/// end. Kernel rows are kept in a cache of limited size, so that a kernel matrix need never be held.
///
/// With a kernel that is not positive semidefinite the limit is a stationary point: where a pair
/// has no curvature, the step goes to the edge of the box.
///
/// ```
/// use mercer_solvers::{Dual, Precomputed, Smo};
/// use ndarray::array;
/// // Exclusive or, with the kernel (x·z + 1)² of the corners (±1, ±1).
/// let gram = array![[9.0, 1.0, 1.0, 1.0], [1.0, 9.0, 1.0, 1.0], [1.0, 1.0, 9.0, 1.0], [1.0, 1.0, 1.0, 9.0]];
/// let dual = Dual::classification(&[true, false, false, true], 10.0)?;
/// let solution = Smo::default().solve(&Precomputed::new(gram.view())?, &dual)?;
/// assert!(solution.converged);
/// let f = solution.decision(gram.view());
/// assert!(f[0] > 0.9 && f[1] < -0.9);
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smo {
    /// Largest violation of optimality by a pair of weights at which the run ends. It is measured on the gradient, in
    /// units of the targets.
    pub tolerance: f64,
    /// Bytes that cached kernel rows may fill; two rows are always held.
    pub cache_bytes: usize,
    /// Steps at most; `max(10⁷, 100 n)` if not set.
    pub max_steps: Option<usize>,
    /// Whether points that cannot move are set aside.
    pub shrinking: bool,
}

impl Default for Smo {
    fn default() -> Self {
        Self { tolerance: 1e-3, cache_bytes: 200 << 20, max_steps: None, shrinking: true }
    }
}

/// What a run leaves: `f(x) = Σ_t weights_t k(x_t, x) + bias`.
///
/// ```
/// use mercer_solvers::{Dual, Precomputed, Smo};
/// use ndarray::array;
/// // x = −1 and x = 1 with the linear kernel: f(x) = x, of weights ∓1/2.
/// let gram = array![[1.0, -1.0], [-1.0, 1.0]];
/// let dual = Dual::classification(&[false, true], 10.0)?;
/// let solution = Smo::default().solve(&Precomputed::new(gram.view())?, &dual)?;
/// let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
/// assert!(near(solution.weights[0], -0.5) && near(solution.weights[1], 0.5));
/// assert!(near(solution.bias, 0.0) && solution.converged);
/// assert!(near(solution.decision(gram.view())[1], 1.0)); // on the margin
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// `β`: `y_t α_t` of a classification, `α_t − α_t*` of a regression; `n` entries.
    pub weights: Array1<f64>,
    /// `b`.
    pub bias: f64,
    /// The objective of the [`Dual`] at `β`.
    pub objective: f64,
    /// The largest violation by a pair that is left. It is at most the tolerance if converged, and 0 where no pair can
    /// move at all.
    pub violation: f64,
    /// Steps taken.
    pub steps: usize,
    /// Whether the tolerance was met. Otherwise the limit of steps was reached, or rounding left nothing to gain.
    pub converged: bool,
    /// Kernel rows that were computed, each anew when the cache had lost it.
    pub rows_computed: usize,
    /// The largest number of points that were set aside at a time.
    pub set_aside: usize,
    /// Whether any weight came to a bound other than 0. For SMO this counts on the way: else it takes the same steps at
    /// every larger cost. For interior points it counts at the end.
    pub bounded: bool,
}

impl Solution {
    /// Returns `f(x)` for the rows of `cross`, `cross_it = k(x_i, x_t)`: `m × n` to `m`.
    ///
    /// # Panics
    /// If `cross` does not have `n` columns.
    pub fn decision(&self, cross: ArrayView2<'_, f64>) -> Array1<f64> {
        cross.dot(&self.weights) + self.bias
    }

    /// Returns the number of weights that are not 0.
    pub fn support(&self) -> usize {
        self.weights.iter().filter(|weight| **weight != 0.0).count()
    }
}

impl Smo {
    /// Solves the dual, starting at `β = 0`.
    ///
    /// # Errors
    /// [`SolverError::Setting`] for a tolerance that is not positive, [`SolverError::Lengths`] if
    /// kernel and dual differ in size, [`SolverError::NotFinite`] if a kernel row is not finite.
    pub fn solve(
        &self,
        rows: &(impl KernelRows + ?Sized),
        dual: &Dual,
    ) -> Result<Solution, SolverError> {
        self.solve_checked(rows, dual, None, || Ok(()))
    }

    /// Solves the dual, starting at weights that keep its bounds and sum to 0. Such weights are, say, the solution for
    /// a smaller cost times the ratio of the costs.
    ///
    /// # Errors
    /// As [`Smo::solve`], and [`SolverError::Start`] for weights that break a constraint.
    pub fn solve_from(
        &self,
        rows: &(impl KernelRows + ?Sized),
        dual: &Dual,
        start: ArrayView1<'_, f64>,
    ) -> Result<Solution, SolverError> {
        self.solve_checked(rows, dual, Some(start), || Ok(()))
    }

    /// Solves the dual and asks `check` every few hundred steps whether to go on.
    ///
    /// # Errors
    /// As [`Smo::solve_from`], and whatever `check` says.
    pub fn solve_checked<E: From<SolverError>>(
        &self,
        rows: &(impl KernelRows + ?Sized),
        dual: &Dual,
        start: Option<ArrayView1<'_, f64>>,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Solution, E> {
        dual.check_run(self.tolerance, "the kernel's rows", rows.size())?;
        let n = dual.len();
        let max_steps = self.max_steps.unwrap_or_else(|| (100 * n).max(10_000_000));
        let mut run = Run::new(rows, dual, RowCache::new(n, self.cache_bytes))?;
        if let Some(start) = start {
            run.start_at(start)?;
        }
        let shrink_every = n.clamp(1, 1000);
        let mut until_shrink = shrink_every;
        let mut unshrunk = false;
        let mut steps = 0;
        let converged = loop {
            if self.shrinking && until_shrink == 0 {
                until_shrink = shrink_every;
                if !unshrunk && run.violation() <= 10.0 * self.tolerance {
                    unshrunk = true;
                    run.restore()?;
                }
                run.set_aside();
            }
            if run.violation() <= self.tolerance {
                if run.is_whole() {
                    break true;
                }
                run.restore()?;
                if run.violation() <= self.tolerance {
                    break true;
                }
                // What was set aside can move after all; the rest is put aside again soon.
                until_shrink = 1;
            }
            if steps >= max_steps {
                break false;
            }
            if steps % CHECK_EVERY == 0 {
                check()?;
            }
            if !run.step()? {
                // Rounding has used up what the remaining violation could gain.
                break false;
            }
            steps += 1;
            until_shrink = until_shrink.saturating_sub(1);
        };
        run.restore()?;
        Ok(run.finish(steps, converged, self.tolerance))
    }
}
