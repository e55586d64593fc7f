//! The model before a fit by least squares, and what the fit leaves.

use super::{RANK_ROWS, RandomFeaturesParams};
use crate::Phases;
use crate::spectral::{Model, Scalar, Spectral, Start};
use mercer_learning::{Convergence, Fitted, LearningError, Outcome, Sample, Streams, fact};
use mercer_linalg::{LinalgError, product, symmetric_product};
use ndarray::{Array2, ArrayView2, s};
use std::collections::BTreeMap;

pub(super) fn numerical(error: &LinalgError) -> LearningError {
    let operation = "least squares on random features";
    LearningError::Numerical { operation, reason: error.to_string() }
}

/// What a fit leaves; of rows with weights, `phi` and `y` have the roots of these in them.
pub(super) fn outcome<F: Scalar>(
    model: Model<F>,
    phi: &Array2<F>,
    sample: &Sample,
    y: &Array2<f64>,
    decided: &[(&str, f64)],
) -> Fitted {
    let mut fitted = Array2::zeros(y.dim());
    product(F::one(), phi.view(), model.read_out.view(), F::zero(), fitted.view_mut());
    let n = sample.total_weight();
    let squares = |values: &Array2<F>| values.iter().map(|v| v.wide() * v.wide()).sum::<f64>();
    let loss = fitted.iter().zip(y).map(|(f, y)| (f.wide() - y).powi(2)).sum::<f64>() / n;
    let mut facts: BTreeMap<String, f64> =
        decided.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let first = phi.slice(s![..phi.nrows().min(RANK_ROWS), ..]);
    for (name, value) in [
        ("loss", loss),
        ("frobenius-squared", squares(&model.read_out)),
        (fact::FEATURE_NORM_SQUARED, squares(phi) / n),
        ("effective-rank", effective_rank(first)),
    ] {
        facts.insert(name.to_owned(), value);
    }
    let leading = sample.inputs().slice_move(s![..sample.rows().min(RANK_ROWS), ..]);
    let lost = model.lost_angles(leading);
    if lost > 0.0 {
        facts.insert(fact::LOST_ANGLES.to_owned(), lost);
    }
    let predictor = Spectral { model, task: sample.task(), softmax: false };
    Outcome { predictor, convergence: Convergence::Exact, facts }.boxed()
}

/// `tr(K)²/‖K‖_F²` of `K = Φ Φᵀ`: between 1 and the number of rows, whatever the scale of `Φ`.
pub(in crate::rftk) fn effective_rank<F: Scalar>(phi: ArrayView2<'_, F>) -> f64 {
    let gram = symmetric_product(phi.reversed_axes());
    let trace: f64 = gram.diag().iter().map(|entry| entry.wide()).sum();
    let squares: f64 = gram.iter().map(|entry| entry.wide() * entry.wide()).sum();
    if squares > 0.0 { trace * trace / squares } else { 0.0 }
}

/// Frequencies and phases as the trained methods draw them, under output weights of zero.
pub(super) fn drawn<F: Scalar>(
    params: &RandomFeaturesParams,
    columns: usize,
    outputs: usize,
    streams: &Streams,
) -> Model<F> {
    let start = Start {
        features: params.features,
        deviations: vec![params.std],
        phases: Phases::Shared,
        read_out_deviation: 0.0,
    };
    let mut model = Model::draw(&start, columns, outputs, streams);
    model.scale = params.normalisation.scale(params.features);
    model
}
