mod dirichlet;
mod inducing;
mod kernel;
mod laplace;
mod regression;

use crate::kernel_ridge::default_std;
use crate::subsample::{at_most, drawn_from};
use dirichlet::{Observed, Shares};
use inducing::{Bound, Rows};
use kernel::ScaledGaussian;
use laplace::{Labelled, Mode, expected_share};
use mercer_learning::{
    Allowed, Condition, Convergence, ConvergenceHint, Cost, Fitted, Fitting, Learner,
    LearningError, Method, Outcome, Parameters, Predictor, Sample, Settings, Space, State, Targets,
    Task, Tasks, Where, declared, fact, with_conditions, with_hints,
};
use mercer_linalg::product;
use mercer_solvers::{Lbfgs, Minimum, SolverError};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2, s};
use regression::{Noisy, Posterior, Process};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub(crate) const METHOD: Method = Method {
    name: "gaussian-process",
    title: "GP",
    summary: "Gaussian process: regression with standard deviations; classes by Laplace's method or as Dirichlet observations; evidence maximised by L-BFGS",
    formula: "f(x) = k(x)ᵀ (K + σ² I)⁻¹ y, k(x, z) = s² exp(−‖x − z‖²/(2 l²)), or an l for each column; s, l and σ maximise the evidence; classes by Laplace, or by regression on log-normal shares",
    when: "where standard deviations or probabilities matter: up to some 2000 rows, and of many by inducing rows",
    cites: "Rasmussen & Williams (2006), Alg. 2.1, 3.1, 3.2, 5.1; Titsias (AISTATS 2009); Milios et al. (NeurIPS 2018)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "K E (S n^3/3 + 4 n^3), S = 10, E = 30, n = min(n, cap)",
        predict: "K n (d + n)",
        memory: "(K + 4) n^2",
    },
    resource: None,
    warnings: &[],
    settings: &|| {
        const CONDITIONS: &[Condition] = &[
            (&["noise"], &[Where::is("task", &["regression"])]),
            (&["likelihood"], &[Where::is("task", &["classification"])]),
            (&["prior"], &[Where::is("likelihood", &["dirichlet"])]),
            (
                &["inducing"],
                &[Where::is("task", &["regression"]), Where::is("likelihood", &["dirichlet"])],
            ),
            (&["cap"], &[Where::is("inducing", &["0"]), Where::is("task", &["classification"])]),
        ];
        let hints = [("iterations", ConvergenceHint::More)];
        with_hints(with_conditions(declared::<GaussianProcessParams>(), CONDITIONS), &hints)
    },
    defaults: &|shape| {
        let length = 1.0 / default_std(shape.features);
        Settings::new().with("length", length).with("cap", CAP)
    },
    // The evidence sets the kernel: there is nothing left to tune.
    user_defaults: &|shape| {
        let shares = matches!(shape.task, Task::Classification { classes: 3.. });
        let many = shape.rows > CAP && (shares || shape.task == Task::Regression);
        let settings = Settings::new().with("inducing", if many { INDUCING } else { 0 });
        if shares { settings.with("likelihood", "dirichlet") } else { settings }
    },
    space: &|_| Space::default(),
    build: &|settings| Ok(Box::new(GaussianProcess::new(settings.read("gaussian-process")?)?)),
    restore: &restore,
};

/// Rows whose kernel values are held at once.
const BLOCK: usize = 512;
/// Ten classifiers of so many rows fill 450 MB.
const CAP: usize = 2000;
/// Rows that stand for all on a table of one's own with more rows of numbers.
const INDUCING: usize = 500;
/// Kernel parameters stay within these, as in scikit-learn.
const RANGE: (f64, f64) = (1e-5, 1e5);
/// The same as a range of settings.
const ENDS: Allowed = Allowed::between(RANGE.0, true, RANGE.1, true, "between 1e-5 and 1e5");

/// How classes are fitted.
///
/// ```
/// use mercer_baselines::{GaussianProcessParams, Likelihood};
/// use mercer_learning::Settings;
/// let read = |word: &str| Settings::new().with("likelihood", word).read::<GaussianProcessParams>("gaussian-process");
/// assert_eq!(read("dirichlet")?.likelihood, Likelihood::Dirichlet);
/// assert_eq!(GaussianProcessParams::default().likelihood, Likelihood::Logistic);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("logistic, dirichlet"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Likelihood {
    /// One class against the others, by Laplace's approximation.
    Logistic,
    /// All classes at once, by regression on shares that are nearly log-normal.
    Dirichlet,
}

mercer_learning::parameters! {
    /// Settings of [`GaussianProcess`].
    ///
    /// ```
    /// use mercer_baselines::{GaussianProcess, GaussianProcessParams};
    /// let refused = GaussianProcess::new(GaussianProcessParams { deviation: 1e6, ..Default::default() });
    /// assert_eq!(
    ///     refused.unwrap_err().to_string(),
    ///     "setting `deviation` is 1000000; it must be between 1e-5 and 1e5"
    /// );
    /// ```
    pub struct GaussianProcessParams {
        /// `s` at the start.
        pub deviation: f64 = 1.0, ENDS;
        /// `l` at the start; `√d` if not set.
        pub length: Option<f64> = None, ENDS;
        /// Standard deviation of the noise at the start, in standard deviations of the target.
        pub noise: f64 = 0.3, ENDS;
        /// Whether each column has a length of its own.
        pub anisotropic: bool = false;
        /// Iterations of L-BFGS for each class; 0 keeps the start.
        pub iterations: usize = 50;
        /// How classes are fitted. `dirichlet` is faster, and had the better probabilities on six tables of six with three
        /// classes or more; of two classes on one of three.
        pub likelihood: Likelihood = Likelihood::Logistic;
        /// Observations of each class that a row stands for beside its own (`a` of the Dirichlet distribution).
        pub prior: f64 = 0.01, Allowed::POSITIVE;
        /// Rows, drawn by seed, that stand for all the others (Titsias's bound); 0 is exact.
        pub inducing: usize = 0;
        /// Training rows beyond this are left out, by seed.
        pub cap: usize = CAP, Allowed::PAIR;
    }
}

/// A Gaussian process with `k(x, z) = s² exp(−Σ (x_j − z_j)²/(2 l_j²))`.
///
/// Of numbers it is exact, with noise of deviation `σ`; `s`, `l` and `σ` maximise the evidence. The prediction is the
/// mean of a new observation, and its deviation is there, too ([`Predictor::deviations`]). With `inducing` rows the
/// evidence is Titsias's lower bound, and all rows train however many there are.
///
/// Of classes with the logistic likelihood there is one classifier for each against the others (a single one for two
/// classes). Each has its own `s` and `l`, which maximise Laplace's approximation of the evidence. The score of a class is its classifier's averaged
/// probability `∫ σ(f) N(f; m, v) df`; probabilities are the scores divided by their sum. A class without training rows
/// scores 0. A row of weight `w` counts as `w` equal rows: its likelihood is taken to that power.
///
/// With the Dirichlet likelihood there is a regression for each class, whose targets and noise follow from the labels
/// (Milios et al. 2018). Far from all rows it returns to the logarithm of the class's share. With `inducing` rows all
/// rows train, however many there are.
///
/// ```
/// use mercer_baselines::{GaussianProcess, GaussianProcessParams};
/// use mercer_learning::{Fitting, Learner, Sample};
/// use ndarray::array;
/// let x = array![[-2.0], [-1.5], [-1.0], [1.0], [1.5], [2.0]];
/// let sample = Sample::classification(x, vec![0, 0, 0, 1, 1, 1], 2)?;
/// let process = GaussianProcess::new(GaussianProcessParams::default())?;
/// let fitted = process.fit(&sample, &mut Fitting::seeded(1))?;
/// let p = fitted.predictor.probabilities(array![[-1.2], [0.0]].view()).unwrap();
/// assert!(p[[0, 0]] > 0.8 && (p[[1, 0]] - 0.5).abs() < 1e-6);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianProcess {
    params: GaussianProcessParams,
}

impl GaussianProcess {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: GaussianProcessParams) -> Result<Self, LearningError> {
        params.in_range()?;
        Ok(Self { params })
    }

    /// `(log s, log l, …)` at the start.
    fn start(&self, d: usize) -> Vec<f64> {
        let lengths = if self.params.anisotropic { d } else { 1 };
        let length = self.params.length.unwrap_or(1.0 / default_std(d));
        let mut start = vec![self.params.deviation.ln()];
        start.extend(std::iter::repeat_n(length.ln(), lengths));
        start
    }

    /// The search for a number of logarithms.
    fn search(&self, logarithms: usize) -> Lbfgs {
        Lbfgs {
            iterations: self.params.iterations,
            tolerance: 1e-5,
            decrease: 1e-9,
            bounds: Some(vec![(RANGE.0.ln(), RANGE.1.ln()); logarithms]),
            ..Lbfgs::default()
        }
    }

    /// The logarithms from a start that maximise the evidence, the last one held where the noise is known.
    fn maximise(
        &self,
        start: &[f64],
        noise: Noise,
        mut evidence: impl FnMut(&[f64]) -> Result<(f64, Vec<f64>), LearningError>,
    ) -> Result<Minimum, LearningError> {
        let free = start.len() - usize::from(noise == Noise::Known);
        let (first, held) = start.split_at(free);
        let objective = |logs: &[f64]| {
            let (value, gradient) = evidence(&[logs, held].concat())?;
            Ok::<_, Fault>((-value, gradient[..free].iter().map(|g| -g).collect()))
        };
        let found = self.search(free).minimise(objective, first);
        let mut minimum = found.map_err(|Fault(error)| error)?;
        minimum.x.extend(held);
        Ok(minimum)
    }

    /// Regression, exact or by inducing rows.
    fn fit_numbers(
        &self,
        sample: &Sample,
        values: &Array1<f64>,
        fitting: &Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let total = sample.total_weight();
        let average = |values: &Array1<f64>| match sample.weights() {
            None => values.sum() / total,
            Some(weights) => weights.dot(values) / total,
        };
        let mean = average(values);
        let centred = values - mean;
        let deviation = average(&centred.mapv(|value| value * value)).sqrt();
        // Equal targets need no scale.
        let scale = if deviation > 0.0 { deviation } else { 1.0 };
        let y = centred / scale;
        let rows = Noisy { y: &y, weights: sample.weights() };
        let (n, d) = sample.inputs().dim();
        let mut start = self.start(d);
        start.push(self.params.noise.ln());
        let (minimum, machine, noise, evidence) = match self.params.inducing {
            0 => self.exactly(sample.inputs(), rows, (&start, Noise::Free), fitting)?,
            _ => self.by_inducing(sample.inputs(), rows, (&start, Noise::Free), fitting)?,
        };
        let kernel = &machine.kernel;
        let facts = BTreeMap::from([
            (fact::ROWS_USED.to_owned(), n as f64),
            ("log-evidence".to_owned(), evidence),
            ("mean-deviation".to_owned(), kernel.deviation),
            ("mean-length".to_owned(), kernel.lengths.sum() / kernel.lengths.len() as f64),
            ("noise".to_owned(), noise.sqrt()),
        ]);
        let exact = self.params.inducing == 0 && sample.weights().is_none();
        let predictor = Process { features: d, machine, noise, mean, scale, exact };
        let convergence = if minimum.converged {
            Convergence::Converged { iterations: minimum.iterations }
        } else {
            Convergence::NotConverged { iterations: minimum.iterations, residual: minimum.gradient }
        };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }

    /// Classes as Dirichlet observations, exact or by inducing rows.
    fn fit_shares(
        &self,
        sample: &Sample,
        labels: &[u32],
        fitting: &Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let (n, d) = sample.inputs().dim();
        let counts = class_weights(sample, labels);
        let present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0.0).collect();
        let held = if self.params.inducing > 0 { self.params.inducing.min(n) } else { n } as u64;
        fitting.limits.reserve(8 * present.len() as u64 * held * (held + d as u64))?;
        // The noise stands in the weights of the rows.
        let mut start = self.start(d);
        start.push(0.0);
        let mut search = Searches::default();
        let mut machines = BTreeMap::new();
        for class in present {
            let level = (counts[class] / sample.total_weight()).ln();
            let observed = Observed::of(labels, class, self.params.prior, level, sample.weights());
            let rows = Noisy { y: &observed.y, weights: Some(observed.weights.view()) };
            let (minimum, machine, _, evidence) = match self.params.inducing {
                0 => self.exactly(sample.inputs(), rows, (&start, Noise::Known), fitting)?,
                _ => self.by_inducing(sample.inputs(), rows, (&start, Noise::Known), fitting)?,
            };
            search.add(&minimum, evidence + observed.density());
            machines.insert(class, (machine, level));
        }
        let facts = facts(n, search.evidence, machines.values().map(|(machine, _)| machine));
        let predictor = Shares { task: sample.task(), features: d, machines };
        Ok(Outcome { predictor, convergence: search.convergence(), facts }.boxed())
    }

    /// How the search for the kernel ended, the kernel with the posterior, `σ²`, and the evidence.
    fn exactly(
        &self,
        inputs: ArrayView2<'_, f64>,
        rows: Noisy<'_>,
        (start, noise): (&[f64], Noise),
        fitting: &Fitting<'_>,
    ) -> Result<(Minimum, Machine, f64, f64), LearningError> {
        let (n, d) = inputs.dim();
        // The matrix, its inverse, and their likes in the gradient.
        fitting.limits.reserve(8 * (n as u64) * (6 * n as u64 + 4 * d as u64))?;
        let evidence = |logs: &[f64]| {
            fitting.limits.check()?;
            let posterior = Posterior::of(logs, inputs, rows)?;
            Ok((posterior.evidence, posterior.gradient(rows)))
        };
        let minimum = self.maximise(start, noise, evidence)?;
        let posterior = Posterior::of(&minimum.x, inputs, rows)?;
        let Posterior { kernel, noise, scaled, weights, inverse, evidence, .. } = posterior;
        Ok((minimum, Machine { kernel, scaled, weights, reduction: inverse }, noise, evidence))
    }

    /// The same by inducing rows; the evidence is its lower bound.
    fn by_inducing(
        &self,
        inputs: ArrayView2<'_, f64>,
        noisy: Noisy<'_>,
        (start, noise): (&[f64], Noise),
        fitting: &Fitting<'_>,
    ) -> Result<(Minimum, Machine, f64, f64), LearningError> {
        let (n, d) = inputs.dim();
        let m = self.params.inducing.min(n);
        let threads = fitting.threads.max(1);
        let (block, squares) = (4 * BLOCK.min(n) * (m + d), (8 + threads) * m * m);
        fitting.limits.reserve(8 * (threads * block + squares + m * d) as u64)?;
        let drawn = drawn_from("inducing", n, m, &fitting.streams);
        let inducing = inputs.select(Axis(0), &drawn.unwrap_or_else(|| (0..n).collect()));
        let noisy = Noisy { y: noisy.y, weights: noisy.weights.map(ArrayView1::reborrow) };
        let rows = Rows { inputs: inputs.reborrow(), inducing: inducing.view(), noisy, threads };
        let evidence = |logs: &[f64]| {
            fitting.limits.check()?;
            let bound = Bound::of(logs, rows)?;
            Ok((bound.value, bound.gradient(rows)?))
        };
        let minimum = self.maximise(start, noise, evidence)?;
        let bound = Bound::of(&minimum.x, rows)?;
        let Bound { kernel, noise, scaled, weights, reduction, value, .. } = bound;
        Ok((minimum, Machine { kernel, scaled, weights, reduction }, noise, value))
    }

    /// The kernel and mode of one classifier, and how its search for the kernel ended.
    fn machine(
        &self,
        inputs: ArrayView2<'_, f64>,
        rows: Labelled<'_>,
        fitting: &Fitting<'_>,
    ) -> Result<(Machine, Minimum), LearningError> {
        let start = self.start(inputs.ncols());
        let mut last: Option<Array1<f64>> = None;
        let evidence = |logs: &[f64]| {
            fitting.limits.check()?;
            let kernel = ScaledGaussian::from_logs(logs);
            let scaled = kernel.scaled(inputs);
            let gram = kernel.gram(scaled.view());
            let mode = Mode::find(&gram, rows, last.as_ref())?;
            let gradient = kernel.gradient(&mode.sensitivity(&gram), &gram, &scaled);
            last = Some(mode.weights);
            Ok::<_, Fault>((-mode.evidence, gradient.iter().map(|g| -g).collect()))
        };
        let lbfgs = self.search(start.len());
        let minimum = lbfgs.minimise(evidence, &start).map_err(|Fault(error)| error)?;
        let kernel = ScaledGaussian::from_logs(&minimum.x);
        let scaled = kernel.scaled(inputs);
        let mode = Mode::find(&kernel.gram(scaled.view()), rows, None)?;
        let Mode { weights, reduction, .. } = mode;
        Ok((Machine { kernel, scaled, weights, reduction }, minimum))
    }
}

/// Whether the noise is sought with the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    Free,
    Known,
}

/// What ends a search for the kernel.
struct Fault(LearningError);

impl From<LearningError> for Fault {
    fn from(error: LearningError) -> Self {
        Self(error)
    }
}

impl From<SolverError> for Fault {
    fn from(error: SolverError) -> Self {
        let operation = "maximising the evidence";
        Self(LearningError::Numerical { operation, reason: error.to_string() })
    }
}

impl Learner for GaussianProcess {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        if let (Targets::Real(values), 1..) = (sample.targets(), self.params.inducing) {
            return self.fit_numbers(sample, values, fitting);
        }
        if let (Targets::Classes { labels, .. }, Likelihood::Dirichlet) =
            (sample.targets(), self.params.likelihood)
            && self.params.inducing > 0
        {
            sample.require_two_classes()?;
            return self.fit_shares(sample, labels, fitting);
        }
        let sample = at_most(sample, self.params.cap, fitting)?;
        sample.require_two_classes()?;
        let task = sample.task();
        let labels = match sample.targets() {
            Targets::Classes { labels, .. } => labels,
            Targets::Real(values) => return self.fit_numbers(&sample, values, fitting),
        };
        if self.params.likelihood == Likelihood::Dirichlet {
            return self.fit_shares(&sample, labels, fitting);
        }
        let (n, d) = sample.inputs().dim();
        let counts = sample.class_counts();
        let classes: Vec<usize> = match counts.len() {
            2 => vec![1],
            k => (0..k).filter(|&class| counts[class] > 0).collect(),
        };
        let matrices = (classes.len() + 4) as u64;
        fitting.limits.reserve(8 * (n as u64) * (matrices * n as u64 + 4 * d as u64))?;
        let mut machines = BTreeMap::new();
        let mut search = Searches::default();
        for class in classes {
            let y: Vec<f64> =
                labels.iter().map(|&l| if l as usize == class { 1.0 } else { -1.0 }).collect();
            let rows = Labelled { y: &y, weights: sample.weights() };
            let (machine, minimum) = self.machine(sample.inputs(), rows, fitting)?;
            machines.insert(class, machine);
            search.add(&minimum, -minimum.value);
        }
        let facts = facts(n, search.evidence, machines.values());
        let predictor = Processes { task, features: d, machines };
        Ok(Outcome { predictor, convergence: search.convergence(), facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
    }
}

/// What the rows of each class count as.
fn class_weights(sample: &Sample, labels: &[u32]) -> Vec<f64> {
    let mut counts = vec![0.0; sample.task().outputs()];
    for (row, &label) in labels.iter().enumerate() {
        counts[label as usize] += sample.weights().map_or(1.0, |weights| weights[row]);
    }
    counts
}

/// How the searches of several classes ended.
#[derive(Default)]
struct Searches {
    evidence: f64,
    iterations: usize,
    residual: f64,
    unfinished: bool,
}

impl Searches {
    fn add(&mut self, minimum: &Minimum, evidence: f64) {
        self.evidence += evidence;
        self.iterations += minimum.iterations;
        self.unfinished |= !minimum.converged;
        self.residual = self.residual.max(minimum.gradient);
    }

    const fn convergence(&self) -> Convergence {
        let Self { iterations, residual, .. } = *self;
        if self.unfinished {
            Convergence::NotConverged { iterations, residual }
        } else {
            Convergence::Converged { iterations }
        }
    }
}

/// What is told of the kernels of all classes.
fn facts<'a>(
    rows: usize,
    evidence: f64,
    machines: impl ExactSizeIterator<Item = &'a Machine>,
) -> BTreeMap<String, f64> {
    let count = machines.len() as f64;
    let mut sums = [0.0; 2];
    for Machine { kernel, .. } in machines {
        sums[0] += kernel.deviation;
        sums[1] += kernel.lengths.sum() / kernel.lengths.len() as f64;
    }
    BTreeMap::from([
        (fact::ROWS_USED.to_owned(), rows as f64),
        ("log-evidence".to_owned(), evidence),
        ("mean-deviation".to_owned(), sums[0] / count),
        ("mean-length".to_owned(), sums[1] / count),
    ])
}

/// The process of a class, or of numbers.
struct Machine {
    kernel: ScaledGaussian,
    scaled: Array2<f64>,    // training inputs over the lengths, n × d
    weights: Array1<f64>,   // t − π, n
    reduction: Array2<f64>, // R, n × n
}

impl Machine {
    /// The kernel between rows and the training rows.
    fn cross(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.kernel.between(inputs, self.scaled.view())
    }

    /// Mean and variance of the latent function at each row.
    fn latent(&self, inputs: ArrayView2<'_, f64>) -> (Array1<f64>, Array1<f64>) {
        let power = self.kernel.deviation.powi(2);
        let k = self.cross(inputs);
        let mut reduced = Array2::zeros(k.dim());
        product(1.0, k.view(), self.reduction.view(), 0.0, reduced.view_mut());
        let variance = power - (&reduced * &k).sum_axis(Axis(1));
        (k.dot(&self.weights), variance)
    }

    fn state(&self) -> State {
        State::new()
            .with("deviation", self.kernel.deviation)
            .with_array("lengths", &self.kernel.lengths)
            .with_array("scaled", &self.scaled)
            .with_array("weights", &self.weights)
            .with_array("reduction", &self.reduction)
    }

    fn restore(part: &State, features: usize) -> Result<Self, LearningError> {
        let weights = part.array::<f64, Ix1>("weights")?;
        let n = weights.len();
        let lengths = part.array::<f64, Ix1>("lengths")?;
        if lengths.len() != 1 && lengths.len() != features {
            return refuse("lengths", "must be one, or one a column");
        }
        let kernel = ScaledGaussian { deviation: part.value("deviation")?, lengths };
        // To within the rounding of their logarithms. The steps of a class's share grow with the deviation: one that no
        // fit leaves takes for ever.
        let within =
            |value: f64| (RANGE.0 * (1.0 - 1e-9)..=RANGE.1 * (1.0 + 1e-9)).contains(&value);
        if !(within(kernel.deviation) && kernel.lengths.iter().copied().all(within)) {
            return refuse("lengths", "must lie between 1e-5 and 1e5, and so must the deviation");
        }
        let scaled = part.array_of::<f64, Ix2>("scaled", (n, features))?;
        let reduction = part.array_of::<f64, Ix2>("reduction", (n, n))?;
        Ok(Self { kernel, scaled, weights, reduction })
    }
}

fn refuse<T>(name: &str, problem: &str) -> Result<T, LearningError> {
    let (name, problem) = (name.to_owned(), problem.to_owned());
    Err(LearningError::State { name, problem })
}

/// The classifiers of the classes that occurred.
struct Processes {
    task: Task,
    features: usize,
    machines: BTreeMap<usize, Machine>,
}

impl Predictor for Processes {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut scores = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let mut block = scores.slice_mut(rows);
            for (&class, machine) in &self.machines {
                let (mean, variance) = machine.latent(inputs.slice(rows));
                for (i, (&m, &v)) in mean.iter().zip(&variance).enumerate() {
                    block[[i, class]] = expected_share(m, v);
                }
            }
            if self.task.outputs() == 2 {
                let other = block.column(1).mapv(|p| 1.0 - p);
                block.column_mut(0).assign(&other);
            }
        }
        scores
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        let mut scores = self.decision(inputs);
        for mut row in scores.rows_mut() {
            let total = row.sum();
            row /= total;
        }
        Some(scores)
    }

    fn state(&self) -> State {
        let classes: Vec<usize> = self.machines.keys().copied().collect();
        let state = State::new()
            .with("task", self.task)
            .with("features", self.features)
            .with("classes", &classes);
        self.machines.iter().fold(state, |state, (class, machine)| {
            state.with_part(&format!("class-{class}"), machine.state())
        })
    }
}

fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let (task, features): (Task, usize) = (state.value("task")?, state.value("features")?);
    if features == 0 {
        return refuse("features", "must be at least 1");
    }
    if task == Task::Regression {
        return Ok(Box::new(Process::restore(state)?));
    }
    let classes: Vec<usize> = state.value("classes")?;
    if classes.is_empty() || classes.iter().any(|&c| c >= task.outputs()) {
        return refuse("classes", "do not belong to the task");
    }
    let machine = |class: usize| {
        Ok((class, Machine::restore(state.part(&format!("class-{class}"))?, features)?))
    };
    let machines = classes.into_iter().map(machine).collect::<Result<_, LearningError>>()?;
    if state.holds::<f64>("levels") {
        return Ok(Box::new(Shares::restore(state, task, features, machines)?));
    }
    Ok(Box::new(Processes { task, features, machines }))
}

#[cfg(test)]
mod tests;
