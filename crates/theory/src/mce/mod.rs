//! The theory of conditional kernel mean embeddings with Rademacher complexity bounds. Source: "Hyperparameter Learning
//! for Conditional Kernel Mean Embeddings with Rademacher Complexity Bounds" (Hsu, Nock and Ramos, ECML-PKDD 2018).
//!
//! It goes from the norm of an embedding to its Rademacher complexity (Theorems 2 and 11). The Lipschitz constant of
//! the clipped loss (Lemma 14) leads to the expected loss (Lemmas 13 and 15, Theorems 3 and 16, and, for parameters,
//! Lemma 17 and Theorems 4 and 18). It also has the rates at which the estimates converge (Theorems 1, 5 and 6, Lemmas
//! 7 to 9, Theorem 10).
//!
//! What does not hold as it is printed:
//!
//! - `2αρ` does not shrink as rows are added, because `‖Φσ‖ ≤ ‖Φ‖_HS ‖σ‖` is used. For a *fixed*
//!   kernel `E‖Φσ‖ ≤ α√n` gives `2αρ/√n`: the term `fixed kernel`. And exactly, for a ball,
//!   [`ball_complexity`].
//! - The text calls `r = αρ` a bound on the complexity; with its definition of the complexity, `2r`
//!   bounds it.
//! - Theorem 4 says "every θ, λ", but applies Theorem 3 to a class that is built around the chosen point. It holds at a
//!   point fixed in advance, not uniformly, and not at a learned optimum.
//! - The class is built from the training pairs and then evaluated on them; the inequality behind
//!   the deviation term needs a sample that is independent of the class.
//! - The contraction of Lemma 14 is for scalar classes, and is used for one coordinate of a vector
//!   class that the row's label picks.
//! - The bound says nothing, at no point and with no data: `loss_{1/e} ≤ 1` always, so it is vacuous from
//!   `r = 1/(4e)` on ([`VACUOUS_COMPLEXITY`]), and trained embeddings have many times that. Below it
//!   `f_c(x) = ⟨W_c, k(x, ·)⟩ ≤ ‖W‖ α = r < 1/e`, so that every training row has the loss 1 already. (With
//!   less than `sup √k(x, x)` for `α`, as the authors' networks have, the number may come out below 1; it
//!   then is no bound.)
//! - Lemma 9 has the constant `K` in the 1-norm, where `√K` suffices. Step (40) in the proof of
//!   Theorem 10 uses `|log a − log b| ≤ |a − b|/b`, which fails for `a < b`: see
//!   [`log_distance_bound`].

pub(crate) mod arrays;
pub(crate) mod calculators;
mod complexity;
mod rates;
mod risk;

pub use complexity::{VACUOUS_COMPLEXITY, ball_complexity, embedding_complexity, loss_multiplier};
pub use rates::{best_embedding_rate, embedding_rate, entropy_factor, log_distance_bound};
pub use risk::{clipped_risk, deviation_term, embedding_risk};
