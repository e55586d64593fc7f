use super::block::Block;
use super::plan::{DIVERGED, Sampling};
use super::{Feed, Model, Plan, Scalar, Spectral, Turn};
use mercer_learning::{Fitting, LearningError, Moment, Sample, Targets, Windows};
use mercer_linalg::{Member, team};
use mercer_solvers::{Shrinkage, Threshold};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use rand::Rng;
use rand::seq::SliceRandom;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};

/// Training rows on which the mean squared norm of the features is reported.
const NORM_ROWS: usize = 1000;

/// What a training run leaves.
pub(crate) struct Trained<F> {
    pub predictor: Spectral<F>,
    pub steps: usize,
    /// Loss, penalties and norms at the end; the loss is the mean over the last pass.
    pub numbers: BTreeMap<String, f64>,
}

/// What a member tells the others before the first barrier of a step.
struct Message<F> {
    /// This member's part of `Wᵀ φ`, `b × K`.
    scores: Array2<F>,
    feature_norm_squared: f64,
    read_out_norm_squared: f64,
    /// The leader was told to stop.
    stop: bool,
}

/// What the members of a team share.
struct Shared<'a, F> {
    plan: &'a Plan,
    /// The rows at hand.
    window: RwLock<Window<F>>,
    /// All rows, and the windows that they come in.
    rows: usize,
    windows: usize,
    /// Inputs of the plan's trace, where they are not the training inputs.
    trace_inputs: Option<Array2<F>>,
    streams: &'a mercer_learning::Streams,
    steps: usize,
    /// Steps between two looks.
    interval: Option<usize>,
    /// Even and odd steps use different messages: a member may be writing the next step's while
    /// another still reads this one's.
    messages: [Vec<RwLock<Message<F>>>; 2],
    grams: Vec<RwLock<Array2<F>>>,
    /// Each member's part of `‖φ(X)‖_F²` of the trace's inputs.
    trace_norms: Vec<RwLock<f64>>,
    /// The whole model, brought up to date when somebody looks.
    whole: RwLock<Spectral<F>>,
    stop: AtomicBool,
    decompositions: AtomicUsize,
    failure: Mutex<Option<LearningError>>,
}

/// Training rows that are held.
struct Window<F> {
    inputs: Array2<F>,
    targets: Targets,
}

impl<F: Scalar> Window<F> {
    fn of(sample: &Sample) -> Self {
        Self { inputs: sample.inputs().mapv(F::of), targets: sample.targets().clone() }
    }
}

/// What only the leader has: the fit's surroundings, and where further rows come from.
struct Watch<'a, 'b, 'c> {
    fitting: &'a mut Fitting<'b>,
    more: Option<&'c mut dyn Windows>,
    /// Training rows on which norms are reported.
    rows: Array2<f64>,
}

/// Trains the model by mini-batches, with `fitting.threads` members that each own a block of
/// features. The order of the sums, hence the last digits, depends on their number.
pub(crate) fn train<F: Scalar>(
    plan: &Plan,
    model: Model<F>,
    feed: Feed<'_>,
    fitting: &mut Fitting<'_>,
) -> Result<Trained<F>, LearningError> {
    let (sample, big_d) = (feed.first, model.features());
    let n = sample.rows();
    let members = fitting.threads.clamp(1, big_d);
    fitting.limits.reserve(bytes::<F>(plan, &model, n))?;
    let streams = fitting.streams.clone();
    let rows = sample.inputs().slice(s![..n.min(NORM_ROWS), ..]).to_owned();
    let message = || {
        RwLock::new(Message {
            scores: Array2::zeros((plan.batch, model.outputs())),
            feature_norm_squared: 0.0,
            read_out_norm_squared: 0.0,
            stop: false,
        })
    };
    let messages = || (0..members).map(|_| message()).collect();
    let k = model.outputs();
    let shared = Shared {
        plan,
        window: RwLock::new(Window::of(sample)),
        rows: feed.rows(),
        windows: feed.windows(),
        trace_inputs: plan
            .trace
            .as_ref()
            .and_then(|trace| trace.inputs.as_ref())
            .map(|inputs| inputs.mapv(F::of)),
        streams: &streams,
        steps: plan.steps(&feed),
        interval: fitting.probe.as_ref().map(|probe| probe.interval().max(1)),
        messages: [messages(), messages()],
        grams: (0..members).map(|_| RwLock::new(Array2::zeros((k, k)))).collect(),
        trace_norms: (0..members).map(|_| RwLock::new(0.0)).collect(),
        whole: RwLock::new(Spectral {
            model,
            task: sample.task(),
            softmax: plan.loss == mercer_learning::Loss::CrossEntropy,
        }),
        stop: AtomicBool::new(false),
        decompositions: AtomicUsize::new(0),
        failure: Mutex::new(None),
    };
    let watch = Watch { fitting, more: feed.more, rows };
    let numbers = team(
        members,
        |member| Worker::new(&shared, member).run(Some(watch)),
        // A follower ends as the leader does, for the same reason.
        |member| drop(Worker::new(&shared, member).run(None)),
    )?;
    let steps = shared.steps;
    let predictor = shared.whole.into_inner().expect(UNPOISONED);
    Ok(Trained { predictor, steps, numbers })
}

/// A panic in a member ends the team before anybody can meet a poisoned lock.
const UNPOISONED: &str = "no member has panicked";

/// Bytes that training allocates: inputs, parameters, optimiser and batches.
fn bytes<F: Scalar>(plan: &Plan, model: &Model<F>, n: usize) -> u64 {
    let (d, k, width) = (model.inputs(), model.outputs(), model.maps * model.features());
    let (first, second) = plan.optimiser.memory_per_parameter();
    let trace = usize::from(plan.trace.is_some());
    let copies = 2 + if plan.learn_frequencies { first + second + trace } else { 0 };
    let given = plan.trace.as_ref().and_then(|trace| trace.inputs.as_ref());
    let numbers = n * d
        + d * width * copies
        + model.features() * k * (5 + first + second)
        + plan.batch * (d + 3 * width)
        + given.map_or(0, |inputs| inputs.len());
    (numbers * size_of::<F>()) as u64 + (n * size_of::<usize>()) as u64
}

/// One member at work.
struct Worker<'a, F> {
    shared: &'a Shared<'a, F>,
    member: &'a Member<'a>,
    block: Block<F>,
    offset: Array1<F>,
    offset_memory: mercer_solvers::Memory<F>,
    /// Gradient of the batch's mean loss with respect to the scores, `b × K`.
    scores: Array2<F>,
    batch: Array2<F>,
    shrinkage: Shrinkage,
    gram: Vec<f64>,
    removed: Array2<F>,
    /// A loss above this means divergence.
    ceiling: f64,
    /// Steps in which the plan's trace took part.
    penalised: usize,
}

impl<'a, F: Scalar> Worker<'a, F> {
    fn new(shared: &'a Shared<'a, F>, member: &'a Member<'a>) -> Self {
        let whole = shared.whole.read().expect(UNPOISONED);
        let (model, plan) = (&whole.model, shared.plan);
        let k = model.outputs();
        Self {
            shared,
            member,
            block: Block::cut(model, member.share(model.features()), plan),
            offset: model.offset.clone(),
            offset_memory: mercer_solvers::Memory::new(plan.optimiser, k),
            scores: Array2::zeros((plan.batch, k)),
            batch: Array2::zeros((plan.batch, model.inputs())),
            shrinkage: Shrinkage::new(k),
            gram: vec![0.0; k * k],
            removed: Array2::zeros((k, k)),
            ceiling: plan.ceiling,
            penalised: 0,
        }
    }

    /// All steps; returns the numbers of the end, which only the leader's are complete.
    fn run(
        mut self,
        mut watch: Option<Watch<'_, '_, '_>>,
    ) -> Result<BTreeMap<String, f64>, LearningError> {
        // Members start to overwrite the shared model only when all have taken their block.
        self.member.barrier();
        let shared = self.shared;
        let mut rng = shared.streams.rng("shuffle");
        let replacement = shared.plan.sampling == Sampling::Replacement;
        let mut n = self.held();
        let batch = shared.plan.batch.min(n);
        // Rows drawn from a window: with replacement, whole batches.
        let drawn = |n: usize| if replacement { n.div_ceil(batch) * batch } else { n };
        let mut order: Vec<usize> = (0..drawn(n)).collect();
        let (mut cursor, mut window) = (order.len(), shared.windows);
        let (mut seen, mut of_pass) = (0, 0);
        let (mut since_look, mut this_pass, mut last_pass) =
            (Mean::default(), Mean::default(), Mean::default());
        for step in 1..=shared.steps {
            if cursor == order.len() {
                // The first window is there; after it, the next one of this pass or the next.
                if step > 1 && shared.windows > 1 {
                    self.exchange(watch.as_mut())?;
                    n = self.held();
                    order = (0..drawn(n)).collect();
                }
                if window == shared.windows {
                    last_pass = std::mem::take(&mut this_pass);
                    (window, of_pass) = (0, 0);
                }
                window += 1;
                if replacement {
                    order.fill_with(|| rng.gen_range(0..n));
                } else {
                    order.shuffle(&mut rng);
                }
                cursor = 0;
            }
            let rows = &order[cursor..(cursor + batch).min(order.len())];
            cursor += rows.len();
            seen += rows.len();
            let loss = self.step(Turn { step, of_pass }, rows, watch.as_mut())?;
            of_pass += 1;
            since_look.add(loss, rows.len());
            this_pass.add(loss, rows.len());
            if shared.interval.is_some_and(|interval| step % interval == 0) {
                let at = Moment { step, epoch: seen as f64 / shared.rows as f64 };
                let loss = std::mem::take(&mut since_look).value();
                self.look(loss, at, watch.as_mut())?;
            }
        }
        self.bring_together();
        let ended = cursor == order.len() && window == shared.windows;
        let loss = if ended || last_pass.rows == 0 { this_pass } else { last_pass };
        Ok(watch.map_or_else(BTreeMap::new, |watch| {
            let whole = shared.whole.read().expect(UNPOISONED);
            let mut numbers =
                numbers(shared.plan, &whole.model, loss.value(), watch.rows.view(), shared.rows);
            let decompositions = shared.decompositions.load(Ordering::Relaxed);
            numbers.insert("full-decompositions".to_owned(), decompositions as f64);
            if shared.plan.trace.is_some() {
                numbers.insert("penalised-steps".to_owned(), self.penalised as f64);
            }
            numbers
        }))
    }

    /// Rows at hand.
    fn held(&self) -> usize {
        self.shared.window.read().expect(UNPOISONED).inputs.nrows()
    }

    /// Puts the next window in the place of this one, when no member looks at it any more.
    fn exchange(&self, watch: Option<&mut Watch<'_, '_, '_>>) -> Result<(), LearningError> {
        self.member.barrier();
        if let Some(more) = watch.and_then(|watch| watch.more.as_mut()) {
            match more.next() {
                Ok(sample) => *self.shared.window.write().expect(UNPOISONED) = Window::of(&sample),
                Err(error) => self.fail(error),
            }
        }
        self.member.barrier();
        if self.shared.stop.load(Ordering::Relaxed) { Err(self.failure()) } else { Ok(()) }
    }

    /// One step on the given rows: two barriers with a threshold, one without. Returns the loss.
    fn step(
        &mut self,
        turn: Turn,
        rows: &[usize],
        watch: Option<&mut Watch<'_, '_, '_>>,
    ) -> Result<f64, LearningError> {
        let (shared, b, step) = (self.shared, rows.len(), turn.step);
        let plan = shared.plan;
        let window = shared.window.read().expect(UNPOISONED);
        for (mut to, &row) in self.batch.rows_mut().into_iter().zip(rows) {
            to.assign(&window.inputs.row(row));
        }
        let x = self.batch.slice(s![..b, ..]);

        let messages = &shared.messages[step % 2];
        {
            let mut message = messages[self.member.index()].write().expect(UNPOISONED);
            self.block.forward(x, message.scores.slice_mut(s![..b, ..]));
            if plan.feature_penalty.needs_norm() {
                message.feature_norm_squared = self.block.feature_norm_squared(b);
            }
            if plan.read_out_penalty.needs_norm() {
                message.read_out_norm_squared = self.block.read_out_norm_squared();
            }
            if let Some(Err(error)) = watch.map(|watch| watch.fitting.limits.check()) {
                message.stop = true;
                *shared.failure.lock().expect(UNPOISONED) = Some(error);
            }
        }
        self.member.barrier();

        let mut scores = self.scores.slice_mut(s![..b, ..]);
        scores.assign(&self.offset);
        let (mut feature_norm, mut read_out_norm) = (0.0, 0.0);
        for message in messages {
            let message = message.read().expect(UNPOISONED);
            if message.stop {
                return Err(self.failure());
            }
            scores += &message.scores.slice(s![..b, ..]);
            feature_norm += message.feature_norm_squared;
            read_out_norm += message.read_out_norm_squared;
        }
        let loss = losses(plan, &window.targets, rows, &mut scores);
        if step == 1 && loss.is_finite() {
            self.ceiling = self.ceiling.max(DIVERGED * loss);
        }
        if !loss.is_finite() || loss > self.ceiling {
            return Err(LearningError::Diverged { step, loss });
        }

        let g = self.scores.slice(s![..b, ..]);
        let update = plan.read_out_step::<F>(step);
        if plan.moves_frequencies(step) {
            self.block.backward(g, plan.feature_penalty.factor(feature_norm, b));
        }
        if plan.train_read_out {
            self.block.read_out_gradient(g, plan.read_out_penalty.factor(read_out_norm));
            self.block.update_read_out(&update);
        }
        if plan.bias {
            let gradient = g.sum_axis(Axis(0));
            update.update(
                self.offset.as_slice_mut().expect("contiguous"),
                gradient.as_slice().expect("contiguous"),
                self.offset_memory.all(),
            );
        }
        let threshold = plan.read_out_penalty.threshold(plan.rate);
        if threshold.is_some() {
            let mut gram = shared.grams[self.member.index()].write().expect(UNPOISONED);
            self.block.gram(gram.view_mut());
        }
        if plan.moves_frequencies(step) {
            let trace = plan.trace_in(turn).map(|trace| {
                self.penalised += 1;
                let inputs = shared.trace_inputs.as_ref().unwrap_or(&window.inputs);
                let mut norm = self.block.trace(inputs.view());
                if trace.penalty.needs_norm() {
                    *shared.trace_norms[self.member.index()].write().expect(UNPOISONED) = norm;
                    self.member.barrier();
                    let parts = shared.trace_norms.iter();
                    norm = parts.map(|part| *part.read().expect(UNPOISONED)).sum();
                }
                if shared.trace_inputs.is_some() {
                    return trace.penalty.factor(norm, inputs.nrows());
                }
                // The rows at hand stand for all; exactly 1 if they are all.
                let share = shared.rows as f64 / inputs.nrows() as f64;
                trace.penalty.factor(norm * share, shared.rows) * share
            });
            self.block.update_frequencies(x, &plan.frequency_step(step), trace);
        }
        if let Some(threshold) = threshold {
            self.member.barrier();
            self.shrink(threshold)?;
        }
        Ok(loss)
    }

    /// Thresholds the read-out: every member decomposes the same small Gram matrix and shrinks
    /// its own rows, unless the matrix is too inaccurate.
    fn shrink(&mut self, threshold: Threshold) -> Result<(), LearningError> {
        let shared = self.shared;
        self.gram.fill(0.0);
        for gram in &shared.grams {
            let gram = gram.read().expect(UNPOISONED);
            for (to, from) in self.gram.iter_mut().zip(gram.iter()) {
                *to += from.wide();
            }
        }
        let unit = F::epsilon().wide();
        let rows = shared.whole.read().expect(UNPOISONED).model.features();
        // Shrinking is then as accurate as the read-out is stored.
        if let Some(removed) = self.shrinkage.plan(&self.gram, rows, unit, 4.0 * unit, threshold) {
            for (to, &from) in self.removed.iter_mut().zip(removed) {
                *to = F::of(from);
            }
            self.block.remove(self.removed.view());
            return Ok(());
        }
        self.shrink_together(threshold)
    }

    /// The rare case: the leader thresholds the whole read-out in double precision.
    fn shrink_together(&mut self, threshold: Threshold) -> Result<(), LearningError> {
        let shared = self.shared;
        self.block.paste_read_out(&mut shared.whole.write().expect(UNPOISONED).model);
        self.member.barrier();
        if self.member.leads() {
            let mut whole = shared.whole.write().expect(UNPOISONED);
            match threshold.apply(whole.model.wide_read_out().view()) {
                Ok((read_out, route)) => {
                    whole.model.read_out = read_out.mapv(F::of);
                    if route == mercer_solvers::Route::Svd {
                        shared.decompositions.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Err(error) => self.fail(LearningError::Numerical {
                    operation: "singular value thresholding",
                    reason: error.to_string(),
                }),
            }
        }
        self.member.barrier();
        if shared.stop.load(Ordering::Relaxed) {
            return Err(self.failure());
        }
        self.block.take_read_out(&shared.whole.read().expect(UNPOISONED).model);
        Ok(())
    }

    /// Brings the shared model up to date; afterwards all members may read it.
    fn bring_together(&self) {
        {
            let mut whole = self.shared.whole.write().expect(UNPOISONED);
            self.block.paste(&mut whole.model);
            if self.member.leads() {
                whole.model.offset.assign(&self.offset);
            }
        }
        self.member.barrier();
    }

    /// Lets the probe look at the model.
    fn look(
        &self,
        loss: f64,
        at: Moment,
        watch: Option<&mut Watch<'_, '_, '_>>,
    ) -> Result<(), LearningError> {
        self.bring_together();
        if let Some(watch) = watch {
            let Watch { fitting, rows, .. } = watch;
            let whole = self.shared.whole.read().expect(UNPOISONED);
            let numbers =
                numbers(self.shared.plan, &whole.model, loss, rows.view(), self.shared.rows);
            if let Some(probe) = fitting.probe.as_mut()
                && let Err(error) = probe.observe(at, &*whole, &numbers)
            {
                self.fail(error);
            }
        }
        self.member.barrier();
        if self.shared.stop.load(Ordering::Relaxed) { Err(self.failure()) } else { Ok(()) }
    }

    /// Notes an error that all members will see after the next barrier.
    fn fail(&self, error: LearningError) {
        *self.shared.failure.lock().expect(UNPOISONED) = Some(error);
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// The error that ended the training.
    fn failure(&self) -> LearningError {
        let failure = self.shared.failure.lock().expect(UNPOISONED);
        failure.clone().unwrap_or(LearningError::Interrupted)
    }
}

/// A running mean of losses, weighted by rows.
#[derive(Default)]
struct Mean {
    total: f64,
    rows: usize,
}

impl Mean {
    fn add(&mut self, mean: f64, rows: usize) {
        self.total += mean * rows as f64;
        self.rows += rows;
    }

    fn value(&self) -> f64 {
        self.total / self.rows.max(1) as f64
    }
}

/// The mean loss of the scores of the given rows, which become its gradient.
pub(super) fn losses<F: Scalar>(
    plan: &Plan,
    targets: &Targets,
    rows: &[usize],
    scores: &mut ndarray::ArrayViewMut2<'_, F>,
) -> f64 {
    let mut total = 0.0;
    for (mut f, &row) in scores.rows_mut().into_iter().zip(rows) {
        let f = f.as_slice_mut().expect("rows of scores are contiguous");
        total += match targets {
            Targets::Classes { labels, .. } => plan.loss.of_class(f, labels[row] as usize),
            Targets::Real(values) => mercer_learning::Loss::of_value(&mut f[0], F::of(values[row])),
        }
        .wide();
    }
    let share = F::of(1.0 / rows.len() as f64);
    scores.map_inplace(|g| *g *= share);
    total / rows.len() as f64
}

/// What the figures show: the mean loss given, norms, and the objective with its penalties.
fn numbers<F: Scalar>(
    plan: &Plan,
    model: &Model<F>,
    loss: f64,
    rows: ArrayView2<'_, f64>,
    n: usize,
) -> BTreeMap<String, f64> {
    let w = model.wide_read_out();
    let squared: f64 = w.iter().map(|w| w * w).sum();
    let gram: Vec<f64> = w.t().dot(&w).iter().copied().collect();
    let mut eigen = mercer_linalg::SmallEigen::new(model.outputs());
    // The square root of a rounding error next to 0 is far below the norm's own digits.
    let trace: f64 = if eigen.decompose(&gram) {
        eigen.values().iter().map(|g| g.max(0.0).sqrt()).sum()
    } else {
        f64::NAN
    };
    let feature = model.mean_feature_norm(rows);
    let mut objective = loss
        + plan.read_out_penalty.value(squared, trace)
        + plan.feature_penalty.value(feature, plan.batch);
    let mut trace_penalty = None;
    if let Some(trace) = &plan.trace {
        let (norm, count) = match &trace.inputs {
            None => (feature, n),
            Some(inputs) => {
                let rows = inputs.slice(s![..inputs.nrows().min(NORM_ROWS), ..]);
                (model.mean_feature_norm(rows), inputs.nrows())
            }
        };
        let value = trace.penalty.value(norm, count);
        objective += value;
        trace_penalty = Some(("trace-penalty", value));
    }
    [
        ("loss", loss),
        ("trace-norm", trace),
        ("frobenius-squared", squared),
        ("feature-norm-squared", feature),
        ("mean-kernel-diagonal", model.mean_kernel_diagonal(rows)),
        ("objective", objective),
    ]
    .into_iter()
    .chain(trace_penalty)
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
