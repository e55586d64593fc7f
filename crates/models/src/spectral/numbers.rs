//! What a training run says of itself.

use super::{Model, Plan, Scalar};
use mercer_learning::fact;
use ndarray::{Array1, ArrayView2, s};
use std::collections::BTreeMap;

/// Training rows on which the mean squared norm of the features is reported.
pub(super) const NORM_ROWS: usize = 1000;

/// A running mean of losses, weighted by rows.
#[derive(Default)]
pub(super) struct Mean {
    total: f64,
    /// Rows that had a loss.
    pub rows: usize,
}

impl Mean {
    /// Adds the mean loss of so many rows.
    pub fn add(&mut self, mean: f64, rows: usize) {
        self.total += mean * rows as f64;
        self.rows += rows;
    }

    /// Returns the mean over all of them; 0 over none.
    pub fn value(&self) -> f64 {
        self.total / self.rows.max(1) as f64
    }
}

/// What figures and bounds ask for: the mean loss given, norms, and the objective with its penalties.
///
/// Norms of features are means over `rows` (`m × d`, the first [`NORM_ROWS`] training rows, with their weights, if
/// they have some); all training rows count as `total`.
pub(super) fn numbers<F: Scalar>(
    plan: &Plan,
    model: &Model<F>,
    loss: f64,
    (rows, weights): (ArrayView2<'_, f64>, Option<&Array1<f64>>),
    (n, total): (usize, f64),
) -> BTreeMap<String, f64> {
    let w = model.wide_read_out();
    let squared: f64 = w.iter().map(|w| w * w).sum();
    let gram: Vec<f64> = w.t().dot(&w).iter().copied().collect();
    let mut eigen = mercer_linalg::SmallEigen::new(model.outputs());
    // The square root of a rounding error next to 0 is far below the norm's own digits.
    let trace: f64 = if eigen.decompose(&gram) {
        eigen.values().iter().map(|g| g.max(0.0).sqrt()).sum()
    } else {
        f64::NAN
    };
    let norm = |rows: ArrayView2<'_, f64>, weights: Option<&Array1<f64>>| match weights {
        None => model.mean_feature_norm(rows),
        Some(weights) => model.weighted_feature_norm(rows, weights),
    };
    let feature = norm(rows, weights);
    let mut objective = loss
        + plan.read_out_penalty.value(squared, trace)
        + plan.feature_penalty.value(batch_norm(plan, feature, total / n as f64), plan.batch);
    let trace_penalty = plan.trace.as_ref().map(|trace| match &trace.inputs {
        None => trace.penalty.value(feature, total),
        Some(inputs) => {
            let first = inputs.nrows().min(NORM_ROWS);
            let weights = trace.weights.as_ref().map(|own| own.slice(s![..first]).to_owned());
            let mean = norm(inputs.slice(s![..first, ..]), weights.as_ref());
            trace.penalty.value(mean, trace.count(total))
        }
    });
    objective += trace_penalty.unwrap_or(0.0);
    [
        (fact::LOSS, loss),
        (fact::TRACE_NORM, trace),
        ("frobenius-squared", squared),
        (fact::FEATURE_NORM_SQUARED, feature),
        (fact::MEAN_KERNEL_DIAGONAL, model.mean_kernel_diagonal(rows)),
        (fact::OBJECTIVE, objective),
    ]
    .into_iter()
    .chain(trace_penalty.map(|value| ("trace-penalty", value)))
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The mean `‖φ(x)‖²` of a batch as its penalty counts it.
fn batch_norm(plan: &Plan, feature: f64, mean_weight: f64) -> f64 {
    feature * plan.feature_penalty.of_mean_weight(mean_weight)
}
