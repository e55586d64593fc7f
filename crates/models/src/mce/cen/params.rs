use super::Cen;
use crate::mce::{Clip, Form, Objective, Sensitivity, refused};
use mercer_kernels::Covariance;
use mercer_learning::{Allowed, LearningError, Parameters};
use mercer_networks::{
    Architecture, ConvolutionalParams, Dropout, FullyConnectedParams, Initialisation, Last,
    NetworkError,
};
use mercer_solvers::Optimiser;
use serde::{Deserialize, Serialize};

/// The layers of a network, whatever the number of columns.
///
/// ```
/// use mercer_models::mce::Layers;
/// let read = |text: &str| serde_json::from_str::<Layers>(text);
/// assert_eq!(read(r#"{"dense": [16, 32]}"#)?, Layers::Dense(vec![16, 32]));
/// assert_eq!(read(r#""convolutional""#)?, Layers::Convolutional);
/// assert!(read(r#""dense""#).is_err()); // of what widths?
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layers {
    /// Dense layers of these widths; the last has [`CenParams::features`] units and follows them.
    Dense(Vec<usize>),
    /// Two convolutions with pooling, 32 and 64 channels, then a dense layer of
    /// [`CenParams::features`] units. A row is the smallest square image that holds it and can be
    /// halved twice, filled row by row and padded with zeros.
    Convolutional,
}

/// The dropout masks of a step.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::mce::{CenParams, Masks};
/// // The authors' code forms the read-out under one mask and scores it under another.
/// let read = |word: &str| Settings::new().with("masks", word).read::<CenParams>("cen");
/// assert_eq!(read("one")?.masks, Masks::One);
/// assert_eq!(CenParams::default().masks, Masks::Two);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("one, two"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Masks {
    /// One: the output weights are formed and scored on the same features.
    One,
    /// Two: formed under one mask, and the same batch scored under another. The output weights are formed so; the
    /// authors' code does this.
    Two,
}

/// The arithmetic of the network; the embedding's is always double.
///
/// ```
/// use mercer_learning::Settings;
/// use mercer_models::mce::{CenParams, Precision};
/// // Of the network alone: the embedding is double in any case.
/// let read = |word: &str| Settings::new().with("precision", word).read::<CenParams>("cen");
/// assert_eq!(read("f32")?.precision, Precision::F32);
/// assert_eq!(CenParams::default().precision, Precision::F64);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("f32, f64"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Single.
    F32,
    /// Double.
    F64,
}

mercer_learning::parameters! {
    /// Settings of a conditional embedding network. The defaults are those of the paper's CEN-1, with
    /// the sum of losses and `α = 1` of its code.
    ///
    /// ```
    /// use mercer_learning::{Fitting, Learner, Sample};
    /// use mercer_models::mce::CenParams;
    /// use ndarray::Array2;
    /// // Two groups on a line; with a handful of rows the complexity would outweigh the sum of losses.
    /// let x = Array2::from_shape_fn((60, 2), |(i, _)| 0.1 * (i % 6) as f64 + (i % 2) as f64);
    /// let sample = Sample::classification(x, (0..60).map(|i| i % 2).collect(), 2)?;
    /// let params = CenParams { epochs: 300.0, rate: 0.01, ..CenParams::default() };
    /// let fitted = params.checked()?.fit(&sample, &mut Fitting::seeded(1))?;
    /// assert_eq!(fitted.facts["training-accuracy"], 1.0);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub struct CenParams {
        /// The layers below the features.
        pub layers: Layers = Layers::Dense(vec![16, 32]) => "convolutional, or {\"dense\": [16, 32]}";
        /// Number of features `p`.
        pub features: usize = 8, Allowed::COUNT;
        /// What follows the last layer of a dense network.
        pub last: Last = Last::Rectified;
        /// Where the network starts.
        pub start: Initialisation = Initialisation::default() =>
            "{\"kind\": \"truncated\", \"std\": 0.1, \"bias\": 0.1}, {\"kind\": \"fan-in\"} or {\"kind\": \"glorot\"}";
        /// The kernel of the features and where its parameters start; none for the linear kernel in its
        /// explicit form.
        pub kernel: Option<Covariance> = None => "JSON of a kernel, such as {\"kind\": \"gaussian\", \"scale\": 1, \"lengths\": [1]}, or null";
        /// `λ` at the start.
        pub lambda: f64 = 1.0, Allowed::POSITIVE;
        /// Whether `λ` and the kernel's parameters are learned with the network, as logarithms.
        pub learn_lambda: bool = true;
        /// Sum or mean of the losses.
        pub form: Form = Form::Sum;
        /// `τ`, the weight of the complexity.
        pub weight: f64 = Objective::default().weight, Allowed::NOT_NEGATIVE;
        /// `ε`, below which a probability is clipped.
        pub epsilon: f64 = Objective::default().epsilon, Allowed::INSIDE_ONE;
        /// Whether a probability above 1 is clipped, too.
        pub clip: Clip = Clip::Both;
        /// What stands for `α`. With a kernel of the features that has a scale, 1 would leave the
        /// complexity to that scale, which changes nothing else.
        pub sensitivity: Sensitivity = Sensitivity::One;
        /// How parameters are moved.
        pub optimiser: Optimiser = Optimiser::Adam;
        /// Learning rate `η`.
        pub rate: f64 = 0.1, Allowed::POSITIVE;
        /// Passes over the training rows.
        pub epochs: f64 = 1000.0, Allowed::POSITIVE;
        /// Rows of a step, consecutive in a fresh permutation each epoch; all rows if not set.
        pub batch: Option<usize> = None, Allowed::COUNT;
        /// Share of the features that a step drops.
        pub dropout: f64 = 0.0, Allowed::BELOW_ONE;
        /// The masks of a step, if any are dropped.
        pub masks: Masks = Masks::Two;
        /// The network's arithmetic.
        pub precision: Precision = Precision::F64;
    }
}

impl CenParams {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`LearningError::Setting`] names the first that is out of range.
    pub fn checked(self) -> Result<Cen, LearningError> {
        self.in_range()?;
        if let Some(kernel) = &self.kernel {
            kernel.check(self.features).map_err(|error| crate::mce::implicit::setting(&error))?;
        }
        self.dropout().map_err(|error| network(&error))?;
        let rng = &mut rand::rngs::mock::StepRng::new(1, 1);
        // Sizes and start are those that a network refuses; the smallest number of columns will do.
        let zero = Initialisation::Truncated { std: 0.0, bias: 0.0 };
        let start = match self.start {
            Initialisation::Truncated { std, bias } if std > 0.0 && std.is_finite() => {
                Initialisation::Truncated { std: 0.0, bias }
            }
            Initialisation::Truncated { .. } => self.start,
            Initialisation::FanIn | Initialisation::Glorot => zero,
        };
        self.architecture(1).draw::<f32>(&start, 1, rng).map_err(|error| network(&error))?;
        Ok(Cen::of(self))
    }

    pub(super) fn objective(&self) -> Objective {
        let Self { form, weight, epsilon, clip, sensitivity, .. } = *self;
        Objective { form, weight, epsilon, clip, sensitivity }
    }

    pub(super) fn dropout(&self) -> Result<Dropout, NetworkError> {
        Dropout::new(self.dropout)
    }

    /// The network for rows of `columns` numbers.
    pub(super) fn architecture(&self, columns: usize) -> Architecture {
        let features = self.features;
        match &self.layers {
            Layers::Dense(hidden) => Architecture::FullyConnected(FullyConnectedParams {
                inputs: columns,
                widths: hidden.iter().copied().chain([features]).collect(),
                last: self.last,
            }),
            Layers::Convolutional => {
                let sizes = ConvolutionalParams::for_columns(columns, 2);
                Architecture::Convolutional(ConvolutionalParams { features, ..sizes })
            }
        }
    }
}

/// A network's complaint as one about the setting that it concerns.
pub(super) fn network(error: &NetworkError) -> LearningError {
    match *error {
        NetworkError::Number { name: "dropout", value, must } => refused("dropout", value, must),
        NetworkError::Number { name, value, must } => {
            refused("start", format!("truncated with {name} = {value}"), must)
        }
        NetworkError::Size { name, value, must } => {
            refused("layers", format!("a network with {name} = {value}"), must)
        }
        NetworkError::NoLayers { name } => {
            let must = "a network of at least one layer of each kind";
            refused("layers", format!("a network without {name}"), must)
        }
        ref other => refused("layers", other, "a network that can be built"),
    }
}
