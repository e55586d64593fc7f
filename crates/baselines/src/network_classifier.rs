//! A network with a softmax layer on its features, trained by cross-entropy. A conditional embedding network is
//! compared with it, from the same start.

mod training;

use mercer_learning::{
    Allowed, Convergence, Fitted, Fitting, LearningError, Loss, Moment, Outcome, Parameters,
    Predictor, Sample, State, Task,
};
use mercer_linalg::Real;
use mercer_networks::{
    Architecture, ConvolutionalParams, Dropout, FullyConnectedParams, Initialisation, Last,
    Network, NetworkError,
};
use mercer_solvers::{Memory, Optimiser};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix1, Ix2};
use std::collections::BTreeMap;
use training::Training;

mercer_learning::parameters! {
    /// Settings of [`crate::SoftmaxNetwork`].
    ///
    /// ```
    /// use mercer_baselines::{SoftmaxNetwork, SoftmaxNetworkParams};
    /// let refused = SoftmaxNetwork::new(SoftmaxNetworkParams { dropout: 1.0, ..Default::default() });
    /// assert_eq!(
    ///     refused.unwrap_err().to_string(),
    ///     "setting `dropout` is 1; it must be at least 0 and below 1"
    /// );
    /// ```
    pub struct SoftmaxNetworkParams {
        /// Widths of the dense layers below the features; none for two convolutions with pooling (32
        /// and 64 channels) on the smallest square image that holds a row and can be halved twice.
        pub hidden: Option<Vec<usize>> = Some(vec![96]);
        /// Units of the last hidden layer.
        pub features: usize = 32, Allowed::COUNT;
        /// Where the layers start, the softmax layer included.
        pub start: Initialisation = Initialisation::default() =>
            "{\"kind\": \"truncated\", \"std\": 0.1, \"bias\": 0.1}, {\"kind\": \"fan-in\"} or {\"kind\": \"glorot\"}";
        /// How parameters are moved.
        pub optimiser: Optimiser = Optimiser::Adam;
        /// Learning rate.
        pub rate: f64 = 0.01, Allowed::POSITIVE;
        /// Passes over the training rows.
        pub epochs: f64 = 200.0, Allowed::POSITIVE;
        /// Rows of a step, consecutive in a fresh permutation each epoch; all rows if not set.
        pub batch: Option<usize> = None, Allowed::COUNT;
        /// Share of the features that a step drops.
        pub dropout: f64 = 0.0, Allowed::BELOW_ONE;
    }
}

/// A network with a softmax layer, trained by cross-entropy.
///
/// ```
/// use mercer_baselines::{SoftmaxNetwork, SoftmaxNetworkParams};
/// use mercer_learning::{Fitting, Learner, Sample};
/// use ndarray::array;
/// let x = array![[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]];
/// let sample = Sample::classification(x, vec![0, 0, 1, 1], 2)?;
/// let network = SoftmaxNetwork::new(SoftmaxNetworkParams::default())?;
/// let fitted = network.fit(&sample, &mut Fitting::seeded(1))?;
/// assert_eq!(fitted.facts["training-accuracy"], 1.0);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SoftmaxNetwork {
    params: SoftmaxNetworkParams,
    dropout: Dropout,
}

fn refused(name: &'static str, value: String, must: &'static str) -> LearningError {
    LearningError::Setting { name, value, must }
}

fn unusable(error: &NetworkError) -> LearningError {
    refused("hidden", error.to_string(), "a network that can be built")
}

impl SoftmaxNetwork {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn new(params: SoftmaxNetworkParams) -> Result<Self, LearningError> {
        params.in_range()?;
        let dropout = Dropout::new(params.dropout).map_err(|error| unusable(&error))?;
        let rng = &mut rand::rngs::mock::StepRng::new(1, 1);
        // The start is checked without drawing from it.
        let start = match params.start {
            Initialisation::Truncated { std, bias } if std > 0.0 && std.is_finite() => {
                Initialisation::Truncated { std: 0.0, bias }
            }
            Initialisation::Truncated { .. } => params.start,
            Initialisation::FanIn | Initialisation::Glorot => {
                Initialisation::Truncated { std: 0.0, bias: 0.0 }
            }
        };
        architecture(&params, 1).draw::<f32>(&start, 1, rng).map_err(|error| unusable(&error))?;
        Ok(Self { params, dropout })
    }
}

fn architecture(params: &SoftmaxNetworkParams, columns: usize) -> Architecture {
    let features = params.features;
    if let Some(hidden) = &params.hidden {
        Architecture::FullyConnected(FullyConnectedParams {
            inputs: columns,
            widths: hidden.iter().copied().chain([features]).collect(),
            last: Last::Rectified,
        })
    } else {
        let sizes = ConvolutionalParams::for_columns(columns, 2);
        Architecture::Convolutional(ConvolutionalParams { features, ..sizes })
    }
}

/// The softmax layer: weights (features by classes, row-major), then biases.
struct Head {
    parameters: Vec<f32>,
    gradient: Vec<f32>,
    features: usize,
    classes: usize,
}

impl Head {
    fn weights(&self) -> ArrayView2<'_, f32> {
        let all = &self.parameters[..self.features * self.classes];
        ArrayView2::from_shape((self.features, self.classes), all).expect("the layer's own size")
    }

    fn scores(&self, z: ArrayView2<'_, f32>) -> Array2<f32> {
        z.dot(&self.weights())
            + ArrayView2::from_shape((1, self.classes), self.biases()).expect("a row")
    }

    fn biases(&self) -> &[f32] {
        &self.parameters[self.features * self.classes..]
    }

    /// Mean loss of a batch; its gradient goes into the layer, and the gradient of the features is returned.
    fn learn(&mut self, z: ArrayView2<'_, f32>, labels: &[u32]) -> (f64, Array2<f32>) {
        let mut g = self.scores(z);
        let share = 1.0 / labels.len() as f32;
        let mut loss = 0.0;
        for (mut row, &label) in g.rows_mut().into_iter().zip(labels) {
            let row = row.as_slice_mut().expect("a matrix of our own");
            loss += Loss::CrossEntropy.of_class(row, label as usize).wide();
        }
        g *= share;
        let (weights, biases) = self.gradient.split_at_mut(self.features * self.classes);
        let product = z.t().dot(&g);
        weights.iter_mut().zip(&product).for_each(|(to, from)| *to = *from);
        biases.iter_mut().zip(g.columns()).for_each(|(to, column)| *to = column.sum());
        (loss / labels.len() as f64, g.dot(&self.weights().t()))
    }
}

impl SoftmaxNetwork {
    /// A layer that starts like those below it.
    fn head(&self, classes: usize, fitting: &Fitting<'_>) -> Result<Head, LearningError> {
        let features = self.params.features;
        let layer =
            FullyConnectedParams { inputs: features, widths: vec![classes], last: Last::Linear };
        let drawn = layer
            .draw::<f32>(&self.params.start, 1, &mut fitting.streams.rng("head"))
            .map_err(|error| unusable(&error))?;
        let parameters = drawn.parameters().to_vec();
        Ok(Head { gradient: vec![0.0; parameters.len()], parameters, features, classes })
    }

    /// The training of `n` rows before its first step.
    fn training(
        &self,
        architecture: &Architecture,
        n: usize,
        classes: usize,
        fitting: &Fitting<'_>,
    ) -> Result<Training, LearningError> {
        let params = &self.params;
        // The stream from which a conditional embedding network draws its own start.
        let mut rng = fitting.streams.rng("network");
        let net = architecture
            .draw::<f32>(&params.start, fitting.threads, &mut rng)
            .map_err(|error| unusable(&error))?;
        let head = self.head(classes, fitting)?;
        let memory = |size| Memory::<f32>::new(params.optimiser, size);
        Ok(Training {
            below: memory(net.parameters().len()),
            above: memory(head.parameters.len()),
            net,
            head,
            masks: fitting.streams.rng("masks"),
            order: fitting.streams.rng("batches"),
            rows: (0..n).collect(),
            next: n,
        })
    }

    /// Moves all parameters by the gradient of the next batch, and returns the mean loss before.
    fn advance(
        &self,
        training: &mut Training,
        x: &Array2<f32>,
        labels: &[u32],
        batch: usize,
        step: usize,
    ) -> Result<f64, LearningError> {
        let now = training.batch(batch);
        let (x_now, labels_now): (Array2<f32>, Vec<u32>) =
            (x.select(Axis(0), now), now.iter().map(|&i| labels[i]).collect());
        let Training { net, head, below, above, masks, .. } = training;
        let mut z = net.forward(x_now.view()).to_owned();
        let mask: Array2<f32> = self.dropout.mask(z.dim(), masks);
        z *= &mask;
        let (loss, g) = head.learn(z.view(), &labels_now);
        if !loss.is_finite() {
            return Err(LearningError::diverged(step, loss, &[("rate", self.params.rate)]));
        }
        net.backward(x_now.view(), (g * &mask).view());
        let now = self.params.optimiser.step::<f32>(self.params.rate, step);
        let (parameters, gradient) = net.update();
        now.update(parameters, gradient, below.all());
        now.update(&mut head.parameters, &head.gradient, above.all());
        Ok(loss)
    }
}

impl mercer_learning::Learner for SoftmaxNetwork {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        let params = &self.params;
        let task = sample.task();
        let Some(labels) = sample.labels() else {
            let method = "softmax network".to_owned();
            return Err(LearningError::Task { method, task: task.name() });
        };
        sample.require_two_classes()?;
        let (n, classes) = (sample.rows(), task.outputs());
        let batch = params.batch.unwrap_or(n);
        if batch > n {
            let must = "at most the number of training rows";
            return Err(refused("batch", format!("{batch} for {n} training rows"), must));
        }
        let architecture = architecture(params, sample.features());
        let width = architecture.inputs() + 4 * params.features + classes;
        fitting.limits.reserve(4 * (n * width) as u64)?;
        let x: Array2<f32> = architecture.rows(sample.inputs());
        let mut training = self.training(&architecture, n, classes, fitting)?;
        let steps = ((params.epochs * n as f64 / batch as f64).round() as usize).max(1);
        let done = training.go_on(fitting.kept().as_ref(), steps, params.optimiser);
        let mut loss = f64::NAN;
        for step in done + 1..=steps {
            fitting.between_steps(|| training.standing(step - 1))?;
            loss = self.advance(&mut training, &x, labels, batch, step)?;
            let looked = fitting
                .probe
                .as_ref()
                .is_some_and(|probe| step % probe.interval() == 0 || step == steps);
            if looked {
                let numbers = BTreeMap::from([("loss".to_owned(), loss)]);
                let predictor = predictor(sample, &architecture, &training, fitting.threads)?;
                let at = Moment { step, epoch: (step * batch) as f64 / n as f64 };
                if let Some(probe) = &mut fitting.probe {
                    probe.observe(at, &predictor, &numbers)?;
                }
            }
        }
        fitting.at_end(|| training.standing(steps));
        let predictor = predictor(sample, &architecture, &training, fitting.threads)?;
        let scores = predictor.scores(x.view());
        let right = scores.rows().into_iter().zip(labels);
        let right = right
            .filter(|(row, label)| mercer_learning::argmax(row.mapv(Real::wide).view()) == **label);
        let share = right.count() as f64 / n as f64;
        let facts =
            BTreeMap::from([("loss".to_owned(), loss), ("training-accuracy".to_owned(), share)]);
        let convergence = Convergence::FixedSteps { steps };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }
}

fn predictor(
    sample: &Sample,
    architecture: &Architecture,
    training: &Training,
    threads: usize,
) -> Result<NetworkPredictor, LearningError> {
    let own = architecture
        .with_parameters(training.net.parameters(), threads)
        .map_err(|error| unusable(&error))?;
    let Head { features: width, classes, ref parameters, .. } = training.head;
    let head =
        Head { parameters: parameters.clone(), gradient: Vec::new(), features: width, classes };
    Ok(NetworkPredictor {
        task: sample.task(),
        features: sample.features(),
        architecture: architecture.clone(),
        net: own,
        head,
        threads,
    })
}

struct NetworkPredictor {
    task: Task,
    features: usize,
    architecture: Architecture,
    net: Box<dyn Network<f32>>,
    head: Head,
    threads: usize,
}

impl NetworkPredictor {
    fn scores(&self, x: ArrayView2<'_, f32>) -> Array2<f32> {
        self.head.scores(self.net.apply(x, self.threads).view())
    }
}

impl Predictor for NetworkPredictor {
    fn task(&self) -> Task {
        self.task
    }

    fn features(&self) -> usize {
        self.features
    }

    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
        const BLOCK: usize = 4096; // rows whose features are held at once
        let mut scores = Array2::zeros((inputs.nrows(), self.head.classes));
        for (rows, mut to) in
            inputs.axis_chunks_iter(Axis(0), BLOCK).zip(scores.axis_chunks_iter_mut(Axis(0), BLOCK))
        {
            to.assign(&self.scores(self.architecture.rows(rows).view()).mapv(Real::wide));
        }
        scores
    }

    fn probabilities(&self, inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        let mut p = self.decision(inputs);
        for mut row in p.rows_mut() {
            let largest = row.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            row.mapv_inplace(|score| (score - largest).exp());
            let total = row.sum();
            row /= total;
        }
        Some(p)
    }

    fn state(&self) -> State {
        State::new()
            .with("task", self.task)
            .with("features", self.features)
            .with("architecture", &self.architecture)
            .with_array("parameters", &Array1::from(self.net.parameters().to_vec()))
            .with_array("weights", &self.head.weights())
            .with_array("biases", &Array1::from(self.head.biases().to_vec()))
    }
}

pub(crate) fn restore(state: &State) -> Result<Box<dyn Predictor>, LearningError> {
    let (task, features): (Task, usize) = (state.value("task")?, state.value("features")?);
    let architecture: Architecture = state.value("architecture")?;
    let refuse = |problem: String| LearningError::State { name: "parameters".to_owned(), problem };
    if features > architecture.inputs() {
        return Err(refuse("of a network with fewer inputs than the model has columns".to_owned()));
    }
    let parameters = state.array::<f32, Ix1>("parameters")?.to_vec();
    let net =
        architecture.with_parameters(&parameters, 1).map_err(|error| refuse(error.to_string()))?;
    let (width, classes) = (net.outputs(), task.outputs());
    let weights = state.array_of::<f32, Ix2>("weights", (width, classes))?;
    let biases = state.array_of::<f32, Ix1>("biases", classes)?;
    let parameters = weights.iter().chain(&biases).copied().collect();
    let head = Head { parameters, gradient: Vec::new(), features: width, classes };
    Ok(Box::new(NetworkPredictor { task, features, architecture, net, head, threads: 1 }))
}
