use crate::{multiplied, product};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, Axis, Zip, s};

/// Rows of eigenvectors that pass by together: with their squares they fill 32 MiB where there are 2000 of them.
/// With half as many rows the products pack the other factor twice as often.
const ROWS: usize = 1024;

/// Spectral filters `w_k(l)` of several ridges side by side, so that the eigenvectors are read once for all:
/// as `U diag(s)`, whatever the scales `s` that are at hand.
pub(crate) struct Filters {
    /// `w_k(l_j)/s_j²` (`rank × ridges`).
    weights: Array2<f64>,
    /// `w_k(l_j) (Uᵀ B)_j/s_j`, the right-hand sides of one ridge beside each other (`rank × ridges r`).
    filtered: Array2<f64>,
    /// Right-hand sides, `r`.
    width: usize,
}

/// What the filters make of a block of rows.
pub(crate) struct Filtered {
    /// `Σ_j u_ij w_k(l_j) (Uᵀ B)_j` (`rows × ridges r`).
    values: Array2<f64>,
    /// `Σ_j u_ij² w_k(l_j)` (`rows × ridges`).
    own: Array2<f64>,
    width: usize,
}

impl Filters {
    /// Filters for the coordinates `Uᵀ B` (`rank × r`) and the scales `s` (`rank`), one for each ridge.
    pub(crate) fn new(
        coordinates: &Array2<f64>,
        scales: &Array1<f64>,
        ridges: &[f64],
        filter: impl Fn(f64) -> Array1<f64>,
    ) -> Self {
        let (rank, width) = coordinates.dim();
        let mut weights = Array2::zeros((rank, ridges.len()));
        let mut filtered = Array2::zeros((rank, ridges.len() * width));
        for (k, &ridge) in ridges.iter().enumerate() {
            let weight = filter(ridge) / scales;
            let scaled = coordinates * &weight.view().insert_axis(Axis(1));
            weights.column_mut(k).assign(&(weight / scales));
            filtered.slice_mut(s![.., k * width..(k + 1) * width]).assign(&scaled);
        }
        Self { weights, filtered, width }
    }

    /// It works on each block of the `n` rows. `left` writes its part of `U diag(s)` into the view that it is given
    /// beside the first row's number; `each` takes that and the filters' result.
    pub(crate) fn pass(
        &self,
        n: usize,
        left: impl Fn(usize, ArrayViewMut2<'_, f64>),
        mut each: impl FnMut(usize, ArrayView2<'_, f64>, &Filtered),
    ) {
        let (rank, most) = (self.weights.nrows(), ROWS.min(n));
        let (mut vectors, mut squares) = (Array2::zeros((most, rank)), Array2::zeros((most, rank)));
        for start in (0..n).step_by(ROWS) {
            let rows = ROWS.min(n - start);
            let mut u = vectors.slice_mut(s![..rows, ..]);
            left(start, u.view_mut());
            let mut square = squares.slice_mut(s![..rows, ..]);
            Zip::from(&mut square).and(&u).for_each(|square, entry| *square = entry * entry);
            let values = multiplied(u.view(), self.filtered.view());
            let own = multiplied(square.view(), self.weights.view());
            each(start, u.view(), &Filtered { values, own, width: self.width });
        }
    }

    /// `w_k(l_j) (Uᵀ B)_j/s_j`, the right-hand sides of one ridge beside each other (`rank × ridges r`).
    pub(crate) fn filtered(&self) -> ArrayView2<'_, f64> {
        self.filtered.view()
    }

    /// For each block of rows of `A`, with `A V = U diag(s)`: `Σ_j u_ij² w_k(l_j)` (`rows × ridges`), of `A V` in
    /// single precision, squares and sums in double, beside the first row's number.
    pub(crate) fn pass_in_single_precision(
        &self,
        a: ArrayView2<'_, f64>,
        v: ArrayView2<'_, f32>,
        mut each: impl FnMut(usize, ArrayView2<'_, f64>),
    ) {
        let (rank, most) = (self.weights.nrows(), ROWS.min(a.nrows()));
        let mut narrow = Array2::zeros((most, a.ncols()));
        let mut images = Array2::zeros((most, rank));
        let mut squares = Array2::zeros((most, rank));
        for (block, a) in a.axis_chunks_iter(Axis(0), ROWS).enumerate() {
            let rows = s![..a.nrows(), ..];
            let mut narrow = narrow.slice_mut(rows);
            Zip::from(&mut narrow).and(&a).for_each(|narrow, &entry| *narrow = entry as f32);
            let mut images = images.slice_mut(rows);
            product(1.0, narrow.view(), v, 0.0, images.view_mut());
            let mut squares = squares.slice_mut(rows);
            Zip::from(&mut squares)
                .and(&images)
                .for_each(|square, &entry| *square = f64::from(entry) * f64::from(entry));
            each(block * ROWS, multiplied(squares.view(), self.weights.view()).view());
        }
    }
}

impl Filtered {
    /// `Σ_j u_ij w_k(l_j) (Uᵀ B)_j` of row `i` of the block, one for each right-hand side.
    pub(crate) fn values(&self, row: usize, ridge: usize) -> ArrayView1<'_, f64> {
        self.values.slice(s![row, ridge * self.width..(ridge + 1) * self.width])
    }

    /// `Σ_j u_ij² w_k(l_j)` of row `i` of the block.
    pub(crate) fn own(&self, row: usize, ridge: usize) -> f64 {
        self.own[[row, ridge]]
    }
}
