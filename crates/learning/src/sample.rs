mod classes;

use crate::LearningError;
use mercer_linalg::{Matrix, MatrixView, SparseRows, dense_rows, sparse_row};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

/// What the targets are.
///
/// ```
/// use mercer_learning::Task;
/// let letters = Task::Classification { classes: 26 };
/// assert_eq!((letters.outputs(), letters.name()), (26, "classification"));
/// assert_eq!((Task::Regression.outputs(), Task::Regression.name()), (1, "regression"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// One of `classes` classes, numbered from 0.
    Classification {
        /// Number of classes `K`.
        classes: usize,
    },
    /// One real number.
    Regression,
}

impl Task {
    /// Returns the number of outputs of a decision function: `K` classes, or 1.
    pub const fn outputs(self) -> usize {
        match self {
            Self::Classification { classes } => classes,
            Self::Regression => 1,
        }
    }

    /// Returns `"classification"` or `"regression"`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classification { .. } => "classification",
            Self::Regression => "regression",
        }
    }
}

/// Targets of a sample.
///
/// ```
/// use mercer_learning::{Sample, Targets};
/// use ndarray::array;
/// let sample = Sample::classification(array![[0.0], [1.0], [2.0]], vec![2, 0, 2], 4)?;
/// let Targets::Classes { labels, classes } = sample.targets() else { unreachable!() };
/// assert_eq!((labels.as_slice(), *classes), ([2, 0, 2].as_slice(), 4));
/// assert_eq!(sample.class_counts(), [1, 0, 2, 0]); // classes 1 and 3 are absent, and declared
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Class indices `0..classes`.
    Classes {
        /// One label a row.
        labels: Vec<u32>,
        /// Number of classes `K`; some may be absent from this sample.
        classes: usize,
    },
    /// Real targets, one a row.
    Real(Array1<f64>),
}

/// Size of a learning problem. It is all that a method may know before it sees the data.
///
/// ```
/// use mercer_learning::{Sample, Shape, Task};
/// use ndarray::array;
/// let sample = Sample::regression(array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], array![0.0, 1.0, 2.0])?;
/// assert_eq!(sample.shape(), Shape { rows: 3, features: 2, task: Task::Regression });
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Rows `n`.
    pub rows: usize,
    /// Input columns `d`.
    pub features: usize,
    /// The task, with its number of classes.
    pub task: Task,
}

/// Inputs with their targets: finite, non-empty, of equal length. It cannot be otherwise.
///
/// ```
/// use mercer_learning::{Sample, Task};
/// use ndarray::array;
/// let sample = Sample::classification(array![[0.0, 1.0], [1.0, 0.0]], vec![0, 1], 2)?;
/// assert_eq!(sample.task(), Task::Classification { classes: 2 });
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    inputs: Inputs,
    targets: Targets,
    /// Positive, one a row; `None` where each row counts once.
    weights: Option<Array1<f64>>,
    /// Which rows of a table these are, and how many it has, where that was said.
    numbers: Option<(Vec<usize>, usize)>,
}

#[derive(Debug, Clone)]
enum Inputs {
    Dense(Array2<f64>),
    /// With all their numbers, once somebody has asked for them.
    Sparse(SparseRows, OnceLock<Array2<f64>>),
}

impl PartialEq for Inputs {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dense(own), Self::Dense(other)) => own == other,
            (Self::Sparse(own, _), Self::Sparse(other, _)) => own == other,
            _ => false,
        }
    }
}

impl Inputs {
    fn of(matrix: Matrix) -> Self {
        match matrix {
            Matrix::Dense(rows) => Self::Dense(rows),
            Matrix::Sparse(rows) => Self::Sparse(rows, OnceLock::new()),
        }
    }

    fn view(&self) -> MatrixView<'_> {
        match self {
            Self::Dense(rows) => rows.view().into(),
            Self::Sparse(rows, _) => rows.into(),
        }
    }
}

impl Sample {
    /// Returns a classification sample: `inputs` is `n × d`, `labels` has `n` entries below `classes`.
    ///
    /// ```
    /// use mercer_learning::{LearningError, Sample};
    /// use ndarray::array;
    /// let sample = Sample::classification(array![[0.5], [1.5]], vec![0, 2], 3)?; // class 1 has no row
    /// assert_eq!(sample.class_counts(), [1, 0, 1]);
    /// let refused = Sample::classification(array![[f64::NAN]], vec![0], 2);
    /// assert!(matches!(refused, Err(LearningError::InputNotFinite { row: 0, column: 0, .. })));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// If a side is empty, the lengths differ, an input is not finite, or a label is out of range.
    pub fn classification(
        inputs: impl Into<Matrix>,
        labels: Vec<u32>,
        classes: usize,
    ) -> Result<Self, LearningError> {
        let inputs = Inputs::of(inputs.into());
        check_inputs(inputs.view(), labels.len())?;
        if let Some((row, &label)) =
            labels.iter().enumerate().find(|&(_, &label)| label as usize >= classes)
        {
            return Err(LearningError::Label { row, label, classes });
        }
        let targets = Targets::Classes { labels, classes };
        Ok(Self { inputs, targets, weights: None, numbers: None })
    }

    /// Returns a regression sample: `inputs` is `n × d`, `values` has `n` entries.
    ///
    /// ```
    /// use mercer_learning::{LearningError, Sample};
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[0.5], [1.5]], array![10.0, 20.0])?;
    /// assert_eq!(sample.values(), Some(array![10.0, 20.0].view()));
    /// let refused = Sample::regression(array![[0.5], [1.5]], array![10.0]);
    /// assert_eq!(refused, Err(LearningError::Length { inputs: 2, targets: 1 }));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// If a side is empty, the lengths differ, or an input or target is not finite.
    pub fn regression(
        inputs: impl Into<Matrix>,
        values: Array1<f64>,
    ) -> Result<Self, LearningError> {
        let inputs = Inputs::of(inputs.into());
        check_inputs(inputs.view(), values.len())?;
        if let Some((row, &value)) = values.iter().enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(LearningError::TargetNotFinite { row, value });
        }
        Ok(Self { inputs, targets: Targets::Real(values), weights: None, numbers: None })
    }

    /// Returns the sample with a weight `w_i ≥ 0` for each row. It replaces earlier weights: row `i` counts as `w_i`
    /// equal rows.
    ///
    /// Rows of weight 0 are left out. Weights that are all 1 are none: nothing changes then, to the last bit.
    /// A learner heeds weights where [`crate::Learner::weighs_rows`] says so.
    ///
    /// ```
    /// use mercer_learning::{LearningError, Sample};
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[0.0], [1.0], [2.0]], array![5.0, 6.0, 7.0])?;
    /// let weighted = sample.clone().weighted(&[2.0, 0.0, 0.5])?;
    /// assert_eq!(weighted.inputs(), array![[0.0], [2.0]]);
    /// assert_eq!(weighted.weights(), Some(array![2.0, 0.5].view()));
    /// assert_eq!(sample.clone().weighted(&[1.0; 3])?, sample);
    /// let refused = sample.clone().weighted(&[1.0, -1.0, 1.0]);
    /// assert_eq!(refused, Err(LearningError::Weight { row: 1, value: -1.0 }));
    /// assert_eq!(sample.weighted(&[0.0; 3]), Err(LearningError::NoWeight));
    /// # Ok::<(), LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::Weight`] for a weight that is negative, infinite or NaN; [`LearningError::NoWeight`] if
    /// all are 0.
    ///
    /// # Panics
    /// If there is not a weight a row.
    pub fn weighted(self, weights: &[f64]) -> Result<Self, LearningError> {
        assert_eq!(weights.len(), self.rows(), "a weight a row");
        let sound = |weight: f64| weight >= 0.0 && weight.is_finite();
        if let Some((row, &value)) = weights.iter().enumerate().find(|(_, weight)| !sound(**weight))
        {
            return Err(LearningError::Weight { row, value });
        }
        let bare = Self { weights: None, ..self };
        if weights.iter().all(|weight| weight.to_bits() == 1f64.to_bits()) {
            return Ok(bare);
        }
        let rows: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        if rows.is_empty() {
            return Err(LearningError::NoWeight);
        }
        let kept = if rows.len() == weights.len() { bare } else { bare.select(&rows)? };
        Ok(Self { weights: Some(rows.into_iter().map(|row| weights[row]).collect()), ..kept })
    }

    /// Adds the number of each row in the sample's original table. It also adds the number of rows of that table. A
    /// column of a kernel matrix belongs to a row: this says to which.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[0.0], [1.0], [2.0]], array![5.0, 6.0, 7.0])?;
    /// assert_eq!(sample.numbers(), None);
    /// let drawn = sample.numbered(vec![7, 8, 9], 20).select(&[2, 0])?;
    /// assert_eq!(drawn.numbers(), Some((&[9, 7][..], 20)));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Panics
    /// If there is not a number a row.
    #[must_use]
    pub fn numbered(self, numbers: Vec<usize>, of: usize) -> Self {
        assert_eq!(numbers.len(), self.rows(), "a number a row");
        Self { numbers: Some((numbers, of)), ..self }
    }

    /// Returns the number of each row in its table, if known. It comes with the number of rows of the table.
    pub fn numbers(&self) -> Option<(&[usize], usize)> {
        self.numbers.as_ref().map(|(numbers, of)| (numbers.as_slice(), *of))
    }

    /// Returns the weights of the rows, all positive, if they have any.
    pub fn weights(&self) -> Option<ArrayView1<'_, f64>> {
        self.weights.as_ref().map(Array1::view)
    }

    /// Returns how many rows differ, by inputs and target. A row that stands there twice is one row of twice the weight.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// let inputs = ndarray::array![[1.0], [2.0], [1.0], [1.0]];
    /// let sample = Sample::regression(inputs, ndarray::array![5.0, 6.0, 5.0, 7.0])?;
    /// assert_eq!(sample.distinct_rows(), 3);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub fn distinct_rows(&self) -> usize {
        let mut seen = HashSet::with_capacity(self.rows());
        let mut add = |row: usize, entries: &mut dyn Iterator<Item = (usize, f64)>| {
            let mut hash = DefaultHasher::new();
            match &self.targets {
                Targets::Classes { labels, .. } => labels[row].hash(&mut hash),
                Targets::Real(values) => values[row].to_bits().hash(&mut hash),
            }
            entries.for_each(|(at, value)| (at, value.to_bits()).hash(&mut hash));
            seen.insert(hash.finish());
        };
        match self.matrix() {
            MatrixView::Dense(rows) => {
                for (row, values) in rows.rows().into_iter().enumerate() {
                    add(row, &mut values.iter().copied().enumerate());
                }
            }
            MatrixView::Sparse(rows) => {
                for row in 0..self.rows() {
                    let (columns, values) = sparse_row(rows, row);
                    let entries = columns.iter().zip(values);
                    add(row, &mut entries.map(|(&at, &value)| (at as usize, value)));
                }
            }
        }
        seen.len()
    }

    /// Returns `√w_i`, if the rows have weights. Least squares on rows times these are weighted least squares.
    pub fn root_weights(&self) -> Option<Array1<f64>> {
        self.weights.as_ref().map(|weights| weights.mapv(f64::sqrt))
    }

    /// Returns `Σ w_i`: the number of rows where they have no weights.
    pub fn total_weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.rows() as f64, Array1::sum)
    }

    /// Returns the inputs `X`, `n × d`. Of rows that are mostly 0 all numbers are laid out, and held with the sample:
    /// [`Sample::matrix`] leaves them as they are.
    pub fn inputs(&self) -> ArrayView2<'_, f64> {
        match &self.inputs {
            Inputs::Dense(rows) => rows.view(),
            Inputs::Sparse(rows, dense) => {
                dense.get_or_init(|| dense_rows(rows, 0..rows.rows())).view()
            }
        }
    }

    /// Returns the inputs as they are held.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use mercer_linalg::{Matrix, sparse_rows};
    /// let rows = Matrix::Sparse(sparse_rows(3, [vec![(0, 1.5)], vec![(2, -1.0)]]));
    /// let sample = Sample::classification(rows.clone(), vec![0, 1], 2)?;
    /// assert!(sample.is_sparse() && sample.matrix().to_owned() == rows);
    /// assert_eq!(sample.inputs(), ndarray::array![[1.5, 0.0, 0.0], [0.0, 0.0, -1.0]]);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub fn matrix(&self) -> MatrixView<'_> {
        self.inputs.view()
    }

    /// Returns whether only what is not 0 is held of the inputs.
    pub const fn is_sparse(&self) -> bool {
        matches!(self.inputs, Inputs::Sparse(..))
    }

    /// Returns the targets.
    pub const fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Returns the class labels, if this is a classification sample.
    pub fn labels(&self) -> Option<&[u32]> {
        match &self.targets {
            Targets::Classes { labels, .. } => Some(labels),
            Targets::Real(_) => None,
        }
    }

    /// Returns the real targets, if this is a regression sample.
    pub fn values(&self) -> Option<ArrayView1<'_, f64>> {
        match &self.targets {
            Targets::Real(values) => Some(values.view()),
            Targets::Classes { .. } => None,
        }
    }

    /// Returns the task, with the declared number of classes.
    pub const fn task(&self) -> Task {
        match &self.targets {
            Targets::Classes { classes, .. } => Task::Classification { classes: *classes },
            Targets::Real(_) => Task::Regression,
        }
    }

    /// Returns rows, columns and task.
    pub fn shape(&self) -> Shape {
        let (rows, features) = self.matrix().dim();
        Shape { rows, features, task: self.task() }
    }

    /// Returns the number of rows `n`.
    pub fn rows(&self) -> usize {
        self.matrix().dim().0
    }

    /// Returns the number of input columns `d`.
    pub fn features(&self) -> usize {
        self.matrix().dim().1
    }

    /// Returns the rows with the given indices, in that order; indices may repeat.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[0.0], [1.0], [2.0]], array![5.0, 6.0, 7.0])?;
    /// let drawn = sample.select(&[2, 0, 2])?; // with repeats, in that order
    /// assert_eq!(drawn.values(), Some(array![7.0, 5.0, 7.0].view()));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::NoRows`] if `rows` is empty.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn select(&self, rows: &[usize]) -> Result<Self, LearningError> {
        if rows.is_empty() {
            return Err(LearningError::NoRows);
        }
        let targets = match &self.targets {
            Targets::Classes { labels, classes } => Targets::Classes {
                labels: rows.iter().map(|&i| labels[i]).collect(),
                classes: *classes,
            },
            Targets::Real(values) => Targets::Real(values.select(Axis(0), rows)),
        };
        let weights = self.weights.as_ref().map(|weights| weights.select(Axis(0), rows));
        let number = |(numbers, of): &(Vec<usize>, usize)| {
            (rows.iter().map(|&row| numbers[row]).collect(), *of)
        };
        let numbers = self.numbers.as_ref().map(number);
        let inputs = Inputs::of(self.matrix().select(rows));
        Ok(Self { inputs, targets, weights, numbers })
    }

    /// Changes the inputs of the sample where they are, by a scaler, say. No copy is made of inputs that are held whole.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[1.0], [3.0]], array![5.0, 6.0])?;
    /// let halved = sample.clone().map_inputs(|inputs| *inputs *= 0.5)?;
    /// assert_eq!(halved.inputs(), array![[0.5], [1.5]]);
    /// assert!(sample.map_inputs(|inputs| *inputs /= 0.0).is_err()); // infinite
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// If an input is not finite afterwards or the number of rows has changed.
    pub fn map_inputs(
        mut self,
        change: impl FnOnce(&mut Array2<f64>),
    ) -> Result<Self, LearningError> {
        let n = self.rows();
        let mut inputs = match self.inputs {
            Inputs::Dense(inputs) => inputs,
            Inputs::Sparse(rows, _) => dense_rows(&rows, 0..n),
        };
        change(&mut inputs);
        self.inputs = Inputs::Dense(inputs);
        check_inputs(self.matrix(), n)?;
        Ok(self)
    }

    /// Returns the sample with other inputs for its rows.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let sample = Sample::regression(array![[1.0], [3.0]], array![5.0, 6.0])?;
    /// assert_eq!(sample.with_inputs(array![[1.0, 2.0], [3.0, 4.0]])?.features(), 2);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Sample::map_inputs`].
    pub fn with_inputs(mut self, inputs: impl Into<Matrix>) -> Result<Self, LearningError> {
        let rows = self.rows();
        self.inputs = Inputs::of(inputs.into());
        check_inputs(self.matrix(), rows)?;
        Ok(self)
    }
}

fn check_inputs(inputs: MatrixView<'_>, targets: usize) -> Result<(), LearningError> {
    let (rows, columns) = inputs.dim();
    if rows == 0 {
        return Err(LearningError::NoRows);
    }
    if columns == 0 {
        return Err(LearningError::NoColumns);
    }
    if rows != targets {
        return Err(LearningError::Length { inputs: rows, targets });
    }
    let strange = match inputs {
        MatrixView::Dense(inputs) => {
            let found = inputs.indexed_iter().find(|(_, value)| !value.is_finite());
            found.map(|((row, column), &value)| (row, column, value))
        }
        MatrixView::Sparse(inputs) => {
            let found = inputs.iter().find(|(value, _)| !value.is_finite());
            found.map(|(&value, (row, column))| (row as usize, column as usize, value))
        }
    };
    match strange {
        Some((row, column, value)) => Err(LearningError::InputNotFinite { row, column, value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
