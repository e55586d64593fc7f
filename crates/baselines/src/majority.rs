use crate::constant::{Constant, NoSettings, no_settings, nothing_to_tune, restore};
use mercer_learning::{
    Cost, Fitted, Fitting, Learner, LearningError, Method, RowChunks, Sample, Shape, Task, Tasks,
    declared,
};
use ndarray::Array1;

/// The class of most training rows; of several, the one with the smallest index.
pub(crate) const METHOD: Method = Method {
    name: "majority",
    title: "majority class",
    summary: "predicts the most frequent training class, whatever the inputs",
    formula: "f(x) = the most frequent class",
    when: "as a floor of classification",
    cites: "none: the floor under every classifier",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost { fit: "n", predict: "1", memory: "K" },
    resource: None,
    warnings: &[],
    settings: &declared::<NoSettings>,
    defaults: &no_settings,
    user_defaults: &mercer_learning::same_as_study,
    space: &nothing_to_tune,
    restore: &restore,
    build: &|settings| {
        settings.read::<NoSettings>("majority")?;
        Ok(Box::new(Majority))
    },
};

struct Majority;

impl Learner for Majority {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let task = sample.task();
        let Task::Classification { .. } = task else {
            let method = METHOD.name.to_owned();
            return Err(LearningError::Task { method, task: task.name() });
        };
        let n = sample.total_weight();
        // The shares of the classes: their largest is the majority, and they are probabilities.
        let scores: Array1<f64> =
            sample.class_weights().into_iter().map(|weight| weight / n).collect();
        Ok(Constant { task, features: sample.features(), scores }.fitted())
    }

    fn fit_chunks(
        &self,
        windows: &mut dyn RowChunks,
        _: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let Shape { rows, features, task } = windows.shape();
        let mut counts = vec![0; task.outputs()];
        for _ in 0..rows.div_ceil(windows.size()) {
            for (all, own) in counts.iter_mut().zip(windows.next()?.class_counts()) {
                *all += own;
            }
        }
        let scores = counts.into_iter().map(|count| count as f64 / rows as f64).collect();
        Ok(Constant { task, features, scores }.fitted())
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
    use ndarray::{Array2, array};

    #[test]
    fn the_most_frequent_class_wins_and_ties_go_to_the_smaller() {
        for (labels, expected) in [(vec![0, 2, 2, 1, 2], 2), (vec![1, 2, 2, 1, 0], 1)] {
            let sample = Sample::classification(Array2::zeros((5, 1)), labels, 4).unwrap();
            let fitted = Majority.fit(&sample, &mut Fitting::seeded(1)).unwrap();
            let predicted = fitted.predictor.predict(array![[0.0], [9.0]].view()).unwrap();
            assert_eq!(predicted, Predictions::Classes(vec![expected; 2]));
            let shares = fitted.predictor.probabilities(array![[0.0]].view()).unwrap();
            assert!((shares.sum() - 1.0).abs() < 1e-15);
        }
    }
}
