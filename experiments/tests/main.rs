//! All tests of the crate from outside in one binary, which is linked once.

mod all_pairs;
mod conformance;
mod costs;
mod embeddings;
mod errata;
mod examples;
mod golden;
mod heeded;
mod layers;
mod published;
mod readme;
mod shelves;
mod specs;
mod unsafe_blocks;
mod watched;
