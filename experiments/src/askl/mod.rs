//! Automated Spectral Kernel Learning.

pub(crate) mod figure3;
pub(crate) mod figure4;
pub(crate) mod ranks;
pub(crate) mod table1;
pub(crate) mod table2;

/// The five methods, in the order of the paper's columns.
pub(crate) const METHODS: [&str; 5] = ["sk", "nsk", "skl", "nskl", "askl"];
