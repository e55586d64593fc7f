use crate::error::{check, check_count, check_filled};
use crate::{Bound, TheoryError};

pub(crate) const RATE: &str =
    "Hsu, Nock and Ramos (ECML-PKDD 2018), Theorems 1, 5 and 6, Lemmas 7 to 9, Theorem 10";
pub(crate) const ENTROPY: &str = "Hsu, Nock and Ramos (ECML-PKDD 2018), Theorem 10";

/// Returns the rate at which an embedding approaches the truth, without its constant. The decision probabilities have
/// the same rate: `(n λ)^{−1/2} + λ^{1/2}`.
///
/// - `rows` is `n ≥ 1`, `lambda` is `λ > 0`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// assert!((mercer_theory::embedding_rate(10_000, 0.01)?.value - 0.2).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn embedding_rate(rows: usize, lambda: f64) -> Result<Bound, TheoryError> {
    check_count("rows", rows)?;
    check("lambda", lambda, |lambda| lambda > 0.0, "positive and finite")?;
    let variance = (rows as f64 * lambda).sqrt().recip();
    let bias = lambda.sqrt();
    Ok(Bound {
        value: variance + bias,
        terms: vec![("(nλ)^−½", variance), ("λ^½", bias)],
        vacuous: None,
        source: RATE,
    })
}

/// Returns the least rate over `λ`: `2 n^{−1/4}`, at `λ = n^{−1/2}`, the term `λ`.
///
/// # Errors
/// [`TheoryError::Range`] for no rows.
///
/// # Examples
/// ```
/// let best = mercer_theory::best_embedding_rate(10_000)?;
/// assert!((best.value - 0.2).abs() < 1e-15 && best.term("λ") == Some(0.01));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn best_embedding_rate(rows: usize) -> Result<Bound, TheoryError> {
    check_count("rows", rows)?;
    let lambda = (rows as f64).sqrt().recip();
    Ok(Bound {
        value: 2.0 * lambda.sqrt(),
        terms: vec![("λ", lambda)],
        vacuous: None,
        source: RATE,
    })
}

/// Returns the factor of Theorem 10. The error of an entropy exceeds the error of the probabilities by it:
/// `γ = ‖p̂‖ max_c 1/min(p_c, p̂_c) + ‖u‖`, `u_c = −log p_c`.
///
/// The proof's step (40) has `max 1/p_c` of the true probabilities only, which by [`log_distance_bound`] is
/// too little where an estimate is smaller: the term `as printed`.
///
/// - `truth` is `p(x)`, every entry positive, their sum 1 (to two digits); `estimate` is `p̂(x)`, every
///   entry positive: decision probabilities need not sum to 1
///
/// # Errors
/// [`TheoryError::Empty`], [`TheoryError::Shape`] or [`TheoryError::Range`].
///
/// # Examples
/// ```
/// let gamma = mercer_theory::entropy_factor(&[0.5, 0.5], &[0.5, 0.5])?;
/// assert!((gamma.value - (2f64.sqrt() + 2f64.sqrt() * 2f64.ln())).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn entropy_factor(truth: &[f64], estimate: &[f64]) -> Result<Bound, TheoryError> {
    check_filled("truth", truth.len())?;
    crate::error::check_shape("estimate", (estimate.len(), 1), (truth.len(), 1))?;
    for (name, entries) in [("truth", truth), ("estimate", estimate)] {
        entries.iter().try_for_each(|&p| check(name, p, |p| p > 0.0, "positive and finite"))?;
    }
    let sums_to_one = |sum: f64| (sum - 1.0).abs() < 0.01;
    check("sum of truth", truth.iter().sum(), sums_to_one, "1: these are probabilities")?;
    let norm = |entries: &mut dyn Iterator<Item = f64>| entries.map(|p| p * p).sum::<f64>().sqrt();
    let size = norm(&mut estimate.iter().copied());
    let information = norm(&mut truth.iter().map(|p| -p.ln()));
    let least = |entries: &[f64]| entries.iter().copied().fold(f64::INFINITY, f64::min);
    let (of_truth, of_both) = (least(truth), least(truth).min(least(estimate)));
    Ok(Bound {
        value: size / of_both + information,
        terms: vec![
            ("‖p̂‖ max 1/min(p, p̂)", size / of_both),
            ("‖u‖", information),
            ("as printed", size / of_truth + information),
        ],
        vacuous: None,
        source: ENTROPY,
    })
}

/// Bounds `|log a − log b| ≤ |a − b|/min(a, b)`. Step (40) prints `b` for the minimum, which fails for `a < b`: the
/// term `as printed`.
///
/// - `first` and `second` are `a, b > 0`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let bound = mercer_theory::log_distance_bound(0.1, 0.5)?;
/// let truth = (0.1f64.ln() - 0.5f64.ln()).abs();
/// assert!(truth <= bound.value && truth > bound.term("as printed").unwrap()); // 1.609 > 0.8
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn log_distance_bound(first: f64, second: f64) -> Result<Bound, TheoryError> {
    check("first", first, |a| a > 0.0, "positive and finite")?;
    check("second", second, |b| b > 0.0, "positive and finite")?;
    let distance = (first - second).abs();
    Ok(Bound {
        value: distance / first.min(second),
        terms: vec![("|a − b|", distance), ("as printed", distance / second)],
        vacuous: None,
        source: ENTROPY,
    })
}
