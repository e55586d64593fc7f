use crate::SolverError;
use ndarray::{Array1, ArrayView1};

/// The dual of an SVM, one signed weight a point:
///
/// ```text
/// min over β   ½ βᵀ K β − zᵀ β + ε ‖β‖₁     with   Σ β = 0,   lower ≤ β ≤ upper
/// ```
///
/// Classification has `z = y ∈ {−1, 1}`, `ε = 0`, and `β = y α` in `[0, C]` for the positive points and `[−C, 0]` for
/// the negative ones. Regression has its targets as `z`, the half-width of the tube as `ε`, and `β = α − α*` in
/// `[−C, C]`. Of `α` and `α*` one is always 0 at the optimum, so one variable says both.
///
/// ```
/// use mercer_solvers::Dual;
/// use ndarray::array;
/// let dual = Dual::classification(&[true, false, true], 1.0)?;
/// assert_eq!(dual.len(), 3);
/// assert!(dual.weighted(array![1.0, 2.0, 0.0].view()).is_err()); // a weight is positive
/// let refused = Dual::classification(&[true, true], 1.0).unwrap_err();
/// assert_eq!(refused.to_string(), "all 2 points have the same sign; two are needed to tell apart");
/// assert!(Dual::regression(array![0.5, f64::NAN].view(), 0.1, 1.0).is_err());
/// # Ok::<(), mercer_solvers::SolverError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dual {
    pub(crate) targets: Array1<f64>,
    pub(crate) epsilon: f64,
    pub(crate) lower: Array1<f64>,
    pub(crate) upper: Array1<f64>,
}

impl Dual {
    /// C-SVC: `min ½ ‖f‖² + C Σ_t max(0, 1 − y_t (f(x_t) + b))`.
    ///
    /// # Errors
    /// [`SolverError::Setting`] unless `cost` is positive and finite; [`SolverError::OneSign`] if
    /// all points are positive or all are negative.
    pub fn classification(positive: &[bool], cost: f64) -> Result<Self, SolverError> {
        check_cost(cost)?;
        if positive.iter().all(|&sign| sign) || positive.iter().all(|&sign| !sign) {
            return Err(SolverError::OneSign { points: positive.len() });
        }
        let of = |yes: f64, no: f64| -> Array1<f64> {
            positive.iter().map(|&sign| if sign { yes } else { no }).collect()
        };
        Ok(Self {
            targets: of(1.0, -1.0),
            epsilon: 0.0,
            lower: of(0.0, -cost),
            upper: of(cost, 0.0),
        })
    }

    /// ε-SVR: `min ½ ‖f‖² + C Σ_t max(0, |z_t − f(x_t) − b| − ε)`.
    ///
    /// # Errors
    /// [`SolverError::Setting`] unless `cost` is positive and finite and `epsilon` at least 0;
    /// [`SolverError::NotFinite`] for such targets; [`SolverError::OneSign`] without any.
    pub fn regression(
        targets: ArrayView1<'_, f64>,
        epsilon: f64,
        cost: f64,
    ) -> Result<Self, SolverError> {
        check_cost(cost)?;
        if !(epsilon >= 0.0 && epsilon.is_finite()) {
            let (value, must) = (epsilon.to_string(), "at least 0 and finite");
            return Err(SolverError::Setting { name: "epsilon", value, must });
        }
        if let Some(&value) = targets.iter().find(|value| !value.is_finite()) {
            return Err(SolverError::NotFinite { what: "the targets", value });
        }
        if targets.is_empty() {
            return Err(SolverError::OneSign { points: 0 });
        }
        let n = targets.len();
        Ok(Self {
            targets: targets.to_owned(),
            epsilon,
            lower: Array1::from_elem(n, -cost),
            upper: Array1::from_elem(n, cost),
        })
    }

    /// Multiplies the cost of point `t` by `weights_t`. This suits classes of unequal weight, or points that stand for
    /// several.
    ///
    /// # Errors
    /// [`SolverError::Lengths`], or [`SolverError::Setting`] for a weight that is not positive and
    /// finite.
    pub fn weighted(mut self, weights: ArrayView1<'_, f64>) -> Result<Self, SolverError> {
        let (expected, found) = (self.len(), weights.len());
        if expected != found {
            return Err(SolverError::Lengths { what: "the weights of points", expected, found });
        }
        if let Some(weight) = weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
            let (value, must) = (weight.to_string(), "positive and finite");
            return Err(SolverError::Setting { name: "weight", value, must });
        }
        self.lower *= &weights;
        self.upper *= &weights;
        Ok(self)
    }

    /// Returns the number of points `n`.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns whether there are none; a dual always has points.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Slope of the penalties when the weight grows from here; infinite at the upper bound.
    pub(crate) fn upward(&self, t: usize, weight: f64) -> f64 {
        if weight >= self.upper[t] {
            f64::INFINITY
        } else if weight >= 0.0 {
            self.epsilon
        } else {
            -self.epsilon
        }
    }

    /// Slope of the penalties when the weight falls from here; minus infinity at the lower bound.
    pub(crate) fn downward(&self, t: usize, weight: f64) -> f64 {
        if weight <= self.lower[t] {
            f64::NEG_INFINITY
        } else if weight > 0.0 {
            self.epsilon
        } else {
            -self.epsilon
        }
    }

    /// Whether a weight stands at a bound that the cost has set.
    pub(crate) fn stops(&self, t: usize, weight: f64) -> bool {
        weight != 0.0 && (weight <= self.lower[t] || weight >= self.upper[t])
    }

    /// Where the next kink or bound lies above a weight.
    pub(super) fn next_above(&self, t: usize, weight: f64) -> f64 {
        if weight < 0.0 && self.epsilon > 0.0 { self.upper[t].min(0.0) } else { self.upper[t] }
    }

    /// Where the next kink or bound lies below a weight.
    pub(super) fn next_below(&self, t: usize, weight: f64) -> f64 {
        if weight > 0.0 && self.epsilon > 0.0 { self.lower[t].max(0.0) } else { self.lower[t] }
    }

    /// Bias and objective of weights, from the gradient `K β − z` of each point, in any order, and its least slope
    /// upwards and largest slope downwards.
    pub(crate) fn closed(
        &self,
        weights: &[f64],
        gradient: impl Iterator<Item = (usize, f64)>,
        (least, largest): (f64, f64),
    ) -> (f64, f64) {
        let (mut free, mut sum, mut objective) = (0usize, 0.0, 0.0);
        for (t, g) in gradient {
            let weight = weights[t];
            let penalty = self.epsilon * weight.abs();
            objective += 0.5 * weight * (g - self.targets[t]) + penalty;
            if weight != 0.0 && weight > self.lower[t] && weight < self.upper[t] {
                free += 1;
                sum += g + self.epsilon * weight.signum();
            }
        }
        let bias = if free > 0 { -sum / free as f64 } else { -0.5 * (least + largest) };
        (bias, objective)
    }

    /// Refuses a tolerance that no run can meet, and a kernel of other points.
    pub(crate) fn check_run(
        &self,
        tolerance: f64,
        what: &'static str,
        found: usize,
    ) -> Result<(), SolverError> {
        if !(tolerance > 0.0 && tolerance.is_finite()) {
            let (value, must) = (tolerance.to_string(), "positive and finite");
            return Err(SolverError::Setting { name: "tolerance", value, must });
        }
        let expected = self.len();
        if found != expected {
            return Err(SolverError::Lengths { what, expected, found });
        }
        Ok(())
    }

    /// Refuses a start that breaks a constraint by more than rounding.
    pub(super) fn check_start(&self, start: ArrayView1<'_, f64>) -> Result<(), SolverError> {
        let (expected, found) = (self.len(), start.len());
        if expected != found {
            return Err(SolverError::Lengths { what: "the starting weights", expected, found });
        }
        for (t, &weight) in start.iter().enumerate() {
            if !(self.lower[t]..=self.upper[t]).contains(&weight) {
                let reason = format!(
                    "weight {t} is {weight}, outside {} to {}",
                    self.lower[t], self.upper[t]
                );
                return Err(SolverError::Start { reason });
            }
        }
        let size: f64 = start.iter().map(|weight| weight.abs()).sum();
        let sum = start.sum();
        if sum.abs() > 1e-9 * size {
            return Err(SolverError::Start { reason: format!("the weights sum to {sum}, not 0") });
        }
        Ok(())
    }
}

fn check_cost(cost: f64) -> Result<(), SolverError> {
    if cost > 0.0 && cost.is_finite() {
        return Ok(());
    }
    let (value, must) = (cost.to_string(), "positive and finite");
    Err(SolverError::Setting { name: "cost", value, must })
}
