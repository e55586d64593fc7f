use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Outcome, Predictor, Sample, Settings,
    Shape, Space, State, Task,
};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Ix1, array};
use std::collections::BTreeMap;

mercer_learning::parameters! {
    /// The settings of a method that has none.
    pub(crate) struct NoSettings {}
}

/// The same scores for every row.
pub(crate) struct Constant {
    pub(crate) task: Task,
    pub(crate) features: usize,
    /// One score a class, or one value.
    pub(crate) scores: Array1<f64>,
}

impl Constant {
    pub(crate) fn fitted(self) -> Fitted {
        let facts = BTreeMap::new();
        Outcome { predictor: self, convergence: Convergence::Exact, facts }.boxed()
    }
}

impl Predictor for Constant {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn state(&self) -> State {
        let state = State::new().with("task", self.task).with("features", self.features);
        state.with_array("scores", &self.scores)
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let shape = (inputs.nrows(), self.scores.len());
        self.scores.broadcast(shape).expect("one score a column").to_owned()
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        matches!(self.task, Task::Classification { .. }).then(|| self.decision(inputs))
    }
}

/// A regressor that predicts the same number for every row.
pub(crate) struct Number {
    /// The name of the method.
    pub(crate) name: &'static str,
    /// The number, from the training targets.
    pub(crate) of: fn(ArrayView1<'_, f64>) -> f64,
    /// Whether it stays as it is whatever the rows weigh.
    pub(crate) weighs_rows: bool,
}

impl Number {
    /// The learner, which has no settings.
    pub(crate) fn build(self, settings: &Settings) -> Result<Box<dyn Learner>, LearningError> {
        settings.read::<NoSettings>(self.name)?;
        Ok(Box::new(self))
    }
}

impl Learner for Number {
    fn fit(&self, sample: &Sample, _: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let (task, features) = (sample.task(), sample.features());
        let Some(targets) = sample.values() else {
            let method = self.name.to_owned();
            return Err(LearningError::Task { method, task: task.name() });
        };
        Ok(Constant { task, features, scores: array![(self.of)(targets)] }.fitted())
    }

    fn weighs_rows(&self) -> bool {
        self.weighs_rows
    }
}

/// What the state of a [`Constant`] stands for.
pub(crate) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let task: Task = state.value("task")?;
    let scores = state.array_of::<f64, Ix1>("scores", task.outputs())?;
    Ok(Box::new(Constant { task, features: state.value("features")?, scores }))
}

/// No settings at all.
pub(crate) const fn no_settings(_: &Shape) -> Settings {
    Settings::new()
}

/// Nothing to tune.
pub(crate) fn nothing_to_tune(_: &Shape) -> Space {
    Space::default()
}
