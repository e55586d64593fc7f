//! Rows that may be mostly 0, and their products.

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, CowArray, Ix2};
use std::ops::Range;

/// Rows that are mostly 0, `n × d`, by what is not 0. Columns rise in a row.
///
/// ```
/// use mercer_linalg::{SparseRows, sparse_rows};
/// let rows: SparseRows = sparse_rows(3, [vec![(0, 1.5), (2, -1.0)], vec![]]);
/// assert_eq!((rows.rows(), rows.cols(), rows.nnz()), (2, 3, 2));
/// ```
pub type SparseRows = sprs::CsMatI<f64, u32>;

/// Rows `n × d`, of which all numbers are held, or those that are not 0.
///
/// ```
/// use mercer_linalg::{Matrix, sparse_rows};
/// let rows = Matrix::Sparse(sparse_rows(3, [vec![(0, 1.5)], vec![(2, -1.0)]]));
/// assert_eq!((rows.dim(), rows.at(1, 2), rows.at(1, 0)), ((2, 3), -1.0, 0.0));
/// assert_eq!(rows.select(&[1]).dense(0..1), ndarray::array![[0.0, 0.0, -1.0]]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// All numbers.
    Dense(Array2<f64>),
    /// Those that are not 0.
    Sparse(SparseRows),
}

/// A borrowed [`Matrix`].
///
/// ```
/// use mercer_linalg::{MatrixView, sparse_rows};
/// let (dense, sparse) = (ndarray::array![[0.0, 2.0]], sparse_rows(2, [vec![(1, 2.0)]]));
/// let [dense, sparse] = [MatrixView::from(dense.view()), MatrixView::from(&sparse)];
/// assert_eq!((dense.dim(), sparse.to_owned().dense(0..1)), ((1, 2), dense.to_owned().dense(0..1)));
/// ```
#[derive(Debug, Clone, Copy)]
pub enum MatrixView<'a> {
    /// All numbers.
    Dense(ArrayView2<'a, f64>),
    /// Those that are not 0.
    Sparse(&'a SparseRows),
}

impl Matrix {
    /// Borrows it.
    pub fn view(&self) -> MatrixView<'_> {
        match self {
            Self::Dense(rows) => MatrixView::Dense(rows.view()),
            Self::Sparse(rows) => MatrixView::Sparse(rows),
        }
    }

    /// Returns `n` and `d`.
    pub fn dim(&self) -> (usize, usize) {
        self.view().dim()
    }

    /// Returns `n`.
    pub fn nrows(&self) -> usize {
        self.dim().0
    }

    /// Returns the number in a row and a column.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        match self {
            Self::Dense(rows) => rows[[row, column]],
            Self::Sparse(rows) => rows.get(row, column).copied().unwrap_or(0.0),
        }
    }

    /// Returns the rows with these indices, in their order.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        self.view().select(rows)
    }

    /// Appends the rows of another; they stay mostly 0 where both are.
    ///
    /// ```
    /// use mercer_linalg::{Matrix, sparse_rows};
    /// let sparse = Matrix::Sparse(sparse_rows(2, [vec![(1, 2.0)]]));
    /// let both = sparse.clone().above(sparse).above(ndarray::array![[3.0, 4.0]].into());
    /// assert_eq!(both, ndarray::array![[0.0, 2.0], [0.0, 2.0], [3.0, 4.0]].into());
    /// ```
    ///
    /// # Panics
    /// If it has another number of columns.
    #[must_use]
    pub fn above(self, below: Self) -> Self {
        if let (Self::Sparse(own), Self::Sparse(other)) = (&self, &below) {
            return Self::Sparse(sprs::vstack(&[own.view(), other.view()]));
        }
        let [own, other] = [self, below].map(|rows| rows.dense(0..rows.nrows()));
        let both = ndarray::concatenate(Axis(0), &[own.view(), other.view()]);
        Self::Dense(both.expect("rows of as many columns"))
    }

    /// Counts the rows that hold a NaN.
    ///
    /// ```
    /// use mercer_linalg::{Matrix, sparse_rows};
    /// let rows = Matrix::Sparse(sparse_rows(3, [vec![(0, f64::NAN)], vec![(2, -1.0)]]));
    /// assert_eq!(rows.holed_rows(), 1);
    /// ```
    pub fn holed_rows(&self) -> usize {
        let holes = |row: &[f64]| row.iter().any(|number| number.is_nan());
        match self {
            Self::Dense(rows) => {
                let holed = |row: &ArrayView1<'_, f64>| row.iter().any(|number| number.is_nan());
                rows.rows().into_iter().filter(holed).count()
            }
            Self::Sparse(rows) => {
                (0..rows.rows()).filter(|&row| holes(sparse_row(rows, row).1)).count()
            }
        }
    }

    /// Returns all numbers of consecutive rows.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn dense(&self, rows: Range<usize>) -> Array2<f64> {
        match self {
            Self::Dense(all) => all.slice(ndarray::s![rows, ..]).to_owned(),
            Self::Sparse(all) => dense_rows(all, rows),
        }
    }
}

impl From<Array2<f64>> for Matrix {
    fn from(rows: Array2<f64>) -> Self {
        Self::Dense(rows)
    }
}

/// Numbers of a block of rows that are mostly 0, once all are laid out.
const BLOCK: usize = 1 << 20;

impl MatrixView<'_> {
    /// Returns `n` and `d`.
    pub fn dim(self) -> (usize, usize) {
        match self {
            Self::Dense(rows) => rows.dim(),
            Self::Sparse(rows) => rows.shape(),
        }
    }

    /// Copies it.
    pub fn to_owned(self) -> Matrix {
        match self {
            Self::Dense(rows) => Matrix::Dense(rows.to_owned()),
            Self::Sparse(rows) => Matrix::Sparse(rows.clone()),
        }
    }

    /// Returns the rows with these indices, in their order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn select(self, rows: &[usize]) -> Matrix {
        match self {
            Self::Dense(all) => Matrix::Dense(all.select(Axis(0), rows)),
            Self::Sparse(all) => {
                let row = |&row: &usize| {
                    let (columns, values) = sparse_row(all, row);
                    columns.iter().copied().zip(values.iter().copied()).collect()
                };
                Matrix::Sparse(sparse_rows(all.cols(), rows.iter().map(row)))
            }
        }
    }
}

impl MatrixView<'_> {
    /// Hands consecutive rows to `work`.
    ///
    /// ```
    /// use mercer_linalg::{MatrixView, sparse_rows};
    /// let rows = sparse_rows(3, [vec![(0, 1.5)], vec![(2, -1.0)]]);
    /// assert_eq!(MatrixView::from(&rows).within(1..2, |part| part.dim()), (1, 3));
    /// ```
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn within<T>(self, rows: Range<usize>, work: impl FnOnce(MatrixView<'_>) -> T) -> T {
        match self {
            Self::Dense(all) => work(all.slice(ndarray::s![rows, ..]).into()),
            Self::Sparse(_) => work(self.select(&rows.collect::<Vec<_>>()).view()),
        }
    }
}

impl<'a> MatrixView<'a> {
    /// Returns all numbers of the rows: at once where they are held, else so many rows at a time that they take little
    /// memory.
    ///
    /// ```
    /// use mercer_linalg::{MatrixView, sparse_rows};
    /// let rows = sparse_rows(1 << 19, (0..5).map(|row| vec![(row, 1.0)]));
    /// let blocks = MatrixView::from(&rows).blocks();
    /// assert_eq!(blocks.map(|block| block.nrows()).collect::<Vec<_>>(), [2, 2, 1]);
    /// ```
    pub fn blocks(self) -> impl Iterator<Item = CowArray<'a, f64, Ix2>> {
        let (n, d) = self.dim();
        let rows = match self {
            Self::Dense(_) => n,
            Self::Sparse(_) => BLOCK / d.max(1),
        };
        // Of no rows there is one block, without any.
        (0..n.max(1)).step_by(rows.max(1)).map(move |start| match self {
            Self::Dense(rows) => rows.into(),
            Self::Sparse(all) => dense_rows(all, start..(start + rows.max(1)).min(n)).into(),
        })
    }
}

impl<'a> From<ArrayView2<'a, f64>> for MatrixView<'a> {
    fn from(rows: ArrayView2<'a, f64>) -> Self {
        Self::Dense(rows)
    }
}

impl<'a> From<&'a SparseRows> for MatrixView<'a> {
    fn from(rows: &'a SparseRows) -> Self {
        Self::Sparse(rows)
    }
}

/// Puts together rows of `columns` columns from what is not 0 in each. Columns rise in a row.
///
/// ```
/// let rows = mercer_linalg::sparse_rows(3, [vec![(0, 1.5), (2, -1.0)], vec![]]);
/// assert_eq!((rows.rows(), rows.cols(), rows.nnz()), (2, 3, 2));
/// ```
///
/// # Panics
/// If they do not, or there is no such column.
pub fn sparse_rows(columns: usize, rows: impl IntoIterator<Item = Vec<(u32, f64)>>) -> SparseRows {
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (column, value) in row {
            places.push(column);
            values.push(value);
        }
        starts.push(places.len() as u32);
    }
    SparseRows::new((starts.len() - 1, columns), starts, places, values)
}

/// Returns the columns of a row that are not 0, and the numbers there.
///
/// ```
/// let rows = mercer_linalg::sparse_rows(3, [vec![(0, 1.5), (2, -1.0)]]);
/// assert_eq!(mercer_linalg::sparse_row(&rows, 0), (&[0, 2][..], &[1.5, -1.0][..]));
/// ```
///
/// # Panics
/// If there is no such row.
pub fn sparse_row(rows: &SparseRows, row: usize) -> (&[u32], &[f64]) {
    rows.outer_view(row).expect("a row of the matrix").into_raw_storage()
}

/// Returns what is not 0 of dense rows.
///
/// ```
/// let rows = mercer_linalg::sparse_of(ndarray::array![[0.0, 2.0], [0.0, 0.0]].view());
/// assert_eq!((rows.nnz(), mercer_linalg::sparse_row(&rows, 0)), (1, (&[1][..], &[2.0][..])));
/// ```
pub fn sparse_of(rows: ArrayView2<'_, f64>) -> SparseRows {
    let row = |row: ndarray::ArrayView1<'_, f64>| {
        let numbered = row.into_iter().enumerate().filter(|(_, value)| **value != 0.0);
        numbered.map(|(column, &value)| (column as u32, value)).collect()
    };
    sparse_rows(rows.ncols(), rows.rows().into_iter().map(row))
}

/// Returns all numbers of consecutive rows.
///
/// ```
/// let rows = mercer_linalg::sparse_rows(2, [vec![(0, 1.5)], vec![(1, -1.0)]]);
/// assert_eq!(mercer_linalg::dense_rows(&rows, 1..2), ndarray::array![[0.0, -1.0]]);
/// ```
///
/// # Panics
/// If there are no such rows.
pub fn dense_rows(rows: &SparseRows, which: Range<usize>) -> Array2<f64> {
    let mut dense = Array2::zeros((which.len(), rows.cols()));
    for (mut to, row) in dense.rows_mut().into_iter().zip(which) {
        let (columns, values) = sparse_row(rows, row);
        for (&column, &value) in columns.iter().zip(values) {
            to[column as usize] = value;
        }
    }
    dense
}

/// Returns the rows with column `j` times `factors_j`.
///
/// ```
/// use mercer_linalg::{dense_rows, scaled_columns, sparse_rows};
/// let rows = sparse_rows(2, [vec![(0, 1.5)], vec![(0, 1.0), (1, -1.0)]]);
/// let scaled = scaled_columns(rows, &[2.0, 3.0]);
/// assert_eq!(dense_rows(&scaled, 0..2), ndarray::array![[3.0, 0.0], [2.0, -3.0]]);
/// ```
///
/// # Panics
/// If there are fewer factors than columns with numbers.
pub fn scaled_columns(mut rows: SparseRows, factors: &[f64]) -> SparseRows {
    let scaled = |(value, (_, column)): (&f64, (u32, u32))| value * factors[column as usize];
    let values: Vec<f64> = rows.iter().map(scaled).collect();
    rows.data_mut().copy_from_slice(&values);
    rows
}

/// Sparse rows `z_j`, laid out for their products with others.
///
/// ```
/// use mercer_linalg::{SparseProducts, sparse_rows};
/// let rows = sparse_rows(3, [vec![(0, 2.0)], vec![(1, 3.0), (2, 1.0)]]);
/// let mut products = [f64::NAN; 2];
/// SparseProducts::of(&rows).fill((&[0, 2], &[5.0, 7.0]), &mut products);
/// assert_eq!(products, [10.0, 7.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseProducts {
    /// The same numbers, column by column.
    columns: SparseRows,
}

impl SparseProducts {
    /// Lays them out.
    pub fn of(rows: &SparseRows) -> Self {
        Self { columns: rows.to_other_storage() }
    }

    /// Computes `x · z_j` for all `j`, in as many multiply-adds as the columns of `x` have numbers.
    ///
    /// # Panics
    /// If `x` has a column that the rows have not, or `products` is not one for each of them.
    pub fn fill(&self, x: (&[u32], &[f64]), products: &mut [f64]) {
        products.fill(0.0);
        for (&column, &value) in x.0.iter().zip(x.1) {
            let (places, values) = sparse_row(&self.columns, column as usize);
            for (&place, &other) in places.iter().zip(values) {
                products[place as usize] += value * other;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sparse_rows_are_the_dense_ones(
            values in proptest::collection::vec(prop_oneof![3 => Just(0.0), 1 => -9.0..9.0], 35),
            chosen in proptest::collection::vec(0..7usize, 1..9),
        ) {
            let dense = Array2::from_shape_vec((7, 5), values).unwrap();
            let sparse = sparse_of(dense.view());
            let all = Matrix::Sparse(sparse.clone());
            prop_assert_eq!(&all.dense(0..7), &dense);
            prop_assert_eq!(all.dense(2..4), dense.slice(ndarray::s![2..4, ..]));
            let picked = all.select(&chosen);
            prop_assert_eq!(picked.dense(0..chosen.len()), dense.select(Axis(0), &chosen));
            for ((row, column), value) in dense.indexed_iter() {
                prop_assert_eq!(all.at(row, column).to_bits(), (value + 0.0).to_bits());
            }
            let (products, mut own) = (SparseProducts::of(&sparse), vec![0.0; 7]);
            let expected = dense.dot(&dense.t());
            for row in 0..7 {
                products.fill(sparse_row(&sparse, row), &mut own);
                for (other, value) in own.iter().enumerate() {
                    prop_assert!((value - expected[[row, other]]).abs() < 1e-12);
                }
            }
        }
    }
}
