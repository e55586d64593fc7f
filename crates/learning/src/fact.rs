//! Names of those facts of a fit that are read by others than the learner that states them.
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
/// Subsets or parts of the rows, of a method that divides them, in which a class is missing; there is none
/// where none is.
pub const SUBSETS_WITHOUT_A_CLASS: &str = "subsets-without-a-class";
/// Fits of a method's own search that stopped short of their tolerance.
pub const SEARCH_NOT_CONVERGED: &str = "search-not-converged";
/// Share of the angles of random features, over some training rows, of which the number format has no digit
/// behind the point, so that their cosine is noise; there is none where none is.
pub const LOST_ANGLES: &str = "lost-angles";
/// Largest less smallest value of a learned kernel for two training rows that differ, as a share of its largest value.
pub const KERNEL_VARIATION: &str = "kernel-variation";
/// `‖K − K̂‖_F/‖K‖_F` over some training rows, of a learned kernel `K` and the features `K̂` that stand in for it.
pub const FEATURES_ERROR: &str = "features-error";
/// Begins the name of a setting that was changed and that the solver which was chosen does not read.
pub const UNREAD: &str = "unread-";
/// Mean loss of the training rows: of stochastic methods over the last pass, as its batches met it.
pub const LOSS: &str = "loss";
/// `loss` with the penalties of the method.
pub const OBJECTIVE: &str = "objective";
/// `‖W‖_*` of the read-out.
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
/// 1 where they were with a matrix stored in single precision, 0 where it was computed for each.
pub const STORED: &str = "stored";
/// What they left of the quantity that their tolerance bounds.
pub const RESIDUAL: &str = "residual";
