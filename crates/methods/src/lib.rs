//! The list of every method: the papers' learners and the baselines.
//!
//! It is all that a person's own table needs. It knows no dataset, no study and no table of a paper.

use mercer_learning::Method;

/// Every registered method: the papers' learners, then the baselines, in the order of the tables.
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
        mercer_baselines::BASELINES,
    ]
    .concat()
}
