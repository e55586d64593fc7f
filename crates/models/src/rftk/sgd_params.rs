use super::{FeatureSgd, Normalisation, counted, not_negative, positive, refused};
use crate::askl::Precision;
use crate::{Sampling, Schedule, TraceClock};
use linfa::ParamGuard;
use mercer_learning::{Estimator, LearningError, Loss, Task};
use mercer_solvers::Optimiser;
use serde::{Deserialize, Serialize};

/// Which of the two methods that train by mini-batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SgdKind {
    /// `rf-sgd`: the frequencies stay as they were drawn.
    RfSgd,
    /// `rftk`: the frequencies are learned, under a penalty of the trace.
    Rftk,
}

impl SgdKind {
    /// The method's registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RfSgd => "rf-sgd",
            Self::Rftk => "rftk",
        }
    }
}

/// Which loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SgdLoss {
    /// The paper's objective: squared, to the one-hot vector for classes.
    Squared,
    /// The authors' code's: cross-entropy for classes, squared for real targets.
    AutoCrossEntropy,
    /// Softmax cross-entropy; classes only.
    CrossEntropy,
}

/// What `β` multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceForm {
    /// `‖φ(X)‖_F²`, the trace of the kernel matrix, as printed.
    Squared,
    /// `‖φ(X)‖_F/m` of `m` inputs, not squared, as in the authors' code.
    NormByRows,
}

/// Settings of `rf-sgd` and `rftk`; the defaults are the paper's text.
///
/// The authors' code is `optimiser = "adam"`, `sampling = "shuffled"`, `read_out_std = 1`,
/// `loss = "auto-cross-entropy"`, `every = 1`, `trace = "norm-by-rows"`, `trace_every = 100`,
/// `trace_clock = "pass"`, `epochs = 10`; its penalty is of the validation inputs, which no fit here
/// is shown: `trace_share = 0.25` takes as many of the training inputs where a fifth of all rows
/// validates (or [`FeatureSgd::with_trace_inputs`] any).
///
/// ```
/// use linfa::prelude::*;
/// use mercer_models::rftk::{FeatureSgdParams, SgdKind};
/// use ndarray::{Array1, Array2};
/// // Two classes: inside and outside a circle.
/// let x = Array2::from_shape_fn((200, 2), |(i, j)| ((i * (7 + 4 * j)) as f64 * 0.37).sin());
/// let y: Array1<usize> =
///     x.rows().into_iter().map(|row| usize::from(row.dot(&row) > 0.8)).collect();
/// let params =
///     FeatureSgdParams { kind: SgdKind::RfSgd, features: 300, std: 1.5, ..Default::default() };
/// let model = params.seeded(1).fit(&Dataset::new(x.clone(), y.clone()))?;
/// let right = model.predict(&x).iter().zip(&y).filter(|(a, b)| a == b).count();
/// assert!(right > 170);
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureSgdParams {
    /// Which method; not a setting, since the registry has one entry for each.
    #[serde(skip, default = "rftk")]
    pub kind: SgdKind,
    /// Features `M`.
    pub features: usize,
    /// Deviation `k` of the entries of `O` at the start, in 1/input unit ([`super::Width`] converts).
    pub std: f64,
    /// Factor of the features.
    pub normalisation: Normalisation,
    /// `γ > 0`. For `rf-sgd` with the squared loss and an optimiser without Adam's scaling, the
    /// rate of the printed step `w ← w − (γ/b) Σ (w·φ − y) φ`, which drops the gradient's factor
    /// 2; elsewhere of the gradient of the mean loss, as in Algorithm 1.
    pub rate: f64,
    /// How the rates change with the steps.
    pub schedule: Schedule,
    /// Passes over the training rows; a fraction rounds to whole steps.
    pub epochs: f64,
    /// Rows of a batch `b`; more than there are counts as all.
    pub batch: usize,
    /// How its rows are chosen.
    pub sampling: Sampling,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// The loss.
    pub loss: SgdLoss,
    /// Deviation of the entries of `w` at the start.
    pub read_out_std: f64,
    /// Number format.
    pub precision: Precision,
    /// `β ≥ 0`, of the trace (`rftk` only).
    pub beta: f64,
    /// What `β` multiplies (`rftk` only).
    pub trace: TraceForm,
    /// Steps `s` between two moves of the frequencies (`rftk` only); if there are fewer steps, they
    /// move in the last one. The move is against the gradient at the batch's parameters before
    /// its step of `w`.
    pub every: usize,
    /// The trace takes part in steps that are multiples of this and of `every`; those of `every`
    /// if absent (`rftk` only).
    pub trace_every: Option<usize>,
    /// From where those steps are counted (`rftk` only).
    pub trace_clock: TraceClock,
    /// Training inputs, drawn by seed, whose features are penalised; all if absent (`rftk` only).
    pub trace_rows: Option<usize>,
    /// The same as a share of the training inputs, above 0 and at most 1 (`rftk` only).
    pub trace_share: Option<f64>,
    /// `η > 0`, rate of the frequencies; `γ` if absent (`rftk` only).
    pub frequency_rate: Option<f64>,
}

const fn rftk() -> SgdKind {
    SgdKind::Rftk
}

impl Default for FeatureSgdParams {
    fn default() -> Self {
        Self {
            kind: SgdKind::Rftk,
            features: 2000,
            std: 0.1,
            normalisation: Normalisation::Printed,
            rate: 1.0,
            schedule: Schedule::Constant,
            epochs: 100.0,
            batch: 32,
            sampling: Sampling::Replacement,
            optimiser: Optimiser::Sgd,
            loss: SgdLoss::Squared,
            read_out_std: 0.0,
            precision: Precision::F32,
            beta: 1e-3,
            trace: TraceForm::Squared,
            every: 100,
            trace_every: None,
            trace_clock: TraceClock::Run,
            trace_rows: None,
            trace_share: None,
            frequency_rate: None,
        }
    }
}

impl FeatureSgdParams {
    /// The learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<FeatureSgd, LearningError> {
        self.check()?;
        Ok(FeatureSgd::of(self))
    }

    fn check(&self) -> Result<(), LearningError> {
        counted("features", self.features)?;
        positive("std", self.std)?;
        positive("rate", self.rate)?;
        positive("epochs", self.epochs)?;
        counted("batch", self.batch)?;
        not_negative("read_out_std", self.read_out_std)?;
        not_negative("beta", self.beta)?;
        counted("every", self.every)?;
        counted("trace_every", self.trace_every.unwrap_or(1))?;
        counted("trace_rows", self.trace_rows.unwrap_or(1))?;
        if let Some(share) = self.trace_share {
            if !(share > 0.0 && share <= 1.0) {
                return Err(refused("trace_share", share, "above 0 and at most 1"));
            }
            if self.trace_rows.is_some() {
                return Err(refused("trace_share", share, "absent where `trace_rows` is given"));
            }
        }
        positive("frequency_rate", self.frequency_rate.unwrap_or(1.0))
    }

    /// The loss for a task.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for a loss of classes on real targets.
    pub(super) fn loss_for(&self, task: Task) -> Result<Loss, LearningError> {
        match (self.loss, task) {
            (SgdLoss::Squared, _) | (SgdLoss::AutoCrossEntropy, Task::Regression) => {
                Ok(Loss::Squared)
            }
            (SgdLoss::CrossEntropy, Task::Regression) => {
                let must = "`squared` or `auto-cross-entropy` for regression";
                Err(refused("loss", "cross-entropy", must))
            }
            _ => Ok(Loss::CrossEntropy),
        }
    }

    /// For linfa's `Fit`: these settings, and the root of the random streams.
    pub const fn seeded(self, seed: u64) -> SeededFeatureSgd {
        SeededFeatureSgd(Estimator { learner: FeatureSgd::of(self), seed })
    }
}

/// [`FeatureSgdParams`] with a seed, as linfa wants them: not checked before `fit` or `check`.
#[derive(Debug, Clone)]
pub struct SeededFeatureSgd(Estimator<FeatureSgd>);

impl ParamGuard for SeededFeatureSgd {
    type Checked = Estimator<FeatureSgd>;
    type Error = LearningError;

    fn check_ref(&self) -> Result<&Self::Checked, Self::Error> {
        self.0.learner.params().check()?;
        Ok(&self.0)
    }

    fn check(self) -> Result<Self::Checked, Self::Error> {
        self.check_ref()?;
        Ok(self.0)
    }
}
