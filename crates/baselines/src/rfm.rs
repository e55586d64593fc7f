mod kernel;
mod metric;

use crate::kernel_ridge::{RidgeChoice, chosen_ridge, one_column_an_output};
use crate::subsample::{at_most, drawn};
use kernel::{BLOCK, Expansion, Points, Radial};
use mercer_learning::{
    Allowed, Axis as Setting, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method,
    Outcome, Parameters, Predictor, Range, Sample, Settings, Shape, Space, State, Task, Tasks,
    declared, fact,
};
use mercer_linalg::{Cholesky, JITTER_LADDER, LinalgError};
use metric::Metric;
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};
use std::collections::BTreeMap;

pub(crate) const METHOD: Method = Method {
    name: "rfm",
    title: "RFM",
    summary: "recursive feature machine: kernel ridge regression whose metric is the mean outer product of its own gradients, the round chosen by leave-one-out",
    cites: "Radhakrishnan, Beaglehole, Pandit & Belkin (2024)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "R (n^3 + 2 K n^2 d + 9 d^3), R = 6, n = min(n, cap)",
        predict: "n (d + K)",
        memory: "2 n^2 + d^2, n = min(n, cap)",
    },
    // A tuner's early rungs use fewer rows.
    resource: Some("cap"),
    settings: &declared::<RfmParams>,
    defaults: &|shape| {
        let diagonal = shape.features > FULL;
        Settings::new().with("ridge", RIDGE).with("diagonal", diagonal).with("cap", CAP)
    },
    user_defaults: &|_| Settings::new().with("ridge", None::<f64>),
    space: &space,
    build: &|settings| Ok(Box::new(RecursiveFeatureMachine::new(settings.read("rfm")?)?)),
    restore: &restore,
};

/// Two matrices of so many rows fill 400 MB.
const CAP: usize = 5000;
/// The ridge of the authors' package.
const RIDGE: f64 = 1e-3;
/// Columns up to which the metric is a full matrix by default: its eigenvectors then take a second a round.
const FULL: usize = 1000;

/// That of TabArena for `xrfm`, without the axes of its other norms.
fn space(shape: &Shape) -> Space {
    let full = shape.features <= FULL;
    let diagonal = if full { vec![false.into(), true.into()] } else { vec![true.into()] };
    Space {
        axes: vec![
            Setting { name: "bandwidth", range: Range::Log10(-0.3, 2.3) },
            Setting { name: "ridge", range: Range::Log10(-6.0, 1.0) },
            Setting { name: "exponent", range: Range::Log10(-0.155, 0.146) },
            Setting { name: "diagonal", range: Range::Choice(diagonal) },
        ],
        anchors: vec![(METHOD.defaults)(shape)],
    }
}

mercer_learning::parameters! {
    /// Settings of [`RecursiveFeatureMachine`].
    ///
    /// ```
    /// use mercer_baselines::{RecursiveFeatureMachine, RfmParams};
    /// let refused = RecursiveFeatureMachine::new(RfmParams { exponent: 2.5, ..Default::default() });
    /// assert_eq!(
    ///     refused.unwrap_err().to_string(),
    ///     "setting `exponent` is 2.5; it must be above 0 and at most 2"
    /// );
    /// ```
    pub struct RfmParams {
        /// `λ > 0` in `K + λ I`, not multiplied by the rows. If null, each round chooses it among half decades
        /// by the error of leave-one-out, over all rows or over 1000 by seed.
        pub ridge: Option<f64> = Some(RIDGE), Allowed::POSITIVE;
        /// `L` in `exp(−(‖x − z‖_M/L)^p)`.
        pub bandwidth: f64 = 10.0, Allowed::POSITIVE;
        /// `p`: 1 is the Laplace kernel, 2 the Gaussian one.
        pub exponent: f64 = 1.0, Allowed::between(0.0, false, 2.0, true, "above 0 and at most 2");
        /// How often the metric is learned. Round 0 is the identity.
        pub rounds: usize = 5;
        /// Whether the metric has one scale a column and no more: for many columns.
        pub diagonal: bool = false;
        /// Whether the targets' mean is subtracted before the fit and added after it.
        pub centre: bool = true;
        /// Training rows beyond this are left out, by seed.
        pub cap: usize = CAP, Allowed::PAIR;
    }
}

/// Recursive feature machine: kernel ridge regression that learns the metric of its own kernel.
///
/// ```text
/// f(x) = ȳ + Σ_i α_i exp(−(‖x − x_i‖_M/L)^p)        (K_M + λ I) α = y − ȳ
/// M ← (1/n) Σ_i Σ_l ∇f_l(x_i) ∇f_l(x_i)ᵀ, divided by its largest entry
/// ```
/// It begins with `M = I` and keeps the round with the least squared error of leave-one-out, which is exact for
/// a given metric: no rows are set apart for validation. The metric itself has seen the row that is left out,
/// so that the error is no estimate for new rows. Classes are fitted as one-hot columns at once, and the
/// largest wins. Radhakrishnan, Beaglehole, Pandit & Belkin (2024), Science 383; the normalisation is that of
/// the authors' package.
///
/// Facts: the `round` that was kept, its `ridge` and `leave-one-out`, `leave-one-out-identity` of round 0, and
/// `effective-rank`, `(tr M)²/‖M‖²`. Where the ridge was chosen, `grid-end` is 1 if it is the first or the last
/// that was tried.
///
/// ```
/// use mercer_baselines::{RecursiveFeatureMachine, RfmParams};
/// use mercer_learning::{Fitting, Learner, Sample};
/// use ndarray::{Array1, Array2};
/// // Of six columns the target needs one.
/// let x = Array2::from_shape_fn((90, 6), |(i, j)| (((i * 7 + 1) * (j + 3)) as f64).sin());
/// let y: Array1<f64> = x.column(2).mapv(|x| (3.0 * x).sin());
/// let machine = RecursiveFeatureMachine::new(RfmParams::default())?;
/// let fitted = machine.fit(&Sample::regression(x, y)?, &mut Fitting::seeded(1))?;
/// let facts = &fitted.facts;
/// assert!(facts["leave-one-out"] < 0.1 * facts["leave-one-out-identity"]);
/// assert!(facts["effective-rank"] < 1.1);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RecursiveFeatureMachine {
    params: RfmParams,
}

impl RecursiveFeatureMachine {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: RfmParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }

    /// The regression in a metric.
    fn round(
        &self,
        points: &Points,
        y: &Array2<f64>,
        fitting: &Fitting<'_>,
    ) -> Result<Round, LearningError> {
        let kernel = self.kernel();
        let mut targets = y.clone();
        if self.params.centre {
            // Without a row of target c from the mean, that of all others is c/(n − 1) lower: the regression
            // sees as much more of the constant 1, whose own residuals are those of this column.
            targets.push_column(Array1::ones(y.nrows()).view()).expect("as many rows");
        }
        let choice = match self.params.ridge {
            Some(_) => None,
            None => Some(self.chosen(points, y, fitting)?),
        };
        let ridge = choice.map_or_else(|| self.params.ridge.unwrap_or(RIDGE), |made| made.ridge);
        let mut gram = kernel.gram(points, fitting.threads);
        gram.diag_mut().mapv_inplace(|entry| entry + ridge);
        fitting.limits.check()?;
        let (factor, jitter) = Cholesky::with_jitter_on(fitting.threads, gram, &JITTER_LADDER)
            .map_err(|error| numerical(&error))?;
        let solved = factor.solve(&targets).map_err(|error| numerical(&error))?;
        let left_out = left_out(&solved, &factor.inverse_diagonal(), y);
        let error = left_out.iter().map(|residual| residual * residual).sum::<f64>()
            / left_out.len() as f64;
        let alpha = solved.slice(s![.., ..y.ncols()]).to_owned();
        let at_the_end = choice.map(|made| made.at_the_end);
        Ok(Round { alpha, error, ridge, jitter, at_the_end })
    }

    /// The ridge with the least error of leave-one-out.
    fn chosen(
        &self,
        points: &Points,
        y: &Array2<f64>,
        fitting: &Fitting<'_>,
    ) -> Result<RidgeChoice, LearningError> {
        let (n, kernel) = (points.rows.nrows(), self.kernel());
        let rows = drawn(n, RidgeChoice::ROWS, &fitting.streams.child("ridge"));
        let rows = rows.unwrap_or_else(|| (0..n).collect());
        let some = Points::new(points.rows.select(Axis(0), &rows));
        let targets = y.select(Axis(0), &rows);
        let gram = || kernel.gram(&some, fitting.threads);
        chosen_ridge("ridge", targets, self.params.centre, fitting, gram)
    }

    const fn kernel(&self) -> Radial {
        Radial { bandwidth: self.params.bandwidth, exponent: self.params.exponent }
    }
}

/// A regression and its error of leave-one-out.
struct Round {
    alpha: Array2<f64>,
    error: f64,
    ridge: f64,
    jitter: f64,
    at_the_end: Option<bool>,
}

/// Residuals of leave-one-out, `n × K`, from `A⁻¹ [Y 1]` and the diagonal of `A⁻¹`. Without the last column
/// the targets `Y` are not centred.
fn left_out(solved: &Array2<f64>, inverse: &Array1<f64>, y: &Array2<f64>) -> Array2<f64> {
    let (n, outputs) = y.dim();
    let residuals = solved / &inverse.view().insert_axis(Axis(1));
    let own = residuals.slice(s![.., ..outputs]);
    if residuals.ncols() == outputs {
        return residuals;
    }
    let share = 1.0 / (n - 1).max(1) as f64;
    let ones = residuals.slice(s![.., outputs..]);
    &own + &(y * &ones * share)
}

fn numerical(error: &LinalgError) -> LearningError {
    let operation = "solving (K + ridge I) alpha = y";
    LearningError::Numerical { operation, reason: error.to_string() }
}

impl Learner for RecursiveFeatureMachine {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = at_most(sample, self.params.cap, &fitting.streams)?;
        sample.require_two_classes()?;
        let Shape { rows: n, features: d, task } = sample.shape();
        let bandwidth = self.params.bandwidth;
        sample.require_distances(1.0 / bandwidth).map_err(|_| {
            let what = "distances between the rows";
            LearningError::overflow(what, "double", "bandwidth", bandwidth, &sample)
        })?;
        let outputs = task.outputs();
        let metric = if self.params.diagonal { 0 } else { 5 * d * d };
        let doubles = 2 * n * n + metric + n * (3 * d + 3 * outputs) + BLOCK * (n + d * outputs);
        fitting.limits.reserve(8 * doubles as u64)?;
        let mut y = one_column_an_output(sample.targets(), n, outputs);
        let mut mean = Array1::zeros(outputs);
        if self.params.centre {
            mean = y.mean_axis(Axis(0)).expect("a sample has rows");
            y -= &mean;
        }
        let centre = sample.inputs().mean_axis(Axis(0)).expect("a sample has rows");
        let inputs = &sample.inputs() - &centre;
        let mut best: Option<(usize, Round, Metric, Points)> = None;
        let (mut metric, mut identity) = (Metric::identity(d), f64::INFINITY);
        for number in 0..=self.params.rounds {
            let points = Points::new(metric.mapped(inputs.view()));
            let round = self.round(&points, &y, fitting)?;
            fitting.limits.check()?;
            let mut next = None;
            if number < self.params.rounds {
                let (diagonal, threads) = (self.params.diagonal, fitting.threads);
                let mean =
                    self.kernel().mean_outer_product(&points, &round.alpha, diagonal, threads);
                fitting.limits.check()?;
                next = metric.learned(&mean, diagonal)?;
            }
            if number == 0 {
                identity = round.error;
            }
            if best.as_ref().is_none_or(|(_, best, ..)| round.error < best.error) {
                best = Some((number, round, metric, points));
            }
            // Of a constant there is no gradient, and nothing to learn.
            let Some(learned) = next else { break };
            metric = learned;
        }
        let (number, round, metric, points) = best.ok_or_else(|| LearningError::Numerical {
            operation: "choosing a round by leave-one-out",
            reason: "no round has a finite error; give a larger `ridge`".to_owned(),
        })?;
        let mut facts = BTreeMap::from([
            (fact::ROWS_USED.to_owned(), n as f64),
            ("round".to_owned(), number as f64),
            ("ridge".to_owned(), round.ridge),
            ("jitter".to_owned(), round.jitter),
            ("leave-one-out".to_owned(), round.error),
            ("leave-one-out-identity".to_owned(), identity),
            ("effective-rank".to_owned(), metric.effective_rank()),
        ]);
        if let Some(at_the_end) = round.at_the_end {
            facts.insert("grid-end".to_owned(), f64::from(u8::from(at_the_end)));
        }
        let (kernel, alpha) = (self.kernel(), round.alpha);
        let expansion = Expansion { kernel, metric, centre, points, alpha, mean };
        let predictor = Machine { task, expansion };
        Ok(Outcome { predictor, convergence: Convergence::Exact, facts }.boxed())
    }
}

/// A regression in its metric.
struct Machine {
    task: Task,
    expansion: Expansion,
}

impl Predictor for Machine {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.expansion.metric.features()
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.expansion.at(inputs)
    }

    fn state(&self) -> State {
        let Expansion { kernel, metric, centre, points, alpha, mean } = &self.expansion;
        let state = State::new()
            .with("task", self.task)
            .with("kernel", kernel)
            .with_array("centre", centre)
            .with_array("points", &points.rows)
            .with_array("coefficients", alpha)
            .with_array("mean", mean);
        match metric {
            Metric::Diagonal(scales) => state.with_array("scales", scales),
            Metric::Full(factor) => state.with_array("factor", factor),
        }
    }
}

fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let (task, kernel): (Task, Radial) = (state.value("task")?, state.value("kernel")?);
    let sound = kernel.bandwidth > 0.0 && kernel.exponent > 0.0 && kernel.exponent <= 2.0;
    if !sound {
        let problem = "has a bandwidth or an exponent out of range".to_owned();
        return Err(LearningError::State { name: "kernel".to_owned(), problem });
    }
    let centre = state.array::<f64, Ix1>("centre")?;
    let points = state.array::<f64, Ix2>("points")?;
    let (n, r) = points.dim();
    let metric = if state.holds::<f64>("scales") {
        Metric::Diagonal(state.array_of::<f64, Ix1>("scales", centre.len())?)
    } else {
        Metric::Full(state.array_of::<f64, Ix2>("factor", (centre.len(), r))?)
    };
    if metric.rank() != r {
        let problem = format!("have {r} columns where the metric has {}", metric.rank());
        return Err(LearningError::State { name: "points".to_owned(), problem });
    }
    let alpha = state.array_of::<f64, Ix2>("coefficients", (n, task.outputs()))?;
    let mean = state.array_of::<f64, Ix1>("mean", task.outputs())?;
    let points = Points::new(points);
    let expansion = Expansion { kernel, metric, centre, points, alpha, mean };
    Ok(Box::new(Machine { task, expansion }))
}

#[cfg(test)]
mod tests;
