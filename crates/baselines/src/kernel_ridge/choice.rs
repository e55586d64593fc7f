//! The ridge of a fit that was given none.

use super::{mean_of, numerical, weigh};
use crate::subsample::{drawn, with_other_classes};
use mercer_kernels::Kernel;
use mercer_learning::{Fitting, LearningError, Sample};
use mercer_linalg::KernelPath;
use ndarray::{Array1, Array2, Axis};

/// Ridges that are compared, in half decades of `λ`: from rows without noise to rows without a signal.
fn grid() -> impl Iterator<Item = f64> {
    (0..=16).map(|half| 10f64.powf(0.5 * f64::from(half) - 8.0))
}

/// A ridge that was chosen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RidgeChoice {
    /// `t` of `K + t I`. It stands for the noise of a target, which does not fall with their number: the ridge that
    /// suits some of the rows suits all.
    pub ridge: f64,
    /// Mean squared residual of leave-one-out.
    pub error: f64,
    /// Whether it is the first or the last of those that were compared.
    pub at_the_end: bool,
}

impl RidgeChoice {
    /// Rows over which it is chosen: their matrix is decomposed in half a second.
    pub const ROWS: usize = 1000;

    /// What a fit says of it whose rows count as `total`.
    pub(super) fn facts(&self, total: f64) -> [(String, f64); 3] {
        [
            ("lambda", self.ridge / total),
            ("leave-one-out", self.error),
            ("grid-end", f64::from(u8::from(self.at_the_end))),
        ]
        .map(|(name, value)| (name.to_owned(), value))
    }
}

/// The ridge of kernel ridge regression; `y` is `n × K`.
pub(crate) fn of_ridge(
    sample: &Sample,
    kernel: Kernel,
    y: &Array2<f64>,
    centre: bool,
    fitting: &Fitting<'_>,
) -> Result<RidgeChoice, LearningError> {
    let rows = drawn(sample.rows(), RidgeChoice::ROWS, &fitting.streams.child("ridge"));
    // Rows of one class alone would be met by any ridge.
    let rows = rows.map(|rows| with_other_classes(rows, sample, 2));
    let rows = rows.unwrap_or_else(|| (0..sample.rows()).collect());
    let gram = || kernel.gram(sample.matrix().select(&rows).view());
    let weights = sample.weights().map(|weights| weights.select(Axis(0), &rows));
    let regressed = Regressed { targets: y.select(Axis(0), &rows), centre, weights };
    chosen_ridge("lambda", regressed, fitting, gram)
}

/// What a ridge is chosen for.
pub(crate) struct Regressed {
    /// `m × K`.
    pub targets: Array2<f64>,
    /// Whether their mean is subtracted.
    pub centre: bool,
    /// Weights of the rows, if they have some.
    pub weights: Option<Array1<f64>>,
}

/// The ridge with the smallest error of leave-one-out, the smallest of equals, for `m × K` targets and their
/// `m × m` kernel matrix. Where targets are centred, a row that is left out is not in the mean that is
/// subtracted either. A row is left out with all its weight, and its error counts by it. `setting` is what a person gives a ridge by.
pub(crate) fn chosen_ridge(
    setting: &str,
    regressed: Regressed,
    fitting: &Fitting<'_>,
    gram: impl FnOnce() -> Array2<f64>,
) -> Result<RidgeChoice, LearningError> {
    let Regressed { mut targets, centre, weights } = regressed;
    let (m, outputs) = targets.dim();
    let total = weights.as_ref().map_or(m as f64, Array1::sum);
    let roots = weights.as_ref().map(|weights| weights.mapv(f64::sqrt));
    // The matrix, its eigenvectors and their room.
    fitting.limits.reserve(8 * 5 * m as u64 * m as u64)?;
    let mut gram = gram();
    if centre {
        targets -= &mean_of(&targets, weights.as_ref().map(Array1::view));
        // Without a row of target c from the mean, that of all others is c/(m − 1) lower: the regression sees
        // as much more of the constant 1, whose own residuals are those of this column.
        targets.push_column(Array1::ones(m).view()).expect("as many rows");
    }
    if let Some(roots) = &roots {
        weigh(&mut gram, roots);
        targets *= &roots.view().insert_axis(Axis(1));
    }
    // What divides c: with weights, and c times the root of its own, it is (Σ w − w_i)/√w_i.
    let others = |row: usize| match (&weights, &roots) {
        (Some(weights), Some(roots)) => (total - weights[row]).max(f64::MIN_POSITIVE) / roots[row],
        _ => (m - 1).max(1) as f64,
    };
    let path = KernelPath::new(gram.view(), targets.view());
    let path = path.map_err(|error| numerical(&error))?;
    fitting.limits.check()?;
    let ridges: Vec<f64> = grid().map(|lambda| lambda * total).collect();
    let mut best = RidgeChoice { ridge: f64::NAN, error: f64::INFINITY, at_the_end: false };
    for (index, &ridge) in ridges.iter().enumerate() {
        let left = path.leave_one_out_residuals(ridge).map_err(|error| numerical(&error))?;
        let mut sum = 0.0;
        for (row, (residuals, own)) in left.rows().into_iter().zip(targets.rows()).enumerate() {
            let shift =
                |k: usize| if centre { own[k] / others(row) * residuals[outputs] } else { 0.0 };
            sum += (0..outputs).map(|k| (residuals[k] + shift(k)).powi(2)).sum::<f64>();
        }
        let error = sum / (total * outputs as f64);
        if error < best.error {
            let at_the_end = index == 0 || index + 1 == ridges.len();
            best = RidgeChoice { ridge, error, at_the_end };
        }
    }
    if best.error.is_infinite() {
        return Err(LearningError::Numerical {
            operation: "choosing a ridge by leave-one-out",
            reason: format!("no ridge has a finite error; give one by `{setting}`"),
        });
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use crate::BASELINES;
    use mercer_learning::{Fitted, Fitting, Sample, Settings, Targets, find};
    use ndarray::{Array1, Array2, Axis};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use serde_json::Value;

    /// A sine under noise of this deviation.
    fn sample(rows: usize, noise: f64) -> Sample {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let x = Array2::from_shape_simple_fn((rows, 1), || rng.gen_range(-2.0..2.0));
        let y: Array1<f64> = x.column(0).iter().map(|x: &f64| x.sin()).collect();
        let y = y.mapv(|value| value + noise * rng.gen_range(-1.7..1.7));
        Sample::regression(x, y).unwrap()
    }

    fn fitted(sample: &Sample, lambda: Value) -> Fitted {
        let settings = Settings::new().with("std", 1.0).with("lambda", lambda);
        let method = find(BASELINES, "kernel-ridge").unwrap();
        let learner = method.learner(&settings, sample.task()).unwrap();
        learner.fit(sample, &mut Fitting::seeded(1)).unwrap()
    }

    #[test]
    fn the_ridge_follows_the_noise_and_then_is_a_ridge_as_any() {
        let chosen = |noise| fitted(&sample(300, noise), Value::Null).facts["lambda"];
        let (clean, noisy, drowned) = (chosen(0.0), chosen(0.1), chosen(3.0));
        assert!(clean < 1e-7 && clean < noisy && noisy < drowned, "{clean} {noisy} {drowned}");
        let rows = sample(300, 0.1);
        let by_itself = fitted(&rows, Value::Null);
        let given = fitted(&rows, by_itself.facts["lambda"].into());
        let scores = |fitted: &Fitted| fitted.predictor.decision(rows.inputs());
        let apart = (&scores(&by_itself) - &scores(&given)).mapv(f64::abs).sum();
        assert!(apart < 1e-9, "{apart}");
        assert!(!given.facts.contains_key("leave-one-out"));
    }

    /// By refits without each row: it is gone with all its weight, from the mean too, and its error counts by it.
    #[test]
    fn leave_one_out_of_weighted_rows_is_that_of_refits() {
        let weights = [2.0, 0.5, 1.0, 3.0, 0.25, 1.0, 4.0, 0.7, 1.5];
        let total: f64 = weights.iter().sum();
        let all = sample(9, 1.0).weighted(&weights).unwrap();
        let Targets::Real(y) = all.targets() else { panic!("numbers") };
        let refitted = |lambda: f64| {
            let mut sum = 0.0;
            for i in 0..9 {
                let others: Vec<usize> = (0..9).filter(|&other| other != i).collect();
                let rest = all.select(&others).unwrap();
                // The ridge stays what it is of all rows.
                let fit = fitted(&rest, (lambda * total / (total - weights[i])).into());
                let said =
                    fit.predictor.decision(all.inputs().select(Axis(0), &[i]).view())[[0, 0]];
                sum += weights[i] * (y[i] - said).powi(2);
            }
            sum / total
        };
        let chosen = fitted(&all, Value::Null);
        let best = super::grid().map(|lambda| (lambda, refitted(lambda)));
        let (lambda, error) = best.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        let [chosen, left] = ["lambda", "leave-one-out"].map(|name| chosen.facts[name]);
        assert!((chosen / lambda - 1.0).abs() < 1e-12, "{chosen} {lambda}");
        assert!((left / error - 1.0).abs() < 1e-6, "{left} {error}");
    }

    /// By refits without each row: its target is in no mean either.
    #[test]
    fn leave_one_out_leaves_the_row_out_of_the_mean() {
        let all = sample(9, 1.0);
        let Targets::Real(y) = all.targets() else { panic!("numbers") };
        let refitted = |lambda: f64| {
            let mut sum = 0.0;
            for i in 0..9 {
                let others: Vec<usize> = (0..9).filter(|&other| other != i).collect();
                let x = all.inputs().select(Axis(0), &others);
                let rest =
                    Sample::regression(x, others.iter().map(|&row| y[row]).collect()).unwrap();
                // The ridge stays what it is of all rows.
                let fit = fitted(&rest, (lambda * 9.0 / 8.0).into());
                let said =
                    fit.predictor.decision(all.inputs().select(Axis(0), &[i]).view())[[0, 0]];
                sum += (y[i] - said).powi(2);
            }
            sum / 9.0
        };
        let chosen = fitted(&all, Value::Null);
        let best = super::grid().map(|lambda| (lambda, refitted(lambda)));
        let (lambda, error) = best.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert!(
            (chosen.facts["lambda"] / lambda - 1.0).abs() < 1e-12,
            "{:?} {lambda}",
            chosen.facts
        );
        assert!(
            (chosen.facts["leave-one-out"] / error - 1.0).abs() < 1e-6,
            "{:?} {error}",
            chosen.facts
        );
    }

    #[test]
    fn a_ridge_that_overflows_is_named() {
        let method = find(BASELINES, "kernel-ridge").unwrap();
        let settings = Settings::new().with("lambda", 1e308);
        let learner = method.learner(&settings, sample(9, 1.0).task()).unwrap();
        let said = learner.fit(&sample(9, 1.0), &mut Fitting::seeded(1)).err().unwrap().to_string();
        assert!(said.starts_with("setting `lambda` is"), "{said}");
    }

    /// Of more rows a thousand choose, and what they choose is the ridge itself, not its share of the rows.
    #[test]
    fn a_thousand_rows_choose_for_more() {
        let ridge =
            |rows: usize| fitted(&sample(rows, 0.5), Value::Null).facts["lambda"] * rows as f64;
        let (of_all, of_some) = (ridge(1000), ridge(2500));
        assert!((0.05..20.0).contains(&(of_some / of_all)), "{of_all} {of_some}");
        let grid: Vec<f64> = super::grid().map(|lambda| lambda * 1000.0).collect();
        assert!(grid.iter().any(|t| (t / of_some - 1.0).abs() < 1e-12), "{of_some}");
    }
}
