//! Names of facts of a fit that others than the stating learner read.
//!
//! [`crate::Outcome::facts`] are numbers by name, since every method has its own and a record keeps
//! whatever there was. What a table, a bound or a page asks for has its name here, so that whoever
//! writes it and whoever reads it mean the same.
//!
//! ```
//! use mercer_learning::fact;
//! let facts = std::collections::BTreeMap::from([(fact::ROWS_USED.to_owned(), 4000.0)]);
//! assert_eq!(facts.get(fact::ROWS_USED), Some(&4000.0));
//! ```

/// Training rows that the fit used, where a cap left some out.
pub const ROWS_USED: &str = "rows-used";
/// Subsets or parts of the rows in which a class is missing. It is stated by a method that divides the rows; there is
/// none where none is.
pub const SUBSETS_WITHOUT_A_CLASS: &str = "subsets-without-a-class";
/// Fits of a method's own search that stopped short of their tolerance.
pub const SEARCH_NOT_CONVERGED: &str = "search-not-converged";
/// Share of the angles of random features without a digit behind the point. It is over some training rows: the number
/// format has no such digit, so that the cosine is noise. There is none where none is.
pub const LOST_ANGLES: &str = "lost-angles";
/// Variation of a learned kernel over pairs of different training rows. It is the largest less the smallest value, as a
/// share of its largest value.
pub const KERNEL_VARIATION: &str = "kernel-variation";
/// Relative error `‖K − K̂‖_F/‖K‖_F` of features over some training rows. `K` is a learned kernel and `K̂` the features
/// that stand in for it.
pub const FEATURES_ERROR: &str = "features-error";
/// Begins the name of a changed setting that the chosen solver does not read.
pub const UNREAD: &str = "unread-";
/// Mean loss of the training rows. Of stochastic methods it is over the last pass, as its batches met it.
pub const LOSS: &str = "loss";
/// `loss` with the penalties of the method.
pub const OBJECTIVE: &str = "objective";
/// `‖W‖_*` of the output weights.
pub const TRACE_NORM: &str = "trace-norm";
/// Mean `‖φ(x)‖²` over training rows.
pub const FEATURE_NORM_SQUARED: &str = "feature-norm-squared";
/// Mean `k(x, x)` over training rows, of the kernel that the features stand for in expectation.
pub const MEAN_KERNEL_DIAGONAL: &str = "mean-kernel-diagonal";
/// `α`, the largest root of `k(x, x)` of the training rows, of an embedding.
pub const ALPHA: &str = "alpha";
/// `‖W‖` of an embedding.
pub const NORM: &str = "norm";
/// The loss of Theorem 4 of `mce`, averaged over the training rows.
pub const MEAN_LOSS: &str = "mean-loss";
/// Rows of a batch, as it was used.
pub const BATCH_USED: &str = "batch-used";
/// Iterations of an iterative solve.
pub const ITERATIONS: &str = "iterations";
/// Whether the iterations used a matrix stored in single precision: 1 or 0. At 0 it was computed for each.
pub const STORED: &str = "stored";
/// What they left of the quantity that their tolerance bounds.
pub const RESIDUAL: &str = "residual";
