//! Criterion benches of the hot paths.
