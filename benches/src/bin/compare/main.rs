//! Compares.
fn main() {}
