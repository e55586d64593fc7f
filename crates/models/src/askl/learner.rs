use super::{AsklParams, Kind, Norms, PenaltyScale, Precision, ReadOut, Thresholding};
use crate::spectral::{
    FeaturePenalty, FrequencySchedule, Model, Plan, ReadOutPenalty, Sampling, Scalar, Schedule,
    Start, TrainingRows, train,
};
use mercer_learning::{
    Convergence, Fitted, Fitting, Learner, LearningError, Outcome, RowChunks, Sample, Task,
};

/// One of the five methods with its settings checked.
///
/// Weights of rows, over the mean weight, multiply their losses and their shares in a penalty of the features. In a
/// penalty that is a sum over a batch a row of weight `w` counts as `w` rows. A batch draws rows whatever their
/// weights.
///
/// ```
/// use mercer_learning::{Fitting, Learner, Predictions, Sample};
/// use mercer_models::askl::{AsklParams, Kind};
/// use ndarray::array;
/// let sample = Sample::classification(array![[-1.0], [-0.5], [0.5], [1.0]], vec![0, 0, 1, 1], 2)?;
/// let params =
///     AsklParams { kind: Kind::Askl, features: 50, std: 1.0, epochs: 200.0, ..Default::default() };
/// let fitted = params.checked()?.fit(&sample, &mut Fitting::seeded(1))?;
/// assert_eq!(fitted.predictor.predict(array![[0.8]].view())?, Predictions::Classes(vec![1]));
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Askl(AsklParams);

impl Askl {
    /// Settings that the caller has checked or will check before a fit.
    pub(super) const fn of(params: AsklParams) -> Self {
        Self(params)
    }

    /// Returns the settings.
    pub const fn params(&self) -> &AsklParams {
        &self.0
    }

    /// The objective for a task.
    pub(crate) fn plan(&self, task: Task) -> Result<Plan, LearningError> {
        let params = &self.0;
        let &AsklParams { lambda1, lambda2, .. } = params;
        let penalised = params.kind == Kind::Askl;
        let read_out_penalty = match (penalised, params.norms, params.thresholding) {
            (false, Norms::Squared, _) => ReadOutPenalty::Squared(lambda1),
            (false, Norms::Unsquared, _) => ReadOutPenalty::Norm(lambda1),
            (true, _, Thresholding::None) => ReadOutPenalty::Nothing,
            (true, _, thresholding) => ReadOutPenalty::Trace {
                lambda: lambda1,
                clip: thresholding == Thresholding::Clipped,
            },
        };
        let feature_penalty = match (penalised, params.norms, params.penalty_scale) {
            (false, ..) => FeaturePenalty::Nothing,
            (true, Norms::Unsquared, _) => FeaturePenalty::BatchNorm(lambda2),
            (true, Norms::Squared, PenaltyScale::Mean) => FeaturePenalty::MeanSquared(lambda2),
            (true, Norms::Squared, PenaltyScale::BatchSum) => FeaturePenalty::BatchSquared(lambda2),
        };
        Ok(Plan {
            loss: params.loss_for(task)?,
            read_out_penalty,
            feature_penalty,
            learn_frequencies: params.kind.learns_frequencies(),
            train_read_out: !(penalised && params.read_out == ReadOut::Frozen),
            bias: params.bias,
            optimiser: params.optimiser,
            rate: params.rate,
            epochs: params.epochs,
            batch: params.batch,
            sampling: Sampling::Shuffled,
            schedule: Schedule::Constant,
            pace: FrequencySchedule::TOGETHER,
            trace: None,
            ceiling: f64::INFINITY,
        })
    }

    /// How the parameters are drawn.
    pub(crate) fn start(&self) -> Start {
        let params = &self.0;
        let mut deviations = vec![params.std];
        if params.kind.non_stationary() {
            deviations.push(params.std_prime.unwrap_or(params.std));
        }
        Start {
            features: params.features,
            deviations,
            phases: params.phases,
            read_out_deviation: params.read_out_std,
        }
    }

    fn fit_in<F: Scalar>(
        &self,
        feed: TrainingRows<'_>,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        let sample = feed.first;
        let plan = self.plan(sample.task())?;
        feed.require_two_classes()?;
        let outputs = match sample.task() {
            Task::Classification { classes } => classes,
            Task::Regression => 1,
        };
        let start = self.start();
        let model = Model::<F>::draw(&start, sample.features(), outputs, &fitting.streams);
        let trained = train(&plan, model, feed, fitting)
            .map_err(|error| start.cause::<F>(error, sample, &fitting.streams))
            .map_err(|error| error.at_rates(&[("rate", self.0.rate)]))?;
        Ok(Outcome {
            predictor: trained.predictor,
            convergence: Convergence::FixedSteps { steps: trained.steps },
            facts: trained.numbers,
        }
        .boxed())
    }
}

impl Askl {
    fn fit_to(
        &self,
        feed: TrainingRows<'_>,
        fitting: &mut Fitting<'_>,
    ) -> Result<Fitted, LearningError> {
        match self.0.precision {
            Precision::F32 => self.fit_in::<f32>(feed, fitting),
            Precision::F64 => self.fit_in::<f64>(feed, fitting),
        }
    }
}

impl Learner for Askl {
    fn fit(&self, sample: &Sample, fitting: &mut Fitting<'_>) -> Result<Fitted, LearningError> {
        self.fit_to(TrainingRows::whole(sample), fitting)
    }

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
