//! Which rows are the landmarks of the linear-time solver.

use super::growing::failed;
use mercer_kernels::GaussianHyper;
use mercer_learning::{Fitting, LearningError};
use mercer_linalg::GrowingCholesky;
use ndarray::{Array1, ArrayView2, ArrayViewMut2, Axis, s};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How the landmarks are chosen of the rows `x_i`.
///
/// ```
/// use mercer_kernels::{GaussianHyper, HyperKernel};
/// use mercer_learning::Fitting;
/// use mercer_models::hyper_rkhs::{LandmarkChoice, PairRidge, PairSolver, PairTarget};
/// use ndarray::Array2;
/// // Nineteen rows near 0, and one at 3, which two pivots do not miss.
/// let points = Array2::from_shape_fn((20, 1), |(i, _)| if i == 7 { 3.0 } else { 0.01 * i as f64 });
/// let target = PairTarget::classes(&[0; 20], 1.0, -1.0)?;
/// let ridge = PairRidge {
///     solver: PairSolver::LinearTime,
///     landmarks: Some(2),
///     landmark_choice: LandmarkChoice::Pivots,
///     ..PairRidge::default()
/// };
/// let hyper = HyperKernel::Gaussian(GaussianHyper::printed(0.5, 0.25)?);
/// let learned = ridge.learn(&hyper, points.view(), &target, &Fitting::seeded(1))?;
/// let far = points.select(ndarray::Axis(0), &[7]);
/// assert!(learned.kernel.gram(far.view(), 1)[[0, 0]] > 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LandmarkChoice {
    /// Drawn at random, each row at most once.
    Random,
    /// The pivots of the Cholesky factorisation of the kernel `u` of the point factors: each is the row of which the
    /// span of those before it leaves most. `O(m M²)`.
    Pivots,
}

/// Rows in ascending order; rows drawn at random where there are fewer pivots, since rows repeat.
pub(super) fn pivots(
    hyper: &GaussianHyper,
    inputs: ArrayView2<'_, f64>,
    count: usize,
    fitting: &Fitting<'_>,
) -> Result<Vec<usize>, LearningError> {
    let columns = |pivots: &[usize], rows: Range<usize>, mut to: ArrayViewMut2<'_, f64>| {
        let pivots = inputs.select(Axis(0), pivots);
        to.assign(&hyper.point_factors(pivots.view(), inputs.slice(s![rows, ..])).t());
    };
    let ones = Array1::ones(inputs.nrows());
    let factor = GrowingCholesky::new(&ones, columns, 0.0, count, fitting.threads);
    let mut factor = factor.map_err(failed)?;
    factor.grow(count).map_err(failed)?;
    let mut chosen = factor.pivots().to_vec();
    let mut rng = fitting.streams.rng("landmarks");
    while chosen.len() < count {
        let row = rng.gen_range(0..inputs.nrows());
        if !chosen.contains(&row) {
            chosen.push(row);
        }
    }
    chosen.sort_unstable();
    Ok(chosen)
}
