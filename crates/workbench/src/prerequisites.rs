//! What is settled before a fit: its settings, and whether there is room for it.

use crate::{Choices, WorkbenchError};
use mercer_datasets::SchemaOptions;
use mercer_harness::declared_bytes;
use mercer_learning::{Limits, Method, Sample, Settings, Shape};
use mercer_records::Tuning;

/// Refuses a fit that by the method's declared cost is far beyond the memory that there is, before
/// anything is allocated. Methods that use some of the rows only (`cap`) reserve what they need.
pub(crate) fn room(
    method: &Method,
    shape: &Shape,
    settings: &Settings,
    limits: &dyn Limits,
) -> Result<(), WorkbenchError> {
    if settings.get("cap").is_none()
        && let Some(bytes) = declared_bytes(method, shape, settings)
    {
        limits.reserve(bytes.min(1e18) as u64)?;
    }
    Ok(())
}

/// Refuses a method that needs all numbers of rows that are mostly 0 where there is no room for them.
pub(crate) fn require_room(
    method: &Method,
    sample: &Sample,
    choices: &Choices<'_>,
) -> Result<(), WorkbenchError> {
    let shape = sample.shape();
    let settings = completed(method, &shape, choices, None);
    if !sample.is_sparse() || method.learner(&settings, shape.task)?.keeps_sparse() {
        return Ok(());
    }
    let Shape { rows, features, .. } = shape;
    let cells = rows.saturating_mul(features);
    if cells <= SchemaOptions::default().limits.cells {
        return Ok(choices.limits.reserve(8 * cells as u64)?);
    }
    let must = format!(
        "one that leaves zeros out, since {rows} rows of {features} numbers are more than are held at once: \
         gaussian-svm, kernel-ridge or falkon, or rf-sgd in passes (--buffer 1000)"
    );
    Err(WorkbenchError::Argument { name: "method", value: method.name.to_owned(), must })
}

/// Defaults, overridden by what was tuned, overridden by the user.
pub(crate) fn completed(
    method: &Method,
    shape: &Shape,
    choices: &Choices<'_>,
    tuning: Option<&Tuning>,
) -> Settings {
    let tuned = tuning.map(|tuning| {
        tuning
            .chosen
            .iter()
            .fold(Settings::new(), |all, (name, value)| all.with(name, value.clone()))
    });
    let given = method.as_meant(&choices.settings);
    method.begun(shape).overridden_by(&tuned.unwrap_or_default()).overridden_by(&given)
}
