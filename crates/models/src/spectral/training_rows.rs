use mercer_learning::{LearningError, RowChunks, Sample};

/// Training rows: all of them, or a window at a time.
pub(crate) struct TrainingRows<'a> {
    /// The first window, or all rows.
    pub first: &'a Sample,
    /// Where the others come from; `None` if `first` holds all rows.
    pub more: Option<&'a mut dyn RowChunks>,
}

impl<'a> TrainingRows<'a> {
    /// Returns all rows at once.
    pub const fn whole(sample: &'a Sample) -> Self {
        Self { first: sample, more: None }
    }

    /// Reads a window at a time; `first` is the first window.
    pub fn of(first: &'a Sample, windows: &'a mut dyn RowChunks) -> Self {
        let more = (windows.shape().rows > first.rows()).then_some(windows);
        Self { first, more }
    }

    /// Returns all rows.
    pub fn rows(&self) -> usize {
        self.more.as_ref().map_or(self.first.rows(), |windows| windows.shape().rows)
    }

    /// What all rows count as: their number, or the sum of their weights. Rows that are read in passes have none.
    pub fn total(&self) -> f64 {
        self.more.as_ref().map_or(self.first.total_weight(), |windows| windows.shape().rows as f64)
    }

    /// Returns the number of chunks of a pass.
    pub fn windows(&self) -> usize {
        self.more.as_ref().map_or(1, |windows| windows.count())
    }

    /// Steps of a pass: every window ends with a batch of its own.
    pub fn steps(&self, batch: usize) -> usize {
        let (rows, size) = (self.rows(), self.first.rows());
        (rows / size) * size.div_ceil(batch) + (rows % size).div_ceil(batch)
    }

    /// Refuses rows of a single class; a window may have one if others have more.
    pub fn require_two_classes(&self) -> Result<(), LearningError> {
        if self.more.is_some() { Ok(()) } else { self.first.require_two_classes() }
    }
}
