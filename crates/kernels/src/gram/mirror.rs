//! The lower half of a symmetric matrix, band by band.

use ndarray::Array2;

/// Copies what stands right of the diagonal in the rows `top..bottom` to below the diagonal.
pub(super) fn mirror(gram: &mut Array2<f64>, top: usize, bottom: usize) {
    // Blocks of as many rows as a cache line has numbers, twice.
    const BLOCK: usize = 16;
    let n = gram.nrows();
    let entries = gram.as_slice_mut().expect("a new matrix is contiguous");
    for left in (top..n).step_by(BLOCK) {
        for first in (top..bottom).step_by(BLOCK) {
            for j in left.max(first + 1)..(left + BLOCK).min(n) {
                let last = (first + BLOCK).min(bottom).min(j);
                let (above, row) = entries.split_at_mut(j * n);
                let column = above[first * n + j..].iter().step_by(n);
                row[first..last].iter_mut().zip(column).for_each(|(to, from)| *to = *from);
            }
        }
    }
}
