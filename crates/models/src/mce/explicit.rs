use super::objective::{failed, one_hot, share_right};
use super::{Held, Objective, Sensitivity, Value, positive};
use mercer_learning::LearningError;
use mercer_linalg::{Cholesky, JITTER_LADDER, product, symmetric_product};
use ndarray::{Array2, ArrayView2};

/// The objective of an embedding with explicit features, with its derivatives.
///
/// ```
/// use mercer_models::mce::{Explicit, Objective, Sensitivity};
/// use ndarray::array;
/// let z = array![[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]];
/// let objective = Objective { sensitivity: Sensitivity::One, ..Default::default() };
/// let at = |lambda: f64| Explicit::new(z.view(), &[0, 1, 0], 2, lambda);
/// let found = at(0.1)?.gradient(&objective, None)?;
/// let h = 1e-5f64;
/// let value = |step: f64| at(0.1 * step.exp()).map(|e| e.value(&objective, None).objective);
/// let slope = (value(h)? - value(-h)?) / (2.0 * h);
/// assert!((found.log_lambda - slope).abs() < 1e-6 * slope.abs().max(1.0));
/// assert!(found.held.is_none()); // the loss was measured on the training rows
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ExplicitGradient {
    /// The objective.
    pub value: Value,
    /// `∂q/∂ ln λ`.
    pub log_lambda: f64,
    /// `∂q/∂Z` of the features, `n × p`: what goes back into a network that made them.
    pub features: Array2<f64>,
    /// `∂q/∂Z'` of the held rows, where the loss is measured on such.
    pub held: Option<Array2<f64>>,
}

/// An embedding with explicit features `Z` (`n × p`), Algorithm 2. By Woodbury's identity `W = (Zᵀ Z + n λ I)⁻¹ Zᵀ Y`,
/// in `p³/3 + n p²` multiply-adds instead of `n³/3`.
///
/// It is the [`super::Implicit`] embedding with the linear kernel of the features.
///
/// ```
/// use mercer_models::mce::{Explicit, Objective, Sensitivity};
/// use ndarray::array;
/// let z = array![[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]];
/// let embedding = Explicit::new(z.view(), &[0, 1, 0], 2, 0.1)?;
/// assert!((embedding.weights()[[0, 0]] - 0.805860805860806).abs() < 1e-15);
/// let objective = Objective { sensitivity: Sensitivity::One, ..Default::default() };
/// let found = embedding.gradient(&objective, None)?;
/// assert_eq!(found.features.dim(), (3, 2));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub struct Explicit<'a> {
    features: ArrayView2<'a, f64>,
    labels: &'a [u32],
    classes: usize,
    lambda: f64,
    factor: Cholesky,
    jitter: f64,
    weights: Array2<f64>,
}

impl<'a> Explicit<'a> {
    /// Factors `Zᵀ Z + n λ I` and solves for `W`.
    ///
    /// A factorisation that fails is tried again with a growing jitter, which the values report.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for a `λ` that is not positive and finite,
    /// [`LearningError::Numerical`] if no jitter helps.
    ///
    /// # Panics
    /// If there is not one label a row.
    pub fn new(
        features: ArrayView2<'a, f64>,
        labels: &'a [u32],
        classes: usize,
        lambda: f64,
    ) -> Result<Self, LearningError> {
        let n = features.nrows();
        assert_eq!(n, labels.len(), "one label a row");
        positive("lambda", lambda)?;
        let mut normal = symmetric_product(features);
        normal.diag_mut().mapv_inplace(|entry| entry + n as f64 * lambda);
        let (factor, jitter) = Cholesky::with_jitter(normal, &JITTER_LADDER)
            .map_err(|error| failed("factoring the features' normal matrix", error))?;
        let mut seen = Array2::zeros((features.ncols(), classes));
        for (z, &label) in features.rows().into_iter().zip(labels) {
            seen.column_mut(label as usize).scaled_add(1.0, &z);
        }
        let weights =
            factor.solve(&seen).map_err(|error| failed("solving for the weights", error))?;
        Ok(Self { features, labels, classes, lambda, factor, jitter, weights })
    }

    /// Returns the output weights `W`, `p × K`.
    pub fn weights(&self) -> ArrayView2<'_, f64> {
        self.weights.view()
    }

    /// Returns the jitter added to the diagonal for the factorisation to succeed.
    pub const fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Returns the decision probabilities `Z' W` of rows with the features `Z'` (`n' × p`).
    pub fn probabilities_of(&self, features: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut p = Array2::zeros((features.nrows(), self.classes));
        product(1.0, features, self.weights.view(), 0.0, p.view_mut());
        p
    }

    /// Returns `‖W‖_F`: the complexity is `α` times it.
    pub fn norm(&self) -> f64 {
        self.weights.mapv(|w| w * w).sum().sqrt()
    }

    /// Returns `α`, as far as the rows tell: the largest `‖z_i‖`.
    pub fn alpha(&self) -> f64 {
        self.sensitivity(Sensitivity::Supremum).0
    }

    /// Returns the objective, its loss measured on the training rows or on held ones.
    pub fn value(&self, objective: &Objective, held: Option<Held<'_>>) -> Value {
        let (rows, labels) = self.scored(held.as_ref());
        self.assemble(objective, self.probabilities_of(rows).view(), labels).0
    }

    /// Returns the objective with its derivatives. With `G = ∂loss/∂P'`, `D = Z'ᵀ G + τ α W/‖W‖`, `S = A⁻¹ D`:
    /// `∂q/∂Z' = G Wᵀ`, `∂q/∂Z = Y Sᵀ − Z (S Wᵀ + W Sᵀ)`, `∂q/∂λ = −n ⟨S, W⟩`; where the loss is measured on the
    /// training rows, the two are added.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] if the solve fails.
    pub fn gradient(
        &self,
        objective: &Objective,
        held: Option<Held<'_>>,
    ) -> Result<ExplicitGradient, LearningError> {
        let (rows, labels) = self.scored(held.as_ref());
        let (value, slope) = self.assemble(objective, self.probabilities_of(rows).view(), labels);
        let (alpha, peak) = self.sensitivity(objective.sensitivity);
        let norm = self.norm();
        let mut pull = self.weights.clone();
        pull *= if norm > 0.0 { objective.weight * alpha / norm } else { 0.0 };
        product(1.0, rows.t(), slope.view(), 1.0, pull.view_mut());
        let s =
            self.factor.solve(&pull).map_err(|error| failed("solving for the gradient", error))?;

        // Z (S Wᵀ + W Sᵀ) = (Z S) Wᵀ + (Z W) Sᵀ: no p × p matrix is formed.
        let (z, w) = (self.features, self.weights.view());
        let mut zs = Array2::zeros((z.nrows(), self.classes));
        product(1.0, z, s.view(), 0.0, zs.view_mut());
        let rest = one_hot(self.labels, self.classes) - self.probabilities_of(z);
        let mut features = Array2::zeros(z.dim());
        product(1.0, rest.view(), s.t(), 0.0, features.view_mut());
        product(-1.0, zs.view(), w.t(), 1.0, features.view_mut());
        let held = if held.is_some() {
            let mut gradient = Array2::zeros(rows.dim());
            product(1.0, slope.view(), w.t(), 0.0, gradient.view_mut());
            Some(gradient)
        } else {
            product(1.0, slope.view(), w.t(), 1.0, features.view_mut());
            None
        };
        if let Some(row) = peak
            && alpha > 0.0
        {
            // α = ‖z_i‖ of the longest row.
            let scale = objective.weight * norm / alpha;
            features.row_mut(row).scaled_add(scale, &z.row(row));
        }
        let n = z.nrows() as f64;
        let log_lambda = -n * self.lambda * (&s * &self.weights).sum();
        Ok(ExplicitGradient { value, log_lambda, features, held })
    }

    fn scored<'b>(&'b self, held: Option<&'b Held<'_>>) -> (ArrayView2<'b, f64>, &'b [u32]) {
        match held {
            Some(held) => (held.rows.view(), held.labels),
            None => (self.features.view(), self.labels),
        }
    }

    fn assemble(
        &self,
        objective: &Objective,
        p: ArrayView2<'_, f64>,
        labels: &[u32],
    ) -> (Value, Array2<f64>) {
        let (loss, slope) = objective.loss(p, labels);
        let complexity = self.sensitivity(objective.sensitivity).0 * self.norm();
        let value = Value {
            objective: loss + objective.weight * complexity,
            loss,
            complexity,
            accuracy: share_right(p, labels),
            jitter: self.jitter,
        };
        (value, slope)
    }

    fn sensitivity(&self, sensitivity: Sensitivity) -> (f64, Option<usize>) {
        match sensitivity {
            Sensitivity::One => (1.0, None),
            Sensitivity::Supremum => {
                let squares = self.features.rows().into_iter().map(|z| z.dot(&z)).collect();
                let squares: ndarray::Array1<f64> = squares;
                let row = mercer_learning::argmax(squares.view()) as usize;
                (squares[row].sqrt(), Some(row))
            }
        }
    }
}
