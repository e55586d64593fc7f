//! Ridgeless Regression with Random Features.

pub(crate) mod averaged;
pub(crate) mod double_descent;
mod few_rows;
pub(crate) mod figure1a;
pub(crate) mod figure1b;
pub(crate) mod figure2a;
pub(crate) mod figure2a_average;
pub(crate) mod figure2c;
mod sgd_curves;
pub(crate) mod sgd_factors;
pub(crate) mod table1;
pub(crate) mod table2;
pub(crate) mod width;
