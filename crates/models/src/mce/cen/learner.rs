use super::predictor::{Bounded, CenPredictor, ReadOut, read_out};
use super::training::{Logs, Order, Training};
use super::{CenParams, Masks, Precision, params};
use crate::mce::{Explicit, Held, Implicit, Value, too_large};
use mercer_kernels::Covariance;
use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Moment, Outcome, Sample, Task, fact,
};
use mercer_linalg::Real;
use mercer_networks::{Architecture, Dropout, Network};
use mercer_solvers::Memory;
use ndarray::{Array2, ArrayView2, Axis, Zip};
use rand::Rng;
use std::collections::BTreeMap;

/// A conditional embedding network with its settings checked.
///
/// Facts of a fit:
/// - `lambda` and the kernel's parameters;
/// - `objective`, `loss` and `complexity` of the last step, the latter with the `α` of the settings;
/// - `jitter-steps`, how many steps had a factorisation that needed a jitter;
/// - `batch-used`;
/// - of the output weights from all training rows `training-accuracy`, `jitter`, `alpha`, the largest `√k(x_i, x_i)`
///   (of the features, without a kernel), `norm`, the norm of `W`, and `mean-loss`. Theorem 4 asks for `mean-loss` and
///   the product of `alpha` and `norm`.
///
/// ```
/// use mercer_models::mce::CenParams;
/// let cen = CenParams { features: 5, ..CenParams::default() }.checked()?;
/// assert_eq!(cen.params().features, 5);
/// let refused = CenParams { dropout: 1.0, ..CenParams::default() }.checked().unwrap_err();
/// assert_eq!(refused.to_string(), "setting `dropout` is 1; it must be at least 0 and below 1");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cen(CenParams);

impl Cen {
    pub(super) const fn of(params: CenParams) -> Self {
        Self(params)
    }

    /// Returns the settings.
    pub const fn params(&self) -> &CenParams {
        &self.0
    }
}

/// One step's value and gradients.
struct Found {
    value: Value,
    logs: Vec<f64>,
    features: Array2<f64>,
    held: Option<Array2<f64>>,
}

/// What stays as it is from step to step.
struct Course<'a, F> {
    sample: &'a Sample,
    x: Array2<F>,
    labels: &'a [u32],
    batch: usize,
    dropout: Dropout,
    steps: usize,
}

impl Cen {
    /// `λ` and the kernel where the logarithms stand.
    fn point(&self, logs: &[f64]) -> (f64, Option<Covariance>) {
        let values: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let kernel = self.0.kernel.as_ref().map(|kernel| kernel.with_parameters(&values[1..]));
        (values[0], kernel)
    }

    fn embedding(
        &self,
        logs: &[f64],
        z: ArrayView2<'_, f64>,
        held: Option<ArrayView2<'_, f64>>,
        labels: &[u32],
        classes: usize,
    ) -> Result<Found, LearningError> {
        let objective = self.0.objective();
        let held = held.as_ref().map(|rows| Held { rows: rows.view(), labels });
        let (lambda, kernel) = self.point(logs);
        Ok(match kernel {
            None => {
                let embedding = Explicit::new(z.view(), labels, classes, lambda)?;
                let found = embedding.gradient(&objective, held)?;
                let (value, logs) = (found.value, vec![found.log_lambda]);
                Found { value, logs, features: found.features, held: found.held }
            }
            Some(kernel) => {
                let embedding = Implicit::new(&kernel, z.view(), labels, classes, lambda)?;
                let found = embedding.gradient(&objective, held)?;
                let logs = [vec![found.log_lambda], found.log_parameters].concat();
                Found { value: found.value, logs, features: found.inputs, held: found.held }
            }
        })
    }

    fn fit_in<F: Real + mercer_learning::Element>(
        &self,
        sample: &Sample,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let params = &self.0;
        let Some(labels) = sample.labels() else {
            let (method, task) = ("cen".to_owned(), sample.task().name());
            return Err(LearningError::Task { method, task });
        };
        sample.require_two_classes()?;
        let (n, classes) = (sample.rows(), sample.task().outputs());
        let batch = params.batch.unwrap_or(n);
        if batch > n {
            return Err(too_large(batch, n));
        }
        let architecture = params.architecture(sample.features());
        let width = (architecture.inputs() + 8 * params.features + classes) as u64;
        let kernel_rows = if params.kernel.is_some() { 3 * n } else { 4 * params.features };
        fitting.limits.reserve(8 * n as u64 * (width + kernel_rows as u64))?;
        let x: Array2<F> = architecture.rows(sample.inputs());
        let mut training = self.training::<F>(&architecture, n, fitting)?;
        let dropout = params.dropout().map_err(|error| params::network(&error))?;
        let steps = ((params.epochs * n as f64 / batch as f64).round() as usize).max(1);
        let course = Course { sample, x, labels, batch, dropout, steps };
        let done = training.go_on(fitting.kept().as_ref(), steps, params.optimiser);
        let mut value = None;
        for step in done + 1..=steps {
            fitting.between_steps(|| training.standing(step - 1))?;
            value = Some(self.advance(&mut training, &course, step)?);
            let looked = fitting
                .probe
                .as_ref()
                .is_some_and(|probe| step % probe.interval() == 0 || step == steps);
            if looked {
                let numbers = self.numbers(value.as_ref(), &training.logs.values);
                let predictor = self.predictor(&training, &course, fitting.threads)?;
                let at = Moment { step, epoch: (step * batch) as f64 / n as f64 };
                if let Some(probe) = &mut fitting.probe {
                    probe.observe(at, &predictor, &numbers)?;
                }
            }
        }
        fitting.at_end(|| training.standing(steps));
        let mut facts = self.numbers(value.as_ref(), &training.logs.values);
        let predictor = self.predictor(&training, &course, fitting.threads)?;
        facts.insert("training-accuracy".to_owned(), predictor.accuracy);
        facts.insert("jitter".to_owned(), predictor.jitter);
        facts.insert("jitter-steps".to_owned(), training.jittered as f64);
        facts.insert(fact::BATCH_USED.to_owned(), batch as f64);
        let Bounded { alpha, norm, loss } = predictor.bounded;
        for (name, value) in [(fact::ALPHA, alpha), (fact::NORM, norm), (fact::MEAN_LOSS, loss)] {
            facts.insert(name.to_owned(), value);
        }
        let convergence = Convergence::FixedSteps { steps };
        Ok(Outcome { predictor, convergence, facts }.boxed())
    }

    /// The training of `n` rows before its first step.
    fn training<F: Real + mercer_learning::Element>(
        &self,
        architecture: &Architecture,
        n: usize,
        fitting: &Fitting<'_>,
    ) -> Result<Training<F>, LearningError> {
        let params = &self.0;
        let mut rng = fitting.streams.rng("network");
        let net = architecture
            .draw::<F>(&params.start, fitting.threads, &mut rng)
            .map_err(|error| params::network(&error))?;
        let mut start = vec![params.lambda.ln()];
        start.extend(params.kernel.iter().flat_map(Covariance::parameters).map(f64::ln));
        Ok(Training {
            memory: Memory::new(params.optimiser, net.parameters().len()),
            net,
            logs: Logs { memory: Memory::new(params.optimiser, start.len()), values: start },
            masks: fitting.streams.rng("masks"),
            order: Order::new(n, fitting.streams.rng("batches")),
            jittered: 0,
        })
    }

    /// Moves all parameters by the gradient of the next batch, and returns the value before.
    fn advance<F: Real>(
        &self,
        training: &mut Training<F>,
        course: &Course<'_, F>,
        step: usize,
    ) -> Result<Value, LearningError> {
        let params = &self.0;
        let Course { sample, ref x, labels, batch, dropout, steps } = *course;
        let classes = sample.task().outputs();
        let Training { net, memory, logs, masks, order, jittered } = training;
        let rows = order.next(batch);
        let (selected, classes_of);
        let (x_now, labels_now) = if let Some(rows) = rows {
            selected = x.select(Axis(0), rows);
            classes_of = rows.iter().map(|&i| labels[i]).collect::<Vec<u32>>();
            (selected.view(), classes_of.as_slice())
        } else {
            (x.view(), labels)
        };
        let found =
            self.step(&mut **net, x_now, labels_now, classes, &logs.values, (dropout, masks))?;
        if !found.value.objective.is_finite() {
            let (loss, rates) = (found.value.objective, [("rate", params.rate)]);
            return Err(LearningError::diverged(step, loss, &rates));
        }
        *jittered += usize::from(found.value.jitter > 0.0);
        let now = params.optimiser.step::<F>(params.rate, step);
        let (parameters, gradient) = net.update();
        now.update(parameters, gradient, memory.all());
        if params.learn_lambda {
            let now = params.optimiser.step::<f64>(params.rate, step);
            now.update(&mut logs.values, &found.logs, logs.memory.all());
        }
        // Scale and ridge are learned by their logarithms: beyond the numbers there are, they are 0.
        let lost = |log: &f64| !(log.exp() > 0.0 && log.exp().is_finite());
        let last = step == steps && !net.update().0.iter().all(|weight| weight.is_finite());
        if last || logs.values.iter().any(lost) {
            return Err(LearningError::diverged(step, f64::INFINITY, &[("rate", params.rate)]));
        }
        Ok(found.value)
    }

    /// Features, objective, and the gradient back into the network.
    fn step<F: Real>(
        &self,
        net: &mut dyn Network<F>,
        x: ArrayView2<'_, F>,
        labels: &[u32],
        classes: usize,
        logs: &[f64],
        (dropout, rng): (Dropout, &mut impl Rng),
    ) -> Result<Found, LearningError> {
        let z = net.forward(x).mapv(Real::wide);
        let found = if dropout.is_idle() {
            self.embedding(logs, z.view(), None, labels, classes)?
        } else {
            let first: Array2<f64> = dropout.mask(z.dim(), rng);
            let formed = &z * &first;
            match self.0.masks {
                Masks::One => {
                    let mut found = self.embedding(logs, formed.view(), None, labels, classes)?;
                    found.features *= &first;
                    found
                }
                Masks::Two => {
                    let second: Array2<f64> = dropout.mask(z.dim(), rng);
                    let scored = &z * &second;
                    let held = Some(scored.view());
                    let mut found = self.embedding(logs, formed.view(), held, labels, classes)?;
                    // One pass through the network serves both masks.
                    found.features *= &first;
                    if let Some(held) = &found.held {
                        Zip::from(&mut found.features)
                            .and(held)
                            .and(&second)
                            .for_each(|g, held, mask| *g += held * mask);
                    }
                    found
                }
            }
        };
        net.backward(x, found.features.mapv(F::of).view());
        Ok(found)
    }

    fn numbers(&self, value: Option<&Value>, logs: &[f64]) -> BTreeMap<String, f64> {
        let mut numbers = BTreeMap::from([("lambda".to_owned(), logs[0].exp())]);
        if let Some(kernel) = &self.0.kernel {
            let names = kernel.named_parameters().into_iter().map(|(name, _)| name);
            numbers.extend(names.zip(logs[1..].iter().map(|log| log.exp())));
        }
        if let Some(value) = value {
            numbers.insert("objective".to_owned(), value.objective);
            numbers.insert("loss".to_owned(), value.loss);
            numbers.insert("complexity".to_owned(), value.complexity);
        }
        numbers
    }

    /// The predictor of this moment: its output weights come from all training rows, without dropout.
    fn predictor<F: Real + mercer_learning::Element>(
        &self,
        training: &Training<F>,
        course: &Course<'_, F>,
        threads: usize,
    ) -> Result<CenPredictor<F>, LearningError> {
        let Course { sample, ref x, labels, .. } = *course;
        let architecture = self.0.architecture(sample.features());
        let (lambda, kernel) = self.point(&training.logs.values);
        let task = sample.task();
        let own = architecture
            .with_parameters(training.net.parameters(), threads)
            .map_err(|error| params::network(&error))?;
        let ReadOut { weights, points, accuracy, jitter, bounded } = read_out(
            &*own,
            x,
            labels,
            task.outputs(),
            (lambda, kernel.as_ref()),
            self.0.epsilon,
            threads,
        )?;
        Ok(CenPredictor {
            task,
            features: sample.features(),
            architecture,
            net: own,
            weights,
            kernel: kernel.zip(points),
            threads,
            accuracy,
            jitter,
            bounded,
        })
    }
}

impl Learner for Cen {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        if let Task::Regression = sample.task() {
            let (method, task) = ("cen".to_owned(), sample.task().name());
            return Err(LearningError::Task { method, task });
        }
        match self.0.precision {
            Precision::F32 => self.fit_in::<f32>(sample, fitting),
            Precision::F64 => self.fit_in::<f64>(sample, fitting),
        }
    }
}
