//! Rows of a file that is read in passes, some at a time.

use crate::intervals::NamedInterval;
use crate::table::{sample_of, task_of};
use crate::unheld::{Unheld, whole_only};
use crate::{Choices, Table, WorkbenchError};
use mercer_datasets::{Preparation, Preparing, Reading, RowFile, Schema, Truth, Truths};
use mercer_learning::{LearningError, RowChunks, Sample, Shape};
use ndarray::Array2;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Rows and numbers that the reading thread hands over at a time at most, and parts that may wait.
const PART: usize = 4096;
const NUMBERS: usize = 1 << 20;
const WAITING: usize = 4;

/// Rows of a part.
fn part_of(schema: &Schema) -> usize {
    PART.min(NUMBERS / schema.width().max(1)).max(1)
}

/// Rows that were read, filled and scaled.
struct Part {
    inputs: Array2<f64>,
    truths: Truths,
}

/// Rows of a file whose columns are known: all, or those that are marked.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub file: &'a RowFile,
    pub schema: &'a Schema,
    pub wanted: Option<&'a [bool]>,
    pub count: usize,
}

impl<'a> Rows<'a> {
    fn read(&self) -> Result<Reading<'a>, WorkbenchError> {
        let reading = self.schema.read(self.file)?;
        Ok(match self.wanted {
            Some(wanted) => reading.of_rows(wanted),
            None => reading,
        })
    }

    /// Learns how rows are filled and scaled. It also counts the windows of `size` rows that have one class only.
    pub fn prepare(
        &self,
        choices: &Choices<'_>,
        size: usize,
    ) -> Result<(Preparation, usize), WorkbenchError> {
        let mut preparing = Preparing::new(self.schema, choices.scaling, choices.impute);
        let mut reading = self.read()?;
        let (mut at, mut first, mut alike, mut of_one_class) = (0, None, true, 0);
        while let Some(row) = reading.next(true)? {
            preparing.see(row.numbers, row.truth, self.file.name(), row.line)?;
            if at % size == 0 {
                (first, alike) = (row.truth, true);
            }
            alike &= matches!(row.truth, Some(Truth::Class(_))) && row.truth == first;
            at += 1;
            of_one_class += usize::from(alike && at % size == 0);
        }
        Ok((preparing.finish()?, of_one_class))
    }

    pub fn shape(&self) -> Shape {
        let task = task_of(self.schema);
        Shape { rows: self.count, features: self.schema.width(), task }
    }
}

/// The same, with how they are filled and scaled.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub of: Rows<'a>,
    pub preparation: &'a Preparation,
}

impl Source<'_> {
    /// Returns the first rows.
    pub fn first(&self, size: usize) -> Result<Sample, WorkbenchError> {
        let Rows { file, schema, .. } = self.of;
        let (mut inputs, truths, lines) = self.of.read()?.chunk(size, true)?;
        self.preparation.apply(&mut inputs, schema, file.name(), &lines)?;
        Ok(sample_of(inputs, truths, schema, self.preparation)?)
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
        let Rows { file, schema, count, .. } = self.of;
        let mut reading = self.of.read()?;
        let mut given = 0;
        while given < count {
            // A part ends where its window does.
            let most = part_of(schema).min(size - given % size).min(count - given);
            let (mut inputs, truths, lines) = reading.chunk(most, true)?;
            if lines.len() < most {
                let reason = format!("{} has fewer rows than before", file.name());
                return Err(LearningError::Unreadable { reason }.into());
            }
            self.preparation.apply(&mut inputs, schema, file.name(), &lines)?;
            given += most;
            if to.send(Ok(Part { inputs, truths })).is_err() {
                return Err(LearningError::Interrupted.into());
            }
        }
        Ok(())
    }

    /// Runs `work` on the file in windows of `size` rows. They are read ahead on a thread of their own.
    pub fn in_windows<T>(self, size: usize, work: impl FnOnce(&mut FileWindows<'_>) -> T) -> T {
        let (send, receive) = sync_channel(WAITING);
        std::thread::scope(|scope| {
            scope.spawn(move || self.send(size, &send));
            // Dropped at the end, which stops the reading.
            work(&mut FileWindows { source: self, parts: receive, size, given: 0 })
        })
    }
}

/// Rows of a file, filled and scaled, a window at a time.
pub(crate) struct FileWindows<'a> {
    source: Source<'a>,
    parts: Receiver<Result<Part, WorkbenchError>>,
    size: usize,
    /// Rows of this pass that were handed out.
    given: usize,
}

impl FileWindows<'_> {
    fn window(&mut self) -> Result<Sample, WorkbenchError> {
        let Source { of: Rows { file, schema, count: rows, .. }, preparation } = self.source;
        let count = self.size.min(rows - self.given);
        let mut numbers = Vec::with_capacity(count * schema.width());
        let mut truths = Truths::none(schema.target.kind);
        while truths.len() < count {
            let part = self.parts.recv().map_err(|_| LearningError::Unreadable {
                reason: format!("{} is not read any more", file.name()),
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
        self.source.of.shape()
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

/// As many rows as can be held twice within the memory that there is, and within what a table may hold.
pub(crate) fn affordable(rows: usize, width: usize, cells: usize, choices: &Choices<'_>) -> usize {
    let held = |numbers: usize| (numbers / width.max(1)).max(2);
    let mut most = held(cells / 2);
    let bytes = |rows: usize| rows.saturating_mul(width).saturating_mul(16) as u64;
    if let Err(LearningError::OutOfMemory { limit, .. }) =
        choices.limits.reserve(bytes(rows.min(most)))
    {
        most = most.min(held(limit as usize / 32));
    }
    rows.min(most)
}

/// Refuses what needs all rows at once.
pub(crate) fn refuse_what_holds_all(choices: &Choices<'_>) -> Result<(), WorkbenchError> {
    let asked = [
        ("calibrate", choices.calibrate),
        ("threshold", choices.threshold.is_some()),
        ("importance", choices.importance),
        ("learning-curve", choices.learning_curve),
    ];
    let given = asked.iter().find(|(_, asked)| *asked).map(|(name, _)| (*name, "given".to_owned()));
    let weights = choices.class_weight.as_ref();
    let weights = || weights.map(|of_classes| ("class-weight", format!("`{of_classes}`")));
    match given.or_else(weights) {
        None => Ok(()),
        Some((name, value)) => Err(whole_only(name, value)),
    }
}

/// The first rows of a table that may be held, filled and scaled as all of them.
pub(crate) fn first_rows(
    unheld: &Unheld,
    table: &Table,
    choices: &Choices<'_>,
) -> Result<Sample, WorkbenchError> {
    refuse_what_holds_all(choices)?;
    let (schema, count) = (&table.schema, table.rows());
    let of = Rows { file: unheld.file(), schema, wanted: None, count };
    let (buffer, cells) = unheld.most;
    let size = affordable(buffer.min(count).max(2), schema.width(), cells, choices);
    let (preparation, _) = of.prepare(choices, size)?;
    Source { of, preparation: &preparation }.first(size)
}

/// What `of_part` says of some rows of a table, or of all. The rows are read a part at a time.
pub(crate) fn said_in_parts(
    unheld: &Unheld,
    table: &Table,
    rows: Option<&[usize]>,
    mut of_part: impl FnMut(&Table) -> Result<NamedInterval, WorkbenchError>,
) -> Result<NamedInterval, WorkbenchError> {
    let wanted = rows.map(|rows| marked(table.rows(), rows));
    let mut reading = table.schema.read_wider(unheld.file(), &unheld.widened)?;
    if let Some(wanted) = &wanted {
        reading = reading.of_rows(wanted);
    }
    let mut part = Table {
        name: table.name.clone(),
        schema: table.schema.clone(),
        raw: Array2::zeros((0, 0)).into(),
        truths: Truths::none(table.schema.target.kind),
        lines: Vec::new(),
        sha256: String::new(),
        division: None,
        weights: None,
        unheld: None,
    };
    let mut all = Vec::new();
    loop {
        let (raw, truths, lines) = reading.chunk(part_of(&table.schema), true)?;
        (part.raw, part.truths, part.lines) = (raw.into(), truths, lines);
        if part.lines.is_empty() {
            break;
        }
        all.push(of_part(&part)?);
    }
    let said = NamedInterval::joined(all).ok_or_else(|| {
        let reason = format!("{} has fewer rows than before", unheld.file().name());
        WorkbenchError::from(LearningError::Unreadable { reason })
    })?;
    Ok(match rows {
        // In the order in which they were asked for, as of rows that are held.
        Some(rows) => {
            let mut places: Vec<usize> = (0..rows.len()).collect();
            places.sort_by_key(|&at| rows[at]);
            let mut of_file = vec![0; rows.len()];
            for (found, &at) in places.iter().enumerate() {
                of_file[at] = found;
            }
            said.select(&of_file)
        }
        None => said,
    })
}

/// Which of `count` rows these are.
pub(crate) fn marked(count: usize, rows: &[usize]) -> Vec<bool> {
    let mut marked = vec![false; count];
    for &row in rows {
        marked[row] = true;
    }
    marked
}
