use crate::distributions::{fair_binomial_lower, normal_tail};
use serde::{Deserialize, Serialize};

/// The test of `McNemar` of two classifiers on the same test rows.
///
/// ```
/// use mercer_statistics::mcnemar;
/// let test = mcnemar(10, 2);
/// assert!((test.chi_squared - 49.0 / 12.0).abs() < 1e-15); // (|10 − 2| − 1)²/12
/// assert!((test.p_exact - 2.0 * 79.0 / 4096.0).abs() < 1e-15); // 2 (1 + 12 + 66)/2¹²
/// let alike = mcnemar(0, 0);
/// assert!(alike.degenerate && alike.p_exact == 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McNemar {
    /// Rows that only the first gets right (`b`).
    pub only_first_right: u64,
    /// Rows that only the second gets right (`c`).
    pub only_second_right: u64,
    /// Exact two-sided p: `min(1, 2 P(X ≤ min(b, c)))`, `X ~ Binomial(b + c, 1/2)`.
    pub p_exact: f64,
    /// `χ² = max(0, |b − c| − 1)² / (b + c)`, with Edwards' continuity correction.
    pub chi_squared: f64,
    /// `P(χ²₁ ≥ χ²)`.
    pub p_chi_squared: f64,
    /// Whether the two never disagree in correctness; then both p are 1.
    pub degenerate: bool,
}

/// Compares two classifiers by the rows on which exactly one of them is right.
///
/// `McNemar` (1947), Psychometrika 12; the continuity correction is Edwards' (1948). Rows on which
/// both are right or both wrong say nothing about the difference.
///
/// ```
/// let test = mercer_statistics::mcnemar(1, 5);
/// assert!((test.p_exact - 0.21875).abs() < 1e-12); // 2 (1 + 6) / 2⁶
/// ```
pub fn mcnemar(only_first_right: u64, only_second_right: u64) -> McNemar {
    let (b, c) = (only_first_right, only_second_right);
    let discordant = b + c;
    let degenerate = discordant == 0;
    let (p_exact, chi_squared) = if degenerate {
        (1.0, 0.0)
    } else {
        let gap = b.abs_diff(c).saturating_sub(1) as f64;
        let p = (2.0 * fair_binomial_lower(b.min(c), discordant)).min(1.0);
        (p, gap * gap / discordant as f64)
    };
    McNemar {
        only_first_right,
        only_second_right,
        p_exact,
        chi_squared,
        // A χ² with one degree of freedom is a squared normal.
        p_chi_squared: (2.0 * normal_tail(chi_squared.sqrt())).min(1.0),
        degenerate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn exact_p_is_the_share_of_coin_flips_at_least_as_uneven() {
        for n in 1u64..=12 {
            for b in 0..=n {
                let gap = b.abs_diff(n - b);
                let uneven = (0u32..1 << n)
                    .filter(|flips| {
                        let heads = u64::from(flips.count_ones());
                        heads.abs_diff(n - heads) >= gap
                    })
                    .count();
                let share = uneven as f64 / 2f64.powi(n as i32);
                assert_relative_eq!(mcnemar(b, n - b).p_exact, share, max_relative = 1e-12);
            }
        }
    }

    #[test]
    fn no_disagreement_is_no_evidence() {
        let test = mcnemar(0, 0);
        assert_eq!((test.p_exact, test.p_chi_squared, test.degenerate), (1.0, 1.0, true));
    }
}
