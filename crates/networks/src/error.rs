/// Why a network was refused.
///
/// ```
/// use mercer_networks::{FullyConnectedParams, Initialisation, Last};
/// use rand::SeedableRng;
/// let said = |widths: Vec<usize>, std: f64| {
///     let params = FullyConnectedParams { inputs: 3, widths, last: Last::Linear };
///     let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
///     let start = Initialisation::Truncated { std, bias: 0.0 };
///     params.draw::<f64>(&start, 1, &mut rng).unwrap_err().to_string()
/// };
/// assert!(said(vec![], 0.1).ends_with("is empty; a network needs at least one layer of each kind"));
/// assert!(said(vec![4, 0], 0.1).contains("is 0; it must be "));
/// assert!(said(vec![4], f64::NAN).contains("is NaN; it must be "));
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A size of an architecture that makes no layer.
    #[error("{name} is {value}; it must be {must}")]
    Size {
        /// Name of the size.
        name: &'static str,
        /// Its value.
        value: usize,
        /// The allowed values.
        must: &'static str,
    },
    /// An architecture without layers.
    #[error("{name} is empty; a network needs at least one layer of each kind")]
    NoLayers {
        /// Name of the list.
        name: &'static str,
    },
    /// A number of an initialisation or of dropout outside its range.
    #[error("{name} is {value}; it must be {must}")]
    Number {
        /// Name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values.
        must: &'static str,
    },
}
