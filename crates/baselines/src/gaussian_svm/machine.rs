use crate::kernel_choice::Computed;
use crate::kernel_machine::{Stop, failed as unsolved};
use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_svm::Svm;
use mercer_kernels::Kernel;
use mercer_learning::{LearningError, Limits};
use mercer_linalg::{Matrix, MatrixView, pipeline};
use mercer_solvers::{Dual as SmoDual, Precomputed, Smo};
use ndarray::{Array1, Array2, ArrayView1, Axis};

/// linfa drops dual variables below this as rounding.
const NEGLIGIBLE: f64 = 100.0 * f64::EPSILON;

/// Data that all SVMs of a fit share.
#[derive(Clone, Copy)]
pub(super) struct Dual<'a> {
    pub(super) inputs: MatrixView<'a>,
    pub(super) kernel: Kernel,
    /// `s` of the Gaussian kernel where linfa solves, which knows no other kernel and no weights.
    pub(super) linfa: Option<f64>,
    pub(super) cost: f64,
    pub(super) tolerance: f64,
    /// Weights of the rows, which multiply the cost.
    pub(super) weights: Option<ArrayView1<'a, f64>>,
    pub(super) limits: &'a dyn Limits,
}

/// One solved dual problem: `f(x) = Σ weights · k(x, x_row) − rho`.
pub(super) struct Machine {
    /// Support vectors as rows of the sample, ascending, with `y_i α_i` or `α_i − α_i*`.
    pub(super) weights: Vec<(usize, f64)>,
    pub(super) rho: f64,
    pub(super) iterations: usize,
    /// Whether the tolerance was met within linfa's iteration limit.
    pub(super) finished: bool,
    /// Largest violation of the optimality conditions by a pair of dual variables.
    pub(super) violation: f64,
}

/// The problem of an SVM.
pub(super) enum Problem {
    /// C-SVC on some rows of the sample; both signs must occur.
    Signs { rows: Vec<usize>, signs: Vec<bool> },
    /// ε-SVR on all rows of the sample.
    Values { targets: Array1<f64>, epsilon: f64 },
}

impl Problem {
    /// The rows of the sample that it is about.
    pub(super) fn rows(&self) -> Vec<usize> {
        match self {
            Self::Signs { rows, .. } => rows.clone(),
            Self::Values { targets, .. } => (0..targets.len()).collect(),
        }
    }
}

/// Bytes that our solver's kernel may fill: a matrix of 8192 rows, or of a larger one the rows that were used last. Twice
/// as many of these made a fit of 18,000 rows no faster.
const KERNEL_BYTES: usize = 512 << 20;
const CACHE_BYTES: usize = 256 << 20;

impl Dual<'_> {
    /// Solves some problems side by side.
    pub(super) fn solve_all(
        &self,
        problems: &[Problem],
        threads: usize,
    ) -> Result<Vec<Machine>, LearningError> {
        let mut machines = Vec::with_capacity(problems.len());
        let mut left = problems.iter();
        pipeline(
            threads,
            || left.next(),
            |problem| {
                self.limits.check()?;
                self.solve(problem, threads.min(problems.len()))
            },
            |machine| {
                machines.push(machine?);
                Ok::<(), LearningError>(())
            },
        )?;
        Ok(machines)
    }

    /// Solves a problem beside others, `at_once` in all.
    fn solve(&self, problem: &Problem, at_once: usize) -> Result<Machine, LearningError> {
        let rows = problem.rows();
        let n = rows.len();
        let d = match self.inputs {
            MatrixView::Dense(inputs) => inputs.ncols(),
            MatrixView::Sparse(_) => 0,
        };
        let whole = 8 * n * n;
        // The matrix or a part of it, and the rows copied for it.
        let held = match whole {
            _ if self.linfa.is_some() => whole,
            small if small <= KERNEL_BYTES => small,
            _ => CACHE_BYTES,
        };
        self.limits.reserve((at_once * (held + 8 * n * d)) as u64)?;
        let (std, inputs) = match (self.linfa, self.inputs.select(&rows)) {
            (Some(std), Matrix::Dense(inputs)) => (std, inputs),
            (_, inputs) => return self.by_smo(&rows, inputs.view(), problem),
        };
        match problem {
            Problem::Signs { signs, .. } => self.classification(&rows, inputs, signs, std),
            Problem::Values { targets, epsilon } => self.regression(inputs, targets, *epsilon, std),
        }
    }

    fn classification(
        &self,
        rows: &[usize],
        inputs: Array2<f64>,
        signs: &[bool],
        std: f64,
    ) -> Result<Machine, LearningError> {
        let signs = Array1::from(signs.to_vec());
        let dataset = DatasetBase::new(inputs, signs.clone());
        let svm = Svm::<f64, bool>::params()
            .gaussian_kernel(linfa_width(std))
            .pos_neg_weights(self.cost, self.cost)
            .eps(self.tolerance)
            .fit(&dataset)
            .map_err(|error| failed(&error))?;
        let y = signs.mapv(|sign| if sign { 1.0 } else { -1.0 });
        let f = self.values(&dataset.records, &svm.alpha);
        // αᵢ can grow where yᵢ weightᵢ < C, and shrink where it is positive.
        let conditions = (0..rows.len()).map(|i| {
            let (can_grow, can_shrink) =
                (y[i] * svm.alpha[i] < self.cost, y[i] * svm.alpha[i] > 0.0);
            let (up, low) = if signs[i] { (can_grow, can_shrink) } else { (can_shrink, can_grow) };
            (y[i] - f[i], up, low)
        });
        finish(rows, &svm, worst_pair(conditions))
    }

    fn regression(
        &self,
        inputs: Array2<f64>,
        targets: &Array1<f64>,
        epsilon: f64,
        std: f64,
    ) -> Result<Machine, LearningError> {
        let dataset = DatasetBase::new(inputs, targets.clone());
        let svm = Svm::<f64, f64>::params()
            .gaussian_kernel(linfa_width(std))
            .c_svr(self.cost, Some(epsilon))
            .eps(self.tolerance)
            .fit(&dataset)
            .map_err(|error| failed(&error))?;
        let f = self.values(&dataset.records, &svm.alpha);
        // A weight β = α − α* > 0 is α, below 0 it is α*: two conditions a row.
        let conditions = (0..targets.len()).flat_map(|i| {
            let (weight, residual) = (svm.alpha[i], targets[i] - f[i]);
            [
                (residual - epsilon, weight < self.cost, weight > 0.0),
                (residual + epsilon, weight < 0.0, weight > -self.cost),
            ]
        });
        let rows: Vec<usize> = (0..targets.len()).collect();
        finish(&rows, &svm, worst_pair(conditions))
    }

    /// By our own sequential minimal optimisation.
    fn by_smo(
        &self,
        rows: &[usize],
        inputs: MatrixView<'_>,
        problem: &Problem,
    ) -> Result<Machine, LearningError> {
        let dual = match problem {
            Problem::Signs { signs, .. } => SmoDual::classification(signs, self.cost),
            Problem::Values { targets, epsilon } => {
                SmoDual::regression(targets.view(), *epsilon, self.cost)
            }
        };
        let dual = match self.weights {
            Some(weights) => {
                dual.and_then(|dual| dual.weighted(weights.select(Axis(0), rows).view()))
            }
            None => dual,
        };
        let dual = dual.map_err(|error| unsolved(&error))?;
        let smo = Smo { tolerance: self.tolerance, cache_bytes: CACHE_BYTES, ..Smo::default() };
        let check = || self.limits.check().map_err(Stop::Limit);
        let found = if 8 * rows.len() * rows.len() <= KERNEL_BYTES {
            let gram = self.kernel.gram(inputs);
            let stored = Precomputed::new(gram.view()).map_err(|error| unsolved(&error))?;
            smo.solve_checked(&stored, &dual, None, check)?
        } else {
            smo.solve_checked(&Computed::new(self.kernel, inputs), &dual, None, check)?
        };
        let weights = rows.iter().copied().zip(found.weights).filter(|(_, weight)| *weight != 0.0);
        Ok(Machine {
            weights: weights.collect(),
            rho: -found.bias,
            iterations: found.steps,
            finished: found.converged,
            violation: found.violation,
        })
    }

    /// `Σ_j weight_j k(x_i, x_j)` for all rows of the problem.
    fn values(&self, inputs: &Array2<f64>, weights: &[f64]) -> Array1<f64> {
        let support: Vec<usize> =
            (0..weights.len()).filter(|&i| weights[i].abs() > NEGLIGIBLE).collect();
        let kept: Array1<f64> = support.iter().map(|&i| weights[i]).collect();
        let sections = self.kernel.sections(inputs.select(Axis(0), &support).view());
        let blocks = inputs.axis_chunks_iter(Axis(0), 512);
        blocks.flat_map(|block| sections.at(block).dot(&kept).to_vec()).collect()
    }
}

/// The kept part of linfa's solution of the problem on these rows.
fn finish<T>(rows: &[usize], svm: &Svm<f64, T>, violation: f64) -> Result<Machine, LearningError> {
    let (iterations, finished) = read_exit(&svm.to_string()).ok_or_else(|| {
        let reason = format!("cannot read its summary: {svm}");
        LearningError::Numerical { operation: "linfa-svm", reason }
    })?;
    if !svm.rho.is_finite() || svm.alpha.iter().any(|weight| !weight.is_finite()) {
        let reason = "the solution has NaN or infinite entries; lower `cost`".to_owned();
        return Err(LearningError::Numerical { operation: "linfa-svm", reason });
    }
    let weights = rows
        .iter()
        .zip(&svm.alpha)
        .filter(|(_, weight)| weight.abs() > NEGLIGIBLE)
        .map(|(&row, &weight)| (row, weight))
        .collect();
    Ok(Machine { weights, rho: svm.rho, iterations, finished, violation })
}

/// linfa's Gaussian kernel is `exp(−‖x−z‖²/ε)`, ours `exp(−s²‖x−z‖²/2)`, so `ε = 2/s²`.
fn linfa_width(std: f64) -> f64 {
    2.0 / std.powi(2)
}

/// The largest `z_i − z_j` over `i` that may move up and `j` that may move down; 0 if none.
fn worst_pair(conditions: impl Iterator<Item = (f64, bool, bool)>) -> f64 {
    let (mut up, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
    for (z, can_rise, can_fall) in conditions {
        if can_rise {
            up = up.max(z);
        }
        if can_fall {
            low = low.min(z);
        }
    }
    (up - low).max(0.0)
}

/// Iterations, and whether the tolerance was met: linfa keeps both private but prints them.
fn read_exit(summary: &str) -> Option<(usize, bool)> {
    let (rest, finished) = match summary.strip_prefix("Exited after ") {
        Some(rest) => (rest, true),
        None => (summary.strip_prefix("Reached maximal iterations ")?, false),
    };
    Some((rest.split(' ').next()?.parse().ok()?, finished))
}

fn failed(error: &linfa_svm::SvmError) -> LearningError {
    LearningError::Numerical { operation: "linfa-svm", reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use ndarray::array;

    #[test]
    fn std_means_the_same_here_and_in_linfa() {
        let (x, z, std) = (array![0.4, -1.0], array![1.3, 0.2], 0.8);
        let ours = Kernel::Gaussian { std }.of(x.view(), z.view());
        // One machine, two rows: by symmetry both weights are ±a, and with C out of reach
        // a (1 − k(x, z)) = 1, so linfa's own kernel value can be read off its weights.
        let inputs = ndarray::stack![Axis(0), x, z];
        let svm = Svm::<f64, bool>::params()
            .gaussian_kernel(linfa_width(std))
            .pos_neg_weights(1e6, 1e6)
            .eps(1e-12)
            .fit(&DatasetBase::new(inputs, array![true, false]))
            .unwrap();
        assert_relative_eq!(1.0 - 1.0 / svm.alpha[0], ours, max_relative = 1e-10);
        assert_relative_eq!(svm.alpha[1], -svm.alpha[0], max_relative = 1e-10);
    }

    #[test]
    fn the_exit_is_read_from_what_linfa_prints() {
        assert_eq!(
            read_exit("Exited after 15 iterations with obj = -2 and 3 support vectors"),
            Some((15, true))
        );
        assert_eq!(
            read_exit("Reached maximal iterations 10000000 with obj = 1 and 3 support vectors"),
            Some((10_000_000, false))
        );
        assert_eq!(read_exit("nothing of the kind"), None);
    }

    #[test]
    fn an_unsolved_problem_is_seen_to_be_unsolved() {
        // α = 0 for labels ±1: the pair (+, −) violates by 1 − (−1) = 2.
        let start = [(1.0, true, false), (-1.0, false, true)];
        assert_relative_eq!(worst_pair(start.into_iter()), 2.0);
        let solved = [(0.3, true, true), (0.5, false, true), (0.1, true, false)];
        assert_relative_eq!(worst_pair(solved.into_iter()), 0.0);
    }
}
