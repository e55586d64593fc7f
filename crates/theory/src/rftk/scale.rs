//! The trace that RFTK penalises, and its part independent of the features' scale.

use crate::error::{check, check_count, check_filled, check_finite, check_shape};
use crate::{Bound, TheoryError};
use ndarray::ArrayView2;
use serde::Serialize;

pub(crate) const RANK: &str =
    "companion of the trace in Li, Liu and Zhang (IJCAI 2022), equation (10)";
pub(crate) const START: &str =
    "Li, Liu and Zhang (IJCAI 2022), Figure 2(c), as the released code records it";

/// Returns how many eigenvalues of a Gram matrix count:
/// ```text
/// r  =  tr(K)² / ‖K‖_F²  =  (Σ d_i)² / Σ d_i²,        1 ≤ r ≤ n
/// ```
/// The trace itself follows the scale: features that are halved have a quarter of it and the same
/// ridgeless predictions. `r` does not: it is 1 for a constant kernel, where all points look alike,
/// and `n` for a diagonal one, where none do.
///
/// - `trace` is `tr(K) > 0`
/// - `frobenius` is `‖K‖_F > 0`, at most `tr(K)` since `K` is positive semi-definite
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// // d = (3, 1)
/// let rank = mercer_theory::effective_rank(4.0, 10f64.sqrt())?;
/// assert!((rank.value - 1.6).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn effective_rank(trace: f64, frobenius: f64) -> Result<Bound, TheoryError> {
    check("trace", trace, |tr| tr > 0.0, "positive and finite")?;
    // Equal where the rank is 1, but for rounding.
    let allowed = |norm: f64| norm > 0.0 && norm <= (1.0 + 1e-9) * trace;
    check("frobenius", frobenius, allowed, "positive and at most the trace")?;
    let ratio = (trace / frobenius).max(1.0);
    Ok(Bound {
        value: ratio * ratio,
        terms: vec![("tr(K)", trace), ("‖K‖_F", frobenius)],
        vacuous: None,
        source: RANK,
    })
}

/// The size of a Gram matrix with and without its scale.
///
/// ```
/// use mercer_theory::trace_scale_from_gram;
/// use ndarray::Array2;
/// let one = trace_scale_from_gram(Array2::eye(3).view())?;
/// assert!((one.trace - 3.0).abs() < 1e-15 && (one.frobenius - 3f64.sqrt()).abs() < 1e-15);
/// let four = trace_scale_from_gram((4.0 * Array2::<f64>::eye(3)).view())?;
/// assert_eq!(four.trace, 12.0); // the trace follows the scale, the rank does not
/// assert!((one.effective_rank - 3.0).abs() < 1e-14 && (four.effective_rank - 3.0).abs() < 1e-14);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TraceScale {
    /// `tr(K) = ‖φ(X)‖_F²`, which RFTK penalises.
    pub trace: f64,
    /// `‖K‖_F`.
    pub frobenius: f64,
    /// `tr(K)²/‖K‖_F²`; see [`effective_rank`].
    pub effective_rank: f64,
}

impl TraceScale {
    fn new(
        argument: &'static str,
        trace: f64,
        frobenius_squared: f64,
    ) -> Result<Self, TheoryError> {
        check(argument, trace, |tr| tr > 0.0, "positive semi-definite, not zero, not too large")?;
        let frobenius = frobenius_squared.sqrt();
        let effective_rank = effective_rank(trace, frobenius)?.value;
        Ok(Self { trace, frobenius, effective_rank })
    }
}

/// Returns the [`TraceScale`] of a Gram matrix.
///
/// - `gram` is `K` (`n × n`), symmetric and positive semi-definite
///
/// # Errors
/// [`TheoryError::Empty`], [`TheoryError::Shape`] (not square), or [`TheoryError::Range`] for NaN,
/// for zero and for a `K` that cannot be positive semi-definite because `‖K‖_F > tr(K)`.
///
/// # Examples
/// ```
/// use ndarray::array;
/// let scale = mercer_theory::trace_scale_from_gram(array![[1.0, 1.0], [1.0, 1.0]].view())?;
/// assert_eq!((scale.trace, scale.effective_rank), (2.0, 1.0));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn trace_scale_from_gram(gram: ArrayView2<'_, f64>) -> Result<TraceScale, TheoryError> {
    let n = gram.nrows();
    check_filled("gram", gram.len())?;
    check_shape("gram", gram.dim(), (n, n))?;
    check_finite("gram", gram)?;
    let frobenius_squared = gram.iter().map(|entry| entry * entry).sum();
    TraceScale::new("gram", gram.diag().sum(), frobenius_squared)
}

/// Returns the [`TraceScale`] of `K = φ(X) φ(X)ᵀ` from the features.
///
/// `‖φφᵀ‖_F = ‖φᵀφ‖_F`, so that the smaller of the two products is formed.
///
/// - `features` is `φ(X)`, one point a row (`n × M`)
///
/// The time is `n M min(n, M)` multiply-adds, the memory `min(n, M)²` numbers.
///
/// # Errors
/// [`TheoryError::Empty`], or [`TheoryError::Range`] for NaN and for features that are all zero.
///
/// # Examples
/// ```
/// use ndarray::array;
/// let phi = array![[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]];
/// let scale = mercer_theory::trace_scale_from_features(phi.view())?;
/// assert!((scale.trace - 6.0).abs() < 1e-14);
/// assert!((scale.effective_rank - 36.0 / 26.0).abs() < 1e-14); // eigenvalues 1 and 5
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn trace_scale_from_features(features: ArrayView2<'_, f64>) -> Result<TraceScale, TheoryError> {
    check_filled("features", features.len())?;
    check_finite("features", features)?;
    let (n, m) = features.dim();
    let product = if n < m { features.dot(&features.t()) } else { features.t().dot(&features) };
    let frobenius_squared = product.iter().map(|entry| entry * entry).sum();
    TraceScale::new("features", product.diag().sum(), frobenius_squared)
}

/// Where the trace curve of Figure 2(c) starts:
/// ```text
/// β · ‖φ(X)‖_F / n · q  ≈  β · √(n/2) / n · q
/// ```
/// since `E‖φ(X)‖_F² = n/2` for `φ(x) = M^−1/2 cos(Oᵀx + b)` with `b` uniform, whatever `O`. The
/// released code penalises the norm, not its square, over the rows of the validation part, and
/// multiplies by `q` because it records the term on that share of the batches only.
///
/// - `weight` is `β ≥ 0` (100 there), `rows` is `n ≥ 1` (6000), `recorded_share` is `q` in `(0, 1]`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let start = mercer_theory::penalty_at_start(100.0, 6000, 0.1)?;
/// assert!((start.value - 0.0912870929).abs() < 1e-10);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn penalty_at_start(
    weight: f64,
    rows: usize,
    recorded_share: f64,
) -> Result<Bound, TheoryError> {
    check("weight", weight, |beta| beta >= 0.0, "not negative and finite")?;
    check_count("rows", rows)?;
    check("recorded_share", recorded_share, |q| q > 0.0 && q <= 1.0, "above 0 and at most 1")?;
    let n = rows as f64;
    let norm = (n / 2.0).sqrt();
    let penalty = weight * norm / n;
    Ok(Bound {
        value: penalty * recorded_share,
        terms: vec![("√(n/2)", norm), ("β·√(n/2)/n", penalty), ("q", recorded_share)],
        vacuous: None,
        source: START,
    })
}
