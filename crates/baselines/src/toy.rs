//! The six points of the golden values, and how these are read.

use mercer_learning::Sample;
use ndarray::{Array1, Array2, array};
use toml::Value;

pub(crate) fn points() -> Array2<f64> {
    array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [2.0, 2.0]]
}

/// The test point.
pub(crate) fn test() -> Array2<f64> {
    array![[1.5, 0.5]]
}

/// Labels A: 1, 1, −1, 1, −1, −1.
pub(crate) const A: [u32; 6] = [1, 1, 0, 1, 0, 0];

/// Three classes.
pub(crate) const C: [u32; 6] = [0, 0, 1, 1, 2, 2];

/// A golden value.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_float().unwrap()
}

/// An array of golden values.
pub(crate) fn numbers(value: &Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Overlapping clouds on a line in two dimensions.
pub(crate) fn clouds(rows: usize, classes: usize) -> Sample {
    let noise = |t: usize| ((t * 7919 + 13) % 997) as f64 / 997.0 - 0.5;
    let inputs =
        Array2::from_shape_fn((rows, 2), |(t, j)| (t % classes) as f64 + 1.4 * noise(2 * t + j));
    let labels = (0..rows).map(|t| (t % classes) as u32).collect();
    Sample::classification(inputs, labels, classes).unwrap()
}
