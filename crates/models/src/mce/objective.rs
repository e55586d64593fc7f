use super::{not_negative, refused};
use mercer_kernels::Covariance;
use mercer_learning::LearningError;
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

/// How the losses of the rows are put together.
///
/// ```
/// use mercer_models::mce::{Form, Objective};
/// use ndarray::array;
/// let loss = |form| {
///     let objective = Objective { form, ..Objective::default() };
///     objective.loss(array![[0.5, 0.5], [0.5, 0.5]].view(), &[0, 1]).0
/// };
/// assert!((loss(Form::Sum) - 2.0 * 2f64.ln()).abs() < 1e-15);
/// assert!((loss(Form::Mean) - 2f64.ln()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `Σ_i loss_i`, as the authors' code does: the complexity then weighs `τ/n` of a mean loss.
    Sum,
    /// `(1/n) Σ_i loss_i`, equation (12) as printed.
    Mean,
}

/// What stands for `α = sup_x √k(x, x)` in the complexity `r = α ‖W‖`.
///
/// ```
/// use mercer_kernels::Covariance;
/// use mercer_models::mce::{Implicit, Sensitivity};
/// use ndarray::array;
/// let kernel = Covariance::Gaussian { scale: 3.0, lengths: vec![1.0] }; // √k(x, x) = 3
/// let x = array![[0.0], [1.0]];
/// let embedding = Implicit::new(&kernel, x.view(), &[0, 1], 2, 0.1)?;
/// let (supremum, one) =
///     (embedding.complexity(Sensitivity::Supremum), embedding.complexity(Sensitivity::One));
/// assert!((supremum / one - 3.0).abs() < 1e-12);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sensitivity {
    /// The largest `√k(x_i, x_i)` of the training rows; `s` for a stationary kernel.
    Supremum,
    /// 1, whatever the kernel: as the authors' networks do.
    One,
}

/// Which side of a decision probability is clipped.
///
/// ```
/// use mercer_models::mce::{Clip, Objective};
/// use ndarray::array;
/// let of = |clip, probability: f64| {
///     let objective = Objective { clip, ..Objective::default() };
///     objective.loss(array![[1.0 - probability, probability]].view(), &[1]).0
/// };
/// assert_eq!(of(Clip::Both, 2.0), 0.0);
/// assert!((of(Clip::Below, 2.0) + 2f64.ln()).abs() < 1e-15); // better than certain
/// assert_eq!(of(Clip::Both, 0.0), of(Clip::Below, 0.0)); // −ln ε in any case
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clip {
    /// Both: a value above 1 counts as 1. The paper has it so, and its code for tables.
    Both,
    /// Below alone: a decision probability above 1 has a negative loss. This is as in its code for images.
    Below,
}

/// The learning objective `q = Σ loss_ε(y_i, f(x_i)) + τ r` (equation (12)), `loss_ε(y, f) =
/// −log min(max(f_y, ε), 1)`, `r = α ‖W‖_HS`.
///
/// With `weight` 0 it is the empirical risk. The default is the printed one: mean loss, `τ = 4e`,
/// `ε = 1e-15`.
///
/// ```
/// use mercer_models::mce::Objective;
/// let (loss, slope) = Objective::default().loss(ndarray::array![[0.5, 0.5]].view(), &[1]);
/// assert!((loss - 2f64.ln()).abs() < 1e-15 && slope[[0, 1]] == -2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Objective {
    /// Sum or mean of the losses.
    pub form: Form,
    /// `τ ≥ 0`, the weight of the complexity.
    pub weight: f64,
    /// `ε` in `(0, 1)`, below which a probability is clipped.
    pub epsilon: f64,
    /// Whether a probability above 1 is clipped, too.
    pub clip: Clip,
    /// What stands for `α`.
    pub sensitivity: Sensitivity,
}

impl Default for Objective {
    fn default() -> Self {
        Self {
            form: Form::Mean,
            weight: 4.0 * std::f64::consts::E,
            epsilon: 1e-15,
            clip: Clip::Both,
            sensitivity: Sensitivity::Supremum,
        }
    }
}

impl Objective {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for a weight below 0, or an `ε` outside `(0, 1)`.
    pub fn checked(self) -> Result<Self, LearningError> {
        not_negative("weight", self.weight)?;
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return Err(refused("epsilon", self.epsilon, "above 0 and below 1"));
        }
        Ok(self)
    }

    /// Returns the loss of the decision probabilities `P` (`n × K`), and its derivative. The derivative by `P` is
    /// `−1/P_{i,y_i}` (over `n` in the mean form) where `ε < P_{i,y_i} < 1`, or above 1 where that is not clipped,
    /// else 0.
    pub fn loss(&self, probabilities: ArrayView2<'_, f64>, labels: &[u32]) -> (f64, Array2<f64>) {
        let share = match self.form {
            Form::Sum => 1.0,
            Form::Mean => 1.0 / labels.len() as f64,
        };
        let top = if self.clip == Clip::Both { 1.0 } else { f64::INFINITY };
        let mut slope = Array2::zeros(probabilities.dim());
        let mut loss = 0.0;
        for (row, &label) in labels.iter().enumerate() {
            let at = [row, label as usize];
            let p = probabilities[at];
            // Written so that NaN becomes a NaN loss, and ends the fit.
            loss -= if p <= self.epsilon {
                self.epsilon.ln()
            } else if p >= top {
                0.0
            } else {
                p.ln()
            };
            if p > self.epsilon && p < top {
                slope[at] = -share / p;
            }
        }
        (share * loss, slope)
    }
}

/// The objective at one point, whatever its features.
///
/// ```
/// use mercer_models::mce::{Explicit, Objective};
/// use ndarray::array;
/// let z = array![[1.0, 0.0], [0.0, 1.0]];
/// let objective = Objective { weight: 0.5, ..Objective::default() };
/// let value = Explicit::new(z.view(), &[0, 1], 2, 0.5)?.value(&objective, None);
/// // W = (Zᵀ Z + n λ I)⁻¹ Zᵀ Y = I/2: probabilities of 1/2.
/// assert!((value.loss - 2f64.ln()).abs() < 1e-15);
/// assert!((value.objective - (value.loss + 0.5 * value.complexity)).abs() < 1e-15);
/// assert_eq!((value.accuracy, value.jitter), (1.0, 0.0));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// `q = loss + τ r`.
    pub objective: f64,
    /// The loss, in the objective's form.
    pub loss: f64,
    /// The complexity `r`.
    pub complexity: f64,
    /// Share of the scored rows whose class has the largest decision probability.
    pub accuracy: f64,
    /// The jitter added to the diagonal for the factorisation; 0 if none was needed.
    pub jitter: f64,
}

/// Rows on which the loss is measured instead of the training rows. They serve batch validation, equation (13), or the
/// second pass of a network whose dropout changes between the two.
///
/// ```
/// use mercer_models::mce::{Explicit, Held, Objective};
/// use ndarray::array;
/// let z = array![[1.0, 0.0], [0.0, 1.0]];
/// let embedding = Explicit::new(z.view(), &[0, 1], 2, 0.5)?;
/// let objective = Objective::default();
/// let of = |rows, labels| embedding.value(&objective, Some(Held { rows, labels }));
/// // The training rows, held out: nothing changes. Of the other class, the loss is that of ε.
/// assert_eq!(of(z.view(), &[0, 1]).loss, embedding.value(&objective, None).loss);
/// let wrong = of(z.view(), &[1, 0]);
/// assert!(wrong.accuracy == 0.0 && (wrong.loss + objective.epsilon.ln()).abs() < 1e-12);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// Inputs or features, `n' × p`.
    pub rows: ArrayView2<'a, f64>,
    /// Classes.
    pub labels: &'a [u32],
}

/// Classes as columns, `n × K`.
pub(super) fn one_hot(labels: &[u32], classes: usize) -> Array2<f64> {
    let mut y = Array2::zeros((labels.len(), classes));
    for (mut row, &label) in y.rows_mut().into_iter().zip(labels) {
        row[label as usize] = 1.0;
    }
    y
}

/// Share of the rows whose class wins.
pub(super) fn share_right(probabilities: ArrayView2<'_, f64>, labels: &[u32]) -> f64 {
    let right = probabilities
        .rows()
        .into_iter()
        .zip(labels)
        .filter(|(row, label)| mercer_learning::argmax(*row) == **label)
        .count();
    right as f64 / labels.len() as f64
}

/// A factorisation of features that no jitter could save.
pub(super) fn failed(operation: &'static str, error: impl std::fmt::Display) -> LearningError {
    let reason = format!("{error}; raise `lambda`, or scale the inputs down");
    LearningError::Numerical { operation, reason }
}

/// A factorisation of a Gram matrix that no jitter could save, with what can be done about such a kernel.
pub(super) fn failed_on(
    kernel: &Covariance,
    operation: &'static str,
    error: impl std::fmt::Display,
) -> LearningError {
    let some = |is: fn(&Covariance) -> bool| any(kernel, is);
    let mut remedies = vec!["raise `lambda`"];
    if some(|kernel| matches!(kernel, Covariance::Polynomial { .. })) {
        remedies.push("lower the degree of the polynomial, whose values overflow");
    }
    if some(|kernel| matches!(kernel, Covariance::Linear { .. } | Covariance::Polynomial { .. })) {
        remedies.push("scale the inputs down");
    }
    let lengths: fn(&Covariance) -> bool = |kernel| {
        use Covariance::{Gaussian, Matern, RationalQuadratic};
        matches!(kernel, Gaussian { .. } | Matern { .. } | RationalQuadratic { .. })
    };
    if some(lengths) {
        remedies.push("raise the smallest length scale");
    }
    LearningError::Numerical { operation, reason: format!("{error}; {}", remedies.join(", or ")) }
}

/// Whether a kernel, or one that it is made of, is such a one.
fn any(kernel: &Covariance, is: fn(&Covariance) -> bool) -> bool {
    match kernel {
        Covariance::Sum { of } | Covariance::Product { of } => of.iter().any(|part| any(part, is)),
        one => is(one),
    }
}
