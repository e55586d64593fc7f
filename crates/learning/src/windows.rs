use crate::{LearningError, Sample, Shape};

/// Training rows that are read in passes, some at a time: more of them than memory holds.
///
/// A pass is the same windows in the same order each time. Where one window holds all rows, a
/// learner gives what [`crate::Learner::fit`] gives of them, to the last bit.
pub trait Windows {
    /// All rows, their columns, and the task.
    fn shape(&self) -> Shape;

    /// Rows of a window; the last one of a pass may have fewer.
    fn size(&self) -> usize;

    /// The next window; after the last one of a pass, the first again.
    ///
    /// # Errors
    /// [`LearningError::Unreadable`] if the rows can no longer be read.
    fn next(&mut self) -> Result<Sample, LearningError>;
}

impl dyn Windows + '_ {
    /// Windows of a pass.
    pub fn count(&self) -> usize {
        self.shape().rows.div_ceil(self.size().max(1))
    }
}
