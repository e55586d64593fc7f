use crate::Architecture;
use burn::tensor::{Device, Element, Tensor, TensorData};
use mercer_linalg::Real;
use mercer_networks::{Network, ParametersAndGradient};
use ndarray::{Array2, ArrayView2};
use std::sync::Mutex;

/// Numbers that both the house and burn know: `f32` and `f64`.
pub trait Number: Real + Element {}

impl<F: Real + Element> Number for F {}

/// A network whose gradient burn takes.
pub struct Taped<F, A> {
    architecture: A,
    device: Device,
    parameters: Vec<F>,
    gradient: Vec<F>,
    features: Array2<F>,
    /// Parameters and features of the last forward pass, on the tape until the backward pass.
    tape: Mutex<Option<(Vec<Tensor<1>>, Tensor<2>)>>,
}

impl<F: Number, A: Architecture> Taped<F, A> {
    /// A network with these parameters, laid out as [`Architecture::lengths`] says, on a device
    /// without a tape of its own (`Device::flex()`).
    ///
    /// # Panics
    /// If there are more or fewer parameters than the architecture has.
    pub fn new(architecture: A, parameters: Vec<F>, device: Device) -> Self {
        let expected: usize = architecture.lengths().iter().sum();
        assert_eq!(parameters.len(), expected, "parameters of the architecture");
        let (gradient, tape) = (vec![F::zero(); expected], Mutex::new(None));
        let features = Array2::zeros((0, architecture.outputs()));
        Self { architecture, device, parameters, gradient, features, tape }
    }

    /// Each part of the parameters, on a device.
    fn parts(&self, device: &Device) -> Vec<Tensor<1>> {
        let mut start = 0;
        let part = |length| {
            let data = TensorData::new(self.parameters[start..start + length].to_vec(), [length]);
            start += length;
            Tensor::from_data(data, (device, F::dtype()))
        };
        self.architecture.lengths().into_iter().map(part).collect()
    }
}

/// A matrix on a device.
fn given<F: Number>(matrix: ArrayView2<'_, F>, device: &Device) -> Tensor<2> {
    let data: Vec<F> = matrix.iter().copied().collect();
    let shape = [matrix.nrows(), matrix.ncols()];
    Tensor::from_data(TensorData::new(data, shape), (device, F::dtype()))
}

/// The numbers of a tensor, row by row.
fn taken<F: Number, const D: usize>(tensor: Tensor<D>) -> Vec<F> {
    tensor.into_data().try_into_vec::<F>().expect("tensors are made of this type of number")
}

impl<F: Number, A: Architecture> Network<F> for Taped<F, A> {
    fn inputs(&self) -> usize {
        self.architecture.inputs()
    }

    fn outputs(&self) -> usize {
        self.architecture.outputs()
    }

    fn parameters(&self) -> &[F] {
        &self.parameters
    }

    fn forward(&mut self, inputs: ArrayView2<'_, F>) -> ArrayView2<'_, F> {
        assert_eq!(inputs.ncols(), self.inputs(), "columns of the inputs");
        let device = self.device.clone().autodiff();
        let parts: Vec<_> = self.parts(&device).into_iter().map(Tensor::require_grad).collect();
        let z = self.architecture.features(&parts, given(inputs, &device));
        let shape = (inputs.nrows(), self.outputs());
        let values = taken(z.clone().inner());
        self.features = Array2::from_shape_vec(shape, values).expect("the architecture's shape");
        self.tape = Mutex::new(Some((parts, z)));
        self.features.view()
    }

    fn backward(&mut self, inputs: ArrayView2<'_, F>, gradient: ArrayView2<'_, F>) {
        assert_eq!(inputs.nrows(), self.features.nrows(), "rows of the last forward pass");
        assert_eq!(gradient.dim(), self.features.dim(), "shape of the features");
        let tape = self.tape.get_mut().expect("nothing panics while it is held").take();
        let (parts, z) = tape.expect("a forward pass comes before each backward pass");
        // Σ Z ∘ G has the gradient that an objective with ∂L/∂Z = G has.
        let gradient = given(gradient, &self.device.clone().autodiff());
        let gradients = (z * gradient).sum().backward();
        self.gradient.clear();
        for (part, length) in parts.iter().zip(self.architecture.lengths()) {
            match part.grad(&gradients) {
                Some(gradient) => self.gradient.extend(taken::<F, 1>(gradient)),
                // A part that the features do not depend on.
                None => self.gradient.extend(std::iter::repeat_n(F::zero(), length)),
            }
        }
    }

    fn update(&mut self) -> ParametersAndGradient<'_, F> {
        (&mut self.parameters, &self.gradient)
    }

    /// Burn decides about threads itself.
    fn apply(&self, inputs: ArrayView2<'_, F>, _threads: usize) -> Array2<F> {
        assert_eq!(inputs.ncols(), self.inputs(), "columns of the inputs");
        let parts = self.parts(&self.device);
        let z = self.architecture.features(&parts, given(inputs, &self.device));
        let shape = (inputs.nrows(), self.outputs());
        Array2::from_shape_vec(shape, taken(z)).expect("the architecture's shape")
    }
}
