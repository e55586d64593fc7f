use crate::constant::{Constant, NoSettings, no_settings, nothing_to_tune, restore};
use mercer_learning::{
    Cost, Fitted, Fitting, Learner, LearningError, Method, RowChunks, Sample, Shape, Tasks,
    declared,
};
use ndarray::array;

/// The mean of the training targets: the constant of least squared error.
pub(crate) const METHOD: Method = Method {
    name: "mean",
    title: "mean",
    summary: "predicts the mean training target, whatever the inputs",
    formula: "f(x) = the mean of y",
    when: "as a floor of regression",
    cites: "none: the floor under every regressor",
    revision: 1,
    tasks: Tasks::Regression,
    cost: Cost { fit: "n", predict: "1", memory: "1" },
    resource: None,
    warnings: &[],
    settings: &declared::<NoSettings>,
    defaults: &no_settings,
    user_defaults: &mercer_learning::same_as_study,
    space: &nothing_to_tune,
    restore: &restore,
    build: &|settings| {
        settings.read::<NoSettings>("mean")?;
        Ok(Box::new(Mean))
    },
};

struct Mean;

impl Learner for Mean {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let task = sample.task();
        let Some(values) = sample.values() else {
            let method = METHOD.name.to_owned();
            return Err(LearningError::Task { method, task: task.name() });
        };
        let sum = sample.weights().map_or_else(|| values.sum(), |weights| weights.dot(&values));
        let mean = sum / sample.total_weight();
        Ok(Constant { task, features: sample.features(), scores: array![mean] }.fitted())
    }

    fn fit_chunks(
        &self,
        windows: &mut dyn RowChunks,
        _: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let Shape { rows, features, task } = windows.shape();
        let mut sum = 0.0;
        for _ in 0..rows.div_ceil(windows.size()) {
            sum += windows.next()?.values().map_or(0.0, |values| values.sum());
        }
        Ok(Constant { task, features, scores: array![sum / rows as f64] }.fitted())
    }

    fn weighs_rows(&self) -> bool {
        true
    }

    fn keeps_sparse(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Predictions;
    use ndarray::Array2;

    #[test]
    fn the_error_of_the_mean_is_the_deviation() {
        let values = array![1.0, 2.0, 6.0];
        let sample = Sample::regression(Array2::zeros((3, 1)), values.clone()).unwrap();
        let fitted = Mean.fit(&sample, &mut Fitting::seeded(1)).unwrap();
        let predicted = fitted.predictor.predict(sample.inputs()).unwrap();
        assert_eq!(predicted, Predictions::Real(vec![3.0; 3]));
        let rmse = mercer_learning::score(&predicted, &sample)["rmse"];
        assert!((rmse - values.std(0.0)).abs() < 1e-15);
    }
}
