use crate::layer::{self, Layer, add, chunks, view};
use crate::{Initialisation, Network, NetworkError, ParametersAndGradient};
use mercer_linalg::{Real, WorkerPool};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What follows the products of the last layer. `max(·, 0)` follows the products of the other layers.
///
/// ```
/// use mercer_networks::{Architecture, FullyConnectedParams, Last};
/// use ndarray::array;
/// let of = |last| {
///     let params = FullyConnectedParams { inputs: 1, widths: vec![1], last };
///     let net = Architecture::FullyConnected(params).with_parameters(&[-2.0, 0.0], 1)?;
///     Ok::<_, mercer_networks::NetworkError>(net.apply(array![[3.0]].view(), 1)[[0, 0]])
/// };
/// assert_eq!((of(Last::Linear)?, of(Last::Rectified)?), (-6.0, 0.0));
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Last {
    /// `max(·, 0)`: features are outputs of a hidden layer.
    #[default]
    Rectified,
    /// Nothing: outputs are scores.
    Linear,
}

/// Sizes of a fully connected network.
///
/// ```
/// use mercer_networks::{FullyConnectedParams, Initialisation, Last, Network};
/// use rand::SeedableRng;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let params = FullyConnectedParams { inputs: 3, widths: vec![4, 2], last: Last::Rectified };
/// let net = params.draw::<f32>(&Initialisation::Glorot, 1, &mut rng)?;
/// assert_eq!(net.parameters().len(), 3 * 4 + 4 + 4 * 2 + 2);
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FullyConnectedParams {
    /// Columns `d` of the inputs.
    pub inputs: usize,
    /// Units of each layer; the last is the number of features.
    pub widths: Vec<usize>,
    /// What follows the last layer.
    #[serde(default)]
    pub last: Last,
}

impl FullyConnectedParams {
    /// Checks the sizes and draws the parameters; steps run on `threads` threads.
    ///
    /// # Errors
    /// [`NetworkError`] names the size or number that makes no network.
    pub fn draw<F: Real>(
        &self,
        initialisation: &Initialisation,
        threads: usize,
        rng: &mut impl Rng,
    ) -> Result<FullyConnected<F>, NetworkError> {
        let Self { inputs, widths, last } = self;
        if widths.is_empty() {
            return Err(NetworkError::NoLayers { name: "widths" });
        }
        for (name, &value) in
            std::iter::once(("inputs", inputs)).chain(widths.iter().map(|width| ("widths", width)))
        {
            if value == 0 {
                return Err(NetworkError::Size { name, value, must: "at least 1" });
            }
        }
        initialisation.check()?;
        let mut layers: Vec<Layer> = Vec::new();
        for (place, &outputs) in widths.iter().enumerate() {
            let (inputs, start) =
                layers.last().map_or((*inputs, 0), |below| (below.outputs, below.biases().end));
            let rectified = place + 1 < widths.len() || *last == Last::Rectified;
            layers.push(Layer { inputs, outputs, start, rectified });
        }
        let size = layers[layers.len() - 1].biases().end;
        let mut parameters = vec![F::zero(); size];
        for layer in &layers {
            let (weights, biases) =
                parameters[layer.start..].split_at_mut(layer.inputs * layer.outputs);
            let fans = (layer.inputs, layer.outputs);
            initialisation.draw(weights, &mut biases[..layer.outputs], fans, rng);
        }
        Ok(FullyConnected {
            layers,
            gradient: vec![F::zero(); size],
            parameters,
            chunks: Vec::new(),
            features: Array2::zeros((0, widths[widths.len() - 1])),
            crew: WorkerPool::new(threads),
        })
    }
}

/// Layers `h ← max(h W + b, 0)`, one after another.
///
/// The parameters are, layer by layer, `W` (inputs by outputs, row-major) and `b`.
///
/// ```
/// use mercer_networks::{FullyConnected, FullyConnectedParams, Initialisation, Last, Network};
/// use ndarray::array;
/// use rand::SeedableRng;
/// let params = FullyConnectedParams { inputs: 2, widths: vec![1], last: Last::Linear };
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let mut net: FullyConnected<f64> = params.draw(&Initialisation::Glorot, 1, &mut rng)?;
/// let x = array![[1.0, 2.0], [3.0, 4.0]];
/// net.forward(x.view());
/// net.backward(x.view(), array![[1.0], [1.0]].view()); // of the sum of the outputs
/// let (_, gradient) = net.update();
/// assert_eq!(gradient, [4.0, 6.0, 2.0]); // sums of the columns by W, the number of rows by b
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
#[derive(Debug)]
pub struct FullyConnected<F> {
    layers: Vec<Layer>,
    parameters: Vec<F>,
    gradient: Vec<F>,
    chunks: Vec<Chunk<F>>,
    features: Array2<F>, // Z, n × p
    crew: WorkerPool,
}

/// The rows of one chunk on their way through the layers.
#[derive(Debug)]
struct Chunk<F> {
    rows: Range<usize>,
    /// Outputs of the layers but the last, rows by units.
    hidden: Vec<Vec<F>>,
    /// Gradients of the outputs of all layers.
    deltas: Vec<Vec<F>>,
    /// This chunk's part of the gradient.
    gradient: Vec<F>,
}

impl<F: Real> Chunk<F> {
    fn new(rows: Range<usize>, layers: &[Layer], backward: bool) -> Self {
        let buffer = |layer: &Layer| vec![F::zero(); rows.len() * layer.outputs];
        let size = layers[layers.len() - 1].biases().end;
        Self {
            hidden: layers[..layers.len() - 1].iter().map(buffer).collect(),
            deltas: if backward { layers.iter().map(buffer).collect() } else { Vec::new() },
            gradient: if backward { vec![F::zero(); size] } else { Vec::new() },
            rows,
        }
    }

    fn forward(&mut self, layers: &[Layer], parameters: &[F], x: ArrayView2<'_, F>, z: &mut [F]) {
        let rows = x.nrows();
        for (place, layer) in layers.iter().enumerate() {
            let (done, open) = self.hidden.split_at_mut(place);
            let below = match done.last() {
                Some(below) => view(below, rows, layer.inputs),
                None => x.view(),
            };
            let out = open.first_mut().map_or(&mut *z, Vec::as_mut_slice);
            layer.forward(parameters, below, out);
        }
    }

    fn backward(
        &mut self,
        layers: &[Layer],
        parameters: &[F],
        x: ArrayView2<'_, F>,
        z: ArrayView2<'_, F>,
        g: ArrayView2<'_, F>,
    ) {
        let (rows, top) = (x.nrows(), layers.len() - 1);
        let mut delta = ArrayViewMut2::from_shape(g.dim(), &mut self.deltas[top])
            .expect("a row of gradients a row of features");
        delta.assign(&g);
        for (place, layer) in layers.iter().enumerate().rev() {
            let (below, delta) = self.deltas.split_at_mut(place);
            let delta = &mut delta[0];
            let out = match self.hidden.get(place) {
                Some(out) => out.as_slice(),
                None => z.to_slice().expect("rows of a contiguous matrix"),
            };
            layer.unrectify(out, delta);
            let inputs = match place {
                0 => x.view(),
                _ => view(&self.hidden[place - 1], rows, layer.inputs),
            };
            layer.gradient(inputs, delta, &mut self.gradient);
            if let Some(back) = below.last_mut() {
                layer.back(parameters, delta, back);
            }
        }
    }
}

/// The rows of `features` (contiguous), chunk by chunk.
pub(crate) fn slices<F>(
    features: &mut Array2<F>,
    lengths: impl Iterator<Item = usize>,
) -> Vec<&mut [F]> {
    let width = features.ncols();
    let mut rest = features.as_slice_mut().expect("a matrix of our own");
    lengths
        .map(|rows| {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(rows * width);
            rest = others;
            own
        })
        .collect()
}

impl<F: Real> Network<F> for FullyConnected<F> {
    fn inputs(&self) -> usize {
        self.layers[0].inputs
    }

    fn outputs(&self) -> usize {
        self.features.ncols()
    }

    fn parameters(&self) -> &[F] {
        &self.parameters
    }

    fn forward(&mut self, inputs: ArrayView2<'_, F>) -> ArrayView2<'_, F> {
        assert_eq!(inputs.ncols(), self.inputs(), "columns of a network's inputs");
        if self.features.nrows() != inputs.nrows() {
            self.features = Array2::zeros((inputs.nrows(), self.outputs()));
            let ranges = chunks(inputs.nrows());
            self.chunks = ranges.map(|rows| Chunk::new(rows, &self.layers, true)).collect();
        }
        let (layers, parameters) = (&self.layers, &self.parameters);
        let lengths = self.chunks.iter().map(|chunk| chunk.rows.len());
        let parts = slices(&mut self.features, lengths);
        let mut items: Vec<_> = self.chunks.iter_mut().zip(parts).collect();
        self.crew.for_each(&mut items, |_, (chunk, z)| {
            chunk.forward(layers, parameters, inputs.slice(s![chunk.rows.clone(), ..]), z);
        });
        self.features.view()
    }

    fn backward(&mut self, inputs: ArrayView2<'_, F>, gradient: ArrayView2<'_, F>) {
        let (n, features) = (self.features.nrows(), &self.features);
        assert_eq!(inputs.dim(), (n, self.layers[0].inputs), "inputs of the last forward pass");
        assert_eq!(gradient.dim(), features.dim(), "a gradient for each feature");
        let (layers, parameters) = (&self.layers, &self.parameters);
        self.crew.for_each(&mut self.chunks, |_, chunk| {
            let rows = s![chunk.rows.clone(), ..];
            let (x, g) = (inputs.slice(&rows), gradient.slice(&rows));
            let z = features.slice(&rows);
            chunk.backward(layers, parameters, x, z, g);
        });
        let parts: Vec<&[F]> = self.chunks.iter().map(|chunk| chunk.gradient.as_slice()).collect();
        sum_parts(&mut self.crew, &parts, &mut self.gradient);
    }

    fn update(&mut self) -> ParametersAndGradient<'_, F> {
        (&mut self.parameters, &self.gradient)
    }

    fn apply(&self, inputs: ArrayView2<'_, F>, threads: usize) -> Array2<F> {
        assert_eq!(inputs.ncols(), self.inputs(), "columns of a network's inputs");
        let mut features = Array2::zeros((inputs.nrows(), self.outputs()));
        // Fewer rows at once than in training: nothing but the last layer's outputs is kept.
        let mut blocks: Vec<_> = features
            .axis_chunks_iter_mut(Axis(0), layer::ROWS)
            .zip(inputs.axis_chunks_iter(Axis(0), layer::ROWS))
            .collect();
        WorkerPool::new(threads.min(blocks.len())).for_each(&mut blocks, |_, (z, x)| {
            let mut chunk = Chunk::new(0..x.nrows(), &self.layers, false);
            let z = z.as_slice_mut().expect("rows of a contiguous matrix");
            chunk.forward(&self.layers, &self.parameters, *x, z);
        });
        features
    }
}

/// `total ← Σ parts`, in their order.
pub(crate) fn sum_parts<F: Real>(crew: &mut WorkerPool, parts: &[&[F]], total: &mut [F]) {
    const PIECE: usize = 1024;
    let mut pieces: Vec<_> = total.chunks_mut(PIECE).collect();
    crew.for_each(&mut pieces, |index, piece| {
        let range = index * PIECE..index * PIECE + piece.len();
        piece.copy_from_slice(&parts[0][range.clone()]);
        for part in &parts[1..] {
            add(piece, &part[range.clone()]);
        }
    });
}
