use super::machine::Machine;
use crate::sections::{between_others, is_sparse, kept, restored};
use mercer_kernels::{Kernel, Sections};
use mercer_learning::{FittedKernel, LearningError, Predictor, State, Task};
use mercer_linalg::{MatrixView, SparseRows};
use mercer_solvers::vote;
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};
use serde::{Deserialize, Serialize};

/// How the SVMs' values become scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Reading {
    /// One SVM, `f > 0` for class 1: scores `(−f, f)`.
    Sign,
    /// One SVM in standard units: `mean + scale · f`.
    Value { mean: f64, scale: f64 },
    /// One SVM for each class that occurred, its value the score; the others can never win.
    Largest { classes: Vec<u32>, of: usize },
    /// One SVM for each pair, `f > 0` for the first: scores are votes, ordered by the values where equal.
    Votes { pairs: Vec<(u32, u32)>, of: usize },
}

impl Reading {
    /// How many SVMs it reads, or `None` if it cannot be a reading for the task.
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

/// The union of all SVMs' support vectors, so that a kernel value is computed once.
pub(super) struct SupportVectors {
    task: Task,
    sections: Sections,
    weights: Array2<f64>, // support vectors × machines
    rhos: Array1<f64>,
    reading: Reading,
    /// Of many classes, one against one: what `weights` has that is not 0.
    groups: Vec<Group>,
}

/// Support vectors of one class, which have weights in the SVMs of that class only.
struct Group {
    support: Vec<usize>,
    machines: Vec<usize>,
    weights: Array2<f64>, // support × machines
}

/// The support vectors by class; none where the SVMs are few or are no pairs of classes.
fn groups(weights: &Array2<f64>, reading: &Reading) -> Vec<Group> {
    let Reading::Votes { pairs, of } = reading else { return Vec::new() };
    if pairs.len() <= 3 {
        return Vec::new();
    }
    let mut by_class = vec![Vec::new(); *of];
    for (vector, own) in weights.rows().into_iter().enumerate() {
        let machines = || own.iter().zip(pairs).filter(|(weight, _)| **weight != 0.0);
        let ends = machines().next().map(|(_, &(first, second))| [first, second]);
        let of_all = |class: &u32| machines().all(|(_, &(a, b))| a == *class || b == *class);
        let Some(class) = ends.into_iter().flatten().find(of_all) else { return Vec::new() };
        by_class[class as usize].push(vector);
    }
    let group = |(class, support): (usize, Vec<usize>)| {
        let of_class = |&(a, b): &(u32, u32)| a as usize == class || b as usize == class;
        let machines: Vec<usize> = (0..pairs.len()).filter(|&at| of_class(&pairs[at])).collect();
        let weights = weights.select(Axis(0), &support).select(Axis(1), &machines);
        Group { support, machines, weights }
    };
    by_class.into_iter().enumerate().filter(|(_, own)| !own.is_empty()).map(group).collect()
}

impl SupportVectors {
    pub(super) fn new(
        task: Task,
        kernel: Kernel,
        inputs: MatrixView<'_>,
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
        let sections = kernel.sections(inputs.select(&rows).view());
        let rhos = machines.iter().map(|machine| machine.rho).collect();
        let groups = groups(&weights, &reading);
        Self { task, sections, weights, rhos, reading, groups }
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
        let groups = groups(&weights, &reading);
        Ok(Self { task, sections, weights, rhos, reading, groups })
    }

    pub(super) fn count(&self) -> usize {
        self.sections.len()
    }

    /// `Σ weight · k(x, x_row)` of every SVM (across) for some rows.
    fn values(&self, cross: &Array2<f64>) -> Array2<f64> {
        if self.groups.is_empty() {
            return cross.dot(&self.weights);
        }
        let mut values = Array2::zeros((cross.nrows(), self.rhos.len()));
        for Group { support, machines, weights } in &self.groups {
            let mut own = Vec::with_capacity(cross.nrows() * support.len());
            for row in cross.rows() {
                let row = row.to_slice().expect("rows of kernel values are contiguous");
                own.extend(support.iter().map(|&at| row[at]));
            }
            let own = Array2::from_shape_vec((cross.nrows(), support.len()), own);
            let own = own.expect("as many numbers").dot(weights);
            for (&machine, column) in machines.iter().zip(own.columns()) {
                values.column_mut(machine).scaled_add(1.0, &column);
            }
        }
        values
    }

    fn decided(&self, inputs: MatrixView<'_>) -> Array2<f64> {
        const BLOCK: usize = 512; // rows whose kernel values are held at once
        let n = inputs.dim().0;
        let mut scores = Array2::zeros((n, self.task.outputs()));
        for start in (0..n).step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(n);
            let cross = inputs.within(rows.clone(), |x| self.sections.at(x));
            let values = self.values(&cross) - &self.rhos;
            scores.slice_mut(s![rows, ..]).assign(&self.scores(&values));
        }
        scores
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
                for (votes, values) in votes.rows_mut().into_iter().zip(values.rows()) {
                    vote(votes, pairs.iter().zip(values).map(|(&(a, b), &f)| (a, b, f)));
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
        self.decided(inputs.into())
    }

    fn sparse_decision(&self, inputs: &SparseRows) -> Option<Array2<f64>> {
        is_sparse(&self.sections).then(|| self.decided(inputs.into()))
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        between_others(&self.sections).then_some(self)
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
