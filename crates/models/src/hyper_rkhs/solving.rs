//! Hyper-KRR by the solver that its settings and the number of points choose.

use super::linear::LinearTime;
use super::ridge::check_points;
use super::{
    Learned, PairRidge, PairSolver, PairTarget, exact, many_subsets, non_negative, nystrom,
    positive, refused,
};
use mercer_kernels::HyperKernel;
use mercer_learning::{Fitting, LearningError};
use ndarray::ArrayView2;

/// `λ m²` whose square is still a number.
const LARGEST_RIDGE: f64 = 1e100;

impl PairRidge {
    /// Learns a kernel from points and the target of their pairs. The points are the rows of `inputs` (`m × d`).
    ///
    /// # Errors
    /// [`LearningError::Setting`] for settings out of range, fewer than two points, more subsets than
    /// points or more landmarks than points of a subset; [`LearningError::Length`] if the target is of
    /// other points; [`LearningError::InputNotFinite`]; [`LearningError::Numerical`]; and what the
    /// limits say.
    pub fn learn(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        fitting: &Fitting<'_>,
    ) -> Result<Learned, LearningError> {
        let mut all = self.learn_path(kernel, inputs, target, &[self.lambda], fitting)?;
        Ok(all.remove(0))
    }

    /// Learns one kernel for each of `lambdas`, [`PairRidge::lambda`] apart. But for Cholesky and the non-negative
    /// variant all of them cost what one costs.
    ///
    /// # Errors
    /// As [`PairRidge::learn`].
    pub fn learn_path(
        &self,
        kernel: &HyperKernel,
        inputs: ArrayView2<'_, f64>,
        target: &PairTarget<'_>,
        lambdas: &[f64],
        fitting: &Fitting<'_>,
    ) -> Result<Vec<Learned>, LearningError> {
        self.check()?;
        for &lambda in lambdas {
            positive("lambda", lambda)?;
        }
        check_points(inputs, target)?;
        let largest = LARGEST_RIDGE / (inputs.nrows() as f64).powi(2);
        if let Some(&lambda) = lambdas.iter().find(|&&lambda| lambda > largest) {
            let must = "at most 1e100 over the square of the points: the kernel, of order 1/λ, is nothing long before";
            return Err(refused("lambda", format!("{lambda:e}"), must));
        }
        if self.subsets > inputs.nrows() / 2 {
            return Err(many_subsets(self.subsets, inputs.nrows()));
        }
        match self.chosen(kernel, inputs.nrows()) {
            PairSolver::Cholesky => exact::by_cholesky(kernel, inputs, target, lambdas, fitting),
            PairSolver::ConjugateGradients => {
                exact::by_conjugate_gradients(self, kernel, inputs, target, lambdas, fitting)
            }
            PairSolver::LinearTime => {
                LinearTime::of(self).learn_path(kernel, inputs, target, lambdas, fitting)
            }
            PairSolver::NonNegative => {
                non_negative::learn(self, kernel, inputs, target, lambdas, fitting)
            }
            PairSolver::Nystrom | PairSolver::Auto => {
                nystrom::learn(self, kernel, inputs, target, lambdas, fitting)
            }
        }
    }
}
