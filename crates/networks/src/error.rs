/// Why a network was refused.
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
        /// What is allowed.
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
        /// What is allowed.
        must: &'static str,
    },
}
