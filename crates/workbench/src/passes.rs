//! Fitting to a file that is read in passes, some rows at a time.

use crate::fit::{completed, fitting, header_of, room, scores_on};
use crate::table::{sample_of, task_of};
use crate::tuning::tune_sample;
use crate::{Choices, DataNote, Model, WorkbenchError, method_for};
use mercer_datasets::{
    Impute, Preparation, Preparing, RowFile, Schema, SchemaOptions, Truths, survey,
};
use mercer_learning::{LearningError, Method, RowChunks, Sample, Shape, Streams};
use ndarray::Array2;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Rows that the reading thread hands over at a time, at most with so many numbers, and how many such parts may wait.
const PART: usize = 4096;
const NUMBERS: usize = 1 << 20;
const WAITING: usize = 4;

/// Rows that were read, filled and scaled.
struct Part {
    inputs: Array2<f64>,
    truths: Truths,
}

/// A file whose columns and scaling are known.
#[derive(Clone, Copy)]
struct Source<'a> {
    file: &'a RowFile,
    schema: &'a Schema,
    preparation: &'a Preparation,
    rows: usize,
}

impl Source<'_> {
    /// The first rows.
    fn first(&self, size: usize) -> Result<Sample, WorkbenchError> {
        let (mut inputs, truths, lines) = self.schema.read(self.file)?.chunk(size, true)?;
        self.preparation.apply(&mut inputs, self.schema, self.file.name(), &lines)?;
        Ok(sample_of(inputs, truths, self.schema, self.preparation)?)
    }

    /// Passes over the file without end, until nobody listens or something fails.
    fn send(&self, size: usize, to: &SyncSender<Result<Part, WorkbenchError>>) {
        loop {
            if let Err(error) = self.send_pass(size, to) {
                // Nobody may be listening any more.
                let _ = to.send(Err(error));
                return;
            }
        }
    }

    fn send_pass(
        &self,
        size: usize,
        to: &SyncSender<Result<Part, WorkbenchError>>,
    ) -> Result<(), WorkbenchError> {
        let mut reading = self.schema.read(self.file)?;
        let part = PART.min(NUMBERS / self.schema.width().max(1)).max(1);
        let mut given = 0;
        while given < self.rows {
            // A part ends where its window does.
            let most = part.min(size - given % size).min(self.rows - given);
            let (mut inputs, truths, lines) = reading.chunk(most, true)?;
            if lines.len() < most {
                let reason = format!("{} has fewer rows than before", self.file.name());
                return Err(LearningError::Unreadable { reason }.into());
            }
            self.preparation.apply(&mut inputs, self.schema, self.file.name(), &lines)?;
            given += most;
            if to.send(Ok(Part { inputs, truths })).is_err() {
                return Err(LearningError::Interrupted.into());
            }
        }
        Ok(())
    }

    /// What `work` makes of the file in windows of `size` rows, which are read ahead on a thread of
    /// their own.
    fn in_windows<T>(self, size: usize, work: impl FnOnce(&mut FileWindows<'_>) -> T) -> T {
        let (send, receive) = sync_channel(WAITING);
        std::thread::scope(|scope| {
            scope.spawn(move || self.send(size, &send));
            // Dropped at the end, which stops the reading.
            work(&mut FileWindows { source: self, parts: receive, size, given: 0 })
        })
    }
}

/// Rows of a file, filled and scaled, a window at a time.
struct FileWindows<'a> {
    source: Source<'a>,
    parts: Receiver<Result<Part, WorkbenchError>>,
    size: usize,
    /// Rows of this pass that were handed out.
    given: usize,
}

impl FileWindows<'_> {
    fn window(&mut self) -> Result<Sample, WorkbenchError> {
        let Source { schema, preparation, rows, .. } = self.source;
        let count = self.size.min(rows - self.given);
        let mut numbers = Vec::with_capacity(count * schema.width());
        let mut truths = Truths::none(schema.target.kind);
        while truths.len() < count {
            let part = self.parts.recv().map_err(|_| LearningError::Unreadable {
                reason: format!("{} is not read any more", self.source.file.name()),
            })??;
            numbers.extend(part.inputs.iter());
            truths.append(part.truths);
        }
        self.given = (self.given + count) % rows;
        let inputs = Array2::from_shape_vec((count, schema.width()), numbers);
        let inputs = inputs.expect("every row has d numbers");
        Ok(sample_of(inputs, truths, schema, preparation)?)
    }
}

impl RowChunks for FileWindows<'_> {
    fn shape(&self) -> Shape {
        let Source { schema, rows, .. } = self.source;
        Shape { rows, features: schema.width(), task: task_of(schema) }
    }

    fn size(&self) -> usize {
        self.size
    }

    fn next(&mut self) -> Result<Sample, LearningError> {
        self.window().map_err(|error| match error {
            WorkbenchError::Learning(error) => error,
            other => LearningError::Unreadable { reason: other.to_string() },
        })
    }
}

/// So many rows as can be held twice within the memory that there is, and within what a table may hold.
fn affordable(rows: usize, width: usize, options: &SchemaOptions, choices: &Choices<'_>) -> usize {
    let held = |numbers: usize| (numbers / width.max(1)).max(2);
    let mut most = held(options.limits.cells / 2);
    let bytes = |rows: usize| rows.saturating_mul(width).saturating_mul(16) as u64;
    if let Err(LearningError::OutOfMemory { limit, .. }) =
        choices.limits.reserve(bytes(rows.min(most)))
    {
        most = most.min(held(limit as usize / 32));
    }
    rows.min(most)
}

/// Fits a method to a file without holding more than `buffer` of its rows; the rows of a buffer are
/// shuffled, the buffers come in the order of the file.
///
/// One pass finds out what the columns mean, one how they are filled and scaled, the others train.
/// With a buffer that holds all rows the model is that of [`crate::fit`], to the last bit. Tuning
/// looks at the first buffer only. A thread reads ahead: of several, one less trains.
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
    let refused = |name, value: String, must: &str| {
        Err(WorkbenchError::Argument { name, value, must: must.to_owned() })
    };
    if buffer < 2 {
        return refused("buffer", buffer.to_string(), "at least 2 rows");
    }
    if choices.calibrate || choices.threshold.is_some() {
        let name = if choices.calibrate { "calibrate" } else { "threshold" };
        return refused(name, "given".to_owned(), "left out where rows are read in passes");
    }
    if let Some(of_classes) = &choices.class_weight {
        let must = "left out where rows are read in passes";
        return refused("class-weight", format!("`{of_classes}`"), must);
    }
    let (schema, rows) = survey(file, options)?;
    let buffer = affordable(buffer.min(rows).max(2), schema.width(), options, choices);
    let method = method_for(methods, name, task_of(&schema))?;
    if choices.impute == Some(Impute::Median) && rows > buffer {
        return refused("impute", "median".to_owned(), "mean where rows are read in passes");
    }
    let mut preparing = Preparing::new(&schema, choices.scaling, choices.impute);
    let mut reading = schema.read(file)?;
    while let Some(row) = reading.next(true)? {
        preparing.see(row.numbers, row.truth, file.name(), row.line)?;
    }
    let preparation = preparing.finish()?;
    let size = buffer.min(rows);
    let source = Source { file, schema: &schema, preparation: &preparation, rows };
    let first = source.first(size)?;
    if rows <= buffer {
        first.require_two_classes()?;
    }
    let shape = Shape { rows, features: schema.width(), task: task_of(&schema) };
    method.check_active(&choices.settings, &shape)?;
    let streams = Streams::root(choices.seed);
    let tuning = match choices.tune {
        Some(budget) => {
            let fixed = &choices.settings;
            Some(tune_sample(
                method,
                &first,
                fixed,
                (budget, choices.metric),
                &streams,
                choices.limits,
            )?)
        }
        None => None,
    };
    let settings = completed(method, &shape, choices, tuning.as_ref());
    let learner = method.learner(&settings, shape.task)?;
    let named = |error: WorkbenchError| error.by_settings(method, &settings, shape.task, true);
    room(method, &Shape { rows: size, ..shape }, &settings, choices.limits).map_err(named)?;
    // Reading takes a thread of its own, as long as it goes on.
    let threads = if rows <= buffer { choices.threads } else { choices.threads.max(2) - 1 };
    let choices = &Choices { threads, ..choices.clone() };
    let fitted = source
        .in_windows(size, |windows| learner.fit_chunks(windows, &mut fitting(choices, &streams)));
    let outcome = fitted.map_err(|error| match error {
        LearningError::NotInPasses { rows, held } => {
            WorkbenchError::NotInPasses { method: method.name.to_owned(), rows, held }
        }
        other => named(WorkbenchError::from(other).by_name(&schema)),
    })?;
    let (training, scored) = scores_on(&*outcome.predictor, &first, &preparation)?;
    let data = DataNote { file: file.name().to_owned(), rows, sha256: file.sha256()? };
    let (own, prepared) = (schema.clone(), preparation.clone());
    let mut header = header_of(method, &settings, own, prepared, data, choices, &outcome);
    header.buffer = (rows > buffer).then_some(buffer);
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
