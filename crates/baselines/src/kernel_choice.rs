use mercer_kernels::{Kernel, Sections, Smoothness};
use mercer_learning::{Condition, LearningError, Sample, Warning, Where};
use mercer_linalg::{Cholesky, MatrixView, sparse_row};
use mercer_solvers::KernelRows;
use ndarray::{Array1, Array2, ArrayView1, Axis, concatenate};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The kernel of an SVM, with `s` for `std`, and `r = s ‖x − z‖`.
///
/// ```
/// use mercer_baselines::{KernelName, KernelRidgeParams};
/// use mercer_learning::Settings;
/// let read = |word: &str| Settings::new().with("kernel", word).read::<KernelRidgeParams>("kernel-ridge");
/// assert_eq!(read("matern-3/2")?.kernel, KernelName::Matern32);
/// assert_eq!(KernelRidgeParams::default().kernel, KernelName::Gaussian);
/// let refused = read("no such word").unwrap_err().to_string();
/// assert!(refused.contains("gaussian, laplace, matern-3/2, matern-5/2, polynomial, linear, precomputed"), "{refused}");
/// # Ok::<(), mercer_learning::LearningError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelName {
    /// `exp(−r²/2)`.
    Gaussian,
    /// `exp(−r)`.
    Laplace,
    /// `(1 + √3 r) exp(−√3 r)`.
    #[serde(rename = "matern-3/2")]
    Matern32,
    /// `(1 + √5 r + 5r²/3) exp(−√5 r)`.
    #[serde(rename = "matern-5/2")]
    Matern52,
    /// `(s² x·z + offset)^degree`.
    Polynomial,
    /// `x·z`.
    Linear,
    /// The inputs are the kernel matrix.
    Precomputed,
}

/// What does nothing beside some kernels.
pub(crate) const CONDITIONS: [Condition; 2] = [
    (&["degree", "offset"], &[Where::is("kernel", &["polynomial"])]),
    (&["std"], &[Where::is_not("kernel", &["linear", "precomputed"])]),
];

/// The parameters of the kernels of [`KernelName`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KernelChoice {
    pub(crate) name: KernelName,
    pub(crate) std: f64,
    pub(crate) degree: u32,
    pub(crate) offset: f64,
}

/// Relative difference of two entries of a kernel matrix that should be equal, above which they are not.
const ASYMMETRIC: f64 = 1e-6;

/// Rows of a given matrix that are tried: no part of a positive semi-definite matrix has negative eigenvalues.
const TRIED: usize = 2000;

/// Negative eigenvalues down to this share of the largest entry of the diagonal are taken for rounding.
const ROUNDING: f64 = 1e-4;

/// The fact of a given matrix that is no kernel.
const INDEFINITE: &str = "indefinite";

pub(crate) const WARNINGS: &[Warning] = &[|ended| {
    ended.positive(INDEFINITE)?;
    Some(format!(
        "{}: the given matrix has negative eigenvalues, so it is no kernel, and the fit may be far from the best; \
         set them to 0 in the matrix first",
        ended.method
    ))
}];

impl KernelName {
    /// The sample as the kernel takes it: of a matrix the number of each row stands before the row.
    pub(crate) fn points(self, sample: &Sample) -> Result<Cow<'_, Sample>, LearningError> {
        if self != Self::Precomputed {
            return Ok(Cow::Borrowed(sample));
        }
        let refused = |why: String, must| {
            Err(LearningError::setting("kernel", format!("precomputed, and {why}"), must))
        };
        let (inputs, columns) = (sample.inputs(), sample.features());
        let (numbers, of) = match sample.numbers() {
            Some((numbers, of)) => (numbers.to_vec(), of),
            None => ((0..sample.rows()).collect(), sample.rows()),
        };
        if of != columns {
            return refused(
                format!("the table has {of} rows and {columns} inputs"),
                "another one, or the inputs a kernel matrix: a column for each row of the table, in their order",
            );
        }
        let diagonal = |row: usize| inputs[[row, numbers[row]]].abs();
        let largest = (0..numbers.len()).map(diagonal).fold(f64::MIN_POSITIVE, f64::max);
        for (row, &number) in numbers.iter().enumerate() {
            for (other, &others) in numbers[..row].iter().enumerate() {
                let apart = inputs[[row, others]] - inputs[[other, number]];
                if apart.abs() > ASYMMETRIC * largest {
                    let (here, there) = (inputs[[row, others]], inputs[[other, number]]);
                    return refused(
                        format!(
                            "row {} has {here} in column {}, row {} has {there} in column {}",
                            number + 1,
                            others + 1,
                            others + 1,
                            number + 1
                        ),
                        "another one, or the inputs a symmetric matrix",
                    );
                }
            }
        }
        let first: Array1<f64> = numbers.iter().map(|&number| number as f64).collect();
        let points = concatenate![Axis(1), first.insert_axis(Axis(1)), inputs];
        sample.clone().map_inputs(|inputs| *inputs = points).map(Cow::Owned)
    }
}

impl KernelChoice {
    /// The kernel, whose values of these rows are numbers.
    pub(crate) fn of(self, inputs: MatrixView<'_>) -> Result<Kernel, LearningError> {
        let kernel = self.kernel(inputs.dim().1);
        let finite = |x: ArrayView1<'_, f64>| kernel.of(x, x).is_finite();
        let all_finite = || match inputs {
            MatrixView::Dense(inputs) => inputs.rows().into_iter().all(finite),
            // Zeros add nothing to a product.
            MatrixView::Sparse(rows) => {
                (0..rows.rows()).all(|row| finite(sparse_row(rows, row).1.into()))
            }
        };
        if self.name == KernelName::Polynomial && !all_finite() {
            let must = "so small that the kernel's values are numbers (they depend on `offset`, `std` and the scaling, too)";
            return Err(LearningError::setting("degree", self.degree, must));
        }
        Ok(kernel)
    }

    /// A fact where the matrix behind these points, as [`KernelName::points`] leaves them, is given and no kernel.
    pub(crate) fn indefinite(self, points: MatrixView<'_>) -> Option<(String, f64)> {
        let MatrixView::Dense(points) = points else { return None };
        if self.name != KernelName::Precomputed {
            return None;
        }
        let n = points.nrows().min(TRIED);
        let mut gram = Array2::from_shape_fn((n, n), |(row, other)| {
            points[[row, 1 + points[[other, 0]] as usize]]
        });
        let largest =
            gram.diag().iter().fold(f64::MIN_POSITIVE, |most: f64, own| most.max(own.abs()));
        gram.diag_mut().mapv_inplace(|own| own + ROUNDING * largest);
        Cholesky::factor(gram).is_err().then(|| (INDEFINITE.to_owned(), 1.0))
    }

    const fn kernel(self, columns: usize) -> Kernel {
        let Self { name, std, degree, offset } = self;
        match name {
            KernelName::Gaussian => Kernel::Gaussian { std },
            KernelName::Laplace => Kernel::Matern { std, smoothness: Smoothness::Half },
            KernelName::Matern32 => Kernel::Matern { std, smoothness: Smoothness::ThreeHalves },
            KernelName::Matern52 => Kernel::Matern { std, smoothness: Smoothness::FiveHalves },
            KernelName::Polynomial => Kernel::Polynomial { degree, offset, std },
            KernelName::Linear => Kernel::Linear,
            KernelName::Precomputed => Kernel::Precomputed { columns: columns - 1 },
        }
    }
}

/// The rows of a kernel matrix that is not stored.
pub(crate) struct Computed<'a> {
    inputs: MatrixView<'a>,
    sections: Sections,
}

impl<'a> Computed<'a> {
    pub(crate) fn new(kernel: Kernel, inputs: MatrixView<'a>) -> Self {
        Self { inputs, sections: kernel.sections(inputs) }
    }
}

impl KernelRows for Computed<'_> {
    fn size(&self) -> usize {
        self.inputs.dim().0
    }

    fn diagonal(&self, t: usize) -> f64 {
        let own = |x: ArrayView1<'_, f64>| self.sections.kernel().of(x, x);
        match self.inputs {
            MatrixView::Dense(inputs) => own(inputs.row(t)),
            MatrixView::Sparse(inputs) => own(sparse_row(inputs, t).1.into()),
        }
    }

    fn fill(&self, row: usize, columns: &[usize], values: &mut [f64]) {
        // A whole row is one product; of less than a quarter of it each entry is had for less.
        let inputs = match self.inputs {
            MatrixView::Dense(inputs) if 4 * columns.len() < self.size() => inputs,
            _ => {
                let all = self.inputs.within(row..row + 1, |x| self.sections.at(x));
                let all = all.as_slice().expect("a new row is contiguous");
                for (value, &column) in values.iter_mut().zip(columns) {
                    *value = all[column];
                }
                return;
            }
        };
        let kernel = self.sections.kernel();
        for (value, &column) in values.iter_mut().zip(columns) {
            *value = kernel.of(inputs.row(row), inputs.row(column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// Rows 3, 0 and 4 of a table of five, whose matrix has a column for each of the five.
    #[test]
    fn points_carry_their_numbers_in_front() {
        let x = Array2::from_shape_fn((5, 2), |(i, j)| ((i * (2 * j + 3)) as f64 * 0.7).sin());
        let matrix = Kernel::Gaussian { std: 0.8 }.gram(x.view());
        let rows = [3, 0, 4];
        let part = matrix.select(Axis(0), &rows);
        let sample = Sample::regression(part.clone(), Array1::zeros(3)).unwrap();
        let refused = KernelName::Precomputed.points(&sample).unwrap_err().to_string();
        assert!(refused.contains("the table has 3 rows and 5 inputs"), "{refused}");
        let sample = sample.numbered(rows.to_vec(), 5);
        let points = KernelName::Precomputed.points(&sample).unwrap();
        let (name, std, degree, offset) = (KernelName::Precomputed, 1.0, 3, 1.0);
        let kernel = KernelChoice { name, std, degree, offset }.of(points.matrix()).unwrap();
        assert_eq!(kernel.gram(points.inputs()), part.select(Axis(1), &rows));
        // Other rows are without their numbers.
        let values = kernel.sections(points.inputs()).at(matrix.view());
        assert_eq!(values, matrix.select(Axis(1), &rows));
        let mut skewed = part;
        skewed[[0, 0]] += 1e-3;
        let skewed =
            Sample::regression(skewed, Array1::zeros(3)).unwrap().numbered(rows.to_vec(), 5);
        let refused = KernelName::Precomputed.points(&skewed).unwrap_err().to_string();
        assert!(refused.contains("in column 4, row 4 has"), "{refused}");
        assert_eq!(KernelName::Linear.points(&sample).unwrap().features(), 5);
    }

    #[test]
    fn fill_gives_the_rows_of_the_matrix() {
        let inputs =
            Array2::from_shape_fn((40, 3), |(i, j)| ((i * (2 * j + 3)) as f64 * 0.7).sin());
        let (std, degree, offset) = (0.8, 2, 1.0);
        for name in [KernelName::Gaussian, KernelName::Laplace, KernelName::Polynomial] {
            let kernel = KernelChoice { name, std, degree, offset }.kernel(3);
            let (gram, rows) =
                (kernel.gram(inputs.view()), Computed::new(kernel, inputs.view().into()));
            assert_eq!(rows.size(), 40);
            for columns in
                [(0..40).collect::<Vec<usize>>(), vec![39, 0, 7], (5..25).rev().collect()]
            {
                let mut values = vec![0.0; columns.len()];
                rows.fill(7, &columns, &mut values);
                for (value, column) in values.iter().zip(&columns) {
                    assert!((value - gram[[7, *column]]).abs() < 1e-14, "{name:?} {column}");
                }
            }
            assert!((rows.diagonal(3) - gram[[3, 3]]).abs() < 1e-14);
        }
    }
}
