use super::block::Block;
use super::kept::KEPT_BYTES;
use super::look::Looked;
use super::numbers::{Mean, NORM_ROWS, numbers};
use super::order::Order;
use super::plan::{DIVERGED, Trace};
use super::shared::{Shared, UNPOISONED, Watch, Window};
use super::{Model, Plan, Scalar, Spectral, StepIndex, TrainingRows};
use mercer_learning::{Fitting, LearningError, Moment, Predictor, Targets};
use mercer_linalg::{TeamMember, team};
use mercer_solvers::{Memory, Route, Shrinkage, Threshold};
use ndarray::{Array1, Array2, Axis, s};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

/// What a training run leaves.
pub(crate) struct Trained<F> {
    pub predictor: Spectral<F>,
    pub steps: usize,
    /// Loss, penalties and norms at the end. The loss is the mean over the last pass.
    pub numbers: BTreeMap<String, f64>,
}

/// Trains the model by mini-batches, with `fitting.threads` members that each own a block of
/// features. The order of the sums, hence the last digits, depends on their number.
pub(crate) fn train<F: Scalar>(
    plan: &Plan,
    model: Model<F>,
    feed: TrainingRows<'_>,
    fitting: &mut Fitting<'_>,
) -> Result<Trained<F>, LearningError> {
    let (sample, big_d) = (feed.first, model.features());
    let n = sample.rows();
    let members = fitting.threads.clamp(1, big_d);
    let needed = bytes::<F>(plan, &model, n);
    fitting.limits.reserve(needed)?;
    let rows = sample.inputs().slice(s![..n.min(NORM_ROWS), ..]).to_owned();
    let weights = sample.weights().map(|own| own.slice(s![..n.min(NORM_ROWS)]).to_owned());
    let features = (n * big_d * size_of::<F>()) as u64;
    let returns = plan.steps(&feed) > feed.steps(plan.batch);
    let keeps_features = !plan.learn_frequencies
        && returns
        && feed.more.is_none()
        && features <= KEPT_BYTES
        && fitting.limits.reserve(needed + features).is_ok();
    let shared = Shared { keeps_features, ..Shared::new(plan, model, &feed, fitting, members) };
    let watch = Watch { fitting, more: feed.more, rows, weights };
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

/// What penalties of a batch ask for.
#[derive(Clone, Copy)]
struct Norms {
    /// `‖φ(batch)‖_F²`.
    feature_squared: f64,
    /// `‖W‖_F²`.
    read_out_squared: f64,
}

/// One member at work.
struct Worker<'a, F> {
    shared: &'a Shared<'a, F>,
    member: &'a TeamMember<'a>,
    /// This member's features.
    block: Block<F>,
    /// `c`, `K`; every member has its own, and all are the same.
    offset: Array1<F>,
    offset_memory: Memory<F>,
    /// The batch's scores, then the gradient of its mean loss with respect to them, `b × K`.
    scores: Array2<F>,
    /// Inputs of the batch, `b × d`.
    batch: Array2<F>,
    /// Its rows' weights over the mean of all, if they have some.
    batch_weights: Option<Vec<F>>,
    shrinkage: Shrinkage,
    /// `Wᵀ W` of all members, `K × K`.
    gram: Vec<f64>,
    /// `N` of `W ← W − W N`, `K × K`.
    removed: Array2<F>,
    /// A loss above this means divergence.
    ceiling: f64,
    /// Steps in which the plan's trace took part.
    penalised: usize,
}

impl<'a, F: Scalar> Worker<'a, F> {
    fn new(shared: &'a Shared<'a, F>, member: &'a TeamMember<'a>) -> Self {
        let whole = shared.whole.read().expect(UNPOISONED);
        let (model, plan) = (&whole.model, shared.plan);
        let k = model.outputs();
        let mut block = Block::cut(model, member.share(model.features()), plan);
        if shared.keeps_features {
            block.keep_features(shared.rows);
        }
        Self {
            shared,
            member,
            block,
            offset: model.offset.clone(),
            offset_memory: Memory::new(plan.optimiser, k),
            scores: Array2::zeros((plan.batch, k)),
            batch: Array2::zeros((plan.batch, model.inputs())),
            batch_weights: None,
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
        let mut order = Order::of(shared.plan, self.held(), shared.streams.rng("shuffle"));
        let mut window = shared.windows;
        let (mut seen, mut of_pass) = (0, 0);
        let (mut since_look, mut this_pass, mut last_pass) =
            (Mean::default(), Mean::default(), Mean::default());
        for step in 1..=shared.steps {
            if order.is_used_up() {
                // The first window is there; after it, the next one of this pass or the next.
                if step > 1 && shared.windows > 1 {
                    self.exchange(watch.as_mut())?;
                    order.begin_at(self.held());
                }
                if window == shared.windows {
                    last_pass = std::mem::take(&mut this_pass);
                    (window, of_pass) = (0, 0);
                }
                window += 1;
                order.renew();
            }
            let rows = order.next_batch();
            seen += rows.len();
            let loss = self.step(StepIndex { step, of_pass }, rows, watch.as_mut())?;
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
        let ended = order.is_used_up() && window == shared.windows;
        let loss = if ended || last_pass.rows == 0 { this_pass } else { last_pass };
        Ok(watch.map_or_else(BTreeMap::new, |watch| {
            let whole = shared.whole.read().expect(UNPOISONED);
            let rows = (watch.rows.view(), watch.weights.as_ref());
            let count = (shared.rows, shared.total);
            let mut numbers = numbers(shared.plan, &whole.model, loss.value(), rows, count);
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
        turn: StepIndex,
        rows: &[usize],
        watch: Option<&mut Watch<'_, '_, '_>>,
    ) -> Result<f64, LearningError> {
        let (shared, b, step) = (self.shared, rows.len(), turn.step);
        let window = shared.window.read().expect(UNPOISONED);
        self.send(step, rows, &window, watch);
        self.member.barrier();
        let norms = self.receive(step, b)?;
        let mut scores = self.scores.slice_mut(s![..b, ..]);
        let loss = match &self.batch_weights {
            None => losses(shared.plan, &window.targets, rows, &mut scores),
            Some(own) => weighted_losses(shared.plan, &window.targets, (rows, own), &mut scores),
        };
        if step == 1 && loss.is_finite() {
            self.ceiling = self.ceiling.max(DIVERGED * loss);
        }
        if !loss.is_finite() || loss > self.ceiling {
            return Err(LearningError::diverged(step, loss, &[]));
        }
        let threshold = shared.plan.threshold(step);
        self.descend(turn, b, norms, threshold.is_some(), &window);
        if let Some(threshold) = threshold {
            self.member.barrier();
            self.shrink(threshold, step)?;
        }
        Ok(loss)
    }

    /// Before the barrier of a step: this member's part of the scores of some rows, and of norms.
    fn send(
        &mut self,
        step: usize,
        rows: &[usize],
        window: &Window<F>,
        watch: Option<&mut Watch<'_, '_, '_>>,
    ) {
        let (shared, b) = (self.shared, rows.len());
        for (mut to, &row) in self.batch.rows_mut().into_iter().zip(rows) {
            to.assign(&window.inputs.row(row));
        }
        if let Some(weights) = &window.weights {
            let share = F::of(1.0 / shared.mean_weight());
            self.batch_weights = Some(rows.iter().map(|&row| weights[row] * share).collect());
        }
        let x = self.batch.slice(s![..b, ..]);
        let mut message = shared.messages[step % 2][self.member.index()].write().expect(UNPOISONED);
        self.block.forward(x, rows, message.scores.slice_mut(s![..b, ..]));
        if shared.plan.feature_penalty.needs_norm() {
            message.feature_norm_squared = match &self.batch_weights {
                None => self.block.feature_norm_squared(b),
                Some(own) => self.block.weighted_feature_norm_squared(own) * shared.mean_weight(),
            };
        }
        if shared.plan.read_out_penalty.needs_norm() {
            message.read_out_norm_squared = self.block.read_out_norm_squared();
        }
        if let Some(Err(error)) = watch.map(|watch| watch.fitting.limits.check()) {
            message.stop = true;
            *shared.failure.lock().expect(UNPOISONED) = Some(error);
        }
    }

    /// After it: the scores of `b` rows, and the norms that penalties ask for.
    fn receive(&mut self, step: usize, b: usize) -> Result<Norms, LearningError> {
        let shared = self.shared;
        let mut scores = self.scores.slice_mut(s![..b, ..]);
        scores.assign(&self.offset);
        let mut norms = Norms { feature_squared: 0.0, read_out_squared: 0.0 };
        for message in &shared.messages[step % 2] {
            let message = message.read().expect(UNPOISONED);
            if message.stop {
                return Err(self.failure());
            }
            scores += &message.scores.slice(s![..b, ..]);
            norms.feature_squared += message.feature_norm_squared;
            norms.read_out_squared += message.read_out_norm_squared;
        }
        Ok(norms)
    }

    /// Moves this member's parameters against the gradient of the scores, which stands in
    /// `self.scores`; with `shrinks`, leaves the Gram matrix that a threshold asks for.
    fn descend(
        &mut self,
        turn: StepIndex,
        b: usize,
        norms: Norms,
        shrinks: bool,
        window: &Window<F>,
    ) {
        let (shared, step) = (self.shared, turn.step);
        let plan = shared.plan;
        let g = self.scores.slice(s![..b, ..]);
        let update = plan.read_out_step::<F>(step);
        if plan.moves_frequencies(step) {
            let mut factor = plan.feature_penalty.factor(norms.feature_squared, b);
            if self.batch_weights.is_some() {
                factor *= plan.feature_penalty.of_mean_weight(shared.mean_weight());
            }
            self.block.backward(g, factor, self.batch_weights.as_deref());
        }
        if plan.train_read_out {
            let penalty = plan.read_out_penalty.factor(norms.read_out_squared);
            self.block.read_out_gradient(g, penalty);
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
        if shrinks {
            let mut gram = shared.grams[self.member.index()].write().expect(UNPOISONED);
            self.block.gram(gram.view_mut());
        }
        if plan.moves_frequencies(step) {
            let trace = plan.trace_in(turn).map(|trace| self.trace_factor(trace, window));
            let x = self.batch.slice(s![..b, ..]);
            self.block.update_frequencies(x, &plan.frequency_step(step), trace);
        }
    }

    /// `c` of the gradient `c Xᵀ [φ(X) ∘ φ'(X)]` of a penalty of fixed inputs; the block then has the rest of that
    /// gradient.
    fn trace_factor(&mut self, trace: &Trace, window: &Window<F>) -> f64 {
        let shared = self.shared;
        self.penalised += 1;
        let (inputs, weights) = match &shared.trace_inputs {
            Some(inputs) => (inputs, shared.trace_weights.as_deref()),
            None => (&window.inputs, window.weights.as_deref()),
        };
        let mut norm = self.block.trace(inputs.view(), weights);
        if trace.penalty.needs_norm() {
            *shared.trace_norms[self.member.index()].write().expect(UNPOISONED) = norm;
            self.member.barrier();
            let parts = shared.trace_norms.iter();
            norm = parts.map(|part| *part.read().expect(UNPOISONED)).sum();
        }
        if shared.trace_inputs.is_some() {
            return trace.penalty.factor(norm, trace.count(shared.total));
        }
        // The rows at hand stand for all; exactly 1 if they are all.
        let share = shared.rows as f64 / inputs.nrows() as f64;
        trace.penalty.factor(norm * share, shared.total) * share
    }

    /// Thresholds the output weights: every member decomposes the same small Gram matrix and shrinks its own rows,
    /// unless the matrix is too inaccurate.
    fn shrink(&mut self, threshold: Threshold, step: usize) -> Result<(), LearningError> {
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
        self.shrink_together(threshold, step)
    }

    /// The rare case: the leader thresholds all output weights in double precision.
    fn shrink_together(&mut self, threshold: Threshold, step: usize) -> Result<(), LearningError> {
        let shared = self.shared;
        self.block.paste_read_out(&mut shared.whole.write().expect(UNPOISONED).model);
        self.member.barrier();
        if self.member.leads() {
            let mut whole = shared.whole.write().expect(UNPOISONED);
            match threshold.apply(whole.model.wide_read_out().view()) {
                Ok((read_out, route)) => {
                    whole.model.read_out = read_out.mapv(F::of);
                    if route == Route::Svd {
                        shared.decompositions.fetch_add(1, Ordering::Relaxed);
                    }
                }
                // A step of infinite length: the loss of the next batch would say so.
                Err(_) if whole.model.read_out.iter().any(|entry| !entry.wide().is_finite()) => {
                    self.fail(LearningError::diverged(step, f64::NAN, &[]));
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
            let Watch { fitting, rows, weights, .. } = watch;
            let whole = self.shared.whole.read().expect(UNPOISONED);
            let (rows, count) =
                ((rows.view(), weights.as_ref()), (self.shared.rows, self.shared.total));
            let numbers = numbers(self.shared.plan, &whole.model, loss, rows, count);
            if let Some(probe) = fitting.probe.as_mut() {
                let looked = Looked { whole: &whole, seen: &self.shared.seen };
                let predictor: &dyn Predictor =
                    if self.shared.keeps_features { &looked } else { &*whole };
                if let Err(error) = probe.observe(at, predictor, &numbers) {
                    self.fail(error);
                }
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

/// The same of rows with weights, over the mean weight of all rows: the mean of each loss times its weight.
fn weighted_losses<F: Scalar>(
    plan: &Plan,
    targets: &Targets,
    (rows, weights): (&[usize], &[F]),
    scores: &mut ndarray::ArrayViewMut2<'_, F>,
) -> f64 {
    let mut total = 0.0;
    for ((mut f, &row), &weight) in scores.rows_mut().into_iter().zip(rows).zip(weights) {
        let f = f.as_slice_mut().expect("rows of scores are contiguous");
        let loss = match targets {
            Targets::Classes { labels, .. } => plan.loss.of_class(f, labels[row] as usize),
            Targets::Real(values) => mercer_learning::Loss::of_value(&mut f[0], F::of(values[row])),
        };
        total += (loss * weight).wide();
        for slope in f.iter_mut() {
            *slope *= weight;
        }
    }
    let share = F::of(1.0 / rows.len() as f64);
    scores.map_inplace(|g| *g *= share);
    total / rows.len() as f64
}
