//! From a file or a generator to a sample.
