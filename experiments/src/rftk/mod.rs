//! Ridgeless Regression with Random Features.

pub(crate) mod double_descent;
pub(crate) mod figure1a;
pub(crate) mod figure2a;
pub(crate) mod table1;
