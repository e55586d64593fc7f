use super::{ClosedPrecision, columns_of, refused};
use crate::sections::{kept, restored};
use mercer_kernels::{GaussianSystem, Kernel, Sections};
use mercer_learning::{
    Allowed, Convergence, Fitted, FittedKernel, Fitting, Learner, LearningError, Outcome,
    Parameters, Predictor, Sample, State, Task, fact,
};
use mercer_linalg::{
    LinalgError, SymmetricOperator, definite_solve, explicit_inverse_f32, product,
    semidefinite_solve,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix2, s};
use rand::seq::index;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The Gram matrix of so many rows, a factor and the eigenvectors of it fill some 4 GB.
const DIRECT_ROWS: usize = 12_000;

/// How the coefficients are found.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::rftk::{KernelRidgelessParams, KernelSolver};
/// // Up to 12,000 rows are solved directly, unless something else is asked for.
/// let read = |word: &str| Settings::new().with("solver", word).read::<KernelRidgelessParams>("kernel-ridgeless");
/// assert_eq!(read("iterative")?.solver, KernelSolver::Iterative);
/// assert_eq!(KernelRidgelessParams::default().solver, KernelSolver::Auto);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("auto, direct, iterative"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelSolver {
    /// Direct up to 12,000 rows, iterative beyond.
    Auto,
    /// The Gram matrix is stored and factored or decomposed.
    Direct,
    /// Conjugate gradients, preconditioned by Nyström's approximation. The Gram matrix is stored in single precision
    /// for the iterations (`stored_rows`) or never; the residuals are in double precision. The outcome says whether the
    /// tolerance was met.
    Iterative,
}

mercer_learning::parameters! {
    /// Settings of `kernel-ridgeless`; the defaults are the paper's text. [`super::Width`] converts other
    /// conventions of the bandwidth.
    ///
    /// ```
    /// use mercer_learning::{Fitting, Learner, Sample};
    /// use mercer_models::rftk::KernelRidgelessParams;
    /// use ndarray::{Array1, Axis};
    /// let x = Array1::linspace(-2.0, 2.0, 12);
    /// let sample = Sample::regression(x.clone().insert_axis(Axis(1)), x.mapv(f64::sin))?;
    /// let loss = |lambda| {
    ///     let learner = KernelRidgelessParams { std: 2.0, lambda, ..Default::default() }.checked()?;
    ///     learner.fit(&sample, &mut Fitting::seeded(1)).map(|fitted| fitted.facts["loss"])
    /// };
    /// // A ridge ends the interpolation, a larger one the more.
    /// assert!(loss(0.0)? < 1e-20 && loss(0.01)? > 1e-6 && loss(0.1)? > loss(0.01)?);
    /// assert!(loss(-1.0).unwrap_err().to_string().contains("`lambda` is -1"));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct KernelRidgelessParams {
        /// `k` of the kernel `exp(−k² ‖x − x'‖²/2)`, in 1/input unit.
        pub std: f64 = 0.1, Allowed::POSITIVE;
        /// `λ ≥ 0` in `K + λ n I`; with 0, the pseudo-inverse. (The authors' code takes 1e-8 for 0.)
        pub lambda: f64 = 0.0, Allowed::NOT_NEGATIVE;
        /// How a direct solution is computed.
        pub precision: ClosedPrecision = ClosedPrecision::F64;
        /// Eigenvalues of `K` at or below this times the largest count as 0 (`λ = 0` in double
        /// precision, direct); `n ε`, rounding alone, if null. The method by name takes 1e-8, which
        /// truncates the solution: steadier on noisy rows. null is the paper's.
        pub cutoff: Option<f64> = None, Allowed::BELOW_ONE;
        /// How the coefficients are found.
        pub solver: KernelSolver = KernelSolver::Auto;
        /// Relative residual at which the iteration stops.
        pub tolerance: f64 = 1e-6, Allowed::INSIDE_ONE;
        /// Most iterations; each reads the stored matrix, or computes it with `n² d/2` multiply-adds.
        pub iterations: usize = 200, Allowed::COUNT;
        /// Columns of `K` behind the preconditioner.
        pub landmarks: usize = 1000, Allowed::COUNT;
        /// Rows up to which the iterations are with `K` in single precision, `2 n²` bytes. The residual
        /// uses `K` in double precision, computed anew once a round. Not stored where the allowed memory has no
        /// room for it.
        pub stored_rows: usize = GaussianSystem::STORED_ROWS;
    }
}

impl KernelRidgelessParams {
    /// Returns the learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<KernelRidgeless, LearningError> {
        self.in_range()?;
        if !(self.std * self.std).is_finite() {
            return Err(refused("std", self.std, "small enough for its square to be finite"));
        }
        if self.solver == KernelSolver::Iterative && self.precision != ClosedPrecision::F64 {
            return Err(refused("precision", "f32-inverse", "`f64` with the iterative solver"));
        }
        Ok(KernelRidgeless(self))
    }
}

/// Ridgeless regression with a Gaussian kernel, `f(x) = Σ α_i k(x, x_i)`, `α = K⁺ y`; or, with
/// `λ > 0`, `α = (K + λ n I)⁻¹ y`.
///
/// Facts of a fit:
/// - `loss` (mean squared error of the training rows);
/// - direct: `rank`, `cutoff` (absolute, of eigenvalues) and `jitter`;
/// - iterative: `residual`, `iterations`, and `stored`, 1 where the iterations used a matrix in single precision.
///
/// Rows with weights, direct and in double precision: least squares and least norm are taken of `S K S`, `S y` and
/// `α = S β`, `S = diag(√w)`, and `Σ w` stands in the place of `n`.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Sample};
/// use mercer_models::rftk::KernelRidgelessParams;
/// use ndarray::{Array1, Axis};
/// let x = Array1::linspace(-2.0, 2.0, 12);
/// let sample = Sample::regression(x.clone().insert_axis(Axis(1)), x.mapv(f64::sin))?;
/// let learner = KernelRidgelessParams { std: 2.0, ..Default::default() }.checked()?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// assert!(fitted.facts["loss"] < 1e-20); // it interpolates
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KernelRidgeless(KernelRidgelessParams);

impl KernelRidgeless {
    /// Returns the settings.
    pub const fn params(&self) -> &KernelRidgelessParams {
        &self.0
    }

    fn solver(&self, rows: usize) -> KernelSolver {
        let exact = self.0.precision == ClosedPrecision::F64;
        match self.0.solver {
            KernelSolver::Auto if rows > DIRECT_ROWS && exact => KernelSolver::Iterative,
            KernelSolver::Auto => KernelSolver::Direct,
            chosen => chosen,
        }
    }
}

impl Learner for KernelRidgeless {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        sample.require_two_classes()?;
        sample.require_distances(self.0.std)?;
        let kernel = Kernel::Gaussian { std: self.0.std };
        let y = columns_of(sample.targets());
        let found = match self.solver(sample.rows()) {
            KernelSolver::Iterative => self.iterate(sample, &y, fitting)?,
            _ => self.solve(sample, &y, kernel, fitting)?,
        };
        let predictor = Expansion {
            task: sample.task(),
            sections: kernel.sections(sample.inputs()),
            coefficients: found.coefficients,
        };
        let facts: BTreeMap<String, f64> =
            found.facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Outcome { predictor, convergence: found.convergence, facts }.boxed())
    }

    fn weighs_rows(&self) -> bool {
        true
    }
}

/// `S K S`.
fn weigh(gram: &mut Array2<f64>, roots: Option<&Array1<f64>>) {
    if let Some(roots) = roots {
        *gram *= roots;
        *gram *= &roots.view().insert_axis(Axis(1));
    }
}

/// `S y`, or `y` where the rows have no weights.
fn scaled<'a>(y: &'a Array2<f64>, roots: Option<&Array1<f64>>) -> Cow<'a, Array2<f64>> {
    match roots {
        None => Cow::Borrowed(y),
        Some(roots) => Cow::Owned(y * &roots.view().insert_axis(Axis(1))),
    }
}

struct Found {
    coefficients: Array2<f64>,
    convergence: Convergence,
    facts: Vec<(&'static str, f64)>,
}

/// `α` by an explicit inverse in single precision.
fn solved_in_single(
    gram: &Array2<f64>,
    ridge: f64,
    y: &Array2<f64>,
) -> Result<Array2<f64>, LearningError> {
    let mut narrow = gram.mapv(|entry| entry as f32);
    narrow.diag_mut().mapv_inplace(|entry| entry + ridge as f32);
    let inverse = explicit_inverse_f32(narrow.view()).map_err(|e| numerical(&e))?;
    let right = y.mapv(|entry| entry as f32);
    let mut coefficients = Array2::zeros(y.dim());
    product(1f32, inverse.view(), right.view(), 0.0, coefficients.view_mut());
    Ok(coefficients.mapv(f64::from))
}

impl KernelRidgeless {
    fn solve(
        &self,
        sample: &Sample,
        y: &Array2<f64>,
        kernel: Kernel,
        fitting: &Fitting<'_>,
    ) -> Result<Found, LearningError> {
        let params = &self.0;
        let n = sample.rows();
        if params.precision != ClosedPrecision::F64 && sample.weights().is_some() {
            return Err(refused("precision", "f32-inverse", "`f64` where rows have weights"));
        }
        let (roots, total) = (sample.root_weights(), sample.total_weight());
        let right = scaled(y, roots.as_ref());
        // The matrix, its factor, and the eigenvectors with their room; half of it in f32.
        let matrices = match params.precision {
            ClosedPrecision::F64 if params.lambda > 0.0 => 1,
            ClosedPrecision::F64 => 5,
            ClosedPrecision::F32Inverse => 3,
        };
        fitting.limits.reserve(8 * (matrices * n * n + 2 * n * sample.features()) as u64)?;
        let mut gram = kernel.gram(sample.inputs());
        weigh(&mut gram, roots.as_ref());
        fitting.limits.check()?;
        let ridge = params.lambda * total;
        let whole = n as f64;
        let (coefficients, rank, cutoff, jitter) = match params.precision {
            ClosedPrecision::F32Inverse => (solved_in_single(&gram, ridge, y)?, whole, 0.0, 0.0),
            ClosedPrecision::F64 if ridge > 0.0 => {
                gram.diag_mut().mapv_inplace(|entry| entry + ridge);
                let again = || {
                    let room = 8 * 5 * (n * n) as u64;
                    fitting.limits.reserve(room).map_err(Stopped::Outside)?;
                    let mut gram = kernel.gram(sample.inputs());
                    weigh(&mut gram, roots.as_ref());
                    gram.diag_mut().mapv_inplace(|entry| entry + ridge);
                    Ok(gram)
                };
                let solved = definite_solve(1, gram, &right, again).map_err(Stopped::said)?;
                (solved.x, solved.rank as f64, solved.cutoff, solved.jitter)
            }
            ClosedPrecision::F64 => {
                let solved = semidefinite_solve(&gram, right.view(), params.cutoff)
                    .map_err(|e| numerical(&e))?;
                (solved.x, solved.rank as f64, solved.cutoff, 0.0)
            }
        };
        let coefficients = scaled(&coefficients, roots.as_ref()).into_owned();
        // y − K α, the matrix being gone where it was factored in place.
        let sections = kernel.sections(sample.inputs());
        let residual = expand(&sections, &coefficients, sample.inputs()) - y;
        let loss = squares(&scaled(&residual, roots.as_ref())) / total;
        let facts = vec![("loss", loss), ("rank", rank), ("cutoff", cutoff), ("jitter", jitter)];
        Ok(Found { coefficients, convergence: Convergence::Exact, facts })
    }

    fn iterate(
        &self,
        sample: &Sample,
        y: &Array2<f64>,
        fitting: &Fitting<'_>,
    ) -> Result<Found, LearningError> {
        let params = &self.0;
        let n = sample.rows();
        if sample.weights().is_some() {
            let must = "`direct` where rows have weights";
            let auto = params.solver == KernelSolver::Auto;
            return Err(refused("solver", if auto { "auto" } else { "iterative" }, must));
        }
        let landmarks = params.landmarks.min(n);
        let ridge = params.lambda * n as f64;
        let threads = fitting.threads.max(1);
        let stored = false;
        let system =
            GaussianSystem { inputs: sample.inputs(), std: params.std, ridge, stored, threads }
                .within(params.stored_rows, landmarks, y.ncols(), |bytes| {
                    fitting.limits.reserve(bytes)
                })?;
        let mut rng = fitting.streams.rng("landmarks");
        let mut core = index::sample(&mut rng, n, landmarks).into_vec();
        core.sort_unstable();
        let solved = system
            .solve(y.view(), &core, params.tolerance, params.iterations, |_, _| {
                fitting.limits.check().map_err(Stopped::Outside)
            })
            .map_err(Stopped::said)?
            .useful()
            .map_err(|error| numerical(&error))?;
        let operator = system.operator();
        // y − (K + t I) α is known to the residual; K α differs from it by t α.
        let residual = y - &operator.apply(solved.x.view()) + &(ridge * &solved.x);
        let (iterations, reached) = (solved.iterations, solved.residual);
        let convergence = if solved.converged {
            Convergence::Converged { iterations }
        } else {
            Convergence::NotConverged { iterations, residual: reached }
        };
        let facts = vec![
            ("loss", squares(&residual) / n as f64),
            (fact::RESIDUAL, reached),
            (fact::ITERATIONS, iterations as f64),
            (fact::STORED, f64::from(system.stored)),
        ];
        Ok(Found { coefficients: solved.x, convergence, facts })
    }
}

/// Why a solution was given up.
enum Stopped {
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

fn squares(residual: &Array2<f64>) -> f64 {
    residual.iter().map(|r| r * r).sum()
}

fn numerical(error: &LinalgError) -> LearningError {
    LearningError::Numerical { operation: "solving K alpha = y", reason: error.to_string() }
}

/// `f(x) = Σ α_i k(x, x_i)`.
struct Expansion {
    task: Task,
    sections: Sections,
    coefficients: Array2<f64>, // α, n × K
}

/// What the state of a fitted expansion stands for.
pub(super) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let (task, sections): (Task, _) = (state.value("task")?, restored(state.part("sections")?)?);
    let shape = (sections.len(), task.outputs());
    let coefficients = state.array_of::<f64, Ix2>("coefficients", shape)?;
    Ok(Box::new(Expansion { task, sections, coefficients }))
}

/// `Σ α_i k(x, x_i)` for each row of `inputs`, some rows at a time.
fn expand(sections: &Sections, alpha: &Array2<f64>, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
    const BLOCK: usize = 512; // rows whose kernel values are held at once
    let mut scores = Array2::zeros((inputs.nrows(), alpha.ncols()));
    for start in (0..inputs.nrows()).step_by(BLOCK) {
        let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
        let values = sections.at(inputs.slice(rows));
        product(1.0, values.view(), alpha.view(), 0.0, scores.slice_mut(rows));
    }
    scores
}

impl Predictor for Expansion {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.sections.features()
    }

    fn state(&self) -> State {
        State::new()
            .with("task", self.task)
            .with_part("sections", kept(&self.sections))
            .with_array("coefficients", &self.coefficients)
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        expand(&self.sections, &self.coefficients, inputs)
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        Some(self)
    }
}

impl FittedKernel for Expansion {
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.sections.gram(inputs)
    }

    fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
        self.sections.mean_diagonal(inputs)
    }
}
