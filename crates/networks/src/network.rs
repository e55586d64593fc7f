use mercer_linalg::Real;
use ndarray::{Array2, ArrayView2};

/// Mutable parameters beside their gradient, both flat and of one length: what an optimiser moves.
///
/// ```
/// use mercer_networks::{
///     FullyConnectedParams, Initialisation, Last, Network, ParametersAndGradient,
/// };
/// use ndarray::array;
/// use rand::SeedableRng;
/// /// A plain gradient step.
/// fn descend((parameters, gradient): ParametersAndGradient<'_, f64>, rate: f64) {
///     parameters.iter_mut().zip(gradient).for_each(|(w, g)| *w -= rate * g);
/// }
/// let params = FullyConnectedParams { inputs: 1, widths: vec![1], last: Last::Linear };
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let mut net = params.draw::<f64>(&Initialisation::Glorot, 1, &mut rng)?;
/// let x = array![[2.0]];
/// let before = net.forward(x.view())[[0, 0]];
/// net.backward(x.view(), array![[1.0]].view());
/// descend(net.update(), 0.1);
/// let after = net.apply(x.view(), 1)[[0, 0]];
/// assert!((before - after - 0.1 * (2.0 * 2.0 + 1.0)).abs() < 1e-14); // rate · ‖gradient‖²
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
pub type ParametersAndGradient<'a, F> = (&'a mut [F], &'a [F]);

/// A differentiable map from rows to features, `Z = net(X; θ)`.
///
/// One step of training: [`Network::forward`], the gradient `G` of the objective with respect to
/// `Z`, [`Network::backward`], and the optimiser on [`Network::update`].
///
/// ```
/// use mercer_networks::{FullyConnectedParams, Initialisation, Last, Network};
/// use ndarray::array;
/// use rand::SeedableRng;
/// let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
/// let params = FullyConnectedParams { inputs: 2, widths: vec![8, 1], last: Last::Linear };
/// let mut net = params.draw::<f64>(&Initialisation::default(), 1, &mut rng)?;
/// let (x, y) = (array![[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], array![[1.0], [1.0], [0.0]]);
/// for _ in 0..500 {
///     let gradient = &net.forward(x.view()) - &y; // of half the squared error
///     net.backward(x.view(), gradient.view());
///     let (parameters, gradient) = net.update();
///     parameters.iter_mut().zip(gradient).for_each(|(w, g)| *w -= 0.1 * g);
/// }
/// assert!((&net.apply(x.view(), 1) - &y).iter().all(|error| error.abs() < 0.1));
/// # Ok::<(), mercer_networks::NetworkError>(())
/// ```
pub trait Network<F: Real>: Send + Sync {
    /// Returns the number of columns `d` of the inputs.
    fn inputs(&self) -> usize;

    /// Returns the number of columns `p` of the features.
    fn outputs(&self) -> usize;

    /// Returns the parameters `θ`.
    fn parameters(&self) -> &[F];

    /// Returns the features `Z` (`n × p`) of `inputs` (`n × d`); what [`Network::backward`] needs is kept.
    ///
    /// # Panics
    /// If the width of `inputs` is not `d`.
    fn forward(&mut self, inputs: ArrayView2<'_, F>) -> ArrayView2<'_, F>;

    /// Computes the gradient of an objective with respect to `θ`. It needs `gradient = ∂L/∂Z` (`n × p`) and the
    /// `inputs` of the last [`Network::forward`]. [`Network::update`] shows it.
    ///
    /// # Panics
    /// If the shapes are not those of the last forward pass.
    fn backward(&mut self, inputs: ArrayView2<'_, F>, gradient: ArrayView2<'_, F>);

    /// Returns the parameters, to be moved, with the gradient of the last [`Network::backward`].
    fn update(&mut self) -> ParametersAndGradient<'_, F>;

    /// Returns the features of `inputs` on that many threads, keeping nothing: for prediction.
    ///
    /// # Panics
    /// If the width of `inputs` is not `d`.
    fn apply(&self, inputs: ArrayView2<'_, F>, threads: usize) -> Array2<F>;
}
