use crate::{LearningError, State, Task};
use mercer_linalg::{MatrixView, SparseRows};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, concatenate};
use serde::{Deserialize, Serialize};

/// What a predictor says of some rows.
///
/// ```
/// use mercer_learning::Predictions;
/// let classes = Predictions::Classes(vec![2, 0, 1]);
/// assert_eq!((classes.len(), classes.is_empty()), (3, false));
/// assert_eq!(serde_json::to_string(&classes)?, r#"{"classes":[2,0,1]}"#); // in a record
/// assert_eq!(Predictions::from(ndarray::array![0.5, 1.5]), Predictions::Real(vec![0.5, 1.5]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Predictions {
    /// Class indices.
    Classes(Vec<u32>),
    /// Real values.
    Real(Vec<f64>),
}

impl Predictions {
    /// Converts scores of some rows, as [`Predictor::decision`] gives them, to predictions. For classes that is the
    /// largest (`n × K`, ties to the smaller index), for real targets the value (`n × 1`).
    ///
    /// ```
    /// use mercer_learning::{Predictions, Task};
    /// let scores = ndarray::array![[0.1, 0.7, 0.7], [0.5, 0.2, 0.3]];
    /// let said = Predictions::of_scores(Task::Classification { classes: 3 }, scores.view());
    /// assert_eq!(said, Predictions::Classes(vec![1, 0]));
    /// ```
    pub fn of_scores(task: Task, scores: ArrayView2<'_, f64>) -> Self {
        match task {
            Task::Classification { .. } => {
                Self::Classes(scores.rows().into_iter().map(argmax).collect())
            }
            Task::Regression => Self::Real(scores.column(0).to_vec()),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(labels) => labels.len(),
            Self::Real(values) => values.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A fitted hypothesis.
///
/// ```
/// // What `predict` is for the implementor: nothing but `decision`.
/// use mercer_learning::{Predictions, Predictor, State, Task};
/// use ndarray::{Array2, ArrayView2, array};
/// /// Class 1 where the only input is positive.
/// struct Sign;
/// impl Predictor for Sign {
///     fn task(&self) -> Task { Task::Classification { classes: 2 } }
///     fn features(&self) -> usize { 1 }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> {
///         Array2::from_shape_fn((inputs.nrows(), 2), |(i, class)| {
///             if class == 1 { inputs[[i, 0]] } else { -inputs[[i, 0]] }
///         })
///     }
///     fn state(&self) -> State { State::new() }
/// }
/// assert_eq!(Sign.predict(array![[3.0], [-1.0]].view())?, Predictions::Classes(vec![1, 0]));
/// assert!(Sign.predict(array![[3.0, 1.0]].view()).is_err());
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
pub trait Predictor: Send + Sync {
    /// Returns the task it was fitted to.
    fn task(&self) -> Task;

    /// Returns the number of input columns that it expects.
    fn features(&self) -> usize;

    /// Returns `f(x)` for each row of `inputs` (`n × d`): `n × K` class scores, or `n × 1` values.
    ///
    /// A row's scores do not depend on the other rows. The caller has checked the width.
    fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64>;

    /// [`Predictor::decision`] of one that can fail: what predicts is a program.
    ///
    /// # Errors
    /// Why it failed.
    fn try_decision(&self, inputs: ArrayView2<'_, f64>) -> Result<Array2<f64>, LearningError> {
        Ok(self.decision(inputs))
    }

    /// Returns all that [`crate::Method::restore`] needs to build this predictor again, bit by bit.
    fn state(&self) -> State;

    /// Returns the class probabilities (`n × K`, rows sum to 1), where the method has them.
    fn probabilities(&self, _inputs: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        None
    }

    /// The standard deviation of a new observation at each row, where the method has it.
    fn deviations(&self, _inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        None
    }

    /// Computes the entropy of the classes of each row, in nats. The scores are themselves estimates of probabilities:
    /// it is [`entropies`] of the scores as they are, no less than 0. Of conditional mean embeddings, Hsu, Nock and
    /// Ramos (2018), equations (36) and (37); other methods have only [`entropies`] of their probabilities.
    fn embedded_entropy(&self, _inputs: ArrayView2<'_, f64>) -> Option<Array1<f64>> {
        None
    }

    /// Returns the kernel that the fitted function expands in, if any. For features it is the kernel that they stand
    /// for, where the method has one that can be evaluated; bounds ask for it.
    fn fitted_kernel(&self) -> Option<&dyn FittedKernel> {
        None
    }

    /// Returns what it would say had each of its training rows been left out, where a closed form of numbers has that; on
    /// so many threads.
    ///
    /// # Errors
    /// What the closed form meets.
    fn left_out(&self, _threads: usize) -> Option<Result<Box<dyn LeftOut>, LearningError>> {
        None
    }

    /// Returns predicted classes (the largest score, ties to the smaller index) or values.
    ///
    /// # Errors
    /// [`LearningError::Width`], [`LearningError::InputNotFinite`], or as [`Predictor::try_decision`].
    fn predict(&self, inputs: ArrayView2<'_, f64>) -> Result<Predictions, LearningError> {
        let (expected, found) = (self.features(), inputs.ncols());
        if expected != found {
            return Err(LearningError::Width { expected, found });
        }
        if let Some(((row, column), &value)) = inputs.indexed_iter().find(|(_, v)| !v.is_finite()) {
            return Err(LearningError::InputNotFinite { row, column, value });
        }
        Ok(Predictions::of_scores(self.task(), self.try_decision(inputs)?.view()))
    }

    /// Returns [`Predictor::decision`] of rows that are mostly 0, where the predictor takes them as they are.
    fn sparse_decision(&self, _inputs: &SparseRows) -> Option<Array2<f64>> {
        None
    }

    /// Returns [`Predictor::predict`] of rows that may be mostly 0. Of such rows some are laid out at a time, as by the
    /// next two.
    ///
    /// # Errors
    /// As [`Predictor::predict`].
    fn predict_rows(&self, rows: MatrixView<'_>) -> Result<Predictions, LearningError> {
        if let MatrixView::Sparse(rows) = rows
            && let Some(scores) = self.sparse_decision(rows)
        {
            return Ok(Predictions::of_scores(self.task(), scores.view()));
        }
        let mut said = rows.blocks().map(|block| self.predict(block.view()));
        let mut all = said.next().unwrap_or(Err(LearningError::NoRows))?;
        for more in said {
            match (&mut all, more?) {
                (Predictions::Classes(all), Predictions::Classes(more)) => all.extend(more),
                (Predictions::Real(all), Predictions::Real(more)) => all.extend(more),
                _ => unreachable!("a predictor has one task"),
            }
        }
        Ok(all)
    }

    /// Returns [`Predictor::try_decision`] of rows that may be mostly 0.
    ///
    /// # Errors
    /// As [`Predictor::try_decision`].
    fn decision_rows(&self, rows: MatrixView<'_>) -> Result<Array2<f64>, LearningError> {
        if let MatrixView::Sparse(rows) = rows
            && let Some(scores) = self.sparse_decision(rows)
        {
            return Ok(scores);
        }
        let said = rows.blocks().map(|block| self.try_decision(block.view()));
        Ok(stacked(said.collect::<Result<_, _>>()?))
    }

    /// Returns [`Predictor::probabilities`] of rows that may be mostly 0.
    fn probabilities_rows(&self, rows: MatrixView<'_>) -> Option<Array2<f64>> {
        let said = rows.blocks().map(|block| self.probabilities(block.view()));
        said.collect::<Option<_>>().map(stacked)
    }
}

/// What a predictor of numbers would say, had one of its `n` training rows been left out.
///
/// ```
/// use mercer_learning::LeftOut;
/// use mercer_linalg::MatrixView;
/// use ndarray::{Array1, Array2, array};
/// /// The mean of some numbers.
/// struct Mean(Array1<f64>);
/// impl Mean {
///     fn without(&self, row: usize) -> f64 { (self.0.sum() - self.0[row]) / (self.0.len() - 1) as f64 }
/// }
/// impl LeftOut for Mean {
///     fn residuals(&self) -> Array1<f64> { Array1::from_shape_fn(self.0.len(), |i| self.0[i] - self.without(i)) }
///     fn values(&self, inputs: MatrixView<'_>) -> Array2<f64> {
///         Array2::from_shape_fn((inputs.dim().0, self.0.len()), |(_, i)| self.without(i))
///     }
/// }
/// let mean = Mean(array![1.0, 2.0, 6.0]);
/// assert_eq!(mean.residuals(), array![-3.0, -1.5, 4.5]);
/// assert_eq!(mean.values(array![[0.0]].view().into()), array![[4.0, 3.5, 1.5]]);
/// ```
pub trait LeftOut: Send + Sync {
    /// Returns `y_i − f_{−i}(x_i)` of each training row.
    fn residuals(&self) -> Array1<f64>;

    /// Returns `f_{−i}(x)` of each row of `inputs` (down) without each training row (across): `m × n`.
    fn values(&self, inputs: MatrixView<'_>) -> Array2<f64>;
}

/// What was said of one block after another.
fn stacked(mut parts: Vec<Array2<f64>>) -> Array2<f64> {
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let views: Vec<_> = parts.iter().map(Array2::view).collect();
    concatenate(Axis(0), &views).expect("a predictor has as many scores for every row")
}

/// The kernel that a fitted predictor rests on, at any rows.
///
/// ```
/// use mercer_learning::{FittedKernel, Predictor, State, Task};
/// use ndarray::{Array2, ArrayView2, array};
/// /// `f(x) = w x`, and with it the linear kernel.
/// struct Line(f64);
/// impl Predictor for Line {
///     fn task(&self) -> Task { Task::Regression }
///     fn features(&self) -> usize { 1 }
///     fn decision(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> { self.0 * &inputs }
///     fn state(&self) -> State { State::new() }
///     fn fitted_kernel(&self) -> Option<&dyn FittedKernel> { Some(self) }
/// }
/// impl FittedKernel for Line {
///     fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64> { inputs.dot(&inputs.t()) }
///     fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64> {
///         self.gram(inputs).diag().mean()
///     }
/// }
/// let kernel = Line(2.0);
/// let kernel = kernel.fitted_kernel().expect("the linear one");
/// assert_eq!(kernel.mean_diagonal(array![[1.0], [3.0]].view()), Some(5.0));
/// assert!(kernel.frequencies().is_none()); // it is no spectral kernel
/// ```
pub trait FittedKernel {
    /// Returns `k(x, z)` between all rows of `inputs` (`n × d`): `n × n`.
    fn gram(&self, inputs: ArrayView2<'_, f64>) -> Array2<f64>;

    /// Computes the mean `k(x, x)` over the rows of `inputs` (`n × d`). It is `1/n` of the trace of
    /// [`FittedKernel::gram`], which is not formed; none of no rows.
    fn mean_diagonal(&self, inputs: ArrayView2<'_, f64>) -> Option<f64>;

    /// Returns `Ω` and `Ω'` of a spectral kernel. They are `d × D` each, in 1/input unit, one and the same where it is
    /// stationary.
    fn frequencies(&self) -> Option<[Array2<f64>; 2]> {
        None
    }

    /// Computes `φ(x)` of each row of `inputs`, `n × D`. It exists where the kernel is the product of such features.
    fn features(&self, _: ArrayView2<'_, f64>) -> Option<Array2<f64>> {
        None
    }
}

/// Returns the index of the largest score. Ties go to the smaller index, NaN never wins.
///
/// ```
/// use ndarray::array;
/// assert_eq!(mercer_learning::argmax(array![0.2, 0.7, 0.7].view()), 1);
/// assert_eq!(mercer_learning::argmax(array![f64::NAN, -3.0].view()), 1);
/// ```
pub fn argmax(scores: ArrayView1<'_, f64>) -> u32 {
    let mut best = (0, f64::NEG_INFINITY);
    for (class, &score) in scores.iter().enumerate() {
        if score > best.1 {
            best = (class, score);
        }
    }
    best.0 as u32
}

impl From<Array1<f64>> for Predictions {
    fn from(values: Array1<f64>) -> Self {
        Self::Real(values.to_vec())
    }
}

/// Computes the entropy of each row of class probabilities `p` (`n × K`), in nats. It is `−Σ_c p_c log p_c` over the
/// positive entries, from 0, where one class has everything, to `log K`, where all have the same.
///
/// ```
/// use mercer_learning::entropies;
/// use ndarray::array;
/// let unsure = entropies(array![[1.0, 0.0], [0.5, 0.5]].view());
/// assert!(unsure[0].to_bits() == 0 && (unsure[1] - 2f64.ln()).abs() < 1e-15);
/// ```
pub fn entropies(probabilities: ArrayView2<'_, f64>) -> Array1<f64> {
    // Taken from 0, since a negated 0 would be printed as −0.
    let of = |p: ArrayView1<'_, f64>| {
        0.0 - p.iter().filter(|&&p| p > 0.0).map(|p| p * p.ln()).sum::<f64>()
    };
    probabilities.rows().into_iter().map(of).collect()
}
