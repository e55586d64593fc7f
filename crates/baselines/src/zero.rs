use crate::constant::{Constant, NoSettings, no_settings, nothing_to_tune, restore};
use mercer_learning::{
    Cost, Fitted, Fitting, Learner, LearningError, Method, Sample, Task, Tasks, declared,
};
use ndarray::array;

/// Zero, whatever the training targets: what a model without a bias says of noise.
pub(crate) const METHOD: Method = Method {
    name: "zero",
    title: "zero",
    summary: "predicts 0, whatever the inputs and the training targets",
    formula: "f(x) = 0",
    when: "as a floor of regression on centred targets",
    cites: "none: what a model without a bias term falls back to",
    revision: 1,
    tasks: Tasks::Regression,
    cost: Cost { fit: "1", predict: "1", memory: "1" },
    resource: None,
    warnings: &[],
    settings: &declared::<NoSettings>,
    defaults: &no_settings,
    user_defaults: &mercer_learning::same_as_study,
    space: &nothing_to_tune,
    restore: &restore,
    build: &|settings| {
        settings.read::<NoSettings>("zero")?;
        Ok(Box::new(Zero))
    },
};

struct Zero;

impl Learner for Zero {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let task = sample.task();
        if task != Task::Regression {
            let method = METHOD.name.to_owned();
            return Err(LearningError::Task { method, task: task.name() });
        }
        Ok(Constant { task, features: sample.features(), scores: array![0.0] }.fitted())
    }

    /// No row changes what it says, whatever its weight.
    fn weighs_rows(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::Predictions;
    use ndarray::Array2;

    #[test]
    fn zero_is_zero_for_any_target() {
        let sample = Sample::regression(Array2::zeros((2, 1)), array![5.0, 7.0]).unwrap();
        let fitted = Zero.fit(&sample, &mut Fitting::seeded(1)).unwrap();
        let predicted = fitted.predictor.predict(sample.inputs()).unwrap();
        assert_eq!(predicted, Predictions::Real(vec![0.0; 2]));
    }
}
