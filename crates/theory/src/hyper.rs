//! The theory of "Generalization Properties of hyper-RKHS and its Applications". Source: Liu, Shi, Huang, Yang and
//! Suykens, JMLR 22(140), 2021. It has the power indices of Theorems 7 and 8, and the solvers' costs.
//!
//! The theorems bound an error by `C m^(ε − Θ)`. Their constants are beyond use (above 2500 for unit
//! inputs), so only the slopes `Θ` can be compared with anything, as lower bounds of the decay. Where
//! the proofs give another index than the text prints, both are offered.

use crate::calculators::{Calculator, Input, count, number};
use crate::error::{check, check_count};
use crate::{Bound, TheoryError};

const SVR: &str = "Liu et al. (JMLR 2021), Theorem 7";
const SVR_CONSISTENT: &str =
    "Liu et al. (JMLR 2021), Theorem 7 with the indices that its proof gives";
const KRR: &str = "Liu et al. (JMLR 2021), Theorem 8";
const KRR_CONSISTENT: &str =
    "Liu et al. (JMLR 2021), Theorem 8 as the index of the squared norm, with θ = 1";
const OPERATIONS: &str = "Liu et al. (JMLR 2021), Section 4.3";

/// What the theorems assume of the problem.
///
/// ```
/// use mercer_theory::{PairRegularity, pair_ridge_index};
/// let problem = PairRegularity { alpha: 0.3, source: 0.8, capacity: 2.0 };
/// assert_eq!(pair_ridge_index(problem, false)?.vacuous, Some(false));
/// // The theorem wants α < (1 + s)/(s (2 + s)) = 3/8.
/// let large = PairRegularity { alpha: 0.6, ..problem };
/// assert_eq!(pair_ridge_index(large, false)?.vacuous, Some(true));
/// assert!(pair_ridge_index(PairRegularity { alpha: 1.5, ..problem }, false).is_err());
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairRegularity {
    /// `α`: the ridge is `λ = m^(−α)`, `0 < α ≤ 1`.
    pub alpha: f64,
    /// `r` of the bias, `‖k_λ − k_ρ‖² ≤ C λ^r`, `0 < r ≤ 1`.
    pub source: f64,
    /// The exponent `s > 0` of the covering numbers. It is `2(2d)/τ` for a hyper-kernel of smoothness `τ` over pairs of
    /// `d`-dimensional points. (The text takes `m`, the number of points, for the dimension.)
    pub capacity: f64,
}

impl PairRegularity {
    fn check(&self) -> Result<(), TheoryError> {
        let share = |x: f64| x > 0.0 && x <= 1.0;
        check("alpha", self.alpha, share, "above 0 and at most 1")?;
        check("r", self.source, share, "above 0 and at most 1")?;
        check("s", self.capacity, |s| s > 0.0, "positive")
    }
}

/// Returns the power index `Θ` of hyper-SVR, `error ≤ C m^(ε − Θ/q)`:
/// ```text
/// θ = min(2/q, p/(p + 1))
/// Θ = min( α r,  (1 + α r − α)/(2 − θ),  1/(2 + s − θ) − α s/(1 + s) )     for  α < (1 + s)/(s (2 + s − θ))
/// ```
/// `0 < p ≤ ∞` and `q > 1` are of the noise condition, `p* = pq/(p + 1)`; with `p = ∞` (no noise near the median)
/// `θ = min(2/q, 1)`. With `consistent` the second and third index come from the proof: `1/(2 − θ) − α (1 − r)/2`,
/// which is larger than printed, and `1/(2 + s − θ) − α s/(2 (1 + s))`. The reason is that `λ ‖k‖² ≤ M` bounds the norm
/// by a square root that the proof leaves out. The limit of `α`, where that index reaches 0, is twice the printed one.
///
/// The tube of the regression is to shrink with the points, `ε = m^(−γ)` with `α r ≤ γ ≤ ∞`: the error has a
/// term `2ε`, which would decide otherwise. A tube that stays as wide as it is (0.1, say) has no rate. `γ` is no
/// input, and is taken to be large enough.
///
/// It says nothing (`vacuous`) where the condition on `α` fails or `Θ ≤ 0`; a negative one is given
/// as 0, no rate.
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// use mercer_theory::{PairRegularity, pair_svr_index};
/// let problem = PairRegularity { alpha: 0.6, source: 0.8, capacity: 0.5 };
/// let index = pair_svr_index(problem, 2.0, 2.0, false)?;
/// assert!((index.value - 0.34545454545454546).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn pair_svr_index(
    problem: PairRegularity,
    p: f64,
    q: f64,
    consistent: bool,
) -> Result<Bound, TheoryError> {
    problem.check()?;
    if p != f64::INFINITY {
        check("p", p, |p| p > 0.0, POSITIVE_OR_INFINITE)?;
    }
    check("q", q, |q| q > 1.0, ABOVE_ONE)?;
    let PairRegularity { alpha, source: r, capacity: s } = problem;
    let theta = (2.0 / q).min(1.0 / (1.0 + 1.0 / p));
    let norms = if consistent { 0.5 } else { 1.0 };
    let limit = (1.0 + s) / (norms * s * (2.0 + s - theta));
    let bias = alpha * r;
    let sample = if consistent {
        1.0 / (2.0 - theta) - 0.5 * alpha * (1.0 - r)
    } else {
        (1.0 + alpha * r - alpha) / (2.0 - theta)
    };
    let norm = alpha * s / (1.0 + s);
    let capacity = 1.0 / (2.0 + s - theta) - norms * norm;
    let value = bias.min(sample).min(capacity).max(0.0);
    Ok(Bound {
        value,
        terms: vec![
            ("α r", bias),
            ("sample", sample),
            ("capacity", capacity),
            ("θ", theta),
            ("Θ/q", value / q),
            ("limit of α", limit),
        ],
        vacuous: Some(alpha >= limit || value <= 0.0),
        source: if consistent { SVR_CONSISTENT } else { SVR },
    })
}

/// Returns the power index `Θ` of hyper-KRR, `error ≤ C m^(ε − Θ)`:
/// ```text
/// printed:     Θ = min( α r,  1/(2 + s) − α s/(1 + s) )                for  α < (1 + s)/(s (2 + s))
/// consistent:  Θ = min( α r,  1 + α r − α,  (1 − α s)/(1 + s) )        of the squared norm
/// ```
/// The consistent one reaches 0 at `α = 1/s`. The printed left side is a norm, but the bias obeys `‖k_λ − k_ρ‖² ≤ C λ^r`, index `α r/2` of a norm; so
/// "rate 1/m for α ≥ 1/2" does not follow. For the squared loss `θ = 1`, which gives the other line.
///
/// # Errors
/// [`TheoryError::Range`] names the first argument that is out of range.
///
/// # Examples
/// ```
/// use mercer_theory::{PairRegularity, pair_ridge_index};
/// let problem = PairRegularity { alpha: 0.6, source: 0.8, capacity: 0.5 };
/// assert!((pair_ridge_index(problem, false)?.value - 0.2).abs() < 1e-15);
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn pair_ridge_index(problem: PairRegularity, consistent: bool) -> Result<Bound, TheoryError> {
    problem.check()?;
    let PairRegularity { alpha, source: r, capacity: s } = problem;
    let bias = alpha * r;
    if consistent {
        let (sample, capacity) = (1.0 + alpha * r - alpha, (1.0 - alpha * s) / (1.0 + s));
        let value = bias.min(sample).min(capacity).max(0.0);
        // There the capacity's index reaches 0; the other two never do, as α ≤ 1.
        let limit = ("limit of α", 1.0 / s);
        let terms = vec![("α r", bias), ("sample", sample), ("capacity", capacity), limit];
        return Ok(Bound { value, terms, vacuous: Some(value <= 0.0), source: KRR_CONSISTENT });
    }
    let limit = (1.0 + s) / (s * (2.0 + s));
    let capacity = 1.0 / (2.0 + s) - alpha * s / (1.0 + s);
    let value = bias.min(capacity).max(0.0);
    Ok(Bound {
        value,
        terms: vec![("α r", bias), ("capacity", capacity), ("limit of α", limit)],
        vacuous: Some(alpha >= limit || value <= 0.0),
        source: KRR,
    })
}

/// Returns the leading terms of the cost of hyper-KRR, as the paper counts it. For `m` points, `M` landmarks and `v`
/// subsets they are `m⁶` exactly, `m² M⁴` with Nyström, and, the value, `m² M⁴/v` with divide and conquer.
///
/// The terms also have the cost in this workspace: an eighth of each over unordered pairs, `m⁴/2` for a product with
/// the exact matrix. For all pairs with factors of rank `L = 300` it is `m L M⁴/24`.
///
/// # Errors
/// [`TheoryError::Range`] if a count is 0, if there are more subsets than points, or more landmarks than a
/// subset has points.
///
/// # Examples
/// ```
/// let cost = mercer_theory::pair_ridge_operations(108, 12, 4)?;
/// assert_eq!(cost.value, 60466176.0);
/// let refused = mercer_theory::pair_ridge_operations(108, 28, 4).unwrap_err(); // 27 points in each
/// assert_eq!(refused.to_string(), "`landmarks` is 28; it must be at most the points of a subset, points/subsets");
/// # Ok::<(), mercer_theory::TheoryError>(())
/// ```
pub fn pair_ridge_operations(
    points: usize,
    landmarks: usize,
    subsets: usize,
) -> Result<Bound, TheoryError> {
    for (name, value) in [("points", points), ("landmarks", landmarks), ("subsets", subsets)] {
        check_count(name, value)?;
    }
    if subsets > points {
        let (argument, value) = ("subsets", subsets as f64);
        return Err(TheoryError::Range { argument, value, must: "at most the number of points" });
    }
    if landmarks > points / subsets {
        let (argument, value) = ("landmarks", landmarks as f64);
        let must = "at most the points of a subset, points/subsets";
        return Err(TheoryError::Range { argument, value, must });
    }
    let (m, big_m, v) = (points as f64, landmarks as f64, subsets as f64);
    let exact = m.powi(6);
    let nystrom = m.powi(2) * big_m.powi(4);
    let divided = nystrom / v;
    Ok(Bound {
        value: divided,
        terms: vec![
            ("m⁶", exact),
            ("m² M⁴", nystrom),
            ("m² M⁴/v", divided),
            ("m⁶/8", exact / 8.0),
            ("m² M⁴/8", nystrom / 8.0),
            ("m² M⁴/(8v)", divided / 8.0),
            ("m⁴/2", 0.5 * m.powi(4)),
            ("m L M⁴/24 with L = 300", m * 300.0 * big_m.powi(4) / 24.0),
        ],
        vacuous: None,
        source: OPERATIONS,
    })
}

fn problem(inputs: &std::collections::BTreeMap<&str, f64>) -> Result<PairRegularity, TheoryError> {
    Ok(PairRegularity {
        alpha: number(inputs, &ALPHA)?,
        source: number(inputs, &SOURCE)?,
        capacity: number(inputs, &CAPACITY)?,
    })
}

pub(crate) const SVR_INDEX: Calculator = Calculator {
    name: "hyper-svr-index",
    title: "Power index of the error of hyper-SVR, as printed, if its tube ε falls at least as m^(−α r)",
    source: SVR,
    inputs: &[ALPHA, SOURCE, CAPACITY, NOISE, LOSS],
    evaluate: |inputs| {
        pair_svr_index(problem(inputs)?, number(inputs, &NOISE)?, number(inputs, &LOSS)?, false)
    },
};

pub(crate) const SVR_INDEX_CONSISTENT: Calculator = Calculator {
    name: "hyper-svr-index-consistent",
    title: "Power index of the error of hyper-SVR, as its proof gives it, if its tube ε falls at least as m^(−α r)",
    source: SVR_CONSISTENT,
    inputs: &[ALPHA, SOURCE, CAPACITY, NOISE, LOSS],
    evaluate: |inputs| {
        pair_svr_index(problem(inputs)?, number(inputs, &NOISE)?, number(inputs, &LOSS)?, true)
    },
};

pub(crate) const KRR_INDEX: Calculator = Calculator {
    name: "hyper-krr-index",
    title: "Power index of the error of hyper-KRR, as printed",
    source: KRR,
    inputs: &[ALPHA, SOURCE, CAPACITY],
    evaluate: |inputs| pair_ridge_index(problem(inputs)?, false),
};

pub(crate) const KRR_INDEX_CONSISTENT: Calculator = Calculator {
    name: "hyper-krr-index-consistent",
    title: "Power index of the squared error of hyper-KRR, consistent with its bias",
    source: KRR_CONSISTENT,
    inputs: &[ALPHA, SOURCE, CAPACITY],
    evaluate: |inputs| pair_ridge_index(problem(inputs)?, true),
};

pub(crate) const KRR_OPERATIONS: Calculator = Calculator {
    name: "hyper-krr-operations",
    title: "Operations of hyper-KRR as the paper counts them: exact, by Nyström, divided; among the terms ours",
    source: OPERATIONS,
    inputs: &[POINTS, LANDMARKS, SUBSETS],
    evaluate: |inputs| {
        let (m, v) = (count(inputs, &POINTS)?, count(inputs, &SUBSETS)?);
        pair_ridge_operations(m, count(inputs, &LANDMARKS)?, v)
    },
};

const SHARE: &str = "above 0 and at most 1";
const POSITIVE: &str = "positive";
const POSITIVE_OR_INFINITE: &str = "positive; `inf` too";
const ABOVE_ONE: &str = "above 1 and finite";
const WHOLE: &str = "a whole number from 1";

/// An input without a default.
const fn input(
    name: &'static str,
    meaning: &'static str,
    range: &'static str,
    example: f64,
) -> Input {
    Input { name, meaning, range, default: None, example }
}

const ALPHA: Input = input("alpha", "α of the ridge λ = m^(−α)", SHARE, 0.6);
const SOURCE: Input = input("r", "r of the bias, ‖k_λ − k_ρ‖² ≤ C λ^r", SHARE, 0.8);
const CAPACITY: Input = input("s", "s of the covering numbers", POSITIVE, 0.5);
const NOISE: Input = input("p", "p of the noise condition", POSITIVE_OR_INFINITE, 2.0);
const LOSS: Input = input("q", "q of the noise condition", ABOVE_ONE, 2.0);
const POINTS: Input = input("points", "m, the number of points", WHOLE, 108.0);
const LANDMARKS: Input = input("landmarks", "M, the number of Nyström points", WHOLE, 12.0);
const SUBSETS: Input = input("subsets", "v, the number of subsets", WHOLE, 4.0);
