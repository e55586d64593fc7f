use super::machine::Machine;
use crate::sections::{kept, restored};
use mercer_kernels::{Kernel, Sections};
use mercer_learning::{FittedKernel, LearningError, Predictor, State, Task};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};
use serde::{Deserialize, Serialize};

/// How the machines' values become scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Reading {
    /// One machine, `f > 0` for class 1: scores `(−f, f)`.
    Sign,
    /// One machine in standard units: `mean + scale · f`.
    Value { mean: f64, scale: f64 },
    /// One machine a class that occurred, its value the score; the others can never win.
    Largest { classes: Vec<u32>, of: usize },
    /// One machine a pair, `f > 0` for the first: scores are votes.
    Votes { pairs: Vec<(u32, u32)>, of: usize },
}

impl Reading {
    /// How many machines it reads, or `None` if it cannot be a reading for the task.
    fn machines(&self, task: Task) -> Option<usize> {
        let classes = match task {
            Task::Classification { classes } => classes,
            Task::Regression => 0,
        };
        let (count, sound) = match self {
            Self::Sign => (1, classes == 2),
            Self::Value { scale, .. } => (1, classes == 0 && *scale > 0.0),
            Self::Largest { classes: named, of } => {
                (named.len(), *of == classes && named.iter().all(|&c| (c as usize) < classes))
            }
            Self::Votes { pairs, of } => {
                let known = |&(a, b): &(u32, u32)| a.max(b) < classes as u32;
                (pairs.len(), *of == classes && pairs.iter().all(known))
            }
        };
        sound.then_some(count)
    }
}

/// The union of all machines' support vectors, so that a kernel value is computed once.
pub(super) struct SupportVectors {
    task: Task,
    sections: Sections,
    weights: Array2<f64>, // support vectors × machines
    rhos: Array1<f64>,
    reading: Reading,
}

impl SupportVectors {
    pub(super) fn new(
        task: Task,
        kernel: Kernel,
        inputs: ArrayView2<'_, f64>,
        machines: &[Machine],
        reading: Reading,
    ) -> Self {
        let rows_of = |machine: &Machine| machine.weights.iter().map(|&(row, _)| row).collect();
        let mut rows: Vec<usize> =
            machines.iter().flat_map(|m| -> Vec<usize> { rows_of(m) }).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut weights = Array2::zeros((rows.len(), machines.len()));
        for (column, machine) in machines.iter().enumerate() {
            for &(row, weight) in &machine.weights {
                let place = rows.binary_search(&row).expect("the union holds every row");
                weights[[place, column]] = weight;
            }
        }
        let sections = kernel.sections(inputs.select(Axis(0), &rows).view());
        let rhos = machines.iter().map(|machine| machine.rho).collect();
        Self { task, sections, weights, rhos, reading }
    }

    /// What [`Predictor::state`] has kept.
    pub(super) fn restore(state: &State) -> Result<Self, LearningError> {
        let (task, reading): (Task, Reading) = (state.value("task")?, state.value("reading")?);
        let sections = restored(state.part("sections")?)?;
        let machines = reading.machines(task).ok_or_else(|| LearningError::State {
            name: "reading".to_owned(),
            problem: format!("does not fit {task:?}"),
        })?;
        let weights = state.array_of::<f64, Ix2>("weights", (sections.len(), machines))?;
        let rhos = state.array_of::<f64, Ix1>("rhos", machines)?;
        Ok(Self { task, sections, weights, rhos, reading })
    }

    pub(super) fn count(&self) -> usize {
        self.sections.len()
    }

    fn scores(&self, values: &Array2<f64>) -> Array2<f64> {
        let n = values.nrows();
        match &self.reading {
            Reading::Sign => {
                let f = values.column(0);
                ndarray::stack![Axis(1), -&f, f]
            }
            Reading::Value { mean, scale } => values.mapv(|f| mean + scale * f),
            Reading::Largest { classes, of } => {
                let mut scores = Array2::from_elem((n, *of), f64::NEG_INFINITY);
                for (&class, column) in classes.iter().zip(values.columns()) {
                    scores.column_mut(class as usize).assign(&column);
                }
                scores
            }
            Reading::Votes { pairs, of } => {
                let mut votes = Array2::zeros((n, *of));
                for ((i, machine), &f) in values.indexed_iter() {
                    let (first, second) = pairs[machine];
                    let winner = if f > 0.0 { first } else { second };
                    votes[[i, winner as usize]] += 1.0;
                }
                votes
            }
        }
    }
}

impl Predictor for SupportVectors {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.sections.features()
    }

    fn state(&self) -> State {
        State::new()
            .with("task", self.task)
            .with("reading", &self.reading)
            .with_part("sections", kept(&self.sections))
            .with_array("weights", &self.weights)
            .with_array("rhos", &self.rhos)
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        const BLOCK: usize = 512; // rows whose kernel values are held at once
        let mut scores = Array2::zeros((inputs.nrows(), self.task.outputs()));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let values = self.sections.at(inputs.slice(rows)).dot(&self.weights) - &self.rhos;
            scores.slice_mut(rows).assign(&self.scores(&values));
        }
        scores
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        Some(self)
    }
}

impl FittedKernel for SupportVectors {
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.sections.gram(inputs)
    }

    fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
        self.sections.mean_diagonal(inputs)
    }
}
