//! What the members of a team of threads share.

use super::look::SeenRows;
use super::{Model, Plan, Scalar, Spectral, TrainingRows};
use mercer_learning::{Fitting, LearningError, Loss, RowChunks, Sample, Streams, Targets};
use ndarray::{Array1, Array2};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, RwLock};

/// A panic in a member ends the team before anybody can meet a poisoned lock.
pub(super) const UNPOISONED: &str = "no member has panicked";

/// What a member tells the others before the first barrier of a step.
pub(super) struct Message<F> {
    /// This member's part of `Wᵀ φ`, `b × K`.
    pub scores: Array2<F>,
    /// Its part of `‖φ(batch)‖_F²`, where a penalty asks for it.
    pub feature_norm_squared: f64,
    /// Its part of `‖W‖_F²`, where a penalty asks for it.
    pub read_out_norm_squared: f64,
    /// Whether the leader was asked to stop.
    pub stop: bool,
}

/// What the members of a team share.
pub(super) struct Shared<'a, F> {
    pub plan: &'a Plan,
    /// The rows at hand.
    pub window: RwLock<Window<F>>,
    /// All rows.
    pub rows: usize,
    /// What they count as: their number, or the sum of their weights.
    pub total: f64,
    /// Chunks that they come in.
    pub windows: usize,
    /// Inputs of the plan's trace, where they are not the training inputs. One row a point.
    pub trace_inputs: Option<Array2<F>>,
    /// Their weights, if they have some.
    pub trace_weights: Option<Vec<F>>,
    pub streams: Streams,
    /// Whether the features of training rows are kept.
    pub keeps_features: bool,
    /// What was looked at then.
    pub seen: SeenRows<F>,
    /// Steps of the whole run.
    pub steps: usize,
    /// Steps between two looks.
    pub interval: Option<usize>,
    /// Messages of even and odd steps, which use different ones. A member may be writing the next step's while another
    /// still reads this one's.
    pub messages: [Vec<RwLock<Message<F>>>; 2],
    /// Each member's part of `Wᵀ W`, `K × K`.
    pub grams: Vec<RwLock<Array2<F>>>,
    /// Each member's part of `‖φ(X)‖_F²` of the trace's inputs.
    pub trace_norms: Vec<RwLock<f64>>,
    /// The whole model, brought up to date when somebody looks.
    pub whole: RwLock<Spectral<F>>,
    /// Whether `failure` ends the run; members look after a barrier.
    pub stop: AtomicBool,
    /// Thresholds that took a full singular value decomposition.
    pub decompositions: AtomicUsize,
    /// Why the run ends early.
    pub failure: Mutex<Option<LearningError>>,
}

impl<'a, F: Scalar> Shared<'a, F> {
    /// For so many members that are to train the model.
    pub fn new(
        plan: &'a Plan,
        model: Model<F>,
        feed: &TrainingRows<'_>,
        fitting: &Fitting<'_>,
        members: usize,
    ) -> Self {
        let k = model.outputs();
        let message = || Message {
            scores: Array2::zeros((plan.batch, k)),
            feature_norm_squared: 0.0,
            read_out_norm_squared: 0.0,
            stop: false,
        };
        let messages = || (0..members).map(|_| RwLock::new(message())).collect();
        let given = plan.trace.as_ref().and_then(|trace| trace.inputs.as_ref());
        Self {
            plan,
            window: RwLock::new(Window::of(feed.first)),
            rows: feed.rows(),
            total: feed.total(),
            windows: feed.windows(),
            trace_inputs: given.map(|inputs| inputs.mapv(F::of)),
            trace_weights: plan.trace.as_ref().and_then(|trace| {
                trace.weights.as_ref().map(|weights| weights.iter().map(|&w| F::of(w)).collect())
            }),
            streams: fitting.streams.clone(),
            keeps_features: false,
            seen: SeenRows::default(),
            steps: plan.steps(feed),
            interval: fitting.probe.as_ref().map(|probe| probe.interval().max(1)),
            messages: [messages(), messages()],
            grams: (0..members).map(|_| RwLock::new(Array2::zeros((k, k)))).collect(),
            trace_norms: (0..members).map(|_| RwLock::new(0.0)).collect(),
            whole: RwLock::new(Spectral {
                model,
                task: feed.first.task(),
                softmax: plan.loss == Loss::CrossEntropy,
            }),
            stop: AtomicBool::new(false),
            decompositions: AtomicUsize::new(0),
            failure: Mutex::new(None),
        }
    }
}

impl<F> Shared<'_, F> {
    /// Returns the mean weight of all rows; 1 where they have none.
    pub fn mean_weight(&self) -> f64 {
        self.total / self.rows as f64
    }
}

/// Training rows that are held.
pub(super) struct Window<F> {
    pub inputs: Array2<F>,
    pub targets: Targets,
    /// Weights, if the rows have some.
    pub weights: Option<Vec<F>>,
}

impl<F: Scalar> Window<F> {
    pub fn of(sample: &Sample) -> Self {
        let weights = sample.weights();
        Self {
            inputs: sample.inputs().mapv(F::of),
            targets: sample.targets().clone(),
            weights: weights.map(|weights| weights.iter().map(|&w| F::of(w)).collect()),
        }
    }
}

/// What only the leader has: the fit's surroundings, and where further rows come from.
pub(super) struct Watch<'a, 'b, 'c> {
    pub fitting: &'a mut Fitting<'b>,
    pub more: Option<&'c mut dyn RowChunks>,
    /// Training rows on which norms are reported.
    pub rows: Array2<f64>,
    /// Their weights, if they have some.
    pub weights: Option<Array1<f64>>,
}
