use super::complexity::loss_multiplier;
use crate::error::{check, check_count};
use crate::{Bound, TheoryError};
use std::f64::consts::E;

pub(crate) const CLIPPED: &str = "Hsu, Nock and Ramos (ECML-PKDD 2018), Lemmas 13 and 15";
pub(crate) const RISK: &str =
    "Hsu, Nock and Ramos (ECML-PKDD 2018), Theorems 3, 4, 16 and 18, Lemma 17";
pub(crate) const DEVIATION: &str = "Hsu, Nock and Ramos (ECML-PKDD 2018), Lemma 13";

/// Returns the term of all these bounds that only more rows make smaller: `√(8 log(2/β)/n)`.
///
/// Below 1 from 30 rows on where `β = 0.05`; as the loss is at most 1, fewer rows decide nothing.
///
/// - `rows` is `n ≥ 1`, `beta` is `β` in `(0, 1)`, the probability that the bound fails
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// assert!((mercer_theory::deviation_term(135, 0.05)?.value - 0.4675470713708861).abs() < 1e-14);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn deviation_term(rows: usize, beta: f64) -> Result<Bound, TheoryError> {
    check_count("rows", rows)?;
    check("beta", beta, |b| b > 0.0 && b < 1.0, "above 0 and below 1")?;
    let value = (8.0 / rows as f64 * (2.0 / beta).ln()).sqrt();
    Ok(Bound {
        value,
        terms: vec![("√(8 log(2/β)/n)", value)],
        vacuous: Some(value >= 1.0),
        source: DEVIATION,
    })
}

/// Returns the expected loss of an embedding, clipped at `ε`, Lemma 15. It is divided by its largest value
/// `M_ε = log(1/ε)`:
/// ```text
/// E loss_ε / M_ε  ≤  mean loss_ε / M_ε + 4αρ/(ε log(1/ε)) + √(8 log(2/β)/n)
/// ```
///
/// - `loss` is the mean `loss_ε` on the sample, from 0 to `log(1/ε)`; `epsilon` is `ε` in `(0, 1)`
/// - the rest as in [`embedding_risk`], also that it is vacuous for every embedding: the least loss is
///   `log(1/max(r, ε))`, and that over `M_ε` with `4r/(ε log(1/ε))` is never below 1
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// // At ε = 1/e the divisor is 1, and this is Theorem 3.
/// let clipped = mercer_theory::clipped_risk(0.2, 0.01, (-1f64).exp(), 10_000, 0.05)?;
/// let specific = mercer_theory::embedding_risk(0.2, 0.01, 10_000, 0.05)?;
/// assert!((clipped.value - specific.value).abs() < 1e-12);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn clipped_risk(
    loss: f64,
    complexity: f64,
    epsilon: f64,
    rows: usize,
    beta: f64,
) -> Result<Bound, TheoryError> {
    check("loss", loss, |loss| loss >= 0.0, "not negative and finite")?;
    check("complexity", complexity, |r| r >= 0.0, "not negative and finite")?;
    let multiplier = loss_multiplier(epsilon)?.value;
    let largest = -epsilon.ln();
    let clipped = "at most log(1/epsilon), as a loss that is clipped there is";
    check("loss", loss, |loss| loss <= largest * (1.0 + 1e-9), clipped)?;
    let fit = loss / largest;
    let penalty = multiplier * complexity;
    let deviation = deviation_term(rows, beta)?.value;
    let value = fit + penalty + deviation;
    let least = least_loss(complexity, epsilon) / largest;
    Ok(Bound {
        value,
        terms: vec![
            ("loss/M", fit),
            ("4r/(ε log(1/ε))", penalty),
            ("deviation", deviation),
            ("least loss/M at this r", least),
        ],
        vacuous: Some(value >= 1.0 || falls_short(fit, least)),
        source: CLIPPED,
    })
}

/// Returns the expected loss of an embedding, clipped at `1/e`. The bounds are Theorems 3 and 16; with `r(θ, λ)` of a
/// point fixed in advance, Theorems 4 and 18:
/// ```text
/// E loss_{1/e}  ≤  mean loss_ε + 4e r + √(8 log(2/β)/n),     ε in (0, 1/e)
/// ```
/// Vacuous from 1 on, since `loss_{1/e} ≤ 1`: so wherever `r ≥ 1/(4e) = 0.092` ([`super::VACUOUS_COMPLEXITY`]),
/// whatever the rows. A value below 1 takes numbers that no embedding has. Every `f_c(x) ≤ r`, so that each row has a
/// loss of `log(1/max(r, ε))` at least. With `r < 1/e` that is more than 1 (the term `least loss at this r`, of the
/// largest `ε`, `1/e`). So it is vacuous for every embedding, and says so also where loss and `r` are given that do not
/// belong together. The gaps of the proof stand on the page of this module.
///
/// - `loss` is the mean `loss_ε` on the sample for an `ε < 1/e`, at least 0
/// - `complexity` is `r = αρ ≥ 0`
/// - `rows` is `n ≥ 1`, `beta` is `β` in `(0, 1)`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let bound = mercer_theory::embedding_risk(0.3022797363405966, 1.3295400587197859, 4, 0.05)?;
/// assert!((bound.value - 17.4747410951273).abs() < 1e-12 && bound.vacuous == Some(true));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn embedding_risk(
    loss: f64,
    complexity: f64,
    rows: usize,
    beta: f64,
) -> Result<Bound, TheoryError> {
    check("loss", loss, |loss| loss >= 0.0, "not negative and finite")?;
    check("complexity", complexity, |r| r >= 0.0, "not negative and finite")?;
    let penalty = 4.0 * E * complexity;
    let deviation = deviation_term(rows, beta)?.value;
    let value = loss + penalty + deviation;
    let least = least_loss(complexity, 1.0 / E);
    Ok(Bound {
        value,
        terms: vec![
            ("mean loss", loss),
            ("4e r", penalty),
            ("deviation", deviation),
            ("least loss at this r", least),
        ],
        vacuous: Some(value >= 1.0 || falls_short(loss, least)),
        source: RISK,
    })
}

/// What a row loses at least, clipped at `ε`, where no decision probability exceeds `r`.
fn least_loss(complexity: f64, epsilon: f64) -> f64 {
    (-complexity.max(epsilon).ln()).max(0.0)
}

/// Whether a loss is below the least by more than rounding: then no embedding with this complexity has it, and the
/// theorem does not speak of it.
fn falls_short(loss: f64, least: f64) -> bool {
    loss < least * (1.0 - 1e-9)
}
