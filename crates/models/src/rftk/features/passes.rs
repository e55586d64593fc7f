//! A ridge on more rows than are held: sums over windows of them.

use super::choice::{Choice, choosing};
use super::outcome::{drawn, effective_rank, numerical};
use super::{
    CHOOSING, ClosedPrecision, RANK_ROWS, RandomFeatures, RandomFeaturesParams, SMALL_RIDGE,
};
use crate::rftk::columns_of;
use crate::spectral::{Model, Spectral};
use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Outcome, RowChunks, Sample, Streams,
    Targets, fact,
};
use mercer_linalg::{Cholesky, JITTER_LADDER, LinalgError, multiplied, product, symmetric_product};
use ndarray::{Array2, Axis, concatenate, s};

/// Sums over all rows that a ridge needs: `ΦᵀΦ` and `Φᵀy`, and squares for the loss.
struct Sums {
    gram: Array2<f64>,
    right: Array2<f64>,
    feature_squares: f64,
    target_squares: f64,
}

impl Sums {
    fn new(features: usize, outputs: usize) -> Self {
        Self {
            gram: Array2::zeros((features, features)),
            right: Array2::zeros((features, outputs)),
            feature_squares: 0.0,
            target_squares: 0.0,
        }
    }

    /// Adds rows of `Φ` and `y`.
    fn add(&mut self, phi: &Array2<f64>, y: &Array2<f64>) {
        self.gram += &symmetric_product(phi.view());
        product(1.0, phi.t(), y.view(), 1.0, self.right.view_mut());
        self.feature_squares += phi.iter().map(|entry| entry * entry).sum::<f64>();
        self.target_squares += y.iter().map(|entry| entry * entry).sum::<f64>();
    }

    /// `w` for a ridge, its summed squared error, and the jitter that it took.
    fn solved(self, ridge: f64) -> Result<(Array2<f64>, f64, f64), LinalgError> {
        let gram = self.gram.clone();
        let mut ridged = self.gram;
        ridged.diag_mut().mapv_inplace(|entry| entry + ridge);
        let (factor, jitter) = Cholesky::with_jitter(ridged, &JITTER_LADDER)?;
        let w = factor.solve(&self.right)?;
        // ‖Φw − y‖² = wᵀ(ΦᵀΦ)w − 2 wᵀ(Φᵀy) + ‖y‖².
        let fitted: f64 = (&w * &multiplied(gram.view(), w.view())).sum();
        let loss = (fitted - 2.0 * (&w * &self.right).sum() + self.target_squares).max(0.0);
        Ok((w, loss, jitter))
    }
}

/// What one pass over all rows finds.
struct Passed {
    sums: Sums,
    /// The effective rank of the rows that came first.
    leading: f64,
    chosen: Option<Choice>,
}

/// Chunks of a pass that are still to come; `first` is already here.
struct Held {
    next: Option<Sample>,
    left: usize,
}

impl Held {
    /// The next rows: one window, or as many as it takes for so many rows.
    fn rows(&mut self, least: usize, windows: &mut dyn RowChunks) -> Result<Sample, LearningError> {
        let mut take = || match self.next.take() {
            Some(sample) => Ok(sample),
            None => windows.next(),
        };
        let mut parts = vec![take()?];
        self.left -= 1;
        let mut rows = parts[0].rows();
        while rows < least && self.left > 0 {
            let part = take()?;
            self.left -= 1;
            rows += part.rows();
            parts.push(part);
        }
        joined(parts)
    }
}

/// The rows over which a ridge is chosen, as they come by.
struct Voters {
    /// Which rows they are, ascending.
    places: Vec<usize>,
    /// Rows that came by.
    gone: usize,
    features: Vec<f64>,
    targets: Vec<f64>,
}

impl Voters {
    fn of(n: usize, streams: &Streams) -> Self {
        let places = choosing(n, streams);
        Self { places, gone: 0, features: Vec::new(), targets: Vec::new() }
    }

    /// The next rows of `Φ` and `y`.
    fn see(&mut self, phi: &Array2<f64>, y: &Array2<f64>) {
        let here = self.gone..self.gone + phi.nrows();
        for place in self.places.iter().filter(|place| here.contains(place)) {
            self.features.extend(phi.row(place - here.start));
            self.targets.extend(y.row(place - here.start));
        }
        self.gone = here.end;
    }

    /// The `λ` that they choose for `n` rows, and its error.
    fn choice(self, params: &RandomFeaturesParams, n: usize) -> Result<Choice, LinalgError> {
        let rows = self.places.len();
        let of = |numbers: Vec<f64>| {
            let shape = (rows, numbers.len() / rows);
            Array2::from_shape_vec(shape, numbers).expect("whole rows")
        };
        params.best_ridge(
            of(self.features).view(),
            of(self.targets).view(),
            (rows as f64, n as f64),
        )
    }
}

/// The rows of several samples, one after another.
fn joined(mut parts: Vec<Sample>) -> Result<Sample, LearningError> {
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let inputs: Vec<_> = parts.iter().map(Sample::inputs).collect();
    let inputs = concatenate(Axis(0), &inputs).map_err(|error| LearningError::Numerical {
        operation: "joining rows",
        reason: error.to_string(),
    })?;
    match parts[0].targets() {
        Targets::Classes { classes, .. } => {
            let labels = parts.iter().filter_map(Sample::labels).flatten().copied().collect();
            Sample::classification(inputs, labels, *classes)
        }
        Targets::Real(_) => {
            let values = parts.iter().filter_map(Sample::values).flatten().copied().collect();
            Sample::regression(inputs, values)
        }
    }
}

impl RandomFeatures {
    /// The ridge of more rows than are held. Their sums are held, in `M² + M K` numbers, and no more rows at a time
    /// than a window or `M/2`: adding to the sums costs `M²` however few rows are added.
    ///
    /// The facts are the facts of a fit, except two. `jitter` and `effective-rank` are of the rows that came first;
    /// `loss` comes from the sums and is exact to `1e-16` of the targets' squares. One of `ridges` is chosen on the
    /// rows that came first; a ridge without `ridges` is chosen on the same rows as in memory. Either is raised to the
    /// least that the sums can bear. If there are no more rows than features, the rows take less room than the sums,
    /// and the fit is the in-memory fit, to the last bit.
    pub(super) fn fit_sums(
        &self,
        first: Sample,
        windows: &mut dyn RowChunks,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let params = &self.0;
        let (shape, count) = (windows.shape(), windows.count());
        let (n, big_m, k) = (shape.rows, params.features, shape.task.outputs());
        // With more features than rows the sums still hold all of a ridge: its matrix is regular.
        if params.precision != ClosedPrecision::F64
            || params.lambda == Some(0.0) && params.ridges.is_empty()
        {
            return Err(LearningError::NotInPasses { rows: n, held: windows.size() });
        }
        let mut held = Held { next: Some(first), left: count };
        if n <= big_m {
            let sample = held.rows(n, windows)?;
            return self.fit(&sample, fitting);
        }
        let together = windows.size().max(big_m / 2);
        let doubles = 2 * big_m * big_m + (3 * together + CHOOSING) * (big_m + k);
        fitting.limits.reserve(8 * doubles as u64)?;
        let mut model = drawn::<f64>(params, shape.features, k, &fitting.streams);
        let Passed { sums, leading, mut chosen } = self.pass(&model, held, windows, fitting)?;
        let lambda = chosen.map_or(params.lambda.unwrap_or(0.0), |made| made.lambda);
        let mut ridge = lambda * n as f64;
        let feature_squares = sums.feature_squares;
        let least = SMALL_RIDGE * feature_squares;
        if let Some(made) = chosen.as_mut().filter(|_| ridge < least) {
            (made.lambda, ridge) = (least / n as f64, least);
        } else if ridge < least {
            let (value, must) = (lambda.to_string(), "larger where rows are read in passes");
            return Err(LearningError::Setting { name: "lambda", value, must });
        }
        let (w, loss, jitter) = sums.solved(ridge).map_err(|error| numerical(&error))?;
        let mut facts = vec![
            ("loss", loss / n as f64),
            ("rank", n.min(big_m) as f64),
            ("cutoff", 0.0),
            ("jitter", jitter),
            ("frobenius-squared", w.iter().map(|entry| entry * entry).sum()),
            (fact::FEATURE_NORM_SQUARED, feature_squares / n as f64),
            ("effective-rank", leading),
        ];
        facts.extend(chosen.iter().flat_map(|made| made.facts(free(params))));
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        model.read_out = w.as_standard_layout().into_owned();
        let predictor = Spectral { model, task: shape.task, softmax: false };
        Ok(Outcome { predictor, convergence: Convergence::Exact, facts }.boxed())
    }

    /// Sums over all rows, and the ridge that is chosen on the way.
    fn pass(
        &self,
        model: &Model<f64>,
        mut held: Held,
        windows: &mut dyn RowChunks,
        fitting: &Fitting<'_>,
    ) -> Result<Passed, LearningError> {
        let (params, shape) = (&self.0, windows.shape());
        let (n, big_m) = (shape.rows, params.features);
        let mut sums = Sums::new(big_m, shape.task.outputs());
        let mut leading = None;
        let mut chosen = None;
        let mut voters = free(params).then(|| Voters::of(n, &fitting.streams));
        while held.left > 0 {
            fitting.limits.check()?;
            let sample = held.rows(big_m / 2, windows)?;
            let phi = params.features_of(model, &sample)?;
            let y = columns_of(sample.targets());
            if let Some(voters) = &mut voters {
                voters.see(&phi, &y);
            }
            sums.add(&phi, &y);
            if leading.is_none() {
                leading = Some(effective_rank(phi.slice(s![..phi.nrows().min(RANK_ROWS), ..])));
                if !params.ridges.is_empty() {
                    let shares = (phi.nrows() as f64, n as f64);
                    let made = params.best_ridge(phi.view(), y.view(), shares);
                    chosen = Some(made.map_err(|e| numerical(&e))?);
                }
            }
        }
        if let Some(voters) = voters {
            chosen = Some(voters.choice(params, n).map_err(|e| numerical(&e))?);
        }
        Ok(Passed { sums, leading: leading.unwrap_or_default(), chosen })
    }
}

/// Whether a ridge is chosen among ridges that were not given.
const fn free(params: &RandomFeaturesParams) -> bool {
    params.ridges.is_empty() && params.lambda.is_none()
}
