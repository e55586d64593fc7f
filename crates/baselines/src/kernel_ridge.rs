mod choice;
mod left_out;

pub(crate) use choice::{Regressed, RidgeChoice, chosen_ridge, of_ridge};

use crate::kernel_choice::{self, CONDITIONS, KernelChoice, KernelName};
use crate::sections::{between_others, is_sparse, kept, restored};
use crate::subsample::at_most;
use left_out::Solved;
use mercer_kernels::{GaussianSystem, Kernel, Sections};
use mercer_learning::{
    Allowed, Axis as Setting, Convergence, ConvergenceHint, Cost, Fitted, FittedKernel, Fitting,
    Learner, LearningError, LeftOut, Method, Outcome, Parameters, Predictor, Range, Sample,
    Settings, Shape, Space, State, Targets, Task, Tasks, declared, fact, with_conditions,
    with_hints,
};
use mercer_linalg::{LinalgError, MatrixView, SparseRows, definite_solve};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, Ix1, Ix2, s};
use rand::seq::index;
use std::collections::BTreeMap;

pub(crate) const METHOD: Method = Method {
    name: "kernel-ridge",
    title: "kernel ridge",
    summary: "kernel ridge regression, Gaussian by default, by Cholesky, or by conjugate gradients where the matrix is too large; classes by least squares on one-hot",
    formula: "f(x) = ȳ + Σ α_i k(x, x_i), (K + λ n I) α = y − ȳ, k(x, z) = exp(−s² ‖x − z‖²/2) by default",
    when: "up to some 10,000 rows, numbers above all; chooses its ridge itself",
    cites: "Saunders, Gammerman & Vovk (1998)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "n^3/3 + n^2 d, n = min(n, cap)",
        predict: "n (d + K)",
        memory: "n^2, n = min(n, cap)",
    },
    // A tuner's early rungs use fewer rows.
    resource: Some("cap"),
    warnings: kernel_choice::WARNINGS,
    settings: &|| {
        let hints = [
            ("iterations", ConvergenceHint::More),
            ("landmarks", ConvergenceHint::More),
            ("tolerance", ConvergenceHint::Larger),
            ("lambda", ConvergenceHint::Larger),
        ];
        with_hints(with_conditions(declared::<KernelRidgeParams>(), &CONDITIONS), &hints)
    },
    defaults: &|shape| {
        let std = default_std(shape.features);
        Settings::new().with("std", std).with("lambda", 1e-5).with("cap", CAP)
    },
    // A ridge that is right for a table of strangers is known to nobody.
    user_defaults: &|_| Settings::new().with("lambda", None::<f64>),
    space: &space,
    build: &|settings| Ok(Box::new(KernelRidge::new(settings.read("kernel-ridge")?)?)),
    restore: &KernelExpansion::restore,
};

fn space(shape: &Shape) -> Space {
    space_around(shape, (METHOD.defaults)(shape))
}

/// Widths about the default one, and ridges, with an anchor.
pub(crate) fn space_around(shape: &Shape, anchor: Settings) -> Space {
    let centre = default_std(shape.features).log2();
    Space {
        axes: vec![
            Setting { name: "std", range: Range::Log2(centre - 4.0, centre + 4.0) },
            Setting { name: "lambda", range: Range::Log10(-10.0, -1.0) },
        ],
        anchors: vec![anchor],
    }
}

/// The Gram matrix of so many rows fills 1.2 GB.
const CAP: usize = 12_000;

/// `1/√d`: on standard-scaled data the typical `s² ‖x − z‖² / 2` is then 1.
pub(crate) fn default_std(features: usize) -> f64 {
    1.0 / (features as f64).sqrt()
}

mercer_learning::parameters! {
    /// Settings of [`KernelRidge`].
    ///
    /// ```
    /// use mercer_baselines::{KernelRidge, KernelRidgeParams};
    /// use mercer_learning::{Fitting, Learner, Predictions, Sample};
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[0.0], [1.0], [2.0]], array![4.0, 5.0, 9.0])?;
    /// let far = |centre| {
    ///     let params = KernelRidgeParams { centre, std: Some(1.0), ..Default::default() };
    ///     let fitted = KernelRidge::new(params)?.fit(&sample, &mut Fitting::seeded(1))?;
    ///     fitted.predictor.predict(array![[1e3]].view())
    /// };
    /// // Far from all training rows: their mean, or 0.
    /// assert_eq!((far(true)?, far(false)?), (Predictions::Real(vec![6.0]), Predictions::Real(vec![0.0])));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct KernelRidgeParams {
        /// `λ ≥ 0` in `K + λ n I`. If null, it is chosen among half decades by the error of leave-one-out,
        /// which is exact: over all rows, or over 1000 by seed, whose `λ · 1000` then holds for all.
        pub lambda: Option<f64> = Some(1e-5), Allowed::NOT_NEGATIVE;
        /// `gaussian` is `exp(−s² ‖x − z‖² / 2)`, `laplace` `exp(−s ‖x − z‖)`, `polynomial`
        /// `(s² x·z + offset)^degree`; the Matérn kernels are smoother than `laplace`. With
        /// `precomputed` the inputs are the kernel matrix itself, unscaled: a column for each row of the table, in the
        /// order of the rows. Rows to predict have the same columns.
        pub kernel: KernelName = KernelName::Gaussian;
        /// `s > 0` of the kernel, an inverse length scale; `1/√d` if not set.
        pub std: Option<f64> = None, Allowed::POSITIVE;
        /// Degree of the polynomial kernel.
        pub degree: u32 = 3, Allowed::COUNT;
        /// What the polynomial kernel adds to the product.
        pub offset: f64 = 1.0, Allowed::NOT_NEGATIVE;
        /// Whether the targets' mean is subtracted before the fit and added after it, so that far from
        /// the training rows the prediction is the mean (the class shares), not 0.
        pub centre: bool = true;
        /// Training rows beyond this are left out, by seed. The matrix of up to 12,000 rows is stored
        /// and factored, in 1.2 GB; with more, the system is solved by conjugate gradients.
        pub cap: usize = CAP, Allowed::PAIR;
        /// Relative residual at which conjugate gradients stop.
        pub tolerance: f64 = 1e-6, Allowed::INSIDE_ONE;
        /// Their most iterations; each reads the stored matrix, or computes it with `n² d/2` multiply-adds.
        pub iterations: usize = 200, Allowed::COUNT;
        /// Columns of the matrix behind their preconditioner.
        pub landmarks: usize = 1000, Allowed::COUNT;
        /// Rows up to which the iterations are with the matrix in single precision, `2 n²` bytes; in double
        /// precision it is computed anew once a round of them, for the residual. Not stored where the memory
        /// that is allowed has no room for it.
        pub stored_rows: usize = GaussianSystem::STORED_ROWS;
    }
}

/// Kernel ridge regression, `f(x) = ȳ + Σ α_i k(x, x_i)` with
/// `(K + λ n I) α = y − ȳ`.
///
/// It minimises `(1/n) Σ (f(x_i) − y_i)² + λ ‖f‖²` over the kernel's space (`ȳ` apart). Of rows with weights the
/// mean is weighted, `(1/Σw) Σ w_i (f(x_i) − y_i)²`, and so is `ȳ`; there may be 12,000 of them. Classes are
/// fitted as `K` one-hot columns at once, and the largest wins. Cholesky in place up to 12,000 rows;
/// if the matrix is singular to rounding, the jitter that it took is among the facts, with the rows
/// used. Equal rows with different targets have no solution without a ridge: there the least-squares
/// solution of least norm is taken, and the facts `rank` and `cutoff` say so. Beyond, conjugate gradients ([`GaussianSystem`]): the facts have `residual`,
/// `iterations`, and `stored`, 1 where they were with a matrix in single precision, and the outcome says whether the tolerance was met. Where the ridge was chosen, `lambda`
/// and its mean squared error of `leave-one-out` are facts, and `grid-end`, 1 where it is the first or the last that was
/// tried.
///
/// ```
/// use linfa::{DatasetBase, traits::{Fit, Predict}};
/// use mercer_baselines::{KernelRidge, KernelRidgeParams};
/// use mercer_learning::Estimator;
/// use ndarray::{Array1, Axis};
/// let x = Array1::linspace(-2.0, 2.0, 40);
/// let dataset = DatasetBase::new(x.clone().insert_axis(Axis(1)), x.mapv(f64::sin));
/// let params = KernelRidgeParams { std: Some(1.0), lambda: Some(1e-8), ..Default::default() };
/// let estimator = Estimator { learner: KernelRidge::new(params)?, seed: 1 };
/// let fitted = estimator.fit(&dataset)?;
/// let at_half = fitted.predict(ndarray::array![[0.5]]).targets[0];
/// assert!((at_half - 0.5f64.sin()).abs() < 1e-3);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KernelRidge {
    params: KernelRidgeParams,
}

impl KernelRidge {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: KernelRidgeParams) -> Result<Self, LearningError> {
        params.in_range()?;
        match params.std {
            Some(std) if !(std * std).is_finite() => {
                let must = "small enough for its square to be finite";
                Err(LearningError::setting("std", std, must))
            }
            _ => Ok(Self { params }),
        }
    }
}

impl Learner for KernelRidge {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let sample = self.params.kernel.points(sample)?;
        let sample = at_most(&sample, self.params.cap, fitting)?;
        sample.require_two_classes()?;
        let Shape { rows: n, features: d, task } = sample.shape();
        let outputs = task.outputs();
        let mut y = one_column_an_output(sample.targets(), n, outputs);
        let mut mean = Array1::zeros(outputs);
        if self.params.centre {
            mean = mean_of(&y, sample.weights());
            y -= &mean;
        }
        let total = sample.total_weight();
        let std = self.params.std.unwrap_or(default_std(d));
        sample.require_distances(std)?;
        let KernelRidgeParams { kernel: name, degree, offset, .. } = self.params;
        let given = KernelChoice { name, std, degree, offset };
        let kernel = given.of(sample.matrix())?;
        let choice = match self.params.lambda {
            Some(_) => None,
            None => Some(of_ridge(&sample, kernel, &y, self.params.centre, fitting)?),
        };
        let ridge = choice.map_or(self.params.lambda.unwrap_or(0.0) * total, |made| made.ridge);
        if !ridge.is_finite() {
            let lambda = self.params.lambda.unwrap_or(f64::INFINITY);
            return Err(LearningError::setting(
                "lambda",
                lambda,
                "small enough for λ n to be finite",
            ));
        }
        let mut solution = if n > CAP {
            self.check_iterative(&sample)?;
            let system = GaussianSystem {
                inputs: sample.inputs(),
                std,
                ridge,
                stored: false,
                threads: fitting.threads.max(1),
            };
            self.iterate(system, &y, fitting)?
        } else {
            factored(&sample, kernel, ridge, &y, fitting)?
        };
        solution.facts.insert(fact::ROWS_USED.to_owned(), n as f64);
        solution.facts.extend(given.indefinite(sample.matrix()));
        if let Some(made) = choice {
            solution.facts.extend(made.facts(total));
        }
        let sections = kernel.sections(sample.matrix());
        // Of rows that count alike, solved without a jitter, one can be left out.
        let exact =
            n <= CAP && solution.facts["jitter"] == 0.0 && solution.facts["rank"] as usize == n;
        let plain = task == Task::Regression && sample.weights().is_none() && exact;
        let solved = plain.then_some(Solved { ridge, centred: self.params.centre });
        let coefficients = solution.coefficients;
        let predictor = KernelExpansion { task, sections, coefficients, mean, solved };
        Ok(Outcome { predictor, convergence: solution.convergence, facts: solution.facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
    }

    fn keeps_sparse(&self) -> bool {
        self.params.cap <= CAP
    }
}

/// The mean of each column, with the rows' weights where they have some.
pub(crate) fn mean_of(y: &Array2<f64>, weights: Option<ArrayView1<'_, f64>>) -> Array1<f64> {
    weights.map_or_else(
        || y.mean_axis(Axis(0)).expect("a sample has rows"),
        |weights| weights.dot(y) / weights.sum(),
    )
}

/// `S K S` of a kernel matrix, `S = diag(√w)`. With targets `S y` its regression is the weighted one, of coefficients
/// `S β`. Leaving a row out of it leaves the row out with all its weight.
fn weigh(gram: &mut Array2<f64>, roots: &Array1<f64>) {
    *gram *= roots;
    *gram *= &roots.view().insert_axis(Axis(1));
}

/// `α` and how it was found.
struct Solution {
    coefficients: Array2<f64>,
    convergence: Convergence,
    facts: BTreeMap<String, f64>,
}

/// Cholesky of the stored matrix; of rows with weights, of [`weigh`]'s.
fn factored(
    sample: &Sample,
    kernel: Kernel,
    ridge: f64,
    y: &Array2<f64>,
    fitting: &Fitting<'_>,
) -> Result<Solution, LearningError> {
    let (n, outputs) = (sample.rows(), y.ncols());
    let d = if sample.is_sparse() { 0 } else { sample.features() };
    // The matrix and its factor share memory; beside them two copies of inputs and targets.
    let doubles = n as u64 * (n + 2 * d + 2 * outputs) as u64;
    fitting.limits.reserve(8 * doubles)?;
    let threads = fitting.threads;
    let roots = sample.root_weights();
    let mut gram = kernel.upper_gram(sample.matrix(), threads);
    if let Some(roots) = &roots {
        weigh(&mut gram, roots);
    }
    gram.diag_mut().mapv_inplace(|entry| entry + ridge);
    fitting.limits.check()?;
    let again = || {
        // The whole matrix, its eigenvectors and their room.
        fitting.limits.reserve(8 * 5 * n as u64 * n as u64).map_err(Stopped::Outside)?;
        let mut gram = kernel.gram(sample.matrix());
        if let Some(roots) = &roots {
            weigh(&mut gram, roots);
        }
        gram.diag_mut().mapv_inplace(|entry| entry + ridge);
        fitting.limits.check().map_err(Stopped::Outside)?;
        Ok(gram)
    };
    let column = roots.as_ref().map(|roots| roots.view().insert_axis(Axis(1)));
    let mut solved = match &column {
        Some(column) => definite_solve(threads, gram, &(y * column), again),
        None => definite_solve(threads, gram, y, again),
    }
    .map_err(Stopped::said)?;
    if let Some(column) = &column {
        solved.x *= column;
    }
    let facts =
        [("jitter", solved.jitter), ("rank", solved.rank as f64), ("cutoff", solved.cutoff)];
    Ok(Solution {
        coefficients: solved.x,
        convergence: Convergence::Exact,
        facts: facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    })
}

impl KernelRidge {
    /// Refuses rows that are solved by a stored matrix alone.
    fn check_iterative(&self, sample: &Sample) -> Result<(), LearningError> {
        let must = if sample.weights().is_some() {
            "at most 12000 where rows have weights"
        } else if self.params.kernel != KernelName::Gaussian {
            "at most 12000 unless `kernel` is gaussian"
        } else {
            return Ok(());
        };
        Err(LearningError::setting("cap", self.params.cap, must))
    }

    /// Conjugate gradients on a matrix that is stored in single precision, or not at all.
    fn iterate(
        &self,
        system: GaussianSystem<'_>,
        y: &Array2<f64>,
        fitting: &Fitting<'_>,
    ) -> Result<Solution, LearningError> {
        let KernelRidgeParams { tolerance, iterations, landmarks, stored_rows, .. } = self.params;
        let (n, outputs) = y.dim();
        let landmarks = landmarks.min(n);
        let system = system
            .within(stored_rows, landmarks, outputs, |bytes| fitting.limits.reserve(bytes))?;
        let mut core =
            index::sample(&mut fitting.streams.rng("landmarks"), n, landmarks).into_vec();
        core.sort_unstable();
        let solved = system
            .solve(y.view(), &core, tolerance, iterations, |_, _| {
                fitting.limits.check().map_err(Stopped::Outside)
            })
            .map_err(Stopped::said)?
            .useful()
            .map_err(|error| numerical(&error))?;
        let (iterations, residual) = (solved.iterations, solved.residual);
        let convergence = if solved.converged {
            Convergence::Converged { iterations }
        } else {
            Convergence::NotConverged { iterations, residual }
        };
        let facts = [
            (fact::RESIDUAL, residual),
            (fact::ITERATIONS, iterations as f64),
            (fact::STORED, f64::from(system.stored)),
        ];
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Solution { coefficients: solved.x, convergence, facts })
    }
}

/// Why a solution was given up.
pub(crate) enum Stopped {
    Outside(LearningError),
    Numerical(LinalgError),
}

impl Stopped {
    fn said(self) -> LearningError {
        match self {
            Self::Outside(error) => error,
            Self::Numerical(error) => numerical(&error),
        }
    }
}

impl From<LinalgError> for Stopped {
    fn from(error: LinalgError) -> Self {
        Self::Numerical(error)
    }
}

fn numerical(error: &LinalgError) -> LearningError {
    let operation = "solving (K + lambda n I) alpha = y";
    LearningError::Numerical { operation, reason: error.to_string() }
}

/// One-hot classes (`n × K`), or the values in one column.
pub(crate) fn one_column_an_output(targets: &Targets, n: usize, outputs: usize) -> Array2<f64> {
    match targets {
        Targets::Classes { labels, .. } => {
            let mut y = Array2::zeros((n, outputs));
            for (i, &label) in labels.iter().enumerate() {
                y[[i, label as usize]] = 1.0;
            }
            y
        }
        Targets::Real(values) => values.clone().insert_axis(Axis(1)),
    }
}

/// `f(x) = mean + Σ coefficients_i k(x, x_i)`.
pub(crate) struct KernelExpansion {
    pub(crate) task: Task,
    pub(crate) sections: Sections,
    pub(crate) coefficients: Array2<f64>, // α, n × K
    pub(crate) mean: Array1<f64>,         // ȳ, K
    pub(crate) solved: Option<Solved>,
}

impl KernelExpansion {
    /// What [`Predictor::state`] has kept.
    pub(crate) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        let (task, sections): (Task, _) =
            (state.value("task")?, restored(state.part("sections")?)?);
        let shape = (sections.len(), task.outputs());
        let coefficients = state.array_of::<f64, Ix2>("coefficients", shape)?;
        let mean = state.array_of::<f64, Ix1>("mean", task.outputs())?;
        let solved = Solved::restored(state)?;
        Ok(Box::new(Self { task, sections, coefficients, mean, solved }))
    }
}

impl KernelExpansion {
    fn scores(&self, inputs: MatrixView<'_>) -> Array2<f64> {
        const BLOCK: usize = 512; // rows whose kernel values are held at once
        let n = inputs.dim().0;
        let mut scores = Array2::zeros((n, self.mean.len()));
        for start in (0..n).step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(n);
            let values = inputs.within(rows.clone(), |x| self.sections.at(x));
            let values = values.dot(&self.coefficients);
            scores.slice_mut(s![rows, ..]).assign(&(values + &self.mean));
        }
        scores
    }
}

impl Predictor for KernelExpansion {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.sections.features()
    }

    fn state(&self) -> State {
        let state = State::new()
            .with("task", self.task)
            .with_part("sections", kept(&self.sections))
            .with_array("coefficients", &self.coefficients)
            .with_array("mean", &self.mean);
        match self.solved {
            Some(solved) => solved.kept(state),
            None => state,
        }
    }

    fn left_out(&self, threads: usize) -> Option<Result<Box<dyn LeftOut>, LearningError>> {
        let solved = self.solved.filter(|_| between_others(&self.sections));
        Some(solved?.left_out(self, threads))
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.scores(inputs.into())
    }

    fn sparse_decision(&self, inputs: &SparseRows) -> Option<Array2<f64>> {
        is_sparse(&self.sections).then(|| self.scores(inputs.into()))
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        between_others(&self.sections).then_some(self)
    }
}

impl FittedKernel for KernelExpansion {
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.sections.gram(inputs)
    }

    fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
        self.sections.mean_diagonal(inputs)
    }
}
