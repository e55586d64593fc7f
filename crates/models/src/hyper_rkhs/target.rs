use mercer_kernels::Pairs;
use mercer_learning::LearningError;
use ndarray::{Array1, ArrayView2};

/// Target of the learned kernel on the pairs of the points. It is a symmetric matrix `Y`, `m × m`.
///
/// ```
/// use mercer_models::hyper_rkhs::PairTarget;
/// use ndarray::array;
/// let ideal = PairTarget::classes(&[0, 0, 1], 1.0, -1.0)?;
/// assert_eq!((ideal.points(), ideal.of(0, 1), ideal.of(0, 2)), (3, 1.0, -1.0));
/// assert!(PairTarget::classes(&[0, 1], 1.0, 1.0).is_err()); // nothing to tell apart
/// assert!(PairTarget::classes(&[0, 1], 1e308, -1e308).is_err()); // their squares overflow
/// assert!(PairTarget::matrix(array![[1.0, 2.0], [3.0, 1.0]].view()).is_err()); // not symmetric
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum PairTarget<'a> {
    /// Any symmetric matrix.
    Matrix(ArrayView2<'a, f64>),
    /// One value for pairs of the same class, another for the rest: the ideal kernel.
    Classes {
        /// Class of each point.
        labels: &'a [u32],
        /// `Y_ij` where the classes are the same.
        same: f64,
        /// `Y_ij` where they differ.
        other: f64,
    },
}

impl<'a> PairTarget<'a> {
    /// Returns a symmetric matrix of finite numbers.
    ///
    /// # Errors
    /// [`LearningError::Length`] if it is not square, [`LearningError::TargetNotFinite`], and
    /// [`LearningError::Setting`] if `Y_ij ≠ Y_ji` for some pair.
    pub fn matrix(values: ArrayView2<'a, f64>) -> Result<Self, LearningError> {
        let (rows, columns) = values.dim();
        if rows != columns {
            return Err(LearningError::Length { inputs: rows, targets: columns });
        }
        if let Some(((row, _), &value)) = values.indexed_iter().find(|(_, v)| !v.is_finite()) {
            return Err(LearningError::TargetNotFinite { row, value });
        }
        let scale = values.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let uneven = values
            .indexed_iter()
            .find(|&((i, j), &value)| (value - values[[j, i]]).abs() > 1e-10 * scale);
        if let Some(((i, j), value)) = uneven {
            return Err(LearningError::Setting {
                name: "target",
                value: format!("{value} at ({i}, {j}) and {} at ({j}, {i})", values[[j, i]]),
                must: "symmetric",
            });
        }
        Ok(Self::Matrix(values))
    }

    /// Returns the ideal kernel of the labels.
    ///
    /// # Errors
    /// [`LearningError::Setting`] unless both values are finite and differ.
    pub fn classes(labels: &'a [u32], same: f64, other: f64) -> Result<Self, LearningError> {
        for (name, value) in [("same", same), ("other", other)] {
            if !value.is_finite() {
                return Err(super::refused(name, value, "finite"));
            }
            if !(value * value).is_finite() {
                return Err(super::refused(
                    name,
                    value,
                    "small enough for its square to be finite",
                ));
            }
        }
        if (same - other).abs() <= f64::EPSILON * same.abs() {
            return Err(super::refused("other", other, "another value than `same`"));
        }
        Ok(Self::Classes { labels, same, other })
    }

    /// Returns the number of points `m`.
    pub fn points(&self) -> usize {
        match self {
            Self::Matrix(values) => values.nrows(),
            Self::Classes { labels, .. } => labels.len(),
        }
    }

    /// Returns `Y_ij`.
    ///
    /// # Panics
    /// If there is no such pair.
    pub fn of(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Matrix(values) => values[[i, j]],
            Self::Classes { labels, same, other } => {
                if labels[i] == labels[j] {
                    *same
                } else {
                    *other
                }
            }
        }
    }

    /// `Y` of the pairs.
    pub(super) fn at(&self, pairs: &Pairs) -> Array1<f64> {
        pairs.as_slice().iter().map(|&(i, j)| self.of(i, j)).collect()
    }

    /// How many of `v` runs of these rows, as equal as can be, lack a class that the points have: what such
    /// a subset learns knows nothing of it.
    pub(super) fn lacking(&self, rows: &[usize], v: usize) -> usize {
        let Self::Classes { labels, .. } = self else { return 0 };
        let classes = |rows: &[usize]| {
            let found: std::collections::BTreeSet<u32> = rows.iter().map(|&i| labels[i]).collect();
            found.len()
        };
        let (m, all) = (rows.len(), classes(rows));
        (0..v).filter(|part| classes(&rows[m * part / v..m * (part + 1) / v]) < all).count()
    }

    /// `Y` as a short sum `Σ_t c_t z_t z_tᵀ`, or nothing for a matrix without known structure.
    ///
    /// Two values for same and other class are `(same − other) Σ_c 1_c 1_cᵀ + other 1 1ᵀ`.
    pub(super) fn separable(&self) -> Option<Vec<(f64, Array1<f64>)>> {
        let Self::Classes { labels, same, other } = self else { return None };
        let classes = labels.iter().max().map_or(0, |&largest| largest + 1);
        let mut terms = vec![(*other, Array1::ones(labels.len()))];
        for class in 0..classes {
            let indicator: Array1<f64> =
                labels.iter().map(|&label| f64::from(u8::from(label == class))).collect();
            if indicator.sum() > 0.0 {
                terms.push((same - other, indicator));
            }
        }
        Some(terms.into_iter().filter(|(weight, _)| *weight != 0.0).collect())
    }
}
