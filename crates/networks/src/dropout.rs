use crate::NetworkError;
use mercer_linalg::Real;
use ndarray::Array2;
use rand::Rng;

/// Inverted dropout: a kept feature is divided by its probability `1 − rate`. So expectations stay (Srivastava et al.
/// 2014, as PyTorch and TensorFlow scale it).
///
/// A mask `M` is drawn apart from the network: features become `Z ∘ M`, and their gradient
/// `G ∘ M`. Two masks of one batch therefore cost one pass through the network.
///
/// ```
/// use rand::SeedableRng;
/// let dropout = mercer_networks::Dropout::new(0.5)?;
/// let mask = dropout.mask::<f32>((4, 100), &mut rand_chacha::ChaCha8Rng::seed_from_u64(1));
/// assert!(mask.iter().all(|&m| m == 0.0 || m == 2.0));
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    rate: f64,
}

impl Dropout {
    /// Dropout of a share `rate` of the features.
    ///
    /// # Errors
    /// [`NetworkError::Number`] unless `0 ≤ rate < 1`.
    pub fn new(rate: f64) -> Result<Self, NetworkError> {
        if !(0.0..1.0).contains(&rate) {
            let must = "at least 0 and below 1";
            return Err(NetworkError::Number { name: "dropout", value: rate, must });
        }
        Ok(Self { rate })
    }

    /// Returns whether nothing is dropped.
    pub fn is_idle(&self) -> bool {
        self.rate <= 0.0
    }

    /// Returns a mask: 0 or `1/(1 − rate)`, each entry on its own.
    pub fn mask<F: Real>(&self, shape: (usize, usize), rng: &mut impl Rng) -> Array2<F> {
        if self.is_idle() {
            return Array2::ones(shape);
        }
        let kept = F::of(1.0 / (1.0 - self.rate));
        // 32 bits decide an entry: an entry's probability is right to 2^-33.
        let threshold = (self.rate * 4_294_967_296.0).round() as u64;
        let draw = || if u64::from(rng.next_u32()) < threshold { F::zero() } else { kept };
        Array2::from_shape_simple_fn(shape, draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn masks_keep_the_mean_and_the_seed() {
        let dropout = Dropout::new(0.3).unwrap();
        let draw = |seed| dropout.mask::<f64>((300, 300), &mut ChaCha8Rng::seed_from_u64(seed));
        let mask = draw(1);
        // Deviation of the mean: sqrt(0.3/0.7)/300 = 0.0022.
        assert!((mask.mean().unwrap() - 1.0).abs() < 0.011);
        assert_eq!(mask, draw(1));
        assert_ne!(mask, draw(2));
        let idle = Dropout::new(0.0).unwrap();
        assert_eq!(
            idle.mask::<f64>((2, 2), &mut ChaCha8Rng::seed_from_u64(1)),
            Array2::ones((2, 2))
        );
    }

    #[test]
    fn rates_outside_the_range_are_named() {
        for rate in [-0.1, 1.0, f64::NAN] {
            assert!(Dropout::new(rate).unwrap_err().to_string().contains("dropout"));
        }
    }
}
