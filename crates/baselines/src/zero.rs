use crate::constant::{NoSettings, Number, no_settings, nothing_to_tune, restore};
use mercer_learning::{Cost, Method, Tasks, declared};

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
    build: &|settings| Number { name: "zero", of: |_| 0.0, weighs_rows: true }.build(settings),
};

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_learning::{Fitting, Predictions, Sample, Settings};
    use ndarray::{Array2, array};

    #[test]
    fn zero_is_zero_for_any_target() {
        let sample = Sample::regression(Array2::zeros((2, 1)), array![5.0, 7.0]).unwrap();
        let zero = (METHOD.build)(&Settings::new()).unwrap();
        let fitted = zero.fit(&sample, &mut Fitting::seeded(1)).unwrap();
        let predicted = fitted.predictor.predict(sample.inputs()).unwrap();
        assert_eq!(predicted, Predictions::Real(vec![0.0; 2]));
    }
}
