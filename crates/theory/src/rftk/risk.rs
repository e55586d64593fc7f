//! Equation (6) and Remark 2: from the three distances to the excess risk.

use crate::error::{check, check_count};
use crate::{Bound, TheoryError};

pub(crate) const SPLIT: &str = "Li, Liu and Zhang (IJCAI 2022), equation (6) and Remark 2";
pub(crate) const BIAS: &str = "Li, Liu and Zhang (IJCAI 2022), Remark 2, bias";

/// Returns the excess risk of RF-SGD from its three parts, Remark 2:
/// ```text
/// ‖f_{M,b,t} − f*‖²  ≤  ( ‖f_{M,b,t} − f_M‖ + ‖f_M − f‖ + √(B + V) )²
/// ```
/// Equation (6) prints the excess risk, a square, as at most the sum of the distances themselves,
/// which fails once they are large and depends on the unit of the targets. The term `(6) as printed`
/// has that sum; the term `3·Σ squares` a bound that adds the squares.
///
/// - `sgd_distance` is `‖f_{M,b,t} − f_M‖ ≥ 0` in `L²(μ)`, in target units (Theorem 1)
/// - `features_distance` is `‖f_M − f‖ ≥ 0` (Theorem 2), or `‖f_M − f_λ‖` where `M < n` (Theorem 3)
/// - `bias` and `variance` are `B ≥ 0` and `V ≥ 0`, with `‖f − f*‖² ≤ B + V`, in squared target units
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let risk = mercer_theory::split_excess_risk(0.1, 0.2, 0.05, 0.04)?;
/// assert!((risk.value - 0.36).abs() < 1e-15); // (0.1 + 0.2 + 0.3)²
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn split_excess_risk(
    sgd_distance: f64,
    features_distance: f64,
    bias: f64,
    variance: f64,
) -> Result<Bound, TheoryError> {
    let not_negative = "not negative and finite";
    check("sgd_distance", sgd_distance, |a| a >= 0.0, not_negative)?;
    check("features_distance", features_distance, |a| a >= 0.0, not_negative)?;
    check("bias", bias, |a| a >= 0.0, not_negative)?;
    check("variance", variance, |a| a >= 0.0, not_negative)?;
    let kernel = (bias + variance).sqrt();
    let sum = sgd_distance + features_distance + kernel;
    let squares = sgd_distance.powi(2) + features_distance.powi(2) + (bias + variance);
    Ok(Bound {
        value: sum * sum,
        terms: vec![
            ("‖f_Mbt − f_M‖", sgd_distance),
            ("‖f_M − f‖", features_distance),
            ("√(B+V)", kernel),
            ("3·Σ squares", 3.0 * squares),
            ("(6) as printed", sum),
        ],
        vacuous: None,
        source: SPLIT,
    })
}

/// Returns the bias of Remark 2 without its constant. It is to explain why a small trace is good:
/// ```text
/// B  ≲  (‖f‖_K / n) · √tr(K)
/// ```
/// It does not explain that: with `cK` in the place of `K` the trace is `c tr(K)` and the norm of
/// the same function `‖f‖_K/√c`, and the product stays what it was.
///
/// - `norm` is `‖f‖_K ≥ 0`, `trace` is `tr(K) ≥ 0`, `rows` is `n ≥ 1`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let (plain, halved) = (1.4, 1.4 * 2f64.sqrt());
/// let bias = mercer_theory::bias_rate(plain, 100.0, 100)?.value;
/// let of_half = mercer_theory::bias_rate(halved, 50.0, 100)?.value;
/// assert!((bias - 0.14).abs() < 1e-15 && (of_half - bias).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn bias_rate(norm: f64, trace: f64, rows: usize) -> Result<Bound, TheoryError> {
    check("norm", norm, |norm| norm >= 0.0, "not negative and finite")?;
    check("trace", trace, |tr| tr >= 0.0, "not negative and finite")?;
    check_count("rows", rows)?;
    let mean_norm = norm / rows as f64;
    let size = trace.sqrt();
    Ok(Bound {
        value: mean_norm * size,
        terms: vec![("‖f‖/n", mean_norm), ("√tr(K)", size)],
        vacuous: None,
        source: BIAS,
    })
}
