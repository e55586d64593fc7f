use crate::TheoryError;
use crate::error::{check, check_count, check_filled, check_finite, check_shape};
use mercer_linalg::SmallEigen;
use ndarray::ArrayView2;

/// Largest `n K` whose `2^(nK)` sign patterns are enumerated.
const LIMIT: usize = 20;

/// Rademacher averages over every sign pattern, for a class `{x ↦ Wᵀφ(x) : ‖W‖_* ≤ B}`.
///
/// ```
/// use mercer_theory::enumerate_rademacher;
/// use ndarray::array;
/// // Two orthonormal points, two outputs: half of the 2 x 2 matrices of signs have rank 1 and the norm 2,
/// // the others the norm √2; each has the Frobenius norm 2.
/// let averages = enumerate_rademacher(1.0, 2, array![[1.0, 0.0], [0.0, 1.0]].view())?;
/// assert!((averages.spectral - (2.0 + 2f64.sqrt()) / 4.0).abs() < 1e-14);
/// assert!((averages.frobenius - 1.0).abs() < 1e-14); // what the proof pairs with is larger
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RademacherAverages {
    /// `(B/n) E‖Φ_ε‖_2`, the empirical Rademacher complexity itself. The spectral norm is dual to the nuclear norm.
    pub spectral: f64,
    /// `(B/n) E‖Φ_ε‖_F`, which the paper's proof reaches by pairing with the Frobenius norm. Jensen's inequality then
    /// takes it to (11).
    pub frobenius: f64,
}

/// Returns both averages, exactly, for a handful of points.
///
/// With `Φ_ε = Σ_i φ(x_i) ε_iᵀ` (features × `K`) and the Gram matrix `G` of the features,
/// `Φ_εᵀ Φ_ε = εᵀ G ε` (`K × K`), so that only `G` is needed: its largest eigenvalue is
/// `‖Φ_ε‖_2²`, its trace `‖Φ_ε‖_F²`.
///
/// - `trace_norm` is `B ≥ 0`; `outputs` is `K ≥ 1`
/// - `gram` is `G`, symmetric and positive semi-definite (`n × n`)
///
/// The time is `2^(nK−1) (n² K + n K² + K³)`.
///
/// # Errors
/// [`TheoryError::Empty`], [`TheoryError::Shape`] (not square), [`TheoryError::Range`] (NaN, or
/// `B` out of range) or [`TheoryError::TooManyPatterns`] beyond `n K = 20`.
///
/// # Examples
/// ```
/// use ndarray::array;
/// // One point with ‖φ‖ = 2, one output: ε = ±1 does not matter.
/// let averages = mercer_theory::enumerate_rademacher(3.0, 1, array![[4.0]].view())?;
/// assert_eq!((averages.spectral, averages.frobenius), (6.0, 6.0));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn enumerate_rademacher(
    trace_norm: f64,
    outputs: usize,
    gram: ArrayView2<'_, f64>,
) -> Result<RademacherAverages, TheoryError> {
    check("trace_norm", trace_norm, |b| b >= 0.0, "not negative and finite")?;
    check_count("outputs", outputs)?;
    let (n, k) = (gram.nrows(), outputs);
    check_filled("gram", n)?;
    check_shape("gram", gram.dim(), (n, n))?;
    check_finite("gram", gram)?;
    if n.saturating_mul(k) > LIMIT {
        return Err(TheoryError::TooManyPatterns { points: n, outputs, limit: LIMIT });
    }

    // ε and −ε have the same norms: the first sign stays +1.
    let patterns = 1u32 << (n * k - 1);
    let mut eigen = SmallEigen::new(k);
    let (mut signs, mut weighted) = (vec![1.0; n * k], vec![0.0; n * k]);
    let mut small = vec![0.0; k * k];
    let (mut spectral, mut frobenius) = (0.0, 0.0);
    for pattern in 0..patterns {
        for (bit, sign) in signs.iter_mut().skip(1).enumerate() {
            *sign = if pattern >> bit & 1 == 1 { -1.0 } else { 1.0 };
        }
        for i in 0..n {
            for c in 0..k {
                weighted[i * k + c] = (0..n).map(|j| gram[[i, j]] * signs[j * k + c]).sum();
            }
        }
        for a in 0..k {
            for b in 0..k {
                small[a * k + b] = (0..n).map(|i| signs[i * k + a] * weighted[i * k + b]).sum();
            }
        }
        let trace: f64 = (0..k).map(|c| small[c * k + c]).sum();
        if !eigen.decompose(&small) {
            return Err(TheoryError::Range {
                argument: "gram",
                value: trace,
                must: "a Gram matrix whose entries do not overflow",
            });
        }
        let largest = eigen.values().iter().copied().fold(0.0, f64::max);
        spectral += largest.sqrt();
        frobenius += trace.max(0.0).sqrt();
    }
    let scale = trace_norm / (n as f64 * f64::from(patterns));
    Ok(RademacherAverages { spectral: scale * spectral, frobenius: scale * frobenius })
}
