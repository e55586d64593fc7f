//! A second stage in time linear in the rows. It is ridge classification on the signed features of a learned kernel.

use super::{KreinFeatures, numerical, refused};
use mercer_kernels::LearnedKernel;
use mercer_learning::{Fitting, LearningError, Predictor, State, Task};
use mercer_linalg::{Cholesky, product, symmetric_product};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};
use rand::seq::index;

/// Rows whose features are held at once.
const BLOCK: usize = 2048;
/// Reference points of the features, at most.
const REFERENCE: usize = 2000;
/// Functions of `|σ|` at or below this share of the largest are left out.
const FUNCTIONS: f64 = 1e-3;

/// `f(x) = Σ_f u_f φ_f(x) + b`, one a class (or one, of two classes).
pub(super) struct LinearStage {
    task: Task,
    features: KreinFeatures,
    /// `F × outputs`.
    weights: Array2<f64>,
    bias: Array1<f64>,
}

impl LinearStage {
    /// Minimises `|u|² + C Σ_i (y_i − u·φ(x_i) − b)²` with `y = ±1`: kernel ridge classification with the kernel
    /// `Σ_f φ_f φ_f`: of the learned one, `β o f`, the factor `f` is flipped ([`KreinFeatures`]), to `β o |f|`. That is
    /// positive definite, but not the spectral flip `|β o f|` of the whole, which an SVM's `spectrum = flip` takes.
    /// `O(n F² + F³)`, never `n²`.
    pub(super) fn fit(
        task: Task,
        kernel: &LearnedKernel,
        points: ArrayView2<'_, f64>,
        labels: &[u32],
        (cost, rank): (f64, usize),
        fitting: &Fitting<'_>,
    ) -> Result<Self, LearningError> {
        // Drawn, not every so many: a file may have a period, and these rows would meet one phase of it.
        let (rows, most) = (points.nrows(), points.nrows().min(REFERENCE));
        let drawn = index::sample(&mut fitting.streams.rng("reference"), rows, most).into_vec();
        let features =
            KreinFeatures::of(kernel, points.select(Axis(0), &drawn).view(), rank, FUNCTIONS)?;
        let size = features.len();
        if size == 0 {
            let reason = "the learned kernel is 0; a smaller `lambda` learns more".to_owned();
            return Err(LearningError::Numerical { operation: "a linear second stage", reason });
        }
        fitting.limits.reserve(8 * (2 * size * size + 3 * BLOCK * size) as u64)?;
        let outputs = if task.outputs() == 2 { 1 } else { task.outputs() };
        let target = |row: usize, output: usize| {
            let class = if outputs == 1 { 1 } else { output as u32 };
            if labels[row] == class { 1.0 } else { -1.0 }
        };
        let n = points.nrows() as f64;
        let mut normal = Array2::<f64>::zeros((size, size));
        let mut right = Array2::<f64>::zeros((size, outputs));
        let (mut means, mut levels) = (Array1::<f64>::zeros(size), Array1::<f64>::zeros(outputs));
        for start in (0..points.nrows()).step_by(BLOCK) {
            fitting.limits.check()?;
            let rows = start..(start + BLOCK).min(points.nrows());
            let phi = features.at(points.slice(s![rows.clone(), ..]));
            let y = Array2::from_shape_fn((rows.len(), outputs), |(i, c)| target(start + i, c));
            normal += &symmetric_product(phi.view());
            product(1.0, phi.t(), y.view(), 1.0, right.view_mut());
            means += &phi.sum_axis(Axis(0));
            levels += &y.sum_axis(Axis(0));
        }
        means /= n;
        levels /= n;
        // Centred: the bias costs nothing.
        let column = means.view().insert_axis(Axis(1));
        product(-n, column, means.view().insert_axis(Axis(0)), 1.0, normal.view_mut());
        product(-n, column, levels.view().insert_axis(Axis(0)), 1.0, right.view_mut());
        normal.diag_mut().mapv_inplace(|entry| entry + cost.recip());
        let weights = Cholesky::factor_on(fitting.threads, normal)
            .and_then(|factor| factor.solve(&right))
            .map_err(numerical("the normal equations of a linear second stage"))?;
        let bias = levels - means.dot(&weights);
        Ok(Self { task, features, weights, bias })
    }

    /// Relative error `‖K − K̂‖_F/‖K‖_F` of the signed features at some rows `x`. `K` is the learned kernel's Gram
    /// matrix there, and `K̂` the Gram matrix of the features, which have at most so many pivots and no functions of
    /// small `|σ|`.
    pub(super) fn error(&self, x: ArrayView2<'_, f64>, gram: ArrayView2<'_, f64>) -> f64 {
        let norm = |values: ArrayView2<'_, f64>| values.iter().map(|k| k * k).sum::<f64>().sqrt();
        let left = norm((&self.features.block(x, x) - &gram).view());
        if left == 0.0 { 0.0 } else { left / norm(gram) }
    }

    /// Features, and how many of them have a negative sign.
    pub(super) fn counts(&self) -> (usize, usize) {
        let negative = self.features.signs().iter().filter(|sign| **sign < 0.0).count();
        (self.features.len(), negative)
    }
}

impl Predictor for LinearStage {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features.inputs()
    }

    /// Of two classes the value and its negative; of more, one a class.
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let classes = self.task.outputs();
        let mut scores = Array2::zeros((inputs.nrows(), classes));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let values = self.features.at(inputs.slice(rows)).dot(&self.weights) + &self.bias;
            let mut own = scores.slice_mut(rows);
            if classes == 2 {
                own.column_mut(0).assign(&values.column(0).mapv(|value| -value));
                own.column_mut(1).assign(&values.column(0));
            } else {
                own.assign(&values);
            }
        }
        scores
    }

    fn state(&self) -> State {
        State::new()
            .with("stage", "linear")
            .with("task", self.task)
            .with_part("features", self.features.state())
            .with_array("weights", &self.weights)
            .with_array("bias", &self.bias)
    }
}

/// What the state of one stands for.
pub(super) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let task: Task = state.value("task")?;
    if matches!(task, Task::Regression) {
        return Err(refused("task", "regression", "a classification"));
    }
    let features = KreinFeatures::restored(state.part("features")?)?;
    let outputs = if task.outputs() == 2 { 1 } else { task.outputs() };
    let weights = state.array_of::<f64, Ix2>("weights", (features.len(), outputs))?;
    let bias = state.array_of::<f64, Ix1>("bias", outputs)?;
    Ok(Box::new(LinearStage { task, features, weights, bias }))
}
