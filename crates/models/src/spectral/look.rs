use super::kept::KEPT_BYTES;
use super::{Scalar, Spectral};
use mercer_learning::{FittedKernel, Predictor, State, Task};
use ndarray::{Array2, ArrayView2};
use std::sync::{Mutex, PoisonError};

/// Rows that were looked at, with their features under frequencies that never move.
pub(super) struct SeenRows<F>(Mutex<Vec<(Array2<f64>, Array2<F>)>>);

impl<F> Default for SeenRows<F> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A model in training, that computes the features of the rows of a look in the first look only.
pub(super) struct Looked<'a, F> {
    pub whole: &'a Spectral<F>,
    pub seen: &'a SeenRows<F>,
}

impl<F: Scalar> Predictor for Looked<'_, F> {
    fn task(&self) -> Task {
        self.whole.task
    }
    fn features(&self) -> usize {
        self.whole.model.inputs()
    }
    fn state(&self) -> State {
        self.whole.state()
    }
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let model = &self.whole.model;
        let mut seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The rows themselves are compared, which is far less work than their features.
        if let Some((_, features)) = seen.iter().find(|(rows, _)| rows == inputs) {
            return model.scores_of(features);
        }
        let bytes = |rows: usize| {
            rows * (size_of::<f64>() * model.inputs() + size_of::<F>() * model.features())
        };
        let rows = seen.iter().map(|(rows, _)| rows.nrows()).sum::<usize>() + inputs.nrows();
        if bytes(rows) as u64 > KEPT_BYTES {
            return model.scores(inputs);
        }
        let features = model.feature_matrix(inputs);
        let scores = model.scores_of(&features);
        seen.push((inputs.to_owned(), features));
        scores
    }
    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        self.whole.fitted_kernel()
    }
    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        self.whole.probabilities(inputs)
    }
}
