//! Kernels between points that are mostly 0.

use crate::distance::CANCELLED;
use mercer_linalg::{SparseProducts, SparseRows, sparse_row};
use ndarray::{Array2, ArrayViewMut2, Axis};

/// Points by what is not 0 in them, ready for products with others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SparsePoints {
    rows: SparseRows,
    products: SparseProducts,
    squares: Vec<f64>,
}

/// A point: columns, and numbers there.
type Point<'a> = (&'a [u32], &'a [f64]);

fn square(point: Point<'_>) -> f64 {
    point.1.iter().map(|value| value * value).sum()
}

/// `‖x − z‖²`, by differences.
fn distance(x: Point<'_>, z: Point<'_>) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < x.0.len() || j < z.0.len() {
        let [own, other] =
            [x.0.get(i), z.0.get(j)].map(|column| column.copied().unwrap_or(u32::MAX));
        let mut gap = 0.0;
        if own <= other {
            gap += x.1[i];
            i += 1;
        }
        if other <= own {
            gap -= z.1[j];
            j += 1;
        }
        sum += gap * gap;
    }
    sum
}

impl SparsePoints {
    pub(crate) fn of(rows: SparseRows) -> Self {
        let squares = (0..rows.rows()).map(|row| square(sparse_row(&rows, row))).collect();
        Self { products: SparseProducts::of(&rows), rows, squares }
    }

    pub(crate) const fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// What `finish` makes of the products of the points, exactly symmetric: both orders add the same products in the
    /// same order.
    pub(crate) fn gram(&self, threads: usize, finish: &Finish<'_>) -> Array2<f64> {
        let n = self.rows.rows();
        let mut gram = Array2::zeros((n, n));
        let share = n.div_ceil(threads.clamp(1, n.max(1))).max(1);
        std::thread::scope(|scope| {
            for (part, band) in gram.axis_chunks_iter_mut(Axis(0), share).enumerate() {
                let work = move || self.fill(&self.rows, part * share, band, finish);
                if share == n {
                    work();
                } else {
                    scope.spawn(work);
                }
            }
        });
        gram
    }

    /// The same of the rows of `left` and the points.
    pub(crate) fn cross(&self, left: &SparseRows, finish: &Finish<'_>) -> Array2<f64> {
        let mut gram = Array2::zeros((left.rows(), self.rows.rows()));
        self.fill(left, 0, gram.view_mut(), finish);
        gram
    }

    /// The rows of `left` from `first` on.
    fn fill(
        &self,
        left: &SparseRows,
        first: usize,
        mut band: ArrayViewMut2<'_, f64>,
        finish: &Finish<'_>,
    ) {
        let mut room = vec![0.0; self.rows.rows()];
        for (row, mut values) in (first..).zip(band.rows_mut()) {
            let x = sparse_row(left, row);
            let values = values.as_slice_mut().expect("a row of a new matrix is contiguous");
            self.products.fill(x, values);
            finish(SparseValues { values, x, square: square(x), points: self }, &mut room);
        }
    }
}

/// Puts values in place of the products of a point with others; the second argument is room for as many numbers.
pub(crate) type Finish<'a> = dyn Fn(SparseValues<'_>, &mut [f64]) + Sync + 'a;

/// The products of a point `x` with all points.
pub(crate) struct SparseValues<'a> {
    pub(crate) values: &'a mut [f64],
    x: Point<'a>,
    square: f64,
    points: &'a SparsePoints,
}

impl SparseValues<'_> {
    /// `‖x − z_j‖²`, while the product of the two is there.
    pub(crate) fn squared(&self, other: usize) -> f64 {
        let both = self.square + self.points.squares[other];
        let squared = both - 2.0 * self.values[other];
        // What rounding leaves of large numbers, and of those beyond the numbers, is no distance.
        if squared >= CANCELLED * both && both.is_finite() {
            squared
        } else {
            distance(self.x, sparse_row(&self.points.rows, other))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Smoothness};
    use mercer_linalg::sparse_of;
    use proptest::prelude::*;

    const KERNELS: [Kernel; 5] = [
        Kernel::Gaussian { std: 0.3 },
        Kernel::Matern { std: 0.4, smoothness: Smoothness::Half },
        Kernel::Matern { std: 0.4, smoothness: Smoothness::FiveHalves },
        Kernel::Polynomial { degree: 2, offset: 1.0, std: 0.2 },
        Kernel::Linear,
    ];

    proptest! {
        #[test]
        fn values_are_those_of_dense_points(
            values in proptest::collection::vec(prop_oneof![3 => Just(0.0), 1 => -9.0..9.0], 60),
            threads in 1..4usize,
        ) {
            let dense = Array2::from_shape_vec((12, 5), values).unwrap();
            let sparse = sparse_of(dense.view());
            for kernel in KERNELS {
                let expected = kernel.gram(dense.view());
                let gram = kernel.upper_gram(&sparse, threads);
                prop_assert_eq!(&gram, &gram.t());
                prop_assert_eq!(&gram, &kernel.gram(&sparse));
                let sections = kernel.sections(&sparse);
                prop_assert_eq!(&gram, &sections.at(&sparse));
                prop_assert_eq!(&gram, &sections.at(dense.view()));
                let of_dense = kernel.sections(dense.view()).at(&sparse);
                for found in [&gram, &of_dense] {
                    for (value, other) in found.iter().zip(&expected) {
                        let bound = 1e-12 * other.abs().max(1.0);
                        prop_assert!((value - other).abs() < bound, "{kernel:?} {value} {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn equal_and_far_points_have_exact_values() {
        let rows =
            ndarray::array![[1e8, 0.0, 3.0], [1e8, 0.0, 3.0], [1e8, 0.0, 4.0], [1e160, 0.0, 0.0]];
        for kernel in [KERNELS[0], KERNELS[1]] {
            let gram = kernel.gram(&sparse_of(rows.view()));
            assert_eq!(
                (gram[[0, 1]], gram[[2, 2]], gram[[3, 3]], gram[[0, 3]]),
                (1.0, 1.0, 1.0, 0.0)
            );
            let exact = kernel.of(rows.row(0), rows.row(2));
            assert!((gram[[0, 2]] - exact).abs() < 1e-15, "{kernel:?}");
        }
    }
}
