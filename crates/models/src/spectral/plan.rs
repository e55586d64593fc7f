use mercer_learning::Loss;
use mercer_solvers::{Optimiser, Threshold};

/// What is minimised over mini-batches, and how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    /// Loss of one row; a batch counts with its mean.
    pub loss: Loss,
    /// Penalty of the read-out `W`.
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
}

/// Penalty of the read-out.
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
    /// `c` such that the gradient is `c W`, given `‖W‖_F²`.
    pub fn factor(self, squared_norm: f64) -> f64 {
        match self {
            Self::Nothing | Self::Trace { .. } => 0.0,
            Self::Squared(lambda) => 2.0 * lambda,
            Self::Norm(lambda) => slope_of_norm(lambda, squared_norm),
        }
    }

    /// Whether [`ReadOutPenalty::factor`] depends on the norm.
    pub const fn needs_norm(self) -> bool {
        matches!(self, Self::Norm(_))
    }

    /// The penalty's value.
    pub fn value(self, squared_norm: f64, trace_norm: f64) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Squared(lambda) => lambda * squared_norm,
            Self::Norm(lambda) => lambda * squared_norm.sqrt(),
            Self::Trace { lambda, .. } => lambda * trace_norm,
        }
    }

    /// The threshold after each step at rate `η`.
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

    /// Whether [`FeaturePenalty::factor`] depends on the norm.
    pub const fn needs_norm(self) -> bool {
        matches!(self, Self::BatchNorm(_))
    }

    /// The penalty's value for a batch whose mean `‖φ(x)‖²` is given.
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
    /// Steps that `epochs` passes over `rows` rows take: at least one.
    pub fn steps(&self, rows: usize) -> usize {
        let per_epoch = rows.div_ceil(self.batch);
        ((self.epochs * per_epoch as f64).round() as usize).max(1)
    }
}
