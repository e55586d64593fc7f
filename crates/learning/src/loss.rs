use serde::{Deserialize, Serialize};

/// A loss of `K` scores against a class, or of a value against a real-valued target.
///
/// | loss | value | (sub-)gradient with respect to `f` |
/// |---|---|---|
/// | `Hinge` | `max(0, 1 − (f_y − max_{c≠y} f_c))` | `e_{c*} − e_y` where positive, else 0 |
/// | `CrossEntropy` | `−log softmax(f)_y` | `softmax(f) − e_y` |
/// | `Squared` | `‖f − y‖²`, `y` one-hot for classes | `2 (f − y)` |
///
/// (ASKL, "Specific Loss Functions"; cross-entropy is what the authors' code uses.)
///
/// ```
/// use mercer_learning::Loss;
/// let mut scores = [0.0f64, 3f64.ln()]; // softmax is (1/4, 3/4)
/// let loss = Loss::CrossEntropy.of_class(&mut scores, 1);
/// assert!((loss - (4f64 / 3.0).ln()).abs() < 1e-15);
/// assert!((scores[0] - 0.25).abs() < 1e-15 && (scores[1] + 0.25).abs() < 1e-15); // its gradient
/// let mut scores = [0.5, 1.0];
/// assert_eq!(Loss::Squared.of_class(&mut scores, 1), 0.25);
/// assert_eq!(scores, [1.0, 0.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Multi-class hinge (Crammer and Singer).
    Hinge,
    /// Softmax cross-entropy.
    CrossEntropy,
    /// Squared Euclidean distance.
    Squared,
}

impl Loss {
    /// Returns the loss of the scores `f` (length `K ≥ 2`) of a point of class `label`. `f` becomes the gradient.
    ///
    /// ```
    /// use mercer_learning::Loss;
    /// let mut scores = [0.2, 1.0, -0.3];
    /// let loss = Loss::Hinge.of_class(&mut scores, 0);
    /// assert!((loss - 1.8f64).abs() < 1e-15);
    /// assert_eq!(scores, [-1.0, 1.0, 0.0]);
    /// ```
    ///
    /// # Panics
    /// If `label` is not below `f.len()`.
    pub fn of_class<F: linfa::Float>(self, f: &mut [F], label: usize) -> F {
        let (zero, one) = (F::zero(), F::one());
        match self {
            Self::Hinge => {
                let mut rival = (usize::MAX, F::neg_infinity());
                for (class, &score) in f.iter().enumerate() {
                    if class != label && (score > rival.1 || rival.0 == usize::MAX) {
                        rival = (class, score);
                    }
                }
                let value = one - (f[label] - rival.1);
                f.fill(zero);
                // NaN scores must stay visible as a NaN loss, so `<=` is the test for "no loss".
                if value <= zero {
                    return zero;
                }
                f[rival.0] = one;
                f[label] = -one;
                value
            }
            Self::CrossEntropy => {
                let largest = f.iter().fold(F::neg_infinity(), |a, &b| a.max(b));
                let shifted = f[label] - largest;
                let mut total = zero;
                for score in f.iter_mut() {
                    *score = (*score - largest).exp();
                    total += *score;
                }
                for score in f.iter_mut() {
                    *score /= total;
                }
                f[label] -= one;
                total.ln() - shifted
            }
            Self::Squared => {
                f[label] -= one;
                square(f)
            }
        }
    }

    /// Returns the squared loss of one value against a real target; `f` becomes the gradient.
    ///
    /// The other losses have no meaning for real targets; learners refuse them by name when
    /// their settings meet the sample.
    ///
    /// ```
    /// use mercer_learning::Loss;
    /// let mut f = 3.0;
    /// assert_eq!(Loss::of_value(&mut f, 1.0), 4.0); // (3 − 1)²
    /// assert_eq!(f, 4.0); // 2 (3 − 1)
    /// ```
    pub fn of_value<F: linfa::Float>(f: &mut F, target: F) -> F {
        *f -= target;
        let residual = *f;
        *f = residual + residual;
        residual * residual
    }
}

/// `‖f‖²`; `f` becomes `2 f`.
fn square<F: linfa::Float>(f: &mut [F]) -> F {
    let mut total = F::zero();
    for entry in f.iter_mut() {
        total += *entry * *entry;
        *entry += *entry;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gradients_agree_with_central_differences(
            f in proptest::collection::vec(-3.0..3.0f64, 2..6),
            label in 0usize..2,
        ) {
            // The hinge has kinks; stay clear of them.
            let mut sorted = f.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assume!(sorted.windows(2).all(|w| w[1] - w[0] > 1e-3));
            for loss in [Loss::Hinge, Loss::CrossEntropy, Loss::Squared] {
                let mut gradient = f.clone();
                let value = loss.of_class(&mut gradient, label);
                prop_assume!(loss != Loss::Hinge || value == 0.0 || value > 1e-3);
                let h = f64::EPSILON.cbrt();
                for k in 0..f.len() {
                    let at = |step: f64| {
                        let mut moved = f.clone();
                        moved[k] += step;
                        loss.of_class(&mut moved, label)
                    };
                    let numeric = (at(h) - at(-h)) / (2.0 * h);
                    assert_relative_eq!(gradient[k], numeric, epsilon = 1e-8, max_relative = 1e-7);
                }
            }
        }
    }

    #[test]
    fn cross_entropy_survives_huge_scores() {
        let mut f = [1e6f32, -1e6];
        assert_relative_eq!(Loss::CrossEntropy.of_class(&mut f, 1), 2e6);
        assert_relative_eq!(f[0], 1.0);
        assert_relative_eq!(f[1], -1.0);
    }

    #[test]
    fn a_nan_score_is_a_nan_loss() {
        for loss in [Loss::Hinge, Loss::CrossEntropy, Loss::Squared] {
            assert!(loss.of_class(&mut [f64::NAN, 0.0], 0).is_nan(), "{loss:?}");
        }
    }
}
