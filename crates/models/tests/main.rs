//! All tests of the crate from outside in one binary, which is linked once.

mod passes;
mod printed_text;
