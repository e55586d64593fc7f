//! Fitting to a file that is read in passes, some rows at a time.

use crate::fit::{FittedTo, fit_sample, fitting, header_of, scores_on};
use crate::prerequisites::{completed, room};
use crate::table::task_of;
use crate::tuning::{Asked, has_space, tune_sample};
use crate::unheld::{enough, one_class_first};
use crate::windows::{Rows, Source, affordable, marked, refuse_what_holds_all};
use crate::{Choices, DataNote, Model, Table, WorkbenchError, method_for};
use mercer_datasets::{Impute, Preparation, RowFile, SchemaOptions, survey};
use mercer_learning::{LearningError, Method, Sample, Shape, Streams};

/// What a fit in passes found.
struct FittedInPasses {
    fitted: FittedTo,
    preparation: Preparation,
    first: Sample,
    /// Rows that were held, where they were not all.
    buffer: Option<usize>,
}

/// Fits a method to rows that are read in passes.
fn fit_rows(
    method: &Method,
    rows: Rows<'_>,
    (buffer, cells): (usize, usize),
    choices: &Choices<'_>,
    streams: &Streams,
) -> Result<FittedInPasses, WorkbenchError> {
    let count = rows.count;
    let buffer = affordable(buffer.min(count).max(2), rows.schema.width(), cells, choices);
    if choices.impute == Some(Impute::Median) && count > buffer {
        let must = "mean where rows are read in passes".to_owned();
        return Err(WorkbenchError::Argument { name: "impute", value: "median".to_owned(), must });
    }
    let size = buffer.min(count);
    let (preparation, of_one_class) = rows.prepare(choices, size)?;
    let source = Source { of: rows, preparation: &preparation };
    let first = source.first(size)?;
    if count <= buffer {
        first.require_two_classes()?;
    }
    let shape = rows.shape();
    method.check_active(&choices.settings, &shape)?;
    let tuning = match choices.tune.filter(|_| has_space(method, &shape)) {
        Some(budget) => {
            if first.require_two_classes().is_err() {
                return Err(one_class_first(size));
            }
            let fixed = &choices.settings;
            let asked = Asked::of(budget, choices, None);
            Some(tune_sample(method, &first, fixed, &asked, streams, choices.limits)?.0)
        }
        None => None,
    };
    let settings = completed(method, &shape, choices, tuning.as_ref());
    let learner = method.learner(&settings, shape.task)?;
    let named = |error: WorkbenchError| error.by_settings(method, &settings, shape.task, true);
    room(method, &Shape { rows: size, ..shape }, &settings, choices.limits).map_err(named)?;
    // Reading takes a thread of its own, as long as it goes on.
    let threads = if count <= buffer { choices.threads } else { choices.threads.max(2) - 1 };
    let choices = &Choices { threads, ..choices.clone() };
    let mut outcome = source
        .in_windows(size, |windows| learner.fit_chunks(windows, &mut fitting(choices, streams)))
        .map_err(|error| match error {
            LearningError::NotInPasses { rows, held } => {
                WorkbenchError::NotInPasses { method: method.name.to_owned(), rows, held }
            }
            other => named(WorkbenchError::from(other).by_name(rows.schema)),
        })?;
    // What solves for all rows at once does not mind their order.
    if of_one_class > 0 && count > buffer && settings.get("batch").is_some() {
        outcome.facts.insert(ONE_CLASS.to_owned(), of_one_class as f64);
    }
    let fitted = FittedTo { outcome, settings, tuning, adjustment: None };
    let buffer = (count > buffer).then_some(buffer);
    Ok(FittedInPasses { fitted, preparation, first, buffer })
}

/// Buffers whose rows are all of one class, as a fact of a fit.
pub(crate) const ONE_CLASS: &str = "buffers-of-one-class";

/// A method fitted to some rows of a table, how they were filled and scaled, and how many count.
pub(crate) fn fit_part(
    method: &Method,
    table: &Table,
    rows: &[usize],
    choices: &Choices<'_>,
    streams: &Streams,
) -> Result<(FittedTo, Preparation, usize), WorkbenchError> {
    if let Some(unheld) = &table.unheld {
        refuse_what_holds_all(choices)?;
        let (wanted, count) = (marked(table.rows(), rows), rows.len());
        let (file, schema) = (unheld.file(), &table.schema);
        let rows = Rows { file, schema, wanted: Some(&wanted), count };
        let found = fit_rows(method, rows, unheld.most, choices, streams)?;
        return Ok((found.fitted, found.preparation, count));
    }
    let preparation = table.prepare(rows, choices.scaling, choices.impute)?;
    let train = table.training(rows, &preparation, choices)?;
    let fitted = fit_sample(method, &train, table.division.as_ref(), choices, streams)
        .map_err(|error| error.by_name(&table.schema))?;
    Ok((fitted, preparation, train.rows()))
}

/// Fits a method to a file with at most `buffer` of its rows in memory. The rows of a buffer are shuffled, the buffers
/// come in the order of the file.
///
/// One pass finds out what the columns mean, one how they are filled and scaled, the others train. With a buffer that
/// holds all rows the model is the same as by [`crate::fit`], to the last bit. Tuning looks at the first buffer only. A
/// thread reads ahead: of several, one less trains.
///
/// ```
/// use mercer_datasets::{RowFile, SchemaOptions};
/// use mercer_learning::Settings;
/// use mercer_models::rftk::METHODS;
/// use mercer_workbench::{Choices, fit_in_passes};
/// let text = "x,kind\n-1,a\n-2,a\n-3,a\n-4,a\n1,b\n2,b\n3,b\n4,b\n";
/// let file = RowFile::spooled(text.as_bytes(), "toys", None)?;
/// let choices = Choices { settings: Settings::new().with("features", 20), ..Choices::plain() };
/// let model =
///     fit_in_passes(METHODS, "rf-ridge", &file, &SchemaOptions::default(), 3, &choices)?;
/// assert_eq!((model.header.data.rows, model.header.buffer), (8, Some(3)));
/// # Ok::<(), mercer_workbench::WorkbenchError>(())
/// ```
///
/// # Errors
/// As [`crate::fit`]; [`WorkbenchError::NotInPasses`] if the method needs all rows at once; medians
/// cannot be found in passes.
pub fn fit_in_passes(
    methods: &[Method],
    name: &str,
    file: &RowFile,
    options: &SchemaOptions,
    buffer: usize,
    choices: &Choices<'_>,
) -> Result<Model, WorkbenchError> {
    enough(buffer)?;
    refuse_what_holds_all(choices)?;
    let (schema, count) = survey(file, options)?;
    let method = method_for(methods, name, task_of(&schema))?;
    let rows = Rows { file, schema: &schema, wanted: None, count };
    let streams = Streams::root(choices.seed);
    let found = fit_rows(method, rows, (buffer, options.limits.cells), choices, &streams)?;
    let FittedTo { outcome, settings, tuning, .. } = found.fitted;
    let (training, scored) = scores_on(&*outcome.predictor, &found.first, &found.preparation)?;
    let data = DataNote { file: file.name().to_owned(), rows: count, sha256: file.sha256()? };
    let mut header =
        header_of(method, &settings, schema, found.preparation, data, choices, &outcome);
    header.buffer = found.buffer;
    (header.training, header.training_rows, header.tuning) = (training, scored, tuning);
    Ok(Model { header, predictor: outcome.predictor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_datasets::Limits;
    use mercer_learning::Settings;
    use mercer_models::rftk::METHODS;

    /// 8 rows of one number: of 100 rows asked for, 3 are held where a table may have 6 numbers.
    #[test]
    fn a_buffer_holds_no_more_than_a_table_may() {
        let text = "x,kind\n-1,a\n1,b\n-2,a\n2,b\n-3,a\n3,b\n-4,a\n4,b\n";
        let file = RowFile::spooled(text.as_bytes(), "toys", None).unwrap();
        let choices =
            Choices { settings: Settings::new().with("features", 20), ..Choices::plain() };
        let held = |cells| {
            let limits = Limits { cells, ..Limits::default() };
            let options = SchemaOptions { limits, ..SchemaOptions::default() };
            let model = fit_in_passes(METHODS, "rf-sgd", &file, &options, 100, &choices);
            model.unwrap().header.buffer
        };
        assert_eq!((held(6), held(1), held(16)), (Some(3), Some(2), None));
    }
}
