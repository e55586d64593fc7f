//! The list of every method: the papers' learners and the baselines.
//!
//! It is all that a person's own table needs, with methods that fit another one in a learned metric. It knows no dataset,
//! no study and no table of a paper.

mod learned_metric;

use mercer_learning::Method;
use mercer_outside::shipped;
pub use mercer_outside::{OutsideError, methods_of};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Methods of files that were named since the program began.
static NAMED: Mutex<Vec<Method>> = Mutex::new(Vec::new());

/// Returns every registered method. The papers' learners come first, then the baselines, in the order of the tables.
///
/// ```
/// use mercer_learning::find;
/// let methods = mercer_methods::registry();
/// assert_eq!(find(&methods, "askl")?.title, "ASKL");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub fn registry() -> Vec<Method> {
    [
        mercer_models::askl::METHODS,
        mercer_models::rftk::METHODS,
        mercer_models::mce::METHODS,
        mercer_models::mce::CEN_METHODS,
        mercer_models::hyper_rkhs::METHODS,
        learned_metric::METHODS,
        mercer_baselines::BASELINES,
    ]
    .concat()
}

/// Returns the same methods, then the [`mercer_outside::shipped`] ones, then the methods of files. The files are the
/// ones passed to [`name`].
///
/// ```
/// use mercer_learning::find;
/// assert_eq!(find(&mercer_methods::all(), "@sklearn-ridge")?.title, "Ridge regression (scikit-learn)");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
///
/// # Panics
/// If the shipped file does not have its form, which its test would have shown.
pub fn all() -> Vec<Method> {
    static SHIPPED: LazyLock<Vec<Method>> =
        LazyLock::new(|| shipped().expect("the shipped file has its form"));
    let named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    registry().into_iter().chain(SHIPPED.iter().copied()).chain(named.iter().copied()).collect()
}

/// Adds the methods of a file to [`all`]. A method of a known name takes its place.
///
/// # Errors
/// [`OutsideError`] if the file cannot be read, does not have its form, or names a method of the registry.
pub fn name(file: &Path) -> Result<(), OutsideError> {
    let found = methods_of(file)?;
    let known = registry();
    if let Some(taken) = found.iter().find(|own| known.iter().any(|other| other.name == own.name)) {
        let reason = format!("there is a method `{}` already; give yours another name", taken.name);
        return Err(OutsideError::Form { path: file.to_owned(), reason });
    }
    let mut named = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    named.retain(|old| found.iter().all(|new| new.name != old.name));
    named.extend(found);
    Ok(())
}
