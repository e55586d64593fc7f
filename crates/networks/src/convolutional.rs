use crate::convolution::{Convolution, Scratch};
use crate::fully_connected::{slices, sum_parts};
use crate::layer::{Layer, view, view_mut};
use crate::pool::{Grid, pool, unpool};
use crate::{Initialisation, Network, NetworkError, ParametersAndGradient};
use mercer_linalg::{Real, WorkerPool, product};
use ndarray::{Array2, ArrayView1, ArrayView2, Axis, s};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// Sizes of a convolutional network; the defaults come from the MCE paper on MNIST.
///
/// ```
/// use mercer_networks::{Architecture, ConvolutionalParams, Initialisation, Network};
/// use rand::SeedableRng;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let params =
///     ConvolutionalParams { height: 4, width: 4, filters: vec![2], features: 3, ..Default::default() };
/// let net = Architecture::Convolutional(params).draw::<f64>(&Initialisation::default(), 1, &mut rng)?;
/// let features = net.apply(ndarray::Array2::ones((5, 16)).view(), 1);
/// assert_eq!(features.dim(), (5, 3)); // five images of 4 x 4
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConvolutionalParams {
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Channels after each convolution.
    pub filters: Vec<usize>,
    /// Side of a kernel, odd.
    pub size: usize,
    /// Units of the dense layer at the end: the features.
    pub features: usize,
}

impl Default for ConvolutionalParams {
    fn default() -> Self {
        Self { height: 28, width: 28, channels: 1, filters: vec![32, 64], size: 5, features: 1024 }
    }
}

impl ConvolutionalParams {
    fn check(&self) -> Result<(), NetworkError> {
        let refuse = |name, value, must| Err(NetworkError::Size { name, value, must });
        let Self { height, width, channels, filters, size, features } = self;
        if filters.is_empty() {
            return Err(NetworkError::NoLayers { name: "filters" });
        }
        if size % 2 == 0 {
            return refuse("size", *size, "odd, so that a kernel has a middle");
        }
        for (name, value) in [("height", *height), ("width", *width)] {
            if value >> filters.len() == 0 {
                return refuse(
                    name,
                    value,
                    "at least 2 to the number of convolutions, which halve it",
                );
            }
        }
        for (name, &value) in [("channels", channels), ("features", features)]
            .into_iter()
            .chain(filters.iter().map(|filters| ("filters", filters)))
        {
            if value == 0 {
                return refuse(name, value, "at least 1");
            }
        }
        Ok(())
    }

    /// Checks the sizes and draws the parameters; steps run on `threads` threads.
    ///
    /// # Errors
    /// [`NetworkError`] names the size or number that makes no network.
    pub fn draw<F: Real>(
        &self,
        initialisation: &Initialisation,
        threads: usize,
        rng: &mut impl Rng,
    ) -> Result<Convolutional<F>, NetworkError> {
        self.check()?;
        initialisation.check()?;
        let Self { height, width, channels, size, .. } = *self;
        let mut input = Grid { height, width, channels };
        let (mut start, mut convolutions) = (0, Vec::new());
        for &filters in &self.filters {
            let convolution = Convolution { input, filters, size, start };
            start = convolution.biases().end;
            input = convolution.output().pooled();
            convolutions.push(convolution);
        }
        let dense = Layer { inputs: input.size(), outputs: self.features, start, rectified: true };
        let mut parameters = vec![F::zero(); dense.biases().end];
        for convolution in &convolutions {
            let fan = |channels| size * size * channels;
            let (weights, biases) = parameters[convolution.start..convolution.biases().end]
                .split_at_mut(convolution.weights().len());
            let fans = (fan(convolution.input.channels), fan(convolution.filters));
            initialisation.draw(weights, biases, fans, rng);
        }
        let (weights, biases) = parameters[start..].split_at_mut(dense.weights().len());
        initialisation.draw(weights, biases, (dense.inputs, dense.outputs), rng);
        Ok(Convolutional {
            convolutions,
            dense,
            gradient: vec![F::zero(); parameters.len()],
            parameters,
            chunks: Vec::new(),
            flat: Array2::zeros((0, dense.inputs)),
            delta: Array2::zeros((0, dense.outputs)),
            features: Array2::zeros((0, dense.outputs)),
            crew: WorkerPool::new(threads),
        })
    }
}

/// Convolutional blocks, then a dense layer with `max(·, 0)`. A block is a convolution, `max(·, 0)` and a maximum over
/// 2 × 2 windows.
///
/// Images come in and patches go through as height, width, channel (the channel fastest).
/// Parameters: for each convolution its weights (kernel row, kernel column, channel in, channel
/// out) and biases; then the dense layer's weights (inputs by outputs) and biases. Per image held
/// for a backward pass: the pooled images and one byte for each of their entries.
///
/// ```
/// use mercer_networks::{Convolutional, ConvolutionalParams, Initialisation, Network};
/// use rand::SeedableRng;
/// let params =
///     ConvolutionalParams { height: 4, width: 4, filters: vec![2], features: 3, ..Default::default() };
/// let size = params.size;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let net: Convolutional<f64> = params.draw(&Initialisation::FanIn, 1, &mut rng)?;
/// // Kernels and biases of two filters; then 2 x 2 pixels of 2 channels into 3 features.
/// assert_eq!(net.parameters().len(), size * size * 2 + 2 + (2 * 2 * 2) * 3 + 3);
/// assert_eq!((net.inputs(), net.outputs()), (16, 3));
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug)]
pub struct Convolutional<F> {
    convolutions: Vec<Convolution>,
    dense: Layer,
    parameters: Vec<F>,
    gradient: Vec<F>,
    chunks: Vec<Chunk<F>>,
    flat: Array2<F>,     // last pooled images, a row each
    delta: Array2<F>,    // gradient before the dense layer's activation
    features: Array2<F>, // Z, n × p
    crew: WorkerPool,
}

/// The images of one chunk, and the values kept of them.
#[derive(Debug)]
struct Chunk<F> {
    rows: Range<usize>,
    /// Pooled images of the blocks but the last, one after another.
    pooled: Vec<Vec<F>>,
    /// Where the maxima were, of all blocks.
    index: Vec<Vec<u8>>,
    blocks: Vec<Block<F>>,
    /// Gradient of the last pooled images.
    back: Vec<F>,
    /// This chunk's part of the convolutions' gradient.
    gradient: Vec<F>,
}

/// Scratch of one block, for one image.
#[derive(Debug)]
struct Block<F> {
    scratch: Scratch<F>,
    /// Output of the convolution, or its gradient.
    image: Vec<F>,
    /// Gradient of the block's input.
    back: Vec<F>,
}

/// The entries of a row, copied if they are scattered.
fn contiguous<F: Real>(row: ArrayView1<'_, F>) -> Cow<'_, [F]> {
    row.to_slice().map_or_else(|| Cow::Owned(row.to_vec()), Cow::Borrowed)
}

/// The entries of image `i` when each has `size`.
const fn place(i: usize, size: usize) -> Range<usize> {
    i * size..(i + 1) * size
}

impl<F: Real> Chunk<F> {
    fn new(rows: Range<usize>, convolutions: &[Convolution], backward: bool) -> Self {
        let (n, top) = (rows.len(), convolutions.len() - 1);
        let pooled = |convolution: &Convolution| n * convolution.output().pooled().size();
        let blocks = convolutions.iter().map(|convolution| Block {
            scratch: convolution.scratch(),
            image: vec![F::zero(); convolution.output().size()],
            back: vec![F::zero(); if backward { convolution.input.size() } else { 0 }],
        });
        let last = &convolutions[top];
        Self {
            pooled: convolutions[..top].iter().map(|c| vec![F::zero(); pooled(c)]).collect(),
            index: convolutions.iter().map(|c| vec![0; pooled(c)]).collect(),
            blocks: blocks.collect(),
            back: vec![F::zero(); if backward { pooled(last) } else { 0 }],
            gradient: vec![F::zero(); if backward { last.biases().end } else { 0 }],
            rows,
        }
    }

    /// Fills `flat`, the last pooled images.
    fn forward(
        &mut self,
        convolutions: &[Convolution],
        parameters: &[F],
        x: ArrayView2<'_, F>,
        flat: &mut [F],
    ) {
        for (i, row) in x.rows().into_iter().enumerate() {
            let image = &*contiguous(row);
            for (b, convolution) in convolutions.iter().enumerate() {
                let (below, open) = self.pooled.split_at_mut(b);
                let input =
                    below.last().map_or(image, |below| &below[place(i, convolution.input.size())]);
                let Block { scratch, image: out, .. } = &mut self.blocks[b];
                convolution.forward(parameters, input, scratch, out);
                let at = place(i, convolution.output().pooled().size());
                let to = open.first_mut().map_or(&mut *flat, Vec::as_mut_slice);
                let bias = &parameters[convolution.biases()];
                let index = &mut self.index[b][at.clone()];
                pool(out, bias, convolution.output(), &mut to[at], index);
            }
        }
    }

    /// Sums the convolutions' gradients over the chunk; `self.back` holds the gradient of `flat`.
    fn backward(&mut self, convolutions: &[Convolution], parameters: &[F], x: ArrayView2<'_, F>) {
        self.gradient.fill(F::zero());
        for (i, row) in x.rows().into_iter().enumerate() {
            let image = &*contiguous(row);
            for (b, convolution) in convolutions.iter().enumerate().rev() {
                let (own, above) = self.blocks.split_at_mut(b + 1);
                let Block { scratch, image: delta, back } = &mut own[b];
                let at = place(i, convolution.output().pooled().size());
                let gradient = above.first().map_or_else(|| &self.back[at.clone()], |a| &a.back);
                unpool(gradient, &self.index[b][at.clone()], convolution.output(), delta);
                let input = match b {
                    0 => image,
                    _ => &self.pooled[b - 1][place(i, convolution.input.size())],
                };
                convolution.gradient(input, delta, scratch, &mut self.gradient);
                if b > 0 {
                    convolution.back(parameters, delta, scratch, back);
                }
            }
        }
    }
}

/// Images of one chunk at most; a chunk's scratch stays in cache however many there are.
const CHUNKS: usize = 8;
/// Images whose features are computed at once when nothing is kept.
const IMAGES: usize = 32;

/// The chunks of `n` images: at most 8, their number a function of `n` alone.
fn chunks(n: usize) -> impl Iterator<Item = Range<usize>> {
    let count = n.clamp(1, CHUNKS);
    (0..count).map(move |i| n * i / count..n * (i + 1) / count)
}

impl<F: Real> Network<F> for Convolutional<F> {
    fn inputs(&self) -> usize {
        self.convolutions[0].input.size()
    }

    fn outputs(&self) -> usize {
        self.dense.outputs
    }

    fn parameters(&self) -> &[F] {
        &self.parameters
    }

    fn forward(&mut self, inputs: ArrayView2<'_, F>) -> ArrayView2<'_, F> {
        assert_eq!(inputs.ncols(), self.inputs(), "columns of a network's inputs");
        let n = inputs.nrows();
        if self.features.nrows() != n {
            let Layer { inputs, outputs, .. } = self.dense;
            self.flat = Array2::zeros((n, inputs));
            (self.delta, self.features) =
                (Array2::zeros((n, outputs)), Array2::zeros((n, outputs)));
            let convolutions = &self.convolutions;
            self.chunks = chunks(n).map(|rows| Chunk::new(rows, convolutions, true)).collect();
        }
        let (convolutions, dense) = (&self.convolutions, self.dense);
        let parameters = &self.parameters;
        let lengths = || chunks(n).map(|rows| rows.len());
        let mut items: Vec<_> = self
            .chunks
            .iter_mut()
            .zip(slices(&mut self.flat, lengths()))
            .zip(slices(&mut self.features, lengths()))
            .collect();
        self.crew.for_each(&mut items, |_, ((chunk, flat), z)| {
            let rows = chunk.rows.clone();
            let count = rows.len();
            chunk.forward(convolutions, parameters, inputs.slice(s![rows, ..]), flat);
            dense.forward(parameters, view(flat, count, dense.inputs), z);
        });
        self.features.view()
    }

    fn backward(&mut self, inputs: ArrayView2<'_, F>, gradient: ArrayView2<'_, F>) {
        let n = self.features.nrows();
        assert_eq!(inputs.dim(), (n, self.inputs()), "inputs of the last forward pass");
        assert_eq!(gradient.dim(), self.features.dim(), "a gradient for each feature");
        let (convolutions, dense) = (&self.convolutions, self.dense);
        let (parameters, features) = (&self.parameters, &self.features);
        self.delta.assign(&gradient);
        let lengths = chunks(n).map(|rows| rows.len());
        let mut items: Vec<_> =
            self.chunks.iter_mut().zip(slices(&mut self.delta, lengths)).collect();
        self.crew.for_each(&mut items, |_, (chunk, delta)| {
            let rows = chunk.rows.clone();
            let z = features.slice(s![rows.clone(), ..]);
            dense.unrectify(z.to_slice().expect("rows of a contiguous matrix"), delta);
            dense.back(parameters, delta, &mut chunk.back);
            chunk.backward(convolutions, parameters, inputs.slice(s![rows, ..]));
        });
        // The dense layer: as many blocks of its inputs, each over all images at once.
        let (lower, upper) = self.gradient.split_at_mut(dense.start);
        let (weights, biases) = upper.split_at_mut(dense.weights().len());
        let height = dense.inputs.div_ceil(CHUNKS);
        let mut blocks: Vec<_> = weights.chunks_mut(height * dense.outputs).enumerate().collect();
        let (flat, delta) = (&self.flat, &self.delta);
        self.crew.for_each(&mut blocks, |_, (b, block)| {
            let rows = block.len() / dense.outputs;
            let h = flat.slice(s![.., *b * height..*b * height + rows]);
            product(F::one(), h.t(), delta.view(), F::zero(), view_mut(block, rows, dense.outputs));
        });
        biases.fill(F::zero());
        crate::layer::sum_rows(delta.as_slice().expect("a matrix of our own"), biases);
        let parts: Vec<&[F]> = self.chunks.iter().map(|chunk| chunk.gradient.as_slice()).collect();
        sum_parts(&mut self.crew, &parts, lower);
    }

    fn update(&mut self) -> ParametersAndGradient<'_, F> {
        (&mut self.parameters, &self.gradient)
    }

    fn apply(&self, inputs: ArrayView2<'_, F>, threads: usize) -> Array2<F> {
        assert_eq!(inputs.ncols(), self.inputs(), "columns of a network's inputs");
        let mut features = Array2::zeros((inputs.nrows(), self.outputs()));
        let mut blocks: Vec<_> = features
            .axis_chunks_iter_mut(Axis(0), IMAGES)
            .zip(inputs.axis_chunks_iter(Axis(0), IMAGES))
            .collect();
        WorkerPool::new(threads.min(blocks.len())).for_each(&mut blocks, |_, (z, x)| {
            let count = x.nrows();
            let mut chunk = Chunk::new(0..count, &self.convolutions, false);
            let mut flat = vec![F::zero(); count * self.dense.inputs];
            chunk.forward(&self.convolutions, &self.parameters, *x, &mut flat);
            let z = z.as_slice_mut().expect("rows of a contiguous matrix");
            self.dense.forward(&self.parameters, view(&flat, count, self.dense.inputs), z);
        });
        features
    }
}
