//! All tests of the crate from outside in one binary, which is linked once.

mod arrays;
mod askl;
mod calculators;
mod hyper;
mod mce;
mod rftk;
mod rftk_averages;
