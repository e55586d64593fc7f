use super::TrainingRows;
use mercer_learning::Loss;
use mercer_linalg::Real;
use mercer_solvers::{Optimiser, Step, Threshold};
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The objective over mini-batches, and how it is minimised.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// Loss of one row; a batch counts with its mean.
    pub loss: Loss,
    /// Penalty of the output weights `W`.
    pub read_out_penalty: ReadOutPenalty,
    /// Penalty of the features `φ(X)`.
    pub feature_penalty: FeaturePenalty,
    /// Whether `O` (and `O'`) are learned.
    pub learn_frequencies: bool,
    /// Whether `W` receives gradients; if not, only a threshold moves it.
    pub train_read_out: bool,
    /// Whether the offset `c` is learned; it stays 0 if not.
    pub bias: bool,
    /// The optimiser of everything that is learned.
    pub optimiser: Optimiser,
    /// Its rate `η`.
    pub rate: f64,
    /// Passes over the training rows; a fraction rounds to whole steps, at least one.
    pub epochs: f64,
    /// Rows of a batch; the last one of a pass may be shorter.
    pub batch: usize,
    /// How the rows of a batch are chosen.
    pub sampling: Sampling,
    /// How rates change with the steps.
    pub schedule: Schedule,
    /// When the frequencies move, and how fast.
    pub pace: FrequencySchedule,
    /// A penalty of the features of fixed inputs, beside the penalty of the batch.
    pub trace: Option<Trace>,
    /// Loss above which training has diverged. A batch's mean loss must be above this and above [`DIVERGED`] times the
    /// first batch's; infinite if only NaN and infinity count.
    pub ceiling: f64,
}

/// How many times the first loss is beyond any noise of batches.
pub(crate) const DIVERGED: f64 = 1e6;

/// How the rows of a batch are chosen.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::{Sampling, rftk::FeatureSgdParams};
/// // The theory draws with replacement, the authors' code shuffles.
/// let read = |word: &str| Settings::new().with("sampling", word).read::<FeatureSgdParams>("rftk");
/// assert_eq!(read("shuffled")?.sampling, Sampling::Shuffled);
/// assert_eq!(FeatureSgdParams::default().sampling, Sampling::Replacement);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("shuffled, replacement"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// A fresh order of all rows for each pass, cut into batches.
    Shuffled,
    /// Each row of a batch drawn from all rows, apart from the others. A pass is `⌈n/b⌉` batches.
    Replacement,
}

/// How a rate changes with the step `t`, from 1.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::{Schedule, rftk::FeatureSgdParams};
/// // The rate of the theorem is constant.
/// let read = |word: &str| Settings::new().with("schedule", word).read::<FeatureSgdParams>("rftk");
/// assert_eq!(read("inverse-root")?.schedule, Schedule::InverseRoot);
/// assert_eq!(FeatureSgdParams::default().schedule, Schedule::Constant);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("constant, inverse-root"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// `γ_t = γ`.
    Constant,
    /// `γ_t = γ/√t`.
    InverseRoot,
}

impl Schedule {
    /// `γ_t`.
    pub(crate) fn at(self, rate: f64, step: usize) -> f64 {
        match self {
            Self::Constant => rate,
            Self::InverseRoot => rate / (step as f64).sqrt(),
        }
    }
}

/// When the frequencies move, and how fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FrequencySchedule {
    /// They move in the steps that are multiples of this, at least 1.
    pub every: usize,
    /// Their rate; the rate of the output weights if absent.
    pub rate: Option<f64>,
}

impl FrequencySchedule {
    /// In every step, at the rate of the output weights.
    pub const TOGETHER: Self = Self { every: 1, rate: None };
}

/// From where the steps are counted in which a penalty of fixed inputs takes part.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::{TraceClock, rftk::FeatureSgdParams};
/// // Algorithm 1 counts through the whole run, the authors' code from each pass on.
/// let read = |word: &str| Settings::new().with("trace_clock", word).read::<FeatureSgdParams>("rftk");
/// assert_eq!(read("pass")?.trace_clock, TraceClock::Pass);
/// assert_eq!(FeatureSgdParams::default().trace_clock, TraceClock::Run);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("run, pass"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceClock {
    /// From 1 on through the whole run: steps `s, 2s, …`, as in Algorithm 1.
    Run,
    /// From 0 on in each pass over the rows, as in the authors' code. It takes the first batch of a pass, and each
    /// `s`-th after it. A pass shorter than `s` has one.
    Pass,
}

/// Where a training run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepIndex {
    /// The step, from 1.
    pub step: usize,
    /// The batch of its pass, from 0.
    pub of_pass: usize,
}

/// A penalty of the features of fixed inputs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Trace {
    /// The penalised quantity.
    pub penalty: TracePenalty,
    /// It takes part in the frequencies' steps that are multiples of this, at least 1.
    pub every: usize,
    /// From where those steps are counted.
    pub clock: TraceClock,
    /// The inputs, one row a point; the training inputs if absent.
    pub inputs: Option<Arc<Array2<f64>>>,
    /// Weights of these inputs, if any; the weights of the training rows are known.
    pub weights: Option<Arc<Array1<f64>>>,
}

impl Trace {
    /// What the inputs count as, where the training rows count as `total`.
    pub fn count(&self, total: f64) -> f64 {
        match (&self.weights, &self.inputs) {
            (Some(weights), _) => weights.sum(),
            (None, Some(inputs)) => inputs.nrows() as f64,
            (None, None) => total,
        }
    }
}

/// What a [`Trace`] penalises, `X` being its `m` inputs. Inputs with weights count as `m = Σ w`, and
/// `‖φ(X)‖_F²` is `Σ w_i ‖φ(x_i)‖²`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TracePenalty {
    /// `β ‖φ(X)‖_F²`: `β` times the trace of the kernel matrix.
    Squared(f64),
    /// `β ‖φ(X)‖_F / m`.
    NormByRows(f64),
}

impl TracePenalty {
    /// Returns `c` such that the gradient is `c X^T [φ(X) o φ'(X)]`, given `‖φ(X)‖_F²` of `m` rows.
    pub fn factor(self, squared_norm: f64, rows: f64) -> f64 {
        match self {
            Self::Squared(beta) => 2.0 * beta,
            Self::NormByRows(beta) => slope_of_norm(beta / rows, squared_norm),
        }
    }

    /// Returns whether [`TracePenalty::factor`] depends on the norm.
    pub const fn needs_norm(self) -> bool {
        matches!(self, Self::NormByRows(_))
    }

    /// Returns the penalty's value for `m` rows whose mean `‖φ(x)‖²` is given.
    pub fn value(self, mean_squared_norm: f64, rows: f64) -> f64 {
        match self {
            Self::Squared(beta) => beta * mean_squared_norm * rows,
            Self::NormByRows(beta) => beta * (mean_squared_norm * rows).sqrt() / rows,
        }
    }
}

/// Penalty of the output weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ReadOutPenalty {
    /// None.
    Nothing,
    /// `λ ‖W‖_F²`.
    Squared(f64),
    /// `λ ‖W‖_F`.
    Norm(f64),
    /// `λ ‖W‖_*`, by thresholding at `η λ` after each step.
    Trace {
        /// `λ`.
        lambda: f64,
        /// Whether singular values stop at 0.
        clip: bool,
    },
}

/// Penalty of the features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FeaturePenalty {
    /// None.
    Nothing,
    /// `λ/n ‖φ(X)‖_F²`, estimated by the batch mean.
    MeanSquared(f64),
    /// `λ ‖φ(batch)‖_F²`.
    BatchSquared(f64),
    /// `λ ‖φ(batch)‖_F`.
    BatchNorm(f64),
}

impl ReadOutPenalty {
    /// Returns `c` such that the gradient is `c W`, given `‖W‖_F²`.
    pub fn factor(self, squared_norm: f64) -> f64 {
        match self {
            Self::Nothing | Self::Trace { .. } => 0.0,
            Self::Squared(lambda) => 2.0 * lambda,
            Self::Norm(lambda) => slope_of_norm(lambda, squared_norm),
        }
    }

    /// Returns whether [`ReadOutPenalty::factor`] depends on the norm.
    pub const fn needs_norm(self) -> bool {
        matches!(self, Self::Norm(_))
    }

    /// Returns the penalty's value.
    pub fn value(self, squared_norm: f64, trace_norm: f64) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Squared(lambda) => lambda * squared_norm,
            Self::Norm(lambda) => lambda * squared_norm.sqrt(),
            Self::Trace { lambda, .. } => lambda * trace_norm,
        }
    }

    /// Returns the threshold after each step at rate `η`.
    pub fn threshold(self, rate: f64) -> Option<Threshold> {
        match self {
            Self::Trace { lambda, clip } if lambda > 0.0 => {
                Some(Threshold { tau: rate * lambda, clip })
            }
            _ => None,
        }
    }
}

impl FeaturePenalty {
    /// `c` such that the gradient with respect to the batch's features is `c φ`, given
    /// `‖φ(batch)‖_F²`.
    pub fn factor(self, squared_norm: f64, batch: usize) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::MeanSquared(lambda) => 2.0 * lambda / batch as f64,
            Self::BatchSquared(lambda) => 2.0 * lambda,
            Self::BatchNorm(lambda) => slope_of_norm(lambda, squared_norm),
        }
    }

    /// Returns whether [`FeaturePenalty::factor`] depends on the norm.
    pub const fn needs_norm(self) -> bool {
        matches!(self, Self::BatchNorm(_))
    }

    /// Returns the factor of a row's share in the penalty. `mean` is the mean weight of all rows. The factor is 1 for a
    /// mean over rows, and the weight itself for a sum, in which the row counts as so many rows.
    pub const fn of_mean_weight(self, mean: f64) -> f64 {
        match self {
            Self::Nothing | Self::MeanSquared(_) => 1.0,
            Self::BatchSquared(_) | Self::BatchNorm(_) => mean,
        }
    }

    /// Returns the penalty's value for a batch whose mean `‖φ(x)‖²` is given.
    pub fn value(self, mean_squared_norm: f64, batch: usize) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::MeanSquared(lambda) => lambda * mean_squared_norm,
            Self::BatchSquared(lambda) => lambda * mean_squared_norm * batch as f64,
            Self::BatchNorm(lambda) => lambda * (mean_squared_norm * batch as f64).sqrt(),
        }
    }
}

/// `c` of the gradient `c a` of `λ ‖a‖`; at `a = 0` the subgradient 0 is taken.
fn slope_of_norm(lambda: f64, squared_norm: f64) -> f64 {
    if squared_norm > 0.0 { lambda / squared_norm.sqrt() } else { 0.0 }
}

impl Plan {
    /// Returns the number of steps that `epochs` passes over the rows take: at least one.
    pub fn steps(&self, feed: &TrainingRows<'_>) -> usize {
        let per_epoch = feed.steps(self.batch);
        ((self.epochs * per_epoch as f64).round() as usize).max(1)
    }

    /// Returns whether the frequencies move in a step.
    pub const fn moves_frequencies(&self, step: usize) -> bool {
        self.learn_frequencies && step.is_multiple_of(self.pace.every)
    }

    /// Returns the trace that takes part in a step.
    pub fn trace_in(&self, turn: StepIndex) -> Option<&Trace> {
        let due = |trace: &&Trace| match trace.clock {
            TraceClock::Run => turn.step.is_multiple_of(trace.every),
            TraceClock::Pass => turn.of_pass.is_multiple_of(trace.every),
        };
        self.trace.as_ref().filter(due).filter(|_| self.moves_frequencies(turn.step))
    }

    /// Returns step `t` of the output weights.
    pub fn read_out_step<F: Real>(&self, step: usize) -> Step<F> {
        self.optimiser.step(self.schedule.at(self.rate, step), step)
    }

    /// Returns the threshold `η_t λ` of the output weights. `η_t` is the rate of that step.
    pub fn threshold(&self, step: usize) -> Option<Threshold> {
        self.read_out_penalty.threshold(self.schedule.at(self.rate, step))
    }

    /// Returns the frequencies' step at step `t`; only their own steps count for the optimiser.
    pub fn frequency_step<F: Real>(&self, step: usize) -> Step<F> {
        let rate = self.pace.rate.unwrap_or(self.rate);
        self.optimiser.step(self.schedule.at(rate, step), step / self.pace.every)
    }
}
