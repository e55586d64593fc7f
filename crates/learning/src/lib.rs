//! The nouns of learning theory, in the words that every other crate uses.
//!
//! A [`Sample`] is inputs with targets; a [`Task`] says what the targets are. A [`Method`] is a named way to build a
//! [`Learner`] from [`Settings`]; fitting a learner to a sample gives a [`Predictor`]. Losses and metrics live here
//! too, and [`Estimator`] speaks linfa's `Fit`/`Predict`.
//!
//! | symbol | code | meaning | shape |
//! |---|---|---|---|
//! | `X` | `inputs` | one row per point | `n × d` |
//! | `y` | `labels`, `values` | class index from 0, or real target | `n` |
//! | `f(x)` | `decision` | one score per class, or one value | `n × K`, `n × 1` |
//!
//! It does not know where data comes from, nor any particular method.

mod calibration;
mod checkpoint;
mod conditions;
pub mod conformance;
mod error;
mod estimator;
pub mod fact;
mod fitting;
mod folds;
mod loss;
mod method;
mod metric;
mod numpy;
mod parameters;
mod predictor;
mod row_chunks;
mod sample;
mod settings;
mod space;
mod state;
mod streams;
mod warning;
mod words;

pub use calibration::{Calibration, calibration_error, calibration_gaps, scores_to_calibrate};
pub use checkpoint::Checkpoints;
pub use conditions::{Condition, Where, with_conditions};
pub use error::LearningError;
pub use estimator::{Classifier, Estimator, Regressor};
pub use fitting::{Convergence, Fitted, Fitting, Limits, Moment, Outcome, Probe, Unlimited};
pub use folds::folds;
pub use loss::Loss;
pub use method::{Cost, Learner, Method, Tasks, find, same_as_study};
pub use metric::{
    Metric, accuracy, area_under_curve, average_precision, averaged_classes, balanced_accuracy,
    by_class, class_scores, confusion, margins, mean_absolute_error, ranked_score, rankings,
    root_mean_squared_error, row_losses, score, value_scores,
};
pub use numpy::{Fold, NumpyRandomState};
pub use parameters::{
    Allowed, ConvergenceHint, Entry, InRange, Kind, Parameters, Setting, declared, replacing,
    undeclared, with_hints,
};
pub use predictor::{FittedKernel, LeftOut, Predictions, Predictor, argmax, entropies};
pub use row_chunks::RowChunks;
pub use sample::{Sample, Shape, Targets, Task};
pub use settings::Settings;
pub use space::{Axis, Range, Space};
pub use state::{Element, Numbers, Outline, State, Tensor, never_kept};
pub use streams::{SECOND_STAGE, Stream, Streams};
pub use warning::{Ended, Warning};
pub use words::{counted, nearest, one_line};
