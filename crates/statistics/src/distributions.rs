//! Tails and quantiles, accurate in relative terms far into the tail. There `1 − F` has no digits.

use statrs::function::{beta, gamma};
use std::f64::consts::PI;

/// `φ(z)`, the standard normal density.
pub(crate) fn normal_density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// `P(Z > z)` of the standard normal.
///
/// `½ − φ(z) (z + z³/3 + z⁵/15 + …)` for small `z`, and Laplace's continued fraction
/// `φ(z) / (z + 1/(z + 2/(z + 3/(z + …))))` beyond; statrs' `erfc` is good to nine digits only.
pub(crate) fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    if z < 2.5 {
        let (mut term, mut sum, mut odd) = (z, z, 1.0);
        while term > 1e-18 * sum {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - normal_density(z) * sum;
    }
    // Eighty levels leave an error below exp(−2 z √160), that is 1e-27, at z = 2.5.
    let fraction = (1..=80).rev().fold(z, |below, level| z + f64::from(level) / below);
    normal_density(z) / fraction
}

/// The `z > 0` with `P(Z > z) = upper`, for `upper` in `(0, 1/2)`.
pub(crate) fn normal_quantile(upper: f64) -> f64 {
    decreasing_root(normal_tail, upper)
}

/// `P(T > t)` of Student's t with `freedom > 0` degrees of freedom.
///
/// `P(T > t) = I_h(ν/2, 1/2) / 2` with `h = ν / (ν + t²)` and `t ≥ 0`.
pub(crate) fn student_tail(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - student_tail(-t, freedom);
    }
    let a = 0.5 * freedom;
    if t < 1.0 {
        // Here h is so close to 1 that 1 − h would lose its digits.
        return 0.5 - 0.5 * beta::beta_reg(0.5, a, t * t / (freedom + t * t));
    }
    let h = freedom / (freedom + t * t);
    if h < 1e-17 {
        // First term of the series in h; the next one is smaller by a factor h. `t²` may overflow.
        let ln_h = freedom.ln() - 2.0 * t.ln();
        return 0.5 * (a * ln_h - a.ln() - beta::ln_beta(a, 0.5)).exp();
    }
    0.5 * beta::beta_reg(a, 0.5, h)
}

/// The `t > 0` with `P(T > t) = upper`, for `upper` in `(0, 1/2)`.
pub(crate) fn student_quantile(upper: f64, freedom: f64) -> f64 {
    decreasing_root(|t| student_tail(t, freedom), upper)
}

/// `P(χ²_ν > x)` for `x ≥ 0`.
pub(crate) fn chi_squared_tail(x: f64, freedom: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    gamma::gamma_ur(0.5 * freedom, 0.5 * x)
}

/// `P(F > x)` of Fisher's F for `x ≥ 0`: `I_h(ν₂/2, ν₁/2)` with `h = ν₂ / (ν₂ + ν₁ x)`.
pub(crate) fn fisher_tail(x: f64, numerator: f64, denominator: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let h = denominator / (denominator + numerator * x);
    beta::beta_reg(0.5 * denominator, 0.5 * numerator, h)
}

/// `P(X ≤ successes)` for `X ~ Binomial(trials, 1/2)` and `successes ≤ trials / 2`.
///
/// The terms are summed from the largest down, so the sum keeps its relative precision.
pub(crate) fn fair_binomial_lower(successes: u64, trials: u64) -> f64 {
    let (n, k) = (trials as f64, successes as f64);
    let ln_choose =
        gamma::ln_gamma(n + 1.0) - gamma::ln_gamma(k + 1.0) - gamma::ln_gamma(n - k + 1.0);
    let largest = (ln_choose - n * std::f64::consts::LN_2).exp();
    let (mut ratio, mut sum) = (1.0, 1.0);
    for i in (1..=successes).rev() {
        ratio *= i as f64 / (n - i as f64 + 1.0);
        sum += ratio;
        if ratio < sum * 1e-18 {
            break;
        }
    }
    (largest * sum).min(1.0)
}

/// The `q` that the range of `groups` independent standard normals exceeds with probability
/// `upper`: the studentised range with infinite degrees of freedom.
///
/// `P(R ≤ q) = k ∫ φ(z) [Φ(z) − Φ(z − q)]^(k−1) dz`, `z` being the largest of the `k`.
pub(crate) fn normal_range_quantile(upper: f64, groups: usize) -> f64 {
    // The integrand is analytic and dies like φ, so the trapezoid rule converges exponentially;
    // beyond |z| = 9 φ is below 1e-18.
    let (reach, step) = (9.0, 0.05);
    let power = groups as i32 - 1;
    let tail = |q: f64| {
        let steps = (2.0 * reach / step) as usize;
        let inside: f64 = (0..=steps)
            .map(|i| {
                let z = -reach + step * i as f64;
                normal_density(z) * (normal_tail(z - q) - normal_tail(z)).powi(power)
            })
            .sum();
        1.0 - groups as f64 * step * inside
    };
    decreasing_root(tail, upper)
}

/// The `x > 0` at which a decreasing function crosses `level`, to the last digit by bisection.
fn decreasing_root(function: impl Fn(f64) -> f64, level: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while function(high) > level {
        low = high;
        high *= 2.0;
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if function(middle) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn normal_tails_are_accurate_everywhere() {
        // SciPy 1.17.1, scipy.stats.norm.sf
        for (z, tail) in [
            (-3.0, 0.9986501019683699),
            (0.0, 0.5),
            (0.3, 0.3820885778110474),
            (1.0, 0.15865525393145707),
            (2.4999, 0.006211418374944587),
            (2.5, 0.006209665325776132),
            (8.0, 6.22096057427174e-16),
            (37.0, 5.7255712225239266e-300),
        ] {
            assert_relative_eq!(normal_tail(z), tail, max_relative = 1e-13);
        }
        assert_eq!(normal_tail(f64::INFINITY), 0.0);
    }

    #[test]
    fn quantiles_invert_tails() {
        for upper in [1e-300, 1e-12, 0.001, 0.025, 0.3, 0.4999] {
            assert_relative_eq!(normal_tail(normal_quantile(upper)), upper, max_relative = 1e-11);
            for freedom in [1.0, 2.5, 29.0, 1e4] {
                let t = student_quantile(upper, freedom);
                assert_relative_eq!(student_tail(t, freedom), upper, max_relative = 1e-11);
            }
        }
    }
}
