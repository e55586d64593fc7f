//! Automated Spectral Kernel Learning.

/// The five methods, in the order of the paper's columns.
pub(crate) const METHODS: [&str; 5] = ["sk", "nsk", "skl", "nskl", "askl"];
