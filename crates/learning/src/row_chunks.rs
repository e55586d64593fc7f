use crate::{LearningError, Sample, Shape};

/// Training rows that are read in passes, some at a time. There are more of them than memory holds.
///
/// A pass is the same windows in the same order each time. Where one window holds all rows, a
/// learner gives what [`crate::Learner::fit`] gives of them, to the last bit.
///
/// ```
/// use mercer_learning::{LearningError, Sample, Shape, Task, RowChunks};
/// use ndarray::{Array1, Array2};
/// /// Ten rows that count, four at a time.
/// struct Counting(usize);
/// impl RowChunks for Counting {
///     fn shape(&self) -> Shape { Shape { rows: 10, features: 1, task: Task::Regression } }
///     fn size(&self) -> usize { 4 }
///     fn next(&mut self) -> Result<Sample, LearningError> {
///         let rows = self.0..(self.0 + 4).min(10);
///         self.0 = rows.end % 10;
///         let values: Array1<f64> = rows.map(|row| row as f64).collect();
///         Sample::regression(Array2::zeros((values.len(), 1)), values)
///     }
/// }
/// let mut windows = Counting(0);
/// let sizes = [4, 4, 2, 4].map(|_| windows.next().map(|sample| sample.rows()));
/// assert_eq!(sizes, [Ok(4), Ok(4), Ok(2), Ok(4)]); // after the last the first again
/// assert_eq!((&windows as &dyn RowChunks).count(), 3);
/// ```
pub trait RowChunks {
    /// Returns all rows, their columns, and the task.
    fn shape(&self) -> Shape;

    /// Rows of a window; the last one of a pass may have fewer.
    fn size(&self) -> usize;

    /// Returns the next window; after the last one of a pass, the first again.
    ///
    /// # Errors
    /// [`LearningError::Unreadable`] if the rows can no longer be read.
    fn next(&mut self) -> Result<Sample, LearningError>;
}

impl dyn RowChunks + '_ {
    /// Returns the number of chunks of a pass.
    pub fn count(&self) -> usize {
        self.shape().rows.div_ceil(self.size().max(1))
    }
}
