//! How golden values are read.

use ndarray::Array1;
use toml::Value;

pub(crate) fn number(value: &Value) -> f64 {
    value.as_float().unwrap()
}

pub(crate) fn numbers(value: &Value) -> Array1<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}
