//! Sums over pairs of products of point Grams: the inner loop of Gaussian hyper-kernels.

use mercer_linalg::{for_each, in_order, product};
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

/// Pairs whose products are held at once.
const CHUNK: usize = 512;
/// Rows of a band of a block.
const BAND: usize = 512;
/// Columns of a tile of a triangle.
const TILE: usize = 128;
/// Parts into which the pairs are divided; each sums on its own, and the sums are added in order, so
/// that the result does not depend on the number of threads.
const LANES: usize = 8;

/// Writes `u_i(k) u_j(k)` of each pair (`pairs × points`).
fn pair_products(
    factors: ArrayView2<'_, f64>,
    pairs: &[(usize, usize)],
    mut to: ArrayViewMut2<'_, f64>,
) {
    for (&(i, j), mut row) in pairs.iter().zip(to.rows_mut()) {
        ndarray::Zip::from(&mut row)
            .and(factors.row(i))
            .and(factors.row(j))
            .for_each(|to, a, b| *to = a * b);
    }
}

fn scaled(from: ArrayView2<'_, f64>, by: &[f64], mut to: ArrayViewMut2<'_, f64>) {
    for ((from, by), mut to) in from.rows().into_iter().zip(by).zip(to.rows_mut()) {
        to.zip_mut_with(&from, |to, from| *to = by * from);
    }
}

/// `C_kl = Σ_q c_q w_q(k) w_q(l)` for `l ≥ k`, with `w_q = u_i u_j` of pair `q`; below the diagonal
/// nothing is said. `m² P` flops.
pub(super) fn triangle(
    factors: ArrayView2<'_, f64>,
    pairs: &[(usize, usize)],
    coefficients: &[f64],
    threads: usize,
) -> Array2<f64> {
    let m = factors.ncols();
    let chunks = pairs.len().div_ceil(CHUNK);
    let lanes = chunks.clamp(1, LANES);
    let sums = in_order(threads, lanes, |lane| {
        let mut sum = Array2::zeros((m, m));
        let mut products = Array2::zeros((CHUNK.min(pairs.len()), m));
        let mut weighted = products.clone();
        for chunk in chunks * lane / lanes..chunks * (lane + 1) / lanes {
            let range = chunk * CHUNK..((chunk + 1) * CHUNK).min(pairs.len());
            let size = range.len();
            let mut w = products.slice_mut(s![..size, ..]);
            pair_products(factors, &pairs[range.clone()], w.view_mut());
            let mut cw = weighted.slice_mut(s![..size, ..]);
            scaled(w.view(), &coefficients[range], cw.view_mut());
            for top in (0..m).step_by(TILE) {
                let bottom = (top + TILE).min(m);
                let tile = sum.slice_mut(s![top..bottom, top..]);
                product(1.0, w.slice(s![.., top..bottom]).t(), cw.slice(s![.., top..]), 1.0, tile);
            }
        }
        sum
    });
    sums.into_iter().reduce(|total, lane| total + lane).unwrap_or_else(|| Array2::zeros((m, m)))
}

/// `C_kl = Σ_q c_q w_q(x_k) w_q(z_l)` for points with the factors `left` (`M × m`) and `right`
/// (`M × n`): `m × n`, in `2 m n P` flops.
pub(super) fn block(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    pairs: &[(usize, usize)],
    coefficients: &[f64],
    threads: usize,
) -> Array2<f64> {
    let (m, n) = (left.ncols(), right.ncols());
    let mut sums = Array2::zeros((m, n));
    for_each(threads, sums.axis_chunks_iter_mut(Axis(0), BAND).enumerate(), |(band, mut to)| {
        let rows = band * BAND..band * BAND + to.nrows();
        let left = left.slice(s![.., rows]);
        let most = CHUNK.min(pairs.len());
        let mut a = Array2::zeros((most, left.ncols()));
        let mut weighted = a.clone();
        let mut b = Array2::zeros((most, n.min(BAND)));
        for (pairs, coefficients) in pairs.chunks(CHUNK).zip(coefficients.chunks(CHUNK)) {
            let mut a = a.slice_mut(s![..pairs.len(), ..]);
            pair_products(left, pairs, a.view_mut());
            let mut weighted = weighted.slice_mut(s![..pairs.len(), ..]);
            scaled(a.view(), coefficients, weighted.view_mut());
            for start in (0..n).step_by(BAND) {
                let columns = start..(start + BAND).min(n);
                let mut b = b.slice_mut(s![..pairs.len(), ..columns.len()]);
                pair_products(right.slice(s![.., columns.clone()]), pairs, b.view_mut());
                product(1.0, weighted.t(), b.view(), 1.0, to.slice_mut(s![.., columns]));
            }
        }
    });
    sums
}
