//! Shared parts of the methods that choose a kernel first and then fit SVMs. They are base kernels, the second stage,
//! and the predictor.

use crate::sections::{kept, restored};
use mercer_kernels::{Kernel, Sections, std_of_bandwidth};
use mercer_learning::{
    Allowed, Convergence, Fitting, LearningError, Predictor, Sample, State, Task, fact, folds,
};
use mercer_solvers::{CostChoice, OneVersusOne, Smo, SolverError, choose_cost};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};
use serde::{Deserialize, Serialize};

/// Widths `σ` and costs `C` that the comparison of the hyper-RKHS paper searches: `2⁻⁵ .. 2⁵`.
pub(crate) fn powers() -> Vec<f64> {
    (-5..=5).map(|power| f64::from(power).exp2()).collect()
}

/// Folds of the cross-validations.
pub(crate) const FOLDS: usize = 5;

/// Rows beyond which the methods that hold many kernel matrices take a sample.
pub(crate) const CAP: usize = 2000;

/// The reason for which an SVM ends early.
pub(crate) enum Stop {
    Solver(SolverError),
    Limit(LearningError),
}

impl From<SolverError> for Stop {
    fn from(error: SolverError) -> Self {
        Self::Solver(error)
    }
}

impl From<Stop> for LearningError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Solver(error) => failed(&error),
            Stop::Limit(error) => error,
        }
    }
}

/// An error of a solver as one of a fit.
pub(crate) fn failed(error: &SolverError) -> LearningError {
    LearningError::Numerical { operation: "the kernel machine", reason: error.to_string() }
}

/// The labels of a classification sample in which two classes occur.
pub(crate) fn labels(sample: &Sample) -> Result<&[u32], LearningError> {
    sample.require_two_classes()?;
    sample.labels().ok_or_else(|| LearningError::Task {
        method: "a kernel machine".to_owned(),
        task: sample.task().name(),
    })
}

/// `±1` targets: of class 1 for two classes, else a column a class.
pub(crate) fn signs(labels: &[u32], classes: usize) -> Array2<f64> {
    let columns: Vec<u32> = if classes == 2 { vec![1] } else { (0..classes as u32).collect() };
    Array2::from_shape_fn((labels.len(), columns.len()), |(i, o)| {
        if labels[i] == columns[o] { 1.0 } else { -1.0 }
    })
}

/// The scores that outputs for such targets are: `(−f, f)` of the one for two classes, the outputs themselves of more.
pub(crate) fn scores(values: Array2<f64>, task: Task) -> Array2<f64> {
    if task.outputs() == 2 && values.ncols() == 1 {
        let f = values.column(0);
        return ndarray::stack![Axis(1), -&f, f];
    }
    values
}

/// In which fold each training row is held out: the same for every method of a trial.
pub(crate) fn folds_of(labels: &[u32], fitting: &Fitting<'_>) -> Vec<usize> {
    folds(labels, FOLDS, &mut fitting.streams.rng("folds"))
}

/// SVMs on a kernel matrix, their cost chosen by cross-validation over [`powers`].
pub(crate) fn second_stage(
    gram: ArrayView2<'_, f64>,
    labels: &[u32],
    tolerance: f64,
    fitting: &Fitting<'_>,
) -> Result<(OneVersusOne, CostChoice), LearningError> {
    let smo = Smo { tolerance, ..Smo::default() };
    let held = folds_of(labels, fitting);
    let check = || fitting.limits.check().map_err(Stop::Limit);
    let choice = choose_cost(gram, labels, &held, &powers(), &smo, check)?;
    let mut path = OneVersusOne::path(gram, labels, &[choice.cost], &smo, check)?;
    Ok((path.swap_remove(0), choice))
}

/// The SVMs' convergence.
pub(crate) fn convergence(machine: &OneVersusOne) -> Convergence {
    if machine.converged {
        Convergence::Converged { iterations: machine.steps }
    } else {
        Convergence::NotConverged { iterations: machine.steps, residual: machine.violation }
    }
}

/// A kernel that a method combines.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Base {
    /// `exp(−‖x − z‖²/(2 σ²))`.
    Gaussian(f64),
    /// `((x·z + 1)/√((x·x + 1)(z·z + 1)))^q`: a polynomial with unit diagonal.
    Polynomial(u32),
    /// `x·z`.
    Linear,
}

impl Base {
    fn kernel(self) -> Kernel {
        match self {
            Self::Gaussian(width) => Kernel::Gaussian { std: std_of_bandwidth(width) },
            Self::Polynomial(degree) => Kernel::Polynomial { degree, offset: 1.0, std: 1.0 },
            Self::Linear => Kernel::Linear,
        }
    }

    /// `√k(x, x)` of the rows where the kernel is to be normalised.
    fn roots(self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        let Self::Polynomial(degree) = self else { return None };
        let root = |x: ndarray::ArrayView1<'_, f64>| (x.dot(&x) + 1.0).powi(degree as i32).sqrt();
        Some(inputs.rows().into_iter().map(root).collect())
    }

    /// The Gram matrix of some rows.
    pub(crate) fn gram(self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut gram = self.kernel().gram(inputs);
        if let Some(roots) = self.roots(inputs) {
            gram /= &roots.view().insert_axis(Axis(1));
            gram /= &roots.view().insert_axis(Axis(0));
        }
        gram
    }

    /// The kernel's sections at some rows.
    pub(crate) fn sections(self, right: ArrayView2<'_, f64>) -> BaseSections {
        BaseSections {
            base: self,
            roots: self.roots(right),
            sections: self.kernel().sections(right),
        }
    }
}

/// `k(·, z_j)` of a base kernel.
pub(crate) struct BaseSections {
    base: Base,
    roots: Option<Array1<f64>>,
    sections: Sections,
}

impl BaseSections {
    pub(crate) fn features(&self) -> usize {
        self.sections.features()
    }

    /// Number of points `n`.
    pub(crate) fn len(&self) -> usize {
        self.sections.len()
    }

    pub(crate) fn state(&self) -> State {
        let state = State::new().with("base", self.base);
        let state = state.with_part("sections", kept(&self.sections));
        match &self.roots {
            Some(roots) => state.with_array("roots", roots),
            None => state,
        }
    }

    pub(crate) fn restore(state: &State) -> Result<Self, LearningError> {
        let base: Base = state.value("base")?;
        let sections = restored(state.part("sections")?)?;
        let roots = match base {
            Base::Polynomial(_) => Some(state.array_of::<f64, Ix1>("roots", sections.len())?),
            Base::Gaussian(_) | Base::Linear => None,
        };
        Ok(Self { base, roots, sections })
    }

    /// `k(x_i, z_j)`, `m × n`.
    pub(crate) fn at(&self, left: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut cross = self.sections.at(left);
        if let (Some(own), Some(roots)) = (self.base.roots(left), &self.roots) {
            cross /= &own.insert_axis(Axis(1));
            cross /= &roots.view().insert_axis(Axis(0));
        }
        cross
    }
}

/// The SVMs of a predictor as a part of its state.
pub(crate) fn machine_state(machine: &OneVersusOne) -> State {
    State::new()
        .with("classes", machine.present())
        .with_array("weights", &machine.weights)
        .with_array("biases", &machine.biases)
}

/// The SVMs that [`machine_state`] has kept.
pub(crate) fn machine_restored(state: &State, task: Task) -> Result<OneVersusOne, LearningError> {
    let classes: Vec<u32> = state.value("classes")?;
    let broken = |problem: String| LearningError::State { name: "machine".to_owned(), problem };
    if classes.iter().any(|&class| class as usize >= task.outputs()) {
        return Err(broken(format!("names classes that {task:?} does not have")));
    }
    let weights = state.array::<f64, Ix2>("weights")?;
    let biases = state.array::<f64, Ix1>("biases")?;
    OneVersusOne::from_parts(classes, weights, biases).map_err(|error| broken(error.to_string()))
}

/// Non-negative combination of base kernels.
pub(crate) struct Combination {
    pub(crate) parts: Vec<(f64, BaseSections)>,
}

impl Combination {
    /// The combination at some rows; parts of weight 0 are left out.
    pub(crate) fn new(bases: &[Base], weights: &[f64], rows: ArrayView2<'_, f64>) -> Self {
        let used = bases.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        Self { parts: used.map(|(base, &weight)| (weight, base.sections(rows))).collect() }
    }
}

impl Combination {
    fn state(&self) -> State {
        let weights: Vec<f64> = self.parts.iter().map(|(weight, _)| *weight).collect();
        let state = State::new().with("weights", weights);
        let parts = self.parts.iter().enumerate();
        parts.fold(state, |state, (k, (_, sections))| {
            state.with_part(&format!("kernel {k}"), sections.state())
        })
    }

    fn restore(state: &State) -> Result<Self, LearningError> {
        let weights: Vec<f64> = state.value("weights")?;
        let part = |(k, weight): (usize, &f64)| {
            Ok((*weight, BaseSections::restore(state.part(&format!("kernel {k}"))?)?))
        };
        Ok(Self {
            parts: weights.iter().enumerate().map(part).collect::<Result<_, LearningError>>()?,
        })
    }

    fn features(&self) -> usize {
        self.parts.first().map_or(0, |(_, sections)| sections.features())
    }

    /// `k(x_i, z_j)` for the rows `x_i` of `inputs`.
    fn cross(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut parts = self.parts.iter();
        let mut sum = match parts.next() {
            Some((weight, sections)) => sections.at(inputs) * *weight,
            None => Array2::zeros((inputs.nrows(), 0)),
        };
        for (weight, sections) in parts {
            sum.scaled_add(*weight, &sections.at(inputs));
        }
        sum
    }
}

/// SVMs on a learned kernel.
pub(crate) struct MachinePredictor {
    pub(crate) task: Task,
    pub(crate) kernel: Combination,
    pub(crate) machine: OneVersusOne,
}

/// Rows whose kernel values are held at once.
pub(crate) const BLOCK: usize = 512;

impl MachinePredictor {
    /// What [`Predictor::state`] has kept.
    pub(crate) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        let task: Task = state.value("task")?;
        let machine = machine_restored(state.part("machine")?, task)?;
        let kernel = Combination::restore(state.part("kernel")?)?;
        let points = machine.weights.nrows();
        if kernel.parts.is_empty() || kernel.parts.iter().any(|(_, s)| s.len() != points) {
            let problem = format!("does not stand at {points} points");
            return Err(LearningError::State { name: "kernel".to_owned(), problem });
        }
        Ok(Box::new(Self { task, kernel, machine }))
    }
}

impl Predictor for MachinePredictor {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.kernel.features()
    }

    fn state(&self) -> State {
        State::new()
            .with("task", self.task)
            .with_part("kernel", self.kernel.state())
            .with_part("machine", machine_state(&self.machine))
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let classes = self.task.outputs();
        let mut scores = Array2::zeros((inputs.nrows(), classes));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let cross = self.kernel.cross(inputs.slice(rows));
            scores.slice_mut(rows).assign(&self.machine.scores(cross.view(), classes));
        }
        scores
    }
}

/// Violations of optimality at which an SVM may end.
pub(crate) const TOLERANCE: Allowed =
    Allowed::between(1e-12, true, 1.0, true, "between 1e-12 and 1");

/// Named facts.
pub(crate) fn facts<const N: usize>(
    facts: [(&str, f64); N],
) -> std::collections::BTreeMap<String, f64> {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// What the second stage adds to the facts.
pub(crate) fn stage_facts(
    machine: &OneVersusOne,
    choice: &CostChoice,
    rows: usize,
) -> std::collections::BTreeMap<String, f64> {
    let right = choice.right.iter().max().copied().unwrap_or(0);
    facts([
        (fact::ROWS_USED, rows as f64),
        ("cost", choice.cost),
        ("validation-accuracy", right as f64 / rows as f64),
        ("support-vectors", machine.support().len() as f64),
        ("kkt-violation", machine.violation),
    ])
}
