//! All tests of the crate from outside in one binary, which is linked once.

mod behaviour;
mod conformance;
mod scikit_learn;
