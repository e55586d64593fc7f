mod kernel;
mod metric;
mod tree;

use crate::kernel_ridge::{Regressed, RidgeChoice, chosen_ridge, one_column_an_output};
use crate::subsample::{at_most, drawn};
use kernel::{BLOCK, Expansion, Machine, Points, Radial};
use mercer_learning::{
    Allowed, Axis as Setting, Convergence, Cost, Fitted, Fitting, Learner, LearningError, Method,
    Outcome, Parameters, Predictor, Range, Sample, Settings, Shape, Space, State, Task, Tasks,
    declared, fact, folds,
};
use mercer_linalg::{Cholesky, JITTER_LADDER, LinalgError, symmetric_eigen};
pub use metric::InputMetric;
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, s};
use std::borrow::Cow;
use std::collections::BTreeMap;
use tree::{Cut, Side, Tree};

pub(crate) const METHOD: Method = Method {
    name: "rfm",
    title: "RFM",
    summary: "recursive feature machine: kernel ridge regression whose metric is the mean outer product of its own gradients, learned in rounds",
    formula: "f(x) = ȳ + Σ α_i exp(−(‖x − x_i‖_M/L)^p), (K + λ I) α = y − ȳ; M ← mean of ∇f ∇fᵀ over the rows, divided by its largest entry, in rounds",
    when: "columns of which few matter, or that act together; of many rows by a tree of machines",
    cites: "Radhakrishnan, Beaglehole, Pandit & Belkin (2024); Beaglehole, Holzmüller, Radhakrishnan & Belkin (2025)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "F R n (L^2 + 2 K L d + 9 d^3/L), F = 3, R = 6, n = min(n, cap), L = min(n, given(leaf, 5000))",
        predict: "L (d + K), L = min(n, given(leaf, 5000))",
        memory: "2 L^2 + n (d + K), n = min(n, cap), L = min(n, given(leaf, 5000))",
    },
    // A tuner's early rungs use fewer rows.
    resource: Some("cap"),
    warnings: &[],
    settings: &declared::<RfmParams>,
    defaults: &|shape| {
        let diagonal = shape.features > FULL;
        Settings::new().with("ridge", RIDGE).with("diagonal", diagonal).with("cap", CAP)
    },
    // Whether a metric helps is seen on rows that it has not seen; of many rows that takes too long.
    user_defaults: &|shape| {
        let settings = Settings::new().with("ridge", None::<f64>);
        if shape.rows > CAP { settings.with("cap", MANY) } else { settings.with("folds", 5) }
    },
    space: &space,
    build: &|settings| Ok(Box::new(RecursiveFeatureMachine::new(settings.read("rfm")?)?)),
    restore: &restore,
};

/// Two matrices of so many rows fill 400 MB.
const CAP: usize = 5000;
/// Training rows of a tree, at most, on a table of one's own.
const MANY: usize = 1_000_000;
/// Rows whose gradients say where a node is cut.
const SEEN: usize = 2000;
/// The ridge of the authors' package.
const RIDGE: f64 = 1e-3;
/// Columns up to which the metric is a full matrix by default: its eigenvectors then take a second a round.
const FULL: usize = 1000;

/// The space of `TabArena` for `xrfm`, without the axes of its other norms.
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
        /// How often the metric is learned, at most. Round 0 is the identity.
        pub rounds: usize = 5;
        /// Folds that choose the round, each with a metric of its own. If null, exact leave-one-out in the metric
        /// of all rows chooses it: in a fifth of the time, and too late where a metric does not help.
        pub folds: Option<usize> = None, Allowed::PAIR;
        /// Whether the metric has one scale a column and no more; the default beyond 1000 columns.
        pub diagonal: bool = false;
        /// Whether the targets' mean is subtracted before the fit and added after it.
        pub centre: bool = true;
        /// Training rows beyond this are left out, by seed.
        pub cap: usize = CAP, Allowed::PAIR;
        /// Rows of one machine at most. More are divided by a tree, at the median along the direction in which the
        /// target changes most, and each leaf has a machine and a metric of its own.
        pub leaf: usize = CAP, Allowed::PAIR;
    }
}

/// Recursive feature machine: kernel ridge regression that learns the metric of its own kernel.
///
/// ```text
/// f(x) = ȳ + Σ_i α_i exp(−(‖x − x_i‖_M/L)^p)        (K_M + λ I) α = y − ȳ
/// M ← (1/n) Σ_i Σ_l ∇f_l(x_i) ∇f_l(x_i)ᵀ, divided by its largest entry
/// ```
/// It begins with `M = I` and keeps the round with the least squared error. By leave-one-out that error has a closed
/// form for a given metric, and no rows are set apart. The metric has seen the row that is left out, though: the error
/// favours late rounds, most of all on noisy rows of many columns. Folds learn the metric anew on their training rows,
/// and do not. Classes are fitted as one-hot columns at once, and the largest wins. Radhakrishnan, Beaglehole, Pandit &
/// Belkin (2024), Science 383; the normalisation is as in the authors' package.
///
/// More rows than `leaf` are divided by a tree (xRFM, 2025). A node is cut at the median of `vᵀx`: `v` is the first
/// eigenvector of the mean outer product of the gradients of round 0, over at most 2000 rows of the node. A row is
/// predicted by one leaf.
///
/// Facts: the `round` that was kept, its `ridge` and `leave-one-out`, `leave-one-out-identity` of round 0, and
/// `effective-rank`, `(tr M)²/‖M‖²`. Where folds chose the round, `validation` and `validation-identity` are
/// their errors. Where the ridge was chosen, `grid-end` is 1 if it is the first or the last that was tried. Of a tree:
/// its `leaves`, with the averages over their rows.
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
        let regressed = Regressed { targets, centre: self.params.centre, weights: None };
        chosen_ridge("ridge", regressed, fitting, gram)
    }

    /// Learns the metric of round 1, on at most `cap` rows: `M = (1/n) Σ_i Σ_l ∇f_l(x_i) ∇f_l(x_i)ᵀ` of the regression `f`
    /// in the identity, divided by its largest entry. It is the identity where there is no gradient.
    ///
    /// ```
    /// use mercer_baselines::{RecursiveFeatureMachine, RfmParams};
    /// use mercer_learning::{Fitting, Sample};
    /// use ndarray::{Array1, Array2};
    /// // Of six columns the target needs one.
    /// let x = Array2::from_shape_fn((90, 6), |(i, j)| (((i * 7 + 1) * (j + 3)) as f64).sin());
    /// let y: Array1<f64> = x.column(2).mapv(|x| (3.0 * x).sin());
    /// let machine = RecursiveFeatureMachine::new(RfmParams::default())?;
    /// let metric = machine.gradient_metric(&Sample::regression(x, y)?, &Fitting::seeded(1))?.matrix();
    /// assert!(metric[[2, 2]] > 0.5 * metric.diag().sum());
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Learner::fit`].
    pub fn gradient_metric(
        &self,
        sample: &Sample,
        fitting: &Fitting<'_>,
    ) -> Result<InputMetric, LearningError> {
        let sample = self.prepared(sample, fitting)?;
        let (n, outputs) = (sample.rows(), sample.task().outputs());
        self.reserve(sample.shape(), fitting)?;
        let y = one_column_an_output(sample.targets(), n, outputs);
        let rows = Centred::of(sample.inputs(), y, self.params.centre);
        let identity = InputMetric::identity(sample.features());
        let points = Points::new(rows.inputs);
        let round = self.round(&points, &rows.y, fitting)?;
        Ok(self.next(&identity, &points, &round, fitting)?.unwrap_or(identity))
    }

    /// The metric of the next round, where a gradient is left.
    fn next(
        &self,
        metric: &InputMetric,
        points: &Points,
        round: &Round,
        fitting: &Fitting<'_>,
    ) -> Result<Option<InputMetric>, LearningError> {
        let (diagonal, threads) = (self.params.diagonal, fitting.threads);
        fitting.limits.check()?;
        let mean = self.kernel().mean_outer_product(points, &round.alpha, diagonal, threads);
        fitting.limits.check()?;
        metric.learned(&mean, diagonal)
    }

    /// The rows of a fit, whose distances are numbers.
    fn prepared<'a>(
        &self,
        sample: &'a Sample,
        fitting: &Fitting<'_>,
    ) -> Result<Cow<'a, Sample>, LearningError> {
        let sample = at_most(sample, self.params.cap, fitting)?;
        sample.require_two_classes()?;
        let bandwidth = self.params.bandwidth;
        sample.require_distances(1.0 / bandwidth).map_err(|_| {
            let what = "distances between the rows";
            LearningError::overflow(what, "double", "bandwidth", bandwidth, &sample)
        })?;
        Ok(sample)
    }

    /// Asks for the memory of a machine.
    fn reserve(&self, shape: Shape, fitting: &Fitting<'_>) -> Result<(), LearningError> {
        let Shape { rows: n, features: d, task } = shape;
        let outputs = task.outputs();
        let metric = if self.params.diagonal { 0 } else { 5 * d * d };
        let doubles = 2 * n * n + metric + n * (4 * d + 4 * outputs) + BLOCK * (n + d * outputs);
        fitting.limits.reserve(8 * doubles as u64)
    }

    /// The regressions of rounds 0 to `rounds`, or fewer where no gradient is left.
    fn path(
        &self,
        rounds: usize,
        rows: &Centred,
        fitting: &Fitting<'_>,
        mut take: impl FnMut(Step),
    ) -> Result<(), LearningError> {
        let mut next = Some(InputMetric::identity(rows.inputs.ncols()));
        for number in 0..=rounds {
            // Of a constant there is no gradient, and nothing to learn.
            let Some(metric) = next.take() else { break };
            let points = Points::new(metric.mapped(rows.inputs.view()));
            let round = self.round(&points, &rows.y, fitting)?;
            fitting.limits.check()?;
            if number < rounds {
                next = self.next(&metric, &points, &round, fitting)?;
            }
            take(Step { number, round, metric, points });
        }
        Ok(())
    }

    /// Mean squared error of each round on the rows that a fold holds out.
    fn validation(
        &self,
        sample: &Sample,
        y: &Array2<f64>,
        count: usize,
        fitting: &Fitting<'_>,
    ) -> Result<Vec<f64>, LearningError> {
        let n = sample.rows();
        let alike = vec![0; n];
        let labels = sample.labels().unwrap_or(&alike);
        let held = folds(labels, count, &mut fitting.streams.rng("folds"));
        let mut errors = vec![0.0; self.params.rounds + 1];
        for fold in 0..count.min(n) {
            let [test, train] = [true, false]
                .map(|out| (0..n).filter(|&row| (held[row] == fold) == out).collect::<Vec<_>>());
            if train.is_empty() {
                continue;
            }
            let of = |places: &[usize]| {
                (sample.inputs().select(Axis(0), places), y.select(Axis(0), places))
            };
            let ((x, own), (inputs, truths)) = (of(&train), of(&test));
            let rows = Centred::of(x.view(), own, self.params.centre);
            let mut of_rounds = Vec::new();
            self.path(self.params.rounds, &rows, fitting, |step| {
                let residuals = step.expansion(self.kernel(), &rows).at(inputs.view()) - &truths;
                of_rounds.push(residuals.iter().map(|r| r * r).sum::<f64>());
            })?;
            // Where no gradient was left, the last metric stays.
            for (round, error) in errors.iter_mut().enumerate() {
                *error += of_rounds[round.min(of_rounds.len() - 1)];
            }
        }
        Ok(errors.into_iter().map(|sum| sum / y.len() as f64).collect())
    }

    const fn kernel(&self) -> Radial {
        Radial { bandwidth: self.params.bandwidth, exponent: self.params.exponent }
    }

    /// One machine of all rows, in the round that is chosen, and what is known of it.
    fn machine(
        &self,
        sample: &Sample,
        fitting: &Fitting<'_>,
    ) -> Result<(Expansion, BTreeMap<String, f64>), LearningError> {
        let (n, outputs) = (sample.rows(), sample.task().outputs());
        self.reserve(sample.shape(), fitting)?;
        let y = one_column_an_output(sample.targets(), n, outputs);
        let validation = match self.params.folds {
            Some(folds) => Some(self.validation(sample, &y, folds, fitting)?),
            None => None,
        };
        let last = validation.as_deref().map_or(self.params.rounds, least);
        let rows = Centred::of(sample.inputs(), y, self.params.centre);
        let (mut kept, mut identity): (Option<Step>, _) = (None, f64::INFINITY);
        self.path(last, &rows, fitting, |step| {
            let error = step.round.error;
            if step.number == 0 {
                identity = error;
            }
            let better = |kept: &Step| error < kept.round.error;
            if error.is_finite() && (validation.is_some() || kept.as_ref().is_none_or(better)) {
                kept = Some(step);
            }
        })?;
        let step = kept.ok_or_else(|| LearningError::Numerical {
            operation: "choosing a round",
            reason: "no round has a finite error; give a larger `ridge`".to_owned(),
        })?;
        let round = &step.round;
        let mut facts = BTreeMap::from([
            (fact::ROWS_USED.to_owned(), n as f64),
            ("round".to_owned(), step.number as f64),
            ("ridge".to_owned(), round.ridge),
            ("jitter".to_owned(), round.jitter),
            ("leave-one-out".to_owned(), round.error),
            ("leave-one-out-identity".to_owned(), identity),
            ("effective-rank".to_owned(), step.metric.effective_rank()),
        ]);
        if let Some(at_the_end) = round.at_the_end {
            facts.insert("grid-end".to_owned(), f64::from(u8::from(at_the_end)));
        }
        if let Some(errors) = validation {
            facts.insert("validation".to_owned(), errors[last]);
            facts.insert("validation-identity".to_owned(), errors[0]);
        }
        Ok((step.expansion(self.kernel(), &rows), facts))
    }

    /// Where a node is cut, if a gradient is left and the rows differ along it.
    fn cut(
        &self,
        sample: &Sample,
        rows: &[usize],
        fitting: &Fitting<'_>,
    ) -> Result<Option<Cut>, LearningError> {
        let Self { params } = self;
        let drawn = drawn(rows.len(), SEEN, &fitting.streams.child("cut"));
        let seen = drawn.map_or_else(|| rows.to_vec(), |at| at.iter().map(|&i| rows[i]).collect());
        let (n, outputs) = (seen.len(), sample.task().outputs());
        let seen = sample.select(&seen)?;
        let y = one_column_an_output(seen.targets(), n, outputs);
        let some = Centred::of(seen.inputs(), y, true);
        let round_zero = Self { params: RfmParams { ridge: Some(RIDGE), ..params.clone() } };
        let points = Points::new(some.inputs);
        let round = round_zero.round(&points, &some.y, fitting)?;
        let (kernel, threads) = (self.kernel(), fitting.threads);
        let mean = kernel.mean_outer_product(&points, &round.alpha, params.diagonal, threads);
        fitting.limits.check()?;
        if !mean.iter().any(|entry| *entry > f64::MIN_POSITIVE) {
            return Ok(None);
        }
        let direction = if params.diagonal {
            let scales = mean.row(0);
            let most = least(&scales.iter().map(|scale| -scale).collect::<Vec<_>>());
            Array1::from_shape_fn(scales.len(), |column| f64::from(u8::from(column == most)))
        } else {
            let eigen = symmetric_eigen(mean.view()).map_err(|error| numerical(&error))?;
            eigen.vectors.column(mean.ncols() - 1).to_owned()
        };
        Ok(Cut::at_the_median(direction, sample.inputs().select(Axis(0), rows).view()))
    }

    /// Machines in the leaves of a tree.
    fn tree(
        &self,
        sample: &Sample,
        fitting: &Fitting<'_>,
    ) -> Result<(Tree, BTreeMap<String, f64>), LearningError> {
        let (n, d) = (sample.rows(), sample.features());
        // Rows and coefficients of all leaves, and a copy of a node's.
        fitting.limits.reserve(8 * (n * (2 * d + sample.task().outputs())) as u64)?;
        let (mut cuts, mut leaves): (Vec<(Cut, [Side; 2])>, Vec<Expansion>) = (vec![], vec![]);
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        let mut open = vec![Node { rows: (0..n).collect(), place: None }];
        while let Some(Node { rows, place }) = open.pop() {
            let name = format!("node-{}", cuts.len() + leaves.len());
            let streams = fitting.streams.child(&name);
            let own = Fitting {
                streams,
                threads: fitting.threads,
                limits: fitting.limits,
                every_class: fitting.every_class,
                ..Fitting::seeded(0)
            };
            let cut =
                if rows.len() > self.params.leaf { self.cut(sample, &rows, &own)? } else { None };
            let side = if let Some(cut) = cut {
                let (first, second): (Vec<usize>, Vec<usize>) =
                    rows.into_iter().partition(|&row| cut.is_first(sample.inputs().row(row)));
                let number = cuts.len();
                cuts.push((cut, [Side::Leaf(0); 2]));
                open.push(Node { rows: second, place: Some((number, 1)) });
                open.push(Node { rows: first, place: Some((number, 0)) });
                Side::Cut(number)
            } else {
                // Rows that nothing divides are alike: some stand for all.
                let of_leaf = sample.select(&rows)?;
                let some = at_most(&of_leaf, self.params.leaf, &own)?;
                let (leaf, facts) = self.machine(&some, &own)?;
                for (name, value) in facts {
                    *sums.entry(name).or_default() += value * rows.len() as f64;
                }
                leaves.push(leaf);
                Side::Leaf(leaves.len() - 1)
            };
            if let Some((number, which)) = place {
                cuts[number].1[which] = side;
            }
        }
        let mut facts: BTreeMap<String, f64> =
            sums.into_iter().map(|(name, sum)| (name, sum / n as f64)).collect();
        facts.insert(fact::ROWS_USED.to_owned(), n as f64);
        facts.insert("leaves".to_owned(), leaves.len() as f64);
        Ok((Tree { task: sample.task(), features: d, cuts, leaves }, facts))
    }
}

/// The first of the least errors.
fn least(errors: &[f64]) -> usize {
    let all = 0..errors.len();
    all.fold(0, |best, at| if errors[at] < errors[best] { at } else { best })
}

/// Inputs and targets around their means.
struct Centred {
    centre: Array1<f64>,
    inputs: Array2<f64>,
    mean: Array1<f64>,
    y: Array2<f64>,
}

impl Centred {
    fn of(inputs: ArrayView2<'_, f64>, mut y: Array2<f64>, centre: bool) -> Self {
        let mut mean = Array1::zeros(y.ncols());
        if centre {
            mean = y.mean_axis(Axis(0)).expect("a sample has rows");
            y -= &mean;
        }
        let centre = inputs.mean_axis(Axis(0)).expect("a sample has rows");
        Self { inputs: &inputs - &centre, centre, mean, y }
    }
}

/// A round of the path.
struct Step {
    number: usize,
    round: Round,
    metric: InputMetric,
    points: Points,
}

impl Step {
    fn expansion(self, kernel: Radial, rows: &Centred) -> Expansion {
        let (centre, mean) = (rows.centre.clone(), rows.mean.clone());
        let Self { round: Round { alpha, .. }, metric, points, .. } = self;
        Expansion { kernel, metric, centre, points, alpha, mean }
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
        let sample = self.prepared(sample, fitting)?;
        let convergence = Convergence::Exact;
        if sample.rows() > self.params.leaf {
            let (predictor, facts) = self.tree(&sample, fitting)?;
            return Ok(Outcome { predictor, convergence, facts }.boxed());
        }
        let (expansion, facts) = self.machine(&sample, fitting)?;
        let predictor = Machine { task: sample.task(), expansion };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

/// Rows that are to be divided or fitted, and which side of which cut they are; the root is of none.
struct Node {
    rows: Vec<usize>,
    place: Option<(usize, usize)>,
}

fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let task: Task = state.value("task")?;
    if state.holds::<f64>("thresholds") {
        return Ok(Box::new(Tree::restore(state, task, state.value("features")?)?));
    }
    let features = state.array::<f64, Ix1>("centre")?.len();
    Ok(Box::new(Machine { task, expansion: Expansion::restored(state, features, task.outputs())? }))
}

#[cfg(test)]
mod tests;
