use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::{conv2d, max_pool2d};
use burn::tensor::ops::{ConvOptions, MaxPoolOptions};
use mercer_networks::{ConvolutionalParams, FullyConnectedParams, Last};

/// How features come about from inputs and parameters, in burn's operations.
///
/// ```
/// use mercer_networks::Network;
/// use mercer_networks_burn::{Architecture, Taped, burn::tensor::{Device, Tensor}};
///
/// /// `z = tanh(x w)`, one feature.
/// struct Tanh(usize);
///
/// impl Architecture for Tanh {
///     fn inputs(&self) -> usize {
///         self.0
///     }
///     fn outputs(&self) -> usize {
///         1
///     }
///     fn lengths(&self) -> Vec<usize> {
///         vec![self.0]
///     }
///     fn features(&self, parameters: &[Tensor<1>], inputs: Tensor<2>) -> Tensor<2> {
///         inputs.matmul(parameters[0].clone().reshape([self.0, 1])).tanh()
///     }
/// }
///
/// let mut net = Taped::new(Tanh(2), vec![0.5f64, -1.0], Device::flex());
/// let x = ndarray::array![[1.0, 0.5]]; // x w = 0, where tanh has slope 1
/// assert_eq!(net.forward(x.view())[[0, 0]], 0.0);
/// net.backward(x.view(), ndarray::array![[2.0]].view());
/// assert_eq!(net.update().1, [2.0, 1.0]);
/// ```
pub trait Architecture: Send + Sync {
    /// Columns `d` of the inputs.
    fn inputs(&self) -> usize;

    /// Columns `p` of the features.
    fn outputs(&self) -> usize;

    /// Lengths of the parameters' parts, in the order in which they lie in the flat slice.
    fn lengths(&self) -> Vec<usize>;

    /// The features (`n × p`) of `inputs` (`n × d`), from one tensor for each of
    /// [`Architecture::lengths`].
    fn features(&self, parameters: &[Tensor<1>], inputs: Tensor<2>) -> Tensor<2>;
}

/// The fully connected networks of the house, [`mercer_networks::FullyConnected`], on the tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dense(pub FullyConnectedParams);

impl Dense {
    /// Units before and after each layer.
    fn layers(&self) -> impl Iterator<Item = (usize, usize)> {
        let inputs = std::iter::once(self.0.inputs).chain(self.0.widths.iter().copied());
        inputs.zip(self.0.widths.iter().copied())
    }
}

impl Architecture for Dense {
    fn inputs(&self) -> usize {
        self.0.inputs
    }

    fn outputs(&self) -> usize {
        *self.0.widths.last().expect("a network has layers")
    }

    fn lengths(&self) -> Vec<usize> {
        self.layers().flat_map(|(inputs, outputs)| [inputs * outputs, outputs]).collect()
    }

    fn features(&self, parameters: &[Tensor<1>], inputs: Tensor<2>) -> Tensor<2> {
        let mut z = inputs;
        for (place, ((inputs, outputs), parts)) in
            self.layers().zip(parameters.chunks_exact(2)).enumerate()
        {
            z = layer(z, parts, inputs, outputs);
            if place + 1 < self.0.widths.len() || self.0.last == Last::Rectified {
                z = relu(z);
            }
        }
        z
    }
}

/// `x W + b`.
fn layer(x: Tensor<2>, parts: &[Tensor<1>], inputs: usize, outputs: usize) -> Tensor<2> {
    let weights = parts[0].clone().reshape([inputs, outputs]);
    x.matmul(weights) + parts[1].clone().reshape([1, outputs])
}

/// The convolutional networks of the house, [`mercer_networks::Convolutional`], on the tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks(pub ConvolutionalParams);

impl Blocks {
    /// Channels before and after each convolution.
    fn convolutions(&self) -> impl Iterator<Item = (usize, usize)> {
        let channels = std::iter::once(self.0.channels).chain(self.0.filters.iter().copied());
        channels.zip(self.0.filters.iter().copied())
    }

    /// Entries of an image after the last convolution, whose sides each one has halved.
    fn flat(&self) -> usize {
        let blocks = self.0.filters.len();
        let channels = self.0.filters.last().expect("a network has convolutions");
        (self.0.height >> blocks) * (self.0.width >> blocks) * channels
    }
}

impl Architecture for Blocks {
    fn inputs(&self) -> usize {
        self.0.height * self.0.width * self.0.channels
    }

    fn outputs(&self) -> usize {
        self.0.features
    }

    fn lengths(&self) -> Vec<usize> {
        let area = self.0.size * self.0.size;
        let convolutions = self.convolutions().flat_map(|(from, to)| [area * from * to, to]);
        convolutions.chain([self.flat() * self.0.features, self.0.features]).collect()
    }

    fn features(&self, parameters: &[Tensor<1>], inputs: Tensor<2>) -> Tensor<2> {
        let ConvolutionalParams { height, width, channels, size, .. } = self.0;
        let [rows, _] = inputs.dims();
        // Ours: height, width, channel. Burn's: channel, height, width.
        let mut images: Tensor<4> =
            inputs.reshape([rows, height, width, channels]).permute([0, 3, 1, 2]);
        let (convolutions, dense) = parameters.split_at(2 * self.0.filters.len());
        for ((from, to), parts) in self.convolutions().zip(convolutions.chunks_exact(2)) {
            let kernels: Tensor<4> =
                parts[0].clone().reshape([size, size, from, to]).permute([3, 2, 0, 1]);
            // What keeps the size of an image, stride 1.
            let same = ConvOptions::new([1, 1], [size / 2, size / 2], [1, 1], 1);
            let windows = MaxPoolOptions::new([2, 2]);
            let convolved = conv2d(images, kernels, Some(parts[1].clone()), same);
            images = max_pool2d(relu(convolved), windows);
        }
        let flat = images.permute([0, 2, 3, 1]).reshape([rows, self.flat()]);
        relu(layer(flat, dense, self.flat(), self.0.features))
    }
}
