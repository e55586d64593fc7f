use super::Covariance;
use super::profile::Profile;
use crate::distance;
use mercer_linalg::product;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, ArrayViewMut2, s};
use std::ops::Range;

/// Rows a tile covers: 256 × 256 in f64 is half of an L2 cache.
pub(super) const TILE: usize = 256;

/// A kernel with one set of points, ready for tiles.
pub(super) enum Ready {
    Stationary {
        profile: Profile,
        variance: f64,
        /// `1/ℓ_j` of each column.
        inverse: Array1<f64>,
        /// `(x − centre)/ℓ`, `n × d`.
        points: Array2<f64>,
        squares: Array1<f64>,
        isotropic: bool,
    },
    /// `(s² x·z + c)^degree`; `learns_offset` tells the polynomial from the linear kernel.
    Dot {
        degree: u32,
        scale: f64,
        offset: f64,
        learns_offset: bool,
        points: Array2<f64>,
    },
    Sum(Vec<Ready>),
    Product(Vec<Ready>),
}

impl Ready {
    pub(super) fn of(
        kernel: &Covariance,
        inputs: ArrayView2<'_, f64>,
        centre: ArrayView1<'_, f64>,
    ) -> Self {
        let stationary = |profile, scale: f64, lengths: &[f64]| {
            let d = inputs.ncols();
            let inverse = Array1::from_shape_fn(d, |j| 1.0 / lengths[j % lengths.len()]);
            let mut points = inputs.as_standard_layout().into_owned();
            points -= &centre;
            points *= &inverse;
            let squares = points.rows().into_iter().map(|x| x.dot(&x)).collect();
            let isotropic = lengths.len() == 1;
            Self::Stationary {
                profile,
                variance: scale * scale,
                inverse,
                points,
                squares,
                isotropic,
            }
        };
        let dot = |degree, scale, offset, learns_offset| {
            let points = inputs.as_standard_layout().into_owned();
            Self::Dot { degree, scale, offset, learns_offset, points }
        };
        let all = |of: &[Covariance]| of.iter().map(|k| Self::of(k, inputs, centre)).collect();
        match kernel {
            Covariance::Gaussian { scale, lengths } => {
                stationary(Profile::Gaussian, *scale, lengths)
            }
            Covariance::Matern { smoothness, scale, lengths } => {
                stationary(Profile::Matern(*smoothness), *scale, lengths)
            }
            Covariance::RationalQuadratic { scale, lengths, shape } => {
                stationary(Profile::RationalQuadratic(*shape), *scale, lengths)
            }
            Covariance::Linear { scale } => dot(1, *scale, 0.0, false),
            Covariance::Polynomial { degree, scale, offset } => dot(*degree, *scale, *offset, true),
            Covariance::Sum { of } => Self::Sum(all(of)),
            Covariance::Product { of } => Self::Product(all(of)),
        }
    }

    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Stationary { points, .. } | Self::Dot { points, .. } => points.nrows(),
            Self::Sum(of) | Self::Product(of) => of.first().map_or(0, Self::rows),
        }
    }

    /// Kernel values of some rows of these points and some of the others'.
    pub(super) fn fill(
        &self,
        rows: &Range<usize>,
        other: &Self,
        columns: &Range<usize>,
        mut tile: ArrayViewMut2<'_, f64>,
    ) {
        match (self, other) {
            (Self::Stationary { profile, variance, .. }, _) => {
                self.squared_distances(rows, other, columns, tile.view_mut());
                if *profile == Profile::Gaussian {
                    exponentials(*variance, tile);
                } else {
                    tile.mapv_inplace(|squared| profile.value(*variance, squared));
                }
            }
            (Self::Dot { degree, scale, offset, .. }, _) => {
                self.products(rows, other, columns, tile.view_mut());
                if (*degree, *offset) == (1, 0.0) {
                    tile *= scale * scale;
                } else {
                    let (variance, power) = (scale * scale, *degree as i32);
                    tile.mapv_inplace(|u| (variance * u + offset).powi(power));
                }
            }
            (Self::Sum(of), Self::Sum(others)) => {
                let mut part = Array2::zeros(tile.dim());
                tile.fill(0.0);
                for (left, right) in of.iter().zip(others) {
                    left.fill(rows, right, columns, part.view_mut());
                    tile += &part;
                }
            }
            (Self::Product(of), Self::Product(others)) => {
                let mut part = Array2::zeros(tile.dim());
                tile.fill(1.0);
                for (left, right) in of.iter().zip(others) {
                    left.fill(rows, right, columns, part.view_mut());
                    tile *= &part;
                }
            }
            _ => unreachable!("both sides are made from one kernel"),
        }
    }

    /// `r²` of a stationary kernel.
    pub(super) fn squared_distances(
        &self,
        rows: &Range<usize>,
        other: &Self,
        columns: &Range<usize>,
        mut tile: ArrayViewMut2<'_, f64>,
    ) {
        let (
            Self::Stationary { points: a, squares: aa, .. },
            Self::Stationary { points: b, squares: bb, .. },
        ) = (self, other)
        else {
            unreachable!("only stationary kernels know distances");
        };
        let (a, b) = (a.slice(s![rows.clone(), ..]), b.slice(s![columns.clone(), ..]));
        let (aa, bb) = (aa.slice(s![rows.clone()]), bb.slice(s![columns.clone()]));
        if !distance::near(aa.iter().chain(bb)) {
            for ((i, j), entry) in tile.indexed_iter_mut() {
                *entry = distance::squared(a.row(i), b.row(j));
            }
            return;
        }
        product(-2.0, a, b.t(), 0.0, tile.view_mut());
        for (mut row, &x) in tile.rows_mut().into_iter().zip(&aa) {
            // Rounding can leave a distance between near-equal points below 0.
            row.iter_mut().zip(bb).for_each(|(entry, &z)| *entry = (x + z + *entry).max(0.0));
        }
    }

    /// `x·z` of a dot-product kernel.
    pub(super) fn products(
        &self,
        rows: &Range<usize>,
        other: &Self,
        columns: &Range<usize>,
        tile: ArrayViewMut2<'_, f64>,
    ) {
        let (Self::Dot { points: a, .. }, Self::Dot { points: b, .. }) = (self, other) else {
            unreachable!("only dot-product kernels know products");
        };
        let (a, b) = (a.slice(s![rows.clone(), ..]), b.slice(s![columns.clone(), ..]));
        product(1.0, a, b.t(), 0.0, tile);
    }
}

/// `s² exp(−r²/2)` in place of `r²`.
fn exponentials(variance: f64, mut tile: ArrayViewMut2<'_, f64>) {
    let mut exponents = vec![0.0; tile.ncols()];
    for mut row in tile.rows_mut() {
        exponents.iter_mut().zip(&row).for_each(|(to, squared)| *to = -0.5 * squared);
        let row = row.as_slice_mut().expect("rows of a tile are contiguous");
        mercer_linalg::exp(&exponents, row);
        if variance.to_bits() != 1f64.to_bits() {
            for entry in row {
                *entry *= variance;
            }
        }
    }
}

/// Ranges of at most `TILE` that cover `0..n`.
pub(super) fn tiles(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(TILE).map(move |start| start..(start + TILE).min(n))
}

/// The Gram matrix: tiles on and above the diagonal, then mirrored.
pub(super) fn symmetric(ready: &Ready, mut gram: ArrayViewMut2<'_, f64>) {
    let n = ready.rows();
    for rows in tiles(n) {
        for columns in tiles(n).filter(|columns| columns.start >= rows.start) {
            let tile = gram.slice_mut(s![rows.clone(), columns.clone()]);
            ready.fill(&rows, ready, &columns, tile);
            for i in rows.clone() {
                for j in columns.start.max(i + 1)..columns.end {
                    gram[[j, i]] = gram[[i, j]];
                }
            }
        }
    }
}

/// The cross-Gram matrix, tile by tile.
pub(super) fn rectangular(left: &Ready, right: &Ready, mut gram: ArrayViewMut2<'_, f64>) {
    for rows in tiles(left.rows()) {
        for columns in tiles(right.rows()) {
            let tile = gram.slice_mut(s![rows.clone(), columns.clone()]);
            left.fill(&rows, right, &columns, tile);
        }
    }
}
