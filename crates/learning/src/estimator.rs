use crate::{Fitting, Learner, LearningError, Predictions, Predictor, Sample};
use linfa::dataset::DatasetBase;
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, Array2};

/// A learner as linfa sees it: `estimator.fit(&dataset)?.predict(&inputs)`.
///
/// Parameter types implement [`linfa::ParamGuard`] with an `Estimator` as the checked form, so
/// linfa users write `AsklParams::default().seeded(7).fit(&dataset)` and get an error for bad settings.
/// The fit uses one thread and the streams of `seed`.
///
/// ```
/// use linfa::{DatasetBase, traits::{Fit, Predict}};
/// use mercer_learning::{
///     Estimator, Fitted, Fitting, Learner, LearningError, Outcome, Predictor, Sample, State, Task,
/// };
/// use ndarray::{Array2, ArrayView2, array};
/// /// Doubles its only input.
/// struct Double;
/// impl Learner for Double {
///     fn fit(&self, _: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
///         let convergence = mercer_learning::Convergence::Exact;
///         Ok(Outcome { predictor: Self, convergence, facts: [].into() }.boxed())
///     }
/// }
/// impl Predictor for Double {
///     fn task(&self) -> Task { Task::Regression }
///     fn features(&self) -> usize { 1 }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> { 2.0 * &inputs }
///     fn state(&self) -> State { State::new() }
/// }
/// let dataset = DatasetBase::new(array![[1.0], [2.0]], array![2.0, 4.0]);
/// let model = Estimator { learner: Double, seed: 1 }.fit(&dataset)?;
/// assert_eq!(model.predict(array![[3.0]]).targets, array![6.0]);
/// // Labels count the classes from 0: postal codes would be classes by the thousand.
/// let codes = DatasetBase::new(array![[1.0], [2.0]], array![80331_usize, 10115]);
/// let refused = Estimator { learner: Double, seed: 1 }.fit(&codes).err().unwrap().to_string();
/// assert!(refused.starts_with("label 80331 among 2 rows"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Estimator<L> {
    /// The learner.
    pub learner: L,
    /// Root of the random streams of the fit.
    pub seed: u64,
}

/// A fitted classifier for linfa; class indices are `usize`.
///
/// ```
/// use linfa::traits::Predict;
/// use mercer_learning::{Classifier, Predictor, State, Task};
/// use ndarray::{Array2, ArrayView2, array};
/// /// Class 1 where the only input is positive.
/// struct Sign;
/// impl Predictor for Sign {
///     fn task(&self) -> Task { Task::Classification { classes: 2 } }
///     fn features(&self) -> usize { 1 }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
///         ndarray::concatenate![ndarray::Axis(1), -&inputs, inputs]
///     }
///     fn state(&self) -> State { State::new() }
/// }
/// let classifier = Classifier(Box::new(Sign));
/// assert_eq!(classifier.predict(array![[3.0], [-1.0]]).targets, array![1usize, 0]);
/// ```
pub struct Classifier(pub Box<dyn Predictor>);

/// A fitted regressor for linfa.
///
/// ```
/// use linfa::traits::Predict;
/// use mercer_learning::{Predictor, Regressor, State, Task};
/// use ndarray::{Array2, ArrayView2, array};
/// /// The sum of two inputs.
/// struct Sum;
/// impl Predictor for Sum {
///     fn task(&self) -> Task { Task::Regression }
///     fn features(&self) -> usize { 2 }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
///         inputs.sum_axis(ndarray::Axis(1)).insert_axis(ndarray::Axis(1))
///     }
///     fn state(&self) -> State { State::new() }
/// }
/// let regressor = Regressor(Box::new(Sum));
/// assert_eq!(regressor.predict(array![[1.0, 2.0], [3.0, 4.0]]).targets, array![3.0, 7.0]);
/// ```
pub struct Regressor(pub Box<dyn Predictor>);

impl<L: Learner> Fit<Array2<f64>, Array1<usize>, LearningError> for Estimator<L> {
    type Object = Classifier;

    fn fit(
        &self,
        dataset: &DatasetBase<Array2<f64>, Array1<usize>>,
    ) -> Result<Self::Object, LearningError> {
        let classes = dataset.targets.iter().max().map_or(0, |&largest| largest.saturating_add(1));
        // Each class costs a column of outputs: labels such as postal codes are to be counted first.
        if classes > dataset.targets.len() {
            let (label, rows) = (classes - 1, dataset.targets.len());
            return Err(LearningError::LabelBeyondRows { label, rows });
        }
        let labels = dataset.targets.iter().map(|&label| label as u32).collect();
        let sample = Sample::classification(dataset.records.clone(), labels, classes)?;
        let fitted = self.learner.fit(&sample, &mut Fitting::seeded(self.seed))?;
        Ok(Classifier(fitted.predictor))
    }
}

impl<L: Learner> Fit<Array2<f64>, Array1<f64>, LearningError> for Estimator<L> {
    type Object = Regressor;

    fn fit(
        &self,
        dataset: &DatasetBase<Array2<f64>, Array1<f64>>,
    ) -> Result<Self::Object, LearningError> {
        let sample = Sample::regression(dataset.records.clone(), dataset.targets.clone())?;
        let fitted = self.learner.fit(&sample, &mut Fitting::seeded(self.seed))?;
        Ok(Regressor(fitted.predictor))
    }
}

impl PredictInplace<Array2<f64>, Array1<usize>> for Classifier {
    /// # Panics
    /// On inputs of another width than at fit time or with NaN: linfa's interface has no errors.
    fn predict_inplace(&self, inputs: &Array2<f64>, targets: &mut Array1<usize>) {
        match self.0.predict(inputs.view()) {
            Ok(Predictions::Classes(labels)) => {
                targets.iter_mut().zip(labels).for_each(|(to, label)| *to = label as usize);
            }
            Ok(Predictions::Real(_)) => unreachable!("a classifier predicts classes"),
            Err(error) => panic!("{error}"),
        }
    }

    fn default_target(&self, inputs: &Array2<f64>) -> Array1<usize> {
        Array1::zeros(inputs.nrows())
    }
}

impl PredictInplace<Array2<f64>, Array1<f64>> for Regressor {
    /// # Panics
    /// On inputs of another width than at fit time or with NaN: linfa's interface has no errors.
    fn predict_inplace(&self, inputs: &Array2<f64>, targets: &mut Array1<f64>) {
        match self.0.predict(inputs.view()) {
            Ok(Predictions::Real(values)) => {
                targets.iter_mut().zip(values).for_each(|(to, value)| *to = value);
            }
            Ok(Predictions::Classes(_)) => unreachable!("a regressor predicts values"),
            Err(error) => panic!("{error}"),
        }
    }

    fn default_target(&self, inputs: &Array2<f64>) -> Array1<f64> {
        Array1::zeros(inputs.nrows())
    }
}

impl From<linfa::Error> for LearningError {
    fn from(error: linfa::Error) -> Self {
        Self::Numerical { operation: "linfa", reason: error.to_string() }
    }
}
