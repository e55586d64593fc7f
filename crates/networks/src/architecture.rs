use crate::{
    Convolutional, ConvolutionalParams, FullyConnected, FullyConnectedParams, Initialisation,
    Network, NetworkError,
};
use mercer_linalg::Real;
use ndarray::{Array2, ArrayView2, s};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// One of the architectures, chosen at run time.
///
/// ```
/// use mercer_networks::{Architecture, ConvolutionalParams, Initialisation};
/// use rand::SeedableRng;
/// let images = ConvolutionalParams { features: 100, ..ConvolutionalParams::for_columns(784, 2) };
/// let architecture = Architecture::Convolutional(images);
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let net = architecture.draw::<f32>(&Initialisation::FanIn, 1, &mut rng)?;
/// assert_eq!((net.inputs(), net.outputs()), (784, 100));
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "the lint sees ndarray's `s!`; no size is relied upon for safety"
)]
pub enum Architecture {
    /// Dense layers.
    FullyConnected(FullyConnectedParams),
    /// Convolutions with pooling, then a dense layer.
    Convolutional(ConvolutionalParams),
}

impl Architecture {
    /// Checks the sizes and draws the parameters; steps run on `threads` threads.
    ///
    /// # Errors
    /// [`NetworkError`] names the size or number that makes no network.
    pub fn draw<F: Real>(
        &self,
        initialisation: &Initialisation,
        threads: usize,
        rng: &mut impl Rng,
    ) -> Result<Box<dyn Network<F>>, NetworkError> {
        Ok(match self {
            Self::FullyConnected(params) => {
                let net: FullyConnected<F> = params.draw(initialisation, threads, rng)?;
                Box::new(net)
            }
            Self::Convolutional(params) => {
                let net: Convolutional<F> = params.draw(initialisation, threads, rng)?;
                Box::new(net)
            }
        })
    }

    /// Returns the number of columns of the inputs.
    pub const fn inputs(&self) -> usize {
        match self {
            Self::FullyConnected(params) => params.inputs,
            Self::Convolutional(params) => params.height * params.width * params.channels,
        }
    }

    /// Returns the network with parameters that were kept.
    ///
    /// # Errors
    /// [`NetworkError`] as for [`Architecture::draw`], or if there are not as many parameters.
    pub fn with_parameters<F: Real>(
        &self,
        parameters: &[F],
        threads: usize,
    ) -> Result<Box<dyn Network<F>>, NetworkError> {
        // Weights of deviation 0 take no random numbers worth the name.
        let start = Initialisation::Truncated { std: 0.0, bias: 0.0 };
        let mut net = self.draw::<F>(&start, threads, &mut rand::rngs::mock::StepRng::new(1, 1))?;
        let own = net.update().0;
        if own.len() != parameters.len() {
            let (name, value) = ("number of parameters", parameters.len());
            return Err(NetworkError::Size { name, value, must: "that of the architecture" });
        }
        own.copy_from_slice(parameters);
        Ok(net)
    }

    /// Returns rows of numbers as rows of inputs in the network's precision. They are rounded, and padded with zeros at
    /// the end where an image has more pixels than a row has columns.
    ///
    /// # Panics
    /// If the rows have more columns than the network has inputs.
    pub fn rows<F: Real>(&self, inputs: ArrayView2<'_, f64>) -> Array2<F> {
        let (n, d) = inputs.dim();
        assert!(d <= self.inputs(), "columns of a network's inputs");
        let mut rows = Array2::zeros((n, self.inputs()));
        rows.slice_mut(s![.., ..d]).zip_mut_with(&inputs, |to, &from| *to = F::of(from));
        rows
    }
}

impl ConvolutionalParams {
    /// Returns the default network for the smallest square image that holds `columns` pixels. The image has one channel
    /// and can be halved `halvings` times; the filters double from 32.
    pub fn for_columns(columns: usize, halvings: usize) -> Self {
        let unit = 1 << halvings;
        let mut side = unit;
        while side * side < columns {
            side += unit;
        }
        let filters = (0..halvings).map(|level| 32 << level).collect();
        Self { height: side, width: side, channels: 1, filters, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn images_are_the_smallest_squares_that_hold_a_row() {
        let side = |columns| ConvolutionalParams::for_columns(columns, 2).height;
        assert_eq!([1, 16, 17, 256, 257, 784, 785].map(side), [4, 4, 8, 16, 20, 28, 32]);
        assert_eq!(ConvolutionalParams::for_columns(784, 2), ConvolutionalParams::default());
    }

    #[test]
    fn kept_parameters_come_back_and_wrong_ones_are_refused() {
        let params = FullyConnectedParams { inputs: 3, widths: vec![2], last: crate::Last::Linear };
        let dense = Architecture::FullyConnected(params);
        let parameters: Vec<f64> = (0..8).map(f64::from).collect();
        let net = dense.with_parameters(&parameters, 1).unwrap();
        assert_eq!(net.parameters(), parameters);
        // A row of two columns is padded with a zero.
        let z = net.apply(dense.rows(array![[1.0, -1.0]].view()).view(), 1);
        assert_eq!(z, array![[0.0 - 2.0 + 6.0, 1.0 - 3.0 + 7.0]]);
        assert!(dense.with_parameters(&parameters[1..], 1).is_err());
    }
}
