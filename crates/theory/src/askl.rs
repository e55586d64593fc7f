//! The bounds of "Automated Spectral Kernel Learning" (Li, Liu and Wang, AAAI 2020).
//!
//! They hold for a class that is fixed before the sample is seen. The paper evaluates them for
//! frequencies and a norm bound `B` that were learned from the same sample; then they are numbers
//! to compare, not guarantees. The sign in (14) should be an absolute deviation, and the index
//! sets of (18) are misprinted (`i, j` for `i, k`; its inequalities are equalities).

use crate::error::{check, check_count};
use crate::{Bound, TheoryError};
use mercer_linalg::cos;
use ndarray::{Array1, ArrayView2, Axis};

pub(crate) const RADEMACHER: &str = "Li, Liu and Wang (AAAI 2020), equation (11)";
pub(crate) const EXACT: &str =
    "the definition of the empirical Rademacher complexity, for a ball of the nuclear norm";
pub(crate) const RATE: &str = "Li, Liu and Wang (AAAI 2020), equation (12)";
pub(crate) const EXCESS: &str =
    "Li, Liu and Wang (AAAI 2020), Theorem 3, equation (10), first term";

/// Bounds the empirical Rademacher complexity from above, from the trace of the Gram matrix. The class is
/// `{x ↦ Wᵀφ(x) : ‖W‖_* ≤ B}`.
///
/// ```text
/// R̂(H)  ≤  (B/n) · √( K · tr )          tr = Σ_i k(x_i, x_i)
/// ```
/// Equation (11) of the paper. Its proof pairs the nuclear norm with the Frobenius norm where the dual is the spectral
/// norm. So it is valid but loose: [`crate::enumerate_rademacher`] has the exact value for a handful of points.
///
/// - `trace_norm` is `B ≥ 0`, the bound on the sum of the singular values of `W`
/// - `outputs` is `K ≥ 1`, `rows` is `n ≥ 1`
/// - `trace` is `tr ≥ 0`, the sum of the `n` diagonals
///
/// The term `ratio to the rate` is the value over (12). It is 1 if all diagonals are 1, and at least 0.707 for large
/// `D` at the usual random start. So "much tighter" is at most 29 % there.
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let bound = mercer_theory::rademacher_from_trace(2.5, 2, 4, 2.9389797879228796)?;
/// assert!((bound.value - 1.5152814785757627).abs() < 1e-12);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn rademacher_from_trace(
    trace_norm: f64,
    outputs: usize,
    rows: usize,
    trace: f64,
) -> Result<Bound, TheoryError> {
    let rate = askl_rate(trace_norm, outputs, rows)?.value;
    check("trace", trace, |tr| tr >= 0.0, "not negative and finite")?;
    let (b, k, n) = (trace_norm, outputs as f64, rows as f64);
    let norm = b / n;
    let spread = (k * trace).sqrt();
    // Where B = 0 both vanish; the ratio does not depend on B.
    let ratio = (trace / n).sqrt();
    Ok(Bound {
        value: norm * spread,
        terms: vec![
            ("B/n", norm),
            ("√(K·tr)", spread),
            ("rate", rate),
            ("ratio to the rate", ratio),
        ],
        vacuous: None,
        source: RADEMACHER,
    })
}

/// Returns the Rademacher bound from features: [`rademacher_from_trace`] with `tr = Σ_i ‖φ(x_i)‖²`.
///
/// - `feature_norms_squared` is `‖φ(x_i)‖²`, one a point (`n`)
///
/// With independent phases this is half a stationary kernel's trace in expectation, `n/2`, whatever the frequencies. So
/// it differs from [`rademacher_from_frequencies`]; with the map without phases the two are equal, with a shared phase
/// equal in expectation.
///
/// # Errors
/// [`TheoryError::Empty`] without points; [`TheoryError::Range`] for a negative or infinite entry
/// and as in [`rademacher_from_trace`].
///
/// # Examples
/// ```
/// let bound = mercer_theory::rademacher_from_features(1.0, 10, &[1.0; 1000])?;
/// assert!((bound.value - 0.1).abs() < 1e-12); // all norms 1: the rate √(K/n)
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn rademacher_from_features(
    trace_norm: f64,
    outputs: usize,
    feature_norms_squared: &[f64],
) -> Result<Bound, TheoryError> {
    let argument = "feature_norms_squared";
    if feature_norms_squared.is_empty() {
        return Err(TheoryError::Empty { argument });
    }
    for &norm in feature_norms_squared {
        check(argument, norm, |norm| norm >= 0.0, "not negative and finite")?;
    }
    let trace = feature_norms_squared.iter().sum();
    rademacher_from_trace(trace_norm, outputs, feature_norms_squared.len(), trace)
}

/// Returns the Rademacher bound from frequencies: [`rademacher_from_trace`] with the trace of [`spectral_diagonals`].
///
/// ```text
/// R̂(H)  ≤  (B/n) · √( (K/D) Σ_i Σ_j (1 + cos((ω_j − ω'_j)ᵀ x_i)) / 2 )
/// ```
///
/// # Errors
/// As [`spectral_diagonals`] and [`rademacher_from_trace`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// let (o, x) = (array![[0.5, -0.2]], array![[1.0], [2.0]]);
/// // ω = ω' is the stationary case: the rate.
/// let bound = mercer_theory::rademacher_from_frequencies(1.0, 2, o.view(), o.view(), x.view())?;
/// assert!((bound.value - 1.0).abs() < 1e-12);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn rademacher_from_frequencies(
    trace_norm: f64,
    outputs: usize,
    frequencies: ArrayView2<'_, f64>,
    frequencies_prime: ArrayView2<'_, f64>,
    points: ArrayView2<'_, f64>,
) -> Result<Bound, TheoryError> {
    let diagonals = spectral_diagonals(frequencies, frequencies_prime, points)?;
    rademacher_from_trace(trace_norm, outputs, diagonals.len(), diagonals.sum())
}

/// Returns the diagonal of the non-stationary spectral kernel,
/// ```text
/// k(x_i, x_i) = (1/D) Σ_j (1 + cos((ω_j − ω'_j)ᵀ x_i)) / 2,     in [0, 1]
/// ```
/// The paper's discussion prints `cos((ω − ω')ᵀ x)`, which can be negative and cannot be a diagonal.
///
/// - `frequencies`, `frequencies_prime` are `Ω`, `Ω'` (`d × D`, in 1/input unit)
/// - `points` is `X`, one point a row (`n × d`)
///
/// The time is `2 n d D` flops and `n D` cosines; rows are taken in blocks.
///
/// # Errors
/// [`TheoryError::Empty`] or [`TheoryError::Shape`].
///
/// # Examples
/// ```
/// use ndarray::array;
/// let (o, o_prime) = (array![[1.0, 0.0]], array![[0.0, 0.0]]);
/// let diagonals = mercer_theory::spectral_diagonals(
///     o.view(),
///     o_prime.view(),
///     array![[std::f64::consts::PI]].view(),
/// )?;
/// assert!((diagonals[0] - 0.5).abs() < 1e-12); // (0 + 1)/2
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn spectral_diagonals(
    frequencies: ArrayView2<'_, f64>,
    frequencies_prime: ArrayView2<'_, f64>,
    points: ArrayView2<'_, f64>,
) -> Result<Array1<f64>, TheoryError> {
    for (argument, length) in [("frequencies", frequencies.len()), ("points", points.len())] {
        if length == 0 {
            return Err(TheoryError::Empty { argument });
        }
    }
    let (d, features) = frequencies.dim();
    let fits = |argument, (found_rows, found_columns), (rows, columns)| {
        if (found_rows, found_columns) == (rows, columns) {
            return Ok(());
        }
        Err(TheoryError::Shape { argument, found_rows, found_columns, rows, columns })
    };
    fits("frequencies_prime", frequencies_prime.dim(), (d, features))?;
    fits("points", points.dim(), (points.nrows(), d))?;

    let gap = &frequencies - &frequencies_prime;
    let mut diagonals = Vec::with_capacity(points.nrows());
    let mut cosines = vec![0.0; features];
    // Blocks of rows, so that no n × D matrix is held.
    for block in points.axis_chunks_iter(Axis(0), 256) {
        let angles = block.dot(&gap);
        for angles in angles.rows() {
            cos(&angles.to_vec(), &mut cosines);
            diagonals.push(0.5 + 0.5 * cosines.iter().sum::<f64>() / features as f64);
        }
    }
    Ok(diagonals.into())
}

/// Returns the rate (12) without its constant. It is also the largest value of (11) for spectral kernels:
/// ```text
/// R̂(H)  ≤  B · √( K/n )
/// ```
///
/// - `trace_norm` is `B ≥ 0`, `outputs` is `K ≥ 1`, `rows` is `n ≥ 1`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let rate = mercer_theory::askl_rate(2.5, 2, 4)?;
/// assert!((rate.value - 1.7677669529663689).abs() < 1e-12);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn askl_rate(trace_norm: f64, outputs: usize, rows: usize) -> Result<Bound, TheoryError> {
    check("trace_norm", trace_norm, |b| b >= 0.0, "not negative and finite")?;
    check_count("outputs", outputs)?;
    check_count("rows", rows)?;
    let spread = (outputs as f64 / rows as f64).sqrt();
    Ok(Bound {
        value: trace_norm * spread,
        terms: vec![("B", trace_norm), ("√(K/n)", spread)],
        vacuous: None,
        source: RATE,
    })
}

/// Returns the first term of the excess risk bound (10). The loss is `L`-Lipschitz in the 2-norm:
/// ```text
/// E(f̂) − E(f*)  ≤  4√2 · L · R̂(H)  +  O( √(log(1/δ)/n) )
/// ```
/// The paper states no constant for the second term, so it is left out and the value is a lower
/// estimate of the bound.
///
/// - `lipschitz` is `L > 0`: `√2` for the multi-class hinge and for cross-entropy; the squared loss
///   has none on an unbounded range
/// - `rademacher` is `R̂(H) ≥ 0`, for example [`rademacher_from_trace`]
/// - `loss_range` is the width of the loss's range, `> 0`: no excess risk is larger, so from there
///   on the bound is vacuous
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// // The read-out at its random start, ‖W‖_* = 445.5, on 54000 digits: far above any loss.
/// let rate = mercer_theory::askl_rate(445.5, 10, 54_000)?;
/// let bound = mercer_theory::excess_risk_first_term(2f64.sqrt(), rate.value, 1.0)?;
/// assert!(bound.vacuous == Some(true) && (bound.value - 48.5).abs() < 0.05);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn excess_risk_first_term(
    lipschitz: f64,
    rademacher: f64,
    loss_range: f64,
) -> Result<Bound, TheoryError> {
    check("lipschitz", lipschitz, |l| l > 0.0, "positive and finite")?;
    check("rademacher", rademacher, |r| r >= 0.0, "not negative and finite")?;
    check("loss_range", loss_range, |m| m > 0.0, "positive and finite")?;
    let contraction = 4.0 * std::f64::consts::SQRT_2 * lipschitz;
    let value = contraction * rademacher;
    Ok(Bound {
        value,
        terms: vec![("4√2·L", contraction), ("R̂(H)", rademacher), ("loss range", loss_range)],
        vacuous: Some(value >= loss_range),
        source: EXCESS,
    })
}
