use super::objective::{failed_on, one_hot, share_right};
use super::{Held, Objective, Sensitivity, Value, positive, refused};
use mercer_kernels::{Adjoint, Covariance, KernelError};
use mercer_learning::LearningError;
use mercer_linalg::{Cholesky, JITTER_LADDER};
use ndarray::{Array2, ArrayView2, Axis, Zip};

/// The objective of an implicit embedding with all its derivatives.
///
/// ```
/// use mercer_kernels::Covariance;
/// use mercer_models::mce::{Implicit, Objective};
/// use ndarray::array;
/// let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let value = |step: f64| {
///     let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![step.exp(), 1.0] };
///     let embedding = Implicit::new(&kernel, x.view(), &[0, 0, 1, 1], 2, 0.1)?;
///     embedding.gradient(&Objective::default(), None)
/// };
/// let h = 1e-5;
/// let slope = (value(h)?.value.objective - value(-h)?.value.objective) / (2.0 * h);
/// let found = value(0.0)?;
/// assert_eq!(found.log_parameters.len(), 3); // ln s, ln ℓ_1, ln ℓ_2
/// assert!((found.log_parameters[1] - slope).abs() < 1e-6 * slope.abs().max(1.0));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ImplicitGradient {
    /// The objective.
    pub value: Value,
    /// `∂q/∂ ln λ`.
    pub log_lambda: f64,
    /// `∂q/∂ ln θ`, in the order of [`Covariance::parameters`].
    pub log_parameters: Vec<f64>,
    /// `∂q/∂Z` of the inputs, `n × p`: what goes back into a network that made them.
    pub inputs: Array2<f64>,
    /// `∂q/∂Z'` of the held rows, where the loss is measured on such.
    pub held: Option<Array2<f64>>,
}

/// A batch with a kernel and a `λ`: `A = K + n λ I` factored, `V = A⁻¹ Y`.
///
/// ```
/// use mercer_kernels::Covariance;
/// use mercer_models::mce::{Implicit, Objective};
/// use ndarray::array;
/// let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let kernel = Covariance::Gaussian { scale: 1.0, lengths: vec![1.0, 1.0] };
/// let embedding = Implicit::new(&kernel, x.view(), &[0, 0, 1, 1], 2, 0.1)?;
/// let found = embedding.gradient(&Objective::default().checked()?, None)?;
/// assert!((found.value.objective - 14.758538063646059).abs() < 1e-12);
/// // Scale and λ are one parameter: s ∂q/∂s + 2 λ ∂q/∂λ = 0.
/// assert!((found.log_parameters[0] + 2.0 * found.log_lambda).abs() < 1e-10);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub struct Implicit<'a> {
    kernel: &'a Covariance,
    inputs: ArrayView2<'a, f64>,
    labels: &'a [u32],
    classes: usize,
    lambda: f64,
    factor: Cholesky,
    jitter: f64,
    weights: Array2<f64>,
    /// What rounding may make of `tr(Vᵀ K V)`.
    rounding: f64,
}

/// How many times its own rounding `tr(Vᵀ K V)` has to be: one digit of it, and two of its root.
const DIGIT: f64 = 10.0;

impl<'a> Implicit<'a> {
    /// Factors `K + n λ I` of the rows of `inputs` (`n × d`) and solves for the weights `V`.
    ///
    /// A factorisation that fails is tried again with a growing jitter, which the values report. So is one whose
    /// weights are so large that nothing is left of `tr(Vᵀ K V)`: the entries of `K` are rounded by `ε k̄`, which `V`
    /// multiplies to `ε √n k̄ ‖V‖²`, `k̄` the mean diagonal. Then the embedding of `n λ + jitter` is fitted, and every
    /// value belongs to it.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for a `λ` or a kernel parameter that is not positive and finite,
    /// [`LearningError::Numerical`] if no jitter helps.
    ///
    /// # Panics
    /// If there is not one label a row.
    pub fn new(
        kernel: &'a Covariance,
        inputs: ArrayView2<'a, f64>,
        labels: &'a [u32],
        classes: usize,
        lambda: f64,
    ) -> Result<Self, LearningError> {
        let n = inputs.nrows();
        Self::in_memory(kernel, inputs, labels, classes, lambda, Array2::zeros((n, n)))
    }

    /// As [`Implicit::new`], in memory left by [`Implicit::into_memory`]; other memory is replaced.
    ///
    /// # Errors
    /// As [`Implicit::new`].
    ///
    /// # Panics
    /// If there is not one label a row.
    pub fn in_memory(
        kernel: &'a Covariance,
        inputs: ArrayView2<'a, f64>,
        labels: &'a [u32],
        classes: usize,
        lambda: f64,
        memory: Array2<f64>,
    ) -> Result<Self, LearningError> {
        let n = inputs.nrows();
        assert_eq!(n, labels.len(), "one label a row");
        positive("lambda", lambda)?;
        kernel.check(inputs.ncols()).map_err(|error| setting(&error))?;
        let ridge = n as f64 * lambda;
        let mut gram = if memory.dim() == (n, n) { memory } else { Array2::zeros((n, n)) };
        let mut first = 0.0; // the jitter to start from
        loop {
            kernel.gram_into(inputs, gram.view_mut());
            let mean = gram.diag().sum() / n as f64;
            gram.diag_mut().mapv_inplace(|entry| entry + (ridge + first));
            let (factor, more) = Cholesky::with_jitter(gram, &JITTER_LADDER)
                .map_err(|error| failed_on(kernel, "factoring the Gram matrix", error))?;
            let weights = factor
                .solve(&one_hot(labels, classes))
                .map_err(|error| failed_on(kernel, "solving for the weights", error))?;
            let jitter = first + more;
            let length = weights.iter().map(|v| v * v).sum::<f64>();
            let rounding = f64::EPSILON * (n as f64).sqrt() * mean * length;
            let embedding =
                Self { kernel, inputs, labels, classes, lambda, factor, jitter, weights, rounding };
            let higher = JITTER_LADDER.iter().map(|relative| relative * mean);
            match higher.into_iter().find(|&next| next > jitter && next > ridge) {
                // Written so that NaN ends the climb.
                Some(next) if embedding.explained() < DIGIT * rounding => {
                    first = next;
                    gram = embedding.into_memory();
                }
                _ => return Ok(embedding),
            }
        }
    }

    /// Returns the embedding weights `V = (K + n λ I)⁻¹ Y`, `n × K`.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    /// Returns the jitter that was added to the diagonal. It makes the factorisation succeed, or gives the complexity
    /// digits.
    pub const fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Returns the memory of the factor, for the next embedding of as many rows.
    pub fn into_memory(self) -> Array2<f64> {
        self.factor.into_memory()
    }

    /// Returns the decision probabilities of the training rows, `P = K V = Y − (n λ + jitter) V`.
    pub fn probabilities(&self) -> Array2<f64> {
        let mut p = one_hot(self.labels, self.classes);
        p.scaled_add(-self.ridge(), &self.weights);
        p
    }

    /// Returns the decision probabilities of other rows, `P' = K' V`.
    pub fn probabilities_of(&self, rows: ArrayView2<'_, f64>) -> Array2<f64> {
        self.kernel.cross_gram(rows, self.inputs).dot(&self.weights)
    }

    /// Returns `‖W‖_HS = √tr(Vᵀ K V)`.
    ///
    /// Where even a jitter leaves less of the trace than rounding may have made of it, this is the root
    /// of that rounding: the complexity never comes out too small.
    pub fn norm(&self) -> f64 {
        self.squared().sqrt()
    }

    /// Returns `α`, as far as the rows tell: the largest `√k(x_i, x_i)`.
    pub fn alpha(&self) -> f64 {
        self.sensitivity(Sensitivity::Supremum).0
    }

    /// Returns the complexity `r = α ‖W‖_HS`.
    pub fn complexity(&self, sensitivity: Sensitivity) -> f64 {
        self.sensitivity(sensitivity).0 * self.norm()
    }

    /// Returns the objective, its loss measured on the training rows or on held ones.
    pub fn value(&self, objective: &Objective, held: Option<Held<'_>>) -> Value {
        let held = held.as_ref();
        let (p, labels) = self.scored(held);
        self.assemble(objective, p.view(), labels).0
    }

    /// Returns the objective with its derivatives.
    ///
    /// `∂q/∂K` has rank `2K` (protocol: one factorisation, triangular solves with `2K` columns):
    /// with `G = ∂loss/∂P`, `B = A⁻¹ G`, `Z = A⁻¹ P`, `T = tr(Vᵀ P)`,
    /// `∂q/∂K = C Vᵀ + V Cᵀ`, `C = n λ B/2 + τ α (V/2 − Z)/(2√T)`.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] if the solves fail.
    pub fn gradient(
        &self,
        objective: &Objective,
        held: Option<Held<'_>>,
    ) -> Result<ImplicitGradient, LearningError> {
        let held = held.as_ref();
        let (p, labels) = self.scored(held);
        let (value, slope, squared) = self.assemble(objective, p.view(), labels);
        // The loss seen from V: K'ᵀ G; on the training rows G will do.
        let from_loss = match held {
            None => slope.clone(),
            Some(held) => self.kernel.cross_gram(held.rows, self.inputs).t().dot(&slope),
        };
        let (solved, z) = self.solved(&from_loss)?;
        let b = solved.slice(ndarray::s![.., ..self.classes]);
        let n = self.inputs.nrows() as f64;
        let (alpha, peak) = self.sensitivity(objective.sensitivity);
        let root = squared.sqrt();
        let pull = if root > 0.0 { objective.weight * alpha / (2.0 * root) } else { 0.0 };

        // On the training rows ∂loss/∂K = n λ B Vᵀ; on others it is −B Vᵀ, and K' has its own.
        let share = if held.is_none() { self.ridge() } else { -1.0 };
        let mut c = Array2::zeros((self.inputs.nrows(), self.classes));
        Zip::from(&mut c).and(b).and(&self.weights).and(&z).for_each(|c, &b, &v, &z| {
            *c = 0.5 * share * b + pull * (0.5 * v - z);
        });
        let left = ndarray::concatenate![Axis(1), c, self.weights];
        let other = ndarray::concatenate![Axis(1), self.weights, c];
        let mut adjoint = Adjoint::new(left.view(), other.view());
        if let Some(row) = peak
            && alpha > 0.0
        {
            adjoint = adjoint.with_spike(row, objective.weight * root / (2.0 * alpha));
        }
        let mut gradient =
            self.kernel.gram_gradient(self.inputs, Some(self.factor.remainder()), &adjoint);
        // ∂q/∂λ: the loss sees λ through V alone.
        let by_loss = match held {
            None => (&slope * &z).sum(),
            Some(_) => (&b * &self.weights).sum(),
        };
        let by_lambda = -n * by_loss - 2.0 * pull * n * (&z * &self.weights).sum();
        let held = held.map(|held| {
            let adjoint = Adjoint::new(slope.view(), self.weights.view());
            let cross = self.kernel.cross_gradient(held.rows, self.inputs, &adjoint);
            let both = gradient.parameters.iter_mut().zip(&cross.parameters);
            both.for_each(|(to, by)| *to += by);
            gradient.inputs += &cross.right;
            cross.left
        });
        Ok(ImplicitGradient {
            value,
            log_lambda: self.lambda * by_lambda,
            log_parameters: gradient.parameters,
            inputs: gradient.inputs,
            held,
        })
    }

    /// `A⁻¹` of the loss seen from `V`, beside that of `V`; and `Z`.
    fn solved(&self, from_loss: &Array2<f64>) -> Result<(Array2<f64>, Array2<f64>), LearningError> {
        let m = self.classes;
        let mut right = Array2::zeros((self.inputs.nrows(), 2 * m));
        right.slice_mut(ndarray::s![.., ..m]).assign(from_loss);
        right.slice_mut(ndarray::s![.., m..]).assign(&self.weights);
        let solved = self
            .factor
            .solve(&right)
            .map_err(|error| failed_on(self.kernel, "solving for the gradient", error))?;
        // Z = A⁻¹ P = V − (n λ + jitter) A⁻¹ V.
        let mut z = self.weights.clone();
        z.scaled_add(-self.ridge(), &solved.slice(ndarray::s![.., m..]));
        Ok((solved, z))
    }

    /// `tr(Vᵀ P)`, however it came out.
    fn explained(&self) -> f64 {
        (&self.weights * &self.probabilities()).sum()
    }

    /// `tr(Vᵀ K V)`, or its rounding where that is more.
    fn squared(&self) -> f64 {
        self.explained().max(self.rounding)
    }

    fn ridge(&self) -> f64 {
        self.inputs.nrows() as f64 * self.lambda + self.jitter
    }

    fn scored<'b>(&'b self, held: Option<&'b Held<'_>>) -> (Array2<f64>, &'b [u32]) {
        match held {
            None => (self.probabilities(), self.labels),
            Some(held) => (self.probabilities_of(held.rows), held.labels),
        }
    }

    /// Value, `G`, and `tr(Vᵀ K V)`.
    fn assemble(
        &self,
        objective: &Objective,
        p: ArrayView2<'_, f64>,
        labels: &[u32],
    ) -> (Value, Array2<f64>, f64) {
        let (loss, slope) = objective.loss(p, labels);
        let squared = self.squared();
        let complexity = self.sensitivity(objective.sensitivity).0 * squared.sqrt();
        let accuracy = share_right(p, labels);
        let value = Value {
            objective: loss + objective.weight * complexity,
            loss,
            complexity,
            accuracy,
            jitter: self.jitter,
        };
        (value, slope, squared)
    }

    /// `α`, and the row at which it is taken.
    fn sensitivity(&self, sensitivity: Sensitivity) -> (f64, Option<usize>) {
        match sensitivity {
            Sensitivity::One => (1.0, None),
            Sensitivity::Supremum => {
                let diagonal = self.kernel.diagonal(self.inputs);
                let row = mercer_learning::argmax(diagonal.view()) as usize;
                (diagonal[row].max(0.0).sqrt(), Some(row))
            }
        }
    }
}

/// A number beside a name: `1e-200`, not two hundred zeros.
fn brief(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-4..1e16).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// What [`setting`] says, of the setting that a kernel named by its word takes the parameter from.
pub(super) fn setting_of(error: &KernelError) -> LearningError {
    const MUST: &str = "positive and finite, as must be its square";
    let KernelError::Parameter { name, value } = error else { return setting(error) };
    match name.as_str() {
        "scale" => refused("scale", brief(*value), MUST),
        length if length.starts_with("length") => refused("length", brief(*value), MUST),
        _ => setting(error),
    }
}

/// A kernel's complaint as one about a setting.
pub(super) fn setting(error: &KernelError) -> LearningError {
    let (value, must) = match error {
        KernelError::Parameter { name, value } => {
            let must = if *value > 0.0 && value.is_finite() {
                "one whose parameters have squares that are positive and finite"
            } else {
                "one whose parameters are positive and finite"
            };
            (format!("one with {name} = {}", brief(*value)), must)
        }
        KernelError::Lengths { found, features } => (
            format!("one with {found} length scales for {features} columns"),
            "one with a length scale for each column, or one for all",
        ),
        KernelError::NoKernels => {
            ("a sum or product of nothing".to_owned(), "a sum or product of at least one kernel")
        }
        other => (other.to_string(), "a kernel that can be evaluated"),
    };
    LearningError::Setting { name: "kernel", value, must }
}
