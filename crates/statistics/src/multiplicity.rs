use crate::StatisticsError;
use crate::error::check_range;

/// Adjusts the p-values of a family of tests by Holm's method, in the order given.
///
/// With `p_(1) ≤ … ≤ p_(m)`, the adjusted value is `max_{i ≤ j} min(1, (m − i + 1) p_(i))`. Rejecting where it is at
/// most `α` keeps the chance of any false rejection in the family at `α` or below. This holds however the tests depend
/// on each other (Holm 1979, Scandinavian Journal of Statistics 6).
///
/// ```
/// let adjusted = mercer_statistics::holm(&[0.01, 0.04, 0.03])?;
/// assert_eq!(adjusted, [0.03, 0.06, 0.06]);
/// # Ok::<(), mercer_statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// A value outside `[0, 1]`.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatisticsError> {
    for &p in p_values {
        check_range("p_values", p, |p| (0.0..=1.0).contains(&p), "in [0, 1]")?;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (place, &i) in order.iter().enumerate() {
        let remaining = (p_values.len() - place) as f64;
        largest = largest.max((remaining * p_values[i]).min(1.0));
        adjusted[i] = largest;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn adjusting_keeps_the_order_and_lies_between_p_and_bonferroni(
            p in proptest::collection::vec(0.0..=1.0f64, 1..20),
        ) {
            let adjusted = holm(&p).unwrap();
            for i in 0..p.len() {
                prop_assert!(p[i] <= adjusted[i]);
                prop_assert!(adjusted[i] <= (p.len() as f64 * p[i]).min(1.0));
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        assert!(holm(&[0.5, 1.1]).is_err());
        assert!(holm(&[f64::NAN]).is_err());
        assert!(holm(&[]).unwrap().is_empty());
    }
}
