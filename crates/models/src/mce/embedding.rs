use super::ExplicitMap;
use super::implicit::setting;
use mercer_kernels::Covariance;
use mercer_learning::{FittedKernel, LearningError, Predictor, State, Task, entropies};
use mercer_linalg::product;
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix2};

/// A fitted conditional mean embedding of classes: `f(x) = Vᵀ k(x)`, or `f(x) = Wᵀ φ(x)`.
///
/// ```
/// use mercer_learning::{Fitting, Predictor, Sample};
/// use mercer_models::mce::EmbeddingParams;
/// use ndarray::array;
/// let x = array![[0.0], [0.1], [0.9], [1.0]];
/// let sample = Sample::classification(x.clone(), vec![0, 0, 1, 1], 2)?;
/// let learner = EmbeddingParams { epochs: 50, ..Default::default() }.checked()?;
/// let embedding = learner.embed(&sample, &mut Fitting::seeded(1))?.predictor;
/// let shares = embedding.probabilities(x.view()).unwrap();
/// assert!(shares[[0, 0]] > 0.5 && (shares.row(0).sum() - 1.0).abs() < 1e-12);
/// let unsure = mercer_learning::entropies(shares.view());
/// assert!(unsure.iter().all(|h| (0.0..=2f64.ln()).contains(h)));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    pub(super) task: Task,
    pub(super) form: EmbeddingForm,
    /// `V`, `n × K`, or `W`, `p × K`.
    pub(super) weights: Array2<f64>,
}

/// What the weights multiply.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EmbeddingForm {
    Implicit { kernel: Covariance, inputs: Array2<f64> },
    Explicit { map: ExplicitMap, columns: usize },
}

impl Embedding {
    /// Returns the kernel with its parameters. Of an explicit map it is the one that its features stand for.
    pub const fn kernel(&self) -> &Covariance {
        match &self.form {
            EmbeddingForm::Implicit { kernel, .. } => kernel,
            EmbeddingForm::Explicit { map, .. } => map.kernel(),
        }
    }
}

/// The entropy that is itself an embedding, `Σ_c f_c(x) u_c(x)` with `u_c = −log f_c`, or 0 where
/// `f_c ≤ 0`; clipped at 0: equations (36) and (37).
pub(super) fn embedded(decision: ArrayView2<'_, f64>) -> Array1<f64> {
    entropies(decision).mapv_into(|entropy| entropy.max(0.0))
}

/// Returns `max(f, 0)/Σ max(f, 0)`, equation (6); where no entry is positive, all classes alike.
///
/// ```
/// let shares = mercer_models::mce::clip_normalised(ndarray::array![[0.7, 0.4, -0.1]]);
/// assert!((shares[[0, 0]] - 7.0 / 11.0).abs() < 1e-15 && shares[[0, 2]] == 0.0);
/// ```
pub fn clip_normalised(mut decision: Array2<f64>) -> Array2<f64> {
    decision.mapv_inplace(|f| f.max(0.0));
    let classes = decision.ncols() as f64;
    for mut row in decision.axis_iter_mut(Axis(0)) {
        let sum = row.sum();
        if sum > 0.0 {
            row /= sum;
        } else {
            row.fill(1.0 / classes);
        }
    }
    decision
}

impl Predictor for Embedding {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        match &self.form {
            EmbeddingForm::Implicit { inputs, .. } => inputs.ncols(),
            EmbeddingForm::Explicit { columns, .. } => *columns,
        }
    }

    fn state(&self) -> State {
        let state = State::new().with("task", self.task).with_array("weights", &self.weights);
        match &self.form {
            EmbeddingForm::Implicit { kernel, inputs } => {
                state.with("kernel", kernel).with_array("inputs", inputs)
            }
            EmbeddingForm::Explicit { map, columns } => {
                state.with("columns", columns).with_part("map", map.state())
            }
        }
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        const BLOCK: usize = 512; // rows whose kernel values are held at once
        let mut decision = Array2::zeros((inputs.nrows(), self.weights.ncols()));
        let blocks = inputs.axis_chunks_iter(Axis(0), BLOCK);
        for (rows, to) in blocks.zip(decision.axis_chunks_iter_mut(Axis(0), BLOCK)) {
            let seen = match &self.form {
                EmbeddingForm::Implicit { kernel, inputs } => {
                    kernel.cross_gram(rows, inputs.view())
                }
                EmbeddingForm::Explicit { map, .. } => map.features(rows),
            };
            product(1.0, seen.view(), self.weights.view(), 0.0, to);
        }
        decision
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        Some(clip_normalised(self.decision(inputs)))
    }

    fn embedded_entropy(&self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        Some(embedded(self.decision(inputs).view()))
    }

    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        Some(self)
    }
}

impl FittedKernel for Embedding {
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        self.kernel().gram(inputs)
    }

    fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
        self.kernel().diagonal(inputs).mean()
    }
}

/// What the state of a fitted embedding stands for.
pub(super) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let task: Task = state.value("task")?;
    let (form, width) = if state.holds::<f64>("inputs") {
        let kernel: Covariance = state.value("kernel")?;
        let inputs = state.array::<f64, Ix2>("inputs")?;
        kernel.check(inputs.ncols()).map_err(|error| setting(&error))?;
        let rows = inputs.nrows();
        (EmbeddingForm::Implicit { kernel, inputs }, rows)
    } else {
        let columns: usize = state.value("columns")?;
        let map = ExplicitMap::restore(state.part("map")?, columns)?;
        let width = map.width();
        (EmbeddingForm::Explicit { map, columns }, width)
    };
    let weights = state.array_of::<f64, Ix2>("weights", (width, task.outputs()))?;
    Ok(Box::new(Embedding { task, form, weights }))
}
