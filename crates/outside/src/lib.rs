//! Methods that are programs of any language, described by a file. Such a baseline needs no compiler.
//!
//! [`methods_of`] reads the file. Mercer starts the program twice with a folder: once to fit, once to predict;
//! what the program leaves in the folder between the two is its model. The protocol is a chapter of the book.
//! It knows no dataset, no study and no table of a paper.

mod declaration;
mod error;
mod file;
mod method;
mod outside;
mod predictor;
mod program;
mod table;

pub use error::OutsideError;
pub use file::methods_of;

/// Returns methods of scikit-learn, ready to be named: `@sklearn-forest`, `@sklearn-svc` and others.
///
/// ```
/// use mercer_outside::shipped;
/// let methods = shipped()?;
/// assert!(methods.iter().all(|method| method.name.starts_with("@sklearn-")));
/// # Ok::<(), mercer_outside::OutsideError>(())
/// ```
///
/// # Errors
/// If the shipped file does not have its form.
pub fn shipped() -> Result<Vec<mercer_learning::Method>, OutsideError> {
    file::parse(include_str!("scikit_learn.toml"), std::path::Path::new("scikit_learn.toml"))
}
