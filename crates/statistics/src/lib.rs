//! Paired and corrected tests, intervals, ranks and effect sizes over repeated runs.
//!
//! | question | function |
//! |---|---|
//! | two methods, `J` random splits | [`corrected_t`] (beside it, as papers do, [`paired_t`]) |
//! | two methods, a fixed test set | [`paired_bootstrap`], [`mcnemar`] |
//! | two methods, these data sets | [`stouffer`] over the p of each, [`gain_over_data_sets`] |
//! | two methods, data sets in general | [`wilcoxon_signed_rank`] with [`holm`], [`bayesian_correlated_t`] |
//! | a method and the best of several | [`below_the_best`] |
//! | which of two varies less | [`less_spread`] |
//! | is a printed gain there again | [`replication_bayes_factor`] |
//! | several methods, several datasets | [`standings()`], of [`friedman`] and [`nemenyi_critical_difference`] |
//! | our mean against a printed one | [`verdict()`], [`verdict_on_error`], [`welch_summaries`] |
//! | how large is it | [`cohen_d_z`], [`hedges_g_z`], [`vargha_delaney_a12`] |
//! | one proportion | [`wilson_interval`], [`binomial_deviation`] |
//! | how does one number grow with another | [`line()`] |
//! | is a test honest | [`null_rejection_rates`], [`SameProcedure`] |
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | `J` | `count` | repeats |
//! | `s` | `sample_std` | deviation divided by `J − 1` |
//! | `n_test / n_train` | `test_over_train` | 0.25 for 80/20 splits |
//! | `ρ` | `correlation` | correlation of two splits' differences, `n_test / n` |
//!
//! Zero variance is never NaN: `p = 1` where the mean difference is 0, else `p = 0`, and the result
//! says that it is degenerate. It does not know what a method, a dataset or a loss is: it is
//! handed numbers that are already paired.

#![allow(
    clippy::float_cmp,
    reason = "ties, zeros and equal values are exact by definition; nothing is rounded first"
)]

mod bayes;
mod bootstrap;
mod combined;
mod design;
mod distributions;
mod effect;
mod error;
mod line;
mod mcnemar;
mod multiplicity;
mod null;
mod null_verdict;
mod proportion;
mod random;
mod ranks;
mod row_bootstrap;
mod standings;
mod summary;
mod t_test;
mod verdict;
mod wilcoxon;

pub use bayes::{BayesianT, bayesian_correlated_t};
pub use bootstrap::{Bootstrap, paired_bootstrap};
pub use combined::{
    Combined, Posterior, below_the_best, gain_over_data_sets, less_spread, p_of_interval, page,
    replication_bayes_factor, stouffer,
};
pub use design::Design;
pub use effect::{cohen_d_z, hedges_g_z, vargha_delaney_a12};
pub use error::StatisticsError;
pub use line::{Line, line};
pub use mcnemar::{McNemar, mcnemar};
pub use multiplicity::holm;
pub use null::{EqualMethods, RejectionRates, null_rejection_rates};
pub use null_verdict::{SameProcedure, VerdictRates};
pub use proportion::{binomial_deviation, wilson_interval};
pub use ranks::{
    Friedman, average_ranks, friedman, indistinguishable_groups, nemenyi_critical_difference,
};
pub use row_bootstrap::row_bootstrap;
pub use standings::{Standing, Standings, standings, without_rounding};
pub use summary::{Summary, summarise};
pub use t_test::{MeanStd, TTest, corrected_t, paired_summaries, paired_t, welch_summaries};
pub use verdict::{Judgement, Ours, Published, Verdict, verdict, verdict_on_error};
pub use wilcoxon::{Wilcoxon, wilcoxon_signed_rank};
