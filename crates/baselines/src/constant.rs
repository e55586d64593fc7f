use mercer_learning::{
    Convergence, Fitted, LearningError, Outcome, Predictor, Settings, Shape, Space, State, Task,
};
use ndarray::{Array1, Array2, ArrayView2, Ix1};
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
