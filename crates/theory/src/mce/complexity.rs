use crate::error::{check, check_count, check_finite, check_shape};
use crate::{Bound, TheoryError};
use ndarray::ArrayView2;
use std::f64::consts::E;

pub(crate) const COMPLEXITY: &str =
    "Hsu, Nock and Ramos (ECML-PKDD 2018), Theorems 2 and 11, Corollary 12";
pub(crate) const MULTIPLIER: &str = "Hsu, Nock and Ramos (ECML-PKDD 2018), Lemma 14";
pub(crate) const BALL: &str = "the definition of the Rademacher complexity, for a ball";

/// `1/(4e)`: from this `r` on, `4e r` alone is as large as `loss_{1/e}` can be.
pub const VACUOUS_COMPLEXITY: f64 = 1.0 / (4.0 * E);

/// Most rows whose sign patterns are enumerated.
const MOST_ROWS: usize = 20;

/// Returns the Rademacher complexity of a class of embeddings, Theorems 2 and 11:
/// ```text
/// R_n(F)  ≤  2 α ρ
/// ```
/// The term `fixed kernel` is `2αρ/√n`, which holds where the kernel does not vary over the class.
///
/// - `sensitivity` is `α ≥ sup √k(x, x)`, `α ≥ 0` (for a stationary kernel, its scale)
/// - `norm` is `ρ ≥ ‖W‖_HS`, `ρ ≥ 0`, and `rows` is `n ≥ 1`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let bound = mercer_theory::embedding_complexity(1.0, 2.6, 160)?;
/// assert_eq!(bound.value, 5.2);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn embedding_complexity(
    sensitivity: f64,
    norm: f64,
    rows: usize,
) -> Result<Bound, TheoryError> {
    check("sensitivity", sensitivity, |alpha| alpha >= 0.0, "not negative and finite")?;
    check("norm", norm, |rho| rho >= 0.0, "not negative and finite")?;
    check_count("rows", rows)?;
    let r = sensitivity * norm;
    Ok(Bound {
        value: 2.0 * r,
        terms: vec![("r", r), ("fixed kernel", 2.0 * r / (rows as f64).sqrt())],
        vacuous: None,
        source: COMPLEXITY,
    })
}

/// Returns the complexity of all functions of norm at most `ρ` on given rows. It is exact:
/// `R_n = (2/n) ρ E_σ √(σᵀ K σ)`, by all `2ⁿ` sign patterns.
///
/// - `gram` is `K`, `n × n`, symmetric; `n ≤ 20`
///
/// # Errors
/// [`TheoryError::Shape`], [`TheoryError::Range`] or, for more than 20 rows,
/// [`TheoryError::TooManyPatterns`].
///
/// # Examples
/// ```
/// // Two orthogonal points: σᵀKσ = 2 for every pattern.
/// let exact = mercer_theory::ball_complexity(ndarray::array![[1.0, 0.0], [0.0, 1.0]].view(), 3.0)?;
/// assert!((exact.value - 3.0 * 2f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn ball_complexity(gram: ArrayView2<'_, f64>, norm: f64) -> Result<Bound, TheoryError> {
    let n = gram.nrows();
    check_count("gram", n)?;
    check_shape("gram", gram.dim(), (n, n))?;
    check_finite("gram", gram.iter())?;
    check("norm", norm, |rho| rho >= 0.0, "not negative and finite")?;
    if n > MOST_ROWS {
        return Err(TheoryError::TooManyPatterns { points: n, outputs: 1, limit: MOST_ROWS });
    }
    // A pattern and its opposite give the same: half of them will do.
    let patterns = 1u32 << (n - 1);
    let mut sum = 0.0;
    for pattern in 0..patterns {
        let sign = |i: usize| if pattern >> i & 1 == 1 { -1.0 } else { 1.0 };
        let form: f64 = gram.indexed_iter().map(|((i, j), k)| sign(i) * sign(j) * k).sum();
        sum += form.max(0.0).sqrt();
    }
    let mean = sum / f64::from(patterns);
    Ok(Bound {
        value: 2.0 / n as f64 * norm * mean,
        terms: vec![("E√(σᵀKσ)", mean)],
        vacuous: None,
        source: BALL,
    })
}

/// Returns the factor of `αρ` in the risk bound with the loss clipped at `ε`. By Lemmas 14 and 15 it is
/// `4/(ε log(1/ε))`, least at `ε = 1/e`, where it is `4e`.
///
/// The term `Lipschitz` is `1/(ε log(1/ε))`, the constant of the normalised loss.
///
/// # Errors
/// [`TheoryError::Range`] unless `epsilon` is in `(0, 1)`.
///
/// # Examples
/// ```
/// let least = mercer_theory::loss_multiplier((-1f64).exp())?.value;
/// assert!((least - 10.87312731383618).abs() < 1e-13);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn loss_multiplier(epsilon: f64) -> Result<Bound, TheoryError> {
    check("epsilon", epsilon, |e| e > 0.0 && e < 1.0, "above 0 and below 1")?;
    let lipschitz = 1.0 / (epsilon * -epsilon.ln());
    Ok(Bound {
        value: 4.0 * lipschitz,
        terms: vec![("Lipschitz", lipschitz), ("M", -epsilon.ln())],
        vacuous: None,
        source: MULTIPLIER,
    })
}
