//! Fitting to a file that is read in passes, some rows at a time.

use crate::fit::{completed, fitting, header_of, scores_on};
use crate::table::{sample_of, task_of};
use crate::tuning::tune_sample;
use crate::{Choices, Model, WorkbenchError, method_for};
use mercer_datasets::{
    Impute, Preparation, Preparing, Reading, RowFile, Schema, SchemaOptions, survey,
};
use mercer_learning::{LearningError, Method, Sample, Shape, Streams, Windows};

/// Rows of a file, filled and scaled, a window at a time.
struct FileWindows<'a> {
    file: &'a RowFile,
    schema: &'a Schema,
    preparation: &'a Preparation,
    reading: Reading<'a>,
    rows: usize,
    size: usize,
    /// Rows of this pass that were handed out.
    given: usize,
}

impl FileWindows<'_> {
    fn window(&mut self) -> Result<Sample, WorkbenchError> {
        if self.given >= self.rows {
            self.reading = self.schema.read(self.file)?;
            self.given = 0;
        }
        let (mut inputs, truths, lines) = self.reading.chunk(self.size, true)?;
        self.given += lines.len();
        if lines.len() < self.size && self.given < self.rows {
            let reason = format!("{} has fewer rows than before", self.file.name());
            return Err(LearningError::Unreadable { reason }.into());
        }
        self.preparation.apply(&mut inputs, self.schema, self.file.name(), &lines)?;
        Ok(sample_of(inputs, truths, self.schema, self.preparation)?)
    }
}

impl Windows for FileWindows<'_> {
    fn shape(&self) -> Shape {
        Shape { rows: self.rows, features: self.schema.width(), task: task_of(self.schema) }
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

/// Fits a method to a file without holding more than `buffer` of its rows; the rows of a buffer are
/// shuffled, the buffers come in the order of the file.
///
/// One pass finds out what the columns mean, one how they are filled and scaled, the others train.
/// With a buffer that holds all rows the model is that of [`crate::fit`], to the last bit. Tuning
/// looks at the first buffer only.
///
/// # Errors
/// As [`crate::fit`]; [`LearningError::NotInPasses`] if the method needs all rows at once; medians
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
    let (schema, rows) = survey(file, options)?;
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
    let mut windows = FileWindows {
        file,
        schema: &schema,
        preparation: &preparation,
        reading: schema.read(file)?,
        rows,
        size: buffer.min(rows),
        given: 0,
    };
    let first = windows.window()?;
    if rows <= buffer {
        first.require_two_classes()?;
    }
    let streams = Streams::root(choices.seed);
    let tuning = match choices.tune {
        Some(budget) => {
            let fixed = &choices.settings;
            Some(tune_sample(method, &first, fixed, budget, &streams, choices.limits)?)
        }
        None => None,
    };
    let settings = completed(method, &windows.shape(), choices, tuning.as_ref());
    let learner = method.learner(&settings, task_of(&schema))?;
    // From the start again: a learner counts windows from the first.
    windows.reading = schema.read(file)?;
    windows.given = 0;
    let outcome = learner.fit_windows(&mut windows, &mut fitting(choices, &streams))?;
    let (training, scored) = scores_on(&*outcome.predictor, &first, &preparation)?;
    let mut header = header_of(
        method,
        settings,
        schema.clone(),
        preparation.clone(),
        file,
        rows,
        choices,
        &outcome,
    )?;
    header.buffer = (rows > buffer).then_some(buffer);
    (header.training, header.training_rows, header.tuning) = (training, scored, tuning);
    Ok(Model { header, predictor: outcome.predictor })
}
