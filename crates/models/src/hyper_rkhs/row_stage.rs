//! A second stage on all rows: SVMs whose kernel rows are computed as they are asked for.

use super::machine::voted;
use super::{KreinFeatures, Stopped, refused};
use mercer_kernels::{LearnedKernel, Sections};
use mercer_learning::{Convergence, Fitting, LearningError, Predictor, State, Task};
use mercer_linalg::in_order;
use mercer_solvers::{Dual, KernelRows, Smo, Solution};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};
use rand::seq::index;

/// Reference points of the functions, at most.
const REFERENCE: usize = 2000;
/// Functions of `|σ|` at or below this share of the largest are left out.
const FUNCTIONS: f64 = 1e-3;
/// Bytes of kernel rows that a machine keeps.
const CACHE_BYTES: usize = 1 << 29;
/// Rows that are predicted at once.
const BLOCK: usize = 1024;

/// The kernel `β o |f|` of some points: of the learned kernel `β o f`, the factor `f` is flipped ([`KreinFeatures`]).
struct FlippedRows<'a> {
    points: ArrayView2<'a, f64>,
    /// `β(·, x_j)` of each point.
    beta: Sections,
    /// `|σ|^½ v` at each, `n × r`: `|f|` is their product.
    functions: ArrayView2<'a, f64>,
}

impl KernelRows for FlippedRows<'_> {
    fn size(&self) -> usize {
        self.points.nrows()
    }

    fn diagonal(&self, t: usize) -> f64 {
        self.functions.row(t).dot(&self.functions.row(t))
    }

    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
        let (x, own) = (self.points.row(row), self.functions.row(row));
        // Of few columns each entry by itself takes less time than the whole row.
        if 4 * columns.len() < self.size() {
            let kernel = self.beta.kernel();
            for (value, &column) in values.iter_mut().zip(columns) {
                *value =
                    kernel.of(x, self.points.row(column)) * own.dot(&self.functions.row(column));
            }
            return;
        }
        let beta = self.beta.at(x.insert_axis(Axis(0)));
        let flipped = self.functions.dot(&own);
        for (value, &column) in values.iter_mut().zip(columns) {
            *value = beta[[0, column]] * flipped[column];
        }
    }
}

/// SVMs with the kernel `β o |f|`, on every row that they are given.
pub(super) struct RowStage {
    task: Task,
    features: KreinFeatures,
    /// Rows with a weight in some SVM (`S × d`).
    support: Array2<f64>,
    /// `S × machines`.
    weights: Array2<f64>,
    bias: Array1<f64>,
    /// The classes that each SVM separates (`machines × 2`); a positive value means the second.
    pairs: Array2<u32>,
}

/// How the SVMs ended.
pub(super) struct Ended {
    pub steps: usize,
    pub convergence: Option<Convergence>,
}

impl Ended {
    fn of(solved: &[(Vec<usize>, Solution)]) -> Self {
        let steps = solved.iter().map(|(_, solution)| solution.steps).sum();
        let residual = solved.iter().fold(0.0, |worst: f64, (_, s)| worst.max(s.violation));
        let open = solved.iter().any(|(_, solution)| !solution.converged);
        let convergence = open.then_some(Convergence::NotConverged { iterations: steps, residual });
        Self { steps, convergence }
    }
}

/// The weights of all rows, `rows × machines`.
fn weights_of(rows: usize, solved: &[(Vec<usize>, Solution)]) -> Array2<f64> {
    let mut weights = Array2::zeros((rows, solved.len()));
    for (machine, (own, solution)) in solved.iter().enumerate() {
        for (&row, &weight) in own.iter().zip(&solution.weights) {
            weights[[row, machine]] = weight;
        }
    }
    weights
}

/// Each two of the classes that occur.
fn pairs_of_classes(labels: &[u32]) -> Vec<(u32, u32)> {
    let mut present = labels.to_vec();
    present.sort_unstable();
    present.dedup();
    let mut pairs = Vec::new();
    for (place, &first) in present.iter().enumerate() {
        pairs.extend(present[place + 1..].iter().map(|&second| (first, second)));
    }
    pairs
}

impl RowStage {
    /// Fits an SVM for each two classes that occur.
    pub(super) fn fit(
        task: Task,
        kernel: &LearnedKernel,
        points: ArrayView2<'_, f64>,
        labels: &[u32],
        cost: f64,
        fitting: &Fitting<'_>,
    ) -> Result<(Self, Ended), LearningError> {
        let (rows, most) = (points.nrows(), points.nrows().min(REFERENCE));
        // Drawn, not every so many: a file may have a period.
        let drawn = index::sample(&mut fitting.streams.rng("reference"), rows, most).into_vec();
        let reference = points.select(Axis(0), &drawn);
        // The pair kernel is computed: one pivot of its factor is as good as many.
        let features = KreinFeatures::of(kernel, reference.view(), 1, FUNCTIONS)?;
        let pairs = pairs_of_classes(labels);
        if pairs.is_empty() {
            return Err(LearningError::OneClass { rows });
        }
        // Functions, weights and two copies of the rows, and a cache of kernel rows a machine at work.
        let numbers = rows * (2 * kernel.pairs().len() + pairs.len() + 2 * points.ncols());
        let caches = CACHE_BYTES.min(8 * rows * rows) * fitting.threads.min(pairs.len());
        fitting.limits.reserve((8 * numbers + caches) as u64)?;
        let functions = features.functions_at(points);
        let smo = Smo { cache_bytes: CACHE_BYTES, ..Smo::default() };
        let solved = in_order(fitting.threads, pairs.len(), |machine| {
            let (first, second) = pairs[machine];
            let own: Vec<usize> =
                (0..rows).filter(|&row| [first, second].contains(&labels[row])).collect();
            let signs: Vec<bool> = own.iter().map(|&row| labels[row] == second).collect();
            let (x, functions) = (points.select(Axis(0), &own), functions.select(Axis(0), &own));
            let beta = features.pair_kernel().sections(x.view());
            let kernel = FlippedRows { points: x.view(), beta, functions: functions.view() };
            let dual = Dual::classification(&signs, cost).map_err(Stopped::from)?;
            let check = || fitting.limits.check().map_err(Stopped::Outside);
            let solution = smo.solve_checked(&kernel, &dual, None, check)?;
            Ok::<_, Stopped>((own, solution))
        });
        let solved: Vec<(Vec<usize>, Solution)> = solved
            .into_iter()
            .collect::<Result<_, _>>()
            .map_err(|stopped| stopped.in_words("sequential minimal optimisation"))?;
        let weights = weights_of(rows, &solved);
        let kept: Vec<usize> =
            (0..rows).filter(|&row| weights.row(row).iter().any(|w| *w != 0.0)).collect();
        let stage = Self {
            task,
            features,
            support: points.select(Axis(0), &kept),
            weights: weights.select(Axis(0), &kept),
            bias: solved.iter().map(|(_, solution)| solution.bias).collect(),
            pairs: Array2::from_shape_fn((pairs.len(), 2), |(machine, side)| {
                if side == 0 { pairs[machine].0 } else { pairs[machine].1 }
            }),
        };
        Ok((stage, Ended::of(&solved)))
    }

    /// Rows with a weight, and the number of SVMs.
    pub(super) fn counts(&self) -> (usize, usize) {
        self.weights.dim()
    }
}

impl Predictor for RowStage {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.support.ncols()
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut scores = Array2::zeros((inputs.nrows(), self.task.outputs()));
        let functions = self.features.functions_at(self.support.view());
        let beta = self.features.pair_kernel().sections(self.support.view());
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let x = inputs.slice(rows);
            let kernel = beta.at(x) * self.features.functions_at(x).dot(&functions.t());
            let values = kernel.dot(&self.weights) + &self.bias;
            voted(values.view(), &self.pairs, scores.slice_mut(rows));
        }
        scores
    }

    fn state(&self) -> State {
        State::new()
            .with("stage", "rows")
            .with("task", self.task)
            .with_part("features", self.features.state())
            .with_array("support", &self.support)
            .with_array("weights", &self.weights)
            .with_array("bias", &self.bias)
            .with_array("pairs", &self.pairs)
    }
}

/// What the state of one stands for.
pub(super) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let task: Task = state.value("task")?;
    let features = KreinFeatures::restored(state.part("features")?)?;
    let pairs = state.array::<u32, Ix2>("pairs")?;
    let classes = task.outputs() as u32;
    if task == Task::Regression || pairs.ncols() != 2 || pairs.iter().any(|&c| c >= classes) {
        return Err(refused("pairs", "of other classes", "of two of the classes each"));
    }
    let support = state.array::<f64, Ix2>("support")?;
    if support.ncols() != features.inputs() {
        return Err(refused("support", support.ncols(), "of the kernel's columns"));
    }
    let weights = state.array_of::<f64, Ix2>("weights", (support.nrows(), pairs.nrows()))?;
    let bias = state.array_of::<f64, Ix1>("bias", pairs.nrows())?;
    Ok(Box::new(RowStage { task, features, support, weights, bias, pairs }))
}
