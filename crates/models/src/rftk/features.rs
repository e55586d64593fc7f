mod choice;
mod outcome;
mod passes;

use choice::{Choice, choosing, half_decades, smallest_error};
pub(super) use outcome::effective_rank;
use outcome::{drawn, numerical, outcome};

use super::{Normalisation, columns_of, refused};
use crate::spectral::{Model, Scalar};
use linfa::ParamGuard;
use mercer_learning::{
    Allowed, Estimator, Fitted, Fitting, Learner, LearningError, Parameters, RowChunks, Sample,
};
use mercer_linalg::{
    Cholesky, JITTER_LADDER, LinalgError, RidgePath, explicit_inverse_f32, minimum_norm_solve,
    multiplied, product, symmetric_product, thin_svd,
};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Rows on which the effective rank of the features is reported.
const RANK_ROWS: usize = 1000;

/// Smallest ridge, relative to the trace of the Gram matrix, that is solved by Cholesky: squaring
/// the features then costs at most ten of the sixteen digits. Below, their singular values are used.
const SMALL_RIDGE: f64 = 1e-10;

/// Rows over which a ridge is chosen that was not given: their matrix is decomposed in half a second.
const CHOOSING: usize = 1000;

/// How a closed form is computed.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::rftk::{ClosedPrecision, RandomFeaturesParams};
/// // The authors' code inverts in single precision.
/// let read = |word: &str| Settings::new().with("precision", word).read::<RandomFeaturesParams>("rf");
/// assert_eq!(read("f32-inverse")?.precision, ClosedPrecision::F32Inverse);
/// assert_eq!(RandomFeaturesParams::default().precision, ClosedPrecision::F64);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("f64, f32-inverse"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClosedPrecision {
    /// Double precision; Cholesky where the ridge allows it, else a decomposition with a cut-off.
    F64,
    /// Single precision with an explicit inverse, as in the authors' code. Where the matrix is ill-conditioned the
    /// result is noise.
    F32Inverse,
}

mercer_learning::parameters! {
    /// Settings of `rf-ridge` and `rf-ridgeless`; the defaults are the paper's text.
    ///
    /// ```
    /// use linfa::prelude::*;
    /// use mercer_models::rftk::RandomFeaturesParams;
    /// use ndarray::{Array1, Axis, array};
    /// let x = Array1::linspace(-2.0, 2.0, 40);
    /// let dataset = Dataset::new(x.clone().insert_axis(Axis(1)), x.mapv(f64::sin));
    /// let params = RandomFeaturesParams { features: 300, std: 1.0, ..Default::default() };
    /// let model = params.seeded(1).fit(&dataset)?;
    /// let at_half = model.predict(&array![[0.5]])[0];
    /// assert!((at_half - 0.5f64.sin()).abs() < 1e-3);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct RandomFeaturesParams {
        /// Features `M`.
        pub features: usize = 2000, Allowed::COUNT;
        /// Standard deviation `k` of the entries of `O`, in 1/input unit.
        pub std: f64 = 0.1, Allowed::POSITIVE;
        /// Factor of the features.
        pub normalisation: Normalisation = Normalisation::Printed;
        /// `λ ≥ 0` in `ΦᵀΦ + λ n I`; with 0, the solution of least norm. (The authors' code takes
        /// 1e-7 for 0.) If null, it is chosen among half decades by the error of leave-one-out, which is
        /// exact: over all rows, or over 1000 by seed, whose `λ · 1000` then holds for all.
        pub lambda: Option<f64> = Some(0.0), Allowed::NOT_NEGATIVE;
        /// Ridges `λ > 0` to choose from, by the error of leave-one-out over the training rows, which is
        /// exact and costs one eigendecomposition for all of them; with none, `lambda` holds. Double
        /// precision only.
        pub ridges: Vec<f64> = Vec::new(), Allowed::POSITIVE;
        /// How it is computed.
        pub precision: ClosedPrecision = ClosedPrecision::F64;
        /// Singular values of `Φ` at or below this times the largest count as 0 (`λ = 0` in double
        /// precision only); `max(n, M) ε`, rounding alone, if null. `rf-ridgeless` by name takes
        /// 1e-4, which truncates the solution: steadier on noisy rows. null is the paper's.
        pub cutoff: Option<f64> = None, Allowed::BELOW_ONE;
    }
}

impl RandomFeaturesParams {
    /// Returns the learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<RandomFeatures, LearningError> {
        self.in_range()?;
        if !(self.std * self.std).is_finite() {
            return Err(refused("std", self.std, "small enough for its square to be finite"));
        }
        if self.chooses() && self.precision != ClosedPrecision::F64 {
            let must = "`f64` where a ridge is chosen; give one by `lambda`";
            return Err(refused("precision", "f32-inverse", must));
        }
        Ok(RandomFeatures(self))
    }

    /// Whether the fit chooses its ridge.
    const fn chooses(&self) -> bool {
        !self.ridges.is_empty() || self.lambda.is_none()
    }

    /// `Φ` of the rows.
    fn features_of<F: Scalar>(
        &self,
        model: &Model<F>,
        sample: &Sample,
    ) -> Result<Array2<F>, LearningError> {
        let phi = model.feature_matrix(sample.inputs());
        if phi.iter().all(|entry| entry.wide().is_finite()) {
            return Ok(phi);
        }
        let format = Model::<F>::precision();
        Err(LearningError::overflow("the features", format, "std", self.std, sample))
    }

    /// For linfa's `Fit`: these settings, and the root of the random streams.
    pub const fn seeded(self, seed: u64) -> SeededRandomFeatures {
        SeededRandomFeatures(Estimator { learner: RandomFeatures(self), seed })
    }
}

/// [`RandomFeaturesParams`] with a seed, as linfa wants them: not checked before `fit` or `check`.
///
/// ```
/// use linfa::ParamGuard;
/// use mercer_models::rftk::RandomFeaturesParams;
/// let refused = RandomFeaturesParams { features: 0, ..Default::default() }.seeded(1).check().unwrap_err();
/// assert_eq!(refused.to_string(), "setting `features` is 0; it must be at least 1");
/// assert_eq!(RandomFeaturesParams::default().seeded(7).check().unwrap().seed, 7);
/// ```
#[derive(Debug, Clone)]
pub struct SeededRandomFeatures(Estimator<RandomFeatures>);

impl ParamGuard for SeededRandomFeatures {
    type Checked = Estimator<RandomFeatures>;
    type Error = LearningError;

    fn check_ref(&self) -> Result<&Self::Checked, Self::Error> {
        self.0.learner.0.clone().checked()?;
        Ok(&self.0)
    }

    fn check(self) -> Result<Self::Checked, Self::Error> {
        self.check_ref()?;
        Ok(self.0)
    }
}

/// Least squares on random Fourier features, with or without a ridge.
///
/// Facts of a fit:
/// - `loss` (mean squared error of the training rows);
/// - `rank` (in single precision the number of features, as its inverse takes it);
/// - `cutoff` (absolute, of singular values; 0 where none was cut);
/// - `jitter`;
/// - `frobenius-squared` (`‖w‖²`);
/// - `feature-norm-squared` (mean `‖φ(x)‖²`, the trace of the kernel matrix over `n`) and its companion free of scale,
///   `effective-rank` (`tr(K)²/‖K‖_F²` of at most 1000 training rows).
///
/// Where a ridge was chosen, the facts also have `lambda` and its mean squared error of `leave-one-out`. Where it was
/// among ridges that were not given, they have `grid-end`, 1 if it is the first or the last of them. Where angles are
/// lost, they have `lost-angles` ([`mercer_learning::fact::LOST_ANGLES`], not in passes).
///
/// Rows with weights, in memory and double precision: each row of `Φ` and `y` times the root of its weight, and
/// `Σ w` in the place of `n`. Leave-one-out leaves a row out with all its weight.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Sample};
/// use mercer_models::rftk::RandomFeaturesParams;
/// use ndarray::array;
/// let sample = Sample::regression(array![[-1.0], [0.0], [1.0]], array![1.0, 0.0, 1.0])?;
/// let params = RandomFeaturesParams { features: 50, std: 1.0, lambda: Some(1e-3), ..Default::default() };
/// let fitted = params.checked()?.fit(&sample, &mut Fitting::seeded(1))?;
/// assert!(fitted.facts["loss"] < 0.1);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RandomFeatures(RandomFeaturesParams);

impl RandomFeatures {
    /// Returns the settings.
    pub const fn params(&self) -> &RandomFeaturesParams {
        &self.0
    }
}

impl Learner for RandomFeatures {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        sample.require_two_classes()?;
        let params = &self.0;
        let (n, big_m, k) = (sample.rows(), params.features, sample.task().outputs());
        let small = n.min(big_m);
        // A request beyond all machines must not wrap around to a small one.
        let [n, big_m, k, small] = [n, big_m, k, small].map(|count| count as f64);
        let doubles = match params.precision {
            // The features, LAPACK's copy of them and one side's vectors; and square matrices.
            ClosedPrecision::F64 => 3.0 * n * big_m + 5.0 * small * small + 2.0 * n * k,
            ClosedPrecision::F32Inverse => (n * big_m + 4.0 * big_m * big_m + 2.0 * n * k) / 2.0,
        };
        let drawn = big_m * (sample.features() as f64 + k);
        fitting.limits.reserve((8.0 * (doubles + drawn)) as u64)?;
        match params.precision {
            ClosedPrecision::F64 => self.fit_double(sample, fitting),
            ClosedPrecision::F32Inverse => self.fit_single(sample, fitting),
        }
    }

    fn fit_chunks(
        &self,
        windows: &mut dyn RowChunks,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let first = windows.next()?;
        if windows.count() <= 1 {
            return self.fit(&first, fitting);
        }
        self.fit_sums(first, windows, fitting)
    }

    fn weighs_rows(&self) -> bool {
        true
    }
}

/// `w` and what was decided on the way.
struct Solution<F> {
    read_out: Array2<F>,
    facts: Vec<(&'static str, f64)>,
}

impl RandomFeatures {
    fn fit_double(&self, sample: &Sample, fitting: &Fitting<'_>) -> Result<Fitted, LearningError> {
        let params = &self.0;
        let mut model =
            drawn::<f64>(params, sample.features(), sample.task().outputs(), &fitting.streams);
        let mut phi = params.features_of(&model, sample)?;
        fitting.limits.check()?;
        let mut y = columns_of(sample.targets());
        if let Some(roots) = sample.root_weights() {
            let column = roots.view().insert_axis(Axis(1));
            phi *= &column;
            y *= &column;
        }
        let (n, total) = (sample.rows(), sample.total_weight());
        let solved = match params.lambda {
            _ if !params.ridges.is_empty() => params.choose(phi.view(), y.view(), total),
            Some(lambda) => solve(phi.view(), y.view(), lambda * total, params.cutoff),
            None if n <= CHOOSING => params.choose(phi.view(), y.view(), total),
            None => {
                let rows = choosing(n, &fitting.streams);
                let some = (phi.select(Axis(0), &rows), y.select(Axis(0), &rows));
                let weight = |weights: ArrayView1<'_, f64>| weights.select(Axis(0), &rows).sum();
                let shares = (sample.weights().map_or(rows.len() as f64, weight), total);
                params.best_ridge(some.0.view(), some.1.view(), shares).and_then(|made| {
                    let mut solved = solve(phi.view(), y.view(), made.lambda * total, None)?;
                    solved.facts.extend(made.facts(true));
                    Ok(solved)
                })
            }
        };
        let solution = solved.map_err(|error| numerical(&error))?;
        model.read_out = solution.read_out;
        Ok(outcome(model, &phi, sample, &y, &solution.facts))
    }

    fn fit_single(&self, sample: &Sample, fitting: &Fitting<'_>) -> Result<Fitted, LearningError> {
        let params = &self.0;
        let mut model =
            drawn::<f32>(params, sample.features(), sample.task().outputs(), &fitting.streams);
        if sample.weights().is_some() {
            return Err(refused("precision", "f32-inverse", "`f64` where rows have weights"));
        }
        let phi = params.features_of(&model, sample)?;
        fitting.limits.check()?;
        let y = columns_of(sample.targets());
        let narrow = y.mapv(|entry| entry as f32);
        let mut gram = symmetric_product(phi.view());
        let ridge = (params.lambda.unwrap_or(0.0) * sample.rows() as f64) as f32;
        gram.diag_mut().mapv_inplace(|entry| entry + ridge);
        let inverse = explicit_inverse_f32(gram.view()).map_err(|error| numerical(&error))?;
        let mut right = Array2::zeros((params.features, narrow.ncols()));
        product(1.0, phi.t(), narrow.view(), 0.0, right.view_mut());
        product(1.0, inverse.view(), right.view(), 0.0, model.read_out.view_mut());
        let rank = params.features as f64;
        let facts = [("rank", rank), ("cutoff", 0.0), ("jitter", 0.0)];
        Ok(outcome(model, &phi, sample, &y, &facts))
    }
}

/// `argmin ‖Φ w − y‖² + t ‖w‖²`, of least norm if `t = 0`.
fn solve(
    phi: ArrayView2<'_, f64>,
    y: ArrayView2<'_, f64>,
    ridge: f64,
    cutoff: Option<f64>,
) -> Result<Solution<f64>, LinalgError> {
    let (n, big_m) = phi.dim();
    if ridge == 0.0 {
        let solved = minimum_norm_solve(phi, y, cutoff)?;
        let facts = vec![("rank", solved.rank as f64), ("cutoff", solved.cutoff), ("jitter", 0.0)];
        return Ok(Solution { read_out: solved.x, facts });
    }
    let trace: f64 = phi.iter().map(|entry| entry * entry).sum();
    let rank = n.min(big_m) as f64;
    // Not a comparison of NaN: a trace that is not finite goes to the decomposition, which says so.
    if ridge >= SMALL_RIDGE * trace {
        let primal = big_m <= n;
        let mut gram = symmetric_product(if primal { phi } else { phi.reversed_axes() });
        gram.diag_mut().mapv_inplace(|entry| entry + ridge);
        let (factor, jitter) = Cholesky::with_jitter(gram, &JITTER_LADDER)?;
        let read_out = if primal {
            factor.solve(&multiplied(phi.t(), y))?
        } else {
            multiplied(phi.t(), factor.solve(&y.to_owned())?.view())
        };
        return Ok(Solution {
            read_out,
            facts: vec![("rank", rank), ("cutoff", 0.0), ("jitter", jitter)],
        });
    }
    let svd = thin_svd(phi)?;
    let filter = svd.singular.mapv(|value| value / (value * value + ridge));
    let coordinates = multiplied(svd.u.t(), y) * filter.insert_axis(Axis(1));
    let read_out = multiplied(svd.vt.t(), coordinates.view());
    Ok(Solution { read_out, facts: vec![("rank", rank), ("cutoff", 0.0), ("jitter", 0.0)] })
}

impl RandomFeaturesParams {
    /// The solution whose ridge has the smallest error of leave-one-out, over rows that count as `n`; the first of
    /// equals.
    fn choose<'a>(
        &self,
        phi: ArrayView2<'a, f64>,
        y: ArrayView2<'a, f64>,
        n: f64,
    ) -> Result<Solution<f64>, LinalgError> {
        let path = RidgePath::new(phi, y)?;
        let free = self.ridges.is_empty();
        let made = smallest_error(&path, &self.compared(), n)?;
        let mut facts =
            vec![("rank", path.rank() as f64), ("cutoff", path.cutoff()), ("jitter", 0.0)];
        facts.extend(made.facts(free));
        Ok(Solution { read_out: path.solve(made.lambda * n)?, facts })
    }

    /// The `λ` that [`Self::choose`] takes over rows that count as `some` of `n`, and its error. If `ridges` were
    /// given, it is one of them. Else `λ n` is what it was over these rows, since it stands for the noise of a target,
    /// which does not fall with their number.
    fn best_ridge<'a>(
        &self,
        phi: ArrayView2<'a, f64>,
        y: ArrayView2<'a, f64>,
        (some, n): (f64, f64),
    ) -> Result<Choice, LinalgError> {
        let path = RidgePath::new(phi, y)?;
        let made = smallest_error(&path, &self.compared(), some)?;
        let scale = if self.ridges.is_empty() { some / n } else { 1.0 };
        Ok(Choice { lambda: made.lambda * scale, ..made })
    }

    /// The ridges to choose from.
    fn compared(&self) -> Cow<'_, [f64]> {
        if self.ridges.is_empty() { half_decades().into() } else { (&self.ridges[..]).into() }
    }
}
