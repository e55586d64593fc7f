//! Theorem 3: the ridge that fewer features than rows amount to. It also covers that ridge beside a given ridge.

use crate::error::{check, check_count, check_filled, check_finite};
use crate::{Bound, TheoryError};
use serde::Serialize;

pub(crate) const EFFECTIVE: &str = "Li, Liu and Zhang (IJCAI 2022), Theorem 3";
pub(crate) const BESIDE: &str =
    "Jacot, Şimşek, Spadaro, Hongler and Gabriel (ICML 2020); without a ridge, Theorem 3";
pub(crate) const LIMIT: &str = "Li, Liu and Zhang (IJCAI 2022), Theorem 3, λ ∝ 1/M made precise";

/// What the trace `Tr[K(K + λnI)⁻¹]` has to be.
///
/// ```
/// use mercer_theory::{RidgeCondition, effective_ridge};
/// let eigenvalues = [1.0, 0.5, 0.25, 0.125];
/// // As many features as rows interpolate: no ridge. The displayed condition asks for a trace of 1.
/// assert_eq!(effective_ridge(&eigenvalues, 4, RidgeCondition::Features)?.lambda, 0.0);
/// let misprinted = effective_ridge(&eigenvalues, 4, RidgeCondition::Misprinted)?;
/// assert!(misprinted.target == 1.0 && misprinted.lambda > 0.0);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum RidgeCondition {
    /// `M`, as in the paper's discussion: at `M = n` it gives `λ = 0`.
    Features,
    /// `M/n`, as in the displayed Theorem 3. It is a misprint, or the trace was meant to be divided by `n`. At `M = n`
    /// it gives a trace of 1, which is no interpolation.
    Misprinted,
}

/// A ridge that random features amount to; see [`effective_ridge`].
///
/// ```
/// use mercer_theory::{RidgeCondition, effective_ridge};
/// // Of the identity: 4/(1 + t) = 2.
/// let ridge = effective_ridge(&[1.0; 4], 2, RidgeCondition::Features)?;
/// assert!((ridge.shift - 1.0).abs() < 1e-14 && (ridge.lambda - 0.25).abs() < 1e-14);
/// assert!((ridge.trace - ridge.target).abs() < 1e-14 && ridge.target == 2.0);
/// assert_eq!(ridge.rank, 4);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EffectiveRidge {
    /// `λ ≥ 0` of `(K + λnI)⁻¹`, in units of `K` over `n`.
    pub lambda: f64,
    /// `t = λn`, the shift added to the diagonal of `K`.
    pub shift: f64,
    /// What the trace has to be: `M` or `M/n`.
    pub target: f64,
    /// `Tr[K(K + tI)⁻¹]`. It differs from the target by rounding, or is the rank of `K` where no ridge makes it as
    /// large as the target.
    pub trace: f64,
    /// Rank of `K`: number of eigenvalues above `n · ε` times the largest.
    pub rank: usize,
    /// Evaluations of the trace that the root took; 0 where `λ = 0`.
    pub evaluations: usize,
}

/// More than enough. A bracket in `ln t` shrinks to one unit in the last place in under 70 halvings. A step is either a
/// halving or less than half of the step before the last.
const MOST_EVALUATIONS: usize = 200;

/// Returns the ridge `λ` that ridgeless regression with `M < n` random features amounts to. The regression behaves like
/// kernel ridge regression with `λ`, which follows from the eigenvalues `d_i` of `K`:
/// ```text
/// Tr[K(K + λnI)⁻¹]  =  Σ_i d_i / (d_i + t)  =  M,        t = λn
/// ```
/// With `F = K^{1/2}Z` (`n × M`, Gaussian), the projection `F F⁺` has the trace `M`, and its mean is
/// close to `K(K + tI)⁻¹`.
///
/// - `eigenvalues` are the eigenvalues of `K` (`n`), in any order
/// - `features` is `M ≥ 1`; from the rank of `K` on (so from `n` on) the ridge is 0
/// - `condition` chooses between the two printed forms; [`RidgeCondition::Features`] is right
///
/// The root is unique, since the sum falls in `t`. It is bracketed by `d_(r) (r − T)/T ≤ t ≤ tr(K)/T` for the target
/// `T`, `r = ⌊T⌋ + 1` and `d_(r)` the `r`-th largest eigenvalue. Newton's method in `ln t` finds it, replaced by
/// halving wherever it would leave the bracket or gain too little. The upper end says that `λ ≤ tr(K)/(nM)`
/// ([`effective_ridge_limit`]).
///
/// # Errors
/// [`TheoryError::Empty`] without eigenvalues; [`TheoryError::Range`] for `M = 0`, for eigenvalues
/// that are not finite, all zero, or clearly negative.
///
/// # Examples
/// ```
/// use mercer_theory::{RidgeCondition, effective_ridge};
/// let ridge = effective_ridge(&[1.0, 0.5, 0.25, 0.125], 2, RidgeCondition::Features)?;
/// assert!((ridge.shift - 0.125f64.sqrt()).abs() < 1e-15);
/// assert_eq!(effective_ridge(&[1.0, 0.5], 2, RidgeCondition::Features)?.lambda, 0.0);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn effective_ridge(
    eigenvalues: &[f64],
    features: usize,
    condition: RidgeCondition,
) -> Result<EffectiveRidge, TheoryError> {
    check_filled("eigenvalues", eigenvalues.len())?;
    check_count("features", features)?;
    check_finite("eigenvalues", eigenvalues)?;
    let mut sorted = eigenvalues.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let n = sorted.len();
    let largest = sorted[0];
    super::check_semi_definite("eigenvalues", sorted[n - 1], largest)?;
    let cutoff = super::rank_cutoff(n, largest);
    // In units of the largest eigenvalue nothing overflows.
    let d: Vec<f64> = sorted.iter().take_while(|&&d| d > cutoff).map(|d| d / largest).collect();
    let target = match condition {
        RidgeCondition::Features => features as f64,
        RidgeCondition::Misprinted => features as f64 / n as f64,
    };
    let root = root(&d, target);
    let shift = root.at * largest;
    Ok(EffectiveRidge {
        lambda: shift / n as f64,
        shift,
        target,
        trace: root.trace,
        rank: d.len(),
        evaluations: root.evaluations,
    })
}

struct Root {
    at: f64,
    trace: f64,
    evaluations: usize,
}

/// Solves `Σ d_i/(d_i + t) = target` for eigenvalues in descending order, the largest 1.
fn root(d: &[f64], target: f64) -> Root {
    if target >= d.len() as f64 {
        return Root { at: 0.0, trace: d.len() as f64, evaluations: 0 };
    }
    // The first r terms alone are at least r d_r/(d_r + t); all together at most tr/t.
    let r = target.floor() + 1.0;
    let mut low = (d[r as usize - 1] * (r - target) / target).ln();
    let mut high = (d.iter().sum::<f64>() / target).ln();
    let mut at = 0.5 * (low + high);
    let (mut step, mut step_before) = (f64::INFINITY, f64::INFINITY);
    for evaluations in 1..=MOST_EVALUATIONS {
        let t = at.exp();
        let trace: f64 = d.iter().map(|d| d / (d + t)).sum();
        // −d trace / d ln t = Σ s_i (1 − s_i) with s_i = d_i/(d_i + t).
        let slope: f64 = d.iter().map(|d| d * t / ((d + t) * (d + t))).sum();
        if trace > target {
            low = low.max(at);
        } else {
            high = high.min(at);
        }
        let newton = at + (trace - target) / slope;
        let inside = newton > low && newton < high;
        // From one side alone Newton leaves the other end of the bracket where it is: its steps say
        // whether it gains, the width of the bracket does not.
        let gains = (newton - at).abs() <= 0.5 * step_before;
        let next = if inside && gains { newton } else { 0.5 * (low + high) };
        // Closer than the sum is known, or closer than `at` can be told from its neighbours.
        let solved = (trace - target).abs() <= 4.0 * f64::EPSILON * target;
        let resolution = 2.0 * f64::EPSILON * at.abs().max(1.0);
        let settled = inside && (newton - at).abs() <= resolution;
        if solved || settled || high - low <= resolution {
            return Root { at: t, trace, evaluations };
        }
        step_before = std::mem::replace(&mut step, (next - at).abs());
        at = next;
    }
    let t = at.exp();
    let trace = d.iter().map(|d| d / (d + t)).sum();
    Root { at: t, trace, evaluations: MOST_EVALUATIONS }
}

/// Returns the ridge that `M` random features with their own ridge `λ` amount to. In the mean over draws it is:
/// ```text
/// t  =  λ n  +  (t / M) Σ_i d_i / (d_i + t),        the ridge is t/n ≥ λ
/// ```
/// Ridge regression `(ΦᵀΦ + λnI)⁻¹` with Gaussian features is in the mean close to kernel ridge
/// regression with `t/n` (Jacot, Şimşek, Spadaro, Hongler and Gabriel, ICML 2020). At `λ = 0` this is
/// [`effective_ridge`] with [`RidgeCondition::Features`], where the ridge is 0 from the rank of `K` on;
/// for `M → ∞` it is `λ`.
///
/// - `eigenvalues` are the eigenvalues of `K` (`n`), in any order; `features` is `M ≥ 1`; `lambda` is `λ ≥ 0`
///
/// The root is unique, since `λn/t + (1/M) Σ d_i/(d_i + t)` falls from infinity to 0 and has to be 1. It
/// lies between `λn` and `λn + tr(K)/M`, and is halved towards in `ln t`. `target` and `trace` of the
/// result are both `Tr[K(K + tI)⁻¹]`, the first from the equation.
///
/// # Errors
/// As [`effective_ridge`], and [`TheoryError::Range`] for a negative `lambda`.
///
/// # Examples
/// ```
/// use mercer_theory::effective_ridge_beside;
/// let ridge = effective_ridge_beside(&[1.0, 0.5, 0.25, 0.125], 8, 0.01)?;
/// let t = ridge.shift;
/// let trace = 1.0 / (1.0 + t) + 0.5 / (0.5 + t) + 0.25 / (0.25 + t) + 0.125 / (0.125 + t);
/// assert!((t - 0.04 - t / 8.0 * trace).abs() < 1e-14 && ridge.lambda > 0.01);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn effective_ridge_beside(
    eigenvalues: &[f64],
    features: usize,
    lambda: f64,
) -> Result<EffectiveRidge, TheoryError> {
    check("lambda", lambda, |lambda| lambda >= 0.0, "not negative and finite")?;
    let alone = effective_ridge(eigenvalues, features, RidgeCondition::Features)?;
    if lambda == 0.0 {
        return Ok(alone);
    }
    let (n, m) = (eigenvalues.len() as f64, features as f64);
    let own = lambda * n;
    // Rounding below zero counts as zero.
    let d: Vec<f64> = eigenvalues.iter().map(|d| d.max(0.0)).collect();
    let trace_at = |t: f64| d.iter().map(|d| d / (d + t)).sum::<f64>();
    let (mut low, mut high) = (own.ln(), (own + d.iter().map(|d| d / m).sum::<f64>()).ln());
    let mut evaluations = 0;
    while evaluations < MOST_EVALUATIONS
        && high - low > 2.0 * f64::EPSILON * low.abs().max(high.abs()).max(1.0)
    {
        let middle = 0.5 * (low + high);
        let t = middle.exp();
        if own / t + trace_at(t) / m > 1.0 {
            low = middle;
        } else {
            high = middle;
        }
        evaluations += 1;
    }
    let t = (0.5 * (low + high)).exp().max(own);
    Ok(EffectiveRidge {
        lambda: t / n,
        shift: t,
        target: m * (1.0 - own / t),
        trace: trace_at(t),
        rank: alone.rank,
        evaluations,
    })
}

/// Returns the largest ridge that `M` random features can amount to:
/// ```text
/// λ  ≤  tr(K) / (n M)
/// ```
/// The only sense in which the paper's "`λ ∝ 1/M`" holds: from `Σ d_i/(d_i + t) ≤ tr(K)/t`.
///
/// - `trace` is `tr(K) > 0`, `rows` is `n ≥ 1`, `features` is `M ≥ 1`
///
/// From `M = n` on the ridge itself is 0 ([`effective_ridge`]).
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let limit = mercer_theory::effective_ridge_limit(1.875, 4, 2)?;
/// assert_eq!(limit.value, 0.234375); // the ridge itself is 0.0884
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn effective_ridge_limit(
    trace: f64,
    rows: usize,
    features: usize,
) -> Result<Bound, TheoryError> {
    check("trace", trace, |tr| tr > 0.0, "positive and finite")?;
    check_count("rows", rows)?;
    check_count("features", features)?;
    let mean = trace / rows as f64;
    let share = 1.0 / features as f64;
    Ok(Bound {
        value: mean * share,
        terms: vec![("tr(K)/n", mean), ("1/M", share)],
        vacuous: None,
        source: LIMIT,
    })
}
