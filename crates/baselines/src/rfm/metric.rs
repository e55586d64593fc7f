use mercer_learning::{LearningError, State};
use mercer_linalg::{
    Matrix, MatrixView, SparseRows, dense_rows, multiplied, scaled_columns, symmetric_eigen,
};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2};

/// A metric `M` of the inputs, by a map whose Euclidean distances are the distances of `M`.
///
/// ```
/// use mercer_baselines::InputMetric;
/// use ndarray::array;
/// let metric = InputMetric::Diagonal(array![3.0, 4.0]);
/// assert_eq!(metric.mapped(array![[1.0, 2.0]].view()), array![[3.0, 8.0]]);
/// assert_eq!(metric.matrix(), array![[9.0, 16.0]]);
/// // M^½, with the trace of the identity.
/// let root = metric.powered(0.5).matrix();
/// assert!((root - array![[6.0 / 7.0, 8.0 / 7.0]]).iter().all(|gap: &f64| gap.abs() < 1e-15));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum InputMetric {
    /// `M = diag(s)²`; holds `s`, `d`.
    Diagonal(Array1<f64>),
    /// `M = F Fᵀ`; holds `F`, `d × r`, whose columns are orthogonal.
    Full(Array2<f64>),
}

impl InputMetric {
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

    /// Returns [`InputMetric::mapped`] of rows that are mostly 0, which a diagonal metric leaves so.
    pub fn mapped_sparse(&self, inputs: &SparseRows) -> Option<SparseRows> {
        let Self::Diagonal(scales) = self else { return None };
        Some(scaled_columns(inputs.clone(), &scales.to_vec()))
    }

    /// Returns [`InputMetric::mapped`] of rows that may be mostly 0.
    pub fn mapped_rows(&self, inputs: MatrixView<'_>) -> Matrix {
        match inputs {
            MatrixView::Dense(rows) => Matrix::Dense(self.mapped(rows)),
            MatrixView::Sparse(rows) => match self.mapped_sparse(rows) {
                Some(rows) => Matrix::Sparse(rows),
                None => Matrix::Dense(self.mapped(dense_rows(rows, 0..rows.rows()).view())),
            },
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

    /// Returns `M^p`, times what makes its trace `d`: of columns of equal variance the mean squared distance stays
    /// as it is.
    #[must_use]
    pub fn powered(&self, power: f64) -> Self {
        let d = self.features() as f64;
        match self {
            Self::Diagonal(scales) => {
                let powers = scales.mapv(|s| s.powf(power));
                let trace: f64 = powers.iter().map(|s| s * s).sum();
                Self::Diagonal(powers * (d / trace).sqrt())
            }
            Self::Full(factor) => {
                let values: Array1<f64> = factor.columns().into_iter().map(|f| f.dot(&f)).collect();
                let trace: f64 = values.iter().map(|value| value.powf(power)).sum();
                // Of `M^p` the factor's columns are longer by `λ^((p − 1)/2)`.
                let scales = values.mapv(|value| value.powf(0.5 * (power - 1.0)));
                Self::Full(factor * &(scales * (d / trace).sqrt()))
            }
        }
    }

    /// Adds the metric to what is kept of a predictor: `scales`, or a `factor`.
    #[must_use]
    pub fn kept(&self, state: State) -> State {
        match self {
            Self::Diagonal(scales) => state.with_array("scales", scales),
            Self::Full(factor) => state.with_array("factor", factor),
        }
    }

    /// Returns the metric of `features` columns that [`InputMetric::kept`] has kept.
    ///
    /// # Errors
    /// [`LearningError::State`] if there is none.
    pub fn restored(state: &State, features: usize) -> Result<Self, LearningError> {
        if state.holds::<f64>("scales") {
            return Ok(Self::Diagonal(state.array_of::<f64, Ix1>("scales", features)?));
        }
        let factor = state.array::<f64, Ix2>("factor")?;
        if factor.nrows() != features {
            let problem = format!("has {} rows for {features} columns", factor.nrows());
            return Err(LearningError::State { name: "factor".to_owned(), problem });
        }
        Ok(Self::Full(factor))
    }

    /// Returns the metric of an average outer product `B` of gradients. The gradients are with respect to the mapped
    /// inputs: `F B Fᵀ` divided by its largest entry. `B` is `r × r`, or its diagonal `1 × r` where the metric stays
    /// diagonal. `None` where no gradient is left.
    pub(super) fn learned(
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
