use crate::distributions::{
    normal_density, normal_quantile, normal_tail, student_quantile, student_tail,
};
use crate::error::{check_range, check_values};
use crate::{StatisticsError, summarise};
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

/// One-sided p values of several data sets as one test.
///
/// ```
/// use mercer_statistics::stouffer;
/// let test = stouffer(&[0.2, 0.2, 0.2, 0.2, 0.2, 0.2])?;
/// assert!(test.p_two_sided < 0.05); // six that point one way, none significant
/// let against = stouffer(&[0.8; 6])?;
/// assert!((test.z + against.z).abs() < 1e-12);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combined {
    /// `Z`: positive where small p dominate.
    pub z: f64,
    /// `P(|Z| ≥ |z|)`.
    pub p_two_sided: f64,
}

/// Combines one-sided p values by Stouffer's method, one a data set: `Z = Σ Φ⁻¹(1 − p_d) / √D`.
///
/// Stouffer et al. (1949), *The American Soldier*. It speaks of these data sets. Each p may come from repeats, so
/// that a few data sets can decide, where a test on their means alone cannot.
///
/// - `p_greater`: small where the first method is better; strictly between 0 and 1
///
/// ```
/// let test = mercer_statistics::stouffer(&[0.025, 0.025])?;
/// assert!((test.z - 1.959_963_984_540_054 * 2f64.sqrt()).abs() < 1e-9);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No p; one that is not strictly between 0 and 1.
pub fn stouffer(p_greater: &[f64]) -> Result<Combined, StatisticsError> {
    check_values("p_greater", p_greater, 1)?;
    for &p in p_greater {
        check_range("p_greater", p, |p| p > 0.0 && p < 1.0, "strictly between 0 and 1")?;
    }
    let score = |p: f64| match p {
        p if p < 0.5 => normal_quantile(p),
        p if p > 0.5 => -normal_quantile(1.0 - p),
        _ => 0.0,
    };
    let z = p_greater.iter().map(|&p| score(p)).sum::<f64>() / (p_greater.len() as f64).sqrt();
    Ok(Combined { z, p_two_sided: (2.0 * normal_tail(z.abs())).min(1.0) })
}

/// Returns the P that a method is not below the best of `rivals`. It comes from the least of the method's one-sided p
/// against each of them.
///
/// Hsu's multiple comparisons with the best (1981, *Annals of Statistics* 9): the method is below the best if some
/// rival beats it. The largest of its t statistics has Dunnett's distribution, with correlation ½:
/// ```text
/// P(max_j (Z_j + Z_0)/(√2 U) > t),   U = √(χ²_ν/ν)
/// ```
///
/// - `p_one_sided`: of the rival that is most clearly ahead, strictly between 0 and 1
/// - `freedom`: ν, degrees of freedom of that test; infinite for a normal one
///
/// ```
/// use mercer_statistics::below_the_best;
/// assert!((below_the_best(0.05, 9.0, 1)? - 0.05).abs() < 1e-6); // one rival: the test itself
/// let of_eight = below_the_best(0.05, 9.0, 8)?;
/// assert!(of_eight > 0.15 && of_eight < 8.0 * 0.05); // less than Bonferroni's
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// `p_one_sided` not strictly between 0 and 1, `freedom` not positive, or no rivals.
pub fn below_the_best(
    p_one_sided: f64,
    freedom: f64,
    rivals: usize,
) -> Result<f64, StatisticsError> {
    check_range("p_one_sided", p_one_sided, |p| p > 0.0 && p < 1.0, "strictly between 0 and 1")?;
    check_range("freedom", freedom, |df| df > 0.0, "positive")?;
    check_range("rivals", rivals as f64, |n| n >= 1.0, "at least 1")?;
    if rivals == 1 {
        return Ok(p_one_sided);
    }
    let upper = p_one_sided.min(1.0 - p_one_sided);
    let size = if upper >= 0.5 {
        0.0
    } else if freedom > LARGE {
        normal_quantile(upper)
    } else {
        student_quantile(upper, freedom)
    };
    let t = if p_one_sided < 0.5 { size } else { -size };
    // 1 − ∫ φ(z) Φ(√2 t u − z)^m dz, for m rivals.
    let beyond = |u: f64| {
        let (reach, step) = (7.0, 0.25);
        let steps = (2.0 * reach / step) as i32;
        let at = |i: i32| -reach + step * f64::from(i);
        let inside = |z: f64| {
            let below = 1.0 - normal_tail(std::f64::consts::SQRT_2 * t * u - z);
            normal_density(z) * (1.0 - below.powi(rivals as i32))
        };
        step * (0..=steps).map(|i| inside(at(i))).sum::<f64>()
    };
    if freedom > LARGE {
        return Ok(beyond(1.0).clamp(0.0, 1.0));
    }
    // Over y = ln u, whose density is smooth and dies on both sides.
    let half = 0.5 * freedom;
    let constant = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let density = |y: f64| (constant + freedom * y - half * (2.0 * y).exp()).exp();
    let (low, high) = (-37.0 / freedom - 6.0 / freedom.sqrt(), (1.0 + 9.0 / freedom.sqrt()).ln());
    let steps = 100;
    let step = (high - low) / f64::from(steps);
    let points = (0..=steps).map(|i| low + step * f64::from(i)).map(|y| (y, density(y)));
    let sum: f64 =
        points.filter(|(_, mass)| *mass > 1e-12).map(|(y, mass)| mass * beyond(y.exp())).sum();
    Ok((step * sum).clamp(0.0, 1.0))
}

/// Degrees of freedom from which t is taken for normal.
const LARGE: f64 = 1e4;

/// Returns the one-sided p that the first of two paired samples varies less. The test is by Pitman (1939) and Morgan
/// (1939).
///
/// The sum and the difference of a pair are correlated exactly where the two variances differ:
/// ```text
/// t = r √((J − 2)/(1 − r²)),   r = corr(a + b, a − b),   J − 2 degrees of freedom
/// ```
///
/// ```
/// use mercer_statistics::less_spread;
/// let steady = [1.0, 1.1, 0.9, 1.0, 1.05, 0.95];
/// let shaky = [3.0, 1.0, -2.0, 5.0, 0.0, -1.0];
/// assert!(less_spread(&steady, &shaky)? < 0.01);
/// assert!((less_spread(&steady, &shaky)? + less_spread(&shaky, &steady)? - 1.0).abs() < 1e-12);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than three pairs; NaN or infinity; samples of different lengths.
pub fn less_spread(first: &[f64], second: &[f64]) -> Result<f64, StatisticsError> {
    check_values("first", first, 3)?;
    check_values("second", second, 3)?;
    check_range("second", second.len() as f64, |n| n == first.len() as f64, "as long as `first`")?;
    let j = first.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / j;
    let (a, b) = (mean(first), mean(second));
    let (mut with, mut sums, mut gaps) = (0.0, 0.0, 0.0);
    for (x, y) in first.iter().zip(second) {
        let (sum, gap) = (x - a + (y - b), (x - a) - (y - b));
        with += sum * gap;
        sums += sum * sum;
        gaps += gap * gap;
    }
    if sums == 0.0 || gaps == 0.0 {
        return Ok(0.5);
    }
    let r = (with / (sums * gaps).sqrt()).clamp(-1.0, 1.0);
    let t = r * ((j - 2.0) / (1.0 - r * r)).sqrt();
    // Negative where the first varies less.
    Ok(student_tail(-t, j - 2.0))
}

/// Returns the two-sided p that a mean is 0. It comes from the half-width of its 95 % interval with so many degrees of
/// freedom.
///
/// ```
/// use mercer_statistics::{p_of_interval, paired_t};
/// let test = paired_t(&[0.3, 0.1, 0.4, 0.1, 0.5])?;
/// let half = test.interval(0.95).1 - test.mean_difference;
/// assert!((p_of_interval(test.mean_difference, half, 4.0) - test.p_two_sided).abs() < 1e-9);
/// assert!((p_of_interval(1.0, 1.0, 7.0) - 0.05).abs() < 1e-9);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Panics
/// Unless `freedom` is positive.
pub fn p_of_interval(mean: f64, half_width: f64, freedom: f64) -> f64 {
    assert!(freedom > 0.0, "`freedom` is {freedom}; it must be positive");
    if mean == 0.0 || half_width.is_infinite() {
        return 1.0;
    }
    if half_width == 0.0 {
        return 0.0;
    }
    let ratio = mean.abs() / half_width;
    let p = if freedom > LARGE {
        normal_tail(ratio * normal_quantile(0.025))
    } else {
        student_tail(ratio * student_quantile(0.025, freedom), freedom)
    };
    (2.0 * p).min(1.0)
}

/// Returns the Bayes factor of a printed gain, given a repetition. It says how many times as likely our gain is if the
/// printed gain is true as if there is none.
/// ```text
/// BF = N(ĝ; g, se² + se_printed²) / N(ĝ; 0, se²)
/// ```
/// Verhagen and Wagenmakers (2014), *Journal of Experimental Psychology: General* 143.
///
/// ```
/// use mercer_statistics::replication_bayes_factor;
/// assert!(replication_bayes_factor((1.0, 0.2), (1.0, 0.1)) > 1000.0);
/// assert!(replication_bayes_factor((0.0, 0.2), (1.0, 0.1)) < 1e-3);
/// ```
pub fn replication_bayes_factor(ours: (f64, f64), printed: (f64, f64)) -> f64 {
    let log_density = |gap: f64, variance: f64| -0.5 * (gap * gap / variance + variance.ln());
    let own = ours.1 * ours.1;
    let both = own + printed.1 * printed.1;
    (log_density(ours.0 - printed.0, both) - log_density(ours.0, own)).exp()
}

/// Runs Page's test that values rise in a claimed order, from repeat to repeat. Returns `z` and the two-sided p.
///
/// ```text
/// L = Σ_j j R_j,   z = (L − n k (k + 1)²/4) / √(n k² (k + 1)(k² − 1)/144)
/// ```
/// with `R_j` the sum over the `n` repeats of the rank of the `j`-th of `k` values. Page (1963), *Journal of the
/// American Statistical Association* 58. Equal values share the mean of their ranks.
///
/// - `rows`: a row a repeat, the values in the claimed order
///
/// ```
/// let (z, p) = mercer_statistics::page(&vec![vec![1.0, 2.0, 3.0]; 10])?;
/// assert!(z > 4.0 && p < 1e-4);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// No rows, rows of unequal length or of one value; NaN or infinity.
pub fn page(rows: &[Vec<f64>]) -> Result<(f64, f64), StatisticsError> {
    crate::error::check_table("rows", rows, 2)?;
    let (n, k) = (rows.len() as f64, rows[0].len() as f64);
    let weighed = |row: &Vec<f64>| -> f64 {
        let ranks = crate::ranks::midranks(row);
        ranks.iter().enumerate().map(|(j, rank)| (j as f64 + 1.0) * rank).sum()
    };
    let sum: f64 = rows.iter().map(weighed).sum();
    let centre = n * k * (k + 1.0).powi(2) / 4.0;
    let variance = n * k * k * (k + 1.0) * (k * k - 1.0) / 144.0;
    let z = (sum - centre) / variance.sqrt();
    Ok((z, (2.0 * normal_tail(z.abs())).min(1.0)))
}

/// Posterior probabilities of the mean gain over data sets.
///
/// ```
/// use mercer_statistics::gain_over_data_sets;
/// let clear = gain_over_data_sets(&[(2.0, 0.3), (2.5, 0.4), (1.8, 0.3), (2.2, 0.5)], 1.0)?;
/// assert!(clear.better > 0.95 && clear.worse < 1e-3);
/// let none = gain_over_data_sets(&[(0.1, 0.2), (-0.2, 0.2), (0.0, 0.3), (0.2, 0.2)], 1.0)?;
/// assert!(none.equal > 0.95);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Posterior {
    /// `P(μ < −r)`.
    pub worse: f64,
    /// `P(|μ| ≤ r)`.
    pub equal: f64,
    /// `P(μ > r)`.
    pub better: f64,
}

/// Fits a hierarchical model with normal gains. It is by Corani, Benavoli et al. (2017), *Machine Learning* 106:
/// ```text
/// x̄_d ~ N(μ_d, e_d²),   μ_d ~ N(μ, τ²),   μ uniform, τ uniform up to ten times the largest spread
/// ```
/// where `e_d` is the standard error of the corrected test on data set `d`.
///
/// - `gains`: mean and standard error, one a data set
/// - `rope`: `r ≥ 0`, what still counts as equal, in the unit of the gains
///
/// ```
/// let few = mercer_statistics::gain_over_data_sets(&[(2.0, 0.5), (1.5, 0.5)], 1.0)?;
/// assert!((few.worse + few.equal + few.better - 1.0).abs() < 1e-9);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// Fewer than two data sets; a number that is not finite; an error or `rope` that is negative.
pub fn gain_over_data_sets(gains: &[(f64, f64)], rope: f64) -> Result<Posterior, StatisticsError> {
    let (means, errors): (Vec<f64>, Vec<f64>) = gains.iter().copied().unzip();
    check_values("gains", &means, 2)?;
    check_values("gains", &errors, 2)?;
    check_range("rope", rope, |r| (0.0..f64::INFINITY).contains(&r), "not negative and finite")?;
    for &error in &errors {
        check_range("gains", error, |error| error >= 0.0, "with errors that are not negative")?;
    }
    let spread = summarise(&means).map_or(0.0, |summary| summary.sample_std);
    let most = 10.0 * errors.iter().copied().fold(spread, f64::max);
    if most == 0.0 {
        let at = |inside: bool| f64::from(u8::from(inside));
        let (worse, better) = (at(means[0] < -rope), at(means[0] > rope));
        return Ok(Posterior { worse, equal: 1.0 - worse - better, better });
    }
    let (mut worse, mut better, mut all) = (0.0, 0.0, 0.0);
    let steps = 2000;
    let mut parts = Vec::new();
    for i in 0..steps {
        // Given τ, μ is normal, and its weight is the likelihood with μ integrated out.
        let tau = most * (f64::from(i) + 0.5) / f64::from(steps);
        let weights: Vec<f64> = errors.iter().map(|e| 1.0 / (e * e + tau * tau)).collect();
        let total: f64 = weights.iter().sum();
        let centre = weights.iter().zip(&means).map(|(w, x)| w * x).sum::<f64>() / total;
        let misfit: f64 = weights.iter().zip(&means).map(|(w, x)| w * (x - centre).powi(2)).sum();
        let log = 0.5 * (weights.iter().map(|w| w.ln()).sum::<f64>() - total.ln() - misfit);
        parts.push((log, centre, total.sqrt()));
    }
    let highest = parts.iter().map(|part| part.0).fold(f64::NEG_INFINITY, f64::max);
    for (log, centre, root) in parts {
        let weight = (log - highest).exp();
        all += weight;
        better += weight * normal_tail((rope - centre) * root);
        worse += weight * normal_tail((rope + centre) * root);
    }
    let (worse, better) = (worse / all, better / all);
    Ok(Posterior { worse, equal: (1.0 - worse - better).max(0.0), better })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Design, EqualMethods, corrected_t, null_rejection_rates};
    use approx::assert_relative_eq;

    #[test]
    fn six_data_sets_can_decide() {
        // Six of one sign have p = 1/32 by the signs alone; twelve claims would leave no outcome.
        let strong = stouffer(&[0.01; 6]).unwrap();
        assert!(strong.p_two_sided < 1e-7);
        assert!(stouffer(&[0.3; 6]).unwrap().p_two_sided > 0.05);
        assert_eq!(stouffer(&[0.5; 4]).unwrap().p_two_sided, 1.0);
        assert!(stouffer(&[0.0]).is_err() && stouffer(&[]).is_err());
    }

    #[test]
    fn the_best_of_many_is_between_one_test_and_bonferroni() {
        for freedom in [2.0, 9.0, 29.0, 1e6] {
            let mut before = 0.01;
            for rivals in 2..9 {
                let p = below_the_best(0.01, freedom, rivals).unwrap();
                assert!(before < p && p < 0.01 * rivals as f64, "{freedom} {rivals}: {p}");
                before = p;
            }
        }
        // With t = 0 the least favourable case: one of m + 1 equal methods is the best.
        assert_relative_eq!(below_the_best(0.5, 9.0, 4).unwrap(), 0.8, max_relative = 1e-6);
        assert!(below_the_best(0.5, 9.0, 0).is_err());
    }

    #[test]
    fn equal_spreads_are_no_evidence() {
        let values = [1.0, 2.0, 4.0, 3.0];
        assert_eq!(less_spread(&values, &values).unwrap(), 0.5);
        assert!(less_spread(&values, &values[..3]).is_err());
    }

    #[test]
    fn an_order_that_turns_round_has_the_other_sign() {
        let rising = vec![vec![1.0, 2.0, 3.0, 4.0]; 5];
        let falling = vec![vec![4.0, 3.0, 2.0, 1.0]; 5];
        let (up, p) = page(&rising).unwrap();
        let (down, same) = page(&falling).unwrap();
        assert_relative_eq!(up, -down, max_relative = 1e-12);
        assert_eq!(p, same);
        assert_eq!(page(&[vec![1.0, 1.0, 1.0]]).unwrap().0, 0.0);
    }

    #[test]
    fn without_any_spread_the_posterior_is_a_point() {
        let same = gain_over_data_sets(&[(0.0, 0.0), (0.0, 0.0)], 1.0).unwrap();
        assert_eq!((same.worse, same.equal, same.better), (0.0, 1.0, 0.0));
        // More data sets, more certainty.
        let of = |count| gain_over_data_sets(&vec![(1.5, 0.6); count], 1.0).unwrap().better;
        assert!(of(3) < of(6) && of(6) < of(12));
    }

    const RANDOM: Design = Design::Random { test_rows: 100 };

    fn study(splits: usize) -> EqualMethods {
        EqualMethods { splits, ..EqualMethods::default() }
    }

    /// Gains of the first of two equal methods over the second, split by split, plus `gain` points.
    fn gains(study: &EqualMethods, number: u64, design: Design, gain: f64) -> Vec<f64> {
        let errors = study.errors(number, 2, design);
        errors[0].iter().zip(&errors[1]).map(|(first, second)| second - first + gain).collect()
    }

    #[test]
    fn over_six_data_sets_the_combination_keeps_its_level() {
        let (study, studies) = (study(10), 1000_u64);
        let rejected = (0..studies).filter(|number| {
            let p = |dataset| {
                let gains = gains(&study, 6 * number + dataset, RANDOM, 0.0);
                corrected_t(&gains, 0.25).unwrap().p_greater
            };
            stouffer(&(0..6).map(p).collect::<Vec<_>>()).unwrap().p_two_sided < 0.05
        });
        let share = rejected.count() as f64 / studies as f64;
        assert!((0.03..0.07).contains(&share), "{share}");
    }

    /// The correction is for random splits: folds share no test row, and need none.
    #[test]
    fn on_ten_folds_the_ordinary_test_keeps_its_level() {
        let study = study(10);
        let rates = null_rejection_rates(1500, 0.05, 1.0 / 9.0, |number| {
            gains(&study, number, Design::Folds, 0.0)
        });
        let rates = rates.unwrap();
        assert!((0.03..0.07).contains(&rates.naive), "{rates:?}");
        assert!(rates.corrected < 0.03, "{rates:?}");
    }

    #[test]
    fn one_of_five_equal_methods_is_seldom_found_below_the_best() {
        let (study, studies) = (study(10), 600_u64);
        let rejected = (0..studies).filter(|number| {
            let errors = study.errors(*number, 5, RANDOM);
            let p = errors[1..].iter().map(|other| {
                let lead: Vec<f64> =
                    errors[0].iter().zip(other).map(|(own, its)| own - its).collect();
                corrected_t(&lead, 0.25).unwrap().p_greater
            });
            let least = p.fold(1.0, f64::min);
            below_the_best(least, 9.0, 4).unwrap() < 0.05
        });
        let share = rejected.count() as f64 / studies as f64;
        assert!((0.02..0.07).contains(&share), "{share}");
    }
}
