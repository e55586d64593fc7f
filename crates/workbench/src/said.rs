//! What a predictor says of rows of a table.

use crate::intervals::NamedInterval;
use crate::windows::said_in_parts;
use crate::{Table, WorkbenchError};
use mercer_datasets::Preparation;
use mercer_learning::{Predictions, Predictor, Task};
use mercer_linalg::Matrix;

/// What a predictor says of rows of a table, in the units of the target.
pub(crate) fn said_of(
    predictor: &dyn Predictor,
    table: &Table,
    rows: &[usize],
    preparation: &Preparation,
) -> Result<NamedInterval, WorkbenchError> {
    if let Some(unheld) = &table.unheld {
        return said_in_parts(unheld, table, Some(rows), |part| {
            let rows: Vec<usize> = (0..part.rows()).collect();
            said_of(predictor, part, &rows, preparation)
        });
    }
    said_of_inputs(predictor, table, (rows, table.raw.select(rows)), preparation)
}

/// The same of these inputs in place of the rows' own.
pub(crate) fn said_of_inputs(
    predictor: &dyn Predictor,
    table: &Table,
    (rows, inputs): (&[usize], Matrix),
    preparation: &Preparation,
) -> Result<NamedInterval, WorkbenchError> {
    let sample = table.sample_with(rows, inputs, preparation)?;
    let shares = predictor.probabilities_rows(sample.matrix());
    let scored = matches!(table.task(), Task::Classification { .. }) && shares.is_none();
    Ok(NamedInterval {
        predictions: unscaled(predictor.predict_rows(sample.matrix())?, preparation),
        decisions: scored.then(|| predictor.decision_rows(sample.matrix())).transpose()?,
        shares,
        truths: table.chosen(rows),
        classes: table.task().outputs(),
        alone: table.classes_alone(),
    })
}

/// Predictions in the units of the target.
pub(crate) fn unscaled(predictions: Predictions, preparation: &Preparation) -> Predictions {
    match (predictions, preparation.target()) {
        (Predictions::Real(values), Some(standard)) => {
            Predictions::Real(values.into_iter().map(|value| standard.invert(value)).collect())
        }
        (predictions, _) => predictions,
    }
}
