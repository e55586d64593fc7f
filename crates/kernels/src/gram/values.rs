//! The values of a kernel between rows and the points that it holds.

use super::{Kernel, Points, Sections, Stored, TILE};
use crate::sparse::SparsePoints;
use mercer_linalg::{MatrixView, SparseRows, sparse_of};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, s};

impl Sections {
    /// Returns `k(x_i, z_j)` for the rows `x_i` of `left` (`m × d`): `m × n`, in `2 m n d` flops.
    ///
    /// # Panics
    /// If `left` has another number of columns.
    pub fn at<'a>(&self, left: impl Into<MatrixView<'a>>) -> Array2<f64> {
        let left = left.into();
        let numbered = matches!(self.kernel, Kernel::Precomputed { .. });
        let right = [self.features(), self.features() + usize::from(numbered)];
        assert!(right.contains(&left.dim().1), "points of different dimension");
        match (&self.points, left) {
            (Stored::Sparse(points), MatrixView::Sparse(left)) => self.sparse_at(points, left),
            (Stored::Sparse(points), MatrixView::Dense(left)) => {
                self.sparse_at(points, &sparse_of(left))
            }
            (Stored::Dense(points), MatrixView::Dense(left)) => self.dense_at(points, left),
            (Stored::Dense(points), MatrixView::Sparse(rows)) => {
                self.dense_at(points, left.to_owned().dense(0..rows.rows()).view())
            }
        }
    }

    fn sparse_at(&self, points: &SparsePoints, left: &SparseRows) -> Array2<f64> {
        points.cross(left, &|row, room| self.kernel.finish(row, room))
    }

    /// Writes what [`Sections::at`] returns into a matrix that is there.
    ///
    /// ```
    /// use mercer_kernels::Kernel;
    /// use ndarray::{Array2, array};
    /// let points = array![[0.0], [1.0]];
    /// let sections = Kernel::Gaussian { std: 1.0 }.sections(points.view());
    /// let mut room = Array2::zeros((2, 2));
    /// sections.write_at(points.view(), room.view_mut());
    /// assert_eq!(room, sections.at(points.view()));
    /// ```
    ///
    /// # Panics
    /// If `left` has another number of columns, or the matrix another shape.
    pub fn write_at<'a>(&self, left: impl Into<MatrixView<'a>>, mut to: ArrayViewMut2<'_, f64>) {
        match (&self.points, left.into()) {
            (Stored::Dense(points), MatrixView::Dense(left)) if left.ncols() == self.features() => {
                self.write_dense(points, left, to);
            }
            (_, left) => to.assign(&self.at(left)),
        }
    }

    fn dense_at(&self, points: &Points, left: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut gram = Array2::zeros((left.nrows(), self.len()));
        self.write_dense(points, left, gram.view_mut());
        gram
    }

    fn write_dense(
        &self,
        points: &Points,
        left: ArrayView2<'_, f64>,
        mut gram: ArrayViewMut2<'_, f64>,
    ) {
        let (a, m) = (Points::of(left, self.centre.as_ref()), left.nrows());
        assert_eq!(gram.dim(), (m, self.len()), "shape of kernel values");
        for top in (0..m).step_by(TILE) {
            let bottom = (top + TILE).min(m);
            let band = gram.slice_mut(s![top..bottom, ..]);
            self.kernel.fill_band(&a.rows(top, bottom), points, 0, band);
        }
    }
}
