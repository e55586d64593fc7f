use super::batches::Batches;
use super::embedding::EmbeddingForm;
use super::selection::{cross_validated, median_lengths};
use super::{
    Embedding, EmbeddingParams, Explicit, ExplicitMap, FeatureForm, Form, Held, Implicit,
    KernelChoice, Learning, Objective, Value, refused, too_large,
};
use mercer_kernels::Covariance;
use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Moment, Outcome, Sample, Task, fact,
};
use mercer_solvers::{Memory, Optimiser};
use ndarray::{Array2, ArrayView2, Axis};
use std::collections::BTreeMap;

/// Length scales that are listed one by one among the facts of a fit.
const LISTED_LENGTHS: usize = 64;

/// A conditional mean embedding as a classifier, its settings checked.
///
/// Facts of a fit:
/// - `lambda`, and `lambda-over-scale-squared` of a kernel `s² κ`, whose embeddings depend on no more of the two (not
///   of a polynomial);
/// - every parameter of the kernel (length scales up to 64);
/// - `median-distance` where it was asked for (the smallest distance that is not 0, or 1 if there is none, where the
///   median is 0);
/// - `columns-of-median-0` where the medians of columns were asked for;
/// - `objective`, `loss` and `complexity` of all training rows at the end;
/// - `alpha`, the largest `√k(x_i, x_i)` of them, and `norm`, the norm of `W`: Theorem 4 asks for their product beside
///   `mean-loss`;
/// - `jitter` of the last factorisation, `jitter-steps` (steps, or fits of cross-validation, whose factorisation needed
///   one), `batch-used`, and `validated-accuracy` of cross-validation.
///
/// A probe sees the parameters and the objective of all training rows.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Predictions, Sample};
/// use mercer_models::mce::EmbeddingParams;
/// use ndarray::array;
/// let x = array![[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]];
/// let sample = Sample::classification(x, vec![0, 0, 0, 1, 1, 1], 2)?;
/// let learner = EmbeddingParams { epochs: 50, ..Default::default() }.checked()?;
/// let fitted = learner.fit(&sample, &mut Fitting::seeded(1))?;
/// assert_eq!(fitted.predictor.predict(array![[0.05]].view())?, Predictions::Classes(vec![0]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingLearner {
    params: EmbeddingParams,
}

/// A kernel or a map whose parameters move.
#[derive(Clone)]
enum Machine {
    Implicit(Covariance),
    Explicit(ExplicitMap),
}

impl Machine {
    const fn kernel(&self) -> &Covariance {
        match self {
            Self::Implicit(kernel) => kernel,
            Self::Explicit(map) => map.kernel(),
        }
    }

    /// The same learner at other parameters, given by their logarithms.
    fn at(&self, logs: &[f64], d: usize) -> Result<Self, LearningError> {
        let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        Ok(match self {
            Self::Implicit(kernel) => Self::Implicit(kernel.with_parameters(&values)),
            Self::Explicit(map) => Self::Explicit(
                map.with_parameters(&values, d).map_err(|e| super::implicit::setting(&e))?,
            ),
        })
    }

    /// The objective, and its derivatives by the logarithms of the parameters and of `λ`.
    fn gradient(
        &self,
        batch: &Batch<'_>,
        lambda: f64,
        objective: &Objective,
        memory: &mut Array2<f64>,
    ) -> Result<(Value, Vec<f64>), LearningError> {
        let (x, y, classes) = (batch.inputs.view(), batch.labels, batch.classes);
        match self {
            Self::Implicit(kernel) => {
                let memory_now = std::mem::take(memory);
                let embedding = Implicit::in_memory(kernel, x, y, classes, lambda, memory_now)?;
                let held = batch.held.as_ref();
                let held = held.map(|(rows, labels)| Held { rows: rows.view(), labels });
                let found = embedding.gradient(objective, held)?;
                *memory = embedding.into_memory();
                let mut gradient = found.log_parameters;
                gradient.push(found.log_lambda);
                Ok((found.value, gradient))
            }
            Self::Explicit(map) => {
                let z = map.features(x);
                let embedding = Explicit::new(z.view(), y, classes, lambda)?;
                let other = batch.held.as_ref();
                let other = other.map(|(rows, labels)| (map.features(rows.view()), rows, *labels));
                let held = other.as_ref().map(|(z, _, labels)| Held { rows: z.view(), labels });
                let found = embedding.gradient(objective, held)?;
                let mut gradient = map.pull_back(x, z.view(), found.features.view());
                if let (Some((z, rows, _)), Some(by)) = (&other, &found.held) {
                    let more = map.pull_back(rows.view(), z.view(), by.view());
                    gradient.iter_mut().zip(more).for_each(|(to, by)| *to += by);
                }
                gradient.push(found.log_lambda);
                Ok((found.value, gradient))
            }
        }
    }

    /// The embedding of a sample, the objective there, and `α` with `‖W‖`.
    fn embed(
        &self,
        batch: &Batch<'_>,
        lambda: f64,
        objective: &Objective,
        task: Task,
    ) -> Result<(Embedding, Value, [f64; 2]), LearningError> {
        let (x, y, classes) = (batch.inputs.view(), batch.labels, batch.classes);
        Ok(match self {
            Self::Implicit(kernel) => {
                let fitted = Implicit::new(kernel, x, y, classes, lambda)?;
                let value = fitted.value(objective, None);
                let weights = fitted.weights().to_owned();
                let form = EmbeddingForm::Implicit { kernel: kernel.clone(), inputs: x.to_owned() };
                (Embedding { task, form, weights }, value, [fitted.alpha(), fitted.norm()])
            }
            Self::Explicit(map) => {
                let z = map.features(x);
                let fitted = Explicit::new(z.view(), y, classes, lambda)?;
                let value = fitted.value(objective, None);
                let weights = fitted.weights().to_owned();
                let form = EmbeddingForm::Explicit { map: map.clone(), columns: x.ncols() };
                (Embedding { task, form, weights }, value, [fitted.alpha(), fitted.norm()])
            }
        })
    }
}

/// Rows of one step.
#[derive(Clone, Copy)]
struct Batch<'a> {
    inputs: ArrayView2<'a, f64>,
    labels: &'a [u32],
    classes: usize,
    held: Option<(ArrayView2<'a, f64>, &'a [u32])>,
}

impl<'a> Batch<'a> {
    /// Rows of which the last `held` are held out.
    fn split(inputs: ArrayView2<'a, f64>, labels: &'a [u32], classes: usize, held: usize) -> Self {
        let seen = labels.len() - held;
        let (inputs, other) = inputs.split_at(Axis(0), seen);
        let (labels, truth) = labels.split_at(seen);
        Self { inputs, labels, classes, held: (held > 0).then_some((other, truth)) }
    }
}

impl EmbeddingLearner {
    pub(super) const fn of(params: EmbeddingParams) -> Self {
        Self { params }
    }

    /// Returns the settings.
    pub const fn params(&self) -> &EmbeddingParams {
        &self.params
    }

    /// Fits the embedding, and returns it with its own type.
    ///
    /// # Errors
    /// As [`Learner::fit`].
    pub fn embed(
        &self,
        sample: &Sample,
        fitting: &mut Fitting<'_>,
    ) -> Result<Outcome<Embedding>, LearningError> {
        let params = &self.params;
        let Some(labels) = sample.labels() else {
            let (method, task) = ("gmce".to_owned(), sample.task().name());
            return Err(LearningError::Task { method, task });
        };
        sample.require_two_classes()?;
        let (n, task) = (sample.rows(), sample.task());
        let size = params.batch_of(n);
        if size > n {
            return Err(too_large(size, n));
        }
        let held = (params.validation * size as f64).round() as usize;
        if params.validation > 0.0 && (held == 0 || held >= size) {
            let must = "a share that leaves a row of each batch on either side";
            return Err(refused("validation", params.validation, must));
        }
        if params.map == FeatureForm::Implicit {
            // The Gram matrix, and right-hand sides.
            fitting.limits.reserve(8 * (n * (n + 6 * task.outputs())) as u64)?;
        }
        let mut facts = BTreeMap::new();
        let whole = Batch { inputs: sample.inputs(), labels, classes: task.outputs(), held: None };
        if params.learning == Learning::CrossValidation {
            let chosen = cross_validated(params, sample, labels, fitting)?;
            facts.insert("validated-accuracy".to_owned(), chosen.accuracy);
            facts.insert("jitter-steps".to_owned(), chosen.jittered as f64);
            let machine = Machine::Implicit(chosen.kernel);
            return self.finish(&whole, &machine, chosen.lambda, task, facts, Convergence::Exact);
        }
        let (machine, empty) = self.start(&whole, &mut facts, fitting)?;
        if params.learning == Learning::Nothing {
            let mut outcome =
                self.finish(&whole, &machine, params.lambda, task, facts, Convergence::Exact)?;
            if empty {
                // Of equal numbers the first is the largest, as of numbers that are none.
                outcome.predictor.weights.fill(0.0);
                // Those are of lengths of 1, and of no model that there is.
                let of_it = ["lambda", "columns-of-median-0"];
                outcome.facts.retain(|name, _| of_it.contains(&name.as_str()));
            }
            return Ok(outcome);
        }
        let steps =
            params.epochs * if params.batch.is_some() { n.div_ceil(size) } else { params.batches };
        let (machine, lambda, jittered) =
            self.descend(&whole, machine, (size, held, steps), task, fitting)?;
        facts.insert("jitter-steps".to_owned(), jittered as f64);
        facts.insert(fact::BATCH_USED.to_owned(), size as f64);
        self.finish(&whole, &machine, lambda, task, facts, Convergence::FixedSteps { steps })
    }

    /// The kernel or map at the parameters of the settings, and whether a median is 0.
    fn start(
        &self,
        whole: &Batch<'_>,
        facts: &mut BTreeMap<String, f64>,
        fitting: &Fitting<'_>,
    ) -> Result<(Machine, bool), LearningError> {
        let (params, (n, d)) = (&self.params, whole.inputs.dim());
        let mut empty = false;
        let kernel = params.start(d, || {
            let mut medians = median_lengths(params.median, whole.inputs, fitting);
            if let [median] = medians[..] {
                facts.insert("median-distance".to_owned(), median);
            } else {
                let zero = medians.iter().filter(|&&median| median == 0.0).count();
                facts.insert("columns-of-median-0".to_owned(), zero as f64);
            }
            empty = medians.contains(&0.0);
            medians.iter_mut().filter(|median| **median == 0.0).for_each(|median| *median = 1.0);
            medians
        });
        let named = matches!(params.kernel, KernelChoice::Named(_));
        let complaint = if named { super::implicit::setting_of } else { super::implicit::setting };
        kernel.check(d).map_err(|error| complaint(&error))?;
        let machine = match params.map {
            FeatureForm::Implicit => Machine::Implicit(kernel),
            FeatureForm::Monomials => Machine::Explicit(ExplicitMap::monomials(&kernel, d)?),
            FeatureForm::Fourier => Machine::Explicit(ExplicitMap::fourier(
                &kernel,
                d,
                params.features / 2,
                &mut fitting.streams.rng("frequencies"),
            )?),
        };
        if let Machine::Explicit(map) = &machine {
            // Features, their gradient and two more of that size on the way; the normal matrix and its
            // factor.
            let p = map.width();
            fitting.limits.reserve(8 * (n * (4 * p + 6 * whole.classes) + 2 * p * p) as u64)?;
        }
        Ok((machine, empty))
    }

    /// Gradient steps on the logarithms: the learner and `λ` at the end, and how many steps needed a jitter.
    fn descend(
        &self,
        whole: &Batch<'_>,
        start: Machine,
        (size, held, steps): (usize, usize, usize),
        task: Task,
        fitting: &mut Fitting<'_>,
    ) -> Result<(Machine, f64, usize), LearningError> {
        let (params, objective) = (&self.params, self.params.objective());
        let (n, d) = whole.inputs.dim();
        let mut logs: Vec<f64> = start.kernel().parameters().iter().map(|p| p.ln()).collect();
        logs.push(params.lambda.ln());
        let parameters = logs.len() - 1;
        let full = size == n && held == 0;
        let share = |rows: usize| params.batch_of(rows).min(rows);
        let mut batches = Batches::new(n, size, &share, steps, params.order, fitting);
        let mut memory = Memory::new(Optimiser::Adam, logs.len());
        let mut matrix = Array2::zeros((0, 0));
        let (mut machine, mut jittered) = (start, 0);
        for step in 0..=steps {
            let lambda = logs[parameters].exp();
            let rates = [("rate", params.rate)];
            let diverged = |loss: f64| Err(LearningError::diverged(step.max(1), loss, &rates));
            if !(lambda > 0.0 && lambda.is_finite()) {
                return diverged(f64::INFINITY);
            }
            machine = machine.at(&logs[..parameters], d)?;
            if machine.kernel().check(d).is_err() {
                return diverged(f64::INFINITY);
            }
            if let Some(probe) = fitting.probe.as_deref_mut()
                && step % probe.interval() == 0
            {
                let (embedding, value, _) = machine.embed(whole, lambda, &objective, task)?;
                let numbers = describe(&machine, lambda, &value);
                let epoch = step as f64 * size as f64 / n as f64;
                probe.observe(Moment { step, epoch }, &embedding, &numbers)?;
            }
            if step == steps {
                return Ok((machine, lambda, jittered));
            }
            fitting.limits.check()?;
            let (value, gradient) = if full {
                machine.gradient(whole, lambda, &objective, &mut matrix)?
            } else {
                let rows = batches.of_step(step);
                let inputs = whole.inputs.select(Axis(0), &rows);
                let labels: Vec<u32> = rows.iter().map(|&row| whole.labels[row]).collect();
                let batch = Batch::split(inputs.view(), &labels, whole.classes, held);
                machine.gradient(&batch, lambda, &objective, &mut matrix)?
            };
            if !value.objective.is_finite() || gradient.iter().any(|by| !by.is_finite()) {
                return diverged(value.objective);
            }
            jittered += usize::from(value.jitter > 0.0);
            let move_by = Optimiser::Adam.step(params.rate, step + 1);
            move_by.update(&mut logs, &gradient, memory.all());
        }
        unreachable!("the last turn of the loop returns")
    }

    /// The embedding of all training rows.
    fn finish(
        &self,
        whole: &Batch<'_>,
        machine: &Machine,
        lambda: f64,
        task: Task,
        mut facts: BTreeMap<String, f64>,
        convergence: Convergence,
    ) -> Result<Outcome<Embedding>, LearningError> {
        let objective = self.params.objective();
        let (predictor, value, [alpha, norm]) = machine.embed(whole, lambda, &objective, task)?;
        facts.extend(describe(machine, lambda, &value));
        facts.insert(fact::ALPHA.to_owned(), alpha);
        facts.insert(fact::NORM.to_owned(), norm);
        let n = whole.labels.len() as f64;
        let mean = if objective.form == Form::Sum { value.loss / n } else { value.loss };
        facts.insert(fact::MEAN_LOSS.to_owned(), mean);
        facts.insert("jitter".to_owned(), value.jitter);
        Ok(Outcome { predictor, convergence, facts })
    }
}

/// Parameters and objective, by name.
fn describe(machine: &Machine, lambda: f64, value: &Value) -> BTreeMap<String, f64> {
    let parameters = machine.kernel().named_parameters();
    let mut numbers: BTreeMap<String, f64> = [
        ("lambda", lambda),
        ("objective", value.objective),
        ("loss", value.loss),
        ("complexity", value.complexity),
    ]
    .map(|(name, number)| (name.to_owned(), number))
    .into();
    // `s² κ`; in a polynomial `s²` stands beside the offset.
    let factor = matches!(
        machine.kernel(),
        Covariance::Gaussian { .. }
            | Covariance::Matern { .. }
            | Covariance::RationalQuadratic { .. }
            | Covariance::Linear { .. }
    );
    if factor && let Some((_, scale)) = parameters.iter().find(|(name, _)| name == "scale") {
        numbers.insert("lambda-over-scale-squared".to_owned(), lambda / (scale * scale));
    }
    let lengths = parameters.iter().filter(|(name, _)| name.starts_with("length-")).count();
    for (name, number) in parameters {
        if lengths <= LISTED_LENGTHS || !name.starts_with("length-") {
            numbers.insert(name, number);
        }
    }
    numbers
}

impl Learner for EmbeddingLearner {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        Ok(self.embed(sample, fitting)?.boxed())
    }
}
