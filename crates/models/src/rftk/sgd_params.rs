use super::{FeatureSgd, Normalisation, refused};
use crate::askl::Precision;
use crate::{Sampling, Schedule, TraceClock};
use linfa::ParamGuard;
use mercer_learning::{Allowed, Estimator, LearningError, Loss, Parameters, Task};
use mercer_solvers::Optimiser;
use serde::{Deserialize, Serialize};

/// Which of the two methods that train by mini-batches.
///
/// ```
/// use mercer_learning::find;
/// use mercer_models::rftk::{METHODS, SgdKind};
/// assert_eq!((SgdKind::RfSgd.name(), SgdKind::Rftk.name()), ("rf-sgd", "rftk"));
/// assert!([SgdKind::RfSgd, SgdKind::Rftk].iter().all(|kind| find(METHODS, kind.name()).is_ok()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SgdKind {
    /// `rf-sgd`: the frequencies stay as they were drawn.
    RfSgd,
    /// `rftk`: the frequencies are learned, under a penalty of the trace.
    Rftk,
}

impl SgdKind {
    /// Returns the method's registered name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RfSgd => "rf-sgd",
            Self::Rftk => "rftk",
        }
    }
}

/// Which loss.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::rftk::{FeatureSgdParams, SgdLoss};
/// // The text has least squares, also for classes.
/// let read = |word: &str| Settings::new().with("loss", word).read::<FeatureSgdParams>("rftk");
/// assert_eq!(read("auto-cross-entropy")?.loss, SgdLoss::AutoCrossEntropy);
/// assert_eq!(FeatureSgdParams::default().loss, SgdLoss::Squared);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("squared, auto-cross-entropy, cross-entropy"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
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
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::rftk::{FeatureSgdParams, TraceForm};
/// // The text penalises the trace, the authors' code its root over the rows.
/// let read = |word: &str| Settings::new().with("trace", word).read::<FeatureSgdParams>("rftk");
/// assert_eq!(read("norm-by-rows")?.trace, TraceForm::NormByRows);
/// assert_eq!(FeatureSgdParams::default().trace, TraceForm::Squared);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("squared, norm-by-rows"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceForm {
    /// `‖φ(X)‖_F²`, the trace of the kernel matrix, as printed.
    Squared,
    /// `‖φ(X)‖_F/m` of `m` inputs, not squared, as in the authors' code.
    NormByRows,
}

mercer_learning::parameters! {
    /// Settings of `rf-sgd` and `rftk`; the defaults are the paper's text. [`super::Width`] converts other
    /// conventions of the bandwidth.
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
    pub struct FeatureSgdParams {
        /// Which method; not a setting, since the registry has one entry for each.
        #[serde(skip)]
        pub kind: SgdKind = SgdKind::Rftk;
        /// Features `M`.
        pub features: usize = 2000, Allowed::COUNT;
        /// Standard deviation `k` of the entries of `O` at the start, in 1/input unit.
        pub std: f64 = 0.1, Allowed::POSITIVE;
        /// Factor of the features.
        pub normalisation: Normalisation = Normalisation::Printed;
        /// `γ > 0`. For `rf-sgd` with the squared loss and an optimiser without Adam's scaling, the
        /// rate of the printed step `w ← w − (γ/b) Σ (w·φ − y) φ`, which drops the gradient's factor
        /// 2; elsewhere of the gradient of the mean loss, as in Algorithm 1.
        pub rate: f64 = 1.0, Allowed::POSITIVE;
        /// How the rates change with the steps.
        pub schedule: Schedule = Schedule::Constant;
        /// Passes over the training rows; a fraction rounds to whole steps.
        pub epochs: f64 = 100.0, Allowed::POSITIVE;
        /// Rows of a batch `b`; more than there are counts as all.
        pub batch: usize = 32, Allowed::COUNT;
        /// How its rows are chosen.
        pub sampling: Sampling = Sampling::Replacement;
        /// The optimiser.
        pub optimiser: Optimiser = Optimiser::Sgd;
        /// The loss.
        pub loss: SgdLoss = SgdLoss::Squared;
        /// Standard deviation of the entries of `w` at the start.
        pub read_out_std: f64 = 0.0, Allowed::NOT_NEGATIVE;
        /// Number format.
        pub precision: Precision = Precision::F32;
        /// `β ≥ 0`, of the trace (`rftk` only).
        pub beta: f64 = 1e-3, Allowed::NOT_NEGATIVE;
        /// What `β` multiplies (`rftk` only).
        pub trace: TraceForm = TraceForm::Squared;
        /// Steps `s` between two moves of the frequencies (`rftk` only); if there are fewer steps, they
        /// move in the last one. The move is against the gradient at the batch's parameters before
        /// its step of `w`.
        pub every: usize = 100, Allowed::COUNT;
        /// The trace takes part in steps that are multiples of this and of `every`; those of `every`
        /// if absent (`rftk` only).
        pub trace_every: Option<usize> = None, Allowed::COUNT;
        /// From where those steps are counted (`rftk` only).
        pub trace_clock: TraceClock = TraceClock::Run;
        /// Training inputs, drawn by seed, whose features are penalised; all if absent (`rftk` only).
        pub trace_rows: Option<usize> = None, Allowed::COUNT;
        /// The same as a share of the training inputs, above 0 and at most 1 (`rftk` only).
        pub trace_share: Option<f64> = None, Allowed::SHARE;
        /// `η > 0`, rate of the frequencies; `γ` if absent (`rftk` only).
        pub frequency_rate: Option<f64> = None, Allowed::POSITIVE;
    }
}

impl FeatureSgdParams {
    /// Returns the learner, after checking every setting.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<FeatureSgd, LearningError> {
        self.check()?;
        Ok(FeatureSgd::of(self))
    }

    fn check(&self) -> Result<(), LearningError> {
        self.in_range()?;
        if !(self.std * self.std).is_finite() {
            return Err(refused("std", self.std, "small enough for its square to be finite"));
        }
        match self.trace_share {
            Some(share) if self.trace_rows.is_some() => {
                Err(refused("trace_share", share, "absent where `trace_rows` is given"))
            }
            _ => Ok(()),
        }
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
///
/// ```
/// use linfa::ParamGuard;
/// use mercer_models::rftk::FeatureSgdParams;
/// let refused = FeatureSgdParams { every: 0, ..Default::default() }.seeded(1).check().unwrap_err();
/// assert_eq!(refused.to_string(), "setting `every` is 0; it must be at least 1");
/// ```
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
