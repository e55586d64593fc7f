//! Theorem 1 and Corollary 1: what stochastic gradients add.

use crate::error::{check, check_count};
use crate::{Bound, TheoryError};
use serde::Serialize;

pub(crate) const CONDITIONS: &str = "Li, Liu and Zhang (IJCAI 2022), Theorem 1, conditions";
pub(crate) const RATE: &str = "Li, Liu and Zhang (IJCAI 2022), Theorem 1, shape of the bound";
pub(crate) const REGIMES: &str = "Li, Liu and Zhang (IJCAI 2022), Corollary 1";

/// Returns the largest learning rate that Theorem 1 allows.
///
/// ```text
/// γ  ≤  min( n / (9 T ln(n/δ)),  1 / (8 (1 + ln T)) )      and      n  ≥  32 ln²(2/δ)
/// ```
/// - `rows` is `n ≥ 1`, `iterations` is `T ≥ 1`, `delta` is `δ` in `(0, 1)`
///
/// Where `n` is too small the theorem says nothing about any learning rate: the result is vacuous,
/// its value still the smaller of the two limits. The last term is the `n` that is needed. No rate
/// of 1 or above 1/8 is ever allowed, so that cases 2 and 3 of Corollary 1 ([`sgd_regime`]) hold
/// only up to constants and logarithms.
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let limit = mercer_theory::sgd_step_limit(10_000, 100, 0.05)?;
/// assert!((limit.value - 0.022300839377273).abs() < 1e-12); // 1/(8 (1 + ln 100))
/// assert!((limit.term("32·ln²(2/δ)").unwrap() - 435.4506).abs() < 1e-4 && limit.vacuous == Some(false));
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn sgd_step_limit(rows: usize, iterations: usize, delta: f64) -> Result<Bound, TheoryError> {
    check_count("rows", rows)?;
    check_count("iterations", iterations)?;
    check("delta", delta, |delta| delta > 0.0 && delta < 1.0, "above 0 and below 1")?;
    Ok(step_limit(rows as f64, iterations as f64, delta))
}

/// [`sgd_step_limit`] of numbers that are in range; `T` of Corollary 1 need not be whole.
fn step_limit(n: f64, t: f64, delta: f64) -> Bound {
    let by_rows = n / (9.0 * t * (n / delta).ln());
    let by_iterations = 1.0 / (8.0 * (1.0 + t.ln()));
    let needed = 32.0 * (2.0 / delta).ln().powi(2);
    Bound {
        value: by_rows.min(by_iterations),
        terms: vec![
            ("n/(9T·ln(n/δ))", by_rows),
            ("1/(8(1+ln T))", by_iterations),
            ("32·ln²(2/δ)", needed),
        ],
        vacuous: Some(n < needed),
        source: CONDITIONS,
    }
}

/// Returns how the distance between RF-SGD and ridgeless random features falls, without its constant:
/// ```text
/// ‖f_{M,b,t} − f_M‖²  ≲  γ/b  +  1/(γ t)
/// ```
/// The first term is the noise of the batches, the second how far gradient descent has come. The
/// displayed bound is garbled in the available text; the discussion below it and Corollary 1, which
/// needs both terms to be `n^−1/2`, fix this form. Only slopes in `b` and `t` can be tested.
///
/// - `batch` is `b ≥ 1`, `step` is the constant learning rate `γ > 0`, `iterations` is `t ≥ 1`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// let rate = mercer_theory::sgd_error_rate(32, 0.25, 400)?;
/// assert!((rate.value - (0.0078125 + 0.01)).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn sgd_error_rate(batch: usize, step: f64, iterations: usize) -> Result<Bound, TheoryError> {
    check_count("batch", batch)?;
    check("step", step, |gamma| gamma > 0.0, "positive and finite")?;
    check_count("iterations", iterations)?;
    Ok(error_rate(batch as f64, step, iterations as f64))
}

fn error_rate(b: f64, gamma: f64, t: f64) -> Bound {
    let noise = gamma / b;
    let distance = 1.0 / (gamma * t);
    Bound {
        value: noise + distance,
        terms: vec![("γ/b", noise), ("1/(γt)", distance)],
        vacuous: None,
        source: RATE,
    }
}

/// The cases of Corollary 1.
///
/// ```
/// use mercer_theory::{SgdRegime, sgd_regime};
/// let of = |regime| sgd_regime(regime, 10_000, 200, 0.05);
/// let costs = SgdRegime::ALL.map(|regime| of(regime).map(|setting| setting.cost));
/// assert_eq!(costs, [Ok(2e6), Ok(2e6), Ok(2e8)]); // n M, n M and n^1.5 M
/// let all = of(SgdRegime::AllRows)?;
/// assert!((all.error.value - 0.0101).abs() < 1e-15); // n^−1 + n^−1/2
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum SgdRegime {
    /// Case 1, one row a step: `b = 1`, `γ = n^−1/2`, `T = n`.
    SingleRow,
    /// Case 2, mini-batches: `b = n^1/2`, `γ = 1`, `T = n^1/2`.
    MiniBatch,
    /// Case 3, all rows: `b = n`, `γ = 1`, `T = n^1/2`.
    AllRows,
}

impl SgdRegime {
    /// In the order of the corollary.
    pub const ALL: [Self; 3] = [Self::SingleRow, Self::MiniBatch, Self::AllRows];
}

/// A case of Corollary 1, in numbers; see [`sgd_regime`].
///
/// ```
/// use mercer_theory::{SgdRegime, sgd_regime};
/// let setting = sgd_regime(SgdRegime::SingleRow, 10_000, 200, 0.05)?;
/// assert_eq!((setting.batch, setting.step, setting.passes), (1.0, 0.01, 1.0));
/// assert!(!setting.covered()); // the theorem allows a step of 1/(9 ln(n/δ)) = 0.0091 at most
/// assert!(sgd_regime(SgdRegime::SingleRow, 20_000, 200, 0.05)?.covered());
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SgdSetting {
    /// `b`, not rounded.
    pub batch: f64,
    /// `γ`.
    pub step: f64,
    /// `T`, not rounded.
    pub iterations: f64,
    /// `γ/b + 1/(γT)`, of order `n^−1/2` in each case.
    pub error: Bound,
    /// `b T M` multiply-adds (twice, for the forward and the backward product): `n M`, `n M` and
    /// `n^1.5 M`. The features themselves cost `n d M` once.
    pub cost: f64,
    /// Passes over the sample, `b T / n`.
    pub passes: f64,
    /// Theorem 1's limit on `γ` at this `T`.
    pub step_limit: Bound,
}

impl SgdSetting {
    /// Returns whether Theorem 1 covers this setting. Then `γ` is within its limit and `n` is large enough.
    ///
    /// Never for cases 2 and 3. For case 1 only if `n^1/2 ≥ max(9 ln(n/δ), 8 (1 + ln n))`: from
    /// about `n = 12 600` on at `δ = 0.05`.
    pub fn covered(&self) -> bool {
        self.step_limit.vacuous == Some(false) && self.step <= self.step_limit.value
    }
}

/// Returns the settings of Corollary 1 for `n` rows and `M` features. With them come its error, its cost and the limit
/// that Theorem 1 puts on its learning rate.
///
/// | case | `b` | `γ` | `T` | `γ/b` | `1/(γT)` | cost |
/// |---|---|---|---|---|---|---|
/// | 1 | 1 | `n^−1/2` | `n` | `n^−1/2` | `n^−1/2` | `n M` |
/// | 2 | `n^1/2` | 1 | `n^1/2` | `n^−1/2` | `n^−1/2` | `n M` |
/// | 3 | `n` | 1 | `n^1/2` | `n^−1` | `n^−1/2` | `n^1.5 M` |
///
/// - `rows` is `n ≥ 1`, `features` is `M ≥ 1`, `delta` is `δ` in `(0, 1)`
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// use mercer_theory::{SgdRegime, sgd_regime};
/// let batches = sgd_regime(SgdRegime::MiniBatch, 10_000, 200, 0.05)?;
/// assert!((batches.error.value - 0.02).abs() < 1e-15 && batches.cost == 2e6);
/// assert!(!batches.covered()); // γ = 1 is above 1/8
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn sgd_regime(
    regime: SgdRegime,
    rows: usize,
    features: usize,
    delta: f64,
) -> Result<SgdSetting, TheoryError> {
    check_count("rows", rows)?;
    check_count("features", features)?;
    check("delta", delta, |delta| delta > 0.0 && delta < 1.0, "above 0 and below 1")?;
    let (n, m) = (rows as f64, features as f64);
    let root = n.sqrt();
    let (b, gamma, t) = match regime {
        SgdRegime::SingleRow => (1.0, 1.0 / root, n),
        SgdRegime::MiniBatch => (root, 1.0, root),
        SgdRegime::AllRows => (n, 1.0, root),
    };
    Ok(SgdSetting {
        batch: b,
        step: gamma,
        iterations: t,
        error: error_rate(b, gamma, t),
        cost: b * t * m,
        passes: b * t / n,
        step_limit: step_limit(n, t, delta),
    })
}
