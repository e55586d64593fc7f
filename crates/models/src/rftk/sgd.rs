use super::features::effective_rank;
use super::{FeatureSgdParams, SgdKind, TraceForm, refused};
use crate::Phases;
use crate::askl::Precision;
use crate::spectral::{
    DIVERGED, FeaturePenalty, FrequencySchedule, Model, Plan, ReadOutPenalty, Scalar, Start, Trace,
    TracePenalty, TrainingRows, train,
};
use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Loss, Outcome, RowChunks, Sample,
    Streams, Targets, fact,
};
use mercer_solvers::Optimiser;
use ndarray::{Array1, Array2, Axis, s};
use rand::seq::index;
use std::sync::Arc;

/// Rows on which the effective rank of the features is reported.
const RANK_ROWS: usize = 1000;

/// Inputs of a trace and their weights, where they are not the inputs and weights of all training rows.
type TraceInputs = (Option<Arc<Array2<f64>>>, Option<Arc<Array1<f64>>>);

/// Random features trained by mini-batches: the two methods with their settings checked.
///
/// Facts of a fit:
/// - `loss` (mean over the last pass), `objective` and `trace-penalty`;
/// - `frobenius-squared` (`‖w‖²`);
/// - `feature-norm-squared` (mean `‖φ(x)‖²`, the trace of the kernel matrix over `n`);
/// - `effective-rank` (`tr(K)²/‖K‖_F²` of at most 1000 training rows);
/// - `frequency-steps`, `penalised-steps` (steps in which the trace took part) and `batch-used`.
///
/// A probe sees all of them but the last four. Where there are any, `lost-angles`: see [`fact::LOST_ANGLES`].
///
/// Weights of rows multiply their losses, over the mean weight; in the trace, a sum over rows, a row of weight `w`
/// counts as `w` rows. A batch draws rows whatever their weights.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Sample};
/// use mercer_models::rftk::{FeatureSgdParams, SgdKind};
/// use ndarray::array;
/// let sample = Sample::regression(array![[-1.0], [0.0], [1.0]], array![1.0, 0.0, 1.0])?;
/// let params =
///     FeatureSgdParams { kind: SgdKind::RfSgd, features: 50, std: 1.0, epochs: 500.0, ..Default::default() };
/// let fitted = params.checked()?.fit(&sample, &mut Fitting::seeded(1))?;
/// assert!(fitted.facts["loss"] < 0.1);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureSgd {
    params: FeatureSgdParams,
    trace_inputs: Option<Arc<Array2<f64>>>,
}

impl FeatureSgd {
    /// Settings that the caller has checked or will check before a fit.
    pub(super) const fn of(params: FeatureSgdParams) -> Self {
        Self { params, trace_inputs: None }
    }

    /// Returns the settings.
    pub const fn params(&self) -> &FeatureSgdParams {
        &self.params
    }

    /// Penalises the features of these inputs (`m × d`), not of training inputs. The authors' code takes the validation
    /// inputs.
    #[must_use]
    pub fn with_trace_inputs(self, inputs: Array2<f64>) -> Self {
        Self { trace_inputs: Some(Arc::new(inputs)), ..self }
    }

    /// The objective on a sample, and how it is minimised.
    pub(crate) fn plan(
        &self,
        feed: &TrainingRows<'_>,
        streams: &Streams,
    ) -> Result<Plan, LearningError> {
        let (params, sample) = (&self.params, feed.first);
        let learns = params.kind == SgdKind::Rftk;
        let loss = params.loss_for(sample.task())?;
        let linear = matches!(params.optimiser, Optimiser::Sgd | Optimiser::Momentum);
        // The printed step is half a gradient step of the squared loss.
        let halved = !learns && linear && loss == Loss::Squared;
        let mut plan = Plan {
            loss,
            read_out_penalty: ReadOutPenalty::Nothing,
            feature_penalty: FeaturePenalty::Nothing,
            learn_frequencies: learns,
            train_read_out: true,
            bias: false,
            optimiser: params.optimiser,
            rate: if halved { params.rate / 2.0 } else { params.rate },
            epochs: params.epochs,
            batch: params.batch.min(sample.rows()),
            sampling: params.sampling,
            schedule: params.schedule,
            pace: FrequencySchedule::TOGETHER,
            trace: None,
            ceiling: DIVERGED * loss_of_zero(loss, sample).max(f64::MIN_POSITIVE),
        };
        let every = params.every.min(plan.steps(feed));
        if learns {
            plan.pace = FrequencySchedule { every, rate: params.frequency_rate };
        }
        if learns && params.beta > 0.0 {
            let (inputs, weights) = self.trace_inputs(sample, streams)?;
            plan.trace = Some(Trace {
                penalty: match params.trace {
                    TraceForm::Squared => TracePenalty::Squared(params.beta),
                    TraceForm::NormByRows => TracePenalty::NormByRows(params.beta),
                },
                every: params.trace_every.unwrap_or(every),
                clock: params.trace_clock,
                inputs,
                weights,
            });
        }
        Ok(plan)
    }

    /// The settings that are lower where training diverges, as they were given.
    fn rates(&self) -> Vec<(&'static str, f64)> {
        let own = self.params.frequency_rate.filter(|_| self.params.kind == SgdKind::Rftk);
        let own = own.map(|rate| ("frequency_rate", rate));
        std::iter::once(("rate", self.params.rate)).chain(own).collect()
    }

    /// The inputs of the trace, where they are not all training inputs, and their weights, if they have some.
    fn trace_inputs(
        &self,
        sample: &Sample,
        streams: &Streams,
    ) -> Result<TraceInputs, LearningError> {
        if let Some(inputs) = &self.trace_inputs {
            let (expected, found) = (sample.features(), inputs.ncols());
            if expected != found {
                return Err(LearningError::Width { expected, found });
            }
            if inputs.nrows() == 0 {
                return Err(LearningError::NoRows);
            }
            if let Some(value) = inputs.iter().find(|value| !value.is_finite()) {
                return Err(refused("trace_inputs", value, "finite"));
            }
            return Ok((Some(Arc::clone(inputs)), None));
        }
        let n = sample.rows();
        let share = |share: f64| ((share * n as f64).round() as usize).max(1);
        let rows = self.params.trace_rows.or_else(|| self.params.trace_share.map(share));
        let Some(rows) = rows.filter(|&rows| rows < n) else { return Ok((None, None)) };
        let mut rng = streams.rng("trace-rows");
        let chosen = index::sample(&mut rng, n, rows).into_vec();
        let weights = sample.weights().map(|own| Arc::new(own.select(Axis(0), &chosen)));
        Ok((Some(Arc::new(sample.inputs().select(Axis(0), &chosen))), weights))
    }

    fn fit_in<F: Scalar>(
        &self,
        feed: TrainingRows<'_>,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let (params, sample) = (&self.params, feed.first);
        feed.require_two_classes()?;
        let plan = self.plan(&feed, &fitting.streams)?;
        let start = Start {
            features: params.features,
            deviations: vec![params.std],
            phases: Phases::Shared,
            read_out_deviation: params.read_out_std,
        };
        let outputs = sample.task().outputs();
        // Before a number is drawn: frequencies, phases and read-out.
        let numbers = params.features.saturating_mul(sample.features() + outputs + 1);
        fitting.limits.reserve((numbers as u64).saturating_mul(size_of::<F>() as u64))?;
        let mut model = Model::<F>::draw(&start, sample.features(), outputs, &fitting.streams);
        model.scale = params.normalisation.scale(params.features);
        self.balanced::<F>(&plan, &feed, model.scale)?;
        let trained = train(&plan, model, feed, fitting)
            .map_err(|error| start.cause::<F>(error, sample, &fitting.streams))
            .map_err(|error| error.at_rates(&self.rates()))?;
        let model = &trained.predictor.model;
        let finite = |values: &Array2<F>| values.iter().all(|value| value.wide().is_finite());
        let first = s![..sample.rows().min(RANK_ROWS), ..];
        let phi = model.feature_matrix(sample.inputs().slice(first));
        if !finite(&model.read_out) || !finite(&model.frequencies) || !finite(&phi) {
            // The last step was one too many: no batch came after it to show it.
            let error = LearningError::diverged(trained.steps, f64::INFINITY, &self.rates());
            return Err(start.cause::<F>(error, sample, &fitting.streams));
        }
        let mut facts = trained.numbers;
        // The loss of classes grows no faster than the rate, and may never come to the ceiling.
        let loss = facts.get(fact::LOSS).copied().unwrap_or_default();
        let nothing = loss_of_zero(plan.loss, sample);
        if plan.loss == Loss::CrossEntropy && loss > WORSE_THAN_NOTHING * nothing {
            return Err(LearningError::diverged(trained.steps, loss, &self.rates()));
        }
        let lost = model.lost_angles(sample.inputs().slice(first));
        if lost > 0.0 {
            facts.insert(fact::LOST_ANGLES.to_owned(), lost);
        }
        let moves = if plan.learn_frequencies { trained.steps / plan.pace.every } else { 0 };
        for (name, value) in [
            ("effective-rank", effective_rank(phi.view())),
            ("frequency-steps", moves as f64),
            (fact::BATCH_USED, plan.batch as f64),
        ] {
            facts.insert(name.to_owned(), value);
        }
        if plan.learn_frequencies {
            facts.entry("penalised-steps".to_owned()).or_insert(0.0);
        }
        let convergence = Convergence::FixedSteps { steps: trained.steps };
        Ok(Outcome { predictor: trained.predictor, convergence, facts }.boxed())
    }
}

/// How many times the loss of `f = 0` is no fit: so much is left at the end of a training that went nowhere.
const WORSE_THAN_NOTHING: f64 = 10.0;

impl FeatureSgd {
    /// Refuses a penalty beside which the number format holds nothing of the loss: the frequencies
    /// would follow the penalty alone, in steps of any size.
    ///
    /// At the start the mean of `‖φ(x)‖²` is half the squares of the scales, whatever the frequencies.
    fn balanced<F: Scalar>(
        &self,
        plan: &Plan,
        feed: &TrainingRows<'_>,
        scale: f64,
    ) -> Result<(), LearningError> {
        let Some(trace) = &plan.trace else { return Ok(()) };
        let rows = trace.count(feed.total());
        let norm = 0.5 * self.params.features as f64 * scale * scale;
        let loss = loss_of_zero(plan.loss, feed.first);
        // Targets that are all 0 leave no loss to count.
        if loss == 0.0 || trace.penalty.value(norm, rows) * F::epsilon().wide() <= loss {
            return Ok(());
        }
        let must = "so small that the loss still counts beside the penalty at the start (`beta` times the trace, or its root over the rows), in the number format of the fit: lower it, or switch the penalty off with 0";
        Err(refused("beta", self.params.beta, must))
    }
}

/// Mean loss of `f = 0`.
fn loss_of_zero(loss: Loss, sample: &Sample) -> f64 {
    match (loss, sample.targets()) {
        (Loss::CrossEntropy, Targets::Classes { classes, .. }) => (*classes as f64).ln(),
        (_, Targets::Classes { .. }) => 1.0,
        (_, Targets::Real(values)) => {
            let squares = values.iter().map(|y| y * y);
            let sum: f64 = match sample.weights() {
                None => squares.sum(),
                Some(weights) => squares.zip(weights).map(|(square, w)| w * square).sum(),
            };
            sum / sample.total_weight()
        }
    }
}

impl FeatureSgd {
    fn fit_to(
        &self,
        feed: TrainingRows<'_>,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        match self.params.precision {
            Precision::F32 => self.fit_in::<f32>(feed, fitting),
            Precision::F64 => self.fit_in::<f64>(feed, fitting),
        }
    }
}

impl Learner for FeatureSgd {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        self.fit_to(TrainingRows::whole(sample), fitting)
    }

    /// Where no inputs are given for the trace, the window at hand stands for all rows.
    fn fit_chunks(
        &self,
        windows: &mut dyn RowChunks,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let first = windows.next()?;
        self.fit_to(TrainingRows::of(&first, windows), fitting)
    }

    fn weighs_rows(&self) -> bool {
        true
    }
}
