use crate::mce::clip_normalised;
use crate::mce::embedding::embedded;
use crate::mce::objective::{failed, one_hot, share_right};
use crate::mce::{Implicit, Objective};
use mercer_kernels::Covariance;
use mercer_learning::{Element, LearningError, Predictor, State, Task};
use mercer_linalg::{Cholesky, JITTER_LADDER, Real, product};
use mercer_networks::{Architecture, Network};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2, s};

/// Rows whose features are held at once.
const BLOCK: usize = 4096;

/// A network's features, read out by an embedding.
pub(super) struct CenPredictor<F> {
    pub task: Task,
    pub features: usize,
    pub architecture: Architecture,
    pub net: Box<dyn Network<F>>,
    /// `W` (`p × K`), or `V` (`n × K`) with a kernel.
    pub weights: Array2<f64>,
    /// The kernel of the features with the training rows' features, `n × p`.
    pub kernel: Option<(Covariance, Array2<f64>)>,
    pub threads: usize,
    /// Share of the training rows that are predicted right.
    pub accuracy: f64,
    /// What the last factorisation needed.
    pub jitter: f64,
    /// What Theorem 4 asks for.
    pub bounded: Bounded,
}

/// The quantities of the risk bound, for the output weights of all training rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounded {
    /// The largest `√k(x_i, x_i)`.
    pub alpha: f64,
    /// `‖W‖`.
    pub norm: f64,
    /// The mean of the clipped losses.
    pub loss: f64,
}

/// Output weights from all training rows.
pub(super) struct ReadOut {
    pub weights: Array2<f64>,
    /// The features of the training rows, where a kernel needs them.
    pub points: Option<Array2<f64>>,
    pub accuracy: f64,
    pub jitter: f64,
    pub bounded: Bounded,
}

/// The output weights of the training rows `x`: `(Zᵀ Z + n λ I)⁻¹ Zᵀ Y`, summed block by block, or `(K + n λ I)⁻¹ Y`.
pub(super) fn read_out<F: Real>(
    net: &dyn Network<F>,
    x: &Array2<F>,
    labels: &[u32],
    classes: usize,
    (lambda, kernel): (f64, Option<&Covariance>),
    epsilon: f64,
    threads: usize,
) -> Result<ReadOut, LearningError> {
    let (n, p) = (x.nrows(), net.outputs());
    let mean = Objective { epsilon, ..Objective::default() };
    let of = |rows: ArrayView2<'_, F>| net.apply(rows, threads).mapv(Real::wide);
    if let Some(kernel) = kernel {
        let z = of(x.view());
        let embedding = Implicit::new(kernel, z.view(), labels, classes, lambda)?;
        let probabilities = embedding.probabilities();
        let accuracy = share_right(probabilities.view(), labels);
        let loss = mean.loss(probabilities.view(), labels).0;
        let (weights, jitter) = (embedding.weights().to_owned(), embedding.jitter());
        let bounded = Bounded { alpha: embedding.alpha(), norm: embedding.norm(), loss };
        return Ok(ReadOut { weights, points: Some(z), accuracy, jitter, bounded });
    }
    let (mut normal, mut seen) = (Array2::zeros((p, p)), Array2::zeros((p, classes)));
    let blocks = || (0..n).step_by(BLOCK).map(|start| start..(start + BLOCK).min(n));
    let (mut kept, mut longest) = (None, 0.0_f64);
    for rows in blocks() {
        let z = of(x.slice(s![rows.clone(), ..]));
        product(1.0, z.t(), z.view(), 1.0, normal.view_mut());
        let y = one_hot(&labels[rows], classes);
        product(1.0, z.t(), y.view(), 1.0, seen.view_mut());
        longest = z.rows().into_iter().map(|z| z.dot(&z)).fold(longest, f64::max);
        kept = Some(z);
    }
    normal.diag_mut().mapv_inplace(|entry| entry + n as f64 * lambda);
    let (factor, jitter) = Cholesky::with_jitter(normal, &JITTER_LADDER)
        .map_err(|error| failed("factoring the features' normal matrix", error))?;
    let weights = factor.solve(&seen).map_err(|error| failed("solving for the weights", error))?;
    let (mut right, mut loss) = (0.0, 0.0);
    for rows in blocks() {
        let z = match &kept {
            Some(z) if n <= BLOCK => z.view().to_owned(),
            _ => of(x.slice(s![rows.clone(), ..])),
        };
        let (p, truth, many) = (z.dot(&weights), &labels[rows.clone()], rows.len() as f64);
        right += share_right(p.view(), truth) * many;
        loss += mean.loss(p.view(), truth).0 * many;
    }
    let norm = weights.mapv(|w| w * w).sum().sqrt();
    let bounded = Bounded { alpha: longest.sqrt(), norm, loss: loss / n as f64 };
    Ok(ReadOut { weights, points: None, accuracy: right / n as f64, jitter, bounded })
}

impl<F: Real + Element> Predictor for CenPredictor<F> {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut scores = Array2::zeros((inputs.nrows(), self.weights.ncols()));
        for (rows, mut to) in
            inputs.axis_chunks_iter(Axis(0), BLOCK).zip(scores.axis_chunks_iter_mut(Axis(0), BLOCK))
        {
            let x: Array2<F> = self.architecture.rows(rows);
            let z = self.net.apply(x.view(), self.threads).mapv(Real::wide);
            match &self.kernel {
                None => product(1.0, z.view(), self.weights.view(), 0.0, to),
                Some((kernel, points)) => {
                    to.assign(&kernel.cross_gram(z.view(), points.view()).dot(&self.weights));
                }
            }
        }
        scores
    }

    /// Clip-normalised, `max(f, 0)/Σ max(f, 0)`; equal where all are clipped.
    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        Some(clip_normalised(self.decision(inputs)))
    }

    fn embedded_entropy(&self, inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        Some(embedded(self.decision(inputs).view()))
    }

    fn state(&self) -> State {
        let parameters = Array1::from(self.net.parameters().to_vec());
        let state = State::new()
            .with("task", self.task)
            .with("features", self.features)
            .with("architecture", &self.architecture)
            .with("single", size_of::<F>() == 4)
            .with_array("parameters", &parameters)
            .with_array("weights", &self.weights);
        match &self.kernel {
            None => state,
            Some((kernel, points)) => state.with("kernel", kernel).with_array("points", points),
        }
    }
}

/// The predictor that [`CenPredictor::state`] describes.
pub(super) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    if state.value("single")? { restore_in::<f32>(state) } else { restore_in::<f64>(state) }
}

fn restore_in<F: Real + Element>(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let (task, features): (Task, usize) = (state.value("task")?, state.value("features")?);
    let architecture: Architecture = state.value("architecture")?;
    let refuse =
        |name: &str, problem: String| LearningError::State { name: name.to_owned(), problem };
    if features > architecture.inputs() {
        let problem = "has fewer inputs than the model has columns".to_owned();
        return Err(refuse("architecture", problem));
    }
    let parameters = state.array::<F, Ix1>("parameters")?.to_vec();
    let net = architecture
        .with_parameters(&parameters, 1)
        .map_err(|error| refuse("parameters", error.to_string()))?;
    let (p, outputs) = (net.outputs(), task.outputs());
    let (kernel, height) = if state.holds::<f64>("points") {
        let kernel: Covariance = state.value("kernel")?;
        kernel.check(p).map_err(|error| refuse("kernel", error.to_string()))?;
        let points = state.array::<f64, Ix2>("points")?;
        if points.ncols() != p {
            return Err(refuse("points", format!("have {} columns, not {p}", points.ncols())));
        }
        let rows = points.nrows();
        (Some((kernel, points)), rows)
    } else {
        (None, p)
    };
    let weights = state.array_of::<f64, Ix2>("weights", (height, outputs))?;
    let (threads, accuracy, jitter) = (1, f64::NAN, 0.0);
    let bounded = Bounded { alpha: f64::NAN, norm: f64::NAN, loss: f64::NAN };
    Ok(Box::new(CenPredictor {
        task,
        features,
        architecture,
        net,
        weights,
        kernel,
        threads,
        accuracy,
        jitter,
        bounded,
    }))
}
