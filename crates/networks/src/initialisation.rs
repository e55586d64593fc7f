use crate::NetworkError;
use mercer_linalg::Real;
use rand::Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

/// Where the parameters of a network start.
///
/// `fan_in` and `fan_out` are the numbers of inputs and outputs of a unit (of a convolution: kernel
/// size squared times channels in, or out).
///
/// | initialisation | weights | biases |
/// |---|---|---|
/// | `Truncated` | `N(0, std²)`, drawn again beyond `2 std` | `bias` |
/// | `FanIn` | `U(−a, a)`, `a = 1/√fan_in` | the same |
/// | `Glorot` | `U(−a, a)`, `a = √(6/(fan_in + fan_out))` | 0 |
///
/// `Truncated` with its defaults is the initialisation of the MCE paper (and of TensorFlow's truncated normal). `FanIn`
/// is PyTorch's default for linear and convolutional layers; `Glorot` is Keras' default (Glorot and Bengio 2010, eq.
/// 16).
///
/// ```
/// use mercer_networks::{FullyConnectedParams, Initialisation, Last, Network};
/// use rand::SeedableRng;
/// let draw = |initialisation: Initialisation| {
///     let params = FullyConnectedParams { inputs: 100, widths: vec![50], last: Last::Linear };
///     let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
///     params.draw::<f64>(&initialisation, 1, &mut rng).map(|net| net.parameters().to_vec())
/// };
/// let within = |numbers: &[f64], limit: f64| {
///     let largest = numbers.iter().fold(0.0f64, |largest, number| largest.max(number.abs()));
///     largest <= limit && largest > 0.9 * limit
/// };
/// assert!(within(&draw(Initialisation::FanIn)?, 0.1)); // 1/√100
/// assert!(within(&draw(Initialisation::Glorot)?, 0.2)); // √(6/150)
/// let truncated = draw(Initialisation::Truncated { std: 0.1, bias: 0.3 })?;
/// assert!(within(&truncated[..5000], 0.2) && truncated[5000..] == [0.3; 50]);
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Initialisation {
    /// A normal distribution without its tails.
    Truncated {
        /// Deviation before truncation.
        std: f64,
        /// Every bias.
        bias: f64,
    },
    /// Uniform, by the number of inputs.
    FanIn,
    /// Uniform, by the numbers of inputs and outputs.
    Glorot,
}

impl Default for Initialisation {
    fn default() -> Self {
        Self::Truncated { std: 0.1, bias: 0.1 }
    }
}

impl Initialisation {
    pub(crate) fn check(&self) -> Result<(), NetworkError> {
        let Self::Truncated { std, bias } = *self else { return Ok(()) };
        if !(std >= 0.0 && std.is_finite()) {
            let must = "at least 0 and finite";
            return Err(NetworkError::Number { name: "std", value: std, must });
        }
        if !bias.is_finite() {
            return Err(NetworkError::Number { name: "bias", value: bias, must: "finite" });
        }
        Ok(())
    }

    /// Draws the weights of a layer, then its biases.
    pub(crate) fn draw<F: Real>(
        &self,
        weights: &mut [F],
        biases: &mut [F],
        (fan_in, fan_out): (usize, usize),
        rng: &mut impl Rng,
    ) {
        let mut uniform = |to: &mut [F], bound: f64| {
            for w in to {
                *w = F::of(rng.gen_range(-bound..=bound));
            }
        };
        match *self {
            Self::Truncated { std, bias } => {
                // No deviation, no draws: a network that is about to be filled costs nothing.
                if std <= 0.0 {
                    weights.fill(F::zero());
                }
                for weight in weights.iter_mut().filter(|_| std > 0.0) {
                    let z = loop {
                        let z: f64 = rng.sample(StandardNormal);
                        if z.abs() <= 2.0 {
                            break z;
                        }
                    };
                    *weight = F::of(std * z);
                }
                biases.fill(F::of(bias));
            }
            Self::FanIn => {
                let bound = 1.0 / (fan_in as f64).sqrt();
                uniform(weights, bound);
                uniform(biases, bound);
            }
            Self::Glorot => {
                uniform(weights, (6.0 / (fan_in + fan_out) as f64).sqrt());
                biases.fill(F::zero());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Mean square and largest entry of many weights, and the biases.
    fn drawn(how: Initialisation) -> (f64, f64, Vec<f64>) {
        let (mut weights, mut biases) = (vec![0.0; 40_000], vec![9.0; 3]);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        how.draw(&mut weights, &mut biases, (25, 50), &mut rng);
        let square = weights.iter().map(|w| w * w).sum::<f64>() / 40_000.0;
        (square, weights.iter().fold(0.0, |a: f64, w| a.max(w.abs())), biases)
    }

    #[test]
    fn weights_have_the_stated_spread() {
        // A normal variable truncated at 2 deviations has 0.7737 of its variance.
        let (square, largest, biases) = drawn(Initialisation::default());
        assert!((square / 0.01 - 0.773_7).abs() < 0.02, "{square}");
        assert!(largest <= 0.2 && largest > 0.199);
        assert_eq!(biases, [0.1; 3]);
        // A uniform variable on [-a, a] has variance a²/3.
        let (square, largest, biases) = drawn(Initialisation::FanIn);
        assert!((square * 3.0 * 25.0 - 1.0).abs() < 0.03 && largest <= 0.2);
        assert!(biases.iter().all(|bias| bias.abs() <= 0.2));
        assert!((biases[0] - biases[1]).abs() > 0.0);
        let (square, _, biases) = drawn(Initialisation::Glorot);
        assert!((square * 3.0 * 75.0 / 6.0 - 1.0).abs() < 0.03);
        assert_eq!(biases, [0.0; 3]);
    }

    #[test]
    fn without_a_deviation_nothing_is_drawn() {
        let (mut weights, mut biases) = ([9.0; 4], [9.0; 2]);
        let mut rng = rand::rngs::mock::StepRng::new(1, 1);
        let start = Initialisation::Truncated { std: 0.0, bias: 0.5 };
        start.draw(&mut weights, &mut biases, (2, 2), &mut rng);
        assert_eq!((weights, biases), ([0.0; 4], [0.5; 2]));
        assert_eq!(rng, rand::rngs::mock::StepRng::new(1, 1));
    }

    #[test]
    fn bad_numbers_are_named() {
        for (std, bias, name) in
            [(-1.0, 0.0, "std"), (f64::NAN, 0.0, "std"), (0.1, f64::INFINITY, "bias")]
        {
            let error = Initialisation::Truncated { std, bias }.check().unwrap_err();
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
}
