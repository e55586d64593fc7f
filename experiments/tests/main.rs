//! All tests of the crate from outside in one binary, which is linked once.

mod all_pairs;
mod board;
mod claims;
mod common;
mod conditions;
mod conformance;
mod costs;
mod embeddings;
mod errata;
mod examples;
mod findings;
mod golden;
mod kinds;
mod layers;
mod learned_metric;
mod made_up;
mod published;
mod readme;
mod specs;
mod unsafe_blocks;
mod verdicts;
mod watched;
