//! The normal equations of Nyström's approximation, for any ridge.

use super::numerical;
use mercer_learning::LearningError;
use mercer_linalg::{multiplied, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};

/// Functions of unit norm that span what the landmark pairs span: `R = V D^(−½)` of the Gram matrix
/// `V D Vᵀ` of the landmark pairs, eigenvalues at or below the cut-off left out, so `Rᵀ H_MM R = I`.
pub(super) struct Span {
    /// `P × r`.
    pub basis: Array2<f64>,
}

impl Span {
    pub(super) fn new(gram: ArrayView2<'_, f64>, cutoff: f64) -> Result<Self, LearningError> {
        let eigen =
            symmetric_eigen(gram).map_err(numerical("the Gram matrix of landmark pairs"))?;
        let largest = eigen.values.last().copied().unwrap_or(0.0);
        let first = eigen.values.iter().take_while(|&&value| value <= cutoff * largest).count();
        let values = eigen.values.slice(s![first..]).mapv(|value| value.sqrt().recip());
        let basis = &eigen.vectors.slice(s![.., first..]) * &values.insert_axis(Axis(0));
        Ok(Self { basis: basis.as_standard_layout().into_owned() })
    }

    /// Dimension `r`.
    pub(super) fn rank(&self) -> usize {
        self.basis.ncols()
    }
}

/// `(T + t I) z = c` in the coordinates of a [`Span`], from one eigendecomposition for every `t`; the
/// coefficients of the landmark pairs are `b = R z`.
pub(super) struct System {
    /// `R V`: landmark pairs to the coordinates in which `T` is diagonal (`P × r`).
    axes: Array2<f64>,
    values: Array1<f64>,
    /// What was added to eigenvalues below 0.
    lifted: Array1<f64>,
    right: Array1<f64>,
}

impl System {
    /// `T = Rᵀ G R` (`r × r`) and `c = Rᵀ g` (`r`) of a span.
    pub(super) fn new(
        span: &Span,
        normal: ArrayView2<'_, f64>,
        right: &Array1<f64>,
    ) -> Result<Self, LearningError> {
        let eigen = symmetric_eigen(normal).map_err(numerical("Nyström's normal equations"))?;
        let right = eigen.vectors.t().dot(right);
        // Rounding, or an approximated T, may leave eigenvalues a little below 0.
        let values = eigen.values.mapv(|value| value.max(0.0));
        let lifted = &values - &eigen.values;
        Ok(Self {
            axes: multiplied(span.basis.view(), eigen.vectors.view()),
            values,
            lifted,
            right,
        })
    }

    /// The solution for the ridge `t` in the coordinates in which `T` is diagonal (`r`).
    pub(super) fn coordinates(&self, ridge: f64) -> Array1<f64> {
        &self.right / &self.diagonal(ridge)
    }

    /// The diagonal of `T + t I` there.
    pub(super) fn diagonal(&self, ridge: f64) -> Array1<f64> {
        &self.values + ridge
    }

    /// From landmark pairs to these coordinates (`P × r`).
    pub(super) const fn axes(&self) -> &Array2<f64> {
        &self.axes
    }

    /// What was added to eigenvalues below 0 (`r`).
    pub(super) const fn lifted(&self) -> &Array1<f64> {
        &self.lifted
    }

    /// The coefficients of the landmark pairs for the ridge `t`, `λ m²` (`P`).
    pub(super) fn solve(&self, ridge: f64) -> Array1<f64> {
        self.axes.dot(&self.coordinates(ridge))
    }
}
