//! Every outside crate, once.
//!
//! Cargo unites the features of the packages that are built together, so building one crate of
//! the workspace by itself gives its dependencies other features, and compiles polars again for
//! minutes. Naming this crate beside it, `cargo test --release -p mercer-linalg -p
//! mercer-dependencies` (`just unit linalg`), gives the same features as a build of everything.
//! Only the Python package depends on it, and it holds no code.
