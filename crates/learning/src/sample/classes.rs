//! The classes of a sample, and what a learner may require of it.

use super::{Sample, Targets};
use crate::LearningError;
use mercer_linalg::{MatrixView, sparse_row};
use ndarray::ArrayView1;

impl Sample {
    /// Returns the sample with one class against all others. That class becomes 1, the others 0. A regression sample
    /// stays as it is.
    ///
    /// # Errors
    /// [`LearningError::Setting`] for a class that is not declared.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let sample = Sample::classification(array![[0.0], [1.0], [2.0]], vec![0, 2, 1], 3)?;
    /// assert_eq!(sample.against_rest(2)?.labels(), Some([0, 1, 0].as_slice()));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub fn against_rest(mut self, class: u32) -> Result<Self, LearningError> {
        if let Targets::Classes { labels, classes } = &mut self.targets {
            if class as usize >= *classes {
                return Err(LearningError::Setting {
                    name: "against-rest",
                    value: class.to_string(),
                    must: "the number of a class, from 0",
                });
            }
            for label in labels.iter_mut() {
                *label = u32::from(*label == class);
            }
            *classes = 2;
        }
        Ok(self)
    }

    /// Returns how many rows each class has; empty for regression.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let sample = Sample::classification(array![[0.0], [1.0], [2.0]], vec![2, 0, 2], 3)?;
    /// assert_eq!(sample.class_counts(), [1, 0, 2]);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub fn class_counts(&self) -> Vec<usize> {
        match &self.targets {
            Targets::Classes { labels, classes } => {
                let mut counts = vec![0; *classes];
                for &label in labels {
                    counts[label as usize] += 1;
                }
                counts
            }
            Targets::Real(_) => Vec::new(),
        }
    }

    /// Returns the weight of each class, `Σ w_i` over its rows; empty for regression.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let sample = Sample::classification(array![[0.0], [1.0], [2.0]], vec![2, 0, 2], 3)?;
    /// assert_eq!(sample.class_weights(), [1.0, 0.0, 2.0]);
    /// assert_eq!(sample.weighted(&[1.0, 3.0, 0.5])?.class_weights(), [3.0, 0.0, 1.5]);
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    pub fn class_weights(&self) -> Vec<f64> {
        let Targets::Classes { labels, classes } = &self.targets else { return Vec::new() };
        let mut sums = vec![0.0; *classes];
        for (row, &label) in labels.iter().enumerate() {
            sums[label as usize] += self.weights.as_ref().map_or(1.0, |weights| weights[row]);
        }
        sums
    }

    /// Refuses a classification sample in which fewer than two classes occur.
    ///
    /// ```
    /// use mercer_learning::{LearningError, Sample};
    /// use ndarray::array;
    /// let sample = Sample::classification(array![[0.0], [1.0], [2.0]], vec![0, 1, 1], 2)?;
    /// assert!(sample.require_two_classes().is_ok());
    /// let part = sample.select(&[1, 2])?;
    /// assert_eq!(part.require_two_classes(), Err(LearningError::OneClass { rows: 2 }));
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::OneClass`].
    pub fn require_two_classes(&self) -> Result<(), LearningError> {
        let occurring = self.class_counts().into_iter().filter(|&count| count > 0).count();
        if self.labels().is_some() && occurring < 2 {
            return Err(LearningError::OneClass { rows: self.rows() });
        }
        Ok(())
    }

    /// Refuses inputs whose distances leave the numbers. A Gaussian kernel `exp(−s² ‖x − z‖² / 2)` is then 0 between
    /// any two rows, which fits all of them and knows nothing of others.
    ///
    /// ```
    /// use mercer_learning::Sample;
    /// use ndarray::array;
    /// let of = |far: f64| Sample::regression(array![[0.0, 1.0], [far, 2.0]], array![0.0, 1.0]);
    /// of(1e9)?.require_distances(0.1)?;
    /// let said = of(1e200)?.require_distances(0.1).unwrap_err().to_string();
    /// assert!(said.contains("`std` is 0.1, and column 0 of the inputs reaches 1e200"), "{said}");
    /// # Ok::<(), mercer_learning::LearningError>(())
    /// ```
    ///
    /// # Errors
    /// [`LearningError::Overflow`] names `std` and the largest column.
    pub fn require_distances(&self, std: f64) -> Result<(), LearningError> {
        let range = |column: ArrayView1<'_, f64>| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let (least, most) = column.fold(ends, |(a, b), &x| (a.min(x), b.max(x)));
            most - least
        };
        let farthest: f64 = match self.matrix() {
            MatrixView::Dense(inputs) => {
                inputs.columns().into_iter().map(|c| range(c).powi(2)).sum()
            }
            // Of most columns some row has 0, so that the ends are no farther apart than twice the largest.
            MatrixView::Sparse(rows) => {
                let mut most = vec![0.0_f64; rows.cols()];
                for row in 0..rows.rows() {
                    let (columns, values) = sparse_row(rows, row);
                    for (&column, value) in columns.iter().zip(values) {
                        most[column as usize] = most[column as usize].max(value.abs());
                    }
                }
                most.into_iter().map(|most| 4.0 * most * most).sum()
            }
        };
        if farthest.is_finite() && (std * std * farthest).is_finite() {
            return Ok(());
        }
        let what = "distances between the rows";
        Err(LearningError::overflow(what, "double", "std", std, self))
    }
}
