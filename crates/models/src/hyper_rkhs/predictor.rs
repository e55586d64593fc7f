use super::machine::{Machines, voted};
use super::{linear_stage, row_stage};
use mercer_kernels::{GaussianHyper, HyperKernel, LearnedKernel, Pairs, WishartHyper};
use mercer_learning::{FittedKernel, LearningError, Predictor, State, Task};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};

/// SVMs with a learned kernel.
pub(super) struct HyperMachine {
    task: Task,
    kernel: LearnedKernel,
    /// Rows with a weight in some SVM (`S × d`).
    support: Array2<f64>,
    /// `S × machines`.
    weights: Array2<f64>,
    bias: Array1<f64>,
    /// The classes that each SVM separates (`machines × 2`).
    pairs: Array2<u32>,
}

impl HyperMachine {
    pub(super) fn new(
        task: Task,
        kernel: LearnedKernel,
        points: ArrayView2<'_, f64>,
        machines: Machines,
    ) -> Self {
        let kept: Vec<usize> = (0..points.nrows())
            .filter(|&row| machines.weights.row(row).iter().any(|weight| *weight != 0.0))
            .collect();
        Self {
            task,
            kernel,
            support: points.select(Axis(0), &kept),
            weights: machines.weights.select(Axis(0), &kept),
            bias: machines.bias,
            pairs: Array2::from_shape_fn((machines.pairs.len(), 2), |(machine, side)| {
                let (first, second) = machines.pairs[machine];
                if side == 0 { first } else { second }
            }),
        }
    }

    /// Rows with a weight.
    pub(super) fn support(&self) -> usize {
        self.support.nrows()
    }
}

impl Predictor for HyperMachine {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.support.ncols()
    }

    /// For two classes the SVM's value and its negative; for more, votes.
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        const BLOCK: usize = 1024; // rows whose kernel values are held at once
        let classes = self.task.outputs();
        let mut scores = Array2::zeros((inputs.nrows(), classes));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let rows = s![start..(start + BLOCK).min(inputs.nrows()), ..];
            let values = self.kernel.block(inputs.slice(rows), self.support.view(), 1);
            let values = values.dot(&self.weights) + &self.bias;
            voted(values.view(), &self.pairs, scores.slice_mut(rows));
        }
        scores
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        Some(self)
    }

    fn state(&self) -> State {
        State::new()
            .with("task", self.task)
            .with_part("kernel", kept(&self.kernel))
            .with_array("support", &self.support)
            .with_array("weights", &self.weights)
            .with_array("bias", &self.bias)
            .with_array("pairs", &self.pairs)
    }
}

impl FittedKernel for HyperMachine {
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.kernel.gram(inputs, 1)
    }

    /// None: bounds by a trace are of kernels without negative eigenvalues.
    fn mean_diagonal(&self, _inputs: ArrayView2<'_, f64>) -> Option<f64> {
        None
    }
}

/// Restores fitted SVMs from their state.
pub(super) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let fault = |name: &str, problem: &str| LearningError::State {
        name: name.to_owned(),
        problem: problem.to_owned(),
    };
    match state.value::<String>("stage").as_deref() {
        Ok("linear") => return linear_stage::restore(state),
        Ok("rows") => return row_stage::restore(state),
        _ => {}
    }
    let task: Task = state.value("task")?;
    let kernel = restored(state.part("kernel")?)?;
    let pairs = state.array::<u32, Ix2>("pairs")?;
    let classes = task.outputs() as u32;
    if matches!(task, Task::Regression) || pairs.ncols() != 2 || pairs.iter().any(|&c| c >= classes)
    {
        return Err(fault("pairs", "they must name two of the classes each"));
    }
    let support = state.array::<f64, Ix2>("support")?;
    if support.ncols() != kernel.features() && !kernel.is_empty() {
        return Err(fault("support", "the kernel is of points of another dimension"));
    }
    let shape = (support.nrows(), pairs.nrows());
    let weights = state.array_of::<f64, Ix2>("weights", shape)?;
    let bias = state.array_of::<f64, Ix1>("bias", pairs.nrows())?;
    Ok(Box::new(HyperMachine { task, kernel, support, weights, bias, pairs }))
}

/// The state of a learned kernel.
fn kept(kernel: &LearnedKernel) -> State {
    let pairs = kernel.pairs().as_slice();
    let pairs = Array2::from_shape_fn((pairs.len(), 2), |(q, side)| {
        let (i, j) = pairs[q];
        (if side == 0 { i } else { j }) as u32
    });
    let state = State::new()
        .with_array("points", &kernel.points())
        .with_array("pairs", &pairs)
        .with_array("coefficients", &kernel.coefficients())
        .with("bias", kernel.bias());
    match kernel.hyper() {
        HyperKernel::Gaussian(gaussian) => state
            .with("hyper", "gaussian")
            .with("pair-variance", gaussian.pair_variance())
            .with("mean-variance", gaussian.mean_variance()),
        HyperKernel::Wishart(wishart) => state
            .with("hyper", "wishart")
            .with("freedom", wishart.freedom())
            .with("log-determinant", wishart.log_determinant())
            .with_array("whitening", &wishart.whitening()),
    }
}

/// The learned kernel that [`kept`] has kept.
fn restored(state: &State) -> Result<LearnedKernel, LearningError> {
    let fault = |error: mercer_kernels::KernelError| LearningError::State {
        name: "kernel".to_owned(),
        problem: error.to_string(),
    };
    let hyper = if state.value::<String>("hyper")? == "gaussian" {
        let (pair, mean) = (state.value("pair-variance")?, state.value("mean-variance")?);
        HyperKernel::Gaussian(GaussianHyper::of_variances(pair, mean).map_err(fault)?)
    } else {
        let whitening = state.array::<f64, Ix2>("whitening")?;
        let (log, freedom) = (state.value("log-determinant")?, state.value("freedom")?);
        HyperKernel::Wishart(WishartHyper::from_parts(whitening, log, freedom).map_err(fault)?)
    };
    let points = state.array::<f64, Ix2>("points")?;
    let pairs = state.array::<u32, Ix2>("pairs")?;
    let rows = points.nrows() as u32;
    if pairs.ncols() != 2 || pairs.iter().any(|&row| row >= rows) {
        let (name, problem) =
            ("pairs".to_owned(), "they name points that are not there".to_owned());
        return Err(LearningError::State { name, problem });
    }
    let coefficients = state.array_of::<f64, Ix1>("coefficients", pairs.nrows())?;
    let pairs = Pairs::new(pairs.rows().into_iter().map(|q| (q[0] as usize, q[1] as usize)));
    let kernel = LearnedKernel::new(hyper, points.view(), &pairs, &coefficients).map_err(fault)?;
    Ok(kernel.with_bias(state.value("bias")?))
}
