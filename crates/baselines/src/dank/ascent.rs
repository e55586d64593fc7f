use mercer_learning::LearningError;
use mercer_linalg::{product, symmetric_eigen};
use ndarray::{Array1, Array2, Axis};

/// The saddle point problem of an adapted kernel, for one pair of classes.
///
/// ```
/// use mercer_baselines::DankProblem;
/// use ndarray::{Array2, array};
/// let problem = DankProblem {
///     gram: Array2::eye(2),
///     signs: array![1.0, -1.0],
///     cost: 1.0,
///     tau: 0.5,
///     eta: 1.0,
/// };
/// // At α = 0 the matrix is 11ᵀ, whose eigenvalue 2 loses 1/(2τ) = 1.
/// let (matrix, _) = problem.inner(&array![0.0, 0.0])?;
/// assert!(matrix.iter().all(|entry| (entry - 0.5).abs() < 1e-12));
/// assert_eq!(problem.gradient(&array![0.0, 0.0], &matrix), array![1.0, 1.0]);
/// let nearest = problem.project(&array![3.0, 0.0]); // α_1 = α_2, and at most C
/// assert!((nearest - array![1.0, 1.0]).iter().all(|gap| gap.abs() < 1e-9));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DankProblem {
    /// The kernel matrix `K`, positive semidefinite, `n × n`.
    pub gram: Array2<f64>,
    /// Labels ±1.
    pub signs: Array1<f64>,
    /// `C`: `0 ≤ α ≤ C`.
    pub cost: f64,
    /// `τ`.
    pub tau: f64,
    /// `η`.
    pub eta: f64,
}

/// A point of the ascent.
///
/// ```
/// use mercer_baselines::DankProblem;
/// use ndarray::{Array2, array};
/// let problem = DankProblem {
///     gram: Array2::eye(2),
///     signs: array![1.0, -1.0],
///     cost: 0.5,
///     tau: 0.5,
///     eta: 1.0,
/// };
/// let start = array![0.0, 0.0];
/// let (_, before) = problem.inner(&start)?;
/// let ascent = problem.maximise(&start, 1e-9, 1000, &mut || Ok(()))?;
/// assert!(ascent.converged && ascent.value > before);
/// assert!((ascent.alpha[0] - ascent.alpha[1]).abs() < 1e-9); // yᵀ α = 0
/// assert!(ascent.alpha.iter().all(|alpha| (0.0..=0.5).contains(alpha)));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ascent {
    /// `α`.
    pub alpha: Array1<f64>,
    /// `F(α)`.
    pub matrix: Array2<f64>,
    /// `h(α)`, the objective after the inner minimum.
    pub value: f64,
    /// Steps taken.
    pub steps: usize,
    /// Whether `α` came to rest within the tolerance.
    pub converged: bool,
}

impl DankProblem {
    /// Returns `F(α) = SVT(11ᵀ + Γ/(4τη), 1/(2τ))`, `Γ = (α∘y)(α∘y)ᵀ ∘ K`, and `h(α)`.
    ///
    /// # Errors
    /// [`LearningError::Numerical`] of the eigendecomposition.
    pub fn inner(&self, alpha: &Array1<f64>) -> Result<(Array2<f64>, f64), LearningError> {
        let n = alpha.len();
        let beta = alpha * &self.signs;
        let share = 1.0 / (4.0 * self.tau * self.eta);
        let argument = Array2::from_shape_fn((n, n), |(i, j)| {
            1.0 + share * beta[i] * beta[j] * self.gram[[i, j]]
        });
        let eigen = symmetric_eigen(argument.view()).map_err(|error| LearningError::Numerical {
            operation: "the matrix of DANK",
            reason: error.to_string(),
        })?;
        let kept = eigen.values.mapv(|d| (d - 0.5 / self.tau).max(0.0));
        let scaled = &eigen.vectors * &kept.view().insert_axis(Axis(0));
        let mut matrix = Array2::zeros((n, n));
        product(1.0, scaled.view(), eigen.vectors.t(), 0.0, matrix.view_mut());
        let quadratic = beta.dot(&(&matrix * &self.gram).dot(&beta));
        let distance = matrix.mapv(|entry| (entry - 1.0).powi(2)).sum();
        let value =
            alpha.sum() - 0.5 * quadratic + self.eta * kept.sum() + self.tau * self.eta * distance;
        Ok((matrix, value))
    }

    /// Returns `h'(α) = 1 − y ∘ ((F ∘ K)(y ∘ α))`.
    pub fn gradient(&self, alpha: &Array1<f64>, matrix: &Array2<f64>) -> Array1<f64> {
        let beta = alpha * &self.signs;
        1.0 - &self.signs * &(matrix * &self.gram).dot(&beta)
    }

    /// Returns the nearest point of `{0 ≤ α ≤ C, yᵀα = 0}`, by bisection.
    pub fn project(&self, point: &Array1<f64>) -> Array1<f64> {
        let at = |t: f64| (point - &(&self.signs * t)).mapv(|v| v.clamp(0.0, self.cost));
        let reach = point.iter().fold(self.cost, |a: f64, v| a.max(v.abs())) + self.cost;
        let (mut low, mut high) = (-reach, reach);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.signs.dot(&at(middle)) > 0.0 { low = middle } else { high = middle }
        }
        at(0.5 * (low + high))
    }

    /// Maximises by accelerated projected gradient ascent with backtracking and restarts. It ends when no entry of `α`
    /// moves by more than `tolerance` times `C`, three times running.
    ///
    /// # Errors
    /// [`LearningError::Numerical`], and whatever `check` says once a step.
    pub fn maximise(
        &self,
        start: &Array1<f64>,
        tolerance: f64,
        steps: usize,
        check: &mut dyn FnMut() -> Result<(), LearningError>,
    ) -> Result<Ascent, LearningError> {
        let mut alpha = self.project(start);
        let (mut matrix, mut value) = self.inner(&alpha)?;
        let (mut z, mut momentum) = (alpha.clone(), 1.0f64);
        let (mut rate, mut still) = (1.0, 0);
        for step in 1..=steps {
            check()?;
            let (z_matrix, z_value) = self.inner(&z)?;
            let slope = self.gradient(&z, &z_matrix);
            let (next, next_matrix, next_value) = loop {
                let candidate = self.project(&(&z + &(&slope * rate)));
                let moved = &candidate - &z;
                let (found, reached) = self.inner(&candidate)?;
                let model = z_value + slope.dot(&moved) - 0.5 / rate * moved.dot(&moved);
                // Rounding of h must not shorten the steps without end.
                if reached >= model - 1e-14 * z_value.abs() || rate < 1e-12 {
                    break (candidate, found, reached);
                }
                rate *= 0.5;
            };
            let change = &next - &alpha;
            let later = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            if (&z - &next).dot(&change) > 0.0 {
                momentum = 1.0;
                z.assign(&next);
            } else {
                z = self.project(&(&next + &(&change * ((momentum - 1.0) / later))));
                momentum = later;
            }
            rate *= 1.1;
            let size = change.iter().fold(0.0, |a: f64, c| a.max(c.abs()));
            (alpha, matrix, value) = (next, next_matrix, next_value);
            still = if size <= tolerance * self.cost { still + 1 } else { 0 };
            if still >= 3 {
                return Ok(Ascent { alpha, matrix, value, steps: step, converged: true });
            }
        }
        Ok(Ascent { alpha, matrix, value, steps, converged: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::array;

    fn problem() -> DankProblem {
        let x: [f64; 4] = [0.0, 0.7, 1.1, 2.0];
        let gram = Array2::from_shape_fn((4, 4), |(i, j)| (-0.5 * (x[i] - x[j]).powi(2)).exp());
        DankProblem { gram, signs: array![1.0, -1.0, 1.0, -1.0], cost: 2.0, tau: 1.3, eta: 0.4 }
    }

    #[test]
    fn the_gradient_agrees_with_central_differences() {
        let problem = problem();
        let alpha = array![0.5, 1.2, 0.9, 0.2];
        let (matrix, _) = problem.inner(&alpha).unwrap();
        let gradient = problem.gradient(&alpha, &matrix);
        let h = f64::EPSILON.cbrt();
        for i in 0..4 {
            let at = |step: f64| {
                let mut moved = alpha.clone();
                moved[i] += step;
                problem.inner(&moved).unwrap().1
            };
            assert_abs_diff_eq!(gradient[i], (at(h) - at(-h)) / (2.0 * h), epsilon = 1e-8);
        }
    }

    #[test]
    fn the_projection_is_feasible_and_nearest() {
        let problem = problem();
        let point = array![3.0, -1.0, 0.4, 1.9];
        let nearest = problem.project(&point);
        assert!(nearest.iter().all(|v| (0.0..=2.0).contains(v)));
        assert_abs_diff_eq!(problem.signs.dot(&nearest), 0.0, epsilon = 1e-12);
        let distance = |v: &Array1<f64>| (v - &point).mapv(|d| d * d).sum();
        for other in [array![2.0, 1.0, 1.0, 2.0], array![1.0, 0.0, 0.5, 1.5], Array1::zeros(4)] {
            assert!(distance(&other) >= distance(&nearest) - 1e-12);
        }
    }
}
