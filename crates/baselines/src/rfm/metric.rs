use mercer_learning::LearningError;
use mercer_linalg::{multiplied, symmetric_eigen};
use ndarray::{Array1, Array2, ArrayView2, Axis};

/// A metric `M` of the inputs, by a map whose Euclidean distances are the distances of `M`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Metric {
    /// `M = diag(s)²`; holds `s`, `d`.
    Diagonal(Array1<f64>),
    /// `M = F Fᵀ`; holds `F`, `d × r`.
    Full(Array2<f64>),
}

impl Metric {
    /// Returns `M = I`.
    pub fn identity(features: usize) -> Self {
        Self::Diagonal(Array1::ones(features))
    }

    /// Returns the number of columns `d` of the inputs.
    pub fn features(&self) -> usize {
        match self {
            Self::Diagonal(scales) => scales.len(),
            Self::Full(factor) => factor.nrows(),
        }
    }

    /// Returns columns `r` of the mapped inputs.
    pub fn rank(&self) -> usize {
        match self {
            Self::Diagonal(scales) => scales.len(),
            Self::Full(factor) => factor.ncols(),
        }
    }

    /// Returns `x ↦ Fᵀ x` of each row: `n × r`.
    pub fn mapped(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        match self {
            Self::Diagonal(scales) => &inputs * scales,
            Self::Full(factor) => multiplied(inputs, factor.view()),
        }
    }

    /// Returns `M`, or its diagonal in a row.
    pub fn matrix(&self) -> Array2<f64> {
        match self {
            Self::Diagonal(scales) => scales.mapv(|s| s * s).insert_axis(Axis(0)),
            Self::Full(factor) => multiplied(factor.view(), factor.t()),
        }
    }

    /// Returns `(tr M)² / ‖M‖²`: how many columns the metric is as good as.
    pub fn effective_rank(&self) -> f64 {
        let matrix = self.matrix();
        let trace = match self {
            Self::Diagonal(_) => matrix.sum(),
            Self::Full(_) => matrix.diag().sum(),
        };
        trace * trace / matrix.iter().map(|entry| entry * entry).sum::<f64>()
    }

    /// Returns the metric of an average outer product `B` of gradients. The gradients are with respect to the mapped
    /// inputs: `F B Fᵀ` divided by its largest entry. `B` is `r × r`, or its diagonal `1 × r` where the metric stays
    /// diagonal. `None` where no gradient is left.
    pub fn learned(
        &self,
        mean: &Array2<f64>,
        diagonal: bool,
    ) -> Result<Option<Self>, LearningError> {
        let mut next = match self {
            Self::Diagonal(scales) if diagonal => mean * scales * scales,
            Self::Diagonal(scales) => mean * scales * scales.view().insert_axis(Axis(1)),
            Self::Full(factor) => {
                let half = multiplied(factor.view(), mean.view());
                multiplied(half.view(), factor.t())
            }
        };
        // Of a positive semidefinite matrix the largest entry stands on the diagonal.
        let largest = next.fold(0.0, |a: f64, &b| a.max(b));
        if !(largest > f64::MIN_POSITIVE && largest.is_finite()) {
            return Ok(None);
        }
        next /= largest;
        if diagonal {
            return Ok(Some(Self::Diagonal(next.row(0).mapv(f64::sqrt))));
        }
        let eigen = symmetric_eigen(next.view()).map_err(|error| LearningError::Numerical {
            operation: "decomposing the metric",
            reason: error.to_string(),
        })?;
        let d = next.nrows();
        let least = d as f64 * f64::EPSILON * eigen.values[d - 1];
        let kept: Vec<usize> = (0..d).filter(|&k| eigen.values[k] > least).collect();
        let roots: Array1<f64> = kept.iter().map(|&k| eigen.values[k].sqrt()).collect();
        Ok(Some(Self::Full(eigen.vectors.select(Axis(1), &kept) * &roots)))
    }
}
