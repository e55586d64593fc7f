//! What a read-out that is never trained can and cannot do.

/// Steps of the optimiser, `t`.
pub(crate) fn steps(rows: usize, batch: usize, epochs: f64) -> f64 {
    epochs * rows.div_ceil(batch.max(1)) as f64
}

/// What every singular value loses over training: `t η λ1`, with `t` the number of steps.
pub(crate) fn shrinkage(rows: usize, batch: usize, epochs: f64, rate: f64, lambda1: f64) -> f64 {
    steps(rows, batch, epochs) * rate * lambda1
}

/// About the smallest singular value of a `D × K` matrix of standard normal entries: `√D − √K`.
pub(crate) fn smallest_singular_value(features: f64, outputs: f64) -> f64 {
    features.sqrt() - outputs.sqrt()
}

/// The largest output of one column of a standard normal read-out, in expectation: with
/// `|φ_j| ≤ 2/√(2D)`, `Σ_j |w_j| 2/√(2D)` has the mean `2 √(D/π)`.
pub(crate) fn reach(features: f64) -> f64 {
    2.0 * (features / std::f64::consts::PI).sqrt()
}

/// Mean of the targets, from the RMSE of predicting 0 and of predicting the mean.
pub(crate) fn mean_target(zero: f64, mean: f64) -> f64 {
    (zero * zero - mean * mean).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Steps and rates of the code's table.
    #[test]
    fn only_usps_shrinks_visibly() {
        for (rows, epochs, rate, lambda1, lost) in [
            (5833, 10.0, 1e-3, 10.0, 18.3),
            (34_800, 10.0, 1e-2, 1e-3, 0.1088),
            (5995, 10.0, 1e-2, 1e-3, 0.0188),
            (1848, 10.0, 1e-2, 1e-3, 0.0058),
            (12_000, 10.0, 1e-2, 1e-4, 0.00375),
            (54_000, 10.0, 1e-4, 1e-4, 0.000_168_8),
        ] {
            assert_relative_eq!(
                shrinkage(rows, 32, epochs, rate, lambda1),
                lost,
                max_relative = 1e-9
            );
        }
        assert_relative_eq!(smallest_singular_value(2000.0, 10.0), 41.559, epsilon = 1e-3);
    }

    /// 400 draws miss the mean by more than 0.3 with probability below 1e-10.
    #[test]
    fn the_largest_output_of_a_normal_read_out_is_as_computed() {
        let (draws, features) = (400, 2000);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let sums: Vec<f64> = (0..draws)
            .map(|_| {
                let sum: f64 = (0..features)
                    .map(|_| {
                        let w: f64 = StandardNormal.sample(&mut rng);
                        w.abs()
                    })
                    .sum();
                sum * 2.0 / f64::from(2 * features).sqrt()
            })
            .collect();
        let mean = sums.iter().sum::<f64>() / f64::from(draws);
        assert_relative_eq!(mean, reach(2000.0), epsilon = 0.3);
        assert_relative_eq!(reach(2000.0), 50.463, epsilon = 1e-3);
        let spread =
            sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / f64::from(draws - 1);
        assert_relative_eq!(
            spread.sqrt(),
            (2.0 - 4.0 / std::f64::consts::PI).sqrt(),
            epsilon = 0.2
        );
        assert_relative_eq!(mean_target(5.0, 3.0), 4.0);
    }
}
